"""Discriminants linear in φ(x): one variable and its square, and distances to two centres (Bishop 4.12).

g(x) = a₁ + a₂x + a₃x² = a·y,   y = (1, x, x²)
"""

from __future__ import annotations

from types import SimpleNamespace as Data
from typing import Any

import numpy as np

from discriminant.bases import Distances, Polynomial
from discriminant.estimators.linear_programming import LinearProgrammingClassifier
from discriminant.figures.drawing import class_names, drawn, regions
from discriminant.geometry import Hyperplane
from discriminant.inference.separability import separability
from discriminant.model import LinearDiscriminant
from discriminant.plots.theme import BLUE, GREEN, GREY, INK, ORANGE, frame, line, scatter, tint


def discriminant_of_one_variable_data() -> Data:
    """The lecture's parabola, linear on φ(x) = (x, x²), and a machine that learned such a rule from its labels."""
    x = np.linspace(-2, 1.6, 181)
    basis = Polynomial(2).fit(x[:, None])
    model = LinearDiscriminant(np.array([-1.0, 1.0, 2.0]), np.array([2, 1]), basis=basis)
    rows = np.arange(-1.875, 1.5, 0.25)[:, None]
    labels = model.predict(rows)
    learned = LinearProgrammingClassifier(basis=Polynomial(2)).fit(rows, labels)
    line_ = LinearDiscriminant(np.array([-0.5, 1.0]), np.array([2, 1]))
    return Data(
        x=x, linear=line_.decision_function(x[:, None]), quadratic=model.decision_function(x[:, None]),
        roots=np.sort(np.roots([2.0, 1.0, -1.0])), model=model, learned=learned, sample=(rows[:, 0], labels),
    )  # fmt: skip


@drawn(1, 3, (13, 4.2))
def discriminant_of_one_variable(data: Data, left: Any, middle: Any, right: Any) -> None:
    for ax, g, title in ((left, data.linear, "$g(x) = -½ + x$"), (middle, data.quadratic, "$g(x) = -1 + x + 2x^2$")):
        ax.fill_between(data.x, g, 0, where=g > 0, color=tint(BLUE, 0.7), linewidth=0)
        ax.fill_between(data.x, g, 0, where=g < 0, color=tint(ORANGE, 0.7), linewidth=0)
        ax.plot(data.x, g, color=INK, linewidth=2)
        ax.axhline(0, color=GREY, linewidth=0.8)
        ax.set(xlabel="$x$", ylabel="$g(x)$", title=title, ylim=(-3, 6))
    for ax, root, away in ((left, 0.5, (0, 8)), *((middle, r, (np.sign(r) * 13, -13)) for r in data.roots)):
        ax.plot(root, 0, "o", color=INK)
        ax.annotate(f"${root:g}$", (root, 0), xytext=away, textcoords="offset points", ha="center")
    for ax, x, y in ((left, 1.25, 0.3), (middle, -1.9, 0.35), (middle, 1.25, 0.35)):
        ax.text(x, y, "$R_1$", color=BLUE, fontsize=12)
    for ax, x, y in ((left, -1.5, -0.9), (middle, -0.35, -0.55)):
        ax.text(x, y, "$R_2$", color=ORANGE, fontsize=12)
    bounds = ((-2.1, 1.7), (-0.6, 4.2))
    right.plot(data.x, data.x**2, color=GREY, linewidth=1.4)
    line(right, Hyperplane(np.array([1.0, 2.0]), -1.0), bounds, color=GREEN, linewidth=2, label="$a^t y = 0$")
    rows, labels = data.sample
    scatter(right, np.column_stack([rows, rows**2]), labels, (1, 2), names=class_names(2), size=32)
    right.legend(loc="upper right")
    frame(right, bounds, names=("$y_2 = x$", "$y_3 = x^2$"), title="in $y$ the rule is a straight line")


def basis_functions_data() -> Data:
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
    before, after = separability(X, y), separability(features, y)
    return Data(X=X, y=y, basis=basis, features=features, model=model, before=before, after=after)


@drawn(1, 2, (10.6, 4.9))
def basis_functions(data: Data, left: Any, right: Any) -> None:
    bounds = ((-3.1, 3.1), (-2.9, 2.9))
    regions(left, data.model, data, bounds, "not separable by a line in $\\mathbf{x}$")
    centres = np.asarray(data.basis.centres_)
    left.plot(*centres.T, "P", color=GREEN, markersize=13, markeredgecolor="white", zorder=5, label="centres")
    left.legend(loc="upper right")
    limits = np.column_stack([np.full(2, -0.15), 1.06 * data.features.max(axis=0)])
    scatter(right, data.features, data.y, (1, 2), names=class_names(2), size=28)
    found = data.model.discriminant_
    line(right, Hyperplane(found.coef[0], float(found.intercept[0])), limits, linewidth=2, label="boundary")
    right.legend(loc="upper left")
    names = ("$\\phi_1$: distance to the first centre", "$\\phi_2$: distance to the second")
    frame(right, limits, names=names, title="separable by a line in $\\phi(\\mathbf{x})$")
