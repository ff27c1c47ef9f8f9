"""Logistic regression against reference solutions in 50 digits, on problems made to lose them, and against R's numbers.

The reference is Newton's method in mpmath from our own answer: if that answer were wrong the reference would walk away
from it, and the digits would show it.
"""

from __future__ import annotations

import json
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest

from discriminant import LogisticRegression

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


def reference(X, y, K, weight, ridge, start, intercept=True):
    """The optimum of Σ w ℓ + ½ ridge ‖W‖² as (1+d, q) mpmath numbers, by Newton steps in 50 digits."""
    mp.mp.dps = 50
    n, d = X.shape
    q = 1 if K == 2 else K
    Y = [[mp.mpf(int(intercept))] + [mp.mpf(float(v)) for v in row] for row in X]
    w = [mp.mpf(float(v)) for v in weight]
    A = mp.matrix([[mp.mpf(float(v)) for v in row] for row in start])
    D = d + 1
    for _ in range(8):
        g, H = mp.matrix(D * q, 1), mp.matrix(D * q, D * q)
        for i in range(n):
            z = [mp.fsum(Y[i][j] * A[j, k] for j in range(D)) for k in range(q)]
            if q == 1:
                p = [1 / (1 + mp.exp(-z[0]))]
                r = [p[0] - int(y[i])]
                C = [[p[0] * (1 - p[0])]]
            else:
                top = max(z)
                e = [mp.exp(v - top) for v in z]
                p = [v / mp.fsum(e) for v in e]
                r = [p[k] - (1 if y[i] == k else 0) for k in range(q)]
                C = [[p[a] * ((1 if a == b else 0) - p[b]) for b in range(q)] for a in range(q)]
            for a in range(q):
                for j in range(D):
                    g[a * D + j] += w[i] * r[a] * Y[i][j]
                    for b in range(q):
                        c = w[i] * C[a][b] * Y[i][j]
                        for m in range(D):
                            H[a * D + j, b * D + m] += c * Y[i][m]
        for a in range(q):
            for j in range(1, D):
                g[a * D + j] += ridge * A[j, a]
                H[a * D + j, a * D + j] += ridge
            if not intercept:
                H[a * D, a * D] = 1
        if q > 1:  # the free direction Σ_k A_k
            for j in range(D):
                for a in range(q):
                    for b in range(q):
                        H[a * D + j, b * D + j] += mp.mpf(1) / q
        step = mp.lu_solve(H, g)
        for a in range(q):
            for j in range(D):
                A[j, a] -= step[a * D + j]
        if mp.norm(step, mp.inf) < mp.mpf(10) ** -35 * (1 + mp.norm(A, mp.inf)):
            break
    return A


def digits(model, X, y, weight=None, C=1.0, intercept=True):
    """The least number of correct digits over all coefficients (relative) and the intercept."""
    classes, codes = np.unique(y, return_inverse=True)
    weight = np.ones(len(y)) if weight is None else weight
    ours = np.vstack([model.intercept_, model.coef_.T]).astype(np.float64)
    A = reference(
        np.asarray(X), codes, len(classes), weight, 0 if np.isinf(C) else mp.mpf(1) / mp.mpf(C), ours, intercept
    )
    if len(classes) > 2:
        for j in range(A.rows):
            mean = mp.fsum(A[j, k] for k in range(A.cols)) / A.cols
            for k in range(A.cols):
                A[j, k] -= mean
    worst = mp.mpf(0)
    for j in range(0 if intercept else 1, A.rows):
        for k in range(A.cols):
            if A[j, k] != 0:
                worst = max(worst, abs((mp.mpf(float(ours[j, k])) - A[j, k]) / A[j, k]))
    return float(-mp.log10(worst)) if worst > 0 else 17.0


