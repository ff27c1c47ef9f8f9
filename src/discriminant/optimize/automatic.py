"""argmin J by the method of the table (``choose``), with what is proved about the answer.

Everything here is in the units of a ``Scaling`` until the last line, which hands back weights in the user's units with
the intercept at the centre.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from discriminant.arrays import in_memory
from discriminant.data import held_blas, make_blocks
from discriminant.data.row_space import row_coordinates, solve_triangle
from discriminant.data.scaling import Scaling, choose_scaling, power_of_two, size_of
from discriminant.objective import PointwiseObjective
from discriminant.optimize.certificate import can_prove
from discriminant.optimize.choose import Choice, choose, hessian_steps
from discriminant.optimize.factor import unit_diagonal
from discriminant.optimize.newton import Trace, newton_to_gap
from discriminant.optimize.precondition import remembered
from discriminant.optimize.progress import reading
from discriminant.optimize.refine import refine
from discriminant.optimize.sampled import (
    by_diagonal,
    by_gram,
    by_hessian,
    by_kept_hessian,
    by_sampled_hessian,
    drawn,
    met,
    sample_size,
    sampling_error,
    shape_of,
)
from discriminant.optimize.state import State
from discriminant.protocols import Array, Need
from discriminant.thresholds import (
    ALL_DIGITS_TOL,
    COUPLED_PARAMETERS,
    DENSE_SHARE,
    DENSE_VALUES,
    EXACT_WORK_COUPLED,
    LAST_DIGITS_PLAIN,
    LAST_DIGITS_TOL,
    LAST_DIGITS_WORK,
    MOST_FIRST,
)

CONDITION_COLUMNS = 64


@dataclass(frozen=True)
class Minimum:
    """The answer: weights (1+d, q) in the user's units with the intercept at ``center``, and what is known of them."""

    weights: Array
    center: Array | None
    choice: Choice
    objective: float
    gap: float  # proved: J(weights) − min J ≤ gap; inf where nothing is proved
    gradient_norm: float  # ‖∇J‖ in units in which every column has spread one
    passes: float
    separated: bool  # without a penalty: every row lies on its own side, so J has no minimum
    history: dict[str, list[float]] = field(default_factory=dict)
    rounding: float = 0.0  # how far J as it was summed may be from J
    condition: float = float("nan")  # of the Hessian with a unit diagonal, or of that of some rows
    stopped: bool = False  # by a callback

    @property
    def steps(self) -> int:
        return len(self.history.get("k", ()))


def minimize(
    objective: PointwiseObjective, tol: float = 1e-8, start: Array | None = None, *, digits: bool = True
) -> Minimum:
    """Minimise J until gap ≤ tol·|J|; where Newton steps are cheap, to the last digits.

    ``start``: weights (1+d, q) in the user's units with a plain intercept (at zero).
    ``digits``: False: no last ones by gradients, which take as many steps again where Newton's way takes one.
    """
    objective = written_out(objective)
    choice = choose(shape_of(objective))
    with held_blas(objective.n_parameters * objective.n_outputs):
        scaling = remembered(objective, "scaling", lambda: choose_scaling(objective.blocks, objective.intercept))
        objective = objective.coarsest.scaled(scaling)
        A = np.zeros((objective.n_parameters, objective.n_outputs))
        if start is not None:
            assert objective.scaling is not None
            A = nearer(objective, objective.scaling.from_user(start), A)
        trace = Trace(watched=True)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):  # a step too far is noticed by its J
            with reading(lambda A: _to_user(objective, A)):
                last = tol <= LAST_DIGITS_TOL and (digits or choice.method == "newton")
                last = last and not objective.blocks.on_device
                state, best = METHODS[choice.method](objective, A, trace, tol, last)
            return _finish(objective, state, best, choice, trace)


