"""Kinds of columns: X (n, d), dense or CSR, and class codes y, from a seed.

    independent      x ~ N(0, I)
    correlated       neighbours correlated by 0.98 (autoregressive): condition number of the covariance about 10⁴
    ill-conditioned  X = Z diag(1 … 10⁻⁶) Q with Q orthogonal: condition number of X 10⁶
    units            independent columns in units from 10⁻³ to 10³, off their origin by two units
    few-causes       neighbours correlated by 0.5; at most 50 columns matter
    dummies          indicators of factors with five levels each, some of them rare: their sums are one
    pixels           grey values of smooth pictures, a tenth of the columns constant
    sparse           a fixed number of non-zeros a row, positive, rows of about unit length; columns equally often
    sparse-few       the same; one column in twenty matters
    counts           small whole numbers, sparse where non-zeros are given
    classes          Gaussian classes with one covariance, neighbours correlated by ½, distances of about 2
    own-spreads      the same, each class with its own column scales
    plane            noisy labels of a random hyperplane through the origin
    real sets        of the shared data, as they come; texts as counts of words

Labels are drawn from the logistic model, so classes overlap and the optimum is finite.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contract import Array
from benchmarks.task import REAL, Task

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
BLOCK_ROWS = 8_192
CAUSES = 50
LEVELS = 5
Rows = tuple[Any, Array]
TARGETS = {
    "iris": "species", "breast_cancer": "diagnosis", "digits": "digit", "saheart": "chd", "vowel": "y",
    "default_islr": "default", "penguins": "species", "anes96": "PID", "birthwt": "low", "fashion_mnist": "label",
    "sms_spam": "label", "smarket": "Direction",
}  # fmt: skip
UNUSED = {"split", "bwt", "Today", "Year", "vote", "popul", "TVnews", "PID", "rownames", "island", "sex", "year"}


def make_rows(task: Task) -> Rows:
    """X and y of the place."""
    rng = np.random.default_rng(task.seed)
    if task.columns in REAL:
        return _real(task)
    if task.columns in ("classes", "own-spreads"):
        return gaussian_classes(rng, task)
    if task.columns == "plane":
        return _plane(rng, task)
    if task.row_values:
        return _sparse(rng, task)
    X, signal = _dense(rng, task)
    return X, _labels(rng, signal)


def _neighbours(X: Array, rho: float) -> Array:
    for j in range(1, X.shape[1]):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    return X


def _dense(rng: np.random.Generator, task: Task) -> Rows:
    """X (n, d) and the signal (n, q) of its labels, of spread about two in each score."""
    n, d, kind = task.rows, task.d, task.columns
    X = rng.standard_normal((n, d))
    if kind in ("correlated", "few-causes", "pixels"):
        X = _neighbours(X, {"correlated": 0.98, "few-causes": 0.5, "pixels": 0.9}[kind])
    q = 1 if task.n_classes == 2 else task.n_classes
    B = rng.standard_normal((d, q)) * 2.0 / np.sqrt(d)
    if kind == "few-causes":
        B = np.zeros((d, q))
        B[rng.permutation(d)[:CAUSES]] = rng.standard_normal((min(CAUSES, d), q)) * 2.0 / np.sqrt(CAUSES)
    signal = X @ B + rng.normal(0.7, 0.5, q)
    if kind == "ill-conditioned":
        Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
        X = np.ascontiguousarray((X * np.logspace(0, -6, d)) @ Q)
    elif kind == "units":
        X = (X + 2.0) * 10.0 ** rng.uniform(-3, 3, d)
    elif kind == "dummies":
        X, signal = _dummies(rng, task, B)
    elif kind == "pixels":
        X = np.clip(np.round(64.0 * X + 32.0), 0.0, 255.0) / 255.0
        X[:, rng.permutation(d)[: d // 10]] = 0.0
    elif kind == "counts":
        X = rng.poisson(np.exp(np.clip(X, -3, 2))).astype(np.float64)
    return X, signal


def _dummies(rng: np.random.Generator, task: Task, B: Array) -> Rows:
    """Level l of a factor has probability ∝ 1/(1 + l)²."""
    chance = 1.0 / (1.0 + np.arange(LEVELS)) ** 2
    X = np.zeros((task.rows, task.d))
    for start in range(0, task.d, LEVELS):
        width = min(LEVELS, task.d - start)
        level = rng.choice(width, task.rows, p=chance[:width] / chance[:width].sum())
        X[np.arange(task.rows), start + level] = 1.0
    return X, X @ (B * np.sqrt(LEVELS)) + 0.3


def _labels(rng: np.random.Generator, signal: Array) -> Array:
    """Codes drawn from the logistic or softmax model of these scores: the largest score plus Gumbel noise."""
    if signal.shape[1] == 1:
        return (signal[:, 0] + rng.logistic(size=len(signal)) > 0).astype(np.int64)
    y = np.asarray((signal + rng.gumbel(size=signal.shape)).argmax(axis=1), dtype=np.int64)
    y[: signal.shape[1]] = np.arange(signal.shape[1])[: len(y)]  # of a thousand classes each has a row
    return y


def _sparse(rng: np.random.Generator, task: Task) -> Rows:
    """One non-zero in each of ``row_values`` equal stretches of the columns, so indices are sorted and distinct."""
    from scipy.sparse import csr_matrix

    n, d, m, q = task.rows, task.d, task.row_values, 1 if task.n_classes == 2 else task.n_classes
    stretch = d // m
    indices = (rng.integers(0, stretch, (n, m)) + stretch * np.arange(m)).astype(np.int32).ravel()
    values = rng.uniform(0.5, 1.5, n * m) / np.sqrt(m)
    X = csr_matrix((values, indices, m * np.arange(n + 1, dtype=np.int32)), shape=(n, d))
    weights = rng.standard_normal((d, q)) * 3.0
    if task.columns == "sparse-few":
        weights[rng.permutation(d)[: d - d // 20]] = 0.0
        weights *= 4.0
    signal = X @ weights + 0.3
    if task.columns == "counts":
        X.data = 1.0 + rng.poisson(0.5, n * m)
    return X, _labels(rng, signal)


def _plane(rng: np.random.Generator, task: Task) -> Rows:
    """Rows in the memory order that every contender reads fastest."""
    n, d, width = task.n, task.d, task.row_values
    if not width:
        X = rng.standard_normal((n, d))
        return X, (X[:, 0] - X[:, 1] + rng.standard_normal(n) > 0).astype(np.int64)
    from scipy.sparse import csr_matrix

    columns = np.sort(rng.integers(0, d, (n, width)), axis=1).astype(np.int32).ravel()
    starts = np.arange(0, n * width + 1, width, dtype=np.int32)
    S = csr_matrix((rng.standard_normal(n * width), columns, starts), shape=(n, d))
    S.sum_duplicates()
    return S, (S @ rng.standard_normal(d) + 5.0 * rng.standard_normal(n) > 0).astype(np.int64)


def gaussian_classes(rng: np.random.Generator, task: Task) -> Rows:
    """Rows x = m_k + s_k ∘ u with u a first-order autoregressive row (correlation ½ between neighbours)."""
    n, d, K = task.rows, task.d, task.n_classes
    means = rng.normal(0.0, 1.0, d) + rng.normal(0.0, 2.0 / np.sqrt(2.0 * d), (K, d))
    own = task.columns == "own-spreads"
    spreads = np.exp(rng.normal(0.0, 0.2, (K, d))) if own else np.ones((K, d))
    y = rng.integers(0, K, n)
    X = np.empty((n, d))
    for start in range(0, n, BLOCK_ROWS):
        codes = y[start : start + BLOCK_ROWS]
        rows = X[start : start + BLOCK_ROWS]
        rng.standard_normal(out=rows)
        _neighbours(rows, 0.5)
        rows *= spreads[codes]
        rows += means[codes]
    return X, y


def _real(task: Task) -> Rows:
    """Numbers as they come, yes and no as one and zero; rows with missing values left out."""
    import pandas as pd

    path = SHARED / task.columns / "data.parquet"
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there: put the data of {task.columns} there, or leave this place out.")
    table = pd.read_parquet(path)
    if "split" in table and (table["split"] == "train").any():
        table = table[table["split"] == "train"]
    target = TARGETS[task.columns]
    y = np.unique(table[target].astype(str), return_inverse=True)[1].astype(np.int64)
    if task.columns == "sms_spam":
        from sklearn.feature_extraction.text import CountVectorizer

        return CountVectorizer(dtype=np.float64).fit_transform(table["text"]), y
    inputs = table.drop(columns=[target, *UNUSED.intersection(table.columns)], errors="ignore")
    inputs = inputs.apply(lambda c: c if pd.api.types.is_numeric_dtype(c) else pd.factorize(c, sort=True)[0])
    whole = inputs.notna().all(axis=1).to_numpy()
    X = inputs[whole].to_numpy(np.float64)[: task.n]
    return np.ascontiguousarray(X / 255.0 if task.columns == "fashion_mnist" else X), y[whole][: task.n]
