"""Fisher's discriminant: equal to an independent computation, whatever the storage, the units and the order."""

from __future__ import annotations

import pickle

import mpmath
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.linalg import hilbert
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as SkLDA
from sklearn.utils.estimator_checks import estimator_checks_generator

from discriminant import FisherDiscriminant, LinearDiscriminantAnalysis
from discriminant.errors import CollinearityWarning, DataError, DiscriminantWarning, MismatchError, ParameterError
from discriminant.gaussian.projection import THRESHOLDS, two_class_threshold

SETS = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer}


@pytest.fixture(params=SETS, ids=list(SETS))
def data(request):
    return SETS[request.param](return_X_y=True)


@pytest.fixture
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture
def two(iris):
    X, y = iris
    return X[y > 0], y[y > 0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("check", "estimator"),
    [
        (check, model)
        for made in (FisherDiscriminant(), FisherDiscriminant("midpoint", "mean-difference"))
        for model, check in estimator_checks_generator(made)
    ],
    ids=lambda value: getattr(getattr(value, "func", value), "__name__", ""),
)
def test_estimator_contract(check, estimator):
    check(estimator)


# Against other computations


def test_all_axes_and_priors_decide_as_linear_discriminant_analysis(data):
    X, y = data
    fisher, lda = FisherDiscriminant("pooled").fit(X, y), LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(fisher.coef_, lda.coef_, rtol=1e-7, atol=1e-10 * np.abs(lda.coef_).max())
    np.testing.assert_array_equal(fisher.predict(X), SkLDA(tol=1e-10).fit(X, y).predict(X))


def test_transform_equals_scikit_learn_up_to_sign(data):
    X, y = data
    fisher, other = FisherDiscriminant().fit(X, y), SkLDA(tol=1e-10).fit(X, y)
    ours, theirs = fisher.transform(X), other.transform(X)
    signs = np.sign((ours * theirs).sum(axis=0))
    np.testing.assert_allclose(ours, theirs * signs, rtol=1e-6, atol=1e-6 * np.abs(theirs).max())
    assert fisher.get_feature_names_out().tolist() == [f"fisherdiscriminant{j}" for j in range(ours.shape[1])]


