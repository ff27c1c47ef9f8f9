"""Coordinates in which a fit can be computed, and a sentence where the method must work in those of the user.

``in_own_units`` makes rows u_j = (x_j − c_j) / s_j with the middle and half the width of each column's range: without a
penalty the minimum of a criterion is the same function of x in either coordinates, but at offsets of 10⁸ or
scales of 10^±150 only these can be computed with.  Ranges are exact and do not depend on the order of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from discriminant.arrays import as_dense, is_frame, is_sparse
from discriminant.data import ArrayBlocks, as_rows
from discriminant.data.rows import MappedRows, Rows, SparseRows
from discriminant.data.scaling import Scaling
from discriminant.errors import DataError, ScaleWarning, capital, columns
from discriminant.methods.fit import Note
from discriminant.optimize.sequence import repeated_rows
from discriminant.protocols import Array

FAR = 100.0  # middles further than this many half-widths from zero cost digits
WIDE = 1e3  # half-widths beyond 1/WIDE … WIDE cost digits against the one of the intercept
TOO_FAR = 1e3  # middles further from zero, in half-widths, than steps in the units of X can bear
TOO_WIDE = 1e5  # and the same of widths against one
SOME_ROWS = 5_000  # that a warning looks at


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
        values = values.tocsc() if is_sparse(values) else values  # once for both: each would do so itself
        low = np.minimum(low, as_dense(values.min(axis=0)).ravel())
        high = np.maximum(high, as_dense(values.max(axis=0)).ravel())
    return Ranges(np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64))


def own_units(rows: Rows, freedom: str) -> tuple[Any, Scaling | None]:
    """The rows as (x − c) / s, with c and s, where that is needed and changes nothing but the arithmetic; or as is."""
    if freedom == "none" or not is_plain(rows):
        return rows, None
    ranges = column_ranges(rows)
    if not ranges.finite or not (len(ranges.far()) or len(ranges.odd_units())):
        return rows, None
    if freedom == "origin" and not len(ranges.far()):
        return rows, None
    return in_own_units(rows, ranges, scale=freedom == "units")


def in_own_units(rows: Rows, ranges: Ranges, *, scale: bool) -> tuple[MappedRows, Scaling]:
    """(rows of u, c and s).  Sparse rows are not moved, which would fill them; ``scale=False``: s = 1."""
    sparse = isinstance(rows, SparseRows)
    spread = np.maximum(np.abs(ranges.low), np.abs(ranges.high)) if sparse else ranges.spread
    center = np.zeros_like(spread) if sparse else np.where(ranges.spread > 0, ranges.center, ranges.low)
    good = (spread > 0) & scale
    # The exponent by frexp, which knows subnormal numbers; a power of two divides without rounding.
    size = np.where(good, np.ldexp(1.0, np.clip(np.frexp(np.where(good, spread, 1.0))[1], -1021, 1023)), 1.0)
    return MappedRows(rows, partial(_moved, center, size), rows.shape[1]), Scaling(center, size)


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


def in_units_of_X(A: Array, scaling: Scaling, feature_names: Sequence[str] | None) -> tuple[Array, Array | None]:
    """(weights of x − c, c) from weights of (x − c) / s."""
    with np.errstate(over="ignore"):
        weights, center = scaling.to_user(A)
    overflowing = np.flatnonzero(~np.isfinite(weights[1:]).all(axis=1))
    if len(overflowing):
        what = columns(overflowing.tolist(), feature_names)
        raise DataError(
            f"{capital(what)}: the values differ by {scaling.unit[overflowing[0]]:.3g} at most, so that the weight "
            "would be larger than any number the machine has. Measure in another unit."
        )
    return weights, center


def weight_notes(blocks: ArrayBlocks) -> list[Note]:
    """Say where row weights are factors on steps and would make them vanish or explode."""
    weight = blocks.weight
    if weight is None or 1 / TOO_WIDE <= float(weight.max()) <= TOO_WIDE or repeated_rows(blocks) is not None:
        return []
    text = (
        f"The largest sample_weight is {float(weight.max()):.3g}. In this method a weight is a factor on the step, so "
        "that such weights end the learning too early or let it jump. Divide them by their mean."
    )
    return [Note(text, ScaleWarning)]


def scale_notes(rows: Rows, feature_names: Sequence[str] | None) -> list[Note]:
    """Say which columns lie too far from zero, or vary by too much or too little, for steps in their own units."""
    if not is_plain(rows):
        return []
    n = rows.shape[0]
    if n > SOME_ROWS:  # enough to see orders of magnitude
        rows = as_rows(rows.pick(np.linspace(0, n - 1, SOME_ROWS).astype(np.intp)).values)
    ranges = column_ranges(rows)
    far, odd = ranges.far(TOO_FAR), ranges.odd_units(TOO_WIDE)
    if not ranges.finite or not (len(far) or len(odd)):
        return []
    what, why = _worst(ranges, far, odd, feature_names)
    text = (
        f"{capital(what)} {why}. This method steps in the units of X, where such a column drowns the others or is "
        "drowned, so that the answer may be far from the best. Standardise the columns first "
        "(sklearn.preprocessing.StandardScaler)."
    )
    return [Note(text, ScaleWarning)]


def _worst(ranges: Ranges, far: Array, odd: Array, feature_names: Sequence[str] | None) -> tuple[str, str]:
    if len(far):
        j = int(far[0])
        return columns(far.tolist(), feature_names), (
            f"(middle {ranges.center[j]:.3g}, half-width {ranges.spread[j]:.3g}): far from zero for the width"
        )
    j = int(odd[0])
    return columns(odd.tolist(), feature_names), f"(half-width {ranges.spread[j]:.3g}): of another order than one"
