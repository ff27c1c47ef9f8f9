"""The working set: what earlier passes prove of columns outside it, and that paths which rest on it hold."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sparse

from discriminant import LinearSVC, LogisticRegression, criteria, logistic_path, optimize, penalties
from discriminant.codings import make_coding
from discriminant.data import make_blocks
from discriminant.data.working_columns import AllColumns
from discriminant.objective import PointwiseObjective
from discriminant.optimize import working_set
from discriminant.optimize.working_set import PASSES, Screening


def rows(n=400, d=900, density=0.03, seed=0):
    rng = np.random.default_rng(seed)
    X = sparse.random(n, d, density=density, random_state=seed, format="csr", data_rvs=rng.standard_normal)
    weights = rng.standard_normal(d) * (rng.random(d) < 0.2)
    return X, (X @ weights + rng.logistic(size=n) > 0).astype(int)


@pytest.mark.parametrize("q", [1, 3])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_slopes_are_as_near_as_is_claimed(kind, q):
    X, _ = rows()
    rng = np.random.default_rng(1)
    source = AllColumns(make_blocks(X if kind == "sparse" else X.toarray()), None, np.full(X.shape[1], 2.0))
    s = rng.random(X.shape[0])
    s /= s.sum()
    screening = Screening(source, s, True)
    v, drift = rng.standard_normal((len(s), q)), 0.1 * rng.standard_normal((len(s), q))
    v, drift = v - s @ v, drift - s @ drift  # norms are about the mean: slopes of dual points sum to nothing
    for step in range(PASSES + 2):
        screening.slopes(v + step * drift)
    noise = 1e-3 * rng.standard_normal(v.shape)
    at = v + 7.3 * drift + noise - s @ noise
    R, far = screening.near(at)
    exact = -(X.T @ (s[:, None] * at)) / 2.0
    assert screening.passes == PASSES + 2
    assert (far < 2e-3).all()  # the span went along: nothing but the noise is left
    assert (np.abs(R - exact) <= screening.norms[:, None] * far * (1 + 1e-9) + 1e-12).all()


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_norms_bound_how_far_a_slope_moves(kind):
    X, _ = rows(n=80, d=40)
    source = AllColumns(make_blocks(X if kind == "sparse" else X.toarray()), None, np.ones(40))
    s = np.full(80, 1 / 80)
    dense = X.toarray()
    np.testing.assert_allclose(source.norms(s, centred=True), dense.std(axis=0), rtol=1e-6)
    np.testing.assert_allclose(source.norms(s, centred=False), np.sqrt(np.square(dense).mean(axis=0)))


def test_a_path_of_sparse_rows_is_that_of_the_same_rows_written_out():
    X, y = rows()
    found = logistic_path(X, y, n_lambdas=30, ratio=0.02, tol=1e-7)
    other = logistic_path(X.toarray(), y, lambdas=found.lambdas, tol=1e-7)
    assert (found.coefs[-1] != 0).sum() > 200
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


def exact_minimum(X, y, strength, start):
    """The least J of an L1 fit in extended precision: Newton's steps on the support of an answer that is near."""
    X, y = X.astype(np.longdouble), y.astype(np.longdouble)
    S = np.flatnonzero(start[1:])
    Y = np.hstack([np.ones((len(X), 1), dtype=np.longdouble), X[:, S]])
    a = start[np.concatenate([[0], 1 + S])].astype(np.longdouble)
    level = strength * np.sign(a)
    level[0] = 0
    for _ in range(8):
        p = 1 / (1 + np.exp(-Y @ a))
        H = Y.T @ ((p * (1 - p))[:, None] * Y) / len(X)
        a = a - np.linalg.solve(H.astype(float), (Y.T @ (p - y) / len(X) + level).astype(float))
    z = Y @ a
    R = X.T @ (y - 1 / (1 + np.exp(-z))) / len(X)
    assert (np.sign(a[1:]) == np.sign(start[1 + S])).all()
    assert np.abs(R).max() <= strength * (1 + 1e-12)  # so that it is the minimum
    return float((np.log1p(np.exp(-np.abs(z))) + np.maximum(z, 0) - y * z).mean() + strength * np.abs(a[1:]).sum())


@pytest.mark.parametrize(("n", "d"), [(80, 200), (400, 40)])
@pytest.mark.parametrize("tol", [0.3, 1e-2, 1e-4, 1e-8])
def test_a_gap_bounds_the_distance_from_the_minimum_in_extended_precision(n, d, tol):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, d))
    y = (X[:, :3].sum(axis=1) + rng.logistic(size=n) > 0).astype(int)
    best = logistic_path(X, y, n_lambdas=5, ratio=0.1, tol=1e-13)
    found = logistic_path(X, y, lambdas=best.lambdas, tol=tol)
    for i in (1, 4):
        start = np.concatenate([best.intercepts[i], best.coefs[i, 0]])
        least = exact_minimum(X, y, best.lambdas[i], start)
        assert -1e-14 <= found.objectives[i] - least <= found.gaps[i] + 1e-15
        assert found.gaps[i] <= tol * found.objectives[i]


