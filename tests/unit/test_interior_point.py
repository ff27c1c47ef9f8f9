"""The interior point: linear and quadratic programs, constraints hard and soft, end at their optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from discriminant.optimize.interior_point import Program, Rows, interior_point


def last(program, start):
    for point in interior_point(program, start):
        if point.complementarity(program.U) < 1e-13:
            break
    return point


def assert_optimal(program, point, atol=1e-8):
    G, x, y = program.G.G, point.x, point.y
    short = program.h - G @ x
    np.testing.assert_allclose(program.P * x + program.q, G.T @ y, atol=atol)
    assert (y > 0).all()
    assert (y < program.U).all()
    hard = np.isinf(program.U)
    assert (short[hard] <= atol).all()
    np.testing.assert_allclose(y * np.maximum(-short, 0), 0, atol=atol)  # no multiplier where there is slack
    np.testing.assert_allclose((program.U - y)[~hard] * np.maximum(short, 0)[~hard], 0, atol=atol)


@pytest.mark.parametrize("seed", range(5))
def test_a_linear_program_is_that_of_a_simplex_method(seed):
    rng = np.random.default_rng(seed)
    rows, v = rng.standard_normal((30, 4)), 4
    # maximise t with f·u ≥ t and −1 ≤ u ≤ 1
    one, none = np.ones((30, 1)), np.zeros((v, 1))
    G = np.block([[rows, -one], [np.eye(v), none], [-np.eye(v), none]])
    h = np.concatenate([np.zeros(30), -np.ones(2 * v)])
    q = np.append(np.zeros(v), -1.0)
    program = Program(np.zeros(v + 1), q, Rows(G), h, np.full(len(h), np.inf))
    point = last(program, program.start(np.append(np.zeros(v), -1.0), np.full(len(h), 0.1)))
    expected = linprog(q, A_ub=-G, b_ub=-h, bounds=[(None, None)] * (v + 1))
    assert q @ point.x == pytest.approx(expected.fun, abs=1e-9)
    assert_optimal(program, point)


@pytest.mark.parametrize("price", [np.inf, 0.05, 3.0])
def test_margins_hard_and_soft_end_at_their_conditions(price):
    rng = np.random.default_rng(1)
    y = np.repeat([1.0, -1.0], 20)
    X = rng.standard_normal((40, 3)) + 3.0 * y[:, None] * (2.0 if np.isinf(price) else 0.3)
    G = y[:, None] * np.column_stack([X, np.ones(40)])
    program = Program(np.array([1.0, 1, 1, 0]), np.zeros(4), Rows(G), np.ones(40), np.full(40, price))
    point = last(program, program.start(np.zeros(4), np.full(40, min(price, 1.0) / 2)))
    assert_optimal(program, point)
    if np.isinf(price):
        assert (G @ point.x).min() == pytest.approx(1, abs=1e-8)


def test_a_column_of_zeros_and_equal_constraints_do_not_stop_it():
    G = np.array([[1.0, 0, 0], [1.0, 0, 0], [0, 1, 0]])
    program = Program(np.ones(3), np.zeros(3), Rows(G), np.array([1.0, 1, 2]), np.full(3, np.inf))
    point = last(program, program.start(np.zeros(3), np.ones(3)))
    np.testing.assert_allclose(point.x, [1, 2, 0], atol=1e-9)
    np.testing.assert_allclose(point.y[:2].sum(), 1, atol=1e-9)
