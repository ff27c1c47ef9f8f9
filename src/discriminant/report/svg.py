"""Drawings as inline SVG: axes, points over regions, curves.  Plain values in, text out.

Every drawing is ``WIDTH`` units wide, so that its text can be read on a phone; the page's style says how large it is
and what the colours are, of light and dark ground.  Every text is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from discriminant.protocols import Array
from discriminant.shown import color_and_marker

WIDTH = 420.0
MOST_RINGED = 8  # classes up to which errors are ringed
MOST_LETTERS = 50  # of an axis's name
_LONG, _BREAK = re.compile(r"\S{13,}"), re.compile(r"(?<=\S{4})[_/=)](?=\S{2})|[^\s_/=)]{12}(?=\S{3})")
INK, LINE = "var(--ink)", "var(--axis)"
DASHES = ("", "7 3", "2 3", "9 3 2 3")
Bounds = tuple[tuple[float, float], tuple[float, float]]
_MARKERS = (
    "M-3.2 0a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0 -6.4 0z", "M-2.9 -2.9h5.8v5.8h-5.8z", "M0 -3.8L3.5 2.5H-3.5z",
    "M0 -4.1L3.8 0L0 4.1L-3.8 0z", "M0 3.8L3.5 -2.5H-3.5z",
    "M-1.3 -3.7h2.6v2.4h2.4v2.6h-2.4v2.4h-2.6v-2.4h-2.4v-2.6h2.4z",
    "M-3.5 -1.7l1.8 -1.8L0 -1.8l1.7 -1.7l1.8 1.8L1.8 0l1.7 1.7l-1.8 1.8L0 1.8l-1.7 1.7l-1.8 -1.8L-1.8 0z",
    "M0 -4.3L1.2 -1.5L4.2 -1.3L1.9 .7L2.6 3.7L0 2L-2.6 3.7L-1.9 .7L-4.2 -1.3L-1.2 -1.5z",
)  # fmt: skip
MARKERS = "".join(f'<path id="m{k}" d="{path}"/>' for k, path in enumerate(_MARKERS))


def colour(k: int) -> str:
    """The colour of class k."""
    return f"var(--c{color_and_marker(k)[0] + 1})"


def dash(k: int) -> str:
    """The dashes of the curves of class k: classes that share a colour differ in them."""
    return DASHES[k // 8 % len(DASHES)]


def words(said: str) -> str:
    """Text that fits a narrow cell: a long word may be broken, at its underscores if it has some; a number keeps its %.

    >>> words("R&D Donaudampfschifffahrt")
    'R&amp;D Donaudampfsc<wbr>hifffahrt'
    """
    parts = _LONG.sub(lambda word: _BREAK.sub("\\g<0>\0", word[0]), said.replace("\0", "")).split("\0")
    return "<wbr>".join(map(escape, parts)).replace(" %", "&nbsp;%")


def fitting(said: str, most: int = MOST_LETTERS) -> str:
    """A name, of which a class's or a column's may be longer than the place for it, such as an axis."""
    return said if len(said) <= most else said[: most - 1] + "…"


def text(x: float, y: float, words: Any, *, anchor: str = "start", kind: str = "") -> str:
    """Words at a place; ``anchor`` start, middle or end; ``kind`` a class of the page's style."""
    style = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{style}>{escape(str(words))}</text>'


def drawing(height: float, label: str, parts: Sequence[str]) -> str:
    """The whole picture, with a description for those who do not see it."""
    head = f'<svg class="drawing" viewBox="0 0 {WIDTH:g} {height:g}" role="img"'
    return f'{head} aria-label="{escape(label, quote=True)}">{"".join(parts)}</svg>'


def ticks(low: float, high: float, most: int = 5) -> Array:
    """Round numbers between two ends, about as many as asked for."""
    span = high - low
    if not span > 0 or not np.isfinite(span):
        return np.array([low])
    raw = span / most
    power = 10.0 ** np.floor(np.log10(raw))
    step = power * next(factor for factor in (1, 2, 5, 10) if factor * power >= raw * (1 - 1e-9))
    count = np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1)
    return np.asarray(count * step + 0.0)  # −0 is written as 0