def test_reduced_axes_decide_for_the_nearest_mean(iris):
    X, y = iris
    fisher = FisherDiscriminant(n_components=1, priors=[0.2, 0.5, 0.3]).fit(X, y)
    projected = fisher.transform(X)
    means = np.stack([projected[y == k].mean(axis=0) for k in range(3)])
    np.testing.assert_allclose(fisher.projected_means_, means, rtol=1e-10)
    score = np.log(fisher.priors_) - 0.5 * ((projected[:, None, :] - means) ** 2).sum(axis=2)
    np.testing.assert_array_equal(fisher.predict(X), score.argmax(axis=1))
    difference = fisher.decision_function(X) - score
    assert np.ptp(difference, axis=1).max() < 1e-9  # equal up to what the classes share
    nearest = FisherDiscriminant("midpoint", n_components=1, priors=[0.2, 0.5, 0.3]).fit(X, y)
    plain = ((nearest.transform(X)[:, None, :] - nearest.projected_means_) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(nearest.predict(X), plain)


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("direction", ["fisher", "mean-difference"])
def test_threshold_on_the_projection_is_the_decision(two, threshold, direction):
    X, y = two
    model = FisherDiscriminant(threshold, direction).fit(X, y)
    projected = model.transform(X)[:, 0]
    np.testing.assert_array_equal(model.predict(X) == 2, projected > model.threshold_)
    low, high = projected[y == 1], projected[y == 2]
    assert low.mean() < high.mean()  # the second class lies on the positive side
    expected = {
        "midpoint": (low.mean() + high.mean()) / 2,
        "equal-error": (low.mean() * high.std() + high.mean() * low.std()) / (low.std() + high.std()),
        "mean": projected.mean(),
        "pooled": (low.mean() + high.mean()) / 2,  # the classes have equal frequencies
    }
    if threshold in expected:
        assert model.threshold_ == pytest.approx(expected[threshold], rel=1e-9, abs=1e-9)
    if threshold in ("gaussian", "equal-error"):
        np.testing.assert_allclose(model.projected_variances_, [low.var(), high.var()], rtol=1e-8)


def test_mean_difference_of_many_classes_measures_in_the_metric_of_the_projections(iris):
    X, y = iris
    model = FisherDiscriminant(direction="mean-difference").fit(X, y)
    np.testing.assert_allclose(model.scalings_.T @ model.scalings_, np.eye(2), atol=1e-14)
    lda = SkLDA().fit(model.transform(X), y)
    np.testing.assert_array_equal(model.predict(X), lda.predict(model.transform(X)))


def test_gaussian_threshold_when_one_class_is_far_narrower():
    """The rising root of the log odds: between the means, and never the other root behind the narrow class."""
    means, variances, even = np.array([0.0, 2.0]), np.array([0.01, 4.0]), np.array([0.5, 0.5])
    at = two_class_threshold("gaussian", means, variances, even, 2.0)
    assert 0 < at < 2
    a, b, c = 0.5 * (1 / 0.01 - 1 / 4.0), -0.0 / 0.01 + 2.0 / 4.0, -0.5 * np.log(400) - 0.5 * 4.0 / 4.0
    assert at == pytest.approx(max(np.roots([a, b, c])), rel=1e-12)


def test_gaussians_that_do_not_cross_are_told():
    rng = np.random.default_rng(0)
    X = np.vstack([5 * rng.standard_normal((50, 1)), 0.3 * rng.standard_normal((50, 1)) + 1])
    y = np.repeat([0, 1], 50)
    with pytest.warns(DiscriminantWarning, match="do not cross"):
        model = FisherDiscriminant(priors=[0.999999, 0.000001]).fit(X, y)
    assert (model.predict(X) == 0).all()


def test_a_class_that_does_not_vary_takes_the_pooled_variance():
    X = np.array([[0.0], [1.0], [2.0], [9.0]])
    model = FisherDiscriminant().fit(X, [0, 0, 0, 1])
    assert model.score(X, [0, 0, 0, 1]) == 1.0
    assert 3 < model.discriminant_.boundary().project(X[:1])[0, 0] < 9


def test_classes_with_one_mean_are_told():
    X = np.array([[-1.0, 0], [1, 0], [-1, 0], [1, 0], [0, 1], [0, -1], [0, 1], [0, -1], [0, 0]])
    y = np.array([0, 0, 1, 1, 0, 0, 1, 1, 1])
    with pytest.warns(DiscriminantWarning, match="coincide"):
        model = FisherDiscriminant().fit(X, y)
    assert (model.predict(X) == 1).all()  # the class of the larger prior
    assert model.transform(X).shape == (9, 0)
    assert model.criterion_ == 0.0


# Units, weights, storage


def test_units_do_not_matter(data):
    X, y = data
    u = np.random.default_rng(0).uniform(-6, 6, X.shape[1])
    plain, scaled = FisherDiscriminant().fit(X, y), FisherDiscriminant().fit(X * 10.0**u, y)
    expected = plain.decision_function(X)
    size = np.abs(expected).max()
    np.testing.assert_allclose(scaled.decision_function(X * 10.0**u), expected, rtol=0, atol=1e-9 * size)
    np.testing.assert_array_equal(scaled.predict(X * 10.0**u), plain.predict(X))


@pytest.mark.parametrize("direction", ["fisher", "mean-difference"])
def test_an_integer_weight_is_a_repeated_row(data, direction):
    X, y = data
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = FisherDiscriminant(direction=direction).fit(X, y, sample_weight=weight)
    repeated = FisherDiscriminant(direction=direction).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    size = np.abs(repeated.decision_function(X)).max()
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-8 * size)


