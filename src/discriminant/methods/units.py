"""Coordinates in which a fit can be computed, and a sentence where the method must work in those of the user."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discriminant.data import ArrayBlocks, as_rows
from discriminant.data.rows import Rows
from discriminant.data.scaling import Ranges, column_ranges, in_own_units, is_plain
from discriminant.errors import DataError, ScaleWarning, capital, columns
from discriminant.methods.fit import Note
from discriminant.optimize.sequence import repeated_rows
from discriminant.protocols import Array

TOO_FAR = 1e3  # middles further from zero, in half-widths, than steps in the units of X can bear
TOO_WIDE = 1e5  # and the same of widths against one
SOME_ROWS = 5_000  # that a warning looks at


def own_units(rows: Rows, freedom: str) -> tuple[Any, tuple[Array, Array] | None]:
    """The rows as (x − c) / s, with (c, s), where that changes nothing but the arithmetic and is needed; else as is."""
    if freedom == "none" or not is_plain(rows):
        return rows, None
    ranges = column_ranges(rows)
    if not ranges.finite or not (len(ranges.far()) or len(ranges.odd_units())):
        return rows, None
    if freedom == "origin" and not len(ranges.far()):
        return rows, None
    moved, center, size = in_own_units(rows, ranges, scale=freedom == "units")
    return moved, (center, size)


def in_units_of_X(A: Array, units: tuple[Array, Array], feature_names: Sequence[str] | None) -> Array:
    """Weights for x − c from weights for (x − c) / s."""
    with np.errstate(over="ignore"):
        weights = np.vstack([A[:1], A[1:] / units[1][:, None]])
    overflowing = np.flatnonzero(~np.isfinite(weights[1:]).all(axis=1))
    if len(overflowing):
        what = columns(overflowing.tolist(), feature_names)
        raise DataError(
            f"{capital(what)}: the values differ by {units[1][overflowing[0]]:.3g} at most, so that the weight would "
            "be larger than any number the machine has. Measure in another unit."
        )
    return weights


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
