"""What holds the numbers may not change the answer: X sparse, in frames, mapped from a file; weights sparse or mapped.

Every estimator, with an intercept and without, two classes and three, on classes that are separated: there the exact
arithmetic of ``inference`` takes part beside the sums.
"""

from __future__ import annotations

import inspect
import warnings
from decimal import Decimal

import joblib
import numpy as np
import pytest
from scipy import sparse

from contracts.judge import ours
from discriminant import (
    LogisticRegression,
    certify,
    kesler_construction,
    logistic_path,
    scan,
    separability,
    solution_region,
)
from discriminant.errors import DataError, MismatchError

ESTIMATORS = ours() | {"unpenalised LogisticRegression": lambda **more: LogisticRegression(C=np.inf, **more)}
SPARSE = [name for name, make in ESTIMATORS.items() if make().__sklearn_tags__().input_tags.sparse]


def separated(K):
    """Rows with zeros among their values, told apart by hyperplanes through the origin."""
    rng = np.random.default_rng(K)
    X = rng.normal(size=(80, 4)) * (rng.random((80, 4)) < 0.7)
    z = X @ rng.normal(size=(4, K))
    top = np.sort(z, axis=1)
    clear = top[:, -1] - top[:, -2] > 0.2
    return X[clear], z[clear].argmax(axis=1)


def fitted(name, X, y, **parameters):
    make = ESTIMATORS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make(**parameters).fit(X, y)


def decisions(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.decision_function(X)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("name", SPARSE)
def test_sparse_rows_are_the_same_rows(name, intercept, K):
    X, y = separated(K)
    takes = "fit_intercept" in inspect.signature(type(ESTIMATORS[name]())).parameters
    if not takes and not intercept:
        pytest.skip("has an intercept always")
    parameters = {"fit_intercept": intercept} if takes else {}
    plain = decisions(fitted(name, X, y, **parameters), X)
    for form in (sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix):
        rows = form(X)
        np.testing.assert_allclose(decisions(fitted(name, rows, y, **parameters), rows), plain, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csr_array, sparse.csc_array])
def test_verdicts_through_the_origin_are_those_of_the_rows_written_out(form, K):
    X, y = separated(K)
    X[0] = 0.0  # a row on the boundary of every hyperplane through the origin
    plain, found = (separability(rows, y, fit_intercept=False) for rows in (X, form(X)))
    assert found.verdict == plain.verdict == "quasi-separable"
    assert found.check()


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_model_whose_arrays_are_mapped_from_a_file_predicts_the_same(name, K, tmp_path):
    X, y = separated(K)
    model = fitted(name, X, y)
    joblib.dump(model, tmp_path / "model")
    mapped = joblib.load(tmp_path / "model", mmap_mode="r")
    np.testing.assert_array_equal(decisions(mapped, X), decisions(model, X))


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("name", [name for name, make in ESTIMATORS.items() if hasattr(make(), "sparsify")])
def test_sparse_weights_predict_the_same(name, K):
    X, y = separated(K)
    model = fitted(name, X, y)
    plain = decisions(model, X)
    assert sparse.issparse(model.sparsify().coef_)
    np.testing.assert_allclose(decisions(model, X), plain, rtol=1e-12)
    np.testing.assert_allclose(decisions(model.densify(), X), plain, rtol=1e-12)


def test_a_separated_frame_of_unlike_columns_has_the_limit_of_its_numbers():
    """Integers beside floats: no array holds such a frame without a copy, and none is needed."""
    pd = pytest.importorskip("pandas")
    X, y = separated(2)
    frame = pd.DataFrame({"a": X[:, 0], "b": np.arange(len(y)) % 7, "c": X[:, 2].astype(np.float32), "d": X[:, 1]})
    name, values = "unpenalised LogisticRegression", frame.to_numpy(dtype=float)
    y = (values @ [1.0, 0.5, -1.0, 1.0] > 1.4).astype(int)
    model, plain = fitted(name, frame, y), fitted(name, values, y)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    np.testing.assert_array_equal(model.predict_proba(frame), plain.predict_proba(values))
    assert model.certificate_.separability.columns == tuple(frame.columns)


def frames():
    """The same numbers in columns of every kind that a linear model can read."""
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    plain = pd.DataFrame(separated(2)[0].round(2), columns=list("abcd"))
    whole = plain.assign(a=(plain["a"] > 0).astype(float), b=plain["b"].round())
    thin = pd.SparseDtype(float, 0.0)
    return whole, {
        "sparse columns": whole.astype(thin),
        "a sparse column": whole.astype({"c": thin}),
        "objects": whole.astype(object),
        "a column of objects": whole.astype({"c": object}),
        "decimals": whole.assign(c=[Decimal(str(value)) for value in whole["c"]]),
        "nullable types": whole.astype({"a": "boolean", "b": "Int64", "c": "Float64"}),
        "arrow types": whole.astype({"a": "bool[pyarrow]", "b": "int64[pyarrow]", "c": "double[pyarrow]"}),
        "polars": pl.DataFrame(whole.astype({"a": bool, "b": int}).to_dict("list")),
        "pyarrow": pl.DataFrame(whole.astype({"a": bool, "b": int}).to_dict("list")).to_arrow(),
    }


@pytest.mark.parametrize("kind", frames()[1])
@pytest.mark.parametrize("name", ["LinearDiscriminantAnalysis", "LogisticRegression", "Perceptron"])
def test_columns_of_every_kind_are_the_same_numbers(name, kind):
    plain, forms = frames()
    y = separated(2)[1]
    wanted = decisions(fitted(name, plain, y), plain)
    np.testing.assert_allclose(decisions(fitted(name, forms[kind], y), forms[kind]), wanted, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["boolean", "Int64", "Float64", "bool[pyarrow]", "object"])
