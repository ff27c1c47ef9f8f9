"""Linear and mixed-integer programs, and annealing: against SciPy, scikit-learn and exhaustive search."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.datasets import load_iris

from discriminant import criteria, penalties
from discriminant.codings import make_coding
from discriminant.data import make_blocks
from discriminant.errors import DataError, MismatchError, ParameterError
from discriminant.objective import PointwiseObjective
from discriminant.optimize import Annealing, LinearProgram, MixedInteger, Newton

IRIS, SPECIES = load_iris(return_X_y=True)


def objective(criterion, X, codes, coding="two-class", penalty=None, weight=None):
    made = make_coding(coding, int(codes.max()) + 1, labels=criterion.labels)
    return PointwiseObjective(make_blocks(X, codes, weight), criterion, made, penalty)


def zeros(J):
    return np.zeros((J.n_parameters, J.n_outputs))


def solve(optimizer, J):
    return optimizer.minimize(J, zeros(J))


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_separable_rows_are_separated_beyond_the_margin(scale):
    """LP1: t_i w·x_i ≥ 1 for every i, exactly, in any unit."""
    J = objective(criteria.Hinge(), IRIS * scale, (SPECIES == 0).astype(int))
    found = solve(LinearProgram(), J)
    t = np.where(SPECIES == 0, 1, -1)
    assert (t * J.scores(found.weights)[:, 0] >= 1).all()
    assert found.objective == 0
    assert found.converged
    assert found.status == "Solved by linear programming: every row lies beyond its margin b = 1."


@pytest.mark.parametrize("penalty", [None, penalties.Lasso(0.01), penalties.Lasso(0.01, factors=(1.0, 0.0, 2.0, 5.0))])
def test_overlapping_rows_reach_the_dual_value(penalty):
    """Strong duality: the least J equals max Σu_i, 0 ≤ u_i ≤ w_i/Σw, |Σ u_i t_i x_ij| ≤ λf_j, Σ u_i t_i = 0."""
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 150)
    codes = (SPECIES == 2).astype(int)
    J = objective(criteria.Hinge(), IRIS, codes, penalty=penalty, weight=weight)
    found = solve(LinearProgram(), J)
    t = np.where(codes > 0, 1.0, -1.0)
    slack = np.zeros(4) if penalty is None else 0.01 * np.array(penalty.factors or (1.0,) * 4)
    rows = (IRIS * t[:, None]).T
    dual = linprog(
        -np.ones(150),
        A_eq=t[None],
        b_eq=[0],
        A_ub=np.vstack([rows, -rows]),
        b_ub=np.r_[slack, slack],
        bounds=np.column_stack([np.zeros(150), weight / weight.sum()]),
    )
    assert found.objective == pytest.approx(-dual.fun, rel=1e-8)
    assert found.converged


def test_kesler_margin_by_linear_programming():
    """Three species, the pairs of Kesler's construction as constraints: the hinge over all rivals, or the worst."""
    for over in ("all", "worst"):
        J = objective(criteria.Kesler(criteria.Hinge(), over=over), IRIS, SPECIES, "machine")
        found = solve(LinearProgram(), J)
        assert found.converged
        smooth = solve(Newton(), objective(criteria.Softmax(), IRIS, SPECIES, "softmax", penalties.Ridge(1e-4)))
        assert found.objective <= J.value(smooth.weights)
        for seed in range(20):  # a minimum of a convex function: no direction leads down
            D = np.random.default_rng(seed).standard_normal(found.weights.shape)
            assert (J.along(found.weights, D, np.array([1e-3, -1e-3])) >= found.objective - 1e-9).all()


def test_linear_program_refusals():
    codes = (SPECIES == 2).astype(int)
    with pytest.raises(MismatchError, match=r"LinearProgram needs a criterion that is piecewise linear.*Logistic"):
        solve(LinearProgram(), objective(criteria.Logistic(), IRIS, codes))
    with pytest.raises(MismatchError, match=r"piecewise linear in the scores, which penalty Ridge"):
        solve(LinearProgram(), objective(criteria.Hinge(), IRIS, codes, penalty=penalties.Ridge(1.0)))
    with pytest.raises(MismatchError, match=r"positive margin.*Perceptron.*margin=1.0"):
        solve(LinearProgram(), objective(criteria.Perceptron(), IRIS, codes))


def fewest_errors(X, codes):
    """Planes through pairs of points in two dimensions; the two points themselves can be put on their sides."""
    Y, t = np.hstack([np.ones((len(X), 1)), X]), np.where(codes > 0, 1, -1)
    best = len(X)
    for pair in itertools.combinations(range(len(X)), 2):
        margins = np.delete(t * (Y @ np.cross(*Y[list(pair)])), pair)
        best = min(best, (margins <= 0).sum(), (margins >= 0).sum())
    return best


