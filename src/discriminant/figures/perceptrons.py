"""The perceptron learning: Bishop's figure 4.7, from the corrections that the fit itself recorded.

w ← w + φ t        for a misclassified sample; nothing for the others
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.estimators.perceptron import Perceptron
from discriminant.figures.samples import clouds, drawn
from discriminant.geometry import Hyperplane, box, clip
from discriminant.plots.theme import BLUE, GREEN, GREY, INK, ORANGE, arrow, fill, frame, line, scatter, sheet
from discriminant.protocols import Array


@dataclass(frozen=True)
class PerceptronConvergence:
    """Samples in (φ1, φ2), the weights before and after each correction, and which sample called for it."""

    X: Array
    t: Array  # ±1
    weights: Array  # (corrections + 1, 2)
    samples: Array  # (corrections,): rows
    errors: Array  # (corrections + 1,): misclassified rows at each stage
    model: Any


def perceptron_convergence_data() -> PerceptronConvergence:
    """Fixed increments from a given start, sample by sample in a fixed order; no bias, as in the book's picture."""
    X, y = clouds([(-0.45, 0.35), (0.42, -0.38)], [[0.05, 0.025], [0.025, 0.05]], 9, seed=2)
    t = np.where(y == 1, 1.0, -1.0)
    start = np.array([0.0, 1.2 * np.cos(np.pi / 4), 1.2 * np.sin(np.pi / 4)])
    model = Perceptron(shuffle=False, tol=None, fit_intercept=False, start=start, trace=True).fit(X, t)
    history: Any = model.history_
    weights = history["weights"][:, 1:, 0]
    errors = (t[:, None] * (X @ weights.T) <= 0).sum(axis=0)
    return PerceptronConvergence(X, t, weights, history["sample"][1:], errors, model)


@drawn
def perceptron_convergence(data: PerceptronConvergence | None = None) -> Any:
    """Bishop 4.7: the misclassified sample is added to the weights, until none is misclassified."""
    data = data or perceptron_convergence_data()
    from matplotlib.lines import Line2D

    stages = _stages(len(data.weights))
    figure, axes = sheet(2, 2, (8.4, 8.9))
    bounds = ((-1.2, 1.2), (-1.2, 1.4))
    for ax, stage in zip(axes.ravel(), stages, strict=True):
        w = data.weights[stage]
        plane, corners = Hyperplane(w), box(bounds)
        fill(ax, clip(corners, plane.value(corners)), BLUE)
        fill(ax, clip(corners, -plane.value(corners)), ORANGE)
        line(ax, plane, bounds, linewidth=2)
        scatter(ax, data.X, data.t, [1.0, -1.0], size=42, names=())
        arrow(ax, (0, 0), w, INK, 2.2)
        _name(ax, w, "$\\mathbf{w}$")
        wrong = int(data.errors[stage])
        if stage < len(data.samples):
            row = data.samples[stage]
            ax.plot(*data.X[row], "o", markersize=15, markerfacecolor="none", markeredgecolor=GREEN, markeredgewidth=2)
            arrow(ax, w, w + data.t[row] * data.X[row], GREEN, 1.6)  # w + φt, in the scale of the samples
            arrow(ax, (0, 0), w + data.t[row] * data.X[row], GREY, 1.2, linestyle="--")
        text = f"{wrong} misclassified" if wrong else "all are right"
        ax.set_title(f"after {stage} correction{'s' * (stage != 1)}: {text}")
        frame(ax, bounds, equal=True, names=("$\\phi_1$", "$\\phi_2$"))
    marks = [
        Line2D([], [], color=INK, linewidth=2.2, label="$\\mathbf{w}$"),
        Line2D([], [], color=GREEN, linewidth=1.6, label="$\\phi_n t_n$ of the circled sample"),
        Line2D([], [], color=GREY, linewidth=1.2, linestyle="--", label="$\\mathbf{w} + \\phi_n t_n$"),
        *(
            Line2D([], [], color=shade, marker=mark, linestyle="none", label=f"$t = {sign}1$")
            for shade, mark, sign in ((BLUE, "o", "+"), (ORANGE, "s", "-"))
        ),
    ]
    figure.legend(handles=marks, loc="outside lower center", ncols=5)
    return figure


def _name(ax: Any, w: Array, text: str) -> None:
    """Write beside the tip of an arrow from the origin."""
    unit = w / np.linalg.norm(w)
    ax.text(*(w + 0.12 * np.array([unit[1], -unit[0]])), text, fontsize=13, ha="center", va="center")


def _stages(count: int) -> list[int]:
    """Four stages from the first to the last."""
    return np.unique(np.linspace(0, count - 1, 4).round().astype(int)).tolist() if count >= 4 else [0, 0, 0, count - 1]
