"""Blocks over rows in memory: map a kernel over row blocks, then add, in an order that never changes.

Rows are cut into chunks, chunks into blocks.  Both cuts depend on the shape of X alone.  A thread adds up the blocks
of a chunk; chunks are added first to last.  So the bits of a sum do not depend on the number of threads.

How other storage plugs in (files, Dask, devices; ``data.sources``): a source hands out a *subclass* of ``ArrayBlocks``
that overrides ``reduce``, ``__iter__``, ``spread``, ``sample``, ``draw`` and, where ``target`` and ``weight`` are no
arrays here, ``counts``, ``total`` and ``reweighted``.  Its ``rows`` need ``shape``, ``block_rows`` and ``blocks_type``
(that subclass, which ``make_blocks`` builds), and ``design``, ``pick``, ``columns`` for methods that ask for certain
rows.  ``reduce(kernel)`` may run the kernel elsewhere (a worker) or put another of the same meaning in its place (a
device).  Whole-data questions go through these methods only; nothing above reads ``target`` as one array unless the
blocks are ``in_memory``.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Self, TypeGuard

import numpy as np

from discriminant.arrays import in_memory
from discriminant.data.evaluate import FINEST, TiledRequest
from discriminant.data.labels import count_classes, distinct
from discriminant.data.rows import AnyDesign, DenseRows, Rows, SparseRows, as_rows
from discriminant.data.threads import held_blas, ordered_map, workers
from discriminant.protocols import Array, Block, Result
from discriminant.thresholds import (
    PASS_VALUE,
    PASS_WORK,
    SLOT_WORK,
    THREAD_TIME,
    THREADED_VALUES,
    THREADED_WORK,
    TILE_PRODUCT,
)

MOST_CHUNKS = 32
LEAST_PER_CLASS = 300  # rows of each class in a drawn sample, where it has so many


@dataclass(frozen=True)
class ArrayBlocks:
    """The rows of one source in memory, with each row's target and weight."""

    rows: Rows
    target: Array | None = None
    weight: Array | None = None
    block_rows: int = field(default=0)  # 0: what suits the cache
    first: int = 0  # the number of the first row, where these are part of more

    in_memory: ClassVar[bool] = True  # rows, target and weight are arrays that may be read in any order
    elsewhere: ClassVar[bool] = False  # target and weight lie on workers or on a device
    on_device: ClassVar[bool] = False  # rows lie on an accelerator
    scattered: ClassVar[bool] = False  # rows lie on several workers: no one order of samples
    pass_cost: ClassVar[float] = 1.0  # of a pass, against one over rows in memory: more where they are read from files

    @cached_property
    def n_rows(self) -> int:
        return self.rows.shape[0]

    @cached_property
    def n_features(self) -> int:
        return self.rows.shape[1]

    @cached_property
    def is_sparse(self) -> bool:
        return isinstance(self.rows, SparseRows)

    @cached_property
    def n_values(self) -> int:
        """How many numbers a pass reads."""
        return int(self.rows.X.nnz) if isinstance(self.rows, SparseRows) else self.n_rows * self.n_features

    @property
    def accuracy(self) -> float:
        """How coarsely evaluations of J may be asked for, where that is quicker."""
        return FINEST

    def to_fit(self, coupled: bool) -> Self:
        """The same rows with what evaluations of one fit leave for the next one."""
        return self

    def place(self, values: Array) -> Any:
        """A vector of weights where those of evaluations lie: in memory, or on a device."""
        return values

    @property
    def rounding(self) -> float:
        """How much coarser sums of products are than those of float64: a device may multiply float32."""
        return 1.0

    @property
    def passes(self) -> float | None:
        """How often what the rows are read from has been read for this fit; None where they are in memory."""
        return None

    @property
    def memory(self) -> dict[Any, Any] | None:
        """What fits of these very rows, targets and weights leave for the next one; None where there will be none."""
        return self.__dict__.get("_memory")

    def remembering(self) -> Self:
        """The same, for several fits."""
        self.__dict__["_memory"] = {}
        return self

    @property
    def is_soft(self) -> bool:
        """Whether the targets are probabilities, not codes of classes."""
        return self.target is not None and self.target.dtype.kind == "f"

    @property
    def total(self) -> float:
        """Σ w."""
        return float(self.n_rows if self.weight is None else self.weight.sum())

    def codes(self) -> Array:
        """(n,): the class codes, here."""
        return np.asarray(self.target)

    def counts(self, n_classes: int) -> Array:
        """(K,): the total weight of each class; the target holds class codes."""
        known: dict[int, Array] = self.__dict__.setdefault("_counts", {})
        if n_classes not in known:
            known[n_classes] = count_classes(np.asarray(self.target), n_classes, self.weight)
        return known[n_classes]

    def class_rows(self, n_classes: int) -> Array:
        """(K,): how many rows each class has; the target holds class codes."""
        known: dict[int, Array] = self.__dict__.setdefault("_class_rows", {})
        if n_classes not in known:
            known[n_classes] = replace(self, weight=None).counts(n_classes).astype(np.int64)
        return known[n_classes]

    def reweighted(self, factors: Array) -> Self:
        """The same rows, each weight times the factor of the row's class."""
        each = np.asarray(factors)[np.asarray(self.target)]
        return replace(self, weight=each if self.weight is None else each * self.weight)

    def block(self, start: int, stop: int) -> Block:
        """Rows start:stop."""
        return Block(
            self.rows.design(start, stop),
            start + self.first,
            None if self.target is None else self.target[start:stop],
            None if self.weight is None else self.weight[start:stop],
        )

    def bounds(self) -> list[tuple[int, int]]:
        """(start, stop) of each block."""
        step = self.block_rows or self.rows.block_rows
        return [(start, min(start + step, self.n_rows)) for start in range(0, self.n_rows, step)]

    def __iter__(self) -> Iterator[Block]:
        for start, stop in self.bounds():
            yield self.block(start, stop)

    def spread(self, count: int) -> AnyDesign:
        """The design of about ``count`` rows, evenly spread."""
        return self.rows.pick(np.linspace(0, self.n_rows - 1, min(self.n_rows, count)).astype(np.intp))

    def draw(self, count: int, n_classes: int) -> tuple[Array, Block]:
        """(row numbers, rows): about ``count`` rows that stand for all, with weights that keep sums unbiased.

        Evenly spaced but for a jitter.  Rows of a frequent class are drawn in part; rows of a rare one are all taken.
        """
        index, target, weight = self.chosen(count, n_classes)
        return index, Block(self.rows.pick(index), 0, target, weight)

    def chosen(self, count: int, n_classes: int) -> tuple[Array, Array | None, Array]:
        """(row numbers, targets, weights) of the rows that ``draw`` hands out."""
        target = None if self.target is None else self.codes()
        coded = target is not None and target.dtype.kind in "iu"
        size = self.class_rows(n_classes) if coded else None
        index, weight = stratified_rows(self.n_rows, target if coded else None, count, n_classes, size)
        if self.weight is not None:
            weight = weight * in_memory(self.weight)[index]
        return index, None if target is None else target[index], weight

    def sample(self, n_rows: int, n_classes: int) -> Block:
        """About ``n_rows`` rows, evenly spread, and at least one of each class that ``target`` (class codes) holds."""
        if self.n_rows <= n_rows:
            return self.block(0, self.n_rows)
        rows = distinct(np.linspace(0, self.n_rows - 1, min(n_rows, self.n_rows)).astype(np.intp))
        target = self.target
        if target is not None:
            absent = np.ones(n_classes, dtype=bool)
            absent[target[rows]] = False
            missing = np.flatnonzero(absent)
            first = [int(np.argmax(hit)) for k in missing[:1000] if (hit := target == k).any()]
            rows = distinct(np.concatenate([rows, np.array(first, dtype=np.intp)]))
        picked = None if target is None else np.asarray(target[rows])
        return Block(self.rows.pick(rows), 0, picked, None if self.weight is None else self.weight[rows])

    def reduce(self, kernel: Callable[[Block], Result]) -> Result:
        """Σ_b kernel(b).  The kernel hands back a fresh object each time; ``+`` (or ``+=``) joins two of them."""
        chunks, threads = self._partition(kernel)
        with contextlib.nullcontext() if self._compiles(kernel) else held_blas(self.n_features, self.n_rows):
            if len(chunks) == 1:
                return self._fold(kernel, chunks[0]) if len(chunks[0]) > 1 else kernel(self.block(*chunks[0][0]))
            return added(ordered_map(partial(self._fold, kernel), chunks, threads))  # type: ignore[no-any-return]

    def _fold(self, kernel: Callable[[Block], Result], chunk: list[tuple[int, int]]) -> Result:
        return added(kernel(self.block(start, stop)) for start, stop in chunk)  # type: ignore[no-any-return]

    def _partition(self, kernel: Callable[[Block], Result]) -> tuple[list[list[tuple[int, int]]], int]:
        """(chunks of blocks, threads); a compiled pass walks its rows in tiles itself, so its blocks are large."""
        if self.block_rows or not self._compiles(kernel):
            return self._chunks(), self._threads()
        work = kernel.work(self.n_rows, self.n_values)
        enough = max(PASS_WORK, SLOT_WORK * kernel.slot)
        count = int(max(min(work // enough, MOST_CHUNKS, self.n_rows // 64), 1))
        if count == 1:
            return [[(0, self.n_rows)]], 1
        edges = [self.n_rows * k // count for k in range(count + 1)]
        threads = int((self.n_values * PASS_VALUE + work * TILE_PRODUCT) / THREAD_TIME)
        return [[edge] for edge in itertools.pairwise(edges)], min(workers(), max(threads, 1))

    def _compiles(self, kernel: Callable[[Block], Result]) -> TypeGuard[TiledRequest]:
        """Whether the request is answered by compiled code, from the rows where they lie."""
        return isinstance(kernel, TiledRequest) and bool(kernel.compiled) and self.as_stored

    @cached_property
    def as_stored(self) -> bool:
        """Whether compiled passes read these rows where they lie; others are converted a block at a time."""
        rows = self.rows
        if isinstance(rows, SparseRows):
            return rows.X.dtype.char in "df"
        return isinstance(rows, DenseRows) and rows.X.dtype.isnative and rows.X.dtype.char in "df"

    def _chunks(self) -> list[list[tuple[int, int]]]:
        bounds = self.bounds()
        if len(bounds) == 1:
            return [bounds]
        count = max(1, min(MOST_CHUNKS, len(bounds)))
        edges = np.linspace(0, len(bounds), count + 1).astype(int)
        return [bounds[a:b] for a, b in itertools.pairwise(edges)] if bounds else []

    def _threads(self) -> int:
        values = self.n_values
        worth = max(values / THREADED_VALUES, values * self.n_features / THREADED_WORK)
        return min(workers(), int(2 * worth)) if worth >= 1 else 1


def spaced(n: int, count: int) -> Array:
    """About ``count`` numbers below n, evenly spaced but for a jitter that breaks step with periodic rows."""
    if count >= n:
        return np.arange(n)
    edges = np.linspace(0, n, count + 1)
    jitter = np.random.default_rng(count).random(count)
    index = (edges[:-1] + jitter * (n / count)).astype(np.intp)
    return index[np.diff(index, prepend=-1) > 0]


def wanted_rows(rows: int, n_classes: int) -> int:
    """Rows of each class that a sample of so many rows should have."""
    return max(1, min(LEAST_PER_CLASS, rows // (2 * n_classes)))


def stratified_rows(n: int, codes: Array | None, count: int, n_classes: int, size: Array | None) -> tuple[Array, Array]:
    """(row numbers, weights) of about ``count`` of n rows; a class that is rare is taken whole, if it has few rows.

    ``size``: (K,) how many rows each class has.
    """
    index = spaced(n, count)
    if codes is None or size is None:
        return index, np.full(len(index), n / len(index))
    wanted = wanted_rows(count, n_classes)
    seen = np.bincount(codes[index], minlength=n_classes)
    thin = np.flatnonzero((seen < wanted) & (seen < size))
    if len(thin):
        extra = []
        for k in thin:
            mine = np.flatnonzero(codes == k)
            extra.append(mine[spaced(len(mine), wanted)])
        common = index[~np.isin(codes[index], thin)]
        index = np.sort(np.concatenate([common, *extra]))
        seen = np.bincount(codes[index], minlength=n_classes)
    factor = size / np.maximum(seen, 1)
    return index, factor[codes[index]]


def added(parts: Iterable[Any]) -> Any:
    """Σ parts, first to last, in the place of the first; None of none."""
    total = None
    for part in parts:
        total = part if total is None else _add(total, part)
    return total


def _add(total: Any, part: Any) -> Any:
    if isinstance(total, tuple):
        return tuple(_add(a, b) for a, b in zip(total, part, strict=True))
    total += part
    return total


def make_blocks(X: Any, target: Array | None = None, weight: Array | None = None, block_rows: int = 0) -> ArrayBlocks:
    """The rows of X in blocks, each row with its target (class code or vector) and weight.

    >>> import numpy as np
    >>> blocks = make_blocks(np.arange(6.0).reshape(3, 2))
    >>> float(blocks.reduce(lambda block: block.design.values.sum()))
    15.0
    """
    rows = as_rows(X)
    kind: type[ArrayBlocks] = rows.blocks_type or ArrayBlocks
    return kind(rows, target, weight, block_rows)


def map_rows(
    kernel: Callable[[AnyDesign], Array],
    X: Any,
    width: int | None = None,
    dtype: Any = np.float64,
    block_rows: int = 0,
    serial: bool = False,
) -> Array:
    """kernel(design) for each row block, stacked: (n, width), or (n,) where width is None; ``serial``: no threads."""
    rows = as_rows(X)
    n = rows.shape[0]
    out = np.empty(n if width is None else (n, width), dtype=dtype)
    blocks = ArrayBlocks(rows, block_rows=block_rows)

    def fill(chunk: list[tuple[int, int]]) -> None:
        for start, stop in chunk:
            found = kernel(rows.design(start, stop))
            with np.errstate(over="ignore"):  # a score beyond float32 is infinite there
                out[start:stop] = found

    with held_blas(rows.shape[1], n):
        for _ in ordered_map(fill, blocks._chunks(), 1 if serial else blocks._threads()):
            continue
    return out
