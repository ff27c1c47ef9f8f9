"""The sigmoid, the softmax and their logarithms, exact far into the tails and without overflow.

    σ(z) = 1/(1+e^−z),   softplus(z) = ln(1+e^z),   softmax(z)_k = e^{z_k}/Σ_j e^{z_j}.

All keep the dtype of floating input and never form e^{|z|}, so that |z| = 1e4 is as safe as |z| = 1 in float32 too.
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
def sigmoid(z: Array) -> Array:
    """σ(z) = 1/(1+e^−z).

    See Also
    --------
    log_sigmoid : Its logarithm.

    >>> sigmoid(np.array([-1e4, 0.0, 1e4]))
    array([0. , 0.5, 1. ])
    """
    tail = np.exp(-np.abs(z))
    return np.asarray(np.where(z >= 0, 1, tail) / (1 + tail))


@documented
def softplus(z: Array) -> Array:
    """ln(1+e^z), the negative logarithm of σ(−z).

    >>> softplus(np.array([-1e4, 0.0, 1e4]))
    array([0.00000000e+00, 6.93147181e-01, 1.00000000e+04])
    """
    return np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z)))


@documented
def log_sigmoid(z: Array) -> Array:
    """ln σ(z) = −softplus(−z): finite in the far tail, where ln of the sigmoid is not.

    >>> log_sigmoid(np.array([-1e4]))
    array([-10000.])
    """
    return -softplus(-z)


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


@documented
def softmax(z: Array) -> Array:
    """e^{z_k}/Σ_j e^{z_j} over the last axis.

    See Also
    --------
    log_softmax : Its logarithm.

    >>> softmax(np.array([[1e4, 1e4, -1e4]]))
    array([[0.5, 0.5, 0. ]])
    """
    power = np.exp(z - z.max(axis=-1, keepdims=True))
    return np.asarray(power / power.sum(axis=-1, keepdims=True))


@documented
def log_softmax(z: Array) -> Array:
    """ln softmax(z), finite in the far tail.

    >>> log_softmax(np.array([[0.0, 1e4]]))
    array([[-10000.,      0.]])
    """
    return np.asarray(z - log_sum_exp(z))


def entropy_term(p: Array) -> Array:
    """p ln p, with its limit 0 at p = 0 and +inf below: the building block of the conjugates of the two above."""
    with np.errstate(divide="ignore", invalid="ignore"):
        term = np.where(p > 0, p * np.log(np.where(p > 0, p, 1)), 0)
    return np.where(p < 0, np.inf, term)
