"""Lasso λ Σ f_j |a_j| and elastic net λ Σ f_j [α|a_j| + (1−α)/2 a_j²]: penalties that set weights to zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discriminant.arguments import checked, number
from discriminant.penalties.weight import WeightPenalty, documented, keep_intercept, soft_threshold
from discriminant.protocols import Array, Oracle


@documented
@dataclass(frozen=True)
@checked(mix=number(0, 1))
class ElasticNet(WeightPenalty):
    """λ Σ_j f_j [α|a_j| + (1−α)/2 a_j²]; ``mix`` is α (glmnet's alpha, scikit-learn's l1_ratio).

    Between ``Ridge`` (α = 0) and ``Lasso`` (α = 1); it sets weights to zero for α > 0.

    Parameters
    ----------
    mix : float, default=0.5
        α in [0, 1], the share of the absolute values.

    See Also
    --------
    discriminant.logistic_path : Fits for a whole range of λ.

    >>> ElasticNet(1.0, mix=0.5).prox(np.array([[7.0], [2.0], [-0.1]]), 1.0).ravel()
    array([ 7.,  1., -0.])
    """

    strength: float = 1.0
    mix: float = 0.5
    factors: tuple[float, ...] | None = None
    oracles: ClassVar[Oracle] = Oracle.VALUE | Oracle.CONJUGATE

    def value(self, A: Array) -> float:
        rows = A[1:]
        return float((self.scale(A) * (self.mix * np.abs(rows) + (1 - self.mix) / 2 * np.square(rows))).sum())

    def prox(self, A: Array, step: float) -> Array:
        level = step * self.scale(A)
        return keep_intercept(A, soft_threshold(A[1:], level * self.mix) / (1 + level * (1 - self.mix)))

    def conjugate(self, U: Array) -> float:
        # Σ (|u| − αλf)₊² / (2(1−α)λf), which for α = 1 is 0 inside |u| ≤ λf and +inf outside.
        scale = np.broadcast_to(self.scale(U), U[1:].shape)
        excess = np.maximum(np.abs(U[1:]) - self.mix * scale, 0)
        curvature = (1 - self.mix) * scale
        # At a solution |u| equals λf up to rounding, which must not read as infinitely far outside.
        stiff = curvature == 0
        if np.any(excess[stiff] > 1e-12 * (1 + scale[stiff])):
            return float("inf")
        return float((np.square(excess)[~stiff] / (2 * curvature[~stiff])).sum())


@documented
@dataclass(frozen=True)
class Lasso(ElasticNet):
    """λ Σ_j f_j |a_j|, the penalty that sets weights to zero.

    Weights below the threshold of the proximal map are exactly zero: a choice of features (a Laplace prior; PRML
    3.1.4).

    Parameters
    ----------
    mix : float, default=1.0
        α = 1; another value makes it an elastic net.

    See Also
    --------
    ElasticNet : The mixture with a ridge.

    >>> Lasso(0.5).value(np.array([[9.0], [2.0], [-4.0]]))
    3.0
    """

    mix: float = 1.0
    oracles: ClassVar[Oracle] = Oracle.VALUE | Oracle.CONJUGATE | Oracle.LINEAR
