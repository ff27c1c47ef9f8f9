"""The quadratic subproblem of a proximal Newton step, solved to any precision.

    minimise   g·(a − a₀) + ½ (a − a₀)ᵗ H (a − a₀) + Σ l₁|a|,        lower ≤ a ≤ upper

Coordinate descent finds the support; where it is slow (collinear columns) one linear system on the support, signs held,
goes to the minimum of the piece.  With groups the system has the curvature of ‖a_g‖ in it.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from discriminant.kernels.compile import can_compile
from discriminant.optimize.sparse.levels import Levels
from discriminant.protocols import Array

MOST_ROUNDS = 100
SWEEPS = 12  # on the support, between looks at all coordinates
SLOW = 0.3  # a sweep that moves more than this share of the last one: time for a linear system
COMPILE_FROM = 100  # coordinates from which a compiled sweep pays for being loaded
COMPILE_VISITS = 60_000  # or visits of coordinates in one fit


@dataclass
class Tally:
    """How many coordinates a fit has visited: many visits are worth a compiler, whatever the size."""

    visits: int = 0

    def fast(self, coordinates: int) -> bool:
        return can_compile() and (coordinates >= COMPILE_FROM or self.visits >= COMPILE_VISITS)


@cache
def _kernels(fast: bool) -> tuple[Any, Any]:
    if not fast:
        from discriminant.kernels import coordinate

        return coordinate.plain_sweep_rows, coordinate.plain_sweep_atoms
    from discriminant.kernels.coordinate import sweep_atoms, sweep_rows

    return sweep_rows, sweep_atoms


def warm() -> None:
    """Load the compiled sweeps in this thread, before others use them."""
    if can_compile():
        from discriminant.kernels.coordinate import warm as load

        load()


@dataclass(frozen=True)
class Quadratic:
    """H, with the l₂ level on its diagonal, over coordinates (features × outputs, outputs innermost)."""

    H: Array  # (m q, m q), or (m, m) the same for each output
    levels: Levels  # of the m features
    q: int
    tally: Tally = field(default_factory=Tally)

    @property
    def joint(self) -> bool:
        return len(self.H) == len(self.levels.order) * self.q

    def solve(self, A0: Array, g0: Array, tol: float) -> Array:
        """argmin over A (m, q) from A0; stops when a sweep moves less than ``tol`` in the norm of diag(H)."""
        if (self.joint and self.q > 1) or not self.levels.single:
            return self._joint(A0, g0, tol)
        return self._rows(A0, g0, tol)

    def _rows(self, A0: Array, g0: Array, tol: float) -> Array:
        """Single features: one output, or outputs that share H."""
        lv = self.levels
        l1 = np.ascontiguousarray(np.broadcast_to(lv.spread(lv.l1), A0.shape))
        whole = lv.whole and self.q > 1
        sweep = _kernels(self.tally.fast(A0.size))[0]
        arguments = (l1, lv.lower, lv.upper, whole)
        A, g = A0.copy(), g0.copy()

        def newton() -> bool:
            return self.q == 1 and signed_step(self.H, A[:, 0], g[:, 0], l1[:, 0], lv.lower, lv.upper)

        return _descend(lambda support: sweep(self.H, A, g, *arguments, support), newton, A, tol, self.tally)

    def _joint(self, A0: Array, g0: Array, tol: float) -> Array:
        lv, q = self.levels, self.q
        a, g = A0.ravel().copy(), g0.ravel().copy()
        rows, atoms = _kernels(self.tally.fast(a.size))
        if not lv.whole:
            l1, low, high = (np.repeat(x, q) for x in (lv.l1, lv.lower, lv.upper))
            column, slope = a[:, None], g[:, None]

            def sweep(support: bool) -> float:
                return float(rows(self.H, column, slope, l1[:, None], low, high, False, support))

            def newton() -> bool:
                return signed_step(self.H, a, g, l1, low, high)

            return _descend(sweep, newton, a, tol, self.tally).reshape(A0.shape)
        starts = lv.starts * q
        largest = _block_norms(self.H, starts)
        return _descend(
            lambda support: float(atoms(self.H, a, g, starts, lv.l1, largest, support)),
            lambda: grouped_step(self.H, a, g, starts, lv.l1),
            a,
            tol,
            self.tally,
        ).reshape(A0.shape)


def _descend(sweep: Any, newton: Any, a: Array, tol: float, tally: Tally) -> Array:
    for _ in range(MOST_ROUNDS):
        moved = sweep(False)
        tally.visits += a.size
        if moved <= tol:
            break
        for _ in range(SWEEPS):
            previous, moved = moved, sweep(True)
            tally.visits += a.size
            if moved <= 0.1 * tol:
                break
            if moved > SLOW * previous:
                newton()
                break
    return a


def signed_step(H: Array, a: Array, g: Array, l1: Array, lower: Array, upper: Array) -> bool:
    """Newton's step on the support with signs held, up to the first sign change or bound; a and g in place."""
    from scipy.linalg.lapack import dposv

    inside = (a > lower) & (a < upper) & ((a != 0) | (l1 == 0))
    S = np.flatnonzero(inside)
    if len(S) == 0:
        return False
    HS = H[np.ix_(S, S)]
    HS[np.arange(len(S)), np.arange(len(S))] += 1e-13 * np.diagonal(HS)
    _, d, failed = dposv(HS, -(g[S] + l1[S] * np.sign(a[S])), overwrite_a=True)
    if failed or not np.isfinite(d).all():
        return False
    with np.errstate(divide="ignore", invalid="ignore"):
        zero = np.where((d * a[S] < 0) & (l1[S] > 0), -a[S] / d, np.inf)
        bound = np.where(d > 0, (upper[S] - a[S]) / d, np.where(d < 0, (lower[S] - a[S]) / d, np.inf))
    t = min(1.0, float(zero.min()), float(bound.min()))
    new = a[S] + t * d
    new[zero <= t] = 0.0
    new = np.clip(new, lower[S], upper[S])
    g += H[:, S] @ (new - a[S])
    a[S] = new
    return True


