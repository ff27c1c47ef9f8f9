"""The laws of an optimizer: it reaches the minimum of each problem it accepts, refuses the others, and does not lie.

The minimum of each problem is found here by SciPy, with the penalties' kinks split into positive and negative parts
or, for piecewise-linear and counting criteria, by exhaustive search over the candidate hyperplanes.
"""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from contracts.registry import OPTIMIZERS, PROBLEMS
from discriminant import criteria, optimize, penalties
from discriminant.errors import MismatchError
from discriminant.protocols import Optimizer, Oracle, Solution

optimizers = pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=lambda part: type(part).__name__)
problems = pytest.mark.parametrize("problem", list(PROBLEMS))
ZERO = ("perceptron, separable", "relaxation, separable", "kesler, separable")
# How near the least J a procedure comes that has no way to get closer in the time it is given here.
LOOSE = {"SingleSample": 0.15, "Annealing": 0.10, "DifferentialEvolution": 0.10, "GradientDescent": 1e-4}


def start(objective):
    return np.zeros((objective.n_parameters, objective.n_outputs))


def accepts(optimizer, objective):
    """Whether the declared needs and oracles say that they fit."""
    if isinstance(optimizer, optimize.ProximalGradient):
        smooth = Oracle.CURVATURE in objective.criterion.oracles
        return smooth and not isinstance(objective.penalty, penalties.Jeffreys)
    if isinstance(optimizer, optimize.ProximalNewton):
        smooth = Oracle.CURVATURE | Oracle.CONJUGATE
        apart = not objective.criterion.coupled or isinstance(objective.criterion, criteria.Softmax)
        return (
            not smooth & ~objective.criterion.oracles
            and apart
            and not isinstance(objective.penalty, penalties.Jeffreys)
        )
    if isinstance(optimizer, optimize.MixedInteger):
        return isinstance(objective.criterion, criteria.ZeroOne)
    if isinstance(optimizer, optimize.SingleSample) and objective.penalty is not None:
        return isinstance(objective.penalty, penalties.Ridge) and not objective.criterion.coupled
    return not optimizer.needs & ~objective.oracles


@cache
def solved(name, problem):
    """The solution of one optimizer for one problem, found once for all laws; and that the start was left alone."""
    optimizer = next(part for part in OPTIMIZERS if type(part).__name__ == name)
    objective = PROBLEMS[problem]
    A = start(objective)
    solution = optimizer.minimize(objective, A)
    assert not A.any()
    return solution


@cache
def least(problem):
    """The least J, by an independent route."""
    objective = PROBLEMS[problem]
    if problem in ZERO:
        return 0.0
    if isinstance(objective.criterion, criteria.ZeroOne):
        return fewest_errors(objective) / objective.blocks.n_rows
    if isinstance(objective.criterion, criteria.Hinge):
        return least_hinge(objective)
    return least_smooth(objective)


def least_smooth(objective):
    """BFGS on values and numerical care: |a| through a = p − m with p, m ≥ 0 for the lasso, ε-smoothing for groups."""
    shape = start(objective).shape
    if isinstance(objective.penalty, penalties.Group):
        bare = objective.without_penalty()

        def smoothed(flat, eps=1e-14):
            A = flat.reshape(shape)
            value, gradient = bare.value_and_gradient(A)
            norm = np.sqrt(np.square(A[1:]).sum(axis=1, keepdims=True) + eps)
            gradient[1:] += objective.penalty.strength * A[1:] / norm
            return value + objective.penalty.strength * norm.sum(), gradient.ravel()

        return minimize(smoothed, np.full(np.prod(shape), 0.1), jac=True, method="BFGS", options={"gtol": 1e-9}).fun
    if isinstance(objective.penalty, penalties.Lasso):
        bare, size = objective.without_penalty(), int(np.prod(shape))
        cost = np.r_[np.zeros(shape[1]), np.full(size - shape[1], objective.penalty.strength)]

        def split(both):
            A = (both[:size] - both[size:]).reshape(shape)
            value, gradient = bare.value_and_gradient(A)
            flat = gradient.ravel()
            return value + cost @ (both[:size] + both[size:]), np.r_[flat + cost, cost - flat]

        bounds = [(0, None)] * (2 * size)
        tight = {"ftol": 1e-15, "gtol": 1e-10}
        return minimize(split, np.full(2 * size, 0.1), jac=True, method="L-BFGS-B", bounds=bounds, options=tight).fun
    return minimize(
        lambda flat: objective.value(flat.reshape(shape)),
        np.zeros(np.prod(shape)),
        method="BFGS",
        options={"gtol": 1e-8},
    ).fun


