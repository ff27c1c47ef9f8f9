"""The labels of files, collected part by part: the classes, and each row's code in one byte or four."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discriminant.data.labels import code_type, count_classes, encode_labels
from discriminant.errors import DataError
from discriminant.protocols import Array

MOST_CLASSES = 100_000


class Spilled:
    """A column on disk, in a file without a name: sliced like an array, held nowhere."""

    def __init__(self, dtype: Any) -> None:
        self.dtype, self._rows = np.dtype(dtype), 0
        self._file: Any = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the column
        weakref.finalize(self, self._file.close)

    def append(self, values: Array) -> None:
        self._file.write(np.ascontiguousarray(values, dtype=self.dtype))
        self._file.flush()
        self._rows += len(values)

    def __len__(self) -> int:
        return self._rows

    def __getitem__(self, rows: Any) -> Array:
        if not isinstance(rows, slice):
            return self._at(np.asarray(rows))
        start, stop, _ = rows.indices(self._rows)
        size = self.dtype.itemsize
        data = os.pread(self._file.fileno(), max(stop - start, 0) * size, start * size)
        return np.frombuffer(data, dtype=self.dtype)

    def _at(self, index: Array) -> Array:
        found, step = np.empty(len(index), dtype=self.dtype), 1 << 22
        for start in range(0, self._rows, step):
            mine = (index >= start) & (index < start + step)
            if mine.any():
                found[mine] = self[start : start + step][index[mine] - start]
        return found

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return self[:] if dtype is None else self[:].astype(dtype)


@dataclass
class Labels:
    """Labels on their way."""

    where: Callable[[int, int], str]  # (part, row) → which row of which file, for sentences
    place: dict[Any, int] = field(default_factory=dict)  # label → code, in order of appearance
    parts: list[Array] = field(default_factory=list)

    def add(self, number: int, labels: Any) -> None:
        """One part's labels: an array, or (codes, levels) of text."""
        codes, levels = labels if isinstance(labels, tuple) else self._coded(number, np.asarray(labels))
        blank = [-1, *(k for k, level in enumerate(levels) if level == "")]
        gone = np.isin(codes, blank) if len(blank) > 1 or (codes.dtype.kind == "i" and len(codes)) else codes[:0]
        if gone.any():
            raise DataError(
                f"The label is missing in {self.where(number, int(np.argmax(gone)))}; drop rows without a class."
            )
        used = np.flatnonzero(count_classes(codes, len(levels)))
        table = np.zeros(len(levels), dtype=np.int32)
        for k in used.tolist():
            table[k] = self.place.setdefault(levels[k], len(self.place))
        if len(self.place) > MOST_CLASSES:
            raise DataError(
                f"The label has more than {MOST_CLASSES:,} different values: these look like measurements or names, "
                "and a classifier needs classes."
            )
        wide = code_type(len(self.place))
        same = np.array_equal(table[used], used)
        self.parts.append(codes.astype(wide, copy=False) if same else table.astype(wide)[codes])

    def _coded(self, number: int, values: Array) -> tuple[Array, list[Any]]:
        if values.dtype.kind == "f":
            odd = np.flatnonzero(~np.isfinite(values) | (values != np.rint(values)))
            if len(odd):
                value, where = float(values[odd[0]]), self.where(number, int(odd[0]))
                if value != value:
                    raise DataError(f"The label is missing in {where}; drop rows without a class.")
                raise DataError(
                    f"Unknown label type: continuous. The label in {where} is {value:g}: these look like measurements, "
                    "and a classifier needs class labels."
                )
        classes, codes = encode_labels(values)
        return codes, classes.tolist()

    def finish(self, most_in_memory: int) -> tuple[Array, Any]:
        """(classes in order, codes of all rows); on disk where there are more rows than that."""
        found = ordered(list(self.place))
        position = {_key(label): k for k, label in enumerate(found.tolist())}
        table: Array = np.array([position[_key(label)] for label in self.place], dtype=code_type(len(found)))
        rows = sum(len(part) for part in self.parts)
        column = Spilled(table.dtype) if rows > most_in_memory else None
        codes, at = np.empty(0 if column is not None else rows, dtype=table.dtype), 0
        while self.parts:
            part = table[self.parts.pop(0)]
            if column is not None:
                column.append(part)
            else:
                codes[at : at + len(part)] = part
            at += len(part)
        return found, codes if column is None else column


def _key(label: Any) -> Any:
    """Text that is a whole number, as CSV files write their labels, stands for that number."""
    if isinstance(label, str) and label.lstrip("-").isdigit() and str(int(label)) == label:
        return int(label)
    return int(label) if isinstance(label, float) and label.is_integer() else label


def ordered(labels: list[Any]) -> Array:
    """The classes in order; texts that are all whole numbers become numbers."""
    keys = [_key(label) for label in labels]
    if all(isinstance(key, int) and not isinstance(key, bool) for key in keys):
        return np.array(sorted(keys))
    if all(isinstance(label, bool) for label in labels):
        return np.array(sorted(labels))
    return np.array(sorted(str(label) for label in labels), dtype=object)
