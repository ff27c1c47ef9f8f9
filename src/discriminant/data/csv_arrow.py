"""Large CSV files by pyarrow, to the same columns as ``csv_text``.

Threads take the file apart in pieces that end with a line, and the numbers of each go straight to where they stay.
Types are decided from the first rows: numbers as float64, all else (the label always) as dictionary text.  A column
that turns out to hold text further down is read again as text.  Whatever pyarrow refuses is read by the standard
library, which finds the line and says what is wrong with it.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from discriminant.data.csv_text import Layout, typed_column
from discriminant.data.tables import _NUMBER, MISSING_WORDS, Column, Table, coded_column, level_numbers, refuse_infinity
from discriminant.data.threads import ordered_map, workers
from discriminant.protocols import Array

MOST_TRIES = 6
BLOCKS, LEAST_BLOCK, MOST_BLOCK = 8, 1 << 20, 1 << 25
PIECE = 1 << 21  # bytes that a thread takes at a time: what becomes of them stays in its cache
FIELD = 1 << 10  # of a piece, to each column: a few bytes of very many would cost more to handle than to read
SLACK = 1.05  # rows that there is room for, against the number that the first pieces lead to expect
_NUMBERS = re.compile(rf"(?>(?>\s*{_NUMBER.pattern}\s*)\0)*", re.ASCII)
_FAILED = re.compile(r"In CSV column #(\d+)")


def read_arrow_csv(data: Any, source: str, layout: Layout, *, text_columns: Sequence[str] = ()) -> Table | None:
    """The table in the bytes of a CSV file; None where pyarrow is missing or does not accept the file."""
    try:
        import pyarrow as pa
        import pyarrow.csv
    except ImportError:
        return None
    if not _begins_with_names(data, layout):
        return None
    as_text = {name for j, name in enumerate(layout.header) if name in text_columns or not _numeric(layout, j)}
    quoted = data.find(b'"') >= 0
    if quoted and not _well_quoted(data, layout.separator):
        return None
    for _ in range(MOST_TRIES):
        try:
            columns = _columns(data, layout, text_columns, as_text, quoted)
        except pa.ArrowInvalid as error:
            failed = _FAILED.search(str(error))
            name = layout.header[int(failed.group(1))] if failed else ""
            if not name or name in as_text:
                return None
            as_text.add(name)
            continue
        return Table(tuple(columns), source, layout.notes) if columns and len(columns[0]) else None
    return None


def _pieces(data: Any, width: int, *, whole: bool) -> list[tuple[int, int]]:
    """(start, stop) of stretches that end with a line; or of all, since between quotes the end of a line is text."""
    cuts, size = [0], len(data)
    least = max(PIECE, FIELD * width)
    while cuts[-1] < size:
        end = -1 if whole else data.find(b"\n", cuts[-1] + least)
        cuts.append(size if end < 0 else end + 1)
    return list(pairwise(cuts))


def _columns(data: Any, layout: Layout, text_columns: Sequence[str], as_text: set[str], quoted: bool) -> list[Column]:
    """The columns.  Threads take the file apart piece by piece; what they find is put together here while they go on.

    Numbers lie side by side in one stretch of memory, whose pages can be large ones.
    """
    import pyarrow as pa

    numeric = [j for j, name in enumerate(layout.header) if name not in as_text]
    texts: dict[int, list[Any]] = {j: [] for j, name in enumerate(layout.header) if name in as_text}
    pieces = _pieces(data, len(layout.header), whole=quoted)
    block, rows = np.empty((len(numeric), 0)), 0
    lost = np.zeros(len(numeric), dtype=np.intp)
    parse = _parser(pa.py_buffer(data), layout, as_text, quoted)
    for (_, stop), found in zip(pieces, ordered_map(parse, pieces, workers()), strict=True):
        if rows + found.num_rows > block.shape[1]:  # as many as there will be if the rest is like what has been read
            room = np.empty((len(numeric), int(SLACK * (rows + found.num_rows) * len(data) / stop) + 1))
            room[:, :rows] = block[:, :rows]
            block = room
        for batch in found.to_batches():
            end, columns = rows + batch.num_rows, batch.columns
            if numeric:
                lost += _write_numbers([columns[j] for j in numeric], block[:, rows:end])
            for j, chunks in texts.items():
                chunks.append(columns[j])
            rows = end
    none = np.zeros(rows, dtype=bool)
    none.flags.writeable = False
    numbers = dict(zip(numeric, zip(block[:, :rows], lost.tolist(), strict=True), strict=True))

    def column(j: int) -> Column:
        name = layout.header[j]
        if j in texts:
            return _text_column(name, texts[j], layout, as_text=name in text_columns)
        return _number_column(name, *numbers[j], none)

    return list(ordered_map(column, range(len(layout.header)), workers()))


def _write_numbers(columns: Sequence[Any], part: Array) -> Array:
    """Write columns of doubles to the rows of ``part``, NaN where they are null; how many of each are.

    All of them at once: every call that gives up the interpreter may have to wait for another thread to return it.
    """
    import pyarrow as pa

    joined = pa.concat_arrays(columns)
    valid, data = joined.buffers()
    part[...] = np.frombuffer(data, dtype=np.float64, count=part.size).reshape(part.shape)
    if not joined.null_count:
        return np.zeros(len(part), dtype=np.intp)
    bits = np.unpackbits(np.frombuffer(valid, dtype=np.uint8), count=part.size, bitorder="little")
    gone = bits.reshape(part.shape) == 0
    part[gone] = np.nan
    return np.asarray(np.count_nonzero(gone, axis=1))


def _parser(buffer: Any, layout: Layout, as_text: set[str], quoted: bool) -> Callable[[tuple[int, int]], Any]:
    """From a stretch of the file to pyarrow's table of it."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    text = pa.dictionary(pa.int32(), pa.string())
    names = list(layout.header)
    quotes = arrow.ParseOptions(
        delimiter=layout.separator, quote_char='"' if quoted else False, newlines_in_values=quoted
    )
    types = arrow.ConvertOptions(
        column_types={name: text if name in as_text else pa.float64() for name in names},
        null_values=sorted(MISSING_WORDS),
        strings_can_be_null=False,
        decimal_point=layout.decimal,
    )

    def parse(piece: tuple[int, int]) -> Any:
        start, stop = piece
        # A stretch is one block, but where it is the whole file and has to be shared among threads here.
        size = _block(stop - start) if quoted else stop - start + 1
        skip = int(layout.named and not start)
        reading = arrow.ReadOptions(column_names=names, skip_rows=skip, use_threads=quoted, block_size=size)
        part = pa.BufferReader(buffer.slice(start, stop - start))
        return arrow.read_csv(part, read_options=reading, parse_options=quotes, convert_options=types)

    return parse


