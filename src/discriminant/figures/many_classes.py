"""Several classes from several discriminants: Alpaydin's figures 10.3 and 10.4, Bishop's 4.2 and 4.3."""

from __future__ import annotations

from itertools import permutations
from types import SimpleNamespace as Data
from typing import Any

import numpy as np

from discriminant.estimators.linear_machine import LinearMachine
from discriminant.estimators.linear_programming import LinearProgrammingClassifier
from discriminant.estimators.perceptron import Perceptron
from discriminant.figures.drawing import class_names, clouds, drawn, regions
from discriminant.geometry import Hyperplane, polygon_area
from discriminant.inference.ambiguity import ambiguity
from discriminant.inference.separability import separability
from discriminant.plots.theme import INK, color, fill, frame, inner_edges, line, scatter, segment


def outputs(model: Any) -> list[Hyperplane]:
    """The line z_j = 0 of each output of a model in the plane."""
    found = model.discriminant_
    thresholds = np.zeros(found.n_outputs) if found.coding is None else np.asarray(found.coding.threshold)
    return [Hyperplane(a[1:], a[0] - theta, found.center) for a, theta in zip(found.weights.T, thresholds, strict=True)]


def one_against_rest_data() -> Data:
    """K hyperplanes by linear programming, the claims they lay, and the regions of the argmax rule."""
    X, y = clouds([(-2.0, -1.2), (2.2, -1.0), (0.2, 2.3)], 0.2 * np.eye(2), 18, seed=11)
    bounds = ((-4.4, 4.4), (-3.4, 4.4))
    model = LinearProgrammingClassifier(alpha=0.005, coding="one-vs-rest").fit(X, y)
    verdicts = [separability(X, y == label) for label in model.classes_]
    return Data(
        X=X, y=y, bounds=bounds, model=model, scores=model.outputs(X), verdicts=verdicts,
        claims=ambiguity(model, bounds), regions=model.discriminant_.regions(bounds),
    )  # fmt: skip


@drawn(size=(5.8, 5.0))
def one_against_rest(data: Data, ax: Any) -> None:
    for k, region in enumerate(data.regions):
        fill(ax, region, color(k))
        inner_edges(ax, region, data.bounds, linestyle=":", linewidth=1.6)
    for k, plane in enumerate(outputs(data.model)):
        line(ax, plane, data.bounds, color=color(k), linewidth=2)
        _name(ax, plane, data.bounds, f"$H_{k + 1}$", color(k), (0.06, 0.22, 0.06)[k])
    scatter(ax, data.X, data.y, data.model.classes_, names=class_names(), size=32)
    where = data.claims.point_of_none if data.claims.point_of_none is not None else data.claims.point_of_several
    if where is not None:
        ax.annotate("?", where + np.array([0.0, 0.3]), ha="center", va="center", fontsize=14, color=INK)
    ax.legend(loc="upper left")
    frame(ax, data.bounds, equal=True, title="Each $H_i$ keeps $C_i$ from the rest; dotted: the largest $g_i$ wins")


def _name(ax: Any, plane: Hyperplane, bounds: Any, text: str, shade: str, along: float) -> None:
    """Write beside a line, a share of its length below its upper end, on its positive side, within the box."""
    ends = plane.points(bounds)
    if not len(ends):
        return
    upper, lower = ends[np.argsort(-ends[:, 1])]
    place = upper + along * (lower - upper) + 0.38 * plane.unit_normal
    limits = np.array(bounds)
    place = np.clip(place, limits[:, 0] + 0.35, limits[:, 1] - 0.35)
    ax.text(*place, text, color=shade, fontsize=12, ha="center", va="center")


def pairwise_separation_data() -> Data:
    """Three discriminants, each trained on its two classes only, decided by conjunction."""
    X, y = clouds([(0.1, 0.2), (-2.6, 1.3), (2.7, 1.1)], 0.17 * np.eye(2), 18, seed=4)
    X[y == 1] += np.array([0.0, 0.4])
    bounds = ((-4.6, 4.8), (-2.6, 3.8))
    model = Perceptron(coding="pairwise", decoder="unanimous", margin=1.0, shuffle=False, tol=None).fit(X, y)
    verdicts = {"1 | rest": separability(X, y == 1)}
    for i, j in ((1, 2), (1, 3), (2, 3)):
        chosen = (y == i) | (y == j)
        verdicts[f"{i} | {j}"] = separability(X[chosen], y[chosen])
    errors = int((model.predict(X) != y).sum())  # of "choose C_i if all g_ij > 0"
    return Data(X=X, y=y, bounds=bounds, model=model, verdicts=verdicts, conjunction_errors=errors)


