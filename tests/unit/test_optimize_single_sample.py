"""Single-sample procedures against naive transcriptions of their pseudocode, step by step."""

from __future__ import annotations

import numpy as np
import pytest

from discriminant import criteria
from discriminant.data import make_blocks
from discriminant.kernels import rules
from discriminant.objective import PointwiseObjective
from discriminant.optimize import Inverse, Power, SingleSample
from unit.sequential_problems import DATA, IRIS, SPECIES, augmented, many_class, problem, zeros


@pytest.fixture
def rng():
    return np.random.default_rng(0)


datasets = pytest.mark.parametrize("data", list(DATA))
engines = pytest.mark.parametrize("engine", ["numpy", "compiled"])


# ---- the pseudocode, naively ------------------------------------------------------------------------------------


def naive_variable_increment(X, codes, eta, b, rounds, corrected=None):
    """B: do j ← j+1; if a·y_i ≤ b then k ← k+1, a ← a + η(k) y_i; until k unchanged for n rounds.  Normalised y."""
    Y = augmented(X) * np.where(codes > 0, 1, -1)[:, None]
    a, k, unchanged, weights = np.zeros(Y.shape[1]), 0, 0, []
    for j in range(rounds * len(Y)):
        y = Y[j % len(Y)]
        if a @ y <= b:
            k += 1
            a = a + (eta(k) * y if corrected is None else corrected(a, y, eta(k)))
            unchanged = 0
            weights.append(a.copy())
        else:
            unchanged += 1
        if unchanged == len(Y):
            break
    return a, k, np.array(weights)


def naive_lms(X, t, eta, rounds, theta=0.0):
    """B: a ← a + η(k)(b_k − a·y_k) y_k until that step is shorter than θ."""
    Y = augmented(X)
    a, k = np.zeros(Y.shape[1]), 0
    for j in range(rounds * len(Y)):
        k += 1
        y = Y[j % len(Y)]
        step = eta(k) * (t[j % len(Y)] - a @ y) * y
        a = a + step
        if np.linalg.norm(step) < theta:
            break
    return a, k


@datasets
@engines
def test_fixed_increment_perceptron_is_its_pseudocode(data, engine):
    X, codes = DATA[data]
    a, k, weights = naive_variable_increment(X, codes, lambda k: 1.0, 0.0, 30)
    found = SingleSample(epochs=30, engine=engine, trace=True).minimize(*problem(criteria.Perceptron(), data))
    np.testing.assert_allclose(found.weights[:, 0], a, atol=1e-12)
    assert found.corrections == k
    np.testing.assert_allclose(found.history.weights()[1:, :, 0], weights, atol=1e-12)
    assert found.converged == (data != "overlap")


@datasets
@engines
@pytest.mark.parametrize(
    "schedule", [Power(2.0, 0.5), Inverse(1.0), lambda k: 1.0 + np.sin(k)], ids=["root", "1/k", "own"]
)
def test_variable_increment_with_margin_is_its_pseudocode(data, engine, schedule):
    X, codes = DATA[data]
    a, k, weights = naive_variable_increment(X, codes, schedule, 0.7, 20)
    found = SingleSample(schedule, epochs=20, engine=engine, trace=True).minimize(
        *problem(criteria.Perceptron(margin=0.7), data)
    )
    np.testing.assert_allclose(found.weights[:, 0], a, atol=1e-12)
    np.testing.assert_allclose(found.history.weights()[1:, :, 0], weights, atol=1e-12)
    assert found.corrections == k


@datasets
@engines
@pytest.mark.parametrize("eta", [0.5, 1.0, 1.7])
def test_relaxation_is_its_pseudocode(data, engine, eta):
    """a ← a + η (b − a·y)/‖y‖² y where a·y < b (at a·y = b the correction is zero)."""
    X, codes = DATA[data]

    def corrected(a, y, eta):
        return eta * (1.0 - a @ y) / (y @ y) * y

    below = np.nextafter(1.0, 0.0)  # a·y ≤ this is a·y < 1
    a, _, weights = naive_variable_increment(X, codes, lambda k: eta, below, 15, corrected)
    found = SingleSample(eta, epochs=15, engine=engine, trace=True).minimize(*problem(criteria.Relaxation(1.0), data))
    np.testing.assert_allclose(found.weights[:, 0], a, atol=1e-11)
    if eta != 1.0:  # with η = 1 a corrected sample lies on the margin, and rounding says on which side
        np.testing.assert_allclose(found.history.weights()[1:, :, 0], weights, atol=1e-11)


