"""The same rows with one penalty after the other: a search for C fits each fold once for every C.

Rows that remember (``ArrayBlocks.remembering``) keep *anchors*: weights A₀ near the optimum for C = 10 (0.1, … where C
is smaller) and the sums over all rows there, Hessian included.  For another λ these are J, ∇J and ∇²J at A₀ but for the
penalty, so that the first Newton step costs no pass, and the Hessian is the preconditioner of the steps that follow.
Anchors depend on the rows alone: a fit is the same to the bit whatever was fitted before it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discriminant.criteria import Logistic
from discriminant.data.scaling import Scaling, choose_scaling
from discriminant.objective import PointwiseObjective
from discriminant.optimize.certificate import drifted_gap, longest_row
from discriminant.optimize.factor import factor_hessian, unit_diagonal
from discriminant.optimize.lbfgs import lbfgs_to_gap
from discriminant.optimize.newton import FULL, Trace, newton_to_gap
from discriminant.optimize.sampled import drawn, sample_size, sampling_error
from discriminant.optimize.state import State
from discriminant.penalties import Ridge
from discriminant.protocols import Array, Evaluation
from discriminant.thresholds import ANCHOR_STEPS, ANCHOR_TOL, LAST_ANCHOR, NEWTON_COLUMNS


@dataclass(frozen=True)
class Anchor:
    """What rows remember."""

    scaling: Scaling
    A: Array
    sums: Evaluation  # over the rows at A, without the penalty
    ridge: float  # λ of the penalty at whose optimum A nearly is
    longest: float  # max_i ‖S y_i‖², S the roots of the curvatures there, inverted
    least: float  # the least eigenvalue of S ∇²J S with that penalty,
    bare: float  # and without one

    def curvature(self, ridge: float) -> float:
        """A bound below of the least eigenvalue of S ∇²J S with another λ: ∇²J ⪰ min(1, λ/λ₀) ∇²J₀."""
        return max(self.bare, min(1.0, ridge / self.ridge) * self.least, 0.0)


def find_anchor(objective: PointwiseObjective) -> Anchor | None:
    """The anchor of rows that remember, made where there is none yet; None where they are fitted once."""
    memory = objective.blocks.memory
    known = isinstance(objective.criterion, Logistic) and isinstance(objective.penalty, Ridge) and not objective.summed
    few = objective.n_outputs == 1 and objective.n_features <= NEWTON_COLUMNS
    if memory is None or not known or not few or objective.ridge is None or objective.offset is not None:
        return None
    inverse = np.log10(float(objective.ridge[0, 0]) * objective.total)  # of C
    return _anchor(objective, memory, int(np.clip(round((inverse + 1) / 2), 0, LAST_ANCHOR)))


def _anchor(objective: PointwiseObjective, memory: dict[Any, Anchor], number: int) -> Anchor:
    """The anchor at C = 10 · 100^−number, found from the one before; before the first comes a row sample's optimum."""
    place = objective.intercept, number
    if place not in memory:
        before = _anchor(objective, memory, number - 1) if number >= 0 else None
        scaling = choose_scaling(objective.blocks, objective.intercept) if before is None else before.scaling
        ridge = 0.1 * 100.0 ** max(number, 0) / objective.total
        whole = replace(objective, penalty=Ridge(ridge)).scaled(scaling)
        if before is None:
            sample, zero = drawn(whole, sample_size(whole)), np.zeros((whole.n_parameters, 1))
            A = newton_to_gap(sample, zero, Trace(), sampling_error(sample), prove=False).A
        else:
            A = from_anchor(whole, before, Trace(), ANCHOR_TOL).A
        sums = whole.blocks.reduce(whole.request(A, FULL))
        full, bare = (each.finish(_copied(sums), A).hessian for each in (whole, whole.without_penalty()))
        assert full is not None
        assert bare is not None
        _, scale = unit_diagonal(full[0])
        least = [float(np.linalg.eigvalsh(scale[:, None] * H[0] * scale)[0]) for H in (full, bare)]
        memory[place] = Anchor(scaling, A, sums, ridge, longest_row(whole, scale), least[0], least[1])
    return memory[place]


def from_anchor(objective: PointwiseObjective, anchor: Anchor, trace: Trace, tol: float) -> State:
    """Steps from the anchor by its Hessian until the gap is proved: by the dual, or by the way from the anchor."""
    found = objective.finish(_copied(anchor.sums), anchor.A)
    assert found.hessian is not None
    assert objective.ridge is not None
    H = found.hessian[0]
    factor = factor_hessian(found.hessian, 1).each[0]
    least = anchor.curvature(float(objective.ridge.min()))
    row_norm = np.sqrt(anchor.longest / least) if least > 0 else np.inf

    def solve(G: Array) -> Array:
        return factor.solve(G[:, 0])[:, None]

    def prove(state: State, wanted: float) -> float:
        g, moved = state.found.gradient, (state.A - anchor.A)[:, 0]
        decrement, drift = float(np.vdot(g, solve(g))), float(moved @ H @ moved)
        return drifted_gap(np.sqrt(max(decrement, 0.0)), float(row_norm), np.sqrt(max(drift, 0.0)))

    state = State(anchor.A, replace(found, hessian=None))
    state = lbfgs_to_gap(objective, state, solve, trace, tol, prove=prove, worth=ANCHOR_STEPS)
    if state.A is anchor.A:  # proved as it stands: one step more, for its digits
        A = anchor.A - solve(found.gradient)
        found = objective.evaluate(A)
        trace.passes += 1
        state = replace(state, A=A, found=found) if found.value <= state.found.value else state
    return replace(state, condition=1 / max(least, 1e-300))


def _copied(sums: Evaluation) -> Evaluation:
    assert sums.hessian is not None
    return replace(sums, hessian=sums.hessian.copy())
