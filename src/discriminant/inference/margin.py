"""The widest gap between two classes: the hard-margin problem, by an interior-point method, on a growing set of rows.

    min ½‖w‖²   subject to   s_i (w·x_i + b) ≥ 1,  s_i = ±1;          the margin is 1/‖w‖.

Its multipliers λ, made to sum to one in each class, name a point of each hull, and half the distance of any two such
points bounds every margin from above:

    min_i s_i (w·x_i + b) / ‖w‖   ≤   maximum margin   ≤   ‖Σ₊ λ_i x_i − Σ₋ λ_i x_i‖ / 2.

A few hundred rows take milliseconds.
"""

from __future__ import annotations

import numpy as np

from discriminant.arrays import as_dense
from discriminant.inference.cone import KeslerCone
from discriminant.optimize.interior_point import Point, Program, Rows, interior_point
from discriminant.protocols import Array, Block

_NEAR_ROWS = 300
_ROUNDS = 12
_STEPS = 60


def hard_margin(values: Array, signs: Array, direction: Array) -> tuple[Array, float]:
    """(w, high): a unit direction near the widest gap between the rows of sign + and −, and a bound on any margin.

    ``direction`` separates the rows already and sets the scale.

    >>> points = np.array([[2.0, 0.0], [3.0, 1.0], [0.0, -1.0], [0.0, 1.0]])
    >>> w, high = hard_margin(points, np.array([1.0, 1.0, -1.0, -1.0]), np.array([1.0, 0.2]))
    >>> float(w[0].round(6)), round(high, 6)
    (1.0, 1.0)
    """
    if values.shape[1] > len(values):  # the answer lies in the span of the rows
        span, coordinates = np.linalg.qr(values.T)
        w, high = hard_margin(coordinates.T, signs, span.T @ direction)
        return span @ w, high
    along = values @ direction
    top, bottom = along[signs > 0].min(), along[signs < 0].max()
    unit = (top - bottom) / 2.0  # in this unit the direction's margin is one
    A = signs[:, None] * np.column_stack([values / unit, np.ones(len(values))])
    u = np.append(direction, -(top + bottom) / (2.0 * unit))
    u, multipliers = _interior(A, u)
    w = u[:-1]
    for sign in (1.0, -1.0):
        multipliers[signs == sign] /= multipliers[signs == sign].sum()
    apart = (signs * multipliers) @ values
    return w / np.linalg.norm(w), float(np.linalg.norm(apart)) / 2.0


def _interior(A: Array, u: Array) -> tuple[Array, Array]:
    """(u, λ) of min ½‖u without its last entry‖² subject to A u ≥ 1, from a feasible u."""
    m, v = A.shape
    program = Program(np.append(np.ones(v - 1), 0.0), np.zeros(v), Rows(A), np.ones(m), np.full(m, np.inf))
    start = Point(u, np.full(m, 1.0 / m), np.maximum(A @ u - 1.0, 0.1), np.zeros(m))
    for point in interior_point(program, start, _STEPS):
        u, multipliers = point.x, point.y
        if point.complementarity(program.U) <= 1e-11 * (u[:-1] @ u[:-1]):
            break
    return u, multipliers


def widest_gap(cone: KeslerCone, direction: Array) -> tuple[Array, float, float, float]:
    """(w, low, high, middle): a direction of X, bounds on the largest margin in floats, and where the gap's middle is.

    ``direction`` (d,) separates already.  The rows nearest to the gap go to ``hard_margin``; a pass over all rows finds
    those that its answer brings nearer.
    """
    best = direction / np.linalg.norm(direction)
    (top, bottom), near = _extremes(cone, best)
    low, high, middle = (top - bottom) / 2.0, float("inf"), (top + bottom) / 2.0
    for _ in range(_ROUNDS):
        if not low > 0:
            break
        w, bound = hard_margin(
            as_dense(cone.source.pick(near).values) - cone.center, np.where(cone.codes[near] == 1, 1.0, -1.0), best
        )
        if not np.isfinite(w).all():
            break
        high = min(high, bound)
        (top, bottom), fresh = _extremes(cone, w)
        if (top - bottom) / 2.0 > low:
            best, low, middle = w, (top - bottom) / 2.0, (top + bottom) / 2.0
        grown = np.union1d(near, fresh)
        if low >= high * (1.0 - 1e-9) or len(grown) == len(near):
            break
        near = grown
    return best, low, high, middle


def _extremes(cone: KeslerCone, w: Array) -> tuple[tuple[float, float], Array]:
    """(least of the positives, largest of the negatives) of w·(x − c), and the rows of each class nearest the gap."""
    scores = np.empty(cone.n_rows)

    def kernel(block: Block) -> int:
        scores[block.start : block.start + block.rows] = cone.shifted(block) @ w
        return 0

    cone.each(kernel)
    near = []
    for code, sign in ((1, 1.0), (0, -1.0)):
        rows = np.flatnonzero(cone.codes == code)
        if len(rows) > _NEAR_ROWS:
            rows = rows[np.argpartition(sign * scores[rows], _NEAR_ROWS)[:_NEAR_ROWS]]
        near.append(rows)
    return (float(scores[near[0]].min()), float(scores[near[1]].max())), np.concatenate(near)
