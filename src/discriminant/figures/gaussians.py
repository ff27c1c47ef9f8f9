"""Gaussian classes: densities, posteriors, directions and regions (the lecture on generative models; Bishop's 4.6,
4.10 and 4.11; the notes on Fisher's discriminant).

    posterior = σ(w·x + w₀) for one covariance;      w ∝ S_W⁻¹(m₁ − m₂), not m₁ − m₂
"""

from __future__ import annotations

from types import SimpleNamespace as Data
from typing import Any

import numpy as np

from discriminant.errors import counted
from discriminant.estimators.fisher import FisherDiscriminant
from discriminant.estimators.linear import LinearDiscriminantAnalysis
from discriminant.estimators.quadratic import QuadraticDiscriminantAnalysis
from discriminant.figures.drawing import angle, class_names, clouds, drawn, regions, reliefs
from discriminant.inference.separability import separability
from discriminant.plots.theme import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    color,
    frame,
    histogram,
    line,
    mesh,
    ring,
    scatter,
    segment,
    tint,
)
from discriminant.protocols import Array


def density(points: Array, mean: Array, covariance: Array) -> Array:
    """The normal density, (n,)."""
    white = np.linalg.solve(np.linalg.cholesky(covariance), (points - mean).T)
    return np.asarray(np.exp(-0.5 * (white**2).sum(axis=0)) / (2 * np.pi * np.sqrt(np.linalg.det(covariance))))


def class_densities_and_posterior_data() -> Data:
    """LDA on two clouds of one covariance; over a grid the fitted densities, P(C_1|x) and its log odds."""
    X, y = clouds([(-0.5, 0.45), (0.5, -0.45)], [[0.09, 0.03], [0.03, 0.09]], 100, seed=7, exact=True)
    model = LinearDiscriminantAnalysis(store_covariance=True).fit(X, y)
    points, across, up = mesh(((-1.4, 1.4), (-1.4, 1.4)), 61)
    heights = [density(points, mean, model.covariance_).reshape(across.shape) for mean in model.means_]
    posterior = model.predict_proba(points)[:, 0].reshape(across.shape)
    odds = -model.decision_function(points).reshape(across.shape)
    return Data(model=model, grid=(across, up), densities=np.array(heights), posterior=posterior, log_odds=odds)


@drawn(1, 2, (10.5, 4.8), subplot_kw={"projection": "3d"})
def class_densities_and_posterior(data: Data, left: Any, right: Any) -> None:
    from matplotlib.colors import to_rgba_array

    shades, blend = to_rgba_array([BLUE, ORANGE]), data.posterior[..., None]
    for ax, heights, faces in (
        (left, data.densities.max(axis=0), shades[data.densities.argmax(axis=0)]),
        (right, data.posterior, blend * shades[0] + (1 - blend) * shades[1]),
    ):
        ax.plot_surface(*data.grid, heights, facecolors=faces, linewidth=0, rstride=1, cstride=1)
    density, posterior = "$p(\\mathbf{x}|C_k)$", "$P(C_1|\\mathbf{x})$"
    titles = f"class densities {density}", f"posterior {posterior[:-1]} = \\sigma(\\mathbf{{w}}^t\\mathbf{{x}} + w_0)$"
    reliefs((left, right), titles, (density, posterior), (30, -60), 2)


def _directions(X: Array, y: Array, threshold: str = "gaussian") -> Data:
    """The direction between the means and Fisher's: their angle, the errors and (between)²/(within) of each."""
    naive = FisherDiscriminant(direction="mean-difference", threshold=threshold).fit(X, y)
    fisher = FisherDiscriminant(threshold=threshold).fit(X, y)
    models = {"naive": naive, "fisher": fisher}
    errors = {name: int((model.predict(X) != y).sum()) for name, model in models.items()}
    criterion = {name: float(model.criterion_) for name, model in models.items()}
    between = angle(naive.scalings_, fisher.scalings_)
    return Data(X=X, y=y, **models, models=models, errors=errors, angle=between, criterion=criterion)


