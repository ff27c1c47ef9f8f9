"""One line between two classes: Alpaydin's figures 10.1 and 10.2, Bishop's 4.1.

g(x) = w·x + w₀,     r = g(x)/‖w‖,     x_p = x − r w/‖w‖,     r₀ = w₀/‖w‖
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.estimators.linear_programming import LinearProgrammingClassifier
from discriminant.figures.samples import clouds
from discriminant.geometry import Hyperplane, box, clip
from discriminant.plots.theme import (
    BLUE,
    COLORS,
    INK,
    ORANGE,
    arrow,
    fill,
    frame,
    line,
    scatter,
    sheet,
    styled,
)  # fmt: skip
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


@styled
def separating_line(data: SeparatingLine | None = None) -> Any:
    """Alpaydin 10.1: the linear discriminant is a line that separates the examples from two classes."""
    data = data or separating_line_data()
    figure, axes = sheet(size=(5.4, 4.4))
    ax, bounds = axes[0, 0], ((-0.5, 6.4), (-0.5, 5.6))
    corners = box(bounds)
    fill(ax, clip(corners, data.line.value(corners)), COLORS[0])
    fill(ax, clip(corners, -data.line.value(corners)), COLORS[1])
    line(ax, data.line, bounds, linewidth=2)
    scatter(ax, data.X, data.y, (1, 2), names=("$C_1$", "$C_2$"), size=34)
    start = data.line.project(np.array([4.6, 4.2]))
    arrow(ax, start, start + 0.9 * data.line.unit_normal, INK, 2)
    ax.text(*(start + 1.1 * data.line.unit_normal), "$\\mathbf{w}$", ha="center", va="center", fontsize=13)
    ax.plot(0, 0, "+", color=INK, markersize=10, markeredgewidth=1.5)
    ax.text(-0.35, 0.3, f"origin:\n$w_0 {'<' if data.threshold < 0 else '>'} 0$", va="bottom", fontsize=9)
    ax.text(-0.3, 5.15, "$g(\\mathbf{x}) > 0$", color=BLUE, fontsize=12)
    ax.text(4.9, -0.25, "$g(\\mathbf{x}) < 0$", color=ORANGE, fontsize=12)
    ax.legend(loc="center right")
    frame(ax, bounds, equal=True)
    ax.set_title("A line separates the examples of two classes")
    return figure
