"""What a column is for, by its values: a number, a category, or something to leave out, each with a word why.

Left out are columns that number or name the rows, dates, free text, and columns that are empty or never change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from discriminant.data.dates import looks_like_date
from discriminant.data.labels import distinct
from discriminant.data.tables import Column, formatted_numbers, is_number, level_numbers
from discriminant.errors import DataError, names

NUMBER, CATEGORY, OUT = "number", "category", "left out"
THEY = {  # reasons that are true of many columns at once, in the plural
    "it never changes": "they never change",
    "it holds dates": "they hold dates",
    "it names the rows": "they name the rows",
    "nearly every row has a text of its own, as names do": "nearly every row has texts of its own, as names do",
    "it holds times of day or durations, and no numbers": "they hold times of day or durations, and no numbers",
    "it is free text, and needs features made from it first": "they are free text; make features of it first",
}
LEAST_ROWS = 20  # below this, values that are all different prove nothing
_ID_NAME = re.compile(r"(?:^|[\W_])(?:id|idx|index|uuid|guid|row ?names?|row_?number)$|^unnamed|^column_1$", re.I)
_CAMEL_ID = re.compile(r"[a-z](?:Id|ID)$")
_JOINED_ID = re.compile(
    r"(?:row|user|customer|client|patient|person|subject|sample|case|record|order|item|product|account|member|student"
    r"|employee|session|device|transaction|event|invoice|ticket|visit)_?(?:id|no|number)$",
    re.I,
)
_DATE_NAME = re.compile(r"date|timestamp|datetime|_at$", re.I)
_PARTS = {"train", "training", "test", "testing", "valid", "validation", "val", "dev", "holdout"}
_TIME = re.compile(r"\d{1,3}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[ap]\.?m\.?)?", re.I)


def role_of(column: Column) -> tuple[str, str]:
    """(role, why): why is a sentence's end where the column is left out."""
    missing = column.missing
    present = len(missing) - int(np.count_nonzero(missing))
    if not present:
        return OUT, "every value is missing"
    if column.kind == "date":
        return OUT, "it holds dates"
    if column.kind == "other":
        return OUT, f"its values are neither numbers nor text ({column.levels[0]})"
    if column.kind == "number":
        return _role_of_numbers(column, present)
    return _role_of_text(column, present)


def _role_of_numbers(column: Column, present: int) -> tuple[str, str]:
    values = column.values if present == len(column) else column.values[~np.isnan(column.values)]
    if (values == values[0]).all():
        return (OUT, "it never changes") if present == len(column) else (NUMBER, "")
    if present < LEAST_ROWS or (values != np.rint(values)).any():
        return NUMBER, ""
    if _DATE_NAME.search(column.name) and values.min() >= 18000101 and values.max() <= 22001231:
        return OUT, "it holds dates"
    if _DATE_NAME.search(column.name) and values.min() >= 1e8 and values.max() < 1e19:
        return OUT, "it holds times, counted in seconds"
    if present == len(column) and values.max() - values.min() == present - 1 and len(distinct(values)) == present:
        return OUT, "it numbers the rows"
    if _is_id(column.name) and len(distinct(values)) > present / 2:
        return OUT, "it names the rows"
    return NUMBER, ""


def _is_id(name: str) -> bool:
    return bool(_ID_NAME.search(name) or _CAMEL_ID.search(name) or _JOINED_ID.search(name))


def _role_of_text(column: Column, present: int) -> tuple[str, str]:
    levels = [level for level, count in zip(column.levels, column.counts.tolist(), strict=True) if count]
    used = len(levels)
    some = [levels[i] for i in distinct(np.linspace(0, len(levels) - 1, min(len(levels), 200)).astype(int))]
    if sum(looks_like_date(level.strip()) for level in some) >= 0.95 * len(some):
        return OUT, "it holds dates"
    if used == 1 and present == len(column):
        return OUT, "it never changes"
    if all(map(_TIME.fullmatch, some)):
        return OUT, "it holds times of day or durations, and no numbers"
    if {level.strip().casefold() for level in levels[:20]} <= _PARTS and len(levels) < 20:
        return OUT, "it says which rows are for training and which for testing; all of them are used"
    if used > 50:
        refuse_nearly_numbers(column.name, levels, lambda level: _first_row(column, level))
    if present >= LEAST_ROWS and (used >= 0.9 * present or (used > present / 2 and used > 100)):
        length = sum(len(level) for level in some) / len(some)
        if length > 25 and sum(" " in level.strip() for level in some) > len(some) / 2:
            return OUT, "it is free text, and needs features made from it first"
        if _around_numbers(some):
            return OUT, f"its values, such as {some[0]!r}, are not read as numbers, and nearly every row has its own"
        return OUT, "nearly every row has a text of its own, as names do"
    if present >= LEAST_ROWS and _is_id(column.name) and used > present / 2:
        return OUT, "it names the rows"
    return CATEGORY, ""


def _around_numbers(levels: Sequence[str]) -> bool:
    """Whether numbers lead all levels and the text around them is one of a few."""
    around = {re.sub(r"[\d.,]+", "#", level.strip().lstrip("+-")) for level in levels}
    return len(around) <= 3 and all(text.startswith("#") for text in around)


def refuse_nearly_numbers(name: str, levels: Sequence[str], row_of: Callable[[str], str] = lambda level: "") -> None:
    """Many levels that are numbers, but for a few: most likely numbers with slips, which no guess should mend."""
    if found := nearly_numbers(levels, row_of):
        raise DataError(
            f"Column {name!r} holds {found}. Correct the file, or leave the column out, or say that it is a category "
            f"(--drop {name} or --categorical {name}), or which values mean missing (--na)."
        )


def nearly_numbers(levels: Sequence[str], row_of: Callable[[str], str] = lambda level: "") -> str:
    """What keeps levels that are numbers from being read as such; "" where they are none.

    ``row_of``: the end of a sentence that says where a level is first.
    """
    some = [levels[i] for i in distinct(np.linspace(0, len(levels) - 1, min(len(levels), 200)).astype(int))]
    point, comma = ([is_number(level, sign) for level in some] for sign in ".,")
    sign = "," if sum(comma) > sum(point) else "."
    odd = [level for level in levels if not is_number(level, sign)]
    if max(sum(point), sum(comma)) >= 0.9 * len(some) and odd:
        return f"numbers except for {names(odd, most=3)}{row_of(odd[0])}"
    if formatted_numbers(levels) is not None and all(point):
        return (
            f"numbers as text, such as {names(list(levels), most=2)}, in a file that has a type for numbers "
            "and should hold them so"
        )
    if all(point) and any(level_numbers([level]) is None for level in some):
        return f"numbers in several units, such as {names(_of_each_unit(levels), most=3)}"
    if sum(a or b for a, b in zip(point, comma, strict=True)) >= 0.9 * len(some):
        shown = next((level for level in levels if "," in level), levels[0])
        return (
            f"numbers, such as {shown!r}, but not all with the same decimal sign as the rest of the table (a point "
            "or a comma)"
        )
    return ""


def _of_each_unit(levels: Sequence[str]) -> list[str]:
    """A level of each unit that there is."""
    return list({re.sub(r"[-+(]?[\d.,' ]+\)?", "", level): level for level in levels}.values())


def _first_row(column: Column, level: str) -> str:
    row = int(np.flatnonzero(column.values == column.levels.index(level))[0]) + 1
    return f" (first in row {row} of the data)"
