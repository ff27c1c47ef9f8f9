"""Text files as parts: CSV and libsvm, cut at line ends into stretches of bytes that are parsed one by one.

The number of rows is known only after the first look, which also takes the labels, the levels of text columns and the
row sample: a text file is parsed once for all of these.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from discriminant.data.csv_text import Layout, is_numeric, sniff
from discriminant.data.files import file_head
from discriminant.data.scan_columns import Encoders, arrow_codes, arrow_numbers, choose_columns
from discriminant.data.scan_parts import Columns, Part, Sparse
from discriminant.data.tables import MISSING_WORDS
from discriminant.errors import DataError

GROWTH = 3  # decoded bytes per byte of text, at most, for choosing the stretches
_LINE = re.compile(rb"\s*[+-]?[\d.eE+-]+(?:\s+\d+:[+-]?[\d.eE+-]+)*\s*")
_FAILED = re.compile(r"In CSV column #(\d+)")


def cut(path: str, skip: int, size: int, file: int) -> list[Part]:
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


def stretch(path: str, part: Part) -> bytes:
    """The bytes of a part."""
    start, stop = part.place
    with open(path, "rb") as handle:
        handle.seek(start)
        return handle.read(stop - start)


class Csv:
    """CSV files with one header each, or none."""

    is_sparse = False
    label_share = 1.0

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
        self.layout = first
        chosen = choose_columns(list(first.header), files[0], target, columns)
        place = {name: j for j, name in enumerate(first.header)}
        text = [name for name in chosen if not is_numeric(first, place[name])]
        self.encoders = Encoders(chosen, text, np.dtype(np.float64))

    def _layout(self, path: str) -> Layout:
        head = file_head(path)
        if head[:2] == b"\x1f\x8b":
            raise DataError(f"{path} is compressed, and a scan reads from the middle of files: decompress it first.")
        return sniff(head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="ignore"), path)

    @property
    def names(self) -> tuple[str, ...]:
        return self.encoders.feature_names

    @property
    def n_features(self) -> int:
        return self.encoders.width

    @property
    def dtype(self) -> Any:
        return self.encoders.dtype

    def parts(self, size: int) -> list[Part]:
        found = []
        for i, (path, layout) in enumerate(zip(self.files, self.layouts, strict=True)):
            with open(path, "rb") as handle:
                skip = len(handle.readline()) if layout.named else 0
            found += cut(path, skip, max(size // GROWTH, 1 << 16), i)
        return found

    def read(self, part: Part, columns: Sequence[str]) -> Any:
        """These columns of a part, as an Arrow table; numbers as float64, all else as text with its levels."""
        import pyarrow as pa
        from pyarrow import csv as arrow

        path, layout = self.files[part.file], self.layout
        data = stretch(path, part)
        if data.count(b'"') % 2:
            raise DataError(f"{path} has a quoted field that runs over a line end, which a scan cannot read.")
        text = pa.dictionary(pa.int32(), pa.string())
        as_text = {*self.encoders.text, self.target}
        convert = arrow.ConvertOptions(
            column_types={name: text if name in as_text else pa.float64() for name in columns},
            include_columns=list(columns),
            null_values=sorted(MISSING_WORDS),
            strings_can_be_null=False,
            decimal_point=layout.decimal,
        )
        try:
            found = arrow.read_csv(
                pa.py_buffer(data),
                read_options=arrow.ReadOptions(column_names=list(layout.header), block_size=max(len(data), 1 << 16)),
                parse_options=arrow.ParseOptions(delimiter=layout.separator),
                convert_options=convert,
            )
        except pa.ArrowInvalid as error:
            failed = _FAILED.search(str(error))
            where = f"column {layout.header[int(failed.group(1))]!r} of {path}" if failed else path
            raise DataError(
                f"{where[0].upper()}{where[1:]} cannot be read further down: {str(error).splitlines()[0]}. Correct the "
                "file, or leave the column out (columns=[…])."
            ) from error
        part.rows = found.num_rows
        return found

    def load(self, part: Part) -> Columns:
        found = self.read(part, self.encoders.columns)
        values = [self.encoders.encode(name, found.column(name)) for name in self.encoders.columns]
        return Columns(values, found.num_rows, self.n_features, self.dtype)

    def first(self, part: Part) -> tuple[Any, dict[str, Any], dict[str, Any]]:
        """The first look: (labels or None, text columns as (codes, levels), numeric columns)."""
        wanted = [*self.encoders.columns, *([self.target] if self.target is not None else [])]
        found = self.read(part, wanted)
        labels = None if self.target is None else arrow_codes(found.column(self.target))
        texts = {name: arrow_codes(found.column(name)) for name in self.encoders.text}
        rest = [name for name in self.encoders.columns if name not in texts]
        return labels, texts, {name: arrow_numbers(found.column(name)) for name in rest}

    def labels(self, part: Part) -> Any:
        return arrow_codes(self.read(part, [self.target]).column(self.target))


class Libsvm:
    """libsvm files: sparse rows; the label is the first number of a line."""

    is_sparse = True
    label_share = 1.0
    names = None
    encoders = None

    def __init__(self, files: list[str], target: Any = None, columns: Any = None, width: int | None = None) -> None:
        if columns is not None:
            raise DataError("A libsvm file has no named columns: columns= cannot choose among them.")
        self.files, self.target = files, "label"
        self.dtype = np.dtype(np.float64)
        self.n_features = width or 0
        self._given = width is not None
        self.entries = 0
        self.base = 1

    def parts(self, size: int) -> list[Part]:
        return [part for i, path in enumerate(self.files) for part in cut(path, 0, max(size // GROWTH, 1 << 16), i)]

    def parse(self, part: Part) -> tuple[Any, Any]:
        """(labels, (values, indices, starts)) of a part."""
        path = self.files[part.file]
        labels, values, indices, starts = parse_lines(stretch(path, part), path)
        part.rows = len(labels)
        return labels, (values, indices, starts)

    def first(self, part: Part) -> tuple[Any, dict[str, Any], Any]:
        labels, (values, indices, starts) = self.parse(part)
        self.entries += len(values)
        if len(indices):
            if indices.min() == 0:
                self.base = 0
            if not self._given:
                self.n_features = max(self.n_features, int(indices.max()))
        return labels, {}, (values, indices, starts)

    def settle(self) -> None:
        """After the first look: indices count from one by custom; a file that uses zero counts from zero."""
        if self.base == 0 and not self._given:
            self.n_features += 1

    def matrix(self, found: tuple[Any, Any, Any]) -> Any:
        """The rows as CSR; entries beyond the last feature of the fit are left out."""
        from scipy import sparse

        values, indices, starts = found
        columns = indices - self.base
        if len(columns) and int(columns.max()) >= self.n_features:
            keep = columns < self.n_features
            starts = np.concatenate([[0], np.cumsum(keep)])[starts]
            values, columns = values[keep], columns[keep]
        shape = (len(starts) - 1, self.n_features)
        return sparse.csr_array((values, columns.astype(np.int32), starts.astype(np.int32)), shape=shape)

    def load(self, part: Part) -> Sparse:
        return Sparse(self.matrix(self.parse(part)[1]))

    def labels(self, part: Part) -> Any:
        return self.parse(part)[0]


def parse_lines(data: bytes, path: str) -> tuple[Any, Any, Any, Any]:
    """(labels, values, indices, starts) of libsvm lines, by whole-array operations."""
    if b"#" in data or b"qid" in data:
        data = re.sub(rb"#[^\n]*|qid:\d+", b"", data)
    lines = [line for line in data.split(b"\n") if line.strip()]
    words = [line.count(b":") for line in lines]
    numbers = _numbers(data.replace(b":", b" "))
    if len(numbers) != len(lines) + 2 * sum(words):
        bad = next((line for line in lines if not _LINE.fullmatch(line)), lines[0])
        raise DataError(f"{path} is not a libsvm file in the line {bad[:60].decode('utf-8', 'replace')!r}.")
    counts = np.array(words, dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(counts)])
    heads = (np.cumsum(2 * counts + 1) - (2 * counts + 1)).astype(np.int64)
    rest = np.delete(numbers, heads)
    return numbers[heads], rest[1::2], rest[0::2].astype(np.int64), starts


def _numbers(data: bytes) -> Any:
    """The numbers in a text; fewer than there are words where a word is none."""
    try:
        import pyarrow as pa
    except ImportError:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # a word that is no number: found by the count
            return np.fromstring(data, sep=" ")
    words = pa.array(data.replace(b"+", b"").split(), pa.binary()).cast(pa.string())
    try:
        return arrow_numbers(words.cast(pa.float64()))
    except pa.ArrowInvalid:
        return np.zeros(0)
