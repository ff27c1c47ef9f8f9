"""Configurations by number: an estimator with settings that its own constraints allow, and data in some storage.

A number draws everything, so that ``python tests/contracts/draw.py --only 123`` runs one configuration again and shows
it, and ``--count 10000 --seed 7`` (``make nightly``) runs many.  What is asked of each: the answer is that of the same
numbers in a plain float64 array with labels and weights in plain arrays, or a sentence of this package is raised; no
warning comes from elsewhere, and nothing hangs.
"""

from __future__ import annotations

import argparse
import collections
import json
import re
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.covariance import LedoitWolf, ShrunkCovariance
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import has_fit_parameter

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from contracts.judge import LIMIT, SPECS, TooLong, time_limit
from discriminant.errors import DiscriminantError, DiscriminantWarning
from discriminant.io.encode import known_estimators

Rng = np.random.Generator
COMMAND = "python tests/contracts/draw.py --only"
NAMES = ["income", "größe", "x 3", "d", "e", "f"]

# A clock decides what these find, or they talk, or call back; a program of integers takes a process and seconds each.
FIXED = {"seconds", "verbose", "callback", "trace", "reject_label", "actions", "training_priors", "refit"}
LEFT_OUT = {"mixed-integer", "annealing", "witnesses", "differential-evolution"}
QUICK: dict[str, dict[str, Any]] = {
    **SPECS,
    "MinimumErrorClassifier": {"rounds": 1, "max_iter": 5},
    "LogisticRegressionCV": {"Cs": [0.1, 1.0], "cv": 2, "use_legacy_attributes": False},
}


# Settings ------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Shape:
    """What a setting may depend on."""

    d: int
    labels: list[Any]

    @property
    def K(self) -> int:
        return len(self.labels)


def _priors(rng: Rng, shape: Shape) -> Any:
    return rng.dirichlet(np.full(shape.K, 3.0)).tolist()


# Values of parameters whose constraints name a kind of object and not its values.
OBJECTS: dict[str, Callable[[Rng, Shape], Any]] = {
    "class_weight": lambda rng, s: dict(zip(s.labels, rng.choice([0.5, 1.0, 3.0], s.K).tolist(), strict=True)),
    "priors": _priors,
    "penalty_factors": lambda rng, s: rng.choice([0.5, 1.0, 2.0], s.d).tolist(),
    "bounds": lambda rng, s: [(0.0, None), (-1.0, 1.0), (None, 0.5)][rng.integers(3)],
    "groups": lambda rng, s: [list(range(s.d))] if s.d < 2 else [[0], list(range(1, s.d))],
    "Cs": lambda rng, s: [0.01, 1.0, 100.0],
    "l1_ratios": lambda rng, s: [0.0, 0.5],
    "costs": lambda rng, s: (rng.integers(1, 5, (s.K, s.K)) * (1 - np.eye(s.K))).tolist(),
    "basis": lambda rng, s: ["linear", "polynomial:2", "quadratic"][rng.integers(3)],
    "covariance_estimator": lambda rng, s: [LedoitWolf(), ShrunkCovariance(shrinkage=0.2)][rng.integers(2)],
    "estimator": lambda rng, s: known_estimators()[
        ["LinearDiscriminantAnalysis", "LogisticRegression", "Adaline"][rng.integers(3)]
    ](),
    "cv": lambda rng, s: int(rng.integers(2, 4)),
    "n_jobs": lambda rng, s: [1, 2][rng.integers(2)],
    "random_state": lambda rng, s: int(rng.integers(100)),
    "family": lambda rng, s: rng.choice(["poisson", "bernoulli", "exponential"], s.d).tolist(),
    "margin": lambda rng, s: 0.5,
}
BY_VALUE = r"error|r2|variance|deviance|d2_"  # measures of numbers: other labels choose another C
LONGEST = {"rounds": 5}  # of a search with a limit of seconds: with more the clock would decide what it finds
REAL = [0.0, 1e-8, 1e-3, 0.05, 0.3, 0.5, 0.9, 1.0, 2.0, 10.0, 300.0, np.inf, -1.0]
WHOLE = [0, 1, 2, 3, 5, 20, 200]


