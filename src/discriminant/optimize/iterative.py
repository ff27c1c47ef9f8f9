"""What the iterative optimizers share: a record of each step, and a callback that may stop them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from discriminant.arguments import BOOLEAN, CALLABLE, among, checked, optional, some_numbers
from discriminant.data import ArrayBlocks
from discriminant.docstrings import Entries
from discriminant.errors import MismatchError
from discriminant.objective import PointwiseObjective
from discriminant.optimize.history import History
from discriminant.optimize.progress import stepped
from discriminant.optimize.promise import NEGLIGIBLE, VANISHING, Promise, promise
from discriminant.protocols import Array, Solution

documented = Entries("""
objective : PointwiseObjective
    J over the rows: a criterion, its penalty and the data as one function of A.
start : ndarray of shape (1 + d, q)
    The weights to begin with.
iterations : int
    Steps at most.
random_state : int, Generator or None
    Seed of what is drawn at random.
trace : bool
    Keep the weights of each step in the history.
count_errors : bool
    Count the misclassified rows at each step, at the price of a pass; with ``trace`` when they are looked at.
callback : callable or None
    Called with each ``Step``; stops the run by returning True.
scale : {"mean", "sum"}
    In which η, J and ‖∇J‖ are counted: a mean over the rows, or the textbooks' sum.
→ Solution : Solution
    The weights, a status sentence, and what was spent.