def _correlated(seed: int, n: int = 60) -> tuple[Array, Array]:
    return clouds([(-1.6, 0.0), (1.6, 0.4)], [[1.5, 1.25], [1.25, 1.25]], n, seed=seed, exact=True)


def naive_and_lda_direction_data() -> Data:
    """Strongly correlated columns."""
    return _directions(*_correlated(3), threshold="pooled")


@drawn(1, 2, (10.4, 4.8), sharey=True)
def naive_and_lda_direction(data: Data, *axes: Any) -> None:
    bounds = ((-6.0, 6.0), (-4.0, 4.4))
    titles = ("perpendicular to the line of the means", "adjusted for the covariance (LDA)")
    for ax, (name, model), title in zip(axes, data.models.items(), titles, strict=True):
        regions(ax, model, data, bounds, f"{title}: {counted(data.errors[name], 'error')}")
        segment(ax, data.naive.means_[0], data.naive.means_[1], GREY, linestyle="--", linewidth=1.2, zorder=4)
        ax.plot(*data.naive.means_.T, "P", color=INK, markersize=10, markeredgecolor="white", zorder=5, label="means")
        wrong = model.predict(data.X) != data.y
        ring(ax, data.X[wrong], 90, linewidths=1.1, zorder=4, label="errors")
        ax.legend(loc="lower right")


def fisher_projection_data() -> Data:
    """The same problem, seen as a projection."""
    return _directions(*_correlated(8, 120))


@drawn(2, 2, (9.6, 6.6), height_ratios=(1.8, 1))
def fisher_projection(data: Data, *axes: Any) -> None:
    bounds = ((-6.0, 6.0), (-4.0, 4.4))
    titles = ("the line joining the means", "Fisher's discriminant")
    for above, below, (name, model), title in zip(axes[:2], axes[2:], data.models.items(), titles, strict=True):
        scatter(above, data.X, data.y, model.classes_, size=14, names=class_names(2))
        unit, middle = _unit(model), data.X.mean(axis=0)
        segment(above, middle - 9 * unit, middle + 9 * unit, GREEN, linewidth=2, label="projection")
        line(above, model.discriminant_.boundary(), bounds, linestyle=":", linewidth=1.4, label="threshold")
        above.plot(*data.naive.means_.T, "P", color=INK, markersize=9, markeredgecolor="white", zorder=5, label="means")
        frame(above, bounds, equal=True, title=title)
        histogram(below, model.transform(data.X)[:, 0], data.y, model.classes_, 33)
        below.axvline(model.threshold_, color=INK, linestyle=":", linewidth=1.4)
        below.set(ylabel="samples", xlabel="projection")
        below.set_title(f"{data.errors[name]} of {len(data.y)} wrong, $J(w)$ = {data.criterion[name]:.3f}", fontsize=10)
    figure = axes[0].figure
    figure.get_layout_engine().set(hspace=0.08)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)


def _unit(model: Any) -> Array:
    """The direction of a projection, of length 1."""
    return np.asarray(model.scalings_[:, 0] / np.linalg.norm(model.scalings_[:, 0]))


def outlier_and_mean_difference_data() -> Data:
    """Two long narrow classes, one with a member far along its length, beside the other class.

    The gaps are those between the projected classes, in their standard deviations; negative: they overlap.
    """
    X, y = clouds([(0.0, 0.9), (1.6, 0.3)], [[0.22, 0.13], [0.13, 0.09]], 30, seed=12, exact=True)
    outlier = len(X)
    X, y = np.vstack([X, [[2.5, 2.45]]]), np.append(y, 1)
    found = _directions(X, y, threshold="midpoint")
    gaps = {}
    for name, model in found.models.items():
        values = model.transform(X)[:, 0]
        one, two = values[y == 1], values[y == 2]
        low, high = (one, two) if one.mean() < two.mean() else (two, one)
        gaps[name] = float((high.min() - low.max()) / values.std())
    return Data(directions=found, outlier=outlier, verdict=separability(X, y), gaps=gaps)


