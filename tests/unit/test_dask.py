"""Rows on Dask: the same fits, whatever the scheduler; only sums travel, and workers may die."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from discriminant import (
    Discriminant,
    FisherDiscriminant,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    LinearSVC,
    LogisticRegression,
    Perceptron,
    QuadraticDiscriminantAnalysis,
)
from discriminant.data import dask_parts, dask_source
from discriminant.data.sources import find_source
from discriminant.errors import ClusterError, DataError, MismatchError
from discriminant.optimize import SingleSample
from discriminant.optimize.iterative import Step

da = pytest.importorskip("dask.array", reason="Dask is not installed")
dd = pytest.importorskip("dask.dataframe", reason="Dask's data frames are not installed")
pd = pytest.importorskip("pandas", reason="Dask's data frames are made of pandas frames")


def problem(n_classes: int, n: int = 3_000, d: int = 5, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.3 * rng.normal(size=(d, d))) + 2.0
    z = (X - 2.0) @ rng.normal(size=(d, n_classes))
    return X, np.argmax(z + rng.gumbel(size=z.shape), axis=1)


METHODS = {
    "lda": LinearDiscriminantAnalysis,
    "qda": QuadraticDiscriminantAnalysis,
    "fisher": FisherDiscriminant,
    "least squares": LeastSquaresClassifier,
    "logistic": lambda: LogisticRegression(tol=1e-10),
    "perceptron": lambda: Perceptron(mode="batch", max_iter=15),
    "relaxation": lambda: Perceptron(mode="batch", criterion="relaxation", margin=1.0, max_iter=15),
}


def gone(rows: Any, y: Any) -> Any:
    """Rows whose chunk sizes are not known."""
    return rows[rows[:, 0] > -1e9], y


FORMS = {
    "array": lambda X, y: (da.from_array(X, chunks=(700, 2)), da.from_array(y, chunks=1_000)),
    "labels in memory": lambda X, y: (da.from_array(X, chunks=(700, -1)), y),
    "unknown chunks": lambda X, y: gone(da.from_array(X, chunks=(700, -1)), y),
    "frame": lambda X, y: (
        dd.from_pandas(pd.DataFrame(X, columns=list("abcde")), npartitions=4),
        dd.from_pandas(pd.Series(y), npartitions=4),
    ),
}


@pytest.mark.filterwarnings("ignore:Not converged")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", METHODS)
def test_the_fit_is_that_of_the_same_rows_in_memory(method: str, n_classes: int, form: str) -> None:
    X, y = problem(n_classes)
    rows, labels = FORMS[form](X, y)
    model, best = METHODS[method]().fit(rows, labels), METHODS[method]().fit(X, y)
    wide = 3e-4 if method == "logistic" else 1e-9  # a gap of 1e-10·J leaves scores to about its root
    scores = best.decision_function(X)
    lazy = model.decision_function(rows)
    assert type(lazy).__module__.startswith("dask")
    np.testing.assert_allclose(np.asarray(lazy), scores, atol=wide * np.abs(scores).max())
    assert model.score(rows, labels) == pytest.approx(best.score(X, y), abs=1e-3)
    assert isinstance(model.classes_, np.ndarray)


def test_weights_and_class_weights_mean_what_they_mean_in_memory() -> None:
    X, y = problem(3)
    w = np.random.default_rng(1).integers(0, 4, len(y))
    rows, labels = FORMS["array"](X, y)
    weight = da.from_array(w, chunks=500)
    for make in (LinearDiscriminantAnalysis, lambda: LogisticRegression(class_weight="balanced", tol=1e-10)):
        model = make().fit(rows, labels, sample_weight=weight)
        np.testing.assert_allclose(model.coef_, make().fit(X, y, sample_weight=w).coef_, rtol=1e-3, atol=1e-4)
    with pytest.raises(DataError, match="zero for every row"):
        LinearDiscriminantAnalysis().fit(rows, labels, sample_weight=0 * weight)


def test_only_sums_and_a_bounded_sample_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = problem(2, n=20_000)
    sizes: list[int] = []

    def weigh(self: Any, task: Any, run: Any = dask_source.Engine.run) -> Any:
        result = run(self, task)
        sizes.append(_bytes(result))
        return result

    monkeypatch.setattr(dask_source.Engine, "run", weigh)
    rows = find_source(da.from_array(X, chunks=(2_000, -1)))
    model = LogisticRegression().fit(replace(rows, sample_bytes=50_000), y)
    assert model.certificate_.converged
    assert max(sizes) < 150_000 < X.nbytes / 5
    assert model.certificate_.passes <= 8


def _bytes(result: Any) -> int:
    import pickle

    return len(pickle.dumps(result))


def test_predictions_are_lazy_and_keep_index_type_and_columns() -> None:
    X, y = problem(3)
    names = np.array(["red", "green", "blue"])[y]
    frame = pd.DataFrame(X, columns=list("abcde"), index=np.arange(len(y)) * 2)
    rows = dd.from_pandas(frame, npartitions=3)
    labels = dd.from_pandas(pd.Series(names, index=frame.index), npartitions=3)
    model = LinearDiscriminantAnalysis().fit(rows, labels)
    assert model.feature_names_in_.tolist() == list("abcde")
    chances = model.predict_proba(rows)
    assert list(chances.columns) == ["blue", "green", "red"]
    found = chances.compute()
    assert found.index.equals(frame.index)
    memory = LinearDiscriminantAnalysis().fit(frame, names)
    np.testing.assert_allclose(found.to_numpy(), memory.predict_proba(frame), atol=1e-12)
    assert (model.predict(rows).compute().to_numpy() == memory.predict(frame)).all()
    assert model.predict(frame).tolist() == memory.predict(frame).tolist()
    single = da.from_array(X.astype(np.float32), chunks=(1_000, -1))
    small = LogisticRegression().fit(single, y)
    assert small.coef_.dtype == np.float32
    assert small.predict_proba(single).dtype == small.predict_proba(single).compute().dtype
    assert small.predict(single).chunks == (single.chunks[0],)


def test_two_models_with_the_same_parameters_predict_together() -> None:
    """Dask tells tasks apart by their tokens: a model's must depend on what it has learned."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    models = [LinearSVC().fit(X, (X[:, j] > 0).astype(int)) for j in (0, 1)]
    lazy = [model.decision_function(da.from_array(X, chunks=(20, 3))) for model in models]
    for found, model in zip(da.compute(*lazy), models, strict=True):
        np.testing.assert_allclose(found, model.decision_function(X))


