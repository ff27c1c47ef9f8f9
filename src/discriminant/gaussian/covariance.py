"""Covariances other than scatter over a count: shrinkage, pooling, diagonal and spherical forms.

Shrinkage by a number         (1 − s) Σ + s (tr Σ / d) I
Ledoit–Wolf, OAS              the same on standardised columns with s estimated from the data, class by class
Friedman's two parameters     Σ_k(λ) = [(1−λ) S_k + λ S_W] / [(1−λ) W_k + λ W],   then shrinkage by γ
Diagonal                      only the variances           Spherical   their mean

Ledoit and Wolf (2004); Chen, Wiesel, Eldar and Hero (2010); Friedman (1989).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.arrays import as_dense
from discriminant.gaussian.moments import ClassMoments
from discriminant.protocols import Array, Block


def shrink(covariance: Array, amount: float, unit: Array) -> Array:
    """(1 − s) Σ + s (tr Σ / d) I, the identity in the units of X."""
    mean = float((np.diagonal(covariance) * unit**2).sum()) / len(covariance)
    result = (1.0 - amount) * covariance
    result[np.diag_indices_from(result)] += amount * mean / unit**2
    return np.asarray(result)


def pool(scatter: Array, weight: float, pooled: Array, total: float, pooling: float, lost: float = 0.0) -> Array:
    """Friedman's Σ_k(λ); ``lost`` is the degree of freedom that each class mean costs (1 for unbiased)."""
    divisor = (1 - pooling) * (weight - lost) + pooling * total
    return np.asarray(((1 - pooling) * scatter + pooling * pooled) / divisor)


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
        squares = np.einsum("ij,ij->i", standard, standard) ** 2
        weighted = squares if block.weight is None else squares * block.weight
        return np.bincount(codes, weighted, minlength=len(self.means))


def optimal_shrinkage(blocks: Any, moments: ClassMoments, rule: str) -> list[Array]:
    """The covariance of each class (in the moments' units), standardised, shrunken by ``rule``, and scaled back."""
    safe = np.where(moments.weight > 0, moments.weight, 1.0)
    covariances = moments.scatter / safe[:, None, None]
    deviations = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    # Squares about the origin are summed, so that this much of a column that is constant in a class is rounding.
    rounding = 8 * np.sqrt(np.finfo(np.float64).eps) * np.abs(moments.means)
    deviations = np.where(deviations > rounding, deviations, 1.0)
    fourth = None
    if rule == "ledoit-wolf":
        fourth = blocks.reduce(FourthKernel(moments.class_means, deviations * moments.unit)) / safe
    result = []
    for k, (covariance, deviation) in enumerate(zip(covariances, deviations, strict=True)):
        R = covariance / deviation / deviation[:, None]
        amount = _ledoit_wolf(R, fourth[k], safe[k]) if fourth is not None else oas(R, safe[k])
        shrunk = shrink(R, amount, np.ones(len(R)))
        result.append(shrunk * deviation * deviation[:, None])
    return result


def _ledoit_wolf(R: Array, fourth: float, n: float) -> float:
    """s = min(β, δ)/δ with δ = ‖R − μI‖²/d, β = (E‖x‖⁴ − ‖R‖²)/(n d), μ = tr R / d."""
    d = len(R)
    mu = np.trace(R) / d
    squared = float((R**2).sum())
    beta = (fourth - squared) / (d * n)
    delta = (squared - 2 * mu * np.trace(R) + d * mu**2) / d
    return 0.0 if delta <= 0 else float(min(max(beta, 0.0), delta) / delta)


def oas(R: Array, n: float) -> float:
    """The shrinkage s = (ρ̄ + μ²) / ((n + 1)(ρ̄ − μ²/d)) with ρ̄ the mean square of R's entries."""
    d = len(R)
    mean_square, mu = float((R**2).mean()), np.trace(R) / d
    numerator = mean_square + mu**2
    denominator = (n + 1) * (mean_square - mu**2 / d)
    return 1.0 if denominator <= 0 else float(min(numerator / denominator, 1.0))
