"""Margins and distances: how far each row lies from where the decision changes.

two classes    r = g(x)/‖w‖, signed: positive on the side of the second class
K classes      the margin of a row with its label: how deep it lies in the region of its own class, else negative
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from discriminant.errors import MismatchError
from discriminant.model import discriminant_of
from discriminant.plots.display import Display, display, require_one_of
from discriminant.plots.plane import plane_of
from discriminant.plots.theme import GREY, INK, around, axes_for, frame, histogram, line, ring, scatter, segment, styled
from discriminant.protocols import Array, Predictor


@display
class MarginDisplay(Display):
    """Distances from the boundary, in the plane with their feet, or as a histogram for any number of columns.

    r = g(x)/‖w‖, and x − r w/‖w‖ as its foot (Alpaydin 10.3, PRML 4.1.1).

    Parameters
    ----------
    distances : ndarray of shape (n,)
        Signed distances (two classes), or margins of the labelled rows.
    points : ndarray of shape (n, 2) or None, default=None
        Rows, where there are two columns and two classes.
    feet : ndarray of shape (n, 2) or None, default=None
        The points of the boundary nearest to them.
    boundary : Hyperplane or None, default=None
        The boundary.

    See Also
    --------
    discriminant.LinearDiscriminant.margin : The distances.

    >>> data = datasets.load("breast_cancer")
    >>> model = LinearSVC(C=0.01).fit(data.X / data.X.std(axis=0), data.y)
    >>> display = plots.MarginDisplay.from_estimator(model, data.X / data.X.std(axis=0), data.y)
    >>> display.distances.shape, display.ax_.get_xlabel()
    ((569,), 'signed distance from the boundary')
    """

    distances: Array
    labels: Any
    classes: Sequence[Any]
    points: Array | None = None
    feet: Array | None = None
    boundary: Any = None
    axis_names: Sequence[str] = ("$x_1$", "$x_2$")

    @classmethod
    def from_estimator(cls, estimator: Predictor, X: Any, y: Any, *, ax: Any = None, **options: Any) -> Self:
        """Measure the rows from the boundary of a fitted model."""
        found = discriminant_of(estimator)
        if found is None:
            raise MismatchError(f"{type(estimator).__name__} has no linear discriminant to measure distances from.")
        labels, classes = np.asarray(y), found.classes.tolist()
        if len(classes) > 2:
            return cls(np.asarray(found.margin(X, y)), labels, classes).plot(ax=ax, **options)
        made = cls(np.asarray(found.distance(X)), labels, classes)
        if found.basis is None and found.n_features == 2:
            plane = plane_of(estimator, X)
            made.points, made.axis_names, made.boundary = plane.points, plane.axis_names, found.boundary()
            made.feet = made.boundary.project(plane.points)
        return made.plot(ax=ax, **options)

    @styled
    def plot(self, ax: Any = None, *, kind: str = "auto", bins: int = 30) -> Self:
        """Draw the rows with their feet in the plane, or the distances as a histogram.

        Parameters
        ----------
        kind : {"auto", "plane", "histogram"}, default="auto"
            "auto": the plane where there are two columns and two classes.
        """
        require_one_of("kind", kind, "auto", "plane", "histogram")
        if kind == "plane" and self.points is None:
            raise MismatchError("There is no plane to draw: that needs two columns, two classes and no basis.")
        self.figure_, self.ax_ = axes_for(ax)
        self._plane() if kind != "histogram" and self.points is not None else self._histogram(bins)
        return self

    @property
    def smallest(self) -> float:
        """The margin of the whole: the least distance of a row from the boundary, negative if one is misclassified."""
        return float(self._own_side().min())

    def _own_side(self) -> Array:
        """(n,): how far each row is on the side of its own class."""
        two = len(self.classes) == 2
        return np.where(self.labels == self.classes[1], 1.0, -1.0) * self.distances if two else self.distances

    def _plane(self) -> None:
        assert self.points is not None
        assert self.feet is not None
        bounds = around(np.vstack([self.points, self.feet]), 0.06)
        for point, foot in zip(self.points, self.feet, strict=True):
            segment(self.ax_, point, foot, GREY, linewidth=0.6, zorder=1)
        line(self.ax_, self.boundary, bounds, linewidth=2)
        for shift in (-self.smallest, self.smallest) if self.smallest > 0 else ():
            shifted = replace(self.boundary, intercept=self.boundary.intercept + shift * self.boundary.norm)
            line(self.ax_, shifted, bounds, linewidth=1, linestyle="--")
        scatter(self.ax_, self.points, self.labels, self.classes)
        ring(self.ax_, self.points[self._own_side().argmin()], 130, linewidths=1.4, zorder=4)
        self.ax_.legend(loc="best")
        frame(self.ax_, bounds, equal=True, names=self.axis_names, title=f"smallest margin {self.smallest:.3g}")

    def _histogram(self, bins: int) -> None:
        histogram(self.ax_, self.distances, self.labels, self.classes, bins)
        self.ax_.axvline(0, color=INK, linewidth=1.2)
        many = len(self.classes) > 2
        self.ax_.set_xlabel("margin (negative: misclassified)" if many else "signed distance from the boundary")
        self.ax_.set_ylabel("rows")
        self.ax_.legend()
