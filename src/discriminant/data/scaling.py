"""Centre and units of the columns: what makes solvers blind to offsets and units of measurement.

    z = a₀ + Σ_j a_j (x_j − c_j) / u_j

u_j is a power of two near the spread of column j, so that the change of units is exact.  c_j is one of the column's own
values near its mean, where the mean is large against the spread: x − c is then exact where it matters (Sterbenz's
lemma).  Sparse rows have no centre, which would fill their zeros.

``in_own_units`` makes rows u_j = (x_j − c_j) / s_j with the middle and half the width of each column's range: without a
penalty the minimum of a criterion is the same function of x in either coordinates, but at offsets of 10⁸ or
scales of 10^±150 only these can be computed with.  Ranges are exact and do not depend on the order of rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from discriminant.arrays import as_dense, is_frame, is_sparse
from discriminant.data.blocks import ArrayBlocks
from discriminant.data.rows import MappedRows, Rows, SparseRows
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
    some = max(128, SCALING_ROWS // max(d, 1))
    design = blocks.block(0, n).design if blocks.in_memory and n <= some else blocks.spread(some)
    values = design.values
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
    squares = np.ones(len(values)) @ np.square(values)
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


FAR = 100.0  # middles further than this many half-widths from zero cost digits
WIDE = 1e3  # half-widths beyond 1/WIDE … WIDE cost digits against the one of the intercept


@dataclass(frozen=True)
class Ranges:
    """The least and the largest value of each column; NaN where a column holds one."""

    low: Array
    high: Array

    @property
    def center(self) -> Array:
        """Half way; halves first, so that nothing overflows."""
        return np.asarray(self.low / 2 + self.high / 2)

    @property
    def spread(self) -> Array:
        """Half the width."""
        return np.asarray(self.high / 2 - self.low / 2)

    @property
    def finite(self) -> bool:
        return bool(np.isfinite(self.low).all() and np.isfinite(self.high).all())

    def far(self, limit: float = FAR) -> Array:
        """Columns that vary, but by little against their distance from zero."""
        with np.errstate(over="ignore"):
            return np.flatnonzero((self.spread > 0) & (np.abs(self.center) > limit * self.spread))

    def odd_units(self, limit: float = WIDE) -> Array:
        """Columns that vary by very much or very little."""
        spread = self.spread
        return np.flatnonzero((spread > 0) & ((spread > limit) | (spread < 1 / limit)))


def column_ranges(rows: Rows) -> Ranges:
    """The range of each column, in one pass over the rows."""
    low: Any = np.inf
    high: Any = -np.inf
    for block in ArrayBlocks(rows):
        values = block.design.values
        low = np.minimum(low, as_dense(values.min(axis=0)).ravel())
        high = np.maximum(high, as_dense(values.max(axis=0)).ravel())
    return Ranges(np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64))


def in_own_units(rows: Rows, ranges: Ranges, *, scale: bool) -> tuple[MappedRows, Array, Array]:
    """(rows of u, c, s).  Sparse rows are not moved, which would fill them; ``scale=False``: s = 1."""
    sparse = isinstance(rows, SparseRows)
    spread = np.maximum(np.abs(ranges.low), np.abs(ranges.high)) if sparse else ranges.spread
    center = np.zeros_like(spread) if sparse else np.where(ranges.spread > 0, ranges.center, ranges.low)
    good = (spread > 0) & scale
    # The exponent by frexp, which knows subnormal numbers; a power of two divides without rounding.
    size = np.where(good, np.ldexp(1.0, np.clip(np.frexp(np.where(good, spread, 1.0))[1], -1021, 1023)), 1.0)
    return MappedRows(rows, partial(_moved, center, size), rows.shape[1]), center, size


def _moved(center: Array, size: Array, block: Any) -> Any:
    if is_sparse(block):
        moved = block.tocsr().astype(np.float64)
        moved.data /= size[moved.indices]
        return moved
    if is_frame(block):
        block = np.column_stack([np.asarray(block[name], dtype=np.float64) for name in block.columns])
    return (np.asarray(block, dtype=np.float64) - center) / size


def is_plain(rows: Rows) -> bool:
    """Whether these are the user's own columns: not mapped by a basis."""
    return not isinstance(rows, MappedRows)
