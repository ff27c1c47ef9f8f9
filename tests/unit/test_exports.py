"""Exports agree with the model in the engines that are there, on near, far and hostile rows and with hostile names."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

import discriminant
from discriminant import datasets, to_c, to_json, to_onnx, to_sql
from discriminant.data.files import read_table
from discriminant.data.preprocess import Preprocess
from discriminant.errors import DataError, ParameterError
from discriminant.io.c import run_library, run_rows
from discriminant.io.json_ import from_json
from discriminant.io.program import edge_points, edge_table, program, tied
from discriminant.io.sql import DIALECTS, run_duckdb, run_sqlite, select
from discriminant.io.table_model import TableModel

POINTS = 10_000  # near, far, on boundaries, at zero: see edge_points
penguins = datasets.load("penguins")
two = penguins.y != "Gentoo"
X, y = penguins.X, penguins.y


def table_model(inner, costs=None, standardize=False):
    """As the command line fits it: categories, missing values, and levels that share a column."""
    table = read_table("penguins", text_columns=["species", "island", "sex"])
    rules = Preprocess.fit(table, "species", standardize=standardize)
    labels, rows = table.labels("species")
    return TableModel(rules, inner.fit(rules.matrix(table)[0][rows], labels), "species", "", {}, costs)


def models():
    d = discriminant
    costs = np.array([[0, 5, 1], [1, 0, 1], [4, 2, 0]], dtype=float)
    whole = np.unique(y, return_inverse=True)[1] * 7 - 3
    risk = {"costs": costs, "reject_cost": 0.4, "priors": [0.2, 0.3, 0.5]}
    ridge = d.penalties.Ridge(0.01)  # classes are separable: without a penalty there is no minimum
    pairs = {"criterion": "logistic", "coding": "pairwise", "penalty": ridge}
    rest = {"criterion": "logistic", "coding": "one-vs-rest", "penalty": ridge}
    return {
        "lda": d.LinearDiscriminantAnalysis().fit(X, y),
        "lda of two": d.LinearDiscriminantAnalysis().fit(X[two], y[two]),
        "integer labels": d.LinearDiscriminantAnalysis().fit(X, whole),
        "qda": d.QuadraticDiscriminantAnalysis().fit(X, y),
        "qda of two": d.QuadraticDiscriminantAnalysis().fit(X[two], y[two]),
        "fisher": d.FisherDiscriminant().fit(X, y),
        "least squares": d.LeastSquaresClassifier().fit(X, y),
        "pairwise votes": d.LeastSquaresClassifier(coding="pairwise").fit(X, y),
        "pairwise": d.Discriminant(**pairs).fit(X, y),
        "pairwise of two": d.Discriminant(**pairs).fit(X[two], y[two]),
        "unanimous": d.LeastSquaresClassifier(coding="one-vs-rest", decoder="unanimous").fit(X, y),
        "unanimous or reject": d.Discriminant(**rest, decoder="unanimous").fit(X, y),
        "unanimous pairs": d.Discriminant(**pairs, decoder="unanimous", reject_label="none").fit(X, y),
        "softmax": d.LogisticRegression().fit(X, y),
        "sigmoid": d.LogisticRegression().fit(X[two], y[two]),
        "one against the rest": d.Discriminant(**rest).fit(X, y),
        "sigmoid regression": d.SigmoidRegressionClassifier().fit(X, y),
        "minimum risk": d.MinimumRiskClassifier(**risk).fit(X, y),
        "minimum risk of pairs": d.MinimumRiskClassifier(d.Discriminant(**pairs), **risk).fit(X, y),
        "reject": d.MinimumRiskClassifier(d.LogisticRegression(), reject_cost=0.1).fit(X, whole),
        "far from zero": d.LinearDiscriminantAnalysis().fit(X + 1e6, y),
        "table, lda": table_model(d.LinearDiscriminantAnalysis()),
        "table, qda and costs": table_model(d.QuadraticDiscriminantAnalysis(reg_param=0.1), costs),
        "table, logistic": table_model(d.LogisticRegression(), standardize=True),
        "table, pairwise": table_model(d.Discriminant(**pairs)),
    }


MODELS = models()


def points(model, dtype="float64"):
    """(the program, what the engine is given, the features, what the model answers: labels and probabilities)."""
    found = program(model)
    if found.columns:
        given, features = edge_table(found, POINTS, dtype)
        labels = model.predict(given)
        return found, given, features, labels, model.predict_proba(given)
    Z = np.vstack([edge_points(found, POINTS), X + (1e6 if found.center.min() > 1e5 else 0)]).astype(dtype)
    wide = Z.astype(np.float64)
    chances = model.predict_proba(wide) if hasattr(model, "predict_proba") else None
    return found, Z, wide, model.predict(wide), chances


def same(found, features, positions, chances, labels, truth, tolerance):
    """Probabilities to the tolerance; decisions too, but for rows on a boundary, where the last bit decides."""
    assert len(features) >= POINTS
    assert (chances is None) == (truth is None)
    if truth is not None:
        np.testing.assert_allclose(chances, truth, rtol=0, atol=tolerance)
    got = np.array([str(found.labels[int(k)]) for k in positions])
    differ = got != np.array([str(label) for label in labels.tolist()])
    _, g, p = found.evaluate(features)
    assert tied(found, features[differ], g[differ], p if p is None else p[differ], tolerance).all()
    assert differ.mean() < 0.1


@pytest.mark.parametrize("name", MODELS)
def test_the_program_is_the_model(name):
    found, _, features, labels, truth = points(MODELS[name])
    positions, _, chances = found.evaluate(features)
    same(found, features, positions, chances, labels, truth, 1e-12)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("name", MODELS)
def test_c(name, tmp_path):
    found, given, features, labels, truth = points(MODELS[name])
    to_c(MODELS[name], tmp_path / "model.c", name="penguin")
    strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"]
    build = ["cc", "-O2", *strict, "-shared", "-fPIC", "model.c", "-o", "model.so", "-lm"]
    subprocess.run(build, cwd=tmp_path, check=True)
    library = tmp_path / "model.so"
    if found.columns:
        positions, chances = run_rows(library, "penguin", found, given)
    else:
        positions, chances = run_library(library, "penguin", given, len(found.classes))
    same(found, features, positions, None if truth is None else chances, labels, truth, 1e-12)


@pytest.mark.parametrize("run", [run_sqlite, run_duckdb], ids=["sqlite", "duckdb"])
@pytest.mark.parametrize("name", MODELS)
def test_sql(name, run):
    found, given, features, labels, truth = points(MODELS[name])
    answer = run(found, given)
    if answer is None:
        pytest.skip(reason="the engine is not there")
    same(found, features, *answer, labels, truth, 1e-12)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", MODELS)
def test_every_dialect_is_one_statement_of_its_language(name, dialect):
    sqlglot = pytest.importorskip("sqlglot")
    text = to_sql(MODELS[name], dialect=dialect)
    [tree] = sqlglot.parse(text, read={"postgresql": "postgres"}.get(dialect, dialect))
    assert isinstance(tree, sqlglot.exp.Select)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", MODELS)
def test_onnx(name, dtype, tmp_path):
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    from discriminant.io.onnx import run_onnx

    found, given, features, labels, truth = points(MODELS[name], dtype)
    data = to_onnx(MODELS[name], tmp_path / "model.onnx", dtype=dtype)
    assert (tmp_path / "model.onnx").read_bytes() == data
    same(found, features, *run_onnx(found, data, given), labels, truth, 1e-12 if dtype == "float64" else 1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_json(name):
    found, _, features, labels, truth = points(MODELS[name])
    again = from_json(to_json(MODELS[name]))
    assert again.columns == tuple(rule for rule in found.columns)
    positions, _, chances = again.evaluate(features)
    same(found, features, positions, chances, labels, truth, 1e-12)
    assert json.loads(to_json(MODELS[name]))["features"] == list(found.features)


@pytest.mark.parametrize("inner", [False, True])
def test_a_c_file_begins_with_how_it_is_called(inner):
    model = table_model(discriminant.LinearDiscriminantAnalysis()) if inner else MODELS["lda"]
    head, rest = to_c(model, name="penguin").split("*/", 1)
    entries = ["int penguin_predict(const double *x"] + ["int penguin_predict_row(const double *numbers"] * inner
    assert all(entry in head and entry in rest for entry in entries)
    assert ("predict_row" in head) == inner
    assert "-1 where there is no answer" in head


def test_nothing_in_a_name_can_end_a_string():
    pandas = pytest.importorskip("pandas")
    hostile = ['a"; DROP TABLE data; --', "b'c", "x]y", "ü -- */ /*"]
    labels = np.array(["it's", 'say "hi"; --', "\\'"])[np.unique(y, return_inverse=True)[1]]
    model = discriminant.LinearDiscriminantAnalysis().fit(pandas.DataFrame(X, columns=hostile), labels)
    found = program(model)
    Z = X[::3]
    expected = found.evaluate(Z)[0]
    for run in (run_sqlite, run_duckdb):
        answer = run(found, Z)
        assert answer is None or answer[0].tolist() == expected.tolist()
    for dialect in ("sqlite", "duckdb", "postgresql", "tsql", "bigquery"):
        assert "prediction" in to_sql(model, dialect=dialect)
    assert "DROP TABLE" in to_c(model)  # inside a string, which the compiler has read
    with pytest.raises(DataError, match="BigQuery"):
        select(
            program(
                discriminant.LinearDiscriminantAnalysis().fit(pandas.DataFrame(X, columns=["`", "b", "c", "d"]), y)
            ),
            "data",
            DIALECTS["bigquery"],
        )


HOSTILE = ['a"; DROP TABLE data; --', "b'c' OR 1=1 --", "x]y", "ü -- */ /*", "?%s{0}??/", "label"]
LEVELS = [
    "'; DELETE FROM data; --",
    "\\'; --",
    'say "hi" $(reboot)',
    "a",
    "A",
    "a ",
    "日本 😀",
    "--",
    "/*",
    "*/",
    "%d%n",
]


def test_hostile_names_and_levels_of_a_table_are_only_names():
    """Levels that differ by case stay apart, by blanks around them not; every engine gives the model's own answers."""
    rng = np.random.default_rng(0)
    table = {name: rng.normal(size=220).tolist() for name in HOSTILE[1:]}
    table[HOSTILE[0]] = [LEVELS[k % len(LEVELS)] for k in range(220)]
    target = np.array(["it's", 'say "hi"; --', "\\'"])[rng.integers(0, 3, 220)]
    from discriminant.data.files import read_frame

    rules = Preprocess.fit(read_frame(table))
    inner = discriminant.LinearDiscriminantAnalysis().fit(rules.matrix(read_frame(table))[0], target)
    model = TableModel(rules, inner)
    found = program(model)
    given, _ = edge_table(found, 400)
    given[HOSTILE[0]] = [f" {text} " if k % 3 == 0 and text else text for k, text in enumerate(given[HOSTILE[0]])]
    truth = model.predict_proba(given)
    for run in (run_sqlite, run_duckdb):
        answer = run(found, given)
        assert answer is None or np.abs(answer[1] - truth).max() < 1e-12
    for dialect in ("sqlite", "duckdb", "postgresql", "tsql", "bigquery"):
        text = to_sql(model, dialect=dialect)
        sqlglot = pytest.importorskip("sqlglot")
        [tree] = sqlglot.parse(text, read={"postgresql": "postgres"}.get(dialect, dialect))
        written = {node.this for node in tree.find_all(sqlglot.exp.Literal, sqlglot.exp.National) if node.is_string}
        written |= {node.name for node in tree.find_all(sqlglot.exp.National, sqlglot.exp.ByteString)}
        mark = "|" if dialect == "tsql" else ""
        assert {level.strip() + mark for level in LEVELS} | set(target) <= written
        assert set(HOSTILE) <= {node.name for node in tree.find_all(sqlglot.exp.Column)}
    to_c(model)
    pytest.importorskip("onnxruntime")
    from discriminant.io.onnx import run_onnx

    given[HOSTILE[0]] = [text and text.strip() for text in given[HOSTILE[0]]]  # a graph cannot take blanks away
    assert np.abs(run_onnx(found, to_onnx(model), given)[1] - truth).max() < 1e-12


