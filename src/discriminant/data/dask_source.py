"""Dask arrays and data frames as a source: labels and weights beside the rows they belong to, lazy predictions.

Categorical columns become columns of zeros and ones, one a level but the first (``dask_parts.Levels``).  Predictions
stay lazy: an array for an array, a series or frame with the same index for a frame.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.data import dask_parts as parts_
from discriminant.data.blocks import ArrayBlocks
from discriminant.data.dask_blocks import DaskBlocks, DaskRows, Remote
from discriminant.data.dask_engine import Engine
from discriminant.data.sources import RowFunction, Source
from discriminant.errors import DataError
from discriminant.protocols import Array


@dataclass(frozen=True, eq=False)
class DaskSource(Source):
    """A Dask array or data frame as a source."""

    X: Any
    levels: parts_.Levels | None  # of a frame
    sample_bytes: int = 32_000_000  # of the rows that come here as a sample

    @property
    def shape(self) -> tuple[int, int]:
        rows = self.X.shape[0]
        known = isinstance(rows, int | np.integer)
        return (int(rows) if known else -1), (int(self.X.shape[1]) if self.levels is None else len(self.levels.names))

    @property
    def dtype(self) -> Any:
        kinds = [self.X.dtype] if self.levels is None else list(self.X.dtypes)
        return np.dtype(np.float32 if all(kind == np.float32 for kind in kinds) else np.float64)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        return None if self.levels is None else self.levels.names

    def training(self, y: Any, sample_weight: Any, classes: Array | None) -> tuple[ArrayBlocks, Array]:
        if y is None:
            raise DataError("y is None: hand over a label for each row of X.")
        engine = Engine()
        raw = self._parts(engine, y, sample_weight)
        abouts = engine.each(parts_.describe, raw)
        if not sum(about.rows for about in abouts):
            raise DataError("X has 0 rows; at least one is needed.")
        found = merged_classes([about.classes for about in abouts if about.rows]) if classes is None else classes
        rows = self._rows(engine, raw, abouts, found)
        if rows.class_weight.sum() <= 0:
            raise DataError("sample_weight is zero for every row: there is nothing to learn from.")
        weight = Remote(np.dtype(np.float64)) if any(about.weighted for about in abouts) else None
        return DaskBlocks(rows, Remote(np.dtype(np.int32)), weight), found

    def _parts(self, engine: Engine, y: Any, weight: Any) -> list[Any]:
        import dask

        pieces, lengths = self._pieces(), row_chunks(self.X)
        labels = beside(y, "y", len(pieces), lengths, engine, pieces)
        own = beside(weight, "sample_weight", len(pieces), lengths, engine, pieces)
        make = dask.delayed(parts_.prepare, pure=False)
        tasks = [make(x, t, w, self.levels) for x, t, w in zip(pieces, labels, own, strict=True)]
        return engine.held(tasks, self._bytes())

    def _pieces(self) -> list[Any]:
        """A delayed object for each partition."""
        if self.levels is not None:
            return list(self.X.to_delayed())
        X = self.X.rechunk({1: -1}) if self.X.numblocks[1] > 1 else self.X
        return list(X.to_delayed().ravel())

    def _bytes(self) -> float:
        """What the rows take in memory; nothing where it is not known, so that they are held."""
        size = float(getattr(self.X, "nbytes", 0.0)) if self.levels is None else 0.0
        return size if np.isfinite(size) else 0.0

    def _rows(self, engine: Engine, raw: list[Any], abouts: list[parts_.About], classes: Array) -> DaskRows:
        import dask

        starts = np.concatenate([[0], np.cumsum([about.rows for about in abouts])]).astype(int).tolist()
        make, known = dask.delayed(parts_.encode, pure=False), dask.delayed(classes, pure=False)
        tasks = [make(part, known, start) for part, start in zip(raw, starts[:-1], strict=True)]
        tasks = engine.held(tasks, self._bytes())
        rows, weight = engine.total(parts_.Count(len(classes)), tasks, None, 0)
        return DaskRows(engine, tasks, abouts, rows, weight, self.shape[1], self.sample_bytes)

    def apply(self, function: Callable[[Any], Array], out: Any = None) -> Any:
        return lazily(self.X, self.levels, function, self.shape[1])

    def score(self, predict: Callable[[Any], Array], y: Any = None, sample_weight: Any = None) -> float:
        engine = Engine()
        raw = self._parts(engine, y, sample_weight)
        right, total = np.sum(engine.each(parts_.hits, raw, predict), axis=0)
        return float(right / total)

    def learn(self, partial_fit: Any, y: Any, sample_weight: Any, classes: Array | None) -> None:
        """Partition after partition, each on its worker; the estimator travels, the rows do not."""
        import dask

        engine = Engine()
        raw = self._parts(engine, y, sample_weight)
        if classes is None:
            classes = merged_classes([about.classes for about in engine.each(parts_.describe, raw) if about.rows])
        step, state = dask.delayed(parts_.learn, pure=False), dask.delayed(partial_fit, pure=False)
        for part in raw:
            state = step(state, part, classes)
        partial_fit.take_over(engine.run(state))


def open_dask(X: Any) -> DaskSource | None:
    """The source of a Dask array or data frame."""
    if hasattr(X, "chunks"):
        if X.ndim != 2:
            raise DataError(f"X has {X.ndim} dimension(s) and must have two: one row a sample, one column a feature.")
        return DaskSource(X, None)
    if not hasattr(X, "columns") or not hasattr(X, "npartitions"):
        return None
    categorical = [name for name, kind in X.dtypes.items() if str(kind) == "category"]
    unknown = [name for name in categorical if not X[name].cat.known]
    if unknown:
        X = X.categorize(columns=unknown)
    levels = tuple((str(name), tuple(X._meta[name].cat.categories)) for name in categorical)
    return DaskSource(X, parts_.Levels(tuple(str(name) for name in X.columns), levels))


def merged_classes(each: list[Array]) -> Array:
    """The classes of all partitions, in order."""
    kinds = {classes.dtype.kind for classes in each}
    if "O" in kinds:
        found = {label for classes in each for label in classes.tolist()}
        return np.array(sorted(found), dtype=object)
    return np.unique(np.concatenate(each))


def row_chunks(X: Any) -> tuple[int, ...] | None:
    """The numbers of rows of the partitions, where they are known."""
    chunks = getattr(X, "chunks", None)
    if chunks is None or not all(np.isfinite(chunks[0])):
        return None
    return tuple(int(size) for size in chunks[0])


def _rows(part: Any) -> int:
    return len(part) if not hasattr(part, "shape") else int(part.shape[0])


def beside(
    values: Any, name: str, count: int, lengths: tuple[int, ...] | None, engine: Engine, pieces: list[Any]
) -> list[Any]:
    """What belongs to the rows of each partition, cut as X is."""
    if values is None:
        return [None] * count
    if type(values).__module__.partition(".")[0] in ("dask", "dask_expr"):
        if lengths is not None and getattr(values, "chunks", None) is not None:
            own = row_chunks(values)
            if own is not None and sum(own) != sum(lengths):
                raise DataError(
                    f"X has {sum(lengths)} rows and {name} has {sum(own)}: inconsistent numbers of samples."
                )
            if own is not None and own != lengths:
                values = values.rechunk({0: lengths})
        delayed = list(np.ravel(values.to_delayed()))
        if len(delayed) != count:
            raise DataError(
                f"X has {count} partitions and {name} has {len(delayed)}; both must be cut in the same way. "
                "Repartition one of them, or compute the chunk sizes of both (X.compute_chunk_sizes())."
            )
        return delayed
    array = np.asarray(values)
    if lengths is None:
        lengths = tuple(engine.each(_rows, pieces))
    if array.ndim == 0:
        return [np.full(size, array) for size in lengths]
    if len(array) != sum(lengths):
        raise DataError(f"X has {sum(lengths)} rows and {name} has {len(array)}: inconsistent numbers of samples.")
    edges = np.concatenate([[0], np.cumsum(lengths)]).astype(int).tolist()
    return [array[a:b] for a, b in itertools.pairwise(edges)]


def lazily(X: Any, levels: parts_.Levels | None, function: Callable[[Any], Array], n_features: int) -> Any:
    """function(rows) of every partition; one row of zeros shows what shape and type it gives."""
    example = np.asarray(function(np.zeros((1, n_features), dtype=np.float64)))
    if levels is None:
        return _array(X, function, example)
    return _frame(X, levels, function, example)


def _array(X: Any, function: Callable[[Any], Array], example: Array) -> Any:
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    single = X.dtype == np.float32 and example.dtype.kind == "f"
    meta = np.empty((0,) * example.ndim, dtype=np.float32 if single else example.dtype)
    if example.ndim == 1:
        return X.map_blocks(_values, function, drop_axis=1, dtype=meta.dtype, meta=meta)
    chunks = (X.chunks[0], (example.shape[1],))
    return X.map_blocks(_values, function, chunks=chunks, dtype=meta.dtype, meta=meta)


def _values(rows: Any, function: Callable[[Any], Array]) -> Array:
    return np.asarray(function(parts_.as_matrix(rows, None)))


def _frame(X: Any, levels: parts_.Levels, function: Callable[[Any], Array], example: Array) -> Any:
    names = _names(function, example)
    empty = _framed(X._meta, levels, None, example[:0], names)
    return X.map_partitions(_framed, levels, function, example[:0], names, meta=empty)


def _names(function: Any, example: Array) -> list[Any]:
    """The classes for a column each, where there are as many; else numbers."""
    if example.ndim == 1:
        return []
    classes = function.classes if isinstance(function, RowFunction) else ()
    return list(classes) if len(classes) == example.shape[1] else list(range(example.shape[1]))


def _framed(frame: Any, levels: parts_.Levels, function: Any, empty: Array, names: list[Any]) -> Any:
    values = np.asarray(function(levels.array(frame))) if function is not None and len(frame) else empty
    if empty.ndim == 1:
        return frame._constructor_sliced(values, index=frame.index)  # the frame's own kind of column
    return frame._constructor(values, index=frame.index, columns=names)
