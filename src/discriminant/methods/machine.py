"""The linear machine: K discriminants learned together by Kesler's construction, which is never built.

A sample y of class i asks that (a_i − a_j)·y > b for every rival j: K−1 samples of two classes in K(1+d) dimensions.
The gradient of Σ_j ℓ((a_i − a_j)·y) does with the K scores of the sample what a two-class procedure would do with
those (Duda, Hart and Stork 5.12).  Its decision regions are convex.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar

from discriminant.codings import make_coding
from discriminant.criteria import Kesler, make_criterion
from discriminant.data import ArrayBlocks
from discriminant.methods.criterion import CriterionMethod, Parts, Task
from discriminant.methods.parameters import DescentParameters, method, parameter_list
from discriminant.methods.parts import with_margin
from discriminant.methods.verdicts import with_verdicts
from discriminant.penalties import make_penalty
from discriminant.protocols import Array, Certificate, Oracle, Solution


@parameter_list
class LinearMachineParameters(DescentParameters):
    """Of ``LinearMachine``."""

    criterion: Any = "perceptron"
    _: KW_ONLY
    margin: float | None = None
    over: str = "all"
    optimizer: Any = "auto"
    basis: Any = None
    penalty: Any = None
    class_weight: Any = None
    fit_intercept: bool = True


@method
class Machine(LinearMachineParameters, CriterionMethod):
    """argmax_k a_k·y."""

    estimator: ClassVar[str] = "LinearMachine"
    freedom: ClassVar[str] = "none"  # type: ignore[misc]  # steps are in the units of X

    def choose(self, blocks: ArrayBlocks, classes: Array) -> Parts:
        base = with_margin(make_criterion(self.criterion), self.margin)
        criterion = base if isinstance(base, Kesler) else Kesler(base, self.over)  # type: ignore[arg-type]
        return criterion, make_coding("machine", len(classes)), make_penalty(self.penalty), self.optimizer

    def certify_solution(self, task: Task, solution: Solution) -> Certificate:
        certificate = super().certify_solution(task, solution)
        if solution.converged or Oracle.MARGIN not in task.objective.oracles:
            return certificate
        text, more, verdict = with_verdicts(task.classes, task.objective, solution.weights, certificate.status)
        return replace(certificate, status=f"{text} {more}", separability=verdict)
