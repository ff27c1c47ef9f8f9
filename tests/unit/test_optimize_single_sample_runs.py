"""Single-sample runs: averages, pockets, storages, how they end and what they say."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Perceptron, SGDClassifier, SGDRegressor

from discriminant import criteria
from discriminant.codings import make_coding
from discriminant.data import make_blocks
from discriminant.errors import MismatchError, ParameterError
from discriminant.objective import PointwiseObjective
from discriminant.optimize import Inverse, Newton, Power, SingleSample
from discriminant.penalties import Lasso, Ridge
from unit.sequential_problems import DATA, IRIS, SPECIES, augmented, blobs, many_class, problem, two_class, zeros


@pytest.fixture
def rng():
    return np.random.default_rng(0)


datasets = pytest.mark.parametrize("data", list(DATA))
engines = pytest.mark.parametrize("engine", ["numpy", "compiled"])


# ---- variants --------------------------------------------------------------------------------------------------


@engines
def test_average_is_the_mean_of_the_weights_after_each_sample(engine):
    X, codes = DATA["overlap"]
    Y, t = augmented(X), np.where(codes > 0, 1.0, -1.0)
    a, total = np.zeros(4), np.zeros(4)
    for _ in range(3):
        for y, target in zip(Y, t, strict=True):
            if target * (a @ y) <= 0:
                a = a + target * y
            total += a
    found = SingleSample(epochs=3, keep="average", engine=engine).minimize(*problem(criteria.Perceptron(), "overlap"))
    np.testing.assert_allclose(found.weights[:, 0], total / (3 * len(Y)), atol=1e-12)
    assert "average" in found.notes[0]


@engines
def test_average_of_coupled_outputs(engine):
    objective = many_class(criteria.Softmax(), "softmax")
    a, total = np.zeros((3, 5)), np.zeros((3, 5))
    for y, i in zip(augmented(IRIS), SPECIES, strict=True):
        p = np.exp(a @ y) / np.exp(a @ y).sum()
        a += 0.01 * np.outer((np.arange(3) == i) - p, y)
        total += a
    found = SingleSample(0.01, epochs=1, keep="average", engine=engine).minimize(objective, zeros(objective))
    np.testing.assert_allclose(found.weights, total.T / 150, atol=1e-12)


@engines
def test_pocket_keeps_the_longest_run_of_right_answers(engine):
    X, codes = blobs(n=80, gap=0.8, seed=3)
    Y = augmented(X) * np.where(codes > 0, 1, -1)[:, None]
    a = np.zeros(4)
    pocket, best, run = a, 0, 0
    for _ in range(5):
        for y in Y:
            if a @ y <= 0:
                if run > best:
                    pocket, best = a, run
                a, run = a + y, 0
            else:
                run += 1
    if run > best:
        pocket = a
    objective = two_class(criteria.Perceptron(), (X, codes))
    found = SingleSample(epochs=5, keep="pocket", engine=engine).minimize(objective, zeros(objective))
    fewer = min((pocket, a), key=lambda w: objective.errors(w[:, None]))
    np.testing.assert_allclose(found.weights[:, 0], fewer, atol=1e-12)
    assert objective.errors(found.weights) <= objective.errors(a[:, None])


@engines
def test_ridge_shrinks_the_slopes_at_every_sample(engine):
    """scikit-learn's order: the score first, then w ← (1 − ηλ)w, then the correction; the intercept is free."""
    X, codes = DATA["overlap"]
    ours = SingleSample(0.05, epochs=4, engine=engine).minimize(
        *problem(criteria.Hinge(), "overlap", penalty=Ridge(0.3))
    )
    theirs = SGDClassifier(
        loss="hinge", alpha=0.3, learning_rate="constant", eta0=0.05, max_iter=4, tol=None, shuffle=False
    ).fit(X, codes)
    np.testing.assert_allclose(ours.weights[1:, 0], theirs.coef_[0], atol=1e-9)


@engines
def test_equals_scikit_learn_where_it_has_the_procedure(engine, rng):
    X, codes = DATA["overlap"]
    ours = SingleSample(epochs=6, engine=engine).minimize(*problem(criteria.Perceptron(), "overlap"))
    theirs = Perceptron(max_iter=6, tol=None, shuffle=False).fit(X, codes)
    np.testing.assert_allclose(ours.weights[1:, 0], theirs.coef_[0], atol=1e-12)
    np.testing.assert_allclose(ours.weights[0, 0], theirs.intercept_[0], atol=1e-12)
    weight = rng.uniform(0.5, 2.0, len(X))
    ours = SingleSample(0.01, epochs=3, engine=engine).minimize(*problem(criteria.Squared(), "overlap", weight=weight))
    lms = SGDRegressor(penalty=None, learning_rate="constant", eta0=0.01, max_iter=3, tol=None, shuffle=False)
    lms.fit(X, np.where(codes > 0, 1.0, -1.0), sample_weight=weight)
    np.testing.assert_allclose(ours.weights[1:, 0], lms.coef_, atol=1e-12)


