"""What the Gaussian classifiers share: posteriors under any priors, leave-one-out, warnings that name columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from discriminant.decision.posteriors import log_softmax, softmax
from discriminant.decision.priors import check_priors, shift_log_posteriors
from discriminant.decision.rule import largest
from discriminant.errors import CollinearityWarning, DataError, capital, columns, warn
from discriminant.estimators.inputs import Sample
from discriminant.estimators.moments import MomentClassifier
from discriminant.gaussian.moments import ClassMoments, mapped_moments
from discriminant.gaussian.whiten import Again, Whitened
from discriminant.protocols import Array, Certificate

# Variance inflation factors from which columns count as nearly collinear: one of them differs from a combination of the
# others by 1e-5 of its spread.  Measured: at most 4e4 on the bundled data sets and 1e9 for powers of x up to the sixth;
# a column 2·income + noise of 1e-5 of the spread has 4e10.
NEARLY_COLLINEAR = 1e10


class GaussianClassifier(MomentClassifier):
    """Prediction, priors at prediction time and leave-one-out, on top of ``decision_function`` of a subclass."""

    priors_: Array
    _whitened: Any
    _residual: float

    # Prediction

    def _joint_log_likelihood(self, rows: Any) -> Array:
        """(n, K) scores g_k = ln P_k + ln p(x|C_k), up to what all classes share."""
        raise NotImplementedError(f"{type(self).__name__} must say how its classes score a row.")

    def decision_function(self, X: Any) -> Array:
        """The logarithms of the posteriors up to a shared constant; for two classes the log odds.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or source of shape (n, d)
            The rows; a source is a ``scan``, a Dask collection or an array on a device.

        Returns
        -------
        ndarray of shape (n, K), or (n,) for two classes
            Class scores; of two classes, positive for ``classes_[1]``.
        """
        scores = self._joint_log_likelihood(self._checked_rows(X))
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any, priors: Any = None) -> Array:
        """The class of the largest posterior, under the training priors or those given here.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or source of shape (n, d)
            The rows; a source is a ``scan``, a Dask collection or an array on a device.
        priors : array-like of shape (K,), mapping or None, default=None
            Class priors to decide under; None: those of the fit.

        Returns
        -------
        ndarray of shape (n,)
            The label of each row.
        """
        scores = self._joint_log_likelihood(self._checked_rows(X))
        if priors is not None:
            scores = shift_log_posteriors(log_softmax(scores), self.priors_, check_priors(priors, self.classes_))
        return np.asarray(self.classes_.take(largest(scores)))

    def predict_log_proba(self, X: Any, priors: Any = None) -> Array:
        """log P(C_k|x), finite in the far tail, under the training priors or those given here.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or source of shape (n, d)
            The rows; a source is a ``scan``, a Dask collection or an array on a device.
        priors : array-like of shape (K,), mapping or None, default=None
            Class priors to decide under; None: those of the fit.

        Returns
        -------
        ndarray of shape (n, K)
            Logarithms of probabilities, in the order of ``classes_``.
        """
        log_posteriors = log_softmax(self._joint_log_likelihood(self._checked_rows(X)))
        if priors is None:
            return log_posteriors
        return shift_log_posteriors(log_posteriors, self.priors_, check_priors(priors, self.classes_))

    def predict_proba(self, X: Any, priors: Any = None) -> Array:
        """P(C_k|x), under the training priors or those given here.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or source of shape (n, d)
            The rows; a source is a ``scan``, a Dask collection or an array on a device.
        priors : array-like of shape (K,), mapping or None, default=None
            Class priors to decide under; None: those of the fit.

        Returns
        -------
        ndarray of shape (n, K)
            Probabilities that sum to one in each row, in the order of ``classes_``.
        """
        if priors is None:
            return softmax(self._joint_log_likelihood(self._checked_rows(X)))
        return np.exp(self.predict_log_proba(X, priors))

    @property
    def certificate_(self) -> Certificate:
        """A closed form needs no iterations; what could fail is arithmetic, and its residual is told."""
        check_is_fitted(self, "priors_")
        parts: list[Whitened] = self._whitened if isinstance(self._whitened, list) else [self._whitened]
        rank, d = min(one.rank for one in parts), parts[0].matrix.shape[0]
        status = f"Closed form: the weights are a function of the class moments. Rank {rank} of {d} columns."
        if np.isfinite(self._residual):
            status += f" The whitened covariance differs from the unit matrix by {self._residual:.1e} at most."
        J = self._mean_log_loss(parts) if rank == d else float("nan")
        passes = float(max(one.passes for one in parts))
        condition = max(condition_number(one) for one in parts)
        return Certificate(status, True, J, J, 0.0, gradient_norm=self._residual, passes=passes, condition=condition)

    def _mean_log_loss(self, parts: list[Whitened]) -> float:
        """−(1/N) Σ ln p(x, C) at the maximum of the likelihood: ½ (ln|Σ| + d(1 + ln 2π)) and the entropy of the priors.

        NaN where the parameters ask for something else than maximum likelihood.
        """
        plain = {"covariance": "maximum-likelihood", "form": "full", "priors": None, "covariance_estimator": None}
        other = any(getattr(self, name) != value for name, value in plain.items())
        if (
            other
            or self.get_params().get("shrinkage")
            or any(self.get_params().get(n) for n in ("pooling", "reg_param"))
        ):
            return float("nan")
        d = parts[0].rank
        volumes = np.array([one.log_determinant for one in parts])
        shares = self.priors_ if len(parts) > 1 else np.ones(1)
        entropy = -float(self.priors_ @ np.log(self.priors_))
        return 0.5 * (float(shares @ volumes) + d * (1.0 + float(np.log(2 * np.pi)))) + entropy

    # Leave-one-out

    def _deleted_scores(self, X: Any, y: Any, sample_weight: Any) -> Array:
        raise NotImplementedError(f"{type(self).__name__} has no closed-form leave-one-out.")

    def loo_predict_log_proba(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """The log posteriors of each training row under the model learned without it, in closed form.

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
        ndarray of shape (n, K)
            Logarithms of probabilities, in the order of ``classes_``.
        """
        check_is_fitted(self)
        return log_softmax(self._deleted_scores(X, y, sample_weight))

    def loo_predict_proba(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """The posteriors of each training row under the model learned without it, in closed form.

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
        ndarray of shape (n, K)
            Probabilities that sum to one in each row, in the order of ``classes_``.
        """
        return np.exp(self.loo_predict_log_proba(X, y, sample_weight))

    def loo_predict(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """The class of each training row under the model learned without it, in closed form.

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
        ndarray of shape (n,)
            The label of each row.
        """
        check_is_fitted(self)
        return np.asarray(self.classes_.take(self._deleted_scores(X, y, sample_weight).argmax(axis=1)))

    def loo_score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The leave-one-out accuracy on the training rows, in closed form.

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
        float
            Between 0 and 1.
        """
        hits = self.loo_predict(X, y, sample_weight) == np.asarray(y).ravel()
        return float(np.average(hits, weights=sample_weight))


