"""The quadratic model of a proximal Newton step over a working set, with its matrix at hand, and Newton on the support.

Where the signs of the weights stand still the kinks of the penalty are smooth, and one linear system on the weights
that are not zero (``Support``) does what many sweeps of coordinate descent would.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from discriminant.data.threads import scratch
from discriminant.data.working_columns import BlockColumns, SparseColumns, WorkingColumns
from discriminant.kernels.conjugate import conjugate_gradients
from discriminant.kernels.coordinate import Model, Stop, descend
from discriminant.optimize.row_loss import RowLoss
from discriminant.penalties.separable import SeparablePenalty
from discriminant.protocols import Array
from discriminant.thresholds import COPIED_VALUES, MOST_GRAM, SECANT_PAIRS, SPARSE_GRAM


@dataclass
class GramMatrix:
    """Xᵗ diag(s ℓ'') X over the columns of one output, at the ℓ'' of some point; it grows."""

    loss: RowLoss
    h: Array  # (n, 1)
    G: Array = field(default_factory=lambda: np.empty((0, 0)))
    B: Array = field(default_factory=lambda: np.empty(0))  # of the intercept with the columns

    def extend(self, columns: WorkingColumns) -> None:
        """Add the columns that the working set has gained, at the old ℓ''."""
        if len(columns.features) > len(self.G):
            weight = self.loss.s[:, None] * self.h
            self.G, self.B = grown(self.G, columns, weight[:, 0]), columns.adjoint(weight)[:, 0]

    def matrix(self, penalty: SeparablePenalty, intercept: bool) -> Array:
        """H with the intercept eliminated and l₂ on the diagonal."""
        H, corner = self.G.copy(), float(self.loss.s @ self.h[:, 0])
        if intercept and corner > 0:
            H -= np.outer(self.B, self.B / corner)
        index = np.arange(len(H))
        H[index, index] = np.maximum(H[index, index], 1e-14 * self.G[index, index]) + penalty.each(penalty.l2)[:, 0]
        return H


def grown(G: Array, columns: WorkingColumns, weight: Array) -> Array:
    """Xᵗ diag(weight) X, of whose first columns it is G."""
    old, m = len(G), len(columns.features)
    new = np.empty((m, m))
    new[:old, :old] = G
    new[:, old:] = columns.gram(weight, old)
    new[old:, :old] = new[:old, old:].T
    return new


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

    def curvature(self, D: Array, used: Array) -> Array | float:
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

    def first_zero(self, A: Array, D: Array) -> Array | None:
        """A + tD where the first weight with a kink becomes zero, t < 1; None where none does."""
        if self.penalty.joint:
            return None
        crossing = self.live & (self.penalty.each(self.penalty.l1) > 0) & (A * (A + D) < 0)
        if not crossing.any():
            return None
        t = np.where(crossing, -A / np.where(crossing, D, 1.0), 1.0)
        new = np.where(self.live, A + t.min() * D, A)
        new[t == t.min()] = 0.0
        return np.clip(new, self.penalty.lower[:, None], self.penalty.upper[:, None])


@dataclass(frozen=True)
class Quadratic(ABC):
    """G·D + ½ D·HD + kinks, D = A − A₀, over weights (m, q)."""

    model: Model
    penalty: SeparablePenalty

    @abstractmethod
    def product(self, D: Array) -> Array:
        """H D."""

    def descend(self, A: Array, G: Array, stop: Stop) -> bool:
        """Coordinate descent; A in place, and where it does not get there, G."""
        start = A.copy()
        done = descend(self.model, A, np.ascontiguousarray(G), *levels(self.penalty), stop)
        if not done:
            G += self.product(A - start)
        return done

    def solve(self, live: Array, slope: Array, product: Callable[[Array], Array]) -> Array:
        """H⁻¹ slope over the weights that are live, others zero; ``product``: by H and the kinks' curvature."""
        # Sweeps follow: to the last digits, steps of classes would take up to 1.6 times as long.
        return conjugate_gradients(lambda D: np.where(live, product(D), 0.0), np.where(live, slope, 0.0), 1e-2)

    def minimize(self, A: Array, G: Array, stop: Stop) -> None:
        """Sweeps, and Newton steps on the support where these are slow (collinear columns); A and G in place."""
        for _ in range(20):
            if self.descend(A, G, stop) or not self._jump(A, G):
                break

    def _jump(self, A: Array, G: Array) -> bool:
        penalty, support = self.penalty, Support(A, self.penalty)
        everything = np.arange(len(A))
        if not support.live.any():
            return False

        def product(D: Array) -> Array:
            return np.asarray(self.product(D) + support.curvature(D, everything))

        D = self.solve(support.live, -(G + support.slope), product)
        new, before = support.moved(A, D, everything), penalty.kinks(A)
        ends = [A + t * (new - A) for t in 0.5 ** np.arange(12)]
        # Of columns that are nearly copies of one another many weights change sign at once, and no part of such a step
        # leads down.  The step that ends at the first change does, and leaves one weight less to move.
        first = support.first_zero(A, D)
        for end in ends if first is None else [*ends, first]:
            step = end - A
            change = self.product(step)
            if float((step * (G + 0.5 * change)).sum()) + penalty.kinks(end) < before:
                A[:] = end
                G += change
                return True
        return False