def _hard(name):
    rng = np.random.default_rng(7)
    y = np.arange(90) % 2
    Z = rng.standard_normal((90, 5)) * np.where(y == 1, 1.7, 1.0)[:, None] + 0.6 * y[:, None] * np.arange(5)
    wide, correlated = 10.0 ** np.linspace(-8, 8, 5), Z @ np.linalg.cholesky(hilbert(5)).T
    return {
        "offset 1e7": Z + 1e7,
        "scales 1e16 apart": Z * wide,
        "Hilbert correlation": correlated,
        "all of it": (correlated + 1e3) * wide,
    }[name], y


@pytest.mark.parametrize("name", ["offset 1e7", "scales 1e16 apart", "Hilbert correlation", "all of it"])
def test_weights_and_scores_have_twelve_digits(name):
    X, y = _hard(name)
    model = FisherDiscriminant().fit(X, y)
    with mpmath.workdps(60):
        rows = [[mpmath.mpf(float(v)) for v in row] for row in X]
        groups = [[row for row, k in zip(rows, y, strict=True) if k == c] for c in (0, 1)]
        means = [[mpmath.fsum(column) / len(g) for column in zip(*g, strict=True)] for g in groups]
        within = mpmath.zeros(5)
        for group, mean in zip(groups, means, strict=True):
            for row in group:
                r = mpmath.matrix([a - b for a, b in zip(row, mean, strict=True)])
                within += r * r.T
        w = mpmath.lu_solve(within / 90, mpmath.matrix([b - a for a, b in zip(*means, strict=True)]))
        relative = [abs(mpmath.mpf(float(a)) / b - 1) for a, b in zip(model.coef_[0], w, strict=True)]
        assert max(relative) < 1e-12
        # The threshold: where the log odds of the projections' Gaussians are zero.
        projected = [[mpmath.fdot(w, row) for row in group] for group in groups]
        m0, m1 = (mpmath.fsum(p) / len(p) for p in projected)
        v0, v1 = (mpmath.fsum((a - m) ** 2 for a in p) / len(p) for p, m in zip(projected, (m0, m1), strict=True))
        root = mpmath.findroot(
            lambda t: -mpmath.log(v1 / v0) / 2 + (t - m0) ** 2 / (2 * v0) - (t - m1) ** 2 / (2 * v1), (m0 + m1) / 2
        )
        truth = [mpmath.fdot(w, row) - root for row in rows]
        size = max(abs(t) for t in truth)
        found = model.decision_function(X)
        assert max(abs(mpmath.mpf(float(a)) - t) for a, t in zip(found, truth, strict=True)) < 1e-12 * size


