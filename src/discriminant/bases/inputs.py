"""Rows as a basis reads them: two dimensions, real numbers, no NaN, float32 kept, column names remembered.

The checks are those of scikit-learn (same built-in exception types, and its wording where its own checks look for it)
without its import.  Dense arrays are handed on uncopied; sparse matrices become CSR where the basis can use them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from discriminant.arrays import first_not_finite, is_sparse
from discriminant.errors import DataError, MismatchError, columns, not_finite, warn
from discriminant.protocols import Array


class Rows(NamedTuple):
    """The values (an array, or CSR) and the names of the columns where X has them."""

    values: Any
    names: list[str] | None


class Fitted(NamedTuple):
    """The columns that ``fit`` saw: their number, and their names where they had some."""

    n_features: int
    names: list[str] | None


def read(X: Any, owner: str, *, sparse: bool = False, fitted: Fitted | None = None) -> Rows:
    """X (n, d) as floats, refused in a sentence where it cannot be; ``owner`` is the basis that reads."""
    names = column_names(X)
    if fitted is not None:
        _same_names(names, fitted.names, owner)
    values = _sparse(X, owner, sparse) if is_sparse(X) else _dense(X, names)
    n, d = values.shape
    for count, what in ((n, "sample"), (d, "feature")):
        if count < 1:
            raise DataError(f"X has 0 {what}(s) (shape={values.shape}) while a minimum of 1 is required by {owner}.")
    if fitted is not None and d != fitted.n_features:
        raise DataError(f"X has {d} features, but {owner} is expecting {fitted.n_features} features as input.")
    require_finite(values, names, owner)
    return Rows(values, names)


def column_names(X: Any) -> list[str] | None:
    """The names of a frame's columns; None for arrays and for frames whose columns are all numbered."""
    if isinstance(X, np.ndarray) or not (hasattr(X, "columns") and hasattr(X, "shape")):
        return None
    found = list(getattr(X, "column_names", X.columns))  # pyarrow's "columns" are the values
    texts = [isinstance(name, str) for name in found]
    if not any(texts):
        return None
    if not all(texts):
        odd = next(name for name in found if not isinstance(name, str))
        raise MismatchError(
            "Feature names are only supported if all input features have string names: "
            f"column {odd!r} has a name of type {type(odd).__name__}. Use X.columns = X.columns.astype(str)."
        )
    return [str(name) for name in found]


def _sparse(X: Any, owner: str, accepted: bool) -> Any:
    if not accepted:
        raise MismatchError(
            f"Sparse data was passed, and {owner} turns zeros into non-zeros, so its features would be dense: "
            "pass X.toarray() if it fits in memory."
        )
    if X.dtype.kind == "c":
        raise DataError("Complex data not supported: X is a sparse matrix of complex numbers.")
    values = X.tocsr()
    return values if values.dtype in (np.float64, np.float32) else values.astype(np.float64)


def _dense(X: Any, names: Sequence[str] | None) -> Array:
    array = X.to_numpy() if names is not None and hasattr(X, "to_numpy") else np.asarray(X)
    if array.dtype.kind == "c":
        raise DataError("Complex data not supported: X holds complex numbers; give their real and imaginary parts.")
    if array.ndim != 2:
        raise DataError(
            f"Expected 2D array, got {array.ndim}D array instead: one row per sample, one column per feature. Reshape "
            "your data using X.reshape(-1, 1) if it has a single feature, or X.reshape(len(X), -1) if rows are images."
        )
    if array.dtype in (np.float64, np.float32):
        return array
    if array.dtype.kind in "fiub":
        return array.astype(np.float64)
    return _numbers(array, names)


def _numbers(array: Array, names: Sequence[str] | None) -> Array:
    """Objects or texts as floats, or the first column that holds something else, by name."""
    array = array.astype(object)  # texts as Python's own, for the sentence
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        for j, i in np.ndindex(array.shape[::-1]):
            try:
                float(array[i, j])
            except (TypeError, ValueError) as reason:
                error = MismatchError if isinstance(reason, TypeError) else DataError
                raise error(
                    f"{columns([j], names)} holds {array[i, j]!r} in row {i}, and a basis needs numbers "
                    f"({reason}): encode it (for example with sklearn.preprocessing.OneHotEncoder) or drop it."
                ) from None
        raise


def require_finite(values: Any, names: Sequence[str] | None, owner: str) -> None:
    """Raise a sentence that names the first column with NaN or infinity."""
    entries = values.data if is_sparse(values) else values
    with np.errstate(over="ignore", invalid="ignore"):
        total = entries.sum()
    if np.isfinite(total) or np.isfinite(entries).all():
        return
    row, column, value = first_not_finite(values)
    raise not_finite(value, f"{columns([column], names)} in row {row}", owner)


def _same_names(given: list[str] | None, fitted: list[str] | None, owner: str) -> None:
    """Refuse columns whose names are not those of ``fit``; warn where only one of the two had names."""
    if fitted is not None and given is not None:
        if fitted != given:
            raise DataError(_names_differ(fitted, given))
    elif fitted is not None or given is not None:
        has, had = ("has", "without") if fitted is None else ("does not have valid", "with")
        warn(f"X {has} feature names, but {owner} was fitted {had} feature names")


def _names_differ(fitted: list[str], given: list[str]) -> str:
    text = "The feature names should match those that were passed during fit.\n"
    unseen, missing = sorted(set(given) - set(fitted)), sorted(set(fitted) - set(given))
    for title, some in (("unseen at fit time", unseen), ("seen at fit time, yet now missing", missing)):
        if some:
            more = [f"- and {len(some) - 5} more"] if len(some) > 5 else []
            text += f"Feature names {title}:\n" + "".join(f"{line}\n" for line in [f"- {n}" for n in some[:5]] + more)
    if not unseen and not missing:
        text += "Feature names must be in the same order as they were in fit.\n"
    return text
