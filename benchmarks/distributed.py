"""Logistic regression on a Dask cluster: ours and dask-ml's, the same workers, the same rows, the same objective.

    python -m benchmarks.distributed                    # two worker processes, 2e6 × 50 rows
    python -m benchmarks.distributed --rows 200000 --workers 2

The objective that both are asked for is Σ ℓ + ½‖w‖²/C with a free intercept.  dask-ml's solvers penalise the intercept
and scale the penalty in their own way, so it is compared where they cannot differ, without a penalty (its "newton" and
"lbfgs"; its default, ADMM, has no such form), and its answers with a penalty are judged by the objective asked for.
Each is timed until its call returns, rows persisted on the workers before; J is then computed for all in float64.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np

COLUMNS = 50


def make_rows(n: int, parts: int, n_classes: int) -> tuple[Any, Any]:
    """Correlated columns and labels drawn from a logistic model, made on the workers."""
    import dask.array as da

    rng = np.random.default_rng(0)
    mix = np.eye(COLUMNS) + 0.3 * rng.normal(size=(COLUMNS, COLUMNS)) / np.sqrt(COLUMNS)
    weights = rng.normal(size=(COLUMNS, n_classes)) / np.sqrt(COLUMNS)
    state = da.random.default_rng(1)
    X = state.standard_normal((n, COLUMNS), chunks=(n // parts, -1)) @ mix
    noise = -da.log(-da.log(state.random((n, n_classes), chunks=(n // parts, -1))))
    y = da.argmax(X @ weights + noise + np.linspace(0, 1, n_classes), axis=1)
    return X, y


def _loss(X: Any, y: Any, A: Any) -> Any:
    z = X @ A[1:] + A[0]
    z = z - z.max(axis=1, keepdims=True)
    lost = np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(z)), y]
    return float(lost.sum())


def objective(X: Any, y: Any, coef: Any, intercept: Any, C: float) -> float:
    """Mean loss + ½‖w‖²/(Cn), from the weights alone."""
    coef, intercept = np.atleast_2d(np.asarray(coef)), np.atleast_1d(np.asarray(intercept))
    if len(coef) == 1:
        coef, intercept = np.vstack([0 * coef, coef]), np.concatenate([[0.0], intercept])
    A = np.vstack([intercept, coef.T])
    penalty = 0.5 * float((coef[-1] ** 2).sum() if len(coef) == 2 else (coef**2).sum()) / (C * X.shape[0])
    return _sum(X, y, A) / X.shape[0] + penalty


def _sum(X: Any, y: Any, A: Any) -> float:
    import dask

    parts = zip(X.to_delayed().ravel(), y.to_delayed().ravel(), strict=True)
    return float(np.sum(dask.compute(*[dask.delayed(_loss)(a, b, A) for a, b in parts])))


def ours(X: Any, y: Any, C: float, tol: float) -> tuple[Any, Any, str]:
    from discriminant import LogisticRegression

    model = LogisticRegression(C=C, tol=tol).fit(X, y)
    found = model.certificate_
    return (
        model.coef_,
        model.intercept_,
        f"proved within {found.gap / abs(found.objective):.0e}, {found.passes:g} passes",
    )


def dask_ml(solver: str, X: Any, y: Any, C: float, **options: Any) -> tuple[Any, Any, str]:
    from dask_ml.linear_model import LogisticRegression

    model = LogisticRegression(solver=solver, C=C, **options).fit(X, y)
    return model.coef_, model.intercept_, ""


def table(
    X: Any, y: Any, C: float, contenders: dict[str, Any], n_classes: int = 2
) -> list[tuple[str, float, float, str]]:
    """Time, objective and note of each contender."""
    rows = []
    for name, fit in contenders.items():
        start = time.perf_counter()
        try:
            coef, intercept, note = fit()
        except (ValueError, TypeError, NotImplementedError, AttributeError, ImportError) as error:
            print(f"  {name:28s} refused: {type(error).__name__}: {str(error)[:90]}", flush=True)
            continue
        seconds = time.perf_counter() - start
        if np.atleast_2d(coef).shape[0] == 1 and n_classes > 2:
            print(f"  {name:28s} {seconds:8.2f} s   weights for two classes where there are {n_classes}", flush=True)
            continue
        rows.append((name, seconds, objective(X, y, coef, intercept, C), note))
    best = min(J for _, _, J, _ in rows)
    for name, seconds, J, note in rows:
        print(f"  {name:28s} {seconds:8.2f} s   (J - best)/best {(J - best) / best:8.1e}   {note}", flush=True)
    return rows


def compare(n: int, parts: int, default: bool) -> None:
    """The three questions: speed without a penalty, right with one, more than two classes."""
    import dask

    X, y = dask.persist(*make_rows(n, parts, 2))
    X, y = X.compute_chunk_sizes(), y.compute_chunk_sizes()
    ours(X[: n // 50], y[: n // 50], 1.0, 1e-6)  # warm: workers load what they need
    print(f"two classes, {n} x {COLUMNS}, no penalty: time to the optimum", flush=True)
    contenders = {
        "discriminant, tol=1e-6": lambda: ours(X, y, np.inf, 1e-6),
        "discriminant, tol=1e-10": lambda: ours(X, y, np.inf, 1e-10),
        "dask-ml newton": lambda: dask_ml("newton", X, y, 1e12, max_iter=50, tol=1e-6),
        "dask-ml lbfgs": lambda: dask_ml("lbfgs", X, y, 1e12, max_iter=200, tol=1e-8),
    }
    if default:
        contenders["dask-ml admm (its default)"] = lambda: dask_ml("admm", X, y, 1e12)
    table(X, y, np.inf, contenders)
    strong = 100 / n
    print(f"two classes, C = {strong:g}: whose weights minimise what was asked for", flush=True)
    table(X, y, strong, {
        "discriminant": lambda: ours(X, y, strong, 1e-8),
        "dask-ml newton": lambda: dask_ml("newton", X, y, strong, max_iter=50),
        "dask-ml lbfgs": lambda: dask_ml("lbfgs", X, y, strong, max_iter=200),
    })  # fmt: skip
    three_classes(n, parts)


def three_classes(n: int, parts: int) -> None:
    """More than two classes."""
    import dask

    X, y = dask.persist(*make_rows(n // 4, parts, 3))
    X, y = X.compute_chunk_sizes(), y.compute_chunk_sizes()
    print(f"three classes, {n // 4} x {COLUMNS}, C = 1", flush=True)
    contenders = {
        "discriminant": lambda: ours(X, y, 1.0, 1e-8),
        "dask-ml newton": lambda: dask_ml("newton", X, y, 1.0, max_iter=50),
    }
    table(X, y, 1.0, contenders, 3)


def scaling(n: int, parts: int, workers: int) -> None:
    """Seconds of a fit with one worker and with more."""
    import dask
    from distributed import Client, LocalCluster

    for count in range(1, workers + 1):
        with (
            LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster),
        ):
            X, y = dask.persist(*make_rows(n, parts, 2))
            X, y = X.compute_chunk_sizes(), y.compute_chunk_sizes()
            ours(X[: n // 50], y[: n // 50], 1.0, 1e-6)
            start = time.perf_counter()
            _, _, note = ours(X, y, 1.0, 1e-6)
            print(
                f"workers {count}: logistic, {n} x {COLUMNS}: {time.perf_counter() - start:.2f} s ({note})", flush=True
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--parts", type=int, default=16)
    parser.add_argument("--without-default", action="store_true", help="leave out ADMM, which takes minutes")
    given = parser.parse_args()
    from distributed import Client, LocalCluster

    warnings.simplefilter("ignore")
    scaling(given.rows, given.parts, given.workers)
    with LocalCluster(n_workers=given.workers, threads_per_worker=1, dashboard_address=None) as made, Client(made):
        compare(given.rows, given.parts, not given.without_default)


if __name__ == "__main__":
    main()
