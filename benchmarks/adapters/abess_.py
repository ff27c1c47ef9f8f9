"""abess: best subsets; with all columns in the subset a ridge by Newton's method, Σ ℓ + α ‖w‖², intercept free."""

from __future__ import annotations

from typing import Any

from benchmarks.adapters.refusals import refuse
from benchmarks.contract import PEER, Data
from benchmarks.effort import Solver, counts, methods

NAME, ROLE, PACKAGE, ENVIRONMENT = "abess", PEER, "abess", "peers"


def _setup(data: Data) -> Any:
    """``is_normal=False``: on normalised columns the penalty would be another one.  Effort: Newton steps."""
    from abess import LogisticRegression

    d, alpha = data.X.shape[1], 0.5 / data.extra["C"]
    return lambda rung: LogisticRegression(
        support_size=[d], alpha=alpha, primary_model_fit_max_iter=rung, primary_model_fit_epsilon=1e-14
    ).fit(data.X, data.y, is_normal=False)


METHODS = {
    "logistic-l2": methods(NAME, Solver("all columns", counts(60), _setup, lambda m: (m.coef_, m.intercept_))),
}
_SUBSETS = "chooses columns by their number, not by an L1 penalty"
REFUSALS = refuse(
    METHODS,
    softmax_l2="penalises the differences to one class",
    logistic_sparse="makes a full matrix of second derivatives of all columns",
    logistic_l1_path=_SUBSETS,
    logistic_l1_path_sparse=_SUBSETS,
)
