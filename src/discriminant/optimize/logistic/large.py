"""Many rows: a row sample's optimum and curvature first, then few looks at all rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from discriminant.optimize.logistic import precondition, thinned
from discriminant.optimize.logistic.floor import last_proof
from discriminant.optimize.logistic.newton import Point, Trace, newton
from discriminant.optimize.logistic.problem import LogisticProblem
from discriminant.optimize.logistic.quasi import quasi_newton
from discriminant.optimize.logistic.sample import sampled
from discriminant.protocols import Array

FIRST_ROWS = 2_000
SAMPLE_ROWS = 10_000
SAMPLE_SHARE = 25  # one row in so many: the sample and its Hessian then cost about a look at all rows
MOST_SAMPLE_ROWS = 40_000
BEFORE_NEWTON = 40.0  # times: how far from a sample's optimum its Hessian is taken, where a Newton step follows
LEFT = 0.2  # share of the squared decrement that a step by a smaller sample's Hessian leaves; 0.03 to 0.2 measured
NEAR = 0.25  # mean square change of the scores up to which a whole Newton step is taken without a look
FEW_COLUMNS = 50
ROWS_PER_COLUMN = 20


def sample_size(problem: LogisticProblem) -> int:
    """Rows enough for a Hessian right to some per cent, few enough to cost less than a look."""
    wanted = max(SAMPLE_ROWS, min(problem.n_rows // SAMPLE_SHARE, MOST_SAMPLE_ROWS))
    return int(min(max(wanted, ROWS_PER_COLUMN * problem.n_features), max(problem.n_rows // 4, 1_000)))


def roughly(sample: LogisticProblem) -> float:
    """The relative gap at which a sample's optimum is as near as the sample can know: d/2n is its own error."""
    return 0.05 * sample.n_features / sample.n_rows


def start(
    problem: LogisticProblem, sample: LogisticProblem, A: Array, rough: Any, quiet: Trace, trace: Trace
) -> tuple[Array, precondition.Blockwise]:
    """The sample's optimum and its Hessian there, from A and a rougher preconditioner."""
    if precondition.little_known(sample):
        A = quasi_newton(sample, A, rough, quiet, roughly(sample), rough=True).A
        correction = precondition.diagonal(problem, A) / precondition.diagonal(sample, A)
        trace.passes += 1
        return A, precondition.two_class(sample, A, correction[:, 0])
    # The Hessian comes with a gradient, so its whole Newton step is free: what goes before it may end further off.
    tol = BEFORE_NEWTON * roughly(sample)
    A = quasi_newton(sample, A, rough, quiet, tol, rough=True, unseen=LEFT).A
    preconditioner, look = precondition.with_look(sample, A)
    step = preconditioner.solve(look.gradient)
    assert look.bend is not None
    # ν² over the mean curvature is the mean square of what the step does to the scores.
    if float(np.vdot(look.gradient, step)) <= NEAR * float(look.bend[0]):
        return A - step, preconditioner
    A = quasi_newton(sample, A, preconditioner, quiet, roughly(sample), rough=True, look=look).A
    return A, precondition.two_class(sample, A)


def two_class(problem: LogisticProblem, A: Array, trace: Trace, tol: float) -> Point:
    """Sample, solve it roughly, take its Hessian there as preconditioner, then quasi-Newton on all rows."""
    quiet = Trace()
    small = sampled(problem, max(FIRST_ROWS, 4 * problem.n_features))
    rough = precondition.two_class(small, A)
    A = quasi_newton(small, A, rough, quiet, roughly(small), rough=True).A
    wide = problem.n_features > 4 * FEW_COLUMNS
    # Many columns: float32 halves the sample and its Gram matrix, and is enough unless columns are nearly collinear.
    sample = sampled(problem, sample_size(problem), np.float32 if wide else np.float64)
    if wide:
        rough = precondition.two_class(sample, A)
        if rough.factors[0].least < precondition.SINGLE_PIVOT:
            sample = sampled(problem, sample_size(problem))
            rough = precondition.two_class(sample, A)
    A, preconditioner = start(problem, sample, A, rough, quiet, trace)
    trace.passes += quiet.passes * sample.n_rows / problem.n_rows
    del sample, small  # an exact Hessian at the end needs their memory
    point = quasi_newton(problem, A, preconditioner, trace, tol)
    if point.separated or point.gap <= tol * abs(point.look.value):
        return point
    # The dual bound is too loose to certify what is solved already: an exact Hessian proves it, and improves on it.
    return newton(problem, point.A, trace, tol, to_the_end=False)


