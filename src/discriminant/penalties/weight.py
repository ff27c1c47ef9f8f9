"""What every penalty shares: λΩ(A) on the rows below the intercept, which is always free.

    J(A) = Σ w ℓ / Σ w + λ Ω(A)

Conversions to other scales, n being Σ w: scikit-learn's ``C`` is 1/(λ n); the ``alpha`` of its SGD classes and
glmnet's λ are this λ.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from discriminant.errors import MismatchError, ParameterError
from discriminant.protocols import Array, Oracle


class WeightPenalty(ABC):
    """λΩ(A), with its proximal map and its conjugate; ``factors`` scale it feature by feature."""

    oracles: ClassVar[Oracle]
    needs_information: ClassVar[bool] = False  # Ω depends on the data through the information matrix (Jeffreys)
    strength: float
    factors: tuple[float, ...] | None

    @abstractmethod
    def value(self, A: Array) -> float:
        """λΩ(A)."""

    def gradient(self, A: Array) -> Array:
        """λ∇Ω(A), shape (1+d, q), zero in the intercept row."""
        raise MismatchError(
            f"Penalty {type(self).__name__} has no gradient where a weight is zero; use an optimizer that takes "
            f"proximal steps, such as ProximalGradient, or the penalty Ridge."
        )

    def curvature(self, A: Array) -> Array:
        """The diagonal of λ∇²Ω(A), shape (1+d, q)."""
        raise MismatchError(
            f"Penalty {type(self).__name__} has no curvature; use an optimizer that takes proximal steps, such as "
            f"ProximalGradient, or the penalty Ridge."
        )

    @abstractmethod
    def prox(self, A: Array, step: float) -> Array:
        """argmin_B ½‖B − A‖² + step·λΩ(B)."""

    @abstractmethod
    def conjugate(self, U: Array) -> float:
        """sup_A ⟨U, A⟩ − λΩ(A) over the rows below the intercept; +inf outside its domain."""

    def check(self) -> None:
        """Refuse a strength or factors that make no sense."""
        if not (np.isfinite(self.strength) and self.strength >= 0):
            raise ParameterError(
                f"Penalty {type(self).__name__} needs a finite strength of at least 0; it was {self.strength!r}."
            )
        if self.factors is not None and not (np.isfinite(self.factors).all() and np.min(self.factors) >= 0):
            raise ParameterError(f"Penalty {type(self).__name__} needs factors of at least 0; it has {self.factors}.")

    def scale(self, A: Array) -> Array:
        """λ times the factor of each feature, shape (d, 1)."""
        if self.factors is None:
            return np.full((A.shape[0] - 1, 1), self.strength)
        if len(self.factors) != A.shape[0] - 1:
            raise ParameterError(
                f"Penalty {type(self).__name__} has {len(self.factors)} factors; there are {A.shape[0] - 1} features."
            )
        return self.strength * np.asarray(self.factors)[:, None]


def below_intercept(A: Array, rows: Array) -> Array:
    """(1+d, q) with ``rows`` below and zeros in the intercept row."""
    return np.vstack([np.zeros((1, A.shape[1])), rows])


def keep_intercept(A: Array, rows: Array) -> Array:
    """(1+d, q) with ``rows`` below and the intercepts of A."""
    return np.vstack([A[:1], rows])


def soft_threshold(a: Array, level: Array) -> Array:
    """sign(a)·max(|a| − level, 0)."""
    return np.asarray(np.sign(a) * np.maximum(np.abs(a) - level, 0))


def strength_from_C(C: float, total_weight: float) -> float:
    """λ = 1/(C Σw): the strength at which ½‖a‖² weighs as in scikit-learn's C Σ w ℓ + ½‖a‖².

    >>> strength_from_C(0.5, 100)
    0.02
    """
    if not C > 0:
        raise ParameterError(f"C must be positive; it was {C!r}. A large C means little regularisation.")
    return 0.0 if np.isinf(C) else 1.0 / (C * total_weight)
