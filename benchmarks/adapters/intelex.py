"""scikit-learn-intelex: oneDAL behind scikit-learn's classes.

It has no discriminant analysis of its own (patched scikit-learn runs scikit-learn's), so only its regressions compete.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.adapters.refusals import NO_STEPS, STEPS
from benchmarks.adapters.sklearn_logistic import default, iterative, probabilities
from benchmarks.contract import PEER, Data, Prepared
from benchmarks.effort import methods

NAME, ROLE, PACKAGE = "scikit-learn-intelex", PEER, "scikit-learn-intelex"


def _regression(name: str) -> Any:
    """The targets are handed over ready-made: coding them is not timed."""

    def build(data: Data) -> Prepared:
        from sklearnex import linear_model  # type: ignore[import-untyped]

        T = data.one_hot()
        Model = getattr(linear_model, name)
        options = {"alpha": max(1e-12, 1.0 / data.extra["C"])} if name == "Ridge" else {}
        if name != "Ridge" and data.extra["C"] < np.inf:
            raise RuntimeError("has no penalty")
        return Prepared(lambda: Model(**options).fit(data.X, T), lambda m: {"scores": m.predict(data.probe)})

    return build


def _logistic() -> Any:
    from sklearnex.linear_model import LogisticRegression

    return LogisticRegression


_RIDGE = methods(NAME, iterative(_logistic, "lbfgs"), iterative(_logistic, "newton-cg"))
METHODS = {
    "least-squares-fit": {
        "LinearRegression": _regression("LinearRegression"),
        "Ridge": _regression("Ridge"),
    },
    "logistic-l2": _RIDGE,
    "softmax-l2": _RIDGE,
    "logistic-sparse": _RIDGE,
    "logistic-default": {"default": default(_logistic)},
    "logistic-predict": {"predict_proba": probabilities(_logistic)},
}
_NO_LDA = "has no discriminant analysis of its own: patched scikit-learn runs scikit-learn's"
REFUSALS = {"lda-fit": _NO_LDA, "qda-fit": _NO_LDA, "lda-predict": _NO_LDA, "lda-cold-start": _NO_LDA}
_NO_L1 = "runs scikit-learn's own code for L1 penalties"
REFUSALS |= {"logistic-l1-path": _NO_L1, "logistic-l1-path-sparse": _NO_L1}
REFUSALS["logistic-cv"] = "runs scikit-learn's own cross-validation"
REFUSALS |= dict.fromkeys(STEPS, NO_STEPS)
