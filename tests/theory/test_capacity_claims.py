"""VC dimension, Radon's theorem, Cover's count and sample sizes: each claim a test."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discriminant import cover_probability, sample_size, separability, shatters, vc_dimension
from discriminant.inference.capacity import cover_count


@pytest.mark.parametrize("d", [1, 2, 3])
def test_half_spaces_shatter_the_origin_and_the_unit_vectors(d):
    """VC dimension ≥ d + 1: each of the 2^(d+1) labellings of 0, e₁ … e_d is cut by a half-space."""
    corners = np.vstack([np.zeros(d), np.eye(d)])
    assert shatters(corners)
    for labels in itertools.product([0, 1], repeat=d + 1):
        if 0 < sum(labels) < d + 1:
            assert separability(corners, labels).verdict == "separable"
    assert vc_dimension(d) == d + 1


@given(
    st.integers(1, 4).flatmap(
        lambda d: st.lists(st.lists(st.integers(-3, 3), min_size=d, max_size=d), min_size=d + 2, max_size=d + 2)
    )
)
def test_no_d_plus_two_points_are_shattered(points):
    """Radon: whatever d + 2 points (the seed says "some"), two groups of them have hulls that meet."""
    result = shatters(points)
    assert not result.shattered
    X = np.array(points, dtype=float)
    radon = result.radon
    weights = np.array([float(w) for w in radon.weights])
    plus, minus = weights[: len(radon.positive)], weights[len(radon.positive) :]
    assert plus.sum() == pytest.approx(1.0)
    assert minus.sum() == pytest.approx(1.0)
    assert plus @ X[radon.positive] == pytest.approx(radon.point)
    assert minus @ X[radon.negative] == pytest.approx(radon.point)
    both = np.concatenate([radon.positive, radon.negative])
    labels = np.repeat([1, 0], [len(radon.positive), len(radon.negative)])
    assert separability(X[both], labels).verdict != "separable"


def test_affinely_dependent_points_are_not_shattered_even_if_few():
    """Three points of a line in the plane: the middle one cannot be cut off."""
    result = shatters([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
    assert not result
    assert result.radon.point.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(("n", "d"), [(3, 1), (4, 1), (4, 2), (5, 2), (6, 2), (5, 3)])
def test_covers_count_is_the_number_of_separable_labellings(n, d):
    """C(n, d) = 2 Σ_{k≤d} (n−1 choose k), counted by asking for each labelling of points in general position."""
    points = np.array([[float(t**power) for power in range(1, d + 1)] for t in range(n)])  # the moment curve
    separable = sum(
        labels in ((0,) * n, (1,) * n) or separability(points, labels).verdict == "separable"
        for labels in itertools.product([0, 1], repeat=n)
    )
    assert separable == cover_count(n, d)
    assert cover_probability(n, d) == separable / 2**n


def test_covers_probability_is_one_half_at_twice_the_dimension():
    """P = 1 for n ≤ d + 1, ½ at n = 2(d + 1), and a sharp fall around it as d grows."""
    for d in (0, 1, 5, 50):
        assert cover_probability(d + 1, d) == 1.0
        assert cover_probability(2 * (d + 1), d) == 0.5
    assert cover_probability(3 * 501, 500) < 1e-20
    assert cover_probability(2999, 1400) == pytest.approx(cover_probability(3001, 1401), rel=0.1)
    assert cover_probability(10**6, 50) == 0.0


@pytest.mark.parametrize("agnostic", [False, True])
def test_sample_size_is_the_least_that_the_inequality_allows(agnostic):
    """2 C(2m, d) 2^(−mε/2) ≤ δ at m and not at m − 1, in exact integers for the growth function."""
    from math import exp, log

    for d, epsilon, delta in ((1, 0.3, 0.1), (2, 0.1, 0.05), (5, 0.2, 0.01)):
        m = sample_size(d, epsilon, delta, agnostic=agnostic)

        def bound(m, d=d, epsilon=epsilon):
            growth = log(cover_count(2 * m, d))
            return (
                exp(log(4) + growth - m * epsilon**2 / 32)
                if agnostic
                else exp(log(2) + growth - m * epsilon / 2 * log(2))
            )

        assert bound(m) <= delta < bound(m - 1)


def test_sample_size_grows_as_the_theory_says():
    """Of order (d log(1/ε) + log(1/δ))/ε, below Blumer's closed form max(4/ε log₂ 2/δ, 8V/ε log₂ 13/ε)."""
    from math import log2

    for d, epsilon, delta in ((2, 0.1, 0.05), (20, 0.01, 0.01), (100, 0.05, 0.001)):
        closed = max(4 / epsilon * log2(2 / delta), 8 * (d + 1) / epsilon * log2(13 / epsilon))
        assert sample_size(d, epsilon, delta) <= closed
    assert sample_size(10, 0.1, 0.05) < sample_size(20, 0.1, 0.05) < sample_size(20, 0.05, 0.05)


def test_empirical_error_of_a_consistent_half_space_is_within_epsilon():
    """The bound at work: samples of the suggested size, a separating half-space, error below ε in every trial."""
    random = np.random.default_rng(0)
    m = sample_size(2, 0.2, 0.1)
    fresh = random.uniform(-1, 1, size=(5000, 2))
    for _ in range(5):
        w = random.normal(size=2)
        X = random.uniform(-1, 1, size=(m, 2))
        plane = separability(X, X @ w > 0, hyperplane="any").hyperplane
        assert np.mean((fresh @ plane[1:] + plane[0] > 0) != (fresh @ w > 0)) < 0.2
