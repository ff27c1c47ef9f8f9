"""Sets of points from the textbooks, each with what it shows, in the square [−5, 5]².

Coordinates are rounded to thousandths, so that the Python that the page hands out stays readable and exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from discriminant.errors import ParameterError, names
from discriminant.protocols import Array

EXTENT = 5.0  # the points lie in [−EXTENT, EXTENT]²
Sample = tuple[Array, Array]


class Cloud(NamedTuple):
    """A class's points, or a part of them: normal about a place, with a deviation, or a matrix of them."""

    n: int
    at: tuple[float, float]
    spread: Any = 0.6

    def draw(self, rng: np.random.Generator) -> Array:
        turn = self.spread * np.eye(2) if np.ndim(self.spread) == 0 else np.asarray(self.spread)
        return np.asarray(rng.normal(size=(self.n, 2)) @ turn.T + np.array(self.at))


@dataclass(frozen=True)
class Preset:
    """A named set of points; ``method``, ``basis``, ``coding`` and ``parameters`` are what shows the point best.

    ``drawn`` has for each class its points or its clouds, or is a function that draws the classes.
    """

    title: str
    story: str
    drawn: Sequence[Any] | Callable[[np.random.Generator], list[Array]]
    method: str = "perceptron"
    basis: str = "none"
    coding: str = "auto"
    parameters: Mapping[str, str | float] = field(default_factory=dict)

    def points(self, seed: int = 0) -> Sample:
        """(X (n, 2), y (n,)); classes are numbered from 1."""
        rng = np.random.default_rng(seed)
        parts = self.drawn(rng) if callable(self.drawn) else [_points(rng, one) for one in self.drawn]
        y = np.repeat(np.arange(1, len(parts) + 1), [len(part) for part in parts])
        return np.round(np.clip(np.vstack(parts), -EXTENT, EXTENT), 3), y


def _points(rng: np.random.Generator, parts: Sequence[Any]) -> Array:
    return np.vstack([part.draw(rng) if isinstance(part, Cloud) else part for part in parts])


def _corners(K: int, far: float, n: int, spread: float) -> list[list[Cloud]]:
    """A cloud for each class, evenly around the middle."""
    angles = np.pi / 2 + 2 * np.pi * np.arange(K) / K
    return [[Cloud(n, (far * np.cos(a), far * np.sin(a)), spread)] for a in angles]


def _on_axis(x: Array, first: Array) -> list[Array]:
    """Points of one variable, of which ``first`` are those of the first class."""
    X = np.c_[x, np.zeros(len(x))]
    return [X[first], X[~first]]


def _narrow(rng: np.random.Generator) -> list[Array]:
    X, w = rng.uniform(-4, 4, size=(90, 2)), np.array([0.6, -0.8])
    side = X @ w + 0.4
    X = X + np.sign(side)[:, None] * 0.02 * w
    return [X[side < 0], X[side >= 0]]


def _outliers(rng: np.random.Generator) -> list[Array]:
    second = _points(rng, [Cloud(25, (0.9, -0.7), 0.45), Cloud(8, (4.2, -4.2), 0.3)])
    return [Cloud(25, (-0.9, 0.7), 0.45).draw(rng), second]


def _rings(rng: np.random.Generator) -> list[Array]:
    angle, radius = rng.uniform(0, 2 * np.pi, 45), rng.normal(3.3, 0.3, 45)
    return [Cloud(30, (0, 0), 0.7).draw(rng), np.c_[radius * np.cos(angle), radius * np.sin(angle)]]


def _interval(rng: np.random.Generator) -> list[Array]:
    X = np.c_[rng.uniform(-4.5, 4.5, 60), rng.normal(0, 0.15, 60)]
    inside = (X[:, 0] > -1) & (X[:, 0] < 1.5)
    return [X[~inside], X[inside]]


def _moons(rng: np.random.Generator) -> list[Array]:
    angle = rng.uniform(0, np.pi, 80)
    arc = 2.2 * np.c_[np.cos(angle), np.sin(angle)] + rng.normal(0, 0.22, (80, 2))
    return [arc[:40] + np.array([-1.1, -0.5]), -arc[40:] + np.array([1.1, 0.5])]


