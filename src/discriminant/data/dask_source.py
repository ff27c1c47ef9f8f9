"""Dask arrays and data frames: partitions stay where they are, requests travel to them, sums come back.

A pass is one graph: a task a partition, then sums of eight at a time, in the order of the partitions, and the result
alone comes back, whatever the scheduler: threads of this process, a local cluster, or any ``Client``.  A worker that
dies loses nothing but time: its partitions are made again from the graph that they came from, and the answer has the
same bits.  A scheduler that goes away is reported in a sentence.  A row sample of bounded size is fetched once, for
starts and preconditioners.

Categorical columns become columns of zeros and ones, one a level but the first (``data.categories``).  Predictions
stay lazy: an array for an array, a series or frame with the same index for a frame.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import Any, ClassVar, NamedTuple

import numpy as np

from discriminant.data import dask_parts as parts_
from discriminant.data.blocks import LEAST_PER_CLASS, ArrayBlocks
from discriminant.data.categories import level_rule
from discriminant.data.labels import code_table
from discriminant.data.preprocess import ColumnRule, Preprocess
from discriminant.data.roles import NUMBER
from discriminant.data.row_sample import RowSample, SampledBlocks, SampledRows
from discriminant.data.rows import AnyDesign, as_design
from discriminant.data.sources import RowFunction, Source
from discriminant.errors import ClusterError, DataError
from discriminant.protocols import Array, Block, Dtype, Result
from discriminant.thresholds import HELD_SHARE

LEAST_SAMPLE = 2_000
WIDTH = 8  # sums that are added in one task
RETRIES = 3  # of a task that failed for a reason of its own (a file that could not be read, say)
POLL = 1.0  # seconds between two looks at whether the scheduler is still there
PATIENCE = 10.0  # seconds for which a scheduler may be out of reach


class Engine:
    """Dask as it is set up when a fit begins."""

    def __init__(self) -> None:
        import dask

        owner = getattr(dask.base.get_scheduler(), "__self__", None)
        self.client: Any = owner if type(owner).__name__ == "Client" else None  # None: this process works

    def memory(self) -> float:
        """Bytes that rows may take where the work is done."""
        if self.client is not None:
            found = self.client.scheduler_info(n_workers=-1)["workers"].values()
            return HELD_SHARE * float(sum(worker.get("memory_limit") or 4e9 for worker in found))
        return 0.25 * float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))

    def held(self, tasks: Sequence[Any], size: float) -> list[Any]:
        """The tasks' results kept where they are made, if there is room; else they are made again at each pass."""
        import dask

        if size > self.memory():
            return list(tasks)
        return list(self._guarded(lambda: dask.persist(*tasks)))

    def each(self, function: Callable[..., Any], tasks: Sequence[Any], *args: Any) -> list[Any]:
        """function(task, *args) of each, brought here: for small results."""
        import dask

        call = dask.delayed(function, pure=False)
        return list(self.run(dask.delayed(list, pure=False)([call(task, *args) for task in tasks])))

    def total(self, kernel: Any, tasks: Sequence[Any], *args: Any) -> Any:
        """Σ fold(kernel, part, …) over the partitions, tree-wise."""
        import dask

        # The kernel, which holds the weights, is one node of the graph: it travels once to each worker.
        shared, folded, add = (dask.delayed(one, pure=False) for one in (kernel, parts_.fold, parts_.add))
        level = [folded(shared, task, *args) for task in tasks]
        while len(level) > 1:
            level = [add(level[i : i + WIDTH]) for i in range(0, len(level), WIDTH)]
        return self.run(add(level))

    def run(self, task: Any) -> Any:
        """The result of one task."""
        if self.client is None:
            return task.compute()
        return self._guarded(lambda: self._wait(self.client.compute(task, retries=RETRIES)))

    def _wait(self, future: Any) -> Any:
        waited = 0.0
        while True:
            began = time.monotonic()
            try:
                return future.result(timeout=POLL)
            except TimeoutError:
                status = getattr(self.client, "status", "closed")
                waited = 0.0 if status == "running" else waited + time.monotonic() - began
                if waited > PATIENCE or status == "closed":
                    future.release()
                    raise ConnectionError(f"the client is {status}") from None

    def _guarded(self, work: Callable[[], Any]) -> Any:
        if self.client is None:
            return work()
        from concurrent.futures import CancelledError

        from distributed.comm.core import CommClosedError
        from distributed.scheduler import KilledWorker

        try:
            return work()
        except KilledWorker as error:
            raise ClusterError(
                f"Several workers died one after the other while they worked on the same partition ({error}). It may "
                "be too large for their memory: repartition X into smaller pieces, or give the workers more memory."
            ) from error
        except (CommClosedError, CancelledError, ConnectionError, TimeoutError, OSError) as error:
            raise self._gone(error) from error
        except RuntimeError as error:  # a closed client says so in a RuntimeError
            if self.client.status == "running":
                raise
            raise self._gone(error) from error

    def _gone(self, error: BaseException) -> ClusterError:
        if getattr(self.client, "status", "closed") == "running":
            return ClusterError(
                f"The cluster gave up the rows of this fit ({type(error).__name__}: {error}). Rows that were scattered "
                "from here are lost with the worker that held them; build the collection from files, or fit again."
            )
        return ClusterError(
            f"The Dask scheduler is gone ({type(error).__name__}); the fit was not finished and the model is as it "
            "was. Connect to a cluster (distributed.Client) and fit again."
        )


