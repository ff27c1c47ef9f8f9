"""Coefficients along the strength of a penalty: each weight against λ, from all zero to free."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from discriminant.arrays import as_dense
from discriminant.errors import DataError
from discriminant.estimators.logistic import LogisticRegression
from discriminant.plots.display import Display, display
from discriminant.plots.theme import GREY, axes_for, styled
from discriminant.protocols import Array
from discriminant.shown import COLORS


@display
class CoefficientPathDisplay(Display):
    """Weights of one output against λ (logarithmic, the strongest penalty at the left).

    Weights enter one after the other as the penalty fades.

    Parameters
    ----------
    lambdas : ndarray of shape (L,)
        λ.
    coefs : ndarray of shape (L, d)
        The weights at each λ.
    feature_names : sequence of d str
        The columns.
    ylabel : str, default="weight"
        What the vertical axis shows.

    See Also
    --------
    discriminant.logistic_path : Computes the path.

    >>> data = datasets.load("breast_cancer")
    >>> display = plots.CoefficientPathDisplay.from_data(data.X, data.y, n_lambdas=20, standardize=True)
    >>> display.coefs.shape, bool((display.coefs[0] == 0).all())
    ((20, 30), True)
    """

    lambdas: Array
    coefs: Array
    feature_names: Sequence[str]
    chosen: float | None = None
    ylabel: str = "weight"

    @classmethod
    def from_path(
        cls,
        path: Any,
        *,
        spread: Any = None,
        output: int = 0,
        chosen: float | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw a ``LogisticPath``.

        Parameters
        ----------
        path : LogisticPath
            The path.
        spread : array-like of shape (d,) or None, default=None
            Multiplies the weights, so that columns of different units share a scale.
        """
        coefs = np.asarray(path.coefs)[:, output] * (1.0 if spread is None else np.asarray(spread))
        titles = path.feature_names or [f"x{j}" for j in range(coefs.shape[1])]
        ylabel = "weight" if spread is None else "weight × spread of the column"
        if len(path.classes) > 2:
            ylabel += f" for {path.classes[output]}"
        return cls(np.asarray(path.lambdas), coefs, list(titles), chosen, ylabel).plot(ax=ax, **options)

    @classmethod
    def from_data(cls, X: Any, y: Any, *, output: int = 0, ax: Any = None, names: int = 6, **options: Any) -> Self:
        """Compute ``logistic_path(X, y, **options)`` and draw each weight times the spread of its column.

        Parameters
        ----------
        names : int, default=6
            How many weights are named at their ends.
        **options : any
            Options of ``logistic_path``.
        """
        from discriminant.estimators.logistic_path import logistic_path

        path = logistic_path(X, y, **options)
        return cls.from_path(path, spread=_spread(X), output=output, ax=ax, names=names)

    @classmethod
    def from_estimator(cls, estimator: LogisticRegression, X: Any, y: Any, *, ax: Any = None, **options: Any) -> Self:
        """The path of a fitted ``LogisticRegression``'s penalty on these rows, with its own strength marked.

        Parameters
        ----------
        estimator : LogisticRegression
            Fitted.
        **options : any
            Options of ``logistic_path``.
        """
        if not hasattr(estimator, "C") or not hasattr(estimator, "l1_ratio"):
            raise DataError(f"{type(estimator).__name__} has no penalty path; LogisticRegression has.")
        from discriminant.estimators.logistic_path import logistic_path

        C = float(np.ravel(getattr(estimator, "C_", estimator.C))[0])
        ratio = float(np.ravel(getattr(estimator, "l1_ratio_", estimator.l1_ratio or 0.0))[0] or 0.0)
        # Without an l1 part there is no λ at which all is zero; a little of it gives the path a start.
        path = logistic_path(X, y, l1_ratio=max(ratio, 1e-3), fit_intercept=bool(estimator.fit_intercept))
        chosen = 1 / (C * path.total_weight) if np.isfinite(C) else None
        return cls.from_path(path, spread=_spread(X), chosen=chosen, ax=ax, **options)

    @styled
    def plot(self, ax: Any = None, *, names: int = 6) -> Self:
        """Draw; the weights that grow largest are named at their ends.

        Parameters
        ----------
        names : int, default=6
            How many are named.
        """
        self.figure_, self.ax_ = axes_for(ax, (6.4, 4.2))
        order = np.argsort(-np.abs(self.coefs[-1]), kind="stable")
        for rank, j in enumerate(order):
            named = rank < names
            label = str(self.feature_names[j]) if named else None
            shade = COLORS[rank % len(COLORS)] if named else "#C4C4C4"
            if (self.coefs[:, j] != 0).any():
                self.ax_.plot(self.lambdas, self.coefs[:, j], color=shade, linewidth=1.8 if named else 1.0,
                              zorder=3 if named else 2, label=label)  # fmt: skip
        self.ax_.axhline(0, color=GREY, linewidth=0.7)
        if self.chosen is not None:
            self.ax_.axvline(self.chosen, color=GREY, linestyle=":", linewidth=1.2)
        self.ax_.set(xscale="log", xlim=(float(self.lambdas.max()), float(self.lambdas.min())))
        self.ax_.set(xlabel="strength of the penalty λ", ylabel=self.ylabel)
        if names:
            self.ax_.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        return self


def _spread(X: Any) -> Array:
    values = as_dense(X)
    return np.asarray(np.std(np.asarray(values, dtype=np.float64), axis=0))
