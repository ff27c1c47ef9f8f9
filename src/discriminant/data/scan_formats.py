"""Binary files as parts: ``.npy`` arrays, Parquet and Arrow IPC.

Each format knows its files' rows from their heads, reads only the columns that are asked for, and cuts itself into
parts of about the size it is told.  ``.npy`` rows are read straight from the file, never mapped: mapped pages would
count as the process's memory.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from discriminant.data.scan_columns import Encoders, arrow_codes, arrow_numbers, kind_of
from discriminant.data.scan_parts import Columns, Dense, Part, Stored, read_items
from discriminant.errors import DataError, MissingFileError, ParameterError, names
from discriminant.protocols import Array


@dataclass(eq=False)
class Npy:
    """Two-dimensional ``.npy`` files, one after the other; labels from other ``.npy`` files or from a column."""

    files: list[str]
    target: Any = None  # a path, a list of paths, or the number of a column
    columns: Any = None
    is_sparse: bool = False
    _open: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.heads = [self._head(path) for path in self.files]
        width, kind = self.heads[0][0][1], self.heads[0][2]
        for path, (shape, _, dtype, _) in zip(self.files, self.heads, strict=True):
            if shape[1] != width or dtype != kind:
                raise DataError(
                    f"{path} has {shape[1]} columns of {dtype}, and {self.files[0]} has {width} of {kind}: the files "
                    "of one scan must agree."
                )
        self.width, self.kind = width, kind
        self.dtype = np.dtype(np.float32 if kind == np.float32 else np.float64)
        self.label = self._label_column()
        taken = range(width) if self.columns is None else [self._number(c) for c in self.columns]
        chosen = [j for j in taken if j != self.label]
        self.chosen = None if chosen == list(range(width)) else np.array(chosen, dtype=np.intp)
        self.n_features = len(chosen)
        self.names = None

    def _number(self, column: Any) -> int:
        if not isinstance(column, int | np.integer) or not -self.width <= column < self.width:
            raise ParameterError(f"columns of an array are numbers from 0 to {self.width - 1}; got {column!r}.")
        return int(column) % self.width

    def _label_column(self) -> int | None:
        if self.target is None or isinstance(self.target, str | os.PathLike | list | tuple):
            return None
        return self._number(self.target)

    def _any_head(self, path: str) -> tuple[tuple[int, ...], int, Any, bool]:
        """(shape, offset of the data, type, whether it is column-major)."""
        try:
            with open(path, "rb") as file:
                version = np.lib.format.read_magic(file)
                read = {1: np.lib.format.read_array_header_1_0}.get(version[0], np.lib.format.read_array_header_2_0)
                shape, fortran, dtype = read(file)
                return shape, file.tell(), dtype, bool(fortran)
        except FileNotFoundError as error:
            raise MissingFileError(f"There is no file {path!r}, which should hold the labels.") from error
        except ValueError as error:
            raise DataError(f"{path} is not an .npy file that can be read: {error}.") from error

    def _head(self, path: str) -> tuple[tuple[int, int], int, Any, bool]:
        shape, offset, dtype, fortran = self._any_head(path)
        if len(shape) != 2 or dtype.kind not in "fiub":
            raise DataError(f"{path} holds an array of shape {shape} and type {dtype}; rows of numbers are needed.")
        there = os.path.getsize(path) - offset
        if there < shape[0] * shape[1] * dtype.itemsize:
            raise DataError(f"{path} is cut short: its head promises {shape[0]} rows, and {there} bytes follow it.")
        return (int(shape[0]), int(shape[1])), offset, dtype, fortran

    def parts(self, size: int) -> list[Part]:
        found = []
        for i, (shape, *_rest) in enumerate(self.heads):
            bytes_of = self.width * self.kind.itemsize
            step = max(256, size // max(bytes_of, 1))
            found += [
                Part(i, min(step, shape[0] - a), a, a, min(step, shape[0] - a) * bytes_of)
                for a in range(0, shape[0], step)
            ]
        return found

    @cached_property
    def by_row(self) -> list[Part] | None:
        """The files as one part each, where any row of them can be read without the others; else None."""
        if any(fortran for *_, fortran in self.heads):
            return None
        width = self.width * self.kind.itemsize
        return [Part(i, shape[0], 0, 0, shape[0] * width) for i, (shape, *_) in enumerate(self.heads)]

    def load(self, part: Part) -> Any:
        """The part, all of which will be wanted soon."""
        piece = self.piece(part)
        if isinstance(piece, Stored):
            with contextlib.suppress(AttributeError, OSError):  # the disk works while others compute
                os.posix_fadvise(piece.descriptor, piece.offset, part.size, os.POSIX_FADV_WILLNEED)
        return piece

    def piece(self, part: Part) -> Any:
        """The part, of which some rows are wanted."""
        (n, _), offset, kind, fortran = self.heads[part.file]
        if fortran:
            columns = np.arange(self.width) if self.chosen is None else self.chosen
            values = [self._column(part, int(j), n, offset, kind) for j in columns]
            return Columns(values, part.rows, self.n_features, self.dtype)
        descriptor = self._descriptor(self.files[part.file])
        at = offset + part.place * self.width * kind.itemsize
        return Stored(descriptor, at, part.rows, self.width, kind, self.chosen, self.dtype)

    def _column(self, part: Part, j: int, n: int, offset: int, kind: Any) -> Array:
        at = offset + (j * n + part.place) * kind.itemsize
        data = os.pread(self._descriptor(self.files[part.file]), part.rows * kind.itemsize, at)
        return np.frombuffer(data, dtype=kind)

    def _descriptor(self, path: str) -> int:
        """The open file, which several threads read at places of their own."""
        kept = self._open.get(path)
        if kept is None:
            kept = self._open[path] = os.open(path, os.O_RDONLY)
            weakref.finalize(self, os.close, kept)
        return kept

    def labels(self, part: Part) -> Any:
        """The labels of a part's rows."""
        if self.label is not None:
            (n, _), offset, kind, fortran = self.heads[part.file]
            if fortran:
                return self._column(part, self.label, n, offset, kind)
            only = np.array([self.label])
            at = offset + part.place * self.width * kind.itemsize
            whole = Stored(self._descriptor(self.files[part.file]), at, part.rows, self.width, kind, only, kind)
            return whole.take(np.arange(part.rows))[:, 0]
        start = sum(self.heads[i][0][0] for i in range(part.file)) + part.first
        return self.many_labels(start, start + part.rows)

    def labels_at(self, index: Array) -> Array:
        """The labels of these rows alone; of files with ``by_row``."""
        if self.label is not None:
            only, found = np.array([self.label]), np.empty((len(index), 1), self.kind)
            ends = np.cumsum([shape[0] for shape, *_ in self.heads])
            for i, ((n, _), offset, kind, _) in enumerate(self.heads):
                mine = (index >= ends[i] - n) & (index < ends[i])
                whole = Stored(self._descriptor(self.files[i]), offset, n, self.width, kind, only, kind)
                found[mine] = whole.take(index[mine] - (ends[i] - n))
            return found[:, 0]
        files, at = self._label_files, 0
        labels = np.empty(len(index), np.result_type(*(kind for *_, kind in files)))
        for path, n, offset, kind in files:
            mine = (index >= at) & (index < at + n)
            own = np.empty(int(mine.sum()), kind)
            read_items(self._descriptor(path), offset, index[mine] - at, own)
            labels[mine] = own
            at += n
        return labels

    def many_labels(self, start: int, stop: int) -> Array:
        """The labels of rows start:stop of all files, from files of their own."""
        found, at = [], 0
        for path, n, offset, kind in self._label_files:
            a, b = max(start - at, 0), min(stop - at, n)
            if b > a:
                found.append(np.fromfile(path, dtype=kind, count=b - a, offset=offset + a * kind.itemsize))
            at += n
        return found[0] if len(found) == 1 else np.concatenate(found)

    @cached_property
    def _label_files(self) -> list[tuple[str, int, int, Any]]:
        given = [self.target] if isinstance(self.target, str | os.PathLike) else list(self.target)
        found = []
        for path in given:
            shape, offset, kind, _ = self._any_head(os.fspath(path))
            if len(shape) != 1 or kind.hasobject:
                raise DataError(f"{path} must hold one label for each row: it has shape {shape} and type {kind}.")
            found.append((os.fspath(path), int(shape[0]), offset, kind))
        labels, rows = sum(n for _, n, _, _ in found), sum(shape[0] for shape, *_ in self.heads)
        if labels != rows:
            raise DataError(f"{names([str(p) for p in given])}: {labels} labels for {rows} rows of {self.files[0]}.")
        return found

    @property
    def label_share(self) -> float:
        """What a look at the labels alone costs, in passes."""
        return 0.0 if self.label is None else 1.0


