"""How results read in a terminal and in a notebook: titles, short tables, sentences below them; colours of classes."""

from __future__ import annotations

import functools
import html
import importlib
import textwrap
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from discriminant.errors import printable

ENDS = 5  # rows of a long table at its beginning and at its end
COLUMNS = 12  # columns that a table shows
WIDE = 100  # characters of a line of words
LONG = 40  # rows from which on a table is shown by its ends
# The colours of classes in every picture, on light ground (Okabe and Ito's, 2008) and on dark: colour-blind readers
# tell them apart, and with eight markers sixty-four classes differ.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C564B", "#4D5D75")
DARK_COLORS = ("#3D9BE0", "#FF7A2E", "#2FCFA2", "#EE93CB", "#F2CF4A", "#B9E6FF", "#A06C60", "#6C7C99")


def color_and_marker(k: int) -> tuple[int, int]:
    """(which of the colours, which of eight markers) of class k: circle, square, up, diamond, down, plus, x, star."""
    return k % len(COLORS), (k + k // len(COLORS)) % 8


@functools.cache
def page_file(folder: str, name: str) -> str:
    """A file of a page; a style has the colours of classes, --c1 and so on."""
    from importlib import resources  # loads a dozen modules

    text = resources.files("discriminant").joinpath(folder, name).read_text(encoding="utf-8")
    for place, colors in (("/* light */", COLORS), ("/* dark */", DARK_COLORS)):
        text = text.replace(place, " ".join(f"--c{k + 1}: {shade};" for k, shade in enumerate(colors)))
    return text


def cell(value: object) -> str:
    """A number with a few digits, or text without control characters."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, float | np.floating):
        number = float(value)
        return "–" if number != number else f"{number:.4g}"
    return str(value)


def shortened(rows: Sequence[int]) -> list[int | None]:
    """Row numbers, of which a long list keeps both ends; None stands for what lies between."""
    return list(rows) if len(rows) <= 2 * ENDS else [*rows[:ENDS], None, *rows[-ENDS:]]


def width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(ch) else 2 if unicodedata.east_asian_width(ch) in "WF" else 1 for ch in text)


def table_lines(rows: Sequence[Sequence[str]], left: Sequence[bool], rule: bool = False) -> list[str]:
    """The lines of a table of text whose first row is the head, each column to the left or to the right."""
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    sides = [str.ljust if one else str.rjust for one in left]
    lines = [
        "  ".join(
            side(text, len(text) + wide - width(text)) for side, text, wide in zip(sides, row, widths, strict=True)
        ).rstrip()
        for row in rows
    ]
    return [lines[0], "─" * max(map(width, lines)), *lines[1:]] if rule else lines


def aligned(table: Mapping[str, Sequence[str]], left: Iterable[str] = (), rule: bool = False) -> list[str]:
    """The lines of a table of text, numbers to the right and the columns ``left`` to the left."""
    cells = [[name, *values] for name, values in table.items()]
    return table_lines(list(zip(*cells, strict=True)), [name in set(left) for name in table], rule)


def html_table(
    table: Mapping[str, Sequence[str]], title: str = "", below: Iterable[str] = (), left: Iterable[str] = ()
) -> str:
    """The same as HTML, with sentences above and below."""
    sides = [f' style="{"text-align:left" if name in set(left) else "white-space:nowrap"}"' for name in table]
    head = "".join(f"<th{side}>{html.escape(name)}</th>" for side, name in zip(sides, table, strict=True))
    rows = "".join(
        "<tr>" + "".join(f"<td{side}>{html.escape(text)}</td>" for side, text in zip(sides, row, strict=True)) + "</tr>"
        for row in zip(*table.values(), strict=True)
    )
    grid = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>" if table else ""
    return paragraphs([title] if title else []) + grid + paragraphs(below)


def wrapped(lines: Iterable[str]) -> list[str]:
    """Sentences for a terminal, broken between words."""
    return [part for line in lines for part in textwrap.wrap(line, WIDE, break_on_hyphens=False)]


def data_frame(columns: Mapping[str, Any]) -> Any:
    """A pandas data frame."""
    return importlib.import_module("pandas").DataFrame(columns)


def class_table(
    what: str, count: Any, weight: Any, first: Mapping[str, Any], name: str, values: Any
) -> tuple[str, dict[str, Any], list[str], list[str]]:
    """What a table shows of numbers (K, d) of K classes: a row for each column, and below how large the classes are."""
    K, d = values.shape
    table = {"column": np.arange(d), **first, **{f"{name} {k}": row for k, row in enumerate(values)}}
    sizes = {"rows": count, "weight": weight} if (count != weight).any() else {"rows": count}
    below = [
        f"{size} of the classes: {', '.join(f'{one:.6g}' for one in some[:COLUMNS])}{', …' * (K > COLUMNS)}"
        for size, some in sizes.items()
    ]
    return f"{what} of {count.sum():.0f} rows: {d} columns, {K} classes", table, [], below


def paragraphs(lines: Iterable[str]) -> str:
    """Sentences as HTML."""
    return "".join(f"<p>{html.escape(line)}</p>" for line in lines)


class Shown:
    """A result that reads as a title, a short table and sentences below it; ``to_frame()`` has the rest."""

    def _shown(self) -> tuple[str, Mapping[str, Sequence[Any]], Sequence[str], Iterable[str]]:
        """(title, the table, which of its columns hold words, sentences below); cells are numbers or text."""
        raise NotImplementedError

    def to_frame(self) -> Any:
        """The whole table as a pandas data frame.

        Returns
        -------
        DataFrame
            Every row and column.
        """
        return data_frame(self._shown()[1])

    def _short(self) -> tuple[list[str], dict[str, list[str]], Sequence[str], list[str]]:
        title, table, left, below = self._shown()
        rows = len(next(iter(table.values()), ()))
        kept = list(range(rows)) if rows <= LONG else shortened(range(rows))
        short = {
            name: ["…" if i is None else cell(column[i]) for i in kept]
            for name, column in list(table.items())[:COLUMNS]
        }
        more = [f"{rows} rows in all: to_frame() has them"] * (len(kept) < rows)
        more += [f"… and {len(table) - COLUMNS} more columns: to_frame() has them all"] * (len(table) > COLUMNS)
        return [title] * bool(title), short, left, [*more, *below]

    def __repr__(self) -> str:
        title, table, left, below = self._short()
        return "\n".join([*title, *(aligned(table, left) if table else []), *wrapped(below)])

    def _repr_html_(self) -> str:
        title, table, left, below = self._short()
        return html_table(table, "".join(title), below, left)
