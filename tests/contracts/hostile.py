"""The table of hostile and hard inputs: what is given, and what must come of it.

Every case says one of
    same      the answer is that of a harmless equivalent, which is fitted beside it
    refused   a sentence (ValueError, TypeError or a subclass) that matches ``says``
    answer    no equivalent is known: finite probabilities that sum to one and labels that exist, or a sentence
A method that steps in the units of X may tell (warn) instead of giving the same answer where units are changed.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

INF, NAN = np.inf, np.nan
STEPPING = ("Perceptron", "Adaline", "LinearMachine")  # their steps are in the units of X
PENALISED = ("LogisticRegression", "LogisticRegressionCV", "LinearSVC")  # their answer is a matter of units


@dataclass(frozen=True)
class Given:
    """What a user hands over: rows, labels, weights, rows to predict (None: the same)."""

    X: Any
    y: Any
    weight: Any = None
    ask: Any = None


@dataclass(frozen=True)
class Case:
    name: str
    group: str
    given: Callable[[], Given]
    expect: str
    says: str = "."
    benign: Callable[[], Given] | None = None
    labels: Any = None  # ``classes_`` as they must come out
    tolerance: float = 1e-6
    parameters: dict[str, Any] = field(default_factory=dict)
    per_estimator: dict[str, dict[str, Any]] = field(default_factory=dict)  # parameters for one estimator
    other: dict[str, str] = field(default_factory=dict)  # estimator → another expectation
    debatable: bool = False  # others may well answer where this package refuses
    warning: str = ""  # a warning of scikit-learn's own contract that must be there


def data(n: int = 60, d: int = 3, seed: int = 0) -> tuple[Any, Any]:
    """Three overlapping classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return rng.normal(size=(n, d)) + 1.5 * np.eye(3, d)[y], y


X, Y = data()
N, D = X.shape
PLAIN = Given(X, Y)
CASES: list[Case] = []
_SEEN: set[tuple[str, int, str]] = set()


def case(name: str, group: str, given: Any, expect: str = "same", **more: Any) -> None:
    """One line of the table; ``given`` is data or makes them."""
    make = given if callable(given) else lambda: given
    if expect == "same":
        more.setdefault("benign", lambda: PLAIN)
    # A module of cases may be loaded twice, once as a test and once for its doctests: the table holds a line once.
    origin = sys._getframe(1).f_code.co_filename, sys._getframe(1).f_lineno, name
    if origin not in _SEEN:
        _SEEN.add(origin)
        CASES.append(Case(name, group, make, expect, **more))


def harmless(given: Given) -> Callable[[], Given]:
    return lambda: given


def tell(*estimators: str) -> dict[str, str]:
    """These may tell instead of giving the same answer."""
    return dict.fromkeys(estimators, "tell")


def answers(*estimators: str) -> dict[str, str]:
    return dict.fromkeys(estimators, "answer")


def put(value: float, row: int = 5, column: int = 1) -> Any:
    changed = X.copy()
    changed[row, column] = value
    return changed


# Numbers
for value, word in ((NAN, "NaN"), (INF, "infinity"), (-INF, "infinity")):
    case(f"{value} in X", "numbers", Given(put(value), Y), "refused", says=f"{word}.*column 1|{word}")
    case(f"{value} in the rows to predict", "numbers", Given(X, Y, None, put(value)), "refused", says=word)
    case(f"{value} in sparse X", "numbers", Given(sp.csr_array(put(value)), Y), "refused", says=word)
# Which of equally many errors are left is a matter of a random walk, whose steps depend on the units.
UNITS = {**tell(*STEPPING), **answers("LogisticRegressionCV", "LinearSVC", "MinimumErrorClassifier")}
FREE = {"LogisticRegression": {"C": INF}}
for exponent in (150, -150, 300, -300):
    given = Given(X * 10.0**exponent, Y)
    far = tell("LogisticRegression") if abs(exponent) == 300 else {}
    case(f"columns times 1e{exponent}", "units", given, per_estimator=FREE, other={**UNITS, **far})
