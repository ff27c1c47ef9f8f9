"""scikit-learn's newer habits, of every estimator: routing, declared parameters, links in HTML, names of features.

What ``check_estimator`` asks is in test_scikit_learn_contract.py.
"""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression as Original
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tests import test_metaestimators_metadata_routing as routing
from sklearn.utils.estimator_checks import check_param_validation

import discriminant
from contracts.test_scikit_learn_contract import DEFAULTS
from discriminant import patch

IDS = [type(model).__name__ for model in DEFAULTS]
# Two are routers themselves: what they hand weights to must ask, too (test_logistic_cv.py, test_minimum_risk.py).
ROUTERS = (discriminant.LogisticRegressionCV, discriminant.MinimumRiskClassifier)
WEIGHTED = [model for model in DEFAULTS if not isinstance(model, ROUTERS)]


def rows():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + 0.8 * rng.normal(size=60) > 0).astype(int)
    return np.abs(X), y, rng.integers(1, 4, size=60)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", WEIGHTED, ids=lambda model: type(model).__name__)
def test_weights_are_routed_through_pipelines(model):
    X, y, weight = rows()
    scaler = StandardScaler(with_mean=False).fit(X)
    plain = clone(model).fit(scaler.transform(X), y, sample_weight=weight)
    with sklearn.config_context(enable_metadata_routing=True):
        first = StandardScaler(with_mean=False).set_fit_request(sample_weight=False)
        last = clone(model).set_fit_request(sample_weight=True)
        routed = make_pipeline(first, last).fit(X, y, sample_weight=weight)
        assert (routed.predict(X) == plain.predict(scaler.transform(X))).all()
        with pytest.raises(ValueError, match="sample_weight"):
            make_pipeline(clone(first), clone(model)).fit(X, y, sample_weight=weight)


def test_weights_and_groups_are_routed_through_searches():
    X, y, weight = rows()
    groups = np.arange(len(y)) % 6
    with sklearn.config_context(enable_metadata_routing=True):
        model = discriminant.LogisticRegression()
        model = model.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(model, {"C": [0.01, 1.0]}, cv=GroupKFold(3)).fit(
            X, y, sample_weight=weight, groups=groups
        )
        theirs = Original(tol=1e-10).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        other = GridSearchCV(theirs, {"C": [0.01, 1.0]}, cv=GroupKFold(3)).fit(
            X, y, sample_weight=weight, groups=groups
        )
        np.testing.assert_allclose(search.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"])
        chosen = discriminant.LogisticRegressionCV(Cs=[0.01, 1.0], cv=GroupKFold(3), scoring="accuracy")
        scores = cross_validate(chosen, X, y, cv=GroupKFold(2), params={"groups": groups})["test_score"]
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("model", DEFAULTS, ids=IDS)
def test_every_parameter_says_what_it_may_be(model):
    declared = set(type(model)._parameter_constraints)
    assert declared >= set(inspect.signature(type(model)).parameters)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", DEFAULTS, ids=IDS)
def test_parameters_are_validated_as_scikit_learn_checks_it(model):
    check_param_validation(type(model).__name__, model)


@pytest.mark.parametrize("model", DEFAULTS, ids=IDS)
def test_html_links_to_the_documentation(model, monkeypatch):
    name = type(model).__name__
    monkeypatch.setenv("DISCRIMINANT_DOCS", "https://address.example/docs/")
    page = f"https://address.example/docs/reference/{name}.html"
    assert page in make_pipeline(StandardScaler(), model)._repr_html_()
    monkeypatch.delenv("DISCRIMINANT_DOCS")
    assert page not in model._repr_html_()


def test_html_of_patched_classes_links_to_scikit_learn():
    assert patch.LogisticRegression()._get_doc_link() == Original()._get_doc_link() != ""


@pytest.mark.parametrize("kind", [discriminant.LinearDiscriminantAnalysis, discriminant.FisherDiscriminant])
def test_transforms_name_their_features(kind):
    pytest.importorskip("pandas")
    X, y, _ = rows()
    out = kind().set_output(transform="pandas").fit(X, y).transform(X)
    assert list(out.columns) == [f"{kind.__name__.lower()}0"]
    assert list(out.columns) == list(kind().fit(X, y).get_feature_names_out())


# scikit-learn's own tests of routing through meta-estimators, on those that are here.
META = [
    {
        "metaestimator": discriminant.MinimumRiskClassifier,
        "estimator_name": "estimator",
        "estimator": "classifier",
        "X": routing.X,
        "y": routing.y,
        "estimator_routing_methods": ["fit"],
    },
    {
        "metaestimator": discriminant.LogisticRegressionCV,
        "init_args": {"use_legacy_attributes": False, "l1_ratios": (0,), "Cs": 2},
        "X": routing.X,
        "y": routing.y,
        "scorer_name": "scoring",
        "scorer_routing_methods": ["fit", "score"],
        "cv_name": "cv",
        "cv_routing_methods": ["fit"],
    },
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("info", META, ids=lambda info: info["metaestimator"].__name__)
@pytest.mark.parametrize(
    "name",
    [
        "test_default_request",
        "test_error_on_missing_requests_for_sub_estimator",
        "test_setting_request_on_sub_estimator_removes_error",
        "test_non_consuming_estimator_works",
        "test_metadata_is_routed_correctly_to_scorer",
        "test_metadata_is_routed_correctly_to_splitter",
        "test_metadata_routed_to_group_splitter",
    ],
)
def test_metadata_are_routed_as_scikit_learn_tests_it(info, name):
    if not hasattr(routing, name):
        pytest.skip(f"{name} is not in this version of scikit-learn")
    getattr(routing, name)(info)
