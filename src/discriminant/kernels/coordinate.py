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


class ClassesModel(NamedTuple):
    """H = C ⊗ M − V Wᵗ + diag(l₂): of K outputs that compete, weights (m, K), outputs innermost."""

    X: Columns | None  # where M is not at hand
    M: Array | None  # (m, m): Xᵗ diag(s) X − mean meanᵗ
    s: Array  # (n,)
    mean: Array  # (m,)
    square: Array  # (m,): the diagonal of M
    C: Array  # (K, K)
    V: Array  # (m K, r)
    W: Array
    h: Array  # (m, K): the diagonal of H
    top: Array  # (groups,): at least the largest eigenvalues of the groups' blocks of H

    def product(self, D: Array) -> Array:
        """(H − diag(l₂)) D, (m, K)."""
        if self.M is not None:
            MD = self.M @ D
        else:
            assert self.X is not None
            columns = [self.X.column(j) for j in range(len(D))]
            XD = np.zeros((len(self.s), D.shape[1]))
            for (x, rows), d in zip(columns, D, strict=True):
                XD[rows] += np.multiply.outer(x, d)
            MD = np.array([(self.s[rows] * x) @ XD[rows] for x, rows in columns]) - np.outer(self.mean, self.mean @ D)
        return np.asarray(MD @ self.C - (self.V @ (self.W.T @ D.ravel())).reshape(D.shape))


def descend_classes(
    model: ClassesModel, A: Array, G: Array, l1: Array, l2: Array, lower: Array, upper: Array, starts: Array,
    joint: bool, stop: Stop,
) -> bool:  # fmt: skip
    """Weights A (m, K) in place, with gradient G at the start; ``joint``: groups of columns have one penalty l₁‖a_g‖.

    l₁ is of the groups, l₂ and the bounds of the columns.
    """
    compiled = load()
    (m, K), r = A.shape, model.W.shape[1]
    if compiled is not None:
        X, M, s, mean, square, *parts = model
        work = np.zeros((2 * m + 3 + (len(s) if M is None else 0)) * K + r)
        levels = (l1, l2, lower, upper, starts)
        return bool(compiled.descend_classes(X, M, (s, mean, square), tuple(parts), A, G, levels, joint, work, *stop))
    g = G.copy()

    def move(j: int, step: Array) -> None:
        D = np.zeros((m, K))
        D[j], A[j] = step, A[j] + step
        g[:] += model.product(D)
        g[j] += l2[j] * step

    def sweep(support: bool) -> float:
        moved = 0.0
        for group in range(len(l1)):
            part = slice(starts[group], starts[group + 1])
            if support and not A[part].any():
                continue
            if joint:
                top = model.top[group]
                if top <= 0:
                    continue
                u = A[part] - g[part] / top
                length = float(np.sqrt((u * u).sum()))
                steps = u * (1 - l1[group] / top / length if length > l1[group] / top else 0.0) - A[part]
                moved = max(moved, float(top * np.abs(steps).max()))
                for j, step in zip(range(part.start, part.stop), steps, strict=True):
                    move(j, step)
                continue
            j = int(part.start)
            for k in np.flatnonzero(model.h[j] > 0):
                h, step = model.h[j, k], np.zeros(K)
                step[k] = _prox(A[j, k] - g[j, k] / h, l1[group] / h, lower[j], upper[j]) - A[j, k]
                if step[k] != 0:
                    move(j, step)
                    moved = max(moved, float(h * abs(step[k])))
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