MIXED = np.array([1e-150, 1.0, 1e150])
case("columns times 1e-150, 1 and 1e150", "units", Given(X * MIXED, Y), per_estimator=FREE, other=UNITS)
case("columns times 1e-6, 1 and 1e6", "units", Given(X * [1e-6, 1, 1e6], Y), per_estimator=FREE, other=UNITS)
case("subnormal numbers", "units", Given(X * 1e-310, Y), "answer")
for offset in (1e8, 1e15):
    shifted = X + offset
    back = Given(shifted - offset, Y)  # what rounding has left, exactly
    other = {**tell(*STEPPING, "LinearSVC", "LogisticRegressionCV"), **answers("MinimumErrorClassifier")}
    if offset == 1e15:  # which C wins is a matter of single held-out rows, and of their rounded scores
        other |= answers("LogisticRegressionCV")
    case(f"columns moved by {offset:g}", "units", Given(shifted, Y), benign=harmless(back), other=other)
case("columns moved by 1e300", "units", Given(X + 1e300, Y), "answer")

# Columns
ONE = np.ones((N, 1))
SHORTER = answers("LogisticRegression", "LogisticRegressionCV", "LinearSVC", *STEPPING, "MinimumErrorClassifier")
OTHER_COLUMNS = {**SHORTER, **answers("SigmoidRegressionClassifier", "LinearProgrammingClassifier")}
case("a constant column", "columns", Given(np.c_[X, 7 * ONE], Y), other=OTHER_COLUMNS)
case("a column of zeros", "columns", Given(np.c_[X, 0 * ONE], Y), other=OTHER_COLUMNS)
case("every column twice", "columns", Given(np.c_[X, X], Y), other=OTHER_COLUMNS)
case("a column that is the sum of the others", "columns", Given(np.c_[X, X.sum(axis=1)], Y), other=OTHER_COLUMNS)
case("nothing but constant columns", "columns", Given(np.ones((N, 2)), Y), "answer")
case(
    "fewer rows than columns", "columns", lambda: Given(np.random.default_rng(1).normal(size=(9, 30)), Y[:9]), "answer"
)
case("no column", "columns", Given(np.zeros((N, 0)), Y), "refused", says="0 feature")
case("one column", "columns", Given(X[:, :1], Y), "answer")

# Rows
case("no row", "rows", Given(X[:0], Y[:0]), "refused", says="0 sample")
case("one row", "rows", Given(X[:1], Y[:1]), "refused", says="class")
case("one row a class", "rows", Given(X[:3], Y[:3]), "answer")
case("two rows", "rows", Given(X[:2], Y[:2]), "answer")
case("a class with one row", "rows", Given(X[[0, 3, 6, 9, 12, 1]], Y[[0, 3, 6, 9, 12, 1]]), "answer")
case("every row in every class", "rows", Given(np.repeat(X[:12], 3, 0), np.tile([0, 1, 2], 12)), "answer")
case("every row the same", "rows", Given(np.repeat(X[:1], N, 0), Y), "answer")
case("one class", "rows", Given(X, 0 * Y), "refused", says="one class|1 class|greater than one")
case("a class ratio of 1 to 1e6", "weights", Given(X, Y > 1, np.where(Y > 1, 1e-6, 1.0)), "answer")
case("separated classes", "rows", Given(X + 50 * Y[:, None], Y), "answer")

# Weights
W = 0.5 + np.arange(N) / N
KEPT = np.arange(N) % 5 > 0
LEFT = harmless(Given(X[KEPT], Y[KEPT]))
LEAVING = answers("LogisticRegressionCV", *STEPPING)  # folds and the order of steps count the rows without weight too
case("weight zero = row left out", "weights", Given(X, Y, 1.0 * KEPT, X[KEPT]), benign=LEFT, other=LEAVING)
for factor in (1e-100, 1e100, 1e300):
    given = Given(X, Y, np.full(N, factor))
    case(f"weights of {factor:g}", "weights", given, other={**answers(*PENALISED), **tell(*STEPPING)})
