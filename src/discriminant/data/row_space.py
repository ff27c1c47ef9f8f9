"""Fewer rows than columns: the same objective in the space that the rows span.

    (X − c)(X − c)ᵗ = L Lᵗ,      x_i − c → row i of L,      ‖a‖ = ‖v‖ for the weights v of these coordinates

The minimum of a ridge problem lies in the span of the rows, so that d columns become n, for n²d/2 multiplications.  The
weights come back through the dual, a = −Xᵗ (s ℓ') / λ, which is exact for columns of any size.
"""

from __future__ import annotations

import numpy as np

from discriminant.data.blocks import ArrayBlocks
from discriminant.protocols import Array


def row_coordinates(blocks: ArrayBlocks, center: Array | None) -> tuple[Array, Array]:
    """(rows x − c (n, d), their coordinates (n, n))."""
    values = blocks.block(0, blocks.n_rows).design.values
    values = values.toarray() if blocks.is_sparse else np.asarray(values)
    if center is not None:
        values = values - center
    gram = values @ values.T
    size = np.sqrt(np.diagonal(gram))
    try:
        with np.errstate(invalid="ignore", divide="ignore"):
            L = np.linalg.cholesky(gram / size / size[:, None])
        if np.square(np.diagonal(L)).min() > 1e-8:  # the Gram matrix has kept half of the digits; the dual brings more
            return values, np.ascontiguousarray(L * size[:, None])
    except np.linalg.LinAlgError:
        pass  # rows that repeat each other have coordinates all the same
    return values, np.ascontiguousarray(np.asarray(np.linalg.qr(values.T, mode="r")).T)


def solve_triangle(L: Array, B: Array, *, transposed: bool = False) -> Array:
    """L⁻¹B or L⁻ᵗB; by least squares where rows repeat each other and L is singular."""
    size = np.abs(np.diagonal(L))
    if size.min() > 1e-8 * size.max():
        from scipy.linalg import solve_triangular

        return np.asarray(solve_triangular(L, B, trans=int(transposed), lower=True, check_finite=False))
    return np.asarray(np.linalg.lstsq(L.T if transposed else L, B, rcond=None)[0])