class Remote(NamedTuple):
    """What stands for codes or weights that lie on the workers."""

    dtype: Any


@dataclass(frozen=True, eq=False)
class DaskRows(SampledRows):
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
    def dtype(self) -> Dtype:
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

    def pick(self, rows: Array) -> AnyDesign:
        index = np.unique(np.asarray(rows))
        return as_design(self.fetch(parts_.take, index).raw[np.searchsorted(index, rows)])

    def design(self, start: int, stop: int) -> AnyDesign:
        return self.pick(np.arange(start, stop))

    def columns(self, indices: Array) -> Array:
        return np.vstack(self.engine.each(parts_.columns, self.tasks, indices))


@dataclass(frozen=True)
class DaskBlocks(SampledBlocks):
    """Partitions as blocks; sums are formed on the workers."""

    rows: DaskRows

    elsewhere: ClassVar[bool] = True
    scattered: ClassVar[bool] = True

    @property
    def is_sparse(self) -> bool:
        return bool(self.rows.abouts[0].sparse)

    @property
    def total(self) -> float:
        return float(self.counts(len(self.rows.class_rows)).sum())

    def class_rows(self, n_classes: int) -> Array:
        return np.array(self.rows.class_rows)

    def class_weights(self, n_classes: int) -> Array:
        return np.array(self.rows.class_weight)

    def codes(self) -> Array:
        return np.concatenate(self.rows.engine.each(attrgetter("labels"), self.rows.tasks))

    def reduce(self, kernel: Callable[[Block], Result]) -> Result:
        """Σ_b kernel(b) on the workers, in the order of the partitions."""
        return self.rows.engine.total(kernel, self.rows.tasks, self.factors, self.block_rows)  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[Block]:
        """The blocks here, a partition at a time: only to name a value that is no number."""
        for task in self.rows.tasks:
            part = self.rows.engine.run(task)
            yield from parts_.blocks_of(part, self.factors, self.block_rows)

    def block(self, start: int, stop: int) -> Block:
        found = self.rows.fetch(parts_.take, np.arange(start, stop))
        return Block(as_design(found.raw), start, found.codes, self.weighted(found.codes, found.weight))

    def row_sample(self, n_classes: int) -> RowSample:
        return self.rows.sample  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class DaskSource(Source):
    """A Dask array or data frame as a source."""

    X: Any
    encoding: Preprocess | None = None  # type: ignore[assignment]  # of a frame
    sample_bytes: int = 32_000_000  # of the rows that come here as a sample

    @property
    def shape(self) -> tuple[int, int]:
        rows = self.X.shape[0]
        known = isinstance(rows, int | np.integer)
        return (int(rows) if known else -1), len(self.feature_names or ()) or int(self.X.shape[1])

    @property
    def dtype(self) -> Dtype:
        kinds = [self.X.dtype] if self.encoding is None else list(self.X.dtypes)
        return np.dtype(np.float32 if all(kind == np.float32 for kind in kinds) else np.float64)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        return None if self.encoding is None else tuple(self.encoding.feature_names)

    @property
    def column_names(self) -> tuple[str, ...] | None:
        return None if self.encoding is None else tuple(rule.name for rule in self.encoding.rules)

    def encoded(self, rules: Preprocess) -> DaskSource:
        return self if self.encoding is None else replace(self, encoding=rules)

    def training(self, y: Any, sample_weight: Any, classes: Array | None) -> tuple[ArrayBlocks, Array]:
        if y is None:
            raise DataError("y is None: hand over a label for each row of X.")
        engine = Engine()
        raw = self._parts(engine, y, sample_weight)
        abouts = engine.each(parts_.describe, raw)
        if not sum(about.rows for about in abouts):
            raise DataError("X has 0 rows; at least one is needed.")
        found = merged_classes([about.classes for about in abouts if about.rows]) if classes is None else classes
        rows = self._rows(engine, raw, abouts, found)
        if rows.class_weight.sum() <= 0:
            raise DataError("sample_weight is zero for every row: there is nothing to learn from.")
        weight = Remote(np.dtype(np.float64)) if any(about.weighted for about in abouts) else None
        return DaskBlocks(rows, Remote(np.dtype(np.int32)), weight), found

    def _parts(self, engine: Engine, y: Any, weight: Any) -> list[Any]:
        import dask

        pieces, lengths = self._pieces(), row_chunks(self.X)
        labels = beside(y, "y", len(pieces), lengths, engine, pieces)
        own = beside(weight, "sample_weight", len(pieces), lengths, engine, pieces)
        make = dask.delayed(parts_.prepare, pure=False)
        tasks = [make(x, t, w, self.encoding) for x, t, w in zip(pieces, labels, own, strict=True)]
        return engine.held(tasks, self._bytes())

    def _pieces(self) -> list[Any]:
        """A delayed object for each partition."""
        return list(np.ravel((self.X if self.encoding is not None else _whole_rows(self.X)).to_delayed()))

    def _bytes(self) -> float:
        """What the rows take in memory; nothing where it is not known, so that they are held."""
        size = float(getattr(self.X, "nbytes", 0.0)) if self.encoding is None else 0.0
        return size if np.isfinite(size) else 0.0

    def _rows(self, engine: Engine, raw: list[Any], abouts: list[parts_.About], classes: Array) -> DaskRows:
        import dask

        starts = np.concatenate([[0], np.cumsum([about.rows for about in abouts])]).astype(int).tolist()
        make, known = dask.delayed(parts_.encode, pure=False), dask.delayed(classes, pure=False)
        tasks = [make(part, known, start) for part, start in zip(raw, starts[:-1], strict=True)]
        tasks = engine.held(tasks, self._bytes())
        rows, weight = sizes = np.zeros((2, len(classes)))
        for about in abouts:
            sizes[:, code_table(about.classes, classes)] += about.counts
        return DaskRows(engine, tasks, abouts, rows, weight, self.shape[1], self.sample_bytes)

    def apply(self, function: Callable[[Any], Array], out: Any = None) -> Any:
        # One row of zeros shows what shape and type the function gives.
        example = np.asarray(function(np.zeros((1, self.shape[1]), dtype=np.float64)))
        if self.encoding is None:
            return _array(self.X, function, example)
        return _frame(self.X, self.encoding, function, example)

    def score(self, predict: Callable[[Any], Array], y: Any = None, sample_weight: Any = None) -> float:
        engine = Engine()
        raw = self._parts(engine, y, sample_weight)
        right, total = np.sum(engine.each(parts_.hits, raw, predict), axis=0)
        return float(right / total)

    def learn(self, partial_fit: Any, y: Any, sample_weight: Any, classes: Array | None) -> None:
        """Partition after partition, each on its worker; the estimator travels, the rows do not."""
        import dask

        engine = Engine()
        raw = self._parts(engine, y, sample_weight)
        if classes is None:
            classes = merged_classes([about.classes for about in engine.each(parts_.describe, raw) if about.rows])
        step, state = dask.delayed(parts_.learn, pure=False), dask.delayed(partial_fit, pure=False)
        for part in raw:
            state = step(state, part, classes)
        partial_fit.take_over(engine.run(state))


