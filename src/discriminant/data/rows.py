"""``Rows``, what every storage of X is: something with a shape that hands out rows start:stop as a Design.

``DenseRows``, ``SparseRows`` and ``FrameRows`` hold X as the user gave it.  Their designs are linear maps
Y = [1, x] with scores Y A, adjoint Yᵗ G and sandwich Yᵗ diag(w) Y; the ones are never stored, and a block is converted
to float64 on use, never X.  ``MappedRows`` are the features φ(x) of such a source.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from discriminant.arrays import as_dense, is_frame, is_sparse
from discriminant.data.threads import scratch
from discriminant.errors import DataError, require_unmasked
from discriminant.protocols import Array, Dtype
from discriminant.thresholds import FRAME_VALUES

if TYPE_CHECKING:
    from discriminant.data.blocks import ArrayBlocks

DENSE_BLOCK_VALUES = 200_000  # 1.6 MB of float64: a block stays in the cache, and a call is worth its time
LEAST_BLOCK_ROWS = 1_024  # below this the rank-k update is bound by writing its d × d result
MOST_BLOCK_VALUES = 4_000_000
FLOAT = np.dtype(np.float64)
REAL = (Real, Decimal, np.bool_)  # numbers among the objects of a column


@dataclass(frozen=True)
class Design(ABC):
    """Rows of an array or a CSR matrix with the ones in front: Y = [1, x]."""

    raw: Any

    @property
    def shape(self) -> tuple[int, int]:
        return self.raw.shape[0], self.raw.shape[1] + 1

    @property
    @abstractmethod
    def values(self) -> Any:
        """The rows in float64."""

    @abstractmethod
    def times(self, w: Array) -> Any:
        """diag(w) X."""

    def dense(self) -> Array:
        """The rows as a plain array."""
        return as_dense(self.values)

    def scores(self, A: Array) -> Array:
        return np.asarray(self.values @ A[1:] + A[0])

    def adjoint(self, G: Array) -> Array:
        return np.vstack([G.sum(axis=0, keepdims=True), np.asarray(self.values.T @ G)])

    def sandwich(self, w: Array) -> Array:
        d, weighted = self.raw.shape[1], self.times(w)
        result = np.empty((d + 1, d + 1))
        result[0, 0] = w.sum()
        result[0, 1:] = result[1:, 0] = np.asarray(weighted.sum(axis=0)).ravel()
        result[1:, 1:] = as_dense(self.values.T @ weighted)
        return result

    def rough_sandwich(self, w: Array | None, unit: Array) -> Array:
        """The same of columns measured in units (d,), dense rows in single precision; ``w`` None: weights of one."""
        scale = np.concatenate([[1.0], 1 / unit])
        return np.asarray(self.sandwich(np.ones(self.shape[0]) if w is None else w) * scale * scale[:, None])


class DenseDesign(Design):
    """Rows of a dense array with the ones in front."""

    @cached_property
    def values(self) -> Array:  # type: ignore[override]
        """The rows in float64: a view where they are already."""
        return np.asarray(self.raw.astype(np.float64, copy=False))

    def times(self, w: Array) -> Array:
        return np.asarray(self.values * w[:, None])

    def sandwich(self, w: Array) -> Array:
        if not (w >= 0).all():
            return super().sandwich(w)
        rooted = self.times(np.sqrt(w))
        result = np.empty((rooted.shape[1] + 1, rooted.shape[1] + 1))
        result[0, 0] = w.sum()
        result[0, 1:] = result[1:, 0] = w @ self.values
        result[1:, 1:] = rooted.T @ rooted  # of a matrix with itself: half the products
        return result

    def rough_sandwich(self, w: Array | None, unit: Array) -> Array:
        Y = np.ones(self.shape, dtype=np.float32)
        np.divide(self.values, unit, out=Y[:, 1:], casting="same_kind")
        if w is not None:
            Y *= np.sqrt(w).astype(np.float32)[:, None]
        return np.asarray(Y.T @ Y, dtype=np.float64)

    def squared(self) -> DenseDesign:
        """Y∘Y."""
        return DenseDesign(np.square(self.values))

    def squared_norms(self) -> Array:
        """‖x‖² of each row."""
        return np.asarray(np.einsum("ij,ij->i", self.values, self.values))


class SparseDesign(Design):
    """Rows of a sparse matrix (CSR, each place named once) with the ones in front; nothing is densified."""

    @cached_property
    def values(self) -> Any:  # type: ignore[override]
        """The rows with float64 entries, sharing indices with X."""
        return self.raw if self.raw.dtype == np.float64 else self.raw.astype(np.float64)

    def times(self, w: Array) -> Any:
        return self.values.multiply(w[:, None]).tocsr()

    def squared(self) -> SparseDesign:
        """Y∘Y."""
        return SparseDesign(self.values.multiply(self.values).tocsr())

    def squared_norms(self) -> Array:
        """‖x‖² of each row."""
        X = self.values  # a product of matrices, X.multiply(X), takes four times as long
        squares = type(X)((X.data * X.data, X.indices, X.indptr), shape=X.shape, copy=False)
        return np.asarray(squares @ np.ones(X.shape[1]))


AnyDesign = DenseDesign | SparseDesign


def as_design(raw: Any) -> AnyDesign:
    """Rows of an array or a sparse matrix as a design."""
    return SparseDesign(raw.tocsr()) if is_sparse(raw) else DenseDesign(np.asarray(raw))


class Rows(ABC):
    """The rows of a storage: shape, ``design(start, stop)`` and ``pick(numbers)`` are all that a new one must have."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """(rows, features)."""

    @abstractmethod
    def design(self, start: int, stop: int) -> AnyDesign:
        """Rows start:stop."""

    @abstractmethod
    def pick(self, rows: Array) -> AnyDesign:
        """The rows with these numbers, in that order."""

    def columns(self, indices: Array) -> Array:
        """Some columns, all rows, dense and in float64."""
        steps = range(0, self.shape[0], self.block_rows)
        parts: list[Any] = [self.design(i, min(i + self.block_rows, self.shape[0])).values[:, indices] for i in steps]
        return np.vstack([as_dense(part) for part in parts])

    @property
    def block_rows(self) -> int:
        """How many rows a block of a pass has."""
        return max(256, DENSE_BLOCK_VALUES // max(self.shape[1], 1))

    @property
    def dtype(self) -> Dtype:
        """Of results: float32 for rows of float32, else float64."""
        return FLOAT

    @property
    def blocks_type(self) -> type[ArrayBlocks] | None:
        """The ``ArrayBlocks`` that pass over these rows; None: those of rows in memory."""
        return None

    def where(self, row: int) -> str:
        """How a message names a row."""
        return f"row {row}"


class HeldRows(Rows):
    """Rows that are an array or a matrix X."""

    X: Any

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.X.shape[0]), int(self.X.shape[1])

    @property
    def dtype(self) -> Dtype:
        return np.dtype(np.float32 if self.X.dtype == np.float32 else np.float64)


@dataclass(frozen=True)
class DenseRows(HeldRows):
    """A two-dimensional array: any order, any real type, memory maps included."""

    X: Array

    @property
    def block_rows(self) -> int:
        # Blocks are a small share of X in bytes, too: int8 grows eightfold when it is converted.
        n, d = self.X.shape[0] * self.X.itemsize // 8, max(self.X.shape[1], 1)
        rows = max(DENSE_BLOCK_VALUES // d, min(LEAST_BLOCK_ROWS, MOST_BLOCK_VALUES // d), 1)
        return int(min(rows, max(256, n // 64)))

    def design(self, start: int, stop: int) -> DenseDesign:
        return DenseDesign(self.X[start:stop])

    def pick(self, rows: Array) -> DenseDesign:
        return DenseDesign(self.X[rows])

    def columns(self, indices: Array) -> Array:
        return self.X[:, indices].astype(np.float64, copy=False)


@dataclass(frozen=True)
class SparseRows(HeldRows):
    """A CSR matrix (old matrix or new array type, 32- or 64-bit indices); row blocks are views of its three arrays."""

    X: Any

    @property
    def block_rows(self) -> int:
        n = max(self.X.shape[0], 1)
        return int(max(64, min(n, 200_000 * n // max(self.X.nnz, 1))))

    def design(self, start: int, stop: int) -> SparseDesign:
        if start == 0 and stop >= self.X.shape[0]:
            return SparseDesign(self.X)
        first, last = self.X.indptr[start], self.X.indptr[stop]
        parts = (self.X.data[first:last], self.X.indices[first:last], self.X.indptr[start : stop + 1] - first)
        return SparseDesign(type(self.X)(parts, shape=(stop - start, self.X.shape[1]), copy=False))

    @cached_property
    def by_columns(self) -> Any:
        """The same in CSC, for who reads columns many times."""
        return self.X.tocsc()

    def pick(self, rows: Array) -> SparseDesign:
        return SparseDesign(self.X[rows])

    def columns(self, indices: Array) -> Array:
        return np.asarray(self.X[:, indices].toarray(), dtype=np.float64)


@dataclass(frozen=True)
class FrameRows(Rows):
    """A data frame of any library that narwhals knows; converted a block at a time."""

    frame: Any  # a narwhals DataFrame

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.frame.shape
        return int(n), int(d)

    @property
    def block_rows(self) -> int:
        # A frame's slice costs about a microsecond per column, so its blocks are larger than an array's.
        n, d = self.shape
        return max(1, min(max(256, n // 16), 8 * DENSE_BLOCK_VALUES // max(d, 1)))

    def design(self, start: int, stop: int) -> DenseDesign:
        return self._dense(self.frame[start:stop])

    def pick(self, rows: Array) -> DenseDesign:
        return self._dense(self.frame[rows])

    def columns(self, indices: Array) -> Array:
        return self._dense(self.frame[:, indices.tolist()]).values

    @staticmethod
    def _dense(block: Any) -> DenseDesign:
        if column_kinds(block.to_native()) <= set("fiu") and (values := block.to_numpy()).dtype.kind in "fiu":
            return DenseDesign(np.ascontiguousarray(values, dtype=np.float64))
        values = np.empty((block.shape[0], block.shape[1]))
        for j, name in enumerate(block.columns):
            values[:, j] = column_numbers(block.get_column(name))
        return DenseDesign(values)


@dataclass(frozen=True)
class ColumnRows:
    """Columns side by side, as frames and files have them; a block of rows is put together when its turn comes."""

    values: list[Array | tuple[Array, Array]]  # numbers, or (codes, table): code c stands for the numbers table[c]
    shape: tuple[int, int]
    dtype: Dtype = FLOAT

    def fill(self, rows: slice | Array, out: Array) -> Array:
        """``out``, holding these rows."""
        at = 0
        for column in self.values:
            if isinstance(column, tuple):
                codes, table = column
                out[:, at : at + table.shape[1]] = np.take(table, codes[rows], axis=0, mode="wrap")  # −1 is the last
                at += table.shape[1]
            else:
                out[:, at] = column[rows]
                at += 1
        return out

    def design(self, start: int, stop: int) -> DenseDesign:
        """Rows start:stop, in memory that the thread's next block takes again."""
        return DenseDesign(self.fill(slice(start, stop), scratch("read", (stop - start, self.shape[1]), self.dtype)))

    def pick(self, rows: Array) -> DenseDesign:
        """A copy of these rows."""
        return DenseDesign(self.fill(rows, np.empty((len(rows), self.shape[1]), self.dtype)))


