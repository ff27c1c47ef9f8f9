"""One contender on the large file, in a process of its own: ``python -m benchmarks.scale_worker NAME FOLDER …``.

Each writes what it knew when: times since it was handed the file, and the weights that it had then, in the units of
the file.  Taking a snapshot is not timed.  At the end it waits for a line on its input, so that whoever started it can
read the peak of its memory from outside.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.scale_data import standard

BLOCK = 50_000
CHECKS = (20_000, 50_000, 100_000, 200_000, 400_000, 800_000, 1_500_000, 3_000_000, 6_000_000, 12_000_000)
VW_ROWS = (100_000, 300_000, 1_000_000, 2_000_000)


class Clock:
    """Time that runs, but for the moments in which a snapshot is taken."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.times: list[float] = []
        self.cpu: list[float] = []  # the processor's seconds, of all threads: what a busy machine does not stretch
        self.weights: list[Any] = []
        self.rows: list[float] = []
        self.start()

    def start(self) -> None:
        """From here on time counts: the libraries are loaded."""
        self.began, self.stopped, self.used = time.perf_counter(), 0.0, time.process_time()

    @property
    def now(self) -> float:
        return time.perf_counter() - self.began - self.stopped

    def keep(self, weights: Any, rows: float = 0.0) -> None:
        """Weights (1 + d,) with the intercept first."""
        at = time.perf_counter()
        self.times.append(at - self.began - self.stopped)
        self.cpu.append(time.process_time() - self.used)
        self.weights.append(np.array(weights, dtype=np.float64).ravel())
        self.rows.append(rows)
        self.stopped += time.perf_counter() - at

    @property
    def over(self) -> bool:
        return self.now > self.limit


def ours(folder: Path, clock: Clock, memory: str = "1GB") -> dict[str, Any]:
    """This package, under a limit on its memory; a snapshot at the start of every evaluation, and at the end."""
    from discriminant import LogisticRegression, scan
    from discriminant.objective import PointwiseObjective

    plain = PointwiseObjective.evaluate

    def watched(self: Any, A: Any, *rest: Any, **more: Any) -> Any:
        """Every point that is evaluated, on a large sample or on all rows, would be handed out if asked for."""
        if self.n_rows > 50_000:
            known = np.asarray(A / self.units)
            if self.center is not None:
                known[0] -= self.center @ known[1:]
            clock.keep(known)
        return plain(self, A, *rest, **more)

    PointwiseObjective.evaluate = watched  # type: ignore[method-assign]
    clock.start()
    rows = scan(folder / "X.npy", target=str(folder / "y.npy"), memory=memory, hold=False)
    model = LogisticRegression(tol=1e-6).fit(rows)
    clock.keep(np.concatenate([model.intercept_, model.coef_[0]]))
    certificate = model.certificate_
    return {"passes": certificate.passes, "gap": certificate.gap / certificate.objective, "tol": 1e-6}


def blocks(folder: Path) -> Iterator[tuple[Any, Any]]:
    """The file in blocks, by a memory map."""
    X, y = np.load(folder / "X.npy", mmap_mode="r"), np.load(folder / "y.npy", mmap_mode="r")
    for start in range(0, len(X), BLOCK):
        yield np.asarray(X[start : start + BLOCK]), np.asarray(y[start : start + BLOCK])


def sgd(folder: Path, clock: Clock, **options: Any) -> dict[str, Any]:
    """scikit-learn's SGDClassifier.partial_fit on columns standardised by the first 100,000 rows, as its guide asks."""
    from sklearn.linear_model import SGDClassifier

    clock.start()
    n = len(np.load(folder / "y.npy", mmap_mode="r"))
    mean, spread = standard(np.load(folder / "X.npy", mmap_mode="r"))
    model = SGDClassifier(loss="log_loss", alpha=1.0 / n, random_state=0, **options)
    seen, checks, epoch = 0, list(CHECKS), 0
    while not clock.over and epoch < 20:
        for X, y in blocks(folder):
            model.partial_fit((X - mean) / spread, y, classes=[0, 1])
            seen += len(y)
            if checks and seen >= checks[0]:
                checks.pop(0)
                w = model.coef_[0] / spread
                clock.keep(np.concatenate([model.intercept_ - mean @ w, w]), seen)
            if clock.over:
                break
        epoch += 1
        w = model.coef_[0] / spread
        clock.keep(np.concatenate([model.intercept_ - mean @ w, w]), seen)
    return {"epochs": epoch, **options}


