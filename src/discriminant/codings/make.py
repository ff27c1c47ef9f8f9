"""``make_coding``: a coding by name, or from a user's matrix.

| name               | outputs   | targets                                                                          |
|--------------------|-----------|----------------------------------------------------------------------------------|
| two-class          | 1         | the two labels (−1, +1; 0, 1; −b, +b): the second class is positive              |
| one-of-k           | K         | 1 for the class, 0 for the others                                                |
| machine, softmax   | K         | the same, for criteria that couple the outputs (Kesler, softmax)                 |
| reference          | K−1       | the same without the last class, whose score is held at zero                     |
| one-vs-rest        | K         | the positive label for the class, the negative one for the others                |
| one-vs-rest-k-1    | K−1       | the same without the last class, which is named where no other is                |
| pairwise           | K(K−1)/2  | first class of the pair positive, second negative, don't care for the rest       |
| fisher             | 1 or K    | N/N_k for the class, −N/(N−N_k) for the others: least squares on them is Fisher's |
| a matrix           | q         | −1 and +1 (0 or NaN: don't care), or any numbers (NaN: don't care)               |
"""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import Any

import numpy as np

from discriminant.arguments import COUNT, FINITE, Allowed, checked, optional, some_numbers
from discriminant.codings.coupling import pairs
from discriminant.codings.matrix import ClassCoding, documented
from discriminant.errors import ParameterError, as_numbers, names
from discriminant.protocols import Array

MOST_TARGETS = 30_000_000
CODINGS = (
    "two-class", "one-of-k", "machine", "softmax", "reference", "one-vs-rest", "one-vs-rest-k-1", "pairwise", "fisher",
)  # fmt: skip
CLASSES = Allowed(
    "a number of classes or their labels",
    lambda value: COUNT.holds(value) or (isinstance(value, Sized) and not isinstance(value, str)),
)
LABELS = some_numbers(
    "two different finite numbers", lambda b: b.shape == (2,) and np.isfinite(b).all() and b[0] != b[1]
)


@documented
@checked(classes=CLASSES, labels=LABELS, threshold=optional(FINITE))
def make_coding(
    coding: Any,
    classes: int | Sequence[Any] | Array,
    *,
    counts: Array | None = None,
    labels: tuple[float, float] = (-1.0, 1.0),
    threshold: float | None = 0.0,
    decoder: str | None = None,
) -> ClassCoding:
    """The coding of K classes by name, or from a (K, q) matrix.

    Parameters
    ----------
    coding : str, array-like of shape (K, q) or ClassCoding
        A name of ``CODINGS``, or the matrix of targets: −1 and +1 with 0 or NaN for don't care, or any numbers with
        NaN for don't care.
    classes : int or sequence
        K, or the classes themselves.
    counts : array-like of shape (K,), optional
        Rows (or weight) of each class; needed by "fisher".
    labels : tuple of two floats, default=(-1.0, 1.0)
        Targets of the negative and the positive side; a criterion declares its own as ``criterion.labels``.
    threshold : float or None, default=0.0
        Score at which an output is indifferent; None: half way between its targets.  ``criterion.threshold``.
    decoder : {"maximum", "sum", "votes", "unanimous", "nearest"}, optional
        How class scores follow from outputs; the coding's own way unless given.

    Raises
    ------
    ParameterError
        Where the name is unknown, the matrix cannot tell two classes apart, or counts are missing.

    >>> make_coding("pairwise", 3).targets
    array([[ 1.,  1.,  0.],
           [-1.,  0.,  1.],
           [ 0., -1., -1.]])
    >>> make_coding("one-vs-rest", ["a", "b", "c"], labels=(0, 1)).targets[0]
    array([1., 0., 0.])
    """
    K = int(classes) if isinstance(classes, int | np.integer) else len(classes)
    if K < 2:
        raise ParameterError(f"A coding needs at least two classes; there {'is' if K == 1 else 'are'} {K}.")
    if isinstance(coding, ClassCoding):
        if coding.n_classes != K:
            raise ParameterError(f"The coding {coding.name!r} is for {coding.n_classes} classes and there are {K}.")
        made = coding
    elif isinstance(coding, str):
        _require_bearable(coding, K)
        made = _by_name(coding.lower().replace("_", "-"), K, counts, labels, threshold)
    else:
        made = _from_matrix(as_numbers(coding, "coding"), K, labels, threshold)
    return made if decoder is None else made.with_decoder(decoder)


def _require_bearable(coding: str, K: int) -> None:
    """Refuse a table of targets that no memory holds, before it is asked for."""
    outputs = K * (K - 1) // 2 if coding.lower() == "pairwise" else K
    if K * outputs > MOST_TARGETS:
        raise ParameterError(
            f"The coding {coding!r} of {K} classes is a table of {K} × {outputs} numbers ({K * outputs / 2**27:.0f} GB)"
            ". Merge rare classes, or use LinearDiscriminantAnalysis or FisherDiscriminant, which need no such table."
        )


