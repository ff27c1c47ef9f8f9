"""CSV: which separator, which names, two readers that give the same columns, and files of it as parts.

The standard library's is the reference: it refuses what is not a table in sentences.  pyarrow's is faster; it is asked
for numbers as float64 and for all else as text with its levels, and hands over whatever it does not accept.
"""

from __future__ import annotations

import csv
import io
import itertools
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, AnyStr

import numpy as np

from discriminant.data.file_source import (
    ColumnSource,
    FileColumns,
    Part,
    bytes_of_part,
    choose_columns,
    line_parts,
)
from discriminant.data.tables import (
    MISSING_WORDS,
    UNIT,
    Column,
    Table,
    arrow_codes,
    arrow_numbers,
    coded_column,
    formatted_numbers,
    level_numbers,
    number_column,
    text_column,
    typed,
)
from discriminant.errors import DataError, counted, names

SEPARATORS = (",", ";", "\t", "|")
HEAD = 1 << 18  # bytes of a file, or more, that show how it is cut into columns
SNIFFED_LINES = 200
SNIFFED_CHARACTERS = 200_000
LAYOUT_LINES = 30  # by which a separator is judged; the head of a file holds as many, however long they are
LEAST_BLOCK, MOST_BLOCK = 1 << 20, 1 << 25  # bytes that a thread of pyarrow's takes at a time
FIELD = 1 << 10  # bytes of a block to each column, at least: it must hold a line, however long
_BEFORE, _AFTER = r"[+-]?(?:[$€£] ?)?", rf"(?: ?(?:{UNIT}))?"
_COMMA_NUMBER = re.compile(rf"{_BEFORE}(?:\d+|\d{{1,3}}(?:\.\d{{3}})+),\d+{_AFTER}")
_THOUSANDS = re.compile(rf"{_BEFORE}[1-9]\d{{0,2}},\d{{3}}{_AFTER}")
_POINT_NUMBER = re.compile(rf"{_BEFORE}(?:\d+|\d{{1,3}}(?:,\d{{3}})+)\.\d+{_AFTER}|\d{{1,3}}(?:,\d{{3}}){{2,}}")
_FAILED = re.compile(r"In CSV column #(\d+)")


@dataclass(frozen=True)
class Layout:
    """How a text is cut into columns."""

    separator: str
    decimal: str
    header: tuple[str, ...]
    named: bool  # whether the first line holds the names
    sample: tuple[tuple[str, ...], ...]  # the first rows of data
    notes: tuple[str, ...] = ()

    def first_texts(self, j: int) -> list[str]:
        """Column j in the first rows."""
        return [row[j] if j < len(row) else "" for row in self.sample]


def decode(data: bytes, source: str) -> str:
    """The text in a file: UTF-8, with or without a mark, or UTF-16 with one."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encoding = "utf-16"
    else:
        encoding = "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        likely = "cp1252" if re.search(rb"[\x80-\x9f]", data) else "latin1"  # as Windows writes quotes and the euro
        problem = (
            f"{source} is not text in UTF-8 (line {line}, byte {error.start}). "
            f"Say what it is, for example --encoding {likely}, or convert it: iconv -f {likely} -t utf-8."
        )
        if b"\0" in data:
            problem = f"{source} holds bytes that are no text: it is no table, or it is damaged."
        raise DataError(problem) from error
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise DataError(f"{source} holds a zero byte in line {line}: it is not a text table, or it is damaged.")
    return text


def rows_of(text: str, separator: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """(line number, fields) of each line that is not blank; quotes as in RFC 4180."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    begun = 1
    try:
        for row in reader:
            begun = reader.line_num + 1
            if row and not (len(row) == 1 and not row[0].strip()):
                yield reader.line_num, row
    except csv.Error as error:
        what = f"cannot be read near line {reader.line_num}: {error}"
        if str(error) == "unexpected end of data":
            what = f"has a quotation mark in line {begun} that is never closed"
        elif "expected after" in str(error):
            what = f'has a quotation mark within a field in line {begun}; there it is written twice: "say ""so"""'
        raise DataError(f"{source} {what}.") from error


def head_end(data: AnyStr, mark: AnyStr, size: int) -> int:
    """Where a head of ``size`` or more ends that cuts no line and has ``JUDGED_LINES``, where there are so many.

    20,000 names of columns are a line of 300 kB: a head of so many bytes may be half a line.
    """
    end = 0
    for _ in range(LAYOUT_LINES):
        end = data.find(mark, end) + 1
        if not end:
            return len(data)
    if end < size:
        end = data.find(mark, size - 1) + 1
    return end or len(data)


