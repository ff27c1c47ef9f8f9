"""Rows on the discriminant axes of LDA or Fisher: the plane, or the line, on which the classes lie furthest apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from discriminant.arrays import in_memory
from discriminant.errors import MismatchError
from discriminant.plots.display import Display, display
from discriminant.plots.plane import column_titles
from discriminant.plots.theme import INK, arrow, axes_for, histogram, scatter, styled
from discriminant.protocols import Array, Projects
from discriminant.report.measures import require_known


@display
class DiscriminantAxesDisplay(Display):
    """Coordinates on the first one or two discriminant axes.

    The projection in which the classes lie furthest apart, in units of their spread (PRML 4.1.6).

    Parameters
    ----------
    coordinates : ndarray of shape (n, m)
        The rows on the axes.
    means : ndarray of shape (K, m)
        The class means on the axes.
    shares : ndarray of shape (m,)
        The share of the between-class variance on each axis.
    loadings : ndarray of shape (d, m) or None, default=None
        How each column, in units of its spread, moves a row along the axes.
    feature_names : sequence of d str or None, default=None
        The columns.

    See Also
    --------
    discriminant.LinearDiscriminantAnalysis.transform : The projection.

    >>> lda = LinearDiscriminantAnalysis().fit(iris.X, iris.y)
    >>> plots.DiscriminantAxesDisplay.from_estimator(lda, iris.X, iris.y).ax_.get_xlabel()
    'first axis, 99.1 % of the separation'
    """

    coordinates: Array
    labels: Any
    classes: Sequence[Any]
    means: Array
    shares: Array
    loadings: Array | None = None
    feature_names: Sequence[str] | None = None

    @classmethod
    def from_estimator(cls, estimator: Projects, X: Any, y: Any, *, ax: Any = None, **options: Any) -> Self:
        """Project rows by ``estimator.transform``.

        Parameters
        ----------
        estimator : LinearDiscriminantAnalysis or FisherDiscriminant
            Fitted.
        """
        if not hasattr(estimator, "transform") or not hasattr(estimator, "scalings_"):
            raise MismatchError(
                f"{type(estimator).__name__} has no discriminant axes; LinearDiscriminantAnalysis and "
                "FisherDiscriminant have."
            )
        coordinates = np.asarray(estimator.transform(X), dtype=np.float64)
        labels, classes = np.asarray(y), np.asarray(estimator.classes_).tolist()
        require_known(labels, np.asarray(estimator.classes_))
        present = [label for label in classes if (labels == label).any()]
        means = np.array([coordinates[labels == label].mean(axis=0) for label in present])
        shares = np.asarray(getattr(estimator, "explained_variance_ratio_", np.ones(1)), dtype=np.float64)
        spread = np.asarray(np.std(np.asarray(X, dtype=np.float64), axis=0))
        loadings = in_memory(estimator.scalings_)[:, : coordinates.shape[1]] * spread[:, None]
        titles = column_titles(estimator, len(spread))
        return cls(coordinates, labels, classes, means, shares, loadings, titles).plot(ax=ax, **options)

    @styled
    def plot(self, ax: Any = None, *, arrows: int = 4, bins: int = 30) -> Self:
        """Draw two axes as a plane, one as a histogram; with arrows for the columns that matter most.

        Parameters
        ----------
        arrows : int, default=4
            How many columns have an arrow.
        """
        self.figure_, self.ax_ = axes_for(ax)
        if self.coordinates.shape[1] == 1:
            histogram(self.ax_, self.coordinates[:, 0], self.labels, self.classes, bins)
            self.ax_.set_ylabel("rows")
        else:
            self._plane(arrows)
        self.ax_.set_xlabel(self._title(0))
        self.ax_.legend(loc="best")
        return self

    def _plane(self, arrows: int) -> None:
        points = self.coordinates[:, :2]
        scatter(self.ax_, points, self.labels, self.classes)
        self.ax_.scatter(
            *self.means[:, :2].T, s=120, c=INK, marker="P", edgecolors="white", zorder=5, label="class means"
        )
        self.ax_.set_ylabel(self._title(1))
        self.ax_.set_aspect("equal", adjustable="datalim")
        if self.loadings is None or not arrows:
            return
        length = np.linalg.norm(self.loadings[:, :2], axis=1)
        scale = 0.42 * float(np.ptp(points, axis=0).min()) / max(float(length.max()), 1e-300)
        middle = points.mean(axis=0)
        for j in np.argsort(-length)[:arrows]:
            end = middle + scale * self.loadings[j, :2]
            away = (end - middle) / np.linalg.norm(end - middle)
            arrow(self.ax_, middle, end, "#555555", 1.2)
            name = self.feature_names[j] if self.feature_names is not None else f"x{j}"
            self.ax_.annotate(name, end, xytext=tuple(8 * away), fontsize=8.5,
                              textcoords="offset points", ha="center", va="center", zorder=6,
                              bbox={"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 1})  # fmt: skip

    def _title(self, axis: int) -> str:
        word = ("first", "second")[axis]
        share = f", {100 * self.shares[axis]:.1f} % of the separation" if len(self.shares) > 1 else ""
        return f"{word} axis{share}"