@datasets
@engines
def test_widrow_hoff_is_its_pseudocode(data, engine):
    X, codes = DATA[data]
    t = np.where(codes > 0, 1.0, -1.0)
    a, k = naive_lms(X, t, lambda k: 0.01 / k**0.25, 4)
    found = SingleSample(Power(0.01, 0.25), epochs=4, engine=engine).minimize(*problem(criteria.Squared(), data))
    np.testing.assert_allclose(found.weights[:, 0], a, atol=1e-12)
    assert found.corrections == k
    # θ: the first step shorter than it ends the run
    a, k = naive_lms(X, t, lambda k: 0.01 / k, 50, theta=1e-4)
    found = SingleSample(Inverse(0.01), epochs=50, threshold=1e-4, engine=engine).minimize(
        *problem(criteria.Squared(), data)
    )
    np.testing.assert_allclose(found.weights[:, 0], a, atol=1e-12)
    assert found.corrections == k
    assert "shorter than θ" in found.status


@engines
@pytest.mark.parametrize(
    "criterion",
    [criteria.Quadratic(0.3), criteria.Logistic(), criteria.SigmoidSquared(), criteria.SquaredHinge()],
    ids=lambda part: type(part).__name__,
)
def test_every_rule_goes_down_its_criterions_gradient(criterion, engine):
    """a ← a − η ℓ'(t, a·y) y, with ℓ' asked of the criterion itself."""
    X, codes = DATA["overlap"]
    a = np.zeros(4)
    t = np.array(criterion.labels)[codes]
    for _ in range(3):
        for y, target in zip(augmented(X), t, strict=True):
            a = a - 0.05 * criterion.gradient(np.array([[target]]), np.array([[a @ y]])).item() * y
    found = SingleSample(0.05, epochs=3, engine=engine).minimize(*problem(criterion, "overlap"))
    np.testing.assert_allclose(found.weights[:, 0], a, atol=1e-12)


@pytest.mark.parametrize(
    ("kind", "criterion"),
    [
        (rules.PERCEPTRON, criteria.Perceptron(0.4)),
        (rules.RELAXATION, criteria.Relaxation(0.4)),
        (rules.QUADRATIC, criteria.Quadratic(0.4)),
        (rules.SQUARED, criteria.Squared()),
        (rules.LOGISTIC, criteria.Logistic()),
        (rules.SIGMOID_SQUARED, criteria.SigmoidSquared()),
    ],
)
def test_kernel_rules_are_the_array_formulas(kind, criterion):
    margin = getattr(criterion, "margin", 0.0)
    for z in [-1e4, -3.0, -0.4, 0.0, 0.4, 2.0, 1e4]:
        for t in criterion.labels:
            T, Z = np.array([[t]]), np.array([[z]])
            assert rules.correction(kind, t, z, margin, 1.0) == pytest.approx(
                -criterion.gradient(T, Z).item(), rel=1e-13
            )
            assert rules.loss(kind, t, z, margin) == pytest.approx(criterion.value(T, Z).item(), rel=1e-13)


# ---- many classes ----------------------------------------------------------------------------------------------


def naive_kesler(X, codes, K, b, rounds):
    """The explicit construction: for each sample of class i and each j ≠ i a vector with y at i and −y at j."""
    Y = augmented(X)
    D = Y.shape[1]
    constructed = []
    for y, i in zip(Y, codes, strict=True):
        for j in range(K):
            if j != i:
                eta = np.zeros((K, D))
                eta[i], eta[j] = y, -y
                constructed.append(eta.ravel())
    a, k, unchanged, weights = np.zeros(K * D), 0, 0, []
    for step in range(rounds * len(constructed)):
        eta = constructed[step % len(constructed)]
        if a @ eta <= b:
            a, k, unchanged = a + eta, k + 1, 0
            weights.append(a.reshape(K, D).T.copy())
        else:
            unchanged += 1
        if unchanged == len(constructed):
            break
    return a.reshape(K, D).T, k, np.array(weights)


