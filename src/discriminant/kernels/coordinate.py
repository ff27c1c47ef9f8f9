"""Coordinate descent on the quadratic model of a proximal Newton step: the sequential heart of L1 and group fits.

    minimise  g·(a − a₀) + ½ (a − a₀)ᵗ H (a − a₀) + Σ l₁|a|,        lower ≤ a ≤ upper

Rounds of one sweep over all coordinates and ``sweeps`` over those that are not zero, until a sweep over all moves no
slope by more than ``still``; each function says whether it got there.  ``c/coordinate.c`` is the compiled body of each,
and says how; the bodies here do the same where it is not there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from discriminant.kernels.compiled import load
from discriminant.protocols import Array

INNER = 0.3  # sweeps over the support end at this share of ``still``


class Columns(NamedTuple):
    """Columns of n rows: x (m, n) with row and start None, or CSC with row numbers (int32) and starts (int64)."""

    x: Array
    row: Array | None
    start: Array | None

    def column(self, j: int) -> tuple[Array, Array | slice]:
        """The entries of a column and the rows that they are in."""
        if self.row is None or self.start is None:
            return self.x[j], slice(None)
        part = slice(self.start[j], self.start[j + 1])
        return self.x[part], self.row[part]


class Stop(NamedTuple):
    """When a descent ends."""

    still: float
    rounds: int
    sweeps: int


def descend_gram(H: Array, a: Array, g: Array, l1: Array, lower: Array, upper: Array, stop: Stop) -> bool:
    """H (p, p) at hand; a and the gradient g there (p,) in place."""
    compiled = load()
    if compiled is not None:
        return bool(compiled.descend_gram(H, a, g, l1, lower, upper, *stop))
    diagonal = np.diagonal(H)

    def sweep(support: bool) -> float:
        moved = 0.0
        for j in np.flatnonzero((a != 0) & (diagonal > 0) if support else diagonal > 0):
            h = diagonal[j]
            step = _prox(a[j] - g[j] / h, l1[j] / h, lower[j], upper[j]) - a[j]
            if step != 0:
                a[j] += step
                moved = max(moved, h * abs(step))
                np.add(g, step * H[j], out=g)
        return moved

    return _descend(sweep, stop)


def descend_groups(H: Array, a: Array, g: Array, start: Array, l1: Array, top: Array, stop: Stop) -> bool:
    """Groups a[start[i]:start[i+1]] with penalties l₁‖a_i‖; ``top`` bounds the eigenvalues of their blocks of H."""
    compiled = load()
    if compiled is not None:
        return bool(compiled.descend_groups(H, a, g, start, l1, top, np.empty_like(a), *stop))

    def sweep(support: bool) -> float:
        moved = 0.0
        for i in np.flatnonzero(top > 0):
            part = slice(start[i], start[i + 1])
            u = a[part] - g[part] / top[i]
            length = float(np.sqrt(u @ u))
            share = 1 - l1[i] / top[i] / length if length > l1[i] / top[i] else 0.0
            if not a[part].any() and (support or share == 0):
                continue
            step = share * u - a[part]
            a[part] += step
            moved = max(moved, float(top[i] * np.abs(step).max()))
            np.add(g, step @ H[part], out=g)
        return moved

    return _descend(sweep, stop)


def descend_columns(
    X: Columns, w: Array, intercept: bool, a: Array, g: Array, l1: Array, l2: Array, lower: Array, upper: Array,
    stop: Stop,
) -> bool:  # fmt: skip
    """H = Xᵗ diag(w) X + diag(l₂), not formed, a free intercept eliminated; g is the gradient at the start."""
    compiled = load()
    m, n = len(a), len(w)
    if compiled is not None:
        return bool(compiled.descend_columns(*X, w, intercept, a, g, l1, l2, lower, upper, np.empty(n + 3 * m), *stop))
    r, start, shift = np.zeros(n), a.copy(), 0.0
    mass = float(w.sum()) if intercept else np.inf
    h, wx = np.empty(m), np.empty(m)
    for j in range(m):
        x, rows = X.column(j)
        wx[j], square = w[rows] @ x, w[rows] @ np.square(x)
        h[j] = max(square - wx[j] ** 2 / mass, 1e-14 * square) + l2[j]

    def sweep(support: bool) -> float:
        nonlocal shift
        moved = 0.0
        for j in np.flatnonzero((a != 0) & (h > 0) if support else h > 0).tolist():
            x, rows = X.column(j)
            slope = g[j] + x @ r[rows] + shift * wx[j] + l2[j] * (a[j] - start[j])
            step = _prox(a[j] - slope / h[j], l1[j] / h[j], lower[j], upper[j]) - a[j]
            if step != 0:
                a[j] += step
                moved = max(moved, h[j] * abs(step))
                r[rows] += step * w[rows] * x
                shift -= step * wx[j] / mass
        return moved

    return _descend(sweep, stop)


def descend_softmax(
    X: Columns, s: Array, p: Array, intercept: bool, A: Array, G: Array, G0: Array, l1: Array, l2: Array, lower: Array,
    upper: Array, joint: bool, stop: Stop,
) -> bool:  # fmt: skip
    """K outputs that compete, weights A (m, K) with gradient G and intercepts with gradient G0 (K,) at the start.

    H has the blocks Σ s x x' (diag p − ppᵗ); ``joint``: a row of A has one penalty l₁‖a_j‖.
    """
    compiled = load()
    (n, K), m = p.shape, len(A)
    if compiled is not None:
        work = np.empty(n * (K + 1) + 3 * K + (2 * m + 1) * K)
        arguments = (s, p, intercept, A, G, G0, l1, l2, lower, upper, joint, work)
        return bool(compiled.descend_softmax(*X, *arguments, *stop))
    e, start, shift = np.zeros((n, K)), A.copy(), np.zeros(K)
    twice = 2 * s[:, None] * p * (1 - p)  # diag p − ppᵗ is at most twice its diagonal
    h = np.array([np.square(X.column(j)[0]) @ twice[X.column(j)[1]] for j in range(m)] + [twice.sum(axis=0)])

    def sweep(support: bool) -> float:
        moved = 0.0
        for j in range(m + intercept):
            a = A[j] if j < m else shift
            if j < m and support and not a.any():
                continue
            x, rows = X.column(j) if j < m else (np.ones(n), slice(None))
            near, pr = e[rows], p[rows]
            slope = (s[rows] * x) @ (pr * (near - (pr * near).sum(axis=1, keepdims=True)))
            ridge, level = (l2[j], l1[j]) if j < m else (0.0, 0.0)
            slope = slope + (G[j] + ridge * (a - start[j]) if j < m else G0)
            hj = np.full(K, (h[j] + ridge).max()) if joint else h[j] + ridge
            u = a - slope / np.where(hj > 0, hj, np.inf)
            if joint and j < m:
                length = float(np.sqrt(u @ u))
                new = u * (1 - level / hj[0] / length if length * hj[0] > level else 0.0)
            elif j < m:
                new = _prox(u, level / np.where(hj > 0, hj, np.inf), lower[j], upper[j])
            else:
                new = u
            step = np.where(hj > 0, new - a, 0.0)
            if step.any():
                a += step
                e[rows] += np.multiply.outer(x, step)
                moved = max(moved, float((hj * np.abs(step)).max()))
        return moved

    return _descend(sweep, stop)


def _prox(u: Array, level: Array, lower: Array, upper: Array) -> Array:
    return np.asarray(np.clip(np.copysign(np.maximum(np.abs(u) - level, 0.0), u) + 0.0, lower, upper))


def _descend(sweep: Callable[[bool], float], stop: Stop) -> bool:
    for _ in range(stop.rounds):
        for number in range(stop.sweeps + 1):
            moved = sweep(number > 0)
            if number == 0 and moved <= stop.still:
                return True
            if moved <= INNER * stop.still:
                break
    return False
