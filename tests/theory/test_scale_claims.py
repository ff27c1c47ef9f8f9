"""The books' scale: J, ∇J, η and θ as sums over the samples, as the textbooks print them, beside our means.

Every path is compared with the textbook's own loop (``transcriptions``), with the textbook's own η.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from discriminant import (
    Adaline,
    Discriminant,
    LinearMachine,
    LogisticRegression,
    Perceptron,
    SigmoidRegressionClassifier,
)
from discriminant.criteria import Quadratic
from discriminant.errors import MismatchError, ParameterError
from discriminant.optimize import LBFGS, GradientDescent, Inverse, Newton
from discriminant.penalties import Lasso, Ridge
from theory import transcriptions as naive

RNG = np.random.default_rng(5)
X = RNG.standard_normal((40, 3)) + np.repeat([[0.0], [1.2]], 20, axis=0)
Y = np.repeat([0, 1], 20)
N = len(Y)
SAMPLES = naive.normalised(X, Y)
quiet = pytest.mark.filterwarnings("ignore::discriminant.errors.DiscriminantWarning")


def path(model):
    return model.fit(X, Y).history_["weights"][:, :, 0]


@quiet
def test_batch_perceptron_has_the_textbooks_steps_criterion_and_errors():
    """a ← a + η(k) Σ_{y∈𝒴} y,  J_p = Σ_{y∈𝒴} −a·y,  ‖η Σ y‖ < θ."""
    model = Perceptron(mode="batch", scale="sum", eta0=Inverse(0.3), max_iter=25, threshold=1e-9, trace=True)
    theirs = naive.batch_perceptron(SAMPLES, lambda k: 0.3 / k, 1e-9, 25)
    np.testing.assert_allclose(path(model), theirs, atol=1e-12)
    scores = np.array(theirs) @ np.array(SAMPLES).T
    np.testing.assert_allclose(model.history_["objective"], -np.minimum(scores, 0).sum(axis=1), atol=1e-10)
    np.testing.assert_array_equal(model.history_["errors"], (scores <= 0).sum(axis=1))  # J = Σ 1(a·y ≤ 0)
    np.testing.assert_allclose(model.certificate_.objective, model.history_["objective"][-1])


@quiet
@pytest.mark.parametrize("eta", [0.5, 1.0, 3.0])
def test_batch_relaxation_takes_any_step_of_the_textbooks(eta):
    """a ← a + η Σ (b − a·y)/‖y‖² y: on sums η = 0.05 is our 2, which was refused; the textbook names no limit."""
    model = Perceptron(criterion="relaxation", margin=0.4, mode="batch", scale="sum", eta0=eta / 20, max_iter=20,
                       threshold=0, trace=True)  # fmt: skip
    theirs = np.array(naive.batch_relaxation(SAMPLES, 0.4, eta / 20, 20))
    ours = path(model)
    np.testing.assert_allclose(ours, theirs[: len(ours)], atol=1e-9 * np.abs(theirs).max())
    short = np.minimum(theirs[0] @ np.array(SAMPLES).T - 0.4, 0)
    length = np.square(SAMPLES).sum(axis=1)
    assert model.history_["objective"][0] == pytest.approx((short**2 / length).sum() / 2)


@quiet
def test_batch_quadratic_criterion_is_the_textbooks_sum_of_squares():
    """J_q = Σ (a·y)² over the misclassified,  ∇J_q = 2 Σ (a·y) y."""
    start = np.array([0.5, -1.0, 0.3, -0.2])
    optimizer = GradientDescent(step=0.003, iterations=30, threshold=0, scale="sum")
    model = Discriminant(criterion=Quadratic(margin=0.0), optimizer=optimizer, start=start, trace=True)
    np.testing.assert_allclose(path(model), naive.batch_quadratic(SAMPLES, start, 0.003, 30), atol=1e-12)
    wrong = np.minimum(start @ np.array(SAMPLES).T, 0)
    assert model.history_["objective"][0] == pytest.approx(np.square(wrong).sum())
    assert model.history_["gradient_norm"][0] == pytest.approx(np.linalg.norm(2 * wrong @ np.array(SAMPLES)))


@quiet
def test_batch_lms_has_the_textbooks_step():
    """a ← a − η Yᵗ(Ya − b),  E = ½ ‖Ya − b‖² (half of J_s)."""
    model = Adaline(mode="batch", scale="sum", eta0=0.004, threshold=1e-300, max_iter=60, trace=True)
    theirs = np.array(naive.batch_lms(SAMPLES, [1.0] * N, lambda k: 0.004, 60))
    np.testing.assert_allclose(path(model), theirs, atol=1e-12)
    residual = theirs @ np.array(SAMPLES).T - 1
    np.testing.assert_allclose(model.history_["objective"], np.square(residual).sum(axis=1) / 2)
    least = np.linalg.lstsq(np.array(SAMPLES), np.ones(N), rcond=None)[1][0] / 2
    assert model.certificate_.bound == pytest.approx(least)


@pytest.mark.parametrize("mode", ["batch", "single-sample"])
def test_the_steps_that_lms_chooses_itself_reach_the_same_minimum_on_both_scales(mode):
    mean, total = (Adaline(mode=mode, scale=scale).fit(X, Y) for scale in ("mean", "sum"))
    np.testing.assert_allclose(mean.coef_, total.coef_, rtol=1e-12)
    assert total.certificate_.objective == pytest.approx(N * mean.certificate_.objective)


@quiet
def test_logistic_descent_has_the_textbooks_step_and_cross_entropy():
    """Δw = η Σ (r − y) x, and E = −Σ r ln y + (1 − r) ln(1 − y) (Alpaydin, figure 10.6)."""
    optimizer = GradientDescent(step=0.02, iterations=15, threshold=0, scale="sum")
    model = LogisticRegression(C=np.inf, optimizer=optimizer, trace=True, random_state=3).fit(X, Y)
    weights = model.history_["weights"][:, :, 0]
    assert np.abs(weights[0]).max() < 0.01
    np.testing.assert_allclose(weights, naive.logistic_descent(X, Y, weights[0], 0.02, 15), atol=1e-13)
    p = 1 / (1 + np.exp(-(weights[-1][0] + X @ weights[-1][1:])))
    assert model.history_["objective"][-1] == pytest.approx(-np.log(np.where(Y == 1, p, 1 - p)).sum())


@quiet
def test_sigmoid_regression_and_linear_machines_take_the_scale_too():
    start = np.full((4, 1), 0.01)
    model = SigmoidRegressionClassifier(
        optimizer=GradientDescent(step=0.05, iterations=12, threshold=0), scale="sum", start=start, trace=True
    ).fit(X, Y)
    theirs = naive.sigmoid_regression_descent(X, Y[:, None], start, 0.05, 12)
    np.testing.assert_allclose(model.history_["weights"], theirs, atol=1e-12)
    codes = np.where(X[:, 0] > 1, 2, Y)
    machine = LinearMachine(
        "perceptron", optimizer=GradientDescent(step=1.0, iterations=20), scale="sum", trace=True
    ).fit(X, codes)
    explicit = naive.batch_perceptron(naive.kesler_samples(X, codes, 3), lambda k: 1.0, 1e-8, 20)
    np.testing.assert_allclose([A.T.ravel() for A in machine.history_["weights"]], explicit, atol=1e-10)


@pytest.mark.parametrize("optimizer", [Newton(), LBFGS(tolerance=1e-15)])
@pytest.mark.parametrize("penalty", [None, Ridge(0.1)])
def test_the_minimum_does_not_depend_on_the_scale(optimizer, penalty):
    mean, total = (
        Discriminant(penalty=penalty, optimizer=optimizer, scale=scale).fit(X, Y) for scale in ("mean", "sum")
    )
    np.testing.assert_allclose(mean.coef_, total.coef_, atol=1e-6)
    assert total.certificate_.objective == pytest.approx(N * mean.certificate_.objective)


def test_a_scale_that_has_no_meaning_is_refused():
    with pytest.raises(ValueError, match="scale"):
        Perceptron(scale="total").fit(X, Y)
    with pytest.raises(ParameterError, match="'mean' and 'sum'"):
        Discriminant(optimizer=GradientDescent(scale="total")).fit(X, Y)  # type: ignore[arg-type]
    codes = np.where(X[:, 0] > 1, 2, Y)
    with pytest.raises(MismatchError, match="unlike weight"):
        Discriminant(penalty=Lasso(0.1), coding="pairwise", scale="sum").fit(X, codes)


# Traces of single samples


@quiet
def test_a_traced_correction_lowers_its_own_part_and_may_raise_the_total_error():
    """−w⁽τ⁺¹⁾·φt = −w⁽τ⁾·φt − ‖φt‖² (PRML 4.56): the sample's own part falls; the total may rise, and does."""
    model = Perceptron(shuffle=False, tol=None, max_iter=30, trace=True, scale="sum").fit(X, Y)
    history, rows = model.history_, np.array(SAMPLES)
    weights = history["weights"][:, :, 0]
    own = -(weights * rows[history["sample"]]).sum(axis=1)[1:]
    before = -(weights[:-1] * rows[history["sample"][1:]]).sum(axis=1)
    np.testing.assert_allclose(own, before - np.square(rows[history["sample"][1:]]).sum(axis=1))
    total = -np.minimum(weights @ rows.T, 0).sum(axis=1)
    np.testing.assert_allclose(history["objective"], total, atol=1e-10)
    assert (np.diff(history["objective"]) > 0).any()
    np.testing.assert_array_equal(history["errors"], (weights @ rows.T <= 0).sum(axis=1))
    assert {"objective", "errors", "a0", "a3"} <= set(history.to_frame().columns)