def file_head(path: str | os.PathLike[str]) -> bytes:
    """The first lines of a file, whole ones."""
    with open(path, "rb") as handle:
        data = handle.read(HEAD)
        while (end := head_end(data, b"\n", HEAD)) == len(data) and (more := handle.read(len(data))):
            data += more
    return data[:end]


def sniff(text: str, source: str, *, header: bool | None = None) -> Layout:
    """Separator, decimal sign, names and some rows, from the first lines."""
    if not text.strip():
        raise DataError(f"{source} is empty.")
    head = text[: head_end(text, "\n", SNIFFED_CHARACTERS)]
    separator = max(SEPARATORS, key=lambda candidate: _agreement(head, candidate))
    lines = _first_lines(head, separator, source, SNIFFED_LINES)
    if not lines:
        raise DataError(f"{source} has no rows: there is nothing in it but quotes and blanks.")
    first, rest = lines[0], lines[1:]
    decimal, unsure = _decimal_sign([field.strip() for row in rest for field in row]) if separator != "," else (".", "")
    named = _is_header(first, rest) if header is None else header
    notes = []
    words = {len(" ".join(row).split()) for row in lines}
    if len(first) == 1 and words == {max(words)} and words != {1}:
        notes.append("The file is read as one column: spaces separate none; commas, semicolons, tabs and bars do.")
    if unsure:
        notes.append(f"{unsure!r} is read with a decimal comma; write it without the comma if it means thousands.")
    if named:
        found = [name.strip() or f"column_{j + 1}" for j, name in enumerate(first)]
        if header is None and all(_is_number(name) for name in first):
            notes.append("The first line holds whole numbers and is taken as names of columns.")
    else:
        found = [f"column_{j + 1}" for j in range(len(first))]
        rest = lines
        if header is None:
            notes.append(f"The first line looks like data, so the columns are named {found[0]} to {found[-1]}.")
    repeated = sorted({name for name in found if found.count(name) > 1}) if len(set(found)) < len(found) else []
    if repeated:
        raise DataError(f"{source} has several columns named {names(repeated)}; rename them.")
    return Layout(separator, decimal, tuple(found), named, tuple(tuple(row) for row in rest), tuple(notes))


def _decimal_sign(fields: Sequence[str]) -> tuple[str, str]:
    """(the decimal sign, a field that leaves it open, if nothing else decides)."""
    commas = [field for field in fields if _COMMA_NUMBER.fullmatch(field)]
    if any(not _THOUSANDS.fullmatch(field) for field in commas):
        return ",", ""
    if any(_POINT_NUMBER.fullmatch(field) for field in fields):
        return ".", ""
    return (",", commas[0]) if commas else (".", "")


def _first_lines(head: str, separator: str, source: str, most: int) -> list[list[str]]:
    """The fields of the first ``most`` lines and one more."""
    lines: list[list[str]] = []
    try:
        for _, row in itertools.islice(rows_of(head, separator, source), most + 1):
            lines.append(row)
    except DataError:
        if not lines:  # a quote that the cut of the head left open is no fault
            raise
    return lines


def _agreement(head: str, separator: str) -> tuple[float, int]:
    """(share of the first lines with as many fields as the first line, number of fields): larger is likelier."""
    try:
        counts = [len(row) for row in _first_lines(head, separator, "", LAYOUT_LINES)]
    except DataError:
        return 0.0, 1
    if not counts or counts[0] < 2:
        return 0.0, 1
    return sum(count == counts[0] for count in counts) / len(counts), counts[0]


def _within(field: str, below: Sequence[str]) -> bool:
    """Whether it is a number among numbers, none of them the largest or least of all."""
    found = level_numbers([field, *below])
    return found is not None and bool(np.nanmin(found[1:]) <= found[0] <= np.nanmax(found[1:]))


def _is_number(text: str) -> bool:
    found = level_numbers([text])
    return found is not None and bool(found[0] == found[0])


