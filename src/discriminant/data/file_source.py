"""What every file format answers: parts of consecutive rows, read one at a time; and named columns as numbers.

A source cuts its files into parts of about a given size and reads one at a time, only the columns that are
asked for.  Binary formats know their rows from the heads of the files.  Text is cut at line ends; how many rows it has
is known after the first pass, the survey, which parses all of it for labels, levels of text and a row sample together.

Rules for categories are those of tables in memory (``data.preprocess``): the first level by name is the reference, rare
ones share a column, and what the fit has not seen counts as an average row.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from discriminant.data.preprocess import ColumnRule, Remark, category_rule, category_values
from discriminant.data.roles import CATEGORY, NUMBER, refuse_nearly_numbers
from discriminant.data.rows import ColumnRows, Rows
from discriminant.data.tables import (
    Column,
    arrow_codes,
    arrow_numbers,
    coded_column,
    is_number,
    kind_of,
    suggestion,
    typed,
)
from discriminant.errors import DataError, names
from discriminant.protocols import Array, Dtype

MANY_LEVELS = 50  # from which on they may be numbers with slips


def rule_of(name: str, counts: Mapping[str, int], notes: list[Remark]) -> ColumnRule:
    """What becomes of a column of text with so many rows of each: the rule that a table would give."""
    order = sorted(counts.keys() - {""})
    if not order:
        raise DataError(f"Column {name!r} holds no value in any row. Leave it out (columns=[…]).")
    if len(order) > MANY_LEVELS:
        refuse_nearly_numbers(name, order)
    return category_rule(name, order, np.array([counts[level] for level in order]), counts.get("", 0), notes)


@dataclass
class FileColumns:
    """Which columns are features, in order, and what each of them becomes."""

    names: list[str]
    text: list[str]
    dtype: Dtype
    rules: dict[str, ColumnRule] = field(default_factory=dict)  # of text, once its levels are known
    notes: list[Remark] = field(default_factory=list)
    formatted: tuple[str, ...] = ()  # columns of numbers with separators, units or brackets
    decimal: str = "."
    fixed: bool = False  # whether the rules are those of a fit, to which no level is new

    def known(self, rules: Sequence[ColumnRule], path: str) -> FileColumns:
        """The same columns with the rules of a fit."""
        found = {rule.name: rule for rule in rules if rule.role == CATEGORY}
        odd = [name for name in self.text if name not in found]
        if odd:
            raise DataError(f"Column {odd[0]!r} of {path} holds text, and held numbers at the fit.")
        return replace(self, text=list(found), rules=found, notes=[], fixed=True)

    @property
    def all_rules(self) -> tuple[ColumnRule, ...]:
        return tuple(self.rules.get(name, ColumnRule(name, NUMBER)) for name in self.names)

    @classmethod
    def of_schema(cls, schema: Any, path: str, target: Any, columns: Sequence[str] | None) -> FileColumns:
        """From the types of an Arrow file's columns."""
        kinds = {f.name: kind_of(f.type) for f in schema}
        chosen = choose_columns(list(kinds), path, target, columns)
        odd = [name for name in chosen if kinds[name] in ("date", "other")]
        if odd:
            raise DataError(
                f"Column {odd[0]!r} of {path} holds {schema.field(odd[0]).type} values, which are neither numbers nor "
                "categories. Leave it out (columns=[…]), or turn it into numbers first."
            )
        single = all(str(schema.field(name).type) in ("float", "halffloat") for name in chosen)
        text = [name for name in chosen if kinds[name] == "text"]
        return cls(chosen, text, np.dtype(np.float32 if single else np.float64))

    @property
    def feature_names(self) -> tuple[str, ...]:
        found = (self.rules[name].features if name in self.rules else (name,) for name in self.names)
        return tuple(feature for features in found for feature in features)

    @property
    def width(self) -> int:
        return sum(len(self.rules[name].features) if name in self.rules else 1 for name in self.names)

    def rows(self, table: Any, where: Callable[[int], str]) -> ColumnRows:
        """The rows of an Arrow table; ``where``: the name of each in a sentence."""
        values = [self._encoded(name, table.column(name), where) for name in self.names]
        return ColumnRows(values, (table.num_rows, self.width), self.dtype)

    def _encoded(self, name: str, values: Any, where: Callable[[int], str]) -> Array | tuple[Array, Array]:
        """Numbers, or (codes, the numbers that each code stands for)."""
        if name not in self.formatted and name not in self.rules:
            return arrow_numbers(values)
        column = coded_column(name, *arrow_codes(values))
        if name in self.rules:
            return category_values(self.rules[name], column, where if self.fixed else None)
        if (found := typed(column, self.decimal)).kind != "number":
            odd = [level for level in column.levels if not is_number(level, self.decimal)]
            raise DataError(
                f"Column {name!r} holds numbers with separators or units further up, and here "
                f"{names(odd or column.levels, 3)}, which are none, or of another unit. Correct the file, or "
                "leave the column out (columns=[…])."
            )
        return found.values