def draw_settings(rng: Rng, kind: Any, shape: Shape) -> dict[str, Any]:
    """A few parameters at values that ``_parameter_constraints`` allow; the rest stay as they are."""
    settings = dict(QUICK.get(kind.__name__, {}))
    rare = rng.choice([0.05, 0.15, 0.4])
    for name, constraints in kind._parameter_constraints.items():
        if name in FIXED or isinstance(constraints, str) or rng.random() > rare:
            continue
        options = [value for one in constraints for value in _values(rng, name, one, shape)]
        if options:
            settings[name] = options[rng.integers(len(options))]
    return settings


def _values(rng: Rng, name: str, constraint: Any, shape: Shape) -> list[Any]:
    if constraint is None:
        return [None]
    if isinstance(constraint, StrOptions):
        return [word for word in sorted(constraint.options) if word not in LEFT_OUT][:40]
    if isinstance(constraint, Interval):
        pool: list[Any] = WHOLE if constraint.type is Integral else [*REAL, float(10 ** rng.uniform(-3, 2))]
        assert constraint.type in (Integral, Real)
        return [value for value in pool if constraint.is_satisfied_by(value) and value <= LONGEST.get(name, np.inf)]
    if constraint == "boolean":
        return [True, False]
    return [OBJECTS[name](rng, shape)] if name in OBJECTS else []


# Data ----------------------------------------------------------------------------------------------------------------
def draw_rows(rng: Rng, K: int, counts: bool) -> tuple[np.ndarray, np.ndarray, str]:
    """Rows, codes and what is special about them: (X, codes, word)."""
    n, d = int(rng.integers(8 * K, 50)), int(rng.integers(1, 6))
    codes = np.r_[np.arange(K), np.arange(K), rng.integers(K, size=n - 2 * K)]
    word = str(rng.choice(["overlapping", "overlapping", "overlapping", "apart", "zeros", "offset"]))
    X = rng.normal(size=(n, d)) + (8.0 if word == "apart" else 1.2) * np.eye(K, d)[codes]
    if word == "zeros":
        X[rng.random(X.shape) < 0.6] = 0.0
    if word == "offset":
        X += 100.0
    return (np.abs(np.rint(X)) if counts else X), codes, word


def _mapped(X: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "X.npy", X)
        return np.load(Path(folder) / "X.npy", mmap_mode="r")


def _frozen(X: Any) -> Any:
    still = X.copy()
    still.setflags(write=False)
    return still


def _unaligned(X: Any) -> Any:
    raw = np.zeros(X.nbytes + 1, dtype=np.uint8)
    view = raw[1:].view(X.dtype) if X.nbytes else raw[1:1].view(X.dtype)
    view = view.reshape(X.shape)
    view[...] = X
    return view


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "every second column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "every second row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "backwards": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": _frozen,
    "memory-mapped": _mapped,
    "big-endian": lambda X: X.astype(X.dtype.newbyteorder(">")),
    "unaligned": _unaligned,
    "a list": lambda X: X.tolist(),
    "objects": lambda X: X.astype(object),
}
DTYPES = ["f8", "f8", "f4", "f2", "g", "i8", "i4", "i2", "i1", "u8", "u1", "?"]
SPARSE = ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"]


def _dtype(rng: Rng, X: Any) -> Any:
    """X in a type; what it loses there it has lost for the plain array as well."""
    dtype = np.dtype(str(rng.choice(DTYPES)))
    if dtype.kind == "b":
        return np.median(X) < X
    if dtype.kind in "iu":
        whole = np.clip(np.rint(3 * X), -100, 100)
        return (whole - min(whole.min(), 0) if dtype.kind == "u" else whole).astype(dtype)
    return X.astype(dtype)


def _array(rng: Rng, X: Any) -> tuple[Any, Any, str]:
    values = _dtype(rng, X)
    layout = str(rng.choice(list(LAYOUTS)))
    return LAYOUTS[layout](values), values, f"array {values.dtype} {layout}"


