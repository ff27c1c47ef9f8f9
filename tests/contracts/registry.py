"""One line for each part: the laws of this folder run over these lists.  A new part is one file and one line here."""

from __future__ import annotations

from typing import Any

import numpy as np

from discriminant import criteria

CRITERIA: list[Any] = [
    criteria.Perceptron(),
    criteria.Perceptron(margin=0.5),
    criteria.Quadratic(),
    criteria.Quadratic(margin=2.0),
    criteria.Relaxation(),
    criteria.Relaxation(margin=0.25),
    criteria.Squared(),
    criteria.Logistic(),
    criteria.Softmax(),
    criteria.Softmax(reference=True),
    criteria.Hinge(),
    criteria.SquaredHinge(),
    criteria.SigmoidSquared(),
    criteria.ZeroOne(),
    criteria.Kesler(criteria.Perceptron()),
    criteria.Kesler(criteria.Perceptron(margin=1.0)),
    criteria.Kesler(criteria.Hinge(), over="worst"),
    criteria.Kesler(criteria.Relaxation()),
    criteria.Kesler(criteria.SquaredHinge(), over="worst"),
    criteria.Kesler(criteria.Logistic()),
    criteria.Kesler(criteria.Squared()),
    criteria.Kesler(criteria.ZeroOne(), over="worst"),
]


def name(part: Any) -> str:
    """A readable test id."""
    return repr(part).replace("criteria.", "")


def targets_for(criterion: Any, n: int, q: int, rng: np.random.Generator) -> np.ndarray:
    """Targets that the criterion accepts, hard and (where it takes them) soft."""
    if criterion.coupled:
        one = np.eye(q)[rng.integers(q, size=n)]
        if isinstance(criterion, criteria.Softmax):
            soft = rng.dirichlet(np.ones(q + criterion.reference), size=n)[:, :q]
            return np.where(rng.random((n, 1)) < 0.5, one, soft)
        return one
    low, high = criterion.labels
    hard = np.where(rng.random((n, q)) < 0.5, low, high)
    if isinstance(criterion, criteria.Margin):
        return hard
    return np.where(rng.random((n, q)) < 0.5, hard, rng.uniform(low, high, (n, q)))