@drawn(size=(6.2, 4.6))
def pairwise_separation(data: Data, ax: Any) -> None:
    title = "$C_1$ lies between the others: no line cuts it off, but each pair has one"
    regions(ax, data.model, data, data.bounds, title, show="claims", boundaries=False)
    ax.get_legend().set_loc("lower left")
    for plane, (pair, along) in zip(outputs(data.model), {"12": 0.06, "13": 0.94, "23": 0.72}.items(), strict=True):
        line(ax, plane, data.bounds, linewidth=1.8)
        _name(ax, plane, data.bounds, f"$H_{{{pair}}}$", INK, along)


def ambiguous_regions_data() -> Data:
    """K − 1 discriminants of a class against the rest, K(K − 1)/2 of pairs, and a machine of K."""
    X, y = clouds([(-2.2, -0.9), (2.3, -1.0), (0.1, 2.3)], 0.16 * np.eye(2), 25, seed=5)
    bounds = ((-4.5, 4.5), (-3.5, 4.5))
    models: dict[str, Any] = {
        "rest": Perceptron(coding="one-vs-rest-k-1", random_state=29, tol=None).fit(X, y),
        "pairs": Perceptron(coding="pairwise", random_state=29, tol=None, start="random").fit(X, y),
        "machine": LinearMachine(random_state=1).fit(X, y),
    }
    shares = {kind: ambiguity(models[kind], bounds).ambiguous for kind in ("rest", "pairs")}
    whole = float(np.prod(np.diff(bounds)))
    shares["machine"] = 1.0 - sum(map(polygon_area, models["machine"].discriminant_.regions(bounds))) / whole
    return Data(X=X, y=y, bounds=bounds, models=models, shares=shares)


@drawn(1, 3, (13, 4.8), sharey=True)
def ambiguous_regions(data: Data, *axes: Any) -> None:
    entries: dict[str, Any] = {}
    titles = {
        "rest": "$K-1$ discriminants, a class against the rest",
        "pairs": "$K(K-1)/2$ discriminants, one for each pair",
        "machine": "one machine of $K$ discriminants",
    }
    for ax, (kind, title) in zip(axes, titles.items(), strict=True):
        show = "decisions" if kind == "machine" else "claims"
        regions(ax, data.models[kind], data, data.bounds, equal=False, show=show)
        ax.set_title(f"{title}\nambiguous: {abs(data.shares[kind]):.1%} of the square", fontsize=10)
        legend = ax.get_legend()
        entries |= {text.get_text(): mark for text, mark in zip(legend.get_texts(), legend.legend_handles, strict=True)}
        legend.remove()
    axes[0].figure.legend(list(entries.values()), list(entries), loc="outside lower center", ncols=len(entries))


def convex_regions_data() -> Data:
    """Five classes by Kesler's construction; the longest chord of a region that leaves its rows to be seen."""
    means = [(0, 0), (2.6, 0.6), (0.4, 2.6), (-2.7, 0.3), (-0.3, -2.5)]
    X, y = clouds(means, 0.18 * np.eye(2), 14, seed=2)
    bounds = ((-4.2, 4.2), (-4.0, 4.2))
    model = LinearMachine(margin=1.0).fit(X, y)
    regions = model.discriminant_.regions(bounds)
    region = regions[2]
    middle = region.mean(axis=0)
    inner = middle + 0.8 * (region - middle)
    share = np.linspace(0, 1, 201)[:, None]
    chords = [a + share * (b - a) for a, b in permutations(inner, 2)]
    clear = [c for c in chords if np.linalg.norm(c[:, None] - X, axis=2).min() > 0.25]
    chord = max(clear, key=lambda c: float(np.linalg.norm(c[0] - c[-1])))
    return Data(
        X=X, y=y, bounds=bounds, model=model, regions=regions, a=chord[0], b=chord[-1], chord=chord,
        decided=model.predict(chord),
    )  # fmt: skip


@drawn(size=(5.6, 5.2))
def convex_regions(data: Data, ax: Any) -> None:
    for k, region in enumerate(data.regions):
        fill(ax, region, color(k))
        inner_edges(ax, region, data.bounds, linewidth=1.6)
        if len(region):
            middle, far = region.mean(axis=0), region[np.linalg.norm(region, axis=1).argmax()]
            place = middle + 0.55 * (far - middle)  # off the middle, where the rows are
            ax.text(*place, f"$R_{k + 1}$", color=color(k), fontsize=13, ha="center", va="center")
    scatter(ax, data.X, data.y, data.model.classes_, size=18, names=())
    between = data.chord[80]
    segment(ax, data.a, data.b, INK, linewidth=1.6, marker="o", markersize=7, zorder=6)
    ax.plot(*between, "o", color="white", markeredgecolor=INK, markersize=7, zorder=7)
    for point, text in ((data.a, "$x_A$"), (data.b, "$x_B$"), (between, "$\\hat{x}$")):
        ax.annotate(text, point, xytext=(5, -16), textcoords="offset points", fontsize=12, zorder=8)
    frame(ax, data.bounds, equal=True, title="What lies between two points of a region lies in the region")
