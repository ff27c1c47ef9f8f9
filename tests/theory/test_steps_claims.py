"""What the textbooks claim of the procedures that learn by steps, each a property or an independent computation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from discriminant import (
    Adaline,
    Discriminant,
    LinearMachine,
    LinearProgrammingClassifier,
    LogisticRegression,
    MinimumErrorClassifier,
    Perceptron,
    SigmoidRegressionClassifier,
    separability,
)
from discriminant.errors import DiscriminantWarning
from discriminant.optimize import GradientDescent, Newton, SingleSample
from discriminant.penalties import Ridge
from theory import transcriptions as naive

quiet = pytest.mark.filterwarnings("ignore::discriminant.errors.DiscriminantWarning")
IRIS = load_iris()


@st.composite
def separable_rows(draw):
    """Rows on the two sides of a hyperplane, with a gap, and both sides present."""
    seed, n, d = draw(st.integers(0, 10_000)), draw(st.integers(4, 40)), draw(st.integers(1, 5))
    gap = draw(st.floats(0.05, 1.0))
    rng = np.random.default_rng(seed)
    w = rng.normal(size=d)
    w /= np.linalg.norm(w)
    X = rng.normal(size=(n, d)) * draw(st.floats(0.5, 5.0))
    y = (np.arange(n) % 2).astype(int)
    side = 2.0 * y - 1.0
    X += (side * (gap + np.abs(X @ w)) - X @ w)[:, None] * w
    return X, y


# The perceptron


@given(separable_rows())
def test_the_perceptron_separates_separable_rows_within_the_bound(rows):
    """k ≤ (R/γ)² corrections (Novikoff); the bound is that of the widest γ, checked against the definition."""
    X, y = rows
    model = Perceptron(shuffle=False, tol=None, max_iter=100_000).fit(X, y)
    (bound,) = model.mistake_bounds_
    assert model.separated_
    assert model.certificate_.converged
    assert model.corrections_[0] <= bound.bound
    samples = np.array(naive.normalised(X, y))
    assert bound.radius == pytest.approx(np.linalg.norm(samples, axis=1).max())
    assert bound.bound == pytest.approx((bound.radius / bound.margin) ** 2)
    assert "(R/γ)²" in model.certificate_.status


@given(separable_rows(), st.floats(0.0, 2.0), st.floats(0.1, 3.0))
def test_the_bound_with_a_margin_holds_too(rows, b, eta):
    """k ≤ (R² + 2b/η)/γ²."""
    X, y = rows
    model = Perceptron(shuffle=False, tol=None, max_iter=100_000, margin=b, eta0=eta).fit(X, y)
    assert model.separated_
    assert model.corrections_[0] <= model.mistake_bounds_[0].bound
    assert ((2 * y - 1) * model.decision_function(X)).min() >= b


@quiet
@given(st.integers(0, 1000), st.integers(1, 4))
def test_the_perceptron_never_claims_convergence_for_rows_that_cannot_be_separated(seed, d):
    """One row with both labels is enough; the certificate says why."""
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal(size=(12, d)), np.zeros((2, d))])
    y = np.concatenate([rng.integers(0, 2, 12), [0, 1]])
    for options in ({"tol": None}, {}, {"mode": "batch"}, {"criterion": "relaxation"}, {"pocket": True}):
        model = Perceptron(max_iter=30, **options).fit(X, y)
        assert not model.certificate_.converged
        assert not model.separated_
        assert model.certificate_.separability in ("overlapping", "quasi-separable")
        assert "cannot be separated" in model.certificate_.status


def test_rows_that_could_be_separated_are_told_apart_from_those_that_could_not():
    """A run that ends too early says that more passes would do."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X @ [1.0, 2.0, -1.0] > 0.1).astype(int)
    X += 0.02 * (2 * y - 1)[:, None] * np.array([1.0, 2.0, -1.0]) / 6
    with pytest.warns(DiscriminantWarning, match="can be separated"):
        model = Perceptron(max_iter=2, shuffle=False).fit(X, y)
    assert model.certificate_.separability == "separable"
    assert not model.certificate_.converged


