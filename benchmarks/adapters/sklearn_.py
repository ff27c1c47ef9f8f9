"""scikit-learn, with each solver that it offers for the problem."""

from __future__ import annotations

from typing import Any

from benchmarks.adapters.sklearn_logistic import METHODS as LOGISTIC
from benchmarks.adapters.sklearn_steps import METHODS as STEPS
from benchmarks.cold import fresh_process
from benchmarks.contract import PEER, Data, Prepared

NAME, ROLE, PACKAGE = "scikit-learn", PEER, "scikit-learn"


def _discriminant(name: str, solver: str) -> Any:
    def build(data: Data) -> Prepared:
        from sklearn import discriminant_analysis

        Model = getattr(discriminant_analysis, name)
        return Prepared(
            lambda: Model(solver=solver).fit(data.X, data.y), lambda m: {"posterior": m.predict_proba(data.probe)}
        )

    return build


def _ridge_classifier(solver: str, **options: Any) -> Any:
    """Ridge 0 on targets ±1: its scores are 2 z − 1 where z are those of the one-of-K targets."""

    def build(data: Data) -> Prepared:
        from sklearn.linear_model import RidgeClassifier

        return Prepared(
            lambda: RidgeClassifier(alpha=0.0, solver=solver, **options).fit(data.X, data.y),
            lambda m: {"scores": (m.decision_function(data.probe) + 1.0) / 2.0},
        )

    return build


def _linear_regression(data: Data) -> Prepared:
    """The targets are handed over ready-made: coding them is not timed."""
    from sklearn.linear_model import LinearRegression

    T = data.one_hot()
    return Prepared(lambda: LinearRegression().fit(data.X, T), lambda m: {"scores": m.predict(data.probe)})


def _predict(data: Data) -> Prepared:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    model = LinearDiscriminantAnalysis(solver="lsqr").fit(data.X, data.y)
    return Prepared(lambda: model.predict(data.X), lambda labels: {"labels": labels})


METHODS = {
    "lda-fit": {solver: _discriminant("LinearDiscriminantAnalysis", solver) for solver in ("lsqr", "eigen", "svd")},
    "qda-fit": {solver: _discriminant("QuadraticDiscriminantAnalysis", solver) for solver in ("eigen", "svd")},
    "least-squares-fit": {
        "RidgeClassifier cholesky": _ridge_classifier("cholesky"),
        "RidgeClassifier lsqr": _ridge_classifier("lsqr", tol=1e-10),
        "RidgeClassifier sparse_cg": _ridge_classifier("sparse_cg", tol=1e-10),
        "RidgeClassifier svd": _ridge_classifier("svd"),
        "LinearRegression": _linear_regression,
    },
    "lda-predict": {"predict": _predict},
    "lda-cold-start": {
        "import and fit": fresh_process(
            "from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as Model"
        ),
    },
    **LOGISTIC,
    **STEPS,
}
REFUSALS: dict[str, str] = {}