def test_many_pairs_are_coupled_alike_everywhere():
    rng = np.random.default_rng(0)
    labels = np.arange(240) % 6
    rows = rng.normal(size=(240, 3)) + np.eye(6, 3)[labels]
    model = discriminant.Discriminant(criterion="logistic", coding="pairwise").fit(rows, labels)
    found = program(model)
    Z = edge_points(found, 1000)
    truth = model.predict_proba(Z)
    for run in (run_sqlite, run_duckdb):
        answer = run(found, Z)
        assert answer is None or np.abs(answer[1] - truth).max() < 1e-12
    to_c(model)
    to_onnx(model)
    with pytest.raises(DataError, match="too long for a query"):
        to_sql(model, dialect="bigquery")


@pytest.mark.parametrize("name", ["lda", "minimum risk", "unanimous or reject", "pairwise"])
def test_numbers_that_are_none_get_no_answer(name):
    """NaN is the largest number to DuckDB; a row that holds it, or infinity, has no class there either."""
    duckdb = pytest.importorskip("duckdb")
    text = to_sql(MODELS[name])
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE data (x0 DOUBLE, x1 DOUBLE, x2 DOUBLE, x3 DOUBLE)")
        for word in ("NaN", "Infinity", "-Infinity"):
            connection.execute(f"INSERT INTO data VALUES ('{word}', 1, 2, 3), (1, 2, 3, '{word}'), (NULL, 1, 1, 1)")
        assert {row[-1] for row in connection.execute(text).fetchall()} == {None}


