"""Error-correcting procedures, sample by sample or in batches, with the theorem that bounds them.

    fixed increment          a ← a + t y                      where t a·y ≤ 0        eta0 = 1
    variable increment       a ← a + η(k) t y                 where t a·y ≤ b        eta0 = η(k), margin = b
    relaxation               a ← a + η t (b − t a·y)/‖y‖² y   where t a·y ≤ b        criterion = "relaxation", 0 < η < 2
    quadratic                a ← a + 2η t (b − t a·y) y       where t a·y ≤ b        criterion = "quadratic"
    batch                    a ← a + η(k) (1/n) Σ of these over the rows that need correction

Samples that can be separated are, after at most (R/γ)² corrections of fixed increment; the fit says how many it took
and what the bound was.  When it has not separated them it asks whether anything could.
"""

from __future__ import annotations

import dataclasses
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from discriminant.criteria import Perceptron as PerceptronCriterion
from discriminant.criteria import Pointwise, Quadratic, Relaxation, make_criterion
from discriminant.data import ArrayBlocks
from discriminant.errors import MismatchError, ParameterError, counted
from discriminant.inference.mistake_bound import mistake_bounds
from discriminant.methods.criterion import Parts, Task
from discriminant.methods.fit import Note
from discriminant.methods.parameters import CodedParameters, DescentParameters, EpochParameters, method, parameter_list
from discriminant.methods.parts import fit_together, with_margin
from discriminant.methods.sequential import Progress, SequentialMethod, samples_of
from discriminant.methods.verdicts import with_verdicts
from discriminant.objective import PointwiseObjective
from discriminant.optimize import Power, SequentialSolution, check_conditions, make_schedule
from discriminant.optimize.choose import Choice
from discriminant.optimize.progress import stepped
from discriminant.optimize.sequence import repeated_rows
from discriminant.penalties import Ridge, soft_threshold
from discriminant.protocols import Array, Certificate, Oracle, Solution


@dataclass(frozen=True)
class Evaluated(SequentialSolution):
    """A solution that was held against the rows once more."""

    separated: bool = False
    arrived: bool = False  # separated, and by the margin that was asked for
    bounds: Any = None  # of the corrections, where the theorem speaks of this run


@parameter_list
class PerceptronParameters(EpochParameters, CodedParameters, DescentParameters):
    """Of ``Perceptron``."""

    _: KW_ONLY
    penalty: str | None = None
    alpha: float = 0.0001
    l1_ratio: float = 0.15
    tol: float | None = 1e-3
    verbose: int = 0
    eta0: Any = 1.0
    n_jobs: Any = None
    criterion: Any = "perceptron"
    margin: float | None = None
    pocket: bool = False
    threshold: float = 1e-8


