"""Columns that are nearly a combination of the others are named: their weights are decided by noise."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from discriminant import (
    FisherDiscriminant,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    datasets,
)
from discriminant.errors import CollinearityWarning

METHODS = [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, LeastSquaresClassifier, FisherDiscriminant]


def _incomes(noise: float) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    income, age = rng.normal(50, 10, 200), rng.normal(40, 9, 200)
    y = (income / 10 + age / 9 + rng.normal(size=200) > 9).astype(int)
    twice = 2 * income + noise * rng.normal(size=200)
    return pd.DataFrame({"income": income, "age": age, "income2": twice}), y


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("noise", [1e-12, 1e-8, 1e-4])
def test_nearly_collinear_columns_are_named(method: type, noise: float) -> None:
    with pytest.warns(CollinearityWarning, match="nearly collinear: columns 'income' and 'income2' follow"):
        method().fit(*_incomes(noise))


@pytest.mark.parametrize("method", METHODS)
def test_exactly_collinear_columns_are_told_once(method: type) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        method().fit(*_incomes(0.0))
    assert len(caught) == 1
    assert "nearly" not in str(caught[0].message)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["iris", "breast_cancer"])
def test_correlated_measurements_are_not_called_collinear(method: type, name: str) -> None:
    """Radius, perimeter and area of the cells are correlated by 0.998, and the data decide their weights."""
    data = datasets.load(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error", CollinearityWarning)
        method().fit(data.X, data.y)


def test_shrinkage_and_penalties_leave_nothing_to_warn_of() -> None:
    X, y = _incomes(1e-8)
    with warnings.catch_warnings():
        warnings.simplefilter("error", CollinearityWarning)
        LinearDiscriminantAnalysis(shrinkage=0.1).fit(X, y)
        QuadraticDiscriminantAnalysis(shrinkage=0.1).fit(X, y)
        LeastSquaresClassifier(alpha=1e-3).fit(X, y)
