"""Every procedure takes the steps of its pseudocode: the same weights after each, to 1e-12, on three data sets."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

from discriminant import (
    Adaline,
    Discriminant,
    LinearMachine,
    LogisticRegression,
    Perceptron,
    SigmoidRegressionClassifier,
)
from discriminant.criteria import Kesler, Quadratic
from discriminant.criteria import Perceptron as PerceptronCriterion
from discriminant.optimize import GradientDescent, Inverse, Newton, Power, SingleSample
from theory import transcriptions as naive

pytestmark = pytest.mark.filterwarnings("ignore::discriminant.errors.DiscriminantWarning")


def two_blobs():
    rng = np.random.default_rng(3)
    y = np.arange(40) % 2
    return rng.normal(size=(40, 2)) + 3.0 * y[:, None], y


def overlapping_flowers():
    iris = load_iris()
    return iris.data[50:] - 3.0, (iris.target[50:] == 2).astype(int)


def five_columns():
    """Integers, so that scores of exactly zero occur; 64 rows, so that a mean over them is as exact as a sum."""
    rng = np.random.default_rng(8)
    X = rng.integers(-3, 4, size=(64, 5)).astype(float)
    return X, (X @ [1.0, -2.0, 0.5, 1.5, -1.0] + 0.25 > 0).astype(int)


TWO = {"blobs": two_blobs(), "flowers": overlapping_flowers(), "integers": five_columns()}


def three_classes(X, y):
    """A third class: the rows of class 1 with a large first column."""
    return np.where((y == 1) & (X[:, 0] > np.median(X[:, 0])), 2, y)


two_class = pytest.mark.parametrize(("X", "y"), TWO.values(), ids=TWO)


def same(ours, theirs):
    """Equal to 1e-12 of the size of each step's weights, step by step."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape
    size = np.maximum(1.0, np.abs(theirs).reshape(len(theirs), -1).max(axis=1)).reshape(-1, *[1] * (theirs.ndim - 1))
    assert (np.abs(ours - theirs) / size).max() <= 1e-12


def replayed(model):
    """(steps, 1+d): the weights of a single output after each correction."""
    return model.history_.weights()[:, :, 0]


@two_class
def test_fixed_increment(X, y):
    model = Perceptron(shuffle=False, tol=None, max_iter=30, trace=True).fit(X, y)
    path = naive.fixed_increment(naive.normalised(X, y), most=30 * len(y))
    same(replayed(model), path)
    same([model.discriminant_.weights[:, 0]], [path[-1]])


@two_class
def test_variable_increment_with_margin(X, y):
    model = Perceptron(eta0=Power(0.5, power=0.5), margin=0.7, shuffle=False, tol=None, max_iter=20, trace=True)
    path = naive.variable_increment(naive.normalised(X, y), 0.7, lambda k: 0.5 / k**0.5, most=20 * len(y))
    same(replayed(model.fit(X, y)), path)


@two_class
def test_batch_perceptron(X, y):
    model = Perceptron(mode="batch", eta0=Inverse(len(y) * 0.3), max_iter=25, threshold=1e-9, trace=True).fit(X, y)
    path = naive.batch_perceptron(naive.normalised(X, y), lambda k: 0.3 / k, 1e-9, 25)
    same(model.history_["weights"][:, :, 0], path)


@two_class
@pytest.mark.parametrize("eta", [0.5, 1.0, 1.8])
def test_single_sample_relaxation(X, y, eta):
    model = Perceptron(criterion="relaxation", margin=0.4, eta0=eta, shuffle=False, tol=None, max_iter=6, trace=True)
    path = naive.single_sample_relaxation(naive.normalised(X, y), 0.4, eta, 6 * len(y))
    same(replayed(model.fit(X, y)), path)


@two_class
def test_single_sample_quadratic(X, y):
    eta = 0.2 / np.square(X).sum(axis=1).max()
    model = Perceptron(criterion="quadratic", margin=0.4, eta0=eta, shuffle=False, tol=None, max_iter=6, trace=True)
    path = naive.single_sample_quadratic(naive.normalised(X, y), 0.4, eta, 6 * len(y))
    same(replayed(model.fit(X, y)), path)


@two_class
def test_batch_relaxation(X, y):
    n = len(y)
    model = Perceptron(criterion="relaxation", margin=0.4, mode="batch", eta0=1.5, max_iter=30, threshold=0, trace=True)
    path = naive.batch_relaxation(naive.normalised(X, y), 0.4, 1.5 / n, 30)
    same(model.fit(X, y).history_["weights"][:, :, 0], path)


@two_class
def test_batch_quadratic(X, y):
    """The textbook's criterion has no margin and starts from weights that err."""
    n, start = len(y), np.linspace(-1, 1, X.shape[1] + 1)
    optimizer = GradientDescent(step=0.01, iterations=30, threshold=0)
    model = Discriminant(criterion=Quadratic(margin=0.0), optimizer=optimizer, start=start, trace=True).fit(X, y)
    same(model.history_["weights"][:, :, 0], naive.batch_quadratic(naive.normalised(X, y), start, 0.01 / n, 30))


