"""The criterion over two weights, as contours or as a surface, with the path that an optimizer took on it.

J(A) = Σ w ℓ(t, z)/Σ w + λΩ(A),      drawn over two entries of A while the others are held
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from discriminant.codings import make_coding
from discriminant.criteria import make_criterion
from discriminant.data import encode_labels, make_blocks
from discriminant.errors import DataError
from discriminant.estimators.deciding import Deciding
from discriminant.estimators.learner import Learner
from discriminant.estimators.logistic import LogisticRegression
from discriminant.objective import PointwiseObjective, logistic_objective
from discriminant.optimize.history import history_of
from discriminant.penalties import make_penalty
from discriminant.plots.display import Display, display, require_one_of
from discriminant.plots.theme import GREY, INK, ORANGE, axes_for, spans, styled
from discriminant.protocols import Array

Entries = tuple[tuple[int, int], tuple[int, int]]  # two entries (row, output) of A


@display
class CriterionSurfaceDisplay(Display):
    """J over two weights, and a path of descent.

    The criterion as a landscape and the steps of an optimizer in it (Duda, Hart and Stork 5.4–5.6).

    Parameters
    ----------
    across : ndarray of shape (r,)
        Values of the one weight.
    up : ndarray of shape (r,)
        Values of the other.
    values : ndarray of shape (r, r)
        J, rows along ``up``.
    path : ndarray of shape (k, 2) or None, default=None
        The two weights at each step.
    path_values : ndarray of shape (k,) or None, default=None
        J along the path, of all weights.
    axis_names : sequence of two str, default=('$a_1$', '$a_2$')
        The names of the two weights.

    See Also
    --------
    HistoryDisplay : J against the step.

    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], ["a", "b", "a", "b"]
    >>> display = plots.CriterionSurfaceDisplay.from_data(X, y, "logistic", optimizer="newton", resolution=20)
    >>> display.values.shape, bool(display.path_values[-1] <= display.values.min() + 1e-9)
    ((20, 20), True)
    """

    across: Array
    up: Array
    values: Array
    path: Array | None = None
    path_values: Array | None = None
    axis_names: Sequence[str] = ("$a_1$", "$a_2$")

    @classmethod
    def from_objective(
        cls,
        objective: Any,
        *,
        at: Any = None,
        entries: Entries | None = None,
        history: Any = None,
        bounds: Any = None,
        resolution: int = 80,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw an objective around some weights, with the weights of a traced history as the path.

        Parameters
        ----------
        objective : PointwiseObjective
            J.
        at : ndarray of shape (1 + d, q) or None, default=None
            Where all other weights are held; None: zeros.
        history : History or None, default=None
            With ``trace``: its weights are the path.
        """
        shape = (objective.n_parameters, objective.n_outputs)
        A = np.zeros(shape) if at is None else np.array(at, dtype=np.float64).reshape(shape)
        trace = None if history is None else history.weights()
        made = cls._measured(objective, A, entries or _varied(A.shape, objective), trace, bounds, resolution)
        return made.plot(ax=ax, **options)

    @classmethod
    def _measured(
        cls, objective: Any, A: Array, entries: Entries, trace: Array | None, bounds: Any, resolution: int
    ) -> Self:
        """J over two entries of A, in one pass over the data for each row of the grid, and along a path of weights."""
        first, second = entries
        path = None if trace is None else np.column_stack([trace[:, *first], trace[:, *second]])
        heights = None if trace is None else np.array([objective.value(a) for a in trace])
        across, up = spans(_limits(A, first, second, path) if bounds is None else bounds, resolution)
        values = np.empty((resolution, resolution))
        right, here = np.zeros_like(A), A.copy()
        right[first], here[first] = 1.0, 0.0
        for i, height in enumerate(up):
            here[second] = height
            values[i] = objective.along(here, right, across)
        one = A.shape[1] == 1
        named = tuple(f"$a_{{{row}}}$" if one else f"$a_{{{row},{output + 1}}}$" for row, output in entries)
        return cls(across, up, values, path, heights, named)

    @classmethod
    def from_data(
        cls,
        X: Any,
        y: Any,
        criterion: Any = "perceptron",
        *,
        optimizer: Any = None,
        start: Any = None,
        penalty: Any = None,
        fit_intercept: bool = True,
        **options: Any,
    ) -> Self:
        """Draw a two-class criterion on these rows, and the path of an optimizer.

        One column with an intercept, or two without, have two weights.

        Parameters
        ----------
        criterion : str or Pointwise, default="perceptron"
            ℓ.
        optimizer : str, optimizer or None, default=None
            Whose path is drawn; None: no path.
        start : array-like or None, default=None
            The weights to begin with; None: zeros.
        penalty : str, WeightPenalty or None, default=None
            λΩ.
        **options : any
            Options of ``from_objective``.
        """
        objective = two_class_objective(X, y, criterion, penalty=penalty, fit_intercept=fit_intercept)
        history = None
        A = np.zeros((objective.n_parameters, 1))
        if start is not None:
            given = np.asarray(start, dtype=np.float64).ravel()
            A[-len(given) :, 0] = given
        if optimizer is not None:
            from discriminant.optimize import make_optimizer

            made = make_optimizer(optimizer) if isinstance(optimizer, str) else optimizer
            solution = replace(made, trace=True).minimize(objective, A)
            history, A = solution.history, np.asarray(solution.weights)
        return cls.from_objective(objective, at=A, history=history, **options)

    @classmethod
    def from_estimator(
        cls, estimator: Learner, X: Any, y: Any, *, entries: Entries | None = None, **options: Any
    ) -> Self:
        """Draw J around the weights of a fitted estimator; with ``trace=True`` it has a path.

        Parameters
        ----------
        **options : any
            Options of ``from_objective``.
        """
        objective = _objective_of(estimator, X, y)
        at = np.array(estimator.discriminant_.weights)
        if estimator.discriminant_.center is not None:
            at[0] = estimator.discriminant_.intercept
        return cls.from_objective(objective, at=at, entries=entries, history=history_of(estimator), **options)

    @styled
    def plot(self, ax: Any = None, *, kind: str = "contour", levels: int = 18) -> Self:
        """Draw as contours or as a surface in three dimensions.

        Parameters
        ----------
        levels : int, default=18
            How many contours.
        """
        require_one_of("kind", kind, "contour", "surface")
        self.figure_, self.ax_ = axes_for(ax, projection="3d" if kind == "surface" else None)
        self._surface() if kind == "surface" else self._contour(levels)
        self.ax_.set(xlabel=self.axis_names[0], ylabel=self.axis_names[1])
        return self

    def _contour(self, levels: int) -> None:
        low, high = float(self.values.min()), float(self.values.max())
        # Levels that lie closer near the minimum, where the path ends.
        steps = low + (high - low) * np.linspace(0, 1, levels) ** 2 if high > low else np.array([low, low + 1])
        self.ax_.contourf(self.across, self.up, self.values, levels=steps, cmap="Blues", alpha=0.75, zorder=0)
        self.ax_.contour(
            self.across, self.up, self.values, levels=steps[1:], colors="#5B7C99", linewidths=0.5, zorder=1
        )
        if self.path is not None:
            self.ax_.plot(*self.path.T, color=ORANGE, linewidth=1.6, marker="o", markersize=3.2, zorder=3, label="path")
            self.ax_.plot(*self.path[0], "o", markerfacecolor="white", markeredgecolor=ORANGE, markersize=7, zorder=4,
                          label="start")  # fmt: skip
            self.ax_.plot(*self.path[-1], "*", color=INK, markersize=11, zorder=4, label="end")

    def _surface(self) -> None:
        across, up = np.meshgrid(self.across, self.up)
        self.ax_.plot_surface(across, up, self.values, cmap="Blues", alpha=0.85, linewidth=0, rcount=90, ccount=90)
        if self.path is not None and self.path_values is not None:
            lift = 0.01 * float(np.ptp(self.values))
            self.ax_.plot(*self.path.T, self.path_values + lift, color=ORANGE, linewidth=1.8, marker="o", markersize=3,
                          zorder=10)  # fmt: skip
        self.ax_.set_zlabel("J", color=GREY)
        for axis in (self.ax_.xaxis, self.ax_.yaxis, self.ax_.zaxis):
            axis.pane.set_facecolor("#F7F7F7")
            axis.pane.set_edgecolor("#DDDDDD")


