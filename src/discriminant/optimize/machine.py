"""Crammer and Singer's K-class support vector machine: Kesler's construction with a margin, solved in the dual.

P(W) = ½ Σ_k ‖w_k‖² + Σ_i c_i max_k ([k ≠ y_i] + z_ik − z_iy),       z = X W
D(α) = −½ Σ_k ‖Σ_i α_ik x_i‖² − Σ_ik [k ≠ y_i] α_ik,                  Σ_k α_ik = 0,  α_ik ≤ c_i [k = y_i]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.arrays import as_dense
from discriminant.data.rows import as_design
from discriminant.optimize.interior_point import Program, Step, interior_point, reduced, scaled_solver
from discriminant.optimize.margins import Best
from discriminant.optimize.progress import stepped
from discriminant.protocols import Array
from discriminant.thresholds import COUPLED_PARAMETERS, MACHINE_WORK

CHECK_EVERY = 10


@dataclass(frozen=True)
class MachineFit:
    """W (d+1, K), the last row times ``bias`` being the intercepts; P, the proved gap, and epochs."""

    W: Array
    objective: float
    gap: float
    steps: int


def solve_machine(
    X: Any, codes: Array, n_classes: int, c: Array, bias: float, tol: float, seed: int = 0, most: int = 20_000
) -> MachineFit:
    """Minimise P over rows X (dense or CSR) until the gap is ≤ tol·P, by the method that suits the size."""
    n, d = X.shape
    size = (d + 1) * n_classes
    if size <= COUPLED_PARAMETERS and n * float(size) ** 2 <= MACHINE_WORK:
        return interior_machine(X, codes, n_classes, c, bias, tol)
    return descend_machine(X, codes, n_classes, c, bias, tol, seed, most)


def interior_machine(X: Any, codes: Array, K: int, c: Array, bias: float, tol: float) -> MachineFit:
    """An interior point over (W, u), u_i the largest of the row's scores with their margins:

    minimise  ½ ‖W‖² + Σ_i c_i (u_i − z_iy),        u_i − z_ik ≥ [k ≠ y_i].
    """
    X = as_dense(X)
    Y = np.hstack([X, np.full((len(X), 1), bias)])
    n, D = Y.shape
    errors = np.ones((n, K))
    errors[np.arange(n), codes] = 0.0
    own = np.zeros((n, K))
    own[np.arange(n), codes] = c
    flat = np.concatenate([np.ones(D * K), np.zeros(n)])
    linear = np.concatenate([-(Y.T @ own).T.ravel(), c])
    program = Program(flat, linear, _Ahead(Y, K), errors.ravel(), np.full(n * K, np.inf))
    best = Best(tol)
    start = program.start(2.0 * (1.0 - flat), np.repeat(c / K, K))
    for step, point in enumerate(interior_point(program, start)):
        beta = point.y.reshape(n, K)
        whole = beta * (c / beta.sum(axis=1))[:, None]
        fit = _proved(X, codes, c, bias, own - whole, point.x[: D * K].reshape(K, D).T, step)
        if best.enough(fit) or stepped(fit.W):
            break
    found: MachineFit = best.fit
    return found


@dataclass(frozen=True)
class _Ahead:
    """The constraints u_i − y_i·w_k ≥ …, for x = (w_1, …, w_K, u)."""

    Y: Array  # (n, D)
    K: int

    def dot(self, x: Array) -> Array:
        W, u = x[: -len(self.Y)].reshape(self.K, -1), x[-len(self.Y) :]
        return np.asarray((u[:, None] - self.Y @ W.T).ravel())

    def adjoint(self, y: Array) -> Array:
        beta = y.reshape(len(self.Y), self.K)
        return np.concatenate([-(beta.T @ self.Y).ravel(), beta.sum(axis=1)])

    def solver(self, P: Array, weight: Array) -> Step:
        """u, whose part of the matrix is diagonal, is eliminated."""
        n, size = len(self.Y), self.Y.shape[1] * self.K
        theta = weight.reshape(n, self.K)
        total = theta.sum(axis=1)
        inner = scaled_solver(_system(self.Y, theta, total))

        def solve(r: Array) -> Array:
            base = r[size:] / total
            W = inner(r[:size] + ((theta * base[:, None]).T @ self.Y).ravel())
            z = self.Y @ W.reshape(self.K, -1).T
            return np.concatenate([W, base + (theta * z).sum(axis=1) / total])

        return reduced(self.dot, self.adjoint, weight, solve)


def _system(Y: Array, theta: Array, total: Array) -> Array:
    """I + Σ_i y_i y_iᵗ ⊗ (diag θ − θθᵗ/Σθ), classes outermost."""
    D, K = Y.shape[1], theta.shape[1]
    H = np.empty((K, D, K, D))
    for k in range(K):
        for j in range(k, K):
            h = theta[:, k] * ((k == j) - theta[:, j] / total)
            H[k, :, j] = H[j, :, k] = Y.T @ (h[:, None] * Y)
    flat = H.reshape(K * D, K * D)
    flat[np.arange(K * D), np.arange(K * D)] += 1.0
    return flat


def descend_machine(
    X: Any, codes: Array, n_classes: int, c: Array, bias: float, tol: float, seed: int = 0, most: int = 20_000
) -> MachineFit:
    """One row at a time, until the gap is ≤ tol·P or ``most`` passes are done."""
    from discriminant.kernels.dual import machine_epoch

    n, d = X.shape
    if isinstance(X, np.ndarray):
        X = np.ascontiguousarray(X)
    Q = as_design(X).squared_norms() + bias**2
    alpha, W = np.zeros((n, n_classes)), np.zeros((d + 1, n_classes))
    rng, codes = np.random.default_rng(seed), codes.astype(np.int64)
    fit = MachineFit(W, np.inf, np.inf, 0)
    for epoch in range(most):
        machine_epoch(X, codes, alpha, c, Q, W, bias, rng.permutation(n))
        if epoch % CHECK_EVERY == CHECK_EVERY - 1:
            fit = _proved(X, codes, c, bias, alpha, W, epoch + 1)
            if stepped(fit.W) or fit.gap <= tol * fit.objective:
                break
    return fit


def _proved(X: Any, codes: Array, c: Array, bias: float, alpha: Array, W: Array, steps: int) -> MachineFit:
    n, index = len(codes), np.arange(len(codes))
    z = np.asarray(X @ W[:-1]) + bias * W[-1]
    ahead = 1 + z - z[index, codes][:, None]
    ahead[index, codes] = 0
    P = 0.5 * float(np.square(W).sum()) + float(c @ ahead.max(axis=1))
    fresh = np.vstack([np.asarray(X.T @ alpha), bias * alpha.sum(axis=0)])
    others = float(alpha.sum() - alpha[index, codes].sum()) if n else 0.0
    D = -0.5 * float(np.square(fresh).sum()) - others
    return MachineFit(W.copy(), P, max(P - D, 0.0), steps)
