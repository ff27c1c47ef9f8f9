"""Rows that come in parts and are not kept: what was learned is carried on as a Gaussian.

    minimise  Σ_new w ℓ + ½ (a − m)ᵗ P (a − m),      then   m ← argmin,   P ← P + Σ_new ∇²(w ℓ)

The losses of earlier rows are replaced by their second-order expansion at the estimate of their time (Laplace).  For
one part the answer is the exact fit; for many it approaches that of all rows together as the parts grow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discriminant.optimize.logistic.factor import make_factor
from discriminant.optimize.logistic.looks import Look
from discriminant.optimize.logistic.problem import LogisticProblem
from discriminant.protocols import Array

MOST_STEPS = 200


@dataclass(frozen=True)
class Belief:
    """What is known of the weights: mean (1+d, q) and precision (q(1+d), q(1+d)), outputs outermost."""

    mean: Array
    precision: Array
    rows: int = 0

    def value(self, A: Array) -> float:
        """½ (a − m)ᵗ P (a − m)."""
        away = (A - self.mean).T.ravel()
        return 0.5 * float(away @ self.precision @ away)

    def slope(self, A: Array) -> Array:
        """P (a − m)."""
        return np.asarray(self.precision @ (A - self.mean).T.ravel())


def ignorance(n_features: int, n_outputs: int, l2: float, intercept: bool) -> Belief:
    """Nothing seen yet: the ridge penalty as a prior, with a free (or, without one, a pinned) intercept."""
    D = n_features + 1
    each = np.full(D, l2)
    each[0] = 0.0 if intercept else 1.0
    return Belief(np.zeros((D, n_outputs)), np.diag(np.tile(each, n_outputs)))


def learn(belief: Belief, problem: LogisticProblem) -> Belief:
    """The belief after the rows of ``problem`` (its ridge is not used: the prior is in the belief already)."""
    A = belief.mean.copy()
    look = _look(problem, A)
    for _ in range(MOST_STEPS):
        g = look.gradient.T.ravel() + belief.slope(A)
        p = -make_factor(_with_shift(belief.precision + np.asarray(look.hessian), problem.n_outputs)).solve(g)
        slope = float(g @ p)
        value = look.value + belief.value(A)
        if -slope <= 1e-26 * (abs(value) + 1e-300):
            break
        step = 1.0
        while step > 1e-10:
            there = A + step * p.reshape(A.T.shape).T
            new = _look(problem, there)
            if new.value + belief.value(there) <= value + 1e-4 * step * slope + 1e-14 * abs(value):
                break
            step /= 2
        if step <= 1e-10:
            break
        A, look = there, new
    return Belief(A, belief.precision + np.asarray(look.hessian), belief.rows + problem.n_rows)


def _look(problem: LogisticProblem, A: Array) -> Look:
    look = problem.look(A, hessian=True)
    look.value *= problem.total
    look.gradient *= problem.total
    assert look.hessian is not None
    look.hessian *= problem.total
    return look


def _with_shift(H: Array, q: int) -> Array:
    """Curvature along Σ_k A_k, which softmax leaves free."""
    if q == 1:
        return H
    D = len(H) // q
    size = np.diagonal(H).reshape(q, D).max(axis=0)
    view = H.copy().reshape(q, D, q, D)
    index = np.arange(D)
    view[:, index, :, index] += size[:, None, None] / q
    return view.reshape(q * D, q * D)
