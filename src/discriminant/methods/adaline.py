"""The Widrow–Hoff rule, least squares learned sample by sample (LMS) or in batches.

    single-sample    a ← a + η(k) (t − a·y) y             t = ±b
    batch            a ← a − η(k) (1/n) Yᵗ(Y a − t)

With η(k) = η₁/k it tends to the least-squares solution Y†t, which need not separate samples that can be separated.
Widrow and Hoff 1960; Duda, Hart and Stork 5.8; PRML 4.1.7.
"""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from discriminant.codings import make_coding
from discriminant.criteria import Squared
from discriminant.data import ArrayBlocks
from discriminant.errors import MismatchError, ParameterError
from discriminant.methods.criterion import Parts, Task
from discriminant.methods.fit import Fit, Note, Sample
from discriminant.methods.least_squares import row_margins
from discriminant.methods.parameters import CodedParameters, DescentParameters, EpochParameters, method, parameter_list
from discriminant.methods.parts import ONE_OUTPUT
from discriminant.methods.sequential import Progress, SequentialMethod, Split
from discriminant.model import LinearDiscriminant
from discriminant.objective import PointwiseObjective
from discriminant.optimize import ClosedForm, Constant, Power, check_conditions
from discriminant.optimize.certificate import Most
from discriminant.optimize.choose import Choice
from discriminant.optimize.sequence import repeated_rows
from discriminant.optimize.single_sample import EXACT, NEAR
from discriminant.optimize.solve import largest_eigenvalue
from discriminant.protocols import Array, Block, Certificate, Solution
from discriminant.thresholds import MINIMUM_WORK

DIVERGED = 10.0  # times J of weights zero: no run that settles ends there


@parameter_list
class AdalineParameters(EpochParameters, CodedParameters, DescentParameters):
    """Of ``Adaline``."""

    eta0: Any = "auto"
    _: KW_ONLY
    margin: Any = 1.0  # b, or b_n of each row
    tol: float = 1e-3
    threshold: float = 0.0


@method
class LeastMeanSquares(AdalineParameters, SequentialMethod):
    """Every sample corrects the weights by its error."""

    estimator: ClassVar[str] = "Adaline"

    def fit(
        self,
        sample: Sample,
        start: Array | None = None,
        given: Array | None = None,
        split: Split | None = None,
        margin: Any = None,
    ) -> Fit:
        """Learn from all rows; ``margin``: b_n > 0 of each row, in place of one b for all."""
        if margin is None:
            return super().fit(sample, start, given, split)
        if self.early_stopping:
            raise ParameterError(
                "early_stopping asks held-out rows for their class; give it, or a margin for each row."
            )
        if not sample.blocks.in_memory:
            raise MismatchError("A margin for each row goes with rows in memory.")
        own = dataclasses.replace(self, margin=row_margins(margin, sample.blocks.n_rows))
        return dataclasses.replace(SequentialMethod.fit(own, sample, start, given), method=self)

    @property
    def _one_margin(self) -> bool:
        return np.ndim(self.margin) == 0

    def task(self, sample: Sample) -> Task:
        task = super().task(sample)
        if self._one_margin:
            return task
        # ±b_n in place of ±1: targets of the rows' own, which no coding of classes has.
        blocks, coding = task.objective.blocks, task.objective.coding
        assert coding is not None
        if not coding.care.all():
            raise MismatchError(
                f"A margin for each row goes with outputs of all rows, not with the coding {coding.name!r}."
            )
        target = coding.targets[np.asarray(blocks.target)] * self.margin[:, None]
        objective = dataclasses.replace(task.objective, blocks=dataclasses.replace(blocks, target=target), coding=None)
        optimizer, choice, _ = self.procedure(objective, None)
        return dataclasses.replace(task, objective=objective, optimizer=optimizer, choice=choice)

    def weights(self, task: Task, A: Array) -> tuple[LinearDiscriminant, dict[str, Any]]:
        if task.objective.coding is None:  # targets of the rows' own: decide as without them
            coding = self.choose(task.rows, task.classes)[1]
            task = dataclasses.replace(
                task, objective=dataclasses.replace(task.objective, blocks=task.rows, coding=coding)
            )
        return super().weights(task, A)

    def choose(self, blocks: ArrayBlocks, classes: Array) -> Parts:
        K, coding = len(classes), self.coding
        b = float(self.margin) if self._one_margin else 1.0
        if isinstance(coding, str):
            coding = coding.lower().replace("_", "-")
            if coding in ("machine", "softmax", "reference"):
                raise MismatchError(
                    f"Adaline's outputs learn apart, and the coding {coding!r} couples them; use 'one-vs-rest' or "
                    "'pairwise', or LinearMachine(criterion='squared')."
                )
            coding = "one-vs-rest" if coding == "auto" else coding
            coding = "two-class" if K == 2 and coding in ONE_OUTPUT else coding
        made = make_coding(
            coding, K, counts=blocks.counts(K), labels=(-b, b), threshold=Squared.threshold, decoder=self.decoder
        )
        return Squared(), made, None, None

    def procedure(self, objective: PointwiseObjective, progress: Progress | None) -> tuple[Any, Choice, Any]:
        steps, chosen = self.eta0, None
        if isinstance(self.eta0, str):
            known = None if progress is None else progress.schedule
            steps = chosen = usual_steps(objective, self.mode, self.max_iter) if known is None else known
        if self.mode == "batch":
            return (
                self.batches(steps, self.threshold or 1e-8),
                Choice("batch", f"all samples at once, with {steps!r}"),
                chosen,
            )
        single = self.samples(
            steps, progress, threshold=self.threshold, tolerance=self.tol, evaluate=self.evaluates_end(objective)
        )
        return single, Choice("single-sample", f"each sample corrects the weights at once, with {steps!r}"), chosen

    def certify_solution(self, task: Task, solution: Solution) -> Certificate:
        certificate = super().certify_solution(task, solution)
        objective = task.objective
        if objective.blocks.n_rows * objective.n_parameters**2 * objective.n_outputs > MINIMUM_WORK:
            return certificate
        least = ClosedForm().minimize(objective, np.zeros_like(solution.weights)).objective
        gap = max(certificate.objective - least, 0.0)
        status = certificate.status.partition("; a Newton step")[0].rstrip(".")  # the minimum itself says more
        status = f"{status}. J = {certificate.objective:.6g}; the least-squares minimum is {least:.6g}."
        # A minimum of zero has no digits: J of weights zero, ½ mean b², says what is little.
        origin = float(objective.value_and_gradient(np.zeros_like(solution.weights))[0])
        near = gap <= NEAR * max(least, EXACT * origin)
        if certificate.objective > DIVERGED * origin:
            status += (
                " Diverged: the steps are too long for these rows; take a smaller eta0, or standardise the columns."
            )
        elif not near:
            status += " That is still far: columns of unlike size or mean make LMS slow; standardise them."
        elif status.startswith("Not"):  # cut short before it settled, but there
            status = f"Ended near the minimum: {status.partition(': ')[2]}"
        return dataclasses.replace(certificate, bound=float(least), gap=float(gap), status=status, converged=near)

    def worth_a_note(self, solution: Solution, certificate: Certificate) -> bool:
        return not certificate.converged

    def check(self) -> list[Note]:
        self.check_mode()
        if not callable(self.eta0) or self.mode != "single-sample" or check_conditions(self.eta0).stochastic:
            return []
        why = check_conditions(self.eta0).sentence()
        return [Note(f"The steps eta0(k) break the conditions under which LMS settles: {why}")]


