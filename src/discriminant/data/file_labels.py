"""The labels of files, collected part by part: the classes, and each row's code in one byte or four."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discriminant.data.labels import code_type, count_classes, encode_labels
from discriminant.errors import DataError
from discriminant.protocols import Array

MOST_CLASSES = 100_000


@dataclass
class Labels:
    """Labels on their way."""

    where: Callable[[int, int], str]  # (part, row) → which row of which file, for sentences
    place: dict[Any, int] = field(default_factory=dict)  # label, or the number it is → code as they come
    parts: list[Array] = field(default_factory=list)

    def add(self, number: int, labels: Array | tuple[Array, list[str]]) -> None:
        """One part's labels: an array, or (codes, levels) of text."""
        codes, levels = labels if isinstance(labels, tuple) else self._coded(number, np.asarray(labels))
        gone = np.isin(codes, [-1, *(k for k, level in enumerate(levels) if level == "")])
        if gone.any():
            raise DataError(
                f"The label is missing in {self.where(number, int(np.argmax(gone)))}; drop rows without a class."
            )
        table = np.zeros(len(levels), dtype=np.int32)
        for k in np.flatnonzero(count_classes(codes, len(levels))).tolist():
            table[k] = self.place.setdefault(_key(levels[k]), len(self.place))
        if len(self.place) > MOST_CLASSES:
            raise DataError(
                f"The label has more than {MOST_CLASSES:,} different values: these look like measurements or names, "
                "and a classifier needs classes."
            )
        self.parts.append(table.astype(code_type(len(self.place)))[codes])

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

    def finish(self, most_in_memory: int) -> tuple[Array, Array]:
        """(classes in order, codes of all rows), mapped from disk where there are more rows than that."""
        labels = list(self.place)
        whole = all(isinstance(label, int) for label in labels)
        labels = labels if whole else [str(label) for label in labels]
        order = sorted(range(len(labels)), key=labels.__getitem__)
        table: Array = np.empty(len(order), dtype=code_type(len(order)))
        table[order] = np.arange(len(order))
        rows, at = sum(len(part) for part in self.parts), 0
        if rows <= most_in_memory:
            codes = np.empty(rows, dtype=table.dtype)
        else:
            with tempfile.TemporaryFile() as file:  # it has no name, and goes with the array
                codes = np.memmap(file, table.dtype, "w+", shape=rows)
        while self.parts:
            part = table[self.parts.pop(0)]
            codes[at : at + len(part)] = part
            at += len(part)
        return np.array([labels[k] for k in order], dtype=None if whole else object), codes


def _key(label: Any) -> Any:
    """Text that is a whole number, as CSV files write their labels, stands for that number."""
    if isinstance(label, str) and label.lstrip("-").isdigit() and str(int(label)) == label:
        return int(label)
    return int(label) if isinstance(label, float) and label.is_integer() else label
