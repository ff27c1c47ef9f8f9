"""Gaussian classes: densities, posteriors, directions and regions (the lecture on generative models; Bishop's 4.6,
4.10 and 4.11; the notes on Fisher's discriminant).

    posterior = σ(w·x + w₀) for one covariance;      w ∝ S_W⁻¹(m₁ − m₂), not m₁ − m₂
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.estimators.fisher import FisherDiscriminant
from discriminant.estimators.linear import LinearDiscriminantAnalysis
from discriminant.estimators.quadratic import QuadraticDiscriminantAnalysis
from discriminant.figures.many_classes import class_names
from discriminant.figures.samples import angle, clouds, drawn
from discriminant.inference.separability import Separability, separability
from discriminant.plots.regions import DecisionRegionsDisplay
from discriminant.plots.theme import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    color,
    frame,
    line,
    mesh,
    scatter,
    sheet,
    swatch,
    tint,
)  # fmt: skip
from discriminant.protocols import Array

Box = tuple[tuple[float, float], tuple[float, float]]


def density(points: Array, mean: Array, covariance: Array) -> Array:
    """The normal density, (n,)."""
    white = np.linalg.solve(np.linalg.cholesky(covariance), (points - mean).T)
    return np.asarray(np.exp(-0.5 * (white**2).sum(axis=0)) / (2 * np.pi * np.sqrt(np.linalg.det(covariance))))


@dataclass(frozen=True)
class DensitiesAndPosterior:
    """Two Gaussian densities over a grid, and the posterior of a model fitted to a sample of them."""

    model: Any
    grid: tuple[Array, Array]
    densities: Array  # (2, r, r), with the fitted means and covariance
    posterior: Array  # (r, r): P(C_1|x) by the model
    log_odds: Array  # (r, r): by the model


def class_densities_and_posterior_data() -> DensitiesAndPosterior:
    """LDA on two clouds of one covariance."""
    X, y = clouds([(-0.5, 0.45), (0.5, -0.45)], [[0.09, 0.03], [0.03, 0.09]], 100, seed=7, exact=True)
    model = LinearDiscriminantAnalysis(store_covariance=True).fit(X, y)
    points, across, up = mesh(((-1.4, 1.4), (-1.4, 1.4)), 61)
    heights = [density(points, mean, model.covariance_).reshape(across.shape) for mean in model.means_]
    posterior = model.predict_proba(points)[:, 0].reshape(across.shape)
    odds = -model.decision_function(points).reshape(across.shape)
    return DensitiesAndPosterior(model, (across, up), np.array(heights), posterior, odds)


@drawn
def class_densities_and_posterior(data: DensitiesAndPosterior | None = None) -> Any:
    """Bishop 4.10: the densities of two classes, and the posterior of the first, a sigmoid of a linear function."""
    from matplotlib.colors import to_rgba_array

    data = data or class_densities_and_posterior_data()
    figure, axes = sheet(1, 2, (10.5, 4.8), subplot_kw={"projection": "3d"})
    left, right = axes[0]
    across, up = data.grid
    upper = data.densities.argmax(axis=0)
    shades = to_rgba_array([BLUE, ORANGE])
    left.plot_surface(
        across, up, data.densities.max(axis=0), facecolors=shades[upper], linewidth=0, rstride=1, cstride=1
    )
    left.set_title("class densities $p(\\mathbf{x}|C_k)$", loc="center")
    blend = data.posterior[..., None]
    faces = blend * shades[0] + (1 - blend) * shades[1]
    right.plot_surface(across, up, data.posterior, facecolors=faces, linewidth=0, rstride=1, cstride=1)
    right.set_title("posterior $P(C_1|\\mathbf{x}) = \\sigma(\\mathbf{w}^t\\mathbf{x} + w_0)$", loc="center")
    for ax in (left, right):
        ax.view_init(elev=30, azim=-60)
        ax.set(xlabel="$x_1$", ylabel="$x_2$")
    figure.get_layout_engine().set(wspace=0.14)
    left.set_zlabel("$p(\\mathbf{x}|C_k)$")
    right.set_zlabel("$P(C_1|\\mathbf{x})$")
    marks = [swatch(name, shade) for name, shade in zip(class_names(2), (BLUE, ORANGE), strict=True)]
    figure.legend(handles=marks, loc="outside lower center", ncols=2)
    return figure


@dataclass(frozen=True)
class TwoDirections:
    """One sample, the direction between the means and Fisher's, and what each makes of the sample."""

    X: Array
    y: Array
    naive: Any
    fisher: Any
    errors: dict[str, int]
    angle: float  # between the two directions, in degrees
    criterion: dict[str, float]  # (between)²/(within) along each


def _directions(X: Array, y: Array, threshold: str = "gaussian") -> TwoDirections:
    naive = FisherDiscriminant(direction="mean-difference", threshold=threshold).fit(X, y)
    fisher = FisherDiscriminant(threshold=threshold).fit(X, y)
    models = {"naive": naive, "fisher": fisher}
    errors = {name: int((model.predict(X) != y).sum()) for name, model in models.items()}
    criterion = {name: float(model.criterion_) for name, model in models.items()}
    return TwoDirections(X, y, naive, fisher, errors, angle(naive.scalings_, fisher.scalings_), criterion)


