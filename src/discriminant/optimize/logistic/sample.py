"""A row sample that stands for all rows: evenly spaced, with every class, and weights that keep its sums unbiased.

Rows of a frequent class are thinned; rows of a rare one are all taken, so that three rows of a class, or a hundred
positives in a million, are seen whole.
"""

from __future__ import annotations

import numpy as np

from discriminant.optimize.logistic.problem import LogisticProblem
from discriminant.protocols import Array

LEAST_PER_CLASS = 300


def sample_rows(problem: LogisticProblem, count: int) -> tuple[Array, Array]:
    """(row numbers, weights): Σ over the sample estimates Σ over all rows, divided by the same total."""
    n, target = problem.n_rows, problem.blocks.target
    own = np.asarray(problem.blocks.weight) if problem.blocks.weight is not None else None
    index = spaced(n, count)
    if target is None or np.asarray(target).dtype.kind not in "iu":
        weight = np.full(len(index), n / len(index))
        return index, weight if own is None else weight * own[index]
    codes = np.asarray(target)
    wanted = max(1, min(LEAST_PER_CLASS, count // (2 * problem.n_classes)))
    seen = np.bincount(codes[index], minlength=problem.n_classes)
    size = np.bincount(codes, minlength=problem.n_classes)
    thin = np.flatnonzero((seen < wanted) & (seen < size))
    if len(thin):
        extra = []
        for k in thin:
            mine = np.flatnonzero(codes == k)
            extra.append(mine[spaced(len(mine), wanted)])
        common = index[~np.isin(codes[index], thin)]
        index = np.sort(np.concatenate([common, *extra]))
        seen = np.bincount(codes[index], minlength=problem.n_classes)
    factor = size / np.maximum(seen, 1)
    weight = factor[codes[index]]
    return index, weight if own is None else weight * own[index]


def spaced(n: int, count: int) -> Array:
    """About ``count`` numbers below n, evenly spaced but for a jitter that breaks step with periodic rows."""
    if count >= n:
        return np.arange(n)
    edges = np.linspace(0, n, count + 1)
    jitter = np.random.default_rng(count).random(count)
    index = (edges[:-1] + jitter * (n / count)).astype(np.intp)
    return index[np.diff(index, prepend=-1) > 0]


def sampled(problem: LogisticProblem, count: int) -> LogisticProblem:
    """The problem on a row sample, in inner units; its weights sum to about the total of all rows."""
    index, weight = sample_rows(problem, count)
    return problem.pick(index, weight)
