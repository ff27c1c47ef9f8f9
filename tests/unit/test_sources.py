"""One set of fits over every kind of source: the same objective, the same optimum, the same attributes.

A source is one line in ``SOURCES``: a name and a function (folder, X, y) → what is handed to ``fit`` (rows, labels).
Rows in files hold their labels themselves: labels None.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import discriminant
from discriminant import (
    Adaline,
    FisherDiscriminant,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    Perceptron,
    QuadraticDiscriminantAnalysis,
)

Given = tuple[Any, Any]


def _here(values: Any) -> Any:
    """Results as a NumPy array; CuPy wants to be asked."""
    return np.asarray(values.get() if type(values).__module__.startswith("cupy") else values)


N, D = 4_000, 7


def _memmap(folder: Path, X: Any, y: Any) -> Given:
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r"), y


def _npy(folder: Path, X: Any, y: Any) -> Given:
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    return discriminant.scan(folder / "X.npy", target=str(folder / "y.npy"), hold=False), None


def _columns_npy(folder: Path, X: Any, y: Any) -> Given:
    np.save(folder / "XF.npy", np.asfortranarray(np.column_stack([X, y])))
    return discriminant.scan(folder / "XF.npy", target=-1, hold=False), None


def _table(X: Any, y: Any) -> Any:
    pa = pytest.importorskip("pyarrow", reason="the files are written by pyarrow")
    return pa.table({**{f"x{j}": X[:, j] for j in range(X.shape[1])}, "label": y})


def _parquet(folder: Path, X: Any, y: Any) -> Given:
    table = _table(X, y)
    import pyarrow.parquet as parquet

    half = len(y) // 2
    parquet.write_table(table.slice(0, half), folder / "a.parquet", row_group_size=700)
    parquet.write_table(table.slice(half), folder / "b.parquet")
    return discriminant.scan(str(folder / "*.parquet"), target="label", hold=False), None


def _arrow(folder: Path, X: Any, y: Any) -> Given:
    table = _table(X, y)
    import pyarrow as pa

    with pa.ipc.new_file(str(folder / "t.arrow"), table.schema) as writer:
        writer.write_table(table, max_chunksize=900)
    return discriminant.scan(folder / "t.arrow", target="label", hold=False), None


def _csv(folder: Path, X: Any, y: Any) -> Given:
    table = _table(X, y)
    from pyarrow import csv

    csv.write_csv(table, folder / "t.csv")
    return discriminant.scan(folder / "t.csv", target="label", hold=False), None


def _libsvm(folder: Path, X: Any, y: Any) -> Given:
    from sklearn.datasets import dump_svmlight_file

    dump_svmlight_file(X, y, str(folder / "t.svm"), zero_based=False)
    return discriminant.scan(folder / "t.svm", hold=False), None


def _held(folder: Path, X: Any, y: Any) -> Given:
    rows, _ = _npy(folder, X, y)
    rows.hold = True
    return rows, None


def _dask_array(folder: Path, X: Any, y: Any) -> Given:
    da = pytest.importorskip("dask.array", reason="Dask is not installed")
    return da.from_array(X, chunks=(900, 3)), da.from_array(y, chunks=1_000)


def _dask_frame(folder: Path, X: Any, y: Any) -> Given:
    dd = pytest.importorskip("dask.dataframe", reason="Dask's data frames are not installed")
    pd = pytest.importorskip("pandas", reason="Dask's data frames are made of pandas frames")
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    return dd.from_pandas(frame, npartitions=4), dd.from_pandas(pd.Series(y), npartitions=4)


def _torch(folder: Path, X: Any, y: Any) -> Given:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    return torch.from_numpy(np.ascontiguousarray(X)), torch.from_numpy(y)


def _torch_at_work(folder: Path, X: Any, y: Any) -> Given:
    """Few as they are, the rows are worked on where they lie."""
    rows, labels = _torch(folder, X, y)
    from discriminant.data.device import DeviceSource, open_device

    return DeviceSource(open_device(rows).rows, smallest=0), labels


def _cupy(folder: Path, X: Any, y: Any) -> Given:
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    return cupy.asarray(X), cupy.asarray(y)


SOURCES: dict[str, Callable[[Path, Any, Any], Given]] = {
    "array": lambda folder, X, y: (X, y),
    "CSR": lambda folder, X, y: (sparse.csr_array(X), y),
    "memmap": _memmap,
    "npy scan": _npy,
    "column-major npy scan": _columns_npy,
    "Parquet scan": _parquet,
    "Arrow scan": _arrow,
    "CSV scan": _csv,
    "libsvm scan": _libsvm,
    "held scan": _held,
    "Dask array": _dask_array,
    "Dask frame": _dask_frame,
    "torch": _torch,
    "torch at work": _torch_at_work,
    "CuPy": _cupy,
}


def _data(n_classes: int) -> Given:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(N, D)) @ (np.eye(D) + 0.4 * rng.normal(size=(D, D))) * 10.0 ** rng.integers(-1, 2, D)
    X[:, 2] += 5.0
    X[rng.random((N, D)) < 0.2] = 0.0
    z = (X - X.mean(axis=0)) / X.std(axis=0) @ rng.normal(size=(D, n_classes))
    return X, np.argmax(z + rng.gumbel(size=z.shape), axis=1)


@pytest.fixture(params=sorted(SOURCES))
def source(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_logistic_regression(source: str, n_classes: int, tmp_path: Path) -> None:
    X, y = _data(n_classes)
    best = LogisticRegression(tol=1e-12).fit(X, y)
    rows, labels = SOURCES[source](tmp_path, X, y)
    model = LogisticRegression(tol=1e-6).fit(rows, labels)
    certificate = model.certificate_
    J = certificate.objective
    assert certificate.converged
    assert J - best.certificate_.objective <= certificate.gap + 1e-12
    assert certificate.gap <= 1e-6 * J
    assert certificate.bound <= best.certificate_.objective + 1e-12
    if labels is None:
        assert certificate.passes <= 6 or source == "held scan"
    # (a − a*)ᵗ H (a − a*) ≤ 2·gap·(1 + …): what the certificate promises about the scores
    coef, intercept = _here(model.coef_), _here(model.intercept_)
    away = X @ (coef - best.coef_).T + (intercept - best.intercept_)
    p = best.predict_proba(X)
    if n_classes == 2:
        curve = p[:, 1] * p[:, 0]
        distance = float(np.mean(curve * away[:, 0] ** 2))
    else:
        distance = float(np.mean((p * away**2).sum(axis=1) - (p * away).sum(axis=1) ** 2))
    assert distance <= 2.2 * certificate.gap + 1e-12
    np.testing.assert_array_equal(model.classes_, np.arange(n_classes))
    assert abs(model.score(rows, labels) - best.score(X, y)) < 2e-3
    np.testing.assert_allclose(_here(model.predict_proba(rows)), best.predict_proba(X), atol=5e-3)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "method", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, FisherDiscriminant, LeastSquaresClassifier]
)
def test_closed_forms(source: str, method: Any, n_classes: int, tmp_path: Path) -> None:
    X, y = _data(n_classes)
    rows, labels = SOURCES[source](tmp_path, X, y)
    model, best = method().fit(rows, labels), method().fit(X, y)
    scores = _here(model.decision_function(rows)), best.decision_function(X)
    np.testing.assert_allclose(*scores, rtol=1e-7, atol=1e-8 * np.abs(scores[1]).max())
    assert model.score(rows, labels) == pytest.approx(best.score(X, y), abs=1e-12)
    if hasattr(rows, "passes"):
        assert rows.passes <= 5.2  # labels, sample, one pass for the moments, two for predicting


@pytest.mark.filterwarnings("ignore:Not converged")
@pytest.mark.parametrize("method", ["batch perceptron", "batch relaxation", "batch LMS"])
def test_batch_descent(source: str, method: str, tmp_path: Path) -> None:
    X, y = _data(2)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    if source in ("CSR", "libsvm scan"):
        X = np.where(np.abs(X) < 0.1, 0.0, X)

    def make() -> Any:
        if method == "batch LMS":
            return Adaline(mode="batch", max_iter=20)
        criterion = "relaxation" if "relax" in method else "perceptron"
        return Perceptron(mode="batch", criterion=criterion, margin=1.0, max_iter=20)

    rows, labels = SOURCES[source](tmp_path, X, y)
    model, best = make().fit(rows, labels), make().fit(X, y)
    np.testing.assert_allclose(_here(model.coef_), best.coef_, rtol=1e-8, atol=1e-10)
    assert model.score(rows, labels) == pytest.approx(best.score(X, y), abs=1e-9)


@pytest.mark.parametrize("method", [LinearDiscriminantAnalysis, LogisticRegression])
def test_learning_in_parts(source: str, method: Any, tmp_path: Path) -> None:
    X, y = _data(3)
    rows, labels = SOURCES[source](tmp_path, X, y)
    model = method().partial_fit(rows, labels, classes=[0, 1, 2])
    assert abs(model.score(rows, labels) - method().fit(X, y).score(X, y)) < 5e-3


def test_separability(source: str, tmp_path: Path) -> None:
    X, y = _data(2)
    rows, labels = SOURCES[source](tmp_path, X, y)
    result = discriminant.separability(rows, labels)
    assert result.verdict == "overlapping"
    assert result.check()
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    far = np.abs(X[:, 0] + X[:, 1]) > 0.05
    rows, labels = SOURCES[source](tmp_path, X[far], y[far])
    result = discriminant.separability(rows, labels)
    assert result.verdict == "separable"
    assert result.check()
