"""A row sample that stands for all rows: evenly spaced, with every class, and weights that keep its sums unbiased.

Rows of a frequent class are thinned; rows of a rare one are all taken, so that three rows of a class, or a hundred
positives in a million, are seen whole (``Blocks.draw``).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from discriminant.data import ArrayBlocks, DenseRows
from discriminant.data.blocks import SERIAL_VALUES
from discriminant.data.rows import PickedRows
from discriminant.data.threads import drop_scratch, ordered_map, scratch, workers
from discriminant.optimize.logistic.problem import SAMPLE_BLOCK, LogisticProblem
from discriminant.protocols import Array

GATHER = 200_000  # values that are fetched at a time: what lies between X and the sample stays in the cache


def sampled(problem: LogisticProblem, count: int, dtype: Any = np.float64) -> LogisticProblem:
    """The problem on a row sample, in inner units; its weights sum to about the total of all rows."""
    blocks = problem.blocks
    if type(blocks) is ArrayBlocks and isinstance(blocks.rows, DenseRows):
        index, target, weight = blocks.chosen(count, problem.n_classes)
        return problem.of_rows(index, gathered(problem, blocks.rows.X, index, dtype), target, weight)
    index, rows = blocks.draw(count, problem.n_classes)
    values: Any = rows.design.values
    if problem.sparse:
        values = values.multiply(1 / problem.units[1:, 0]).tocsr()
    else:
        values = (values - (0.0 if problem.center is None else problem.center)) / problem.units[1:, 0]
    return problem.of_rows(index, values.astype(dtype, copy=False), rows.target, rows.weight)


def picked(problem: LogisticProblem, count: int) -> LogisticProblem:
    """The problem on a row sample that is not copied but fetched with each look: for one too large to be held."""
    blocks = problem.blocks
    index, target, weight = blocks.chosen(count, problem.n_classes)
    rows: Any = PickedRows(blocks.rows, index)  # type: ignore[arg-type]
    offset = None if problem.offset is None else problem.offset[index]
    return replace(problem, blocks=ArrayBlocks(rows, target, weight, SAMPLE_BLOCK), offset=offset)


def gathered(problem: LogisticProblem, X: Array, index: Array, dtype: Any) -> Array:
    """Rows of X, centred and in inner units, without copies in between: fresh memory costs more than arithmetic."""
    d = problem.n_features
    out = np.empty((len(index), d), dtype=dtype)
    step = max(GATHER // max(d, 1), 16)
    inverse = 1 / problem.units[1:, 0]  # powers of two: exact

    def fetch(start: int) -> None:
        rows, place = index[start : start + step], out[start : start + step]
        part = place if place.dtype == np.float64 else scratch("gathered", place.shape)
        if X.dtype == np.float64 and X.flags.c_contiguous:
            np.take(X, rows, axis=0, out=part, mode="clip")
        elif X.dtype == np.float64 and X.flags.f_contiguous:  # of another order than its own, take copies all of X
            part[...] = np.take(X.T, rows, axis=1).T
        else:
            part[...] = X[rows]
        if problem.center is not None:
            part -= problem.center
        np.multiply(part, inverse, out=place, casting="same_kind")

    for _ in ordered_map(fetch, range(0, len(index), step), 1 if out.size < SERIAL_VALUES else workers()):
        continue
    drop_scratch()
    return out
