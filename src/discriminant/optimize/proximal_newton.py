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

import itertools
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from discriminant.criteria import Pointwise
from discriminant.data.working_columns import BlockColumns, SparseColumns, WorkingColumns
from discriminant.kernels.coordinate import Stop, descend_columns, descend_gram, descend_groups, descend_softmax
from discriminant.penalties.separable import SeparablePenalty
from discriminant.protocols import Array
from discriminant.thresholds import GRAM_ROWS_PER_COLUMN, MOST_CHOLESKY, MOST_GRAM, SPARSE_GRAM

MOST_STEPS = 1_000  # a guard against a loop, not a setting
NEAR = 0.1  # the gap, relative to J, below which Newton steps on the support are tried
ROUGH = 0.3  # how far below the gap at hand the model's own slopes are brought
STALE = 0.05  # a step on an old Gram matrix that leaves more than this share of the gap: it is formed anew
GRAM_SWEEPS, COLUMN_SWEEPS = (10, 10), (2, 6)  # rounds, and sweeps over the support in each
EXACT = 1e-15  # of the least l₁: how still the slopes stand in the last steps of a fit
LAST_STEPS, STANDING = 6, 1e-12
CG_ROUGH, CG_EXACT = 1e-4, 1e-13  # of the right-hand side: what conjugate gradients leave


@dataclass(frozen=True)
class RowLoss:
    """Σ s ℓ(t, z): targets (n, q), weights s (n,) that sum to one, offsets (n, q) or None.

    What stands for ℓ'' is (n, 1) for one output, and the posteriors p (n, K) of diag(p) − ppᵗ for classes that compete.
    """

    criterion: Pointwise
    t: Array
    s: Array
    offset: Array | None = None

    @property
    def q(self) -> int:
        return int(self.t.shape[1])

    def value_and_slope(self, z: Array) -> tuple[float, Array]:
        """(Σ s ℓ, ℓ')."""
        value, v = self.criterion.value_and_gradient(self.t, z)
        return float(self.s @ value.sum(axis=1)), v

    def curvature(self, z: Array) -> Array:
        """ℓ''."""
        if self.q == 1:
            return self.criterion.curvature(self.t, z)
        return self.criterion.gradient(self.t, z) + self.t

    def product(self, h: Array, E: Array) -> Array:
        """ℓ'' E, row by row."""
        return np.asarray(h * E if self.q == 1 else h * (E - (h * E).sum(axis=1, keepdims=True)))

    def corner(self, h: Array) -> Array:
        """1ᵗ (s ℓ'') 1, (q, q): the curvature by the intercepts."""
        if self.q == 1:
            return np.array([[self.s @ h[:, 0]]])
        sp = self.s[:, None] * h
        return np.asarray(np.diag(sp.sum(axis=0)) - sp.T @ h)

    def balanced(self, v: Array, h: Array, Y: Array) -> Array:
        """v − ℓ'' Yδ with Yᵗ s v = 0: the slopes after a Newton step along the columns of Y (n, u)."""
        slope = Y.T @ (self.s[:, None] * v)
        u, q = Y.shape[1], self.q
        H = np.empty((u, q, u, q))
        for k in range(q):
            for j in range(q):
                each = self.s * (h[:, 0] if q == 1 else h[:, k] * (float(j == k) - h[:, j]))
                H[:, k, :, j] = Y.T @ (each[:, None] * Y)
        delta = np.linalg.lstsq(H.reshape(u * q, u * q), slope.ravel(), rcond=1e-13)[0].reshape(u, q)
        return np.asarray(v - self.product(h, Y @ delta))

    def dual(self, v: Array) -> float:
        """−Σ s ℓ*(v) + Σ s v·offset."""
        linear = 0.0 if self.offset is None else float(self.s @ (v * self.offset).sum(axis=1))
        each = self.criterion.conjugate(self.t, v).sum(axis=1)
        return linear - float(self.s @ np.where(self.s > 0, each, 0.0))  # rows that are held out may be anywhere


