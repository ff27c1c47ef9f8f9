"""``.npy`` files as parts that are mapped while they are worked on: rows are read where they are needed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.data.file_source import LEAST_ROWS, FileSource, Part, Surveyed
from discriminant.data.rows import DenseRows, MappedRows, Rows
from discriminant.errors import DataError, MissingFileError, ParameterError, names
from discriminant.protocols import Array


@dataclass(frozen=True)
class NpyHead:
    """What the head of an ``.npy`` file says."""

    path: str
    shape: tuple[int, ...]
    offset: int  # of the numbers
    kind: Any
    by_columns: bool  # column-major

    @classmethod
    def of(cls, path: str) -> NpyHead:
        try:
            with open(path, "rb") as file:
                version = np.lib.format.read_magic(file)
                read = {1: np.lib.format.read_array_header_1_0}.get(version[0], np.lib.format.read_array_header_2_0)
                shape, fortran, dtype = read(file)
                return cls(path, shape, file.tell(), dtype, bool(fortran))
        except FileNotFoundError as error:
            raise MissingFileError(f"There is no file {path!r}, which should hold the labels.") from error
        except ValueError as error:
            raise DataError(f"{path} is not an .npy file that can be read: {error}.") from error

    def rows(self, start: int, stop: int) -> Array:
        """Rows start:stop, mapped anew each time: mapped pages count as memory as long as the map is there."""
        order: Any = "F" if self.by_columns else "C"
        try:
            return np.asarray(np.memmap(self.path, self.kind, "r", self.offset, self.shape, order)[start:stop])
        except ValueError as error:
            raise DataError(f"{self.path} ends before its last row: it was changed while it was read.") from error

    def require_table(self) -> NpyHead:
        """Refuse what is no table of numbers, or is cut short."""
        if len(self.shape) != 2 or self.kind.kind not in "fiub":
            raise DataError(
                f"{self.path} holds an array of shape {self.shape} and type {self.kind}; rows of numbers are needed."
            )
        there = os.path.getsize(self.path) - self.offset
        if there < self.shape[0] * self.shape[1] * self.kind.itemsize:
            raise DataError(
                f"{self.path} is cut short: its head promises {self.shape[0]} rows, and {there} bytes follow it."
            )
        return self


class NpySource(FileSource):
    """Two-dimensional ``.npy`` files, one after the other; labels from other ``.npy`` files or from a column."""

    def __init__(self, files: list[str], target: Any = None, columns: Any = None) -> None:
        self.files, self.target = files, target
        self.heads = [NpyHead.of(path).require_table() for path in files]
        self.width, self.kind = self.heads[0].shape[1], self.heads[0].kind
        for head in self.heads:
            if head.shape[1] != self.width or head.kind != self.kind:
                raise DataError(
                    f"{head.path} has {head.shape[1]} columns of {head.kind}, and {files[0]} has {self.width} of "
                    f"{self.kind}: the files of one scan must agree."
                )
        self.dtype = np.dtype(np.float32 if self.kind == np.float32 else np.float64)
        beside = target is None or isinstance(target, str | os.PathLike | list | tuple)
        self.label = None if beside else self._number(target)
        taken = range(self.width) if columns is None else [self._number(c) for c in columns]
        self.chosen = [j for j in taken if j != self.label]
        self.survey_share = 0.0 if beside else 1.0
        self.label_files = self._label_files() if beside and target is not None else []
        if not any(head.by_columns for head in self.heads):
            self.run_rows = max(1, (1 << 16) // max(self.width * self.kind.itemsize, 1))  # 64 kB

    def _number(self, column: Any) -> int:
        if not isinstance(column, int | np.integer) or not -self.width <= column < self.width:
            raise ParameterError(f"columns of an array are numbers from 0 to {self.width - 1}; got {column!r}.")
        return int(column) % self.width

    @property
    def n_features(self) -> int:
        return len(self.chosen)

    def parts(self, size: int) -> list[Part]:
        row = self.width * self.kind.itemsize
        step = max(LEAST_ROWS, size // max(row, 1))
        found = []
        for i, head in enumerate(self.heads):
            for a in range(0, head.shape[0], step):
                rows = min(step, head.shape[0] - a)
                found.append(Part(i, rows, None, a, rows * row))
        return found

    def read(self, part: Part) -> Rows:
        return MappedRows(DenseRows(self._stored(part)), self._features, self.n_features)

    def _stored(self, part: Part) -> Array:
        return self.heads[part.file].rows(part.first, part.first + part.rows)

    def _features(self, X: Array) -> Array:
        chosen = X if self.chosen == list(range(self.width)) else X[:, self.chosen]
        return chosen.astype(self.dtype, copy=False)

    def survey(self, part: Part) -> Surveyed:
        if self.label is not None:
            return Surveyed(self._stored(part)[:, self.label])
        if not self.label_files:
            return Surveyed(None)
        start = sum(head.shape[0] for head in self.heads[: part.file]) + part.first
        labels = []
        for head in self.label_files:
            labels.append(head.rows(max(start, 0), max(start + part.rows, 0)))
            start -= head.shape[0]
        return Surveyed(np.concatenate(labels))

    def _label_files(self) -> list[NpyHead]:
        given = [self.target] if isinstance(self.target, str | os.PathLike) else list(self.target)
        found = [NpyHead.of(os.fspath(path)) for path in given]
        for head in found:
            if len(head.shape) != 1 or head.kind.hasobject:
                raise DataError(
                    f"{head.path} must hold one label for each row: it has shape {head.shape} and type {head.kind}."
                )
        labels, rows = sum(head.shape[0] for head in found), sum(head.shape[0] for head in self.heads)
        if labels != rows:
            raise DataError(f"{names([str(p) for p in given])}: {labels} labels for {rows} rows of {self.files[0]}.")
        return found