@quiet
def test_exclusive_or_is_refused_by_a_line_and_learned_with_a_product():
    X, y = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])
    assert not Perceptron(tol=None, max_iter=100).fit(X, y).certificate_.converged
    assert Perceptron(tol=None, max_iter=1000, basis="quadratic").fit(X, y).certificate_.converged


@quiet
@given(st.integers(0, 1000), st.floats(0.05, 1.95))
def test_relaxation_lowers_its_criterion_with_every_step(seed, eta):
    """J_r = ½ mean (b − a·y)²/‖y‖² falls for 0 < η < 2, whether or not the rows can be separated."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(25, 3)) * [1.0, 5.0, 0.2], rng.integers(0, 2, 25)
    y[:2] = 0, 1
    model = Perceptron(criterion="relaxation", mode="batch", eta0=eta, max_iter=40, threshold=0).fit(X, y)
    J = model.history_["objective"]
    assert (np.diff(J) <= 1e-15).all()


@quiet
@given(separable_rows(), st.floats(0.05, 1.95))
def test_single_sample_relaxation_comes_nearer_to_every_solution(rows, eta):
    """Each correction shortens the distance to every â with t â·y ≥ b: ‖a − â‖ never rises."""
    X, y = rows
    plane = separability(X, y).hyperplane
    solution = plane / ((2 * y - 1) * (plane[0] + X @ plane[1:])).min()
    model = Perceptron(criterion="relaxation", margin=1.0, eta0=eta, shuffle=False, tol=None, max_iter=3, trace=True)
    path = model.fit(X, y).history_.weights()[:, :, 0]
    distance = np.linalg.norm(path - solution, axis=1)
    assert (np.diff(distance) <= 1e-9 * distance[:-1]).all()


# Least mean squares


@quiet
def test_lms_tends_to_the_pseudo_inverse():
    """a → Y†b with η₁/k, nearer with more epochs."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=80) > 0).astype(int)
    best = np.linalg.pinv(np.column_stack([np.ones(80), X])) @ (2.0 * y - 1.0)
    far = [
        np.abs(Adaline(max_iter=epochs, tol=0).fit(X, y).discriminant_.weights[:, 0] - best).max()
        for epochs in (3, 30, 3000)
    ]
    assert far[0] > far[1] > far[2]
    assert far[2] < 2e-3
    batch = Adaline(mode="batch", max_iter=5000, threshold=1e-13).fit(X, y)
    assert np.abs(batch.discriminant_.weights[:, 0] - best).max() < 1e-9


@quiet
def test_lms_need_not_separate_what_can_be_separated():
    """A far row on the right side pulls the line across the boundary; the perceptron is not drawn."""
    X = np.array([[0.0], [1.0], [1.2], [1.4], [60.0]])
    y = np.array([0, 1, 1, 1, 1])
    lms = Adaline(mode="batch", max_iter=200_000, threshold=1e-12).fit(X, y)
    assert lms.certificate_.converged
    assert lms.score(X, y) < 1
    assert Perceptron(tol=None, max_iter=10_000).fit(X, y).score(X, y) == 1


# Newton, sigmoid and softmax


def test_newton_on_a_quadratic_criterion_takes_one_step():
    model = Discriminant(criterion="squared", optimizer=Newton()).fit(IRIS.data, IRIS.target)
    closed = Discriminant(criterion="squared").fit(IRIS.data, IRIS.target)
    assert model.n_iter_ == 1
    assert np.abs(model.coef_ - closed.coef_).max() < 1e-9


@quiet
def test_the_sigmoid_hardens_with_the_passes():
    """After 10, 100, 1000 passes the slope has grown each time, and the errors have stopped becoming fewer."""
    X, y = IRIS.data[:100, 2:3], IRIS.target[:100]
    X = X - X.mean()
    slopes, errors = [], []
    for passes in (10, 100, 1000):
        optimizer = GradientDescent(step=1.0, iterations=passes, threshold=0)
        model = LogisticRegression(C=np.inf, optimizer=optimizer, random_state=0).fit(X, y)
        slopes.append(model.coef_[0, 0])
        errors.append(int((model.predict(X) != y).sum()))
    assert 0 < slopes[0] < slopes[1] < slopes[2]
    assert errors[-1] == 0