def nearer(objective: PointwiseObjective, start: Array, zero: Array) -> Array:
    """The start, unless zero weights are better: far on the wrong side of many rows there is no curvature left."""
    with np.errstate(over="ignore", invalid="ignore"):
        J = objective.evaluate(start, Need.VALUE).value
        at_zero = math.log(objective.n_outputs if objective.criterion.coupled else 2)  # or more: of several outputs
        if can_prove(objective) and objective.offset is None and at_zero >= J:
            return start
        return start if objective.evaluate(zero, Need.VALUE).value >= J else zero


def written_out(objective: PointwiseObjective) -> PointwiseObjective:
    """Sparse rows that are few, or hardly sparse, with their zeros: products of dense tiles are far cheaper."""
    blocks = objective.blocks
    size = objective.n_rows * objective.n_features
    if not (blocks.is_sparse and blocks.in_memory) or size > DENSE_VALUES:
        return objective
    if size > DENSE_VALUES // 80 and blocks.n_values < DENSE_SHARE * size:
        return objective
    return replace(objective, blocks=make_blocks(blocks.rows.X.toarray(), blocks.target, blocks.weight))


Answer = tuple[State, Array]  # the state and its weights, which may have more digits


def _newton(objective: PointwiseObjective, A: Array, trace: Trace, tol: float, last: bool) -> Answer:
    state = newton_to_gap(objective, A, trace, tol, to_the_end=last)
    return refine(objective, state, trace, last and tol <= ALL_DIGITS_TOL)


def _sampled_newton(
    objective: PointwiseObjective, A: Array, trace: Trace, tol: float, *, to_the_end: bool = False
) -> State:
    """Exact Newton steps on all rows from a sample's optimum."""
    sample = drawn(objective, sample_size(objective))
    A = newton_to_gap(sample, A, Trace(), sampling_error(sample), prove=False).A
    return newton_to_gap(objective, A, trace, tol, to_the_end=to_the_end)


def _kept(solver: Callable[..., State], work: float = EXACT_WORK_COUPLED) -> Callable[..., Answer]:
    """By a kept preconditioner; carried to the last digits where an exact Hessian would not take more than ``work``."""

    def run(objective: PointwiseObjective, A: Array, trace: Trace, tol: float, last: bool) -> Answer:
        most = work if objective.smooth_penalty is not None else max(work, LAST_DIGITS_PLAIN)
        most = EXACT_WORK_COUPLED if objective.criterion.coupled else most
        cheap = objective.blocks.pass_cost == 1 and shape_of(objective).hessian_work <= most
        state = solver(objective, A, trace, tol, to_the_end=last and cheap)
        return refine(objective, state.brought(), trace, last and tol <= ALL_DIGITS_TOL)

    return run


def _row_space(objective: PointwiseObjective, A: Array, trace: Trace, tol: float, last: bool) -> Answer:
    """Gradients first, for as long as the way through the rows would cost; then the method for n columns.

    Competing classes: gradients first only where rows are sparse, as long as they promise to arrive.
    """
    coupled = objective.criterion.coupled
    if objective.blocks.is_sparse or not coupled:
        worth = MOST_FIRST if coupled else hessian_steps(objective.n_rows, objective.n_features)
        state = by_diagonal(objective, A, trace, tol, to_the_end=last, worth=worth)
        if met(state, tol):
            return state, state.A
        A = state.A
    X, L = row_coordinates(objective.blocks, objective.center)
    blocks = make_blocks(L, objective.blocks.target, objective.blocks.weight)
    inner = replace(objective, blocks=blocks, scaling=Scaling(None, power_of_two(size_of(L))))
    start = A / objective.units
    start = np.vstack([start[:1], solve_triangle(L, X @ start[1:])]) * inner.units

    def outer(v: Array) -> Array:
        v = v / inner.units
        return np.vstack([v[:1], X.T @ solve_triangle(L, v[1:], transposed=True)]) * objective.units

    with reading(outer):
        found = (by_gram if coupled else by_kept_hessian)(inner, start, trace, tol, to_the_end=last)
        if coupled and not met(found, tol) and inner.n_parameters * inner.n_outputs <= COUPLED_PARAMETERS:
            found = newton_to_gap(inner, found.A, trace, tol, to_the_end=last)  # columns from 1e-8 to 1e8
    return _from_row_space(objective, inner, X, L, found)


