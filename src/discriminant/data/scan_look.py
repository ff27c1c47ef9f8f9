"""The first looks at the files of a scan: columns, labels, levels of text, and a row sample from all over them.

Binary files with numeric columns need no look but one at the labels' column.  A text file is parsed once for all of
these.  The sample is what a solver starts from: large, since a pass over the files costs more than a pass over it.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discriminant.data.blocks import spaced
from discriminant.data.scan_columns import Labels, Levels
from discriminant.data.scan_parts import Columns, Parts, Progress, stack
from discriminant.data.stream import SAMPLE_CLASS_ROWS, Budget, codes_at
from discriminant.errors import DataError
from discriminant.protocols import Array

SAMPLE_ROWS = 150_000  # enough for a start within a few parts in ten thousand of the optimum
FEW_ROWS = 2_000
SAMPLE_PARTS = 24  # parts of a columnar file that a sample is taken from
LEAST_PARTS = 8
LABELS = 1 << 20  # labels that are read together
CLUSTER = 1 << 16  # bytes that are read together for the sample of a row-major file


@dataclass(frozen=True)
class Sampled:
    """Rows that stand for all, with their numbers and classes."""

    index: Array
    raw: Any
    codes: Array | None


class Looks:
    """What is learned of the files before the rows are used: columns, classes, a row sample."""

    def __init__(self, format_: Any, memory: int, progress: Progress, target: Any) -> None:
        self.format, self.memory, self.target = format_, memory, target
        self.budget = Budget.of(memory)
        self.parts = Parts(format_, format_.parts(self.budget.part), progress)
        self._first: list[Any] | None = None
        self._labels: tuple[Array, Any] | None = None
        self._coming: Future[tuple[Array, Any]] | None = None
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

    @cached_property
    def sample(self) -> Sampled:
        """Rows from all over the files, as many as the memory allows, those of rare classes among them."""
        self._look()
        if self._is_text:
            return self._sample_of_text()
        found = self._coming.result() if self._coming is not None else self._read_sample(self._sample_size())
        self._coming = None
        return self._with_rare(*found)

    @cached_property
    def few(self) -> Sampled:
        """Some rows, for orders of magnitude: of the sample where it is there, else read for themselves."""
        self._look()
        if self._is_text or self._coming is not None or "sample" in vars(self):
            return self.sample
        return self._with_rare(*self._read_sample(FEW_ROWS))

    def _with_rare(self, index: Array, raw: Any) -> Sampled:
        codes = self._labels[1] if self._labels is not None else None
        if codes is None:
            return Sampled(index, raw, None)
        own = codes_at(codes, index)
        extra = self._rare(own)
        if len(extra):
            index, raw = np.concatenate([index, extra]), stack([raw, self.parts.rows(extra)])
            index, first = np.unique(index, return_index=True)
            raw, own = raw[first], codes_at(codes, index)
        return Sampled(index, raw, own)

    def _read_sample(self, count: int) -> tuple[Array, Any]:
        index = self._spread_rows(count)
        return index, self.parts.rows(index)

    def _sample_size(self) -> int:
        n, d = self.shape
        return int(min(n, max(SAMPLE_ROWS, 500 * d), max(FEW_ROWS, self.budget.sample // max(8 * d, 1))))

    def _expect_sample(self) -> None:
        """Read the sample meanwhile, on another thread, where it is a small part of the files."""
        if self._coming is None and "sample" not in vars(self) and not self._is_text:
            self._look()
            if 20 * self._sample_size() > self.n_rows:
                return
            with ThreadPoolExecutor(1) as reading:  # leaving waits for the reading, so the labels are looked at inside
                self._coming = reading.submit(self._read_sample, self._sample_size())
                self.labels()

    def _spread_rows(self, count: int) -> Array:
        n = self.n_rows
        if count >= n:
            return np.arange(n)
        if hasattr(self.format, "heads") and not any(head[3] for head in self.format.heads):
            run = max(1, min(CLUSTER // max(self.format.width * self.format.kind.itemsize, 1), count // 64))
            starts = spaced(n // run, max(1, count // run)) * run
            return np.asarray((starts[:, None] + np.arange(run)).ravel())
        cheap = [
            i for i, part in enumerate(self.parts.parts) if not isinstance(part.place, tuple) or part.place[1] == 0
        ]
        usable = cheap if len(cheap) >= LEAST_PARTS else list(range(len(self.parts)))
        chosen = [usable[i] for i in spaced(len(usable), SAMPLE_PARTS if count > FEW_ROWS else 4)]
        each = -(-count // len(chosen))
        found = [self.parts.start(i) + spaced(self.parts.parts[i].rows, each) for i in chosen]
        return np.concatenate(found)

    def _rare(self, own: Array) -> Array:
        """Rows of the classes that the sample has few of, from few parts."""
        assert self._labels is not None
        classes, codes = self._labels
        seen, found = np.bincount(own, minlength=len(classes)), []
        wanted = max(1, min(SAMPLE_CLASS_ROWS, len(own) // (2 * len(classes))))
        thin = np.flatnonzero(seen < wanted)
        if not len(thin):
            return np.zeros(0, dtype=np.intp)
        rows: dict[int, list[Array]] = {int(k): [] for k in thin}
        for i, part in enumerate(self.parts.parts):
            here = np.asarray(codes[self.parts.start(i) : self.parts.start(i) + part.rows])
            present = np.bincount(here, minlength=len(classes))
            for k in thin[present[thin] > 0].tolist():
                if len(rows[k]) < LEAST_PARTS and sum(map(len, rows[k])) < wanted:
                    rows[k].append(self.parts.start(i) + np.flatnonzero(here == k)[:wanted])
        found = [part for parts in rows.values() for part in parts]
        return np.unique(np.concatenate(found)) if found else np.zeros(0, dtype=np.intp)

    def _sample_of_text(self) -> Sampled:
        assert self._first is not None
        index = np.concatenate([self.parts.start(i) + keep for i, (keep, _) in enumerate(self._first)])
        found = []
        for keep, rows in self._first:
            if isinstance(rows, tuple) and len(rows) == 3:
                found.append(self.format.matrix(rows))
                continue
            texts, numbers = rows
            encoders = self.format.encoders
            values = [encoders.indicate(n, *texts[n]) if n in texts else numbers[n] for n in encoders.columns]
            found.append(Columns(values, len(keep), encoders.width, self.dtype).take(np.arange(len(keep))))
        self._first = []
        codes = None if self._labels is None else codes_at(self._labels[1], index)
        return Sampled(index, stack(found), codes)
