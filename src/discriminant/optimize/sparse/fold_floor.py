"""The curvature of some rows: what preconditions all folds, and a floor under each fold's own, which proves its gap.

    ∇²J_f ≥ L_f = e^−δ/W_f Σ_i w_i σ'(z_i) y_i y_iᵗ + λ_f D,     z = Y A,     δ = max_i |y_i (A_f − A)|

over the rows i of a sample that the fold does not hold out, since σ' falls by e^−δ at most where a score moves by δ.
Then ν² ≤ gᵗ L_f⁻¹ g and R² ≤ max_i ‖y_i‖² ‖L_f⁻¹‖, and self-concordance bounds the gap (``optimize.logistic.bounds``)
without a look.  Rows are held out of one fold at most, so that one sum for each fold's held-out rows gives all L_f.
What the sample loses, n/m in ν², a step wins back many times; the dual's bound, ‖g‖²/2λ, asks for far smaller gradients
where λ is small.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from discriminant.data import DenseRows
from discriminant.optimize.logistic.bounds import self_concordant_gap
from discriminant.optimize.logistic.lengths import Longest
from discriminant.optimize.logistic.problem import LogisticProblem
from discriminant.optimize.logistic.sample import gathered
from discriminant.protocols import Array

ROWS_PER_PARAMETER = 250  # then the curvature of the sample is right to a fifteenth
FARTHEST = 0.7  # a change of some score beyond which the curvature is taken anew


@dataclass
class Floor:
    """Rows y (m, 1+d) in inner coordinates, those that one fold holds out side by side, and their curvature at A."""

    Y: Array
    edges: Array  # (F + 2,) where each fold's held-out rows begin; the last are held out of none
    weight: Array  # (m,) of the rows themselves
    multiplier: Array  # (m,) of how many rows each stands for
    offset: Array | None
    totals: Array  # (F,) weight that each fold learns from
    total: float
    ridge: Array  # (1+d,) of a strength of one, in inner coordinates
    longest: float  # max_i ‖y_i‖² over all rows
    A: Array | None = None
    parts: Array = field(default_factory=lambda: np.empty(0))
    H: Array = field(default_factory=lambda: np.empty(0))  # of all rows, as the sample shows it

    def take(self, at: Array) -> None:
        """The curvature at weights (1+d,)."""
        z = self.Y @ at
        if self.offset is not None:
            z += self.offset
        tail = np.exp(-np.abs(z))
        h = self.weight * tail / np.square(1 + tail)
        bounds = list(zip(self.edges[:-1].tolist(), self.edges[1:].tolist(), strict=True))
        self.parts = np.stack([(self.Y[a:b].T * h[a:b]) @ self.Y[a:b] for a, b in bounds])
        self.A = at.copy()
        if np.ptp(self.multiplier) < 0.1 * self.multiplier.max():
            self.H = float(self.multiplier.mean()) * self.parts.sum(axis=0) / self.total
        else:
            self.H = (self.Y.T * (h * self.multiplier)) @ self.Y / self.total

    def gaps(self, A: Array, G: Array, strengths: Array) -> Array:
        """(F,) proved at weights A (F, 1+d) with gradients G; infinite where the sample proves nothing."""
        assert self.A is not None
        moved = np.abs((A - self.A) @ self.Y.T).max(axis=1)
        if not (moved <= FARTHEST).all():
            self.take(A.mean(axis=0))
            moved = np.abs((A - self.A) @ self.Y.T).max(axis=1)
        F = len(A)
        scale = (np.exp(-moved) / self.totals)[:, None, None]
        floors = scale * (self.parts.sum(axis=0) - self.parts[:F]) + strengths[:, None, None] * np.diag(self.ridge)
        try:
            inverse = np.linalg.inv(floors)
        except np.linalg.LinAlgError:
            return np.full(F, np.inf)
        square = np.einsum("fi,fij,fj->f", G, inverse, G)
        reach = self.longest * np.linalg.norm(inverse, axis=(1, 2))
        sound = np.isfinite(square) & np.isfinite(reach) & (square >= 0)
        found = [
            self_concordant_gap(float(np.sqrt(s)), float(np.sqrt(r))) if good else float("inf")
            for s, r, good in zip(square, reach, sound, strict=True)
        ]
        return np.array(found)


def make_floor(problem: LogisticProblem, weights: Array, offset: Array | None) -> Floor | None:
    """The floor under folds that learn from rows with these weights (F, n), zero where they are held out.

    None where it is not for them: more than two classes, rows that are not dense, or held out of several folds.
    """
    rows = problem.blocks.rows
    if problem.n_outputs > 1 or not isinstance(rows, DenseRows) or not problem.intercept:
        return None
    out = weights == 0
    if (out.sum(axis=0) > 1).any():
        return None
    F, D = len(weights), problem.n_features + 1
    index, _, multiplier = problem.blocks.chosen(min(problem.n_rows, ROWS_PER_PARAMETER * D), problem.n_classes)
    held = np.where(out[:, index].any(axis=0), out[:, index].argmax(axis=0), F)
    order = np.argsort(held, kind="stable")
    index, held = index[order], held[order]
    Y = np.ones((len(index), D))
    Y[:, 1:] = gathered(problem, rows.X, index, np.float64)
    units = problem.units[:, 0]
    own = weights[:, index].max(axis=0)  # what all folds but one give it
    stands = np.ones(len(index)) if multiplier is None else np.asarray(multiplier, dtype=np.float64)[order]
    base = 1.0 if problem.blocks.weight is None else np.asarray(problem.blocks.weight)[index]
    return Floor(
        Y,
        np.searchsorted(held, np.arange(F + 2)),
        own,
        stands / base,
        None if offset is None else offset[index, 0],
        weights.sum(axis=1),
        float(weights.max(axis=0).sum()),
        np.concatenate([[0.0], 1 / np.square(units[1:])]),
        float(problem.blocks.reduce(Longest(problem.rows, 1 / units, True)).most),
    )
