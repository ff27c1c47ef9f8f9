"""Tables with mixed columns, as they come from files: numbers, text with its levels, dates.

    number   float64, NaN where a value is missing
    text     a code for each row, −1 where it is missing, and the distinct texts ("levels") that the codes stand for
    date     recognised by its type or its spelling; nothing here computes with it
    other    lists and the like

No pandas: a column is an array, and a file is read with the standard library or, where it is large, with pyarrow.
Text is never guessed at: '01' and '1' are two labels, 'NA' is a label, and only an empty field is missing text.
Surrounding spaces are no part of a text.  A number may be formatted: '1,191', '$ 12.50', '(3)', '7 %', '70.5 kg'.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from discriminant.errors import DataError, names
from discriminant.protocols import Array

# Words that stand for "no value" in a column of numbers.  In a column of text they are texts like any other.
MISSING_WORDS = frozenset(
    ["", "?", ".", "-", "NA", "N/A", "n/a", "na", "NaN", "nan", "NAN", "null", "NULL", "Null", "None", "none",
     "#N/A", "#NA", "-nan", "-NaN", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!"]
)  # fmt: skip
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_CURRENCY = r"[$€£¥₹]|(?:USD|EUR|GBP|CHF)(?![A-Za-z])"
# Units that no code ends with: '12 kg' is a number, '12B' is a name.
_MEASURE = (
    r"[%‰]|(?:[mcdk]?m|[µm]?g|[kK]g|KG|CM|KM|t|lbs?|oz|[mcd]?l|in|ft|yd|mi|s|ms|secs?|mins?|h|hrs?|days?|weeks?|months?"
    r"|yrs?|years?|°\s?[CF]?|mmHg|bpm|mg/dl|mmol/l|km/h|mph|kW|kWh|kcal|kJ|[kMG]?Hz|[kMGT]B|px|pcs|[ck]?m²"
    r"|[ck]?m2)(?![A-Za-z])"
)
UNIT = rf"{_CURRENCY}|{_MEASURE}"
_FORMATTED = re.compile(
    rf"(?P<sign>[+-]?)\s*(?P<before>{_CURRENCY}|[%‰])?\s*(?P<second>[+-]?)"
    rf"(?P<whole>\d{{1,3}}(?:(?P<mark>[,.' ])\d{{3}})"
    rf"(?:(?P=mark)\d{{3}})*|\d+)(?:(?P<point>[.,])(?P<part>\d+|--?))?\s*(?P<after>{UNIT})?",
    re.ASCII,
)
_MEASURED = re.compile(_MEASURE)
_TYPESET = str.maketrans("\u2212\u2013\u2019\u00a0\u202f", "--'  ")  # minus, dash, apostrophe and narrow spaces
_INFINITE = re.compile(r"[+-]?inf(?:inity)?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Column:
    """One column: numbers, or codes into ``levels``."""

    name: str
    kind: str  # "number", "text", "date" or "other"
    values: Array  # (n,) float64 with NaN, or codes with −1, where a value is missing
    levels: tuple[str, ...] = ()
    whole: str = ""  # "int" or "bool" where the file says that numbers are such
    formatted: str = ""  # a text as it stands in the file, where numbers were written with separators or units
    spaced: tuple[str, ...] = ()  # texts that differed from another level by surrounding spaces alone
    days: Array | None = None  # (n,) of a typed date: days since 1970, NaN where a value is missing

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def missing(self) -> Array:
        """(n,) whether each value is missing."""
        return np.asarray(np.isnan(self.values) if self.kind == "number" else self.values < 0)

    def take(self, rows: Array) -> Column:
        """The column on some rows; levels stay as they are."""
        return replace(self, values=self.values[rows], days=None if self.days is None else self.days[rows])

    @cached_property
    def counts(self) -> Array:
        """How often each level occurs."""
        return np.bincount(self.values + 1, minlength=len(self.levels) + 1)[1:]

    def texts(self) -> list[str]:
        """The values as they would be written in a file."""
        if self.kind != "number":
            levels = [*self.levels, ""]  # code −1 is the last
            return [levels[code] for code in self.values.tolist()]
        kinds: dict[str, Callable[[float], Any]] = {"int": int, "bool": bool}
        return ["" if v != v else str(kinds.get(self.whole, _plain)(v)) for v in self.values.tolist()]


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length; ``sparse`` holds the features of a libsvm file, whose only column is the label."""

    columns: tuple[Column, ...]
    source: str = "the table"
    notes: tuple[str, ...] = ()
    sparse: Any = None
    decimal: str = "."  # the decimal sign of its texts

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
        below = [column for column in self.columns if name in column.levels]
        if len(below) == 1 and below[0].counts[below[0].levels.index(name)] == 1:
            raise DataError(
                f"{self.source} has no column {name!r} in its first line, and {name!r} further down: the names of the "
                "columns must stand first. Delete what is above them."
            )
        raise DataError(f"{self.source} has no column {name!r}. {self.suggest(name)}")

    def suggest(self, name: str) -> str:
        """ "Did you mean …?", or the list of columns."""
        return suggestion(name, self.names, "Its columns are")

    def take(self, rows: Array) -> Table:
        """Some rows, in the order given."""
        sparse = None if self.sparse is None else self.sparse[rows]
        return replace(self, columns=tuple(column.take(rows) for column in self.columns), sparse=sparse)

    def without(self, words: Sequence[str], text_columns: Sequence[str] = ()) -> Table:
        """The table with these values missing; what are numbers then are numbers, but for ``text_columns``."""
        if not words:
            return self
        numbers = [float(value) for word in words if (found := level_numbers([word])) is not None for value in found]

        def cleared(column: Column) -> Column:
            if column.kind == "number":
                return replace(column, values=np.where(np.isin(column.values, numbers), np.nan, column.values))
            if column.kind != "text" or not set(words) & set(column.levels):
                return column
            levels = ["" if level in words else level for level in column.levels]
            return typed(coded_column(column.name, column.values, levels), self.decimal, text_columns)

        return replace(self, columns=tuple(map(cleared, self.columns)))

    def reread(self, text_columns: Sequence[str]) -> Table:
        """The table after ``take``: text is numbers where what was none stood in rows that are left out."""
        settled = [one.name for one in self.columns if one.kind == "text" and one.counts.all()]
        columns = (typed(one, self.decimal, [*text_columns, *settled]) for one in self.columns)
        return replace(self, columns=tuple(columns))

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