case("a negative weight", "weights", Given(X, Y, np.where(np.arange(N) == 3, -1.0, 1.0)), "refused", says="egative")
case("a weight of NaN", "weights", Given(X, Y, np.where(np.arange(N) == 3, NAN, 1.0)), "refused", says="NaN")
case("an infinite weight", "weights", Given(X, Y, np.where(np.arange(N) == 3, INF, 1.0)), "refused", says="infinity")
case("no weight at all", "weights", Given(X, Y, np.zeros(N)), "refused", says="zero")
case("a class without weight", "weights", Given(X, Y, 1.0 * (Y > 0)), "answer")
case("too few weights", "weights", Given(X, Y, np.ones(N - 1)), "refused", says="sample_weight")
case("a table of weights", "weights", Given(X, Y, np.ones((N, 2))), "refused", says="1D|1-d|dimension")
case("complex weights", "weights", Given(X, Y, np.ones(N) + 0j), "refused", says="complex")
case("weights from 1e-200 to 1e200", "weights", Given(X, Y, 10.0 ** np.linspace(-200, 200, N)), "answer")
case("weights that are words", "weights", Given(X, Y, np.full(N, "much")), "refused", says="number|convert|weight")

# Labels
for name, labels in {
    "words": np.array(["a", "b", "c"]),
    "words as objects": np.array(["a", "b", "c"], dtype=object),
    "bytes": np.array([b"a", b"b", b"c"]),
    "unicode": np.array(["aä", "日本", "😀"]),
    "numbers as words": np.array(["01", "1", "10"]),
    "blanks": np.array(["", " ", "NA"]),
    "words of unlike length": np.array(["a", "b" * 50, "c" * 500]),
    "negative numbers": np.array([-9, -5, -1]),
    "bytes of the machine": np.array([-128, 0, 127], dtype=np.int8),
    "huge numbers": np.array([0, 2**63, 2**64 - 1], dtype=np.uint64),
    "whole floats": np.array([0.0, 1.0, 1e15]),
    "numbers as objects": np.array([3, 7, 9], dtype=object),
}.items():
    # scikit-learn's metrics, by which cross-validation chooses, refuse bytes in a sentence.
    case(f"labels: {name}", "labels", Given(X, labels[Y]), labels=labels.tolist(), other=tell("LogisticRegressionCV"))
case("labels: booleans", "labels", Given(X, Y > 0), benign=harmless(Given(X, 1 * (Y > 0))), labels=[False, True])
for name, made in {
    "a pandas category": lambda: pd.Categorical.from_codes(Y, list("abc")),
    "a category with an unused level": lambda: pd.Categorical.from_codes(Y, list("abcd")),
    "pandas nullable integers": lambda: pd.array(Y, dtype="Int64"),
    "pandas strings": lambda: pd.Series(np.array(list("abc"))[Y], dtype="string"),
    "a series with an index out of order": lambda: pd.Series(Y, index=np.arange(N)[::-1]),
    "a list": lambda: Y.tolist(),
    "big-endian numbers": lambda: Y.astype(">i4"),
}.items():
    case(f"labels: {name}", "labels", lambda made=made: Given(X, made()))