@pytest.mark.parametrize("seed", range(4))
def test_mixed_integer_finds_and_proves_the_fewest_errors(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 2)) * [1.0, 1e3]
    codes = (X[:, 0] + 1.2 * rng.standard_normal(30) > 0).astype(int)
    J = objective(criteria.ZeroOne(), X, codes)
    found = solve(MixedInteger(), J)
    assert J.errors(found.weights) == fewest_errors(X, codes)
    assert found.bound == pytest.approx(found.objective)
    assert found.converged
    assert found.status.startswith("Proved")


def test_mixed_integer_with_weights_and_many_classes():
    rng = np.random.default_rng(5)
    X, weight = rng.standard_normal((20, 2)), rng.uniform(0.1, 3.0, 20)
    codes = rng.integers(2, size=20)
    J = objective(criteria.ZeroOne(), X, codes, weight=weight)
    found = solve(MixedInteger(), J)
    plain = solve(MixedInteger(), objective(criteria.ZeroOne(), X, codes))
    assert J.value(found.weights) <= J.value(plain.weights) + 1e-12
    assert found.bound <= found.objective + 1e-12
    many = objective(criteria.Kesler(criteria.ZeroOne(), over="worst"), IRIS[::5], SPECIES[::5], "machine")
    machine = solve(MixedInteger(), many)
    assert many.errors(machine.weights) == round(machine.objective * 30)
    assert machine.converged


def test_mixed_integer_out_of_time_says_what_is_proved():
    rng = np.random.default_rng(6)
    X, codes = rng.standard_normal((300, 6)), rng.integers(2, size=300)
    J = objective(criteria.ZeroOne(), X, codes)
    found = solve(MixedInteger(seconds=0.5), J)
    assert not found.converged
    assert found.status.startswith("Out of time")
    assert 0 <= found.bound < found.objective
    assert found.objective <= J.value(zeros(J))


def test_mixed_integer_keeps_a_start_that_is_as_good():
    X, codes = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    J = objective(criteria.ZeroOne(), X, codes)
    start = np.array([[-1.5], [1.0]])
    np.testing.assert_array_equal(MixedInteger().minimize(J, start).weights, start)


def test_mixed_integer_refusals():
    codes = (SPECIES == 2).astype(int)
    with pytest.raises(
        MismatchError, match=r"MixedInteger minimises the count of errors, criterion ZeroOne\(\).*Hinge"
    ):
        solve(MixedInteger(), objective(criteria.Hinge(), IRIS, codes))
    with pytest.raises(DataError, match=r"150 are too many.*Annealing"):
        solve(MixedInteger(most_rows=100), objective(criteria.ZeroOne(), IRIS, codes))
    with pytest.raises(ParameterError, match="at least 1e-06"):
        solve(MixedInteger(margin=0.0), objective(criteria.ZeroOne(), IRIS, codes))


def test_annealing_comes_near_the_fewest_errors_and_claims_no_proof():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((40, 2))
    codes = (X[:, 0] + rng.standard_normal(40) > 0).astype(int)
    J = objective(criteria.ZeroOne(), X, codes)
    found = Annealing(iterations=400, random_state=0).minimize(J, zeros(J))
    assert J.errors(found.weights) <= fewest_errors(X, codes) + 1
    assert not found.converged
    assert "does not prove" in found.status
    again = Annealing(iterations=400, random_state=0).minimize(J, zeros(J))
    np.testing.assert_array_equal(again.weights, found.weights)


def test_annealing_stops_at_no_errors():
    found = solve(Annealing(random_state=0), objective(criteria.ZeroOne(), IRIS, (SPECIES == 0).astype(int)))
    assert found.objective == 0
    assert found.converged
    assert found.iterations < 500


def test_annealing_with_scales_is_free_of_units():
    rng = np.random.default_rng(8)
    X = rng.standard_normal((60, 2))
    codes = (X.sum(axis=1) + rng.standard_normal(60) > 0).astype(int)
    units = np.array([1e-4, 1e5])
    plain = solve(Annealing(iterations=100, random_state=1), objective(criteria.ZeroOne(), X, codes))
    J = objective(criteria.ZeroOne(), X * units, codes)
    scaled = solve(Annealing(iterations=100, random_state=1, scales=np.r_[1.0, 1 / units]), J)
    assert scaled.objective == plain.objective
    with pytest.raises(ParameterError, match="3 positive numbers"):
        solve(Annealing(scales=[1.0]), J)
    with pytest.raises(ParameterError, match="a positive temperature"):
        solve(Annealing(temperature=(0.0, 1.0)), J)
    stopped = solve(Annealing(callback=lambda step: step.k == 5), J)
    assert stopped.status == "Stopped by the callback at step 5."
