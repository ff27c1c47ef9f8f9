"""K classes on a device: the steps of ``lbfgs``, taken in stages of finer evaluations.

    P = (1/K) YᵗY/Σw + λI

For K classes ∇² ≼ ½(I − 11ᵗ/K) ⊗ YᵗY/N (Böhning 1992) and equals (1/K)(I − 11ᵗ/K) ⊗ YᵗY/N at A = 0, so one (1+d)²
matrix undoes the correlations of the columns for every class.  Weights, gradients and the memory of steps are float64
and lie on the device.  Where J no longer falls by what fast products can see, one evaluation in float64 becomes an
anchor, and the next ones add differences from it; without room or float64 units for that, evaluations become fine
(``data.device_evaluate``).  The end is proved by the dual bound, from an evaluation in float64 or a fine one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from discriminant.data.device_evaluate import Anchor, gram
from discriminant.objective import PointwiseObjective
from discriminant.optimize.certificate import dual_gap, loose_gap
from discriminant.optimize.factor import unit_diagonal
from discriminant.optimize.lbfgs import Pairs, lbfgs_to_gap
from discriminant.optimize.newton import Trace
from discriminant.optimize.precondition import Solve
from discriminant.optimize.state import State
from discriminant.protocols import Array

PAIRS = 40
TRIES = 4  # stages in a row that gain nothing before the arithmetic is said to be at its end


def at_work(objective: PointwiseObjective) -> PointwiseObjective:
    """The objective whose evaluations the device works out."""
    return objective.over(replace(objective.blocks, mode="fine", vectors=objective.criterion.coupled))


def by_stages(
    objective: PointwiseObjective, A: Array, trace: Trace, tol: float, _last: bool = False
) -> tuple[State, Array]:
    """Fast evaluations, then differences from anchors or fine ones."""
    blocks = objective.blocks
    trace.passes += 1
    memory = Pairs(PAIRS, _preconditioner(objective))
    start, coarse = blocks.place(A), blocks.library.accelerated and blocks.rows.arithmetic == "float32"
    if coarse:
        start = _stage(objective, "fast", start, trace, tol, memory).A
    if coarse and _can_anchor(objective):
        state = _by_anchors(objective, start, trace, tol, memory)
    else:
        state = _stage(objective, "fine", start, trace, tol, memory)
    if objective.ridge is not None and not state.gap < np.inf:
        state = replace(state, gap=dual_gap(objective, state.A, state.found))
        trace.passes += 2
    weights, gradient = map(blocks.library.get, (state.A, state.found.gradient))
    return replace(state, A=weights, found=replace(state.found, gradient=gradient)), weights


def _stage(objective: PointwiseObjective, mode: str, A: Any, trace: Trace, tol: float, memory: Pairs) -> State:
    objective = objective.over(replace(objective.blocks, mode=mode))
    trace.passes += 1
    begin = State(A, objective.evaluate(A))
    return lbfgs_to_gap(objective, begin, memory.precondition, trace, tol, memory=memory)


def _by_anchors(objective: PointwiseObjective, A: Any, trace: Trace, tol: float, memory: Pairs) -> State:
    """From anchor to anchor, each of which may prove the end, while J falls."""
    blocks = replace(objective.blocks, anchor=Anchor())
    exact, near = (objective.over(replace(blocks, mode=mode)) for mode in ("anchor", "near"))
    state, last, lost = State(A, exact.evaluate(A)), np.inf, 0
    trace.passes += 1
    while True:
        found, target = state.found, tol * abs(state.found.value)
        if loose_gap(exact, found) <= target:
            state = replace(state, gap=dual_gap(exact, state.A, found))
            trace.passes += 2
        lost = lost + 1 if state.stalled and not last - found.value > target else 0
        if state.gap <= target or trace.stopped or lost == TRIES:
            return state
        if lost:  # once more without what the pairs say
            memory.forget()
        last = found.value
        reached = lbfgs_to_gap(near, replace(state, stalled=False), memory.precondition, trace, tol, memory=memory)
        if reached.separated:
            return reached
        state = State(reached.A, exact.evaluate(reached.A), stalled=reached.stalled)
        trace.passes += 1


def _can_anchor(objective: PointwiseObjective) -> bool:
    """Whether the device has room for a score of every row and class, and multiplies float64 fast."""
    library, wanted = objective.blocks.library, 4 * objective.n_rows * objective.n_outputs
    return bool(library.fast_double and wanted < 0.4 * library.free_memory())


def _preconditioner(objective: PointwiseObjective) -> Solve:
    """P⁻¹ for P = YᵗY/(Σw K) + λI, with a unit diagonal while it is inverted."""
    blocks = objective.blocks
    library = blocks.library
    P = gram(blocks, objective.center) / objective.n_outputs
    if not objective.intercept:
        P[0], P[:, 0], P[0, 0] = 0.0, 0.0, 1.0
    np.einsum("ii->i", P)[...] += library.get(objective.damping)[:, 0]
    P, scale = unit_diagonal(P)
    # What matrix units cannot see must not count as a direction without curvature.
    np.fill_diagonal(P, 1 + (1e-4 if blocks.rows.arithmetic == "float32" else 1e-12))
    inverse, scale = library.inverse(library.put(P)), library.put(scale)
    inverse = inverse * scale * scale[:, None]
    return lambda G: library.product(inverse, G, "fine")
