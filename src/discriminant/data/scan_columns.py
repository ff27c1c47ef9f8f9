"""What the columns of a scan become: numbers as they are, text as indicators of its levels, labels as codes.

The levels of text columns and the classes of the label are found by one look at those columns alone.  Rules for
categories are those of tables in memory (``data.preprocess``): the commonest level is the reference, rare ones share a
column, and what the fit has not seen counts as an average row.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discriminant.data.labels import code_type, count_classes
from discriminant.data.preprocess import ColumnRule, _category_rule, _write_category
from discriminant.data.roles import refuse_nearly_numbers
from discriminant.data.tables import Column, suggestion
from discriminant.errors import DataError
from discriminant.protocols import Array


def kind_of(kind: Any) -> str:
    """What an Arrow type is to us: "number", "whole", "truth", "text" or "other"."""
    import pyarrow as pa

    types = pa.types
    if types.is_boolean(kind):
        return "truth"
    if types.is_integer(kind):
        return "whole"
    if types.is_floating(kind) or types.is_decimal(kind):
        return "number"
    if types.is_dictionary(kind):
        return "text" if kind_of(kind.value_type) == "text" else "other"
    if types.is_string(kind) or types.is_large_string(kind) or "string" in str(kind):
        return "text"
    return "other"


def arrow_numbers(values: Any) -> Array:
    """An Arrow column as numbers, without a copy where it has no gaps; NaN where a value is missing."""
    import pyarrow as pa

    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks() if values.num_chunks != 1 else values.chunk(0)
    plain = pa.types.is_integer(values.type) or (pa.types.is_floating(values.type) and values.type.bit_width > 16)
    if not plain or values.null_count:
        values = values.cast(pa.float64(), safe=False)
    kind = np.dtype(values.type.to_pandas_dtype())
    valid, data = values.buffers()
    numbers = np.frombuffer(data, dtype=kind, count=len(values), offset=values.offset * kind.itemsize)
    if values.null_count:
        bits = np.unpackbits(np.frombuffer(valid, dtype=np.uint8), bitorder="little")
        numbers = np.where(bits[values.offset : values.offset + len(values)] == 1, numbers, np.nan)
    return numbers


def arrow_codes(values: Any) -> tuple[Array, list[str]]:
    """(codes, levels) of an Arrow column of text; −1 where a value is missing."""
    import pyarrow as pa

    if isinstance(values, pa.ChunkedArray):
        values = values.unify_dictionaries() if pa.types.is_dictionary(values.type) else values
        values = values.combine_chunks() if values.num_chunks != 1 else values.chunk(0)
    if not pa.types.is_dictionary(values.type):
        values = values.cast(pa.string()).dictionary_encode()
    indices = arrow_numbers(values.indices)
    codes = np.where(np.isnan(indices), -1, indices).astype(np.int32) if indices.dtype.kind == "f" else indices
    levels = ["" if text is None else str(text) for text in values.dictionary.to_pylist()]
    return codes.astype(np.int32, copy=False), levels


@dataclass
class Levels:
    """The distinct texts of a column, in order of appearance, with their counts."""

    place: dict[str, int] = field(default_factory=dict)
    counts: list[int] = field(default_factory=list)
    missing: int = 0

    def add(self, codes: Array, levels: Sequence[str]) -> None:
        """Count one part's values."""
        seen = np.bincount(codes[codes >= 0], minlength=len(levels))
        self.missing += int((codes < 0).sum())
        for level, count in zip(levels, seen.tolist(), strict=True):
            if level == "":
                self.missing += count
                continue
            at = self.place.setdefault(level, len(self.place))
            if at == len(self.counts):
                self.counts.append(0)
            self.counts[at] += count

    def rule(self, name: str, notes: list[str]) -> ColumnRule:
        """What becomes of the column: the rule that a table with these counts would give."""
        order = sorted(self.place)
        if len(order) > 50:
            refuse_nearly_numbers(name, order)
        counts = np.array([self.counts[self.place[level]] for level in order], dtype=np.int64)
        return _category_rule(_Counted(name, tuple(order), counts, self.missing), notes, [])  # type: ignore[arg-type]


