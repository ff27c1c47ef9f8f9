"""What may not change an answer: the order of rows and classes, names, units, axes, counting by weight, blocks.

Each property is drawn over data sets and over every estimator of which it is true; who is left out is left out by name,
with the reason.
"""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.judge import ours

ESTIMATORS = ours()
seeds = st.integers(0, 10_000)
few = settings(max_examples=6)

STEPS = {"Perceptron", "Adaline", "LinearMachine"}  # they step from row to row: order, units and weights are the method
SEARCH = {"MinimumErrorClassifier"}  # of equally good answers the one that a random walk met
FOLDS = {"LogisticRegressionCV"}  # rows go to folds by their order
PROGRAM = {"LinearProgrammingClassifier"}  # of many solutions of one program, the solver's
RIDGE = {"LogisticRegression", "LogisticRegressionCV", "LinearSVC"}  # a penalty is a matter of units


def all_but(*groups):
    left = set().union(*groups)
    return pytest.mark.parametrize("name", [name for name in ESTIMATORS if name not in left])


def draw(seed):
    """Overlapping classes of unlike size, some rows with the label of another."""
    rng = np.random.default_rng(seed)
    K, d = int(rng.integers(2, 4)), int(rng.integers(2, 5))
    y = np.r_[np.arange(K), rng.choice(K, 60, p=np.arange(1, K + 1) / np.arange(1, K + 1).sum())]
    X = rng.normal(size=(len(y), d)) @ (np.eye(d) + 0.3 * rng.normal(size=(d, d))) + 1.2 * np.eye(K, d)[y]
    return rng, X, np.where(rng.random(len(y)) < 0.2, rng.integers(0, K, len(y)), y)


def fit(name, X, y, weight=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ESTIMATORS[name]()
        return model.fit(X, y) if weight is None else model.fit(X, y, sample_weight=weight)


def scores(model, X):
    """(n, K) or (n,): log odds where there are probabilities, else the decision function."""
    if type(model).__name__ == "SigmoidRegressionClassifier":
        # Not convex, and saturated outputs run towards infinity: how far is a matter of steps, what they say is not.
        return model.predict_proba(X)
    return model.predict_log_proba(X) if hasattr(model, "predict_log_proba") else model.decision_function(X)


SLACK = {"SigmoidRegressionClassifier": 5e-3}  # of probabilities: see ``scores``


def same(name, a, b, tolerance=1e-6):
    size, tolerance = 1 + np.abs(a).max(), SLACK.get(name, tolerance)
    np.testing.assert_allclose(a / size, b / size, atol=tolerance)


@all_but(STEPS, FOLDS)
@few
@given(seeds)
def test_the_order_of_rows(name, seed):
    rng, X, y = draw(seed)
    order = rng.permutation(len(y))
    same(name, scores(fit(name, X, y), X), scores(fit(name, X[order], y[order]), X))


@all_but(set())
@few
@given(seeds)
def test_the_names_of_labels(name, seed):
    """An increasing renaming changes no bit."""
    _, X, y = draw(seed)
    labels = np.array(["ape", "bee", "cat"])
    first, second = fit(name, X, y), fit(name, X, labels[y])
    np.testing.assert_array_equal(scores(first, X), scores(second, X))
    np.testing.assert_array_equal(labels[first.predict(X)], second.predict(X))


@all_but(STEPS, SEARCH, PROGRAM, FOLDS)
@few
@given(seeds)
def test_the_order_of_classes(name, seed):
    """Backwards: the same decisions, up to ties."""
    _, X, y = draw(seed)
    last = y.max()
    first, second = fit(name, X, y), fit(name, X, last - y)
    if hasattr(first, "predict_proba"):
        same(name, first.predict_proba(X), second.predict_proba(X)[:, ::-1])
    else:
        assert np.mean(first.predict(X) != last - second.predict(X)) < 0.03


@all_but(STEPS, RIDGE, SEARCH)
@few
@given(seeds, st.lists(st.floats(-6, 6), min_size=4, max_size=4))
def test_units(name, seed, powers):
    _, X, y = draw(seed)
    factor = 10.0 ** np.array(powers[: X.shape[1]])
    tolerance = 0.05 if name in PROGRAM else 1e-6
    same(name, scores(fit(name, X, y), X), scores(fit(name, X * factor, y), X * factor), tolerance)


@all_but(STEPS, SEARCH)
@few
@given(seeds, st.floats(1, 7))
def test_where_zero_lies(name, seed, power):
    _, X, y = draw(seed)
    moved = X + 10.0**power
    if name == "LinearSVC":
        return  # its intercept is penalised, as LIBLINEAR's
    tolerance = 0.05 if name in PROGRAM else 1e-6
    same(name, scores(fit(name, moved - 10.0**power, y), X), scores(fit(name, moved, y), X + 10.0**power), tolerance)


@all_but(STEPS, SEARCH, PROGRAM)
@few
@given(seeds)
def test_orthogonal_rotation(name, seed):
    """Turning the axes turns the discriminant; a ridge is as round as the unpenalised criterion."""
    rng, X, y = draw(seed)
    Q = np.linalg.qr(rng.normal(size=(X.shape[1], X.shape[1])))[0]
    same(name, scores(fit(name, X, y), X), scores(fit(name, X @ Q, y), X @ Q))


@all_but(STEPS, FOLDS)
@few
@given(seeds)
def test_weight_two_is_the_row_twice(name, seed):
    rng, X, y = draw(seed)
    times = rng.integers(1, 4, len(y))
    repeated = fit(name, np.repeat(X, times, axis=0), np.repeat(y, times))
    same(name, scores(fit(name, X, y, times.astype(float)), X), scores(repeated, X))


@all_but(STEPS, SEARCH, PROGRAM, {"LinearSVC"})
@few
@given(seeds, st.floats(-100, 100))
def test_a_constant_column(name, seed, value):
    """It says nothing that the intercept does not."""
    _, X, y = draw(seed)
    more = np.c_[X, np.full(len(y), value)]
    same(name, scores(fit(name, X, y), X), scores(fit(name, more, y), more))


@pytest.mark.parametrize("name", [n for n in ESTIMATORS if hasattr(ESTIMATORS[n](), "merge")])
@few
@given(seeds)
def test_blocks_of_rows(name, seed):
    """Learning in parts is learning at once."""
    rng, X, y = draw(seed)
    whole = fit(name, X, y)
    parts = ESTIMATORS[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for part in np.array_split(rng.permutation(len(y)), 4):
            parts.partial_fit(X[part], y[part], classes=np.unique(y))
    same(name, scores(whole, X), scores(parts, X))


@pytest.mark.parametrize("name", ["LinearDiscriminantAnalysis", "LogisticRegression", "Discriminant"])
@few
@given(seeds)
def test_how_rows_are_cut_into_blocks(name, seed):
    from discriminant.data.rows import DenseRows

    _, X, y = draw(seed)
    whole = scores(fit(name, X, y), X)
    cut = pytest.MonkeyPatch()
    try:
        cut.setattr(DenseRows, "block_rows", property(partial(_seven)))
        same(name, whole, scores(fit(name, X, y), X), 1e-9)
    finally:
        cut.undo()


def _seven(_):
    return 7
