"""``scan``: rows in files that need not fit in memory, accepted wherever rows are.

    data = discriminant.scan("clicks/*.parquet", target="clicked", memory="2GB")
    model = discriminant.LogisticRegression().fit(data)
    model.predict_proba(data, out="chances.parquet")

What is known beforehand comes from the files' heads and from one pass over the columns of labels and text.  A fit then
reads the files as few times as its method allows (``data.passes`` counts), a part at a time, and never holds more than
``memory``.  Data that are small beside that are read once and held.
"""

from __future__ import annotations

import copy
import glob
import itertools
import os
import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from discriminant.arguments import BOOLEAN, COUNT, Allowed, checked, optional
from discriminant.data.blocks import ArrayBlocks, make_blocks
from discriminant.data.check import check_weights
from discriminant.data.csv_text import CsvSource, file_head
from discriminant.data.file_arrow import IpcSource, ParquetSource, taken_from
from discriminant.data.file_blocks import Budget, FileBlocks, FileRows, Progress
from discriminant.data.file_npy import NpySource
from discriminant.data.file_source import FileSource
from discriminant.data.files import LIBSVM, nearby, refuse_foreign
from discriminant.data.labels import encode_labels, recode
from discriminant.data.libsvm import LibsvmSource
from discriminant.data.preprocess import Preprocess, gathered
from discriminant.data.row_sample import stack
from discriminant.data.sources import PartSource, documented
from discriminant.errors import DataError, MissingFileError, ParameterError, names
from discriminant.protocols import Array, Dtype

_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", re.I)


UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
FILES = Allowed(
    "a path, a list of paths, or a table that is read when it is needed",
    lambda value: not (value is None or isinstance(value, Real) or (isinstance(value, list | tuple) and not value)),
)
TARGET = Allowed("the name or the number of a column", lambda value: isinstance(value, Hashable))
COLUMNS = Allowed(
    "a list of names or numbers of columns",
    lambda value: isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes) and len(value) > 0,
)
PROGRESS = Allowed("True, False or a function", lambda value: isinstance(value, bool | np.bool_) or callable(value))


@documented
@checked(
    path=FILES,
    target=optional(TARGET),
    columns=optional(COLUMNS),
    hold=optional(BOOLEAN),
    progress=PROGRESS,
    n_features=optional(COUNT),
)
def scan(
    path: Any,
    target: Any = None,
    *,
    columns: Sequence[Any] | None = None,
    memory: str | int = "2GB",
    hold: bool | None = None,
    progress: Any = False,
    n_features: int | None = None,
    connection: Any = None,
) -> Scan:
    """Rows in files, larger than memory if need be: a source for ``fit``, ``predict``, ``score``, ``separability``.

    Parameters
    ----------
    path : path, str, list of paths, query or iterator
        A file, a folder, a pattern such as ``"data/*.parquet"``, or a list of files: Parquet, Arrow IPC (Feather), CSV,
        libsvm or ``.npy``, recognised by what is in them.  Or a LazyFrame of polars, a relation of DuckDB, an Arrow
        reader or dataset, SQL with a ``connection``, or an iterator of tables: run once, into a temporary file.
    target : str, int, path or None, default=None
        The name of the label's column; for ``.npy`` the file (or files) of labels, or the number of a column; None:
        rows without labels.
    columns : sequence of str or int, or None, default=None
        The columns to learn from, by name (``.npy``: by number); None: all but the target.
    memory : str or int, default="2GB"
        What the whole process may take at most, prefetched parts included: such as "2GB", or a number of bytes.
    hold : bool or None, default=None
        Keep the rows in memory after reading them once; None: where they take a quarter of ``memory`` at most.
    progress : bool or callable, default=False
        True prints rows a second and the time left; a function is called with them as keywords.
    n_features : int or None, default=None
        libsvm only: the number of features, where a file may not show the last ones.
    connection : database connection or None, default=None
        Of DuckDB, or any of Python's database interface: ``path`` is then a query in SQL.

    Raises
    ------
    DataError
        Where a file is missing, damaged or of another kind.

    >>> import numpy as np, tempfile, os
    >>> import discriminant
    >>> folder = tempfile.TemporaryDirectory()
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> np.save(os.path.join(folder.name, "X.npy"), X)
    >>> np.save(os.path.join(folder.name, "y.npy"), (X[:, 0] > 0).astype(int))
    >>> rows = discriminant.scan(os.path.join(folder.name, "X.npy"), target=os.path.join(folder.name, "y.npy"))
    >>> rows.shape, discriminant.LogisticRegression().fit(rows).score(rows) > 0.95
    ((300, 3), True)
    >>> folder.cleanup()
    """
    if connection is not None or not isinstance(path, str | os.PathLike | list | tuple):
        from discriminant.data.queries import scan_query

        options = {"columns": columns, "memory": memory, "hold": hold, "progress": progress}
        return scan_query(path, target, options, connection)
    source = open_files(path, target, columns, n_features)
    return Scan(source, Budget.of(bytes_of(memory)), hold, Progress.of(progress))


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


