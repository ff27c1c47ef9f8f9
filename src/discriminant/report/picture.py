"""The rows in two dimensions, with the regions of the decision behind them.

Two features: the plane itself.  More, and K > 2 classes: the two Fisher axes A, on which the classes have unit spread
and lie as far apart as they can.  Behind the points stand the decisions at x(u) = m + Σ A u, the slice of the space
that the axes span through the mean; for the linear discriminant of Gaussian classes with K = 3 these are the decisions
on all rows exactly.  Two classes: the distribution of the score.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from discriminant.data import encode_labels, make_blocks
from discriminant.gaussian.moments import class_moments
from discriminant.gaussian.weights import fisher_directions
from discriminant.gaussian.whiten import whiten_moments
from discriminant.geometry.regions import decision_regions
from discriminant.plots.theme import around
from discriminant.protocols import Array
from discriminant.report import svg
from discriminant.report.report_data import ReportData

MOST_POINTS = 1_500
MOST_FEATURES = 500
GRID = (110, 180)


def picture(report: ReportData) -> tuple[str, str] | None:
    """(drawing, caption), or None where there is nothing to draw."""
    X = report.dense
    if X is None or X.shape[1] > MOST_FEATURES:
        return None
    if X.shape[1] == 2:
        names = (report.feature_names[0], report.feature_names[1])
        return _points(report, X, np.zeros(2), np.eye(2), np.eye(2), names, "Each class is decided on its own ground.")
    axes = None if len(report.classes) == 2 else _fisher(report, X)
    if axes is None:
        return _scores(report, X)
    caption = (
        f"The {X.shape[1]} features on the two axes that tell the classes apart best (Fisher). The ground shows what "
        "is decided on the slice through the mean."
    )
    return _points(report, X, X.mean(axis=0), *axes, ("first discriminant axis", "second discriminant axis"), caption)


def _decide(report: ReportData, X: Array) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(report.extra["decide"](X) if "decide" in report.extra else report.model.predict(X))


def _points(
    report: ReportData, X: Array, mean: Array, A: Array, lift: Array, axes: tuple[str, str], caption: str
) -> tuple[str, str]:
    """Rows at u = Aᵗ(x − m), at most some hundred of them, over the decisions at m + Σ A u."""
    points, linear = (X - mean) @ A, report.linear
    plane = svg.Plane(around(points, 0.07).tolist())
    if linear is not None and report.costs is None:
        weights = np.asarray(linear.class_weights)
        center = np.zeros(X.shape[1]) if linear.center is None else np.asarray(linear.center)
        flat = np.vstack([weights[0] + (mean - center) @ weights[1:], lift.T @ weights[1:]])
        ground = svg.polygons(decision_regions(flat, plane.bounds), plane)
    else:
        ground = _grid(report, plane, mean, lift)
    rows = np.arange(len(X))
    if len(X) > MOST_POINTS:
        rows = np.sort(np.random.default_rng(0).choice(len(X), MOST_POINTS, replace=False))
    wrong = _decide(report, X) != report.labels
    drawn = svg.scatter(points[rows], report.codes[rows], report.names, ground, plane, wrong[rows], axes)
    errors = f"{int(wrong.sum()):,} of {len(wrong):,}"
    if len(report.classes) <= svg.MOST_RINGED:
        return drawn, f"{caption} Rows decided otherwise than they are labelled are ringed: {errors}."
    named = "Names stand at the means of the classes."
    return drawn, f"{caption} {named} {errors} rows are decided otherwise than they are labelled."


def _grid(report: ReportData, plane: svg.Plane, origin: Array, lift: Array) -> str:
    """Decisions on a grid of the plane, at origin + lift u."""
    (x0, x1), (y0, y1) = plane.bounds
    height, width = GRID
    u = np.linspace(x0, x1, 2 * width + 1)[1::2]
    v = np.linspace(y1, y0, 2 * height + 1)[1::2]
    points = np.stack(np.meshgrid(u, v), axis=-1).reshape(-1, 2)
    decided = np.searchsorted(report.classes, _decide(report, origin + points @ lift.T))
    return svg.raster(np.minimum(decided, len(report.classes) - 1).reshape(height, width), plane)


def _fisher(report: ReportData, X: Array) -> tuple[Array, Array] | None:
    """(axes A (d, 2), lift Σ A (d, 2)), or None where the classes differ along one axis only."""
    classes, codes = encode_labels(report.labels)
    moments = class_moments(make_blocks(X, codes), len(classes))
    whitened = whiten_moments(moments, moments.total)
    found = fisher_directions(whitened, moments.weight / moments.total)
    if found.matrix.shape[1] < 2:
        return None
    A = found.matrix[:, :2]
    residuals = X - moments.class_means[codes]
    return A, residuals.T @ (residuals @ A) / len(X)


def _scores(report: ReportData, X: Any) -> tuple[str, str] | None:
    method = getattr(report.model, "decision_function", None)
    if method is None or len(report.classes) != 2:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = np.asarray(method(X), dtype=np.float64)
    if scores.ndim != 1:
        scores = scores[:, -1]
    boundary = 0.0
    if report.costs is not None:  # c[decided, true]: ln of the ratio of what the errors cost
        c = report.costs
        with np.errstate(divide="ignore", invalid="ignore"):
            boundary = float(np.log((c[1, 0] - c[0, 0]) / (c[0, 1] - c[1, 1])))
    drawn = svg.histogram(scores, report.codes, report.names, f"score for {report.names[1]}", boundary)
    return drawn, (
        f"The score of every row; {report.names[1]} is decided right of the boundary. What lies on the wrong side is "
        "an error, what lies near the boundary is uncertain."
    )
