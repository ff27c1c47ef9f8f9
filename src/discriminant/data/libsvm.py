"""libsvm files: ``label index:value …`` on each line, to a sparse matrix and labels, at once or a part at a time."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discriminant.data.file_source import FileSource, Part, Surveyed, bytes_of_part, line_parts
from discriminant.data.rows import SparseRows
from discriminant.data.tables import Column, Table
from discriminant.errors import DataError
from discriminant.protocols import Array

TARGET = "label"
_NUMBER = rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_PAIR = re.compile(rb"\d{1,9}:" + _NUMBER)
_LINE = re.compile(rb"\s*" + _NUMBER + rb"(?:\s+\d{1,9}:" + _NUMBER + rb")*\s*")


@dataclass(frozen=True)
class Lines:
    """Rows as they are written; whether indices count from one or from zero is known once all rows are."""

    labels: Array  # (n,)
    entries: Any  # (n, largest index + 1) CSR

    def matrix(self, width: int, base: int) -> Any:
        """(n, width) CSR with the index ``base`` first; entries beyond the last column are left out."""
        found = self.entries[:, base:]
        found.resize(found.shape[0], width)
        return found

    def take(self, rows: Array) -> Lines:
        """Some rows."""
        return Lines(self.labels[rows], self.entries[rows])


def parse_lines(data: bytes, source: str, first: int = 1) -> Lines:
    """The rows in the text; a sentence that names the line, counted from ``first``, where it is no libsvm file."""
    from scipy import sparse

    if b"#" in data or b"qid:" in data:
        data = re.sub(rb"#[^\n]*|\bqid:\d+", b"", data)
    counts, lines = [], []  # of each row: its entries, the number of its line
    for number, line in enumerate(data.split(b"\n"), first):
        if _LINE.fullmatch(line):
            counts.append(line.count(b":"))
            lines.append(number)
        elif line.strip():
            wrong = next((word for word in line.split()[1:] if not _PAIR.fullmatch(word)), line.split()[0])
            raise _refusal(source, number, f"{wrong[:40].decode('utf-8', 'replace')!r} is no finite number or no pair")
    numbers = np.fromstring(data.replace(b":", b" "), sep=" ")  # all words are numbers, by the match above
    widths = 2 * np.array(counts, dtype=np.int64) + 1
    heads = np.cumsum(widths) - widths
    rest = np.delete(numbers, heads)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    indices = rest[0::2].astype(np.int32)
    infinite = np.flatnonzero(np.isinf(numbers))
    if len(infinite):
        raise _refusal(source, lines[_row(heads, infinite)], "a number is beyond 1.8e308, no finite number")
    falls = np.diff(indices, prepend=-1) <= 0
    falls[starts[:-1][np.diff(starts) > 0]] = False  # the first of a row
    if falls.any():
        raise _refusal(source, lines[_row(starts[:-1], np.flatnonzero(falls))], "the indices do not rise")
    shape = len(counts), int(indices.max(initial=0)) + 1
    return Lines(numbers[heads], sparse.csr_array((rest[1::2], indices, starts), shape=shape))


def _refusal(source: str, line: int, what: str) -> DataError:
    return DataError(f"{source} is not a libsvm file in line {line}: {what}; a line is 'label index:value …'.")


def _row(starts: Array, places: Array) -> int:
    """The row that holds the first of these places."""
    return int(np.searchsorted(starts, places[0], side="right")) - 1


def read_libsvm(data: bytes, source: str) -> Table:
    """The table of a libsvm file: its features sparse, its only column the label."""
    found = parse_lines(data, source)
    # Indices count from one by custom; a file that uses zero counts from zero.
    base = min(1, int(found.entries.indices.min(initial=1)))
    matrix = found.matrix(found.entries.shape[1] - base, base)
    labels = found.labels
    whole = "int" if (labels == np.rint(labels)).all() and np.abs(labels).max(initial=0.0) < 2.0**53 else ""
    return Table((Column(TARGET, "number", labels, whole=whole),), source, (), matrix)


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
        return [part for i, path in enumerate(self.files) for part in line_parts(path, 0, size, i)]

    def _parse(self, part: Part) -> Lines:
        path = self.files[part.file]
        data = bytes_of_part(path, part)
        try:
            found = parse_lines(data, path)
        except DataError:  # once more, with the numbers that the lines have in the file
            before = bytes_of_part(path, replace(part, place=(0, part.place[0])))
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