def levels(penalty: SeparablePenalty) -> tuple[Array, Array, Array, Array, bool]:
    """What a descent asks of a penalty."""
    return penalty.l1, penalty.lower, penalty.upper, penalty.starts.astype(np.int64), penalty.joint


class OneOutput(Quadratic):
    """The model of one output, its matrix at hand."""

    @classmethod
    def of(cls, H: Array, penalty: SeparablePenalty) -> OneOutput:
        """H with l₂ on its diagonal."""
        return cls(Model.of_one(H, largest_eigenvalues(H, penalty) if penalty.joint else np.empty(0)), penalty)

    def product(self, D: Array) -> Array:
        """H D."""
        return np.asarray(self.model.M @ D)

    def solve(self, live: Array, slope: Array, product: Callable[[Array], Array]) -> Array:
        """A factor where the kinks have no curvature."""
        if self.penalty.joint:
            return super().solve(live, slope, product)
        assert self.model.M is not None
        S, D = np.flatnonzero(live), np.zeros_like(slope)
        D[S, 0] = positive_solve(self.model.M[np.ix_(S, S)], slope[S, 0])
        return D


def largest_eigenvalues(H: Array, penalty: SeparablePenalty) -> Array:
    """Of the groups' blocks of H."""
    if penalty.single:
        return np.diagonal(H).copy()
    blocks = [H[i:j, i:j] for i, j in itertools.pairwise(penalty.starts)]
    return np.array([float(np.linalg.eigvalsh(block)[-1]) if len(block) > 1 else block[0, 0] for block in blocks])


class Pair(NamedTuple):
    """A step of the weights, what it changed in their slopes and in those of the rows, over √(S·Y)."""

    S: Array  # (m, K)
    Y: Array
    MS: Array
    v: Array | None  # (n, K)


