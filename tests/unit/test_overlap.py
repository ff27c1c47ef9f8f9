"""The proof in floats says of rows what the exact verdict does, or nothing."""

from __future__ import annotations

import numpy as np
import pytest

from discriminant.inference.separability import OVERLAPPING, SEPARABLE, separability
from discriminant.methods.verdicts import _signed_rows, rows_verdict


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-3, 0.3, 3.0])
@pytest.mark.parametrize(("n", "d"), [(12, 1), (40, 3), (120, 8)])
def test_never_stronger_than_the_exact_verdict(n, d, noise, K):
    said = asked = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-3, 3, d)
        z = (X / X.std(axis=0)) @ rng.normal(size=(d, K)) + 0.2
        y = np.unique((z + noise * rng.normal(size=(n, K))).argmax(axis=1), return_inverse=True)[1]
        if len(np.unique(y)) < K:
            continue
        found = rows_verdict(_signed_rows(np.column_stack([np.ones(n), X]), y, K))
        said, asked = said + (found is not None), asked + 1
        assert found in (None, separability(X, y).verdict)
        assert found != OVERLAPPING or noise > 0
    assert said >= asked / 2 or K > 2


def test_rows_that_touch_are_left_to_the_exact_verdict():
    """Quasi-separated: equal values with both labels at the boundary, and no weights α > 0 that balance."""
    X = np.array([[0.0], [1.0], [1.0], [2.0]])
    t = np.array([-1.0, -1.0, 1.0, 1.0])
    assert rows_verdict(np.column_stack([np.ones(4), X]) * t[:, None]) is None


def test_a_gap_of_the_size_of_rounding_is_not_called_one():
    X = np.array([[0.0], [1.0], [1.0 + 2**-52], [2.0]])
    assert rows_verdict(np.column_stack([np.ones(4), X]) * np.array([[-1.0], [-1.0], [1.0], [1.0]])) is None
    X[2] += 1e-3
    assert rows_verdict(np.column_stack([np.ones(4), X]) * np.array([[-1.0], [-1.0], [1.0], [1.0]])) == SEPARABLE