def test_stopping_early_leaves_shorter_weights():
    """The run ends when the errors have stopped becoming fewer: fewer effective parameters."""
    X, y = IRIS.data[50:] - IRIS.data[50:].mean(axis=0), IRIS.target[50:]
    early = LogisticRegression(C=np.inf, optimizer=GradientDescent(step=0.5, patience=20, iterations=10_000))
    early.fit(X, y)
    full = LogisticRegression(C=np.inf, optimizer="newton").fit(X, y)
    assert "Stopped early" in early.certificate_.status
    assert np.linalg.norm(early.coef_) < np.linalg.norm(full.coef_) / 3


@quiet
def test_a_step_too_long_is_told_with_the_longest_stable_one():
    """2/λ_max of the Hessian: just below it descent settles, just above it does not."""
    X, y = IRIS.data[50:], IRIS.target[50:]
    Y = np.column_stack([np.ones(100), X])
    longest = 2 / np.linalg.eigvalsh(Y.T @ Y / 100)[-1]
    over = Discriminant(criterion="squared", optimizer=GradientDescent(step=1.1 * longest)).fit(X, y)
    assert not over.certificate_.converged
    assert f"{longest:.3g}" in over.certificate_.status
    under = Discriminant(criterion="squared", optimizer=GradientDescent(step=0.9 * longest, iterations=200)).fit(X, y)
    assert (np.diff(under.history_["objective"]) < 0).all()


@quiet
def test_one_step_size_for_each_attribute_undoes_unlike_units():
    """η_j ∝ 1/scale_j² on scaled columns takes the steps of one η on the columns as they were."""
    X, y = IRIS.data[50:] - 3.0, IRIS.target[50:]
    units = np.array([1.0, 100.0, 0.01, 1.0])
    rates = np.concatenate([[1.0], 1 / units**2])
    fixed = GradientDescent(step=0.05, iterations=50, threshold=0)
    plain = Discriminant(optimizer=fixed)
    scaled = Discriminant(optimizer=GradientDescent(step=0.05, rates=rates, iterations=50, threshold=0))
    a, b = plain.fit(X, y).coef_, scaled.fit(X * units, y).coef_ * units
    assert np.abs(a - b).max() < 1e-12


# Many classes


@quiet
@given(st.integers(0, 500), st.integers(3, 5))
def test_regions_of_a_linear_machine_are_convex(seed, K):
    """If x and x' are given class k, so is every point between them."""
    rng = np.random.default_rng(seed)
    y = np.arange(30) % K
    X = rng.normal(size=(30, 2)) + 2 * rng.normal(size=(K, 2))[y]
    machine = LinearMachine("logistic", penalty="ridge").fit(X, y)
    points = 4 * rng.normal(size=(200, 2))
    labels = machine.predict(points)
    for first, second in itertools.pairwise(range(0, 200, 2)):
        if labels[first] == labels[second]:
            between = points[first] + rng.random((5, 1)) * (points[second] - points[first])
            assert (machine.predict(between) == labels[first]).all()


@quiet
def test_iris_by_kesler_and_by_the_multiclass_perceptron_is_one_answer():
    """A two-class perceptron through the origin, on the constructed samples, has the machine's weights."""
    X, y = IRIS.data, IRIS.target
    epochs = 20
    built = np.array(naive.kesler_samples(X, y, 3))
    labels = np.arange(len(built)) % 2  # half of the samples with their sign turned, to have two classes
    explicit = Perceptron(fit_intercept=False, shuffle=False, tol=None, max_iter=epochs)
    explicit.fit(built * (2 * labels - 1)[:, None], labels)
    machine = LinearMachine("perceptron", optimizer=SingleSample(epochs=epochs)).fit(X, y)
    multiclass = Perceptron(coding="machine", shuffle=False, tol=None, max_iter=epochs).fit(X, y)
    assert np.abs(machine.discriminant_.weights.T.ravel() - explicit.coef_[0]).max() < 1e-10
    assert np.array_equal(machine.coef_, multiclass.coef_)
    assert np.array_equal(machine.predict(X), multiclass.predict(X))