@dataclass
class SecantModel:
    """The curvature of classes that compete: C ⊗ M, corrected by what the last steps changed in the slopes.

    M = Xᵗ diag(s) X about the means, which eliminates the intercepts, and C = Σ s (diag p − ppᵗ).  With steps S and
    changes Y, Sᵗ Y = 1 each, limited-memory BFGS has

        B = C ⊗ M − W N⁻¹ Wᵗ,    W = [(C ⊗ M) S, Y],    N = [Sᵗ(C ⊗ M) S, L; Lᵗ, −1],    L strictly below in SᵗY.

    The true Hessian of K classes costs K²/2 such matrices.  The rows' slopes have these differences, too, so that where
    the model is minimised there is a point of the dual that fits its slopes.
    """

    loss: RowLoss
    intercept: bool
    columns: WorkingColumns
    M: Array | None = None
    mean: Array = field(default_factory=lambda: np.empty(0))
    square: Array = field(default_factory=lambda: np.empty(0))
    pairs: list[Pair] = field(default_factory=list)

    def extend(self, C: Array) -> None:
        """Add the columns that the working set has gained; of the last steps they know what C ⊗ M says."""
        m, old, s = len(self.columns.features), len(self.mean), self.loss.s
        if m == old:
            return
        before = self.mean
        self.mean = self.columns.adjoint(s[:, None])[:, 0] if self.intercept else np.zeros(m)
        if self._by_gram:
            if self.M is None or old == 0:
                G = np.empty((0, 0))
            else:
                G = self.M + np.outer(before, before)
            self.M = grown(G, self.columns, s) - np.outer(self.mean, self.mean)
            self.square = np.diagonal(self.M).copy()
        else:
            assert not isinstance(self.columns, BlockColumns)
            self.M, self.square = None, np.maximum(self.columns.squares(s) - np.square(self.mean), 0.0)
        pairs, self.pairs = self.pairs, []
        for pair in pairs:
            S = np.vstack([pair.S, np.zeros((m - old, self.loss.q))])
            MS = self.product(S)
            self.pairs.append(Pair(S, np.vstack([pair.Y, (MS @ C)[old:]]), MS, pair.v))

    @property
    def _by_gram(self) -> bool:
        m = len(self.columns.features)
        if isinstance(self.columns, SparseColumns):
            return m <= SPARSE_GRAM
        return isinstance(self.columns, BlockColumns) or (m <= MOST_GRAM and m <= 2 * len(self.loss.s))

    def product(self, D: Array) -> Array:
        """M D."""
        if self.M is not None:
            return self.M @ D
        return self.columns.adjoint(self.loss.s[:, None] * self.columns.dot(D)) - np.outer(self.mean, self.mean @ D)

    def learn(self, D: Array, Y: Array, v: Array) -> None:
        """A step D changed the slopes by Y, and those of the rows by v."""
        along = float(np.vdot(D, Y))
        if along <= 1e-10 * np.sqrt(np.vdot(D, D) * np.vdot(Y, Y)):  # a cosine that rounding decides
            return
        root = np.sqrt(along)
        kept = v / root if SECANT_PAIRS * v.size <= COPIED_VALUES else None
        self.pairs = [*self.pairs[1 - SECANT_PAIRS :], Pair(D / root, Y / root, self.product(D) / root, kept)]

    def at(self, C: Array, penalty: SeparablePenalty) -> ManyOutputs:
        """The model where the classes' curvature is C."""
        shape = (len(self.mean), len(C))
        S = np.array([pair.S for pair in self.pairs]).reshape(-1, shape[0] * shape[1])
        Y = np.array([pair.Y for pair in self.pairs]).reshape(S.shape)
        HS = np.array([pair.MS @ C for pair in self.pairs]).reshape(S.shape)
        L = np.tril(S @ Y.T, -1)
        N = np.vstack([np.hstack([S @ HS.T, L]), np.hstack([L.T, -np.eye(len(S))])])
        W = np.vstack([HS, Y])
        try:
            V = np.linalg.inv(N) @ W
        except np.linalg.LinAlgError:
            self.pairs = []
            return self.at(C, penalty)
        plain = np.multiply.outer(self.square, np.diagonal(C))
        h = np.maximum(plain - np.einsum("rp,rp->p", V, W).reshape(shape), 1e-3 * plain)  # rounding may leave none
        top = np.empty(0)
        if penalty.joint:
            blocks = (
                np.add.reduceat(self.square, penalty.starts[:-1])
                if self.M is None
                else largest_eigenvalues(self.M, penalty)
            )
            seen = np.square(Y.reshape(-1, *shape)).sum(axis=(0, 2))  # B ≼ C ⊗ M + Σ YYᵗ
            top = blocks * float(np.linalg.eigvalsh(C)[-1]) + np.add.reduceat(seen, penalty.starts[:-1]) + penalty.l2
        l2 = penalty.each(penalty.l2)
        raw = None if self.M is not None or isinstance(self.columns, BlockColumns) else self.columns.raw
        C, V, W = np.ascontiguousarray(C), np.ascontiguousarray(V.T), np.ascontiguousarray(W.T)
        model = Model(raw, self.M, self.loss.s, self.mean, self.square, C, V, W, h + l2, l2.ravel(), top)
        return ManyOutputs(model, penalty, self)

    def rows(self, D: Array, model: Model) -> Array | None:
        """(n, K) u with Xᵗ s u = BD and Σ s u = 0: what the model says that a step D changes in the rows' slopes."""
        r, c = len(self.pairs), model.V.T @ D.ravel()
        D = D - sum((c[i] * pair.S for i, pair in enumerate(self.pairs)), np.zeros_like(D))
        u = (self.columns.dot(D) - self.mean @ D) @ model.C
        for i, pair in enumerate(self.pairs):
            if pair.v is None:
                return None
            u -= np.multiply(pair.v, c[r + i], out=scratch("pair", u.shape))
        return np.asarray(u)


@dataclass(frozen=True)
class ManyOutputs(Quadratic):
    """The model of classes that compete."""

    secant: SecantModel

    def product(self, D: Array) -> Array:
        """H D."""
        model = self.model
        seen = (model.V @ (model.W.T @ D.ravel())).reshape(D.shape)
        return np.asarray(self.secant.product(D) @ model.C - seen + model.l2[:, None] * D)


def positive_solve(H: Array, g: Array) -> Array:
    """H⁻¹ g for H ≥ 0; what rounding leaves of a singular one is lifted."""
    from scipy.linalg.lapack import dposv

    lifted = H.copy()
    lifted[np.arange(len(H)), np.arange(len(H))] *= 1 + 1e-13
    _, x, failed = dposv(lifted, g, overwrite_a=True)
    if failed:
        x = np.linalg.lstsq(H, g, rcond=1e-12)[0]
    return np.asarray(x)
