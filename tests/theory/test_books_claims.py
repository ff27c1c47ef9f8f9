"""Small promises of the textbooks that belong to no chapter of their own: other priors, ML covariances, honest ends."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

from discriminant import (
    Discriminant,
    ExponentialFamilyClassifier,
    LinearDiscriminantAnalysis,
    LinearMachine,
    LogisticRegression,
    LogisticRegressionCV,
    Perceptron,
    QuadraticDiscriminantAnalysis,
    kesler_construction,
    solution_region,
)
from discriminant.errors import DataError, DiscriminantWarning
from discriminant.optimize import Annealing, DifferentialEvolution
from theory import transcriptions as naive

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


def test_m4_keslers_construction_is_an_object_one_can_print():
    """(… y … −y …): K − 1 rows for each sample, y in the place of its class, −y in that of a rival."""
    X, y = IRIS[::10], SPECIES[::10]
    built = kesler_construction(X, y)
    np.testing.assert_array_equal(built.samples, naive.kesler_samples(X, y, 3))
    assert built.samples.shape == (2 * len(y), 3 * 5)
    for k in range(len(built.samples)):
        parts = built.samples[k].reshape(3, 5)
        np.testing.assert_array_equal(parts[built.own[k]], np.r_[1, X[built.row[k]]])
        np.testing.assert_array_equal(parts.sum(axis=0), 0)
    text = repr(built).splitlines()
    assert text[0] == "Kesler's construction: 30 samples of 3 × 5 weights"
    assert text[2].split()[:4] == ["0", "0", ">", "1"]
    assert text[-1] == "… and 18 more"
    with pytest.raises(DataError, match="LinearMachine"):
        kesler_construction(np.zeros((100_000, 50)), np.arange(100_000) % 10)


def test_m4_the_solution_region_of_k_classes_holds_every_machine_without_an_error():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 2)) * 0.3 + np.array([[0, 0], [3, 0], [0, 3]])[np.arange(30) % 3]
    y = np.arange(30) % 3
    region = solution_region(X, y)
    assert not region.empty
    machine = LinearMachine(margin=1.0).fit(X, y)
    assert machine.score(X, y) == 1
    assert machine.discriminant_.weights.T.ravel() in region
    assert -machine.discriminant_.weights.T.ravel() not in region
    scores = np.c_[np.ones(30), X] @ region.center.reshape(3, 3).T
    np.testing.assert_array_equal(scores.argmax(axis=1), y)  # the centre is a machine, too
    assert solution_region(IRIS, SPECIES).empty
    narrow = solution_region(X, y, margin=1.0)
    assert (narrow.samples @ narrow.center >= 1 - 1e-9).all()


@pytest.mark.parametrize("D", [1, 2, 5])
@pytest.mark.parametrize("K", [2, 3])
def test_the_number_of_parameters_is_a_method(D, K):
    """LDA: K means, one covariance, K − 1 priors; QDA: K covariances; logistic: K − 1 vectors with intercepts."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % K
    X = rng.normal(size=(60, D)) + y[:, None]
    counts = {
        LinearDiscriminantAnalysis(): K * D + D * (D + 1) // 2 + K - 1,
        LinearDiscriminantAnalysis(priors=np.full(K, 1 / K)): K * D + D * (D + 1) // 2,
        LinearDiscriminantAnalysis(form="diagonal"): K * D + D + K - 1,
        QuadraticDiscriminantAnalysis(): K * D + K * D * (D + 1) // 2 + K - 1,
        LogisticRegression(): (K - 1) * (D + 1),
        LogisticRegression(fit_intercept=False): (K - 1) * D,
        Discriminant(criterion="squared", coding="one-of-k"): K * (D + 1),
    }
    for model, expected in counts.items():
        assert model.fit(X, y).number_of_parameters() == expected, model
    binary = ExponentialFamilyClassifier("bernoulli").fit((X > 0).astype(float), y)
    assert binary.number_of_parameters() == K * D + K - 1


@pytest.mark.filterwarnings("ignore:.*does not prove:discriminant.errors.DiscriminantWarning")
def test_p8_a_genetic_search_counts_as_few_errors_as_annealing():
    """SciPy's differential evolution beside annealing, on the count of errors itself."""
    X, y = IRIS[50:, 2:], SPECIES[50:]
    found = {}
    for optimizer in (DifferentialEvolution(iterations=60), Annealing()):
        model = Discriminant(criterion="zero-one", optimizer=optimizer, scale="sum", trace=True).fit(X, y)
        found[type(optimizer).__name__] = int((model.predict(X) != y).sum())
        assert model.certificate_.objective == pytest.approx(found[type(optimizer).__name__])
    assert found["DifferentialEvolution"] <= found["Annealing"] + 1


@pytest.mark.parametrize("family", ["bernoulli", "multinomial", "poisson", "exponential"])
def test_d5_log_odds_of_the_exponential_family_are_linear(family):
    """ln p(x|C1)P1 − ln p(x|C0)P0 = w·x + w0, with the densities written out at their ML parameters."""
    rng = np.random.default_rng(4)
    y = np.arange(400) % 2
    mean = np.where(y[:, None] == 1, [0.3, 0.6, 0.8], [0.5, 0.4, 0.7])
    X = {
        "bernoulli": (rng.random((400, 3)) < mean).astype(float), "multinomial": rng.poisson(4 * mean).astype(float),
        "poisson": rng.poisson(4 * mean).astype(float), "exponential": rng.exponential(mean),
    }[family]  # fmt: skip
    model = ExponentialFamilyClassifier(family, smoothing=0.0).fit(X, y)
    logs = []
    for k in (0, 1):
        rows = X[y == k]
        m = rows.mean(axis=0)
        density = {
            "bernoulli": lambda m: X * np.log(m) + (1 - X) * np.log(1 - m),
            "multinomial": lambda m: X * np.log(m / m.sum()),
            "poisson": lambda m: X * np.log(m) - m,
            "exponential": lambda m: -np.log(m) - X / m,
        }[family](m)
        logs.append(density.sum(axis=1) + np.log(len(rows) / 400))
    np.testing.assert_allclose(model.decision_function(X), logs[1] - logs[0], atol=1e-9)
    np.testing.assert_allclose(X @ model.coef_[0] + model.intercept_[0], logs[1] - logs[0], atol=1e-9)
