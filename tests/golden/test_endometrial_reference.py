"""The endometrial cancer study (Heinze & Schemper 2002, Statistics in Medicine 21), the textbook case of separation.

79 patients: neovasculation NV, pulsatility index PI, endometrium height EH, high histology grade HG.  Nobody with NV
has a low grade.  The data are those of the R packages brglm2 and detectseparation; the numbers are those that brglm2's
own documentation prints (``glm``, ``detect_separation``, ``brglm_fit``) and the fits and profile intervals of logistf.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from discriminant import LogisticRegression, separability
from discriminant.errors import DiscriminantWarning


@pytest.fixture(scope="module")
def endometrial():
    with (Path(__file__).parent / "endometrial.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    table = np.array([[float(row[name]) for name in ("NV", "PI", "EH", "HG")] for row in rows])
    return table[:, :3], table[:, 3].astype(int)


def test_firth_as_brglm2_prints_it(endometrial):
    X, y = endometrial
    model = LogisticRegression(penalty="jeffreys").fit(X, y)
    table = model.summary(X, y)
    assert table.estimate.round(5).tolist() == [3.77456, 2.92927, -0.03475, -2.60416]
    assert table.standard_error.round(5).tolist() == [1.48869, 1.55076, 0.03958, 0.77602]
    assert table.z.round(3).tolist() == [2.535, 1.889, -0.878, -3.356]
    # brglm2 stops at a tolerance of 1e-6: its p-values are right to a unit of the last digit.
    np.testing.assert_allclose(table.p, [0.011229, 0.058902, 0.379915, 0.000791], atol=1e-6)
    assert round(table.statistics["null deviance"], 3) == 104.903
    assert round(table.statistics["deviance"], 3) == 56.575


def test_profile_intervals_as_logistf_prints_them(endometrial):
    X, y = endometrial
    table = LogisticRegression(penalty="jeffreys").fit(X, y).summary(X, y, intervals="profile")
    np.testing.assert_allclose(table.estimate, [3.77455951, 2.92927330, -0.03475175, -2.60416387], rtol=1e-6)
    low, high = [1.0825371, 0.6097244, -0.1244587, -4.3651832], [7.20928050, 7.85463171, 0.04045547, -1.23272106]
    np.testing.assert_allclose(table.low, low, rtol=2e-6)
    np.testing.assert_allclose(table.high, high, rtol=2e-6)


def test_maximum_likelihood_is_infinite_in_one_place(endometrial):
    """detect_separation: 0, Inf, 0, 0; the finite estimates and the deviance are those that ``glm`` stops at."""
    X, y = endometrial
    verdict = separability(X, y)
    assert (verdict.verdict, verdict.columns, verdict.check()) == ("quasi-separable", (0,), True)
    with pytest.warns(DiscriminantWarning, match="column 0"):
        model = LogisticRegression(C=np.inf).fit(X, y)
    assert model.coef_[0, 0] == np.inf
    assert np.r_[model.intercept_, model.coef_[0, 1:]].round(5).tolist() == [4.30452, -0.04218, -2.90261]
    table = model.summary(X, y)
    finite = [0, 2, 3]
    assert table.standard_error[finite].round(5).tolist() == [1.6373, 0.04433, 0.84555]
    assert table.z[finite].round(3).tolist() == [2.629, -0.952, -3.433]
    assert round(table.statistics["deviance"], 3) == 55.393
    assert (model.predict_proba(X)[X[:, 0] == 1] == [0, 1]).all()
