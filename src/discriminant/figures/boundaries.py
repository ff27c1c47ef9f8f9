"""One line between two classes: Alpaydin's figures 10.1 and 10.2, Bishop's 4.1.

g(x) = w·x + w₀,     r = g(x)/‖w‖,     x_p = x − r w/‖w‖,     r₀ = w₀/‖w‖
"""

from __future__ import annotations

from types import SimpleNamespace as Data
from typing import Any

import numpy as np

from discriminant.estimators.linear import LinearDiscriminantAnalysis
from discriminant.estimators.linear_programming import LinearProgrammingClassifier
from discriminant.figures.drawing import class_names, clouds, drawn
from discriminant.geometry import Hyperplane
from discriminant.plots.theme import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    arrow,
    frame,
    halves,
    line,
    scatter,
    segment,
    tint,
)
from discriminant.protocols import Array


def separating_line_data() -> Data:
    """A line by linear programming between two clouds that do not touch, g > 0 for class 1, and the values of g."""
    X, y = clouds([(1.6, 3.6), (4.2, 1.7)], [[0.45, 0.1], [0.1, 0.35]], 22, seed=3)
    model = LinearProgrammingClassifier(alpha=0.01).fit(X, y)
    plane = -model.discriminant_.boundary()  # class 1 on the positive side, as the book has it
    return Data(X=X, y=y, line=plane, scores=plane.value(X), threshold=float(plane.value(np.zeros(2))))


@drawn(size=(5.4, 4.4))
def separating_line(data: Data, ax: Any) -> None:
    bounds = ((-0.5, 7.4), (-0.5, 5.6))
    halves(ax, data.line, bounds, linewidth=2.2)
    scatter(ax, data.X, data.y, (1, 2), names=class_names(2), size=34)
    start = data.line.project(np.array([4.6, 4.2]))
    arrow(ax, start, start + 0.9 * data.line.unit_normal, INK, 2)
    ax.text(*(start + 1.1 * data.line.unit_normal), "$\\mathbf{w}$", ha="center", va="center", fontsize=13)
    ax.plot(0, 0, "+", color=INK, markersize=10, markeredgewidth=1.5)
    ax.text(-0.35, 0.3, f"origin:\n$w_0 {'<' if data.threshold < 0 else '>'} 0$", va="bottom", fontsize=9)
    ax.text(-0.3, 5.15, "$g(\\mathbf{x}) > 0$", color=BLUE, fontsize=12)
    ax.text(2.3, -0.25, "$g(\\mathbf{x}) < 0$", color=ORANGE, fontsize=12)
    ax.legend(loc="lower right")
    frame(ax, bounds, equal=True, title="A line separates the examples of two classes")


def _measured(plane: Hyperplane, points: Array) -> Data:
    """Points, their feet x_p on the line and distances r, that of the origin r₀, and a vector in the line."""
    ends = plane.points(((-10, 10), (-10, 10)))
    return Data(
        line=plane, points=points, feet=plane.project(points), distances=plane.distance(points), origin=plane.offset,
        along=ends[1] - ends[0],
    )  # fmt: skip


def distance_to_the_line_data() -> Data:
    """The linear discriminant of two Gaussian classes, measured."""
    X, y = clouds([(1.0, 1.2), (3.6, 2.9)], [[0.5, 0.1], [0.1, 0.4]], 40, seed=1, exact=True)
    model = LinearDiscriminantAnalysis().fit(X, y)
    return _measured(model.discriminant_.boundary(), np.array([[4.1, 3.3], [0.9, 2.6]]))


