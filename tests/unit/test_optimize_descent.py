"""Gradient descent against naive transcriptions, and what it says when the step is wrong."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.datasets import load_iris

from discriminant import criteria, penalties
from discriminant.codings import make_coding
from discriminant.data import make_blocks
from discriminant.errors import MismatchError, ParameterError
from discriminant.objective import PointwiseObjective
from discriminant.optimize import GradientDescent, Inverse

IRIS, SPECIES = load_iris(return_X_y=True)
Y = np.hstack([np.ones((150, 1)), IRIS])
SETOSA = (SPECIES == 0).astype(int)
VIRGINICA = (SPECIES == 2).astype(int)


def objective(criterion, codes=VIRGINICA, coding="two-class", penalty=None, X=IRIS):
    made = make_coding(coding, int(codes.max()) + 1, labels=criterion.labels)
    return PointwiseObjective(make_blocks(X, codes), criterion, made, penalty)


def test_logistic_two_classes_is_the_pseudocode():
    """A fig. 10.6: o = Σ w_j x_j, y = sigmoid(o), Δw_j += (r − y) x_j, w_j += η Δw_j; a sum, so ours takes nη."""
    rng = np.random.default_rng(0)
    w = first = rng.uniform(-0.01, 0.01, 5)
    for _ in range(50):
        change = np.zeros(5)
        for x, r in zip(Y, VIRGINICA, strict=True):
            y = 1 / (1 + np.exp(-(w @ x)))
            for j in range(5):
                change[j] += (r - y) * x[j]
        w = w + 0.0005 * change
    found = GradientDescent(0.0005 * 150, iterations=50, trace=True).minimize(
        objective(criteria.Logistic()), first[:, None]
    )
    np.testing.assert_allclose(found.weights[:, 0], w, atol=1e-12)
    assert len(found.history) == 51
    np.testing.assert_allclose(found.history["weights"][0, :, 0], first)


def test_logistic_many_classes_is_the_pseudocode():
    """A fig. 10.8 with its slip mended: Δw_ij += (r_i − y_i) x_j."""
    w = np.zeros((3, 5))
    for _ in range(30):
        change = np.zeros((3, 5))
        for x, label in zip(Y, SPECIES, strict=True):
            o = w @ x
            y = np.exp(o) / np.exp(o).sum()
            for i in range(3):
                for j in range(5):
                    change[i, j] += ((label == i) - y[i]) * x[j]
        w = w + 0.0005 * change
    J = objective(criteria.Softmax(), SPECIES, "softmax")
    found = GradientDescent(0.0005 * 150, iterations=30).minimize(J, np.zeros((5, 3)))
    np.testing.assert_allclose(found.weights, w.T, atol=1e-12)


@pytest.mark.parametrize("schedule", [1.0, Inverse(2.0), lambda k: 0.3 + 1 / k], ids=["fixed", "1/k", "own"])
def test_batch_perceptron_is_the_pseudocode(schedule):
    """B: 𝒴_k = {a·y ≤ 0}, a ← a + η(k) Σ_𝒴 y, until ‖η(k) Σ_𝒴 y‖ < θ."""
    normalised = Y * np.where(SETOSA > 0, 1, -1)[:, None]
    eta = schedule if callable(schedule) else lambda k: schedule
    a, k = np.zeros(5), 0
    while True:
        k += 1
        wrong = normalised[normalised @ a <= 0]
        step = eta(k) * wrong.sum(axis=0) / 150
        a = a + step
        if np.linalg.norm(step) < 1e-8:
            break
    found = GradientDescent(schedule, iterations=1000).minimize(
        objective(criteria.Perceptron(), SETOSA), np.zeros((5, 1))
    )
    np.testing.assert_allclose(found.weights[:, 0], a, atol=1e-12)
    assert found.converged
    assert found.iterations == k
    assert found.status == f"Converged: every row lies beyond its margin after {k - 1} corrections."


def test_relaxation_in_batch_lowers_its_criterion_every_step():
    for eta in (0.2, 1.0, 1.9):
        found = GradientDescent(eta, iterations=50).minimize(objective(criteria.Relaxation(1.0)), np.zeros((5, 1)))
        assert (np.diff(found.history["objective"]) < 0).all()


def test_widrow_hoff_in_batch_tends_to_the_pseudo_inverse():
    X = (IRIS - IRIS.mean(axis=0)) / IRIS.std(axis=0)
    exact = np.linalg.pinv(np.hstack([np.ones((150, 1)), X])) @ np.where(VIRGINICA > 0, 1.0, -1.0)
    found = GradientDescent(0.6, iterations=20_000, threshold=1e-12).minimize(
        objective(criteria.Squared(), X=X), np.zeros((5, 1))
    )
    np.testing.assert_allclose(found.weights[:, 0], exact, atol=1e-9)
    assert found.converged


def test_one_rate_for_each_attribute():
    """Rates are η_j/η: with one over each attribute's mean square, units no longer matter."""
    rng = np.random.default_rng(1)
    Z = rng.standard_normal((100, 2))
    codes = (Z[:, 0] + rng.standard_normal(100) > 0).astype(int)
    units = np.array([1e-3, 1e4])
    plain = GradientDescent(0.5, iterations=40).minimize(objective(criteria.Logistic(), codes, X=Z), np.zeros((3, 1)))
    scaled = GradientDescent(0.5, rates=np.r_[1.0, 1 / units**2], iterations=40).minimize(
        objective(criteria.Logistic(), codes, X=Z * units), np.zeros((3, 1))
    )
    np.testing.assert_allclose(scaled.weights[1:, 0] * units, plain.weights[1:, 0], rtol=1e-9)


