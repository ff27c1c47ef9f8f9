"""The page docs/architecture.md is true: a trace of fits shows where they pass, and each loss stands in one place."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import discriminant
from discriminant import (
    Adaline,
    Discriminant,
    ExponentialFamilyClassifier,
    FisherDiscriminant,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    LinearMachine,
    LinearProgrammingClassifier,
    LinearSVC,
    LogisticRegression,
    LogisticRegressionCV,
    MinimumErrorClassifier,
    MinimumRiskClassifier,
    Perceptron,
    QuadraticDiscriminantAnalysis,
    SigmoidRegressionClassifier,
)
from discriminant.data.blocks import ArrayBlocks
from discriminant.data.device import DeviceSource, open_device
from discriminant.data.evaluate import Evaluate
from discriminant.errors import MismatchError
from discriminant.kernels.compiled import load
from discriminant.optimize import GradientDescent, SingleSample
from discriminant.optimize.row_loss import RowLoss

SOURCE = Path(discriminant.__file__).parent


@dataclass(frozen=True)
class Road:
    """A named method, and all that its fits may ask of a loss: ``Evaluate`` of criteria, and compiled functions.

    A compiled function stands beside the criteria whose text it holds: of sparse fits along columns, of support vector
    machines' duals, of single-sample rules.  Without compiled kernels NumPy bodies ask the criterion (``RowLoss``).
    """

    make: Callable[[], Any]
    evaluations: tuple[str, ...] = ()
    kernels: tuple[str, ...] = ()
    storages: tuple[str, ...] = ("array", "CSR", "file", "Dask", "device")
    classes: int = 2


MEMORY = ("array", "CSR")
SPARSE = {"kernels": ("solve_path",), "storages": MEMORY}
ROADS = {
    "logistic, ridge": Road(lambda: LogisticRegression(), ("Logistic",)),
    "logistic, no penalty": Road(lambda: LogisticRegression(C=np.inf), ("Logistic",)),
    "logistic, named optimizer": Road(lambda: LogisticRegression(optimizer="lbfgs"), ("Logistic",)),
    "logistic, L1": Road(lambda: LogisticRegression(l1_ratio=1.0), ("Logistic",), **SPARSE),
    "logistic, elastic net": Road(lambda: LogisticRegression(l1_ratio=0.5), ("Logistic",), **SPARSE),
    "logistic, bounds": Road(lambda: LogisticRegression(bounds=(0, np.inf)), ("Logistic",), **SPARSE),
    "logistic, Firth": Road(lambda: LogisticRegression(penalty="jeffreys"), ("Logistic",), storages=MEMORY),
    "logistic, one against the rest": Road(
        lambda: LogisticRegression(coding="one-vs-rest"), ("Logistic",), storages=MEMORY, classes=3
    ),
    "logistic, cross-validated": Road(
        lambda: LogisticRegressionCV(Cs=3), ("Logistic",), ("solve_path",), storages=MEMORY
    ),
    "softmax": Road(lambda: LogisticRegression(), ("Softmax",), classes=3),
    "softmax, cross-validated": Road(lambda: LogisticRegressionCV(Cs=3), ("Softmax",), storages=MEMORY, classes=3),
    "softmax, L1": Road(
        lambda: LogisticRegression(l1_ratio=1.0),
        ("Softmax",),
        ("softmax_losses", "softmax_dual"),
        storages=MEMORY,
        classes=3,
    ),
    "perceptron": Road(lambda: Perceptron(), ("Perceptron",), ("sweep",)),
    "perceptron, batch": Road(lambda: Perceptron(mode="batch", max_iter=5), ("Perceptron",)),
    "relaxation, batch": Road(lambda: Perceptron(mode="batch", criterion="relaxation", max_iter=5), ("Relaxation",)),
    "adaline": Road(lambda: Adaline(eta0=0.01, max_iter=20), ("Squared",), ("sweep",)),
    "adaline, batch": Road(lambda: Adaline(mode="batch", max_iter=5), ("Squared",)),
    "sigmoid outputs": Road(lambda: SigmoidRegressionClassifier(start="random"), ("SigmoidSquared",)),
    "sigmoid outputs, from the logistic fit": Road(
        lambda: SigmoidRegressionClassifier(), ("Logistic", "SigmoidSquared")
    ),
    "the method you invent": Road(
        lambda: Discriminant(criterion="squared-hinge", optimizer="newton"), ("SquaredHinge",)
    ),
    "linear machine": Road(
        lambda: LinearMachine(optimizer=SingleSample(epochs=20)), ("Kesler",), ("sweep",), classes=3
    ),
    "linear machine, batch": Road(
        lambda: LinearMachine(optimizer=GradientDescent(iterations=20)), ("Kesler",), classes=3
    ),
    "fewest errors": Road(lambda: MinimumErrorClassifier(seconds=0.2), ("Logistic", "ZeroOne")),
    "least risk": Road(lambda: MinimumRiskClassifier(LogisticRegression()), ("Logistic",)),
    "support vectors, squared hinge": Road(lambda: LinearSVC(), (), ("dual_epochs",), storages=MEMORY),
    "support vectors, hinge": Road(lambda: LinearSVC(loss="hinge"), (), ("hinge_step", "dual_epochs"), storages=MEMORY),
    "support vectors, Crammer and Singer": Road(
        lambda: LinearSVC(multi_class="crammer_singer"), (), ("machine_epoch",), storages=MEMORY, classes=3
    ),
    "linear program": Road(lambda: LinearProgrammingClassifier()),
    "linear discriminants": Road(lambda: LinearDiscriminantAnalysis(), classes=3),
    "linear discriminants, shrunk": Road(lambda: LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")),
    "quadratic discriminants": Road(lambda: QuadraticDiscriminantAnalysis(), classes=3),
    "Fisher": Road(lambda: FisherDiscriminant(), classes=3),
    "least squares": Road(lambda: LeastSquaresClassifier(), classes=3),
    "exponential families": Road(lambda: ExponentialFamilyClassifier(), classes=3),
}
CASES = [(storage, method) for method, road in ROADS.items() for storage in road.storages]
# Those that minimise over whole passes: every pass is an evaluation.
PASSES = [m for m, road in ROADS.items() if road.evaluations and not road.kernels]


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


@pytest.fixture
def drawn() -> tuple[np.ndarray, dict[int, np.ndarray]]:
    rng = np.random.default_rng(0)
    X = np.abs(rng.standard_normal((500, 3)))  # counts and durations are not negative
    z = X[:, 0] - X[:, 1] + 0.5 * rng.logistic(size=500)
    return X, {2: (z > 0).astype(int), 3: np.digitize(z, [-0.5, 0.5])}


@pytest.fixture
def asked(monkeypatch) -> set[str]:
    """What was asked of a loss since: criteria of evaluations, and compiled functions."""
    seen: set[str] = set()

    def watch(owner: Any, name: str, label: Callable[[Any], str]) -> None:
        plain = getattr(owner, name)

        def watched(*given: Any, **named: Any) -> Any:
            seen.add(label(given[0]))
            return plain(*given, **named)

        monkeypatch.setattr(owner, name, watched)

    for name in ("__call__", "on_device", "inputs"):
        watch(Evaluate, name, lambda request: type(request.criterion).__name__)
    watch(RowLoss, "value_and_slope", lambda loss: type(loss.criterion).__name__)
    kernels = load()
    for name in [name for name in dir(kernels) if kernels and not name.startswith("_") and name not in ALGEBRA]:
        watch(kernels, name, lambda _, name=name: name)
    return seen


# Compiled functions that hold no loss: descents minimise a quadratic model, and ``evaluate`` is the compiled body of
# ``Evaluate``, which names its criterion.  ``newton`` passes over rows by that body, of a request whose ``inputs`` it
# is handed.
ALGEBRA = {
    "best_level",
    "descend",
    "cholesky",
    "cholesky_solve",
    "cholesky_trace",
    "longest_row",
    "evaluate",
    "newton",
}


@pytest.mark.parametrize(("storage", "method"), CASES, ids=str)
def test_a_fit_asks_for_a_loss_in_its_place_alone(storage, method, tmp_path, drawn, asked):
    """Whatever holds the rows, a loss is its criterion's: asked for by evaluations, or where it stands in C."""
    X, y = drawn
    road = ROADS[method]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a batch of five steps has not converged, and says so
        road.make().fit(*STORAGES[storage](tmp_path, X, y[road.classes]))
    assert asked <= {*road.evaluations, *road.kernels}
    if method in PASSES:
        assert asked, "no evaluation was asked for"