def _correlated(seed: int, n: int = 60) -> tuple[Array, Array]:
    return clouds([(-1.6, 0.0), (1.6, 0.4)], [[1.5, 1.25], [1.25, 1.25]], n, seed=seed, exact=True)


def naive_and_lda_direction_data() -> TwoDirections:
    """Strongly correlated columns."""
    return _directions(*_correlated(3), threshold="pooled")


@drawn
def naive_and_lda_direction(data: TwoDirections | None = None) -> Any:
    """The line between the means makes errors that the covariance of the groups would have avoided."""
    data = data or naive_and_lda_direction_data()
    figure, axes = sheet(1, 2, (10.4, 4.8), sharey=True)
    bounds = ((-6.0, 6.0), (-4.0, 4.4))
    pairs = (
        (data.naive, "naive", "perpendicular to the line of the means"),
        (data.fisher, "fisher", "adjusted for the covariance (LDA)"),
    )
    for ax, (model, name, title) in zip(axes[0], pairs, strict=True):
        DecisionRegionsDisplay.from_estimator(model, data.X, data.y, bounds=bounds, ax=ax, names=class_names(2))
        ax.plot(*data.naive.means_.T, "--", color=GREY, linewidth=1.2, zorder=4)
        ax.plot(*data.naive.means_.T, "P", color=INK, markersize=10, markeredgecolor="white", zorder=5, label="means")
        wrong = model.predict(data.X) != data.y
        ax.scatter(*data.X[wrong].T, s=90, facecolors="none", edgecolors=INK, linewidths=1.1, zorder=4, label="errors")
        ax.legend(loc="lower right")
        frame(ax, bounds, equal=True, title=f"{title}: {data.errors[name]} error{'s' * (data.errors[name] != 1)}")
    return figure


def fisher_projection_data() -> TwoDirections:
    """The same problem, seen as a projection."""
    return _directions(*_correlated(8, 120))


@drawn
def fisher_projection(data: TwoDirections | None = None) -> Any:
    """Bishop 4.6: projected on the line of the means the classes overlap; on Fisher's direction they do not."""
    data = data or fisher_projection_data()
    figure, axes = sheet(2, 2, (9.6, 6.6), height_ratios=(1.8, 1))
    bounds = ((-6.0, 6.0), (-4.0, 4.4))
    titles = ("the line joining the means", "Fisher's discriminant")
    for k, (model, title) in enumerate(zip((data.naive, data.fisher), titles, strict=True)):
        above, below = axes[0, k], axes[1, k]
        scatter(above, data.X, data.y, model.classes_, size=14, names=class_names(2))
        unit = model.scalings_[:, 0] / np.linalg.norm(model.scalings_[:, 0])
        middle = data.X.mean(axis=0)
        above.plot(*np.array([middle - 9 * unit, middle + 9 * unit]).T, color=GREEN, linewidth=2, label="projection")
        line(above, model.discriminant_.boundary(), bounds, linestyle=":", linewidth=1.4, label="threshold")
        above.plot(*data.naive.means_.T, "P", color=INK, markersize=9, markeredgecolor="white", zorder=5, label="means")
        frame(above, bounds, equal=True, title=title)
        projected = model.transform(data.X)[:, 0]
        edges = np.linspace(projected.min(), projected.max(), 34)
        for j, label in enumerate(model.classes_):
            below.hist(
                projected[data.y == label], bins=edges, color=color(j), alpha=0.65, edgecolor="white", linewidth=0.4
            )
        below.axvline(model.threshold_, color=INK, linestyle=":", linewidth=1.4)
        below.set(ylabel="samples", xlabel="projection")
        name = ("naive", "fisher")[k]
        below.set_title(f"{data.errors[name]} of {len(data.y)} wrong, $J(w)$ = {data.criterion[name]:.3f}", fontsize=10)
    figure.get_layout_engine().set(hspace=0.08)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure


@dataclass(frozen=True)
class OutlierAndMeans:
    """A separable sample with a far member, projected two ways."""

    directions: TwoDirections
    outlier: int  # its row
    verdict: Separability
    gaps: dict[str, float]  # between the projected classes, in their standard deviations; negative: they overlap


def outlier_and_mean_difference_data() -> OutlierAndMeans:
    """Two long narrow classes, one with a member far along its length, beside the other class."""
    X, y = clouds([(0.0, 0.9), (1.6, 0.3)], [[0.22, 0.13], [0.13, 0.09]], 30, seed=12, exact=True)
    outlier = len(X)
    X, y = np.vstack([X, [[2.5, 2.45]]]), np.append(y, 1)
    found = _directions(X, y, threshold="midpoint")
    gaps = {}
    for name, model in (("naive", found.naive), ("fisher", found.fisher)):
        values = model.transform(X)[:, 0]
        one, two = values[y == 1], values[y == 2]
        low, high = (one, two) if one.mean() < two.mean() else (two, one)
        gaps[name] = float((high.min() - low.max()) / values.std())
    return OutlierAndMeans(found, outlier, separability(X, y), gaps)


