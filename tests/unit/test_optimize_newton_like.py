"""Newton, L-BFGS and conjugate gradients: against SciPy, scikit-learn and statsmodels, and on hard problems."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import statsmodels.api as sm
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression

from discriminant import criteria, penalties
from discriminant.codings import make_coding
from discriminant.data import make_blocks
from discriminant.errors import MismatchError, ParameterError
from discriminant.objective import PointwiseObjective
from discriminant.optimize import LBFGS, ConjugateGradient, GradientDescent, Newton, ProximalGradient, make_optimizer
from discriminant.optimize.line_search import line_search
from discriminant.protocols import Oracle

IRIS, SPECIES = load_iris(return_X_y=True)
CANCER, BENIGN = load_breast_cancer(return_X_y=True)
second_order = pytest.mark.parametrize(
    "optimizer", [Newton(), LBFGS(), ConjugateGradient()], ids=lambda o: type(o).__name__
)


def objective(criterion, X, codes, coding="two-class", penalty=None, weight=None):
    made = make_coding(coding, int(codes.max()) + 1, labels=criterion.labels)
    return PointwiseObjective(make_blocks(X, codes, weight), criterion, made, penalty)


def zeros(J):
    return np.zeros((J.n_parameters, J.n_outputs))


def test_newton_is_iteratively_reweighted_least_squares():
    """w ← (Φ'RΦ)⁻¹Φ'R z with z = Φw − R⁻¹(y − t) (PRML 4.99), step by step."""
    codes = (SPECIES == 2).astype(int)
    Y = np.hstack([np.ones((150, 1)), IRIS])
    w, path = np.zeros(5), []
    for _ in range(8):
        y = 1 / (1 + np.exp(-Y @ w))
        R = y * (1 - y)
        z = Y @ w - (y - codes) / R
        w = np.linalg.solve(Y.T @ (Y * R[:, None]), Y.T @ (R * z))
        path.append(w)
    found = Newton(trace=True).minimize(objective(criteria.Logistic(), IRIS, codes), np.zeros((5, 1)))
    np.testing.assert_allclose(found.history["weights"][1:9, :, 0], path, rtol=1e-9)
    theirs = sm.Logit(codes, Y).fit(disp=0)
    np.testing.assert_allclose(found.weights[:, 0], theirs.params, rtol=1e-7)


@pytest.mark.parametrize("coding", ["one-of-k", "pairwise"])
def test_newton_on_a_quadratic_takes_one_step(coding):
    J = objective(criteria.Squared(), IRIS, SPECIES, coding)
    found = Newton().minimize(J, zeros(J) + 3.0)
    assert found.iterations == 1
    assert "after 1 step:" in found.status
    assert found.gradient_norm < 1e-11


def test_newton_halves_its_step_where_a_full_one_rises():
    """From far out on one side the full Newton step of the logistic criterion overshoots."""
    X = np.array([[-2.0], [-1.0], [1.0], [2.0], [1.5]])
    J = objective(criteria.Logistic(), X, np.array([0, 0, 1, 1, 0]))
    found = Newton().minimize(J, np.array([[0.0], [-9.0]]))
    assert found.converged
    assert (found.history["step"][1:] < 1).any()
    assert (np.diff(found.history["objective"]) < 0).all()


def test_newton_finds_its_way_where_the_criterion_bends_downwards():
    codes = (SPECIES == 2).astype(int)
    J = objective(criteria.SigmoidSquared(), IRIS, codes, penalty=penalties.Ridge(1e-3))
    found = Newton().minimize(J, zeros(J) + 0.5)
    assert found.converged
    assert found.gradient_norm < 1e-10
    assert np.linalg.eigvalsh(J.hessian(found.weights)[0])[0] > 0


def test_textbook_threshold_ends_newton():
    J = objective(criteria.Logistic(), IRIS, (SPECIES == 2).astype(int))
    loose = Newton(threshold=1.0).minimize(J, zeros(J))
    tight = Newton().minimize(J, zeros(J))
    assert loose.converged
    assert loose.iterations < tight.iterations


@second_order
def test_softmax_with_ridge_equals_scikit_learn(optimizer):
    J = objective(criteria.Softmax(), IRIS, SPECIES, "softmax", penalties.Ridge(penalties.strength_from_C(1.0, 150)))
    found = optimizer.minimize(J, zeros(J))
    assert found.converged
    theirs = LogisticRegression(C=1.0, solver="newton-cg", tol=1e-12, max_iter=1000).fit(IRIS, SPECIES)
    np.testing.assert_allclose(found.weights[1:].T, theirs.coef_, atol=1e-5)
    assert found.gradient_norm < 1e-5
    best = Newton().minimize(J, zeros(J)).objective
    assert found.objective == pytest.approx(best, rel=1e-10)


def test_newton_needs_no_scaling():
    """Breast cancer as it comes: scikit-learn's default stops 30 % above this."""
    J = objective(criteria.Logistic(), CANCER, BENIGN, penalty=penalties.Ridge(1 / len(BENIGN)))
    found = Newton().minimize(J, zeros(J))
    assert found.converged
    assert found.iterations < 15
    units = 10.0 ** np.random.default_rng(0).uniform(-6, 6, 30)
    penalty = penalties.Ridge(1 / len(BENIGN), factors=tuple(units**2))
    other = Newton().minimize(objective(criteria.Logistic(), CANCER * units, BENIGN, penalty=penalty), zeros(J))
    np.testing.assert_allclose(other.weights[1:, 0] * units, found.weights[1:, 0], rtol=1e-6)
    assert other.objective == pytest.approx(found.objective, rel=1e-12)


def test_unpenalised_softmax_takes_the_shortest_weights():
    """Adding one vector to all classes changes nothing; the null space is left alone, so that the sum stays zero."""
    rng = np.random.default_rng(1)
    codes = rng.integers(3, size=100)
    X = rng.standard_normal((100, 2)) + 0.5 * codes[:, None]
    J = objective(criteria.Softmax(), X, codes, "softmax")
    found = Newton().minimize(J, zeros(J))
    assert found.converged
    np.testing.assert_allclose(found.weights.sum(axis=1), 0, atol=1e-10)
    reference = objective(criteria.Softmax(reference=True), X, codes, "reference")
    other = Newton().minimize(reference, zeros(reference))
    np.testing.assert_allclose(other.weights, found.weights[:, :2] - found.weights[:, 2:], atol=1e-8)


@second_order
def test_separable_rows_have_no_minimum_and_that_is_said(optimizer):
    J = objective(criteria.Logistic(), IRIS, (SPECIES == 0).astype(int))
    found = optimizer.minimize(J, zeros(J))
    assert found.status.startswith("No minimum exists")
    assert not found.converged
    assert J.errors(found.weights) == 0


@second_order
def test_one_separable_output_of_several_is_noticed(optimizer):
    J = objective(criteria.Logistic(), IRIS, SPECIES, "one-vs-rest")
    found = optimizer.minimize(J, zeros(J))
    assert found.status.startswith("No minimum exists")


def test_quasi_separable_rows_are_noted():
    """All rows of one class lie on the boundary or beyond: J has an infimum that no weights reach."""
    X = np.array([[0.0], [0.0], [0.0], [1.0], [2.0], [3.0]])
    J = objective(criteria.Logistic(), X, np.array([0, 1, 0, 1, 1, 1]))
    found = Newton().minimize(J, zeros(J))
    assert any("quasi-separable" in note for note in found.notes)


def test_firth_equals_an_independent_fit():
    """Modified scores Σ (t − p + h(½ − p)) y = 0, solved here by plain iteration on arrays."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((25, 2))
    codes = (X[:, 0] + 0.3 * rng.standard_normal(25) > 0.8).astype(int)
    Y = np.hstack([np.ones((25, 1)), X])
    a = np.zeros(3)
    for _ in range(500):
        p = 1 / (1 + np.exp(-Y @ a))
        W = p * (1 - p)
        inverse = np.linalg.inv(Y.T @ (Y * W[:, None]))
        h = W * np.einsum("ij,jk,ik->i", Y, inverse, Y)
        a = a + 0.5 * inverse @ (Y.T @ (codes - p + h * (0.5 - p)))
    J = objective(criteria.Logistic(), X, codes, penalty=penalties.Jeffreys())
    for optimizer in (Newton(), LBFGS(), ConjugateGradient()):
        found = optimizer.minimize(J, zeros(J))
        assert found.converged, found.status
        np.testing.assert_allclose(found.weights[:, 0], a, atol=1e-6)


@second_order
def test_too_few_iterations_are_said(optimizer):
    J = objective(criteria.Logistic(), CANCER, BENIGN, penalty=penalties.Ridge(1e-3))
    short = type(optimizer)(iterations=2).minimize(J, zeros(J))
    assert short.status.startswith("Not converged after 2 steps")
    assert not short.converged
    assert short.iterations == 2


@second_order
def test_callback_and_trace(optimizer):
    J = objective(criteria.Logistic(), IRIS, (SPECIES == 2).astype(int))
    found = type(optimizer)(callback=lambda step: step.k == 3, trace=True, count_errors=True).minimize(J, zeros(J))
    assert found.status == "Stopped by the callback at step 3."
    assert found.history["weights"].shape == (4, 5, 1)
    assert found.history["errors"][-1] == J.errors(found.weights)


def test_conjugate_gradient_on_a_quadratic_needs_no_more_steps_than_weights():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 6))
    J = objective(criteria.Squared(), X, rng.integers(2, size=200))
    assert ConjugateGradient(tolerance=1e-8).minimize(J, zeros(J)).iterations <= 8  # 7 weights, and rounding


def test_preconditioned_lbfgs_is_nearly_newton():
    J = objective(criteria.Logistic(), CANCER, BENIGN, penalty=penalties.Ridge(1e-2))
    inverse = np.linalg.pinv(J.hessian(zeros(J))[0], hermitian=True)
    plain = LBFGS().minimize(J, zeros(J))
    helped = LBFGS(preconditioner=lambda G: inverse @ G).minimize(J, zeros(J))
    assert helped.converged
    assert helped.passes < plain.passes / 10
    assert helped.objective <= plain.objective * (1 + 1e-9)


def test_lasso_by_proximal_steps_equals_scikit_learn():
    X = (CANCER - CANCER.mean(axis=0)) / CANCER.std(axis=0)
    J = objective(criteria.Logistic(), X, BENIGN, penalty=penalties.Lasso(0.02))
    found = ProximalGradient().minimize(J, zeros(J))
    assert found.converged
    theirs = LogisticRegression(
        C=1 / (0.02 * len(BENIGN)), l1_ratio=1.0, solver="saga", tol=1e-10, max_iter=20_000, random_state=0
    ).fit(X, BENIGN)
    np.testing.assert_allclose(found.weights[1:, 0], theirs.coef_[0], atol=1e-5)
    np.testing.assert_array_equal(found.weights[1:, 0] != 0, theirs.coef_[0] != 0)


@dataclass(frozen=True)
class Rosenbrock:
    """An objective that is no sum over rows: optimizers know the protocol and nothing else."""

    oracles = Oracle.VALUE | Oracle.GRADIENT | Oracle.CURVATURE

    def value_and_gradient(self, A):
        x, y = A[:, 0]
        value = (1 - x) ** 2 + 100 * (y - x * x) ** 2
        return value, np.array([[2 * (x - 1) - 400 * x * (y - x * x)], [200 * (y - x * x)]])

    def hessian(self, A):
        x, y = A[:, 0]
        return np.array([[[2 - 400 * (y - 3 * x * x), -400 * x], [-400 * x, 200.0]]])

    def along(self, A, D, steps):
        return np.array([self.value_and_gradient(A + s * D)[0] for s in steps])


@second_order
def test_any_objective_with_the_protocol_will_do(optimizer):
    found = optimizer.minimize(Rosenbrock(), np.array([[-1.2], [1.0]]))
    np.testing.assert_allclose(found.weights[:, 0], 1.0, atol=1e-6)
    assert found.converged
    with pytest.raises(MismatchError, match="has rows to count"):
        type(optimizer)(count_errors=True).minimize(Rosenbrock(), np.zeros((2, 1)))
    with pytest.raises(MismatchError, match="objective with rows"):
        GradientDescent(patience=3).minimize(Rosenbrock(), np.zeros((2, 1)))


def test_line_search_meets_the_wolfe_conditions():
    A, J = np.array([[-1.2], [1.0]]), Rosenbrock()
    value, gradient = J.value_and_gradient(A)
    for first in (1e-8, 1e-3, 1.0, 100.0):
        found = line_search(J, A, -gradient, value, gradient, first=first, flat=0.1)
        slope = float((gradient * -gradient).sum())
        assert found.value <= value + 1e-4 * found.step * slope
        assert abs(float((found.gradient * -gradient).sum())) <= 0.1 * abs(slope)


def test_line_search_up_hill_gains_nothing():
    A, J = np.array([[-1.2], [1.0]]), Rosenbrock()
    value, gradient = J.value_and_gradient(A)
    assert line_search(J, A, gradient, value, gradient).step == 0.0


def test_optimizers_by_name():
    assert make_optimizer("L_BFGS".replace("_", ""), memory=3) == LBFGS(memory=3)
    assert make_optimizer("conjugate_gradient") == ConjugateGradient()
    given = Newton()
    assert make_optimizer(given) is given
    with pytest.raises(ParameterError, match=r"no optimizer 'adam'.*'single-sample'"):
        make_optimizer("adam")
    with pytest.raises(ParameterError, match="`needs` and `minimize`"):
        make_optimizer(3)


@pytest.mark.parametrize("strength", [1e-9, 1e-5, 0.1])
def test_newton_on_the_softmax_is_quadratic_wherever_it_starts(strength):
    """A start whose outputs' weights do not sum to zero: their sum has the penalty's curvature alone."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3_000, 3))
    codes = (X[:, 0] + rng.logistic(size=3_000) > 0).astype(int)
    codes[:20] = 2
    J = objective(criteria.Softmax(), X, codes, "softmax", penalties.Ridge(strength))
    found = Newton().minimize(J, rng.uniform(-1, 1, (4, 3)))
    assert found.converged
    assert found.iterations <= 15
    np.testing.assert_allclose(found.weights[1:].sum(axis=1), 0, atol=1e-9)