@pytest.mark.parametrize("groups", [((0, 3), (1, 2, 4)), None])
def test_the_optimizer_agrees_with_the_estimator_in_columns_of_unlike_units(groups):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((120, 6)) * 10.0 ** np.arange(-2, 4) + [0, 0, 0, 0, 0, 1e5]
    y = (X[:, 0] * 100 + X[:, 1] * 10 + rng.logistic(size=120) > 0).astype(int)
    penalty = penalties.Lasso(0.01) if groups is None else penalties.Group(0.01, groups=(*groups, (5,)))
    objective = PointwiseObjective(
        make_blocks(X, y), criteria.Logistic(), make_coding("two-class", 2, labels=(0, 1)), penalty
    )
    found = optimize.ProximalNewton().minimize(objective, np.zeros((7, 1)))
    expected = LogisticRegression(l1_ratio=1, C=1 / (0.01 * 120), groups=groups).fit(X, y)
    assert found.converged
    np.testing.assert_allclose(found.weights[1:, 0], expected.coef_[0], rtol=1e-6, atol=1e-12)
    assert objective.value(found.weights) == pytest.approx(expected.certificate_.objective, rel=1e-10)
    again = optimize.ProximalNewton().minimize(objective, found.weights)
    assert again.iterations <= found.iterations
    np.testing.assert_allclose(again.weights, found.weights, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_compiled_steps_find_what_the_steps_in_numpy_find(kind, intercept, monkeypatch):
    """Logistic with an offset, an elastic net, bounds, groups, a weight without a penalty; and the squared hinge."""
    X, y = rows(n=150, d=60, density=0.2)
    X = X if kind == "sparse" else X.toarray() + 3.0
    offset = np.linspace(-1, 1, len(y))

    def fits():
        groups = tuple(tuple(range(j, j + 4)) for j in range(0, 48, 4))
        for settings in (
            {"l1_ratio": 1.0},
            {"l1_ratio": 0.4},
            {"l1_ratio": 1.0, "bounds": (-0.1, 0.2)},
            {"l1_ratio": 0.9, "groups": groups},
            {"l1_ratio": 1.0, "penalty_factors": [0.0] + [1.0] * 59},
        ):
            model = LogisticRegression(C=0.5, fit_intercept=intercept, **settings).fit(X, y, offset=offset)
            yield model.certificate_.converged, np.append(model.coef_, model.intercept_)
        model = LinearSVC(penalty="l1", C=0.2, fit_intercept=intercept, penalize_intercept=False).fit(X, y)
        yield model.certificate_.converged, np.append(model.coef_, model.intercept_)

    compiled = list(fits())
    monkeypatch.setattr(working_set, "load", lambda: None)
    for (met, weights), (met_too, expected) in zip(compiled, fits(), strict=True):
        assert met
        assert met_too
        np.testing.assert_allclose(weights, expected, rtol=1e-7, atol=1e-9)


def test_nearly_equal_columns_do_not_keep_sweeps_busy_for_ever():
    """Weights that trade places along near copies: one by one they leave, and the gap is proved to the last digits."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((300, 8))
    y = (X[:, :3].sum(axis=1) + rng.logistic(size=300) > 0).astype(int)
    X = np.hstack([X, X[:, :4], *(X[:, :4] + 10.0**-k * rng.standard_normal((300, 4)) for k in (5, 6, 7, 8))])
    for C in (0.1, 1.0, 10.0):
        certificate = LogisticRegression(C=C, l1_ratio=1.0, tol=1e-10).fit(X, y).certificate_
        assert certificate.converged, certificate.status


@pytest.mark.parametrize("size", [1, 5])
@pytest.mark.parametrize("tol", [1e-5, 1e-9])
def test_rows_of_weight_zero_change_nothing_along_columns(size, tol):
    """Of more columns than a matrix is formed of at once: steps that are read off w ∘ Xd, where w may be zero."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((700, 203))
    y = (X[:, :30].sum(axis=1) / 3 + rng.logistic(size=700) > 0).astype(int)
    weight = np.where(np.arange(700) < 500, 1.0, 0.0)
    groups = None if size == 1 else [list(range(j, min(j + size, 203))) for j in range(0, 203, size)]
    options = {"C": 0.2, "l1_ratio": 1.0, "groups": groups, "tol": tol}
    found = LogisticRegression(**options).fit(X, y, sample_weight=weight)
    other = LogisticRegression(**options).fit(X[:500], y[:500])

    def value(model):
        z, w = model.decision_function(X[:500]), model.coef_[0]
        lengths = np.abs(w) if groups is None else [np.sqrt(len(g)) * np.linalg.norm(w[g]) for g in groups]
        return options["C"] * np.logaddexp(0, np.where(y[:500] == 1, -z, z)).sum() + np.sum(lengths)

    assert value(found) == pytest.approx(value(other), rel=tol)
