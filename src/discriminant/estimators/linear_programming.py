"""``LinearProgrammingClassifier``: weights with t_i a·y_i ≥ b for all rows by a linear program (HiGHS).

    minimise  Σ w_i ξ_i / Σ w_i + λ ‖w‖₁    subject to   t_i a·y_i ≥ b − ξ_i,  ξ ≥ 0

Separable rows need no slack: any feasible a separates them.  Rows that are not separable get the least total slack.
Many classes go through Kesler's construction: (a_i − a_j)·y ≥ b − ξ for every rival j.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from discriminant.codings import ClassCoding
from discriminant.criteria import Hinge, Pointwise
from discriminant.data import ArrayBlocks, DenseRows, OriginRows, require_finite
from discriminant.estimators.discriminative import DiscriminativeClassifier, Reading, Task
from discriminant.estimators.parameters import (
    BASIS,
    BOOLEAN,
    CLASS_WEIGHT,
    DECODER,
    DURATION,
    LABEL,
    NOT_NEGATIVE,
    POSITIVE,
)
from discriminant.estimators.parts import CODING, fit_together
from discriminant.estimators.verdicts import verdicts
from discriminant.optimize import LinearProgram
from discriminant.penalties import Lasso, WeightPenalty
from discriminant.protocols import Array, Solution

WHOLE = 500_000  # numbers in the constraints up to which the program is solved outright


class LinearProgrammingClassifier(DiscriminativeClassifier):
    """A separating hyperplane by linear programming; the least slack where there is none.

    min Σ w ξ subject to t·a·y ≥ b − ξ, ξ ≥ 0: the hinge criterion, solved by HiGHS (Duda, Hart and Stork 5.10).

    Parameters
    ----------
    margin : float, default=1.0
        b > 0: t·a·y ≥ b for rows that are separated.  It sets the scale of the weights and nothing else.
    alpha : float, default=0.0
        λ of a lasso λ‖w‖₁, on standardised or comparable columns; 0: none.
    coding : str or array-like of shape (K, q), default="auto"
        "auto": one output for two classes, "machine" for more.  Also "one-vs-rest", "pairwise" and others.
    seconds : float, default=600.0
        Time limit of each program.
    basis : None, str, callable or transformer, default=None
        φ(x) in place of x: "quadratic", "rbf:50", a basis of ``discriminant.bases``, a transformer of scikit-learn.
    decoder : {"maximum", "sum", "votes", "unanimous"} or None, default=None
        How outputs name a class; None: the coding's own way.
    reject_label : label or None, default=None
        What ``predict`` returns with the decoder "unanimous" where not exactly one class is claimed; None: −1 or
        "reject", as the labels are numbers or not.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights of the rows of each class; "balanced": inverse to the class frequencies.
    fit_intercept : bool, default=True
        Whether there is an intercept; False: hyperplanes through the origin.

    Attributes
    ----------
    separated_ : bool
        Whether every row lies beyond its margin.
    coef_ : ndarray of shape (q, d̂)
        The weights: a row for each output (one for two classes), a column for each feature of φ.
    intercept_ : ndarray of shape (q,)
        The intercept of each output.
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    n_iter_ : int
        Iterations of the optimizer.
    discriminant_ : LinearDiscriminant
        The basis, the weights and the decision rule as one value.
    certificate_ : Certificate
        The minimum, proved by the program's dual, and whether the classes are separable.
    history_ : History
        One record for each iteration: objective, gradient norm, step.
    coding_ : ClassCoding
        The coding as it was used.
    criterion_ : Pointwise
        The criterion as it was used.
    n_features_in_ : int
        d, the columns of X.
    feature_names_in_ : ndarray of str of shape (d,)
        The names of the columns, where X has names that are all strings.

    See Also
    --------
    separability : Whether the classes can be separated, and which rows prevent it.
    LinearSVC : The same slack with a ridge.

    Examples
    --------
    >>> from discriminant import LinearProgrammingClassifier
    >>> X, y = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [3.0, 3.0]], [0, 0, 0, 1]
    >>> model = LinearProgrammingClassifier().fit(X, y)
    >>> model.separated_, bool((model.decision_function(X) * [-1, -1, -1, 1]).min() >= 1)
    (True, True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "margin": [POSITIVE],
        "alpha": [NOT_NEGATIVE],
        "coding": CODING,
        "seconds": [DURATION],
        "basis": BASIS,
        "decoder": DECODER,
        "reject_label": LABEL,
        "class_weight": CLASS_WEIGHT,
        "fit_intercept": BOOLEAN,
    }

    def __init__(
        self,
        margin: float = 1.0,
        *,
        alpha: float = 0.0,
        coding: Any = "auto",
        seconds: float = 600.0,
        basis: Any = None,
        decoder: str | None = None,
        reject_label: Any = None,
        class_weight: Any = None,
        fit_intercept: bool = True,
    ) -> None:
        self.margin = margin
        self.alpha = alpha
        self.coding = coding
        self.seconds = seconds
        self.basis = basis
        self.decoder = decoder
        self.reject_label = reject_label
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept

    def _read(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Reading:
        return in_canonical_order(super()._read(X, y, sample_weight, classes))

    def _choose(self, reading: Reading) -> tuple[Pointwise, ClassCoding | None, WeightPenalty | None, Any]:
        K = len(reading.classes)
        coding = self.coding
        if isinstance(coding, str) and coding == "auto":
            coding = "two-class" if K == 2 else "machine"
        parts = fit_together(Hinge(margin=float(self.margin)), coding, K, reading.counts, self.decoder)
        return *parts, Lasso(self.alpha) if self.alpha else None, LinearProgram(seconds=self.seconds)

    def _solve(self, task: Task) -> Solution:
        """The program outright where it is small; else first the question whether no slack is needed at all."""
        require_finite(task.reading.blocks.rows, estimator=type(self).__name__)
        objective = task.objective
        rivals = objective.n_outputs - 1 if objective.criterion.coupled else 1
        if task.objective.penalty is None and objective.blocks.n_rows * objective.n_parameters * rivals > WHOLE:
            found = separating_weights(task)
            if found is not None:
                A = reach_margin(task, found, float(self.margin))
                status = f"Separated: every row lies beyond its margin b = {self.margin:g}, with no slack."
                return Solution(A, status, True, 2, 1, objective.value(A))
        return super()._solve(task)

    def _keep(self, task: Task, solution: Solution) -> Any:
        if task.objective.criterion.coupled and task.objective.penalty is None:
            # What all classes share changes no decision; without it the weights are unique up to the program's choice.
            solution = replace(solution, weights=solution.weights - solution.weights.mean(axis=1, keepdims=True))
        super()._keep(task, solution)
        self.separated_ = bool(solution.converged and not task.objective.sides(solution.weights)[0].any())
        return self


def in_canonical_order(reading: Reading) -> Reading:
    """The different rows, sorted, each with its total weight: of many solutions, the same whatever the rows' order.

    A linear program may have many solutions, and which one a solver finds depends on how the rows come.  So a row of
    weight 2 is made to look as two rows of weight 1 do.  Large problems are left as they are.
    """
    blocks = reading.blocks
    n, d = blocks.rows.shape
    if n * (d + 1) > WHOLE:
        return reading
    raw = blocks.rows.pick(np.arange(n)).raw
    values = np.asarray(raw.toarray() if hasattr(raw, "toarray") else raw, dtype=np.float64)
    if not np.isfinite(values).all():
        return reading  # the refusal names the row as the user knows it
    table = np.column_stack([np.asarray(blocks.target, dtype=np.float64), values])
    weight = np.ones(n) if blocks.weight is None else blocks.weight
    found, where = np.unique(table[weight > 0], axis=0, return_inverse=True)
    total = np.bincount(where.ravel(), weight[weight > 0])
    rows: Any = DenseRows(np.ascontiguousarray(found[:, 1:]))
    rows = OriginRows(rows) if isinstance(blocks.rows, OriginRows) else rows
    return replace(reading, blocks=ArrayBlocks(rows, found[:, 0].astype(np.intp), total))


def separating_weights(task: Task) -> Array | None:
    """(1+d, q) weights that separate every output's rows, by working sets of rows; None where there are none."""
    answers = verdicts(task.reading, task.objective)
    if answers is None or not all(answers):
        return None
    planes = [np.asarray(answer.hyperplane) for answer in answers]
    if not task.objective.criterion.coupled:
        return np.column_stack(planes)
    A = planes[0]
    return A if A.ndim == 2 else np.column_stack([-A / 2, A / 2])


def reach_margin(task: Task, A: Array, margin: float) -> Array:
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
