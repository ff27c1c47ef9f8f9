"""The quadratic model of a proximal Newton step over a working set, with its matrix at hand, and Newton on the support.

Where the signs of the weights stand still the kinks of the penalty are smooth, and one linear system on the weights
that are not zero (``Support``) does what many sweeps of coordinate descent would.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from discriminant.data.working_columns import WorkingColumns
from discriminant.kernels.conjugate import conjugate_gradients
from discriminant.kernels.coordinate import Stop, descend_gram, descend_groups
from discriminant.optimize.row_loss import RowLoss, solve_corner
from discriminant.penalties.separable import SeparablePenalty
from discriminant.protocols import Array

CG_EXACT = 1e-13  # of the right-hand side: what conjugate gradients leave


@dataclass
class GramMatrix:
    """Xᵗ (s ℓ'') X over coordinates (feature, output), outputs innermost, at the ℓ'' of some point; it grows."""

    loss: RowLoss
    h: Array
    G: Array = field(default_factory=lambda: np.empty((0, 0)))
    B: Array = field(default_factory=lambda: np.empty((0, 0)))  # intercepts × coordinates

    def extend(self, columns: WorkingColumns) -> None:
        """Add the columns that the working set has gained, at the old ℓ''."""
        q, s, p, m = self.loss.q, self.loss.s, self.h, len(columns.features)
        old = len(self.G) // q
        if old == m:
            return
        G = np.empty((m, q, m, q))
        G[:old, :, :old, :] = self.G.reshape(old, q, old, q)
        for k in range(q):
            for j in range(k, q):
                part = columns.gram(s * (p[:, 0] if q == 1 else p[:, k] * (1 - p[:, k] if j == k else p[:, j])), old)
                for one, other in {(k, j), (j, k)}:
                    G[:, one, old:, other] = part if j == k else -part
                    G[old:, other, :old, one] = part[:old].T if j == k else -part[:old].T
        self.G = G.reshape(m * q, m * q)
        B = np.empty((q, m, q))
        for k in range(q):
            unit = np.broadcast_to(np.eye(q)[k], (len(s), q))
            B[k] = columns.adjoint(s[:, None] * self.loss.product(p, unit))
        self.B = B.reshape(q, m * q)

    @cached_property
    def corner(self) -> Array:
        return self.loss.corner(self.h)

    def matrix(self, penalty: SeparablePenalty, intercept: bool) -> Array:
        """H with the intercepts eliminated and l₂ on the diagonal."""
        H = self.G - self.B.T @ solve_corner(self.corner, self.B) if intercept else self.G.copy()
        index = np.arange(len(H))
        l2 = np.repeat(penalty.each(penalty.l2)[:, 0], self.loss.q)
        H[index, index] = np.maximum(H[index, index], 1e-14 * self.G[index, index]) + l2
        return H


@dataclass(frozen=True)
class Support:
    """The weights (m, q) that a Newton step may move: not zero, or without a kink there, and inside their bounds."""

    A: Array
    penalty: SeparablePenalty

    @cached_property
    def lengths(self) -> Array:
        """(m, 1): the length of each feature's group."""
        return self.penalty.each(self.penalty.lengths(self.A))

    @cached_property
    def live(self) -> Array:
        flat = self.penalty.each(self.penalty.l1) == 0
        if self.penalty.joint:
            return np.broadcast_to((self.lengths > 0) | flat, self.A.shape)
        inside = (self.penalty.lower[:, None] < self.A) & (self.penalty.upper[:, None] > self.A)
        return np.asarray(((self.A != 0) | flat) & inside)

    @cached_property
    def slope(self) -> Array:
        """Of the kinks, where they are smooth."""
        l1 = self.penalty.each(self.penalty.l1)
        return l1 * (self._units if self.penalty.joint else np.sign(self.A))

    @cached_property
    def _units(self) -> Array:
        return np.asarray(self.A / np.where(self.lengths > 0, self.lengths, 1.0))

    def curvature(self, D: Array, used: Array) -> Array | float:
        """The curvature of the kinks times D: l₁/‖a‖ (D − u (u·D)) for a group with unit vector u."""
        if not self.penalty.joint:
            return 0.0
        full = np.zeros_like(self.A)
        full[used] = D
        along = (self._units * full).sum(axis=1)
        if not self.penalty.single:
            along = np.repeat(np.add.reduceat(along, self.penalty.starts[:-1]), self.penalty.sizes)
        each = self.penalty.each(self.penalty.l1) / np.where(self.lengths > 0, self.lengths, np.inf)
        return np.asarray((each * (full - self._units * along[:, None]))[used])

    def moved(self, A: Array, D: Array, used: Array) -> Array:
        """A + D for these rows, cut where a weight would change its sign or leave its bounds."""
        new = np.where(self.live[used], A + D, A)
        if self.penalty.joint:
            return new
        kinked = self.penalty.each(self.penalty.l1)[used] > 0
        new[kinked & (new * A < 0)] = 0.0
        return np.clip(new, self.penalty.lower[used, None], self.penalty.upper[used, None])

    def first_zero(self, A: Array, D: Array) -> Array | None:
        """A + tD where the first weight with a kink becomes zero, t < 1; None where none does."""
        if self.penalty.joint:
            return None
        crossing = self.live & (self.penalty.each(self.penalty.l1) > 0) & (A * (A + D) < 0)
        if not crossing.any():
            return None
        t = np.where(crossing, -A / np.where(crossing, D, 1.0), 1.0)
        new = np.where(self.live, A + t.min() * D, A)
        new[t == t.min()] = 0.0
        return np.clip(new, self.penalty.lower[:, None], self.penalty.upper[:, None])


