"""Crammer and Singer's K-class support vector machine: Kesler's construction with a margin, solved in the dual.

P(W) = ½ Σ_k ‖w_k‖² + Σ_i c_i max_k ([k ≠ y_i] + z_ik − z_iy),       z = X W
D(α) = −½ Σ_k ‖Σ_i α_ik x_i‖² − Σ_ik [k ≠ y_i] α_ik,                  Σ_k α_ik = 0,  α_ik ≤ c_i [k = y_i]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.optimize.sparse.margins import solve_scaled
from discriminant.protocols import Array

CHECK_EVERY = 10
MOST_PARAMETERS = 1_200
MOST_WORK = 2e10  # multiplications of one system
MOST_STEPS = 120


@dataclass(frozen=True)
class MachineFit:
    """W (d+1, K), the last row times ``bias`` being the intercepts; P, the proved gap, and epochs."""

    W: Array
    objective: float
    gap: float
    steps: int


def solve_machine(
    X: Any, codes: Array, n_classes: int, c: Array, bias: float, tol: float, seed: int = 0, most: int = 20_000
) -> MachineFit:
    """Minimise P over rows X (dense or CSR) until the gap is ≤ tol·P, by the method that suits the size."""
    n, d = X.shape
    size = (d + 1) * n_classes
    if size <= MOST_PARAMETERS and n * float(size) ** 2 <= MOST_WORK:
        return interior_machine(X, codes, n_classes, c, bias, tol)
    return descend_machine(X, codes, n_classes, c, bias, tol, seed, most)


def interior_machine(X: Any, codes: Array, K: int, c: Array, bias: float, tol: float) -> MachineFit:
    """A primal-dual interior point with Mehrotra's corrector."""
    X = X.toarray() if hasattr(X, "toarray") else X
    Y = np.hstack([X, np.full((len(X), 1), bias)])
    n = len(Y)
    errors = np.ones((n, K))
    errors[np.arange(n), codes] = 0.0
    own = np.zeros((n, K))
    own[np.arange(n), codes] = c
    W = np.zeros((Y.shape[1], K))
    beta, slack, u = np.repeat(c[:, None] / K, K, axis=1), np.ones((n, K)), np.full(n, 2.0)
    best: MachineFit | None = None
    idle = 0
    for step in range(MOST_STEPS):
        whole = beta * (c / beta.sum(axis=1))[:, None]
        fit = _proved(X, codes, c, bias, own - whole, W, step)
        idle = idle + 1 if best is not None and fit.gap > 0.9 * best.gap else 0
        if best is None or fit.gap < best.gap:
            best = fit
        if best.gap <= min(tol, 1e-10) * best.objective or idle >= (4 if best.gap <= tol * best.objective else 15):
            break
        W, beta, slack, u = _interior_step(Y, errors, own, c, W, beta, slack, u)
    assert best is not None  # the loop has run
    return best


def _interior_step(
    Y: Array, errors: Array, own: Array, c: Array, W: Array, beta: Array, slack: Array, u: Array
) -> tuple[Array, Array, Array, Array]:
    z = Y @ W
    r_W = W - Y.T @ (own - beta)
    r_c = beta.sum(axis=1) - c
    r_s = slack - u[:, None] + errors + z
    theta = beta / slack
    total = theta.sum(axis=1)
    H = _system(Y, theta, total)

    def direction(q: Array) -> tuple[Array, Array, Array, Array]:
        known = q / slack + theta * r_s
        base = (r_c + known.sum(axis=1)) / total
        right = -r_W - Y.T @ (known - theta * base[:, None])
        dW = solve_scaled(H, right.T.ravel()).reshape(W.T.shape).T
        dz = Y @ dW
        du = base + (theta * dz).sum(axis=1) / total
        ds = du[:, None] - dz - r_s
        return dW, q / slack - theta * ds, ds, du

    _, db, ds, _ = direction(-slack * beta)
    t = _longest(beta, db, slack, ds)
    now = float((beta * slack).sum())
    tau = (float(((beta + t * db) * (slack + t * ds)).sum()) / now) ** 3 * now / beta.size
    dW, db, ds, du = direction(tau - slack * beta - db * ds)
    t = min(1.0, 0.99 * _longest(beta, db, slack, ds))
    return W + t * dW, beta + t * db, slack + t * ds, u + t * du


def _system(Y: Array, theta: Array, total: Array) -> Array:
    """I + Σ_i y_i y_iᵗ ⊗ (diag θ − θθᵗ/Σθ), classes outermost."""
    D, K = Y.shape[1], theta.shape[1]
    H = np.empty((K, D, K, D))
    for k in range(K):
        for j in range(k, K):
            h = theta[:, k] * ((k == j) - theta[:, j] / total)
            H[k, :, j] = H[j, :, k] = Y.T @ (h[:, None] * Y)
    flat = H.reshape(K * D, K * D)
    flat[np.arange(K * D), np.arange(K * D)] += 1.0
    return flat


def _longest(beta: Array, db: Array, slack: Array, ds: Array) -> float:
    t = 1.0
    for value, change in ((beta, db), (slack, ds)):
        down = change < 0
        if down.any():
            t = min(t, float((-value[down] / change[down]).min()))
    return t


def descend_machine(
    X: Any, codes: Array, n_classes: int, c: Array, bias: float, tol: float, seed: int = 0, most: int = 20_000
) -> MachineFit:
    """One row at a time, until the gap is ≤ tol·P or ``most`` passes are done."""
    from scipy.sparse import csr_array

    from discriminant.kernels.dual import machine_epoch

    n, d = X.shape
    rows = X if hasattr(X, "indptr") else csr_array((X.ravel(), np.tile(np.arange(d), n), np.arange(n + 1) * d), (n, d))
    Q = np.asarray(rows.multiply(rows).sum(axis=1)).ravel() + bias**2
    alpha, W = np.zeros((n, n_classes)), np.zeros((d + 1, n_classes))
    order, codes = np.arange(n), codes.astype(np.int64)
    fit = MachineFit(W, np.inf, np.inf, 0)
    for epoch in range(most):
        machine_epoch(rows.data, rows.indices, rows.indptr, codes, alpha, c, Q, W, bias, order, seed + epoch)
        if epoch % CHECK_EVERY == CHECK_EVERY - 1:
            fit = _proved(X, codes, c, bias, alpha, W, epoch + 1)
            if fit.gap <= tol * fit.objective:
                break
    return fit


def _proved(X: Any, codes: Array, c: Array, bias: float, alpha: Array, W: Array, steps: int) -> MachineFit:
    n, index = len(codes), np.arange(len(codes))
    z = np.asarray(X @ W[:-1]) + bias * W[-1]
    ahead = 1 + z - z[index, codes][:, None]
    ahead[index, codes] = 0
    P = 0.5 * float(np.square(W).sum()) + float(c @ ahead.max(axis=1))
    fresh = np.vstack([np.asarray(X.T @ alpha), bias * alpha.sum(axis=0)])
    others = float(alpha.sum() - alpha[index, codes].sum()) if n else 0.0
    D = -0.5 * float(np.square(fresh).sum()) - others
    return MachineFit(W.copy(), P, max(P - D, 0.0), steps)
