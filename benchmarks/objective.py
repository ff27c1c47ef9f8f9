"""The function that all contenders of a place with gaps minimise, evaluated here and not by them.

    ridge  F = Σ ℓ + ½ ‖w‖² / C      sparse  F_λ = Σ ℓ + n λ [r Ω(w) + ½ (1 − r) ‖w‖²],  Ω = ‖w‖₁ or Σ_g √|g| ‖w_g‖

ℓ is the logistic or softmax loss, or the squared hinge of each class against the rest, whose intercept is penalised.
Conventions of the intercept b: it is free; or penalised like a weight, ½ b² / C or n λ |b| (LIBLINEAR, snapml); or
absent (celer).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.contract import Answer, Array, Data

FREE, PENALISED, ABSENT = "free", "penalised", "absent"
ROWS = 20_000


def loss(z: Array, y: Array) -> Array:
    """Σ_i ℓ for scores z (n, L) of two classes, one sum for each column."""
    signed = np.where(y[:, None] == 1, -z, z)
    return np.asarray(np.logaddexp(0.0, signed).sum(axis=0))


def softmax_loss(z: Array, y: Array) -> float:
    """Σ_i log Σ_k e^{z_ik} − z_{i,y_i}."""
    top = z.max(axis=1)
    return float((np.log(np.exp(z - top[:, None]).sum(axis=1)) + top - z[np.arange(len(y)), y]).sum())


def hinge_loss(z: Array, y: Array) -> float:
    """Σ_i Σ_k max(0, 1 − t_ik z_ik)², t = ±1."""
    signs = np.where(y[:, None] == (np.arange(z.shape[1]) if z.shape[1] > 1 else 1), 1.0, -1.0)
    return float(np.square(np.maximum(0.0, 1.0 - signs * z)).sum())


def penalties(data: Data, W: Array) -> Array:
    """r Ω(w) + ½ (1 − r) ‖w‖² of each of the weights W (L, d, q)."""
    r, groups = data.extra["l1_ratio"], data.extra["groups"]
    squares = 0.5 * np.square(W).sum(axis=(1, 2))
    if groups is None:
        return np.asarray(r * np.abs(W).sum(axis=(1, 2)) + (1 - r) * squares)
    norms = sum(np.sqrt(len(g)) * np.sqrt(np.square(W[:, g]).sum(axis=(1, 2))) for g in groups)
    return np.asarray(r * norms + (1 - r) * squares)


def objectives(data: Data, W: Array, b: Array, convention: str = FREE) -> Array:
    """F at weights W (L, d, q) and intercepts b (L, q), for each of the L penalties."""
    W, b = np.asarray(W, dtype=np.float64), np.asarray(b, dtype=np.float64)
    n, L = data.X.shape[0], len(W)
    hinge = data.extra["loss"] == "squared-hinge"
    total = np.zeros(L)
    for start in range(0, n, ROWS):
        rows, y = data.X[start : start + ROWS], data.y[start : start + ROWS]
        if data.n_classes == 2 and not hinge:
            total += loss(np.asarray(rows @ W[:, :, 0].T) + b[:, 0], y)
        else:
            of = hinge_loss if hinge else softmax_loss
            total += [of(np.asarray(rows @ W[i]) + b[i], y) for i in range(L)]
    if data.extra["l1_ratio"]:
        intercepts = np.abs(b).sum(axis=1) if convention == PENALISED else 0.0
        return np.asarray(total + n * data.extra["lambdas"] * (penalties(data, W) + intercepts))
    penalised = hinge or convention == PENALISED
    squares = np.square(W).sum(axis=(1, 2)) + (np.square(b).sum(axis=1) if penalised else 0.0)
    return np.asarray(total + 0.5 * squares / data.extra["C"])


def worst_gap(data: Data, W: Any, b: Any, convention: str = FREE) -> float:
    """max over the penalties of (F − F*) / F*; W as (L, d, q), (q, d) as scikit-learn's ``coef_``, or (d,)."""
    W, b = np.asarray(W), np.atleast_1d(np.asarray(b))
    if W.ndim < 3:
        W, b = np.atleast_2d(W).T[None], b.reshape(1, -1)
    best = data.extra["optimum"][convention]
    return float(np.max(objectives(data, W, b, convention) / best - 1.0))


def answer(data: Data, W: Any, b: Any, convention: str = FREE, passes: float | None = None) -> Answer:
    """The answer that the harness compares: F / F* at its worst, so that its gap is relative along a path too."""
    found: Answer = {"objective": np.float64(1.0 + worst_gap(data, W, b, convention))}
    if passes is not None:
        found["passes"] = np.float64(passes)
    return found
