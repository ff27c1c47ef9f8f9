"""Blocks whose rows stay where they are, in files: read part by part, ahead of the arithmetic, and forgotten.

    reader thread:   part i+1, i+2 …  →  bounded queue  →  worker threads: Σ over the cache blocks of part i
    sums of parts are added first to last, so that the answer depends neither on threads nor on timing

What is held at any time is a few parts, a row sample and one byte a row for its class; ``Budget`` divides the memory
that the user allows among them.  Every byte that is read counts towards ``passes``.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from discriminant.data.blocks import EARLY, ArrayBlocks, _add, spaced
from discriminant.data.labels import count_classes
from discriminant.data.rows import DenseDesign, SparseDesign
from discriminant.data.scan_awaited import Awaited
from discriminant.data.threads import drop_scratch, most_workers, single_threaded_blas, workers
from discriminant.errors import ParameterError
from discriminant.protocols import Array, Block, Result

LEAST_FREE = 48_000_000  # bytes below which not even a few parts fit
LIBRARIES = {"numba": 130_000_000, "sklearn": 120_000_000}  # bytes that they take, if they are still to be loaded
AHEAD = 2  # parts read ahead of those that are worked on
SAMPLE_CLASS_ROWS = 300


@dataclass(frozen=True)
class Budget:
    """How much memory goes where, in bytes."""

    part: int  # one part of a file, decoded
    sample: int  # the row sample

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
        return cls(part=int(min(16e6, free / (4 * in_flight))), sample=int(min(256e6, free / 7)))


def resident() -> int:
    """Bytes of memory that this process holds now."""
    with contextlib.suppress(OSError, ValueError), open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 300_000_000


@dataclass(frozen=True, eq=False)
class StreamRows:
    """The rows of a scan, as a source of designs: those asked for one by one are read from their parts."""

    scan: Any

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.scan.shape[0]), int(self.scan.shape[1])

    @property
    def block_rows(self) -> int:
        return max(256, 200_000 // max(self.shape[1], 1))

    @property
    def dtype(self) -> Any:
        return self.scan.dtype

    @property
    def blocks_type(self) -> type:
        return StreamBlocks

    def where(self, row: int) -> str:
        """The row as the user finds it: its number in its file."""
        return str(self.scan.parts.where(row))

    def design(self, start: int, stop: int) -> DenseDesign | SparseDesign:
        return self.pick(np.arange(start, stop))

    def pick(self, rows: Array) -> DenseDesign | SparseDesign:
        """The rows with these numbers, in that order; the parts that hold them are read."""
        return as_design(self.scan.parts.rows(np.asarray(rows, dtype=np.intp)))

    def columns(self, indices: Array) -> Array:
        """Some columns, all rows, in float64."""
        parts = [piece.take(np.arange(piece.rows))[:, indices] for _, piece in self.scan.parts.walk()]
        return np.vstack([p.toarray() if hasattr(p, "toarray") else p for p in parts]).astype(np.float64)


def as_design(raw: Any) -> DenseDesign | SparseDesign:
    """A block of rows as a design."""
    return SparseDesign(raw) if hasattr(raw, "toarray") else DenseDesign(raw)


@dataclass(frozen=True)
class StreamBlocks(ArrayBlocks):
    """Blocks of a scan; ``target`` and ``weight`` are columns that can be sliced, in memory or spilled to disk."""

    factors: Array | None = field(default=None)  # (K,) on the weights of the classes

    in_memory: ClassVar[bool] = False

    @property
    def scan(self) -> Any:
        return self.rows.scan  # type: ignore[union-attr]

    @property
    def passes(self) -> float:
        """How often the files have been read for this fit."""
        return float(self.scan.parts.passes - self.scan.began)

    @property
    def is_sparse(self) -> bool:
        return bool(self.scan.parts.is_sparse)

    @property
    def n_values(self) -> int:
        return int(self.scan.parts.n_values)

    @property
    def total(self) -> float:
        if self.weight is None and self.factors is None:
            return float(self.n_rows)
        return float(self.counts(self.scan.n_classes).sum())

    def counts(self, n_classes: int) -> Array:
        counts = self.class_rows(n_classes) if self.weight is None else self._counted(n_classes, self.weight)
        return counts if self.factors is None else counts * self.factors

    def class_rows(self, n_classes: int) -> Array:
        """(K,): the number of rows of each class; counted once."""
        known, column = self.scan.class_rows, self.target
        if isinstance(column, Awaited):
            column = column.known()
            known = self.scan.class_rows
        if known is None or known[0] is not column or len(known[1]) != n_classes:
            self.scan.class_rows = known = (column, self._counted(n_classes, None))
        return np.array(known[1], dtype=np.float64)

    @property
    def _waits(self) -> bool:
        """Whether only the sample's labels are known."""
        return isinstance(self.target, Awaited) and self.target.pending

    def settle(self) -> bool:
        waited = self._waits
        if waited:
            self.target.known()  # type: ignore[union-attr]
        return waited

    def _counted(self, n_classes: int, weight: Any) -> Array:
        counts = np.zeros(n_classes)
        for start in range(0, self.n_rows, 1 << 20):
            part = slice(start, min(start + (1 << 20), self.n_rows))
            counts += np.bincount(self.target[part], None if weight is None else weight[part], minlength=n_classes)  # type: ignore[index]
        return counts

    def weighed(self, factors: Array) -> Self:
        return replace(self, factors=factors if self.factors is None else factors * self.factors)

    def _about(self, design: Any, start: int, stop: int) -> Block:
        target = None if self.target is None else self.target[start:stop]
        weight = None if self.weight is None else self.weight[start:stop]
        if self.factors is not None and target is not None:
            each = self.factors[target]
            weight = each if weight is None else each * weight
        return Block(design, start, target, weight)

    def block(self, start: int, stop: int) -> Block:
        return self._about(self.rows.design(start, stop), start, stop)

    def __iter__(self) -> Iterator[Block]:
        for start, piece in self.scan.parts.walk():
            for a, b in self._cuts(piece.rows):
                raw = piece.take(np.arange(a, b))
                yield self._about(as_design(raw), start + a, start + b)

    def _cuts(self, rows: int) -> list[tuple[int, int]]:
        step = min(self.block_rows or self.rows.block_rows, max(rows, 1))
        return [(a, min(a + step, rows)) for a in range(0, rows, step)]

    # Samples

    @property
    def sample_rows(self) -> int:
        """How many rows the sample holds: more than in memory, since a pass costs more."""
        return len(self.scan.sample.index)

    @property
    def early_rows(self) -> int:
        """How many rows of the sample are there before the others, or are enough to begin with."""
        early = self.scan.early
        return self.sample_rows // EARLY if early is None else len(early.index)

    def _holding(self, count: int) -> Any:
        """The first rows of the sample where they are enough, else all of it."""
        early = self.scan.early
        return early if early is not None and count <= len(early.index) else self.scan.sample

    def spread(self, count: int) -> Any:
        sample = self._holding(count)
        return as_design(sample.raw[spaced(len(sample.index), count)])

    def draw(self, count: int, n_classes: int) -> tuple[Array, Block]:
        return self._of(self._holding(count), count, n_classes)

    def _of(self, sample: Any, count: int, n_classes: int) -> tuple[Array, Block]:
        codes, size = self._labelled(sample, n_classes)
        index, raw, target = sample.index, sample.raw, codes
        if count < len(index):
            keep = self._thinned(codes, len(index), count, n_classes)
            index, raw, target = index[keep], raw[keep], None if codes is None else codes[keep]
        if target is None:
            weight = np.full(len(index), self.n_rows / len(index))
        else:
            seen = count_classes(target, n_classes)
            weight = (size / np.maximum(seen, 1))[target]
            if self.factors is not None:
                weight = weight * self.factors[target]
        if self.weight is not None:
            weight = weight * np.array([self.weight[int(i) : int(i) + 1][0] for i in index])
        return index, Block(as_design(raw), 0, target, weight)

    def _labelled(self, sample: Any, n_classes: int) -> tuple[Array | None, Any]:
        """(classes of the sample's rows, rows of each class): where labels wait, by the sample's share of them."""
        if self._waits:
            return sample.codes, count_classes(sample.codes, n_classes) * (self.n_rows / len(sample.codes))
        if self.target is None:
            return None, None
        return codes_at(self.target, sample.index), self.class_rows(n_classes)

    @staticmethod
    def _thinned(codes: Array | None, n: int, count: int, n_classes: int) -> Array:
        """About ``count`` of a sample's n rows, with all those of classes that it has few of."""
        keep = spaced(n, count)
        if codes is None:
            return keep
        wanted = max(1, min(SAMPLE_CLASS_ROWS, count // (2 * n_classes)))
        seen = np.bincount(codes[keep], minlength=n_classes)
        extra = [np.flatnonzero(codes == k)[:wanted] for k in np.flatnonzero(seen < wanted)]
        return np.unique(np.concatenate([keep, *extra]))

    def sample(self, n_rows: int, n_classes: int) -> Block:
        index, block = self._of(self.scan.few, n_rows, n_classes)
        own = None if self.weight is None else np.array([self.weight[int(i) : int(i) + 1][0] for i in index])
        return replace(block, weight=own)

    # Sums

    def reduce(self, kernel: Callable[[Block], Result]) -> Result:
        """Σ_b kernel(b), the parts read ahead on another thread; parts are added first to last."""
        total: Any = None
        for part in self._folded(kernel):
            total = part if total is None else _add(total, part)
        drop_scratch()
        return total  # type: ignore[no-any-return]

    def _folded(self, kernel: Callable[[Block], Result]) -> Iterator[Result]:
        parts, threads = self.scan.parts, workers()
        with (
            single_threaded_blas(),
            parts.counted(),
            ThreadPoolExecutor(1) as reading,
            ThreadPoolExecutor(threads) as working,
        ):
            waiting: deque[Future[Result]] = deque()
            try:
                for i in range(len(parts)):
                    piece = reading.submit(parts.load, i)
                    waiting.append(working.submit(self._work, kernel, parts.start(i), piece))
                    if len(waiting) > threads + AHEAD:
                        yield waiting.popleft().result()
                        parts.tell(i)
                while waiting:
                    yield waiting.popleft().result()
                parts.tell(len(parts))
            finally:
                for future in waiting:
                    future.cancel()

    def _work(self, kernel: Callable[[Block], Result], start: int, loading: Future[Any]) -> Result:
        piece, total = loading.result(), None
        for a, b in self._cuts(piece.rows):
            part: Any = kernel(self._about(piece.design(a, b), start + a, start + b))
            total = part if total is None else _add(total, part)
        return total  # type: ignore[return-value]


def codes_at(codes: Any, index: Array) -> Array:
    """The codes of these rows, in order; of a column on disk, read in stretches."""
    if isinstance(codes, Awaited):
        codes = codes.known()
    if isinstance(codes, np.ndarray):
        return codes[index]
    found = np.empty(len(index), dtype=codes.dtype)
    for start in range(0, len(codes), 1 << 22):
        mine = (index >= start) & (index < start + (1 << 22))
        if mine.any():
            found[mine] = codes[start : start + (1 << 22)][index[mine] - start]
    return found
