"""Nonlinear conjugate gradients (Polak–Ribière, restarted): p ← −∇J + β p, β = max(0, g'(g − g₋)/‖g₋‖²).

On a quadratic criterion the directions are conjugate and it arrives in at most as many steps as there are weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discriminant.arguments import FROM_ZERO, NOT_NEGATIVE, checked
from discriminant.optimize.iterative import (
    NOT_A_NUMBER,
    STOPPED,
    Iterative,
    documented,
    starting_weights,
)
from discriminant.optimize.line_search import line_search
from discriminant.optimize.needs import require
from discriminant.optimize.promise import RENEWALS
from discriminant.protocols import Array, Oracle, Solution

CHECK_EVERY = 25


@documented
@dataclass(frozen=True)
@checked(tolerance=NOT_NEGATIVE, iterations=FROM_ZERO)
class ConjugateGradient(Iterative):
    """Nonlinear conjugate gradients (Polak–Ribière, restarted) with a line search by slopes.

    On a quadratic criterion it arrives in at most as many steps as there are weights.

    Parameters
    ----------
    tolerance : float, default=1e-09
        Stop when ‖∇J‖ ≤ tolerance · max(1, ‖∇J at the start‖).

    See Also
    --------
    LBFGS : Usually fewer passes.

    >>> model = Discriminant(criterion="squared", optimizer=ConjugateGradient()).fit(iris.X, iris.y)
    >>> model.certificate_.converged
    True
    """

    tolerance: float = 1e-9
    iterations: int = 5000
    needs: ClassVar[Oracle] = Oracle.VALUE | Oracle.GRADIENT | Oracle.CURVATURE

    def minimize(self, objective: Any, start: Array) -> Solution:
        require(self, objective)
        objective = self.on_scale(objective)
        record = self.recorder(objective)
        A, passes = starting_weights(objective, start), 1.0
        J, G = objective.value_and_gradient(A)
        goal = self.tolerance * max(1.0, float(np.linalg.norm(G)))
        recorded, renewed = -1, 0
        metric: Callable[[Array], Array] = np.asarray  # of the gradient: none until a Hessian is asked
        P, step, first = -G, 0.0, 1 / max(1.0, float(np.linalg.norm(G)))
        status, converged, k, fresh = NOT_A_NUMBER, False, 0, True
        flat = 1e-6 if Oracle.QUADRATIC in objective.oracles else 0.1  # there a secant finds the minimum at once
        while np.isfinite(J):
            norm = float(np.linalg.norm(G))
            if k > recorded and record(k, A, J, G, step):
                status = STOPPED.format(k=k)
                break
            recorded = k
            if k == self.iterations and norm > goal:
                status = f"Not converged after {k} steps: ‖∇J‖ = {norm:.2g} (wanted {goal:.2g}), J = {J:.6g}."
                break
            if k and k % CHECK_EVERY == 0 and record.proves_no_minimum(k, A):
                break
            found = None
            if norm > goal:
                found = line_search(objective, A, P, J, G, first=first, flat=flat)
                passes += found.passes
                if not found.step and not fresh:  # a stale direction: start again down the gradient
                    P, fresh, first = -metric(G), True, 1.0 if renewed else 1 / max(1.0, norm)
                    continue
            if (
                found is None or not found.step
            ):  # a small gradient, or no step that lowers J: what does the Hessian say?
                newton = record.promises(A, G, passes)
                if newton.fall <= record.negligible(J):
                    status, converged = f"Converged after {k} steps: ‖∇J‖ = {norm:.2g}, J = {J:.6g}.", True
                    if found is not None:
                        status = f"Converged after {k} steps to the precision of the arithmetic: ‖∇J‖ = {norm:.2g}."
                    break
                if renewed == RENEWALS or newton.solve is None:
                    status = (
                        f"Not converged: after {k} steps no step lowers J = {J:.6g}, with ‖∇J‖ = {norm:.2g}, and a "
                        f"Newton step promises to lower it by {newton.fall:.2g}."
                    )
                    break
                metric, renewed, goal = newton.solve, renewed + 1, goal / 1e3
                P, fresh, first = -metric(G), True, 1.0
                continue
            step, before = found.step, G
            A, J, G, k = A + step * P, found.value, found.gradient, k + 1
            down, slope = metric(G), float((before * P).sum())
            beta = max(0.0, float((down * (G - before)).sum() / (before * metric(before)).sum()))
            P = beta * P - down
            fresh = beta == 0.0
            if float((P * G).sum()) >= 0:
                P, fresh = -down, True
            # The last step lowered J by about step·slope/2; the next is tried where it would lower it as much.
            first = step * slope / min(float((P * G).sum()), -np.finfo(np.float64).tiny)
        return record.solution(k, A, J, G, status, converged, passes)
