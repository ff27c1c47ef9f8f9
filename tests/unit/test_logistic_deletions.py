"""One-step leave-one-out of logistic fits against honest refits."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from discriminant import LogisticRegression


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_near_to_honest_refits(load):
    X, y = load(return_X_y=True)
    model = LogisticRegression(C=1.0).fit(X, y)
    near = model.loo_predict_proba(X, y)
    rows = np.arange(0, len(y), 11)
    honest = [
        LogisticRegression(C=1.0).fit(np.delete(X, i, 0), np.delete(y, i)).predict_proba(X[i : i + 1])[0] for i in rows
    ]
    error = np.abs(near[rows] - honest).max(axis=1)
    assert error.max() < 3e-3
    assert np.median(error) < 1e-4
    resubstitution = np.abs(model.predict_proba(X)[rows] - honest).max(axis=1)
    assert error.max() < 0.2 * resubstitution.max()
    assert 0.9 < model.loo_score(X, y) <= model.score(X, y)


def test_weights_count():
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    near = LogisticRegression().fit(X, y, weight).loo_predict_proba(X, y, weight)
    for i in (3, 70, 133):
        keep = np.arange(len(y)) != i
        honest = LogisticRegression().fit(X[keep], y[keep], weight[keep]).predict_proba(X[i : i + 1])[0]
        np.testing.assert_allclose(near[i], honest, atol=2e-3)