@method
class ErrorCorrection(PerceptronParameters, SequentialMethod):
    """Corrections of samples that lie short of a margin."""

    estimator: ClassVar[str] = "Perceptron"

    # What is minimised, and how

    def choose(self, blocks: ArrayBlocks, classes: Array) -> Parts:
        K = len(classes)
        criterion, coding = fit_together(self._corrected(), self.coding, K, blocks.counts(K), self.decoder)
        strength = self.alpha * (1 - self._l1_share()) if self.penalty is not None else 0.0
        return criterion, coding, Ridge(strength) if strength else None, None

    def _corrected(self) -> Pointwise:
        """The two-class criterion with its margin."""
        made = make_criterion(self.criterion)
        if not isinstance(made.single, PerceptronCriterion | Quadratic | Relaxation):
            raise MismatchError(
                f"A perceptron corrects samples that lie short of a margin; criterion {type(made).__name__} has none. "
                "Use 'perceptron', 'quadratic', 'relaxation' or 'hinge', or the estimator Discriminant."
            )
        margin = self.margin
        if margin is None and isinstance(self.criterion, str) and self.criterion == "quadratic":
            margin = 1.0  # with b = 0 the quadratic criterion is least at a = 0
        return with_margin(made, margin)

    def _l1_share(self) -> float:
        return {"l1": 1.0, "l2": 0.0, "elasticnet": float(self.l1_ratio)}[self.penalty] if self.penalty else 0.0

    def procedure(self, objective: PointwiseObjective, progress: Progress | None) -> tuple[Any, Choice, Any]:
        if self.mode == "batch":
            batch = self.batches(self.eta0, self.threshold)
            return batch, Choice("batch", "all samples that need correction are added at once"), None
        single = self.samples(
            self.eta0, progress, improvement=self.tol, patience=self.n_iter_no_change,
            evaluate=objective.penalty is not None and self.evaluates_end(objective),
        )  # fmt: skip
        return single, Choice("single-sample", "each sample corrects the weights at once"), None

    def solve(self, task: Task, start: Array) -> Solution:
        """The run, and then J and whether the samples are separated, from as few passes over the rows as can tell."""
        lasso = self.penalty is not None and self._l1_share() * self.alpha != 0
        solution = self._run_with_lasso(task, start) if lasso else super().solve(task, start)
        if Oracle.MARGIN not in task.objective.oracles:
            return solution
        known = {one.name: getattr(solution, one.name) for one in dataclasses.fields(solution)}
        evaluated = self._evaluated(task, Evaluated(**known), isinstance(solution, SequentialSolution))
        arrived = evaluated.separated and (evaluated.objective == 0 or (evaluated.converged and self.mode == "batch"))
        bounds = self._bounds(task, start, evaluated) if arrived else None
        return dataclasses.replace(evaluated, arrived=arrived, bounds=bounds)

    def _run_with_lasso(self, task: Task, start: Array) -> Solution:
        """Epochs one by one, with a soft threshold after each: Langford's truncated gradient, once an epoch."""
        if self.mode == "batch":
            raise ParameterError(
                f"penalty={self.penalty!r} with an absolute value belongs to mode='single-sample', where it is a "
                "threshold after each epoch; Perceptron has mode='batch'. Take Discriminant(penalty='l1'), say."
            )
        optimizer, objective, A = task.optimizer, task.objective, start
        level = self.eta0 * self.alpha * self._l1_share() * samples_of(objective.blocks)
        each, best, idle, epoch = np.zeros(1, dtype=np.int64), np.inf, 0, 0
        while epoch < self.max_iter:
            epoch += 1
            A, made, _ = optimizer.once(objective, A)
            A = np.vstack([A[:1], soft_threshold(A[1:], level)])
            each = each + np.array(made)
            if stepped(A):
                break
            if self.tol is not None:
                met = objective.evaluate(A).value
                idle, best = (0 if met < best - self.tol else idle + 1), min(best, met)
                if idle >= self.n_iter_no_change:
                    break
        made = counted(int(each.sum()), "correction")
        status = f"Ended after {counted(epoch, 'epoch')} and {made}, with a soft threshold after each epoch."
        ended = epoch < self.max_iter or self.tol is None
        counts = tuple(int(count) for count in each)
        return Evaluated(A, status, ended, epoch, epoch, objective.value(A), each=counts)

    # What can be said afterwards

    def _evaluated(self, task: Task, solution: Evaluated, by_samples: bool) -> Evaluated:
        objective = task.objective
        made, met = (solution.corrections, max(solution.samples, 1)) if by_samples else (0, 1)
        if (
            made and solution.converged and "separated" in solution.status
        ):  # every sample went by without a correction: J = 0, seen on the way
            return dataclasses.replace(solution, objective=0.0, separated=True)
        if made > 0.05 * met and not self.evaluates_end(objective):
            return solution
        J = objective.value(solution.weights)  # not the compiled one, to which a row with NaN is no shortfall
        if np.isnan(J):  # evaluated, and no number: not the same as not evaluated
            return dataclasses.replace(solution, objective=np.inf)
        separated = not objective.sides(solution.weights)[0].any()
        return dataclasses.replace(solution, objective=J, separated=separated)

    def _bounds(self, task: Task, start: Array, solution: Solution) -> Any:
        base = task.objective.criterion.single
        blocks = task.objective.blocks
        plain = blocks.weight is None or repeated_rows(blocks) is not None
        fixed = isinstance(self.eta0, int | float) and not start.any() and plain and not blocks.elsewhere
        if self.mode != "single-sample" or not fixed or not isinstance(base, PerceptronCriterion):
            return None
        return mistake_bounds(task.objective, solution.weights, float(self.eta0), float(base.margin))

    def details(self, task: Task, solution: Solution, certificate: Certificate) -> dict[str, Any]:
        found = super().details(task, solution, certificate)
        evaluated = isinstance(solution, Evaluated)
        return found | {
            "separated_": evaluated and solution.separated,  # type: ignore[attr-defined]
            "mistake_bounds_": solution.bounds if evaluated else None,  # type: ignore[attr-defined]
        }

    def certify_solution(self, task: Task, solution: Solution) -> Certificate:
        certificate = super().certify_solution(task, solution)
        if not isinstance(solution, Evaluated):
            return certificate
        if solution.separated and not solution.arrived:
            return dataclasses.replace(certificate, converged=False, separability="separable")
        if solution.separated:
            text = certificate.status
            if solution.bounds:
                listed = ", ".join(f"{found.bound:.4g}" for found in solution.bounds[:8])
                text += f" The theorem's bound (R/γ)² on corrections is {listed}."
            return dataclasses.replace(certificate, status=text, converged=True, separability="separable")
        if "average, which is handed back" in solution.status:  # the last weights separate them
            return dataclasses.replace(certificate, converged=False, separability="separable")
        A = solution.weights if np.isfinite(solution.objective) else None  # NaN: the end was not evaluated
        text, more, worst = with_verdicts(task.classes, task.objective, A, certificate.status)
        if not text.startswith("Not converged"):
            text = f"{text} The samples are not separated."
        return dataclasses.replace(certificate, status=f"{text} {more}", converged=False, separability=worst)

    def worth_a_note(self, solution: Solution, certificate: Certificate) -> bool:
        inseparable = certificate.separability in (
            "overlapping",
            "quasi-separable",
        )  # no number of passes would get there
        if inseparable and self.kept_weights == "last" and not self.early_stopping:  # the others are for such samples
            return True
        if self.mode == "batch" and not certificate.converged:
            return True
        return not solution.converged and solution.iterations >= self.max_iter

    def check(self) -> list[Note]:
        notes = self._check_steps()
        if self.average and self.pocket:
            raise ParameterError("average and pocket are two answers to one question; choose one of them.")
        self.check_mode()
        if self.penalty is not None and self._l1_share() > 0 and not isinstance(self.eta0, int | float):
            raise ParameterError("An l1 penalty goes with a fixed eta0.")
        return notes

    def _check_steps(self) -> list[Note]:
        """η(k): a number that suits the criterion, or a schedule that keeps the convergence theorem's conditions."""
        eta = self.eta0
        if not callable(eta):
            if self.criterion == "relaxation" and self.mode == "single-sample" and not eta < 2:
                raise ParameterError(f"Relaxation converges for 0 < eta0 < 2; it was {eta!r}.")
            return []
        conditions = check_conditions(make_schedule(eta))
        if conditions.perceptron:
            return []
        known = f"The steps {eta!r}" if isinstance(eta, Power) else "The steps eta0(k)"
        return [Note(f"{known} break the conditions under which the procedure converges: {conditions.sentence()}")]
