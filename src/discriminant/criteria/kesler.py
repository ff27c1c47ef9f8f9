"""Kesler's construction, made implicit: any two-class ℓ becomes a K-class criterion on the differences of scores.

A sample y of class i gives K−1 two-class samples, one for each j ≠ i, which ask that (a_i − a_j)·y > 0.  They need
not be built: with m_j = z_i − z_j and ℓ(m) the two-class criterion for the positive class,

    over="all"     L = Σ_{j≠i} ℓ(m_j)        every pair counts: Kesler's construction itself
    over="worst"   L = max_{j≠i} ℓ(m_j)      only the strongest rival counts: the multi-class perceptron;
                                             with the hinge, Crammer and Singer's machine

    ∂L/∂z_j = −ℓ'(m_j),   ∂L/∂z_i = Σ_j ℓ'(m_j),   ∂²L/∂z² = Σ_j ℓ''(m_j) (e_i−e_j)(e_i−e_j)'.

Conjugate: u must sum to zero; Σ_{j≠i} ℓ*(−u_j), and for "worst" ℓ*(u_i) with u_j ≥ 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from discriminant.arguments import Allowed, among, checked
from discriminant.criteria.perceptron import Perceptron
from discriminant.criteria.pointwise import Pointwise, documented, outdone
from discriminant.errors import MismatchError
from discriminant.protocols import Array, Oracle


@documented
@dataclass(frozen=True)
@checked(base=Allowed("a criterion", lambda value: isinstance(value, Pointwise)), over=among("all", "worst"))
class Kesler(Pointwise):
    """L(t, z) from a two-class ℓ, for one-of-K targets: Kesler's construction, without the K−1 samples it builds.

    With m_j = z_i − z_j for a row of class i, L = Σ_{j≠i} ℓ(m_j) or max_{j≠i} ℓ(m_j) (Duda, Hart and Stork 5.12.1).

    Parameters
    ----------
    base : Pointwise, default=Perceptron()
        The two-class criterion ℓ.
    over : {"all", "worst"}, default="all"
        Every pair counts, or only the strongest rival; the hinge over the worst is Crammer and Singer's machine.

    Raises
    ------
    MismatchError
        Where the base criterion couples its outputs already.

    See Also
    --------
    discriminant.LinearMachine : The method that it belongs to.

    >>> Kesler(Perceptron(margin=1.0)).value(np.array([[0.0, 1.0, 0.0]]), np.array([[0.5, 1.0, 3.0]]))
    array([[3.5]])
    """

    base: Pointwise = field(default_factory=Perceptron)
    over: Literal["all", "worst"] = "all"
    labels: ClassVar[tuple[float, float]] = (0.0, 1.0)
    coupled: ClassVar[bool] = True

    @property
    def single(self) -> Pointwise:
        return self.base

    def __post_init__(self) -> None:
        if self.base.coupled:
            raise MismatchError(
                f"Kesler's construction turns a two-class criterion into a K-class one, and "
                f"{type(self.base).__name__} already couples its outputs; use it directly, or give Kesler a two-class "
                f"criterion such as Perceptron, Hinge or Logistic."
            )

    @property
    def oracles(self) -> Oracle:  # type: ignore[override]
        """Those of the two-class criterion; the maximum over rivals has no curvature and is not quadratic."""
        without = Oracle.CURVATURE | Oracle.QUADRATIC if self.over == "worst" else Oracle(0)
        if self.over == "worst" and Oracle.MARGIN not in self.base.oracles and not self.base.recedes:
            without |= Oracle.CONJUGATE  # it holds only for an ℓ that never rises
        return Oracle(self.base.oracles & ~without)

    @property
    def convex(self) -> bool:  # type: ignore[override]
        """Whether L is convex: a maximum over rivals is where ℓ never rises."""
        falling = Oracle.MARGIN in self.base.oracles or self.base.recedes
        return bool(self.base.convex and (self.over == "all" or falling))

    @property
    def over_norm(self) -> float:  # type: ignore[override]
        """Twice that of ℓ: a constructed sample is (…, y, …, −y, …), so that its squared norm is 2‖y‖²."""
        return 2 * float(self.base.over_norm)

    @property
    def recedes(self) -> bool:  # type: ignore[override]
        """As of the two-class criterion."""
        return bool(self.base.recedes)

    def value(self, t: Array, z: Array) -> Array:
        own, m = _margins(t, z)
        loss = np.where(own, 0, self.base.value(self._positive(m), m))
        total = loss.sum(axis=1, keepdims=True) if self.over == "all" else loss.max(axis=1, keepdims=True)
        return np.asarray(total).astype(z.dtype, copy=False)

    def gradient(self, t: Array, z: Array) -> Array:
        own, m = _margins(t, z)
        slope = np.where(self._rivals(own, m), self.base.gradient(self._positive(m), m), 0)
        return np.where(own, slope.sum(axis=1, keepdims=True), -slope).astype(z.dtype, copy=False)

    def curvature(self, t: Array, z: Array) -> Array:
        if self.over == "worst":
            return super().curvature(t, z)
        own, m = _margins(t, z)
        second = np.where(own, 0, self.base.curvature(self._positive(m), m)).astype(z.dtype, copy=False)
        matrix = -(own[:, :, None] * second[:, None, :] + second[:, :, None] * own[:, None, :])
        diagonal = np.arange(z.shape[1])
        matrix[:, diagonal, diagonal] = np.where(own, second.sum(axis=1, keepdims=True), second)
        return np.asarray(matrix)

    def curvature_product(self, t: Array, z: Array, v: Array) -> Array:
        if self.over == "worst":
            return super().curvature_product(t, z, v)
        own, m = _margins(t, z)
        pull = np.where(own, 0, self.base.curvature(self._positive(m), m)) * _margins(t, v)[1]
        return np.where(own, pull.sum(axis=1, keepdims=True), -pull).astype(z.dtype, copy=False)

    def conjugate(self, t: Array, u: Array) -> Array:
        own = np.asarray(t) > 0.5
        balanced = np.abs(u.sum(axis=1, keepdims=True)) <= 8 * u.shape[1] * np.finfo(u.dtype).eps * np.abs(u).sum(
            axis=1, keepdims=True
        )
        one = np.full((len(u), 1), self.base.labels[1], dtype=u.dtype)
        if self.over == "all":
            total = np.where(own, 0, self.base.conjugate(one, -u)).sum(axis=1, keepdims=True)
        else:
            rivals_up = (own | (u >= 0)).all(axis=1, keepdims=True)
            mine = np.where(own, u, 0).sum(axis=1, keepdims=True)
            total = np.where(rivals_up, self.base.conjugate(one, mine), np.inf)
        return np.where(balanced, total, np.inf)

    def wrong(self, t: Array, z: Array) -> Array:
        return outdone(t, z)

    def check_targets(self, t: Array) -> None:
        if not (np.isin(t, (0, 1)).all() and (t.sum(axis=1) == 1).all()):
            raise MismatchError(
                "Kesler's construction takes one-of-K targets: a single 1 in each row, zeros elsewhere. "
                "Use the coding 'machine'."
            )

    def _positive(self, m: Array) -> Array:
        return np.full_like(m, self.base.labels[1])

    def _rivals(self, own: Array, m: Array) -> Array:
        """The pairs that count: all of them, or the one with the greatest loss (the first of equals)."""
        if self.over == "all":
            return ~own
        loss = np.where(own, -np.inf, self.base.value(self._positive(m), m))
        worst = np.zeros_like(own)
        worst[np.arange(len(m)), loss.argmax(axis=1)] = True
        return worst


def _margins(t: Array, z: Array) -> tuple[Array, Array]:
    """Which entry is the row's own class, and m_j = z_i − z_j."""
    own = np.asarray(t) > 0.5
    return own, np.where(own, z, 0).sum(axis=1, keepdims=True) - z
