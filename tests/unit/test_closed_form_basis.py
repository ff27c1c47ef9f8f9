"""A basis, a plan and an explanation for the methods in closed form: they work on φ(x) as on x."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import discriminant
from discriminant import bases
from discriminant.errors import DiscriminantWarning, MismatchError, ParameterError

METHODS = [
    discriminant.LinearDiscriminantAnalysis(),
    discriminant.LinearDiscriminantAnalysis(shrinkage=0.1, covariance="unbiased"),
    discriminant.QuadraticDiscriminantAnalysis(pooling=0.5),
    discriminant.FisherDiscriminant(),
    discriminant.LeastSquaresClassifier(),
    discriminant.LeastSquaresClassifier("pairwise", alpha=0.1),
]


@pytest.fixture(params=METHODS, ids=repr)
def method(request):
    return request.param


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 2)) * [1, 3]
    return X, (X[:, 0] ** 2 + X[:, 1] ** 2 / 9 > 1).astype(int) + (X[:, 0] > 1.2)


def made(method, basis):
    return type(method)(**{**method.get_params(deep=False), "basis": basis})


def test_a_basis_is_the_fit_on_its_features(method, rows):
    """model(basis=φ) on x equals model on φ(x): scores, classes, axes."""
    X, y = rows
    features = bases.Polynomial(2).fit_transform(X)
    model, plain = made(method, "quadratic").fit(X, y), made(method, None).fit(features, y)
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(features), rtol=1e-9, atol=1e-9)
    assert (model.predict(X) == plain.predict(features)).all()
    assert model.n_features_in_ == 2
    if hasattr(model, "transform"):
        np.testing.assert_allclose(model.transform(X), plain.transform(features), atol=1e-9)
    if hasattr(model, "discriminant_"):
        assert (model.discriminant_.predict(X) == model.predict(X)).all()


def test_a_basis_sees_the_names_of_a_frame(method, rows):
    X, y = rows
    frame = pd.DataFrame(X, columns=["width", "height"])
    model = made(method, bases.Polynomial(2).on("width") + bases.Linear().on("height")).fit(frame, y)
    features = np.column_stack([X[:, 0], X[:, 0] ** 2, X[:, 1]])
    plain = made(method, None).fit(features, y)
    np.testing.assert_allclose(model.decision_function(frame), plain.decision_function(features), atol=1e-9)
    assert model._feature_names() == ["width", "width²", "height"]


def test_learning_in_parts_and_merging_add_the_moments_of_the_features(rows):
    X, y = rows
    for method in (discriminant.LinearDiscriminantAnalysis(), discriminant.LeastSquaresClassifier()):
        whole = made(method, bases.Polynomial(2)).fit(X, y)
        parts = made(method, bases.Polynomial(2)).partial_fit(X[:99], y[:99], classes=[0, 1, 2])
        parts.partial_fit(X[99:], y[99:])
        half, other = (made(method, bases.Polynomial(2)).fit(X[i::2], y[i::2]) for i in range(2))
        for model in (parts, half.merge(other)):
            np.testing.assert_allclose(model.decision_function(X), whole.decision_function(X), atol=1e-8)


def test_features_that_were_learned_from_other_rows_are_not_merged(rows):
    X, y = rows
    half, other = (discriminant.LinearDiscriminantAnalysis(basis="rbf:4").fit(X[i::2], y[i::2]) for i in range(2))
    with pytest.raises(MismatchError, match="learned different features"):
        half.merge(other)


def test_leave_one_out_and_summary_are_those_of_the_features(rows):
    X, y = rows
    features = bases.Polynomial(2).fit_transform(X)
    for kind in (discriminant.LinearDiscriminantAnalysis, discriminant.LeastSquaresClassifier):
        model, plain = kind(basis="quadratic").fit(X, y), kind().fit(features, y)
        assert (model.loo_predict(X, y) == plain.loo_predict(features, y)).all()
        np.testing.assert_allclose(model.summary().standard_error, plain.summary().standard_error, rtol=1e-8)
        assert "x0·x1" in str(model.summary())
    least = discriminant.LeastSquaresClassifier(basis="quadratic").fit(X, y)
    np.testing.assert_allclose(least.leverages(X).sum(), 6, rtol=1e-9)  # the rank of [1, φ]


@pytest.mark.parametrize(
    "kind",
    [
        discriminant.LinearDiscriminantAnalysis,
        discriminant.QuadraticDiscriminantAnalysis,
        discriminant.FisherDiscriminant,
        discriminant.LeastSquaresClassifier,
    ],
)
def test_two_to_four_is_learned_on_a_quadratic(kind):
    """Alpaydin, exercise 9: the class 2 < x < 4 is not linear in x and is in (x, x²)."""
    x = np.linspace(0, 6, 121)[:, None]
    inside = ((x[:, 0] > 2) & (x[:, 0] < 4)).astype(int)
    assert kind(basis="quadratic").fit(x, inside).score(x, inside) > 0.85
    if kind is discriminant.FisherDiscriminant:  # both classes have their mean at 3
        with pytest.warns(discriminant.errors.DiscriminantWarning, match="class means coincide"):
            assert kind().fit(x, inside).score(x, inside) < 0.7
    elif kind is not discriminant.QuadraticDiscriminantAnalysis:
        assert kind().fit(x, inside).score(x, inside) < 0.7


@pytest.mark.parametrize("basis", ["quadratic", "rbf:5", bases.LowRankQuadratic(1), "step:3 + linear"])
def test_a_model_with_a_basis_is_saved_with_what_the_basis_learned(tmp_path, method, rows, basis):
    X, y = rows
    model = made(method, basis).fit(pd.DataFrame(X, columns=["a", "b"]), y)
    discriminant.save(model, tmp_path / "model")
    back = discriminant.load(tmp_path / "model")
    frame = pd.DataFrame(X, columns=["a", "b"])
    np.testing.assert_array_equal(back.decision_function(frame), model.decision_function(frame))


def test_steppers_with_a_basis_are_saved_too(tmp_path, rows):
    X, y = rows
    for model in (discriminant.LogisticRegression(basis="rbf:5"), discriminant.LinearSVC(basis="quadratic")):
        model.fit(X, y)
        discriminant.save(model, tmp_path / "model")
        np.testing.assert_array_equal(discriminant.load(tmp_path / "model").predict(X), model.predict(X))


def test_a_users_function_cannot_be_saved_and_a_sentence_says_so(tmp_path, rows):
    X, y = rows
    model = discriminant.LinearDiscriminantAnalysis(basis=np.tanh).fit(X, y)
    with pytest.raises(ValueError, match="cannot hold"):
        discriminant.save(model, tmp_path / "model")


def test_plan_history_and_steps_are_there_without_steps(method, rows):
    X, y = rows
    model = made(method, "quadratic")
    choice = model.plan(X, y)
    assert choice.method == "moments"
    assert "5 columns" in choice.why
    assert not hasattr(model, "n_features_in_")  # a plan is no fit
    model.fit(X, y)
    assert model.n_iter_ == 1
    assert len(model.history_) == 0


def test_a_plan_tells_of_wide_rows():
    X = np.random.default_rng(0).normal(size=(20, 1200))
    assert discriminant.LinearDiscriminantAnalysis().plan(X, np.arange(20) % 2).method == "inner products"


@pytest.mark.parametrize(
    ("options", "shape", "method"),
    [
        ({}, (40, 3), "newton"),
        ({"loss": "hinge"}, (40, 3), "interior point"),
        ({"loss": "hinge"}, (20, 1500), "interior point in the span of the rows"),
        ({"penalty": "l1"}, (40, 3), "coordinate descent on a working set"),
        ({"multi_class": "crammer_singer"}, (40, 3), "dual coordinate descent over rows"),
        ({"coding": "pairwise"}, (40, 3), "newton"),
    ],
)
def test_the_plan_of_a_support_vector_machine_is_what_its_fit_does(options, shape, method):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=shape), rng.integers(0, 3, size=shape[0])
    model = discriminant.LinearSVC(**options)
    assert model.plan(X, y).method == method
    assert not hasattr(model, "n_features_in_")
    model.fit(X, y)
    assert model.certificate_.notes[0] == method
    assert len(model.history_) == 0


# Explanations


@pytest.mark.parametrize(
    "name",
    sorted(name for name, home in discriminant._HOMES.items() if home.startswith("estimators.") and name[0].isupper()),
)
def test_every_estimator_explains_its_scores(name):
    """g(x) = g(r) + Σ_j w_j (x_j − r_j)."""
    iris = discriminant.datasets.load("iris")
    X, y = pd.DataFrame(iris.X, columns=list("abcd")), (iris.y == "virginica").astype(int)
    model = getattr(discriminant, name)()
    if name == "QuadraticDiscriminantAnalysis":
        with pytest.raises(AttributeError, match="no weight for an attribute"):
            model.fit(X, y).explain(X)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscriminantWarning)  # these classes overlap, and some methods say so
        model.fit(X, y)
    shares = model.explain(X, reference=iris.X.mean(axis=0))
    assert shares.values.shape == (150, 4)
    assert shares.feature_names == ("a", "b", "c", "d")
    fitted = getattr(model, "estimator_", model)
    np.testing.assert_allclose(shares.scores, fitted.decision_function(X), rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(shares.baseline, fitted.decision_function(X).mean(), rtol=1e-7, atol=1e-7)


def test_contributions_are_of_features_where_there_is_a_basis(rows):
    X, y = rows
    model = discriminant.LinearDiscriminantAnalysis(basis="quadratic").fit(X, y)
    shares = model.explain(X)
    assert shares.feature_names == ("x0", "x1", "x0²", "x0·x1", "x1²")
    np.testing.assert_allclose(shares.scores, model.decision_function(X), atol=1e-9)


def test_votes_have_no_contributions_and_a_sentence_says_so(rows):
    X, y = rows
    model = discriminant.LeastSquaresClassifier("pairwise").fit(X, y)
    with pytest.raises(MismatchError, match="'pairwise' with the decoder 'votes'"):
        model.explain(X)


# The decoder that rejects, for least squares


def test_least_squares_rejects_where_not_exactly_one_output_agrees():
    iris = discriminant.datasets.load("iris")
    model = discriminant.LeastSquaresClassifier("one-vs-rest", decoder="unanimous", reject_label="?")
    model.fit(iris.X, iris.y)
    claimed = (model.discriminant_.scores(iris.X) > 0).sum(axis=1)
    said = model.predict(iris.X)
    assert 0 < (claimed != 1).sum() < 150
    np.testing.assert_array_equal(said == "?", claimed != 1)
    assert (said[claimed == 1] == iris.y[claimed == 1]).mean() > 0.85
    with pytest.raises(ParameterError, match="label of a class"):
        model.set_params(reject_label="setosa").predict(iris.X)


@pytest.mark.parametrize("name", ["Discriminant", "LinearSVC", "LinearDiscriminantAnalysis"])
@pytest.mark.filterwarnings("ignore::discriminant.errors.DiscriminantWarning")
def test_scores_of_features_far_from_zero_are_the_same_in_float32(name):
    """Squares of 1,000 ± 2 in float32 would have lost the digits that tell the rows apart: φ is float64."""
    iris = discriminant.datasets.load("iris")
    X = (iris.X + 1000).astype(np.float32)
    for made in (np.asarray, lambda rows: pd.DataFrame(rows, columns=list("abcd"))):
        model = getattr(discriminant, name)(basis="quadratic").fit(made(X.astype(np.float64)), iris.y)
        expected = model.decision_function(made(X.astype(np.float64)))
        found = model.decision_function(made(X))
        assert np.abs(found - expected).max() < 1e-6 * np.abs(expected).max()  # float32 has seven digits
