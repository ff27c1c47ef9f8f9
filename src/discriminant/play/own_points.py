"""Points of one's own: a table of two or three columns, x, y and the class, brought onto the board."""

from __future__ import annotations

from typing import Any

import numpy as np

from discriminant.data.csv_text import decode, read_text, sniff
from discriminant.data.tables import Column, level_numbers
from discriminant.errors import DataError, counted, names, printable
from discriminant.play.presets import EXTENT
from discriminant.play.state import MOST_CLASSES, MOST_POINTS
from discriminant.protocols import Array

ROOM = 0.9 * EXTENT  # columns that do not lie on the board are scaled to ±ROOM


def own_points(name: str, text: str) -> dict[str, Any]:
    """{points [[x, y, class], …], story} of a file's text.

    >>> own_points("a.csv", "x,y,kind\\n1,2,b\\n3,4,a\\n")["points"]
    [[1.0, 2.0, 2], [3.0, 4.0, 1]]
    """
    called = printable(name)[:60]
    layout = sniff(decode(text.encode(), called), called)
    if level_numbers(layout.header[:2]) is not None:  # points, not names
        layout = sniff(text, called, header=False)
    columns = read_text(text, called, layout).columns
    if len(columns) not in (2, 3):
        raise DataError(
            f"{called} has {counted(len(columns), 'column')}; the playground takes two, x and y, or three, x, y and "
            "the class, with commas, semicolons or tabs between them."
        )
    for column in columns[:2]:
        if column.kind != "number":
            word = next(text for text in column.texts() if text)
            raise DataError(f"The column {column.name!r} of {called} must hold numbers; it holds {printable(word)!r}.")
    known = ~np.logical_or.reduce([column.missing for column in columns])
    rows = np.flatnonzero(known)
    if not len(rows):
        raise DataError(f"{called} has no row without missing values.")
    kept = rows[np.linspace(0, len(rows) - 1, min(len(rows), MOST_POINTS)).astype(int)]
    X, axes = _placed([column.take(kept) for column in columns[:2]])
    classes, codes = _classes(called, columns[2].take(kept)) if len(columns) == 3 else ([], np.zeros(len(kept), int))
    left = [f"{len(rows) - len(kept):,} rows are left out, evenly"] * (len(kept) < len(rows))
    left += [f"{counted(int((~known).sum()), 'row')} with missing values left out"] * (not known.all())
    parts = [f"class {k + 1} is {printable(label)}" for k, label in enumerate(classes)]
    story = f"{called}: {counted(len(kept), 'point')}; {'; '.join([*axes, *parts, *left])}."
    return {"points": [[a, b, int(k) + 1] for (a, b), k in zip(X.tolist(), codes, strict=True)], "story": story}


def _placed(columns: list[Column]) -> tuple[Array, list[str]]:
    """(coordinates on the board, what the axes are): as they stand where all lie on the board, else scaled."""
    X = np.column_stack([column.values for column in columns])
    parts = [f"{axis} is {printable(column.name)}" for axis, column in zip("xy", columns, strict=True)]
    if np.abs(X).max() > EXTENT:
        low, high = X.min(axis=0), X.max(axis=0)
        share = (X / 2 - low / 2) / np.where(high > low, high / 2 - low / 2, 1.0)  # halves do not overflow
        X = ROOM * (2 * share - 1) * (high > low)
        parts = [f"{one} from {a:.4g} to {b:.4g}, scaled" for one, a, b in zip(parts, low, high, strict=True)]
    return np.round(X, 3), parts


def _classes(called: str, column: Column) -> tuple[list[str], Array]:
    """(the labels in order, the code of each row)."""
    found, codes = np.unique(column.values if column.kind == "number" else column.texts(), return_inverse=True)
    labels = [f"{label:g}" if column.kind == "number" else str(label) for label in found]
    if len(labels) > MOST_CLASSES:
        raise DataError(
            f"The column {column.name!r} of {called} names {len(labels):,} classes ({names(labels, 3)}); "
            f"the playground takes {MOST_CLASSES} at most."
        )
    return labels, codes
