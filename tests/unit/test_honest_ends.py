"""Runs that could claim too much, and traces that must show all of it."""

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
    criteria,
    datasets,
    optimize,
    solution_region,
)
from discriminant.errors import DataError, DiscriminantWarning, MismatchError, ParameterError

IRIS = datasets.load("iris")
X, y = IRIS.X[:100], IRIS.y[:100]  # separable
Z = (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.mark.parametrize(
    "optimizer", ["newton", "gradient-descent", "lbfgs", optimize.SingleSample(step=0.05), "conjugate-gradient"]
)
def test_the_quadratic_criterion_does_not_take_zero_weights_for_a_separation(optimizer):
    """Σ (a·y)² over errors is 0 and flat at a = 0: the run must start elsewhere, and a claim must be true."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscriminantWarning)  # a run that ends near zero says so
        model = Discriminant(criterion="quadratic", optimizer=optimizer).fit(Z, y)
    assert np.any(model.coef_ != 0)
    if model.certificate_.converged and "by more than rounding" not in model.certificate_.status:
        assert model.score(Z, y) == 1.0


def test_annealing_refuses_a_criterion_that_zero_weights_solve():
    with pytest.raises(MismatchError, match="is least at A = 0"):
        Discriminant(criterion="perceptron", optimizer="annealing").fit(X, y)
    model = Discriminant(criterion=criteria.Perceptron(margin=1.0), optimizer="annealing").fit(Z, y)
    assert model.score(Z, y) > 0.9


@pytest.mark.parametrize(
    "model", [Perceptron(criterion="quadratic"), Discriminant(criterion="squared", optimizer="single-sample")]
)
def test_steps_that_are_too_long_are_told_with_the_longest_that_is_not(model):
    longest = 2 / (1 + (X**2).sum(axis=1)).max()
    with pytest.raises(DataError, match=rf"too long for these rows.*= {longest:.3g}\."):
        model.fit(X, y)


@pytest.mark.parametrize("model", [Perceptron(trace=True), LinearMachine(trace=True), Adaline(trace=True)])
def test_a_traced_run_by_samples_shows_its_weights_in_the_frame(model):
    model.fit(Z, y)
    frame = model.history_.to_frame()
    assert len(frame) == len(model.history_) > 0
    last = frame.filter(regex="^a").to_numpy()[-1].reshape(5, -1)
    np.testing.assert_allclose(last[1:], model.discriminant_.weights[1:], rtol=1e-12)
    assert {"k", "sample", "size"} <= set(frame.columns)


def test_a_solution_region_is_told_in_a_line():
    assert repr(solution_region(X, y)).startswith("SolutionRegion(100 half-spaces, 5 weights, margin 0; center [")
    assert "empty" in repr(solution_region(IRIS.X[50:], IRIS.y[50:]))
    assert "overlapping" in repr(solution_region(IRIS.X[50:], IRIS.y[50:]))


@pytest.mark.parametrize("optimizer", ["gradient-descent", "newton", "lbfgs"])
def test_logistic_regression_by_a_named_optimizer_is_traced(optimizer):
    seen = []
    model = LogisticRegression(optimizer=optimizer, C=10.0, trace=True, callback=lambda step: seen.append(step.k))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscriminantWarning)  # gradient descent is not at its end after 1000 steps
        model.fit(Z, y)
    frame = model.history_.to_frame()
    assert {"k", "objective", "step", "errors", "a0", "a4"} <= set(frame.columns)
    np.testing.assert_allclose(frame[["a1", "a2", "a3", "a4"]].to_numpy()[-1], model.coef_[0], rtol=1e-12)
    assert len(seen) == len(frame)


def test_logistic_regression_stops_where_the_callback_says_so():
    with pytest.warns(DiscriminantWarning, match="callback"):
        model = LogisticRegression(optimizer="lbfgs", callback=lambda step: step.k >= 3).fit(Z, y)
    assert model.n_iter_[0] == 3


def test_a_trace_of_the_automatic_method_is_refused():
    with pytest.raises(ParameterError, match="named optimizer"):
        LogisticRegression(trace=True).fit(Z, y)
