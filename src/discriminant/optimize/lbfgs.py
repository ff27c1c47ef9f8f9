"""L-BFGS: quasi-Newton steps from the last few changes of weights and gradient; one pass over the data a step, mostly.

It stops when the promised fall ½∇J'B∇J, with B its own estimate of the inverse Hessian, is a tiny part of J twice in
a row, or when the gradient vanishes.  Where columns have very different units B is slow to learn and promises too
little; so the Hessian itself is asked at the end, and where it promises more the steps go on with it as their B₀.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from discriminant.arguments import CALLABLE, COUNT, FROM_ZERO, NOT_NEGATIVE, checked, optional
from discriminant.data.device_library import library_of
from discriminant.errors import counted
from discriminant.objective import PointwiseObjective
from discriminant.optimize.certificate import dual_gap, loose_gap
from discriminant.optimize.history import History
from discriminant.optimize.iterative import (
    NOT_A_NUMBER,
    STOPPED,
    Iterative,
    documented,
    starting_weights,
)
from discriminant.optimize.line_search import Found, line_search
from discriminant.optimize.needs import require
from discriminant.optimize.newton import SPENT, Advanced, Trace, ends_separated, first_step, last_digit
from discriminant.optimize.promise import RENEWALS, without_sum
from discriminant.optimize.state import State
from discriminant.protocols import Array, Need, Oracle, Solution
from discriminant.thresholds import ALL_DIGITS_TOL

LOOK_EVERY = 25
LEAST_WINDOW = 8
PAIRS = 20
MOST_STEPS = 2_000  # a guard against a loop, not a setting
IDLE = 8  # coarse evaluations in a row that gain nothing
MOST_WORTH = 3  # times the steps that another way would cost, where those that were still to be expected never end
LAST_DIGITS = 1e-9  # ν/√J below which nine digits of every score are right: each further one costs some steps
DEAR = 100.0  # times as large as for Newton's method, whose digits double with every step
HOPELESS = 1e-8  # squared decrement, relative to the target, from which on no further step will make a proof succeed


@documented
@dataclass(frozen=True)
@checked(tolerance=NOT_NEGATIVE, iterations=FROM_ZERO, memory=COUNT, preconditioner=optional(CALLABLE))
class LBFGS(Iterative):
    """Limited-memory BFGS: quasi-Newton steps from the last changes of weights and gradient.

    For problems whose Hessian would be too large or too dear (Nocedal and Wright 7.2).

    Parameters
    ----------
    tolerance : float, default=1e-12
        Stop when the promised fall of J is at most tolerance·|J|, twice in a row.
    iterations
    memory : int, default=12
        How many changes are remembered.
    preconditioner : callable or None, default=None
        G ↦ B₀G, a first estimate of H⁻¹G; None: a multiple of G.
    trace, count_errors, callback, scale

    See Also
    --------
    Newton : With a Hessian.
    ConjugateGradient : Without memory of earlier steps.

    Examples
    --------
    >>> from discriminant import Discriminant, datasets
    >>> iris = datasets.load("iris")
    >>> model = Discriminant(criterion="squared", optimizer=LBFGS()).fit(iris.X, iris.y)
    >>> model.certificate_.converged
    True
    """

    tolerance: float = 1e-12
    iterations: int = 5000
    memory: int = 12
    preconditioner: Callable[[Array], Array] | None = None
    needs: ClassVar[Oracle] = Oracle.VALUE | Oracle.GRADIENT | Oracle.CURVATURE

    def minimize(self, objective: Any, start: Array) -> Solution:
        require(self, objective)
        objective = self.on_scale(objective)
        record = self.recorder(objective)
        A, passes, pairs = starting_weights(objective, start), 1.0, Pairs(self.memory, self.preconditioner)
        J, G = objective.value_and_gradient(A)
        status, converged, k, quiet, step, told, renewed = NOT_A_NUMBER, False, 0, 0, 0.0, -1, 0
        while np.isfinite(J):
            if k > told and record(k, A, J, G, step):
                status = STOPPED.format(k=k)
                break
            told = k
            if not G.any():
                status, converged = f"Converged after {counted(k, 'step')}: the gradient is zero.", True
                break
            P = pairs.direction(G)
            promised = -float((G * P).sum()) / 2
            quiet = quiet + 1 if promised <= self.tolerance * abs(J) else 0
            still = quiet >= 2 and k > 0 and _left_to_gain(record.history) <= 10 * self.tolerance * abs(J)
            if k == self.iterations and not still:
                status = _unfinished(k, J, promised)
                break
            if k and k % LOOK_EVERY == 0 and record.proves_no_minimum(k, A):
                break
            if not still:
                P, found = _search(objective, A, P, J, G, pairs)
                passes += found.passes
                if found.step:
                    step = found.step
                    pairs.took(step * P)
                    A, J, G, k = A + step * P, found.value, found.gradient, k + 1
                    continue
            newton = record.promises(A, G, passes)
            enough = (
                10 * self.tolerance * abs(J)
                if renewed < RENEWALS and newton.solve is not None
                else record.negligible(J)
            )
            if newton.fall <= enough:
                status, converged = _arrived(k, J, G, max(newton.fall, promised) if still else None), True
                break
            if renewed == RENEWALS or newton.solve is None:
                status = _unfinished(k, J, max(newton.fall, promised))
                break
            pairs, quiet, renewed = Pairs(self.memory, newton.solve), 0, renewed + 1
        return record.solution(k, A, J, G, status, converged, passes)


def _search(objective: Any, A: Array, P: Array, J: float, G: Array, pairs: Pairs) -> tuple[Array, Found]:
    """A step along P, or, where the memory has gone stale, along what is left when it is forgotten."""
    short = 1 / max(1.0, float(np.linalg.norm(G)))
    found = line_search(objective, A, P, J, G, first=1.0 if pairs or pairs.preconditioned else short)
    if found.step or not pairs:
        return P, found
    pairs.forget()
    P = pairs.direction(G)
    again = line_search(objective, A, P, J, G, first=1.0 if pairs.preconditioned else short)
    return P, again._replace(passes=found.passes + again.passes)


def _arrived(k: int, J: float, G: Array, left: float | None) -> str:
    """``left``: what is promised still; None where no step lowers J any more."""
    if left is not None:
        return f"Converged after {counted(k, 'step')}: J = {J:.6g}, and the next promises to lower it by {left:.2g}."
    return f"Converged after {counted(k, 'step')} to the precision of the arithmetic: ‖∇J‖ = {np.linalg.norm(G):.2g}."


def _unfinished(k: int, J: float, promised: float) -> str:
    return f"Not converged after {counted(k, 'step')}: the next promises to lower J = {J:.6g} by {promised:.2g}."


def _left_to_gain(history: History) -> float:
    """What the falls of J over the last two windows of steps leave to come, if they go on as a geometric series."""
    values = history.columns["objective"]
    window = max(LEAST_WINDOW, len(values) // 8)  # a slow run is judged over many steps
    if len(values) <= 2 * window:
        return 0.0
    before, last = values[-2 * window - 1] - values[-window - 1], values[-window - 1] - values[-1]
    if last <= 0:
        return 0.0
    return float(last * last / (before - last)) if before > last else np.inf


class Pairs:
    """The last changes s of weights and y of gradient, and the inverse Hessian B that they imply from B₀ = γP⁻¹.

    In the compact form (Nocedal and Wright 7.2), with R the upper triangle of SᵗY and D its diagonal:

        B = B₀ + [S, B₀Y] [R⁻ᵗ(D + YᵗB₀Y)R⁻¹, −R⁻ᵗ; −R⁻¹, 0] [S, B₀Y]ᵗ,        γ² ← γ s·y / y·P⁻¹y,

    a few products of matrices, where the two loops are eighty of vectors; P⁻¹y is the difference of two P⁻¹g.
    """

    def __init__(self, memory: int, preconditioner: Callable[[Array], Array] | None, scale: float = 1.0) -> None:
        self.memory, self.precondition, self.scale = memory, preconditioner or (lambda G: G), scale
        self.preconditioned = preconditioner is not None
        self.count = 0
        self.moved: Array | None = None
        self.g, self.Pg = np.empty(0), np.empty(0)

    def __bool__(self) -> bool:
        return self.count > 0

    def forget(self) -> None:
        self.count, self.moved = 0, None

    def took(self, s: Array) -> None:
        """The weights were changed by s since the last direction."""
        self.moved = s

    def _learn(self, s: Array, y: Array, Py: Array) -> None:
        """Keep the pair if the criterion bends upwards along it: R⁻¹ and YᵗB₀Y, oldest first, grow by a column."""
        curvature, m = float(s @ y), self.memory
        if not curvature > 1e-14 * math.sqrt((s @ s) * (y @ y)):
            return
        if self.count == 0:
            self.flat = self.library.zeros((2 * m, s.shape[0]))  # s and P⁻¹y of each, a vector below the other
            self.inverse, self.YPY = np.zeros((m, m)), np.zeros((m, m))
        if self.count >= m:  # of a triangle without its first row and column the inverse is the same without them
            self.inverse[:-1, :-1], self.YPY[:-1, :-1] = self.inverse[1:, 1:].copy(), self.YPY[1:, 1:].copy()
        place, self.count = self.count % m, self.count + 1
        self.flat[2 * place, :], self.flat[2 * place + 1, :] = s, Py
        last = min(self.count, m) - 1
        products = self._aged(self._products(y))
        self.inverse[:last, last] = self.inverse[:last, :last] @ products[:last, 0] / -curvature
        self.inverse[last, last] = 1 / curvature
        self.YPY[: last + 1, last] = self.YPY[last, : last + 1] = products[:, 1]
        self.scale = math.sqrt(self.scale * curvature / products[last, 1])

    def _products(self, g: Array) -> Array:
        """s·g and P⁻¹y·g of each pair (m, 2), in memory."""
        m = min(self.count, self.memory)
        return self.library.get(self.flat[: 2 * m, :] @ g).reshape(m, 2)  # type: ignore[no-any-return]

    def _aged(self, each: Array, back: bool = False) -> Array:
        """Numbers of the pairs as they are stored, the oldest first; ``back``: the other way round."""
        oldest = self.count % self.memory if self.count > self.memory else 0
        oldest = len(each) - oldest if back else oldest
        return np.concatenate([each[oldest:], each[:oldest]]) if oldest else each

    def direction(self, G: Array) -> Array:
        """−B G."""
        self.library = library_of(G)
        reshape = self.library.xp.reshape
        g, Pg = reshape(G, (-1,)), reshape(self.precondition(G), (-1,))
        if self.moved is not None:
            self._learn(reshape(self.moved, (-1,)), g - self.g, Pg - self.Pg)
        self.g, self.Pg, self.moved = g, Pg, None
        if not self.count:
            return reshape(-self.scale * Pg, G.shape)  # type: ignore[no-any-return]
        m = min(self.count, self.memory)
        inverse, products = self.inverse[:m, :m], self._aged(self._products(g))
        x = inverse @ products[:, 0]
        parts = np.empty((m, 2))
        inner = x / np.diagonal(inverse) + self.scale * (self.YPY[:m, :m] @ x - products[:, 1])
        parts[:, 0], parts[:, 1] = inner @ inverse, -self.scale * x
        shares = self.library.put(self._aged(parts, back=True).ravel())
        return reshape(shares @ self.flat[: 2 * m, :] + self.scale * Pg, G.shape) * -1.0  # type: ignore[no-any-return]


# The same steps, carried on until the gap is proved


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
    Where coarse evaluations show a gap that seems to be small enough, or no longer tell up from down, one in the finest
    precision proves the end, or is what the next ones start from; where the next one tells nothing either, all are.
    """
    pairs, best = Pairs(PAIRS, preconditioner, scale), state
    exact, library, idle, shortest, spent = objective.finest, library_of(state.A), 0, np.inf, 1
    coarse, renewed = objective is not exact, False  # ``found`` is coarse, and the one before was not
    coupled, stuck, last, outputs = objective.criterion.coupled, False, np.inf, objective.n_outputs
    squares: list[float] = []
    loose: list[float] = []
    floor = state.found.value - state.gap  # proved: nowhere is J below
    due = 0  # the step at which a proof is tried next
    every = to_the_end and tol <= ALL_DIGITS_TOL and not coupled
    for k in range(int(min(MOST_STEPS, MOST_WORTH * worth))):
        found = state.found
        P = without_sum(objective, state.A, pairs.direction(found.gradient))
        decrement = math.sqrt(max(-float(library.dot(found.gradient, P)), 0.0))
        stop = trace.add(state.A, found, 1.0, decrement)
        target = tol * abs(found.value)
        size = trace.steps[-1][2]
        idle, shortest = (0, size) if size < 0.99 * shortest else (idle + spent, shortest)
        if coarse:
            seems = k >= due and loose_gap(objective, found) <= 0.9 * target
            blurred = stuck or idle >= IDLE or not decrement**2 > SPENT * found.noise
            if stop or seems or blurred or ends_separated(objective, found):
                objective = exact if blurred and renewed else objective
                need = Need.VALUE | Need.GRADIENT | (Need.INTERCEPT if seems else Need.VALUE)
                state, trace.passes = State(state.A, exact.evaluate(state.A, need)), trace.passes + 1
                coarse, stuck, idle, shortest = False, False, 0, np.inf
                if not stop:
                    continue
                found, target = state.found, tol * abs(state.found.value)
        state = State(state.A, found, decrement, factors=state.factors, drift=state.drift)
        if stop:
            return replace(state, gap=_gap(exact, state, target, trace, prove))
        if last < np.inf:  # the gap that was asked for is proved, and the last digits are wanted
            best = state if not decrement > best.decrement else best
            if decrement <= last_digit(tol, LAST_DIGITS, DEAR) * math.sqrt(abs(found.value)) or trace.passes > last:
                break
        elif not coarse and (k >= due or decrement**2 <= HOPELESS * target):
            gap = _gap(exact, state, target, trace, prove)
            floor = max(floor, found.value - gap) if gap < np.inf else floor
            state = replace(state, gap=found.value - floor)
            if coupled and target < gap < np.inf:  # an attempt costs a pass or two, and a gap falls by a third a step
                due = k + min(math.ceil(2 * math.log(gap / target)), 4)
        if last == np.inf and not coarse:
            best = state if state.gap < best.gap or not decrement > best.decrement else best
        if state.gap <= target and last == np.inf:
            if not to_the_end:
                return state
            last = 2 * trace.passes + 10
        if ends_separated(objective, found):
            return replace(state, separated=True)
        if decrement**2 <= HOPELESS * target and last == np.inf and not coarse:
            return best
        squares.append(decrement**2)
        left = _steps_left(squares, LAST_DIGITS**2 * abs(found.value) if every else 0.1 * target)
        if coupled and last == np.inf:  # until it can be proved, which takes longer than to arrive
            loose.append(loose_gap(objective, found))
            left = _steps_left(squares, target / outputs**2)
            left = left if objective.ridge is None else min(left, _steps_left(loose, target))
        if left > worth:
            break
        need = Need.VALUE | Need.GRADIENT
        if objective is exact and decrement**2 <= (1 if coupled else 10) * target:
            need |= Need.INTERCEPT
        P = P * first_step(decrement) if null and k == 0 else P
        moved = _shorten(objective, state, P, need)
        spent = moved.passes
        trace.passes += spent
        if not moved.step and objective is not exact:
            objective, stuck = objective if coarse else exact, coarse
            continue
        if not moved.step:
            if stuck:
                break
            stuck, pairs = True, Pairs(PAIRS, preconditioner)  # once more without what the pairs say
            continue
        stuck = False
        pairs.took(moved.step * P)
        state, renewed, coarse = State(moved.A, moved.found), not coarse, objective is not exact
    if coarse:
        best = State(state.A, exact.evaluate(state.A))
    if last == np.inf:
        return replace(best, stalled=True)
    if tol <= ALL_DIGITS_TOL:
        trace.passes += 1 + coupled
        gap = dual_gap(objective, best.A, replace(best.found, intercept=None))
        floor = max(floor, best.found.value - gap)
    return replace(best, gap=best.found.value - floor)


