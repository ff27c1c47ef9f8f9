"""Rows that are no array in memory: files, Dask collections, tensors on a device; ``find_source`` tells them.

A *source* is an object that answers what ``Source`` lists.  A scan of files is one already; collections of other
libraries are wrapped by the function that ``OPENERS`` names for the root package of their type, so that nothing is
imported to find out.  Estimators ask ``find_source(X)`` where they read training rows and where they predict; what
comes out of ``training`` are blocks (a subclass of ``ArrayBlocks``) on which every batch method runs unchanged.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from discriminant.data.blocks import ArrayBlocks
from discriminant.errors import MismatchError
from discriminant.protocols import Array

# Root package of type(X) → "module:function" with function(X) → Source.
OPENERS: dict[str, str] = {
    "dask": "discriminant.data.dask_source:open_dask",
    "dask_expr": "discriminant.data.dask_source:open_dask",
    "torch": "discriminant.data.device:open_device",
    "cupy": "discriminant.data.device:open_device",
    "array_api_strict": "discriminant.data.device:open_device",
}


class Source(Protocol):
    """Where rows come from, and what belongs to them."""

    is_source: bool  # True
    shape: tuple[int, int]
    dtype: Any  # of results: float32 or float64
    feature_names: tuple[str, ...] | None

    def training(self, y: Any, sample_weight: Any, classes: Array | None) -> tuple[ArrayBlocks, Array]:
        """(blocks with class codes and weights, classes); ``classes``: the labels known already, or None.

        ``y`` is None where the source holds its own labels.
        """

    def apply(self, function: Callable[[Any], Array], out: Any = None) -> Any:
        """function(X block) for every block of rows, in order, in the source's own kind of result."""

    def score(self, predict: Callable[[Any], Array], y: Any, sample_weight: Any) -> float:
        """The share (by weight) of rows whose label ``predict`` finds."""

    def learn(self, partial_fit: Callable[..., Any], y: Any, sample_weight: Any, classes: Array | None) -> None:
        """partial_fit(X block, y block, classes=…) for every block of rows, in order."""


def find_source(X: Any) -> Any:
    """The source that X is or stands for; None where X is an array, a sparse matrix or a frame in memory.

    >>> find_source(np.zeros((2, 2))) is None
    True
    """
    kind = type(X)
    if kind is np.ndarray:
        return None
    if getattr(kind, "is_source", False):
        return X
    opener = OPENERS.get(kind.__module__.partition(".")[0])
    if opener is None:
        return None
    module, _, name = opener.partition(":")
    return getattr(importlib.import_module(module), name)(X)


def require_memory(blocks: Any, what: str) -> None:
    """Refuse blocks that are read from elsewhere, for methods that must hold all rows at once."""
    if not blocks.in_memory:
        raise MismatchError(
            f"{what} needs all rows in memory and does not read them from elsewhere. If they fit, take them there "
            "(discriminant.scan(…, hold=True)); else use LogisticRegression with a ridge, LinearDiscriminantAnalysis, "
            "QuadraticDiscriminantAnalysis, FisherDiscriminant, LeastSquaresClassifier or a batch Perceptron."
        )
