"""Large CSV files by pyarrow, to the same columns as ``csv_text``.

Types are decided from the first rows: numbers as float64, all else (the label always) as dictionary text.  A column
that turns out to hold text further down is read again as text.  Whatever pyarrow refuses is read by the standard
library, which finds the line and says what is wrong with it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from discriminant.data.csv_text import Layout, typed_column
from discriminant.data.tables import MISSING_WORDS, Column, Table, coded_column, level_numbers, refuse_infinity
from discriminant.data.threads import ordered_map, workers
from discriminant.protocols import Array

MOST_TRIES = 6
BLOCKS, LEAST_BLOCK, MOST_BLOCK = 8, 1 << 20, 1 << 25
PARALLEL_VALUES = 1_000_000  # numbers from which on threads are worth their start
_FAILED = re.compile(r"In CSV column #(\d+)")


def read_arrow_csv(data: Any, source: str, layout: Layout, *, text_columns: Sequence[str] = ()) -> Table | None:
    """The table in the bytes of a CSV file; None where pyarrow is missing or does not accept the file."""
    try:
        import pyarrow as pa
        from pyarrow import csv as arrow
    except ImportError:
        return None
    if not _begins_with_names(data, layout):
        return None
    as_text = {name for j, name in enumerate(layout.header) if name in text_columns or not _numeric(layout, j)}
    buffer = pa.py_buffer(data)
    quoted = data.find(b'"') >= 0
    if quoted and not _well_quoted(data, layout.separator):
        return None
    for _ in range(MOST_TRIES):
        text = pa.dictionary(pa.int32(), pa.string())
        convert = arrow.ConvertOptions(
            column_types={name: text if name in as_text else pa.float64() for name in layout.header},
            null_values=sorted(MISSING_WORDS),
            strings_can_be_null=False,
            decimal_point=layout.decimal,
        )
        try:
            found = arrow.read_csv(
                pa.BufferReader(buffer),
                read_options=arrow.ReadOptions(
                    column_names=list(layout.header), skip_rows=int(layout.named), block_size=_block(len(data))
                ),
                parse_options=arrow.ParseOptions(
                    delimiter=layout.separator, quote_char='"' if quoted else False, newlines_in_values=quoted
                ),
                convert_options=convert,
            )
        except pa.ArrowInvalid as error:
            failed = _FAILED.search(str(error))
            name = layout.header[int(failed.group(1))] if failed else ""
            if not name or name in as_text:
                return None
            as_text.add(name)
            continue
        if not found.num_rows:
            return None
        return Table(tuple(_columns(found, layout, text_columns)), source, layout.notes)
    return None


def _block(size: int) -> int:
    """Bytes that a thread takes at a time: enough for each, few in all, since every piece of a column is a call."""
    return min(max(size // BLOCKS + 1, LEAST_BLOCK), MOST_BLOCK)


def _columns(found: Any, layout: Layout, text_columns: Sequence[str]) -> list[Column]:
    """The columns, over threads; numbers lie side by side in one stretch of memory, whose pages can be large ones."""
    numeric = [name for name in layout.header if found.column(name).type == "double"]
    block = np.empty((len(numeric), found.num_rows))
    place = {name: block[i] for i, name in enumerate(numeric)}
    threads = workers() if block.size >= PARALLEL_VALUES else 1
    none = np.zeros(found.num_rows, dtype=bool)
    none.flags.writeable = False

    def column(name: str) -> Column:
        return _column(found, name, layout, text_columns, place, none)

    return list(ordered_map(column, layout.header, threads))


def _begins_with_names(data: Any, layout: Layout) -> bool:
    """Whether the names, if any, are the first line exactly: pyarrow skips lines, not records."""
    first = bytes(data[: 1 << 18]).split(b"\n", 1)[0].decode("utf-8", errors="replace").rstrip("\r")
    rows = list(csv.reader([first], delimiter=layout.separator))
    return bool(first.strip()) and len(rows[0]) == len(layout.header) and "\r" not in first


def _well_quoted(data: Any, separator: str) -> bool:
    """Whether every quote opens or closes a whole field; pyarrow forgives what may be a row torn apart."""
    mark = re.escape(separator).encode()
    field = re.compile(rb"(?:^|(?<=[\r\n" + mark + rb']))"(?:[^"]|"")*"(?=[\r\n' + mark + rb"]|\Z)")
    return b'"' not in field.sub(b"", data)


def _numeric(layout: Layout, j: int) -> bool:
    return level_numbers([row[j] if j < len(row) else "" for row in layout.sample], layout.decimal) is not None


def _column(
    found: Any, name: str, layout: Layout, text_columns: Sequence[str], place: dict[str, Array], none: Array
) -> Column:
    values = found.column(name)
    if name in place:
        numbers = float_values(values, place[name])
        endless = numbers[:0] if np.isfinite(numbers.sum()) else np.flatnonzero(np.isinf(numbers))
        if len(endless):
            refuse_infinity(name, int(endless[0]), "a number beyond the largest")
        column = Column(name, "number", numbers)
        if not values.null_count:
            column.__dict__["missing"] = none  # known: no column need be searched for what it does not lack
        return column
    whole = values.unify_dictionaries().combine_chunks()
    codes = np.frombuffer(whole.indices.buffers()[1], dtype=np.int32, count=len(whole), offset=4 * whole.offset)
    column = coded_column(name, codes, whole.dictionary.to_pylist())
    return typed_column(column, layout.decimal, as_text=name in text_columns)


def float_values(values: Any, result: Array | None = None) -> Array:
    """A chunked array of doubles as NumPy's, NaN where it is null.  Its own ``to_numpy`` would load pandas."""
    result = np.empty(len(values)) if result is None else result
    start = 0
    for chunk in values.chunks:
        n, skipped = len(chunk), chunk.offset
        valid, data = chunk.buffers()
        part = result[start : start + n]
        part[:] = np.frombuffer(data, dtype=np.float64, count=n, offset=8 * skipped)
        if chunk.null_count:
            bits = np.unpackbits(np.frombuffer(valid, dtype=np.uint8), bitorder="little")[skipped : skipped + n]
            part[bits == 0] = np.nan
        start += n
    return result
