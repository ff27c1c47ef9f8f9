"""Fewer rows than columns: the same objective in the space that the rows span.

    (X − c)(X − c)ᵗ = L Lᵗ,      x_i − c → row i of L,      a = (X − c)ᵗ L⁻ᵗ v,      ‖a‖ = ‖v‖

The minimum of a ridge problem lies in the span of the rows, so that d columns become n, for n²d/2 multiplications.  The
weights come back through the dual, a = −Xᵗ s u / λ, which is exact for columns of any size.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discriminant.protocols import Array


def row_coordinates(blocks: Any, center: Array | None) -> tuple[Array, Array]:
    """(coordinates of the rows (n, n), basis (d, n) of their span with orthonormal columns)."""
    values = blocks.block(0, blocks.n_rows).design.values
    values = values.toarray() if hasattr(values, "toarray") else np.asarray(values)
    if center is not None:
        values = values - center
    gram = values @ values.T
    size = np.sqrt(np.diagonal(gram))
    try:
        with np.errstate(invalid="ignore", divide="ignore"):
            L = np.linalg.cholesky(gram / size / size[:, None])
        if (
            np.square(np.diagonal(L)).min() > 1e-8
        ):  # the Gram matrix has kept half of the digits, the dual brings the rest
            L *= size[:, None]
            from scipy.linalg import solve_triangular

            return np.ascontiguousarray(L), np.ascontiguousarray(solve_triangular(L, values, lower=True).T)
    except np.linalg.LinAlgError:
        pass  # rows that repeat each other: an orthogonal basis all the same
    Q, R = np.linalg.qr(values.T)
    return np.ascontiguousarray(R.T), Q
