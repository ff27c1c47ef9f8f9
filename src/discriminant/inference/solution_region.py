"""The solution region: all weights that classify every sample, an intersection of half-spaces in weight space.

With samples y = (1, x) turned by the sign of their class, the weights a that separate with margin b are

    {a : a·y_i ≥ b for all i},        a cone where b = 0.

``solution_region`` says whether it is empty, a point deep inside (the Chebyshev centre of its part in the unit box),
for few dimensions the extreme rays, and in the plane its polygon.  Duda and Hart 5.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.arguments import BOOLEAN, checked, number
from discriminant.arrays import as_dense
from discriminant.data.check import labelled_rows
from discriminant.errors import DataError
from discriminant.geometry.regions import box, clip
from discriminant.inference import documented
from discriminant.inference.kesler import kesler_construction
from discriminant.inference.separability import Separability, separability
from discriminant.optimize.highs import deepest_point
from discriminant.protocols import Array

MOST_RAY_DIMENSIONS = 8
MOST_ROWS = 200_000


@documented
@dataclass(frozen=True, eq=False)
class SolutionRegion:
    """The solution region {a : samples · a ≥ margin}, with a = (w₀, w) where there is an intercept.

    ``a in region`` says whether weights separate (Duda, Hart and Stork 5.4.1).

    Attributes
    ----------
    samples : ndarray of shape (n, D)
        Sign-normalised samples: those of the first class times −1.  Of K > 2 classes the samples of Kesler's
        construction, (n(K − 1), K·D), for weights a = (a_1, …, a_K).
    margin : float
        b ≥ 0.
    empty : bool
        Whether no weights separate.
    center : ndarray of shape (D,) or None
        Of the largest ball in the region's part with |a_j| ≤ 1 (or larger, with a margin).
    radius : float
        Of that ball.
    rays : ndarray of shape (r, D) or None
        Unit vectors along its edges; None where the region is no pointed cone or has too many dimensions.
    reason : Separability
        The verdict that proves emptiness or the opposite.

    See Also
    --------
    discriminant.plots.SolutionRegionDisplay : Draws it.

    >>> region = solution_region([[1.0], [2.0], [4.0]], ["a", "a", "b"])
    >>> region.empty, [-3.0, 1.0] in region, region.rays.shape
    (False, True, (2, 2))
    """

    samples: Array  # (n, D) sign-normalised
    margin: float
    empty: bool
    center: Array | None  # (D,), of the largest ball in the region's part with |a_j| ≤ 1 (or larger, with a margin)
    radius: float
    rays: Array | None  # (r, D) unit vectors; None where the region is no pointed cone or has too many dimensions
    reason: Separability  # the verdict that proves emptiness or the opposite

    def __repr__(self) -> str:
        n, d = self.samples.shape
        about = f"{n} half-spaces, {d} weights, margin {self.margin:g}"
        if self.empty or self.center is None:
            return f"SolutionRegion(empty: {about}; the classes are {self.reason.verdict})"
        rays = "" if self.rays is None else f", {len(self.rays)} extreme rays"
        return f"SolutionRegion({about}; center {np.round(self.center, 4).tolist()}{rays})"

    def __contains__(self, a: Any) -> bool:
        values = self.samples @ np.asarray(a, dtype=np.float64)
        return bool((values >= self.margin).all() if self.margin > 0 else (values > 0).all())

    def polygon(self, bounds: Any = ((-1, 1), (-1, 1))) -> Array:
        """The region inside a box of the weight plane, for two weights.

        Parameters
        ----------
        bounds : sequence of four floats, default=((-1, 1), (-1, 1))
            The box ((x₀, x₁), (y₀, y₁)), or flat as (x₀, x₁, y₀, y₁).

        Raises
        ------
        DataError
            Where there are not two weights.
        """
        if self.samples.shape[1] != 2:
            raise DataError(f"The region lies in {self.samples.shape[1]} dimensions; a polygon needs two weights.")
        corners = box(bounds)
        for sample in self.samples:
            corners = clip(corners, corners @ sample - self.margin)
        return corners


@documented
@checked(margin=number(0, np.inf, open_="high"), fit_intercept=BOOLEAN)
def solution_region(X: Any, y: Any, margin: float = 0.0, *, fit_intercept: bool = True) -> SolutionRegion:
    """The weights that separate the classes: emptiness, centre, extreme rays.

    Of K > 2 classes, the weights of all linear machines that have every row right, through Kesler's construction.

    Parameters
    ----------
    margin : float, default=0.0
        b ≥ 0: samples · a ≥ b.
    fit_intercept : bool, default=True
        Whether a has an intercept w₀ in front.

    See Also
    --------
    separability : The verdict alone.

    >>> region = solution_region([[1.0], [2.0], [4.0]], ["a", "a", "b"])
    >>> region.empty, [-3.0, 1.0] in region, [1.0, 1.0] in region
    (False, True, False)
    """
    rows, classes, codes = labelled_rows(X, y, "solution_region")
    if len(classes) < 2:
        raise DataError(f"The solution region is that of two classes or more; y holds {len(classes)}.")
    if rows.shape[0] > MOST_ROWS:
        raise DataError(f"The region of {rows.shape[0]} half-spaces is too large to describe; at most {MOST_ROWS}.")
    if len(classes) > 2:
        samples = kesler_construction(X, y, fit_intercept=fit_intercept).samples
    else:
        values = as_dense(rows.design(0, rows.shape[0]).values)
        Y = np.c_[np.ones(len(values)), values] if fit_intercept else values
        samples = Y * np.where(codes == 1, 1.0, -1.0)[:, None]
    verdict = separability(X, y, fit_intercept=fit_intercept, hyperplane="any")
    if verdict.verdict != "separable":
        return SolutionRegion(samples, margin, True, None, 0.0, None, verdict)
    center, radius = _center(samples, margin)
    rays = _rays(samples) if margin == 0 else None
    return SolutionRegion(samples, margin, False, center, radius, rays, verdict)


def _center(samples: Array, margin: float) -> tuple[Array, float]:
    """max r with samples·a ≥ margin + r‖sample‖ and |a_j| ≤ R − r: a linear program.

    R = 1 for a cone; with a margin, twice the size at which a solution first exists.
    """
    n, D = samples.shape
    A, size_limit = np.vstack([-samples, np.eye(D), -np.eye(D)]), 1.0
    for _ in range(200):
        found = deepest_point(A, np.r_[np.full(n, -margin), np.full(2 * D, size_limit)], [(None, None)] * D)
        if found is not None and (found[1] > 0 or margin == 0):
            return np.asarray(found[0]), found[1]
        size_limit *= 2
    raise DataError("The region has no part that the linear program can reach: rescale the columns.")


def _rays(samples: Array) -> Array | None:
    """The extreme rays of the cone {a : samples·a ≥ 0}, by its cross-section with {c·a = 1}, c = Σ y_i/‖y_i‖.

    c lies inside the dual cone, so that the cross-section of a pointed cone is bounded: its vertices are the rays.
    """
    D = samples.shape[1]
    unit = samples / np.linalg.norm(samples, axis=1)[:, None]
    if D == 1:
        return np.array([[np.sign(unit[0, 0])]])
    if D > MOST_RAY_DIMENSIONS or np.linalg.matrix_rank(unit) < D:
        return None  # many dimensions, or a cone that holds a line
    c = unit.sum(axis=0)
    c /= np.linalg.norm(c)
    basis = np.linalg.svd(c[None])[2][1:]  # (D − 1, D), orthogonal to c: a = c + basisᵗ u
    inside, radius = _center(samples, 0.0)
    if radius <= 0:
        return None
    u0 = basis @ inside / (c @ inside)
    if D == 2:
        slopes, offsets = (unit @ basis.T)[:, 0], unit @ c
        with np.errstate(divide="ignore"):
            cuts = -offsets / slopes
        u = np.array([[cuts[slopes > 0].max()], [cuts[slopes < 0].min()]])
    else:
        from scipy.spatial import HalfspaceIntersection, QhullError

        try:
            u = HalfspaceIntersection(np.c_[-unit @ basis.T, -unit @ c], u0).intersections
        except QhullError:
            return None
        u = np.unique(np.round(u, 12), axis=0)
        if D == 3:  # as they go round
            u = u[np.argsort(np.arctan2(*(u - u.mean(axis=0)).T))]
    rays = c + u @ basis
    return np.asarray(rays / np.linalg.norm(rays, axis=1)[:, None])
