"""``Discriminant``: any parts that fit together, on any storage, with refusals in sentences."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler

from discriminant import Discriminant, LinearDiscriminant, LogisticRegression
from discriminant.bases import Log, Polynomial, Radial
from discriminant.criteria import Hinge, Kesler, Perceptron, Relaxation, ZeroOne
from discriminant.errors import DataError, DiscriminantWarning, MismatchError, ParameterError
from discriminant.estimators import features
from discriminant.optimize import LBFGS, Annealing, GradientDescent, LinearProgram, MixedInteger, Newton, SingleSample
from discriminant.penalties import ElasticNet, Jeffreys, Lasso, Ridge

IRIS = load_iris()
X, Y = IRIS.data, IRIS.target
TWO = (X[50:], Y[50:])
quiet = pytest.mark.filterwarnings("ignore::discriminant.errors.DiscriminantWarning")


@quiet
@pytest.mark.parametrize(
    "criterion", ["logistic", "squared", "sigmoid-squared", "hinge", "squared-hinge", "perceptron"]
)
@pytest.mark.parametrize("coding", ["auto", "one-vs-rest", "one-vs-rest-k-1", "pairwise", "machine"])
def test_every_criterion_with_every_coding(criterion, coding):
    model = Discriminant(criterion=criterion, coding=coding).fit(X, Y)
    outputs = {"one-vs-rest-k-1": 2}.get(coding, 3)
    assert model.coef_.shape == (outputs, 4)
    assert model.outputs(X).shape == (150, outputs)
    assert model.decision_function(X).shape == (150, 3)
    assert model.score(X, Y) > (0.3 if criterion == "perceptron" else 0.6)


def test_an_error_correcting_matrix():
    code = [[1, 1, 0], [-1, 0, 1], [0, -1, -1]]
    model = Discriminant(coding=np.array(code), penalty=Ridge(1e-3)).fit(X, Y)
    pairs = Discriminant(coding="pairwise", penalty=Ridge(1e-3), decoder="sum").fit(X, Y)
    assert np.abs(model.coef_ - pairs.coef_).max() < 1e-9


def test_the_answer_is_that_of_a_general_optimizer():
    """J = mean hinge² + ridge, minimised by SciPy from its formula."""

    def J(a):
        short = np.maximum(1 - t * (a[0] + TWO[0] @ a[1:]), 0)
        return np.square(short).mean() + 0.05 * a[1:] @ a[1:]

    t = np.where(TWO[1] == 2, 1.0, -1.0)
    best = minimize(J, np.zeros(5), method="Nelder-Mead", options={"maxiter": 20_000, "xatol": 1e-9, "fatol": 1e-14})
    model = Discriminant(criterion="squared-hinge", penalty=Ridge(0.1)).fit(*TWO)
    assert model.certificate_.objective == pytest.approx(best.fun, rel=1e-7)
    assert model.certificate_.objective <= best.fun * (1 + 1e-9)


@pytest.mark.parametrize("K", [2, 3])
def test_logistic_parts_are_logistic_regression(K):
    data, labels = TWO if K == 2 else (X, Y)
    parts = Discriminant(criterion="logistic", coding="softmax" if K == 3 else "auto", penalty=Ridge(1 / len(data)))
    whole = LogisticRegression(C=1.0).fit(data, labels)
    assert np.abs(parts.fit(data, labels).coef_ - whole.coef_).max() < 1e-8
    assert np.abs(parts.predict_proba(data) - whole.predict_proba(data)).max() < 1e-9


@quiet
@pytest.mark.parametrize(
    ("options", "method"),
    [
        ({"criterion": "squared"}, "closed-form"),
        ({"criterion": "hinge"}, "linear-program"),
        ({"penalty": "lasso"}, "proximal-gradient"),
        ({}, "newton"),
        ({"criterion": "perceptron"}, "single-sample"),
        ({"criterion": "zero-one"}, "mixed-integer"),
        ({"optimizer": "lbfgs"}, "lbfgs"),
    ],
)
def test_the_plan_tells_what_fit_does(options, method):
    model = Discriminant(**options)
    choice = model.plan(*TWO)
    assert choice.method == method
    assert not hasattr(model, "classes_")
    if method not in ("mixed-integer",):
        assert model.fit(*TWO).certificate_.notes[0] == str(choice)


# Refusals


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"criterion": "perceptron", "optimizer": "newton"}, "Newton needs a curvature"),
        ({"criterion": "zero-one", "optimizer": GradientDescent()}, "GradientDescent needs a gradient"),
        ({"criterion": "hinge", "coding": "softmax"}, "'softmax' goes with criterion Logistic"),
        ({"criterion": "softmax", "coding": "pairwise"}, "couples the outputs"),
        ({"criterion": Kesler(Hinge()), "coding": "one-vs-rest"}, "use the coding 'machine'"),
        ({"penalty": Jeffreys(), "criterion": "hinge"}, "third derivative"),
        ({"penalty": "lasso", "optimizer": LBFGS()}, "penalty Lasso"),
        ({"criterion": Perceptron(), "optimizer": LinearProgram()}, "positive margin"),
        ({"criterion": "logistic", "optimizer": MixedInteger()}, "needs a criterion that is zero beyond a margin"),
        ({"optimizer": SingleSample(), "penalty": ElasticNet(0.1)}, "SingleSample"),
    ],
)
def test_parts_that_do_not_fit_are_refused_in_a_sentence(options, words):
    with pytest.raises(MismatchError, match=words):
        Discriminant(**options).fit(X, Y)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"criterion": "log"}, "'criterion' parameter .* Got 'log'"),
        ({"coding": "ovr"}, "'coding' parameter .* Got 'ovr'"),
        ({"decoder": "maximum", "coding": "pairwise"}, "needs an output for each class"),
        ({"penalty": "l3"}, "'penalty' parameter .* Got 'l3'"),
        ({"optimizer": "adam"}, "'optimizer' parameter .* Got 'adam'"),
        ({"start": "ones"}, "'start' parameter .* Got 'ones'"),
        ({"start": np.ones((2, 2))}, "the intercept first"),
        ({"basis": "cubic"}, "'cubic' is not a basis"),
        ({"class_weight": {7: 1.0}}, "not in class_weight"),
    ],
)
def test_values_that_mean_nothing_are_refused_in_a_sentence(options, words):
    with pytest.raises((ParameterError, DataError), match=words):
        Discriminant(**options).fit(X, Y)


def test_a_fit_that_fails_leaves_the_model_as_it_was():
    model = Discriminant(penalty="ridge").fit(X, Y)
    before = dict(vars(model))
    with pytest.raises(DataError, match="NaN"):
        model.fit(np.where(X > 7, np.nan, X), Y)
    assert vars(model) == before


@pytest.mark.parametrize("criterion", ["logistic", "hinge", "perceptron", "squared", "zero-one"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_none_are_named(criterion, bad):
    frame = pd.DataFrame(X[50:], columns=["a", "b", "c", "d"])
    frame.loc[7, "c"] = bad
    with pytest.raises(DataError, match=r"column '?(c|2)'? in row 7"):
        Discriminant(criterion=criterion).fit(frame, Y[50:])


def test_one_class_is_refused():
    with pytest.raises(DataError, match="one class only"):
        Discriminant().fit(X[:50], Y[:50])


# Storage, features, weights


@quiet
def test_any_storage_gives_one_answer():
    model = Discriminant(penalty=Ridge(0.01)).fit(X, Y)
    frame = pd.DataFrame(X, columns=list("abcd"))
    for given in (csr_array(X), np.asfortranarray(X), frame, pl.DataFrame(X, schema=list("abcd"))):
        other = clone(model).fit(given, Y)
        assert np.abs(other.coef_ - model.coef_).max() < 1e-10
        assert np.array_equal(other.predict(given), model.predict(X))
    assert Discriminant().fit(X.astype(np.float32), Y).coef_.dtype == np.float32


@pytest.mark.parametrize("basis", [Polynomial(2), Radial(6, random_state=0), PolynomialFeatures(2, include_bias=False)])
def test_features_worked_out_block_by_block_are_those_held_as_a_whole(basis, monkeypatch):
    whole = Discriminant(basis=basis, penalty=Ridge(0.01)).fit(X, Y)
    monkeypatch.setattr(features, "HELD_VALUES", 10)
    blocks = Discriminant(basis=basis, penalty=Ridge(0.01)).fit(X, Y)
    assert np.abs(blocks.coef_ - whole.coef_).max() < 1e-9
    assert np.abs(whole.predict_proba(X) - blocks.predict_proba(X)).max() < 1e-10
    assert whole.discriminant_.predict(X).tolist() == whole.predict(X).tolist()
    by_hand = Discriminant(penalty=Ridge(0.01)).fit(clone(basis).fit(X, Y).transform(X), Y)
    assert np.abs(by_hand.coef_ - whole.coef_).max() < 1e-9
    assert not hasattr(basis, "n_features_in_")  # the user's own is left unfitted


@quiet
def test_frames_keep_their_names_through_a_basis():
    frame = pd.DataFrame(X, columns=["sepal", "width", "petal", "tip"])
    model = Discriminant(basis=Log().on("petal") + Polynomial(1), penalty=Ridge(0.01)).fit(frame, Y)
    assert model.discriminant_.names[0] == "log(petal)"
    assert model.score(frame, Y) > 0.9
    assert np.array_equal(model.discriminant_.predict(X), model.predict(frame))  # names are put back
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"petal": "leaf"}))


@quiet
def test_a_column_transformer_is_a_basis_for_columns_of_text():
    frame = pd.DataFrame({"length": X[:, 2], "kind": np.where(X[:, 3] > 1.6, "wide", "slim")})
    basis = ColumnTransformer([("number", StandardScaler(), ["length"]), ("text", OneHotEncoder(), ["kind"])])
    model = Discriminant(basis=basis, penalty=Ridge(0.01)).fit(frame, Y)
    assert model.score(frame, Y) > 0.9
    assert model.coef_.shape == (3, 3)
    single = frame.astype({"length": np.float32})
    np.testing.assert_allclose(model.decision_function(single), model.decision_function(frame), rtol=1e-5, atol=1e-5)


def test_a_parameter_of_the_basis_is_searched():
    search = GridSearchCV(Discriminant(basis=Polynomial(1), penalty=Ridge(0.01)), {"basis__degree": [1, 2]}, cv=3)
    assert search.fit(X, Y).best_params_["basis__degree"] in (1, 2)


@pytest.mark.parametrize("criterion", ["logistic", "squared", "squared-hinge", "sigmoid-squared"])
def test_a_whole_weight_is_a_repeated_row(criterion):
    weight = np.arange(100) % 3
    once = Discriminant(criterion=criterion, penalty=Ridge(0.02)).fit(*TWO, sample_weight=weight)
    often = Discriminant(criterion=criterion, penalty=Ridge(0.02)).fit(
        TWO[0].repeat(weight, axis=0), TWO[1].repeat(weight)
    )
    assert np.abs(once.coef_ - often.coef_).max() < 1e-9
    balanced = Discriminant(criterion=criterion, penalty=Ridge(0.02), class_weight="balanced").fit(*TWO)
    plain = Discriminant(criterion=criterion, penalty=Ridge(0.02)).fit(*TWO)
    assert np.abs(balanced.coef_ - plain.coef_).max() < 1e-12  # the classes are of one size


@pytest.mark.parametrize("criterion", ["logistic", "squared", "hinge", "squared-hinge"])
def test_without_an_intercept_the_boundary_passes_the_origin(criterion):
    model = Discriminant(criterion=criterion, fit_intercept=False).fit(*TWO)
    assert model.intercept_ == [0.0]
    assert model.decision_function(np.zeros((1, 4))) == [0.0]
    if criterion == "squared":
        best = np.linalg.lstsq(TWO[0], np.where(TWO[1] == 2, 1.0, -1.0), rcond=None)[0]
        assert np.abs(model.coef_[0] - best).max() < 1e-10


def test_units_of_columns_change_nothing_but_the_units():
    factors = np.array([1e6, 1.0, 1e-6, 1e3])
    plain = Discriminant().fit(*TWO)
    scaled = Discriminant().fit(TWO[0] * factors, TWO[1])
    assert np.abs(scaled.coef_ * factors / plain.coef_ - 1).max() < 1e-6


# What a fitted model has


def test_rows_that_not_exactly_one_class_claims_are_rejected():
    model = Discriminant(coding="one-vs-rest", decoder="unanimous", penalty=Ridge(0.01)).fit(X, Y)
    z, answer = model.outputs(X), model.predict(X)
    assert np.array_equal(answer == -1, (z > 0).sum(axis=1) != 1)
    assert 0 < (answer == -1).sum() < 60
    names = np.array(["a", "b", "c"])[Y]
    named = Discriminant(coding="pairwise", decoder="unanimous", penalty=Ridge(0.01), reject_label="?").fit(X, names)
    assert set(named.predict(4 * X)) <= {"a", "b", "c", "?"}
    with pytest.raises(ParameterError, match="label of a class"):
        named.set_params(reject_label="a").predict(X)


@quiet
def test_probabilities_only_where_there_are_some():
    coupled = Discriminant(coding="pairwise", penalty=Ridge(0.001)).fit(X, Y).predict_proba(X)
    assert np.abs(coupled.sum(axis=1) - 1).max() < 1e-12
    assert (coupled.argmax(axis=1) == Y).mean() > 0.95
    with pytest.raises(AttributeError) as refused:
        Discriminant(criterion="hinge").fit(X, Y).predict_proba(X)
    assert "not log odds" in str(refused.value)
    assert not hasattr(Discriminant(), "predict_proba")


@quiet
def test_steps_are_traced_and_a_callback_ends_the_run():
    seen = []

    def watch(step):
        seen.append(step.objective)
        return step.k == 3

    model = Discriminant(optimizer=GradientDescent(step=0.05), trace=True, callback=watch).fit(*TWO)
    assert model.n_iter_ == 3
    assert "callback" in model.certificate_.status
    assert model.history_["weights"].shape == (4, 5, 1)
    assert model.history_["objective"].tolist() == seen
    assert model.history_["errors"].shape == (4,)


@quiet
def test_a_warm_start_goes_on():
    short = Discriminant(optimizer=GradientDescent(step=0.05, iterations=10), warm_start=True)
    twice = short.fit(*TWO).fit(*TWO).coef_
    once = Discriminant(optimizer=GradientDescent(step=0.05, iterations=20)).fit(*TWO).coef_
    assert np.abs(twice - once).max() < 1e-14


def test_a_fitted_model_is_pickled_with_its_discriminant():
    model = pickle.loads(pickle.dumps(Discriminant(basis="quadratic", penalty=Ridge(0.1)).fit(X, Y)))
    assert isinstance(model.discriminant_, LinearDiscriminant)
    assert model.score(X, Y) > 0.9


def test_separated_rows_have_no_minimum_and_the_fit_says_so():
    with pytest.warns(DiscriminantWarning, match="No minimum exists"):
        model = Discriminant().fit(X[:100], Y[:100])
    assert not model.certificate_.converged


def test_annealing_and_programs_count_errors():
    annealed = Discriminant(criterion="zero-one", optimizer=Annealing(iterations=200))
    with pytest.warns(DiscriminantWarning, match="does not prove"):
        annealed.fit(*TWO)
    assert annealed.score(*TWO) >= 0.96
    machine = Kesler(ZeroOne(), "worst")
    assert machine.coupled
    assert Discriminant(criterion=Relaxation(), optimizer=Newton()).fit(*TWO).score(*TWO) > 0.9
    assert Discriminant(penalty=Lasso(0.01)).fit(*TWO).score(*TWO) > 0.9


def test_squares_of_single_precision_are_not_rounded_before_they_are_fitted():
    """Offsets of 100 under a quadratic basis: 10⁴ in float32 has three digits after the point, which was another J."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = (rng.normal(size=(60, 2)) + 1.2 * np.eye(3, 2)[y] + 100.0).astype(np.float32)
    for storage in (np.asarray, csr_array):
        single = Discriminant(basis="quadratic").fit(storage(X), y)
        double = Discriminant(basis="quadratic").fit(storage(X.astype(np.float64)), y)
        assert single.certificate_.objective == pytest.approx(double.certificate_.objective, rel=1e-9)


@pytest.mark.parametrize("coding", ["one-vs-rest", "pairwise"])
def test_many_outputs_on_nearly_collinear_features_reach_the_minimum_in_any_storage(coding):
    """κ(H) near 1/ε: each output's step comes from a square root of H, so that sparse rows end where dense ones do."""
    rng = np.random.default_rng(1)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 2)) + 0.8 * np.eye(3, 2)[y] + 100.0
    dense, thin = (Discriminant(basis="quadratic", coding=coding).fit(Z, y) for Z in (X, csr_array(X)))
    assert dense.certificate_.objective == pytest.approx(thin.certificate_.objective, rel=1e-9)
