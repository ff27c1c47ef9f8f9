"""The single-sample sweeps in NumPy, and the state that they share with the compiled ones (`c/single_sample.c`).

Where no kernels are compiled these are all there is.  For rules that leave right samples alone, several rows are scored
by one product and the first mistake is looked for: the cost is per mistake, not per sample, and the steps are the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discriminant.kernels import compiled
from discriminant.kernels.rules import (
    CLEAN,
    DONE,
    NEEDED,
    ONE,
    ORIGIN,
    QUADRATIC,
    RELAXATION,
    RUN,
    SOFTMAX,
    STEPS,
    VISITS,
    correction,
    loss,
)
from discriminant.protocols import Array

LOOK_AHEAD = 256  # rows scored at once while no mistake is met
NONE = np.empty(0)


def _empty() -> Array:
    return np.empty((0, 0))


@dataclass
class State:
    """Where a run stands, and its rule.  The sweeps change the arrays in place.

    Attributes
    ----------
    A : (q, ≥ 1+d)
        Weights, an output a row, the intercept first; A[:, 1:] counts ``factor`` (q,) times.  Columns beyond 1+d are
        padding; `aligned_weights` makes such an array.
    kind, margin : the rule (`kernels.rules`) and its b.
    steps, table, first : η(k) = steps[0]/(k + steps[2])^steps[1], or table[k − first] where the table is not empty.
    shrink : strength of the ridge, a factor 1 − η·shrink a sample.
    threshold : θ, the run ends with the first step shorter than it (0: never).
    tally : (8, q) counts, see `kernels.rules`.  Coupled outputs share column 0.
    losses : (q,), or empty: sum of the losses met on the way.
    drift : as A, or empty: Σ (visit − 1)·correction, from which the average follows.
    pocket : as A, or empty: the weights with the longest run of right answers.
    seen, sizes : (q, m), or empty: row and size of each correction of this sweep; coupled, row·K + rival and size.
    coupled, positive, worst : outputs learn together; the label of the positive class; only the strongest rival counts.
    """

    A: Array
    kind: int
    margin: float = 0.0
    steps: tuple[float, float, float] = (1.0, 0.0, 0.0)
    table: Array = field(default_factory=lambda: NONE)
    first: int = 1
    shrink: float = 0.0
    threshold: float = 0.0
    factor: Array = field(default_factory=lambda: NONE)
    tally: Array = field(default_factory=_empty)
    losses: Array = field(default_factory=lambda: NONE)
    drift: Array = field(default_factory=_empty)
    pocket: Array = field(default_factory=_empty)
    seen: Array = field(default_factory=lambda: np.empty((0, 0), np.int32))
    sizes: Array = field(default_factory=_empty)
    coupled: bool = False
    positive: float = 1.0
    worst: bool = False

    def eta(self, k: int) -> float:
        """η(k)."""
        if len(self.table):
            return float(self.table[k - self.first])
        rate, power, delay = self.steps
        return rate if power == 0 else rate / (k + delay) ** power


def aligned_weights(A: Array) -> Array:
    """A (1+d, q) as (q, 1+d and padding), each row's second entry at a multiple of 64 bytes: a third of an epoch."""
    width = -(-A.shape[0] // 8) * 8
    buffer = np.zeros(A.shape[1] * width + 8)
    shift = (56 - buffer.ctypes.data) % 64 // 8
    rows = buffer[shift : shift + A.shape[1] * width].reshape(A.shape[1], width)
    rows[:, : A.shape[0]] = A.T
    return rows


@dataclass(frozen=True)
class Samples:
    """Rows (dense, or CSR) with the code of each, and the targets and care of each code."""

    X: Any
    codes: Array
    targets: Array
    care: Array
    weight: Array = field(default_factory=lambda: NONE)

    @property
    def sparse(self) -> bool:
        return not isinstance(self.X, np.ndarray)


def row_entries(X: Any, i: int) -> tuple[Any, Array]:
    """(where, values): row i of an array or a CSR matrix is zero but for values at where."""
    if isinstance(X, np.ndarray):
        return slice(None), X[i]
    part = slice(X.indptr[i], X.indptr[i + 1])
    return X.indices[part], X.data[part]


def add_at(w: Array, where: Any, x: Array) -> None:
    """w += x at those places, of which a sparse row may name one twice."""
    if isinstance(where, slice):
        w += x
    else:
        np.add.at(w, where, x)


def sweep(samples: Samples, state: State, order: Array, *, fast: bool = True) -> None:
    """One pass over the rows in ``order`` (all in turn when empty), in C if ``fast`` and the kernels are compiled."""
    kernels = compiled.load() if fast else None
    if kernels is not None:
        kernels.sweep(samples, state, order)
    elif state.coupled:
        _sweep_coupled(samples, state, order)
    else:
        for j in range(len(state.A)):
            if not state.tally[DONE, j]:
                _sweep_output(samples, state, order, j)


def _sweep_output(samples: Samples, s: State, order: Array, j: int) -> None:
    """One output over all rows."""
    rows = order if len(order) else np.arange(len(samples.codes))
    part = samples.care[samples.codes[rows], j] > 0
    if len(samples.weight):
        part &= samples.weight[rows] > 0
    rows = rows[part]
    t = samples.targets[samples.codes[rows], j]
    skips = s.kind <= QUADRATIC and not s.shrink and not samples.sparse  # right samples cost nothing to any sum
    place, ahead = 0, 4
    while place < len(rows) and not s.tally[DONE, j]:
        if skips:
            clean = _clean_rows(samples.X, rows[place : place + ahead], t[place : place + ahead], s, j)
            clean = min(clean, int(s.tally[NEEDED, j] - s.tally[CLEAN, j]))
            s.tally[CLEAN, j] += clean
            s.tally[VISITS, j] += clean
            place += clean
            if s.tally[CLEAN, j] >= s.tally[NEEDED, j]:
                s.tally[DONE, j] = 1
                return
            if clean == ahead:
                ahead = min(2 * ahead, LOOK_AHEAD)
                continue
            if place >= len(rows):
                return
            ahead = 4
        _visit(samples, s, int(rows[place]), float(t[place]), j)
        place += 1


def _clean_rows(X: Array, rows: Array, t: Array, s: State, j: int) -> int:
    """How many of these rows, from the first on, lie beyond their margin."""
    shortfall = s.margin - t * (X[rows] @ s.A[j, 1 : 1 + X.shape[1]] + s.A[j, 0])
    wrong = ~(shortfall < 0) if s.kind == 0 else ~(shortfall <= 0)  # so that a NaN is not taken for right
    return int(np.argmax(wrong)) if wrong.any() else len(rows)


def _visit(samples: Samples, s: State, i: int, t: float, j: int) -> None:
    """One sample meets output j."""
    a, tally = s.A[j], s.tally[:, j]
    where, x = row_entries(samples.X, i)
    w = a[1 : 1 + samples.X.shape[1]]
    z = float(a[0] + s.factor[j] * (x @ w[where]))
    share = float(samples.weight[i]) if len(samples.weight) else 1.0
    tally[VISITS] += 1
    if len(s.losses):
        s.losses[j] += share * loss(s.kind, t, z, s.margin)
    norm = float(tally[ONE] + x @ x) if s.kind == RELAXATION or s.threshold > 0 else 1.0
    delta = correction(s.kind, t, z, s.margin, norm)
    if s.shrink > 0:
        s.factor[j] *= max(0.0, 1.0 - s.shrink * s.eta(int(tally[STEPS]) + 1))
        if s.factor[j] < 1e-9:
            w *= s.factor[j]
            s.factor[j] = 1.0
    if delta == 0.0 and s.kind <= QUADRATIC:
        tally[CLEAN] += 1
        tally[DONE] = int(tally[CLEAN] >= tally[NEEDED])
        return
    if len(s.pocket) and tally[CLEAN] > tally[RUN]:
        tally[RUN] = tally[CLEAN]
        s.pocket[j, 0], s.pocket[j, 1 : 1 + len(w)] = a[0], s.factor[j] * w
    tally[CLEAN] = 0
    tally[STEPS] += 1
    amount = s.eta(int(tally[STEPS])) * delta * share
    a[0] += tally[ONE] * amount
    add_at(w, where, amount / s.factor[j] * x)
    if len(s.drift):
        late = amount * (int(tally[VISITS]) - 1)
        s.drift[j, 0] += late
        add_at(s.drift[j, 1 : 1 + len(w)], where, late * x)
    if len(s.seen):
        place = int(tally[STEPS] - tally[ORIGIN]) - 1
        s.seen[j, place], s.sizes[j, place] = i, amount
    if s.threshold > 0 and abs(amount) * math.sqrt(norm) < s.threshold:
        tally[DONE] = 1


def _sweep_coupled(samples: Samples, s: State, order: Array) -> None:
    """Outputs that learn together: Kesler's construction made implicit, or the softmax."""
    tally = s.tally[:, 0]
    for i in (int(i) for i in (order if len(order) else range(len(samples.codes)))):
        if tally[DONE]:
            return
        own, share = int(samples.codes[i]), float(samples.weight[i]) if len(samples.weight) else 1.0
        if share == 0.0:
            continue
        where, x = row_entries(samples.X, i)
        w = s.A[:, 1 : 1 + samples.X.shape[1]]
        z = s.A[:, 0] + w[:, where] @ x
        tally[VISITS] += 1
        if s.kind == SOFTMAX:
            change = _softmax_change(s, z, own, share)
        else:
            change = _kesler_change(s, z, own, i, share, float(tally[ONE] + x @ x))
        for j in np.flatnonzero(change):
            s.A[j, 0] += tally[ONE] * change[j]
            add_at(w[j], where, change[j] * x)
            if len(s.drift):
                late = change[j] * (int(tally[VISITS]) - 1)
                s.drift[j, 0] += late
                add_at(s.drift[j, 1 : 1 + w.shape[1]], where, late * x)


def _softmax_change(s: State, z: Array, own: int, share: float) -> Array:
    s.tally[STEPS, 0] += 1
    power = np.exp(z - z.max())
    if len(s.losses):
        s.losses[0] += share * (math.log(power.sum()) + z.max() - z[own])
    change = -power / power.sum()
    change[own] += 1
    return np.asarray(s.eta(int(s.tally[STEPS, 0])) * share * change)


def _kesler_change(s: State, z: Array, own: int, i: int, share: float, norm: float) -> Array:
    tally, change = s.tally[:, 0], np.zeros(len(z))
    rivals = [j for j in range(len(z)) if j != own]
    if s.worst:
        rivals = [max(rivals, key=lambda j: float(z[j]))]
    for j in rivals:
        m = float(z[own] - z[j])
        if len(s.losses):
            s.losses[0] += share * loss(s.kind, s.positive, m, s.margin)
        delta = correction(s.kind, s.positive, m, s.margin, 2 * norm)
        if delta == 0.0 and s.kind <= QUADRATIC:
            tally[CLEAN] += 1
            if tally[CLEAN] >= tally[NEEDED]:
                tally[DONE] = 1
                return change
            continue
        tally[CLEAN] = 0
        tally[STEPS] += 1
        amount = s.eta(int(tally[STEPS])) * delta * share
        change[own] += amount
        change[j] -= amount
        z[own] += amount * norm
        z[j] -= amount * norm
        if len(s.seen):
            place = int(tally[STEPS] - tally[ORIGIN]) - 1
            s.seen[0, place], s.sizes[0, place] = i * len(z) + j, amount
    return change
