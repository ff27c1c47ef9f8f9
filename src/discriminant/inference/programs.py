"""The linear program behind a verdict, in floats: what it answers is a guess to be proved elsewhere.

For rows f_i of unit length,

    max t   subject to   f_i·u ≥ t,   −1 ≤ u ≤ 1;         its dual:   min ‖Σ λ_i f_i‖₁   subject to   λ ≥ 0, Σ λ = 1.

t > 0 finds u that separates.  t = 0 finds multipliers with Σ λ_i f_i = 0 (Gordan).  It is solved by an interior-point
method (Mehrotra), which ends in the middle of the optimal face: so λ is positive on every row that vanishes for all
u with F u ≥ 0, and u positive on every other row (Goldman and Tucker), and one program tells the two kinds apart.
``vertex`` then moves λ to few rows, at most one more than there are columns (Carathéodory).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discriminant.protocols import Array

_STEPS = 80
_ENOUGH = 1e-2  # relative gap at which a separating u is good enough
_EXACT = 1e-15


@dataclass(frozen=True)
class Program:
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


def widest(rows: Array) -> Program:
    """Solve the program for rows of unit length.

    >>> answer = widest(np.array([[0.6, 0.8], [-0.6, 0.8]]))
    >>> answer.u.round(2).tolist(), answer.margin > 0.79
    ([0.0, 1.0], True)
    """
    m = len(rows)
    point = _start(rows)
    stalled = 0
    for _ in range(_STEPS):
        t, gap = point.t, point.gap
        if gap <= _EXACT or (t > 1e-9 and gap <= _ENOUGH * t) or stalled > 3:
            break
        moved = point.step(rows)
        stalled = stalled + 1 if moved is None or moved.gap > 0.9 * gap else 0
        if moved is None:
            break
        point = moved
    values = rows @ point.u
    return Program(point.u, float(values.min()), point.gap, point.y[:m], point.s[:m])


@dataclass(frozen=True)
class _Point:
    """u, t; slacks s > 0 and multipliers y > 0 of the m rows, the v lower and the v upper bounds."""

    u: Array
    t: float
    s: Array
    y: Array

    @property
    def gap(self) -> float:
        return float(self.s @ self.y)

    def step(self, rows: Array) -> _Point | None:
        """One predictor and one corrector step, or None where the equations cannot be solved any more."""
        m, v = rows.shape
        s, y = self.s, self.y
        weight = y / s
        weighted = rows * weight[:m, None]
        matrix = np.empty((v + 1, v + 1))
        matrix[:v, :v] = weighted.T @ rows
        matrix[:v, v] = matrix[v, :v] = -weighted.sum(axis=0)
        matrix[v, v] = weight[:m].sum()
        matrix[np.arange(v), np.arange(v)] += weight[m : m + v] + weight[m + v :]
        missing = np.append(-_adjoint(rows, y), 1.0 - y[:m].sum()) * np.append(np.ones(v), -1.0)
        short = _slacks(rows, self.u, self.t) - s
        solve = _solver(matrix)
        if solve is None:
            return None

        def direction(target: Array) -> tuple[Array, Array, Array]:
            load = target / s - weight * short
            dx = solve(np.append(_adjoint(rows, load), -load[:m].sum()) - missing)
            ds = _slacks(rows, dx[:v], float(dx[v]), bounds=0.0) + short
            return dx, ds, (target - y * ds) / s

        _, ds, dy = direction(-s * y)
        reach = min(_reach(s, ds), _reach(y, dy))
        ahead = float((s + reach * ds) @ (y + reach * dy))
        centre = (ahead / self.gap) ** 3 * self.gap / len(s)
        dx, ds, dy = direction(centre - ds * dy - s * y)
        if not (np.isfinite(dx).all() and np.isfinite(dy).all()):
            return None
        primal, dual = 0.995 * _reach(s, ds), 0.995 * _reach(y, dy)
        return _Point(self.u + primal * dx[:v], self.t + primal * float(dx[v]), s + primal * ds, y + dual * dy)


def _solver(matrix: Array) -> Callable[[Array], Array] | None:
    """x ↦ matrix⁻¹ x for a positive definite matrix; None where rounding has made it something else."""
    try:
        inverse = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return None
    return lambda right: np.asarray(inverse @ right)


def _start(rows: Array) -> _Point:
    """A point strictly inside on both sides: u = 0, t = −1, equal multipliers, bounds that take up the rest."""
    m, v = rows.shape
    u, y = np.zeros(v), np.full(m, 1.0 / m)
    pull = rows.T @ y
    least = 0.1 + np.abs(pull)
    return _Point(u, -1.0, _slacks(rows, u, -1.0), np.concatenate([y, (least - pull) / 2.0, (least + pull) / 2.0]))


def _slacks(rows: Array, u: Array, t: float, bounds: float = 1.0) -> Array:
    return np.concatenate([rows @ u - t, bounds + u, bounds - u])


def _adjoint(rows: Array, y: Array) -> Array:
    m, v = rows.shape
    return np.asarray(rows.T @ y[:m] + y[m : m + v] - y[m + v :])


def _reach(value: Array, change: Array) -> float:
    """The longest step, at most one, that keeps value + step·change ≥ 0."""
    falling = change < 0
    return min(1.0, float(np.min(-value[falling] / change[falling], initial=np.inf)))


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
