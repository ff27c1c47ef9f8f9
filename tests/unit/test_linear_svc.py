"""Linear support vector machines: LIBLINEAR's answers with proof, a free intercept, and scikit-learn's own tests."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn import svm
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import StandardScaler

from discriminant import LinearSVC
from discriminant.errors import DataError, DiscriminantWarning, ParameterError
from discriminant.optimize import machine, margins


def data(name="iris"):
    X, y = (load_iris if name == "iris" else load_breast_cancer)(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def random(n=120, d=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 1
    return X, np.where(X[:, 0] + X[:, 1] + rng.standard_normal(n) > 2, 1.0, -1.0)


@pytest.mark.parametrize("name", ["iris", "breast_cancer"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"loss": "hinge"},
        {"penalty": "l1"},
        {"multi_class": "crammer_singer"},
        {"class_weight": "balanced", "intercept_scaling": 5.0},
        {"fit_intercept": False, "C": 0.03},
    ],
    ids=str,
)
def test_it_is_scikit_learns_with_proof(name, options):
    X, y = data(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = svm.LinearSVC(tol=1e-8, max_iter=300_000, random_state=0, **options).fit(X, y)
    ours = LinearSVC(**options).fit(X, y)
    assert ours.certificate_.converged
    assert ours.certificate_.gap <= 1e-6 * ours.certificate_.objective
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-3 * np.abs(theirs.coef_).max())
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=2e-3)
    assert (ours.predict(X) == theirs.predict(X)).mean() > 0.995
    assert ours.coef_.shape == theirs.coef_.shape


def test_a_free_intercept_is_libsvms():
    """SVC(kernel="linear") does not penalise the intercept."""
    X, y = random()
    expected = svm.SVC(kernel="linear", C=0.3, tol=1e-9).fit(X, y)
    found = LinearSVC(loss="hinge", C=0.3, penalize_intercept=False).fit(X, y)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-5)
    assert found.certificate_.converged
    moved = LinearSVC(loss="hinge", C=0.3, penalize_intercept=False).fit(X + 10, y)
    np.testing.assert_allclose(moved.coef_, found.coef_, atol=1e-5)  # as a penalised one would not allow
    for options in ({}, {"penalty": "l1"}):
        free = LinearSVC(C=0.3, penalize_intercept=False, **options).fit(X, y)
        slack = np.maximum(1 - y * free.decision_function(X), 0)
        assert abs((slack * y).sum()) < 1e-4 * slack.sum()  # the gradient by the intercept
        assert free.certificate_.converged


@pytest.mark.parametrize("squared", [True, False])
@pytest.mark.parametrize("free", [True, False])
def test_all_methods_reach_one_minimum(squared, free):
    X, y = random(60, 5)
    problem = margins.MarginProblem(X, y, np.full(60, 0.5), squared, 1.0, free)
    direct = margins.solve_margin(problem, 1e-9)
    step_by_step = margins.dual_descent(problem, 1e-5, most=5_000)
    sparse = margins.MarginProblem(csr_array(X), y, np.full(60, 0.5), squared, 1.0, free)
    assert direct.gap <= 1e-9 * direct.objective
    assert margins.solve_margin(sparse, 1e-9).objective == pytest.approx(direct.objective, rel=1e-9)
    if not free:
        assert step_by_step.gap <= 1e-5 * step_by_step.objective
        assert margins.dual_descent(sparse, 1e-5).objective == pytest.approx(direct.objective, rel=2e-5)
    assert step_by_step.objective == pytest.approx(direct.objective, rel=1e-4)
    # a gap is a bound: no trial point lies below P − gap
    rng = np.random.default_rng(0)
    for scale in (1e-3, 1e-1, 1):
        w = direct.w + scale * rng.standard_normal(6)
        assert problem.primal(w) >= direct.objective - direct.gap


@pytest.mark.parametrize("free", [False, True])
def test_compiled_steps_of_a_hinge_are_the_others(monkeypatch, free):
    X, y = random(83, 5)
    X = np.column_stack(
        [X * 10.0 ** np.array([-6, 0, 2, 0, 5]), X[:, 1], np.full(83, 3.0)]
    )  # units, a copy, a constant
    problem = margins.MarginProblem(X, y, np.linspace(0.1, 2.0, 83), False, 0.7, free)
    one = margins.solve_margin(problem, 1e-6)
    monkeypatch.setattr(margins, "HINGE_WORK", 0)
    other = margins.solve_margin(problem, 1e-6)
    assert max(one.gap, other.gap) <= 1e-6 * one.objective
    assert one.objective == pytest.approx(other.objective, rel=1e-9)
    np.testing.assert_allclose(problem.scores(one.w), problem.scores(other.w), atol=1e-4)


def test_more_columns_than_rows(monkeypatch):
    X, y = random(40, 300)
    expected = margins.solve_margin(margins.MarginProblem(X, y, np.ones(40), False), 1e-9)
    monkeypatch.setattr(margins, "MOST_COLUMNS", 100)
    short = margins.solve_margin(margins.MarginProblem(X, y, np.ones(40), False), 1e-9)
    assert "rows" in short.method
    np.testing.assert_allclose(short.w, expected.w, atol=1e-6)
    long = LinearSVC(loss="hinge").fit(csr_array(X), y)
    assert long.certificate_.notes == ("dual coordinate descent",)
    np.testing.assert_allclose(long.coef_[0], expected.w[:-1], atol=1e-3)


@pytest.mark.parametrize("squared", [True, False])
@pytest.mark.parametrize("free", [True, False])
def test_the_dual_is_tried_first_and_gives_way_where_it_is_slow(squared, free):
    """Centred columns are done in some epochs, those of other units are left to exact steps; proofs hold of both."""
    X, y = random(300, 900, seed=1)
    for columns, quick in ((X - 1, True), (10 * X[:, [0]] + X * 10.0 ** np.linspace(-3, 2, 900), False)):
        problem = margins.MarginProblem(columns, y, np.full(300, 0.5), squared, 1.0, free)
        fit = margins.solve_margin(problem, 1e-4)
        exact = margins._in_row_space(problem, 1e-9)
        assert (fit.method == "dual coordinate descent") is (quick and not free) or free
        assert fit.gap <= 1e-4 * fit.objective
        assert exact.objective - exact.gap <= fit.objective <= exact.objective + fit.gap
        assert margins.choose_margin(300, 900, 270_000, False, squared).method.startswith(
            "dual coordinate descent, else"
        )
        short = margins.dual_descent(problem, 1e-4, visits=20_000.0)  # whatever it leaves at, what it says is true
        assert short.objective - short.gap <= exact.objective


def test_crammer_and_singers_machine_by_both_methods():
    X, y = data()
    c = np.full(150, 0.2)
    exact = machine.interior_machine(X, y, 3, c, 1.0, 1e-9)
    assert exact.gap <= 1e-9 * exact.objective
    slow = machine.descend_machine(X, y, 3, c, 1.0, 1e-4, most=3_000)
    assert slow.gap <= 1e-4 * slow.objective
    assert exact.objective - 1e-9 <= slow.objective <= exact.objective * (1 + 1e-4)
    np.testing.assert_allclose(exact.W.sum(axis=1), 0, atol=1e-6)


def test_a_limit_of_passes_is_told_not_hidden():
    X, y = random(200, 1500, seed=2)
    with pytest.warns(DiscriminantWarning, match="passes"):
        model = LinearSVC(loss="hinge", tol=1e-13, C=10).fit(csr_array(X[:, :1300]), y)
    assert not model.certificate_.converged


def test_weights_and_units():
    X, y = random()
    weight = np.where(np.arange(len(y)) % 4 == 0, 2.0, 1.0)
    weight[5:9] = 0
    rows = np.repeat(np.arange(len(y)), weight.astype(int))
    for options in ({}, {"loss": "hinge"}, {"penalty": "l1"}):
        weighted = LinearSVC(**options, tol=1e-9).fit(X, y, sample_weight=weight)
        repeated = LinearSVC(**options, tol=1e-9).fit(X[rows], y[rows])
        np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-5)
    assert LinearSVC().fit(X.astype(np.float32), y).coef_.dtype == np.float32
    scaled = LinearSVC().fit(X * 1e6, y)
    assert scaled.certificate_.converged
    with pytest.raises(DataError, match="class"):
        LinearSVC().fit(X, y, sample_weight=(y > 0).astype(float))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalty": "l1", "loss": "hinge"}, "Unsupported set of arguments"),
        ({"loss": "hinge", "dual": False}, "Unsupported set of arguments"),
        ({"penalty": "l1", "dual": True}, "Unsupported set of arguments"),
        ({"C": 0.0}, "'C'"),
        ({"loss": "x"}, "'loss'"),
        ({"dual": "no"}, "'dual'"),
        ({"multi_class": "crammer_singer", "penalize_intercept": False}, "'ovr'"),
    ],
)
def test_what_makes_no_sense_is_refused(options, message):
    X, y = data()
    with pytest.raises(ParameterError, match=message):
        LinearSVC(**options).fit(X, y)
