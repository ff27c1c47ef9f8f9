"""Two classes in many columns: rows that single columns settle are taken off first, and the rest is small.

A column whose values in one class all lie at or below a threshold, and in the other all at or above it, is a weight
vector that puts no row on the wrong side.  The rows it puts strictly on their side can be forgotten: adding this
vector often enough keeps them there whatever else the weights do.  In the rows that are left the game starts again,
until no column has such a threshold (words that occur in one class only, rare categories).  What is left decides:

    nothing: separable.   a part that is separable: separable.   a part that is not: quasi-separable, if any row went.

Before exact arithmetic is spent on the rest, L-BFGS looks for weights that separate it (``hinge``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from discriminant.arrays import as_dense, is_sparse
from discriminant.data import as_rows
from discriminant.inference.columns import independent_columns
from discriminant.inference.cone import KeslerCone, Pair, whole_cone
from discriminant.inference.exact import Integers, over_common_denominator
from discriminant.inference.hinge import separating
from discriminant.inference.search import Finding, Search
from discriminant.protocols import Array

Raw = dict[int, Fraction]  # weights over the columns of X; −1 is the intercept


@dataclass(frozen=True)
class Rest:
    """The rows that single columns left, on the columns that still vary there."""

    rows: Array  # row numbers in the whole
    columns: Array  # column numbers in the whole
    cone: KeslerCone


def find(cone: KeslerCone, seed: int) -> Finding:
    """What ``Search`` finds, for two classes and more columns than it can hold."""
    rows, layers = np.arange(cone.n_rows), []
    while len(rows):
        layer, settled = _layer(cone, rows)
        if not settled.any():
            break
        layers.append((layer, rows[settled]))
        rows = rows[~settled]
    if not len(rows):
        return Finding(_stack(cone, layers, {}), None, {}, tuple(cone.keep), (), {})
    rest = _rest(cone, rows)
    u = separating(rest.cone)
    if u is not None:
        weights = _stack(cone, layers, _raw(rest, rest.cone.exact(u)))
        return Finding(weights, None, {}, tuple(cone.keep), (), {})
    keep, relations = independent_columns(rest.cone.source, cone.intercept)
    found = Search(replace(rest.cone, keep=keep), seed).run()
    return _whole(cone, rest, layers, found, keep, relations)


def _whole(
    cone: KeslerCone,
    rest: Rest,
    layers: list[tuple[Raw, Array]],
    found: Finding,
    keep: tuple[int, ...],
    relations: Mapping[int, Integers],
) -> Finding:
    """A finding about the rest as one about all rows."""
    inner = replace(rest, cone=replace(rest.cone, keep=keep))
    last = _raw(inner, found.weights) if found.weights is not None else {}
    weights = _stack(cone, layers, last) if layers or last else None

    def outside(multipliers: Mapping[Pair, Fraction]) -> dict[Pair, Fraction]:
        return {(int(rest.rows[i]), k): value for (i, k), value in multipliers.items()}

    # A column has a finite estimate only if the rows that are left pin it down: not where it is part of a relation.
    loose = {j for vector in relations.values() for j, v in enumerate(vector[1:]) if v} | {*found.infinite}
    finite = {int(rest.columns[j]) for j in keep if j not in loose}
    mapped = {
        int(rest.columns[j]): _spread(vector, rest.columns, cone.source.shape[1]) for j, vector in relations.items()
    }
    constant = _constants(cone, rest)
    return Finding(
        weights,
        outside(found.circuit) if found.circuit is not None else None,
        outside(found.multipliers),
        tuple(j for j in cone.keep if j not in finite) if weights is not None else (),
        tuple(int(rest.columns[j]) for j in keep),
        {**mapped, **constant},
    )


def _spread(vector: Integers, columns: Array, d: int) -> Integers:
    wide = [0] * (d + 1)
    wide[0] = vector[0]
    for j, v in zip(columns, vector[1:], strict=True):
        wide[int(j) + 1] = v
    return wide


def _constants(cone: KeslerCone, rest: Rest) -> dict[int, Integers]:
    """Columns that are constant on the rest, as relations with the intercept (without one they are zero there)."""
    row = cone.source.pick(rest.rows[:1]).raw
    first = as_dense(row)[0].tolist()
    relations = {}
    for j in sorted(set(cone.keep) - {int(c) for c in rest.columns}):
        vector = over_common_denominator([Fraction(first[j]), Fraction(-1)])
        wide = [0] * (cone.source.shape[1] + 1)
        wide[0], wide[j + 1] = vector
        relations[j] = wide
    return relations


# -- layers ------------------------------------------------------------------------------------------------------------


def _layer(cone: KeslerCone, rows: Array) -> tuple[Raw, Array]:
    """Weights on all columns that put no row on the wrong side, and which rows they put strictly on their own."""
    code = cone.codes[rows]
    parts = [cone.source.pick(rows[code == k]).values for k in (0, 1)]
    if any(part.shape[0] == 0 for part in parts):  # one class alone: the intercept settles it, where there is one
        return {-1: Fraction(1 if parts[0].shape[0] == 0 else -1)}, np.full(len(rows), cone.intercept)
    (low0, high0), (low1, high1) = (_range(part) for part in parts)
    raw: Raw = {-1: Fraction(0)}
    settled = np.zeros(len(rows), dtype=bool)
    for sign, below, above, bottom, top in ((1, high0, low1, low0, high1), (-1, high1, low0, low1, high0)):
        usable = (below <= above) & (bottom < top)
        if not cone.intercept:
            usable &= (below <= 0) & (above >= 0)
        columns = np.flatnonzero(usable)
        middle = np.where(below < above, below / 2 + above / 2, below) if cone.intercept else np.zeros(len(below))
        for j in columns.tolist():
            scale = Fraction(sign) / Fraction(2) ** int(cone.exponent[j])
            raw[j] = scale
            raw[-1] -= scale * Fraction(float(middle[j]))
        for k, part in enumerate(parts):
            settled[np.flatnonzero(code == k)] |= _off(part, columns, middle)
    return raw, settled


def _range(values: Any) -> tuple[Array, Array]:
    """(least, largest) of each column."""
    if is_sparse(values):
        return tuple(np.asarray(part.todense()).ravel() for part in (values.min(axis=0), values.max(axis=0)))  # type: ignore[return-value]
    return values.min(axis=0), values.max(axis=0)


def _off(values: Any, columns: Array, middle: Array) -> Array:
    """Which rows differ from the threshold in some of these columns."""
    if not len(columns):
        return np.zeros(values.shape[0], dtype=bool)
    if not is_sparse(values):
        return np.asarray((values[:, columns] != middle[columns]).any(axis=1))
    at_zero = columns[middle[columns] == 0]
    hit = np.asarray((values[:, at_zero] != 0).sum(axis=1)).ravel() > 0
    for j in columns[middle[columns] != 0]:
        hit |= values[:, [j]].toarray()[:, 0] != middle[j]
    return hit


def _rest(cone: KeslerCone, rows: Array) -> Rest:
    low, high = _range(cone.source.pick(rows).values)
    columns = np.flatnonzero(low < high) if cone.intercept else np.flatnonzero((low != 0) | (high != 0))
    source = as_rows(cone.source.pick(rows).raw[:, columns])
    return Rest(rows, columns, whole_cone(source, cone.codes[rows], 2, cone.intercept))


def _raw(rest: Rest, weights: Sequence[int]) -> Raw:
    """Integer weights of the rest as rational weights over the columns of X."""
    cone = rest.cone
    raw: Raw = {-1: Fraction(weights[0]) if cone.intercept else Fraction(0)}
    for j, v in zip(cone.keep, weights[cone.intercept :], strict=True):
        if v:
            raw[int(rest.columns[j])] = Fraction(v) / Fraction(2) ** int(cone.exponent[j])
    return raw


def _stack(cone: KeslerCone, layers: list[tuple[Raw, Array]], last: Raw) -> Integers:
    """Σ M_t w_t with each M_t so large that the rows settled by layer t stay so, whatever the later ones do."""
    total: Raw = dict(last)
    for layer, settled in reversed(layers):
        own, later = (np.abs(_values(cone, raw, settled)) for raw in (layer, total))
        ratio = float(later.max()) / float(own.min()) if later.any() else 0.0
        factor = Fraction(2) ** (int(np.ceil(np.log2(ratio))) + 2) if ratio > 0 else Fraction(1)
        for j, value in layer.items():
            total[j] = total.get(j, Fraction(0)) + factor * value
    weights: list[Fraction | int] = [total.get(-1, Fraction(0))] if cone.intercept else []
    weights += [total.get(j, Fraction(0)) * Fraction(2) ** int(cone.exponent[j]) for j in cone.keep]
    return over_common_denominator(weights)


def _values(cone: KeslerCone, raw: Raw, rows: Array) -> Array:
    """w·(1, x) on these rows, in floats."""
    w = np.zeros(cone.source.shape[1])
    for j, value in raw.items():
        if j >= 0:
            w[j] = float(value)
    return np.asarray(cone.source.pick(rows).values @ w).ravel() + float(raw.get(-1, 0))
