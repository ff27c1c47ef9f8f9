"""The closed forms of Gaussian classes and of least squares, part by part, against plain formulas."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.covariance import ledoit_wolf
from sklearn.covariance import oas as their_oas

from discriminant.data import make_blocks
from discriminant.data.rows import DenseDesign
from discriminant.errors import DataError, SingularCovarianceError
from discriminant.gaussian import class_moments, whiten, whiten_matrix, whiten_moments
from discriminant.gaussian.covariance import (
    FourthKernel,
    _ledoit_wolf,
    oas,
    optimal_shrinkage,
    pool,
    scatter_of,
)  # fmt: skip
from discriminant.gaussian.exponential_family import ClassSumKernel, ClassSums, in_support, natural
from discriminant.gaussian.least_squares import MarginMoments, least_squares
from discriminant.gaussian.leave_one_out import LinearDeletion, QuadraticDeletion
from discriminant.gaussian.moments import mapped_moments, row_moments
from discriminant.gaussian.projection import (
    Projection,
    fisher_projection,
    mean_projection,
    nearest_mean_weights,
    projected_variances,
    trace_criterion,
    two_class_threshold,
    two_class_weights,
)  # fmt: skip
from discriminant.gaussian.quadratic import QuadraticDiscriminant
from discriminant.gaussian.row_least_squares import row_least_squares
from discriminant.gaussian.row_space import is_wide, orthogonal_coordinates, singular_axes
from discriminant.gaussian.weights import (
    LEAST_STRIP,
    Directions,
    axis_scores,
    fisher_directions,
    linear_weights,
    quadratic_scores,
)  # fmt: skip
from discriminant.protocols import Block
from discriminant.thresholds import ONE_PIECE_VALUES

rng = np.random.default_rng(11)
N, D, K = 60, 4, 3
Y = np.arange(N) % K
X = rng.normal(size=(N, D)) @ (np.eye(D) + 0.4 * rng.normal(size=(D, D))) + 2.0 * rng.normal(size=(K, D))[Y] + 3.0
WEIGHT = rng.uniform(0.3, 3.0, N)
PRIORS = np.array([0.5, 0.2, 0.3])
WIDE = rng.normal(size=(12, 80)) * 10.0 ** rng.uniform(-1, 1, 80) + 4.0
WIDE_Y = np.arange(12) % K
WIDE_WEIGHT = rng.uniform(0.3, 3.0, 12)


BEGIN = rng.bit_generator.state


@pytest.fixture(autouse=True)
def same_numbers_in_any_order():
    """A test draws the same numbers whichever ran before it."""
    rng.bit_generator.state = BEGIN


def within(values=X, y=Y, weight=WEIGHT, k=None):
    """(Σ w r rᵗ about the class means, of one class or all; the class means)."""
    means = np.array([np.average(values[y == j], axis=0, weights=weight[y == j]) for j in range(K)])
    r = (values - means[y]) * np.sqrt(weight)[:, None]
    r = r if k is None else r[y == k]
    return r.T @ r, means


def moments_of(by_class=True):
    return class_moments(make_blocks(X, Y, WEIGHT), K, by_class=by_class)


def far(found, moments, values=X):
    """Whitened coordinates of rows."""
    return (values - found.origin) @ found.matrix


# Covariances in three forms


def forms():
    held = row_moments(make_blocks(WIDE, WIDE_Y, WIDE_WEIGHT), K, by_class=True)
    yield held, scatter_of(held), scatter_of(held, 1)
    whole = held.whole()
    yield whole, scatter_of(whole), scatter_of(whole, 1)
    small = moments_of()
    yield small, scatter_of(small), scatter_of(small, 1)
    thin = class_moments(make_blocks(X, Y, WEIGHT), K, by_class=True, diagonal=True)
    yield thin, scatter_of(thin), scatter_of(thin, 1)


def test_covariances_are_their_matrices():
    """Sums, multiples, added diagonals, products and norms of each form are those of the matrix it stands for."""
    for i, (moments, S, S1) in enumerate(forms()):
        data = (WIDE, WIDE_Y, WIDE_WEIGHT) if i < 2 else (X, Y, WEIGHT)
        wanted, one = within(*data)[0], within(*data, k=1)[0]
        if moments.diagonal and moments.rows is None:
            wanted, one = np.diag(np.diagonal(wanted)), np.diag(np.diagonal(one))
        np.testing.assert_allclose(S.matrix(), wanted, atol=1e-9 * np.abs(wanted).max())
        np.testing.assert_allclose(S1.matrix(), one, atol=1e-9 * np.abs(wanted).max())
        np.testing.assert_allclose(S.variances, np.diagonal(wanted), rtol=1e-9)
        extra = np.linspace(1.0, 2.0, len(wanted))
        mixed = (S * 0.3 + S1 * 0.5).plus(extra)
        full = 0.3 * wanted + 0.5 * one + np.diag(extra)
        np.testing.assert_allclose(mixed.matrix(), full, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(mixed.variances, np.diagonal(full), rtol=1e-9)
        V = rng.normal(size=(len(wanted), 2))
        np.testing.assert_allclose(mixed.product(V), full @ V, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(S.product(V), wanted @ V, rtol=1e-8, atol=1e-8)
        if not (moments.diagonal and moments.rows is None):
            wide = np.linspace(0.5, 3, len(wanted))
            assert S1.squared_norm(wide) == pytest.approx(((one / wide / wide[:, None]) ** 2).sum(), rel=1e-9)
        unit = 2.0 ** (np.arange(len(wanted)) % 3)
        seen = S.shrink(0.25, unit).matrix() * unit * unit[:, None]  # in the units of X
        plain = wanted * unit * unit[:, None]
        shrunk = 0.75 * plain + 0.25 * np.trace(plain) / len(plain) * np.eye(len(plain))
        np.testing.assert_allclose(seen, shrunk, rtol=1e-9, atol=1e-9)
        both = pool(S1, 5.0, S, 20.0, 0.3, dof=1.0).matrix()
        np.testing.assert_allclose(both, (0.7 * one + 0.3 * wanted) / (0.7 * 4 + 0.3 * 20), rtol=1e-8, atol=1e-9)
        assert pool(S1, 5.0, S, 20.0, 0.0).matrix() == pytest.approx(one / 5, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("scales", [1.0, 10.0 ** np.linspace(-9, 9, 80)], ids=["", "columns of any size"])
@pytest.mark.parametrize("amount", [0.0, 1e-3, 0.5])
def test_fewer_rows_than_columns_are_whitened(amount, scales):
    """WᵗΣW = I over the directions kept; distances between means and ln|Σ| are those of the d × d matrix."""
    values = WIDE * scales
    held = row_moments(make_blocks(values, WIDE_Y, WIDE_WEIGHT), K)
    S = scatter_of(held) * (1 / held.total)
    deviation = np.sqrt(S.variances)
    if amount:
        S = (S * (1 - amount)).plus(amount * deviation**2)
    found = S.whiten(held)
    full = S.matrix() / deviation / deviation[:, None]
    eigen, vectors = np.linalg.eigh(full)
    real = eigen > 1e-10 * eigen[-1]
    assert found.rank == int(real.sum()) == (80 if amount else 9)
    assert found.full == bool(amount)
    log_det = np.log(eigen[real]).sum() + 2 * np.log(deviation).sum()
    assert found.log_determinant == pytest.approx(log_det, rel=1e-9)
    W = found.matrix * deviation[:, None]
    np.testing.assert_allclose(W.T @ full @ W, np.eye(W.shape[1]), atol=1e-8)
    half = (vectors[:, real] / np.sqrt(eigen[real])).T / deviation
    gaps = held.class_means[:, None] - held.class_means
    wanted = np.square(gaps @ half.T).sum(axis=2)
    seen = np.square(found.means[:, None] - found.means).sum(axis=2)
    np.testing.assert_allclose(seen, wanted, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose((held.class_means - found.origin) @ found.matrix, found.means, atol=1e-7)
    np.testing.assert_allclose(found.deviation, deviation * np.sqrt(1.0), rtol=1e-9)
    zero = -held.class_means[0] if amount else None  # the zero point has its distance too
    if zero is not None:
        at = np.square((np.zeros(80) - found.origin) @ found.matrix - found.means[0]).sum()
        assert at == pytest.approx(float(np.square(half @ zero).sum()), rel=1e-7)


@pytest.mark.parametrize("case", ["near", "far", "units", "next to each other", "two alike"])
def test_diagonals_are_whitened(case):
    """W holds what class means and the zero point need: their distances and ln|Σ| are those of the diagonal."""
    values = X - X.mean(axis=0)
    values = values + {"near": 0.1, "far": 1e4}.get(case, 1.0)
    if case in ("next to each other", "two alike"):
        r = values - within(values, Y, np.ones(N))[1][Y]
        values = r + (1e-7 if case[0] == "n" else 1.0) * rng.normal(size=(K, D))[Y]
        if case == "two alike":  # to the last bit: sums of quarters are exact
            values = np.round(4 * values) / 4
            values = np.where((Y == 1)[:, None], np.roll(values, 1, axis=0), values)
    values = values * (10.0 ** np.array([-170, 0, 3, 180]) if case == "units" else 1.0)
    moments = class_moments(make_blocks(values, Y), K, diagonal=True)
    found = (scatter_of(moments) * (1 / N)).whiten(moments)
    wide = values.astype(np.longdouble)
    means = np.array([wide[k == Y].mean(axis=0) for k in range(K)])
    deviation = np.sqrt(((wide - means[Y]) ** 2).mean(axis=0))
    np.testing.assert_allclose(found.deviation, deviation.astype(float), rtol=1e-9)
    assert found.log_determinant == pytest.approx(2 * float(np.log(deviation).sum()), rel=1e-9)
    assert (found.rank, found.full) == (D, True)
    points = np.vstack([means, np.zeros((1, D))])
    wanted = np.square((points[:, None] - points) / deviation).sum(axis=2)
    seen = np.vstack([found.means, (np.zeros(D) - found.origin) @ found.matrix])
    np.testing.assert_allclose(np.square(seen[:, None] - seen).sum(axis=2), wanted.astype(float), rtol=1e-6, atol=1e-18)


def test_whitening_without_a_column_that_varies_and_with_a_given_tolerance():
    values = WIDE.copy()
    values[:, 5] = 2.5
    held = row_moments(make_blocks(values, WIDE_Y, WIDE_WEIGHT), K)
    S = scatter_of(held) * (1 / held.total)
    for covariance in (S, S.plus(np.where(np.arange(80) == 5, 0.0, 0.1))):
        found = covariance.whiten(held)
        assert found.constant.tolist() == [5]
        assert not found.matrix[5].any()
        assert found.rank == (9 if covariance is S else 79)
    standard = np.linalg.svd(held.rows.values * np.sqrt(WIDE_WEIGHT)[:, None] / np.maximum(
        np.sqrt(S.variances * held.total), 1e-300), compute_uv=False)  # fmt: skip
    cut = float(standard[3:5].mean())
    assert S.whiten(held, tol=cut).rank == 4
    dependent = WIDE[:, :3] @ rng.normal(size=(3, 80))
    held = row_moments(make_blocks(dependent, WIDE_Y, WIDE_WEIGHT), K)
    found = (scatter_of(held) * (1 / held.total)).whiten(held)
    assert found.rank == 3
    assert (found.passes, found.null.shape) == (1, (80, 0))


def test_axes_of_rows():
    C = rng.normal(size=(6, 30))
    Q, s = singular_axes(C, dof=0)
    np.testing.assert_allclose(Q.T @ Q, np.eye(6), atol=1e-12)
    np.testing.assert_allclose(np.sort(s), np.sort(np.linalg.svd(C, compute_uv=False)), rtol=1e-12)
    np.testing.assert_allclose((Q * s**2) @ Q.T, C.T @ C, atol=1e-11)
    centred = C - C.mean(axis=0)
    Q, s = singular_axes(centred, dof=1)
    assert len(s) == 5
    assert singular_axes(centred, dof=0) is None  # a direction is missing that nothing explains
    assert len(singular_axes(centred, dof=0, least=1e-12)[1]) == 5  # but does not matter beside a variance of one
    assert singular_axes(centred, dof=0, least=1e-17) is None
    assert singular_axes(C * np.array([1, 1, 1, 1, 1, 1e-3])[:, None], dof=0) is None  # κ of the products above 1e4
    assert singular_axes(C * np.array([1, 1, 1, 1, 1, 0.1])[:, None], dof=0) is not None
    assert singular_axes(C * np.array([1, 1, 1, 1, 1e-3, 1e-3])[:, None], dof=0) is None
    assert singular_axes(C * np.array([1e3, 1, 1, 1, 1, 1])[:, None], dof=0) is None
    for empty in (np.zeros((0, 5)), np.zeros((3, 5))):
        Q, s = singular_axes(empty, dof=0)
        assert (Q.shape, s.shape) == ((5, 0), (0,))
    scaled = C * 10.0 ** np.linspace(-12, 12, 30)
    Q, Z = orthogonal_coordinates(scaled)
    np.testing.assert_allclose(Q.T @ Q, np.eye(6), atol=1e-12)
    np.testing.assert_allclose(Z @ Q.T, scaled, rtol=1e-9)
    assert [is_wide(10, 64), is_wide(10, 65), is_wide(100, 99), is_wide(100, 100), is_wide(100, 101)] == [
        False, True, False, False, True]  # fmt: skip


def test_optimal_shrinkage_is_that_of_the_peer():
    """On standardised columns, class by class; rows repeated in place of weights; rows or matrices, no matter."""
    times = rng.integers(1, 4, N)
    wide_times = rng.integers(1, 4, 12)
    for values, y, repeats in ((X, Y, times), (WIDE, WIDE_Y, wide_times)):
        values = values.copy()
        values[:, 2] = np.where(y == 1, 0.7, values[:, 2])  # does not vary in one class
        blocks = make_blocks(values, y, repeats.astype(float))
        for rule, peer in (("ledoit-wolf", ledoit_wolf), ("oas", their_oas)):
            for moments in (class_moments(blocks, K, by_class=True), row_moments(blocks, K, by_class=True)):
                found = optimal_shrinkage(blocks, moments, rule)
                for k in range(K):
                    own = np.repeat(values[y == k], repeats[y == k], axis=0)
                    deviation = own.std(axis=0)
                    deviation[deviation < 1e-12] = 1.0
                    wanted = peer((own - own.mean(axis=0)) / deviation)[0] * deviation * deviation[:, None]
                    np.testing.assert_allclose(found[k].matrix(), wanted, rtol=1e-6, atol=1e-9 * np.abs(wanted).max())
    empty = class_moments(make_blocks(X, Y), K + 1, by_class=True)
    for rule in ("ledoit-wolf", "oas"):
        assert np.isfinite(optimal_shrinkage(make_blocks(X, Y), empty, rule)[0].matrix()).all()


def test_amounts_of_shrinkage():
    assert oas(4, 1.0, 4.0, 10) == 1.0  # a multiple of the identity already
    assert oas(4, 1.0, 16.0, 10) == pytest.approx((1 + 1) / (11 * (1 - 1 / 4)))
    assert oas(2, 0.5, 3.0, 4) == pytest.approx((0.75 + 0.25) / (5 * (0.75 - 0.125)))
    assert oas(4, 1.0, 4.1, 10) == 1.0
    assert oas(4, 0.1, 0.8, 10) == pytest.approx(0.06 / (11 * 0.0475))
    assert _ledoit_wolf(4, 1.0, 4.0, 10, 50.0) == 0.0
    assert _ledoit_wolf(4, 1.0, 16.0, 10, 8.0) == 0.0
    assert _ledoit_wolf(4, 1.0, 16.0, 10, 50.0) == pytest.approx((34 / 40) / 3)
    assert _ledoit_wolf(4, 0.5, 16.0, 10, 1e6) == 1.0
    means, deviations = rng.normal(size=(K, D)), rng.uniform(1, 2, (K, D))
    for weight in (None, WEIGHT):
        found = FourthKernel(means, deviations)(Block(DenseDesign(X), 0, Y, weight))
        fourth = ((((X - means[Y]) / deviations[Y]) ** 2).sum(axis=1)) ** 2 * (1.0 if weight is None else weight)
        np.testing.assert_allclose(found, [fourth[k == Y].sum() for k in range(K)])


# Whitening


def hilbert_like(d, spread=12):
    """Rows whose correlation has a condition number of about 10^spread."""
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return rng.normal(size=(3 * d + 40, d)) * 10.0 ** np.linspace(0, -spread / 2, d) @ turn


@pytest.mark.parametrize("case", ["plain", "correlated", "many", "many, few in doubt", "far", "constant", "collinear"])
def test_whitened_coordinates(case):
    """Unit covariance, distances, ln|Σ| and rank, by rows in the widest float."""
    values = {
        "plain": X, "correlated": hilbert_like(6), "far": hilbert_like(5, 8) + 1e5,
        "many": hilbert_like(135, 9), "constant": np.column_stack([X, np.full(N, 3.3)]),
        "collinear": np.column_stack([X, X @ [1.0, 2.0, -1.0, 0.5]]),
        "many, few in doubt": np.column_stack([rng.normal(size=(500, 134)), np.zeros(500)]),
    }[case]  # fmt: skip
    if "doubt" in case:
        values[:, 134] = values[:, :3].sum(axis=1) + 1e-4 * rng.normal(size=500)
    y = np.arange(len(values)) % K
    blocks = make_blocks(values, y)
    moments = class_moments(blocks, K)
    calls = []

    def again(W):
        calls.append(W.shape[1])
        scatter, means = mapped_moments(blocks, moments, W)
        return scatter / 50.0, means

    found = whiten_moments(moments, 50.0, again=again)
    wide = values.astype(np.longdouble)
    means = np.array([wide[y == k].mean(axis=0) for k in range(K)])
    seen = (wide - means[y]) @ found.matrix
    np.testing.assert_allclose((seen.T @ seen / 50).astype(float), np.eye(found.matrix.shape[1]), atol=1e-7)
    d = values.shape[1]
    assert found.rank == (d - 1 if case in ("constant", "collinear") else d)
    assert found.full == (found.rank == d)
    np.testing.assert_allclose((means - found.origin) @ found.matrix, found.means, rtol=1e-6, atol=1e-7)
    r = np.asarray(wide - means[y], dtype=float)
    deviation = np.sqrt((r**2).sum(axis=0) / 50)
    np.testing.assert_allclose(found.deviation, np.where(deviation > 1e-12, deviation, 0.0), rtol=1e-10)
    live = found.deviation > 0
    singular = np.linalg.svd(r[:, live] / deviation[live] / np.sqrt(50), compute_uv=False)[: found.rank]
    if case != "collinear":
        assert found.log_determinant == pytest.approx(2 * (np.log(singular) .sum() + np.log(deviation[live]).sum()),
                                                      rel=1e-7)  # fmt: skip
    assert found.condition == pytest.approx((singular[0] / singular[-1]) ** 2, rel=1e-5)
    if case in ("plain", "correlated"):
        inverse = np.linalg.inv((r / deviation).T @ (r / deviation) / 50) if case == "plain" else None
        if inverse is not None:
            np.testing.assert_allclose(found.inflation, np.diagonal(inverse), rtol=1e-9)
    assert found.constant.tolist() == ([4] if case == "constant" else [])
    assert found.collinear.tolist() == ([0, 1, 2, 3, 4] if case == "collinear" else [])
    assert {"plain": calls == [], "many, few in doubt": calls == [1]}.get(case, True)
    assert found.passes == 1 + len(calls)
    if case == "collinear":
        direction = found.null[:, 0] / found.deviation
        assert np.abs(r @ direction).max() < 1e-10
        assert found.null.shape == (5, 1)
        # Of all whiteners the shortest in standardised columns: nothing along what was dropped.
        np.testing.assert_allclose((found.matrix * found.deviation[:, None]).T @ found.null, 0.0, atol=1e-9)
    if case == "plain":
        for other in (whiten_moments(moments, 50.0), whiten_matrix(within(weight=np.ones(N))[0] / 50, moments)):
            np.testing.assert_allclose(other.matrix @ other.matrix.T, found.matrix @ found.matrix.T, rtol=1e-9)
            assert other.log_determinant == pytest.approx(found.log_determinant, rel=1e-10)


def test_rows_that_are_gone_cannot_tell_small_directions():
    """Without the rows a singular value below √ε of the largest is rounding; with them it is a direction."""
    values = np.column_stack([X, X @ [1.0, 2.0, -1.0, 0.5] + 1e-9 * rng.normal(size=N)])
    blocks = make_blocks(values, Y)
    moments = class_moments(blocks, K)
    assert whiten_moments(moments, N).rank == 4
    assert whiten_moments(moments, N, again=lambda W: (lambda S, m: (S / N, m))(*mapped_moments(blocks, moments, W))
                          ).rank == 5  # fmt: skip
    assert whiten_matrix(moments.scatter / N, moments).rank == 4


def test_a_given_tolerance_cuts_singular_values():
    moments = moments_of(False)
    S, _ = within()
    standard = S / np.sqrt(np.outer(np.diagonal(S), np.diagonal(S)))
    values = np.sqrt(np.linalg.eigvalsh(standard))
    for keep in range(1, D):
        cut = float(values[D - keep - 1 : D - keep + 1].mean())
        found = whiten_moments(moments, moments.total, tol=cut)
        assert found.rank == keep
        assert found.null.shape == (D, D - keep)
        np.testing.assert_allclose(found.matrix.T @ (S / moments.total) @ found.matrix, np.eye(keep), atol=1e-10)
        scaled = found.matrix * found.deviation[:, None]
        np.testing.assert_allclose(scaled.T @ found.null, 0.0, atol=1e-10)
        log_det = 2 * np.log(values[-keep:]).sum() + 2 * np.log(found.deviation).sum()
        assert found.log_determinant == pytest.approx(log_det, rel=1e-9)
        np.testing.assert_allclose((moments.class_means - found.origin) @ found.matrix, found.means, atol=1e-9)


def test_noise_of_columns():
    moments = replace(moments_of(False), precision=1e-6)
    offset = np.abs(moments.class_means).max(axis=0)
    deviation = offset * [1e-6, 1e-5, 0.9999e-6, 1.0]
    live, noise = whiten.column_noise(moments, deviation)
    assert live.tolist() == [1, 3]
    eps = np.finfo(float).eps
    np.testing.assert_allclose(noise, 8 * (eps * np.sqrt(2) + 1e-6 / np.array([1e-5, 1.0])), rtol=1e-12)


def test_small_columns_are_columns():
    assert whiten_moments(class_moments(make_blocks(X * 1e-20, Y), K), N).rank == D


def test_nothing_that_varies():
    moments = class_moments(make_blocks(np.ones((N, 2)), Y), K)
    found = whiten_moments(moments, N)
    assert (found.rank, found.matrix.shape, found.means.shape) == (0, (2, 0), (K, 0))
    assert np.isnan(found.condition)
    assert whiten._first(np.zeros((0, 0)))[0].shape == (0, 0)
    assert fisher_directions(found, PRIORS).matrix.shape == (2, 0)


def test_scores_by_axes_in_large_units():
    """A diagonal for each class, columns whose squares are beyond the numbers."""
    unit = 2.0 ** np.array([0, 700, -700, 3])
    moments = class_moments(make_blocks(X * unit, Y, WEIGHT), K, by_class=True, diagonal=True)
    parts = [scatter_of(moments, k) * (1 / moments.weight[k]) for k in range(K)]
    scores = axis_scores([part.axes(moments.of_class(k)) for k, part in enumerate(parts)], moments, PRIORS)
    variances = np.array([np.diagonal(within(k=k)[0]) / WEIGHT[k == Y].sum() for k in range(K)])
    logs = stats.norm.logpdf(X[:5, None], within()[1], np.sqrt(variances)).sum(axis=2) + np.log(PRIORS)
    wanted = logs + D / 2 * np.log(2 * np.pi) - np.log(unit).sum()
    np.testing.assert_allclose(scores(X[:5] * unit), wanted, rtol=1e-9)


def test_a_column_too_small_for_any_weight_is_named():
    values = X * [1.0, 1e-310, 1.0, 1.0]
    with pytest.raises(DataError, match="Column 1 varies by"):
        whiten_moments(class_moments(make_blocks(values, Y), K), N)


# Discriminants


def gaussian_scores(points, priors=PRIORS, quadratic=False):
    S, means = within()
    parts = [within(k=k)[0] / WEIGHT[k == Y].sum() if quadratic else S / WEIGHT.sum() for k in range(K)]
    logs = [stats.multivariate_normal.logpdf(points, m, C) for m, C in zip(means, parts, strict=True)]
    return np.column_stack(logs) + np.log(priors)


@pytest.mark.parametrize("count", [3, LEAST_STRIP, LEAST_STRIP + 1])
def test_scores_are_log_densities(count, monkeypatch):
    monkeypatch.setattr("discriminant.gaussian.weights.STRIP_VALUES", 1)  # strips as short as they get
    points = rng.normal(size=(count, D)) * 2 + 3
    found = whiten_moments(moments_of(False), WEIGHT.sum())
    for centred in (True, False):
        A = linear_weights(found, PRIORS, centred=centred)
        z = A[0] + (points - found.origin) @ A[1:]
        wanted = gaussian_scores(points)
        np.testing.assert_allclose(z - z[:, :1], wanted - wanted[:, :1], rtol=1e-9, atol=1e-9)
        if not centred:  # the books' weights and intercepts, at x = 0
            S, means = within()
            np.testing.assert_allclose(A[1:], np.linalg.solve(S / WEIGHT.sum(), means.T), rtol=1e-9)
            level = np.log(PRIORS) - 0.5 * np.einsum("kd,dk->k", means, A[1:])
            np.testing.assert_allclose(A[0] - found.origin @ A[1:], level, rtol=1e-8)
        else:
            np.testing.assert_allclose(A[1:] @ PRIORS, 0.0, atol=1e-9)
    moments = moments_of()
    each = [whiten_moments(moments.of_class(k), moments.weight[k]) for k in range(K)]
    quadratic = quadratic_scores(each, PRIORS)
    wanted = gaussian_scores(points, quadratic=True) + D / 2 * np.log(2 * np.pi)
    np.testing.assert_allclose(quadratic(points), wanted, rtol=1e-9)
    rule = QuadraticDiscriminant(quadratic, np.array(["a", "b", "c"]))
    np.testing.assert_allclose(rule.decision_function(points), wanted, rtol=1e-9)
    np.testing.assert_allclose(rule.predict_proba(points), np.exp(wanted) / np.exp(wanted).sum(axis=1)[:, None])
    assert rule.predict(points).tolist() == np.array(["a", "b", "c"])[wanted.argmax(axis=1)].tolist()
    assert (rule.n_features, rule.link) == (D, "softmax")
    many = np.tile(points, (ONE_PIECE_VALUES // (D * count) + 2, 1))
    for rows in (many, many.astype(np.float32), points.astype(np.float32), np.asfortranarray(points)):
        np.testing.assert_allclose(rule.scores(rows)[:count], wanted, rtol=1e-5)
    two = QuadraticDiscriminant(quadratic_scores(each[:2], PRIORS[:2]), np.array([0, 1]))
    np.testing.assert_allclose(two.decision_function(points), wanted[:, 1] - wanted[:, 0], rtol=1e-9)


def test_scores_that_overflow_are_named():
    moments = moments_of()
    each = [whiten_moments(moments.of_class(k), moments.weight[k]) for k in range(K)]
    rule = QuadraticDiscriminant(quadratic_scores(each, PRIORS), np.arange(K))
    with pytest.raises(DataError, match="too large"):
        rule.scores(np.full((2, D), 1e200))
    with pytest.raises(DataError, match="NaN"):
        rule.scores(np.full((2, D), np.nan))


def test_scores_by_axes():
    """Δ + few axes: the same as with the d × d matrices."""
    moments = row_moments(make_blocks(WIDE, WIDE_Y, WIDE_WEIGHT), K, by_class=True)
    parts = [(scatter_of(moments, k) * (1 / moments.weight[k])).shrink(0.3, moments.unit) for k in range(K)]
    scores = axis_scores([part.axes(moments.of_class(k)) for k, part in enumerate(parts)], moments, PRIORS)
    points = rng.normal(size=(5, 80)) * 3
    means = within(WIDE, WIDE_Y, WIDE_WEIGHT)[1]
    wanted = np.column_stack([
        stats.multivariate_normal.logpdf(points, m, part.matrix()) + np.log(p)
        for m, part, p in zip(means, parts, PRIORS, strict=True)
    ]) + 40 * np.log(2 * np.pi)  # fmt: skip
    np.testing.assert_allclose(scores(points), wanted, rtol=1e-9)
    for k, (W, part) in enumerate(zip(scores.matrices, parts, strict=True)):
        np.testing.assert_allclose(W.T @ part.matrix() @ W, np.eye(80), atol=1e-8)
        np.testing.assert_allclose(scores.means[k], (means[k] - moments.origin) @ W, rtol=1e-6, atol=1e-6)


# Fisher's axes, and classes on few axes


def test_axes_maximise_the_between_class_variance():
    S, means = within()
    covariance, priors = S / WEIGHT.sum(), PRIORS
    overall = priors @ means
    between = sum(p * np.outer(m - overall, m - overall) for p, m in zip(priors, means, strict=True))
    values, vectors = (part[..., ::-1] for part in np.linalg.eigh(np.linalg.solve(
        np.linalg.cholesky(covariance), np.linalg.solve(np.linalg.cholesky(covariance), between).T)))  # fmt: skip
    found = fisher_directions(whiten_moments(moments_of(False), WEIGHT.sum()), priors)
    assert found.matrix.shape == (D, K - 1)
    np.testing.assert_allclose(found.variances, values[:2], rtol=1e-9)
    np.testing.assert_allclose(found.shares, values[:2] / values[:2].sum(), rtol=1e-9)
    np.testing.assert_allclose(found.matrix.T @ covariance @ found.matrix, np.eye(2), atol=1e-9)
    np.testing.assert_allclose(found.matrix.T @ between @ found.matrix, np.diag(values[:2]), atol=1e-9)
    np.testing.assert_allclose(found.means, (means - found.origin) @ found.matrix, atol=1e-9)
    np.testing.assert_allclose(found.centre, (overall - found.origin) @ found.matrix, atol=1e-9)
    standard = found.matrix * np.sqrt(np.diagonal(covariance))[:, None]
    assert (standard[np.abs(standard).argmax(axis=0), [0, 1]] > 0).all()
    assert vectors.shape == (D, D)
    one = Directions(np.zeros((D, 0)), np.zeros(0), np.zeros(D), np.zeros(0), np.zeros((K, 0)))
    assert one.shares.shape == (0,)
    same = class_moments(make_blocks(np.tile(X[:20], (3, 1)), np.repeat(np.arange(3), 20)), K)
    assert fisher_directions(whiten_moments(same, 60.0), priors, tol=1e-9).matrix.shape[1] <= 2


def test_projections():
    moments, priors = moments_of(), PRIORS
    S, means = within()
    found = whiten_moments(moments.pooled(), WEIGHT.sum())
    for count in (1, 2):
        fisher = fisher_projection(found, priors, count)
        assert fisher.matrix.shape == (D, count)
        np.testing.assert_allclose(fisher.spread, fisher.matrix.T @ (S / WEIGHT.sum()) @ fisher.matrix, atol=1e-9)
        line = mean_projection(moments, priors, count)
        np.testing.assert_allclose(line.matrix.T @ line.matrix, np.eye(count), atol=1e-12)
        np.testing.assert_allclose(line.spread, line.matrix.T @ (S / WEIGHT.sum()) @ line.matrix, rtol=1e-9)
        for one in (fisher, line):
            np.testing.assert_allclose(one.means, (means - one.origin) @ one.matrix, atol=1e-9)
            np.testing.assert_allclose(one.centre, (priors @ means - one.origin) @ one.matrix, atol=1e-9)
            spread = priors @ np.square(one.means - one.centre)
            np.testing.assert_allclose(one.between, spread, rtol=1e-9)
            np.testing.assert_allclose(one.ratios, spread / np.diagonal(one.spread), rtol=1e-9)
            overall = priors @ means
            total = np.trace(sum(p * np.outer(m - overall, m - overall) for p, m in zip(priors, means, strict=True)))
            if one is line:
                np.testing.assert_allclose(one.shares, spread / total, rtol=1e-9)
                assert (line.matrix[np.abs(line.matrix).argmax(axis=0), np.arange(count)] > 0).all()
        trace = trace_criterion(moments, fisher.matrix)
        B = within(np.repeat(means, 1, axis=0)[Y], Y, WEIGHT)[1] - WEIGHT @ means[Y] / WEIGHT.sum()
        scatter = sum(WEIGHT[k == Y].sum() * np.outer(B[k], B[k]) for k in range(K))
        wanted = np.trace(
            np.linalg.solve(fisher.matrix.T @ S @ fisher.matrix, fisher.matrix.T @ scatter @ fisher.matrix)
        )
        assert trace == pytest.approx(wanted, rel=1e-9)
        assert trace_criterion(moments, fisher.matrix * [[1e9, 1e-9][:count]][0]) == pytest.approx(wanted, rel=1e-9)
        assert fisher.criterion(moments.weight) == pytest.approx(wanted, rel=1e-9)
    one = mean_projection(class_moments(make_blocks(X[Y < 2], Y[Y < 2]), 2), np.array([0.4, 0.6]), 1)
    assert one.means[1, 0] > one.means[0, 0]
    other = mean_projection(class_moments(make_blocks(X[Y < 2], 1 - Y[Y < 2]), 2), np.array([0.6, 0.4]), 1)
    np.testing.assert_allclose(other.matrix, -one.matrix, atol=1e-12)
    small = mean_projection(class_moments(make_blocks(X * [1, 1e-180, 1, 1], Y), K), PRIORS, 1)
    without = mean_projection(class_moments(make_blocks(X[:, [0, 2, 3]], Y), K), PRIORS, 1)
    np.testing.assert_allclose(small.matrix[[0, 2, 3]], without.matrix, atol=1e-12)  # a column of small units is none
    assert trace_criterion(moments, np.zeros((D, 0))) == 0.0
    assert trace_criterion(moments, np.zeros((D, 1))) == np.inf
    assert trace_criterion(moments, np.ones((D, 2))) == np.inf
    two = class_moments(make_blocks(X[Y < 2], Y[Y < 2]), 2)
    a = rng.normal(size=(D, 1))
    images = [X[k == Y] @ a for k in (0, 1)]
    wanted = (images[1].mean() - images[0].mean()) ** 2 / sum(((i - i.mean()) ** 2).sum() for i in images)
    assert trace_criterion(two, a) == pytest.approx(wanted, rel=1e-9)  # the books' J of two classes


def test_variances_along_an_axis():
    axis = rng.normal(size=80)
    for moments in (
        row_moments(make_blocks(WIDE, WIDE_Y, w), K, by_class=True) for w in (None, WIDE_WEIGHT)
    ):  # fmt: skip
        weight = np.ones(12) if moments.rows.weight is None else WIDE_WEIGHT
        wanted = [np.cov(WIDE[k == WIDE_Y] @ axis, aweights=weight[k == WIDE_Y], ddof=0) for k in range(K)]
        np.testing.assert_allclose(projected_variances(moments, axis), wanted, rtol=1e-10)


def log_odds(y, means, variances, priors):
    return (stats.norm.logpdf(y, means[1], np.sqrt(variances[1])) + np.log(priors[1])
            - stats.norm.logpdf(y, means[0], np.sqrt(variances[0])) - np.log(priors[0]))  # fmt: skip


@pytest.mark.parametrize("priors", [(0.5, 0.5), (0.2, 0.8), (0.7, 0.3)])
@pytest.mark.parametrize("variances", [(1.0, 1.0), (1.0, 3.0), (2.0, 0.25)])
@pytest.mark.parametrize("low", [0.0, -7.5])
def test_thresholds(variances, priors, low):
    means, v, p = np.array([low, low + 3.0]), np.array(variances), np.array(priors)
    pooled = float(p @ v)
    found = two_class_threshold("gaussian", means, v, p, pooled)
    assert log_odds(found, means, v, p) == pytest.approx(0.0, abs=1e-9)
    assert log_odds(found + 1e-3, means, v, p) > 0
    same = two_class_threshold("pooled", means, v, p, pooled)
    assert log_odds(same, means, [pooled, pooled], p) == pytest.approx(0.0, abs=1e-9)
    assert two_class_threshold("midpoint", means, v, p, pooled) == low + 1.5
    assert two_class_threshold("mean", means, v, p, pooled) == pytest.approx(p @ means)
    equal = two_class_threshold("equal-error", means, v, p, pooled)
    assert (equal - means[0]) / np.sqrt(v[0]) == pytest.approx((means[1] - equal) / np.sqrt(v[1]))
    assert two_class_threshold("gaussian", means, v, p, 0.0) == low + 1.5
    assert two_class_threshold("gaussian", means, np.array([0.0, v[1]]), p, pooled) == two_class_threshold(
        "gaussian", means, np.array([pooled, v[1]]), p, pooled
    )
    assert two_class_threshold("gaussian", means, np.array([1e-19, 1.0]), p, 1.0) != two_class_threshold(
        "gaussian", means, np.array([1.0, 1.0]), p, 1.0
    )


def test_gaussians_that_do_not_cross():
    one = np.array([0.0, 1e-3])
    assert two_class_threshold("gaussian", one, np.array([1.0, 1.1]), np.array([0.001, 0.999]), 1.0) is None
    assert two_class_threshold("gaussian", np.zeros(2), np.ones(2), np.array([0.5, 0.5]), 1.0) is None
    edge = two_class_threshold("gaussian", np.array([0.0, 1e-3]), np.ones(2), np.array([0.6, 0.4]), 1.0)
    assert log_odds(edge, one, np.ones(2), np.array([0.6, 0.4])) == pytest.approx(0, abs=1e-9)


def test_weights_on_axes():
    line = Projection(np.array([[2.0], [1.0]]), np.zeros(2), np.zeros(1), np.array([[1.0], [4.0]]), np.array([[1.5]]),
                      np.ones(1), np.ones(1))  # fmt: skip
    np.testing.assert_allclose(two_class_weights(line, 2.2), [[-2.0 * 2.2], [4.0], [2.0]])
    flat = replace(line, spread=np.zeros((1, 1)))
    np.testing.assert_allclose(two_class_weights(flat, 2.2), [[-3.0 * 2.2], [6.0], [3.0]])
    assert np.isinf(flat.ratios).all()
    plane = mean_projection(moments_of(), PRIORS, 2)
    A = nearest_mean_weights(plane, PRIORS)
    points = rng.normal(size=(6, D)) * 3
    y = (points - plane.origin) @ plane.matrix
    wanted = np.column_stack(
        [np.log(p) - 0.5 * np.einsum("ni,ij,nj->n", y - m, np.linalg.inv(plane.spread), y - m)
         for p, m in zip(PRIORS, plane.means, strict=True)]
    )  # fmt: skip
    z = A[0] + (points - plane.origin) @ A[1:]
    np.testing.assert_allclose(z - z[:, :1], wanted - wanted[:, :1], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(A[1:] @ PRIORS, 0.0, atol=1e-9)  # seen from the overall mean
    c = 1e-8  # axes of another length
    short = replace(plane, matrix=plane.matrix * c, centre=plane.centre * c, means=plane.means * c,
                    spread=plane.spread * c * c)  # fmt: skip
    np.testing.assert_allclose(nearest_mean_weights(short, PRIORS), A, rtol=1e-9, atol=1e-9)


# Without one row


@pytest.mark.parametrize("given", [None, PRIORS])
@pytest.mark.parametrize("lost", [0.0, 1.0])
def test_scores_without_the_row_are_those_of_a_refit(given, lost):
    moments = moments_of()
    linear = LinearDeletion(whiten_moments(moments.pooled(), WEIGHT.sum() - lost * K), moments.weight,
                            WEIGHT.sum() - lost * K, given)(X, Y, WEIGHT)  # fmt: skip
    each = [whiten_moments(moments.of_class(k), moments.weight[k] - lost) for k in range(K)]
    quadratic = QuadraticDeletion(each, moments.weight, lost, given, np.arange(K))(X, Y, WEIGHT)
    for i in (0, 1, 2, 17, 40):
        rest = np.arange(N) != i
        S, means = within(X[rest], Y[rest], WEIGHT[rest])
        left = np.array([WEIGHT[rest][Y[rest] == k].sum() for k in range(K)])
        priors = left / left.sum() if given is None else given
        pooled = S / (left.sum() - lost * K)
        wanted = [stats.multivariate_normal.logpdf(X[i], m, pooled) + np.log(p)
                  for m, p in zip(means, priors, strict=True)]  # fmt: skip
        np.testing.assert_allclose(linear[i] - linear[i, 0], np.array(wanted) - wanted[0], rtol=1e-8, atol=1e-8)
        own = [within(X[rest], Y[rest], WEIGHT[rest], k)[0] / (left[k] - lost) for k in range(K)]
        wanted = [stats.multivariate_normal.logpdf(X[i], m, C) + np.log(p) + D / 2 * np.log(2 * np.pi)
                  for m, C, p in zip(means, own, priors, strict=True)]  # fmt: skip
        np.testing.assert_allclose(quadratic[i], wanted, rtol=1e-8, atol=1e-8)


def test_the_last_row_of_its_class_and_one_that_alone_spans_a_direction():
    y = np.where(np.arange(N) == 7, 2, Y % 2)
    blocks = make_blocks(X, y)
    moments = class_moments(blocks, K)
    scores = LinearDeletion(whiten_moments(moments, N), moments.weight, N, None)(X, y, np.ones(N))
    assert scores[7, 2] == -np.inf
    assert np.isfinite(scores[7, :2]).all()
    rest = np.arange(N) != 7
    S, means = np.zeros((D, D)), []
    for k in (0, 1):
        part = X[y == k]
        means.append(part.mean(axis=0))
        S += (part - means[k]).T @ (part - means[k])
    odds = [stats.multivariate_normal.logpdf(X[7], m, S / (N - 1)) + np.log((y[rest] == k).sum())
            for k, m in enumerate(means)]  # fmt: skip
    assert scores[7, 1] - scores[7, 0] == pytest.approx(odds[1] - odds[0], rel=1e-8)
    odd = np.column_stack([X, np.arange(N) == 4])  # a column in which one row alone varies
    found = class_moments(make_blocks(odd, Y), K)
    scores = LinearDeletion(whiten_moments(found, N), found.weight, N, None)(odd, Y, np.ones(N))
    plain = class_moments(make_blocks(X, Y), K)
    without = LinearDeletion(whiten_moments(plain, N), plain.weight, N, None)(X, Y, np.ones(N))
    np.testing.assert_allclose(scores[4] - scores[4, 0], without[4] - without[4, 0], rtol=1e-6, atol=1e-6)
    each = [class_moments(make_blocks(odd[k == Y], np.zeros(20, dtype=int)), 1) for k in range(K)]
    few = [whiten_moments(one, 20.0) for one in each]
    with pytest.raises(SingularCovarianceError, match="class b"):
        QuadraticDeletion(few[1:2] * 3, np.full(K, 20.0), 0.0, None, np.array(["a", "b", "c"]))(
            odd[[4]][:, :], np.array([1]), np.ones(1)
        )


# Least squares


def design(values=X):
    return np.column_stack([np.ones(len(values)), values])


def ridge(values, t, weight, alpha):
    """argmin Σ w (z − t)² + α‖w‖², the shortest where there are many."""
    root = np.sqrt(weight)[:, None]
    Z = design(values)
    if not alpha:
        return np.linalg.pinv(Z * root, rcond=1e-11) @ (t * root)
    G = (Z * weight[:, None]).T @ Z + alpha * np.diag([0.0, *np.ones(values.shape[1])])
    return np.linalg.solve(G, (Z * weight[:, None]).T @ t)


def at_zero(problem, A, origin):
    return np.vstack([A[:1] - origin @ A[1:], A[1:]])


@pytest.mark.parametrize("members", [None, np.array([True, False, True])], ids=["", "two of three"])
@pytest.mark.parametrize("margin", [False, True])
@pytest.mark.parametrize("alpha", [0.0, 0.7])
@pytest.mark.parametrize("table", ["plain", "small units", "collinear", "constant", "ill-conditioned", "wide"])
def test_least_squares_and_every_deletion(table, alpha, margin, members):
    values = {
        "plain": X, "small units": X * 1e-3, "collinear": np.column_stack([X, X @ [1.0, 2.0, -1.0, 0.5]]),
        "constant": np.column_stack([X, np.full(N, 2.0)]), "wide": WIDE,
        "ill-conditioned": np.column_stack([X, X[:, 0] + 1e-6 * rng.normal(size=N)]),
    }[table]  # fmt: skip
    y, weight = (WIDE_Y, WIDE_WEIGHT) if table == "wide" else (Y, WEIGHT)
    if margin and table == "wide":
        return
    b = np.linspace(0.5, 2.0, len(y)) if margin else np.ones(len(y))
    targets = rng.normal(size=(K, 2))
    blocks = make_blocks(values, y, weight)
    chosen = np.ones(K, dtype=bool) if members is None else members
    if table == "wide":
        moments = row_moments(blocks, K, by_class=members is not None)
        problem = row_least_squares(moments, alpha, chosen)
    else:
        moments = class_moments(blocks, K, by_class=members is not None)
        margins = MarginMoments.of_rows(values, y, K, b, weight) if margin else None
        problem = least_squares(moments, alpha=alpha, blocks=blocks, margins=margins, members=members)
    mine = chosen[y]
    t = (targets[y] * b[:, None])[mine]
    wanted = ridge(values[mine], t, weight[mine], alpha)
    A = at_zero(problem, problem.weights(targets), moments.origin)
    loose = 1e-4 if table == "ill-conditioned" else 1e-7
    Z = design(values)
    np.testing.assert_allclose(Z @ A, Z @ wanted, rtol=loose, atol=loose)
    if table != "ill-conditioned":
        np.testing.assert_allclose(A, wanted, rtol=1e-6, atol=1e-8 * np.abs(wanted).max())
    total = weight[mine].sum()
    assert problem.total == pytest.approx(total)
    J = (weight[mine, None] * (Z[mine] @ wanted - t) ** 2).sum() / 2 + alpha / 2 * (wanted[1:] ** 2).sum()
    found, slope = problem.optimality(targets)
    assert found == pytest.approx(J / total, rel=1e-7, abs=1e-12)
    assert slope < (1e-2 if table == "ill-conditioned" else 1e-9)
    rank = np.linalg.matrix_rank(values[mine] - np.average(values[mine], axis=0, weights=weight[mine]), tol=1e-9)
    assert problem.rank == (values.shape[1] if alpha else rank)
    assert problem.penalised == (alpha > 0)
    if table == "wide":
        assert problem.passes == 1.0
        assert np.isnan(problem.condition)
        counted = np.bincount(y[mine], weight[mine], minlength=K) / weight[mine].sum()
        np.testing.assert_allclose(problem.shares, counted)
        np.testing.assert_allclose(problem.energy, counted)
        assert (problem._solved(targets) is not None) == (alpha > 0)
        white = problem.whitened
        v = (values - white.origin) @ white.matrix
        np.testing.assert_allclose(v - problem.centre, problem._centred(values), rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(white.means, problem.centre[None])
        assert white.null.shape == (80, 0)
        mean = np.average(values[mine], axis=0, weights=weight[mine])
        spread = np.sqrt(np.average((values[mine] - mean) ** 2, axis=0, weights=weight[mine]))
        np.testing.assert_allclose(white.deviation, spread, rtol=1e-9)
    assert bool(problem.null) == (not alpha and rank < values.shape[1])
    np.testing.assert_allclose(problem.shares[~chosen], 0.0)
    penalty = np.sqrt(alpha) * np.eye(values.shape[1] + 1)[1:]
    stacked = np.vstack([Z[mine] * np.sqrt(weight[mine])[:, None], penalty])
    _, sizes, right = np.linalg.svd(stacked, full_matrices=False)
    seen = Z[mine] @ (right[sizes > 1e-11 * sizes[0]].T / sizes[sizes > 1e-11 * sizes[0]])
    h = np.square(seen).sum(axis=1)  # y·(YᵗY + αI₀)⁻¹y
    np.testing.assert_allclose(problem.leverages(values[mine]), h, rtol=1e-4 if table == "ill-conditioned" else 1e-6)
    deleted = problem.deleted(values, y, weight * mine, b) @ targets
    if table in ("ill-conditioned", "constant"):
        return
    for i in np.flatnonzero(mine)[[0, 3, 5]]:
        rest = mine & (np.arange(len(y)) != i)
        again = ridge(values[rest], targets[y[rest]] * b[rest, None], weight[rest], alpha)
        np.testing.assert_allclose(deleted[i], Z[i] @ again, rtol=1e-5, atol=1e-6)
    for i in np.flatnonzero(~mine)[: 0 if table == "wide" and not alpha else 2]:
        np.testing.assert_allclose(deleted[i], Z[i] @ wanted, rtol=1e-6, atol=1e-6)


def test_margins_merge_and_ones_are_margins():
    moments = class_moments(make_blocks(X, Y, WEIGHT), K)
    b = np.linspace(0.5, 2.0, N)
    parts = [MarginMoments.of_rows(X[p], Y[p], K, b[p], WEIGHT[p]) for p in (slice(0, 25), slice(25, N))]
    whole, merged = MarginMoments.of_rows(X, Y, K, b, WEIGHT), parts[0].merge(parts[1])
    np.testing.assert_allclose(merged.squares, whole.squares)
    np.testing.assert_allclose(merged.squares, [(WEIGHT * b * b)[k == Y].sum() for k in range(K)])
    np.testing.assert_allclose(merged.moved(moments), whole.moved(moments), atol=1e-10)
    means = [np.average(X[k == Y], axis=0, weights=(b * WEIGHT)[k == Y]) for k in range(K)]
    np.testing.assert_allclose(whole.moved(moments), means - within()[1], atol=1e-10)
    ones = MarginMoments.of_ones(moments)
    np.testing.assert_array_equal(ones.moved(moments), 0.0)
    np.testing.assert_array_equal(ones.squares, moments.weight)
    assert MarginMoments.of_rows(X, Y, K, b, None).squares == pytest.approx([(b * b)[k == Y].sum() for k in range(K)])
    np.testing.assert_allclose(ones.merge(ones).squares, 2 * moments.weight)
    mixed = ones.merge(whole)  # a part with margins and one without
    np.testing.assert_allclose(mixed.squares, moments.weight + whole.squares)
    assert mixed.moments.diagonal


def test_least_squares_read_again_in_small_units():
    """Columns that are nearly collinear, beside one whose square is no number: no penalty is none."""
    values = np.column_stack([X, X[:, 0] + 1e-4 * rng.normal(size=N)])
    unit = np.array([1.0, 2.0**-700, 1.0, 1.0, 1.0])
    blocks = make_blocks(values * unit, Y, WEIGHT)
    problem = least_squares(class_moments(blocks, K), blocks=blocks)
    assert problem.passes > 1
    A = problem.weights(np.eye(K))
    wanted = ridge(values, np.eye(K)[Y], WEIGHT, 0.0)
    np.testing.assert_allclose(A[1:] * unit[:, None], wanted[1:], rtol=1e-6)


@pytest.mark.parametrize("scale", [2.0**700, 2.0**-700])
@pytest.mark.parametrize("alpha", [0.0, 0.7])
def test_least_squares_in_large_and_small_units(alpha, scale):
    """A column whose squares are beyond the numbers: a penalty on its weight is nothing, or all."""
    unit = np.array([1.0, scale, 1.0, 1.0])
    blocks = make_blocks(X * unit, Y, WEIGHT)
    targets = rng.normal(size=(K, 2))
    problem = least_squares(class_moments(blocks, K), alpha=alpha, blocks=blocks)
    A = problem.weights(targets)
    inner = np.vstack([A[:1] - (problem.whitened.origin / unit) @ (A[1:] * unit[:, None]), A[1:] * unit[:, None]])
    kept = np.array([True, not alpha or scale > 1, True, True])
    penalty = np.where([False, True, False, True, True], alpha, 0.0)
    Z = design(X[:, kept])
    penalty = penalty[[True, *kept]]
    G = (Z * WEIGHT[:, None]).T @ Z + np.diag(penalty)
    wanted = np.linalg.solve(G, (Z * WEIGHT[:, None]).T @ targets[Y])
    np.testing.assert_allclose(inner[[True, *kept]], wanted, rtol=1e-9)
    if not kept[1]:
        assert not inner[2].any() or np.abs(inner[2]).max() < 1e-100
    assert problem.optimality(targets)[1] < 1e-9


@pytest.mark.parametrize("table", ["a column of one row", "wide"])
def test_a_row_that_alone_spans_a_direction(table):
    """Without it the pseudo-inverse has nothing along that direction."""
    values = np.column_stack([X, np.arange(N) == 4]) if table != "wide" else WIDE
    y = Y if table != "wide" else WIDE_Y
    blocks = make_blocks(values, y)
    if table == "wide":
        problem = row_least_squares(row_moments(blocks, K), 0.0, np.ones(K, dtype=bool))
    else:
        problem = least_squares(class_moments(blocks, K), blocks=blocks)
    found = problem.deleted(values, y, np.ones(len(y)), np.ones(len(y)))
    for i in (4, 5):
        rest = np.arange(len(y)) != i
        again = ridge(values[rest], np.eye(K)[y[rest]], np.ones(len(y) - 1), 0.0)
        np.testing.assert_allclose(found[i], design(values)[i] @ again, rtol=1e-6, atol=1e-8)


# Densities of the exponential family


@pytest.mark.parametrize("family", ["bernoulli", "multinomial", "poisson", "exponential"])
@pytest.mark.parametrize("smoothing", [0.0, 0.5])
def test_natural_densities(family, smoothing):
    """θ x − b + ln h is the log density at the (smoothed) mean."""
    W = np.array([6.0, 9.0])
    S = np.array([[2.0, 4.0, 3.5], [1.0, 5.0, 8.0]])
    found = natural(family, S, W, smoothing)
    a = smoothing
    if family == "bernoulli":
        mean = (S + a) / (W[:, None] + 2 * a)
        x, logs = 1.0, lambda m: stats.bernoulli.logpmf(1, m)
    elif family == "multinomial":
        mean = (S + a) / (S + a).sum(axis=1, keepdims=True)
        x, logs = 3.0, lambda m: 3 * np.log(m)
    else:
        mean = (S + a * S.sum(axis=0) / W.sum()) / (W[:, None] + a)
        x = 2.0
        logs = (lambda m: stats.poisson.logpmf(2, m) + np.log(2)) if family == "poisson" else (
            lambda m: stats.expon.logpdf(2.0, scale=m))  # fmt: skip
    np.testing.assert_allclose(found.mean, mean, rtol=1e-12)
    np.testing.assert_allclose(found.theta * x - found.partition, logs(mean), rtol=1e-12)
    assert not found.edge.any()
    if family == "bernoulli":
        np.testing.assert_allclose(-found.partition, stats.bernoulli.logpmf(0, mean), rtol=1e-12)


def test_means_on_the_edge():
    W = np.array([4.0, 5.0])
    S = np.array([[0.0, 4.0, 0.0, 4.0, 2.0], [0.0, 5.0, 2.0, 2.0, 3.0]])
    found = natural("bernoulli", S, W, 0.0)
    assert found.edge.tolist() == [[0, 0, -1, 1, 0], [0, 0, 0, 0, 0]]
    assert not found.theta[:, :2].any()
    assert not found.partition[:, :2].any()
    assert found.theta[0, 2] == -np.inf
    assert found.theta[0, 3] == np.inf
    np.testing.assert_allclose(found.mean, S / W[:, None])
    for family in ("poisson", "exponential", "multinomial"):
        found = natural(family, S, W, 0.0)
        assert found.edge.tolist() == [[0, 0, -1, 0, 0], [0, 0, 0, 0, 0]]
        assert not found.theta[:, 0].any()
        assert not natural(family, S, W, 0.5).edge.any() or family != "multinomial"
    none = natural("multinomial", np.array([[0.0, 0.0], [1.0, 2.0]]), W, 0.0)
    assert none.mean[0].tolist() == [0.0, 0.0]
    assert none.edge.tolist() == [[-1, -1], [0, 0]]
    assert natural("multinomial", np.array([[0.25, 0.5]]), W[:1], 0.0).mean.tolist() == [[1 / 3, 2 / 3]]


def test_sums_of_the_exponential_family():
    counts = rng.poisson(0.6, (N, 7)).astype(float)
    some = np.where(np.arange(N) % 5 == 0, 0.0, WEIGHT)
    for weight in (None, WEIGHT, some):
        w = np.ones(N) if weight is None else weight
        for values in (counts, sparse.csr_array(counts)):
            found = make_blocks(values, Y, weight, 13).reduce(ClassSumKernel(K + 1, (("poisson", slice(None)),)))
            wanted = np.array([(w[:, None] * counts)[k == Y].sum(axis=0) for k in range(K + 1)])
            np.testing.assert_allclose(found.sums, wanted, atol=1e-12)
            np.testing.assert_allclose(found.weight, [w[k == Y].sum() for k in range(K + 1)])
            assert found.count.tolist() == [(w[k == Y] > 0).sum() for k in range(K + 1)]
            assert (found.n_classes, found.n_features, found.outside) == (K + 1, 7, 0)
            assert found.total == pytest.approx(w.sum())
            both = found.merge(found)
            np.testing.assert_allclose(both.sums, 2 * wanted)
            assert (both + found).weight == pytest.approx(3 * found.weight)
            assert (both.count == 2 * found.count).all()
        kernel = ClassSumKernel(K, (("bernoulli", np.array([0, 3])), ("poisson", np.array([1, 2]))))
        for bad, column in ((0.5, 0), (2.0, 3), (-1.0, 0), (-0.5, 2), (np.nan, 1)):
            X01 = np.minimum(counts, 1.0)
            X01[1, column] = bad
            for make in (np.asarray, sparse.csr_array):
                assert make_blocks(make(X01), Y, weight).reduce(kernel).outside == 1
                X01[1, [5, 6]] = -3.0  # columns of no density
                zero = np.where(np.arange(N) == 1, 0.0, 2.0)
                assert make_blocks(make(X01), Y, zero).reduce(kernel).outside == 0


def test_supports():
    a = ClassSums(np.ones(2), np.ones(2), np.ones((2, 3)), 1)
    assert a.merge(a).outside == 2
    assert ClassSums(np.ones(2), np.ones(2), np.ones((2, 3))).outside == 0
    assert not in_support("bernoulli", np.array([0.5, 0.5, 0.5, 1.5]))  # Σx² = Σx by chance
    assert in_support("bernoulli", np.array([0.0, 1.0]))
    assert in_support("bernoulli", np.zeros(0))
    assert in_support("poisson", np.array([0.0, 7.5]))
    for family, x in (
        ("bernoulli", [0.5, 1.0]),
        ("bernoulli", [2.0, 0.0]),
        ("poisson", [-1e-9]),
        ("poisson", [np.nan]),
    ):
        assert in_support(family, np.array(x)) is False
