"""Solving with a Hessian: Cholesky where it is safe, a pseudo-inverse where it is not.

    H p = −g,    ν² = gᵗ H⁻¹ g  (the squared Newton decrement)

H is first brought to a unit diagonal, so that only true collinearity, never a unit of measurement, makes it singular.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from discriminant.kernels import compiled
from discriminant.protocols import Array
from discriminant.thresholds import COMPILED_UP_TO

SAFE_PIVOT = 1e-9  # smallest pivot of a unit-diagonal H for which the Gram matrix has kept enough digits
RANK_CUT = 1e-13  # singular values of a unit-column square root below this are rounding


@dataclass(frozen=True)
class Factor:
    """H⁻¹ (or H⁺) as a product of small matrices; ``scale`` is diag(H)^−½."""

    scale: Array  # (p,)
    inverse_root: Array | None  # R with H⁺ = S R Rᵗ S, where given
    triangle: Array | None  # L with H = S⁻¹ L Lᵗ S⁻¹, where given
    rank: int
    least: float  # smallest pivot or singular value squared, relative to a unit diagonal
    null: Array | None = None  # (p, p − rank) unit-diagonal coordinates

    def solve(self, g: Array) -> Array:
        """H⁻¹ g for g (p,) or (p, k)."""
        scale, module = self.scale if g.ndim == 1 else self.scale[:, None], small_kernels(len(self.scale))
        if self.triangle is None:
            assert self.inverse_root is not None
            return np.asarray(scale * (self.inverse_root @ (self.inverse_root.T @ (scale * g))))
        if module is not None and g.size <= len(scale) * COMPILED_UP_TO:
            solution = np.array(g, dtype=np.float64, order="C")
            module.cholesky_solve(self.triangle, self.scale, solution)
            return solution
        from scipy.linalg.lapack import dpotrs

        solution, _ = dpotrs(self.triangle, scale * g, lower=1)
        return np.asarray(scale * solution)

    def root_norm(self) -> float:
        """An upper bound of the largest eigenvalue of (S H S)⁻¹, by the trace norm."""
        if self.triangle is None:
            assert self.inverse_root is not None
            return float(np.vdot(self.inverse_root, self.inverse_root))
        if (module := small_kernels(len(self.scale))) is not None:
            return float(module.cholesky_trace(self.triangle))
        from scipy.linalg.lapack import dtrtri

        inverse, _ = dtrtri(self.triangle, lower=1)  # above the diagonal it is as zero as the triangle
        return float(np.square(np.linalg.norm(inverse)))


def small_kernels(columns: int) -> Any | None:
    """The compiled module where it solves with so many columns."""
    return compiled.load() if columns <= COMPILED_UP_TO else None


def unit_diagonal(H: Array) -> tuple[Array, Array]:
    """(S H S, s) with ones on the diagonal; a direction without curvature keeps a pivot of one and takes no step."""
    diagonal = np.diagonal(H).copy()
    dead = ~(diagonal > 0)
    diagonal[dead] = 1.0
    scale = 1 / np.sqrt(diagonal)
    scaled = H * scale
    scaled *= scale[:, None]
    if dead.any():
        scaled[dead] = 0.0
        scaled[:, dead] = 0.0
        scaled[dead, dead] = 1.0
    return scaled, scale


def factorize(H: Array, safe: float = SAFE_PIVOT) -> Factor | None:
    """A Cholesky factor of H, or None where H is so near to singular that its digits are lost."""
    p = len(H)
    if (module := small_kernels(p)) is not None:
        scale, L = np.empty(p), np.zeros((p, p))
        least = module.cholesky(np.ascontiguousarray(H), scale, L)
        return None if least < safe else Factor(scale, None, L, p, least)
    scaled, scale = unit_diagonal(H)
    from scipy.linalg.lapack import dpotrf

    L, failed = dpotrf(scaled.T, lower=1, overwrite_a=1)  # symmetric: turned it lies as LAPACK wants it
    least = float(np.square(np.diagonal(L)).min())
    if failed or least < safe:
        return None
    return Factor(scale, None, L, p, least)


def cholesky(H: Array) -> Factor:
    """A factor of H that is good enough for a preconditioner: collinear directions get a little curvature."""
    scaled, scale = unit_diagonal(H)
    for extra in (0.0, 1e-12, 1e-9, 1e-6, 1e-3):
        index = np.arange(len(scale))
        scaled[index, index] += extra
        factor = factorize(scaled, safe=1e-14)
        if factor is not None:
            return replace(factor, scale=scale * factor.scale)
    return pseudo_factor(H)


def pseudo_factor(H: Array) -> Factor:
    """H⁺ from the eigenvalues of the unit-diagonal H: for Gram matrices whose square root is not at hand."""
    scaled, scale = unit_diagonal(H)
    values, vectors = np.linalg.eigh(scaled)
    size = np.abs(values)  # the negative curvature of a criterion that is not convex counts by its size
    kept = size > len(values) * 4e-16 * size.max(initial=0.0)
    root = vectors[:, kept] / np.sqrt(size[kept])
    return Factor(scale, root, None, int(kept.sum()), float(max(values[0], 0.0)), vectors[:, ~kept])


def root_factor(F: Array) -> Factor:
    """(FᵗF)⁺ from F itself, whose condition is the root of the Gram matrix's: for small, nearly collinear problems."""
    diagonal = np.sqrt(np.einsum("ij,ij->j", F, F))
    dead = ~(diagonal > 0)
    diagonal[dead] = 1.0
    triangle = np.linalg.qr(F / diagonal, mode="r") if len(F) > F.shape[1] else F / diagonal
    _, singular, vectors = np.linalg.svd(triangle, full_matrices=True)
    p = F.shape[1]
    size = np.zeros(p)
    size[: len(singular)] = singular
    kept = size > RANK_CUT * max(float(size[0]), 1e-300)
    root = vectors[kept].T / size[kept]
    return Factor(1 / diagonal, root, None, int(kept.sum()), float(np.square(size.min())), vectors[~kept].T)


