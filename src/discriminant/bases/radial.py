"""Functions of the distance to a centre: ‖x − c‖ and exp(−‖x − c‖²/2s²)  (Alpaydin 10.2; the lecture's "distances").

Two classes that no line separates, one around the other, are separated by a line in these features.

Centres come from the data: a seeded spread of rows, their means, or the means of the classes.  Squared distances are
summed column by column, ‖x − c‖² = Σ_j (x_j − c_j)², never as ‖x‖² − 2x·c + ‖c‖²: the expansion loses all digits for a
row near a centre far from the origin, and its last bit depends on the other rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discriminant.arguments import COUNT, POINTS, POSITIVE, RANDOM, Allowed, among, optional
from discriminant.bases.expansion import Expansion, basis, generator, numerals
from discriminant.errors import DataError, ParameterError
from discriminant.protocols import Array
from discriminant.thresholds import TABLE_BLOCK

LLOYD_PASSES = 50
PLACED = {
    "centres": Allowed(
        "a number of centres, 'classes', or finite points of shape (number of centres, number of columns)",
        lambda c: c == "classes" if isinstance(c, str) else COUNT.holds(c) or POINTS.holds(c),
    ),
    "placement": among("rows", "means"),
    "random_state": RANDOM,
}


def squared_distances(X: Array, centres: Array) -> Array:
    """‖x_i − c_k‖², shape (n, number of centres), in the precision of X."""
    centres = centres.astype(X.dtype, copy=False)
    result = np.zeros((X.shape[0], len(centres)), dtype=X.dtype)
    rows = max(1, TABLE_BLOCK // max(len(centres), 1))
    for start in range(0, X.shape[0], rows):
        block = result[start : start + rows]
        for j in range(X.shape[1]):
            difference = X[start : start + rows, j, None] - centres[:, j]
            difference *= difference
            block += difference
    return result


def place(X: Array, y: Any, centres: Any, placement: str, random_state: Any, owner: str) -> Array:
    """The centres (m, d) that a parameter means: given points, "classes", or a number placed by a rule."""
    if isinstance(centres, str):
        return class_means(X, y, owner)
    if not isinstance(centres, int | np.integer):
        points = np.array(centres, dtype=np.float64)
        if points.shape[1] != X.shape[1]:
            raise ParameterError(
                f"The centres of {owner} have {points.shape[1]} coordinates and X has {X.shape[1]} columns."
            )
        return points
    chosen = spread_rows(X, int(centres), generator(random_state))
    return chosen if placement == "rows" else lloyd(X, chosen)


def class_means(X: Array, y: Any, owner: str) -> Array:
    """The mean of each class, in the order of the sorted labels."""
    if y is None:
        raise DataError(f"centres='classes' of {owner} needs the labels: pass y to fit.")
    labels, codes = np.unique(np.asarray(y), return_inverse=True)
    if codes.shape != (X.shape[0],):
        raise DataError(f"y has shape {codes.shape} and X has {X.shape[0]} rows: one label per row is needed.")
    return np.stack([X[codes == k].mean(axis=0, dtype=np.float64) for k in range(len(labels))])


def spread_rows(X: Array, number: int, rng: np.random.Generator) -> Array:
    """Rows drawn one by one with probability ∝ squared distance to the nearest drawn before (k-means++ seeding).

    A row equal to one that was drawn has probability 0, so centres never repeat; where X has fewer different rows
    than ``number``, all of them are taken.
    """
    chosen = [int(rng.integers(X.shape[0]))]
    with np.errstate(over="ignore"):
        nearest = squared_distances(X, X[chosen])[:, 0].astype(np.float64)
        while len(chosen) < number and nearest.any():
            cumulative = np.cumsum(np.minimum(nearest, np.finfo(np.float64).max / len(X)))
            # side="right" never lands on a row of distance 0; the clip guards the rounding of the product
            at = np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right")
            chosen.append(int(min(at, np.flatnonzero(nearest)[-1])))
            np.minimum(nearest, squared_distances(X, X[chosen[-1:]])[:, 0], out=nearest)
    return X[chosen].astype(np.float64)


def lloyd(X: Array, centres: Array) -> Array:
    """Means of the rows nearest to each centre, repeated until no row changes its centre (k-means)."""
    before: Array | None = None
    for _ in range(LLOYD_PASSES):
        nearest = squared_distances(X, centres).argmin(axis=1)
        if before is not None and np.array_equal(nearest, before):
            break
        for k in range(len(centres)):
            if (nearest == k).any():
                centres[k] = X[nearest == k].mean(axis=0, dtype=np.float64)
        before = nearest
    return centres


@basis(**PLACED)
class Distances(Expansion):
    """‖x − c‖, the Euclidean distance to each centre.

    Two classes, one around the other, are separated by a line in these features (Alpaydin 10.2).

    Attributes
    ----------
    centres_ : ndarray of shape (m, d)
        Fewer than asked for where X has fewer different rows.

    See Also
    --------
    Radial : Hills in place of cones.

    >>> Distances(((0.0, 0.0), (3.0, 4.0))).fit_transform([[0.0, 0.0]]).tolist()
    [[0.0, 5.0]]
    """

    centres: Any = 2
    placement: str = "rows"
    random_state: Any = None

    def _learn(self, X: Any, y: Any) -> dict[str, Any]:
        return {"centres_": place(X, y, self.centres, self.placement, self.random_state, "Distances")}

    def _map(self, X: Any) -> Array:
        return np.asarray(np.sqrt(squared_distances(X, self.centres_)))

    def _names(self, x: list[str]) -> list[str]:
        return [f"|x-c{k}|" for k in range(1, len(self.centres_) + 1)]


@basis(**PLACED, width=optional(POSITIVE))
class Radial(Expansion):
    """exp(−‖x − c‖²/2s²): a Gaussian hill over each centre.

    A discriminant that is linear in these features is a radial basis function network with fixed centres (Alpaydin
    10.2, PRML 3.1).

    Parameters
    ----------
    width : float or None, default=None
        s.  None takes the mean distance from a centre to the nearest other one (the root mean square distance of the
        rows where there is only one centre).  Columns should be on one scale.

    Attributes
    ----------
    centres_ : ndarray of shape (m, d)
        The c; fewer than asked for where X has fewer different rows.
    width_ : float
        s.

    See Also
    --------
    Distances : The distances themselves.
    Gaussian : Bumps along each column.

    >>> Radial([[0.0, 0.0]], width=1.0).fit_transform([[0.0, 0.0], [3.0, 4.0]]).round(6).tolist()
    [[1.0], [4e-06]]
    """

    centres: Any = 10
    width: float | None = None
    placement: str = "rows"
    random_state: Any = None

    def _learn(self, X: Any, y: Any) -> dict[str, Any]:
        centres = place(X, y, self.centres, self.placement, self.random_state, "Radial")
        width = spacing(X, centres) if self.width is None else float(self.width)
        return {"centres_": centres, "width_": width}

    def _map(self, X: Any) -> Array:
        exponent = squared_distances(X, self.centres_)
        exponent /= X.dtype.type(-2.0 * self.width_**2)
        return np.asarray(np.exp(exponent, out=exponent))

    def _names(self, x: list[str]) -> list[str]:
        width = numerals([self.width_])[0]
        return [f"exp(-|x-c{k}|²/2·{width}²)" for k in range(1, len(self.centres_) + 1)]


def spacing(X: Array, centres: Array) -> float:
    """Mean distance from a centre to the nearest other; 1 where nothing differs."""
    if len(centres) > 1:
        between = squared_distances(centres, centres)
        np.fill_diagonal(between, np.inf)
        width = float(np.sqrt(between.min(axis=1)).mean())
    else:
        width = float(np.sqrt(squared_distances(X, centres).mean(dtype=np.float64)))
    return width if 0 < width < np.inf else 1.0
