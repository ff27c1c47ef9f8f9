"""Criteria against independent computations: high precision, explicit constructions, textbook formulas."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from discriminant import criteria
from discriminant.errors import MismatchError, ParameterError
from discriminant.protocols import Oracle


@pytest.mark.parametrize("z", [-800.0, -40.0, -1.0, 0.0, 0.3, 37.0, 800.0])
@pytest.mark.parametrize("t", [0.0, 1.0, 0.25])
def test_logistic_has_all_digits_in_both_tails(t, z):
    """ℓ = ln(1+e^z) − tz, ℓ' = σ − t, ℓ'' = σ(1−σ), to relative 1e-14 against 50 digits."""
    with mpmath.workdps(400):
        p = 1 / (1 + mpmath.exp(-mpmath.mpf(z)))
        value = mpmath.log(1 + mpmath.exp(z)) - mpmath.mpf(t) * z
        slope, bend = p - t, p * (1 - p)
        third = bend * (1 - 2 * p)
        expected = [float(x) for x in (value, slope, bend, third)]
    T, Z = np.array([[t]]), np.array([[z]])
    loss = criteria.Logistic()
    found = [f(T, Z)[0, 0] for f in (loss.value, loss.gradient, loss.curvature, loss.third)]
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-300)
    np.testing.assert_allclose(criteria.log_sigmoid(Z)[0, 0], float(mpmath.log(p)) if p > 1e-300 else z, rtol=1e-13)


def test_softmax_of_two_classes_is_one_sigmoid():
    """ln(e^{z1}+e^{z2}) − z_i depends on z1 − z2 alone and equals the logistic criterion of it."""
    rng = np.random.default_rng(0)
    z, t = rng.standard_normal((50, 2)) * 5, rng.integers(2, size=(50, 1)).astype(float)
    both = np.hstack([t, 1 - t])
    difference = z[:, :1] - z[:, 1:]
    np.testing.assert_allclose(
        criteria.Softmax().value(both, z), criteria.Logistic().value(t, difference), rtol=1e-12, atol=1e-14
    )
    reference = criteria.Softmax(reference=True)
    np.testing.assert_allclose(reference.value(t, difference), criteria.Logistic().value(t, difference), atol=1e-14)
    np.testing.assert_allclose(
        reference.gradient(t, difference), criteria.Logistic().gradient(t, difference), atol=1e-15
    )
    np.testing.assert_allclose(reference.probability(difference), criteria.sigmoid(difference), atol=1e-15)


def test_reference_softmax_is_softmax_with_a_silent_class():
    rng = np.random.default_rng(1)
    z, t = 3 * rng.standard_normal((40, 3)), rng.dirichlet(np.ones(4), size=40)
    full = np.hstack([z, np.zeros((40, 1))])
    silent, plain = criteria.Softmax(reference=True), criteria.Softmax()
    np.testing.assert_allclose(silent.value(t[:, :3], z), plain.value(t, full), atol=1e-14)
    np.testing.assert_allclose(silent.gradient(t[:, :3], z), plain.gradient(t, full)[:, :3], atol=1e-15)
    np.testing.assert_allclose(silent.curvature(t[:, :3], z), plain.curvature(t, full)[:, :3, :3], atol=1e-15)


@pytest.mark.parametrize("base", [criteria.Perceptron(0.5), criteria.Logistic(), criteria.Relaxation()], ids=repr)
def test_kesler_equals_its_explicit_construction(base):
    """Σ_{j≠i} ℓ(a·η_ij), with η_ij = (…, y at i, …, −y at j, …): built row by row and pair by pair."""
    rng = np.random.default_rng(2)
    n, d, K = 20, 3, 4
    Y, A, labels = rng.standard_normal((n, d)), rng.standard_normal((d, K)), rng.integers(K, size=n)
    value, gradient = np.zeros(n), np.zeros((n, d, K))
    for row in range(n):
        for j in set(range(K)) - {int(labels[row])}:
            eta = np.zeros((d, K))
            eta[:, labels[row]], eta[:, j] = Y[row], -Y[row]
            score = np.array([[(A * eta).sum()]])
            one = np.array([[base.labels[1]]])
            value[row] += base.value(one, score).item()
            gradient[row] += base.gradient(one, score).item() * eta
    t = np.eye(K)[labels]
    implicit = criteria.Kesler(base)
    np.testing.assert_allclose(implicit.value(t, Y @ A).ravel(), value, atol=1e-13)
    np.testing.assert_allclose(Y[:, :, None] * implicit.gradient(t, Y @ A)[:, None, :], gradient, atol=1e-13)


