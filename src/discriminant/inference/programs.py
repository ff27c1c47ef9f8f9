"""The linear programs behind a verdict: what they answer is a guess to be proved elsewhere, in exact arithmetic.

In floats, for rows f_i of unit length,

    max t   subject to   f_i·u ≥ t,   −1 ≤ u ≤ 1;         its dual:   min ‖Σ λ_i f_i‖₁   subject to   λ ≥ 0, Σ λ = 1.

t > 0 finds u that separates.  t = 0 finds multipliers with Σ λ_i f_i = 0 (Gordan).  It is solved by an interior-point
method (Mehrotra), which ends in the middle of the optimal face: so λ is positive on every row that vanishes for all
u with F u ≥ 0, and u positive on every other row (Goldman and Tucker), and one program tells the two kinds apart.
``vertex`` then finds λ on few of those, at most one more than there are columns (Carathéodory).

In as many bits as it takes, for hulls that floats cannot tell apart, a dual simplex:

    min c·u   subject to  g_i·u ≥ b_i          with any b > 0, so that it is feasible exactly when the rows separate.

A basis is v independent rows G_B; u = G_B⁻¹ b_B, and c = G_Bᵗ π with π > 0 makes the first basis dual feasible
whatever it is.  Entering row q with g_q·u < b_q: g_q = Σ α_s g_s over the basis.  If no α_s > 0, then
g_q + Σ |α_s| g_s = 0 and the rows cannot be separated (Gordan); else the row with the least π_s/α_s leaves.  b and π
are drawn at random, so that no two ratios tie and no basis comes back.  Numbers are integers over 2^bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.inference.exact import Integers
from discriminant.optimize.interior_point import Point, Program, Rows, interior_point
from discriminant.protocols import Array

_STEPS = 80
_ENOUGH = 1e-2  # relative gap at which a separating u is good enough
_EXACT = 1e-15


@dataclass(frozen=True)
class Widest:
    """Where the interior-point method stopped."""

    u: Array  # (v,)
    margin: float  # min f_i·u, as computed
    gap: float  # how far t may still rise
    multipliers: Array  # (m,)
    slack: Array  # (m,) f_i·u − t

    @property
    def vanishing(self) -> Array:
        """Rows that look as if they vanish for all u with F u ≥ 0, where t = 0."""
        return self.multipliers * len(self.slack) > self.slack


def widest(rows: Array) -> Widest:
    """Solve the program for rows of unit length.

    >>> answer = widest(np.array([[0.6, 0.8], [-0.6, 0.8]]))
    >>> np.abs(answer.u).round(2).tolist(), answer.margin > 0.79
    ([0.0, 1.0], True)
    """
    m, v = rows.shape
    h = np.concatenate([np.zeros(m), -np.ones(2 * v)])
    G = np.block([[rows, -np.ones((m, 1))], [np.eye(v), np.zeros((v, 1))], [-np.eye(v), np.zeros((v, 1))]])
    program = Program(np.zeros(v + 1), np.append(np.zeros(v), -1.0), Rows(G), h, np.full(len(h), np.inf))
    gap, stalled = np.inf, 0
    for point in interior_point(program, _start(rows, program), _STEPS):
        before, gap = gap, point.complementarity(program.U)
        stalled = stalled + 1 if gap > 0.9 * before else 0
        t = point.x[v]
        if gap <= _EXACT or (t > 1e-9 and gap <= _ENOUGH * t) or stalled > 3:
            break
    u = point.x[:v]
    return Widest(u, float((rows @ u).min()), gap, point.y[:m], point.s[:m])


def _start(rows: Array, program: Program) -> Point:
    """A point strictly inside on both sides: u = 0, t = −1, equal multipliers, bounds that take up the rest."""
    m, v = rows.shape
    y = np.full(m, 1.0 / m)
    pull = rows.T @ y
    least = 0.1 + np.abs(pull)
    y = np.concatenate([y, (least - pull) / 2.0, (least + pull) / 2.0])
    return program.start(np.append(np.zeros(v), -1.0), y)


def vertex(rows: Array) -> Array:
    """Multipliers λ ≥ 0 with Σ λ_i f_i = 0 and Σ λ_i = 1, on independent rows but one; all zero where none are found.

    By non-negative least squares, whose rows stay independent (Lawson and Hanson 1974).

    >>> square = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> int((vertex(square) > 0).sum())
    2
    """
    from scipy.optimize import nnls

    if not len(rows):
        return np.zeros(0)
    system = np.vstack([rows.T, np.ones(len(rows))])
    try:
        return np.asarray(nnls(system, np.append(np.zeros(rows.shape[1]), 1.0))[0])
    except RuntimeError:  # its iterations ran out
        return np.zeros(len(rows))


class DualSimplex:
    """Rows that can be added to, a basis, and its inverse in fixed point."""

    def __init__(self, rows: Sequence[Integers], basis: Sequence[int], bits: int, random: np.random.Generator) -> None:
        self.bits = bits
        self.random = random
        tops = [max((abs(row[j]) for row in rows), default=0).bit_length() for j in range(len(rows[0]))]
        self.columns = tops  # column j is divided by 2^tops[j]
        self.exact: list[Array] = []
        self.floats = np.zeros((0, len(tops)))
        self.right: list[int] = []
        self.extend(rows)
        self.basis = list(basis)
        matrix = np.array([self.exact[i] for i in self.basis], dtype=object)
        self.inverse = _inverse(matrix, bits)
        self.duals = np.array([self._random() for _ in self.basis], dtype=object)

    def _random(self) -> int:
        return (1 << self.bits) + (int(self.random.integers(1 << 30)) << self.bits >> 30)

    def extend(self, rows: Sequence[Integers]) -> None:
        """Add rows; the basis stays dual feasible."""
        fixed = []
        for row in rows:
            scaled = [value << self.bits >> top for value, top in zip(row, self.columns, strict=True)]
            lift = self.bits - max(abs(value) for value in scaled).bit_length()
            if lift > 0:  # a row is known up to a positive factor: bring its largest entry near one without loss
                scaled = [value << self.bits + lift >> top for value, top in zip(row, self.columns, strict=True)]
            fixed.append(np.array(scaled, dtype=object))
        self.exact.extend(fixed)
        unit = 1 << self.bits
        self.floats = np.vstack([self.floats, [[value / unit for value in row] for row in fixed]])
        self.right.extend(self._random() for _ in fixed)

    def solution(self) -> Array:
        """u of the present basis, in fixed point."""
        right = np.array([self.right[i] for i in self.basis], dtype=object)
        return (self.inverse @ right) >> self.bits  # type: ignore[no-any-return]

    def weights(self) -> Integers:
        """u of the present basis as integer weights, on a common scale."""
        top = max(self.columns, default=0)
        return [int(value) << (top - column) for value, column in zip(self.solution(), self.columns, strict=True)]

    def run(self) -> list[int]:
        """Pivot until every row is satisfied, [] (ask ``weights``), or until some rows cannot be: their indices."""
        while True:
            entering = self._violated(self.solution())
            if entering is None:
                return []
            alpha = (self.exact[entering] @ self.inverse) >> self.bits
            zero = 1 << (self.bits // 2)
            candidates = [s for s, value in enumerate(alpha) if value > zero]
            if not candidates:
                return [entering, *(self.basis[s] for s, value in enumerate(alpha) if value < -zero)]
            leaving = min(candidates, key=lambda s: (self.duals[s] << self.bits) // alpha[s])
            self._pivot(entering, leaving, alpha)

    def _violated(self, u: Array) -> int | None:
        """The row that falls short the most, in the direction's own units; None when none does."""
        scale = max(abs(int(value)) for value in u) or 1
        need = np.array([b / scale for b in self.right])
        gap = self.floats @ np.array([value / scale for value in u]) - need
        order = np.argsort(gap)
        error = 1e-12 * len(u)
        if gap[order[0]] < -error:
            return int(order[0])
        for i in order:
            if gap[i] > error:
                return None
            if i not in self.basis and (self.exact[i] @ u) >> self.bits < self.right[i]:
                return int(i)
        return None

    def _pivot(self, entering: int, leaving: int, alpha: Array) -> None:
        column = (self.inverse[:, leaving] << self.bits) // alpha[leaving]
        self.inverse = self.inverse - ((column[:, None] * alpha[None, :]) >> self.bits)
        self.inverse[:, leaving] = column
        step = (self.duals[leaving] << self.bits) // alpha[leaving]
        self.duals = self.duals - ((step * alpha) >> self.bits)
        self.duals[leaving] = step
        self.basis[leaving] = entering


def _inverse(matrix: Array, bits: int) -> Array:
    """The inverse of a fixed-point matrix by Gauss–Jordan with row exchanges."""
    n = len(matrix)
    identity: Any = np.zeros((n, n), dtype=object)
    for k in range(n):
        identity[k, k] = 1 << bits
    work = np.hstack([matrix, identity])
    for k in range(n):
        best = k + max(range(n - k), key=lambda i: abs(work[k + i, k]))
        work[[k, best]] = work[[best, k]]
        if not work[k, k]:
            raise ZeroDivisionError("the basis is singular at this precision")
        work[k] = (work[k] << bits) // work[k, k]
        for i in range(n):
            if i != k and work[i, k]:
                work[i] = work[i] - ((work[k] * work[i, k]) >> bits)
    return np.asarray(work[:, n:])
