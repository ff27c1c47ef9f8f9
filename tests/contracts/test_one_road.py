"""The page docs/architecture.md is true: a trace of fits shows where they pass, and each loss stands in one place."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import discriminant
from discriminant import (
    Adaline,
    Discriminant,
    LinearMachine,
    LogisticRegression,
    Perceptron,
    SigmoidRegressionClassifier,
    criteria,
)
from discriminant.data.device import DeviceSource, open_device
from discriminant.data.evaluate import Evaluate

SOURCE = Path(discriminant.__file__).parent

# Methods that minimise a criterion over all rows, and the criterion that each of their evaluations must have.
METHODS: dict[str, tuple[Any, type]] = {
    "logistic, ridge": (lambda: LogisticRegression(), criteria.Logistic),
    "logistic, no penalty": (lambda: LogisticRegression(C=np.inf), criteria.Logistic),
    "logistic, named optimizer": (lambda: LogisticRegression(optimizer="lbfgs"), criteria.Logistic),
    "perceptron, batch": (lambda: Perceptron(mode="batch", max_iter=5), criteria.Perceptron),
    "relaxation, batch": (lambda: Perceptron(mode="batch", criterion="relaxation", max_iter=5), criteria.Relaxation),
    "adaline, batch": (lambda: Adaline(mode="batch", max_iter=5), criteria.Squared),
    "sigmoid outputs": (lambda: SigmoidRegressionClassifier(start="random"), criteria.SigmoidSquared),
    "the method you invent": (
        lambda: Discriminant(criterion="squared-hinge", optimizer="newton"),
        criteria.SquaredHinge,
    ),
    "linear machine, batch": (lambda: LinearMachine(optimizer="gradient-descent"), criteria.Kesler),
}
ANYWHERE = ("logistic, ridge", "perceptron, batch", "relaxation, batch", "adaline, batch")


def _array(folder: Path, X: np.ndarray, y: np.ndarray) -> tuple[Any, ...]:
    return X, y


def _sparse(folder: Path, X: np.ndarray, y: np.ndarray) -> tuple[Any, ...]:
    return sp.csr_array(X), y


def _file(folder: Path, X: np.ndarray, y: np.ndarray) -> tuple[Any, ...]:
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    return (discriminant.scan(folder / "X.npy", target=str(folder / "y.npy"), hold=False),)


def _dask(folder: Path, X: np.ndarray, y: np.ndarray) -> tuple[Any, ...]:
    da = pytest.importorskip("dask.array", reason="Dask is not installed")
    return da.from_array(X, chunks=(150, -1)), da.from_array(y, chunks=150)


def _device(folder: Path, X: np.ndarray, y: np.ndarray) -> tuple[Any, ...]:
    strict = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
    return DeviceSource(open_device(strict.asarray(X)).rows, smallest=0), strict.asarray(y)


STORAGES = {"array": _array, "CSR": _sparse, "file": _file, "Dask": _dask, "device": _device}
CASES = [
    (s, m)
    for s in STORAGES
    for m in METHODS
    if s in ("array", "CSR") or (m in ANYWHERE if s != "device" else m.endswith(("ridge", "no penalty")))
]


@pytest.mark.parametrize(("storage", "method"), CASES, ids=str)
def test_a_fit_asks_its_rows_by_evaluations_of_its_criterion(storage, method, tmp_path, monkeypatch):
    """Every pass is ``Blocks.reduce`` of an ``Evaluate`` whose criterion is the method's, wherever the rows are."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 3))
    y = (X[:, 0] + 0.5 * rng.logistic(size=500) > 0).astype(int)
    seen: list[type] = []

    def watch(name: str) -> None:
        plain = getattr(Evaluate, name)

        def watched(self: Evaluate, rows: Any) -> Any:
            seen.append(type(self.criterion))
            return plain(self, rows)

        monkeypatch.setattr(Evaluate, name, watched)

    for name in ("__call__", "on_device"):
        watch(name)
    make, criterion = METHODS[method]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a batch of five steps has not converged, and says so
        make().fit(*STORAGES[storage](tmp_path, X, y))
    assert seen, "no evaluation was asked for"
    assert set(seen) == {criterion}


# Where e^{−|z|}, the mark of a logistic loss or posterior, may stand: the criteria and the posteriors of the decision
# layer.
HOMES = {
    "criteria/logistic.py",
    "criteria/links.py",
    "criteria/squared.py",
    "decision/posteriors.py",
}


def test_the_logistic_loss_stands_in_its_places_alone():
    """No other module forms e^{−|z|}: who needs a loss asks its criterion."""
    mark = re.compile(r"exp\(-(np|xp)\.abs\(")
    found = {str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py") if mark.search(path.read_text("utf-8"))}
    assert found <= HOMES
