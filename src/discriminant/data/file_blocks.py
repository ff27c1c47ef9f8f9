"""Blocks of rows in files, whose parts are the partitions of every sum.

reader thread:   part i+1, i+2 …  →  worker threads: Σ over the cache blocks of part i
sums of parts are added first to last, so that the answer depends neither on threads nor on timing
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from discriminant.data.blocks import _add, spaced
from discriminant.data.labels import count_classes
from discriminant.data.row_sample import RowSample, SampledBlocks, as_design, wanted_rows
from discriminant.data.threads import drop_scratch, ordered_map, workers
from discriminant.protocols import Array, Block, Result

COUNTED = 1 << 20  # codes that are counted together


@dataclass(frozen=True)
class FileBlocks(SampledBlocks):
    """Blocks of files; ``target`` and ``weight`` are columns that can be sliced, in memory or spilled to disk."""

    rows: Any  # FileRows
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
    def n_values(self) -> int:
        return int(self.rows.n_values)

    @property
    def total(self) -> float:
        if self.factors is not None:
            return float(self.counts(len(self.factors)).sum())
        return float(self.n_rows if self.weight is None else self.weight.sum())

    def class_rows(self, n_classes: int) -> Array:
        """(K,): the number of rows of each class; counted once."""
        if "class_rows" not in self.known:
            self.known["class_rows"] = self._counted(n_classes, None)
        return np.array(self.known["class_rows"])

    def _counted(self, n_classes: int, weight: Any) -> Array:
        counts = np.zeros(n_classes)
        for start in range(0, self.n_rows, COUNTED):
            part = slice(start, min(start + COUNTED, self.n_rows))
            counts += count_classes(self.target[part], n_classes, None if weight is None else weight[part])
        return counts

    def class_weights(self, n_classes: int) -> Array:
        return self._counted(n_classes, self.weight)

    def _about(self, design: Any, start: int) -> Block:
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

    def _cuts(self, rows: Any) -> list[tuple[int, int]]:
        n, step = rows.shape[0], self.block_rows or self.rows.block_rows
        return [(a, min(a + step, n)) for a in range(0, n, step)]

    def reduce(self, kernel: Callable[[Block], Result]) -> Result:
        """Σ_b kernel(b), the parts read ahead on another thread; parts are added first to last."""
        total: Any = None
        with contextlib.closing(self.rows.walk()) as parts:
            for part in ordered_map(partial(self._fold_part, kernel), parts, workers()):
                total = part if total is None else _add(total, part)
        drop_scratch()
        return total  # type: ignore[no-any-return]

    def _fold_part(self, kernel: Callable[[Block], Result], part: tuple[int, Any]) -> Result:
        (start, rows), total = part, None
        for a, b in self._cuts(rows):
            found: Any = kernel(self._about(rows.design(a, b), start + a))
            total = found if total is None else _add(total, found)
        return total  # type: ignore[return-value]

    # Samples

    def row_sample(self, n_classes: int) -> RowSample:
        return self._labelled("sample", n_classes)

    def few_rows(self, n_classes: int) -> RowSample:
        return self._labelled("few", n_classes)

    @property
    def sample_rows(self) -> int:
        return len(self.rows.sample.index)

    def spread(self, count: int) -> Any:
        sample = self.rows.sample
        return as_design(sample.raw[spaced(len(sample.index), count)])

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
