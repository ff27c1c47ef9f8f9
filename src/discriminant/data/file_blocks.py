"""Blocks of rows in files, whose parts are the partitions of every sum.

reader thread:   part i+1, i+2 …  →  worker threads: Σ over the cache blocks of part i
sums of parts are added first to last, so that the answer depends neither on threads nor on timing
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from discriminant.data.blocks import EARLY, LEAST_PER_CLASS, ArrayBlocks, _add, spaced
from discriminant.data.file_rows import RowSample, as_design, stack
from discriminant.data.labels import count_classes
from discriminant.data.threads import drop_scratch, ordered_map, workers
from discriminant.protocols import Array, Block, Result

COUNTED = 1 << 20  # codes that are counted together


@dataclass(frozen=True)
class FileBlocks(ArrayBlocks):
    """Blocks of files; ``target`` and ``weight`` are columns that can be sliced, in memory or spilled to disk."""

    rows: Any  # FileRows
    target: Any = None
    weight: Any = None
    factors: Array | None = None  # (K,) on the weights of the classes
    began: float = 0.0  # passes over the files before this fit
    known: dict[str, Any] = field(default_factory=dict)  # what was worked out of the target; copies share it

    in_memory: ClassVar[bool] = False

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

    def counts(self, n_classes: int) -> Array:
        counts = self.class_rows(n_classes) if self.weight is None else self._counted(n_classes, self.weight)
        return counts if self.factors is None else counts * self.factors

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

    def weighed(self, factors: Array) -> Self:
        return replace(self, factors=factors if self.factors is None else factors * self.factors)

    def _about(self, design: Any, start: int) -> Block:
        stop = start + design.shape[0]
        target = None if self.target is None else self.target[start:stop]
        weight = None if self.weight is None else self.weight[start:stop]
        if self.factors is not None and target is not None:
            each = self.factors[target]
            weight = each if weight is None else each * weight
        return Block(design, start, target, weight)

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

    def _sample(self, name: str, n_classes: int) -> tuple[RowSample, Any]:
        """(the rows of ``rows.sample`` or ``rows.few``, their codes), with rows of classes that these have few of."""
        key = f"{name} of {n_classes}"
        if key not in self.known:
            found: RowSample = getattr(self.rows, name)
            codes = None if self.target is None else self.target[found.index]
            if codes is not None:
                more = self.rows.rare(self.target, count_classes(codes, n_classes), _wanted(len(codes), n_classes))
                more = more[~np.isin(more, found.index)] if len(more) else more
                if len(more):
                    index = np.concatenate([found.index, more])
                    found = RowSample(index, stack([found.raw, self.rows.pick(more).raw])).take(np.argsort(index))
                    codes = self.target[found.index]
            self.known[key] = found, codes
        sample: tuple[RowSample, Any] = self.known[key]
        return sample

    @property
    def sample_rows(self) -> int:
        """How many rows the sample holds: more than in memory, since a pass costs more."""
        return len(self.rows.sample.index)

    @property
    def early_rows(self) -> int:
        """How many rows of the sample are enough to begin with."""
        return self.sample_rows // EARLY

    def spread(self, count: int) -> Any:
        sample = self.rows.sample
        return as_design(sample.raw[spaced(len(sample.index), count)])

    def draw(self, count: int, n_classes: int) -> tuple[Array, Block]:
        found, codes, own = self._thinned("sample", count, n_classes)
        if codes is None:
            weight = np.full(len(found.index), self.n_rows / len(found.index))
        else:
            factor = self.class_rows(n_classes) / np.maximum(count_classes(codes, n_classes), 1)
            weight = (factor if self.factors is None else factor * self.factors)[codes]
        return found.index, Block(as_design(found.raw), 0, codes, weight if own is None else weight * own)

    def sample(self, n_rows: int, n_classes: int) -> Block:
        found, codes, own = self._thinned("few", n_rows, n_classes)
        return Block(as_design(found.raw), 0, codes, own)

    def _thinned(self, name: str, count: int, n_classes: int) -> tuple[RowSample, Any, Any]:
        """(about ``count`` rows of a sample with all those of classes that it has few of, their codes and weights)."""
        found, codes = self._sample(name, n_classes)
        if count < len(found.index):
            keep = spaced(len(found.index), count)
            if codes is not None:
                wanted, seen = _wanted(count, n_classes), count_classes(codes[keep], n_classes)
                extra = [np.flatnonzero(codes == k)[:wanted] for k in np.flatnonzero(seen < wanted)]
                keep = np.unique(np.concatenate([keep, *extra]))
                codes = codes[keep]
            found = found.take(keep)
        return found, codes, None if self.weight is None else self.weight[found.index]


def _wanted(rows: int, n_classes: int) -> int:
    """Rows of each class that a sample of so many rows should have."""
    return max(1, min(LEAST_PER_CLASS, rows // (2 * n_classes)))
