"""Calibration: when a class was given a probability of about p, how often was it so?

Bins hold equally many rows, and each frequency has its 95 % interval (Wilson's), so that a bin of few rows does not
look like a finding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from discriminant.errors import DataError, MismatchError, names
from discriminant.io.table_model import classes_of
from discriminant.plots.display import Display, display
from discriminant.plots.theme import GREY, axes_for, color, marker, styled
from discriminant.protocols import Array, Probabilistic
from discriminant.report.measures import CalibrationBin, calibration, calibration_error


@display
class CalibrationDisplay(Display):
    """Observed frequency against predicted probability, a curve for each class.

    A calibrated model lies on the diagonal: of the rows that are given probability p, the share p belongs to the class.

    Parameters
    ----------
    curves : dict of label to list of CalibrationBin
        For each class its bins: predicted, observed, low, high, count.

    See Also
    --------
    PosteriorDisplay : The probabilities over two columns.

    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(2000)
    >>> y = (rng.random(2000) < p).astype(int)
    >>> display = plots.CalibrationDisplay.from_predictions(y, p)
    >>> len(display.curves[1]), display.error(1) < 0.05
    (10, True)
    """

    curves: dict[Any, list[CalibrationBin]]
    classes: Sequence[Any]

    @classmethod
    def from_estimator(
        cls, estimator: Probabilistic, X: Any, y: Any, *, bins: int = 10, ax: Any = None, **options: Any
    ) -> Self:
        """Compare the probabilities of a fitted classifier with labels, of rows that it has not learned from."""
        if not hasattr(estimator, "predict_proba"):
            raise MismatchError(f"{type(estimator).__name__} gives no probabilities to hold against the labels.")
        chances = np.asarray(estimator.predict_proba(X))
        return cls.from_predictions(y, chances, classes=classes_of(estimator), bins=bins, ax=ax, **options)

    @classmethod
    def from_predictions(
        cls, y: Any, probabilities: Any, *, classes: Any = None, bins: int = 10, ax: Any = None, **options: Any
    ) -> Self:
        """Compare probabilities with labels.

        Parameters
        ----------
        probabilities : array-like of shape (n, K) or (n,)
            In the order of ``classes``, or of the second of two classes.
        classes : sequence of K labels or None, default=None
            The classes; None: those of y, sorted.
        """
        labels, chances = np.asarray(y), np.asarray(probabilities, dtype=np.float64)
        known = np.unique(labels) if classes is None else np.asarray(classes)
        if chances.ndim == 1:
            chances = np.column_stack([1 - chances, chances])
        if chances.shape != (len(labels), len(known)):
            raise DataError(
                f"probabilities has shape {np.shape(probabilities)}; {len(labels)} rows and {len(known)} classes "
                f"({names(known.tolist())}) need {(len(labels), len(known))}, or one column for two classes."
            )
        wanted = range(1, 2) if len(known) == 2 else range(len(known))
        curves = {known.tolist()[k]: calibration(chances[:, k], labels == known[k], bins) for k in wanted}
        return cls(curves, known.tolist()).plot(ax=ax, **options)

    def error(self, label: Any) -> float:
        """The mean distance of observed from predicted, weighted by the rows of the bins.

        Parameters
        ----------
        label : label
            Of which class.

        Returns
        -------
        float
            Between 0 and 1.
        """
        return calibration_error(self.curves[label])

    @styled
    def plot(self, ax: Any = None) -> Self:
        """Draw the curves with their intervals, and the diagonal on which a calibrated model lies."""
        self.figure_, self.ax_ = axes_for(ax, (4.8, 4.6))
        self.ax_.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1.2, label="calibrated")
        for label, bins in self.curves.items():
            k = list(self.classes).index(label)
            table: Array = np.array([[one.predicted, one.observed, one.low, one.high] for one in bins])
            errors = np.abs(table[:, 2:].T - table[:, 1])
            self.ax_.errorbar(table[:, 0], table[:, 1], yerr=errors, color=color(k), marker=marker(k), markersize=5,
                              capsize=2.5, linewidth=1.5, elinewidth=0.9, label=str(label))  # fmt: skip
        self.ax_.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal", xlabel="predicted probability")
        self.ax_.set_ylabel("observed frequency")
        self.ax_.legend(loc="upper left")
        return self
