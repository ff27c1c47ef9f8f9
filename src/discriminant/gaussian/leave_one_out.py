"""What each row's scores would be had it not been there: closed form, one pass, no refit.

Taking a row x of class k with weight w away moves its own mean and takes a rank-one piece off the scatter:

    m_k' = m_k − w/(W_k − w) r,    S' = S − c r rᵗ,    r = x − m_k,    c = w W_k / (W_k − w).

In whitened coordinates S = N·I, so with h = c‖r‖²/N (Sherman and Morrison)

    S'⁻¹ = (1/N) [I + (c/N) r rᵗ / (1 − h)],        ln|S'| = ln|S| + ln(1 − h).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discriminant.errors import SingularCovarianceError
from discriminant.gaussian.whiten import Whitened
from discriminant.protocols import Array

SINGULAR = 1e-10  # 1 − h below this: the row alone spans its direction


@dataclass(frozen=True)
class LinearDeletion:
    """Scores (n, K) of rows under the linear discriminant that was learned without them."""

    whitened: Whitened
    weight: Array  # (K,)
    divisor: float  # N: Σ = S_W / N
    priors: Array | None  # given, or None: class frequencies without the row

    def __call__(self, values: Array, codes: Array, weight: Array) -> Array:
        v = (values - self.whitened.origin) @ self.whitened.matrix
        r = v - self.whitened.means[codes]
        own, rest = self.weight[codes], self.weight[codes] - weight
        gone = rest <= 1e-12 * own  # the last row of its class
        rest = np.where(gone, 1.0, rest)
        c = np.where(gone, 0.0, weight * own / rest)
        length = np.einsum("ij,ij->i", r, r)
        slack = 1.0 - c * length / self.divisor
        alone = slack < SINGULAR
        gain = c / self.divisor / np.where(alone, 1.0, slack)
        drop = np.zeros_like(r)
        drop[alone] = self._dropped(r[alone])
        ratio = (self.divisor - weight) / self.divisor
        scores = np.empty((len(v), len(self.weight)))
        rows = np.arange(len(v))
        for j in range(len(self.weight)):
            z = v - self.whitened.means[j]
            z += np.where((codes == j) & ~gone, weight / rest, 0.0)[:, None] * r
            z -= np.einsum("ij,ij->i", r, z)[:, None] * drop
            along = np.einsum("ij,ij->i", r, z)
            scores[:, j] = -0.5 * ratio * (np.einsum("ij,ij->i", z, z) + gain * along**2)
        scores += _log_priors(self.priors, self.weight, codes, weight)
        scores[rows[gone], codes[gone]] = -np.inf
        return scores

    def _dropped(self, r: Array) -> Array:
        """(n, r): what r·z takes off z where the rows r alone span n = Wr, which the pseudo-inverse without them drops.

        It makes z orthogonal to n in columns that are standardised as in the fit.
        """
        standard = self.whitened.matrix * self.whitened.deviation[:, None]
        n = r @ standard.T
        return np.asarray(n @ standard / np.einsum("ij,ij->i", n, n)[:, None])


@dataclass(frozen=True)
class QuadraticDeletion:
    """The same for one covariance per class: only the row's own class changes."""

    whitened: list[Whitened]
    weight: Array
    dof: float  # Σ_k = S_k / (W_k − lost)
    priors: Array | None
    classes: Array

    def __call__(self, values: Array, codes: Array, weight: Array) -> Array:
        scores = np.empty((len(values), len(self.weight)))
        for k, one in enumerate(self.whitened):
            z = (values - one.origin) @ one.matrix - one.means[0]
            square = np.einsum("ij,ij->i", z, z)
            scores[:, k] = -0.5 * (square + one.log_determinant)
            mine = np.flatnonzero(codes == k)
            scores[mine, k] = self._own(k, square[mine], weight[mine])
        return np.asarray(scores + _log_priors(self.priors, self.weight, codes, weight))

    def _own(self, k: int, square: Array, weight: Array) -> Array:
        one, own, divisor = self.whitened[k], self.weight[k], self.weight[k] - self.dof
        rest = own - weight
        with np.errstate(divide="ignore", invalid="ignore"):
            c = weight * own / rest
            slack = 1.0 - c * square / divisor
        if not (slack > SINGULAR).all():
            raise SingularCovarianceError(
                f"Without one of its rows the covariance matrix of class {self.classes[k]} is not full rank, so that "
                "there is no leave-one-out density for that row. Drop columns or use shrinkage."
            )
        stretch = own / rest  # x − m_k' = (W_k / (W_k − w)) r
        form = (divisor - weight) / divisor * stretch**2 * (square + c / divisor * square**2 / slack)
        log_determinant = one.log_determinant + one.rank * np.log(divisor / (divisor - weight)) + np.log(slack)
        return np.asarray(-0.5 * (form + log_determinant))


def _log_priors(given: Array | None, total: Array, codes: Array, weight: Array) -> Array:
    """ln P_k (n, K) of each row: given, or the class frequencies without it."""
    if given is not None:
        return np.log(given)
    left = np.tile(total, (len(codes), 1))
    left[np.arange(len(codes)), codes] -= weight
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(np.maximum(left, 0.0)) - np.log(left.sum(axis=1, keepdims=True)))