def grouped_step(H: Array, a: Array, g: Array, starts: Array, l1: Array) -> bool:
    """A damped Newton step on the groups that are not zero; a and g in place."""
    from scipy.linalg.lapack import dposv

    length = np.sqrt(np.add.reduceat(np.square(a), starts[:-1]))
    live = length > 0
    each = np.repeat(live, np.diff(starts))
    S = np.flatnonzero(each)
    if len(S) == 0:
        return False
    HS = H[np.ix_(S, S)]
    slope = g[S].copy()
    place = 0
    for i in np.flatnonzero(live):
        x = a[starts[i] : starts[i + 1]]
        part = slice(place, place + len(x))
        unit = x / length[i]
        slope[part] += l1[i] * unit
        HS[part, part] += l1[i] / length[i] * (np.eye(len(x)) - np.outer(unit, unit))
        place += len(x)
    HS[np.arange(len(S)), np.arange(len(S))] += 1e-13 * np.diagonal(HS)
    _, d, failed = dposv(HS, -slope, overwrite_a=True)
    if failed or not np.isfinite(d).all():
        return False
    change = H[:, S] @ d
    linear, bend = float(g[S] @ d), float(d @ change[S])
    before = float(l1 @ length)
    for t in 0.5 ** np.arange(12):
        new = a.copy()
        new[S] += t * d
        after = float(l1 @ np.sqrt(np.add.reduceat(np.square(new), starts[:-1])))
        if t * linear + 0.5 * t * t * bend + after - before <= 1e-4 * t * float(slope @ d):
            a[:] = new
            g += t * change
            return True
    return False


def _block_norms(H: Array, starts: Array) -> Array:
    """The largest eigenvalue of each diagonal block."""
    sizes = np.diff(starts)
    if (sizes == 1).all():
        return np.diagonal(H).copy()
    return np.array([np.linalg.eigvalsh(H[i:j, i:j])[-1] for i, j in itertools.pairwise(starts)])
