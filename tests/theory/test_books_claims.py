"""Small promises of the textbooks that belong to no chapter of their own: other priors, ML covariances, honest ends."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

from discriminant import (
    LinearDiscriminantAnalysis,
    LogisticRegression,
    LogisticRegressionCV,
    Perceptron,
    QuadraticDiscriminantAnalysis,
)
from discriminant.errors import DataError, DiscriminantWarning

IRIS, SPECIES = load_iris(return_X_y=True)


@pytest.mark.parametrize("options", [{}, {"coding": "softmax", "basis": "quadratic"}, {"optimizer": "newton"}])
def test_g4_logistic_posteriors_move_to_other_priors(options):
    """P'(C|x) ∝ P(C|x) P'/P: the scores gain ln P'_k/P_k (Alpaydin 10.20)."""
    keep = np.r_[0:50, 50:80, 100:110]
    X, y = IRIS[keep], SPECIES[keep]
    model = LogisticRegression(C=10.0, **options).fit(X, y)
    new, old = np.array([0.2, 0.3, 0.5]), np.array([50, 30, 10]) / 90
    expected = model.predict_proba(X) * new / old
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X, priors=new), expected, atol=1e-12)
    np.testing.assert_allclose(model.predict_log_proba(X, new), np.log(expected), atol=1e-9)
    np.testing.assert_array_equal(model.predict(X, priors=new), expected.argmax(axis=1))
    np.testing.assert_allclose(model.predict_proba(X, priors=model.priors_), model.predict_proba(X), atol=1e-12)


def test_g4_class_weights_are_part_of_the_training_priors_unless_they_were_taken_back():
    X, y = IRIS[50:], SPECIES[50:]
    weighed = LogisticRegression(class_weight={1: 3.0, 2: 1.0}).fit(X, y)
    np.testing.assert_allclose(weighed.priors_, [0.75, 0.25])
    back = LogisticRegression(class_weight={1: 3.0, 2: 1.0}, correct_priors=True).fit(X, y)
    np.testing.assert_allclose(back.priors_, [0.5, 0.5])
    chosen = LogisticRegressionCV(Cs=3).fit(X, y)
    np.testing.assert_allclose(chosen.predict_proba(X, priors=[0.5, 0.5]), chosen.predict_proba(X), atol=1e-12)
    soft = LogisticRegression().fit(X, np.eye(2)[y - 1] * 0.8 + 0.1)
    with pytest.raises(DataError, match="class frequencies"):
        soft.predict_proba(X, priors=[0.5, 0.5])


@pytest.mark.parametrize("model", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
def test_d1_d2_the_books_letters_for_maximum_likelihood(model):
    short, long = (model(covariance=name).fit(IRIS, SPECIES) for name in ("ml", "maximum-likelihood"))
    np.testing.assert_array_equal(short.predict_proba(IRIS), long.predict_proba(IRIS))
    assert short.get_params()["covariance"] == "ml"


@pytest.mark.parametrize("options", [{}, {"tol": None, "max_iter": 20}, {"mode": "batch", "max_iter": 20}])
def test_p7_a_fit_of_classes_that_cannot_be_separated_says_so(options):
    with pytest.warns(DiscriminantWarning, match="cannot be separated by any hyperplane"):
        Perceptron(**options).fit(IRIS[50:], SPECIES[50:])


def test_p5_descent_on_the_sum_of_squares_comes_to_the_edge_from_outside():
    """J_q = Σ (a·y)² over errors has slope 0 at a·y = 0: short steps reach the solution region in the limit only."""
    X, y = np.array([[2.0, 1.0], [3.0, 2.0], [-1.0, -0.5], [-2.0, 0.5]]), np.array([1, 1, 0, 0])
    book = Perceptron(
        criterion="quadratic", margin=0.0, mode="batch", scale="sum", eta0=0.02, start=[1.0, -1.0, 0.5], max_iter=400
    )
    with pytest.warns(DiscriminantWarning, match="from outside"):
        book.fit(X, y)
    samples = np.c_[np.ones(4), X] * np.where(y == 1, 1, -1)[:, None]
    edge = (samples @ book.discriminant_.weights[:, 0]).min()
    assert -1e-3 < edge <= 0  # on the edge, seen from outside
    assert "more passes" not in book.certificate_.status
    assert not book.separated_
    inside = Perceptron(criterion="quadratic", mode="batch", scale="sum", eta0=0.02, max_iter=3000).fit(X, y)
    assert inside.separated_  # with margin b = 1, the default
