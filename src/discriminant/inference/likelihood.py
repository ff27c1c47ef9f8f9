"""The likelihood of a logistic or softmax model over blocks of rows: its value, score, information and rows' parts.

Parameters are relative to the first class: θ holds 1 + d weights for each of the other K − 1 classes, intercept first.

    ℓ(θ) = Σ w [z_t − ln(1 + Σ_k e^{z_k})],    score = Yᵗ w (t − p),    information = Yᵗ w (diag p − p pᵗ) Y

Columns are centred and scaled inside, so that offsets and units cost no digits: θ is that of (x − c)/s, and ``to_raw``
gives the matrix M with raw = M θ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discriminant.data import single_threaded_blas
from discriminant.errors import DataError
from discriminant.protocols import Array, Block

MOST_PARAMETERS = 6_000
MANY_VALUES = 5_000_000


@dataclass
class Look:
    """What is added over rows."""

    value: float
    score: Array  # (K−1, 1+d)
    information: Array | None  # ((K−1)(1+d), …), classes outermost
    meat: Array | None  # Σ w (score of the row)(score of the row)ᵗ

    def __iadd__(self, other: Look) -> Look:
        self.value += other.value
        self.score += other.score
        for name in ("information", "meat"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine is not None and theirs is not None:
                mine += theirs
        return self


@dataclass(frozen=True)
class Kernel:
    """One block's part of ℓ and its derivatives at θ."""

    theta: Array  # (K−1, 1+d)
    center: Array
    scale: Array
    information: bool = True
    meat: bool = False

    def features(self, block: Block) -> Array:
        values = block.design.values
        values = values.toarray() if hasattr(values, "toarray") else values
        Y = np.empty((len(values), values.shape[1] + 1))
        Y[:, 0] = 1.0
        np.subtract(values, self.center, out=Y[:, 1:])
        Y[:, 1:] /= self.scale
        return Y

    def parts(self, Y: Array, codes: Array) -> tuple[Array, Array, Array]:
        """(log p of the own class (n,), p of the other classes (n, K−1), t − p (n, K−1))."""
        z = Y @ self.theta.T
        top = np.maximum(z.max(axis=1), 0.0)
        e = np.exp(z - top[:, None])
        first = np.exp(-top)
        total = first + e.sum(axis=1)
        p = e / total[:, None]
        residual = -p
        others = np.flatnonzero(codes > 0)
        own = codes[others] - 1
        log_p = -top - np.log(total)
        log_p[others] += z[others, own]
        # 1 − p from the other classes' share, not as a difference that cancels.
        rest = (first[others] + e[others].sum(axis=1) - e[others, own]) / total[others]
        residual[others, own] = rest
        return log_p, p, residual

    def __call__(self, block: Block) -> Look:
        Y = self.features(block)
        codes = np.asarray(block.target, dtype=np.intp)
        log_p, p, residual = self.parts(Y, codes)
        w = np.ones(len(Y)) if block.weight is None else block.weight
        score = (residual * w[:, None]).T @ Y
        information = self._information(Y, p, w) if self.information else None
        meat = self._meat(Y, residual, w) if self.meat else None
        return Look(float(w @ log_p), score, information, meat)

    def _information(self, Y: Array, p: Array, w: Array) -> Array:
        m, D = p.shape[1], Y.shape[1]
        total = np.empty((m * D, m * D))
        first = 1.0 - p.sum(axis=1)
        for a in range(m):
            for b in range(a, m):
                if a == b:
                    rest = first + p.sum(axis=1) - p[:, a] if m > 1 else np.maximum(first, 0.0)
                    curve = w * p[:, a] * rest
                else:
                    curve = -w * p[:, a] * p[:, b]
                if a == b:
                    root = np.sqrt(np.maximum(curve, 0.0))[:, None] * Y
                    part = root.T @ root
                else:
                    part = (Y * curve[:, None]).T @ Y
                total[a * D : (a + 1) * D, b * D : (b + 1) * D] = part
                total[b * D : (b + 1) * D, a * D : (a + 1) * D] = part.T
        return total

    @staticmethod
    def _meat(Y: Array, residual: Array, w: Array) -> Array:
        rows = (residual[:, :, None] * Y[:, None, :]).reshape(len(Y), -1) * np.sqrt(w)[:, None]
        return np.asarray(rows.T @ rows)


