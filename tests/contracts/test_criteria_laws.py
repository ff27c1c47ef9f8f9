"""The laws of a criterion: its derivatives are derivatives, its conjugate a conjugate, its numbers finite."""

from __future__ import annotations

import numpy as np
import pytest

from contracts.registry import CRITERIA, name, targets_for
from discriminant.criteria import Margin, Pointwise
from discriminant.errors import MismatchError
from discriminant.protocols import Oracle

pytestmark = pytest.mark.parametrize("criterion", CRITERIA, ids=name)
N, Q, H = 200, 3, 1e-6


def sample(criterion, scale=2.0, seed=0):
    """Targets and scores, with the rows next to a kink left out: a central difference is no derivative there."""
    rng = np.random.default_rng(seed)
    t, z = targets_for(criterion, N, Q, rng), scale * rng.standard_normal((N, Q))
    if isinstance(criterion.single, Margin):
        own = (t * z).sum(axis=1, keepdims=True)
        distance = np.where(t > 0.5, np.inf, own - z) if criterion.coupled else t * z
        clear = (np.abs(distance - criterion.single.margin) > 1e-3).all(axis=1)
        if criterion.coupled:  # where two rivals are equally strong the maximum has a kink too
            ranked = np.sort(np.where(t > 0.5, -np.inf, z), axis=1)
            clear &= ranked[:, -1] - ranked[:, -2] > 1e-3
        t, z = t[clear], z[clear]
    assert len(z) > N // 2
    return t, z


def numerical(function, z):
    """(n, …, q): central differences of a function of z along each output."""
    steps = np.eye(z.shape[1]) * H
    return np.stack([(function(z + step) - function(z - step)) / (2 * H) for step in steps], axis=-1)


def test_criterion_meets_the_protocol(criterion):
    assert isinstance(criterion, Pointwise)
    assert Oracle.VALUE in criterion.oracles


def test_gradient_is_the_derivative_of_value(criterion):
    t, z = sample(criterion)
    if Oracle.GRADIENT not in criterion.oracles:
        with pytest.raises(MismatchError, match="gradient"):
            criterion.gradient(t, z)
        return
    total = numerical(lambda z: criterion.value(t, z).sum(axis=1), z)
    np.testing.assert_allclose(criterion.gradient(t, z), total, rtol=1e-6, atol=1e-7)


def test_curvature_is_the_derivative_of_gradient(criterion):
    t, z = sample(criterion)
    if Oracle.CURVATURE not in criterion.oracles:
        with pytest.raises(MismatchError, match="curvature"):
            criterion.curvature(t, z)
        return
    jacobian = numerical(lambda z: criterion.gradient(t, z), z)
    bend = criterion.curvature(t, z)
    if criterion.coupled:
        np.testing.assert_allclose(bend, jacobian, rtol=1e-6, atol=1e-7)
    else:
        np.testing.assert_allclose(jacobian, bend[:, :, None] * np.eye(z.shape[1]), rtol=1e-6, atol=1e-7)


def test_third_is_the_derivative_of_curvature(criterion):
    t, z = sample(criterion)
    if not criterion.third_known:
        with pytest.raises(MismatchError, match="third derivative"):
            criterion.third(t, z)
        return
    slope = (criterion.curvature(t, z + H) - criterion.curvature(t, z - H)) / (2 * H)
    np.testing.assert_allclose(criterion.third(t, z), slope, rtol=1e-6, atol=1e-8)


def test_fused_oracles_agree_with_single_ones(criterion):
    t, z = sample(criterion)
    if Oracle.GRADIENT in criterion.oracles:
        value, gradient = criterion.value_and_gradient(t, z)
        np.testing.assert_allclose(value, criterion.value(t, z), rtol=1e-14, atol=1e-15)
        np.testing.assert_allclose(gradient, criterion.gradient(t, z), rtol=1e-14, atol=1e-15)
    if Oracle.CURVATURE in criterion.oracles:
        v = np.random.default_rng(1).standard_normal(z.shape)
        bend = criterion.curvature(t, z)
        product = np.einsum("nij,nj->ni", bend, v) if criterion.coupled else bend * v
        np.testing.assert_allclose(criterion.curvature_product(t, z, v), product, atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [0.0, 1.0, 1e4])
