"""The cone of weights that classify every row, seen row by row: Kesler's construction made implicit.

A linear machine with weights w_0 … w_{K−1} is right on row i when (w_y − w_k)·ỹ_i > 0 for y = y_i and each rival
k ≠ y, where ỹ = (1, x).  With w_0 = 0 for a reference class (only differences matter) each pair (i, k) is one row

    a_{ik} = (e_y − e_k) ⊗ ỹ_i          of a matrix with D = (K−1)·r columns,

r being the number of independent columns of ỹ.  For K = 2 this is the textbook's sign-normalised sample.

Two coordinate systems, both with columns scaled by powers of two (exact): *exact* ones, (1, x·2^−e), in which weights
are integer vectors up to a positive factor; and *float* ones, (1, (x − c)·2^−e), centred where a column's offset
dwarfs its spread.  ``signs`` evaluates integer weights on all rows: floats with a bound on their error first, then
exact arithmetic for the few rows that the bound leaves open.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from discriminant.arrays import as_dense, is_sparse
from discriminant.data import as_rows, make_blocks
from discriminant.data.rows import Rows
from discriminant.inference.columns import row_signs
from discriminant.inference.exact import Integers, dot, integer_row, over_common_denominator
from discriminant.protocols import Array, Block

Pair = tuple[int, int]  # (row, rival class)
OWN = 2  # what ``signs`` holds at a row's own class
_EPS = np.finfo(np.float64).eps
FRAME_ROWS = 2_000  # whose values give the columns' units
_OFFSET = 1024.0  # a column is centred when its values exceed this many times their spread


@dataclass(frozen=True)
class KeslerCone:
    """The rows a_{ik} of some data, for the columns ``keep`` of X and, where ``intercept``, the one in front."""

    source: Rows
    codes: Array
    n_classes: int
    keep: tuple[int, ...]
    intercept: bool = True
    center: Array = field(default_factory=lambda: np.zeros(0))  # (d,), zero where a column needs no shift
    exponent: Array = field(default_factory=lambda: np.zeros(0, dtype=int))  # (d,)
    _integers: dict[int, tuple[Integers, int]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def width(self) -> int:
        """r: the columns of ỹ."""
        return len(self.keep) + self.intercept

    @property
    def dimension(self) -> int:
        """D = (K−1)·r."""
        return (self.n_classes - 1) * self.width

    @property
    def n_rows(self) -> int:
        return int(self.source.shape[0])

    @cached_property
    def empty_rows(self) -> Array:
        """Rows on which every discriminant is zero: no intercept, and zero in every column."""
        if self.intercept:
            return np.zeros(0, dtype=np.intp)
        sizes = np.empty(self.n_rows)

        def kernel(block: Block) -> None:
            sizes[block.start : block.start + block.rows] = as_dense(abs(block.design.values).max(axis=1)).ravel()

        self.each(kernel)
        return np.flatnonzero(sizes == 0)

    def take(self, rows: Array) -> KeslerCone:
        """The cone of some rows alone, in the same coordinates."""
        source = as_rows(self.source.pick(rows).raw)
        return replace(self, source=source, codes=self.codes[rows])

    # -- exact coordinates -------------------------------------------------------------------------------------------
    def integer_features(self, rows: Iterable[int]) -> list[tuple[Integers, int]]:
        """ỹ_i = m·2^−e for each row, as the integers m and the exponent e."""
        wanted = [int(i) for i in rows]
        missing = sorted({i for i in wanted if i not in self._integers})
        if missing:
            raw = self.source.pick(np.array(missing)).raw
            values = as_dense(raw[:, list(self.keep)])
            shift = [0] * self.intercept + [-int(self.exponent[j]) for j in self.keep]
            for i, row in zip(missing, values.tolist(), strict=True):
                self._integers[i] = integer_row([1] * self.intercept + row, shift)
        return [self._integers[i] for i in wanted]

    def integer_rows(self, pairs: Sequence[Pair]) -> list[Integers]:
        """a_{ik} times a power of two, in integers, for each pair."""
        features = self.integer_features(i for i, _ in pairs)
        return [self._place(m, int(self.codes[i]), k) for (i, k), (m, _) in zip(pairs, features, strict=True)]

    def _place(self, features: Integers, own: int, rival: int) -> Integers:
        row = [0] * self.dimension
        if own:
            row[(own - 1) * self.width : own * self.width] = features
        if rival:
            row[(rival - 1) * self.width : rival * self.width] = [-v for v in features]
        return row

    def true_multipliers(self, multipliers: Mapping[Pair, Fraction]) -> dict[Pair, Fraction]:
        """Multipliers of the rows a_{ik}, from those of their integer multiples."""
        exponents = self.exponents(multipliers)
        return {p: v * Fraction(2) ** e for (p, v), e in zip(multipliers.items(), exponents, strict=True)}

    def balance(self, multipliers: Mapping[Pair, Fraction]) -> list[list[Fraction]]:
        """Σ λ (e_y − e_k) ⊗ ỹ, one row for each class; nothing but zeros where the multipliers prove something."""
        scaled = [v / Fraction(2) ** e for v, e in zip(multipliers.values(), self.exponents(multipliers), strict=True)]
        unit = math.lcm(*(value.denominator for value in scaled))
        sums = [[0] * self.width for _ in range(self.n_classes)]
        for (i, k), value in zip(multipliers, scaled, strict=True):
            own, rival, whole = sums[int(self.codes[i])], sums[k], int(value * unit)
            for j, v in enumerate(self._integers[i][0]):
                if v:
                    own[j] += whole * v
                    rival[j] -= whole * v
        return [[Fraction(v, unit) for v in row] for row in sums]

    def exponents(self, pairs: Iterable[Pair]) -> list[int]:
        """e of each pair: its integer row is 2^e times a_{ik}."""
        return [exponent for _, exponent in self.integer_features(i for i, _ in pairs)]

    def machine(self, weights: Sequence[int]) -> list[Integers]:
        """The integer weights of each class, the reference class's zeros included."""
        blocks = [list(weights[k * self.width : (k + 1) * self.width]) for k in range(self.n_classes - 1)]
        return [[0] * self.width, *blocks]

    def spread(self, weights: Sequence[int], narrow: KeslerCone) -> Integers:
        """Integer weights of the cone of some of these columns as weights of this one."""
        place = {j: i + self.intercept for i, j in enumerate(self.keep)}
        wide = [[0] * self.width for _ in range(self.n_classes)]
        for row, block in zip(wide, narrow.machine(weights), strict=True):
            row[: self.intercept] = block[: self.intercept]
            for j, v in zip(narrow.keep, block[self.intercept :], strict=True):
                row[place[j]] = v
        return [v for row in wide[1:] for v in row]

    def exact(self, u: Array) -> Integers:
        """The integer weights of the hyperplanes that float weights u (in float coordinates) describe."""
        weights: list[Fraction | int] = []
        for k in range(self.n_classes - 1):
            block = [Fraction(float(v)) for v in u[k * self.width : (k + 1) * self.width]]
            if self.intercept:
                block[0] -= sum((v * c for v, c in zip(block[1:], self._shifts, strict=True) if c and v), Fraction(0))
            weights.extend(block)
        return over_common_denominator(weights)

    @cached_property
    def _shifts(self) -> list[Fraction]:
        """c·2^−e for each kept column."""
        return [Fraction(float(self.center[j])) / Fraction(2) ** int(self.exponent[j]) for j in self.keep]

    # -- float coordinates -------------------------------------------------------------------------------------------
    def floats(self, weights: Sequence[int]) -> tuple[Array, int]:
        """(u, t): integer weights in float coordinates are u·2^t up to rounding, the largest entry of u about one."""
        blocks = self.machine(weights)[1:]
        if self.intercept and self.center.any():
            unit = Fraction(2) ** max(0, *(c.denominator.bit_length() for c in self._shifts))
            whole = [int(c * unit) for c in self._shifts]
            blocks = [
                [int(block[0] * unit) + dot(block[1:], whole), *(v * int(unit) for v in block[1:])] for block in blocks
            ]
        else:
            unit = Fraction(1)
        top = max((abs(v) for block in blocks for v in block), default=0).bit_length()
        size = 1 << top
        return np.array([v / size for block in blocks for v in block]), top + 1 - int(unit).bit_length()

    def float_features(self, rows: Sequence[int]) -> Array:
        """(1, (x − c)·2^−e) for each row: (m, r)."""
        scale, keep = np.ldexp(1.0, -self.exponent), list(self.keep)
        values = as_dense(self.source.pick(np.asarray(rows)).values[:, keep])
        z = values * scale[keep] - self.center[keep] * scale[keep]
        return np.hstack([np.ones((len(z), 1)), z]) if self.intercept else z

    def float_rows(self, pairs: Sequence[Pair]) -> Array:
        """a_{ik} in float coordinates, for each pair: (m, D)."""
        z = self.float_features([i for i, _ in pairs])
        rows = np.zeros((len(pairs), self.n_classes, self.width))
        place = np.arange(len(pairs))
        own, rival = np.array([int(self.codes[i]) for i, _ in pairs]), np.array([k for _, k in pairs])
        rows[place, own] = z
        rows[place, rival] = -z
        return rows[:, 1:].reshape(len(pairs), self.dimension)

    def _tables(self, u: Array) -> tuple[Array, Array]:
        """Float weights as a (d, K) table for x − c and a (K,) row of intercepts."""
        d = self.source.shape[1]
        table = np.zeros((d, self.n_classes))
        blocks = np.asarray(u, dtype=float).reshape(self.n_classes - 1, self.width)
        table[list(self.keep), 1:] = blocks[:, self.intercept :].T
        if not self.extreme:
            table *= np.ldexp(1.0, -self.exponent)[:, None]
        start = np.zeros(self.n_classes)
        if self.intercept:
            start[1:] = blocks[:, 0]
        return table, start

    def worst_rivals(self, u: Array) -> tuple[Array, Array]:
        """For each row its rival with the least (w_y − w_k)·ỹ, and that value: one pass over the data."""
        table, start = self._tables(u)
        worst, rivals = np.empty(self.n_rows), np.empty(self.n_rows, dtype=np.intp)

        def two_classes(block: Block) -> None:
            z = self._scores(block, table[:, 1], start[1])
            part = slice(block.start, block.start + len(z))
            codes = np.asarray(block.target, dtype=np.intp)
            np.multiply(z, 2.0 * codes - 1.0, out=worst[part])
            np.subtract(1, codes, out=rivals[part])

        def machine(block: Block) -> None:
            z = self._scores(block, table, start)
            codes = np.asarray(block.target, dtype=np.intp)
            place = np.arange(len(codes))
            gap = z[place, codes][:, None] - z
            gap[place, codes] = np.inf
            part = slice(block.start, block.start + len(codes))
            rivals[part] = gap.argmin(axis=1)
            worst[part] = gap[place, rivals[part]]

        self.each(two_classes if self.n_classes == 2 else machine)
        return worst, rivals

    def each(self, kernel: Callable[[Block], None]) -> None:
        """Call the kernel on every block."""

        def quiet(block: Block) -> int:
            with np.errstate(over="ignore", invalid="ignore"):  # what overflows is left to exact arithmetic
                kernel(block)
            return 0

        blocks = make_blocks(self.source, self.codes)
        if blocks.elsewhere:
            for block in blocks:
                quiet(block)
        else:
            blocks.reduce(quiet)

    def _scores(self, block: Block, table: Array, start: Any) -> Array:
        return np.asarray(self._scaled(block) @ table + start)

    @property
    def extreme(self) -> bool:
        """Whether weights times a column's unit could leave the range of floats, so that X is scaled instead."""
        return bool(np.abs(self.exponent).max(initial=0) > 200)

    def _scaled(self, block: Block) -> Any:
        if not self.extreme:
            return self.shifted(block)
        scale, values = np.ldexp(1.0, -self.exponent), block.design.values
        return values.multiply(scale).tocsr() if is_sparse(values) else values * scale - self.center * scale

    def shifted(self, block: Block) -> Any:
        values = block.design.values
        return values - self.center if self.center.any() else values

    # -- exact verdicts ----------------------------------------------------------------------------------------------
    def signs(self, weights: Sequence[int], least: Mapping[Pair, Fraction] | None = None) -> Array:
        """sign((w_y − w_k)·ỹ_i) for every row and rival, proved: int8 (n, K), ``OWN`` at the row's own class.

        ``least`` maps (class, rival) to a number to subtract first: is each row that far on the right side?
        """
        result, (floats, top) = np.empty((self.n_rows, self.n_classes), dtype=np.int8), self.floats(weights)
        offset = np.zeros((self.n_classes, self.n_classes))
        for (own, rival), value in (least or {}).items():
            offset[own, rival] = float(value / Fraction(2) ** top)

        def kernel(block: Block, gap: Array, bound: Array) -> None:
            codes = np.asarray(block.target, dtype=np.intp)
            if least:
                gap = gap - offset[codes]
                bound = bound + 2.0 * _EPS * np.abs(offset).max()
            part = (gap > bound).astype(np.int8) - (gap < -bound).astype(np.int8)
            part[np.arange(len(codes)), codes] = OWN
            result[block.start : block.start + len(codes)] = part

        self.each_gap(floats, kernel)
        open_entries = result == 0
        if open_entries.any():
            result[open_entries] = self.exact_signs(open_entries, weights, least)[open_entries]
        return result

    def each_gap(self, u: Array, kernel: Callable[[Block, Array, Array], None]) -> None:
        """Hand the kernel, block by block, (w_y − w_k)·ỹ in floats, (rows, K), and a bound on its error, (rows, 1)."""
        table, start = self._tables(u)
        # One unit for rounding each weight, each shift and each product, d + 3 for the sum; doubled for the difference.
        # What underflows is off by 5e-324 at most: far less than these units of 1e-290.
        slip, tiny = 4.0 * (self.source.shape[1] + 8) * _EPS, 1e-290
        size, base = np.abs(table).max(axis=1) + tiny, np.abs(start).max() + tiny

        def call(block: Block) -> None:
            z, codes = self._scores(block, table, start), np.asarray(block.target, dtype=np.intp)
            gap = z[np.arange(len(codes)), codes][:, None] - z
            bound = slip * (abs(self._scaled(block)) @ size + base)
            kernel(block, gap, bound[:, None])

        self.each(call)

    def exact_signs(self, mask: Array, weights: Sequence[int], least: Mapping[Pair, Fraction] | None = None) -> Array:
        """The signs of the masked pairs by exact arithmetic alone, zero elsewhere: int8 (n, K)."""
        result, machine = np.zeros(mask.shape, dtype=np.int8), self.machine(weights)
        for own in range(self.n_classes):
            of_class = self.codes == own
            for rival in range(self.n_classes):
                rows = np.flatnonzero(mask[:, rival] & of_class) if own != rival else ()
                if len(rows):
                    vector = [a - b for a, b in zip(machine[own], machine[rival], strict=True)]
                    result[rows, rival] = self.feature_signs(
                        rows, vector, -(least or {}).get((own, rival), Fraction(0))
                    )
        return result

    def feature_signs(self, rows: Any, vector: Sequence[int], constant: Fraction | int = 0) -> Array:
        """sign(vector·ỹ_i + constant) for these rows, vector an integer vector of length r: exact."""
        constant += vector[0] if self.intercept else 0
        unit = Fraction(constant).denominator
        vector = [v * unit for v in vector]
        first = int(constant * unit)
        return row_signs(self.source, np.asarray(rows), self.keep, vector[self.intercept :], first, self.exponent)

    def values(self, pairs: Sequence[Pair], weights: Sequence[int]) -> list[Fraction]:
        """(w_y − w_k)·ỹ_i exactly for each pair, in exact coordinates."""
        exponents, rows = self.exponents(pairs), self.integer_rows(pairs)
        return [Fraction(dot(row, weights)) / Fraction(2) ** e for row, e in zip(rows, exponents, strict=True)]


