"""What the uncertainty of weights means for predictions: intervals of probabilities, and of where the boundary lies.

    probability   logit p_k ± z_α √(gᵗ Σ g),   g the gradient of logit p_k = z_k − ln Σ_{j≠k} e^{z_j} in the weights
    boundary      {t : (a + b t)² ≤ z_α² Var(a + b t)}   where a + b t is the log odds with one column at t  (Fieller)

Both take a table of weights relative to the first class and its covariance.
"""

from __future__ import annotations

import numpy as np

from discriminant.decision.posteriors import log_softmax
from discriminant.errors import DataError
from discriminant.inference.summary import Summary
from discriminant.protocols import Array

_CHUNK = 4_096


def probability_intervals(summary: Summary, X: Array, level: float) -> Array:
    """(n, 2) for two classes, the ends for P(second class|x); else (n, K, 2)."""
    from scipy.special import expit, ndtri

    theta = _weights(summary, X.shape[1])
    reach = float(ndtri(0.5 + level / 2))
    parts = []
    for start in range(0, len(X), _CHUNK):
        rows = X[start : start + _CHUNK]
        Y = np.c_[np.ones(len(rows)), rows]
        z = np.c_[np.zeros(len(rows)), Y @ theta.T]
        log_p = log_softmax(z)
        ends = []
        for k in range(1 if len(theta) == 1 else 0, len(theta) + 1):
            others = np.delete(log_p, k, axis=1)
            rest = np.logaddexp.reduce(others, axis=1)
            slope = -np.exp(log_p - rest[:, None])  # −p_j / (1 − p_k) for the rivals
            slope[:, k] = 1.0
            spread = _spread(summary.covariance, slope[:, 1:], Y)
            logit = log_p[:, k] - rest
            ends.append(expit(np.column_stack([logit - reach * spread, logit + reach * spread])))
        parts.append(np.stack(ends, axis=1))
    found = np.concatenate(parts) if parts else np.zeros((0, max(1, len(theta)), 2))
    return np.asarray(found[:, 0] if len(theta) == 1 else found)


def _spread(covariance: Array, slope: Array, Y: Array) -> Array:
    """√ of the variance of Σ_j slope_j θ_j·y, row by row."""
    m, D = slope.shape[1], Y.shape[1]
    g = (slope[:, :, None] * Y[:, None, :]).reshape(len(Y), m * D)
    return np.asarray(np.sqrt(np.maximum(np.einsum("ij,ij->i", g @ covariance, g), 0.0)))


def boundary_intervals(summary: Summary, X: Array, column: int, level: float) -> Array:
    """(n, 3): where along a column the log odds of two classes are zero, all else as in the row, and its interval.

    Where the column's weight may be zero at this level the boundary may lie anywhere: −inf and inf.
    """
    from scipy.special import ndtri

    theta = _weights(summary, X.shape[1])
    if len(theta) != 1:
        raise DataError("Intervals of the boundary are given for two classes.")
    beta, V, q = theta[0], summary.covariance, float(ndtri(0.5 + level / 2)) ** 2
    Y = np.c_[np.ones(len(X)), X]
    Y[:, column + 1] = 0.0
    a, b = Y @ beta, beta[column + 1]
    va = np.einsum("ij,ij->i", Y @ V, Y)
    cab, vb = Y @ V[:, column + 1], V[column + 1, column + 1]
    # (b² − q v_b) t² + 2 (ab − q c) t + (a² − q v_a) ≤ 0
    A, B, C = b * b - q * vb, a * b - q * cab, a * a - q * va
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(np.maximum(B * B - A * C, 0.0))
        ends = np.column_stack([-a / b, (-B - root) / A, (-B + root) / A])
    if not A > 0:
        ends[:, 1], ends[:, 2] = -np.inf, np.inf
    return np.asarray(ends)


def _weights(summary: Summary, d: int) -> Array:
    if not (np.isfinite(summary.estimate).all() and np.isfinite(summary.covariance).all()):
        raise DataError(
            "Some estimates of this summary are infinite or have no standard error: intervals that rest on them have "
            "no ends. penalty='jeffreys' or a finite C gives finite ones."
        )
    return np.asarray(summary.estimate.reshape(-1, d + 1))
