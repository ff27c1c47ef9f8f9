"""Linear machine, sigmoid regression, linear programming, fewest errors, textbook logistic."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.datasets import load_iris, make_multilabel_classification

from discriminant import (
    LinearMachine,
    LinearProgrammingClassifier,
    LogisticRegression,
    MinimumErrorClassifier,
    SigmoidRegressionClassifier,
)
from discriminant.criteria import sigmoid
from discriminant.errors import DataError, DiscriminantWarning, MismatchError, ParameterError
from discriminant.inference.least_errors import least_errors
from discriminant.optimize import GradientDescent, SingleSample
from discriminant.penalties import Ridge

X, Y = load_iris(return_X_y=True)
Z = (X - X.mean(axis=0)) / X.std(axis=0)
TWO = (X[50:], Y[50:])
quiet = pytest.mark.filterwarnings("ignore::discriminant.errors.DiscriminantWarning")


# The linear machine


@quiet
@pytest.mark.parametrize("criterion", ["perceptron", "relaxation", "quadratic", "hinge", "squared-hinge", "logistic"])
@pytest.mark.parametrize("over", ["all", "worst"])
def test_any_two_class_criterion_makes_a_machine(criterion, over):
    optimizer = "auto" if criterion not in ("quadratic", "relaxation") else SingleSample(step=0.01, epochs=300)
    if over == "worst" and criterion in ("squared-hinge", "logistic"):
        optimizer = GradientDescent(step=0.05)
    machine = LinearMachine(criterion, over=over, optimizer=optimizer, margin=1.0 if criterion == "quadratic" else None)
    machine.fit(Z, Y)
    assert machine.coef_.shape == (3, 4)
    assert machine.score(Z, Y) > 0.8


def test_a_machine_that_cannot_separate_says_so():
    with pytest.warns(DiscriminantWarning, match="cannot be separated by any hyperplane: they are quasi-separable"):
        machine = LinearMachine(optimizer=SingleSample(epochs=20)).fit(X, Y)
    assert machine.certificate_.separability == "quasi-separable"  # setosa lies apart from the other two
    with pytest.raises(MismatchError, match="has no margin"):
        LinearMachine("logistic", margin=1.0).fit(X, Y)
    with pytest.raises(ParameterError, match=r"'over' parameter .*'all' and 'worst'"):
        LinearMachine(over="best").fit(X, Y)


# Discrimination by regression


def test_sigmoid_regression_is_a_stationary_point_of_its_formula():
    model = SigmoidRegressionClassifier(alpha=0.01).fit(X, Y)
    p, R = sigmoid(model.outputs(X)), np.eye(3)[Y]
    slope = X.T @ ((p - R) * p * (1 - p)) / 150 + 0.01 * model.coef_.T
    assert np.abs(slope).max() < 1e-7
    assert model.score(X, Y) > 0.9
    assert model.certificate_.objective == pytest.approx(
        np.square(p - R).sum() / 300 + 0.005 * np.square(model.coef_).sum(), rel=1e-10
    )


def test_labels_that_overlap():
    data, labels = make_multilabel_classification(n_samples=300, n_features=8, n_classes=4, random_state=1)
    model = SigmoidRegressionClassifier(alpha=1e-3).fit(data, labels)
    answer = model.predict(data)
    assert answer.shape == labels.shape
    assert answer.dtype == labels.dtype
    assert (answer == labels).mean() > 0.8
    assert np.array_equal(answer, model.predict_proba(data) > 0.5)
    assert {0, 2} <= set(answer.sum(axis=1))
    assert np.allclose(np.exp(model.predict_log_proba(data)), model.predict_proba(data))
    with pytest.raises(DataError, match="labels that hold"):
        SigmoidRegressionClassifier().fit(data, labels * 2)
    with pytest.raises(ParameterError, match="class_weight has no meaning"):
        SigmoidRegressionClassifier(class_weight="balanced").fit(data, labels)
    with pytest.raises(DataError, match="inconsistent numbers"):
        SigmoidRegressionClassifier().fit(data[:-1], labels)


def test_separated_rows_end_the_run_with_a_word():
    model = SigmoidRegressionClassifier().fit(X[:100], Y[:100])
    assert "alpha > 0" in model.certificate_.status
    assert model.score(X[:100], Y[:100]) == 1


def test_rejected_where_none_or_many_claim():
    model = SigmoidRegressionClassifier(alpha=1e-3, decoder="unanimous").fit(X, Y)
    claims = model.memberships(X).sum(axis=1)
    assert np.array_equal(model.predict(X) == -1, claims != 1)
    assert (claims == 0).any()


# Linear programming


def test_the_least_slack_is_that_of_the_program_as_written():
    t = np.where(TWO[1] == 2, 1.0, -1.0)
    A = np.hstack([-t[:, None] * np.column_stack([np.ones(100), TWO[0]]), -np.eye(100)])
    bounds = [(None, None)] * 5 + [(0, None)] * 100
    best = linprog(np.concatenate([np.zeros(5), np.full(100, 0.01)]), A_ub=A, b_ub=-np.ones(100), bounds=bounds)
    model = LinearProgrammingClassifier().fit(*TWO)
    assert model.certificate_.objective == pytest.approx(best.fun, abs=1e-9)
    assert model.certificate_.gap == 0
    assert not model.separated_


def test_three_classes_go_through_kesler():
    corners = np.array([[0.0, 0], [4, 0], [0, 4]])
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    data = corners[y] + rng.uniform(-0.8, 0.8, (60, 2))
    model = LinearProgrammingClassifier().fit(data, y)
    z = model.outputs(data)
    rivals = np.where(np.eye(3)[y] > 0, -np.inf, z).max(axis=1)
    assert model.separated_
    assert (z[np.arange(60), y] - rivals).min() >= 1 - 1e-9


def test_many_rows_are_asked_first_whether_slack_is_needed(monkeypatch):
    rng = np.random.default_rng(2)
    data = rng.normal(size=(30_000, 20))
    y = (np.arange(30_000) % 2).astype(int)
    data[:, 0] += np.where(y, 6.0, -6.0)

    def no_program(*_):
        raise AssertionError("the program with slack was asked")

    monkeypatch.setattr("discriminant.methods.linear_program.LinearProgram.minimize", no_program)
    model = LinearProgrammingClassifier(margin=2.0).fit(data, y)
    assert ((2 * y - 1) * model.decision_function(data)).min() == pytest.approx(2.0, rel=1e-6)


def test_a_lasso_empties_columns_of_the_program():
    rng = np.random.default_rng(3)
    noisy = np.hstack([TWO[0], rng.normal(size=(100, 6))])
    plain, few = (LinearProgrammingClassifier(alpha=a).fit(noisy, TWO[1]) for a in (0.0, 0.06))
    assert (np.abs(few.coef_) < 1e-9).sum() > 4 > (np.abs(plain.coef_) < 1e-9).sum()
    with pytest.raises(ParameterError, match="'margin' parameter"):
        LinearProgrammingClassifier(margin=0.0).fit(*TWO)


# The fewest errors


@quiet
@pytest.mark.parametrize("optimizer", ["auto", "annealing", "mixed-integer", "witnesses"])
def test_iris_has_one_error_and_that_is_proved(optimizer):
    model = MinimumErrorClassifier(optimizer, max_iter=100).fit(*TWO)
    assert (model.n_errors_, model.lower_bound_) == (1, 1.0)
    assert model.certificate_.converged
    assert (model.predict(TWO[0]) != TWO[1]).sum() == 1


def test_separable_rows_have_none():
    model = MinimumErrorClassifier().fit(X[:100], Y[:100])
    assert (model.n_errors_, model.lower_bound_) == (0, 0.0)


@quiet
def test_weights_decide_which_rows_are_given_up():
    data, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    model = MinimumErrorClassifier().fit(data, y, sample_weight=[1, 5, 1, 5])
    assert model.lower_bound_ == 1
    assert model.predict(data).tolist() == [0, 1, 1, 1]
    assert least_errors(data, y, np.array([1.0, 5, 8, 5])).bound == 5


def test_without_an_intercept_one_class_that_is_left_must_still_lie_on_one_side():
    X, y = np.array([[2.0], [-2], [-1], [-1], [0], [-2]]), np.array([0, 1, 0, 0, 1, 0])  # w > 0 errs on 0, w < 0 on 3
    found = least_errors(X, y, fit_intercept=False)
    assert found.proved
    assert found.bound == 3
    assert found.weights[0] == 0
    model = MinimumErrorClassifier(fit_intercept=False).fit(X, y)
    assert model.n_errors_ == 3 == pytest.approx(model.lower_bound_)
    assert model.certificate_.converged
    assert model.intercept_ == 0
    three = least_errors(np.array([[1.0], [2], [-1], [0]]), np.array([0, 1, 2, 2]), fit_intercept=False)
    assert three.proved
    assert not three.weights[0].any()
    assert least_errors(np.zeros((2, 1)), np.array([0, 1]), fit_intercept=False).bound == 2


@quiet
def test_a_bound_that_is_not_the_answer_says_so():
    rng = np.random.default_rng(0)
    data, y = rng.normal(size=(150, 2)), rng.integers(0, 2, 150)
    model = MinimumErrorClassifier(max_iter=30, rounds=2).fit(data, y)
    assert 0 < model.lower_bound_ < model.n_errors_
    assert not model.certificate_.converged
    assert "witnesses prove it" in model.certificate_.status
    with pytest.raises(ParameterError, match="must be one of"):
        MinimumErrorClassifier("guess").fit(data, y)


# Textbook logistic


@pytest.mark.parametrize("optimizer", ["newton", "lbfgs", "conjugate-gradient"])
@pytest.mark.parametrize("K", [2, 3])
def test_every_optimizer_by_name_reaches_the_same_logistic_optimum(optimizer, K):
    data, y = TWO if K == 2 else (X, Y)
    best = LogisticRegression().fit(data, y)
    model = LogisticRegression(optimizer=optimizer).fit(data, y)
    assert np.abs(model.coef_ - best.coef_).max() < 1e-4
    assert model.certificate_.converged
    assert np.abs(model.predict_proba(data) - best.predict_proba(data)).max() < 1e-4
    assert model.plan(data, y).method == optimizer


@quiet
def test_textbook_descent_is_reproducible_and_warm():
    short = GradientDescent(step=0.05, iterations=15)
    first, second = (LogisticRegression(optimizer=short, random_state=3).fit(*TWO).coef_ for _ in range(2))
    assert np.array_equal(first, second)
    warm = LogisticRegression(optimizer=short, random_state=3, warm_start=True).fit(*TWO).fit(*TWO)
    long = LogisticRegression(optimizer=GradientDescent(step=0.05, iterations=30), random_state=3).fit(*TWO)
    assert np.abs(warm.coef_ - long.coef_).max() < 1e-12
    with pytest.raises(MismatchError, match="Offsets"):
        LogisticRegression(optimizer=short).fit(*TWO, offset=np.zeros(100))


def test_soft_labels_and_no_intercept_in_the_textbooks_way():
    soft = np.clip(np.eye(2)[TWO[1] - 1], 0.1, 0.9)
    best = LogisticRegression(fit_intercept=False).fit(TWO[0], soft)
    model = LogisticRegression(fit_intercept=False, optimizer="newton").fit(TWO[0], soft)
    assert np.abs(model.coef_ - best.coef_).max() < 1e-7
    assert model.intercept_ == [0.0]
    assert Ridge(0.5).strength == 0.5
