"""Dask arrays and data frames as they are: every batch method by one reduce a pass, only sums travel.

    first     labels and sizes of the partitions; class codes beside the rows, held by the workers if there is room
    a pass    kernel(partition) on its worker, sums of eight at a time, one small result
    once      a bounded row sample, for starts and preconditioners

Categorical columns become columns of zeros and ones, one a level but the first (``dask_parts.Levels``).  Predictions
stay lazy: an array for an array, a series or frame with the same index for a frame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from discriminant.data import dask_parts as parts_
from discriminant.data.blocks import EARLY, ArrayBlocks, spaced
from discriminant.data.dask_cuts import beside, merged_classes, row_chunks
from discriminant.data.dask_engine import Engine
from discriminant.data.rows import DenseDesign, SparseDesign, is_sparse
from discriminant.errors import DataError
from discriminant.protocols import Array, Block, Result

SAMPLE_BYTES = 32_000_000  # of rows that come here as a sample
LEAST_SAMPLE = 2_000
LEAST_PER_CLASS = 300


@dataclass(frozen=True)
class Remote:
    """What stands for codes or weights that lie on the workers."""

    dtype: Any


@dataclass
class Whole:
    """What is known of all partitions, and how to reach them."""

    engine: Engine
    tasks: list[Any]  # a ``Part`` each
    abouts: list[parts_.About]
    classes: Array
    class_rows: Array  # (K,)
    class_weight: Array  # (K,)
    n_features: int
    _drawn: parts_.Drawn | None = None

    @property
    def n_rows(self) -> int:
        return sum(about.rows for about in self.abouts)

    @property
    def drawn(self) -> parts_.Drawn:
        """The row sample, fetched once: evenly spread, rare classes whole or nearly so."""
        if self._drawn is None:
            width = 12 if self.abouts[0].sparse else 8
            row = width * max(1, sum(about.values for about in self.abouts) // max(self.n_rows, 1))
            share = min(1.0, max(LEAST_SAMPLE, SAMPLE_BYTES // row) / self.n_rows)
            rare = np.flatnonzero(share * self.class_rows < LEAST_PER_CLASS)
            found = self.engine.each(parts_.draw, self.tasks, share, rare, LEAST_PER_CLASS)
            rows = [one.X for one in found]
            if is_sparse(rows[0]):
                from scipy.sparse import vstack

                X: Any = vstack(rows).tocsr()
            else:
                X = np.concatenate(rows)
            weight = None if found[0].weight is None else np.concatenate([np.asarray(one.weight) for one in found])
            codes = np.concatenate([one.codes for one in found])
            self._drawn = parts_.Drawn(np.concatenate([one.index for one in found]), X, codes, weight)
        return self._drawn


@dataclass(frozen=True, eq=False)
class DaskRows:
    """The rows of a collection."""

    whole: Whole

    @property
    def shape(self) -> tuple[int, int]:
        return self.whole.n_rows, self.whole.n_features

    @property
    def dtype(self) -> Any:
        return np.dtype(np.float32 if all(about.single for about in self.whole.abouts) else np.float64)

    @property
    def block_rows(self) -> int:
        return max(256, 200_000 // max(self.shape[1], 1))

    @property
    def blocks_type(self) -> type[DaskBlocks]:
        return DaskBlocks

    def pick(self, rows: Array) -> DenseDesign | SparseDesign:
        """The rows with these numbers, in their order in the whole."""
        index = np.unique(np.asarray(rows))
        found = self.whole.engine.each(parts_.take, self.whole.tasks, index)
        if is_sparse(found[0]):
            from scipy.sparse import vstack

            stacked: Any = vstack(found).tocsr()
            return SparseDesign(stacked[np.searchsorted(index, rows)])
        return DenseDesign(np.concatenate(found)[np.searchsorted(index, rows)])

    def design(self, start: int, stop: int) -> DenseDesign | SparseDesign:
        return self.pick(np.arange(start, stop))

    def columns(self, indices: Array) -> Array:
        """Some columns, all rows, in float64: for methods that go column by column."""
        found = self.whole.engine.each(_columns, self.whole.tasks, indices)
        return np.vstack(found)


def _codes(part: parts_.Part) -> Array:
    return np.asarray(part.labels)


def _columns(part: parts_.Part, indices: Array) -> Array:
    values = part.X[:, indices]
    return np.asarray(values.toarray() if is_sparse(values) else values, dtype=np.float64)


@dataclass(frozen=True)
class DaskBlocks(ArrayBlocks):
    """Partitions as blocks; sums are formed on the workers."""

    rows: Any
    target: Any = None
    weight: Any = None
    block_rows: int = field(default=0)
    factors: Array | None = field(default=None)  # (K,) on the weights of the classes

    in_memory: ClassVar[bool] = False
    elsewhere: ClassVar[bool] = True

    @property
    def whole(self) -> Whole:
        return self.rows.whole  # type: ignore[no-any-return]

    @property
    def is_sparse(self) -> bool:
        return self.whole.abouts[0].sparse

    @property
    def n_values(self) -> int:
        return sum(about.values for about in self.whole.abouts)

    @property
    def total(self) -> float:
        return float(self.counts(len(self.whole.classes)).sum())

    def counts(self, n_classes: int) -> Array:
        counts = self.whole.class_rows if self.weight is None else self.whole.class_weight
        return counts.copy() if self.factors is None else counts * self.factors

    def codes(self) -> Array:
        return np.concatenate(self.whole.engine.each(_codes, self.whole.tasks))

    def class_rows(self, n_classes: int) -> Array:
        """(K,): the number of rows of each class."""
        return self.whole.class_rows.copy()

    def weighed(self, factors: Array) -> Self:
        return replace(self, factors=factors if self.factors is None else factors * self.factors)

    def reduce(self, kernel: Callable[[Block], Result]) -> Result:
        """Σ_b kernel(b) on the workers, in the order of the partitions."""
        total: Result = self.whole.engine.total(kernel, self.whole.tasks, self.factors, self.block_rows)
        return total

    def __iter__(self) -> Iterator[Block]:
        """The blocks here, a partition at a time: only to name a value that is no number."""
        for task in self.whole.tasks:
            part = self.whole.engine.run(task)
            for block in parts_.blocks_of(part, self.factors, self.block_rows):
                yield replace(block, start=block.start + part.start)

    def block(self, start: int, stop: int) -> Block:
        parts = [block for block in self if block.start < stop and block.start + block.rows > start]
        designs = [one.design.raw[max(0, start - one.start) : stop - one.start] for one in parts]
        cut = [slice(max(0, start - one.start), stop - one.start) for one in parts]
        if is_sparse(designs[0]):
            from scipy.sparse import vstack

            design: Any = SparseDesign(vstack(designs).tocsr())
        else:
            design = DenseDesign(np.concatenate(designs))
        target = np.concatenate([np.asarray(one.target)[c] for one, c in zip(parts, cut, strict=True)])
        weights = [one.weight for one in parts]
        weight = None
        if weights[0] is not None:
            weight = np.concatenate([np.asarray(w)[c] for w, c in zip(weights, cut, strict=True)])
        return Block(design, start, target, weight)

    # Samples

    @property
    def sample_rows(self) -> int:
        """How many rows the sample holds."""
        return len(self.whole.drawn.index)

    @property
    def early_rows(self) -> int:
        """How many of them are enough to begin with."""
        return self.sample_rows // EARLY

    def _design(self, keep: Array) -> DenseDesign | SparseDesign:
        raw = self.whole.drawn.X[keep]
        return SparseDesign(raw) if is_sparse(raw) else DenseDesign(raw)

    def spread(self, count: int) -> DenseDesign | SparseDesign:
        return self._design(spaced(self.sample_rows, count))

    def draw(self, count: int, n_classes: int) -> tuple[Array, Block]:
        drawn = self.whole.drawn
        keep = self._thinned(count, n_classes)
        codes = drawn.codes[keep]
        seen = np.bincount(codes, minlength=n_classes)
        weight = (self.whole.class_rows / np.maximum(seen, 1))[codes]
        if self.factors is not None:
            weight = weight * self.factors[codes]
        if drawn.weight is not None:
            weight = weight * drawn.weight[keep]
        return drawn.index[keep], Block(self._design(keep), 0, codes, weight)

    def _thinned(self, count: int, n_classes: int) -> Array:
        codes = self.whole.drawn.codes
        keep = spaced(len(codes), count)
        wanted = max(1, min(LEAST_PER_CLASS, count // (2 * n_classes)))
        seen = np.bincount(codes[keep], minlength=n_classes)
        extra = [np.flatnonzero(codes == k)[:wanted] for k in np.flatnonzero(seen < wanted)]
        return np.unique(np.concatenate([keep, *extra])).astype(np.intp)

    def sample(self, n_rows: int, n_classes: int) -> Block:
        drawn = self.whole.drawn
        keep = self._thinned(n_rows, n_classes)
        own = None if drawn.weight is None else drawn.weight[keep]
        return Block(self._design(keep), 0, drawn.codes[keep], own)


@dataclass(frozen=True, eq=False)
class DaskSource:
    """A Dask array or data frame as a source."""

    X: Any
    levels: parts_.Levels | None  # of a frame

    is_source: ClassVar[bool] = True

    @property
    def shape(self) -> tuple[int, int]:
        rows = self.X.shape[0]
        known = isinstance(rows, int | np.integer)
        return (int(rows) if known else -1), (int(self.X.shape[1]) if self.levels is None else len(self.levels.names))

    @property
    def dtype(self) -> Any:
        kinds = [self.X.dtype] if self.levels is None else list(self.X.dtypes)
        return np.dtype(np.float32 if all(kind == np.float32 for kind in kinds) else np.float64)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        return None if self.levels is None else self.levels.names

    def training(self, y: Any, sample_weight: Any, classes: Array | None) -> tuple[ArrayBlocks, Array]:
        """Blocks on the workers, and the classes."""
        if y is None:
            raise DataError("y is None: hand over a label for each row of X.")
        engine = Engine()
        raw = self._parts(engine, y, sample_weight)
        abouts = engine.each(parts_.describe, raw)
        if not sum(about.rows for about in abouts):
            raise DataError("X has 0 rows; at least one is needed.")
        found = merged_classes([about.classes for about in abouts if about.rows]) if classes is None else classes
        whole = self._whole(engine, raw, abouts, found)
        if whole.class_weight.sum() <= 0:
            raise DataError("sample_weight is zero for every row: there is nothing to learn from.")
        weight = Remote(np.dtype(np.float64)) if any(about.weighted for about in abouts) else None
        return DaskBlocks(DaskRows(whole), Remote(np.dtype(np.int32)), weight), found

    def _parts(self, engine: Engine, y: Any, weight: Any) -> list[Any]:
        import dask

        pieces, lengths = self._pieces(), row_chunks(self.X)
        labels = beside(y, "y", len(pieces), lengths, engine, pieces)
        own = beside(weight, "sample_weight", len(pieces), lengths, engine, pieces)
        make = dask.delayed(parts_.prepare, pure=False)
        tasks = [make(x, t, w, self.levels) for x, t, w in zip(pieces, labels, own, strict=True)]
        return engine.held(tasks, self._bytes())

    def _pieces(self) -> list[Any]:
        """A delayed object for each partition."""
        if self.levels is not None:
            return list(self.X.to_delayed())
        X = self.X.rechunk({1: -1}) if self.X.numblocks[1] > 1 else self.X
        return list(X.to_delayed().ravel())

    def _bytes(self) -> float:
        """What the rows take in memory; nothing where it is not known, so that they are held."""
        size = float(getattr(self.X, "nbytes", 0.0)) if self.levels is None else 0.0
        return size if np.isfinite(size) else 0.0

    def _whole(self, engine: Engine, raw: list[Any], abouts: list[parts_.About], classes: Array) -> Whole:
        import dask

        starts = np.concatenate([[0], np.cumsum([about.rows for about in abouts])]).astype(int).tolist()
        make, known = dask.delayed(parts_.encode, pure=False), dask.delayed(classes, pure=False)
        tasks = [make(part, known, start) for part, start in zip(raw, starts[:-1], strict=True)]
        tasks = engine.held(tasks, self._bytes())
        rows, weight = engine.total(parts_.Count(len(classes)), tasks, None, 0)
        return Whole(engine, tasks, abouts, classes, rows, weight, self.shape[1])

    def apply(self, function: Callable[[Any], Array], out: Any = None) -> Any:
        """The lazy result: an array for an array, a series or frame with X's index for a frame."""
        from discriminant.data.dask_results import lazily

        return lazily(self.X, self.levels, function, self.shape[1])

    def score(self, predict: Callable[[Any], Array], y: Any, sample_weight: Any) -> float:
        engine = Engine()
        raw = self._parts(engine, y, sample_weight)
        right, total = np.sum(engine.each(_hits, raw, predict), axis=0)
        return float(right / total)

    def learn(self, partial_fit: Any, y: Any, sample_weight: Any, classes: Array | None) -> None:
        """Partition after partition, each on its worker; the estimator travels, the rows do not."""
        import dask

        engine = Engine()
        raw = self._parts(engine, y, sample_weight)
        if classes is None:
            classes = merged_classes([about.classes for about in engine.each(parts_.describe, raw) if about.rows])
        call, (method, estimator, *_) = partial_fit.func, partial_fit.args
        step, state = dask.delayed(parts_.learn, pure=False), dask.delayed(estimator, pure=False)
        for part in raw:
            state = step(call, method, state, part, classes)
        vars(estimator).update(vars(engine.run(state)))


def _hits(part: parts_.Part, predict: Callable[[Any], Array]) -> Array:
    return parts_.hits(predict, part)


def open_dask(X: Any) -> DaskSource | None:
    """The source of a Dask array or data frame."""
    if hasattr(X, "chunks"):
        if X.ndim != 2:
            raise DataError(f"X has {X.ndim} dimension(s) and must have two: one row a sample, one column a feature.")
        return DaskSource(X, None)
    if not hasattr(X, "columns") or not hasattr(X, "npartitions"):
        return None
    categorical = [name for name, kind in X.dtypes.items() if str(kind) == "category"]
    unknown = [name for name in categorical if not X[name].cat.known]
    if unknown:
        X = X.categorize(columns=unknown)
    levels = tuple((str(name), tuple(X._meta[name].cat.categories)) for name in categorical)
    return DaskSource(X, parts_.Levels(tuple(str(name) for name in X.columns), levels))