def least_hinge(objective):
    """The dual linear program: max Σ u_i under 0 ≤ u_i ≤ 1/n, Σ u_i t_i y_i = 0 (or within ±λ of it below the ones)."""
    Y, t, s = objective.collect()
    slack = 0.0 if objective.penalty is None else objective.penalty.strength
    rows = (Y * t).T
    free, held = rows[:1], rows[1:]
    found = linprog(
        -np.ones(len(Y)),
        A_eq=free,
        b_eq=[0.0],
        A_ub=np.vstack([held, -held]),
        b_ub=np.full(2 * len(held), slack),
        bounds=np.column_stack([np.zeros(len(Y)), s[:, 0]]),
    )
    return -found.fun


def fewest_errors(objective):
    """Every plane through D−1 rows; a small tilt puts those rows on their own sides, so that only others count.

    The rows are in general position, so that the tilt exists, and the best plane can be moved onto such a plane
    without passing over any other row.
    """
    Y, t, _ = objective.collect()
    n, D = Y.shape
    best = n
    for chosen in itertools.combinations(range(n), D - 1):
        normal = np.linalg.svd(Y[list(chosen)])[2][-1]
        margins = np.delete(t[:, 0] * (Y @ normal), chosen)
        best = min(best, (margins <= 0).sum(), (margins >= 0).sum())
    return best


@optimizers
def test_optimizer_meets_the_protocol(optimizer):
    assert isinstance(optimizer, Optimizer)


@optimizers
@problems
def test_reaches_the_minimum_or_refuses_in_a_sentence(optimizer, problem):
    objective = PROBLEMS[problem]
    if not accepts(optimizer, objective):
        with pytest.raises(MismatchError) as refusal:
            optimizer.minimize(objective, start(objective))
        text = str(refusal.value)
        assert type(optimizer).__name__ in text
        parts = [type(objective.criterion).__name__, type(objective.penalty).__name__]
        assert any(part in text for part in parts)
        assert "use" in text.lower()
        assert text.endswith(".")
        return
    solution = solved(type(optimizer).__name__, problem)
    J = objective.value(solution.weights)
    assert isinstance(solution, Solution)
    assert solution.objective == pytest.approx(J, rel=1e-9, abs=1e-12)
    goal = least(problem)
    assert goal - 1e-9 * (1 + goal) <= J
    near = LOOSE.get(type(optimizer).__name__, 1e-7)
    assert goal + near * (1 + goal) >= J, solution.status


@optimizers
@problems
def test_status_tells_the_truth(optimizer, problem):
    """Converged means at the minimum (or, for procedures that hover, that their own rule ended them); a sentence."""
    objective = PROBLEMS[problem]
    if not accepts(optimizer, objective):
        return
    solution = solved(type(optimizer).__name__, problem)
    assert solution.status[0].isupper()
    assert solution.status.endswith(".")
    if solution.converged:
        goal = least(problem)
        slack = 1e-5 if isinstance(optimizer, optimize.GradientDescent) else 1e-7
        assert objective.value(solution.weights) <= goal + slack * (1 + goal)
    else:
        assert not solution.status.startswith(("Converged", "Solved", "Proved"))


@optimizers
def test_a_start_of_the_wrong_shape_is_refused(optimizer):
    problem = next(name for name in PROBLEMS if accepts(optimizer, PROBLEMS[name]))
    with pytest.raises(MismatchError, match=r"shape \(2, 7\)"):
        optimizer.minimize(PROBLEMS[problem], np.zeros((2, 7)))
