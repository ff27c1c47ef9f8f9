"""Symmetric systems H x = b that may be badly scaled, singular or indefinite.

Columns are scaled to a unit diagonal first, so that units cost no digits and the rank is judged free of them.  When H
has no full rank, x is the shortest solution *in the given units*: the part of it along the null space is taken out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discriminant.docstrings import documented
from discriminant.protocols import Array


@documented
class Solved(NamedTuple):
    """The solution of a symmetric system.

    Where H is singular x is the shortest of all solutions.

    Parameters
    ----------
    x : ndarray of shape (D, m)
        The shortest solution.
    rank : int
        The rank of H.
    null_space : ndarray of shape (D, D − rank)
        An orthonormal basis of its null space.

    See Also
    --------
    symmetric_solve : Returns one.

    >>> symmetric_solve(np.eye(2), np.ones((2, 1))).rank
    2
    """

    x: Array
    rank: int
    null_space: Array


@documented
def symmetric_solve(H: Array, b: Array, tolerance: float | None = None) -> Solved:
    """|H|⁺ b: the shortest solution, with negative eigenvalues of H (no minimum there) counted by their size.

    Parameters
    ----------
    H : ndarray of shape (D, D)
        Symmetric.
    b : ndarray of shape (D, m)
        The right-hand sides.
    tolerance : float or None, default=None
        Eigenvalues below this part of the largest count as zero; None: rounding.

    Returns
    -------
    Solved
        The shortest solution, the rank and the null space.

    >>> symmetric_solve(np.array([[2.0, 0.0], [0.0, 0.0]]), np.array([[1.0], [0.0]])).x.ravel()
    array([0.5, 0. ])
    """
    diagonal = np.abs(np.diagonal(H))
    scale = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scaled = H * scale[:, None] * scale
    D = len(H)
    limit = 8 * D * np.finfo(np.float64).eps if tolerance is None else tolerance
    if not np.isfinite(scaled).all():
        return Solved(np.full_like(b, np.nan), 0, np.empty((D, 0)))
    try:
        root = np.linalg.cholesky(scaled)
        if np.square(np.diagonal(root)).min() > D * limit:  # the pivots do not hint at a rank below D
            return Solved(scale[:, None] * np.linalg.solve(scaled, scale[:, None] * b), D, np.empty((D, 0)))
    except np.linalg.LinAlgError:
        root = None  # indefinite, or singular to rounding: look at the spectrum
    return _by_spectrum(scaled, scale, b, limit)


def _by_spectrum(scaled: Array, scale: Array, b: Array, limit: float) -> Solved:
    size, axes = np.linalg.eigh(scaled)
    kept = np.abs(size) > limit * max(np.abs(size).max(initial=0.0), np.finfo(np.float64).tiny)
    inner = axes[:, kept].T @ (scale[:, None] * b)
    x = scale[:, None] * (axes[:, kept] @ (inner / np.abs(size[kept])[:, None]))
    # A null vector n of the scaled matrix is scale·n in the given units.
    null = np.linalg.qr(scale[:, None] * axes[:, ~kept])[0] if not kept.all() else np.empty((len(scale), 0))
    return Solved(x - null @ (null.T @ x), int(kept.sum()), null)


def newton_step(H: Array, G: Array) -> Array:
    """−H⁻¹G for G (D, q), with H as an objective gives it: (q, D, D) a block an output, or (qD, qD) when coupled."""
    D, q = G.shape
    if H.ndim == 3 and H.strides[0] == 0:  # one block for all outputs
        return -symmetric_solve(H[0], G).x
    if H.ndim == 3:
        return -np.hstack([symmetric_solve(H[j], G[:, j : j + 1]).x for j in range(q)])
    return -symmetric_solve(H, G.T.reshape(-1, 1)).x.reshape(q, D).T


def largest_eigenvalue(H: Array, rates: Array | None = None) -> float:
    """The greatest eigenvalue of √r H √r, over all outputs."""
    if H.ndim == 3 and H.strides[0] == 0 and rates is None:
        return largest_eigenvalue(H[0])
    if H.ndim == 3:
        return max(largest_eigenvalue(block, None if rates is None else rates[:, j]) for j, block in enumerate(H))
    root = None if rates is None else np.sqrt(rates.T.ravel() if rates.ndim == 2 else rates)
    return float(np.linalg.eigvalsh(H if root is None else H * root[:, None] * root)[-1])
