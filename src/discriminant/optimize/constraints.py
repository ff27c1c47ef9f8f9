"""Rows as linear constraints on the weights, for the optimizers that solve programs over them.

A row (or, by Kesler's construction, a pair of row and rival class) asks that its margin m = g·a be at least b, where
a is the weights of one output, or of all of them one under another.  Columns are scaled to at most one in size, so
that a solver's absolute tolerances mean the same for every unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.criteria import Kesler
from discriminant.objective import PointwiseObjective
from discriminant.protocols import Array


@dataclass(frozen=True)
class Program:
    """margins = G a (CSR); constraint r belongs to slack ``owner[r]``, which costs ``share[owner[r]]``."""

    G: Any
    owner: Array
    share: Array
    scale: Array  # a in the user's units is scale · a here
    outputs: tuple[int, ...]  # the columns of A that a holds, one under another

    def weights(self, a: Array) -> Array:
        """(1+d, outputs)."""
        return np.asarray((a * self.scale).reshape(len(self.outputs), -1).T)


def programs(objective: PointwiseObjective) -> list[Program]:
    """One program for each output, or one for all when the criterion couples them."""
    Y, t, s = objective.collect()
    size = np.abs(Y).max(axis=0)
    scale = 1 / np.where(size > 0, size, 1.0)
    if isinstance(objective.criterion, Kesler):
        return [_kesler(Y * scale, t, s, scale, objective.criterion.over)]
    return [_two_class(Y * scale, t[:, j], s[:, j], scale, j) for j in range(t.shape[1])]


def _two_class(Y: Array, t: Array, s: Array, scale: Array, output: int) -> Program:
    from scipy.sparse import csr_array

    part = s > 0
    G = csr_array(Y[part] * t[part, None])
    return Program(G, np.arange(G.shape[0]), s[part], scale, (output,))


def _kesler(Y: Array, t: Array, s: Array, scale: Array, over: str) -> Program:
    """(a_i − a_j)·y for each row and each rival j; the slacks are a pair's own, or with "worst" the row's."""
    from scipy.sparse import csr_array

    D, K = Y.shape[1], t.shape[1]
    own = t.argmax(axis=1)
    row, rival = np.nonzero(np.arange(K) != own[:, None])
    m = len(row)
    columns = np.hstack([own[row, None] * D + np.arange(D), rival[:, None] * D + np.arange(D)])
    values = np.hstack([Y[row], -Y[row]])
    G = csr_array((values.ravel(), columns.ravel(), np.arange(0, 2 * D * m + 1, 2 * D)), shape=(m, K * D))
    owner = row if over == "worst" else np.arange(m)
    share = s[:, 0] if over == "worst" else s[row, 0]
    return Program(G, owner, share, np.tile(scale, K), tuple(range(K)))