def two_class_objective(
    X: Any, y: Any, criterion: Any = "perceptron", *, penalty: Any = None, fit_intercept: bool = True
) -> PointwiseObjective:
    """J of a two-class criterion on these rows; the second label, in sorted order, is positive."""
    classes, codes = encode_labels(np.asarray(y))
    if len(classes) != 2:
        raise DataError(f"A two-class criterion is drawn for two classes; y holds {len(classes)}.")
    made = make_criterion(criterion) if isinstance(criterion, str) else criterion
    coding = make_coding("two-class", 2, labels=made.labels, threshold=made.threshold)
    blocks = make_blocks(np.ascontiguousarray(X, dtype=np.float64), codes)
    return PointwiseObjective(blocks, made, coding, make_penalty(penalty), intercept=fit_intercept)


def _objective_of(estimator: Learner, X: Any, y: Any) -> PointwiseObjective:
    """J of a fitted estimator on rows, with its criterion, coding and penalty."""
    classes, codes = encode_labels(np.asarray(y))
    values = np.ascontiguousarray(X, dtype=np.float64)
    features = estimator.discriminant_.basis
    values = values if features is None else np.ascontiguousarray(features.transform(values))
    blocks, free = make_blocks(values, codes), bool(getattr(estimator, "fit_intercept", True))
    if isinstance(estimator, Deciding) and "criterion_" in vars(estimator):
        penalty = getattr(estimator, "penalty", None)
        made = None if isinstance(penalty, str) else make_penalty(penalty)
        return PointwiseObjective(blocks, estimator.criterion_, estimator.coding_, made, intercept=free)
    if not isinstance(estimator, LogisticRegression):
        raise DataError(f"{type(estimator).__name__} minimises no criterion over its weights; there is no surface.")
    return logistic_objective(blocks, len(classes), 1 / (estimator.C * len(codes)), free)


def _varied(shape: tuple[int, int], objective: Any) -> Entries:
    """The first two weights that matter: the intercept row only where there is an intercept."""
    first = 0 if objective.intercept else 1
    places = [(i, 0) for i in range(first, shape[0])] + [(first, j) for j in range(1, shape[1])]
    if len(places) < 2:
        raise DataError("There is one weight only; a surface needs two.")
    return places[0], places[1]


def _limits(A: Array, first: tuple[int, int], second: tuple[int, int], path: Array | None) -> Array:
    points = np.vstack([*([] if path is None else [path]), [A[first], A[second]]])
    low, high = points.min(axis=0), points.max(axis=0)
    room = np.maximum(0.35 * (high - low), 0.5 * np.maximum(np.abs(points).max(axis=0), 0.5))
    return np.column_stack([low - room, high + room])