@pytest.mark.parametrize("known", [True, False])
def test_categorical_columns_become_columns_of_zeros_and_ones(known: bool) -> None:
    X, y = problem(2, n=1_200)
    colour = np.array(["blue", "green", "red"])[np.random.default_rng(2).integers(0, 3, len(y))]
    y = np.where((colour == "red") & (X[:, 0] > 1.0), 1, y)
    frame = pd.DataFrame({"a": X[:, 0], "colour": pd.Categorical(colour), "b": X[:, 1]})
    rows = dd.from_pandas(frame, npartitions=3)
    if not known:
        rows["colour"] = rows["colour"].astype(str).astype("category")
    labels = dd.from_pandas(pd.Series(pd.Categorical(np.where(y == 1, "yes", "no"))), npartitions=3)
    model = LogisticRegression(tol=1e-12).fit(rows, labels)
    assert model.feature_names_in_.tolist() == ["a", "colour", "b"]
    assert model.discriminant_.names == ("a", "colour=green", "colour=red", "b")
    assert model.classes_.tolist() == ["no", "yes"]
    plain = np.column_stack([X[:, 0], colour == "green", colour == "red", X[:, 1]])
    best = LogisticRegression(tol=1e-12).fit(plain, y)
    np.testing.assert_allclose(model.coef_, best.coef_, rtol=1e-4, atol=1e-5)
    assert (model.predict(rows).compute() == np.where(best.predict(plain) == 1, "yes", "no")).all()


def test_what_is_wrong_is_told_in_a_sentence() -> None:
    X, y = problem(2, n=400)
    rows = da.from_array(X, chunks=(100, -1))
    with pytest.raises(DataError, match="X has 400 rows and y has 399"):
        LinearDiscriminantAnalysis().fit(rows, y[:399])
    with pytest.raises(DataError, match="X has 400 rows and y has 399"):
        LinearDiscriminantAnalysis().fit(rows, da.from_array(y[:399], chunks=100))
    unknown = rows[rows[:, 0] > -1e9]
    with pytest.raises(DataError, match="4 partitions and y has 2"):
        LinearDiscriminantAnalysis().fit(unknown, da.from_array(y, chunks=200)[da.from_array(y, chunks=200) >= 0])
    with pytest.raises(DataError, match="one class only"):
        LinearDiscriminantAnalysis().fit(rows, np.zeros(400))
    X[123, 3] = np.nan
    with pytest.raises(DataError, match=r"NaN: .*3 in row 123"):
        LinearDiscriminantAnalysis().fit(da.from_array(X, chunks=(100, -1)), y)
    words = dd.from_pandas(pd.DataFrame({"a": X[:, 0], "b": ["x"] * 400}), npartitions=2)
    with pytest.raises(DataError, match="'b' holds"):
        LinearDiscriminantAnalysis().fit(words, y)
    with pytest.raises(MismatchError, match="several workers"):
        Perceptron(average=True).fit(rows, y)


def test_a_mixed_perceptron_separates_what_can_be_separated() -> None:
    """Iterative parameter mixing: no correction in a whole epoch is reached within the theorem's (R/γ)²."""
    rng = np.random.default_rng(3)
    X, w = rng.normal(size=(2_000, 4)), rng.normal(size=4)
    keep = np.abs(X @ w + 0.3) > 0.25 * np.linalg.norm(w)
    X = X[keep]
    y = (X @ w + 0.3 > 0).astype(int)
    model = Perceptron(tol=None, max_iter=500).fit(da.from_array(X, chunks=(300, -1)), y)
    assert model.separated_
    assert (model.predict(X) == y).all()
    Y = np.column_stack([np.ones(len(X)), X])
    u = np.concatenate([[0.3], w])
    margin = ((2 * y - 1) * (Y @ u)).min() / np.linalg.norm(u)
    bound = (Y**2).sum(axis=1).max() / margin**2
    mixed = len(model.history_["corrections"]) - 1  # each epoch but the last has a mixed correction of at least one
    assert mixed <= bound
    again = Perceptron(tol=None, max_iter=500).fit(da.from_array(X, chunks=(300, -1)), y)
    np.testing.assert_array_equal(model.coef_, again.coef_)