@dataclass(frozen=True)
class Quadratic:
    """g·(a − a₀) + ½ (a − a₀)ᵗ H (a − a₀) + kinks, over flat coordinates with outputs innermost."""

    H: Array
    penalty: SeparablePenalty
    q: int

    @cached_property
    def _each(self) -> tuple[Array, Array, Array]:
        p = self.penalty
        return np.repeat(p.each(p.l1)[:, 0], self.q), np.repeat(p.lower, self.q), np.repeat(p.upper, self.q)

    @cached_property
    def _tops(self) -> Array:
        """The largest eigenvalue of each group's block, or a bound of it."""
        starts = self.penalty.starts * self.q
        blocks = [self.H[i:j, i:j] for i, j in itertools.pairwise(starts)]
        return np.array([float(np.linalg.eigvalsh(block)[-1]) if len(block) > 1 else block[0, 0] for block in blocks])

    def descend(self, a: Array, g: Array, stop: Stop) -> bool:
        """Coordinate descent; a and g in place."""
        if self.penalty.joint:
            starts = (self.penalty.starts * self.q).astype(np.int64)
            return descend_groups(self.H, a, g, starts, self.penalty.l1, self._tops, stop)
        return descend_gram(self.H, a, g, *self._each, stop)

    def jump(self, a: Array, g: Array) -> bool:
        """Newton's step on the support, where sweeps are slow (collinear columns); a and g in place."""
        penalty, shape = self.penalty, (-1, self.q)
        A = a.reshape(shape)
        support = Support(A, penalty)
        S = np.flatnonzero(support.live.ravel())
        if len(S) == 0:
            return False
        slope = (g.reshape(shape) + support.slope).ravel()[S]
        H = self.H[np.ix_(S, S)]
        everything = np.arange(len(A))
        if penalty.joint:

            def product(d: Array) -> Array:
                full = np.zeros(len(a))
                full[S] = d
                return np.asarray(H @ d + np.ravel(support.curvature(full.reshape(shape), everything))[S])

            d = conjugate_gradients(product, -slope, CG_EXACT)
        else:
            d = -positive_solve(H, slope)
        D = np.zeros(len(a))
        D[S] = d
        new, before = support.moved(A, D.reshape(shape), everything).ravel(), penalty.kinks(A)
        ends = [a + t * (new - a) for t in 0.5 ** np.arange(12)]
        # Of columns that are nearly copies of one another many weights change sign at once, and no part of such a step
        # leads down.  The step that ends at the first change does, and leaves one weight less to move.
        first = support.first_zero(A, D.reshape(shape))
        for end in ends if first is None else [*ends, first.ravel()]:
            step = end - a
            change = self.H @ step
            if float(g @ step) + 0.5 * float(step @ change) + penalty.kinks(end.reshape(shape)) < before:
                a[:], g[:] = end, g + change
                return True
        return False


def positive_solve(H: Array, g: Array) -> Array:
    """H⁻¹ g for H ≥ 0; what rounding leaves of a singular one is lifted."""
    from scipy.linalg.lapack import dposv

    lifted = H.copy()
    lifted[np.arange(len(H)), np.arange(len(H))] *= 1 + 1e-13
    _, x, failed = dposv(lifted, g, overwrite_a=True)
    if failed:
        x = np.linalg.lstsq(H, g, rcond=1e-12)[0]
    return np.asarray(x)
