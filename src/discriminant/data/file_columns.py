"""The named columns of a file: numbers as they are, text as indicators of its levels.

Rules for categories are those of tables in memory (``data.preprocess``): the commonest level is the reference, rare
ones share a column, and what the fit has not seen counts as an average row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discriminant.data.arrow import arrow_codes, arrow_numbers, kind_of
from discriminant.data.preprocess import ColumnRule, category_rule, indicator_table
from discriminant.data.roles import refuse_nearly_numbers
from discriminant.data.rows import DenseDesign
from discriminant.data.tables import suggestion
from discriminant.data.threads import scratch
from discriminant.errors import DataError
from discriminant.protocols import Array

MANY_LEVELS = 50  # from which on they may be numbers with slips


@dataclass
class Levels:
    """The distinct texts of a column with their counts, part by part."""

    counts: dict[str, int] = field(default_factory=dict)
    missing: int = 0

    def add(self, codes: Array, levels: Sequence[str]) -> None:
        """Count one part's values."""
        seen = np.bincount(codes + 1, minlength=len(levels) + 1).tolist()
        for level, count in zip(["", *levels], seen, strict=True):
            if level == "":
                self.missing += count
            else:
                self.counts[level] = self.counts.get(level, 0) + count

    def rule(self, name: str, notes: list[str]) -> ColumnRule:
        """What becomes of the column: the rule that a table with these counts would give."""
        order = sorted(self.counts)
        if not order:
            raise DataError(f"Column {name!r} holds no value in any row. Leave it out (columns=[…]).")
        if len(order) > MANY_LEVELS:
            refuse_nearly_numbers(name, order)
        counts = np.array([self.counts[level] for level in order], dtype=np.int64)
        return category_rule(name, order, counts, self.missing, notes)


@dataclass
class FileColumns:
    """Which columns are features, in order, and what each of them becomes."""

    names: list[str]
    text: list[str]
    dtype: Any
    rules: dict[str, ColumnRule] = field(default_factory=dict)  # of text, once its levels are known
    notes: list[str] = field(default_factory=list)

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

    def rows(self, table: Any) -> ColumnRows:
        """The rows of an Arrow table."""
        values = [self._encoded(name, table.column(name)) for name in self.names]
        return ColumnRows(values, (table.num_rows, self.width), self.dtype)

    def _encoded(self, name: str, values: Any) -> Any:
        """Numbers, or (codes, the numbers that each code stands for); the last code is for missing values."""
        if name not in self.rules:
            return arrow_numbers(values)
        codes, levels = arrow_codes(values)
        table, _ = indicator_table(self.rules[name], levels)
        table[:-1][[level == "" for level in levels]] = table[-1]
        return np.where(codes < 0, len(levels), codes), table


@dataclass(frozen=True)
class ColumnRows:
    """Columns side by side, as columnar files have them; a block of rows is put together when its turn comes."""

    columns: list[Any]  # numbers, or (codes, table): code c stands for the numbers table[c]
    shape: tuple[int, int]
    dtype: Any

    def _fill(self, pick: Any, out: Array) -> Array:
        at = 0
        for column in self.columns:
            if isinstance(column, tuple):
                codes, table = column
                out[:, at : at + table.shape[1]] = table[codes[pick]]
                at += table.shape[1]
            else:
                out[:, at] = column[pick]
                at += 1
        return out

    def design(self, start: int, stop: int) -> DenseDesign:
        """Rows start:stop, in memory that the thread's next block takes again."""
        return DenseDesign(self._fill(slice(start, stop), scratch("read", (stop - start, self.shape[1]), self.dtype)))

    def pick(self, rows: Array) -> DenseDesign:
        """A copy of these rows."""
        return DenseDesign(self._fill(rows, np.empty((len(rows), self.shape[1]), self.dtype)))


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
