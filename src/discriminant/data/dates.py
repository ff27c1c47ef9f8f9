"""Dates as numbers: days since 1970-01-01, the time of day a fraction.  A column has one spelling, found at the fit.

ymd      2024-01-31, 2024/1/31, with a time or without        compact   20240131, a whole number
dmy      31/01/2024, 31.1.24      mdy   01/31/2024            seconds   since 1970, a whole number
named    31 Jan 2024, 31-Jan-24     first   Jan 31, 2024      typed     dates of a typed file or frame
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence

import numpy as np

from discriminant.data.tables import MISSING_WORDS, Column
from discriminant.errors import DataError, names
from discriminant.protocols import Array

_EPOCH = datetime.date(1970, 1, 1).toordinal()
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MARK, _MONTH, _YEAR = r"[-/.]", rf"(?P<M>(?:{'|'.join(_MONTHS)})[a-z]*)", r"(?P<Y>\d{4}|\d{2})"
_SHAPES = {
    "ymd": rf"(?P<Y>\d{{4}}){_MARK}(?P<M>\d{{1,2}}){_MARK}(?P<D>\d{{1,2}})",
    "dmy": rf"(?P<D>\d{{1,2}}){_MARK}(?P<M>\d{{1,2}}){_MARK}{_YEAR}",
    "mdy": rf"(?P<M>\d{{1,2}}){_MARK}(?P<D>\d{{1,2}}){_MARK}{_YEAR}",
    "named": rf"(?P<D>\d{{1,2}})[- ]{_MONTH}[- ,]+{_YEAR}",
    "first": rf"{_MONTH}[ .]+(?P<D>\d{{1,2}})[ ,]+(?P<Y>\d{{4}})",
}
_TIME = r"(?:[ T]+(?P<h>\d{1,2}):(?P<m>\d{2})(?::(?P<s>\d{2}(?:\.\d+)?))?\s*(?:Z|UTC|[+-]00:?00)?)?"


def looks_like_date(text: str) -> bool:
    """Whether the text is written as a date, be there such a day or not, with whatever after it."""
    return any(re.fullmatch(shape + r"(?:[ T].*)?", text, re.I) for shape in _SHAPES.values())


def spelling_of(column: Column) -> str:
    """How a column writes its dates; a sentence where it does not, or where that leaves the month open."""
    if column.kind == "date" and column.days is not None:
        return "typed"
    if column.kind == "number":
        return "compact" if np.nanmax(column.values) < 1e8 else "seconds"
    fits = [shape for shape in _SHAPES if _parsed(column.levels, shape) is not None]
    if not fits:
        each = {level: [shape for shape in _SHAPES if _parsed([level], shape) is not None] for level in column.levels}
        odd = [level for level, shapes in each.items() if not shapes]
        if len(odd) > len(each) / 2:
            raise DataError(f"Column {column.name!r} holds no dates that can be read, such as 2024-01-31.")
        shown = odd or list({tuple(shapes): level for level, shapes in each.items()}.values())
        what = "dates and what is none that can be read" if odd else "dates written in several ways"
        raise DataError(f"Column {column.name!r} holds {what}: {names(shown, most=3)}. Write all as 2024-01-31.")
    if {"dmy", "mdy"} <= set(fits):
        raise DataError(
            f"Column {column.name!r} does not tell days from months, as in {column.levels[0]!r}: write 2024-01-31."
        )
    return fits[0]


def as_days(column: Column, spelling: str) -> Column:
    """The column as days since 1970."""
    if spelling == "typed" and column.days is not None:
        return Column(column.name, "number", column.days)
    if spelling in ("compact", "seconds") and column.kind == "number":
        if spelling == "seconds":
            return Column(column.name, "number", column.values / 86_400)
        texts = ["" if v != v else f"{int(v):08d}" for v in column.values.tolist()]
        found = _parsed([f"{t[:4]}-{t[4:6]}-{t[6:]}" if t else "" for t in texts], "ymd")
    else:
        found = _parsed(column.levels, spelling) if spelling in _SHAPES and column.kind == "text" else None
        found = None if found is None else np.append(found, np.nan)[column.values]
    if found is None:
        raise DataError(f"Column {column.name!r} must hold dates, written as they were at the fit.")
    return Column(column.name, "number", found)


def _parsed(levels: Sequence[str], shape: str) -> Array | None:
    """Days of each text, NaN for missing ones; None where some text is no date of this shape."""
    pattern, result = re.compile(_SHAPES[shape] + _TIME, re.I), np.full(len(levels), np.nan)
    for i, level in enumerate(levels):
        if level.strip() in MISSING_WORDS:
            continue
        found = pattern.fullmatch(level.strip())
        if found is None:
            return None
        year, month = int(found["Y"]), found["M"]
        if len(found["Y"]) == 2:
            year += 1900 if year >= 69 else 2000
        number = int(month) if month.isdigit() else _MONTHS.index(month[:3].lower()) + 1
        try:
            day = datetime.date(year, number, int(found["D"])).toordinal() - _EPOCH
        except ValueError:
            return None
        clock = float(found["h"] or 0) * 3600 + float(found["m"] or 0) * 60 + float(found["s"] or 0)
        result[i] = day + clock / 86_400
    return result
