"""Discriminants of Gaussian classes, in whitened coordinates v = Wᵗ(x − origin), u_k = Wᵗ(m_k − origin).

Linear (one covariance):     g_k(x) = (v − ū)·(u_k − ū) − ½‖u_k − ū‖² + ln P_k,        ū = Σ_k P_k u_k
Quadratic (one for each):    g_k(x) = −½‖v_k − u_k‖² − ½ ln|Σ_k| + ln P_k,             v_k = W_kᵗ(x − origin)

Subtracting ū changes all g_k by the same amount and keeps their digits where the classes lie far from the origin.
The axes of the linear discriminants are the singular vectors of the whitened means: Fisher's directions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discriminant.gaussian.covariance import Axes
from discriminant.gaussian.moments import ClassMoments
from discriminant.gaussian.whiten import Whitened
from discriminant.protocols import Array
from discriminant.shown import COLUMNS, Shown

STRIP_VALUES, LEAST_STRIP = 65_536, 64  # of whitened rows, which stay in the cache


def linear_weights(whitened: Whitened, priors: Array, *, centred: bool = True) -> Array:
    """A (1 + d, K): intercepts at the origin in row 0, then w_k = Σ⁻¹(m_k − m̄), or the books' Σ⁻¹m_k."""
    centre = priors @ whitened.means if centred else -(whitened.origin @ whitened.matrix)
    u = whitened.means - centre
    intercept = np.log(priors) - 0.5 * np.einsum("kr,kr->k", u, u) - u @ centre
    return np.vstack([intercept, whitened.matrix @ u.T])


@dataclass(frozen=True, repr=False)
class Directions(Shown):
    """Fisher's axes: orthonormal in the metric of Σ, in the order of the between-class variance along them."""

    matrix: Array  # (d, m)
    variances: Array  # (m,) between-class variance Σ_k P_k (a·(m_k − m̄))² along each axis
    origin: Array  # (d,)
    centre: Array  # (m,): the overall mean on the axes, relative to the origin
    means: Array  # (K, m): the class means on the axes, relative to the origin

    @property
    def shares(self) -> Array:
        """The share of each axis in the between-class variance."""
        total = self.variances.sum()
        return self.variances / total if total > 0 else self.variances

    def _shown(self) -> tuple[str, dict[str, Any], list[str], list[str]]:
        d, m = self.matrix.shape
        table = {"column": np.arange(d), **{f"axis {i + 1}": axis for i, axis in enumerate(self.matrix.T)}}
        shares = ", ".join(f"{share:.1%}" for share in self.shares[:COLUMNS])
        below = [f"shares of the variance between classes: {shares}"] * bool(m)
        return f"{m} ax{'i' if m == 1 else 'e'}s of {d} columns", table, [], below


def fisher_directions(whitened: Whitened, priors: Array, tol: float = 1e-12) -> Directions:
    """At most K − 1 axes a_1, a_2, … that maximise aᵗS_B a / aᵗΣ a in turn."""
    centre = priors @ whitened.means
    u = (whitened.means - centre) * np.sqrt(priors)[:, None]
    _, singular, axes = np.linalg.svd(u, full_matrices=False)
    most = min(len(priors) - 1, whitened.rank)
    keep = distinct_axes(singular[:most], whitened.means, tol)
    axes = axes[:keep]
    matrix = whitened.matrix @ axes.T
    # A singular vector's sign is arbitrary: the largest coefficient (on standardised columns) is made positive.
    if keep:
        standard = matrix * whitened.deviation[:, None]
        signs = np.sign(standard[np.abs(standard).argmax(axis=0), np.arange(keep)])
        matrix, axes = matrix * signs, axes * signs[:, None]
    return Directions(matrix, singular[:keep] ** 2, whitened.origin, centre @ axes.T, whitened.means @ axes.T)


def distinct_axes(singular: Array, means: Array, tol: float) -> int:
    """How many axes of the means (K, r) are neither rounding beside the first one nor beside the means themselves.

    Products of r terms round by rε‖m‖ at most, so that along an axis that is distinct the means of two classes differ.
    """
    rounding = 4 * np.finfo(float).eps * means.shape[1] * np.linalg.norm(means)
    return int(np.count_nonzero(singular > max(tol * singular.max(initial=0.0), rounding)))


