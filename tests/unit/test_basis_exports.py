"""Models with a basis: the formulas of their features are in every export, which answers as the model does."""

from __future__ import annotations

import json
import shutil
import subprocess

import numpy as np
import pytest

import discriminant
from discriminant import bases, datasets, to_c, to_json, to_onnx, to_sql
from discriminant.data.files import read_table
from discriminant.data.preprocess import Preprocess
from discriminant.errors import DataError
from discriminant.io.c import run_library
from discriminant.io.json_ import from_json
from discriminant.io.program import edge_points, edge_table, program
from discriminant.io.sql import DIALECTS, run_duckdb, run_sqlite
from discriminant.io.table_model import TableModel

iris = datasets.load("iris")
X, y = iris.X - np.array([5.8, 3.0, 3.8, 1.2]), iris.y
two = y != "setosa"
BASES = {
    "polynomial": bases.Polynomial(2),
    "interactions": bases.Polynomial(3, interaction_only=True),
    "low rank": bases.LowRankQuadratic(2),
    "radial": bases.Radial(6, random_state=0),
    "distances": bases.Distances(4, random_state=0),
    "half-planes": bases.HalfPlane(8, random_state=0),
    "wiring": bases.Wiring(12, 3, "median", random_state=0),
    "steps": bases.Step(3),
    "bumps": bases.Gaussian(3),
    "waves": bases.Sine((1.0, 2.5), phase=0.3),
    "logarithms": bases.Log(offset=5.0) + bases.Linear(),
    "chosen columns": bases.Polynomial(2).on(2, 0) + bases.Step((0.5,)).on(3) + bases.Radial(3, random_state=1).on(1),
}


def fitted():
    d = discriminant
    models = {name: d.LogisticRegression(basis=basis).fit(X, y) for name, basis in BASES.items()}
    costs = np.array([[0, 5, 1], [1, 0, 1], [4, 2, 0]], dtype=float)
    square = bases.Polynomial(2)
    return models | {
        "two classes": d.LogisticRegression(basis=square).fit(X[two], y[two]),
        "lda": d.LinearDiscriminantAnalysis(basis=square).fit(X, y),
        "qda": d.QuadraticDiscriminantAnalysis(basis=bases.Linear() + bases.Sine(), reg_param=0.1).fit(X, y),
        "least squares": d.LeastSquaresClassifier(basis="quadratic").fit(X, y),
        "minimum risk": d.MinimumRiskClassifier(d.LogisticRegression(basis=square), costs=costs).fit(X, y),
    }


MODELS = fitted()


def rows_of(name):
    """Rows of the data, and those on which exports are compared that the model itself takes."""
    found = program(MODELS[name])
    edges = edge_points(found)
    assert len(edges) >= 200
    return found, np.vstack([X, edges[np.abs(edges).max(axis=1) < 20]])


def same(name, Z, found, positions, chances, tolerance=1e-12):
    model = MODELS[name]
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(chances, model.predict_proba(Z), rtol=0, atol=tolerance)
    labels = np.array(found.labels)[positions]
    data = slice(0, len(X))  # the others lie on boundaries, where the last bit decides
    assert labels[data].tolist() == model.predict(Z)[data].tolist()


@pytest.mark.parametrize("name", MODELS)
def test_the_program_is_the_model(name):
    found, Z = rows_of(name)
    positions, _, chances = found.evaluate(Z)
    same(name, Z, found, positions, chances)
    assert found.features == ("x0", "x1", "x2", "x3")


@pytest.mark.parametrize("run", [run_sqlite, run_duckdb], ids=["sqlite", "duckdb"])
@pytest.mark.parametrize("name", MODELS)
def test_sql(name, run):
    found, Z = rows_of(name)
    answer = run(found, Z)
    if answer is None:
        pytest.skip(reason="the engine is not there")
    same(name, Z, found, *answer)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", ["polynomial", "half-planes", "logarithms", "waves"])
def test_every_dialect(name, dialect):
    assert "prediction" in to_sql(MODELS[name], dialect=dialect)  # read back by sqlglot where that is there


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("name", MODELS)
def test_c(name, tmp_path):
    found, Z = rows_of(name)
    to_c(MODELS[name], tmp_path / "model.c")
    strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"]
    build = ["cc", "-O2", *strict, "-shared", "-fPIC", "model.c", "-o", "model.so", "-lm"]
    subprocess.run(build, cwd=tmp_path, check=True)
    same(name, Z, found, *run_library(tmp_path / "model.so", "discriminant", Z, len(found.classes)))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", MODELS)
