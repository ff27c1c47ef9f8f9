"""What a prediction over files gives: results that come part by part, or a file of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from discriminant.data.file_rows import FileRows
from discriminant.errors import DataError, ParameterError
from discriminant.protocols import Array


class Predictions:
    """One result a row of a scan, computed while it is iterated over: part by part, all at once, or into a file.

    Iterating twice reads the files twice.  ``numpy.asarray`` takes all results at once.

    Parameters
    ----------
    rows : FileRows
        Whose rows.
    function : callable
        From rows to one result a row.

    See Also
    --------
    discriminant.scan : Opens files to predict for.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from discriminant import LinearDiscriminantAnalysis, scan
    >>> model = LinearDiscriminantAnalysis().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(os.path.join(folder, "X.npy"), np.array([[0.5], [4.5]]))
    ...     np.asarray(model.predict(scan(os.path.join(folder, "X.npy"))))
    array([0, 1])
    """

    def __init__(self, rows: FileRows, function: Callable[[Any], Array]) -> None:
        self.rows, self.function = rows, function

    def __len__(self) -> int:
        return self.rows.shape[0]

    def __iter__(self) -> Iterator[Array]:
        for start, X in self.rows.parts_here():
            try:
                yield np.asarray(self.function(X))
            except DataError as error:
                where = self.rows.where(start)
                raise DataError(f"In the part of {X.shape[0]} rows from {where} on: {error}") from error

    def to_numpy(self) -> Array:
        """All results in one array.

        Returns
        -------
        ndarray of shape (n,) or (n, K)
            The results.
        """
        return np.concatenate(list(self))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        found = self.to_numpy()
        return found if dtype is None else found.astype(dtype)

    def write(self, path: Any) -> str:
        """Write the results to a file: ``.npy``, ``.csv``, ``.parquet`` or ``.arrow``, by its name.

        Parameters
        ----------
        path : path
            The file.

        Returns
        -------
        str
            The file.
        """
        name = str(os.fspath(path))
        if os.path.exists(name) and any(os.path.samefile(name, file) for file in self.rows.source.files):
            raise ParameterError(f"out={name!r} is a file of the scan itself; choose another name.")
        writers = {".npy": self._npy, ".csv": self._csv, ".parquet": self._arrow, ".arrow": self._arrow}
        write = writers.get(os.path.splitext(name)[1].lower())
        if write is None:
            raise ParameterError(
                f"out={name!r} must end in .npy, .csv, .parquet or .arrow, which says how to write it."
            )
        write(name)
        return name

    def _npy(self, name: str) -> None:
        with open(name, "wb") as file:
            kind: Any = None
            for part in self:
                if kind is None:
                    kind = np.dtype("U64") if part.dtype.hasobject else part.dtype  # text labels at a fixed width
                    head = {"descr": np.lib.format.dtype_to_descr(kind), "fortran_order": False}
                    np.lib.format.write_array_header_1_0(file, {**head, "shape": (len(self), *part.shape[1:])})
                file.write(np.ascontiguousarray(part.astype(kind)).tobytes())

    def _tables(self) -> Iterator[tuple[list[str], Array]]:
        """(names of columns, results (rows, columns)) of each part."""
        for part in self:
            table = part.reshape(len(part), -1)
            width = table.shape[1]
            yield ["prediction"] if width == 1 else [f"prediction_{j}" for j in range(width)], table

    def _csv(self, name: str) -> None:
        import csv

        with open(name, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            for i, (heads, table) in enumerate(self._tables()):
                writer.writerows([heads] * (i == 0) + table.tolist())

    def _arrow(self, name: str) -> None:
        import pyarrow as pa
        import pyarrow.parquet as parquet

        writer: Any = None
        try:
            for heads, table in self._tables():
                lists = [column.tolist() if column.dtype.hasobject else column for column in table.T]
                found = pa.table({head: pa.array(column) for head, column in zip(heads, lists, strict=True)})
                if writer is None:
                    make = parquet.ParquetWriter if name.lower().endswith(".parquet") else pa.ipc.new_file
                    writer = make(name, found.schema)
                writer.write_table(found)
        finally:
            if writer is not None:
                writer.close()
