"""Exports agree with the model in the engines that are there, on near, far and hostile rows and with hostile names."""

from __future__ import annotations

import json
import shutil
import subprocess

import numpy as np
import pytest

import discriminant
from discriminant import datasets, to_c, to_json, to_onnx, to_sql
from discriminant.errors import DataError, ParameterError
from discriminant.io.c import run_library
from discriminant.io.json_ import from_json
from discriminant.io.program import edge_points, program
from discriminant.io.sql import DIALECTS, run_duckdb, run_sqlite, select

penguins = datasets.load("penguins")
two = penguins.y != "Gentoo"
X, y = penguins.X, penguins.y


def models():
    costs = np.array([[0, 5, 1], [1, 0, 1], [4, 2, 0]])
    return {
        "lda": discriminant.LinearDiscriminantAnalysis().fit(X, y),
        "lda of two": discriminant.LinearDiscriminantAnalysis().fit(X[two], y[two]),
        "integer labels": discriminant.LinearDiscriminantAnalysis().fit(
            X, np.unique(y, return_inverse=True)[1] * 7 - 3
        ),
        "qda": discriminant.QuadraticDiscriminantAnalysis().fit(X, y),
        "fisher": discriminant.FisherDiscriminant().fit(X, y),
        "least squares": discriminant.LeastSquaresClassifier().fit(X, y),
        "pairwise votes": discriminant.LeastSquaresClassifier(coding="pairwise").fit(X, y),
        "unanimous": discriminant.LeastSquaresClassifier(coding="one-vs-rest", decoder="unanimous").fit(X, y),
        "softmax": discriminant.LogisticRegression().fit(X, y),
        "sigmoid": discriminant.LogisticRegression().fit(X[two], y[two]),
        "minimum risk": discriminant.MinimumRiskClassifier(costs=costs, reject_cost=0.4, priors=[0.2, 0.3, 0.5]).fit(
            X, y
        ),
        "far from zero": discriminant.LinearDiscriminantAnalysis().fit(X + 1e6, y),
    }


MODELS = models()


def rows(model, count=10_000):
    found = program(model)
    return found, np.vstack([edge_points(found, count), X + (1e6 if found.center.min() > 1e5 else 0)])


@pytest.mark.parametrize("name", MODELS)
def test_the_program_is_the_model(name):
    model = MODELS[name]
    found, Z = rows(model)
    positions, _, chances = found.evaluate(Z)
    expected = model.predict(Z)
    labels = np.array(found.labels, dtype=object)[positions]
    if found.decoder != "unanimous":  # the estimator decides by the maximum there; the program may reject
        assert (labels != expected).mean() < 1e-3
    if chances is not None:
        np.testing.assert_allclose(chances, model.predict_proba(Z), atol=1e-11)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("name", MODELS)
def test_c(name, tmp_path):
    model = MODELS[name]
    found, Z = rows(model)
    to_c(model, tmp_path / "model.c", name="penguin")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "model.c", "-o", "model.so", "-lm"], cwd=tmp_path, check=True)
    positions, chances = run_library(tmp_path / "model.so", "penguin", Z, len(found.classes))
    expected, _, truth = found.evaluate(Z)
    assert (positions != expected).mean() < 1e-3
    if truth is not None:
        np.testing.assert_allclose(chances, truth, atol=1e-12)


@pytest.mark.parametrize("run", [run_sqlite, run_duckdb], ids=["sqlite", "duckdb"])
@pytest.mark.parametrize("name", MODELS)
def test_sql(name, run):
    found, Z = rows(MODELS[name], 1_000)
    answer = run(found, Z)
    if answer is None:
        pytest.skip(reason="the engine is not there")
    expected, _, truth = found.evaluate(Z)
    assert (answer[0] != expected).mean() < 1e-3
    if truth is not None:
        np.testing.assert_allclose(answer[1], truth, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", MODELS)
def test_onnx(name, dtype, tmp_path):
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    from discriminant.io.onnx import run_onnx

    found, Z = rows(MODELS[name])
    Z = Z.astype(dtype)
    data = to_onnx(MODELS[name], tmp_path / "model.onnx", dtype=dtype)
    assert (tmp_path / "model.onnx").read_bytes() == data
    positions, chances = run_onnx(found, data, Z)
    expected, _, truth = found.evaluate(Z.astype(np.float64))
    assert (positions != expected).mean() < 1e-3
    if truth is not None:
        np.testing.assert_allclose(chances, truth, atol=1e-12 if dtype == "float64" else 1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_json(name):
    found, Z = rows(MODELS[name])
    again = from_json(to_json(MODELS[name]))
    np.testing.assert_array_equal(again.evaluate(Z)[0], found.evaluate(Z)[0])
    assert json.loads(to_json(MODELS[name]))["features"] == list(found.features)


def test_nothing_in_a_name_can_end_a_string():
    pandas = pytest.importorskip("pandas")
    hostile = ['a"; DROP TABLE data; --', "b'c", "x]y", "ü -- */ /*"]
    labels = np.array(["it's", 'say "hi"; --', "\\'"])[np.unique(y, return_inverse=True)[1]]
    model = discriminant.LinearDiscriminantAnalysis().fit(pandas.DataFrame(X, columns=hostile), labels)
    found, Z = rows(model, 100)
    expected = found.evaluate(Z)[0]
    np.testing.assert_array_equal(run_sqlite(found, Z)[0], expected)
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
    with pytest.raises(ParameterError, match="float32 or float64"):
        to_onnx(MODELS["lda"], dtype="int8")
    with pytest.raises(DataError, match="nothing to export"):
        to_json(discriminant.LinearDiscriminantAnalysis())


def test_a_wrong_export_is_refused(monkeypatch):
    from discriminant.io import sql

    original = sql._Writer.scores
    monkeypatch.setattr(sql._Writer, "scores", lambda self: [(c, f"1.001 * ({e})") for c, e in original(self)])
    with pytest.raises(DataError, match="The export was refused"):
        to_sql(MODELS["lda"], dialect="sqlite")
