"""Rows that are read from elsewhere: a look at them costs more than any arithmetic on a sample of them.

    2,000 rows → a sixteenth of the sample → the sample, as large as the memory allows; its exact Hessian P
    on all rows:  A ← A − B g(A),  B from P⁻¹ and the last pairs;  a look a step, unit steps

A sample of m rows leaves a gap of about p/2m and a Hessian right to √(p/m); each look squares that error into the gap,
so that two or three looks are enough.  Each sample starts from the optimum of the one before, with its Hessian: one
look at the large one ends within the error of its own.

For K classes P couples all of them: K(1+d) squared, where that can be held.  The sample's rows alone prove the gap
(``floor``), so that no pass is spent on a certificate.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from discriminant.data.blocks import ArrayBlocks, make_blocks
from discriminant.optimize.choose import EXACT_SIZE
from discriminant.optimize.logistic import precondition
from discriminant.optimize.logistic.factor import Factor, make_factor
from discriminant.optimize.logistic.floor import SampleProof, share_of
from discriminant.optimize.logistic.large import FIRST_ROWS, roughly
from discriminant.optimize.logistic.lengths import Longest
from discriminant.optimize.logistic.looks import Look
from discriminant.optimize.logistic.newton import Point, Trace, newton, regular
from discriminant.optimize.logistic.problem import LogisticProblem
from discriminant.optimize.logistic.quasi import bounded, quasi_newton
from discriminant.protocols import Array, Block

BETWEEN = 5.0  # how much less exactly than the others a sample is solved that only leads to the next
SAMPLE_BLOCK = 4_096  # rows: fewer blocks than elsewhere, since what a block costs beside arithmetic counts here
ALONE_COLUMNS = 128  # up to which threads would wait for each other's turn at the interpreter for most of a look
HESSIAN_WORK = 2.0e10  # multiplications that the sample's Hessian may take: less than a look at the files


class Coupled:
    """P⁻¹ for all classes together."""

    def __init__(self, factor: Factor) -> None:
        self.factor = factor

    def solve(self, G: Array) -> Array:
        """P⁻¹ G for G (1+d, q)."""
        return np.asarray(self.factor.solve(np.ascontiguousarray(G.T.ravel())).reshape(G.T.shape).T)


def coupled(sample: LogisticProblem, A: Array) -> Coupled:
    """The sample's exact Hessian at A, factored."""
    return Coupled(make_factor(regular(sample, sample.look(A, hessian=True))))


@dataclass(frozen=True)
class Both:
    """Two kernels in one pass."""

    first: Any
    second: Any

    def __call__(self, block: Block) -> tuple[Any, Any]:
        return self.first(block), self.second(block)


def streamed(problem: LogisticProblem, A: Array, trace: Trace, tol: float) -> Point:
    """Solve the sample, precondition by it, and look at all rows as few times as it takes."""
    A, sample = _sample_optimum(problem, A)
    preconditioner, factor, base = _preconditioner(problem, sample, A, trace)
    if factor is None:
        return quasi_newton(problem, A, preconditioner, trace, tol)
    look, prove = _first_look(problem, base, A, factor, trace)
    point = quasi_newton(problem, A, preconditioner, trace, tol, look=look, prove=prove)
    if point.separated or point.gap <= tol * abs(point.look.value):
        return point
    # Neither the dual nor the sample's Hessian proves it: all rows' does, and improves on it.
    return newton(problem, point.A, trace, tol, to_the_end=False)


