"""Queries, streams and iterators of tables where X goes: the fit of the same rows in memory."""

from __future__ import annotations

import gc
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

import discriminant
from discriminant import LinearDiscriminantAnalysis, LogisticRegression
from discriminant.data.queries import _is_row_by_row, _slices
from discriminant.errors import DataError


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(3000, 3)), columns=["a", "b", "c"])
    return frame.assign(y=np.where(frame.a + frame.b + rng.logistic(size=3000) > 0, "in", "out"))


def dataset(table: pd.DataFrame, folder: Path) -> pyarrow.dataset.Dataset:
    pl.from_pandas(table).write_parquet(folder / "rows.parquet")
    return pyarrow.dataset.dataset(folder)


def lazy_scan(table: pd.DataFrame, folder: Path) -> pl.LazyFrame:
    pl.from_pandas(table).write_parquet(folder / "rows.parquet", row_group_size=700)
    return pl.scan_parquet(folder / "rows.parquet")


QUERIES = {
    "lazy frame": lambda table, _: pl.from_pandas(table).lazy(),
    "lazy scan": lambda table, folder: lazy_scan(table, folder),
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


def test_slices_are_taken_only_of_queries_that_are_row_by_row(table, tmp_path):
    lazy = lazy_scan(table, tmp_path)
    for query in (lazy, lazy.select("a", "y"), lazy.with_columns(d=pl.col("a") * 2).rename({"b": "e"}), lazy.head(50)):
        assert _is_row_by_row(query)
        parts = [pl.from_arrow(batch) for batch in _slices(query, 5_000)]
        assert len(parts) > 1 or query is not lazy
        assert pl.concat(parts).equals(query.collect())
    few = lazy.head(50)
    for query in (
        lazy.filter(pl.col("a") > 0),
        few.sort("a"),
        few.group_by("y").len(),
        few.unique(),
        few.join(few, on="a"),
        few.with_columns(pl.col("a").cum_sum()),
        few.select(pl.col("a") - pl.col("a").mean()),
        pl.concat([lazy, lazy]),
        lazy.with_columns(pl.col("y").cast(pl.Categorical)),
    ):
        assert not _is_row_by_row(query)


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read from /proc")
def test_a_lazy_frame_larger_than_the_limit_of_memory_fits_within_it(tmp_path):
    path, rng = tmp_path / "rows.parquet", np.random.default_rng(0)
    with pa.parquet.ParquetWriter(
        path, pa.schema([(f"x{j}", pa.float64()) for j in range(50)] + [("y", pa.int8())])
    ) as to:
        for _ in range(10):
            X = rng.standard_normal((100_000, 50))
            to.write_table(pa.table({f"x{j}": X[:, j] for j in range(50)} | {"y": (X[:, 0] > 0).astype(np.int8)}))
    assert path.stat().st_size > 350e6
    done = subprocess.run([sys.executable, "-c", PEAK, str(path)], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 350e6


PEAK = """
import sys
import polars
import discriminant
rows = discriminant.scan(polars.scan_parquet(sys.argv[1]), target="y", memory="350MB")
discriminant.LinearDiscriminantAnalysis().fit(rows)
print(next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""