def sampled_newton(problem: LogisticProblem, A: Array, trace: Trace, tol: float) -> Point:
    """Exact Newton steps on all rows from a sample's optimum."""
    sample = sampled(problem, sample_size(problem))
    A = newton(sample, A, Trace(), 0.02 * problem.n_features / sample.n_rows, to_the_end=False).A
    return newton(problem, A, trace, tol, to_the_end=False)


def many_class(problem: LogisticProblem, A: Array, trace: Trace, tol: float) -> Point:
    """K classes: a start from samples, preconditioned by the diagonal blocks of the Hessian, renewed where slow."""
    quiet = Trace()
    K, d, n = problem.n_classes, problem.n_features, problem.n_rows
    small = sampled(problem, min(max(FIRST_ROWS, 4 * d, 50 * K), max(n // 15, 500)), np.float32)
    rough = precondition.at_zero(small)
    A = quasi_newton(small, A, rough, quiet, K * roughly(small), rough=True).A
    trace.passes += quiet.passes * small.n_rows / n
    renew = thinned.Renewal(problem, trace) if thinned.suits(problem) else None
    rows = min(max(sample_size(problem), 10 * d * K), n // 12)
    prove = last_proof(problem)
    if renew is not None and rows < 4 * d * K:
        # Too few rows to know each class's curvature: the classes' common one, until the weights are nearer.
        return quasi_newton(problem, A, thinned.pooled(problem), trace, tol, renew=renew, prove=prove)
    sample, quiet = sampled(problem, rows, np.float32), Trace()
    blocks = precondition.many_class if thinned.can_hold(problem) else precondition.common
    A = quasi_newton(sample, A, blocks(small, A), quiet, K * roughly(sample), rough=True).A
    trace.passes += quiet.passes * sample.n_rows / n
    preconditioner = blocks(sample, A)
    del sample, small  # what follows needs their memory
    return quasi_newton(problem, A, preconditioner, trace, tol, renew=renew, prove=prove)


def wide(problem: LogisticProblem, A: Array, trace: Trace, tol: float) -> Point:
    """Many columns, sparse or not: steps preconditioned by the diagonal of the Hessian."""
    if problem.n_outputs > 1:
        return _wide_many(problem, A, trace, tol)
    preconditioner, look = precondition.arrow(problem, A)
    trace.passes += 1 + (look.squares is None) + (problem.row_square < np.inf)
    return quasi_newton(problem, A, preconditioner, trace, tol, look=look, prove=last_proof(problem))


def _wide_many(problem: LogisticProblem, A: Array, trace: Trace, tol: float) -> Point:
    """K classes: the diagonal at A = 0, where every posterior is 1/K."""
    K = problem.n_classes
    one = replace(problem, n_classes=2)
    curve = 4 * (1 / K) * (1 - 1 / K)  # against σ' = ¼ of two classes at zero
    loss = precondition.diagonal(one, np.zeros((len(A), 1))) - problem.damping
    trace.passes += 1
    diagonal = curve * loss + problem.damping
    diagonal = np.where(diagonal > 0, diagonal, 1.0)
    return quasi_newton(problem, A, precondition.Diagonal(diagonal), trace, tol, prove=last_proof(problem))
