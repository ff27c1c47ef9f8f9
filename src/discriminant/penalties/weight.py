"""What every penalty shares: λΩ(A) on the rows below the intercept, which is always free.

    J(A) = Σ w ℓ / Σ w + λ Ω(A)

Conversions to other scales, n being Σ w: scikit-learn's ``C`` is 1/(λ n); the ``alpha`` of its SGD classes and
glmnet's λ are this λ.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from discriminant.arguments import NOT_NEGATIVE, POSITIVE, checked, number, optional, some_numbers
from discriminant.docstrings import Entries
from discriminant.errors import MismatchError, ParameterError
from discriminant.protocols import Array, Oracle

documented = Entries("""
A : ndarray of shape (1 + d, q)
    Weights, the intercepts in row 0.
strength : float
    λ, not negative, on the scale of the mean loss.
factors : tuple of d floats or None
    f_j ≥ 0, which scale the penalty feature by feature; None: all one.
""").documented


FACTORS = optional(
    some_numbers(
        "a tuple of finite numbers at least 0", lambda f: f.ndim == 1 and bool((np.isfinite(f) & (f >= 0)).all())
    )
)


@documented
@checked(strength=NOT_NEGATIVE, factors=FACTORS)
class WeightPenalty(ABC):
    """λΩ(A), with its proximal map and its conjugate; ``factors`` scale it feature by feature.

    The abstract base of all penalties.  The intercept row of A is free.

    Attributes
    ----------
    oracles : Oracle
        What the penalty can be asked for.
    needs_information : bool
        Whether Ω depends on the data through the information matrix, as Jeffreys' does.
    strength : float
        λ ≥ 0.
    factors : tuple of floats or None
        f_j ≥ 0; None: all one.

    See Also
    --------
    make_penalty : The penalty of a name.

    >>> from discriminant.penalties import Ridge, WeightPenalty
    >>> isinstance(Ridge(0.1), WeightPenalty)
    True
    """

    oracles: ClassVar[Oracle]
    needs_information: ClassVar[bool] = False  # Ω depends on the data through the information matrix (Jeffreys)
    strength: float
    factors: tuple[float, ...] | None

    @abstractmethod
    def value(self, A: Array) -> float:
        """λΩ(A).

        Returns
        -------
        float
            The penalty.
        """

    def gradient(self, A: Array) -> Array:
        """λ∇Ω(A).

        Returns
        -------
        ndarray of shape (1 + d, q)
            Zero in the intercept row.

        Raises
        ------
        MismatchError
            Where the penalty has no gradient at zero weights.
        """
        raise MismatchError(
            f"Penalty {type(self).__name__} has no gradient where a weight is zero; use an optimizer that takes "
            f"proximal steps, such as ProximalGradient, or the penalty Ridge."
        )

    def curvature(self, A: Array) -> Array:
        """The diagonal of λ∇²Ω(A).

        Returns
        -------
        ndarray of shape (1 + d, q)
            Zero in the intercept row.

        Raises
        ------
        MismatchError
            Where the penalty has no curvature.
        """
        raise MismatchError(
            f"Penalty {type(self).__name__} has no curvature; use an optimizer that takes proximal steps, such as "
            f"ProximalGradient, or the penalty Ridge."
        )

    @abstractmethod
    def prox(self, A: Array, step: float) -> Array:
        """The proximal map, argmin_B ½‖B − A‖² + step·λΩ(B).

        Parameters
        ----------
        step : float
            Length of the step, positive.

        Returns
        -------
        ndarray of shape (1 + d, q)
            The minimising B; its intercepts are those of A.
        """

    @abstractmethod
    def conjugate(self, U: Array) -> float:
        """sup_A ⟨U, A⟩ − λΩ(A) over the rows below the intercept.

        Parameters
        ----------
        U : ndarray of shape (1 + d, q)
            Dual variables of the weights; row 0 is not read.

        Returns
        -------
        float
            +inf outside of its domain.
        """

    def check(self) -> None:
        """Refuse a strength or factors that make no sense.

        Raises
        ------
        ParameterError
            Where one is negative or not finite.
        """
        self.__post_init__()  # type: ignore[attr-defined]

    def scale(self, A: Array) -> Array:
        """λ times the factor of each feature.

        Returns
        -------
        ndarray of shape (d, 1)
            λ f_j.

        Raises
        ------
        ParameterError
            Where the number of factors is not that of the features.
        """
        if self.factors is None:
            return np.full((A.shape[0] - 1, 1), self.strength)
        if len(self.factors) != A.shape[0] - 1:
            raise ParameterError(
                f"Penalty {type(self).__name__} has {len(self.factors)} factors; there are {A.shape[0] - 1} features."
            )
        return self.strength * np.asarray(self.factors)[:, None]


def below_intercept(A: Array, rows: Array) -> Array:
    """(1+d, q) with ``rows`` below, or what stands for all of them, and zeros in the intercept row."""
    found = np.zeros(A.shape, rows.dtype)
    found[1:] = rows
    return found


def keep_intercept(A: Array, rows: Array) -> Array:
    """(1+d, q) with ``rows`` below and the intercepts of A."""
    return np.vstack([A[:1], rows])


@documented
def soft_threshold(a: Array, level: Array) -> Array:
    """sign(a)·max(|a| − level, 0), the proximal map of the absolute value.

    Parameters
    ----------
    a : ndarray
        Numbers of any shape.
    level : ndarray or float
        By how much each moves towards zero.

    Returns
    -------
    ndarray
        Shaped as ``a``.

    >>> soft_threshold(np.array([-3.0, 0.5]), 1.0)
    array([-2.,  0.])
    """
    return np.asarray(np.sign(a) * np.maximum(np.abs(a) - level, 0))


@documented
@checked(C=number(0, open_="low"), total_weight=POSITIVE)
def strength_from_C(C: float, total_weight: float) -> float:
    """λ = 1/(C Σw): the strength at which ½‖a‖² weighs as in scikit-learn's C Σ w ℓ + ½‖a‖².

    Parameters
    ----------
    C : float
        scikit-learn's inverse strength, positive; inf: no penalty.
    total_weight : float
        Σw, the number of rows where they have no weights.

    Returns
    -------
    float
        λ.

    Raises
    ------
    ParameterError
        Where C is not positive.

    >>> strength_from_C(0.5, 100)
    0.02
    """
    return 0.0 if np.isinf(C) else 1.0 / (C * total_weight)
