"""From scores to probabilities: Alpaydin's figures 10.5, 10.7, 10.9 and 10.10, Bishop's 4.9.

σ(a) = 1/(1 + e⁻ᵃ),     Φ(λa) with λ² = π/8,     softmax_i(a) = e^{a_i} / Σ_j e^{a_j}
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.decision import probit, sigmoid
from discriminant.errors import DiscriminantWarning
from discriminant.estimators.logistic import LogisticRegression
from discriminant.figures.many_classes import class_names
from discriminant.figures.samples import clouds, drawn
from discriminant.optimize import GradientDescent
from discriminant.plots.regions import DecisionRegionsDisplay
from discriminant.plots.theme import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    color,
    frame,
    inner_edges,
    line,
    mesh,
    sheet,
    swatch,
)
from discriminant.protocols import Array


@dataclass(frozen=True)
class Curve:
    """A function of one variable at some points."""

    a: Array
    values: Array
    slope_at_zero: float


def sigmoid_curve_data() -> Curve:
    """σ(a) from −10 to 10."""
    a = np.linspace(-10, 10, 401)
    return Curve(a, sigmoid(a), float((sigmoid(np.array([1e-5])) - sigmoid(np.array([-1e-5])))[0] / 2e-5))


@drawn
def sigmoid_curve(data: Curve | None = None) -> Any:
    """Alpaydin 10.5: the logistic function."""
    data = data or sigmoid_curve_data()
    figure, axes = sheet(size=(5.6, 3.6))
    ax = axes[0, 0]
    for level in (0.0, 0.5, 1.0):
        ax.axhline(level, color=GREY, linewidth=0.7, linestyle=":")
    ax.axvline(0, color=GREY, linewidth=0.7, linestyle=":")
    ax.plot(data.a, data.values, color=BLUE, linewidth=2.6, label="$1/(1 + e^{-a})$")
    tangent = 0.5 + data.slope_at_zero * data.a
    inside = (tangent > -0.02) & (tangent < 1.02)
    ax.plot(data.a[inside], tangent[inside], color=ORANGE, linestyle="--", linewidth=1.4, label="slope ¼ at 0")
    ax.plot(0, 0.5, "o", color=INK)
    ax.legend(loc="upper left", bbox_to_anchor=(0.0, 0.9))
    ax.set(xlabel="$a = \\mathbf{w}^t\\mathbf{x} + w_0$", ylabel="$P(C_1|\\mathbf{x})$")
    ax.set_title("The logistic function turns log odds into a probability")
    return figure


@dataclass(frozen=True)
class SigmoidAndProbit:
    """σ(a), Φ(λa), and their slopes at zero."""

    a: Array
    logistic: Array
    scaled_probit: Array
    scale: float
    slopes: tuple[float, float]


def sigmoid_and_probit_data() -> SigmoidAndProbit:
    """Both curves from −6 to 6."""
    a, scale, h = np.linspace(-6, 6, 481), float(np.sqrt(np.pi / 8)), 1e-5
    near = np.array([-h, h])
    slopes = [float(np.diff(curve)[0] / (2 * h)) for curve in (sigmoid(near), probit(scale * near))]
    return SigmoidAndProbit(a, sigmoid(a), probit(scale * a), scale, (slopes[0], slopes[1]))


@drawn
def sigmoid_and_probit(data: SigmoidAndProbit | None = None) -> Any:
    """Bishop 4.9: the logistic sigmoid and the probit function, scaled so that their slopes at zero agree."""
    data = data or sigmoid_and_probit_data()
    figure, axes = sheet(1, 2, (9.4, 3.6), width_ratios=(1.6, 1))
    left, right = axes[0]
    left.plot(data.a, data.logistic, color=ORANGE, linewidth=2.6, label="$\\sigma(a)$")
    left.plot(data.a, data.scaled_probit, color=BLUE, linestyle="--", linewidth=2.2,
              label="$\\Phi(\\lambda a)$, $\\lambda^2 = \\pi/8$")  # fmt: skip
    left.axhline(0.5, color=GREY, linewidth=0.7, linestyle=":")
    left.axvline(0, color=GREY, linewidth=0.7, linestyle=":")
    left.legend(loc="upper left")
    left.set(xlabel="$a$", ylabel="$\\sigma(a)$, $\\Phi(\\lambda a)$")
    left.set_title("Two squashing functions of equal slope at zero")
    right.plot(data.a, data.logistic - data.scaled_probit, color=INK)
    right.axhline(0, color=GREY, linewidth=0.7, linestyle=":")
    right.set(xlabel="$a$", ylabel="$\\sigma(a) - \\Phi(\\lambda a)$", title="Their difference")
    return figure


@dataclass(frozen=True)
class HardeningSigmoid:
    """A separable sample of one variable, and the weights after some passes of gradient descent."""

    x: Array
    y: Array  # 0 and 1
    passes: tuple[int, ...]
    weights: Array  # (stages, 2): w₀, w
    cross_entropy: Array  # (stages,), mean
    errors: Array  # (stages,)


def hardening_sigmoid_data() -> HardeningSigmoid:
    """Batch gradient descent from weights in (−0.01, 0.01), traced."""
    x = np.array([0.3, 0.7, 1.2, 1.6, 2.1, 2.9, 3.3, 3.9, 4.2, 4.7])
    y = (x > 2.5).astype(int)
    descent = GradientDescent(step=1.0, threshold=0.0, iterations=1000, trace=True, count_errors=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscriminantWarning)  # separable: there is no minimum, which is the point
        model = LogisticRegression(C=np.inf, optimizer=descent, random_state=0).fit(x[:, None], y)
    history, passes = model.history_, (10, 100, 1000)
    at = np.searchsorted(history["k"], passes)
    weights = history["weights"][at, :, 0]
    return HardeningSigmoid(x, y, passes, weights, history["objective"][at], history["errors"][at])


@drawn
def hardening_sigmoid(data: HardeningSigmoid | None = None) -> Any:
    """Alpaydin 10.7: the line wx + w₀ and the sigmoid after 10, 100 and 1000 passes over the sample."""
    data = data or hardening_sigmoid_data()
    figure, axes = sheet(1, 2, (10, 4))
    grid = np.linspace(-0.1, 5.1, 400)
    shades = (color(5), BLUE, INK)
    for k, (w0, w) in enumerate(data.weights):
        told = f"{data.passes[k]:,} passes"
        axes[0, 0].plot(grid, w * grid + w0, color=shades[k], label=told)
        axes[0, 1].plot(grid, sigmoid(w * grid + w0), color=shades[k], label=told)
    for ax, heights in ((axes[0, 0], (0.0, 0.0)), (axes[0, 1], (0.0, 1.0))):
        for k, height in enumerate(heights):
            rows = data.x[data.y == k]
            ax.scatter(rows, np.full(len(rows), height), c=color(k + 1), marker="ox"[k], s=36, zorder=4,
                       label=f"$C_{2 - k}$, $r = {k}$")  # fmt: skip
        ax.axhline(0.5 if heights[1] else 0.0, color=GREY, linewidth=0.7, linestyle=":")
        ax.set_xlabel("$x$")
        ax.legend(loc="upper left")
    axes[0, 0].set(ylim=(-8, 8), ylabel="$wx + w_0$")
    axes[0, 1].set_ylabel("$y = \\mathrm{sigmoid}(wx + w_0)$")
    axes[0, 0].set_title("The line $wx + w_0$ grows steeper")
    axes[0, 1].set_title("The sigmoid hardens; the errors were 0 long before")
    return figure


@dataclass(frozen=True)
class SoftmaxMachine:
    """Three classes in the plane and the softmax machine that gradient descent found."""

    X: Array
    y: Array
    bounds: tuple[tuple[float, float], tuple[float, float]]
    model: Any
    grid: tuple[Array, Array]
    discriminants: Array  # (r, r, K)
    posteriors: Array  # (r, r, K)


def softmax_lines_data() -> SoftmaxMachine:
    """Gradient descent on the cross-entropy with a slight ridge, so that it ends."""
    X, y = clouds([(0.9, 3.0), (2.0, 1.0), (3.4, 2.9)], 0.13 * np.eye(2), 16, seed=6)
    bounds = ((-0.4, 4.6), (-0.4, 4.6))
    descent = GradientDescent(step=1.0, threshold=1e-7, iterations=10_000)
    model = LogisticRegression(C=2.0, optimizer=descent, random_state=0).fit(X, y)
    points, across, up = mesh(bounds, 101)
    shape = (*across.shape, 3)
    return SoftmaxMachine(X, y, bounds, model, (across, up), model.decision_function(points).reshape(shape),
                          model.predict_proba(points).reshape(shape))  # fmt: skip


@drawn
def softmax_lines(data: SoftmaxMachine | None = None) -> Any:
    """Alpaydin 10.9: thin lines where g_i = 0, thick lines where the machine changes its mind."""
    data = data or softmax_lines_data()
    figure, axes = sheet(size=(5.8, 5.0))
    ax = axes[0, 0]
    DecisionRegionsDisplay.from_estimator(
        data.model, data.X, data.y, bounds=data.bounds, ax=ax, boundaries=False, names=class_names()
    )
    for region in data.model.discriminant_.regions(data.bounds):
        inner_edges(ax, region, data.bounds, linewidth=2.4)
    for k, plane in enumerate(data.model.discriminant_._planes()):
        line(ax, plane, data.bounds, color=color(k), linewidth=1.1, label=f"$g_{k + 1} = 0$")
    ax.get_legend().remove()
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=6, columnspacing=1.2)
    frame(ax, data.bounds, equal=True, title="Thin: $g_i(\\mathbf{x}) = 0$.  Thick: the largest $g_i$ changes")
    return figure


softmax_surfaces_data = softmax_lines_data


@drawn
def softmax_surfaces(data: SoftmaxMachine | None = None) -> Any:
    """Alpaydin 10.10: the linear discriminants (left), and the posteriors after the softmax (right)."""
    data = data or softmax_surfaces_data()
    figure, axes = sheet(1, 2, (10.5, 4.8), subplot_kw={"projection": "3d"})
    across, up = data.grid
    for ax, values, title in zip(
        axes[0], (data.discriminants, data.posteriors), ("$g_i(\\mathbf{x})$, planes", "$P(C_i|\\mathbf{x})$, softmax"),
        strict=True,
    ):  # fmt: skip
        _surfaces(ax, across, up, values)
        ax.view_init(elev=44, azim=-62)
        ax.set(xlabel="$x_1$", ylabel="$x_2$")
        ax.set_title(title, loc="center")
    figure.get_layout_engine().set(wspace=0.14)
    axes[0, 0].set_zlabel("$g_i$")
    axes[0, 1].set_zlabel("$P(C_i|\\mathbf{x})$")
    marks = [swatch(name, color(k)) for k, name in enumerate(class_names())]
    figure.legend(handles=marks, loc="outside lower center", ncols=3)
    return figure


def _surfaces(ax: Any, across: Array, up: Array, values: Array) -> None:
    """Surfaces that cross, as one collection of small faces, so that what lies in front hides what lies behind."""
    from matplotlib.colors import LightSource
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    low, high = slice(None, -1), slice(1, None)
    corners = ((low, low), (low, high), (high, high), (high, low))  # seen from above against the clock
    faces, shades = [], []
    for k in range(values.shape[2]):
        points = np.stack([across, up, values[:, :, k]], axis=2)
        mine = np.stack([points[corner] for corner in corners], axis=2).reshape(-1, 4, 3)
        faces.append(mine)
        shades += [color(k)] * len(mine)
    ax.add_collection3d(
        Poly3DCollection(
            np.concatenate(faces), facecolors=shades, edgecolors=shades, linewidths=0.3, shade=True,
            lightsource=LightSource(azdeg=210, altdeg=75),
        )
    )  # fmt: skip
    ax.auto_scale_xyz(across, up, values)
