"""Minimise J over all columns by working on few of them, and prove the gap over all.

The working set is the support and the worst violators of the conditions of a minimum, from FIRST on, doubling.  Slopes
R = −Xᵗ s v of the other columns are linear in v: passes over X at v₁, …, v_k give them at all points of their span, and

    |R_j(v) − Σ c_i R_j(v_i)| ≤ ‖x_j‖_s ‖v − Σ c_i v_i‖_s,        Σ c_i = 1,

with the c that bring the span nearest to v.  Columns whose slopes that bound keeps below l₁ are safely screened: they
need no look.  Along a path of λ the slopes go on nearly straight, so that what is left is of second order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from discriminant.criteria import Logistic, SquaredHinge
from discriminant.data import single_threaded_blas
from discriminant.data.working_columns import AllColumns
from discriminant.kernels.compiled import load
from discriminant.optimize.progress import stepped
from discriminant.optimize.row_loss import RowLoss
from discriminant.optimize.set_solver import SetSolver, State
from discriminant.penalties.separable import SeparablePenalty
from discriminant.protocols import Array
from discriminant.thresholds import COPIED_VALUES, MOST_CHOLESKY, MOST_GRAM, SPARSE_GRAM, WHOLE_SET_WORK

MOST_ROUNDS = 200  # a guard against a loop, not a setting
FIRST = 50  # groups in the first working set
SHARE = 0.1  # of the gap over all columns that may be left on the working set before others are looked at
MARGIN = 0.5  # of the fall of λ: slopes so near to their l₁ are taken for likely to reach it
PASSES = 4  # that the span is made of
MOST_WEIGHT = 10.0  # Σ|c| beyond which rounding in the passes is no longer nothing


class Screening:
    """What the last passes over all columns saw."""

    def __init__(self, source: AllColumns, s: Array, intercept: bool) -> None:
        self.source, self.s, self.intercept = source, s, intercept
        self.passes = 0.0
        self.seen: list[tuple[Array, Array]] = []  # (v, R)
        self._norms: Array | None = None

    @property
    def norms(self) -> Array:
        if self._norms is None:
            self._norms = self.source.norms(self.s, centred=self.intercept)
        return self._norms

    def slopes(self, v: Array) -> Array:
        """R at v (n, q), in a pass."""
        R = -self.source.adjoint(self.s[:, None] * v)
        self.passes += 1
        self.seen = [*self.seen[1 - PASSES :], (v.copy(), R)]
        return R

    def near(self, v: Array) -> tuple[Array, Array]:
        """(R where the span is nearest to v, how far that is in each output)."""
        last, R = self.seen[-1]
        rest = v - last
        if len(self.seen) > 1 and rest.any():
            steps = [(u - last, Q - R) for u, Q in self.seen[:-1]]
            dv = np.stack([step.ravel() for step, _ in steps])
            weighted = dv * np.repeat(self.s, v.shape[1])
            c = np.linalg.lstsq(weighted @ dv.T, weighted @ rest.ravel(), rcond=1e-12)[0]
            if np.abs(c).sum() < MOST_WEIGHT:
                rest = rest - (c @ dv).reshape(v.shape)
                for each, (_, dR) in zip(c, steps, strict=True):
                    R = R + each * dR
        return R, np.sqrt(np.maximum(self.s @ np.square(rest), 0))

    def violators(self, v: Array, penalty: SeparablePenalty, inside: Array) -> tuple[Array, Array]:
        """(groups outside the working set whose slopes could exceed l₁, those slopes)."""
        if not self.seen:
            self.slopes(v)
        for _ in range(2):
            R, far = self.near(v)
            most = penalty.arranged(np.abs(R) + self.norms[:, None] * far if far.any() else np.abs(R))
            over = (penalty.lengths(most) if penalty.joint else penalty.largest(most)) - penalty.l1
            over[inside] = -np.inf
            groups = np.flatnonzero(over > 0)
            features = penalty.features(groups)
            if len(groups) == 0 or not far.any():
                return groups, R[features]
            found = self.source.some_adjoint(features, self.s[:, None] * v)
            if found is not None:
                self.passes += len(features) / max(self.source.d, 1)
                return groups, -found
            self.slopes(v)
        raise AssertionError("a slope where it was looked at is exact")


@dataclass(frozen=True)
class Followed:
    """Answers along λ: weights (L, 1+d, q) in the user's units, intercepts at the centre; J, gaps and steps (L,)."""

    strengths: Array
    weights: Array
    J: Array
    gaps: Array  # proved: J − min J ≤ gap
    steps: Array
    passes: float
    largest: float  # λ_max
    records: list[tuple[float, ...]]  # (steps, J, gap, λ, passes) after each round, of one λ