def test_storage_makes_no_difference(iris):
    X, y = iris
    plain = FisherDiscriminant().fit(X, y)
    expected, axes = plain.decision_function(X), plain.transform(X)
    names = ["a", "b", "c", "d"]
    frames = [pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)]
    for stored in [np.asfortranarray(X), sparse.csr_array(X), sparse.csc_matrix(X), *frames]:
        model = FisherDiscriminant().fit(stored, y)
        np.testing.assert_allclose(model.decision_function(stored), expected, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(model.transform(stored), axes, rtol=1e-9, atol=1e-9)
    assert model.discriminant_.feature_names == tuple(names)


def test_float32_stays_float32(iris):
    X, y = iris
    model = FisherDiscriminant().fit(X.astype(np.float32), y)
    small = X.astype(np.float32)
    for found in (model.coef_, model.intercept_, model.scalings_, model.transform(small)):
        assert found.dtype == np.float32
    assert model.score(small, y) >= 0.97


def test_columns_without_information_are_named(iris):
    X, y = iris
    frame = pd.DataFrame(np.column_stack([X, np.ones(len(X)), X[:, 0] + X[:, 1]]), columns=[*"abcd", "one", "sum"])
    with pytest.warns(CollinearityWarning) as caught:
        model = FisherDiscriminant().fit(frame, y)
    text = " ".join(str(warning.message) for warning in caught)
    assert "'one'" in text
    assert "'sum'" in text
    expected = FisherDiscriminant().fit(X, y).decision_function(X)
    np.testing.assert_allclose(model.decision_function(frame), expected, rtol=1e-8, atol=1e-8)


# Learning in parts


@pytest.mark.parametrize("threshold", ["gaussian", "midpoint"])
def test_learning_in_parts_equals_learning_at_once(data, threshold):
    X, y = data
    order = np.random.default_rng(2).permutation(len(y))
    parts = np.array_split(order, 5)
    whole = FisherDiscriminant(threshold).fit(X, y)
    partial = FisherDiscriminant(threshold)
    for part in parts:
        partial.partial_fit(X[part], y[part], classes=np.unique(y))
    first = FisherDiscriminant(threshold).fit(X[order[:90]], y[order[:90]])
    second = FisherDiscriminant(threshold).fit(X[order[90:]], y[order[90:]])
    there, back = clone(first).fit(X[order[:90]], y[order[:90]]).merge(second), second.merge(first)
    np.testing.assert_array_equal(there.coef_, back.coef_)
    size = np.abs(whole.decision_function(X)).max()
    for model in (partial, there):
        np.testing.assert_allclose(model.decision_function(X), whole.decision_function(X), atol=1e-7 * size)


def test_partial_fit_waits_for_every_class(iris):
    X, y = iris
    model = FisherDiscriminant().partial_fit(X[:50], y[:50], classes=[0, 1, 2])
    with pytest.raises(AttributeError):
        model.predict(X)
    model.partial_fit(X[50:], y[50:])
    np.testing.assert_allclose(model.coef_, FisherDiscriminant().fit(X, y).coef_, rtol=1e-9)


def test_models_of_other_parameters_do_not_merge(two):
    X, y = two
    with pytest.raises(MismatchError, match="equal parameters"):
        FisherDiscriminant().fit(X, y).merge(FisherDiscriminant("midpoint").fit(X, y))
    first = FisherDiscriminant(priors=np.array([0.5, 0.5])).fit(X, y)
    first.merge(FisherDiscriminant(priors=[0.5, 0.5]).fit(X, y))


# Refusals


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"threshold": "best"}, "'threshold' parameter"),
        ({"threshold": "mean"}, "parts two classes and there are 3"),
        ({"direction": "up"}, "'direction' parameter"),
        ({"n_components": 3}, "n_components must be a whole number from 1"),
        ({"n_components": 1.5}, "'n_components' parameter"),
        ({"priors": [0.5, 0.5]}, "one prior for each class"),
        ({"priors": [1.0, 0.0, 0.0]}, "leave their rows out"),
    ],
    ids=str,
)
def test_bad_parameters_get_a_sentence(iris, options, sentence):
    with pytest.raises(ParameterError if "leave" not in sentence else DataError, match=sentence):
        FisherDiscriminant(**options).fit(*iris)


def test_a_failed_fit_leaves_the_old_model(iris):
    X, y = iris
    model = FisherDiscriminant().fit(X, y)
    before = pickle.dumps(model)
    broken = X.copy()
    broken[7, 2] = np.nan
    with pytest.raises(DataError, match="column 2 in row 7"):
        model.fit(broken, y)
    with pytest.raises(DataError, match="one class only"):
        model.fit(X, np.zeros(len(y)))
    assert pickle.dumps(model) == before


def test_probabilities_are_not_offered_and_it_says_what_to_use(iris):
    model = FisherDiscriminant().fit(*iris)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="LinearDiscriminantAnalysis"):
        model.predict_proba(iris[0])


def test_a_second_fit_forgets_the_first(iris, two):
    model = FisherDiscriminant().fit(*two)
    assert np.isfinite(model.threshold_)
    model.fit(*iris)
    assert not hasattr(model, "threshold_")
    assert not hasattr(model, "projected_variances_")
