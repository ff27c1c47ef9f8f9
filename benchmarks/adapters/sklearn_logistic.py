"""scikit-learn's logistic regression, with each of its solvers; scikit-learn-intelex has the same classes.

Its objective is C Σ ℓ + ½ ‖w‖² with a free intercept, but liblinear penalises the intercept like a weight.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.contract import Builder, Data, Methods, Prepared
from benchmarks.effort import Solver, counts, deadline, methods, tolerances
from benchmarks.objective import FREE, PENALISED, answer

Load = Callable[[], Any]  # the class, imported when a builder runs
ITERATIONS = ("lbfgs", "newton-cg", "newton-cholesky", "sag", "saga")


def read(model: Any) -> tuple[Any, Any]:
    """Weights and intercepts."""
    return model.coef_, model.intercept_


def iterative(load: Load, solver: str, most: int = 4_000) -> Solver:
    """Effort: iterations, with no other end than the limits of the arithmetic."""

    def setup(data: Data) -> Any:
        Model = load()
        options = {"C": data.extra["C"], "solver": solver, "tol": 1e-14, "random_state": 0}
        return lambda rung: Model(max_iter=rung, **options).fit(data.X, data.y)

    return Solver(solver, counts(most), setup, read)


def liblinear(load: Load, dual: bool) -> Solver:
    """Effort: iterations."""

    def setup(data: Data) -> Any:
        Model = load()
        options = {"C": data.extra["C"], "solver": "liblinear", "dual": dual, "random_state": 0, "tol": 1e-14}
        return lambda rung: Model(max_iter=rung, **options).fit(data.X, data.y)

    name = f"liblinear {'dual' if dual else 'primal'}"
    return Solver(name, counts(4_000), setup, read, PENALISED)


def path(load: Load, solver: str) -> Solver:
    """C along the path, each fit from the one before where the solver can."""

    def setup(data: Data) -> Any:
        Model = load()
        n = data.X.shape[0]

        def fit(rung: Any) -> Any:
            check, found = deadline(data), []
            effort = {"max_iter": rung, "tol": 1e-14} if solver == "saga" else {"tol": rung, "max_iter": 10_000}
            model = Model(l1_ratio=data.extra["l1_ratio"], solver=solver, warm_start=True, random_state=0, **effort)
            for strength in data.extra["lambdas"]:
                model.set_params(C=1.0 / (n * strength)).fit(data.X, data.y)
                found.append((model.coef_.T.copy(), np.array(model.intercept_)))
                check()
            return found

        return fit

    rungs: Any = counts(300) if solver == "saga" else tolerances(8, 0)
    convention = PENALISED if solver == "liblinear" else FREE

    def stacked(found: Any) -> tuple[Any, Any]:
        return np.stack([w for w, _ in found]), np.stack([b for _, b in found])

    return Solver(solver, rungs, setup, stacked, convention)


def support_vectors(dual: bool) -> Solver:
    """C Σ max(0, 1 − tz)² + ½ (‖w‖² + b²), each class against the rest.  Effort: tolerances."""

    def setup(data: Data) -> Any:
        from sklearn.svm import LinearSVC

        options = {"C": data.extra["C"], "dual": dual, "max_iter": 100_000, "random_state": 0}
        return lambda rung: LinearSVC(tol=rung, **options).fit(data.X, data.y)

    return Solver("LinearSVC dual" if dual else "LinearSVC primal", tolerances(9, 0), setup, read)


def default(load: Load) -> Builder:
    """As it comes; whatever it warns of is not shown."""

    def build(data: Data) -> Prepared:
        import warnings

        Model = load()

        def call() -> Any:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return Model().fit(data.X, data.y)

        return Prepared(call, lambda m: answer(data, *read(m), FREE))

    return build


def cross_validation(load: Load, **options: Any) -> Builder:
    """10 folds × 20 C at default tolerances; the mean accuracies are compared."""

    def build(data: Data) -> Prepared:
        import warnings

        Model = load()

        def call() -> Any:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return Model(Cs=20, cv=10, use_legacy_attributes=False, **options).fit(data.X, data.y)

        return Prepared(call, lambda m: {"scores": np.asarray(m.scores_).reshape(10, 20).mean(axis=0)})

    return build


def probabilities(load: Load, **options: Any) -> Builder:
    """A fitted model asked for so many rows, and then for the next."""

    def build(data: Data) -> Prepared:
        model = load()(**options).fit(data.X[:5_000], data.y[:5_000])
        rows = data.X[: data.extra["rows"]].copy()
        return Prepared(lambda: model.predict_proba(rows), lambda p: {"posterior": np.asarray(p)})

    return build


def _plain() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression


def _cv() -> Any:
    from sklearn.linear_model import LogisticRegressionCV

    return LogisticRegressionCV


NAME = "scikit-learn"
_OPEN = [iterative(_plain, solver) for solver in ITERATIONS]
_LIBLINEAR = [liblinear(_plain, dual) for dual in (True, False)]
METHODS: Methods = {
    "logistic-l2": methods(NAME, *_OPEN, *_LIBLINEAR),
    "softmax-l2": methods(NAME, *_OPEN),
    "logistic-sparse": methods(NAME, *(s for s in _OPEN if s.name != "newton-cholesky"), *_LIBLINEAR),
    "logistic-l1-path": methods(NAME, path(_plain, "saga"), path(_plain, "liblinear")),
    "logistic-l1-path-sparse": methods(NAME, path(_plain, "saga"), path(_plain, "liblinear")),
    "softmax-l1": methods(NAME, path(_plain, "saga")),
    "elastic-path": methods(NAME, path(_plain, "saga")),
    "svc": methods(NAME, support_vectors(True), support_vectors(False)),
    "logistic-cv": {
        solver + note: cross_validation(_cv, solver=solver, l1_ratios=(0.0,), n_jobs=processes)
        for note, processes in (("", None), (", two processes", 2))
        for solver in ("lbfgs", "newton-cholesky")
    },
    "logistic-default": {"default": default(_plain)},
    "logistic-predict": {"predict_proba": probabilities(_plain)},
}
