"""``read_table``: the file of that name, whatever it is, as columns; ``read_frame``: a data frame of any library.

CSV and TSV (also gzipped), JSON (lines or an array), Excel workbooks, Parquet, Arrow and Feather files, libsvm files
and the bundled sets are recognised by what is in them, not by their names.  ``-`` is the standard input.  Types of
Arrow files and frames are taken as they are: integers and floats are numbers, strings and categories text, dates
dates.  Labels keep their type.
"""

from __future__ import annotations

import datetime
import itertools
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from discriminant import datasets
from discriminant.data.csv_text import (
    HEAD,
    decode,
    head_end,
    read_arrow_csv,
    read_text,
    sniff,
    typed_table,
)
from discriminant.data.labels import missing_places
from discriminant.data.rows import REAL, column_numbers
from discriminant.data.tables import (
    Column,
    Table,
    coded_column,
    number_column,
    series_codes,
    suggestion,
    text_column,
)
from discriminant.errors import DataError, MissingFileError, ParameterError, names
from discriminant.thresholds import ARROW_BYTES

JSON_ROWS = re.compile(rb'\s*\[?\s*\{\s*(?:"|\})')
LIBSVM = re.compile(rb"\s*[+-]?[\d.eE+-]+(?:\s+qid:\d+)?(?:\s+\d+:[^\s:]+)+\s*(?:#.*)?\r?(?:\n|$)")


def read_table(
    source: str | os.PathLike[str],
    *,
    text_columns: Sequence[str] = (),
    header: bool | None = None,
    encoding: str = "",
) -> Table:
    """The table in a file, in the standard input ("-") or in a bundled set.

    Parameters
    ----------
    source : path, "-" or the name of a bundled set, where no file is called so
    text_columns : names of columns to keep as text, as labels should be: '01' is not '1'
    header : whether the first line of a CSV file holds the names; None: by its look
    encoding : of a text file that is not UTF-8, such as "latin1"

    >>> table = read_table("penguins", text_columns=["species"])
    >>> table.n_rows, table.column("island").levels, table.column("year").kind
    (344, ('Biscoe', 'Dream', 'Torgersen'), 'number')
    """
    name, data = _bytes_of(source)
    if data[:2] == b"\x1f\x8b":
        data = _gunzip(data, name)
    if data[:4] in (b"PAR1", b"\xff\xff\xff\xff") or data[:6] == b"ARROW1":
        return read_arrow_file(data, name)
    if data[:4] == b"PK\x03\x04" and b"xl/workbook.xml" in data:
        return _read_workbook(data, name, text_columns)
    refuse_foreign(data, name)
    if encoding:
        data = _recoded(data, name, encoding)
    if JSON_ROWS.match(data):
        return _read_json(data, name, text_columns)
    if LIBSVM.match(data):
        from discriminant.data.libsvm import read_libsvm

        return read_libsvm(data, name)
    return read_csv(data, name, text_columns=text_columns, header=header)


def _recoded(data: bytes, name: str, encoding: str) -> bytes:
    try:
        return data.decode(encoding).encode()
    except LookupError:
        raise ParameterError(
            f"{encoding!r} is no encoding that Python knows, such as latin1, cp1252, utf-16."
        ) from None
    except UnicodeError as error:
        raise DataError(f"{name} is not text in {encoding}: {error}.") from error


def _read_json(data: bytes, name: str, text_columns: Sequence[str]) -> Table:
    """An object to a line, or an array of objects; a key that one does not have is missing there."""
    import json

    text = decode(data, name)
    rows: list[dict[str, Any]] = []
    for number, line in enumerate([text] if text.lstrip()[:1] == "[" else text.split("\n"), start=1):
        try:
            found = json.loads(line) if line.strip() else []
        except ValueError as error:
            raise DataError(f"{name} does not hold one JSON object to a line: line {number}: {error}.") from error
        for row in found if isinstance(found, list) else [found]:
            if not isinstance(row, dict):
                raise DataError(f"{name} does not hold one JSON object to a line: line {number} is {line[:20]!r}.")
            rows += [row] * bool(row)
    keys = dict.fromkeys(key for row in rows for key in row)
    return typed_table((_plain_column(key, [row.get(key) for row in rows]) for key in keys), name, text_columns)


