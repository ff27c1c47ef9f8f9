"""Rows that are read from elsewhere: a look at them costs more than any arithmetic on a sample of them.

    sample (as large as the memory allows) → its optimum and its exact Hessian P
    on all rows:  A ← A − B g(A),  B from P⁻¹ and the last pairs;  a look a step, unit steps

A sample of m rows leaves a gap of about p/2m and a Hessian right to √(p/m); each look squares that error into the gap,
so that two or three looks are enough.  For K classes P couples all of them: K(1+d) squared, where that can be held.
"""

from __future__ import annotations

import numpy as np

from discriminant.optimize.choose import EXACT_SIZE
from discriminant.optimize.logistic import precondition
from discriminant.optimize.logistic.factor import Factor, make_factor
from discriminant.optimize.logistic.large import FIRST_ROWS, roughly
from discriminant.optimize.logistic.newton import Point, Trace, newton, regular
from discriminant.optimize.logistic.problem import LogisticProblem
from discriminant.optimize.logistic.quasi import quasi_newton
from discriminant.optimize.logistic.sample import sampled
from discriminant.protocols import Array

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


def streamed(problem: LogisticProblem, A: Array, trace: Trace, tol: float) -> Point:
    """Solve the sample, precondition by it, and look at all rows as few times as it takes."""
    K, d, quiet = problem.n_classes, problem.n_features, Trace()
    many = problem.n_outputs > 1
    small = sampled(problem, max(FIRST_ROWS, 4 * d, 50 * K * many))
    size = K if many else 1
    rough = precondition.at_zero(small) if many else precondition.two_class(small, A)
    A = quasi_newton(small, A, rough, quiet, size * roughly(small), rough=True).A
    whole = problem.blocks.sample_rows  # type: ignore[attr-defined]
    sample = sampled(problem, whole)
    between = precondition.many_class(small, A) if many else precondition.two_class(small, A)
    A = quasi_newton(sample, A, between, quiet, 0.2 * size * roughly(sample), rough=True).A
    # K classes without a ridge have no dual bound: steps go on until the gap is estimated to be closed.
    blind = many and problem.ridge == 0
    scale = 0.1 if blind else 1.0
    point = quasi_newton(problem, A, _preconditioner(problem, sample, A, trace), trace, scale * tol, rough=blind)
    if point.separated or point.gap <= tol * abs(point.look.value) or (d + 1) * problem.n_outputs > EXACT_SIZE:
        return point
    # The dual bound is too loose, or there is none: an exact Hessian proves it, and improves on it.
    return newton(problem, point.A, trace, tol, to_the_end=False)


def _preconditioner(problem: LogisticProblem, sample: LogisticProblem, A: Array, trace: Trace) -> object:
    correction = None
    if precondition.little_known(sample) and problem.n_outputs == 1:
        correction = (precondition.diagonal(problem, A) / precondition.diagonal(sample, A))[:, 0]
        trace.passes += 1
    if problem.n_outputs == 1:
        return precondition.two_class(sample, A, correction)
    q, D = problem.n_outputs, problem.n_features + 1
    if q * D > EXACT_SIZE:
        return precondition.many_class(sample, A)
    rows = int(2 * HESSIAN_WORK / (q * (q + 1) * D * D))
    return coupled(sample if rows >= sample.n_rows else sampled(problem, max(rows, 20 * q * D)), A)
