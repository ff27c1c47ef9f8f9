"""Where the columns lie and how far they spread, and the same rows in coordinates in which both are about one.

    u_j = (x_j − c_j) / s_j,     c_j the middle of the range of column j, s_j a power of two near half its width

Without a penalty the minimum of a criterion is the same function of x in either coordinates; but at offsets of 10⁸ or
scales of 10^±150 only the second can be computed with.  Ranges are exact and do not depend on the order of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from discriminant.arrays import as_dense, is_frame, is_sparse
from discriminant.data.blocks import ArrayBlocks
from discriminant.data.rows import MappedRows, OriginRows, SparseRows
from discriminant.protocols import Array

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


def column_ranges(rows: Any) -> Ranges:
    """The range of each column, in one pass over the rows."""
    low: Any = np.inf
    high: Any = -np.inf
    for block in ArrayBlocks(rows):
        values = block.design.values
        low = np.minimum(low, as_dense(values.min(axis=0)).ravel())
        high = np.maximum(high, as_dense(values.max(axis=0)).ravel())
    return Ranges(np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64))


def in_own_units(rows: Any, ranges: Ranges, *, scale: bool) -> tuple[MappedRows, Array, Array]:
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


def is_plain(rows: Any) -> bool:
    """Whether these are the user's own columns with an intercept: not mapped by a basis, not through the origin."""
    return not isinstance(rows, MappedRows | OriginRows)