def test_labels_that_an_engine_would_change_are_refused_or_text():
    huge = np.array([0, 2**63, 2**64 - 1], dtype=np.uint64)[np.unique(y, return_inverse=True)[1]]
    model = discriminant.LinearDiscriminantAnalysis().fit(X, huge)
    with pytest.raises(DataError, match="64 bits"):
        to_sql(model)
    pytest.importorskip("onnxruntime")
    to_onnx(model)  # as text
    zero = np.array(["a", "a\0b", "c"])[np.unique(y, return_inverse=True)[1]]
    with pytest.raises(DataError, match="zero byte"):
        to_c(discriminant.LinearDiscriminantAnalysis().fit(X, zero))


def test_missing_values_stay_missing():
    import sqlite3

    text = to_sql(MODELS["lda"], dialect="sqlite", table="birds")
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE birds (x0 REAL, x1 REAL, x2 REAL, x3 REAL)")
    connection.execute("INSERT INTO birds VALUES (1, NULL, 3, 4)")
    assert connection.execute(text).fetchall()[0][-1] is None
    connection.close()


def test_refusals_are_sentences():
    with pytest.raises(ParameterError, match="dialect"):
        to_sql(MODELS["lda"], dialect="oracle")
    with pytest.raises(ParameterError, match="name"):
        to_c(MODELS["lda"], name="a b")
    with pytest.raises(ParameterError, match="'float32' and 'float64'"):
        to_onnx(MODELS["lda"], dtype="int8")
    with pytest.raises(DataError, match="nothing to export"):
        to_json(discriminant.LinearDiscriminantAnalysis())


def test_a_wrong_export_is_refused(monkeypatch):
    from discriminant.io import sql

    moved = replace(program(MODELS["lda"]), weights=1.001 * MODELS["lda"].discriminant_.weights)
    monkeypatch.setattr(sql, "select", lambda found, *rest: select(moved, *rest))
    with pytest.raises(DataError, match="The export was refused"):
        to_sql(MODELS["lda"], dialect="sqlite")
