"""Sparse logistic regression at one λ, or at many with warm starts: proximal Newton steps on a working set of units.

    J(a₀, A) = Σ s ℓ(t, z) + λ Ω(A),        z = offset + a₀ + X A

*Gap.*  From the slopes v with Σ s v = 0 (the intercept is free) and R = −Xᵗ s v, scaled by τ into the domain of Ω*,

    J − min J ≤ J + Σ s ℓ*(τv) − τ Σ s v·offset + Ω*(τR).

*Screening.*  Units whose slopes R earlier looks prove to be below their level need no look at their columns
(``outside``); the others are looked at, and enter the working set where they must.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from discriminant.kernels.compile import can_compile
from discriminant.optimize.sparse.along import LEAST_AIM, Direction, along_columns, straight_on
from discriminant.optimize.sparse.columns import Gathered, GatheredSparse, Source, WorkingColumns, working_columns
from discriminant.optimize.sparse.inner import COMPILE_VISITS, Quadratic, Tally
from discriminant.optimize.sparse.levels import Levels
from discriminant.optimize.sparse.losses import Losses
from discriminant.optimize.sparse.metric import MOST_JOINT, Metric
from discriminant.optimize.sparse.outside import Outside
from discriminant.protocols import Array

MOST_STEPS = 2_000  # a guard against a loop, not a setting
FIRST_UNITS = 100
COMPILE_VALUES = 4_000_000  # values of X from which a compiler is loaded at once
SPARSE_FROM = 200  # sparse columns from which their Gram matrix is not worth its cost
MARGIN = 0.5  # of the fall of λ: slopes so near to the level are taken for likely to reach it
STALE = 0.05  # a step on old curvature that leaves more than this share of the gap: take the curvature anew


@dataclass(frozen=True)
class Standing:
    """What is known where the solver stands, on its working set."""

    p: Array
    R: Array  # −X_Wᵗ s (p − t)
    J: float
    v: Array  # the dual point: p − t, shifted where units are free
    R_dual: Array  # −X_Wᵗ s v
    gap: float


@dataclass
class SparseSolver:
    """The state of a fit: working set, weights (m, q), intercepts (q,), scores (n, q)."""

    source: Source
    losses: Losses
    levels: Levels  # at λ = 1
    intercept: bool = True
    columns: WorkingColumns = field(init=False)
    units: Array = field(init=False)  # the working set
    A: Array = field(init=False)
    b: Array = field(init=False)
    z: Array = field(init=False)
    steps: int = 0

    def __post_init__(self) -> None:
        q = self.losses.q
        self.columns = working_columns(self.source)
        self.units, self._inside = np.empty(0, dtype=np.intp), np.zeros(self.levels.n_units, dtype=bool)
        self.A, self.b = np.empty((0, q)), np.zeros(q)
        self.z = np.zeros_like(self.losses.t) if self.losses.offset is None else self.losses.offset.copy()
        self._metric = Metric(self.losses, self.intercept)
        self._tally = Tally(COMPILE_VISITS if self.source.problem.values >= COMPILE_VALUES else 0)
        self._fresh = False
        self._wanted = 0.0  # the gap, relative to J
        self._trail: list[tuple[float, Array]] = []  # (λ, weights) of the last two answers
        self._outside = Outside(self.source, self.losses, self.intercept)
        self._picked: Levels | None = None
        self._known: tuple[Array, tuple[Array, Array, float]] | None = None  # (scores, what was found there)

    @property
    def passes(self) -> float:
        """Looks at all features."""
        return self._outside.passes

    # The working set

    def enter(self, units: Array) -> None:
        """Take these units into the working set, with weights zero."""
        units = np.asarray(units)[~self._inside[units]]
        if len(units) == 0:
            return
        features = self.levels.features(units)
        self.columns.extend(features)
        self.units = np.concatenate([self.units, units])
        self._inside[units] = True
        self._picked = None
        self.A = np.vstack([self.A, np.zeros((len(features), self.losses.q))])

    def picked(self) -> Levels:
        if self._picked is None:
            self._picked = self.levels.pick(self.units)
        return self._picked

    def start(self) -> float:
        """Fit what is not penalised at all, and tell λ_max: the least λ at which nothing else enters."""
        free = np.flatnonzero(self.levels.free)
        if isinstance(self.columns, Gathered) or self.source.problem.sparse:
            self.enter(free)
        else:
            self.enter(np.concatenate([free, np.flatnonzero(~self.levels.free)]))
        if len(free):
            self._solve_free(free)
        R = self._outside.look(self.stand(1.0).v)
        with np.errstate(divide="ignore", invalid="ignore"):
            pull = self.levels.violation(self.levels.arranged(R)) + self.levels.l1
            ratio = np.where(self.levels.l1 > 0, pull / self.levels.l1, 0.0)
        return float(ratio.max(initial=0.0))

    def _solve_free(self, free: Array) -> None:
        held = ~np.isin(np.arange(self.levels.n_units), free)
        levels, self._picked = self.levels, None
        huge = np.where(held, 1e300, levels.l1)
        self.levels = Levels(huge, levels.l2, levels.lower, levels.upper, levels.whole, levels.order, levels.starts)
        self.solve_set(1.0, 1e-10)
        self.levels, self._picked = levels, None

    def move_to(self, weights: Array, intercepts: Array) -> None:
        """Stand at inner weights (d, q) and intercepts (q,)."""
        used = weights.any(axis=1)
        position = np.empty(len(weights), dtype=np.intp)
        position[self.levels.order] = np.repeat(np.arange(self.levels.n_units), self.levels.sizes)
        self.enter(np.unique(position[used]))
        self.A = weights[self.columns.features].copy()
        self.b = intercepts.copy()
        self.z = self.columns.dot(self.A) + self.b
        if self.losses.offset is not None:
            self.z += self.losses.offset

    # Where we stand

    def stand(self, strength: float) -> Standing:
        """Losses, slopes and the gap on the working set at λ = strength; the intercept is settled first."""
        losses = self.losses
        p, v, loss = self._slopes()
        levels = self.picked().times(strength)
        R = -self.columns.adjoint(losses.s[:, None] * v) if len(self.units) else np.empty((0, losses.q))
        J = loss + levels.value(self.A)
        dual, R_dual = self._feasible(p, v, R)
        scale = levels.scale(R_dual)
        bound = losses.dual(dual, scale) - levels.conjugate(scale * R_dual)
        return Standing(p, R, J, dual, R_dual, max(J - bound, 0.0))

    def _slopes(self) -> tuple[Array, Array, float]:
        """(p, v, Σ s ℓ) at the scores, whose intercept is settled; what is known of them already is not asked again."""
        if self._known is None or self._known[0] is not self.z:
            if self.intercept:
                shift, p, v = self.losses.settle(self.z)
                self.b = self.b + shift
            else:
                p, v = self.losses.slope(self.z)
            self._known = (self.z, (p, v, self.losses.value(self.z)))
        return self._known[1]

    def _feasible(self, p: Array, v: Array, R: Array) -> tuple[Array, Array]:
        """The slopes, shifted so that units without a penalty have R = 0, and their R."""
        free = np.repeat(self.levels.free[self.units], self.levels.sizes[self.units])
        if not free.any():
            return v, R
        D = np.zeros((len(free), free.sum()))
        D[np.flatnonzero(free), np.arange(free.sum())] = 1.0
        Y = self.columns.dot(D)
        if self.intercept:
            Y = np.hstack([np.ones((len(Y), 1)), Y])
        v = self.losses.project(p, v, Y)
        R = -self.columns.adjoint(self.losses.s[:, None] * v)
        return v, R

    # One λ

    def solve(self, strength: float, tol: float, previous: float | None = None) -> tuple[float, float]:
        """Minimise J at λ = strength until the gap over all units is ≤ tol·|J|; hands back (J, gap)."""
        straight = self._go_on(strength)
        if self._outside.looks:
            self._enter_likely(strength, strength if previous is None else previous, straight)
        for _ in range(MOST_STEPS):
            here = self.solve_set(strength, 0.5 * tol, least=int(straight))
            gap, missing = self._check_outside(here, strength)
            if gap <= tol * abs(here.J) or len(missing) == 0:
                break
            self.enter(missing)
            straight = False
        self._trail = [*self._trail[-1:], (strength, self.A)]
        return here.J, gap

    def _go_on(self, strength: float) -> bool:
        """Begin where the path leads; whether it was known."""
        if len(self._trail) < 2 or self._trail[1][1] is not self.A:
            return False
        before, self.A = self.A, straight_on(self._trail, strength, self.picked())
        self.z = self.z + self.columns.dot(self.A - before)
        return True

    def solve_set(self, strength: float, tol: float, least: int = 0) -> Standing:
        """Minimise J over the working set, in ``least`` steps at least: weights that went ahead are but a guess."""
        self._wanted = tol
        here = self.stand(strength)
        stuck = failed = 0
        for step in range(MOST_STEPS):
            if len(self.units) == 0 or (here.gap <= tol * abs(here.J) and step >= least):
                break
            there = self._step(here, strength)
            patience = 1 if self._metric.joint else 15  # a bound on the curvature needs many steps, each a good one
            if there is None:
                failed += 1
                if self._fresh and failed >= patience:
                    break
                self._refresh(here)
                continue
            failed = 0
            slow = there.gap > self._stale() * here.gap
            if not self._fresh and slow:
                self._refresh(there)
            else:
                self._fresh = False
            stuck = stuck + 1 if there.J >= here.J * (1 - 1e-15) and there.gap > 0.7 * here.gap else 0
            here = there
            if stuck >= 4 * patience:
                break
        return here

    def finish(self, strength: float, steps: int = 6) -> tuple[float, float]:
        """Exact steps on new curvature, for the last digits; hands back (J, gap)."""
        here = self.stand(strength)
        for _ in range(steps if len(self.units) else 0):
            self._refresh(here)
            before = self.A, self.b, self.z
            there = self._step(here, strength, exact=True)
            if there is None or there.gap > 2 * here.gap + 1e-14:  # the dual is known to 1e-16
                self.A, self.b, self.z = before
                break
            here = there
        here = self.stand(strength)
        return here.J, self._check_outside(here, strength)[0]

    def _stale(self) -> float:
        """New curvature costs about m/4 steps on m columns: with many columns even slow steps are cheaper."""
        return min(STALE * max(1.0, len(self.A) / 100), 0.6)

    def _refresh(self, here: Standing) -> None:
        self._fresh = True
        if self._by_columns:  # which always steps on the curvature at hand
            return
        joint = len(self.A) * self.losses.q <= MOST_JOINT or self.losses.q == 1 or not self.levels.single
        self._metric.refresh(self.columns, here.p, joint=joint)

    def _step(self, here: Standing, strength: float, *, exact: bool = False) -> Standing | None:
        """One proximal Newton step with a line search; None where it did not get J down."""
        self.steps += 1
        metric, levels = self._metric, self.picked().times(strength)
        g = levels.spread(levels.l2) * self.A - here.R
        if self._by_columns:
            self.columns.compiled = True  # type: ignore[union-attr]
            tol = LEAST_AIM if exact else self._wanted
            found = along_columns(self, here, levels, g, tol)
            return None if found is None else self._search(here, strength, found, exact)
        if metric.p is None or (metric.joint and self.losses.q > 1 and len(self.A) * self.losses.q > MOST_JOINT):
            self._refresh(here)
        metric.extend(self.columns)
        H = metric.matrix(levels)
        A = Quadratic(H, levels, self.losses.q, self._tally).solve(
            self.A, g, LEAST_AIM if exact else self._aim(here, levels, float(np.diagonal(H).max()))
        )
        D = A - self.A
        if not D.any():
            return None
        HD = H @ D if len(H) == len(D) else (H @ D.ravel()).reshape(D.shape)
        promised = -float((g * D).sum() + 0.5 * (D * HD).sum()) + self._kink(levels, self.A) - self._kink(levels, A)
        b = metric.intercept_step(D)
        return self._search(here, strength, Direction(A, b, self.columns.dot(D) + b, promised), exact)

    @property
    def _by_columns(self) -> bool:
        """Whether steps go along the columns of a sparse matrix: their Gram matrix would cost more than many sweeps."""
        plain = isinstance(self.columns, GatheredSparse) and self.losses.q == 1 and self.levels.single
        return plain and len(self.A) >= SPARSE_FROM and can_compile()

    def _search(self, here: Standing, strength: float, found: Direction, exact: bool) -> Standing | None:
        """The full step, or a shorter one, that gets J down by its share of what was promised."""
        metric, A, b, dz, promised = self._metric, found.A, found.b, found.dz, found.promised
        old = self.A, self.b, self.z
        D = A - self.A
        # So near to the end the rounding of J decides nothing.
        slack = 1e-13 * abs(here.J) + 1e-14 if exact else 1e-15 * abs(here.J)
        for t in 0.5 ** np.arange(8):
            self.A = A if t == 1 else old[0] + t * D
            self.b, self.z = old[1] + t * b, old[2] + t * dz
            there = self.stand(strength)
            if here.J - 1e-4 * t * max(promised, 0.0) + slack >= there.J:
                if not metric.joint:
                    # The bound holds where J falls by as much as the model promised; it may then be lowered.
                    kept = 0.9 * promised <= here.J - there.J
                    metric.factor = max(0.25, 0.9 * metric.factor) if kept else 1.5 * metric.factor
                return there
            if not self._fresh and t == 0.5:
                break
        self.A, self.b, self.z = old
        if not metric.joint:
            metric.factor *= 4
        return None

    @staticmethod
    def _aim(here: Standing, levels: Levels, largest: float) -> float:
        """How still the coordinates must stand: the gap is of first order in what R exceeds the least level by."""
        aim = 1e-3 * here.gap
        kinked = levels.l1[levels.l1 > 0]
        if len(kinked) and here.J > 0:
            aim = min(aim, (0.03 * here.gap / here.J * float(kinked.min())) ** 2 / largest)
        return max(aim, LEAST_AIM)

    @staticmethod
    def _kink(levels: Levels, A: Array) -> float:
        if levels.whole:
            return float(levels.l1 @ levels.lengths(A))
        return float((levels.spread(levels.l1) * np.abs(A)).sum())

    # The units outside

    def _enter_likely(self, strength: float, previous: float, straight: bool) -> None:
        """The strong rule: a slope can hardly have grown by more than the level fell.

        Where the weights went ahead along the path, the slopes there are known but for a little.
        """
        if straight and self._by_columns:
            R = self._outside.near(self._slopes()[1])[0]
            held = self.levels.times(strength - MARGIN * max(previous - strength, 0.0))
        else:
            R = self._outside.looks[-1][1]
            held = self.levels.times(max(2 * strength - previous, 0.5 * strength))
        likely = held.violation(self.levels.arranged(R))
        likely[self._inside] = -np.inf
        chosen = np.flatnonzero(likely > 0)
        most = max(FIRST_UNITS, len(self.units))
        if len(chosen) > most:
            chosen = chosen[np.argsort(-likely[chosen])[:most]]
        self.enter(chosen)

    def _check_outside(self, here: Standing, strength: float) -> tuple[float, Array]:
        """(the gap over all units, the units that must enter)."""
        if len(self.units) == self.levels.n_units:
            return here.gap, np.empty(0, dtype=np.intp)
        levels = self.levels.times(strength)
        inside, v, R_in = self.picked().times(strength), here.v, here.R_dual
        units, R = self._outside.suspects(v, levels, self._inside, self.columns)
        picked = levels.pick(units)
        violation = picked.violation(R)
        if not (violation > 0).any():  # the domain of Ω* is not left, and Ω* counts nothing
            return here.gap, np.empty(0, dtype=np.intp)
        scale = min(inside.scale(R_in), picked.scale(R))
        dual = self.losses.dual(v, scale) - inside.conjugate(scale * R_in) - picked.conjugate(scale * R)
        order = np.argsort(-violation)
        order = order[violation[order] > 0][: max(FIRST_UNITS, len(self.units))]
        return max(here.J - dual, 0.0), units[order]

    # The answer

    def weights(self, out: Array) -> None:
        """Write inner weights into zeros (1 + d, q); softmax intercepts are centred, on whose sum nothing depends."""
        out[0] = self.b - (self.b.mean() if self.losses.q > 1 and self.intercept else 0.0)
        out[1 + self.columns.features] = self.A