def _by_name(
    name: str, K: int, counts: Array | None, labels: tuple[float, float], threshold: float | None
) -> ClassCoding:
    eye = np.eye(K)
    sides = np.where(eye > 0, labels[1], labels[0])
    if name == "two-class":
        if K != 2:
            raise ParameterError(
                f"The coding 'two-class' is for two classes and there are {K}; "
                f"use 'one-vs-rest', 'pairwise', 'machine' or 'softmax'."
            )
        return _build(name, sides[:, 1:], np.array([[-1.0], [1.0]]), threshold)
    if name in ("machine", "softmax", "one-of-k"):
        return _build(name, eye, eye, threshold if name == "one-of-k" else 0.0)
    if name == "reference":
        return _build(name, eye[:, :-1], eye[:, :-1], 0.0)
    if name == "one-vs-rest":
        return _build(name, sides, eye, threshold)
    if name == "one-vs-rest-k-1":
        return _build(name, sides[:, :-1], eye[:, :-1], threshold)
    if name == "pairwise":
        first, second = pairs(K)
        column = np.arange(len(first))
        targets = np.full((K, len(first)), np.nan)
        targets[first, column], targets[second, column] = labels[1], labels[0]
        return _build(name, targets, None, threshold, "votes")
    if name == "fisher":
        return _fisher(K, counts)
    raise ParameterError(f"There is no coding {name!r}; choose among {names(CODINGS, most=20)}, or give a matrix.")


def _build(
    name: str, targets: Array, speakers: Array | None, threshold: float | None, decoder: str = "maximum"
) -> ClassCoding:
    """Turn NaN into don't-cares (with target 0, so that no NaN enters a sum) and fill in the thresholds."""
    care = np.isfinite(targets).astype(np.float64)
    if threshold is None:
        level = (np.nanmin(targets, axis=0) + np.nanmax(targets, axis=0)) / 2
    else:
        level = np.full(targets.shape[1], float(threshold))
    return ClassCoding(np.where(care > 0, targets, 0.0), care, level, speakers, decoder, name)


def _fisher(K: int, counts: Array | None) -> ClassCoding:
    """Targets N/N_k and −N/(N−N_k): they sum to zero over the rows, so that w0 = −w·m and the boundary is z = 0."""
    if counts is None:
        raise ParameterError("Fisher's targets are N/N_k: the coding 'fisher' needs counts, the rows of each class.")
    count = as_numbers(counts, "counts")
    if count.shape != (K,) or not (count > 0).all():
        raise ParameterError(f"The coding 'fisher' needs counts, positive for each of {K} classes; it got {counts}.")
    total = count.sum()
    targets = np.where(np.eye(K) > 0, total / count, -total / (total - count))
    if K == 2:
        return _build("fisher", targets[:, 1:], np.array([[-1.0], [1.0]]), 0.0)
    return _build("fisher", targets, np.eye(K), 0.0)


def _from_matrix(matrix: Array, K: int, labels: tuple[float, float], threshold: float | None) -> ClassCoding:
    if matrix.ndim != 2 or matrix.shape[0] != K or matrix.shape[1] < 1:
        raise ParameterError(
            f"A coding matrix has one row for each class and one column for each output; there are {K} classes "
            f"and the matrix has shape {matrix.shape}."
        )
    if np.isinf(matrix).any():
        raise ParameterError("A coding matrix holds numbers, or NaN for don't care; it has an infinite entry.")
    known = matrix[np.isfinite(matrix)]
    signed = bool(np.isin(known, (-1, 0, 1)).all() and (known == -1).any())
    if signed:  # error-correcting codes are written with −1, +1 and 0 for don't care
        side = np.where(matrix == 0, np.nan, matrix)
        matrix = np.where(np.isnan(side), np.nan, np.where(side > 0, labels[1], labels[0]))
    two_level = all(len(np.unique(column[np.isfinite(column)])) == 2 for column in matrix.T)
    made = _build("matrix", matrix, None, threshold if signed else None, "sum" if two_level else "nearest")
    _check_matrix(made)
    return made


def _check_matrix(coding: ClassCoding) -> None:
    """Each output must tell two classes apart, and each two classes must differ in some output."""
    for j in range(coding.n_outputs):
        part = coding.targets[coding.care[:, j] > 0, j]
        if len(np.unique(part)) < 2:
            raise ParameterError(
                f"Column {j} of the coding matrix has the same target for every class that takes part in it, so that "
                f"its output would learn nothing; drop it or give it both sides."
            )
    first, second = pairs(coding.n_classes)
    both = (coding.care[first] > 0) & (coding.care[second] > 0)
    differ = both & (coding.targets[first] != coding.targets[second])
    same = np.flatnonzero(~differ.any(axis=1))
    if same.size:
        i, j = first[same[0]], second[same[0]]
        raise ParameterError(
            f"Rows {i} and {j} of the coding matrix agree in every output that both take part in, so that these two "
            f"classes cannot be told apart; add a column in which they differ."
        )
