"""The decision layer over classifiers: costs, reject, priors, and scikit-learn's ways of handing things on."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as TheirLDA
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from discriminant import LinearDiscriminantAnalysis, MinimumRiskClassifier
from discriminant.decision import shift_posteriors
from discriminant.errors import DataError, MismatchError, ParameterError

IRIS = load_iris()
X, CODES = IRIS.data[:, :2], IRIS.target  # two columns, so that classes overlap
Y = IRIS.target_names[CODES]


@parametrize_with_checks([MinimumRiskClassifier(), MinimumRiskClassifier(LogisticRegression(C=100.0))])
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


# Costs


def test_without_costs_it_is_the_classifier_itself():
    model, plain = MinimumRiskClassifier().fit(X, Y), LinearDiscriminantAnalysis().fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_array_equal(model.predict_log_proba(X), plain.predict_log_proba(X))
    assert model.score(X, Y) == plain.score(X, Y)
    assert model.mean_cost(X, Y) == pytest.approx(1 - model.score(X, Y))
    assert model.actions_ is model.classes_


def test_dear_mistakes_are_avoided():
    costs = {("versicolor", "virginica"): 20}
    careful, plain = MinimumRiskClassifier(costs=costs).fit(X, Y), MinimumRiskClassifier().fit(X, Y)
    missed = [(m.predict(X)[Y == "virginica"] == "versicolor").sum() for m in (careful, plain)]
    assert missed[0] < missed[1]
    np.testing.assert_allclose(careful.costs_, [[0, 1, 1], [1, 0, 20], [1, 1, 0]])
    chosen = np.searchsorted(careful.classes_, careful.predict(X))
    assert careful.mean_cost(X, Y) == pytest.approx(careful.costs_[chosen, CODES].mean())
    weight = np.arange(150.0)
    expected = np.average(careful.costs_[chosen, CODES], weights=weight)
    assert careful.mean_cost(X, Y, sample_weight=weight) == pytest.approx(expected)


def test_acts_need_not_be_classes():
    costs = {"ask": {"setosa": 0.2, "versicolor": 0.2, "virginica": 0.2}}
    model = MinimumRiskClassifier(costs=costs).fit(X, Y)
    assert model.actions_.tolist() == ["setosa", "versicolor", "virginica", "ask"]
    same = MinimumRiskClassifier(reject_cost=0.2, reject_label="ask").fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), same.predict(X))
    yes_or_no = MinimumRiskClassifier(costs=[[0, 5, 5], [1, 0, 0]], actions=["eat", "leave"]).fit(X, Y)
    assert set(yes_or_no.predict(X)) == {"eat", "leave"}
    assert yes_or_no.score(X, Y) == 0
    assert yes_or_no.expected_costs(X).shape == (150, 2)


# Reject


def test_rejected_rows_are_those_below_chows_threshold():
    model = MinimumRiskClassifier(reject_cost=0.3).fit(X, Y)
    top = model.predict_proba(X).max(axis=1)
    np.testing.assert_array_equal(model.predict(X) == "reject", top < 0.7)
    kept = model.predict(X) != "reject"
    assert model.score(X, Y) == pytest.approx(((model.predict(X) == Y) & kept).mean())
    assert (model.predict(X)[kept] == Y[kept]).mean() > LinearDiscriminantAnalysis().fit(X, Y).score(X, Y)


@pytest.mark.parametrize(
    ("labels", "given", "expected", "kind"),
    [
        (["a", "b", "c"], None, "reject", "U"),
        ([1, 2, 3], None, -1, "i"),
        ([-1, 1, 2], None, 0, "i"),
        ([0.0, 1.0, 2.0], None, -1.0, "f"),
        ([1, 2, 3], "unsure", "unsure", "O"),
        (["a", "b", "c"], -1, -1, "O"),
        (["a", "b", "c"], "?", "?", "U"),
    ],
)
def test_the_reject_label_fits_the_classes_or_makes_objects(labels, given, expected, kind):
    y = np.array(labels)[CODES]
    model = MinimumRiskClassifier(reject_cost=0.3, reject_label=given).fit(X, y)
    predicted = model.predict(X)
    assert predicted.dtype.kind == kind
    rejected = predicted == expected
    assert 0 < rejected.sum() < 100
    assert set(predicted[~rejected].tolist()) == set(labels)


def test_a_reject_label_that_is_a_class_is_refused():
    with pytest.raises(ParameterError, match="reject_label 'setosa' is already"):
        MinimumRiskClassifier(reject_cost=0.3, reject_label="setosa").fit(X, Y)
    with pytest.raises(ParameterError, match="reject_label -1 is already"):
        MinimumRiskClassifier(reject_cost=0.3).fit(X, CODES - 1)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"reject_cost": "high"}, "'reject_cost' parameter"),
        ({"reject_cost": np.nan}, "'reject_cost' parameter"),
        ({"actions": ["a"]}, "say with costs"),
        ({"costs": np.ones((2, 2))}, "costs has shape"),
        ({"priors": [0.5, 0.5]}, "3 classes"),
        ({"priors": [0.5, 0.3, 0.2], "training_priors": [1, 0]}, "training_priors has shape"),
    ],
)
def test_parameters_that_make_no_sense_are_refused_and_nothing_is_left(parameters, sentence):
    model = MinimumRiskClassifier(**parameters)
    with pytest.raises(ParameterError, match=sentence):
        model.fit(X, Y)
    assert not hasattr(model, "classes_")


# Priors


@pytest.mark.parametrize(
    "base",
    [
        LinearDiscriminantAnalysis(),
        TheirLDA(priors=[0.2, 0.2, 0.6]),
        GaussianNB(),
        MultinomialNB(class_prior=[0.2, 0.2, 0.6]),
        LogisticRegression(),
        LogisticRegression(class_weight="balanced"),
        make_pipeline(StandardScaler(), TheirLDA(priors=[0.2, 0.2, 0.6])),
        FrozenEstimator(TheirLDA(priors=[0.2, 0.2, 0.6]).fit(X, Y)),
    ],
    ids=lambda base: type(base).__name__,
)
def test_the_training_priors_are_found(base):
    rows = np.r_[0:50, 50:80, 100:120]  # 50, 30, 20
    given = isinstance(base, FrozenEstimator) or "0.6" in str(base)
    balanced = getattr(base, "class_weight", None) is not None
    expected = [0.2, 0.2, 0.6] if given else [1 / 3] * 3 if balanced else [0.5, 0.3, 0.2]
    new = [0.1, 0.2, 0.7]
    model = MinimumRiskClassifier(base, priors=new).fit(X[rows], Y[rows])
    np.testing.assert_allclose(model.training_priors_, expected, rtol=1e-12)
    moved = shift_posteriors(model.estimator_.predict_proba(X), expected, new)
    np.testing.assert_allclose(model.predict_proba(X), moved, rtol=1e-10)


def test_priors_may_be_named_and_training_priors_given():
    new = {"setosa": 0.1, "virginica": 0.7, "versicolor": 0.2}
    model = MinimumRiskClassifier(LogisticRegression(), priors=new, training_priors=[0.5, 0.3, 0.2]).fit(X, Y)
    np.testing.assert_array_equal(model.priors_, [0.1, 0.2, 0.7])
    np.testing.assert_array_equal(model.training_priors_, [0.5, 0.3, 0.2])


def test_row_weights_count_as_frequencies():
    weight = np.where(CODES == 0, 2.0, 1.0)
    model = MinimumRiskClassifier(LogisticRegression(), priors=[1 / 3] * 3).fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(model.training_priors_, [0.5, 0.25, 0.25])


def test_zero_probabilities_have_a_logarithm():
    class Certain(LogisticRegression):
        predict_log_proba = property()  # a classifier without it

        def predict_proba(self, X):
            return super().predict_proba(X).round()

    model = MinimumRiskClassifier(Certain(C=1e6, max_iter=1000), priors=[0.2, 0.3, 0.5]).fit(IRIS.data, Y)
    assert model.predict_proba(IRIS.data).min() == 0
    assert MinimumRiskClassifier(Certain()).fit(X, Y).predict_log_proba(X).min() == -np.inf


# scikit-learn's ways


def test_a_classifier_without_probabilities_is_refused():
    with pytest.raises(MismatchError, match="LinearSVC has no predict_proba"):
        MinimumRiskClassifier(LinearSVC()).fit(X, Y)
    calibrated = MinimumRiskClassifier(CalibratedClassifierCV(LinearSVC()), reject_cost=0.2).fit(X, Y)
    assert "reject" in calibrated.predict(X)


def test_one_class_is_refused():
    with pytest.raises(DataError, match="one class only"):
        MinimumRiskClassifier(GaussianNB()).fit(X[:50], Y[:50])


def test_a_frozen_classifier_stays_as_it_is():
    fitted = LinearDiscriminantAnalysis().fit(X, Y)
    model = MinimumRiskClassifier(FrozenEstimator(fitted), costs={("setosa", "virginica"): 9})
    model.fit(X[60:], Y[60:], sample_weight=np.ones(90))
    np.testing.assert_array_equal(model.predict_proba(X), fitted.predict_proba(X))
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]


def test_weights_reach_the_last_step_of_a_pipeline():
    weight = np.random.default_rng(0).integers(1, 4, size=150)
    model = MinimumRiskClassifier(make_pipeline(StandardScaler(), LogisticRegression()))
    model.fit(X, Y, sample_weight=weight)
    direct = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y, logisticregression__sample_weight=weight)
    np.testing.assert_array_equal(model.predict_proba(X), direct.predict_proba(X))
    with pytest.raises(MismatchError, match="does not accept sample_weight"):
        MinimumRiskClassifier(TheirLDA()).fit(X, Y, sample_weight=weight)


def test_metadata_are_routed_where_routing_is_on():
    weight = np.random.default_rng(1).integers(1, 4, size=150)
    direct = LogisticRegression().fit(X, Y, sample_weight=weight)
    with sklearn.config_context(enable_metadata_routing=True):
        base = LogisticRegression().set_fit_request(sample_weight=True)
        model = MinimumRiskClassifier(base).fit(X, Y, sample_weight=weight)
        np.testing.assert_array_equal(model.predict_proba(X), direct.predict_proba(X))
        plain = MinimumRiskClassifier(base).fit(X, Y)
        assert not np.allclose(plain.predict_proba(X), direct.predict_proba(X))
    pieces = MinimumRiskClassifier(LogisticRegression()).fit(X, Y, sample_weight=weight)
    np.testing.assert_array_equal(pieces.predict_proba(X), direct.predict_proba(X))


def test_costs_can_be_searched_and_models_copied():
    search = GridSearchCV(
        MinimumRiskClassifier(LinearDiscriminantAnalysis()),
        {"estimator__shrinkage": [None, 0.5], "reject_cost": [None, 0.2]},
        scoring=lambda model, X, y: -model.mean_cost(X, y),
        cv=3,
    ).fit(X, Y)
    assert search.best_params_["reject_cost"] == 0.2
    twin = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(twin.predict(X), search.predict(X))
    assert clone(search.best_estimator_).get_params()["reject_cost"] == 0.2


def test_feature_names_are_kept():
    frame = pd.DataFrame(X, columns=["length", "width"])
    model = MinimumRiskClassifier(reject_cost=0.1).fit(frame, Y)
    assert model.feature_names_in_.tolist() == ["length", "width"]
    assert model.n_features_in_ == 2
    np.testing.assert_array_equal(model.predict(frame), MinimumRiskClassifier(reject_cost=0.1).fit(X, Y).predict(X))


def test_unknown_labels_have_no_cost():
    with pytest.raises(DataError, match="'tulip', which is no class"):
        MinimumRiskClassifier().fit(X, Y).mean_cost(X[:1], ["tulip"])


def test_labels_that_do_not_fit_the_rows_are_refused_in_a_sentence():
    model = MinimumRiskClassifier().fit(X, Y)
    for ask in (model.score, model.mean_cost):
        with pytest.raises(DataError, match="X has 150 rows and y has 3"):
            ask(X, Y[:3])
    with pytest.raises(ParameterError, match="actions names 'ask' twice"):
        MinimumRiskClassifier(costs=np.ones((3, 3)), actions=["ask", "ask", "wait"]).fit(X, Y)
