"""Drawings as inline SVG: axes, points over regions, curves, bars, error bars.  Plain values in, text out.

Every text is escaped.  Colours remain apart for colour-blind readers, and classes differ in shape as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from discriminant.protocols import Array

COLOURS = ("#c2500a", "#0b6e8f", "#7a3fa0", "#3d7a1f", "#b3144f", "#8a6d00", "#1f4fb3", "#4a5560")
TINTS = ("#fbeadd", "#dff0f5", "#efe6f6", "#e6f2dd", "#f9e1ea", "#f6f0d8", "#e2e9f8", "#e7eaee")
INK, SOFT, LINE = "#1b2530", "#5b6875", "#8b97a3"
Bounds = tuple[tuple[float, float], tuple[float, float]]


def colour(k: int) -> str:
    return COLOURS[k % len(COLOURS)]


def tint(k: int) -> str:
    return TINTS[k % len(TINTS)]


def text(x: float, y: float, words: Any, *, anchor: str = "start", soft: bool = False, extra: str = "") -> str:
    """Words at a place; ``anchor`` start, middle or end."""
    kind = ' class="soft"' if soft else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{kind} {extra}>{escape(str(words))}</text>'


def drawing(width: float, height: float, label: str, parts: Sequence[str]) -> str:
    """The whole picture, with a description for those who do not see it."""
    head = f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(label, quote=True)}">'
    return head + "".join(parts) + "</svg>"


def ticks(low: float, high: float, most: int = 7) -> Array:
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
    """Maps data coordinates to the pixels of a drawing, y upwards."""

    bounds: Bounds
    width: float = 900.0
    height: float = 540.0
    left: float = 70.0
    bottom: float = 48.0
    top: float = 8.0

    def __call__(self, x: float, y: float) -> tuple[float, float]:
        (x0, x1), (y0, y1) = self.bounds
        across = self.left + (x - x0) / (x1 - x0) * (self.width - self.left - 8)
        return across, self.top + (y1 - y) / (y1 - y0) * (self.height - self.bottom - self.top)

    def axes(self, x_label: str, y_label: str) -> str:
        """A frame with round ticks and the names of the axes."""
        (x0, x1), (y0, y1) = self.bounds
        base, right = self.height - self.bottom, self.width - 8
        out = []
        for tick in ticks(x0, x1):
            x, _ = self(tick, y0)
            out.append(f'<path d="M{x:.1f} {base}v5" stroke="{LINE}"/>')
            out.append(text(x, base + 19, f"{tick:.6g}", anchor="middle", soft=True))
        for tick in ticks(y0, y1):
            _, y = self(x0, tick)
            out.append(f'<path d="M{self.left} {y:.1f}h-5" stroke="{LINE}"/>')
            out.append(text(self.left - 9, y + 4, f"{tick:.6g}", anchor="end", soft=True))
        out.append(text((self.left + right) / 2, self.height - 8, x_label, anchor="middle"))
        turned = f'transform="translate(14 {(base + self.top) / 2:.1f}) rotate(-90)"'
        out.append(f'<text {turned} text-anchor="middle">{escape(y_label)}</text>')
        box = f'x="{self.left}" y="{self.top}" width="{right - self.left}" height="{base - self.top}"'
        return f'<rect {box} fill="none" stroke="{LINE}"/>' + "".join(out)

    def line(self, x: Array, y: Array, stroke: str, *, wide: float = 2.2, dash: str = "") -> str:
        """A curve through points; at most some hundred of them are kept."""
        # Evenly, and closer at the start, where curves over thresholds turn fastest.
        last = len(x) - 1
        keep = np.unique(np.r_[np.linspace(0, last, min(len(x), 400)), np.geomspace(1, last + 1, 200) - 1].astype(int))
        points = " ".join("{:.1f},{:.1f}".format(*self(float(x[i]), float(y[i]))) for i in keep)
        broken = f' stroke-dasharray="{dash}"' if dash else ""
        return f'<polyline points="{points}" fill="none" stroke="{stroke}" stroke-width="{wide}"{broken}/>'


def marker(kind: int, x: float, y: float, size: float = 4.4, title: str = "") -> str:
    """Circle, triangle, square, diamond: classes can be told apart without colour."""
    paint = f'fill="{colour(kind)}" fill-opacity=".78" stroke="#fff" stroke-width=".8"'
    inner = f"<title>{escape(title)}</title>" if title else ""
    shape = kind % 5  # eight colours, five shapes: forty classes before a pair comes again
    if shape == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}" {paint}>{inner}</circle>'
    s = size * (1.25 if shape == 1 else 0.88 if shape == 2 else 1.3)
    path = {
        1: f"M{x:.1f} {y - s:.1f}l{s:.1f} {1.75 * s:.1f}h{-2 * s:.1f}z",
        2: f"M{x - s:.1f} {y - s:.1f}h{2 * s:.1f}v{2 * s:.1f}h{-2 * s:.1f}z",
        3: f"M{x:.1f} {y - s:.1f}l{s:.1f} {s:.1f}l{-s:.1f} {s:.1f}l{-s:.1f} {-s:.1f}z",
        4: f"M{x:.1f} {y + s:.1f}l{s:.1f} {-1.5 * s:.1f}h{-2 * s:.1f}z",
    }[shape]
    return f'<path d="{path}" {paint}>{inner}</path>'


def legend(classes: Sequence[str], x: float, y: float) -> str:
    """The classes with their marks, on a white ground."""
    longest = max(len(name) for name in classes)
    box = f'x="{x - 14}" y="{y - 16}" width="{longest * 7.4 + 42}" height="{22 * len(classes) + 10}"'
    out = [f'<rect {box} fill="#fff" fill-opacity=".82" rx="6"/>']
    for k, name in enumerate(classes):
        out.append(marker(k, x, y + 22 * k, 5.4) + text(x + 14, y + 22 * k + 4.5, name))
    return "".join(out)


def scatter(
    points: Array, codes: Array, classes: Sequence[str], ground: str, plane: Plane, wrong: Array, names: tuple[str, str]
) -> str:
    """Points (n, 2) over a ground that shows the regions; errors are ringed."""
    out = [ground, plane.axes(*names)]
    for i, ((x, y), k) in enumerate(zip(points.tolist(), codes.tolist(), strict=True)):
        out.append(marker(k, *plane(x, y), title=f"{classes[k]}{' (decided otherwise)' if wrong[i] else ''}"))
    for x, y in points[wrong].tolist():
        across, down = plane(x, y)
        ring = f'r="8.2" fill="none" stroke="{INK}" stroke-width="1.4"'
        out.append(f'<circle cx="{across:.1f}" cy="{down:.1f}" {ring}/>')
    out.append(legend(classes[:12], plane.left + 24, plane.top + 24))
    return drawing(plane.width, plane.height, f"Rows by class, {names[0]} against {names[1]}", out)


def polygons(regions: Sequence[Array], plane: Plane) -> str:
    """Exact regions of linear discriminants."""
    out = []
    for k, polygon in enumerate(regions):
        if len(polygon):
            corners = " ".join("{:.1f},{:.1f}".format(*plane(x, y)) for x, y in polygon.tolist())
            out.append(f'<polygon points="{corners}" fill="{tint(k)}" stroke="#fff" stroke-width="2"/>')
    return "".join(out)


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
                out.append(f'<rect {place} {size} fill="{tint(row[start])}"/>')
                start = j
    return "".join(out)


def histogram(scores: Array, codes: Array, classes: Sequence[str], name: str, boundary: float | None) -> str:
    """The scores of each class, drawn over one another, with the boundary."""
    low, high = np.quantile(scores, [0.002, 0.998])
    pad = 0.06 * (high - low) or 1.0
    edges = np.linspace(low - pad, high + pad, 41)
    counts = [np.histogram(np.clip(scores[codes == k], edges[0], edges[-1]), edges)[0] for k in range(len(classes))]
    top = max(1, *(int(c.max(initial=0)) for c in counts))
    plane = Plane(((edges[0], edges[-1]), (0.0, top * 1.08)), height=380.0)
    out = [plane.axes(name, "rows")]
    for k, count in enumerate(counts):
        x, y = np.repeat(edges, 2)[1:-1], np.repeat(count, 2)
        points = " ".join("{:.1f},{:.1f}".format(*plane(float(a), float(b))) for a, b in zip(x, y, strict=True))
        start, end = plane(edges[0], 0.0), plane(edges[-1], 0.0)
        shape = f"{start[0]:.1f},{start[1]:.1f} {points} {end[0]:.1f},{end[1]:.1f}"
        out.append(f'<polygon points="{shape}" fill="{colour(k)}" fill-opacity=".3" stroke="{colour(k)}"/>')
    if boundary is not None and edges[0] < boundary < edges[-1]:
        at, _ = plane(boundary, 0.0)
        down = f"M{at:.1f} {plane.top}V{plane.height - plane.bottom}"
        out.append(f'<path d="{down}" stroke="{INK}" stroke-dasharray="6 4"/>')
        out.append(text(at + 6, plane.top + 16, "boundary", soft=True))
    out.append(legend(classes[:12], plane.left + 24, plane.top + 24))
    return drawing(plane.width, plane.height, f"Distribution of the {name} in each class", out)


def bars(names: Sequence[str], values: Sequence[float], low: Any = None, high: Any = None, unit: str = "") -> str:
    """Bars about a common zero with their values; where there are intervals, whiskers."""
    ends = [*values, *([] if low is None else [*low, *high])]
    signed = any(value < 0 for value in ends)
    row, top, width = 30.0, 8.0, 760.0
    middle, longest = (440.0, 190.0) if signed else (250.0, 400.0)
    reach = max(1e-300, *(abs(value) for value in ends if np.isfinite(value)))
    height = top + row * len(values) + 8
    out = []
    for i, (name, value) in enumerate(zip(names, values, strict=True)):
        y, length = top + row * i, value / reach * longest
        paint = colour(0) if value < 0 else colour(1)
        out.append(text(0, y + 19, name if len(name) < 34 else name[:32] + "…"))
        place = f'x="{middle + min(0.0, length):.1f}" y="{y + 5}" width="{abs(length):.1f}" height="18" rx="2"'
        out.append(f'<rect {place} fill="{paint}" fill-opacity=".82"/>')
        end = length
        if low is not None and np.isfinite(low[i]) and np.isfinite(high[i]):
            a, b = middle + low[i] / reach * longest, middle + high[i] / reach * longest
            out.append(f'<path d="M{a:.1f} {y + 14}H{b:.1f}M{a:.1f} {y + 9}v10M{b:.1f} {y + 9}v10" stroke="{INK}"/>')
            end = (b if value >= 0 else a) - middle
        at = middle + end + (8 if value >= 0 else -8)
        shown = f"{value:+.3g}{unit}" if signed else f"{value:.3g}{unit}"
        out.append(text(at, y + 19, shown, anchor="start" if value >= 0 else "end", soft=True))
    out.append(f'<path d="M{middle} {top - 4}V{height - 4}" stroke="{LINE}"/>')
    return drawing(width, height, "Bars, one for each name", out)


def error_bars(
    names: Sequence[str], values: Sequence[float], spreads: Sequence[float], chosen: int, limit: float
) -> str:
    """Errors with their standard errors; a band up to the limit within which the simplest is chosen."""
    row, width, left = 34.0, 860.0, 190.0
    top = max(value + spread for value, spread in zip(values, spreads, strict=True)) * 1.06 or 1.0
    low = min(value - spread for value, spread in zip(values, spreads, strict=True))
    start = (
        max(0.0, low - 0.2 * (top - low)) if low > 0.5 * top else 0.0
    )  # points need no zero, and differ more without
    height = row * len(values) + 34

    def at(value: float) -> float:
        return left + (value - start) / (top - start) * (width - left - 90)

    best = min(values)
    band = f'x="{at(best):.1f}" y="0" width="{max(at(limit) - at(best), 0):.1f}" height="{height - 30}"'
    out = [f'<rect {band} fill="#eef2f6"/>']
    for i, (name, value, spread) in enumerate(zip(names, values, spreads, strict=True)):
        y = row * i + 18
        weight = 'style="font-weight:700"' if i == chosen else ""
        out.append(text(0, y + 5, name, extra=weight))
        a, b = at(max(value - spread, start)), at(value + spread)
        paint = colour(1) if i == chosen else LINE
        out.append(
            f'<path d="M{a:.1f} {y}H{b:.1f}M{a:.1f} {y - 6}v12M{b:.1f} {y - 6}v12" stroke="{paint}" stroke-width="2"/>'
        )
        out.append(f'<circle cx="{at(value):.1f}" cy="{y}" r="5.5" fill="{paint}"/>')
        out.append(text(b + 10, y + 5, f"{100 * value:.1f} %", soft=True, extra=weight))
    base = height - 30
    for tick in ticks(100 * start, 100 * top, 6):
        x = at(tick / 100)
        out.append(f'<path d="M{x:.1f} {base}v5" stroke="{LINE}"/>')
        out.append(text(x, base + 20, f"{tick:g} %", anchor="middle", soft=True))
    out.append(f'<path d="M{left} {base}H{width - 90}" stroke="{LINE}"/>')
    return drawing(width, height, "Cross-validated error of each method with its standard error", out)


def spark(counts: Array, tints: str = "#0b6e8f") -> str:
    """A small histogram for a table's cell."""
    top = max(int(counts.max(initial=0)), 1)
    step = 110 / max(len(counts), 1)
    parts = []
    for i, count in enumerate(counts.tolist()):
        tall = 20 * count / top
        place = f'x="{i * step:.1f}" y="{22 - tall:.1f}" width="{max(step - 1, 1):.1f}" height="{tall + 0.5:.1f}"'
        parts.append(f'<rect {place} fill="{tints}" fill-opacity=".7"/>')
    return f'<svg class="spark" viewBox="0 0 110 23" aria-hidden="true">{"".join(parts)}</svg>'
