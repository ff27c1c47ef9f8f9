"""The solution region against its definition, by enumeration and by sampling."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from discriminant import solution_region
from discriminant.errors import DataError
from discriminant.geometry import polygon_area


def separable(seed, n=30, d=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    a = rng.normal(size=d + 1)
    z = X @ a[1:]
    z -= np.median(z)
    keep = np.abs(z) > 0.05
    return X[keep], (z[keep] > 0).astype(int)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("d", [1, 2, 3])
def test_rays_are_the_edges_of_the_cone(seed, d):
    X, y = separable(seed, d=d)
    region = solution_region(X, y)
    assert not region.empty
    assert region.center in region
    assert region.radius > 0
    values = region.samples @ region.rays.T
    assert values.min() > -1e-9  # in the closed cone
    # Each ray lies on D − 1 independent boundaries, and every solution of that kind is among them.
    D = d + 1
    expected = []
    for rows in itertools.combinations(range(len(region.samples)), D - 1):
        _, s, V = np.linalg.svd(region.samples[list(rows)])
        if len(s) and s[-1] < 1e-9:
            continue
        for ray in (V[-1], -V[-1]):
            if (region.samples @ ray).min() > -1e-9:
                expected.append(ray)
    expected = np.unique(np.round(expected, 6), axis=0)
    assert len(region.rays) == len(expected)
    for ray in expected:
        assert np.linalg.norm(region.rays - ray, axis=1).min() < 1e-5


def test_mixtures_of_rays_are_solutions():
    X, y = separable(1, d=4)
    region = solution_region(X, y)
    weights = np.random.default_rng(0).dirichlet(np.ones(len(region.rays)), 200)
    inside = weights @ region.rays
    assert (region.samples @ inside.T > -1e-9).all()


def test_overlapping_classes_have_none():
    region = solution_region([[0.0], [1.0], [0.5], [2.0]], [0, 0, 1, 1])
    assert region.empty
    assert region.center is None
    assert region.reason.verdict == "overlapping"


def test_polygon_in_the_plane():
    X, y = [[1.0], [3.0]], ["a", "b"]
    region = solution_region(X, y)
    polygon = region.polygon(((-4, 4), (-4, 4)))
    grid = np.stack(np.meshgrid(np.linspace(-4, 4, 801), np.linspace(-4, 4, 801)), axis=-1).reshape(-1, 2)
    share = (grid @ region.samples.T > 0).all(axis=1).mean()
    assert abs(polygon_area(polygon) / 64 - share) < 5e-3
    with pytest.raises(DataError, match="polygon needs two weights"):
        solution_region([[1.0, 2.0], [3.0, 4.0]], y).polygon()


def test_margin_shrinks_the_region():
    X, y = separable(2)
    region = solution_region(X, y, margin=1.0)
    assert (region.samples @ region.center >= 1.0).all()
    assert region.center in region
    assert np.zeros(3) not in region
    with pytest.raises(DataError, match="two classes or more"):
        solution_region(X, np.zeros(len(X)))