@dataclass(frozen=True)
class QuadraticScores:
    """g_k for classes that each have a covariance of their own."""

    matrices: Array  # (K, d, r) W_k
    means: Array  # (K, r) u_k
    constants: Array  # (K,) ln P_k − ½ ln|Σ_k|
    origin: Array  # (d,)

    def __call__(self, values: Array) -> Array:
        """(n, K) scores of the rows of a dense block."""
        K, _, r = self.matrices.shape
        out, means = np.empty((len(values), K)), self.means.reshape(-1)
        strip = max(LEAST_STRIP, STRIP_VALUES // (K * r + 1))
        for start in range(0, len(values), strip):
            part = slice(start, start + strip)
            v = (values[part] - self.origin) @ self._side_by_side
            v -= means
            v = v.reshape(-1, r)
            np.einsum("ij,ij->i", v, v, out=out[part].reshape(-1))
        out *= -0.5
        out += self.constants
        return out

    @cached_property
    def _side_by_side(self) -> Array:
        """[W_1 … W_K], (d, K r): all classes in one product."""
        K, d, r = self.matrices.shape
        return np.ascontiguousarray(self.matrices.transpose(1, 0, 2).reshape(d, K * r))


@dataclass(frozen=True, eq=False)
class AxisScores:
    """The same for covariances that are a diagonal Δ_k beyond few axes Q_k: no d × d matrix is formed.

    With t = Δ_k^−½ (x − m_k) and v = Q_kᵗ t:    (x − m_k)ᵗ Σ_k⁻¹ (x − m_k) = ‖v T_k‖² + ‖t − Q_k v‖².
    """

    centres: Array  # (K, d) m_k − origin
    inverses: Array  # (K, d) Δ_k^−½
    bases: list[Array]  # Q_k (d, r_k)
    turns: list[Array]  # T_k (r_k, r_k)
    constants: Array  # (K,) ln P_k − ½ ln|Σ_k|
    origin: Array  # (d,)

    def __call__(self, values: Array) -> Array:
        """(n, K) scores of the rows of a dense block."""
        centred = values - self.origin
        out = np.empty((len(values), len(self.constants)))
        parts = zip(self.centres, self.inverses, self.bases, self.turns, strict=True)
        for k, (centre, inverse, Q, T) in enumerate(parts):
            t = (centred - centre) * inverse
            v = t @ Q
            t -= v @ Q.T
            v = v @ T
            out[:, k] = self.constants[k] - 0.5 * (np.einsum("ij,ij->i", v, v) + np.einsum("ij,ij->i", t, t))
        return out

    @cached_property
    def matrices(self) -> Array:
        """(K, d, d) W_k, for those who want them: Δ_k^−½ (I − Q_k Q_kᵗ + Q_k T_k Q_kᵗ)."""
        eye = np.eye(len(self.origin))
        parts = zip(self.inverses, self.bases, self.turns, strict=True)
        return np.stack([inverse[:, None] * (eye + Q @ (T - np.eye(len(T))) @ Q.T) for inverse, Q, T in parts])

    @property
    def means(self) -> Array:
        """(K, d) u_k."""
        return np.asarray(np.einsum("kd,kdr->kr", self.centres, self.matrices))


def axis_scores(axes: list[Axes], moments: ClassMoments, priors: Array) -> AxisScores:
    """The scores of classes each of which has a covariance with axes."""
    unit = moments.unit
    return AxisScores(
        moments.means * unit,
        np.stack([one.inverse / unit for one in axes]),
        [np.ascontiguousarray(one.basis) for one in axes],
        [one.turn for one in axes],
        np.log(priors) - 0.5 * np.array([one.log_determinant for one in axes]),
        moments.origin,
    )


def quadratic_scores(whitened: list[Whitened], priors: Array) -> QuadraticScores:
    """The scores of classes whitened one by one (each Whitened holds one mean)."""
    constants = np.log(priors) - 0.5 * np.array([one.log_determinant for one in whitened])
    return QuadraticScores(
        np.stack([one.matrix for one in whitened]),
        np.stack([one.means[0] for one in whitened]),
        constants,
        whitened[0].origin,
    )
