"""Pipelines of scikit-learn in model files and exports: the answers are those of the pipeline."""

from __future__ import annotations

import shutil
import subprocess

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
    SplineTransformer,
    StandardScaler,
)

from discriminant import LinearDiscriminantAnalysis, LogisticRegression, bases, load, save
from discriminant.cli import main
from discriminant.errors import DataError
from discriminant.io import to_c, to_json, to_onnx, to_sql
from discriminant.io.c import run_rows
from discriminant.io.json_ import from_json
from discriminant.io.program import program


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


@pytest.mark.parametrize("chosen", [[("a", [2]), ("b", [0])], [("a", [1, 0]), ("b", [2])], [("a", slice(1, 3))]])
def test_columns_of_an_array_are_known_by_their_order(chosen, tmp_path):
    """Whatever order the steps take them in, and where some are taken by none."""
    rng = np.random.default_rng(1)
    X = rng.normal(5, [1, 10, 100], size=(80, 3))
    y = (X[:, 0] + X[:, 1] / 10 + X[:, 2] / 100 + rng.normal(size=80) > 5.5).astype(int)
    columns = ColumnTransformer([(name, StandardScaler(), places) for name, places in chosen])
    pipeline = make_pipeline(columns, LogisticRegression()).fit(X, y)
    restored = load(save(pipeline, tmp_path / "model.disc"))
    np.testing.assert_allclose(restored.predict_proba(X), pipeline.predict_proba(X), rtol=0, atol=1e-12)


def test_a_union_and_nested_transformers_know_their_columns(people, tmp_path):
    frame, y = people
    numbers = make_pipeline(SimpleImputer(), MinMaxScaler())
    inner = ColumnTransformer([("numbers", numbers, ["age"]), ("words", OneHotEncoder(min_frequency=50), ["site"])])
    union = FeatureUnion(
        [
            ("own", ColumnTransformer([("in", inner, ["age", "site"]), ("rooms", "passthrough", ["rooms"])])),
            ("curved", ColumnTransformer([("dose", bases.Radial(3, random_state=0), ["dose"])])),
        ]
    )
    _answers_everywhere(make_pipeline(union, LogisticRegression()).fit(frame, y), frame, tmp_path)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_categories_of_other_types_are_told_in_sql(people, dialect):
    """An engine writes True as 'true' or '1', and 2 of a column of floats as '2.0'."""
    frame, y = people
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"flag": frame.dose > 3, "grade": rng.choice([1.0, 2.0, 3.0], len(frame)), "age": frame.age})
    table["word"] = np.where(frame["size"] == "s", "TRUE", "FALSE")
    table["age"] = table.age.fillna(40.0)
    known = OneHotEncoder(handle_unknown="ignore")
    columns = ColumnTransformer([("k", known, ["flag", "grade", "word"]), ("age", StandardScaler(), ["age"])])
    pipeline = make_pipeline(columns, LogisticRegression()).fit(table, y)
    query = to_sql(pipeline, table="people", dialect=dialect)
    if dialect == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        engine = duckdb.connect().register("raw", table.assign(word=table.word == "TRUE"))  # as its CSV reader has it
        engine.execute("CREATE TABLE people AS SELECT * FROM raw")
        found = engine.execute(query).df()
    else:
        import sqlite3

        connection = sqlite3.connect(":memory:")
        table.to_sql("people", connection, index=False)
        found = pd.read_sql_query(query, connection)
    chances = found[[f"probability_{label}" for label in pipeline.classes_]].to_numpy()
    np.testing.assert_allclose(chances, pipeline.predict_proba(table), rtol=0, atol=1e-12)


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


CURVED = [
    [PolynomialFeatures(2)],
    [StandardScaler(), bases.Polynomial(2), StandardScaler()],
    [bases.Log().on(0) + bases.Polynomial(2, interaction_only=True)],
    [StandardScaler(), bases.Radial(4, random_state=0)],
    [StandardScaler(), bases.HalfPlane(5, random_state=0)],
    [StandardScaler(), bases.LowRankQuadratic(2), MinMaxScaler(), bases.Sine()],
    [PolynomialFeatures(2), bases.LowRankQuadratic(1)],
    [FeatureUnion([("step", bases.Step(3)), ("bumps", bases.Gaussian(3)), ("own", "passthrough")])],
    [SimpleImputer(), PolynomialFeatures(2, include_bias=False)],
]


