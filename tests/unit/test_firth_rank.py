"""Jeffreys' prior where the information matrix has no determinant: refused in a sentence, not fitted by rounding."""

from __future__ import annotations

import numpy as np
import pytest

from discriminant import LogisticRegression
from discriminant.errors import DataError


def rows(n, d, K, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), np.arange(n) % K


@pytest.mark.parametrize("penalty", ["jeffreys", "flic"])
@pytest.mark.parametrize("K", [2, 3])
def test_more_columns_than_rows(penalty, K):
    X, y = rows(15, 30, K)
    with pytest.raises(DataError, match=r"full rank.*15 rows, 31 weights"):
        LogisticRegression(penalty=penalty).fit(X, y)


@pytest.mark.parametrize("K", [2, 3])
def test_a_column_that_is_a_sum_of_others(K):
    X, y = rows(60, 3, K)
    with pytest.raises(DataError, match="full rank"):
        LogisticRegression(penalty="jeffreys").fit(np.column_stack([X, X @ [1.0, 2.0, -1.0]]), y)


def test_scales_and_offsets_far_apart_are_no_lack_of_rank():
    X, y = rows(60, 3, 2)
    plain = LogisticRegression(penalty="jeffreys").fit(X, y)
    scaled = LogisticRegression(penalty="jeffreys").fit(X * [1e-8, 1.0, 1e8] + [0.0, 1e4, 0.0], y)
    np.testing.assert_allclose(scaled.coef_ * [1e-8, 1.0, 1e8], plain.coef_, rtol=1e-6)
