"""adelie: group elastic nets along paths, by coordinate descent: the mean loss + λ (α ‖·‖₂ + ½ (1 − α) ‖·‖²).

It wants NumPy 1, so it has an environment of its own, and columns in one piece each, which it gets ready-made.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from benchmarks.adapters.refusals import refuse
from benchmarks.contract import PEER, Data
from benchmarks.effort import Solver, methods, tolerances

NAME, ROLE, PACKAGE, ENVIRONMENT = "adelie", PEER, "adelie", "adelie"


def _setup(data: Data) -> Any:
    import adelie

    threads = len(os.sched_getaffinity(0))
    ratio, groups = data.extra["l1_ratio"], data.extra["groups"]
    n, d = data.X.shape
    if isinstance(data.X, np.ndarray):
        X = np.asfortranarray(data.X)
    else:
        X = adelie.matrix.sparse(data.X.tocsc(), method="naive", n_threads=threads)
    if data.n_classes == 2:
        family = adelie.glm.binomial(data.y.astype(np.float64))
    else:
        family = adelie.glm.multinomial(np.asfortranarray(np.eye(data.n_classes)[data.y]))
    # The loss of K classes is divided by K there, so λ is too.
    scale = 1 if data.n_classes == 2 else data.n_classes
    strengths = data.extra["lambdas"] if ratio else np.array([1.0 / (n * data.extra["C"] * scale)])
    starts = np.arange(d) if groups is None else np.array([g[0] for g in groups])
    weights = np.ones(d) if groups is None else np.sqrt([float(len(g)) for g in groups])
    return lambda rung: adelie.grpnet(
        X,
        family,
        alpha=ratio,
        groups=starts,
        lmda_path=strengths,
        penalty=weights,
        tol=rung,
        irls_tol=rung,
        early_exit=False,
        progress_bar=False,
        n_threads=threads,
    )


def _read(state: Any) -> tuple[Any, Any]:
    """Its weights of K classes lie class by class within each feature."""
    W = state.betas.toarray()
    b = np.asarray(state.intercepts)
    if b.ndim == 1:
        return W[:, :, None], b[:, None]
    K = b.shape[1]
    return W.reshape(len(W), -1, K), b


_SOLVER = Solver("grpnet", tolerances(14, 2), _setup, _read)
METHODS = {
    "logistic-l2": methods(NAME, _SOLVER),
    "softmax-l2": methods(NAME, _SOLVER),
    "logistic-sparse": methods(NAME, _SOLVER),
    "logistic-l1-path": methods(NAME, _SOLVER),
    "logistic-l1-path-sparse": methods(NAME, _SOLVER),
    "elastic-path": methods(NAME, _SOLVER),
    "group-path": methods(NAME, _SOLVER),
}
REFUSALS = refuse(METHODS)
