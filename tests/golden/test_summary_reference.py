"""Coefficients, standard errors, tests and intervals against R (glm, multinom); robust ones against statsmodels."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from discriminant import LogisticRegression
from discriminant.errors import DataError, ParameterError


def read(shared_data, name):
    with open(shared_data / name / "data.csv", newline="") as file:
        return list(csv.DictReader(file)), json.loads((shared_data / "reference" / f"{name}.json").read_text())


@pytest.fixture(scope="module")
def spector(shared_data):
    rows, reference = read(shared_data, "spector")
    X = np.array([[float(row[c]) for c in ("GPA", "TUCE", "PSI")] for row in rows])
    return X, np.array([int(row["GRADE"]) for row in rows]), reference["logit"]


@pytest.fixture(scope="module")
def fitted(spector):
    X, y, _ = spector
    return LogisticRegression(C=np.inf).fit(X, y)


def test_glm(spector, fitted):
    X, y, reference = spector
    summary = fitted.summary(X, y)
    for name, column in (("coef", "estimate"), ("se", "standard_error"), ("z", "z"), ("p", "p")):
        np.testing.assert_allclose(getattr(summary, column), list(reference[name].values()), rtol=1e-8)
    np.testing.assert_allclose(summary.covariance, reference["cov"]["data"], rtol=1e-7)
    ours = summary.statistics
    for name, key in (("deviance", "deviance"), ("null deviance", "null_deviance"), ("AIC", "AIC"), ("BIC", "BIC")):
        np.testing.assert_allclose(ours[name], reference[key], rtol=1e-9)
    assert ours["df"] == reference["df_resid"]


def test_profile_intervals(spector, fitted):
    X, y, reference = spector
    summary = fitted.summary(X, y, intervals="profile", tests="likelihood-ratio")
    expected = np.array(reference["profile_ci95"]["data"])  # R interpolates its profile by a spline
    np.testing.assert_allclose(np.c_[summary.low, summary.high], expected, rtol=1e-3)
    # By definition: held at its end, the likelihood has fallen by half the quantile.
    from scipy.special import chdtri

    A = np.linspace(summary.low[1], summary.low[1], 1)[0]
    held = LogisticRegression(C=np.inf).fit(X[:, 1:], y, offset=A * X[:, 0])
    n = len(y)
    best = -fitted.certificate_.objective * n
    np.testing.assert_allclose(2 * (best + held.certificate_.objective * n), chdtri(1, 0.05), rtol=1e-6)
    without = LogisticRegression(C=np.inf).fit(X[:, 1:], y)
    drop = 2 * (best + without.certificate_.objective * n)
    np.testing.assert_allclose(summary.z[1] ** 2, drop, rtol=1e-8)


def test_diagnostics(spector, fitted):
    X, y, reference = spector
    found = fitted.diagnostics(X, y)
    for name, key in (("fitted", "fitted_head"), ("leverage", "hat_head"), ("pearson", "pearson_head")):
        np.testing.assert_allclose(getattr(found, name)[:5], reference[key], rtol=1e-7)
    np.testing.assert_allclose(found.deviance[:5], reference["deviance_resid_head"], rtol=1e-7)
    np.testing.assert_allclose(found.leverage.sum(), 4, rtol=1e-9)


def test_multinom(shared_data):
    rows, reference = read(shared_data, "anes96")
    reference = reference["multinom"]
    columns = reference["coef"]["cols"][1:]
    X = np.array([[float(row[c]) for c in columns] for row in rows])
    y = np.array([int(float(row["PID"])) for row in rows])
    summary = LogisticRegression(C=np.inf).fit(X, y).summary(X, y)
    np.testing.assert_allclose(summary.estimate, np.ravel(reference["coef"]["data"]), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(summary.standard_error, np.ravel(reference["se"]["data"]), rtol=1e-6)


def test_robust_and_clustered_covariances(spector, fitted):
    models = pytest.importorskip("statsmodels.api")
    X, y, _ = spector
    groups = np.arange(len(y)) // 3
    plain = models.Logit(y, models.add_constant(X))
    for ours, theirs in (
        ({"covariance": "HC0"}, {"cov_type": "HC0"}),
        ({"covariance": "cluster", "groups": groups}, {"cov_type": "cluster", "cov_kwds": {"groups": groups}}),
    ):
        expected = plain.fit(disp=0, tol=1e-14, maxiter=100, **theirs).bse
        np.testing.assert_allclose(fitted.summary(X, y, **ours).standard_error, expected, rtol=1e-6)


def test_weights_are_repetitions_and_penalties_are_told(spector):
    X, y, _ = spector
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    a = LogisticRegression(C=np.inf).fit(X, y, weight).summary(X, y, weight)
    repeated = X.repeat(weight, axis=0), y.repeat(weight)
    b = LogisticRegression(C=np.inf).fit(*repeated).summary(*repeated)
    np.testing.assert_allclose(a.standard_error, b.standard_error, rtol=1e-8)
    penalised = LogisticRegression(C=1.0).fit(X, y)
    summary = penalised.summary(X, y)
    assert "Laplace" in str(summary)
    assert np.isnan(summary.p).all()
    Y = np.c_[np.ones(len(y)), X]
    p = penalised.predict_proba(X)[:, 1]
    information = (Y * (p * (1 - p))[:, None]).T @ Y + np.diag([0.0, 1, 1, 1])
    np.testing.assert_allclose(summary.standard_error, np.sqrt(np.diag(np.linalg.inv(information))), rtol=1e-6)


def test_the_rows_are_remembered_weakly_and_recognised(spector):
    X, y, _ = spector
    X = X.copy()
    model = LogisticRegression(C=np.inf).fit(X, y)
    text = str(model.summary())
    assert "std. error" in text
    assert "<table>" in model.summary()._repr_html_()
    with pytest.raises(DataError, match="not the optimum for these rows"):
        model.summary(X[::-1], y)
    del X
    assert str(model.summary()) == text  # the sums over the rows are kept, the rows are not
    with pytest.raises(DataError, match=r"call summary\(X, y\)"):
        model.summary(covariance="HC0")
    with pytest.raises(ParameterError, match="go together"):
        model.summary(spector[0], y, covariance="cluster")
    frame = model.summary(spector[0], y).to_frame()
    assert list(frame.columns)[:2] == ["term", "estimate"]


def test_probability_intervals_cover(spector, fitted):
    X, y, _ = spector
    summary = fitted.summary(X, y)
    ends = fitted.probability_interval(X, summary)
    p = fitted.predict_proba(X)[:, 1]
    assert ((ends[:, 0] < p) & (p < ends[:, 1])).all()