def usual_steps(objective: PointwiseObjective, mode: str, epochs: int) -> Power:
    """η(k) from the data: short enough to be stable at once, and fading as slowly as the flattest direction allows.

    Single samples: η₁/(k + k₀) with η₁ = 1/λ_min of the mean Hessian, and k₀ such that η(0)·max w‖y‖² = 1.  Where
    weights are counts, each sample has weight 1 and there are Σw; else a mean step is w̄ times as long.
    """
    sum_of = float(objective.total) if objective.summed else 1.0  # a step of all rows is shorter on the scale of sums
    objective = dataclasses.replace(objective, summed=False)
    counts = repeated_rows(objective.blocks)
    rows = objective.blocks.n_rows if counts is None else counts
    share = objective.total / rows  # w̄
    norms = objective.blocks.reduce(functools.partial(_norms, objective.intercept, counts is not None))
    top, mean = norms[0].most, norms[1] / rows
    if not (np.isfinite(top) and top > 0) or np.isnan(mean):  # the largest of several parts may hide a NaN
        return Constant(1.0)  # the sums will show what is wrong with the rows
    small = objective.n_parameters <= 500
    H = objective.curvature(np.zeros((objective.n_parameters, objective.n_outputs)))[0] if small else None
    if mode == "batch":
        return Constant(1.0 / (largest_eigenvalue(H) if H is not None else mean / share) / sum_of)
    flattest = mean / objective.n_parameters
    if H is not None:
        sizes = np.linalg.eigvalsh(H)
        flattest = share * float(sizes[sizes > 1e-10 * sizes[-1]].min(initial=sizes[-1]))
    rate = min(1.0 / flattest, rows * epochs / top)
    return Power(rate=rate, power=1.0, delay=rate * top)


def _norms(intercept: bool, counts: bool, block: Block) -> tuple[Most, float]:
    """max w‖y‖² and Σ w‖y‖² of a block; the first without w where weights are counts."""
    with np.errstate(over="ignore", invalid="ignore"):
        size = each = intercept + block.design.squared_norms()
        if block.weight is not None:
            size = each * block.weight
            each = each[block.weight > 0] if counts else size
    return Most(float(each.max(initial=0.0))), float(size.sum())
