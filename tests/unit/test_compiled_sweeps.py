"""The compiled sequential kernels against their NumPy bodies: the same steps, whatever the rule and the storage."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from discriminant.kernels import compiled, dual, rules
from discriminant.kernels.sweeps import Samples, State, aligned_weights, sweep

if compiled.load() is None:
    pytest.skip("the kernels are not compiled here", allow_module_level=True)

SEPARATE = {
    "perceptron": rules.PERCEPTRON, "relaxation": rules.RELAXATION, "quadratic": rules.QUADRATIC,
    "squared": rules.SQUARED, "logistic": rules.LOGISTIC, "sigmoid": rules.SIGMOID_SQUARED,
}  # fmt: skip
N, D = 90, 37  # more than one vector of any width, and a rest


def storages(X):
    wide = sp.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    return {
        "float64": X, "float32": X.astype(np.float32), "csr": sp.csr_array(X), "csr, int64": wide,
        "csr, float32": sp.csr_array(X.astype(np.float32)), "csr, float32, int64": wide.astype(np.float32),
    }  # fmt: skip


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def make_samples(rng, storage, outputs, signed, weighted=True, codes=np.int32):
    X = np.round(rng.standard_normal((N, D)), 2) * (rng.random((N, D)) < 0.6)
    targets = rng.integers(2, size=(4, outputs)).astype(float)
    care = (rng.random((4, outputs)) < 0.8).astype(float)
    weight = rng.choice([0.0, 0.5, 2.0], N) if weighted else np.empty(0)
    return Samples(
        storages(X)[storage],
        rng.integers(4, size=N).astype(codes),
        2 * targets - 1 if signed else targets,
        care,
        weight,
    )


def make_state(rng, kind, outputs, **options):
    A = aligned_weights(0.1 * rng.standard_normal((1 + D, outputs)))
    tally = np.zeros((8, outputs), np.int64)
    tally[rules.NEEDED], tally[rules.ONE] = options.pop("needed", 1 << 40), options.pop("one", 1)
    for name in ("drift", "pocket"):
        if options.pop(name, False):
            options[name] = np.zeros_like(A)
    if options.pop("losses", True):
        options["losses"] = np.zeros(outputs)
    if "seen" in options:
        options |= {
            "seen": np.zeros((outputs, N * outputs), options["seen"]),
            "sizes": np.zeros((outputs, N * outputs)),
        }
    return State(A, kind, factor=np.ones(outputs), tally=tally, **options)


def both(samples, state, order=None, sweeps=2):
    """The state after two sweeps, compiled and not."""
    order = np.empty(0, np.int64) if order is None else order
    ends = []
    for fast in (True, False):
        arrays = {name: value.copy() for name, value in vars(state).items() if isinstance(value, np.ndarray)}
        copy = State(**{**vars(state), **arrays, "A": aligned_weights(state.A.T)[:, : state.A.shape[1]]})
        for _ in range(sweeps):
            copy.tally[rules.ORIGIN] = copy.tally[rules.STEPS]
            sweep(samples, copy, order, fast=fast)
        ends.append(copy)
    return ends


def assert_same(samples, state, order=None, sweeps=2):
    fast, plain = both(samples, state, order, sweeps)
    single = samples.X.dtype == np.float32  # NumPy adds up float32 products in float32
    for name in ("tally", "A", "factor", "losses", "drift", "pocket", "seen", "sizes"):
        found, expected = getattr(fast, name), getattr(plain, name)
        scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
        np.testing.assert_allclose(found, expected, rtol=0, atol=(1e-4 if single else 1e-11) * scale, err_msg=name)
    return fast


@pytest.mark.parametrize("storage", list(storages(np.zeros((2, 2)))))
@pytest.mark.parametrize("rule", list(SEPARATE))
def test_every_rule_takes_the_same_steps_in_every_storage(rule, storage, rng):
    samples = make_samples(rng, storage, 3, signed=rule not in ("logistic", "sigmoid"))
    state = make_state(rng, SEPARATE[rule], 3, margin=0.3, steps=(0.05, 0.0, 0.0))
    assert assert_same(samples, state).tally[rules.STEPS].min() > 10


@pytest.mark.parametrize("rule", list(SEPARATE))
@pytest.mark.parametrize(
    "options",
    [
        {"steps": (0.3, 0.5, 2.0)},
        {"steps": (0.3, 1.0, 2.0), "shrink": 0.2},
        {"steps": (0.9, 0.0, 0.0), "shrink": 1.0},  # the factor is folded into the weights again and again
        {"table": 0.05 + 0.01 * np.sin(np.arange(500.0))},
        {"drift": True, "pocket": True},
        {"threshold": 0.03, "losses": False},
        {"needed": 3},
        {"one": 0},
        {"seen": np.int32},
        {"seen": np.int64},
    ],
    ids=lambda options: ", ".join(options),
)
def test_every_option_takes_the_same_steps(rule, options, rng):
    samples = make_samples(rng, "float64", 2, signed=rule not in ("logistic", "sigmoid"))
    assert_same(samples, make_state(rng, SEPARATE[rule], 2, **{"steps": (0.05, 0.0, 0.0), **options}))


@pytest.mark.parametrize("storage", list(storages(np.zeros((2, 2)))))
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (rules.SOFTMAX, {}),
        (rules.SOFTMAX, {"drift": True, "steps": (0.5, 0.5, 1.0)}),
        *((kind, {"drift": True, "seen": np.int32}) for kind in SEPARATE.values()),
        (rules.PERCEPTRON, {"worst": True, "margin": 0.5}),
        (rules.PERCEPTRON, {"needed": 5}),
    ],
)
def test_coupled_outputs_take_the_same_steps(kind, options, storage, rng):
    samples = make_samples(rng, storage, 4, signed=False)
    state = make_state(rng, kind, 4, **{"coupled": True, "steps": (0.02, 0.0, 0.0), **options})
    assert_same(samples, state)


@pytest.mark.parametrize("codes", [np.uint8, np.int32, np.int64])
@pytest.mark.parametrize("coupled", [False, True])
@pytest.mark.parametrize("storage", ["float64", "float32", "csr"])
def test_a_shuffled_order_takes_the_same_steps(codes, coupled, storage, rng):
    samples = make_samples(rng, storage, 4, signed=True, weighted=False, codes=codes)
    state = make_state(rng, rules.PERCEPTRON, 4, margin=0.1, coupled=coupled)
    assert_same(samples, state, rng.permutation(N))


def test_a_column_named_twice_counts_twice(rng):
    X = sp.csr_array((rng.standard_normal(4 * N), np.tile([0, 2, 2, 1], N), np.arange(0, 4 * N + 1, 4)), (N, D))
    samples = Samples(X, rng.integers(2, size=N).astype(np.int32), np.array([[-1.0], [1.0]]), np.ones((2, 1)))
    assert_same(samples, make_state(rng, rules.SQUARED, 1, steps=(0.05, 0.0, 0.0)))


def test_arrays_that_do_not_fit_are_refused_in_a_sentence(rng):
    samples, state = make_samples(rng, "float64", 2, signed=True), make_state(rng, rules.SQUARED, 2)
    state.tally = state.tally[:4].copy()
    with pytest.raises(ValueError, match="tally must hold 16 numbers, and it holds 8"):
        sweep(samples, state, np.empty(0, np.int64))
    state.tally = np.zeros((8, 2), np.int32)
    with pytest.raises(ValueError, match="tally must hold int64 numbers, and its numbers are int32"):
        sweep(samples, state, np.empty(0, np.int64))
    with pytest.raises(ValueError, match="X must hold float64 or float32"):
        sweep(Samples(np.ones((N, D), int), samples.codes, samples.targets, samples.care), state, np.empty(0, np.int64))


@pytest.mark.parametrize("storage", ["float64", "csr", "csr, int64"])
@pytest.mark.parametrize("squared", [False, True])
def test_dual_descent_takes_the_same_steps(storage, squared, rng, monkeypatch):
    X = storages(rng.standard_normal((N, D)) * (rng.random((N, D)) < 0.5))[storage]
    y, c, order = rng.choice([-1.0, 1.0], N), rng.uniform(0.1, 1.0, N), rng.permutation(N)
    U, diagonal = (np.full(N, np.inf), 1 / (2 * c)) if squared else (c, np.zeros(N))
    Q = np.asarray((X * X).sum(axis=1)).ravel() + 1.0 + diagonal
    ends = []
    for kernels in (compiled.load(), None):
        monkeypatch.setattr(compiled, "load", lambda kernels=kernels: kernels)
        alpha, w = np.zeros(N), np.zeros(D + 1)
        left, visits = dual.epochs(X, y, alpha, U, diagonal, Q, w, 1.0, 0.2, order.copy(), 6)
        assert len(left) < N or squared
        ends.append(np.concatenate([alpha, w, left, [visits]]))
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-11)


@pytest.mark.parametrize("storage", ["float64", "csr", "csr, int64"])
@pytest.mark.parametrize("K", [2, 5])
def test_dual_descent_of_the_linear_machine_takes_the_same_steps(storage, K, rng, monkeypatch):
    X = storages(rng.standard_normal((N, D)) * (rng.random((N, D)) < 0.5))[storage]
    codes, c, order = rng.integers(K, size=N), rng.uniform(0.0, 1.0, N), rng.permutation(N)
    Q = np.asarray((X * X).sum(axis=1)).ravel() + 1.0
    ends = []
    for kernels in (compiled.load(), None):
        monkeypatch.setattr(compiled, "load", lambda kernels=kernels: kernels)
        alpha, W = np.zeros((N, K)), np.zeros((D + 1, K))
        worst = [dual.machine_epoch(X, codes, alpha, c, Q, W, 1.0, order) for _ in range(3)]
        ends.append(np.concatenate([alpha.ravel(), W.ravel(), worst]))
        np.testing.assert_allclose(alpha.sum(axis=1), 0.0, atol=1e-12)  # feasible, in both
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-11)


FITS = """
import numpy as np, discriminant as d
X = np.random.default_rng(0).standard_normal((150, 21))
y = (X[:, 0] + X[:, 1] > 0.3).astype(int) + (X[:, 2] > 1)
for model in (d.Perceptron(max_iter=20), d.Adaline(0.01, max_iter=20)):
    print(*np.ravel(model.fit(X, y).coef_).tolist())
"""


def fits(level):
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FITS], capture_output=True, text=True,
        env={**os.environ, "DISCRIMINANT_KERNELS": level},
    )  # fmt: skip
    if "which this installation or this processor does not have" in run.stderr:
        pytest.skip(f"{level} cannot run here")
    assert run.returncode == 0, run.stderr
    return np.array([float(part) for part in run.stdout.split()])


@pytest.mark.parametrize("level", ["none", "avx2", "avx512"])
def test_sequential_fits_have_the_same_answers_on_every_level(level):
    np.testing.assert_allclose(fits(level), fits("baseline"), atol=1e-9)
