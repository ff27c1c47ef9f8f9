"""Coordinate descent along the columns of a sparse matrix: a proximal Newton step's quadratic without its Gram matrix.

    minimise over a, b    g·(a − a₀) + ½ Σ_i w_i e_i² + ½ l₂·(a − a₀)² + Σ l₁|a|,        lower ≤ a ≤ upper
                          e = X (a − a₀) + b

e is kept up to date in place of the gradient: a visit costs as much as its column has entries.  The intercept b, which
is free, follows after every sweep.  Indices come unsigned, so that none is asked whether it counts from the end; sums
are not left to the compiler's vectors, whose gathering loads are slower than single ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discriminant.kernels.compile import compiled


def _gathered(values: Any, indices: Any, first: int, last: int, v: Any) -> float:
    """Σ_k values_k v[indices_k]: four sums side by side, since each alone would wait for the one before."""
    one, two, three, four = 0.0, 0.0, 0.0, 0.0
    whole = first + (last - first) // 4 * 4
    for k in range(first, whole, 4):
        one += values[k] * v[indices[k]]
        two += values[k + 1] * v[indices[k + 1]]
        three += values[k + 2] * v[indices[k + 2]]
        four += values[k + 3] * v[indices[k + 3]]
    for k in range(whole, last):
        one += values[k] * v[indices[k]]
    return (one + two) + (three + four)


gathered = compiled(_gathered, fastmath={"contract"})


def _descend_sparse(
    data: Any, indices: Any, indptr: Any, w: Any, g: Any, l1: Any, l2: Any, lower: Any, upper: Any, a: Any, e: Any,
    free: bool, still: float, least: float, rounds: int, sweeps: int,
) -> tuple[float, int]:  # fmt: skip
    """(b, visits); a and e in place.

    Ends when a sweep over all columns moves less than still²/h in the norm of diag(H), h its mean: no slope will then
    be off by much more than ``still``; but ``least`` is always enough.
    """
    m = a.size
    start = a.copy()
    h = np.empty(m)
    weighted = np.empty(indptr[m])
    for j in range(m):
        total = l2[j]
        for k in range(indptr[j], indptr[j + 1]):
            weighted[k] = w[indices[k]] * data[k]
            total += weighted[k] * data[k]
        h[j] = total
    tol = max(still * still / max(h.mean(), 1e-300), least) if m else least
    inverse = 1.0 / np.maximum(h, 1e-300)
    mass = w.sum()
    b, visits = 0.0, 0
    for _ in range(rounds):
        for inner in range(sweeps + 1):
            support = inner > 0
            moved = 0.0
            for j in range(m):
                if h[j] <= 0.0 or (support and a[j] == 0.0):
                    continue
                visits += 1
                slope = gathered(weighted, indices, indptr[j], indptr[j + 1], e)
                u = a[j] - (slope + g[j] + l2[j] * (a[j] - start[j])) * inverse[j]
                # Signs are as good as random: no branch on them, and no negative zero.
                new = np.copysign(max(abs(u) - l1[j] * inverse[j], 0.0), u) + 0.0
                new = min(max(new, lower[j]), upper[j])
                step = new - a[j]
                if step != 0.0:
                    a[j] = new
                    moved += h[j] * step * step
                    for k in range(indptr[j], indptr[j + 1]):
                        e[indices[k]] += step * data[k]
            if free and mass > 0.0:
                shift = 0.0
                for i in range(e.size):
                    shift -= w[i] * e[i]
                shift /= mass
                b += shift
                moved += mass * shift * shift
                for i in range(e.size):
                    e[i] += shift
            if not support and moved <= tol:
                return b, visits
            if moved <= 0.1 * tol:
                break
    return b, visits


def _columns_dot(data: Any, indices: Any, indptr: Any, d: Any, n: int) -> Any:
    """X d, (n,), of columns in CSC."""
    out = np.zeros(n)
    for j in range(d.size):
        if d[j] != 0.0:
            for k in range(indptr[j], indptr[j + 1]):
                out[indices[k]] += d[j] * data[k]
    return out


def _columns_adjoint(data: Any, indices: Any, indptr: Any, v: Any) -> Any:
    """Xᵗ v, (m,), of columns in CSC."""
    out = np.empty(indptr.size - 1)
    for j in range(out.size):
        out[j] = gathered(data, indices, indptr[j], indptr[j + 1], v)
    return out


def _picked_adjoint(data: Any, indices: Any, indptr: Any, columns: Any, v: Any) -> Any:
    """Xᵗ v, (m,), of these columns in CSC."""
    out = np.empty(columns.size)
    for i in range(columns.size):
        j = columns[i]
        out[i] = gathered(data, indices, indptr[j], indptr[j + 1], v)
    return out


picked_adjoint = compiled(_picked_adjoint, fastmath={"contract"})
columns_dot = compiled(_columns_dot, fastmath={"contract"})
columns_adjoint = compiled(_columns_adjoint, fastmath={"contract"})
descend_sparse = compiled(_descend_sparse, fastmath={"contract"})
