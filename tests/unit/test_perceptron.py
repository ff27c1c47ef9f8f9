"""``Perceptron``: a drop-in for scikit-learn's to the bit, and what it adds."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import Perceptron as TheirPerceptron

from discriminant import Perceptron, separability
from discriminant.errors import DataError, DiscriminantWarning, MismatchError, ParameterError
from discriminant.optimize import Inverse, Power

X, Y = load_iris(return_X_y=True)
TWO = (X[50:], Y[50:])
APART = (X[:100], Y[:100])
quiet = pytest.mark.filterwarnings("ignore::discriminant.errors.DiscriminantWarning")


def test_scikit_learns_own_tests_pass_with_our_class(tmp_path):
    plugin = "import discriminant, sklearn.linear_model as module\nmodule.Perceptron = discriminant.Perceptron\n"
    (tmp_path / "swap_perceptron.py").write_text(plugin)
    command = [sys.executable, "-m", "pytest", "-p", "swap_perceptron", "--pyargs"]
    options = ["sklearn.linear_model.tests.test_perceptron", "-q", "-W", "ignore", "-p", "no:cacheprovider"]
    run = subprocess.run([*command, *options], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stdout[-3000:]
    assert "6 passed" in run.stdout


@quiet
@pytest.mark.parametrize("store", [np.array, csr_array, csr_matrix])
@pytest.mark.parametrize("options", [{}, {"eta0": 0.3}, {"max_iter": 3}, {"fit_intercept": False}])
def test_the_weights_are_scikit_learns(store, options):
    """Cyclic order, ten epochs, three classes one against the rest."""
    settings = {"max_iter": 10, "tol": None, "shuffle": False, **options}
    if store is not np.array and not options.get("fit_intercept", True):
        settings["fit_intercept"] = True
    ours, theirs = Perceptron(**settings).fit(store(X), Y), TheirPerceptron(**settings).fit(store(X), Y)
    if store is np.array:
        assert np.abs(ours.coef_ - theirs.coef_).max() < 1e-9
        assert np.abs(ours.intercept_ - theirs.intercept_).max() < 1e-9
    else:  # scikit-learn lets sparse intercepts learn a hundredth as fast; ours are those of the dense fit
        dense = Perceptron(**settings).fit(X, Y)
        assert np.abs(ours.coef_ - dense.coef_).max() < 1e-9
    assert ours.t_ == theirs.t_
    assert ours.n_iter_ == theirs.n_iter_


@quiet
def test_class_weights_lengthen_the_steps_as_scikit_learns():
    settings = {"max_iter": 10, "tol": None, "shuffle": False, "class_weight": {1: 2.0, 2: 0.5}}
    ours, theirs = Perceptron(**settings).fit(*TWO), TheirPerceptron(**settings).fit(*TWO)
    assert np.abs(ours.coef_ - theirs.coef_).max() < 1e-9


@quiet
def test_a_ridge_shrinks_as_scikit_learns():
    settings = {"max_iter": 5, "tol": None, "shuffle": False, "penalty": "l2", "alpha": 0.01, "eta0": 0.5}
    ours, theirs = Perceptron(**settings).fit(*TWO), TheirPerceptron(**settings).fit(*TWO)
    assert np.abs(ours.coef_ - theirs.coef_).max() < 1e-9 * np.abs(theirs.coef_).max()


@quiet
def test_on_digits_it_is_as_good():
    digits, labels = load_digits(return_X_y=True)
    ours, theirs = Perceptron().fit(digits, labels), TheirPerceptron().fit(digits, labels)
    assert ours.score(digits, labels) > theirs.score(digits, labels) - 0.03


@quiet
def test_learning_in_parts_is_learning_in_order():
    parts = Perceptron(shuffle=False)
    for start in range(0, 150, 50):
        parts.partial_fit(X[start : start + 50], Y[start : start + 50], classes=[0, 1, 2])
    whole = Perceptron(shuffle=False, tol=None, max_iter=1).fit(X, Y)
    assert np.array_equal(parts.coef_, whole.coef_)
    assert np.array_equal(parts.corrections_, whole.corrections_)
    assert parts.t_ == 151
    with pytest.raises(DataError, match="classes must be passed"):
        Perceptron().partial_fit(X, Y)
    with pytest.raises(DataError, match="not among the classes"):
        parts.partial_fit(X, Y + 1)
    with pytest.raises(ParameterError, match="not supported for partial_fit"):
        Perceptron(class_weight="balanced").partial_fit(X, Y, classes=[0, 1, 2])
    assert not hasattr(Perceptron(average=True), "partial_fit")


@quiet
def test_steps_that_fade_go_on_fading_from_part_to_part():
    parts = Perceptron(shuffle=False, eta0=Inverse(1.0))
    for start in (50, 100):
        parts.partial_fit(X[start : start + 50], Y[start : start + 50] - 1, classes=[0, 1])
    whole = Perceptron(shuffle=False, eta0=Inverse(1.0), tol=None, max_iter=1).fit(X[50:], Y[50:] - 1)
    assert np.abs(parts.coef_ - whole.coef_).max() < 1e-12


@quiet
def test_weights_to_start_from():
    first = Perceptron(shuffle=False, tol=None, max_iter=3).fit(*TWO)
    again = Perceptron(shuffle=False, tol=None, max_iter=4)
    again.fit(*TWO, coef_init=first.coef_, intercept_init=first.intercept_)
    warm = Perceptron(shuffle=False, tol=None, max_iter=3, warm_start=True).fit(*TWO).set_params(max_iter=4).fit(*TWO)
    whole = Perceptron(shuffle=False, tol=None, max_iter=7).fit(*TWO)
    assert np.array_equal(again.coef_, whole.coef_)
    assert np.array_equal(warm.coef_, whole.coef_)
    with pytest.raises(ParameterError, match="coef_init has shape"):
        Perceptron().fit(*TWO, coef_init=np.ones((3, 4)))


@quiet
def test_the_average_is_that_of_the_weights_after_every_sample():
    model = Perceptron(shuffle=False, tol=None, max_iter=4, average=True).fit(*TWO)
    a, total = np.zeros(5), np.zeros(5)
    for _ in range(4):
        for x, label in zip(*TWO, strict=True):
            y, t = np.concatenate([[1.0], x]), 2.0 * label - 3.0
            if t * (a @ y) <= 0:
                a = a + t * y
            total += a
    assert np.abs(model.discriminant_.weights[:, 0] - total / 400).max() < 1e-10


@quiet
def test_the_pocket_keeps_the_better_weights():
    plain = Perceptron(tol=None, max_iter=37).fit(*TWO)
    pocket = Perceptron(tol=None, max_iter=37, pocket=True).fit(*TWO)
    assert pocket.score(*TWO) >= plain.score(*TWO)
    with pytest.raises(ParameterError, match="choose one"):
        Perceptron(average=True, pocket=True).fit(*TWO)


@quiet
def test_held_out_rows_end_the_run():
    digits, labels = load_digits(return_X_y=True)
    model = Perceptron(early_stopping=True, n_iter_no_change=3, max_iter=200).fit(digits, labels)
    assert "Stopped early" in model.certificate_.status
    assert "180 held-out rows" in model.certificate_.status
    assert model.n_iter_ < 50
    assert model.score(digits, labels) > 0.9
    with pytest.raises(DataError, match="every class aside"):
        Perceptron(early_stopping=True).fit(X[49:100], Y[49:100])


def test_separated_rows_are_counted_with_the_bound():
    model = Perceptron(tol=None).fit(*APART)
    assert model.separated_
    assert model.certificate_.converged
    assert model.certificate_.separability == "separable"
    bound = model.mistake_bounds_[0]
    assert model.corrections_[0] <= bound.bound
    Z = np.column_stack([np.ones(100), APART[0]]) * (2 * APART[1] - 1)[:, None]
    assert bound.radius == pytest.approx(np.linalg.norm(Z, axis=1).max())
    # the widest margin through the origin of the augmented space: that of X with a column of ones, no intercept
    widest = separability(np.column_stack([np.ones(100), APART[0]]), APART[1], fit_intercept=False)
    assert bound.margin >= widest.margin * 0.999


@quiet
def test_outputs_that_no_line_separates_are_named():
    model = Perceptron(max_iter=50).fit(X, np.array(["setosa", "versicolor", "virginica"])[Y])
    assert not model.certificate_.converged
    assert "'versicolor' from the rest" in model.certificate_.status
    assert "'setosa' from" not in model.certificate_.status
    assert model.certificate_.separability == "overlapping"


def test_steps_are_checked_against_the_conditions():
    with (
        pytest.warns(DiscriminantWarning, match="Not converged"),
        pytest.warns(DiscriminantWarning, match="sum of steps is finite"),
    ):
        Perceptron(eta0=Power(1.0, 2.0), tol=None).fit(*APART)
    assert Perceptron(eta0=lambda k: 1 / k, tol=None).fit(*APART).certificate_.converged
    with pytest.raises(ParameterError, match="0 < eta0 < 2"):
        Perceptron(criterion="relaxation", eta0=2.5).fit(*APART)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"eta0": 0}, "eta0"),
        ({"max_iter": 0}, "max_iter"),
        ({"alpha": -1}, "alpha"),
        ({"penalty": "l0"}, "penalty"),
        ({"mode": "both"}, "mode"),
        ({"margin": -1.0}, "margin"),
        ({"validation_fraction": 2}, "validation_fraction"),
        ({"mode": "batch", "average": True}, "single-sample"),
    ],
)
def test_values_that_mean_nothing_are_refused(options, words):
    with pytest.raises(ParameterError, match=words):
        Perceptron(**options).fit(*APART)
    with pytest.raises(MismatchError, match="has none"):
        Perceptron(criterion="logistic").fit(*APART)


@pytest.mark.parametrize("criterion", ["perceptron", "quadratic", "relaxation"])
@pytest.mark.parametrize("mode", ["single-sample", "batch"])
@pytest.mark.parametrize("coding", ["auto", "machine"])
@quiet
def test_every_procedure_separates_what_can_be_separated(criterion, mode, coding):
    data = APART[0] - APART[0].mean(axis=0)
    steps = 0.02 if criterion == "quadratic" else 1.0  # quadratic steps come ever nearer to the margin
    model = Perceptron(criterion=criterion, mode=mode, coding=coding, eta0=steps, tol=None, max_iter=2000)
    model.fit(data, APART[1])
    assert model.separated_, model.certificate_.status
    assert model.score(data, APART[1]) == 1


@quiet
def test_a_margin_of_zero_starts_the_quadratic_rule_from_small_random_weights():
    model = Perceptron(criterion="quadratic", margin=0.0, eta0=0.001, tol=None, max_iter=500).fit(*APART)
    assert model.coef_.any()
    assert model.separated_ == (model.score(*APART) == 1)


@quiet
def test_corrections_are_traced_with_their_sample():
    model = Perceptron(shuffle=False, tol=None, max_iter=5, trace=True).fit(*TWO)
    history = model.history_
    assert len(history["k"]) == model.corrections_[0] + 1  # record 0 is the start
    assert set(history["sample"][1:]) <= set(range(100))
    assert np.abs(history.weights()[-1] - model.discriminant_.weights).max() < 1e-12


@quiet
def test_an_l1_penalty_empties_columns():
    rng = np.random.default_rng(0)
    noisy = np.hstack([TWO[0] - TWO[0].mean(axis=0), rng.normal(size=(100, 10))])
    dense = Perceptron(max_iter=50).fit(noisy, TWO[1])
    sparse = Perceptron(max_iter=50, penalty="l1", alpha=0.05).fit(noisy, TWO[1])
    assert (sparse.coef_ == 0).sum() > 3 > (dense.coef_ == 0).sum()


@quiet
def test_many_rows_are_not_read_again_to_count_what_is_plainly_wrong(monkeypatch):
    monkeypatch.setattr("discriminant.methods.sequential.EVALUATED_VALUES", 10)
    rng = np.random.default_rng(0)
    noise, labels = rng.normal(size=(400, 3)), rng.integers(0, 2, 400)
    model = Perceptron(tol=None, max_iter=2).fit(noise, labels)
    assert np.isnan(model.certificate_.objective)
    assert not model.certificate_.converged
    assert "discriminant.separability(X, y)" in model.certificate_.status
    assert Perceptron(tol=None).fit(*APART).separated_
    noise[7, 1] = np.nan
    with pytest.raises(DataError, match="column 1 in row 7"):
        Perceptron(tol=None, max_iter=2).fit(noise, labels)


@quiet
def test_weights_become_sparse_and_dense_again():
    model = Perceptron().fit(*APART)
    before = model.coef_.copy()
    assert np.array_equal(model.sparsify().predict(X), model.densify().predict(X))
    assert np.array_equal(model.coef_, before)
