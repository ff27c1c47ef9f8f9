"""celer: L1 paths with working sets and dual extrapolation.  Σ ℓ + α ‖w‖₁ without an intercept, so it is marked."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.adapters.refusals import refuse
from benchmarks.contract import PEER, Data
from benchmarks.effort import Solver, methods, tolerances
from benchmarks.objective import ABSENT

NAME, ROLE, PACKAGE, ENVIRONMENT = "celer", PEER, "celer", "peers"


def _setup(data: Data) -> Any:
    from celer import celer_path

    X = np.asfortranarray(data.X) if isinstance(data.X, np.ndarray) else data.X.tocsc()
    signs = np.where(data.y == 1, 1.0, -1.0)
    alphas = data.X.shape[0] * data.extra["lambdas"]
    return lambda rung: celer_path(X, signs, "logreg", alphas=alphas, tol=rung, max_iter=100, use_PN=True)


def _read(result: Any) -> tuple[Any, Any]:
    W = np.asarray(result[1]).T[:, :, None]  # its coefficients are (d, λ)
    return W, np.zeros((len(W), 1))


_PATH = Solver("path", tolerances(9, 2), _setup, _read, ABSENT)
METHODS = {"logistic-l1-path": methods(NAME, _PATH), "logistic-l1-path-sparse": methods(NAME, _PATH)}
REFUSALS = refuse(
    METHODS,
    logistic_l2="has only L1 penalties",
    logistic_sparse="has only L1 penalties",
    softmax_l2="has only L1 penalties and two classes",
)
