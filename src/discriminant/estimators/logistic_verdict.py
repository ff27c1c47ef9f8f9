"""Without a penalty and without a proof: has the likelihood a maximum at all?

Separated classes have none, and weights on their way to infinity mean nothing: the estimator is given the limit
itself, which depends on the data alone.  The question is asked only where a fit could not prove its own gap, which it
always can where a maximum exists and is not absurdly far away; so it costs ordinary fits nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discriminant.data import require_finite
from discriminant.optimize.logistic import LogisticFit, LogisticProblem
from discriminant.protocols import Array

MOST_COLUMNS, MOST_OF_MANY = 2_500, 600  # beyond (for K classes), exact arithmetic takes minutes, a fit a second


def judge(estimator: Any, fit: LogisticFit, problem: LogisticProblem, shift: Any) -> None:
    """Put the limit in the place of a fit that has none, and warn; ``shift``: what was taken off the intercepts."""
    if fit.gap <= 0.1 * abs(fit.objective) or not (estimator.penalty is None or np.isinf(estimator.C)):
        return
    from discriminant.estimators.logistic_limit import told, undecided

    most = MOST_COLUMNS if problem.n_classes == 2 else MOST_OF_MANY
    if problem.n_features > most and not fit.separated:
        undecided(estimator, f"To decide it for {problem.n_features:,} columns takes long, so that it was not asked")
    else:
        told(estimator, problem, shift)


def limited(estimator: Any) -> bool:
    """Whether predictions are those of a limit: of a fit without a maximum, whose weights are as the fit left them."""
    return "limit_" in vars(estimator) and estimator._as_fitted()


def limiting_scores(estimator: Any, X: Any) -> Array:
    """(n, 1) log odds or (n, K) scores in the limit; where they are infinite, a quarter of the largest float.

    So probabilities are 0 and 1, and measures of rank, which refuse infinities, still work.
    """
    require_finite(X, estimator._names(), estimator=type(estimator).__name__)
    z = estimator.limit_.scores(X)
    dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
    most = float(np.finfo(dtype).max) / 4
    if z.shape[1] == 2:
        with np.errstate(invalid="ignore"):
            z = z[:, 1:] - z[:, :1]
    return np.asarray(np.clip(z, -most, most).astype(dtype))
