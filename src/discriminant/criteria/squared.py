"""Squared errors: ½(z − t)² on the scores (least squares, Widrow–Hoff) and ½(t − σ(z))² behind a sigmoid.

    squared           ℓ = ½(z−t)²     ℓ' = z − t              ℓ'' = 1
    sigmoid squared   ℓ = ½(t−σ)²     ℓ' = (σ−t) σ(1−σ)       ℓ'' = σ(1−σ) [σ(1−σ) + (σ−t)(1−2σ)]

The second is discrimination by regression (Alpaydin 10.8).  It is not convex: its curvature may be negative.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discriminant.criteria.pointwise import Pointwise, Probability, documented, like
from discriminant.protocols import Array, Oracle


@documented
@dataclass(frozen=True)
class Squared(Pointwise):
    """ℓ = ½(z − t)², for any real targets: least squares and the Widrow–Hoff rule.

    ℓ' = z − t and ℓ'' = 1, so that one Newton step is exact (PRML 4.1.3, Duda, Hart and Stork 5.8).

    See Also
    --------
    discriminant.LeastSquaresClassifier : The closed form.
    discriminant.Adaline : Learned sample by sample.

    >>> Squared().value(np.array([[1.0]]), np.array([[3.0]]))
    array([[2.]])
    """

    kind: ClassVar[int | None] = 2
    oracles: ClassVar[Oracle] = Oracle.VALUE | Oracle.GRADIENT | Oracle.CURVATURE | Oracle.QUADRATIC | Oracle.CONJUGATE
    threshold: ClassVar[float | None] = None

    def value(self, t: Array, z: Array) -> Array:
        return np.asarray(np.square(z - like(t, z)) / 2)

    def gradient(self, t: Array, z: Array) -> Array:
        return np.asarray(z - like(t, z))

    def curvature(self, t: Array, z: Array) -> Array:
        return np.ones_like(z)

    def value_and_gradient(self, t: Array, z: Array) -> tuple[Array, Array]:
        residual = z - like(t, z)
        return np.square(residual) / 2, residual

    def conjugate(self, t: Array, u: Array) -> Array:
        # ℓ*(u) = u²/2 + ut.
        return np.asarray(u * (u / 2 + like(t, u)))


@documented
@dataclass(frozen=True)
class SigmoidSquared(Probability):
    """ℓ = ½(t − σ(z))², for targets in [0, 1]: discrimination by regression.

    ℓ' = (σ−t) σ(1−σ).  It is not convex: its curvature may be negative (Alpaydin 10.8).

    See Also
    --------
    discriminant.SigmoidRegressionClassifier : The method that it belongs to.

    >>> SigmoidSquared().value(np.array([[1.0]]), np.array([[0.0]]))
    array([[0.125]])
    """

    kind: ClassVar[int | None] = 6
    oracles: ClassVar[Oracle] = Oracle.VALUE | Oracle.GRADIENT | Oracle.CURVATURE
    convex: ClassVar[bool] = False

    def value(self, t: Array, z: Array) -> Array:
        return np.square(_residual(t, z)[0]) / 2

    def gradient(self, t: Array, z: Array) -> Array:
        residual, slope, _ = _residual(t, z)
        return np.asarray(residual * slope)

    def curvature(self, t: Array, z: Array) -> Array:
        residual, slope, change = _residual(t, z)
        return np.asarray(slope * (slope + residual * change))

    def value_and_gradient(self, t: Array, z: Array) -> tuple[Array, Array]:
        residual, slope, _ = _residual(t, z)
        return np.square(residual) / 2, residual * slope


def _residual(t: Array, z: Array) -> tuple[Array, Array, Array]:
    """σ − t, σ(1−σ) and 1−2σ from one exponential; σ − t as (1−t)σ − t(1−σ), exact in both tails."""
    t = like(t, z)
    tail = np.exp(-np.abs(z))
    near, far = 1 / (1 + tail), tail / (1 + tail)
    right = z >= 0
    p, complement = np.where(right, near, far), np.where(right, far, near)
    return (1 - t) * p - t * complement, near * far, complement - p