@dataclass(frozen=True)
class Plane:
    """Maps data coordinates to the units of a drawing, y upwards."""

    bounds: Bounds
    height: float = 300.0
    left: float = 52.0
    bottom: float = 42.0
    top: float = 6.0
    right: float = WIDTH - 6.0

    def __call__(self, x: float, y: float) -> tuple[float, float]:
        (x0, x1), (y0, y1) = self.bounds
        across = self.left + (x - x0) / (x1 - x0) * (self.right - self.left)
        return across, self.top + (y1 - y) / (y1 - y0) * (self.height - self.bottom - self.top)

    def axes(self, x_label: str, y_label: str) -> str:
        """A frame with round ticks and the names of the axes."""
        (x0, x1), (y0, y1) = self.bounds
        base = self.height - self.bottom
        out = []
        for tick in ticks(x0, x1):
            x, _ = self(tick, y0)
            out.append(f'<path d="M{x:.1f} {base}v4" stroke="{LINE}"/>')
            out.append(text(min(x, self.right - 8), base + 16, f"{tick:.6g}", anchor="middle", kind="soft"))
        for tick in ticks(y0, y1):
            _, y = self(x0, tick)
            out.append(f'<path d="M{self.left} {y:.1f}h-4" stroke="{LINE}"/>')
            out.append(text(self.left - 6, max(y, self.top + 4) + 4, f"{tick:.6g}", anchor="end", kind="soft"))
        out.append(text((self.left + self.right) / 2, self.height - 6, fitting(x_label), anchor="middle"))
        turned = f'transform="translate(12 {(base + self.top) / 2:.1f}) rotate(-90)"'
        out.append(f'<text {turned} text-anchor="middle">{escape(fitting(y_label))}</text>')
        size = f'width="{self.right - self.left}" height="{base - self.top}"'
        return f'<rect x="{self.left}" y="{self.top}" {size} fill="none" stroke="{LINE}"/>' + "".join(out)

    def points(self, points: Array) -> str:
        """Points (n, 2) as a polygon or polyline has them."""
        return " ".join("{:.1f},{:.1f}".format(*self(x, y)) for x, y in points.tolist())

    def line(self, x: Array, y: Array, stroke: str, *, wide: float = 1.6, dash: str = "") -> str:
        """A curve through points; at most some hundred of them are kept."""
        # Evenly, and closer at the start, where curves over thresholds turn fastest.
        last = len(x) - 1
        keep = np.unique(np.r_[np.linspace(0, last, min(len(x), 400)), np.geomspace(1, last + 1, 200) - 1].astype(int))
        points = self.points(np.column_stack([x, y])[keep])
        broken = f' stroke-dasharray="{dash}"' if dash else ""
        return f'<polyline points="{points}" fill="none" stroke="{stroke}" stroke-width="{wide}"{broken}/>'

    def diagonal(self) -> str:
        """From corner to corner of the unit square."""
        return self.line(np.array([0.0, 1.0]), np.array([0.0, 1.0]), LINE, wide=0.8, dash="4 3")

    def whisker(self, x: float, low: float, high: float, y: float, stroke: str, note: str) -> str:
        """A point with its interval upright."""
        (across, bottom), (_, top), (_, middle) = self(x, low), self(x, high), self(x, y)
        upright = f'<path d="M{across:.1f} {bottom:.1f}V{top:.1f}" stroke="{stroke}"/>'
        inside = f"<title>{escape(note)}</title>"
        return f'{upright}<circle cx="{across:.1f}" cy="{middle:.1f}" r="3.2" fill="{stroke}">{inside}</circle>'


def mark(k: int, *, line: bool = False) -> str:
    """The mark of class k, or its line, among words."""
    broken = f' stroke-dasharray="{dash(k)}"' if dash(k) else ""
    drawn = f'<path d="M-12 0h24" stroke="{colour(k)}" stroke-width="2.5"{broken}/>'
    shape = drawn if line else f'<use href="#m{color_and_marker(k)[1]}" fill="{colour(k)}"/>'
    return f'<svg class="mark" viewBox="{"-12 -5 24" if line else "-5 -5 10"} 10" aria-hidden="true">{shape}</svg>'