def _sparse(rng: Rng, X: Any) -> tuple[Any, Any, str]:
    values = _dtype(rng, np.where(np.abs(X) < 0.4, 0.0, X))
    if values.dtype in (np.float16, np.longdouble):
        values = values.astype(np.float32)
    form, old = str(rng.choice(SPARSE)), bool(rng.integers(2))
    made = getattr(sp, f"{form}_{'matrix' if old else 'array'}")(values)
    word = f"{form}_{'matrix' if old else 'array'} {values.dtype}"
    if form in ("csr", "csc", "bsr") and rng.random() < 0.5:
        made.indices, made.indptr = made.indices.astype(np.int64), made.indptr.astype(np.int64)
        word += " int64 indices"
    if form in ("csr", "csc") and values.dtype.kind == "f" and rng.random() < 0.5:
        made, word = _messy(rng, made, word)
    return made, values, word


def _messy(rng: Rng, made: Any, word: str) -> tuple[Any, str]:
    """Duplicates or indices out of order."""
    if rng.random() < 0.5:
        parts = (np.repeat(made.data / 2, 2), np.repeat(made.indices, 2), 2 * made.indptr)
        return type(made)(parts, shape=made.shape), f"{word} duplicates"
    data, indices = made.data.copy(), made.indices.copy()
    for i in range(len(made.indptr) - 1):
        part = slice(made.indptr[i], made.indptr[i + 1])
        data[part], indices[part] = data[part][::-1].copy(), indices[part][::-1].copy()
    return type(made)((data, indices, made.indptr), shape=made.shape), f"{word} unsorted"


# A column of a pandas frame: (dtype, the numbers it can hold); None: anything, refused.
COLUMNS = ["float64", "float32", "int64", "int8", "uint16", "bool", "Float64", "Float32", "Int64", "UInt8", "boolean",
           "Sparse[float64]", "Sparse[int64]", "object", "double[pyarrow]", "int64[pyarrow]", "bool[pyarrow]",
           "float[pyarrow]"]  # fmt: skip
ODD_COLUMNS = ["category", "string", "datetime64[ns]", "timedelta64[ns]", "complex128", "period[D]", "interval"]


def _column(values: Any, dtype: str) -> tuple[Any, Any]:
    """(series, the numbers in it)."""
    import pandas as pd

    low = dtype.lower()
    if "bool" in low:
        numbers = (values > np.median(values)).astype(float)
        return pd.Series(numbers.astype(bool)).astype(dtype), numbers
    if "int" in low and "interval" not in low:
        numbers = np.clip(np.rint(3 * values), -100, 100)
        numbers = numbers - min(numbers.min(), 0) if "uint" in low else numbers
        base = "float64" if "sparse" in low else "int64"
        made = pd.Series(numbers.astype(base))
        return made.astype(pd.SparseDtype("int64", 0) if "sparse" in low else dtype), numbers
    if dtype in ("float32", "Float32", "float[pyarrow]"):
        values = values.astype(np.float32)
    if dtype == "Sparse[float64]":
        return pd.Series(values).astype(pd.SparseDtype("float64", 0.0)), values
    return pd.Series(values).astype(dtype), values.astype(np.float64)


def _odd_column(rng: Rng, n: int) -> tuple[Any, str]:
    import pandas as pd

    dtype = str(rng.choice(ODD_COLUMNS))
    days = pd.date_range("2020-01-01", periods=n)
    made = {
        "category": lambda: pd.Series(pd.Categorical(np.array(["low", "mid", "high"])[np.arange(n) % 3])),
        "string": lambda: pd.Series(["a", "b"] * n, dtype="string")[:n],
        "datetime64[ns]": lambda: pd.Series(days),
        "timedelta64[ns]": lambda: pd.Series(days - days[0]),
        "complex128": lambda: pd.Series(np.arange(n) * 1j),
        "period[D]": lambda: pd.Series(days.to_period("D")),
        "interval": lambda: pd.Series(pd.interval_range(0, n)),
    }
    return made[dtype](), dtype


