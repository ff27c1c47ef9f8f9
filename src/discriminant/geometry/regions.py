"""The regions of an argmax rule in the plane, as exact polygons.

    R_i = {x : g_i(x) ≥ g_j(x) for all j} = ∩_j {x : (w_i − w_j)·x + (w_i0 − w_j0) ≥ 0}

is an intersection of half-planes, hence convex and connected (Alpaydin 10.3.2, PRML 4.1.2).  Within a box it is the
box, clipped by K − 1 lines.  Where two discriminants are equal on a whole region the first class has it, as argmax
does, so that the areas always add up to the box.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discriminant.arguments import checked, some_numbers
from discriminant.docstrings import Entries
from discriminant.errors import DataError, as_numbers
from discriminant.protocols import Array

documented = Entries("""
X : array-like or sparse matrix of shape (n, d), or (d,)
    Points.
bounds : sequence of four floats
    The box ((x₀, x₁), (y₀, y₁)), or flat as (x₀, x₁, y₀, y₁).
→ box : ndarray of shape (4, 2)
    The corners.
→ polygon_area : float
    The area; 0 for fewer than three vertices.
→ clip : ndarray of shape (k, 2)
    The vertices of that part; none where it is empty.
→ decision_regions : list of K ndarrays of shape (m, 2)
    Vertices, counter-clockwise; a class that wins nowhere in the box has none.
→ value : ndarray of shape (n,)
    The values; a single point gives a number.
→ distance : ndarray of shape (n,)
    Positive on the side that the normal points to.
→ project : ndarray of shape (n, d)
    The feet.
→ side : ndarray of int8 of shape (n,)
    1, 0 or −1.
→ points : ndarray of shape (2, 2)
    The ends, or shape (0, 2) where the line misses the box.
""").documented


@documented
def box(bounds: Any) -> Array:
    """The corners, counter-clockwise, of a box.

    Raises
    ------
    DataError
        Where the bounds do not enclose an area.

    >>> box(((0, 1), (0, 2))).tolist()
    [[0.0, 0.0], [1.0, 0.0], [1.0, 2.0], [0.0, 2.0]]
    """
    limits = as_numbers(bounds, "bounds")
    if limits.size != 4 or not np.isfinite(limits).all():
        raise DataError(f"bounds must be ((x0, x1), (y0, y1)), four finite numbers; got {bounds!r}.")
    (x0, x1), (y0, y1) = limits.reshape(2, 2).tolist()
    if not (x0 < x1 and y0 < y1):
        raise DataError(
            f"bounds must grow: x from {x0:g} to {x1:g} and y from {y0:g} to {y1:g} do not enclose an area."
        )
    return np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])


@documented
@checked(polygon=some_numbers("vertices, an array of shape (m, 2)", lambda p: p.size == 0 or p.shape[1:] == (2,)))
def polygon_area(polygon: Any) -> float:
    """The area of a polygon, positive when its vertices go counter-clockwise.

    Parameters
    ----------
    polygon : array-like of shape (m, 2)
        The vertices in order.

    >>> polygon_area([[0, 0], [2, 0], [0, 1]])
    1.0
    """
    vertices = np.asarray(polygon, dtype=np.float64)
    if len(vertices) < 3:
        return 0.0
    x, y = (vertices - vertices[0]).T  # from a vertex, or boxes far from the origin lose their digits
    return float((x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2)


@documented
def clip(polygon: Array, values: Array) -> Array:
    """The part of a convex polygon where an affine function is ≥ 0.

    Parameters
    ----------
    polygon : ndarray of shape (m, 2)
        The vertices in order.
    values : ndarray of shape (m,)
        The function at the vertices.

    >>> square = box(((0, 1), (0, 1)))
    >>> clip(square, square[:, 0] - 0.5).tolist()
    [[0.5, 0.0], [1.0, 0.0], [1.0, 1.0], [0.5, 1.0]]
    """
    if len(polygon) == 0 or values.min() >= 0:
        return polygon
    if values.max() <= 0:
        return polygon[:0]
    points, at = _with_crossings(polygon, values)
    kept = points[at >= 0]
    kept = kept[(kept != np.roll(kept, 1, axis=0)).any(axis=1)]  # no vertex twice
    return kept if len(kept) >= 3 else polygon[:0]  # fewer enclose nothing


def crossings(polygon: Array, values: Array) -> Array:
    """The points of a convex polygon's outline where an affine function is zero: (0, 2), (1, 2) or (2, 2)."""
    points, at = _with_crossings(polygon, values)
    return np.asarray(points[at == 0][:2])


def _with_crossings(polygon: Array, values: Array) -> tuple[Array, Array]:
    """The vertices and, between those of unlike sign, the points of the outline that are zero; the function there."""
    points, at = [], []
    for k in range(len(polygon)):
        start, end = values[k - 1], values[k]
        if start * np.sign(end) < 0:
            # Weighted towards the nearer end: both neighbours of an edge find the same point to the last digits.
            points.append(polygon[k - 1] + (start / (start - end)) * (polygon[k] - polygon[k - 1]))
            at.append(0.0)
        points.append(polygon[k])
        at.append(end)
    return np.array(points).reshape(-1, 2), np.array(at)


@documented
def decision_regions(weights: Array, bounds: Any, center: Array | None = None) -> list[Array]:
    """For each of K discriminants the convex polygon of the box where it is the largest.

    R_i = {x : g_i(x) ≥ g_j(x) for all j}.  A tie on a whole region goes to the first class, so that the areas add up to
    that of the box (Alpaydin 10.3.2, PRML 4.1.2).

    Parameters
    ----------
    weights : ndarray of shape (3, K)
        The discriminants, intercepts at ``center`` in row 0.
    center : ndarray of shape (2,) or None, default=None
        Where the intercepts are taken; None: the origin.

    >>> left, right = decision_regions(np.array([[0.0, 0.0], [-1.0, 1.0], [0.0, 0.0]]), ((-1, 3), (0, 1)))
    >>> polygon_area(left), polygon_area(right)
    (1.0, 3.0)
    """
    corners = box(bounds)
    origin = np.zeros(2) if center is None else as_numbers(center, "center")
    regions = []
    for i in range(weights.shape[1]):
        polygon = corners
        for j in range(weights.shape[1]):
            if i == j or not len(polygon):
                continue
            difference = weights[:, i] - weights[:, j]
            values = difference[0] + (polygon - origin) @ difference[1:]
            if j < i and not (values > 0).any():  # at best a tie, and the class before has it
                polygon = polygon[:0]
            polygon = clip(polygon, values)
        regions.append(polygon)
    return regions
