"""Centre and units of the columns: what makes solvers blind to offsets and units of measurement.

    z = a₀ + Σ_j a_j (x_j − c_j) / u_j

u_j is a power of two near the spread of column j, so that the change of units is exact.  c_j is one of the column's own
values near its mean, where the mean is large against the spread: x − c is then exact where it matters (Sterbenz's
lemma).  Sparse rows have no centre, which would fill their zeros.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discriminant.arrays import as_dense
from discriminant.data.blocks import ArrayBlocks
from discriminant.data.rows import DenseRows
from discriminant.errors import DataError, columns
from discriminant.protocols import Array
from discriminant.thresholds import FAR_MEAN, SCALING_ROWS

LARGEST_UNIT = 2.0**500  # the squares of larger units overflow, those of smaller ones than its inverse vanish


@dataclass(frozen=True)
class Scaling:
    """Columns are (x − center) / unit."""

    center: Array | None  # (d,)
    unit: Array  # (d,), powers of two

    @cached_property
    def units(self) -> Array:
        """(1+d, 1): that of the intercept in front."""
        units = np.ones((len(self.unit) + 1, 1))
        units[1:, 0] = self.unit
        return units

    def to_user(self, A: Array) -> tuple[Array, Array | None]:
        """(weights (1+d, q) of x − center, center): the only way back."""
        return np.asarray(A / self.units), self.center

    def from_user(self, A: Array) -> Array:
        """Weights of x with a plain intercept → weights of the scaled columns."""
        A = np.array(A, dtype=np.float64)
        if self.center is not None:
            A[0] += self.center @ A[1:]
        return np.asarray(A * self.units)


def choose_scaling(blocks: ArrayBlocks, intercept: bool) -> Scaling:
    """Centre and units from (a sample of) the rows."""
    n, d = blocks.n_rows, blocks.n_features
    if blocks.is_sparse:
        return _sparse_scaling(
            blocks.block(0, n).design.raw if blocks.in_memory else blocks.spread(80 * SCALING_ROWS).raw
        )
    values = _some_rows(blocks, max(128, SCALING_ROWS // max(d, 1)))
    with np.errstate(over="ignore", invalid="ignore"):
        size = size_of(values)
        if not intercept:
            return Scaling(None, usable_units(size))
        mean = np.ones(len(values)) @ values / len(values)
        # |mean| > F·spread, since spread² = size² − mean²: no second walk through the rows
        near = np.abs(mean) <= FAR_MEAN / math.sqrt(1 + FAR_MEAN**2) * size
        if near.all():
            return Scaling(None, usable_units(size))
        far = ~near & np.isfinite(mean)
        nearest = values[np.abs(values - mean).argmin(axis=0), np.arange(d)]
        center = np.where(far, nearest, 0.0)
        return Scaling(center, usable_units(size_of(values - center)))


def _some_rows(blocks: ArrayBlocks, count: int) -> Array:
    """The values of about so many rows.

    Of wide arrays in memory they are a view, since fresh pages take ten times as long as the sums: one fit with L1 of
    500×2000 took 0.8 ms longer with a copy.  Its step is odd, which
    no pattern of two, four, … rows hides from.
    """
    n, rows = blocks.n_rows, blocks.rows
    if blocks.in_memory and n <= count:
        return as_dense(blocks.block(0, n).design.values)
    if isinstance(rows, DenseRows) and rows.shape[1] > count:
        return rows.X[:: n // count | 1].astype(np.float64, copy=False)
    return as_dense(blocks.spread(count).values)


def _sparse_scaling(X: Any) -> Scaling:
    """Units alone: a centre would fill the zeros."""
    X = X.tocsr()
    squares = type(X)((np.square(X.data, dtype=np.float64), X.indices, X.indptr), shape=X.shape)
    sums = np.ones(X.shape[0]) @ squares  # a tenth of the time of counting the columns' numbers
    return Scaling(None, usable_units(np.sqrt(sums / max(X.shape[0], 1))))


def usable_units(size: Array) -> Array:
    """``power_of_two(size)``, unless the squares of these units are beyond floats."""
    if len(size) and size.min() >= 1 / LARGEST_UNIT and size.max() <= LARGEST_UNIT:  # as good as always
        return nearest_power(size)
    units = power_of_two(size)
    if len(units) and not (units.max() <= LARGEST_UNIT and units.min() >= 1 / LARGEST_UNIT):
        beyond = np.flatnonzero((units > LARGEST_UNIT) | (units < 1 / LARGEST_UNIT))
        raise DataError(
            f"{columns(beyond.tolist(), None)}: the values are of the order {units[beyond[0]]:.1g}, and "
            "their squares are beyond what the machine can hold. Measure in another unit."
        )
    return units


def size_of(values: Array) -> Array:
    """Root mean squares of the columns, without overflow."""
    # Squares of wide rows are not laid down before they are added up: that takes ten times as long in fresh pages.
    wide = values.shape[1] > len(values)
    squares = np.einsum("ij,ij->j", values, values) if wide else np.ones(len(values)) @ np.square(values)
    if len(squares) and squares.min() > 1e-30 and squares.max() < 1e30:  # one walk, far from the ends of floats
        return np.asarray(np.sqrt(squares / len(values)))
    most = np.maximum(values.max(axis=0), -values.min(axis=0))
    most[~(most > 0)] = 1.0
    scaled = values / most
    return np.asarray(most * np.sqrt(np.einsum("ij,ij->j", scaled, scaled) / len(values)))


def power_of_two(size: Array) -> Array:
    """2^round(log₂ size); 1 where there is no size."""
    bad = ~((size > 0) & (size < np.inf))
    if bad.any():
        size = np.where(bad, 1.0, size)
    return nearest_power(size)


def nearest_power(size: Array) -> Array:
    """2^round(log₂ size)."""
    return np.asarray(np.exp2(np.rint(np.log2(size))))