def _read_workbook(data: bytes, name: str, text_columns: Sequence[str]) -> Table:
    """The first sheet of an Excel workbook; its first row holds the names."""
    import io

    try:
        import openpyxl
    except ImportError as error:
        raise DataError(
            f"{name} is an Excel workbook, which needs openpyxl: pip install openpyxl, or save the sheet as CSV."
        ) from error
    book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    sheet = book.worksheets[0]
    head, *rows = [row for row in sheet.iter_rows(values_only=True) if any(value is not None for value in row)] or [()]
    if not rows:
        raise DataError(f"{name} has no rows in its first sheet, {sheet.title!r}.")
    titles = [str(title or f"column_{j + 1}").strip() for j, title in enumerate(head)]
    columns = itertools.starmap(_plain_column, zip(titles, zip(*rows, strict=True), strict=True))
    others = [other.title for other in book.worksheets[1:]]
    note = f"The first sheet of {name}, {sheet.title!r}, is read; {names(others)} not."
    return typed_table(columns, name, text_columns, [note] * bool(others))


def read_csv(
    data: bytes,
    source: str,
    *,
    text_columns: Sequence[str] = (),
    header: bool | None = None,
    fast_bytes: int = ARROW_BYTES,
) -> Table:
    """A CSV file's bytes as a table: by pyarrow from ``fast_bytes`` on, else by the standard library."""
    if len(data) >= fast_bytes and data[:2] not in (b"\xff\xfe", b"\xfe\xff") and b"sep=" not in data[:8]:
        data = data.removeprefix(b"\xef\xbb\xbf")
        head = data[: head_end(data, b"\n", HEAD)].decode("utf-8", errors="ignore")  # read_text reports bad bytes
        layout = None if "\0" in head else sniff(head, source, header=header)
        table = None if layout is None else read_arrow_csv(data, source, layout, text_columns=text_columns)
        if table is not None:
            return table
    text = decode(data, source)
    if text[:4] == "sep=" and text[5:6] in "\r\n":  # the line by which Excel names the separator
        text = text[5:].lstrip("\r\n")
    return read_text(text, source, sniff(text, source, header=header), text_columns=text_columns)


def _bytes_of(source: str | os.PathLike[str]) -> tuple[str, bytes]:
    name = os.fspath(source)
    if name == "-":
        return "the standard input", sys.stdin.buffer.read()
    path = Path(name)
    if not path.exists() and name in datasets.available():
        from importlib import resources

        return name, resources.files("discriminant.datasets").joinpath(f"{name}.csv").read_bytes()
    try:
        return path.name, path.read_bytes()
    except FileNotFoundError as error:
        raise MissingFileError(f"There is no file {name!r}. {nearby(path)}") from error
    except OSError as error:
        raise DataError(f"{name} cannot be read: {error.strerror or error}.") from error


def nearby(path: Path) -> str:
    try:
        around = [str(path.parent / entry) if path.parent != Path() else entry for entry in os.listdir(path.parent)]
    except OSError:
        around = []
    found = suggestion(str(path), [*around, *datasets.available()], "")
    bundled = ", ".join(datasets.available())
    return found if found.startswith("Did") else f"The data sets that come with the package are {bundled}."


def _gunzip(data: bytes, name: str) -> bytes:
    import gzip
    import zlib

    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{name} is compressed and damaged, or cut short: {error}.") from error


