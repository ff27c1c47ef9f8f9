"""CSV and libsvm files as parts: stretches of lines, parsed one by one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from discriminant.data.csv_text import Layout, failed_column, is_numeric, parse_csv, sniff
from discriminant.data.file_source import ColumnSource, FileColumns, FileSource, Part, Surveyed, choose_columns
from discriminant.data.files import file_head
from discriminant.data.libsvm import TARGET, Lines, parse_lines
from discriminant.data.rows import SparseRows
from discriminant.data.tables import dressed_numbers
from discriminant.errors import DataError

LEAST_BYTES = 1 << 16  # of a part
GROWTH = 3  # bytes of numbers that a byte of text becomes, at most


def _cut(path: str, skip: int, size: int, file: int) -> list[Part]:
    """Stretches of about ``size`` bytes that end at line ends; the first ``skip`` bytes are left out."""
    end = os.path.getsize(path)
    found, start = [], skip
    with open(path, "rb") as handle:
        while start < end:
            handle.seek(min(start + size, end))
            handle.readline()
            stop = min(handle.tell(), end)
            found.append(Part(file, -1, (start, stop), 0, stop - start))
            start = stop
    return found


def _bytes_of(path: str, part: Part) -> bytes:
    start, stop = part.place
    with open(path, "rb") as handle:
        handle.seek(start)
        return handle.read(stop - start)


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
        numbers = (dressed_numbers(first.first_texts(place[name]), first.decimal) for name in words)
        dressed = tuple(name for name, found in zip(words, numbers, strict=True) if found is not None)
        text = [name for name in words if name not in dressed]
        self.columns = FileColumns(chosen, text, np.dtype(np.float64), dressed=dressed, decimal=first.decimal)
        for name in dressed:
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
            found += _cut(path, skip, max(size // GROWTH, LEAST_BYTES), i)
        return found

    def table(self, part: Part, columns: Sequence[str]) -> Any:
        import pyarrow as pa

        path, layout = self.files[part.file], self.layouts[0]
        data = _bytes_of(path, part)
        if data.count(b'"') % 2:
            raise DataError(f"{path} has a quoted field that runs over a line end, which a scan cannot read.")
        try:
            found = parse_csv(data, layout, {*self.columns.text, *self.columns.dressed, self.target}, columns)
        except pa.ArrowInvalid as error:
            name = failed_column(error, layout)
            where = f"Column {name!r} of {path}" if name else path
            raise DataError(
                f"{where} cannot be read further down: {str(error).splitlines()[0]}. Correct the file, or leave the "
                "column out (columns=[…])."
            ) from error
        part.rows = found.num_rows
        return found


class LibsvmSource(FileSource):
    """libsvm files: sparse rows; the label is the first number of a line."""

    is_sparse = True
    is_text = True

    def __init__(self, files: list[str], target: Any = None, columns: Any = None, width: int | None = None) -> None:
        if columns is not None:
            raise DataError("A libsvm file has no named columns: columns= cannot choose among them.")
        self.files, self.target = files, TARGET
        self.dtype = np.dtype(np.float64)
        self.width, self.largest, self.base = width, 0, 1

    @property
    def n_features(self) -> int:
        return self.largest + 1 - self.base if self.width is None else self.width

    def parts(self, size: int) -> list[Part]:
        each = max(size // GROWTH, LEAST_BYTES)
        return [part for i, path in enumerate(self.files) for part in _cut(path, 0, each, i)]

    def _parse(self, part: Part) -> Lines:
        path = self.files[part.file]
        data = _bytes_of(path, part)
        try:
            found = parse_lines(data, path)
        except DataError:  # once more, with the numbers that the lines have in the file
            before = _bytes_of(path, replace(part, place=(0, part.place[0])))
            found = parse_lines(data, path, before.count(b"\n") + 1)
        part.rows = len(found.labels)
        return found

    def survey(self, part: Part) -> Surveyed:
        found = self._parse(part)
        self.entries += found.entries.nnz
        # Indices count from one by custom; a file that uses zero counts from zero.
        self.base = min(self.base, int(found.entries.indices.min(initial=1)))
        self.largest = max(self.largest, found.entries.shape[1] - 1)
        return Surveyed(found.labels, parsed=found)

    def rows(self, parsed: Any) -> SparseRows:
        return SparseRows(parsed.matrix(self.n_features, self.base))

    def read(self, part: Part) -> SparseRows:
        return self.rows(self._parse(part))
