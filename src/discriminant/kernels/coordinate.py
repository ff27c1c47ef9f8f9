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
    g, D, t, shift, XD = G.copy(), np.zeros((m, K)), np.zeros(r), np.zeros(K), np.zeros((len(s), K))
    V, W, outputs = V.reshape(m, K, r), W.reshape(m, K, r), np.eye(K)

    def slope(j: int) -> Array:
        if M is not None:  # up to date
            return np.asarray(g[j])
        assert X is not None
        x, rows = X.column(j)
        return np.asarray(G[j] + (x @ XD[rows] - mean[j] * shift) @ C - V[j] @ t + l2[j] * D[j])

    def move(j: int, step: Array) -> None:
        A[j] += step
        if M is not None:
            np.add(g, np.multiply.outer(M[j], step @ C), out=g)
            g[j] += l2[j] * step
            if r:
                np.subtract(g, V @ (step @ W[j]), out=g)
            return
        assert X is not None
        x, rows = X.column(j)
        D[j], t[:], shift[:] = D[j] + step, t + step @ W[j], shift + mean[j] * step
        XD[rows] += np.multiply.outer(s[rows] * x, step)

    def visit_column(group: int) -> float:
        j, moved = int(starts[group]), 0.0
        here = slope(j)
        for k in np.flatnonzero(h[j] > 0).tolist():
            step = _prox(A[j, k] - here[k] / h[j, k], l1[group] / h[j, k], lower[j], upper[j]) - A[j, k]
            if step != 0:
                move(j, step * outputs[k])
                here, moved = slope(j) if k + 1 < K else here, max(moved, float(h[j, k] * abs(step)))
        return moved

    def visit_group(group: int) -> float:
        part = slice(int(starts[group]), int(starts[group + 1]))
        if top[group] <= 0:
            return 0.0
        u = A[part] - np.array([slope(j) for j in range(part.start, part.stop)]) / top[group]
        length, level = float(np.sqrt((u * u).sum())), l1[group] / top[group]
        steps = u * (1 - level / length if length > level else 0.0) - A[part]
        for row in np.flatnonzero(steps.any(axis=1)).tolist():
            move(part.start + row, steps[row])
        return float(top[group] * np.abs(steps).max())

    def sweep(support: bool) -> float:
        used = np.add.reduceat((A != 0).any(axis=1), starts[:-1], dtype=int) > 0 if support else np.ones(len(l1))
        return max(map(visit_group if joint else visit_column, np.flatnonzero(used).tolist()), default=0.0)

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