def dask_ml(
    folder: Path, clock: Clock, solver: str = "newton", iterations: tuple[int, ...] = (2, 4, 6)
) -> dict[str, Any]:
    """dask-ml on a Dask array over the memory map, threads as workers; one fit for each number of iterations.

    Its solvers hand out nothing before they end, so that what it knows after k iterations takes a fit with k.
    """
    import dask
    import dask.array as da
    from dask_ml.linear_model import LogisticRegression

    X, y = np.load(folder / "X.npy", mmap_mode="r"), np.load(folder / "y.npy", mmap_mode="r")
    mean, spread = standard(X)
    rows = (da.from_array(X, chunks=(500_000, X.shape[1]), lock=False) - mean) / spread
    labels = da.from_array(y, chunks=500_000)
    done = []
    with dask.config.set(scheduler="threads", num_workers=2):
        for count in iterations:
            if clock.over or (len(done) > 1 and 2 * done[-1] - done[-2] > clock.limit):
                break
            clock.start()
            model = LogisticRegression(solver=solver, C=1.0, max_iter=count, tol=1e-10).fit(rows, labels)
            w = np.asarray(model.coef_).ravel() / spread
            done.append(clock.now)
            clock.keep(np.concatenate([np.ravel(model.intercept_) - mean @ w, w]), count)
    return {"solver": solver, "iterations": list(iterations)[: len(done)]}


def vowpal(
    folder: Path, clock: Clock, way: str = "online", counts: tuple[int, ...] = (), rate: float = 0.5
) -> dict[str, Any]:
    """Vowpal Wabbit on its own text format, prepared beforehand: on-line, or L-BFGS over its cache."""
    import vowpalwabbit

    text, n = folder / "X.vw", len(np.load(folder / "y.npy", mmap_mode="r"))
    mean, spread = standard(np.load(folder / "X.npy", mmap_mode="r"))
    common = f"--quiet --loss_function logistic -b 10 -d {text}"
    done: list[float] = []
    for count in counts:
        if clock.over or (done and done[-1] * count / counts[len(done) - 1] > clock.limit):
            break
        clock.start()
        if way == "online":
            line = f"{common} --l2 {1.0 / n:.3e} --learning_rate {rate} --examples {count}"
        else:
            line = f"{common} --bfgs --l2 1 --passes {count} --cache_file {folder / 'X.cache'} --holdout_off"
        model = vowpalwabbit.Workspace(line)
        done.append(clock.now)
        w = np.array([model.get_weight_from_name(f"f{j}") for j in range(len(mean))]) / spread
        clock.keep(np.concatenate([[model.get_weight_from_name("Constant")] - mean @ w, w]), count)
    return {"way": way, "rate": rate}


CONTENDERS: dict[str, Callable[[Path, Clock], dict[str, Any]]] = {
    "discriminant": ours,
    "SGD optimal": lambda f, c: sgd(f, c, learning_rate="optimal", average=False),
    "SGD optimal averaged": lambda f, c: sgd(f, c, learning_rate="optimal", average=100_000),
    "SGD 0.01 averaged": lambda f, c: sgd(f, c, learning_rate="constant", eta0=0.01, average=20_000),
    "SGD 0.002 averaged": lambda f, c: sgd(f, c, learning_rate="constant", eta0=0.002, average=50_000),
    "SGD adaptive": lambda f, c: sgd(f, c, learning_rate="invscaling", eta0=0.02, power_t=0.25, average=100_000),
    "dask-ml newton": lambda f, c: dask_ml(f, c, "newton", (3, 5, 7)),
    "dask-ml lbfgs": lambda f, c: dask_ml(f, c, "lbfgs", (10, 30, 100)),
    "VW on-line": lambda f, c: vowpal(f, c, "online", VW_ROWS),
    "VW on-line 0.05": lambda f, c: vowpal(f, c, "online", VW_ROWS, 0.05),
    "VW on-line 0.01": lambda f, c: vowpal(f, c, "online", VW_ROWS, 0.01),
    "VW bfgs": lambda f, c: vowpal(f, c, "bfgs", (5, 15, 40, 80)),
}


def main() -> None:
    name, folder, limit, out = sys.argv[1], Path(sys.argv[2]), float(sys.argv[3]), Path(sys.argv[4])
    clock = Clock(limit)
    facts = CONTENDERS[name](folder, clock)
    weights = np.array(clock.weights)
    np.savez(out, times=clock.times, cpu=clock.cpu, weights=weights, rows=clock.rows, facts=repr(facts))
    print("ready", flush=True)
    sys.stdin.readline()


if __name__ == "__main__":
    main()
