"""Data and objectives for the tests of single-sample procedures."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_iris

from discriminant.codings import make_coding
from discriminant.data import make_blocks
from discriminant.objective import PointwiseObjective

IRIS, SPECIES = load_iris(return_X_y=True)


def blobs(n=60, d=3, gap=1.0, seed=0):
    """Two classes, separable when gap is large."""
    source = np.random.default_rng(seed)
    codes = source.integers(2, size=n)
    return source.standard_normal((n, d)) + gap * np.where(codes[:, None] > 0, 1, -1), codes


DATA = {
    "iris, setosa": (IRIS, (SPECIES == 0).astype(int)),
    "gap": blobs(gap=3.0),
    "overlap": blobs(gap=0.4, seed=1),
}


def two_class(criterion, data, weight=None, penalty=None, X=None):
    features, codes = DATA[data] if isinstance(data, str) else data
    coding = make_coding("two-class", 2, labels=criterion.labels)
    return PointwiseObjective(make_blocks(features if X is None else X, codes, weight), criterion, coding, penalty)


def many_class(criterion, coding="machine", X=IRIS, codes=SPECIES, weight=None):
    made = make_coding(coding, int(codes.max()) + 1, labels=criterion.labels)
    return PointwiseObjective(make_blocks(X, codes, weight), criterion, made)


def zeros(objective):
    return np.zeros((objective.n_parameters, objective.n_outputs))


def augmented(X):
    return np.hstack([np.ones((len(X), 1)), X])


def problem(criterion, data, **options):
    objective = two_class(criterion, data, **options)
    return objective, zeros(objective)
