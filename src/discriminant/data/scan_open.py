"""Which files a scan means, and in which format they are: told by what is in them, not by their names."""

from __future__ import annotations

import glob
import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from discriminant.data import scan_formats
from discriminant.data.files import _LIBSVM, _nearby, _refuse_foreign, file_head
from discriminant.errors import DataError, MissingFileError, ParameterError

_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", re.I)


def bytes_of(memory: str | int) -> int:
    """ "2GB" → 2_000_000_000.

    >>> bytes_of("1.5 GiB"), bytes_of("300MB")
    (1610612736, 300000000)
    """
    if isinstance(memory, int | np.integer) and not isinstance(memory, bool) and memory > 0:
        return int(memory)
    found = _SIZE.fullmatch(memory) if isinstance(memory, str) else None
    if found is None:
        raise ParameterError(f"memory must be a size such as '2GB' or a number of bytes; got {memory!r}.")
    power = " kmgt".index(found.group(2).lower() or " ")
    return int(float(found.group(1)) * (1024 if found.group(3) else 1000) ** power)


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


def open_format(files: list[str], target: Any, columns: Any, n_features: int | None) -> Any:
    """The files' format, by what is in the first of them."""
    kinds = [_kind(file) for file in files]
    if len(set(kinds)) > 1:
        other = next(i for i, kind in enumerate(kinds) if kind != kinds[0])
        raise DataError(f"{files[0]} is {kinds[0]} and {files[other]} is {kinds[other]}: one scan reads one format.")
    if kinds[0] in ("Parquet", "Arrow", "CSV"):
        _require_pyarrow(files[0], kinds[0])
    if kinds[0] in ("Parquet", "Arrow", ".npy"):
        kind = {"Parquet": scan_formats.Parquet, "Arrow": scan_formats.ArrowFile, ".npy": scan_formats.Npy}[kinds[0]]
        return kind(files, target, columns)  # type: ignore[operator]
    from discriminant.data.scan_text import Csv, Libsvm

    return Csv(files, target, columns) if kinds[0] == "CSV" else Libsvm(files, target, columns, n_features)


def _require_pyarrow(file: str, kind: str) -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise DataError(f"{file} is a {kind} file, which is read by pyarrow: pip install discriminant[io].") from error


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
