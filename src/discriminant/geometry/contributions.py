"""What each attribute adds to a score: the breakdown of a credit score.

    g(x) = g(r) + Σ_j w_j (x_j − r_j)

for any reference point r: the score of the reference plus a signed contribution of each attribute, in units of the
score.  The spread of a contribution over the rows, |w_j| std(x_j), puts attributes of different units on one scale.
Alpaydin 10.1.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.docstrings import documented
from discriminant.errors import DataError
from discriminant.protocols import Array
from discriminant.shown import Shown

MOST_ROWS, MOST_NAMES = 8, 5  # of a table that is shown


@documented
@dataclass(frozen=True, eq=False, repr=False)
class Contributions(Shown):
    """w_j (x_j − r_j) for each row and attribute (and class, where there are more than two).

    Together with the score of the reference r they add up to the score: g(x) = g(r) + Σ_j w_j (x_j − r_j)
    (Alpaydin 10.1).  It reads as an array of its ``values``: ``numpy.asarray(c)``, ``c[0]``, ``c.shape``.

    Attributes
    ----------
    values : ndarray of shape (n, d), or (n, d, K) for K > 2 classes
        The contributions.
    baseline : float, or ndarray of shape (K,)
        g(r), the score of the reference.
    feature_names : tuple of d str
        The attributes.
    classes : tuple of K labels
        The classes.

    See Also
    --------
    discriminant.LinearDiscriminant.contributions : Makes them.

    >>> model = LinearDiscriminantAnalysis().fit(iris.X, iris.y)
    >>> shares = model.discriminant_.contributions(iris.X)
    >>> shares.shape, bool(abs(shares.scores - model.decision_function(iris.X)).max() < 1e-9)
    ((150, 4, 3), True)
    """

    values: Array  # (n, d), or (n, d, K) with one discriminant for each of K > 2 classes
    baseline: Array  # g(r): a number, or (K,)
    feature_names: tuple[str, ...]
    classes: tuple[Any, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of ``values``."""
        return self.values.shape

    @property
    def scores(self) -> Array:
        """g(x) = baseline + Σ_j contributions, of shape (n,) or (n, K)."""
        return np.asarray(self.baseline + self.values.sum(axis=1))

    def importance(self) -> Array:
        """The standard deviation of each attribute's contribution over the rows, |w_j| std(x_j).

        Returns
        -------
        ndarray of shape (d,) or (d, K)
            On the scale of the score, so that attributes of different units compare.

        Raises
        ------
        DataError
            Where there are fewer than two rows.
        """
        if len(self.values) < 2:
            raise DataError("Importance is a spread over rows; it needs at least two rows.")
        return np.asarray(self.values.std(axis=0))

    def row(self, index: int, target: Any = None) -> dict[str, float]:
        """One row's contributions by name, the strongest first.

        Parameters
        ----------
        index : int
            Which row.
        target : label, default=None
            For which class, where there are more than two.

        Returns
        -------
        dict of str to float
            Contributions by attribute.

        Raises
        ------
        DataError
            Where there are several classes and ``target`` names none.
        """
        if self.values.ndim == 2:
            values = self.values[index]
        elif target in self.classes:
            values = self.values[index, :, self.classes.index(target)]
        else:
            raise DataError(f"Say for which class, one of {list(self.classes)}: each has a score of its own.")
        order = np.argsort(-np.abs(values), kind="stable")
        return {self.feature_names[j]: float(values[j]) for j in order}

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: Any) -> Any:
        return self.values[index]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.values, dtype=dtype) if copy else np.asarray(self.values, dtype=dtype)

    def to_frame(self) -> Any:
        """A column for each attribute, beside the baseline and the score, as a pandas data frame.

        Returns
        -------
        DataFrame
            A row for each row of X; of several classes a row for each class too, named in the index.
        """
        pd = importlib.import_module("pandas")

        parts = [self.values] if self.values.ndim == 2 else list(np.moveaxis(self.values, 2, 0))
        baseline = np.broadcast_to(self.baseline, (len(parts),))
        scores = self.scores.reshape(len(self), -1).T
        frames = [
            pd.DataFrame(part, columns=list(self.feature_names)).assign(baseline=base, score=score)
            for part, base, score in zip(parts, baseline, scores, strict=True)
        ]
        return frames[0] if len(frames) == 1 else pd.concat(dict(zip(self.classes, frames, strict=True)))

    def _shown(self) -> tuple[str, dict[str, list[str]], list[str], list[str]]:
        """The strongest contributions of the first rows; of several classes to the score of each row's largest."""
        rows = range(min(len(self), MOST_ROWS))
        largest = [None if self.values.ndim == 2 else self.classes[int(self.scores[i].argmax())] for i in rows]
        said = [
            ", ".join(f"{name} {value + 0.0:+.3g}" for name, value in list(self.row(i, k).items())[:MOST_NAMES])
            for i, k in zip(rows, largest, strict=True)
        ]
        table = {"row": [str(i) for i in rows]}
        table |= {"class": [str(label) for label in largest]} if self.values.ndim == 3 else {}
        table |= {"score": [f"{self.scores[i].max():.4g}" for i in rows], "strongest contributions": said}
        more = [f"{len(self)} rows in all: to_frame() has every contribution"] * (len(self) > MOST_ROWS)
        title = "Score = baseline + contributions of the attributes"
        if self.values.ndim == 2:
            title = f"Score for {self.classes[1]} = {float(self.baseline):.4g} + contributions of the attributes"
        return title, table, ["class", "strongest contributions"], more
