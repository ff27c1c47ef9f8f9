"""``Adaline``: least mean squares, its steps, parts and distance from least squares."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris

from discriminant import Adaline, LeastSquaresClassifier
from discriminant.errors import DataError, DiscriminantWarning, MismatchError, ParameterError
from discriminant.optimize import Constant, Inverse

X, Y = load_iris(return_X_y=True)
Z = (X - X.mean(axis=0)) / X.std(axis=0)
quiet = pytest.mark.filterwarnings("ignore::discriminant.errors.DiscriminantWarning")


@pytest.mark.parametrize("mode", ["single-sample", "batch"])
def test_it_comes_near_least_squares_and_says_how_near(mode):
    model = Adaline(mode=mode, max_iter=4000).fit(Z, Y)
    best = LeastSquaresClassifier(coding="one-vs-rest").fit(Z, Y)
    assert model.certificate_.converged
    assert model.certificate_.gap < 2e-3
    assert np.abs(model.coef_ - best.coef_).max() < 0.1
    J = np.square(model.outputs(Z) - np.where(np.eye(3)[Y] > 0, 1, -1)).mean(axis=0).sum() / 2
    assert model.certificate_.objective == pytest.approx(J, rel=1e-10)


def test_a_run_that_is_still_far_says_so():
    with pytest.warns(DiscriminantWarning, match="standardise"):
        model = Adaline(max_iter=3).fit(X, Y)
    assert not model.certificate_.converged
    assert model.certificate_.bound < model.certificate_.objective


@quiet
def test_parts_are_one_pass():
    parts = Adaline(shuffle=False, eta0=Inverse(0.05))
    for start in range(0, 150, 30):
        parts.partial_fit(Z[start : start + 30], Y[start : start + 30], classes=[0, 1, 2])
    whole = Adaline(shuffle=False, eta0=Inverse(0.05), max_iter=1).fit(Z, Y)
    assert np.abs(parts.coef_ - whole.coef_).max() < 1e-13
    assert parts.corrections_.tolist() == [150, 150, 150]


@quiet
def test_sparse_rows_and_margins():
    dense = Adaline(shuffle=False, max_iter=5).fit(Z, Y)
    assert np.abs(Adaline(shuffle=False, max_iter=5).fit(csr_array(Z), Y).coef_ - dense.coef_).max() < 1e-12
    wide = Adaline(shuffle=False, max_iter=5, margin=7.0).fit(Z, Y)
    assert np.abs(wide.coef_ / 7 - dense.coef_).max() < 1e-12
    assert np.array_equal(wide.predict(Z), dense.predict(Z))


@quiet
def test_the_average_settles_before_the_weights_do():
    rng = np.random.default_rng(1)
    A = rng.normal(size=(400, 3))
    t = (A[:, 0] + rng.normal(size=400) > 0).astype(int)
    settings = {"eta0": Constant(0.05), "max_iter": 10, "tol": 0}
    last = Adaline(**settings).fit(A, t).certificate_.gap
    average = Adaline(average=True, **settings).fit(A, t).certificate_.gap
    assert average < last / 3


@quiet
def test_held_out_rows_and_theta_end_the_run():
    early = Adaline(early_stopping=True, max_iter=500).fit(Z, Y)
    assert "Stopped early" in early.certificate_.status
    theta = Adaline(threshold=1e-3, shuffle=False, eta0=Inverse(0.3)).fit(Z[50:], Y[50:])
    assert "θ" in theta.certificate_.status


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"eta0": -1.0}, "eta0"),
        ({"eta0": "fast"}, "eta0"),
        ({"margin": 0.0}, "margin"),
        ({"mode": "online"}, "mode"),
        ({"tol": -1}, "tol"),
        ({"coding": "machine"}, "couples them"),
    ],
)
def test_values_that_mean_nothing_are_refused(options, words):
    with pytest.raises((ParameterError, MismatchError), match=words):
        Adaline(**options).fit(Z, Y)


def test_steps_that_do_not_settle_are_told():
    with pytest.warns(DiscriminantWarning, match="keeps hovering"):
        Adaline(eta0=Constant(0.01), max_iter=2000).fit(Z, Y)


def test_steps_too_long_are_told():
    with pytest.raises(DataError, match="shorter step"):
        Adaline(eta0=50.0, max_iter=400).fit(Z, Y)


def test_a_run_cut_short_near_the_minimum_does_not_say_that_it_failed():
    """The sentence and ``converged`` say the same: within two parts in a hundred of the least J it has arrived."""
    X = np.array([[-0.6, -0.6], [-1.2, -1.1], [-0.9, -1.6], [0.1, 0.1], [0.6, 0.5], [4.6, 3.2], [3.2, 4.6]])
    y = np.array([0, 0, 0, 1, 1, 1, 1])
    model = Adaline(mode="batch", max_iter=60, scale="sum").fit(X, y)
    Y = np.column_stack([np.ones(7), X])
    least = np.linalg.lstsq(Y, 2.0 * y - 1.0, rcond=None)[1][0] / 2
    assert least < model.certificate_.objective < 1.02 * least
    assert model.certificate_.converged
    assert model.certificate_.status.startswith("Ended near the minimum: after 60 steps")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_steps_that_are_too_long_are_called_divergence_in_any_precision(dtype):
    """Weights of 1e80 do not fit into float32: they stay in float64, nothing overflows, and the status says why."""
    X, y = load_iris(return_X_y=True)
    with pytest.warns(DiscriminantWarning, match="Diverged: the steps are too long"):
        model = Adaline(max_iter=1, eta0=0.06).fit(X.astype(dtype), y)
    assert np.isfinite(model.coef_).all()
    assert not model.certificate_.converged
    model.decision_function(X.astype(dtype))


def test_a_missing_value_in_any_part_of_the_rows_is_named():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 20))
    y = (X[:, 0] > 0).astype(int)
    X[1500, 1] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN: column 1 in row 1500"):
        Adaline().fit(X, y)
