"""LIBLINEAR's own package: Newton on the primal, where ``-R`` frees the intercept, or the dual, where nothing does.

C Σ ℓ + ½ ‖w‖².  The rows in its own form are handed over ready-made.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.adapters.refusals import refuse
from benchmarks.contract import PEER, Data
from benchmarks.effort import Solver, methods, tolerances
from benchmarks.objective import FREE, PENALISED

NAME, ROLE, PACKAGE, ENVIRONMENT = "LIBLINEAR", PEER, "liblinear-official", "peers"


def _solver(name: str, code: int, free: bool) -> Solver:
    def setup(data: Data) -> Any:
        from liblinear.liblinear import parameter, problem
        from liblinear.liblinearutil import train
        from scipy.sparse import csr_matrix

        ready = problem(np.where(data.y == 1, 1.0, -1.0), csr_matrix(data.X), bias=1.0)
        bias = "-R" if free else ""
        return lambda rung: train(ready, parameter(f"-s {code} -c {data.extra['C']} -B 1 {bias} -e {rung:.3e} -q"))

    return Solver(name, tolerances(10, 0), setup, _read, FREE if free else PENALISED)


def _read(model: Any) -> tuple[Any, Any]:
    """Its weights belong to the class that came first in the rows."""
    d = model.get_nr_feature()
    w = np.array([model.w[j] for j in range(d + 1)])
    w = w if model.get_labels()[0] == 1 else -w
    return w[:-1], w[-1:]


_PRIMAL, _DUAL = _solver("primal", 0, True), _solver("dual", 7, False)
METHODS = {
    "logistic-l2": methods(NAME, _PRIMAL, _DUAL),
    "logistic-sparse": methods(NAME, _PRIMAL, _DUAL),
}
_NO_PATH = "has no paths"
REFUSALS = refuse(
    METHODS,
    softmax_l2="has no softmax: it fits one class against the rest",
    logistic_l1_path=_NO_PATH,
    logistic_l1_path_sparse=_NO_PATH,
)
