"""How collections are cut: labels and weights beside the rows they belong to, whatever kind each of them is."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from discriminant.data.dask_engine import Engine
from discriminant.errors import DataError
from discriminant.protocols import Array


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
