"""Categories in data frames: columns of zeros and ones, remembered, the same from every library, file and export."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import discriminant
from discriminant import LinearDiscriminantAnalysis, LogisticRegression, compare, load, save
from discriminant.errors import DataError

N = 300
ESTIMATORS = [
    name
    for name in discriminant.__all__
    if isinstance(getattr(discriminant, name), type) and hasattr(getattr(discriminant, name), "predict")
    and name not in ("LinearDiscriminant", "MinimumRiskClassifier")
]  # fmt: skip


@pytest.fixture(scope="module")
def rows() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(40, 10, N), "dose": rng.uniform(0, 2, N)})
    frame.insert(1, "site", np.array(["north", "south", "west"])[rng.integers(3, size=N)])
    frame["grade"] = pd.Categorical.from_codes(rng.integers(3, size=N), ["mid", "low", "high", "never"])
    z = (frame.age - 40) / 10 + (frame.site == "west") - frame.dose
    return frame, np.where(rng.logistic(size=N) < z, "yes", "no")


def dummies(frame: pd.DataFrame) -> np.ndarray:
    return np.column_stack(
        [
            frame.age,
            frame.site == "south",
            frame.site == "west",
            frame.dose,
            frame.grade == "low",
            frame.grade == "high",
        ]
    ).astype(np.float64)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.filterwarnings("ignore")
def test_every_estimator_learns_from_them_as_from_columns_of_zeros_and_ones(rows, name):
    frame, y = rows[0][:80], rows[1][:80]
    kind = getattr(discriminant, name)
    known = kind().get_params()
    fixed = {key: value for key, value in {"random_state": 0, "rounds": 1}.items() if key in known}
    model, plain = kind(**fixed).fit(frame, y), kind(**fixed).fit(dummies(frame), y)
    assert model.feature_names_in_.tolist() == ["age", "site", "dose", "grade"]
    assert (model.predict(frame) == plain.predict(dummies(frame))).all()
    assert (clone(model).fit(frame, y).predict(frame) == model.predict(frame)).all()


def test_the_table_is_that_of_a_formula_in_statsmodels(rows):
    """The first category, else the first by name, is what the others are told from."""
    frame, y = rows
    table = LogisticRegression(C=np.inf).fit(frame, y).summary()
    frame = frame.assign(y=(y == "yes") * 1.0, grade=frame.grade.cat.remove_unused_categories())
    theirs = smf.logit("y ~ age + C(site) + dose + C(grade)", frame).fit(disp=0, tol=1e-14, maxiter=200)
    order = ["Intercept", "age", "C(site)[T.south]", "C(site)[T.west]", "dose", "C(grade)[T.low]", "C(grade)[T.high]"]
    assert table.terms == ["(intercept)", "age", "site=south", "site=west", "dose", "grade=low", "grade=high"]
    np.testing.assert_allclose(table.estimate, theirs.params[order], rtol=1e-9)
    np.testing.assert_allclose(table.standard_error, theirs.bse[order], rtol=1e-8)


def forms(frame: pd.DataFrame) -> dict[str, object]:
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    polars = pl.from_pandas(frame)
    order = pl.Enum(["mid", "low", "high"])
    return {
        "strings": frame.astype({"site": "string"}),
        "objects": frame.astype({"site": object}),
        "categories": frame.astype({"site": "category"}),
        "polars": polars.with_columns(pl.col("grade").cast(pl.String).cast(order)),
        "polars categories": polars.with_columns(
            pl.col("site").cast(pl.Categorical), pl.col("grade").cast(pl.String).cast(order)
        ),
        "pyarrow": pa.Table.from_pandas(frame),
    }


@pytest.mark.parametrize("kind", ["strings", "objects", "categories", "polars", "polars categories", "pyarrow"])
def test_frames_of_every_library_give_one_model(rows, kind):
    frame, y = rows
    model, given = LogisticRegression(C=np.inf).fit(frame, y), forms(frame)[kind]
    again = LogisticRegression(C=np.inf).fit(given, y)
    np.testing.assert_allclose(again.predict_proba(given), model.predict_proba(frame), atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(given), model.predict_proba(frame), atol=1e-14)
    if kind != "pyarrow":  # whose dictionaries have no order of their own
        assert again.discriminant_.names == model.discriminant_.names


def test_the_reference_is_chosen_by_the_order_of_the_categories(rows):
    frame, y = rows
    turned = frame.assign(site=pd.Categorical(frame.site, ["west", "north", "south"]))
    model, other = (LogisticRegression(C=np.inf).fit(given, y) for given in (frame, turned))
    assert other.discriminant_.names[1:3] == ("site=north", "site=south")
    np.testing.assert_allclose(other.coef_[0, 1], -model.coef_[0, 2], rtol=1e-9)
    np.testing.assert_allclose(other.predict_proba(turned), model.predict_proba(frame), atol=1e-12)


def test_categories_of_numbers_and_float32_columns(rows):
    frame, y = rows
    codes = frame.assign(site=pd.Categorical(frame.site.map({"north": 10, "south": 9, "west": 30})))
    model = LogisticRegression().fit(codes, y)
    assert model.discriminant_.names[1:3] == ("site=10", "site=30")
    assert (model.predict(codes.assign(site=codes.site.astype(int))) == model.predict(codes)).all()
    single = frame.astype({"age": np.float32, "dose": np.float32})
    assert LogisticRegression().fit(single, y).coef_.dtype == np.float32


def test_what_the_fit_did_not_know_is_refused_by_name(rows):
    frame, y = rows
    model = LogisticRegression().fit(frame, y)
    east = frame.assign(site=frame.site.where(frame.index != 7, "east"))
    with pytest.raises(DataError, match=r"Column 'site' holds 'east' in row 7, which no row of the fit has"):
        model.predict(east)
    gone = frame.assign(site=frame.site.where(frame.index != 7))
    for use in (model.predict, lambda X: LogisticRegression().fit(X, y)):
        with pytest.raises(DataError, match=r"Column 'site' has no value in row 7"):
            use(gone)
    with pytest.raises(DataError, match=r"must be a data frame with 'age', 'site', 'dose' and 'grade'"):
        model.predict(frame.to_numpy())
    with pytest.raises(DataError, match=r"array of 4 columns.*'site=south'"):
        model.predict(np.zeros((2, 4)))
    with pytest.raises(DataError, match=r"Column 'site' holds 300 different texts"):
        LogisticRegression().fit(frame.assign(site=[f"s{i}" for i in range(N)]), y)
    with pytest.raises(DataError, match="one level only"):
        LogisticRegression().fit(pd.DataFrame({"site": ["a"] * N}), y)
    with pytest.raises(ValueError, match="could not convert"):  # an array's columns have one type
        LogisticRegression().fit(frame[["site"]].to_numpy(), y)


def test_a_model_is_pickled_saved_exported_explained_and_reported(rows, tmp_path):
    frame, y = rows
    model = LogisticRegression(C=np.inf).fit(frame, y)
    expected = model.predict_proba(frame)
    assert (pickle.loads(pickle.dumps(model)).predict_proba(frame) == expected).all()
    loaded = load(save(model, tmp_path / "model", X=frame))
    np.testing.assert_array_equal(loaded.predict_proba(frame), expected)
    sql = discriminant.to_sql(model)
    duckdb = pytest.importorskip("duckdb")
    found = duckdb.sql(sql.replace("FROM data", "FROM frame")).df() if "FROM data" in sql else None
    if found is not None:
        chances = found[[name for name in found if str(name).endswith("yes")]].to_numpy().ravel()
        np.testing.assert_allclose(chances[:N], expected[:, 1], atol=1e-12)
    columns = json.loads(discriminant.to_json(model))["columns"]
    assert [column["role"] for column in columns] == ["number", "category", "number", "category"]
    assert model.explain(frame[:1]).feature_names == model.discriminant_.names
    np.testing.assert_allclose(model.predict_proba(dummies(frame)), expected, atol=1e-14)
    assert "site=west" in model.report(frame, y).html


def test_tests_effects_and_intervals_take_frames_with_categories(rows):
    frame, y = rows
    large = LogisticRegression(C=np.inf).fit(frame, y)
    small = LogisticRegression(C=np.inf).fit(frame[["age", "dose"]], y)
    found = compare(small, large, frame, y)
    assert (found.df, found.added) == (4, ["site=south", "site=west", "grade=low", "grade=high"])
    assert large.marginal_effects(frame).terms == list(large.discriminant_.names)
    assert large.summary(frame, y, intervals="bootstrap", draws=20).terms == large.summary().terms
    assert large.boundary_interval(frame[:2], "age", large.summary()).shape == (2, 3)


def test_files_of_text_and_frames_are_one_model(rows, tmp_path):
    pytest.importorskip("pyarrow")
    frame, y = rows
    frame = frame.assign(grade=frame.grade.astype(str))
    frame.assign(y=y).to_csv(tmp_path / "all.csv", index=False)
    few = frame[frame.site != "north"]
    few.to_csv(tmp_path / "few.csv", index=False)
    frame.assign(site="east").to_csv(tmp_path / "east.csv", index=False)
    model, scanned = LogisticRegression().fit(frame, y), discriminant.scan(tmp_path / "all.csv", target="y")
    from_file = LogisticRegression().fit(scanned)
    np.testing.assert_allclose(from_file.coef_, model.coef_, atol=1e-12)
    assert from_file.feature_names_in_.tolist() == model.feature_names_in_.tolist()
    for one in (model, from_file):
        assert one.score(scanned) == model.score(frame, y)
        np.testing.assert_allclose(one.predict_proba(few), model.predict_proba(few), atol=1e-12)
        chances = np.asarray(one.predict_proba(discriminant.scan(tmp_path / "few.csv")))
        np.testing.assert_allclose(chances, model.predict_proba(few), atol=1e-12)
        with pytest.raises(DataError, match=r"Column 'site' holds 'east' in row 0 of .*, which no row of the fit has"):
            np.asarray(one.predict(discriminant.scan(tmp_path / "east.csv")))


def test_parts_and_pipelines(rows):
    frame, y = rows
    model = LinearDiscriminantAnalysis().partial_fit(frame[:200], y[:200], classes=["no", "yes"])
    model.partial_fit(frame[200:], y[200:])
    np.testing.assert_allclose(model.coef_, LinearDiscriminantAnalysis().fit(frame, y).coef_, rtol=1e-9)
    pipe = make_pipeline(FunctionTransformer(), LogisticRegression()).fit(frame, y)
    assert (pipe.predict(frame) == LogisticRegression().fit(frame, y).predict(frame)).all()
    careful = discriminant.MinimumRiskClassifier(LogisticRegression(), reject_cost=0.2).fit(frame, y)
    assert set(careful.predict(frame)) == {"no", "yes", "reject"}


def test_a_fit_to_numbers_forgets_the_categories_of_an_earlier_one(rows):
    frame, y = rows
    model = LogisticRegression().fit(frame, y).fit(frame[["age", "dose"]], y)
    assert model.coef_.shape == (1, 2)
    assert model.fit(dummies(frame)[:, :3], y).predict(dummies(frame)[:, :3]).shape == (N,)


@pytest.mark.parametrize("names", [(0, 1), ("age", "count"), (1, 0)])
def test_columns_may_be_called_by_numbers_or_count(names):
    """The names of columns say nothing of what they hold."""
    draw = np.random.default_rng(0)
    number, text = draw.normal(size=30), np.array(["low", "mid", "high"])[np.arange(30) % 3]
    y = (number + (text == "mid") + 0.5 * draw.normal(size=30) > 0.3).astype(int)
    found = LogisticRegression().fit(pd.DataFrame({names[0]: number, names[1]: text}), y)
    plain = LogisticRegression().fit(np.column_stack([number, text == "low", text == "mid"]), y)
    np.testing.assert_allclose(found.coef_, plain.coef_, rtol=1e-9)
