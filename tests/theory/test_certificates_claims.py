"""Certificates on 200 generated problems: the gap bounds the true error, known from a solve in longer precision.

Shapes, units over twelve orders of magnitude, offsets, penalties over ten, no penalty, weights, K up to five, with and
without an intercept.  The reference is Newton's method with sums in the machine's widest float, written here.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import pytest

from discriminant import LogisticRegression, certify
from discriminant.protocols import Array

PROBLEMS, PER_TEST = 200, 20
Wide = np.longdouble
ROUNDING = 64 * float(np.finfo(Wide).eps)  # of the reference's own sums, relative to J


@dataclass
class Problem:
    X: Array
    y: Array
    weight: Array | None
    C: float
    K: int
    intercept: bool

    def fit(self) -> LogisticRegression:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return LogisticRegression(C=self.C, fit_intercept=self.intercept).fit(self.X, self.y, self.weight)

    @property
    def share(self) -> Array:
        weight = np.ones(len(self.y)) if self.weight is None else self.weight
        return weight.astype(Wide) / weight.astype(Wide).sum()

    @property
    def ridge(self) -> float:
        total = len(self.y) if self.weight is None else self.weight.sum()
        return 0.0 if np.isinf(self.C) else 1.0 / (self.C * float(total))


def generate(seed: int) -> Problem:
    """A problem whose optimum exists: overlapping rows where there is no penalty."""
    random = np.random.default_rng(seed)
    K = int(random.choice([2, 2, 2, 3, 4, 5]))
    d = int(random.integers(1, 7))
    C = float(np.inf if random.random() < 0.25 else 10.0 ** random.uniform(-4, 6))
    n = int(random.integers(12 * K * (d + 1), 20 * K * (d + 1))) if np.isinf(C) else int(random.integers(2 * K, 90))
    X = random.normal(size=(n, d))
    if random.random() < 0.3:
        X[:, 0] = random.random(n) < 0.3
    z = X @ random.normal(size=(d, K)) * random.choice([0.1, 1.0]) + random.gumbel(size=(n, K))
    y = z.argmax(axis=1)
    y[:K] = np.arange(K)
    X = X * 10.0 ** random.uniform(-6, 6, d) if random.random() < 0.5 else X
    if random.random() < 0.3:
        X = X + 10.0 * np.abs(X).max(axis=0)
    weight = None if random.random() < 0.5 else random.uniform(0.1, 5, n)
    return Problem(X, y, weight, C, K, bool(random.random() < 0.85))


def evaluate(problem: Problem, Y: Array, A: Array, penalised: Array) -> tuple[Wide, Array, Array]:
    """(J, gradient, posteriors) at A (1+d, K or 1) in the widest float."""
    z = Y @ A
    if A.shape[1] == 1:
        z = np.concatenate([np.zeros_like(z), z], axis=1)
    z = z - z.max(axis=1, keepdims=True)
    lost = np.log(np.exp(z).sum(axis=1))
    p = np.exp(z - lost[:, None])
    t = np.zeros_like(p)
    t[np.arange(len(t)), problem.y] = 1
    J = (problem.share * (lost - (z * t).sum(axis=1))).sum() + (penalised * A * A).sum() / 2
    slope = Y.T @ ((p - t) * problem.share[:, None])
    return J, (slope[:, 1:] if A.shape[1] == 1 else slope) + penalised * A, p


def reference(problem: Problem, A: Array, center: Array) -> tuple[Wide, Wide]:
    """(J at A about the centre, the least J): Newton from A, in columns of unit size."""
    wide = problem.X.astype(Wide) - center.astype(Wide)
    unit = np.sqrt((wide * wide).mean(axis=0)) + Wide(1e-300)
    ones = np.full((len(wide), 1), Wide(problem.intercept))
    Y = np.hstack([ones, wide / unit])
    scale = np.concatenate([[Wide(1)], unit])[:, None]
    penalised = np.concatenate([[Wide(0)], Wide(problem.ridge) / unit**2])[:, None]
    B = A.astype(Wide) * scale
    J, g, p = evaluate(problem, Y, B, penalised)
    start = best = J
    q, D = B.shape[1], len(B)
    for _ in range(40):
        H = np.zeros((q, D, q, D))
        for a in range(q):
            for b in range(q):
                i, j = (a + 1, b + 1) if q == 1 else (a, b)
                curve = problem.share * p[:, i] * ((i == j) - p[:, j])
                H[a, :, b] = ((Y * curve[:, None]).T @ Y).astype(float)
            H[a, :, a] += np.diag(penalised[:, 0].astype(float))
        flat = H.reshape(q * D, q * D)
        step = np.linalg.lstsq(flat, g.T.ravel().astype(float), rcond=1e-14)[0].reshape(q, D).T
        decrement = float((g.astype(float) * step).sum())
        length = Wide(1)
        while length > 1e-6:
            ahead = evaluate(problem, Y, B - length * step, penalised)
            if ahead[0] <= J:
                break
            length /= 2
        if ahead[0] > J or decrement <= 1e-30:
            break
        B, (J, g, p) = B - length * step, ahead
        best = min(best, J)
    return start, best


@pytest.mark.parametrize("part", range(PROBLEMS // PER_TEST))
def test_gaps_bound_true_errors(part):
    for seed in range(part * PER_TEST, (part + 1) * PER_TEST):
        problem = generate(seed)
        model = problem.fit()
        proof, found = model.certificate_, model.discriminant_
        center = np.zeros(problem.X.shape[1]) if found.center is None else found.center
        J, least = reference(problem, found.weights, center)
        slack = ROUNDING * abs(least)
        assert float(J - least) <= proof.gap + slack, seed
        assert proof.bound <= float(least + slack), seed
        assert proof.objective == pytest.approx(float(J), rel=1e-12), seed
        assert proof.gap <= 1e-6 * abs(proof.objective), seed
        assert proof.converged, seed
        if problem.intercept:
            _loosened(problem, model, seed, least)


def _loosened(problem, model, seed, least):
    """The same with weights that are wrong by a little or by much: the bound found from scratch still holds."""
    random = np.random.default_rng(seed)
    size = 10.0 ** random.uniform(-8, 0)
    model.coef_ = model.coef_ * (1 + size * random.normal(size=model.coef_.shape))
    found = certify(model, problem.X, problem.y, problem.weight)
    A = np.vstack([np.broadcast_to(model.intercept_, len(model.coef_)), model.coef_.T])
    J, again = reference(problem, A, np.zeros(problem.X.shape[1]))
    least = min(least, again)
    slack = ROUNDING * abs(float(J))
    assert float(J - least) <= found.gap + slack, seed
    assert found.objective == pytest.approx(float(J), rel=1e-14), seed
    assert found.converged == (found.gap <= 1e-6 * abs(found.objective)), seed
