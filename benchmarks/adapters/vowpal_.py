"""Vowpal Wabbit: L-BFGS over a file, Σ ℓ + ½ λ ‖w‖² with the intercept free; its weights are single precision.

It reads rows from its own cache file, which it gets ready-made; reading it is part of every pass.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.adapters.refusals import refuse
from benchmarks.contract import PEER, Data
from benchmarks.effort import Solver, counts, methods

NAME, ROLE, PACKAGE, ENVIRONMENT = "Vowpal Wabbit", PEER, "vowpalwabbit", "peers"
MOST_VALUES = 2.5e7  # a larger text file takes minutes to write
BITS = 18
CONSTANT = 11_650_396  # where it keeps the intercept, before its bits are cut


def _write(data: Data, path: Path) -> None:
    """One row a line: label, then column:value."""
    with path.open("w") as file:
        for i in range(data.X.shape[0]):
            row = data.X[i]
            names, values = (range(len(row)), row) if isinstance(data.X, np.ndarray) else (row.indices, row.data)
            pairs = " ".join(f"{j}:{v:.9g}" for j, v in zip(names, values, strict=True))
            file.write(f"{1 if data.y[i] == 1 else -1} | {pairs}\n")


def _setup(data: Data) -> Any:
    from vowpalwabbit import pyvw

    nonzeros = data.X.size if isinstance(data.X, np.ndarray) else data.X.nnz
    if nonzeros > MOST_VALUES:
        raise RuntimeError(f"not tried beyond {MOST_VALUES:.0e} values: its text file takes minutes to write")
    text = Path(data.path) / f"rows-{data.X.shape[0]}.vw"
    if not text.exists():
        _write(data, text)
    common = f"-d {text} --cache_file {text}.cache --loss_function logistic --holdout_off --quiet -b {BITS}"
    options = f"{common} --bfgs --l2 {1.0 / data.extra['C']} --no_bias_regularization --termination 0"

    def fit(rung: int) -> Any:
        workspace = pyvw.Workspace(f"{options} --passes {rung}")
        w = np.array([workspace.get_weight_from_name(str(j), " ") for j in range(data.X.shape[1])])
        b = workspace.get_weight(CONSTANT % 2**BITS)
        workspace.finish()
        return w, b

    return fit


_SOLVER = Solver("bfgs", counts(600, 3), _setup, lambda r: r)
METHODS = {"logistic-l2": methods(NAME, _SOLVER), "logistic-sparse": methods(NAME, _SOLVER)}
_NO_PATH = "has no paths"
REFUSALS = refuse(
    METHODS,
    softmax_l2="has no softmax for plain rows: it fits one class against the rest",
    logistic_l1_path=_NO_PATH,
    logistic_l1_path_sparse=_NO_PATH,
)