@two_class
def test_lms_with_fading_steps(X, y):
    """Targets ±b for rows as they are, which is b for normalised ones."""
    rate, n = 0.5 / np.square(X).sum(axis=1).max(), len(y)
    model = Adaline(eta0=Power(rate, 1.0), margin=0.8, shuffle=False, max_iter=4, tol=0, trace=True).fit(X, y)
    path = naive.lms(naive.normalised(X, y), [0.8] * n, lambda k: rate / k, 4 * n)
    same(replayed(model), path)


@two_class
def test_batch_lms(X, y):
    rate, n = 0.5 / np.square(X).sum(axis=1).max(), len(y)
    model = Adaline(eta0=rate, mode="batch", margin=0.8, max_iter=20, threshold=1e-300, trace=True).fit(X, y)
    path = naive.batch_lms(naive.normalised(X, y), [0.8] * n, lambda k: rate / n, 20)
    same(model.history_["weights"][:, :, 0], path)


@two_class
def test_kesler_made_implicit_takes_the_steps_of_the_explicit_construction(X, y):
    codes = three_classes(X, y)
    optimizer = SingleSample(epochs=15)
    machine = LinearMachine(PerceptronCriterion(), optimizer=optimizer, trace=True).fit(X, codes)
    path = naive.fixed_increment(naive.kesler_samples(X, codes, 3), most=15 * 2 * len(y))
    same([A.T.ravel() for A in machine.history_.weights()], path)
    same([machine.discriminant_.weights.T.ravel()], [path[-1]])


@two_class
def test_kesler_in_batches_takes_the_steps_of_the_explicit_construction(X, y):
    codes = three_classes(X, y)
    optimizer = GradientDescent(step=float(len(y)), iterations=20)
    machine = LinearMachine("perceptron", optimizer=optimizer, trace=True).fit(X, codes)
    path = naive.batch_perceptron(naive.kesler_samples(X, codes, 3), lambda k: 1.0, 1e-8, 20)
    same([A.T.ravel() for A in machine.history_["weights"]], path)


@two_class
def test_multiclass_perceptron(X, y):
    codes = three_classes(X, y)
    model = Perceptron(
        criterion=Kesler(PerceptronCriterion(), "worst"), shuffle=False, tol=None, max_iter=15, trace=True
    ).fit(X, codes)
    same(model.history_.weights(), naive.multiclass_perceptron(X, codes, 3, 15))


@two_class
def test_logistic_discrimination_by_gradient_descent(X, y):
    """Figure 10.6, from weights in (−0.01, 0.01)."""
    n = len(y)
    optimizer = GradientDescent(step=0.05 * n / 10, iterations=40, threshold=0, trace=True)
    model = LogisticRegression(C=np.inf, optimizer=optimizer, random_state=5).fit(X, y)
    ours = model.history_["weights"][:, :, 0]
    assert (np.abs(ours[0]) < 0.01).all()
    assert ours[0].any()
    same(ours, naive.logistic_descent(X, y, ours[0], 0.05 / 10, 40))


@two_class
def test_softmax_discrimination_by_gradient_descent(X, y):
    """Figure 10.8."""
    codes, n = three_classes(X, y), len(y)
    optimizer = GradientDescent(step=0.02 * n / 10, iterations=30, threshold=0, trace=True)
    model = LogisticRegression(C=np.inf, optimizer=optimizer, random_state=5).fit(X, codes)
    ours = model.history_["weights"]
    same(ours, naive.softmax_descent(X, codes, ours[0], 0.02 / 10, 30))


@two_class
def test_newton_is_iteratively_reweighted_least_squares(X, y):
    """The same steps while none is halved."""
    start = np.zeros(X.shape[1] + 1)
    model = Discriminant(optimizer=Newton(iterations=3), trace=True).fit(X, y)
    ours, theirs = model.history_["weights"][:4, :, 0], naive.irls(X, y, start, 3)
    assert (model.history_["step"][1:4] == 1).all()
    same(ours, theirs)


@two_class
def test_discrimination_by_regression(X, y):
    n, start = len(y), np.zeros((X.shape[1] + 1, 1))
    optimizer = GradientDescent(step=0.1 * n / 10, iterations=30, threshold=0)
    model = SigmoidRegressionClassifier(optimizer=optimizer, start=start, trace=True).fit(X, y)
    same(model.history_["weights"], naive.sigmoid_regression_descent(X, y[:, None], start, 0.1 / 10, 30))


@two_class
def test_discrimination_by_regression_of_many_classes(X, y):
    codes, n = three_classes(X, y), len(y)
    start = np.full((X.shape[1] + 1, 3), 0.01)
    optimizer = GradientDescent(step=0.1 * n / 10, iterations=30, threshold=0)
    model = SigmoidRegressionClassifier(optimizer=optimizer, start=start, trace=True).fit(X, codes)
    same(model.history_["weights"], naive.sigmoid_regression_descent(X, np.eye(3)[codes], start, 0.1 / 10, 30))


@two_class
def test_compiled_and_plain_sweeps_take_the_same_steps(X, y):
    def trained(engine, **options):
        optimizer = SingleSample(epochs=5, engine=engine)
        return Discriminant(optimizer=optimizer, trace=True, **options).fit(X, y).history_.weights()

    same(trained("compiled", criterion="perceptron"), trained("numpy", criterion="perceptron"))
    kesler = Kesler(PerceptronCriterion())
    same(trained("compiled", criterion=kesler), trained("numpy", criterion=kesler))