def legend(classes: Sequence[str]) -> str:
    """The classes with their marks, as a line of the page that may be as long as it must."""
    items = "".join(f"<span>{mark(k)} {words(name)}</span> " for k, name in enumerate(classes))
    return f'<p class="legend">{items}</p>'


def scatter(
    points: Array, codes: Array, classes: Sequence[str], ground: str, plane: Plane, wrong: Array, names: tuple[str, str]
) -> str:
    """Points (n, 2) over a ground that shows the regions; errors are ringed, or, of many classes, the means named."""
    few = len(classes) <= MOST_RINGED
    out = [ground, plane.axes(*names), f'<g class="points{"" if few else " faint"}">']
    for i, ((x, y), k) in enumerate(zip(points.tolist(), codes.tolist(), strict=True)):
        across, down = plane(x, y)
        note = f"<title>{escape(classes[k])}{' (decided otherwise)' if wrong[i] else ''}</title>"
        out.append(
            f'<use href="#m{color_and_marker(k)[1]}" x="{across:.1f}" y="{down:.1f}" fill="{colour(k)}">{note}</use>'
        )
    out.append("</g>")
    for x, y in points[wrong].tolist() if few else ():
        across, down = plane(x, y)
        out.append(f'<circle cx="{across:.1f}" cy="{down:.1f}" r="5.2" fill="none" stroke="{INK}"/>')
    for k, name in enumerate(() if few else classes):
        if (codes == k).any():
            across, down = plane(*points[codes == k].mean(axis=0))
            out.append(text(across, down + 5, fitting(name, 12), anchor="middle", kind="name"))
    label = f"Rows by class, {names[0]} against {names[1]}"
    return legend(classes) + drawing(plane.height, label, out)


def polygons(regions: Sequence[Array], plane: Plane) -> str:
    """Exact regions of linear discriminants."""
    drawn = "".join(
        f'<polygon points="{plane.points(polygon)}" fill="{colour(k)}" stroke="var(--card)" stroke-width="2"/>'
        for k, polygon in enumerate(regions)
        if len(polygon)
    )
    return f'<g class="ground">{drawn}</g>'


def raster(codes: Array, plane: Plane) -> str:
    """Regions from decisions on a grid (rows from the top): runs of equal decisions as strips."""
    height, width = codes.shape
    (x0, x1), (y0, y1) = plane.bounds
    left, top = plane(x0, y1)
    right, bottom = plane(x1, y0)
    dx, dy = (right - left) / width, (bottom - top) / height
    out = []
    for i, row in enumerate(codes.tolist()):
        start = 0
        for j in range(1, width + 1):
            if j == width or row[j] != row[start]:
                place = f'x="{left + start * dx:.1f}" y="{top + i * dy:.1f}"'
                size = f'width="{(j - start) * dx + 0.4:.1f}" height="{dy + 0.4:.1f}"'
                out.append(f'<rect {place} {size} fill="{colour(row[start])}"/>')
                start = j
    return f'<g class="ground">{"".join(out)}</g>'


