"""The columns of X that a sparse fit works with, centred and in inner units, whatever the storage.

``Source`` sees all columns, by passes over row blocks.  A working set of columns is either gathered (dense: one
contiguous array a column; sparse: a CSC matrix) or, where rows are many and columns few, left where it is.  Both answer
the same three questions: X a, Xᵗ v, Xᵗ diag(h) X.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from discriminant.data import map_rows, workers
from discriminant.data.rows import DenseRows, SparseRows
from discriminant.data.threads import ordered_map, scratch
from discriminant.optimize.logistic.looks import Rows
from discriminant.optimize.logistic.problem import LogisticProblem
from discriminant.protocols import Array, Block

GRAM_ROWS = 2_048
GATHER_ROWS = 128
PIECES = 8
STRETCHES = 4
SHARED_WORK = 3_000_000  # multiplications from which a product is split over threads
WIDE_ENOUGH = 64  # n / d from which columns are left in place


@dataclass(frozen=True)
class Source:
    """All columns: (x − c) / u."""

    problem: LogisticProblem
    unit: Array  # (d,)

    @property
    def n(self) -> int:
        return self.problem.n_rows

    @property
    def d(self) -> int:
        return self.problem.n_features

    @property
    def narrow(self) -> bool:
        """Whether columns are so few against the rows that every pass may as well see all of them."""
        return not self.problem.sparse and self.problem.values > 200_000 and self.n >= WIDE_ENOUGH * self.d

    def adjoint(self, V: Array) -> Array:
        """((X − c)/u)ᵗ V, (d, q), in one pass."""
        if self.stretches:
            flat = V[:, 0] if V.shape[1] == 1 else V
            parts = list(ordered_map(lambda stretch: stretch @ flat, self.stretches, workers()))
            return np.asarray(np.concatenate(parts).reshape(-1, V.shape[1]) / self.unit[:, None])
        return np.asarray(self.problem.blocks.reduce(_Adjoint(self.problem.rows, V)) / self.unit[:, None])

    @cached_property
    def stretches(self) -> list[Any]:
        """A few stretches of the columns of a sparse X in memory, each as rows in CSR; none for other rows.

        Along columns a sum stays in a register; along rows it would be written as often as X has entries.
        """
        if not isinstance(self.problem.blocks.rows, SparseRows) or self.problem.center is not None:
            return []
        from scipy.sparse import csr_array

        X = self.problem.blocks.rows.by_columns
        edges = np.linspace(0, self.d, STRETCHES + 1).astype(int).tolist()
        found = []
        for a, b in itertools.pairwise(edges):
            part = slice(X.indptr[a], X.indptr[b])
            inner = (X.data[part], X.indices[part], X.indptr[a : b + 1] - X.indptr[a])
            found.append(csr_array(inner, shape=(b - a, self.n)))
        return found

    def spreads(self, s: Array, *, centred: bool) -> Array:
        """√Σ s (x − mean)² of every column; around zero where there is no intercept to absorb the mean."""
        if self.problem.sparse:
            X: Any = self.problem.blocks.rows.X  # type: ignore[union-attr]
            each = np.repeat(s, np.diff(X.indptr))
            first = np.bincount(X.indices, each * X.data, minlength=self.d)
            second = np.bincount(X.indices, each * np.square(X.data, dtype=np.float64), minlength=self.d)
        else:
            first, second = self.problem.blocks.reduce(_Moments(self.problem.rows, s))
        if centred:
            second = np.maximum(second - np.square(first), 0) + 1e-14 * second
        return np.asarray(np.sqrt(second) / self.unit)

    def entries(self, features: Array) -> float:
        """The share of a sparse X's entries that lies in these columns."""
        X = self.problem.blocks.rows.by_columns  # type: ignore[union-attr]
        return float((X.indptr[features + 1] - X.indptr[features]).sum() / max(X.nnz, 1))

    def columns(self, features: Array) -> Any:
        """These columns of dense rows, gathered: (m, n) contiguous."""
        out = np.empty((len(features), self.n))
        rows, center, unit = self.problem.blocks.rows, self.problem.center, self.unit[features][:, None]
        if isinstance(rows, DenseRows):
            for start in range(0, self.n, GATHER_ROWS):
                part = slice(start, start + GATHER_ROWS)
                out[:, part] = rows.X[part].take(features, axis=1).T
        else:
            out[:] = rows.columns(features).T
        if center is not None:
            out -= center[features][:, None]
        if (unit != 1).any():
            out /= unit
        return out


