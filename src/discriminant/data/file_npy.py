"""``.npy`` files as parts that are mapped while they are worked on: rows are read where they are needed."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from discriminant.data.file_source import LEAST_ROWS, FileSource, Part, Surveyed, stretches
from discriminant.data.rows import DenseRows, MappedRows, Rows
from discriminant.errors import DataError, MissingFileError, ParameterError, names
from discriminant.protocols import Array


def mapped(path: str) -> Array:
    """The array in a file, mapped anew each time: mapped pages count as memory as long as the map is there."""
    try:
        return np.asarray(np.load(path, mmap_mode="r"))
    except FileNotFoundError as error:
        raise MissingFileError(f"There is no file {path!r}, which should hold the labels.") from error
    except ValueError as error:
        if "size" in str(error):
            raise DataError(
                f"{path} is cut short, or was changed while it was read: its last rows are not there."
            ) from error
        raise DataError(f"{path} is not an .npy file that can be read: {error}.") from error


class NpySource(FileSource):
    """Two-dimensional ``.npy`` files, one after the other; labels from other ``.npy`` files or from a column."""

    def __init__(self, files: list[str], target: Any = None, columns: Any = None) -> None:
        self.files, self.target = files, target
        tables = [mapped(path) for path in files]
        self.lengths, self.width, self.kind = [len(table) for table in tables], 0, tables[0].dtype
        for path, table in zip(files, tables, strict=True):
            if table.ndim != 2 or table.dtype.kind not in "fiub":
                raise DataError(
                    f"{path} holds an array of shape {table.shape} and type {table.dtype}; rows of numbers are needed."
                )
            self.width = self.width or table.shape[1]
            if table.shape[1] != self.width or table.dtype != self.kind:
                raise DataError(
                    f"{path} has {table.shape[1]} columns of {table.dtype}, and {files[0]} has {self.width} of "
                    f"{self.kind}: the files of one scan must agree."
                )
        self.dtype = np.dtype(np.float32 if self.kind == np.float32 else np.float64)
        beside = target is None or isinstance(target, str | os.PathLike | list | tuple)
        self.label = None if beside else self._number(target)
        taken = range(self.width) if columns is None else [self._number(c) for c in columns]
        self.chosen = [j for j in taken if j != self.label]
        self.survey_share = 0.0 if beside else 1.0
        self.label_files = self._label_files() if beside and target is not None else {}
        if all(table.flags.c_contiguous for table in tables):
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
        return [part for i, rows in enumerate(self.lengths) for part in stretches(i, [(0, rows, rows * row)], step)]

    def read(self, part: Part) -> Rows:
        return MappedRows(DenseRows(self._stored(part)), self._features, self.n_features)

    def _stored(self, part: Part) -> Array:
        return mapped(self.files[part.file])[part.first : part.first + part.rows]

    def _features(self, X: Array) -> Array:
        chosen = X if self.chosen == list(range(self.width)) else X[:, self.chosen]
        return chosen.astype(self.dtype, copy=False)

    def survey(self, part: Part) -> Surveyed:
        if self.label is not None:
            return Surveyed(self._stored(part)[:, self.label])
        if not self.label_files:
            return Surveyed(None)
        start, labels = sum(self.lengths[: part.file]) + part.first, []
        for path, length in self.label_files.items():
            labels.append(mapped(path)[max(start, 0) : max(start + part.rows, 0)])
            start -= length
        return Surveyed(np.concatenate(labels))

    def _label_files(self) -> dict[str, int]:
        """How many labels each of the files of labels holds."""
        given = [self.target] if isinstance(self.target, str | os.PathLike) else self.target
        found: dict[str, int] = {}
        for path in map(os.fspath, given):
            labels = mapped(path)
            if labels.ndim != 1:
                raise DataError(
                    f"{path} must hold one label for each row: it has shape {labels.shape} and type {labels.dtype}."
                )
            found[path] = len(labels)
        if sum(found.values()) != sum(self.lengths):
            raise DataError(
                f"{names(list(found))}: {sum(found.values())} labels for {sum(self.lengths)} rows of {self.files[0]}."
            )
        return found
