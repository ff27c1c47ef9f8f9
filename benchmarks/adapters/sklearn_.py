"""scikit-learn, with each solver that it offers for the problem."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.adapters.sklearn_logistic import METHODS as LOGISTIC
from benchmarks.adapters.sklearn_steps import METHODS as STEPS
from benchmarks.cold import fresh_process
from benchmarks.contract import PEER, Data, Prepared

NAME, ROLE, PACKAGE = "scikit-learn", PEER, "scikit-learn"


def _discriminant(name: str, solver: str, **options: Any) -> Any:
    def build(data: Data) -> Prepared:
        from sklearn import discriminant_analysis

        Model = getattr(discriminant_analysis, name)
        return Prepared(
            lambda: Model(solver=solver, **options).fit(data.X, data.y),
            lambda m: {"posterior": m.predict_proba(data.probe)},
        )

    return build


def _naive_bayes(name: str) -> Any:
    def build(data: Data) -> Prepared:
        from sklearn import naive_bayes

        Model = getattr(naive_bayes, name)
        return Prepared(lambda: Model().fit(data.X, data.y), lambda m: {"posterior": m.predict_proba(data.probe)})

    return build


def _ridge_classifier(solver: str, **options: Any) -> Any:
    """Targets ±1: its scores are 2 z − 1 where z are those of the one-of-K targets."""

    def build(data: Data) -> Prepared:
        from sklearn.linear_model import RidgeClassifier

        alpha = 1.0 / data.extra["C"]
        return Prepared(
            lambda: RidgeClassifier(alpha=alpha, solver=solver, **options).fit(data.X, data.y),
            lambda m: {"scores": (m.decision_function(data.probe) + 1.0) / 2.0},
        )

    return build


def _linear_regression(data: Data) -> Prepared:
    """The targets are handed over ready-made: coding them is not timed."""
    from sklearn.linear_model import LinearRegression

    if data.extra["C"] < np.inf:
        raise RuntimeError("has no penalty")
    T = data.one_hot()
    return Prepared(lambda: LinearRegression().fit(data.X, T), lambda m: {"scores": m.predict(data.probe)})


def _predict(name: str, **options: Any) -> Any:
    def build(data: Data) -> Prepared:
        from sklearn import discriminant_analysis

        model = getattr(discriminant_analysis, name)(**options).fit(data.X, data.y)
        rows = data.X[: data.extra["rows"]]
        return Prepared(lambda: model.predict(rows), lambda labels: {"labels": labels})

    return build


_LDA, _QDA = "LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"
METHODS = {
    "lda-fit": {solver: _discriminant(_LDA, solver) for solver in ("lsqr", "eigen", "svd")},
    "lda-auto": {solver: _discriminant(_LDA, solver, shrinkage="auto") for solver in ("lsqr", "eigen")},
    "lda-shrunk": {solver: _discriminant(_LDA, solver, shrinkage=0.5) for solver in ("lsqr", "eigen")},
    "qda-fit": {solver: _discriminant(_QDA, solver) for solver in ("eigen", "svd")},
    "bernoulli": {"BernoulliNB": _naive_bayes("BernoulliNB")},
    "multinomial": {"MultinomialNB": _naive_bayes("MultinomialNB")},
    "least-squares-fit": {
        "RidgeClassifier cholesky": _ridge_classifier("cholesky"),
        "RidgeClassifier lsqr": _ridge_classifier("lsqr", tol=1e-10),
        "RidgeClassifier sparse_cg": _ridge_classifier("sparse_cg", tol=1e-10),
        "RidgeClassifier svd": _ridge_classifier("svd"),
        "LinearRegression": _linear_regression,
    },
    "lda-predict": {"predict": _predict(_LDA, solver="lsqr")},
    "qda-predict": {"predict": _predict(_QDA)},
    "lda-cold-start": {
        "import and fit": fresh_process(
            "from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as Model"
        ),
    },
    **LOGISTIC,
    **STEPS,
}
REFUSALS: dict[str, str] = {}
