"""The solution region in weight space: all weights that classify every sample, for two and three weights.

{a : a·y_i > 0 for all i},   or {a : a·y_i ≥ b},   y_i = (1, x_i) turned by the sign of its class
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from discriminant.errors import DataError
from discriminant.estimators.learner import Learner
from discriminant.geometry import Hyperplane
from discriminant.inference.solution_region import SolutionRegion, solution_region
from discriminant.plots.display import Display, display
from discriminant.plots.theme import BLUE, GREEN, GREY, INK, ORANGE, axes_for, frame, line, styled, tint
from discriminant.protocols import Array


@display
class SolutionRegionDisplay(Display):
    """The region of two weights as a polygon, of three as a cone.

    Every sample cuts away a half-space of weights; what is left separates (Duda, Hart and Stork 5.4.1).

    Parameters
    ----------
    region : SolutionRegion
        The region.
    bounds : sequence of pairs of floats or None, default=None
        The part of the weight plane to draw, ((low, high), (low, high)); None: chosen.
    weights : ndarray of shape (2,) or (3,), or None, default=None
        Weights to mark, such as those of a fitted model.
    fit_intercept : bool, default=True
        Whether the first weight is an intercept.

    See Also
    --------
    discriminant.solution_region : Computes the region.

    >>> display = plots.SolutionRegionDisplay.from_data([[1.0], [2.0], [4.0]], ["a", "a", "b"])
    >>> display.region.empty, display.ax_.get_xlabel()
    (False, '$a_0$')
    """

    region: SolutionRegion
    bounds: Any = None
    weights: Array | None = None
    fit_intercept: bool = True

    @classmethod
    def from_data(
        cls,
        X: Any,
        y: Any,
        margin: float = 0.0,
        *,
        fit_intercept: bool = True,
        weights: Any = None,
        bounds: Any = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """The region of these samples; one column and an intercept have two weights, two columns three.

        Parameters
        ----------
        weights : array-like or None, default=None
            Weights to mark.
        bounds : sequence of pairs of floats or None, default=None
            The part of the weight plane to draw; None: chosen.
        """
        region = solution_region(X, y, margin, fit_intercept=fit_intercept)
        marked = None if weights is None else np.asarray(weights, dtype=np.float64).ravel()
        return cls(region, bounds, marked, fit_intercept).plot(ax=ax, **options)

    @classmethod
    def from_estimator(cls, estimator: Learner, X: Any, y: Any, margin: float = 0.0, **options: Any) -> Self:
        """The region of the samples with the weights that a fitted two-class model found in it (or outside it).

        Parameters
        ----------
        **options : any
            Options of ``from_data``.
        """
        found = estimator.discriminant_
        intercept = bool(getattr(estimator, "fit_intercept", True))
        weights = np.concatenate([np.atleast_1d(found.intercept)[:1] if intercept else [], np.ravel(found.coef[0])])
        return cls.from_data(X, y, margin, fit_intercept=intercept, weights=weights, **options)

    @styled
    def plot(self, ax: Any = None) -> Self:
        """Draw the region; three weights make three-dimensional axes."""
        weights = self.region.samples.shape[1]
        if weights not in (2, 3):
            raise DataError(f"The region lies in {weights} dimensions; it is drawn for two or three weights.")
        self.figure_, self.ax_ = axes_for(ax, projection="3d" if weights == 3 else None)
        self._polygon() if weights == 2 else self._cone()
        if self.region.empty:
            self.ax_.set_title("empty: no weights classify every sample")
        return self

    def _names(self) -> list[str]:
        return [f"$a_{j + (not self.fit_intercept)}$" for j in range(self.region.samples.shape[1])]

    def _box(self) -> Array:
        if self.bounds is not None:
            return np.asarray(self.bounds, dtype=np.float64).reshape(2, 2)
        parts = ((1.3, self.weights), (1.5, self.region.center))
        half = max(1.0, *(share * float(np.abs(a).max()) for share, a in parts if a is not None), 1.0)
        return np.array([[-half, half], [-half, half]])

    def _polygon(self) -> None:
        bounds = self._box()
        if not self.region.empty:
            corners = self.region.polygon(bounds)
            self.ax_.fill(*corners.T, facecolor=tint(GREEN, 0.6), edgecolor=GREEN, zorder=1, label="solution region")
        for sample in self.region.samples:
            # The second class of the labels was not turned: its samples have a first entry of +1 with an intercept.
            shade = (BLUE if sample[0] > 0 else ORANGE) if self.fit_intercept else GREY
            line(self.ax_, Hyperplane(sample, -self.region.margin), bounds, color=shade, linewidth=0.8, linestyle="--")
        self.ax_.plot(0, 0, "+", color=INK, markersize=9)
        if self.weights is not None:
            self.ax_.plot(*self.weights, "*", color=INK, markersize=13, zorder=5, label="found weights")
        if self.ax_.get_legend_handles_labels()[0]:
            self.ax_.legend(loc="best")
        frame(self.ax_, bounds, equal=True, names=self._names())

    def _cone(self) -> None:
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]

        rays = self.region.rays
        if rays is not None and len(rays) >= 2:
            faces = [[np.zeros(3), a, b] for a, b in zip(rays, np.roll(rays, -1, axis=0), strict=True)]
            style = {"facecolor": GREEN, "alpha": 0.35, "edgecolor": INK, "linewidth": 0.8}
            self.ax_.add_collection3d(Poly3DCollection(faces, **style))
            self.ax_.quiver(0, 0, 0, *rays.T, color=INK, linewidth=1.2, arrow_length_ratio=0.08)
        for a, shade, name in ((self.region.center, GREEN, "centre"), (self.weights, ORANGE, "found weights")):
            if a is not None:
                tip = a / np.linalg.norm(a)
                self.ax_.quiver(0, 0, 0, *tip, color=shade, linewidth=2, arrow_length_ratio=0.1, label=name)
        self.ax_.set(**dict(zip(("xlabel", "ylabel", "zlabel"), self._names(), strict=True)))
        seen = np.vstack([np.zeros((1, 3)), *([] if rays is None else [rays])])
        middle, half = (seen.min(axis=0) + seen.max(axis=0)) / 2, max(0.6 * float(np.ptp(seen, axis=0).max()), 0.5)
        for limits, at in zip((self.ax_.set_xlim, self.ax_.set_ylim, self.ax_.set_zlim), middle, strict=True):
            limits(at - half, at + half)
