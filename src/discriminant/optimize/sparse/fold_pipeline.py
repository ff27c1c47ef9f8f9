"""Two classes, many folds, many strengths: one look a level, by a mean of the folds that runs two levels ahead.

    A_f(λ) = M(λ) + r_f(λ),        M(λ) = argmin mean_f J_f

Along the path M bends, and a guess by extrapolation is wrong by what costs one or two more looks; r_f, what a tenth of
the rows change, is a hundred times smaller and as smooth.  So M is solved first, in columns of the looks that the folds
take anyway: while they settle at λ_l it takes a step at λ_{l+1} and one at λ_{l+2}.  The folds then begin at
M(λ_{l+1}) + extrapolated r_f, and mostly the first look there shows a gap that ``fold_floor`` proves to be small.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from discriminant.optimize.logistic.factor import Factor, make_factor
from discriminant.optimize.sparse.fold_floor import Floor
from discriminant.protocols import Array

AHEAD = 2  # levels
POINTS = 3  # of the path that an extrapolation looks back on
MOST_LOOKS = 12
NEAR = 1e-6  # a gap, relative to J, below which the curvature at hand serves
SLOW = 0.05  # a gap after a step against before it: above this the curvature is taken anew
PROMISING = 0.5  # of the gap wanted, by the curvature at hand: then a proof is tried


@dataclass
class Pipeline:
    """The folds' weights, in inner coordinates, and behind them the mean's at the next levels."""

    floor: Floor
    look: Callable[[Array, Array], tuple[Array, Array]]  # (A, strengths) → (J, ∇J) of every column
    A: Array  # (F + 2, 1+d)
    factors: dict[float, Factor] = field(default_factory=dict)

    @property
    def F(self) -> int:
        return len(self.A) - AHEAD

    def step(self, G: Array, strengths: Array) -> Array:
        """−(H + λ D)⁻¹ ∇J of every column, with its own λ; the folds', which hardly differ, with their mean."""
        F = self.F
        folds = -self._factor(float(strengths[:F].mean())).solve(G[:F].T).T
        means = [-self._factor(float(strengths[j])).solve(G[j]) for j in range(F, F + AHEAD)]
        return np.vstack([folds, *means])

    def _factor(self, strength: float) -> Factor:
        if strength not in self.factors:
            self.factors[strength] = make_factor(self.floor.H + strength * np.diag(self.floor.ridge))
        return self.factors[strength]

    def renew(self, at: Array) -> None:
        """The curvature at some weights."""
        self.floor.take(at)
        self.factors = {}


@dataclass(frozen=True)
class LevelFit:
    """What was reached at one level."""

    J: Array
    gap: Array
    looks: int
    further: Array  # (F, 1+d): the step that would be next


def settle(pipe: Pipeline, strengths: Array, tol: float) -> LevelFit:
    """Steps for all columns until the gap of every fold is proved to be ≤ tol·|J|."""
    F = pipe.F
    before, J_before = np.inf, np.full(F, np.inf)
    for count in range(1, MOST_LOOKS + 1):
        J, G = pipe.look(pipe.A, strengths)
        if not np.isfinite(J[:F]).all() or (J[:F] > J_before * (1 + 1e-6) + 1e-12).any():
            break  # the mean's curvature does not serve: left to be solved fold by fold
        J_before = J[:F]
        if pipe.floor.A is None:
            pipe.renew(pipe.A[0])
        steps = pipe.step(G, strengths)
        near = _estimates(G, steps) / np.abs(J)
        if near[:F].max() > SLOW * before or near.max() > NEAR:
            pipe.renew(pipe.A[:F].mean(axis=0))
            steps = pipe.step(G, strengths)
        before = float(near[:F].max())
        if before <= PROMISING * tol:
            gap = pipe.floor.gaps(pipe.A[:F], G[:F], strengths[:F])
            if (gap <= tol * np.abs(J[:F])).all():
                pipe.A[F:] += steps[F:]
                return LevelFit(J[:F], gap, count, steps[:F])
        pipe.A += steps
    return LevelFit(J[:F], np.full(F, np.inf), count, np.zeros_like(pipe.A[:F]))


def _estimates(G: Array, steps: Array) -> Array:
    """½ ν² of every column, by the curvature at hand."""
    return np.asarray(-0.5 * np.einsum("fi,fi->f", G, steps))


def extrapolate(x: Array, values: Array, at: float) -> Array:
    """The polynomial through (x_i, values[..., i, :]) at a new point; the last value where points coincide."""
    gaps = x[:, None] - x[None, :] + np.eye(len(x))
    if (gaps == 0).any():
        return np.asarray(values[..., -1, :])
    parts = (at - x)[None, :] * (1 - np.eye(len(x))) + np.eye(len(x))
    return np.asarray(np.einsum("i,...ij->...j", (parts / gaps).prod(axis=1), values))


def walk(pipe: Pipeline, strengths: Array, tol: float) -> tuple[Array, Array, Array, Array]:
    """(weights (F, L, 1+d) inner, J, gap, looks (F, L)) of every fold at every strength (F, L), strongest first."""
    (F, L), D = strengths.shape, pipe.A.shape[1]
    x, mean = np.log(strengths[0]), strengths.mean(axis=0)
    out, rest = np.empty((F, L, D)), np.empty((F, L, D))
    M = np.empty((L, D))
    numbers = np.full((3, F, L), np.inf)
    for level in range(L):
        known = slice(max(level - POINTS, 0), level)
        if level:
            M[level : level + AHEAD] = pipe.A[F : F + min(AHEAD, L - level)]
            pipe.A[:F] = M[level] + extrapolate(x[known], rest[:, known], x[level])
            pipe.A[F] = M[min(level + 1, L - 1)]
            if level + AHEAD < L:
                back = slice(max(level + AHEAD - POINTS, 0), level + AHEAD)
                pipe.A[F + 1] = extrapolate(x[back], M[back], x[level + AHEAD])
        later = [mean[min(level + k, L - 1)] for k in (1, AHEAD)]
        found = settle(pipe, np.concatenate([strengths[:, level], later]), tol)
        numbers[:, :, level] = found.J, found.gap, np.full(F, found.looks)
        if not np.isfinite(found.gap).all():
            break
        out[:, level] = pipe.A[:F]
        if not level:
            M[0] = (pipe.A[:F] + found.further).mean(axis=0)
        rest[:, level] = pipe.A[:F] + found.further - M[level]
    return out, numbers[0], numbers[1], numbers[2]