def solve_corner(corner: Array, g: Array) -> Array:
    """corner⁻¹ g; softmax intercepts have a direction that changes nothing."""
    if len(corner) == 1:
        return np.asarray(g / corner[0, 0] if corner[0, 0] > 0 else 0.0 * g)
    return np.asarray(np.linalg.pinv(corner, rcond=1e-13, hermitian=True) @ g)


@dataclass(frozen=True)
class State:
    """What is known at a point, on the working set."""

    J: float
    gap: float
    h: Array  # ℓ''
    g0: Array  # (q,) slopes by the intercepts
    corner: Array  # (q, q)
    R: Array  # (m, q): −Xᵗ s v after a Newton step of the intercepts
    dual: Array  # (n, q): v, feasible but for its scale
    R_dual: Array  # −Xᵗ s dual


@dataclass
class GramMatrix:
    """Xᵗ (s ℓ'') X over coordinates (feature, output), outputs innermost, at the ℓ'' of some point; it grows."""

    loss: RowLoss
    h: Array
    G: Array = field(default_factory=lambda: np.empty((0, 0)))
    B: Array = field(default_factory=lambda: np.empty((0, 0)))  # intercepts × coordinates

    def extend(self, columns: WorkingColumns) -> None:
        """Add the columns that the working set has gained, at the old ℓ''."""
        q, s, p, m = self.loss.q, self.loss.s, self.h, len(columns.features)
        old = len(self.G) // q
        if old == m:
            return
        G = np.empty((m, q, m, q))
        G[:old, :, :old, :] = self.G.reshape(old, q, old, q)
        for k in range(q):
            for j in range(k, q):
                part = columns.gram(s * (p[:, 0] if q == 1 else p[:, k] * (1 - p[:, k] if j == k else p[:, j])), old)
                for one, other in {(k, j), (j, k)}:
                    G[:, one, old:, other] = part if j == k else -part
                    G[old:, other, :old, one] = part[:old].T if j == k else -part[:old].T
        self.G = G.reshape(m * q, m * q)
        B = np.empty((q, m, q))
        for k in range(q):
            unit = np.broadcast_to(np.eye(q)[k], (len(s), q))
            B[k] = columns.adjoint(s[:, None] * self.loss.product(p, unit))
        self.B = B.reshape(q, m * q)

    @cached_property
    def corner(self) -> Array:
        return self.loss.corner(self.h)

    def matrix(self, penalty: SeparablePenalty, intercept: bool) -> Array:
        """H with the intercepts eliminated and l₂ on the diagonal."""
        H = self.G - self.B.T @ solve_corner(self.corner, self.B) if intercept else self.G.copy()
        index = np.arange(len(H))
        l2 = np.repeat(penalty.each(penalty.l2)[:, 0], self.loss.q)
        H[index, index] = np.maximum(H[index, index], 1e-14 * self.G[index, index]) + l2
        return H


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
        self._hopeless = b""  # the signs at which a Newton step on the support led nowhere
        self.least = loss.dual(np.zeros_like(loss.t))  # the dual at v = 0

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
        self.z = self.columns.dot(A) + b
        if self.loss.offset is not None:
            self.z += self.loss.offset

    # Where we stand

    def evaluate(self, strength: float, known: tuple[float, Array] | None = None) -> State:
        """J, slopes and gap at λ = strength; ``known``: (Σ s ℓ, ℓ') where they are."""
        loss, penalty = self.loss, self.picked.times(strength)
        value, v = loss.value_and_slope(self.z) if known is None else known
        h, s = loss.curvature(self.z), loss.s
        corner, g0 = loss.corner(h), np.zeros(loss.q)
        if self.intercept:
            g0 = s @ v
            v = v - loss.product(h, np.broadcast_to(solve_corner(corner, g0), v.shape))
        R = -self._adjoint(v)
        J = value + penalty.value(self.A)
        dual, R_dual = self._without_free(v, h, R)
        scale = penalty.scale(R_dual)
        bound = loss.dual(scale * dual) - penalty.conjugate(scale * R_dual)
        return State(J, max(J - max(bound, self.least), 0.0), h, g0, corner, R, dual, R_dual)

    def _adjoint(self, v: Array) -> Array:
        if len(self.A) == 0:
            return np.empty((0, self.loss.q))
        return self.columns.adjoint(self.loss.s[:, None] * v)

    def _without_free(self, v: Array, h: Array, R: Array) -> tuple[Array, Array]:
        """The slopes, moved so that weights without a penalty have R = 0, and their R."""
        free = self.picked.each(self.picked.free)[:, 0] if len(self.A) else np.empty(0, dtype=bool)
        if not free.any():
            return v, R
        Y = self.columns.dot(np.eye(len(free))[:, free])
        v = self.loss.balanced(v, h, np.hstack([np.ones((len(Y), 1)), Y]) if self.intercept else Y)
        return v, -self._adjoint(v)

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
            step = np.clip(solve_corner(self.loss.corner(self.loss.curvature(self.z)), g), -2.0, 2.0)
            self.b, self.z = self.b - step, self.z - step
            value, v = self.loss.value_and_slope(self.z)
        return value

    # One λ

    def minimize(self, strength: float, tol: float, least: int = 0) -> State:
        """Minimise J until the gap is ≤ tol·|J|, in ``least`` steps at least."""
        here = self.evaluate(strength)
        stuck = 0
        for step in range(MOST_STEPS):
            if len(self.A) == 0 or (here.gap <= tol * abs(here.J) and step >= least):
                break
            there = self._step(here, strength, tol)
            if there is None:
                if self._gram is None or self._fresh:
                    break
                self._gram = None
                continue
            stuck = stuck + 1 if there.J >= here.J * (1 - 1e-15) and there.gap > 0.7 * here.gap else 0
            here = there
            if stuck >= 4:
                break
        return here

    def finish(self, strength: float) -> State:
        """Steps for the last digits: until the weights stand still, of which the gap, of second order, says little."""
        here = self.evaluate(strength)
        for _ in range(LAST_STEPS if len(self.A) else 0):
            before, self._gram, self._hopeless = (self.A, self.b, self.z), None, b""
            there = self._step(here, strength, 0.0)
            if there is None or there.gap > 2 * here.gap + 1e-14:  # the dual is known to 1e-16
                self.A, self.b, self.z = before
                break
            here = there
            if np.abs(self.A - before[0]).max() <= STANDING * np.abs(self.A).max():
                break
        return here

    def _step(self, here: State, strength: float, tol: float) -> State | None:
        """One step that gets J down; None where there is none."""
        self.steps += 1
        penalty = self.picked.times(strength)
        if self._by_gram:
            return self._search(here, strength, penalty, self._gram_step(here, penalty, tol))
        signs = np.sign(self.A).astype(np.int8).tobytes()
        stable, self._signs = signs == self._signs, signs
        if here.gap <= NEAR * abs(here.J) and stable and signs != self._hopeless:
            there = self._search(
                here, strength, penalty, self._support_step(here, penalty, CG_EXACT if tol == 0 else CG_ROUGH)
            )
            if there is None or there.gap > 0.5 * here.gap:
                self._hopeless = signs
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
        """How much the model's slopes may be off: the gap is of first order in what R exceeds the least l₁ by."""
        kinked = penalty.l1[penalty.l1 > 0]
        least = float(kinked.min()) if len(kinked) else 1.0
        if tol == 0:
            return EXACT * least
        return ROUGH * max(here.gap / max(abs(here.J), 1e-300), tol) * least * (1.0 if len(kinked) else 1e-2)

    # Where the model leads: each hands back weights (m, q)

    def _gram_step(self, here: State, penalty: SeparablePenalty, tol: float) -> Array:
        fresh = self._gram is None
        gram = self._gram = GramMatrix(self.loss, here.h) if self._gram is None else self._gram
        gram.extend(self.columns)
        self._fresh = fresh
        H, q = gram.matrix(penalty, self.intercept), self.loss.q
        a, g = self.A.ravel().copy(), self._gradient(here, penalty).ravel()
        stop = Stop(self._still(here, penalty, tol), *GRAM_SWEEPS)
        quadratic = Quadratic(H, penalty, q)
        for _ in range(20):
            if quadratic.descend(a, g, stop) or not quadratic.jump(a, g):
                break
        return a.reshape(self.A.shape)

    def _column_step(self, here: State, penalty: SeparablePenalty, tol: float) -> Array:
        assert not isinstance(self.columns, BlockColumns)
        A, G = self.A.copy(), self._gradient(here, penalty)
        X, s = self.columns.raw, self.loss.s
        stop = Stop(self._still(here, penalty, tol), *(COLUMN_SWEEPS if tol else (50, 10)))
        bounds = (penalty.lower, penalty.upper)
        if self.loss.q == 1:
            w = s * here.h[:, 0]
            descend_columns(X, w, self.intercept, A[:, 0], G[:, 0], penalty.l1, penalty.l2, *bounds, stop)
        else:
            none = np.zeros_like(here.g0)  # G is the gradient after the intercepts' Newton step
            p = np.ascontiguousarray(here.h)
            descend_softmax(
                X, s, p, self.intercept, A, G, none, penalty.l1, penalty.l2, *bounds, penalty.joint, stop
            )  # fmt: skip
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
            return np.where(live, columns.adjoint(s * loss.product(here.h, E)) + l2 * D + support.bend(D, used), 0.0)

        if loss.q == 1 and not penalty.joint and len(used) <= MOST_CHOLESKY:
            gram = GramMatrix(loss, here.h)
            gram.extend(columns)
            H = gram.matrix(penalty.pick(used), self.intercept)
            D = -positive_solve(H, slope[:, 0])[:, None]
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
        slack = 1e-13 * abs(here.J) + 1e-14 if here.gap <= 1e-9 * abs(here.J) else 1e-15 * abs(here.J)
        for t in 0.5 ** np.arange(10):
            self.A = A if t == 1 else old[0] + t * D
            self.b, self.z = old[1] + t * b, old[2] + t * E
            value, v = loss.value_and_slope(self.z)
            J = value + penalty.value(self.A)
            if here.J - 1e-4 * t * promised + slack >= J:
                there = self.evaluate(strength, (value, v))
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