@drawn(1, 2, (11, 5.2), sharey=True)
def outlier_and_mean_difference(data: Data, *axes: Any) -> None:
    found, k = data.directions, data.outlier
    for ax, (name, model), title in zip(axes, found.models.items(), ("difference of means", "Fisher"), strict=True):
        unit = _unit(model)
        base = np.array([0.0, -1.2]) if name == "naive" else np.array([-1.75, 0.1])
        along = (found.X - base) @ unit
        feet = base + along[:, None] * unit
        start, end = base + (along.min() - 0.3) * unit, base + (along.max() + 0.3) * unit
        segment(ax, start, end, GREY, linewidth=1, label="projection")
        here, there = model.discriminant_.boundary().value(np.array([base, base + unit]))
        cut = base + here / (here - there) * unit  # where the decision changes along the line
        across = 0.45 * np.array([-unit[1], unit[0]])
        segment(ax, cut - across, cut + across, INK, linestyle=":", linewidth=2, label="threshold")
        mark = "|" if abs(unit[0]) > 0.7 else "_"
        for j, label in enumerate(model.classes_):
            ax.scatter(*feet[found.y == label].T, s=14, color=color(j), marker=mark, zorder=3)
        scatter(ax, found.X, found.y, model.classes_, size=24, names=class_names(2))
        segment(ax, found.X[k], feet[k], PURPLE, linestyle="--", linewidth=1.3)
        ring(ax, found.X[k], 120, PURPLE, linewidths=1.8, label="outlier")
        ring(ax, feet[k], 70, PURPLE, linewidths=1.8)
        state = "the classes overlap" if data.gaps[name] < 0 else "a threshold separates them"
        frame(ax, ((-2.4, 3.6), (-2.2, 3.0)), equal=True, title=f"{title}: {state}")
    axes[0].legend(loc="upper left")


def qda_regions_data() -> Data:
    """Moments are exact: the first two classes share their covariance, ‖Σ_i⁻¹ − Σ_j⁻¹‖ = 0, to the last digits."""
    round_, narrow = 0.16 * np.eye(2), np.array([[0.62, 0.2], [0.2, 0.1]])
    X, y = clouds([(-1.0, -0.6), (0.9, -1.1), (0.1, 1.0)], [round_, round_, narrow], 60, seed=10, exact=True)
    model = QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, y)
    inverses = np.linalg.inv(np.asarray(model.covariance_))
    pairs = ((0, 1), (0, 2), (1, 2))
    curvature = {f"{i + 1} | {j + 1}": float(np.linalg.norm(inverses[i] - inverses[j])) for i, j in pairs}
    bounds, covariances = ((-2.8, 2.8), (-2.6, 2.6)), np.asarray(model.covariance_)
    return Data(X=X, y=y, bounds=bounds, model=model, covariances=covariances, curvature=curvature)


@drawn(1, 2, (10.2, 4.8), sharey=True)
def qda_regions(data: Data, left: Any, right: Any) -> None:
    points, across, up = mesh(data.bounds, 120)
    for k, (mean, covariance) in enumerate(zip(data.model.means_, data.covariances, strict=True)):
        heights = density(points, mean, covariance).reshape(across.shape)
        levels, shades = np.array([0.08, 0.3, 0.6, 1.0]) * heights.max(), [tint(color(k), t) for t in (0.75, 0.5, 0.25)]
        left.contourf(across, up, heights, levels=levels, colors=shades, alpha=0.8)
        left.contour(across, up, heights, levels=levels[:3], colors=color(k), linewidths=1)
        left.text(*mean, f"$C_{k + 1}$", ha="center", va="center", fontsize=12)
    frame(left, data.bounds, equal=True, title="class densities $p(\\mathbf{x}|C_k)$")
    regions(right, data.model, data, data.bounds, "regions: straight between $C_1$ and $C_2$, curved to $C_3$")
