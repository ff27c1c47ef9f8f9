"""Newton's method with step-halving: a ← a − s H⁻¹∇J, s = 1, ½, ¼, … until J falls enough.

For the logistic criterion this is iteratively reweighted least squares.  A step is one evaluation, which brings J, ∇J
and the Hessian at its end; only where a full step does not lower J enough are the halvings tried, in one more pass.  It
stops when ½ ∇J' H⁻¹ ∇J, the fall of J that a full step promises, is a tiny part of J, or, with θ, after the first step
shorter than it, as the textbook's loop does; ``newton_to_gap`` when J is proved to be near its minimum
(``optimize.certificate``).  On a quadratic criterion it arrives in one step.

A traced run on the logistic criterion knows the working response and weights of each step: the Newton step is the
least-squares fit of z = Φw − R⁻¹(y − t) with weights R = diag y(1 − y) (PRML 4.99, 4.103).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from discriminant.arguments import FROM_ZERO, NOT_NEGATIVE, checked
from discriminant.criteria import Logistic
from discriminant.data.device_library import library_of
from discriminant.data.evaluate import compiled_rows
from discriminant.data.rows import DenseRows, FrameRows
from discriminant.errors import counted
from discriminant.kernels import compiled
from discriminant.objective import PointwiseObjective
from discriminant.optimize.certificate import proved
from discriminant.optimize.factor import Factor, Factors
from discriminant.optimize.iterative import NOT_A_NUMBER, STOPPED, Iterative, Recorder, documented, starting_weights
from discriminant.optimize.line_search import ROUNDING
from discriminant.optimize.needs import require
from discriminant.optimize.progress import stepped, watching
from discriminant.optimize.promise import NEGLIGIBLE as NEGLIGIBLE_FALL
from discriminant.optimize.promise import factor_curvature, without_sum
from discriminant.optimize.reweighted import Reweighted
from discriminant.optimize.state import State
from discriminant.protocols import Array, Evaluates, Evaluation, Need, Oracle, Solution
from discriminant.thresholds import (
    ALL_DIGITS_TOL,
    BLAS_COLUMNS,
    FACTOR_PRODUCT,
    LOSS,
    ONE_CALL_VALUES,
    ONE_CALL_WORK,
    PASS_VALUE,
    TILE_PRODUCT,
)

SIDES = Need.VALUE | Need.GRADIENT | Need.INTERCEPT
FULL = SIDES | Need.HESSIAN
SOON = 30.0  # ν² against the gap that is asked for, from which on a step by coarse evaluations will be the last
MOST_STEPS = 60  # of one compiled call (``kernels/c/newton.c``)
MOST_COARSE = 100  # steps by coarse evaluations: as many are no way to a minimum
COARSE_PIVOT = 1e-4  # least pivot of a unit-diagonal Hessian below which float32 has lost the digits of its inverse
COARSE_LIMIT = 3.0  # ν² against the rounding of coarse evaluations, from which on that hides up and down
NEGLIGIBLE = 1e-13  # ν/√J below which a step changes nothing that can be seen in J
WIDE = 2.0 ** np.arange(20, -41, -2)
SEPARATED_LOSS = 1e-6  # an unpenalised fit of separated classes ends when its mean loss is below this
LONGEST_STEP = 8.0  # times a Newton step that the first one may be
RAREST = 1e-12
COLUMNS = ("k", "objective", "gradient_norm", "step", "decrement", "passes")  # of a trace


@documented
@dataclass(frozen=True)
@checked(tolerance=NOT_NEGATIVE, threshold=NOT_NEGATIVE, iterations=FROM_ZERO, halvings=FROM_ZERO)
class Newton(Iterative):
    """a ← a − s H⁻¹∇J with step-halving: Newton's method.

    For the logistic criterion it is iteratively reweighted least squares (PRML 4.3.3; Duda, Hart and Stork 5.4).

    Parameters
    ----------
    tolerance : float, default=1e-14
        Stop when the promised fall ½∇JᵗH⁻¹∇J ≤ tolerance·|J|.
    threshold : float, default=0.0
        θ > 0: take the step and stop where it was shorter, ‖H⁻¹∇J‖ < θ, as the textbook's loop does, and for no
        other reason; 0: by ``tolerance``.
    iterations
    halvings : int, default=30
        How often a step that does not lower J is halved at most.
    trace, count_errors, callback, scale

    See Also
    --------
    LBFGS : Without a Hessian.

    Examples
    --------
    >>> from discriminant import Discriminant, datasets
    >>> from discriminant.penalties import Ridge
    >>> iris = datasets.load("iris")
    >>> model = Discriminant(criterion="softmax", penalty=Ridge(0.01), optimizer=Newton()).fit(iris.X, iris.y)
    >>> model.n_iter_ < 20, model.certificate_.converged
    (True, True)
    """

    tolerance: float = 1e-14
    threshold: float = 0.0
    iterations: int = 100
    halvings: int = 30
    needs: ClassVar[Oracle] = Oracle.VALUE | Oracle.GRADIENT | Oracle.CURVATURE

    def minimize(self, objective: Any, start: Array) -> Solution:
        require(self, objective)
        objective = self.on_scale(objective)
        record = self.recorder(objective)
        if self.trace and isinstance(objective, PointwiseObjective) and isinstance(objective.criterion, Logistic):
            record.history = Reweighted(objective=objective)
        A = starting_weights(objective, start)
        found, k, taken, passes = evaluate(objective, A), 0, 0.0, 1.0
        status, converged, last = NOT_A_NUMBER, False, 0.0
        while np.isfinite(found.value):
            J, G = found.value, found.gradient
            if record(k, A, J, G, taken):
                status = STOPPED.format(k=k)
                break
            if not G.any():
                status, converged = f"Converged after {counted(k, 'step')}: the gradient is zero.", True
                break
            assert found.hessian is not None
            factors = factor_curvature(objective, A, found.hessian)
            P = without_sum(objective, A, -factors.solve(G))
            promised = -float((G * P).sum()) / 2
            if 0 < last < self.threshold:
                converged = promised <= record.negligible(J)
                status = f"Converged: the step of iteration {k} was shorter than θ = {self.threshold:g}."
                if not converged:
                    status = (
                        f"Not converged: the step of iteration {k} was shorter than θ = {self.threshold:g}, but a "
                        f"further one promises to lower J = {J:.6g} by {promised:.2g}."
                    )
                break
            if not self.threshold and promised <= self.tolerance * abs(J):
                status, converged = self._arrived(k, promised, J), True
                break
            if k == self.iterations:
                status = (
                    f"Not converged after {counted(k, 'step')}: a further step promises to lower J by {promised:.3g}."
                )
                break
            if found.margin > 0 and k >= 4 and record.proves_no_minimum(k, A):
                break
            moved = self._advance(objective, A, found, P, promised)
            passes += moved.passes
            if not moved.step:
                endless = record.proves_no_minimum(k, A) or record.far > 0
                status, converged = self._stuck(k, promised, J, endless)
                break
            last = float(np.linalg.norm(moved.A - A))
            A, found, taken, k = moved.A, moved.found, moved.step, k + 1
        return record.solution(k, A, found.value, found.gradient, status, converged, passes)

    def _advance(self, objective: Any, A: Array, found: Evaluation, P: Array, promised: float) -> Advanced:
        moved = advance(objective, A, found, P, promised, self.halvings)
        if moved.step or promised <= 1e-9 * abs(found.value):
            return moved
        # Far out, where the criterion is all but straight, H says nothing: go down the slope, far or near.
        down = -found.gradient
        step = best_of(objective.along(A, down, WIDE), WIDE, found.value, float(np.square(down).sum()) / 2)
        there = A + step * down
        return Advanced(there, evaluate(objective, there) if step else found, step, moved.passes + 1 + bool(step))

    def _arrived(self, k: int, promised: float, J: float) -> str:
        return (
            f"Converged after {counted(k, 'step')}: a further step promises to lower "
            f"J = {J:.6g} by no more than {max(promised, 0.0):.2g}."
        )

    def _stuck(self, k: int, promised: float, J: float, endless: bool) -> tuple[str, bool]:
        """No halving lowers J: rounding hides what is left to gain, or the model of J is wrong, or J falls for ever."""
        if promised <= NEGLIGIBLE_FALL * abs(J) and not endless:
            return (
                f"Converged after {counted(k, 'step')} to the precision of the arithmetic: no step lowers J = {J:.6g}.",
                True,
            )
        return f"Not converged: after {counted(k, 'step')} no halving of the Newton step lowers J = {J:.6g}.", False


@dataclass(frozen=True)
class Advanced:
    """Where a step led; step 0: nowhere."""

    A: Array
    found: Evaluation
    step: float
    passes: int


def evaluate(objective: Any, A: Array, need: Need = FULL) -> Evaluation:
    """J, ∇J and the Hessian at A; of an objective that does not evaluate all in one, from its three questions."""
    if isinstance(objective, PointwiseObjective | Evaluates):
        found = objective.evaluate(A, need)
        found.noise = max(found.noise, 1e-14 * abs(found.value))  # one that does not say is a sum of losses too
        return found
    value, gradient = objective.value_and_gradient(A)
    hessian = objective.hessian(A) if need & Need.HESSIAN else None
    return Evaluation(float(value), gradient, hessian, margin=-np.inf, noise=1e-14 * abs(value))


def advance(
    objective: Any,
    A: Array,
    found: Evaluation,
    P: Array,
    promised: float,
    halvings: int = 40,
    first: float = 1.0,
    need: Need = FULL,
    whole: int = 0,
) -> Advanced:
    """The step ``first`` if it brings enough of what it promises, else the best of its halvings that brings enough.

    ``whole``: so many halvings are first tried by whole evaluations, which are cheaper than J along the line where they
    are compiled, and of which the first that brings enough is taken.
    """
    slack = found.noise  # a smaller rise of J is no ascent
    for tried in range(whole + 1):
        step = first * 0.5**tried
        there = A + step * P
        after = evaluate(objective, there, need)
        if after.value <= found.value - (0.25 if step == 1.0 else 1e-4 if not tried else 0.1) * step * promised + slack:
            return Advanced(there, after, step, 1 + tried)
    steps = step * 0.5 ** np.arange(halvings + 1)
    best = best_of(objective.along(A, P, steps), steps, found.value, promised, slack)
    if not best or best < 1e-9:
        return Advanced(A, found, 0.0, 2 + tried)
    if best == step:
        return Advanced(there, after, step, 2 + tried)
    return Advanced(A + best * P, evaluate(objective, A + best * P), best, 3 + tried)


def best_of(values: Array, steps: Array, J: float, promised: float, slack: float | None = None) -> float:
    """The step of the least value among those that bring enough; 0 where none does."""
    slack = ROUNDING * abs(J) if slack is None else slack
    values = np.where(np.isfinite(values), values, np.inf)
    enough = values <= J - 2e-4 * steps * promised + slack
    return float(steps[int(np.argmin(np.where(enough, values, np.inf)))]) if enough.any() else 0.0


# The same steps, carried on until the gap is proved


@dataclass
class Trace:
    """One record a step: what ``history_`` shows."""

    passes: float = 0.0
    watched: bool = False  # to who watches the fit
    stopped: bool = False  # who watches has asked for it
    steps: list[tuple[float, ...]] = field(default_factory=list)

    def add(self, A: Array, found: Evaluation, step: float, decrement: float) -> bool:
        """Record where a step begins; whether the run shall end there, as each stage does once one was stopped."""
        if self.stopped:
            return True
        size = math.sqrt(library_of(found.gradient).dot(found.gradient, found.gradient))
        self.steps.append((len(self.steps), found.value, size, step, decrement, self.passes))
        self.stopped = self.watched and stepped(A)
        return self.stopped

    @property
    def columns(self) -> dict[str, list[float]]:
        return dict(zip(COLUMNS, map(list, zip(*self.steps, strict=True)), strict=True)) if self.steps else {}


def newton_to_gap(
    objective: PointwiseObjective, A: Array, trace: Trace, tol: float, *, to_the_end: bool = False, prove: bool = True
) -> State:
    """Newton steps from A until the gap is proved to be ≤ tol·|J|, or, ``to_the_end``, to the last digits.

    ``prove=False``: until a step promises so little that it will be the last, and is taken unseen (a row sample, whose
    optimum is but a start); ``found`` and ``factors`` are then those of the weights before.  Coarse evaluations, which
    prove nothing, give way to the finest where their rounding hides what a step promises, or it is little.  Small fits
    are one compiled call, and go on here where it meets what it does not know (collinear columns, separated classes).
    """
    zero, A = A, null_start(objective, A)
    first = A is not zero
    if prove and in_one_call(objective, trace):
        state = compiled_newton(objective, A, trace, tol, to_the_end, first)
        if state.gap < np.inf:
            return state
        A, first = state.A, first and not state.A[1:].any()
    return _Steps(objective, trace, tol, to_the_end, prove).run(A, first)


class _Steps:
    """Newton steps of one fit, in whose course evaluations go over from coarse to the finest."""

    def __init__(self, objective: PointwiseObjective, trace: Trace, tol: float, to_the_end: bool, prove: bool) -> None:
        self.objective, self.exact, self.trace, self.tol = objective, objective.finest, trace, tol
        self.coarse = objective is not self.exact  # and so is what was found last
        self.to_the_end, self.prove = to_the_end, prove
        self.least = last_digit(tol, NEGLIGIBLE) if to_the_end else NEGLIGIBLE
        self.dual = prove and not to_the_end and objective.ridge is not None and not objective.criterion.coupled
        self.best: State | None = None
        self.previous = np.inf  # ν of the step before

    def run(self, A: Array, first: bool) -> State:
        """From A to the end; ``first``: A is the null model."""
        found = self._evaluated(A, FULL)
        factors, exhausted = None, False
        for count in range(500):  # far above what the method needs: a guard against a loop, not a setting
            if found.hessian is not None:
                factors = factor_curvature(self.objective, A, found.hessian)
            assert factors is not None
            P = without_sum(self.objective, A, -factors.solve(found.gradient))
            decrement = math.sqrt(max(-float(np.vdot(found.gradient, P)), 0.0))
            state = State(A, found, decrement, factors=factors, stale=found.hessian is None or self.coarse)
            if self.coarse:
                blurred = factors.least < COARSE_PIVOT or not np.isfinite(found.value)
                if blurred or exhausted or count > MOST_COARSE or ends_separated(self.objective, found):
                    self._go_over()
                    found = self._evaluated(A, SIDES if self.dual and not blurred else FULL)
                    continue
                if decrement**2 <= max(SOON * self.tol * abs(found.value), COARSE_LIMIT * found.noise):
                    self.objective = self.exact
            step = first_step(decrement) if first else 1.0
            self.best = state if self.best is None or not decrement > self.best.decrement else self.best
            if self.trace.add(A, found, step, decrement):
                return self._stopped(state)
            ended = self._ended(state, P)
            if ended is not None:
                return ended
            self.previous, first = decrement, False
            # The last step by coarse evaluations leads so near that the dual will prove the gap, without a Hessian.
            need = SIDES if self.dual and self.coarse and self.objective is self.exact else FULL
            moved = advance(self.objective, A, found, P, decrement**2 / 2, first=step, need=need, whole=3)
            self.trace.passes += moved.passes
            if not moved.step and not self.coarse:
                return proved(self.objective, self.best)
            A, found, exhausted = moved.A, moved.found, not moved.step
            if self.coarse and self.objective is self.exact and not exhausted:
                self._go_over()
        assert self.best is not None
        return replace(proved(self.objective, self.best), stalled=True)

    def _evaluated(self, A: Array, need: Need) -> Evaluation:
        self.trace.passes += 1
        return self.objective.evaluate(A, need)

    def _go_over(self) -> None:
        """From coarse evaluations to the finest, beside which what was found before says nothing."""
        self.objective, self.coarse, self.best, self.previous = self.exact, False, None, np.inf

    def _stopped(self, state: State) -> State:
        """What is proved where who watches the fit has ended it."""
        if self.coarse:
            state = replace(state, found=self.exact.evaluate(state.A, SIDES), stale=True)
        return proved(self.exact, state)

    def _ended(self, state: State, P: Array) -> State | None:
        """Where the steps end here, the state with what is proved of it."""
        objective, found, square = self.objective, state.found, state.decrement**2
        wanted = self.tol * abs(found.value)
        if ends_separated(objective, found):
            return replace(state, separated=True)
        hidden = 0.3 * self.previous < state.decrement < 10 * math.sqrt(found.noise)  # by rounding: what is left
        if not self.coarse and (state.decrement <= self.least * _root(found) or hidden):
            assert self.best is not None
            return proved(objective, self.best)
        if not self.prove and square <= 10 * wanted:
            return replace(state, A=state.A + P)
        if not self.prove and objective.criterion.coupled and found.margin > 0:
            return state  # some rows are separated, which says nothing of how long the weights of all should be
        if not self.coarse and not self.to_the_end and square <= wanted:
            state = proved(objective, state, self.tol)
            return state if state.gap <= wanted else None
        return None


def _root(found: Evaluation) -> float:
    """√J, of which decrements are shares: where all losses are tiny, so is one that still counts."""
    return math.sqrt(abs(found.value) + 1e-300)


def in_one_call(objective: PointwiseObjective, trace: Trace) -> bool:
    """Whether all steps are one compiled call: two classes, a ridge or none, few dense rows, and nobody who watches."""
    blocks, D = objective.blocks, objective.n_parameters
    small = blocks.n_values <= ONE_CALL_VALUES and objective.n_rows * D * D <= 2 * ONE_CALL_WORK
    if not small or objective.criterion.kind != Logistic.kind or objective.n_outputs > 1 or D > BLAS_COLUMNS:
        return False
    held = blocks.in_memory and isinstance(blocks.rows, DenseRows | FrameRows) and not blocks.on_device
    ridge = objective.penalty is None or (objective.quadratic_penalty and objective.smooth_penalty is not None)
    return held and ridge and compiled.load() is not None and not (trace.watched and watching())


def compiled_newton(
    objective: PointwiseObjective, A: Array, trace: Trace, tol: float, to_the_end: bool, null: bool
) -> State:
    """The steps of ``newton_to_gap`` in one call (``kernels/c/newton.c``); a gap of ∞ where they could not go on."""
    module, n, D = compiled.load(), objective.n_rows, objective.n_parameters
    assert module is not None
    block = objective.blocks.block(0, n)
    rows = compiled_rows(block.design)
    A, gradient, scale, L, records = (
        A.copy(),
        np.empty((D, 1)),
        np.empty(D),
        np.zeros((D, D)),
        np.empty((MOST_STEPS, 6)),
    )
    hessian = (n * D * TILE_PRODUCT + D * D * FACTOR_PRODUCT / 3) * D / 2
    solved, steps, passes, value, margin, decrement, gap, pivot, age = module.newton(
        rows, objective.center, objective.units, objective.damping, A, *objective.request(A, SIDES).inputs(block),
        objective.criterion.labels, tol, last_digit(tol, NEGLIGIBLE) if to_the_end else 0.0,
        hessian / (n * D * PASS_VALUE + n * LOSS + D * D), objective.intercept, objective.may_lack_minimum, null,
        (gradient, scale, L, records),
    )  # fmt: skip
    first = len(trace.steps)
    trace.steps += [
        (first + k, J, size, step, nu, trace.passes + at) for k, J, size, step, nu, at in records[:steps].tolist()
    ]
    trace.passes += passes
    factors = Factors((Factor(scale, None, L, D, pivot),)) if solved else None
    found = Evaluation(value, gradient, margin=margin)
    return State(A, found, decrement, gap if solved else np.inf, factors, stale=bool(age))


def first_step(decrement: float) -> float:
    """Times the Newton step from the null model: 1 / (1 − ν²)."""
    return min(1 / max(1 - decrement**2, 1e-4), LONGEST_STEP)


def last_digit(tol: float, least: float, times: float = 1.0) -> float:
    """ν/√J at which a fit that goes on to the last digits ends."""
    return times * tol if tol > ALL_DIGITS_TOL else least


def ends_separated(objective: PointwiseObjective, found: Evaluation) -> bool:
    """Whether the rows are separated, so that J has no minimum, and J is as good as its infimum, zero."""
    return objective.may_lack_minimum and found.margin > 0 and found.value < SEPARATED_LOSS


def null_start(objective: PointwiseObjective, A: Array) -> Array:
    """A, or where it is zero and there are two classes the null model: all posteriors t̄, intercept ln(t̄ / (1 − t̄)).

    The Newton step from there is the least-squares fit; with Gaussian classes ν² is its R², and 1/(1 − ν²) times the
    step leads to the weights of linear discriminant analysis, much nearer.
    """
    coding, blocks = objective.coding, objective.blocks
    if not objective.intercept or objective.offset is not None or coding is None or A.shape[1] > 1 or A.any():
        return A
    if blocks.pass_cost > 1 or not isinstance(objective.criterion, Logistic):
        return A
    counts = blocks.counts(coding.n_classes)
    share = float(counts @ coding.targets[:, 0] / counts.sum())
    if not RAREST < share < 1 - RAREST:
        return A
    A = A.copy()
    A[0] = math.log(share / (1 - share))
    return A


__all__ = ["COLUMNS", "Newton", "Recorder", "Trace", "advance", "evaluate", "newton_to_gap", "null_start"]