@quiet
def test_traces_of_many_outputs_have_criterion_and_errors_too():
    codes = np.where(X[:, 0] > 1, 2, Y)
    for coding in ("one-vs-rest", "machine"):
        model = Perceptron(coding=coding, shuffle=False, tol=None, max_iter=4, trace=True).fit(X, codes)
        last = model.history_.to_frame().iloc[-1]
        assert last["errors"] == (model.predict(X) != codes).sum()
        np.testing.assert_allclose(model.history_["weights"][-1], model.discriminant_.weights, atol=1e-12)


@quiet
@pytest.mark.parametrize("optimizer", ["newton", "lbfgs", "conjugate-gradient", GradientDescent(iterations=40)])
def test_tracing_reads_the_rows_no_more_often(optimizer):
    """Criterion and weights are at hand; errors are counted when somebody looks, and are those of the weights."""
    plain, traced = (
        LogisticRegression(optimizer=optimizer, trace=trace, random_state=0).fit(X, Y) for trace in (False, True)
    )
    assert traced.certificate_.passes == plain.certificate_.passes
    np.testing.assert_array_equal(traced.coef_, plain.coef_)
    history = traced.history_
    sides = history["weights"][:, :, 0] @ np.c_[np.ones(N), X].T > 0
    some = [0, len(history) - 1]
    np.testing.assert_array_equal(history._at("errors", np.array(some)), (sides[some] != Y).sum(axis=1))
    np.testing.assert_array_equal(history["errors"], (sides != Y).sum(axis=1))
    np.testing.assert_array_equal(history.to_frame()["errors"], history["errors"])


