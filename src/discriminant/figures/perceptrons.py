"""The perceptron learning: Bishop's figure 4.7, from the corrections that the fit itself recorded.

w ← w + φ t        for a misclassified sample; nothing for the others
"""

from __future__ import annotations

from types import SimpleNamespace as Data
from typing import Any

import numpy as np

from discriminant.errors import counted
from discriminant.estimators.perceptron import Perceptron
from discriminant.figures.drawing import clouds, drawn
from discriminant.geometry import Hyperplane
from discriminant.plots.theme import BLUE, GREEN, GREY, INK, ORANGE, arrow, frame, halves, scatter


def perceptron_convergence_data() -> Data:
    """Fixed increments from a given start, sample by sample in a fixed order; no bias, as in the book's picture.

    The weights before and after each correction, with their errors, and the sample that called for it.
    """
    X, y = clouds([(-0.45, 0.35), (0.42, -0.38)], [[0.05, 0.025], [0.025, 0.05]], 9, seed=2)
    t = np.where(y == 1, 1.0, -1.0)
    start = np.array([0.0, 1.2 * np.cos(np.pi / 4), 1.2 * np.sin(np.pi / 4)])
    model = Perceptron(shuffle=False, tol=None, fit_intercept=False, start=start, trace=True).fit(X, t)
    history: Any = model.history_
    weights = history["weights"][:, 1:, 0]
    errors = (t[:, None] * (X @ weights.T) <= 0).sum(axis=0)
    return Data(X=X, t=t, weights=weights, samples=history["sample"][1:], errors=errors, model=model)


@drawn(2, 2, (8.4, 8.9))
def perceptron_convergence(data: Data, *axes: Any) -> None:
    from matplotlib.lines import Line2D

    bounds = ((-1.2, 1.2), (-1.2, 1.4))
    for stage, (ax, w) in enumerate(zip(axes, data.weights, strict=True)):
        halves(ax, Hyperplane(w), bounds, linewidth=2)
        scatter(ax, data.X, data.t, [1.0, -1.0], size=42, names=())
        arrow(ax, (0, 0), w, INK, 2.2)
        beside = w + 0.12 * np.array([w[1], -w[0]]) / np.linalg.norm(w)
        ax.text(*beside, "$\\mathbf{w}$", fontsize=13, ha="center", va="center")
        if stage < len(data.samples):
            row = data.samples[stage]
            ax.plot(*data.X[row], "o", markersize=15, markerfacecolor="none", markeredgecolor=GREEN, markeredgewidth=2)
            arrow(ax, w, w + data.t[row] * data.X[row], GREEN, 1.6)  # w + φt, in the scale of the samples
            arrow(ax, (0, 0), w + data.t[row] * data.X[row], GREY, 1.2, linestyle="--")
        wrong = int(data.errors[stage])
        title = f"after {counted(stage, 'correction')}: {f'{wrong} misclassified' if wrong else 'all are right'}"
        frame(ax, bounds, equal=True, names=("$\\phi_1$", "$\\phi_2$"), title=title)
    marks = [
        Line2D([], [], color=INK, linewidth=2.2, label="$\\mathbf{w}$"),
        Line2D([], [], color=GREEN, linewidth=1.6, label="$\\phi_n t_n$ of the circled sample"),
        Line2D([], [], color=GREY, linewidth=1.2, linestyle="--", label="$\\mathbf{w} + \\phi_n t_n$"),
        *(
            Line2D([], [], color=shade, marker=mark, linestyle="none", label=f"$t = {sign}1$")
            for shade, mark, sign in ((BLUE, "o", "+"), (ORANGE, "s", "-"))
        ),
    ]
    axes[0].figure.legend(handles=marks, loc="outside lower center", ncols=5)