@dataclass(frozen=True)
class Likelihood:
    """ℓ(θ) of rows with class codes."""

    settled: ClassVar[float] = 1e-13  # after a step with this decrement the next of Newton's gains nothing

    blocks: Any
    n_classes: int
    center: Array
    scale: Array
    problem: Any = None  # the same rows as the solver sees them, where they are many: its looks are faster

    @property
    def n_parameters(self) -> int:
        return (self.n_classes - 1) * (len(self.center) + 1)

    def look(self, theta: Array, *, information: bool = True, meat: bool = False) -> Look:
        if self.n_parameters > MOST_PARAMETERS:
            raise DataError(
                f"The information matrix of {self.n_parameters} parameters is too large to invert; "
                f"standard errors are given for up to {MOST_PARAMETERS}."
            )
        if self.problem is not None and not meat:
            return self._fast(theta, information)
        result: Look = self.blocks.reduce(Kernel(theta, self.center, self.scale, information, meat))
        return result

    def _fast(self, theta: Array, information: bool) -> Look:
        """The look of the solver: mean losses in the same coordinates, for K classes with a vector for each."""
        many = self.n_classes > 2
        A = np.c_[np.zeros(theta.shape[1]), theta.T] if many else theta.T
        with single_threaded_blas():
            look = self.problem.look(np.ascontiguousarray(A), hessian=information)
        total, first = self.problem.total, theta.shape[1] if many else 0
        found = None if look.hessian is None else look.hessian[first:, first:] * total
        return Look(-look.value * total, -look.gradient[:, int(many) :].T * total, found, None)

    def from_raw(self, A: Array) -> Array:
        """θ (K−1, 1+d) from weights (1 + d, K) or, two classes, (1 + d, 1) in the units of X."""
        raw = (A if A.shape[1] == 1 else A[:, 1:] - A[:, :1]).T
        theta = np.empty_like(raw)
        theta[:, 1:] = raw[:, 1:] * self.scale
        shift = raw[:, 1:].astype(np.longdouble) @ self.center.astype(np.longdouble)
        theta[:, 0] = np.asarray(raw[:, 0] + shift, dtype=np.float64)
        return theta

    def to_raw(self) -> Array:
        """M (1+d, 1+d) with raw = M θ, class by class."""
        D = len(self.center) + 1
        M = np.zeros((D, D))
        M[0, 0] = 1.0
        M[np.arange(1, D), np.arange(1, D)] = 1.0 / self.scale
        M[0, 1:] = -self.center / self.scale
        return M

    def maximise(self, theta: Array, fixed: Array | None = None, ridge: Array | None = None) -> tuple[Array, Look]:
        """Newton with step-halving from θ over the parameters that are not ``fixed`` (a mask over θ)."""
        free = np.ones(theta.size, dtype=bool) if fixed is None else ~fixed.ravel()
        penalty = np.zeros(theta.size) if ridge is None else ridge.ravel()
        look = self.look(theta)
        value = look.value - 0.5 * float(penalty @ theta.ravel() ** 2)
        for _ in range(100):
            g = (look.score.ravel() - penalty * theta.ravel())[free]
            assert look.information is not None
            H = look.information[np.ix_(free, free)] + np.diag(penalty[free])
            step = np.zeros(theta.size)
            step[free] = solve_scaled(H, g)
            decrement = float(step[free] @ g)
            if decrement <= 1e-26 * max(abs(value), 1.0):
                break
            length = 1.0
            while True:
                trial = theta + length * step.reshape(theta.shape)
                after = self.look(trial)
                gained = after.value - 0.5 * float(penalty @ trial.ravel() ** 2)
                if gained >= value - 1e-14 * abs(value) or length < 1e-8:
                    break
                length /= 2
            theta, look, value = trial, after, gained
            if decrement <= self.settled * max(abs(value), 1.0):
                break
        return theta, look


def solve_scaled(H: Array, b: Array) -> Array:
    """H⁻¹ b for a symmetric positive semi-definite H, scaled to a unit diagonal first."""
    scale = np.sqrt(np.maximum(np.diagonal(H), 1e-300))
    R = H / scale / scale[:, None]
    try:
        L = np.linalg.cholesky(R)
        return np.asarray(np.linalg.solve(L.T, np.linalg.solve(L, b / scale)) / scale)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(R, b / scale, rcond=1e-12)[0] / scale)


def invert_scaled(H: Array) -> Array:
    """H⁻¹, or its pseudo-inverse, through a unit diagonal."""
    scale = np.sqrt(np.maximum(np.diagonal(H), 1e-300))
    R = H / scale / scale[:, None]
    try:
        inverse = np.linalg.inv(np.linalg.cholesky(R))
        return np.asarray(inverse.T @ inverse / scale / scale[:, None])
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(R, hermitian=True, rcond=1e-12) / scale / scale[:, None])


def likelihood(blocks: Any, n_classes: int) -> Likelihood:
    """The likelihood with columns centred and scaled by the rows' own mean and deviation; many rows: those of some."""
    from discriminant.gaussian.moments import class_moments
    from discriminant.optimize.logistic import LogisticProblem

    problem = LogisticProblem(blocks, n_classes)
    if problem.values >= MANY_VALUES and not problem.sparse:
        problem = problem.with_units()
        center = np.zeros(blocks.n_features) if problem.center is None else problem.center
        return Likelihood(blocks, n_classes, center, problem.units[1:, 0], problem)
    one = type(blocks)(blocks.rows, np.zeros(blocks.n_rows, dtype=np.uint8), blocks.weight)
    moments = class_moments(one, 1, diagonal=True)
    deviation = np.sqrt(moments.squares() / moments.total) * moments.unit
    center = moments.class_means[0]
    return Likelihood(blocks, n_classes, center, np.where(deviation > 0, deviation, 1.0))
