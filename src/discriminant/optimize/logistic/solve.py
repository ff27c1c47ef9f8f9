"""Logistic problems on the one road: an objective of the logistic or softmax criterion, minimised by the table."""

from __future__ import annotations

from discriminant.data.device import DeviceBlocks
from discriminant.optimize.automatic import Minimum, minimize
from discriminant.optimize.automatic import shape_of as shape_of_objective
from discriminant.optimize.choose import Shape
from discriminant.optimize.logistic.device import solve_on_device
from discriminant.optimize.logistic.problem import LogisticProblem
from discriminant.protocols import Array

LogisticFit = Minimum
COLUMNS = ("k", "objective", "gradient_norm", "step", "decrement", "passes")


def shape_of(problem: LogisticProblem) -> Shape:
    """What the choice of a method depends on."""
    return shape_of_objective(problem.objective)


def solve_logistic(problem: LogisticProblem, tol: float = 1e-8, start: Array | None = None) -> Minimum:
    """Minimise J until gap ≤ tol·|J|; where Newton steps are cheap, to the last digits.

    ``start``: weights (1+d, q) in the user's units with a plain intercept (at zero).
    """
    if isinstance(problem.blocks, DeviceBlocks):
        return Minimum(**solve_on_device(problem, tol, start))
    return minimize(problem.objective, tol, start)
