"""Dual coordinate descent for linear support vector machines, a row at a time (Hsieh et al. 2008, Keerthi et al. 2008).

Two classes, y = ±1, U the upper bounds, w = Σ α y x kept up to date:

    minimise  ½ ‖w‖² + ½ Σ D α² − Σ α,    0 ≤ α ≤ U          hinge: U = c, D = 0;  squared hinge: U = ∞, D = 1/2c

K classes (Crammer & Singer), Σ_k α_ik = 0, α_ik ≤ c_i [k = y_i]:

    minimise  ½ Σ_k ‖w_k‖² + Σ_ik [k ≠ y_i] α_ik,            w_k = Σ_i α_ik x_i

Rows are dense or CSR; ``bias`` is the constant feature that stands for the intercept, the last entry of w, or zero for
none, and ``shift`` a part of the intercept that is not penalised.  `c/dual.c` has the same compiled.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discriminant.arrays import is_sparse
from discriminant.kernels import compiled
from discriminant.kernels.sweeps import add_at, row_entries
from discriminant.protocols import Array

SETTLED = 1e-14  # a row whose scores move by less is left alone


def epochs(
    X: Any, y: Array, alpha: Array, U: Array, D: Array, Q: Array, w: Array, bias: float, shift: float, order: Array,
    times: int,
) -> tuple[Array, int]:  # fmt: skip
    """Passes over rows in this order; changes alpha, w and order, and returns the rows that are left and the visits.

    Rows at a bound that their slope holds there by more than the largest violation of the pass before are left out
    (shrinking).  Q is the second derivative in each α: ‖x‖² + bias² + D.
    """
    kernels = compiled.load()
    if kernels is not None:
        left, visits = kernels.dual_epochs(X, is_sparse(X), y, alpha, U, D, Q, w, bias, shift, order, times)
        return order[:left], visits
    worst, visits = np.inf, 0
    for _ in range(times):
        visits, limit, worst, rest = visits + len(order), worst, 0.0, []
        for i in order:
            where, x = row_entries(X, i)
            g = y[i] * (shift + bias * w[-1] + x @ w[:-1][where]) - 1.0 + D[i] * alpha[i]
            p = min(g, 0.0) if alpha[i] <= 0.0 else max(g, 0.0) if alpha[i] >= U[i] else g
            if p == 0.0 and abs(g) > limit:
                continue
            rest.append(i)
            if p == 0.0 or Q[i] <= 0.0:
                continue
            worst = max(worst, abs(p))
            new = min(max(alpha[i] - g / Q[i], 0.0), U[i])
            step = (new - alpha[i]) * y[i]
            alpha[i] = new
            add_at(w[:-1], where, step * x)
            w[-1] += step * bias
        order = np.array(rest, dtype=np.int64)
    return order, visits


def machine_epoch(X: Any, codes: Array, alpha: Array, c: Array, Q: Array, W: Array, bias: float, order: Array) -> float:
    """One pass for Crammer & Singer's machine; alpha (n, K), W (d+1, K).  Returns the largest change in score units."""
    kernels = compiled.load()
    if kernels is not None:
        return float(kernels.machine_epoch(X, is_sparse(X), codes, alpha, c, Q, W, bias, order))
    worst = 0.0
    for i in order:
        if Q[i] <= 0.0 or c[i] <= 0.0:
            continue
        where, x = row_entries(X, i)
        g = bias * W[-1] + 1.0 + x @ W[:-1][where]
        g[codes[i]] -= 1.0
        top = np.zeros(len(g))
        top[codes[i]] = c[i]
        change = project(alpha[i] - g / Q[i], top) - alpha[i]
        moved = float(np.abs(change).max()) * Q[i]
        if moved <= SETTLED:
            continue
        worst = max(worst, moved)
        alpha[i] += change
        add_at(W[:-1], where, np.multiply.outer(x, change))
        W[-1] += change * bias
    return float(worst)


def project(beta: Array, top: Array) -> Array:
    """argmin ‖x − beta‖² with x ≤ top and Σ x = 0: x = min(top, beta − θ).

    Σ min(top, beta − θ) falls in θ and is linear between its knots, beta − top.

    >>> project(np.array([2.0, 1.0]), np.array([0.5, 0.0]))
    array([ 0.5, -0.5])
    """
    knots = np.sort(beta - top)
    sums = np.minimum(top, beta - knots[:, None]).sum(axis=1)
    low = knots[max(int((sums >= 0.0).sum()) - 1, 0)]
    moving = beta - top <= low
    theta = (beta[moving].sum() + top[~moving].sum()) / moving.sum()
    return np.asarray(np.minimum(top, beta - theta))
