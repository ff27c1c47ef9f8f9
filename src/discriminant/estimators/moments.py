"""What the classifiers learned from class moments share: input, learning in parts, merging, priors.

Moments add, so that a model learned from half of the rows and one learned from the other half make the model of all.
With a basis they are the moments of φ(x), and all else is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from discriminant.data import require_finite
from discriminant.data.sources import find_source
from discriminant.decision.priors import check_priors
from discriminant.errors import DataError, MismatchError, classes_are, names
from discriminant.estimators.compiled import TRUSTED, Compiled
from discriminant.estimators.features import FeatureMap, fit_features
from discriminant.estimators.inputs import Sample, read_labels, read_rows, read_sample, require_fitted
from discriminant.estimators.parameters import require_valid
from discriminant.gaussian.moments import ClassMoments
from discriminant.protocols import Array

if TYPE_CHECKING:  # a first fit does not wait for the optimizers, which it does not use
    from discriminant.optimize.choose import Choice
    from discriminant.optimize.history import History


class MomentClassifier(Compiled, ClassifierMixin, BaseEstimator):
    """A classifier whose fit is a function of ``moments_``."""

    classes_: Array
    moments_: ClassMoments
    basis: Any = None
    _features: FeatureMap | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _checked_rows(self, X: Any) -> Any:
        require_fitted(self)
        return read_rows(self, X, reset=False)

    # What a fit by steps has too

    @property
    def n_iter_(self) -> int:
        """A closed form is one step."""
        check_is_fitted(self, "moments_")
        return 1

    @property
    def history_(self) -> History:
        """Empty: a closed form takes no steps that could be recorded."""
        from discriminant.optimize.history import History

        check_is_fitted(self, "moments_")
        return History()

    def plan(self, X: Any, y: Any, sample_weight: Any = None) -> Choice:
        """Which method ``fit`` would use on these data, and why.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or source of shape (n, d)
            The rows; a source is a ``scan``, a Dask collection or an array on a device.
        y : array-like of shape (n,)
            The labels.
        sample_weight : array-like of shape (n,) or None, default=None
            How often each row counts; None: once.

        Returns
        -------
        Choice
            With ``method`` and ``why``; its text says both.
        """
        require_valid(self)
        before = dict(self.__dict__)
        try:
            return self._way(self._sample(X, y, sample_weight))
        finally:
            self.__dict__.clear()
            self.__dict__.update(before)

    def _way(self, sample: Sample) -> Choice:
        from discriminant.optimize.choose import Choice

        n, d = sample.blocks.n_rows, sample.blocks.n_features
        return Choice("moments", f"{n} rows and {d} columns: class sums in one pass, and a closed form of them")

    # Rows, as they are or as features of a basis

    def _sample(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Sample:
        """Training rows in blocks; with a basis φ(x), where φ learns from the first rows that come."""
        if self.basis is None:
            self.__dict__.pop("_features", None)
            return read_sample(self, X, y, sample_weight, classes)
        if find_source(X) is not None or y is None:
            wanted = "labels y" if y is None else "rows in memory; write φ(x) to the file, or fit a sample"
            raise MismatchError(f"{type(self).__name__} with a basis takes {wanted}.")
        given = read_rows(self, X, reset=classes is None or not hasattr(self, "n_features_in_"))
        if classes is None or self._features is None:
            self._features = fit_features(self.basis, given, read_labels(y, given.shape[0]))
        assert self._features is not None
        token = TRUSTED.set(True)  # the columns of X were checked; those of φ(x) are others
        try:
            return read_sample(self, self._features.training_rows(given), y, sample_weight, classes)
        finally:
            TRUSTED.reset(token)

    def _mapped(self, rows: Any) -> Any:
        """φ of checked rows, a block at a time."""
        return rows if self._features is None else self._features.rows(rows)

    @property
    def _basis(self) -> Any:
        """φ as ``discriminant_`` holds it: with the names of the columns where it was fitted to a frame."""
        features = self._features
        return features if features is None or features.columns is not None else features.basis

    def _read(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Sample:
        sample = self._sample(X, y, sample_weight, classes)
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
        if self._features is not None:
            return self._features.names()
        found = getattr(self, "feature_names_in_", None)
        return None if found is None else [str(name) for name in found]

    def _require_every_class(self, moments: ClassMoments, classes: Array) -> None:
        if moments.total > 0 and (moments.weight == 0).any():
            empty = classes[moments.weight == 0]
            raise DataError(
                f"{classes_are(list(empty), 'has', 'have')} no rows with a positive weight, from which to learn."
            )

    def _priors_from(self, moments: ClassMoments, classes: Array) -> Array:
        """The estimator's ``priors``, or the class frequencies where it has none."""
        self._require_every_class(moments, classes)
        given = getattr(self, "priors", None)
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
        if not _same_features(self._features, other._features):
            raise MismatchError("The bases of the models learned different features; give both the same centres.")
        if self.n_features_in_ != other.n_features_in_ or self._names() != other._names():
            raise DataError("The models were fitted on different columns, so that their moments cannot be added.")
        if self.moments_.scatter.shape != other.moments_.scatter.shape:
            raise MismatchError("One of the models had fewer rows than columns and kept no scatter to add to.")
        return self.moments_.merge(other.moments_)


def _same(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Whether parameters are equal; lists and arrays by their entries."""
    return first.keys() == second.keys() and all(
        a is b
        or (type(a) is type(b) and hasattr(a, "get_params"))  # its own parameters stand beside it
        or np.array_equal(np.asarray(a), np.asarray(b))
        for a, b in zip(first.values(), second.values(), strict=True)
    )


def _same_features(first: FeatureMap | None, second: FeatureMap | None) -> bool:
    """Whether two fitted bases give the same features."""
    return first is second if first is None or second is None else _learned_alike(first.basis, second.basis)


def _learned_alike(a: Any, b: Any) -> bool:
    """Whether two fitted parts, with the parts inside them, have learned the same numbers."""
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(_learned_alike, a, b))
    if not hasattr(a, "get_params"):
        return bool(np.array_equal(np.asarray(a), np.asarray(b)))
    known = [{name: value for name, value in vars(part).items() if name.endswith("_")} for part in (a, b)]
    alike = type(a) is type(b) and known[0].keys() == known[1].keys()
    return alike and all(_learned_alike(known[0][name], known[1][name]) for name in known[0])
