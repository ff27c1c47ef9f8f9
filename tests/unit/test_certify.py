"""Certificates checked from scratch: bounds are below the true minimum, and bad fits are told from good ones."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import sklearn.linear_model as peer
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris

from discriminant import LogisticRegression, certify
from discriminant.errors import DataError, ParameterError


def test_our_fits_are_certified():
    for X, y in (load_iris(return_X_y=True), load_breast_cancer(return_X_y=True)):
        for C in (1e-3, 1.0, 1e3):
            found = certify(LogisticRegression(C=C).fit(X, y), X, y)
            assert found.converged
            assert 0 <= found.gap <= 1e-8 * found.objective


def test_the_default_of_the_peer_is_not():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.warns(Warning, match="failed to converge"):
        theirs = peer.LogisticRegression().fit(X, y)
    found = certify(theirs, X, y)
    assert not found.converged
    assert found.gap > 0.05 * found.objective
    assert "Not solved" in found.status


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(2, 4), st.floats(-3, 3), st.floats(0, 1))
def test_the_bound_is_below_the_minimum(seed, K, log_C, noise):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 3)) * 10.0 ** rng.uniform(-2, 2, 3)
    y = rng.integers(0, K, 30)
    if len(np.unique(y)) < 2:
        return
    weight = rng.uniform(0.1, 3, 30)
    model = LogisticRegression(C=10**log_C, tol=1e-14).fit(X, y, weight)
    best = certify(model, X, y, weight).objective
    model.coef_ = model.coef_ * (1 + noise * rng.normal(size=model.coef_.shape))
    model.intercept_ = model.intercept_ + noise * rng.normal()
    found = certify(model, X, y, weight)
    assert found.bound <= best * (1 + 1e-12) + 1e-15
    assert found.objective >= best * (1 - 1e-12)


def test_without_a_penalty():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    for y in ((X[:, 0] + rng.normal(size=200) > 0).astype(int), rng.integers(0, 3, 200)):
        model = LogisticRegression(C=np.inf).fit(X, y)
        found = certify(model, X, y)
        assert found.converged
        assert found.gap < 1e-12


def test_separated_data_have_no_minimum():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    theirs = peer.LogisticRegression(C=np.inf).fit(X, y)
    found = certify(theirs, X, y)
    assert not found.converged
    assert "no minimum: the classes are separable" in found.status


def test_value_in_forty_digits():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:, :2], y[50:]
    model = LogisticRegression().fit(X, y)
    with mpmath.workdps(40):
        w = [mpmath.mpf(float(v)) for v in model.coef_[0]]
        b = mpmath.mpf(float(model.intercept_[0]))
        total = mpmath.mpf(0)
        for x, label in zip(X, y, strict=True):
            z = b + sum(mpmath.mpf(float(v)) * c for v, c in zip(x, w, strict=True))
            total += mpmath.log(1 + mpmath.exp(-z if label == 2 else z))
        J = (total + sum(v * v for v in w) / 2) / len(y)
    assert certify(model, X, y).objective == pytest.approx(float(J), rel=1e-15)


def test_what_it_does_not_know_is_a_sentence():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression().fit(X, y)
    with pytest.raises(DataError, match="4"):
        certify(model, X[:, :2], y)
    with pytest.raises(DataError, match="not among the classes"):
        certify(model, X, y + 1)
    with pytest.raises(ParameterError, match="class_weight"):
        certify(LogisticRegression(class_weight="balanced").fit(X, y), X, y)
    with pytest.raises(DataError, match="has no C"):
        certify(peer.RidgeClassifier().fit(X, y), X, y)