@dataclass(frozen=True)
class ColumnProblem:
    """J over all columns: Σ s ℓ(t, z) + λ Ω(A)."""

    columns: AllColumns
    loss: RowLoss
    penalty: SeparablePenalty
    intercept: bool = True

    def follow(
        self,
        strengths: Array | Callable[[float], Array],
        tol: float,
        *,
        exact: bool = False,
        start: Array | None = None,
    ) -> Followed:
        """Minimise J at every λ, each from the last one, until its gap is ≤ tol·|J|; ``exact``: to the last digits.

        ``strengths``: the path, or what makes it from λ_max; ``start``: inner weights (1+d, q) that it begins at.
        """
        known = isinstance(self.loss.criterion, Logistic | SquaredHinge) and self.loss.q == 1
        if known and load() is not None and not self.columns.in_place(1):
            return self._compiled(strengths, tol, exact, start)
        with single_threaded_blas():
            return self._follow(strengths, tol, exact, start)

    def _follow(
        self, strengths: Array | Callable[[float], Array], tol: float, exact: bool, start: Array | None
    ) -> Followed:
        """The same by NumPy, for every criterion and number of outputs."""
        fit, q = WorkingSet(self.columns, self.loss, self.penalty, self.intercept), self.loss.q
        largest = fit.start()
        if start is not None and start.any():
            fit.move_to(start[1:], start[0])
        path = np.asarray(strengths(largest) if callable(strengths) else strengths, dtype=np.float64)
        weights = np.zeros((len(path), 1 + self.columns.d, q))  # zeros that are never written to take no memory
        numbers = np.empty((3, len(path)))
        previous, before = largest if len(path) > 1 else None, 0
        for i, strength in enumerate(path.tolist()):
            here = fit.solve(strength, tol, previous, exact=exact)
            fit.weights(weights[i])
            numbers[:, i] = here.J, here.gap, fit.set.steps - before
            previous, before = strength, fit.set.steps
            fit.records.append((fit.set.steps, here.J, here.gap, strength, fit.passes))
        return Followed(path, weights, numbers[0], numbers[1], numbers[2], fit.passes, largest, fit.records)

    def _compiled(
        self, strengths: Array | Callable[[float], Array], tol: float, exact: bool, start: Array | None
    ) -> Followed:
        """The same in C: ``kernels/c/sparse_path.c``."""
        source, loss, penalty, kernels = self.columns, self.loss, self.penalty, load()
        assert kernels is not None
        several = callable(strengths) or len(strengths) > 1
        held = source.held(COPIED_VALUES, several)
        n, d = (0, 0) if held else (source.n, source.d)
        v, R, features = np.empty((n, 1)), np.empty(d), np.empty(d, dtype=np.int64)

        def slopes() -> None:
            with single_threaded_blas():
                R[:] = source.adjoint(v)[:, 0]

        def gather(count: int) -> Array:
            return source.gathered(features[:count])

        norms = source.norms(loss.s, centred=self.intercept) if several and not held else None
        rows = (None if part is None else np.ascontiguousarray(part) for part in (loss.t, loss.s, loss.offset))
        order, starts = penalty.order.astype(np.int64), penalty.starts.astype(np.int64)
        levels = (penalty.l1, penalty.l2, penalty.lower, penalty.upper, order, starts, norms, source.unit)
        margin = loss.criterion.margin if isinstance(loss.criterion, SquaredHinge) else 0.0
        records = np.empty((MOST_ROUNDS + 1, 5))
        arguments = (
            held,
            (slopes, gather, v, R, features),
            tuple(rows),
            levels,
            (loss.criterion.kind, self.intercept, exact),
            (margin, tol),
            (SPARSE_GRAM, MOST_GRAM, MOST_CHOLESKY),
        )
        begin = None if start is None else (np.ascontiguousarray(start[1:, 0]), np.ascontiguousarray(start[:1, 0]))

        def run(path: Array, begin: tuple[Array, Array] | None = None) -> tuple[float, float, int, Array, Array]:
            weights, numbers = np.zeros((len(path), 1 + source.d, 1)), np.empty((3, len(path)))
            found = kernels.solve_path(*arguments, path, begin, (weights, numbers, records))
            return *found, weights, numbers

        path = np.asarray(strengths(run(np.empty(0))[0]) if callable(strengths) else strengths, dtype=np.float64)
        path = np.ascontiguousarray(path)
        largest, passes, rounds, weights, numbers = run(path, begin)
        if begin is not None and (numbers[1] > tol * np.abs(numbers[0])).any():
            # Once more from zero: where a start lies far on the wrong side of many rows there is no curvature left.
            before, (largest, passes, rounds, weights, numbers) = (weights, numbers), run(path)
            worse = numbers[1] > before[1][1]
            weights[worse], numbers[:, worse] = before[0][worse], before[1][:, worse]
        found = [tuple(record) for record in records[:rounds].tolist()]
        if len(path):
            found.append((numbers[2].sum(), numbers[0, -1], numbers[1, -1], path[-1], passes))
        return Followed(path, weights, numbers[0], numbers[1], numbers[2], passes, largest, found)


