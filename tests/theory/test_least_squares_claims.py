"""What the textbooks claim of least squares on class targets: rows L1, L3, L4 and L5 of the mission."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discriminant import FisherDiscriminant, LeastSquaresClassifier, LinearDiscriminantAnalysis
from discriminant.errors import CollinearityWarning


def _classes(seed: int, K: int = 3, n: int = 120, d: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(K), rng.integers(0, K, n - K)])
    return rng.standard_normal((n, d)) + 2 * rng.standard_normal((K, d))[y], y


def _weights(model: LeastSquaresClassifier) -> np.ndarray:
    return np.vstack([model.intercept_, model.coef_.T])


def _augmented(X: np.ndarray) -> np.ndarray:
    return np.column_stack([np.ones(len(X)), X])


# L1


@given(st.integers(0, 30))
def test_l1_any_positive_b_on_sign_normalised_samples(seed):
    """a = Y†b, Y with the rows of the other class negated, b > 0 arbitrary, one for each sample."""
    X, y = _classes(seed, K=2)
    b = np.random.default_rng(seed).uniform(0.1, 5.0, len(y))
    Y = _augmented(X) * np.where(y == 1, 1.0, -1.0)[:, None]
    model = LeastSquaresClassifier().fit(X, y, margin=b)
    np.testing.assert_allclose(_weights(model)[:, 0], np.linalg.pinv(Y) @ b, rtol=1e-9, atol=1e-12)
    # ∇J_s = 2 Yᵗ(Ya − b) = 0
    a = _weights(model)[:, 0]
    assert np.abs(Y.T @ (Y @ a - b)).max() < 1e-10 * np.abs(Y.T @ b).max()


def test_l1_a_margin_for_each_class_is_a_margin_for_its_rows():
    X, y = _classes(3, K=2)
    by_class = LeastSquaresClassifier(margin={0: 0.5, 1: 3.0}).fit(X, y)
    by_row = LeastSquaresClassifier().fit(X, y, margin=np.where(y == 1, 3.0, 0.5))
    np.testing.assert_allclose(_weights(by_class), _weights(by_row), rtol=1e-12)


@pytest.mark.parametrize("kind", ["repeated", "dependent", "constant", "wide"])
def test_l1_rank_deficient_data_by_the_pseudo_inverse(kind):
    """YᵗY has no inverse; a = Y†b is the smallest of all solutions."""
    X, y = _classes(5)
    X = {
        "repeated": np.column_stack([X, X[:, 1]]),
        "dependent": np.column_stack([X, X[:, 0] - 2 * X[:, 1] + 3]),
        "constant": np.column_stack([np.full(len(X), 7.0), X]),
        "wide": np.random.default_rng(0).standard_normal((len(X), 200)) + 1.0,
    }[kind]
    Y, T = _augmented(X), np.eye(3)[y]
    with pytest.warns(CollinearityWarning, match="pseudo-inverse"):
        model = LeastSquaresClassifier().fit(X, y)
    np.testing.assert_allclose(_weights(model), np.linalg.pinv(Y) @ T, rtol=1e-9, atol=1e-12)


# L3


@given(st.integers(0, 30), st.floats(-1e3, 1e3))
def test_l3_outputs_sum_to_one_everywhere(seed, far):
    """1-of-K targets sum to one, so do the outputs for any x, though they leave (0, 1)."""
    X, y = _classes(seed, K=4)
    outputs = LeastSquaresClassifier().fit(X, y).decision_function(X + far)
    np.testing.assert_allclose(outputs.sum(axis=1), 1.0, rtol=0, atol=1e-9 * (1 + abs(far)))


def test_l3_outputs_are_no_probabilities():
    X, y = _classes(1, K=3)
    outputs = LeastSquaresClassifier().fit(X, y).decision_function(X)
    assert outputs.min() < 0
    assert outputs.max() > 1


@given(st.integers(0, 30))
def test_l3_any_linear_constraint_on_targets_holds_for_predictions(seed):
    """a·t_n + b = 0 for all n: a·y(x) + b = 0 for all x."""
    rng = np.random.default_rng(seed)
    X, y = _classes(seed, K=4)
    a, b = rng.uniform(0.5, 2.0, 3), rng.standard_normal()
    targets = rng.standard_normal((4, 3))
    targets[:, 2] = -(targets[:, :2] @ a[:2] + b) / a[2]
    model = LeastSquaresClassifier(coding=targets).fit(X, y)
    outputs = model.discriminant_.scores(10 * rng.standard_normal((50, 4)))
    assert np.abs(outputs @ a + b).max() < 1e-9


# L4


@given(st.integers(0, 30))
def test_l4_fishers_targets_give_fishers_direction_and_bias(seed):
    """t = N/N1 and −N/N2: w ∝ S_W⁻¹(m1 − m2), w0 = −w·m."""
    X, y = _classes(seed, K=2)
    model = LeastSquaresClassifier(coding="fisher").fit(X, y)
    N, N1 = len(y), int((y == 1).sum())
    np.testing.assert_allclose(model.targets_.ravel(), [-N / (N - N1), N / N1], rtol=1e-15)
    w, direction = model.coef_[0], FisherDiscriminant().fit(X, y).coef_[0]
    np.testing.assert_allclose(w / np.linalg.norm(w), direction / np.linalg.norm(direction), rtol=1e-9, atol=1e-12)
    assert model.intercept_[0] == pytest.approx(-w @ X.mean(axis=0), rel=1e-9, abs=1e-12)


def test_l4_the_normal_equations_of_fishers_targets():
    """(S_W + (N1 N2/N) S_B) w = N (m1 − m2), PRML (4.37), with C1 the class of the positive target."""
    X, y = _classes(2, K=2)
    m1, m2 = X[y == 1].mean(axis=0), X[y == 0].mean(axis=0)
    N1, N2 = int((y == 1).sum()), int((y == 0).sum())
    within = sum((X[y == k] - m).T @ (X[y == k] - m) for k, m in ((1, m1), (0, m2)))
    w = LeastSquaresClassifier(coding="fisher").fit(X, y).coef_[0]
    left = (within + N1 * N2 / len(y) * np.outer(m1 - m2, m1 - m2)) @ w
    np.testing.assert_allclose(left, len(y) * (m1 - m2), rtol=1e-10)


def test_l4_decides_for_the_first_class_where_w_times_x_less_the_mean_is_positive():
    """E (4.38) set right: the rule "C1 if w·(x − m) > 0" goes with m1 − m2."""
    X, y = _classes(4, K=2)
    model = LeastSquaresClassifier(coding="fisher").fit(X, y)
    positive = (X - X.mean(axis=0)) @ model.coef_[0] > 0
    assert (model.predict(X) == positive).all()
    assert model.coef_[0] @ (X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)) > 0


# L5


def test_l5_far_correct_points_pull_the_boundary():
    """E fig. 4.4: points far on the correct side make errors where there were none."""
    rng = np.random.default_rng(0)
    height = np.linspace(-4, 4, 50)
    X = np.column_stack([np.r_[np.full(50, -1.0), np.full(50, 1.0)] + rng.normal(0, 0.2, 100), np.r_[height, height]])
    y = np.repeat([0, 1], 50)
    before = LeastSquaresClassifier().fit(X, y)
    far = rng.normal((20, -15), 0.5, (20, 2))
    assert (before.predict(X) == y).all()
    assert (before.predict(far) == 1).all()
    assert before.decision_function(far).min() > 10  # "too correct"
    after = LeastSquaresClassifier().fit(np.vstack([X, far]), np.r_[y, np.ones(20, dtype=int)])
    assert (after.predict(X) != y).sum() > 10


def test_l5_the_middle_class_of_three_is_masked():
    """E fig. 4.5: on a line of three classes the middle output is never the largest; LDA tells them apart."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], 100)
    X = rng.standard_normal((300, 2)) * 0.4 + np.outer(y - 1.0, [4.0, 4.0])
    X, y = np.vstack([X, -X]), np.r_[y, 2 - y]  # symmetric: what is left is the fault of the method
    model = LeastSquaresClassifier().fit(X, y)
    assert (model.predict(X[y == 1]) != 1).all()
    assert np.mean(model.predict(X[y != 1]) == y[y != 1]) == 1.0
    # Its output is flat at its share of the rows: the line of best fit through 0, 1, 0.
    np.testing.assert_allclose(model.decision_function(X)[:, 1], 1 / 3, rtol=1e-12)
    assert LinearDiscriminantAnalysis().fit(X, y).score(X, y) == 1.0


def test_l5_separable_data_need_not_be_separated():
    """B: the LMS solution minimises squared distances and may miss a separating line that exists."""
    X = np.array([[-1.0, 0], [-2, 1], [-1, -1], [1, 0], [1, 1], [200, -60]])
    y = np.array([0, 0, 0, 1, 1, 1])
    assert (np.sign(X[:, 0]) == np.where(y == 1, 1, -1)).all()  # x = 0 separates
    assert LeastSquaresClassifier().fit(X, y).score(X, y) < 1.0
