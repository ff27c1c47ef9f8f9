"""Jeffreys' prior as a penalty (Firth 1993): −½ ln det I(A) / Σw, with I(A) = Yᵗ diag(w ℓ'') Y.

It takes the first-order bias out of logistic regression and keeps the weights finite on separable data.  It depends
on the data through the information matrix I, so that the objective, which can form it, computes value and gradient:

    ∂/∂a_j of −½ ln det I  =  −½ Σ_i w_i ℓ'''(z_i) (y_i' I⁻¹ y_i) y_ij,

which for the logistic criterion is Firth's Σ h_i (p_i − ½) y_ij with leverages h_i.  Unlike the other penalties it
reaches the intercept too, since the information does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discriminant.errors import MismatchError
from discriminant.penalties.weight import WeightPenalty, documented
from discriminant.protocols import Array, Oracle

BIAS_REDUCED = ("jeffreys", "flic", "flac")  # LogisticRegression's penalties: Firth's fit, and its two corrections


@documented
@dataclass(frozen=True)
class Jeffreys(WeightPenalty):
    """−τ/2 · ln det I(A) / Σw, with strength τ = 1 for Jeffreys' own prior (Firth 1993).

    It takes the first-order bias out of logistic regression and keeps the weights finite on separable data.  It depends
    on the data through the information matrix I, so that only an objective that holds the data can evaluate it: asked
    with weights alone, every method raises ``MismatchError``.

    Parameters
    ----------
    strength : float, default=1.0
        τ ≥ 0.
    factors : None, default=None
        Jeffreys' prior has none.

    See Also
    --------
    discriminant.LogisticRegression : With ``penalty="jeffreys"`` it minimises the penalised likelihood.

    >>> Jeffreys().needs_information
    True
    """

    strength: float = 1.0
    factors: tuple[float, ...] | None = None
    oracles: ClassVar[Oracle] = Oracle.VALUE | Oracle.GRADIENT | Oracle.CURVATURE
    needs_information: ClassVar[bool] = True

    def value(self, A: Array) -> float:
        raise self._refusal()

    def gradient(self, A: Array) -> Array:
        raise self._refusal()

    def curvature(self, A: Array) -> Array:
        raise self._refusal()

    def prox(self, A: Array, step: float) -> Array:
        raise self._refusal()

    def conjugate(self, U: Array) -> float:
        raise self._refusal()

    def _refusal(self) -> MismatchError:
        return MismatchError(
            "Penalty Jeffreys depends on the data through the information matrix and cannot be asked with weights "
            "alone; ask an objective that holds it."
        )
