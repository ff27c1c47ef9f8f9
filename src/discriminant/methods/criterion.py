"""What the methods that minimise a criterion share: targets, coordinates, learning, and what can be said of the end.

    J(A) = Σ w ℓ(t, z) / Σ w + λ Ω(A),     z = [1, φ(x)] A

A named method is a choice of ℓ, coding, penalty and optimizer; it says which in ``choose`` and is otherwise this.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from discriminant.codings import ClassCoding
from discriminant.criteria import Pointwise
from discriminant.data import ArrayBlocks
from discriminant.data.scaling import Scaling
from discriminant.errors import DataError, counted
from discriminant.methods.fit import Fit, Note, Sample, linear_state, solved_certificate
from discriminant.methods.least_squares import needed_coding
from discriminant.methods.parts import class_weights, link_of, prepare_optimizer, starting_weights
from discriminant.methods.units import in_units_of_X, own_units, scale_notes, weight_notes
from discriminant.model import LinearDiscriminant
from discriminant.objective import PointwiseObjective
from discriminant.optimize import ClosedForm, Iterative, LinearProgram, MixedInteger, SingleSample
from discriminant.optimize.choose import Choice
from discriminant.optimize.history import History
from discriminant.optimize.progress import reading
from discriminant.penalties import WeightPenalty
from discriminant.protocols import Array, Certificate, Solution

Parts = tuple[Pointwise, ClassCoding | None, WeightPenalty | None, Any]  # and an optimizer, or its name


@dataclass(frozen=True)
class Task:
    """What is to be minimised, by what, and why so."""

    sample: Sample  # as it was given
    rows: ArrayBlocks  # weighed by class, in the coordinates of the arithmetic
    objective: PointwiseObjective  # over ``rows``, or over what the method makes of them
    optimizer: Any
    choice: Choice
    units: Scaling | None = None  # c and s where ``rows`` holds (x − c) / s

    @property
    def classes(self) -> Array:
        return self.sample.classes


class CriterionMethod(ABC):
    """A method whose fit is argmin J.  A subclass says in ``choose`` of which J and by which optimizer."""

    estimator: ClassVar[str]
    optional: ClassVar[tuple[str, ...]] = ("coding_",)

    # Parameters that not every method has.
    class_weight: Any = None
    fit_intercept: bool = True
    penalty: Any = None
    alpha: float = 0.0
    optimizer: Any = "auto"
    start: Any = None
    random_state: Any = 0
    warm_start: bool = False
    trace: bool = False
    callback: Any = None
    scale: str = "mean"

    # What a subclass says

    @abstractmethod
    def choose(self, blocks: ArrayBlocks, classes: Array) -> Parts:
        """Criterion, coding, penalty, and an optimizer or its name."""

    def check(self) -> list[Note]:
        """Refuse parameters that do not go together, and say what is doubtful about them."""
        return []

    def starting_weights(self, objective: PointwiseObjective) -> Array:
        return starting_weights(self.start, objective, self.random_state)

    @property
    def freedom(self) -> str:
        """Which change of coordinates leaves the answer the same: "units", "origin" (a penalty), or "none".

        None where the user steers the course of the optimizer: its steps and starts are in the units of X.
        """
        steered = (
            self.trace or self.callback or self.warm_start or not (self.start is None or isinstance(self.start, str))
        )
        if steered or self.optimizer != "auto":
            return "none"
        return "origin" if self.penalty or self.alpha else "units"

    def arrange(self, blocks: ArrayBlocks) -> ArrayBlocks:
        """The rows as the objective sees them."""
        return blocks

    # Learning

    def fit(self, sample: Sample, start: Array | None = None) -> Fit:
        """Minimise J; ``start``: weights to begin with, where they have the shape of these."""
        notes = self.check()
        return self.run(self.task(sample), start, notes)

    def run(self, task: Task, start: Array | None, notes: list[Note]) -> Fit:
        """Minimise J from the weights given, or from the method's own."""
        fits = start is not None and start.shape == (task.objective.n_parameters, task.objective.n_outputs)
        first: Array = start if fits else self.starting_weights(task.objective)  # type: ignore[assignment]
        # What overflows shows in J, and is reported with its column.
        with np.errstate(over="ignore", invalid="ignore"), reading(lambda A: self.weights(task, A)[1]):
            solution = self.solve(task, first)
        return self.found(task, solution, notes)

    def plan(self, sample: Sample) -> Choice:
        """Which optimizer ``fit`` would use, and why."""
        return self.task(sample).choice

    def task(self, sample: Sample) -> Task:
        rows, units = self._rows(sample)
        blocks = self.arrange(rows)
        criterion, coding, penalty, optimizer = self.choose(blocks, sample.classes)
        objective = PointwiseObjective(blocks, criterion, coding, penalty, intercept=bool(self.fit_intercept))
        objective = objective.on_scale(self.scale)
        return Task(sample, rows, objective, *self.optimizer_for(objective, optimizer), units)

    def optimizer_for(self, objective: PointwiseObjective, chosen: Any) -> tuple[Any, Choice]:
        """The optimizer, and why it is used; ``chosen``: what ``choose`` has named."""
        options = {"trace": bool(self.trace), "count_errors": bool(self.trace), "callback": self.callback}
        return prepare_optimizer(chosen, objective, **options)

    def _rows(self, sample: Sample) -> tuple[ArrayBlocks, Scaling | None]:
        """The rows weighed by class, and centre and units where they are moved."""
        factors = class_weights(self.class_weight, sample.classes, None if self.class_weight is None else sample.counts)
        blocks = sample.blocks if factors is None else sample.blocks.reweighted(factors)
        if type(blocks) is not ArrayBlocks or not self.fit_intercept:
            return blocks, None
        rows, units = own_units(blocks.rows, self.freedom)
        return replace(blocks, rows=rows), units

    def solve(self, task: Task, start: Array) -> Solution:
        """argmin J, with what is found out after the run."""
        if isinstance(task.optimizer, LinearProgram | MixedInteger):  # they have no sums in which a NaN would show
            task.sample.require_finite(self.estimator)
        solution: Solution = task.optimizer.minimize(task.objective, start)
        return solution

    # What was found

    def found(self, task: Task, solution: Solution, notes: list[Note]) -> Fit:
        """The fit that a solution is."""
        if self.went_wrong(solution):
            if isinstance(task.optimizer, SingleSample):
                task.sample.require_finite(self.estimator)
                raise DataError(too_long(task.objective))
            task.sample.refuse_overflow(self.estimator)
        status = false_minimum(task, solution) if solution.converged else ""
        if status:
            solution = replace(solution, status=status, converged=False)
        certificate = self.certify_solution(task, solution)
        discriminant, state = self.weights(task, solution.weights)
        state |= {
            "n_iter_": max(int(solution.iterations), 1), "certificate_": certificate,
            "history_": solution.history if solution.history is not None else History(),
        } | self.details(task, solution, certificate)  # fmt: skip
        if self.worth_a_note(solution, state["certificate_"]):
            notes = [*notes, Note(state["certificate_"].status)]
        if task.units is None and not isinstance(task.optimizer, ClosedForm | LinearProgram | MixedInteger):
            blocks = task.objective.blocks
            notes = [*notes, *(scale_notes(blocks.rows, task.sample.schema.names) if self.fit_intercept else [])]
            if isinstance(task.optimizer, SingleSample):
                notes += weight_notes(blocks)
        return Fit(self, self.discriminant(state) or discriminant, state, tuple(notes))

    def details(self, task: Task, solution: Solution, certificate: Certificate) -> dict[str, Any]:
        """Attributes that only this method has, and a certificate in the place of ``certificate``."""
        return {}

    def went_wrong(self, solution: Solution) -> bool:
        return not (np.isfinite(solution.weights).all() and np.isfinite(solution.objective))

    def worth_a_note(self, solution: Solution, certificate: Certificate) -> bool:
        return not solution.converged

    def weights(self, task: Task, A: Array) -> tuple[LinearDiscriminant, dict[str, Any]]:
        """The discriminant with these weights, in the units of X, and the attributes that hold it."""
        schema, objective = task.sample.schema, task.objective
        coding, center = objective.coding, None
        if not self.fit_intercept:
            A = np.vstack([np.zeros((1, A.shape[1])), A[1:]])
        if task.units is not None:
            A, center = in_units_of_X(A, task.units, schema.names)
        discriminant = LinearDiscriminant(
            A, schema.classes, coding=None if coding is None else needed_coding(coding), feature_names=schema.names,
            center=center, link=None if coding is None else link_of(objective.criterion, coding), basis=schema.basis,
        )  # fmt: skip
        parts = {"criterion_": objective.criterion} | ({} if coding is None else {"coding_": coding})
        return discriminant, linear_state(discriminant, schema) | parts

    def certify_solution(self, task: Task, solution: Solution) -> Certificate:
        """What is proved of the end of the run."""
        exact = solution.converged and isinstance(task.optimizer, LinearProgram | ClosedForm)
        return solved_certificate(solution, str(task.choice), exact=exact)

    def discriminant(self, state: Mapping[str, Any]) -> LinearDiscriminant | None:
        """What decides; None where labels do not exclude each other."""
        return state.get("discriminant_") if "coding_" in state else None


