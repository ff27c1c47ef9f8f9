"""The logistic criterion: cross-entropy of one sigmoid output, for targets t in [0, 1].

    ℓ = ln(1+e^z) − tz,    ℓ' = σ(z) − t,    ℓ'' = σ(1−σ),    ℓ''' = σ(1−σ)(1−2σ),
    ℓ*(u) = p ln p + (1−p) ln(1−p)  with p = u + t in [0, 1].

The gradient of the mean loss is (1/n) Σ (p−t) y and its Hessian +(1/n) Σ p(1−p) y y' (Alpaydin 10.7, PRML 4.3.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discriminant.criteria.pointwise import Probability, documented, like
from discriminant.decision.posteriors import sigmoid
from discriminant.protocols import Array, Oracle


@documented
@dataclass(frozen=True)
class Logistic(Probability):
    """ℓ = ln(1+e^z) − tz, the cross-entropy of one sigmoid output.

    For targets t in [0, 1]: ℓ' = σ(z) − t and ℓ'' = σ(1−σ).  The weights that minimise it are the maximum-likelihood
    estimate of the logistic model (PRML 4.3.2, Alpaydin 10.7).

    See Also
    --------
    Softmax : The same for K classes that exclude each other.
    discriminant.LogisticRegression : The method that it belongs to.

    >>> Logistic().value(np.array([[1.0]]), np.array([[0.0]]))
    array([[0.69314718]])
    """

    kind: ClassVar[int | None] = 1
    oracles: ClassVar[Oracle] = Oracle.VALUE | Oracle.GRADIENT | Oracle.CURVATURE | Oracle.CONJUGATE
    recedes: ClassVar[bool] = True
    third_known: ClassVar[bool] = True

    def value(self, t: Array, z: Array) -> Array:
        return self.value_and_gradient(t, z)[0]

    def gradient(self, t: Array, z: Array) -> Array:
        return _slope(like(t, z), z, np.exp(-np.abs(z)), np)

    def curvature(self, t: Array, z: Array, xp: Any = np) -> Array:
        """ℓ'' = σ(1−σ), in the library of z."""
        tail = xp.exp(-xp.abs(z))
        return tail / (1 + tail) ** 2  # type: ignore[no-any-return]

    def third(self, t: Array, z: Array) -> Array:
        tail = np.exp(-np.abs(z))
        return np.asarray(tail / np.square(1 + tail) * (tail - 1) / (1 + tail) * np.sign(z))

    def value_and_gradient(self, t: Array, z: Array, xp: Any = np) -> tuple[Array, Array]:
        """ℓ and ℓ' from one exponential, in the library of z."""
        t, tail = like(t, z) if xp is np else t, xp.exp(-xp.abs(z))
        return xp.clip(z, 0, None) - t * z + xp.log1p(tail), _slope(t, z, tail, xp)

    def conjugate(self, t: Array, u: Array) -> Array:
        p = u + like(t, u)
        return entropy_term(p) + entropy_term(1 - p)

    def probability(self, z: Array) -> Array:
        """σ(z), the posterior of the positive class."""
        return sigmoid(z)


@documented
def softplus(z: Array) -> Array:
    """ln(1+e^z), the negative logarithm of σ(−z).

    >>> softplus(np.array([-1e4, 0.0, 1e4]))
    array([0.00000000e+00, 6.93147181e-01, 1.00000000e+04])
    """
    return np.logaddexp(0, z)


def entropy_term(p: Array) -> Array:
    """p ln p, with its limit 0 at p = 0 and +inf below: what the conjugates of cross-entropies are made of."""
    return np.where(p > 0, p * np.log(np.where(p > 0, p, 1)), np.where(p < 0, np.inf, 0))


def _slope(t: Array, z: Array, tail: Array, xp: Any) -> Array:
    """σ − t, written (1−t)σ − t(1−σ), so that hard labels keep all digits where σ is next to its target."""
    right = z >= 0
    return xp.where(right, 1 - t - t * tail, (1 - t) * tail - t) / (1 + tail)  # type: ignore[no-any-return]
