"""Tables with mixed columns, as they come from files: numbers, text with its levels, dates.

    number   float64, NaN where a value is missing
    text     a code for each row, −1 where it is missing, and the distinct texts ("levels") that the codes stand for
    date     recognised by its type or its spelling; nothing here computes with it
    other    lists and the like

No pandas: a column is an array, and a file is read with the standard library or, where it is large, with pyarrow.
Text is never guessed at: '01' and '1' are two labels, 'NA' is a label, and only an empty field is missing text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from discriminant.errors import DataError, names
from discriminant.protocols import Array

# Words that stand for "no value" in a column of numbers.  In a column of text they are texts like any other.
MISSING_WORDS = frozenset(
    ["", "?", ".", "-", "NA", "N/A", "n/a", "na", "NaN", "nan", "NAN", "null", "NULL", "Null", "None", "none",
     "#N/A", "#NA", "-nan", "-NaN"]
)  # fmt: skip
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_ENDLESS = re.compile(r"[+-]?inf(?:inity)?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Column:
    """One column: numbers, or codes into ``levels``."""

    name: str
    kind: str  # "number", "text", "date" or "other"
    values: Array  # (n,) float64 with NaN, or codes with −1, where a value is missing
    levels: tuple[str, ...] = ()
    whole: str = ""  # "int" or "bool" where the file says that numbers are such

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def missing(self) -> Array:
        """(n,) whether each value is missing."""
        return np.asarray(np.isnan(self.values) if self.kind == "number" else self.values < 0)

    def take(self, rows: Array) -> Column:
        """The column on some rows; levels stay as they are."""
        return replace(self, values=self.values[rows])

    @cached_property
    def total(self) -> float:
        """The sum of the numbers; NaN where one is missing, infinite where it overflows."""
        with np.errstate(over="ignore"):
            return float(self.values.sum())

    @cached_property
    def counts(self) -> Array:
        """How often each level occurs."""
        return np.bincount(self.values + 1, minlength=len(self.levels) + 1)[1:]

    def texts(self) -> list[str]:
        """The values as they would be written in a file."""
        if self.kind != "number":
            levels = [*self.levels, ""]  # code −1 is the last
            return [levels[code] for code in self.values.tolist()]
        if self.whole:
            return [
                "" if v != v else str(bool(v)) if self.whole == "bool" else str(int(v)) for v in self.values.tolist()
            ]
        # A file does not say whether 7 was written as 7.0: whole numbers are written without a point.
        return [
            "" if v != v else str(int(v)) if v == int(v) and abs(v) < 1e15 else repr(v) for v in self.values.tolist()
        ]


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length; ``sparse`` holds the features of a libsvm file, whose only column is the label."""

    columns: tuple[Column, ...]
    source: str = "the table"
    notes: tuple[str, ...] = ()
    sparse: Any = None

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for name in self.names:
            if name in seen:
                raise DataError(f"{self.source} has two columns named {name!r}; rename one of them.")
            seen.add(name)

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    @property
    def n_rows(self) -> int:
        return len(self.columns[0]) if self.columns else 0 if self.sparse is None else int(self.sparse.shape[0])

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def column(self, name: str) -> Column:
        """The column of that name, or a sentence that suggests the nearest."""
        for column in self.columns:
            if column.name == name:
                return column
        raise DataError(f"{self.source} has no column {name!r}. {self.suggest(name)}")

    def suggest(self, name: str) -> str:
        """ "Did you mean …?", or the list of columns."""
        return suggestion(name, self.names, "Its columns are")

    def take(self, rows: Array) -> Table:
        """Some rows, in the order given."""
        sparse = None if self.sparse is None else self.sparse[rows]
        return replace(self, columns=tuple(column.take(rows) for column in self.columns), sparse=sparse)

    def labels(self, name: str) -> tuple[Array, Array]:
        """(labels (m,), row numbers (m,)) of the rows whose label is not missing.

        Labels read from text are text; whole numbers and booleans of a typed file keep their type.
        """
        column = self.column(name)
        rows = np.flatnonzero(~column.missing)
        if column.kind == "number":
            values = column.values[rows]
            kind: type = {"int": np.int64, "bool": np.bool_}.get(column.whole, np.float64)
            return values.astype(kind), rows
        levels = np.array(column.levels if column.levels else [""], dtype=np.str_)
        return levels[column.values[rows]], rows


