"""The softmax criterion: cross-entropy of K outputs that compete, for targets t ≥ 0 that sum to one in a row.

    ℓ = ln Σ_k e^{z_k} − Σ_k t_k z_k,    ∂ℓ/∂z = p − t,    ∂²ℓ/∂z² = diag(p) − p p',    p = softmax(z),
    ℓ*(u) = Σ_k p_k ln p_k  with p = u + t on the simplex.

The Hessian carries a plus sign and is positive semi-definite.  With ``reference=True`` the last class has no output
of its own: its score is held at zero, which makes the weights unique and equals one sigmoid when K = 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discriminant.arguments import BOOLEAN, checked
from discriminant.criteria.logistic import entropy_term
from discriminant.criteria.pointwise import Probability, documented, like, outdone
from discriminant.decision.posteriors import logsumexp
from discriminant.errors import MismatchError
from discriminant.protocols import Array, Oracle


@documented
@dataclass(frozen=True)
@checked(reference=BOOLEAN)
class Softmax(Probability):
    """ℓ = ln Σ_k e^{z_k} − t·z, one number a row: the cross-entropy of K outputs that compete.

    ∂ℓ/∂z = p − t and ∂²ℓ/∂z² = diag(p) − p pᵗ with p = softmax(z), for targets t ≥ 0 that sum to one in each row
    (PRML 4.3.4, Alpaydin 10.7.2).

    Parameters
    ----------
    reference : bool, default=False
        The last class has no output of its own: its score is held at zero, which makes the weights unique and
        equals one sigmoid where K = 2.

    See Also
    --------
    Logistic : The two-class form.

    >>> Softmax().value(np.array([[1.0, 0.0]]), np.zeros((1, 2)))
    array([[0.69314718]])
    """

    reference: bool = False
    oracles: ClassVar[Oracle] = Oracle.VALUE | Oracle.GRADIENT | Oracle.CURVATURE | Oracle.CONJUGATE
    coupled: ClassVar[bool] = True
    recedes: ClassVar[bool] = True

    @property
    def free_sum(self) -> bool:  # type: ignore[override]
        """Unless the silent class holds the others at zero."""
        return not self.reference

    @property
    def kind(self) -> int | None:  # type: ignore[override]
        """Compiled where every class has an output."""
        return None if self.reference else 7

    def value(self, t: Array, z: Array) -> Array:
        return self.value_and_gradient(t, z)[0]

    def gradient(self, t: Array, z: Array) -> Array:
        return self.value_and_gradient(t, z)[1]

    def value_and_gradient(self, t: Array, z: Array) -> tuple[Array, Array]:
        # Where a row is decided, ln Σ e^z and p − 1 come from the other outputs alone, so that no digits cancel.
        t, z = self._all(like(t, z), 1 - t.sum(axis=1)), self._all(z)
        shifted, power, total = _powers(z)
        others = power.copy()
        np.put_along_axis(others, z.argmax(axis=1)[:, None], 0, axis=1)
        value = np.log1p(others.sum(axis=1, keepdims=True)) - _dot(t, shifted)
        own = np.where(t == 1, 0, power).sum(axis=1, keepdims=True)
        return value, self._speaking(np.where(t == 1, -own / total, power / total - t))

    def curvature(self, t: Array, z: Array) -> Array:
        p = self.probability(z)
        second = -p[:, :, None] * p[:, None, :]
        diagonal = np.arange(p.shape[1])
        second[:, diagonal, diagonal] += p
        return second

    def curvature_root(self, t: Array, z: Array) -> Array:
        # √p_k (e_k − p) for k = 1…K; 1 − p_k is the sum of the others, so that no digits cancel.
        _, power, total = _powers(self._all(z))
        p = power / total
        roots = -np.sqrt(p)[:, :, None] * p[:, None, :]
        diagonal = np.arange(p.shape[1])
        rest = np.stack([np.delete(p, k, axis=1).sum(axis=1) for k in diagonal], axis=1)
        roots[:, diagonal, diagonal] = np.sqrt(p) * rest
        return self._speaking(roots)

    def curvature_product(self, t: Array, z: Array, v: Array) -> Array:
        p = self.probability(z)
        return np.asarray(p * (v - _dot(p, v)))

    def conjugate(self, t: Array, u: Array) -> Array:
        p = u + like(t, u)
        rest = 1 - p.sum(axis=1, keepdims=True)
        close = np.abs(rest) <= 8 * p.shape[1] * np.finfo(p.dtype).eps
        edge = entropy_term(np.where(close, 0, rest)) if self.reference else np.where(close, 0, np.inf)
        return np.asarray(entropy_term(p).sum(axis=1, keepdims=True) + edge)

    def probability(self, z: Array) -> Array:
        """The posteriors of the classes that have an output; with ``reference`` they sum to less than one."""
        _, power, total = _powers(self._all(z))
        return self._speaking(power / total)

    def wrong(self, t: Array, z: Array) -> Array:
        return outdone(self._all(t, 1 - t.sum(axis=1)), self._all(z))

    def check_targets(self, t: Array) -> None:
        super().check_targets(t)
        total = t.sum(axis=1)
        wrong = total > 1 + 1e-6 if self.reference else np.abs(total - 1) > 1e-6
        if wrong.any():
            raise MismatchError(
                f"Criterion Softmax takes targets that sum to {'at most ' if self.reference else ''}1 in each row; "
                f"it was given a row that sums to {total[wrong][0]:g}. Use the coding 'softmax'"
                f"{' with reference=True' if self.reference else ''}, or criterion Logistic for outputs "
                f"that do not exclude each other."
            )

    def _all(self, spoken: Array, silent: Array | float = 0.0) -> Array:
        """What all classes have: the silent one a score of zero."""
        return np.insert(spoken, spoken.shape[1], silent, axis=1) if self.reference else spoken

    def _speaking(self, all_classes: Array) -> Array:
        """What belongs to the classes that have an output."""
        return all_classes[..., :-1] if self.reference else all_classes


@documented
def log_sum_exp(z: Array) -> Array:
    """ln Σ_k e^{z_k} over the last axis, which stays with length one.

    >>> log_sum_exp(np.array([[1e4, 1e4]])).round(4)
    array([[10000.6931]])
    """
    return logsumexp(z, keepdims=True)


def _powers(z: Array) -> tuple[Array, Array, Array]:
    """z less its row maximum, the powers of that, and their sum."""
    shifted = z - z.max(axis=1, keepdims=True)
    power = np.exp(shifted)
    return shifted, power, power.sum(axis=1, keepdims=True)


def _dot(a: Array, b: Array) -> Array:
    return np.asarray(np.einsum("nk,nk->n", a, b))[:, None]
