"""The row sample of a scan: rows from all over the files, from which a solver starts.

It is large, since a pass over the files costs more than a pass over it, and holds rows of rare classes by design.
Where single rows can be read, some from all over the files come first, to begin with while the others are read; and
where the sample has enough rows of each class that it sees, the labels of all other rows can wait (``guess``).
"""

from __future__ import annotations

import mmap
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discriminant.data.blocks import EARLY, spaced
from discriminant.data.scan_awaited import Awaited
from discriminant.data.scan_columns import Labels
from discriminant.data.scan_look import Looks
from discriminant.data.scan_parts import Columns, Parts, Progress, stack
from discriminant.data.stream import SAMPLE_CLASS_ROWS, codes_at
from discriminant.errors import DataError
from discriminant.protocols import Array

SAMPLE_ROWS = 150_000  # enough for a start within a few parts in ten thousand of the optimum
FEW_ROWS = 2_000
SAMPLE_PARTS = 24  # parts of a columnar file that a sample is taken from
LEAST_PARTS = 8
CLUSTER = 1 << 16  # bytes that are read together for the sample of a row-major file


@dataclass(frozen=True)
class Sampled:
    """Rows that stand for all, with their numbers and classes."""

    index: Array
    raw: Any
    codes: Array | None


class Reading:
    """The rows of a sample on their way: another thread reads the first ``early`` of them, then the rest."""

    def __init__(self, parts: Parts, index: Array, early: int = 0) -> None:
        self.index, self.early = index, early
        self._raw = _small_pages((len(index), parts.format.n_features), parts.format.dtype)
        pool = ThreadPoolExecutor(1)
        self._some = pool.submit(parts.rows, index[:early], self._raw[:early])
        self._rest = pool.submit(parts.rows, index[early:], self._raw[early:])
        pool.shutdown(wait=False)

    def some(self) -> tuple[Array, Any]:
        """(numbers, rows) that are read first."""
        self._some.result()
        return self.index[: self.early], self._raw[: self.early]

    def all(self) -> tuple[Array, Any]:
        """(numbers, rows)."""
        self._some.result()
        self._rest.result()
        return self.index, self._raw


class Samples(Looks):
    """Looks at files that also draw rows from all over them."""

    def __init__(self, format_: Any, memory: int, progress: Progress, target: Any) -> None:
        super().__init__(format_, memory, progress, target)
        self._coming: Reading | None = None
        self._guessed: Array | None = None  # codes of the sample's rows, in classes that it was first to show

    @cached_property
    def sample(self) -> Sampled:
        """Rows from all over the files, as many as the memory allows, those of rare classes among them."""
        self._look()
        if self._is_text:
            return self._sample_of_text()
        found = self._coming.all() if self._coming is not None else self._read_sample(self._sample_size())
        if self._guessed is not None:
            return Sampled(*found, self._guessed)
        self._coming = None
        return self._with_rare(*found)

    @property
    def early(self) -> Sampled | None:
        """The rows of the sample that are read first; None where it comes in one."""
        if self._coming is None or self._guessed is None:
            return None
        index, raw = self._coming.some()
        return Sampled(index, raw, self._guessed[: len(index)])

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

    def expect_sample(self) -> None:
        """Read the sample meanwhile, on another thread, where it is a small part of the files."""
        if self._coming is None and "sample" not in vars(self) and not self._is_text:
            self._look()
            if 20 * self._sample_size() > self.n_rows:
                return
            if getattr(self.format, "by_row", None) is None:
                self._coming = Reading(self.parts, self._spread_rows(self._sample_size()))
                return
            starts, run = self._runs(self._sample_size())
            first = starts[EARLY // 2 :: EARLY]
            order = np.concatenate([first, np.delete(starts, slice(EARLY // 2, None, EARLY))])
            self._coming = Reading(self.parts, _each(order, run), len(first) * run)

    def guess(self) -> tuple[Array, Awaited] | None:
        """(classes, codes that wait): by the labels of the sample, where it has enough rows of each class that it sees.

        None where all labels are known, or must be: what is wrong with one of them is told by a look at all.
        """
        self._look()
        if self._labels is not None or self._is_text or getattr(self.format, "by_row", None) is None:
            return None
        self.reconsider()
        self.expect_sample()
        if self._coming is None:
            return None
        labels = Labels(self._where)
        try:
            labels.add(0, self.format.labels_at(self._coming.index))
            classes, codes = labels.finish()
        except DataError:
            return None
        if len(classes) < 2 or labels.counts.min() < _wanted(len(codes), len(classes)):
            return None
        self._guessed = codes
        return classes, Awaited(self, classes)

    def reconsider(self) -> None:
        """Forget which classes the sample's rows were taken for; the rows that were read are kept."""
        if self._guessed is not None:
            self._guessed = None
            for name in ("sample", "few"):
                vars(self).pop(name, None)

    def _spread_rows(self, count: int) -> Array:
        n = self.n_rows
        if count >= n:
            return np.arange(n)
        if getattr(self.format, "by_row", None) is not None:
            return _each(*self._runs(count))
        cheap = [
            i for i, part in enumerate(self.parts.parts) if not isinstance(part.place, tuple) or part.place[1] == 0
        ]
        usable = cheap if len(cheap) >= LEAST_PARTS else list(range(len(self.parts)))
        chosen = [usable[i] for i in spaced(len(usable), SAMPLE_PARTS if count > FEW_ROWS else 4)]
        each = -(-count // len(chosen))
        found = [self.parts.start(i) + spaced(self.parts.parts[i].rows, each) for i in chosen]
        return np.concatenate(found)

    def _runs(self, count: int) -> tuple[Array, int]:
        """(first rows, length): runs of neighbours, about ``count`` rows in all; of files with ``by_row``."""
        run = max(1, min(CLUSTER // max(self.format.width * self.format.kind.itemsize, 1), count // 64))
        return spaced(self.n_rows // run, max(1, count // run)) * run, run

    def _rare(self, own: Array) -> Array:
        """Rows of the classes that the sample has few of, from few parts."""
        assert self._labels is not None
        classes, codes = self._labels
        seen, found = np.bincount(own, minlength=len(classes)), []
        wanted = _wanted(len(own), len(classes))
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


def _wanted(rows: int, n_classes: int) -> int:
    """Rows of each class that a sample of so many rows should have."""
    return max(1, min(SAMPLE_CLASS_ROWS, rows // (2 * n_classes)))


def _small_pages(shape: tuple[int, int], dtype: Any) -> Array:
    """Fresh memory in pages of the usual size.

    NumPy asks for huge ones, which are found at once or, where memory is scattered or the machine a virtual one, in a
    tenth of a second: longer than all rows take to be read.
    """
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if not size or not hasattr(mmap, "MAP_ANONYMOUS"):
        return np.empty(shape, dtype)
    return np.frombuffer(mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS), dtype).reshape(shape)


def _each(starts: Array, run: int) -> Array:
    """The numbers of all rows of runs of one length."""
    return np.asarray((starts[:, None] + np.arange(run)).ravel())
