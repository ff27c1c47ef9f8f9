"""Criteria over the weight space: the lecture on linear discriminant functions, after Duda, Hart and Stork, chapter 5.

    count Σ 1(a·y ≤ 0),   perceptron Σ max(0, −a·y),   quadratic Σ max(0, −a·y)²,   relaxation ½ Σ max(0, b − a·y)²/‖y‖²

over samples y turned by the sign of their class: sums, as the books print them.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace as Data
from typing import Any

import numpy as np

from discriminant.criteria import Perceptron, Quadratic, Relaxation, ZeroOne
from discriminant.figures.drawing import clouds, drawn
from discriminant.geometry import Hyperplane
from discriminant.inference.solution_region import solution_region
from discriminant.optimize import Annealing, GradientDescent, Newton
from discriminant.penalties import Ridge
from discriminant.plots.surface import CriterionSurfaceDisplay, two_class_objective
from discriminant.plots.theme import BLUE, GREEN, GREY, INK, ORANGE, arrow, frame, line, scatter, tint
from discriminant.protocols import Array

Y = np.array([[1.9, 0.5], [0.7, 1.7], [-1.9, 0.3], [0.9, -1.5]])  # samples, the last two of the second class
LABELS = np.array([1, 1, 0, 0])
BOUNDS = ((-2.6, 2.6), (-2.6, 2.6))


def normalised_samples_data() -> Data:
    """Four samples as they are and turned by sign, and their solution region, without a margin and with b = 1."""
    region = solution_region(Y, LABELS, fit_intercept=False)
    narrow = solution_region(Y, LABELS, margin=1.0, fit_intercept=False)
    return Data(
        Y=Y, labels=LABELS, normalised=region.samples, region=region, with_margin=narrow,
        polygon=region.polygon(BOUNDS), margin_polygon=narrow.polygon(BOUNDS),
    )  # fmt: skip


@drawn(1, 3, (13, 4.6), sharey=True)
def normalised_samples(data: Data, *axes: Any) -> None:
    titles = ("samples of two classes", "turned by sign: all must be positive", "with a margin: $a^t y_i \\geq b$")
    for ax, title, samples in zip(axes, titles, (data.Y, data.normalised, data.normalised), strict=True):
        ax.fill(*data.polygon.T, facecolor=tint(GREEN, 0.75), edgecolor="none", zorder=0)
        for y, label in zip(data.normalised, data.labels, strict=True):
            shade = BLUE if label else ORANGE
            line(ax, Hyperplane(y), BOUNDS, color=shade, linewidth=0.9, linestyle="--", label="$a^t y_i = 0$")
        scatter(ax, samples, data.labels, (1, 0), names=("$\\omega_1$", "$\\omega_2$"), size=52)
        for sample in samples:
            arrow(ax, (0, 0), sample, GREY, 0.9)
        ax.plot(0, 0, "+", color=INK, markersize=9)
        frame(ax, BOUNDS, equal=True, names=("$y_1$, $a_1$", "$y_2$, $a_2$"), title=title)
    axes[2].fill(*data.margin_polygon.T, facecolor=tint(GREEN, 0.4), edgecolor=GREEN, zorder=1)
    for ax in axes[:2]:
        ax.text(1.75, 1.95, "solution\nregion", color="#00674C", fontsize=10, ha="center")
    axes[2].text(1.5, 2.15, "$a^t y_i \\geq 1$", color="#00513B", fontsize=11, ha="center")
    marks, texts = axes[0].get_legend_handles_labels()
    axes[0].legend([*marks[4:], marks[0], marks[2]], [*texts[4:], texts[0], texts[2]], loc="lower left")


def _descend(objective: Any, optimizer: Any, start: Array, bounds: Any, resolution: int = 61) -> Data:
    """The path of an optimizer, J along it, and the surface around it."""
    solution = optimizer.minimize(objective, start)
    trace = np.asarray(solution.history["weights"])
    if not np.array_equal(trace[0], start):
        trace = np.vstack([start[None], trace])
    surface = CriterionSurfaceDisplay._measured(objective, start, ((1, 0), (2, 0)), trace, bounds, resolution)
    return Data(objective=objective, surface=surface, path=surface.path, values=surface.path_values)


def criterion_surfaces_data() -> Data:
    """Gradient descent on three criteria; annealing on the count, which has no slope."""
    start = np.array([[0.0], [-2.0], [1.4]])
    runs = {
        "count": (ZeroOne(), Annealing(iterations=60, random_state=30, trace=True)),
        "perceptron": (Perceptron(), GradientDescent(0.2, iterations=40, trace=True)),
        "quadratic": (Quadratic(), GradientDescent(0.03, iterations=80, trace=True)),
        "relaxation": (Relaxation(), GradientDescent(0.3, iterations=80, trace=True)),
    }
    descents = {}
    for name, (criterion, optimizer) in runs.items():
        objective = two_class_objective(Y, LABELS, criterion, fit_intercept=False).on_scale("sum")
        descents[name] = _descend(objective, optimizer, start, BOUNDS, 181 if name == "count" else 61)
    return Data(region=solution_region(Y, LABELS, fit_intercept=False), descents=descents)


@drawn(2, 4, (14, 7.4), height_ratios=(1.15, 1))
def criterion_surfaces(data: Data, *axes: Any) -> None:
    titles = {
        "count": "errors counted: stairs",
        "perceptron": "perceptron: a polyhedron",
        "quadratic": "quadratic: smooth, flat at the edge",
        "relaxation": "relaxation, $b = 1$: ends inside",
    }
    polygon = data.region.polygon(BOUNDS)
    for k, (name, descent) in enumerate(data.descents.items()):
        figure, place = axes[k].figure, axes[k].get_subplotspec()
        axes[k].remove()
        ax = figure.add_subplot(place, projection="3d")
        descent.surface.plot(ax=ax, kind="surface")
        ax.view_init(elev=34, azim=38)
        ax.set_box_aspect((1, 1, 0.75), zoom=0.98)
        ax.set_xlabel("$a_1$", labelpad=-5)
        ax.set_ylabel("$a_2$", labelpad=-5)
        ax.set_zlabel("errors" if name == "count" else "$J$", labelpad=-6)
        ax.tick_params(labelsize=7, pad=-2)
        if name == "count":
            ax.set_zticks(range(5))
        ax.set_title(titles[name], loc="center")
        flat = axes[4 + k]
        descent.surface.plot(ax=flat, levels=14)
        flat.plot(*np.vstack([polygon, polygon[:1]]).T, color=GREEN, linewidth=1.6, zorder=2)
        frame(flat, BOUNDS, equal=True, names=("$a_1$", "$a_2$" if k == 0 else ""))
    axes[4].text(1.7, 1.75, "solution\nregion", color="#00513B", ha="center", fontsize=9)
    figure.legend(*axes[4].get_legend_handles_labels(), loc="outside lower center", ncols=3)


def gradient_and_newton_data() -> Data:
    """The cross-entropy of two strongly correlated columns, with a slight ridge."""
    X, y = clouds([(-0.6, -0.4), (0.6, 0.4)], [[1.0, 0.85], [0.85, 1.0]], 60, seed=9)
    objective = two_class_objective(X, y, "logistic", penalty=Ridge(0.02), fit_intercept=False)
    start, bounds = np.array([[0.0], [-0.3], [1.9]]), ((-0.9, 2.5), (-0.9, 2.3))
    gradient = _descend(objective, GradientDescent(1.5, threshold=1e-4, iterations=400, trace=True), start, bounds, 181)
    newton = _descend(objective, Newton(trace=True), start, bounds)
    return Data(gradient=gradient, newton=newton, minimum=newton.path[-1])


@drawn(size=(6.2, 5.2))
def gradient_and_newton(data: Data, ax: Any) -> None:
    replace(data.gradient.surface, path=None).plot(ax=ax, levels=16)
    runs = ((data.gradient, GREEN, "o", "gradient descent"), (data.newton, ORANGE, "s", "Newton"))
    for run, shade, mark, name in runs:
        ax.plot(*run.path.T, color=shade, marker=mark, markersize=4.5, linewidth=1.8, zorder=4,
                label=f"{name}, {len(run.path) - 1} steps")  # fmt: skip
    ax.plot(*data.gradient.path[0], "o", color=INK, markersize=7, zorder=6, label="start")
    ax.plot(*data.minimum, "*", color=INK, markersize=14, zorder=6, linestyle="none", label="minimum")
    ax.legend(loc="upper right")
    frame(ax, ((-0.9, 2.5), (-0.9, 2.3)), equal=True, names=("$w_1$", "$w_2$"))  # right angles look right
    ax.set_title("Two ways down a convex error function")
