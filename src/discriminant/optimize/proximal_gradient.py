"""Proximal gradient with momentum (FISTA, restarted): for penalties with a kink, A ← prox(B − s∇L(B), s).

The step s is found by backtracking on the smooth loss L.  Momentum is dropped whenever it points uphill.  It stops when
the proximal step hardly moves: ‖A − prox(A − s∇L, s)‖ / s, which is zero exactly at a minimum, is small.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discriminant.arguments import FROM_ZERO, NOT_NEGATIVE, checked
from discriminant.errors import MismatchError, counted
from discriminant.optimize.iterative import NOT_A_NUMBER, STOPPED, Iterative, documented, starting_weights
from discriminant.optimize.needs import require, require_rows
from discriminant.optimize.promise import promise
from discriminant.protocols import Array, Oracle, Solution

SMOOTH = Oracle.VALUE | Oracle.GRADIENT | Oracle.CURVATURE


@documented
@dataclass(frozen=True)
@checked(tolerance=NOT_NEGATIVE, iterations=FROM_ZERO)
class ProximalGradient(Iterative):
    """A ← prox(B − s∇L(B), s), with momentum: for penalties with a proximal map and no gradient.

    The accelerated method (FISTA) of Beck and Teboulle (2009), with restarts.

    Parameters
    ----------
    tolerance : float, default=1e-09
        Stop when the proximal step, divided by s, is shorter than tolerance · max(1, ‖∇L at the start‖).
    iterations, trace, count_errors, callback, scale

    See Also
    --------
    ProximalNewton : Fewer passes, with a proof.

    Examples
    --------
    >>> from discriminant import Discriminant, datasets
    >>> from discriminant.penalties import Lasso
    >>> iris = datasets.load("iris")
    >>> model = Discriminant(criterion="softmax", penalty=Lasso(0.05), optimizer=ProximalGradient()).fit(iris.X, iris.y)
    >>> int((model.coef_ == 0).sum()) > 0
    True
    """

    tolerance: float = 1e-9
    iterations: int = 20_000
    needs: ClassVar[Oracle] = Oracle.VALUE

    def minimize(self, objective: Any, start: Array) -> Solution:
        objective = self.on_scale(objective)
        rows = require_rows(self, objective)
        require(self, rows.without_penalty(), SMOOTH)  # of the loss; the penalty needs a proximal map only
        if rows.penalty is not None and rows.penalty.needs_information:
            raise MismatchError(
                "Optimizer ProximalGradient needs a proximal map, which penalty Jeffreys does not give; use Newton."
            )
        record = self.recorder(objective)
        A = B = starting_weights(objective, start)
        bare = rows.without_penalty()
        curved = rows if Oracle.CURVATURE in rows.oracles else bare
        loss, G = bare.value_and_gradient(B)
        scale = max(1.0, float(np.linalg.norm(G)))
        step, momentum, passes, k = 1 / scale, 1.0, 1, 0
        status, converged, move, goal = NOT_A_NUMBER, False, np.inf, self.tolerance * scale
        while np.isfinite(loss):
            new, step, tried = _backtrack(bare, rows.penalty, B, loss, G, step)
            passes += tried
            move = float(np.linalg.norm(new - B)) / step
            k += 1
            if record(k, new, loss, G, step):
                A, status = new, STOPPED.format(k=k)
                break
            if move <= goal and promise(
                curved, B, (B - new) / step, k, whole=bool(new[1:].all())
            ).fall > record.negligible(loss):
                goal = move / 10
            if move <= goal:
                A, converged = new, True
                status = f"Converged after {counted(k, 'step')}: a proximal step of length 1 moves by {move:.2g}."
                break
            if k == self.iterations:
                A, status = (
                    new,
                    f"Not converged after {counted(k, 'step')}: a proximal step of length 1 still moves by {move:.2g}.",
                )
                break
            if ((B - new) * (new - A)).sum() > 0:  # momentum points uphill: start it again
                momentum = 1.0
            following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            B = new + (momentum - 1) / following * (new - A)
            A, momentum = new, following
            loss, G = bare.value_and_gradient(B)
            passes += 1
            step *= 1.02  # so that one hard region does not slow the rest for ever
        J = rows.value(A) if np.isfinite(loss) else float(loss)
        return Solution(A, status, converged, passes + record.passes, k, J, move, record.history)


def _backtrack(bare: Any, penalty: Any, B: Array, loss: float, G: Array, step: float) -> tuple[Array, float, int]:
    """prox(B − sG, s) for the first s = step, step/2, … at which the loss lies below its quadratic bound."""
    tried = 0
    while True:
        tried += 1
        new = B - step * G
        if penalty is not None:
            new = penalty.prox(new, step)
        move = new - B
        bound = loss + float((G * move).sum()) + float(np.square(move).sum()) / (2 * step)
        if bare.value(new) <= bound + 1e-12 * abs(loss) or tried == 60:
            return new, step, tried
        step /= 2
