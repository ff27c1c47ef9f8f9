"""Elastic nets against R's glmnet (thresh 1e-15): the same λ and alpha, standardised or not, two classes and more."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from discriminant import LogisticRegression, datasets, logistic_path

MALES = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")


def rows_of(shared_data, name):
    with open(shared_data / name / "data.csv") as file:
        return list(csv.DictReader(file))


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)


def problem(shared_data, name):
    """(X, y, the key of glmnet's answers)."""
    if name == "breast_cancer":
        data = datasets.load("breast_cancer")
        return data.X, (data.y == "malignant").astype(int), "glmnet"
    if name == "iris":
        data = datasets.load("iris")
        kept = data.y != "setosa"
        return data.X[kept], (data.y[kept] == "virginica").astype(int), "glmnet_binomial_vv"
    if name == "penguins":
        kept = [r for r in rows_of(shared_data, name) if all(r[m] not in ("", "NA") for m in MALES)]
        X = np.array([[float(r[m]) for m in MALES] for r in kept])
        return standardised(X), np.array([r["species"] for r in kept]), "glmnet_species"
    rows = rows_of(shared_data, "spector")
    X = np.array([[float(r[c]) for c in ("GPA", "TUCE", "PSI")] for r in rows])
    return X, np.array([int(float(r["GRADE"])) for r in rows]), "glmnet"


def objective(X, y, A, strength, mix, size):
    """J as glmnet writes it, from weights (1+d, q)."""
    z = A[0] + X @ A[1:]
    codes = np.unique(y, return_inverse=True)[1]
    if z.shape[1] == 1:
        loss = np.mean(np.logaddexp(0, z[:, 0]) - codes * z[:, 0])
    else:
        loss = np.mean(np.logaddexp.reduce(z, axis=1) - z[np.arange(len(z)), codes])
    a = A[1:] * size[:, None]
    return loss + strength * (mix * np.abs(a).sum() + (1 - mix) / 2 * np.square(a).sum())


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("mix", [0, 0.5, 1])
@pytest.mark.parametrize("name", ["iris", "breast_cancer", "spector", "penguins"])
def test_the_weights_are_glmnets(shared_data, name, mix, standardize):
    X, y, key = problem(shared_data, name)
    answers = json.loads((shared_data / "reference" / f"{name}.json").read_text())[key]
    answer = answers[f"alpha={mix:g} standardize={str(standardize).upper()}"]
    coef = answer["coef"]
    tables = [coef["data"]] if "data" in coef else [part["data"] for part in coef.values()]
    expected = np.stack([np.array(table).T for table in tables], axis=-1)  # (λ, 1+d, q)
    path = logistic_path(X, y, lambdas=answer["lambda"], l1_ratio=mix, standardize=standardize, tol=1e-12)
    found = np.concatenate([path.intercepts[:, None], path.coefs.transpose(0, 2, 1)], axis=1)
    size = X.std(axis=0) if standardize else np.ones(X.shape[1])
    assert path.certified.all()
    for i, strength in enumerate(answer["lambda"]):
        ours, theirs = (objective(X, y, A[i], strength, mix, size) for A in (found, expected))
        assert ours <= theirs * (1 + 1e-12)  # never above glmnet's, and the same to its precision
        assert theirs - ours < 1e-10
        np.testing.assert_allclose(found[i], expected[i], atol=2e-5 * np.abs(expected[i]).max())
        assert ((found[i][1:] == 0) == (expected[i][1:] == 0)).all()  # the same support


def test_C_and_l1_ratio_are_lambda_and_alpha(shared_data):
    """C = 1/(λ n), l1_ratio = alpha."""
    X, y, key = problem(shared_data, "breast_cancer")
    answers = json.loads((shared_data / "reference" / "breast_cancer.json").read_text())[key]
    answer = answers["alpha=0.5 standardize=FALSE"]
    for column, strength in enumerate(answer["lambda"]):
        expected = np.array(answer["coef"]["data"])[:, column]
        model = LogisticRegression(C=1 / (strength * len(y)), l1_ratio=0.5).fit(X, y)
        np.testing.assert_allclose(model.coef_[0], expected[1:], atol=1e-5 * np.abs(expected[1:]).max())
        np.testing.assert_allclose(model.intercept_[0], expected[0], rtol=1e-5)
        assert model.certificate_.converged