def _pandas(rng: Rng, X: Any) -> tuple[Any, Any, str]:
    import pandas as pd

    one = str(rng.choice(COLUMNS)) if rng.random() < 0.5 else None
    kinds = [one or str(rng.choice(COLUMNS)) for _ in range(X.shape[1])]
    pairs = [_column(X[:, j], kind) for j, kind in enumerate(kinds)]
    frame = pd.DataFrame({NAMES[j]: series for j, (series, _) in enumerate(pairs)})
    values: Any = np.column_stack([numbers for _, numbers in pairs])
    word = f"pandas {one or ', '.join(kinds)}"
    if rng.random() < 0.2:
        frame.columns = list(range(X.shape[1]))[::-1]
        word += ", columns by number"
    if rng.random() < 0.1:
        name: Any = "odd" if isinstance(frame.columns[0], str) else X.shape[1]
        frame[name], dtype = _odd_column(rng, len(X))
        if dtype not in ("category", "string"):
            return frame, None, f"pandas with {dtype}"
        # Zeros and ones, for each level but the first in the order of the alphabet.
        word, levels = f"{word} with {dtype}", sorted(set(frame[name]))[1:]
        values = np.column_stack([values, *(np.asarray(frame[name] == level, dtype=float) for level in levels)])
    if rng.random() < 0.2:
        frame.index = np.arange(len(X))[::-1]
        word += ", index backwards"
    return frame, values, word


