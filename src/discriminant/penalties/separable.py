"""A penalty that is a sum over groups of weights, with bounds: what coordinate descent on a working set asks of it.

    λ Ω(a) = λ Σ_j [ l₁ |a_j| + ½ l₂ a_j² ],    lower_j ≤ a_j ≤ upper_j       (each weight by itself)
    λ Ω(a) = λ Σ_g [ l₁ ‖a_g‖ + ½ l₂ ‖a_g‖² ]                               (``joint``: a group's weights together)

A *group* is one feature or several; groups enter a working set as a whole.  All numbers are in inner coordinates
a_j u_j, u_j the unit of column j, so that the penalty is the one the user meant in the user's units of measurement.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from discriminant.errors import ParameterError
from discriminant.protocols import Array


@dataclass(frozen=True)
class SeparablePenalty:
    """l₁ and l₂ of the groups at λ = 1; ``order``: features group by group, ``starts``: where groups begin in it."""

    l1: Array  # (groups,)
    l2: Array  # (groups,)
    lower: Array  # (d,)
    upper: Array  # (d,)
    joint: bool
    order: Array  # (d,)
    starts: Array  # (groups + 1,)

    @property
    def n_groups(self) -> int:
        return len(self.l1)

    @cached_property
    def sizes(self) -> Array:
        return np.diff(self.starts)

    @property
    def single(self) -> bool:
        """Whether every group is one feature."""
        return len(self.l1) == len(self.order)

    @property
    def bounded(self) -> bool:
        return bool(np.isfinite(self.lower).any() or np.isfinite(self.upper).any())

    @cached_property
    def free(self) -> Array:
        """(groups,): no penalty and no bounds, like the intercept."""
        flat = (self.l1 == 0) & (self.l2 == 0)
        return np.asarray(flat if self.joint else flat & np.isinf(self.lower) & np.isinf(self.upper))

    def arranged(self, R: Array) -> Array:
        """Numbers of all features, group by group."""
        return R if self.single else R[self.order]

    @cached_property
    def plain(self) -> bool:
        """Whether all there is are kinks: Ω* is 0 where |R| ≤ l₁, and infinite elsewhere."""
        return self.single and not self.joint and not self.l2.any() and not self.bounded and bool((self.l1 > 0).all())

    def features(self, groups: Array) -> Array:
        """The features of these groups, one group after the other."""
        if self.single:
            return np.asarray(self.order[groups])
        return np.concatenate([self.order[self.starts[u] : self.starts[u + 1]] for u in groups] or [self.order[:0]])

    def times(self, strength: float) -> SeparablePenalty:
        """The penalty at λ = strength."""
        return replace(self, l1=self.l1 * strength, l2=self.l2 * strength)

    def pick(self, groups: Array) -> SeparablePenalty:
        """The penalty of some groups, their features renumbered 0, 1, …"""
        features = self.features(groups)
        sizes = self.sizes[groups]
        return SeparablePenalty(
            self.l1[groups],
            self.l2[groups],
            self.lower[features],
            self.upper[features],
            self.joint,
            np.arange(len(features)),
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp),
        )

    # For weights A (d, q) of the features in ``order`` 0, 1, … (a picked set, or all features in groups of one)

    def each(self, per_group: Array) -> Array:
        """(d, 1) from (groups,)."""
        return (per_group if self.single else np.repeat(per_group, self.sizes))[:, None]

    def lengths(self, C: Array) -> Array:
        """‖C_g‖ of the groups, (groups,)."""
        squares = np.einsum("jk,jk->j", C, C)
        return np.sqrt(squares if self.single else np.add.reduceat(squares, self.starts[:-1]))

    def value(self, A: Array) -> float:
        """Ω(A)."""
        if self.joint:
            length = self.lengths(A)
            return float(self.l1 @ length + 0.5 * (self.l2 @ np.square(length)))
        if self.plain:
            return float((self.l1 @ np.abs(A)).sum())
        return float((self.each(self.l1) * np.abs(A) + 0.5 * self.each(self.l2) * np.square(A)).sum())

    def kinks(self, A: Array) -> float:
        """The part of Ω(A) that is not smooth."""
        return float(self.l1 @ self.lengths(A)) if self.joint else float((self.each(self.l1) * np.abs(A)).sum())

    def scale(self, R: Array) -> float:
        """The largest τ ≤ 1 for which τR lies where the conjugate is finite; free groups are left out."""
        if self.plain:
            return float(1 / (self.largest(np.abs(R)) / self.l1).max(initial=1.0))
        free = self.free
        if self.joint:
            excess = self.lengths(R)
            tight = (self.l2 == 0) & ~free & (excess > self.l1)
            return float(np.min(self.l1[tight] / excess[tight], initial=1.0))
        l1 = np.broadcast_to(self.each(self.l1), R.shape)
        stiff = np.where(R > 0, np.isinf(self.upper)[:, None], np.isinf(self.lower)[:, None])
        tight = stiff & (self.each(self.l2) == 0) & ~self.each(free) & (np.abs(R) > l1)
        return float(np.min(l1[tight] / np.abs(R[tight]), initial=1.0))

    def conjugate(self, R: Array) -> float:
        """Ω*(R) = sup_a ⟨R, a⟩ − Ω(a) over the bounds, where R was scaled into its domain; free groups count 0."""
        if self.plain:
            return 0.0
        if self.joint:
            excess = np.maximum(self.lengths(R) - self.l1, 0.0)
            soft = self.l2 > 0
            return float((np.square(excess[soft]) / (2 * self.l2[soft])).sum())
        excess = np.maximum(np.abs(R) - self.each(self.l1), 0.0)
        l2 = np.broadcast_to(self.each(self.l2), R.shape)
        end = np.where(R > 0, self.upper[:, None], -self.lower[:, None])
        with np.errstate(divide="ignore", invalid="ignore"):
            a = np.minimum(np.where(l2 > 0, excess / l2, np.inf), end)
        a[(excess == 0) | np.isinf(a)] = 0.0  # an infinite one is free, or a tight one at its level
        return float((excess * a - 0.5 * l2 * np.square(a)).sum())

    def violation(self, R: Array) -> Array:
        """(groups,): by how much the slope at a = 0 exceeds what the penalty (or a bound at zero) holds back."""
        if self.joint:
            return np.asarray(self.lengths(R) - self.l1)
        if self.plain:
            return np.asarray(self.largest(np.abs(R)) - self.l1)
        pull = np.where(R > 0, np.where((self.upper > 0)[:, None], R, 0), np.where((self.lower < 0)[:, None], -R, 0))
        return np.asarray(self.largest(pull) - self.l1)

    def largest(self, C: Array) -> Array:
        """The largest of each feature's numbers, (d,), of C (d, q); weights that are not joint are groups of one."""
        return np.asarray(C[:, 0] if C.shape[1] == 1 else C.max(axis=1))


