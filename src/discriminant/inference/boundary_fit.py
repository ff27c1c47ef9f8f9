"""The fit of the rows that separation leaves undecided: softmax over the classes that tie at each row.

    maximise  Σ_i w_i [z_{iy} − log Σ_{k ties} e^{z_ik}],     z = offset + features W,   W_0 = 0

Weights along directions that no boundary row sees are held at zero: which ones is known exactly, so that what is left
has one maximum, and Newton's method finds it to the last digits without a decision about rank.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discriminant.data import make_blocks
from discriminant.inference.cone import KeslerCone
from discriminant.inference.likelihood import Likelihood, inverse, maximise
from discriminant.objective import logistic_objective
from discriminant.protocols import Array

OUT_OF_REACH = -1e30  # as good as −∞ for a score, but finite: e^z is zero, and zero times it too


@dataclass(frozen=True)
class BoundaryRows:
    """Rows with their classes, the classes that tie, weights and known parts of the scores."""

    cone: KeslerCone
    rows: Array
    codes: Array
    ties: Array  # (m, K)
    weight: Array
    offset: Array | None

    def likelihood(self) -> Likelihood:
        """Of the rows' features, whose intercept is a column; a class that does not tie is out of reach."""
        K = self.cone.n_classes
        offset = np.zeros(self.ties.shape) if self.offset is None else np.array(self.offset, dtype=np.float64)
        offset[~self.ties] = OUT_OF_REACH
        features = self.cone.float_features(self.rows.tolist())
        blocks = make_blocks(features, self.codes.astype(np.int32), self.weight)
        known = offset[:, 1] - offset[:, 0] if K == 2 else offset
        return Likelihood(logistic_objective(blocks, K, intercept=False, offset=known))


@dataclass(frozen=True)
class Coordinates:
    """Which of the (K−1)·r weights are free: one is held for each direction that no row sees."""

    n_classes: int
    width: int
    unseen: Array  # (m, (K−1) r), rows independent
    intercept: bool

    @cached_property
    def free(self) -> Array:
        left, held = np.array(self.unseen, dtype=float), []
        for i in range(len(left)):
            size = np.abs(left[i:]).max(axis=1)
            left[i:] /= np.maximum(size, 1e-300)[:, None]
            largest = np.abs(left[i:]).max(axis=0)
            largest[:: self.width] *= 1e-6 if self.intercept else 1.0  # intercepts are held where nothing else can be
            place = int(largest.argmax())
            row = i + int(np.abs(left[i:, place]).argmax())
            left[[i, row]] = left[[row, i]]
            left[i + 1 :] -= np.outer(left[i + 1 :, place] / left[i, place], left[i])
            left[i + 1 :, place] = 0.0
            held.append(place)
        return np.setdiff1d(np.arange((self.n_classes - 1) * self.width), held)


def fit_boundary(rows: BoundaryRows, coordinates: Coordinates) -> tuple[Array, float, Array]:
    """(W (r, K), the maximum, the covariance ((K−1) r)² of W's columns but the first, zero where held)."""
    model, free, r = rows.likelihood(), coordinates.free, coordinates.width
    places = free + free // r + 1  # in θ, whose columns begin with an intercept that is nothing
    theta, found = maximise(model, np.zeros((r + 1, coordinates.n_classes - 1)), places)
    covariance = np.zeros(((coordinates.n_classes - 1) * r,) * 2)
    if len(free):
        assert found.hessian is not None
        covariance[np.ix_(free, free)] = inverse(found.hessian[np.ix_(places, places)])
    return np.hstack([np.zeros((r, 1)), theta[1:]]), -found.value, covariance
