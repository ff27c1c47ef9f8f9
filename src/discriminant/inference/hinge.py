"""Weights that err on few rows, or on none, by Newton steps on the squared hinge: a quick guess, nothing proved.

    J(W) = Σ_i Σ_{k ≠ y_i} max(0, 1 − (w_y − w_k)·ỹ_i)² + δ ‖W‖²

over Kesler's rows, which for two classes is the squared hinge of the textbooks.  Conjugate gradients solve for the
steps, so that no matrix larger than the data is formed; δ falls from step to step, towards the widest gap where there
is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from discriminant.criteria import Kesler, SquaredHinge
from discriminant.inference.cone import KeslerCone
from discriminant.protocols import Array

_OUTER, _INNER = 25, 60
PATIENCE = 4  # steps without a tenth fewer errors
_CRITERION = Kesler(SquaredHinge())


@dataclass(frozen=True)
class _Rows:
    """ỹ in float coordinates as a linear map, with the columns that are kept."""

    cone: KeslerCone

    def scores(self, W: Array) -> Array:
        """Ỹ W, (n, K), for W (r, K)."""
        cone, keep = self.cone, list(self.cone.keep)
        table = np.zeros((cone.source.shape[1], W.shape[1]))
        table[keep] = W[cone.intercept :] * np.ldexp(1.0, -cone.exponent[keep])[:, None]
        values = cone.source.design(0, cone.n_rows).values
        start = W[0] if cone.intercept else 0.0
        return np.asarray(values @ table) - cone.center @ table + start

    def adjoint(self, G: Array) -> Array:
        """Ỹᵗ G, (r, K)."""
        cone, keep = self.cone, list(self.cone.keep)
        values = cone.source.design(0, cone.n_rows).values
        total = G.sum(axis=0)
        table = np.asarray(values.T @ G) - np.outer(cone.center, total)
        table = table[keep] * np.ldexp(1.0, -cone.exponent[keep])[:, None]
        return np.vstack([total, table]) if cone.intercept else table


def separating(cone: KeslerCone, guess: Array | None = None) -> Array | None:
    """Float weights of the cone whose exact form separates every row, or None, which says nothing.

    ``guess``: weights (1+d, K) over the columns of X that are tried first.
    """
    if guess is not None and np.isfinite(guess).all():
        first = guess[:1] + cone.center @ guess[1:]
        W = np.ldexp(guess[1:], cone.exponent[:, None])[list(cone.keep)]
        u = flat(np.vstack([first, W]) if cone.intercept else W)
        if (cone.signs(cone.exact(u)) > 0).all():
            return u
    least, patience = cone.n_rows, PATIENCE
    for W, wrong in _steps(cone):
        if not wrong:
            u = flat(W)
            return u if (cone.signs(cone.exact(u)) > 0).all() else None
        patience = PATIENCE if wrong < 0.9 * least else patience - 1
        least = min(least, wrong)
        if not patience:
            return None
    return None


def few_errors(cone: KeslerCone) -> Array:
    """The rows that the best of these weights do not put strictly on their side, by exact signs."""
    best, least = np.arange(cone.n_rows), cone.n_rows + 1
    for W, wrong in _steps(cone):
        if wrong < least:
            signs = cone.signs(cone.exact(flat(W)))
            best, least = np.flatnonzero((signs <= 0).any(axis=1)), wrong
    return best


def flat(W: Array) -> Array:
    """(r, K) weights as those of the cone: the classes after the first, less the first."""
    return np.asarray((W[:, 1:] - W[:, :1]).T.ravel())


def _steps(cone: KeslerCone) -> Iterator[tuple[Array, int]]:
    """Weights, and how many rows they do not put strictly on their side, after each Newton step."""
    rows, t = _Rows(cone), np.eye(cone.n_classes)[np.asarray(cone.codes, dtype=np.intp)]
    W, z = np.zeros((cone.width, cone.n_classes)), np.zeros((cone.n_rows, cone.n_classes))
    delta = 1e-6 * cone.n_rows
    for _ in range(_OUTER):
        value, slopes = _CRITERION.value_and_gradient(t, z)
        gradient = 2 * delta * W + rows.adjoint(slopes)
        if not gradient.any():
            break
        step, moved = _conjugate(_curvature(rows, t, z, delta), -gradient)
        size, slope = 1.0, float(np.sum(gradient * step))
        J = float(value.sum() + delta * np.sum(W * W))
        while size > 1e-6:  # piecewise quadratic along the step: halve until it falls enough
            ahead, trial = _CRITERION.value(t, z + size * moved), W + size * step
            if float(ahead.sum() + delta * np.sum(trial * trial)) <= J + 1e-4 * size * slope:
                break
            size /= 2.0
        W, z = W + size * step, z + size * moved
        wrong = int(_CRITERION.wrong(t, z).sum())
        yield W, wrong
        if not wrong or size <= 1e-6:
            break
        delta = max(delta / 10.0, 1e-12 * cone.n_rows)


def _curvature(rows: _Rows, t: Array, z: Array, delta: float) -> Callable[[Array], tuple[Array, Array]]:
    """P ↦ (its scores, the Hessian times P)."""

    def product(P: Array) -> tuple[Array, Array]:
        v = rows.scores(P)
        return v, 2 * delta * P + rows.adjoint(_CRITERION.curvature_product(t, z, v))

    return product


def _conjugate(product: Callable[[Array], tuple[Array, Array]], right: Array) -> tuple[Array, Array]:
    """(X, scores of X) with product(X) ≈ right, by conjugate gradients."""
    X, r = np.zeros_like(right), right.copy()
    p, squared = r.copy(), float(np.sum(r * r))
    scores, q = product(p)
    reached, goal = np.zeros_like(scores), 1e-6 * squared
    for _ in range(_INNER):
        length = squared / max(float(np.sum(p * q)), 1e-300)
        X += length * p
        reached += length * scores
        r -= length * q
        following = float(np.sum(r * r))
        if following <= goal:
            break
        p, squared = r + (following / squared) * p, following
        scores, q = product(p)
    return X, reached