def _is_header(first: Sequence[str], rest: Sequence[Sequence[str]]) -> bool:
    """Names, unless every field is a number that repeats or has a fraction, or the fields recur below.

    '1.288, 0, yes' above lines that hold 'yes' again, and numbers on both sides of 1.288, is the first of them.
    """
    if not all(_is_number(field) for field in first):
        below = [column for column in zip(*rest, strict=False) if column]
        recurs = [name in column for name, column in zip(first, below, strict=False) if name and not _is_number(name)]
        return not (recurs and all(recurs)) or not any(map(_within, first, below))
    whole = all(field.strip().isdecimal() for field in first)
    return whole and len(set(first)) == len(first) and len(rest) > 0


def read_text(text: str, source: str, layout: Layout, *, text_columns: Sequence[str] = ()) -> Table:
    """The whole text as a table."""
    width = len(layout.header)
    rows = []
    lines = rows_of(text, layout.separator, source)
    if layout.named:
        next(lines)
    for line, row in lines:
        if len(row) != width == 1:
            raise DataError(
                f"{source} has {len(row)} fields in line {line} and one in its first line: the names of the columns "
                "must stand first. Delete what is above them."
            )
        if len(row) != width:
            raise DataError(
                f"{source} has {counted(len(row), 'field')} in line {line} and {width} columns: a row is cut short or "
                f"holds a {_called(layout.separator)} too many. Correct it; nothing is filled in by guess."
            )
        rows.append(row)
    if not rows:
        raise DataError(f"{source} has names of columns and no rows.")
    columns = map(text_column, layout.header, zip(*rows, strict=True))
    return typed_table(columns, source, text_columns, layout.notes, layout.decimal)


def typed_table(
    columns: Iterable[Column], source: str, text_columns: Sequence[str], notes: Sequence[str] = (), decimal: str = "."
) -> Table:
    """The columns, those of numbers as numbers, with notes on how values were spelt."""
    found = [typed(column, decimal, text_columns) for column in columns]
    notes = list(notes)
    if formatted := [column for column in found if column.formatted]:
        shown = names([column.name for column in formatted])
        notes.append(
            "Numbers with separators, units or brackets, such as "
            f"{formatted[0].formatted!r}, are read as numbers: {shown}."
        )
    for column in found:
        if column.spaced:
            notes.append(f"{column.name!r}: spaces around {names(column.spaced, most=3)} are taken away.")
    return Table(tuple(found), source, tuple(notes), decimal=decimal)


def _called(separator: str) -> str:
    return {",": "comma", ";": "semicolon", "\t": "tab"}.get(separator, repr(separator))


def is_numeric(layout: Layout, j: int) -> bool:
    """Whether column j holds numbers and words for "missing" in the first rows."""
    return level_numbers(layout.first_texts(j), layout.decimal) is not None


def failed_column(error: Exception, layout: Layout) -> str:
    """The column that pyarrow could not convert; "" where it was something else."""
    found = _FAILED.search(str(error))
    return layout.header[int(found.group(1))] if found else ""


