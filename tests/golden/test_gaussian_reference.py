"""LDA and QDA against R's MASS, to the digits that its results were stored with."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from discriminant import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

CASES = [("iris", "lda", "qda"), ("penguins", "lda", "qda"), ("vowel", "lda", "qda")]
FEW = {"rtol": 1e-9, "atol": 1e-300}


@pytest.fixture
def case(shared_data, request):
    """(X, y, reference) of one set, with the columns that R used, rows without a gap."""
    name, part = request.param
    reference = json.loads((shared_data / "reference" / f"{name}.json").read_text())[part]
    with open(shared_data / name / "data.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    columns, target = reference["means"]["cols"], _target(rows, reference["levels"])
    rows = [row for row in rows if row.get("split", "train") == "train"]
    rows = [row for row in rows if all(row[c] not in ("", "NA") for c in columns)]
    number = {"No": 0.0, "Yes": 1.0}
    X = np.array([[number[row[c]] if row[c] in number else float(row[c]) for c in columns] for row in rows])
    return X, np.array([row[target] for row in rows]), reference


def _target(rows, levels):
    return next(column for column in rows[0] if {row[column] for row in rows} == set(levels))


def _in_order(model, reference):
    return [list(model.classes_).index(level) for level in reference["levels"]]


@pytest.mark.parametrize("case", [(n, lda) for n, lda, _ in CASES], indirect=True, ids=[c[0] for c in CASES])
def test_linear_equals_mass(case):
    X, y, reference = case
    assert len(X) == reference["n"]
    for covariance, suffix in (("unbiased", ""), ("maximum-likelihood", "_mle")):
        model = LinearDiscriminantAnalysis(covariance=covariance).fit(X, y)
        order = _in_order(model, reference)
        expected = np.array(reference["posterior_head" + suffix]["data"])
        np.testing.assert_allclose(model.predict_proba(X[:5])[:, order], expected, **FEW)
        scaling = np.array(reference["scaling" + suffix]["data"])
        signs = np.sign((model.scalings_ * scaling).sum(axis=0))
        np.testing.assert_allclose(model.scalings_ * signs, scaling, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(model.explained_variance_ratio_, reference["proportion_of_trace"], rtol=1e-9)
        np.testing.assert_allclose(1 - model.score(X, y), reference["resub_error"], atol=1e-12)
    given = [reference["prior"][label] for label in LinearDiscriminantAnalysis().fit(X, y).classes_]
    model = LinearDiscriminantAnalysis(covariance="unbiased", priors=given, store_covariance=True).fit(X, y)
    np.testing.assert_allclose(model.covariance_, reference["pooled_cov_unbiased"]["data"], rtol=1e-10)
    deleted = model.loo_predict_proba(X, y)
    np.testing.assert_allclose(deleted[:5][:, order], reference["loo_posterior_head"]["data"], **FEW)
    np.testing.assert_allclose(1 - model.loo_score(X, y), reference["loo_error"], atol=1e-12)


@pytest.mark.parametrize("case", [(n, qda) for n, _, qda in CASES], indirect=True, ids=[c[0] for c in CASES])
def test_quadratic_equals_mass(case):
    X, y, reference = case
    for covariance, suffix in (("unbiased", ""), ("maximum-likelihood", "_mle")):
        model = QuadraticDiscriminantAnalysis(covariance=covariance).fit(X, y)
        order = _in_order(model, reference)
        expected = np.array(reference["posterior_head" + suffix]["data"])
        np.testing.assert_allclose(model.predict_proba(X[:5])[:, order], expected, **FEW)
    model = QuadraticDiscriminantAnalysis(covariance="unbiased").fit(X, y)
    np.testing.assert_allclose(1 - model.score(X, y), reference["resub_error"], atol=1e-12)
    np.testing.assert_allclose(1 - model.loo_score(X, y), reference["loo_error"], atol=1e-12)
    volumes = [np.log(values).sum() for values in model.scalings_]
    np.testing.assert_allclose(
        np.array(volumes)[order], [reference["log_det"][k] for k in reference["levels"]], rtol=1e-9
    )


@pytest.mark.parametrize("case", [("default_islr", "lda_balance_student")], indirect=True, ids=["default"])
def test_thresholds_of_islr(case):
    X, y, reference = case
    model = LinearDiscriminantAnalysis(covariance="unbiased").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X[:5]), reference["posterior_head"]["data"], **FEW)
    yes = model.predict_proba(X)[:, 1]
    table = [[((y == a) & ((yes > 0.2) == b)).sum() for b in (False, True)] for a in ("No", "Yes")]
    assert table == [[9432, 235], [138, 195]]
