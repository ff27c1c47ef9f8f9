"""What runs where the rows are: functions of one partition, all of them small, their results small too.

A partition is its rows as an array (or CSR matrix), class codes, weights, and the number of its first row in the whole.
Nothing here imports Dask, so that it runs in any worker, and in tests without one.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.arrays import is_sparse
from discriminant.data.blocks import ArrayBlocks, added, spaced
from discriminant.data.categories import encode_frame
from discriminant.data.check import check_weights
from discriminant.data.labels import code_type, count_classes, encode_labels
from discriminant.data.preprocess import Preprocess
from discriminant.data.row_sample import RowSample
from discriminant.data.rows import as_rows
from discriminant.data.threads import as_worker
from discriminant.errors import DataError
from discriminant.protocols import Array, Block


@dataclass(frozen=True)
class Part:
    """Rows with what belongs to them; labels become codes in ``encode``."""

    X: Any
    labels: Any = None
    weight: Any = None
    start: int = 0

    @property
    def rows(self) -> int:
        return int(self.X.shape[0])


@dataclass(frozen=True)
class About:
    """What the whole needs to know of a partition."""

    rows: int
    values: int
    sparse: bool
    single: bool  # float32 rows
    classes: Array
    counts: Array  # (2, K): rows and weight of each of these
    weighted: bool


def as_matrix(rows: Any, rules: Preprocess | None) -> Any:
    """The rows of a partition as a contiguous array, or as a CSR matrix."""
    if rules is not None:
        return np.ascontiguousarray(encode_frame(rules.rules, rows))
    if is_sparse(rows):
        return rows.tocsr()
    if hasattr(rows, "todense") and not isinstance(rows, np.ndarray):
        return rows.to_scipy_sparse().tocsr()  # the sparse arrays that Dask knows
    return np.ascontiguousarray(as_rows(np.asarray(rows)).design(0, len(rows)).raw)


def as_vector(values: Any) -> Array:
    """Labels or weights of a partition, one-dimensional."""
    array = np.asarray(values.astype(object) if hasattr(values, "cat") else values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise DataError(f"y should be a 1d array, got an array of shape {array.shape} instead.")
    return array


def prepare(rows: Any, y: Any, weight: Any, rules: Preprocess | None) -> Part:
    """A partition of the user's collections as arrays."""
    X = as_matrix(rows, rules)
    labels, own = None if y is None else as_vector(y), None if weight is None else as_vector(weight)
    for values, name in ((labels, "y"), (own, "sample_weight")):
        if values is not None and len(values) != X.shape[0]:
            raise DataError(
                f"A partition of X has {X.shape[0]} rows and that of {name} has {len(values)}. Both must be cut in the "
                "same way; repartition one of them."
            )
    return Part(X, labels, own)


def describe(part: Part) -> About:
    """Rows, classes and kind of a partition."""
    classes, codes = encode_labels(part.labels) if part.rows else (np.asarray(part.labels)[:0],) * 2
    weight = None if part.weight is None else np.asarray(part.weight, dtype=np.float64)
    if weight is not None and weight.any():  # all zero is no fault where other partitions have some
        check_weights(weight, part.rows)
    sparse, K = is_sparse(part.X), len(classes)
    values = part.X.nnz if sparse else part.X.shape[0] * part.X.shape[1]
    counts = np.stack([count_classes(codes, K), count_classes(codes, K, weight)])
    return About(part.rows, int(values), sparse, part.X.dtype == np.float32, classes, counts, weight is not None)


def encode(part: Part, classes: Array, start: int) -> Part:
    """Labels as codes, weights as float64."""
    weight = None if part.weight is None else np.asarray(part.weight, dtype=np.float64)
    if not part.rows:
        return Part(part.X, np.zeros(0, dtype=code_type(len(classes))), weight, start)
    return Part(part.X, encode_labels(part.labels, classes)[1], weight, start)


def blocks_of(part: Part, factors: Array | None, block_rows: int) -> ArrayBlocks:
    """The partition in blocks; ``factors``: on the weights of the classes."""
    blocks = ArrayBlocks(as_rows(part.X), part.labels, part.weight, block_rows, part.start)
    return blocks if factors is None else blocks.reweighted(factors)


def fold(kernel: Callable[[Block], Any], part: Part, factors: Array | None, block_rows: int) -> Any:
    """Σ over the partition's blocks; None where it has no rows."""
    if not part.rows:
        return None
    with as_worker():
        return blocks_of(part, factors, block_rows).reduce(kernel)


def add(parts: Sequence[Any]) -> Any:
    """The sum, first to last.  What came in stays as it was: a task may be run again on it after a worker's death."""
    return added(copy.deepcopy(part) for part in parts if part is not None)


def take(part: Part, index: Array) -> RowSample:
    """The rows with these numbers (of the whole) that lie in this partition."""
    return _taken(part, index[(index >= part.start) & (index < part.start + part.rows)] - part.start)


def draw(part: Part, share: float, rare: Array, most: int) -> RowSample:
    """About ``share`` of the rows, and up to ``most`` rows of each class that is rare in the whole."""
    keep = spaced(part.rows, max(1, round(share * part.rows))) if part.rows else np.zeros(0, dtype=np.intp)
    extra = [np.flatnonzero(np.asarray(part.labels) == k)[:most] for k in rare]
    return _taken(part, np.unique(np.concatenate([keep, *extra])).astype(np.intp))


def _taken(part: Part, keep: Array) -> RowSample:
    weight = None if part.weight is None else part.weight[keep]
    return RowSample(keep + part.start, part.X[keep], np.asarray(part.labels)[keep], weight)


def hits(part: Part, predict: Callable[[Any], Any]) -> Array:
    """(weight of the rows that are predicted rightly, weight of all)."""
    if not part.rows:
        return np.zeros(2)
    right = np.asarray(predict(part.X)) == np.asarray(part.labels)
    weight = np.ones(part.rows) if part.weight is None else np.asarray(part.weight, dtype=np.float64)
    return np.array([weight[right].sum(), weight.sum()])


def learn(partial_fit: Any, part: Part, classes: Array) -> Any:
    """``partial_fit`` with what it learned from one more partition; the one that came in stays as it was."""
    if not part.rows:
        return partial_fit
    partial_fit = copy.deepcopy(partial_fit)
    extra = {} if part.weight is None else {"sample_weight": part.weight}
    partial_fit(part.X, part.labels, classes=classes, **extra)
    return partial_fit


def columns(part: Part, indices: Array) -> Array:
    """Some columns in float64."""
    values = part.X[:, indices]
    return np.asarray(values.toarray() if is_sparse(values) else values, dtype=np.float64)
