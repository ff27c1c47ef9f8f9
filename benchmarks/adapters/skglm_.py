"""skglm: working sets and proximal Newton steps, compiled at first use.

Its objective is the mean loss + α (ratio ‖w‖₁ + ½ (1 − ratio) ‖w‖²), the intercept free.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.adapters.refusals import refuse
from benchmarks.contract import PEER, Data
from benchmarks.effort import Solver, counts, deadline, methods, tolerances
from benchmarks.objective import PENALISED

NAME, ROLE, PACKAGE, ENVIRONMENT = "skglm", PEER, "skglm", "peers"


def _columns(data: Data) -> Any:
    """Columns in one piece each, as its coordinate descent reads them; not timed."""
    return np.asfortranarray(data.X) if isinstance(data.X, np.ndarray) else data.X.tocsc()


def _ridge_setup(data: Data) -> Any:
    """Its L-BFGS has no intercept: a column of ones takes its place, so it is penalised.  Effort: iterations."""
    from scipy.sparse import csc_matrix, hstack
    from skglm.datafits import Logistic
    from skglm.penalties import L2
    from skglm.solvers import LBFGS

    ones, alpha = np.ones((data.X.shape[0], 1)), 1.0 / (data.X.shape[0] * data.extra["C"])
    X = np.hstack([data.X, ones]) if isinstance(data.X, np.ndarray) else csc_matrix(hstack([data.X, ones]))
    signs = np.where(data.y == 1, 1.0, -1.0)
    return lambda rung: LBFGS(max_iter=rung, tol=1e-14).solve(X, signs, Logistic(), L2(alpha))[0]


def _path_setup(data: Data) -> Any:
    from skglm import SparseLogisticRegression

    X = _columns(data)

    def fit(rung: float) -> Any:
        check, found = deadline(data), []
        model = SparseLogisticRegression(l1_ratio=data.extra["l1_ratio"], tol=rung, max_iter=100, warm_start=True)
        for alpha in data.extra["lambdas"]:
            model.set_params(alpha=float(alpha)).fit(X, data.y)
            found.append((np.ravel(model.coef_).copy(), float(np.ravel(model.intercept_)[0])))
            check()
        return np.stack([w for w, _ in found])[:, :, None], np.array([b for _, b in found])[:, None]

    return fit


_RIDGE = Solver("lbfgs", counts(2_000), _ridge_setup, lambda w: (w[:-1], w[-1:]), PENALISED)
_PATH = Solver("prox-newton", tolerances(7, 2), _path_setup, lambda r: r)
METHODS = {
    "logistic-l2": methods(NAME, _RIDGE),
    "logistic-sparse": methods(NAME, _RIDGE),
    "logistic-l1-path": methods(NAME, _PATH),
    "logistic-l1-path-sparse": methods(NAME, _PATH),
    "elastic-path": methods(NAME, _PATH),
}
REFUSALS = refuse(METHODS, softmax_l2="has no softmax: it fits one class against the rest")