def choose_columns(known: list[str], path: str, target: Any, columns: Sequence[str] | None) -> list[str]:
    """The names of the features' columns; sentences for names that are not there."""
    there = set(known)
    for name in [*([target] if target is not None else []), *(columns or [])]:
        if name not in there:
            raise DataError(f"{path} has no column {name!r}. {suggestion(str(name), known, 'Its columns are')}")
    chosen = [name for name in (known if columns is None else columns) if name != target]
    if not chosen:
        raise DataError(f"{path} has no column to learn from beside {target!r}.")
    return chosen


LEAST_ROWS = 256  # of a part
PartRows = Rows | ColumnRows


@dataclass
class Part:
    """Some consecutive rows of one file."""

    file: int
    rows: int  # −1 where they are not known before they have been parsed
    place: tuple[int, ...]  # a range of bytes, or (group of rows, number of the stretch in it, rows of a stretch)
    first: int = 0  # number of the first row in its file
    size: int = 0  # bytes of the file


def stretches(file: int, groups: Iterable[tuple[int, int, int]], step: int) -> list[Part]:
    """The parts of a file's groups of rows (number, rows, bytes), those of more than ``step`` rows in stretches."""
    found, first = [], 0
    for group, rows, size in groups:
        each = -(-rows // max(1, -(-rows // step)))  # stretches of one length
        for k, a in enumerate(range(0, rows, each or 1)):
            count = min(each, rows - a)
            found.append(Part(file, count, (group, k, each), first + a, size * count // rows))
        first += rows
    return found


@dataclass(frozen=True)
class Surveyed:
    """What the first pass finds in a part."""

    labels: Array | tuple[Array, list[str]] | None  # an array, or (codes, levels) of text
    text: list[Column] = field(default_factory=list)
    parsed: Any = None  # all of a part of text, of which ``take(index)`` keeps some rows


class FileSource(ABC):
    """What every format answers."""

    files: list[str]
    dtype: Dtype  # of the rows: float32 or float64
    target: Any = None  # None: rows without labels
    columns: FileColumns | None = None  # of formats with names
    is_sparse: ClassVar[bool] = False
    is_text: ClassVar[bool] = False
    entries: int = 0  # of sparse rows
    survey_share: float = 1.0  # of the bytes that a survey reads
    run_rows: int = 0  # rows that are best read together where single rows can be read; 0 where they cannot

    @property
    def names(self) -> tuple[str, ...] | None:
        return None if self.columns is None else self.columns.feature_names

    @property
    @abstractmethod
    def n_features(self) -> int:
        """The number of features."""

    @abstractmethod
    def parts(self, size: int) -> list[Part]:
        """Parts of about ``size`` bytes of numbers."""

    @abstractmethod
    def survey(self, part: Part) -> Surveyed:
        """Labels and levels of text of a part; of text, all of it."""

    @abstractmethod
    def read(self, part: Part) -> PartRows:
        """The rows of a part: ``shape``, ``design(start, stop)`` and ``pick(rows)``, which copies."""

    def rows(self, parsed: Any) -> PartRows:
        """The same of what a survey kept, once all parts have been surveyed."""
        raise NotImplementedError(f"{type(self).__name__} keeps no rows of a survey.")

    def settle(self, levels: Mapping[str, Mapping[str, int]]) -> None:
        """All parts have been surveyed; ``levels``: how many rows each text of a column has, "" where it is missing."""
        if self.columns is not None and not self.columns.fixed:
            for name, counts in levels.items():
                self.columns.rules[name] = rule_of(name, counts, self.columns.notes)


class ColumnSource(FileSource):
    """Files of named columns, read as Arrow tables."""

    columns: FileColumns

    @property
    def n_features(self) -> int:
        return self.columns.width

    @abstractmethod
    def table(self, part: Part, columns: Sequence[str]) -> Any:
        """These columns of a part, as an Arrow table."""

    def read(self, part: Part) -> PartRows:
        where = f"row {{}} of {self.files[part.file]}"
        return self.columns.rows(self.table(part, self.columns.names), lambda row: where.format(part.first + row))

    def rows(self, parsed: Any) -> PartRows:
        return self.columns.rows(parsed, str)

    def survey(self, part: Part) -> Surveyed:
        asked, labelled = self.columns.names if self.is_text else self.columns.text, self.target is not None
        table, labels = self.table(part, [*asked, *[self.target] * labelled]), None
        if labelled:
            values = table.column(self.target)
            labels = arrow_codes(values) if kind_of(values.type) == "text" else arrow_numbers(values)
        text = [coded_column(name, *arrow_codes(table.column(name))) for name in self.columns.text]
        return Surveyed(labels, text, table if self.is_text else None)


LEAST_BYTES = 1 << 16  # of a part
GROWTH = 3  # bytes of numbers that a byte of text becomes, at most


def line_parts(path: str, skip: int, size: int, file: int) -> list[Part]:
    """Stretches of about ``size`` bytes of numbers that end at line ends; the first ``skip`` bytes are left out."""
    end, size = os.path.getsize(path), max(size // GROWTH, LEAST_BYTES)
    found, start = [], skip
    with open(path, "rb") as handle:
        while start < end:
            handle.seek(min(start + size, end))
            handle.readline()
            stop = min(handle.tell(), end)
            found.append(Part(file, -1, (start, stop), 0, stop - start))
            start = stop
    return found


def bytes_of_part(path: str, part: Part) -> bytes:
    start, stop = part.place
    with open(path, "rb") as handle:
        handle.seek(start)
        return handle.read(stop - start)
