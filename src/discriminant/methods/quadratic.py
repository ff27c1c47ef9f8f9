"""Quadratic discriminant analysis: Gaussian classes, each with a covariance of its own.

    g_k(x) = −½ ln|Σ_k| − ½ (x − μ_k)ᵗ Σ_k⁻¹ (x − μ_k) + ln P_k

Friedman's regularised family runs from it (pooling 0) to the linear discriminant (pooling 1).  What all classes lack, a
constant or collinear column, is dropped; what one class lacks is lent to it by the others; both with a note.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np

from discriminant.data.check import require_few_classes
from discriminant.errors import CollinearityWarning, DataError, ParameterError, SingularCovarianceError, columns
from discriminant.gaussian.covariance import Covariance, Dense, LowRank, oas, optimal_shrinkage, pool, scatter_of
from discriminant.gaussian.moments import ClassMoments, mapped_moments
from discriminant.gaussian.quadratic import QuadraticDiscriminant
from discriminant.gaussian.weights import AxisScores, QuadraticScores, axis_scores, quadratic_scores
from discriminant.gaussian.whiten import Whitened, whiten_each, whiten_moments
from discriminant.methods.fit import Fit, Note, Sample, Schema
from discriminant.methods.gaussian import (
    GaussianMethod,
    GaussianParameters,
    Robust,
    class_rows,
    estimated_covariance,
    given_robust,
)
from discriminant.methods.moments import (
    class_priors,
    near_collinearity_notes,
    rank_notes,
    read_moments,
    reread,
    whiten_within,
    whitening_residual,
)
from discriminant.methods.parameters import method, parameter_list
from discriminant.protocols import Array


@parameter_list
class QuadraticParameters(GaussianParameters):
    """Of ``QuadraticDiscriminantAnalysis``."""

    _: KW_ONLY
    reg_param: float = 0.0
    pooling: float = 0.0


@method
class Quadratic(QuadraticParameters, GaussianMethod):
    """Gaussian classes with covariances of their own."""

    estimator: ClassVar[str] = "QuadraticDiscriminantAnalysis"
    optional: ClassVar[tuple[str, ...]] = ("covariance_",)

    @property
    def regularised(self) -> bool:
        return bool(self.shrinkage or self.reg_param or self.pooling)

    @property
    def _dof(self) -> float:
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
        self._check_estimators()
        if isinstance(self.shrinkage, str) and self.pooling:
            raise ParameterError(
                f"shrinkage={self.shrinkage!r} is estimated for the covariance of one class, and "
                f"pooling={self.pooling:g} mixes those of all; give shrinkage as a number, or leave pooling at 0."
            )
        other = self.covariance_estimator is not None or self.covariance == "robust"
        if ((self.form != "full" or other) and self.regularised) or (self.form != "full" and other):
            raise ParameterError(
                "form, covariance='robust' and covariance_estimator each say what Σ_k is and cannot be combined with "
                "each other, nor with shrinkage, pooling or reg_param."
            )

    def moments(self, sample: Sample, *, in_parts: bool = False) -> ClassMoments:
        wide = not in_parts and self.by_rows(sample)
        return read_moments(sample, self.estimator, by_class=True, diagonal=self.form != "full", wide=wide)

    def by_rows(self, sample: Sample) -> bool:
        return self.plain and (self.tol is None or not self.regularised) and super().by_rows(sample)

    def enough(self, moments: ClassMoments) -> bool:
        """Whether every class has rows enough for a covariance."""
        return bool((moments.count > (1 if self.form != "full" or self.regularised else moments.n_features)).all())

    def discriminant(self, state: Mapping[str, Any]) -> QuadraticDiscriminant | None:
        return QuadraticDiscriminant(state["_scores"], state["classes_"]) if "_scores" in state else None

    def residual(self, state: Mapping[str, Any]) -> float:
        held, moments = state.get("_covariances"), state["moments_"]
        unit = moments.unit if held is None else np.ones(moments.n_features)
        parts = self.covariances(moments)[1] if held is None else [Dense(covariance) for covariance in held]
        return max(whitening_residual(white, C, unit) for white, C in zip(state["_whitened"], parts, strict=True))

    def learn(
        self, moments: ClassMoments, schema: Schema, sample: Sample | None = None, robust: Robust | None = None
    ) -> Fit:
        classes, dtype = schema.classes, schema.dtype
        priors = class_priors(self.priors, moments, classes)
        self._require_rows(moments, classes)
        work = _Whitening(self, moments, schema, sample, [])
        whitened, seen, covariances, scores = work.found(priors, robust)
        state: dict[str, Any] = {
            "classes_": classes, "priors_": priors, "moments_": moments, "_whitened": whitened, "_scores": scores,
            "means_": seen.class_means.astype(dtype, copy=False),
        }  # fmt: skip
        if covariances is not None and seen.rows is None:  # else they are formed when they are asked for
            state["_covariances"] = [seen.in_units_of_X(covariance.matrix()) for covariance in covariances]
        if self.store_covariance:
            parts = self.covariances(seen)[1] if covariances is None else covariances
            formed = [seen.in_units_of_X(part.matrix()) for part in parts]
            state["covariance_"] = [part.astype(dtype, copy=False) for part in formed]
        return Fit(self, QuadraticDiscriminant(scores, classes, schema.names), state, tuple(work.notes))

    def _require_rows(self, moments: ClassMoments, classes: Array) -> None:
        if self.pooling:
            return
        # One row of weight 3 is three equal rows: no covariance of its own, but not ill defined either.
        few = np.flatnonzero(((moments.count <= 1) & (moments.weight <= 1)) | (moments.weight <= self._dof))
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

    def covariances(
        self, moments: ClassMoments, sample: Sample | None = None, robust: Robust | None = None
    ) -> tuple[ClassMoments, list[Any]]:
        """The covariances of the classes, with the moments that belong to them, whose units they are in."""
        unit, K, dof = moments.unit, moments.n_classes, self._dof
        if self.covariance_estimator is not None and sample is not None:
            parts = [estimated_covariance(self.covariance_estimator, rows) for rows in class_rows(sample)]
            return moments, [Dense(part / unit / unit[:, None]) for part in parts]
        if self.covariance == "robust" and sample is not None:
            found = given_robust(robust)
            fits = [found(rows, moments.precision) for rows in class_rows(sample)]
            means = (np.stack([centre for centre, _ in fits]) - moments.origin) / unit
            return replace(moments, means=means), [Dense(part / unit / unit[:, None]) for _, part in fits]
        if isinstance(self.shrinkage, str) and not self.pooling:
            rule = "ledoit-wolf" if self.shrinkage == "auto" else self.shrinkage
            parts = optimal_shrinkage(None if sample is None else sample.blocks, moments, rule)
            covariances = [part * (w / (w - dof)) for part, w in zip(parts, moments.weight, strict=True)]
        else:
            covariances = [scatter_of(moments, k) for k in range(K)]
            if self.pooling:
                pooled, total = scatter_of(moments), moments.total - dof * K
                pairs = zip(covariances, moments.weight, strict=True)
                covariances = [pool(S, w, pooled, total, self.pooling, dof) for S, w in pairs]
            else:
                covariances = [S * (1 / (w - dof)) for S, w in zip(covariances, moments.weight, strict=True)]
            if self.shrinkage or self.form == "spherical":
                amount = float(self.shrinkage) if self.shrinkage else 1.0
                covariances = [covariance.shrink(amount, unit) for covariance in covariances]
        if self.reg_param:
            r = float(self.reg_param)
            covariances = [(covariance * (1 - r)).plus(r * unit**-2.0) for covariance in covariances]
        return moments, covariances


# Of each class; the moments; covariances in the moments' units, None where they are those of the moments; what scores
Result = tuple[list[Whitened], ClassMoments, list[Covariance] | None, QuadraticScores | AxisScores]


@dataclass(frozen=True)
class _Whitening:
    """The covariance of each class as the parameters ask for it, whitened class by class."""

    method: Quadratic
    moments: ClassMoments
    schema: Schema
    sample: Sample | None
    notes: list[Note]

    def found(self, priors: Array, robust: Robust | None) -> Result:
        method = self.method
        if method.form == "full":
            require_few_classes(method.estimator, int(self.moments.count.sum()), self.moments.n_classes)
        if method.plain and not method.regularised:
            whitened = self._plain(self.moments.weight - method._dof)
            return whitened, self.moments, None, quadratic_scores(whitened, priors)
        moments, covariances = method.covariances(self.moments, self.sample, robust)
        each = [moments.of_class(k) for k in range(moments.n_classes)]
        if isinstance(covariances[0], LowRank):
            axes = [covariance.axes(one) for covariance, one in zip(covariances, each, strict=True)]
            if all(one.full for one in axes):
                none = np.zeros((moments.n_features, 0))
                whitened = [found.whitened(none, one) for found, one in zip(axes, each, strict=True)]
                if not all(one.full for one in whitened):
                    self._without_constants(whitened)
                return whitened, moments, covariances, axis_scores(axes, moments, priors)
            whitened = [covariance.whiten(one) for covariance, one in zip(covariances, each, strict=True)]
            whitened = self._without_common_null(moments, covariances, whitened)
        else:
            whitened = [covariance.whiten(one, method.tol) for covariance, one in zip(covariances, each, strict=True)]
            if not all(one.full for one in whitened):
                whitened = self._without_common_null(moments, covariances, whitened)
        return whitened, moments, covariances, quadratic_scores(whitened, priors)

    def _plain(self, divisors: Array) -> list[Whitened]:
        method, sample = self.method, self.sample
        if self.moments.rows is not None:  # no class has more rows than columns
            return self._within_range(divisors, [])
        whitened = whiten_each(
            self.moments, divisors, tol=method.tol,
            again=lambda k: reread(sample, self.moments, float(divisors[k]), only=k),
        )  # fmt: skip
        self.notes.extend(near_collinearity_notes(whitened, self.moments, self.schema.names))
        return whitened if all(one.full for one in whitened) else self._within_range(divisors, whitened)

    def _without_constants(self, whitened: list[Whitened]) -> None:
        """Columns that do not vary: in all classes they separate none from another and are dropped, else refused."""
        lacking = [one.constant.tolist() for one in whitened]
        shared = len(lacking[0]) < self.moments.n_features and lacking.count(lacking[0]) == len(lacking)
        if shared and self.method.solver == "auto":
            self.notes.extend(rank_notes(whitened[0], self.schema.names))
        else:
            self._require_full(whitened)

    def _within_range(self, divisors: Array, found: list[Whitened]) -> list[Whitened]:
        """Some class lacks a direction.  What all lack is dropped; what one lacks is lent to it by the others.

        In the coordinates in which the pooled covariance is I, shrinking a class towards a multiple of I is shrinking
        it towards the pooled covariance: scale-free, and just enough by the OAS formula to give the class a density.
        """
        method, moments, classes = self.method, self.moments, self.schema.classes
        common = self._common(moments, float(divisors.sum()))
        if method.solver != "auto" or common.rank == 0:
            self._require_full(found or self._alone(divisors))
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
                inner = covariance.whiten(mapped)
            whitened.append(replace(inner, matrix=common.matrix @ inner.matrix, origin=moments.origin))
        return whitened

    def _without_common_null(
        self, moments: ClassMoments, covariances: list[Any], found: list[Whitened]
    ) -> list[Whitened]:
        """Regularised covariances some of which lack a direction: what no class has is dropped, all else refused."""
        common = self._common(moments, moments.total)
        if self.method.solver != "auto" or common.full or common.rank == 0:
            self._require_full(found)
        P = common.matrix * moments.unit[:, None]
        whitened = []
        for k, covariance in enumerate(covariances):
            inner = Dense(P.T @ covariance.product(P)).whiten(_seen_through(P, moments, k, None))
            if not inner.full:
                self._require_full(found)
            whitened.append(replace(inner, matrix=common.matrix @ inner.matrix, origin=moments.origin))
        self.notes.extend(rank_notes(common, self.schema.names))
        return whitened

    def _alone(self, divisors: Array) -> list[Whitened]:
        """Each class by its own rows, which are fewer than the columns."""
        moments = self.moments
        return [(scatter_of(moments, k) * (1 / n)).whiten(moments.of_class(k)) for k, n in enumerate(divisors)]

    def _common(self, moments: ClassMoments, divisor: float) -> Whitened:
        return whiten_within(moments, divisor, self.method.tol, self.sample)

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
    if sample is None or moments.rows is not None:
        scatter, means = P.T @ scatter_of(moments, k).product(P), moments.means @ P
    else:
        scatter, means = mapped_moments(sample.blocks, moments, P, only=k)
    zero, one = np.zeros(P.shape[1]), np.ones(P.shape[1])
    small = replace(moments.of_class(k), origin=zero, unit=one, means=means[k : k + 1], scatter=scatter)
    return replace(small, diagonal=False, rows=None)


def _borrowed(mapped: ClassMoments, divisor: float) -> tuple[Covariance, float]:
    d, T = mapped.n_features, Dense(mapped.scatter / divisor)
    trace = float(T.variances.sum())
    if trace <= 1e-24 * (1.0 + float((mapped.means**2).sum())):  # one distinct row: no spread but rounding
        return Dense(np.eye(d)), 1.0
    amount = oas(d, trace / d, T.squared_norm(np.ones(d)), mapped.total)
    return T.shrink(amount, np.ones(d)), amount
