"""Correct digits of the Gaussian weights on hard problems, against a solve with hundreds of digits."""

from __future__ import annotations

import warnings

import mpmath
import numpy as np
import pytest
from scipy import sparse
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


def posteriors(model, X, y, weight=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a class has no density of its own is said, and not the matter here
        return (model.fit(X, y) if weight is None else model.fit(X, y, weight)).predict_proba(X)


@pytest.mark.parametrize("value", [0.3, 0.7, 1 / 3, -1e-3])
@pytest.mark.parametrize(
    "model",
    [LinearDiscriminantAnalysis(shrinkage="auto"), LinearDiscriminantAnalysis(shrinkage="oas"),
     QuadraticDiscriminantAnalysis(), QuadraticDiscriminantAnalysis(shrinkage="auto"),
     QuadraticDiscriminantAnalysis(shrinkage="oas")],
    ids=repr,
)  # fmt: skip
def test_a_column_that_is_constant_in_one_class_has_no_variance_there(model, value):
    """Σx² − (Σx)²/n of 15 numbers 0.3 is 1e-17 and not 0: divided by itself, it was a correlation of one."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(45, 4)), np.arange(45) % 3
    X[:, 2] = np.rint(X[:, 2] * 64) / 64  # moved by zero or by the value, the column is the same to the last digit
    at_zero = X.copy()
    at_zero[y == 1, 2] = 0.0
    moved = at_zero + [0, 0, value, 0]
    np.testing.assert_allclose(posteriors(model, moved, y), posteriors(model, at_zero, y), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("d", [5, 300])
def test_a_column_that_is_constant_in_the_rows_with_weight_has_no_variance(form, d):
    """Rows of weight zero are left out; what is constant without them has no rounding for a variance."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, d)) * (rng.random((60, d)) < 0.3)
    y, weight = np.arange(60) % 3, (np.arange(60) % 4 > 0).astype(float)
    X[(y == 1) & (weight > 0), 2] = 0.3
    keep, model = weight > 0, LinearDiscriminantAnalysis(shrinkage="oas")
    left_out = posteriors(model, X[keep], y[keep])
    np.testing.assert_allclose(posteriors(model, form(X), y, weight)[keep], left_out, rtol=1e-7, atol=1e-10)
