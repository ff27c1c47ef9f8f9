"""Differential evolution: a genetic search that needs values of J only (Storn and Price 1997), by SciPy.

A population of weights is crossed and mutated, and a child takes its parent's place where its J is not larger.  For the
count of errors only the direction of the weights matters, so that the search keeps to a box around the start.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discriminant.arguments import COUNT, RANDOM, checked
from discriminant.optimize.annealing import require_margin, weight_scales
from discriminant.optimize.iterative import NOT_A_NUMBER, ROW_SCALES, STOPPED, Iterative, documented, starting_weights
from discriminant.optimize.needs import require
from discriminant.protocols import Array, Oracle, Solution

REACH = 10.0  # half a side of the box, in units of the start's largest weight or of 1


@documented
@dataclass(frozen=True)
@checked(iterations=COUNT, population=COUNT, scales=ROW_SCALES, random_state=RANDOM)
class DifferentialEvolution(Iterative):
    """A genetic search beside ``Annealing``, for criteria that have values and nothing else.

    It looks over a box of weights, in generations; each child is one pass.

    Parameters
    ----------
    iterations : int, default=100
        Generations at most.
    population : int, default=15
        Members of the population for each weight.
    scales : array-like of shape (1 + d,) or None, default=None
        Sizes of the weights: the box reaches ten times as far, or ten times the start; None: equal.

    See Also
    --------
    Annealing : A cooled random walk.
    MixedInteger : The fewest errors with a proof, on small data.

    >>> X, y = iris.X[:, 2:], iris.y == "setosa"
    >>> Discriminant(criterion="zero-one", optimizer=DifferentialEvolution()).fit(X, y).score(X, y)
    1.0
    """

    iterations: int = 100
    population: int = 15
    scales: Any = None
    random_state: Any = 0
    needs: ClassVar[Oracle] = Oracle.VALUE

    def minimize(self, objective: Any, start: Array) -> Solution:
        from scipy.optimize import differential_evolution

        require(self, objective)
        objective = self.on_scale(objective)
        require_margin(objective, "DifferentialEvolution")
        A = starting_weights(objective, start)
        J = float(objective.value(A))
        if not np.isfinite(J):
            return Solution(A, NOT_A_NUMBER, False, 1, 0, J)
        record, zero = self.recorder(objective), Oracle.MARGIN in objective.oracles
        half = weight_scales(self.scales, A) * max(1.0, float(np.abs(A).max())) * REACH
        stopped = record(0, A, J, None, 0.0)

        def value(a: Array) -> float:
            found = float(objective.value(a.reshape(A.shape)))
            return found if np.isfinite(found) else np.inf

        def watch(intermediate_result: Any) -> bool:
            k, best = len(record.history), intermediate_result
            return record(k, best.x.reshape(A.shape), float(best.fun), None, 0.0) or (zero and best.fun == 0)

        status, passes = STOPPED.format(k=0), 1.0
        if not stopped:
            found = differential_evolution(
                value, list(zip(-half.ravel(), half.ravel(), strict=True)), maxiter=self.iterations,
                popsize=self.population, seed=np.random.default_rng(self.random_state), x0=A.ravel(), tol=0.0,
                atol=-1.0,  # a population of equal counts has not converged: it stands on one step of the stairs

                polish=False, callback=watch,
            )  # fmt: skip
            passes += found.nfev
            if found.fun < J:
                A, J = np.asarray(found.x).reshape(A.shape), float(found.fun)
            status = (
                f"Ended after {len(record.history) - 1} generations: J = {J:.6g} is the least that was seen; a genetic "
                "search does not prove that it is the least possible."
            )
        done = zero and J == 0
        if done:
            status = f"Converged after {len(record.history) - 1} generations: J = 0, the least possible."
        return Solution(A, status, done, passes + record.passes, len(record.history) - 1, J, history=record.history)
