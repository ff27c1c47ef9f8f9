"""What the page sends, checked: points with classes, and the choices of method, basis, coding and parameters.

Everything is bounded, because whoever knows the address can send anything: 2,000 points, 5 classes, finite
coordinates, parameters within the bounds of their controls.  A refusal is a sentence.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discriminant.errors import DataError, ParameterError, names
from discriminant.play.methods import (
    BASES,
    CENTRES,
    CODINGS,
    METHODS,
    OWN,
    Choice,
    Method,
    Parameter,
    basis_recipe,
    is_number,
)
from discriminant.play.recipe import Recipe
from discriminant.protocols import Array

MOST_POINTS = 2_000
MOST_CLASSES = 5
FARTHEST = 1_000.0
SPLIT = Parameter("split", "left out for the test", 0.0, 0.0, 0.7, help="Rings: not learned from, only tested.")
GOLDEN = (5**0.5 - 1) / 2  # its multiples spread evenly over the unit interval, however many there are


@dataclass(frozen=True)
class State:
    """The points on the page and what is to be learned from them."""

    X: Array  # (n, 2)
    y: Array  # (n,) of 1 … 5
    method: str
    basis: str
    coding: str
    decoder: str
    given: dict[str, Any]
    centres: int
    view: int  # which two-class problem the globe of weights shows
    split: float = 0.0  # the share of the points that is left out for the test

    @cached_property
    def learned(self) -> Array:
        """Numbers of the points that are learned from; the first of each class always is."""
        place = np.arange(1, len(self.y) + 1) * GOLDEN % 1
        place[np.unique(self.y, return_index=True)[1]] = 1.0
        return np.flatnonzero(place >= self.split)

    @property
    def sample(self) -> tuple[Array, Array]:
        """(X, y) that are learned from."""
        return self.X[self.learned], self.y[self.learned]

    @property
    def classes(self) -> list[int]:
        return [int(label) for label in np.unique(self.y)]

    @property
    def row(self) -> Method:
        return METHODS[self.method]

    def recipe(self) -> Recipe:
        """The estimator that the choices mean."""
        K = len(self.classes)
        if self.row.classes < K:
            raise ParameterError(f"{self.row.title!r} tells two classes apart, and there are {K}.")
        basis = basis_recipe(self.basis, self.centres)
        return self.row.make(Choice(len(self.learned), K, self.coding, self.decoder, basis, self.given))


def read_state(sent: Any) -> State:
    """A state from decoded JSON.

    >>> state = read_state({"points": [[0, 1, 1], [2, 3, 2]], "method": "lda"})
    >>> state.X.shape, state.classes, state.recipe().source()
    ((2, 2), [1, 2], 'LinearDiscriminantAnalysis(shrinkage=None)')
    """
    if not isinstance(sent, dict):
        raise DataError("A state is an object with points and choices; something else was sent.")
    X, y = read_points(sent.get("points"))
    method = _known(sent.get("method", "perceptron"), "method", tuple(METHODS))
    basis = _known(sent.get("basis", "none"), "basis", tuple(BASES))
    coding = _known(sent.get("coding", "auto"), "coding", ("auto", *CODINGS))
    if coding not in METHODS[method].codings:
        coding = METHODS[method].codings[0] if METHODS[method].codings else "auto"
    decoders = OWN.get(coding, ())
    decoder = _known(sent.get("decoder", "auto"), "decoder", ("auto", "maximum", "votes", "sum", "unanimous"))
    if decoder not in decoders[1:]:
        decoder = "auto"  # the coding's own way
    return State(
        X, y, method, basis, coding, decoder, _parameters(METHODS[method], sent.get("parameters", {})),
        CENTRES.check(sent.get("centres", CENTRES.default)), _whole(sent.get("view", 0), "view", 0, 99),
        SPLIT.check(sent.get("split", SPLIT.default)),
    )  # fmt: skip


def read_points(points: Any) -> tuple[Array, Array]:
    """(X, y) from [[x, y, class], …]."""
    if not isinstance(points, list):
        raise DataError("The points must be a list of [x, y, class].")
    if len(points) > MOST_POINTS:
        raise DataError(f"There are {len(points):,} points; the playground takes {MOST_POINTS:,} at most.")
    for i, point in enumerate(points):
        if not isinstance(point, list) or len(point) != 3 or not all(is_number(value) for value in point):
            raise DataError(f"Point {i + 1} must be three numbers: x, y and the class.")
        if not (abs(point[0]) <= FARTHEST and abs(point[1]) <= FARTHEST):
            raise DataError(f"Point {i + 1} lies outside ±{FARTHEST:g}, or is no finite number.")
        if point[2] not in range(1, MOST_CLASSES + 1):
            raise DataError(f"Point {i + 1} has the class {point[2]!r}; classes are 1 to {MOST_CLASSES}.")
    table = np.array(points, dtype=np.float64).reshape(-1, 3)
    return np.ascontiguousarray(table[:, :2]), table[:, 2].astype(np.int64)


def _parameters(method: Method, sent: Any) -> dict[str, Any]:
    if not isinstance(sent, dict):
        raise ParameterError("The parameters must be an object of names and values.")
    return {p.name: p.check(sent.get(p.name, p.default)) for p in method.parameters}


def _known(value: Any, what: str, known: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in known:
        raise ParameterError(f"There is no {what} {value!r}; choose among {names(known, most=30)}.")
    return value


def _whole(value: Any, what: str, low: int, high: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise ParameterError(f"The {what} must be a whole number from {low} to {high}; it was {value!r}.")
    return value
