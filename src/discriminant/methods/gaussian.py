"""Linear discriminant analysis: Gaussian classes that share one covariance Σ.

    g_k(x) = w_k·x + w_k0,    w_k = Σ⁻¹ μ_k,    w_k0 = −½ μ_kᵗ Σ⁻¹ μ_k + ln P_k

Σ is the scatter within the classes over N, shrunken, restricted to a diagonal, robust, or found by another estimator.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, replace
from functools import reduce
from operator import add
from typing import Any, ClassVar

import numpy as np

from discriminant.arrays import in_memory
from discriminant.data import held_blas
from discriminant.data.sources import require_memory
from discriminant.errors import DataError, NotAvailableError, ParameterError
from discriminant.gaussian.covariance import Covariance, Dense, optimal_shrinkage, scatter_of
from discriminant.gaussian.moments import ClassMoments
from discriminant.gaussian.weights import fisher_directions, linear_weights
from discriminant.gaussian.whiten import Whitened
from discriminant.methods.fit import Fit, Note, Sample, Schema, linear_state
from discriminant.methods.moments import (
    MomentMethod,
    class_priors,
    near_collinearity_notes,
    posterior_discriminant,
    rank_notes,
    read_moments,
    require_rows,
    rows_at_hand,
    whiten_within,
    whitening_residual,
    wide_notes,
)
from discriminant.methods.parameters import method, parameter_list
from discriminant.protocols import Array, Certificate, FindsCovariance

SHRINKAGES = ("ledoit-wolf", "oas")
Robust = Callable[[Array, float], tuple[Array, Array]]  # (rows, precision) ↦ location (d,) and covariance (d, d)


@parameter_list
class GaussianParameters:
    """Of Gaussian classes."""

    _: KW_ONLY
    solver: str = "auto"
    shrinkage: Any = None
    priors: Any = None
    store_covariance: bool = False
    tol: float | None = None
    covariance_estimator: FindsCovariance | None = None
    covariance: str = "maximum-likelihood"
    form: str = "full"
    basis: Any = None


class GaussianMethod(GaussianParameters, MomentMethod[ClassMoments]):
    """What linear and quadratic discriminants share: how covariances are asked for, and the proof."""

    def __post_init__(self) -> None:
        if self.covariance == "ml":  # the books' letters for it
            object.__setattr__(self, "covariance", "maximum-likelihood")

    @property
    def plain(self) -> bool:
        """Whether the covariances are those of the moments: full, not robust, and not found by another estimator."""
        return self.form == "full" and self.covariance != "robust" and self.covariance_estimator is None

    @abstractmethod
    def learn(
        self, moments: ClassMoments, schema: Schema, sample: Sample | None = None, robust: Robust | None = None
    ) -> Fit: ...

    def fit(self, sample: Sample, robust: Robust | None = None) -> Fit:
        """Learn from all rows at once; ``robust``: what finds a robust centre and covariance, where that is asked."""
        self.check()
        require_rows(sample)
        with held_blas(sample.blocks.n_features, rows_at_hand(sample.blocks)):
            return self.learn(self.moments(sample), sample.schema, sample, robust)

    def require_parts(self) -> None:
        rows_needed = {
            "covariance_estimator": self.covariance_estimator is not None,
            "shrinkage": isinstance(self.shrinkage, str) and self.shrinkage != "oas",
            "covariance": self.covariance == "robust",
        }
        for name, needed in rows_needed.items():
            if needed:
                raise NotAvailableError(
                    f"{name}={getattr(self, name)!r} needs all rows at once, so that a model cannot be learned in "
                    "parts, by partial_fit, or merged. Use shrinkage='oas' or a number."
                )

    def certify(self, state: Mapping[str, Any]) -> Certificate:
        """The residual of the arithmetic, and J = −(1/N) Σ ln p(x, C) where the fit is one of maximum likelihood."""
        held, residual = state["_whitened"], self.residual(state)
        parts: list[Whitened] = held if isinstance(held, list) else [held]
        rank, d = min(one.rank for one in parts), parts[0].matrix.shape[0]
        status = f"Closed form: the weights are a function of the class moments. Rank {rank} of {d} columns."
        if np.isfinite(residual):
            status += f" The whitening undoes the covariance to {residual:.1e}."
        likely = rank == d and self._maximises_likelihood
        J = _mean_log_loss(parts, in_memory(state["priors_"])) if likely else float("nan")
        passes = float(max(one.passes for one in parts))
        condition = max(one.condition for one in parts)
        return Certificate(status, True, J, J, 0.0, gradient_norm=residual, passes=passes, condition=condition)

    @abstractmethod
    def residual(self, state: Mapping[str, Any]) -> float:
        """How well the whitening undoes the covariance."""

    @property
    def _maximises_likelihood(self) -> bool:
        return self.plain and self.covariance == "maximum-likelihood" and self.priors is None and not self.shrinkage

    def _check_estimators(self) -> None:
        if self.covariance_estimator is not None and self.shrinkage is not None and self.shrinkage != 0:
            raise ParameterError(
                "covariance_estimator and shrinkage parameters are not None. Only one of the two can be set."
            )


def _mean_log_loss(parts: list[Whitened], priors: Array) -> float:
    """−(1/N) Σ ln p(x, C) at the maximum of the likelihood: ½ (ln|Σ| + d(1 + ln 2π)) and the entropy of the priors."""
    volumes = np.array([one.log_determinant for one in parts])
    shares = priors if len(parts) > 1 else np.ones(1)
    entropy = -float(priors @ np.log(priors))
    return 0.5 * (float(shares @ volumes) + parts[0].rank * (1.0 + float(np.log(2 * np.pi)))) + entropy


@parameter_list
class LinearParameters(GaussianParameters):
    """Of ``LinearDiscriminantAnalysis``, in scikit-learn's order."""

    solver: str = "auto"
    shrinkage: Any = None
    priors: Any = None
    n_components: int | None = None
    store_covariance: bool = False
    tol: float | None = None
    covariance_estimator: FindsCovariance | None = None
    _: KW_ONLY


