"""Decision regions in the plane: who wins where, what no class or several claim, what is rejected.

Straight boundaries are drawn as the exact polygons they bound; curved ones, and rules that reject, on a fine grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from discriminant.errors import DataError, MismatchError
from discriminant.inference.ambiguity import ambiguity
from discriminant.plots.display import Display, display, require_one_of
from discriminant.plots.plane import Plane, plane_of
from discriminant.plots.theme import (
    GREY,
    INK,
    PALE,
    axes_for,
    color,
    fill,
    frame,
    inner_edges,
    scatter,
    spans,
    styled,
    swatch,
    tint,
)
from discriminant.protocols import Array, Predictor

Area = tuple[Array, tuple[Any, ...]]  # a convex polygon and the classes that claim it


@display
class DecisionRegionsDisplay(Display):
    """The regions of a classifier over two features, with ambiguous and rejected areas.

    Exact polygons where the rule is linear in the two features, else a grid (Alpaydin 10.3, PRML 4.1.2).

    Parameters
    ----------
    bounds : ndarray of shape (2, 2)
        ((x₀, x₁), (y₀, y₁)).
    areas : list of (polygon, claims), or None, default=None
        Exact areas; one claim: that class's region, none or several: ambiguous.
    codes : ndarray of int of shape (r, r), or None, default=None
        On a grid: the position of the class, or −1 where the rule rejects.
    levels : ndarray of shape (r, r, K), or None, default=None
        On a grid: the score of each class less the best of the others; its zeros are the boundaries.
    note : str, default=""
        What is held fixed.

    See Also
    --------
    discriminant.geometry.decision_regions : The polygons.

    >>> lda = LinearDiscriminantAnalysis().fit(iris.X[:, 2:], iris.y)
    >>> display = plots.DecisionRegionsDisplay.from_estimator(lda, iris.X[:, 2:], iris.y)
    >>> [len(polygon) for polygon, _ in display.areas], display.ax_.get_xlabel()
    ([4, 5, 3], 'x0')
    """

    bounds: Array
    classes: Sequence[Any]
    areas: list[Area] | None = None
    codes: Array | None = None
    levels: Array | None = None
    points: Array | None = None
    labels: Any = None
    axis_names: Sequence[str] = ("$x_1$", "$x_2$")
    note: str = ""

    @classmethod
    def from_estimator(
        cls,
        estimator: Predictor,
        X: Any,
        y: Any = None,
        *,
        show: str = "decisions",
        features: Sequence[Any] | None = None,
        at: Any = None,
        bounds: Any = None,
        resolution: int = 300,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw a fitted classifier (or a ``LinearDiscriminant``) and rows.

        Parameters
        ----------
        y : array-like of shape (n,) or None, default=None
            The labels, to colour the rows; None: no rows' labels are known.
        show : {"decisions", "claims"}, default="decisions"
            What ``predict`` says; or which classes claim a point (their discriminants are positive, or all their
            pairs agree), so that the ambiguous areas show.
        """
        require_one_of("show", show, "decisions", "claims")
        plane = plane_of(estimator, X, features=features, at=at, bounds=bounds)
        classes = getattr(estimator, "classes_", getattr(estimator, "classes", None))
        if classes is None:
            raise MismatchError(f"{type(estimator).__name__} has no classes_: fit it first, or give a classifier.")
        labels = np.asarray(classes).tolist()
        note = _held(plane) if plane.is_slice else ""
        made = cls(plane.bounds, labels, points=plane.points, labels=y, axis_names=plane.axis_names, note=note)
        if show == "claims":
            made.areas = _claims(plane)
        else:
            made.areas = _polygons(plane, labels)
            if made.areas is None:
                made.codes, made.levels = _on_grid(plane, labels, resolution)
        return made.plot(ax=ax, **options)

    @styled
    def plot(
        self, ax: Any = None, *, legend: bool = True, boundaries: bool = True, names: Sequence[str] | None = None
    ) -> Self:
        """Draw the regions and the rows.

        Parameters
        ----------
        legend : bool, default=True
            Whether to name the classes.
        boundaries : bool, default=True
            Whether to draw the boundaries as lines.
        names : sequence of str or None, default=None
            Names in place of the labels in the legend.
        """
        self.figure_, self.ax_ = axes_for(ax)
        self._draw_areas(boundaries)
        if self.codes is not None:
            self._draw_grid(boundaries)
        if self.points is not None and self.labels is not None:
            scatter(self.ax_, self.points, self.labels, self.classes, names=names)
        frame(self.ax_, self.bounds, names=self.axis_names)
        if self.note:
            self.ax_.set_title(self.note, fontsize=9, color=GREY)
        if legend:
            self._legend()
        return self

    def share(self, *, of: str = "ambiguous") -> float:
        """The share of the box that has no single claim, or that is rejected.

        Parameters
        ----------
        of : {"ambiguous", "rejected"}, default="ambiguous"
            Which share.

        Returns
        -------
        float
            Between 0 and 1.
        """
        if of == "rejected":
            return 0.0 if self.codes is None else float((self.codes < 0).mean())
        from discriminant.geometry import polygon_area

        if self.areas is None:
            raise DataError("Claims are known where the display was made with show='claims'.")
        sizes = np.array([polygon_area(polygon) for polygon, _ in self.areas])
        unclear = np.array([len(claims) != 1 for _, claims in self.areas])
        return float(sizes[unclear].sum() / sizes.sum())

    def _draw_areas(self, boundaries: bool) -> None:
        places = {label: k for k, label in enumerate(self.classes)}
        for polygon, claims in self.areas or ():
            if len(claims) == 1:
                fill(self.ax_, polygon, color(places[claims[0]]))
            else:
                fill(self.ax_, polygon, GREY, **_UNCLEAR[len(claims) > 0])
            if boundaries:
                inner_edges(self.ax_, polygon, self.bounds, linewidth=1.2)

    def _draw_grid(self, boundaries: bool) -> None:
        from matplotlib.colors import to_rgba_array

        assert self.codes is not None
        (x0, x1), (y0, y1) = self.bounds.tolist()
        extent = (x0, x1, y0, y1)
        shades = to_rgba_array([*(tint(color(k)) for k in range(len(self.classes))), PALE])
        self.ax_.imshow(
            shades[self.codes], extent=extent, origin="lower", aspect="auto", interpolation="nearest", zorder=0
        )
        across, up = spans(self.bounds, len(self.codes))
        if (self.codes < 0).any():
            self.ax_.contourf(across, up, self.codes < 0, levels=[0.5, 1.5], colors="none", hatches=["////"], zorder=1)
        if boundaries:
            for k in range(len(self.classes)):
                values = (self.codes == k) - 0.5 if self.levels is None else self.levels[:, :, k]
                if values.min() < 0 < values.max():
                    self.ax_.contour(across, up, values, levels=[0.0], colors=[INK], linewidths=1.2, zorder=2)

    def _legend(self) -> None:
        handles, _ = self.ax_.get_legend_handles_labels()
        if self.codes is not None and (self.codes < 0).any():
            handles.append(swatch("rejected", PALE, edgecolor="#8A8A8A", hatch="////", linewidth=0))
        for several in sorted({len(claims) > 0 for _, claims in self.areas or () if len(claims) != 1}):
            name = "several classes" if several else "no class"
            handles.append(swatch(name, GREY, **{"edgecolor": "#8A8A8A", "linewidth": 0, **_UNCLEAR[several]}))
        if handles:
            self.ax_.legend(handles=handles, loc="best")


