"""Formulas: the same columns and numbers as statsmodels', remembered at prediction."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.formula.api as smf
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from discriminant import LinearDiscriminantAnalysis, LogisticRegression, compare, save
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
        "C(site, Treatment('west')) * dose",
        "C(site, Sum) + bs(age, df=5, degree=2)",
        "np.log(dose + 1):site",
        "cr(age, df=4, constraints='center') + dose:site",
        "center(age) + (dose + site)**2",
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


def test_rows_whose_names_repeat_count_once_each(table):
    """As of two tables put below each other."""
    twice = pd.concat([table, table])
    twice.iloc[3, 0] = np.nan
    found = LogisticRegression.from_formula("ill ~ age + site", twice, C=np.inf)
    plain = LogisticRegression.from_formula("ill ~ age + site", twice.reset_index(drop=True), C=np.inf)
    assert found.summary().statistics["n"] == 599
    np.testing.assert_array_equal(found.coef_, plain.coef_)


@pytest.mark.parametrize("name", ["sample_weight", "offset"])
def test_weights_and_offsets_are_columns_or_arrays_and_follow_their_rows(table, name):
    holes = table.assign(known=np.arange(len(table)) % 4 / 2.0)
    holes.loc[:9, "age"] = np.nan
    used = holes.dropna()
    plain = LogisticRegression(C=np.inf).fit(used[["age"]], used.ill, **{name: used.known.to_numpy()})
    for given in ("known", holes.known, holes.known.to_numpy()):
        model = LogisticRegression.from_formula("ill ~ age", holes, C=np.inf, **{name: given})
        np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-12)
    with pytest.raises(DataError, match="no such column"):
        LogisticRegression.from_formula("ill ~ age", holes, **{name: "knwon"})
    with pytest.raises(DataError, match=name):
        LogisticRegression.from_formula("ill ~ age", holes, **{name: np.ones(7)})


def test_what_needs_the_rows_has_them(table):
    """Robust errors, effects and score tests follow a formula at once, also where rows were left out."""
    holes = table.copy()
    holes.loc[:9, "age"] = np.nan
    used = holes.dropna()
    for frame in (table, holes):
        model = LogisticRegression.from_formula("ill ~ age * site", frame, C=np.inf)
        rows = table if frame is table else used
        robust = model.summary(rows, rows.ill, covariance="HC1").standard_error
        np.testing.assert_allclose(model.summary(covariance="HC1").standard_error, robust, rtol=1e-12)
        np.testing.assert_allclose(model.marginal_effects().estimate, model.marginal_effects(rows).estimate)
        small = LogisticRegression.from_formula("ill ~ age + site", frame, C=np.inf)
        assert "score" in compare(small, model).tests


def test_clones_keep_the_formula(table):
    """Else a cross-validation would learn from every column of the table, the label's among them."""
    model = LogisticRegression.from_formula("ill ~ age + site", table.assign(copy=table.ill), C=np.inf)
    assert clone(model).fit(table, table.ill).feature_names_in_.tolist() == ["age", "site[T.south]", "site[T.west]"]
    scores = cross_val_score(model, table.assign(copy=table.ill), table.ill)
    columns = pd.get_dummies(table[["age", "site"]], drop_first=True, dtype=float)
    np.testing.assert_array_equal(scores, cross_val_score(LogisticRegression(C=np.inf), columns, table.ill))


def test_a_report_reads_the_table_of_the_formula(table):
    page = LogisticRegression.from_formula("ill ~ age + C(site)", table).report(table, table.ill).html
    assert "C(site)[T.west]" in page.replace("<wbr>", "")


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
    with pytest.raises(ParameterError, match="parts it in two"):
        LogisticRegression.from_formula("ill ~ age | dose", table)
    with pytest.raises(ParameterError, match="no column but the intercept"):
        LogisticRegression.from_formula("ill ~ 1", table)
    with pytest.raises(DataError, match=r"'east'.* not among the provided levels"):
        LogisticRegression.from_formula('ill ~ C(site, contr.treatment("east"))', table)
    with pytest.raises(DataError, match="make labels of an expression first"):
        LogisticRegression.from_formula("C(ill) ~ age", table)
    with pytest.raises(DataError, match=r"^[^\x1b]*$"):
        LogisticRegression.from_formula("ill ~ age + (dose", table)
    with pytest.raises(DataError, match="data frame"):
        LogisticRegression.from_formula("ill ~ age", table.to_numpy())
    with pytest.raises(DataError, match="model of a formula"):
        save(LogisticRegression.from_formula("ill ~ age", table), tmp_path / "model")