@method
class Linear(LinearParameters, GaussianMethod):
    """Gaussian classes with one covariance."""

    estimator: ClassVar[str] = "LinearDiscriminantAnalysis"
    optional: ClassVar[tuple[str, ...]] = ("covariance_",)

    def check(self) -> None:
        if self.solver == "svd" and self.shrinkage is not None:
            raise NotImplementedError("shrinkage not supported with 'svd' solver; use solver='auto'.")
        if self.solver == "svd" and self.covariance_estimator is not None:
            raise ParameterError("covariance estimator is not supported with svd solver. Try another solver")
        self._check_estimators()
        special = [self.shrinkage is not None, self.covariance_estimator is not None, self.covariance == "robust"]
        if (self.form != "full" and any(special)) or sum(special[1:]) > 1 or (special[0] and special[2]):
            raise ParameterError(
                "form, shrinkage, covariance='robust' and covariance_estimator each say what Σ is; give one of them."
            )

    def moments(self, sample: Sample, *, in_parts: bool = False) -> ClassMoments:
        return read_moments(
            sample, self.estimator, by_class=isinstance(self.shrinkage, str), diagonal=self.form != "full",
            wide=not in_parts and self.by_rows(sample),
        )  # fmt: skip

    @property
    def stores_covariance(self) -> bool:
        return self.store_covariance or self.solver in ("lsqr", "eigen")

    def covariance_of(self, moments: ClassMoments) -> Array:
        """Σ in the units of X, (d, d): where the rows stood for it, it is formed when it is asked for."""
        special = self._special(moments, None, self._divisor(moments), None)
        covariance = self._plain_covariance(moments) if special is None else special[0]
        return moments.in_units_of_X(covariance.matrix())

    def by_rows(self, sample: Sample) -> bool:
        return self.plain and (self.tol is None or not self.shrinkage) and super().by_rows(sample)

    def learn(
        self, moments: ClassMoments, schema: Schema, sample: Sample | None = None, robust: Robust | None = None
    ) -> Fit:
        priors = class_priors(self.priors, moments, schema.classes)
        whitened, moments, covariance, notes = self._whitened(moments, schema, sample, robust)
        most = min(len(priors) - 1, moments.n_features)
        if self.n_components is not None and self.n_components > most:
            raise ParameterError(
                "n_components cannot be larger than min(n_features, n_classes - 1). "
                f"It is {self.n_components} and there are at most {most} discriminant axes."
            )
        count = most if self.n_components is None else self.n_components
        A = linear_weights(whitened, priors, centred=self.solver not in ("lsqr", "eigen"))
        discriminant = posterior_discriminant(A, schema, whitened.origin)
        axes, kept = fisher_directions(whitened, priors), dict[str, Array]()
        if self.stores_covariance and moments.rows is None:
            formed = self._plain_covariance(moments) if covariance is None else covariance
            kept["covariance_"] = moments.in_units_of_X(formed.matrix())
        state = linear_state(
            discriminant, schema, scalings_=axes.matrix, explained_variance_ratio_=axes.shares[:count],
            means_=moments.class_means, xbar_=moments.origin + moments.unit * (priors @ moments.means), **kept,
        ) | {
            "priors_": priors, "moments_": moments, "axes_": axes, "rank_": whitened.rank, "_whitened": whitened,
            "_max_components": count, "_n_features_out": min(count, axes.matrix.shape[1]),
        }  # fmt: skip
        if covariance is not None:  # else it is worked out of the moments when it is asked for
            state["_residual"] = whitening_residual(whitened, covariance, moments.unit)
        return Fit(self, discriminant, state, tuple(notes))

    # The covariance

    def _whitened(
        self, moments: ClassMoments, schema: Schema, sample: Sample | None, robust: Robust | None
    ) -> tuple[Whitened, ClassMoments, Covariance | None, list[Note]]:
        """(whitened, moments, Σ in the moments' units or None for the plain one, notes)."""
        divisor = self._divisor(moments)
        if divisor <= 0:
            raise DataError(
                f"The unbiased covariance divides by N − K = {divisor:g}: there are not more rows than classes. "
                "Use covariance='maximum-likelihood' or give more rows."
            )
        special = self._special(moments, sample, divisor, robust)
        if special is not None:
            covariance, moments = special
            whitened = covariance.whiten(moments, self.tol)
            return whitened, moments, covariance, rank_notes(whitened, schema.names)
        whitened = whiten_within(moments, divisor, self.tol, sample)
        if moments.rows is not None:
            return whitened, moments, None, wide_notes(moments, whitened.rank)
        notes = near_collinearity_notes([whitened], moments, schema.names) + rank_notes(whitened, schema.names)
        return whitened, moments, None, notes

    def _divisor(self, moments: ClassMoments) -> float:
        return moments.total - (moments.n_classes if self.covariance == "unbiased" else 0)

    def _plain_covariance(self, moments: ClassMoments) -> Covariance:
        found: Covariance = scatter_of(moments) * (1 / self._divisor(moments))
        return found

    def residual(self, state: Mapping[str, Any]) -> float:
        if "_residual" in state:
            return float(state["_residual"])
        moments = state["moments_"]
        return whitening_residual(state["_whitened"], self._plain_covariance(moments), moments.unit)

    def _special(
        self, moments: ClassMoments, sample: Sample | None, divisor: float, robust: Robust | None
    ) -> tuple[Covariance, ClassMoments] | None:
        """A covariance that is not the plain one, with the moments that belong to it; None for the plain one."""
        unit = moments.unit
        if self.form != "full":
            covariance = scatter_of(moments) * (1 / divisor)
            return covariance.shrink(1.0, unit) if self.form == "spherical" else covariance, moments
        if self.covariance_estimator is not None and sample is not None:
            fractions = moments.weight / moments.total
            parts = [estimated_covariance(self.covariance_estimator, rows) for rows in class_rows(sample)]
            found = sum(f * part for f, part in zip(fractions, parts, strict=True))
            return Dense(np.asarray(found) / unit / unit[:, None]), moments
        if self.covariance == "robust" and sample is not None:
            return _robust(moments, sample, given_robust(robust))
        if isinstance(self.shrinkage, str):
            rule = "ledoit-wolf" if self.shrinkage == "auto" else self.shrinkage
            parts = optimal_shrinkage(None if sample is None else sample.blocks, moments, rule)
            shares = moments.weight / divisor
            return reduce(add, [part * share for part, share in zip(parts, shares, strict=True)]), moments
        if self.shrinkage:
            return (scatter_of(moments) * (1 / divisor)).shrink(float(self.shrinkage), unit), moments
        return None


