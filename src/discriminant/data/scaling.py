"""Centre and units of the columns: what makes solvers blind to offsets and units of measurement.

    z = a₀ + Σ_j a_j (x_j − c_j) / u_j

u_j is a power of two near the spread of column j, so that the change of units is exact.  c_j is one of the column's own
values near its mean, where the mean is large against the spread: x − c is then exact where it matters (Sterbenz's
lemma).  Sparse rows have no centre, which would fill their zeros.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.errors import DataError, columns
from discriminant.protocols import Array
from discriminant.thresholds import FAR_MEAN, SCALING_ROWS

LARGEST_UNIT = 2.0**500  # the squares of larger units overflow, those of smaller ones than its inverse vanish


@dataclass(frozen=True)
class Scaling:
    """Columns are (x − center) / unit."""

    center: Array | None  # (d,)
    unit: Array  # (d,), powers of two

    def to_user(self, A: Array) -> tuple[Array, Array | None]:
        """(weights (1+d, q) of x − center, center): the only way back."""
        return np.asarray(A / np.concatenate([[1.0], self.unit])[:, None]), self.center

    def from_user(self, A: Array) -> Array:
        """Weights of x with a plain intercept → weights of the scaled columns."""
        A = np.array(A, dtype=np.float64)
        if self.center is not None:
            A[0] += self.center @ A[1:]
        return np.asarray(A * np.concatenate([[1.0], self.unit])[:, None])


def choose_scaling(blocks: Any, intercept: bool) -> Scaling:
    """Centre and units from (a sample of) the rows."""
    n, d = blocks.n_rows, blocks.n_features
    if blocks.is_sparse:
        X = blocks.block(0, n).design.raw if blocks.in_memory else blocks.spread(80 * SCALING_ROWS).raw
        squares = np.bincount(X.indices, np.square(X.data.astype(np.float64)), minlength=d) if X.nnz else np.zeros(d)
        return Scaling(None, usable(power_of_two(np.sqrt(squares / max(X.shape[0], 1)))))
    some = max(512, SCALING_ROWS // max(d, 1))
    design = blocks.block(0, n).design if blocks.in_memory and n <= some else blocks.spread(some)
    values = design.values
    with np.errstate(over="ignore", invalid="ignore"):
        mean, size = values.mean(axis=0), size_of(values)
        # |mean| > F·spread, since spread² = size² − mean²: no second walk through the rows
        far = ~(np.abs(mean) <= FAR_MEAN / np.sqrt(1 + FAR_MEAN**2) * size) & np.isfinite(mean)
        if not intercept or not far.any():
            return Scaling(None, usable(power_of_two(size)))
        nearest = values[np.abs(values - mean).argmin(axis=0), np.arange(d)]
        center = np.where(far, nearest, 0.0)
        return Scaling(center, usable(power_of_two(size_of(values - center))))


def usable(units: Array) -> Array:
    """The units, unless their squares are beyond floats."""
    beyond = np.flatnonzero((units > LARGEST_UNIT) | (units < 1 / LARGEST_UNIT))
    if beyond.size:
        raise DataError(
            f"{columns(beyond.tolist(), None)}: the values are of the order {units[beyond[0]]:.1g}, and "
            "their squares are beyond what the machine can hold. Measure in another unit."
        )
    return units


def size_of(values: Array) -> Array:
    """Root mean squares of the columns, without overflow."""
    squares = np.einsum("ij,ij->j", values, values)
    if ((squares > 1e-30) & (squares < 1e30)).all():  # one walk, where squares are far from the ends of floats
        return np.asarray(np.sqrt(squares / len(values)))
    most = np.maximum(values.max(axis=0), -values.min(axis=0))
    most[~(most > 0)] = 1.0
    scaled = values / most
    return np.asarray(most * np.sqrt(np.einsum("ij,ij->j", scaled, scaled) / len(values)))


def power_of_two(size: Array) -> Array:
    """2^round(log₂ size); 1 where there is no size."""
    good = np.isfinite(size) & (size > 0)
    return np.where(good, np.exp2(np.round(np.log2(np.where(good, size, 1.0)))), 1.0)