class _Counted:
    """A text column of which the counts of the levels are known, and nothing else is needed."""

    def __init__(self, name: str, levels: tuple[str, ...], counts: Array, missing: int) -> None:
        self.name, self.levels, self.counts = name, levels, counts
        self.missing = np.ones(missing, dtype=bool)
        self._length = int(counts.sum()) + missing

    def __len__(self) -> int:
        return self._length


@dataclass
class Encoders:
    """Which columns are features, in order, and what each of them becomes."""

    columns: list[str]
    text: list[str]
    dtype: Any
    rules: dict[str, ColumnRule] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of_arrow(cls, schema: Any, path: str, target: Any, columns: Sequence[str] | None) -> Encoders:
        """From the columns of the first file."""
        kinds = {f.name: kind_of(f.type) for f in schema}
        chosen = choose_columns(list(kinds), path, target, columns)
        odd = [name for name in chosen if kinds[name] == "other"]
        if odd:
            kind = schema.field(odd[0]).type
            raise DataError(
                f"Column {odd[0]!r} of {path} holds {kind} values, which are neither numbers nor categories. Leave it "
                "out (columns=[…]), or turn it into numbers first."
            )
        single = all(str(schema.field(name).type) in ("float", "halffloat") for name in chosen)
        dtype = np.dtype(np.float32 if single else np.float64)
        return cls(chosen, [name for name in chosen if kinds[name] == "text"], dtype)

    @property
    def feature_names(self) -> tuple[str, ...]:
        if self.text and not self.rules:
            raise AssertionError("the levels of text columns are looked for first")
        return tuple(
            feature
            for name in self.columns
            for feature in (self.rules[name].features if name in self.rules else (name,))
        )

    @property
    def width(self) -> int:
        return sum(len(self.rules[n].features) if n in self.rules else 1 for n in self.columns)

    def encode(self, name: str, values: Any) -> Any:
        """A column of a part: numbers, or (codes, table)."""
        if name not in self.rules:
            return arrow_numbers(values)
        codes, levels = arrow_codes(values)
        return self.indicate(name, codes, levels)

    def indicate(self, name: str, codes: Array, levels: Sequence[str]) -> tuple[Array, Array]:
        """(codes, table): the numbers that each level stands for; the last row of the table for missing values."""
        rule = self.rules[name]
        table = np.zeros((len(levels) + 1, len(rule.features)))
        everything = np.concatenate([np.arange(len(levels)), [-1]]).astype(np.int32)
        everything[: len(levels)][[level == "" for level in levels]] = -1
        column = Column(name, "text", everything, tuple(levels))
        _write_category(rule, column, table, [], name)
        return np.where(codes < 0, len(levels), codes), table


def choose_columns(known: list[str], path: str, target: Any, columns: Sequence[str] | None) -> list[str]:
    """The names of the features' columns; sentences for names that are not there."""
    wanted = [*([target] if target is not None else []), *(columns or [])]
    for name in wanted:
        if name not in known:
            raise DataError(f"{path} has no column {name!r}. {suggestion(str(name), known, 'Its columns are')}")
    chosen = [name for name in (known if columns is None else columns) if name != target]
    if not chosen:
        raise DataError(f"{path} has no column to learn from beside {target!r}.")
    return list(chosen)


class Spilled:
    """A column on disk, in a file without a name: sliced like an array, held nowhere."""

    def __init__(self, dtype: Any) -> None:
        self.dtype, self._rows = np.dtype(dtype), 0
        self._file: Any = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the column
        weakref.finalize(self, self._file.close)

    def append(self, values: Array) -> None:
        self._file.write(np.ascontiguousarray(values, dtype=self.dtype))
        self._file.flush()
        self._rows += len(values)

    def __len__(self) -> int:
        return self._rows

    def __getitem__(self, rows: Any) -> Array:
        if not isinstance(rows, slice):
            return np.asarray(np.asarray(self)[rows])
        start, stop, _ = rows.indices(self._rows)
        size = self.dtype.itemsize
        data = os.pread(self._file.fileno(), max(stop - start, 0) * size, start * size)
        return np.frombuffer(data, dtype=self.dtype)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return self[:] if dtype is None else self[:].astype(dtype)


