"""Ridge logistic regression on many folds and strengths at once: one matrix product serves every fold.

    J_f(A) = Σ_i s_if ℓ(t_i, z_if) + ½ λ_f ‖a‖²,        z_f = Y A_f

The folds of a cross-validation share most of their rows, so one Hessian, taken at their mean, preconditions them all:
A_f ← A_f − H⁻¹ ∇J_f contracts by what a fold's Hessian differs from the mean's, a few per cent where rows are many.
Scores of all folds are one product X·[A_1 … A_F], and all of a look happens while a block of X is in the cache.  Two
classes of dense rows go on in ``fold_pipeline``.  Else the gap is proved by the dual: with Σ s v = 0 it is
‖∇J_f‖² / 2λ; two classes get there by a shift of the slopes along the curvature (``optimize.logistic.bounds``), more by
settling.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discriminant.data.threads import scratch
from discriminant.kernels.compile import can_compile
from discriminant.optimize.logistic.factor import Factor, make_factor
from discriminant.optimize.logistic.looks import Rows
from discriminant.optimize.logistic.newton import regular
from discriminant.optimize.logistic.problem import LogisticProblem
from discriminant.optimize.logistic.sample import sampled
from discriminant.optimize.sparse.fold_floor import Floor, make_floor
from discriminant.optimize.sparse.fold_pipeline import AHEAD, POINTS, Pipeline, extrapolate, walk
from discriminant.optimize.sparse.losses import Losses
from discriminant.protocols import Array, Block

MOST_LOOKS = 25
SLOW = 0.3  # ‖∇J‖ after a step against before it: above this the Hessian is taken anew
ROWS_PER_PARAMETER = 50
SAMPLE_ROWS_PER_PARAMETER = 400  # then a sample's Hessian is right to a twentieth, as a fold's is
LEAST_VALUES = 100_000
MOST_PARAMETERS = 1_200
BLOCK_VALUES = 400_000
COMPILE_ROWS = 5_000_000  # rows × folds × strengths from which a compiler is loaded


def shareable(problem: LogisticProblem) -> bool:
    """Whether rows are so many that the folds' Hessians hardly differ."""
    parameters = (problem.n_features + 1) * problem.n_outputs
    enough = problem.n_rows >= ROWS_PER_PARAMETER * parameters and problem.values >= LEAST_VALUES
    return enough and parameters <= MOST_PARAMETERS


def worth_compiling(rows: int) -> bool:
    """Whether a compiler is loaded for so many rows × folds × strengths."""
    return rows >= COMPILE_ROWS and can_compile()


@dataclass
class FoldState:
    """Some folds: weights (F, 1+d, q) in inner coordinates; for more than two classes scores (F q, n), too."""

    problem: LogisticProblem
    losses: list[Losses]
    A: Array
    Z: Array | None
    shares: Array  # (F, n)
    fast: bool
    sample: LogisticProblem | None = None  # rows enough for the curvature

    def advance(self, steps: Array) -> None:
        """A_f ← A_f + steps_f, with the scores, where they are kept, in one product."""
        self.A += steps
        if self.Z is not None:
            F, D, q = steps.shape
            user = (steps / self.problem.units).transpose(1, 0, 2).reshape(D, F * q)
            self.problem.blocks.reduce(_Advance(self.problem.rows, user, self.Z))

    def look(self, strengths: Array, prove: bool = True) -> tuple[Array, Array, Array]:
        """(J, ∇J inner (F, 1+d, q), gap) of every fold; the gap is infinite where it is not to be proved."""
        F, _, q = self.A.shape
        J, G, curve = self._two_class(prove) if q == 1 else self._many_class()
        user = self.A[:, 1:] / self.problem.units[1:]
        G[:, 1:] += strengths[:, None, None] * user
        J = J + 0.5 * strengths * np.square(user).sum(axis=(1, 2))
        left, extra = G[:, 1:], np.zeros(F)
        if not self.problem.intercept:
            G[:, 0] = 0.0
        elif curve is not None:
            mass = curve[:, 0]
            delta = G[:, 0, 0] / mass
            left = left - (delta[:, None] * curve[:, 1:])[:, :, None]
            extra = np.where(np.abs(delta) < 1, 0.5 * mass * np.square(delta / (1 - np.abs(delta))), np.inf)
        gap = np.square(left).sum(axis=(1, 2)) / (2 * strengths) + extra if prove else np.full(F, np.inf)
        return J, G / self.problem.units, gap

    def _two_class(self, bend: bool) -> tuple[Array, Array, Array | None]:
        """(losses, slopes (F, 1+d, 1), curvature (F, 1+d) where asked) of each fold, in the user's units."""
        F, D, _ = self.A.shape
        user = (self.A[:, :, 0] / self.problem.units[:, 0]).T
        kernel = _FoldLook(self.problem.rows, user, self.losses[0], self.shares, self.fast, bend)
        found = self.problem.blocks.reduce(kernel)
        return found[:F, -1], found[:F, :D, None].copy(), found[F:, :D] if bend else None

    def _many_class(self) -> tuple[Array, Array, None]:
        """(losses, slopes (F, 1+d, q)), the intercepts settled."""
        F, D, q = self.A.shape
        assert self.Z is not None
        S, J = np.empty_like(self.Z), np.empty(len(self.losses))
        for f, losses in enumerate(self.losses):
            part = slice(f * q, (f + 1) * q)
            z = np.ascontiguousarray(self.Z[part].T)
            if self.problem.intercept:
                shift, _, v = losses.settle(z)
                self.A[f, 0] += shift
                self.Z[part] = z.T
            else:
                v = losses.slope(z)[1]
            S[part] = (losses.s[:, None] * v).T
            J[f] = losses.value(z)
        found = self.problem.blocks.reduce(_Products(self.problem.rows, S)).T
        G = np.zeros((F, D, q))
        G[:, 0] = S.sum(axis=1).reshape(F, q)
        G[:, 1:] = found.reshape(D - 1, F, q).transpose(1, 0, 2)
        return J, G, None


