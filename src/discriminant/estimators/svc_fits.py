"""From an estimator's rows to the margin solvers, and back to weights (1+d, q) with the intercept in row 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.criteria import SquaredHinge
from discriminant.data import make_blocks
from discriminant.data.scaling import choose_scaling
from discriminant.data.working_columns import AllColumns
from discriminant.optimize.machine import solve_machine
from discriminant.optimize.margins import MarginProblem, solve_margin
from discriminant.optimize.path import LAST_DIGITS
from discriminant.optimize.row_loss import RowLoss
from discriminant.optimize.working_set import WorkingSet
from discriminant.penalties.separable import separable_penalty
from discriminant.protocols import Array


@dataclass(frozen=True)
class OneFit:
    """Weights (1+d, q) and what is proved of them."""

    weights: Array
    objective: float
    gap: float
    steps: int
    method: str


def ridge_fit(
    X: Any, y: Array, cost: Array, squared: bool, bias: float, free: bool, tol: float, seed: int, most: int
) -> OneFit:
    """½‖w‖² + Σ cost ξ."""
    fit = solve_margin(MarginProblem(X, y, cost, squared, 1.0 if free else bias, free), tol, seed, most)
    A = np.concatenate([[fit.w[-1] * (1.0 if free else bias)], fit.w[:-1]])[:, None]
    return OneFit(A, fit.objective, fit.gap, fit.steps, fit.method)


def lasso_fit(X: Any, y: Array, cost: Array, bias: float, free: bool, tol: float) -> OneFit:
    """‖w‖₁ + Σ cost ξ², by the sparse solver; a penalised intercept is one more column."""
    extra = bias > 0 and not free
    if extra:
        if hasattr(X, "indptr"):
            from scipy.sparse import csr_array, hstack

            X = hstack([X, csr_array(np.full((X.shape[0], 1), bias))], format="csr")
        else:
            X = np.column_stack([X, np.full(len(X), bias)])
    blocks, total = make_blocks(X), float(cost.sum())
    scaling = choose_scaling(blocks, free)
    columns = AllColumns(blocks, scaling.center, scaling.unit)
    loss = RowLoss(SquaredHinge(), y[:, None], cost / total)
    solver = WorkingSet(columns, loss, separable_penalty(X.shape[1], scaling.unit), free)
    solver.start()
    here = solver.solve(1 / total, tol, exact=columns.blocks.n_values <= LAST_DIGITS)
    A = np.zeros((1 + X.shape[1], 1))
    solver.weights(A)
    if scaling.center is not None:
        A[0] -= scaling.center @ A[1:]
    if extra:
        A[0] = bias * A[-1]
        A = A[:-1]
    return OneFit(A, here.J * total, here.gap * total, solver.set.steps, "coordinate descent on a working set")


def machine_fit(
    X: Any, codes: Array, n_classes: int, cost: Array, bias: float, tol: float, seed: int, most: int
) -> OneFit:
    """Crammer and Singer's machine."""
    fit = solve_machine(X, codes, n_classes, cost, bias, tol, seed, most)
    A = np.vstack([bias * fit.W[-1], fit.W[:-1]])
    return OneFit(A, fit.objective, fit.gap, fit.steps, "dual coordinate descent over rows")