def stable(status):
    return float(re.search(r"longer than ([\d.e+-]+),", status).group(1))


@pytest.mark.parametrize("rates", [None, [1.0, 0.5, 2.0, 1.0, 1.0]])
def test_divergence_is_said_with_the_longest_stable_step(rates):
    """Above 2/λ_max least squares diverge, just below they do not; the sentence gives that number."""
    J = objective(criteria.Squared())
    found = GradientDescent(1.0, rates=rates, iterations=500).minimize(J, np.zeros((5, 1)))
    assert found.status.startswith("Diverged: J grew from 0.5 to")
    assert not found.converged
    assert found.objective <= 0.5 + 1e-15
    root = np.diag(np.sqrt(np.ones(5) if rates is None else rates))
    assert stable(found.status) == pytest.approx(2 / np.linalg.eigvalsh(root @ Y.T @ Y @ root / 150)[-1], rel=5e-3)
    again = GradientDescent(0.98 * stable(found.status), rates=rates, iterations=500).minimize(J, np.zeros((5, 1)))
    assert again.objective < 0.2


def test_swinging_is_said():
    found = GradientDescent(8.0, iterations=300).minimize(objective(criteria.Logistic()), np.zeros((5, 1)))
    assert found.status.startswith("Not converged: J swings to and fro")
    assert stable(found.status) < 8


def test_too_few_steps_are_said():
    found = GradientDescent(0.01, iterations=10).minimize(objective(criteria.Logistic()), np.zeros((5, 1)))
    assert found.status.startswith("Not converged: after 10 steps the step is still")
    assert not found.converged
    assert found.passes == 11


def test_a_perceptron_that_rises_on_its_way_is_not_called_divergent():
    found = GradientDescent(1.0, iterations=300).minimize(objective(criteria.Perceptron()), np.zeros((5, 1)))
    assert not found.converged
    assert found.status.startswith("Not converged: after 300 steps")


def test_early_stopping_on_misclassifications():
    """A 10.7.1: go on until the misclassified rows do not become fewer; the first weights with the fewest come back."""
    J = objective(criteria.Logistic())
    found = GradientDescent(0.1, iterations=2000, patience=40, trace=True, count_errors=True).minimize(
        J, np.zeros((5, 1))
    )
    errors = found.history["errors"][1:]
    assert J.errors(found.weights) == errors.min()
    first = int(np.argmin(errors)) + 1
    np.testing.assert_array_equal(found.history["weights"][first], found.weights)
    assert found.iterations == first + 40
    assert "had not become fewer for 40 steps" in found.status
    silent = GradientDescent(0.1, iterations=2000, patience=40).minimize(J, np.zeros((5, 1)))
    np.testing.assert_array_equal(silent.weights, found.weights)


def test_early_stopping_ends_at_no_errors():
    found = GradientDescent(0.1, iterations=2000, patience=50).minimize(
        objective(criteria.Logistic(), SETOSA), np.zeros((5, 1))
    )
    assert "no row is misclassified" in found.status
    assert found.converged  # it stopped where it was asked to, though J would go on falling for ever


def test_descent_on_separable_rows_does_not_claim_a_minimum():
    found = GradientDescent(0.5, iterations=4000, threshold=1e-3).minimize(
        objective(criteria.Logistic(), SETOSA), np.zeros((5, 1))
    )
    assert found.status.startswith("No minimum exists")
    assert not found.converged


def test_callback_looks_and_stops():
    seen = []
    found = GradientDescent(0.1, callback=lambda step: seen.append(step) or step.k == 3).minimize(
        objective(criteria.Logistic()), np.zeros((5, 1))
    )
    assert [step.k for step in seen] == [0, 1, 2, 3]
    assert found.status == "Stopped by the callback at step 3."
    np.testing.assert_array_equal(seen[-1].weights, found.weights)


def test_not_a_number_is_said():
    X = IRIS.copy()
    X[3, 1] = np.nan
    found = GradientDescent(0.1).minimize(objective(criteria.Logistic(), X=X), np.zeros((5, 1)))
    assert "not a number" in found.status


def test_refusals_are_sentences():
    with pytest.raises(MismatchError, match=r"GradientDescent needs a gradient, which criterion ZeroOne .* Annealing"):
        GradientDescent().minimize(objective(criteria.ZeroOne()), np.zeros((5, 1)))
    with pytest.raises(MismatchError, match=r"needs a gradient, which penalty Lasso .* use ProximalGradient"):
        GradientDescent().minimize(objective(criteria.Logistic(), penalty=penalties.Lasso(1.0)), np.zeros((5, 1)))
    with pytest.raises(ParameterError, match="5 rows of the weights"):
        GradientDescent(rates=[1.0, 2.0]).minimize(objective(criteria.Logistic()), np.zeros((5, 1)))
