"""How results read in a terminal and in a notebook: a title, a short table, and sentences below it."""

from __future__ import annotations

import html
import importlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from discriminant.errors import printable

ENDS = 5  # rows of a long table at its beginning and at its end


def cell(value: object, digits: int = 4) -> str:
    """A number with a few digits, or text without control characters."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, float | np.floating):
        number = float(value)
        return "–" if number != number else f"{number:.{digits}g}"
    return str(value)


def shortened(rows: Sequence[int]) -> list[int | None]:
    """Row numbers, of which a long list keeps both ends; None stands for what lies between."""
    return list(rows) if len(rows) <= 2 * ENDS else [*rows[:ENDS], None, *rows[-ENDS:]]


def aligned(table: Mapping[str, Sequence[str]], left: Iterable[str] = (), rule: bool = False) -> list[str]:
    """The lines of a table of text, numbers to the right and the columns ``left`` to the left."""
    cells = [[name, *values] for name, values in table.items()]
    widths = [max(map(len, column)) for column in cells]
    sides = [str.ljust if name in set(left) else str.rjust for name in table]
    lines = [
        "  ".join(side(text, width) for side, text, width in zip(sides, row, widths, strict=True)).rstrip()
        for row in zip(*cells, strict=True)
    ]
    return [lines[0], "─" * max(map(len, lines)), *lines[1:]] if rule else lines


def html_table(table: Mapping[str, Sequence[str]], title: str = "", below: Iterable[str] = ()) -> str:
    """The same as HTML, with sentences above and below."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in table)
    rows = "".join(
        "<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in row) + "</tr>"
        for row in zip(*table.values(), strict=True)
    )
    grid = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>" if table else ""
    return paragraphs([title] if title else []) + grid + paragraphs(below)


def data_frame(columns: Mapping[str, Any]) -> Any:
    """A pandas data frame."""
    return importlib.import_module("pandas").DataFrame(columns)


def paragraphs(lines: Iterable[str]) -> str:
    """Sentences as HTML."""
    return "".join(f"<p>{html.escape(line)}</p>" for line in lines)