@dataclass(frozen=True)
class Support:
    """The weights (m, q) that a Newton step may move: not zero, or without a kink there, and inside their bounds."""

    A: Array
    penalty: SeparablePenalty

    @cached_property
    def lengths(self) -> Array:
        """(m, 1): the length of each feature's group."""
        return self.penalty.each(self.penalty.lengths(self.A))

    @cached_property
    def live(self) -> Array:
        flat = self.penalty.each(self.penalty.l1) == 0
        if self.penalty.joint:
            return np.broadcast_to((self.lengths > 0) | flat, self.A.shape)
        inside = (self.penalty.lower[:, None] < self.A) & (self.penalty.upper[:, None] > self.A)
        return np.asarray(((self.A != 0) | flat) & inside)

    @cached_property
    def slope(self) -> Array:
        """Of the kinks, where they are smooth."""
        l1 = self.penalty.each(self.penalty.l1)
        return l1 * (self._units if self.penalty.joint else np.sign(self.A))

    @cached_property
    def _units(self) -> Array:
        return np.asarray(self.A / np.where(self.lengths > 0, self.lengths, 1.0))

    def bend(self, D: Array, used: Array) -> Array | float:
        """The curvature of the kinks times D: l₁/‖a‖ (D − u (u·D)) for a group with unit vector u."""
        if not self.penalty.joint:
            return 0.0
        full = np.zeros_like(self.A)
        full[used] = D
        along = (self._units * full).sum(axis=1)
        if not self.penalty.single:
            along = np.repeat(np.add.reduceat(along, self.penalty.starts[:-1]), self.penalty.sizes)
        each = self.penalty.each(self.penalty.l1) / np.where(self.lengths > 0, self.lengths, np.inf)
        return np.asarray((each * (full - self._units * along[:, None]))[used])

    def moved(self, A: Array, D: Array, used: Array) -> Array:
        """A + D for these rows, cut where a weight would change its sign or leave its bounds."""
        new = np.where(self.live[used], A + D, A)
        if self.penalty.joint:
            return new
        kinked = self.penalty.each(self.penalty.l1)[used] > 0
        new[kinked & (new * A < 0)] = 0.0
        return np.clip(new, self.penalty.lower[used, None], self.penalty.upper[used, None])


