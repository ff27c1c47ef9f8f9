"""The columns of X that a sparse fit works with, centred and in inner units, whatever the storage.

``AllColumns`` sees all of them, by passes over row blocks.  A working set of columns is gathered (dense: one contiguous
array a column; sparse: CSC) or, where rows are many and columns few, left where it is.  Each kind answers three
questions: X D, Xᵗ V, Xᵗ diag(h) X.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from discriminant.arrays import as_dense
from discriminant.data.blocks import ArrayBlocks, map_rows
from discriminant.data.rows import DenseRows, SparseRows
from discriminant.data.threads import ordered_map, scratch, workers
from discriminant.kernels.coordinate import Columns
from discriminant.protocols import Array, Block
from discriminant.thresholds import COLUMNS_IN_PLACE, COPIED_VALUES, GATHER_COST, MOST_GRAM, PASS_WORK

GATHER_ROWS = 128  # rows that are turned into columns at a time: they stay in the cache
GRAM_ROWS = 2_048
PIECES = 8  # of a product over the rows, the same on every machine, so that the sum has the same bits


@dataclass(frozen=True)
class AllColumns:
    """All columns of some rows: (x − c) / u."""

    blocks: ArrayBlocks
    center: Array | None  # (d,)
    unit: Array  # (d,)

    @property
    def n(self) -> int:
        return self.blocks.n_rows

    @property
    def d(self) -> int:
        return self.blocks.n_features

    @property
    def csc(self) -> Any:
        """A sparse X by columns."""
        assert isinstance(self.blocks.rows, SparseRows)
        return self.blocks.rows.by_columns

    def working_set(self, outputs: int) -> WorkingColumns:
        """An empty working set of the kind that suits the storage."""
        if self.blocks.is_sparse:
            return SparseColumns(self)
        return BlockColumns(self) if self.in_place(outputs) else DenseColumns(self)

    def in_place(self, outputs: int) -> bool:
        """Whether rows are so many that columns are not copied."""
        if self.blocks.is_sparse or self.blocks.n_values <= COPIED_VALUES:
            return False
        return self.n >= COLUMNS_IN_PLACE * self.d and self.d * outputs <= MOST_GRAM

    def held(self, most: int, several: bool) -> tuple[Array, Array | None, Array | None, Array | None, bool] | None:
        """(values, row numbers, starts, centre, False): sparse columns in inner units, or dense values as they are.

        None where these are more than so many.  For one fit sparse rows as they are, with the columns' numbers and
        True: it reads all of them a few times, which takes less than to bring them into columns.
        """
        if isinstance(self.blocks.rows, SparseRows):
            X = self.csc if several else self.blocks.rows.X
            indices, starts = X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int64, copy=False)
            if not several:
                return np.ascontiguousarray(X.data, dtype=np.float64), indices, starts, None, True
            each = X.data if (self.unit == 1).all() else X.data / np.repeat(self.unit, np.diff(X.indptr))
            each = np.ascontiguousarray(each, dtype=np.float64)
            return each, indices, starts, None, False
        if self.blocks.n_values > most:
            return None
        X = as_dense(self.blocks.block(0, self.n).design.values)
        return X if X.flags.forc else np.ascontiguousarray(X), None, None, self.center, False

    def adjoint(self, V: Array) -> Array:
        """((X − c)/u)ᵗ V, (d, q), in one pass."""
        if self.blocks.is_sparse:
            flat = V[:, 0] if V.shape[1] == 1 else V
            parts = list(ordered_map(lambda stretch: stretch @ flat, self._stretches, workers()))
            return np.asarray(np.concatenate(parts).reshape(-1, V.shape[1]) / self.unit[:, None])
        return np.asarray(self.blocks.reduce(_Adjoint(self.center, V)) / self.unit[:, None])

    def some_adjoint(self, features: Array, V: Array) -> Array | None:
        """The same of these columns alone, or None where a pass over all is cheaper."""
        if self.blocks.is_sparse:
            X = self.csc
            if 2 * (X.indptr[features + 1] - X.indptr[features]).sum() > X.nnz:
                return None
            return np.asarray(X[:, features].T @ V) / self.unit[features][:, None]
        if len(features) * GATHER_COST > self.d:
            return None
        return np.asarray(self.gathered(features) @ V)

    @cached_property
    def _stretches(self) -> list[Any]:
        """A few stretches of the columns of a sparse X, each as the rows of a CSR matrix.

        Along columns a sum stays in a register; along rows it would be written as often as X has entries.
        """
        from scipy.sparse import csr_array

        X, found = self.csc, []
        for a, b in itertools.pairwise(np.linspace(0, self.d, 5).astype(int).tolist()):
            part = slice(X.indptr[a], X.indptr[b])
            inner = (X.data[part], X.indices[part], X.indptr[a : b + 1] - X.indptr[a])
            found.append(csr_array(inner, shape=(b - a, self.n)))
        return found

    def norms(self, s: Array, *, centred: bool) -> Array:
        """√Σ s x² of every column; ``centred``: about its mean, which a free intercept absorbs."""
        rows = self.blocks.rows
        if isinstance(rows, SparseRows):
            X = rows.X
            each = np.repeat(s, np.diff(X.indptr))
            first = np.bincount(X.indices, each * X.data, minlength=self.d)
            second = np.bincount(X.indices, each * np.square(X.data, dtype=np.float64), minlength=self.d)
        else:
            first, second = self.blocks.reduce(_Moments(self.center, s))
        if centred:
            second = np.maximum(second - np.square(first), 0) + 1e-14 * second
        return np.asarray(np.sqrt(second) / self.unit)

    def gathered(self, features: Array) -> Array:
        """These columns of dense rows: (m, n) contiguous."""
        out = np.empty((len(features), self.n))
        rows, unit = self.blocks.rows, self.unit[features][:, None]
        if isinstance(rows, DenseRows):
            for start in range(0, self.n, GATHER_ROWS):
                part = slice(start, start + GATHER_ROWS)
                out[:, part] = rows.X[part].take(features, axis=1).T
        else:
            out[:] = rows.columns(features).T
        if self.center is not None:
            out -= self.center[features][:, None]
        if (unit != 1).any():
            out /= unit
        return out


def _values(block: Block, center: Array | None) -> Any:
    values = block.design.values
    return values if center is None else np.subtract(values, center, out=scratch("centred", values.shape))


@dataclass(frozen=True)
class _Adjoint:
    center: Array | None
    V: Array

    def __call__(self, block: Block) -> Array:
        return np.asarray(_values(block, self.center).T @ self.V[block.start : block.start + block.rows])


@dataclass(frozen=True)
class _Moments:
    center: Array | None
    s: Array

    def __call__(self, block: Block) -> tuple[Array, Array]:
        s, values = self.s[block.start : block.start + block.rows], _values(block, self.center)
        return s @ values, s @ np.square(values, out=scratch("squares", values.shape))


@dataclass(frozen=True)
class _Gram:
    center: Array | None
    h: Array

    def __call__(self, block: Block) -> Array:
        h, values = self.h[block.start : block.start + block.rows], _values(block, self.center)
        return np.asarray(values.T @ np.multiply(values, h[:, None], out=scratch("gram", values.shape)))


def _pieces(n: int, work: float) -> tuple[list[slice], int]:
    """(pieces of the rows, threads)."""
    if work < PIECES * PASS_WORK:
        return [slice(0, n)], 1
    edges = np.linspace(0, n, PIECES + 1).astype(int).tolist()
    return [slice(a, b) for a, b in itertools.pairwise(edges)], workers()


@dataclass
class DenseColumns:
    """Dense columns, one contiguous row of ``buffer`` each; the set grows."""

    source: AllColumns
    features: Array = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    buffer: Array = field(default_factory=lambda: np.empty((0, 0)))

    @property
    def X(self) -> Array:
        """(m, n)."""
        return self.buffer[: len(self.features)]

    @property
    def raw(self) -> Columns:
        return Columns(self.X, None, None)

    def extend(self, features: Array) -> None:
        """Take these columns in."""
        m, more = len(self.features), len(features)
        if m + more > len(self.buffer):
            grown = np.empty((max(m + more, min(3 * (m + more) // 2, self.source.d)), self.source.n))
            if m:
                grown[:m] = self.X
            self.buffer = grown
        self.buffer[m : m + more] = self.source.gathered(features)
        self.features = np.concatenate([self.features, features])

    def pick(self, index: Array) -> DenseColumns:
        """Some of the columns."""
        return DenseColumns(self.source, self.features[index], self.X[index])

    def dot(self, D: Array) -> Array:
        """X D, (n, q), from the rows of D that are not zero."""
        used = np.flatnonzero(D.any(axis=1))
        if len(used) == 0:
            return np.zeros((self.source.n, D.shape[1]))
        rows, D = (self.X, D) if len(used) > 0.7 * len(D) else (self.X[used], D[used])
        pieces, threads = _pieces(self.source.n, float(rows.size) * D.shape[1])
        return np.hstack(list(ordered_map(lambda piece: D.T @ rows[:, piece], pieces, threads))).T.copy()

    def adjoint(self, V: Array) -> Array:
        """Xᵗ V, (m, q)."""
        pieces, threads = _pieces(self.source.n, float(self.X.size) * V.shape[1])
        X, flat = self.X, V[:, 0] if V.shape[1] == 1 else V
        parts = ordered_map(lambda piece: X[:, piece] @ flat[piece], pieces, threads)
        return np.asarray(sum(parts)).reshape(len(X), V.shape[1])

    def squares(self, s: Array) -> Array:
        """Σ s x² of each."""
        return np.asarray(np.einsum("ji,ji,i->j", self.X, self.X, s))

    def gram(self, h: Array, first: int = 0) -> Array:
        """Xᵗ diag(h) X[:, first:], (m, m − first)."""
        m, n = len(self.features), self.source.n
        pieces, threads = _pieces(n, float(m) * n * (m - first))
        fold = partial(self._gram, h, first)
        return np.asarray(sum(ordered_map(fold, pieces, threads), np.zeros((m, m - first))))

    def _gram(self, h: Array, first: int, piece: slice) -> Array:
        X, root = self.X, first == 0 and bool((h >= 0).all())
        total = np.zeros((len(X), len(X) - first))
        for start in range(piece.start, piece.stop, GRAM_ROWS):
            part = slice(start, min(start + GRAM_ROWS, piece.stop))
            each = np.sqrt(h[part]) if root else h[part]
            weighted = np.multiply(X[first:, part], each, out=scratch("gram", X[first:, part].shape))
            total += (weighted if root else X[:, part]) @ weighted.T  # a matrix with itself: half the arithmetic
        return total


@dataclass
class SparseColumns:
    """Sparse columns side by side in the three arrays of CSC; the set grows."""

    source: AllColumns
    features: Array = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    data: Array = field(default_factory=lambda: np.empty(0))
    indices: Array = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    indptr: Array = field(default_factory=lambda: np.zeros(1, dtype=np.int64))

    @property
    def X(self) -> Any:
        """CSC (n, m)."""
        from scipy.sparse import csc_array

        size, shape = self.indptr[-1], (self.source.n, len(self.features))
        return csc_array((self.data[:size], self.indices[:size], self.indptr), shape=shape)

    @property
    def raw(self) -> Columns:
        return Columns(self.data, self.indices, self.indptr)

    def extend(self, features: Array) -> None:
        """Take these columns in."""
        X, size = self.source.csc, int(self.indptr[-1])
        data, indices, starts = _slices(X.data, X.indices, X.indptr, features)
        total = size + len(data)
        if total > len(self.data):
            room = max(total, min(2 * total, X.nnz))
            self.data, self.indices = np.resize(self.data, room), np.resize(self.indices, room)
        self.data[size:total] = data / np.repeat(self.source.unit[features], np.diff(starts))
        self.indices[size:total] = indices
        self.indptr = np.concatenate([self.indptr, size + starts[1:]])
        self.features = np.concatenate([self.features, features])

    def pick(self, index: Array) -> SparseColumns:
        """Some of the columns."""
        return SparseColumns(self.source, self.features[index], *_slices(self.data, self.indices, self.indptr, index))

    def dot(self, D: Array) -> Array:
        """X D, (n, q), from the rows of D that are not zero."""
        used = np.flatnonzero(D.any(axis=1))
        few = 3 * len(used) < len(D)
        return np.asarray(self.pick(used).X @ D[used] if few else self.X @ D)

    def adjoint(self, V: Array) -> Array:
        """Xᵗ V, (m, q)."""
        return np.asarray(self.X.T @ V)

    def squares(self, s: Array) -> Array:
        """Σ s x² of each."""
        X = self.X
        return np.asarray(X.multiply(X).T @ s)

    def gram(self, h: Array, first: int = 0) -> Array:
        """Xᵗ diag(h) X[:, first:], (m, m − first)."""
        X = self.X
        return np.asarray((X.T @ X[:, first:].multiply(h[:, None])).toarray())


def _slices(data: Array, indices: Array, indptr: Array, columns: Array) -> tuple[Array, Array, Array]:
    """The three arrays of CSC of some columns."""
    counts = indptr[columns + 1] - indptr[columns]
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    entries = np.arange(starts[-1]) + np.repeat(indptr[columns] - starts[:-1], counts)
    return data[entries], indices[entries].astype(np.int32, copy=False), starts


@dataclass
class BlockColumns:
    """All columns of many rows, left where they are; every question is a pass over row blocks."""

    source: AllColumns
    features: Array = field(default_factory=lambda: np.empty(0, dtype=np.intp))

    def extend(self, features: Array) -> None:
        """Take these columns in."""
        self.features = np.concatenate([self.features, features])

    def dot(self, D: Array) -> Array:
        """X D, (n, q)."""
        A = np.zeros((self.source.d, D.shape[1]))
        A[self.features] = D / self.source.unit[self.features][:, None]
        return map_rows(partial(_scores, A, self.source.center), self.source.blocks.rows, D.shape[1])

    def adjoint(self, V: Array) -> Array:
        """Xᵗ V, (m, q)."""
        return self.source.adjoint(V)[self.features]

    def gram(self, h: Array, first: int = 0) -> Array:
        """Xᵗ diag(h) X[:, first:], (m, m − first)."""
        unit = self.source.unit
        G = self.source.blocks.reduce(_Gram(self.source.center, h)) / unit / unit[:, None]
        return np.asarray(G[np.ix_(self.features, self.features[first:])])


def _scores(A: Array, center: Array | None, design: Any) -> Array:
    return np.asarray((design.values if center is None else design.values - center) @ A)


WorkingColumns = DenseColumns | SparseColumns | BlockColumns
