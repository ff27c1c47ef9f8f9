"""Sentences for numbers that are not numbers.

No pass over X is spent on looking for NaN or infinity: they show in the sums.  Only when a sum is not finite are the
rows read again, to name the column and the row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from discriminant.arrays import first_not_finite, is_frame, is_sparse
from discriminant.data.blocks import make_blocks
from discriminant.data.labels import encode_labels
from discriminant.data.rows import DENSE_BLOCK_VALUES, DenseRows, Rows, as_rows, column_names
from discriminant.errors import DataError, columns, not_finite, require_unmasked
from discriminant.protocols import Array

MANY_CLASSES, MOST_SCORES = 2_000, 5_000_000_000


def require_finite(X: Any, feature_names: Sequence[str] | None = None, *, estimator: str = "") -> None:
    """Raise a sentence that names the first column of X with NaN or infinity; hand back where there is none."""
    rows = as_rows(X)
    # Of an array as many rows as stay in the cache: a sum takes less than its call where blocks are small.
    count = max(rows.block_rows, DENSE_BLOCK_VALUES // max(rows.shape[1], 1)) if isinstance(rows, DenseRows) else 0
    for block in make_blocks(rows, block_rows=count):
        values = block.design.values
        entries = values.data if is_sparse(values) else values
        with np.errstate(over="ignore", invalid="ignore"):  # what is wrong with the sum is reported below
            total = entries.sum()
        if not np.isfinite(total) and not np.isfinite(entries).all():
            _refuse(values, block.start, feature_names, estimator, rows)


def labelled_rows(X: Any, y: Any, asker: str, feature_names: Sequence[str] | None = None) -> tuple[Rows, Array, Array]:
    """(rows, classes, codes) of rows in memory with a label each; sentences for what is none or not finite."""
    rows = as_rows(X)
    classes, codes = encode_labels(y, n_rows=rows.shape[0])
    feature_names = column_names(X) if feature_names is None and is_frame(X) else feature_names
    require_finite(rows, feature_names, estimator=asker)
    return rows, classes, codes


def _refuse(values: Any, start: int, feature_names: Sequence[str] | None, estimator: str, rows: Rows) -> NoReturn:
    row, column, value = first_not_finite(values)
    where = f"{columns([column], feature_names)} in {rows.where(start + row)}"
    raise not_finite(value, where, estimator or "This estimator")


def check_weights(sample_weight: Any, n_rows: int, codes: Array | None = None) -> Array | None:
    """Row weights as float64 (n,) in one piece, or None where all are one; a sentence where they make no sense.

    ``codes``: the class of each row, where two classes at least must have some weight.
    """
    if sample_weight is None:
        return None
    require_unmasked(sample_weight, "sample_weight")
    weight = np.asarray(sample_weight)
    if weight.ndim == 0 and weight.dtype.kind in "fiub":
        weight = np.full(n_rows, float(weight))
    if weight.dtype.kind not in "fiubO":
        raise DataError(
            f"sample_weight holds {weight.dtype} values; weights are numbers that say how often a row counts."
        )
    if weight.ndim != 1:
        raise DataError(f"Sample weights must be 1D array or scalar; sample_weight has {weight.ndim} dimensions.")
    if weight.shape[0] != n_rows:
        raise DataError(f"sample_weight.shape == {weight.shape}, expected {(n_rows,)}: one weight per row of X.")
    weight = np.ascontiguousarray(weight, dtype=np.float64)
    if not np.isfinite(weight).all():
        raise DataError(f"sample_weight contains NaN or infinity (row {int(np.argmin(np.isfinite(weight)))}).")
    if weight.size and weight.min() < 0:
        row = int(np.argmin(weight))
        raise DataError(
            f"Negative values in data passed to `sample_weight`: row {row} has {weight[row]:g}. "
            "A weight says how often a row counts; drop rows with weight 0 instead of subtracting them."
        )
    if weight.size and not weight.any():
        raise DataError("sample_weight is zero for every row: there is nothing to learn from.")
    if weight.size:
        _require_bearable(weight)
    if codes is not None:
        weighed = codes[weight > 0]
        if (weighed == weighed[0]).all():
            raise DataError("Only one class has rows of positive weight; a discriminant needs two to tell apart.")
    return None if weight.size and (weight == 1.0).all() else weight


def _require_bearable(weight: Array) -> None:
    """Refuse weights whose sum is infinite, or that are all too small to be more than a few bits."""
    with np.errstate(over="ignore"):
        total = float(weight.sum())
    if not np.isfinite(total):
        raise DataError("The sum of sample_weight overflows; divide the weights by their largest.")
    if weight.max() < np.finfo(np.float64).tiny:
        raise DataError("sample_weight holds nothing but subnormal numbers, of a few bits each; divide by the largest.")


def require_few_classes(estimator: str, n_rows: int, n_classes: int) -> None:
    """Refuse a fit of which one pass over the data, a score for each row and class, takes minutes."""
    if n_classes > MANY_CLASSES and n_rows * n_classes > MOST_SCORES:
        raise DataError(
            f"{n_classes} classes of {n_rows} rows in all are too many for {estimator}, which works out {n_rows} × "
            f"{n_classes} scores again and again. Merge rare classes, or use LinearDiscriminantAnalysis."
        )
