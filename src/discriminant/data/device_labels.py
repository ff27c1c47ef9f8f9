"""Labels on a device: class codes there, by looks that wait for the device as seldom as they can."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from discriminant.data.device_library import library_of
from discriminant.data.labels import WIDEST_TABLE, encode_labels
from discriminant.errors import DataError, names
from discriminant.protocols import Array

FEW_CODES = 8  # that are quicker looked for than counted
PEEKED = 128  # rows that are fetched to learn of their size


def in_memory(values: Any) -> Array:
    """Labels or weights, wherever they lie, as a NumPy array."""
    if isinstance(values, np.ndarray | list | tuple) or np.isscalar(values):
        return np.asarray(values)
    if hasattr(values, "__array_namespace__") or type(values).__module__.partition(".")[0] in ("torch", "cupy"):
        return np.asarray(library_of(values).get(values))
    return np.asarray(values)


def stride(n_rows: int) -> int:
    return -(-n_rows // PEEKED)


def some_codes(codes: Any) -> Array:
    """The codes of some rows from all over, in memory."""
    return in_memory(codes[:: stride(codes.shape[0])])


def encode_on_device(
    lib: Any, y: Any, classes: Array | None, meanwhile: Callable[[], Any] = lambda: None
) -> tuple[Array, Any, Array | None]:
    """(classes, codes on the device, some of them): integers on the device stay there, others are encoded in memory.

    ``meanwhile`` is called while the device looks at the labels.
    """
    own = type(y).__module__.partition(".")[0] == lib.name
    if not own or lib.kind(y) not in ("int64", "int32", "int16", "int8", "uint8") or len(y.shape) != 1:
        found, codes = encode_labels(in_memory(y))
        if classes is not None:
            found, codes = _recoded(found, codes, np.asarray(classes))
        return found, lib.index(codes), None
    span = lib.span(y)
    meanwhile()
    low, high = span()
    if high - low >= WIDEST_TABLE:
        found, codes = encode_labels(lib.get(y))
        return found, lib.index(codes), None
    moved = lib.cast(y, "int64") if low == 0 else lib.cast(y, "int64") - low
    some = some_codes(moved)
    present = np.unique(some)
    if len(present) <= high - low:  # some rows do not show every code: the rest is looked for
        present = _present(lib, moved, present, high - low + 1)
    here = present + low
    found = here.astype(lib.kind(y))
    known = found if classes is None else np.asarray(classes)
    strange = found[:0] if classes is None else np.setdiff1d(found, known)
    if len(strange):
        raise DataError(
            f"y contains the class {names(list(strange))}, which is not among the classes {names(list(known))}."
        )
    if len(known) == high - low + 1 and (known == np.arange(low, high + 1)).all():
        return known, moved, some
    table = np.zeros(high - low + 1, dtype=np.int64)
    table[here - low] = np.searchsorted(known, here)
    codes = lib.put(table)
    return known, lib.take(codes, moved), None


def _present(lib: Any, codes: Any, known: Array, n_codes: int) -> Array:
    """Which codes occur: a look over all rows for each that is not known to, or one count where they are many."""
    missing = np.setdiff1d(np.arange(n_codes), known)
    if len(missing) > FEW_CODES:
        return np.flatnonzero(lib.counts(codes, n_codes))
    return np.union1d(known, [k for k in missing.tolist() if bool(lib.xp.any(codes == k))]).astype(np.intp)


def _recoded(found: Array, codes: Array, classes: Array) -> tuple[Array, Array]:
    strange = np.setdiff1d(found, classes)
    if len(strange):
        raise DataError(
            f"y contains the class {names(list(strange))}, which is not among the classes {names(list(classes))}."
        )
    return classes, np.searchsorted(classes, found)[codes]