def open_dask(X: Any) -> DaskSource | None:
    """The source of a Dask array or data frame."""
    if hasattr(X, "chunks"):
        if X.ndim != 2:
            raise DataError(f"X has {X.ndim} dimension(s) and must have two: one row a sample, one column a feature.")
        return DaskSource(X, None)
    if not hasattr(X, "columns") or not hasattr(X, "npartitions"):
        return None
    categorical = [name for name, kind in X.dtypes.items() if str(kind) == "category"]
    kinds = {name: "b" if name in categorical else getattr(kind, "kind", "O") for name, kind in X.dtypes.items()}
    odd = [name for name, kind in kinds.items() if kind not in "fiub"]
    if odd:
        raise DataError(
            f"Column {odd[0]!r} holds {X.dtypes[odd[0]]} values and a linear discriminant needs numbers. Make it a "
            "category (frame.categorize(columns=[…])), encode it, or drop it."
        )
    unknown = [name for name in categorical if not X[name].cat.known]
    if unknown:
        X = X.categorize(columns=unknown)
    rules = [
        level_rule(str(name), X._meta[name].cat.categories) if name in categorical else ColumnRule(str(name), NUMBER)
        for name in X.columns
    ]
    return DaskSource(X, Preprocess(tuple(rules)))


def merged_classes(each: list[Array]) -> Array:
    """The classes of all partitions, in order."""
    kinds = {classes.dtype.kind for classes in each}
    if "O" in kinds:
        found = {label for classes in each for label in classes.tolist()}
        return np.array(sorted(found), dtype=object)
    return np.unique(np.concatenate(each))