def _polars(rng: Rng, X: Any) -> tuple[Any, Any, str]:
    import polars as pl

    columns, numbers, kinds = {}, [], []
    for j in range(X.shape[1]):
        values = _dtype(rng, X[:, j])
        values = values.astype(np.float64) if values.dtype in (np.float16, np.longdouble) else values
        columns[NAMES[j]] = values
        kinds.append(str(values.dtype))
        numbers.append(values.astype(np.float64))
    frame: Any = pl.DataFrame(columns)
    word, plain = "polars", np.column_stack(numbers)
    way = rng.random()
    if way < 0.3:
        frame, word = frame.to_arrow(), "pyarrow table"
    elif way < 0.4:
        frame, word = frame.lazy(), "LazyFrame"
    elif way < 0.5:
        frame, word = pl.concat([frame[: len(X) // 2], frame[len(X) // 2 :]], rechunk=False), "polars in chunks"
    return frame, plain, f"{word} {', '.join(kinds)}"


STORAGES: list[Callable[[Rng, Any], tuple[Any, Any, str]]] = [
    _array,
    _array,
    _sparse,
    _sparse,
    _pandas,
    _pandas,
    _polars,
]


# Labels and weights --------------------------------------------------------------------------------------------------
def draw_labels(rng: Rng, codes: Any, K: int) -> tuple[Any, list[Any], str]:
    """(y, its classes in order, word)."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    words = np.array(["ape", "bee", "cat", "dög"])[:K]
    kinds: dict[str, Callable[[], tuple[Any, list[Any]]]] = {
        "integers": lambda: (codes, list(range(K))),
        "int8": lambda: ((3 * codes - 7).astype(np.int8), [3 * k - 7 for k in range(K)]),
        "uint64": lambda: (codes.astype(np.uint64), list(range(K))),
        "floats": lambda: (codes * 1.0, [1.0 * k for k in range(K)]),
        "strings": lambda: (words[codes], words.tolist()),
        "objects": lambda: (words.astype(object)[codes], words.tolist()),
        "a list of words": lambda: (words[codes].tolist(), words.tolist()),
        "a list of numbers": lambda: (codes.tolist(), list(range(K))),
        "series": lambda: (pd.Series(codes, index=np.arange(len(codes))[::-1]), list(range(K))),
        "category": lambda: (pd.Series(pd.Categorical.from_codes(codes, words.tolist())), words.tolist()),
        "nullable": lambda: (pd.array(codes, dtype="Int64"), list(range(K))),
        "pandas strings": lambda: (pd.Series(words[codes], dtype="string"), words.tolist()),
        "polars": lambda: (pl.Series(words[codes].tolist()), words.tolist()),
        "arrow": lambda: (pa.array(words[codes].tolist()), words.tolist()),
        "strided": lambda: (np.repeat(codes, 3)[::3], list(range(K))),
        "read-only": lambda: (_frozen(codes), list(range(K))),
        "big-endian": lambda: (codes.astype(">i8"), list(range(K))),
    }
    if K == 2:
        kinds["booleans"] = lambda: (codes > 0, [False, True])
        kinds["signs"] = lambda: (2 * codes - 1, [-1, 1])
    word = str(rng.choice(list(kinds)))
    return *kinds[word](), word


def draw_weight(rng: Rng, n: int) -> tuple[Any, Any, str]:
    """(weights as given, as float64, word)."""
    import pandas as pd
    import polars as pl

    if rng.random() < 0.5:
        return None, None, "none"
    plain = rng.uniform(0.2, 3.0, n)
    kinds: dict[str, Callable[[], tuple[Any, Any]]] = {
        "floats": lambda: (plain, plain),
        "float32": lambda: (plain.astype(np.float32), plain.astype(np.float32).astype(float)),
        "whole": lambda: (np.rint(plain + 0.5).astype(int), np.rint(plain + 0.5)),
        "some zero": lambda: (plain * (np.arange(n) % 9 > 0), plain * (np.arange(n) % 9 > 0)),
        "a list": lambda: (plain.tolist(), plain),
        "series": lambda: (pd.Series(plain, index=np.arange(n)[::-1]), plain),
        "polars": lambda: (pl.Series(plain), plain),
        "strided": lambda: (np.repeat(plain, 2)[::2], plain),
        "read-only": lambda: (_frozen(plain), plain),
        "booleans": lambda: (np.arange(n) % 11 > 0, (np.arange(n) % 11 > 0) * 1.0),
    }
    word = str(rng.choice(list(kinds)))
    return *kinds[word](), word


# One configuration ---------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Configuration:
    """Everything that a number draws."""

    number: int
    name: str
    settings: dict[str, Any]
    X: Any
    y: Any
    weight: Any
    plain_X: Any  # float64 in C order; None where no number can be read from X
    codes: Any
    plain_weight: Any
    labels: list[Any]
    words: tuple[str, ...]

    def __str__(self) -> str:
        given = ", ".join(f"{key}={value!r}" for key, value in self.settings.items())
        rows, storage, labels, weights = self.words
        return f"{self.name}({given}) on {rows} rows as {storage}; labels {labels}; weights {weights}"

    def model(self, *, plain: bool) -> Any:
        settings = dict(self.settings)
        weights = settings.get("class_weight")
        if plain and isinstance(weights, dict):
            settings["class_weight"] = {k: weights[label] for k, label in enumerate(self.labels)}
        return known_estimators()[self.name](**settings)


def configuration(number: int) -> Configuration:
    rng = np.random.default_rng(number)
    kinds = known_estimators()
    name = str(rng.choice(sorted(kinds)))
    K = int(rng.choice([2, 2, 3, 4]))
    X, codes, rows = draw_rows(rng, K, name == "ExponentialFamilyClassifier")
    stored, values, storage = STORAGES[rng.integers(len(STORAGES))](rng, X)
    plain_X = None if values is None else np.ascontiguousarray(values, dtype=np.float64)
    y, labels, label_word = draw_labels(rng, codes, K)
    settings = draw_settings(rng, kinds[name], Shape(X.shape[1], labels))
    if labels != list(range(K)) and re.search(BY_VALUE, str(settings.get("scoring"))):
        del settings["scoring"]
    weight, plain_weight, weight_word = draw_weight(rng, len(codes))
    if not has_fit_parameter(kinds[name](), "sample_weight"):
        weight, plain_weight, weight_word = None, None, "none"
    return Configuration(number, name, settings, stored, y, weight, plain_X, codes, plain_weight, labels,
                         (rows, storage, label_word, weight_word))  # fmt: skip


# What came of it -----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Answer:
    classes: list[Any]
    codes: Any
    numbers: Any  # probabilities, else scores
    certain: bool  # probabilities
    proof: Any  # the certificate
    best: float = np.nan  # accuracy in folds of the C that was chosen
    chosen: str = ""


def ask(model: Any, X: Any, y: Any, weight: Any) -> Answer:
    model.fit(X, y) if weight is None else model.fit(X, y, sample_weight=weight)
    classes = np.asarray(model.classes_).tolist()
    position = {label: k for k, label in enumerate(classes)}
    labels = np.asarray(model.predict(X)).tolist()
    certain = hasattr(model, "predict_proba")
    numbers = np.asarray(model.predict_proba(X) if certain else model.decision_function(X), dtype=float)
    counts = hasattr(model, "scores_") and model.scoring in (None, "accuracy")
    best = float(np.mean(model.scores_, axis=0).max()) if counts and isinstance(model.scores_, np.ndarray) else np.nan
    return Answer(classes, np.array([position.get(label, -1) for label in labels]), numbers, certain,
                  getattr(model, "certificate_", None), best, str(getattr(model, "C_", "")))  # fmt: skip


def attempt(model: Any, X: Any, y: Any, weight: Any) -> tuple[Answer | BaseException, list[Any]]:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            with time_limit(LIMIT):
                return ask(model, X, y, weight), heard
        except (Exception, TooLong) as error:
            return error, heard


def judge(one: Configuration) -> tuple[str, str]:
    """(right, told, refused, or what went wrong; a line about it)."""
    found, heard = attempt(one.model(plain=False), one.X, one.y, one.weight)
    for warning in heard:
        if not _is_ours(warning):
            return "foreign warning", f"{warning.category.__name__}: {str(warning.message)[:150]}"
    if isinstance(found, BaseException):
        fault = _no_sentence(found)
        if fault:
            return fault, _line(found)
    if one.plain_X is None:
        return ("silently wrong", "an answer where there is none") if isinstance(found, Answer) else ("refused", "")
    wanted, told = attempt(one.model(plain=True), one.plain_X, one.codes, one.plain_weight)
    if isinstance(wanted, BaseException):
        fault = _no_sentence(wanted)
        if fault:
            return f"{fault} of the plain array", _line(wanted)
        if isinstance(found, Answer):
            return "silently wrong", f"an answer, where the plain array is refused: {_line(wanted)}"
        return "refused", ""
    if isinstance(found, BaseException):
        if _is_about_storage(found, one):
            return "refused", ""
        return "refused alone", f"the plain array is fitted, but: {_line(found)}"
    wrong = compare(one, found, wanted)
    if wrong and found.chosen != wanted.chosen and abs(found.best - wanted.best) <= 2 / len(one.codes):
        wrong = ""  # a row of a fold in which two classes tie goes either way, and chose another C
    if wrong and not any(map(_is_unsettled, [*heard, *told])) and not _is_same_minimum(found, wanted):
        return "silently wrong", wrong
    return "told" if heard else "right", ""


def _is_unsettled(warning: Any) -> bool:
    """Whether the fit itself says that it has not reached its end: where it stopped is then a matter of rounding."""
    return any(
        word in str(warning.message) for word in ("Not converged", "Diverged", "nothing says", "Ended after", "Stopped")
    )


def _is_same_minimum(found: Answer, wanted: Answer) -> bool:
    """Equally good weights, as proved: a criterion that is flat, or least at infinity, has no single answer."""
    a, b = found.proof, wanted.proof
    if a is None or b is None or not a.converged or not b.converged:
        return False
    between = abs(a.objective - b.objective)
    if all("proved to be within" in proof.status and proof.gap > 1e-6 * proof.objective for proof in (a, b)):
        return bool(between <= max(a.gap, b.gap))  # a coarse tol asks for a J so near its least, and not for weights
    same = b.objective == 0 or (found.codes == wanted.codes).mean() > 0.9
    return bool(between <= 1e-9 * abs(b.objective) and same)


def compare(one: Configuration, found: Answer, wanted: Answer) -> str:
    if found.classes != one.labels:
        return f"classes {found.classes} instead of {one.labels}"
    if found.numbers.shape != wanted.numbers.shape:
        return f"shape {found.numbers.shape} instead of {wanted.numbers.shape}"
    if not np.isfinite(wanted.numbers).all():
        return "the plain array's answer is not finite"
    if found.certain and np.abs(found.numbers.sum(axis=1) - 1).max() > 1e-5:
        return "probabilities do not sum to one"
    size = 1.0 if found.certain else 1 + np.abs(wanted.numbers).max()
    worst = float(np.abs(found.numbers - wanted.numbers).max() / size)
    if not worst <= tolerance(one):
        return f"{'probabilities' if found.certain else 'scores'} differ by {worst:.1e}"
    table = np.column_stack([0 * wanted.numbers, wanted.numbers]) if wanted.numbers.ndim == 1 else wanted.numbers
    top = np.sort(table, axis=1)
    other = (found.codes != wanted.codes) & (top[:, -1] - top[:, -2] > 1e-6 * size)  # those that tie go either way
    if other.mean() > 0.34:
        return f"{other.mean():.0%} of the labels differ"
    return ""


def tolerance(one: Configuration) -> float:
    """float32 in, float32 out."""
    return 1e-3 if any(word in one.words[1] for word in ("loat32", "float16", "float[pyarrow]")) else 1e-6


def _is_about_storage(error: BaseException, one: Configuration) -> bool:
    """The refusals that a plain array does not meet: sparse rows, labels that mean rejection, words to a regression.

    A query is a file of rows, which some methods need in memory; a basis takes numbers and no words.
    """
    text = str(error)
    sparse = (sp.issparse(one.X) and "parse" in text) or "a basis needs numbers" in text
    return sparse or "LazyFrame" in one.words[1] or "reject_label" in text or "scoring cannot judge" in text


def _is_ours(warning: Any) -> bool:
    text = str(warning.message)
    # What scikit-learn takes away, said in its words: code written against it hears the same.
    expected = issubclass(warning.category, FutureWarning) and ("n_jobs" in text or "deprecated in version" in text)
    undefined = issubclass(warning.category, UndefinedMetricWarning)  # a measure of scikit-learn's, of its own fold
    return issubclass(warning.category, DiscriminantWarning) or expected or undefined


SPEAKERS = ("/discriminant/", "/sklearn/utils/validation", "/sklearn/utils/multiclass", "/sklearn/utils/_param")


def _no_sentence(error: BaseException) -> str:
    """What is wrong with an error, where it is not one that this package or scikit-learn's checks raise on purpose."""
    if isinstance(error, TooLong):
        return "hang"
    if isinstance(error, DiscriminantError | NotImplementedError) and len(str(error).split()) >= 4:
        return ""
    last = traceback.extract_tb(error.__traceback__)[-1].filename.replace("\\", "/")
    spoken = isinstance(error, ValueError | TypeError) and any(part in last for part in SPEAKERS[1:])
    return "" if spoken and len(str(error).split()) >= 4 else "internal error"


def _line(error: BaseException) -> str:
    place = traceback.extract_tb(error.__traceback__)[-1] if error.__traceback__ else None
    where = f" ({Path(place.filename).name}:{place.lineno})" if place else ""
    return f"{type(error).__name__}: {str(error)[:200]}{where}"


GOOD = ("right", "told", "refused")


def run(numbers: Any, report: Callable[[str], None]) -> collections.Counter[str]:
    """Outcomes of many configurations; each fault is reported with the command that shows it again."""
    outcomes: collections.Counter[str] = collections.Counter()
    for number in numbers:
        one = configuration(number)
        kind, line = judge(one)
        outcomes[kind] += 1
        if kind not in GOOD:
            report(f"{kind}: {line}\n    {one}\n    {COMMAND} {number}")
        if not (done := sum(outcomes.values())) % 1000:
            report(f"{done} done")
    return outcomes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=None, help="of this run; by the clock where none is given")
    parser.add_argument("--only", type=int, help="one configuration, by its number")
    parser.add_argument("--record", action="store_true", help="write the figures to drawn.json, for the page")
    given = parser.parse_args()
    if given.only is not None:
        one = configuration(given.only)
        print(one)
        found, _ = attempt(one.model(plain=False), one.X, one.y, one.weight)
        if isinstance(found, BaseException):
            traceback.print_exception(found)
        print(*judge(one))
        return 0
    seed = int(time.time()) % 1_000_000 if given.seed is None else given.seed
    first = seed * 1_000_000
    print(f"seed {seed}: configurations {first} to {first + given.count - 1}", flush=True)
    start = time.process_time()
    outcomes = run(range(first, first + given.count), lambda text: print(text, flush=True))
    print(f"{dict(outcomes)} in {time.process_time() - start:.0f} s of the processor, seed {seed}")
    if given.record:
        figures = {"seed": seed, "count": given.count, "outcomes": dict(outcomes)}
        Path(__file__).with_name("drawn.json").write_text(json.dumps(figures) + "\n")
    return int(any(kind not in GOOD for kind in outcomes))


if __name__ == "__main__":
    sys.exit(main())
