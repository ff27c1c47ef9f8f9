"""From a table's columns to numbers: what was decided at the fit, remembered and applied to every later table.

    number     the value; missing: the mean of the fit, and where many were missing a second column that says so
    category   one column of 0 and 1 for each level but the first; missing: a level of its own where it was common
    left out   dates, identifiers, free text, columns that never change

A level that the fit has not seen counts as an average row: its indicators are the levels' frequencies.  Every such
decision is a sentence in ``notes``, at the fit and at each later table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from discriminant.data.roles import CATEGORY, NUMBER, OUT, THEY, nearly_numbers, role_of
from discriminant.data.tables import Column, Table, differ_in_case, is_number, text_column, typed
from discriminant.errors import DataError, counted, names
from discriminant.protocols import Array

MOST_LEVELS = 50  # of a category that get a column of their own; rarer ones share "other"
MANY_LEVELS = 10  # of a category beyond which it is said that most are numbers
COMMON_SHARE = 0.05  # of missing numbers from which on it is worth a column that they were missing
COMMON_ROWS = 5
FEW_NOTES = 3  # of columns of which the same is true; more share one sentence

Remark = tuple[str, str, str]  # (what is true of a column, after "columns"; its name; the sentence on it alone)


def gathered(remarks: Sequence[Remark]) -> tuple[str, ...]:
    """The sentences; one where the same is true of many columns.

    >>> gathered([("never change", f"p{j}", "") for j in range(67)])
    ("67 columns never change: 'p0', 'p1', 'p2', 'p3', 'p4' and 62 more.",)
    """
    kinds: dict[str, list[Remark]] = {}
    for remark in remarks:
        kinds.setdefault(remark[0], []).append(remark)
    notes: list[str] = []
    for what, same in kinds.items():
        few = len(same) <= FEW_NOTES
        shared = f"{counted(len(same), 'column')} {what}: {names([name for _, name, _ in same])}."
        notes += [sentence for *_, sentence in same] if few else [shared]
    return tuple(notes)


@dataclass(frozen=True)
class ColumnRule:
    """What becomes of one column."""

    name: str
    role: str  # "number", "category" or "left out"
    why: str = ""  # of what is left out
    fill: float = 0.0  # numbers: the mean, in place of what is missing; NaN: missing is refused
    indicate: bool = False  # numbers: a second column says what was missing
    scale: float = 1.0  # numbers: (value − fill) / scale where scale is not 1
    levels: tuple[str, ...] = ()  # categories: those with a meaning of their own, the reference first
    pooled: tuple[str, ...] = ()  # categories: rarer levels that share one column
    missing: bool = False  # categories: missing is a level
    shares: tuple[float, ...] = ()  # categories: the frequency of each column at the fit; NaN: unseen is refused

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the numeric columns that this column becomes."""
        if self.role == NUMBER:
            return (self.name, f"{self.name} is missing") if self.indicate else (self.name,)
        if self.role == OUT:
            return ()
        extra = [f"{self.name}=(other)"] * bool(self.pooled) + [f"{self.name}=(missing)"] * self.missing
        return (*(f"{self.name}={level}" for level in self.levels[1:]), *extra)


