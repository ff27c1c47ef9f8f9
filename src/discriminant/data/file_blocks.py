"""Rows that stay in files: read part by part, ahead of the arithmetic, and forgotten; parts are the partitions of sums.

reader thread:   part i+1, i+2 …  →  worker threads: Σ over the cache blocks of part i
sums of parts are added first to last, so that the answer depends neither on threads nor on timing

The first pass is the survey: it finds the classes and the levels of text, in the columns that hold them, or in all of a
text file.  What is held at any time is a few parts, a row sample and one byte a row for its class; ``Budget`` divides
the memory that the user allows among them.  Every byte that is read counts towards ``passes``.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from discriminant.arrays import as_dense
from discriminant.data.blocks import added, spaced, wanted_rows
from discriminant.data.file_labels import Labels
from discriminant.data.file_source import FileSource, Part, PartRows
from discriminant.data.labels import count_classes
from discriminant.data.row_sample import RowSample, SampledBlocks, SampledRows, stack
from discriminant.data.rows import AnyDesign, as_design
from discriminant.data.threads import most_workers, ordered_map, workers
from discriminant.errors import DataError, ParameterError
from discriminant.protocols import Array, Block, Dtype, Result

LEAST_FREE = 48_000_000  # bytes below which not even a few parts fit
LIBRARIES = {"sklearn": 120_000_000}  # bytes that they take, if they are still to be loaded
AHEAD = 2  # parts read ahead of those that are worked on
SAMPLE_ROWS = 150_000  # enough for a start within a few parts in ten thousand of the optimum
FEW_ROWS = 2_000
SAMPLE_PARTS = 24  # parts of a columnar file that a sample is taken from
LEAST_PARTS = 8
REPORT_EVERY = 0.5  # seconds between two reports of progress


@dataclass(frozen=True)
class Budget:
    """How much memory goes where, in bytes."""

    memory: int  # all
    part: int  # one part of a file, decoded
    sample: int  # the row sample
    sample_rows: int = SAMPLE_ROWS  # no more rows than these, or 500 a column

    @classmethod
    def of(cls, memory: int) -> Budget:
        """Divide what ``memory`` leaves beside what the process holds already."""
        held = resident() + sum(size for name, size in LIBRARIES.items() if name not in sys.modules)
        free = memory - held
        if free < LEAST_FREE:
            raise ParameterError(
                f"memory={memory / 1e6:.0f} MB is too little: the process with its libraries takes {held / 1e6:.0f} MB "
                f"already. Give at least {(held + 2 * LEAST_FREE) / 1e6:.0f} MB."
            )
        in_flight = most_workers() + AHEAD + 2
        return cls(memory, part=int(min(16e6, free / (4 * in_flight))), sample=int(min(256e6, free / 7)))


def resident() -> int:
    """Bytes of memory that this process holds now."""
    with contextlib.suppress(OSError, ValueError), open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 300_000_000


@dataclass
class Progress:
    """Rows a second and the time that is left, to whoever wants to know: ``callback(done, rows, seconds, text)``."""

    callback: Callable[..., None] | None
    number: int = 0  # of the pass
    began: float = 0.0
    reported: float = 0.0

    @classmethod
    def of(cls, progress: Any) -> Progress:
        return cls(_print if progress is True else progress or None)

    def begin(self) -> None:
        self.number += 1
        self.began = self.reported = time.monotonic()

    def report(self, done: int, rows: int) -> None:
        """``done`` of ``rows`` of this pass."""
        now = time.monotonic()
        if self.callback is None or (now - self.reported < REPORT_EVERY and done < rows):
            return
        self.reported = now
        rate = done / max(now - self.began, 1e-9)
        left = (rows - done) / max(rate, 1e-9)
        text = f"pass {self.number}: {done:,} of {rows:,} rows, {rate:,.0f} rows/s, {left:.1f} s left"
        self.callback(done=done, rows=rows, rate=rate, seconds_left=left, text=text)


def _print(*, text: str, done: int, rows: int, **_: Any) -> None:
    sys.stderr.write(f"\r{text:<78}" + ("\n" if done >= rows else ""))
    sys.stderr.flush()


@dataclass(frozen=True)
class Survey:
    """What the first pass finds."""

    classes: Array
    codes: Array  # (n,) in memory or on disk
    sampled: list[tuple[Array, Any]]  # of each part of text: (numbers of rows, these rows as they were parsed)


class FileRows(SampledRows):
    """The rows of files: read in order, part by part, or picked; answers as rows in memory do."""

    def __init__(self, source: FileSource, budget: Budget, progress: Progress) -> None:
        self.source, self.budget, self.progress = source, budget, progress
        self.parts: list[Part] = source.parts(budget.part)
        self.size = sum(part.size for part in self.parts)
        self.read = 0.0  # bytes
        self._lock = threading.Lock()
        if not self.parts:
            raise DataError(f"{source.files[0]} has no rows.")

    @property
    def blocks_type(self) -> type[FileBlocks]:
        return FileBlocks

    @property
    def passes(self) -> float:
        """How often the files have been read so far, in whole and in part."""
        return self.read / max(self.size, 1)

    def note(self, size: float) -> None:
        """So many bytes were read."""
        with self._lock:
            self.read += size

    @cached_property
    def starts(self) -> Array:
        """The number of the first row of each part, and of all rows."""
        columns = self.source.columns
        if self.source.is_text or (columns is not None and columns.text and not columns.fixed):
            _ = self.survey
        return np.concatenate([[0], np.cumsum([part.rows for part in self.parts])]).astype(np.int64)

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.starts[-1]), self.source.n_features

    @property
    def n_values(self) -> int:
        return self.source.entries if self.source.is_sparse else self.shape[0] * self.shape[1]

    @property
    def dtype(self) -> Dtype:
        return self.source.dtype

    @cached_property
    def survey(self) -> Survey:
        """One pass over what must be known of all rows beforehand."""
        source, labels = self.source, Labels(self._where)
        levels: dict[str, Counter[str]] = defaultdict(Counter)  # of each column of text: "" is a missing one
        share, sampled = min(1.0, self.budget.sample / max(2.0 * self.size, 1.0)), []
        for i, part in enumerate(self.parts):
            found = source.survey(part)
            before = self.parts[i - 1]
            part.first = 0 if i == 0 or before.file != part.file else before.first + before.rows
            if found.labels is not None:
                labels.add(i, found.labels)
            for column in found.text:
                levels[column.name].update({"": int(column.missing.sum())})
                levels[column.name].update(dict(zip(column.levels, column.counts.tolist(), strict=True)))
            if found.parsed is not None:
                keep = spaced(part.rows, int(part.rows * share) + 1)
                sampled.append((keep, found.parsed.take(keep)))
        self.note(self.size * source.survey_share)
        if not sum(part.rows for part in self.parts):
            raise DataError(f"{source.files[0]} has no rows.")
        source.settle(levels)
        return Survey(*labels.finish(self.budget.memory // 16), sampled)

    def _where(self, number: int, row: int) -> str:
        part = self.parts[number]
        return f"row {part.first + row} of {self.source.files[part.file]}"

    def where(self, row: int) -> str:
        """The row as the user finds it: its number in its file."""
        i = int(np.searchsorted(self.starts, row, side="right")) - 1
        return self._where(i, row - int(self.starts[i]))

    def walk(self) -> Generator[tuple[int, PartRows], None, None]:
        """(first row, rows) of every part, in order; another thread reads ahead."""
        starts = self.starts.tolist()
        self.progress.begin()
        with ThreadPoolExecutor(1) as reading:
            coming: deque[Future[PartRows]] = deque()
            try:
                for i in range(len(self.parts) + AHEAD):
                    if i < len(self.parts):
                        coming.append(reading.submit(self._load, i))
                    if i >= AHEAD:
                        yield starts[i - AHEAD], coming.popleft().result()
                        self.progress.report(starts[i - AHEAD + 1], starts[-1])
            finally:
                reading.shutdown(cancel_futures=True)

    def _load(self, i: int) -> PartRows:
        found = self.source.read(self.parts[i])
        self.note(self.parts[i].size)
        return found

    def parts_here(self) -> Iterator[tuple[int, Any]]:
        """(first row, rows as an array or a CSR matrix) of every part."""
        for start, rows in self.walk():
            yield start, rows.pick(np.arange(rows.shape[0])).raw

    def design(self, start: int, stop: int) -> AnyDesign:
        return self.pick(np.arange(start, stop))

    def pick(self, rows: Array) -> AnyDesign:
        index = np.asarray(rows, dtype=np.intp)
        order: Any = np.argsort(index, kind="stable")
        edges = np.searchsorted(index[order], self.starts)
        found: Any = None if self.source.is_sparse else np.empty((len(index), self.shape[1]), self.dtype)
        pieces = []
        for i in np.flatnonzero(np.diff(edges)).tolist():
            mine = order[edges[i] : edges[i + 1]]
            piece = self.source.read(self.parts[i]).pick(index[mine] - self.starts[i]).raw
            if found is None:
                pieces.append(piece)
            else:
                found[mine] = piece
            share = len(mine) / self.parts[i].rows if self.source.run_rows else 1.0
            self.note(self.parts[i].size * share)
        return as_design(stack(pieces)[np.argsort(order)] if found is None else found)

    def columns(self, indices: Array) -> Array:
        parts = [rows.pick(np.arange(rows.shape[0])).values[:, indices] for _, rows in self.walk()]
        return np.vstack([as_dense(part) for part in parts])

    @cached_property
    def sample(self) -> RowSample:
        """As many rows from all over the files as the memory allows: a pass over it costs less than one over them."""
        n, d = self.shape
        if self.source.is_text:
            sampled = self.survey.sampled
            found = [self.source.rows(rows).pick(np.arange(len(keep))).raw for keep, rows in sampled]
            index = np.concatenate([start + keep for start, (keep, _) in zip(self.starts, sampled, strict=False)])
            sampled.clear()
            return RowSample(index, stack(found))
        most = max(FEW_ROWS, self.budget.sample // max(8 * d, 1))
        return self._picked(min(n, max(self.budget.sample_rows, 500 * d), most))

    @cached_property
    def few(self) -> RowSample:
        """Some rows, for orders of magnitude."""
        if self.source.is_text or "sample" in vars(self):
            return self.sample
        return self._picked(FEW_ROWS)

    def _picked(self, count: int) -> RowSample:
        index = self._spread(count)
        return RowSample(index, self.pick(index).raw)

    def _spread(self, count: int) -> Array:
        """About ``count`` rows from all over the files that are read at little cost."""
        n, run = self.shape[0], min(self.source.run_rows, count // 64)
        if count >= n:
            return np.arange(n)
        if self.source.run_rows:  # runs of neighbours
            run = max(1, run)
            return np.asarray((spaced(n // run, max(1, count // run))[:, None] * run + np.arange(run)).ravel())
        # Of a large row group the first stretch is read without the others.
        cheap = [i for i, part in enumerate(self.parts) if part.place[1] == 0]
        usable = cheap if len(cheap) >= LEAST_PARTS else list(range(len(self.parts)))
        chosen = [usable[i] for i in spaced(len(usable), SAMPLE_PARTS if count > FEW_ROWS else 4)]
        each = -(-count // len(chosen))
        return np.concatenate([self.starts[i] + spaced(self.parts[i].rows, each) for i in chosen])

    def rare(self, codes: Array, seen: Array, wanted: int) -> Array:
        """Rows of the classes that a sample has ``seen`` fewer than ``wanted`` rows of, from few parts."""
        found: dict[int, list[Array]] = {int(k): [] for k in np.flatnonzero(seen < wanted)}
        for start, part in zip(self.starts.tolist(), self.parts, strict=False):
            lacking = [k for k, rows in found.items() if len(rows) < LEAST_PARTS and sum(map(len, rows)) < wanted]
            if not lacking:
                break
            here = np.asarray(codes[start : start + part.rows])
            for k in lacking:
                mine = np.flatnonzero(here == k)[:wanted]
                found[k] += [start + mine] * bool(len(mine))
        return np.concatenate([np.zeros(0, dtype=np.intp), *(rows for each in found.values() for rows in each)])


@dataclass(frozen=True)
class FileBlocks(SampledBlocks):
    """Blocks of files; ``target`` and ``weight`` are columns that can be sliced, in memory or mapped from disk."""

    rows: FileRows
    target: Array | None = None
    weight: Array | None = None
    began: float = 0.0  # passes over the files before this fit
    known: dict[str, Any] = field(default_factory=dict)  # what was worked out of the target; copies share it

    @property
    def passes(self) -> float:
        """How often the files have been read for this fit."""
        return float(self.rows.passes - self.began)

    @property
    def is_sparse(self) -> bool:
        return bool(self.rows.source.is_sparse)

    @property
    def total(self) -> float:
        if self.factors is not None:
            return float(self.counts(len(self.factors)).sum())
        return float(self.n_rows if self.weight is None else self.weight.sum())

    def class_rows(self, n_classes: int) -> Array:
        """(K,): the number of rows of each class; counted once."""
        if "class_rows" not in self.known:
            self.known["class_rows"] = count_classes(self.codes(), n_classes)
        return np.array(self.known["class_rows"])

    def class_weights(self, n_classes: int) -> Array:
        return count_classes(self.codes(), n_classes, self.weight)

    def _about(self, design: AnyDesign, start: int) -> Block:
        stop = start + design.shape[0]
        target = None if self.target is None else self.target[start:stop]
        weight = None if self.weight is None else self.weight[start:stop]
        return Block(design, start, target, self.weighted(target, weight))

    def block(self, start: int, stop: int) -> Block:
        return self._about(self.rows.design(start, stop), start)

    def __iter__(self) -> Iterator[Block]:
        for start, rows in self.rows.walk():
            for a, b in self._cuts(rows):
                yield self._about(rows.pick(np.arange(a, b)), start + a)

    def _cuts(self, rows: PartRows) -> list[tuple[int, int]]:
        n, step = rows.shape[0], self.block_rows or self.rows.block_rows
        return [(a, min(a + step, n)) for a in range(0, n, step)]

    def reduce(self, kernel: Callable[[Block], Result]) -> Result:
        """Σ_b kernel(b), the parts read ahead on another thread; parts are added first to last."""
        with contextlib.closing(self.rows.walk()) as parts:
            return added(ordered_map(partial(self._fold_part, kernel), parts, workers()))  # type: ignore[no-any-return]

    def _fold_part(self, kernel: Callable[[Block], Result], part: tuple[int, PartRows]) -> Result:
        start, rows = part
        found = (kernel(self._about(rows.design(a, b), start + a)) for a, b in self._cuts(rows))
        return added(found)  # type: ignore[no-any-return]

    # Samples

    def row_sample(self, n_classes: int) -> RowSample:
        return self._labelled("sample", n_classes)

    def few_rows(self, n_classes: int) -> RowSample:
        return self._labelled("few", n_classes)

    def _labelled(self, name: str, n_classes: int) -> RowSample:
        """A sample of the rows with its codes and weights, and with rows of the classes that it has few of."""
        key = f"{name} of {n_classes} classes"
        if key not in self.known:
            found: RowSample = getattr(self.rows, name)
            if self.target is not None:
                seen = count_classes(self.target[found.index], n_classes)
                more = self.rows.rare(self.target, seen, wanted_rows(len(found.index), n_classes))
                more = more[~np.isin(more, found.index)] if len(more) else more
                if len(more):
                    found = RowSample.joined([found, RowSample(more, self.rows.pick(more).raw)])
            about = (None if values is None else values[found.index] for values in (self.target, self.weight))
            self.known[key] = RowSample(found.index, found.raw, *about)
        sample: RowSample = self.known[key]
        return sample