@dataclass
class Labels:
    """Labels collected part by part: their distinct values, and each row's code in one byte or four."""

    where: Any  # (part, row) → which row of which file, for sentences
    spill: bool = False
    place: dict[Any, int] = field(default_factory=dict)
    parts: list[Array] = field(default_factory=list)
    seen: dict[Any, int] = field(default_factory=dict)
    counts: Array = field(default_factory=lambda: np.zeros(0))  # (K,) rows of each class, once finished

    def add(self, number: int, labels: Any) -> None:
        """One part's labels: an array, or (codes, levels) of text."""
        codes, levels = labels if isinstance(labels, tuple) else self._coded(number, np.asarray(labels))
        gone = np.flatnonzero(codes < 0) if codes.dtype.kind == "i" else np.zeros(0, dtype=np.intp)
        blank = [k for k, level in enumerate(levels) if level == ""]
        if blank:
            gone = np.union1d(gone, np.flatnonzero(np.isin(codes, blank)))
        if len(gone):
            raise DataError(f"The label is missing in {self.where(number, int(gone[0]))}; drop rows without a class.")
        seen = count_classes(codes, len(levels))
        used = np.flatnonzero(seen)
        table = np.zeros(len(levels), dtype=np.int32)
        for k in used.tolist():
            table[k] = self.place.setdefault(levels[k], len(self.place))
            self.seen[levels[k]] = self.seen.get(levels[k], 0) + int(seen[k])
        wide = code_type(max(len(self.place), 1))
        if len(self.place) > 100_000:
            raise DataError(
                f"The label has more than {len(self.place):,} different values: these look like measurements or names, "
                "and a classifier needs classes."
            )
        self.parts.append(
            codes.astype(wide, copy=False) if np.array_equal(table[used], used) else table.astype(wide)[codes]
        )

    def _coded(self, number: int, values: Array) -> tuple[Array, list[Any]]:
        if values.dtype.kind == "f":
            odd = np.flatnonzero(~np.isfinite(values) | (values != np.rint(values)))
            if len(odd):
                row, value = int(odd[0]), float(values[odd[0]])
                where = self.where(number, row)
                if value != value:
                    raise DataError(f"The label is missing in {where}; drop rows without a class.")
                raise DataError(
                    f"Unknown label type: continuous. The label in {where} is {value:g}: these look like measurements, "
                    "and a classifier needs class labels."
                )
        from discriminant.data.labels import encode_labels

        classes, codes = encode_labels(values)
        return codes, classes.tolist()

    def finish(self, known: Array | None = None) -> tuple[Array, Any]:
        """(classes in order, codes of all rows); ``known``: the classes of an earlier fit."""
        found = ordered(list(self.place)) if known is None else np.asarray(known)
        position = {label: k for k, label in enumerate(found.tolist())}
        raw = {_key(label): k for label, k in position.items()}
        strangers = [label for label in self.place if _key(label) not in raw]
        if strangers:
            raise DataError(f"The label holds the class {strangers[0]!r}, which is not among {found.tolist()[:8]}.")
        table: Array = np.zeros(max(len(self.place), 1), dtype=code_type(len(found)))
        self.counts = np.zeros(len(found))
        for label, k in self.place.items():
            table[k] = raw[_key(label)]
            self.counts[table[k]] += self.seen[label]
        if self.spill:
            column = Spilled(table.dtype)
            while self.parts:
                column.append(table[self.parts.pop(0)])
            return found, column
        same = np.array_equal(table, np.arange(len(table)))
        if same and len(self.parts) == 1:
            return found, self.parts.pop().astype(table.dtype, copy=False)
        at, codes = 0, np.empty(sum(len(part) for part in self.parts), dtype=table.dtype)
        while self.parts:
            part = self.parts.pop(0)
            if same:
                codes[at : at + len(part)] = part
            else:
                np.take(table, part, out=codes[at : at + len(part)])
            at += len(part)
        return found, codes


def _key(label: Any) -> Any:
    """Text that is a whole number, as CSV files write their labels, stands for that number."""
    if isinstance(label, str) and label.lstrip("-").isdigit() and str(int(label)) == label:
        return int(label)
    return int(label) if isinstance(label, float) and label.is_integer() else label


def ordered(labels: list[Any]) -> Array:
    """The classes in order; texts that are all whole numbers become numbers."""
    keys = [_key(label) for label in labels]
    if all(isinstance(key, int) and not isinstance(key, bool) for key in keys):
        return np.array(sorted(keys))
    if all(isinstance(label, bool) for label in labels):
        return np.array(sorted(labels))
    return np.array(sorted(str(label) for label in labels), dtype=object)
