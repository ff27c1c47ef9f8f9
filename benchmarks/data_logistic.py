"""Designs of the logistic tasks, and how they travel: one process writes rows and optima to a folder, all read them.

    independent      x ~ N(0, I)
    correlated       neighbours correlated by 0.98 (autoregressive): condition number of the covariance about 10⁴
    ill-conditioned  X = Z diag(1 … 10⁻⁶) Q with Q orthogonal: condition number of X 10⁶
    unscaled         independent columns in units from 10⁻³ to 10³, off their origin by two units
    few-causes       neighbours correlated by 0.5; 50 columns matter
    sparse           a fixed number of non-zeros a row, positive, rows of about unit length; columns equally often
    fashion          Fashion-MNIST's 60,000 training images, grey values in [0, 1]
    breast-cancer    as it comes

Labels are drawn from the logistic model, so classes overlap and the optimum is finite.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.contract import Array, Data

if TYPE_CHECKING:
    from benchmarks.tasks_logistic import LogisticTask

HERE = Path(__file__).resolve().parent
DATA = HERE / "results" / "data"
SHARED = HERE.parents[1] / "shared" / "data"
PROBE_ROWS = 2_000
CAUSES = 50
DATA_FOLDER = "BENCHMARK_DATA"  # another place for the data, as the tests want it
MAIN_PYTHON = "BENCHMARK_PYTHON"  # the interpreter that has this package; workers of peers run in others


def folder_of(task: LogisticTask) -> Path:
    """Where the rows of this task lie; a change of the recipes gives a new folder."""
    recipe = zlib.crc32(Path(__file__).read_bytes() + (HERE / "prepare.py").read_bytes())
    place = Path(os.environ.get(DATA_FOLDER, DATA))
    return place / f"{task.name}-{task.n}x{task.d}-C{task.C:g}-{recipe:08x}"


def read(task: LogisticTask) -> Data:
    """The task's data; they are made in a process of their own where they do not lie there yet."""
    folder = folder_of(task)
    if not (folder / "facts.json").exists():
        command = [os.environ.get(MAIN_PYTHON, sys.executable), "-m", "benchmarks.prepare", task.name]
        done = subprocess.run(
            [*command, str(task.n), str(task.d), str(task.C)],
            cwd=HERE.parent,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"the data of {task.name} could not be made: {done.stderr.strip().splitlines()[-1]}")
    facts = json.loads((folder / "facts.json").read_text())
    extra: dict[str, Any] = {"C": task.C, "cap": task.cap, "l1": "l1" in task.problem}
    extra["lambdas"] = np.array(facts["lambdas"])
    extra["optimum"] = {name: np.array(values) for name, values in facts["optimum"].items()}
    X = load_rows(folder)
    probe = X[:PROBE_ROWS]
    return Data(X, np.load(folder / "y.npy"), task.n_classes, probe.copy(), str(folder), extra)


def save_rows(folder: Path, X: Any, y: Array) -> None:
    """Write X, dense or CSR, and y."""
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "y.npy", y)
    if isinstance(X, np.ndarray):
        np.save(folder / "X.npy", X)
        return
    for part in ("data", "indices", "indptr"):
        np.save(folder / f"X-{part}.npy", getattr(X, part))
    np.save(folder / "X-shape.npy", np.array(X.shape))


def load_rows(folder: Path) -> Any:
    """X as it was written, in memory of this process."""
    if (folder / "X.npy").exists():
        return np.load(folder / "X.npy")
    from scipy.sparse import csr_matrix

    parts = [np.load(folder / f"X-{part}.npy") for part in ("data", "indices", "indptr")]
    return csr_matrix(tuple(parts), shape=tuple(np.load(folder / "X-shape.npy")))


def make_rows(task: LogisticTask) -> tuple[Any, Array]:
    """X and y of the task's design."""
    rng = np.random.default_rng(task.seed)
    if task.design == "fashion":
        return _fashion(task.n)
    if task.design == "breast-cancer":
        from sklearn.datasets import load_breast_cancer

        X, y = load_breast_cancer(return_X_y=True)
        return np.ascontiguousarray(X), np.asarray(y, dtype=np.int64)
    if task.design == "sparse":
        return _sparse(rng, task)
    X, signal = _dense(rng, task)
    return X, _labels(rng, signal)


def _dense(rng: np.random.Generator, task: LogisticTask) -> tuple[Array, Array]:
    """X (n, d) and the signal (n, q) of its labels, of spread about two in each score."""
    n, d, K = task.n, task.d, task.n_classes
    X = rng.standard_normal((n, d))
    if task.design in ("correlated", "few-causes"):
        rho = 0.98 if task.design == "correlated" else 0.5
        for j in range(1, d):
            X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    B = rng.standard_normal((d, 1 if K == 2 else K)) * 2.0 / np.sqrt(d)
    if task.design == "few-causes":
        B = np.zeros((d, 1))
        B[rng.permutation(d)[:CAUSES]] = rng.standard_normal((min(CAUSES, d), 1)) * 2.0 / np.sqrt(CAUSES)
    signal = X @ B + rng.normal(0.7, 0.5, B.shape[1])
    if task.design == "ill-conditioned":
        Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
        X = np.ascontiguousarray((X * np.logspace(0, -6, d)) @ Q)
    if task.design == "unscaled":
        X = (X + 2.0) * 10.0 ** rng.uniform(-3, 3, d)
    return X, signal


def _labels(rng: np.random.Generator, signal: Array) -> Array:
    """Codes drawn from the logistic or softmax model of these scores: the largest score plus Gumbel noise."""
    if signal.shape[1] == 1:
        return (signal[:, 0] + rng.logistic(size=len(signal)) > 0).astype(np.int64)
    return np.asarray((signal + rng.gumbel(size=signal.shape)).argmax(axis=1), dtype=np.int64)


def _sparse(rng: np.random.Generator, task: LogisticTask) -> tuple[Any, Array]:
    """One non-zero in each of ``row_values`` equal stretches of the columns, so indices are sorted and distinct."""
    from scipy.sparse import csr_matrix

    n, d, m = task.n, task.d, task.row_values
    stretch = d // m
    indices = (rng.integers(0, stretch, (n, m)) + stretch * np.arange(m)).astype(np.int32).ravel()
    values = rng.uniform(0.5, 1.5, n * m) / np.sqrt(m)
    X = csr_matrix((values, indices, m * np.arange(n + 1, dtype=np.int32)), shape=(n, d))
    weights = rng.standard_normal((d, 1)) * 3.0
    if "l1" in task.problem:
        weights[rng.permutation(d)[: d - d // 20]] = 0.0
        weights *= 4.0
    return X, _labels(rng, X @ weights + 0.3)


def _fashion(n: int) -> tuple[Array, Array]:
    import pyarrow.parquet as parquet

    path = SHARED / "fashion_mnist" / "data.parquet"
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there: put Fashion-MNIST's data.parquet there, or leave this task out.")
    table = parquet.read_table(path)
    train = np.flatnonzero(np.asarray(table["split"].to_pylist()) == "train")[:n]
    columns = [table[f"p{j}"].to_numpy()[train] for j in range(784)]
    X = np.ascontiguousarray(np.stack(columns, axis=1).astype(np.float64) / 255.0)
    return X, np.asarray(table["label"].to_numpy()[train]).astype(np.int64)
