"""Large CSV files by pyarrow, to the same columns as ``csv_text``.

Types are decided from the first rows: numbers as float64, all else (the label always) as dictionary text.  A column
that turns out to hold text further down is read again as text.  Whatever pyarrow refuses is read by the standard
library, which finds the line and says what is wrong with it.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from discriminant.data.csv_text import Layout, typed_column
from discriminant.data.tables import _NUMBER, MISSING_WORDS, Column, Table, coded_column, level_numbers, refuse_infinity
from discriminant.data.threads import ordered_map, workers
from discriminant.protocols import Array

MOST_TRIES = 6
BLOCKS, LEAST_BLOCK, MOST_BLOCK = 8, 1 << 20, 1 << 25
PIECE = 1 << 21  # bytes that a thread takes at a time: what becomes of them stays in its cache
COUNTED = 1 << 17  # bytes whose ends of lines are counted at a time
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
    pieces = _pieces(data, layout, whole=quoted)
    for _ in range(MOST_TRIES):
        try:
            columns = _columns(data, pieces, layout, text_columns, as_text, quoted)
        except pa.ArrowInvalid as error:
            failed = _FAILED.search(str(error))
            name = layout.header[int(failed.group(1))] if failed else ""
            if not name or name in as_text:
                return None
            as_text.add(name)
            continue
        return Table(tuple(columns), source, layout.notes) if columns and len(columns[0]) else None
    return None


class Piece(NamedTuple):
    """A stretch of the file that begins and ends with a line."""

    start: int
    stop: int
    skip: int  # lines that are no rows: the names
    row: int  # where its rows begin, if no line is blank
    most: int  # rows that it can hold


def _pieces(data: Any, layout: Layout, *, whole: bool) -> list[Piece]:
    """The file cut at ends of lines, or uncut: between quotes the end of a line may be part of a value."""
    size = len(data)
    cuts = [0]
    while cuts[-1] < size:
        end = -1 if whole else data.find(b"\n", cuts[-1] + PIECE)
        cuts.append(size if end < 0 else end + 1)
    ends = ordered_map(partial(_line_ends, np.frombuffer(data, dtype=np.uint8)), list(pairwise(cuts)), workers())
    pieces: list[Piece] = []
    row = 0
    for (start, stop), lines in zip(pairwise(cuts), ends, strict=True):
        skip = int(layout.named and not start)
        most = max(lines + (stop == size and data[size - 1 : size] != b"\n") - skip, 0)
        pieces.append(Piece(start, stop, skip, row, most))
        row += most
    return pieces


def _line_ends(data: Array, cut: tuple[int, int]) -> int:
    parts = (data[at : min(at + COUNTED, cut[1])] for at in range(*cut, COUNTED))
    return sum(int(np.count_nonzero(part == ord("\n"))) for part in parts)


def _columns(
    data: Any, pieces: Sequence[Piece], layout: Layout, text_columns: Sequence[str], as_text: set[str], quoted: bool
) -> list[Column]:
    """The columns, piece after piece over threads: what pyarrow makes of a piece is copied while it is in the cache.

    Numbers lie side by side in one stretch of memory, whose pages can be large ones.
    """
    import pyarrow as pa

    numeric = [name for name in layout.header if name not in as_text]
    block = np.empty((len(numeric), pieces[-1].row + pieces[-1].most))
    buffer = pa.py_buffer(data)

    def read(piece: Piece) -> tuple[int, list[int], list[Any]]:
        """(rows, missing numbers of each numeric column, the columns of text)."""
        found = _parsed(buffer.slice(piece.start, piece.stop - piece.start), layout, as_text, piece.skip, quoted)
        if found.num_rows > piece.most:
            raise pa.ArrowInvalid("Lines end otherwise than they were counted.")
        lost = []
        for j, name in enumerate(numeric):
            values = found.column(name)
            float_values(values, block[j, piece.row : piece.row + found.num_rows])
            lost.append(values.null_count)
        return found.num_rows, lost, [found.column(name) for name in layout.header if name in as_text]

    read_pieces = list(ordered_map(read, pieces, workers()))
    rows = 0
    for piece, (count, _, _) in zip(pieces, read_pieces, strict=True):
        if rows < piece.row:  # lines before it were blank
            block[:, rows : rows + count] = block[:, piece.row : piece.row + count]
        rows += count
    block = block[:, :rows]
    lost = [sum(each) for each in zip(*(lost for _, lost, _ in read_pieces), strict=True)]
    none = np.zeros(rows, dtype=bool)
    none.flags.writeable = False
    place = {name: j for j, name in enumerate(numeric)}
    texts = {name: j for j, name in enumerate(name for name in layout.header if name in as_text)}

    def column(name: str) -> Column:
        if name in place:
            return _number_column(name, block[place[name]], lost[place[name]], none)
        chunks = [chunk for _, _, found in read_pieces for chunk in found[texts[name]].chunks]
        return _text_column(name, chunks, layout, as_text=name in text_columns)

    return list(ordered_map(column, layout.header, workers()))


def _parsed(buffer: Any, layout: Layout, as_text: set[str], skip: int, quoted: bool) -> Any:
    """pyarrow's table of a stretch of the file."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    text = pa.dictionary(pa.int32(), pa.string())
    return arrow.read_csv(
        pa.BufferReader(buffer),
        read_options=arrow.ReadOptions(
            # A stretch is one block, but where it is the whole file and has to be shared among threads here.
            column_names=list(layout.header), skip_rows=skip, use_threads=quoted,
            block_size=_block(len(buffer)) if quoted else len(buffer) + 1,
        ),
        parse_options=arrow.ParseOptions(
            delimiter=layout.separator, quote_char='"' if quoted else False, newlines_in_values=quoted
        ),
        convert_options=arrow.ConvertOptions(
            column_types={name: text if name in as_text else pa.float64() for name in layout.header},
            null_values=sorted(MISSING_WORDS),
            strings_can_be_null=False,
            decimal_point=layout.decimal,
        ),
    )  # fmt: skip


def _block(size: int) -> int:
    """Bytes that a thread of pyarrow's takes at a time: enough for each, few in all."""
    return min(max(size // BLOCKS + 1, LEAST_BLOCK), MOST_BLOCK)


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
