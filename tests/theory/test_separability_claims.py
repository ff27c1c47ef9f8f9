"""What the theory says about separability, each claim a test."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discriminant import separability

points = st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.booleans()), min_size=2, max_size=14)


def _hulls_meet(A, B):
    """Whether two planar point sets have hulls with a common point, by trying every candidate line through the points.

    Two finite sets are strictly separable in the plane exactly when some direction puts all of A before all of B; if
    any does, one at right angles to a difference of two points, or near it, does.
    """
    every = np.vstack([A, B])
    directions = [np.array([1.0, 0.0]), np.array([0.0, 1.0])]
    for p in every:
        for q in every:
            if (p != q).any():
                normal = np.array([p[1] - q[1], q[0] - p[0]])
                for turn in (0.0, 1e-3, -1e-3):
                    directions.append(normal + turn * np.array([normal[1], -normal[0]]))
    return not any((A @ w).max() < (B @ w).min() or (B @ w).max() < (A @ w).min() for w in directions)


@given(points)
def test_separable_exactly_when_the_hulls_do_not_meet(data):
    """∃ w: ±(w·x + w₀) > 0 on all rows  ⇔  conv(C₁) ∩ conv(C₂) = ∅ (small grids, every direction tried)."""
    X = np.array([[a, b] for a, b, _ in data], dtype=float)
    y = np.array([label for *_, label in data])
    if y.all() or not y.any():
        return
    result = separability(X, y)
    assert result.check()
    assert (result.verdict == "separable") == (not _hulls_meet(X[y], X[~y]))


@given(points)
def test_the_witness_names_a_point_of_both_hulls(data):
    """Σ₊ λ x = Σ₋ λ x with λ > 0 summing to one in each class, on at most d + 2 rows."""
    X = np.array([[a, b] for a, b, _ in data], dtype=float)
    y = np.array([label for *_, label in data])
    if y.all() or not y.any():
        return
    result = separability(X, y)
    if result.verdict == "separable":
        assert result.witness is None
        return
    rows, weights = result.witness.rows, np.array([float(w) for w in result.witness.weights])
    assert len(rows) <= 4
    for side in (True, False):
        part = y[rows] == side
        assert weights[part].sum() == pytest.approx(1.0)
        assert weights[part] @ X[rows[part]] == pytest.approx(result.witness.point)


@pytest.mark.parametrize("seed", range(6))
def test_logistic_estimates_are_finite_exactly_when_the_data_overlap(seed):
    """Albert & Anderson (1984): Newton's steps settle on overlapping data and run away along the cone otherwise."""
    random = np.random.default_rng(seed)
    X = random.integers(-2, 3, size=(30, 2)).astype(float)
    y = (X @ [1.0, 1.0] + random.choice([0.0, 2.0]) * random.normal(size=30) > 0).astype(float)
    design, beta, size = np.column_stack([np.ones(30), X]), np.zeros(3), []
    for _ in range(60):
        p = 1.0 / (1.0 + np.exp(-np.clip(design @ beta, -500, 500)))
        hessian = design.T @ ((p * (1 - p))[:, None] * design) + 1e-12 * np.eye(3)
        beta = beta + np.clip(np.linalg.solve(hessian, design.T @ (y - p)), -1.0, 1.0)
        size.append(np.abs(beta).max())
    settled = abs(size[-1] - size[-2]) < 1e-8
    assert settled == (separability(X, y).verdict == "overlapping")


def test_perceptron_mistakes_stay_below_the_bound_of_the_reported_hyperplane():
    """At most (R/γ)² corrections, R = max‖y‖, γ = min a·y/‖a‖ for any separating a: the one handed over is one."""
    random = np.random.default_rng(1)
    X = random.normal(size=(80, 3))
    y = X @ [1.0, -2.0, 0.5] > 0.3
    result = separability(X, y)
    rows = np.column_stack([np.ones(80), X]) * np.where(y, 1.0, -1.0)[:, None]
    gamma = (rows @ result.hyperplane).min() / np.linalg.norm(result.hyperplane)
    bound = (np.linalg.norm(rows, axis=1).max() / gamma) ** 2
    a, mistakes, clean, k = np.zeros(4), 0, 0, 0
    while clean < 80:
        if rows[k] @ a <= 0:
            a, mistakes, clean = a + rows[k], mistakes + 1, 0
        else:
            clean += 1
        k = (k + 1) % 80
    assert mistakes <= bound


def test_pairwise_separability_is_not_enough_for_a_linear_machine():
    """The boundaries of a linear machine for three classes meet in a point; a pinwheel forces three that do not."""
    X, y = [], []
    for k in range(3):
        along = np.array([np.cos(2 * np.pi * k / 3), np.sin(2 * np.pi * k / 3)])
        across = np.array([-along[1], along[0]])
        for t in (2.0, 12.0):  # two classes face each other along a line that misses the origin by one
            X += [t * along + 1.1 * across, t * along + 0.9 * across]
            y += [k, (k - 1) % 3]
    X, y = np.array(X), np.array(y)
    for pair in ([0, 1], [0, 2], [1, 2]):
        part = np.isin(y, pair)
        assert separability(X[part], y[part]).verdict == "separable"
    machine = separability(X, y)
    assert machine.verdict == "overlapping"
    assert machine.check()
    assert {*machine.witness.rivals.tolist()} == {0, 1, 2}


@pytest.mark.parametrize("seed", range(8))
def test_two_classes_as_a_machine_are_two_classes(seed):
    """Kesler's construction for K = 2 is sign normalisation: three classes, one of them far away, change nothing."""
    random = np.random.default_rng(seed)
    X = random.integers(-2, 3, size=(12, 2)).astype(float)
    y = random.integers(0, 2, size=12)
    y[:2] = [0, 1]
    two = separability(X, y).verdict
    far = np.vstack([X, [[1000.0, 1.0]]])
    three = separability(far, np.append(y, 2)).verdict
    assert (two == "separable") == (three == "separable")