def _robust(moments: ClassMoments, sample: Sample, robust: Robust) -> tuple[Covariance, ClassMoments]:
    """Robust means of the classes, then the robust covariance of all residuals (Hubert and Van Driessen 2004)."""
    rows = class_rows(sample)
    fits = [robust(group, moments.precision) for group in rows]
    residuals = np.vstack([group - centre for group, (centre, _) in zip(rows, fits, strict=True)])
    shift, covariance = robust(residuals, moments.precision)
    means = (np.stack([centre + shift for centre, _ in fits]) - moments.origin) / moments.unit
    return Dense(covariance / moments.unit / moments.unit[:, None]), replace(moments, means=means)


def given_robust(robust: Robust | None) -> Robust:
    """The function that finds a robust centre and covariance, or a sentence where there is none."""
    if robust is None:
        raise ParameterError("covariance='robust' needs scikit-learn's MinCovDet, which the estimators bring along.")
    return robust


def class_rows(sample: Sample) -> list[Array]:
    """The rows of each class as dense arrays, for those who want to see them."""
    if sample.weight is not None:
        raise ParameterError("sample_weight cannot be combined with a robust covariance or a covariance_estimator.")
    require_memory(sample.blocks, "A robust covariance or a covariance_estimator")
    return [sample.X.pick(np.flatnonzero(sample.codes == k)).dense() for k in range(len(sample.classes))]


def estimated_covariance(estimator: FindsCovariance, rows: Array) -> Array:
    """The covariance that an estimator of scikit-learn's kind finds in the rows."""
    estimator = copy.deepcopy(estimator)  # the caller's is a parameter, and may be that of fits in other threads
    estimator.fit(rows)
    if not hasattr(estimator, "covariance_"):
        raise ParameterError(f"{type(estimator).__name__} does not have a covariance_ attribute")
    return np.asarray(estimator.covariance_)
