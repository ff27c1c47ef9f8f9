"""Labels on a device: class codes there, in as few calls that wait for it as can be."""

from __future__ import annotations

from typing import Any

import numpy as np

from discriminant.arrays import in_memory
from discriminant.data.labels import WIDEST_TABLE, code_table, encode_labels, recode
from discriminant.protocols import Array

PEEKED = 128  # rows that are fetched to learn of their size


def stride(n_rows: int) -> int:
    return -(-n_rows // PEEKED)


def some_codes(codes: Any) -> Array:
    """The codes of some rows from all over, in memory."""
    return in_memory(codes[:: stride(codes.shape[0])])


def encode_on_device(lib: Any, y: Any, classes: Array | None) -> tuple[Array, Any, Array | None]:
    """(classes, codes on the device, some of them): integers on the device stay there, others are encoded in memory."""
    own = type(y).__module__.partition(".")[0] == lib.name
    low, high = 0, WIDEST_TABLE
    if own and lib.kind(y) in ("int64", "int32", "int16", "int8", "uint8") and len(y.shape) == 1:
        low, high = lib.span(y)
    if high - low >= WIDEST_TABLE:
        found, codes = encode_labels(in_memory(y))
        if classes is not None:
            found, codes = classes, recode(found, codes, classes)
        return found, lib.index(codes), None
    moved = lib.cast(y, "int64") if low == 0 else lib.cast(y, "int64") - low
    some = some_codes(moved)
    present = np.unique(some)
    if len(present) <= high - low:  # some rows do not show every code: all are counted
        present = np.flatnonzero(lib.counts(moved, high - low + 1))
    found = (present + low).astype(lib.kind(y))
    known = found if classes is None else np.asarray(classes)
    table = np.full(high - low + 1, -1, dtype=np.int64)
    table[present] = code_table(found, known)
    if np.array_equal(table, np.arange(len(table))):
        return known, moved, some
    return known, lib.take(lib.put(table), moved), None
