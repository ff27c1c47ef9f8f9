"""Ridge: λ/2 Σ f_j a_j², the penalty of small weights (a Gaussian prior)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discriminant.penalties.weight import WeightPenalty, below_intercept, documented, keep_intercept
from discriminant.protocols import Array, Oracle


@documented
@dataclass(frozen=True)
class Ridge(WeightPenalty):
    """λ/2 Σ_j f_j Σ_outputs a_j², the penalty of a Gaussian prior: small weights (PRML 3.1.4).

    The intercept is free.

    See Also
    --------
    Lasso : Sets weights to zero.
    strength_from_C : λ from scikit-learn's C.

    >>> Ridge(0.5).value(np.array([[9.0], [2.0]]))
    1.0
    """

    strength: float = 1.0
    factors: tuple[float, ...] | None = None
    oracles: ClassVar[Oracle] = Oracle.VALUE | Oracle.GRADIENT | Oracle.CURVATURE | Oracle.QUADRATIC | Oracle.CONJUGATE

    def value(self, A: Array) -> float:
        return float((self.scale(A) * np.square(A[1:])).sum() / 2)

    def gradient(self, A: Array) -> Array:
        return below_intercept(A, self.scale(A) * A[1:])

    def curvature(self, A: Array) -> Array:
        return below_intercept(A, self.scale(A))

    def prox(self, A: Array, step: float) -> Array:
        return keep_intercept(A, A[1:] / (1 + step * self.scale(A)))

    def conjugate(self, U: Array) -> float:
        # Σ u²/(2λf), and no u at all where λf = 0.
        scale = np.broadcast_to(self.scale(U), U[1:].shape)
        free = scale == 0
        if np.any(U[1:][free] != 0):
            return float("inf")
        return float((np.square(U[1:])[~free] / (2 * scale[~free])).sum())
