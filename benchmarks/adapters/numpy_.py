"""What a careful user writes by hand in NumPy: one Gram matrix over the whole of X, then the closed form.

With N_k rows of class k, means m_k, Gram G = XᵗX (shifted by one sample row, exactly), the within-class scatter is
S = G − Σ N_k m_k m_kᵗ, the weights S⁻¹ m_k.  Not a package, so it is no peer; it shows what the libraries add or cost.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.adapters.refusals import LOGISTIC, STEPS
from benchmarks.contract import BY_HAND, Array, Data, Prepared

NAME, ROLE, PACKAGE = "NumPy by hand", BY_HAND, "numpy"


def _posterior(scores: Array) -> Array:
    powers: Array = np.exp(scores - scores.max(axis=1, keepdims=True))
    powers /= powers.sum(axis=1, keepdims=True)
    return powers


def _class_sums(X: Array, y: Array, n_classes: int) -> tuple[Array, Array]:
    members = np.zeros((n_classes, len(y)))
    members[y, np.arange(len(y))] = 1.0
    return np.bincount(y, minlength=n_classes).astype(float), members @ X


def _lda_weights(data: Data) -> tuple[Array, Array]:
    counts, sums = _class_sums(data.X, data.y, data.n_classes)
    means = sums / counts[:, None]
    within = (data.X.T @ data.X - (means * counts[:, None]).T @ means) / len(data.y)
    W = np.linalg.solve(within, means.T)
    return W, np.log(counts / counts.sum()) - 0.5 * np.einsum("kd,dk->k", means, W)


def _lda(data: Data) -> Prepared:
    return Prepared(lambda: _lda_weights(data), lambda m: {"posterior": _posterior(data.probe @ m[0] + m[1])})


def _lda_predict(data: Data) -> Prepared:
    W, w0 = _lda_weights(data)
    rows = data.X[: data.extra["rows"]]
    return Prepared(lambda: np.argmax(rows @ W + w0, axis=1), lambda labels: {"labels": labels})


def _qda_parts(data: Data) -> list[tuple[Array, Array, float]]:
    parts = []
    for k in range(data.n_classes):
        rows = data.X[data.y == k]
        mean = rows.mean(axis=0)
        rows -= mean
        root = np.linalg.cholesky(rows.T @ rows / len(rows))
        parts.append((mean, root, np.log(len(rows) / len(data.y)) - np.log(np.diag(root)).sum()))
    return parts


def _qda_posterior(parts: list[tuple[Array, Array, float]], probe: Array) -> dict[str, Any]:
    scores = [c - 0.5 * (np.linalg.solve(root, (probe - mean).T) ** 2).sum(axis=0) for mean, root, c in parts]
    return {"posterior": _posterior(np.column_stack(scores))}


def _qda(data: Data) -> Prepared:
    return Prepared(lambda: _qda_parts(data), lambda parts: _qda_posterior(parts, data.probe))


def _least_squares(data: Data) -> Prepared:
    """Normal equations of the centred columns: (XᵗX − n x̄ x̄ᵗ) W = Σ_k N_k (m_k − x̄) e_kᵗ."""

    def fit() -> tuple[Array, Array]:
        counts, sums = _class_sums(data.X, data.y, data.n_classes)
        n, mean = counts.sum(), sums.sum(axis=0) / counts.sum()
        W = np.linalg.solve(data.X.T @ data.X - n * np.outer(mean, mean), (sums - counts[:, None] * mean).T)
        return W, counts / n - mean @ W

    return Prepared(fit, lambda m: {"scores": data.probe @ m[0] + m[1]})


METHODS = {
    "lda-fit": {"one Gram": _lda},
    "qda-fit": {"Gram per class": _qda},
    "least-squares-fit": {"normal equations": _least_squares},
    "lda-predict": {"X @ W, argmax": _lda_predict},
}
REFUSALS = {"lda-cold-start": "is not run: the reference line is its import alone"}
REFUSALS |= dict.fromkeys((*LOGISTIC, *STEPS), "is not run: nothing that fits a few lines competes")
