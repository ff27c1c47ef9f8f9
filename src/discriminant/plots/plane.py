"""A model seen on a plane of two features: which two, where the others are held, and what the model says there.

Every picture of regions or posteriors draws two columns.  With more columns the others are held at a point (their means
unless given), and the two that say most of what the model says are drawn unless others are asked for.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discriminant.arrays import as_dense, is_frame
from discriminant.errors import DataError, MismatchError, names
from discriminant.model import discriminant_of
from discriminant.plots.theme import around, mesh
from discriminant.protocols import Array, Predictor

CANDIDATES = 6  # columns among which the pair to draw is looked for
TRIED = 300  # rows on which it is


@dataclass(frozen=True, eq=False)
class Plane:
    """Two columns of a model's input, with the rest held fixed."""

    estimator: Predictor
    features: tuple[int, int]
    at: Array  # (d,)
    bounds: Array  # (2, 2)
    names: tuple[str, ...]  # of all columns
    points: Array  # (n, 2) the rows given
    like: Any = field(default=None, repr=False)  # a frame of the user's kind, or None for arrays

    @property
    def axis_names(self) -> tuple[str, str]:
        return self.names[self.features[0]], self.names[self.features[1]]

    @property
    def is_slice(self) -> bool:
        """Whether there are columns that the picture does not show."""
        return len(self.at) > 2

    def rows(self, points: Array) -> Any:
        """Points (m, 2) of the plane as rows that the model takes."""
        full = np.tile(self.at, (len(points), 1))
        full[:, list(self.features)] = points
        return _as_given(full, self.like)

    def grid(self, resolution: int) -> tuple[Any, Array, Array]:
        """(rows for the model, across, up) over the box."""
        points, across, up = mesh(self.bounds, resolution)
        return self.rows(points), across, up

    def straight(self) -> Any:
        """The model as a ``LinearDiscriminant`` of these two features, or None where it is curved or no such thing."""
        found = discriminant_of(self.estimator)
        if found is None or found.basis is not None or found.n_features != len(self.at):
            return None
        return found.slice(self.features, self.at)


def _as_given(full: Array, like: Any) -> Any:
    """Whole rows (m, d) as the kind of table that the model was fitted to."""
    if like is None:
        return full
    import narwhals.stable.v2 as nw

    given = nw.from_native(like)
    columns = {name: full[:, j] for j, name in enumerate(given.columns)}
    return nw.from_dict(columns, backend=given.implementation).to_native()


def column_titles(estimator: object, d: int) -> list[str]:
    """The names of the columns that a model was fitted to, or x0, x1, …."""
    return [str(name) for name in getattr(estimator, "feature_names_in_", (f"x{j}" for j in range(d)))]


def plane_of(
    estimator: Predictor, X: Any, *, features: Sequence[Any] | None = None, at: Any = None, bounds: Any = None
) -> Plane:
    """The plane in which to draw a fitted model and the rows X."""
    if isinstance(X, np.ndarray | list | tuple) or not is_frame(X):
        like, columns = None, None
        values = np.asarray(as_dense(X), dtype=np.float64)
    else:
        import narwhals.stable.v2 as nw

        like, columns = X, [str(name) for name in nw.from_native(X).columns]
        values = np.asarray(nw.from_native(X).to_numpy(), dtype=np.float64)
    if values.ndim != 2 or values.shape[1] < 2 or not len(values):
        raise DataError(f"A picture in the plane needs rows of at least two columns; X has shape {values.shape}.")
    if not np.isfinite(values).all():
        raise DataError("X holds NaN or infinity, which have no place in a picture; drop or fill those rows first.")
    titles = columns or column_titles(estimator, values.shape[1])
    chosen = _two(features, titles) if features is not None else _most_informative(estimator, values, like)
    held = values.mean(axis=0) if at is None else np.asarray(at, dtype=np.float64)
    if held.shape != (values.shape[1],):
        raise DataError(f"at must be a point with {values.shape[1]} coordinates; got shape {held.shape}.")
    points = values[:, list(chosen)]
    limits = around(points) if bounds is None else np.asarray(bounds, dtype=np.float64).reshape(2, 2)
    return Plane(estimator, chosen, held, limits, tuple(titles), points, like)


def _two(features: Sequence[Any], titles: Sequence[str]) -> tuple[int, int]:
    if len(features) != 2:
        raise DataError(f"features must be two columns; got {len(features)}.")
    found = []
    for feature in features:
        if isinstance(feature, str):
            if feature not in titles:
                raise DataError(f"There is no column {feature!r}; there are {names(titles, most=12)}.")
            found.append(list(titles).index(feature))
        else:
            found.append(range(len(titles))[int(feature)])
    if found[0] == found[1]:
        raise DataError(f"features names column {titles[found[0]]!r} twice; a plane needs two different ones.")
    return found[0], found[1]


def _most_informative(estimator: Predictor, values: Array, like: Any) -> tuple[int, int]:
    """The two columns of which the model, with the others held at their means, says most often what it says of all.

    Of many columns only those whose contributions to the scores vary most are tried.
    """
    d = values.shape[1]
    if d == 2 or not hasattr(estimator, "predict"):
        return 0, 1
    order = np.argsort(-_strength(estimator, values), kind="stable")[:CANDIDATES].tolist()
    rows = values[:: max(1, len(values) // TRIED)]
    held = values.mean(axis=0)
    said = np.asarray(estimator.predict(_as_given(rows, like)))

    def agreed(pair: tuple[int, int]) -> int:
        moved = np.tile(held, (len(rows), 1))
        moved[:, pair] = rows[:, pair]
        return int((np.asarray(estimator.predict(_as_given(moved, like))) == said).sum())

    first, second = max(itertools.combinations(order, 2), key=agreed)
    return min(first, second), max(first, second)


def _strength(estimator: Predictor, values: Array) -> Array:
    """(d,): how much each column moves the scores; equal where that is not known."""
    found = discriminant_of(estimator)
    if found is None or found.basis is not None or len(values) < 2:
        return np.ones(values.shape[1])
    try:
        spread = found.contributions(values).importance()
    except MismatchError:  # a decoder that is not linear has no contributions
        return np.ones(values.shape[1])
    return np.asarray(spread if spread.ndim == 1 else spread.max(axis=1))
