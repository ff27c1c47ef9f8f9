"""Where a logistic fit begins: class frequencies, the discriminant of Gaussian classes, a row sample's optimum."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from discriminant import LinearDiscriminantAnalysis, LogisticRegression
from discriminant.data import make_blocks
from discriminant.kernels.logistic import logs
from discriminant.optimize.logistic import LogisticProblem
from discriminant.optimize.logistic.floor import sample_proof
from discriminant.optimize.logistic.large import start
from discriminant.optimize.logistic.newton import Trace, at_frequencies, newton
from discriminant.optimize.logistic.precondition import two_class
from discriminant.optimize.logistic.sample import picked, sampled


def rows(n: int, d: int, shift: float = 1.0, rare: float = 0.5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two Gaussian classes."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < rare).astype(np.int64)
    return rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + shift * y[:, None] + 3.0, y


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rare", [0.5, 0.03])
def test_the_look_at_the_class_frequencies_follows_from_the_one_at_zero(weighted, rare):
    X, y = rows(400, 6, rare=rare)
    weight = np.random.default_rng(1).random(400) + 0.5 if weighted else None
    problem = LogisticProblem(make_blocks(X, y, weight), 2, ridge=0.01).with_units()
    zero = problem.start()
    found = at_frequencies(problem, zero, problem.look(zero, hessian=True))
    assert found is not None
    A, look = found
    share = np.average(y, weights=weight)
    assert np.isclose(A[0, 0], np.log(share / (1 - share)), rtol=1e-12)
    there = problem.look(A, hessian=True)
    assert np.isclose(look.value, there.value, rtol=1e-12)
    np.testing.assert_allclose(look.gradient, there.gradient, atol=1e-13)
    np.testing.assert_allclose(look.hessian, there.hessian, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(look.bend, there.bend, rtol=1e-10, atol=1e-13)


def test_no_short_cut_where_posteriors_are_not_the_frequencies():
    X, y = rows(100, 3)
    blocks = make_blocks(X, y)
    cases = {
        "no intercept": LogisticProblem(blocks, 2, intercept=False),
        "offset": LogisticProblem(blocks, 2, offset=np.linspace(-1, 1, 100)),
        "one class only": LogisticProblem(make_blocks(X, np.zeros(100, dtype=np.int64)), 2, ridge=0.1),
    }
    for problem in cases.values():
        units = problem.with_units()
        zero = units.start()
        assert at_frequencies(units, zero, units.look(zero, hessian=True)) is None
    units = LogisticProblem(blocks, 2).with_units()
    elsewhere = units.start() + 0.1
    assert at_frequencies(units, elsewhere, units.look(elsewhere, hessian=True)) is None


@pytest.mark.parametrize("rare", [0.5, 0.2])
def test_the_first_step_leads_to_the_linear_discriminant_of_gaussian_classes(rare):
    X, y = rows(4_000, 5, shift=2.0, rare=rare)
    problem = LogisticProblem(make_blocks(X, y), 2).with_units()
    zero = problem.start()
    found = at_frequencies(problem, zero, problem.look(zero, hessian=True))
    assert found is not None
    A, look = found
    step = -np.linalg.solve(look.hessian, look.gradient)
    decrement = float(-(look.gradient * step).sum())
    weights = (A + step / (1 - decrement)) / problem.units
    np.testing.assert_allclose(weights[1:, 0], LinearDiscriminantAnalysis().fit(X, y).coef_[0], rtol=2e-3)


def test_breast_cancer_is_solved_to_the_last_digits_in_few_looks():
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
def test_a_sample_is_solved_with_few_looks_and_a_newton_step(kind):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((30_000, 8))
    if kind == "heavy tails":
        X = rng.standard_t(2.0, X.shape)
    if kind == "collinear":
        X[:, 1] = X[:, 0] + 1e-5 * X[:, 1]
    w = rng.standard_normal(8) * (20.0 if kind == "nearly separated" else 1.0)
    y = (X @ w + rng.logistic(size=len(X)) > 0).astype(np.int64)
    problem = LogisticProblem(make_blocks(X, y), 2, ridge=1e-5).with_units()
    small, sample = sampled(problem, 2_000), sampled(problem, 10_000)
    quiet = Trace()
    A, preconditioner = start(problem, sample, problem.start(), two_class(small, problem.start()), quiet, Trace())
    best = newton(sample, A, Trace(), 1e-12)
    assert sample.look(A).value - best.look.value <= 0.1 * 8 / 10_000 * best.look.value + 1e-9
    assert quiet.passes <= 25
    scaled = preconditioner.factors[0].solve(sample.look(A, hessian=True).hessian)
    np.testing.assert_allclose(np.linalg.eigvals(scaled).real, 1.0, atol=0.3)  # the Hessian is taken near A


def test_logarithms_of_a_strip_are_right_to_two_ulps():
    e = np.concatenate([np.linspace(0, 1, 1001), 10.0 ** np.linspace(-300, 0, 2000)])
    found = e.copy()
    logs(found, len(e))
    exact = np.log1p(e)
    assert found[0] == 0
    assert (np.abs(found - exact) <= 3 * np.spacing(exact)).all()


@pytest.mark.parametrize("K", [2, 3])
def test_rows_picked_look_by_look_are_the_sample(K):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((9_000, 4)) * [1.0, 1e3, 1e-3, 1.0] + [0.0, 1e5, 0.0, 0.0]
    y = rng.integers(0, K, len(X))
    problem = LogisticProblem(make_blocks(X, y, rng.random(len(X))), K, ridge=0.01).with_units()
    A = rng.standard_normal((5, problem.n_outputs))
    copied, fetched = sampled(problem, 2_500).look(A, hessian=True), picked(problem, 2_500).look(A, hessian=True)
    assert np.isclose(fetched.value, copied.value, rtol=1e-12)
    np.testing.assert_allclose(fetched.gradient, copied.gradient, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(fetched.hessian, copied.hessian, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("K", "d"), [(2, 20), (20, 20)])
def test_a_proof_copies_no_rows(K, d):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((60_000, d))
    problem = LogisticProblem(make_blocks(X, rng.integers(0, K, len(X))), K).with_units()
    tracemalloc.start()
    proof = sample_proof(problem)
    kept = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert proof.sample.n_rows > 1_000
    assert kept < 0.3 * X.nbytes
