"""Separated classes with a weak ridge: every loss is tiny, the minimum exists, and it is found and told as it is.

The reference is Newton's method in fifty digits; what a certificate says is compared with J there.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from discriminant import LogisticRegression

mp = pytest.importorskip("mpmath")


def as_floats(matrix):
    return np.array([[float(v) for v in row] for row in matrix.tolist()])


class Exact:
    """J = Σ w ℓ + ½‖A‖²/C in fifty digits, for K classes with K outputs (two classes: the first's weights are zero)."""

    def __init__(self, X, y, K, C, weight=None, intercept=True):
        self.K, self.q, self.intercept = K, 1 if K == 2 else K, intercept
        self.Y = [[mp.mpf(int(intercept)), *map(mp.mpf, row)] for row in np.asarray(X, dtype=float).tolist()]
        self.y, self.ridge, self.D = y.tolist(), 1 / mp.mpf(float(C)), X.shape[1] + 1
        self.weight = [mp.mpf(1)] * len(y) if weight is None else [mp.mpf(float(v)) for v in weight]
        self.total = mp.fsum(self.weight)

    def posteriors(self, a, row):
        z = [mp.fdot(row, a[k * self.D : (k + 1) * self.D]) for k in range(self.q)]
        z = [mp.mpf(0), *z] if self.q == 1 else z
        e = [mp.exp(v - max(z)) for v in z]
        return [v / mp.fsum(e) for v in e]

    def penalised(self):
        return [k * self.D + j for k in range(self.q) for j in range(1, self.D)]

    def value(self, a):
        loss = mp.mpf(0)
        for row, own, w in zip(self.Y, self.y, self.weight, strict=True):
            p = self.posteriors(a, row)
            loss -= w * mp.log1p(-mp.fsum(v for k, v in enumerate(p) if k != own))
        return (loss + self.ridge * mp.fsum(a[i] ** 2 for i in self.penalised()) / 2) / self.total

    def step(self, a):
        """H⁻¹ g and gᵗH⁻¹g, times the total weight."""
        size, D = self.q * self.D, self.D
        g, H = mp.matrix(size, 1), mp.matrix(size, size)
        for i in self.penalised():
            g[i], H[i, i] = self.ridge * a[i], self.ridge
        for k in range(self.q):
            for m in range(self.q):  # what no posterior depends on keeps its place
                H[k * D, m * D] += 1 if self.intercept and self.q > 1 else int(k == m and not self.intercept)
        for row, own, w in zip(self.Y, self.y, self.weight, strict=True):
            p = self.posteriors(a, row)[-self.q :]
            own = own - (self.K - self.q)
            for k in range(self.q):
                for i in range(D):
                    g[k * D + i] += w * (p[k] - (k == own)) * row[i]
                    for m in range(self.q):
                        c = w * p[k] * ((k == m) - p[m]) * row[i]
                        for j in range(D):
                            H[k * D + i, m * D + j] += c * row[j]
        s = mp.lu_solve(H, g)
        return s, mp.fdot(s, g)

    def minimum(self, a):
        """(A, J) at the minimum, from a point near it."""
        J = self.value(a)
        for _ in range(100):
            s, fall = self.step(a)
            if fall < J * mp.mpf(10) ** -35:
                break
            length = mp.mpf(1)
            while length > 1e-9 and not self.value(a - length * s) < J:
                length /= 2
            a, J = a - length * s, self.value(a - length * s)
        return a, J


def rows(K, n=20, d=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X @ rng.normal(size=(d, K)) + np.linspace(0, 0.3, K)).argmax(axis=1)


def compare(X, y, K, C, *, near=1e-10, weight=None, intercept=True, form=np.asarray):
    """Weights as good as the digits of the data allow, and a certificate that claims no more than is true."""
    with mp.workdps(50):
        model = LogisticRegression(C=C, fit_intercept=intercept).fit(form(X), y, weight)
        exact = Exact(X, y, K, C, weight, intercept)
        A = np.vstack([np.broadcast_to(model.intercept_, len(model.coef_)), model.coef_.T])
        a = mp.matrix(A.T.ravel().tolist())
        best, J = exact.minimum(a)
        found = exact.value(a)
        wanted = as_floats(best).reshape(exact.q, -1).T
        wanted = wanted - (wanted.mean(axis=1, keepdims=True) if exact.q > 1 else 0)
        np.testing.assert_allclose(A, wanted, rtol=0, atol=near * np.abs(wanted).max())
        told = model.certificate_
        assert told.converged, told.status
        assert float(abs(mp.mpf(told.objective) - found)) <= told.gap
        assert float(found - J) <= told.gap <= 1e-8 * float(J)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("C", [1e4, 1e8, 1e14, 1e18])
def test_a_weak_ridge_on_separated_classes_has_its_minimum_found(C, K):
    compare(*rows(K), K, C)


@pytest.mark.parametrize("K", [2, 3])
def test_one_row_that_outweighs_the_others(K):
    X, y = rows(K)
    weight = np.ones(len(y))
    weight[0] = 1e8
    compare(X, y, K, 1e8, weight=weight)


def test_one_column_that_outweighs_the_others():
    X, y = rows(2)
    compare(X * [1.0, 1e6], y, 2, 1e14)


def test_without_an_intercept_and_from_sparse_rows():
    X, _ = rows(2)
    compare(X, (X[:, 0] > 0).astype(int), 2, 1e14, intercept=False)
    compare(*rows(2), 2, 1e14, form=sparse.csr_matrix)


@pytest.mark.parametrize(("n", "d", "C"), [(12, 24, 1e8), (12, 24, 1e12), (24, 23, 1e8)])
def test_as_many_columns_as_rows(n, d, C):
    """A fit may end with a gap of tol·J, where weights along which J is flat are off by the root of that."""
    rng = np.random.default_rng(1)
    compare(rng.normal(size=(n, d)), rng.integers(0, 2, n), 2, C, near=1e-6)


@pytest.mark.parametrize("weight", [None, "unlike"])
@pytest.mark.parametrize("K", [2, 3])
def test_tiny_losses_add_up_to_their_last_digits(K, weight):
    """1,000 rows with scores of 20 to 34 on their own side: 1 + e^−z and 1 − p have lost nearly all of the loss."""
    rng = np.random.default_rng(2)
    y = np.arange(1_000) % K
    X = np.eye(K)[y] * rng.uniform(20, 34, (1_000, 1))
    w = None if weight is None else rng.uniform(0.1, 3, 1_000)
    model = LogisticRegression(C=1e14).fit(X, y, w)
    A = np.vstack([model.intercept_, model.coef_.T]).astype(np.longdouble)
    z = A[0] + X.astype(np.longdouble) @ A[1:]
    z = np.hstack([np.zeros_like(z), z]) if K == 2 else z
    apart = z - z[np.arange(1_000), y][:, None]
    apart[np.arange(1_000), y] = -np.inf
    loss = np.average(np.log1p(np.exp(apart).sum(axis=1)), weights=w)
    J = float(loss + (A[1:] ** 2).sum() / (2e14 * (1_000 if w is None else w.sum())))
    assert model.certificate_.objective == pytest.approx(J, rel=1e-11)
