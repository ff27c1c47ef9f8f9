"""The slopes of units outside the working set: R = −Xᵗ s v over all features, looked at as rarely as a proof allows.

R is linear in v.  Looks at v₁, …, v_k therefore tell R at every point of their span for nothing, and at v

    |R_j(v) − Σ c_i R_j(v_i)| ≤ spread_j ‖v − Σ c_i v_i‖_s,        Σ c_i = 1,

with the c that bring the span nearest to v.  Along a path of λ answers go on nearly straight, so that the rest is of
second order; only columns whose slopes it could lift above their level are looked at one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.optimize.sparse.columns import Gathered, GatheredSparse, Source
from discriminant.optimize.sparse.levels import Levels
from discriminant.optimize.sparse.losses import Losses
from discriminant.protocols import Array

MOST_LOOKS = 4
MOST_WEIGHT = 10.0  # Σ|c| beyond which rounding in looks is no longer nothing
GATHER_SHARE = 40  # a column of row-major storage costs about as much to gather as so many columns of a full pass
FEW_ENTRIES = 0.5  # of a sparse X: to read more by columns that are picked out costs as much as to read all


@dataclass(frozen=True)
class Span:
    """Looks (v, R), the last of them apart from the steps that led to it."""

    v: Array  # (n, q)
    R: Array  # (d, q)
    dv: Array  # (k, n q)
    dR: Array  # (k, d q)
    weighted: Array  # (k, n q): s dv
    gram: Array  # (k, k)

    def near(self, v: Array, s: Array) -> tuple[Array, Array]:
        """(R where the span is nearest to v, how far that is in each output)."""
        rest, R = v - self.v, self.R
        if len(self.gram) and rest.any():
            c = np.linalg.lstsq(self.gram, self.weighted @ rest.ravel(), rcond=1e-12)[0]
            if np.abs(c).sum() < MOST_WEIGHT:
                rest -= (c @ self.dv).reshape(v.shape)
                R = R + (c @ self.dR).reshape(R.shape)
        return R, np.sqrt(np.maximum(s @ np.square(rest), 0))


def make_span(looks: list[tuple[Array, Array]], s: Array) -> Span:
    """The span of these looks."""
    v, R = looks[-1]
    dv = np.stack([(u - v).ravel() for u, _ in looks[:-1]]) if len(looks) > 1 else np.empty((0, v.size))
    dR = np.stack([(Q - R).ravel() for _, Q in looks[:-1]]) if len(looks) > 1 else np.empty((0, R.size))
    weighted = dv * np.repeat(s, v.shape[1])
    return Span(v, R, dv, dR, weighted, weighted @ dv.T)


class Outside:
    """What the last looks at all features saw."""

    def __init__(self, source: Source, losses: Losses, intercept: bool) -> None:
        self.source, self.losses, self.intercept = source, losses, intercept
        self.looks: list[tuple[Array, Array]] = []  # (v, R over all features)
        self.passes = 0.0
        self._span: Span | None = None
        self._spreads: Array | None = None

    @property
    def spreads(self) -> Array:
        if self._spreads is None:
            self._spreads = self.source.spreads(self.losses.s, centred=self.intercept)
        return self._spreads

    def look(self, v: Array) -> Array:
        """R at v, in a pass."""
        R = -self.source.adjoint(self.losses.s[:, None] * v)
        self.passes += 1
        self.looks, self._span = [*self.looks[1 - MOST_LOOKS :], (v.copy(), R)], None
        return R

    def near(self, v: Array) -> tuple[Array, Array]:
        """(R where the span of the looks is nearest to v, how far that is in each output)."""
        if self._span is None:
            self._span = make_span(self.looks, self.losses.s)
        return self._span.near(v, self.losses.s)

    def suspects(self, v: Array, levels: Levels, inside: Array, columns: Any) -> tuple[Array, Array]:
        """(units outside whose slopes could exceed their level, those slopes)."""
        if not self.looks:
            self.look(v)
        for _ in range(2):
            R, far = self.near(v)
            most = np.abs(R)
            most += self.spreads[:, None] * far
            most = levels.arranged(most)
            over = (levels.lengths(most) if levels.whole else levels.worst(most)) - levels.l1
            over[inside] = -np.inf
            units = np.flatnonzero(over > 0)
            features = levels.features(units)
            if len(units) == 0 or not far.any():
                return units, R[features]
            found = self._some(v, features, columns)
            if found is not None:
                return units, found
            self.look(v)
        raise AssertionError("a slope where it was looked at is exact")

    def _some(self, v: Array, features: Array, columns: Any) -> Array | None:
        """R of these features alone; None where a look at all costs as much."""
        sv = self.losses.s[:, None] * v
        if isinstance(columns, Gathered) and len(features) * GATHER_SHARE <= self.source.d:
            self.passes += len(features) * GATHER_SHARE / self.source.d
            return np.asarray(-(self.source.columns(features) @ sv))
        if isinstance(columns, GatheredSparse) and columns.compiled:
            share = self.source.entries(features)
            if share <= FEW_ENTRIES:
                self.passes += share
                return -columns.some(features, sv)
        return None