@dataclass(frozen=True)
class Preprocess:
    """The rules of all columns, in the order of the fit."""

    rules: tuple[ColumnRule, ...]
    target: str = ""
    notes: tuple[str, ...] = field(default=(), compare=False)
    sparse_width: int = 0  # libsvm files: the number of features, all taken as they are
    na: tuple[str, ...] = ()  # values that mean missing, besides those that always do
    dates: tuple[tuple[str, str], ...] = ()  # columns of dates that are learned from, and how they are written

    @property
    def feature_names(self) -> list[str]:
        """The names of the columns of the matrix."""
        if self.sparse_width:
            return [f"x{j + 1}" for j in range(self.sparse_width)]
        return [name for rule in self.rules for name in rule.features]

    @property
    def text_columns(self) -> list[str]:
        """The columns to read as text: categories, and the label."""
        return [rule.name for rule in self.rules if rule.role == CATEGORY] + [self.target] * bool(self.target)

    @classmethod
    def fit(
        cls,
        table: Table,
        target: str = "",
        *,
        drop: Sequence[str] = (),
        categorical: Sequence[str] = (),
        standardize: bool = False,
        na: Sequence[str] = (),
        dates: Sequence[str] = (),
    ) -> Preprocess:
        """Decide what each column of the table is for.

        Parameters
        ----------
        table : Table
        target : the label's column, which is no feature
        drop : columns to leave out
        categorical : columns to take as categories though they hold numbers
        standardize : bring numbers to mean 0 and deviation 1, for methods whose answer depends on units
        na : values that mean missing, here and in later tables
        dates : columns of dates to take as numbers, days since 1970; "all": every one

        >>> from discriminant.data.files import read_table
        >>> rules = Preprocess.fit(read_table("penguins"), "species")
        >>> rules.feature_names[:4]
        ['island=Dream', 'island=Torgersen', 'bill_length_mm', 'bill_depth_mm']
        >>> rules.matrix(read_table("penguins"))[0].shape
        (344, 9)
        """
        for name in [*drop, *categorical, *[target] * bool(target), *(name for name in dates if name != "all")]:
            table.column(name)
        if table.sparse is not None:
            return cls((), target, (), int(table.sparse.shape[1]))
        given = table
        table = table.without(na, [*categorical, target])
        written = _spellings(table, dates, [*drop, target])
        table = _dated(table, written)
        rules: list[ColumnRule] = []
        notes: list[Remark] = []
        gaps: list[bytes] = []  # which rows are missing, of the columns that have an indicator
        for column in table.columns:
            if column.name == target:
                continue
            if column.name in drop:
                rules.append(ColumnRule(column.name, OUT, "it was asked for"))
                continue
            if column.name in categorical and column.kind == "number":
                column = text_column(column.name, column.texts())
            if column.name in dict(written):
                said = "dates, counted in days since 1970-01-01"
                notes.append((f"hold {said}", column.name, f"{column.name!r}: {said}."))
                rules.append(_number_rule(column, notes, gaps))
                continue
            rules.append(_rule_of(column, notes, gaps, asked=column.name in categorical))
        if not any(rule.features for rule in rules):
            raise DataError(f"{table.source} has no column to learn from: {_reasons(rules)}.")
        found = cls(tuple(rules), target, gathered(notes), na=tuple(na), dates=written)
        return found.standardized(given) if standardize else found

    def standardized(self, table: Table) -> Preprocess:
        """The same rules, with numbers brought to mean 0 and deviation 1 over the rows of this table."""
        if self.sparse_width:
            return self
        columns = {column.name: column for column in self._prepared(table).columns}
        rules = (_standardized(rule, columns[rule.name]) if rule.role == NUMBER else rule for rule in self.rules)
        return replace(self, rules=tuple(rules))

    def _prepared(self, table: Table) -> Table:
        """The table without the values that mean missing, and with its dates as numbers."""
        return _dated(table.without(self.na, self.text_columns), self.dates)

    def matrix(self, table: Table) -> tuple[Any, tuple[str, ...]]:
        """(X (n, features), notes): the numbers of a table's rows, columns found by name whatever their order."""
        if self.sparse_width:
            return self._sparse_matrix(table)
        table = self._prepared(table)
        used = [rule for rule in self.rules if rule.role != OUT]
        columns = {column.name: column for column in table.columns}
        absent = [rule.name for rule in used if rule.name not in columns]
        if absent:
            what = "column" if len(absent) == 1 else "columns"
            hint = table.suggest(absent[0]) if len(absent) == 1 else f"Its columns are {names(table.names, most=12)}."
            raise DataError(f"{table.source} lacks the {what} {names(absent)}, which the model needs. {hint}")
        # Column after column is written: in this order each is one stretch of memory.
        X = np.empty((table.n_rows, len(self.feature_names)), order="F")
        notes: list[Remark] = []
        start = 0
        for rule in used:
            stop = start + len(rule.features)
            write_column = _write_number if rule.role == NUMBER else _write_category
            write_column(rule, columns[rule.name], X[:, start:stop], notes, table.source)
            start = stop
        return X, gathered(notes)

    def _sparse_matrix(self, table: Table) -> tuple[Any, tuple[str, ...]]:
        if table.sparse is None:
            raise DataError(f"The model was fitted on a libsvm file, and {table.source} is none.")
        from scipy import sparse

        # ``resize`` writes into the row ends alone, and leaves out what lies beyond the last column.
        parts = (table.sparse.data, table.sparse.indices, table.sparse.indptr.copy())
        X = sparse.csr_array(parts, shape=table.sparse.shape)
        X.resize(table.n_rows, self.sparse_width)
        n_missing = int(table.sparse.nnz - X.nnz)
        note = f"{n_missing} entries have indices beyond {self.sparse_width}, the last of the fit; they are left out."
        return X, (note,) if n_missing else ()


