"""Slopes outside the working set: what earlier looks prove, and that paths of sparse rows which rest on it hold."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sparse

from discriminant import logistic_path
from discriminant.data import make_blocks
from discriminant.optimize.logistic import LogisticProblem
from discriminant.optimize.sparse.outside import MOST_LOOKS, Outside
from discriminant.optimize.sparse.path import SparsePenalty, make_solver


def rows(n=400, d=900, density=0.03, seed=0):
    rng = np.random.default_rng(seed)
    X = sparse.random(n, d, density=density, random_state=seed, format="csr", data_rvs=rng.standard_normal)
    weights = rng.standard_normal(d) * (rng.random(d) < 0.2)
    return X, (X @ weights + rng.logistic(size=n) > 0).astype(int)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_slopes_are_as_near_as_is_claimed(kind, K):
    X, y = rows()
    rng = np.random.default_rng(1)
    y = rng.integers(0, K, len(y))
    solver = make_solver(LogisticProblem(make_blocks(X if kind == "sparse" else X.toarray(), y), K), SparsePenalty())
    outside = Outside(solver.source, solver.losses, True)
    v = rng.standard_normal(solver.losses.t.shape)
    drift = 0.1 * rng.standard_normal(v.shape)
    for step in range(MOST_LOOKS + 2):
        outside.look(v + step * drift)
    at = v + 7.3 * drift + 1e-3 * rng.standard_normal(v.shape)
    at -= solver.losses.s @ at  # spreads are about the mean: slopes of dual points sum to nothing
    R, far = outside.near(at)
    exact = -solver.source.adjoint(solver.losses.s[:, None] * at)
    assert len(outside.looks) == MOST_LOOKS
    assert (far < 0.05 * np.linalg.norm(drift)).all()  # the span went along: nothing but the noise is left
    last = outside.looks[-1][0]
    shift = np.abs(solver.losses.s @ last)  # looks whose slopes do not sum to nothing count with their means
    bound = solver.source.spreads(solver.losses.s, centred=False)[:, None] * (far + shift)
    assert (np.abs(R - exact) <= bound * (1 + 1e-9) + 1e-12).all()


def test_a_path_of_sparse_rows_is_that_of_the_same_rows_written_out():
    X, y = rows()
    found = logistic_path(X, y, n_lambdas=30, ratio=0.02, tol=1e-7)
    other = logistic_path(X.toarray(), y, lambdas=found.lambdas, tol=1e-7)
    assert (found.coefs[-1] != 0).sum() > 200  # the sweeps go along columns by then
    assert found.certified.all()
    np.testing.assert_allclose(found.objectives, other.objectives, rtol=2e-7)
    np.testing.assert_allclose(found.coefs, other.coefs, atol=2e-2)


def test_gaps_of_a_sparse_path_are_true():
    X, y = rows(seed=2)
    found = logistic_path(X, y, n_lambdas=25, ratio=0.02, tol=1e-3)
    best = logistic_path(X, y, lambdas=found.lambdas, tol=1e-10)
    for i, strength in enumerate(found.lambdas):
        z = X @ found.coefs[i, 0] + found.intercepts[i, 0]
        J = np.logaddexp(0, z).mean() - (y * z).mean() + strength * np.abs(found.coefs[i]).sum()
        assert pytest.approx(found.objectives[i], rel=1e-12) == J
        assert -1e-12 <= J - best.objectives[i] <= found.gaps[i] + 1e-10


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_groups_of_one_in_any_order_change_nothing(kind):
    X, y = rows(n=300, d=300)
    X = X if kind == "sparse" else X.toarray()
    plain = logistic_path(X, y, n_lambdas=10, ratio=0.05)
    order = np.random.default_rng(0).permutation(300)
    mixed = logistic_path(X, y, lambdas=plain.lambdas, groups=[(int(j),) for j in order[:100]])
    np.testing.assert_allclose(mixed.objectives, plain.objectives, rtol=1e-7)
    np.testing.assert_allclose(mixed.coefs, plain.coefs, atol=1e-3)
