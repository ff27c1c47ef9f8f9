"""Coordinate descent on a quadratic with a kinked penalty: the sequential heart of L1, elastic net and group fits.

    minimise over a (m, q)    g·a + ½ Σ_k a_kᵗ H a_k + Σ l₁|a|,        lower ≤ a ≤ upper

One coordinate at a time, u = a − g/H_jj:   a ← clip(sign(u) max(|u| − l₁/H_jj, 0), lower, upper); a whole row (or block
of coordinates) shrinks by its length, a ← u max(1 − l₁/(L‖u‖), 0).  The gradient g is kept up to date in place.
Compiled on first use; ``plain_*`` are the same sweeps with NumPy rows, for problems too small to load a compiler for.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from discriminant.kernels.compile import compiled


def _sweep_rows(H: Any, a: Any, g: Any, l1: Any, lower: Any, upper: Any, whole: bool, support: bool) -> float:
    """One sweep; returns Σ H_jj (change)².  ``whole``: rows of a shrink together; ``support``: nonzero rows only."""
    m, q = a.shape
    moved = 0.0
    step = np.empty(q)
    for j in range(m):
        h = H[j, j]
        if h <= 0.0:
            continue
        if support:
            zero = True
            for k in range(q):
                if a[j, k] != 0.0:
                    zero = False
            if zero:
                continue
        change = 0.0
        if whole:
            length = 0.0
            for k in range(q):
                step[k] = a[j, k] - g[j, k] / h
                length += step[k] * step[k]
            length = math.sqrt(length)
            level = l1[j, 0] / h
            factor = 1.0 - level / length if length > level else 0.0
            for k in range(q):
                step[k] = factor * step[k] - a[j, k]
                change += step[k] * step[k]
        else:
            for k in range(q):
                u = a[j, k] - g[j, k] / h
                level = l1[j, k] / h
                new = u - level if u > level else u + level if u < -level else 0.0
                new = min(max(new, lower[j]), upper[j])
                step[k] = new - a[j, k]
                change += step[k] * step[k]
        if change == 0.0:
            continue
        moved += h * change
        for k in range(q):
            s = step[k]
            if s != 0.0:
                a[j, k] += s
        if q == 1:
            s = step[0]
            for i in range(m):
                g[i, 0] += s * H[j, i]
        else:
            for i in range(m):
                for k in range(q):
                    g[i, k] += step[k] * H[j, i]
    return moved


def _sweep_atoms(H: Any, a: Any, g: Any, starts: Any, l1: Any, L: Any, support: bool) -> float:
    """One sweep over blocks a[starts[i]:starts[i+1]] (p,), L[i] being the largest eigenvalue of the block of H."""
    p = a.size
    moved = 0.0
    step = np.empty(p)
    for i in range(starts.size - 1):
        first, last, h = starts[i], starts[i + 1], L[i]
        if h <= 0.0:
            continue
        length, size = 0.0, 0.0
        for j in range(first, last):
            step[j] = a[j] - g[j] / h
            length += step[j] * step[j]
            size += a[j] * a[j]
        length = math.sqrt(length)
        level = l1[i] / h
        factor = 1.0 - level / length if length > level else 0.0
        if size == 0.0 and (support or factor == 0.0):
            continue
        for j in range(first, last):
            s = factor * step[j] - a[j]
            a[j] += s
            moved += h * s * s
            step[j] = s
        for j in range(first, last):
            s = step[j]
            if s != 0.0:
                for k in range(p):
                    g[k] += s * H[j, k]
    return moved


def plain_sweep_rows(H: Any, a: Any, g: Any, l1: Any, lower: Any, upper: Any, whole: bool, support: bool) -> float:
    """As ``sweep_rows``, without a compiler; rows that are zero and held when it begins wait for the next sweep."""
    moved = 0.0
    diagonal = np.diagonal(H)
    live = (a != 0).any(axis=1)
    if not support:
        live |= np.sqrt(np.square(g).sum(axis=1)) > l1[:, 0] if whole else (np.abs(g) > l1).any(axis=1)
    rows = np.flatnonzero(live)
    for j in rows:
        h = diagonal[j]
        if h <= 0:
            continue
        u = a[j] - g[j] / h
        if whole:
            length = math.sqrt(float(u @ u))
            new = u * max(1 - l1[j, 0] / (h * length), 0.0) if length > 0 else 0 * u
        else:
            new = np.sign(u) * np.maximum(np.abs(u) - l1[j] / h, 0)
            new = np.minimum(np.maximum(new, lower[j]), upper[j])
        step = new - a[j]
        if step.any():
            a[j] = new
            g += H[j][:, None] * step
            moved += h * float(step @ step)
    return moved


def plain_sweep_atoms(H: Any, a: Any, g: Any, starts: Any, l1: Any, L: Any, support: bool) -> float:
    """As ``sweep_atoms``, without a compiler."""
    moved = 0.0
    for i in range(len(starts) - 1):
        block, h = slice(starts[i], starts[i + 1]), L[i]
        if h <= 0 or (support and not a[block].any()):
            continue
        u = a[block] - g[block] / h
        length = math.sqrt(float(u @ u))
        step = (u * max(1 - l1[i] / (h * length), 0.0) if length > 0 else 0 * u) - a[block]
        if step.any():
            a[block] += step
            g += step @ H[block]
            moved += h * float(step @ step)
    return moved


sweep_rows = compiled(_sweep_rows, fastmath={"reassoc", "contract", "nsz"})
sweep_atoms = compiled(_sweep_atoms, fastmath={"reassoc", "contract", "nsz"})


def warm() -> None:
    """Load Numba and the sweeps now, in one thread: several must not do so at once."""
    one, zero = np.ones((1, 1)), np.zeros(1)
    sweep_rows(one, one.copy(), one.copy(), one, zero, zero, False, False)
    sweep_atoms(one, zero.copy(), zero.copy(), np.array([0, 1]), zero, zero, False)
