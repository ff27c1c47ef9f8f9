"""When to choose no class.

*Ambiguity of posteriors* (Chow 1970): with a reject cost d and 0–1 costs, reject iff max_k P(C_k|x) < 1 − d.  With
general costs reject is one more act whose row of the cost matrix is d throughout.

*Ambiguity of discriminants* (Alpaydin 10.3.2): with g_k > 0 meaning "x is in C_k", reject where none is positive or
several are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discriminant.arguments import FINITE, checked
from discriminant.decision.posteriors import documented
from discriminant.decision.risk import COSTS, POSTERIORS
from discriminant.errors import DataError, ParameterError
from discriminant.protocols import Array


@documented
@checked(reject_cost=FINITE, error_cost=FINITE, correct_cost=FINITE)
def chow_threshold(reject_cost: float, *, error_cost: float = 1.0, correct_cost: float = 0.0) -> float:
    """Chow's threshold t = (error − reject) / (error − correct): reject iff the largest posterior is below t.

    Parameters
    ----------
    reject_cost : float
        The cost of deciding nothing.
    error_cost : float, default=1.0
        The cost of a wrong decision.
    correct_cost : float, default=0.0
        The cost of a right decision.

    Returns
    -------
    float
        t.

    Raises
    ------
    ParameterError
        Where an error does not cost more than a right act.

    >>> chow_threshold(0.1)
    0.9
    """
    if not error_cost > correct_cost:
        raise ParameterError(
            f"An error must cost more than a right act; error_cost is {error_cost:g} and correct_cost {correct_cost:g}."
        )
    return (error_cost - reject_cost) / (error_cost - correct_cost)


@documented
@checked(posteriors=POSTERIORS, threshold=FINITE)
def reject_by_posterior(posteriors: Any, threshold: float) -> Array:
    """Chow's rule: True for the rows whose largest posterior is below the threshold.

    Parameters
    ----------
    threshold : float
        t.

    Returns
    -------
    ndarray of bool of shape (n,)
        True where the row is rejected.

    See Also
    --------
    chow_threshold : t from costs.

    >>> reject_by_posterior([[0.6, 0.4], [0.95, 0.05]], 0.9).tolist()
    [True, False]
    """
    return np.asarray(np.asarray(posteriors).max(axis=1) < threshold)


@documented
@checked(costs=COSTS, reject_cost=FINITE)
def with_reject(costs: Any, reject_cost: float) -> Array:
    """The cost matrix with one more act, last, that costs the same whatever the class.

    As the last act it is taken only where it is strictly cheaper: ties go to a class.

    Parameters
    ----------
    reject_cost : float
        The cost of the further act.

    Returns
    -------
    ndarray of shape (acts + 1, K)
        The extended costs.

    >>> with_reject([[0, 1], [1, 0]], 0.2).tolist()
    [[0.0, 1.0], [1.0, 0.0], [0.2, 0.2]]
    """
    matrix = np.asarray(costs, dtype=np.float64)
    return np.vstack([matrix, np.full((1, matrix.shape[1]), float(reject_cost))])


@documented
@checked(costs=COSTS, reject_cost=FINITE)
def reject_interval(costs: Any, reject_cost: float) -> tuple[float, float] | None:
    """With two classes, the interval of P(C₁|x) in which to reject is cheapest.

        act 0 is cheaper than reject iff  λ₀₀ + (λ₀₁ − λ₀₀) p ≤ d,   act 1 iff  λ₁₁ + (λ₁₀ − λ₁₁)(1 − p) ≤ d

    Parameters
    ----------
    costs : array-like of shape (2, 2)
        λ(α_a|C_k).
    reject_cost : float
        d.

    Returns
    -------
    tuple (low, high) or None
        Reject iff low < P(C₁|x) < high; None where it never is cheapest.

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


@documented
def without_single_winner(scores: Any) -> Array:
    """The rows in which no discriminant g_k is positive or several are.

    Parameters
    ----------
    scores : array-like of shape (n, K)
        Discriminants.

    Returns
    -------
    ndarray of bool of shape (n,)
        True where there is no single winner.

    >>> without_single_winner([[1.0, -1.0], [-1.0, -2.0], [1.0, 2.0]]).tolist()
    [False, True, True]
    """
    return np.asarray((np.asarray(scores) > 0).sum(axis=1) != 1)


@documented
def error_reject_curve(posteriors: Any, codes: Any) -> tuple[Array, Array, Array]:
    """The share of rows that Chow's rule rejects and the error rate among the rest, for each threshold.

    One entry for each distinct largest posterior, from rejecting nothing upwards.  Read off the threshold that meets a
    promised error rate.

    Parameters
    ----------
    codes : array-like of shape (n,)
        The positions of the true classes.

    Returns
    -------
    tuple (threshold, rejected, error) of ndarrays of shape (m,)
        Thresholds in increasing order, shares of rejected rows, error rates of the others.

    Raises
    ------
    DataError
        Where the shapes do not fit.

    >>> threshold, rejected, error = error_reject_curve([[0.6, 0.4], [0.9, 0.1]], [1, 0])
    >>> threshold.tolist(), rejected.tolist(), error.tolist()
    ([0.6, 0.9], [0.0, 0.5], [0.5, 0.0])
    """
    values, truth = np.asarray(posteriors), np.asarray(codes)
    if values.ndim != 2 or truth.shape != values.shape[:1] or not len(truth):
        raise DataError(f"Posteriors of shape {values.shape} and true classes of shape {truth.shape} do not fit.")
    top, wrong = values.max(axis=1), values.argmax(axis=1) != truth
    order = np.argsort(top, kind="stable")
    first = np.flatnonzero(np.r_[True, np.diff(top[order]) > 0])  # rows before `first` are rejected at this threshold
    kept_errors = np.cumsum(wrong[order][::-1])[::-1][first]
    return top[order][first], first / len(truth), kept_errors / (len(truth) - first)
