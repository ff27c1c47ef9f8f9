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
from discriminant.optimize.newton import COARSE_LIMIT, Advanced, Trace, ends_separated, first_step, last_digit
from discriminant.optimize.promise import RENEWALS, without_sum
from discriminant.optimize.state import State
from discriminant.protocols import Array, Need, Oracle, Solution
from discriminant.thresholds import ALL_DIGITS_TOL

CHECK_EVERY = 25
LEAST_WINDOW = 8
PAIRS = 20
MOST_STEPS = 2_000  # a guard against a loop, not a setting
IDLE = 8  # coarse evaluations in a row that gain nothing
MOST_WORTH = 3  # times the steps that another way would cost, where those that were still to be expected never end
LAST_DIGITS = 1e-9  # ν/√J below which nine digits of every score are right: each further one costs some steps
DEAR = 100.0  # times as large as for Newton's method, whose digits double with every step
SEEMS = 0.9  # of the gap that is asked for: one that coarse evaluations show, from which on a fine one may prove it
LEAST_DECREMENT = (
    1e-8  # squared decrement, relative to the target, from which on no further step will make a proof succeed
)


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
        status, converged, k, quiet, step, recorded, renewed = NOT_A_NUMBER, False, 0, 0, 0.0, -1, 0
        while np.isfinite(J):
            if k > recorded and record(k, A, J, G, step):
                status = STOPPED.format(k=k)
                break
            recorded = k
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
            if k and k % CHECK_EVERY == 0 and record.proves_no_minimum(k, A):
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
        """Keep the pair if J has positive curvature along it: R⁻¹ and YᵗB₀Y, oldest first, grow by a column."""
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
        return State(state.A, found, decrement, factors=state.factors, drift=state.drift), P

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
        near = loose_gap(self.exact, state.found) <= SEEMS * target
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
        return k >= self.due and loose_gap(self.objective, state.found) <= SEEMS * target

    def tried(self, k: int, state: State, target: float) -> State:
        """The state with its gap, where one is due: of competing classes it costs a pass or two, in each of which a gap
        falls by a third.
        """
        if k < self.due and state.decrement**2 > LEAST_DECREMENT * target:
            return state
        gap = self.gap(state, target)
        self.learn(state, gap)
        if self.objective.criterion.coupled and target < gap < np.inf:
            self.due = k + min(math.ceil(2 * math.log(gap / target)), 4)
        return replace(state, gap=state.found.value - self.floor)

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
        if gap > target and loose_gap(objective, found) <= most * target:
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
        self.loose.append(loose_gap(objective, state.found))
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
