"""What arrays of other libraries are, told by their attributes, so that no library is loaded to find out."""

from __future__ import annotations

from typing import Any

import numpy as np

from discriminant.protocols import Array


def is_sparse(X: Any) -> bool:
    """Whether X is a SciPy sparse matrix or array."""
    return hasattr(X, "nnz") and hasattr(X, "tocsr")


def is_frame(X: Any) -> bool:
    """Whether X is a data frame."""
    return hasattr(X, "columns") and hasattr(X, "shape") and not isinstance(X, np.ndarray) and not callable(X.columns)


def as_dense(X: Any) -> Array:
    """X as an array, a sparse matrix written out."""
    return np.asarray(X.toarray() if is_sparse(X) else X)
