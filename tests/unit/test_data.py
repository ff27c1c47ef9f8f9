"""Rows in blocks: one answer whatever the storage, the partition and the threads; labels; sentences; no copies."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.base import clone

from discriminant import Adaline, LinearDiscriminantAnalysis, LogisticRegression, QuadraticDiscriminantAnalysis
from discriminant.data import as_rows, count_classes, encode_labels, make_blocks, map_rows, require_finite
from discriminant.data.check import check_weights
from discriminant.errors import DataError


def gram(block):
    return block.design.sandwich(np.ones(block.rows))


@pytest.mark.parametrize("threads", ["1", "2", "5"])
def test_bits_do_not_depend_on_the_threads(threads, monkeypatch):
    X = np.random.default_rng(0).normal(size=(40_000, 12))
    monkeypatch.setenv("DISCRIMINANT_NUM_THREADS", "1")
    one = make_blocks(X).reduce(gram)
    monkeypatch.setenv("DISCRIMINANT_NUM_THREADS", threads)
    np.testing.assert_array_equal(make_blocks(X).reduce(gram), one)


@given(st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_any_partition_gives_one_answer(rows, seed):
    X = np.random.default_rng(seed).normal(size=(97, 3))
    ones = np.c_[np.ones(97), X]
    np.testing.assert_allclose(make_blocks(X, block_rows=rows).reduce(gram), ones.T @ ones, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", ["C", "F", "csr", "csc", "float32", "int8", "bool", "memmap", "pandas", "polars"])
def test_designs_are_one_linear_map(kind, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, (500, 4)).astype(float)
    X = (X > 0).astype(float) if kind == "bool" else X
    made = {
        "C": lambda: X,
        "F": lambda: np.asfortranarray(X),
        "csr": lambda: sparse.csr_array(X),
        "csc": lambda: sparse.csc_matrix(X),
        "float32": lambda: X.astype(np.float32),
        "int8": lambda: X.astype(np.int8),
        "bool": lambda: X.astype(bool),
        "memmap": lambda: _memory_map(X, tmp_path / "x.npy"),
        "pandas": lambda: pytest.importorskip("pandas").DataFrame(X),
        "polars": lambda: pytest.importorskip("polars").DataFrame(X),
    }[kind]()
    A, ones = rng.normal(size=(5, 2)), np.c_[np.ones(500), X]
    blocks = make_blocks(made, weight=np.arange(500.0), block_rows=77)
    np.testing.assert_allclose(map_rows(lambda design: design.scores(A), made, 2), ones @ A, atol=1e-12)
    total = blocks.reduce(lambda block: block.design.adjoint(block.weight[:, None]))
    np.testing.assert_allclose(total, ones.T @ np.arange(500.0)[:, None])
    np.testing.assert_allclose(blocks.reduce(lambda b: b.design.sandwich(b.weight)), (ones.T * np.arange(500)) @ ones)


def _memory_map(X, path):
    np.save(path, X)
    return np.load(path, mmap_mode="r")


def test_an_error_in_a_thread_reaches_the_caller(monkeypatch):
    monkeypatch.setenv("DISCRIMINANT_NUM_THREADS", "3")

    def broken(block):
        raise DataError(f"row {block.start}")

    with pytest.raises(DataError, match="row"):
        make_blocks(np.zeros((100_000, 8))).reduce(broken)


labels = st.one_of(
    arrays(np.int64, st.integers(1, 50), elements=st.integers(-(2**40), 2**40)),
    arrays(np.int8, st.integers(1, 50)),
    arrays(np.uint64, st.integers(1, 50)),
    arrays(np.bool_, st.integers(1, 50)),
    arrays(np.float64, st.integers(1, 50), elements=st.integers(-5, 5).map(float)),
    st.lists(st.text("abc", max_size=3), min_size=1, max_size=50).map(lambda words: np.array(words, dtype=object)),
    st.lists(st.text("abc", max_size=3), min_size=1, max_size=50).map(np.array),
)


@given(labels)
def test_codes_are_those_of_unique(y):
    classes, codes = encode_labels(y)
    expected, inverse = np.unique(y, return_inverse=True)
    assert classes.dtype == expected.dtype
    np.testing.assert_array_equal(classes, expected)
    np.testing.assert_array_equal(codes, inverse)
    np.testing.assert_array_equal(count_classes(codes, len(classes)), np.bincount(inverse))


def test_many_labels_and_late_labels():
    many = np.array([f"label {i:03d}" for i in range(300)]).repeat(3)
    np.testing.assert_array_equal(encode_labels(many)[1], np.arange(300).repeat(3))
    late = np.array(["a"] * 40_000 + ["b", "a"])
    classes, codes = encode_labels(late)
    assert classes.tolist() == ["a", "b"]
    assert codes.sum() == 1


def test_what_is_no_label_is_refused():
    for y, sentence in [
        (np.array([1.0, np.nan]), "NaN in row 1"),
        (np.array(["a", None], dtype=object), "row 1"),
        (np.array(["a", 1], dtype=object), "int and str"),
        (np.array([0.5, 1.0]), "Unknown label type: continuous. Row 0"),
        (np.array([1 + 2j]), "Unknown label type"),
        (np.zeros((2, 2)), "1d array"),
    ]:
        with pytest.raises(DataError, match=sentence):
            encode_labels(y)


def test_the_bad_column_and_row_are_named():
    X = np.zeros((70_000, 3))
    X[65_000, 1] = np.nan
    for storage in (X, sparse.csr_array(X)):
        with pytest.raises(DataError, match="NaN: column 'b' in row 65000"):
            require_finite(storage, ["a", "b", "c"])
    require_finite(np.zeros((3, 3)))


def test_weights():
    assert check_weights(None, 3) is None
    assert check_weights(1.0, 3) is None
    np.testing.assert_array_equal(check_weights([1, 2, 3], 3), [1.0, 2.0, 3.0])
    for bad, sentence in [([1, -1, 1], "row 1 has -1"), ([1, 2], "expected"), ([0, 0, 0], "zero for every row")]:
        with pytest.raises(DataError, match=sentence):
            check_weights(bad, 3)
    with pytest.raises(DataError, match="NaN"):
        check_weights([1, np.nan, 1], 3)


def test_rows_hold_no_copy():
    X = np.zeros((10, 3), dtype=np.float32)
    assert np.shares_memory(as_rows(X).X, X)
    S = sparse.csr_array(np.eye(300))
    assert as_rows(S).X is S
    assert np.shares_memory(as_rows(S).design(0, 290).raw.data, S.data)


@pytest.mark.parametrize("estimator", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
@pytest.mark.parametrize(
    ("change", "share"),
    [
        (np.asarray, 0.10),
        (np.asfortranarray, 0.25),
        (lambda X: X.astype(np.float32), 0.25),
        (lambda X: (X * 10).astype(np.int8), 0.25),
        (lambda X: X > 0, 0.25),
    ],
    ids=["C", "F", "float32", "int8", "bool"],
)
def test_a_fit_makes_no_copy(estimator, change, share):
    rng = np.random.default_rng(0)
    X, y = change(rng.normal(size=(200_000, 50))), rng.integers(0, 3, 200_000)
    estimator().fit(X[:2000], y[:2000])
    tracemalloc.start()
    estimator().fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < share * X.nbytes


def test_a_first_fit_loads_nothing_heavy():  # pandas is not in the list: scikit-learn loads it wherever it is installed
    code = (
        "import sys, numpy as np, discriminant; rng = np.random.default_rng(0);"
        "discriminant.LinearDiscriminantAnalysis().fit(rng.normal(size=(50, 3)), np.arange(50) % 2);"
        "print([m for m in ('polars', 'matplotlib', 'dask', 'torch') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize("values", [[3, 1, 3, 2], ["b", "a", "b"], [b"y", b"x"], [2.0, -1.0, 2.0], [True, False], [5]])
def test_distinct_values_are_those_of_numpy_unique(values):
    from discriminant.data.labels import distinct

    array = np.array(values)
    np.testing.assert_array_equal(distinct(array), np.unique(array))
    assert distinct(array).dtype == array.dtype
    assert len(distinct(array[:0])) == 0


def test_the_names_of_the_package_are_those_that_load():
    from discriminant import data

    assert sorted(name for held in data._HOMES.values() for name in held) == data.__all__
    for name in data.__all__:
        assert getattr(data, name) is not None
    with pytest.raises(AttributeError, match="nothing_such"):
        data.nothing_such  # noqa: B018


@pytest.mark.parametrize("format", ["csr", "csc"])
@pytest.mark.parametrize("damage", ["too far", "negative", "indptr beyond", "indptr falls"])
def test_a_damaged_sparse_matrix_is_refused(format, damage):
    """Its indices point outside of it, where compiled code would read and write."""
    X = sparse.random_array((40, 9), density=0.3, format=format, rng=np.random.default_rng(0))
    if damage == "too far":
        X.indices[3] = 10**6
    elif damage == "negative":
        X.indices[3] = -1
    elif damage == "indptr beyond":
        X.indptr[-1] = 10**6
    else:
        X.indptr[2] = X.indptr[-1]
    with pytest.raises(DataError, match="sparse matrix X of shape"):
        make_blocks(X)


def test_a_sparse_matrix_of_strided_arrays_is_read():
    X = sparse.random_array((40, 9), density=0.3, format="csr", rng=np.random.default_rng(0))
    strided = sparse.csr_array((np.repeat(X.data, 2)[::2], X.indices, X.indptr), shape=X.shape)
    strided.data = np.repeat(X.data, 2)[::2]
    y = np.arange(40) % 2
    for method in (LogisticRegression(), Adaline(0.01, max_iter=500)):
        np.testing.assert_array_equal(clone(method).fit(strided, y).coef_, clone(method).fit(X, y).coef_)
