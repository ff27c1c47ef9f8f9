"""The least count of errors, exactly, by mixed-integer programming (HiGHS), with a proved lower bound.

    minimise Σ s_i e_i   subject to   t_i a·y_i ≥ δ − (δ + ‖y_i‖₁) e_i,   e_i ∈ {0, 1},   |a_j| ≤ 1,

on columns scaled to at most one.  A row with e_i = 1 is free, since |a·y| ≤ ‖y‖₁.  A row counts as right when its
margin is at least δ, a small number that keeps a = 0 from being a solution; so the bound is for hyperplanes that keep
that distance, and the status says so.  The time grows quickly with the number of rows that overlap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discriminant.arguments import COUNT, checked, number
from discriminant.criteria import Kesler, ZeroOne
from discriminant.errors import DataError, MismatchError
from discriminant.objective import PointwiseObjective
from discriminant.optimize.constraints import Program, programs
from discriminant.optimize.highs import mixed_program
from discriminant.optimize.iterative import documented, of_solutions, starting_weights
from discriminant.optimize.needs import require, require_rows
from discriminant.protocols import Array, Oracle, Solution


@of_solutions.documented
@dataclass(frozen=True)
class BoundedSolution(Solution):
    """A solution with a proved lower bound of J.

    With objective = bound the weights are proved to be best.

    Attributes
    ----------
    bound : float
        No weights have a smaller J.
    weights, status, converged, passes, iterations, objective, gradient_norm, history, notes

    See Also
    --------
    MixedInteger : Returns one.

    >>> BoundedSolution(np.zeros((2, 1)), "Solved.", True, bound=0.25).bound
    0.25
    """

    bound: float = 0.0


@documented
@dataclass(frozen=True)
@checked(seconds=number(0, open_="low"), margin=number(1e-6, np.inf, open_="high"), most_rows=COUNT)
class MixedInteger:
    """argmin of the zero-one criterion by a mixed-integer program, with a proof.

    HiGHS branches on which rows are errors; for small data.

    Parameters
    ----------
    seconds : float, default=60.0
        Time limit for each output; what is proved by then is kept.
    margin : float, default=0.0001
        δ, on columns scaled to at most one and weights to at most one.
    most_rows : int, default=5000
        Refuse more rows than this.

    See Also
    --------
    Annealing : Any size, without a proof.
    discriminant.MinimumErrorClassifier : The method that uses it.

    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    >>> model = Discriminant(criterion="zero-one", optimizer=MixedInteger()).fit(X, y)
    >>> model.score(X, y)
    0.75
    """

    seconds: float = 60.0
    margin: float = 1e-4
    most_rows: int = 5000
    needs: ClassVar[Oracle] = Oracle.VALUE | Oracle.MARGIN

    def minimize(self, objective: Any, start: Array) -> BoundedSolution:
        """The weights with the fewest errors found, and how few there must be.

        Returns
        -------
        BoundedSolution
            With the proved lower bound of J.

        Raises
        ------
        MismatchError
            Where the criterion does not count errors.
        DataError
            Where there are more than ``most_rows`` rows.
        """
        rows = require_rows(self, objective)
        require(self, rows)
        self._check(rows)
        A = starting_weights(objective, start)
        given = rows.value(A)
        B, bound, finished = A.copy(), 0.0, True
        for program in programs(rows):
            a, proved, done = self._solve(program)
            bound, finished = bound + proved, finished and done
            if a is not None:
                B[:, list(program.outputs)] = program.weights(a)
        J = rows.value(B)
        if given <= J:  # the start was as good
            B, J = A, given
        bound = min(bound, J)
        proved = bound >= J * (1 - 1e-9)  # not what the solver ended with: J counts the errors of these weights
        return BoundedSolution(B, self._status(rows, J, bound, proved, finished), proved, 2, 1, J, bound=bound)

    def _check(self, rows: PointwiseObjective) -> None:
        criterion: Any = rows.criterion
        counted = criterion.base if isinstance(criterion, Kesler) and criterion.over == "worst" else criterion
        if not (isinstance(counted, ZeroOne) and counted.margin == 0):
            raise MismatchError(
                f"Optimizer MixedInteger minimises the count of errors, criterion ZeroOne() (for many classes "
                f"Kesler(ZeroOne(), over='worst')), and not {criterion!r}; use LBFGS, SingleSample or LinearProgram."
            )
        if rows.blocks.n_rows > self.most_rows:
            raise DataError(
                f"Mixed-integer programming has one yes-or-no unknown a row, and {rows.blocks.n_rows} are too many to "
                f"hope for a proof (most_rows={self.most_rows}); use the optimizer Annealing, or raise most_rows."
            )

    def _solve(self, program: Program) -> tuple[Array | None, float, bool]:
        """(a or None, proved lower bound, whether it is the optimum)."""
        from scipy.sparse import csr_array, hstack

        m, p = program.G.shape
        slacks = len(program.share)
        big_M = self.margin + np.abs(program.G).sum(axis=1)
        free = csr_array((np.asarray(big_M).ravel(), (np.arange(m), program.owner)), shape=(m, slacks))
        top = program.share.max()
        found = mixed_program(
            np.concatenate([np.zeros(p), program.share / top]),
            (hstack([program.G, free], format="csr"), self.margin),
            integrality=np.concatenate([np.zeros(p), np.ones(slacks)]),
            bounds=(np.concatenate([-np.ones(p), np.zeros(slacks)]), np.ones(p + slacks)),
            seconds=self.seconds,
        )
        bound = max(float(found["bound"]), 0.0)
        if np.ptp(program.share) <= 1e-12 * top:  # equal costs: a fraction of an error is an error
            bound = np.ceil(bound - 1e-6)
        return (found["x"][:p] if len(found["x"]) else None), float(bound) * top, bool(found["solved"])

    def _status(self, rows: PointwiseObjective, J: float, bound: float, proved: bool, finished: bool) -> str:
        total = float(rows.totals[0])
        what = f"J = {J:.6g} ({J * total:.6g} of {total:.6g})"
        which = f"hyperplanes that keep a margin of {self.margin:g}"
        if proved:
            return f"Proved: {what} is the least possible for {which}."
        found = f"{what} is the least found, and at least {bound:.6g} ({bound * total:.6g}) is proved for {which}"
        if finished:
            return f"Rounding: {found}; a larger margin is further from the solver's tolerance."
        return f"Out of time: {found}; give it more seconds to close the gap."