case("labels: one column", "labels", Given(X, Y[:, None]), warning="column-vector")
for name, made, says in (
    ("numbers and words", lambda: np.array([0, "a", 1], dtype=object)[Y], "mix|uniformly|type"),
    ("numbers and words in a list", lambda: [[0, "a", 1][k] for k in Y], "mix|uniformly|type"),
    ("NaN among numbers", lambda: np.where(Y == 2, NAN, Y), "NaN"),
    ("NaN among words", lambda: np.array(["a", NAN, "c"], dtype=object)[Y], "NaN|missing"),
    ("None among words", lambda: np.array(["a", None, "c"], dtype=object)[Y], "NaN|missing|None"),
    ("pandas NA", lambda: pd.array(np.where(Y == 2, None, Y), dtype="Int64"), "NaN|NA|missing"),
    ("measurements", lambda: X[:, 0], "continuous"),
    ("dates", lambda: pd.Timestamp("2020-01-01") + pd.to_timedelta(Y, "D"), "label|date|type"),
    ("complex numbers", lambda: Y + 1j, "label|omplex"),
    ("lists", lambda: np.array([[k] for k in Y] + [None], dtype=object)[:-1], "label|sequence|array"),
    ("a table", lambda: np.c_[Y, Y], "1d|column|ulti"),
    ("three dimensions", lambda: np.zeros((N, 2, 2)), "dim|shape|1d"),
    ("missing", lambda: None, "y"),
    ("too few", lambda: Y[:-1], "inconsistent"),
    ("masked", lambda: np.ma.masked_equal(Y, 2), "mask"),
    ("infinity", lambda: np.where(Y == 2, INF, Y), "infinity"),
    ("intervals", lambda: pd.cut(X[:, 0], 3), "label"),
    ("a word", lambda: "species", "y|1d|shape"),
):
    case(
        f"labels: {name}", "labels", lambda made=made: Given(X, made()), "refused",
        says=says, debatable=name == "dates",
    )  # fmt: skip


# Frames
def frame(columns: Any = ("a", "b", "c")) -> Any:
    return pd.DataFrame(X, columns=list(columns))


def with_column(values: Any) -> Given:
    return Given(frame().assign(c=values), Y)


case("a frame", "frames", Given(frame(), Y))
case("names in unicode", "frames", Given(frame(["ä", "日本", "😀"]), Y))
case("names that are SQL", "frames", Given(frame(["a b", "'; DROP TABLE x; --", ""]), Y))
case("numbers as names", "frames", Given(pd.DataFrame(X), Y))
case("numbers and words as names", "frames", Given(frame(["a", 1, "b"]), Y), "refused", says="string names")
case("one name twice", "frames", Given(frame(["a", "a", "b"]), Y), "refused", says="more than one column")
case("an index out of order", "frames", Given(frame().set_axis(np.arange(N)[::-1]), Y))
case("other names at predict", "frames", Given(frame(), Y, None, frame(["a", "b", "x"])), "refused", says="names")
case("another order at predict", "frames", Given(frame(), Y, None, frame()[["b", "a", "c"]]), "refused", says="order")
case(
    "a column less at predict", "frames", Given(frame(), Y, None, frame()[["a", "b"]]), "refused", says="names|feature"
)
case("an array at predict", "frames", Given(frame(), Y, None, X), warning="valid feature names")
case("a column less in an array", "frames", Given(X, Y, None, X[:, :2]), "refused", says="features")
case("pandas nullable columns", "frames", lambda: Given(frame().convert_dtypes(), Y))
case("pandas NA", "frames", lambda: Given(frame().mask(X > 1.5).convert_dtypes(), Y), "refused", says="NaN|NA")
GROUP = np.arange(N) // 7 % 3
DUMMIES = Given(np.c_[X[:, :2], GROUP == 1, GROUP == 2], Y)
case("a category as a column", "frames", lambda: with_column(pd.Categorical(GROUP)), benign=harmless(DUMMIES))
case("words as a column", "frames", lambda: with_column(np.array(["ä", "ö", "ü"])[GROUP]), benign=harmless(DUMMIES))
case(
    "names of the rows as a column",
    "frames",
    lambda: with_column([f"row {i}" for i in range(N)]),
    "refused",
    says="'c'",
)
case("a missing word in a column", "frames", lambda: with_column([None, *"ab" * 29, "a"]), "refused", says="'c'")
case("dates as a column", "frames", lambda: with_column(pd.Timestamp("2020")), "refused", says="'c'|date|type")
BOOLS = Given(np.c_[X[:, :2], Y > 1], Y)
case("booleans as a column", "frames", lambda: with_column(Y > 1), benign=harmless(BOOLS))
for library in ("polars", "pyarrow"):

    def other_frame(library: str = library) -> Given:
        module = __import__(library)
        columns = {name: X[:, j] for j, name in enumerate("abc")}
        return Given(module.DataFrame(columns) if library == "polars" else module.table(columns), Y)

    case(f"a frame of {library}", "frames", other_frame)


