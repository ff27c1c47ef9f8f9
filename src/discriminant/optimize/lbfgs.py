"""L-BFGS: quasi-Newton steps from the last few changes of weights and gradient; one pass over the data a step, mostly.

It stops when the promised fall ½∇J'B∇J, with B its own estimate of the inverse Hessian, is a tiny part of J twice in
a row, or when the gradient vanishes.  Where columns have very different units B is slow to learn and promises too
little; so the Hessian itself is asked at the end, and where it promises more the steps go on with it as their B₀.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discriminant.arguments import CALLABLE, COUNT, FROM_ZERO, NOT_NEGATIVE, checked, optional
from discriminant.data.device_library import library_of
from discriminant.errors import counted
from discriminant.optimize.history import History
from discriminant.optimize.iterative import (
    NOT_A_NUMBER,
    STOPPED,
    Iterative,
    documented,
    starting_weights,
)
from discriminant.optimize.line_search import Found, line_search
from discriminant.optimize.needs import require
from discriminant.optimize.promise import RENEWALS
from discriminant.protocols import Array, Oracle, Solution

CHECK_EVERY = 25
LEAST_WINDOW = 8


@documented
@dataclass(frozen=True)
@checked(tolerance=NOT_NEGATIVE, iterations=FROM_ZERO, memory=COUNT, preconditioner=optional(CALLABLE))
class LBFGS(Iterative):
    """Limited-memory BFGS: quasi-Newton steps from the last changes of weights and gradient.

    For problems whose Hessian would be too large or too dear (Nocedal and Wright 7.2).

    Parameters
    ----------
    tolerance : float, default=1e-12
        Stop when the promised fall of J is at most tolerance·|J|, twice in a row.
    iterations
    memory : int, default=12
        How many changes are remembered.
    preconditioner : callable or None, default=None
        G ↦ B₀G, a first estimate of H⁻¹G; None: a multiple of G.
    trace, count_errors, callback, scale

    See Also
    --------
    Newton : With a Hessian.
    ConjugateGradient : Without memory of earlier steps.

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
        require(self, objective)
        objective = self.on_scale(objective)
        record = self.recorder(objective)
        A, passes, pairs = starting_weights(objective, start), 1.0, Pairs(self.memory, self.preconditioner)
        J, G = objective.value_and_gradient(A)
        status, converged, k, quiet, step, recorded, renewed = NOT_A_NUMBER, False, 0, 0, 0.0, -1, 0
        while np.isfinite(J):
            if k > recorded and record(k, A, J, G, step):
                status = STOPPED.format(k=k)
                break
            recorded = k
            if not G.any():
                status, converged = f"Converged after {counted(k, 'step')}: the gradient is zero.", True
                break
            P = pairs.direction(G)
            promised = -float((G * P).sum()) / 2
            quiet = quiet + 1 if promised <= self.tolerance * abs(J) else 0
            still = quiet >= 2 and k > 0 and _left_to_gain(record.history) <= 10 * self.tolerance * abs(J)
            if k == self.iterations and not still:
                status = _unfinished(k, J, promised)
                break
            if k and k % CHECK_EVERY == 0 and record.proves_no_minimum(k, A):
                break
            if not still:
                P, found = _search(objective, A, P, J, G, pairs)
                passes += found.passes
                if found.step:
                    step = found.step
                    pairs.took(step * P)
                    A, J, G, k = A + step * P, found.value, found.gradient, k + 1
                    continue
            newton = record.promises(A, G, passes)
            enough = (
                10 * self.tolerance * abs(J)
                if renewed < RENEWALS and newton.solve is not None
                else record.negligible(J)
            )
            if newton.fall <= enough:
                status, converged = _arrived(k, J, G, max(newton.fall, promised) if still else None), True
                break
            if renewed == RENEWALS or newton.solve is None:
                status = _unfinished(k, J, max(newton.fall, promised))
                break
            pairs, quiet, renewed = Pairs(self.memory, newton.solve), 0, renewed + 1
        return record.solution(k, A, J, G, status, converged, passes)


def _search(objective: Any, A: Array, P: Array, J: float, G: Array, pairs: Pairs) -> tuple[Array, Found]:
    """A step along P, or, where the memory has gone stale, along what is left when it is forgotten."""
    short = 1 / max(1.0, float(np.linalg.norm(G)))
    found = line_search(objective, A, P, J, G, first=1.0 if pairs or pairs.preconditioned else short)
    if found.step or not pairs:
        return P, found
    pairs.forget()
    P = pairs.direction(G)
    again = line_search(objective, A, P, J, G, first=1.0 if pairs.preconditioned else short)
    return P, again._replace(passes=found.passes + again.passes)