@dataclass(frozen=True)
class Factors:
    """The inverse of a Hessian of q outputs: one factor each, one for all, or one of all of them together."""

    each: tuple[Factor, ...]
    coupled: bool = False

    def solve(self, G: Array) -> Array:
        """H⁻¹ G for G (1+d, q)."""
        if self.coupled:
            return np.asarray(self.each[0].solve(G.T.ravel()).reshape(G.T.shape).T)
        if len(self.each) == 1:
            return self.each[0].solve(G)
        return np.stack([factor.solve(G[:, k]) for k, factor in enumerate(self.each)], axis=1)

    @property
    def least(self) -> float:
        """The smallest pivot of all, relative to a unit diagonal."""
        return min(factor.least for factor in self.each)


def factor_hessian(H: Array, n_outputs: int, free_sum: bool = False, root: Any = None) -> Factors:
    """H as an objective gives it: (q, D, D) a block an output, or (qD, qD) when coupled.

    ``free_sum``: the criterion leaves the sum of its outputs' weights free; it gets curvature, and no step is taken
    along it.
    """
    if H.ndim == 2:
        return Factors((make_factor(held_sum(H, n_outputs) if free_sum else H, root),), coupled=True)
    if H.strides[0] == 0:  # one block for all outputs
        return Factors((make_factor(H[0], root),))
    parts = [
        None if root is None else partial(_columns, root, slice(k * len(H[0]), (k + 1) * len(H[0])))
        for k in range(len(H))
    ]
    return Factors(tuple(map(make_factor, H, parts)))


def _columns(root: Any, output: slice) -> Array:
    """One output's columns of the square root of a Hessian without products of outputs, and the rows that they fill."""
    F = root()[:, output]
    return np.asarray(F[F.any(axis=1)])


def held_sum(H: Array, q: int) -> Array:
    """H with curvature along Σ_k A_k."""
    D = len(H) // q
    size = np.diagonal(H).reshape(q, D).max(axis=0)
    view = H.copy().reshape(q, D, q, D)
    index = np.arange(D)
    view[:, index, :, index] += size[:, None, None] / q
    return np.asarray(view.reshape(q * D, q * D))


def make_factor(H: Array, root: Any = None) -> Factor:
    """The best factor: Cholesky; else from the square root ``root()`` where one can be had; else by eigenvalues."""
    factor = factorize(H)
    if factor is not None:
        return factor
    return pseudo_factor(H) if root is None else root_factor(root())
