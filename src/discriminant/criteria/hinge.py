"""The hinge and its square: the perceptron and quadratic criteria at margin one, under the names of support vectors.

hinge          ℓ = max(0, 1 − tz)
squared hinge  ℓ = max(0, 1 − tz)²
"""

from __future__ import annotations

from dataclasses import dataclass

from discriminant.criteria.perceptron import Perceptron, Quadratic
from discriminant.criteria.pointwise import documented


@documented
@dataclass(frozen=True)
class Hinge(Perceptron):
    """ℓ = max(0, b − tz) with b = 1: the hinge loss of the support vector machine.

    The perceptron criterion with a margin, for t = ±1.

    Parameters
    ----------
    margin : float, default=1.0
        b > 0.

    See Also
    --------
    discriminant.LinearSVC : The method that it belongs to.

    >>> Hinge().value(np.array([[1.0], [-1.0]]), np.array([[0.5], [0.5]])).ravel()
    array([0.5, 1.5])
    """

    margin: float = 1.0


@documented
@dataclass(frozen=True)
class SquaredHinge(Quadratic):
    """ℓ = max(0, b − tz)² with b = 1: the squared hinge loss.

    Once differentiable, so that Newton and L-BFGS minimise it.

    Parameters
    ----------
    margin : float, default=1.0
        b > 0.

    See Also
    --------
    discriminant.LinearSVC : The method that it belongs to.

    >>> SquaredHinge().value(np.array([[1.0], [-1.0]]), np.array([[0.5], [0.5]])).ravel()
    array([0.25, 2.25])
    """

    margin: float = 1.0
