"""Correct digits (LRE) on published data, certified in 60-digit arithmetic, and on problems made to lose digits.

Logistic fits have at least eight in every weight, Gaussian ones twelve.  Certified values come from files;
Gaussian weights, and the optima of constructed problems, from mpmath.
"""

from __future__ import annotations

import json

import mpmath
import numpy as np
import pytest

from discriminant import LinearDiscriminantAnalysis, LogisticRegression, QuadraticDiscriminantAnalysis
from golden.test_logistic_reference import SHARED, base
from golden.test_logistic_reference import digits as logistic_digits
from unit.test_gaussian_digits import digits, exact_moments

CERTIFIED = SHARED / "reference" / "certified_logistic.json"
with_shared = pytest.mark.skipif(not CERTIFIED.exists(), reason="the reference results are not on this machine")


def table(name):
    import pandas as pd

    return pd.read_csv(SHARED / name / "data.csv")


def design(entry):
    """(X, y) of a certified fit: columns in the order of its coefficients."""
    rows = table(entry["dataset"])
    made = {
        "famhistPresent": lambda: rows.famhist == "Present",
        "raceblack": lambda: rows.race == 2,
        "raceother": lambda: rows.race == 3,
        "ptd": lambda: rows.ptl > 0,
        "ftv1": lambda: rows.ftv == 1,
        "ftv2+": lambda: rows.ftv >= 2,
        "income_k": lambda: rows.income / 1000,
        "studentYes": lambda: rows.student == "Yes",
    }
    if entry["dataset"] == "iris":
        rows = rows[rows.species != "setosa"]
    names = [name for name in entry["coef"] if name != "(Intercept)"]
    X = np.column_stack([np.asarray(made[name]() if name in made else rows[name], dtype=float) for name in names])
    target = {
        "spector": lambda: rows.GRADE, "iris": lambda: rows.species == "virginica", "saheart": lambda: rows.chd,
        "birthwt": lambda: rows.low, "smarket": lambda: rows.Direction == "Up",
        "default_islr": lambda: rows.default == "Yes",
    }[entry["dataset"]]()  # fmt: skip
    return X, np.asarray(target, dtype=int)


@with_shared
@pytest.mark.parametrize("number", range(11))
def test_certified_logistic_fits_have_eight_digits(number):
    """Weights and standard errors, of maximum likelihood and of Firth's."""
    entry = json.loads(CERTIFIED.read_text())[number]
    X, y = design(entry)
    assert len(y) == entry["n"]
    firth = entry["method"].startswith("Firth")
    model = LogisticRegression(penalty="jeffreys") if firth else LogisticRegression(C=np.inf)
    model.fit(X, y)
    found = np.r_[model.intercept_, model.coef_[0]]
    true = [mpmath.mpf(value) for value in entry["coef"].values()]
    assert digits(found, true) >= 8
    if not firth:
        errors = [mpmath.mpf(value) for value in entry["se"].values()]
        assert digits(np.asarray(model.summary(X, y).standard_error), errors) >= 8


def two_classes(name):
    """(X, y) of the first two classes of a data set."""
    rows = table(name)
    birds = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    target, numbers = {
        "iris": ("species", list(rows.columns[:4])),
        "penguins": ("species", birds),
        "vowel": ("y", [f"x.{j}" for j in range(1, 11)]),
        "smarket": ("Direction", ["Lag1", "Lag2", "Lag3", "Lag4", "Lag5", "Volume"]),
        "saheart": ("chd", ["sbp", "tobacco", "ldl", "adiposity", "obesity", "age"]),
        "breast_cancer": (rows.columns[-1], list(rows.columns[:10])),
    }[name]
    rows = rows.dropna(subset=numbers)
    y = np.unique(rows[target].astype(str), return_inverse=True)[1]
    return rows[numbers].to_numpy(float)[y < 2], y[y < 2]