def test_onnx(name, dtype):
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    from discriminant.io.onnx import run_onnx

    found, Z = rows_of(name)
    data = to_onnx(MODELS[name], dtype=dtype)
    if dtype == "float64":
        same(name, Z, found, *run_onnx(found, data, Z))
    else:
        Z = X.astype(np.float32)
        same(name, Z.astype(np.float64), found, *run_onnx(found, data, Z), 1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_json_and_scorer(name):
    found, Z = rows_of(name)
    text = to_json(MODELS[name])
    again = from_json(text)
    assert again.basis == found.basis
    positions, _, chances = again.evaluate(Z)
    same(name, Z, found, positions, chances)
    assert len(json.loads(text)["basis"]) == len(found.center)
    score = discriminant.scorer(MODELS[name])
    if hasattr(MODELS[name], "predict_proba"):
        np.testing.assert_allclose(score(X[3]), MODELS[name].predict_proba(X[3:4])[0], rtol=0, atol=1e-12)
    for bad in (np.nan, np.inf):
        with pytest.raises(DataError, match="'x1'"):
            score([0.0, bad, 0.0, 0.0])


@pytest.mark.parametrize("name", ["polynomial", "steps", "radial", "waves", "logarithms"])
def test_rows_that_are_not_finite_get_no_answer_in_sql(name):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE data (x0 DOUBLE, x1 DOUBLE, x2 DOUBLE, x3 DOUBLE)")
        for word in ("NaN", "Infinity", "-Infinity"):
            connection.execute(f"INSERT INTO data VALUES ('{word}', 1, 2, 3), (1, 2, 3, '{word}'), (NULL, 1, 1, 1)")
        assert {row[-1] for row in connection.execute(to_sql(MODELS[name])).fetchall()} == {None}


def test_columns_keep_their_names_and_units():
    pandas = pytest.importorskip("pandas")
    penguins = datasets.load("penguins")
    frame = pandas.DataFrame(penguins.X, columns=["length", "depth", "flipper", 'mass "g"'])
    model = discriminant.LinearDiscriminantAnalysis(basis=bases.Polynomial(2)).fit(frame, penguins.y)
    found = program(model)
    assert found.features == tuple(frame.columns)
    for write in (to_sql, to_c, to_json, to_onnx):
        assert write(model)
    answer = run_sqlite(found, penguins.X)
    np.testing.assert_allclose(answer[1], model.predict_proba(frame), rtol=0, atol=1e-8)  # squares of 5,000 g cancel


def test_tables_with_categories_and_missing_values():
    """As the command line fits them: the indicators of levels go through the basis, too."""
    table = read_table("penguins", text_columns=["species", "island", "sex"])
    rules = Preprocess.fit(table, "species", standardize=True)
    labels, rows = table.labels("species")
    inner = discriminant.LogisticRegression(basis=bases.Polynomial(2, interaction_only=True))
    model = TableModel(rules, inner.fit(rules.matrix(table)[0][rows], labels), "species", "", {}, None)
    found = program(model)
    for write in (to_sql, to_c, to_json, to_onnx):
        assert write(model)
    given, _ = edge_table(found, 400)
    for run in (run_sqlite, run_duckdb):
        answer = run(found, given)
        assert answer is None or np.abs(answer[1] - model.predict_proba(given)).max() < 1e-12


def test_a_basis_without_formulas_is_named():
    own = bases.Functions({"area": lambda X: X[:, 0] * X[:, 1]})
    model = discriminant.LogisticRegression(basis=own + bases.Linear()).fit(X, y)
    for write in (to_sql, to_c, to_json, to_onnx):
        with pytest.raises(DataError, match="Functions"):
            write(model)
    from sklearn.preprocessing import SplineTransformer

    model = discriminant.LogisticRegression(basis=SplineTransformer()).fit(X, y)
    with pytest.raises(DataError, match="SplineTransformer"):
        to_json(model)
    many = discriminant.LogisticRegression(basis=bases.Wiring(900, 3, random_state=0)).fit(X, y)
    with pytest.raises(DataError, match="900 features"):
        to_sql(many)


def test_wrong_formulas_are_refused(monkeypatch):
    from discriminant.io import formulas

    monkeypatch.setitem(formulas.FOLDS, "*", lambda a, b: a * b * (1 + 1e-9))
    with pytest.raises(DataError, match="Polynomial"):
        to_json(MODELS["polynomial"])
