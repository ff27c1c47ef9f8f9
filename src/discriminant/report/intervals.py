"""How sure the weights of a linear discriminant are: standard errors in units of one deviation of each column.

Logistic regression: the inverse of the penalised information H = Σ_i Y_i Y_iᵗ ⊗ (diag p_i − p_i p_iᵗ) + penalty, at the
fitted weights.  Every other method that is quick: the spread of the weights over samples drawn from the rows with
replacement.  K classes: weights are differences from the mean over classes, which are determined.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from discriminant.data import make_blocks
from discriminant.data.scaling import Scaling
from discriminant.model import discriminant_of
from discriminant.objective import logistic_objective
from discriminant.protocols import Array
from discriminant.thresholds import REPORT_WORK

SAMPLES = 100
MOST_WEIGHTS = 600


def class_weights(linear: Any, deviations: Array) -> Array:
    """(d, q) weights per deviation: one column for two classes, else one a class, centred over the classes."""
    weights = np.asarray(linear.class_weights)[1:]
    if weights.shape[1] == 2:
        weights = weights[:, 1:] - weights[:, :1]
    else:
        weights = weights - weights.mean(axis=1, keepdims=True)
    return np.asarray(weights * deviations[:, None])


def information_errors(linear: Any, X: Array, C: float, deviations: Array) -> Array | None:
    """Standard errors of logistic weights, (d, q); None where there are too many of them."""
    n, d = X.shape
    K = len(linear.classes)
    if (d + 1) * max(K - 1, 1) > MOST_WEIGHTS:
        return None
    ridge = 1.0 / (C * n) if np.isfinite(C) else 0.0
    plain = logistic_objective(make_blocks(X, np.zeros(n, dtype=np.int32)), K, ridge)
    scaling = Scaling(X.mean(axis=0), np.ones(d))
    H = n * plain.scaled(scaling).hessian(scaling.from_user(np.vstack([linear.intercept, linear.coef.T])))
    V = np.linalg.pinv(H[0] if K == 2 else H)
    if K > 2:  # adding one vector to all classes changes nothing: the centred weights are what the data speak of
        centre = np.kron(np.eye(K) - 1.0 / K, np.eye(d + 1))
        V = centre @ V @ centre
    errors = np.sqrt(np.maximum(np.diagonal(V), 0.0)).reshape(-1, d + 1)[:, 1:].T
    return np.asarray(errors * deviations[:, None])


def resampled_errors(refit: Callable[[Array, Array], Any], X: Array, labels: Array, deviations: Array) -> Array | None:
    """The standard deviation of the weights over refits to rows drawn with replacement, within the classes."""
    groups = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    if X.size * len(groups) > REPORT_WORK:
        return None
    rng = np.random.default_rng(0)
    found = []
    for _ in range(SAMPLES):
        rows = np.concatenate([rng.choice(group, len(group)) for group in groups])
        found.append(class_weights(discriminant_of(refit(X[rows], labels[rows])), deviations))
    return np.asarray(np.std(found, axis=0, ddof=1))


def weight_errors(report: Any, linear: Any, X: Array, deviations: Array) -> tuple[Array | None, str]:
    """(standard errors or None, how they were found)."""
    if report.method == "logistic" or type(report.model).__name__ == "LogisticRegression":
        C = float(getattr(report.model, "C", 1.0))
        errors = information_errors(linear, X, C, deviations)
        return errors, "from the curvature of the penalised likelihood at the fit"
    refit = report.extra.get("refit")
    if refit is None or not report.extra["quick"]:
        return None, ""
    errors = resampled_errors(refit, X, report.labels, deviations)
    return errors, f"from {SAMPLES} refits to rows drawn with replacement"