def test_finite_at_any_score_and_dtype_kept(criterion, dtype, size):
    rng = np.random.default_rng(2)
    t = targets_for(criterion, N, Q, rng).astype(dtype)
    z = (size * rng.choice([-1.0, 1.0], (N, Q)) * rng.uniform(0.5, 1, (N, Q))).astype(dtype)
    results = [criterion.value(t, z)]
    if Oracle.GRADIENT in criterion.oracles:
        results += [criterion.gradient(t, z), *criterion.value_and_gradient(t, z)]
    if Oracle.CURVATURE in criterion.oracles:
        results += [criterion.curvature(t, z), criterion.curvature_product(t, z, z)]
    for result in results:
        assert result.dtype == dtype
        assert np.isfinite(result).all()


def test_shapes_are_as_promised(criterion):
    t, z = sample(criterion)
    n, q = z.shape
    assert criterion.value(t, z).shape == (n, 1 if criterion.coupled else q)
    if Oracle.GRADIENT in criterion.oracles:
        assert criterion.gradient(t, z).shape == (n, q)
    if Oracle.CURVATURE in criterion.oracles:
        assert criterion.curvature(t, z).shape == ((n, q, q) if criterion.coupled else (n, q))


def test_value_is_nonnegative_and_curvature_too_where_convex(criterion):
    t, z = sample(criterion)
    assert (criterion.value(t, z) >= -1e-15).all()
    if criterion.convex and Oracle.CURVATURE in criterion.oracles:
        bend = criterion.curvature(t, z)
        least = np.linalg.eigvalsh(bend).min() if criterion.coupled else bend.min()
        assert least >= -1e-12


def test_convex_where_it_says_so(criterion):
    """ℓ(½(a+b)) ≤ ½(ℓ(a)+ℓ(b)), and broken somewhere by those that say they are not convex."""
    t, a = sample(criterion, seed=3)
    b = 3 * np.random.default_rng(4).standard_normal(a.shape)
    middle = criterion.value(t, (a + b) / 2) - (criterion.value(t, a) + criterion.value(t, b)) / 2
    assert (middle.max() <= 1e-12) == criterion.convex


def test_conjugate_obeys_fenchel_and_young(criterion):
    """ℓ(z) + ℓ*(u) ≥ u·z for all u, with equality at u = ℓ'(z)."""
    t, z = sample(criterion)
    if Oracle.CONJUGATE not in criterion.oracles:
        return
    u = criterion.gradient(t, z)
    pairing = u * z
    if criterion.coupled:
        pairing = pairing.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(criterion.value(t, z) + criterion.conjugate(t, u), pairing, atol=1e-9)
    for shrink in (0.0, 0.3, 0.9):
        other = np.roll(z, 1, axis=0)
        pairing = shrink * u * other
        if criterion.coupled:
            pairing = pairing.sum(axis=1, keepdims=True)
        assert (criterion.value(t, other) + criterion.conjugate(t, shrink * u) - pairing >= -1e-9).all()


def test_margin_criteria_are_zero_beyond_the_margin(criterion):
    if Oracle.MARGIN not in criterion.oracles:
        return
    rng = np.random.default_rng(5)
    t = targets_for(criterion, N, Q, rng)
    z = 50.0 * t if not criterion.coupled else 50.0 * (2 * t - 1)
    assert (criterion.value(t, z) == 0).all()
    if Oracle.GRADIENT in criterion.oracles:
        assert (criterion.gradient(t, z) == 0).all()


def test_own_targets_are_accepted_and_nonsense_refused(criterion):
    rng = np.random.default_rng(6)
    t = targets_for(criterion, N, Q, rng)
    criterion.check_targets(t)
    with pytest.raises(MismatchError, match=type(criterion).__name__):
        criterion.check_targets(np.where(rng.random(t.shape) < 0.2, np.nan, t))
