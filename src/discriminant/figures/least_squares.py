"""Where least squares goes wrong: the LMS line, Bishop's figures 4.4 and 4.5.

minimise Σ_i (a·y_i − b_i)²:  points far on their own side pull the boundary too, and a class between others is masked
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.estimators.adaline import Adaline
from discriminant.estimators.least_squares import LeastSquaresClassifier
from discriminant.estimators.logistic import LogisticRegression
from discriminant.estimators.perceptron import Perceptron
from discriminant.figures.many_classes import class_names
from discriminant.figures.samples import angle, clouds, drawn
from discriminant.inference.separability import Separability, separability
from discriminant.plots.regions import DecisionRegionsDisplay
from discriminant.plots.theme import GREEN, INK, PURPLE, frame, line, scatter, sheet
from discriminant.protocols import Array

Box = tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True)
class LmsVersusLine:
    """A separable sample, the least-squares line and a separating one."""

    X: Array
    y: Array
    verdict: Separability
    lms: Any
    by_steps: Any  # the same minimum by the LMS rule
    perceptron: Any
    errors: dict[str, int]


def lms_versus_separating_line_data() -> LmsVersusLine:
    """One class is near the other and has a long tail away from it."""
    X, y = clouds([(0.0, 0.0), (1.5, 1.3)], [[0.06, -0.03], [-0.03, 0.06]], [14, 10], seed=1)
    X = np.vstack([X, [[0.75, 0.75], [5.6, 4.2], [4.2, 5.6], [5.4, 5.3], [4.7, 4.6]]])
    y = np.append(y, [2, 2, 2, 2, 2])
    lms = LeastSquaresClassifier(margin=1.0).fit(X, y)
    steps = Adaline(mode="batch", eta0=0.05, max_iter=5000, tol=0.0).fit(X, y)
    line_ = Perceptron(shuffle=False, tol=None, margin=0.5, max_iter=5000).fit(X, y)
    errors = {name: int((m.predict(X) != y).sum()) for name, m in (("lms", lms), ("perceptron", line_))}
    return LmsVersusLine(X, y, separability(X, y), lms, steps, line_, errors)


@drawn
def lms_versus_separating_line(data: LmsVersusLine | None = None) -> Any:
    """The LMS solution minimises squared errors and need not separate what can be separated."""
    data = data or lms_versus_separating_line_data()
    figure, axes = sheet(size=(5.8, 5.0))
    ax, bounds = axes[0, 0], ((-1.2, 6.4), (-1.2, 6.2))
    scatter(ax, data.X, data.y, (1, 2), names=("$\\omega_1$", "$\\omega_2$"), size=34)
    line(ax, data.lms.discriminant_.boundary(), bounds, color=PURPLE, linestyle="--", linewidth=2.2,
         label="least mean squares")  # fmt: skip
    line(ax, data.perceptron.discriminant_.boundary(), bounds, color=GREEN, linewidth=2.2, label="separating line")
    wrong = data.lms.predict(data.X) != data.y
    ax.scatter(*data.X[wrong].T, s=110, facecolors="none", edgecolors=INK, linewidths=1.2, zorder=5,
               label="wrong by least mean squares")  # fmt: skip
    ax.legend(loc="lower right")
    frame(ax, bounds, equal=True, title="Least squares need not separate separable samples")
    return figure


@dataclass(frozen=True)
class PulledBoundary:
    """A sample without and with far correct points, and the lines of two methods on each."""

    X: Array
    y: Array
    extra: Array
    models: dict[str, Any]  # "least squares", "logistic", each also "… with outliers"
    errors: dict[str, int]
    turned: dict[str, float]  # by how many degrees the extra points turned each line


def outliers_pull_least_squares_data() -> PulledBoundary:
    """The extra points lie far on the right side of both lines."""
    X, y = clouds([(-1.4, 1.4), (1.4, 1.0)], [[0.5, 0.28], [0.28, 0.5]], 45, seed=4, exact=True)
    extra = np.random.default_rng(5).normal((6.2, -5.6), 0.5, size=(12, 2))
    both, labels = np.vstack([X, extra]), np.append(y, np.full(len(extra), 2))
    models: dict[str, Any] = {}
    errors, turned = {}, {}
    for name, maker in (("least squares", LeastSquaresClassifier), ("logistic", LogisticRegression)):
        models[name] = maker().fit(X, y)
        models[f"{name} with outliers"] = maker().fit(both, labels)
        errors[name] = int((models[name].predict(both) != labels).sum())
        errors[f"{name} with outliers"] = int((models[f"{name} with outliers"].predict(both) != labels).sum())
        turned[name] = angle(models[name].coef_, models[f"{name} with outliers"].coef_)
    return PulledBoundary(X, y, extra, models, errors, turned)


@drawn
def outliers_pull_least_squares(data: PulledBoundary | None = None) -> Any:
    """Bishop 4.4: points far on the correct side turn the line of least squares, not that of logistic regression."""
    data = data or outliers_pull_least_squares_data()
    figure, axes = sheet(1, 2, (10.6, 5.0), sharey=True)
    bounds = ((-5.0, 8.0), (-7.6, 4.6))
    for ax, suffix in zip(axes[0], ("", " with outliers"), strict=True):
        X = np.vstack([data.X, data.extra]) if suffix else data.X
        y = np.append(data.y, np.full(len(data.extra), 2)) if suffix else data.y
        scatter(ax, X, y, (1, 2), names=class_names(2), size=22)
        squares, logistic = (
            data.models[name + suffix].discriminant_.boundary() for name in ("least squares", "logistic")
        )
        line(ax, squares, bounds, color=PURPLE, linestyle="--", linewidth=2.2, label="least squares")
        line(ax, logistic, bounds, color=GREEN, linewidth=2.2, label="logistic regression")
        frame(ax, bounds, equal=True)
    axes[0, 0].legend(loc="lower right")
    axes[0, 0].set_title("two classes")
    turned = data.turned
    axes[0, 1].set_title(
        f"with far correct points: turned by {turned['least squares']:.0f}° and {turned['logistic']:.0f}°"
    )
    return figure


@dataclass(frozen=True)
class MaskedClass:
    """Three classes in a row, by least squares and by logistic regression."""

    X: Array
    y: Array
    bounds: Box
    squares: Any
    logistic: Any
    middle_right: dict[str, float]  # share of the middle class that is told right


def masked_class_data() -> MaskedClass:
    """The second class lies between the first and the third."""
    X, y = clouds([(-2.6, -2.4), (0.0, 0.0), (2.6, 2.4)], [[0.35, -0.12], [-0.12, 0.35]], 40, seed=6, exact=True)
    squares, logistic = LeastSquaresClassifier().fit(X, y), LogisticRegression().fit(X, y)
    middle = y == 2
    shares = {n: float((m.predict(X[middle]) == 2).mean()) for n, m in (("squares", squares), ("logistic", logistic))}
    return MaskedClass(X, y, ((-5.0, 5.0), (-4.8, 4.8)), squares, logistic, shares)


@drawn
def masked_class(data: MaskedClass | None = None) -> Any:
    """Bishop 4.5: least squares leaves almost nothing to the class in the middle; logistic regression does not."""
    data = data or masked_class_data()
    figure, axes = sheet(1, 2, (10.2, 5.0), sharey=True)
    for ax, model, name, title in (
        (axes[0, 0], data.squares, "squares", "least squares"),
        (axes[0, 1], data.logistic, "logistic", "logistic regression"),
    ):
        DecisionRegionsDisplay.from_estimator(model, data.X, data.y, bounds=data.bounds, ax=ax, names=class_names())
        frame(ax, data.bounds, equal=True, title=f"{title}: {data.middle_right[name]:.0%} of $C_2$ right")
    return figure
