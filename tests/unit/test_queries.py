"""Queries, streams and iterators of tables where X goes: the fit of the same rows in memory."""

from __future__ import annotations

import gc
import sqlite3
import tempfile
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest

import discriminant
from discriminant import LinearDiscriminantAnalysis, LogisticRegression
from discriminant.errors import DataError


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(3000, 3)), columns=["a", "b", "c"])
    return frame.assign(y=np.where(frame.a + frame.b + rng.logistic(size=3000) > 0, "in", "out"))


def dataset(table: pd.DataFrame, folder: Path) -> pyarrow.dataset.Dataset:
    pl.from_pandas(table).write_parquet(folder / "rows.parquet")
    return pyarrow.dataset.dataset(folder)


QUERIES = {
    "lazy frame": lambda table, _: pl.from_pandas(table).lazy(),
    "relation": lambda table, _: duckdb.from_df(table),
    "reader": lambda table, _: pa.Table.from_pandas(table, preserve_index=False).to_reader(max_chunksize=700),
    "dataset": dataset,
    "iterator": lambda table, _: (table[i : i + 500] for i in range(0, 3000, 500)),
}


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("kind", [LogisticRegression, LinearDiscriminantAnalysis])
def test_a_scan_of_a_query_fits_as_the_table_does(table, tmp_path, name, kind):
    rows = discriminant.scan(QUERIES[name](table, tmp_path), target="y")
    assert rows.shape == (3000, 3)
    found, plain = kind().fit(rows), kind().fit(table[["a", "b", "c"]], table.y)
    np.testing.assert_allclose(found.coef_, plain.coef_, rtol=1e-6)
    assert found.feature_names_in_.tolist() == ["a", "b", "c"]
    assert (np.asarray(found.predict(rows)) == plain.predict(table[["a", "b", "c"]])).all()


@pytest.mark.parametrize("name", ["lazy frame", "relation", "dataset"])
def test_queries_are_taken_in_place_of_x(table, tmp_path, name):
    query = QUERIES[name](table[["a", "b", "c"]], tmp_path)
    model = LogisticRegression().fit(query, table.y)
    plain = LogisticRegression().fit(table[["a", "b", "c"]], table.y)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-6)
    np.testing.assert_allclose(
        np.asarray(model.predict_proba(query)), plain.predict_proba(table[["a", "b", "c"]]), rtol=1e-5
    )
    assert model.score(query, table.y) == pytest.approx(plain.score(table[["a", "b", "c"]], table.y))


def test_sql_with_a_connection(table):
    with duckdb.connect() as connection:
        connection.register("t", table)
        query = "SELECT a, b, c, y FROM t WHERE a < 1"
        found = LogisticRegression().fit(discriminant.scan(query, "y", connection=connection))
    few = table[table.a < 1]
    plain = LogisticRegression().fit(few[["a", "b", "c"]], few.y)
    np.testing.assert_allclose(found.coef_, plain.coef_, rtol=1e-6)
    with sqlite3.connect(":memory:") as base:
        table.to_sql("t", base, index=False)
        rows = discriminant.scan(query, "y", connection=base)
        np.testing.assert_allclose(LogisticRegression().fit(rows).coef_, plain.coef_, rtol=1e-6)
    base.close()


def test_arrays_come_in_blocks(table):
    X = table[["a", "b", "c"]].to_numpy()
    model = LogisticRegression().fit(discriminant.scan(iter([X[:2000], X[2000:]])), table.y)
    np.testing.assert_allclose(model.coef_, LogisticRegression().fit(X, table.y).coef_, rtol=1e-6)


def test_the_temporary_file_goes_with_the_scan(table, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    rows = discriminant.scan(pl.from_pandas(table).lazy(), target="y")
    assert list(tmp_path.iterdir())
    del rows
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_wrong_queries_are_refused_in_sentences(table):
    with pytest.raises(DataError, match="'z'"):
        discriminant.scan(pl.from_pandas(table).lazy(), target="z").classes  # noqa: B018
    with pytest.raises(DataError, match="no rows"):
        discriminant.scan(iter([]), target="y")


@pytest.mark.parametrize("name", ["relation", "lazy frame"])
def test_predictions_go_back_to_the_database_with_their_keys(table, tmp_path, name):
    keyed = table.assign(id=np.arange(len(table))[::-1])
    rows = discriminant.scan(QUERIES[name](keyed, tmp_path), target="y", columns=["a", "b", "c"])
    model = LinearDiscriminantAnalysis().fit(rows)
    reader = model.predict(rows).to_reader(columns=["id"])
    with duckdb.connect() as connection:
        connection.register("reader", reader)
        connection.sql("CREATE TABLE scored AS SELECT * FROM reader")
        found = connection.sql("SELECT * FROM scored ORDER BY id").df()
    plain = LinearDiscriminantAnalysis().fit(table[["a", "b", "c"]], table.y).predict(table[["a", "b", "c"]])
    assert found.columns.tolist() == ["id", "prediction"]
    assert found.prediction.tolist() == plain[::-1].tolist()
    chances = pl.from_arrow(pa.table(model.predict_proba(rows)))  # any reader of Arrow streams
    assert chances.columns == ["prediction_0", "prediction_1"]
    with pytest.raises(DataError, match="no column 'key'"):
        model.predict(rows).to_reader(columns=["key"])
