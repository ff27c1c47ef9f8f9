"""Searches by values of J alone, for criteria that have nothing else, such as the count of errors.

    Annealing               a random walk that takes worse weights ever more rarely
    DifferentialEvolution   a population of weights, crossed and mutated (Storn and Price 1997), by SciPy

The best weights ever seen are handed back.  A search proves nothing about what it has not seen, and says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discriminant.arguments import COUNT, FROM_ZERO, RANDOM, checked, some_numbers
from discriminant.errors import ParameterError
from discriminant.optimize.iterative import (
    NOT_A_NUMBER,
    ROW_SCALES,
    STOPPED,
    Iterative,
    Recorder,
    documented,
    starting_weights,
)
from discriminant.optimize.needs import require, require_margin
from discriminant.protocols import Array, Oracle, Solution

TEMPERATURES = some_numbers(
    "a positive temperature and one that is not above it", lambda t: t.shape == (2,) and np.inf > t[0] >= t[1] > 0
)
STEPS = np.concatenate([-(2.0 ** np.arange(4, -7, -1)), [0.0], 2.0 ** np.arange(-6, 5)])  # along a line of annealing
HALF_SIDE = 10.0  # of the box of differential evolution, in units of the start's largest weight or of 1


class ValueSearch(Iterative):
    """What the searches share: how one begins, and how it ended."""

    needs: ClassVar[Oracle] = Oracle.VALUE
    steps: ClassVar[str]  # what it calls them
    ended: ClassVar[str]  # the sentence where the least possible J was not seen

    def _search(self, objective: Any, A: Array, J: float, record: Recorder) -> tuple[Array, float, int, int, bool]:
        """(the best weights seen, J there, steps, passes, whether it was stopped)."""
        raise NotImplementedError

    def minimize(self, objective: Any, start: Array) -> Solution:
        require(self, objective)
        objective = self.on_scale(objective)
        require_margin(self, objective)
        A = starting_weights(objective, start)
        J = float(objective.value(A))
        if not np.isfinite(J):
            return Solution(A, NOT_A_NUMBER, False, 1, 0, J)
        record = self.recorder(objective)
        A, J, k, passes, stopped = self._search(objective, A, J, record)
        done = least_possible(objective, J)
        if done:
            status = f"Converged after {k} {self.steps}: J = 0, the least possible."
        elif stopped:
            status = STOPPED.format(k=k)
        else:
            status = self.ended.format(k=k, J=J)
        return Solution(A, status, done, 1 + passes + record.passes, k, J, history=record.history)


@documented
@dataclass(frozen=True)
@checked(iterations=FROM_ZERO, temperature=TEMPERATURES, scales=ROW_SCALES, random_state=RANDOM)
class Annealing(ValueSearch):
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
    steps: ClassVar[str] = "moves"
    ended: ClassVar[str] = (
        "Cooled down after {k} moves: J = {J:.6g} is the least that was seen; annealing does not prove that it is the "
        "least possible."
    )

    def _search(self, objective: Any, A: Array, J: float, record: Recorder) -> tuple[Array, float, int, int, bool]:
        hot, cold = self.temperature
        rng, scales = np.random.default_rng(self.random_state), weight_scales(self.scales, A)
        unit = max(abs(J), np.finfo(np.float64).tiny)
        best, least, k, stopped = A, J, 0, False
        for k in range(1, self.iterations + 1):
            size = max(float(np.linalg.norm(A / scales)) / np.sqrt(A.size), 1e-3)
            D = size * scales * rng.standard_normal(A.shape)
            if rng.random() < 0.5:  # half of the moves turn few weights at a time
                D *= rng.random(A.shape) < max(0.2, 1.5 / A.size)
            values = objective.along(A, D, STEPS)
            values = np.where(np.isfinite(values), values, np.inf)
            values = unit * np.round(values / unit, 12)  # what differs by rounding alone is a tie, whatever the weights
            low = int(np.argmin(values))
            if values[low] < least:
                best, least = A + STEPS[low] * D, float(values[low])
            T = unit * hot * (cold / hot) ** (k / self.iterations)
            chance = np.exp(-(values - values[low]) / T)
            pick = int(rng.choice(len(STEPS), p=chance / chance.sum()))
            A, J = A + STEPS[pick] * D, float(values[pick])
            stopped = record(k, A, J, None, float(STEPS[pick]))
            if stopped or least_possible(objective, least):
                break
        return best, least, k, k, stopped


@documented
@dataclass(frozen=True)
@checked(iterations=COUNT, population=COUNT, scales=ROW_SCALES, random_state=RANDOM)
class DifferentialEvolution(ValueSearch):
    """A genetic search beside ``Annealing``, for criteria that have values and nothing else.

    It searches a box of weights, in generations; each child is one pass, and takes its parent's place where its J is
    not larger.  For the count of errors only the direction of the weights matters, so that a box is enough.

    Parameters
    ----------
    iterations : int, default=100
        Generations at most.
    population : int, default=15
        Members of the population for each weight.
    scales : array-like of shape (1 + d,) or None, default=None
        Sizes of the weights: the box is ten times as wide on each side, or ten times the start; None: equal.

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
    steps: ClassVar[str] = "generations"
    ended: ClassVar[str] = (
        "Ended after {k} generations: J = {J:.6g} is the least that was seen; a genetic search does not prove that it "
        "is the least possible."
    )

    def _search(self, objective: Any, A: Array, J: float, record: Recorder) -> tuple[Array, float, int, int, bool]:
        from scipy.optimize import differential_evolution

        half = weight_scales(self.scales, A) * max(1.0, float(np.abs(A).max())) * HALF_SIDE
        stopped = record(0, A, J, None, 0.0)
        if stopped:
            return A, J, 0, 0, stopped

        def value(a: Array) -> float:
            found = float(objective.value(a.reshape(A.shape)))
            return found if np.isfinite(found) else np.inf

        def callback(intermediate_result: Any) -> bool:
            nonlocal stopped
            k, best = len(record.history), intermediate_result
            stopped = record(k, best.x.reshape(A.shape), float(best.fun), None, 0.0)
            return stopped or least_possible(objective, best.fun)

        found = differential_evolution(
            value, list(zip(-half.ravel(), half.ravel(), strict=True)), maxiter=self.iterations,
            popsize=self.population, seed=np.random.default_rng(self.random_state), x0=A.ravel(), tol=0.0,
            atol=-1.0,  # a population of equal counts has not converged: it stands on one step of the stairs
            polish=False, callback=callback,
        )  # fmt: skip
        if found.fun < J:
            A, J = np.asarray(found.x).reshape(A.shape), float(found.fun)
        return A, J, len(record.history) - 1, found.nfev, stopped


def least_possible(objective: Any, J: float) -> bool:
    """Whether no weights can have a smaller J: zero, where the criterion is never negative."""
    return bool(J == 0 and Oracle.MARGIN in objective.oracles)


def weight_scales(scales: Any, A: Array) -> Array:
    """(1+d, q): the typical size of each weight; ones where none are given."""
    if scales is None:
        return np.ones_like(A)
    size = np.asarray(scales, dtype=np.float64)
    if size.shape != A.shape[:1] or not (size > 0).all():
        raise ParameterError(f"scales needs {A.shape[0]} positive numbers, one for each row of the weights.")
    return np.repeat(size[:, None], A.shape[1], axis=1)
