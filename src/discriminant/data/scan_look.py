"""The first looks at the files of a scan: columns, labels and levels of text.

Binary files with numeric columns need no look but one at the labels' column.  A text file is parsed once for all of
these and for a row sample (``scan_sample``) together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from discriminant.data.blocks import spaced
from discriminant.data.scan_columns import Labels, Levels
from discriminant.data.scan_parts import Parts, Progress
from discriminant.data.stream import Budget
from discriminant.errors import DataError
from discriminant.protocols import Array

LABELS = 1 << 20  # labels that are read together


class Looks:
    """What is learned of the files before the rows are used: columns and classes."""

    def __init__(self, format_: Any, memory: int, progress: Progress, target: Any) -> None:
        self.format, self.memory, self.target = format_, memory, target
        self.budget = Budget.of(memory)
        self.parts = Parts(format_, format_.parts(self.budget.part), progress)
        self._first: list[Any] | None = None
        self._labels: tuple[Array, Any] | None = None
        self.class_rows: tuple[Any, Array] | None = None
        if not self.parts.parts:
            raise DataError(f"{format_.files[0]} has no rows.")

    # What is known of the rows

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, features)."""
        self._look()
        return self.parts.n_rows, int(self.format.n_features)

    @property
    def n_rows(self) -> int:
        return self.shape[0]

    @property
    def n_features(self) -> int:
        return self.shape[1]

    @property
    def dtype(self) -> Any:
        return self.format.dtype

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        self._look()
        found = self.format.names
        return None if found is None else tuple(found)

    @property
    def passes(self) -> float:
        """How often the files have been read so far, in whole and in part."""
        return self.parts.passes

    @property
    def notes(self) -> tuple[str, ...]:
        """What was decided about columns of text."""
        self._look()
        encoders = getattr(self.format, "encoders", None)
        return () if encoders is None else tuple(encoders.notes)

    @property
    def classes(self) -> Array:
        """The distinct labels, in order."""
        return self.labels()[0]

    @property
    def n_classes(self) -> int:
        return len(self._labels[0]) if self._labels is not None else len(self.classes)

    # Looks

    @property
    def _is_text(self) -> bool:
        return hasattr(self.format, "first")

    def _look(self) -> None:
        """Numbers of rows and levels of text columns: nothing for numeric binary files, one pass for text."""
        if self._first is not None:
            return
        self._first = []
        if self._is_text:
            self._look_at_text()
            return
        encoders = getattr(self.format, "encoders", None)
        if encoders is not None and encoders.text:
            levels = {name: Levels() for name in encoders.text}
            for part in self.parts.parts:
                for name in encoders.text:
                    levels[name].add(*self.format.column(part, name))
            self.parts.note(self.parts.size * len(encoders.text) / (len(encoders.columns) + 1))
            self._settle(levels)

    def _look_at_text(self) -> None:
        parts = self.parts
        labels = Labels(self._where, spill=False) if self._has_labels else None
        encoders = self.format.encoders
        levels = {name: Levels() for name in encoders.text} if encoders is not None else {}
        share = self._sample_share()
        for i, part in enumerate(parts.parts):
            found, texts, numbers = self.format.first(part)
            part.first = (
                0
                if i == 0 or parts.parts[i - 1].file != part.file
                else parts.parts[i - 1].first + parts.parts[i - 1].rows
            )
            if labels is not None:
                labels.add(i, found)
            for name, column in texts.items():
                levels[name].add(*column)
            keep = spaced(part.rows, max(1, int(part.rows * share) + 1))
            self._first.append((keep, self._kept(keep, texts, numbers)))  # type: ignore[union-attr]
        parts.note(parts.size)
        parts.settle()
        if not parts.n_rows:
            raise DataError(f"{self.format.files[0]} has no rows.")
        self._settle(levels)
        if labels is not None:
            self._labels = labels.finish()

    def _settle(self, levels: dict[str, Levels]) -> None:
        for name, found in levels.items():
            self.format.encoders.rules[name] = found.rule(name, self.format.encoders.notes)
        if hasattr(self.format, "settle"):
            self.format.settle()

    @staticmethod
    def _kept(keep: Array, texts: dict[str, Any], numbers: Any) -> Any:
        """The sampled rows of a part of text, before the levels of all parts are known."""
        if isinstance(numbers, tuple):
            values, indices, starts = numbers
            rows = [slice(starts[r], starts[r + 1]) for r in keep]
            lengths = [0, *np.cumsum([r.stop - r.start for r in rows]).tolist()]
            pick = np.concatenate([np.arange(r.start, r.stop) for r in rows]) if rows else np.zeros(0, dtype=np.intp)
            return values[pick], indices[pick], np.array(lengths)
        return {name: (codes[keep], levels) for name, (codes, levels) in texts.items()}, {
            name: np.array(column[keep]) for name, column in numbers.items()
        }

    def _sample_share(self) -> float:
        """Of a text file's rows, those to keep: by the bytes that they take once they are numbers."""
        decoded = 2.0 * self.parts.size
        return min(1.0, self.budget.sample / decoded)

    @property
    def _has_labels(self) -> bool:
        return self.target is not None or self.format.is_sparse

    def _where(self, number: int, row: int) -> str:
        if self.parts.n_rows:
            return self.parts.where(self.parts.start(number) + row)
        part = self.parts.parts[number]
        return f"row {part.first + row} of {self.format.files[part.file]}"

    def labels(self, known: Array | None = None) -> tuple[Array, Any]:
        """(classes, codes): by one look at the target's column alone."""
        if not self._has_labels:
            raise DataError(
                f"{self.format.files[0]} was opened without a target: say which column holds the labels, "
                "discriminant.scan(path, target=…)."
            )
        self._look()
        if self._labels is None:
            labels = Labels(self._where, spill=self.parts.n_rows > self.memory // 16)
            for i, found in self._label_parts():
                labels.add(i, found)
            self.parts.note(self.parts.size * self.format.label_share)
            self._labels = labels.finish()
            self.class_rows = (self._labels[1], labels.counts)
        if known is None:
            return self._labels
        return np.asarray(known), self._recoded(np.asarray(known))

    def _label_parts(self) -> Iterator[tuple[int, Any]]:
        """(number of a part, labels from its first row on): several parts at once where labels lie apart from rows."""
        parts = self.parts.parts
        if not hasattr(self.format, "many_labels") or self.format.label is not None:
            yield from ((i, self.format.labels(part)) for i, part in enumerate(parts))
            return
        step = max(1, LABELS // max(parts[0].rows, 1))
        for i in range(0, len(parts), step):
            last = min(i + step, len(parts))
            yield i, self.format.many_labels(self.parts.start(i), self.parts.start(last))

    def _recoded(self, known: Array) -> Any:
        assert self._labels is not None
        own, codes = self._labels
        position = {label: k for k, label in enumerate(known.tolist())}
        strangers = [label for label in own.tolist() if label not in position]
        if strangers:
            raise DataError(f"The label holds the class {strangers[0]!r}, which is not among {known.tolist()[:8]}.")
        table = np.array([position[label] for label in own.tolist()], dtype=np.int32)
        return codes if np.array_equal(table, np.arange(len(table))) else table[np.asarray(codes)]
