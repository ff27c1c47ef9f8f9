"""Class labels ↔ small integer codes, in one pass and without a sort of all rows.

``encode_labels`` answers what ``numpy.unique(y, return_inverse=True)`` answers, with codes in the smallest type that
holds them, and refuses in a sentence what is not a set of classes: missing values, mixed types, measurements.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from itertools import count
from typing import Any

import numpy as np

from discriminant.errors import DataError, names, require_unmasked
from discriminant.protocols import Array
from discriminant.thresholds import COUNTED_CODES

WIDEST_TABLE = 1 << 20  # integer labels that span less than this, or four times their number, are looked up


def encode_labels(y: Any, classes: Array | None = None, n_rows: int | None = None) -> tuple[Array, Array]:
    """(classes, codes): the distinct labels in order, and for each row the position of its label.

    ``classes``: those known already, to which all labels must belong; ``n_rows``: how many labels there must be.

    >>> classes, codes = encode_labels(["b", "a", "b"])
    >>> classes.tolist(), codes.tolist()
    (['a', 'b'], [1, 0, 1])
    """
    if y is None:
        raise DataError("y is None: hand over a label for each row of X.")
    require_unmasked(y, "y")
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise DataError(f"y should be a 1d array, got an array of shape {labels.shape} instead.")
    if n_rows is not None and len(labels) != n_rows:
        raise DataError(
            f"X has {n_rows} rows and y has {len(labels)} labels, inconsistent numbers of samples: each row needs one."
        )
    if classes is None:
        return _encoded(labels)
    return np.asarray(classes), recode(*_encoded(labels), np.asarray(classes))


def _encoded(labels: Array) -> tuple[Array, Array]:
    kind = labels.dtype.kind
    if kind in "biu" and labels.size:
        low, high = int(labels.min()), int(labels.max())
        if high - low < max(WIDEST_TABLE, 4 * labels.size):
            return _by_table(labels, low, high)
    if kind == "f":
        _require_whole(labels)
    elif kind in "OT":  # T: strings of any length
        return _by_dictionary(labels.astype(object, copy=False))
    elif kind not in "biuUS":
        raise DataError(f"Unknown label type: y holds {labels.dtype} values; class labels are integers or strings.")
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes.astype(code_type(len(classes)))


def code_table(found: Array, classes: Array) -> Array:
    """The position of each label of ``found`` among the classes; a sentence for one that is not there."""
    position = {label: k for k, label in enumerate(np.asarray(classes).tolist())}
    unknown = [label for label in found.tolist() if label not in position]
    if unknown:
        known = names(list(classes))
        raise DataError(f"y contains the class {names(unknown)}, which is not among the classes {known}.")
    return np.array([position[label] for label in found.tolist()], dtype=code_type(len(classes)))


def recode(found: Array, codes: Array, classes: Array) -> Array:
    """Codes of the labels ``found`` as codes of the classes."""
    table = code_table(found, classes)
    same = codes.dtype == table.dtype and np.array_equal(table, np.arange(len(table)))
    return codes if same else table[codes]


def count_classes(codes: Array, n_classes: int, weight: Array | None = None) -> Array:
    """Total weight (or number) of the rows of each class; codes and weights need only be sliced."""
    total = np.zeros(n_classes)
    for start in range(0, len(codes), COUNTED_CODES):  # codes of files may lie on disk: never all of them at once
        part = slice(start, start + COUNTED_CODES)
        total += np.bincount(codes[part], None if weight is None else weight[part], minlength=n_classes)
    return total


def distinct(values: Array) -> Array:
    """The values in order, each once: ``numpy.unique``, whose first call loads ``numpy.ma``, a hundredth of a second.

    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    ordered = np.sort(values)
    new = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return np.asarray(ordered[new])


def code_type(n_classes: int) -> type:
    """The smallest integer type that holds codes below ``n_classes``."""
    return np.uint8 if n_classes <= 256 else np.int32


