"""The criteria of a margin b, for t = ±1: what a row costs that falls short of it by m = max(0, b − tz).

    perceptron, hinge           ℓ = m                  the batch rule adds the misclassified samples
    quadratic, squared hinge    ℓ = m²                 smooth, but flat near the boundary of the solution region
    relaxation                  ℓ = ½ m² / ‖y‖²        each correction is a step towards the hyperplane a·y = b
    zero-one                    ℓ = 1(tz ≤ b)          the count of errors: no gradient says which way to go

The sums run over a·y ≤ b (Duda, Hart and Stork 5.5–5.6).  The division by ‖y‖² is done by the objective, which sees
the rows; here the relaxation criterion only declares it.  The hinges are the first two at margin one, by the names
of support vector machines.
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

    See Also
    --------
    SquaredHinge : The same with b = 1.

    >>> Quadratic().value(np.array([[1.0], [1.0]]), np.array([[-2.0], [3.0]])).ravel()
    array([4., 0.])
    """

    margin: float = 0.0
    kind: ClassVar[int | None] = 4
    oracles: ClassVar[Oracle] = Oracle.VALUE | Oracle.GRADIENT | Oracle.CURVATURE | Oracle.MARGIN | Oracle.CONJUGATE
    scale: ClassVar[float] = 1.0  # s of ℓ = s m²

    def value(self, t: Array, z: Array) -> Array:
        return np.asarray(self.scale * np.square(self.shortfall(like(t, z), z)))

    def gradient(self, t: Array, z: Array) -> Array:
        t = like(t, z)
        return -2 * self.scale * t * self.shortfall(t, z)

    def curvature(self, t: Array, z: Array) -> Array:
        # ℓ'' = 2s where tz < b: the second derivative wherever there is one.
        return np.where(like(t, z) * z < self.margin, 2 * self.scale, 0).astype(z.dtype, copy=False)

    def conjugate(self, t: Array, u: Array) -> Array:
        # ℓ*(u) = b·v + v²/4s for v = ut ≤ 0.
        v = u * like(t, u)
        return np.where(v <= 0, v * (self.margin + v / (4 * self.scale)), np.inf)


@documented
@dataclass(frozen=True)
class Relaxation(Quadratic):
    """ℓ = ½ max(0, b − tz)², which the objective divides by ‖y‖².

    Each single-sample correction is then a step towards the hyperplane a·y = b (Duda, Hart and Stork 5.6).

    See Also
    --------
    Quadratic : Without the division by ‖y‖².
    discriminant.Perceptron : Takes it as ``criterion="relaxation"``.

    >>> Relaxation().value(np.array([[1.0]]), np.array([[-1.0]]))
    array([[2.]])
    """

    margin: float = 1.0
    kind: ClassVar[int | None] = 5
    scale: ClassVar[float] = 0.5
    over_norm: ClassVar[float] = 1.0


@documented
@dataclass(frozen=True)
class Hinge(Perceptron):
    """ℓ = max(0, b − tz) with b = 1: the hinge loss of the support vector machine.

    The perceptron criterion with a margin, for t = ±1.

    See Also
    --------
    discriminant.LinearSVC : The method that it belongs to.

    >>> Hinge().value(np.array([[1.0], [-1.0]]), np.array([[0.5], [0.5]])).ravel()
    array([0.5, 1.5])
    """

    margin: float = 1.0


@documented
@dataclass(frozen=True)
class SquaredHinge(Quadratic):
    """ℓ = max(0, b − tz)² with b = 1: the squared hinge loss.

    Once differentiable, so that Newton and L-BFGS minimise it.

    See Also
    --------
    discriminant.LinearSVC : The method that it belongs to.

    >>> SquaredHinge().value(np.array([[1.0], [-1.0]]), np.array([[0.5], [0.5]])).ravel()
    array([0.25, 2.25])
    """

    margin: float = 1.0


@documented
@dataclass(frozen=True)
class ZeroOne(Margin):
    """ℓ = 1(tz ≤ b), for t = ±1: the count of errors itself.

    Piecewise constant, so that there is no gradient to follow; ``Annealing`` and ``MixedInteger`` minimise it.

    See Also
    --------
    discriminant.MinimumErrorClassifier : The method that it belongs to.

    >>> ZeroOne().value(np.array([[1.0], [1.0], [-1.0]]), np.array([[2.0], [0.0], [2.0]])).ravel()
    array([0., 1., 1.])
    """

    margin: float = 0.0
    oracles: ClassVar[Oracle] = Oracle.VALUE | Oracle.MARGIN
    convex: ClassVar[bool] = False

    def value(self, t: Array, z: Array) -> Array:
        return (like(t, z) * z <= self.margin).astype(z.dtype)