PARABOLA = np.arange(-1.875, 1.5, 0.25)
HARDENING = np.array([0.3, 0.7, 1.2, 1.6, 2.1, 2.9, 3.3, 3.9, 4.2, 4.7])
BETWEEN = np.linspace(0.25, 4.95, 48)
TURNED = ((1.5, 0.0), (0.9, 0.55))
BOOKS = {"scale": "sum"}  # J and η as the books print them
PRESETS: dict[str, Preset] = {
    "pair": Preset(
        "Separable pair", "Two clouds with a wide street between them: the perceptron stops.",
        [[Cloud(20, (0.4, 0.2))], [Cloud(20, (2.6, 2.2))]],
    ),
    "narrow": Preset("A narrow gap", "Separable, but hardly: the bound (R/γ)² on corrections is large.", _narrow),
    "overlap": Preset(
        "Correlated, overlapping", "No line separates these. Fisher's direction beats the difference of the means.",
        [[Cloud(40, (-0.5, 0.5), TURNED)], [Cloud(40, (0.5, -0.6), TURNED)]], "fisher",
    ),
    "xor": Preset(
        "Exclusive or", "The hulls cross: no line will do, and a product of the coordinates does at once.",
        [[Cloud(15, (-2, -2), 0.55), Cloud(15, (2, 2), 0.55)], [Cloud(15, (-2, 2), 0.55), Cloud(15, (2, -2), 0.55)]],
        "perceptron", "quadratic",
    ),
    "masking": Preset(
        "Three in a line", "Least squares on one-of-K targets never chooses the middle class; LDA does.",
        [[Cloud(25, (k, k), 0.45)] for k in (-3.0, 0.0, 3.0)], "least-squares", "none", "one-of-k",
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
        _corners(3, 2.6, 20, 0.7), "perceptron", "none", "one-vs-rest",
    ),
    "five": Preset(
        "Five classes", "Ten pairs vote; or five discriminants compete.",
        _corners(5, 3.1, 16, 0.6), "perceptron", "none", "pairwise",
    ),
    "covariances": Preset(
        "Unlike covariances", "One class lies within the other: LDA draws a line, QDA an ellipse.",
        [[Cloud(50, (-0.6, 0.0), 0.5)], [Cloud(50, (0.8, 0.0), 1.7)]], "qda",
    ),
    "moons": Preset("Two moons", "Hills over centres bend the boundary.", _moons, "logistic", "rbf"),
    "thousand": Preset(
        "A thousand points", "To see how fast it is.",
        [[Cloud(500, (-1.6, -0.8), 0.9)], [Cloud(500, (1.6, 0.8), 0.9)]], "lda",
    ),
    "by-hand": Preset(
        "Four samples by hand", "Five corrections of fixed increment: the guide works them on paper.",
        [[(0, 0), (1, 0), (0, 1)], [(2, 2)]], parameters=BOOKS,
    ),
    "slides": Preset(
        "Slides: four samples", "The slides' example of normalised samples and their criteria, J as a sum.",
        [[(1.9, 0.5), (0.7, 1.7)], [(-1.9, 0.3), (0.9, -1.5)]], "relaxation",
        parameters={**BOOKS, "mode": "batch", "eta": 0.5},
    ),
    "parabola": Preset(
        "Slides: −1 + x + 2x²", "Linear in (1, x, x²): one region lies in two parts.",
        _on_axis(PARABOLA, -1 + PARABOLA + 2 * PARABOLA**2 > 0), "machine", "quadratic",
    ),
    "lms": Preset(
        "Slides: LMS", "Separable, but the line of least squares is drawn over a sample by those far away.",
        [[(-0.6, -0.6), (-1.2, -1.1), (-0.9, -1.6), (-1.5, -0.8), (-1.7, -1.5)],
         [(0.1, 0.1), (0.6, 0.5), (4.6, 3.2), (3.2, 4.6), (4.4, 4.3), (3.7, 3.6)]],
        "adaline", parameters={**BOOKS, "mode": "batch", "epochs": 300},
    ),
    "hardening": Preset(
        "Alpaydin 10.7: hardening", "One variable: the line grows steeper long after the last error is gone.",
        _on_axis(HARDENING, HARDENING < 2.5), "logistic",
        parameters={**BOOKS, "optimizer": "gradient-descent", "eta": 0.1, "C": 1000.0},
    ),
    "between": Preset(
        "Alpaydin, exercise 9", "The class 2 < x < 4: no line cuts it out, x and x² do.",
        _on_axis(BETWEEN, (BETWEEN > 2) & (BETWEEN < 4)), "logistic", "quadratic",
    ),
    "softmax": Preset(
        "Alpaydin 10.9: softmax", "Three classes by the softmax, learned by gradient descent.",
        [[Cloud(16, at, 0.36)] for at in ((0.9, 3.0), (2.0, 1.0), (3.4, 2.9))], "logistic", "none", "softmax",
        {**BOOKS, "optimizer": "gradient-descent", "eta": 0.02},
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