# Newton's loop and iteratively reweighted least squares


def newton_of_the_book(X, t, theta):
    """do a ← a − H⁻¹∇J until ‖H⁻¹∇J‖ < θ, in sums."""
    rows, a = np.c_[np.ones(len(X)), X], np.zeros(X.shape[1] + 1)
    path = [a]
    while True:
        y = 1 / (1 + np.exp(-rows @ a))
        step = np.linalg.solve(rows.T @ ((y * (1 - y))[:, None] * rows), rows.T @ (y - t))
        a = a - step
        path.append(a)
        if np.linalg.norm(step) < theta:
            return np.array(path)


@pytest.mark.parametrize("theta", [1.0, 1e-2, 1e-6])
def test_newton_stops_where_the_textbooks_loop_does(theta):
    newton = Newton(threshold=theta, scale="sum")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = Discriminant(optimizer=newton, trace=True).fit(X, Y)
    theirs = newton_of_the_book(X, Y, theta)
    np.testing.assert_allclose(model.history_["weights"][:, :, 0], theirs, atol=1e-9)
    assert f"shorter than θ = {theta:g}" in model.certificate_.status
    # A step shorter than 1 leaves a twentieth of J to gain, and that is said.
    left = model.certificate_.objective - Discriminant(optimizer=Newton(scale="sum")).fit(X, Y).certificate_.objective
    assert model.certificate_.converged == (not told) == (left < 1e-8 * model.certificate_.objective)
    assert told if theta == 1.0 else theta == 0.01 or not told


