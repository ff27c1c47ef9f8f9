"""The covariance of each class as the quadratic discriminant's parameters ask for it, whitened class by class."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from discriminant.data.check import require_few_classes
from discriminant.errors import CollinearityWarning, DataError, SingularCovarianceError, columns, warn
from discriminant.estimators.covariances import class_rows, guest_covariance, minimum_covariance_determinant
from discriminant.estimators.gaussian import reread, warn_of_near_collinearity, warn_of_rank
from discriminant.estimators.inputs import Sample
from discriminant.gaussian.covariance import oas, optimal_shrinkage, pool, shrink
from discriminant.gaussian.moments import ClassMoments, mapped_moments
from discriminant.gaussian.whiten import Whitened, whiten_diagonal, whiten_matrix, whiten_moments
from discriminant.protocols import Array

Result = tuple[list[Whitened], Array, list[Array]]


def class_whitening(estimator: Any, moments: ClassMoments, classes: Array, sample: Sample | None) -> Result:
    """(whitened, means, covariances in the units of X), one of each for every class."""
    lost = 1.0 if estimator.covariance == "unbiased" else 0.0
    _require_rows(estimator, moments, classes, lost)
    if estimator.form != "full":
        return _restricted(estimator, moments, classes, lost)
    require_few_classes(type(estimator).__name__, int(moments.count.sum()), moments.n_classes)
    special = _special(estimator, moments, sample, lost)
    if special is not None:
        moments, covariances = special
        whitened = [
            whiten_matrix(covariance, moments.of_class(k), tol=estimator.tol)
            for k, covariance in enumerate(covariances)
        ]
        if not all(one.full for one in whitened):
            whitened = _without_common_null(estimator, moments, covariances, classes, sample, whitened)
    else:
        divisors = moments.weight - lost
        covariances = [moments.scatter[k] / divisors[k] for k in range(moments.n_classes)]
        whitened = _plain(estimator, moments, divisors, sample)
        warn_of_near_collinearity(whitened, estimator._names())
        if not all(one.full for one in whitened):
            whitened = _within_range(estimator, moments, divisors, classes, sample, whitened)
    return whitened, moments.class_means, [moments.in_units_of_X(covariance) for covariance in covariances]


def _plain(estimator: Any, moments: ClassMoments, divisors: Array, sample: Sample | None) -> list[Whitened]:
    whitened = []
    for k in range(moments.n_classes):
        again = None if sample is None else reread(sample, moments, divisors[k], only=k)
        whitened.append(whiten_moments(moments.of_class(k), divisors[k], tol=estimator.tol, again=again))
    return whitened


def _within_range(
    estimator: Any, moments: ClassMoments, divisors: Array, classes: Array, sample: Sample | None, found: list[Whitened]
) -> list[Whitened]:
    """Some class lacks a direction.  What all lack is dropped; what one lacks is lent to it by the others.

    In the coordinates in which the pooled covariance is I, shrinking a class towards a multiple of I is shrinking it
    towards the pooled covariance: scale-free, and just enough by the OAS formula to give the class a density.
    """
    if estimator.solver != "auto":
        _require_full(estimator, found, moments, classes)
    pooled, total = moments.pooled(), float(divisors.sum())
    again = None if sample is None else reread(sample, pooled, total)
    common = whiten_moments(pooled, total, tol=estimator.tol, again=again)
    if common.rank == 0:
        _require_full(estimator, found, moments, classes)
    warn_of_rank(common, estimator._names())
    P = common.matrix * moments.unit[:, None]
    whitened = []
    for k in range(moments.n_classes):
        mapped = _seen_through(P, moments, k, sample)
        inner = whiten_moments(mapped, divisors[k], tol=estimator.tol)
        if not inner.full:
            covariance, amount = _borrowed(mapped, float(divisors[k]))
            warn(
                f"The covariance matrix of class {classes[k]} is not full rank (rank {inner.rank} of {common.rank}, "
                f"{int(moments.count[k])} rows). It was shrunk towards the pooled covariance by {amount:.2g}; choose "
                "`pooling` or `shrinkage` yourself, or drop columns.",
                CollinearityWarning,
            )
            inner = whiten_matrix(covariance, mapped)
        whitened.append(replace(inner, matrix=common.matrix @ inner.matrix, origin=moments.origin))
    return whitened


def _without_common_null(
    estimator: Any, moments: ClassMoments, covariances: list[Array], classes: Array, sample: Sample | None,
    found: list[Whitened],
) -> list[Whitened]:  # fmt: skip
    """Regularised covariances of which some lack a direction: what no class has is dropped, anything else refused."""
    pooled = moments.pooled()
    again = None if sample is None else reread(sample, pooled, moments.total)
    common = whiten_moments(pooled, moments.total, tol=estimator.tol, again=again)
    if estimator.solver != "auto" or common.full or common.rank == 0:
        _require_full(estimator, found, moments, classes)
    P = common.matrix * moments.unit[:, None]
    whitened = []
    for k, covariance in enumerate(covariances):
        mapped = _seen_through(P, moments, k, None)
        inner = whiten_matrix(P.T @ covariance @ P, mapped)
        if not inner.full:
            _require_full(estimator, found, moments, classes)
        whitened.append(replace(inner, matrix=common.matrix @ inner.matrix, origin=moments.origin))
    warn_of_rank(common, estimator._names())
    return whitened


def _seen_through(P: Array, moments: ClassMoments, k: int, sample: Sample | None) -> ClassMoments:
    """The moments of class k in the coordinates P."""
    if sample is None:
        scatter, means = P.T @ moments.scatter[k] @ P, moments.means @ P
    else:
        scatter, means = mapped_moments(sample.blocks, moments, P, only=k)
    zero, one = np.zeros(P.shape[1]), np.ones(P.shape[1])
    return replace(moments.of_class(k), origin=zero, unit=one, means=means[k : k + 1], scatter=scatter)


def _borrowed(mapped: ClassMoments, divisor: float) -> tuple[Array, float]:
    T = mapped.scatter / divisor
    if np.trace(T) <= 1e-24 * (1.0 + float((mapped.means**2).sum())):  # one distinct row: no spread but rounding
        return np.eye(len(T)), 1.0
    amount = oas(T, mapped.total)
    return shrink(T, amount, np.ones(len(T))), amount


def _special(
    estimator: Any, moments: ClassMoments, sample: Sample | None, lost: float
) -> tuple[ClassMoments, list[Array]] | None:
    unit, K = moments.unit, moments.n_classes
    if estimator.covariance_estimator is not None and sample is not None:
        parts = [guest_covariance(estimator.covariance_estimator, rows) for rows in class_rows(sample)]
        return moments, [part / unit / unit[:, None] for part in parts]
    if estimator.covariance == "robust" and sample is not None:
        fits = [minimum_covariance_determinant(rows, moments.precision) for rows in class_rows(sample)]
        means = (np.stack([centre for centre, _ in fits]) - moments.origin) / unit
        return replace(moments, means=means), [part / unit / unit[:, None] for _, part in fits]
    if not estimator._regularised:
        return None
    if isinstance(estimator.shrinkage, str) and not estimator.pooling:
        rule = "ledoit-wolf" if estimator.shrinkage == "auto" else estimator.shrinkage
        parts = optimal_shrinkage(None if sample is None else sample.blocks, moments, rule)
        covariances = [part * w / (w - lost) for part, w in zip(parts, moments.weight, strict=True)]
    else:
        pooled, total = moments.pooled().scatter, moments.total - lost * K
        pairs = zip(moments.scatter, moments.weight, strict=True)
        covariances = [pool(S, w, pooled, total, estimator.pooling, lost) for S, w in pairs]
        if estimator.shrinkage:
            covariances = [shrink(covariance, float(estimator.shrinkage), unit) for covariance in covariances]
    if estimator.reg_param:
        r = float(estimator.reg_param)
        covariances = [(1 - r) * covariance + r * np.diag(unit**-2.0) for covariance in covariances]
    return moments, covariances


def _restricted(estimator: Any, moments: ClassMoments, classes: Array, lost: float) -> Result:
    variances = moments.scatter / (moments.weight - lost)[:, None]
    if estimator.form == "spherical":
        variances = np.repeat((variances * moments.unit**2).mean(axis=1)[:, None], moments.n_features, axis=1)
        variances /= moments.unit**2
    whitened = [whiten_diagonal(row, moments.of_class(k)) for k, row in enumerate(variances)]
    lacking = [one.constant.tolist() for one in whitened]
    shared = 0 < len(lacking[0]) < moments.n_features and lacking.count(lacking[0]) == len(lacking)
    if shared and estimator.solver == "auto":
        warn_of_rank(whitened[0], estimator._names())  # constant in every class: it tells none from another
    else:
        _require_full(estimator, whitened, moments, classes)
    return whitened, moments.class_means, [np.diag(row * moments.unit**2) for row in variances]


def _require_rows(estimator: Any, moments: ClassMoments, classes: Array, lost: float) -> None:
    if estimator.pooling:
        return
    # One row of weight 3 is three equal rows: no covariance of its own, but not ill defined either.
    few = np.flatnonzero(((moments.count <= 1) & (moments.weight <= 1)) | (moments.weight <= lost))
    if len(few):
        raise DataError(
            f"y has only 1 sample in class {classes[few[0]]}, covariance is ill defined. "
            "Give more rows of it, leave it out, or pool the classes (pooling > 0)."
        )
    short = np.flatnonzero(moments.count <= moments.n_features)
    if estimator.solver == "svd" and len(short):
        k = short[0]
        raise SingularCovarianceError(
            f"The covariance matrix of class {classes[k]} is not full rank. When using `solver='svd'` the number of "
            f"samples in each class should be more than the number of features, but class {classes[k]} has "
            f"{int(moments.count[k])} samples and {moments.n_features} features. Try solver='auto' with shrinkage."
        )


def _require_full(estimator: Any, whitened: list[Whitened], moments: ClassMoments, classes: Array) -> None:
    for k, one in enumerate(whitened):
        if not one.full:
            if estimator.form != "full" or estimator.covariance != "maximum-likelihood" or estimator._regularised:
                remedy = "Drop columns, or use shrinkage with form='full' and a covariance that is not robust."
            else:
                name = "reg_param" if estimator.solver == "svd" else "shrinkage"
                remedy = (
                    f"Increase the value of `{name}` to reduce the collinearity, pool the classes (pooling > 0), or "
                    "drop columns."
                )
            missing = columns(one.constant.tolist() or one.collinear.tolist(), estimator._names())
            raise SingularCovarianceError(
                f"The covariance matrix of class {classes[k]} is not full rank. It has rank {one.rank} of "
                f"{moments.n_features} from {int(moments.count[k])} rows ({missing}). {remedy}"
            )
