"""What a command reads: the table to learn from, its label checked and its columns decided; a model file; costs."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from discriminant import datasets
from discriminant.cli.console import Console
from discriminant.data.files import read_table
from discriminant.data.labels import encode_labels
from discriminant.data.libsvm import TARGET as LIBSVM_TARGET
from discriminant.data.preprocess import ColumnRule, Preprocess
from discriminant.data.roles import NUMBER
from discriminant.data.tables import MISSING_WORDS, Column, Table, differ_in_case, level_numbers
from discriminant.decision.risk import check_costs
from discriminant.errors import DataError, ParameterError, counted, names
from discriminant.io.model_file import load_fit
from discriminant.io.table_model import TableModel
from discriminant.protocols import Array

MOST_WHOLE, MOST_OTHER = 100, 20  # distinct numbers from which on a target looks like a measurement


@dataclass(frozen=True, eq=False)
class Training:
    """Rows with labels."""

    table: Table  # only the rows that have a label
    labels: Array
    target: str
    columns: dict[str, Any]  # tuples of names: what ``Preprocess.fit`` is told of them: drop, categorical, na, dates
    weighted: str = ""  # the column that says how much each row counts
    offset: str = ""  # the column of known parts of the log odds

    @property
    def weights(self) -> Array | None:
        return self.table.column(self.weighted).values if self.weighted else None

    @property
    def n(self) -> int:
        return len(self.labels)

    @cached_property
    def counts(self) -> dict[Any, int]:
        """How many rows each class has."""
        classes, codes = encode_labels(self.labels)
        sizes = np.bincount(codes, minlength=len(classes))
        return dict(zip(classes.tolist(), sizes.tolist(), strict=True))

    def rules(self, table: Table | None = None) -> Preprocess:
        """What each column is for, decided on all rows or on some."""
        found = Preprocess.fit(self.table if table is None else table, self.target, **self.columns)
        if not self.offset:
            return found
        others = tuple(rule for rule in found.rules if rule.name != self.offset)
        return replace(found, rules=(*others, ColumnRule(self.offset, NUMBER)))

    def standardized(self, rules: Preprocess, table: Table | None = None) -> Preprocess:
        """The rules with numbers brought to one unit; the offset keeps its own."""
        found = rules.standardized(self.table if table is None else table)
        return replace(found, rules=(*found.rules[:-1], rules.rules[-1])) if self.offset else found


def read_training(given: Namespace, console: Console) -> Training:
    """The training table of a command, with notes on what is odd about it."""
    console.progress(f"reading {given.data}")
    categorical, drop = listed(given.categorical), listed(given.drop)
    target = str(given.target or "")
    if not target and given.data in datasets.available():
        target = datasets.target(given.data)
    keep_text = [*categorical, *[target] * bool(target)]
    na = listed(given.na)
    table = read_data(given, keep_text)
    console.note(*table.notes)
    if not target and table.sparse is not None:
        target = LIBSVM_TARGET
    if not target:
        raise ParameterError(
            f"Say which column holds the label: --target COL. The columns are {names(table.names, 15)}."
        )
    table = table.without(na, keep_text or [target])
    labels, rows = table.labels(target)
    if not len(rows):
        raise DataError(f"No row has a label in {target!r}.")
    if len(rows) < table.n_rows:
        console.note(f"{counted(table.n_rows - len(rows), 'row')} without a label in {target!r} left out.")
        table = table.take(rows).reread(keep_text or [target])
    weighted = str(vars(given).get("weights", ""))
    if weighted:
        _check_weights(table.column(weighted), console)
        drop += (weighted,) * (weighted not in drop)
    offset = str(vars(given).get("offset", ""))
    if offset:
        column = table.column(offset)
        if column.kind != "number" or column.missing.any():
            raise DataError(f"The offset's column {offset!r} must hold a number in every row.")
        console.note(f"{offset!r} is added to the log odds with a weight of one, here and in predictions.")
        drop += (offset,) * (offset not in drop)
    columns = {"drop": drop, "categorical": categorical, "na": na, "dates": listed(given.dates)}
    training = Training(table, labels, target, columns, weighted, offset)
    for same in differ_in_case([str(label) for label in training.counts]):
        console.note(
            f"The classes {names(same)} differ only in case and are kept apart; correct the file if they are one."
        )
    if words := sorted(MISSING_WORDS.intersection(map(str, training.counts))):
        classes = "classes; if they mean" if len(words) > 1 else "a class; if it means"
        console.note(f"{names(words)} in {target!r} stands for {classes} missing, add --na={','.join(words)}.")
    if not given.as_classes:
        question_target(training)
    if len(training.counts) < 2:
        raise DataError(f"The label {target!r} is {names(list(training.counts))} in every row; two classes are needed.")
    return training


def _check_weights(column: Column, console: Console) -> None:
    """Numbers that are not negative, in every row."""
    if column.kind != "number" or column.missing.any() or (column.values < 0).any():
        what = "is no column of numbers" if column.kind != "number" else "holds missing or negative values"
        raise DataError(f"The weights' column {column.name!r} {what}; every row needs a weight, 0 or more.")
    console.note(f"{column.name!r} weighs the rows in the fit; rates of error count every row once.")


def read_data(given: Namespace, text_columns: Sequence[str]) -> Table:
    """The table that a command names, read as its options say."""
    header = False if given.no_header else None
    return read_table(given.data, text_columns=text_columns, header=header, encoding=given.encoding)


def listed(text: str) -> tuple[str, ...]:
    """The names in an option, separated by commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def question_target(training: Training) -> None:
    """Ask back where the label looks like a measurement or like a name of the row."""
    target, n, distinct = training.target, training.n, list(training.counts)
    count = len(distinct)
    typed = not isinstance(distinct[0], str)
    numbers = np.array(distinct, dtype=np.float64) if typed else level_numbers(distinct)
    anyway = "If they are classes all the same, add --as-classes."
    if numbers is not None and np.isfinite(numbers).all():
        whole = bool((numbers == np.rint(numbers)).all())
        many = count > MOST_WHOLE or (count > MOST_OTHER and (count > n / 5 or not whole))
        if many:
            raise DataError(
                f"The target {target!r} holds {count:,} different numbers from {numbers.min():g} to {numbers.max():g} "
                f"in {n:,} rows: is it a measurement? A classifier tells classes apart; make classes of it, for "
                f"example by a threshold, or name another column with --target. {anyway}"
            )
    elif n >= 20 and count > n / 2:
        raise DataError(
            f"The target {target!r} has {count:,} different values in {n:,} rows: is it a name or text? "
            f"A class needs several rows; name another column with --target. {anyway}"
        )


