"""What the parameters of a logistic regression mean: scikit-learn 1.9's names, checks and deprecations."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Hidden

from discriminant.estimators.parameters import (
    BOOLEAN,
    CLASS_WEIGHT,
    COUNT,
    FRACTION,
    N_JOBS,
    NOT_NEGATIVE,
    POSITIVE,
    RANDOM_STATE,
    Among,
    Number,
)
from discriminant.estimators.parts import CODING, OPTIMIZER

SOLVERS = (
    "auto", "lbfgs", "liblinear", "newton-cd", "newton-cd-gram", "newton-cg", "newton-cholesky", "sag", "saga"
)  # fmt: skip

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
    "penalty": [Among("deprecated", "l1", "l2", "elasticnet", "jeffreys", "flic", "flac"), None],
    "C": [Number(Real, 0, None, closed="right")],
    "l1_ratio": [FRACTION, None],
    "optimizer": OPTIMIZER,
    "correct_priors": BOOLEAN,
    "penalty_factors": [None, "array-like"],
    "bounds": [None, tuple, list],
    "groups": [None, "array-like"],
    "grouped": BOOLEAN,
    "coding": CODING,
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