@engines
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize(
    "criterion", [criteria.Perceptron(0.2), criteria.Relaxation(0.5), criteria.Squared()], ids=repr
)
def test_sparse_rows_take_the_steps_of_dense_ones(engine, dtype, wide, criterion, rng):
    X = (rng.standard_normal((50, 6)) * (rng.random((50, 6)) < 0.5)).astype(dtype)
    codes = (X[:, 0] + X[:, 1] > 0).astype(int)
    matrix = sp.csr_array(X)
    if wide:
        matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    options = SingleSample(0.1, epochs=5, engine=engine, keep="average")
    dense = options.minimize(*problem(criterion, (X, codes)))
    sparse = options.minimize(*problem(criterion, (matrix, codes)))
    np.testing.assert_allclose(sparse.weights, dense.weights, atol=1e-11 if dtype == np.float64 else 1e-5)


@engines
def test_sparse_coupled_outputs(engine):
    matrix = sp.csr_matrix(np.where(IRIS > 1, IRIS, 0))
    for criterion, coding in ((criteria.Kesler(criteria.Perceptron(0.5)), "machine"), (criteria.Softmax(), "softmax")):
        dense = many_class(criterion, coding, X=matrix.toarray())
        sparse = many_class(criterion, coding, X=matrix)
        options = SingleSample(0.1, epochs=4, engine=engine, keep="average")
        np.testing.assert_allclose(
            options.minimize(sparse, zeros(sparse)).weights, options.minimize(dense, zeros(dense)).weights, atol=1e-11
        )


@engines
@pytest.mark.parametrize(
    "store", [np.asfortranarray, lambda X: X.astype(np.int8), lambda X: np.repeat(X, 2, 1)[:, ::2]]
)
def test_other_storages_are_converted_block_by_block(engine, store, rng):
    X = rng.integers(-5, 6, (300, 4)).astype(float)
    codes = (X.sum(axis=1) > 0).astype(int)
    options = SingleSample(epochs=8, engine=engine, trace=True)
    plain = options.minimize(*problem(criteria.Perceptron(), (X, codes)))
    coding = make_coding("two-class", 2)
    other = PointwiseObjective(make_blocks(store(X), codes, block_rows=64), criteria.Perceptron(), coding)
    found = options.minimize(other, zeros(other))
    np.testing.assert_array_equal(found.weights, plain.weights)
    np.testing.assert_array_equal(found.history["sample"], plain.history["sample"])


@engines
def test_rows_of_weight_zero_are_not_there(engine, rng):
    X, codes = DATA["overlap"]
    weight = (rng.random(len(X)) < 0.5).astype(float)
    part = weight > 0
    with_zeros = SingleSample(epochs=5, engine=engine).minimize(
        *problem(criteria.Perceptron(), "overlap", weight=weight)
    )
    without = SingleSample(epochs=5, engine=engine).minimize(*problem(criteria.Perceptron(), (X[part], codes[part])))
    np.testing.assert_allclose(with_zeros.weights, without.weights, atol=1e-12)


@engines
def test_shuffled_order_is_reproducible_and_learns(engine):
    options = SingleSample(epochs=50, order="shuffled", random_state=3, engine=engine)
    first = options.minimize(*problem(criteria.Perceptron(), "gap"))
    again = options.minimize(*problem(criteria.Perceptron(), "gap"))
    cyclic = SingleSample(epochs=50, engine=engine).minimize(*problem(criteria.Perceptron(), "gap"))
    np.testing.assert_array_equal(first.weights, again.weights)
    assert first.converged
    assert not np.array_equal(first.weights, cyclic.weights)
    numpy = SingleSample(epochs=50, order="shuffled", random_state=3, engine="numpy")
    np.testing.assert_allclose(
        numpy.minimize(*problem(criteria.Perceptron(), "gap")).weights, first.weights, atol=1e-12
    )


# ---- what it says ----------------------------------------------------------------------------------------------