def row_chunks(X: Any) -> tuple[int, ...] | None:
    """The numbers of rows of the partitions, where they are known."""
    chunks = getattr(X, "chunks", None)
    return tuple(map(int, chunks[0])) if chunks is not None and np.isfinite(chunks[0]).all() else None


def _rows(part: Any) -> int:
    return len(part) if not hasattr(part, "shape") else int(part.shape[0])


def beside(
    values: Any, name: str, count: int, lengths: tuple[int, ...] | None, engine: Engine, pieces: list[Any]
) -> list[Any]:
    """What belongs to the rows of each partition, cut as X is."""
    if values is None:
        return [None] * count
    if type(values).__module__.partition(".")[0] in ("dask", "dask_expr"):
        own = row_chunks(values)
        if own is not None and lengths is not None and own != lengths:
            if sum(own) != sum(lengths):
                raise DataError(
                    f"X has {sum(lengths)} rows and {name} has {sum(own)}: inconsistent numbers of samples."
                )
            values = values.rechunk({0: lengths})
        delayed = list(np.ravel(values.to_delayed()))
        if len(delayed) != count:
            raise DataError(
                f"X has {count} partitions and {name} has {len(delayed)}; both must be cut in the same way. "
                "Repartition one of them, or compute the chunk sizes of both (X.compute_chunk_sizes())."
            )
        return delayed
    array = np.asarray(values)
    if lengths is None:
        lengths = tuple(engine.each(_rows, pieces))
    if array.ndim == 0:
        return [np.full(size, array) for size in lengths]
    if len(array) != sum(lengths):
        raise DataError(f"X has {sum(lengths)} rows and {name} has {len(array)}: inconsistent numbers of samples.")
    edges = np.concatenate([[0], np.cumsum(lengths)]).astype(int).tolist()
    return [array[a:b] for a, b in itertools.pairwise(edges)]


def _whole_rows(X: Any) -> Any:
    """An array whose partitions hold all columns."""
    return X.rechunk({1: -1}) if X.numblocks[1] > 1 else X


def _array(X: Any, function: Callable[[Any], Array], example: Array) -> Any:
    X = _whole_rows(X)
    single = X.dtype == np.float32 and example.dtype.kind == "f"
    meta = np.empty((0,) * example.ndim, dtype=np.float32 if single else example.dtype)
    if example.ndim == 1:
        return X.map_blocks(_values, function, drop_axis=1, dtype=meta.dtype, meta=meta)
    chunks = (X.chunks[0], (example.shape[1],))
    return X.map_blocks(_values, function, chunks=chunks, dtype=meta.dtype, meta=meta)


def _values(rows: Any, function: Callable[[Any], Array]) -> Array:
    return np.asarray(function(parts_.as_matrix(rows, None)))


def _frame(X: Any, rules: Preprocess, function: Callable[[Any], Array], example: Array) -> Any:
    width = example.shape[1] if example.ndim > 1 else 0
    classes = list(function.classes) if isinstance(function, RowFunction) else []
    names = classes if len(classes) == width else list(range(width))
    empty = _framed(X._meta, rules, None, example[:0], names)
    return X.map_partitions(_framed, rules, function, example[:0], names, meta=empty)


def _framed(frame: Any, rules: Preprocess, function: Any, empty: Array, names: list[Any]) -> Any:
    values = np.asarray(function(parts_.as_matrix(frame, rules))) if function is not None and len(frame) else empty
    if empty.ndim == 1:
        return frame._constructor_sliced(values, index=frame.index)  # the frame's own kind of column
    return frame._constructor(values, index=frame.index, columns=names)
