"""Fits in closed form of a database table: the database adds up, and the answer is that of the rows."""

from __future__ import annotations

import sqlite3

import duckdb
import numpy as np
import pandas as pd
import pytest

import discriminant
from discriminant import (
    ExponentialFamilyClassifier,
    FisherDiscriminant,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    QuadraticDiscriminantAnalysis,
)
from discriminant.errors import DataError

COLUMNS = ["income", 'it"s', "größe", "n"]


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 3)) @ rng.normal(size=(3, 3)) + [1e6, 0.0, -3.0]
    frame = pd.DataFrame(X, columns=COLUMNS[:3]).assign(n=rng.integers(0, 5, 4000))
    score = frame.iloc[:, 0] - 1e6 + frame.n + rng.normal(size=4000)
    return frame.assign(y=np.select([score > 3, score < 0], ["it's high", "low"], "between"))


SOURCES = {
    "duckdb relation": lambda frame: (duckdb.from_df(frame), None),
    "duckdb query": lambda frame: _duckdb(frame),
    "sqlite query": lambda frame: _sqlite(frame),
}


def _duckdb(frame):
    connection = duckdb.connect()
    connection.register("t", frame)
    return "SELECT * FROM t;", connection


def _sqlite(frame):
    connection = sqlite3.connect(":memory:")
    frame.to_sql("t", connection, index=False)
    return "SELECT * FROM t", connection


def source(name, frame, **options):
    query, connection = SOURCES[name](frame)
    return discriminant.scan(query, "y", connection=connection, **options)


def was_read(rows) -> bool:
    return rows.passes > 0


@pytest.mark.parametrize(
    "kind",
    [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, LeastSquaresClassifier, FisherDiscriminant],
)
def test_the_database_is_asked_for_sums_alone(table, kind):
    query, connection = SOURCES["sqlite query"](table)
    asked = []
    connection.set_trace_callback(asked.append)
    model = kind().fit(discriminant.scan(query, "y", connection=connection))
    assert model.feature_names_in_.tolist() == COLUMNS
    assert len(asked) == 3  # the first rows, to see their types; counts and means; squares and products
    assert "LIMIT 100" in asked[0]
    assert all("GROUP BY" in sql for sql in asked[1:])


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize(
    "model",
    [
        LinearDiscriminantAnalysis(),
        LinearDiscriminantAnalysis(shrinkage=0.2, solver="lsqr"),
        QuadraticDiscriminantAnalysis(),
        LeastSquaresClassifier(alpha=0.1),
        FisherDiscriminant(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_sums_of_a_database_are_those_of_the_rows(table, name, model):
    rows = source(name, table)
    found = model.fit(rows).decision_function(table[COLUMNS])
    plain = model.fit(table[COLUMNS], table.y)
    np.testing.assert_allclose(found, plain.decision_function(table[COLUMNS]), rtol=1e-8, atol=1e-8)
    assert rows.classes.tolist() == plain.classes_.tolist() if was_read(rows) else True


@pytest.mark.parametrize("name", SOURCES)
def test_no_row_is_read(table, name):
    rows = source(name, table)
    model = LinearDiscriminantAnalysis().fit(rows)
    assert not was_read(rows)
    assert rows.shape == (4000, 4)
    assert model.feature_names_in_.tolist() == COLUMNS
    plain = LinearDiscriminantAnalysis().fit(table[COLUMNS], table.y)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-10)
    np.testing.assert_allclose(model.means_, plain.means_, rtol=1e-12)
    np.testing.assert_allclose(model.priors_, plain.priors_)


@pytest.mark.parametrize("family", ["poisson", "exponential", "multinomial", "bernoulli"])
def test_densities_of_the_exponential_family(table, family):
    frame = table.assign(**{name: np.abs(table[name]) for name in COLUMNS})
    if family == "bernoulli":
        frame = frame.assign(**{name: (frame[name] > frame[name].median()).astype(int) for name in COLUMNS})
    rows = source("duckdb relation", frame)
    model = ExponentialFamilyClassifier(family).fit(rows)
    assert not was_read(rows)
    plain = ExponentialFamilyClassifier(family).fit(frame[COLUMNS], frame.y)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.intercept_, plain.intercept_, rtol=1e-9)


def test_values_that_a_density_does_not_have_are_named(table):
    with pytest.raises(DataError, match="bernoulli"):
        ExponentialFamilyClassifier("bernoulli").fit(source("duckdb relation", table))


def test_other_methods_and_predictions_read_the_rows(table):
    rows = source("duckdb relation", table)
    model = LogisticRegression().fit(rows)
    assert was_read(rows)
    plain = LogisticRegression().fit(table[COLUMNS], table.y)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-5, atol=1e-9)
    lda = LinearDiscriminantAnalysis().fit(source("duckdb relation", table))
    assert lda.score(rows) == pytest.approx(lda.score(table[COLUMNS], table.y))
    assert (np.asarray(lda.predict(rows)) == lda.predict(table[COLUMNS])).all()


def test_collinear_columns_are_told_as_for_rows(table):
    frame = table.assign(twice=2 * table.income)[[*COLUMNS, "twice", "y"]]
    with pytest.warns(discriminant.errors.CollinearityWarning, match="twice"):
        LinearDiscriminantAnalysis().fit(source("duckdb relation", frame))


@pytest.mark.parametrize(("column", "what"), [("income", "income"), ("y", "y|label")])
def test_missing_values_are_said_as_for_rows(table, column, what):
    frame = table.astype({"y": object}).copy()
    frame.loc[7, column] = None
    with pytest.raises(DataError, match=what):
        LinearDiscriminantAnalysis().fit(source("duckdb relation", frame))


def test_text_columns_and_chosen_columns(table):
    frame = table.assign(city=np.where(table.n > 2, "Rome", "Oslo"))
    rows = source("duckdb relation", frame)
    LinearDiscriminantAnalysis().fit(rows)
    assert was_read(rows)  # levels become columns
    rows = source("duckdb relation", frame, columns=["income", "n"])
    model = LinearDiscriminantAnalysis().fit(rows)
    assert not was_read(rows)
    np.testing.assert_allclose(
        model.coef_, LinearDiscriminantAnalysis().fit(table[["income", "n"]], table.y).coef_, rtol=1e-9
    )


@pytest.mark.parametrize("labels", [[0, 1], [True, False], [1.0, 2.0], ["a", "b"]])
def test_labels_keep_their_kind(table, labels):
    frame = table.assign(y=np.array(labels)[(table.n > 2).astype(int)])
    found = LinearDiscriminantAnalysis().fit(source("duckdb relation", frame)).classes_
    plain = LinearDiscriminantAnalysis().fit(frame[COLUMNS], frame.y).classes_
    assert found.tolist() == plain.tolist()
    assert found.dtype.kind == plain.dtype.kind or {found.dtype.kind, plain.dtype.kind} <= {"U", "O"}


def test_constant_columns_and_large_means_lose_no_digits(table):
    frame = table.assign(income=table.income + 1e10, n=7.1)
    with pytest.warns(discriminant.errors.DiscriminantWarning):
        found = LinearDiscriminantAnalysis().fit(source("duckdb relation", frame))
    with pytest.warns(discriminant.errors.DiscriminantWarning):
        plain = LinearDiscriminantAnalysis().fit(frame[COLUMNS], frame.y)
    np.testing.assert_allclose(found.coef_, plain.coef_, rtol=1e-8, atol=1e-12)