def test_kesler_over_the_worst_rival_counts_errors_of_the_argmax_rule():
    rng = np.random.default_rng(3)
    z, labels = rng.standard_normal((100, 4)), rng.integers(4, size=100)
    count = criteria.Kesler(criteria.ZeroOne(), over="worst").value(np.eye(4)[labels], z).sum()
    assert count == (z.argmax(axis=1) != labels).sum()


def test_crammer_singer_is_kesler_of_the_hinge():
    """max(0, 1 + max_{j≠i} z_j − z_i)."""
    rng = np.random.default_rng(4)
    z, labels = rng.standard_normal((100, 4)), rng.integers(4, size=100)
    t = np.eye(4)[labels]
    rival = np.where(t > 0, -np.inf, z).max(axis=1)
    expected = np.maximum(0, 1 + rival - z[np.arange(100), labels])
    np.testing.assert_allclose(criteria.Kesler(criteria.Hinge(), over="worst").value(t, z).ravel(), expected)


def test_a_sample_on_the_boundary_is_an_error():
    """The textbook's set is a·y ≤ 0: the zero vector misclassifies every sample."""
    t, z = np.array([[1.0], [-1.0]]), np.zeros((2, 1))
    np.testing.assert_array_equal(criteria.Perceptron().gradient(t, z), -t)
    np.testing.assert_array_equal(criteria.ZeroOne().value(t, z), 1)


def test_relaxation_sums_to_the_margin_without_a_jump():
    """½(b − tz)² over tz ≤ b falls continuously to zero at tz = b; over tz ≤ 0 it would jump from b²/2."""
    z = np.linspace(-1, 2, 3001)[:, None]
    value = criteria.Relaxation(margin=1.0).value(np.ones_like(z), z)
    assert np.abs(np.diff(value.ravel())).max() < 3e-3
    assert value[0, 0] == pytest.approx(2.0)


def test_every_name_makes_its_criterion():
    assert criteria.make_criterion("squared_hinge") == criteria.SquaredHinge()
    given = criteria.Perceptron(margin=3.0)
    assert criteria.make_criterion(given) is given
    with pytest.raises(ParameterError, match=r"no criterion 'log'.*'logistic'"):
        criteria.make_criterion("log")
    with pytest.raises(ParameterError, match="Pointwise"):
        criteria.make_criterion(3)


def test_refusals_name_the_way_out():
    with pytest.raises(MismatchError, match=r"Logistic takes targets between 0 and 1.*-1.*labels=\(0, 1\)"):
        criteria.Logistic().check_targets(np.array([[-1.0], [1.0]]))
    with pytest.raises(MismatchError, match=r"Hinge takes targets −1 and \+1.*labels=\(-1, 1\)"):
        criteria.Hinge().check_targets(np.array([[0.0], [1.0]]))
    with pytest.raises(MismatchError, match="sums to 2"):
        criteria.Softmax().check_targets(np.array([[1.0, 1.0]]))
    with pytest.raises(MismatchError, match="coding 'machine'"):
        criteria.Kesler().check_targets(np.array([[0.5, 0.5]]))
    with pytest.raises(MismatchError, match="already couples"):
        criteria.Kesler(criteria.Softmax())
    with pytest.raises(ParameterError, match="'all' and 'worst'"):
        criteria.Kesler(over="some")


def test_kesler_keeps_only_the_oracles_that_still_hold():
    assert Oracle.QUADRATIC in criteria.Kesler(criteria.Squared()).oracles
    worst = criteria.Kesler(criteria.Squared(), over="worst")
    assert Oracle.CURVATURE not in worst.oracles
    assert Oracle.CONJUGATE not in worst.oracles
    assert not worst.convex
    assert Oracle.CONJUGATE in criteria.Kesler(criteria.Logistic(), over="worst").oracles
