"""Rows that are no array in memory: files, Dask collections, tensors on a device; ``find_source`` recognises them.

A *source* is where rows come from.  A scan of files is one already; collections of other libraries are wrapped by the
function that ``OPENERS`` names for the root package of their type, so that nothing is imported to find out.  Estimators
ask ``find_source(X)`` where they read training rows and where they predict; what comes out of ``training`` are blocks
(``ArrayBlocks`` or a subclass) on which every batch method runs unchanged.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discriminant.arrays import in_memory
from discriminant.data.blocks import ArrayBlocks, make_blocks
from discriminant.data.check import check_weights
from discriminant.data.labels import encode_labels
from discriminant.data.rows import Rows
from discriminant.docstrings import Entries
from discriminant.errors import MismatchError
from discriminant.protocols import Array, Dtype

if TYPE_CHECKING:  # loaded with the first category
    from discriminant.data.preprocess import Preprocess

# Root package of type(X) → "module:function" with function(X) → Source.
OPENERS: dict[str, str] = {
    "dask": "discriminant.data.dask_source:open_dask",
    "dask_expr": "discriminant.data.dask_source:open_dask",
    "duckdb": "discriminant.data.queries:open_query",
    "_duckdb": "discriminant.data.queries:open_query",
    "polars": "discriminant.data.queries:open_query",
    "pyarrow": "discriminant.data.queries:open_query",
    "torch": "discriminant.data.device:open_device",
    "cupy": "discriminant.data.device:open_device",
    "array_api_strict": "discriminant.data.device:open_device",
}

documented = Entries("""
y : array-like of shape (n,) or None
    The labels; None: those that the source holds.
sample_weight : array-like of shape (n,) or None
    How often each row counts; None: once.
classes : ndarray of shape (K,) or None
    The classes, where they are known.
function : callable
    From rows to one result a row.
→ apply : object
    An array where the rows are one; results that stream for files, or the file that they were written to.
→ known_classes : ndarray of shape (K,)
    The classes.
→ native : array
    The same numbers.
→ on_device : DeviceSource
    A source that estimators take in place of X.
→ scan : Scan
    A source that estimators take in place of X.
→ score : float
    Between 0 and 1.
→ to_numpy : ndarray of shape (n,) or (n, K)
    The results.
→ training : tuple (ArrayBlocks, ndarray of shape (K,))
    The blocks and the classes.
→ whole : ndarray or CSR matrix of shape (n, d)
    The rows.
→ write : str
    The file.
""").documented


class RowFunction(ABC):
    """A function of rows that knows more of its answer than a plain one does."""

    @abstractmethod
    def __call__(self, X: Any) -> Any:
        """One result a row."""

    @property
    @abstractmethod
    def classes(self) -> Any:
        """The labels, one for each column of probabilities."""

    @abstractmethod
    def on_device(self, rows: Any, piece: Any) -> Any:
        """The answer for rows on a device, worked out there; None where it is worked out in memory."""


@documented
class Source(ABC):
    """Where rows come from, and what belongs to them."""

    @property
    @abstractmethod
    def feature_names(self) -> tuple[str, ...] | None:
        """The columns' names, or None where they have none."""

    @property
    def column_names(self) -> tuple[str, ...] | None:
        """The names of the columns before categories become columns of zeros and ones."""
        return self.feature_names

    @property
    def encoding(self) -> Preprocess | None:
        """What becomes of each column, where some hold categories."""
        return None

    def encoded(self, rules: Preprocess) -> Source:
        """The same rows with categories as a fit has them.

        Parameters
        ----------
        rules : Preprocess
            What becomes of each column.

        Returns
        -------
        Source
            With these features.
        """
        return self

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """(rows, features)."""

    @property
    @abstractmethod
    def dtype(self) -> Dtype:
        """The type of results: float32 or float64."""

    @abstractmethod
    def training(self, y: Any, sample_weight: Any, classes: Array | None) -> tuple[ArrayBlocks, Array]:
        """Blocks of rows with class codes and weights, and the classes: what a fit reads."""

    def summed(self, y: Any, sample_weight: Any, classes: Array | None) -> tuple[Any, Array]:
        """What ``training`` hands out, for a fit that asks for class sums alone: a database may add them up itself.

        Returns
        -------
        tuple (blocks, ndarray of shape (K,))
            What answers requests for sums, and the classes.
        """
        return self.training(y, sample_weight, classes)

    @abstractmethod
    def apply(self, function: Callable[[Any], Array], out: Any = None) -> Any:
        """A function of every block of rows, in order, in the source's own kind of result.

        Parameters
        ----------
        out : path or None, default=None
            A file to write to, where the source is files.
        """

    @abstractmethod
    def score(self, predict: Callable[[Any], Array], y: Any = None, sample_weight: Any = None) -> float:
        """The share of rows, by weight, whose label is predicted.

        Parameters
        ----------
        predict : callable
            From rows to labels.
        """

    def native(self, values: Array) -> Any:
        """An array in the library and on the device of the rows, as scikit-learn hands out what was fitted there.

        Parameters
        ----------
        values : ndarray
            Weights, say.
        """
        return values

    @abstractmethod
    def learn(self, partial_fit: Callable[..., Any], y: Any, sample_weight: Any, classes: Array | None) -> None:
        """Call ``partial_fit`` with every part, in order.

        Parameters
        ----------
        partial_fit : callable
            Of an estimator.
        """


