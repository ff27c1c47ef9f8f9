"""The curvature that a proximal Newton step uses: exact where it was taken, and kept while it is still good.

    two classes    X_Wᵗ diag(s p(1−p)) X_W                        with the intercept eliminated:  H − b bᵗ / Σ s p(1−p)
    K classes      X_Wᵗ diag(s (p_k δ_kl − p_k p_l)) X_W          for all k, l
                   or, where that is too large, X_Wᵗ diag(s r) X_W for every class, r_i ≥ the largest eigenvalue

A working set that grows only adds the new columns' products, at the posteriors of the old ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from discriminant.optimize.sparse.columns import WorkingColumns
from discriminant.optimize.sparse.levels import Levels
from discriminant.optimize.sparse.losses import Losses
from discriminant.protocols import Array

MOST_JOINT = 1_600  # coordinates up to which the classes' curvature is taken jointly


@dataclass
class Metric:
    """The curvature over the working set's columns so far."""

    losses: Losses
    intercept: bool
    p: Array | None = None  # the posteriors at which it was taken
    G: Array = field(default_factory=lambda: np.empty((0, 0)))
    B: Array = field(default_factory=lambda: np.empty((0, 0)))  # intercepts × coordinates
    corner: Array = field(default_factory=lambda: np.empty((0, 0)))  # intercepts × intercepts
    joint: bool = True
    factor: float = 1.0  # of the bound for K classes, found by trial

    @property
    def q(self) -> int:
        return self.losses.q

    def refresh(self, columns: WorkingColumns, p: Array, *, joint: bool) -> None:
        """Take the curvature anew at posteriors p."""
        self.p, self.joint = p.copy(), joint
        self.G, self.B = np.empty((0, 0)), np.empty((0, 0))
        self.extend(columns)

    def extend(self, columns: WorkingColumns) -> None:
        """Add the columns that the working set has gained."""
        assert self.p is not None
        m = len(columns.features)
        if self.q == 1 or not self.joint:
            self._extend_plain(columns, m)
        elif self._outputs(len(self.G)) < m or len(self.G) == 0:
            self._extend_joint(columns, m)

    def _outputs(self, coordinates: int) -> int:
        return coordinates // self.q

    def _plain_weights(self) -> Array:
        assert self.p is not None
        if self.q == 1:
            return self.losses.bend(self.p)
        # diag(p) − ppᵗ ≤ max_k 2 p_k(1−p_k) by Gershgorin's discs
        return np.asarray(self.losses.s * (2 * self.p * (1 - self.p)).max(axis=1))

    def _extend_plain(self, columns: WorkingColumns, m: int) -> None:
        old = len(self.G)
        if old == m and m:
            return
        h = self._plain_weights()
        G = np.empty((m, m))
        G[:old, :old] = self.G
        if m > old:
            fresh = columns.gram(h, old)
            G[:, old:] = fresh
            G[old:, :old] = fresh[:old].T
        self.G = G
        if self.intercept:
            self.B = columns.adjoint(h[:, None]).T
            self.corner = np.array([[h.sum()]])

    def _extend_joint(self, columns: WorkingColumns, m: int) -> None:
        q, s, p = self.q, self.losses.s, self.p
        assert p is not None
        old = self._outputs(len(self.G))
        G = np.zeros((m, q, m, q))
        G[:old, :, :old, :] = self.G.reshape(old, q, old, q)
        for k in range(q):
            for j in range(k, q):
                h = s * (p[:, k] * (1 - p[:, k]) if j == k else p[:, k] * p[:, j])
                part = columns.gram(h, old) if j == k else -columns.gram(h, old)
                for one, other in {(k, j), (j, k)}:
                    G[:, one, old:, other] = part
                    G[old:, other, :old, one] = part[:old].T
        self.G = G.reshape(m * q, m * q)
        if self.intercept:
            sp = s[:, None] * p
            self.corner = np.diag(sp.sum(axis=0)) - sp.T @ p
            B = np.empty((q, m, q))
            for k in range(q):
                weights = -sp[:, [k]] * p
                weights[:, k] += sp[:, k]
                B[k] = columns.adjoint(weights)
            self.B = B.reshape(q, m * q)

    def matrix(self, levels: Levels) -> Array:
        """H with the intercept eliminated and the l₂ levels on the diagonal."""
        H = self.G
        if self.intercept and len(self.B):
            H = H - self.B.T @ (np.linalg.pinv(self.corner, rcond=1e-13, hermitian=True) @ self.B)
        elif self.factor == 1.0:
            H = H.copy()
        if not self.joint:
            H = H * self.factor
        l2 = levels.spread(levels.l2)[:, 0]
        index = np.arange(len(H))
        H[index, index] = np.maximum(H[index, index], 1e-14 * self.G[index, index]) + (
            l2 if len(H) == len(l2) else np.repeat(l2, self.q)
        )
        return np.ascontiguousarray(H)

    def intercept_step(self, D: Array) -> Array:
        """How the intercepts (q,) follow a step D (m, q) of the weights."""
        if not self.intercept or not len(self.B):
            return np.zeros(self.q)
        if self.q > 1 and not self.joint:
            return np.asarray(-(self.B @ D)[0] / self.corner[0, 0])
        return np.asarray(-np.linalg.pinv(self.corner, rcond=1e-13, hermitian=True) @ (self.B @ D.ravel()))
