"""Logistic and softmax regression, stated by their parts, minimised by the table, and what the fit proves of itself.

J(A) = Σ w ℓ / Σ w + ½ λ ‖A₁…d‖²,        z = a₀ + (x − c)·a
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discriminant.data import ArrayBlocks
from discriminant.data.scaling import Scaling
from discriminant.errors import counted
from discriminant.objective import PointwiseObjective, logistic_objective
from discriminant.optimize.automatic import Minimum, minimize
from discriminant.protocols import Array, Certificate

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class LogisticProblem:
    """Two or more classes, rows in blocks, λ ≥ 0 on the weights; the intercept is free or absent."""

    blocks: ArrayBlocks  # target: codes, or probabilities (n,) for two classes and (n, K) for more
    n_classes: int
    ridge: float = 0.0
    intercept: bool = True
    offset: Array | None = None
    center: Array | None = None  # (d,)
    unit: Array | None = None  # (d,), powers of two

    @property
    def n_rows(self) -> int:
        return self.blocks.n_rows

    @property
    def n_features(self) -> int:
        return self.blocks.n_features

    @property
    def n_outputs(self) -> int:
        return 1 if self.n_classes == 2 else self.n_classes

    @property
    def sparse(self) -> bool:
        return self.blocks.is_sparse

    @property
    def values(self) -> int:
        """How many numbers a pass reads."""
        return self.blocks.n_values

    @cached_property
    def total(self) -> float:
        """Σ w."""
        return self.blocks.total

    @cached_property
    def units(self) -> Array:
        """(1+d, 1): 1 for the intercept, then the columns' units."""
        unit = np.ones(self.n_features) if self.unit is None else self.unit
        return np.concatenate([[1.0], unit])[:, None]

    @cached_property
    def objective(self) -> PointwiseObjective:
        """J over the weights of the columns in their units."""
        plain = logistic_objective(self.blocks, self.n_classes, self.ridge, self.intercept, self.offset)
        return plain if self.unit is None else plain.scaled(Scaling(self.center, self.unit))


def solve_logistic(problem: LogisticProblem, tol: float = 1e-8, start: Array | None = None) -> Minimum:
    """Minimise J until gap ≤ tol·|J|; where Newton steps are cheap, to the last digits.

    ``start``: weights (1+d, q) in the user's units with a plain intercept (at zero).
    """
    return minimize(problem.objective, tol, start)


def certify_fit(fit: Minimum, tol: float, ridge: float) -> Certificate:
    """The certificate of a logistic fit."""
    J = fit.objective
    # What is proved is proved of numbers that were rounded: their last digits count too.
    gap = max(fit.gap, 0.0) + max(fit.rounding, 8.0 * EPS * abs(J))
    met = gap <= tol * abs(J)
    if fit.separated:
        status = (
            "The classes are separated: every row lies on its own side of the boundary, so that without a penalty the "
            "likelihood has no maximum and the weights would grow for ever. They were stopped where the mean loss is "
            f"{J:.1g}."
        )
        return Certificate(
            status, False, J, 0.0, J, fit.gradient_norm, fit.passes, "separable", (str(fit.choice),), np.inf
        )
    if fit.stopped and not met:
        near = f"proved to be within {gap:.1e} of its minimum" if gap < np.inf else "the last value; no bound is proved"
        status = f"Stopped by a callback after {counted(fit.steps, 'step')}: J = {J:.10g} is {near}."
    elif met:
        status = f"Solved: J = {J:.10g} is proved to be within {gap:.1e} of its minimum."
    elif fit.gap < float("inf"):
        status = (
            f"Stopped where no step lowers J further: J = {J:.10g} is proved to be within {gap:.1e} of its minimum, "
            f"which is more than tol·|J| = {tol * abs(J):.1e}."
        )
    else:
        why = "" if ridge else " Without a penalty the likelihood may have no maximum: ask discriminant.separability."
        status = f"J = {J:.10g}; no bound could be proved.{why}"
    return Certificate(
        status,
        met,
        J,
        J - gap,
        gap,
        fit.gradient_norm,
        fit.passes,
        None,
        (str(fit.choice),),
        fit.condition,
    )
