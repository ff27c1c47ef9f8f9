"""Newton's method with step-halving: a ← a − s H⁻¹∇J, s = 1, ½, ¼, … until J falls enough.

For the logistic criterion this is iteratively reweighted least squares.  The halvings are tried in one pass over the
data.  It stops when ½ ∇J' H⁻¹ ∇J, the fall of J that a full step promises, is a tiny part of J, or when the step is
shorter than θ.  On a quadratic criterion it arrives in one step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discriminant.errors import counted
from discriminant.optimize.iterative import (
    NOT_A_NUMBER,
    STOPPED,
    Iterative,
    starting_weights,
)
from discriminant.optimize.line_search import ROUNDING
from discriminant.optimize.needs import require
from discriminant.optimize.solve import newton_step
from discriminant.protocols import Array, Oracle, Solution

WIDE = 2.0 ** np.arange(20, -41, -2)
LOOK_FROM, LOOK_EVERY = 4, 4  # steps at which to look whether the rows are separated: one pass each


@dataclass(frozen=True)
class Newton(Iterative):
    """a ← a − s H⁻¹∇J with step-halving: Newton's method.

    For the logistic criterion it is iteratively reweighted least squares (PRML 4.3.3; Duda, Hart and Stork 5.4).

    Parameters
    ----------
    tolerance : float, default=1e-14
        Stop when the promised fall ½∇JᵗH⁻¹∇J ≤ tolerance·|J|.
    threshold : float, default=0.0
        θ: stop when ‖H⁻¹∇J‖ < θ (0: do not).
    iterations : int, default=100
        Steps at most.
    halvings : int, default=30
        How often a step that does not lower J is halved at most.
    trace : bool, default=False
        Keep the weights of each step in the history.
    count_errors : bool, default=False
        Count the misclassified rows at each step, at the price of a pass.
    callback : callable or None, default=None
        Called with each ``Step``; stops the run by returning True.

    See Also
    --------
    LBFGS : Without a Hessian.

    Examples
    --------
    >>> from discriminant import Discriminant, datasets
    >>> from discriminant.penalties import Ridge
    >>> iris = datasets.load("iris")
    >>> model = Discriminant(criterion="softmax", penalty=Ridge(0.01), optimizer=Newton()).fit(iris.X, iris.y)
    >>> model.n_iter_ < 20, model.certificate_.converged
    (True, True)
    """

    tolerance: float = 1e-14
    threshold: float = 0.0
    iterations: int = 100
    halvings: int = 30
    needs: ClassVar[Oracle] = Oracle.VALUE | Oracle.GRADIENT | Oracle.CURVATURE

    def minimize(self, objective: Any, start: Array) -> Solution:
        """The weights at which J promises to fall no further.

        Parameters
        ----------
        objective : PointwiseObjective
            J over the rows: a criterion, its penalty and the data as one function of A.
        start : ndarray of shape (1 + d, q)
            The weights to begin with.

        Returns
        -------
        Solution
            The weights, a status sentence, and what was spent.

        Raises
        ------
        MismatchError
            Where the criterion has no curvature.
        """
        require(self, objective)
        record = self.recorder(objective)
        A, passes = starting_weights(objective, start), 1.0
        steps = 0.5 ** np.arange(self.halvings + 1)
        J, G = objective.value_and_gradient(A)
        status, converged, k, taken = NOT_A_NUMBER, False, 0, 0.0
        while np.isfinite(J):
            if record(k, A, J, G, taken):
                status = STOPPED.format(k=k)
                break
            if not G.any():
                status, converged = f"Converged after {counted(k, 'step')}: the gradient is zero.", True
                break
            P = newton_step(objective.hessian(A), G)
            promised = -float((G * P).sum()) / 2
            passes += 1
            if promised <= self.tolerance * abs(J) or np.linalg.norm(P) < self.threshold:
                status, converged = self._arrived(k, promised, J), True
                break
            if k == self.iterations:
                status = (
                    f"Not converged after {counted(k, 'step')}: a further step promises to lower J by {promised:.3g}."
                )
                break
            if k >= LOOK_FROM and (k - LOOK_FROM) % LOOK_EVERY == 0 and record.proves_no_minimum(k, A):
                break
            taken = _choose(objective.along(A, P, steps), steps, J, promised)
            passes += 1
            if not taken and promised > 1e-9 * abs(J):
                # Far out, where the criterion is all but straight, H says nothing: go down the slope, far or near.
                P = -G
                taken = _choose(objective.along(A, P, WIDE), WIDE, J, float(np.square(G).sum()) / 2)
                passes += 1
            if not taken:
                status, converged = self._stuck(k, promised, J)
                break
            A = A + taken * P
            J, G = objective.value_and_gradient(A)
            passes, k = passes + 1, k + 1
        return record.solution(k, A, J, G, status, converged, passes)

    def _arrived(self, k: int, promised: float, J: float) -> str:
        return (
            f"Converged after {counted(k, 'step')}: a further step promises to lower "
            f"J = {J:.6g} by no more than {max(promised, 0.0):.2g}."
        )

    def _stuck(self, k: int, promised: float, J: float) -> tuple[str, bool]:
        """No halving lowers J: either rounding hides what is left to gain, or the model of J is wrong there."""
        if promised <= 1e-9 * abs(J):
            return (
                f"Converged after {counted(k, 'step')} to the precision of the arithmetic: no step lowers J = {J:.6g}.",
                True,
            )
        return f"Not converged: after {counted(k, 'step')} no halving of the Newton step lowers J = {J:.6g}.", False


def _choose(values: Array, steps: Array, J: float, promised: float) -> float:
    """The full step if it brings a quarter of what it promises, else the best of the others that bring enough; or 0."""
    values = np.where(np.isfinite(values), values, np.inf)
    slack = ROUNDING * abs(J)
    if values[0] <= J - promised / 4 + slack:
        return float(steps[0])
    enough = values <= J - 2e-4 * steps * promised + slack
    return float(steps[int(np.argmin(np.where(enough, values, np.inf)))]) if enough.any() else 0.0
