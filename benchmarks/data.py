"""How the rows of a place travel: one process writes rows and optima to a folder, all others read them there.

Places on the same columns at the same size share their rows; what depends on the problem lies in a folder below.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contract import Array, Data
from benchmarks.task import GROUP, Task

HERE = Path(__file__).resolve().parent
DATA = HERE / "results" / "data"
PROBE_ROWS = 2_000
DATA_FOLDER = "BENCHMARK_DATA"  # another place for the data, as the tests want it
MAIN_PYTHON = "BENCHMARK_PYTHON"  # the interpreter that has this package; workers of peers run in others


def folder_of(task: Task) -> Path:
    """Where the rows of this place lie; a change of the recipes gives a new folder."""
    recipe = zlib.crc32((HERE / "designs.py").read_bytes())
    place = Path(os.environ.get(DATA_FOLDER, DATA))
    values = f"-{task.row_values}" if task.row_values else ""
    return place / f"{task.columns}-{task.rows}x{task.d}x{task.n_classes}{values}-{recipe:08x}"


def facts_of(task: Task) -> Path:
    """Where its λ, optima and the efforts of the peers lie."""
    return folder_of(task) / f"{task.word}-C{task.C:g}"


def facts(task: Task) -> dict[str, Any]:
    """What builders need to know beside the rows."""
    what = task.what
    groups = [list(range(j, min(j + GROUP, task.d))) for j in range(0, task.d, GROUP)] if what.grouped else None
    loss = "squared-hinge" if task.word == "svc" else "logistic"
    return {
        "C": task.C, "cap": task.cap, "l1_ratio": what.l1_ratio, "groups": groups, "loss": loss, "rows": task.n,
    }  # fmt: skip


def read(task: Task) -> Data:
    """The place's data; they are made where they do not lie there yet."""
    folder, below = folder_of(task), facts_of(task)
    if not (below / "facts.json").exists():
        prepare(task)
    known = json.loads((below / "facts.json").read_text())
    extra = facts(task)
    extra["lambdas"] = np.array(known["lambdas"])
    extra["optimum"] = {name: np.array(values) for name, values in known["optimum"].items()}
    X = load_rows(folder)
    return Data(X, np.load(folder / "y.npy"), task.n_classes, X[:PROBE_ROWS].copy(), str(below), extra)


def prepare(task: Task) -> None:
    """Make the place's data, here or, where this package is not installed, by the interpreter that has it."""
    python = os.environ.get(MAIN_PYTHON, sys.executable)
    if python == sys.executable:
        from benchmarks.prepare import main

        return main(task)
    command = [python, "-m", "benchmarks.prepare"]
    done = subprocess.run(command, input=pickle.dumps(task), cwd=HERE.parent, capture_output=True, check=False)
    if done.returncode:
        last = done.stderr.decode().strip().splitlines()[-1]
        raise RuntimeError(f"the data of {task.name} could not be made: {last}")
    return None


def save_rows(folder: Path, X: Any, y: Array) -> None:
    """Write X, dense or CSR, and y, which comes last."""
    folder.mkdir(parents=True, exist_ok=True)
    if isinstance(X, np.ndarray):
        np.save(folder / "X.npy", X)
    else:
        for part in ("data", "indices", "indptr"):
            np.save(folder / f"X-{part}.npy", getattr(X, part))
        np.save(folder / "X-shape.npy", np.array(X.shape))
    np.save(folder / "y.npy", y)


def load_rows(folder: Path) -> Any:
    """X as it was written, in memory of this process."""
    if (folder / "X.npy").exists():
        return np.load(folder / "X.npy")
    from scipy.sparse import csr_matrix

    parts = [np.load(folder / f"X-{part}.npy") for part in ("data", "indices", "indptr")]
    return csr_matrix(tuple(parts), shape=tuple(np.load(folder / "X-shape.npy")))


def digest(data: Data) -> int:
    """A checksum over all rows: equal digests in two processes mean equal data."""
    values = data.X if isinstance(data.X, np.ndarray) else data.X.data
    return zlib.crc32(data.y.data, zlib.crc32(values.data))
