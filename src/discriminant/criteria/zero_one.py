"""The count of errors itself: ℓ = 1 where tz ≤ b, else 0.  Piecewise constant, so no gradient says which way to go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discriminant.criteria.pointwise import Margin, documented, like
from discriminant.protocols import Array, Oracle


@documented
@dataclass(frozen=True)
class ZeroOne(Margin):
    """ℓ = 1(tz ≤ b), for t = ±1: the count of errors itself.

    Piecewise constant, so that there is no gradient to follow; ``Annealing`` and ``MixedInteger`` minimise it.

    Parameters
    ----------
    margin : float, default=0.0
        b ≥ 0.

    See Also
    --------
    discriminant.MinimumErrorClassifier : The method that it belongs to.

    >>> ZeroOne().value(np.array([[1.0], [1.0], [-1.0]]), np.array([[2.0], [0.0], [2.0]])).ravel()
    array([0., 1., 1.])
    """

    margin: float = 0.0
    oracles: ClassVar[Oracle] = Oracle.VALUE | Oracle.MARGIN
    convex: ClassVar[bool] = False

    def value(self, t: Array, z: Array) -> Array:
        return (like(t, z) * z <= self.margin).astype(z.dtype)
