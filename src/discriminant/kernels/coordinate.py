"""Coordinate descent on the quadratic model of a proximal Newton step: the sequential heart of L1 and group fits.

    minimise  G·D + ½ D·HD + Σ l₁|a|,        D = A − A₀,        lower ≤ a ≤ upper

Rounds of one sweep over all coordinates and ``sweeps`` over those that are not zero, until a sweep over all moves no
slope by more than ``still``.  ``c/coordinate.c`` is the compiled body, and says how; the body here does the same where
it is not there.
"""

from __future__ import annotations

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


class Model(NamedTuple):
    """H = C ⊗ M − V Wᵗ + diag(l₂), of weights (m, K), outputs innermost; M = Xᵗ diag(s) X − mean meanᵗ."""

    X: Columns | None  # where M is not at hand
    M: Array | None  # (m, m)
    s: Array  # (n,)
    mean: Array  # (m,)
    square: Array  # (m,): the diagonal of M
    C: Array  # (K, K)
    V: Array  # (m K, r)
    W: Array
    h: Array  # (m, K): the diagonal of H
    l2: Array  # (m,)
    top: Array  # (groups,): at least the largest eigenvalues of the groups' blocks of H, of groups with one penalty

    @classmethod
    def of_one(cls, H: Array, top: Array) -> Model:
        """One output, whose H is at hand."""
        m, diagonal = len(H), np.diagonal(H).copy()
        none, zero = np.empty((m, 0)), np.zeros(m)
        return cls(None, H, np.empty(0), zero, diagonal, np.ones((1, 1)), none, none, diagonal[:, None], zero, top)


def descend(
    model: Model, A: Array, G: Array, l1: Array, lower: Array, upper: Array, starts: Array, joint: bool, stop: Stop
) -> bool:
    """Weights A (m, K) in place, with gradient G at the start; ``joint``: groups of columns have one penalty l₁‖a_g‖.

    l₁ is of the groups, the bounds are of the columns.
    """
    compiled = load()
    X, M, s, mean, square, C, V, W, h, l2, top = model
    (m, K), r = A.shape, W.shape[1]
    if compiled is not None:
        work = np.zeros((2 * m + 3 + (len(s) if M is None else 0)) * K + r)
        parts, levels = (C, V, W, h, top), (l1, l2, lower, upper, starts)
        return bool(compiled.descend(X, M, (s, mean, square), parts, A, G, levels, joint, work, *stop))
    D, t, shift, XD = np.zeros((m, K)), np.zeros(r), np.zeros(K), np.zeros((len(s), K))
    V, W = V.reshape(m, K, r), W.reshape(m, K, r)

    def slopes(part: slice) -> Array:
        if M is not None:
            MD = M[part] @ D
        else:
            assert X is not None
            columns = [X.column(j) for j in range(part.start, part.stop)]
            MD = np.array([x @ XD[rows] for x, rows in columns]) - np.outer(mean[part], shift)
        return np.asarray(G[part] + MD @ C - V[part] @ t + l2[part, None] * D[part])

    def move(j: int, step: Array) -> None:
        A[j], D[j] = A[j] + step, D[j] + step
        t[:] += step @ W[j]
        if X is not None and M is None:
            x, rows = X.column(j)
            XD[rows] += np.multiply.outer(s[rows] * x, step)
            shift[:] += mean[j] * step

    def sweep(support: bool) -> float:
        moved = 0.0
        for group in range(len(l1)):
            part = slice(int(starts[group]), int(starts[group + 1]))
            if support and not A[part].any():
                continue
            g, j = slopes(part), part.start
            if joint:
                if top[group] <= 0:
                    continue
                u = A[part] - g / top[group]
                length, level = float(np.sqrt((u * u).sum())), l1[group] / top[group]
                steps = u * (1 - level / length if length > level else 0.0) - A[part]
                moved = max(moved, float(top[group] * np.abs(steps).max()))
                for row in np.flatnonzero(steps.any(axis=1)).tolist():
                    move(j + row, steps[row])
                continue
            step = np.zeros(K)
            for k in np.flatnonzero(h[j] > 0).tolist():
                slope = g[0, k] + square[j] * (step @ C[:, k]) - V[j, k] @ (step @ W[j])
                step[k] = _prox(A[j, k] - slope / h[j, k], l1[group] / h[j, k], lower[j], upper[j]) - A[j, k]
            if step.any():
                move(j, step)
                moved = max(moved, float((h[j] * np.abs(step)).max()))
        return moved

    for _ in range(stop.rounds):
        for number in range(stop.sweeps + 1):
            moved = sweep(number > 0)
            if number == 0 and moved <= stop.still:
                return True
            if moved <= INNER * stop.still:
                break
    return False


def _prox(u: Array, level: Array, lower: Array, upper: Array) -> Array:
    return np.asarray(np.clip(np.copysign(np.maximum(np.abs(u) - level, 0.0), u) + 0.0, lower, upper))
