"""Group lasso: λ Σ_g √|g| ‖A_g‖, which keeps or drops the weights of a group of features together.

Without groups each feature is one, over all outputs: a feature is in the model for every class or for none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discriminant.arguments import FROM_ZERO, Allowed, checked, optional
from discriminant.errors import ParameterError
from discriminant.penalties.weight import WeightPenalty, documented, keep_intercept
from discriminant.protocols import Array, Oracle


def _names_features(groups: Any) -> bool:
    nested = isinstance(groups, list | tuple) and all(isinstance(group, list | tuple) for group in groups)
    return nested and all(FROM_ZERO.holds(feature) for group in groups for feature in group)


@documented
@dataclass(frozen=True)
@checked(groups=optional(Allowed("a tuple of tuples of feature indices", _names_features)))
class Group(WeightPenalty):
    """λ Σ_g √|g| ‖A_g‖₂ over disjoint groups of features, all outputs together; features in no group are free.

    The weights of a group are kept or dropped together.  Without groups each feature is one, over all outputs: a
    feature is in the model for every class or for none.

    Parameters
    ----------
    groups : tuple of tuples of int or None, default=None
        The features of each group, counted from 0; None: each feature is one.
    factors : tuple of floats or None, default=None
        A factor for each group; None: all one.

    Raises
    ------
    ParameterError
        Where groups overlap or one is empty.

    See Also
    --------
    Lasso : Weights one by one.

    >>> Group(1.0, groups=((0, 1),)).value(np.array([[5.0], [3.0], [4.0]])) == 5 * 2**0.5
    True
    """

    strength: float = 1.0
    groups: tuple[tuple[int, ...], ...] | None = None
    factors: tuple[float, ...] | None = None  # of groups
    oracles: ClassVar[Oracle] = Oracle.VALUE | Oracle.CONJUGATE

    def __post_init__(self) -> None:
        members = [feature for group in self.groups or () for feature in group]
        if len(set(members)) < len(members) or any(len(group) == 0 for group in self.groups or ()):
            raise ParameterError("Penalty Group needs groups that are disjoint and not empty.")

    def value(self, A: Array) -> float:
        return float(sum(level * np.linalg.norm(A[rows]) for rows, level in self._levels(A)))

    def prox(self, A: Array, step: float) -> Array:
        # Each group shrinks towards zero by step·λ√|g|, and is zero when it is shorter than that.
        B = A.astype(np.float64, copy=True)
        for rows, level in self._levels(A):
            length = np.linalg.norm(A[rows])
            B[rows] = A[rows] * max(1 - step * level / length, 0.0) if length > 0 else 0.0
        return keep_intercept(A, B[1:])

    def conjugate(self, U: Array) -> float:
        # 0 where every ‖U_g‖ ≤ λ√|g| (and U = 0 outside all groups), else +inf.
        free = np.ones(U.shape[0], dtype=bool)
        free[0] = False
        for rows, level in self._levels(U):
            free[rows] = False
            if np.linalg.norm(U[rows]) > level + 1e-12 * (1 + level):
                return float("inf")
        return float("inf") if np.any(U[free] != 0) else 0.0

    def _levels(self, A: Array) -> list[tuple[list[int], float]]:
        """(rows of A, λ√|g|) for each group."""
        d = A.shape[0] - 1
        groups = self.groups if self.groups is not None else tuple((feature,) for feature in range(d))
        if any(not 0 <= feature < d for group in groups for feature in group):
            raise ParameterError(f"Penalty Group names a feature that is not there: there are {d}, counted from 0.")
        factors = self.factors if self.factors is not None else (1.0,) * len(groups)
        if len(factors) != len(groups):
            raise ParameterError(f"Penalty Group has {len(groups)} groups and {len(factors)} factors.")
        return [
            ([1 + feature for feature in group], self.strength * factor * len(group) ** 0.5)
            for group, factor in zip(groups, factors, strict=True)
        ]
