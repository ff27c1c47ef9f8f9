"""Class frequencies that change between training and use.

The densities p(x|C_k) stay, the priors do not.  By Bayes' rule

    log P'(C_k|x) = log P(C_k|x) + log P'_k / P_k − log Σ_j e^{…},

so that a linear discriminant only moves its intercepts: w'_k0 = w_k0 + log P'_k / P_k (Alpaydin 10.20; Elkan 2001).
Where the new priors are not known, the unlabelled rows show them: the EM of Saerens, Latinne and Decaestecker (2002).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from discriminant.arguments import COUNT, NOT_NEGATIVE, checked, some_numbers
from discriminant.arrays import axis_labels
from discriminant.decision.posteriors import documented, log_softmax
from discriminant.errors import DataError, ParameterError, as_numbers, names, no_class, warn
from discriminant.protocols import Array


@documented
def check_priors(priors: Any, classes: Sequence[Any] | Array, *, name: str = "priors") -> Array:
    """The priors in the order of the classes, summing to one; refused in a sentence otherwise.

    Parameters
    ----------
    priors : array-like of shape (K,) or mapping
        In the order of the classes, or by class: a mapping, or a series of pandas whose index names the classes.
    name : str, default="priors"
        What the parameter is called in sentences.

    Returns
    -------
    ndarray of shape (K,)
        Priors in float64.

    Raises
    ------
    ParameterError
        Where they do not fit the classes, one is negative, or all are zero.  Priors with another sum are warned of
        and divided by it.

    >>> check_priors({"b": 0.75, "a": 0.25}, ["a", "b"]).tolist()
    [0.25, 0.75]
    """
    if axis_labels(priors, "index") is not None:
        priors = dict(zip(priors.index, priors, strict=True))
    if isinstance(priors, Mapping):
        priors = _from_mapping(priors, classes, name)
    values = as_numbers(priors, name)
    if values.shape != (len(classes),):
        raise ParameterError(
            f"{name} has shape {values.shape} and there are {len(classes)} classes ({names(list(classes))}): "
            "give one prior for each class, in that order."
        )
    if not np.isfinite(values).all():
        raise ParameterError(f"{name} holds NaN or infinity for class {classes[int(np.argmin(np.isfinite(values)))]}.")
    if (values < 0).any():
        worst = int(np.argmin(values))
        raise ParameterError(f"{name} must be non-negative; class {classes[worst]} has {values[worst]:g}.")
    total = float(values.sum())
    if total == 0:
        raise ParameterError(f"{name} are all zero: at least one class must be possible.")
    if abs(total - 1) > 1e-5:
        warn(f"The {name} do not sum to 1. Renormalizing (they sum to {total:g}).")
    return values / total


def _from_mapping(priors: Mapping[Any, Any], classes: Sequence[Any] | Array, name: str) -> list[Any]:
    known = [label.item() if isinstance(label, np.generic) else label for label in classes]
    missing = [label for label in known if label not in priors]
    if missing:
        raise ParameterError(f"{name} says nothing about class {names(missing)}; give a prior for every class.")
    unknown = [label for label in priors if label not in known]
    if unknown:
        raise ParameterError(f"{name} names {no_class(unknown)}; the classes are {names(known)}.")
    return [priors[label] for label in known]


PRIORS = some_numbers(
    "finite numbers at least 0, one for each class", lambda p: p.ndim == 1 and (np.isfinite(p) & (p >= 0)).all()
)
LOGS = some_numbers("an array of numbers, a column for each class", lambda p: p.ndim > 0)


@documented
@checked(old=PRIORS, new=PRIORS)
def prior_shift(old: Any, new: Any) -> Array:
    """log P'_k / P_k for each class: what a change of priors adds to each score.

    A class with zero prior in training has no posterior that could be raised, and is refused.

    Returns
    -------
    ndarray of shape (K,)
        −inf where the new prior is zero.

    Raises
    ------
    DataError
        Where an old prior is zero and the new one is not.

    >>> prior_shift([0.5, 0.5], [0.5, 0.5]).tolist()
    [0.0, 0.0]
    """
    old, new = np.asarray(old, dtype=np.float64), np.asarray(new, dtype=np.float64)
    if old.shape != new.shape:
        raise ParameterError(
            f"old has {len(old)} priors and new has {len(new)}; give both in the order of the classes."
        )
    impossible = (old <= 0) & (new > 0)
    if impossible.any():
        raise DataError(
            f"Class number {int(np.argmax(impossible))} had prior 0 in training and has {new[impossible][0]:g} now: "
            "nothing was learned about it, so its posterior cannot be raised. Fit again with a positive prior."
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        shift = np.log(new) - np.log(old)
    return np.where(new > 0, shift, -np.inf)


@documented
@checked(log_posteriors=LOGS)
def shift_log_posteriors(log_posteriors: Any, old: Any, new: Any) -> Array:
    """log P'(C_k|x) under new priors, from log P(C_k|x) under the old ones.

    Parameters
    ----------
    log_posteriors : array-like of shape (n, K)
        log P(C_k|x).

    Returns
    -------
    ndarray of shape (n, K)
        Logarithms of probabilities.

    >>> moved = shift_log_posteriors(np.log([[0.5, 0.5]]), [0.5, 0.5], [0.9, 0.1])
    >>> np.exp(moved).round(6).tolist()
    [[0.9, 0.1]]
    """
    values = np.asarray(log_posteriors)
    moved = values + prior_shift(old, new).astype(values.dtype if values.dtype.kind == "f" else np.float64)
    empty = ~np.isfinite(moved).any(axis=-1)
    if empty.any():
        raise DataError(
            f"Row {int(np.argmax(empty))} has posterior 0 for every class that the new priors allow: the posteriors "
            "were rounded to zero. Hand over log posteriors, or give each class a positive prior."
        )
    return log_softmax(moved)


@documented
@checked(posteriors=LOGS)
def shift_posteriors(posteriors: Any, old: Any, new: Any) -> Array:
    """P'(C_k|x) under new priors: proportional to P(C_k|x) P'_k / P_k.

    Returns
    -------
    ndarray of shape (n, K)
        Probabilities that sum to one in each row.

    See Also
    --------
    estimate_priors : The new priors from unlabelled rows.

    >>> shift_posteriors([[0.5, 0.5]], [0.5, 0.5], [0.9, 0.1]).round(6).tolist()
    [[0.9, 0.1]]
    """
    with np.errstate(divide="ignore"):
        return np.asarray(np.exp(shift_log_posteriors(np.log(np.asarray(posteriors)), old, new)))


@documented
@checked(log_posteriors=LOGS, old=PRIORS, tol=NOT_NEGATIVE, max_iter=COUNT)
def estimate_priors(log_posteriors: Any, old: Any, *, tol: float = 1e-8, max_iter: int = 10_000) -> Array:
    """The priors under which unlabelled rows with these posteriors (under the old priors) are most likely.

    The EM of Saerens et al.: shift the posteriors to the present priors, take their mean as the next.  Each step
    raises the likelihood Σ_n log Σ_k P'_k p(x_n|C_k), which is concave in P', so that the limit is its maximum.
    The posteriors must be calibrated for the old priors.

    Parameters
    ----------
    log_posteriors : array-like of shape (n, K)
        log P(C_k|x) of unlabelled rows, calibrated for the old priors.
    old : array-like of shape (K,)
        The priors of the training data.
    tol : float, default=1e-08
        End when no prior changes by more.
    max_iter : int, default=10000
        Steps at most.

    Returns
    -------
    ndarray of shape (K,)
        The estimated priors.

    See Also
    --------
    shift_posteriors : Decide under them.

    >>> estimate_priors(np.log([[0.9, 0.1]] * 3 + [[0.1, 0.9]]), [0.5, 0.5]).round(3)
    array([0.812, 0.188])
    """
    values = np.asarray(log_posteriors, dtype=np.float64)
    old = np.asarray(old, dtype=np.float64)
    if values.ndim != 2 or not len(values) or values.shape[1:] != old.shape:
        raise DataError("Priors are estimated from at least one row of log posteriors, shape (n, K), and K old priors.")
    likelihood = np.exp(values - values.max(axis=1, keepdims=True)) / old  # ∝ p(x|C_k), row by row
    priors: Array = old / old.sum()
    for _ in range(max_iter):
        joint = likelihood * priors
        following: Array = (joint / joint.sum(axis=1, keepdims=True)).mean(axis=0)
        change = float(np.abs(following - priors).max())
        priors = following
        if change < tol:
            return priors
    warn(
        f"The priors still moved by {change:.1e} after {max_iter} steps; the classes can hardly be told apart in "
        "these rows, so that their frequencies cannot either.",
    )
    return priors
