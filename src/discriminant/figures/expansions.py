"""Discriminants linear in φ(x): one variable and its square, and distances to two centres (Bishop 4.12).

g(x) = a₁ + a₂x + a₃x² = a·y,   y = (1, x, x²)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.bases import Distances, Polynomial
from discriminant.estimators.linear_programming import LinearProgrammingClassifier
from discriminant.figures.many_classes import class_names
from discriminant.figures.samples import drawn
from discriminant.geometry import Hyperplane
from discriminant.inference.separability import Separability, separability
from discriminant.model import LinearDiscriminant
from discriminant.plots.regions import DecisionRegionsDisplay
from discriminant.plots.theme import BLUE, GREEN, GREY, INK, ORANGE, frame, line, scatter, sheet, tint
from discriminant.protocols import Array


@dataclass(frozen=True)
class OneVariable:
    """g of one variable: a line, and the parabola −1 + x + 2x² of the lecture, which is linear in (1, x, x²)."""

    x: Array
    linear: Array
    quadratic: Array
    roots: Array
    model: LinearDiscriminant  # a = (−1, 1, 2) on φ(x) = (x, x²)
    learned: Any  # a linear machine on φ that found such a rule by itself
    sample: tuple[Array, Array]


def discriminant_of_one_variable_data() -> OneVariable:
    """The lecture's weights, and weights learned from a sample that they label."""
    x = np.linspace(-2, 1.6, 181)
    basis = Polynomial(2).fit(x[:, None])
    model = LinearDiscriminant(np.array([-1.0, 1.0, 2.0]), np.array([2, 1]), basis=basis)
    rows = np.arange(-1.875, 1.5, 0.25)[:, None]
    labels = model.predict(rows)
    learned = LinearProgrammingClassifier(basis=Polynomial(2)).fit(rows, labels)
    line_ = LinearDiscriminant(np.array([-0.5, 1.0]), np.array([2, 1]))
    return OneVariable(x, line_.decision_function(x[:, None]), model.decision_function(x[:, None]),
                       np.sort(np.roots([2.0, 1.0, -1.0])), model, learned, (rows[:, 0], labels))  # fmt: skip


@drawn
def discriminant_of_one_variable(data: OneVariable | None = None) -> Any:
    """A line cuts the axis once; a parabola, linear in y = (1, x, x²), leaves a region in two parts."""
    data = data or discriminant_of_one_variable_data()
    figure, axes = sheet(1, 3, (13, 4.2))
    left, middle, right = axes[0]
    for ax, g, title in ((left, data.linear, "$g(x) = -½ + x$"), (middle, data.quadratic, "$g(x) = -1 + x + 2x^2$")):
        ax.fill_between(data.x, g, 0, where=g > 0, color=tint(BLUE, 0.7), linewidth=0)
        ax.fill_between(data.x, g, 0, where=g < 0, color=tint(ORANGE, 0.7), linewidth=0)
        ax.plot(data.x, g, color=INK, linewidth=2)
        ax.axhline(0, color=GREY, linewidth=0.8)
        ax.set(xlabel="$x$", ylabel="$g(x)$", title=title, ylim=(-3, 6))
    for root in data.roots:
        middle.plot(root, 0, "o", color=INK)
        middle.annotate(
            f"${root:g}$", (root, 0), xytext=(np.sign(root) * 13, -13), textcoords="offset points", ha="center"
        )
    left.plot(0.5, 0, "o", color=INK)
    left.annotate("$0.5$", (0.5, 0), xytext=(0, 8), textcoords="offset points", ha="center")
    left.text(1.25, 0.3, "$R_1$", color=BLUE, fontsize=12)
    left.text(-1.5, -0.9, "$R_2$", color=ORANGE, fontsize=12)
    middle.text(-1.9, 0.35, "$R_1$", color=BLUE, fontsize=12)
    middle.text(1.25, 0.35, "$R_1$", color=BLUE, fontsize=12)
    middle.text(-0.35, -0.55, "$R_2$", color=ORANGE, fontsize=12)
    bounds = ((-2.1, 1.7), (-0.6, 4.2))
    right.plot(data.x, data.x**2, color=GREY, linewidth=1.4)
    line(right, Hyperplane(np.array([1.0, 2.0]), -1.0), bounds, color=GREEN, linewidth=2, label="$a^t y = 0$")
    rows, labels = data.sample
    scatter(right, np.column_stack([rows, rows**2]), labels, (1, 2), names=class_names(2), size=32)
    right.legend(loc="upper right")
    frame(right, bounds, names=("$y_2 = x$", "$y_3 = x^2$"), title="in $y$ the rule is a straight line")
    return figure


@dataclass(frozen=True)
class BasisFunctions:
    """Two classes that no line separates in x, their features, and the line that separates those."""

    X: Array
    y: Array
    basis: Any
    features: Array  # φ(X)
    model: Any
    before: Separability
    after: Separability


def basis_functions_data() -> BasisFunctions:
    """φ: the distances to two centres; one class lies in an ellipse around them, the other outside."""
    rng = np.random.default_rng(3)
    centres = np.array([[-1.0, -0.6], [1.0, 0.7]])
    candidates = rng.uniform((-2.8, -2.6), (2.8, 2.6), (400, 2))
    detour = np.linalg.norm(candidates[:, None] - centres, axis=2).sum(axis=1)  # to one centre and on to the other
    inner, outer = candidates[detour < 3.3][:40], candidates[detour > 4.0][:60]
    X, y = np.vstack([inner, outer]), np.repeat([1, 2], [len(inner), len(outer)])
    basis = Distances(centres).fit(X)
    features = np.asarray(basis.transform(X))
    model = LinearProgrammingClassifier(basis=Distances(centres)).fit(X, y)
    return BasisFunctions(X, y, basis, features, model, separability(X, y), separability(features, y))


@drawn
def basis_functions(data: BasisFunctions | None = None) -> Any:
    """Bishop 4.12: a straight boundary in φ is a curved one in x."""
    data = data or basis_functions_data()
    figure, axes = sheet(1, 2, (10.6, 4.9))
    left, right = axes[0]
    bounds = ((-3.1, 3.1), (-2.9, 2.9))
    DecisionRegionsDisplay.from_estimator(data.model, data.X, data.y, bounds=bounds, ax=left, names=class_names(2))
    centres = np.asarray(data.basis.centres_)
    left.plot(*centres.T, "P", color=GREEN, markersize=13, markeredgecolor="white", zorder=5, label="centres")
    left.legend(loc="upper right")
    frame(left, bounds, equal=True, title="not separable by a line in $\\mathbf{x}$")
    limits = np.column_stack([np.full(2, -0.15), 1.06 * data.features.max(axis=0)])
    scatter(right, data.features, data.y, (1, 2), names=class_names(2), size=28)
    found = data.model.discriminant_
    line(right, Hyperplane(found.coef[0], float(found.intercept[0])), limits, linewidth=2, label="boundary")
    right.legend(loc="upper left")
    frame(right, limits, names=("$\\phi_1$: distance to the first centre", "$\\phi_2$: distance to the second"))
    right.set_title("separable by a line in $\\phi(\\mathbf{x})$")
    return figure