def constructed(name):
    rng = np.random.default_rng(11)
    y = np.arange(90) % 2
    X = rng.normal(size=(90, 4)) + 0.6 * y[:, None]
    return {
        "offsets 1e8": (X + [1e8, -1e8, 0.0, 1e4], y),
        "scales 1e-8 to 1e8": (X * [1e-8, 1.0, 1e8, 1e3], y),
        "collinear to 1e-4": (np.c_[X[:, :3], X[:, 0] + X[:, 1] + 1e-4 * X[:, 3]], y),
        "a rare class": (X, (np.arange(90) >= 82).astype(int)),
    }[name]


HARD = ["offsets 1e8", "scales 1e-8 to 1e8", "collinear to 1e-4", "a rare class"]
SETS = [pytest.param(name, marks=with_shared) for name in ("iris", "penguins", "vowel", "smarket", "saheart",
                                                          "breast_cancer")]  # fmt: skip


@pytest.mark.parametrize("name", [*SETS, *HARD])
def test_gaussian_weights_have_twelve_digits(name):
    """Σ⁻¹(μ₁ − μ₀) in every weight; the quadratic scores to twelve digits of the largest of their terms."""
    X, y = constructed(name) if name in HARD else two_classes(name)
    with mpmath.workdps(60):
        (m0, S0), (m1, S1) = (exact_moments(X[y == k]) for k in range(2))
        difference = mpmath.matrix([b - a for a, b in zip(m0, m1, strict=True)])
        weights = mpmath.lu_solve((S0 + S1) / len(y), difference)
        assert digits(LinearDiscriminantAnalysis().fit(X, y).coef_[0], list(weights)) >= 12
        points, truth, terms = X[:3], [mpmath.mpf(0)] * 3, [mpmath.mpf(0)] * 3
        for k, sign, mean, scatter in ((0, -1, m0, S0), (1, 1, m1, S1)):
            count = int((y == k).sum())
            covariance = scatter / count
            volume = mpmath.log(mpmath.det(covariance))
            for i, x in enumerate(points):
                r = mpmath.matrix([mpmath.mpf(float(a)) - b for a, b in zip(x, mean, strict=True)])
                form = (r.T * mpmath.lu_solve(covariance, r))[0]
                truth[i] += sign * (mpmath.log(mpmath.mpf(count) / len(y)) - (volume + form) / 2)
                terms[i] = max(terms[i], abs(volume), abs(form))
        found = QuadraticDiscriminantAnalysis().fit(X, y).decision_function(points)
        errors = [abs(mpmath.mpf(float(a)) - b) / c for a, b, c in zip(found, truth, terms, strict=True)]
    assert max(errors) <= 1e-12


@pytest.mark.parametrize("C", [1.0, np.inf])
@pytest.mark.parametrize("name", HARD)
def test_constructed_logistic_fits_have_eight_digits(name, C):
    X, y = constructed(name)
    assert logistic_digits(LogisticRegression(C=C).fit(X, y), X, y, C=C) >= 8


@pytest.mark.parametrize("settings", [{"C": 1.0}, {"C": np.inf}], ids=str)
def test_weights_over_twelve_decades_have_eight_digits(settings):
    X, y, rng = base(seed=6)
    weight = 10.0 ** rng.uniform(-6, 6, len(y))
    weight[np.argsort(weight)[-8:]] = 1e6  # the heaviest alone must not separate
    model = LogisticRegression(**settings).fit(X, y, weight)
    assert logistic_digits(model, X, y, weight, C=settings["C"]) >= 8


@pytest.mark.parametrize("name", ["offsets 1e8", "collinear to 1e-4"])
def test_three_classes_have_eight_digits(name):
    X, y = constructed(name)
    y = np.where(np.arange(90) % 5 == 0, 2, y)
    assert logistic_digits(LogisticRegression(C=10.0).fit(X, y), X, y, C=10.0) >= 8