def _spellings(table: Table, dates: Sequence[str], others: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The columns of dates that are asked for, with how they are written."""
    if not dates:
        return ()
    from discriminant.data.dates import spelling_of

    there = [column for column in table.columns if column.name not in others]
    if "all" in dates:
        dates = [one.name for one in there if role_of(one)[1].startswith(("it holds dates", "it holds times"))]
    wanted = [one.name for one in there if one.name in dates]
    return tuple((name, spelling_of(table.column(name))) for name in wanted)


def _dated(table: Table, dates: Sequence[tuple[str, str]]) -> Table:
    """The table with these columns as days since 1970."""
    if not dates:
        return table
    from discriminant.data.dates import as_days

    written = dict(dates)
    columns = (as_days(one, written[one.name]) if one.name in written else one for one in table.columns)
    return replace(table, columns=tuple(columns))


def _reasons(rules: Sequence[ColumnRule]) -> str:
    return "; ".join(f"{rule.name!r} is left out, since {rule.why}" for rule in rules[:6]) or "it holds the label only"


def _rule_of(column: Column, notes: list[Remark], gaps: list[bytes], *, asked: bool) -> ColumnRule:
    role, why = (CATEGORY, "") if asked and column.kind == "text" else role_of(column)
    if role == OUT:
        notes.append((f"are left out, since {THEY.get(why, why)}", column.name, f"{column.name!r} is left out: {why}."))
        return ColumnRule(column.name, OUT, why)
    if role == NUMBER:
        return _number_rule(column, notes, gaps)
    used = [level for level, count in zip(column.levels, column.counts.tolist(), strict=True) if count]
    if not asked and len(used) > MANY_LEVELS and (found := nearly_numbers(used)):
        sentence = f"{column.name!r} is taken as a category of {len(used)} levels: it holds {found}."
        notes.append((f"are taken as categories, since they hold {found}", column.name, sentence))
    return category_rule(column.name, column.levels, column.counts, int(np.count_nonzero(column.missing)), notes)


def _number_rule(column: Column, notes: list[Remark], gaps: list[bytes]) -> ColumnRule:
    gone = column.missing
    n_missing, n = int(np.count_nonzero(gone)), len(gone)
    fill = _mean(column.values[~gone] if n_missing else column.values)
    if not n_missing:
        return ColumnRule(column.name, NUMBER, fill=fill)
    mask = np.packbits(gone).tobytes()
    indicate = n_missing >= max(COMMON_ROWS, COMMON_SHARE * n) and mask not in gaps
    if indicate:
        gaps.append(mask)
    also = "; a column of its own says where" if indicate else ""
    sentence = f"{column.name!r}: {_are_missing(n_missing, n)}, filled with the mean {fill:.4g}{also}."
    notes.append((f"have missing values, filled with the mean of each{also}", column.name, sentence))
    return ColumnRule(column.name, NUMBER, fill=fill, indicate=indicate)


def _standardized(rule: ColumnRule, column: Column) -> ColumnRule:
    away = (column.values[~column.missing] if column.missing.any() else column.values) - rule.fill
    largest = max(float(away.max(initial=0.0)), -float(away.min(initial=0.0)))
    if 1e-100 < largest < 1e100:
        deviation = float(np.sqrt(away @ away / len(away)))
    else:  # squares would leave the range of numbers
        deviation = largest * float(np.sqrt(((away / largest) ** 2).mean())) if largest > 0 else 0.0
    # A scale of exactly 1 stands for "as it is", so it is moved by the last bit.
    return replace(rule, scale=float(np.nextafter(1.0, 2.0)) if deviation == 1.0 else deviation or 1.0)


def _are_missing(n_missing: int, n: int) -> str:
    return f"{n_missing:,} of {n:,} values {'is' if n_missing == 1 else 'are'} missing"


def _missing_categories(name: str, n_missing: str, level: bool) -> Remark:
    how = "a level of their own" if level else "counted as average rows"
    return f"have missing values, {how}", name, f"{name!r}: {n_missing}, {how}."


def _mean(values: Array) -> float:
    """The mean; each value divided first where the sum overflows."""
    with np.errstate(over="ignore"):
        total = float(values.sum())
    return total / len(values) if math.isfinite(total) else float((values / len(values)).sum())


def category_rule(name: str, levels: Sequence[str], counts: Array, n_missing: int, notes: list[Remark]) -> ColumnRule:
    """The rule for a category with so many rows of each level, and ``n_missing`` rows without one."""
    order = np.lexsort((np.arange(len(counts)), -counts))
    order = order[counts[order] > 0]
    kept, rare = order[:MOST_LEVELS], order[MOST_LEVELS:]
    n = int(counts.sum()) + n_missing
    missing = n_missing >= COMMON_ROWS
    if n_missing:
        notes.append(_missing_categories(name, _are_missing(n_missing, n), missing))
    if len(rare):
        sentence = f"{name!r}: its {len(rare):,} rarest of {len(order):,} levels share one column, (other)."
        notes.append(("have rare levels, which share one column, (other)", name, sentence))
    for same in differ_in_case([levels[k] for k in kept]):
        said = "differ only in case and are kept apart"
        notes.append((f"have levels that {said}", name, f"{name!r}: the levels {names(same)} {said}."))
    # The reference, whose indicators are all zero, is the first by name, as in R and in ``data.categories``.
    first = sorted(int(k) for k in kept)
    present = max(n - n_missing * (not missing), 1)
    shares = [counts[k] / present for k in first[1:]]
    shares += [counts[rare].sum() / present] * bool(len(rare)) + [n_missing / present] * missing
    return ColumnRule(
        name, CATEGORY, levels=tuple(levels[k] for k in first), pooled=tuple(levels[int(k)] for k in rare),
        missing=missing, shares=tuple(float(s) for s in shares),
    )  # fmt: skip


def _write_number(rule: ColumnRule, column: Column, part: Array, notes: list[Remark], source: str) -> None:
    numbers = typed(column)
    if numbers.kind != "number":
        raise DataError(f"Column {rule.name!r} of {source} must hold numbers{_odd_value(column)}.")
    part[:, 0] = numbers.values
    gone = numbers.missing
    n_missing = int(np.count_nonzero(gone))
    if rule.indicate:
        part[:, 1] = gone
    if n_missing and math.isnan(rule.fill):
        raise DataError(
            f"Column {rule.name!r} of {source} has {counted(n_missing, 'missing value')}, and the model has nothing to "
            "fill them with: leave those rows out, or fit with an imputer."
        )
    if n_missing:
        part[gone, 0] = rule.fill
        sentence = f"{rule.name!r}: {counted(n_missing, 'missing value')}, filled with the mean {rule.fill:.4g}."
        notes.append(("have missing values, filled with the mean of each at the fit", rule.name, sentence))
    if rule.scale != 1.0:
        part[:, 0] -= rule.fill
        part[:, 0] /= rule.scale


def _odd_value(column: Column) -> str:
    for code, level in enumerate(column.levels if column.kind == "text" else ()):
        if column.counts[code] and not is_number(level):
            return f", and row {int(np.argmax(column.values == code)) + 1} of the data holds {level!r}"
    return ""


def indicator_table(rule: ColumnRule, levels: Sequence[str]) -> tuple[Array, list[int]]:
    """((levels + 1, width) the numbers that each level stands for, the last row for missing values; unseen levels)."""
    width = len(rule.features)
    place = {level: j - 1 for j, level in enumerate(rule.levels)}  # −1: the reference
    place |= dict.fromkeys(rule.pooled, len(rule.levels) - 1)
    rows = np.zeros((len(levels) + 1, width))
    unseen = [code for code, level in enumerate(levels) if level not in place]
    rows[unseen] = rule.shares
    for code, level in enumerate(levels):
        if place.get(level, -1) >= 0:
            rows[code, place[level]] = 1.0
    rows[-1] = np.eye(width)[-1] if rule.missing else rule.shares
    return rows, unseen


def category_values(rule: ColumnRule, column: Column, where: Callable[[int], str] | None) -> tuple[Array, Array]:
    """(codes, the numbers that each stands for): codes[i] = −1, a missing value, is the last row of numbers.

    ``where``: the name of a row in the sentence that refuses what the fit does not know; None: that is taken as an
    average row.
    """
    table, unseen = indicator_table(rule, column.levels)
    if where is not None:
        if new := [code for code in unseen if column.counts[code]]:
            row = where(int((column.values == new[0]).argmax()))
            raise DataError(
                f"Column {rule.name!r} holds {column.levels[new[0]]!r} in {row}, which no row of the fit has: it knew "
                f"{names(rule.levels)}."
            )
        if column.missing.any() and not rule.missing:
            raise DataError(
                f"Column {rule.name!r} has no value in {where(int(column.missing.argmax()))}: a missing category is no "
                "level. Drop those rows, or give what is missing a level of its own (such as 'unknown')."
            )
    return column.values, table


def _write_category(rule: ColumnRule, column: Column, part: Array, notes: list[Remark], source: str) -> None:
    if column.kind == "number":
        column = text_column(column.name, column.texts())
    if column.kind != "text":
        raise DataError(f"Column {rule.name!r} of {source} must hold categories, and holds {column.levels[0]}.")
    rows, unseen = indicator_table(rule, column.levels)
    for j in range(rows.shape[1]):
        np.take(rows[:, j], column.values, out=part[:, j], mode="wrap")  # −1, a missing one, is the last
    counts = column.counts
    new = [column.levels[code] for code in unseen if counts[code]]
    if (new or (column.missing.any() and not rule.missing)) and np.isnan(rule.shares).any():
        what = f"{names(new)}, not seen at the fit" if new else "missing values"
        raise DataError(
            f"Column {rule.name!r} of {source} holds {what}, and the model has no answer for that: leave those rows "
            "out, or fit with an encoder that has one (handle_unknown='ignore')."
        )
    if new:
        count = int(counts[unseen].sum())
        said = f"{names(new)} not seen at the fit ({counted(count, 'row')}), counted as average rows"
        notes.append(("have levels not seen at the fit, counted as average rows", rule.name, f"{rule.name!r}: {said}."))
    n_missing = int(np.count_nonzero(column.missing))
    if n_missing:
        notes.append(_missing_categories(rule.name, counted(n_missing, "missing value"), rule.missing))
