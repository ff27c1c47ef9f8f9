"""Histories: columns that grow together, as frames and pictures."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

from discriminant import criteria
from discriminant.codings import make_coding
from discriminant.data import make_blocks
from discriminant.errors import ParameterError
from discriminant.objective import PointwiseObjective
from discriminant.optimize import GradientDescent, History, SingleSample

mpl.use("agg")


def objective(criterion, coding="two-class", K=2):
    X = np.random.default_rng(0).standard_normal((30, 2))
    made = make_coding(coding, K, labels=criterion.labels)
    return PointwiseObjective(make_blocks(X, np.arange(30) % K), criterion, made)


def test_columns_grow_together():
    history = History()
    weights = np.zeros(2)
    history.record(k=1, weights=weights)
    weights += 1
    history.record(k=2, weights=weights)
    np.testing.assert_array_equal(history["weights"], [[0, 0], [1, 1]])
    assert len(history) == 2
    assert "k" in history
    with pytest.raises(ParameterError, match="has 'k' and 'weights'"):
        history.record(k=3)
    with pytest.raises(ParameterError, match="no column 'J'"):
        _ = history["J"]


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_frame_has_a_row_a_step_and_a_column_a_weight(backend):
    J = objective(criteria.Softmax(), "softmax", 3)
    run = GradientDescent(0.1, iterations=5, trace=True, count_errors=True).minimize(J, np.zeros((3, 3)))
    frame = run.history.to_frame(backend)
    assert len(frame) == 6
    assert list(frame.columns)[:5] == ["k", "objective", "gradient_norm", "step", "errors"]
    assert list(frame.columns)[5:] == [f"a{i}_{j}" for i in range(3) for j in range(3)]
    np.testing.assert_allclose(np.asarray(frame["a1_2"]), run.history["weights"][:, 1, 2])
    two = GradientDescent(0.1, iterations=2, trace=True).minimize(objective(criteria.Logistic()), np.zeros((3, 1)))
    assert list(two.history.to_frame(backend).columns)[-3:] == ["a0", "a1", "a2"]


def test_corrections_are_a_frame_too():
    run = SingleSample(epochs=3, trace=True, engine="numpy").minimize(
        objective(criteria.Perceptron()), np.zeros((3, 1))
    )
    frame = run.history.to_frame()
    assert list(frame.columns) == ["k", "sample", "output", "size", "objective", "errors", "a0", "a1", "a2"]
    assert len(frame) == run.corrections + 1 == len(run.history)  # record 0 is the start
    np.testing.assert_array_equal(frame[["a0", "a1", "a2"]], run.history["weights"][:, :, 0])
    np.testing.assert_array_equal(run.history.weights(), run.history["weights"])
    assert len(run.history.epochs) == 3


def test_a_history_prints_as_a_short_table():
    history = History()
    assert repr(history).startswith("History without records: ")
    for k in range(30):
        history.record(k=k, objective=1 / (1 + k), weights=np.full((2, 1), float(k)))
    lines = repr(history).splitlines()
    assert lines[0] == "History of 30 records"
    assert lines[1].split() == ["k", "objective", "a0", "a1"]
    assert len(lines) == 2 + 5 + 1 + 5
    assert lines[-1].split() == ["29", "0.03333", "29", "29"]
    wide = History()
    wide.record(k=0, weights=np.zeros((40, 3)))
    assert repr(wide).endswith("… and 109 more columns: to_frame() has them all")


def test_weights_that_were_not_traced_are_asked_for_in_a_sentence():
    run = GradientDescent(0.1, iterations=2).minimize(objective(criteria.Logistic()), np.zeros((3, 1)))
    assert run.history.weights() is None
    with pytest.raises(ParameterError, match="trace=True"):
        _ = run.history["weights"]


def test_plot_draws_the_column():
    run = GradientDescent(0.1, iterations=5).minimize(objective(criteria.Logistic()), np.zeros((3, 1)))
    ax = run.history.plot()
    (line,) = ax.get_lines()
    np.testing.assert_array_equal(line.get_ydata(), run.history["objective"])
    assert ax.get_ylabel() == "objective"
    assert run.history.plot("gradient_norm", ax=ax) is ax
    mpl.pyplot.close("all")
