"""The targets of a logistic regression beyond plain labels: class probabilities, class weights, offsets."""

from __future__ import annotations

from typing import Any

import numpy as np

from discriminant.data import ArrayBlocks, as_rows, is_frame, make_blocks
from discriminant.data.check import check_weights
from discriminant.errors import DataError, ParameterError, classes_are
from discriminant.protocols import Array


def is_table(y: Any) -> bool:
    """Whether y has several columns: class probabilities, not labels."""
    shape = getattr(y, "shape", None)
    if shape is None and isinstance(y, list | tuple) and len(y):
        shape = (len(y), len(y[0])) if isinstance(y[0], list | tuple | np.ndarray) else (len(y),)
    return shape is not None and len(shape) == 2 and shape[1] > 1


def weigh(blocks: ArrayBlocks, factors: Array) -> ArrayBlocks:
    """Blocks whose row weights carry the factors of their classes."""
    kind = getattr(getattr(blocks.target, "dtype", None), "kind", "u")
    if kind not in "iu":
        raise ParameterError("class_weight has no meaning for class probabilities; use sample_weight.")
    return blocks.weighed(factors)


def read_soft(estimator: Any, X: Any, y: Any, sample_weight: Any) -> tuple[ArrayBlocks, Array, Any, Array]:
    """Rows with class probabilities (n, K); a frame's column names are the classes."""
    rows = as_rows(estimator._read_rows(X, reset=True))
    classes = np.array(list(y.columns)) if is_frame(y) else np.arange(np.shape(y)[1])
    t = np.asarray(y, dtype=np.float64)
    if len(t) != rows.shape[0]:
        raise DataError(f"X has {rows.shape[0]} rows and y has {len(t)}: inconsistent numbers of samples.")
    total = t.sum(axis=1)
    if not (np.isfinite(t).all() and (t >= 0).all() and np.abs(total - 1).max() < 1e-6):
        row = int(np.argmax(~(np.isfinite(t).all(axis=1) & (t >= 0).all(axis=1) & (np.abs(total - 1) < 1e-6))))
        raise DataError(
            f"y has {t.shape[1]} columns, which are read as class probabilities: they must be ≥ 0 and sum to 1 in each "
            f"row. Row {row} is {t[row].tolist()}; Multioutput targets are not supported: fit one model a column."
        )
    weight = check_weights(sample_weight, len(t))
    mass = t if weight is None else t * weight[:, None]
    if (mass.sum(axis=0) == 0).any():
        raise DataError(f"{classes_are(list(classes[mass.sum(axis=0) == 0]), 'has', 'have')} no weight in any row.")
    dtype = np.float32 if getattr(getattr(rows, "X", None), "dtype", None) == np.float32 else np.float64
    t = t / total[:, None]
    return make_blocks(rows, t[:, 1] if t.shape[1] == 2 else t, weight), classes, dtype, mass.sum(axis=0)


def read_offset(offset: Any, blocks: ArrayBlocks) -> Array | None:
    """Known parts of the scores, one (or K) for each row."""
    if offset is None:
        return None
    values = np.asarray(offset, dtype=np.float64)
    if len(values) != blocks.n_rows or not np.isfinite(values).all():
        raise DataError(f"offset must hold a finite number for each of the {blocks.n_rows} rows.")
    return values
