"""Mehrotra's primal-dual interior point for convex programs whose constraints may be soft.

    minimise  ½ xᵗ diag(P) x + q·x + Σ_i U_i max(0, h_i − (G x)_i)          U_i = ∞: the constraint G x ≥ h is hard

With slacks s and shortfalls ξ, G x + ξ − s = h, the multipliers y lie between 0 and U, and at the minimum

    P x + q = Gᵗ y,        s y = 0,        ξ (U − y) = 0.

Each step solves (P + Gᵗ D G) Δx = r twice, once towards the minimum and once with the error of that step corrected
(Mehrotra 1992; Nocedal & Wright 14.2, 16.6).  ``interior_point`` yields the points that it goes through: who calls it
decides from its own proof where to stop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from discriminant.protocols import Array

SHORT_OF = 0.99  # of the longest step that keeps every slack and multiplier positive
Solve = Callable[[Array], Array]
Step = Callable[[Array, Array], tuple[Array, Array]]


class Constraints(Protocol):
    """G, the rows of a program's constraints, as a linear map."""

    def dot(self, x: Array) -> Array:
        """G x."""

    def adjoint(self, y: Array) -> Array:
        """Gᵗ y."""

    def solver(self, P: Array, weight: Array) -> Step:
        """(r, load) ↦ (Δx, Δy) with diag(P) Δx − Gᵗ Δy = r and G Δx + Δy/weight = load.

        Raises LinAlgError where rounding leaves no solution.
        """


@dataclass(frozen=True)
class Rows:
    """Constraints whose G is written out: (m, v)."""

    G: Array

    def dot(self, x: Array) -> Array:
        return np.asarray(self.G @ x)

    def adjoint(self, y: Array) -> Array:
        return np.asarray(self.G.T @ y)

    def solver(self, P: Array, weight: Array) -> Step:
        B = np.sqrt(weight)[:, None] * self.G
        H = B.T @ B  # of one array, NumPy works out half the products: 600 columns take 18 ms in place of 34
        H[np.diag_indices_from(H)] += P
        return reduced(self.dot, self.adjoint, weight, scaled_solver(H))


@dataclass(frozen=True)
class Program:
    """P ≥ 0 (v,), q (v,), the constraints G, h (m,), and the price U (m,) of a unit of shortfall."""

    P: Array
    q: Array
    G: Constraints
    h: Array
    U: Array

    def start(self, x: Array, y: Array) -> Point:
        """The point x with multipliers 0 < y < U, and slacks that are positive."""
        slack = np.maximum(self.G.dot(x) - self.h, 1.0)
        return Point(x, y, slack, np.where(np.isinf(self.U), 0.0, 1.0))


@dataclass(frozen=True)
class Point:
    """x, multipliers y, slacks s and shortfalls ξ (0 where a constraint is hard)."""

    x: Array
    y: Array
    s: Array
    xi: Array

    def complementarity(self, U: Array) -> float:
        """s·y + ξ·(U − y), the gap where the point is feasible."""
        soft = np.isfinite(U)
        return float(self.s @ self.y + self.xi[soft] @ (U - self.y)[soft])


def interior_point(program: Program, start: Point, most: int = 120) -> Iterator[Point]:
    """The points from ``start`` on; ends after ``most`` of them, or where rounding allows no further step."""
    point: Point | None = start
    for _ in range(most):
        if point is None:
            return
        yield point
        point = _step(program, point)


def _step(program: Program, point: Point) -> Point | None:
    P, G, U = program.P, program.G, program.U
    x, y, s, xi = point.x, point.y, point.s, point.xi
    soft = np.isfinite(U)
    room = np.where(soft, U - y, 1.0)
    r_dual = P * x + program.q - G.adjoint(y)
    r_primal = G.dot(x) + xi - s - program.h
    theta = s / y + xi / room
    try:
        solve = G.solver(P, 1 / theta)
    except np.linalg.LinAlgError:
        return None

    def direction(to_slack: Array, to_shortfall: Array) -> Point:
        load = -r_primal + to_slack / y - to_shortfall / room
        dx, dy = solve(-r_dual, load)
        return Point(dx, dy, (to_slack - s * dy) / y, (to_shortfall + xi * dy) / room)

    ahead = direction(-s * y, -xi * room)
    now = point.complementarity(U)
    t, t_dual = _lengths(point, ahead, room, soft)
    t = min(t, t_dual)
    centre = (_moved(point, ahead, t, t).complementarity(U) / now) ** 3 * now / (len(y) + soft.sum())
    corrected = direction(
        centre - s * y - ahead.y * ahead.s, np.where(soft, centre - xi * room + ahead.y * ahead.xi, 0)
    )
    if not (np.isfinite(corrected.x).all() and np.isfinite(corrected.y).all()):
        return None
    t, t_dual = (min(1.0, SHORT_OF * length) for length in _lengths(point, corrected, room, soft))
    if P.any():  # then the dual's equations hold x as well: one length for both
        t = t_dual = min(t, t_dual)
    return _moved(point, corrected, t, t_dual)


def _moved(point: Point, step: Point, t: float, t_dual: float) -> Point:
    return Point(point.x + t * step.x, point.y + t_dual * step.y, point.s + t * step.s, point.xi + t * step.xi)


def _lengths(point: Point, step: Point, room: Array, soft: Array) -> tuple[float, float]:
    """The longest steps of (x, s, ξ) and of y that leave everything positive."""
    primal = min(longest(point.s, step.s), longest(point.xi[soft], step.xi[soft]))
    return primal, min(longest(point.y, step.y), longest(room[soft], -step.y[soft]))


def longest(value: Array, change: Array) -> float:
    """The longest t ≤ 1/SHORT_OF for which value + t·change ≥ 0."""
    falling = change < 0
    return float(np.min(-value[falling] / change[falling], initial=1 / SHORT_OF))


def reduced(dot: Solve, adjoint: Solve, weight: Array, inverse: Solve) -> Step:
    """The step by (diag(P) + Gᵗ diag(weight) G)⁻¹."""

    def solve(r: Array, load: Array) -> tuple[Array, Array]:
        dx = inverse(r + adjoint(load * weight))
        return dx, (load - dot(dx)) * weight

    return solve


def scaled_solver(H: Array, diagonal: Array | None = None) -> Solve:
    """r ↦ H⁻¹ r for H ≥ 0, by Cholesky's factor of H scaled to a unit diagonal; least squares where it is singular.

    ``diagonal``: H's own, where it is not the one that is written there.
    """
    from scipy.linalg.lapack import dpotrf, dpotrs

    diagonal = np.diagonal(H) if diagonal is None else diagonal
    size = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))

    def scaled() -> Array:
        matrix = H * size
        matrix *= size[:, None]
        matrix.ravel()[:: len(H) + 1] = np.where(diagonal > 0, 1.0 + 1e-15, 1.0)
        return matrix

    factor, failed = dpotrf(scaled().T, lower=True, clean=False, overwrite_a=True)  # in LAPACK's order: no copy
    if not failed:
        return lambda r: np.asarray(dpotrs(factor, r * size, lower=True)[0] * size)
    if not (np.isfinite(H).all() and np.isfinite(diagonal).all()):
        raise np.linalg.LinAlgError("the system of equations is beyond floats")
    return lambda r: np.asarray(np.linalg.lstsq(scaled(), r * size, rcond=1e-14)[0] * size)
