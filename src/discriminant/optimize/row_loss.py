"""The loss of all rows in score space: what sparse fits ask of a criterion, with the row weights and the intercept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.criteria import Pointwise, Softmax
from discriminant.kernels.compiled import load
from discriminant.protocols import Array


@dataclass(frozen=True)
class RowLoss:
    """Σ s ℓ(t, z): targets (n, q), weights s (n,) that sum to one, offsets (n, q) or None.

    What stands for ℓ'' is (n, 1) for one output, and the posteriors p (n, K) of diag(p) − ppᵗ for classes that compete.
    """

    criterion: Pointwise
    t: Array
    s: Array
    offset: Array | None = None

    @property
    def q(self) -> int:
        return int(self.t.shape[1])

    def value_and_slope(self, z: Array) -> tuple[float, Array]:
        """(Σ s ℓ, ℓ')."""
        kernels = self._kernels
        if kernels is not None:
            v = np.empty_like(z)
            return kernels.softmax_losses(self.t, np.ascontiguousarray(z), self.s, v, np.empty(len(z))), v
        value, v = self.criterion.value_and_gradient(self.t, z)
        return float(self.s @ value.sum(axis=1)), v

    @property
    def _kernels(self) -> Any:
        """The compiled loss of classes that compete."""
        return load() if isinstance(self.criterion, Softmax) and self.q > 1 else None

    def curvature(self, z: Array, v: Array) -> Array:
        """ℓ'' at scores z with slopes v."""
        return self.criterion.curvature(self.t, z) if self.q == 1 else np.asarray(v + self.t)

    def product(self, h: Array, E: Array) -> Array:
        """ℓ'' E, row by row; E (n, q), or (q,) for the same in every row."""
        if self.q == 1:
            return np.asarray(h * E)
        mean = h @ E if E.ndim == 1 else np.einsum("nk,nk->n", h, E)
        return np.asarray(h * (E - mean[:, None]))

    def corner(self, h: Array) -> Array:
        """1ᵗ (s ℓ'') 1, (q, q): the curvature by the intercepts."""
        if self.q == 1:
            return np.array([[self.s @ h[:, 0]]])
        sp = self.s[:, None] * h
        return np.asarray(np.diag(sp.sum(axis=0)) - sp.T @ h)

    def balanced(self, v: Array, h: Array, Y: Array) -> Array:
        """v − ℓ'' Yδ with Yᵗ s v = 0: the slopes after a Newton step along the columns of Y (n, u)."""
        slope = Y.T @ (self.s[:, None] * v)
        u, q = Y.shape[1], self.q
        H = np.empty((u, q, u, q))
        for k in range(q):
            for j in range(q):
                each = self.s * (h[:, 0] if q == 1 else h[:, k] * (float(j == k) - h[:, j]))
                H[:, k, :, j] = Y.T @ (each[:, None] * Y)
        delta = np.linalg.lstsq(H.reshape(u * q, u * q), slope.ravel(), rcond=1e-13)[0].reshape(u, q)
        return np.asarray(v - self.product(h, Y @ delta))

    def dual(self, v: Array) -> float:
        """−Σ s ℓ*(v) + Σ s v·offset."""
        linear = 0.0 if self.offset is None else float(self.s @ (v * self.offset).sum(axis=1))
        kernels = self._kernels
        if kernels is not None:
            return linear + float(kernels.softmax_dual(self.t, np.ascontiguousarray(v), self.s, np.empty(128 * self.q)))
        each = self.criterion.conjugate(self.t, v).sum(axis=1)
        return linear - float(self.s @ np.where(self.s > 0, each, 0.0))  # rows that are held out may be anywhere


def solve_corner(corner: Array, g: Array) -> Array:
    """corner⁻¹ g; the sum of softmax intercepts changes nothing, and stays as it is."""
    if len(corner) == 1:
        return np.asarray(g / corner[0, 0] if corner[0, 0] > 0 else 0.0 * g)
    size = max(float(np.trace(corner)), 1e-300)
    return np.asarray(np.linalg.solve(corner + size * (1 / len(corner) ** 2 + 1e-14 * np.eye(len(corner))), g))
