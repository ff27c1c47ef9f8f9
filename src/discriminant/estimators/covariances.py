"""Which covariance an estimator's parameters ask for, whitened: plain, shrunken, diagonal, robust, or by a guest."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from discriminant.data.sources import require_memory
from discriminant.errors import CollinearityWarning, DataError, MismatchError, ParameterError, warn
from discriminant.estimators.gaussian import reread, warn_of_near_collinearity, warn_of_rank
from discriminant.estimators.inputs import Sample
from discriminant.gaussian.covariance import optimal_shrinkage, shrink
from discriminant.gaussian.moments import ClassMoments
from discriminant.gaussian.whiten import Whitened, whiten_diagonal, whiten_matrix, whiten_moments
from discriminant.gaussian.wide import whiten_wide
from discriminant.protocols import Array

SHRINKAGES = ("ledoit-wolf", "oas")


def require_whole_moments(estimator: Any) -> None:
    """Moments add; what needs the rows themselves does not."""
    rows_needed = {
        "covariance_estimator": estimator.covariance_estimator is not None,
        "shrinkage": isinstance(estimator.shrinkage, str) and estimator.shrinkage != "oas",
        "covariance": estimator.covariance == "robust",
    }
    for name, needed in rows_needed.items():
        if needed:
            raise MismatchError(
                f"{name}={getattr(estimator, name)!r} needs all rows at once, so that a model cannot be learned in "
                "parts or merged. Use shrinkage='oas' or a number."
            )


def pooled_whitening(
    estimator: Any, moments: ClassMoments, sample: Sample | None
) -> tuple[Whitened, ClassMoments, Callable[[], Array]]:
    """(whitened, moments, () → Σ in the units of X) for one covariance over all classes."""
    names = estimator._names()
    lost = moments.n_classes if estimator.covariance == "unbiased" else 0
    divisor = moments.total - lost
    if divisor <= 0:
        raise DataError(
            f"The unbiased covariance divides by N − K = {divisor:g}: there are not more rows than classes. "
            "Use covariance='maximum-likelihood' or give more rows."
        )
    if estimator.form != "full":
        return _restricted(estimator, moments, divisor)
    if moments.diagonal and sample is not None:
        return _wide(estimator, moments, sample, divisor)
    special = _special(estimator, moments, sample, divisor)
    if special is not None:
        covariance, moments = special
        whitened = whiten_matrix(covariance, moments, tol=estimator.tol)
    else:
        pooled = moments.pooled()
        covariance = pooled.scatter / divisor
        again = None if sample is None else reread(sample, pooled, divisor)
        whitened = whiten_moments(pooled, divisor, tol=estimator.tol, again=again)
        warn_of_near_collinearity([whitened], names)
    warn_of_rank(whitened, names)
    return whitened, moments, lambda: moments.in_units_of_X(covariance)


def _wide(
    estimator: Any, moments: ClassMoments, sample: Sample, divisor: float
) -> tuple[Whitened, ClassMoments, Callable[[], Array]]:
    whitened = whiten_wide(sample, moments, divisor, estimator.tol)
    warn(
        f"There are {moments.n_features} columns and {sample.blocks.n_rows} rows: the within-class covariance has rank "
        f"{whitened.rank} and its pseudo-inverse is used. Consider shrinkage or fewer columns.",
        CollinearityWarning,
    )

    def covariance() -> Array:
        rows = np.vstack([group - group.mean(axis=0) for group in class_rows(sample)])
        return np.asarray(rows.T @ rows / divisor)

    return whitened, moments, covariance


def _restricted(
    estimator: Any, moments: ClassMoments, divisor: float
) -> tuple[Whitened, ClassMoments, Callable[[], Array]]:
    variances = moments.squares() / divisor
    if estimator.form == "spherical":
        mean = float((variances * moments.unit**2).mean())
        variances = mean / moments.unit**2
    whitened = whiten_diagonal(variances, moments)
    warn_of_rank(whitened, estimator._names())
    return whitened, moments, lambda: np.diag(variances * moments.unit**2)


def _special(
    estimator: Any, moments: ClassMoments, sample: Sample | None, divisor: float
) -> tuple[Array, ClassMoments] | None:
    if estimator.covariance_estimator is not None and sample is not None:
        fractions = moments.weight / moments.total
        parts = [guest_covariance(estimator.covariance_estimator, rows) for rows in class_rows(sample)]
        covariance = sum(f * part for f, part in zip(fractions, parts, strict=True))
        return np.asarray(covariance) / moments.unit / moments.unit[:, None], moments
    if estimator.covariance == "robust" and sample is not None:
        return _robust(moments, sample)
    if isinstance(estimator.shrinkage, str):
        rule = "ledoit-wolf" if estimator.shrinkage == "auto" else estimator.shrinkage
        parts = optimal_shrinkage(None if sample is None else sample.blocks, moments, rule)
        ratio = moments.total / divisor
        return ratio * np.einsum("k,kij->ij", moments.weight / moments.total, np.stack(parts)), moments
    if estimator.shrinkage:
        return shrink(moments.pooled().scatter / divisor, float(estimator.shrinkage), moments.unit), moments
    return None


def class_rows(sample: Sample) -> list[Array]:
    """The rows of each class as dense arrays, for estimators that want to see them."""
    if sample.weight is not None:
        raise ParameterError("sample_weight cannot be combined with a robust covariance or a covariance_estimator.")
    require_memory(sample.blocks, "A robust covariance or a covariance_estimator")
    rows = []
    for k in range(len(sample.classes)):
        values = sample.X.pick(np.flatnonzero(sample.codes == k)).values
        rows.append(values.toarray() if hasattr(values, "toarray") else values)
    return rows


def guest_covariance(estimator: Any, rows: Array) -> Array:
    """The covariance that a guest (an estimator of scikit-learn's kind) finds in the rows."""
    estimator.fit(rows)
    if not hasattr(estimator, "covariance_"):
        raise ParameterError(f"{type(estimator).__name__} does not have a covariance_ attribute")
    return np.asarray(estimator.covariance_)


def minimum_covariance_determinant(rows: Array, precision: float) -> tuple[Array, Array]:
    """(location, covariance) of the half of the rows with the smallest covariance determinant, reweighted."""
    from sklearn.covariance import MinCovDet

    scale = rows.std(axis=0)
    offset = np.median(rows, axis=0)
    scale = np.where(scale > precision * np.abs(offset), scale, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own subsets' rank; ours is judged and said afterwards
        mcd = MinCovDet(random_state=0).fit((rows - offset) / scale)
    return offset + mcd.location_ * scale, mcd.covariance_ * scale * scale[:, None]


def _robust(moments: ClassMoments, sample: Sample) -> tuple[Array, ClassMoments]:
    """Robust means of the classes, then the robust covariance of all residuals (Hubert and Van Driessen 2004)."""
    rows = class_rows(sample)
    fits = [minimum_covariance_determinant(group, moments.precision) for group in rows]
    residuals = np.vstack([group - centre for group, (centre, _) in zip(rows, fits, strict=True)])
    shift, covariance = minimum_covariance_determinant(residuals, moments.precision)
    means = (np.stack([centre + shift for centre, _ in fits]) - moments.origin) / moments.unit
    return covariance / moments.unit / moments.unit[:, None], replace(moments, means=means)
