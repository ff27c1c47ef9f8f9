"""The discriminant with the fewest errors on the training rows, and a proved lower bound.

    minimise  J(a) = Σ w_i 1(t_i a·y_i ≤ 0) / Σ w_i

The count of errors is piecewise constant, so that no gradient helps.  Annealing finds few errors in rows of any number;
witnesses that no discriminant can satisfy prove how many are unavoidable (``inference.least_errors``), and for
problems with few errors find the least number itself.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar

import numpy as np

from discriminant.codings import make_coding
from discriminant.criteria import Kesler, Logistic, Softmax, ZeroOne
from discriminant.data import ArrayBlocks
from discriminant.data.sources import require_memory
from discriminant.inference.least_errors import LeastErrors, least_errors
from discriminant.methods.criterion import CriterionMethod, Parts, Task
from discriminant.methods.linear_program import in_canonical_order
from discriminant.methods.parameters import method, parameter_list
from discriminant.methods.parts import choose_optimizer
from discriminant.objective import PointwiseObjective
from discriminant.optimize import Annealing, BoundedSolution, DifferentialEvolution, MixedInteger, make_optimizer
from discriminant.optimize.progress import watched
from discriminant.penalties import Ridge
from discriminant.protocols import Array, Certificate, Solution


@parameter_list
class MinimumErrorParameters:
    """Of ``MinimumErrorClassifier``."""

    optimizer: Any = "auto"
    _: KW_ONLY
    max_iter: int = 300
    rounds: int = 50
    seconds: float = 30.0
    random_state: Any = 0
    basis: Any = None
    class_weight: Any = None
    fit_intercept: bool = True


@method
class MinimumError(MinimumErrorParameters, CriterionMethod):
    """The fewest training errors."""

    estimator: ClassVar[str] = "MinimumErrorClassifier"

    @property
    def freedom(self) -> str:
        return "units" if isinstance(self.optimizer, str) else "none"

    def starting_weights(self, objective: PointwiseObjective) -> Array:
        return np.zeros((objective.n_parameters, objective.n_outputs))

    def arrange(self, blocks: ArrayBlocks) -> ArrayBlocks:
        """The different rows in canonical order, so that the search is the same for a row of weight 2 and two rows."""
        arranged = in_canonical_order(blocks)
        if arranged.scattered or arranged.on_device:  # its search goes back to single rows
            require_memory(arranged, self.estimator)
        return arranged

    def choose(self, blocks: ArrayBlocks, classes: Array) -> Parts:
        K, optimizer = len(classes), self.optimizer
        if isinstance(optimizer, str):
            if optimizer == "mixed-integer":
                optimizer = MixedInteger(seconds=self.seconds)
            elif optimizer == "differential-evolution":
                optimizer = DifferentialEvolution(iterations=self.max_iter, random_state=self.random_state)
            else:
                optimizer = Annealing(iterations=self.max_iter, random_state=self.random_state)
        if K == 2:
            return ZeroOne(), make_coding("two-class", 2), None, optimizer
        return Kesler(ZeroOne(), "worst"), make_coding("machine", K), None, optimizer

    def solve(self, task: Task, start: Array) -> Solution:
        objective = task.objective
        task.sample.require_finite(self.estimator)
        first = self._least(task, rounds=1)
        if first.proved and first.weights is not None:  # separable: nothing to search for
            return _ended(objective, first, None)
        searched = None if self.optimizer == "witnesses" else self._search(task)
        best = np.inf if searched is None else searched.objective * float(objective.totals[0])
        found = self._least(task, rounds=self.rounds, enough=best)
        if found.weights is None and searched is None:
            searched = self._search(task)
        return _ended(objective, found, searched)

    def details(self, task: Task, solution: Solution, certificate: Certificate) -> dict[str, Any]:
        given = replace(task.objective, blocks=task.rows)
        proved = bool(certificate.gap <= 1e-9 * max(certificate.objective, 1e-300))
        return {
            "lower_bound_": max(float(solution.bound), 0.0) * float(task.objective.totals[0]),
            "n_errors_": int(given.sides(solution.weights)[0].sum()),
            "certificate_": replace(certificate, converged=proved),
        }

    def _least(self, task: Task, **options: Any) -> LeastErrors:
        blocks = task.objective.blocks
        return least_errors(
            blocks.rows, np.asarray(blocks.target), blocks.weight, fit_intercept=task.objective.intercept,
            seconds=float(self.seconds), **options,
        )  # fmt: skip

    def _search(self, task: Task) -> Solution:
        """Few errors: from the logistic optimum onwards."""
        objective, optimizer = task.objective, task.optimizer
        criterion = Softmax() if objective.criterion.coupled else Logistic()
        coding = objective.coding
        if not objective.criterion.coupled:
            coding = make_coding("two-class", 2, labels=criterion.labels)
        smooth = PointwiseObjective(objective.blocks, criterion, coding, Ridge(1e-6), intercept=objective.intercept)
        with watched(None):
            start = make_optimizer(choose_optimizer(smooth).method).minimize(smooth, self.starting_weights(objective))
        if isinstance(optimizer, Annealing | DifferentialEvolution) and optimizer.scales is None:
            optimizer = replace(optimizer, scales=_scales(objective))
        solution: Solution = optimizer.minimize(objective, start.weights)
        return solution


def _ended(objective: PointwiseObjective, found: LeastErrors, searched: Solution | None) -> Solution:
    """The weights at which the witnesses ended, or better ones that the search met, with the proved bound."""
    total, ends = float(objective.totals[0]), [] if searched is None else [searched]
    if found.weights is not None:
        A = _shaped(found.weights, objective)
        iterations, history = (1, None) if searched is None else (searched.iterations, searched.history)
        ends.insert(0, Solution(A, "", True, 1, iterations, objective.value(A), history=history))
    end = min(ends, key=lambda one: one.objective)
    J, by_search = end.objective, end is searched
    proved = J * total <= found.bound * (1 + 1e-9)
    if proved:
        status = (
            f"Proved: {J * total:g} of {total:g} is the least weight of rows that any linear discriminant gets wrong."
        )
    elif by_search:
        status = (
            f"{J * total:g} of {total:g} are wrong, the fewest that the search met; every linear discriminant gets at "
            f"least {found.bound:g} wrong ({found.witnesses} witnesses prove it). More rounds may close it."
        )
    else:
        status = f"{J * total:g} of {total:g} are wrong, and {found.bound:g} is proved to be unavoidable."
    return BoundedSolution(
        end.weights, status, proved or by_search, end.passes, end.iterations, J, history=end.history,
        notes=(*end.notes, end.status) if by_search else (), bound=min(found.bound / total, J),
    )  # fmt: skip


def _shaped(weights: Array | None, objective: PointwiseObjective) -> Array:
    A = np.asarray(weights, dtype=np.float64)
    if A.ndim == 2:
        return A
    return np.column_stack([-A / 2, A / 2]) if objective.n_outputs == 2 else A[:, None]


def _scales(objective: PointwiseObjective) -> Array:
    """One over the size of each column, from some thousand rows."""
    n = objective.blocks.n_rows
    rows = np.unique(np.linspace(0, n - 1, min(n, 2_000)).astype(np.intp))
    spread = objective.blocks.rows.pick(rows).dense().std(axis=0)
    return np.concatenate([[1.0], 1.0 / np.where(spread > 0, spread, 1.0)])
