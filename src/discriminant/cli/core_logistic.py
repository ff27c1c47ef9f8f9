"""Logistic regression through the core alone: the solver, its proof, its weights.  The same numbers as the estimator
``LogisticRegression`` with its own parameters, without the second that loading scikit-learn takes.
"""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import numpy as np

from discriminant.data import as_rows, encode_labels, make_blocks, require_finite
from discriminant.data.check import require_few_classes
from discriminant.errors import DataError
from discriminant.io.stand_in import StandIn
from discriminant.model import LinearDiscriminant
from discriminant.optimize.history import History
from discriminant.optimize.logistic import LogisticFit, LogisticProblem, solve_logistic
from discriminant.optimize.logistic.certificate import certify_fit
from discriminant.protocols import Array

NAME = "LogisticRegression"
# The estimator's own, as ``LogisticRegression().get_params()`` gives them.
PARAMETERS: dict[str, Any] = {
    "C": 1.0, "basis": None, "bounds": None, "callback": None, "class_weight": None, "coding": "auto",
    "correct_priors": False, "decoder": None, "dual": False, "fit_intercept": True, "grouped": False, "groups": None,
    "intercept_scaling": 1, "l1_ratio": 0.0, "max_iter": 100, "n_jobs": None, "optimizer": "auto",
    "penalty": "deprecated", "penalty_factors": None, "random_state": None, "reject_label": None, "solver": "auto",
    "tol": 1e-08, "trace": False, "verbose": 0, "warm_start": False,
}  # fmt: skip


def load() -> None:
    """Load what the fit will ask for when it is under way, while there is time."""
    importlib.import_module("scipy.linalg.lapack")


def fit_logistic(X: Array, labels: Array) -> tuple[StandIn, list[str]]:
    """(the fitted estimator's stand-in, warnings): min Σ ℓ + ½ ‖w‖² / C, to the gap that ``tol`` asks for."""
    classes, codes = encode_labels(labels)
    blocks = make_blocks(as_rows(X), codes)
    require_few_classes(NAME, blocks.n_rows, len(classes))
    total = LogisticProblem(blocks, len(classes)).total
    problem = LogisticProblem(blocks, len(classes), 1 / PARAMETERS["C"] / total)
    with (
        warnings.catch_warnings(record=True) as heard,
        np.errstate(over="ignore", invalid="ignore", divide="ignore"),  # what overflows is found in the result
    ):
        warnings.simplefilter("always")
        fit = solve_logistic(problem, PARAMETERS["tol"])
    if not (np.isfinite(fit.weights).all() and np.isfinite(fit.objective)):
        require_finite(blocks.rows, None, estimator=NAME)
        raise DataError("The scores overflow although X is finite: its values are too large. Rescale the columns.")
    return _stand_in(fit, problem, classes), [str(warning.message) for warning in heard]


def _stand_in(fit: LogisticFit, problem: LogisticProblem, classes: Array) -> StandIn:
    """What ``LogisticRegression.fit`` keeps, under the names that it has there."""
    link = "sigmoid" if len(classes) == 2 else "softmax"
    model = LinearDiscriminant(fit.weights.copy(), classes, center=fit.center, link=link)
    coef, intercept = np.array(model.coef), np.array(model.intercept)
    history = {"objective" if name == "J" else name: list(values) for name, values in fit.history.items()}
    state = {
        "n_features_in_": model.n_features, "classes_": classes, "discriminant_": model, "coef_": coef,
        "intercept_": intercept, "_kept": (coef.copy(), intercept.copy()), "_belief": None,
        "n_iter_": np.array([fit.steps], dtype=np.int32),
        "certificate_": certify_fit(fit, PARAMETERS["tol"], problem.ridge), "history_": History(history),
    }  # fmt: skip
    return StandIn(NAME, PARAMETERS, model, state)
