"""Coordinate descent along the columns of a sparse matrix: a proximal Newton step's quadratic without its Gram matrix.

    minimise over a, b    g·(a − a₀) + ½ Σ_i w_i e_i² + ½ l₂·(a − a₀)² + Σ l₁|a|,        lower ≤ a ≤ upper
                          e = X (a − a₀) + b

r = w e is kept up to date in place of the gradient: a visit costs as much as its column has entries, and memory none.
The intercept b, which is free, follows after every sweep.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discriminant.kernels.compile import compiled


def _descend_sparse(
    data: Any, indices: Any, indptr: Any, w: Any, g: Any, l1: Any, l2: Any, lower: Any, upper: Any, a: Any, r: Any,
    free: bool, tol: float, rounds: int, sweeps: int,
) -> tuple[float, int]:  # fmt: skip
    """(b, visits); a in place.  Ends when a sweep over all columns moves less than ``tol`` in the norm of diag(H)."""
    m = a.size
    start = a.copy()
    h = np.empty(m)
    for j in range(m):
        total = l2[j]
        for k in range(indptr[j], indptr[j + 1]):
            total += w[indices[k]] * data[k] * data[k]
        h[j] = total
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
                slope = g[j] + l2[j] * (a[j] - start[j])
                for k in range(indptr[j], indptr[j + 1]):
                    slope += data[k] * r[indices[k]]
                u = a[j] - slope / h[j]
                level = l1[j] / h[j]
                new = u - level if u > level else u + level if u < -level else 0.0
                new = min(max(new, lower[j]), upper[j])
                step = new - a[j]
                if step != 0.0:
                    a[j] = new
                    moved += h[j] * step * step
                    for k in range(indptr[j], indptr[j + 1]):
                        r[indices[k]] += step * data[k] * w[indices[k]]
            if free and mass > 0.0:
                shift = -r.sum() / mass
                b += shift
                moved += mass * shift * shift
                for i in range(r.size):
                    r[i] += shift * w[i]
            if not support and moved <= tol:
                return b, visits
            if moved <= 0.1 * tol:
                break
    return b, visits


descend_sparse = compiled(_descend_sparse, fastmath={"reassoc", "contract", "nsz"})
