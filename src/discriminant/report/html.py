"""The page around the drawings: one HTML file, no network, one small script; words from outside are escaped."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from discriminant.protocols import Array
from discriminant.report import svg
from discriminant.report.measures import Z
from discriminant.shown import page_file

_NUMBER = re.compile(r"[+−–<-]?[\d.,e+-]*(?: ?%)?(?: ± [\d.]+)?(?: to [\d.]+ %| \([\d.]+ %\))?")
Cell = str | tuple[str]  # text, or ready HTML in a one-element tuple


def table(head: Sequence[Cell], rows: Sequence[Sequence[Cell]], *, chosen: int = -1) -> str:
    """A table; columns of numbers stand to the right."""
    right = [j > 0 and bool(rows) and all(_is_number(row[j]) for row in rows) for j in range(len(head))]
    lines = [
        "<thead><tr>" + "".join(_cell("th", name, right[j]) for j, name in enumerate(head)) + "</tr></thead><tbody>"
    ]
    for i, row in enumerate(rows):
        start = '<tr class="chosen">' if i == chosen else "<tr>"
        lines.append(start + "".join(_cell("td", cell, right[j]) for j, cell in enumerate(row)) + "</tr>")
    return f'<div class="scroll"><table>{"".join(lines)}</tbody></table></div>'


def folded(body: str, count: int, what: str, most: int = 15) -> str:
    """A long table behind a line that opens it."""
    return body if count <= most else f"<details><summary>{count} {what}</summary>{body}</details>"


def _is_number(cell: Any) -> bool:
    return isinstance(cell, str) and bool(_NUMBER.fullmatch(cell))


def _cell(tag: str, cell: Cell, right: bool) -> str:
    if isinstance(cell, tuple) and cell[0].startswith("<t"):
        return cell[0]
    inner = cell[0] if isinstance(cell, tuple) else svg.words(cell)
    return f'<{tag} class="number">{inner}</{tag}>' if right else f"<{tag}>{inner}</{tag}>"


def marked(k: int, name: str) -> tuple[str]:
    """A class with its mark."""
    return (f"{svg.mark(k)} {svg.words(name)}",)


def below(first: str, second: str) -> tuple[str]:
    """A cell of two lines."""
    return (f"{svg.words(first)}<small>{svg.words(second)}</small>",)


def shaded(text: str, depth: float, *, good: bool) -> tuple[str]:
    """A cell on a ground of its sign, deeper with its size."""
    ground = f"color-mix(in srgb, var(--{'good' if good else 'bad'}) {100 * depth:.0f}%, transparent)"
    return (
        f'<td class="middle" style="background:{ground}">{text}</td>' if depth else f'<td class="middle">{text}</td>',
    )


def centred(names: Sequence[str]) -> list[tuple[str]]:
    return [(f'<div class="middle">{svg.mark(k)} {svg.words(name)}</div>',) for k, name in enumerate(names)]


def confusion_table(counts: Array, classes: Sequence[str]) -> str:
    """True classes in rows, decided classes in columns; right and wrong in different colours, deeper with the share.

    A phone has no room for the last column, the recall, which the table of the classes gives too.
    """
    rows: list[list[Cell]] = []
    for k, name in enumerate(classes):
        total = max(int(counts[k].sum()), 1)
        depths = [
            0.08 + 0.5 * c / total if j == k else min(0.75, 0.12 + c / total) * (c > 0) for j, c in enumerate(counts[k])
        ]
        cells = [shaded(f"{c:,}", depths[j], good=j == k) for j, c in enumerate(counts[k].tolist())]
        found = f'<td class="number wide">{100 * counts[k, k] / total:.1f} %</td>'
        rows.append([marked(k, name), *cells, (found,)])
    return table(["is, decided as", *centred(classes), ('<th class="number wide">found</th>',)], rows)


def heat_table(names: Sequence[str], classes: Sequence[str], values: Array, errors: Array | None) -> str:
    """Signed numbers on a ground of their sign and size; 95 % intervals from standard errors below them."""
    largest = float(abs(values).max()) or 1.0
    rows: list[list[Cell]] = []
    for i, name in enumerate(names):
        cells = [
            shaded(estimate(v, None if errors is None else errors[i, j]), 0.55 * abs(v) / largest, good=v > 0)
            for j, v in enumerate(values[i].tolist())
        ]
        rows.append([name, *cells])
    return table(["", *centred(classes)], rows)


def estimate(value: float, error: float | None) -> str:
    """A signed number, and below it the 95 % interval of a normal estimate with this standard error."""
    below = "" if error is None else f"<small>{value - Z * error:.2f} to {value + Z * error:.2f}</small>"
    return f"{value:+.3g}{below}"


def bars(
    names: Sequence[Cell], values: Array, low: Any = None, high: Any = None, *, unit: str = "",
    fills: tuple[str, str] = ("var(--good)", "var(--good)"),
) -> str:  # fmt: skip
    """Bars about a common zero with their values, ``fills`` of negative and positive ones; intervals as whiskers."""
    low, high = (np.full(len(values), np.nan),) * 2 if low is None else (low, high)
    all_ends = [0.0, *(float(v) for v in (*values, *low, *high) if np.isfinite(v))]
    ends = min(all_ends), max(all_ends)
    sign = "+" if ends[0] < 0 else ""
    cells = [
        f'<td class="bar">{svg.scale(v, ends, a, b, fill=fills[int(v > 0)])}</td>'
        for v, a, b in zip(values, low, high, strict=True)
    ]
    said = [f"{v:.1f}{unit}" if unit else f"{v:{sign}.3g}" for v in values]
    return table(["", "", ""], [[n, (c,), text] for n, c, text in zip(names, cells, said, strict=True)])


def section(title: str, text: str, body: str, caption: str = "", *, kind: str = "") -> str:
    """A card: heading, a sentence (ready HTML), the table or drawing, and what to see in it."""
    under = f"<figcaption>{caption}</figcaption>" if caption else ""
    said = f"<p>{text}</p>" if text else ""
    mark = f' class="{kind}"' if kind else ""
    return f'<section id="{anchor(title)}"{mark}><h2>{escape(title)}</h2>{said}<figure>{body}{under}</figure></section>'


def anchor(title: str) -> str:
    return "".join(ch if ch.isalnum() else "-" for ch in title.lower())


def cards(items: Sequence[tuple[str, str]]) -> str:
    """Large figures with a word below each."""
    inner = "".join(f'<div class="card"><b>{escape(big)}</b><span>{escape(small)}</span></div>' for big, small in items)
    return f'<div class="cards">{inner}</div>'


def page(title: str, subtitle: str, head: str, sections: Mapping[str, str]) -> str:
    """The whole file from its sections by their titles."""
    links = " ".join(f'<a href="#{anchor(name)}">{escape(name)}</a>' for name in sections)
    script = page_file("report", "page.js")
    # A page that may load nothing and run nothing but this script, whatever stands in it.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    meta = (
        f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{escape(title)}</title>'
    )
    body = f'<h1>{escape(title)}</h1><p class="soft">{escape(subtitle)}</p>{head}<nav>{links}</nav>'
    markers = f'<svg width="0" height="0" style="position:absolute" aria-hidden="true"><defs>{svg.MARKERS}</defs></svg>'
    return (
        f'<!doctype html>\n<html lang="en"><head>{meta}<style>{page_file("report", "page.css")}</style></head>\n'
        f"<body>{markers}<main>{body}{''.join(sections.values())}</main>\n"
        f"<script>{script}</script></body></html>\n"
    )
