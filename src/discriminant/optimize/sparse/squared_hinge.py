"""The squared hinge in score space, so that the sparse solver serves the L1 support vector machine too.

ℓ(y, z) = max(0, 1 − yz)²,    v = −2y max(0, 1 − yz),    curvature 2 [yz < 1],    ℓ*(v) = yv + v²/4  for yv ≤ 0
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discriminant.optimize.sparse.losses import Losses
from discriminant.protocols import Array


@dataclass(frozen=True)
class SquaredHinge(Losses):
    """As ``Losses`` with targets t = ±1 (n, 1); what stands for posteriors is whether a row is inside the margin."""

    def value(self, z: Array) -> float:
        return float(self.s @ np.square(np.maximum(1 - self.t * z, 0))[:, 0])

    def slope(self, z: Array) -> tuple[Array, Array]:
        slack = np.maximum(1 - self.t * z, 0)
        return (slack > 0).astype(np.float64), -2 * self.t * slack

    def curvature(self, p: Array) -> Array:
        return 2 * p

    def dual(self, v: Array, scale: float) -> float:
        v = scale * v
        if float((self.t * v).max(initial=0.0)) > 1e-9:
            return -np.inf
        return -float(self.s @ (self.t * v + 0.25 * np.square(v))[:, 0])