def refuse_foreign(data: bytes, name: str) -> None:
    known: dict[bytes, str] = {
        b"PK\x03\x04": "a zip archive; take the table out of it",
        b"\xd0\xcf\x11\xe0": "an old Excel workbook; save the sheet as CSV",
        b"\x80\x04": "a pickle, which could run any code; save it as CSV or Parquet",
        b"SQLite format 3": "an SQLite database; export the table as CSV",
        b"%PDF": "a PDF document; export the table as CSV",
        b"\xfd7zXZ": "compressed with xz; decompress it first",
        b"BZh": "compressed with bzip2; decompress it first",
        b"\x28\xb5\x2f\xfd": "compressed with zstd; decompress it first",
    }
    if re.match(rb"\s*<(?:!doctype|html|\?xml)", data[:4096], re.IGNORECASE):
        raise DataError(f"{name} is a web page or XML; export the table as CSV.")
    for start, what in known.items():
        if data[: len(start)] == start:
            raise DataError(f"{name} is {what}.")
    if not data[:4096].strip() and not data.strip():
        raise DataError(f"{name} is empty.")


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
        else:
            opened = pa.ipc.open_file if data[:6] == b"ARROW1" else pa.ipc.open_stream
            found = opened(pa.BufferReader(data)).read_all()
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{source} is damaged, or cut short: {str(error).splitlines()[0]}.") from error
    if not found.num_rows:
        raise DataError(f"{source} has no rows.")
    return replace(read_frame(found), source=source)


def read_frame(frame: Any) -> Table:
    """A data frame (pandas, polars, pyarrow …), or a mapping from names to values, as columns."""
    if isinstance(frame, Table):
        return frame
    if isinstance(frame, Mapping):
        return Table(tuple(_plain_column(str(name), values) for name, values in frame.items()))
    import narwhals.stable.v2 as nw

    try:
        native = nw.from_native(frame, eager_only=True)
    except TypeError as error:
        raise DataError(
            f"A table is needed, a data frame or a mapping of columns; this is a {type(frame).__name__}."
        ) from error
    return Table(tuple(_frame_column(str(series.name), series) for series in native.iter_columns()))


def _frame_column(name: str, series: Any) -> Column:
    import narwhals.stable.v2 as nw

    kind = series.dtype
    if kind.is_numeric() or kind == nw.Boolean:
        whole = "bool" if kind == nw.Boolean else "int" if kind.is_integer() else ""
        return number_column(name, column_numbers(series), whole)
    if kind in (nw.String, nw.Categorical, nw.Enum):
        return coded_column(name, *series_codes(series))
    if kind in (nw.Object, nw.Unknown):
        return _plain_column(name, series.to_list())
    days, blank = None, np.where(series.is_null().to_numpy(), -1, 0).astype(np.int32)
    if kind in (nw.Date, nw.Datetime):
        moments = series.cast(nw.Datetime("ms")) if kind == nw.Date else series
        days = column_numbers(moments.dt.timestamp("ms")) / 86_400_000
    return Column(name, "date" if kind.is_temporal() else "other", blank, (str(kind),), days=days)


def _plain_column(name: str, values: Any) -> Column:
    """A column of Python's values: numbers, dates, lists and the like, or text; of numbers where no value is known."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiub":
        whole = {"i": "int", "u": "int", "b": "bool"}.get(values.dtype.kind, "")
        return number_column(name, values.astype(np.float64), whole)
    values = list(values)
    there = np.ones(len(values), dtype=bool)
    there[missing_places(values)] = False
    known = [value for value, here in zip(values, there.tolist(), strict=True) if here]
    kinds, numbers = set(map(type, known)), np.full(len(values), np.nan)

    def are(*types: type) -> bool:
        return all(issubclass(kind, types) for kind in kinds)

    if are(*REAL):
        numbers[there] = known
        return number_column(name, numbers, "bool" if known and are(bool) else "int" if known and are(int) else "")
    blank = np.where(there, 0, -1).astype(np.int32)
    if are(datetime.date, datetime.time, datetime.timedelta):
        days = None
        if are(datetime.date):
            plain = [day.replace(tzinfo=None) if isinstance(day, datetime.datetime) else day for day in known]
            numbers[there] = np.array(plain, dtype="datetime64[ms]").astype(np.int64) / 86_400_000
            days = numbers
        return Column(name, "date", blank, ("a date",), days=days)
    if any(issubclass(kind, list | tuple | dict | set | complex | np.ndarray) for kind in kinds):
        return Column(name, "other", blank, ("lists or objects",))
    return text_column(name, (str(value) if here else "" for value, here in zip(values, there.tolist(), strict=True)))
