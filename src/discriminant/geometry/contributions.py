"""What each attribute adds to a score: the breakdown of a credit score.

    g(x) = g(r) + Σ_j w_j (x_j − r_j)

for any reference point r: the score of the reference plus a signed contribution of each attribute, in units of the
score.  The spread of a contribution over the rows, |w_j| std(x_j), puts attributes of different units on one scale.
Alpaydin 10.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.errors import DataError
from discriminant.protocols import Array


@dataclass(frozen=True, eq=False)
class Contributions:
    """w_j (x_j − r_j) for each row and attribute (and class, where there are more than two).

    It reads as an array of its ``values``: ``numpy.asarray(c)``, ``c[0]``, ``c.shape``.
    """

    values: Array  # (n, d), or (n, d, K) with one discriminant for each of K > 2 classes
    baseline: Array  # g(r): a number, or (K,)
    feature_names: tuple[str, ...]
    classes: tuple[Any, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    @property
    def scores(self) -> Array:
        """g(x) = baseline + Σ_j contributions, shape (n,) or (n, K)."""
        return np.asarray(self.baseline + self.values.sum(axis=1))

    def importance(self) -> Array:
        """The standard deviation of each attribute's contribution over the rows: |w_j| std(x_j), (d,) or (d, K)."""
        if len(self.values) < 2:
            raise DataError("Importance is a spread over rows; it needs at least two rows.")
        return np.asarray(self.values.std(axis=0))

    def row(self, index: int, target: Any = None) -> dict[str, float]:
        """One row's contributions by name, the strongest first; ``target`` names the class where there are several."""
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

    def __repr__(self) -> str:
        return f"Contributions(shape={self.shape}, baseline={np.asarray(self.baseline).round(4).tolist()})"
