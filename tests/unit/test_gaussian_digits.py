"""Correct digits of the Gaussian weights on hard problems, against a solve with hundreds of digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy.linalg import hilbert

from discriminant import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

N, D, K = 150, 5, 2


def problem(name):
    rng = np.random.default_rng(5)
    y = rng.integers(0, K, N)
    Z = rng.normal(size=(N, D)) + 0.7 * y[:, None] * np.arange(D)
    wide = 10.0 ** np.linspace(-8, 8, D)
    correlated = Z @ np.linalg.cholesky(hilbert(D)).T
    X = {
        "plain": Z,
        "offset 1e7": Z + 1e7,
        "scales 1e16 apart": Z * wide,
        "Hilbert correlation": correlated,
        "Hilbert correlation at 1e7": correlated + 1e7,
        "offsets and scales": (Z + 1e7) * wide,
        "beyond the squares of floats": Z * 10.0 ** np.linspace(-200, 150, D),
    }[name]
    return X, y


NAMES = [
    "plain",
    "offset 1e7",
    "scales 1e16 apart",
    "Hilbert correlation",
    "Hilbert correlation at 1e7",
    "offsets and scales",
    "beyond the squares of floats",
]


def exact_moments(X):
    rows = [[mpmath.mpf(float(v)) for v in row] for row in X]
    mean = [mpmath.fsum(column) / len(rows) for column in zip(*rows, strict=True)]
    scatter = mpmath.zeros(len(mean))
    for row in rows:
        r = mpmath.matrix([a - b for a, b in zip(row, mean, strict=True)])
        scatter += r * r.T
    return mean, scatter


def digits(found, true):
    relative = [abs((mpmath.mpf(float(a)) - b) / b) for a, b in zip(found, true, strict=True)]
    return float(-mpmath.log10(max(*relative, mpmath.mpf(10) ** -17)))


@pytest.mark.parametrize("name", NAMES)
def test_linear_weights_have_twelve_digits(name):
    X, y = problem(name)
    with mpmath.workdps(900):
        (m0, S0), (m1, S1) = (exact_moments(X[y == k]) for k in range(K))
        difference = mpmath.matrix([b - a for a, b in zip(m0, m1, strict=True)])
        weights = mpmath.lu_solve((S0 + S1) / N, difference)
        assert digits(LinearDiscriminantAnalysis().fit(X, y).coef_[0], list(weights)) >= 12


@pytest.mark.parametrize("name", NAMES)
def test_quadratic_scores_have_twelve_digits(name):
    X, y = problem(name)
    points = X[:3]
    model = QuadraticDiscriminantAnalysis().fit(X, y)
    with mpmath.workdps(900):
        truth = [mpmath.mpf(0)] * len(points)
        for k, sign in ((0, -1), (1, 1)):
            mean, scatter = exact_moments(X[y == k])
            count = int((y == k).sum())
            covariance = scatter / count
            volume = mpmath.log(mpmath.det(covariance))
            for i, x in enumerate(points):
                r = mpmath.matrix([mpmath.mpf(float(a)) - b for a, b in zip(x, mean, strict=True)])
                form = (r.T * mpmath.lu_solve(covariance, r))[0]
                truth[i] += sign * (mpmath.log(mpmath.mpf(count) / N) - (volume + form) / 2)
        error = max(abs(mpmath.mpf(float(a)) - b) for a, b in zip(model.decision_function(points), truth, strict=True))
    assert error < 1e-11
