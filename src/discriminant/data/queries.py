"""Queries, streams and iterators as sources: run once, into a temporary Arrow file that passes then read.

A query (polars' LazyFrame, a DuckDB relation, SQL with a connection) need not give its rows in the same order twice, a
stream can be read only once, and a fit reads its rows several times.  So the rows are written to disk as they come, a
batch at a time, and scanned there within the limit of memory.  The file goes when the scan does.
"""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from discriminant.data.database import QueryBlocks, QueryTable, find_table
from discriminant.data.file_blocks import Budget, FileRows
from discriminant.data.preprocess import Preprocess
from discriminant.data.scan import Scan, bytes_of, scan
from discriminant.data.sources import is_dataset, is_query
from discriminant.errors import DataError, names
from discriminant.protocols import Array, Dtype

BATCH_ROWS = 50_000  # of a database cursor, at a time
# The lines of polars' plan for a query that makes each of its rows of one row of a file, with its slice in the file's.
_ROW_BY_ROW = re.compile(
    r"\s*(Parquet SCAN|Ipc SCAN|PROJECT|SLICE: |ESTIMATED|ROW_INDEX|SELECT|WITH_COLUMNS|FROM|\[|$)"
)


class QueryScan(Scan):
    """A query whose rows are written to a file when they are first needed; class sums the database adds up itself."""

    def __init__(self, table: QueryTable, written: Callable[[], Scan], hold: bool | None) -> None:
        self.table, self._written, self.hold = table, written, hold

    @cached_property
    def rows(self) -> FileRows:  # type: ignore[override]
        """The rows of the file, which is written now."""
        return self._written().rows

    def __repr__(self) -> str:
        return f"<scan of a query with the columns {names(self.table.columns)}>"

    @property
    def shape(self) -> tuple[int, int]:
        known = self.table.survey
        return super().shape if known is None else (int(known.count.sum()), len(self.table.columns))

    @property
    def dtype(self) -> Dtype:
        return np.dtype(np.float64)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        return self.table.columns

    @property
    def encoding(self) -> Preprocess | None:
        return super().encoding if self.table.survey is None else None  # the database adds up numbers alone

    @property
    def column_names(self) -> tuple[str, ...] | None:
        return super().column_names if self.table.survey is None else self.table.columns

    @property
    def passes(self) -> float:
        """How often the rows have been read so far, once they are written."""
        return super().passes if "rows" in vars(self) else 0.0

    def summed(self, y: Any, sample_weight: Any, classes: Array | None) -> tuple[Any, Array]:
        known = self.table.survey
        if y is not None or sample_weight is not None or classes is not None or known is None:
            return self.training(y, sample_weight, classes)
        return QueryBlocks(self.table, known, lambda: self.training(None, None, None)[0]), known.classes


def scan_query(query: Any, target: Any, options: dict[str, Any], connection: Any = None) -> Scan:
    """A query, a stream or an iterator as a scan: sums by the database, or the file that its rows are written to."""
    table = find_table(query, target, options.get("columns"), connection)
    written = partial(_written, query, target, options, connection)
    return written() if table is None else QueryScan(table, written, options.get("hold"))


def _written(query: Any, target: Any, options: dict[str, Any], connection: Any) -> Scan:
    handle, path = tempfile.mkstemp(suffix=".arrow", prefix="discriminant-")
    os.close(handle)
    try:
        _write(query, path, connection, Budget.of(bytes_of(options.get("memory", "2GB"))).part)
        found = scan(path, target, **options)
    except BaseException:
        os.unlink(path)
        raise
    weakref.finalize(found.source, Path(path).unlink, missing_ok=True)
    return found


def open_query(X: Any) -> Scan | None:
    """The source of a query that is handed over in place of X; None where X is a table in memory."""
    return scan_query(X, None, {}) if is_query(X) else None


def _write(query: Any, path: str, connection: Any, part: int) -> None:
    lazy = type(query).__name__ == "LazyFrame"
    if lazy and not _is_row_by_row(query):
        query.sink_ipc(path, compression="uncompressed")
        return
    try:
        import pyarrow as pa
    except ImportError as error:
        raise DataError("Queries and streams are read by pyarrow: pip install 'discriminant[io]'.") from error
    batches = _slices(query, part) if lazy else _batches(query, connection, pa)
    first = next(batches, None)
    if first is None:
        raise DataError("The query has no rows; at least one is needed.")
    with pa.OSFile(path, "wb") as sink, pa.ipc.new_file(sink, first.schema) as writer:
        writer.write(first)
        for batch in batches:
            writer.write(batch)


def _is_row_by_row(query: Any) -> bool:
    """Whether slices of a LazyFrame cost no more than the whole, and add up to it: a scan of files, row by row.

    Any other plan is run once, since a join or a group may give its rows in another order the next time.  Levels of a
    category may differ from slice to slice, which a file of batches cannot hold.
    """
    plan = query.slice(1, 1).explain().splitlines()
    pushed = any(line.lstrip().startswith("SLICE: ") for line in plan)
    levels = any(str(dtype).startswith(("Categorical", "Enum")) for dtype in query.collect_schema().dtypes())
    return pushed and not levels and all(_ROW_BY_ROW.match(line) for line in plan)


def _slices(query: Any, part: int) -> Iterator[Any]:
    """The rows of a LazyFrame, about ``part`` bytes at a time.

    polars' own writer reads ahead of the disk, by ten row groups and more: it took 200 to 590 MB for a file of 1 GB,
    and 1.1 GB where that is one row group; slices take 180 to 200, and as much as polars where the file is one row
    group, which any reader must decode whole.
    """
    start, rows = 0, max(part // (8 * len(query.collect_schema())), 1)
    while len(frame := query.slice(start, rows).collect()):
        yield from frame.to_arrow().to_batches()
        start += len(frame)
        rows = max(int(part / (frame.estimated_size() / len(frame) + 1)), 1)


def _batches(query: Any, connection: Any, pa: Any) -> Iterator[Any]:
    """Record batches of whatever gives rows."""
    if isinstance(query, str) and type(connection).__name__ == "DuckDBPyConnection":
        query = connection.sql(query)
    if isinstance(query, str):
        yield from _selected(query, connection, pa)
    elif is_dataset(query):
        yield from query.to_batches()
    elif is_query(query):
        yield from pa.RecordBatchReader.from_stream(query)  # a stream: the table is never whole
    else:
        yield from _blocks(query, pa)


def _selected(query: str, connection: Any, pa: Any) -> Iterator[Any]:
    """The rows that SQL selects, by the database's cursor."""
    with contextlib.closing(connection.cursor()) as cursor:
        cursor.execute(query)
        names = [column[0] for column in cursor.description]
        schema = None
        while rows := cursor.fetchmany(BATCH_ROWS):
            columns = map(list, zip(*rows, strict=True))
            batch = pa.RecordBatch.from_pydict(dict(zip(names, columns, strict=True)), schema=schema)
            schema = batch.schema
            yield batch


def _blocks(blocks: Iterable[Any], pa: Any) -> Iterator[Any]:
    """Tables, or arrays of numbers, one after the other."""
    import narwhals

    for block in blocks:
        if isinstance(block, np.ndarray):
            if block.ndim != 2:
                raise DataError(f"A block has {block.ndim} dimension(s); each must be a table of rows.")
            table = pa.table({f"x{j}": block[:, j] for j in range(block.shape[1])})
        elif isinstance(block, pa.RecordBatch):
            yield block
            continue
        else:
            table = narwhals.from_native(block, eager_only=True).to_arrow()
        yield from table.combine_chunks().to_batches()
