"""Limited-memory quasi-Newton steps from a good preconditioner: a look a step, few steps.

    p = −B g,    B from P⁻¹ and the last pairs (ΔA, Δg) by the two-loop recursion,    A ← A + p

With P within some per cent of the Hessian the unit step is right, and the pairs take away what P got wrong.  The gap
is proved from the dual where there is a ridge; where that bound is loose (bad units, tiny ridge) or absent, one exact
Hessian proves it by self-concordance, and then also gives a full Newton step.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from discriminant.optimize.choose import FACTOR_COLUMNS
from discriminant.optimize.logistic.bounds import loose_gap, many_class_gap, two_class_dual_gap
from discriminant.optimize.logistic.looks import Look
from discriminant.optimize.logistic.newton import Point, Trace, ends_separated
from discriminant.optimize.logistic.problem import LogisticProblem
from discriminant.protocols import Array

Prover = Callable[[Array, Look, float, float], float]  # (A, look there, decrement, wanted gap) → proved gap
Renew = Callable[[Array, Look, float, float], Any]  # (A, look there, decrement, wanted gap) → another preconditioner

PAIRS = 20
MOST_STEPS = 2_000  # a guard against a loop, not a setting
SUFFICIENT = 1e-4
HOPELESS = 1e-6  # squared decrement, relative to the target, from which on no further step will make a proof succeed
UNSEEN = 0.25  # decrement beyond which no step is taken without a look at where it leads
NEAR = 1.0  # squared decrement, relative to the target, from which on K classes' looks carry what the dual needs


@dataclass
class Memory:
    """The pairs of a limited-memory quasi-Newton method, over a preconditioner."""

    preconditioner: Any
    scale: float = 1.0
    doubtful: bool = False  # a unit step went too far: let the last pair say how far P is off
    pairs: deque[tuple[Array, Array, float]] = field(default_factory=lambda: deque(maxlen=PAIRS))

    def direction(self, g: Array) -> Array:
        """−B g by the two-loop recursion."""
        g = g.copy()
        shares = []
        for s, y, rho in reversed(self.pairs):
            share = rho * float(np.vdot(s, g))
            g -= share * y
            shares.append(share)
        p = self.preconditioner.solve(g)
        if self.scale != 1.0:
            p *= self.scale
        for (s, y, rho), share in zip(self.pairs, reversed(shares), strict=True):
            p += (share - rho * float(np.vdot(y, p))) * s
        # No softmax depends on Σ_k A_k: no step is taken along it.
        return np.asarray(p.mean(axis=1, keepdims=True) - p if p.shape[1] > 1 else -p)

    def learn(self, s: Array, y: Array) -> None:
        """Keep a pair whose curvature is positive beyond rounding."""
        product = float(np.vdot(s, y))
        if product > 1e-14 * float(np.linalg.norm(s) * np.linalg.norm(y)):
            self.pairs.append((s, y, 1 / product))
            if self.doubtful:
                self.scale = product / float(np.vdot(y, self.preconditioner.solve(y)))


def quasi_newton(
    problem: LogisticProblem,
    A: Array,
    preconditioner: Any,
    trace: Trace,
    tol: float,
    *,
    rough: bool = False,
    unseen: float = 0.0,
    look: Look | None = None,
    prove: Prover | None = None,
    renew: Renew | None = None,
) -> Point:
    """Minimise J from inner A until its gap is proved ≤ tol·|J|; ``rough``: until it is estimated to be.

    ``unseen``: of a rough solve, what share of the squared decrement a unit step is trusted to leave; the last step is
    then taken without a look.  ``look``: what was seen at A already.  ``prove``: another bound of the gap, asked where
    the dual one is not enough.  ``renew``: asked at each step for a better preconditioner.
    """
    memory = Memory(preconditioner)
    many = problem.n_outputs > 1
    if look is None:
        look = problem.look(A, bend=not (rough or many or bounded(problem)))
        trace.passes += 1
    stuck, first = 0, abs(look.value)
    point = Point(A, look)
    for _ in range(MOST_STEPS):
        p = memory.direction(look.gradient)
        decrement = float(np.sqrt(max(-float(np.vdot(look.gradient, p)), 0.0)))
        trace.add(look.value, look.gradient, 1.0, decrement)
        target = tol * (first if rough else abs(look.value))
        gap = np.inf if rough else dual_gap(problem, A, look, target, trace)
        if prove is not None and gap > target:
            gap = min(gap, prove(A, look, decrement, target))
        point = Point(A, look, decrement, gap)
        if gap <= target or (rough and not unseen and decrement**2 <= 2 * target * min(memory.scale, 1.0)):
            return point
        if unseen and decrement <= UNSEEN and unseen * decrement**2 <= 2 * target:
            return replace(point, A=A + p)
        if ends_separated(problem, look):
            return replace(point, separated=True)
        if not rough and (prove is not None or problem.ridge == 0) and decrement**2 <= HOPELESS * target:
            return point
        alone = not (rough or many) and prove is None
        if alone and decrement**2 <= 0.2 * target and worth_a_hessian(problem, trace, gap, target):
            return point
        if renew is not None and (better := renew(A, look, decrement, target)) is not None:
            preconditioner, memory = better, Memory(better)
            p = memory.direction(look.gradient)
            decrement = float(np.sqrt(max(-float(np.vdot(look.gradient, p)), 0.0)))
            point = replace(point, decrement=decrement)
        near = decrement**2 <= NEAR * target if many else not bounded(problem)
        moved, A, look, P = advance(problem, point, p, trace, bend=near and not rough)
        if not moved:
            if stuck:
                return replace(point, stalled=True)
            stuck, memory = 1, Memory(preconditioner)  # once more without what the pairs say
            continue
        stuck = 0
        memory.doubtful |= P is not p
        memory.learn(P, look.gradient - point.look.gradient)
    return replace(point, stalled=True)


def advance(
    problem: LogisticProblem, point: Point, p: Array, trace: Trace, *, bend: bool
) -> tuple[bool, Array, Look, Array]:
    """The unit step where J falls enough; else a shorter one by interpolation."""
    value, slope = point.look.value, -(point.decrement**2)
    slack = 4e-16 * np.sqrt(problem.n_rows) * abs(value)
    step = 1.0
    for _ in range(25):
        A = point.A + step * p
        look = problem.look(A, bend=bend)
        trace.passes += 1
        if look.value <= value + SUFFICIENT * step * slope + slack:
            return True, A, look, p if step == 1.0 else step * p
        curved = 2 * (look.value - value - step * slope)
        better = -slope * step**2 / curved if np.isfinite(curved) and curved > 0 else 0.0
        step = float(np.clip(better, 0.1 * step, 0.5 * step))
    return False, point.A, point.look, p


def dual_gap(problem: LogisticProblem, A: Array, look: Look, target: float, trace: Trace) -> float:
    """The proved gap; for K classes it takes a look of its own, which is spent only where it will be enough."""
    if problem.n_outputs == 1:
        return two_class_gap(problem, A, look, target, trace)
    if problem.ridge == 0 or look.bend is None:
        return float("inf")
    if loose_gap(problem, look) > 0.9 * target:
        return float("inf")
    trace.passes += 1
    return many_class_gap(problem, A, look)


def two_class_gap(problem: LogisticProblem, A: Array, look: Look, target: float, trace: Trace) -> float:
    """The dual gap; of a look without ``bend`` (sparse rows) by a bound, and by a look with it where that pays."""
    gap = two_class_dual_gap(problem, look)
    if look.bend is None and gap > target and loose_gap(problem, look) <= 0.5 * target:
        trace.passes += 1
        return two_class_dual_gap(problem, problem.look(A, bend=True))
    return gap


def bounded(problem: LogisticProblem) -> bool:
    """Whether two classes' looks go without ``bend``, for which a bound will do."""
    return problem.sparse and problem.fused and problem.row_square < np.inf


def worth_a_hessian(problem: LogisticProblem, trace: Trace, gap: float, target: float) -> bool:
    """Whether an exact Hessian is cheaper than the looks that the dual bound still needs, judged by the rate so far."""
    if problem.n_features > FACTOR_COLUMNS:
        return False
    decrements = [record[4] for record in trace.records[-4:]]
    if problem.ridge == 0 or (len(decrements) > 2 and not np.isfinite(gap)):
        return True
    if len(decrements) < 2:
        return False
    rate = (decrements[-1] / max(decrements[0], 1e-300)) ** (2 / (len(decrements) - 1))
    if not 0 < rate < 1:
        return True
    looks = np.log(gap / target) / -np.log(rate)
    return bool(looks > hessian_in_looks(problem))


def hessian_in_looks(problem: LogisticProblem) -> float:
    """What an exact Hessian costs, in looks: about d/16 rank-k updates per output pair."""
    q = problem.n_outputs
    return 1 + problem.n_features / 16 * (q + 1) / 2