# Storage
def read_only() -> Given:
    still = X.copy()
    still.setflags(write=False)
    return Given(still, Y)


def on_disk() -> Given:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "X.npy"
        np.save(path, X)
        return Given(np.load(path, mmap_mode="r"), Y)


def rounded(dtype: Any, factor: float = 1.0) -> tuple[Given, Callable[[], Given]]:
    values = (X * factor).astype(dtype)
    return Given(values, Y), harmless(Given(values.astype(np.float64), Y))


def csr(**arrays: Any) -> Any:
    plain = sp.csr_array(np.where(np.abs(X) < 0.3, 0.0, X))
    parts = {"data": plain.data, "indices": plain.indices, "indptr": plain.indptr, **arrays}
    return sp.csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=plain.shape)


THIN = Given(np.where(np.abs(X) < 0.3, 0.0, X), Y)
case("read-only", "storage", read_only)
case("columns first", "storage", Given(np.asfortranarray(X), Y))
case("every second value", "storage", Given(np.repeat(X, 2, axis=1)[:, ::2], Y))
case("backwards", "storage", Given(X[::-1][::-1], Y[::-1][::-1]))
case("memory-mapped", "storage", on_disk)
case("big-endian", "storage", Given(X.astype(">f8"), Y))
case("long double", "storage", Given(X.astype(np.longdouble), Y))
for dtype, tolerance in ((np.float16, 1e-3), (np.float32, 1e-3)):
    given, benign = rounded(dtype)
    case(np.dtype(dtype).name, "storage", given, benign=benign, tolerance=tolerance, other=tell("Perceptron"))
for dtype in (np.int64, np.int8):
    given, benign = rounded(dtype, 10)
    case(np.dtype(dtype).name, "storage", given, benign=benign)
BYTES = (10 * X + 100).astype(np.uint8)
case("uint8", "storage", Given(BYTES, Y), benign=harmless(Given(BYTES.astype(np.float64), Y)))
case("booleans", "storage", Given(X > 0.5, Y), benign=harmless(Given(1.0 * (X > 0.5), Y)))
case("numbers as objects", "storage", Given(X.astype(object), Y))
case("lists", "storage", Given(X.tolist(), Y))
case("complex numbers", "storage", Given(X + 0j, Y), "refused", says="omplex")
case("numbers as words", "storage", Given(X.astype(str), Y), "refused", says="numeric|number")
case("dates", "storage", lambda: Given(np.full((N, 3), np.datetime64("2020")), Y), "refused", says="date|numeric")
case("largest numbers there are", "units", Given(np.where(X > 0, 1.7e308, -1.7e308), Y), "answer")
case("one number of 1e300", "units", Given(put(1e300), Y), "answer")
case("rows to predict of 1e308", "units", Given(X, Y, None, np.full((2, 3), 1.7e308)), "answer")
case("no rows to predict", "rows", Given(X, Y, None, X[:0]), "refused", says="0 sample")
case("one dimension to predict", "storage", Given(X, Y, None, X[0]), "refused", says="2D")
case("masked rows to predict", "storage", Given(X, Y, None, np.ma.masked_greater(X, 1)), "refused", says="mask")
case("words", "storage", Given(np.full((N, 3), "word"), Y), "refused", says="numeric|number|convert")
case("one dimension", "storage", Given(X[:, 0], Y), "refused", says="2D|two")
case("three dimensions", "storage", Given(X[:, :, None], Y), "refused", says="dim 3|dimension")
case("a number", "storage", Given(3.0, Y), "refused", says="2D|scalar|dimension")
case("nothing", "storage", Given(None, Y), "refused", says="2D|None|scalar|NaN|object")
case("rows of unlike length", "storage", Given([[1.0, 2.0], [3.0]] * 30, Y), "refused", says="inhomogeneous|sequence")
case("masked values", "storage", Given(np.ma.masked_greater(X, 1.5), Y), "refused", says="mask")
case("CSR", "storage", lambda: Given(csr(), Y), benign=harmless(THIN))
case("CSC", "storage", lambda: Given(csr().tocsc(), Y), benign=harmless(THIN))
case("COO", "storage", lambda: Given(csr().tocoo(), Y), benign=harmless(THIN))
case("a sparse matrix of the old kind", "storage", lambda: Given(sp.csr_matrix(csr()), Y), benign=harmless(THIN))
case("64-bit indices", "storage",
     lambda: Given(csr(indices=csr().indices.astype(np.int64), indptr=csr().indptr.astype(np.int64)), Y),
     benign=harmless(THIN))  # fmt: skip