@dataclass(frozen=True)
class _FoldLook:
    """Two classes: scores of all folds, their slopes and curvatures, and the products with X, while a block is near.

    (2F or F, 1+d+1): for each fold Σ v y and, where asked, Σ h y; in the last column of the first F rows the losses.
    """

    rows: Rows
    user: Array  # (1+d, F)
    losses: Losses  # of one fold, for what they share
    shares: Array  # (F, n)
    fast: bool
    bend: bool

    def __call__(self, block: Block) -> Array:
        if self.fast:
            from discriminant.kernels.coordinate_folds import all_fold_slopes as slopes
        else:
            from discriminant.kernels.coordinate_folds import plain_fold_slopes as slopes
        values = self.rows.values(block)
        F, m, D = self.user.shape[1], block.rows, len(self.user)
        stop = block.start + m
        z = scratch("fold scores", (F, m))
        if hasattr(values, "toarray"):
            z[...] = (values @ self.user[1:]).T
        else:
            np.matmul(self.user[1:].T, values.T, out=z)
        z += self.user[0][:, None]
        if self.losses.offset is not None:
            z += self.losses.offset[block.start : stop, 0]
        v = scratch("fold slopes", ((1 + self.bend) * F, m))
        lost = np.empty(F)
        slopes(z, np.ascontiguousarray(self.losses.t[block.start : stop, 0]), self.shares, block.start, v, lost)
        out = np.zeros((len(v), D + 1))
        out[:F, -1] = lost
        out[:, 0] = v.sum(axis=1)
        out[:, 1:D] = np.asarray(values.T @ v.T).T if hasattr(values, "toarray") else v @ values
        return out


@dataclass(frozen=True)
class _Products:
    """S X, the few long rows of S in front: BLAS is twice as fast so."""

    rows: Rows
    S: Array

    def __call__(self, block: Block) -> Array:
        part = self.S[:, block.start : block.start + block.rows]
        values = self.rows.values(block)
        return np.asarray(values.T @ part.T).T if hasattr(values, "toarray") else part @ values


@dataclass(frozen=True)
class _Advance:
    rows: Rows
    user: Array  # (1+d, F q)
    Z: Array

    def __call__(self, block: Block) -> float:
        moved = np.asarray(self.rows.values(block) @ self.user[1:]) + self.user[0]
        self.Z[:, block.start : block.start + block.rows] += moved.T
        return 0.0


@dataclass(frozen=True)
class FoldPath:
    """Answers: weights (F, L, 1+d, q) in the user's units with the intercept at ``center``; gap inf: not solved."""

    weights: Array
    center: Array | None
    objectives: Array
    gaps: Array
    looks: Array


