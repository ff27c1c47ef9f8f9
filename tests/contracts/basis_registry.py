"""One line for each basis: the laws of ``test_basis_laws.py`` run over this list."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from sklearn.preprocessing import SplineTransformer

from discriminant import bases


def product(X: np.ndarray) -> np.ndarray:
    """A function of a user, at module level so that it can be pickled."""
    return X[:, 0] * X[:, -1]


# Everything random has a seed, so that two fits agree.
BASES: list[Any] = [
    bases.Linear(),
    bases.Polynomial(),
    bases.Polynomial(3, interaction_only=True),
    bases.Sine(),
    bases.Sine((0.5, 2.0), phase=0.3),
    bases.Log(offset=1.0),
    bases.Step(),
    bases.Step(3),
    bases.Step((0.0, 1.0)),
    bases.Gaussian(),
    bases.Gaussian((0.0, 2.0), width=0.5),
    bases.Radial(random_state=0),
    bases.Radial(3, placement="means", random_state=0),
    bases.Radial("classes", width=2.0),
    bases.Distances(random_state=0),
    bases.Distances("classes"),
    bases.HalfPlane(random_state=0),
    bases.Wiring(units=30, random_state=0),
    bases.Wiring(units=7, connections=3, threshold="median", random_state=0),
    bases.Functions(np.tanh),
    bases.Functions({"product": product}),
    bases.LowRankQuadratic(),
    bases.LowRankQuadratic(1),
    bases.Linear() + bases.Sine((2.0,)),
    bases.Polynomial(2).on(0) + bases.Step((0.5,)) + SplineTransformer(n_knots=3),
    bases.Sine().on(-1),
    (bases.Sine() + bases.Linear()).on(0),
]


def name(basis: Any) -> str:
    """A readable test id."""
    return re.sub(r" at 0x\w+", "", repr(basis))  # addresses differ between the processes of one test run


def sample(n: int = 40, d: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Positive rows, so that a logarithm exists, of three classes with different means and spreads."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return np.abs(rng.normal(size=(n, d)) * (1 + y[:, None]) + y[:, None]) + 0.01, y