def _by_table(labels: Array, low: int, high: int) -> tuple[Array, Array]:
    # In the wide type: int8 labels −100 and 100 differ by more than int8 holds.
    wide: type = np.uint64 if labels.dtype == np.uint64 else np.intp
    place: Array = labels.astype(wide, copy=False)
    place = (place - wide(low) if low else place).astype(np.intp, copy=False)
    seen = np.zeros(high - low + 1, dtype=bool)
    seen[place] = True
    positions = np.flatnonzero(seen)
    table: Array = np.zeros(len(seen), dtype=code_type(positions.size))
    table[positions] = np.arange(positions.size)
    return (positions.astype(wide) + wide(low)).astype(labels.dtype), table[place]


def _by_dictionary(labels: Array) -> tuple[Array, Array]:
    with suppress(TypeError):  # of what has no hash
        place, first = _numbered(labels)
        if set(map(type, place)) == {str}:  # which only text is equal to
            return _in_order(place, first)
    kinds = set(map(type, labels))
    if missing := missing_places(labels):
        raise DataError(f"Input y contains NaN or a missing label in row {missing[0]}; drop rows without a class.")
    text = {kind for kind in kinds if issubclass(kind, str | bytes)}
    truth = {kind for kind in kinds if issubclass(kind, bool | np.bool_)}
    if (text and text != kinds) or (truth and truth != kinds):
        listed = " and ".join(sorted(kind.__name__ for kind in kinds))
        raise DataError(
            f"y mixes labels of the types {listed}, which have no common order. Make them all one type, "
            "for example with y.astype(str)."
        )
    if not text:
        try:
            plain = np.array(labels.tolist())
            if plain.dtype.kind == "f" and any(abs(label) > 2**53 for label in labels if not isinstance(label, float)):
                raise DataError(
                    "whole numbers of more than 64 bits, or mixed with floats that cannot hold them; use text"
                )
            if plain.dtype == object:
                listed = " and ".join(sorted(kind.__name__ for kind in kinds)[:3])
                raise DataError(f"values of the type {listed}; use numbers or text")
            return encode_labels(plain)
        except (TypeError, ValueError, DataError) as error:
            raise DataError(f"Unknown label type: y holds objects that are not class labels ({error}).") from error
    if bytes in text and len(text) > 1:
        raise DataError("y mixes strings and bytes, which have no common order. Decode the bytes first.")
    return _in_order(*_numbered(labels))


def _numbered(labels: Array) -> tuple[dict[Any, int], Array]:
    """(the number of each label, those of the rows), as they come."""
    number: defaultdict[Any, int] = defaultdict(count().__next__)
    return number, np.fromiter(map(number.__getitem__, labels.tolist()), dtype=np.int64, count=labels.size)


def _in_order(number: dict[Any, int], rows: Array) -> tuple[Array, Array]:
    classes = np.array(sorted(number), dtype=object)
    table: Array = np.empty(len(classes), dtype=code_type(len(classes)))
    table[[number[label] for label in classes]] = np.arange(len(classes))
    return classes, table[rows]


def missing_places(values: Any) -> list[int]:
    """Where Python's values are None, NaN, NaT or the like."""
    other = set(map(type, values)) - {str, bytes, int, bool}  # of these none is missing: 10⁷ words took 37 s to ask
    return [i for i, value in enumerate(values) if type(value) in other and _is_missing(value)] if other else []


def _is_missing(value: Any) -> bool:
    # pandas' NA answers neither yes nor no when it is compared.
    if value is None or type(value).__name__ == "NAType":
        return True
    unequal = value != value
    return unequal if isinstance(unequal, bool) else bool(np.any(unequal))


def _require_whole(labels: Array) -> None:
    finite = np.isfinite(labels)
    if not finite.all():
        row = int(np.argmin(finite))
        kind = "NaN" if np.isnan(labels[row]) else "infinity"
        raise DataError(f"Input y contains {kind} in row {row}; drop rows without a class.")
    if (broken := labels != np.rint(labels)).any():
        row = int(np.argmax(broken))
        raise DataError(
            f"Unknown label type: continuous. Row {row} of y is {float(labels[row]):g}: these look like "
            "measurements, and a classifier needs class labels. Bin them, or use a regressor."
        )