def base(n=120, d=4, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    w = rng.standard_normal(d)
    y = (X @ w + noise * rng.logistic(size=n) > 0.3).astype(int)
    return X, y, rng


def test_nearly_separable_has_eight_digits():
    X, y, _ = base(noise=0.02, seed=1)
    flip = np.argmin(np.abs(X @ np.linalg.lstsq(X, y - 0.5, rcond=None)[0]))
    y[flip] = 1 - y[flip]
    for C in (1.0, 1e6):
        assert digits(LogisticRegression(C=C).fit(X, y), X, y, C=C) >= 8


@pytest.mark.parametrize("size", [1e-3, 1e-5])
def test_collinear_columns_have_eight_digits(size):
    X, y, rng = base(seed=2)
    X[:, 3] = X[:, 0] + X[:, 1] + size * rng.standard_normal(len(X))
    assert digits(LogisticRegression(C=np.inf).fit(X, y), X, y, C=np.inf) >= 8


def test_columns_collinear_to_a_ten_millionth_have_seven_digits():
    """cond(X) = 10⁷, cond(H) = 10¹⁴: float64 alone has two."""
    X, y, rng = base(seed=2)
    X[:, 3] = X[:, 0] + X[:, 1] + 1e-7 * rng.standard_normal(len(X))
    assert digits(LogisticRegression(C=np.inf).fit(X, y), X, y, C=np.inf) >= 7


@pytest.mark.parametrize("C", [1.0, 1e4, np.inf])
def test_scales_of_a_million_have_eight_digits(C):
    X, y, _ = base(seed=3)
    X = X * np.array([1e-6, 1.0, 1e6, 1e3])
    assert digits(LogisticRegression(C=C).fit(X, y), X, y, C=C) >= 8


@pytest.mark.parametrize("C", [1.0, np.inf])
def test_offsets_of_a_million_have_eight_digits(C):
    X, y, _ = base(seed=4)
    X = X + np.array([1e6, -1e6, 0.0, 1e3])
    assert digits(LogisticRegression(C=C).fit(X, y), X, y, C=C) >= 8


def test_rare_events_have_eight_digits():
    """Ten positives among a million rows, as 60 distinct rows that repeat."""
    X, _, _ = base(n=60, seed=5)
    y = np.zeros(60, dtype=int)
    y[:10] = 1
    X[:10] += 1.0
    repeats = np.where(y == 1, 1, 20_000)
    many = LogisticRegression(C=np.inf).fit(np.repeat(X, repeats, axis=0), np.repeat(y, repeats))
    assert digits(many, X, y, weight=repeats, C=np.inf) >= 8


def test_heavy_weights_have_eight_digits():
    X, y, rng = base(seed=6)
    weight = 10.0 ** rng.uniform(-6, 6, len(y))
    assert digits(LogisticRegression().fit(X, y, weight), X, y, weight) >= 8


def test_a_class_of_three_rows_among_eight_has_eight_digits():
    rng = np.random.default_rng(7)
    y = np.concatenate([np.repeat(np.arange(7), 15), [7, 7, 7]])
    X = rng.standard_normal((len(y), 2)) + rng.standard_normal((8, 2))[y]
    assert digits(LogisticRegression().fit(X, y), X, y) >= 8


def test_fewer_rows_than_columns_have_eight_digits():
    rng = np.random.default_rng(8)
    X = rng.standard_normal((12, 20)) * 10.0 ** rng.uniform(-2, 2, 20)
    y = np.arange(12) % 2
    assert digits(LogisticRegression().fit(X, y), X, y) >= 8


def test_without_intercept_has_eight_digits():
    X, y, _ = base(seed=9)
    X = X + 10.0
    model = LogisticRegression(fit_intercept=False).fit(X, y)
    assert digits(model, X, y, intercept=False) >= 8


def test_float32_input_has_float32_digits():
    X, y, _ = base(seed=10)
    X = (X + 100.0).astype(np.float32)
    model = LogisticRegression(C=np.inf).fit(X, y)
    assert model.coef_.dtype == np.float32
    assert digits(model, X.astype(np.float64), y, C=np.inf) >= 6.5


CERTIFIED = SHARED / "reference" / "certified_logistic.json"


@pytest.mark.skipif(not CERTIFIED.exists(), reason="the reference results are not on this machine")
def test_certified_coefficients_of_published_data():
    """Maximum likelihood fits certified in 60-digit arithmetic: spector and iris."""
    import pandas as pd

    known = {(e["dataset"], e["model"], e["method"]): e for e in json.loads(CERTIFIED.read_text())}
    spector = pd.read_csv(SHARED / "spector" / "data.csv")
    names = ["GPA", "TUCE", "PSI"]
    model = LogisticRegression(C=np.inf).fit(spector[names].to_numpy(float), spector["GRADE"])
    expected = known["spector", "GRADE~GPA+TUCE+PSI", "ML"]["coef"]
    np.testing.assert_allclose(model.coef_[0], [float(expected[c]) for c in names], rtol=1e-12)
    np.testing.assert_allclose(model.intercept_[0], float(expected["(Intercept)"]), rtol=1e-12)
    iris = pd.read_csv(SHARED / "iris" / "data.csv")
    iris = iris[iris.species != "setosa"]
    names = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
    model = LogisticRegression(C=np.inf).fit(iris[names].to_numpy(float), iris["species"])
    expected = known["iris", "virginica vs versicolor", "ML"]["coef"]
    np.testing.assert_allclose(model.coef_[0], [float(expected[c]) for c in names], rtol=1e-11)
