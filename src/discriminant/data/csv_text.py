"""CSV as text, by the standard library: which separator, which names, and a reader that refuses what is not a table.

This reader is the reference: the faster one of ``csv_arrow`` must give the same columns, and hands over to this one
whatever it cannot read, so that there is one set of rules and of sentences.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from mmap import mmap
from typing import AnyStr

from discriminant.data.tables import Column, Table, as_number_column, level_numbers, text_column
from discriminant.errors import DataError, names

SEPARATORS = (",", ";", "\t", "|")
SNIFFED_LINES = 200
SNIFFED_CHARACTERS = 200_000
JUDGED_LINES = 30  # by which a separator is judged; the head of a file holds as many, however long they are
_COMMA_NUMBER = re.compile(r"[+-]?\d+,\d+")


@dataclass(frozen=True)
class Layout:
    """How a text is cut into columns."""

    separator: str
    decimal: str
    header: tuple[str, ...]
    named: bool  # whether the first line holds the names
    sample: tuple[tuple[str, ...], ...]  # the first rows of data
    notes: tuple[str, ...] = ()


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
        raise DataError(
            f"{source} is not text in UTF-8 (line {line}, byte {error.start}). "
            "Convert it, for example with: iconv -f latin1 -t utf-8."
        ) from error
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise DataError(f"{source} holds a zero byte in line {line}: it is not a text table, or it is damaged.")
    return text


def rows_of(text: str, separator: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """(line number, fields) of each line that is not blank; quotes as in RFC 4180."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        for row in reader:
            if row and not (len(row) == 1 and not row[0].strip()):
                yield reader.line_num, row
    except csv.Error as error:
        raise DataError(f"{source} cannot be read near line {reader.line_num}: {error}.") from error


def head_end(data: AnyStr | mmap, mark: AnyStr, size: int) -> int:
    """Where a head of ``size`` or more ends that cuts no line and has ``JUDGED_LINES``, where there are so many.

    20,000 names of columns are a line of 300 kB: a head of so many bytes may be half a line.
    """
    end = 0
    for _ in range(JUDGED_LINES):
        end = data.find(mark, end) + 1  # type: ignore[arg-type]
        if not end:
            return len(data)
    if end < size:
        end = data.find(mark, size - 1) + 1  # type: ignore[arg-type]
    return end or len(data)


def sniff(text: str, source: str, *, header: bool | None = None) -> Layout:
    """Separator, decimal sign, names and some rows, from the first lines."""
    if not text.strip():
        raise DataError(f"{source} is empty.")
    head = text[: head_end(text, "\n", SNIFFED_CHARACTERS)]
    separator = max(SEPARATORS, key=lambda candidate: _agreement(head, candidate))
    lines = _first_lines(head, separator, source)
    if not lines:
        raise DataError(f"{source} has no rows: there is nothing in it but quotes and blanks.")
    first, rest = lines[0], lines[1:]
    decimal = "," if separator != "," and _has_decimal_comma(rest) else "."
    named = _is_header(first, rest) if header is None else header
    notes = []
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


def _first_lines(head: str, separator: str, source: str) -> list[list[str]]:
    lines: list[list[str]] = []
    try:
        for _, row in rows_of(head, separator, source):
            lines.append(row)
            if len(lines) > SNIFFED_LINES:
                return lines
    except DataError:
        if not lines:  # a quote that the cut of the head left open is no fault
            raise
    return lines


def _agreement(head: str, separator: str) -> tuple[float, int]:
    """(share of the first lines with as many fields as the first line, number of fields): larger is likelier."""
    counts: list[int] = []
    try:
        for _, row in rows_of(head, separator, ""):
            counts.append(len(row))
            if len(counts) > JUDGED_LINES:
                break
    except DataError:
        counts = counts or [1]
    if not counts or counts[0] < 2:
        return 0.0, 1
    return sum(count == counts[0] for count in counts) / len(counts), counts[0]


def _is_number(text: str) -> bool:
    found = level_numbers([text])
    return found is not None and bool(found[0] == found[0])


def _is_header(first: Sequence[str], rest: Sequence[Sequence[str]]) -> bool:
    """Names, unless every field of the first line is a number that repeats or has a fraction."""
    if not all(_is_number(field) for field in first):
        return True
    whole = all(field.strip().isdecimal() for field in first)
    return whole and len(set(first)) == len(first) and len(rest) > 0


def _has_decimal_comma(rows: Sequence[Sequence[str]]) -> bool:
    return any(_COMMA_NUMBER.fullmatch(field.strip()) for row in rows for field in row)


def read_text(text: str, source: str, layout: Layout, *, text_columns: Sequence[str] = ()) -> Table:
    """The whole text as a table."""
    width = len(layout.header)
    rows = []
    lines = rows_of(text, layout.separator, source)
    if layout.named:
        next(lines)
    for line, row in lines:
        if len(row) != width:
            raise DataError(
                f"{source} has {len(row)} fields in line {line} and {width} columns: a row is cut short or holds a "
                f"{_called(layout.separator)} too many. Correct it; nothing is filled in by guess."
            )
        rows.append(row)
    if not rows:
        raise DataError(f"{source} has names of columns and no rows.")
    columns = [
        typed_column(text_column(name, texts), layout.decimal, as_text=name in text_columns)
        for name, texts in zip(layout.header, zip(*rows, strict=True), strict=True)
    ]
    return Table(tuple(columns), source, layout.notes)


def typed_column(column: Column, decimal: str, *, as_text: bool) -> Column:
    """Numbers where all texts are; the label and columns asked for as text stay so."""
    return column if as_text else as_number_column(column, decimal) or column


def _called(separator: str) -> str:
    return {",": "comma", ";": "semicolon", "\t": "tab"}.get(separator, repr(separator))