@documented
class Scan(PartSource):
    """Files as a source of rows, which ``fit``, ``predict``, ``score`` and ``separability`` take in place of X.

    Each pass reads the files part by part, ahead of the arithmetic, within a limit of memory.

    Parameters
    ----------
    source : FileSource
        The files of one format, opened.
    budget : Budget
        How the memory is shared.
    hold : bool or None
        Keep the rows in memory after reading them once; None: where they are few.
    progress : Progress
        Whom to tell how far a pass is.

    See Also
    --------
    scan : Opens files.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(os.path.join(folder, "X.npy"), np.eye(3))
    ...     scan(os.path.join(folder, "X.npy")).shape
    (3, 3)
    """

    def __init__(self, source: FileSource, budget: Budget, hold: bool | None, progress: Progress) -> None:
        self.rows, self.hold = FileRows(source, budget, progress), hold

    @property
    def source(self) -> FileSource:
        """The files."""
        return self.rows.source

    def __repr__(self) -> str:
        files = self.source.files
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        size = self.rows.size
        unit, name = next(((unit, name) for unit, name in UNITS if size >= unit), (1, "bytes"))
        return f"<scan of {files[0]}{more}, {size / unit:,.{int(size < 10 * unit and unit > 1)}f} {name}>"

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows.shape

    @property
    def dtype(self) -> Dtype:
        """The type of the numbers."""
        return self.source.dtype

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The columns' names, or None where the files have none."""
        _ = self.rows.starts  # levels of text become names
        return self.source.names

    @property
    def column_names(self) -> tuple[str, ...] | None:
        return None if self.source.columns is None else tuple(self.source.columns.names)

    @property
    def encoding(self) -> Preprocess | None:
        _ = self.rows.starts  # levels are known
        columns = self.source.columns
        return Preprocess(columns.all_rules) if columns is not None and columns.text else None

    def encoded(self, rules: Preprocess) -> Scan:
        columns = self.source.columns
        if columns is None or (columns.rules and columns.all_rules == rules.rules):
            return self
        source = copy.copy(self.source)
        source.columns = columns.known(rules.rules, self.source.files[0])
        return Scan(source, self.rows.budget, self.hold, self.rows.progress)

    @property
    def passes(self) -> float:
        """How often the files have been read so far, in whole and in part."""
        return self.rows.passes

    @property
    def notes(self) -> tuple[str, ...]:
        """What was decided about columns of text."""
        _ = self.rows.starts
        return () if self.source.columns is None else gathered(self.source.columns.notes)

    @property
    def classes(self) -> Array:
        """The distinct labels, in order."""
        return self._labels()[0]

    def _labels(self) -> tuple[Array, Array]:
        """(classes, codes of all rows)."""
        if self.source.target is None:
            raise DataError(
                f"{self.source.files[0]} was opened without a target: say which column holds the labels, "
                "discriminant.scan(path, target=…)."
            )
        return self.rows.survey.classes, self.rows.survey.codes

    def training(self, y: Any, sample_weight: Any, classes: Array | None) -> tuple[ArrayBlocks, Array]:
        began, n = self.passes, self.shape[0]
        if y is None:
            found, codes = self._labels()
            if classes is not None:
                found, codes = np.asarray(classes), recode(found, np.asarray(codes), np.asarray(classes))
        else:
            found, codes = encode_labels(y, classes, n)
        weight = check_weights(sample_weight, n)
        if self._is_held():
            return make_blocks(self.whole(), np.asarray(codes), weight), found
        return FileBlocks(self.rows, codes, weight, began=began), found

    def _is_held(self) -> bool:
        if self.hold is not None:
            return bool(self.hold)
        budget = self.rows.budget
        size = (12 if self.source.is_sparse else 8) * self.rows.n_values
        return size <= budget.memory // 4 and size <= 3 * budget.sample

    def whole(self) -> Any:
        """All rows in memory."""
        if self.source.is_sparse:
            return stack([X for _, X in self.rows.parts_here()])
        found = np.empty(self.shape, self.dtype)
        for start, X in self.rows.parts_here():
            found[start : start + len(X)] = X
        return found

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        """(rows, labels) of each part; labels None where there are none."""
        found = self._labels() if self.source.target is not None else None
        for start, X in self.rows.parts_here():
            yield X, None if found is None else found[0][np.asarray(found[1][start : start + X.shape[0]])]

    def apply(self, function: Callable[[Any], Array], out: Any = None) -> Any:
        results = Predictions(self.rows, function)
        return results if out is None else results.write(out)

    def known_classes(self, y: Any) -> Array:
        return self.classes if y is None else super().known_classes(y)

    def labelled(self, y: Any, sample_weight: Any) -> Iterator[tuple[Any, Any, Array | None]]:
        given, weight, start = None if y is None else np.asarray(y), check_weights(sample_weight, self.shape[0]), 0
        for X, own in self:
            part = slice(start, start + X.shape[0])
            yield X, own if given is None else given[part], None if weight is None else weight[part]
            start = part.stop


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
            f"No file matches {name!r}." if wild else f"There is no file {name!r}. {nearby(Path(name))}"
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
    refuse_foreign(head, file)
    return "libsvm" if LIBSVM.match(file_head(file)) else "CSV"