@given(st.integers(0, 10_000))
def test_perceptron_converges_within_the_bound_on_separable_data(seed):
    """At most (R/γ)² corrections, γ being the margin of any unit vector that separates (Novikoff)."""
    source = np.random.default_rng(seed)
    a = source.standard_normal(3)
    a /= np.linalg.norm(a)
    X = source.uniform(-2, 2, (40, 2))
    margins = augmented(X) @ a
    X = X[np.abs(margins) > 0.1]
    if len(X) == 0:
        return
    codes = (augmented(X) @ a > 0).astype(int)
    bound = (np.linalg.norm(augmented(X), axis=1).max() / np.abs(augmented(X) @ a).min()) ** 2
    objective = two_class(criteria.Perceptron(), (X, codes))
    found = SingleSample(epochs=5000, engine="numpy").minimize(objective, zeros(objective))
    assert found.converged
    assert found.corrections <= bound
    assert f"after {found.corrections} correction" in found.status
    assert (objective.sides(found.weights)[0] == 0).all()


@given(st.integers(0, 10_000))
def test_perceptron_never_claims_convergence_on_data_that_overlap(seed):
    """Two rows with the same x and different classes cannot be separated."""
    source = np.random.default_rng(seed)
    X = source.standard_normal((12, 2))
    codes = source.integers(2, size=12)
    X[1], codes[0], codes[1] = X[0], 0, 1
    found = SingleSample(epochs=20, engine="numpy").minimize(*problem(criteria.Perceptron(), (X, codes)))
    assert not found.converged
    assert "separability" in found.status


def test_relaxation_lowers_its_distance_to_every_solution():
    """For 0 < η < 2 each correction brings a nearer to any a* with a*·y ≥ b for all y."""
    solution = SingleSample(1.9, epochs=500, engine="numpy").minimize(*problem(criteria.Relaxation(1.0), "gap")).weights
    solution = solution * 10  # well inside the solution region
    for eta in (0.3, 1.0, 1.9):
        run = SingleSample(eta, epochs=5, engine="numpy", trace=True).minimize(
            *problem(criteria.Relaxation(1.0), "gap")
        )
        distance = np.linalg.norm((run.history.weights() - solution)[:, :, 0], axis=1)
        assert (np.diff(distance) < 1e-12).all()


def test_lms_tends_to_the_pseudo_inverse():
    """η₁/k: a → Y†b."""
    X, codes = blobs(n=40, d=2, gap=0.5, seed=7)
    t = np.where(codes > 0, 1.0, -1.0)
    exact = np.linalg.pinv(augmented(X)) @ t
    found = SingleSample(Power(3.0, delay=20.0), epochs=3000, engine="compiled").minimize(
        *problem(criteria.Squared(), (X, codes))
    )
    np.testing.assert_allclose(found.weights[:, 0], exact, atol=1e-4)  # the error of LMS falls like 1/k


def test_divergence_is_said_and_the_last_finite_weights_kept():
    X, codes = DATA["overlap"]
    found = SingleSample(50.0, epochs=100, engine="numpy").minimize(*problem(criteria.Squared(), (100 * X, codes)))
    assert found.status.startswith("Diverged in epoch")
    assert not found.converged
    assert np.isfinite(found.weights).all()


@engines
def test_rows_that_are_no_numbers_are_said(engine):
    X, codes = DATA["gap"]
    X = X.copy()
    X[7, 1] = np.nan
    found = SingleSample(epochs=3, engine=engine).minimize(*problem(criteria.Squared(), (X, codes)))
    assert "not a number" in found.status
    assert np.isfinite(found.weights).all()


@pytest.mark.parametrize("step", [Inverse(0.1), 0.02])
@pytest.mark.parametrize("criterion", [criteria.Logistic(), criteria.Squared()], ids=repr)
def test_weights_that_settle_are_near_the_minimum_or_said_not_to_be(criterion, step):
    """Steps that fade end a run anywhere: what is called converged is within two parts in a hundred of the least J."""
    objective, start = problem(criterion, "overlap")
    found = SingleSample(step, epochs=5000, tolerance=1e-3, engine="numpy").minimize(objective, start)
    assert "the last moved the weights by less than 0.001 of their length" in found.status
    least = Newton().minimize(objective, start).objective
    assert found.converged == (found.objective <= 1.02 * least) == found.status.startswith("Ended near the minimum")
    told = float(found.status.rpartition(" by ")[2].rstrip("."))
    assert 0.5 * told < found.objective - least < 2 * told
    assert found.converged == (step == 0.02)