@drawn
def outlier_and_mean_difference(data: OutlierAndMeans | None = None) -> Any:
    """The outlier is lost on the line of the means, although the sample is separable; Fisher's direction keeps it."""
    data = data or outlier_and_mean_difference_data()
    found = data.directions
    figure, axes = sheet(1, 2, (11, 5.2), sharey=True)
    bounds = ((-2.4, 3.6), (-2.2, 3.0))
    for ax, model, name in zip(axes[0], (found.naive, found.fisher), ("naive", "fisher"), strict=True):
        unit = model.scalings_[:, 0] / np.linalg.norm(model.scalings_[:, 0])
        base = np.array([0.0, -1.2]) if name == "naive" else np.array([-1.75, 0.1])
        feet = base + ((found.X - base) @ unit)[:, None] * unit
        along = (found.X - base) @ unit
        ends = np.array([along.min() - 0.3, along.max() + 0.3])[:, None] * unit
        ax.plot(*(base + ends).T, color=GREY, linewidth=1, label="projection")
        here, there = model.discriminant_.boundary().value(np.array([base, base + unit]))
        cut = base + here / (here - there) * unit  # where the decision changes along the line
        across = 0.45 * np.array([-unit[1], unit[0]])
        ax.plot(*np.array([cut - across, cut + across]).T, color=INK, linestyle=":", linewidth=2, label="threshold")
        for k, label in enumerate(model.classes_):
            ax.scatter(
                *feet[found.y == label].T, s=14, color=color(k), marker="|" if abs(unit[0]) > 0.7 else "_", zorder=3
            )
        scatter(ax, found.X, found.y, model.classes_, size=24, names=class_names(2))
        ax.plot(*np.array([found.X[data.outlier], feet[data.outlier]]).T, color=PURPLE, linestyle="--", linewidth=1.3)
        ax.scatter(*found.X[data.outlier], s=120, facecolors="none", edgecolors=PURPLE, linewidths=1.8, zorder=5,
                   label="outlier")  # fmt: skip
        ax.scatter(*feet[data.outlier], s=70, facecolors="none", edgecolors=PURPLE, linewidths=1.8, zorder=5)
        frame(ax, bounds, equal=True)
        state = "the classes overlap" if data.gaps[name] < 0 else "a threshold separates them"
        ax.set_title(f"{'difference of means' if name == 'naive' else 'Fisher'}: {state}")
    axes[0, 0].legend(loc="upper left")
    return figure


@dataclass(frozen=True)
class QdaRegions:
    """Three Gaussian classes, two of one covariance."""

    X: Array
    y: Array
    bounds: Box
    model: Any
    covariances: Array
    curvature: dict[str, float]  # ‖Σ_i⁻¹ − Σ_j⁻¹‖: zero where the boundary is straight


def qda_regions_data() -> QdaRegions:
    """Moments are exact, so that the first two classes share their covariance to the last digits."""
    round_, narrow = 0.16 * np.eye(2), np.array([[0.62, 0.2], [0.2, 0.1]])
    X, y = clouds([(-1.0, -0.6), (0.9, -1.1), (0.1, 1.0)], [round_, round_, narrow], 60, seed=10, exact=True)
    model = QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, y)
    inverses = np.linalg.inv(np.asarray(model.covariance_))
    curvature = {
        f"{i + 1} | {j + 1}": float(np.linalg.norm(inverses[i] - inverses[j])) for i, j in ((0, 1), (0, 2), (1, 2))
    }
    return QdaRegions(X, y, ((-2.8, 2.8), (-2.6, 2.6)), model, np.asarray(model.covariance_), curvature)


@drawn
def qda_regions(data: QdaRegions | None = None) -> Any:
    """Bishop 4.11: boundaries are quadratic, but straight between classes that share a covariance."""
    data = data or qda_regions_data()
    figure, axes = sheet(1, 2, (10.2, 4.8), sharey=True)
    left, right = axes[0]
    points, across, up = mesh(data.bounds, 120)
    for k, (mean, covariance) in enumerate(zip(data.model.means_, data.covariances, strict=True)):
        heights = density(points, mean, covariance).reshape(across.shape)
        left.contourf(across, up, heights, levels=np.array([0.08, 0.3, 0.6, 1.0]) * heights.max(),
                      colors=[tint(color(k), share) for share in (0.75, 0.5, 0.25)], alpha=0.8)  # fmt: skip
        left.contour(
            across, up, heights, levels=np.array([0.08, 0.3, 0.6]) * heights.max(), colors=color(k), linewidths=1
        )
        left.text(*mean, f"$C_{k + 1}$", ha="center", va="center", fontsize=12)
    left.set_title("class densities $p(\\mathbf{x}|C_k)$")
    frame(left, data.bounds, equal=True)
    DecisionRegionsDisplay.from_estimator(data.model, data.X, data.y, bounds=data.bounds, ax=right, names=class_names())
    frame(right, data.bounds, equal=True, title="regions: straight between $C_1$ and $C_2$, curved to $C_3$")
    return figure