def condition_number(whitened: Whitened) -> float:
    """Of the within-class correlation, over the directions that were kept: W scaled by the columns' deviations."""
    if len(whitened.deviation) != len(whitened.matrix):
        return float("nan")  # whitened twice: the deviations are those of the first whitening's coordinates
    scaled = whitened.matrix * whitened.deviation[:, None]
    singular = np.linalg.svd(scaled, compute_uv=False)[: whitened.rank]
    return float((singular[0] / singular[-1]) ** 2) if len(singular) and singular[-1] > 0 else float("nan")


def whitening_residual(whitened: Whitened, covariance: Array) -> float:
    """max |WᵗΣW − I|: how well the whitening undoes the covariance (both in the units of X)."""
    with np.errstate(over="ignore", invalid="ignore"):
        product = whitened.matrix.T @ covariance @ whitened.matrix
    return float(np.abs(product - np.eye(whitened.rank)).max(initial=0.0))


def reread(sample: Sample, moments: ClassMoments, divisor: float, only: int | None = None) -> Again:
    """The whitening's second look at the rows: Wᵗ Σ W and the class means in those coordinates."""

    def again(W: Array) -> tuple[Array, Array]:
        scatter, means = mapped_moments(sample.blocks, moments, W, only)
        return scatter / divisor, means if only is None else means[only : only + 1]

    return again


def warn_of_rank(whitened: Whitened, feature_names: Sequence[str] | None, where: str = "") -> None:
    """Name the columns that carry nothing, or nothing that the others do not."""
    if len(whitened.constant):
        what = columns(whitened.constant.tolist(), feature_names)
        warn(
            f"{capital(what)}: constant within the classes{where}, so that no weight is given to it.",
            CollinearityWarning,
        )
    if len(whitened.collinear):
        what = columns(whitened.collinear.tolist(), feature_names, most=8)
        count = whitened.null.shape[1]
        warn(
            f"Variables are collinear{where}: {count} linear combination(s) of {what} are constant within the classes. "
            "Their weights come from the pseudo-inverse; predictions along the data are not affected.",
            CollinearityWarning,
        )


def warn_of_near_collinearity(
    parts: Sequence[Whitened], feature_names: Sequence[str] | None, remedy: str = "use shrinkage"
) -> None:
    """Name the columns that nearly follow from the others, so that little but noise decides their weights."""
    inflation = np.max([one.inflation for one in parts], axis=0)
    found = np.flatnonzero(inflation > NEARLY_COLLINEAR)
    if len(found):
        what = columns(found.tolist(), feature_names, most=8)
        warn(
            f"Variables are nearly collinear: {what} follow from the other columns but for a share of "
            f"{1 / inflation.max():.1g} of the variance. Noise of that size decides their weights, which are large and "
            f"cancel one another. Drop all but one of them, or {remedy}.",
            CollinearityWarning,
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