def test_a_run_that_overflows_is_not_called_converged():
    """‖A − A'‖ = ∞ is no less than a part of ‖A‖ = ∞, which two infinities compare as."""
    found = SingleSample(10.0, epochs=20, tolerance=0.1).minimize(*problem(criteria.Squared(), "overlap"))
    assert not found.converged
    assert found.status.startswith("Diverged")


@engines
def test_an_average_that_does_not_separate_is_not_said_to(engine):
    """The last weights put every sample on its side; their average over all samples, early ones too, need not."""
    told = set()
    for seed in range(20):
        X, codes = blobs(n=20, gap=1.0, seed=seed)
        objective = two_class(criteria.Perceptron(), (X, codes))
        found = SingleSample(epochs=300, keep="average", engine=engine).minimize(objective, zeros(objective))
        wrong = int((np.where(codes > 0, 1, -1) * (augmented(X) @ found.weights[:, 0]) <= 0).sum())
        if "samples are separated" in found.status:
            assert found.converged
            assert wrong == 0
        elif "their average" in found.status:
            assert not found.converged
            assert f"has {wrong} sample" in found.status
        told.add(found.status.partition(" ")[0])
    assert {"Converged:", "Ended"} <= told


def test_runs_end_when_the_loss_stalls():
    stalled = SingleSample(epochs=500, improvement=1e-3, patience=3, engine="numpy").minimize(
        *problem(criteria.Perceptron(), "overlap")
    )
    assert "had not fallen by 0.001 for 3 epochs" in stalled.status
    assert not stalled.converged  # the samples are not separated
    assert stalled.iterations < 500


@engines
def test_history_by_epochs_and_callback(engine):
    told = []
    found = SingleSample(epochs=9, engine=engine, callback=lambda step: told.append(step) or step.k == 4).minimize(
        *problem(criteria.Perceptron(), "overlap")
    )
    assert found.status == "Stopped by the callback at step 4."
    assert [step.k for step in told] == [1, 2, 3, 4]
    np.testing.assert_array_equal(found.history["k"], [1, 2, 3, 4])
    assert found.history["corrections"][-1] == found.corrections
    assert found.samples == 4 * 60


def test_a_run_loads_no_heavy_library():
    code = (
        "import sys, numpy as np\n"
        "from discriminant import criteria, optimize\n"
        "from discriminant.codings import make_coding\n"
        "from discriminant.data import make_blocks\n"
        "from discriminant.objective import PointwiseObjective\n"
        "X, y = np.random.default_rng(0).standard_normal((100, 3)), np.arange(100) % 2\n"
        "J = PointwiseObjective(make_blocks(X, y), criteria.Perceptron(), make_coding('two-class', 2))\n"
        "optimize.SingleSample(epochs=20).minimize(J, np.zeros((4, 1)))\n"
        "heavy = {'sklearn', 'pandas', 'scipy.stats', 'matplotlib'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_refusals_are_sentences():
    with pytest.raises(MismatchError, match=r"SingleSample needs a gradient, which criterion ZeroOne"):
        SingleSample().minimize(*problem(criteria.ZeroOne(), "gap"))
    with pytest.raises(MismatchError, match=r"needs a gradient, which penalty Lasso"):
        SingleSample().minimize(*problem(criteria.Hinge(), "gap", penalty=Lasso(0.1)))
    with pytest.raises(MismatchError, match="Ridge of one strength"):
        SingleSample().minimize(*problem(criteria.Hinge(), "gap", penalty=Ridge(0.1, factors=(1.0, 1.0, 0.0))))
    with pytest.raises(MismatchError, match="without a penalty only"):
        SingleSample(keep="average").minimize(*problem(criteria.Hinge(), "gap", penalty=Ridge(0.1)))
    objective = many_class(criteria.Kesler(criteria.Perceptron()))
    with pytest.raises(MismatchError, match="no pocket"):
        SingleSample(keep="pocket").minimize(objective, zeros(objective))
    objective = many_class(criteria.Softmax(), "softmax")
    with pytest.raises(MismatchError, match="use callback"):
        SingleSample(trace=True).minimize(objective, zeros(objective))
    objective = many_class(criteria.Softmax(reference=True), "reference")
    with pytest.raises(MismatchError, match="knows no rule"):
        SingleSample().minimize(objective, zeros(objective))
    with pytest.raises(ParameterError, match=r"one of 'cyclic' and 'shuffled'. Got 'random'"):
        SingleSample(order="random")
