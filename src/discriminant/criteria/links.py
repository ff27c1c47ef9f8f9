"""Logarithms that criteria are made of, beside the sigmoid and the softmax of ``decision``: exact far into the tails.

Both keep the dtype of floating input and never form e^{|z|}, so that |z| = 1e4 is as safe as |z| = 1 in float32 too.
"""

from __future__ import annotations

import numpy as np

from discriminant.docstrings import Entries
from discriminant.protocols import Array

documented = Entries("""
z : ndarray of shape (..., K)
    Scores.
→ Array : ndarray
    Shaped as ``z``.
""").documented


@documented
def softplus(z: Array) -> Array:
    """ln(1+e^z), the negative logarithm of σ(−z).

    >>> softplus(np.array([-1e4, 0.0, 1e4]))
    array([0.00000000e+00, 6.93147181e-01, 1.00000000e+04])
    """
    return np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z)))


@documented
def log_sum_exp(z: Array) -> Array:
    """ln Σ_k e^{z_k} over the last axis, which stays with length one.

    Returns
    -------
    ndarray of shape (..., 1)
        The logarithm of the sum of powers.

    >>> log_sum_exp(np.array([[1e4, 1e4]])).round(4)
    array([[10000.6931]])
    """
    top = z.max(axis=-1, keepdims=True)
    return np.asarray(top + np.log(np.exp(z - top).sum(axis=-1, keepdims=True)))


def entropy_term(p: Array) -> Array:
    """p ln p, with its limit 0 at p = 0 and +inf below: the building block of the conjugates of the two above."""
    with np.errstate(divide="ignore", invalid="ignore"):
        term = np.where(p > 0, p * np.log(np.where(p > 0, p, 1)), 0)
    return np.where(p < 0, np.inf, term)
