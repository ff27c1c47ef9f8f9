"""Single-sample sweeps, compiled: one sequential pass over dense or CSR rows.

Importing this module loads Numba where it is installed; callers import it inside functions, when the data are large
enough to be worth it.  `discriminant.kernels.sweeps` holds the same sweeps in NumPy.

What makes it fast: rows are read once, in order; dots run over contiguous rows with several accumulators (sums may be
reassociated); a correction computes the next row's dot while the weights are in registers; sparse indices are unsigned,
so that no wrap-around is checked; counters live in registers; the ridge shrinks one factor instead of all weights;
averages are kept as a weighted sum of corrections instead of a sum of weights.  Which small function is inlined by
Numba and which is left to LLVM was measured, as was the alignment of the weights (`sweeps.aligned_weights`): dense,
d = 50, they make 19 ns a row of 31, against 16 for reading it.

Empty arrays switch off what they would hold.  See `discriminant.kernels.sweeps.State` for the meaning of each.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
# Numba infers the types of kernels from their arguments.
from __future__ import annotations

import math

import numpy as np

from discriminant.kernels.compile import compiled, make_prefetch
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

AHEAD = 8  # samples before its turn at which a row of a shuffled order is asked for
CHUNK = 64  # rows that one output works on before the next one takes them from cache
_LOOSE = {"reassoc", "contract", "arcp", "nsz"}  # sums in any order; NaN and infinity stay what they are


def _dot_dense(X, i, w):
    """x_i · w."""
    row = X[i]
    total = 0.0
    for j in range(row.shape[0]):
        total += row[j] * w[j]
    return total


def _add_dense(X, i, w, amount):
    """w += amount · x_i."""
    row = X[i]
    for j in range(row.shape[0]):
        w[j] += amount * row[j]


def _add_and_dot_dense(X, i, following, w, amount):
    """w += amount · x_i, and the new w · x_following, in one walk over w."""
    row, after = X[i], X[following]
    total = 0.0
    for j in range(row.shape[0]):
        new = w[j] + amount * row[j]
        w[j] = new
        total += after[j] * new
    return total


def _norm_dense(X, i):
    """‖y_i‖² = 1 + ‖x_i‖²."""
    row = X[i]
    total = 1.0
    for j in range(row.shape[0]):
        total += row[j] * row[j]
    return total


def _dot_sparse(data, indices, start, stop, w):
    values, places = data[start:stop], indices[start:stop]
    total = 0.0
    for p in range(values.shape[0]):
        total += values[p] * w[places[p]]
    return total


def _add_sparse(data, indices, start, stop, w, amount):
    values, places = data[start:stop], indices[start:stop]
    for p in range(values.shape[0]):
        w[places[p]] += amount * values[p]


def _norm_sparse(data, start, stop):
    values = data[start:stop]
    total = 1.0
    for p in range(values.shape[0]):
        total += values[p] * values[p]
    return total


_dot_dense = compiled(_dot_dense, fastmath=_LOOSE)
_add_dense = compiled(_add_dense, fastmath=_LOOSE)
_norm_dense = compiled(_norm_dense, fastmath=_LOOSE)
_dot_sparse = compiled(_dot_sparse, fastmath=_LOOSE)
_add_sparse = compiled(_add_sparse, fastmath=_LOOSE)
_norm_sparse = compiled(_norm_sparse, fastmath=_LOOSE)
_add_and_dot_dense = compiled(_add_and_dot_dense, inline="always")
_correction = compiled(correction, inline="always")
_prefetch = make_prefetch()
_loss = compiled(loss)


def _eta(rate, power, delay, table, first, k):
    """η(k): rate / (k + delay)^power, or from the table, which begins at η(first)."""
    if table.shape[0] > 0:
        return table[k - first]
    if power == 0.0:
        return rate
    return rate / (k + delay) if power == 1.0 else rate / (k + delay) ** power


_eta = compiled(_eta)


def _shrunk(w, scale, amount):
    """The factor of w after a ridge step; folded into w when it becomes small."""
    scale *= max(0.0, 1.0 - amount)
    if scale < 1e-9:
        for c in range(w.shape[0]):
            w[c] *= scale
        scale = 1.0
    return scale


def _keep(pocket, j, bias, w, scale):
    if pocket.shape[0] > 0:
        pocket[j, 0] = bias
        for c in range(w.shape[0]):
            pocket[j, c + 1] = scale * w[c]


def _drift(sparse, X, data, indices, start, stop, i, drift, j, late):
    """Write down a correction for the average."""
    if drift.shape[0] > 0:
        drift[j, 0] += late
        if sparse:
            _add_sparse(data, indices, start, stop, drift[j, 1:], late)
        else:
            _add_dense(X, i, drift[j, 1:], late)


_shrunk = compiled(_shrunk)
_keep = compiled(_keep)
_drift = compiled(_drift)


def _some_rows(
    begin, end, j, sparse, X, data, indices, indptr, order, codes, targets, care, weight,
    A, factor, kind, margin, steps, table, first, shrink, threshold, tally, losses, drift, pocket, seen, sizes,
):  # fmt: skip
    """Output j over places begin … end−1 of the order."""
    rate, power, delay = steps
    shuffled, weighted, summing = order.shape[0] > 0, weight.shape[0] > 0, losses.shape[0] > 0
    fixed = power == 0.0 and table.shape[0] == 0
    extras, traced = threshold > 0.0 or drift.shape[0] > 0 or pocket.shape[0] > 0, seen.shape[0] > 0
    measured, correcting = kind == RELAXATION or threshold > 0.0, kind <= QUADRATIC
    w, bias, scale, eta = A[j, 1:], A[j, 0], factor[j], rate
    inverse = 1.0 / scale
    k, clean, needed, visits = tally[STEPS, j], tally[CLEAN, j], tally[NEEDED, j], tally[VISITS, j]
    origin, one = tally[ORIGIN, j] + 1, float(tally[ONE, j])
    ready, raw, total, start, stop = -1, 0.0, 0.0, indptr[0], indptr[0]
    for place in range(begin, end):
        i = order[place] if shuffled else place
        if shuffled and not sparse and place + AHEAD < order.shape[0]:
            _prefetch(X, order[place + AHEAD])
        code = codes[i]
        t, share = targets[code, j], weight[i] if weighted else 1.0
        if care[code, j] == 0.0 or share == 0.0:
            continue
        if sparse:
            start, stop = indptr[i], indptr[i + 1]
            raw = _dot_sparse(data, indices, start, stop, w)
        elif ready != i:
            raw = _dot_dense(X, i, w)
        z = bias + scale * raw
        visits += 1
        if summing:
            total += share * _loss(kind, t, z, margin)
        norm = 1.0
        if measured:
            norm = (_norm_sparse(data, start, stop) if sparse else _norm_dense(X, i)) + (one - 1.0)
        delta = _correction(kind, t, z, margin, norm)
        if shrink > 0.0:
            scale = _shrunk(w, scale, shrink * _eta(rate, power, delay, table, first, k + 1))
            inverse = 1.0 / scale
        if correcting and delta == 0.0:
            clean += 1
            if clean >= needed:
                tally[DONE, j] = 1
                break
            continue
        if extras and clean > tally[RUN, j]:
            tally[RUN, j] = clean
            _keep(pocket, j, bias, w, scale)
        clean = 0
        k += 1
        if not fixed:
            eta = _eta(rate, power, delay, table, first, k)
        amount = eta * delta * share
        bias += one * amount
        if traced:
            seen[j, k - origin], sizes[j, k - origin] = i, amount
        if sparse:
            _add_sparse(data, indices, start, stop, w, amount * inverse)
        elif place + 1 < end:
            ready = order[place + 1] if shuffled else place + 1
            raw = _add_and_dot_dense(X, i, ready, w, amount * inverse)
        else:
            _add_dense(X, i, w, amount * inverse)
        if extras:
            _drift(sparse, X, data, indices, start, stop, i, drift, j, amount * (visits - 1))
            if abs(amount) * math.sqrt(norm) < threshold:
                tally[DONE, j] = 1
                break
    A[j, 0], factor[j] = bias, scale
    tally[STEPS, j], tally[CLEAN, j], tally[VISITS, j] = k, clean, visits
    if summing:
        losses[j] += total


_some_rows = compiled(_some_rows, fastmath=_LOOSE)


def sweep(
    sparse, X, data, indices, indptr, order, codes, targets, care, weight,
    A, factor, kind, margin, steps, table, first, shrink, threshold, tally, losses, drift, pocket, seen, sizes,
):  # fmt: skip
    """One pass over the rows in ``order`` (all of them in turn when it is empty), for outputs that learn alone."""
    n = order.shape[0] if order.shape[0] > 0 else codes.shape[0]
    step = CHUNK if A.shape[0] > 1 else n  # a single output has no one to share its rows with
    for begin in range(0, n, max(step, 1)):
        for j in range(A.shape[0]):
            if not tally[DONE, j]:
                _some_rows(
                    begin, min(begin + step, n), j, sparse, X, data, indices, indptr, order, codes, targets, care,
                    weight, A, factor, kind, margin, steps, table, first, shrink, threshold, tally, losses, drift,
                    pocket, seen, sizes,
                )  # fmt: skip


sweep = compiled(sweep)


def sweep_coupled(
    sparse, X, data, indices, indptr, order, codes, weight,
    A, kind, positive, worst, margin, steps, table, first, tally, losses, drift, seen, sizes,
):  # fmt: skip
    """One pass for outputs that learn together: Kesler's construction made implicit, or the softmax.

    A sample of class i meets its rivals j in turn; a correction adds to a_i and takes from a_j, and both scores move by
    ‖y‖², as the next constructed sample of the same row would find them.
    """
    n = order.shape[0] if order.shape[0] > 0 else codes.shape[0]
    K = A.shape[0]
    rate, power, delay = steps
    z, change = np.empty(K), np.empty(K)
    start, stop, one = indptr[0], indptr[0], float(tally[ONE, 0])
    for place in range(n):
        i = order[place] if order.shape[0] > 0 else place
        own, share = codes[i], weight[i] if weight.shape[0] > 0 else 1.0
        if share == 0.0:
            continue
        if sparse:
            start, stop = indptr[i], indptr[i + 1]
        norm = (_norm_sparse(data, start, stop) if sparse else _norm_dense(X, i)) + (one - 1.0)
        for j in range(K):
            raw = _dot_sparse(data, indices, start, stop, A[j, 1:]) if sparse else _dot_dense(X, i, A[j, 1:])
            z[j], change[j] = A[j, 0] + raw, 0.0
        tally[VISITS, 0] += 1
        if kind == SOFTMAX:
            tally[STEPS, 0] += 1
            eta = _eta(rate, power, delay, table, first, tally[STEPS, 0]) * share
            _softmax_change(z, own, eta, change, losses, share)
        else:
            _kesler_change(
                z, own, i, kind, positive, worst, margin, norm, share, rate, power, delay, table, first, tally,
                change, losses, seen, sizes,
            )  # fmt: skip
        for j in range(K):
            if change[j] != 0.0:
                A[j, 0] += one * change[j]
                if sparse:
                    _add_sparse(data, indices, start, stop, A[j, 1:], change[j])
                else:
                    _add_dense(X, i, A[j, 1:], change[j])
                _drift(sparse, X, data, indices, start, stop, i, drift, j, change[j] * (tally[VISITS, 0] - 1))
        if tally[DONE, 0]:
            return


def _softmax_change(z, own, eta, change, losses, share):
    """η(t − p) for each output."""
    top, total = z.max(), 0.0
    for j in range(z.shape[0]):
        change[j] = math.exp(z[j] - top)
        total += change[j]
    for j in range(z.shape[0]):
        change[j] = eta * ((1.0 if j == own else 0.0) - change[j] / total)
    if losses.shape[0] > 0:
        losses[0] += share * (math.log(total) + top - z[own])


def _kesler_change(
    z, own, i, kind, positive, worst, margin, norm, share, rate, power, delay, table, first, tally,
    change, losses, seen, sizes,
):  # fmt: skip
    """What one row adds to each output, rival by rival; with ``worst``, for its strongest rival alone."""
    strongest = -1
    if worst:
        for j in range(z.shape[0]):
            if j != own and (strongest < 0 or z[j] > z[strongest]):
                strongest = j
    for j in range(z.shape[0]):
        if j == own or (worst and j != strongest):
            continue
        m = z[own] - z[j]
        if losses.shape[0] > 0:
            losses[0] += share * _loss(kind, positive, m, margin)
        delta = _correction(kind, positive, m, margin, 2.0 * norm)
        if delta == 0.0 and kind <= QUADRATIC:
            tally[CLEAN, 0] += 1
            if tally[CLEAN, 0] >= tally[NEEDED, 0]:
                tally[DONE, 0] = 1
                return
            continue
        tally[CLEAN, 0] = 0
        tally[STEPS, 0] += 1
        amount = _eta(rate, power, delay, table, first, tally[STEPS, 0]) * delta * share
        change[own] += amount
        change[j] -= amount
        z[own] += amount * norm
        z[j] -= amount * norm
        if seen.shape[0] > 0:
            place = tally[STEPS, 0] - tally[ORIGIN, 0] - 1
            seen[0, place], sizes[0, place] = i * z.shape[0] + j, amount


_softmax_change = compiled(_softmax_change)
_kesler_change = compiled(_kesler_change)
sweep_coupled = compiled(sweep_coupled, fastmath=_LOOSE)
