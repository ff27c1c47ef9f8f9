"""A basis inside an estimator: fitted once, then mapped block by block, in training and in prediction.

φ(X) is held as a whole only where it is small; else each pass works it out again, a block at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from discriminant.arrays import is_frame, is_sparse
from discriminant.data.rows import DenseDesign, DenseRows, MappedRows, SparseDesign, SparseRows, as_source, column_names
from discriminant.protocols import Array
from discriminant.thresholds import HELD_VALUES


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """A fitted basis, with the names of the columns it was fitted to."""

    basis: Any
    n_features: int  # d̂
    columns: tuple[str, ...] | None = None
    backend: str = "pandas"  # of the frame that it was fitted to

    def __repr__(self) -> str:
        return repr(self.basis)

    def transform(self, X: Any) -> Any:
        """φ(X); an array gets the column names back, where φ was fitted with names.  Squares of float32 are float64."""
        if (isinstance(X, np.ndarray) or is_sparse(X)) and X.dtype == np.float32:
            X = X.astype(np.float64)
        if self.columns is not None and isinstance(X, np.ndarray):
            import narwhals.stable.v2 as nw

            X = nw.from_numpy(X, schema=list(self.columns), backend=self.backend).to_native()  # type: ignore[arg-type]
        return self.basis.transform(X)

    def rows(self, X: Any) -> MappedRows:
        """φ of the rows of X, a block at a time."""
        return MappedRows(as_source(X), self.transform, self.n_features)

    def training_rows(self, X: Any) -> Any:
        """φ of the rows of X, all at once where that is small."""
        mapped = self.rows(X)
        n, d = mapped.shape
        if n * d > HELD_VALUES:
            return mapped
        design = mapped.design(0, n)
        return SparseRows(design.raw) if isinstance(design, SparseDesign) else DenseRows(design.raw)

    def names(self) -> list[str] | None:
        """The names of the features, where the basis has names for them."""
        if not hasattr(self.basis, "get_feature_names_out"):
            return None
        return [str(name) for name in self.basis.get_feature_names_out()]


def fit_features(basis: Any, X: Any, labels: Array) -> FeatureMap | None:
    """A copy of the basis, fitted to X; None where there is no basis."""
    if basis is None:
        return None
    from discriminant.bases import resolve  # loaded where there is a basis

    resolved = resolve(basis)
    if resolved is None:
        return None
    fitted = clone(resolved).fit(X, labels)
    first = MappedRows(as_source(X), fitted.transform, 0).design(0, 1)
    assert isinstance(first, DenseDesign | SparseDesign)
    if not is_frame(X):
        return FeatureMap(fitted, first.raw.shape[1])
    import narwhals.stable.v2 as nw

    backend = nw.get_native_namespace(nw.from_native(X, eager_only=True)).__name__
    return FeatureMap(fitted, first.raw.shape[1], column_names(X), backend)