""").documented


@documented
class Step(NamedTuple):
    """What a callback is given after each step.

    To end a run early, let the callback return True.

    Parameters
    ----------
    k : int
        The number of the step.
    objective : float
        J.
    gradient_norm : float
        ‖∇J‖.
    step : float
        The length of the step.
    errors : int or None
        Misclassified rows, where they are counted.
    weights : ndarray of shape (1 + d, q)
        A.

    See Also
    --------
    Iterative : The options of which ``callback`` is one.

    >>> from discriminant.optimize import Newton
    >>> X, y, met = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1], []
    >>> newton = Newton(callback=lambda step: met.append(step.k))
    >>> model = Discriminant(criterion="squared", optimizer=newton).fit(X, y)
    >>> met
    [0, 1]
    """

    k: int
    objective: float
    gradient_norm: float
    step: float
    errors: int | None
    weights: Array


of_solutions = Entries(inspect.cleandoc(Solution.__doc__ or "").split("-" * len("Attributes"))[1].split("\n\n")[0])

ROW_SCALES = optional(
    some_numbers("positive numbers, one for each row of the weights", lambda s: s.ndim > 0 and bool((s > 0).all()))
)


@documented
@dataclass(frozen=True, kw_only=True)
@checked(trace=BOOLEAN, count_errors=BOOLEAN, callback=optional(CALLABLE), scale=among("mean", "sum"))
class Iterative:
    """The options that every iterative optimizer takes.

    The base of ``Newton``, ``LBFGS``, ``ConjugateGradient``, ``GradientDescent``, ``ProximalGradient`` and
    ``Annealing``.

    See Also
    --------
    History : Where the steps are kept.
    Step : What a callback is given.

    >>> from discriminant.optimize import Newton
    >>> Newton(trace=True).trace, Newton().early
    (True, False)
    """

    trace: bool = False
    count_errors: bool = False
    callback: Callable[[Step], Any] | None = None
    scale: Literal["mean", "sum"] = "mean"

    @property
    def early(self) -> bool:
        """Whether a stop before the minimum is what was asked for."""
        return False

    def minimize(self, objective: Any, start: Array) -> Solution:
        """The weights at which J is least, or at which the run was stopped."""
        raise NotImplementedError(f"{type(self).__name__} must say how it minimises.")

    def on_scale(self, objective: Any) -> Any:
        """J on the scale that was asked for.

        Returns
        -------
        PointwiseObjective
            J, or Σw J.
        """
        if self.scale != "mean" and not isinstance(objective, PointwiseObjective):
            raise MismatchError(f"{type(self).__name__}(scale={self.scale!r}) needs an objective that has rows to sum.")
        return objective if self.scale == "mean" else objective.on_scale(self.scale)

    def recorder(self, objective: Any) -> Recorder:
        """What writes the history of a run and asks the callback.

        Returns
        -------
        Recorder
            Of this run.
        """
        if self.count_errors and not isinstance(objective, PointwiseObjective):
            raise MismatchError(f"{type(self).__name__}(count_errors=True) needs an objective that has rows to count.")
        return Recorder(self, objective)


@dataclass
class Recorder:
    """Writes the history and asks the callback."""

    options: Iterative
    objective: Any
    history: History = field(default_factory=History)
    passes: float = 0.0
    errors: int | None = None
    lacks_minimum: bool = False
    far: int = 0

    def __call__(self, k: int, A: Array, value: float, gradient: Array | None, step: float) -> bool:
        """Record step k, and report it to who watches; whether somebody wants to stop."""
        norm = float(np.linalg.norm(gradient)) if gradient is not None else float("nan")
        row: dict[str, Any] = {"k": k, "objective": value, "gradient_norm": norm, "step": step}
        if self.options.count_errors:
            row["errors"] = self._count(A)
        if self.options.trace:
            row["weights"] = A
        self.history.record(**row)
        stop = bool(k) and stepped(A)
        if self.options.callback is None:
            return stop
        return stop | bool(self.options.callback(Step(k, value, norm, step, self.errors, A.copy())))

    def _count(self, A: Array) -> int | None:
        """The rows misclassified at A; None: the history counts them when asked, from the weights it keeps."""
        if self.options.trace and self.options.callback is None and type(self.objective.blocks) is ArrayBlocks:
            self.history.objective = self.objective
            return None
        self.passes += 1
        self.errors = self.objective.errors(A)
        return self.errors

    def proves_no_minimum(self, k: int, A: Array) -> bool:
        """Whether A proves that J falls for ever along it: it separates the rows, and no penalty holds it back."""
        if not isinstance(self.objective, PointwiseObjective) or not self.objective.may_lack_minimum:
            return False
        self.passes += 1
        wrong, far = self.objective.sides(A)
        self.lacks_minimum, self.far = bool((wrong == 0).any()), int(far.sum())
        return self.lacks_minimum

    def promises(self, A: Array, slope: Array, passes: float) -> Promise:
        """What a Newton step from A promises."""
        self.passes += 1
        return promise(self.objective, A, slope, passes)

    def negligible(self, J: float) -> float:
        """The fall of J that may be left where a run is called converged, also where J tends to 0."""
        first = float(self.history.columns["objective"][0])
        return NEGLIGIBLE * abs(J) + VANISHING * abs(first)

    def solution(
        self, k: int, A: Array, value: float, gradient: Array | None, status: str, converged: bool, passes: float
    ) -> Solution:
        """What is handed back.  No run is called converged before its end is known not to be a slope for ever."""
        if converged and not self.options.early:
            self.proves_no_minimum(k, A)
        if self.lacks_minimum:
            status, converged = NO_MINIMUM.format(k=k), False
        norm = float(np.linalg.norm(gradient)) if gradient is not None else float("nan")
        notes = (FAR.format(far=self.far),) if self.far and converged else ()
        return Solution(A, status, converged, passes + self.passes, k, float(value), norm, self.history, notes)


def starting_weights(objective: Any, start: Array) -> Array:
    """A copy of the start in float64, (1+d, q)."""
    A = np.array(start, dtype=np.float64)
    if isinstance(objective, PointwiseObjective):
        wanted = (objective.n_parameters, objective.n_outputs)
        if A.shape != wanted:
            raise MismatchError(f"The start has shape {A.shape}; this objective has weights of shape {wanted}.")
    return A


NO_MINIMUM = (
    "No minimum exists: the weights of step {k} put every row strictly on its side, and the criterion falls towards "
    "0 as they grow longer without end. They are handed back as they are; add a penalty (Ridge, Jeffreys) to have a "
    "finite answer."
)
FAR = (
    "{far} rows have a loss below 2e-9: the weights may be on their way to infinity because some rows can be separated "
    "from the rest (quasi-separable data). discriminant.separability(X, y) decides."
)
STOPPED = "Stopped by the callback at step {k}."
NOT_A_NUMBER = "J is not a number at the start: the data or the starting weights hold NaN or infinity."