class Arrowed:
    """What Parquet and Arrow files share: named, typed columns, checked against the first file's."""

    is_sparse = False

    def __init__(self, files: list[str], target: Any = None, columns: Sequence[str] | None = None) -> None:
        self.files, self.target = files, target
        self.lock = threading.Lock()
        self.opened: dict[int, Any] = {}
        schema = self.schema(0)
        for i in range(1, len(files)):
            self._require_same(schema, self.schema(i), files[i])
        self.encoders = Encoders.of_arrow(schema, files[0], target, columns)
        self.dtype = self.encoders.dtype

    @property
    def names(self) -> tuple[str, ...]:
        return self.encoders.feature_names

    @property
    def n_features(self) -> int:
        return self.encoders.width

    def schema(self, i: int) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must say which columns a file has.")

    def _require_same(self, schema: Any, other: Any, path: str) -> None:
        known = {field.name: field.type for field in schema}
        for field_ in other:
            if field_.name not in known:
                raise DataError(f"{path} has a column {field_.name!r} that {self.files[0]} does not have.")
            if kind_of(field_.type) != kind_of(known[field_.name]):
                raise DataError(
                    f"Column {field_.name!r} holds {field_.type} in {path} and {known[field_.name]} in "
                    f"{self.files[0]}: the files of one scan must agree."
                )
        absent = [name for name in known if name not in other.names]
        if absent:
            raise DataError(f"{path} lacks the column {names(absent)}, which {self.files[0]} has.")

    def load(self, part: Part) -> Any:
        batch = self.batch(part, self.encoders.columns)
        values = [self.encoders.encode(name, batch.column(name)) for name in self.encoders.columns]
        if all(isinstance(v, np.ndarray) for v in values) and len(values) == 1:
            return Dense(values[0][:, None].astype(self.dtype, copy=False))
        return Columns(values, part.rows, self.n_features, self.dtype)

    def labels(self, part: Part) -> Any:
        return self.column(part, self.target)

    def column(self, part: Part, name: str) -> Any:
        """One column: numbers, or (codes, levels) of text."""
        values = self.batch(part, [name]).column(name)
        if kind_of(values.type) in ("number", "whole", "truth"):
            return arrow_numbers(values)
        return arrow_codes(values)

    def batch(self, part: Part, columns: Sequence[str]) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must read its parts.")


