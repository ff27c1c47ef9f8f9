"""Where the documents that this package follows are wrong: the formula as printed fails, the right one holds."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

from discriminant import (
    Adaline,
    Discriminant,
    FisherDiscriminant,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    Perceptron,
    sample_size,
    shatters,
)
from discriminant.codings import make_coding
from discriminant.criteria import Logistic, Relaxation, Softmax
from discriminant.data import make_blocks
from discriminant.objective import PointwiseObjective
from discriminant.optimize import GradientDescent, Inverse, Newton

IRIS = load_iris()
RNG = np.random.default_rng(11)


def objective(criterion, coding, X, codes):
    return PointwiseObjective(
        make_blocks(X, codes), criterion, make_coding(coding, int(codes.max()) + 1, labels=(0, 1))
    )


def numerical_hessian(J, A, h=1e-5):
    """From differences of gradients, outputs outermost."""
    size = A.size
    H = np.empty((size, size))
    for k in range(size):
        move = np.zeros(size)
        move[k] = h
        move = move.reshape(A.shape[::-1]).T
        change = (J.value_and_gradient(A + move)[1] - J.value_and_gradient(A - move)[1]) / (2 * h)
        H[k] = change.T.ravel()
    return H


def test_the_softmax_hessian_is_positive_not_negative():
    """C prints −Σ y_k(δ_kj − y_j)φφ'; the Hessian of the cross-entropy carries a plus and has no negative direction."""
    X, codes = IRIS.data, IRIS.target
    J = objective(Softmax(), "softmax", X, codes)
    A = RNG.normal(size=(5, 3)) / 5
    H = J.hessian(A)
    assert np.abs(H - numerical_hessian(J, A)).max() < 1e-6
    assert np.linalg.eigvalsh(H).min() > -1e-12
    Y = np.column_stack([np.ones(150), X])
    p = np.exp(Y @ A) / np.exp(Y @ A).sum(axis=1, keepdims=True)
    k, j = 0, 1
    block = (Y * (p[:, k] * ((k == j) - p[:, j]))[:, None]).T @ Y / 150
    assert np.abs(H[:5, 5:10] - block).max() < 1e-12


def test_the_logistic_gradient_is_the_mean_of_p_minus_y():
    """D prints Σ(y − p)x and subtracts it, which climbs; (1/m)Σ(p − y)x goes down, and the Hessian is positive."""
    X, codes = IRIS.data[50:], IRIS.target[50:] - 1
    J = objective(Logistic(), "two-class", X, codes)
    A = RNG.normal(size=(5, 1)) / 10
    Y = np.column_stack([np.ones(100), X])
    p = 1 / (1 + np.exp(-Y @ A))
    value, gradient = J.value_and_gradient(A)
    right, printed = Y.T @ (p - codes[:, None]) / 100, Y.T @ (codes[:, None] - p)
    assert np.abs(gradient - right).max() < 1e-14
    assert J.value(A - 1e-3 * right) < value < J.value(A - 1e-3 * printed)
    H = J.hessian(A)[0]
    assert np.abs(H - (Y * (p * (1 - p))).T @ Y / 100).max() < 1e-13
    assert np.linalg.eigvalsh(H).min() > 0


def test_newton_can_be_applied_to_logistic_regression():
    """D's remark 6 says that it cannot, since the Hessian depends on w; iterated and guarded by halving, it arrives."""
    X, y = IRIS.data[50:], IRIS.target[50:]
    model = LogisticRegression(C=np.inf, optimizer="newton").fit(X, y)
    best = LogisticRegression(C=np.inf).fit(X, y)
    assert model.certificate_.converged
    assert model.n_iter_[0] < 15
    assert np.abs(model.coef_ - best.coef_).max() < 1e-6


def test_a_full_newton_step_may_overshoot_and_a_halved_one_does_not():
    """From weights where the sigmoid is saturated the full step raises J; step-halving never does."""
    X, y = np.array([[-2.0], [-1.0], [1.0], [2.0], [1.5]]), np.array([0, 0, 1, 1, 0])
    model = Discriminant(start=np.array([0.0, 6.0]), optimizer=Newton(), trace=True).fit(X, y)
    steps, J = model.history_["step"][1:], model.history_["objective"]
    assert steps.min() < 1
    assert (np.diff(J) <= 1e-12).all()
    assert model.certificate_.converged


def test_relaxation_counts_every_row_short_of_the_margin():
    """Summed over a·y ≤ 0, as B prints, the criterion jumps where a row crosses zero; over a·y ≤ b it does not."""
    b, z = 1.0, np.array([-1e-9, 1e-9])
    ours = Relaxation(margin=b).value(np.ones(2), z)
    printed = np.where(z <= 0, (z - b) ** 2 / 2, 0.0)
    assert abs(ours[1] - ours[0]) < 1e-8
    assert abs(printed[1] - printed[0]) > 0.4
    near = Relaxation(margin=b).value(np.ones(2), np.array([b - 1e-9, b + 1e-9]))
    assert near.max() < 1e-17


def test_the_variable_increment_carries_its_step_size():
    """B's first display is a + y; the procedure adds η(k) y."""
    X, y = np.array([[1.0], [-1.0], [0.5]]), np.array([1, 0, 1])
    model = Perceptron(eta0=Inverse(0.25), margin=0.1, shuffle=False, tol=None, trace=True).fit(X, y)
    path = model.history_.weights()[:, :, 0]
    for k, (i, change) in enumerate(zip(model.history_["sample"][1:], np.diff(path, axis=0), strict=True), 1):
        assert change == pytest.approx(0.25 / k * (2 * y[i] - 1) * np.array([1.0, X[i, 0]]), abs=1e-15)


