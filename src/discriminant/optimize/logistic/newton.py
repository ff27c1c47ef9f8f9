"""Newton's method on all rows, with every digit that the data allow.

    p = −H⁻¹ g,    A ← A + s p,    s from {1, ½, ¼, …} in one look along the line

Where d is moderate each look brings the exact Hessian.  Convergence is quadratic and is not cut short: the last step is
a full one.  Unpenalised fits of separated classes have no minimum; the look says so (every row on its own side) and
the steps end there.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from discriminant.optimize.logistic.bounds import many_class_gap, self_concordant_gap, two_class_dual_gap
from discriminant.optimize.logistic.factor import Factor, make_factor
from discriminant.optimize.logistic.lengths import Longest, Most
from discriminant.optimize.logistic.looks import Look, ManyClass
from discriminant.optimize.logistic.problem import LogisticProblem
from discriminant.protocols import Array, Block

MOST_STEPS = 500  # far above what Newton's method with a line search needs; a guard against a loop, not a setting
ROOT_VALUES = 20_000_000  # up to this many multiplications a square root of H is factored where H has lost digits
CHORD = 1e-6
LONGEST = 8.0  # times a Newton step that the first one may be
RAREST = 1e-12
NEGLIGIBLE = 1e-13  # ν below which a step changes nothing that can be seen in J
ROUNDING = 1e-12  # relative gap that leaves nothing to be proved
SEPARATED_LOSS = 1e-6  # an unpenalised fit of separated classes ends when its mean loss is below this


@dataclass
class Trace:
    """One record a step: what ``history_`` shows."""

    records: list[tuple[float, ...]] = field(default_factory=list)
    passes: float = 0.0

    def add(self, value: float, gradient: Array, step: float, decrement: float) -> None:
        self.records.append((len(self.records), value, float(np.linalg.norm(gradient)), step, decrement, self.passes))


@dataclass(frozen=True)
class Point:
    """Where a solver stands: weights in inner coordinates and what is known there."""

    A: Array
    look: Look
    decrement: float = np.inf
    gap: float = np.inf  # proved
    factor: Factor | None = None
    separated: bool = False
    stalled: bool = False
    drift: float = 0.0  # how far, in the factor's metric, the weights have moved since the factor was made


def newton(problem: LogisticProblem, A: Array, trace: Trace, tol: float, *, to_the_end: bool = True) -> Point:
    """Minimise J from inner A: to the last digits, or until the gap is ≤ tol·|J|."""
    look = problem.look(A, hessian=True)
    trace.passes += 1
    previous, best, factor, drift, longer = np.inf, None, None, 0.0, False
    if frequent := at_frequencies(problem, A, look):
        A, look, longer = *frequent, True
    for _ in range(MOST_STEPS):
        drift = 0.0 if look.hessian is not None else drift + previous
        if look.hessian is not None:
            factor = make_factor(regular(problem, look), _root(problem, A))
        assert factor is not None
        g = look.gradient.T.ravel()
        p = -factor.solve_once(g)
        decrement = float(np.sqrt(max(-float(g @ p), 0.0)))
        step = min(1 / max(1 - decrement**2, 0.0001), LONGEST) if longer else 1.0
        trace.add(look.value, look.gradient, step, decrement)
        point = Point(A, look, decrement, factor=factor, drift=drift)
        if best is None or not decrement > best.decrement:
            best = point
        if ends_separated(problem, look):
            return replace(point, separated=True)
        size = np.sqrt(abs(look.value) + 1e-300)  # of J: where all losses are tiny, so is a decrement that still counts
        slow = decrement < 1e-6 * size and decrement > 0.3 * previous
        if slow or decrement <= NEGLIGIBLE * size:
            return proved(problem, best)
        if not to_the_end and decrement**2 <= tol * abs(look.value):
            point = proved(problem, point)
            if point.gap <= tol * abs(look.value):
                return point
        previous = decrement
        A, look, moved = _advance(problem, point, p.reshape(A.T.shape).T, step, trace)
        longer = False
        if not moved:
            return proved(problem, best)
    return replace(proved(problem, best), stalled=True)  # type: ignore[arg-type]


def at_frequencies(problem: LogisticProblem, A: Array, look: Look) -> tuple[Array, Look] | None:
    """From the look at A = 0 of two classes, without another: the intercept ln(t̄ / (1 − t̄)) and the look there.

    Every posterior is t̄ then, so that g = g₀ + (t̄ − ½) ȳ and the loss's H is 4 t̄(1 − t̄) H₀, with ȳ the mean row.
    The Newton step from there is the least-squares fit; with Gaussian classes ν² is its R², and 1/(1 − ν²) times
    the step leads to the weights of linear discriminant analysis, much nearer to the minimum.
    """
    H = look.hessian
    if H is None or problem.n_outputs > 1 or not problem.intercept or problem.offset is not None or A.any():
        return None
    share = 0.5 - float(look.gradient[0, 0])
    if not RAREST < share < 1 - RAREST:
        return None
    damping = np.diag(problem.damping[:, 0])
    loss = H - damping
    entropy = -share * np.log(share) - (1 - share) * np.log1p(-share)
    gradient = look.gradient + 4 * (share - 0.5) * loss[:, :1]
    gradient[0] = 0.0
    start = A.copy()
    start[0] = np.log(share / (1 - share))
    hessian = 4 * share * (1 - share) * loss + damping
    bend = None if look.bend is None else 4 * share * (1 - share) * look.bend
    return start, replace(look, value=float(entropy), gradient=gradient, hessian=hessian, bend=bend)


def _root(problem: LogisticProblem, A: Array) -> Any:
    q = problem.n_outputs
    if problem.n_rows * q * (q * (problem.n_features + 1)) ** 2 > 20 * ROOT_VALUES:
        return None

    def root() -> Array:
        F = problem.hessian_root(A)
        if q == 1:
            return F
        D = problem.n_features + 1
        return np.vstack([F, shift_rows(problem, np.sqrt(np.einsum("ij,ij->j", F, F)).reshape(q, D).max(axis=0))])

    return root


def shift_rows(problem: LogisticProblem, size: Array) -> Array:
    """Rows that give curvature to Σ_k A_k, on which no softmax depends: their step is zero then."""
    q = problem.n_outputs
    return np.asarray(np.tile(np.diag(size), q) / np.sqrt(q))


def regular(problem: LogisticProblem, look: Look) -> Array:
    """∇²J with curvature along Σ_k A_k, which softmax leaves free; no step is taken along it."""
    H = look.hessian
    assert H is not None
    q, D = problem.n_outputs, problem.n_features + 1
    if q == 1:
        return H
    size = np.diagonal(H).reshape(q, D).max(axis=0)
    view = H.copy().reshape(q, D, q, D)
    index = np.arange(D)
    view[:, index, :, index] += size[:, None, None] / q
    return view.reshape(q * D, q * D)


def _advance(problem: LogisticProblem, point: Point, P: Array, full: float, trace: Trace) -> tuple[Array, Look, bool]:
    """The full step where J falls enough; else the best of shorter ones, found in one look along the line."""
    slope = -(point.decrement**2)
    slack = 8e-16 * (abs(point.look.value) + 1e-300)
    A = point.A + full * P
    # So near to the minimum the Hessian at hand is right to six digits: a chord step is as good and much cheaper.
    exact = point.decrement > CHORD * np.sqrt(abs(point.look.value))
    look = problem.look(A, hessian=exact, bend=not exact)
    trace.passes += 1
    if look.value <= point.look.value + 1e-4 * full * slope + slack:
        return A, look, True
    steps = full * 0.5 ** np.arange(1, 40)
    values = problem.along(point.A, P, steps)
    trace.passes += 1
    good = values <= point.look.value + 1e-4 * steps * slope + slack
    if not good.any():
        return point.A, point.look, False
    step = steps[np.nanargmin(np.where(good, values, np.inf))]
    if step < 1e-9:
        return point.A, point.look, False
    A = point.A + step * P
    trace.passes += 1
    return A, problem.look(A, hessian=True), True


def ends_separated(problem: LogisticProblem, look: Look) -> bool:
    """Whether the rows are separated, so that J has no minimum, and J is as good as its infimum, zero."""
    return problem.ridge == 0 and look.margin > 0 and look.value < SEPARATED_LOSS


def proved(problem: LogisticProblem, point: Point) -> Point:
    """The point with its gap: dual where there is a ridge, self-concordance from the Hessian at hand."""
    gap = two_class_dual_gap(problem, point.look) if problem.n_outputs == 1 else np.inf
    enough = ROUNDING * abs(point.look.value)
    if point.factor is not None and np.isfinite(point.decrement):
        # A factor from before the last steps: along s the Hessian falls by e^{−R‖s‖} at most, scores moving by R‖s‖.
        R = reach(problem, point.factor)
        grown = float(np.exp(min(R * point.drift / 2, 300.0)))
        gap = min(gap, self_concordant_gap(point.decrement * grown, R * grown))
        if not gap <= enough and (moved := (R := row_reach(problem, point.A)) * point.drift) < 0.1:
            gap = min(gap, self_concordant_gap(point.decrement * float(np.exp(0.6 * moved)), R))
    if problem.n_outputs > 1 and not gap <= enough:
        gap = min(gap, many_class_gap(problem, point.A, point.look))
    return replace(point, gap=gap)


def reach(problem: LogisticProblem, factor: Factor) -> float:
    """A bound of R = max_i ‖y_i‖_{H⁻¹} from the longest row: ‖S y‖² times the trace of (S H S)⁻¹."""
    D, q = problem.n_features + 1, problem.n_outputs
    scale = factor.scale.reshape(q, D).max(axis=0)
    longest = float(problem.blocks.reduce(Longest(problem.rows, scale / problem.units[:, 0], problem.intercept)).most)
    return float(np.sqrt(longest * factor.root_norm() * (1 if q == 1 else 2)))


def row_reach(problem: LogisticProblem, A: Array) -> float:
    """Another bound of R, that collinear columns do not spoil: a row's own part of H alone bounds its length.

    s_i c_i (y_i·Δ)² ≤ ‖Δ‖²_H with c = σ(1 − σ); for K classes, whose scores differ by r, a variance of at least
    r² p_k p_l / (p_k + p_l) ≥ r² p_min / 2.
    """
    return float(np.sqrt(problem.total * problem.blocks.reduce(_Lightest(problem, A)).most))


@dataclass(frozen=True)
class _Lightest:
    """max_i 1 / (w_i c_i) over the rows of a block that have weight."""

    problem: LogisticProblem
    A: Array

    def __call__(self, block: Block) -> Most:
        problem = self.problem
        values = problem.rows.values(block)
        if problem.n_outputs > 1:
            p = ManyClass(self.A / problem.units, problem.rows).posteriors(block, values)[2]
            curve = 0.5 * p.min(axis=0)
        else:
            z = np.asarray(values @ (self.A[1:, 0] / problem.units[1:, 0])) + self.A[0, 0]
            shift = problem.rows.shift(block)
            tail = np.exp(-np.abs(z if shift is None else z + shift))
            curve = tail / np.square(1 + tail)
        if block.weight is not None:
            curve = (curve * block.weight)[np.asarray(block.weight) > 0]
        least = float(curve.min()) if len(curve) else 1.0
        return Most(1 / least if least > 0 else np.inf)
