"""An integer weight is so many equal rows, for every rule that learns sample by sample, to the bit."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone

from discriminant import Adaline, Discriminant, LinearMachine, Perceptron
from discriminant.data import make_blocks
from discriminant.optimize import Power, SingleSample
from discriminant.optimize.sequence import repeated_rows

rng = np.random.default_rng(3)
X = rng.normal(size=(40, 4))
THREE = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)
WEIGHT = rng.integers(0, 4, 40)
ROWS = np.repeat(np.arange(40), WEIGHT)
SETTINGS = [
    *(Perceptron(shuffle=shuffle) for shuffle in (True, False)),
    Perceptron(average=True),
    Perceptron(pocket=True),
    Perceptron(penalty="l2"),
    Perceptron(penalty="l1"),
    Perceptron(criterion="relaxation"),
    Perceptron(criterion="quadratic", eta0=0.01),
    Perceptron(coding="machine"),
    Perceptron(coding="pairwise"),
    Perceptron(fit_intercept=False),
    Perceptron(eta0=Power(1.0, 1.0)),
    Perceptron(trace=True),
    Adaline(eta0=0.01, max_iter=50),
    LinearMachine(optimizer=SingleSample(epochs=50)),
    LinearMachine(over="worst", optimizer=SingleSample(epochs=50)),
    LinearMachine("logistic", optimizer=SingleSample(0.1, epochs=20)),
    Discriminant(criterion="softmax", optimizer=SingleSample(0.1, epochs=20)),
    Discriminant(criterion="logistic", optimizer=SingleSample(0.1, epochs=20, engine="numpy")),
]
# Their η is 1/λ of a Hessian, or their steps are sums over all rows: equal but for the order of addition.
TO_ROUNDING = [
    Adaline(),
    Adaline(shuffle=False),
    Adaline(average=True),
    Adaline(mode="batch"),
    Perceptron(mode="batch", max_iter=100),
]


def both(model, labels, storage):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        weighted = clone(model).fit(storage(X), labels, sample_weight=WEIGHT)
        return weighted, clone(model).fit(storage(X[ROWS]), labels[ROWS])


@pytest.mark.parametrize("storage", [np.asarray, np.asfortranarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("model", SETTINGS + TO_ROUNDING, ids=repr)
def test_a_row_of_weight_w_is_learned_as_w_rows(model, storage):
    for labels in (THREE, THREE > 0):
        weighted, repeated = both(model, labels, storage)
        exact = not any(model is one for one in TO_ROUNDING)
        np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=0 if exact else 1e-11)
        np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, rtol=0 if exact else 1e-11)
        assert weighted.n_iter_ == repeated.n_iter_
        for name in ("corrections_", "t_", "mistake_bounds_"):
            np.testing.assert_equal(vars(weighted).get(name), vars(repeated).get(name))


@pytest.mark.parametrize("model", [Perceptron(), Adaline(eta0=0.01)], ids=repr)
def test_parts_of_weighted_rows_are_parts_of_repeated_ones(model):
    weighted, repeated = clone(model), clone(model)
    for _ in range(3):
        weighted.partial_fit(X, THREE, classes=[0, 1, 2], sample_weight=WEIGHT)
        repeated.partial_fit(X[ROWS], THREE[ROWS], classes=[0, 1, 2])
    np.testing.assert_array_equal(weighted.coef_, repeated.coef_)
    assert weighted.t_ == repeated.t_


def test_weights_that_are_no_counts_are_factors_on_the_step():
    """a ← a + η w t y."""
    x, t, w = np.array([[2.0], [-1.0]]), [0, 1], [0.5, 1.5]
    model = Perceptron(shuffle=False, max_iter=1, tol=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(x, t, sample_weight=w)
    # The first is wrong at a = 0: a = −0.5 (1, 2); then the second has z = −0.5 + 1 = 0.5 > 0 and is right.
    assert model.intercept_.tolist() == [-0.5]
    assert model.coef_.tolist() == [[-1.0]]


def test_one_weight_that_is_no_count_makes_factors_of_all():
    def blocks(weight):
        return make_blocks(np.ones((3, 1)), np.array([0, 1, 1]), np.array(weight, dtype=np.float64))

    assert repeated_rows(blocks([2, 0, 5])) == 7
    assert repeated_rows(blocks([2, 0, 5.5])) is None
    assert repeated_rows(blocks([1, 1, 1e9])) is None, "too many to be presented one by one"


def test_held_out_rows_count_by_their_weights():
    """A held-out row of weight 0 has no say in when to stop."""
    y = (X[:, 0] > 0).astype(int)
    noise = rng.normal(size=(200, 4))
    rows, labels = np.r_[X, noise], np.r_[y, rng.integers(0, 2, 200)]
    weight = np.r_[np.ones(40), np.full(200, 1e-12)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = Perceptron(early_stopping=True, validation_fraction=0.5).fit(rows, labels, sample_weight=weight)
    assert float(model.certificate_.status.split("share of ")[1].split(" ")[0]) > 0.8
