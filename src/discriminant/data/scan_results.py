"""What a prediction over a scan gives: results that come part by part, or a file of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from discriminant.errors import DataError, ParameterError
from discriminant.protocols import Array


class Streamed:
    """One result a row, worked out while it is walked: iterate over parts, take all, or write to a file.

    Walking twice reads the files twice.  ``numpy.asarray`` takes all results at once.
    """

    def __init__(self, scan: Any, function: Callable[[Any], Array]) -> None:
        self.scan, self.function = scan, function

    def __len__(self) -> int:
        return int(self.scan.n_rows)

    def __iter__(self) -> Iterator[Array]:
        self.scan._look()
        for start, piece in self.scan.parts.walk():
            try:
                yield np.asarray(self.function(piece.take(np.arange(piece.rows))))
            except DataError as error:
                where = self.scan.parts.where(start)
                raise DataError(f"In the part of {piece.rows} rows from {where} on: {error}") from error

    def to_numpy(self) -> Array:
        """All results in one array."""
        return np.concatenate(list(self))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        found = self.to_numpy()
        return found if dtype is None else found.astype(dtype)

    def write(self, path: Any) -> str:
        """To a file: ``.npy``, ``.csv``, ``.parquet`` or ``.arrow``, by its name."""
        name = str(os.fspath(path))
        if os.path.exists(name) and any(os.path.samefile(name, file) for file in self.scan.format.files):
            raise ParameterError(f"out={name!r} is a file of the scan itself; choose another name.")
        ending = os.path.splitext(name)[1].lower()
        writers = {".npy": self._npy, ".csv": self._csv, ".parquet": self._arrow, ".arrow": self._arrow}
        if ending not in writers:
            raise ParameterError(
                f"out={name!r} must end in .npy, .csv, .parquet or .arrow, which says how to write it."
            )
        writers[ending](name)
        return name

    def _npy(self, name: str) -> None:
        n = len(self)
        with open(name, "wb") as file:
            kind: Any = None
            for part in self:
                if kind is None:
                    kind = _storable(part.dtype)
                    head = {"descr": np.lib.format.dtype_to_descr(kind), "fortran_order": False}
                    np.lib.format.write_array_header_1_0(file, {**head, "shape": (n, *part.shape[1:])})
                file.write(np.ascontiguousarray(part.astype(kind)).tobytes())

    def _csv(self, name: str) -> None:
        import csv

        with open(name, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            for i, part in enumerate(self):
                table = part.reshape(len(part), -1)
                if i == 0:
                    writer.writerow(_columns(table.shape[1]))
                writer.writerows(table.tolist())

    def _arrow(self, name: str) -> None:
        import pyarrow as pa

        writer: Any = None
        try:
            for part in self:
                table = part.reshape(len(part), -1)
                heads = _columns(table.shape[1])
                lists = [column.tolist() if column.dtype.hasobject else column for column in table.T]
                found = pa.table({head: pa.array(column) for head, column in zip(heads, lists, strict=True)})
                if writer is None:
                    writer = _arrow_writer(name, found.schema)
                writer.write_table(found)
        finally:
            if writer is not None:
                writer.close()


def _storable(kind: Any) -> Any:
    """Text labels are stored at a fixed width."""
    return np.dtype("U64") if kind.hasobject else kind


def _columns(width: int) -> list[str]:
    return ["prediction"] if width == 1 else [f"prediction_{j}" for j in range(width)]


def _arrow_writer(name: str, schema: Any) -> Any:
    if name.lower().endswith(".parquet"):
        import pyarrow.parquet as parquet

        return parquet.ParquetWriter(name, schema)
    import pyarrow as pa

    return pa.ipc.new_file(name, schema)
