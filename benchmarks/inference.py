"""What proofs and tables cost: tables beside the fit and statsmodels, ``separability`` beside HiGHS on all rows.

    python -m benchmarks.inference summary            n = 1e6, d = 50: fit, summary, and statsmodels' Logit once
    python -m benchmarks.inference answers            n = 1e6, d = 50: every question to a fit beside the fit
    python -m benchmarks.inference separability       n = 1e6, d = 50: a verdict on each kind of data
    python -m benchmarks.inference programs           n = 1e5, d = 20: the same against the whole linear program

``--quick`` takes a tenth of the rows.  Contenders of one table run in one process, one after the other; times are
medians of ``--repeat`` rounds of ours, and one round of the peer, which takes seconds to minutes.  Of ``answers`` they
are the best of the rounds, each of a fit that has been asked nothing before; ``--C`` and ``--classes`` choose the fit.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

KINDS = ("overlapping", "separable", "margin 1e-5", "one flipped label", "quasi-separable")


def clock(call: Callable[[], Any], repeat: int = 1) -> tuple[float, Any]:
    """(median seconds, the last answer)."""
    times, answer = [], None
    for _ in range(repeat):
        start = time.perf_counter()
        answer = call()
        times.append(time.perf_counter() - start)
    return float(np.median(times)), answer


def logistic_rows(n: int, d: int) -> tuple[Any, Any]:
    random = np.random.default_rng(0)
    X = random.normal(size=(n, d))
    return X, (X @ random.normal(size=d) * 0.3 + random.logistic(size=n) > 0).astype(np.int64)


def rows_of(kind: str, n: int, d: int) -> tuple[Any, Any]:
    """Two classes of which the verdict is known."""
    random = np.random.default_rng(1)
    X = random.normal(size=(n, d))
    w = random.normal(size=d) / np.sqrt(d)
    z = X @ w
    if kind == "overlapping":
        return X, (z + random.logistic(size=n) > 0).astype(np.int64)
    if kind == "quasi-separable":
        y = (z + random.logistic(size=n) > 0).astype(np.int64)
        X[:, 0] = random.random(n) < 0.1
        y[X[:, 0] == 1] = 1
        return X, y
    y = (z > 0).astype(np.int64)
    if kind != "separable":
        gap = 1e-5 if kind == "margin 1e-5" else 0.1
        X += np.outer((2 * y - 1) * gap, w / (w @ w))
    else:
        X += np.outer((2 * y - 1) * 0.1, w / (w @ w))
    if kind == "one flipped label":
        y[n // 2] = 1 - y[n // 2]
    return X, y


def expected(kind: str) -> str:
    """The verdict on data of this kind."""
    return kind if kind in ("overlapping", "quasi-separable") else "overlapping" if "flipped" in kind else "separable"


def measure_summary(n: int, d: int, repeat: int, peer: bool) -> list[str]:
    """A table of the fit, its summary and statsmodels' Logit, which gives both at once."""
    from discriminant import LogisticRegression

    X, y = logistic_rows(n, d)
    few = slice(0, n // 8)
    LogisticRegression(C=np.inf).fit(X[few], y[few]).summary(X[few], y[few])  # imports and compilation
    fits, tables = [], []
    for _ in range(repeat):
        seconds, model = clock(lambda: LogisticRegression(C=np.inf).fit(X, y))
        fits.append(seconds)
        seconds, table = clock(model.summary)
        tables.append(seconds)
    fit, summary = float(np.median(fits)), float(np.median(tables))
    ratio = float(np.median(np.array(tables) / fits))
    lines = [f"| ours: fit | {fit:.2f} s | |", f"| ours: summary | {summary:.2f} s | {ratio:.2f} × the fit |"]
    if peer:
        import statsmodels.api as models

        Y = np.column_stack([np.ones(n), X])
        seconds, theirs = clock(lambda: models.Logit(y, Y).fit(disp=0))
        theirs_table, _ = clock(lambda: (theirs.bse, theirs.pvalues, theirs.conf_int()))
        apart = float(np.abs(theirs.bse / table.standard_error - 1).max())
        lines.append(f"| statsmodels Logit: fit | {seconds:.2f} s | {seconds / fit:.1f} × ours |")
        both = (seconds + theirs_table) / (fit + summary)
        lines.append(f"| statsmodels Logit: fit and table | {seconds + theirs_table:.2f} s | {both:.1f} × ours |")
        lines.append(f"| standard errors apart by | {apart:.0e} | |")
    return lines


def correlated_rows(n: int, d: int, K: int) -> tuple[Any, Any]:
    """Gaussian rows whose columns share a factor, and classes that overlap."""
    random = np.random.default_rng(2)
    X = random.normal(size=(n, d))
    X += random.normal(size=(n, 1))
    z = X @ random.normal(size=(d, K)) * 0.3 / np.sqrt(d) + random.gumbel(size=(n, K))
    return X, z.argmax(axis=1)


def questions(X: Any, y: Any, small: Callable[[], Any], penalised: bool) -> dict[str, Callable[[Any], Any]]:
    """What a fit is asked: each by its name, as a function of the fitted model; ``small``: fits columns left out."""
    from discriminant import compare

    random = np.random.default_rng(3)
    groups = random.integers(len(X) // 100, size=len(X))
    strata, households = groups % 20, random.integers(len(X) // 5, size=len(X))
    asked: dict[str, Callable[[Any], Any]] = {
        "summary()": lambda model: model.summary(),
        "marginal_effects()": lambda model: model.marginal_effects(),
        "marginal_effects(X)": lambda model: model.marginal_effects(X),
        'marginal_effects(at="mean")': lambda model: model.marginal_effects(at="mean"),
        'summary(covariance="HC0")': lambda model: model.summary(covariance="HC0"),
        'summary(covariance="HC1")': lambda model: model.summary(covariance="HC1"),
        'summary(covariance="cluster")': lambda model: model.summary(covariance="cluster", groups=groups),
        'summary(covariance="survey")': lambda model: model.summary(covariance="survey"),
        "survey, strata": lambda model: model.summary(covariance="survey", strata=strata),
        "survey, groups": lambda model: model.summary(covariance="survey", groups=groups),
        "survey, strata and groups": lambda model: model.summary(covariance="survey", groups=groups, strata=strata),
        "cluster, five rows each": lambda model: model.summary(covariance="cluster", groups=households),
    }
    if not penalised:
        asked["compare(small, large)"] = lambda model: compare(small(), model)
        asked["compare(small, large, X, y)"] = lambda model: compare(small(), model, X, y)
    return asked


def measure_answers(n: int, d: int, repeat: int, K: int, C: float) -> list[str]:
    """A table of the fit and of each answer, its first one: seconds, processor seconds, ratios."""
    from discriminant import LogisticRegression

    X, y = correlated_rows(n, d, K)
    fewer = X[:, : d - 5].copy()
    smaller: list[Any] = []
    asked = questions(X, y, smaller.pop, np.isfinite(C))
    few = slice(0, n // 8)
    LogisticRegression(C=C).fit(X[few], y[few]).summary()  # imports
    times: dict[str, list[tuple[float, float]]] = {"fit": []}
    for _ in range(repeat):
        for name, ask in asked.items():
            if "small" in name:
                smaller.append(LogisticRegression(C=C).fit(fewer, y))
            timed, model = both_clocks(lambda: LogisticRegression(C=C).fit(X, y))
            times["fit"].append(timed)
            times.setdefault(name, []).append(both_clocks(lambda ask=ask, model=model: ask(model))[0])
    best = {name: np.min(seconds, axis=0) for name, seconds in times.items()}
    ratios = {name: seconds / best["fit"] for name, seconds in best.items()}
    return [
        f"| {name} | {best[name][0]:.3f} s | {ratio[0]:.2f} | {best[name][1]:.3f} s | {ratio[1]:.2f} |"
        for name, ratio in ratios.items()
    ]


def both_clocks(call: Callable[[], Any]) -> tuple[tuple[float, float], Any]:
    """((seconds, seconds of the processor over all threads), the answer)."""
    start, used = time.perf_counter(), time.process_time()
    answer = call()
    return (time.perf_counter() - start, time.process_time() - used), answer


def measure_separability(n: int, d: int, repeat: int, kinds: tuple[str, ...]) -> list[str]:
    """Seconds to a verdict, and whether its proof checks."""
    from discriminant import separability

    lines = []
    for kind in kinds:
        X, y = rows_of(kind, n, d)
        seconds, found = clock(lambda X=X, y=y: separability(X, y, hyperplane="any"), repeat)
        check, good = clock(found.check)
        right = "right" if found.verdict == expected(kind) and good else "WRONG"
        lines.append(f"| {kind} | {found.verdict}, {right} | {seconds:.2f} s | {check:.2f} s |")
    return lines


def measure_programs(n: int, d: int, repeat: int, kinds: tuple[str, ...]) -> list[str]:
    """Our verdict against HiGHS on all rows."""
    from discriminant import separability

    lines = []
    for kind in kinds:
        X, y = rows_of(kind, n, d)
        ours, found = clock(lambda X=X, y=y: separability(X, y, hyperplane="any"), repeat)
        A = (2.0 * y - 1)[:, None] * np.column_stack([np.ones(n), X])
        theirs, said = clock(lambda A=A: by_programs(A))
        line = f"| {kind} | {found.verdict} | {ours:.3f} s | {said} | {theirs:.1f} s | {theirs / ours:.0f} × |"
        lines.append(line)
    return lines


def by_programs(A: Any) -> str:
    """The verdict on sign-normalised rows: is there w with A w ≥ 1?  If not: with A w ≥ 0 and Σ A w > 0, |w| ≤ 1?"""
    from scipy.optimize import linprog

    n, p = A.shape
    if linprog(np.zeros(p), A_ub=-A, b_ub=-np.ones(n), bounds=(None, None), method="highs").status == 0:
        return "separable"
    second = linprog(-A.sum(axis=0), A_ub=-A, b_ub=np.zeros(n), bounds=(-1, 1), method="highs")
    return "quasi-separable" if -second.fun > 1e-6 * n else "overlapping"


HEADS = {
    "summary": "| | time | |\n|---|---|---|",
    "answers": "| asked | time | × the fit | processor | × the fit |\n|---|---|---|---|---|",
    "separability": "| data | verdict | time | check() in exact arithmetic |\n|---|---|---|---|",
    "programs": "| data | ours | time | HiGHS | time | ratio |\n|---|---|---|---|---|---|",
}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=list(HEADS))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=KINDS)
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("--classes", type=int, default=2)
    parser.add_argument("--C", type=float, default=np.inf)
    parser.add_argument("--rows", type=int, default=1_000_000, help="of answers")
    options = parser.parse_args(arguments)
    scale = 10 if options.quick else 1
    print(HEADS[options.what], flush=True)
    if options.what == "summary":
        lines = measure_summary(1_000_000 // scale, 50, options.repeat, not options.no_peer)
    elif options.what == "answers":
        lines = measure_answers(options.rows // scale, 50, options.repeat, options.classes, options.C)
    elif options.what == "separability":
        lines = measure_separability(1_000_000 // scale, 50, options.repeat, tuple(options.kinds))
    else:
        lines = measure_programs(100_000 // scale, 20, options.repeat, tuple(options.kinds))
    print("\n".join(lines), flush=True)


if __name__ == "__main__":
    main()
