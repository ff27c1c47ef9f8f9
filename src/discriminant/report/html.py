"""The page around the drawings: one HTML file, no network, no script; every word that came from outside is escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Any

from discriminant.protocols import Array
from discriminant.report.measures import Z

_NUMBER = re.compile(r"[+−–<-]?[\d.,e+-]*(?: ?%)?(?: ± [\d.]+)?(?: to [\d.]+ %| \([\d.]+ %\))?")
STYLE = """
:root { --ink: #1b2530; --soft: #5b6875; --line: #dde3e9; --blue: #0b6e8f; --red: #c2500a }
* { box-sizing: border-box }
body { font: 16px/1.55 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; color: var(--ink); background: #f5f7f9;
margin: 0 }
main { max-width: 70rem; margin: 0 auto; padding: 2.2rem 1.2rem 4rem }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .3rem; overflow-wrap: anywhere }
h2 { font-size: 1.2rem; margin: 0 0 .4rem } h3 { font-size: 1rem; margin: 1.1rem 0 .3rem }
p { margin: .3rem 0 .8rem; max-width: 52rem } .soft, figcaption { color: var(--soft); font-size: .92rem }
section { background: #fff; border: 1px solid var(--line); border-radius: 10px; padding: 1.3rem 1.5rem;
margin-top: 1.2rem }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .8rem; margin-top: 1.2rem }
.card { background: #fff; border: 1px solid var(--line); border-radius: 10px; padding: .8rem 1rem }
.card b { display: block; font-size: 1.45rem; line-height: 1.25; overflow-wrap: anywhere }
.card span { color: var(--soft); font-size: .88rem }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(24rem, 1fr)); gap: 0 1.2rem }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .94rem }
th { font-weight: 600; color: var(--soft); font-size: .85rem }
th, td { padding: .35rem .7rem; text-align: left; vertical-align: middle }
.number { text-align: right; white-space: nowrap } td.middle { text-align: center; border-radius: 4px }
th:first-child, td:first-child { padding-left: 0 } tr + tr td { border-top: 1px solid var(--line) }
.scroll { overflow-x: auto; max-height: 34rem } figure { margin: .4rem 0 } ul { margin: .2rem 0; padding-left: 1.2rem }
svg { display: block; width: 100%; height: auto } svg.spark { width: 110px; height: 23px }
svg text { font: 13px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: var(--ink) }
svg .soft { fill: var(--soft); font-size: 12.5px }
pre { background: #f5f7f9; border: 1px solid var(--line); border-radius: 8px; padding: .9rem 1rem; overflow-x: auto;
font-size: .86rem }
summary { cursor: pointer; color: var(--blue) }
.warn { border-left: 4px solid var(--red) } .good { color: var(--blue) } .bad { color: var(--red) }
nav { margin-top: .9rem; font-size: .92rem }
nav a { color: var(--blue); display: inline-block; margin-right: 1rem; text-decoration: none; white-space: nowrap }
@media print { body { background: #fff } section { break-inside: avoid; border: 0; padding: .6rem 0 }
nav { display: none } }
"""


def table(head: Sequence[str], rows: Sequence[Sequence[Any]], *, bold: int = -1) -> str:
    """A table; columns of numbers stand to the right.  A cell is text, or ready HTML in a one-element tuple."""
    right = [j > 0 and bool(rows) and all(_is_number(row[j]) for row in rows) for j in range(len(head))]
    lines = ["<tr>" + "".join(_cell("th", name, right[j]) for j, name in enumerate(head)) + "</tr>"]
    for i, row in enumerate(rows):
        start = '<tr style="font-weight:700">' if i == bold else "<tr>"
        lines.append(start + "".join(_cell("td", cell, right[j]) for j, cell in enumerate(row)) + "</tr>")
    return f'<div class="scroll"><table>{"".join(lines)}</table></div>'


def _is_number(cell: Any) -> bool:
    return isinstance(cell, str) and bool(_NUMBER.fullmatch(cell))


def _cell(tag: str, cell: Any, right: bool) -> str:
    inner = cell[0] if isinstance(cell, tuple) else escape(cell)
    return f'<{tag} class="number">{inner}</{tag}>' if right else f"<{tag}>{inner}</{tag}>"


def confusion_table(counts: Array, classes: Sequence[str]) -> str:
    """True classes in rows, decided classes in columns; right and wrong in different colours, deeper with the share."""
    head = "".join(f'<th style="text-align:center">{escape(name)}</th>' for name in classes)
    lines = [f"<tr><th>is, decided as</th>{head}<th class=number>found</th></tr>"]
    for k, name in enumerate(classes):
        total = max(int(counts[k].sum()), 1)
        cells = []
        for j, count in enumerate(counts[k].tolist()):
            depth = count / total
            paint = (
                f"rgba(11,110,143,{0.08 + 0.5 * depth:.2f})"
                if j == k
                else f"rgba(194,80,10,{min(0.75, 0.12 + depth):.2f})"
            )
            style = f' style="background:{paint}"' if count or j == k else ""
            cells.append(f'<td class="middle"{style}>{count:,}</td>')
        share = f'<td class="number">{100 * counts[k, k] / total:.1f} %</td>'
        lines.append(f"<tr><td>{escape(name)}</td>{''.join(cells)}{share}</tr>")
    return f'<div class="scroll"><table>{"".join(lines)}</table></div>'


def heat_table(names: Sequence[str], head: Sequence[str], values: Array, errors: Array | None) -> str:
    """Signed numbers on a ground of their sign and size; 95 % intervals from standard errors below them."""
    reach = float(abs(values).max()) or 1.0
    lines = ["<tr><th></th>" + "".join(f'<th style="text-align:center">{escape(name)}</th>' for name in head) + "</tr>"]
    for i, name in enumerate(names):
        cells = []
        for j, value in enumerate(values[i].tolist()):
            ground = "11,110,143" if value > 0 else "194,80,10"
            low, high = (0.0, 0.0) if errors is None else (value - Z * errors[i, j], value + Z * errors[i, j])
            below = "" if errors is None else f'<br><span class="soft">{low:.2f} to {high:.2f}</span>'
            depth = 0.55 * abs(value) / reach
            cells.append(f'<td class="middle" style="background:rgba({ground},{depth:.2f})">{value:+.3g}{below}</td>')
        lines.append(f"<tr><td>{escape(name)}</td>{''.join(cells)}</tr>")
    return f'<div class="scroll"><table>{"".join(lines)}</table></div>'


def section(title: str, text: str, body: str, caption: str = "", *, kind: str = "") -> str:
    """A card: heading, a sentence (ready HTML), the table or drawing, and what to see in it."""
    below = f"<figcaption>{caption}</figcaption>" if caption else ""
    said = f"<p>{text}</p>" if text else ""
    mark = f' class="{kind}"' if kind else ""
    return f'<section id="{anchor(title)}"{mark}><h2>{escape(title)}</h2>{said}<figure>{body}{below}</figure></section>'


def anchor(title: str) -> str:
    return "".join(ch if ch.isalnum() else "-" for ch in title.lower())


def cards(items: Sequence[tuple[str, str]]) -> str:
    """Large figures with a word below each."""
    inner = "".join(f'<div class="card"><b>{escape(big)}</b><span>{escape(small)}</span></div>' for big, small in items)
    return f'<div class="cards">{inner}</div>'


def listed(items: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"


def page(title: str, subtitle: str, head: str, sections: Sequence[tuple[str, str]]) -> str:
    """The whole file from (title, section) pairs."""
    links = " ".join(f'<a href="#{anchor(name)}">{escape(name)}</a>' for name, _ in sections)
    # A page that may load nothing and run nothing, whatever stands in it.
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    meta = (
        f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{escape(title)}</title>'
    )
    body = f'<h1>{escape(title)}</h1><p class="soft">{escape(subtitle)}</p>{head}<nav>{links}</nav>'
    return (
        f'<!doctype html>\n<html lang="en"><head>{meta}<style>{STYLE}</style></head>\n'
        f"<body><main>{body}{''.join(part for _, part in sections)}</main></body></html>\n"
    )
