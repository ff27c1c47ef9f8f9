"""Closed forms: symmetric systems, least squares to the digits of QR, rank-deficient rows, moments."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from sklearn.linear_model import Ridge as SklearnRidge

from discriminant import criteria, penalties
from discriminant.codings import make_coding
from discriminant.data import make_blocks
from discriminant.objective import PointwiseObjective
from discriminant.optimize import ClosedForm, least_squares_from_moments, symmetric_solve


def least_squares(X, t, penalty=None, weight=None):
    return PointwiseObjective(make_blocks(X, t, weight), criteria.Squared(), penalty=penalty)


def solve(objective, **options):
    return ClosedForm(**options).minimize(objective, np.zeros((objective.n_parameters, objective.n_outputs)))


def digits(found, exact):
    return -np.log10(np.abs(found - exact).max() / np.abs(exact).max() + 1e-17)


def exact_solution(Y, t):
    """By QR in long precision: two steps of refinement with residuals in extended arithmetic."""
    Q, R = scipy.linalg.qr(Y, mode="economic")
    a = scipy.linalg.solve_triangular(R, Q.T @ t)
    for _ in range(5):
        residual = t.astype(np.longdouble) - Y.astype(np.longdouble) @ a.astype(np.longdouble)
        pull = (Y.astype(np.longdouble).T @ residual).astype(float)
        a = a + scipy.linalg.solve_triangular(R, scipy.linalg.solve_triangular(R, pull, trans=1))
    return a


@pytest.mark.parametrize("condition", [1e2, 1e4, 1e6, 1e7])
def test_as_accurate_as_qr(condition):
    """Corrected semi-normal equations keep the digits that the normal equations alone lose."""
    rng = np.random.default_rng(0)
    left, right = np.linalg.qr(rng.standard_normal((200, 6)))[0], np.linalg.qr(rng.standard_normal((6, 6)))[0]
    X = left * np.geomspace(1, 1 / condition, 6) @ right
    t = rng.standard_normal((200, 2))
    Y = np.hstack([np.ones((200, 1)), X])
    exact = exact_solution(Y, t)
    ours = digits(solve(least_squares(X, t)).weights, exact)
    qr = digits(scipy.linalg.lstsq(Y, t, lapack_driver="gelsy")[0], exact)
    assert ours > min(qr, 14) - 1
    assert (
        solve(least_squares(X, t), refinements=0).status == "Solved in closed form, with 0 corrections of the residual."
    )


def test_offsets_and_scales_cost_few_digits():
    rng = np.random.default_rng(1)
    Z = rng.standard_normal((300, 3))
    t = rng.standard_normal((300, 1))
    scale, offset = np.array([1e-6, 1.0, 1e6]), np.array([3e-3, 1e4, -2e9])
    inner = solve(least_squares(Z, t)).weights
    outer = solve(least_squares(Z * scale + offset, t)).weights
    np.testing.assert_allclose(outer[1:] * scale[:, None], inner[1:], rtol=1e-8, atol=1e-8)  # rounding of the data


def test_rank_deficient_rows_take_the_shortest_solution():
    """a = Y†b, with the ones among the columns."""
    rng = np.random.default_rng(2)
    Z = rng.standard_normal((40, 3))
    X = np.hstack([Z, Z[:, :1] - 2 * Z[:, 1:2], np.full((40, 1), 3.0), np.zeros((40, 1))])
    t = rng.standard_normal((40, 2))
    found = solve(least_squares(X, t)).weights
    np.testing.assert_allclose(found, np.linalg.pinv(np.hstack([np.ones((40, 1)), X])) @ t, atol=1e-12)


def test_fewer_rows_than_columns():
    rng = np.random.default_rng(3)
    X, t = rng.standard_normal((5, 12)), rng.standard_normal((5, 1))
    found = solve(least_squares(X, t)).weights
    np.testing.assert_allclose(found, np.linalg.pinv(np.hstack([np.ones((5, 1)), X])) @ t, atol=1e-10)


@pytest.mark.parametrize("factors", [None, (1.0, 0.0, 4.0)])
def test_ridge_with_a_free_intercept(factors):
    rng = np.random.default_rng(4)
    X, t, w = rng.standard_normal((50, 3)) + 5, rng.standard_normal((50, 2)), rng.random(50)
    found = solve(least_squares(X, t, penalties.Ridge(0.3, factors=factors), w))
    Y = np.hstack([np.ones((50, 1)), X])
    scale = np.diag(np.r_[0.0, 0.3 * np.array(factors or (1.0, 1.0, 1.0))])
    exact = np.linalg.solve(Y.T @ (Y * w[:, None]) / w.sum() + scale, Y.T @ (t * w[:, None]) / w.sum())
    np.testing.assert_allclose(found.weights, exact, atol=1e-11)
    if factors is None:
        theirs = SklearnRidge(alpha=0.3 * w.sum()).fit(X, t, sample_weight=w)
        np.testing.assert_allclose(found.weights[1:], theirs.coef_.T, atol=1e-10)


def test_kesler_of_the_squared_criterion_is_solved_too():
    rng = np.random.default_rng(5)
    X, codes = rng.standard_normal((60, 2)), rng.integers(3, size=60)
    J = PointwiseObjective(make_blocks(X, codes), criteria.Kesler(criteria.Squared()), make_coding("machine", 3))
    found = solve(J)
    assert np.abs(J.value_and_gradient(found.weights)[1]).max() < 1e-13
    np.testing.assert_allclose(
        found.weights.sum(axis=1), 0, atol=1e-12
    )  # the shortest: adding one vector to all is free


def test_data_that_are_no_numbers_are_said():
    X = np.ones((5, 2))
    X[0, 0] = np.nan
    found = solve(least_squares(X, np.ones((5, 1))))
    assert "not a number" in found.status
    assert not found.converged


@pytest.mark.parametrize("ridge", [0.0, 0.2])
def test_moments_give_what_the_rows_give(ridge):
    rng = np.random.default_rng(6)
    X, t = rng.standard_normal((80, 4)) + [1e3, 0, -5, 2], rng.standard_normal((80, 3))
    Xc, tc = X - X.mean(axis=0), t - t.mean(axis=0)
    found = least_squares_from_moments(Xc.T @ Xc / 80, Xc.T @ tc / 80, X.mean(axis=0), t.mean(axis=0), ridge)
    rows = solve(least_squares(X, t, penalties.Ridge(ridge) if ridge else None)).weights
    np.testing.assert_allclose(found.weights, rows, rtol=1e-8, atol=1e-9)
    assert found.rank == 4


def test_moments_of_rank_deficient_rows_give_the_pseudo_inverse():
    rng = np.random.default_rng(7)
    Z = rng.standard_normal((30, 2)) + 4
    X, t = np.hstack([Z, Z.sum(axis=1, keepdims=True), np.full((30, 1), 2.0)]), rng.standard_normal((30, 2))
    Xc, tc = X - X.mean(axis=0), t - t.mean(axis=0)
    found = least_squares_from_moments(Xc.T @ Xc / 30, Xc.T @ tc / 30, X.mean(axis=0), t.mean(axis=0))
    np.testing.assert_allclose(found.weights, np.linalg.pinv(np.hstack([np.ones((30, 1)), X])) @ t, atol=1e-12)
    assert found.rank == 2
    np.testing.assert_allclose(Xc @ found.null_space, 0, atol=1e-13)


def test_symmetric_solve_is_free_of_units():
    rng = np.random.default_rng(8)
    M = rng.standard_normal((6, 4))
    H, b = M.T @ M, rng.standard_normal((4, 1))
    scale = 10.0 ** np.array([-8, 0, 3, 9])
    solved = symmetric_solve(H * scale[:, None] * scale, scale[:, None] * b)
    np.testing.assert_allclose(solved.x * scale[:, None], np.linalg.solve(H, b), rtol=1e-10)
    assert solved.rank == 4
    low = symmetric_solve(H[:, [0, 0, 1]][[0, 0, 1]] * scale[:3, None] * scale[:3], np.zeros((3, 1)))
    assert low.rank == 2


def test_symmetric_solve_turns_negative_directions_round():
    """|H|⁻¹ b: where H bends downwards the step still goes down the slope."""
    H = np.diag([2.0, -4.0])
    np.testing.assert_allclose(symmetric_solve(H, np.ones((2, 1))).x.ravel(), [0.5, 0.25])
    assert np.isnan(symmetric_solve(np.array([[np.nan]]), np.ones((1, 1))).x).all()
