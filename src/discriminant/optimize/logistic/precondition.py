"""Approximate inverses of the Hessian that make limited-memory steps short of Newton's by little.

*Two classes*: the Hessian of a row sample, factored once.  *Many classes*: its diagonal blocks, one a class.
*Wide or sparse*: its diagonal.  A column that the sample hardly knows (a rare dummy, a heavy tail) is corrected to its
curvature over all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.data.threads import scratch
from discriminant.optimize.logistic.factor import Factor, cholesky, factorize
from discriminant.optimize.logistic.looks import ClassGrams, Look, ManyClass, Rows, sandwich
from discriminant.optimize.logistic.looks_sparse import FusedSparse
from discriminant.optimize.logistic.problem import LogisticProblem
from discriminant.protocols import Array, Block

SINGLE_FROM = 128  # columns from which the Gram matrix is what costs, and float32 halves it
SINGLE_PIVOT = 1e-3  # smallest pivot of the unit-diagonal Hessian that float32 knows well enough
KNOWN = 100.0  # effective number of sample rows that a column's curvature must rest on


@dataclass(frozen=True)
class Blockwise:
    """One factor for each output: (1+d)² matrices."""

    factors: tuple[Factor, ...]

    def solve(self, G: Array) -> Array:
        """P⁻¹ G for G (1+d, q)."""
        return np.stack([factor.solve(np.ascontiguousarray(G[:, k])) for k, factor in enumerate(self.factors)], axis=1)


@dataclass(frozen=True)
class Diagonal:
    """diag(H), (1+d, q)."""

    diagonal: Array

    def solve(self, G: Array) -> Array:
        """P⁻¹ G."""
        return np.asarray(G / self.diagonal)


@dataclass(frozen=True)
class Arrow:
    """An intercept coupled to every column, and columns coupled to nothing else:

        H ≈ [m, mμᵗ; mμ, D + mμμᵗ],     m = Σ sσ',  μ the curvature-weighted means,  D the variances around them.

    Without the coupling, columns of one sign (counts, tf-idf) make the intercept and the rest fight each other.
    """

    mass: float
    mean: Array  # (d,)
    spread: Array  # (d,)

    def solve(self, G: Array) -> Array:
        """P⁻¹ G for G (1+d, 1)."""
        out = np.empty_like(G)
        out[1:, 0] = (G[1:, 0] - self.mean * G[0, 0]) / self.spread
        out[0, 0] = G[0, 0] / self.mass - self.mean @ out[1:, 0]
        return out


def arrow(problem: LogisticProblem, A: Array) -> tuple[Arrow | Diagonal, Look]:
    """The arrow at inner A and the look there; the diagonal alone where there is no intercept."""
    look = problem.look(A, bend=True, squares=True)
    squares = diagonal(problem, A)[:, 0] if look.squares is None else np.where(look.squares > 0, look.squares, 1.0)
    if not problem.intercept:
        squares[0] = 1.0
        return Diagonal(squares[:, None]), look
    assert look.bend is not None
    mass = max(float(look.bend[0]), 1e-300)
    mean = look.bend[1:] / (mass * problem.units[1:, 0])
    spread = np.maximum(squares[1:] - mass * np.square(mean), 1e-3 * squares[1:])
    return Arrow(mass, mean, np.maximum(spread, problem.damping[1:, 0])), look


def two_class(sample: LogisticProblem, A: Array, correction: Array | None = None) -> Blockwise:
    """The sample's Hessian at A, factored; ``correction``: (1+d,) full over sample curvature of each column."""
    return with_look(sample, A, correction)[0]


def with_look(sample: LogisticProblem, A: Array, correction: Array | None = None) -> tuple[Blockwise, Look]:
    """The same, and the look at the sample that it comes from."""
    for single in (True, False) if sample.n_features >= SINGLE_FROM else (False,):
        look = sample.look(A, hessian=True, single=single)
        assert look.hessian is not None
        H = corrected(look.hessian, correction)
        factor = factorize(H, safe=SINGLE_PIVOT if single else 1e-14)
        if factor is not None:
            return Blockwise((factor,)), look
    return Blockwise((cholesky(H),)), look


@dataclass(frozen=True)
class Shared:
    """One factor for all outputs."""

    factor: Factor

    def solve(self, G: Array) -> Array:
        """P⁻¹ G."""
        return self.factor.solve(G)


