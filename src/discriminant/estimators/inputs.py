"""What every estimator does with its input: rows, labels and weights checked once, in sentences, without a copy.

X keeps its storage: arrays of any order and type, sparse matrices and data frames go on to ``data`` as they are.
Missing values are not searched here; the sums show them (``data.check``).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted, validate_data

from discriminant.data import ArrayBlocks, as_rows, encode_labels, is_frame, make_blocks
from discriminant.data.check import check_weights
from discriminant.data.labels import code_type
from discriminant.data.rows import require_rows, require_unique_names
from discriminant.data.sources import find_source
from discriminant.errors import DataError, ScaleWarning, names, warn
from discriminant.estimators.compiled import TRUSTED, note_columns, require_columns
from discriminant.estimators.parameters import require_valid
from discriminant.protocols import Array

Method = TypeVar("Method", bound=Callable[..., Any])


@dataclass(frozen=True)
class Sample:
    """Training rows with class codes and weights."""

    blocks: ArrayBlocks
    classes: Array
    codes: Any  # (n,), or what stands for them in blocks that are not in memory
    weight: Any
    dtype: Any  # of the results: float32 for float32 input, else float64

    @property
    def X(self) -> Any:
        return self.blocks.rows

    @property
    def counts(self) -> Array:
        """(K,): the weight of each class."""
        return self.blocks.counts(len(self.classes))


def all_or_nothing(fit: Method) -> Method:
    """A fit that fails leaves the estimator as it was: never half of a new model on top of an old one.

    NumPy's floating-point warnings are held back: what overflows is found in the result and told in a sentence that
    names the column, which they cannot do.  Parameters are checked before anything else.
    """

    @functools.wraps(fit)
    def whole(self: Any, *args: Any, **kwargs: Any) -> Any:
        require_valid(self)
        before = dict(vars(self))
        try:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                return fit(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return whole  # type: ignore[return-value]


def require_fitted(estimator: Any) -> None:
    """Refuse an estimator without fitted attributes; one look where scikit-learn's check inspects the whole class."""
    if "n_features_in_" not in vars(estimator):
        check_is_fitted(estimator)


def read_rows(estimator: Any, X: Any, *, reset: bool) -> Any:
    """X, checked for shape, type and feature names, in the storage in which it came."""
    if not reset and type(X) is np.ndarray and X.ndim == 2 and X.dtype == np.float64 and len(X):
        # What scikit-learn's check would hand back unseen; it takes five times as long as the prediction of one row.
        known = vars(estimator)
        if known.get("n_features_in_") == X.shape[1] and "feature_names_in_" not in known:
            return X
    if TRUSTED.get() and hasattr(estimator, "n_features_in_"):
        return X
    require_unmasked(X, "X")
    require_rows(X)
    if is_frame(X):
        require_unique_names(X)
        validate_data(estimator, X=X, reset=reset, skip_check_array=True)
        for count, what in zip(X.shape, ("row", "column"), strict=True):
            if count == 0:
                raise DataError(f"The data frame has 0 {what}s; at least one is needed.")
        return X
    accept = ("csr", "csc") if estimator.__sklearn_tags__().input_tags.sparse else False
    kind = getattr(getattr(X, "dtype", None), "kind", "f")
    if kind in "mM":
        raise DataError(
            f"X holds {X.dtype} values: dates and durations are no numbers. Take a difference in days, say."
        )
    if reset and kind in "iu":
        _tell_of_rounding(X)
    try:
        return validate_data(
            estimator, X=X, reset=reset, accept_sparse=accept, dtype="numeric", ensure_all_finite=False
        )
    except TypeError as error:
        if "NAType" not in str(error):
            raise
        raise DataError("X contains missing values (pandas' NA); drop those rows, or fill them first.") from error


def _tell_of_rounding(X: Any) -> None:
    """Warn of integers that float64 cannot hold: identifiers, times in nanoseconds."""
    values = X.data if hasattr(X, "indptr") else X
    if values.dtype.itemsize < 8 or not values.size:
        return
    extremes = int(values.min()), int(values.max())
    if max(abs(value) for value in extremes) > 2**53:
        warn(
            f"X holds integers as large as {max(extremes, key=abs)}; beyond 2**53 they are rounded. Subtract a "
            "constant first, or leave out columns that are identifiers.",
            ScaleWarning,
        )


