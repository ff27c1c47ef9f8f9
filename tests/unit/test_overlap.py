"""The quick proof of overlap says yes only where the exact verdict does."""

from __future__ import annotations

import numpy as np
import pytest

from discriminant.inference.separability import OVERLAPPING, separability
from discriminant.methods.verdicts import rows_overlap


@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-3, 0.3, 3.0])
@pytest.mark.parametrize(("n", "d"), [(12, 1), (40, 3), (120, 8)])
def test_never_stronger_than_the_exact_verdict(n, d, noise):
    shown = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-3, 3, d)
        z = (X / X.std(axis=0)) @ rng.normal(size=d) + 0.2
        y = (z + noise * rng.normal(size=n) > 0).astype(int)
        if len(np.unique(y)) < 2:
            continue
        if rows_overlap(np.column_stack([np.ones(n), X]) * (2.0 * y - 1)[:, None]):
            shown += 1
            assert separability(X, y).verdict == OVERLAPPING
    assert shown == 0 if noise == 0 else shown >= 10 or noise < 1


def test_rows_that_touch_are_left_to_the_exact_verdict():
    """Quasi-separated: equal values with both labels at the boundary, and no weights λ > 0 that balance."""
    X = np.array([[0.0], [1.0], [1.0], [2.0]])
    t = np.array([-1.0, -1.0, 1.0, 1.0])
    assert not rows_overlap(np.column_stack([np.ones(4), X]) * t[:, None])
