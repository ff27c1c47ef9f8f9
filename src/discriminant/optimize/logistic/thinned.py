"""The diagonal blocks of a softmax Hessian from the rows that carry them: a preconditioner worth its price.

    H_k = Σ_i s_i p_ik (1 − p_ik) y_i y_iᵗ + λ,      estimated from rows kept with probability  min(1, c_ik / τ_k)

Most rows are decided and have next to no curvature c_ik = p_ik (1 − p_ik); those that matter to class k are a small
part, and another part for each class.  A kept row counts 1/probability, so that the sums are unbiased; which rows are
kept depends on their numbers alone.  Only row numbers are stored, never copies of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from discriminant.data.blocks import spaced
from discriminant.data.threads import ordered_map, workers
from discriminant.optimize.logistic.bounds import loose_gap
from discriminant.optimize.logistic.factor import cholesky
from discriminant.optimize.logistic.looks import Look, ManyClass, Rows
from discriminant.optimize.logistic.newton import Trace
from discriminant.optimize.logistic.precondition import Shared
from discriminant.optimize.logistic.problem import LogisticProblem
from discriminant.protocols import Array, Block

GATHER = 400_000  # values of the rows that are fetched at a time
POOLED_ROWS = 4_000
POOLED_SHARE = 8  # rows per column of the pooled matrix
PILOT_ROWS = 1_500  # rows from which the thresholds τ are read
SINGLE_PIVOT = 1e-4  # smallest pivot of a unit-diagonal block that float32 knows well enough
LEAST_SHARE = 6.0  # rows per class and column: from fewer the least curvatures come out far too small
MOST_SHARE = 20.0  # more say hardly more
LOOKS = 8.0  # what a preconditioner may cost, in looks
SLOW = 0.4  # a squared decrement that falls to this share in a step falls fast enough
NEARER = 0.1  # a squared decrement fallen by so much: the curvature is worth another look
MOST_RENEWALS = 3
MOST_INVERSES = 8_000_000  # numbers that K inverses of size (1+d)² may hold


@dataclass(frozen=True)
class Inverses:
    """One inverse of a unit-diagonal block for each class, (K, 1+d, 1+d), between its scales (K, 1+d)."""

    scale: Array
    inverse: Array

    def solve(self, G: Array) -> Array:
        """P⁻¹ G for G (1+d, K)."""
        right = (self.scale * G.T).astype(self.inverse.dtype)
        return np.asarray((self.scale * np.matmul(self.inverse, right[:, :, None])[:, :, 0]).T, dtype=np.float64)


@dataclass
class Kept:
    """For each class the numbers of the kept rows and what each counts; adding puts lists one behind the other."""

    rows: list[list[Array]] = field(default_factory=list)
    weight: list[list[Array]] = field(default_factory=list)

    def __iadd__(self, other: Kept) -> Kept:
        for mine, others in ((self.rows, other.rows), (self.weight, other.weight)):
            for some, more in zip(mine, others, strict=True):
                some.extend(more)
        return self


@dataclass(frozen=True)
class Thin:
    """Chooses rows of a block for each class."""

    look: ManyClass
    threshold: Array  # (K,)

    def __call__(self, block: Block) -> Kept:
        curve = curvatures(self.look, block)
        share = np.minimum(curve / self.threshold[:, None], 1.0)
        drawn = np.random.default_rng(block.start).random(block.rows) < share
        kept = Kept()
        for k, mine in enumerate(drawn):
            index = np.flatnonzero(mine)
            kept.rows.append([index + block.start])
            kept.weight.append([curve[k, index] / share[k, index]])
        return kept


def curvatures(look: ManyClass, block: Block) -> Array:
    """w p (1 − p), (K, rows)."""
    p = look.posteriors(block, look.rows.values(block))[2]
    curve = p * (1 - p)
    return np.asarray(curve if block.weight is None else curve * block.weight)


def suits(problem: LogisticProblem) -> bool:
    """Whether rows can be fetched by number, and the blocks held."""
    return problem.blocks.in_memory and can_hold(problem)


def can_hold(problem: LogisticProblem) -> bool:
    """Whether a matrix for each class is not too much."""
    return problem.n_outputs * (problem.n_features + 1) ** 2 <= MOST_INVERSES


def looks_for(problem: LogisticProblem, share: float) -> float:
    """What blocks from ``share``·(1+d) rows a class cost, in looks: products in float32 against those of a look."""
    return 1.0 + 0.11 * share * (problem.n_features + 1.0) ** 2 / problem.n_rows


def affordable(problem: LogisticProblem) -> float:
    """Rows per class and column, as many as are worth their time."""
    one = looks_for(problem, 1.0) - 1.0
    return float(np.clip(LOOKS / one, LEAST_SHARE, MOST_SHARE))


def class_blocks(problem: LogisticProblem, A: Array, share: float) -> Inverses:
    """The preconditioner at inner A, from about ``share``·(1+d) rows a class."""
    look = ManyClass(A / problem.units, problem.rows)
    kept = problem.blocks.reduce(Thin(look, thresholds(problem, look, share * (problem.n_features + 1))))
    for dtype, safe in ((np.float32, SINGLE_PIVOT), (np.float64, 0.0)):
        inverse_of: Callable[[int], Any] = partial(_inverse, problem, kept, dtype, safe)
        parts = list(ordered_map(inverse_of, range(problem.n_outputs), workers()))
        if all(part is not None for part in parts):
            break
    return Inverses(np.stack([scale for scale, _ in parts]), np.stack([inverse for _, inverse in parts]))


def thresholds(problem: LogisticProblem, look: ManyClass, wanted: float) -> Array:
    """τ (K,) with Σ_i min(1, c_ik / τ_k) about ``wanted``, from a pilot of the rows."""
    index = spaced(problem.n_rows, PILOT_ROWS)
    weight = None if problem.blocks.weight is None else np.asarray(problem.blocks.weight)[index]
    offset = None if look.rows.offset is None else look.rows.offset[index]
    pilot = ManyClass(look.A, Rows(look.rows.center, offset))
    target = np.zeros(len(index), dtype=np.intp)  # which class is each row's own does not matter here
    curve = curvatures(pilot, Block(problem.blocks.rows.pick(index), 0, target, weight))
    share = wanted * len(index) / problem.n_rows
    low, high = np.full(len(curve), 1e-30), np.maximum(curve.max(axis=1), curve.sum(axis=1) / share) + 1e-12
    for _ in range(60):
        middle = np.sqrt(low * high)
        many = np.minimum(curve / middle[:, None], 1.0).sum(axis=1) > share
        low, high = np.where(many, middle, low), np.where(many, high, middle)
    return np.asarray(high)


@dataclass
class Renewal:
    """A better preconditioner where the one at hand is slow, from curvatures at a point much nearer to the optimum."""

    problem: LogisticProblem
    trace: Trace
    made: int = 0
    seen: list[float] = field(default_factory=list)  # squared decrements under the preconditioner at hand

    def __call__(self, A: Array, look: Look, decrement: float, target: float) -> Inverses | None:
        """The new preconditioner at A, or None where it would not pay or could not be better."""
        self.seen.append(decrement**2)
        if len(self.seen) < 4 or self.made == MOST_RENEWALS:
            return None
        share = affordable(self.problem)
        rate = (self.seen[-1] / max(self.seen[-4], 1e-300)) ** (1 / 3)
        distance = loose_gap(self.problem, look) if self.problem.ridge > 0 else 5 * self.seen[-1]
        left = np.log(target / max(distance, 1e-300)) / np.log(rate) if 0 < rate < 1 else np.inf
        nearer = self.seen[-1] <= NEARER * self.seen[0]
        if rate < SLOW or left <= 1.5 * looks_for(self.problem, share) + 3 or (self.made and not nearer):
            return None
        self.made, self.seen = self.made + 1, []
        self.trace.passes += 1
        return class_blocks(self.problem, A, share)


def _inverse(problem: LogisticProblem, kept: Kept, dtype: Any, safe: float, k: int) -> tuple[Array, Array] | None:
    """(diagonal^−½, inverse of the unit-diagonal block) of class k; None where ``dtype`` has lost its digits."""
    from scipy.linalg.lapack import dpotrf, dpotri, spotrf, spotri

    H = _gram(problem, np.concatenate(kept.rows[k]), np.concatenate(kept.weight[k]), dtype)
    index = np.arange(len(H))
    diagonal = np.diagonal(H).astype(np.float64) / problem.total + problem.damping[:, 0]
    if not problem.intercept:
        H[0], H[:, 0], diagonal[0] = 0.0, 0.0, 1.0
    scale = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    H *= (scale / problem.total).astype(dtype)
    H *= scale[:, None].astype(dtype)
    factorise, invert = (spotrf, spotri) if dtype == np.float32 else (dpotrf, dpotri)
    for extra in (0.0,) if safe else (0.0, 1e-12, 1e-9, 1e-6, 1e-3):
        H[index, index] = 1.0 + extra
        L, failed = factorise(H, lower=1)
        least = float(np.square(np.diagonal(L)).min())
        if not failed and least >= max(safe, 1e-14):
            inverse, _ = invert(L, lower=1, overwrite_c=1)
            return scale, np.tril(inverse) + np.tril(inverse, -1).T
        if safe:
            return None
    return scale, np.eye(len(H))


def pooled(problem: LogisticProblem) -> Shared:
    """K classes at A = 0: every posterior is 1/K, and the Hessian is (1/K)(I − 11ᵗ/K) ⊗ Gram; of some rows."""
    rows = spaced(problem.n_rows, max(POOLED_ROWS, POOLED_SHARE * problem.n_features))
    weight = np.ones(len(rows)) if problem.blocks.weight is None else np.asarray(problem.blocks.weight)[rows]
    mass = max(float(weight.sum()), 1e-300) * problem.n_classes
    gram = _gram(problem, rows, weight / mass, np.float32).astype(np.float64)
    index = np.arange(len(gram))
    gram[index, index] += problem.damping[:, 0]
    if not problem.intercept:
        gram[0], gram[:, 0], gram[0, 0] = 0.0, 0.0, 1.0
    return Shared(cholesky(gram))


def _gram(problem: LogisticProblem, rows: Array, weight: Array, dtype: Any) -> Array:
    """Σ weight y yᵗ over these rows, y in inner units."""
    D = problem.n_features + 1
    H = np.zeros((D, D), dtype=dtype)
    unit = problem.units[1:, 0]
    step = max(GATHER // D, 256)
    for start in range(0, len(rows), step):
        values: Any = problem.blocks.rows.pick(rows[start : start + step]).values
        values = values.toarray() if hasattr(values, "toarray") else values
        if problem.center is not None:
            values = values - problem.center
        root = np.sqrt(weight[start : start + step])
        Y = np.empty((len(values), D), dtype=dtype)
        Y[:, 0] = root
        np.multiply(values / unit, root[:, None], out=Y[:, 1:], casting="same_kind")
        H += Y.T @ Y
    return H
