"""Where least squares goes wrong: the LMS line, Bishop's figures 4.4 and 4.5.

minimise Σ_i (a·y_i − b_i)²:  points far on their own side pull the boundary too, and a class between others is masked
"""

from __future__ import annotations

from types import SimpleNamespace as Data
from typing import Any

import numpy as np

from discriminant.estimators.adaline import Adaline
from discriminant.estimators.least_squares import LeastSquaresClassifier
from discriminant.estimators.logistic import LogisticRegression
from discriminant.estimators.perceptron import Perceptron
from discriminant.figures.drawing import angle, class_names, clouds, drawn, regions
from discriminant.inference.separability import separability
from discriminant.plots.theme import GREEN, PURPLE, frame, line, ring, scatter


def lms_versus_separating_line_data() -> Data:
    """One class is near the other and has a long tail away from it."""
    X, y = clouds([(0.0, 0.0), (1.5, 1.3)], [[0.06, -0.03], [-0.03, 0.06]], [14, 10], seed=1)
    X = np.vstack([X, [[0.75, 0.75], [5.6, 4.2], [4.2, 5.6], [5.4, 5.3], [4.7, 4.6]]])
    y = np.append(y, [2, 2, 2, 2, 2])
    lms = LeastSquaresClassifier(margin=1.0).fit(X, y)
    steps = Adaline(mode="batch", eta0=0.05, max_iter=5000, tol=0.0).fit(X, y)
    line_ = Perceptron(shuffle=False, tol=None, margin=0.5, max_iter=5000).fit(X, y)
    errors = {name: int((m.predict(X) != y).sum()) for name, m in (("lms", lms), ("perceptron", line_))}
    return Data(
        X=X, y=y, verdict=separability(X, y), lms=lms, by_steps=steps, perceptron=line_, errors=errors
    )  # fmt: skip


@drawn(size=(5.8, 5.0))
def lms_versus_separating_line(data: Data, ax: Any) -> None:
    bounds = ((-1.2, 6.4), (-1.2, 6.2))
    scatter(ax, data.X, data.y, (1, 2), names=("$\\omega_1$", "$\\omega_2$"), size=34)
    _lines(ax, bounds, data.lms, "least mean squares", data.perceptron, "separating line")
    ring(ax, data.X[data.lms.predict(data.X) != data.y], 110, label="wrong by least mean squares")
    ax.legend(loc="lower right")
    frame(ax, bounds, equal=True, title="Least squares need not separate separable samples")


def outliers_pull_least_squares_data() -> Data:
    """The extra points lie far on the right side of both lines."""
    X, y = clouds([(-1.4, 1.4), (1.4, 1.0)], [[0.5, 0.28], [0.28, 0.5]], 45, seed=4, exact=True)
    extra = np.random.default_rng(5).normal((6.2, -5.6), 0.5, size=(12, 2))
    both, labels = np.vstack([X, extra]), np.append(y, np.full(len(extra), 2))
    makers: dict[str, Any] = {"least squares": LeastSquaresClassifier, "logistic": LogisticRegression}
    models = {name: maker().fit(X, y) for name, maker in makers.items()}
    models |= {f"{name} with outliers": maker().fit(both, labels) for name, maker in makers.items()}
    errors = {name: int((model.predict(both) != labels).sum()) for name, model in models.items()}
    turned = {name: angle(models[name].coef_, models[f"{name} with outliers"].coef_) for name in makers}
    return Data(X=X, y=y, extra=extra, both=(both, labels), models=models, errors=errors, turned=turned)


@drawn(1, 2, (10.6, 5.0), sharey=True)
def outliers_pull_least_squares(data: Data, *axes: Any) -> None:
    bounds = ((-5.0, 8.0), (-7.6, 4.6))
    turned = " and ".join(f"{degrees:.0f}°" for degrees in data.turned.values())
    titles = {"": "two classes", " with outliers": f"with far correct points: turned by {turned}"}
    for ax, (X, y), (suffix, title) in zip(axes, ((data.X, data.y), data.both), titles.items(), strict=True):
        scatter(ax, X, y, (1, 2), names=class_names(2), size=22)
        squares, logistic = (data.models[name + suffix] for name in ("least squares", "logistic"))
        _lines(ax, bounds, squares, "least squares", logistic, "logistic regression")
        frame(ax, bounds, equal=True, title=title)
    axes[0].legend(loc="lower right")


def _lines(ax: Any, bounds: Any, squares: Any, name: str, better: Any, better_name: str) -> None:
    """The line of least squares, and that of a method that does better."""
    dashed = {"color": PURPLE, "linestyle": "--"}
    line(ax, squares.discriminant_.boundary(), bounds, linewidth=2.2, label=name, **dashed)
    line(ax, better.discriminant_.boundary(), bounds, linewidth=2.2, label=better_name, color=GREEN)


def masked_class_data() -> Data:
    """The second class lies between the first and the third."""
    X, y = clouds([(-2.6, -2.4), (0.0, 0.0), (2.6, 2.4)], [[0.35, -0.12], [-0.12, 0.35]], 40, seed=6, exact=True)
    models = {"squares": LeastSquaresClassifier().fit(X, y), "logistic": LogisticRegression().fit(X, y)}
    shares = {name: float((model.predict(X[y == 2]) == 2).mean()) for name, model in models.items()}
    bounds = ((-5.0, 5.0), (-4.8, 4.8))
    return Data(X=X, y=y, bounds=bounds, **models, models=models, middle_right=shares)


@drawn(1, 2, (10.2, 5.0), sharey=True)
def masked_class(data: Data, *axes: Any) -> None:
    for ax, (name, model), title in zip(
        axes, data.models.items(), ("least squares", "logistic regression"), strict=True
    ):
        heading = f"{title}: {data.middle_right[name]:.0%} of $C_2$ right"
        regions(ax, model, data, data.bounds, heading)