def _from_row_space(
    objective: PointwiseObjective, inner: PointwiseObjective, X: Array, L: Array, state: State
) -> Answer:
    """The weights of x: by the coordinates, a = Xᵗ L⁻ᵗ v, or by the dual, a = −Xᵗ (s ℓ') / λ: whichever has less J.

    The first are those that were proved; the second have more digits at the minimum.
    """
    assert objective.penalty is not None
    v = state.A / inner.units
    best: Answer | None = None
    for rows in (solve_triangle(L, v[1:], transposed=True), -inner.slopes(state.A)):
        W = np.vstack([v[:1], X.T @ rows])
        W[1:] /= 1.0 if best is None else objective.penalty.scale(W)
        found = objective.evaluate(W * objective.units)
        if best is None or found.value <= best[0].found.value:
            gap = state.gap + max(found.value - state.found.value, 0.0)
            best = replace(state, A=W * objective.units, found=found, gap=gap, factors=None), W * objective.units
    assert best is not None
    return best


METHODS: dict[str, Callable[[PointwiseObjective, Array, Trace, float, bool], Answer]] = {
    "newton": _newton,
    "newton-in-row-space": _row_space,
    "sampled-newton": _kept(_sampled_newton, LAST_DIGITS_WORK),
    "sampled-quasi-newton": _kept(by_sampled_hessian, LAST_DIGITS_WORK),
    "gram-quasi-newton": _kept(by_gram),
    "hessian-quasi-newton": _kept(by_hessian),
    "diagonal-quasi-newton": _kept(by_diagonal),
}


def _to_user(objective: PointwiseObjective, A: Array) -> tuple[Array, Array | None]:
    """Weights in the user's units and their centre; those of a softmax centred over the classes."""
    assert objective.scaling is not None
    A, center = objective.scaling.to_user(in_memory(A))
    return A - A.mean(axis=1, keepdims=True) if objective.criterion.coupled else A, center


def _finish(objective: PointwiseObjective, state: State, best: Array, choice: Choice, trace: Trace) -> Minimum:
    """Back to the user's units."""
    A, center = _to_user(objective, best)
    return Minimum(
        np.asarray(A, dtype=np.float64),
        center,
        choice,
        float(state.found.value),
        float(state.gap),
        math.sqrt(np.vdot(state.found.gradient, state.found.gradient)),
        float(trace.passes if objective.blocks.passes is None else objective.blocks.passes),
        state.separated,
        trace.columns,
        rounding_of(float(state.found.value), state.A),
        condition_of(objective, state),
        trace.stopped,
    )


def condition_of(objective: PointwiseObjective, state: State) -> float:
    """The condition number of the Hessian at hand with a unit diagonal; where there was none, of some rows' columns."""
    if state.factors is not None:
        return 1.0 / max(state.factors.least, 1e-300)
    if np.isfinite(state.condition):
        return state.condition
    if objective.n_features > CONDITION_COLUMNS or objective.blocks.is_sparse:
        return float("nan")
    design = objective.blocks.spread(max(1_000, 4 * objective.n_features))
    values = design.values - (0.0 if objective.center is None else objective.center)
    Y = values if not objective.intercept else np.hstack([np.ones((len(values), 1)), values])
    values = np.linalg.eigvalsh(unit_diagonal(Y.T @ Y)[0])
    return float(values[-1] / max(values[0], 1e-300))


def rounding_of(J: float, A: Array) -> float:
    """An estimate of what rounding may change in J at A: some units of J, more where scores are large sums.

    A score is off by ε Σ_j |x_j a_j|, and a loss by that times its slope, which is less than the loss.
    """
    largest = float(np.abs(A).max(axis=1).sum())
    return float(np.finfo(np.float64).eps) * abs(J) * (8.0 + 4.0 * largest)


__all__ = ["Minimum", "Need", "minimize", "shape_of"]