def _arrived(k: int, J: float, G: Array, left: float | None) -> str:
    """``left``: what is promised still; None where no step lowers J any more."""
    if left is not None:
        return f"Converged after {counted(k, 'step')}: J = {J:.6g}, and the next promises to lower it by {left:.2g}."
    return f"Converged after {counted(k, 'step')} to the precision of the arithmetic: ‖∇J‖ = {np.linalg.norm(G):.2g}."


def _unfinished(k: int, J: float, promised: float) -> str:
    return f"Not converged after {counted(k, 'step')}: the next promises to lower J = {J:.6g} by {promised:.2g}."


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


class Pairs:
    """The last changes s of weights and y of gradient, and the inverse Hessian B that they imply from B₀ = γP⁻¹.

    In the compact form (Nocedal and Wright 7.2), with R the upper triangle of SᵗY and D its diagonal:

        B = B₀ + [S, B₀Y] [R⁻ᵗ(D + YᵗB₀Y)R⁻¹, −R⁻ᵗ; −R⁻¹, 0] [S, B₀Y]ᵗ,        γ² ← γ s·y / y·P⁻¹y,

    a few products of matrices, where the two loops are eighty of vectors; P⁻¹y is the difference of two P⁻¹g.
    """

    def __init__(self, memory: int, preconditioner: Callable[[Array], Array] | None, scale: float = 1.0) -> None:
        self.memory, self.precondition, self.scale = memory, preconditioner or (lambda G: G), scale
        self.preconditioned = preconditioner is not None
        self.count = 0
        self.moved: Array | None = None
        self.g, self.Pg = np.empty(0), np.empty(0)

    def __bool__(self) -> bool:
        return self.count > 0

    def forget(self) -> None:
        self.count, self.moved = 0, None

    def took(self, s: Array) -> None:
        """The weights were changed by s since the last direction."""
        self.moved = s

    def _learn(self, s: Array, y: Array, Py: Array) -> None:
        """Keep the pair if J has positive curvature along it: R⁻¹ and YᵗB₀Y, oldest first, grow by a column."""
        curvature, m = float(s @ y), self.memory
        if not curvature > 1e-14 * math.sqrt((s @ s) * (y @ y)):
            return
        if self.count == 0:
            self.flat = self.library.zeros((2 * m, s.shape[0]))  # s and P⁻¹y of each, a vector below the other
            self.inverse, self.YPY = np.zeros((m, m)), np.zeros((m, m))
        if self.count >= m:  # of a triangle without its first row and column the inverse is the same without them
            self.inverse[:-1, :-1], self.YPY[:-1, :-1] = self.inverse[1:, 1:].copy(), self.YPY[1:, 1:].copy()
        place, self.count = self.count % m, self.count + 1
        self.flat[2 * place, :], self.flat[2 * place + 1, :] = s, Py
        last = min(self.count, m) - 1
        products = self._aged(self._products(y))
        self.inverse[:last, last] = self.inverse[:last, :last] @ products[:last, 0] / -curvature
        self.inverse[last, last] = 1 / curvature
        self.YPY[: last + 1, last] = self.YPY[last, : last + 1] = products[:, 1]
        self.scale = math.sqrt(self.scale * curvature / products[last, 1])

    def _products(self, g: Array) -> Array:
        """s·g and P⁻¹y·g of each pair (m, 2), in memory."""
        m = min(self.count, self.memory)
        return self.library.get(self.flat[: 2 * m, :] @ g).reshape(m, 2)  # type: ignore[no-any-return]

    def _aged(self, each: Array, back: bool = False) -> Array:
        """Numbers of the pairs as they are stored, the oldest first; ``back``: the other way round."""
        oldest = self.count % self.memory if self.count > self.memory else 0
        oldest = len(each) - oldest if back else oldest
        return np.concatenate([each[oldest:], each[:oldest]]) if oldest else each

    def direction(self, G: Array) -> Array:
        """−B G."""
        self.library = library_of(G)
        reshape = self.library.xp.reshape
        g, Pg = reshape(G, (-1,)), reshape(self.precondition(G), (-1,))
        if self.moved is not None:
            self._learn(reshape(self.moved, (-1,)), g - self.g, Pg - self.Pg)
        self.g, self.Pg, self.moved = g, Pg, None
        if not self.count:
            return reshape(-self.scale * Pg, G.shape)  # type: ignore[no-any-return]
        m = min(self.count, self.memory)
        inverse, products = self.inverse[:m, :m], self._aged(self._products(g))
        x = inverse @ products[:, 0]
        parts = np.empty((m, 2))
        inner = x / np.diagonal(inverse) + self.scale * (self.YPY[:m, :m] @ x - products[:, 1])
        parts[:, 0], parts[:, 1] = inner @ inverse, -self.scale * x
        shares = self.library.put(self._aged(parts, back=True).ravel())
        return reshape(shares @ self.flat[: 2 * m, :] + self.scale * Pg, G.shape) * -1.0  # type: ignore[no-any-return]
