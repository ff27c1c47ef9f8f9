"""Simulated annealing, for criteria that have values and nothing else, such as the count of errors.

Each move draws a random direction and looks at J along it, at many steps in one pass over the data.  The next weights
are drawn among them with probability ∝ exp(−J/T) while the temperature T falls geometrically.  The best weights ever
seen are handed back.  Annealing proves nothing about what it has not seen, and says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discriminant.arguments import FROM_ZERO, RANDOM, checked, some_numbers
from discriminant.errors import MismatchError, ParameterError
from discriminant.objective import PointwiseObjective
from discriminant.optimize.iterative import NOT_A_NUMBER, ROW_SCALES, STOPPED, Iterative, documented, starting_weights
from discriminant.optimize.needs import require
from discriminant.protocols import Array, Oracle, Solution

TEMPERATURES = some_numbers(
    "a positive temperature and one that is not above it", lambda t: t.shape == (2,) and np.inf > t[0] >= t[1] > 0
)


@documented
@dataclass(frozen=True)
@checked(iterations=FROM_ZERO, temperature=TEMPERATURES, scales=ROW_SCALES, random_state=RANDOM)
class Annealing(Iterative):
    """Simulated annealing: the next weights are drawn along a random line with probability ∝ e^(−J/T), while T falls.

    It needs values of J only, and so serves the count of errors too; many steps along the line cost one pass.

    Parameters
    ----------
    iterations : int, default=500
        Moves, each one pass.
    temperature : tuple of two floats, default=(0.1, 0.0001)
        First and last T, in units of the J at the start.
    scales : array-like of shape (1 + d,) or None, default=None
        Typical size of each weight (for example one over the spread of its column); None: equal.

    See Also
    --------
    MixedInteger : The fewest errors with a proof, on small data.

    >>> X, y = iris.X[:, 2:], iris.y == "setosa"
    >>> Discriminant(criterion="zero-one", optimizer=Annealing(iterations=300)).fit(X, y).score(X, y)
    1.0
    """

    iterations: int = 500
    temperature: tuple[float, float] = (0.1, 1e-4)
    scales: Any = None
    random_state: Any = 0
    needs: ClassVar[Oracle] = Oracle.VALUE

    def minimize(self, objective: Any, start: Array) -> Solution:
        require(self, objective)
        objective = self.on_scale(objective)
        require_margin(objective, "Annealing")
        hot, cold = self.temperature
        rng, record = np.random.default_rng(self.random_state), self.recorder(objective)
        A = starting_weights(objective, start)
        scales = weight_scales(self.scales, A)
        J = float(objective.along(A, np.zeros_like(A), np.zeros(1))[0])
        if not np.isfinite(J):
            return Solution(A, NOT_A_NUMBER, False, 1, 0, J)
        unit = max(abs(J), np.finfo(np.float64).tiny)
        best, least, status, k = A, J, "", 0
        grid = np.concatenate([-(2.0 ** np.arange(4, -7, -1)), [0.0], 2.0 ** np.arange(-6, 5)])
        for k in range(1, self.iterations + 1):
            size = max(float(np.linalg.norm(A / scales)) / np.sqrt(A.size), 1e-3)
            D = size * scales * rng.standard_normal(A.shape)
            if rng.random() < 0.5:  # half of the moves turn few weights at a time
                D *= rng.random(A.shape) < max(0.2, 1.5 / A.size)
            values = objective.along(A, D, grid)
            values = np.where(np.isfinite(values), values, np.inf)
            values = unit * np.round(values / unit, 12)  # what differs by rounding alone is a tie, whatever the weights
            low = int(np.argmin(values))
            if values[low] < least:
                best, least = A + grid[low] * D, float(values[low])
            T = unit * hot * (cold / hot) ** (k / self.iterations)
            chance = np.exp(-(values - values[low]) / T)
            pick = int(rng.choice(len(grid), p=chance / chance.sum()))
            A, J = A + grid[pick] * D, float(values[pick])
            if record(k, A, J, None, float(grid[pick])):
                status = STOPPED.format(k=k)
                break
            if least == 0 and Oracle.MARGIN in objective.oracles:
                break
        done = least == 0 and Oracle.MARGIN in objective.oracles
        if done:
            status = f"Converged after {k} moves: J = 0, the least possible."
        status = status or (
            f"Cooled down after {k} moves: J = {least:.6g} is the least that was seen; annealing does not prove that "
            "it is the least possible."
        )
        return Solution(best, status, done, k + 1 + record.passes, k, least, history=record.history)


def require_margin(objective: Any, optimizer: str) -> None:
    """Refuse what zero weights solve: values alone would lead nowhere else."""
    if not isinstance(objective, PointwiseObjective):
        return
    if objective.least_at_zero:
        name = type(objective.criterion.single).__name__
        raise MismatchError(
            f"Optimizer {optimizer} needs a positive margin: with margin 0 criterion {name} is "
            "least at A = 0, which says nothing. Give it margin=1.0, or count errors with the criterion ZeroOne."
        )


def weight_scales(scales: Any, A: Array) -> Array:
    """(1+d, q): the typical size of each weight; ones where none are given."""
    if scales is None:
        return np.ones_like(A)
    size = np.asarray(scales, dtype=np.float64)
    if size.shape != A.shape[:1] or not (size > 0).all():
        raise ParameterError(f"scales needs {A.shape[0]} positive numbers, one for each row of the weights.")
    return np.repeat(size[:, None], A.shape[1], axis=1)
