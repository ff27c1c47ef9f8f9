"""Posterior probabilities over two features: contours of P(C_k|x), or a surface in three dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from discriminant.errors import DataError, MismatchError, names
from discriminant.io.table_model import classes_of
from discriminant.plots.display import Display, display, require_one_of
from discriminant.plots.plane import plane_of
from discriminant.plots.theme import INK, axes_for, color, frame, scatter, styled, tint
from discriminant.protocols import Array, Probabilistic


@display
class PosteriorDisplay(Display):
    """P(C_k|x) over two columns, on a grid.

    The softmax or sigmoid of linear scores is a smooth ramp between the classes (PRML 4.2).

    Parameters
    ----------
    across : ndarray of shape (r,)
        Values of the one column.
    up : ndarray of shape (r,)
        Values of the other.
    posterior : ndarray of shape (r, r)
        Of the class ``target``, rows along ``up``.
    target : label
        Whose posterior is drawn.

    See Also
    --------
    DecisionRegionsDisplay : The decisions.

    >>> model = LogisticRegression().fit(iris.X[:, 2:], iris.y)
    >>> display = plots.PosteriorDisplay.from_estimator(model, iris.X[:, 2:], iris.y, target="virginica", resolution=30)
    >>> display.posterior.shape, float(display.posterior.max()) <= 1
    ((30, 30), True)
    """

    across: Array
    up: Array
    posterior: Array
    target: Any
    classes: Sequence[Any]
    points: Array | None = None
    labels: Any = None
    axis_names: Sequence[str] = ("$x_1$", "$x_2$")

    @classmethod
    def from_estimator(
        cls,
        estimator: Probabilistic,
        X: Any,
        y: Any = None,
        *,
        target: Any = None,
        features: Sequence[Any] | None = None,
        at: Any = None,
        bounds: Any = None,
        resolution: int = 120,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the probabilities of a fitted classifier.

        Parameters
        ----------
        estimator : classifier
            Fitted, with ``predict_proba``.
        y : array-like of shape (n,) or None, default=None
            The labels, to colour the rows; None: no rows' labels are known.
        target : label or None, default=None
            Whose posterior is drawn; None: that of the last class.
        """
        if not hasattr(estimator, "predict_proba"):
            raise MismatchError(
                f"{type(estimator).__name__} gives no probabilities; wrap it in "
                "sklearn.calibration.CalibratedClassifierCV."
            )
        classes = classes_of(estimator).tolist()
        wanted = classes[-1] if target is None else target
        if wanted not in classes:
            raise DataError(f"There is no class {wanted!r}; there are {names(classes, most=12)}.")
        plane = plane_of(estimator, X, features=features, at=at, bounds=bounds)
        rows, across, up = plane.grid(resolution)
        chances = np.asarray(estimator.predict_proba(rows))[:, classes.index(wanted)].reshape(across.shape)
        made = cls(across[0], up[:, 0], chances, wanted, classes, plane.points, y, plane.axis_names)
        return made.plot(ax=ax, **options)

    @styled
    def plot(self, ax: Any = None, *, kind: str = "contour") -> Self:
        """Draw as contours or as a surface in three dimensions."""
        require_one_of("kind", kind, "contour", "surface")
        from matplotlib.colors import LinearSegmentedColormap

        shade = color(list(self.classes).index(self.target))
        shades = LinearSegmentedColormap.from_list("posterior", ["#FFFFFF", tint(shade, 0.7), tint(shade, 0.35)])
        self.figure_, self.ax_ = axes_for(ax, projection="3d" if kind == "surface" else None)
        title = f"P({self.target}|x)"
        if kind == "surface":
            grid = np.meshgrid(self.across, self.up)
            self.ax_.plot_surface(*grid, self.posterior, cmap=shades, vmin=0, vmax=1, linewidth=0, rcount=70, ccount=70)
            self.ax_.set(zlim=(0, 1), xlabel=self.axis_names[0], ylabel=self.axis_names[1], zlabel=title)
            return self
        filled = self.ax_.contourf(self.across, self.up, self.posterior, levels=np.linspace(0, 1, 11), cmap=shades)
        marks = self.ax_.contour(self.across, self.up, self.posterior, levels=[0.1, 0.5, 0.9], colors=[INK],
                                 linewidths=[0.7, 1.6, 0.7])  # fmt: skip
        self.ax_.clabel(marks, fmt="%.1f", fontsize=8)
        self.figure_.colorbar(filled, ax=self.ax_, label=title)
        if self.points is not None and self.labels is not None:
            scatter(self.ax_, self.points, self.labels, self.classes)
            self.ax_.legend(loc="best")
        frame(self.ax_, [(self.across[0], self.across[-1]), (self.up[0], self.up[-1])], names=self.axis_names)
        return self
