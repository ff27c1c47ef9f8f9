"""Where maximum likelihood goes when it has no finite maximum: the limiting fit of separated data.

Along weights β + t·w, w in the cone of directions that err nowhere, the likelihood rises for ever.  In the limit

    rows strictly on their side under w are certain,
    the rows on its boundary keep a likelihood of their own, Σ_i log softmax over the classes that tie at row i,
    which has a finite maximum: the boundary rows overlap.

So the limiting probabilities are those of the boundary rows' fit where x ties, and 0 or 1 elsewhere; a coefficient is
finite exactly when no direction in the span of the cone moves it, and its estimate is that of the boundary rows.  No
number here depends on a tolerance of an optimizer that was stopped on its way to infinity.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from discriminant.data import as_rows
from discriminant.inference.cone import KeslerCone
from discriminant.inference.exact import Integers, nullspace
from discriminant.protocols import Array

_STEPS = 200


@dataclass(frozen=True, eq=False)
class LimitingFit:
    """The limit of maximum likelihood estimates and of the probabilities that they give."""

    classes: Array
    coefficients: Array  # (1+d,), or (1+d, K) with zeros for the first class; ±inf where no finite estimate exists
    finite: Array  # the same with 0 for what is infinite: the fit of the boundary rows, up to what they leave open
    log_likelihood: float  # its least upper bound
    boundary: Array  # the rows that are not certain
    _cone: KeslerCone = field(repr=False)
    _weights: Integers = field(repr=False)
    _scores: Array = field(repr=False)  # (r, K): the boundary rows' fit in the cone's float coordinates

    def predict_proba(self, X: Any) -> Array:
        """Limiting probabilities, (n, K): exact ties under the direction are told by the boundary rows' fit."""
        source = as_rows(X)
        cone = replace(self._cone, source=source, codes=np.zeros(source.shape[0], dtype=np.intp), _integers={})
        ties = np.ones((source.shape[0], len(self.classes)), dtype=bool)
        for k in range(len(self.classes)):
            signs = replace(cone, codes=np.full(source.shape[0], k), _integers={}).signs(self._weights)
            ties[:, k] = (signs >= 0).all(axis=1)  # no class is strictly better
        z = cone.float_features(np.arange(source.shape[0]).tolist()) @ self._scores
        return _softmax(np.where(ties, z, -np.inf))


def limiting_fit(
    cone: KeslerCone,
    classes: Array,
    weights: Integers,
    spanning: list[tuple[int, int]],
    columns: tuple[int, ...],
    relations: dict[int, Integers],
) -> LimitingFit:
    """The limiting fit along ``weights``; ``spanning`` pairs, told by ``columns``, span the pairs on the boundary."""
    signs = cone.signs(weights)
    ties = signs == 0
    rows = np.flatnonzero(ties.any(axis=1))
    scores = np.zeros((cone.width, cone.n_classes))
    value = 0.0
    if len(rows):
        allowed = ties[rows]
        allowed[np.arange(len(rows)), cone.codes[rows]] = True
        features = cone.float_features(rows.tolist())
        scores, value = _newton(features, np.asarray(cone.codes[rows], dtype=np.intp), allowed)
    open_ended = _open(cone, spanning, columns, relations)
    estimate = _over_columns(cone, scores)
    estimate = estimate - estimate[:, :1]
    direction = _over_columns(cone, np.column_stack([np.zeros(cone.width), _blocks(cone, weights)]))
    finite = np.where(open_ended, 0.0, estimate)
    infinite = np.where(open_ended, np.copysign(np.inf, direction), finite)
    infinite[open_ended & (direction == 0)] = np.nan  # free to move either way
    two = cone.n_classes == 2
    return LimitingFit(
        classes,
        infinite[:, 1] if two else infinite,
        finite[:, 1] if two else finite,
        value,
        rows,
        cone,
        weights,
        scores,
    )


def _blocks(cone: KeslerCone, weights: Integers) -> Array:
    return cone.floats(weights)[0].reshape(cone.n_classes - 1, cone.width).T


def _over_columns(cone: KeslerCone, table: Array) -> Array:
    """(r, K) weights in float coordinates as (1+d, K) over the columns of X."""
    keep = list(cone.keep)
    result = np.zeros((cone.source.shape[1] + 1, table.shape[1]))
    slopes = table[cone.intercept :] * np.ldexp(1.0, -cone.exponent[keep])[:, None]
    result[np.array(keep, dtype=int) + 1] = slopes
    if cone.intercept:
        result[0] = table[0] - cone.center[keep] @ slopes
    return result


def _open(
    cone: KeslerCone, spanning: list[tuple[int, int]], columns: tuple[int, ...], relations: dict[int, Integers]
) -> Array:
    """(1+d, K): whether some direction in the span of the cone moves this coefficient."""
    d, K = cone.source.shape[1], cone.n_classes
    result = np.zeros((d + 1, K), dtype=bool)
    if not spanning:
        result[:, 1:] = True
    else:
        inner = replace(cone, keep=columns, _integers={})
        basis, _ = nullspace(inner.integer_rows(spanning))
        for vector in basis:
            for place, v in enumerate(vector):
                if v:
                    block, j = divmod(place, inner.width)
                    result[0 if inner.intercept and j == 0 else columns[j - inner.intercept] + 1, block + 1] = True
        for vector in relations.values():
            for j, v in enumerate(vector):
                if v:
                    result[j, 1:] = True
    kept = np.zeros(d + 1, dtype=bool)
    kept[[0] * cone.intercept + [j + 1 for j in cone.keep]] = True
    result[~kept] = False
    return result


def _newton(features: Array, codes: Array, allowed: Array) -> tuple[Array, float]:
    """(W, value): the maximum of Σ_i z_{iy} − log Σ_{k allowed} e^{z_ik}, z = features W, shortest W where many do."""
    m, r = features.shape
    K = allowed.shape[1]
    own = np.zeros((m, K))
    own[np.arange(m), codes] = 1.0
    scale = np.linalg.norm(features, axis=0) + 1e-300
    F = features / scale
    W = np.zeros((r, K))
    value, p = _likelihood(F @ W, codes, allowed)
    for _ in range(_STEPS):
        gradient = (F.T @ (own - p)).T.ravel()
        hessian = np.zeros((K * r, K * r))
        for j in range(K):
            for k in range(j + 1):
                weight = p[:, j] * ((j == k) - p[:, k])
                part = F.T @ (weight[:, None] * F)
                hessian[j * r : (j + 1) * r, k * r : (k + 1) * r] = part
                hessian[k * r : (k + 1) * r, j * r : (j + 1) * r] = part.T
        step = np.linalg.lstsq(hessian, gradient, rcond=1e-13)[0]
        decrement = float(gradient @ step)
        size = 1.0
        while size > 1e-10:
            trial = W + size * step.reshape(K, r).T
            ahead, q = _likelihood(F @ trial, codes, allowed)
            if ahead >= value + 0.25 * size * decrement or decrement <= 1e-14 * (1 + abs(value)):
                break
            size /= 2.0
        W, value, p = trial, ahead, q
        if decrement <= 1e-22 * (1 + abs(value)) or size <= 1e-10:
            break
    return W / scale[:, None], value


def _likelihood(z: Array, codes: Array, allowed: Array) -> tuple[float, Array]:
    p = _softmax(np.where(allowed, z, -np.inf))
    own = p[np.arange(len(z)), codes]
    return float(np.sum(np.log(np.maximum(own, 1e-300)))), p


def _softmax(z: Array) -> Array:
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return np.asarray(e / e.sum(axis=1, keepdims=True))
