"""The parts of a scan: which rows lie where, how they are loaded, how much has been read, and how far a pass has come.

A *format* (``scan_formats``, ``scan_text``) cuts its files into parts of consecutive rows and loads one at a time.  A
loaded part is a *piece*: rows that can be handed out block by block, row-major, without a copy of the whole.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discriminant.data.rows import DenseDesign, SparseDesign, SparseRows
from discriminant.data.threads import scratch
from discriminant.protocols import Array

TELL_EVERY = 0.5  # seconds between two words on progress


@dataclass
class Part:
    """Some consecutive rows of one file."""

    file: int
    rows: int  # −1 where the format does not know before it has read them
    place: Any  # for the format: a row, a row group, a range of bytes
    first: int = 0  # number of the first row in its file
    size: int = 0  # bytes of the file


@dataclass(frozen=True)
class Dense:
    """Rows of an array in memory."""

    values: Array

    @property
    def rows(self) -> int:
        return len(self.values)

    def design(self, start: int, stop: int) -> DenseDesign:
        return DenseDesign(self.values[start:stop])

    def take(self, index: Array, out: Array | None = None) -> Array:
        """A copy of these rows."""
        return np.array(self.values[index]) if out is None else np.take(self.values, index, axis=0, out=out)


@dataclass(frozen=True)
class Sparse:
    """Rows of a CSR matrix."""

    matrix: Any

    @property
    def rows(self) -> int:
        return int(self.matrix.shape[0])

    def design(self, start: int, stop: int) -> SparseDesign:
        return SparseRows(self.matrix).design(start, stop)

    def take(self, index: Array) -> Any:
        return self.matrix[index]


def bytes_in(values: Array) -> memoryview:
    """The memory of a contiguous array, of whatever type."""
    return memoryview(values.reshape(-1).view(np.uint8))  # type: ignore[arg-type]


def read_fully(descriptor: int, view: memoryview, at: int) -> None:
    """Fill ``view`` from the file, from byte ``at`` on."""
    done = os.preadv(descriptor, [view], at)
    while done < len(view):
        count = os.preadv(descriptor, [view[done:]], at + done)
        if count <= 0:
            raise OSError("the file ends before its last row")
        done += count


def run_edges(index: Array) -> list[int]:
    """Where runs of neighbouring numbers begin and end."""
    return [0, *(np.flatnonzero(np.diff(index) != 1) + 1).tolist(), len(index)] if len(index) else [0]


def read_items(descriptor: int, offset: int, index: Array, out: Array) -> None:
    """The items with these numbers, out[0].nbytes each, from a file that holds them one after the other.

    Neighbours are read together, straight into ``out``.
    """
    view, edges = bytes_in(out), run_edges(index)
    size = len(view) // max(len(index), 1)
    places = (offset + index[edges[:-1]].astype(np.int64) * size).tolist()
    for (a, b), at in zip(itertools.pairwise(edges), places, strict=True):
        read_fully(descriptor, view[a * size : b * size], at)


@dataclass(frozen=True)
class Stored:
    """Rows of a row-major file that is read a block at a time, straight into the cache of the thread that works."""

    descriptor: int
    offset: int  # bytes before the first row
    rows: int
    width: int  # numbers in a row of the file
    kind: Any
    columns: Array | None  # None: all
    dtype: Any

    def _read(self, start: int, stop: int, out: Array | None = None) -> Array:
        """Rows start:stop in memory that the next call of this thread uses again; in ``out``, too, if it is given."""
        kind = np.dtype(self.kind)
        values = scratch("read", (stop - start, self.width), kind)
        read_fully(self.descriptor, bytes_in(values), self.offset + start * self.width * kind.itemsize)
        if self.columns is not None:
            values = values[:, self.columns]
        if out is not None:
            out[...] = values
        return values if values.dtype == self.dtype else values.astype(self.dtype)

    def design(self, start: int, stop: int) -> DenseDesign:
        return DenseDesign(self._read(start, stop))

    def take(self, index: Array, out: Array | None = None) -> Array:
        """These rows; neighbours are read together."""
        if out is None:
            out = np.empty((len(index), self.width if self.columns is None else len(self.columns)), self.dtype)
        if self.columns is None and out.dtype == self.kind and out.flags.c_contiguous:
            read_items(self.descriptor, self.offset, index, out)
            return out
        edges = run_edges(index)
        for a, b in itertools.pairwise(edges):
            self._read(int(index[a]), int(index[b - 1]) + 1, out[a:b])
        return out


@dataclass(frozen=True)
class Columns:
    """Columns side by side, as columnar files have them; a block of rows is put together when its turn comes.

    A column is an array of numbers, or (codes, table): code c stands for the numbers table[c].
    """

    columns: list[Any]
    rows: int
    width: int
    dtype: Any

    def _fill(self, pick: Any, out: Array) -> Array:
        at = 0
        for column in self.columns:
            if isinstance(column, tuple):
                codes, table = column
                out[:, at : at + table.shape[1]] = table[codes[pick]]
                at += table.shape[1]
            else:
                out[:, at] = column[pick]
                at += 1
        return out

    def design(self, start: int, stop: int) -> DenseDesign:
        return DenseDesign(self._fill(slice(start, stop), scratch("read", (stop - start, self.width), self.dtype)))

    def take(self, index: Array, out: Array | None = None) -> Array:
        """A copy of these rows."""
        return self._fill(index, np.empty((len(index), self.width), self.dtype) if out is None else out)


@dataclass
class Progress:
    """Rows a second and the time that is left, to whoever wants to know: ``hear(done, rows, seconds, text)``."""

    hear: Callable[..., None] | None
    began: float = 0.0
    told: float = 0.0

    @classmethod
    def of(cls, progress: Any) -> Progress:
        return cls(_print if progress is True else progress or None)

    def begin(self) -> None:
        self.began = self.told = time.monotonic()

    def tell(self, number: int, done: int, rows: int) -> None:
        """``done`` of ``rows`` of the pass with this number."""
        now = time.monotonic()
        if self.hear is None or (now - self.told < TELL_EVERY and done < rows):
            return
        self.told = now
        speed = done / max(now - self.began, 1e-9)
        left = (rows - done) / max(speed, 1e-9)
        text = f"pass {number}: {done:,} of {rows:,} rows, {speed:,.0f} rows/s, {left:.1f} s left"
        self.hear(done=done, rows=rows, rate=speed, seconds_left=left, text=text)


def _print(*, text: str, done: int, rows: int, **_: Any) -> None:
    sys.stderr.write(f"\r{text:<78}" + ("\n" if done >= rows else ""))
    sys.stderr.flush()


@dataclass
class Parts:
    """All parts of a scan, in order; knows where each row is once every part's number of rows is known."""

    format: Any
    parts: list[Part]
    progress: Progress
    starts: Array = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    read: int = 0  # bytes
    rounds: int = 0
    _lock: Any = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        if all(part.rows >= 0 for part in self.parts):
            self.settle()

    def settle(self) -> None:
        """Every part's number of rows is known now."""
        self.starts = np.concatenate([[0], np.cumsum([part.rows for part in self.parts])]).astype(np.int64)

    def __len__(self) -> int:
        return len(self.parts)

    @property
    def n_rows(self) -> int:
        return int(self.starts[-1])

    @property
    def size(self) -> int:
        return sum(part.size for part in self.parts)

    @property
    def passes(self) -> float:
        return self.read / max(self.size, 1)

    @property
    def is_sparse(self) -> bool:
        return bool(self.format.is_sparse)

    @property
    def n_values(self) -> int:
        return int(self.format.entries) if self.is_sparse else self.n_rows * int(self.format.n_features)

    def start(self, i: int) -> int:
        return int(self.starts[i])

    def load(self, i: int) -> Any:
        """Part i as a piece."""
        piece = self.format.load(self.parts[i])
        self.note(self.parts[i].size)
        return piece

    def note(self, size: float) -> None:
        """So many bytes were read."""
        with self._lock:
            self.read += int(size)

    @contextlib.contextmanager
    def counted(self) -> Iterator[None]:
        """One walk over all parts."""
        self.rounds += 1
        self.progress.begin()
        yield

    def tell(self, i: int) -> None:
        """Parts before i are done."""
        self.progress.tell(self.rounds, int(self.starts[i]), self.n_rows)

    def walk(self) -> Iterator[tuple[int, Any]]:
        """(first row, piece) of every part, the next one read meanwhile."""
        with self.counted(), ThreadPoolExecutor(1) as reading:
            coming = reading.submit(self.load, 0) if self.parts else None
            for i in range(len(self.parts)):
                assert coming is not None
                piece = coming.result()
                coming = reading.submit(self.load, i + 1) if i + 1 < len(self.parts) else None
                yield self.start(i), piece
                self.tell(i + 1)

    def rows(self, index: Array, out: Array | None = None) -> Any:
        """The rows with these numbers, in that order; dense rows with rising numbers into ``out``, if it is given."""
        rising = len(index) < 2 or bool((np.diff(index) > 0).all())
        order = None if rising else np.argsort(index, kind="stable")
        ranked = index if order is None else index[order]
        parts, starts = self._single()
        edges = np.searchsorted(ranked, starts)
        found: Any = out
        if out is None and not self.is_sparse:
            found = np.empty((len(index), self.format.n_features), self.format.dtype)
        pieces, load = [], getattr(self.format, "piece", self.format.load)
        for i in np.flatnonzero(np.diff(edges)).tolist():
            mine = ranked[edges[i] : edges[i + 1]] - int(starts[i])
            piece = load(parts[i])
            if found is None:
                pieces.append(piece.take(mine))
            else:
                piece.take(mine, found[edges[i] : edges[i + 1]])
            share = len(mine) / max(parts[i].rows, 1) if isinstance(piece, Stored) else 1.0
            self.note(parts[i].size * share)
        found = stack(pieces) if found is None else found
        if order is None:
            return found
        back = np.empty(len(order), dtype=np.intp)
        back[order] = np.arange(len(order))
        return found[back]

    def _single(self) -> tuple[list[Part], Array]:
        """Parts to read single rows from, and their first rows: whole files where a row is read without the others."""
        files = getattr(self.format, "by_row", None)
        if files is None:
            return self.parts, self.starts
        return files, np.cumsum([0, *(part.rows for part in files)])

    def where(self, row: int) -> str:
        """Which row of which file."""
        i = int(np.searchsorted(self.starts, row, side="right")) - 1
        part = self.parts[i]
        return f"row {part.first + row - self.start(i)} of {self.format.files[part.file]}"


def stack(found: list[Any]) -> Any:
    """Blocks of rows on top of each other, dense or sparse."""
    if len(found) == 1:
        return found[0]
    if hasattr(found[0], "toarray"):
        from scipy import sparse

        return sparse.vstack(found, format="csr")
    return np.vstack(found)
