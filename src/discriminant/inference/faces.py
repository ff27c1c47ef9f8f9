"""Faces of the cone of weights: what is left of it once some rows are known to vanish on all of it.

If λ > 0 and Σ λ_s a_s = 0, then any w with a_s·w ≥ 0 on these rows has a_s·w = 0 on each.  So the cone
{w : A w ≥ 0} lies in the subspace V = {w : a_s·w = 0}, and the search goes on in V.  A ``Face`` holds independent
rows that span the vanishing ones, the multipliers that prove it (one positive vector for all of them), and V.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from discriminant.inference.cone import KeslerCone, Pair
from discriminant.inference.exact import Integers, dot, independent_rows, nullspace, over_common_denominator, solve
from discriminant.protocols import Array


@dataclass(frozen=True)
class Face:
    """The subspace of weights that vanish on some pairs, with proof that all weights in the cone do."""

    cone: KeslerCone
    pairs: tuple[Pair, ...] = ()  # independent, spanning the vanishing rows
    multipliers: Mapping[Pair, Fraction] = field(default_factory=dict)  # > 0, of integer rows, Σ λ a = 0
    basis: tuple[Integers, ...] | None = None  # of V; None: everything
    free: tuple[int, ...] = ()  # the coordinate that each basis vector has to itself

    @property
    def dimension(self) -> int:
        return self.cone.dimension - len(self.pairs)

    @cached_property
    def directions(self) -> Array:
        """An orthonormal basis of V in float coordinates, (D, v), up to rounding."""
        if self.basis is None:
            return np.eye(self.cone.dimension)
        return np.asarray(np.linalg.qr(np.array([self.cone.floats(vector)[0] for vector in self.basis]).T)[0])

    @cached_property
    def anywhere(self) -> Integers:
        """Weights in V at random: a row that vanishes on them vanishes on V, but for one chance in 2^40."""
        random = np.random.default_rng(len(self.pairs))
        return self.combine([int(v) for v in random.integers(1, 1 << 40, size=self.dimension)])

    def alive(self, pairs: Sequence[Pair]) -> list[Pair]:
        """The pairs that do not vanish on V."""
        if self.basis is None:
            return list(pairs)
        rows = self.cone.integer_rows(pairs)
        return [pair for pair, row in zip(pairs, rows, strict=True) if dot(row, self.anywhere)]

    def weights(self, u: Array) -> Integers:
        """The integer weights in V nearest to float weights u, in that they share V's free coordinates."""
        exact = self.cone.exact(u)
        if self.basis is None:
            return exact
        return self.combine([Fraction(exact[j], vector[j]) for vector, j in zip(self.basis, self.free, strict=True)])

    def combine(self, coordinates: Sequence[Fraction | int]) -> Integers:
        """Integer weights with these coordinates on the basis of V."""
        if self.basis is None:
            return over_common_denominator(coordinates)
        scaled = over_common_denominator(coordinates)
        terms = [(c, vector) for c, vector in zip(scaled, self.basis, strict=True) if c]
        return over_common_denominator([sum(c * vector[j] for c, vector in terms) for j in range(self.cone.dimension)])

    def restrict(self, rows: Sequence[Integers]) -> list[Integers]:
        """Integer rows as functionals on V, in the coordinates of its basis."""
        if self.basis is None:
            return [list(row) for row in rows]
        return [[dot(row, vector) for vector in self.basis] for row in rows]

    def circuit(self, pairs: Sequence[Pair]) -> dict[Pair, Fraction] | None:
        """λ > 0 on some of these pairs with Σ λ a = 0 on V, where these pairs have just one such relation."""
        rows = self.restrict(self.cone.integer_rows(pairs))
        relations, _ = nullspace(list(map(list, zip(*rows, strict=True))))
        if len(relations) != 1:
            return None
        relation = relations[0]
        if min(relation) < 0 < max(relation):
            return None
        return {pair: Fraction(abs(v)) for pair, v in zip(pairs, relation, strict=True) if v}

    def extend(self, wanted: Mapping[Pair, Fraction]) -> Face | None:
        """The face on which these pairs vanish too, if multipliers near the wanted ones prove that they do.

        Independent pairs among them get new multipliers, x of  A_Bᵗ x = −Σ_rest λ a  over the old and new independent
        pairs B; the old pairs' part of x may be negative and is mended by adding the old multipliers often enough.
        """
        order = sorted(wanted, key=lambda pair: -wanted[pair])
        rows = dict(zip(order, self.cone.integer_rows(order), strict=True))
        old = self.cone.integer_rows(self.pairs)
        chosen, pivots = independent_rows([*old, *rows.values()], self._pivot_order(order))
        if chosen[: len(old)] != list(range(len(old))):
            return None
        new = [order[i - len(old)] for i in chosen[len(old) :]]
        rest = [pair for pair in order if pair not in set(new)]
        base = [*old, *(rows[pair] for pair in new)]
        x = combination(base, pivots, [(rows[pair], wanted[pair]) for pair in rest])
        if x is None or any(value <= 0 for value in x[len(old) :]):
            return None
        lift = max([Fraction(1), *(1 - v / self.multipliers[p] for p, v in zip(self.pairs, x, strict=False))])
        total = {pair: lift * value for pair, value in self.multipliers.items()}
        for pair, value in [*zip((*self.pairs, *new), x, strict=True), *((p, wanted[p]) for p in rest)]:
            total[pair] = total.get(pair, Fraction(0)) + value
        basis, free = nullspace(base, pivots)
        return Face(self.cone, (*self.pairs, *new), total, tuple(basis), tuple(free))

    def _pivot_order(self, pairs: Sequence[Pair]) -> list[int]:
        """Coordinates by how large they are in these rows: pivots on large ones keep the numbers of V small."""
        size = np.abs(self.cone.float_rows([*self.pairs, *pairs])).max(axis=0)
        return [int(j) for j in np.argsort(-size, kind="stable")]


def combination(
    base: Sequence[Integers], pivots: Sequence[int], rest: Sequence[tuple[Integers, Fraction]]
) -> list[Fraction] | None:
    """x with Σ x_b base_b = −Σ λ row over the rest, or None where the rest is not in the span of the base."""
    width = len(base[0])
    scale = over_common_denominator([*(weight for _, weight in rest), 1])
    unit = scale[-1] if scale else 1
    target = [-sum(int(weight * unit) * row[j] for row, weight in rest) for j in range(width)]
    numerators, denominator = solve([[row[j] for row in base] for j in pivots], [[target[j]] for j in pivots])
    solution = [int(v) for v in numerators[:, 0]]
    for j in set(range(width)) - set(pivots):
        if sum(v * row[j] for v, row in zip(solution, base, strict=True)) != denominator * target[j]:
            return None
    return [Fraction(v, denominator * unit) for v in solution]
