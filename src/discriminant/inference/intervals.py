"""What the uncertainty of weights means for predictions: of probabilities, of where the boundary lies, of effects.

    probability   logit p_k ± z_α √(gᵗ Σ g),   g the gradient of logit p_k = z_k − ln Σ_{j≠k} e^{z_j} in the weights
    boundary      {t : (a + b t)² ≤ z_α² Var(a + b t)}   where a + b t is the log odds with one column at t  (Fieller)

    marginal effect of column j on class k      E[∂p_k/∂x_j] = Σ_l E[v_kl] θ_lj,      v_kl = p_k (δ_kl − p_l)

All take a table of weights relative to the first class and its covariance.  Errors of the effects are those of the
delta method: they depend on θ directly and through v, whose derivatives are means over the rows too, so that one pass
gives everything:

    ∂E[v_kl]/∂θ_a = E[κ_kla y],      κ_kla = v_ka (δ_kl − p_l) − p_k v_la,      y = (1, x)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from discriminant.criteria.squared import SigmoidSquared
from discriminant.data import ArrayBlocks, make_blocks, single_threaded_blas
from discriminant.data.evaluate import Evaluate
from discriminant.decision.posteriors import log_softmax, softmax
from discriminant.errors import DataError
from discriminant.inference.summary import Centred, Summary, wald
from discriminant.protocols import Array, Block

_CHUNK = 4_096


def probability_intervals(summary: Summary, X: Array, level: float) -> Array:
    """(n, 2) for two classes, the ends for P(second class|x); else (n, K, 2)."""
    from scipy.special import expit, ndtri

    center, theta, covariance = _weights(summary, X.shape[1])
    quantile = float(ndtri(0.5 + level / 2))
    parts = []
    for start in range(0, len(X), _CHUNK):
        rows = X[start : start + _CHUNK] - center
        Y = np.c_[np.ones(len(rows)), rows]
        z = np.c_[np.zeros(len(rows)), Y @ theta.T]
        log_p = log_softmax(z)
        ends = []
        for k in range(1 if len(theta) == 1 else 0, len(theta) + 1):
            others = np.delete(log_p, k, axis=1)
            rest = np.logaddexp.reduce(others, axis=1)
            slope = -np.exp(log_p - rest[:, None])  # −p_j / (1 − p_k) for the rivals
            slope[:, k] = 1.0
            spread = _spread(covariance, slope[:, 1:], Y)
            logit = log_p[:, k] - rest
            ends.append(expit(np.column_stack([logit - quantile * spread, logit + quantile * spread])))
        parts.append(np.stack(ends, axis=1))
    found = np.concatenate(parts) if parts else np.zeros((0, max(1, len(theta)), 2))
    return np.asarray(found[:, 0] if len(theta) == 1 else found)


def _spread(covariance: Array, slope: Array, Y: Array) -> Array:
    """√ of the variance of Σ_j slope_j θ_j·y, row by row."""
    m, D = slope.shape[1], Y.shape[1]
    g = (slope[:, :, None] * Y[:, None, :]).reshape(len(Y), m * D)
    return np.asarray(np.sqrt(np.maximum(np.einsum("ij,ij->i", g @ covariance, g), 0.0)))


def boundary_intervals(summary: Summary, X: Array, column: int, level: float) -> Array:
    """(n, 3): where along a column the log odds of two classes are zero, all else as in the row, and its interval.

    Where the column's weight may be zero at this level the boundary may lie anywhere: −inf and inf.
    """
    from scipy.special import ndtri

    center, theta, V = _weights(summary, X.shape[1])
    if len(theta) != 1:
        raise DataError("Intervals of the boundary are given for two classes.")
    beta, q = theta[0], float(ndtri(0.5 + level / 2)) ** 2
    Y = np.c_[np.ones(len(X)), X - center]
    Y[:, column + 1] = 0.0
    a, b = Y @ beta, beta[column + 1]
    va = np.einsum("ij,ij->i", Y @ V, Y)
    cab, vb = Y @ V[:, column + 1], V[column + 1, column + 1]
    # (b² − q v_b) t² + 2 (ab − q c) t + (a² − q v_a) ≤ 0
    A, B, C = b * b - q * vb, a * b - q * cab, a * a - q * va
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(np.maximum(B * B - A * C, 0.0))
        ends = np.column_stack([-a / b, (-B - root) / A, (-B + root) / A])
    if not A > 0:
        ends[:, 1], ends[:, 2] = -np.inf, np.inf
    return np.asarray(ends + center[column])


def _weights(summary: Summary, d: int) -> Centred:
    """What intervals and effects are made of; a bootstrap's and pooled tables have weights of x itself."""
    if not (np.isfinite(summary.estimate).all() and np.isfinite(summary.covariance).all()):
        raise DataError(
            "Some estimates of this table are infinite or have no standard error: intervals and effects that rest on "
            "them have none either. penalty='jeffreys' or a finite C gives finite ones."
        )
    if summary.centred is not None:
        return summary.centred
    m = len(set(summary.outcomes))
    kept = np.tile(np.arange(d + 1) > d - len(summary.terms) // m, m)  # all, or all but the intercepts
    theta, covariance = np.zeros(m * (d + 1)), np.zeros((m * (d + 1),) * 2)
    theta[kept], covariance[np.ix_(kept, kept)] = summary.estimate, summary.covariance
    return Centred(np.zeros(d), theta.reshape(m, -1), covariance)


ROWS = 4_096  # at a time: 1,024 take a third longer, 1e6 × 50


def marginal_effects(
    summary: Summary, classes: Sequence[Any], X: Any, weight: Array | None, at: str, level: float
) -> Summary:
    """The table of the effects over the rows of X, with their weights or None."""
    K = len(classes)
    blocks = make_blocks(X, weight=weight, block_rows=ROWS)
    if not blocks.total:
        raise DataError("X has no rows, over which effects could be averaged.")
    middle, theta, spread = _weights(summary, blocks.n_features)
    center = middle if middle.any() else None
    with single_threaded_blas():  # many small products, whose threads would wait for each other
        if at == "mean":
            blocks, center = make_blocks((blocks.reduce(_Total(center)) / blocks.total)[None, :]), None
        V, kappa = (_of_two if K == 2 else _of_many)(theta, blocks, center)
        effects, jacobian = _effects(theta, V, kappa)
    first = 1 if K == 2 else 0  # of two classes the effects are each other's negatives
    estimate = effects[first:, 1:].ravel()
    J = jacobian[first:, 1:].reshape(len(estimate), -1)
    covariance = J @ spread @ J.T
    d = theta.shape[1] - 1
    names, labels = summary.terms[len(summary.terms) // (K - 1) - d :][:d], [str(label) for label in classes[first:]]
    place = "averaged over the rows" if at == "overall" else "at the mean of the rows"
    return Summary(
        list(names) * len(labels),
        [label for label in labels for _ in names],
        estimate,
        *wald(estimate, covariance, level),
        covariance,
        {"n": summary.statistics["n"]},
        level,
        {**summary.kinds, "intervals": "delta-method", "odds": ""},
        (f"Marginal effects on the probability of {'the' if K == 2 else 'each'} class, {place}.",),
    )


@dataclass(frozen=True)
class _Total:
    """Σ w (x − c)."""

    center: Array | None

    def __call__(self, block: Block) -> Array:
        x = block.design.dense() if self.center is None else block.design.dense() - self.center
        return np.asarray(x.sum(axis=0) if block.weight is None else block.weight @ x)


def _of_two(theta: Array, blocks: ArrayBlocks, center: Array | None) -> tuple[Array, Array]:
    """E[v] (1, 1) and E[κ y] (1, 1, 1, D) of two classes, by a compiled pass: ½(σ − ½)² is ⅛ − v/2, its slope −κ/2."""
    half = np.full((blocks.n_rows, 1), 0.5)
    request = Evaluate(SigmoidSquared(), None, np.array([blocks.total]), theta.T, center=center)
    found = replace(blocks, target=half, block_rows=0).reduce(request)
    return np.array([[0.25 - 2 * found.value]]), -2 * found.gradient.T[None, None]


def _of_many(theta: Array, blocks: ArrayBlocks, center: Array | None) -> tuple[Array, Array]:
    """E[v_kl] (m, m) and E[κ_kla y] (m, m, m, D) of the m classes but the first."""
    second, third = (sums / blocks.total for sums in blocks.reduce(Cumulants(theta, center)))
    return _looked_up(second, third, len(theta))


def _places(m: int, r: int) -> dict[tuple[int, ...], int]:
    """Cumulants of r of m classes are the same in any order: each is summed once, and has its place among the sums."""
    return {at: t for t, at in enumerate(combinations_with_replacement(range(m), r))}


@dataclass(frozen=True)
class Cumulants:
    """Σ w v_kl and Σ w κ_kla y over a block's rows, of the m classes but the first, whose weights are ``theta``."""

    theta: Array  # (m, D)
    center: Array | None

    def __call__(self, block: Block) -> tuple[Array, Array]:
        theta, x = self.theta, block.design.dense()
        x = x if self.center is None else x - self.center
        pairs, triples = (_places(len(theta), r) for r in (2, 3))
        z = np.zeros((1 + len(theta), len(x)))
        z[1:] = theta[:, 1:] @ x.T + theta[:, :1]
        p = softmax(z.T).T[1:]
        v = np.stack([p[k] * (float(k == a) - p[a]) for k, a in pairs])
        kappa = np.stack([v[pairs[k, a]] * (float(k == b) - p[b]) - p[k] * v[pairs[b, a]] for k, b, a in triples])
        if block.weight is not None:
            v *= block.weight
            kappa *= block.weight
        return v.sum(axis=1), np.column_stack([kappa.sum(axis=1), kappa @ x])


def _looked_up(second: Array, third: Array, m: int) -> tuple[Array, Array]:
    """E[v_kl] (m, m) and E[κ_kla y] (m, m, m, D) from what was summed once."""
    every = []
    for r in (2, 3):
        places = _places(m, r)
        every.append(np.array([places[tuple(sorted(at))] for at in np.ndindex(*[m] * r)]).reshape([m] * r))
    return second[every[0]], third[every[1]]


def _effects(theta: Array, V: Array, kappa: Array) -> tuple[Array, Array]:
    """(effects (K, D), their derivatives (K, D, m, D) in the weights): those on the first class undo the others'."""
    m, D = theta.shape
    jacobian = np.einsum("lj,klab->kjab", theta, kappa)
    for j in range(D):
        jacobian[:, j, :, j] += V
    all_classes = np.vstack([-np.ones(m), np.eye(m)])
    return all_classes @ V @ theta, np.tensordot(all_classes, jacobian, 1)
