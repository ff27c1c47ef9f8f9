"""L-BFGS: quasi-Newton steps from the last few changes of weights and gradient; one pass over the data a step, mostly.

It stops when the promised fall ½∇J'B∇J, with B its own estimate of the inverse Hessian, is a tiny part of J twice in
a row, or when the gradient vanishes.  Where columns have very different units B is slow to learn and promises too
little; so the falls of the last steps, carried on as a geometric series, must have next to nothing left to add.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discriminant.errors import counted
from discriminant.optimize.history import History
from discriminant.optimize.iterative import (
    NOT_A_NUMBER,
    STOPPED,
    Iterative,
    starting_weights,
)
from discriminant.optimize.line_search import line_search
from discriminant.optimize.needs import require
from discriminant.protocols import Array, Oracle, Solution

LOOK_EVERY = 25
LEAST_WINDOW = 8


@dataclass(frozen=True)
class LBFGS(Iterative):
    """Limited-memory BFGS: quasi-Newton steps from the last changes of weights and gradient.

    For problems whose Hessian would be too large or too dear (Nocedal and Wright 7.2).

    Parameters
    ----------
    tolerance : float, default=1e-12
        Stop when the promised fall of J is at most tolerance·|J|, twice in a row.
    iterations : int, default=5000
        Steps at most.
    memory : int, default=12
        How many changes are remembered.
    preconditioner : callable or None, default=None
        G ↦ B₀G, a first estimate of H⁻¹G; None: a multiple of G.
    trace : bool, default=False
        Keep the weights of each step in the history.
    count_errors : bool, default=False
        Count the misclassified rows at each step, at the price of a pass.
    callback : callable or None, default=None
        Called with each ``Step``; stops the run by returning True.

    Examples
    --------
    >>> from discriminant import Discriminant, datasets
    >>> iris = datasets.load("iris")
    >>> model = Discriminant(criterion="squared", optimizer=LBFGS()).fit(iris.X, iris.y)
    >>> model.certificate_.converged
    True
    """

    tolerance: float = 1e-12
    iterations: int = 5000
    memory: int = 12
    preconditioner: Callable[[Array], Array] | None = None
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
        """
        require(self, objective)
        record = self.recorder(objective)
        A, passes, pairs = starting_weights(objective, start), 1.0, _Pairs(self.memory, self.preconditioner)
        J, G = objective.value_and_gradient(A)
        status, converged, k, quiet, step = NOT_A_NUMBER, False, 0, 0, 0.0
        while np.isfinite(J):
            if record(k, A, J, G, step):
                status = STOPPED.format(k=k)
                break
            if not G.any():
                status, converged = f"Converged after {counted(k, 'step')}: the gradient is zero.", True
                break
            P = pairs.direction(G)
            promised = -float((G * P).sum()) / 2
            quiet = quiet + 1 if promised <= self.tolerance * abs(J) else 0
            if quiet >= 2 and k and _left_to_gain(record.history) <= 10 * self.tolerance * abs(J):
                steps = counted(k, "step")
                status = f"Converged after {steps}: J = {J:.6g}, and the next promises to lower it by {promised:.2g}."
                converged = True
                break
            if k == self.iterations:
                steps = counted(k, "step")
                status = f"Not converged after {steps}: the next promises to lower J = {J:.6g} by {promised:.2g}."
                break
            if k and k % LOOK_EVERY == 0 and record.proves_no_minimum(k, A):
                break
            first = 1.0 if pairs or self.preconditioner else 1 / max(1.0, float(np.linalg.norm(G)))
            found = line_search(objective, A, P, J, G, first=first)
            passes += found.passes
            if found.step == 0.0:
                if pairs:  # the memory may have gone stale: forget it and go down the gradient once more
                    pairs.forget()
                    continue
                status, converged = self._stuck(k, J, G)
                break
            step = found.step
            pairs.learn(step * P, found.gradient - G)
            A, J, G, k = A + step * P, found.value, found.gradient, k + 1
        return record.solution(k, A, J, G, status, converged, passes)

    def _stuck(self, k: int, J: float, G: Array) -> tuple[str, bool]:
        norm = float(np.linalg.norm(G))
        if norm <= 1e-8 * max(1.0, abs(J)):
            return f"Converged after {counted(k, 'step')} to the precision of the arithmetic: ‖∇J‖ = {norm:.2g}.", True
        return f"Not converged: after {counted(k, 'step')} no step lowers J = {J:.6g}, with ‖∇J‖ = {norm:.2g}.", False


def _left_to_gain(history: History) -> float:
    """What the falls of J over the last two windows of steps leave to come, if they go on as a geometric series."""
    values = history.columns["objective"]
    window = max(LEAST_WINDOW, len(values) // 8)  # a slow run is judged over many steps
    if len(values) <= 2 * window:
        return 0.0
    before, last = values[-2 * window - 1] - values[-window - 1], values[-window - 1] - values[-1]
    if last <= 0:
        return 0.0
    return float(last * last / (before - last)) if before > last else np.inf


class _Pairs:
    """The last changes s of weights and y of gradient, and the product of the inverse Hessian that they imply."""

    def __init__(self, memory: int, preconditioner: Callable[[Array], Array] | None) -> None:
        self.memory, self.preconditioner = memory, preconditioner
        self.changes: list[tuple[Array, Array, float]] = []

    def __bool__(self) -> bool:
        return bool(self.changes)

    def forget(self) -> None:
        self.changes.clear()

    def learn(self, s: Array, y: Array) -> None:
        """Keep the pair if the criterion bends upwards along it."""
        bend = float((s * y).sum())
        if bend > 1e-14 * float(np.linalg.norm(s) * np.linalg.norm(y)):
            self.changes = [*self.changes[-self.memory + 1 :], (s, y, 1 / bend)]

    def direction(self, G: Array) -> Array:
        """−B G by the two-loop recursion."""
        P, shares = G.copy(), []
        for s, y, inverse in reversed(self.changes):
            share = inverse * float((s * P).sum())
            shares.append(share)
            P -= share * y
        if self.preconditioner is not None:
            P = self.preconditioner(P)
        elif self.changes:
            _, y, inverse = self.changes[-1]
            P /= inverse * float(np.square(y).sum())
        for (s, y, inverse), share in zip(self.changes, reversed(shares), strict=True):
            P += (share - inverse * float((y * P).sum())) * s
        return -P
