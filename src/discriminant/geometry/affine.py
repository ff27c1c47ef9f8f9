"""z = b + Wᵗ(φ(x) − c) over rows in blocks, and any function of z on top, in one pass over X.

A block of rows is brought to float64, moved by c and multiplied while it lies in the cache; what is kept of it is
decided there too (a label, a posterior, a distance), so that a prediction costs little more than reading X once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discriminant.arrays import is_frame, is_sparse
from discriminant.data import map_rows, require_finite
from discriminant.data.rows import (
    DenseRows,
    FrameRows,
    MappedRows,
    SparseDesign,
    SparseRows,
    as_rows,
    as_source,
    column_names,
)
from discriminant.data.threads import held_product, scratch
from discriminant.errors import DataError, names
from discriminant.protocols import Array
from discriminant.thresholds import PREDICT_BLOCK, PREDICT_WORK, ROW_WORK

NEAR = 1e3  # Σ_j |c_j w_j| up to which w₀ + Wᵗx is as right as 2e-13, so that x − c need not be formed


class _NotFinite(ArithmeticError):
    """A score of some block is NaN or infinite; the rows are read again to say why."""


@dataclass(frozen=True, eq=False)
class AffineMap:
    """x ↦ b + Wᵗ(φ(x) − c), with b in row 0 of ``weights`` (1 + d, q)."""

    weights: Array
    center: Array | None = None  # c, (d,), or None for zeros
    basis: Any = None
    feature_names: Sequence[str] | None = None
    absolute: bool = False  # an error of 2e-13 in z is nothing: z is a logarithm

    def apply(self, then: Callable[[Array], Array], X: Any, width: int | None, dtype: Any = None) -> Array:
        """then(z) for the rows of X, stacked: (n, width), or (n,) where width is None."""
        X = self._checked(X)
        dtype = dtype or (np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64)
        try:
            # NaN and overflow are found in z and reported; what is too large for float32 is infinite there.
            with np.errstate(invalid="ignore", over="ignore"):
                if isinstance(X, np.ndarray) and X.size <= PREDICT_BLOCK and self.basis is None:
                    with held_product(X.size * self.weights.shape[1]):
                        found = then(self._finite(self._dense_scores(X)))
                    return found if found.dtype == dtype else found.astype(dtype)
                rows = (
                    as_rows(X)
                    if self.basis is None
                    else MappedRows(as_source(X), self._transform, len(self.weights) - 1)
                )
                tall = max(1, PREDICT_BLOCK // max(self.weights.shape)) if isinstance(rows, DenseRows) else 0
                few = tall > 0 and rows.shape[0] * (rows.shape[1] + ROW_WORK) * self.weights.shape[1] < PREDICT_WORK
                return map_rows(lambda design: then(self._block(design)), rows, width, dtype, tall, few)
        except _NotFinite:
            require_finite(X, self.feature_names if self.basis is None else None, estimator="A linear discriminant")
            raise DataError(
                "The scores of some rows are infinite although X is not: its values are too large. Rescale the columns."
            ) from None

    @cached_property
    def plain(self) -> Array:
        """The weights of the form w₀ + Wᵗx; the products with c are summed in more than double precision."""
        if self.center is None:
            return self.weights
        result = np.array(self.weights)
        products = self.weights[1:].astype(np.longdouble) * self.center[:, None]
        result[0] = (self.weights[0] - products.sum(axis=0)).astype(np.float64)
        return result

    @cached_property
    def _may_skip_center(self) -> bool:
        if self.center is None or not self.center.any():
            return True
        return self.absolute and bool((np.abs(self.center) @ np.abs(self.weights[1:])).max() <= NEAR)

    @cached_property
    def _step(self) -> int:
        """How many rows are multiplied at once."""
        return max(1, PREDICT_BLOCK // len(self.weights))

    @cached_property
    def _parts(self) -> tuple[Array, Array]:
        """(intercepts, slopes) of the form that rows are multiplied by."""
        weights = self.plain if self._may_skip_center else self.weights
        return weights[0], weights[1:]

    @cached_property
    def _intercepts(self) -> Array:
        return np.tile(self._parts[0], self._step)

    def _checked(self, X: Any) -> Any:
        if type(X) is np.ndarray:  # asked first: the prediction of a row takes no longer than four other questions
            pass
        elif isinstance(X, DenseRows | SparseRows):
            X = X.X
        elif not isinstance(X, np.ndarray | FrameRows) and not is_sparse(X) and not is_frame(X):
            X = np.asarray(X)
        if self.basis is not None:
            return X
        d = len(self.weights) - 1
        width = X.shape[1] if len(X.shape) == 2 else as_rows(X).shape[1]
        if width != d:
            raise DataError(f"X has {width} features, but this discriminant is expecting {d} features as input.")
        if self.feature_names is not None and is_frame(X) and column_names(X) != self.feature_names:
            raise DataError(_names_differ(column_names(X), self.feature_names))
        return X

    def _transform(self, X: Any) -> Any:
        """φ(x) of some rows; of float32 in double precision, for squares lose half of their digits there."""
        if is_frame(X):
            import narwhals.stable.v2 as nw
            from narwhals.stable.v2.selectors import by_dtype

            X = nw.from_native(X).with_columns(by_dtype(nw.Float32).cast(nw.Float64)).to_native()
        elif X.dtype == np.float32:
            X = X.astype(np.float64)
        return self.basis.transform(X)

    def _block(self, design: Any) -> Array:
        """z, (rows, q)."""
        sparse = isinstance(design, SparseDesign)
        return self._finite(
            design.values @ self.plain[1:] + self.plain[0] if sparse else self._dense_scores(design.raw)
        )

    def _finite(self, z: Array) -> Array:
        if not math.isfinite(np.add.reduce(z, axis=None)) and not np.isfinite(z).all():
            raise _NotFinite
        return z

    def _dense_scores(self, raw: Array) -> Array:
        n, step = len(raw), self._step
        z = np.empty((n, self.weights.shape[1]))
        if n <= step:
            self._multiply(raw, z)
            return z
        for start in range(0, n, step):
            self._multiply(raw[start : start + step], z[start : start + step])
        return z

    def _multiply(self, x: Array, z: Array) -> None:
        """z ← b + Wᵗ(x − c) for a few rows, brought to float64 and moved where they stay in the cache."""
        intercept, slopes = self._parts
        if self.center is not None and not self._may_skip_center:
            values = scratch("moved", x.shape)
            np.subtract(x, self.center, out=values, casting="unsafe")
        elif x.dtype == np.float64:
            values = x
        else:
            values = scratch("moved", x.shape)
            np.copyto(values, x, casting="unsafe")
        np.matmul(values, slopes, out=z)
        if len(z) < self._step:
            z += intercept
        else:  # the same; but NumPy adds a short row in runs of q, ten times slower for three outputs
            flat = z.reshape(-1)
            flat += self._intercepts


def _names_differ(given: Sequence[str], expected: Sequence[str]) -> str:
    if sorted(given) == sorted(expected):
        return f"The columns of X are in another order than at fit: {names(given)} instead of {names(expected)}."
    missing = [name for name in expected if name not in given]
    unknown = [name for name in given if name not in expected]
    return f"The feature names should match those of the fit: {names(missing)} missing, {names(unknown)} not known."