@quiet
def test_the_sum_of_raw_pairwise_scores_is_weak_and_votes_are_not():
    """Pairwise logistic on iris: 0.60 right by the sum (A 10.10), 0.99 by votes."""
    scores = {}
    for decoder in ("sum", "votes"):
        model = Discriminant(coding="pairwise", decoder=decoder, penalty=Ridge(1e-3)).fit(IRIS.data, IRIS.target)
        scores[decoder] = model.score(IRIS.data, IRIS.target)
    assert scores["votes"] > 0.98
    assert scores["sum"] < 0.62


def test_outputs_by_regression_may_claim_a_row_none_or_many_at_a_time():
    """Labels that overlap and leave a gap: each output is right about its own."""
    x = np.linspace(0, 10, 101)[:, None]
    R = np.column_stack([x[:, 0] < 6, x[:, 0] > 4, np.abs(x[:, 0] - 9) < 0.95]).astype(int)
    model = SigmoidRegressionClassifier(basis="poly:2").fit(x, R)
    assert (model.predict(x) == R).mean() > 0.98
    counts = model.predict(np.array([[5.0], [9.0], [2.0]])).sum(axis=1)
    assert counts.tolist() == [2, 2, 1]
    gap = SigmoidRegressionClassifier().fit(x, np.column_stack([x[:, 0] < 3, x[:, 0] > 7]).astype(int))
    assert gap.predict(np.array([[5.0]])).tolist() == [[0, 0]]


def test_the_class_between_two_and_four_is_learned_by_a_machine_on_features():
    """2 < x < 4 is no half-line of x, and is one of (x, x²)."""
    x = np.concatenate([np.linspace(0, 1.8, 10), np.linspace(2.2, 3.8, 9), np.linspace(4.2, 6, 10)])[:, None]
    y = ((x[:, 0] > 2) & (x[:, 0] < 4)).astype(int)
    assert LinearMachine("hinge").fit(x, y).score(x, y) < 1
    curved = LinearMachine("hinge", basis="quadratic").fit(x, y)
    assert curved.score(x, y) == 1
    assert curved.predict([[2.1], [3.9], [1.9], [4.1]]).tolist() == [1, 1, 0, 0]


# Programs and counts


@given(separable_rows())
def test_a_linear_program_separates_with_the_margin_asked_for(rows):
    """t(w·x + w₀) ≥ 1 for all rows."""
    X, y = rows
    model = LinearProgrammingClassifier().fit(X, y)
    assert model.separated_
    assert ((2 * y - 1) * model.decision_function(X)).min() >= 1 - 1e-9


def fewest_errors_of_a_line(X, y):
    """Brute force: every split of the plane's points by a line is met by turning a line about two of them a little."""
    best, n = min(y.sum(), len(y) - y.sum()), len(y)
    side = 2 * y - 1
    for i, j in itertools.combinations(range(n), 2):
        along = X[j] - X[i]
        normal = np.array([-along[1], along[0]])
        g = (X - X[i]) @ normal
        for tie_i, tie_j, sign in itertools.product((-1, 1), (-1, 1), (-1, 1)):
            h = sign * g
            h[i], h[j] = tie_i, tie_j  # a small turn or shift gives the two any sides
            best = min(best, int((side * h <= 0).sum()))
    return best


@quiet
@given(st.integers(0, 10_000), st.integers(6, 14))
def test_the_fewest_errors_are_counted_and_proved(seed, n):
    """Against brute force over all lines in the plane; the proved bound is never above it."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 2)), rng.integers(0, 2, n)
    y[:2] = 0, 1
    model = MinimumErrorClassifier(max_iter=40).fit(X, y)
    truth = fewest_errors_of_a_line(X, y)
    assert model.lower_bound_ <= truth <= model.n_errors_
    assert model.certificate_.converged
    assert model.n_errors_ == truth
