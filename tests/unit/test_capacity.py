"""Capacity functions: what they accept, refuse and count."""

import math

import numpy as np
import pytest

from discriminant import LinearDiscriminant, cover_probability, sample_size, shatters, vc_dimension
from discriminant.errors import ParameterError
from discriminant.inference.capacity import cover_count


def test_vc_dimension_of_numbers_and_models():
    assert vc_dimension(0) == 1
    assert vc_dimension(np.int64(3)) == 4
    assert vc_dimension(3, fit_intercept=False) == 3
    model = LinearDiscriminant([0.5, 1.0, -1.0], ["a", "b"])
    assert vc_dimension(model) == 3

    class Fitted:
        coef_ = np.zeros((1, 7))

    assert vc_dimension(Fitted()) == 8
    with pytest.raises(ParameterError, match="cannot be negative"):
        vc_dimension(-1)
    with pytest.raises(ParameterError, match="not str"):
        vc_dimension("two")


def test_cover_counts_are_sums_of_binomials():
    for n in (1, 2, 5, 30):
        for d in (0, 1, 4, 40):
            assert cover_count(n, d) == 2 * sum(math.comb(n - 1, k) for k in range(d + 1))
    for n, d in ((3000, 1400), (3001, 1400)):  # either side of where floats take over
        assert cover_probability(n, d) == pytest.approx(cover_count(n, d) / 2**n, rel=1e-10)
    with pytest.raises(ParameterError, match="must be an integer at least 1"):
        cover_count(2.5, 1)
    with pytest.raises(ParameterError, match="must be an integer at least 1"):
        cover_probability(0, 1)


def test_sample_size_refuses_what_is_no_probability():
    with pytest.raises(ParameterError, match="greater than 0 and less than 1"):
        sample_size(2, 0.0, 0.1)
    with pytest.raises(ParameterError, match="delta"):
        sample_size(2, 0.1, 1.0)
    assert sample_size(0, 0.5, 0.5) > 1


def test_shatters_is_exact():
    """Three points that float arithmetic puts on a line are shattered when they are not on it."""
    nearly = [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0 + 2.0**-51]]
    assert shatters(nearly)
    assert not shatters([[0.1, 0.1], [0.2, 0.2], [0.3, 0.3]])
    tenths = [[0.1], [0.2], [0.1 + 0.2]]
    assert not shatters(tenths)
    assert shatters([[5]]).labellings == 2
    big = shatters(np.random.default_rng(0).normal(size=(40, 2)))
    assert big.labellings == cover_count(40, 2)
    assert len(big.radon.positive) + len(big.radon.negative) <= 4
    with pytest.raises(ParameterError, match="point 1 is not"):
        shatters([[0.0], [np.inf]])
    with pytest.raises(ParameterError, match="table of numbers"):
        shatters([1.0, 2.0])
