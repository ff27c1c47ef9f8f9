"""Gradient descent: a ← a − η(k) ∇J(a) until ‖η(k) ∇J(a)‖ < θ (Alpaydin 10.6; Duda, Hart and Stork 5.4).

J is a mean over the rows, or, with ``scale="sum"``, the textbooks' sum: a sum over n rows with step η is a mean with
step nη.  A step too long for the criterion makes J grow without bound or swing to and fro; that is noticed and said,
with the longest step at which descent is stable there: 2 / λ_max of the Hessian.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discriminant.arguments import FROM_ZERO, NOT_NEGATIVE, checked
from discriminant.errors import MismatchError, ParameterError, counted
from discriminant.objective import PointwiseObjective
from discriminant.optimize.iterative import (
    NOT_A_NUMBER,
    ROW_SCALES,
    STOPPED,
    Iterative,
    Recorder,
    documented,
    starting_weights,
)
from discriminant.optimize.needs import require
from discriminant.optimize.schedules import STEP, Schedule, make_schedule, rate
from discriminant.optimize.solve import largest_eigenvalue
from discriminant.protocols import Array, Oracle, Solution

RISES = 8  # so many rises of J in a row are not a swing that settles


@documented
@dataclass(frozen=True)
@checked(step=STEP, rates=ROW_SCALES, threshold=NOT_NEGATIVE, iterations=FROM_ZERO, patience=FROM_ZERO)
class GradientDescent(Iterative):
    """a ← a − η(k) ∇J(a), the textbooks' procedure (Duda, Hart and Stork 5.4, Alpaydin 10.6).

    Each step is one pass; η(k) may be a number, a schedule or any function of k.

    Parameters
    ----------
    step : float, Schedule or callable, default=0.1
        η(k), on the scale of J.
    rates : array-like of shape (1 + d,) or (1 + d, q), or None, default=None
        A factor of η for each attribute (row 0 is the intercept).
    threshold : float, default=1e-08
        θ: stop when the step is shorter.
    patience : int, default=0
        If positive, stop when the misclassified rows have not become fewer for so many steps, and return the first
        weights with the fewest: early stopping, a regulariser.

    See Also
    --------
    Newton : Far fewer steps where there is a Hessian.

    >>> X, y = [[-1.0], [1.0], [-2.0], [2.0]], [0, 1, 0, 1]
    >>> model = Discriminant(criterion="squared", optimizer=GradientDescent(step=0.2)).fit(X, y)
    >>> model.coef_.round(4), model.certificate_.converged
    (array([[0.6]]), True)
    """

    step: float | Schedule = 0.1
    rates: Any = None
    threshold: float = 1e-8
    iterations: int = 1000
    patience: int = 0
    needs: ClassVar[Oracle] = Oracle.VALUE | Oracle.GRADIENT

    @property
    def early(self) -> bool:
        """Whether a stop before the minimum is what was asked for."""
        return self.patience > 0

    def minimize(self, objective: Any, start: Array) -> Solution:
        require(self, objective)
        objective = self.on_scale(objective)
        if self.patience and not isinstance(objective, PointwiseObjective):
            raise MismatchError(
                "GradientDescent(patience=…) counts misclassified rows and needs an objective with rows."
            )
        return _Descent(self, objective, starting_weights(objective, start)).run()


@dataclass
class _Descent:
    """The state of one run."""

    options: GradientDescent
    objective: Any
    A: Array

    def run(self) -> Solution:
        schedule, record = make_schedule(self.options.step), self.options.recorder(self.objective)
        rates = _rates(self.options.rates, self.A)
        A = self.A
        J, G = self.objective.value_and_gradient(A)
        self.first = self.best = J
        self.best_weights, self.fewest, self.since = A, np.inf, 0
        self.rises = self.turns = 0
        eta = length = 0.0
        k, status, converged = 0, "" if np.isfinite(J) else NOT_A_NUMBER, False
        if not status and record(0, A, J, G, 0.0):
            status = STOPPED.format(k=0)
        while not status and k < self.options.iterations:
            k += 1
            eta = rate(schedule, k)
            move = eta * G if rates is None else eta * rates * G
            length = float(np.linalg.norm(move))
            A = A - move
            before, (J, G) = J, self.objective.value_and_gradient(A)
            stopped = record(k, A, J, G, eta)
            self._watch(before, J, A)
            if not np.isfinite(J) or not np.isfinite(A).all() or self._runs_away(J):
                status = self._diverged(k, eta, rates, J)
                A, J, G = self.best_weights, self.best, None
            elif length < self.options.threshold:
                status, converged = self._arrived(record, k, A, J, G)
            elif self.options.patience and self._tired(record, A):
                status, converged = self._early(k), True
                A, J, G = self.best_weights, self.best, None
            elif stopped:
                status = STOPPED.format(k=k)
        status = status or self._unfinished(J, length, eta, rates)
        return record.solution(k, A, J, G, status.strip(), converged, k + 1)

    def _watch(self, before: float, J: float, A: Array) -> None:
        rising = before * (1 + 1e-12) < J
        self.turns += int(rising and self.rises == 0)
        self.rises = self.rises + 1 if rising else 0
        if self.best > J and not self.options.patience:
            self.best, self.best_weights = J, A

    def _runs_away(self, J: float) -> bool:
        """Only smooth criteria: the perceptron's may rise many times on its way to a solution."""
        smooth = Oracle.CURVATURE in self.objective.oracles
        return smooth and self.rises >= RISES and 10 * abs(self.first) < J

    def _tired(self, record: Recorder, A: Array) -> bool:
        if record.errors is None or not self.options.count_errors:
            errors = self.objective.errors(A)
            record.passes += 1
        else:
            errors = record.errors
        if errors < self.fewest:
            self.fewest, self.since, self.best_weights = errors, 0, A
            self.best = record.history.columns["objective"][-1]
        else:
            self.since += 1
        return bool(self.since >= self.options.patience or errors == 0)

    def _arrived(self, record: Recorder, k: int, A: Array, J: float, G: Array) -> tuple[str, bool]:
        if Oracle.MARGIN in self.objective.oracles and not G.any():
            return f"Converged: every row lies beyond its margin after {counted(k - 1, 'correction')}.", True
        theta, left = self.options.threshold, record.promises(A, G, k).fall
        if left <= record.negligible(J) or record.proves_no_minimum(k, A):
            return f"Converged: the step of iteration {k} was shorter than θ = {theta:g}.", True
        smooth = Oracle.CURVATURE in self.objective.oracles
        gain = (
            f"a Newton step promises to lower J = {J:.6g} by {left:.2g}"
            if smooth
            else f"‖∇J‖ = {np.linalg.norm(G):.2g}"
        )
        return f"Not converged: the step of iteration {k} was shorter than θ = {theta:g}, but {gain}.", False

    def _early(self, k: int) -> str:
        if self.fewest == 0:
            return f"Stopped early at step {k}: no row is misclassified."
        return (
            f"Stopped early at step {k}: the misclassified rows ({int(self.fewest)}) had not become fewer for "
            f"{self.options.patience} steps; the first weights with so few are handed back."
        )

    def _diverged(self, k: int, eta: float, rates: Array | None, J: float) -> str:
        return (
            f"Diverged: J grew from {self.first:.4g} to {J:.4g} in {counted(k, 'step')}. "
            f"{self._stable_step(eta, rates)}The best weights seen are handed back."
        )

    def _unfinished(self, J: float, length: float, eta: float, rates: Array | None) -> str:
        smooth = Oracle.CURVATURE in self.objective.oracles
        if smooth and self.turns > self.options.iterations // 10:
            return (
                f"Not converged: J swings to and fro ({self.turns} rises in {self.options.iterations} steps). "
                f"{self._stable_step(eta, rates)}"
            ).rstrip()
        return (
            f"Not converged: after {counted(self.options.iterations, 'step')} the step is still {length:.3g} long "
            f"(θ = {self.options.threshold:g}); "
            f"J {'fell' if self.first > J else 'went'} from {self.first:.6g} to {J:.6g}."
        )

    def _stable_step(self, eta: float, rates: Array | None) -> str:
        """The sentence about the longest stable step, where a Hessian is to be had."""
        if Oracle.CURVATURE not in self.objective.oracles or self.A.size > 2000:
            return f"The step η = {eta:g} is too long for this criterion; try a tenth of it. "
        curvature = (
            self.objective.curvature if isinstance(self.objective, PointwiseObjective) else self.objective.hessian
        )
        steep = max(largest_eigenvalue(curvature(A), rates) for A in (self.A, self.best_weights))
        if steep <= 0 or eta <= 2 / steep:
            return f"The step η = {eta:g} is too long for this criterion; try a tenth of it. "
        return (
            f"The step η = {eta:g} is longer than {2 / steep:.3g}, the longest at which descent is stable here "
            f"(2/λ_max of the Hessian); take a shorter one, or Newton or LBFGS, which find their own. "
        )


def _rates(rates: Any, A: Array) -> Array | None:
    if rates is None:
        return None
    factor = np.asarray(rates, dtype=np.float64)
    if factor.ndim == 1:
        factor = np.repeat(factor[:, None], A.shape[1], axis=1)
    if factor.shape != A.shape or not (factor > 0).all():
        raise ParameterError(
            f"The rates of GradientDescent are positive, one for each of the {A.shape[0]} rows of the weights (the "
            f"intercept first); they have shape {np.shape(rates)}."
        )
    return factor