@dataclass(frozen=True)
class _Adjoint:
    rows: Rows
    V: Array

    def __call__(self, block: Block) -> Array:
        V = self.V[block.start : block.start + block.rows]
        values = self.rows.values(block)
        if V.shape[1] == 1:
            return np.asarray(values.T @ V[:, 0])[:, None]
        return np.asarray(values.T @ V)


@dataclass(frozen=True)
class _Moments:
    rows: Rows
    s: Array

    def __call__(self, block: Block) -> tuple[Array, Array]:
        s = self.s[block.start : block.start + block.rows]
        values = self.rows.values(block)
        return s @ values, np.einsum("i,ij,ij->j", s, values, values)


def _pieces(n: int, work: float) -> tuple[list[tuple[int, int]], int]:
    """(pieces of the rows, threads): as many pieces on every machine, so that their sum has the same bits."""
    shared = work >= SHARED_WORK
    edges = np.linspace(0, n, PIECES + 1 if shared else 2).astype(int)
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)), workers() if shared else 1


@dataclass
class Gathered:
    """A working set of dense columns, one contiguous row of ``buffer`` each; it grows."""

    source: Source
    features: Array = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    buffer: Array = field(default_factory=lambda: np.empty((0, 0)))

    @property
    def X(self) -> Array:
        """(m, n)."""
        return self.buffer[: len(self.features)]

    def extend(self, features: Array) -> None:
        m, more = len(self.features), len(features)
        if m + more > len(self.buffer):
            grown = np.empty((max(m + more, min(3 * (m + more) // 2, self.source.d)), self.source.n))
            if m:
                grown[:m] = self.X
            self.buffer = grown
        self.buffer[m : m + more] = self.source.columns(features)
        self.features = np.concatenate([self.features, features])

    def dot(self, D: Array) -> Array:
        """X D, (n, q), from the rows of D that are not zero."""
        used = np.flatnonzero(D.any(axis=1))
        if len(used) == 0:
            return np.zeros((self.source.n, D.shape[1]))
        rows, D = (self.X, D) if len(used) > 0.7 * len(D) else (self.X[used], D[used])
        pieces, threads = _pieces(self.source.n, float(rows.size) * D.shape[1])
        parts = list(ordered_map(lambda piece: D.T @ rows[:, piece[0] : piece[1]], pieces, threads))
        return np.hstack(parts).T.copy() if len(parts) > 1 else parts[0].T.copy()

    def adjoint(self, V: Array) -> Array:
        """Xᵗ V, (m, q)."""
        pieces, threads = _pieces(self.source.n, float(self.X.size) * V.shape[1])
        X = self.X
        if V.shape[1] == 1:
            v = V[:, 0]
            parts = ordered_map(lambda piece: X[:, piece[0] : piece[1]] @ v[piece[0] : piece[1]], pieces, threads)
            return np.asarray(sum(parts))[:, None]
        parts = ordered_map(lambda piece: X[:, piece[0] : piece[1]] @ V[piece[0] : piece[1]], pieces, threads)
        return np.asarray(sum(parts))

    def gram(self, h: Array, first: int = 0) -> Array:
        """Xᵗ diag(h) X[:, first:], (m, m − first); h ≥ 0 where first is 0."""
        m, n = len(self.features), self.source.n
        pieces, threads = _pieces(n, float(m) * n * (m - first))
        fold = partial(self._gram, h, first)
        return np.asarray(sum(ordered_map(fold, pieces, threads), np.zeros((m, m - first))))

    def _gram(self, h: Array, first: int, piece: tuple[int, int]) -> Array:
        X = self.X
        total = np.zeros((len(X), len(X) - first))
        for start in range(piece[0], piece[1], GRAM_ROWS):
            part = slice(start, min(start + GRAM_ROWS, piece[1]))
            if first:
                weighted = np.multiply(X[first:, part], h[part], out=scratch("gram", X[first:, part].shape))
                total += X[:, part] @ weighted.T
            else:
                weighted = np.multiply(X[:, part], np.sqrt(h[part]), out=scratch("gram", X[:, part].shape))
                total += weighted @ weighted.T
        return total


def unsigned(indices: Array) -> Array:
    """The same numbers, none of which counts from the end."""
    return indices.view(f"u{indices.itemsize}")


@dataclass
class GatheredSparse:
    """A working set of sparse columns, side by side in the three arrays of CSC; it grows."""

    source: Source
    features: Array = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    data: Array = field(default_factory=lambda: np.empty(0))
    indices: Array = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    indptr: Array = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    compiled: bool = False  # whether compiled kernels are loaded already

    def extend(self, features: Array) -> None:
        X, size = self.source.problem.blocks.rows.by_columns, int(self.indptr[-1])  # type: ignore[union-attr]
        counts = X.indptr[features + 1] - X.indptr[features]
        ends = np.cumsum(counts, dtype=np.int64)
        entries = np.arange(ends[-1]) + np.repeat(X.indptr[features] - ends + counts, counts)
        total = size + len(entries)
        if total > len(self.data):
            room = max(total, min(2 * total, X.nnz))
            self.data, self.indices = (
                np.resize(old, room) for old in (self.data, self.indices.astype(X.indices.dtype))
            )
        self.data[size:total] = X.data[entries] / np.repeat(self.source.unit[features], counts)
        self.indices[size:total] = X.indices[entries]
        self.indptr = np.concatenate([self.indptr, size + ends])
        self.features = np.concatenate([self.features, features])

    @property
    def X(self) -> Any:
        """CSC (n, m)."""
        from scipy.sparse import csc_array

        size = self.indptr[-1]
        shape = (self.source.n, len(self.features))
        return csc_array((self.data[:size], self.indices[:size], self.indptr), shape=shape)

    @property
    def arrays(self) -> tuple[Array, Array, Array]:
        """Values, row numbers (unsigned) and where columns begin, for compiled kernels."""
        return self.data, unsigned(self.indices), self.indptr

    def dot(self, D: Array) -> Array:
        if self.compiled and D.shape[1] == 1:
            from discriminant.kernels.coordinate_sparse import columns_dot

            return np.asarray(columns_dot(*self.arrays, D[:, 0], self.source.n))[:, None]
        return np.asarray(self.X @ D)

    def adjoint(self, V: Array) -> Array:
        if self.compiled and V.shape[1] == 1:
            from discriminant.kernels.coordinate_sparse import columns_adjoint

            return np.asarray(columns_adjoint(*self.arrays, V[:, 0]))[:, None]
        return np.asarray(self.X.T @ V)

    def some(self, features: Array, V: Array) -> Array:
        """Xᵗ V of any features, (m, 1)."""
        from discriminant.kernels.coordinate_sparse import picked_adjoint

        X: Any = self.source.problem.blocks.rows.by_columns  # type: ignore[union-attr]
        found = picked_adjoint(X.data, unsigned(X.indices), X.indptr, features, V[:, 0])
        return np.asarray(found / self.source.unit[features])[:, None]

    def gram(self, h: Array, first: int = 0) -> Array:
        X = self.X
        weighted = X[:, first:].multiply(h[:, None])
        return np.asarray((X.T @ weighted).toarray())


@dataclass
class InPlace:
    """All columns of many rows, left where they are; every question is a pass over row blocks."""

    source: Source
    features: Array = field(default_factory=lambda: np.empty(0, dtype=np.intp))

    def extend(self, features: Array) -> None:
        self.features = np.concatenate([self.features, features])

    def dot(self, D: Array) -> Array:
        A = np.zeros((self.source.d, D.shape[1]))
        A[self.features] = D / self.source.unit[self.features][:, None]
        center = self.source.problem.center
        return map_rows(partial(_scores, A, center), self.source.problem.blocks.rows, D.shape[1])

    def adjoint(self, V: Array) -> Array:
        return self.source.adjoint(V)[self.features]

    def gram(self, h: Array, first: int = 0) -> Array:
        problem, unit = self.source.problem, self.source.unit
        G = problem.blocks.reduce(_Gram(problem.rows, h)) / unit / unit[:, None]
        return np.asarray(G[np.ix_(self.features, self.features[first:])])


def _scores(A: Array, center: Array | None, design: Any) -> Array:
    values = design.values
    return np.asarray((values if center is None else values - center) @ A)


@dataclass(frozen=True)
class _Gram:
    rows: Rows
    h: Array

    def __call__(self, block: Block) -> Array:
        h = self.h[block.start : block.start + block.rows]
        values = self.rows.values(block)
        if (h >= 0).all():
            weighted = np.multiply(values, np.sqrt(h)[:, None], out=scratch("gram", values.shape))
            return np.asarray(weighted.T @ weighted)
        return np.asarray(values.T @ (values * h[:, None]))


WorkingColumns = Gathered | GatheredSparse | InPlace


def working_columns(source: Source) -> WorkingColumns:
    """An empty working set of the kind that suits the storage."""
    if source.problem.sparse:
        return GatheredSparse(source)
    return InPlace(source) if source.narrow else Gathered(source)