def test_the_trace_of_newton_has_the_working_response_and_weights():
    """w_new = (ΦᵗRΦ)⁻¹ΦᵗR z,  z = Φw − R⁻¹(y − t) (PRML 4.99, 4.103)."""
    model = LogisticRegression(C=np.inf, optimizer="newton", trace=True).fit(X, Y)
    history, rows = model.history_, np.c_[np.ones(N), X]
    z, R = history["working_response"], history["working_weights"]
    assert z.shape == R.shape == (len(history), N, 1)
    full = np.flatnonzero(history["step"][1:] == 1)
    assert len(full) > 3
    for k in full:
        root = np.sqrt(R[k, :, 0])
        expected = np.linalg.lstsq(root[:, None] * rows, root * z[k, :, 0], rcond=None)[0]
        np.testing.assert_allclose(history["weights"][k + 1][:, 0], expected, atol=1e-8)
    assert "working_response" not in history.to_frame().columns
    assert "working_response" not in model.fit(X, Y).set_params(trace=False).fit(X, Y).history_


# A vector of margins


@quiet
@pytest.mark.parametrize("eta", [0.01, Inverse(0.05)])
def test_widrow_and_hoff_take_the_textbooks_vector_b(eta):
    """a ← a + η(k) (b_k − a·y^k) y^k, b_k > 0 of each sample."""
    b = RNG.uniform(0.5, 2.0, N)
    model = Adaline(eta0=eta, shuffle=False, max_iter=4, tol=0, trace=True).fit(X, Y, margin=b)
    rate = eta if callable(eta) else lambda k: eta
    path = naive.lms(SAMPLES, b, rate, 4 * N)
    np.testing.assert_allclose(model.history_["weights"][:, :, 0], path, atol=1e-12)


@pytest.mark.parametrize("scale", ["mean", "sum"])
def test_batch_lms_with_a_vector_b_ends_at_its_pseudo_inverse(scale):
    """a = Y†b, the MSE solution for any positive b; the classes are told as ever."""
    b = RNG.uniform(0.5, 2.0, N)
    model = Adaline(mode="batch", max_iter=20_000, threshold=1e-13, scale=scale).fit(X, Y, margin=b)
    np.testing.assert_allclose(model.discriminant_.weights[:, 0], np.linalg.pinv(np.array(SAMPLES)) @ b, atol=1e-9)
    assert model.certificate_.converged
    np.testing.assert_array_equal(model.predict(X), (model.decision_function(X) > 0).astype(int))
    assert model.get_params()["margin"] == 1.0


@quiet
def test_a_vector_b_goes_with_many_classes_and_is_checked():
    codes = np.where(X[:, 0] > 1, 2, Y)
    b = RNG.uniform(0.5, 2.0, N)
    model = Adaline(mode="batch", max_iter=20_000, threshold=1e-13).fit(X, codes, margin=b)
    for k in range(3):
        target = np.where(codes == k, b, -b)
        expected = np.linalg.lstsq(np.c_[np.ones(N), X], target, rcond=None)[0]
        np.testing.assert_allclose(model.discriminant_.weights[:, k], expected, atol=1e-8)
    assert model.classes_.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="row 3 has -1"):
        Adaline().fit(X, Y, margin=np.where(np.arange(N) == 3, -1.0, 1.0))
    with pytest.raises(ValueError, match="shape"):
        Adaline().fit(X, Y, margin=[1.0, 2.0])
    with pytest.raises(MismatchError, match="pairwise"):
        Adaline(coding="pairwise").fit(X, codes, margin=b)
    with pytest.raises(ParameterError, match="early_stopping"):
        Adaline(early_stopping=True).fit(X, Y, margin=b)
