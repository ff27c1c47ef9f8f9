"""Where a logistic fit begins: class frequencies, the discriminant of Gaussian classes, a row sample's optimum."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from discriminant import LinearDiscriminantAnalysis, LogisticRegression
from discriminant.data import make_blocks
from discriminant.data.scaling import choose_scaling
from discriminant.objective import PointwiseObjective, logistic_objective
from discriminant.optimize.newton import FULL, Trace, newton_to_gap, null_start
from discriminant.optimize.sampled import drawn, sample_proof, sampling_error


def scaled(*args, **more) -> PointwiseObjective:
    objective = logistic_objective(*args, **more)
    return objective.scaled(choose_scaling(objective.blocks, objective.intercept))


def zeros(objective: PointwiseObjective) -> np.ndarray:
    return np.zeros((objective.n_parameters, objective.n_outputs))


def rows(n: int, d: int, shift: float = 1.0, rare: float = 0.5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two Gaussian classes."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < rare).astype(np.int64)
    return rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + shift * y[:, None] + 3.0, y


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rare", [0.5, 0.03])
def test_the_null_model_has_the_class_frequencies_as_posteriors(weighted, rare):
    X, y = rows(400, 6, rare=rare)
    weight = np.random.default_rng(1).random(400) + 0.5 if weighted else None
    problem = scaled(make_blocks(X, y, weight), 2, ridge=0.01)
    A = null_start(problem, zeros(problem))
    share = np.average(y, weights=weight)
    assert np.isclose(A[0, 0], np.log(share / (1 - share)), rtol=1e-12)
    assert not A[1:].any()
    there = problem.evaluate(A)
    assert abs(there.gradient[0, 0]) < 1e-15
    assert np.isclose(there.value, -share * np.log(share) - (1 - share) * np.log1p(-share), rtol=1e-12)


def test_no_short_cut_where_posteriors_are_not_the_frequencies():
    X, y = rows(100, 3)
    blocks = make_blocks(X, y)
    cases = {
        "no intercept": scaled(blocks, 2, intercept=False),
        "offset": scaled(blocks, 2, offset=np.linspace(-1, 1, 100)),
        "one class only": scaled(make_blocks(X, np.zeros(100, dtype=np.int64)), 2, ridge=0.1),
        "probabilities": scaled(make_blocks(X, y / 2 + 0.2), 2, ridge=0.1),
    }
    for problem in cases.values():
        zero = zeros(problem)
        assert null_start(problem, zero) is zero
    plain = scaled(blocks, 2)
    there = zeros(plain) + 0.1
    assert null_start(plain, there) is there


@pytest.mark.parametrize("rare", [0.5, 0.2])
def test_the_first_step_leads_to_the_linear_discriminant_of_gaussian_classes(rare):
    X, y = rows(4_000, 5, shift=2.0, rare=rare)
    problem = scaled(make_blocks(X, y), 2)
    A = null_start(problem, zeros(problem))
    look = problem.evaluate(A, FULL)
    step = -np.linalg.solve(look.hessian[0], look.gradient)
    decrement = float(-(look.gradient * step).sum())
    weights = (A + step / (1 - decrement)) / problem.units
    np.testing.assert_allclose(weights[1:, 0], LinearDiscriminantAnalysis().fit(X, y).coef_[0], rtol=2e-3)


def test_breast_cancer_is_solved_to_the_last_digits_in_few_passes():
    X, y = load_breast_cancer(return_X_y=True)
    model = LogisticRegression().fit(X, y)
    assert model.history_.columns["passes"][-1] <= 9
    assert model.certificate_.gap <= 1e-12 * model.certificate_.objective


@pytest.mark.parametrize(
    ("shift", "rare"), [(0.0, 0.5), (1.0, 0.5), (6.0, 0.5), (1.0, 0.01), (20.0, 0.1)], ids=lambda v: str(v)
)
def test_a_long_first_step_never_costs_the_optimum(shift, rare):
    X, y = rows(600, 4, shift=shift, rare=rare, seed=3)
    model = LogisticRegression().fit(X, y)
    assert model.certificate_.gap <= 1e-10 * model.certificate_.objective
    long = model.history_.columns["step"]
    assert long[0] >= 1
    objective = np.array(model.history_.columns["objective"])
    assert (np.diff(objective) <= 1e-14 * objective[0]).all()


@pytest.mark.parametrize("kind", ["plain", "nearly separated", "heavy tails", "collinear"])
def test_a_sample_is_solved_as_far_as_it_knows_in_few_passes(kind):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((30_000, 8))
    if kind == "heavy tails":
        X = rng.standard_t(2.0, X.shape)
    if kind == "collinear":
        X[:, 1] = X[:, 0] + 1e-5 * X[:, 1]
    w = rng.standard_normal(8) * (20.0 if kind == "nearly separated" else 1.0)
    y = (X @ w + rng.logistic(size=len(X)) > 0).astype(np.int64)
    sample = drawn(scaled(make_blocks(X, y), 2, ridge=1e-5), 10_000)
    trace = Trace()
    found = newton_to_gap(sample, zeros(sample), trace, sampling_error(sample))
    best = newton_to_gap(sample, found.A, Trace(), 1e-12, to_the_end=True)
    assert found.found.value - best.found.value <= sampling_error(sample) * best.found.value + 1e-9
    assert trace.passes <= 20


@pytest.mark.parametrize(("K", "d"), [(2, 20), (20, 20)])
def test_a_proof_holds_few_rows(K, d):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((60_000, d))
    y = rng.integers(0, K, len(X))
    problem = scaled(make_blocks(X, y), K)
    state = newton_to_gap(drawn(problem, 5_000), zeros(problem), Trace(), 1e-3) if K == 2 else None
    prove = sample_proof(problem, problem)
    tracemalloc.start()
    if state is not None:
        prove(state, 1e9)
    kept = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert kept < 0.6 * X.nbytes


@pytest.mark.parametrize(
    "settings",
    [{"C": 1.0}, {"C": 1e4}, {"C": np.inf}, {"C": 1.0, "l1_ratio": 1.0}, {"C": 1e4, "l1_ratio": 1.0},
     {"C": 1e4, "l1_ratio": 0.5}, {"C": 100.0, "l1_ratio": 1.0, "fit_intercept": False},
     {"C": 1e3, "l1_ratio": 1.0, "bounds": (-1.0, 1.0)}, {"C": 10.0, "penalty_factors": [0.5, 1.0, 2.0]},
     {"C": 1.0, "optimizer": "lbfgs"}, {"C": 1.0, "optimizer": "conjugate-gradient"}],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("classes", [2, 4])
def test_a_start_far_on_the_wrong_side_changes_nothing(classes, settings):
    """Weights of 30 and more that put most rows on the wrong side: the answer is that of a fit from zero."""
    rng = np.random.default_rng(classes)
    y = np.arange(60) % classes
    X = rng.normal(size=(60, 3)) + 0.8 * np.eye(classes, 3)[y]
    cold = LogisticRegression(**settings).fit(X, y)
    warm = LogisticRegression(**settings, warm_start=True).fit(X, y)
    for scale in (30.0, 1e3):
        warm.coef_ = np.asarray(scale * rng.normal(size=warm.coef_.shape))
        warm.intercept_ = np.zeros_like(warm.intercept_) if settings.get("fit_intercept") is False else -scale * (
            np.arange(len(warm.intercept_)) + 1.0)  # fmt: skip
        warm.fit(X, y)
        assert warm.certificate_.converged
        np.testing.assert_allclose(warm.predict_proba(X), cold.predict_proba(X), atol=2e-6)