_UNCLEAR = {
    False: {"facecolor": "#F4F4F4", "hatch": "...."},  # no class
    True: {"facecolor": "#C9C9C9", "hatch": "////"},  # several
}


def _held(plane: Plane) -> str:
    rest = [plane.names[j] for j in range(len(plane.at)) if j not in plane.features]
    shown = [f"{name} = {plane.at[plane.names.index(name)]:.4g}" for name in rest[:3]]
    return "where " + ", ".join(shown) + (f" and {len(rest) - 3} more are held" if len(rest) > 3 else "")


def _claims(plane: Plane) -> list[Area]:
    straight = plane.straight()
    if straight is None:
        raise MismatchError(
            f"{type(plane.estimator).__name__} has no straight discriminants of its own, so that nothing is claimed "
            "twice; use show='decisions'."
        )
    return list(ambiguity(straight, plane.bounds).polygons)


def _polygons(plane: Plane, labels: list[Any]) -> list[Area] | None:
    """The exact regions, where the rule is the largest of linear functions; checked against ``predict`` itself."""
    straight = plane.straight()
    if straight is None:
        return None
    try:
        regions = straight.regions(plane.bounds)
    except MismatchError:  # votes and conjunctions have no single linear function for a class
        return None
    (x0, x1), (y0, y1) = plane.bounds.tolist()
    points = np.random.default_rng(0).uniform((x0, y0), (x1, y1), size=(256, 2))
    said = np.asarray(plane.estimator.predict(plane.rows(points)))
    if (said != np.asarray(straight.predict(points))).any():
        return None
    return [(polygon, (label,)) for polygon, label in zip(regions, labels, strict=True) if len(polygon)]


def _on_grid(plane: Plane, labels: list[Any], resolution: int) -> tuple[Array, Array | None]:
    """(codes (r, r), levels (r, r, K) where scores explain the decisions)."""
    rows, across, _ = plane.grid(resolution)
    places = {label: k for k, label in enumerate(labels)}
    said = np.asarray(plane.estimator.predict(rows)).tolist()
    codes = np.array([places.get(label, -1) for label in said]).reshape(across.shape)
    scores = _scores(plane.estimator, rows, len(labels))
    if scores is None or (scores.argmax(axis=1).reshape(across.shape) != codes).any():
        return codes, None
    second, best = np.sort(scores, axis=1)[:, -2:, None].transpose(1, 0, 2)
    return codes, (scores - np.where(scores == best, second, best)).reshape(*across.shape, -1)


def _scores(estimator: Predictor, rows: Any, n_classes: int) -> Array | None:
    """(n, K) scores whose largest should be the decision."""
    for method in ("decision_function", "predict_log_proba", "predict_proba"):
        ask = getattr(estimator, method, None)
        if ask is not None:
            values = np.asarray(ask(rows), dtype=np.float64)
            values = np.column_stack([-values, values]) if values.ndim == 1 else values
            return values if values.shape[1] == n_classes else None
    return None
