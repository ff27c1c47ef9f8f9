"""What the parameters of a logistic regression mean: scikit-learn 1.9's names, checks and deprecations."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Hidden

from discriminant.errors import ParameterError, warn
from discriminant.estimators.parameters import (
    BASIS,
    BOOLEAN,
    CALLBACK,
    CLASS_WEIGHT,
    COUNT,
    DECODER,
    FRACTION,
    LABEL,
    N_JOBS,
    NOT_NEGATIVE,
    POSITIVE,
    RANDOM_STATE,
    Among,
    Number,
)
from discriminant.estimators.parts import CODING, OPTIMIZER

SOLVERS = ("auto", "lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga")
NO_L1 = ("lbfgs", "newton-cg", "newton-cholesky", "sag")

_BOTH: dict[str, Any] = {
    "dual": BOOLEAN,
    "tol": [NOT_NEGATIVE],
    "fit_intercept": BOOLEAN,
    "intercept_scaling": [POSITIVE],
    "class_weight": CLASS_WEIGHT,
    "random_state": RANDOM_STATE,
    "solver": [Among(*SOLVERS)],
    "max_iter": [Number(Integral, 0, None, closed="left")],
    "verbose": ["verbose"],
    "n_jobs": N_JOBS,
}
CONSTRAINTS: dict[str, Any] = {
    **_BOTH,
    "penalty": [Among("deprecated", "l1", "l2", "elasticnet", "jeffreys"), None],
    "C": [Number(Real, 0, None, closed="right")],
    "l1_ratio": [FRACTION, None],
    "warm_start": BOOLEAN,
    "optimizer": OPTIMIZER,
    "correct_priors": BOOLEAN,
    "penalty_factors": [None, "array-like"],
    "bounds": [None, tuple, list],
    "groups": [None, "array-like"],
    "grouped": BOOLEAN,
    "basis": BASIS,
    "coding": CODING,
    "decoder": DECODER,
    "reject_label": LABEL,
    "trace": BOOLEAN,
    "callback": CALLBACK,
}
CV_CONSTRAINTS: dict[str, Any] = {
    **_BOTH,
    "Cs": [COUNT, "array-like"],
    "l1_ratios": [None, "array-like", Hidden(Among("warn"))],
    "cv": ["cv_object"],
    "penalty": [Among("deprecated", "l1", "l2", "elasticnet")],
    "refit": BOOLEAN,
    "use_legacy_attributes": ["boolean", Hidden(Among("warn"))],
    "rule": [Among("best", "one-standard-error")],
}


@dataclass(frozen=True)
class Strength:
    """The penalty in one form: α ‖w‖₁ + ½ β ‖w‖² with α = ratio/C and β = (1 − ratio)/C, on Σ w ℓ."""

    C: float
    l1_ratio: float

    @property
    def l1(self) -> float:
        return 0.0 if np.isinf(self.C) else self.l1_ratio / self.C

    @property
    def l2(self) -> float:
        return 0.0 if np.isinf(self.C) else (1 - self.l1_ratio) / self.C


def check_parameters(estimator: Any) -> Strength:
    """Refuse what does not go together, warn of what scikit-learn deprecates, and say what penalty is meant."""
    watched = getattr(estimator, "trace", False) or getattr(estimator, "callback", None) is not None
    if watched and isinstance(estimator.optimizer, str) and estimator.optimizer.lower() == "auto":
        raise ParameterError(
            "trace and callback follow the steps of a named optimizer, such as optimizer='newton'; the automatic one "
            "keeps objective, gradient and step in history_ without them."
        )
    if estimator.n_jobs is not None:
        warn(
            "'n_jobs' has no effect since 1.8 and will be removed in 1.10. "
            f"You provided 'n_jobs={estimator.n_jobs}', please leave it unspecified; threads are used without it.",
            FutureWarning,
        )
    strength = _strength(estimator)
    _check_solver(estimator, strength)
    return strength


def _strength(estimator: Any) -> Strength:
    ratio = estimator.l1_ratio
    if estimator.penalty == "deprecated":
        if ratio is None:
            warn(
                "'l1_ratio=None' was deprecated in version 1.8 and will trigger an error in 1.10. "
                "Use 0<=l1_ratio<=1 instead.",
                FutureWarning,
            )
        return Strength(estimator.C, ratio or 0.0)
    warn(
        "'penalty' was deprecated in version 1.8 and will be removed in 1.10. To avoid this warning, leave 'penalty' "
        "set to its default value and use 'l1_ratio' or 'C' instead. Use l1_ratio=0 instead of penalty='l2', "
        "l1_ratio=1 instead of penalty='l1', l1_ratio set to a float between 0 and 1 instead of penalty='elasticnet', "
        "and C=np.inf instead of penalty=None.",
        FutureWarning,
    )
    if estimator.penalty != "elasticnet" and ratio is not None and 0 < ratio < 1:
        warn(
            f"l1_ratio parameter is only used when penalty is 'elasticnet'. Got (penalty={estimator.penalty})",
        )
    if (estimator.penalty == "l2" and ratio != 0) or (estimator.penalty == "l1" and ratio != 1):
        warn(
            f"Inconsistent values: penalty={estimator.penalty} with l1_ratio={ratio}. penalty is deprecated. "
            "Please use l1_ratio only.",
        )
    if estimator.penalty is None:
        if estimator.C != 1.0:
            warn("Setting penalty=None will ignore the C and l1_ratio parameters")
        return Strength(np.inf, 0.0)
    if estimator.penalty == "elasticnet":
        if ratio is None:
            raise ParameterError("l1_ratio must be specified when penalty is elasticnet.")
        return Strength(estimator.C, ratio)
    return Strength(estimator.C, 1.0 if estimator.penalty == "l1" else 0.0)


def _check_solver(estimator: Any, strength: Strength) -> None:
    """The combinations that scikit-learn refuses are refused here too, in its words: code that counts on it works."""
    solver = estimator.solver
    kind = None if np.isinf(strength.C) else {0.0: "l2", 1.0: "l1"}.get(float(strength.l1_ratio), "elasticnet")
    if solver in NO_L1 and kind not in ("l2", None):
        raise ParameterError(
            f"Solver {solver} supports only 'l2' or None penalties, got {kind} penalty. Use solver='auto'."
        )
    if solver not in ("liblinear", "auto") and estimator.dual:
        raise ParameterError(f"Solver {solver} supports only dual=False, got dual={estimator.dual}")
    if solver == "liblinear" and kind == "elasticnet":
        raise ParameterError(f"Only 'saga' solver supports elasticnet penalty, got solver={solver}.")
    if solver == "liblinear" and kind is None:
        raise ParameterError("penalty=None is not supported for the liblinear solver")