def test_a_missing_value_of_any_type_is_told_with_its_column(dtype):
    import pandas as pd

    X, y = separated(2)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["b"] = pd.array([True] * (len(y) - 1) + [None], dtype=dtype)
    for name in ("LinearDiscriminantAnalysis", "LogisticRegression", "Perceptron"):
        with pytest.raises(DataError, match=rf"contains NaN: column ('b'|1) in row {len(y) - 1}"):
            fitted(name, frame, y)


def test_what_is_no_number_among_objects_is_told():
    import pandas as pd

    X, y = separated(2)
    frame = pd.DataFrame(X, columns=list("abcd"))
    for odd in ("x", 1j, (1, 2)):
        odd_one = frame.assign(c=pd.Series([*X[:-1, 2], odd], dtype=object))
        with pytest.raises(DataError, match=rf"Column 'c' holds .* in row {len(y) - 1}, .* needs numbers"):
            fitted("LogisticRegression", odd_one, y)
    with pytest.raises(DataError, match=r"Column 'c' holds .* needs numbers"):
        fitted("LogisticRegression", frame.assign(c=X[:, 2].astype(complex)), y)


def test_a_query_is_run_once_and_learned_from_as_its_rows():
    pl, duckdb = pytest.importorskip("polars"), pytest.importorskip("duckdb")
    X, y = separated(2)
    table = pl.DataFrame(X, schema=list("abcd")).to_arrow()
    model = fitted("LogisticRegression", table, y)
    for query in (pl.from_arrow(table).lazy(), duckdb.from_arrow(table)):
        assert np.allclose(fitted("LogisticRegression", query, y).coef_, model.coef_, rtol=1e-6)
        assert (np.asarray(model.predict(query)) == model.predict(table)).all()
        assert separability(query, y).verdict == separability(table, y).verdict


@pytest.mark.parametrize("names", [["a", "b", "c"], [0, 1, 2], [2, 1, 0], [10, 7, -1]], ids=str)
@pytest.mark.parametrize("kind", ["mixed", "object", "Float64"])
def test_frames_with_columns_by_number_are_read_by_column(kind, names):
    """A frame's 0 is the name of a column and not a row."""
    import pandas as pd

    rng = np.random.default_rng(0)
    X = np.c_[rng.normal(size=40), rng.integers(-3, 4, 40), rng.random(40) > 0.5].astype(float)
    y = (X[:, 0] + 0.3 * X[:, 1] + rng.normal(size=40) > 0).astype(int)
    columns = dict(zip(names, (X[:, 0], X[:, 1].astype(int), X[:, 2] > 0), strict=True))
    frame = pd.DataFrame(columns) if kind == "mixed" else pd.DataFrame(columns).astype(kind)
    found, plain = LogisticRegression().fit(frame, y), LogisticRegression().fit(X, y)
    np.testing.assert_array_equal(found.coef_, plain.coef_)
    np.testing.assert_array_equal(found.predict_proba(frame), plain.predict_proba(X))


def certified(X, y):
    return certify(LogisticRegression().fit(*separated(2)), X, y)


@pytest.mark.parametrize(
    "ask", [separability, kesler_construction, solution_region, certified], ids=lambda ask: ask.__name__
)
def test_functions_of_rows_refuse_what_estimators_refuse(ask):
    """Masked and missing values, text, dates and rows without a label each, in one sentence wherever rows come in."""
    X, y = separated(2)
    masked, gap = np.ma.array(X, mask=False), X.copy()
    masked[3, 1], gap[3, 1] = np.ma.masked, np.nan
    odd = (masked, "1 masked"), (gap, "NaN"), (X.astype(str), "needs numbers"), (X + 0j, "needs numbers")
    for rows, says in (*odd, (X.astype("M8[s]"), "needs numbers"), (X[1:], "rows and y has"), (X[:0], "0 rows")):
        with pytest.raises(DataError, match=says):
            ask(rows, y)
    with pytest.raises(DataError, match="masked"):
        ask(X, np.ma.array(y, mask=y == 1))
    ask(X.astype(object), y)


def test_a_batch_of_records_is_told_from_a_table():
    pa = pytest.importorskip("pyarrow")
    X, y = separated(2)
    table = pa.table({f"x{j}": column for j, column in enumerate(X.T)})
    with pytest.raises(DataError, match="from_batches"):
        LogisticRegression().fit(table.to_batches()[0], y)


@pytest.mark.parametrize("labels", [(b"a", b"b"), np.array([False, True], dtype=object), (0.0, 1e300)], ids=str)
def test_labels_that_are_learned_are_scored(labels):
    X, y = separated(2)
    named = np.array(labels)[y]
    model = fitted("LogisticRegression", X, named)
    assert model.score(X, named) == fitted("LogisticRegression", X, y).score(X, y)


@pytest.mark.skipif(not hasattr(np, "dtypes") or not hasattr(np.dtypes, "StringDType"), reason="NumPy 2 has them")
def test_strings_of_any_length_are_labels():
    X, y = separated(2)
    named = np.array(["no", "yes"])[y]
    model = fitted("LogisticRegression", X, named.astype(np.dtypes.StringDType()))
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.score(X, named) > 0.9


def test_a_path_over_rows_elsewhere_is_refused(tmp_path):
    X, y = separated(2)
    np.save(tmp_path / "X.npy", X)
    with pytest.raises(MismatchError, match="logistic_path needs all rows in memory"):
        logistic_path(scan(tmp_path / "X.npy", hold=False), y)
