"""Weight space as a globe: only the direction of a matters to a decision, so weights live on the sphere ‖a‖ = 1.

With two inputs and the one there are three weights, and the sphere is all of weight space: every sample is a great
circle a·y = 0, the solution region is a spherical polygon, and learning is a path that tries to enter it.  With more
features the sphere lies in the three-dimensional slice of weight space through the centre of the solution region (or
the final weights) and the two directions in which the path moved most.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from discriminant.inference.solution_region import solution_region
from discriminant.protocols import Array

MOST_CIRCLES = 120  # great circles that are drawn; the region itself is that of all samples


def views(rule: dict[str, Any], q: int) -> list[dict[str, Any]]:
    """The two-class problems inside a model: its outputs, or for one machine its pairs of classes.

    Each is {title, mix (q,), positive, negative}: the weights of the problem are A·mix.
    """
    labels = rule["classes"]
    sides = np.array(rule["claims"]["sides"]) if rule["claims"] else np.array(rule.get("signs", []))
    if q == 1:
        slopes = np.array(rule["slopes"])[0]
        up = int(np.argmax(slopes))
        return [_view(f"class {labels[up]} against {labels[1 - up]}", [1.0], [labels[up]], [labels[1 - up]])]
    if sides.size:
        found = []
        for j in range(q):
            column = sides[:, j]
            rest = not (column < 0).any()  # speakers say whose output it is; all others are on its negative side
            positive = [labels[k] for k in np.flatnonzero(column > 0)]
            negative = [labels[k] for k in np.flatnonzero(column <= 0 if rest else column < 0)]
            against = "the rest" if len(negative) > 1 else str(negative[0])
            title = f"class {', '.join(map(str, positive))} against {against}"
            found.append(_view(title, np.eye(q)[j].tolist(), positive, negative))
        return found
    return [
        _view(f"class {labels[i]} against {labels[j]}", (one - other).tolist(), [labels[i]], [labels[j]])
        for (i, one), (j, other) in combinations(enumerate(np.eye(q)), 2)
    ]


def _view(title: str, mix: list[float], positive: list[int], negative: list[int]) -> dict[str, Any]:
    return {"title": title, "mix": mix, "positive": positive, "negative": negative}


def globe(Y: Array, y: Array, path: Array, view: dict[str, Any], empty: bool = False) -> dict[str, Any]:
    """The globe of one two-class problem: axes (D, 3), great circles (m, 3), the region's corners (r, 3).

    ``Y`` is [1, φ] (n, D), ``path`` (F, D, q) the weights of the frames; ``empty``: the region is known to be.
    """
    part = np.isin(y, [*view["positive"], *view["negative"]])
    side = np.isin(y, view["positive"])[part]
    samples = Y[part] * np.where(side, 1.0, -1.0)[:, None]
    walked = path @ np.array(view["mix"])
    region = None if empty else solution_region(Y[part], side, fit_intercept=False)
    axes = _axes(None if region is None else region.center, walked)
    corners, missed = np.zeros((0, 3)), False
    if region is not None and not region.empty:
        flat = Y.shape[1] == 3
        inside = region if flat else solution_region(Y[part] @ axes, side, fit_intercept=False)
        missed = inside.empty
        if inside.rays is not None:
            corners = inside.rays @ axes if flat else inside.rays
    circles = samples @ axes
    size = np.linalg.norm(circles, axis=1)
    kept = np.flatnonzero(size > 1e-12)
    kept = kept[:: max(1, -(-len(kept) // MOST_CIRCLES))]
    return {
        "mix": view["mix"], "dimensions": int(Y.shape[1]), "axes": axes.tolist(),
        "empty": region is None or region.empty,
        "circles": np.round(circles[kept] / size[kept, None], 5).tolist(),
        "rows": np.flatnonzero(part)[kept].tolist(), "corners": np.round(corners, 6).tolist(),
        "slice_misses": missed,
    }  # fmt: skip


def _axes(center: Array | None, walked: Array) -> Array:
    """Orthonormal columns (D, 3): towards the viewer first, then the directions of the path, or of the axes."""
    pole = walked[-1] if center is None or not np.any(center) else center
    D = walked.shape[1]
    size = np.linalg.norm(walked, axis=1)
    unit = walked[size > 0] / size[size > 0, None]
    moved = np.linalg.svd(unit - unit.mean(axis=0), full_matrices=False)[2][:2] if len(unit) > 2 else np.zeros((0, D))
    last = walked[-1:]
    wanted = np.vstack([pole[None], *([last, moved] if D > 3 else []), np.eye(D)])
    columns: list[Array] = []
    for vector in wanted:
        rest = vector - sum((c * (c @ vector) for c in columns), np.zeros(D))
        length = np.linalg.norm(rest)
        if length > 1e-6 * max(float(np.linalg.norm(vector)), 1e-300) and len(columns) < 3:
            columns.append(rest / length)
    return np.column_stack(columns)
