"""When to choose no class.

*Ambiguity of posteriors* (Chow 1970): with a reject cost d and 0–1 costs, reject iff max_k P(C_k|x) < 1 − d.  With
general costs reject is one more act whose row of the cost matrix is d throughout.

*Ambiguity of discriminants* (Alpaydin 10.3.2): with g_k > 0 meaning "x is in C_k", reject where none is positive or
several are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discriminant.errors import DataError, ParameterError
from discriminant.protocols import Array


def chow_threshold(reject_cost: float, *, error_cost: float = 1.0, correct_cost: float = 0.0) -> float:
    """The t with: reject iff the largest posterior is below t; t = (error − reject) / (error − correct).

    >>> chow_threshold(0.1)
    0.9
    """
    if not error_cost > correct_cost:
        raise ParameterError(f"An error must cost more than a right act; got {error_cost:g} and {correct_cost:g}.")
    return (error_cost - reject_cost) / (error_cost - correct_cost)


def reject_by_posterior(posteriors: Any, threshold: float) -> Array:
    """Chow's rule: True for the rows whose largest posterior is below the threshold.

    >>> reject_by_posterior([[0.6, 0.4], [0.95, 0.05]], 0.9).tolist()
    [True, False]
    """
    return np.asarray(np.asarray(posteriors).max(axis=1) < threshold)


def with_reject(costs: Any, reject_cost: float) -> Array:
    """The cost matrix with one more act, last, that costs the same whatever the class.

    As the last act it is taken only where it is strictly cheaper: ties go to a class.

    >>> with_reject([[0, 1], [1, 0]], 0.2).tolist()
    [[0.0, 1.0], [1.0, 0.0], [0.2, 0.2]]
    """
    matrix = np.asarray(costs, dtype=np.float64)
    if not np.isfinite(reject_cost):
        raise ParameterError(f"reject_cost is {reject_cost}; it must be a finite number, or None for no reject.")
    return np.vstack([matrix, np.full((1, matrix.shape[1]), float(reject_cost))])


def reject_interval(costs: Any, reject_cost: float) -> tuple[float, float] | None:
    """(low, high): with two classes, reject is cheapest iff low < P(C₁|x) < high; None where it never is.

        act 0 is cheaper than reject iff  λ₀₀ + (λ₀₁ − λ₀₀) p ≤ d,   act 1 iff  λ₁₁ + (λ₁₀ − λ₁₁)(1 − p) ≤ d

    >>> reject_interval([[0, 1], [1, 0]], 0.25)
    (0.25, 0.75)
    """
    matrix = np.asarray(costs, dtype=np.float64)
    if matrix.shape != (2, 2):
        raise ParameterError(f"A reject interval belongs to two acts and two classes; costs has shape {matrix.shape}.")
    low, high = 0.0, 1.0
    for start, end in matrix:  # the cost of an act is a line in p from λ_a0 to λ_a1; keep the p where it exceeds d
        if start <= reject_cost and end <= reject_cost:
            return None
        if start > reject_cost and end > reject_cost:
            continue
        crossing = float((reject_cost - start) / (end - start))
        low, high = (max(low, crossing), high) if end > start else (low, min(high, crossing))
    return (low, high) if low < high else None


def without_single_winner(scores: Any) -> Array:
    """True for the rows of (n, K) discriminants where no g_k > 0 or several are.

    >>> without_single_winner([[1.0, -1.0], [-1.0, -2.0], [1.0, 2.0]]).tolist()
    [False, True, True]
    """
    return np.asarray((np.asarray(scores) > 0).sum(axis=1) != 1)


def error_reject_curve(posteriors: Any, codes: Any) -> tuple[Array, Array, Array]:
    """(threshold, rejected, error): the share of rows that Chow's rule rejects and the error rate among the rest.

    One entry for each distinct largest posterior, from rejecting nothing upwards; ``codes`` are the positions of the
    true classes.  Read off the threshold that meets a promised error rate.
    """
    values, truth = np.asarray(posteriors), np.asarray(codes)
    if values.ndim != 2 or truth.shape != values.shape[:1] or not len(truth):
        raise DataError(f"Posteriors of shape {values.shape} and true classes of shape {truth.shape} do not fit.")
    top, wrong = values.max(axis=1), values.argmax(axis=1) != truth
    order = np.argsort(top, kind="stable")
    first = np.flatnonzero(np.r_[True, np.diff(top[order]) > 0])  # rows before `first` are rejected at this threshold
    kept_errors = np.cumsum(wrong[order][::-1])[::-1][first]
    return top[order][first], first / len(truth), kept_errors / (len(truth) - first)
