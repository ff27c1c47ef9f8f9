"""The widest gap between two classes: the nearest points of their hulls, by Wolfe's method, on a growing set of rows.

The maximum-margin hyperplane stands halfway between the nearest points p₊, p₋ of the two convex hulls, at right
angles to p = p₊ − p₋.  p is the point of least norm in the hull of all differences x_i − x_j (i positive, j negative).
Wolfe's method keeps a few differences whose affine hull holds the current p, and adds the one that p overestimates
most, which is found class by class: argmin_i p·x_i and argmax_j p·x_j.  Both bounds come with it:

    (min_i p·x_i − max_j p·x_j) / (2‖p‖)   ≤   maximum margin   ≤   ‖p‖ / 2.
"""

from __future__ import annotations

import numpy as np

from discriminant.inference.cone import KeslerCone
from discriminant.protocols import Array, Block

_NEAR_ROWS = 400
_ROUNDS = 12


def nearest_points(positive: Array, negative: Array, start: Array, tolerance: float = 1e-10) -> Array:
    """p = p₊ − p₋ for the nearest points of two hulls given by their points, Wolfe's method from a direction.

    >>> nearest_points(np.array([[2.0, 0.0], [3.0, 1.0]]), np.array([[0.0, -1.0], [0.0, 1.0]]), np.ones(2)).tolist()
    [2.0, 0.0]
    """
    pair = (int(np.argmin(positive @ start)), int(np.argmax(negative @ start)))
    pairs, weights = [pair], np.ones(1)
    corners = np.array([positive[pair[0]] - negative[pair[1]]])
    p = corners[0]
    for _ in range(50 + 20 * positive.shape[1]):
        pair = (int(np.argmin(positive @ p)), int(np.argmax(negative @ p)))
        corner = positive[pair[0]] - negative[pair[1]]
        if p @ (p - corner) <= tolerance * (p @ p) or pair in pairs:
            break
        pairs.append(pair)
        corners, weights = np.vstack([corners, corner]), np.append(weights, 0.0)
        pairs, corners, weights = _affine_step(pairs, corners, weights)
        p = weights @ corners
    return p


def _affine_step(
    pairs: list[tuple[int, int]], corners: Array, weights: Array
) -> tuple[list[tuple[int, int]], Array, Array]:
    """Move to the least norm in the corners' affine hull, dropping corners whose weight would turn negative."""
    while True:
        target = _affine_minimum(corners)
        if target.min() > 1e-14:
            return pairs, corners, target
        falling = target <= 1e-14
        step = float(np.min(weights[falling] / np.maximum(weights[falling] - target[falling], 1e-300)))
        weights = np.maximum(weights + min(1.0, step) * (target - weights), 0.0)
        keep = weights > 1e-14
        if keep.all():
            keep[int(np.argmin(weights))] = False
        pairs = [pair for pair, kept in zip(pairs, keep, strict=True) if kept]
        corners, weights = corners[keep], weights[keep] / weights[keep].sum()
        if len(pairs) == 1:
            return pairs, corners, weights


def _affine_minimum(corners: Array) -> Array:
    """Weights summing to one of the least-norm point in the affine hull."""
    if len(corners) == 1:
        return np.ones(1)
    edges = (corners[1:] - corners[0]).T
    rest = np.linalg.lstsq(edges, -corners[0], rcond=None)[0]
    return np.concatenate([[1.0 - rest.sum()], rest])


def widest_gap(cone: KeslerCone, direction: Array) -> tuple[Array, float, float, float]:
    """(w, low, high, middle): a direction of X, bounds on the largest margin in floats, and where the gap's middle is.

    ``direction`` (d,) separates already.  Rows near the gap are handed to Wolfe's method; a pass over all rows finds
    those that its direction brings closer.
    """
    w = direction / np.linalg.norm(direction)
    low_high, near = _extremes(cone, w)
    best, low, high, middle = w, (low_high[0] - low_high[1]) / 2.0, float("inf"), sum(low_high) / 2.0
    for _ in range(_ROUNDS):
        picked = np.concatenate(near)
        values = _dense(cone, picked)
        codes = cone.codes[picked] == 1
        p = nearest_points(values[codes], values[~codes], best)
        size = float(np.linalg.norm(p))
        if not size > 0:
            break
        high = min(high, size / 2.0)
        w = p / size
        low_high, fresh = _extremes(cone, w)
        if (low_high[0] - low_high[1]) / 2.0 > low:
            best, low, middle = w, (low_high[0] - low_high[1]) / 2.0, sum(low_high) / 2.0
        if low >= high * (1.0 - 1e-9):
            break
        grown = (np.union1d(near[0], fresh[0]), np.union1d(near[1], fresh[1]))
        if len(grown[0]) == len(near[0]) and len(grown[1]) == len(near[1]):
            break
        near = grown
    return best, low, high, middle


def _dense(cone: KeslerCone, rows: Array) -> Array:
    values = cone.source.pick(rows).values
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values) - cone.center


def _extremes(cone: KeslerCone, w: Array) -> tuple[tuple[float, float], tuple[Array, Array]]:
    """(min over positives, max over negatives) of w·(x − c), and the rows of each class nearest to the gap."""
    scores = np.empty(cone.n_rows)

    def kernel(block: Block) -> int:
        scores[block.start : block.start + block.rows] = cone.shifted(block) @ w
        return 0

    cone.each(kernel)
    near = []
    for code, sign in ((1, 1.0), (0, -1.0)):
        rows = np.flatnonzero(cone.codes == code)
        value = sign * scores[rows]
        if len(rows) > _NEAR_ROWS:
            rows = rows[np.argpartition(value, _NEAR_ROWS)[:_NEAR_ROWS]]
        near.append(rows)
    return (float(scores[near[0]].min()), float(scores[near[1]].max())), (near[0], near[1])
