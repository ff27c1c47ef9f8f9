"""Where several two-class discriminants contradict each other: points claimed by no class or by several.

Class k claims x when its own output is positive (one-versus-rest), or when all outputs that it takes part in lie on its
side (pairwise).  In the plane the boundaries cut a box into convex cells in which the claims do not change, so that the
regions are exact polygons; in more dimensions a sample says how large they are, and linear programs whether a point
that several claim exists at all.  PRML figure 4.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.arguments import MODEL, checked, numbers
from discriminant.errors import DataError, ParameterError
from discriminant.geometry.regions import box, clip, polygon_area
from discriminant.inference import documented
from discriminant.model import LinearDiscriminant, discriminant_of
from discriminant.optimize.highs import deepest_point
from discriminant.protocols import Array

SAMPLE = 100_000


@documented
@dataclass(frozen=True, eq=False, repr=False)
class Ambiguity:
    """Shares of a box claimed by none, by one and by several classes, with the regions where these are polygons.

    Its text is a sentence with the three shares (PRML 4.1.2).

    Attributes
    ----------
    none, one, several : float
        The shares that no class, one class and several claim.
    exact : bool
        Areas; else shares of a sample.
    polygons : tuple of (ndarray of shape (m, 2), tuple of labels)
        In the plane: corners, and the classes that claim them.
    point_of_none, point_of_several : ndarray of shape (d,) or None
        Points that no class and that several claim, if there are any.

    See Also
    --------
    ambiguity : Computes one.

    >>> rest = LinearDiscriminant([[-1, -1, -1], [1, 0, -1], [0, 1, -1]], ["a", "b", "c"])
    >>> found = ambiguity(rest, ((-2, 2), (-2, 2)))
    >>> found.exact, round(found.none, 4), round(found.ambiguous, 4)
    (True, 0.2812, 0.3438)
    """

    none: float
    one: float
    several: float
    exact: bool  # areas; else shares of a sample
    polygons: tuple[tuple[Array, tuple[Any, ...]], ...]  # (corners, the classes that claim them), in the plane
    point_of_none: Array | None  # a point that no class claims, if there is one
    point_of_several: Array | None

    @property
    def ambiguous(self) -> float:
        """The share that has no single winner."""
        return self.none + self.several

    def __repr__(self) -> str:
        how = "of the area" if self.exact else f"of {SAMPLE} points drawn in the box"
        return f"{self.one:.2%} {how} is claimed by one class, {self.none:.2%} by none, {self.several:.2%} by several."


@documented
@checked(model=MODEL, bounds=numbers(2, "pairs (low, high), one for each feature"))
def ambiguity(model: Any, bounds: Any) -> Ambiguity:
    """The parts of a box that the discriminants of a model leave to no class or to several.

    Two-class discriminants put together, one against the rest or pairwise, leave such regions; a linear machine leaves
    none (PRML 4.1.2, Duda, Hart and Stork 5.2.2).

    Parameters
    ----------
    model : estimator or LinearDiscriminant
        Fitted.
    bounds : sequence of d pairs of floats
        (low, high) for each feature.

    >>> rest = LinearDiscriminant([[-1, -1, -1], [1, 0, -1], [0, 1, -1]], ["a", "b", "c"])
    >>> print(ambiguity(rest, ((-2, 2), (-2, 2))))
    65.62% of the area is claimed by one class, 28.12% by none, 6.25% by several.
    """
    found = discriminant_of(model)
    if found is None:
        raise DataError(f"ambiguity needs a linear discriminant, which {type(model).__name__} does not have.")
    weights, center = np.asarray(found.weights), found.center
    if found.basis is not None:
        raise DataError("The model works on features of a basis, in which its boundaries are not straight.")
    sides, threshold = _sides(found)
    d = len(weights) - 1
    limits = np.asarray(bounds, dtype=np.float64)
    if limits.shape != (d, 2) or not (limits[:, 0] < limits[:, 1]).all():
        raise ParameterError(f"bounds must be {d} pairs (low, high) that grow, one for each feature; got {bounds!r}.")
    plain = np.array(weights)
    if center is not None:
        plain[0] = weights[0] - center @ weights[1:]
    plain[0] -= threshold
    labels = tuple(found.classes.tolist())
    return _planar(plain, sides, limits, labels) if d == 2 else _sampled(plain, sides, limits)


def _sides(found: LinearDiscriminant) -> tuple[Array, Array]:
    """(s (K, q): the side on which class k lies of output j, or 0; θ (q,))."""
    K, q = len(found.classes), np.shape(found.weights)[1]
    if found.coding is not None:
        # A class that has an output of its own claims by it; any other where all outputs that it takes part in agree.
        speakers, signs = found.coding.speakers, found.coding.signs
        sides = signs if speakers is None else np.where(np.any(speakers, axis=1)[:, None], np.sign(speakers), signs)
        return np.asarray(sides), np.asarray(found.coding.threshold)
    if q == 1 and K == 2:
        return np.array([[-1.0], [1.0]]), np.zeros(1)
    return np.eye(K), np.zeros(q)  # class k claims where its own discriminant is positive


def _claims(signs: Array, sides: Array) -> Array:
    """(n, K): whether class k has every one of its outputs on its side; signs (n, q) of ±1."""
    agreed = signs[:, None, :] * sides
    return np.asarray(((agreed > 0) | (sides == 0)).all(axis=2))


def _planar(plain: Array, sides: Array, limits: Array, labels: tuple[Any, ...]) -> Ambiguity:
    cells: list[tuple[Array, list[float]]] = [(box(limits), [])]
    for column in plain.T:
        following = []
        for corners, signs in cells:
            values = column[0] + corners @ column[1:]
            for sign in (1.0, -1.0):
                part = clip(corners, sign * values)
                if len(part) >= 3 and polygon_area(part) > 0:
                    following.append((part, [*signs, sign]))
        cells = following
    whole = polygon_area(box(limits))
    areas = np.array([polygon_area(corners) for corners, _ in cells])
    claimed = _claims(np.array([signs for _, signs in cells]), sides)
    count = claimed.sum(axis=1)
    shares = [float(areas[count == 0].sum()), float(areas[count == 1].sum()), float(areas[count > 1].sum())]
    polygons = tuple(
        (corners, tuple(labels[k] for k in np.flatnonzero(row)))
        for (corners, _), row in zip(cells, claimed, strict=True)
    )
    points = [_inside(cells, areas, count == 0), _inside(cells, areas, count > 1)]
    none, one, several = (share / whole for share in shares)
    return Ambiguity(none, one, several, True, polygons, points[0], points[1])


def _inside(cells: list[tuple[Array, list[float]]], areas: Array, which: Array) -> Array | None:
    if not which.any():
        return None
    largest = int(np.argmax(np.where(which, areas, -1.0)))
    return np.asarray(cells[largest][0].mean(axis=0))


def _sampled(plain: Array, sides: Array, limits: Array) -> Ambiguity:
    rng = np.random.default_rng(0)
    count = np.zeros(3)
    points: list[Array | None] = [None, None]
    for _ in range(10):
        X = rng.uniform(limits[:, 0], limits[:, 1], size=(SAMPLE // 10, len(limits)))
        claims = _claims(np.where(plain[0] + X @ plain[1:] > 0, 1.0, -1.0), sides).sum(axis=1)
        for kind, hit in enumerate((claims == 0, claims == 1, claims > 1)):
            count[kind] += hit.sum()
            if kind != 1 and hit.any() and points[kind // 2] is None:
                points[kind // 2] = X[int(np.argmax(hit))]
    if points[1] is None:
        points[1] = _claimed_twice(plain, sides, limits)
    none, one, several = count / SAMPLE
    return Ambiguity(float(none), float(one), float(several), False, (), points[0], points[1])


def _claimed_twice(plain: Array, sides: Array, limits: Array) -> Array | None:
    """A point that two classes claim, found by a linear program for each pair, or None where there is none."""
    for i in range(len(sides)):
        for j in range(i):
            both = [(k, o) for k in (i, j) for o in np.flatnonzero(sides[k])]
            sign, half_spaces = np.array([sides[at] for at in both]), plain[:, [o for _, o in both]]
            found = deepest_point(-(sign * half_spaces[1:]).T, sign * half_spaces[0], map(tuple, limits))
            if found is not None and found[1] > 1e-12 * float(np.abs(limits).max()):
                return np.asarray(found[0])
    return None