def spread(rows: Array, most: int) -> Array:
    """So many of these at most, evenly spread."""
    return np.asarray(rows[np.unique(np.linspace(0, len(rows) - 1, min(most, len(rows))).astype(np.intp))])


def whole_cone(source: Rows, codes: Array, n_classes: int, intercept: bool) -> KeslerCone:
    """The cone of all columns, in units that a sample of the rows gives them."""
    n, d = source.shape
    frame = frame_of(source, spread(np.arange(n), FRAME_ROWS), intercept)
    return KeslerCone(source, codes, n_classes, tuple(range(d)), intercept, *frame)


def frame_of(source: Rows, rows: Array, intercept: bool = True) -> tuple[Array, Array]:
    """(center, exponent) of each column, from some rows: centred only where an offset would eat the digits."""
    values = source.pick(rows).values
    if is_sparse(values):
        top = np.asarray(abs(values).max(axis=0).todense()).ravel()
        return np.zeros(len(top)), _exponents(top)
    middle = values[len(values) // 2]
    size = np.abs(values).max(axis=0)
    with np.errstate(over="ignore"):
        spread = np.abs(values - middle).max(axis=0)
        shifted = (size > _OFFSET * spread) & (spread > 0) & intercept
    return np.where(shifted, middle, 0.0), _exponents(np.where(shifted, spread, size))


def _exponents(size: Array) -> Array:
    exponents = np.frexp(np.where(size > 0, size, 1.0))[1]
    return np.clip(exponents, -1000, 1000).astype(int)