def false_minimum(task: Task, solution: Solution) -> str:
    """Why the end of a run, though no step leads on, is not what was sought; empty where it is."""
    objective = task.objective
    if objective.saturated(solution.weights):
        return (
            f"Not converged: J = {solution.objective:.6g} is flat around the weights, since the outputs are "
            "saturated on the wrong side. Start from smaller weights, or standardise the columns."
        )
    if not objective.least_at_zero or not isinstance(task.optimizer, Iterative) or task.optimizer.early:
        return ""  # corrections by single samples do not shrink the weights
    wrong = objective.errors(solution.weights)
    if not wrong and objective.penalty is None:
        return ""
    name = type(objective.criterion.single).__name__
    return (
        f"Not converged: with margin 0 criterion {name} is least at weights of zero, where every score ties, and the "
        f"run went there ({counted(wrong, 'row')} misclassified). Use criteria.{name}(margin=1.0)."
    )


def too_long(objective: PointwiseObjective) -> str:
    """Why single-sample steps ended in infinite weights although X is finite, and how short they should be."""
    longest = objective.intercept + max(float(block.design.squared_norms().max()) for block in objective.blocks)
    return (
        "The weights overflow although X is finite: the steps are too long for these rows. Take a shorter step (eta0, "
        "or SingleSample(step=...)), or rescale the columns: on a quadratic criterion single-sample steps are stable "
        f"below 2/max‖y‖² = {2 / max(longest, 1e-300):.3g}."
    )
