"""The perceptron criterion and its smoother forms, for t = ±1 and margin b.

    perceptron   ℓ = max(0, b − tz)             the batch rule adds the misclassified samples
    quadratic    ℓ = max(0, b − tz)²            smooth, but flat near the boundary of the solution region
    relaxation   ℓ = ½ max(0, b − tz)² / ‖y‖²   each correction is a step towards the hyperplane a·y = b

The sums run over a·y ≤ b (Duda, Hart and Stork 5.5–5.6).  The division by ‖y‖² is done by the objective, which sees
the rows; here the relaxation criterion only declares it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discriminant.criteria.pointwise import Margin, documented, like
from discriminant.protocols import Array, Oracle


@documented
@dataclass(frozen=True)
class Perceptron(Margin):
    """ℓ = max(0, b − tz), with slope −t wherever tz ≤ b: the perceptron criterion.

    Its batch gradient is the sum of the misclassified samples (Duda, Hart and Stork 5.5; PRML 4.1.7).

    Parameters
    ----------
    margin : float, default=0.0
        b ≥ 0.

    See Also
    --------
    Hinge : The same with b = 1.
    discriminant.Perceptron : The method that it belongs to.

    >>> Perceptron().value(np.array([[1.0], [1.0]]), np.array([[-2.0], [3.0]])).ravel()
    array([2., 0.])
    """

    margin: float = 0.0
    kind: ClassVar[int | None] = 3
    oracles: ClassVar[Oracle] = Oracle.VALUE | Oracle.GRADIENT | Oracle.MARGIN | Oracle.LINEAR | Oracle.CONJUGATE

    def value(self, t: Array, z: Array) -> Array:
        return self.shortfall(like(t, z), z)

    def gradient(self, t: Array, z: Array) -> Array:
        t = like(t, z)
        return np.where(t * z <= self.margin, -t, 0).astype(z.dtype, copy=False)

    def conjugate(self, t: Array, u: Array) -> Array:
        # ℓ*(u) = b·ut for −1 ≤ ut ≤ 0.
        v = u * like(t, u)
        return np.where((v >= -1) & (v <= 0), self.margin * v, np.inf)


@documented
@dataclass(frozen=True)
class Quadratic(Margin):
    """ℓ = max(0, b − tz)², smooth but flat near the boundary of the solution region.

    Duda, Hart and Stork 5.6.

    Parameters
    ----------
    margin : float, default=0.0
        b ≥ 0.

    See Also
    --------
    SquaredHinge : The same with b = 1.

    >>> Quadratic().value(np.array([[1.0], [1.0]]), np.array([[-2.0], [3.0]])).ravel()
    array([4., 0.])
    """

    margin: float = 0.0
    kind: ClassVar[int | None] = 4
    oracles: ClassVar[Oracle] = Oracle.VALUE | Oracle.GRADIENT | Oracle.CURVATURE | Oracle.MARGIN | Oracle.CONJUGATE

    def value(self, t: Array, z: Array) -> Array:
        return np.square(self.shortfall(like(t, z), z))

    def gradient(self, t: Array, z: Array) -> Array:
        t = like(t, z)
        return -2 * t * self.shortfall(t, z)

    def curvature(self, t: Array, z: Array) -> Array:
        # ℓ'' = 2 where tz < b: the second derivative wherever there is one.
        return np.where(like(t, z) * z < self.margin, 2, 0).astype(z.dtype, copy=False)

    def conjugate(self, t: Array, u: Array) -> Array:
        # ℓ*(u) = b·v + v²/4 for v = ut ≤ 0.
        v = u * like(t, u)
        return np.where(v <= 0, v * (self.margin + v / 4), np.inf)


@documented
@dataclass(frozen=True)
class Relaxation(Margin):
    """ℓ = ½ max(0, b − tz)², which the objective divides by ‖y‖².

    Each single-sample correction is then a step towards the hyperplane a·y = b (Duda, Hart and Stork 5.6).

    Parameters
    ----------
    margin : float, default=1.0
        b > 0.

    See Also
    --------
    Quadratic : Without the division by ‖y‖².
    discriminant.Perceptron : Takes it as ``criterion="relaxation"``.

    >>> Relaxation().value(np.array([[1.0]]), np.array([[-1.0]]))
    array([[2.]])
    """

    margin: float = 1.0
    kind: ClassVar[int | None] = 5
    oracles: ClassVar[Oracle] = Oracle.VALUE | Oracle.GRADIENT | Oracle.CURVATURE | Oracle.MARGIN | Oracle.CONJUGATE
    over_norm: ClassVar[float] = 1.0

    def value(self, t: Array, z: Array) -> Array:
        return np.square(self.shortfall(like(t, z), z)) / 2

    def gradient(self, t: Array, z: Array) -> Array:
        t = like(t, z)
        return -t * self.shortfall(t, z)

    def curvature(self, t: Array, z: Array) -> Array:
        # ℓ'' = 1 where tz < b.
        return (like(t, z) * z < self.margin).astype(z.dtype)

    def conjugate(self, t: Array, u: Array) -> Array:
        # ℓ*(u) = b·v + v²/2 for v = ut ≤ 0.
        v = u * like(t, u)
        return np.where(v <= 0, v * (self.margin + v / 2), np.inf)