@pytest.mark.filterwarnings("ignore:Stopped by the callback")
def test_a_callback_watches_and_ends_epochs_on_workers_as_it_does_here() -> None:
    X, y = problem(2)
    met: list[tuple[int, float]] = []

    def watch(step: Step) -> bool:
        met.append((step.k, step.objective))
        return step.k == 3

    optimizer = SingleSample(callback=watch, step=0.01)
    model = Discriminant(criterion="squared", optimizer=optimizer).fit(da.from_array(X, chunks=(300, -1)), y)
    assert [k for k, _ in met] == [1, 2, 3]
    assert all(loss > 0 for _, loss in met)  # the mean loss met on the way, added up over the partitions
    assert model.certificate_.status == "Stopped by the callback at step 3."


def test_learning_in_parts_and_scores_on_workers() -> None:
    X, y = problem(3)
    rows, labels = FORMS["array"](X, y)
    model = LinearDiscriminantAnalysis().partial_fit(rows, labels, classes=[0, 1, 2])
    best = LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(model.coef_, best.coef_, rtol=1e-7)
    w = np.random.default_rng(0).random(len(y))
    assert model.score(rows, labels, sample_weight=w) == pytest.approx(best.score(X, y, sample_weight=w))


def test_sparse_partitions_stay_sparse() -> None:
    sparse = pytest.importorskip("scipy.sparse", reason="SciPy's sparse matrices")
    X, y = problem(2)
    X[np.random.default_rng(0).random(X.shape) < 0.6] = 0.0
    rows = da.from_array(X, chunks=(800, -1)).map_blocks(sparse.csr_matrix, dtype=float)
    blocks = find_source(rows).training(y, None, None)[0]
    assert isinstance(blocks, dask_source.DaskBlocks)
    assert blocks.is_sparse
    model = LogisticRegression(tol=1e-10).fit(rows, y)
    np.testing.assert_allclose(model.coef_, LogisticRegression(tol=1e-10).fit(X, y).coef_, rtol=1e-3, atol=1e-4)


def test_sums_do_not_change_what_they_add() -> None:
    parts = [np.ones(2), None, 2 * np.ones(2)]
    assert dask_parts.add(parts).tolist() == [3.0, 3.0]
    assert parts[0].tolist() == [1.0, 1.0]


# A cluster of processes


@pytest.fixture
def cluster() -> Any:
    distributed = pytest.importorskip("distributed", reason="Dask's distributed scheduler is not installed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as made,
        distributed.Client(made) as client,
    ):
        yield made, client


def _slowly(block: Any, pause: float) -> Any:
    time.sleep(pause)
    return block


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_a_worker_that_dies_in_mid_fit_changes_no_bit(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _, client = cluster
    X, y = problem(3, n=6_000)
    rows = da.from_array(X, chunks=(1_000, -1)).map_blocks(_slowly, 0.02, dtype=float)
    quiet = LogisticRegression(tol=1e-9).fit(rows, y)
    pids = list(client.run(os.getpid).values())
    passes = []

    def interrupted(self: Any, kernel: Any, *args: Any, total: Any = dask_source.Engine.total) -> Any:
        passes.append(type(kernel).__name__)
        if len(passes) == 1:  # in the first pass over all rows
            threading.Timer(0.02, os.kill, (pids[0], signal.SIGKILL)).start()
        return total(self, kernel, *args)

    monkeypatch.setattr(dask_source.Engine, "total", interrupted)
    model = LogisticRegression(tol=1e-9).fit(rows, y)
    assert len(passes) > 1
    assert pids[0] not in client.run(os.getpid).values()
    np.testing.assert_array_equal(model.coef_, quiet.coef_)
    np.testing.assert_array_equal(model.intercept_, quiet.intercept_)
    assert (model.predict(rows[:100]).compute() == quiet.predict(X[:100])).all()  # methods of a model travel, too


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_a_scheduler_that_goes_away_gives_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed", reason="Dask's distributed scheduler is not installed")
    monkeypatch.setattr(dask_source, "PATIENCE", 2.0)
    X, y = problem(2, n=2_000)
    made = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    )
    client = distributed.Client(made)
    try:
        rows = da.from_array(X, chunks=(100, -1)).map_blocks(_slowly, 0.2, dtype=float)
        model = LinearDiscriminantAnalysis().fit(X, y)
        before = model.coef_.copy()
        threading.Timer(0.7, made.close).start()
        began = time.monotonic()
        with pytest.raises(ClusterError, match=r"scheduler is gone|gave up"):
            model.fit(rows, y)
        assert time.monotonic() - began < 60
        np.testing.assert_array_equal(model.coef_, before)
    finally:
        client.close()
        made.close()
