"""Data of the tasks, made from a seed, bit for bit the same in every process.

Rows x = m_k + s_k ∘ u with u a first-order autoregressive row (correlation ½ between neighbours): columns are
correlated, classes overlap (Mahalanobis distances of about 2), and columns have means of order one.  Only elementwise
arithmetic is used, since a matrix product may round differently under another number of threads.
"""

from __future__ import annotations

import tempfile
import zlib
from pathlib import Path

import numpy as np

from benchmarks.contract import Array, Data

PROBE_ROWS = 5_000
BLOCK_ROWS = 8_192
CORRELATION = 0.5


def gaussian_classes(n: int, d: int, n_classes: int, *, seed: int, own_spreads: bool = False) -> Data:
    """n rows of K Gaussian classes; with ``own_spreads`` each class has its own column scales (the case of QDA)."""
    rng = np.random.default_rng(seed)
    means = rng.normal(0.0, 1.0, d) + rng.normal(0.0, 2.0 / np.sqrt(2.0 * d), (n_classes, d))
    spreads = np.exp(rng.normal(0.0, 0.2, (n_classes, d))) if own_spreads else np.ones((n_classes, d))
    y = rng.integers(0, n_classes, n)
    X = np.empty((n, d))
    for start in range(0, n, BLOCK_ROWS):
        codes = y[start : start + BLOCK_ROWS]
        rows = X[start : start + BLOCK_ROWS]
        rng.standard_normal(out=rows)
        for j in range(1, d):
            rows[:, j] = CORRELATION * rows[:, j - 1] + np.sqrt(1.0 - CORRELATION**2) * rows[:, j]
        rows *= spreads[codes]
        rows += means[codes]
    return Data(X, y, n_classes, X[:PROBE_ROWS].copy())


def iris() -> Data:
    """Fisher's iris, also as a file, since the contenders that start in a fresh process read it from there."""
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    path = Path(tempfile.mkdtemp(prefix="benchmark-iris-")) / "iris.npy"
    np.save(path, np.column_stack([X, y]))
    return Data(np.ascontiguousarray(X), y.astype(np.int64), 3, X.copy(), str(path))


def digest(data: Data) -> int:
    """A checksum over all rows: equal digests in two processes mean equal data."""
    return zlib.crc32(data.y.data, zlib.crc32(data.X.data))


def read_back(path: str) -> tuple[Array, Array]:
    """X and y of a file that ``iris`` wrote.

    >>> X, y = read_back(iris().path)
    >>> X.shape, y.shape
    ((150, 4), (150,))
    """
    rows = np.load(path)
    return np.ascontiguousarray(rows[:, :-1]), rows[:, -1].astype(np.int64)