def open_model(path: str, costs: Sequence[str] = ()) -> TableModel:
    """The model with its preprocessing that ``fit --out`` wrote; ``costs``: to decide by."""
    if not Path(path).is_file():
        raise DataError(f"There is no model file {path!r}; discriminant fit DATA --out {path} writes one.")
    model = load_fit(path)
    if not isinstance(model, TableModel):
        raise DataError(
            f"{path} holds a {type(model).__name__} without the names and kinds of its columns, so that it cannot read "
            "a table. Write it with discriminant fit DATA --out FILE, or use it from Python."
        )
    found = read_costs(costs, model.classes_)
    return model if found is None else replace(model, costs=found)


def read_costs(texts: Sequence[str], classes: Array) -> Array | None:
    """costs[decided, true], 1 for errors that are not named; None where no costs are given."""
    if not texts:
        return None
    by_text = {str(label): label for label in classes.tolist()}
    found = {(a, k): float(a != k) for a in by_text.values() for k in by_text.values()}
    for text in texts:
        pair, equals, amount = text.rpartition("=")
        colons = (at for at, character in enumerate(pair) if character == ":")  # labels may hold some themselves
        cuts = ((pair[:at], pair[at + 1 :]) for at in colons)
        pairs = [cut for cut in cuts if by_text.keys() >= {*cut}]
        if not pairs:
            known = names(list(by_text), 12)
            raise ParameterError(f"--cost needs IS:DECIDED=COST with the classes {known}; {text!r} is none.")
        try:
            cost = float(amount)
        except ValueError:
            raise ParameterError(f"--cost {text!r}: {amount!r} is no number.") from None
        if not equals or not 0 <= cost < float("inf"):
            raise ParameterError(f"--cost {text!r}: a cost is a number that is not negative, after '='.")
        own, decided = pairs[0]
        found[by_text[decided], by_text[own]] = cost
    return check_costs(found, classes)[0]