def _plain(value: float) -> float:
    """The number without a point where it is whole: a file does not say whether 7 was written as 7.0."""
    return int(value) if value == int(value) and abs(value) < 1e15 else value


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
    bare = [level.strip() for level in levels]
    kept = {level: code for code, level in enumerate(sorted(set(bare) - {""}))}
    table = np.array([*(kept.get(level, -1) for level in bare), -1], dtype=np.int32)  # the last is for code −1
    spaced = [level for level, own in zip(levels, bare, strict=True) if own and level != own]
    merged = tuple(sorted(spaced)) if len(set(bare)) < len(bare) else ()
    return Column(name, "text", table[codes], tuple(kept), spaced=merged)


def number_column(name: str, values: Array, whole: str = "", shown: str = "") -> Column:
    """A column of numbers, none of them infinite; ``shown``: what a sentence calls one that is."""
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite):
        refuse_infinity(name, int(infinite[0]), shown or str(values[infinite[0]]))
    return Column(name, "number", values, whole=whole)


def typed(column: Column, decimal: str = ".", text_columns: Sequence[str] = ()) -> Column:
    """The column, as numbers where all its texts are numbers or words for "missing", but for ``text_columns``."""
    if column.kind != "text" or column.name in text_columns:
        return column
    # Levels of rows that were left out, such as a line of totals, say nothing of the others.
    levels = [level if count else "" for level, count in zip(column.levels, column.counts.tolist(), strict=True)]
    numbers, formatted = level_numbers(levels, decimal), ""
    if numbers is None:
        numbers = formatted_numbers(levels, decimal)
        formatted = next((level for level in levels if level_numbers([level], decimal) is None), "")
    if numbers is None:
        return column
    too_large = np.flatnonzero(np.isinf(numbers))
    if len(too_large):
        row = int(np.flatnonzero(np.isin(column.values, too_large))[0])
        refuse_infinity(column.name, row, column.levels[int(column.values[row])])
    return Column(column.name, "number", np.append(numbers, np.nan)[column.values], formatted=formatted)


