"""Checking a verdict again from the data alone, in exact arithmetic, without trusting how it was found.

Separable:        every row is on its side of the hyperplane, at no less than the margin.
Quasi-separable:  no row is on the wrong side, some are strictly on the right one, and positive multipliers show that
                  the boundary rows cannot be moved off the boundary (Σ λ a = 0 over rows that span them).
Overlapping:      positive multipliers with Σ λ a = 0 over rows that span all rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from discriminant.inference.columns import counterexample
from discriminant.inference.cone import OWN, KeslerCone, Pair
from discriminant.inference.exact import Integers, independent_rows, nullspace
from discriminant.protocols import Array


def balanced(cone: KeslerCone, multipliers: Mapping[Pair, Fraction]) -> bool:
    """Whether all multipliers are positive and Σ λ (e_y − e_k) ⊗ ỹ = 0 exactly."""
    if not multipliers or min(multipliers.values()) <= 0:
        return False
    return not any(map(any, cone.balance(multipliers)))


def rank(cone: KeslerCone, pairs: Sequence[Pair]) -> int:
    """A proved lower bound (a minor modulo a prime) on the rank of these rows; the rank itself unless out of luck."""
    return len(independent_rows(cone.integer_rows(pairs))[0])


def all_positive(cone: KeslerCone, weights: Sequence[int], least: Mapping[Pair, Fraction]) -> bool:
    """Whether every row is strictly on its side, and by at least ``least``."""
    if not (cone.signs(weights) > 0).all():
        return False
    return not least or bool((cone.signs(weights, least) >= 0).all())


def boundary_only(
    cone: KeslerCone,
    weights: Sequence[int],
    boundary: Array,
    spanning: Sequence[Pair],
    columns: tuple[int, ...],
    relations: Mapping[int, Integers],
) -> bool:
    """Whether no row is wrong, some are right, and the rest are the boundary, all of it in the span of ``spanning``.

    On the boundary the other columns follow from ``columns`` through ``relations``, which is checked too.
    """
    signs = cone.signs(weights)
    zero = signs == 0
    if (signs < 0).any() or not ((signs > 0) & (signs != OWN)).any():
        return False
    if not np.array_equal(np.flatnonzero(zero.any(axis=1)), boundary):
        return False
    inner = replace(cone.take(boundary), keep=columns)
    if not relations_hold(inner, relations) or {*columns, *relations} != {*cone.keep}:
        return False
    place = {int(i): k for k, i in enumerate(boundary)}
    if any(i not in place for i, _ in spanning):
        return False
    basis, _ = nullspace(inner.integer_rows([(place[i], k) for i, k in spanning]))
    return all(not inner.exact_signs(zero[boundary], vector).any() for vector in basis)


def relations_hold(cone: KeslerCone, relations: Mapping[int, Integers]) -> bool:
    """Whether each aliased column is the combination of the others that it is said to be, on every row."""
    return counterexample(cone.source, list(relations.values())) is None
