"""Posteriors from scores, right in both tails.

    two classes   P(C₁|x) = σ(z) = 1 / (1 + e⁻ᶻ),           log σ(z) = min(z, 0) − log(1 + e^−|z|)
    K classes     P(C_k|x) = e^{z_k} / Σ_j e^{z_j},          log P_k = z_k − m − log Σ_j e^{z_j − m},  m = max_j z_j
    probit        P(C₁|x) = Φ(z), the normal distribution function

No exponent is ever positive, so nothing overflows; logarithms are formed before rounding to zero can happen, so that
log P(C₀|x) at z = 10⁴ is −10⁴, not −inf.  Alpaydin 10.5, PRML 4.2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discriminant.docstrings import Entries
from discriminant.errors import DataError
from discriminant.kernels import compiled
from discriminant.protocols import Array
from discriminant.thresholds import COLUMNWISE_CLASSES

documented = Entries("""
classes : sequence of K labels
    The classes.
costs : array-like of shape (acts, K)
    λ(α_a|C_k).
new : array-like of shape (K,)
    P', the priors to decide under.
old : array-like of shape (K,)
    P, the priors of the training data.
posteriors : array-like of shape (n, K)
    P(C_k|x).
z : array-like
    Scores, of any shape.
""").documented


def _floats(z: Any) -> Array:
    values = np.asarray(z)
    return values if values.dtype.kind == "f" else values.astype(np.float64)


@documented
def sigmoid(z: Any) -> Array:
    """σ(z) = 1 / (1 + e⁻ᶻ), with full relative accuracy in the lower tail.

    Returns
    -------
    ndarray
        Probabilities, shaped as ``z``.

    See Also
    --------
    logit : Its inverse.

    >>> sigmoid([-1000.0, 0.0, 1000.0]).tolist()
    [0.0, 0.5, 1.0]
    """
    values = _floats(z)
    small = np.exp(-np.abs(values))  # ≤ 1
    return np.asarray(np.where(values >= 0, 1, small) / (1 + small))


@documented
def log_sigmoid(z: Any) -> Array:
    """log σ(z) = min(z, 0) − log(1 + e^−|z|).

    Returns
    -------
    ndarray
        Logarithms of probabilities, shaped as ``z``.

    >>> log_sigmoid([-1e4, 0.0]).round(4).tolist()
    [-10000.0, -0.6931]
    """
    values = _floats(z)
    result = np.asarray(np.abs(values))
    np.negative(result, out=result)
    np.exp(result, out=result)
    np.log1p(result, out=result)
    return np.asarray(np.subtract(np.minimum(values, 0), result, out=result))


@documented
def sigmoid_pair(z: Any) -> Array:
    """The posteriors of two classes, (P(C₀|x), P(C₁|x)) = (σ(−z), σ(z)).

    Parameters
    ----------
    z : array-like of shape (n,)
        Log odds of the second class.

    Returns
    -------
    ndarray of shape (n, 2)
        Probabilities that sum to one.

    >>> sigmoid_pair([0.0, -1000.0]).tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """
    values = _floats(z)
    found = _compiled(values, 1)
    if found is not None:
        return found
    powers = np.stack([-values, values])  # of which one is 1: no choice by sign, which processors guess wrongly
    np.minimum(powers, 0, out=powers)
    np.exp(powers, out=powers)
    powers /= powers[0] + powers[1]
    return _pair(powers[0], powers[1])


@documented
def log_sigmoid_pair(z: Any) -> Array:
    """The log posteriors of two classes, (log P(C₀|x), log P(C₁|x)), from one exponential a row.

    Parameters
    ----------
    z : array-like of shape (n,)
        Log odds of the second class.

    Returns
    -------
    ndarray of shape (n, 2)
        Logarithms of probabilities.

    >>> log_sigmoid_pair([1e4]).tolist()
    [[-10000.0, 0.0]]
    """
    values = _floats(z)
    rest = np.log1p(np.exp(-np.abs(values)))
    return _pair(np.minimum(-values, 0) - rest, np.minimum(values, 0) - rest)


def _pair(first: Array, second: Array) -> Array:
    result = np.empty((*first.shape, 2), dtype=first.dtype)
    result[..., 0], result[..., 1] = first, second
    return result


@documented
def logsumexp(z: Any, axis: int = -1, keepdims: bool = False) -> Array:
    """log Σ e^z along an axis; −inf where all the terms are.

    Parameters
    ----------
    axis : int, default=-1
        The axis to sum over.
    keepdims : bool, default=False
        Keep that axis, with length one.

    Returns
    -------
    ndarray
        The logarithm of the sum of powers.

    >>> float(logsumexp([1e4, 1e4]).round(4))
    10000.6931
    """
    values = _floats(z)
    top = values.max(axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    with np.errstate(divide="ignore"):  # log 0 = −inf is the answer where every term is −inf
        result = np.log(np.exp(values - top).sum(axis=axis, keepdims=True)) + top
    return np.asarray(result if keepdims else np.squeeze(result, axis=axis))


@documented
def log_softmax(z: Any) -> Array:
    """log P(C_k|x) = z_k − log Σ_j e^{z_j}, row by row of (n, K) scores.

    Parameters
    ----------
    z : array-like of shape (n, K)
        Class scores.

    Returns
    -------
    ndarray of shape (n, K)
        Logarithms of probabilities.

    >>> log_softmax([[0.0, 1e4]]).tolist()
    [[-10000.0, 0.0]]
    """
    shifted, axis = _below_the_largest(z)
    # log1p over the terms other than the largest keeps the digits of a posterior close to one: at a lead of 40 the
    # winner's log posterior is −e⁻⁴⁰, where the logarithm of the whole sum would say 0.
    terms = np.exp(shifted)
    largest = shifted == 0
    terms[largest] = 0
    others = terms.sum(axis=axis, keepdims=True)
    others += largest.sum(axis=axis, keepdims=True) - 1
    shifted -= np.log1p(others)
    return _last(shifted, axis)


@documented
def softmax(z: Any) -> Array:
    """P(C_k|x) = e^{z_k} / Σ_j e^{z_j}, row by row of (n, K) scores.

    Parameters
    ----------
    z : array-like of shape (n, K)
        Class scores.

    Returns
    -------
    ndarray of shape (n, K)
        Probabilities that sum to one in each row.

    See Also
    --------
    sigmoid_pair : Two classes with one score.

    >>> softmax([[0.0, 1e4, 1e4]]).tolist()
    [[0.0, 0.5, 0.5]]
    """
    values = _floats(z)
    found = _compiled(values, values.shape[1]) if values.ndim == 2 and values.shape[1] > 1 else None
    if found is not None:
        return found
    result, axis = _below_the_largest(values)
    np.exp(result, out=result)
    result /= result.sum(axis=axis, keepdims=True)
    return _last(result, axis)


def _compiled(z: Array, n_scores: int) -> Array | None:
    """Posteriors of rows with so many scores by the kernel; None where there is none, or it leaves rows to NumPy."""
    if z.dtype.char != "d" or not z.size or (kernels := compiled.load()) is None:
        return None
    result = np.empty((*z.shape, 2) if n_scores == 1 else z.shape)
    return result if kernels.posteriors(np.ascontiguousarray(z), n_scores, result) else None


def _below_the_largest(z: Any) -> tuple[Array, int]:
    """(z − max_k z in a fresh array, its class axis): the classes go first where they are few.

    NumPy reduces a short last axis row by row: 8 times slower for three classes than whole columns at a time.
    """
    values = _floats(z)
    axis = 0 if values.ndim > 1 and values.shape[-1] <= COLUMNWISE_CLASSES else -1
    # A transposed view where it is one: moveaxis takes as long as the softmax of a single row.
    turned = values if axis == -1 else values.T if values.ndim == 2 else np.moveaxis(values, -1, 0)
    shifted = np.array(turned, order="C")
    top = shifted.max(axis=axis, keepdims=True)
    shifted -= np.where(np.isfinite(top), top, 0)
    return shifted, axis


def _last(values: Array, axis: int) -> Array:
    """The class axis back where it belongs."""
    return values if axis == -1 else values.T if values.ndim == 2 else np.moveaxis(values, 0, -1)


@documented
def logit(p: Any) -> Array:
    """log p / (1 − p), the inverse of the sigmoid; ∓inf at 0 and 1.

    Parameters
    ----------
    p : array-like
        Probabilities.

    Returns
    -------
    ndarray
        Log odds, shaped as ``p``.

    See Also
    --------
    sigmoid : Its inverse.

    >>> float(logit(0.5))
    0.0
    """
    values = _floats(p)
    if values.size and not (values.min() >= 0 and values.max() <= 1):
        raise DataError("The logit is defined for probabilities: values between 0 and 1.")
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values) - np.log1p(-values))


@documented
def probit(z: Any) -> Array:
    """Φ(z), the standard normal distribution function: the sigmoid's neighbour with lighter tails.

    Returns
    -------
    ndarray
        Probabilities, shaped as ``z``.

    >>> float(probit(0.0))
    0.5
    """
    from scipy.special import ndtr

    return np.asarray(ndtr(_floats(z)))


@documented
def log_probit(z: Any) -> Array:
    """log Φ(z), finite far into the lower tail.

    Returns
    -------
    ndarray
        Logarithms of probabilities, shaped as ``z``.

    >>> float(log_probit(-1e4).round(-1))
    -50000010.0
    """
    from scipy.special import log_ndtr

    return np.asarray(log_ndtr(_floats(z)))
