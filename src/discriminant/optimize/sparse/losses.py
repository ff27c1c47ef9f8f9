"""Logistic and softmax losses in score space: value, slope, curvature, the free intercept, and the dual's entropy.

    Σ s ℓ(t, z),   Σ s = 1:       ℓ = ln(1+e^z) − tz          or   ln Σ_k e^{z_k} − t·z
    slope  v = p − t,             curvature  p(1−p)           or   diag(p) − ppᵗ
    conjugate at v:               y ln y + (1−y) ln(1−y)      or   Σ_k y_k ln y_k,            y = t + v

A dual point must satisfy Σ s v = 0 where there is a free intercept.  ``settle`` moves the intercept until it does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discriminant.protocols import Array

MOST_SETTLING = 60
NEAR = 5e-6  # a shift of the intercept whose third power is nothing


@dataclass(frozen=True)
class Losses:
    """The rows' targets (n, q), weights s (n,) that sum to one, and offsets (n, q) or None."""

    t: Array
    s: Array
    offset: Array | None = None

    @property
    def q(self) -> int:
        return int(self.t.shape[1])

    def value(self, z: Array) -> float:
        """Σ s ℓ(t, z)."""
        if self.q == 1:
            x = z[:, 0]
            return float(self.s @ (np.maximum(x, 0) - self.t[:, 0] * x + np.log1p(np.exp(-np.abs(x)))))
        top = z.max(axis=1)
        return float(self.s @ (np.log(np.exp(z - top[:, None]).sum(axis=1)) + top - np.einsum("ik,ik->i", self.t, z)))

    def slope(self, z: Array) -> tuple[Array, Array]:
        """(p, v): posteriors (n, q) and p − t without cancellation in the tails."""
        if self.q == 1:
            tail = np.exp(-np.abs(z))
            up = z >= 0
            below = 1 / (1 + tail)
            p = np.where(up, below, tail * below)
            return p, np.where(up, 1 - self.t - self.t * tail, (1 - self.t) * tail - self.t) * below
        p = np.exp(z - z.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        return p, p - self.t

    def curvature(self, p: Array) -> Array:
        """p(1−p), (n, 1), for one output."""
        return np.asarray(p * (1 - p))

    def bend(self, p: Array) -> Array:
        """s p(1−p), (n,), for one output."""
        return np.asarray(self.s * self.curvature(p)[:, 0])

    def settle(self, z: Array) -> tuple[Array, Array, Array]:
        """(shift (q,), p, v) with z changed in place by the shift that makes Σ s v zero."""
        total = np.zeros(self.q)
        p, v = self.slope(z)
        previous = np.inf
        for _ in range(MOST_SETTLING):
            g = self.s @ v
            size = float(np.abs(g).max())
            if size <= 1e-16 or (size < 1e-13 and size >= 0.5 * previous):
                break
            previous = size
            step = self._intercept_step(p, g)
            z -= step
            total -= step
            if self.q == 1 and abs(float(step[0])) < NEAR:
                # The series of σ about z is exact to the last digit, and spares the exponentials.
                h = p * (1 - p)
                change = h * (float(step[0]) * (0.5 * float(step[0]) * (1 - 2 * p) - 1))
                p, v = p + change, v + change
            else:
                p, v = self.slope(z)
        return total, p, v

    def _intercept_step(self, p: Array, g: Array) -> Array:
        if self.q == 1:
            h = float(self.bend(p).sum())
            # Far from the optimum a Newton step overshoots; the logistic's own scale limits it.
            return np.asarray(np.clip(g / max(h, 1e-300), -2.0, 2.0))
        sp = self.s[:, None] * p
        H = np.diag(sp.sum(axis=0)) - sp.T @ p
        step = np.linalg.lstsq(H, g, rcond=1e-14)[0]
        return np.asarray(np.clip(step - step.mean(), -2.0, 2.0))

    def project(self, p: Array, v: Array, Y: Array) -> Array:
        """v − curvature · Yδ with Yᵗ s v = 0: the slopes after a Newton step along the columns of Y."""
        slope = Y.T @ (self.s[:, None] * v)
        if self.q == 1:
            H = Y.T @ (self.bend(p)[:, None] * Y)
            return np.asarray(v - self.curvature(p) * (Y @ np.linalg.lstsq(H, slope, rcond=1e-14)[0]))
        u, q = Y.shape[1], self.q
        H = np.zeros((u, q, u, q))
        for k in range(q):
            for j in range(q):
                h = self.s * p[:, k] * (float(j == k) - p[:, j])
                H[:, k, :, j] = Y.T @ (h[:, None] * Y)
        w = Y @ np.linalg.lstsq(H.reshape(u * q, u * q), slope.ravel(), rcond=1e-13)[0].reshape(u, q)
        return np.asarray(v - p * (w - (p * w).sum(axis=1, keepdims=True)))

    def entropy(self, y: Array) -> float:
        """Σ s ℓ*(y − t) for y inside the simplex; +inf outside."""
        if self.q == 1:
            y = y[:, 0]
            if float(y.min()) < -1e-14 or float(y.max()) > 1 + 1e-14:
                return np.inf
            y = np.clip(y, 0, 1)
            return float(self.s @ (_xlogx(y) + _xlogx(1 - y)))
        if float(y.min()) < -1e-14:
            return np.inf
        return float(self.s @ _xlogx(np.maximum(y, 0)).sum(axis=1))

    def dual(self, v: Array, scale: float) -> float:
        """The data's part of the dual at τv: −Σ s ℓ*(τv) + τ Σ s v·offset."""
        linear = 0.0 if self.offset is None else float(self.s @ (v * self.offset).sum(axis=1))
        return scale * linear - self.entropy(self.t + scale * v)


def _xlogx(y: Array) -> Array:
    return np.asarray(y * np.log(np.where(y > 0, y, 1.0)))