@engines
@pytest.mark.parametrize("margin", [0.0, 0.5])
def test_kesler_made_implicit_takes_the_steps_of_the_explicit_construction(engine, margin):
    source = np.random.default_rng(5)
    codes = source.integers(4, size=40)
    X = source.standard_normal((40, 2)) + 4 * np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])[codes]
    a, k, weights = naive_kesler(X, codes, 4, margin, 40)
    objective = many_class(criteria.Kesler(criteria.Perceptron(margin)), X=X, codes=codes)
    found = SingleSample(epochs=40, engine=engine, trace=True).minimize(objective, zeros(objective))
    np.testing.assert_allclose(found.weights, a, atol=1e-11)
    np.testing.assert_allclose(found.history.weights()[1:], weights, atol=1e-11)
    assert found.corrections == k
    assert found.converged
    assert objective.errors(found.weights) == 0


@engines
def test_multi_class_perceptron_corrects_its_strongest_rival(engine):
    """If argmax g_j ≠ i: a_i ← a_i + y, a_j ← a_j − y, for the j with the greatest score."""
    a = np.zeros((3, 5))
    for _ in range(10):
        for y, i in zip(augmented(IRIS), SPECIES, strict=True):
            z = a @ y
            j = max((j for j in range(3) if j != i), key=lambda j: z[j])
            if z[i] <= z[j]:
                a[i] += y
                a[j] -= y
    objective = many_class(criteria.Kesler(criteria.Perceptron(), over="worst"))
    found = SingleSample(epochs=10, engine=engine).minimize(objective, zeros(objective))
    np.testing.assert_allclose(found.weights, a.T, atol=1e-12)


@engines
def test_softmax_sample_by_sample(engine):
    a = np.zeros((3, 5))
    for _ in range(4):
        for y, i in zip(augmented(IRIS), SPECIES, strict=True):
            p = np.exp(a @ y) / np.exp(a @ y).sum()
            a += 0.01 * np.outer((np.arange(3) == i) - p, y)
    objective = many_class(criteria.Softmax(), "softmax")
    found = SingleSample(0.01, epochs=4, engine=engine).minimize(objective, zeros(objective))
    np.testing.assert_allclose(found.weights, a.T, atol=1e-12)


@engines
@pytest.mark.parametrize("coding", ["one-vs-rest", "pairwise"])
def test_outputs_learn_as_if_each_were_alone(engine, coding):
    """Don't-cares are skipped: a pairwise output equals a run on its two classes."""
    objective = many_class(criteria.Perceptron(), coding)
    found = SingleSample(epochs=12, engine=engine).minimize(objective, zeros(objective))
    for j in range(objective.n_outputs):
        part = objective.coding.care[SPECIES, j] > 0
        codes = (objective.coding.targets[SPECIES[part], j] > 0).astype(int)
        alone = SingleSample(epochs=12, engine="numpy").minimize(*problem(criteria.Perceptron(), (IRIS[part], codes)))
        np.testing.assert_allclose(found.weights[:, j], alone.weights[:, 0], atol=1e-12)


@engines
def test_targets_of_many_labels(engine, rng):
    t = (rng.random((60, 2)) < 0.5).astype(float)
    X = DATA["gap"][0]
    objective = PointwiseObjective(make_blocks(X, t), criteria.SigmoidSquared())
    found = SingleSample(0.1, epochs=3, engine=engine).minimize(objective, zeros(objective))
    a = np.zeros((4, 2))
    for _ in range(3):
        for y, target in zip(augmented(X), t, strict=True):
            p = 1 / (1 + np.exp(-(y @ a)))
            a += 0.1 * np.outer(y, (target - p) * p * (1 - p))
    np.testing.assert_allclose(found.weights, a, atol=1e-12)
