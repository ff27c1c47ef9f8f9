"""Dual coordinate descent for linear support vector machines, a row at a time (Hsieh et al. 2008, Keerthi et al. 2008).

Two classes, y = ±1, U the rows' costs, w = Σ α y x kept up to date:

    minimise  ½ ‖w‖² + ½ Σ D α² − Σ α,    0 ≤ α ≤ U          hinge: U = c, D = 0;  squared hinge: U = ∞, D = 1/2c

K classes (Crammer & Singer), Σ_k α_ik = 0, α_ik ≤ c_i [k = y_i]:

    minimise  ½ Σ_k ‖w_k‖² + Σ_ik [k ≠ y_i] α_ik,            w_k = Σ_i α_ik x_i

Rows are CSR (dense rows are CSR with every index); ``bias`` is the constant feature that stands for the intercept, the
last entry of w, or zero for none, and ``shift`` a part of the intercept that is not penalised.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discriminant.kernels.compile import compiled


def _shuffle(order: Any, seed: int) -> None:
    state = np.uint64(seed * 2654435761 + 88172645463325252)
    for i in range(order.size - 1, 0, -1):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        j = np.int64(state % np.uint64(i + 1))
        order[i], order[j] = order[j], order[i]


shuffle = compiled(_shuffle)


def _dense_epoch(
    X: Any, y: Any, alpha: Any, U: Any, D: Any, Q: Any, w: Any, bias: float, shift: float, order: Any, seed: int
) -> float:
    """One pass over dense rows in a new order; returns the largest violation of the optimality conditions."""
    shuffle(order, seed)
    d = X.shape[1]
    worst = 0.0
    for index in range(order.size):
        i = order[index]
        z = shift + bias * w[d]
        for j in range(d):
            z += w[j] * X[i, j]
        g = y[i] * z - 1.0 + D[i] * alpha[i]
        p = g
        if alpha[i] <= 0.0:
            p = min(g, 0.0)
        elif alpha[i] >= U[i]:
            p = max(g, 0.0)
        if p == 0.0 or Q[i] <= 0.0:
            continue
        worst = max(worst, abs(p))
        new = min(max(alpha[i] - g / Q[i], 0.0), U[i])
        step = (new - alpha[i]) * y[i]
        alpha[i] = new
        for j in range(d):
            w[j] += step * X[i, j]
        w[d] += step * bias
    return worst


def _sparse_epoch(
    data: Any,
    indices: Any,
    indptr: Any,
    y: Any,
    alpha: Any,
    U: Any,
    D: Any,
    Q: Any,
    w: Any,
    bias: float,
    shift: float,
    order: Any,
    seed: int,
) -> float:
    """The same over CSR rows."""
    shuffle(order, seed)
    d = w.size - 1
    worst = 0.0
    for index in range(order.size):
        i = order[index]
        first, last = indptr[i], indptr[i + 1]
        z = shift + bias * w[d]
        for k in range(first, last):
            z += w[indices[k]] * data[k]
        g = y[i] * z - 1.0 + D[i] * alpha[i]
        p = g
        if alpha[i] <= 0.0:
            p = min(g, 0.0)
        elif alpha[i] >= U[i]:
            p = max(g, 0.0)
        if p == 0.0 or Q[i] <= 0.0:
            continue
        worst = max(worst, abs(p))
        new = min(max(alpha[i] - g / Q[i], 0.0), U[i])
        step = (new - alpha[i]) * y[i]
        alpha[i] = new
        for k in range(first, last):
            w[indices[k]] += step * data[k]
        w[d] += step * bias
    return worst


def _project(beta: Any, top: Any, total: float) -> None:
    """argmin ‖x − beta‖² with x ≤ top and Σ x = total, in place: x = min(top, beta − θ), θ found by sorting."""
    K = beta.size
    # Σ min(top, beta − θ) falls in θ; its breakpoints are beta − top.
    points = np.sort(beta - top)
    low, high = points[0] - 1.0, points[K - 1] + 1.0
    for k in range(K):
        s = 0.0
        for j in range(K):
            s += min(top[j], beta[j] - points[k])
        if s >= total:
            low = points[k]
        else:
            high = points[k]
            break
    # On [low, high] the sum is linear: entries with beta − top ≤ low move with θ.
    fixed, moving, count = 0.0, 0.0, 0
    for j in range(K):
        if beta[j] - top[j] <= low:
            moving += beta[j]
            count += 1
        else:
            fixed += top[j]
    theta = (moving + fixed - total) / count if count > 0 else high
    for j in range(K):
        beta[j] = min(top[j], beta[j] - theta)


project = compiled(_project)


def _machine_epoch(
    data: Any, indices: Any, indptr: Any, y: Any, alpha: Any, C: Any, Q: Any, W: Any, bias: float, order: Any, seed: int
) -> float:
    """One pass for Crammer & Singer's machine; alpha (n, K), W (d+1, K).  Returns the largest change in score units."""
    shuffle(order, seed)
    d, K = W.shape[0] - 1, W.shape[1]
    g = np.empty(K)
    top = np.empty(K)
    beta = np.empty(K)
    worst = 0.0
    for index in range(order.size):
        i = order[index]
        if Q[i] <= 0.0 or C[i] <= 0.0:
            continue
        first, last = indptr[i], indptr[i + 1]
        for k in range(K):
            g[k] = bias * W[d, k] + (0.0 if k == y[i] else 1.0)
        for m in range(first, last):
            x = data[m]
            j = indices[m]
            for k in range(K):
                g[k] += W[j, k] * x
        for k in range(K):
            top[k] = C[i] if k == y[i] else 0.0
            beta[k] = alpha[i, k] - g[k] / Q[i]
        project(beta, top, 0.0)
        moved = 0.0
        for k in range(K):
            beta[k] -= alpha[i, k]
            moved = max(moved, abs(beta[k]) * Q[i])
        if moved <= 1e-14:
            continue
        worst = max(worst, moved)
        for k in range(K):
            alpha[i, k] += beta[k]
            W[d, k] += beta[k] * bias
        for m in range(first, last):
            x = data[m]
            j = indices[m]
            for k in range(K):
                W[j, k] += beta[k] * x
    return worst


dense_epoch = compiled(_dense_epoch, fastmath={"reassoc", "contract", "nsz"})
sparse_epoch = compiled(_sparse_epoch)
machine_epoch = compiled(_machine_epoch)


def warm() -> None:
    """Load Numba now, in one thread: several must not do so at once."""
    shuffle(np.arange(2), 1)
