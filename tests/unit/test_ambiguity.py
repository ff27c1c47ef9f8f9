"""Ambiguous regions against a fine grid, and their absence where theory says so."""

from __future__ import annotations

import numpy as np
import pytest

from discriminant import LeastSquaresClassifier, LinearDiscriminantAnalysis, ambiguity, datasets
from discriminant.errors import ParameterError

iris = datasets.load("iris")
X2 = iris.X[:, 2:]
BOUNDS = ((0.0, 8.0), (-1.0, 4.0))


def by_grid(model, sides_positive):
    x, y = np.meshgrid(np.linspace(*BOUNDS[0], 700), np.linspace(*BOUNDS[1], 700))
    grid = np.c_[x.ravel(), y.ravel()]
    return sides_positive(model.discriminant_.scores(grid)).sum(axis=1)


@pytest.mark.parametrize("coding", ["one-vs-rest", "pairwise"])
def test_polygons_equal_a_grid(coding):
    model = LeastSquaresClassifier(coding=coding).fit(X2, iris.y)
    found = ambiguity(model, BOUNDS)
    coded = model.discriminant_.coding

    def claims(z):
        if coding == "one-vs-rest":
            return z > 0
        agreed = (z - coded.threshold)[:, None, :] * coded.signs
        return ((agreed > 0) | (coded.signs == 0)).all(axis=2)

    count = by_grid(model, claims)
    assert found.exact
    for share, hit in ((found.none, count == 0), (found.one, count == 1), (found.several, count > 1)):
        assert abs(share - hit.mean()) < 5e-3
    assert abs(found.none + found.one + found.several - 1) < 1e-9
    assert found.none > 0
    z = model.discriminant_.scores(found.point_of_none[None])
    assert not claims(z).any()


def test_two_classes_leave_nothing_open():
    model = LinearDiscriminantAnalysis().fit(X2[50:], iris.y[50:])
    found = ambiguity(model, BOUNDS)
    assert found.none == 0
    assert found.several == 0
    assert found.point_of_none is None
    assert found.one == pytest.approx(1)


def test_pairwise_is_never_claimed_twice():
    found = ambiguity(LeastSquaresClassifier(coding="pairwise").fit(X2, iris.y), BOUNDS)
    assert found.several == 0
    assert found.point_of_several is None


def test_more_dimensions_are_sampled():
    model = LeastSquaresClassifier(coding="one-vs-rest").fit(iris.X, iris.y)
    bounds = list(zip(iris.X.min(axis=0), iris.X.max(axis=0), strict=True))
    found = ambiguity(model, bounds)
    assert not found.exact
    assert found.none + found.one + found.several == pytest.approx(1)
    assert "points drawn" in str(found)
    with pytest.raises(ParameterError, match="4 pairs"):
        ambiguity(model, BOUNDS)
