"""One line for each part: the laws of this folder run over these lists.  A new part is one file and one line here."""

from __future__ import annotations

from typing import Any

import numpy as np

from discriminant import criteria, optimize, penalties
from discriminant.codings import make_coding
from discriminant.data import make_blocks
from discriminant.objective import PointwiseObjective

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
CRITERIA += [kind() for kind in criteria.CRITERIA.values() if kind not in map(type, CRITERIA)]  # those not listed

COUNTS = np.array([40.0, 25.0, 10.0, 5.0])
CODES = np.array([[1, 1, -1, 0, 1], [-1, 1, 1, 1, 0], [1, -1, 1, -1, -1], [-1, -1, -1, 1, 1]])
CODINGS: list[Any] = [
    make_coding("two-class", 2),
    make_coding("two-class", 2, labels=(0, 1), threshold=None),
    make_coding("two-class", 2, labels=(-3, 3), decoder="votes"),
    make_coding("fisher", 2, counts=COUNTS[:2]),
    make_coding("fisher", 4, counts=COUNTS),
    make_coding("one-of-k", 4, threshold=None),
    make_coding("machine", 4),
    make_coding("softmax", 4),
    make_coding("reference", 4),
    *(make_coding("one-vs-rest", 4, decoder=way) for way in ("maximum", "sum", "votes", "unanimous", "nearest")),
    make_coding("one-vs-rest-k-1", 4),
    make_coding("one-vs-rest-k-1", 4, decoder="unanimous"),
    *(make_coding("pairwise", 4, decoder=way) for way in ("sum", "votes", "unanimous", "nearest")),
    make_coding("pairwise", 4, labels=(0, 1), threshold=None),
    make_coding(CODES, 4),
    make_coding(CODES, 4, decoder="votes"),
    make_coding(CODES, 4, labels=(0, 1), decoder="unanimous"),
    make_coding([[0.0, 2.0], [1.0, np.nan], [2.0, 0.0], [3.5, 1.0]], 4),
]

PENALTIES: list[Any] = [  # for weights of four features
    penalties.Ridge(0.7),
    penalties.Ridge(0.7, factors=(1.0, 0.0, 2.0, 0.5)),
    penalties.Lasso(0.3),
    penalties.Lasso(0.3, factors=(1.0, 0.0, 2.0, 0.5)),
    penalties.ElasticNet(0.5, mix=0.3),
    penalties.ElasticNet(0.5, mix=0.0),
    penalties.Group(0.4),
    penalties.Group(0.4, groups=((0, 2), (1,), (3,)), factors=(1.0, 0.5, 2.0)),
]
PENALTIES += [
    kind(strength=0.4)
    for kind in penalties.PENALTIES.values()
    if kind not in map(type, PENALTIES) and not kind.needs_information  # Jeffreys' has laws of its own
]


def coding_name(coding: Any) -> str:
    return f"{coding.name}-{coding.n_classes}-{coding.decoder}"


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


def overlapping(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Three classes in three dimensions that no linear rule separates, with columns of different sizes."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(3, size=90)
    centres = np.array([[0.0, 0.0, 0.0], [1.0, 0.5, 0.0], [0.0, 1.0, 1.0]])
    return (centres[codes] + rng.standard_normal((90, 3))) * [1.0, 2.0, 0.5], codes


def separable(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two classes in two dimensions with a wide gap between them."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(2, size=40)
    return rng.uniform(-1, 1, (40, 2)) + np.where(codes[:, None] > 0, 1.5, -1.5), codes


def _objective(criterion: Any, coding: str, data: Any, penalty: Any = None) -> PointwiseObjective:
    X, codes = data
    K = int(codes.max()) + 1
    made = make_coding(coding, K, labels=criterion.labels, threshold=criterion.threshold)
    return PointwiseObjective(make_blocks(X, codes), criterion, made, penalty)


def _two(data: Any) -> Any:
    return data[0], (data[1] > 0).astype(int)


# Problems whose least J an independent solver finds in the laws: name → objective.
PROBLEMS: dict[str, PointwiseObjective] = {
    "least squares": _objective(criteria.Squared(), "one-of-k", overlapping()),
    "ridge": _objective(criteria.Squared(), "one-vs-rest", overlapping(), penalties.Ridge(0.1)),
    "logistic": _objective(criteria.Logistic(), "two-class", _two(overlapping())),
    "logistic, pairwise, ridge": _objective(criteria.Logistic(), "pairwise", overlapping(), penalties.Ridge(0.05)),
    "softmax, ridge": _objective(criteria.Softmax(), "softmax", overlapping(), penalties.Ridge(0.05)),
    "squared hinge": _objective(criteria.SquaredHinge(), "one-vs-rest", overlapping()),
    "hinge": _objective(criteria.Hinge(), "two-class", _two(overlapping())),
    "hinge, lasso": _objective(criteria.Hinge(), "two-class", _two(overlapping()), penalties.Lasso(0.02)),
    "logistic, lasso": _objective(criteria.Logistic(), "two-class", _two(overlapping()), penalties.Lasso(0.02)),
    "softmax, group": _objective(criteria.Softmax(), "softmax", overlapping(), penalties.Group(0.02)),
    "logistic, jeffreys": _objective(criteria.Logistic(), "two-class", separable(), penalties.Jeffreys()),
    "perceptron, separable": _objective(criteria.Perceptron(0.5), "two-class", separable()),
    "relaxation, separable": _objective(criteria.Relaxation(0.5), "two-class", separable()),
    "kesler, separable": _objective(criteria.Kesler(criteria.Perceptron(0.5)), "machine", separable()),
    "count of errors": _objective(criteria.ZeroOne(), "two-class", _two(tuple(part[:40] for part in overlapping()))),
}

OPTIMIZERS: list[Any] = [
    optimize.ClosedForm(),
    optimize.GradientDescent(step=0.1, iterations=5000, threshold=1e-9),
    optimize.Newton(),
    optimize.LBFGS(),
    optimize.ConjugateGradient(),
    optimize.ProximalGradient(),
    optimize.ProximalNewton(),
    optimize.SingleSample(step=optimize.Inverse(0.1), epochs=200, engine="numpy"),
    optimize.LinearProgram(),
    optimize.Annealing(iterations=300, random_state=1),
    optimize.DifferentialEvolution(iterations=60),
    optimize.MixedInteger(seconds=20),
]
