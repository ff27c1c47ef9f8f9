"""statsmodels: GLM with an elastic-net penalty: mean loss + Σ_j α_j (½ (1 − r) w_j² + r |w_j|)."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.adapters.refusals import refuse
from benchmarks.contract import PEER, Data
from benchmarks.effort import Solver, counts, methods

NAME, ROLE, PACKAGE = "statsmodels", PEER, "statsmodels"
MOST_VALUES = 2e6


def _setup(data: Data) -> Any:
    """The intercept is a column of ones whose α is zero; effort: rounds over the coordinates."""
    import statsmodels.api as sm

    n, d = data.X.shape
    X = np.hstack([np.ones((n, 1)), data.X])
    alpha = np.full(d + 1, 1.0 / (n * data.extra["C"]))
    alpha[0] = 0.0
    model = sm.GLM(data.y.astype(np.float64), X, family=sm.families.Binomial())
    return lambda rung: model.fit_regularized(alpha=alpha, L1_wt=0.0, maxiter=rung, cnvrg_tol=1e-14, zero_tol=0.0)


_SOLVER = Solver("GLM", counts(100), _setup, lambda r: (r.params[1:], r.params[:1]), most_values=MOST_VALUES)
METHODS = {"logistic-l2": methods(NAME, _SOLVER)}
_SLOW = "is not run: its penalised fits go through Python one coordinate at a time"
REFUSALS = refuse(
    METHODS,
    softmax_l2="has no ridge penalty for more than two classes",
    logistic_sparse="takes no sparse rows",
    logistic_l1_path=_SLOW,
    logistic_l1_path_sparse="takes no sparse rows",
)
