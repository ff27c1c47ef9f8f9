"""Penalties: scales against scikit-learn's, limits, and refusals."""

from __future__ import annotations

import numpy as np
import pytest

from discriminant import penalties
from discriminant.errors import MismatchError, ParameterError


def test_elastic_net_ends_in_ridge_and_lasso():
    A = np.random.default_rng(0).standard_normal((4, 2))
    for step in (0.1, 3.0):
        np.testing.assert_allclose(
            penalties.ElasticNet(0.7, mix=0.0).prox(A, step), penalties.Ridge(0.7).prox(A, step), rtol=1e-14
        )
        np.testing.assert_allclose(
            penalties.ElasticNet(0.7, mix=1.0).prox(A, step), penalties.Lasso(0.7).prox(A, step), rtol=1e-14
        )
    assert penalties.ElasticNet(0.7, mix=0.0).value(A) == pytest.approx(penalties.Ridge(0.7).value(A))


def test_group_of_one_feature_and_one_output_is_the_lasso():
    A = np.random.default_rng(1).standard_normal((4, 1))
    assert penalties.Group(0.3).value(A) == pytest.approx(penalties.Lasso(0.3).value(A))
    np.testing.assert_allclose(penalties.Group(0.3).prox(A, 1.0), penalties.Lasso(0.3).prox(A, 1.0), atol=1e-15)


def test_group_drops_a_feature_for_all_outputs_together():
    A = np.array([[1.0, 1.0], [3.0, 4.0], [0.3, 0.4]])
    np.testing.assert_allclose(penalties.Group(1.0).prox(A, 1.0), [[1, 1], [2.4, 3.2], [0, 0]])


def test_conjugates_are_infinite_outside_their_domain():
    U = np.array([[0.0], [2.0], [0.5]])
    assert penalties.Lasso(1.0).conjugate(U) == np.inf
    assert penalties.Lasso(2.0).conjugate(U) == 0
    assert penalties.Group(1.0).conjugate(U) == np.inf
    assert penalties.Ridge(0.0).conjugate(U) == np.inf
    assert penalties.Group(9.0, groups=((0,),)).conjugate(U) == np.inf


def test_names_and_scales():
    assert penalties.make_penalty("l2", 0.1) == penalties.Ridge(0.1)
    assert penalties.make_penalty("elastic_net", 0.1) == penalties.ElasticNet(0.1)
    assert penalties.make_penalty(None) is None
    given = penalties.Group(2.0)
    assert penalties.make_penalty(given, 7.0) is given
    assert penalties.strength_from_C(np.inf, 10) == 0
    with pytest.raises(ParameterError, match=r"'C' parameter .* greater than 0"):
        penalties.strength_from_C(0.0, 10)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            lambda: penalties.Ridge(-1.0),
            "'strength' parameter of Ridge must be a finite number at least 0. Got -1.0",
        ),
        (lambda: penalties.Lasso(np.nan), "'strength' parameter of Lasso .* finite number at least 0. Got nan"),
        (lambda: penalties.Ridge(1.0, factors=(1.0, -1.0)), "'factors' parameter of Ridge .* at least 0"),
        (
            lambda: penalties.ElasticNet(1.0, mix=1.5),
            "'mix' parameter of ElasticNet must be a number at least 0 and at most 1. Got 1.5",
        ),
        (lambda: penalties.Group(1.0, groups=((0, 1), (1,))), "disjoint"),
        (lambda: penalties.Group(1.0, groups=((0, 9),)).value(np.ones((3, 1))), "not there: there are 2"),
        (lambda: penalties.Group(1.0, factors=(1.0,)).value(np.ones((3, 1))), "2 groups and 1 factors"),
        (lambda: penalties.Ridge(1.0, factors=(1.0,)).value(np.ones((3, 1))), "1 factors; there are 2 features"),
        (lambda: penalties.make_penalty("l0"), "no penalty 'l0'"),
    ],
)
def test_refusals_are_sentences(make, sentence):
    with pytest.raises(ParameterError, match=sentence):
        make()


@pytest.mark.parametrize("oracle", ["value", "gradient", "curvature", "conjugate"])
def test_jeffreys_asks_for_the_data(oracle):
    with pytest.raises(MismatchError, match="information matrix"):
        getattr(penalties.Jeffreys(), oracle)(np.ones((3, 1)))
    with pytest.raises(MismatchError, match="information matrix"):
        penalties.Jeffreys().prox(np.ones((3, 1)), 1.0)
