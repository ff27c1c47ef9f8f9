"""What each attribute adds to one row's score, as a waterfall from the reference to the score.

g(x) = g(r) + Σ_j w_j (x_j − r_j)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from discriminant.errors import DataError, MismatchError
from discriminant.model import discriminant_of
from discriminant.plots.display import Display, display
from discriminant.plots.theme import BLUE, GREY, INK, ORANGE, axes_for, color, styled
from discriminant.protocols import Array, Predictor


@display
class ContributionsDisplay(Display):
    """A waterfall of contributions: how the attributes of one row lead from the reference's score to its own.

    g(x) = g(r) + Σ_j w_j (x_j − r_j), a bar for each term (Alpaydin 10.1).

    Parameters
    ----------
    contributions : ndarray of shape (d,)
        w_j (x_j − r_j).
    baseline : float
        g(r), the score of the reference.
    feature_names : sequence of d str
        The attributes.
    values : ndarray of shape (d,) or None, default=None
        The row itself, to write beside the names.
    target : label, default=None
        For which class the score speaks.
    shades : tuple of two str, default=("#0072B2", "#D55E00")
        The colours of what speaks for it and against it.

    See Also
    --------
    discriminant.geometry.Contributions : What is drawn.

    >>> data = datasets.load("breast_cancer")
    >>> model = LogisticRegression(C=0.01).fit(data.X, data.y)
    >>> display = plots.ContributionsDisplay.from_estimator(model, data.X[:1], reference=data.X.mean(axis=0))
    >>> bool(abs(display.score - model.decision_function(data.X[:1])[0]) < 1e-9)
    True
    """

    contributions: Array
    baseline: float
    feature_names: Sequence[str]
    values: Array | None = None
    target: Any = None
    shades: tuple[str, str] = (BLUE, ORANGE)

    @property
    def score(self) -> float:
        """g(x): what the bars add up to."""
        return float(self.baseline + np.sum(self.contributions))

    @classmethod
    def from_estimator(
        cls, estimator: Predictor, x: Any, *, reference: Any = None, target: Any = None, ax: Any = None, **options: Any
    ) -> Self:
        """Explain one row.

        Parameters
        ----------
        x : array-like of shape (1, d)
            The row.
        reference : array-like of shape (d,) or None, default=None
            r; None: the centre of the fit, or the origin.
        target : label or None, default=None
            For which of more than two classes; None: the predicted one.
        """
        found = discriminant_of(estimator)
        if found is None:
            raise MismatchError(f"{type(estimator).__name__} has no linear discriminant whose score could be split up.")
        given = x if np.ndim(x) == 2 or hasattr(x, "columns") else np.atleast_2d(np.asarray(x, dtype=np.float64))
        if np.shape(given)[0] != 1:
            raise DataError(f"A waterfall explains one row; x has {np.shape(given)[0]}.")
        parts = found.contributions(given, reference)
        labels = list(parts.classes)
        wanted = target if target is not None else (labels[1] if len(labels) == 2 else found.predict(given)[0])
        if wanted not in labels:
            raise DataError(f"There is no class {wanted!r}; there are {labels}.")
        k, against = labels.index(wanted), GREY
        if parts.values.ndim == 2:
            sign = 1.0 if wanted == labels[1] else -1.0
            shares, baseline = sign * parts.values[0], sign * float(parts.baseline)
            against = color(1 - k)
        else:
            shares, baseline = parts.values[0, :, k], float(np.asarray(parts.baseline)[k])
        values = found._features(given)[0]
        return cls(shares, baseline, parts.feature_names, values, wanted, (color(k), against)).plot(ax=ax, **options)

    @styled
    def plot(self, ax: Any = None, *, most: int = 10) -> Self:
        """Draw the strongest contributions, the rest together.

        Parameters
        ----------
        most : int, default=10
            How many are drawn by themselves.
        """
        order = np.argsort(-np.abs(self.contributions), kind="stable")
        shown, rest = order[:most], order[most:]
        rows = [(self._name(int(j)), float(self.contributions[j])) for j in shown]
        if len(rest):
            rows.append((f"{len(rest)} others", float(self.contributions[rest].sum())))
        self.figure_, self.ax_ = axes_for(ax, (6.4, 0.9 + 0.34 * (len(rows) + 2)))
        at = self.baseline
        self.ax_.axvline(0, color=GREY, linewidth=0.7, zorder=0)
        for place, (_, size) in enumerate(rows, start=1):
            self.ax_.barh(place, size, left=at, color=self.shades[int(size < 0)], height=0.62, zorder=2)
            self.ax_.plot([at + size] * 2, [place - 0.31, place + 1.31], color=GREY, linewidth=0.7, zorder=1)
            edge = max(at, at + size)
            self.ax_.annotate(f"{size:+.3g}", (edge, place), xytext=(4, 0), textcoords="offset points", va="center",
                              fontsize=8.5)  # fmt: skip
            at += size
        ends = ((0, self.baseline), (len(rows) + 1, self.score))
        for place, value in ends:
            self.ax_.plot([value], [place], "D", color=INK, markersize=6, zorder=3)
            self.ax_.annotate(f"{value:+.3g}", (value, place), xytext=(8, 0), textcoords="offset points", va="center",
                              fontsize=9, fontweight="bold")  # fmt: skip
        self.ax_.set_yticks(range(len(rows) + 2), ["reference", *(name for name, _ in rows), "score"])
        self.ax_.invert_yaxis()
        self.ax_.use_sticky_edges = False
        self.ax_.margins(x=0.14)
        self.ax_.set_xlabel(f"score for {self.target}" if self.target is not None else "score")
        return self

    def _name(self, j: int) -> str:
        return str(self.feature_names[j]) + ("" if self.values is None else f" = {self.values[j]:.4g}")
