"""The laws of a penalty: its proximal map is a minimum, its gradient a derivative, and the intercept goes free."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from contracts.registry import PENALTIES, name
from discriminant.errors import MismatchError
from discriminant.penalties.weight import WeightPenalty
from discriminant.protocols import Oracle

pytestmark = pytest.mark.parametrize("penalty", PENALTIES, ids=name)


def weights(seed=0, q=2):
    return np.random.default_rng(seed).standard_normal((5, q))


def test_penalty_meets_the_protocol(penalty):
    assert isinstance(penalty, WeightPenalty)


def test_prox_is_the_minimum_found_by_brute_force(penalty):
    """argmin_B ½‖B−A‖² + step·λΩ(B), against a search from many starts that uses values only."""
    A, step = weights(1, q=1), 0.8

    def criterion(flat):
        B = flat.reshape(A.shape)
        return np.square(B - A).sum() / 2 + step * penalty.value(B)

    best = min(
        (
            minimize(
                criterion, start.ravel(), method="Powell", options={"xtol": 1e-10, "ftol": 1e-15, "maxiter": 10000}
            )
            for start in (A, np.zeros_like(A), penalty.prox(A, step) + 0.01)
        ),
        key=lambda found: found.fun,
    )
    found = penalty.prox(A, step)
    assert criterion(found.ravel()) <= best.fun + 1e-10
    np.testing.assert_allclose(found.ravel(), best.x, atol=1e-4)


def test_prox_is_firm(penalty):
    """‖prox A − prox B‖² ≤ ⟨prox A − prox B, A − B⟩, which only the proximal map of a convex function obeys."""
    for seed in range(20):
        A, B = weights(seed), weights(seed + 100)
        difference = penalty.prox(A, 0.7) - penalty.prox(B, 0.7)
        assert np.square(difference).sum() <= (difference * (A - B)).sum() + 1e-12


def test_intercept_goes_free(penalty):
    A = weights(2)
    other = A.copy()
    other[0] += 1e3
    assert penalty.value(other) == penalty.value(A)
    np.testing.assert_array_equal(penalty.prox(other, 2.0)[0], other[0])
    if Oracle.GRADIENT in penalty.oracles:
        np.testing.assert_array_equal(penalty.gradient(other)[0], 0)
    if Oracle.CURVATURE in penalty.oracles:
        np.testing.assert_array_equal(penalty.curvature(other)[0], 0)


def test_gradient_and_curvature_are_derivatives(penalty):
    A, h = weights(3), 1e-6
    if Oracle.GRADIENT not in penalty.oracles:
        with pytest.raises(MismatchError, match=type(penalty).__name__):
            penalty.gradient(A)
        with pytest.raises(MismatchError, match=type(penalty).__name__):
            penalty.curvature(A)
        return
    for index in np.ndindex(A.shape):
        E = np.zeros_like(A)
        E[index] = h
        slope = (penalty.value(A + E) - penalty.value(A - E)) / (2 * h)
        bend = (penalty.gradient(A + E) - penalty.gradient(A - E))[index] / (2 * h)
        assert penalty.gradient(A)[index] == pytest.approx(slope, abs=1e-7)
        assert penalty.curvature(A)[index] == pytest.approx(bend, abs=1e-7)


def test_conjugate_obeys_fenchel_and_young(penalty):
    """λΩ(B) + (λΩ)*(U) = ⟨U, B⟩ at U = (A − B)/step for B = prox(A), and ≥ for other weights."""
    A, step = weights(4), 0.5
    B = penalty.prox(A, step)
    U = (A - B) / step
    U[0] = 0
    assert penalty.value(B) + penalty.conjugate(U) == pytest.approx((U * B).sum(), abs=1e-9)
    for seed in range(5, 15):
        C = weights(seed)
        assert penalty.value(C) + penalty.conjugate(U) >= (U * C).sum() - 1e-9


def test_value_grows_with_the_weights(penalty):
    A = weights(15)
    assert penalty.value(np.zeros_like(A)) == 0
    assert 0 < penalty.value(A) < penalty.value(2 * A)
