"""Formulas: the same columns and numbers as statsmodels', remembered at prediction."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.formula.api as smf

from discriminant import LinearDiscriminantAnalysis, LogisticRegression, save
from discriminant.errors import DataError, ParameterError


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(40, 10, 300), "dose": rng.uniform(0, 2, 300)})
    frame["site"] = np.array(["north", "south", "west"])[rng.integers(3, size=300)]
    z = (frame.age - 40) / 10 + (frame.site == "west") - frame.dose
    frame["ill"] = np.where(rng.logistic(size=300) < z, "yes", "no")
    return frame


@pytest.mark.parametrize(
    "right",
    [
        "age + dose",
        "age * dose",
        "age + C(site) + age:dose",
        "site",
        "bs(age, df=4) + dose",
        "C(site):dose",
        "age + I(age**2)",
    ],
)
def test_formulas_agree_with_statsmodels(table, right):
    model = LogisticRegression.from_formula(f"ill ~ {right}", table, C=np.inf)
    theirs = smf.logit(f"ill ~ {right}", table.assign(ill=(table.ill == "yes") * 1.0)).fit(
        disp=0, maxiter=200, tol=1e-12
    )
    found = model.summary().statistics["log-likelihood"]
    assert found == pytest.approx(theirs.llf, rel=1e-9)
    np.testing.assert_allclose(model.predict_proba(table)[:, 1], theirs.predict(table), atol=1e-9)


def test_levels_are_remembered_and_unknown_ones_refused(table):
    model = LogisticRegression.from_formula("ill ~ C(site) + dose", table)
    few = table[table.site == "west"].head(2)
    assert (model.predict_proba(few) == model.predict_proba(table)[few.index]).all()
    with pytest.raises(DataError, match=r"did not know: \{'east'\}"):
        model.predict(table.head(2).assign(site="east"))
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict_proba(table) == model.predict_proba(table)).all()


def test_the_reference_level_can_be_chosen(table):
    model = LogisticRegression.from_formula('ill ~ C(site, contr.treatment("west"))', table)
    assert len(model.feature_names_in_) == 2
    assert not any("T.west]" in name for name in model.feature_names_in_)


def test_a_dot_is_every_other_column_and_minus_one_no_intercept(table):
    assert set(LogisticRegression.from_formula("ill ~ . - site", table).feature_names_in_) == {"age", "dose"}
    assert LogisticRegression.from_formula("ill ~ age + dose - 1", table).intercept_ == 0.0


def test_rows_with_missing_values_are_left_out_of_the_fit_and_refused_in_predictions(table):
    holes = table.copy()
    holes.loc[:9, "age"] = np.nan
    holes.loc[10:19, "ill"] = None
    model = LogisticRegression.from_formula("ill ~ age + dose", holes, C=np.inf)
    assert model.summary().statistics["n"] == 280
    with pytest.raises(DataError, match="age"):
        model.predict(holes.head(3))


def test_frames_of_polars_and_other_estimators_take_formulas(table):
    frame = pl.from_pandas(table)
    model = LinearDiscriminantAnalysis.from_formula("ill ~ age + C(site)", frame)
    assert (
        model.predict(frame) == LinearDiscriminantAnalysis.from_formula("ill ~ age + C(site)", table).predict(table)
    ).all()


def test_wrong_formulas_are_refused_in_sentences(table, tmp_path):
    with pytest.raises(DataError, match="agee"):
        LogisticRegression.from_formula("ill ~ agee", table)
    with pytest.raises(DataError, match="no column 'sick'"):
        LogisticRegression.from_formula("sick ~ age", table)
    with pytest.raises(ParameterError, match="write 'label ~ column"):
        LogisticRegression.from_formula("age + dose", table)
    with pytest.raises(DataError, match="data frame"):
        LogisticRegression.from_formula("ill ~ age", table.to_numpy())
    with pytest.raises(DataError, match="model of a formula"):
        save(LogisticRegression.from_formula("ill ~ age", table), tmp_path / "model")
