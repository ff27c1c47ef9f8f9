"""L-BFGS carried on until the gap is proved: steps from a preconditioner near H⁻¹, and then to the last digits.

``_Walk`` takes the steps, along −B∇J with B from the last changes (``lbfgs.Pairs``), ``_Proof`` decides when a proof is
worth its passes, and ``_Expected`` when another way would be cheaper.  Rows on a device are first evaluated coarsely,
for as long as that distinguishes up from down.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from discriminant.data.device_library import library_of
from discriminant.objective import PointwiseObjective
from discriminant.optimize.certificate import dual_gap, loose_gap
from discriminant.optimize.lbfgs import LEAST_WINDOW, Pairs
from discriminant.optimize.newton import COARSE_LIMIT, Advanced, Trace, ends_separated, first_step, last_digit
from discriminant.optimize.promise import without_sum
from discriminant.optimize.state import State
from discriminant.protocols import Array, Need
from discriminant.thresholds import ALL_DIGITS_TOL, FALL

PAIRS = 20
MOST_STEPS = 2_000  # a guard against a loop, not a setting
IDLE = 8  # coarse evaluations in a row that gain nothing
MOST_WORTH = 3  # times the steps that another way would cost, where those that were still to be expected never end
LAST_DIGITS = 1e-9  # ν/√J below which nine digits of every score are right: each further one costs some steps
DEAR = 100.0  # times as large as for Newton's method, whose digits double with every step
SEEMS = 0.9  # of the gap that is asked for: one that coarse evaluations show, from which on a fine one may prove it
LEAST_DECREMENT = 1e-8  # ν², relative to the gap that is asked for, from which on no further step will prove it
WAIT = 4  # steps at most from one proof that fails to the next


def lbfgs_to_gap(
    objective: PointwiseObjective,
    state: State,
    preconditioner: Callable[[Array], Array],
    trace: Trace,
    tol: float,
    *,
    prove: Callable[[State, float], float] | None = None,
    to_the_end: bool = False,
    scale: float = 1.0,
    worth: float = np.inf,
    null: bool = False,
) -> State:
    """Steps from ``state`` by a preconditioner near H⁻¹ until J is proved to be within tol·|J| of its minimum.

    The gap is proved by the dual where there is a ridge, and by ``prove`` where the dual is not enough.
    ``to_the_end``: then go on, for at most as many passes again, until a step changes nothing that can be seen in J.
    ``worth``: steps that another way would cost; given up when as many are still to be expected.
    ``null``: steps begin at the null model with its own Hessian, where the first is longer (``newton.null_start``).
    """
    walk = _Walk(objective, preconditioner, trace, Pairs(PAIRS, preconditioner, scale))
    proof = _Proof(objective.finest, trace, prove, state.found.value - state.gap)
    best, coupled = state, objective.criterion.coupled
    expected = _Expected(objective, tol, every=to_the_end and tol <= ALL_DIGITS_TOL and not coupled)
    for k in range(int(min(MOST_STEPS, MOST_WORTH * worth))):
        state, P = walk.direction_at(state)
        stop = trace.add(state.A, state.found, 1.0, state.decrement)
        target = tol * abs(state.found.value)
        exhausted = walk.is_exhausted(state)
        if walk.coarse and (stop or exhausted or proof.seems_due(k, state, target)):
            state = walk.sharpened(state, target)
            if not stop:
                continue
        if stop:
            return replace(state, gap=proof.gap(state, target))
        if not walk.coarse:
            state = proof.tried(k, state, target)
            best = state if state.gap < best.gap or not state.decrement > best.decrement else best
        if state.gap <= target:
            return _last_digits(walk, proof, expected, state, P, tol, worth) if to_the_end else state
        if ends_separated(walk.objective, state.found):
            return replace(state, separated=True)
        if state.decrement**2 <= LEAST_DECREMENT * target and not walk.coarse:
            return best
        if expected.left(state) > worth:
            break
        need = Need.VALUE | Need.GRADIENT
        if walk.exact is walk.objective and state.decrement**2 <= (1 if coupled else 10) * target:
            need |= Need.INTERCEPT
        P = P * first_step(state.decrement) if null and k == 0 else P
        moved = walk.step(state, P, need)
        if moved is None:
            break
        state = moved
    if walk.coarse:
        best = State(state.A, walk.exact.evaluate(state.A))
    return replace(best, stalled=True)


def _last_digits(
    walk: _Walk, proof: _Proof, expected: _Expected, state: State, P: Array, tol: float, worth: float
) -> State:
    """From a state whose gap is proved on to the last digits: the best that was met, and what is proved of it."""
    objective, best, most = walk.exact, state, 2 * walk.trace.passes + 10
    while expected.left(state) <= worth:
        moved = walk.step(state, P, Need.VALUE | Need.GRADIENT)
        if moved is None:
            break
        state, P = walk.direction_at(moved)
        best = state if not state.decrement > best.decrement else best
        enough = last_digit(tol, LAST_DIGITS, DEAR) * math.sqrt(abs(state.found.value))
        if walk.trace.add(state.A, state.found, 1.0, state.decrement) or state.decrement <= enough:
            break
        if ends_separated(objective, state.found):
            return replace(state, separated=True)
        if walk.trace.passes > most:
            break
    if tol <= ALL_DIGITS_TOL:
        walk.trace.passes += 1 + objective.criterion.coupled
        proof.learn(best, dual_gap(objective, best.A, replace(best.found, intercept=None)))
    return replace(best, gap=best.found.value - proof.floor)


class _Walk:
    """Steps, by coarse evaluations for as long as these distinguish up from down.

    Where they no longer do, or show a gap that seems to be small enough, one in the finest precision is what the next
    ones start from; where the next one shows nothing either, all are.
    """

    def __init__(
        self, objective: PointwiseObjective, preconditioner: Callable[[Array], Array], trace: Trace, pairs: Pairs
    ) -> None:
        self.objective, self.exact, self.trace = objective, objective.finest, trace
        self.preconditioner, self.pairs = preconditioner, pairs
        self.coarse = objective is not self.exact  # the last evaluation was,
        self.renewed = False  # and the one before was not
        self.stuck = self.blurred = False  # no step led down; rounding hides whether one does
        self.idle, self.shortest, self.evaluations = 0, np.inf, 1  # evaluations without a shorter gradient

    def direction_at(self, state: State) -> tuple[State, Array]:
        """The state with its decrement, and the step that it is of."""
        found = state.found
        P = without_sum(self.objective, state.A, self.pairs.direction(found.gradient))
        decrement = math.sqrt(max(-float(library_of(P).dot(found.gradient, P)), 0.0))
        loose = loose_gap(self.exact, found)
        return State(state.A, found, decrement, factors=state.factors, stale=state.stale, loose=loose), P

    def is_exhausted(self, state: State) -> bool:
        """Whether coarse evaluations no longer distinguish up from down; asked once a step."""
        size = self.trace.steps[-1][2]
        gains = size < 0.99 * self.shortest
        self.idle, self.shortest = (0, size) if gains else (self.idle + self.evaluations, self.shortest)
        self.blurred = self.stuck or self.idle >= IDLE or not state.decrement**2 > COARSE_LIMIT * state.found.noise
        return self.blurred or ends_separated(self.objective, state.found)

    def sharpened(self, state: State, target: float) -> State:
        """The same in the finest precision, in which the gap may be proved."""
        if self.blurred and self.renewed:
            self.objective = self.exact
        near = state.loose <= SEEMS * target
        need = Need.VALUE | Need.GRADIENT | (Need.INTERCEPT if near else Need.VALUE)
        self.trace.passes += 1
        self.coarse, self.stuck, self.idle, self.shortest = False, False, 0, np.inf
        return replace(state, found=self.exact.evaluate(state.A, need))

    def step(self, state: State, P: Array, need: Need) -> State | None:
        """Along P as far as J falls enough; the same state where another try is due, None where none is."""
        moved = _shorten(self.objective, state, P, need)
        self.evaluations = moved.passes
        self.trace.passes += moved.passes
        if moved.step:
            self.pairs.took(moved.step * P)
            self.stuck, self.renewed, self.coarse = False, not self.coarse, self.objective is not self.exact
            return State(moved.A, moved.found)
        if self.objective is not self.exact:
            self.objective, self.stuck = self.objective if self.coarse else self.exact, self.coarse
        elif self.stuck:
            return None
        else:  # once more without what the pairs say
            self.stuck, self.pairs = True, Pairs(PAIRS, self.preconditioner)
        return state


@dataclass
class _Proof:
    """When a proof of the gap is tried, and what is proved."""

    objective: PointwiseObjective
    trace: Trace
    prove: Callable[[State, float], float] | None
    floor: float  # nowhere is J below
    due: int = 0  # the step at which one is tried next

    def seems_due(self, k: int, state: State, target: float) -> bool:
        """Whether one is worth an evaluation in the finest precision."""
        return k >= self.due and state.loose <= SEEMS * target

    def tried(self, k: int, state: State, target: float) -> State:
        """The state with its gap, where one is due: of competing classes it costs a pass or two."""
        if k < self.due and state.decrement**2 > LEAST_DECREMENT * target:
            return state
        gap = self.gap(state, target)
        self.learn(state, gap)
        if self.objective.criterion.coupled and target < gap < np.inf:
            self.due = k + min(math.ceil(math.log(gap / target) / FALL), WAIT)
        return replace(state, gap=state.found.value - self.floor) if self.floor > -np.inf else state

    def learn(self, state: State, gap: float) -> None:
        """J has been proved to be nowhere further below than the gap."""
        self.floor = max(self.floor, state.found.value - gap) if gap < np.inf else self.floor

    def gap(self, state: State, target: float) -> float:
        """The gap that can be proved now, asking the dual last where it would cost a pass."""
        objective, prove, found = self.objective, self.prove, state.found
        gap, coupled = np.inf, objective.criterion.coupled
        first = objective.blocks.pass_cost > 1 or (found.intercept is None and not coupled)
        if first and prove is not None:
            gap = prove(state, target)
        most = 1.0 if coupled else 0.9 if found.intercept is None else 4.0
        if gap > target and state.loose <= most * target:
            self.trace.passes += coupled + (found.intercept is None)
            gap = min(gap, dual_gap(objective, state.A, found))
        if gap > target and prove is not None and not first:
            gap = min(gap, prove(state, target))
        return gap


class _Expected:
    """How many more steps there will be, by those that were."""

    def __init__(self, objective: PointwiseObjective, tol: float, every: bool) -> None:
        self.objective, self.tol, self.every = objective, tol, every
        self.squares: list[float] = []
        self.loose: list[float] = []

    def left(self, state: State) -> float:
        """Until the gap is proved, which of competing classes takes longer than to arrive, or until the last digits."""
        objective, J = self.objective, abs(state.found.value)
        self.squares.append(state.decrement**2)
        if not objective.criterion.coupled:
            return _steps_left(self.squares, LAST_DIGITS**2 * J if self.every else 0.1 * self.tol * J)
        left = _steps_left(self.squares, self.tol * J / objective.n_outputs**2)
        if objective.ridge is None:
            return left
        self.loose.append(state.loose)
        return min(left, _steps_left(self.loose, self.tol * J))


def _steps_left(squares: list[float], target: float) -> float:
    """How many more steps bring ν² to the target, if it goes on as over the last half: a geometric series.

    It falls by fits and starts where classes are separated (300×600×4, C = 1e4), so that a few steps say nothing.
    """
    if len(squares) <= LEAST_WINDOW or not squares[-1] > target:
        return 0.0
    window = max(LEAST_WINDOW, len(squares) // 2)
    rate = math.log(squares[-1 - window] / squares[-1]) / window
    return math.log(squares[-1] / target) / rate if rate > 0 else np.inf


def _shorten(objective: PointwiseObjective, state: State, P: Array, need: Need) -> Advanced:
    """The unit step where J falls enough; else a shorter one by interpolation."""
    value, slope, step = state.found.value, -(state.decrement**2), 1.0
    most = 25 if objective is objective.finest else IDLE
    for trial in range(1, most + 1):
        A = state.A + step * P
        found = objective.evaluate(A, need)
        if found.value <= value + 1e-4 * step * slope + state.found.noise:
            return Advanced(A, found, step, trial)
        curved = 2 * (found.value - value - step * slope)
        better = -slope * step**2 / curved if np.isfinite(curved) and curved > 0 else 0.0
        step = float(np.clip(better, 0.1 * step, 0.5 * step))
    return Advanced(state.A, state.found, 0.0, most)