def suggestion(name: str, known: Sequence[str], otherwise: str) -> str:
    """A sentence that names what was probably meant.

    >>> suggestion("specis", ["species", "island"], "Columns:")
    "Did you mean 'species'?"
    """
    import difflib  # when something is misspelt, and only then

    folded = {item.casefold().strip(): item for item in reversed(known)}
    near = difflib.get_close_matches(name.casefold().strip(), list(folded), n=3, cutoff=0.6)
    if near:
        return f"Did you mean {' or '.join(repr(folded[item]) for item in near)}?"
    return f"{otherwise} {names(list(known), most=12)}."


def text_column(name: str, texts: Iterable[str]) -> Column:
    """A text column from its values; the empty text is missing."""
    position: dict[str, int] = {}
    codes = np.fromiter((position.setdefault(text, len(position)) for text in texts), dtype=np.int32)
    return coded_column(name, codes, list(position))


def coded_column(name: str, codes: Array, levels: Sequence[str]) -> Column:
    """A text column from codes and levels, levels in order and blank ones missing."""
    order = sorted(range(len(levels)), key=levels.__getitem__)
    kept = [i for i in order if levels[i].strip()]
    table = np.full(len(levels) + 1, -1, dtype=np.int32)  # the last entry is for code −1
    table[kept] = np.arange(len(kept), dtype=np.int32)
    return Column(name, "text", table[codes], tuple(levels[i] for i in kept))


def number_column(name: str, values: Array, whole: str = "", shown: str = "") -> Column:
    """A column of numbers, none of them infinite; ``shown``: what a sentence calls one that is."""
    endless = np.flatnonzero(np.isinf(values))
    if len(endless):
        refuse_infinity(name, int(endless[0]), shown or str(values[endless[0]]))
    return Column(name, "number", values, whole=whole)


def as_number_column(column: Column, decimal: str = ".") -> Column | None:
    """A text column whose levels are all numbers or words for "missing", as numbers; None where they are not."""
    numbers = level_numbers(column.levels, decimal)
    if numbers is None:
        return None
    too_large = np.flatnonzero(np.isinf(numbers))
    if len(too_large):
        row = int(np.flatnonzero(np.isin(column.values, too_large))[0])
        refuse_infinity(column.name, row, column.levels[int(column.values[row])])
    return Column(column.name, "number", np.append(numbers, np.nan)[column.values])


def level_numbers(levels: Sequence[str], decimal: str = ".") -> Array | None:
    """The number that each text stands for, NaN for "missing"; None where some text is neither."""
    result = np.empty(len(levels))
    for i, level in enumerate(levels):
        text = level.strip()
        if decimal != ".":
            text = text.replace(".", "\0").replace(decimal, ".")  # 1.5 is no number where the comma is the point
        if _NUMBER.fullmatch(text):
            result[i] = float(text)
        elif level.strip() in MISSING_WORDS:
            result[i] = math.nan
        elif _ENDLESS.fullmatch(text):
            result[i] = math.inf
        else:
            return None
    return result


def refuse_infinity(name: str, row: int, text: str) -> None:
    """No column holds infinity: a number too large for a float64 is not read as one."""
    raise DataError(
        f"Column {name!r} holds {text!r} in row {row + 1} of the data, which is no finite number "
        "(the largest is 1.8e308). Correct it, or leave it empty if the value is not known."
    )


def kind_of(kind: Any) -> str:
    """What an Arrow type is to us: "number", "whole", "truth", "text", "date" or "other"."""
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
    return "date" if types.is_temporal(kind) else "other"


def arrow_numbers(values: Any) -> Array:
    """A column as numbers, without a copy where it is whole and has no gaps; NaN where a value is missing."""
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
    """(codes, levels) of a column of text; −1 where a value is missing."""
    import pyarrow as pa

    if isinstance(values, pa.ChunkedArray):
        values = values.unify_dictionaries() if pa.types.is_dictionary(values.type) else values
        values = values.combine_chunks() if values.num_chunks != 1 else values.chunk(0)
    if not pa.types.is_dictionary(values.type):
        values = values.cast(pa.string()).dictionary_encode()
    indices = arrow_numbers(values.indices)
    codes = np.where(np.isnan(indices), -1, indices) if indices.dtype.kind == "f" else indices
    levels = ["" if text is None else str(text) for text in values.dictionary.to_pylist()]
    return codes.astype(np.int32, copy=False), levels
