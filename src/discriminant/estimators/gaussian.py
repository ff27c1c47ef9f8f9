"""What the Gaussian classifiers share: priors, warnings that name columns, posteriors under other priors, merging."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from discriminant.data import require_finite
from discriminant.decision.posteriors import log_softmax
from discriminant.decision.priors import check_priors, shift_log_posteriors
from discriminant.errors import CollinearityWarning, DataError, MismatchError, columns, names
from discriminant.estimators.inputs import Sample, read_rows, read_sample
from discriminant.gaussian.moments import ClassMoments, mapped_moments
from discriminant.gaussian.whiten import Again, Whitened
from discriminant.protocols import Array


class GaussianClassifier(ClassifierMixin, BaseEstimator):
    """Prediction, priors at prediction time and leave-one-out, on top of ``decision_function`` of a subclass."""

    priors: Any
    classes_: Array
    priors_: Array
    moments_: ClassMoments

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # Prediction

    def _joint_log_likelihood(self, rows: Any) -> Array:
        """(n, K) scores g_k = ln P_k + ln p(x|C_k), up to what all classes share."""
        raise NotImplementedError(f"{type(self).__name__} must say how its classes score a row.")

    def _checked_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return read_rows(self, X, reset=False)

    def decision_function(self, X: Any) -> Array:
        """Class scores (n, K), the logarithms of the posteriors up to a shared constant; two classes: log odds (n,)."""
        scores = self._joint_log_likelihood(self._checked_rows(X))
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any, priors: Any = None) -> Array:
        """The class of the largest posterior, under the training priors or those given here."""
        scores = self._joint_log_likelihood(self._checked_rows(X))
        if priors is not None:
            scores = shift_log_posteriors(log_softmax(scores), self.priors_, check_priors(priors, self.classes_))
        return np.asarray(self.classes_.take(scores.argmax(axis=1)))

    def predict_log_proba(self, X: Any, priors: Any = None) -> Array:
        """log P(C_k|x), (n, K): finite in the far tail, under the training priors or those given here."""
        log_posteriors = log_softmax(self._joint_log_likelihood(self._checked_rows(X)))
        if priors is None:
            return log_posteriors
        return shift_log_posteriors(log_posteriors, self.priors_, check_priors(priors, self.classes_))

    def predict_proba(self, X: Any, priors: Any = None) -> Array:
        """P(C_k|x), (n, K), under the training priors or those given here."""
        return np.exp(self.predict_log_proba(X, priors))

    # Learning in parts

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

    def _priors_from(self, moments: ClassMoments, classes: Array) -> Array:
        if moments.total > 0 and (moments.weight == 0).any():
            empty = classes[moments.weight == 0]
            raise DataError(
                f"The class {names(list(empty))} has no rows with a positive weight: nothing is known of it."
            )
        if self.priors is None:
            return moments.weight / moments.total
        priors = check_priors(self.priors, classes)
        if (priors == 0).any():
            raise DataError(f"The prior of class {names(list(classes[priors == 0]))} is 0; leave its rows out instead.")
        return priors

    def _merged(self, other: Any) -> ClassMoments:
        for model in (self, other):
            check_is_fitted(model, "moments_")
        if type(other) is not type(self) or self.get_params() != other.get_params():
            raise MismatchError(f"Only two fitted {type(self).__name__} with equal parameters can be merged.")
        if not np.array_equal(self.classes_, other.classes_):
            raise DataError(
                f"The models know different classes: {names(list(self.classes_))} and {names(list(other.classes_))}."
            )
        if self.n_features_in_ != other.n_features_in_ or self._names() != other._names():
            raise DataError("The models were fitted on different columns, so that their moments cannot be added.")
        return self.moments_.merge(other.moments_)

    # Leave-one-out

    def _deleted_scores(self, X: Any, y: Any, sample_weight: Any) -> Array:
        raise NotImplementedError(f"{type(self).__name__} has no closed-form leave-one-out.")

    def loo_predict_log_proba(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """log posteriors of each training row under the model learned without it, in closed form."""
        check_is_fitted(self)
        return log_softmax(self._deleted_scores(X, y, sample_weight))

    def loo_predict_proba(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """Posteriors of each training row under the model learned without it, in closed form."""
        return np.exp(self.loo_predict_log_proba(X, y, sample_weight))

    def loo_predict(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """The class of each training row under the model learned without it, in closed form."""
        check_is_fitted(self)
        return np.asarray(self.classes_.take(self._deleted_scores(X, y, sample_weight).argmax(axis=1)))

    def loo_score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Leave-one-out accuracy on the training rows."""
        hits = self.loo_predict(X, y, sample_weight) == np.asarray(y).ravel()
        return float(np.average(hits, weights=sample_weight))


def reread(sample: Sample, moments: ClassMoments, divisor: float, only: int | None = None) -> Again:
    """The whitening's second look at the rows: Wᵗ Σ W and the class means in those coordinates."""

    def again(W: Array) -> tuple[Array, Array]:
        scatter, means = mapped_moments(sample.blocks, moments, W, only)
        return scatter / divisor, means if only is None else means[only : only + 1]

    return again


def warn_of_rank(whitened: Whitened, feature_names: Sequence[str] | None, where: str = "") -> None:
    """Name the columns that carry nothing, or nothing that the others do not."""
    warn = partial(warnings.warn, category=CollinearityWarning, stacklevel=4)
    if len(whitened.constant):
        what = columns(whitened.constant.tolist(), feature_names)
        warn(f"{what.capitalize()}: constant within the classes{where}, so that no weight is given to it.")
    if len(whitened.collinear):
        what = columns(whitened.collinear.tolist(), feature_names, most=8)
        count = whitened.null.shape[1]
        warn(
            f"Variables are collinear{where}: {count} linear combination(s) of {what} are constant within the classes. "
            "Their weights come from the pseudo-inverse; predictions along the data are not affected."
        )


def deleted_scores(estimator: GaussianClassifier, deletion: Any, X: Any, y: Any, sample_weight: Any) -> Array:
    """Leave-one-out scores (n, K) of the training rows, block by block."""
    sample = estimator._read(X, y, sample_weight, estimator.classes_)
    seen = estimator.moments_.total
    given = float(sample.blocks.n_rows if sample.weight is None else sample.weight.sum())
    if abs(seen - given) > 1e-6 * seen:
        raise DataError(
            f"Leave-one-out takes the rows that the model was fitted to: it saw a total weight of {seen:g}, and these "
            f"rows have {given:g}."
        )
    out = np.empty((sample.blocks.n_rows, len(estimator.classes_)))
    for block in sample.blocks:
        values = block.design.values
        values = values.toarray() if hasattr(values, "toarray") else values
        weight = np.ones(block.rows) if block.weight is None else block.weight
        out[block.start : block.start + block.rows] = deletion(values, np.asarray(block.target, dtype=np.intp), weight)
    return out
