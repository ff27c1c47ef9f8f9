"""Make the data of a place and its optima: ``python -m benchmarks.prepare`` with a pickled place on its input.

F* is the lowest value that our own solver reaches at a tight tolerance.  It is a value of F at weights that are there,
so it can only lie too high, and a contender that came below it would show in the table as the best.  Peers that
penalise the intercept, or have none, are measured to the optimum of the function that they minimise.
"""

from __future__ import annotations

import json
import pickle
import sys
from typing import Any

import numpy as np

from benchmarks.contract import Array, Data
from benchmarks.data import facts, facts_of, folder_of, load_rows, save_rows
from benchmarks.designs import make_rows
from benchmarks.objective import ABSENT, FREE, PENALISED, objectives
from benchmarks.task import PATHS, Task

N_LAMBDAS, LEAST = 100, 0.1
TIGHT, PATH_TIGHT = 1e-11, 1e-9


def lambdas(X: Any, y: Array, r: float = 1.0, groups: Any = None) -> Array:
    """100 values from λ_max = max_g ‖X_gᵗ(y − ȳ)‖ / (r n √|g|), at which all weights are zero, to a tenth of it."""
    slopes = np.abs(X.T @ (y - y.mean())) / (r * len(y))
    if groups is not None:
        slopes = np.array([np.sqrt(np.mean(np.square(slopes[g]))) for g in groups])
    return np.asarray(float(slopes.max()) * LEAST ** (np.arange(N_LAMBDAS) / (N_LAMBDAS - 1)))


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
    model = LogisticRegression(C=C, tol=TIGHT, fit_intercept=False).fit(with_ones(data.X), data.y)
    return model.coef_[:, :-1].T[None], model.coef_[:, -1][None]


def _svc(data: Data, _: str) -> tuple[Array, Array]:
    from discriminant import LinearSVC

    model = LinearSVC(C=data.extra["C"], tol=1e-10, max_iter=100_000).fit(data.X, data.y)
    return model.coef_.T[None], model.intercept_[None]


def _path(data: Data, convention: str) -> tuple[Array, Array]:
    """Our weights (L, d, q) and intercepts (L, q) along the path."""
    from discriminant import logistic_path

    known, penalised = data.extra, convention == PENALISED
    options = {name: known[name] for name in ("lambdas", "l1_ratio", "groups")}
    X = with_ones(data.X) if penalised else data.X
    path = logistic_path(X, data.y, tol=PATH_TIGHT, fit_intercept=convention == FREE, **options)
    W = path.coefs.transpose(0, 2, 1)
    return (W[:, :-1], W[:, -1]) if penalised else (W, path.intercepts)


def optima(data: Data, task: Task) -> dict[str, list[float]]:
    """F* under each convention that a contender of this problem has."""
    if not task.what.gaps:
        return {}
    conventions, solve = [FREE], _ridge
    if task.what.l1_ratio:
        solve = _path
        conventions += [PENALISED, ABSENT] if task.n_classes == 2 and task.word.startswith("l1") else []
    elif task.word == "svc":
        solve = _svc
    elif task.n_classes == 2 and task.word != "default" and np.isfinite(task.C):
        conventions += [PENALISED]
    return {c: objectives(data, *solve(data, c), c).tolist() for c in conventions}


def main(task: Task) -> None:
    """Write X, y, the λ and F*; ``facts.json`` comes last, so a folder that has it is whole."""
    folder, below = folder_of(task), facts_of(task)
    if not (folder / "y.npy").exists():
        save_rows(folder, *make_rows(task))
    X, y = load_rows(folder), np.load(folder / "y.npy")
    extra = facts(task)
    path = lambdas(X, y, task.what.l1_ratio, extra["groups"]) if task.word in PATHS else np.array([])
    if task.what.l1_ratio and task.word not in PATHS:
        path = np.array([1.0 / (len(y) * task.C)])
    data = Data(X, y, task.n_classes, X[:1], str(below), extra | {"lambdas": path})
    below.mkdir(exist_ok=True)
    unfinished = below / "facts.unfinished"
    unfinished.write_text(json.dumps({"lambdas": path.tolist(), "optimum": optima(data, task)}))
    unfinished.rename(below / "facts.json")


if __name__ == "__main__":
    main(pickle.load(sys.stdin.buffer))
