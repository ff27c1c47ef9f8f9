"""The minimum of a piecewise-linear criterion by linear programming (HiGHS).

    minimise Σ s_i ξ_i + λ Σ|a|   subject to   t_i a·y_i + ξ_i ≥ b,  ξ ≥ 0.

On separable data the slacks ξ are zero: a separating a with t_i a·y_i ≥ b for all i, in one program instead of many
corrections.  With Kesler's construction the constraints are (a_i − a_j)·y ≥ b for every rival class j.

Where every constraint has a slack of its own and there is no penalty, the dual is solved instead, whose matrix has as
many rows as there are weights and not as many as there are samples (50 times faster at 20,000 × 10); the weights are
the multipliers of its equations:

    maximise b Σ α_i   subject to   Σ α_i t_i y_i = 0,  0 ≤ α_i ≤ s_i.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discriminant.arguments import checked, number
from discriminant.objective import PointwiseObjective
from discriminant.optimize.constraints import Program, programs
from discriminant.optimize.highs import linear_program
from discriminant.optimize.iterative import documented, starting_weights
from discriminant.optimize.needs import require, require_margin, require_rows
from discriminant.protocols import Array, Oracle, Solution


@documented
@dataclass(frozen=True)
@checked(seconds=number(0, open_="low"))
class LinearProgram:
    """argmin of a hinge-like criterion, with or without a Lasso penalty, by HiGHS.

    min Σ w ξ / Σ w subject to t·a·y ≥ b − ξ, ξ ≥ 0 (Duda, Hart and Stork 5.10).

    Parameters
    ----------
    seconds : float, default=600.0
        Time limit of each program.

    See Also
    --------
    discriminant.LinearProgrammingClassifier : The method that uses it.

    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
    >>> Discriminant(criterion="hinge", optimizer=LinearProgram()).fit(X, y).coef_
    array([[1.]])
    """

    seconds: float = 600.0
    needs: ClassVar[Oracle] = Oracle.VALUE | Oracle.LINEAR

    def minimize(self, objective: Any, start: Array) -> Solution:
        """A minimum of J, with the program's own proof.

        Raises
        ------
        MismatchError
            Where the criterion is not piecewise linear or has no positive margin.
        """
        require(self, objective)
        rows = require_rows(self, objective)
        A = starting_weights(objective, start)
        require_margin(self, rows)
        margin = rows.criterion.single.margin
        failed = ""
        for program in programs(rows):
            a, message = self._solve(program, margin, rows)
            failed = failed or message
            if a is not None:
                A[:, list(program.outputs)] = program.weights(a)
        J = rows.value(A)
        status = failed or (
            f"Solved by linear programming: every row lies beyond its margin b = {margin:g}."
            if J == 0
            else f"Solved by linear programming: J = {J:.6g} is the least possible."
        )
        return Solution(A, status, not failed, 2, 1, J)

    def _solve(self, program: Program, margin: float, rows: PointwiseObjective) -> tuple[Array | None, str]:
        """(a, "") or (None or a, what went wrong)."""
        lasso = _absolute_costs(program, rows)
        if lasso is None and len(program.share) == program.G.shape[0]:
            return self._solve_dual(program, margin)
        return self._solve_primal(program, margin, lasso)

    def _solve_dual(self, program: Program, margin: float) -> tuple[Array | None, str]:
        m, p = program.G.shape
        top = np.abs(program.share).max()
        bounds: Any = np.column_stack([np.zeros(m), program.share / top])
        found = linear_program(
            np.full(m, -margin),
            A_eq=program.G.T,
            b_eq=np.zeros(p),
            bounds=bounds,
            seconds=self.seconds,
        )
        if found.status != 0:
            return None, f"Not solved: HiGHS gave up ({found.message.strip()})."
        return _scaled_to_margin(program, -found.eqlin.marginals, margin), ""

    def _solve_primal(self, program: Program, margin: float, lasso: Array | None) -> tuple[Array | None, str]:
        from scipy.sparse import csr_array, hstack

        m, p = program.G.shape
        slacks = len(program.share)
        pick = csr_array((np.ones(m), (np.arange(m), program.owner)), shape=(m, slacks))
        if lasso is None:
            left, cost = [-program.G, -pick], np.zeros(p)
        else:  # |a| through a = a₊ − a₋, both at least zero
            left, cost = [-program.G, program.G, -pick], np.concatenate([lasso, lasso])
        least = np.concatenate([np.full(len(cost), -np.inf if lasso is None else 0.0), np.zeros(slacks)])
        top = np.abs(program.share).max()
        bounds: Any = np.column_stack([least, np.full(len(least), np.inf)])
        found = linear_program(
            np.concatenate([cost / top, program.share / top]),
            A_ub=hstack(left, format="csr"),
            b_ub=np.full(m, -margin),
            bounds=bounds,
            seconds=self.seconds,
        )
        if found.x is None:
            return None, f"Not solved: HiGHS gave up ({found.message.strip()})."
        a = found.x[:p] if lasso is None else found.x[:p] - found.x[p : 2 * p]
        if lasso is None:
            a = _scaled_to_margin(program, a, margin)
        return a, "" if found.status == 0 else f"Not solved: HiGHS stopped early ({found.message.strip()})."


def _absolute_costs(program: Program, rows: PointwiseObjective) -> Array | None:
    """λ times the factor of each weight, in the scaled columns; None without a penalty."""
    if rows.penalty is None:
        return None
    shape = np.zeros((rows.n_parameters, 1))
    one = np.concatenate([[0.0], np.broadcast_to(rows.penalty.scale(shape)[:, 0], rows.n_parameters - 1)])
    return np.tile(one, len(program.outputs)) * program.scale


def _scaled_to_margin(program: Program, a: Array, margin: float) -> Array:
    """A solver meets constraints to about 1e-7: where all rows are separated, lengthen a until they hold exactly."""
    least = float((program.G @ a).min())
    if 0.5 * margin < least < margin * (1 + 1e-9):
        return a * (margin / least * (1 + 1e-9))
    return a
