"""glum: generalised linear models.  Its objective is the mean loss (half a deviance) + ½ α ‖w‖² or α ‖w‖₁."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.adapters.refusals import refuse
from benchmarks.contract import PEER, Data
from benchmarks.effort import Solver, counts, methods, tolerances

NAME, ROLE, PACKAGE, ENVIRONMENT = "glum", PEER, "glum", "peers"


def _ridge(solver: str) -> Solver:
    """Effort: iterations."""

    def setup(data: Data) -> Any:
        from glum import GeneralizedLinearRegressor

        target = data.y.astype(np.float64)
        alpha = 1.0 / (data.X.shape[0] * data.extra["C"])
        X = data.X if isinstance(data.X, np.ndarray) else data.X.tocsc()
        return lambda rung: GeneralizedLinearRegressor(
            family="binomial", alpha=alpha, l1_ratio=0.0, solver=solver, max_iter=rung, gradient_tol=1e-14
        ).fit(X, target)

    most = 50 if solver == "irls-ls" else 2_000
    return Solver(solver, counts(most), setup, lambda m: (m.coef_, m.intercept_))


def _path_setup(data: Data) -> Any:
    """All λ in one call, as its path does it."""
    from glum import GeneralizedLinearRegressor

    target = data.y.astype(np.float64)
    X = np.asfortranarray(data.X) if isinstance(data.X, np.ndarray) else data.X.tocsc()
    ratio, strengths = data.extra["l1_ratio"], data.extra["lambdas"]

    def fit(rung: float) -> Any:
        common = {"family": "binomial", "l1_ratio": ratio, "gradient_tol": rung}
        if len(strengths) == 1:
            model = GeneralizedLinearRegressor(alpha=strengths[0], **common).fit(X, target)
            return model.coef_[None], np.array([model.intercept_])
        model = GeneralizedLinearRegressor(alpha_search=True, alphas=strengths, **common).fit(X, target)
        return model.coef_path_, model.intercept_path_

    return fit


_PATH = Solver(
    "path",
    tolerances(8, 3),
    _path_setup,
    lambda r: (np.asarray(r[0])[:, :, None], np.asarray(r[1])[:, None]),
)
METHODS = {
    "logistic-l2": methods(NAME, _ridge("irls-ls"), _ridge("lbfgs")),
    "logistic-sparse": methods(NAME, _ridge("lbfgs")),
    "logistic-l1-path": methods(NAME, _PATH),
    "logistic-l1-path-sparse": methods(NAME, _PATH),
    "elastic-path": methods(NAME, _PATH),
}
REFUSALS = refuse(METHODS, softmax_l2="has two classes only")