@pytest.mark.parametrize("steps", CURVED, ids=lambda steps: "-".join(type(one).__name__ for one in steps))
def test_a_basis_as_a_step(steps, tmp_path):
    rng = np.random.default_rng(2)
    X = rng.uniform(1, 6, size=(150, 3))
    y = np.array(["no", "yes"])[((X[:, 0] - 3) ** 2 + X[:, 1] + rng.normal(size=150) > 5).astype(int)]
    X[5, 1] = np.nan if isinstance(steps[0], SimpleImputer) else X[5, 1]
    pipeline = make_pipeline(*steps, LogisticRegression(C=0.5)).fit(X, y)
    _answers_everywhere(pipeline, X, tmp_path)


@pytest.mark.parametrize("basis", ["quadratic", bases.Log().on("dose") + bases.Linear()])
def test_a_basis_of_the_last_step(people, basis, tmp_path):
    frame, y = people
    numbers = frame[["age", "dose", "rooms"]].abs()
    steps = make_pipeline(SimpleImputer(), MinMaxScaler((1, 2))).set_output(transform="pandas")
    pipeline = make_pipeline(steps, LogisticRegression(basis=basis)).fit(numbers, y)
    _answers_everywhere(pipeline, numbers, tmp_path)


def test_interactions_of_categories_and_numbers(people, tmp_path):
    frame, y = people
    columns = mixed(handle_unknown="ignore")
    pipeline = make_pipeline(columns, bases.Polynomial(2, interaction_only=True), LogisticRegression()).fit(frame, y)
    _answers_everywhere(pipeline, frame.assign(site=frame.site.where(frame.index != 3, "elsewhere")), tmp_path)


def _answers_everywhere(pipeline, X, tmp_path):
    expected = pipeline.predict_proba(X)
    restored = load(save(pipeline, tmp_path / "model.disc"))
    np.testing.assert_allclose(restored.predict_proba(X), expected, rtol=0, atol=1e-11)
    program = from_json(to_json(pipeline))
    rows = restored.matrix(X)[0]
    np.testing.assert_allclose(program.evaluate(rows)[2], expected, rtol=0, atol=1e-11)
    to_sql(pipeline)  # each is run and compared with the program before it is handed out
    to_c(pipeline)
    to_onnx(pipeline)


def test_steps_that_are_not_known_are_named(people, tmp_path):
    frame, y = people
    numbers = frame[["dose", "rooms"]]
    pipeline = make_pipeline(SplineTransformer(), LogisticRegression()).fit(numbers, y)
    with pytest.raises(DataError, match=r"'splinetransformer'.*SplineTransformer.*Known steps"):
        save(pipeline, tmp_path / "model.disc")
    pipeline = make_pipeline(bases.Functions({"sum": _sums}), LogisticRegression()).fit(numbers, y)
    with pytest.raises(DataError, match="holds functions"):
        save(pipeline, tmp_path / "model.disc")
    assert not list(tmp_path.iterdir())


def _sums(X):
    return X.sum(axis=1)


def test_exports_do_not_answer_where_predict_refuses(people, tmp_path):
    frame, y = people
    whole = frame.dropna()[["dose", "site"]]
    model = LogisticRegression().fit(whole, y[whole.index])
    odd = whole[:4].assign(site=["a", "elsewhere", "b", None], dose=[1.0, 1.0, np.nan, 1.0])
    for rows in (odd[1:2], odd[2:3], odd[3:4]):
        with pytest.raises((DataError, ValueError)):
            model.predict(rows)
    import sqlite3

    connection = sqlite3.connect(":memory:")
    odd.to_sql("odd", connection, index=False)
    found = pd.read_sql_query(to_sql(model, table="odd", dialect="sqlite"), connection)
    assert found["prediction"].notna().tolist() == [True, False, False, False]
    assert found["prediction"][0] == model.predict(odd[:1])[0]
    rules = from_json(to_json(model)).columns
    assert all(np.isnan(rule.fill) or np.isnan(rule.shares).all() for rule in rules)
    source = tmp_path / "model.c"
    to_c(model, source)
    if shutil.which("cc"):
        library = tmp_path / "model.so"
        subprocess.run(["cc", "-shared", "-fPIC", str(source), "-o", str(library), "-lm"], check=True)
        table = {name: odd[name].astype(object).where(odd[name].notna(), None).tolist() for name in odd}
        positions, _ = run_rows(library, "discriminant", program(model), table)
        assert positions.tolist() == [model.classes_.tolist().index(found["prediction"][0]), -1, -1, -1]


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