@pytest.mark.parametrize("method", [m for m, road in ROADS.items() if road.storages == MEMORY])
def test_what_needs_rows_in_memory_says_so(method, tmp_path, drawn):
    X, y = drawn
    road = ROADS[method]
    with pytest.raises(MismatchError):
        road.make().fit(*_file(tmp_path, X, y[road.classes]))


def test_every_named_method_is_traced():
    """The table above has each public class that learns."""
    learn = {name for name, home in discriminant._HOMES.items() if home.startswith("estimators.") and name[0].isupper()}
    assert learn == {type(road.make()).__name__ for road in ROADS.values()}


MOMENTS = [m for m, road in ROADS.items() if not (road.evaluations or road.kernels) and m != "linear program"]


@pytest.mark.parametrize("method", MOMENTS)
def test_closed_forms_read_rows_in_memory_once(method, drawn, monkeypatch):
    """The generative methods ask rows that lie in memory for sums, in one pass or, for shrinkage, two."""
    monkeypatch.setattr("discriminant.gaussian.moments.RESIDUAL_VALUES", 0)  # as many rows as do not fit the cache
    X, y = drawn
    passes: list[str] = []
    plain = ArrayBlocks.reduce

    def watched(self: ArrayBlocks, kernel: Any) -> Any:
        passes.append(type(kernel).__name__)
        return plain(self, kernel)

    monkeypatch.setattr(ArrayBlocks, "reduce", watched)
    road = ROADS[method]
    road.make().fit(X, y[road.classes])
    assert 1 <= len(passes) <= (2 if "shrunk" in method else 1), passes


# Where e^{−|z|}, the mark of a logistic loss or posterior, may stand: the criteria, the posteriors of the decision
# layer, and log(1 + e^z) in the words of SQL and C.
HOMES = {
    "criteria/logistic.py",
    "criteria/squared.py",
    "decision/posteriors.py",
    "io/cells.py",
}


def test_the_logistic_loss_stands_in_its_places_alone():
    """No other module forms e^{−|z|}: who needs a loss asks its criterion."""
    mark = re.compile(r"exp\(-(np|xp)\.abs\(")
    found = {str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py") if mark.search(path.read_text("utf-8"))}
    assert found <= HOMES