def _block(size: int) -> int:
    """Bytes that a thread of pyarrow's takes at a time: enough for each, few in all."""
    return min(max(size // BLOCKS + 1, LEAST_BLOCK), MOST_BLOCK)


def _begins_with_names(data: Any, layout: Layout) -> bool:
    """Whether the names, if any, are the first line exactly: pyarrow skips lines, not records."""
    end = data.find(b"\n")
    first = bytes(data[: end if end >= 0 else len(data)]).decode("utf-8", errors="replace").rstrip("\r")
    rows = list(csv.reader([first], delimiter=layout.separator))
    return bool(first.strip()) and len(rows[0]) == len(layout.header) and "\r" not in first


def _well_quoted(data: Any, separator: str) -> bool:
    """Whether every quote opens or closes a whole field; pyarrow forgives what may be a row torn apart."""
    mark = re.escape(separator).encode()
    field = re.compile(rb"(?:^|(?<=[\r\n" + mark + rb']))"(?:[^"]|"")*"(?=[\r\n' + mark + rb"]|\Z)")
    return b'"' not in field.sub(b"", data)


def _numeric(layout: Layout, j: int) -> bool:
    """Whether a column holds numbers and words for "missing" in the first rows."""
    if layout.decimal == ".":
        joined = "".join([f"{row[j]}\0" for row in layout.sample if j < len(row)])
        if _NUMBERS.fullmatch(joined) and joined.count("\0") == len(layout.sample):
            return True  # as most are; one match of all takes a fifth of the time of a match of each
    return level_numbers([row[j] if j < len(row) else "" for row in layout.sample], layout.decimal) is not None


def _number_column(name: str, numbers: Array, lost: int, none: Array) -> Column:
    column = Column(name, "number", numbers)
    endless = numbers[:0] if math.isfinite(column.total) else np.flatnonzero(np.isinf(numbers))
    if len(endless):
        refuse_infinity(name, int(endless[0]), "a number beyond the largest")
    if not lost:
        column.__dict__["missing"] = none  # known: no column need be searched for what it does not lack
    return column


def _text_column(name: str, chunks: Sequence[Any], layout: Layout, *, as_text: bool) -> Column:
    import pyarrow as pa

    whole = pa.chunked_array(chunks).unify_dictionaries().combine_chunks()
    codes = np.frombuffer(whole.indices.buffers()[1], dtype=np.int32, count=len(whole), offset=4 * whole.offset)
    column = coded_column(name, codes, whole.dictionary.to_pylist())
    return typed_column(column, layout.decimal, as_text=as_text)


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