def solve_folds(
    problem: LogisticProblem, losses: list[Losses], weights: Array, strengths: Array, tol: float
) -> FoldPath:
    """Every fold at every strength (F, L), strongest first; ``weights`` (F, n) of rows, zero where held out."""
    F, L = strengths.shape
    D, q = problem.n_features + 1, problem.n_outputs
    # Products with many columns are worth larger blocks than a look with one: fewer, and still within the cache.
    rows = max(problem.blocks.rows.block_rows, BLOCK_VALUES // (problem.n_features + 2 * F * q))
    problem = replace(problem, blocks=replace(problem.blocks, block_rows=rows))
    offset = losses[0].offset
    Z = None if q == 1 else np.zeros((F * q, problem.n_rows)) if offset is None else np.tile(offset.T, (F, 1))
    shares = np.stack([part.s for part in losses]) if q == 1 else np.empty((0, 0))
    fast = worth_compiling(F * L * problem.n_rows)
    if fast:
        from discriminant.kernels.coordinate_folds import warm

        warm()
    floor = make_floor(problem, weights, offset)
    if floor is not None:
        return _by_pipeline(problem, losses, shares, strengths, tol, floor, fast)
    enough = SAMPLE_ROWS_PER_PARAMETER * D * q
    sample = sampled(problem, enough) if 2 * enough < problem.n_rows else None
    state = FoldState(problem, losses, np.zeros((F, D, q)), Z, shares, fast, sample)
    out = np.empty((F, L, D, q))
    numbers = np.empty((3, F, L))
    logs = np.log(strengths[0])
    for level in range(L):
        if level >= 2:  # along log λ the answers go on as they went
            known = slice(max(level - POINTS, 0), level)
            guess = extrapolate(logs[known], out[:, known].reshape(F, -1, D * q), logs[level]).reshape(F, D, q)
            state.advance(guess * problem.units - state.A)
        numbers[:, :, level] = _settle_level(state, strengths[:, level], tol)
        out[:, level] = state.A / problem.units
    if q > 1:
        out -= out.mean(axis=-1, keepdims=True)
    return FoldPath(out, problem.center, numbers[0], numbers[1], numbers[2])


def _by_pipeline(
    problem: LogisticProblem,
    losses: list[Losses],
    shares: Array,
    strengths: Array,
    tol: float,
    floor: Floor,
    fast: bool,
) -> FoldPath:
    """Two classes of dense rows."""
    F, D = len(shares), problem.n_features + 1
    columns = np.vstack([shares, *[shares.mean(axis=0)] * AHEAD])
    state = FoldState(problem, losses, np.zeros((F + AHEAD, D, 1)), None, columns, fast)

    def look(A: Array, each: Array) -> tuple[Array, Array]:
        state.A = A[:, :, None]
        J, G, _ = state.look(each, prove=False)
        return J, G[:, :, 0]

    pipe = Pipeline(floor, look, np.zeros((F + AHEAD, D)))
    A, J, gaps, looks = walk(pipe, strengths, tol)
    return FoldPath((A / problem.units[:, 0])[:, :, :, None], problem.center, J, gaps, looks)


def _curvature(problem: LogisticProblem, sample: LogisticProblem | None, A: Array, strength: float) -> Factor:
    problem = replace(problem, ridge=strength)
    if sample is not None:
        problem = replace(sample, ridge=strength, inner_damping=problem.damping)  # type: ignore[call-arg]
    return make_factor(regular(problem, problem.look(A, hessian=True, single=problem.n_outputs == 1)))


def _settle_level(state: FoldState, strengths: Array, tol: float) -> tuple[Array, Array, Array]:
    """Preconditioned steps for all folds until each gap is ≤ tol·|J|."""
    F, D, q = state.A.shape
    J, G, gap = state.look(strengths, prove=False)
    factor, size = None, np.inf
    for count in range(1, MOST_LOOKS):
        open_ = gap > tol * np.abs(J)
        if not open_.any():
            break
        now = float(np.sqrt((np.square(G).sum(axis=(1, 2)) * open_).max()))
        if factor is None or now > SLOW * size:
            sample = state.sample if factor is None else None
            factor = _curvature(state.problem, sample, state.A[open_].mean(axis=0), float(strengths.mean()))
        size = now
        flat = G.transpose(0, 2, 1).reshape(F, q * D)
        steps = -factor.solve(flat.T).T.reshape(F, q, D).transpose(0, 2, 1)
        state.advance(steps * open_[:, None, None])
        J_new, G, gap = state.look(strengths)
        if not np.isfinite(J_new).all() or (J_new > J * (1 + 1e-6) + 1e-12)[open_].any():
            gap = np.where(open_, np.inf, gap)  # the mean's curvature does not serve: left to be solved fold by fold
            return J_new, gap, np.full(F, count)
        J = J_new
    return J, np.where(gap <= tol * np.abs(J), gap, np.inf), np.full(F, count)