def is_number(text: str, decimal: str = ".") -> bool:
    """Whether the text is a number, however it is formatted, or a word for "missing"."""
    return level_numbers([text], decimal) is not None or formatted_numbers([text], decimal) is not None


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
        elif _INFINITE.fullmatch(text):
            result[i] = math.inf
        else:
            return None
    return result


def formatted_numbers(levels: Sequence[str], decimal: str = ".") -> Array | None:
    """Numbers with separators of thousands, a unit (a currency too) or brackets for minus; None where a text is none.

    All of a column have one unit, and per cent keep their size: '7 %' is 7.

    >>> formatted_numbers(["1,191", "(12.5)", "NA", "990"]), formatted_numbers(["$5", "7 %"])
    (array([1191. ,  -12.5,    nan,  990. ]), None)
    """
    result, units, missing = np.full(len(levels), math.nan), set(), 0
    for i, level in enumerate(levels):
        text = level.translate(_TYPESET).strip()
        if text in MISSING_WORDS:
            missing += 1
            continue
        bracketed = text[:1] == "(" and text[-1:] == ")"
        found = _FORMATTED.fullmatch(text[1:-1] if bracketed else text)
        if (
            found is None
            or (found["before"] and found["after"])
            or bracketed + bool(found["sign"] + found["second"]) > 1
        ):
            return None
        part, mark = (found["part"] or "").strip("-"), found["mark"]
        point = found["point"] if part else decimal  # a whole price ends in '.-' whatever the decimal sign
        if point == mark or point != decimal or mark == decimal:
            return None
        units.add(found["before"] or found["after"] or "")
        size = float(re.sub(r"\D", "", found["whole"]) + "." + part)
        result[i] = -size if bracketed or found["sign"] + found["second"] == "-" else size
    measured = any(_MEASURED.fullmatch(unit) for unit in units)
    mixed = len(units - {""}) > 1 or ("" in units and measured)  # 12 % beside 0.12: which is meant?
    return None if mixed or missing == len(levels) else result


def differ_in_case(levels: Sequence[str]) -> list[list[str]]:
    """Groups of texts that differ in case and in nothing else.

    >>> differ_in_case(["Yes", "no", "yes"])
    [['Yes', 'yes']]
    """
    groups: dict[str, list[str]] = {}
    for level in levels:
        groups.setdefault(level.casefold(), []).append(level)
    return [group for group in groups.values() if len(group) > 1]


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
    if types.is_string(kind) or types.is_large_string(kind) or str(kind).startswith("string"):
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
    # From its buffers: ``to_numpy`` would load pandas, a third of a second and 40 MB.
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
    codes = arrow_numbers(values.indices.cast(pa.int32()).fill_null(-1))
    return codes, ["" if text is None else str(text) for text in values.dictionary.to_pylist()]


def series_codes(series: Any) -> tuple[Array, list[str]]:
    """The same of a column of a frame (narwhals')."""
    import narwhals.stable.v2 as nw

    if series.implementation.is_pyarrow():
        return arrow_codes(series.to_native())
    if series.implementation.is_pandas_like():
        codes, found = series.to_native().factorize()
        return codes.astype(np.int32, copy=False), [str(level) for level in found.tolist()]
    levels = series.drop_nulls().unique().to_list()
    if not levels:
        return np.full(len(series), -1, dtype=np.int32), []
    codes = series.replace_strict(levels, list(range(len(levels))), return_dtype=nw.Int32).fill_null(-1).to_numpy()
    return codes.astype(np.int32, copy=False), [str(level) for level in levels]
