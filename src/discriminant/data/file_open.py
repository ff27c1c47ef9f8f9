"""Which files are meant, and in which format they are: told by what is in them, not by their names."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import Any

from discriminant.data.file_arrow import IpcSource, ParquetSource
from discriminant.data.file_npy import NpySource
from discriminant.data.file_source import FileSource
from discriminant.data.file_text import CsvSource, LibsvmSource
from discriminant.data.files import _LIBSVM, _nearby, _refuse_foreign, file_head
from discriminant.errors import DataError, MissingFileError


def find_files(path: Any) -> list[str]:
    """The files that are meant, in order."""
    if isinstance(path, list | tuple):
        return [file for each in path for file in find_files(each)]
    name = os.fspath(path)
    if os.path.isdir(name):
        found = sorted(
            os.path.join(folder, file)
            for folder, _, files in os.walk(name)
            for file in files
            if not file.startswith((".", "_"))
        )
        if not found:
            raise DataError(f"The folder {name!r} holds no files.")
        return found
    if os.path.exists(name):
        return [name]
    found = sorted(glob.glob(name, recursive=True))
    if not found:
        wild = any(mark in name for mark in "*?[")
        raise MissingFileError(
            f"No file matches {name!r}." if wild else f"There is no file {name!r}. {_nearby(Path(name))}"
        )
    return found


def open_files(path: Any, target: Any, columns: Any, n_features: int | None) -> FileSource:
    """The files that are meant as a source, by what is in them."""
    files = find_files(path)
    kinds = [_kind(file) for file in files]
    other = next((i for i, kind in enumerate(kinds) if kind != kinds[0]), None)
    if other is not None:
        raise DataError(f"{files[0]} is {kinds[0]} and {files[other]} is {kinds[other]}: one scan reads one format.")
    if kinds[0] == "libsvm":
        return LibsvmSource(files, target, columns, n_features)
    if kinds[0] == ".npy":
        return NpySource(files, target, columns)
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise DataError(
            f"{files[0]} is a {kinds[0]} file, which is read by pyarrow: pip install discriminant[io]."
        ) from error
    kind: Any = {"Parquet": ParquetSource, "Arrow": IpcSource, "CSV": CsvSource}[kinds[0]]
    opened: FileSource = kind(files, target, columns)
    return opened


def _kind(file: str) -> str:
    try:
        with open(file, "rb") as handle:
            head = handle.read(1 << 16)
    except FileNotFoundError as error:
        raise MissingFileError(f"There is no file {file}.") from error
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror or error}.") from error
    for start, kind in ((b"PAR1", "Parquet"), (b"ARROW1", "Arrow"), (b"\x93NUMPY", ".npy")):
        if head.startswith(start):
            return kind
    _refuse_foreign(head, file)
    return "libsvm" if _LIBSVM.match(file_head(file)) else "CSV"