@dataclass(frozen=True)
class MappedRows(Rows):
    """φ(x) of another source's rows, worked out a block at a time, so that X is never expanded as a whole."""

    source: Rows
    transform: Callable[[Any], Any]
    n_features: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.source.shape[0], self.n_features

    @property
    def block_rows(self) -> int:
        # A call of φ costs some microseconds, so its blocks are larger than an array's.
        widest = max(self.n_features, self.source.shape[1], 1)
        return max(1, min(max(256, self.source.shape[0] // 16), 4 * DENSE_BLOCK_VALUES // widest))

    def design(self, start: int, stop: int) -> AnyDesign:
        if isinstance(self.source, FrameRows):  # a frame as it is: φ may ask for its columns by name
            return as_design(self.transform(self.source.frame[start:stop].to_native()))
        return as_design(self.transform(self.source.design(start, stop).raw))

    def pick(self, rows: Array) -> AnyDesign:
        if isinstance(self.source, FrameRows):
            return as_design(self.transform(self.source.frame[rows].to_native()))
        return as_design(self.transform(self.source.pick(rows).raw))


def column_numbers(series: Any) -> Array:
    """A column of a frame (narwhals') in float64, NaN where a value is missing; DataError where one is no number."""
    native = series.to_native()
    if hasattr(native, "sparse") or str(getattr(native, "dtype", "")) == "boolean":  # pandas' own
        return np.asarray(native.to_numpy(dtype=np.float64, na_value=np.nan))
    values = series.to_numpy()
    if values.dtype == object:
        missing = series.is_null().to_numpy()
        wrong = [int(row) for row in np.flatnonzero(~missing) if not isinstance(values[row], REAL)]
        values = np.where(missing, np.nan, values)
    else:
        wrong = [] if values.dtype.kind in "fiub" else [0]
    if wrong:
        raise DataError(
            f"Column {series.name!r} holds {values[wrong[0]]!r} in row {wrong[0]}, and a linear discriminant needs "
            "numbers. Encode it (for example with sklearn.preprocessing.OneHotEncoder) or drop it."
        )
    return np.asarray(values, dtype=np.float64)


def require_rows(X: Any) -> None:
    """Refuse a query that has not been run, by its type: to ask one for its columns may run it; and a batch."""
    if type(X).__name__ == "RecordBatch":
        raise DataError("X is a RecordBatch; hand over a table: pyarrow.Table.from_batches([X]).")
    if type(X).__name__ in ("LazyFrame", "DuckDBPyRelation"):
        how = "collect()" if hasattr(X, "collect") else "arrow()"
        raise DataError(
            f"X is a {type(X).__name__}: a query, whose rows are not there yet and need not come in the same order "
            f"twice. Run it once, and take X and y from the result: table = query.{how}."
        )


def column_names(X: Any) -> tuple[str, ...]:
    """The names of a frame's columns (pyarrow keeps them apart from the columns)."""
    names = np.asarray(getattr(X, "column_names", X.columns), dtype=object)  # pandas' take 2 µs each one by one
    return tuple(map(str, names.tolist()))


def column_kinds(X: Any) -> set[str]:
    """NumPy's letters of the columns' types, "O" for what is no number; of a frame that does not say so "?".

    narwhals takes 100 µs to hold a frame and to name its types, a third of a fit of 1000×10.
    """
    return {_kind(dtype) for dtype in set(getattr(X, "dtypes", ()))} or {"?"}


def _kind(dtype: Any) -> str:
    if type(dtype).__module__.partition(".")[0] == "polars":
        return "f" if dtype.is_float() else "i" if dtype.is_integer() else "O"
    return str(getattr(dtype, "kind", "O"))


def require_unique_names(X: Any) -> None:
    """Refuse a frame in which two columns have one name."""
    names = column_names(X)
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise DataError(f"The data frame has more than one column {twice[0]!r}; rename them, so that each has its own.")


def as_rows(X: Any) -> Rows:
    """X as rows, in place: no copy of a dense array, a CSR matrix or a frame (CSC becomes CSR)."""
    if isinstance(X, Rows):
        return X
    require_rows(X)
    if is_sparse(X):
        _require_numbers(X)
        _require_places(X)
        X = X if X.format == "csr" else X.tocsr()
        if not all(part.flags.c_contiguous for part in (X.data, X.indices, X.indptr)):  # as the kernels read them
            X = X.copy()
        if not X.has_canonical_format:  # entries of one place are added, as SciPy means them
            X = X.copy()
            X.sum_duplicates()
        return SparseRows(X)
    if is_frame(X):
        return _frame_rows(X)
    require_unmasked(X, "X")
    array = np.asarray(X)
    if array.ndim != 2:
        raise DataError(
            f"X has {array.ndim} dimension(s) and must have two: one row per sample, one column per feature."
        )
    if array.dtype == object and all(value is None or isinstance(value, REAL) for value in array.flat):
        array = array.astype(np.float64)
    _require_numbers(array)
    return DenseRows(array)


def _require_numbers(X: Any) -> None:
    if X.dtype.kind not in "fiub":
        raise DataError(f"X holds {X.dtype} values and a linear discriminant needs numbers.")


def _require_places(X: Any) -> None:
    """Refuse a compressed matrix whose indices point outside of it: compiled code, SciPy's too, trusts them."""
    if X.format not in ("csr", "csc"):
        return
    lines, places = X.shape if X.format == "csr" else X.shape[::-1]
    ends = X.indptr
    whole = len(ends) == lines + 1 and ends[0] == 0 and ends[-1] <= min(len(X.indices), len(X.data))
    if whole and not (ends[1:] < ends[:-1]).any():
        used = X.indices[: ends[-1]].view(f"u{X.indices.dtype.itemsize}")  # a negative one is a very large one
        if not len(used) or used.max() < places:
            return
    raise DataError(
        f"The sparse matrix X of shape {X.shape} is damaged: its indices or indptr point outside of it. "
        "X.check_format() says where; make it again from its rows, columns and values."
    )


def as_source(X: Any) -> Rows:
    """X as the rows that a basis reads: frames stay frames, whatever their columns hold."""
    if is_frame(X):
        import narwhals.stable.v2 as nw

        return FrameRows(nw.from_native(X, eager_only=True))
    return as_rows(X)


def _frame_rows(X: Any) -> DenseRows | FrameRows:
    require_unique_names(X)
    if type(X).__module__.partition(".")[0] == "pandas" and len(set(X.dtypes)) == 1:
        values = X.to_numpy()  # one block of one type: a view
        if values.dtype.kind in "fiub":
            return DenseRows(values)
    import narwhals.stable.v2 as nw

    frame = nw.from_native(X, eager_only=True)
    for name, dtype in frame.schema.items():
        if dtype in (nw.Object, nw.Unknown):
            column_numbers(frame.get_column(name))  # objects and sparse columns may hold numbers: it raises if not
        elif not (dtype.is_numeric() or dtype == nw.Boolean):
            raise DataError(
                f"Column {name!r} holds {dtype} values and a linear discriminant needs numbers. "
                "Encode it (for example with sklearn.preprocessing.OneHotEncoder) or drop it."
            )
    rows = FrameRows(frame)
    small = frame.shape[0] * frame.shape[1] <= FRAME_VALUES
    return DenseRows(rows.design(0, frame.shape[0]).values) if small else rows