def _sample_optimum(problem: LogisticProblem, A: Array) -> tuple[Array, PlainSample]:
    """The optimum of the sample, by way of smaller ones, and the sample."""
    blocks: Any = problem.blocks
    K, quiet, many = problem.n_classes, Trace(), problem.n_outputs > 1
    size = K if many else 1
    local = precondition.many_class if many else precondition.two_class
    small = drawn(problem, max(FIRST_ROWS, 4 * problem.n_features, 50 * K * many))
    rough: Any = precondition.at_zero(small) if many else precondition.two_class(small, A)
    A = quasi_newton(small, A, rough, quiet, size * roughly(small), rough=True).A
    if blocks.early_rows > 2 * small.n_rows:
        rough, small = local(small, A), drawn(problem, blocks.early_rows)
        A = quasi_newton(small, A, rough, quiet, BETWEEN * size * roughly(small), rough=True).A
    rough = local(small, A)
    sample = drawn(problem, blocks.sample_rows)
    A = quasi_newton(sample, A, rough, quiet, 0.2 * size * roughly(sample), rough=True).A
    return A, sample


@dataclass(frozen=True)
class PlainSample(LogisticProblem):
    """A row sample as it was drawn, with the centre and units of the whole: no copy of it, and no compiled looks.

    A sample is solved before compiled looks would have been loaded.
    """

    @property
    def fused(self) -> bool:
        return False

    @cached_property
    def alone(self) -> PlainSample | None:
        """The same on one thread, where that is faster: two classes, few columns, no Hessian."""
        if self.n_outputs > 1 or self.sparse or self.n_features > ALONE_COLUMNS:
            return None
        return replace(self, blocks=OneThread(**{f.name: getattr(self.blocks, f.name) for f in fields(self.blocks)}))

    def look(self, A: Array, *, hessian: bool = False, **more: Any) -> Look:
        if hessian or isinstance(self.blocks, OneThread) or self.alone is None:
            return super().look(A, hessian=hessian, **more)
        return LogisticProblem.look(self.alone, A, **more)


@dataclass(frozen=True)
class OneThread(ArrayBlocks):
    """Rows whose sums are added up by one thread."""

    def _threads(self) -> int:
        return 1


def drawn(problem: LogisticProblem, count: int) -> PlainSample:
    """About ``count`` rows of the problem, weighted to stand for all."""
    _, rows = problem.blocks.draw(count, problem.n_classes)
    raw = rows.design.raw
    blocks = make_blocks(raw, rows.target, rows.weight, 0 if hasattr(raw, "toarray") else SAMPLE_BLOCK)
    return PlainSample(blocks, problem.n_classes, problem.ridge, problem.intercept, None, problem.center, problem.unit)


def _first_look(
    problem: LogisticProblem, sample: LogisticProblem, A: Array, factor: Factor, trace: Trace
) -> tuple[Look, SampleProof]:
    """The first look at all rows, which also measures the longest of them."""
    q, D = A.shape[1], len(A)
    scale = factor.scale.reshape(q, D).max(axis=0)
    lengths = Longest(problem.rows, scale / problem.units[:, 0], problem.intercept)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        look, longest = problem.blocks.reduce(Both(problem.kernel(A, bend=q == 1 and not bounded(problem)), lengths))
    trace.passes += 1
    most = float(longest.most)

    def bound(other: Array) -> float:
        return most * float(np.square(other / scale).max())

    return problem.finish(look, A), SampleProof(sample, share_of(problem, sample), bound)


def _preconditioner(
    problem: LogisticProblem, sample: LogisticProblem, A: Array, trace: Trace
) -> tuple[Any, Factor | None, LogisticProblem]:
    """(P⁻¹, its factor where there is one for all outputs, the rows that it comes from)."""
    if problem.n_outputs == 1:
        correction = None
        if precondition.little_known(sample):
            correction = (precondition.diagonal(problem, A) / precondition.diagonal(sample, A))[:, 0]
            trace.passes += 1
        two = precondition.two_class(sample, A, correction)
        return two, two.factors[0], sample
    q, D = problem.n_outputs, problem.n_features + 1
    if q * D > EXACT_SIZE:
        return precondition.many_class(sample, A), None, sample
    rows = int(2 * HESSIAN_WORK / (q * (q + 1) * D * D))
    base = sample if rows >= sample.n_rows else drawn(problem, max(rows, 20 * q * D))
    made = coupled(base, A)
    return made, made.factor, base
