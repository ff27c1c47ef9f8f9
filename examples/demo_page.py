"""The page that the demo writes: tables and inline SVG in one HTML file that needs nothing else to be read.

Only drawing is done here.  Everything that is drawn comes in as plain values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

# Colours that remain apart for colour-blind readers, and a tint of each for the region behind the points.
COLOURS = ("#c2500a", "#7a3fa0", "#0b6e8f")
TINTS = ("#fbeadd", "#efe6f6", "#dff0f5")

STYLE = """
:root { --ink: #1b2530; --soft: #5b6875; --line: #dde3e9 }
* { box-sizing: border-box }
body { font: 16px/1.55 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; color: var(--ink) }
body { background: #f5f7f9; margin: 0 }
main { max-width: 68rem; margin: 0 auto; padding: 2.2rem 1.2rem 4rem }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .4rem } h2 { font-size: 1.15rem; margin: 0 0 .6rem }
p { margin: .3rem 0 .9rem; max-width: 50rem } .soft, figcaption { color: var(--soft); font-size: .92rem }
section { background: #fff; border: 1px solid var(--line); border-radius: 10px }
section { padding: 1.3rem 1.5rem; margin-top: 1.2rem }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(22rem, 1fr)); gap: 0 1.2rem }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .95rem }
th { font-weight: 600; color: var(--soft); font-size: .85rem } th, td { padding: .4rem .7rem; text-align: left }
.number { text-align: right } td.number { white-space: nowrap }
th:first-child, td:first-child { padding-left: 0 } tr + tr td { border-top: 1px solid var(--line) }
td.best { font-weight: 700 } td.hit, td.miss { text-align: center; border-radius: 4px }
.scroll { overflow-x: auto } svg + .scroll { margin: .5rem 0 } figure { margin: 0 }
svg { display: block; width: 100%; height: auto }
svg text { font: 13px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: var(--ink) }
svg .soft { fill: var(--soft); font-size: 12.5px }
"""


@dataclass(frozen=True)
class Plane:
    """Maps data coordinates to the pixels of a drawing, y upwards."""

    bounds: tuple[tuple[float, float], tuple[float, float]]  # ((x low, x high), (y low, y high))
    width: float = 900.0
    height: float = 560.0
    left: float = 54.0
    bottom: float = 46.0

    def __call__(self, x: float, y: float) -> tuple[float, float]:
        (x0, x1), (y0, y1) = self.bounds
        across = self.left + (x - x0) / (x1 - x0) * (self.width - self.left)
        return across, (y1 - y) / (y1 - y0) * (self.height - self.bottom)


def marker(kind: int, x: float, y: float, colour: str, size: float = 4.6) -> str:
    """A circle, triangle or square, so that classes can be told apart without colour."""
    paint = f'fill="{colour}" fill-opacity=".78" stroke="#fff" stroke-width=".8"'
    if kind % 3 == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}" {paint}/>'
    if kind % 3 == 1:
        s = size * 1.25
        return f'<path d="M{x:.1f} {y - s:.1f}l{s:.1f} {1.75 * s:.1f}h{-2 * s:.1f}z" {paint}/>'
    s = size * 1.75
    return f'<rect x="{x - s / 2:.1f}" y="{y - s / 2:.1f}" width="{s:.1f}" height="{s:.1f}" {paint}/>'


def axes(plane: Plane, x_label: str, y_label: str, step: float = 2.0) -> str:
    """A frame with a tick at every multiple of ``step`` and the names of the axes."""
    (x0, x1), (y0, y1) = plane.bounds
    base, out = plane.height - plane.bottom, []
    for tick in np.arange(np.ceil(x0 / step), np.floor(x1 / step) + 1) * step:
        x, _ = plane(tick, y0)
        out.append(f'<path d="M{x:.1f} {base}v5" stroke="#8b97a3"/>')
        out.append(f'<text x="{x:.1f}" y="{base + 19}" text-anchor="middle" class="soft">{tick:g}</text>')
    for tick in np.arange(np.ceil(y0 / step), np.floor(y1 / step) + 1) * step:
        _, y = plane(x0, tick)
        out.append(f'<path d="M{plane.left} {y:.1f}h-5" stroke="#8b97a3"/>')
        out.append(f'<text x="{plane.left - 9}" y="{y + 4:.1f}" text-anchor="end" class="soft">{tick:g}</text>')
    middle = (plane.left + plane.width) / 2
    out.append(f'<text x="{middle}" y="{plane.height - 6}" text-anchor="middle">{escape(x_label)}</text>')
    out.append(f'<text transform="translate(14 {base / 2}) rotate(-90)" text-anchor="middle">{escape(y_label)}</text>')
    box = f'x="{plane.left}" y=".5" width="{plane.width - plane.left - 0.5}" height="{base - 0.5}"'
    return f'<rect {box} fill="none" stroke="#8b97a3"/>' + "".join(out)


def scatter(
    points: np.ndarray,
    codes: np.ndarray,
    classes: Sequence[str],
    regions: Sequence[np.ndarray],
    bounds: tuple[tuple[float, float], tuple[float, float]],
    *,
    wrong: np.ndarray,
    chosen: int,
    labels: tuple[str, str],
) -> str:
    """Points (n, 2) over the polygons where each class is decided; errors ringed, one point pointed at."""
    plane = Plane(bounds)
    out = [
        f'<svg viewBox="0 0 {plane.width:g} {plane.height:g}" role="img" aria-label="Rows on two discriminant axes">'
    ]
    for k, polygon in enumerate(regions):
        corners = " ".join("{:.1f},{:.1f}".format(*plane(x, y)) for x, y in polygon)
        out.append(f'<polygon points="{corners}" fill="{TINTS[k % 3]}" stroke="#fff" stroke-width="2"/>')
    out.append(axes(plane, *labels))
    for (x, y), k in zip(points, codes, strict=True):
        out.append(marker(int(k), *plane(x, y), COLOURS[k % 3]))
    for x, y in points[wrong]:
        across, down = plane(x, y)
        out.append(
            f'<circle cx="{across:.1f}" cy="{down:.1f}" r="8.5" fill="none" stroke="#1b2530" stroke-width="1.5"/>'
        )
    out.append(pointer(*plane(*points[chosen])))
    for k, name in enumerate(classes):
        x, y = plane.left + 20, 24 + 23 * k
        out.append(marker(k, x, y, COLOURS[k % 3], 5.5) + f'<text x="{x + 14}" y="{y + 4.5}">{escape(name)}</text>')
    return "".join(out) + "</svg>"


def pointer(x: float, y: float) -> str:
    """A label with a line to the point (x, y)."""
    return (
        f'<path d="M{x - 7:.1f} {y + 6:.1f}l-58 48" stroke="#1b2530" stroke-width="1.3"/>'
        f'<text x="{x - 70:.1f}" y="{y + 62:.1f}" text-anchor="end" font-weight="600" style="paint-order:stroke" '
        f'stroke="#fff" stroke-width="4">explained below</text>'
    )


def bars(names: Sequence[str], values: Sequence[float], sides: tuple[str, str], colours: tuple[str, str]) -> str:
    """Signed bars about a common zero, with their values; ``sides`` say what negative and positive bars speak for."""
    row, top, width, middle, longest = 34.0, 30.0, 440.0, 278.0, 105.0
    reach = max(1e-12, *(abs(value) for value in values))
    height = top + row * len(values) + 4
    out = [f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="Contribution of each attribute">']
    out.append(f'<text x="{middle - 8}" y="14" text-anchor="end" class="soft">◀ {escape(sides[0])}</text>')
    out.append(f'<text x="{middle + 8}" y="14" class="soft">{escape(sides[1])} ▶</text>')
    for i, (name, value) in enumerate(zip(names, values, strict=True)):
        y, length = top + row * i, value / reach * longest
        x, end = middle + min(0.0, length), middle + length + (7 if value > 0 else -7)
        bar = f'x="{x:.1f}" y="{y + 5}" width="{abs(length):.1f}" height="20" rx="2" fill="{colours[int(value > 0)]}"'
        out.append(f'<text x="0" y="{y + 20}">{escape(name)}</text><rect {bar}/>')
        anchor = "start" if value > 0 else "end"
        out.append(f'<text x="{end:.1f}" y="{y + 20}" text-anchor="{anchor}">{value:+.1f}</text>')
    out.append(f'<path d="M{middle} {top - 6}V{height - 2}" stroke="#8b97a3"/>')
    return "".join(out) + "</svg>"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], best: Sequence[tuple[int, int]] = ()) -> str:
    """A table; columns whose cells begin with a digit, a sign or a dash stand to the right, ``best`` cells are bold."""
    right = [all(row[j][:1] in "0123456789+-–" for row in rows) for j in range(len(head))]
    kinds = [["number" if r else ""] * (len(rows) + 1) for r in right]
    for i, j in best:
        kinds[j][i + 1] += " best"
    lines = [
        "".join(f'<{tag} class="{kinds[j][i]}">{escape(cell)}</{tag}>' for j, cell in enumerate(row))
        for i, row in enumerate([head, *rows])
        for tag in ("td" if i else "th",)
    ]
    return f'<div class="scroll"><table><tr>{"</tr><tr>".join(lines)}</tr></table></div>'


def confusion(counts: np.ndarray, classes: Sequence[str]) -> str:
    """True classes in rows, decided classes in columns; right and wrong in different colours, deeper with the count."""
    lines = [
        "<tr><th>is, decided as</th>" + "".join(f'<th style="text-align:center">{escape(c)}</th>' for c in classes)
    ]
    for k, name in enumerate(classes):
        cells = []
        for j, count in enumerate(counts[k]):
            depth = 0.75 * count / counts[k].sum() if j == k else min(0.8, 0.25 + 0.1 * count) if count else 0.0
            colour = f"rgba(11,110,143,{0.12 + depth * 0.5:.2f})" if j == k else f"rgba(194,80,10,{depth:.2f})"
            cells.append(f'<td class="{"hit" if j == k else "miss"}" style="background:{colour}">{count}</td>')
        lines.append(f"<tr><td>{escape(name)}</td>" + "".join(cells))
    return f'<div class="scroll"><table>{"</tr>".join(lines)}</tr></table></div>'


def section(title: str, text: str, body: str, caption: str = "") -> str:
    """A card: heading, a sentence, the table or drawing, and what to see in it."""
    below = f"<figcaption>{caption}</figcaption>" if caption else ""
    return f"<section><h2>{escape(title)}</h2><p>{text}</p><figure>{body}{below}</figure></section>"


def page(title: str, subtitle: str, *sections: str) -> str:
    """The whole file."""
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
    body = f'<h1>{escape(title)}</h1><p class="soft">{escape(subtitle)}</p>{"".join(sections)}'
    return (
        f'<!doctype html>\n<html lang="en"><head>{head}<style>{STYLE}</style></head>\n'
        f"<body><main>{body}</main></body></html>\n"
    )
