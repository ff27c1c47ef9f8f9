"""Predictions of Dask collections that stay lazy: nothing is computed until they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from discriminant.data import dask_parts as parts_
from discriminant.protocols import Array


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
    classes = getattr(function.args[1], "classes_", ()) if len(getattr(function, "args", ())) == 4 else ()
    return list(classes) if len(classes) == example.shape[1] else list(range(example.shape[1]))


def _framed(frame: Any, levels: parts_.Levels, function: Any, empty: Array, names: list[Any]) -> Any:
    values = np.asarray(function(levels.array(frame))) if function is not None and len(frame) else empty
    if empty.ndim == 1:
        return frame._constructor_sliced(values, index=frame.index)  # the frame's own kind of column
    return frame._constructor(values, index=frame.index, columns=names)
