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

LAST = 5  # sweeps whose trend is followed to its end


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


def _mixture(U: Any) -> Any:
    """c with Σ c = 1 that makes ‖Σ c_k u_k‖ least, for the rows u of U; zeros where none is told from the others."""
    count = U.shape[0]
    M = np.empty((count, count))
    for i in range(count):
        for j in range(i + 1):
            M[i, j] = M[j, i] = (U[i] * U[j]).sum()
    size = np.trace(M)
    c = np.ones(count)
    if size <= 0.0:
        return np.zeros(count)
    for i in range(count):  # (UUᵗ) c ∝ 1 by elimination: a handful of equations
        M[i, i] += 1e-14 * size
        if M[i, i] <= 0.0:
            return np.zeros(count)
        for k in range(i + 1, count):
            share = M[k, i] / M[i, i]
            M[k] -= share * M[i]
            c[k] -= share * c[i]
    for i in range(count - 1, -1, -1):
        for k in range(i + 1, count):
            c[i] -= M[i, k] * c[k]
        c[i] /= M[i, i]
    total = c.sum()
    return c / total if abs(total) > 1e-300 else np.zeros(count)


def _quadratic(a: Any, start: Any, e: Any, w: Any, g: Any, l1: Any, l2: Any) -> float:
    """What the step minimises."""
    total = 0.0
    for i in range(e.size):
        total += 0.5 * w[i] * e[i] * e[i]
    for j in range(a.size):
        step = a[j] - start[j]
        total += g[j] * step + 0.5 * l2[j] * step * step + l1[j] * abs(a[j])
    return total


mixture = compiled(_mixture)
quadratic = compiled(_quadratic, fastmath={"contract"})


def _ahead(
    was: Any, lay: Any, at: Any, a: Any, e: Any, b: float, start: Any, w: Any, g: Any, l1: Any, l2: Any, lower: Any,
    upper: Any,
) -> float:  # fmt: skip
    """b, and a and e in place, where the trend of the last sweeps leads, if that is better (Anderson's mixing).

    On a support whose signs do not change sweeps are a linear map, and the mixture that moves least is nearest to its
    fixed point.
    """
    c = mixture(was[1:] - was[:-1])
    far, scores, shift = np.zeros(a.size), np.zeros(e.size), 0.0
    for k in range(c.size):
        far += c[k] * was[k + 1]
        scores += c[k] * lay[k + 1]
        shift += c[k] * at[k + 1]
    for j in range(a.size):
        if far[j] < lower[j] or far[j] > upper[j]:
            return b
    if quadratic(far, start, scores, w, g, l1, l2) < quadratic(a, start, e, w, g, l1, l2):
        a[:], e[:] = far, scores
        return shift
    return b


ahead = compiled(_ahead)


def _curvature(data: Any, indices: Any, indptr: Any, w: Any, l2: Any) -> Any:
    """(w x entry by entry, diag(H)) of columns in CSC."""
    h, weighted = np.empty(l2.size), np.empty(indptr[l2.size])
    for j in range(l2.size):
        total = l2[j]
        for k in range(indptr[j], indptr[j + 1]):
            weighted[k] = w[indices[k]] * data[k]
            total += weighted[k] * data[k]
        h[j] = total
    return weighted, h


curvature = compiled(_curvature, fastmath={"contract"})


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
    weighted, h = curvature(data, indices, indptr, w, l2)
    tol = max(still * still / max(h.mean(), 1e-300), least) if m else least
    inverse = 1.0 / np.maximum(h, 1e-300)
    mass = w.sum()
    b, visits = 0.0, 0
    was, lay, at, kept = np.empty((LAST + 1, m)), np.empty((LAST + 1, e.size)), np.empty(LAST + 1), 0
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
            kept = kept if support else 0
            was[kept], lay[kept], at[kept] = a, e, b
            kept += 1
            if kept > LAST:
                kept = 0
                b = ahead(was, lay, at, a, e, b, start, w, g, l1, l2, lower, upper)
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