class WorkingSet:
    """A fit of J at one λ or at many, each begun where the last one ended."""

    def __init__(self, source: AllColumns, loss: RowLoss, penalty: SeparablePenalty, intercept: bool = True) -> None:
        self.source, self.loss, self.penalty = source, loss, penalty
        self.set = SetSolver(source.working_set(loss.q), loss, penalty, intercept)
        self.screening = Screening(source, loss.s, intercept)
        self.records: list[tuple[float, ...]] = []  # (steps, J, gap, λ, passes) after each round
        self._trail: list[tuple[float, Array, Array]] = []  # (λ, weights, intercepts) of the last two answers

    @property
    def passes(self) -> float:
        """Over all columns."""
        return self.screening.passes

    @property
    def _whole(self) -> bool:
        """Whether all columns are in the working set."""
        return len(self.set.groups) == self.penalty.n_groups

    def start(self) -> float:
        """Fit what is not penalised at all, and give λ_max: the least λ at which nothing else enters."""
        free = np.flatnonzero(self.penalty.free)
        self.set.enter(free)
        self.set.settle()
        if len(free):
            self.set.minimize(1.0, 1e-10)
        n, d = self.source.n, self.source.d
        if d <= n and n * d**2 <= WHOLE_SET_WORK:
            self.set.enter(np.arange(self.penalty.n_groups))
            R = np.empty((d, self.loss.q))
            R[self.set.columns.features] = self.set.evaluate(1.0).R_dual
            self.screening.passes += 1
        else:
            R = self.screening.slopes(self.set.evaluate(1.0).dual)
        with np.errstate(divide="ignore", invalid="ignore"):
            pull = self.penalty.violation(self.penalty.arranged(R)) + self.penalty.l1
            ratio = np.where(self.penalty.l1 > 0, pull / self.penalty.l1, 0.0)
        return float(ratio.max(initial=0.0))

    def move_to(self, weights: Array, intercepts: Array) -> None:
        """Stand at inner weights (d, q) and intercepts (q,)."""
        position = np.empty(len(weights), dtype=np.intp)
        position[self.penalty.order] = np.repeat(np.arange(self.penalty.n_groups), self.penalty.sizes)
        self.set.enter(np.unique(position[weights.any(axis=1)]))
        self.set.move_to(weights[self.set.columns.features].copy(), intercepts.copy())

    def solve(self, strength: float, tol: float, previous: float | None = None, *, exact: bool = False) -> State:
        """Minimise J at λ = strength until the gap over all columns is ≤ tol·|J|; ``exact``: to the last digits."""
        straight = self._go_on(strength)
        if self.screening.seen:
            self._enter_likely(strength, strength if previous is None else previous, straight)
        here = self._rounds(strength, tol, straight)
        if here.gap > tol * abs(here.J):
            here = self._anew(here, strength, tol)
        if exact:
            here, _ = self._check(self.set.finish(strength, tol), strength)
        J = self.set.settle() + self.set.picked.times(strength).value(self.set.A)
        self._trail = [*self._trail[-1:], (strength, self.set.A, self.set.b)]
        return replace(here, J=J, gap=max(here.gap - (here.J - J), 0.0))

    def _rounds(self, strength: float, tol: float, straight: bool) -> State:
        """Minimise over the working set and let in what must enter, until nothing must or the gap is small enough."""
        left, goal = np.inf, 0.5 * tol if self._whole else max(0.5 * tol, SHARE)
        for _ in range(MOST_ROUNDS):
            here, missing = self._check(self.set.minimize(strength, goal, least=int(straight)), strength)
            self.records.append((self.set.steps, here.J, here.gap, strength, self.passes))
            before, left = left, here.gap / max(abs(here.J), 1e-300)
            if stepped(self._here) or left <= tol or (len(missing) == 0 and (goal <= 0.5 * tol or left > 0.9 * before)):
                break
            self.set.enter(missing)
            goal, straight = max(0.5 * tol, SHARE * left), False
        return here

    def _anew(self, here: State, strength: float, tol: float) -> State:
        """Once more from zero weights: far on the wrong side of many rows there is no curvature left."""
        before = self.set.A, self.set.b, self.set.z
        self.set.move_to(np.zeros_like(self.set.A), np.zeros_like(self.set.b))
        self.set.settle()
        there = self._rounds(strength, tol, False)
        if there.J < here.J or there.gap < here.gap:
            return there
        inside = len(before[0])  # groups that entered since have weights of zero
        self.set.move_to(np.vstack([before[0], np.zeros((len(self.set.A) - inside, self.loss.q))]), before[1])
        return here

    def _check(self, here: State, strength: float) -> tuple[State, Array]:
        """(what is known, with the gap over all columns; the groups that must enter)."""
        none = np.empty(0, dtype=np.intp)
        if self._whole:
            return here, none
        groups, R = self.screening.violators(here.dual, self.penalty.times(strength), self.set.inside)
        outside = self.penalty.pick(groups).times(strength)
        violation = outside.violation(R)
        if not (violation > 0).any():  # the domain of Ω* is not left, and Ω* counts nothing
            return here, none
        inside = self.set.picked.times(strength)
        scale = min(inside.scale(here.R_dual), outside.scale(R))
        conjugates = inside.conjugate(scale * here.R_dual) + outside.conjugate(scale * R)
        bound = max(self.loss.dual(scale * here.dual) - conjugates, self.set.least)
        order = np.argsort(-violation)
        order = order[violation[order] > 0][: max(FIRST, len(self.set.groups))]
        return replace(here, gap=max(here.J - bound, 0.0)), groups[order]

    # Where a path leads

    def _go_on(self, strength: float) -> bool:
        """Begin where the last two answers lead: weights that are not zero go on nearly straight; whether they did."""
        if len(self._trail) < 2 or self._trail[1][1] is not self.set.A:
            return False
        (first, A_first, b_first), (last, A, b) = self._trail
        if not strength < last < first:
            return False
        known, t = A[: len(A_first)], (last - strength) / (first - last)
        D = (known - A_first) * t
        D[(A_first == 0) | (known == 0) | (np.sign(known + D) != np.sign(known))] = 0.0
        ahead = A.copy()
        ahead[: len(D)] += D
        penalty, z, change = self.set.picked.times(strength), self.set.z, (b - b_first) * t
        ahead = np.clip(ahead, penalty.lower[:, None], penalty.upper[:, None])
        moved = z + self.set.columns.dot(ahead - A) + change
        value, here = (self.loss.value_and_slope(scores)[0] for scores in (moved, z))
        if not value + penalty.value(ahead) <= here + penalty.value(A):
            return False
        self.set.A, self.set.b, self.set.z = ahead, b + change, moved
        return True

    def _enter_likely(self, strength: float, previous: float, straight: bool) -> None:
        """The strong rule: a slope can hardly have grown by more than its l₁ fell.

        Where the weights went ahead along the path, the slopes there are known but for a little.
        """
        if straight:
            R = self.screening.near(self.loss.value_and_slope(self.set.z)[1])[0]
            held = self.penalty.times(strength - MARGIN * max(previous - strength, 0.0))
        else:
            R = self.screening.seen[-1][1]
            held = self.penalty.times(max(2 * strength - previous, 0.5 * strength))
        likely = held.violation(self.penalty.arranged(R))
        likely[self.set.inside] = -np.inf
        chosen = np.flatnonzero(likely > 0)
        self.set.enter(chosen[np.argsort(-likely[chosen])[: max(FIRST, len(self.set.groups))]])

    # The answer

    def _here(self) -> Array:
        out = np.zeros((1 + self.source.d, self.loss.q))
        self.weights(out)
        return out

    def weights(self, out: Array) -> None:
        """Write the user's weights, the intercept at the centre, into zeros (1 + d, q).

        Softmax intercepts are centred, on whose sum nothing depends.
        """
        b, features = self.set.b, self.set.columns.features
        out[0] = b - (b.mean() if self.loss.q > 1 and self.set.intercept else 0.0)
        out[1 + features] = self.set.A / self.source.unit[features][:, None]
