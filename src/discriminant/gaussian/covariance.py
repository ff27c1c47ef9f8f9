"""Covariances in three forms, and the estimates that differ from scatter over a count: shrinkage, pooling.

Dense       Σ, a d × d matrix
Diagonal    Σ = diag(δ)                                     low rank without rows
Low rank    Σ = diag(δ) + Σ_i f_i r_i r_iᵗ over n < d rows of residuals; no d × d matrix is formed (Woodbury)

Shrinkage by a number         (1 − s) Σ + s (tr Σ / d) I
Ledoit–Wolf, OAS              the same on standardised columns with s estimated from the data, class by class
Friedman's two parameters     Σ_k(λ) = [(1−λ) S_k + λ S_W] / [(1−λ) W_k + λ W],   then shrinkage by γ

All of these are sums, multiples and added diagonals, which each form knows.  With C = F^½ R Δ^−½ = U s Qᵗ,

    Δ^−½ Σ Δ^−½ = I + CᵗC = I − QQᵗ + Q (1 + s²) Qᵗ,

so that Σ is whitened along the axes Q by (1 + s²)^−½ and is Δ beyond them.

Ledoit and Wolf (2004); Chen, Wiesel, Eldar and Hero (2010); Friedman (1989).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from discriminant.arrays import as_dense
from discriminant.data import ArrayBlocks
from discriminant.gaussian.moments import ClassMoments
from discriminant.gaussian.row_space import orthogonal_coordinates, singular_axes
from discriminant.gaussian.whiten import EPS, Whitened, column_noise, whiten_matrix
from discriminant.protocols import Array, Block


class Covariance(ABC):
    """A covariance, in the units of the moments that it belongs to."""

    @property
    @abstractmethod
    def variances(self) -> Array:
        """(d,): its diagonal."""

    @abstractmethod
    def __mul__(self, factor: float) -> Self: ...

    @abstractmethod
    def __add__(self, other: Any) -> Self: ...

    @abstractmethod
    def plus(self, variances: Array) -> Self:
        """Σ + diag(variances)."""

    @abstractmethod
    def matrix(self) -> Array:
        """Σ as a (d, d) matrix: formed when it is asked for."""

    @abstractmethod
    def product(self, V: Array) -> Array:
        """Σ V (d, m)."""

    @abstractmethod
    def squared_norm(self, deviation: Array) -> float:
        """‖D⁻¹ Σ D⁻¹‖², the sum of the squares of its entries on columns scaled by deviations D."""

    @abstractmethod
    def whiten(self, moments: ClassMoments, tol: float | None = None) -> Whitened: ...

    def shrink(self, amount: float, unit: Array) -> Self:
        """(1 − s) Σ + s (tr Σ / d) I, the identity in the units of X."""
        mean = float((self.variances * unit**2).mean())
        return (self * (1.0 - amount)).plus(amount * mean / unit**2)


@dataclass(frozen=True, eq=False)
class Dense(Covariance):
    """A d × d matrix."""

    values: Array

    @property
    def variances(self) -> Array:
        return np.diagonal(self.values)

    def __mul__(self, factor: float) -> Dense:
        return Dense(self.values * factor)

    def __add__(self, other: Dense) -> Dense:
        return Dense(self.values + other.values)

    def plus(self, variances: Array) -> Dense:
        result = self.values.copy()
        result[np.diag_indices_from(result)] += variances
        return Dense(result)

    def matrix(self) -> Array:
        return self.values

    def product(self, V: Array) -> Array:
        return np.asarray(self.values @ V)

    def squared_norm(self, deviation: Array) -> float:
        return float(np.square(self.values / deviation / deviation[:, None]).sum())

    def whiten(self, moments: ClassMoments, tol: float | None = None) -> Whitened:
        return whiten_matrix(self.values, moments, tol=tol)


class Axes(NamedTuple):
    """Σ as seen from its own axes: Δ^−½ Σ Δ^−½ = I − QQᵗ + Q T⁻ᵗT⁻¹ Qᵗ, over the live columns."""

    inverse: Array  # (d,) Δ^−½; 0 where a column does not vary
    basis: Array  # Q (d, r), orthonormal
    turn: Array  # T (r, r)
    log_determinant: float
    deviation: Array  # (d,) √ of the variances; 0 where a column does not vary
    full: bool  # whether Σ has a variance beyond the axes too

    def whitened(self, W: Array, moments: ClassMoments) -> Whitened:
        """What is known of Σ, with the directions W (d, ·), in the moments' units, that are needed of it."""
        rank = int(np.count_nonzero(self.inverse)) if self.full else self.basis.shape[1]
        unit, none = moments.unit, np.zeros((len(W), 0))
        return Whitened(
            W / unit[:, None], moments.means @ W, moments.origin, self.log_determinant, self.deviation * unit, none,
            given_rank=rank,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class LowRank(Covariance):
    """diag(δ) + Σ_i f_i r_i r_iᵗ, with δ = 0 or δ > 0 throughout; Diagonal where there are no rows."""

    delta: Array  # (d,)
    rows: Array  # (n, d) residuals, shared by all covariances of one sample
    factors: Array  # (n,)

    @property
    def variances(self) -> Array:
        return np.asarray(self.delta + np.einsum("i,ij,ij->j", self.factors, self.rows, self.rows))

    def __mul__(self, factor: float) -> LowRank:
        return LowRank(self.delta * factor, self.rows, self.factors * factor)

    def __add__(self, other: LowRank) -> LowRank:
        return LowRank(self.delta + other.delta, self.rows, self.factors + other.factors)

    def plus(self, variances: Array) -> LowRank:
        return LowRank(self.delta + variances, self.rows, self.factors)

    def matrix(self) -> Array:
        scaled = self._scaled(np.ones(len(self.delta)))
        return np.asarray(scaled.T @ scaled + np.diag(self.delta))

    def product(self, V: Array) -> Array:
        return np.asarray(self.delta[:, None] * V + self.rows.T @ (self.factors[:, None] * (self.rows @ V)))

    def squared_norm(self, deviation: Array) -> float:
        scaled = self._scaled(1 / deviation)  # ‖CᵗC‖² = ‖CCᵗ‖²; δ is 0 where this is asked
        return float(np.square(scaled @ scaled.T).sum())

    def _scaled(self, inverse: Array) -> Array:
        """C = F^½ R scaled by columns, without the rows that take no part."""
        part = np.flatnonzero(self.factors)
        rows = self.rows if len(part) == len(self.rows) else self.rows[part]
        return np.asarray(rows * np.sqrt(self.factors[part])[:, None] * inverse)

    def axes(self, moments: ClassMoments, tol: float | None = None) -> Axes:
        spread = np.sqrt(self.variances)
        live, noise = column_noise(moments, spread)
        full = bool(self.delta[live].all())
        scale = np.sqrt(self.delta) if full else spread
        inverse, deviation = np.zeros_like(scale), np.zeros_like(scale)
        inverse[live], deviation[live] = 1 / scale[live], spread[live]
        C = self._scaled(inverse)
        log_determinant = 2 * float(np.log(scale[live] * moments.unit[live]).sum())
        found = singular_axes(C, dof=moments.n_classes, least=1e-12 if full else None)
        if found is None and full:
            basis, Z = orthogonal_coordinates(C)
            # I + ZᵗZ = RᵗR, off the rows of Z and I: columns of any size keep their digits.
            R = np.linalg.qr(np.vstack([Z, np.eye(Z.shape[1])]), mode="r")
            turn, volume = np.linalg.inv(R), 2 * float(np.log(np.abs(np.diagonal(R))).sum())
            return Axes(inverse, basis, turn, log_determinant + volume, deviation, True)
        if found is None:
            basis, Z = orthogonal_coordinates(C)
            _, s, right = np.linalg.svd(Z, full_matrices=False)
            basis = basis @ right.T
        else:
            basis, s = found
        if full:
            stretch = np.hypot(1.0, s)
        else:
            rounding = np.sqrt(basis[live].T ** 2 @ noise**2)
            real = s > np.maximum(rounding, EPS * np.sqrt(len(C)) * s.max(initial=0.0))
            if tol is not None:
                real &= s > tol
            basis, stretch = basis[:, real], s[real]
        log_determinant += 2 * float(np.log(stretch).sum())
        return Axes(inverse, basis, np.diag(1 / stretch), log_determinant, deviation, full)

    def whiten(self, moments: ClassMoments, tol: float | None = None) -> Whitened:
        """W spans the axes and, where Σ has a variance beyond them, what the class means have there."""
        axes = self.axes(moments, tol)
        W = axes.basis @ axes.turn
        if axes.full:
            W = np.hstack([W, _beyond(axes, moments)])
        return axes.whitened(W * axes.inverse[:, None], moments)


def _beyond(axes: Axes, moments: ClassMoments) -> Array:
    """An orthonormal basis (d, ≤ K) of what class means and the zero point have beyond the axes."""
    overall = moments.weight @ moments.means / moments.total
    differences = moments.means[1:] - moments.means[:1]
    rows = np.vstack([differences, moments.origin / moments.unit + overall]) * axes.inverse
    length = np.linalg.norm(rows, axis=1)
    left = (rows[length > 0] / length[length > 0, None]).T
    for _ in range(2):  # twice is enough
        left = left - axes.basis @ (axes.basis.T @ left)
    basis, sizes, _ = np.linalg.svd(left, full_matrices=False)
    return np.asarray(basis[:, sizes > 1e-11])


# What the moments give


def scatter_of(moments: ClassMoments, k: int | None = None) -> Any:
    """S_k, or S_W for None, in the form in which the moments hold it."""
    rows = moments.rows
    d = moments.n_features
    if rows is not None:
        factors = np.ones(len(rows.codes)) if rows.weight is None else rows.weight
        return LowRank(np.zeros(d), rows.values, factors if k is None else factors * (rows.codes == k))
    scatter = moments.pooled().scatter if k is None else moments.scatter[k]
    return LowRank(scatter, np.zeros((0, d)), np.zeros(0)) if moments.diagonal else Dense(scatter)


def pool(scatter: Any, weight: float, pooled: Any, total: float, pooling: float, dof: float = 0.0) -> Any:
    """Friedman's Σ_k(λ); ``dof`` is the degree of freedom that each class mean costs (1 for unbiased)."""
    divisor = (1 - pooling) * (weight - dof) + pooling * total
    return scatter * ((1 - pooling) / divisor) + pooled * (pooling / divisor)


@dataclass(frozen=True)
class FourthKernel:
    """Σ w (‖D⁻¹(x − m_k)‖²)² of each class: the fourth moment that the optimal shrinkage depends on."""

    means: Array  # (K, d)
    deviations: Array  # (K, d)

    def __call__(self, block: Block) -> Array:
        values = block.design.values
        values = as_dense(values)
        codes = np.asarray(block.target, dtype=np.intp)
        standard = (values - self.means[codes]) / self.deviations[codes]
        return _fourth_powers(standard, codes, block.weight, len(self.means))


def _fourth(blocks: ArrayBlocks | None, moments: ClassMoments, deviations: Array) -> Array:
    rows = moments.rows
    if rows is None:
        assert blocks is not None
        return np.asarray(blocks.reduce(FourthKernel(moments.class_means, deviations * moments.unit)))
    return _fourth_powers(rows.values / deviations[rows.codes], rows.codes, rows.weight, moments.n_classes)


def _fourth_powers(standard: Array, codes: Array, weight: Array | None, n_classes: int) -> Array:
    powers = np.einsum("ij,ij->i", standard, standard) ** 2
    return np.bincount(codes, powers if weight is None else powers * weight, minlength=n_classes)


def optimal_shrinkage(blocks: ArrayBlocks | None, moments: ClassMoments, rule: str) -> list[Any]:
    """The covariance of each class (in the moments' units), standardised, shrunken by ``rule``, and scaled back."""
    safe = np.where(moments.weight > 0, moments.weight, 1.0)
    covariances = [scatter_of(moments, k) * (1 / weight) for k, weight in enumerate(safe)]
    deviations = np.sqrt(np.maximum(np.stack([covariance.variances for covariance in covariances]), 0.0))
    # Where squares about the origin are summed, this much of a column that is constant in a class is rounding.
    rounding = 8 * (np.sqrt(EPS) if moments.rows is None else EPS) * np.abs(moments.means)
    live = deviations > rounding
    deviations = np.where(live, deviations, 1.0)
    fourth = None
    if rule == "ledoit-wolf":
        fourth = _fourth(blocks, moments, deviations) / safe
    result = []
    for k, (covariance, deviation) in enumerate(zip(covariances, deviations, strict=True)):
        # R = D⁻¹ΣD⁻¹ has ones on its diagonal, zeros for columns that do not vary.
        mu, squared = float(live[k].mean()), covariance.squared_norm(deviation)
        d = len(deviation)
        own = (d, mu, squared, safe[k])
        amount = oas(*own) if fourth is None else _ledoit_wolf(*own, fourth[k])
        result.append((covariance * (1.0 - amount)).plus(amount * mu * deviation**2))
    return result


def _ledoit_wolf(d: int, mu: float, squared: float, n: float, fourth: float) -> float:
    """s = min(β, δ)/δ with δ = ‖R − μI‖²/d, β = (E‖x‖⁴ − ‖R‖²)/(n d), μ = tr R / d."""
    beta = (fourth - squared) / (d * n)
    delta = squared / d - mu**2
    return 0.0 if delta <= 0 else float(min(max(beta, 0.0), delta) / delta)


def oas(d: int, mu: float, squared: float, n: float) -> float:
    """The shrinkage s = (ρ̄ + μ²) / ((n + 1)(ρ̄ − μ²/d)) with ρ̄ the mean square of the entries, μ = tr / d."""
    mean_square = squared / d**2
    numerator = mean_square + mu**2
    denominator = (n + 1) * (mean_square - mu**2 / d)
    return 1.0 if denominator <= 0 else float(min(numerator / denominator, 1.0))
