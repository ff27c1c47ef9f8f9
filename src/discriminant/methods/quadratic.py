"""Quadratic discriminant analysis: Gaussian classes, each with a covariance of its own.

    g_k(x) = −½ ln|Σ_k| − ½ (x − μ_k)ᵗ Σ_k⁻¹ (x − μ_k) + ln P_k

Friedman's regularised family runs from it (pooling 0) to the linear discriminant (pooling 1).  What all classes lack, a
constant or collinear column, is dropped; what one class lacks is lent to it by the others; both with a note.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from discriminant.data.check import require_few_classes
from discriminant.errors import CollinearityWarning, DataError, ParameterError, SingularCovarianceError, columns
from discriminant.gaussian.covariance import oas, optimal_shrinkage, pool, shrink
from discriminant.gaussian.moments import ClassMoments, class_moments, mapped_moments
from discriminant.gaussian.quadratic import QuadraticDiscriminant
from discriminant.gaussian.weights import quadratic_scores
from discriminant.gaussian.whiten import Whitened, whiten_diagonal, whiten_matrix, whiten_moments
from discriminant.methods.fit import Fit, Note, Sample, Schema
from discriminant.methods.gaussian import GaussianMethod, Robust, class_rows, given_robust, guest_covariance
from discriminant.methods.moments import (
    class_priors,
    finite,
    near_collinearity_notes,
    rank_notes,
    reread,
    whitening_residual,
)
from discriminant.protocols import Array


@dataclass(frozen=True)
class Quadratic(GaussianMethod):
    """Gaussian classes with covariances of their own; the parameters are those of ``QuadraticDiscriminantAnalysis``."""

    estimator: ClassVar[str] = "QuadraticDiscriminantAnalysis"
    optional: ClassVar[tuple[str, ...]] = ("covariance_",)

    solver: str = "auto"
    shrinkage: Any = None
    priors: Any = None
    reg_param: float = 0.0
    store_covariance: bool = False
    tol: float | None = None
    covariance_estimator: Any = None
    pooling: float = 0.0
    covariance: str = "maximum-likelihood"
    form: str = "full"
    basis: Any = None

    def __post_init__(self) -> None:
        if self.covariance == "ml":  # the books' letters for it
            object.__setattr__(self, "covariance", "maximum-likelihood")

    @property
    def regularised(self) -> bool:
        return bool(self.shrinkage or self.reg_param or self.pooling)

    @property
    def _lost(self) -> float:
        return 1.0 if self.covariance == "unbiased" else 0.0

    @property
    def _maximises_likelihood(self) -> bool:
        return super()._maximises_likelihood and not self.regularised

    def check(self) -> None:
        if self.solver == "svd" and self.shrinkage is not None:
            raise NotImplementedError("shrinkage not supported with 'svd' solver.")
        if self.solver == "svd" and self.covariance_estimator is not None:
            raise ParameterError(
                "covariance_estimator is not supported with solver='svd'. Try solver='eigen' or 'auto' instead."
            )
        self._check_guests()
        if isinstance(self.shrinkage, str) and self.pooling:
            raise ParameterError(
                f"shrinkage={self.shrinkage!r} is estimated for the covariance of one class, and "
                f"pooling={self.pooling:g} mixes those of all; give shrinkage as a number, or leave pooling at 0."
            )
        guest = self.covariance_estimator is not None or self.covariance == "robust"
        if ((self.form != "full" or guest) and self.regularised) or (self.form != "full" and guest):
            raise ParameterError(
                "form, covariance='robust' and covariance_estimator each say what Σ_k is and cannot be combined with "
                "each other, nor with shrinkage, pooling or reg_param."
            )

    def moments(self, sample: Sample, *, in_parts: bool = False) -> ClassMoments:
        found = class_moments(sample.blocks, len(sample.classes), by_class=True, diagonal=self.form != "full")
        return finite(found, sample, self.estimator)

    def enough(self, moments: ClassMoments) -> bool:
        """Whether every class has rows enough for a covariance."""
        return bool((moments.count > (1 if self.form != "full" or self.regularised else moments.n_features)).all())

    def discriminant(self, state: Mapping[str, Any]) -> QuadraticDiscriminant | None:
        return QuadraticDiscriminant(state["_scores"], state["classes_"]) if "_scores" in state else None

    def learn(
        self, moments: ClassMoments, schema: Schema, sample: Sample | None = None, robust: Robust | None = None
    ) -> Fit:
        classes, dtype = schema.classes, schema.dtype
        priors = class_priors(self.priors, moments, classes)
        self._require_rows(moments, classes)
        work = _Whitening(self, moments, schema, sample, [])
        whitened, seen, covariances = work.restricted() if self.form != "full" else work.full(robust)
        scores = quadratic_scores(whitened, priors)
        state: dict[str, Any] = {
            "classes_": classes, "priors_": priors, "moments_": moments, "_whitened": whitened,
            "_covariances": covariances, "_scores": scores,
            "_residual": max(whitening_residual(one, C) for one, C in zip(whitened, covariances, strict=True)),
            "means_": seen.class_means.astype(dtype, copy=False),
        }  # fmt: skip
        if self.store_covariance:
            state["covariance_"] = [covariance.astype(dtype, copy=False) for covariance in covariances]
        return Fit(self, QuadraticDiscriminant(scores, classes, schema.names), state, tuple(work.notes))

    def _require_rows(self, moments: ClassMoments, classes: Array) -> None:
        if self.pooling:
            return
        # One row of weight 3 is three equal rows: no covariance of its own, but not ill defined either.
        few = np.flatnonzero(((moments.count <= 1) & (moments.weight <= 1)) | (moments.weight <= self._lost))
        if len(few):
            raise DataError(
                f"y has only 1 sample in class {classes[few[0]]}, covariance is ill defined. "
                "Give more rows of it, leave it out, or pool the classes (pooling > 0)."
            )
        short = np.flatnonzero(moments.count <= moments.n_features)
        if self.solver == "svd" and len(short):
            k = short[0]
            raise SingularCovarianceError(
                f"The covariance matrix of class {classes[k]} is not full rank. When using `solver='svd'` the number "
                f"of samples in each class should be more than the number of features, but class {classes[k]} has "
                f"{int(moments.count[k])} samples and {moments.n_features} features. Try solver='auto' with shrinkage."
            )

    def special(
        self, moments: ClassMoments, sample: Sample | None, robust: Robust | None
    ) -> tuple[ClassMoments, list[Array]] | None:
        """Covariances that are not the plain ones, with the moments that belong to them; None for the plain ones."""
        unit, K, lost = moments.unit, moments.n_classes, self._lost
        if self.covariance_estimator is not None and sample is not None:
            parts = [guest_covariance(self.covariance_estimator, rows) for rows in class_rows(sample)]
            return moments, [part / unit / unit[:, None] for part in parts]
        if self.covariance == "robust" and sample is not None:
            found = given_robust(robust)
            fits = [found(rows, moments.precision) for rows in class_rows(sample)]
            means = (np.stack([centre for centre, _ in fits]) - moments.origin) / unit
            return replace(moments, means=means), [part / unit / unit[:, None] for _, part in fits]
        if not self.regularised:
            return None
        if isinstance(self.shrinkage, str) and not self.pooling:
            rule = "ledoit-wolf" if self.shrinkage == "auto" else self.shrinkage
            parts = optimal_shrinkage(None if sample is None else sample.blocks, moments, rule)
            covariances = [part * w / (w - lost) for part, w in zip(parts, moments.weight, strict=True)]
        else:
            pooled, total = moments.pooled().scatter, moments.total - lost * K
            pairs = zip(moments.scatter, moments.weight, strict=True)
            covariances = [pool(S, w, pooled, total, self.pooling, lost) for S, w in pairs]
            if self.shrinkage:
                covariances = [shrink(covariance, float(self.shrinkage), unit) for covariance in covariances]
        if self.reg_param:
            r = float(self.reg_param)
            covariances = [(1 - r) * covariance + r * np.diag(unit**-2.0) for covariance in covariances]
        return moments, covariances


Result = tuple[list[Whitened], ClassMoments, list[Array]]  # of each class; the moments; covariances in units of X


@dataclass(frozen=True)
class _Whitening:
    """The covariance of each class as the parameters ask for it, whitened class by class."""

    method: Quadratic
    moments: ClassMoments
    schema: Schema
    sample: Sample | None
    notes: list[Note]

    def full(self, robust: Robust | None) -> Result:
        method, moments, sample = self.method, self.moments, self.sample
        require_few_classes(method.estimator, int(moments.count.sum()), moments.n_classes)
        special = method.special(moments, sample, robust)
        if special is not None:
            moments, covariances = special
            whitened = [
                whiten_matrix(covariance, moments.of_class(k), tol=method.tol)
                for k, covariance in enumerate(covariances)
            ]
            if not all(one.full for one in whitened):
                whitened = self._without_common_null(moments, covariances, whitened)
        else:
            divisors = moments.weight - method._lost
            covariances = [moments.scatter[k] / divisors[k] for k in range(moments.n_classes)]
            whitened = [
                whiten_moments(
                    moments.of_class(k), divisor, tol=method.tol, again=reread(sample, moments, divisor, only=k)
                )
                for k, divisor in enumerate(divisors)
            ]
            self.notes.extend(near_collinearity_notes(whitened, self.schema.names))
            if not all(one.full for one in whitened):
                whitened = self._within_range(divisors, whitened)
        return whitened, moments, [moments.in_units_of_X(covariance) for covariance in covariances]

    def restricted(self) -> Result:
        moments = self.moments
        variances = moments.scatter / (moments.weight - self.method._lost)[:, None]
        if self.method.form == "spherical":
            variances = np.repeat((variances * moments.unit**2).mean(axis=1)[:, None], moments.n_features, axis=1)
            variances /= moments.unit**2
        whitened = [whiten_diagonal(row, moments.of_class(k)) for k, row in enumerate(variances)]
        lacking = [one.constant.tolist() for one in whitened]
        shared = 0 < len(lacking[0]) < moments.n_features and lacking.count(lacking[0]) == len(lacking)
        if shared and self.method.solver == "auto":  # constant in every class: it tells none from another
            self.notes.extend(rank_notes(whitened[0], self.schema.names))
        else:
            self._require_full(whitened)
        return whitened, moments, [np.diag(row * moments.unit**2) for row in variances]

    def _within_range(self, divisors: Array, found: list[Whitened]) -> list[Whitened]:
        """Some class lacks a direction.  What all lack is dropped; what one lacks is lent to it by the others.

        In the coordinates in which the pooled covariance is I, shrinking a class towards a multiple of I is shrinking
        it towards the pooled covariance: scale-free, and just enough by the OAS formula to give the class a density.
        """
        method, moments, classes = self.method, self.moments, self.schema.classes
        if method.solver != "auto":
            self._require_full(found)
        common = self._common(moments, float(divisors.sum()))
        if common.rank == 0:
            self._require_full(found)
        self.notes.extend(rank_notes(common, self.schema.names))
        P = common.matrix * moments.unit[:, None]
        whitened = []
        for k in range(moments.n_classes):
            mapped = _seen_through(P, moments, k, self.sample)
            inner = whiten_moments(mapped, divisors[k], tol=method.tol)
            if not inner.full:
                covariance, amount = _borrowed(mapped, float(divisors[k]))
                text = (
                    f"The covariance matrix of class {classes[k]} is not full rank (rank {inner.rank} of "
                    f"{common.rank}, {int(moments.count[k])} rows). It was shrunk towards the pooled covariance by "
                    f"{amount:.2g}; choose `pooling` or `shrinkage` yourself, or drop columns."
                )
                self.notes.append(Note(text, CollinearityWarning))
                inner = whiten_matrix(covariance, mapped)
            whitened.append(replace(inner, matrix=common.matrix @ inner.matrix, origin=moments.origin))
        return whitened

    def _without_common_null(
        self, moments: ClassMoments, covariances: list[Array], found: list[Whitened]
    ) -> list[Whitened]:
        """Regularised covariances some of which lack a direction: what no class has is dropped, all else refused."""
        common = self._common(moments, moments.total)
        if self.method.solver != "auto" or common.full or common.rank == 0:
            self._require_full(found)
        P = common.matrix * moments.unit[:, None]
        whitened = []
        for k, covariance in enumerate(covariances):
            inner = whiten_matrix(P.T @ covariance @ P, _seen_through(P, moments, k, None))
            if not inner.full:
                self._require_full(found)
            whitened.append(replace(inner, matrix=common.matrix @ inner.matrix, origin=moments.origin))
        self.notes.extend(rank_notes(common, self.schema.names))
        return whitened

    def _common(self, moments: ClassMoments, divisor: float) -> Whitened:
        pooled = moments.pooled()
        again = reread(self.sample, pooled, divisor)
        return whiten_moments(pooled, divisor, tol=self.method.tol, again=again)

    def _require_full(self, whitened: list[Whitened]) -> None:
        method, moments, schema = self.method, self.moments, self.schema
        for k, one in enumerate(whitened):
            if not one.full:
                if method.form != "full" or method.covariance != "maximum-likelihood" or method.regularised:
                    remedy = "Drop columns, or use shrinkage with form='full' and a covariance that is not robust."
                else:
                    name = "reg_param" if method.solver == "svd" else "shrinkage"
                    remedy = (
                        f"Increase the value of `{name}` to reduce the collinearity, pool the classes (pooling > 0), "
                        "or drop columns."
                    )
                missing = columns(one.constant.tolist() or one.collinear.tolist(), schema.names)
                raise SingularCovarianceError(
                    f"The covariance matrix of class {schema.classes[k]} is not full rank. It has rank {one.rank} of "
                    f"{moments.n_features} from {int(moments.count[k])} rows ({missing}). {remedy}"
                )


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
