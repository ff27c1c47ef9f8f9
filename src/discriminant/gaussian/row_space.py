"""Fewer rows than columns: orthonormal axes of the space that the rows C (n, d) span, C = Z Qᵗ.

The n × n matrix of inner products CCᵗ = U s² Uᵗ gives Q = Cᵗ U / s as long as s² are of one size.  Where they are not,
a QR decomposition of Cᵗ with pivots, its rows in the order of their size, keeps the digits of columns of any size (Cox
and Higham 1998).
"""

from __future__ import annotations

import numpy as np

from discriminant.protocols import Array
from discriminant.thresholds import ROW_SPACE_COLUMNS

EPS = float(np.finfo(np.float64).eps)
ALIKE = 1e4  # κ(CCᵗ) up to which the inner products keep twelve digits of the axes


def is_wide(n_rows: int, n_features: int) -> bool:
    """Whether the way through the rows' inner products is the shorter one."""
    return n_features > max(n_rows, ROW_SPACE_COLUMNS)


def singular_axes(C: Array, dof: int, least: float | None = None) -> tuple[Array, Array] | None:
    """(Q, s) by inner products; None where they may not keep the digits.

    ``dof``: by how much the means that were taken off the rows lower their rank at most.  ``least``: s² below which a
    direction does not matter, where there is a variance of one beside it.
    """
    n = len(C)
    if n == 0:
        return np.zeros((C.shape[1], 0)), np.zeros(0)
    values, vectors = np.linalg.eigh(C @ C.T)
    floor = 8 * EPS * n * values[-1]
    keep = values > floor
    found = values[keep]
    if not len(found):
        return np.zeros((C.shape[1], 0)), np.zeros(0)
    exact = len(found) >= n - dof or (least is not None and floor < least)
    if not exact or found[-1] > ALIKE * found[0]:
        return None
    s = np.sqrt(found)
    return C.T @ (vectors[:, keep] / s), s


def orthogonal_coordinates(C: Array) -> tuple[Array, Array]:
    """(Q, Z) with C = Z Qᵗ, by a QR decomposition of Cᵗ that columns of any size pass through with their digits."""
    from scipy.linalg import qr

    order = np.argsort(-np.abs(C).max(axis=0), kind="stable")
    found, R, pivots = qr(C.T[order], mode="economic", pivoting=True)
    basis, Z = np.empty_like(found), np.empty_like(R.T)
    basis[order], Z[pivots] = found, R.T
    return basis, Z
