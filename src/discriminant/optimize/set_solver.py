"""Proximal Newton steps over the columns of a working set, with the duality gap of every point.

    J(a₀, A) = Σ s ℓ(t, z) + λ Ω(A),        z = offset + a₀ + X A

*Step.*  Coordinate descent on the quadratic model of J (``kernels.coordinate``): on the weighted Gram matrix of the
working set where rows are many, along its columns where they are few.  Near the minimum the signs of the weights stand
still; then one Newton step on the weights that are not zero does what many sweeps would.

*Gap.*  The slopes v = ℓ'(z), moved so that Σ s v = 0 (the intercept is free), and R = −Xᵗ s v, both scaled by the
largest τ ≤ 1 that brings τR into the domain of Ω*, are a feasible point of the dual:

    J − min J ≤ J + Σ s ℓ*(τv) − τ Σ s v·offset + λΩ*(τR/λ).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discriminant.data.working_columns import BlockColumns, SparseColumns, WorkingColumns
from discriminant.kernels.conjugate import conjugate_gradients
from discriminant.kernels.coordinate import Model, Stop, descend
from discriminant.optimize.quadratic_model import (
    GramMatrix,
    OneOutput,
    SecantModel,
    Support,
    levels,
    positive_solve,
)
from discriminant.optimize.row_loss import RowLoss, solve_corner
from discriminant.penalties.separable import SeparablePenalty
from discriminant.protocols import Array
from discriminant.thresholds import ALL_DIGITS_TOL, GRAM_ROWS_PER_COLUMN, MOST_CHOLESKY, MOST_GRAM, SPARSE_GRAM

MOST_STEPS, PATIENCE = 1_000, 50  # guards against a loop, not settings: so many steps halve the gap, or are the last
NEAR = 0.1  # the gap, relative to J, below which Newton steps on the support are tried
SLOW = 0.7  # sweeps that leave more than this share of it: then, too
ROUGH = 0.3  # how far below the gap at hand the model's own slopes are brought
PROGRESS = 0.05  # of what the slopes are off that a step may leave; of classes 0.2 takes up to five times as long
STALE = 0.05  # a step on an old Gram matrix that leaves more than this share of the gap: it is formed anew
GRAM_SWEEPS, COLUMN_SWEEPS, LAST_SWEEPS = (10, 10), (2, 6), (50, 10)  # rounds, and sweeps over the support in each
EXACT = 1e-15  # of the least l₁: how still the slopes stand in the last steps of a fit
LAST_STEPS, SHORTEST = 6, 1e-9  # relative: Newton steps so short leave their square
CG_ROUGH, CG_EXACT = 1e-4, 1e-13  # of the right-hand side: what conjugate gradients leave on the way, and at the end


@dataclass(frozen=True)
class State:
    """What is known at a point, on the working set."""

    J: float
    gap: float
    left: float  # to gain: the gap, or what a model of classes promised last
    h: Array  # ℓ''
    g0: Array  # (q,) slopes by the intercepts
    corner: Array  # (q, q)
    R: Array  # (m, q): −Xᵗ s v after a Newton step of the intercepts
    v: Array  # (n, q): ℓ' there
    dual: Array  # (n, q): of the best bound that is known, feasible but for its scale
    R_dual: Array  # −Xᵗ s dual


class SetSolver:
    """J over a working set of groups of columns: weights A (m, q), intercepts b (q,), scores z (n, q)."""

    def __init__(self, columns: WorkingColumns, loss: RowLoss, penalty: SeparablePenalty, intercept: bool) -> None:
        self.columns, self.loss, self.intercept, self.everything = columns, loss, intercept, penalty
        self.groups = np.empty(0, dtype=np.intp)
        self.inside = np.zeros(penalty.n_groups, dtype=bool)
        self.picked = penalty.pick(self.groups)  # at λ = 1
        self.A, self.b = np.empty((0, loss.q)), np.zeros(loss.q)
        self.z = np.zeros_like(loss.t) if loss.offset is None else loss.offset.copy()
        self.steps = 0
        self._gram: GramMatrix | None = None
        self._fresh = False  # whether the Gram matrix is that of the point at hand
        self._signs = b""  # before the last sweeps
        self._slow = False  # whether these left most of the gap
        self._failed_signs = b""  # the signs at which a Newton step on the support led nowhere
        self.least = loss.dual(np.zeros_like(loss.t))  # the dual at v = 0
        self._secant = SecantModel(loss, intercept, columns)
        self._loss_of_bound = 30.0  # the last gap that a model of classes proved, over what its step promised; a guess

    def enter(self, groups: Array) -> None:
        """Take these groups in, with weights zero."""
        groups = np.asarray(groups)[~self.inside[groups]]
        if len(groups) == 0:
            return
        features = self.everything.features(groups)
        self.columns.extend(features)
        self.groups = np.concatenate([self.groups, groups])
        self.inside[groups] = True
        self.picked = self.everything.pick(self.groups)
        self.A = np.vstack([self.A, np.zeros((len(features), self.loss.q))])

    def move_to(self, A: Array, b: Array) -> None:
        """Stand at these weights of the working set."""
        self.A, self.b = A, b
        self._gram, self._slow, self._tired, self._failed_signs = None, False, False, b""
        self.z = self.columns.dot(A) + b
        if self.loss.offset is not None:
            self.z += self.loss.offset

    # Where we stand

    def evaluate(self, strength: float, known: tuple[float, Array] | None = None, before: State | None = None) -> State:
        """J, slopes and gap at λ = strength; ``known``: (Σ s ℓ, ℓ') where they are; ``before``: whose bound is kept."""
        loss, penalty = self.loss, self.picked.times(strength)
        value, v = loss.value_and_slope(self.z) if known is None else known
        h = loss.curvature(self.z, v)
        corner, g0 = loss.corner(h), np.zeros(loss.q)
        if self.intercept:
            g0 = loss.s @ v
            v = v - loss.product(h, solve_corner(corner, g0))
        R = -self._adjoint(v)
        J = value + penalty.value(self.A)
        if before is None:
            bound, dual, R_dual = self._bound(v, h, R, penalty)
        else:
            bound, dual, R_dual = before.J - before.gap, before.dual, before.R_dual
        gap = max(J - max(bound, self.least), 0.0)
        return State(J, gap, gap, h, g0, corner, R, v, dual, R_dual)

    def _bound(self, v: Array, h: Array, R: Array, penalty: SeparablePenalty) -> tuple[float, Array, Array]:
        """(the bound of min J that slopes v give, R = −Xᵗ s v; the point of the dual, but for its scale; its R)."""
        dual, R_dual = self._without_free(v, h, R)
        scale = penalty.scale(R_dual)
        return self.loss.dual(scale * dual) - penalty.conjugate(scale * R_dual), dual, R_dual

    def _adjoint(self, v: Array) -> Array:
        if len(self.A) == 0:
            return np.empty((0, self.loss.q))
        return self.columns.adjoint(self.loss.s[:, None] * v)

    def _without_free(self, v: Array, h: Array, R: Array) -> tuple[Array, Array]:
        """The slopes, moved so that weights without a penalty have R = 0, and their R."""
        penalty = self.picked
        free = penalty.each((penalty.l1 == 0) & (penalty.l2 == 0))[:, 0]
        free = free & ((penalty.lower[:, None] < self.A) & (penalty.upper[:, None] > self.A)).all(axis=1)
        if not free.any():
            return v, R
        Y = self.columns.dot(np.eye(len(free))[:, free])
        norms = np.sqrt(self.loss.s @ np.square(Y))
        Y = Y / np.where(norms > 0, norms, 1.0)
        v = self.loss.balanced(v, h, np.hstack([np.ones((len(Y), 1)), Y]) if self.intercept else Y)
        R = -self._adjoint(v)
        if not (np.abs(R[free]) <= 1e-9 * norms[:, None]).all():
            return np.zeros_like(v), np.zeros_like(R)  # collinear beyond what can be undone: the dual at zero
        R[free] = 0.0
        return v, R

    def settle(self) -> float:
        """Move the intercepts to where their slopes are nothing; hands back Σ s ℓ there."""
        value, v = self.loss.value_and_slope(self.z)
        size = np.inf
        for _ in range(60 if self.intercept else 0):
            g = self.loss.s @ v
            size, last = float(np.abs(g).max()), size
            if size <= 1e-15 or (size <= 1e-12 and size > 0.5 * last):
                break
            # Far from the minimum a Newton step overshoots; the logistic's own scale limits it.
            step = np.clip(solve_corner(self.loss.corner(self.loss.curvature(self.z, v)), g), -2.0, 2.0)
            self.b, self.z = self.b - step, self.z - step
            value, v = self.loss.value_and_slope(self.z)
        return value

    # One λ

    def minimize(self, strength: float, tol: float, least: int = 0) -> State:
        """Minimise J until the gap is ≤ tol·|J|, in ``least`` steps at least."""
        here = self.evaluate(strength)
        stuck, patience = 0, here.left
        for step in range(MOST_STEPS):
            if len(self.A) == 0 or (here.gap <= tol * abs(here.J) and step >= least):
                break
            if step % PATIENCE == PATIENCE - 1:  # weights without a penalty may be on their way to infinity
                if here.left > 0.5 * patience:
                    break
                patience = here.left
            there = self._step(here, strength, tol)
            if there is None:
                if self._gram is None or self._fresh:
                    break
                self._gram = None
                continue
            self._slow = there.gap > SLOW * here.gap
            stuck = stuck + 1 if there.J >= here.J * (1 - 1e-15) and there.left > 0.7 * here.left else 0
            here = there
            if stuck >= 4:
                break
        return self._proved(here, strength, tol)

    def _proved(self, here: State, strength: float, tol: float) -> State:
        """Here, with the bound that its own slopes give where steps took none and there is no better."""
        if self.loss.q == 1 or here.gap <= tol * abs(here.J):
            return here
        there = self.evaluate(strength)
        return there if there.gap < here.gap else here

    def finish(self, strength: float, tol: float) -> State:
        """Steps for the last digits: until the weights stand still, of which the gap, of second order, says little."""
        here, classes = self.evaluate(strength), self.loss.q > 1
        shortest = 0.1 * tol if tol > ALL_DIGITS_TOL else 1e-12 if classes else SHORTEST
        for _ in range((10 * LAST_STEPS if classes else LAST_STEPS) if len(self.A) else 0):
            before, self._gram, self._failed_signs = (self.A, self.b, self.z), None, b""
            there = self._step(here, strength, 0.0)
            if there is None or there.gap > 2 * here.gap + 1e-14:  # the dual is known to 1e-16
                self.A, self.b, self.z = before
                break
            here = there
            if np.abs(self.A - before[0]).max() <= shortest * np.abs(self.A).max():
                break
        return here

    def _step(self, here: State, strength: float, tol: float) -> State | None:
        """One step that gets J down; None where there is none."""
        self.steps += 1
        penalty = self.picked.times(strength)
        if self.loss.q > 1:
            return self._class_step(here, strength, penalty, tol)
        if self._by_gram:
            return self._search(here, strength, penalty, self._gram_step(here, penalty, tol))
        signs = np.sign(self.A).astype(np.int8).tobytes()
        stable, self._signs = signs == self._signs, signs
        if signs != self._failed_signs and (self._slow or (stable and here.gap <= NEAR * abs(here.J))):
            there = self._search(
                here, strength, penalty, self._support_step(here, penalty, CG_EXACT if tol == 0 else CG_ROUGH)
            )
            if there is None or there.gap > 0.5 * here.gap:
                self._failed_signs = signs
            if there is not None:
                return there
        return self._search(here, strength, penalty, self._column_step(here, penalty, tol))

    @property
    def _by_gram(self) -> bool:
        size = len(self.A) * self.loss.q
        if isinstance(self.columns, BlockColumns) or not self.everything.single:
            return True
        if isinstance(self.columns, SparseColumns):
            return size <= SPARSE_GRAM
        return size <= MOST_GRAM and self.loss.t.shape[0] >= GRAM_ROWS_PER_COLUMN * size

    def _still(self, here: State, penalty: SeparablePenalty, tol: float) -> float:
        """How much the model's slopes may be off: the gap is of first order in what R exceeds the least l₁ by.

        And a part of what they are off now, where weights without a kink leave no other measure.
        """
        kinked = penalty.l1[penalty.l1 > 0]
        least = float(kinked.min()) if len(kinked) else 1.0
        if tol == 0 and self.loss.q == 1:
            return EXACT * least
        G, support = self._gradient(here, penalty), Support(self.A, penalty)
        held = penalty.each(penalty.lengths(G)) if penalty.joint else np.abs(G)
        off = np.where(support.live, np.abs(G + support.slope), np.maximum(held - penalty.each(penalty.l1), 0.0))
        # The model of classes is not exact, and what its slopes are off says little of the gap.
        rough = np.inf if self.loss.q > 1 else ROUGH * max(here.gap / max(abs(here.J), 1e-300), tol) * least
        return max(min(rough, PROGRESS * float(off.max())), EXACT * least)

    # Where the model leads: each hands back weights (m, q)

    def _gram_step(self, here: State, penalty: SeparablePenalty, tol: float) -> Array:
        fresh = self._gram is None
        gram = self._gram = GramMatrix(self.loss, here.h) if self._gram is None else self._gram
        gram.extend(self.columns)
        self._fresh = fresh
        A, G = self.A.copy(), self._gradient(here, penalty)
        model = OneOutput.of(gram.matrix(penalty, self.intercept), penalty)
        model.minimize(A, G, Stop(self._still(here, penalty, tol), *GRAM_SWEEPS))
        return A

    def _class_step(self, here: State, strength: float, penalty: SeparablePenalty, tol: float) -> State | None:
        """A step of classes that compete; where their model promises little, its slopes are tried as a bound."""
        secant, loss, before = self._secant, self.loss, self.A
        secant.extend(here.corner)
        model = secant.at(here.corner, penalty)
        A, G = before.copy(), self._gradient(here, penalty)
        model.minimize(A, G.copy(), Stop(self._still(here, penalty, tol), *GRAM_SWEEPS))
        there, D = self._search(here, strength, penalty, A), A - before
        if there is None:
            if not secant.pairs:
                return None
            secant.pairs = []
            return self._class_step(here, strength, penalty, tol)
        promised = penalty.kinks(before) - penalty.kinks(A) - float((G * D).sum())
        there = replace(there, left=promised)
        if promised * self._loss_of_bound <= tol * abs(here.J) < there.gap or tol == 0:
            u = secant.rows(D, model.model)
            p = loss.t + (there.v if u is None else here.v + u)
            p = np.maximum(p, 0.0, out=p)
            p /= p.sum(axis=1, keepdims=True)
            v = p - loss.t
            if self.intercept:
                v -= loss.product(p, solve_corner(loss.corner(p), loss.s @ v))
            bound, dual, R_dual = self._bound(v, p, -self._adjoint(v), penalty)
            self._loss_of_bound = max((here.J - bound) / max(promised, 1e-300), 1.0)
            if there.J - bound < there.gap:
                there = replace(there, gap=max(there.J - bound, 0.0), dual=dual, R_dual=R_dual)
        secant.learn(self.A - before, here.R - there.R, there.v - here.v)
        return there

    def _column_step(self, here: State, penalty: SeparablePenalty, tol: float) -> Array:
        assert not isinstance(self.columns, BlockColumns)
        A, w, l2 = self.A.copy(), self.loss.s * here.h[:, 0], penalty.each(penalty.l2)
        square, mean, none, mass = self.columns.squares(w), np.zeros(len(A)), np.empty((len(A), 0)), float(w.sum())
        if self.intercept and mass > 0:
            mean = self.columns.adjoint(w[:, None])[:, 0] / np.sqrt(mass)
        square = np.maximum(square - np.square(mean), 1e-14 * square)
        parts = (self.columns.raw, None, w, mean, square, np.ones((1, 1)), none, none, square[:, None] + l2, l2.ravel())
        stop = Stop(self._still(here, penalty, tol), *(COLUMN_SWEEPS if tol else LAST_SWEEPS))
        descend(Model(*parts, np.empty(0)), A, self._gradient(here, penalty), *levels(penalty), stop)
        return A

    def _support_step(self, here: State, penalty: SeparablePenalty, share: float) -> Array:
        """Newton's step on the weights that are not zero, signs held: those that would change theirs become zero."""
        assert not isinstance(self.columns, BlockColumns)
        support = Support(self.A, penalty)
        used = np.flatnonzero(support.live.any(axis=1))
        if len(used) == 0:
            return self.A
        slope = (self._gradient(here, penalty) + support.slope)[used]
        columns, live, loss = self.columns.pick(used), support.live[used], self.loss
        s, l2 = loss.s[:, None], penalty.each(penalty.l2)[used]

        def product(D: Array) -> Array:
            E = columns.dot(D)
            if self.intercept:
                E = E - solve_corner(here.corner, s[:, 0] @ loss.product(here.h, E))
            return np.where(
                live, columns.adjoint(s * loss.product(here.h, E)) + l2 * D + support.curvature(D, used), 0.0
            )

        if not penalty.joint and live.size <= MOST_CHOLESKY:
            gram, S = GramMatrix(loss, here.h), np.flatnonzero(live.ravel())
            gram.extend(columns)
            H = gram.matrix(penalty.pick(used), self.intercept)
            D = np.zeros(live.shape)
            D[live] = -positive_solve(H[np.ix_(S, S)], slope[live])
        else:
            D = conjugate_gradients(product, np.where(live, -slope, 0.0), share)
        A = self.A.copy()
        A[used] = support.moved(A[used], D, used)
        return A

    def _gradient(self, here: State, penalty: SeparablePenalty) -> Array:
        """Of the smooth part, the intercepts following."""
        return np.asarray(penalty.each(penalty.l2) * self.A - here.R)

    def _search(self, here: State, strength: float, penalty: SeparablePenalty, A: Array) -> State | None:
        """The step to A, or a shorter one, that gets J down by its share of what the model promises."""
        old, D = (self.A, self.b, self.z), A - self.A
        if not D.any():
            return None
        loss = self.loss
        E = self.columns.dot(D)
        b = np.zeros(loss.q)
        if self.intercept:
            b = -solve_corner(here.corner, here.g0 + loss.s @ loss.product(here.h, E))
            E = E + b
        model = float((self._gradient(here, penalty) * D).sum()) + penalty.kinks(A) - penalty.kinks(self.A)
        promised = max(-model, 0.0)
        # So near to the end the rounding of J decides nothing.
        slack = 1e-13 * abs(here.J) + 1e-14 if min(here.gap, promised) <= 1e-9 * abs(here.J) else 1e-15 * abs(here.J)
        for t in 0.5 ** np.arange(10):
            self.A = A if t == 1 else old[0] + t * D
            self.b, self.z = old[1] + t * b, old[2] + t * E
            value, v = loss.value_and_slope(self.z)
            J = value + penalty.value(self.A)
            if here.J - 1e-4 * t * promised + slack >= J:
                there = self.evaluate(strength, (value, v), here if loss.q > 1 else None)
                if self._gram is not None and there.gap > self._stale * here.gap:
                    self._gram = None
                return there
            if self._gram is not None and not self._fresh and t == 0.5:
                break
        self.A, self.b, self.z = old
        return None

    @property
    def _stale(self) -> float:
        """A new Gram matrix costs about m/4 steps: with many columns even slow steps are cheaper."""
        return min(STALE * max(1.0, len(self.A) / 100), 0.6)
