"""Pipelines of scikit-learn in model files and exports: the answers are those of the pipeline."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

from discriminant import LinearDiscriminantAnalysis, LogisticRegression, load, save
from discriminant.cli import main
from discriminant.errors import DataError
from discriminant.io import to_json, to_sql
from discriminant.io.json_ import from_json


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    n = 300
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n),
            "dose": rng.normal(3, 1, n),
            "site": rng.choice(["a", "b", "c'x"], n),
            "rooms": rng.integers(1, 4, n),
            "size": rng.choice(["s", "m", "l"], n),
        }
    )
    signal = frame.age / 10 + frame.dose + 2.0 * (frame.site == "b") - (frame.rooms == 2) + rng.normal(size=n)
    y = np.where(signal > 8.7, "yes", np.where(signal > 7.5, "perhaps", "no"))
    frame.loc[::17, "age"] = np.nan
    frame.loc[::23, "site"] = None
    return frame, y


def mixed(**encoder):
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    words = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(**encoder))
    parts = [
        ("numbers", numbers, ["age", "dose"]),
        ("words", words, ["site"]),
        ("rooms", OneHotEncoder(drop="first"), ["rooms"]),
        ("sizes", OrdinalEncoder(categories=[["s", "m", "l"]]), ["size"]),
    ]
    return ColumnTransformer(parts)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_file_answers_as_the_pipeline_that_it_was_made_of(people, tmp_path, classes):
    frame, y = people
    y = y if classes == 3 else np.where(y == "yes", "yes", "no")
    pipeline = Pipeline([("columns", mixed(handle_unknown="ignore")), ("model", LogisticRegression())]).fit(frame, y)
    restored = load(save(pipeline, tmp_path / "model.disc"))
    other = frame.copy()
    other.loc[3, "site"] = "never seen"
    for rows in (frame, other):
        np.testing.assert_allclose(restored.predict_proba(rows), pipeline.predict_proba(rows), rtol=0, atol=1e-12)
        assert (restored.predict(rows) == pipeline.predict(rows)).all()
    assert "'c''x'" in to_sql(pipeline)  # run in SQLite and compared before it is handed out
    assert from_json(to_json(pipeline)).columns == restored.preprocess.rules


@pytest.mark.parametrize(
    "steps",
    [
        [StandardScaler()],
        [StandardScaler(with_mean=False), RobustScaler()],
        [MinMaxScaler((-1, 2)), MaxAbsScaler()],
        [RobustScaler(with_centering=False), "passthrough"],
        [FeatureUnion([("one", StandardScaler()), ("two", MinMaxScaler())])],
        [SimpleImputer(strategy="constant", fill_value=7.0), StandardScaler()],
    ],
)
def test_scalers_of_arrays(steps, tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(5, [1, 10, 100], size=(80, 3))
    y = (X[:, 0] + X[:, 1] / 10 + rng.normal(size=80) > 5.5).astype(int)
    X[5, 1] = np.nan if isinstance(steps[0], SimpleImputer) else X[5, 1]
    pipeline = make_pipeline(*steps, LogisticRegression(C=0.1)).fit(X, y)
    restored = load(save(pipeline, tmp_path / "model.disc"))
    np.testing.assert_allclose(restored.predict_proba(X), pipeline.predict_proba(X), rtol=0, atol=1e-12)
    to_sql(pipeline)


def test_what_the_pipeline_would_refuse_is_refused(people, tmp_path):
    frame, y = people
    whole = frame.dropna()
    encoder = ColumnTransformer([("site", OneHotEncoder(drop="first"), ["site"]), ("dose", "passthrough", ["dose"])])
    pipeline = make_pipeline(encoder, LinearDiscriminantAnalysis()).fit(whole, y[whole.index])
    restored = load(save(pipeline, tmp_path / "model.disc"))
    np.testing.assert_allclose(restored.predict_proba(whole), pipeline.predict_proba(whole), atol=1e-12)
    with pytest.raises(DataError, match=r"'site' .*'elsewhere', not seen"):
        restored.predict(whole.assign(site="elsewhere"))
    with pytest.raises(DataError, match=r"'dose' .*300 missing values|'dose' .*missing value"):
        restored.predict(whole.assign(dose=np.nan))


def test_steps_that_are_not_known_are_named(people, tmp_path):
    frame, y = people
    numbers = frame[["dose", "rooms"]]
    pipeline = make_pipeline(PolynomialFeatures(), LogisticRegression()).fit(numbers, y)
    with pytest.raises(DataError, match=r"'polynomialfeatures'.*PolynomialFeatures.*Known steps"):
        save(pipeline, tmp_path / "model.disc")
    assert not list(tmp_path.iterdir())


def test_the_command_line_reads_it(people, tmp_path):
    frame, y = people
    pipeline = Pipeline([("columns", mixed(handle_unknown="ignore")), ("model", LogisticRegression())]).fit(frame, y)
    save(pipeline, tmp_path / "model.disc")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    out = tmp_path / "out.csv"
    assert main(["predict", str(tmp_path / "model.disc"), str(tmp_path / "rows.csv"), "--out", str(out)]) == 0
    assert (pd.read_csv(out)["prediction"] == pipeline.predict(frame)).all()


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite", "postgresql", "bigquery"])
def test_a_query_adds_probabilities_by_name_and_nothing_else(people, dialect):
    frame, y = people
    labels = np.char.add(y.astype(str), " it's")
    model = LinearDiscriminantAnalysis().fit(frame[["dose", "rooms"]], labels)
    query = to_sql(model, table="frame", dialect=dialect)
    for label in model.classes_:
        quote = "`" if dialect == "bigquery" else '"'
        assert f"{quote}probability_{label}{quote}" in query
    if dialect == "sqlite":
        import sqlite3

        connection = sqlite3.connect(":memory:")
        frame.to_sql("frame", connection, index=False)
        found = pd.read_sql_query(query, connection)
    elif dialect == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        found = duckdb.connect().register("frame", frame).execute(query).df()
    else:
        return
    named = [f"probability_{label}" for label in model.classes_]
    assert found.columns.tolist() == [*frame.columns, *named, "prediction"]
    np.testing.assert_allclose(found[named], model.predict_proba(frame[["dose", "rooms"]]), atol=1e-12)
    assert (found["prediction"] == model.predict(frame[["dose", "rooms"]])).all()
