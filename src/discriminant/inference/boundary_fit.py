"""The fit of the rows that separation leaves undecided: softmax over the classes that tie at each row.

    maximise  Σ_i w_i [z_{iy} − log Σ_{k ties} e^{z_ik}],     z = offset + features W,   W_0 = 0

Weights along directions that no boundary row sees are held at zero: which ones is known exactly, so that what is left
has one maximum, and Newton's method finds it to the last digits without a decision about rank.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discriminant.inference.cone import KeslerCone
from discriminant.inference.likelihood import invert_scaled, solve_scaled
from discriminant.protocols import Array

_STEPS = 200
_CHUNK = 4_096


@dataclass(frozen=True)
class BoundaryRows:
    """Rows with their classes, the classes that tie, weights and known parts of the scores."""

    cone: KeslerCone
    rows: Array
    codes: Array
    ties: Array  # (m, K)
    weight: Array
    offset: Array | None

    def look(self, W: Array, curvature: bool = True) -> tuple[float, Array, Array | None]:
        """(value, gradient (r, K), Hessian of −value ((K−1) r)², classes outermost) at W (r, K)."""
        r, K = W.shape
        value, gradient = 0.0, np.zeros((r, K))
        hessian = np.zeros(((K - 1) * r, (K - 1) * r)) if curvature else None
        for start in range(0, len(self.rows), _CHUNK):
            part = slice(start, start + _CHUNK)
            F = self.cone.float_features(self.rows[part].tolist())
            z = F @ W + (0.0 if self.offset is None else self.offset[part])
            z = np.where(self.ties[part], z, -np.inf)
            z -= z.max(axis=1, keepdims=True)
            e = np.exp(z)
            total = e.sum(axis=1)
            own = np.arange(len(z)), self.codes[part]
            w = self.weight[part]
            value += float(w @ (z[own] - np.log(total)))
            p = e / total[:, None]
            if hessian is not None:
                _add_curvature(hessian, F, p, w)
            residual = -p
            residual[own] += 1.0
            gradient += F.T @ (residual * w[:, None])
        return value, gradient, hessian


def _add_curvature(hessian: Array, F: Array, p: Array, w: Array) -> None:
    r, K = F.shape[1], p.shape[1]
    for j in range(1, K):
        for k in range(1, j + 1):
            part = F.T @ ((w * p[:, j] * ((j == k) - p[:, k]))[:, None] * F)
            a, b = slice((j - 1) * r, j * r), slice((k - 1) * r, k * r)
            hessian[a, b] += part
            if j != k:
                hessian[b, a] += part.T


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

    def spread(self, values: Array) -> Array:
        """Free weights as W (r, K), the first class and held ones zero."""
        flat = np.zeros((self.n_classes - 1) * self.width)
        flat[self.free] = values
        return np.column_stack([np.zeros(self.width), flat.reshape(self.n_classes - 1, self.width).T])


def maximise(rows: BoundaryRows, coordinates: Coordinates) -> tuple[Array, float, Array]:
    """(W (r, K), the maximum, the covariance ((K−1) r)² of W's columns but the first, zero where held)."""
    free = coordinates.free
    theta = _two_classes(rows, coordinates) if coordinates.n_classes == 2 else np.zeros(len(free))
    value, gradient, hessian = rows.look(coordinates.spread(theta))
    for _ in range(_STEPS):
        assert hessian is not None
        g = gradient[:, 1:].T.ravel()[free]
        step = solve_scaled(hessian[np.ix_(free, free)], g)
        decrement = float(g @ step)
        if not decrement > 1e-26 * (1 + abs(value)):
            break
        size, near = 1.0, decrement <= 1e-10 * (1 + abs(value))
        while True:
            trial = theta + size * step
            ahead = rows.look(coordinates.spread(trial))
            if near or ahead[0] >= value + 0.25 * size * decrement or size < 1e-10:
                break
            size /= 2.0
        if near and ahead[0] < value - 1e-12 * (1 + abs(value)):
            break
        theta, (value, gradient, hessian) = trial, ahead
        if decrement <= 1e-20 * (1 + abs(value)):
            break
    assert hessian is not None
    covariance = np.zeros(hessian.shape)
    covariance[np.ix_(free, free)] = invert_scaled(hessian[np.ix_(free, free)])
    return coordinates.spread(theta), value, covariance


def _two_classes(rows: BoundaryRows, coordinates: Coordinates) -> Array:
    """The free weights by the solver of ordinary fits, which sees rows in blocks: a start that is all but the end."""
    from discriminant.data.blocks import make_blocks
    from discriminant.optimize.logistic import LogisticProblem, solve_logistic

    cone = rows.cone
    if coordinates.intercept != (0 in coordinates.free) or len(coordinates.free) <= cone.intercept or cone.extreme:
        return np.zeros(len(coordinates.free))
    columns = np.array(cone.keep)[coordinates.free[cone.intercept :] - cone.intercept]
    values = cone.source.pick(rows.rows).values[:, columns]
    offset = None if rows.offset is None else rows.offset[:, 1] - rows.offset[:, 0]
    blocks = make_blocks(values, rows.codes.astype(np.int32), rows.weight)
    fit = solve_logistic(LogisticProblem(blocks, 2, 0.0, bool(cone.intercept), offset), 1e-12)
    slopes = fit.weights[1:, 0]
    theta = np.ldexp(slopes, cone.exponent[columns])
    if not cone.intercept:
        return np.asarray(theta)
    moved = cone.center[columns] - (0.0 if fit.center is None else fit.center)
    return np.concatenate([[fit.weights[0, 0] + moved @ slopes], theta])
