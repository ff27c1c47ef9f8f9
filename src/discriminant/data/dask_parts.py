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
from discriminant.data.blocks import ArrayBlocks, _add, spaced
from discriminant.data.check import check_weights
from discriminant.data.labels import code_type, count_classes, encode_labels, recode
from discriminant.data.row_sample import RowSample
from discriminant.data.rows import as_rows
from discriminant.data.threads import as_worker
from discriminant.errors import DataError, names
from discriminant.protocols import Array, Block

BETWEEN = "="  # between a column's name and its level in the name of a dummy column


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
    weighted: bool


@dataclass(frozen=True)
class Levels:
    """The levels of a frame's categorical columns: (column, its levels), one column of zeros and ones a level.

    The first level is the one that the others are told from: it has no column (treatment coding).
    """

    columns: tuple[str, ...]
    levels: tuple[tuple[str, tuple[Any, ...]], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        known = dict(self.levels)
        result: list[str] = []
        for name in self.columns:
            result += [f"{name}{BETWEEN}{level}" for level in known[name][1:]] if name in known else [name]
        return tuple(result)

    def array(self, frame: Any) -> Array:
        """A pandas frame as numbers (n, d)."""
        known, columns = dict(self.levels), []
        for name in self.columns:
            column = frame[name]
            columns += self._dummies(name, column, known[name]) if name in known else [_numbers(name, column)]
        single = bool(columns) and all(column.dtype == np.float32 for column in columns)
        result = np.empty((len(frame), len(columns)), dtype=np.float32 if single else np.float64)
        for j, column in enumerate(columns):
            result[:, j] = column
        return result

    @staticmethod
    def _dummies(name: str, column: Any, levels: tuple[Any, ...]) -> list[Array]:
        values = np.asarray(column.astype(object))
        hits = [values == level for level in levels]
        strange = ~np.logical_or.reduce(hits) if hits else np.ones(len(values), dtype=bool)
        if strange.any():
            found = values[int(np.argmax(strange))]
            raise DataError(
                f"Column {name!r} holds {found!r}, which is missing or none of its levels {names(list(levels))}. Fill "
                "it, or drop the row."
            )
        return [hit.astype(np.float32) for hit in hits[1:]]


def _numbers(name: str, column: Any) -> Array:
    if getattr(column.dtype, "kind", "O") not in "fiub":
        raise DataError(
            f"Column {name!r} holds {column.dtype} values and a linear discriminant needs numbers. Make it a category "
            "(frame.categorize(columns=[…])), encode it, or drop it."
        )
    values = column.to_numpy()
    return np.asarray(values if values.dtype.kind in "fiub" else values.astype(np.float64))


def as_matrix(rows: Any, levels: Levels | None) -> Any:
    """The rows of a partition as a contiguous array, or as a CSR matrix."""
    if levels is not None:
        return levels.array(rows)
    if is_sparse(rows):
        return rows.tocsr()
    if hasattr(rows, "todense") and not isinstance(rows, np.ndarray):
        return rows.to_scipy_sparse().tocsr()  # the sparse arrays that Dask knows
    array = np.asarray(rows)
    if array.dtype.kind not in "fiub":
        raise DataError(f"X holds {array.dtype} values and a linear discriminant needs numbers.")
    return np.ascontiguousarray(array)


def as_vector(values: Any) -> Array:
    """Labels or weights of a partition, one-dimensional."""
    array = np.asarray(values.astype(object) if hasattr(values, "cat") else values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise DataError(f"y should be a 1d array, got an array of shape {array.shape} instead.")
    return array


def prepare(rows: Any, y: Any, weight: Any, levels: Levels | None) -> Part:
    """A partition of the user's collections as arrays."""
    X = as_matrix(rows, levels)
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
    classes = encode_labels(part.labels)[0] if part.rows else np.asarray(part.labels)[:0]
    if part.weight is not None:
        weight = np.asarray(part.weight, dtype=np.float64)
        if weight.any():  # all zero is no fault where other partitions have some
            check_weights(weight, part.rows)
    sparse = is_sparse(part.X)
    values = part.X.nnz if sparse else part.X.shape[0] * part.X.shape[1]
    return About(part.rows, int(values), sparse, part.X.dtype == np.float32, classes, part.weight is not None)


def encode(part: Part, classes: Array, start: int) -> Part:
    """Labels as codes, weights as float64."""
    weight = None if part.weight is None else np.asarray(part.weight, dtype=np.float64)
    if not part.rows:
        return Part(part.X, np.zeros(0, dtype=code_type(len(classes))), weight, start)
    return Part(part.X, recode(*encode_labels(part.labels), classes), weight, start)


def blocks_of(part: Part, factors: Array | None, block_rows: int) -> ArrayBlocks:
    """The partition in blocks; ``factors``: on the weights of the classes."""
    blocks = ArrayBlocks(as_rows(part.X), part.labels, part.weight, block_rows, part.start)
    return blocks if factors is None else blocks.weighed(factors)


def fold(kernel: Callable[[Block], Any], part: Part, factors: Array | None, block_rows: int) -> Any:
    """Σ over the partition's blocks; None where it has no rows."""
    if not part.rows:
        return None
    with as_worker():
        return blocks_of(part, factors, block_rows).reduce(kernel)


def add(parts: Sequence[Any]) -> Any:
    """The sum, first to last.  What came in stays as it was: a task may be run again on it after a worker's death."""
    total: Any = None
    for part in parts:
        if part is not None:
            total = copy.deepcopy(part) if total is None else _add(total, part)
    return total


def counts(part: Part, n_classes: int) -> Array:
    """Rows and weight of each class, (2, K)."""
    weight = None if part.weight is None else np.asarray(part.weight)
    return np.stack([count_classes(part.labels, n_classes), count_classes(part.labels, n_classes, weight)])


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
