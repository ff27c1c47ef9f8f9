"""Under ``patch_sklearn``: what the fits of one fold have in common is done once.

A search fits every setting on every fold, and each time scikit-learn copies the rows of the fold and fits the scaler
before the classifier anew.  While a search runs, the copies, and what scalers make of them, are kept (read-only) and
handed out again, and fits of the same copy share what does not depend on the penalty, which their blocks remember.
With ``n_jobs`` the fits run in threads of this process: compiled passes run beside each other, no worker has to start,
and what is kept serves all of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from threading import RLock
from typing import Any

import numpy as np
from joblib import parallel_config
from joblib.parallel import get_active_backend
from sklearn import pipeline
from sklearn.base import BaseEstimator

from discriminant.data.threads import single_threaded_blas
from discriminant.thresholds import FOLD_BYTES


@dataclass
class Fold:
    """Rows that several fits learn from, and what they have in common."""

    X: np.ndarray[Any, Any]
    y: Any
    sample: Any = None  # blocks that remember
    made: dict[Any, tuple[Fold, Any]] = field(default_factory=dict)  # by a transformer: rows, and the transformer


class Folds:
    """The folds of one search, as far as there is room."""

    def __init__(self, X: Any, y: Any) -> None:
        self.X, self.y = X, y
        self.room = FOLD_BYTES
        self.known: dict[int, tuple[Any, Fold]] = {}  # by the identity of the rows' numbers, which are kept for it
        self.by_rows: dict[int, Fold] = {}
        self.lock = RLock()  # of several threads that need the same, one makes it

    def keep(self, X: Any, y: Any) -> Fold | None:
        """A fold of these rows; None where they are no array of floats, or there is no room."""
        if type(X) is not np.ndarray or X.dtype.kind != "f" or X.nbytes > self.room:
            return None
        self.room -= X.nbytes
        X.flags.writeable = False
        fold = self.by_rows[id(X)] = Fold(X, y)
        return fold


_running: list[Folds] = []  # of the searches that run


def find_fold(X: Any) -> tuple[Folds, Fold] | tuple[None, None]:
    """The fold that these very rows are, among those of its search."""
    for folds in tuple(_running):
        if id(X) in folds.by_rows:
            return folds, folds.by_rows[id(X)]
    return None, None


@contextmanager
def _in_threads(model: Any) -> Iterator[None]:
    """``n_jobs`` asks for threads, unless the caller chose a backend, or fits are not ours."""
    if not _keeps_rows(model) or type(get_active_backend()[0]).__name__ != "LokyBackend":
        yield
        return
    with parallel_config(backend="threading"), single_threaded_blas():
        yield


def shared_search(fit: Callable[..., Any]) -> Callable[..., Any]:
    """``fit`` of a search, which keeps folds as long as it runs."""

    @wraps(fit)
    def search(self: Any, X: Any, y: Any = None, **params: Any) -> Any:
        folds = Folds(X, y)
        _running.append(folds)
        try:
            with _in_threads(self.estimator):
                return fit(self, X, y, **params)
        finally:
            _running.remove(folds)

    return search


def shared_split(split: Callable[..., Any]) -> Callable[..., Any]:
    """(X, y) of some rows: the copy that was made before."""

    @wraps(split)
    def rows(estimator: object, X: Any, y: Any, indices: Any, train_indices: Any = None) -> Any:
        same = (folds for folds in tuple(_running) if folds.X is X and folds.y is y and type(X) is np.ndarray)
        folds = next(same, None) if _keeps_rows(estimator) else None
        if folds is None:
            return split(estimator, X, y, indices, train_indices)
        with folds.lock:
            _, fold = folds.known.get(id(indices), (None, None))  # a search asks for every setting with the same arrays
            if fold is None:
                found = split(estimator, X, y, indices)
                fold = folds.keep(*found)
                if fold is None:
                    return found
                folds.known[id(indices)] = indices, fold
            return fold.X, fold.y

    return rows


def shared_transform(transform: Callable[..., Any]) -> Callable[..., Any]:
    """(rows, transformer) of a step of a pipeline: what such a step made of the same rows before."""

    @wraps(transform)
    def one(transformer: Any, X: Any, y: Any, weight: Any = None, *args: Any, **kwargs: Any) -> Any:
        folds, fold = find_fold(X)
        plain = weight is None and not any((kwargs.get("params") or {}).values())
        if folds is None or fold is None or not plain or not _is_pure(transformer):
            return transform(transformer, X, y, weight, *args, **kwargs)
        with folds.lock:
            with np.printoptions(threshold=sys.maxsize, floatmode="unique"):  # arrays in full
                key = type(transformer), repr(sorted(transformer.get_params().items()))
            if key not in fold.made:
                found, fitted = transform(transformer, X, y, weight, *args, **kwargs)
                made = folds.keep(found, fold.y)
                if made is None:
                    return found, fitted
                fold.made[key] = made, fitted
            return fold.made[key][0].X, fold.made[key][1]

    return one


def _keeps_rows(estimator: BaseEstimator) -> bool:
    """Whether the rows that it is fitted to stay as they are: a patched class, alone or after preprocessing."""
    steps = estimator.steps if type(estimator) is pipeline.Pipeline else [("", estimator)]
    return all(_is_pure(step) for _, step in steps[:-1]) and type(steps[-1][1]).__module__ == "discriminant.patch"


def _is_pure(step: Any) -> bool:
    """Whether a step makes the same of the same rows, and leaves them as they are: scalers, encoders, polynomials."""
    if not type(step).__module__.startswith("sklearn.preprocessing."):
        return False
    given = vars(step)  # its parameters, and more where it is fitted: get_params reads a signature, 600 times a search
    return given.get("copy", True) is True and not given.keys() & {"random_state", "func"}


def _hooks() -> tuple[Any, ...]:
    """(where, name, what is there, what takes its place); none where scikit-learn has other names inside."""
    try:
        from sklearn.model_selection import _search, _validation

        places = (
            (_search.BaseSearchCV, "fit", shared_search),
            (_validation, "_safe_split", shared_split),
            (pipeline, "_fit_transform_one", shared_transform),
        )
        return tuple((place, name, getattr(place, name), shared) for place, name, shared in places)
    except (ImportError, AttributeError):
        return ()


HOOKS = _hooks()


def share_folds(on: bool = True) -> None:
    """Let searches keep their folds, or not any more."""
    for place, name, original, shared in HOOKS:
        setattr(place, name, shared(original) if on else original)