def explicit_zeros() -> Given:
    full = sp.csr_array(np.ones((N, 3)))
    full.data[:] = THIN.X.ravel()
    return Given(full, Y)


def unsorted() -> Given:
    plain = csr()
    for row in range(N):
        part = slice(plain.indptr[row], plain.indptr[row + 1])
        plain.indices[part], plain.data[part] = plain.indices[part][::-1].copy(), plain.data[part][::-1].copy()
    plain.has_sorted_indices = False
    return Given(plain, Y)


def duplicate_entries() -> Given:
    plain = csr().tocoo()
    row, column = np.r_[plain.row, plain.row], np.r_[plain.col, plain.col]
    return Given(sp.coo_array((np.r_[plain.data / 4, 0.75 * plain.data], (row, column)), shape=(N, 3)), Y)


def duplicates_in_rows() -> Given:
    plain = csr()
    data, indices = np.repeat(plain.data / 2, 2), np.repeat(plain.indices, 2)
    return Given(sp.csr_array((data, indices, 2 * plain.indptr), shape=(N, 3)), Y)


case("explicit zeros", "storage", explicit_zeros, benign=harmless(THIN))
case("unsorted indices", "storage", unsorted, benign=harmless(THIN))
case("duplicate entries", "storage", duplicate_entries, benign=harmless(THIN))
case("duplicate entries in CSR", "storage", duplicates_in_rows, benign=harmless(THIN))
case("sparse whole numbers", "storage", lambda: Given(sp.csr_array((10 * X).astype(np.int32)), Y),
     benign=harmless(Given((10 * X).astype(np.int32).astype(np.float64), Y)))  # fmt: skip

# Parameters
for name, values in {
    "tol": (0.0, -1.0, NAN, "small"), "max_iter": (0, -1, NAN), "C": (0.0, -1.0, NAN, INF, "one"),
    "alpha": (-1.0, NAN, INF), "eta0": (0.0, NAN, -1.0), "margin": (NAN, INF), "shrinkage": (NAN, -1.0, "much"),
    "reg_param": (NAN, 2.0), "priors": ([0.5, 0.5], [NAN, 0.5, 0.5], [-1, 1, 1]),
    "class_weight": ({0: -1.0}, {0: NAN}, "even"), "n_components": (0, 99), "l1_ratio": (NAN, 2.0),
    "coding": ("none", 7), "optimizer": ("none", 7),
    "costs": (np.ones((2, 2)), [[NAN] * 3] * 3), "reject_cost": (NAN, "dear"),
}.items():  # fmt: skip
    for value in values:
        case(f"{name}={value}", "parameters", PLAIN, "answer", parameters={name: value})
