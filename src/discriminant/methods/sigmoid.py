"""Discrimination by regression: sigmoid outputs fitted to 0 and 1 by least squares.

    minimise  ½ Σ_i Σ_k (r_ik − σ(z_ik))²        (Alpaydin 10.8)

The K outputs know nothing of each other: a row may belong to none of the classes or to several, which is what makes the
method fit for labels that overlap or leave a gap.  The criterion is not convex: descent ends in a local minimum, and
from zero a long first step may end on a plateau where every output is saturated.  So it starts, unless asked otherwise,
where a few Newton steps on the convex logistic criterion end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar

import numpy as np

from discriminant.criteria import Logistic, SigmoidSquared
from discriminant.data import ArrayBlocks
from discriminant.methods.criterion import CriterionMethod, Parts, Task
from discriminant.methods.fit import Sample
from discriminant.methods.parameters import CodedParameters, DescentParameters, method, parameter_list
from discriminant.methods.parts import fit_together, starting_weights
from discriminant.model import LinearDiscriminant
from discriminant.objective import PointwiseObjective
from discriminant.optimize import LBFGS, Newton
from discriminant.optimize.progress import watched
from discriminant.penalties import Ridge
from discriminant.protocols import Array, Certificate, Solution

FITTED = 1e-6  # with "auto" the run ends at this J: outputs are 0.001 from their targets, and only longer weights help


@parameter_list
class SigmoidParameters(CodedParameters, DescentParameters):
    """Of ``SigmoidRegressionClassifier``."""

    alpha: float = 0.0
    _: KW_ONLY
    optimizer: Any = "auto"
    start: Any = "logistic"


@method
class SigmoidRegression(SigmoidParameters, CriterionMethod):
    """Independent sigmoid outputs.

    Class codes are one label a row; a matrix of 0 and 1 in their place says which labels hold, none or many.
    """

    estimator: ClassVar[str] = "SigmoidRegressionClassifier"

    def choose(self, blocks: ArrayBlocks, classes: Array) -> Parts:
        penalty, K = Ridge(self.alpha) if self.alpha else None, len(classes)
        if _many_labels(blocks):
            return SigmoidSquared(), None, penalty, self.optimizer
        parts = fit_together("sigmoid-squared", self.coding, K, blocks.counts(K), self.decoder)
        return *parts, penalty, self.optimizer

    def starting_weights(self, objective: PointwiseObjective) -> Array:
        if not isinstance(self.start, str) or self.start != "logistic":
            return super().starting_weights(objective)
        smooth = replace(objective, criterion=Logistic(), penalty=Ridge(1e-8))
        method = Newton(iterations=6) if objective.n_parameters <= 1_000 else LBFGS(iterations=30)
        with watched(None):
            return np.asarray(method.minimize(smooth, starting_weights(None, objective, 0)).weights)

    def task(self, sample: Sample) -> Task:
        task = super().task(sample)
        if task.objective.penalty is not None or self.optimizer != "auto":
            return task
        asked = task.optimizer.callback

        def fitted(step: Any) -> bool:
            return step.objective < FITTED or (asked is not None and bool(asked(step)))

        return replace(task, optimizer=replace(task.optimizer, callback=fitted))

    def solve(self, task: Task, start: Array) -> Solution:
        solution = super().solve(task, start)
        if task.objective.penalty is None and solution.objective < FITTED:
            status = (
                f"J = {solution.objective:.1g} after {solution.iterations} steps: the outputs are next to their "
                "targets, and J may fall towards 0 without end as the weights grow. Add alpha > 0 to have a minimum."
            )
            return replace(solution, status=status, converged=True)
        return solution

    def certify_solution(self, task: Task, solution: Solution) -> Certificate:
        note = (
            "The criterion is not convex: steps end in a local minimum at best, and another start may find a lower one."
        )
        certificate = super().certify_solution(task, solution)
        return replace(certificate, notes=(*certificate.notes, note))

    def details(self, task: Task, solution: Solution, certificate: Certificate) -> dict[str, Any]:
        return {"_multilabel": _many_labels(task.objective.blocks)}

    def discriminant(self, state: Mapping[str, Any]) -> LinearDiscriminant | None:
        """Its outputs are σ(z), which ``discriminant_`` keeps to itself since they are no log odds."""
        found = super().discriminant(state)
        return None if found is None else replace(found, link="sigmoid")


def _many_labels(blocks: ArrayBlocks) -> bool:
    # What stands for codes that lie elsewhere is one label a row.
    return isinstance(blocks.target, np.ndarray) and blocks.target.ndim == 2
