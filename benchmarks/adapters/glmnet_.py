"""python-glmnet: the Fortran of R's glmnet: mean loss + λ (α ‖w‖₁ + ½ (1 − α) ‖w‖²), intercept free."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.adapters.refusals import refuse
from benchmarks.contract import PEER, Data
from benchmarks.effort import Solver, methods, tolerances

NAME, ROLE, PACKAGE, ENVIRONMENT = "python-glmnet", PEER, "python-glmnet", "peers"
LEAD = 5  # decades from which softmax fits are led to their λ


def _setup(data: Data) -> Any:
    """No standardising, since the penalty would be another one."""
    from glmnet import LogitNet

    ratio = data.extra["l1_ratio"]
    strengths = data.extra["lambdas"] if ratio else np.array([1.0 / (data.X.shape[0] * data.extra["C"])])
    if data.n_classes > 2:
        strengths = strengths * np.logspace(LEAD, 0, LEAD + 1)  # it has no step control: from zero it diverges
    return lambda rung: LogitNet(
        alpha=ratio, lambda_path=strengths, standardize=False, n_splits=0, tol=rung, max_iter=1_000_000
    ).fit(data.X, data.y)


def _read(model: Any) -> tuple[Any, Any]:
    """Its weights are (d, λ), of K classes (K, d, λ)."""
    W, b = np.asarray(model.coef_path_), np.asarray(model.intercept_path_)
    if W.ndim == 3 and len(W) == 1:
        W = W[0]
    if W.ndim == 2:
        return W.T[:, :, None], b.reshape(-1)[:, None]
    return W[:, :, -1:].transpose(2, 1, 0), b[:, -1:].T


_SOLVER = Solver("lognet", tolerances(16, 3), _setup, _read)
METHODS = {
    "logistic-l2": methods(NAME, _SOLVER),
    "softmax-l2": methods(NAME, _SOLVER),
    "logistic-sparse": methods(NAME, _SOLVER),
    "logistic-l1-path": methods(NAME, _SOLVER),
    "logistic-l1-path-sparse": methods(NAME, _SOLVER),
    "elastic-path": methods(NAME, _SOLVER),
}
REFUSALS = refuse(METHODS)
