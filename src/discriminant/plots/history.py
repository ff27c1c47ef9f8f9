"""How a fit went: the criterion, the gradient, the errors and the steps against the iteration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from discriminant.errors import DataError, names
from discriminant.optimize import Corrections
from discriminant.optimize.history import EMPTY, history_of
from discriminant.plots.display import Display, display
from discriminant.plots.theme import axes_for, styled
from discriminant.protocols import Array
from discriminant.shown import COLORS

WORDS = {
    "objective": "criterion J",
    "gradient_norm": "gradient norm ‖∇J‖",
    "errors": "misclassified rows",
    "step": "step η",
    "corrections": "corrections",
}


@display
class HistoryDisplay(Display):
    """Columns of a history against the step.

    With the certificate's lower bound the remaining gap shows.

    Parameters
    ----------
    steps : ndarray of shape (n,)
        The number of each step.
    values : dict of str to ndarray of shape (n,)
        The columns.
    certified : float or None, default=None
        A proved lower bound of J, drawn as a line.

    See Also
    --------
    discriminant.optimize.History : What is drawn.

    >>> data = datasets.load("breast_cancer")
    >>> model = LogisticRegression(optimizer="newton").fit(data.X, data.y)
    >>> plots.HistoryDisplay.from_estimator(model).ax_.get_ylabel()
    'objective'
    """

    steps: Array
    values: dict[str, Array]
    certified: float | None = None

    @classmethod
    def from_history(
        cls, history: Any, columns: str | Sequence[str] = "objective", *, ax: Any = None, **options: Any
    ) -> Self:
        """Draw columns of a ``History``.

        Parameters
        ----------
        history : History
            The history.
        """
        source = history.epochs if isinstance(history, Corrections) and columns != "weights" else history
        wanted = [columns] if isinstance(columns, str) else list(columns)
        if not len(source):
            raise DataError(f"This history is empty: {EMPTY}.")
        values = {name: np.asarray(source[name], dtype=np.float64) for name in wanted}
        wide = [name for name, column in values.items() if column.ndim != 1]
        if wide:
            raise DataError(f"The columns {names(wide)} hold arrays; CriterionSurfaceDisplay draws weights.")
        steps = np.asarray(source["k"]) if "k" in source else np.arange(len(source))
        return cls(steps, values).plot(ax=ax, **options)

    @classmethod
    def from_estimator(
        cls, estimator: object, columns: str | Sequence[str] = "objective", *, ax: Any = None, **options: Any
    ) -> Self:
        """Draw the ``history_`` of a fitted estimator.

        Parameters
        ----------
        estimator : classifier
            Fitted, with ``history_``.
        """
        history = history_of(estimator)
        if history is None:
            raise DataError(f"{type(estimator).__name__} has no history_: it is not fitted, or has a closed form.")
        return cls.from_history(history, columns, ax=ax, **options)

    @styled
    def plot(self, ax: Any = None, *, log: bool | None = None) -> Self:
        """Draw the columns against the step.

        Parameters
        ----------
        log : bool or None, default=None
            Whether the vertical axis is logarithmic; None: where it spans three decades.
        """
        self.figure_, self.ax_ = axes_for(ax, (5.2, 3.4))
        for (name, column), shade in zip(self.values.items(), COLORS, strict=False):
            points = {"marker": "o", "markersize": 3.5} if len(column) <= 60 else {}
            self.ax_.plot(self.steps, column, color=shade, label=WORDS.get(name, name.replace("_", " ")), **points)
        if self.certified is not None:
            self.ax_.axhline(self.certified, color="#7A7A7A", linestyle="--", linewidth=1, label="proved lower bound")
        every = np.concatenate([column[np.isfinite(column)] for column in self.values.values()])
        spread = len(every) and every.min() > 0 and every.max() > 1e3 * every.min()
        if log or (log is None and spread):
            self.ax_.set_yscale("log")
        self.ax_.set_xlabel("step")
        first = next(iter(self.values))
        if len(self.values) == 1 and self.certified is None:
            self.ax_.set_ylabel(first.replace("_", " "))
        else:
            self.ax_.legend()
        return self