def histogram(scores: Array, codes: Array, classes: Sequence[str], name: str, boundary: float) -> str:
    """The scores of each class, drawn over one another, with the boundary."""
    low, high = np.quantile(scores, [0.002, 0.998])
    pad = 0.06 * (high - low) or 1.0
    edges = np.linspace(low - pad, high + pad, 41)
    counts = [np.histogram(np.clip(scores[codes == k], edges[0], edges[-1]), edges)[0] for k in range(len(classes))]
    top = max(1, *(int(c.max(initial=0)) for c in counts))
    plane = Plane(((edges[0], edges[-1]), (0.0, top * 1.08)), height=240.0)
    out = [plane.axes(name, "rows")]
    for k, count in enumerate(counts):
        points = plane.points(np.column_stack([np.repeat(edges, 2), np.r_[0, np.repeat(count, 2), 0]]))
        out.append(f'<polygon points="{points}" fill="{colour(k)}" fill-opacity=".35" stroke="{colour(k)}"/>')
    if edges[0] < boundary < edges[-1]:
        at, _ = plane(boundary, 0.0)
        down = f"M{at:.1f} {plane.top}V{plane.height - plane.bottom}"
        out.append(f'<path d="{down}" stroke="{INK}" stroke-dasharray="5 3"/>')
        out.append(text(at + 4, plane.top + 13, "boundary", kind="soft"))
    return legend(classes) + drawing(plane.height, f"Distribution of the {name} in each class", out)


def heat(counts: Array, classes: Sequence[str]) -> str:
    """A map of many classes: a row for each true class, its errors in the columns they were decided for."""
    K = len(classes)
    start = 20.0 if max(map(len, classes)) <= 2 and K <= 30 else 2.0  # room for short names; others are in the titles
    side = (WIDTH - 2 - start) / K
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    out = [f'<rect x="{start}" y="{start}" width="{K * side}" height="{K * side}" fill="none" stroke="{LINE}"/>']
    for k, name in enumerate(classes if start > 2 else ()):
        middle = start + (k + 0.5) * side
        out.append(text(start - 4, middle + 5, name, anchor="end", kind="soft"))
        out.append(text(middle, start - 5, name, anchor="middle", kind="soft"))
    for i, j in zip(*(found.tolist() for found in np.nonzero(counts)), strict=True):
        depth = 0.1 + 0.7 * shares[i, j] if i == j else min(1.0, 0.25 + 3 * shares[i, j])
        paint = f'fill="var(--{"good" if i == j else "bad"})" fill-opacity="{depth:.2f}"'
        note = f"is {classes[i]}, decided as {classes[j]}: {counts[i, j]:,} rows"
        place = f'x="{start + j * side:.1f}" y="{start + i * side:.1f}" width="{side:.1f}" height="{side:.1f}"'
        out.append(f"<rect {place} {paint}><title>{escape(note)}</title></rect>")
    return drawing(WIDTH, "Map of the decisions: true classes from the top, decided classes from the left", out)


def scale(value: float, ends: tuple[float, float], low: float, high: float, *, fill: str, bar: bool = True) -> str:
    """A number on the scale of its column, for a table's cell: a bar from zero or a point, with its interval."""

    def at(number: float) -> float:
        return 1 + 98 * (min(max(number, ends[0]), ends[1]) - ends[0]) / ((ends[1] - ends[0]) or 1.0)

    a, b = (sorted((at(0.0), at(value)))) if bar else (at(value) - 0.8, at(value) + 0.8)
    out = [f'<rect x="{a:.1f}" y="3" width="{b - a:.1f}" height="14" fill="{fill}"/>']
    if np.isfinite(low) and np.isfinite(high):
        out.append(f'<path d="M{at(low):.1f} 10H{at(high):.1f}M{at(low):.1f} 6v8M{at(high):.1f} 6v8" stroke="{INK}"/>')
    if bar:
        out.append(f'<path d="M{at(0.0):.1f} 0v20" stroke="{LINE}"/>')
    return f'<svg class="scale" viewBox="0 0 100 20" preserveAspectRatio="none" aria-hidden="true">{"".join(out)}</svg>'


def spark(counts: Array) -> str:
    """A small histogram for a table's cell."""
    top = max(int(counts.max(initial=0)), 1)
    step = 110 / max(len(counts), 1)
    parts = []
    for i, count in enumerate(counts.tolist()):
        tall = 20 * count / top
        place = f'x="{i * step:.1f}" y="{22 - tall:.1f}" width="{max(step - 1, 1):.1f}" height="{tall + 0.5:.1f}"'
        parts.append(f"<rect {place}/>")
    return f'<svg class="spark" viewBox="0 0 110 23" aria-hidden="true">{"".join(parts)}</svg>'