class Parquet(Arrowed):
    """Parquet files; a part is a row group, or a stretch of one that is too large."""

    def _file(self, i: int) -> Any:
        import pyarrow.parquet as parquet

        if i not in self.opened:
            # Read through a small buffer a column, not a column chunk at once: row groups may be large.
            self.opened[i] = parquet.ParquetFile(self.files[i], buffer_size=1 << 18, pre_buffer=False)
        return self.opened[i]

    def schema(self, i: int) -> Any:
        return self._file(i).schema_arrow

    @property
    def label_share(self) -> float:
        return 1.0 / (len(self.encoders.columns) + 1)

    def parts(self, size: int) -> list[Part]:
        found = []
        for i in range(len(self.files)):
            meta, first = self._file(i).metadata, 0
            for g in range(meta.num_row_groups):
                group = meta.row_group(g)
                step = max(256, size // max(8 * self.n_features, 1))
                pieces = max(1, -(-group.num_rows // step))
                edges = np.linspace(0, group.num_rows, pieces + 1).astype(int)
                for k, (a, b) in enumerate(itertools.pairwise(edges)):
                    share = group.total_byte_size // pieces
                    found.append(Part(i, int(b - a), (g, k, [int(e) for e in edges]), first + int(a), share))
                first += group.num_rows
        return found

    def batch(self, part: Part, columns: Sequence[str]) -> Any:
        import pyarrow as pa

        group, k, edges = part.place
        try:
            with self.lock:
                return self._stretch(part.file, group, k, edges, tuple(columns))
        except pa.ArrowException as error:
            raise DataError(f"{self.files[part.file]} is damaged: {str(error).splitlines()[0]}.") from error

    def _stretch(self, file: int, group: int, k: int, edges: list[int], columns: tuple[str, ...]) -> Any:
        """Rows edges[k]:edges[k+1] of a row group; walking forward reads each stretch once."""
        import pyarrow as pa

        if len(edges) == 2:
            return self._file(file).read_row_group(group, columns=list(columns)).combine_chunks()
        key = (file, group, columns)
        kept = getattr(self, "_cursor", None)
        if kept is None or kept[0] != key or kept[1] > k:
            step = max(b - a for a, b in itertools.pairwise(edges))
            batches = self._file(file).iter_batches(step, row_groups=[group], columns=list(columns))
            kept = [key, 0, batches, None, 0]
            self._cursor = kept
        # kept: key, next stretch, iterator, rows left over from the last batch, unused
        while True:
            wanted, have = edges[kept[1] + 1] - edges[kept[1]], kept[3]
            while have is None or have.num_rows < wanted:
                more = pa.Table.from_batches([next(kept[2])])
                have = more if have is None else pa.concat_tables([have, more])
            found, kept[3] = have.slice(0, wanted).combine_chunks(), have.slice(wanted)
            kept[1] += 1
            if kept[1] > k:
                return found


class ArrowFile(Arrowed):
    """Arrow IPC (Feather) files; a part is a record batch, or a stretch of one that is too large."""

    def schema(self, i: int) -> Any:
        import pyarrow as pa

        with pa.OSFile(self.files[i], "rb") as file:
            try:
                return pa.ipc.open_file(file).schema
            except pa.ArrowException as error:
                raise DataError(f"{self.files[i]} is damaged: {str(error).splitlines()[0]}.") from error

    @property
    def label_share(self) -> float:
        return 1.0 / (len(self.encoders.columns) + 1)

    def parts(self, size: int) -> list[Part]:
        import pyarrow as pa

        found = []
        for i, path in enumerate(self.files):
            first = 0
            # A map of the file: batches are seen without being read, only their lengths are asked for here.
            with pa.memory_map(path) as file:
                reader = pa.ipc.open_file(file)
                each = os.path.getsize(path)
                lengths = [reader.get_batch(b).num_rows for b in range(reader.num_record_batches)]
            total = max(sum(lengths), 1)
            for b, n in enumerate(lengths):
                step = max(256, size // max(8 * self.n_features, 1))
                for a in range(0, n, step):
                    rows = min(step, n - a)
                    found.append(Part(i, rows, (b, a), first + a, each * rows // total))
                first += n
        return found

    def batch(self, part: Part, columns: Sequence[str]) -> Any:
        import pyarrow as pa

        number, start = part.place
        path = self.files[part.file]
        try:
            # Mapped for the copy of these rows only: what stays mapped would count as the process's memory.
            with pa.memory_map(path) as file:
                fields = [self.schema_index(part.file)[name] for name in columns]
                reader = pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(included_fields=sorted(fields)))
                rows = reader.get_batch(number).slice(start, part.rows)
                return pa.Table.from_batches([_copied(rows)])
        except pa.ArrowException as error:
            raise DataError(f"{path} is damaged: {str(error).splitlines()[0]}.") from error

    def schema_index(self, i: int) -> dict[str, int]:
        """Name → position of the columns of a file."""
        if i not in self.opened:
            self.opened[i] = {name: j for j, name in enumerate(self.schema(i).names)}
        found: dict[str, int] = self.opened[i]
        return found


def _copied(batch: Any) -> Any:
    """The batch in memory of its own."""
    import pyarrow as pa

    return pa.RecordBatch.from_arrays(
        [pa.concat_arrays([column, column.slice(0, 0)]) for column in batch.columns], names=batch.schema.names
    )
