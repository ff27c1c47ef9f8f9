"""snapml: coordinate descent on the dual or the primal, Σ ℓ + ½ ρ ‖w‖² with the intercept penalised like a weight."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from benchmarks.adapters.refusals import refuse
from benchmarks.contract import PEER, Data, Prepared
from benchmarks.effort import Solver, counts, methods
from benchmarks.objective import PENALISED

NAME, ROLE, PACKAGE, ENVIRONMENT = "snapml", PEER, "snapml", "peers"


def _model(data: Data, **options: Any) -> Any:
    from snapml import LogisticRegression

    threads = len(os.sched_getaffinity(0))
    return LogisticRegression(regularizer=1.0 / data.extra["C"], n_jobs=threads, random_state=0, **options)


def _dual_setup(data: Data) -> Any:
    y = data.y.astype(np.float64)
    return lambda rung: _model(data, dual=True, fit_intercept=True, tol=1e-14, max_iter=rung).fit(data.X, y)


def _primal_setup(data: Data) -> Any:
    """Its primal fits an intercept and loses it (1.17), also in its predictions: a column of ones instead."""
    y, ones = data.y.astype(np.float64), np.ones((data.X.shape[0], 1))
    if isinstance(data.X, np.ndarray):
        X = np.hstack([data.X, ones])
    else:
        from scipy.sparse import csr_matrix, hstack

        X = csr_matrix(hstack([data.X, ones]))
    return lambda rung: _model(data, dual=False, fit_intercept=False, tol=1e-14, max_iter=rung).fit(X, y)


def _predict(data: Data) -> Prepared:
    model = _model(data, fit_intercept=True, tol=1e-6).fit(data.X[:5_000], data.y[:5_000].astype(np.float64))
    rows = data.X[: data.extra["rows"]].copy()
    return Prepared(lambda: model.predict_proba(rows), lambda p: {"posterior": np.asarray(p)})


_RIDGE = methods(
    NAME,
    Solver("dual", counts(3_000), _dual_setup, lambda m: (m.coef_, m.intercept_), PENALISED),
    Solver("primal", counts(3_000), _primal_setup, lambda m: (m.coef_[:, :-1], m.coef_[:, -1]), PENALISED),
)
METHODS = {
    "logistic-l2": _RIDGE,
    "logistic-sparse": _RIDGE,
    "logistic-predict": {"predict_proba": _predict},
}
_NO_PATH = "has no paths"
REFUSALS = refuse(
    METHODS,
    softmax_l2="has no softmax: it fits one class against the rest",
    logistic_l1_path=_NO_PATH,
    logistic_l1_path_sparse=_NO_PATH,
)