def separable_penalty(
    d: int,
    units: Array,
    *,
    l1_ratio: float = 1.0,
    factors: Array | None = None,
    lower: Array | float = -np.inf,
    upper: Array | float = np.inf,
    groups: tuple[tuple[int, ...], ...] | None = None,
    joint: bool = False,
) -> SeparablePenalty:
    """The penalty of an elastic net with mixing l1_ratio, in inner coordinates; ``units`` (d,) are equal in a group.

    A group of features counts √|g| times in l₁, as everywhere in this package; features in no group are groups of one.
    """
    order, starts = _arrange(d, groups)
    sizes = np.diff(starts)
    f: Array | float = 1.0
    if factors is not None:
        f = np.asarray(factors, dtype=np.float64)
        if len(f) not in (d, len(sizes)) or not (np.isfinite(f).all() and (f >= 0).all()):
            raise ParameterError(f"penalty_factors must be {d} finite numbers ≥ 0, one for each feature.")
        f = f[order][starts[:-1]] if len(f) == d else f
    low, high = np.empty(d), np.empty(d)
    low[:], high[:] = lower, upper
    if not ((low <= 0).all() and (high >= 0).all()):
        raise ParameterError("Bounds of weights must hold zero between them: lower ≤ 0 ≤ upper.")
    joint = joint or bool((sizes > 1).any())
    if joint and bool(np.isfinite(low).any() or np.isfinite(high).any()):
        raise ParameterError("Bounds go with weights that are penalised one by one, not with groups.")
    u = units if groups is None else units[order][starts[:-1]]
    root = np.sqrt(sizes) if groups is not None else 1.0
    return SeparablePenalty(
        l1_ratio * f * root / u, (1 - l1_ratio) * f / u**2, low * units, high * units, joint, order, starts
    )


def _arrange(d: int, groups: tuple[tuple[int, ...], ...] | None) -> tuple[Array, Array]:
    if groups is None:
        return np.arange(d), np.arange(d + 1)
    members = np.fromiter(itertools.chain.from_iterable(groups), dtype=np.intp)
    sizes = np.fromiter(map(len, groups), dtype=np.intp, count=len(groups))
    known = members.min(initial=0) >= 0 and members.max(initial=-1) < d
    used = np.bincount(members, minlength=d) if known else members
    if not known or used.max(initial=0) > 1 or sizes.min(initial=1) == 0:
        raise ParameterError(f"groups must be disjoint, not empty, and name features from 0 to {d - 1}.")
    if len(members) == len(groups):  # groups of one are features, in their own order
        return np.arange(d), np.arange(d + 1)
    rest = np.flatnonzero(used == 0)
    ends = np.cumsum(np.concatenate([[0], sizes, np.ones(len(rest), dtype=np.intp)]))
    return np.concatenate([members, rest]), ends.astype(np.intp)


def shared_units(units: Array, groups: tuple[tuple[int, ...], ...] | None) -> Array:
    """Units (d,) that are equal in a group: the largest of its features."""
    if not groups:
        return units
    order, starts = _arrange(len(units), groups)
    out = np.empty_like(units)
    out[order] = np.repeat(np.maximum.reduceat(units[order], starts[:-1]), np.diff(starts))
    return out