def parse_csv(
    data: bytes, layout: Layout, as_text: set[str], columns: Sequence[str] | None = None, *, skip: int = 0
) -> Any:
    """pyarrow's table of these columns, all where None; the first ``skip`` lines are left out."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    text, header, quoted = pa.dictionary(pa.int32(), pa.string()), list(layout.header), b'"' in data
    block = max(min(max(len(data) // 8 + 1, LEAST_BLOCK), MOST_BLOCK), FIELD * len(header))
    return arrow.read_csv(
        pa.py_buffer(data),
        read_options=arrow.ReadOptions(column_names=header, skip_rows=skip, block_size=block),
        parse_options=arrow.ParseOptions(
            delimiter=layout.separator, quote_char='"' if quoted else False, newlines_in_values=quoted
        ),
        convert_options=arrow.ConvertOptions(
            column_types={name: text if name in as_text else pa.float64() for name in header},
            include_columns=[] if columns is None else list(columns),
            null_values=sorted(MISSING_WORDS),
            strings_can_be_null=False,
            decimal_point=layout.decimal,
        ),
    )


def read_arrow_csv(data: bytes, source: str, layout: Layout, *, text_columns: Sequence[str] = ()) -> Table | None:
    """The table in the bytes of a CSV file; None where pyarrow is missing or does not accept the file."""
    try:
        import pyarrow as pa
        import pyarrow.csv
    except ImportError:
        return None
    if not _begins_with_names(data, layout) or (b'"' in data and not _well_quoted(data, layout.separator)):
        return None
    as_text = {name for j, name in enumerate(layout.header) if name in text_columns or not is_numeric(layout, j)}
    while True:
        try:
            found = parse_csv(data, layout, as_text, skip=int(layout.named))
            break
        except pa.ArrowInvalid as error:
            name = failed_column(error, layout)
            if not name or name in as_text:
                return None
            as_text.add(name)  # words further down: the column is text
    if not found.num_rows:
        return None
    columns = (
        coded_column(name, *arrow_codes(values))
        if name in as_text
        else number_column(name, arrow_numbers(values), shown="a number beyond the largest")
        for name, values in zip(layout.header, found.columns, strict=True)
    )
    return typed_table(columns, source, text_columns, layout.notes, layout.decimal)


def _begins_with_names(data: bytes, layout: Layout) -> bool:
    """Whether the names, if any, are the first line exactly: pyarrow skips lines, not records."""
    first = data[: data.find(b"\n") if b"\n" in data else len(data)].decode("utf-8", errors="replace").rstrip("\r")
    rows = list(csv.reader([first], delimiter=layout.separator))
    return bool(first.strip()) and len(rows[0]) == len(layout.header) and "\r" not in first


def _well_quoted(data: bytes, separator: str) -> bool:
    """Whether every quote opens or closes a whole field; pyarrow forgives what may be a row torn apart."""
    mark = re.escape(separator).encode()
    field = re.compile(rb"(?:^|(?<=[\r\n" + mark + rb']))"(?:[^"]|"")*"(?=[\r\n' + mark + rb"]|\Z)")
    return b'"' not in field.sub(b"", data)


class CsvSource(ColumnSource):
    """CSV files with one header each, or none; a part is a stretch of lines."""

    is_text = True

    def __init__(self, files: list[str], target: Any = None, columns: Sequence[str] | None = None) -> None:
        self.files, self.target = files, target
        self.layouts = [self._layout(path) for path in files]
        first = self.layouts[0]
        for path, layout in zip(files, self.layouts, strict=True):
            if layout.header != first.header or layout.separator != first.separator:
                raise DataError(
                    f"{path} has other columns than {files[0]}: {', '.join(layout.header[:8])} against "
                    f"{', '.join(first.header[:8])}."
                )
        chosen = choose_columns(list(first.header), files[0], target, columns)
        place = {name: j for j, name in enumerate(first.header)}
        words = [name for name in chosen if not is_numeric(first, place[name])]
        numbers = (formatted_numbers(first.first_texts(place[name]), first.decimal) for name in words)
        formatted = tuple(name for name, found in zip(words, numbers, strict=True) if found is not None)
        text = [name for name in words if name not in formatted]
        self.columns = FileColumns(chosen, text, np.dtype(np.float64), formatted=formatted, decimal=first.decimal)
        for name in formatted:
            sentence = f"{name!r}: numbers with separators, units or brackets are read as numbers."
            self.columns.notes.append(
                ("hold numbers with separators, units or brackets, read as numbers", name, sentence)
            )
        self.dtype = self.columns.dtype

    @staticmethod
    def _layout(path: str) -> Layout:
        head = file_head(path)
        if head[:2] == b"\x1f\x8b":
            raise DataError(f"{path} is compressed, and a scan reads from the middle of files: decompress it first.")
        return sniff(head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="ignore"), path)

    def parts(self, size: int) -> list[Part]:
        found = []
        for i, (path, layout) in enumerate(zip(self.files, self.layouts, strict=True)):
            with open(path, "rb") as handle:
                skip = len(handle.readline()) if layout.named else 0
            found += line_parts(path, skip, size, i)
        return found

    def table(self, part: Part, columns: Sequence[str]) -> Any:
        import pyarrow as pa

        path, layout = self.files[part.file], self.layouts[0]
        data = bytes_of_part(path, part)
        if data.count(b'"') % 2:
            raise DataError(f"{path} has a quoted field that runs over a line end, which a scan cannot read.")
        try:
            found = parse_csv(data, layout, {*self.columns.text, *self.columns.formatted, self.target}, columns)
        except pa.ArrowInvalid as error:
            name = failed_column(error, layout)
            where = f"Column {name!r} of {path}" if name else path
            raise DataError(
                f"{where} cannot be read further down: {str(error).splitlines()[0]}. Correct the file, or leave the "
                "column out (columns=[…])."
            ) from error
        part.rows = found.num_rows
        return found