def test_the_softmax_update_uses_the_input_of_its_own_weight():
    """Figure 10.8 prints Δw_ij += (r_i − y_i) x_i; with x_j it is the gradient, with x_i it is not."""
    X, codes = IRIS.data, IRIS.target
    optimizer = GradientDescent(step=0.01, iterations=1, threshold=0)
    with pytest.warns(UserWarning, match="Not converged"):
        model = Discriminant(criterion="softmax", optimizer=optimizer, trace=True).fit(X, codes)
    change = np.diff(model.history_["weights"], axis=0)[0]
    Y, R = np.column_stack([np.ones(150), X]), np.eye(3)[codes]
    right = 0.01 * Y.T @ (R - 1 / 3) / 150
    printed = 0.01 * np.array([[((R[:, i] - 1 / 3) * Y[:, i]).sum() for i in range(3)] for _ in range(5)]) / 150
    assert np.abs(change - right).max() < 1e-15
    assert np.abs(change - printed).max() > 1e-4


@pytest.mark.parametrize("D", [1, 2, 7])
def test_lda_has_one_parameter_fewer_than_the_lecture_counts(D):
    """C prints (D + 1)(D + 4)/2; two means, a symmetric matrix and one prior are D(D + 5)/2 + 1, one fewer."""
    X = RNG.normal(size=(60, D))
    found = LinearDiscriminantAnalysis().fit(X, np.arange(60) % 2).number_of_parameters()
    assert found == 2 * D + D * (D + 1) // 2 + 1 == D * (D + 5) // 2 + 1 == (D + 1) * (D + 4) // 2 - 1


def test_three_points_on_a_line_are_not_shattered_though_they_are_d_plus_one():
    """D's remark says any d + 1 points; it needs points in general position."""
    assert shatters([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert not shatters([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])


def test_only_the_eigenvectors_of_the_whitened_scatter_keep_the_criterion():
    """E (4.1.6) projects on the eigenvectors of S_B, which changes J; those of S_W⁻¹S_B keep it."""
    X, y = IRIS.data, IRIS.target
    fisher = FisherDiscriminant().fit(X, y)
    within, between = fisher.within_scatter_, fisher.between_scatter_
    whole = np.trace(np.linalg.solve(within, between))
    printed = np.linalg.eigh(between)[1][:, -2:]
    assert fisher.criterion(fisher.scalings_) == pytest.approx(whole, rel=1e-10)
    assert fisher.criterion(printed) < 0.99 * whole


def test_the_notes_trace_criterion_has_the_projection_on_the_wrong_side():
    """D (4.2) prints W S Wᵗ with W of shape (d, K): the shapes do not fit; WᵗSW has them."""
    fisher = FisherDiscriminant().fit(IRIS.data, IRIS.target)
    W = fisher.scalings_
    with pytest.raises(ValueError, match="matmul"):
        W @ fisher.within_scatter_ @ W.T
    J = np.trace(np.linalg.solve(W.T @ fisher.within_scatter_ @ W, W.T @ fisher.between_scatter_ @ W))
    assert fisher.criterion_ == pytest.approx(J, rel=1e-10)


def test_the_sample_size_grows_with_d_log_one_over_epsilon():
    """D prints (d + log 1/δ)/ε as an upper bound; that which is proved has d log(1/ε), and grows past any multiple."""
    growth = [sample_size(50, epsilon, 0.05) * epsilon / 51 for epsilon in (0.1, 0.01, 0.001)]
    assert growth[0] < growth[1] < growth[2]
    steps = np.diff(growth)
    np.testing.assert_allclose(steps[1], steps[0], rtol=0.35)  # a logarithm adds the same for every factor of ten


def test_lms_minimises_squared_errors_not_squared_distances():
    """B says that LMS minimises the distance to the hyperplane: Σ(a·y − b)² is that for ‖w‖ fixed only."""
    X = np.array([[-1.0, 0.0], [-2.0, 0.3], [1.0, 0.2], [5.0, -0.4]])
    y = np.array([0, 0, 1, 1])
    model = Adaline(mode="batch", max_iter=20_000, threshold=1e-13).fit(X, y)
    a, Y, t = model.discriminant_.weights[:, 0], np.c_[np.ones(4), X], np.where(y == 1, 1.0, -1.0)
    np.testing.assert_allclose(Y.T @ (Y @ a - t), 0, atol=1e-9)  # the normal equations of Σ(a·y − b)²

    def distance(a):
        return np.square(Y @ a / np.linalg.norm(a[1:])).sum()

    nearer = [a + 0.05 * np.eye(3)[k] * sign for k in range(3) for sign in (-1, 1)]
    assert min(map(distance, nearer)) < distance(a)  # so that the squared distances are not least there


@pytest.mark.parametrize("w0", [-3.0, 2.0])
def test_the_distance_of_the_origin_has_the_sign_of_w0_along_w(w0):
    """A prints w0/‖w‖, D −w0/‖w‖: signed along w, on the side where g > 0 counts positive, it is w0/‖w‖."""
    from discriminant.geometry import Hyperplane

    plane = Hyperplane([3.0, 4.0], w0)
    assert plane.distance([[0.0, 0.0]])[0] == pytest.approx(w0 / 5)
    foot = plane.project([[0.0, 0.0]])[0]
    assert foot @ np.array([3.0, 4.0]) / 5 == pytest.approx(-w0 / 5)  # where the plane lies, seen from the origin
