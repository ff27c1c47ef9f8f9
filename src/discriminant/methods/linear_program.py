"""Weights with t_i a·y_i ≥ b for all rows by a linear program (HiGHS).

    minimise  Σ w_i ξ_i / Σ w_i + λ ‖w‖₁    subject to   t_i a·y_i ≥ b − ξ_i,  ξ ≥ 0

Separable rows need no slack: any feasible a separates them.  Rows that are not separable get the least total slack.
Many classes go through Kesler's construction: (a_i − a_j)·y ≥ b − ξ for every rival j.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar

import numpy as np

from discriminant.criteria import Hinge
from discriminant.data import ArrayBlocks, DenseRows
from discriminant.methods.criterion import CriterionMethod, Parts, Task
from discriminant.methods.parameters import CodedParameters, method, parameter_list
from discriminant.methods.parts import fit_together
from discriminant.methods.verdicts import separations
from discriminant.optimize import LinearProgram
from discriminant.penalties import Lasso
from discriminant.protocols import Array, Certificate, Solution
from discriminant.thresholds import PROGRAM_VALUES


@parameter_list
class LinearProgrammingParameters(CodedParameters):
    """Of ``LinearProgrammingClassifier``."""

    margin: float = 1.0
    _: KW_ONLY
    alpha: float = 0.0
    seconds: float = 600.0


@method
class LinearProgramming(LinearProgrammingParameters, CriterionMethod):
    """The least slack."""

    estimator: ClassVar[str] = "LinearProgrammingClassifier"

    def arrange(self, blocks: ArrayBlocks) -> ArrayBlocks:
        return in_canonical_order(blocks)

    def choose(self, blocks: ArrayBlocks, classes: Array) -> Parts:
        K, coding = len(classes), self.coding
        if isinstance(coding, str) and coding == "auto":
            coding = "two-class" if K == 2 else "machine"
        parts = fit_together(Hinge(margin=float(self.margin)), coding, K, blocks.counts(K), self.decoder)
        return *parts, Lasso(self.alpha) if self.alpha else None, LinearProgram(seconds=self.seconds)

    def solve(self, task: Task, start: Array) -> Solution:
        """The program outright where it is small; else first the question whether no slack is needed at all."""
        objective = task.objective
        task.sample.require_finite(self.estimator)
        rivals = objective.n_outputs - 1 if objective.criterion.coupled else 1
        large = objective.blocks.n_rows * objective.n_parameters * rivals > PROGRAM_VALUES
        found = separating_weights(task) if large and objective.penalty is None else None
        if found is None:
            solution = super().solve(task, start)
        else:
            A = scaled_to_margin(task, found, float(self.margin))
            status = f"Separated: every row lies beyond its margin b = {self.margin:g}, with no slack."
            solution = Solution(A, status, True, 2, 1, objective.value(A))
        if objective.criterion.coupled and objective.penalty is None:
            # What all classes share changes no decision; without it the weights are unique up to the program's choice.
            return replace(solution, weights=solution.weights - solution.weights.mean(axis=1, keepdims=True))
        return solution

    def details(self, task: Task, solution: Solution, certificate: Certificate) -> dict[str, Any]:
        return {"separated_": bool(solution.converged and not task.objective.sides(solution.weights)[0].any())}


def in_canonical_order(blocks: ArrayBlocks) -> ArrayBlocks:
    """The different rows, sorted, each with its total weight: of many solutions, the same whatever the rows' order.

    A linear program may have many solutions, and which one a solver finds depends on how the rows come.  So a row of
    weight 2 is made to look as two rows of weight 1 do.  Large problems are left as they are.
    """
    n, d = blocks.rows.shape
    if n * (d + 1) > PROGRAM_VALUES:
        return blocks
    whole = blocks.block(0, n)
    values = whole.design.dense()
    if not np.isfinite(values).all():
        return blocks  # the refusal names the row as the user knows it
    table = np.column_stack([np.asarray(whole.target, dtype=np.float64), values])
    weight = np.ones(n) if whole.weight is None else whole.weight
    found, where = np.unique(table[weight > 0], axis=0, return_inverse=True)
    total = np.bincount(where.ravel(), weight[weight > 0])
    rows = DenseRows(np.ascontiguousarray(found[:, 1:]))
    return ArrayBlocks(rows, found[:, 0].astype(np.intp), total)


def separating_weights(task: Task) -> Array | None:
    """(1+d, q) weights that separate every output's rows, by working sets of rows; None where there are none."""
    answers = separations(task.classes, task.objective)
    if answers is None or not all(answers):
        return None
    planes = [np.asarray(answer.hyperplane) for answer in answers]
    if not task.objective.criterion.coupled:
        return np.column_stack(planes)
    A = planes[0]
    return A if A.ndim == 2 else np.column_stack([-A / 2, A / 2])


def scaled_to_margin(task: Task, A: Array, margin: float) -> Array:
    """A, lengthened output by output until the row nearest to the boundary is at b."""
    objective = task.objective
    z, codes = objective.scores(A), np.asarray(objective.blocks.target)
    assert objective.coding is not None
    if objective.criterion.coupled:
        own = z[np.arange(len(z)), codes]
        z[np.arange(len(z)), codes] = -np.inf
        return np.asarray(A * (margin / (own - z.max(axis=1)).min() * (1 + 1e-9)))
    signs = objective.coding.signs[codes]
    least = np.where(signs != 0, signs * z, np.inf).min(axis=0)
    return np.asarray(A * (margin / least * (1 + 1e-9)))
