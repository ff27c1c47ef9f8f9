"""Solving with a small matrix: our triangle against NumPy's and against the way through SciPy."""

from __future__ import annotations

import numpy as np
import pytest

from discriminant.kernels import compiled
from discriminant.optimize import factor as module
from discriminant.optimize.factor import factorize, unit_diagonal


def matrix(p: int, seed: int = 0) -> np.ndarray:
    """Positive definite, its columns in units from 1e-6 to 1e6."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((2 * p + 3, p)) * 10.0 ** rng.uniform(-6, 6, p)
    return Z.T @ Z


@pytest.mark.parametrize("way", ["compiled", "scipy"])
@pytest.mark.parametrize("p", [1, 2, 3, 4, 5, 8, 9, 17, 51, 96, 97])
def test_solutions_pivots_and_traces_are_those_of_the_matrix(p, way, monkeypatch):
    if way == "scipy":
        monkeypatch.setattr(module, "small_kernels", lambda columns: None)
    elif compiled.load() is None:
        pytest.skip("nothing is compiled here")
    H, rng = matrix(p), np.random.default_rng(1)
    found = factorize(H)
    assert found is not None
    scaled, scale = unit_diagonal(H)
    np.testing.assert_allclose(found.scale, scale, rtol=1e-15)
    np.testing.assert_allclose(found.least, np.square(np.diagonal(np.linalg.cholesky(scaled))).min(), rtol=1e-10)
    np.testing.assert_allclose(found.root_norm(), np.trace(np.linalg.inv(scaled)), rtol=1e-10)
    for shape in ((p,), (p, 1), (p, 7), (p, 300)):
        g = rng.standard_normal(shape)
        x = found.solve(g)
        expected = np.linalg.solve(scaled, (scale * g.T).T)
        expected = (scale * expected.T).T
        assert x.shape == shape
        np.testing.assert_allclose(x / np.abs(expected).max(), expected / np.abs(expected).max(), atol=1e-10)


def test_a_direction_without_curvature_keeps_to_itself():
    H = matrix(6)
    H[2] = H[:, 2] = 0.0
    found = factorize(H)
    rest = np.delete(np.arange(6), 2)
    g = np.arange(1.0, 7.0)
    assert found is not None
    assert found.scale[2] == 1.0
    inner = factorize(H[np.ix_(rest, rest)])
    np.testing.assert_allclose(found.solve(g)[rest], inner.solve(g[rest]), rtol=1e-12)


def test_collinear_columns_have_no_triangle_and_what_is_no_number_shows():
    assert factorize(np.ones((4, 4))) is None
    assert factorize(np.array([[1.0, 2.0], [2.0, 1.0]])) is None
    found = factorize(np.full((3, 3), np.nan))
    assert found is None or not np.isfinite(found.solve(np.ones(3))).all()
