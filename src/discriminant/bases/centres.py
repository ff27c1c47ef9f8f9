"""Centres from the data: a seeded spread of rows, their means, or the means of the classes; and distances to them.

Squared distances are summed column by column, ‖x − c‖² = Σ_j (x_j − c_j)², never as ‖x‖² − 2x·c + ‖c‖²: the
expansion loses all digits for a row near a centre far from the origin, and its last bit depends on the other rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discriminant.bases.expansion import generator, whole
from discriminant.errors import DataError, ParameterError
from discriminant.protocols import Array

BLOCK_VALUES = 65_536  # distances of a block stay in the second-level cache while the columns pass
LLOYD_PASSES = 50


def squared_distances(X: Array, centres: Array) -> Array:
    """‖x_i − c_k‖², shape (n, number of centres), in the precision of X."""
    centres = centres.astype(X.dtype, copy=False)
    result = np.zeros((X.shape[0], len(centres)), dtype=X.dtype)
    rows = max(1, BLOCK_VALUES // max(len(centres), 1))
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
        return class_means(X, y, centres, owner)
    if not isinstance(centres, int | np.integer):
        return given_points(centres, X.shape[1], owner)
    number = whole(centres, "centres", owner)
    if placement not in ("rows", "means"):
        raise ParameterError(f"placement={placement!r} of {owner} must be 'rows' or 'means'.")
    chosen = spread_rows(X, number, generator(random_state))
    return chosen if placement == "rows" else lloyd(X, chosen)


def given_points(points: Any, d: int, owner: str) -> Array:
    """Points that the user gave, checked: finite, one row per centre, as many columns as X."""
    try:
        array = np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.zeros(())
    if array.ndim != 2 or not array.size or not np.isfinite(array).all():
        raise ParameterError(
            f"centres={points!r} of {owner} must be a number of centres, 'classes', or finite points of shape "
            "(number of centres, number of columns)."
        )
    if array.shape[1] != d:
        raise ParameterError(f"The centres of {owner} have {array.shape[1]} coordinates and X has {d} columns.")
    return array.copy()


def class_means(X: Array, y: Any, rule: str, owner: str) -> Array:
    """The mean of each class, in the order of the sorted labels."""
    if rule != "classes":
        raise ParameterError(f"centres={rule!r} of {owner} must be a number, 'classes', or an array of points.")
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