@drawn(size=(5.8, 5.0))
def distance_to_the_line(data: Data, ax: Any) -> None:
    bounds, unit = ((-0.8, 5.2), (-0.8, 4.6)), data.line.unit_normal
    halves(ax, data.line, bounds, linewidth=2.2)
    for name, point, foot, r in zip(("", "'"), data.points, data.feet, data.distances, strict=True):
        _drop(ax, point, foot, unit * np.sign(r), f"$\\mathbf{{x}}{name}$", f"$\\mathbf{{x}}{name}_p$")
        _label(ax, point, foot, f"$r{name} = {r:+.2f}$", (6, -12) if r > 0 else (-58, 12))
    foot = data.line.project(np.zeros(2))
    segment(ax, (0, 0), foot, GREY, linestyle="--", linewidth=1.5)
    ax.text(3.1, 4.2, "$g(\\mathbf{x}) > 0$", color=BLUE, fontsize=12)
    ax.text(-0.6, -0.5, "$g(\\mathbf{x}) < 0$", color=ORANGE, fontsize=12)
    ax.plot(0, 0, "+", color=INK, markersize=11, markeredgewidth=1.6)
    _label(ax, 0, foot, f"$r_0 = w_0/\\|\\mathbf{{w}}\\| = {data.origin:+.2f}$", (8, -12), color=GREY)
    start = data.line.project(np.array([4.0, 0.4]))
    arrow(ax, start, start + 0.9 * unit, INK, 2)
    _beside(ax, start + 0.9 * unit, "$\\mathbf{w}$", unit)
    frame(ax, bounds, equal=True, title="Distance from the discriminant: $r = g(\\mathbf{x})/\\|\\mathbf{w}\\|$")


def signed_distance_data() -> Data:
    """y(x) = 3x₁ + 4x₂ − 9 exactly: the length of w is 5, so that every number can be checked by hand."""
    return _measured(Hyperplane(np.array([3.0, 4.0]), -9.0), np.array([[3.4, 2.2]]))


@drawn(size=(5.8, 5.0))
def signed_distance(data: Data, ax: Any) -> None:
    bounds, unit = ((-1.2, 4.9), (-1.2, 4.2)), data.line.unit_normal
    halves(ax, data.line, bounds, linewidth=2.2)
    for level in (-15.0, -10.0, -5.0, 5.0, 10.0):
        level_line = Hyperplane(data.line.normal, data.line.intercept - level)
        line(ax, level_line, bounds, color=GREY, linewidth=0.7, linestyle=":")
    ax.axhline(0, color=GREY, linewidth=0.8, zorder=1)
    ax.axvline(0, color=GREY, linewidth=0.8, zorder=1)
    foot = data.line.project(np.zeros(2))
    arrow(ax, foot, foot + 1.0 * unit, INK, 2.2)
    _beside(ax, foot + unit, "$\\mathbf{w}$", unit)
    segment(ax, (0, 0), foot, GREEN, linewidth=2)
    _label(ax, 0, foot, "$-w_0/\\|\\mathbf{w}\\|$", (10, -14), fontsize=11, bbox=_ground(ORANGE))
    _drop(ax, data.points[0], data.feet[0], unit, "$\\mathbf{x}$", "$\\mathbf{x}_\\perp$")
    length = "$y(\\mathbf{x})/\\|\\mathbf{w}\\|$"
    _label(ax, data.points[0], data.feet[0], length, (10, -14), fontsize=11, bbox=_ground(BLUE))
    ax.text(2.9, 3.7, "$y > 0$,  $R_1$", color=BLUE, fontsize=12)
    ax.text(-1.05, -0.45, "$y < 0$,  $R_2$", color=ORANGE, fontsize=12, bbox=_ground(ORANGE))
    title = "The line $y = 0$ is perpendicular to $\\mathbf{w}$; dotted: $y$ = $\\pm5$, $\\pm10$, …"
    frame(ax, bounds, equal=True, title=title)


def _drop(ax: Any, point: Array, foot: Array, away: Array, name: str, foot_name: str) -> None:
    """A point, its foot on the line and the way between them."""
    segment(ax, point, foot, GREEN, linewidth=2)
    ax.plot(*point, "o", color=INK, zorder=6)
    ax.plot(*foot, "o", markerfacecolor="white", markeredgecolor=INK, zorder=6)
    _beside(ax, point, name, away)
    _beside(ax, foot, foot_name, -away)


def _label(ax: Any, start: Any, end: Array, text: str, away: tuple[int, int], **options: Any) -> None:
    """Words at the middle of a segment."""
    given = {"color": GREEN, **options}
    ax.annotate(text, (start + end) / 2, xytext=away, textcoords="offset points", **given)


def _ground(shade: str) -> dict[str, Any]:
    """A ground for words that lie over thin lines."""
    return {"facecolor": tint(shade), "edgecolor": "none", "pad": 1.5}


def _beside(ax: Any, point: Array, text: str, direction: Array) -> None:
    ax.annotate(text, point, xytext=tuple(14 * direction), textcoords="offset points", fontsize=12, ha="center",
                va="center")  # fmt: skip
