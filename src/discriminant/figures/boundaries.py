"""One line between two classes: Alpaydin's figures 10.1 and 10.2, Bishop's 4.1.

g(x) = w·x + w₀,     r = g(x)/‖w‖,     x_p = x − r w/‖w‖,     r₀ = w₀/‖w‖
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.estimators.linear import LinearDiscriminantAnalysis
from discriminant.estimators.linear_programming import LinearProgrammingClassifier
from discriminant.figures.samples import clouds, drawn
from discriminant.geometry import Hyperplane, box, clip
from discriminant.plots.theme import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    arrow,
    fill,
    frame,
    line,
    scatter,
    sheet,
    tint,
)
from discriminant.protocols import Array


@dataclass(frozen=True)
class SeparatingLine:
    """Two classes, the line found for them, and the values of g."""

    X: Array
    y: Array  # 1 and 2; g > 0 stands for class 1
    line: Hyperplane
    scores: Array  # g(x), (n,)
    threshold: float  # w₀ = g(0)


def separating_line_data() -> SeparatingLine:
    """A line by linear programming between two clouds that do not touch."""
    X, y = clouds([(1.6, 3.6), (4.2, 1.7)], [[0.45, 0.1], [0.1, 0.35]], 22, seed=3)
    model = LinearProgrammingClassifier(alpha=0.01).fit(X, y)
    plane = -model.discriminant_.boundary()  # class 1 on the positive side, as the book has it
    return SeparatingLine(X, y, plane, plane.value(X), float(plane.value(np.zeros(2))))


@drawn
def separating_line(data: SeparatingLine | None = None) -> Any:
    """Alpaydin 10.1: the linear discriminant is a line that separates the examples from two classes."""
    data = data or separating_line_data()
    figure, axes = sheet(size=(5.4, 4.4))
    ax, bounds = axes[0, 0], ((-0.5, 7.4), (-0.5, 5.6))
    _halves(ax, data.line, bounds)
    scatter(ax, data.X, data.y, (1, 2), names=("$C_1$", "$C_2$"), size=34)
    start = data.line.project(np.array([4.6, 4.2]))
    arrow(ax, start, start + 0.9 * data.line.unit_normal, INK, 2)
    ax.text(*(start + 1.1 * data.line.unit_normal), "$\\mathbf{w}$", ha="center", va="center", fontsize=13)
    ax.plot(0, 0, "+", color=INK, markersize=10, markeredgewidth=1.5)
    ax.text(-0.35, 0.3, f"origin:\n$w_0 {'<' if data.threshold < 0 else '>'} 0$", va="bottom", fontsize=9)
    ax.text(-0.3, 5.15, "$g(\\mathbf{x}) > 0$", color=BLUE, fontsize=12)
    ax.text(2.3, -0.25, "$g(\\mathbf{x}) < 0$", color=ORANGE, fontsize=12)
    ax.legend(loc="lower right")
    frame(ax, bounds, equal=True, title="A line separates the examples of two classes")
    return figure


@dataclass(frozen=True)
class DistanceToTheLine:
    """Points, their feet on the line, their signed distances, and that of the origin."""

    line: Hyperplane
    points: Array  # (m, 2)
    feet: Array  # x_p
    distances: Array  # r = g(x)/‖w‖
    origin: float  # r₀ = w₀/‖w‖
    along: Array  # a vector that lies in the line


def _measured(plane: Hyperplane, points: Array) -> DistanceToTheLine:
    ends = plane.points(((-10, 10), (-10, 10)))
    return DistanceToTheLine(
        plane, points, plane.project(points), plane.distance(points), plane.offset, ends[1] - ends[0]
    )


def distance_to_the_line_data() -> DistanceToTheLine:
    """The linear discriminant of two Gaussian classes, measured."""
    X, y = clouds([(1.0, 1.2), (3.6, 2.9)], [[0.5, 0.1], [0.1, 0.4]], 40, seed=1, exact=True)
    model = LinearDiscriminantAnalysis().fit(X, y)
    return _measured(model.discriminant_.boundary(), np.array([[4.1, 3.3], [0.9, 2.6]]))


@drawn
def distance_to_the_line(data: DistanceToTheLine | None = None) -> Any:
    """Alpaydin 10.2: x = x_p + r w/‖w‖ with r = g(x)/‖w‖, and the origin lies w₀/‖w‖ from the line."""
    data = data or distance_to_the_line_data()
    figure, axes = sheet(size=(5.8, 5.0))
    ax, bounds = axes[0, 0], ((-0.8, 5.2), (-0.8, 4.6))
    _halves(ax, data.line, bounds)
    for name, point, foot, r in zip(("", "'"), data.points, data.feet, data.distances, strict=True):
        ax.plot(*np.array([point, foot]).T, color=GREEN, linewidth=2)
        ax.plot(*point, "o", color=INK, zorder=6)
        ax.plot(*foot, "o", markerfacecolor="white", markeredgecolor=INK, zorder=6)
        _beside(ax, point, f"$\\mathbf{{x}}{name}$", data.line.unit_normal * np.sign(r))
        _beside(ax, foot, f"$\\mathbf{{x}}{name}_p$", -data.line.unit_normal * np.sign(r))
        away = (6, -12) if r > 0 else (-58, 12)
        ax.annotate(f"$r{name} = {r:+.2f}$", (point + foot) / 2, xytext=away, textcoords="offset points", color=GREEN)
    foot = data.line.project(np.zeros(2))
    ax.plot([0, foot[0]], [0, foot[1]], color=GREY, linestyle="--", linewidth=1.5)
    ax.text(3.1, 4.2, "$g(\\mathbf{x}) > 0$", color=BLUE, fontsize=12)
    ax.text(-0.6, -0.5, "$g(\\mathbf{x}) < 0$", color=ORANGE, fontsize=12)
    ax.plot(0, 0, "+", color=INK, markersize=11, markeredgewidth=1.6)
    text = f"$r_0 = w_0/\\|\\mathbf{{w}}\\| = {data.origin:+.2f}$"
    ax.annotate(text, foot / 2, xytext=(8, -12), textcoords="offset points", color=GREY)
    start = data.line.project(np.array([4.0, 0.4]))
    arrow(ax, start, start + 0.9 * data.line.unit_normal, INK, 2)
    _beside(ax, start + 0.9 * data.line.unit_normal, "$\\mathbf{w}$", data.line.unit_normal)
    frame(ax, bounds, equal=True, title="Distance from the discriminant: $r = g(\\mathbf{x})/\\|\\mathbf{w}\\|$")
    return figure


def signed_distance_data() -> DistanceToTheLine:
    """y(x) = 3x₁ + 4x₂ − 9 exactly: the length of w is 5, so that every number can be checked by hand."""
    return _measured(Hyperplane(np.array([3.0, 4.0]), -9.0), np.array([[3.4, 2.2]]))


@drawn
def signed_distance(data: DistanceToTheLine | None = None) -> Any:
    """Bishop 4.1: the surface is perpendicular to w, its displacement is −w₀/‖w‖, a point lies y(x)/‖w‖ from it."""
    data = data or signed_distance_data()
    figure, axes = sheet(size=(5.8, 5.0))
    ax, bounds, unit = axes[0, 0], ((-1.2, 4.9), (-1.2, 4.2)), data.line.unit_normal
    _halves(ax, data.line, bounds)
    for level in (-15.0, -10.0, -5.0, 5.0, 10.0):
        level_line = Hyperplane(data.line.normal, data.line.intercept - level)
        line(ax, level_line, bounds, color=GREY, linewidth=0.7, linestyle=":")
    ax.axhline(0, color=GREY, linewidth=0.8, zorder=1)
    ax.axvline(0, color=GREY, linewidth=0.8, zorder=1)
    foot = data.line.project(np.zeros(2))
    arrow(ax, foot, foot + 1.0 * unit, INK, 2.2)
    _beside(ax, foot + unit, "$\\mathbf{w}$", unit)
    ax.plot([0, foot[0]], [0, foot[1]], color=GREEN, linewidth=2)
    ax.annotate("$-w_0/\\|\\mathbf{w}\\|$", foot / 2, xytext=(10, -14), textcoords="offset points", color=GREEN,
                fontsize=11, bbox=_patch(ORANGE))  # fmt: skip
    point, below = data.points[0], data.feet[0]
    ax.plot(*np.array([point, below]).T, color=GREEN, linewidth=2)
    ax.plot(*point, "o", color=INK, zorder=6)
    ax.plot(*below, "o", markerfacecolor="white", markeredgecolor=INK, zorder=6)
    _beside(ax, point, "$\\mathbf{x}$", unit)
    _beside(ax, below, "$\\mathbf{x}_\\perp$", -unit)
    ax.annotate("$y(\\mathbf{x})/\\|\\mathbf{w}\\|$", (point + below) / 2, xytext=(10, -14), textcoords="offset points",
                color=GREEN, fontsize=11, bbox=_patch(BLUE))  # fmt: skip
    ax.text(2.9, 3.7, "$y > 0$,  $R_1$", color=BLUE, fontsize=12)
    ax.text(-1.05, -0.45, "$y < 0$,  $R_2$", color=ORANGE, fontsize=12, bbox=_patch(ORANGE))
    frame(ax, bounds, equal=True)
    ax.set_title("The line $y = 0$ is perpendicular to $\\mathbf{w}$; dotted: $y$ = $\\pm5$, $\\pm10$, …")
    return figure


def _patch(shade: str) -> dict[str, Any]:
    """A ground for words that lie over thin lines."""
    return {"facecolor": tint(shade), "edgecolor": "none", "pad": 1.5}


def _halves(ax: Any, plane: Hyperplane, bounds: Any) -> None:
    """The two sides of a line in their colours."""
    corners = box(bounds)
    fill(ax, clip(corners, plane.value(corners)), BLUE)
    fill(ax, clip(corners, -plane.value(corners)), ORANGE)
    line(ax, plane, bounds, linewidth=2.2)


def _beside(ax: Any, point: Array, text: str, direction: Array) -> None:
    ax.annotate(text, point, xytext=tuple(14 * direction), textcoords="offset points", fontsize=12, ha="center",
                va="center")  # fmt: skip
