"""What the classifiers learned from class moments share: input, learning in parts, merging, priors.

Moments add, so that a model learned from half of the rows and one learned from the other half make the model of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from discriminant.data import require_finite
from discriminant.decision.priors import check_priors
from discriminant.errors import DataError, MismatchError, names
from discriminant.estimators.compiled import Compiled
from discriminant.estimators.inputs import Sample, read_rows, read_sample, require_fitted
from discriminant.gaussian.moments import ClassMoments
from discriminant.protocols import Array


class MomentClassifier(Compiled, ClassifierMixin, BaseEstimator):
    """A classifier whose fit is a function of ``moments_``."""

    classes_: Array
    moments_: ClassMoments

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _checked_rows(self, X: Any) -> Any:
        require_fitted(self)
        return read_rows(self, X, reset=False)

    def _read(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Sample:
        sample = read_sample(self, X, y, sample_weight, classes)
        if classes is None and sample.blocks.n_rows <= len(sample.classes):
            raise DataError(
                "The number of samples must be more than the number of classes. "
                f"There are {sample.blocks.n_rows} rows and {len(sample.classes)} classes."
            )
        return sample

    def _classes_for(self, y: Any, classes: Any) -> Array:
        """The classes of a ``partial_fit``: those of the first call, known ever after."""
        if hasattr(self, "moments_"):
            if classes is not None and not np.array_equal(np.unique(np.asarray(classes)), self.classes_):
                raise DataError(f"classes differ from those of the first call, {names(list(self.classes_))}.")
            return self.classes_
        if classes is None:
            raise DataError("classes must be passed on the first call to partial_fit: all labels that will ever come.")
        return np.unique(np.asarray(classes))

    def _require_finite(self, moments: ClassMoments, X: Any, feature_names: Sequence[str] | None) -> None:
        """Sums that are not finite: name the column; large numbers that overflow are not the user's fault."""
        if not (np.isfinite(moments.means).all() and np.isfinite(moments.scatter).all()):
            require_finite(X, feature_names, estimator=type(self).__name__)
            raise DataError("The squares of X overflow even after scaling: values above 1e300. Rescale the columns.")

    def _names(self) -> list[str] | None:
        found = getattr(self, "feature_names_in_", None)
        return None if found is None else [str(name) for name in found]

    def _require_every_class(self, moments: ClassMoments, classes: Array) -> None:
        if moments.total > 0 and (moments.weight == 0).any():
            empty = classes[moments.weight == 0]
            raise DataError(
                f"The class {names(list(empty))} has no rows with a positive weight: nothing is known of it."
            )

    def _priors_from(self, moments: ClassMoments, classes: Array) -> Array:
        """The estimator's ``priors``, or the class frequencies where it has none."""
        self._require_every_class(moments, classes)
        given = self.get_params(deep=False)["priors"]
        if given is None:
            return moments.weight / moments.total
        priors = check_priors(given, classes)
        if (priors == 0).any():
            raise DataError(f"The prior of class {names(list(classes[priors == 0]))} is 0; leave its rows out instead.")
        return priors

    def _merged(self, other: Any) -> ClassMoments:
        for model in (self, other):
            check_is_fitted(model, "moments_")
        if type(other) is not type(self) or not _same(self.get_params(), other.get_params()):
            raise MismatchError(f"Only two fitted {type(self).__name__} with equal parameters can be merged.")
        if not np.array_equal(self.classes_, other.classes_):
            raise DataError(
                f"The models know different classes: {names(list(self.classes_))} and {names(list(other.classes_))}."
            )
        if self.n_features_in_ != other.n_features_in_ or self._names() != other._names():
            raise DataError("The models were fitted on different columns, so that their moments cannot be added.")
        if self.moments_.scatter.shape != other.moments_.scatter.shape:
            raise MismatchError("One of the models had fewer rows than columns and kept no scatter to add to.")
        return self.moments_.merge(other.moments_)


def _same(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Whether parameters are equal; lists and arrays by their entries."""
    return first.keys() == second.keys() and all(
        a is b or np.array_equal(np.asarray(a), np.asarray(b))
        for a, b in zip(first.values(), second.values(), strict=True)
    )