@documented
class Predictions:
    """One result a row of a scan, computed while it is iterated over: part by part, all at once, or into a file.

    Iterating twice reads the files twice.  ``numpy.asarray`` takes all results at once.

    Parameters
    ----------
    rows : FileRows
        Whose rows.
    function

    See Also
    --------
    discriminant.scan : Opens files to predict for.

    >>> import os, tempfile
    >>> model = LinearDiscriminantAnalysis().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(os.path.join(folder, "X.npy"), np.array([[0.5], [4.5]]))
    ...     np.asarray(model.predict(scan(os.path.join(folder, "X.npy"))))
    array([0, 1])
    """

    def __init__(self, rows: FileRows, function: Callable[[Any], Array]) -> None:
        self.rows, self.function = rows, function

    def __repr__(self) -> str:
        return "<predictions, computed while they are iterated over; numpy.asarray takes them all>"

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
        """All results in one array."""
        return np.concatenate(list(self))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        found = self.to_numpy()
        return found if dtype is None else found.astype(dtype)

    def to_reader(self, columns: Sequence[str] = ()) -> Any:
        """The results as an Arrow stream, which databases and data frames read: one batch a part.

        ``duckdb.sql("CREATE TABLE scored AS SELECT * FROM reader")``, ``polars.from_arrow(reader)``.

        Parameters
        ----------
        columns : sequence of str, default=()
            Columns of the rows that go along, such as a key; of Parquet and Arrow files and of queries.

        Returns
        -------
        pyarrow.RecordBatchReader
            With the columns asked for and ``prediction``, or ``prediction_0``, … for results of several columns.

        Raises
        ------
        DataError
            Where the rows have no such column.
        """
        import pyarrow as pa

        batches = self._batches(list(columns))
        first = next(batches)
        return pa.RecordBatchReader.from_batches(first.schema, itertools.chain([first], batches))

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_reader().__arrow_c_stream__(requested_schema)

    def _batches(self, columns: list[str]) -> Iterator[Any]:
        import pyarrow as pa

        beside = self._beside(columns) if columns else None
        for results in self._columns():
            found = {name: pa.array(column.tolist() if column.dtype.hasobject else column) for name, column in results}
            own = {} if beside is None else beside(len(results[0][1]))
            yield pa.table({**{name: own[name] for name in columns}, **found}).combine_chunks().to_batches()[0]

    def _beside(self, columns: list[str]) -> Callable[[int], Any]:
        """What hands out these columns of the next so many rows."""
        import pyarrow.dataset

        files = [str(file) for file in self.rows.source.files]
        ending = os.path.splitext(files[0])[1].lower()
        if ending not in (".parquet", ".arrow", ".feather"):
            raise DataError(f"Columns go along from Parquet and Arrow files and from queries, and not from {files[0]}.")
        rows = pyarrow.dataset.dataset(files, format="parquet" if ending == ".parquet" else "ipc")
        absent = [name for name in columns if name not in rows.schema.names]
        if absent:
            raise DataError(f"The rows have no column {names(absent)}; there are {names(rows.schema.names)}.")
        return taken_from(rows.scanner(columns=columns).to_reader(), rows.schema.empty_table().select(columns))

    def write(self, path: Any) -> str:
        """Write the results to a file: ``.npy``, ``.csv``, ``.parquet`` or ``.arrow``, by its name.

        Parameters
        ----------
        path : path
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

    def _columns(self) -> Iterator[list[tuple[str, Array]]]:
        """(name, results) of each column of each part."""
        for part in self:
            columns = part.reshape(len(part), -1).T
            yield [("prediction" if len(columns) == 1 else f"prediction_{j}", each) for j, each in enumerate(columns)]

    def _csv(self, name: str) -> None:
        import csv

        with open(name, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            for i, results in enumerate(self._columns()):
                heads, columns = zip(*results, strict=True)
                writer.writerows([heads] * (i == 0))
                writer.writerows(zip(*(column.tolist() for column in columns), strict=True))

    def _arrow(self, name: str) -> None:
        import pyarrow as pa
        import pyarrow.parquet as parquet

        reader = self.to_reader()
        make: Any = parquet.ParquetWriter if name.lower().endswith(".parquet") else pa.ipc.new_file
        with make(name, reader.schema) as writer:
            for batch in reader:
                writer.write_batch(batch)
