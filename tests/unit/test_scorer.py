"""The compiled scorer is the model: the same probabilities and decisions, row by row, and fast."""

from __future__ import annotations

import pickle
import timeit

import numpy as np
import pytest

import discriminant
from discriminant import datasets
from discriminant.errors import DataError
from discriminant.io.encode import known_estimators

penguins = datasets.load("penguins")
X, y = penguins.X, penguins.y
two = y != "Gentoo"
COSTS = np.array([[0, 5, 1], [1, 0, 1], [4, 2, 0]])
MODELS = {
    "lda": discriminant.LinearDiscriminantAnalysis(),
    "lda far from zero": discriminant.LinearDiscriminantAnalysis(),
    "qda": discriminant.QuadraticDiscriminantAnalysis(),
    "logistic": discriminant.LogisticRegression(),
    "pairs by their sum": discriminant.LogisticRegression(coding="pairwise", decoder="sum"),
    "sigmoid": discriminant.SigmoidRegressionClassifier(),
    "votes": discriminant.LeastSquaresClassifier(coding="pairwise"),
    "unanimous": discriminant.LeastSquaresClassifier(coding="one-vs-rest", decoder="unanimous"),
    "risk": discriminant.MinimumRiskClassifier(costs=COSTS, reject_cost=0.4, priors=[0.2, 0.3, 0.5]),
}


@pytest.mark.filterwarnings("ignore::discriminant.errors.DiscriminantWarning")
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_it_answers_what_the_model_answers(name, classes):
    if classes == 2 and name == "risk":
        pytest.skip(reason="its costs are for three classes")
    rows = slice(None) if classes == 3 else two
    far = 1e7 if "far" in name else 0.0
    model = MODELS[name].fit(X[rows] + far, y[rows])
    score = pickle.loads(pickle.dumps(model.scorer()))
    near = X[::7] + far
    if hasattr(model, "predict_proba"):
        expected = model.predict_proba(near)
        np.testing.assert_allclose(score(near), expected, atol=1e-11)
        np.testing.assert_allclose([score(row) for row in near], expected, atol=1e-11)
        np.testing.assert_allclose(score(near[0].tolist()), expected[0], atol=1e-11)
    if name != "unanimous":  # the estimator of that case decides by the maximum
        assert [score.decide(row) for row in near] == model.predict(near).tolist()


@pytest.mark.filterwarnings("ignore::discriminant.errors.DiscriminantWarning")
@pytest.mark.parametrize("name", sorted(known_estimators()))
def test_every_estimator_has_one(name):
    model = known_estimators()[name]().fit(X[::6], y[::6])
    assert model.scorer().decide(X[0]) == model.predict(X[:1])[0]


def test_many_classes_and_a_bare_discriminant():
    rng = np.random.default_rng(0)
    labels = np.arange(400) % 20
    model = discriminant.LinearDiscriminantAnalysis().fit(rng.normal(size=(400, 3)) + labels[:, None], labels)
    row = np.array([3.0, 4.0, 5.0])
    np.testing.assert_allclose(model.scorer()(row), model.predict_proba(row[None])[0], atol=1e-12)
    np.testing.assert_allclose(model.discriminant_.scorer()(row), model.predict_proba(row[None])[0], atol=1e-12)


@pytest.mark.parametrize("name", ["lda", "qda", "votes", "sigmoid"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none_are_refused_and_named(name, bad):
    score = MODELS[name].fit(X, y).scorer()
    row = X[0].copy()
    row[2] = bad
    with pytest.raises(DataError, match="'x2'"):
        score(row)
    with pytest.raises(DataError, match="'x2'"):
        score(row[None])


def test_a_row_of_another_width_and_an_overflow_are_refused():
    score = MODELS["lda"].fit(X, y).scorer()
    with pytest.raises(DataError, match="rows of 4 numbers"):
        score(X[:2, :3])
    with pytest.raises(ValueError):
        score(X[0, :3])
    with pytest.raises(DataError, match="too large"):
        score(np.full(4, 1e308))
    with pytest.raises(DataError, match="nothing to export"):
        discriminant.LinearDiscriminantAnalysis().scorer()


def test_one_row_takes_microseconds():
    """10 µs on an idle machine; the bound leaves room for a busy one, and the model's own path is slower."""
    model = MODELS["lda"].fit(X, y)
    score, row = model.scorer(), X[0]
    own = min(timeit.repeat(lambda: model.predict_proba(row[None]), number=200, repeat=5)) / 200
    compiled = min(timeit.repeat(lambda: score(row), number=200, repeat=5)) / 200
    assert compiled < 50e-6
    assert compiled < own
