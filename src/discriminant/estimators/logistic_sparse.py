"""The road of a logistic regression to the sparse solver: L1, elastic net, groups, penalty factors, bounds."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from discriminant.data import require_finite
from discriminant.data.sources import require_memory
from discriminant.errors import ParameterError, as_numbers
from discriminant.estimators.logistic_parameters import Strength
from discriminant.optimize.logistic import LogisticFit, LogisticProblem
from discriminant.optimize.path import SparsePenalty, solve_sparse
from discriminant.protocols import Array


def is_sparse_fit(estimator: Any, strength: Strength) -> bool:
    """Whether the penalty has a kink, or is more than one ridge for all weights."""
    if np.isinf(strength.C):  # factors and groups of no penalty say nothing
        return estimator.bounds is not None
    special = (estimator.penalty_factors, estimator.bounds, estimator.groups)
    return bool(strength.l1) or any(value is not None for value in special)


def sparse_penalty(estimator: Any, l1_ratio: float) -> SparsePenalty:
    """The penalty at λ = 1 from an estimator's parameters."""
    lower, upper = read_bounds(estimator.bounds)
    given = estimator.penalty_factors
    factors = None if given is None else as_numbers(given, "penalty_factors")
    return SparsePenalty(l1_ratio, factors, lower, upper, read_groups(estimator.groups), bool(estimator.grouped))


def read_groups(groups: Any) -> tuple[tuple[int, ...], ...] | None:
    """Tuples of feature indices from None or sequences of them."""
    if groups is None:
        return None
    try:
        return tuple(tuple(index(j) for j in group) for group in groups)
    except TypeError:
        raise ParameterError(f"groups must hold sequences of feature indices; it was {groups!r}.") from None


def read_bounds(bounds: Any) -> tuple[Any, Any]:
    """(lower, upper) from None or a pair of numbers or arrays."""
    if bounds is None:
        return -np.inf, np.inf
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise ParameterError(f"bounds must be a pair (lower, upper) of numbers or arrays; it was {bounds!r}.")
    return as_numbers(bounds[0], "bounds"), as_numbers(bounds[1], "bounds")


def sparse_fit(estimator: Any, problem: LogisticProblem, strength: Strength, start: Array | None) -> LogisticFit:
    """λ = 1/(C Σw), α = l1_ratio."""
    require_memory(problem.blocks, "A penalty with a kink, or bounds on the weights,")
    require_finite(problem.blocks.rows, estimator._names(), estimator=type(estimator).__name__)
    level = 0.0 if np.isinf(strength.C) else 1.0 / (strength.C * problem.total)
    return solve_sparse(problem, level, sparse_penalty(estimator, strength.l1_ratio), estimator.tol, start)
