"""Sets of points from the textbooks, each with the story it tells, in the square [−5, 5]².

Coordinates are rounded to thousandths, so that the Python that the page hands out stays readable and exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from discriminant.errors import ParameterError, names
from discriminant.protocols import Array

REACH = 5.0  # the points lie in [−REACH, REACH]²
Sample = tuple[Array, Array]


@dataclass(frozen=True)
class Preset:
    """A named set of points; ``method``, ``basis``, ``coding`` and ``parameters`` are what shows the point best."""

    title: str
    story: str
    draw: Callable[[np.random.Generator], list[Array]]
    method: str = "perceptron"
    basis: str = "none"
    coding: str = "auto"
    parameters: Mapping[str, str | float] = field(default_factory=dict)

    def points(self, seed: int = 0) -> Sample:
        """(X (n, 2), y (n,)); classes are numbered from 1."""
        clouds = self.draw(np.random.default_rng(seed))
        X = np.vstack(clouds)
        y = np.repeat(np.arange(1, len(clouds) + 1), [len(cloud) for cloud in clouds])
        return np.round(np.clip(X, -REACH, REACH), 3), y


def _cloud(rng: np.random.Generator, n: int, at: tuple[float, float], spread: float | Array = 0.6) -> Array:
    turn = spread if isinstance(spread, np.ndarray) else np.eye(2) * spread
    return np.asarray(rng.normal(size=(n, 2)) @ turn.T + np.array(at))


def _pair(rng: np.random.Generator) -> list[Array]:
    return [_cloud(rng, 20, (0.4, 0.2)), _cloud(rng, 20, (2.6, 2.2))]


def _narrow(rng: np.random.Generator) -> list[Array]:
    X = rng.uniform(-4, 4, size=(90, 2))
    side = X @ np.array([0.6, -0.8]) + 0.4
    X = X + np.sign(side)[:, None] * 0.02 * np.array([0.6, -0.8])
    return [X[side < 0], X[side >= 0]]


def _overlap(rng: np.random.Generator) -> list[Array]:
    turn = np.array([[1.5, 0.0], [0.9, 0.55]])
    return [_cloud(rng, 40, (-0.5, 0.5), turn), _cloud(rng, 40, (0.5, -0.6), turn)]


def _xor(rng: np.random.Generator) -> list[Array]:
    low = [_cloud(rng, 15, (-2, -2), 0.55), _cloud(rng, 15, (2, 2), 0.55)]
    high = [_cloud(rng, 15, (-2, 2), 0.55), _cloud(rng, 15, (2, -2), 0.55)]
    return [np.vstack(low), np.vstack(high)]


def _masking(rng: np.random.Generator) -> list[Array]:
    return [_cloud(rng, 25, (k, k), 0.45) for k in (-3.0, 0.0, 3.0)]


def _outliers(rng: np.random.Generator) -> list[Array]:
    near = _cloud(rng, 25, (0.9, -0.7), 0.45)
    far = _cloud(rng, 8, (4.2, -4.2), 0.3)
    return [_cloud(rng, 25, (-0.9, 0.7), 0.45), np.vstack([near, far])]


def _rings(rng: np.random.Generator) -> list[Array]:
    angle, radius = rng.uniform(0, 2 * np.pi, 45), rng.normal(3.3, 0.3, 45)
    return [_cloud(rng, 30, (0, 0), 0.7), np.c_[radius * np.cos(angle), radius * np.sin(angle)]]


def _interval(rng: np.random.Generator) -> list[Array]:
    x = rng.uniform(-4.5, 4.5, 60)
    X = np.c_[x, rng.normal(0, 0.15, 60)]
    inside = (x > -1) & (x < 1.5)
    return [X[~inside], X[inside]]


def _star(rng: np.random.Generator) -> list[Array]:
    corners = [(2.6 * np.cos(a), 2.6 * np.sin(a)) for a in np.pi / 2 + 2 * np.pi * np.arange(3) / 3]
    return [_cloud(rng, 20, corner, 0.7) for corner in corners]


def _five(rng: np.random.Generator) -> list[Array]:
    corners = [(3.1 * np.cos(a), 3.1 * np.sin(a)) for a in np.pi / 2 + 2 * np.pi * np.arange(5) / 5]
    return [_cloud(rng, 16, corner, 0.6) for corner in corners]


def _covariances(rng: np.random.Generator) -> list[Array]:
    return [_cloud(rng, 50, (-0.6, 0.0), 0.5), _cloud(rng, 50, (0.8, 0.0), np.diag([1.7, 1.7]))]


def _moons(rng: np.random.Generator) -> list[Array]:
    angle = rng.uniform(0, np.pi, 80)
    arc = 2.2 * np.c_[np.cos(angle), np.sin(angle)] + rng.normal(0, 0.22, (80, 2))
    upper, lower = arc[:40] + np.array([-1.1, -0.5]), -arc[40:] + np.array([1.1, 0.5])
    return [upper, lower]


def _thousand(rng: np.random.Generator) -> list[Array]:
    return [_cloud(rng, 500, (-1.6, -0.8), 0.9), _cloud(rng, 500, (1.6, 0.8), 0.9)]


def _by_hand(rng: np.random.Generator) -> list[Array]:
    return [np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.array([[2.0, 2.0]])]


def _slides(rng: np.random.Generator) -> list[Array]:
    return [np.array([[1.9, 0.5], [0.7, 1.7]]), np.array([[-1.9, 0.3], [0.9, -1.5]])]


def _parabola(rng: np.random.Generator) -> list[Array]:
    x = np.arange(-1.875, 1.5, 0.25)
    X, g = np.c_[x, np.zeros(len(x))], -1 + x + 2 * x**2
    return [X[g > 0], X[g < 0]]


def _lms(rng: np.random.Generator) -> list[Array]:
    near = np.array([[-0.6, -0.6], [-1.2, -1.1], [-0.9, -1.6], [-1.5, -0.8], [-1.7, -1.5]])
    far = np.array([[0.1, 0.1], [0.6, 0.5], [4.6, 3.2], [3.2, 4.6], [4.4, 4.3], [3.7, 3.6]])
    return [near, far]


def _hardening(rng: np.random.Generator) -> list[Array]:
    x = np.array([0.3, 0.7, 1.2, 1.6, 2.1, 2.9, 3.3, 3.9, 4.2, 4.7])
    X = np.c_[x, np.zeros(len(x))]
    return [X[x < 2.5], X[x > 2.5]]


def _between(rng: np.random.Generator) -> list[Array]:
    x = np.linspace(0.25, 4.95, 48)
    X, inside = np.c_[x, np.zeros(len(x))], (x > 2) & (x < 4)
    return [X[inside], X[~inside]]


def _softmax(rng: np.random.Generator) -> list[Array]:
    return [_cloud(rng, 16, at, 0.36) for at in ((0.9, 3.0), (2.0, 1.0), (3.4, 2.9))]


BOOKS = {"scale": "sum"}  # J and η as the books print them
PRESETS: dict[str, Preset] = {
    "pair": Preset("Separable pair", "Two clouds with a wide street between them: the perceptron stops.", _pair),
    "narrow": Preset(
        "A narrow gap", "Separable, but hardly: the bound (R/γ)² on corrections is large.",
        _narrow,
    ),
    "overlap": Preset(
        "Correlated, overlapping", "No line separates these. Fisher's direction beats the difference of the means.",
        _overlap, "fisher",
    ),
    "xor": Preset(
        "Exclusive or", "The hulls cross: no line will do, and a product of the coordinates does at once.",
        _xor, "perceptron", "quadratic",
    ),
    "masking": Preset(
        "Three in a line", "Least squares on one-of-K targets never chooses the middle class; LDA does.",
        _masking, "least-squares", "none", "one-of-k",
    ),
    "outliers": Preset(
        "Outliers for least squares", "Far points that are right all the same pull the least-squares line over.",
        _outliers, "least-squares",
    ),
    "rings": Preset(
        "One around the other", "Distances to centres, or squares, make a circle a straight line.",
        _rings, "logistic", "quadratic",
    ),
    "interval": Preset(
        "Inside an interval", "The class “a < x < b” is no half-line; with x² it becomes one.",
        _interval, "machine", "quadratic",
    ),
    "star": Preset(
        "Three corners", "One against the rest leaves a triangle that nobody, or everybody, claims.",
        _star, "perceptron", "none", "one-vs-rest",
    ),
    "five": Preset(
        "Five classes", "Ten pairs vote; or five discriminants compete.", _five, "perceptron", "none", "pairwise",
    ),
    "covariances": Preset(
        "Unlike covariances", "One class lies within the other: LDA draws a line, QDA an ellipse.", _covariances, "qda",
    ),
    "moons": Preset("Two moons", "Hills over centres bend the boundary.", _moons, "logistic", "rbf"),
    "thousand": Preset("A thousand points", "To see how fast it is.", _thousand, "lda"),
    "by-hand": Preset(
        "Four samples by hand", "Five corrections of fixed increment: the guide works them on paper.", _by_hand,
        parameters=BOOKS,
    ),
    "slides": Preset(
        "Slides: four samples", "The slides' example of normalised samples and their criteria, J as a sum.", _slides,
        "relaxation", parameters={**BOOKS, "mode": "batch", "eta": 0.5},
    ),
    "parabola": Preset(
        "Slides: −1 + x + 2x²", "Linear in (1, x, x²): one region lies in two parts.", _parabola, "machine",
        "quadratic",
    ),
    "lms": Preset(
        "Slides: LMS", "Separable, but the line of least squares is drawn over a sample by those far away.", _lms,
        "adaline", parameters={**BOOKS, "mode": "batch", "epochs": 300},
    ),
    "hardening": Preset(
        "Alpaydin 10.7: hardening", "One variable: the line grows steeper long after the last error is gone.",
        _hardening, "logistic", parameters={**BOOKS, "optimizer": "gradient-descent", "eta": 0.1, "C": 1000.0},
    ),
    "between": Preset(
        "Alpaydin, exercise 9", "The class 2 < x < 4: no line cuts it out, x and x² do.", _between, "logistic",
        "quadratic",
    ),
    "softmax": Preset(
        "Alpaydin 10.9: softmax", "Three classes by the softmax, learned by gradient descent.", _softmax, "logistic",
        "none", "softmax", {**BOOKS, "optimizer": "gradient-descent", "eta": 0.02},
    ),
}  # fmt: skip


def preset(name: str) -> Preset:
    """The preset of that name.

    >>> preset("xor").points()[0].shape
    (60, 2)
    """
    if name not in PRESETS:
        raise ParameterError(f"There is no set of points {name!r}; choose among {names(sorted(PRESETS), most=20)}.")
    return PRESETS[name]