def at_zero(sample: LogisticProblem) -> Shared:
    """K classes at A = 0: every posterior is 1/K, and the Hessian is (1/K)(I − 11ᵗ/K) ⊗ Gram."""
    K = sample.n_classes
    gram = sample.blocks.reduce(Gram(sample.rows)) / (sample.total * sample.units * sample.units.T * K)
    index = np.arange(len(gram))
    gram[index, index] += sample.damping[:, 0]
    if not sample.intercept:
        gram[0], gram[:, 0], gram[0, 0] = 0.0, 0.0, 1.0
    return Shared(cholesky(gram))


def common(sample: LogisticProblem, A: Array) -> Shared:
    """One matrix for all classes, whatever A: where one for each would be too much to hold."""
    return at_zero(sample)


@dataclass(frozen=True)
class Gram:
    """Yᵗ diag(w) Y over a block."""

    rows: Rows

    def __call__(self, block: Block) -> Array:
        weight = np.ones(block.rows) if block.weight is None else block.weight
        return sandwich(self.rows.values(block), weight, single=block.design.shape[1] > SINGLE_FROM)


def many_class(sample: LogisticProblem, A: Array, correction: Array | None = None) -> Blockwise:
    """The diagonal blocks of the sample's Hessian at A, each factored."""
    look = ManyClass(A / sample.units, sample.rows)
    grams = sample.blocks.reduce(ClassGrams(look))
    factors = []
    index = np.arange(sample.n_features + 1)
    for gram in grams:
        H = gram / (sample.total * sample.units * sample.units.T)
        H[index, index] += sample.damping[:, 0]
        if not sample.intercept:
            H[0], H[:, 0], H[0, 0] = 0.0, 0.0, 1.0
        factors.append(cholesky(corrected(H, correction)))
    return Blockwise(tuple(factors))


def corrected(H: Array, correction: Array | None) -> Array:
    """H with its diagonal brought to what all rows say, correlations kept."""
    if correction is None:
        return H
    dead = np.diagonal(H) <= 0
    root = np.sqrt(np.where(np.isfinite(correction), correction, 1.0))
    H = H * root * root[:, None]
    H[dead, dead] = np.where(correction[dead] > 0, correction[dead], 1.0)
    return H


@dataclass(frozen=True)
class Support:
    """Σ w y_j² and Σ w² y_j⁴ over a block, (2, d): how many rows a column's curvature rests on."""

    rows: Rows

    def __call__(self, block: Block) -> Array:
        values = self.rows.values(block)
        weight = np.ones(values.shape[0]) if block.weight is None else block.weight
        if hasattr(values, "toarray"):
            squares = values.multiply(values)
            return np.stack([squares.T @ weight, squares.multiply(squares).T @ weight**2])
        squares = np.square(values, out=scratch("squares", values.shape, values.dtype))
        once = weight @ squares
        return np.stack([once, weight**2 @ np.square(squares, out=squares)])


def little_known(sample: LogisticProblem) -> bool:
    """Whether some column's curvature rests on few sample rows."""
    squares, fourths = sample.blocks.reduce(Support(sample.rows))
    with np.errstate(invalid="ignore", divide="ignore"):
        support = np.square(squares) / fourths
    return bool((~(support >= KNOWN)).any())


@dataclass(frozen=True)
class Squares:
    """Σ w σ' y_j² over a block, (1+d, 1): the diagonal of the Hessian; two classes."""

    A: Array
    rows: Rows

    def __call__(self, block: Block) -> Array:
        values = self.rows.values(block)
        z = np.asarray(values @ self.A[1:, 0]) + self.A[0, 0]
        shift = self.rows.shift(block)
        tail = np.exp(-np.abs(z if shift is None else z + shift))
        curve = tail / np.square(1 + tail)
        if block.weight is not None:
            curve *= block.weight
        squares = values.multiply(values) if hasattr(values, "toarray") else np.square(values)
        return np.concatenate([[curve.sum()], np.asarray(squares.T @ curve)])[:, None]


def diagonal(problem: LogisticProblem, A: Array) -> Array:
    """The diagonal of ∇²J at inner A, over all rows of the problem, (1+d, 1)."""
    sums: Any
    if problem.sparse and problem.fused:
        sums = problem.blocks.reduce(FusedSparse(A / problem.units, problem.rows, False, True)).squares
        sums = np.asarray(sums)[:, None]
    else:
        sums = problem.blocks.reduce(Squares(A / problem.units, problem.rows))
    result = np.asarray(sums / (problem.total * np.square(problem.units)) + problem.damping)
    if not problem.intercept:
        result[0] = 1.0
    return np.where(result > 0, result, 1.0)
