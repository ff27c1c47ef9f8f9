"""The hyperplane g(x) = w·x + w₀ = 0 and what is measured from it.

    signed distance        r(x) = g(x) / ‖w‖                    positive on the side that w points to
    foot of x              x_p = x − (g(x) / ‖w‖²) w             so that g(x_p) = 0 and x − x_p is parallel to w
    of the origin          r(0) = w₀ / ‖w‖

Alpaydin 10.3, PRML 4.1.1.  Kept as g(x) = b + w·(x − c) with a centre c near the data: where the data lie at 10⁷ with
spread 1, w₀ = b − w·c has lost the digits that b still has.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discriminant.arguments import checked, numbers, optional, some_numbers
from discriminant.arrays import is_sparse
from discriminant.errors import DataError
from discriminant.geometry.regions import box, crossings, documented
from discriminant.protocols import Array


def frozen(values: Any, dtype: Any = np.float64) -> Array:
    """A copy that cannot be written to."""
    array = np.array(values, dtype=dtype)
    array.setflags(write=False)
    return array


@documented
@dataclass(frozen=True, eq=False)
@checked(normal=some_numbers("numbers"), intercept=numbers(0, "a number"), center=optional(some_numbers("numbers")))
class Hyperplane:
    """g(x) = intercept + normal·(x − center) = 0, and what is measured from it.

    The signed distance of x is r(x) = g(x) / ‖w‖, its foot x − r(x) w / ‖w‖ (Alpaydin 10.3, PRML 4.1.1).

    Parameters
    ----------
    normal : array-like of shape (d,)
        w, not of unit length.
    intercept : float, default=0.0
        b = g(center).
    center : array-like of shape (d,) or None, default=None
        c, near the data, so that no digits are lost; zeros where not given.
    name : str, default="The discriminant"
        Whose boundary this is, for sentences.

    Raises
    ------
    DataError
        Where the normal is zero or a number is not finite.

    See Also
    --------
    discriminant.LinearDiscriminant.boundary : The boundary of two classes.

    >>> line = Hyperplane([3.0, 4.0], -10.0)
    >>> line.distance([[0.0, 0.0], [6.0, 8.0]]).tolist()
    [-2.0, 8.0]
    >>> line.project([[0.0, 0.0]]).round(12).tolist()
    [[1.2, 1.6]]
    """

    normal: Array  # w, (d,); not of unit length
    intercept: float = 0.0  # b = g(center)
    center: Any = None  # c, (d,); zeros where not given
    name: str = "The discriminant"  # for sentences: whose boundary this is

    def __post_init__(self) -> None:
        normal = frozen(self.normal)
        if normal.ndim != 1 or not len(normal):
            raise DataError(f"A hyperplane's normal is a vector; got shape {normal.shape}.")
        center = frozen(np.zeros_like(normal) if self.center is None else self.center)
        if center.shape != normal.shape:
            raise DataError(f"The centre has shape {center.shape} and the normal {normal.shape}.")
        if not (np.isfinite(normal).all() and np.isfinite(center).all() and np.isfinite(self.intercept)):
            raise DataError("A hyperplane needs finite numbers: its normal, intercept or centre has NaN or infinity.")
        if not normal.any():
            raise DataError(
                f"{self.name} has the same value everywhere (its weights are zero), so that it has no boundary to "
                "measure from."
            )
        object.__setattr__(self, "normal", normal)
        object.__setattr__(self, "center", center)
        object.__setattr__(self, "intercept", float(self.intercept))

    def __repr__(self) -> str:
        return f"Hyperplane(d={len(self.normal)}, unit_normal={self.unit_normal.round(4)}, offset={self.offset:.6g})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hyperplane):
            return NotImplemented
        same_plane = self.intercept == other.intercept and np.array_equal(self.center, other.center)
        return same_plane and np.array_equal(self.normal, other.normal)

    def __hash__(self) -> int:
        return hash((self.normal.tobytes(), self.intercept, self.center.tobytes()))

    def __neg__(self) -> Hyperplane:
        """The same points with the sides exchanged."""
        return Hyperplane(-self.normal, -self.intercept, self.center, self.name)

    def __reduce__(self) -> tuple[Any, ...]:
        # Arrays come back from a pickle writeable; the constructor freezes them again.
        return Hyperplane, (self.normal, self.intercept, self.center, self.name)

    @cached_property
    def norm(self) -> float:
        """‖w‖, without overflow or underflow of the squares."""
        scale = float(np.abs(self.normal).max())
        return scale * float(np.linalg.norm(self.normal / scale))

    @property
    def unit_normal(self) -> Array:
        """w / ‖w‖: the direction in which g grows."""
        scale = float(np.abs(self.normal).max())
        return np.asarray((self.normal / scale) / np.linalg.norm(self.normal / scale))

    @property
    def offset(self) -> float:
        """w₀ / ‖w‖: the signed distance of the origin."""
        unit = self.unit_normal.astype(np.longdouble)  # the products may cancel to many digits
        return float(np.longdouble(self.intercept) / self.norm - (unit * self.center).sum())

    @property
    def point(self) -> Array:
        """A point of the hyperplane: the foot of the centre."""
        return np.asarray(self.center - (self.intercept / self.norm) * self.unit_normal)

    def value(self, X: Any) -> Array:
        """g(x)."""
        return np.asarray(self.intercept + self._from_center(X) @ self.normal)

    def distance(self, X: Any) -> Array:
        """r(x) = g(x) / ‖w‖, the signed distance."""
        return np.asarray(self.intercept / self.norm + self._from_center(X) @ self.unit_normal)

    def project(self, X: Any) -> Array:
        """x − r(x) w / ‖w‖: the point of the hyperplane nearest to each row."""
        moved = self._from_center(X)
        distance = self.intercept / self.norm + moved @ self.unit_normal
        moved -= distance[..., None] * self.unit_normal
        moved += self.center
        return moved

    def side(self, X: Any) -> Array:
        """The sign of g(x)."""
        return np.sign(self.value(X)).astype(np.int8)

    def points(self, bounds: Any) -> Array:
        """The two ends of the line within a box.

        Raises
        ------
        DataError
            Where there are not two dimensions.
        """
        if len(self.normal) != 2:
            raise DataError(f"The ends within a box are defined in two dimensions; there are {len(self.normal)}.")
        corners = box(bounds)
        ends = crossings(corners, self.value(corners))
        return ends if len(ends) == 2 else np.empty((0, 2))

    def _from_center(self, X: Any) -> Array:
        """x − c as a fresh float64 array."""
        values = np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)
        if values.ndim not in (1, 2) or values.shape[-1] != len(self.normal):
            raise DataError(f"X has shape {values.shape}; this hyperplane lives in {len(self.normal)} dimensions.")
        return np.asarray(values - self.center)