def require_unmasked(values: Any, name: str) -> None:
    """Refuse masked entries, which NumPy's conversions would bring to light as if they were data."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise DataError(
            f"{name} has {int(np.ma.getmaskarray(values).sum())} masked entries, which are missing values. Drop those "
            "rows, or fill them first."
        )


def read_sample(estimator: Any, X: Any, y: Any, sample_weight: Any = None, classes: Any = None) -> Sample:
    """Training data as blocks of rows with class codes; ``classes``: the labels known already (``partial_fit``)."""
    source = find_source(X)
    if source is not None:
        return _source_sample(estimator, source, y, sample_weight, classes)
    if y is None:
        raise DataError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    rows = as_rows(read_rows(estimator, X, reset=classes is None or not hasattr(estimator, "n_features_in_")))
    labels = read_labels(y, rows.shape[0])
    found, codes = encode_labels(labels)
    if classes is not None:
        found, codes = _recode(found, codes, np.asarray(classes))
    require_two(found)
    weight = check_weights(sample_weight, rows.shape[0], codes if classes is None else None)
    dtype = np.float32 if getattr(getattr(rows, "X", None), "dtype", None) == np.float32 else np.float64
    return Sample(make_blocks(rows, codes, weight), found, codes, weight, dtype)


def require_two(classes: Array) -> None:
    """Refuse labels that are all the same."""
    if len(classes) < 2:
        raise DataError(
            f"y holds one class only ({names(list(classes))}); a discriminant needs at least two classes to tell apart."
        )


def _source_sample(estimator: Any, source: Any, y: Any, sample_weight: Any, classes: Any) -> Sample:
    """Training rows of a file, a Dask collection or a device: in blocks that come from there."""
    blocks, found = source.training(y, sample_weight, None if classes is None else np.asarray(classes))
    if classes is None or not hasattr(estimator, "n_features_in_"):
        note_columns(estimator, source)
    else:
        require_columns(estimator, source)
    require_two(found)
    return Sample(blocks, found, blocks.target, blocks.weight, source.dtype)


def read_labels(y: Any, n_rows: int) -> Array:
    """y as a one-dimensional array with a label for every row."""
    require_unmasked(y, "y")
    if isinstance(y, list | tuple):
        y = _as_objects(y) if _loses_in_an_array(y) else y
    labels = column_or_1d(y, warn=True)
    if len(labels) != n_rows:
        raise DataError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows and y has {len(labels)}."
        )
    return np.asarray(labels)


def _loses_in_an_array(y: list[Any] | tuple[Any, ...]) -> bool:
    """Whether NumPy would make other labels of these: [1, "a"] strings, [True, 2] ones, "a\\0" the same as "a"."""
    kinds = set(map(type, y))
    if len(kinds) > 1:
        return True
    kind = next(iter(kinds), object)
    if issubclass(kind, str):
        return any(label.endswith("\0") for label in y)
    if issubclass(kind, bytes):
        return any(label.endswith(b"\0") for label in y)
    return kind is int and not -(2**63) <= min(y) <= max(y) < 2**63


def _as_objects(y: list[Any] | tuple[Any, ...]) -> Array:
    """The labels one by one; what is a list itself makes a second dimension, and is refused for it."""
    return np.array(y, dtype=object)


def _recode(found: Array, codes: Array, classes: Array) -> tuple[Array, Array]:
    position = {label: k for k, label in enumerate(classes.tolist())}
    unknown = [label for label in found.tolist() if label not in position]
    if unknown:
        known = names(list(classes))
        raise DataError(f"y contains the class {names(unknown)}, which is not among the classes {known}.")
    table: Array = np.array([position[label] for label in found.tolist()], dtype=code_type(len(classes)))
    if codes.dtype == table.dtype and (table == np.arange(len(table))).all():
        return classes, codes
    return classes, table[codes]
