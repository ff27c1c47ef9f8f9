"""Row samples, and blocks of rows that lie elsewhere: a sample stands for them, since a pass over them costs more.

A sample has rows from all over the whole, and of every class some.  Weights make its sums those of all rows: a row of
class k counts as often as the class has rows for each that the sample has of it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from discriminant.arrays import is_sparse
from discriminant.data.blocks import ArrayBlocks, spaced, wanted_rows
from discriminant.data.labels import count_classes
from discriminant.data.rows import AnyDesign, Rows, as_design
from discriminant.protocols import Array, Block


def stack(found: Sequence[Any]) -> Any:
    """Blocks of rows on top of each other, dense or sparse."""
    if len(found) == 1:
        return found[0]
    if is_sparse(found[0]):
        from scipy import sparse

        return sparse.vstack(found, format="csr")
    return np.concatenate(found)


@dataclass(frozen=True)
class RowSample:
    """Some rows with what belongs to them."""

    index: Array  # their numbers in the whole
    raw: Any  # an array or a CSR matrix
    codes: Array | None = None  # of their classes
    weight: Array | None = None

    @classmethod
    def joined(cls, parts: Sequence[RowSample]) -> RowSample:
        """The rows of all parts, in order of their numbers."""
        index, raw = np.concatenate([part.index for part in parts]), stack([part.raw for part in parts])
        found = cls(index, raw, _joined([part.codes for part in parts]), _joined([part.weight for part in parts]))
        rising = len(parts) == 1 or bool((np.diff(found.index) > 0).all())
        return found if rising else found.take(np.argsort(found.index, kind="stable"))

    def take(self, keep: Array) -> RowSample:
        """Some of these rows."""
        codes, weight = (None if values is None else values[keep] for values in (self.codes, self.weight))
        return RowSample(self.index[keep], self.raw[keep], codes, weight)

    def stratified(self, count: int, n_classes: int) -> RowSample:
        """About ``count`` of the rows, with all those of classes that these have few of."""
        if count >= len(self.index):
            return self
        keep = spaced(len(self.index), count)
        if self.codes is not None:
            wanted, seen = wanted_rows(count, n_classes), count_classes(self.codes[keep], n_classes)
            extra = [np.flatnonzero(self.codes == k)[:wanted] for k in np.flatnonzero(seen < wanted)]
            keep = np.unique(np.concatenate([keep, *extra])).astype(np.intp)
        return self.take(keep)


def _joined(values: Sequence[Any]) -> Array | None:
    return None if values[0] is None else np.concatenate(values)


class SampledRows(Rows):
    """Rows that lie elsewhere, of which a sample is here."""

    sample: Any  # a RowSample, fetched when it is first asked for

    @property
    @abstractmethod
    def n_values(self) -> int:
        """How many numbers a pass reads."""


@dataclass(frozen=True)
class SampledBlocks(ArrayBlocks):
    """Blocks of rows that lie elsewhere; ``target`` and ``weight`` are whatever stands for those of all rows."""

    rows: SampledRows
    target: Any = None
    weight: Any = None
    block_rows: int = field(default=0)
    factors: Array | None = None  # (K,) on the weights of the classes

    in_memory: ClassVar[bool] = False
    pass_cost: ClassVar[float] = 10.0

    @abstractmethod
    def row_sample(self, n_classes: int) -> RowSample:
        """As many rows as a solver should begin with."""

    def few_rows(self, n_classes: int) -> RowSample:
        """Rows for orders of magnitude."""
        return self.row_sample(n_classes)

    @abstractmethod
    def class_weights(self, n_classes: int) -> Array:
        """(K,): Σ w of each class, without the factors."""

    def counts(self, n_classes: int) -> Array:
        counts = self.class_rows(n_classes) if self.weight is None else self.class_weights(n_classes)
        return counts if self.factors is None else counts * self.factors

    def weighted(self, codes: Any, weight: Any) -> Any:
        """The weights of some rows, times the factors of their classes."""
        if self.factors is None or codes is None:
            return weight
        return self.factors[codes] if weight is None else self.factors[codes] * weight

    def reweighted(self, factors: Array) -> Self:
        return replace(self, factors=factors if self.factors is None else factors * self.factors)

    @property
    def n_values(self) -> int:
        return self.rows.n_values

    @property
    def sample_rows(self) -> int:
        """How many rows the sample holds: more than in memory, since a pass costs more."""
        return len(self.rows.sample.index)

    def spread(self, count: int) -> AnyDesign:
        sample = self.rows.sample
        return as_design(sample.raw[spaced(len(sample.index), count)])

    def draw(self, count: int, n_classes: int) -> tuple[Array, Block]:
        found = self.row_sample(n_classes).stratified(count, n_classes)
        if found.codes is None:
            weight = np.full(len(found.index), self.n_rows / len(found.index))
        else:
            factor = self.class_rows(n_classes) / np.maximum(count_classes(found.codes, n_classes), 1)
            weight = self.weighted(found.codes, factor[found.codes])
        weight = weight if found.weight is None else weight * found.weight
        return found.index, Block(as_design(found.raw), 0, found.codes, weight)

    def sample(self, n_rows: int, n_classes: int) -> Block:
        found = self.few_rows(n_classes).stratified(n_rows, n_classes)
        return Block(as_design(found.raw), 0, found.codes, found.weight)