def _steps_left(squares: list[float], target: float) -> float:
    """How many more steps bring ν² to the target, if it goes on as over the last half: a geometric series.

    It falls by fits and starts where classes are separated (300×600×4, C = 1e4), so that a few steps say nothing.
    """
    if len(squares) <= LEAST_WINDOW or not squares[-1] > target:
        return 0.0
    window = max(LEAST_WINDOW, len(squares) // 2)
    rate = math.log(squares[-1 - window] / squares[-1]) / window
    return math.log(squares[-1] / target) / rate if rate > 0 else np.inf


def _gap(
    objective: PointwiseObjective,
    state: State,
    target: float,
    trace: Trace,
    prove: Callable[[State, float], float] | None,
) -> float:
    """The gap that can be proved now, asking the dual last where it would cost a pass."""
    gap, found, coupled = np.inf, state.found, objective.criterion.coupled
    first = objective.blocks.pass_cost > 1 or (found.intercept is None and not coupled)
    if first and prove is not None:
        gap = prove(state, target)
    most = 1.0 if coupled else 0.9 if found.intercept is None else 4.0
    if gap > target and loose_gap(objective, found) <= most * target:
        trace.passes += coupled + (found.intercept is None)
        gap = min(gap, dual_gap(objective, state.A, found))
    if gap > target and prove is not None and not first:
        gap = min(gap, prove(state, target))
    return gap


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
