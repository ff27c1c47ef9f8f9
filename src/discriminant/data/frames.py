"""Typed tables, Parquet and Arrow files and data frames of any library, as columns.

Types are believed: integers and floats are numbers, strings and categories text, dates dates.  Labels keep their type.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from discriminant.data.arrow import arrow_codes, arrow_numbers, kind_of
from discriminant.data.tables import Column, Table, coded_column, refuse_infinity, text_column
from discriminant.errors import DataError


def read_arrow_file(data: Any, source: str) -> Table:
    """A Parquet, Arrow IPC (file or stream) or Feather file, given as its bytes."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise DataError(f"{source} is a Parquet or Arrow file, which needs pyarrow: pip install pyarrow.") from error
    try:
        if data[:4] == b"PAR1":
            import pyarrow.parquet as parquet

            found = parquet.read_table(pa.BufferReader(data))
        elif data[:6] == b"ARROW1":
            found = pa.ipc.open_file(pa.BufferReader(data)).read_all()
        else:
            found = pa.ipc.open_stream(pa.BufferReader(data)).read_all()
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{source} is damaged, or cut short: {str(error).splitlines()[0]}.") from error
    return arrow_table(found, source)


def arrow_table(found: Any, source: str) -> Table:
    """A pyarrow table as columns."""
    if not found.num_rows:
        raise DataError(f"{source} has no rows.")
    names = [str(name) for name in found.column_names]
    return Table(tuple(_arrow_column(name, found.column(j)) for j, name in enumerate(names)), source)


def _arrow_column(name: str, values: Any) -> Column:
    import pyarrow as pa

    kind = kind_of(values.type)
    if kind in ("number", "whole", "truth"):
        whole = {"whole": "int", "truth": "bool"}.get(kind, "")
        return _finite(Column(name, "number", arrow_numbers(values.cast(pa.float64(), safe=False)), whole=whole))
    if kind == "text":
        return coded_column(name, *arrow_codes(values))
    if pa.types.is_dictionary(values.type):
        inner = values.type.value_type
        return _arrow_column(name, values.cast(inner if pa.types.is_temporal(inner) else pa.string()))
    missing = np.concatenate([np.asarray(chunk.is_null()) for chunk in values.chunks])
    return Column(name, kind, np.where(missing, -1, 0).astype(np.int32), (str(values.type),))


def table_of_frame(frame: Any) -> Table:
    """A data frame (pandas, polars, pyarrow …), or a mapping from names to values, as columns."""
    if isinstance(frame, Table):
        return frame
    if isinstance(frame, Mapping):
        return Table(tuple(_plain_column(str(name), values) for name, values in frame.items()))
    import narwhals as nw

    try:
        native = nw.from_native(frame, eager_only=True)
    except TypeError as error:
        raise DataError(
            f"A table is needed, a data frame or a mapping of columns; this is a {type(frame).__name__}."
        ) from error
    return Table(tuple(_frame_column(str(series.name), series) for series in native.iter_columns()))


def _frame_column(name: str, series: Any) -> Column:
    kind = series.dtype
    if kind.is_numeric() or str(kind) == "Boolean":
        numbers = np.asarray(series.to_numpy(), dtype=np.float64)
        whole = "bool" if str(kind) == "Boolean" else "int" if kind.is_integer() else ""
        return _finite(Column(name, "number", numbers, whole=whole))
    if kind.is_temporal():
        blank = np.where(series.is_null().to_numpy(), -1, 0).astype(np.int32)
        return Column(name, "date", blank, (str(kind),))
    return _plain_column(name, series.to_list())


def _plain_column(name: str, values: Any) -> Column:
    array = np.asarray(values)
    if array.dtype.kind in "fiub":
        whole = {"i": "int", "u": "int", "b": "bool"}.get(array.dtype.kind, "")
        return _finite(Column(name, "number", array.astype(np.float64), whole=whole))
    texts = ("" if v is None or v != v else v if isinstance(v, str) else str(v) for v in list(values))
    return text_column(name, texts)


def _finite(column: Column) -> Column:
    endless = np.flatnonzero(np.isinf(column.values))
    if len(endless):
        refuse_infinity(column.name, int(endless[0]), str(column.values[endless[0]]))
    return column
