"""Columns that are nearly a combination of the others are named: their weights are decided by noise."""

from __future__ import annotations

import re
import warnings

import mpmath as mp
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
    """income2 = 2·income + noise, as a share of its spread."""
    rng = np.random.default_rng(0)
    income, age = rng.normal(50, 10, 200), rng.normal(40, 9, 200)
    y = (income / 10 + age / 9 + rng.normal(size=200) > 9).astype(int)
    twice = 2 * income + 20 * noise * rng.normal(size=200)
    return pd.DataFrame({"income": income, "age": age, "income2": twice}), y


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("noise", [1e-12, 1e-10, 1e-8, 1e-6])
def test_nearly_collinear_columns_are_named(method: type, noise: float) -> None:
    """With the condition number of the correlation, 4/noise² and less within classes."""
    with pytest.warns(CollinearityWarning, match="nearly collinear: columns 'income' and 'income2' follow") as told:
        method().fit(*_incomes(noise))
    assert len(told) == 1
    condition = float(re.findall(r"correlation is (\S+)\.", str(told[0].message))[0])
    assert 0.3 / noise**2 < condition < 6 / noise**2


@pytest.mark.parametrize("method", METHODS)
def test_where_eleven_digits_are_left_nothing_is_said(method: type) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", CollinearityWarning)
        method().fit(*_incomes(1e-4))


@pytest.mark.parametrize("method", METHODS)
def test_fewer_digits_in_the_data_are_lost_sooner(method: type) -> None:
    """In float32 noise of 1e-3 is 8,000 roundings of a column that lies five spreads from zero."""
    X, y = _incomes(1e-3)
    with pytest.warns(CollinearityWarning, match="nearly collinear: columns 'income' and 'income2' follow"):
        method().fit(X.astype(np.float32), y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", CollinearityWarning)
        method().fit(X, y)


def _exact_least_squares(X: np.ndarray, y: np.ndarray) -> tuple[mp.matrix, mp.matrix, mp.matrix]:
    """(Y, t, a) with YᵗYa = Yᵗt, in sixty digits."""
    Y = mp.matrix([[mp.mpf(1), *map(mp.mpf, row)] for row in X.tolist()])
    t = mp.matrix([mp.mpf(2 * int(k) - 1) for k in y])
    return Y, t, mp.lu_solve(Y.T * Y, Y.T * t)


@pytest.mark.parametrize("noise", [1e-12, 1e-10, 1e-8, 1e-6, 1e-4])
def test_rounding_moves_the_weights_by_what_is_said(noise: float) -> None:
    """The exact weights of the data, and of the data with each number one rounding away.

    The weights found are no further from the exact ones, and ‖∇J‖ in whitened coordinates, √(2(J − min J)), is told.
    """
    frame, y = _incomes(noise)
    X = frame.to_numpy()
    sign = np.random.default_rng(1).choice([-1.0, 1.0], X.shape)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = LeastSquaresClassifier().fit(frame, y)
    with mp.workdps(60):
        Y, t, best = _exact_least_squares(X, y)
        other = _exact_least_squares(X + sign * np.spacing(X), y)[2]
        found = mp.matrix([mp.mpf(float(v)) for v in (model.intercept_[0], *model.coef_[0])])
        moved, off = (float(max(abs((a[j] - best[j]) / best[j]) for j in (1, 3))) for a in (other, found))

        def J(a: mp.matrix) -> mp.mpf:
            return mp.fsum(r**2 for r in Y * a - t) / (2 * len(y))

        left = float(mp.sqrt(2 * (J(found) - J(best))))
    if noise < 1e-4:
        said = float(re.findall(r"moves them by about (\S+) of", str(told[0].message))[0])
        assert said / 30 < moved < 3 * said
        assert off < said
    else:
        assert not told
        assert moved < 1e-10
    assert left / 3 - 1e-13 < model.certificate_.gradient_norm < 10 * left + 1e-12
    assert model.certificate_.status.startswith("Solved") == model.certificate_.converged


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
