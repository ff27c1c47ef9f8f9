"""The last digits: Newton steps whose gradient is taken in the machine's widest float.

    A ← A − H⁻¹ g(A),     g and A extended, H⁻¹ as it stands

The error of a solution is H⁻¹ times the rounding error of g, so that collinear columns multiply it.  With g three
digits better (80-bit floats on x86) and H⁻¹ right to a few digits the steps converge to the data's own optimum.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discriminant.optimize.logistic.factor import Factor
from discriminant.optimize.logistic.newton import Point, Trace
from discriminant.optimize.logistic.problem import LogisticProblem
from discriminant.protocols import Array

MOST_VALUES = 5_000_000  # values·outputs: above, the widest float (which has no BLAS) takes too long
COLLINEAR = 1e-5  # smallest pivot of the unit-diagonal Hessian above which float64 has all the digits
MOST_STEPS = 8


def refine(problem: LogisticProblem, point: Point, trace: Trace) -> tuple[Point, Array]:
    """(the point, its weights in extended precision), improved where the problem is small enough to be worth it."""
    size = problem.values * problem.n_outputs
    factor = point.factor
    A = point.A.astype(np.longdouble)
    if factor is None or point.separated or not point.gap < np.inf:
        return point, A
    if size > MOST_VALUES or factor.least > COLLINEAR:
        return point, A
    rows = _Extended(problem)
    best, least = A, np.inf
    for _ in range(MOST_STEPS):
        g = rows.gradient(A).T.ravel()
        step = factor.solve(g.astype(np.float64))
        decrement = float(np.sqrt(max(float(g.astype(np.float64) @ step), 0.0)))
        trace.passes += 1
        if decrement < least:
            best = A
        if not decrement < 0.5 * least:
            break
        least = decrement
        A = A - step.reshape(A.T.shape).T
    if factor.null is not None and problem.ridge == 0:
        best = shortest(problem, factor, best)
    A64 = best.astype(np.float64)
    return replace(point, A=A64, decrement=min(point.decrement, least)), best


def shortest(problem: LogisticProblem, factor: Factor, A: Array) -> Array:
    """Of the weights with the same scores the shortest in the user's units (collinear columns, no penalty)."""
    D, q = problem.n_features + 1, problem.n_outputs
    null = factor.null
    assert null is not None
    if not null.size:
        return A
    N = (factor.scale[:, None] * null).reshape(q, D, -1) / problem.units[:, 0][None, :, None]
    W = (A / problem.units).T.astype(np.float64)
    flat = N[:, 1:].reshape(q * (D - 1), -1)
    share = np.linalg.lstsq(flat, W[:, 1:].ravel(), rcond=None)[0]
    moved = (N.reshape(q * D, -1) @ share).reshape(q, D)
    return np.asarray((W - moved).T * problem.units, dtype=np.longdouble)


class _Extended:
    """All rows in the widest float: for small problems."""

    def __init__(self, problem: LogisticProblem) -> None:
        block = problem.blocks.block(0, problem.n_rows)
        values = block.design.values
        values = values.toarray() if hasattr(values, "toarray") else values
        wide = values.astype(np.longdouble)
        if problem.center is not None:
            wide -= problem.center
        ones = np.full((len(wide), 1), 1.0 if problem.intercept else 0.0, dtype=np.longdouble)
        self.Y = np.hstack([ones, wide / problem.units[1:, 0]])
        self.problem, self.block = problem, block
        weight = np.ones(len(wide)) if block.weight is None else block.weight
        self.share = weight.astype(np.longdouble)[:, None] / weight.astype(np.longdouble).sum()

    def gradient(self, A: Array) -> Array:
        """∇J in inner coordinates."""
        z = self.Y @ A
        shift = self.problem.rows.shift(self.block)
        if shift is not None:
            z = z + shift.reshape(len(z), -1)
        target = np.asarray(self.block.target)
        if z.shape[1] == 1:
            t = target.astype(np.longdouble)[:, None]
            tail = np.exp(-np.abs(z))
            slope = np.where(z >= 0, 1 - t - t * tail, (1 - t) * tail - t) / (1 + tail)
        else:
            p = np.exp(z - z.max(axis=1, keepdims=True))
            slope = p / p.sum(axis=1, keepdims=True)
            if target.ndim == 1:
                place = np.arange(len(slope)), target
                slope[place] = 0
                slope[place] = -slope.sum(axis=1)  # p − 1, no digits cancelling
            else:
                slope -= target
        g = self.Y.T @ (self.share * slope) + self.problem.damping * A
        if not self.problem.intercept:
            g[0] = 0
        return np.asarray(g)
