"""From scores to probabilities: Alpaydin's figures 10.5, 10.7, 10.9 and 10.10, Bishop's 4.9.

σ(a) = 1/(1 + e⁻ᵃ),     Φ(λa) with λ² = π/8,     softmax_i(a) = e^{a_i} / Σ_j e^{a_j}
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import SimpleNamespace as Data
from typing import Any

import numpy as np

from discriminant.decision import probit, sigmoid
from discriminant.errors import DiscriminantWarning
from discriminant.estimators.logistic import LogisticRegression
from discriminant.figures.drawing import clouds, drawn, regions, reliefs
from discriminant.optimize import GradientDescent
from discriminant.plots.theme import BLUE, GREY, INK, ORANGE, color, inner_edges, line, mesh
from discriminant.protocols import Array


def sigmoid_curve_data() -> Data:
    """σ(a) from −10 to 10."""
    a = np.linspace(-10, 10, 401)
    return Data(a=a, values=sigmoid(a), slope_at_zero=_slope(sigmoid))


def _slope(curve: Callable[[Array], Array], h: float = 1e-5) -> float:
    """At zero."""
    return float(np.diff(curve(np.array([-h, h])))[0] / (2 * h))


def _guides(ax: Any, *levels: float) -> None:
    """Dotted lines at some levels, and one upright through zero."""
    for draw, at in (*((ax.axhline, level) for level in levels), (ax.axvline, 0)):
        draw(at, color=GREY, linewidth=0.7, linestyle=":")


@drawn(size=(5.6, 3.6))
def sigmoid_curve(data: Data, ax: Any) -> None:
    _guides(ax, 0.0, 0.5, 1.0)
    ax.plot(data.a, data.values, color=BLUE, linewidth=2.6, label="$1/(1 + e^{-a})$")
    tangent = 0.5 + data.slope_at_zero * data.a
    inside = (tangent > -0.02) & (tangent < 1.02)
    ax.plot(data.a[inside], tangent[inside], color=ORANGE, linestyle="--", linewidth=1.4, label="slope ¼ at 0")
    ax.plot(0, 0.5, "o", color=INK)
    ax.legend(loc="upper left", bbox_to_anchor=(0.0, 0.9))
    title = "The logistic function turns log odds into a probability"
    ax.set(xlabel="$a = \\mathbf{w}^t\\mathbf{x} + w_0$", ylabel="$P(C_1|\\mathbf{x})$", title=title)


def sigmoid_and_probit_data() -> Data:
    """Both curves from −6 to 6."""
    a, scale = np.linspace(-6, 6, 481), float(np.sqrt(np.pi / 8))
    slopes = _slope(sigmoid), _slope(lambda near: probit(scale * near))
    return Data(a=a, logistic=sigmoid(a), scaled_probit=probit(scale * a), scale=scale, slopes=slopes)


@drawn(1, 2, (9.4, 3.6), width_ratios=(1.6, 1))
def sigmoid_and_probit(data: Data, left: Any, right: Any) -> None:
    left.plot(data.a, data.logistic, color=ORANGE, linewidth=2.6, label="$\\sigma(a)$")
    left.plot(data.a, data.scaled_probit, color=BLUE, linestyle="--", linewidth=2.2,
              label="$\\Phi(\\lambda a)$, $\\lambda^2 = \\pi/8$")  # fmt: skip
    _guides(left, 0.5)
    left.legend(loc="upper left")
    title = "Two squashing functions of equal slope at zero"
    left.set(xlabel="$a$", ylabel="$\\sigma(a)$, $\\Phi(\\lambda a)$", title=title)
    right.plot(data.a, data.logistic - data.scaled_probit, color=INK)
    right.axhline(0, color=GREY, linewidth=0.7, linestyle=":")
    right.set(xlabel="$a$", ylabel="$\\sigma(a) - \\Phi(\\lambda a)$", title="Their difference")


def hardening_sigmoid_data() -> Data:
    """Batch gradient descent from weights in (−0.01, 0.01), traced."""
    x = np.array([0.3, 0.7, 1.2, 1.6, 2.1, 2.9, 3.3, 3.9, 4.2, 4.7])
    y = (x > 2.5).astype(int)
    descent = GradientDescent(step=1.0, threshold=0.0, iterations=1000, trace=True, count_errors=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscriminantWarning)  # separable: there is no minimum, which is the point
        model = LogisticRegression(C=np.inf, optimizer=descent, random_state=0).fit(x[:, None], y)
    history, passes = model.history_, (10, 100, 1000)
    at = np.searchsorted(history["k"], passes)
    return Data(
        x=x, y=y, passes=passes, weights=history["weights"][at, :, 0], cross_entropy=history["objective"][at],
        errors=history["errors"][at],
    )  # fmt: skip


@drawn(1, 2, (10, 4))
def hardening_sigmoid(data: Data, left: Any, right: Any) -> None:
    grid = np.linspace(-0.1, 5.1, 400)
    shades = (color(5), BLUE, INK)
    for ax, link, heights in ((left, np.positive, (0.0, 0.0)), (right, sigmoid, (0.0, 1.0))):
        for (w0, w), passes, shade in zip(data.weights, data.passes, shades, strict=True):
            ax.plot(grid, link(w * grid + w0), color=shade, label=f"{passes:,} passes")
        for k, height in enumerate(heights):
            rows = data.x[data.y == k]
            ax.scatter(rows, np.full(len(rows), height), c=color(k + 1), marker="ox"[k], s=36, zorder=4,
                       label=f"$C_{2 - k}$, $r = {k}$")  # fmt: skip
        ax.axhline(0.5 if heights[1] else 0.0, color=GREY, linewidth=0.7, linestyle=":")
        ax.set_xlabel("$x$")
        ax.legend(loc="upper left")
    left.set(ylim=(-8, 8), ylabel="$wx + w_0$", title="The line $wx + w_0$ grows steeper")
    title = "The sigmoid hardens; the errors were 0 long before"
    right.set(ylabel="$y = \\mathrm{sigmoid}(wx + w_0)$", title=title)


def softmax_lines_data() -> Data:
    """Gradient descent on the cross-entropy with a slight ridge, so that it ends; g and P over a grid (r, r, K)."""
    X, y = clouds([(0.9, 3.0), (2.0, 1.0), (3.4, 2.9)], 0.13 * np.eye(2), 16, seed=6)
    bounds = ((-0.4, 4.6), (-0.4, 4.6))
    descent = GradientDescent(step=1.0, threshold=1e-7, iterations=10_000)
    model = LogisticRegression(C=2.0, optimizer=descent, random_state=0).fit(X, y)
    points, across, up = mesh(bounds, 101)
    shape = (*across.shape, 3)
    g, P = model.decision_function(points).reshape(shape), model.predict_proba(points).reshape(shape)
    return Data(X=X, y=y, bounds=bounds, model=model, grid=(across, up), discriminants=g, posteriors=P)


@drawn(size=(5.8, 5.0))
def softmax_lines(data: Data, ax: Any) -> None:
    title = "Thin: $g_i(\\mathbf{x}) = 0$.  Thick: the largest $g_i$ changes"
    regions(ax, data.model, data, data.bounds, title, boundaries=False)
    for region in data.model.discriminant_.regions(data.bounds):
        inner_edges(ax, region, data.bounds, linewidth=2.4)
    for k, plane in enumerate(data.model.discriminant_._planes()):
        line(ax, plane, data.bounds, color=color(k), linewidth=1.1, label=f"$g_{k + 1} = 0$")
    ax.get_legend().remove()
    ax.figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=6, columnspacing=1.2)


softmax_surfaces_data = softmax_lines_data


@drawn(1, 2, (10.5, 4.8), subplot_kw={"projection": "3d"})
def softmax_surfaces(data: Data, *axes: Any) -> None:
    for ax, values in zip(axes, (data.discriminants, data.posteriors), strict=True):
        _surfaces(ax, data.grid, values)
    titles = ("$g_i(\\mathbf{x})$, planes", "$P(C_i|\\mathbf{x})$, softmax")
    reliefs(axes, titles, ("$g_i$", "$P(C_i|\\mathbf{x})$"), (44, -62), 3)


def _surfaces(ax: Any, grid: tuple[Array, Array], values: Array) -> None:
    """Surfaces that cross, as one collection of small faces, so that what lies in front hides what lies behind."""
    from matplotlib.colors import LightSource
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    low, high = slice(None, -1), slice(1, None)
    corners = ((low, low), (low, high), (high, high), (high, low))  # seen from above against the clock
    faces, shades = [], []
    for k in range(values.shape[2]):
        points = np.stack([*grid, values[:, :, k]], axis=2)
        faces.append(np.stack([points[corner] for corner in corners], axis=2).reshape(-1, 4, 3))
        shades += [color(k)] * len(faces[-1])
    ax.add_collection3d(
        Poly3DCollection(
            np.concatenate(faces), facecolors=shades, edgecolors=shades, linewidths=0.3, shade=True,
            lightsource=LightSource(azdeg=210, altdeg=75),
        )
    )  # fmt: skip
    ax.auto_scale_xyz(*grid, values)
