"""Row by row: residuals, leverages and influence of a logistic fit, its fits without single rows.

leverage        h_i = w p(1−p) yᵗ I⁻¹ y
Pearson         (t − p) / √(p(1−p))          deviance   ±√(−2 ln p_t)
Cook            r² h / ((1 − h)² k), r the Pearson residual
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from discriminant.decision.posteriors import log_softmax
from discriminant.errors import DataError
from discriminant.inference import documented
from discriminant.inference.likelihood import Likelihood, inverse
from discriminant.optimize.factor import make_factor
from discriminant.protocols import Array
from discriminant.shown import Shown, cell, data_frame

MOST_ROWS = 8  # of a table that is shown


@documented
@dataclass(frozen=True, eq=False, repr=False)
class Diagnostics(Shown):
    """Residuals, leverages and Cook's distances of the rows of a two-class fit.

    One number a row (Pregibon 1981).

    Attributes
    ----------
    fitted : ndarray of shape (n,)
        P(classes_[1]|x).
    leverage : ndarray of shape (n,)
        The diagonal of the hat matrix.
    pearson : ndarray of shape (n,)
        Pearson residuals.
    deviance : ndarray of shape (n,)
        Deviance residuals.
    cook : ndarray of shape (n,)
        Cook's distances.

    See Also
    --------
    discriminant.LogisticRegression.diagnostics : Computes one.

    >>> X, y = iris.X[50:], iris.y[50:]
    >>> found = LogisticRegression(C=float("inf")).fit(X, y).diagnostics(X, y)
    >>> found.cook.shape, round(float(found.leverage.sum()), 6)
    ((100,), 5.0)
    """

    fitted: Array
    leverage: Array
    pearson: Array
    deviance: Array
    cook: Array

    def to_frame(self) -> Any:
        """A row for each row of the fit, as a pandas data frame."""
        return data_frame({one.name: getattr(self, one.name) for one in fields(self)})

    def _shown(self) -> tuple[str, dict[str, list[str]], list[str], list[str]]:
        """The rows of the largest influence."""
        worst = np.argsort(-np.nan_to_num(self.cook), kind="stable")[:MOST_ROWS]
        title = f"Diagnostics of {len(self.cook)} rows; those of the largest Cook's distance:"
        table = {"row": [str(row) for row in worst]}
        table |= {one.name: [cell(v) for v in getattr(self, one.name)[worst]] for one in fields(self)}
        return title, table, [], []


def diagnose(model: Likelihood, theta: Array) -> Diagnostics:
    """Residuals, leverages and Cook's distances of a two-class fit."""
    if model.n_classes != 2:
        raise DataError("Residuals and leverages of single rows are given for two classes.")
    information, kernel = model.evaluate(theta).hessian, model.rows(theta)
    assert information is not None
    factor = make_factor(information)
    columns: list[list[Array]] = [[] for _ in range(4)]
    for block in model.blocks:
        Y, _, p, residual, log_p, w = kernel(block)
        curve = p[:, 0] * (1 - p[:, 0])
        leverage = w * curve * np.einsum("ij,ji->i", Y, factor.solve(Y.T))
        with np.errstate(divide="ignore", invalid="ignore"):
            pearson = residual[:, 0] / np.sqrt(curve)
        for column, values in zip(columns, (p[:, 0], leverage, pearson, log_p), strict=True):
            column.append(values)
    fitted, leverage, pearson, log_p = (np.concatenate(column) for column in columns)
    deviance = np.sign(pearson) * np.sqrt(-2 * log_p)
    cook = pearson**2 * leverage / ((1 - leverage) ** 2 * model.n_parameters)
    return Diagnostics(fitted, leverage, pearson, deviance, cook)


def one_step_deletions(model: Likelihood, theta: Array, penalty: Array) -> Array:
    """log P(C_k|x) (n, K) of each row under the fit without it, by one Newton step from the fit with it."""
    information, kernel = model.evaluate(theta).hessian, model.rows(theta)
    assert information is not None
    D, m = theta.shape
    spread = inverse(information + penalty).reshape(m, D, m, D)
    out = []
    for block in model.blocks:
        Y, z, p, residual, _, w = kernel(block)
        Q = np.einsum("ij,ajbk,ik->iab", Y, spread, Y, optimize=True)
        V = p[:, :, None] * (np.eye(m) - p[:, None, :])
        system = np.eye(m) - w[:, None, None] * V @ Q
        step = np.linalg.solve(system, (w[:, None] * residual)[:, :, None])
        z = z - (Q @ step)[:, :, 0]
        out.append(log_softmax(np.c_[np.zeros(len(z)), z]))
    return np.vstack(out)
