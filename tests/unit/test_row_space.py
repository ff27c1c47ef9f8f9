"""Fewer rows than columns: what is proved is proved of the weights that are handed back."""

from __future__ import annotations

import numpy as np
import pytest

from discriminant import LogisticRegression


@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-8])
@pytest.mark.parametrize("kind", ["plain", "repeated rows", "unscaled", "offset"])
def test_the_gap_is_that_of_the_weights_handed_back(K, tol, kind):
    """J of coef_ and intercept_, summed here, is the certificate's, and within its gap of a tight solve."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 150))
    y = (X @ rng.standard_normal((150, K)) / 5 + rng.gumbel(size=(60, K))).argmax(axis=1)
    if kind == "repeated rows":
        X, y = np.vstack([X, X[:20]]), np.concatenate([y, (y[:20] + 1) % K])
    if kind == "unscaled":
        X = X * 10.0 ** rng.uniform(-3, 3, 150)
    if kind == "offset":
        X = X + 1e4
    C = 0.7

    def J(model):
        z = X @ model.coef_.T + model.intercept_
        z = np.hstack([np.zeros_like(z), z]) if K == 2 else z
        loss = np.logaddexp.reduce(z, axis=1) - z[np.arange(len(y)), y]
        return (loss.sum() + 0.5 / C * np.square(model.coef_).sum()) / len(y)

    model, best = LogisticRegression(C=C, tol=tol).fit(X, y), LogisticRegression(C=C, tol=1e-12).fit(X, y)
    certificate = model.certificate_
    rounding = 1e-9 if kind in ("offset", "unscaled") else 1e-12  # of the sum in this test
    assert J(model) == pytest.approx(certificate.objective, rel=rounding)
    assert J(model) - J(best) <= certificate.gap + 2 * rounding * J(best)
    assert certificate.converged
