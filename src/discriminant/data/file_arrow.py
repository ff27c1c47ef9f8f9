"""Parquet and Arrow IPC files as parts, by pyarrow."""

from __future__ import annotations

import os
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

from discriminant.data.file_source import LEAST_ROWS, ColumnSource, FileColumns, Part, stretches
from discriminant.data.tables import kind_of
from discriminant.errors import DataError, names


class ArrowSource(ColumnSource):
    """Parquet and Arrow files: typed columns, those of all files like the first file's."""

    def __init__(self, files: list[str], target: Any = None, columns: Sequence[str] | None = None) -> None:
        self.files, self.target = files, target
        self.lock = threading.Lock()
        schema, *others = map(self.schema, range(len(files)))
        for path, other in zip(files[1:], others, strict=True):
            self._require_same(schema, other, path)
        self.columns = FileColumns.of_schema(schema, files[0], target, columns)
        self.dtype = self.columns.dtype
        self.survey_share = (len(self.columns.text) + (target is not None)) / (len(self.columns.names) + 1)

    @abstractmethod
    def schema(self, i: int) -> Any:
        """The names and types of a file's columns."""

    @abstractmethod
    def groups(self, i: int) -> list[tuple[int, int, int]]:
        """(number, rows, bytes) of each row group or record batch of a file."""

    @abstractmethod
    def _read_table(self, part: Part, columns: list[str]) -> Any: ...

    def parts(self, size: int) -> list[Part]:
        step = max(LEAST_ROWS, size // max(8 * self.n_features, 1))
        return [part for i in range(len(self.files)) for part in stretches(i, self.groups(i), step)]

    def _require_same(self, schema: Any, other: Any, path: str) -> None:
        known = {field.name: field.type for field in schema}
        for one in other:
            if one.name not in known:
                raise DataError(f"{path} has a column {one.name!r} that {self.files[0]} does not have.")
            if kind_of(one.type) != kind_of(known[one.name]):
                raise DataError(
                    f"Column {one.name!r} holds {one.type} in {path} and {known[one.name]} in {self.files[0]}: the "
                    "files of one scan must agree."
                )
        absent = [name for name in known if name not in other.names]
        if absent:
            raise DataError(f"{path} lacks the column {names(absent)}, which {self.files[0]} has.")

    def table(self, part: Part, columns: Sequence[str]) -> Any:
        import pyarrow as pa

        try:
            with self.lock:
                return self._read_table(part, list(columns))
        except pa.ArrowException as error:
            raise DataError(f"{self.files[part.file]} is damaged: {str(error).splitlines()[0]}.") from error


def taken_from(batches: Iterable[Any], held: Any) -> Callable[[int], Any]:
    """What hands out the next so many rows of batches, however long these are; ``held``: a table without rows."""
    import pyarrow as pa

    coming = iter(batches)

    def take(count: int) -> Any:
        nonlocal held
        while held.num_rows < count and (batch := next(coming, None)) is not None:
            more = pa.Table.from_batches([batch])
            held = pa.concat_tables([held, more]) if held.num_rows else more
        found, held = held.slice(0, count), held.slice(count)
        return found

    return take


class ParquetSource(ArrowSource):
    """Parquet files; a part is a row group, or a stretch of one that is too large."""

    walking: tuple[Any, int, Callable[[int], Any]] | None = None  # (what, next stretch, rows) of a large row group

    @cached_property
    def opened(self) -> list[Any]:
        import pyarrow.parquet as parquet

        # Read through a small buffer a column, not a column chunk at once: row groups may be large.
        return [parquet.ParquetFile(path, buffer_size=1 << 18, pre_buffer=False) for path in self.files]

    def schema(self, i: int) -> Any:
        return self.opened[i].schema_arrow

    def groups(self, i: int) -> list[tuple[int, int, int]]:
        groups = map(self.opened[i].metadata.row_group, range(self.opened[i].metadata.num_row_groups))
        return [(g, group.num_rows, group.total_byte_size) for g, group in enumerate(groups)]

    def _read_table(self, part: Part, columns: list[str]) -> Any:
        import pyarrow as pa

        file, (group, k, each) = self.opened[part.file], part.place
        if k == 0 and part.rows == file.metadata.row_group(group).num_rows:
            return file.read_row_group(group, columns=columns).combine_chunks()
        # Going forward reads each stretch once.
        what = (part.file, group, tuple(columns))
        if self.walking is None or self.walking[0] != what or self.walking[1] > k:
            batches = file.iter_batches(each, row_groups=[group], columns=columns)
            self.walking = (what, 0, taken_from(batches, pa.table({})))
        _, at, take = self.walking
        for _ in range(at, k):
            take(each)
        self.walking = (what, k + 1, take)
        return take(each).combine_chunks()


class IpcSource(ArrowSource):
    """Arrow IPC (Feather) files; a part is a record batch, or a stretch of one that is too large."""

    def schema(self, i: int) -> Any:
        import pyarrow as pa

        try:
            with pa.OSFile(self.files[i], "rb") as file:
                return pa.ipc.open_file(file).schema
        except pa.ArrowException as error:
            raise DataError(f"{self.files[i]} is damaged: {str(error).splitlines()[0]}.") from error

    def groups(self, i: int) -> list[tuple[int, int, int]]:
        import pyarrow as pa

        with pa.memory_map(self.files[i]) as file:  # batches are seen without being read: only their lengths are asked
            reader = pa.ipc.open_file(file)
            lengths = [reader.get_batch(b).num_rows for b in range(reader.num_record_batches)]
        each = os.path.getsize(self.files[i]) / max(sum(lengths), 1)
        return [(b, rows, int(each * rows)) for b, rows in enumerate(lengths)]

    def _read_table(self, part: Part, columns: list[str]) -> Any:
        import pyarrow as pa

        batch, k, each = part.place
        # Mapped for the copy of these rows only: what stays mapped would count as the process's memory.
        with pa.memory_map(self.files[part.file]) as file:
            wanted = sorted(pa.ipc.open_file(file).schema.get_field_index(name) for name in columns)
            reader = pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(included_fields=wanted))
            rows = reader.get_batch(batch).slice(k * each, part.rows)
            copies = [pa.concat_arrays([column, column.slice(0, 0)]) for column in rows.columns]
            return pa.Table.from_arrays(copies, names=rows.schema.names)
