"""Firth's logistic regression against brglm2, and on data that have no other finite answer."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import chdtri

from discriminant import LogisticRegression


@pytest.fixture(scope="module")
def spector(shared_data):
    with open(shared_data / "spector" / "data.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    X = np.array([[float(row[c]) for c in ("GPA", "TUCE", "PSI")] for row in rows])
    reference = json.loads((shared_data / "reference" / "spector.json").read_text())["firth"]["AS_mean"]
    return X, np.array([int(row["GRADE"]) for row in rows]), reference


def test_equals_brglm2(spector):
    X, y, reference = spector
    model = LogisticRegression(penalty="jeffreys").fit(X, y)
    summary = model.summary(X, y)
    np.testing.assert_allclose(summary.estimate, list(reference["coef"].values()), rtol=1e-8)
    np.testing.assert_allclose(summary.standard_error, list(reference["se"].values()), rtol=1e-8)
    np.testing.assert_allclose(summary.statistics["deviance"], reference["deviance"], rtol=1e-9)
    assert model.certificate_.converged


def test_iris_equals_brglm2(shared_data):
    with open(shared_data / "iris" / "data.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["species"] != "setosa"]
    reference = json.loads((shared_data / "reference" / "iris.json").read_text())
    reference = reference["firth_virginica_vs_versicolor"]["AS_mean"]
    columns = list(reference["coef"])[1:]
    X = np.array([[float(row[c]) for c in columns] for row in rows])
    model = LogisticRegression(penalty="jeffreys").fit(X, [row["species"] for row in rows])
    found = np.r_[model.intercept_, model.coef_[0]]
    np.testing.assert_allclose(found, list(reference["coef"].values()), rtol=1e-6)


def penalised(theta, Y, t, K):
    """−(ℓ + ½ ln|I|), written out row by row."""
    theta = theta.reshape(K - 1, -1)
    value, information = 0.0, np.zeros((theta.size, theta.size))
    for y, k in zip(Y, t, strict=True):
        z = np.r_[0.0, theta @ y]
        p = np.exp(z - z.max())
        p /= p.sum()
        value += np.log(p[k])
        q = p[1:]
        information += np.kron(np.diag(q) - np.outer(q, q), np.outer(y, y))
    return -(value + 0.5 * np.linalg.slogdet(information)[1])


def test_three_classes_maximise_the_penalised_likelihood():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 3, 40)
    model = LogisticRegression(penalty="jeffreys").fit(X, y)
    ours = np.c_[model.intercept_, model.coef_]
    ours = (ours[1:] - ours[0]).ravel()
    Y = np.c_[np.ones(40), X]
    best = minimize(penalised, np.zeros(6), (Y, y, 3), method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(ours, best.x, atol=1e-5)
    assert penalised(ours, Y, y, 3) <= best.fun + 1e-10


def test_separated_data_have_finite_weights_and_intervals():
    X, y = np.arange(12.0)[:, None], (np.arange(12) > 5).astype(int)
    model = LogisticRegression(penalty="jeffreys").fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert model.score(X, y) == 1.0
    summary = model.summary(X, y, intervals="profile", tests="likelihood-ratio")
    assert summary.low[1] > 0  # the direction is clear although the likelihood has no maximum
    # By definition: at the interval's end the penalised likelihood has fallen by half the quantile.
    Y = np.c_[np.ones(12), X]
    held = minimize(lambda b: penalised(np.r_[b, summary.low[1]], Y, y, 2), [model.intercept_[0]], method="BFGS")
    top = -penalised(np.r_[model.intercept_, model.coef_[0]], Y, y, 2)
    np.testing.assert_allclose(2 * (top + held.fun), chdtri(1, 0.05), rtol=1e-5)