@documented
class PartSource(Source):
    """A source whose parts can be brought here one after the other."""

    @abstractmethod
    def labelled(self, y: Any, sample_weight: Any) -> Iterator[tuple[Any, Any, Any]]:
        """The rows, labels and weights of each part, in order.


        Yields
        ------
        tuple
            An array or a sparse matrix, labels, and weights or None.
        """

    def score(self, predict: Callable[[Any], Array], y: Any = None, sample_weight: Any = None) -> float:
        right = total = 0.0
        for X, labels, weight in self.labelled(y, sample_weight):
            hit = np.asarray(predict(X)) == labels
            right += float(hit.sum() if weight is None else hit @ weight)
            total += float(len(hit) if weight is None else weight.sum())
        return right / total

    def learn(self, partial_fit: Callable[..., Any], y: Any, sample_weight: Any, classes: Array | None) -> None:
        known = self.known_classes(y) if classes is None else classes
        for X, labels, weight in self.labelled(y, sample_weight):
            partial_fit(X, labels, classes=known, **({} if weight is None else {"sample_weight": weight}))

    def known_classes(self, y: Any) -> Array:
        """The distinct labels, in order."""
        return np.unique(in_memory(y))


@documented
@dataclass(frozen=True)
class RowSource(PartSource):
    """Rows of which any can be read at any time, with labels in memory: all that a plain storage needs."""

    rows: Rows
    feature_names: tuple[str, ...] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows.shape

    @property
    def dtype(self) -> Dtype:
        return self.rows.dtype

    def training(self, y: Any, sample_weight: Any, classes: Array | None) -> tuple[ArrayBlocks, Array]:
        found, codes = encode_labels(y, classes, self.shape[0])
        return make_blocks(self.rows, codes, check_weights(sample_weight, self.shape[0])), found

    def apply(self, function: Callable[[Any], Array], out: Any = None) -> Any:
        return np.concatenate([np.asarray(function(block.design.raw)) for block in make_blocks(self.rows)])

    def labelled(self, y: Any, sample_weight: Any) -> Iterator[tuple[Any, Any, Any]]:
        weight = check_weights(None if sample_weight is None else in_memory(sample_weight), self.shape[0])
        for block in make_blocks(self.rows, in_memory(y), weight):
            yield block.design.raw, block.target, block.weight


def find_source(X: Any) -> Source | None:
    """The source that X is or stands for; None where X is an array, a sparse matrix or a frame in memory.

    >>> find_source(np.zeros((2, 2))) is None
    True
    """
    kind = type(X)
    if kind is np.ndarray:
        return None
    if isinstance(X, Source):
        return X
    opener = OPENERS.get(kind.__module__.partition(".")[0])
    if opener is None:
        return None
    module, _, name = opener.partition(":")
    found: Source | None = getattr(importlib.import_module(module), name)(X)
    return found


def is_query(X: Any) -> bool:
    """Whether X is a query or a stream: ``find_source`` runs it, and a stream runs once.

    It is recognised by its type's name, since to ask a query for its columns may run it.
    """
    return type(X).__name__ in ("LazyFrame", "DuckDBPyRelation", "RecordBatchReader") or is_dataset(X)


def is_dataset(X: Any) -> bool:
    """Whether X is a dataset of pyarrow."""
    return type(X).__module__.startswith("pyarrow._dataset")


def require_memory(blocks: ArrayBlocks, what: str) -> None:
    """Refuse blocks that are read from elsewhere, for methods that must hold all rows at once."""
    if not blocks.in_memory:
        raise MismatchError(
            f"{what} needs all rows in memory and does not read them from elsewhere. If they fit, take them there "
            "(discriminant.scan(…, hold=True)); else use LogisticRegression with a ridge, LinearDiscriminantAnalysis, "
            "QuadraticDiscriminantAnalysis, FisherDiscriminant, LeastSquaresClassifier or a batch Perceptron."
        )