@dataclass(frozen=True)
class Quadratic:
    """g·(a − a₀) + ½ (a − a₀)ᵗ H (a − a₀) + kinks, over flat coordinates with outputs innermost."""

    H: Array
    penalty: SeparablePenalty
    q: int

    @cached_property
    def _each(self) -> tuple[Array, Array, Array]:
        p = self.penalty
        return np.repeat(p.each(p.l1)[:, 0], self.q), np.repeat(p.lower, self.q), np.repeat(p.upper, self.q)

    @cached_property
    def _tops(self) -> Array:
        """The largest eigenvalue of each group's block, or a bound of it."""
        starts = self.penalty.starts * self.q
        blocks = [self.H[i:j, i:j] for i, j in itertools.pairwise(starts)]
        return np.array([float(np.linalg.eigvalsh(block)[-1]) if len(block) > 1 else block[0, 0] for block in blocks])

    def descend(self, a: Array, g: Array, stop: Stop) -> bool:
        """Coordinate descent; a and g in place."""
        if self.penalty.joint:
            starts = (self.penalty.starts * self.q).astype(np.int64)
            return descend_groups(self.H, a, g, starts, self.penalty.l1, self._tops, stop)
        return descend_gram(self.H, a, g, *self._each, stop)

    def jump(self, a: Array, g: Array) -> bool:
        """Newton's step on the support, where sweeps are slow (collinear columns); a and g in place."""
        penalty, shape = self.penalty, (-1, self.q)
        A = a.reshape(shape)
        support = Support(A, penalty)
        S = np.flatnonzero(support.live.ravel())
        if len(S) == 0:
            return False
        slope = (g.reshape(shape) + support.slope).ravel()[S]
        H = self.H[np.ix_(S, S)]
        everything = np.arange(len(A))
        if penalty.joint:

            def product(d: Array) -> Array:
                full = np.zeros(len(a))
                full[S] = d
                return np.asarray(H @ d + np.ravel(support.bend(full.reshape(shape), everything))[S])

            d = conjugate_gradients(product, -slope, CG_EXACT)
        else:
            d = -positive_solve(H, slope)
        D = np.zeros(len(a))
        D[S] = d
        new = support.moved(A, D.reshape(shape), everything).ravel()
        before = penalty.kinks(A)
        for t in 0.5 ** np.arange(12):
            step = t * (new - a)
            change = self.H @ step
            if float(g @ step) + 0.5 * float(step @ change) + penalty.kinks((a + step).reshape(shape)) < before:
                a += step
                g += change
                return True
        return False


def positive_solve(H: Array, g: Array) -> Array:
    """H⁻¹ g for H ≥ 0; what rounding leaves of a singular one is lifted."""
    from scipy.linalg.lapack import dposv

    lifted = H.copy()
    lifted[np.arange(len(H)), np.arange(len(H))] *= 1 + 1e-13
    _, x, failed = dposv(lifted, g, overwrite_a=True)
    if failed:
        x = np.linalg.lstsq(H, g, rcond=1e-12)[0]
    return np.asarray(x)


def conjugate_gradients(product: Any, right: Array, share: float, most: int = 300) -> Array:
    """X with product(X) ≈ right, to this share of its length."""
    X, r = np.zeros_like(right), right.copy()
    p, square = r.copy(), float((r * r).sum())
    goal = share**2 * square
    for _ in range(most):
        if square <= goal:
            break
        q = product(p)
        bend = float((p * q).sum())
        if bend <= 0:
            break
        X += square / bend * p
        r -= square / bend * q
        square, last = float((r * r).sum()), square
        p = r + square / last * p
    return X
