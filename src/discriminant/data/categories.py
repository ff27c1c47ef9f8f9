"""Categories among the columns of a data frame, as columns of zeros and ones: treatment coding.

    category   a column "site=B" for each level but the first, the reference
    number     the value as it is

The order of levels is that of a pandas category or a polars Enum, else that of the alphabet; a level that no row of the
fit has gets no column.  The rules are those of tables (``data.preprocess``), so that files and exports know them.  But
an estimator fills nothing in by guess: a level that the fit did not know, or a missing one, is refused by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from discriminant.data.preprocess import ColumnRule, Preprocess, category_values
from discriminant.data.roles import CATEGORY, NUMBER
from discriminant.data.rows import ColumnRows, column_kinds, column_numbers
from discriminant.data.tables import Column, series_codes
from discriminant.errors import DataError, names
from discriminant.protocols import Array

MOST_LEVELS = 1_000  # of a column; more are names or numbers read as text
FEW_LEVELS = 50  # from which on a level needs two rows on average


def learn_categories(frame: Any) -> Preprocess | None:
    """What becomes of each column of a frame; None where no column holds categories or text."""
    if column_kinds(frame) <= set("fiub"):
        return None
    import narwhals.stable.v2 as nw

    table = nw.from_native(frame, eager_only=True)
    if not any(_is_category(dtype) for dtype in table.schema.values()):
        return None
    rules = tuple(_rule(series) for series in table.iter_columns())
    if not any(rule.features for rule in rules):
        raise DataError("Every column of X is a category with one level only: there is nothing to tell rows apart by.")
    return Preprocess(rules)


def encode_frame(rules: Sequence[ColumnRule], frame: Any) -> Array:
    """The columns of a frame, in the order of the rules, as numbers; float32 where all its numbers are."""
    import narwhals.stable.v2 as nw

    table = nw.from_native(frame, eager_only=True)
    values: list[Array | tuple[Array, Array]] = []
    for rule, series in zip(rules, table.iter_columns(), strict=True):
        if rule.role == CATEGORY:
            column = text_of(rule.name, series)
            values.append(category_values(rule, column, lambda row: f"row {row}"))
        else:
            values.append(column_numbers(series))
    single = [
        dtype == nw.Float32 for dtype, rule in zip(table.schema.values(), rules, strict=True) if rule.role == NUMBER
    ]
    shape = len(table), sum(len(rule.features) for rule in rules)
    # Column after column is written: in this order each is one stretch of memory.
    found = np.empty(shape, np.float32 if single and all(single) else np.float64, order="F")
    return ColumnRows(values, shape).fill(slice(None), found)


def text_of(name: str, series: Any) -> Column:
    """A column of categories with its texts as they stand."""
    codes, levels = series_codes(series)
    return Column(name, "text", codes, tuple(levels))


def level_rule(name: str, levels: Iterable[Any], counts: Sequence[float] = ()) -> ColumnRule:
    """The rule of a category; ``counts``: how many rows each level has."""
    texts = tuple(str(level) for level in levels)
    shares = tuple(float(count) / max(sum(counts), 1) for count in counts[1:]) or (0.0,) * (len(texts) - 1)
    return ColumnRule(name, CATEGORY, levels=texts, shares=shares)


def _is_category(dtype: Any) -> bool:
    return type(dtype).__name__ in ("Categorical", "Enum", "String")


def _rule(series: Any) -> ColumnRule:
    name = str(series.name)
    if not _is_category(series.dtype):
        values = column_numbers(series)
        return ColumnRule(name, NUMBER, fill=float(values.mean()) if len(values) else 0.0)
    column = text_of(name, series)
    counts = {level: count for level, count in zip(column.levels, column.counts.tolist(), strict=True) if count}
    if len(counts) > MOST_LEVELS or (len(counts) > FEW_LEVELS and 2 * len(counts) > len(series)):
        raise DataError(
            f"Column {name!r} holds {len(counts):,} different texts in {len(series):,} rows, such as "
            f"{names(list(counts), most=2)}: too many for categories. Make numbers of it, join levels, or leave it out."
        )
    levels = [level for level in _declared(series) if level in counts] or sorted(counts)
    return level_rule(name, levels, [counts[level] for level in levels])


def _declared(series: Any) -> list[str]:
    """The levels in the order that the column's type gives them; none where it gives no order."""
    ordered = type(series.dtype).__name__ == "Enum" or (
        type(series.dtype).__name__ == "Categorical" and series.implementation.is_pandas_like()
    )
    return [str(level) for level in series.cat.get_categories().to_list()] if ordered else []
