"""Logistic discrimination as the textbooks run it: a named optimizer on the mean cross-entropy, from small weights.

    gradient descent   w ← w + η (1/n) Σ (r − y) x     from weights in (−0.01, 0.01)   (Alpaydin, figures 10.6, 10.8)
    Newton             w ← w − s H⁻¹ ∇J, with s halved until J falls                   (iteratively reweighted squares)

``GradientDescent(patience=…)`` stops early, when the misclassified rows have stopped becoming fewer: a regulariser.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from discriminant.codings import make_coding
from discriminant.criteria import Logistic, Softmax
from discriminant.data import ArrayBlocks, OriginRows, require_finite
from discriminant.errors import DataError, MismatchError, warn
from discriminant.methods.parts import prepare_optimizer, starting_weights
from discriminant.model import LinearDiscriminant
from discriminant.objective import PointwiseObjective
from discriminant.optimize.choose import Choice
from discriminant.optimize.history import History
from discriminant.optimize.logistic import LogisticProblem
from discriminant.penalties import Ridge
from discriminant.protocols import Array, Certificate, Solution


def is_textbook(optimizer: Any) -> bool:
    """Whether an optimizer was asked for, instead of the table behind "auto"."""
    return not (isinstance(optimizer, str) and optimizer.lower() == "auto")


def textbook_objective(problem: LogisticProblem, n_classes: int) -> PointwiseObjective:
    """J of a logistic problem: the mean cross-entropy, one sigmoid or a softmax, and the ridge."""
    if problem.offset is not None:
        raise MismatchError("Offsets are known to the automatic method only; use optimizer='auto' with them.")
    blocks: Any = problem.blocks
    target, rows = np.asarray(blocks.target), blocks.rows
    coded = target.ndim == 1 and target.dtype.kind in "iu"
    if not coded and target.ndim == 1:
        target = target[:, None]
    if not problem.intercept:
        rows = OriginRows(rows)
    two = n_classes == 2
    coding = make_coding("two-class", 2, labels=(0, 1)) if two else make_coding("softmax", n_classes)
    return PointwiseObjective(
        ArrayBlocks(rows, target, blocks.weight),
        Logistic() if two else Softmax(),
        coding if coded else None,
        Ridge(problem.ridge) if problem.ridge else None,
    )


def textbook_fit(
    estimator: Any, problem: LogisticProblem, n_classes: int, start: Array | None
) -> tuple[Solution, Choice]:
    """Run the optimizer that ``estimator.optimizer`` names, from weights in (−0.01, 0.01) or from ``start``."""
    objective = textbook_objective(problem, n_classes)
    options = {"trace": bool(estimator.trace), "count_errors": bool(estimator.trace), "callback": estimator.callback}
    optimizer, choice = prepare_optimizer(estimator.optimizer, objective, **options)
    first = starting_weights("random", objective, estimator.random_state) if start is None else start
    if not problem.intercept:
        first[0] = 0.0
    solution: Solution = optimizer.minimize(objective, first)
    if not (np.isfinite(solution.weights).all() and np.isfinite(solution.objective)):
        require_finite(problem.blocks.rows, estimator=type(estimator).__name__)
        raise DataError("The scores overflow although X is finite: its values are too large. Rescale the columns.")
    return solution, choice


def keep_textbook(
    estimator: Any, solution: Solution, choice: Choice, classes: Array, dtype: Any, shift: Array | float = 0.0
) -> None:
    """Set what a fitted logistic regression has; ``shift`` moves the intercepts."""
    A = np.array(solution.weights)
    A[0] -= shift
    link = "sigmoid" if len(classes) == 2 else "softmax"
    estimator.classes_ = classes
    estimator.discriminant_ = LinearDiscriminant(A, classes, feature_names=estimator._names(), link=link)
    estimator.coef_ = np.array(estimator.discriminant_.coef, dtype=dtype)
    estimator.intercept_ = np.array(estimator.discriminant_.intercept, dtype=dtype)
    estimator.n_iter_ = np.array([max(solution.iterations, 1)], dtype=np.int32)
    estimator.history_ = solution.history if solution.history is not None else History()
    estimator._kept = (estimator.coef_.copy(), estimator.intercept_.copy())
    estimator.certificate_ = certify_textbook(solution, choice)
    if not solution.converged:
        warn(solution.status)


def certify_textbook(solution: Solution, choice: Choice) -> Certificate:
    """What a textbook run knows of itself: its own status, and no bound but zero."""
    J = float(solution.objective)
    blank = Certificate(solution.status, bool(solution.converged), J, 0.0, J, float(solution.gradient_norm), 0.0)
    return dataclasses.replace(blank, passes=float(solution.passes), notes=(str(choice), *solution.notes))
