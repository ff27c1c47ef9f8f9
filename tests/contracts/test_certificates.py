"""Every fit says what it proves: objective, bound, gap, passes, a sentence; gradient and condition where they exist."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import sklearn.linear_model as peer
from sklearn.datasets import load_iris

import discriminant
from discriminant import certify
from discriminant.protocols import Certificate

HOMES = discriminant._HOMES
NAMES = sorted(
    name for name in HOMES if HOMES[name].startswith("estimators.") and hasattr(getattr(discriminant, name), "fit")
)
SMOOTH = {
    "Discriminant", "FisherDiscriminant", "LeastSquaresClassifier", "LinearDiscriminantAnalysis", "LogisticRegression",
    "LogisticRegressionCV", "MinimumRiskClassifier", "QuadraticDiscriminantAnalysis", "SigmoidRegressionClassifier",
}  # fmt: skip
SOLVED_WITH_A_MATRIX = SMOOTH - {"Discriminant", "SigmoidRegressionClassifier", "MinimumRiskClassifier"}


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_every_estimator_has_one(name, K):
    X, y = load_iris(return_X_y=True)
    X, y = (X[50:], y[50:]) if K == 2 else (X, y)
    cls = getattr(discriminant, name)
    model = cls(discriminant.LogisticRegression()) if name == "MinimumRiskClassifier" else cls()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        proof = model.fit(X, y).certificate_
    assert isinstance(proof, Certificate)
    assert proof.status.endswith((".", ")"))
    assert len(proof.status.split()) > 4
    assert np.isfinite(proof.objective)
    assert np.isfinite(proof.bound)
    assert proof.bound <= proof.objective
    assert proof.gap == pytest.approx(proof.objective - proof.bound, abs=1e-9)
    assert proof.passes >= 1
    if name in SMOOTH:
        assert proof.gradient_norm >= 0
    if name in SOLVED_WITH_A_MATRIX:
        assert 1 <= proof.condition < 1e12
        assert "condition number" in str(proof)


@pytest.mark.parametrize("C", [1e-2, 1.0, np.inf])
@pytest.mark.parametrize("K", [2, 3])
def test_fits_of_the_peer_are_certified(C, K):
    """A ridge, none, two classes and many: converged where it did well, and said not to be where it stopped early."""
    random = np.random.default_rng(K)
    X = random.normal(size=(300, 4))
    y = random.integers(0, K, 300)
    good = peer.LogisticRegression(C=C, tol=1e-12, max_iter=10_000).fit(X, y)
    found = certify(good, X, y)
    assert found.converged
    assert found.gap <= 1e-8 * found.objective
    assert found.passes >= 2
    bad = peer.LogisticRegression(C=C).fit(X, y)
    bad.coef_ = bad.coef_ + 0.1
    bad.coef_[0] += 0.3
    assert not certify(bad, X, y).converged
    ours = discriminant.LogisticRegression(C=C).fit(X, y)
    assert certify(ours, X, y).objective <= found.objective * (1 + 1e-12)
