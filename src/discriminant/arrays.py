"""What arrays of other libraries are, recognised by their attributes, so that no library is loaded to find out."""

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


def axis_labels(values: Any, axis: str) -> list[Any] | None:
    """What pandas' ``index`` or ``columns`` names; None where they only count, or there are none."""
    found = getattr(values, "index", None) if axis == "index" else getattr(values, "columns", None)
    counts = type(found).__name__ == "RangeIndex" or callable(found)
    return None if found is None or counts else list(found)


def is_foreign(X: Any) -> bool:
    """Whether X is an array of another library: torch, CuPy, one that follows the array API standard."""
    if isinstance(X, np.ndarray | np.generic):
        return False
    return type(X).__module__.partition(".")[0] in ("torch", "cupy") or hasattr(X, "__array_namespace__")


def in_memory(X: Any) -> Array:
    """X, wherever it lies, as a NumPy array."""
    if not is_foreign(X):
        return np.asarray(X)
    kind = type(X).__module__.partition(".")[0]
    if kind == "torch":
        X = X.detach()
        return np.asarray((X.float() if str(X.dtype) == "torch.bfloat16" else X).cpu().numpy())
    return np.asarray(X.get() if kind == "cupy" else np.from_dlpack(X))


def as_dense(X: Any) -> Array:
    """X as a NumPy array, a sparse matrix written out."""
    return np.asarray(X.toarray()) if is_sparse(X) else in_memory(X)


def first_not_finite(values: Any) -> tuple[int, int, float]:
    """Row, column and value of the first entry that is NaN or infinite."""
    if is_sparse(values):
        coo = values.tocoo()
        at = int(np.argmin(np.isfinite(coo.data)))
        return int(coo.row[at]), int(coo.col[at]), float(coo.data[at])
    row, column = (int(i) for i in np.argwhere(~np.isfinite(values))[0])
    return row, column, float(values[row, column])
