"""Make the data of a logistic task and its optima: ``python -m benchmarks.prepare NAME N D C``.

F* is the lowest value that our own solver reaches at a tight tolerance.  It is a value of F at weights that are there,
so it can only lie too high, and a contender that came below it would show in the table as the best.  Peers that
penalise the intercept, or have none, are measured to the optimum of the function that they minimise.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import Any, cast

import numpy as np

from benchmarks.contract import Array, Data
from benchmarks.data_logistic import folder_of, make_rows, save_rows
from benchmarks.objective import ABSENT, FREE, PENALISED, objectives

N_LAMBDAS, LEAST = 100, 0.1
TIGHT = 1e-11


def lambdas(X: Any, y: Array) -> Array:
    """100 values from λ_max = ‖Xᵗ(y − ȳ)‖_∞ / n, at which all weights are zero, down to a tenth of it."""
    largest = float(np.max(np.abs(X.T @ (y - y.mean())))) / len(y)
    return np.asarray(largest * LEAST ** (np.arange(N_LAMBDAS) / (N_LAMBDAS - 1)))


def with_ones(X: Any) -> Any:
    """X with a last column of ones."""
    ones = np.ones((X.shape[0], 1))
    if isinstance(X, np.ndarray):
        return np.hstack([X, ones])
    from scipy.sparse import csr_matrix, hstack

    return csr_matrix(hstack([X, ones]))


def _ridge(data: Data, convention: str) -> tuple[Array, Array]:
    """Our weights (1, d, q) and intercepts (1, q) at the optimum."""
    from discriminant import LogisticRegression

    C = data.extra["C"]
    if convention == FREE:
        model = LogisticRegression(C=C, tol=TIGHT).fit(data.X, data.y)
        return model.coef_.T[None], model.intercept_[None]
    X = with_ones(data.X) if convention == PENALISED else data.X
    model = LogisticRegression(C=C, tol=TIGHT, fit_intercept=False).fit(X, data.y)
    if convention == ABSENT:
        return model.coef_.T[None], np.zeros((1, 1))
    return model.coef_[:, :-1].T[None], model.coef_[:, -1][None]


def _path(data: Data, convention: str) -> tuple[Array, Array]:
    """Our weights (L, d, 1) and intercepts (L, 1) along the path."""
    from discriminant.data import make_blocks
    from discriminant.optimize.logistic import LogisticProblem
    from discriminant.optimize.path import SparsePenalty, solve_path

    problem = LogisticProblem(make_blocks(data.X, data.y), 2, 0.0, convention == FREE)
    A = solve_path(problem, SparsePenalty(), data.extra["lambdas"], tol=1e-9).plain()
    return A[:, 1:], A[:, 0]


def optima(data: Data, problem: str) -> dict[str, list[float]]:
    """F* under each convention that a contender of this problem has."""
    if problem in ("logistic-cv", "logistic-one-row"):
        return {}
    if data.extra["l1"]:
        return {c: objectives(data, *_path(data, c), c).tolist() for c in (FREE, ABSENT)}
    conventions = (FREE, PENALISED) if data.n_classes == 2 and problem != "logistic-default" else (FREE,)
    return {c: objectives(data, *_ridge(data, c), c).tolist() for c in conventions}


def main(name: str, n: int, d: int, C: float) -> None:
    """Write X, y, the λ and F*; ``facts.json`` comes last, so a folder that has it is whole."""
    from benchmarks.tasks import TASKS
    from benchmarks.tasks_logistic import LogisticTask

    task = replace(cast("LogisticTask", TASKS[name]), n=n, d=d, C=C)
    folder = folder_of(task)
    X, y = make_rows(task)
    save_rows(folder, X, y)
    path = lambdas(X, y) if "l1" in task.problem else np.array([])
    data = Data(X, y, task.n_classes, X[:1], str(folder), {"C": task.C, "l1": "l1" in task.problem, "lambdas": path})
    facts = {"lambdas": path.tolist(), "optimum": optima(data, task.problem)}
    unfinished = folder / "facts.unfinished"
    unfinished.write_text(json.dumps(facts))
    unfinished.rename(folder / "facts.json")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
