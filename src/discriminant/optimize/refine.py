"""The last digits: Newton steps whose gradient is taken in the machine's widest float.

    A ← A − H⁻¹ g(A),     g and A extended, H⁻¹ as it stands

The error of a solution is H⁻¹ times the rounding error of g, so that collinear columns multiply it.  With g three
digits better (80-bit floats on x86) and H⁻¹ right to a few digits the steps converge to the data's own optimum.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discriminant.data.evaluate import centred
from discriminant.objective import PointwiseObjective
from discriminant.optimize.factor import Factor, Factors
from discriminant.optimize.newton import Trace
from discriminant.optimize.state import State
from discriminant.protocols import Array, Need
from discriminant.thresholds import EXTENDED_VALUES

COLLINEAR = 1e-5  # smallest pivot of the unit-diagonal Hessian above which float64 has all the digits
MOST_STEPS = 8


def refine(objective: PointwiseObjective, state: State, trace: Trace, exact: bool) -> tuple[State, Array]:
    """(the state, its weights in extended precision), improved where they are to be ``exact`` and of few rows."""
    size = objective.blocks.n_values * objective.n_outputs
    A, factors = state.A.astype(np.longdouble), state.factors
    if factors is None or state.separated or not state.gap < np.inf or not objective.blocks.in_memory:
        return state, A
    if size > EXTENDED_VALUES or factors.least > COLLINEAR:
        return state, A
    best, least = _steps(objective, A, factors, trace) if exact else (A, np.inf)
    factor = factors.each[0]
    if factor.null is not None and factor.null.size and objective.penalty is None and len(factors.each) == 1:
        best = shortest(objective, factor, best)
    return replace(state, A=best.astype(np.float64), decrement=min(state.decrement, least)), best


def _steps(objective: PointwiseObjective, A: Array, factors: Factors, trace: Trace) -> tuple[Array, float]:
    """The best weights on the way, and their decrement."""
    rows = _Extended(objective)
    best, least = A, np.inf
    for _ in range(MOST_STEPS):
        g = rows.gradient(A).astype(np.float64)
        step = factors.solve(g)
        decrement = float(np.sqrt(max(float(np.vdot(g, step)), 0.0)))
        trace.passes += 1
        if decrement < least:
            best = A
        if not decrement < 0.5 * least:
            break
        least = decrement
        A = A - step
    return best, least


def shortest(objective: PointwiseObjective, factor: Factor, A: Array) -> Array:
    """Of the weights with the same scores the shortest in the user's units (collinear columns, no penalty)."""
    D, q = A.shape
    assert factor.null is not None
    N = (factor.scale[:, None] * factor.null).reshape(q, D, -1) / objective.units[:, 0][None, :, None]
    W = (A / objective.units).T.astype(np.float64)
    flat = N[:, 1:].reshape(q * (D - 1), -1)
    share = np.linalg.lstsq(flat, W[:, 1:].ravel(), rcond=None)[0]
    moved = (N.reshape(q * D, -1) @ share).reshape(q, D)
    return np.asarray((W - moved).T * objective.units, dtype=np.longdouble)


class _Extended:
    """All rows in the widest float: for small problems."""

    def __init__(self, objective: PointwiseObjective) -> None:
        block = objective.blocks.block(0, objective.n_rows)
        request = objective.request(np.zeros((objective.n_parameters, objective.n_outputs)), Need.VALUE)
        wide = centred(block.design, None).scores(np.eye(objective.n_parameters))[:, 1:].astype(np.longdouble)
        if objective.center is not None:
            wide -= objective.center
        ones = np.full((len(wide), 1), 1.0 if objective.intercept else 0.0, dtype=np.longdouble)
        self.Y = np.hstack([ones, wide / objective.units[1:, 0]])
        t, share = request.targets(block, request.weight(block))
        self.t, self.share = t.astype(np.longdouble), share.astype(np.longdouble)
        self.shift, self.objective = request.shift(block), objective

    def gradient(self, A: Array) -> Array:
        """∇J, with the penalty."""
        z = self.Y @ A
        if self.shift is not None:
            z = z + self.shift
        g = self.Y.T @ (self.share * self.objective.criterion.gradient(self.t, z)) + self.objective.damping * A
        if not self.objective.intercept:
            g[0] = 0
        return np.asarray(g)
