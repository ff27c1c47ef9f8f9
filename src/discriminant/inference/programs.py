"""The linear program behind a verdict, in floats: what it answers is a guess to be proved elsewhere.

For rows f_i of unit length,

    max t   subject to   f_i·u ≥ t,   −1 ≤ u ≤ 1;         its dual:   min ‖Σ λ_i f_i‖₁   subject to   λ ≥ 0, Σ λ = 1.

t > 0 finds u that separates.  t = 0 finds multipliers with Σ λ_i f_i = 0 (Gordan).  It is solved by an interior-point
method (Mehrotra), which ends in the middle of the optimal face: so λ is positive on every row that vanishes for all
u with F u ≥ 0, and u positive on every other row (Goldman and Tucker), and one program tells the two kinds apart.
``vertex`` then moves λ to few rows, at most one more than there are columns (Carathéodory).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discriminant.optimize.interior_point import Point, Program, Solve, interior_point, scaled_solver
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
    >>> answer.u.round(2).tolist(), answer.margin > 0.79
    ([0.0, 1.0], True)
    """
    m, v = rows.shape
    h = np.concatenate([np.zeros(m), -np.ones(2 * v)])
    program = Program(np.zeros(v + 1), np.append(np.zeros(v), -1.0), _Above(rows), h, np.full(len(h), np.inf))
    gap, stalled = np.inf, 0
    for point in interior_point(program, _start(rows, program), _STEPS):
        before, gap = gap, point.complementarity(program.U)
        stalled = stalled + 1 if gap > 0.9 * before else 0
        t = point.x[v]
        if gap <= _EXACT or (t > 1e-9 and gap <= _ENOUGH * t) or stalled > 3:
            break
    u = point.x[:v]
    return Widest(u, float((rows @ u).min()), gap, point.y[:m], point.s[:m])


@dataclass(frozen=True)
class _Above:
    """The constraints on (u, t): f_i·u − t, then u and −u against their bounds."""

    rows: Array

    def dot(self, x: Array) -> Array:
        return np.concatenate([self.rows @ x[:-1] - x[-1], x[:-1], -x[:-1]])

    def adjoint(self, y: Array) -> Array:
        m, v = self.rows.shape
        return np.append(self.rows.T @ y[:m] + y[m : m + v] - y[m + v :], -y[:m].sum())

    def solver(self, P: Array, weight: Array) -> Solve:
        m, v = self.rows.shape
        weighted = self.rows * weight[:m, None]
        H = np.diag(P)
        H[:v, :v] += weighted.T @ self.rows
        H[:v, v] = H[v, :v] = -weighted.sum(axis=0)
        H[v, v] += weight[:m].sum()
        H[np.arange(v), np.arange(v)] += weight[m : m + v] + weight[m + v :]
        return scaled_solver(H)


def _start(rows: Array, program: Program) -> Point:
    """A point strictly inside on both sides: u = 0, t = −1, equal multipliers, bounds that take up the rest."""
    m, v = rows.shape
    y = np.full(m, 1.0 / m)
    pull = rows.T @ y
    least = 0.1 + np.abs(pull)
    y = np.concatenate([y, (least - pull) / 2.0, (least + pull) / 2.0])
    return program.start(np.append(np.zeros(v), -1.0), y)


def vertex(rows: Array, multipliers: Array) -> Array:
    """Multipliers λ ≥ 0 with the same Σ λ_i f_i on independent rows but one, from any λ ≥ 0, by Carathéodory's steps.

    Rows are taken a few more at a time than there are columns; each relation among them moves λ until one of its
    entries is zero.

    >>> square = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> int((vertex(square, np.ones(4)) > 0).sum())
    2
    """
    weights = np.asarray(multipliers, dtype=float).copy()
    v = rows.shape[1]
    while True:
        weights[weights < 1e-13 * weights.max(initial=0.0)] = 0.0
        active = np.flatnonzero(weights)
        taken = active[np.argsort(weights[active], kind="stable")][: 2 * v + 2]
        _, sizes, basis = np.linalg.svd(rows[taken].T)
        rank = int((sizes > 1e-11 * sizes.max(initial=0.0)).sum())
        relations = basis[rank:]
        spare = int(len(taken) == len(active))  # the last relation is what is left in the end
        if len(relations) <= spare:
            return weights
        for k in range(len(relations) - spare):
            relation = relations[k] * np.sign(relations[k][np.abs(relations[k]).argmax()])
            up = np.flatnonzero(relation > 1e-9 * relation.max())
            ratios = weights[taken[up]] / relation[up]
            out = int(up[np.argmin(ratios)])
            weights[taken] = np.maximum(weights[taken] - ratios.min() * relation, 0.0)
            weights[taken[out]] = 0.0
            relations[k + 1 :] -= np.outer(relations[k + 1 :, out] / relation[out], relation)
