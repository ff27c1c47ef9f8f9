"""Blocks of a Dask collection: its partitions stay where they are, requests travel to them, sums come back.

A pass is one reduction on the cluster, in the order of the partitions.  A row sample of bounded size is fetched once,
for starts and preconditioners.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from discriminant.data import dask_parts as parts_
from discriminant.data.blocks import LEAST_PER_CLASS, spaced
from discriminant.data.dask_engine import Engine
from discriminant.data.row_sample import RowSample, SampledBlocks, as_design
from discriminant.data.rows import DenseDesign, Rows, SparseDesign
from discriminant.protocols import Array, Block, Result

LEAST_SAMPLE = 2_000


@dataclass(frozen=True)
class Remote:
    """What stands for codes or weights that lie on the workers."""

    dtype: Any


@dataclass(frozen=True, eq=False)
class DaskRows(Rows):
    """The rows of a collection: what is known of all partitions, and how to reach them."""

    engine: Engine
    tasks: list[Any]  # a ``Part`` each
    abouts: list[parts_.About]
    class_rows: Array  # (K,)
    class_weight: Array  # (K,)
    n_features: int
    sample_bytes: int  # of the rows that come here as a sample

    @property
    def shape(self) -> tuple[int, int]:
        return sum(about.rows for about in self.abouts), self.n_features

    @property
    def n_values(self) -> int:
        return sum(about.values for about in self.abouts)

    @property
    def dtype(self) -> Any:
        return np.dtype(np.float32 if all(about.single for about in self.abouts) else np.float64)

    @property
    def blocks_type(self) -> type[DaskBlocks]:
        return DaskBlocks

    def fetch(self, function: Callable[..., RowSample], *args: Any) -> RowSample:
        """The rows that a function of each partition chooses, brought here."""
        return RowSample.joined(self.engine.each(function, self.tasks, *args))

    @cached_property
    def sample(self) -> RowSample:
        """Rows evenly spread, rare classes whole or nearly so."""
        n = self.shape[0]
        row = (12 if self.abouts[0].sparse else 8) * max(1, self.n_values // max(n, 1))
        share = min(1.0, max(LEAST_SAMPLE, self.sample_bytes // row) / n)
        rare = np.flatnonzero(share * self.class_rows < LEAST_PER_CLASS)
        return self.fetch(parts_.draw, share, rare, LEAST_PER_CLASS)

    def pick(self, rows: Array) -> DenseDesign | SparseDesign:
        index = np.unique(np.asarray(rows))
        return as_design(self.fetch(parts_.take, index).raw[np.searchsorted(index, rows)])

    def design(self, start: int, stop: int) -> DenseDesign | SparseDesign:
        return self.pick(np.arange(start, stop))

    def columns(self, indices: Array) -> Array:
        return np.vstack(self.engine.each(parts_.columns, self.tasks, indices))


@dataclass(frozen=True)
class DaskBlocks(SampledBlocks):
    """Partitions as blocks; sums are formed on the workers."""

    rows: Any  # DaskRows

    elsewhere: ClassVar[bool] = True
    scattered: ClassVar[bool] = True

    @property
    def is_sparse(self) -> bool:
        return bool(self.rows.abouts[0].sparse)

    @property
    def n_values(self) -> int:
        return int(self.rows.n_values)

    @property
    def total(self) -> float:
        return float(self.counts(len(self.rows.class_rows)).sum())

    def class_rows(self, n_classes: int) -> Array:
        return np.array(self.rows.class_rows)

    def class_weights(self, n_classes: int) -> Array:
        return np.array(self.rows.class_weight)

    def codes(self) -> Array:
        return np.concatenate(self.rows.engine.each(parts_.codes, self.rows.tasks))

    def reduce(self, kernel: Callable[[Block], Result]) -> Result:
        """Σ_b kernel(b) on the workers, in the order of the partitions."""
        total: Result = self.rows.engine.total(kernel, self.rows.tasks, self.factors, self.block_rows)
        return total

    def __iter__(self) -> Iterator[Block]:
        """The blocks here, a partition at a time: only to name a value that is no number."""
        for task in self.rows.tasks:
            part = self.rows.engine.run(task)
            for block in parts_.blocks_of(part, self.factors, self.block_rows):
                yield replace(block, start=block.start + part.start)

    def block(self, start: int, stop: int) -> Block:
        found = self.rows.fetch(parts_.take, np.arange(start, stop))
        weight = found.weight
        if self.factors is not None:
            each = self.factors[found.codes]
            weight = each if weight is None else each * weight
        return Block(as_design(found.raw), start, found.codes, weight)

    @property
    def sample_rows(self) -> int:
        return len(self.rows.sample.index)

    def row_sample(self, n_classes: int) -> RowSample:
        found: RowSample = self.rows.sample
        return found

    def spread(self, count: int) -> DenseDesign | SparseDesign:
        return as_design(self.rows.sample.raw[spaced(self.sample_rows, count)])
