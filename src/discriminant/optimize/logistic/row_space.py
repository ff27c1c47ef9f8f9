"""Fewer rows than columns: the same problem in the space that the rows span.

    (X − c)ᵗ = Q R,    x − c = Q r,    a = Q v,    ‖a‖ = ‖v‖

The optimum of a ridge problem (and the shortest of an unpenalised one) lies in the span of the rows, so that d columns
become n.  With a ridge the weights come back through the dual, a = −Xᵗ s u / λ, which is exact for columns of any size.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discriminant.data.blocks import make_blocks
from discriminant.optimize.logistic.problem import LogisticProblem, power_of_two, size_of
from discriminant.protocols import Array


def to_row_space(problem: LogisticProblem) -> tuple[LogisticProblem, Array]:
    """(the problem over n coordinates, Q (d, n))."""
    block = problem.blocks.block(0, problem.n_rows)
    values = block.design.values
    values = values.toarray() if hasattr(values, "toarray") else values
    if problem.center is not None:
        values = values - problem.center
    Q, R = np.linalg.qr(values.T)
    blocks = make_blocks(np.ascontiguousarray(R.T), problem.blocks.target, problem.blocks.weight, problem.n_rows)
    return replace(problem, blocks=blocks, center=None, unit=power_of_two(size_of(R.T))), Q


def from_row_space(problem: LogisticProblem, Q: Array, v: Array) -> Array:
    """Weights (1+d, q) in the user's units from weights over the rows' coordinates."""
    A = np.vstack([v[:1], Q @ v[1:]])
    if problem.ridge == 0:
        return A
    plain = replace(problem, unit=None)
    loss_gradient = plain.look(A).gradient - plain.damping * A
    A[1:] = -loss_gradient[1:] / problem.ridge
    return A
