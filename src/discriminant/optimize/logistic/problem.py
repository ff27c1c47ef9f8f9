"""The problem that the fast solvers solve: rows, targets, a ridge on the user's scale, and inner units.

    J(A) = Σ w ℓ / Σ w + ½ λ ‖A₁…d‖²,        z = a₀ + (x − c)·a

A is in the user's units, with its intercept at the centre c.  Solvers work in the coordinates a_j u_j, where u_j is a
power of two near the spread of column j: an exact change, so that units of measurement cost no digits, while the
penalty stays where the user put it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from discriminant.data import ArrayBlocks
from discriminant.data.blocks import make_blocks
from discriminant.errors import DataError, capital, columns
from discriminant.optimize.logistic.looks import (
    Along,
    Look,
    ManyClass,
    Rows,
    TwoClass,
)
from discriminant.optimize.logistic.looks_sparse import ColumnSquares
from discriminant.protocols import Array

MANY_BLOCK = 600_000
SAMPLE_BLOCK = 2_048  # rows: tall enough for rank-k updates to run at full speed
SAMPLE_VALUES = 200_000  # and so many values where rows are many and columns few: a block costs some calls
SPARSE_BLOCKS = 16  # at most so many blocks of sparse rows
ONE_BLOCK = 200_000  # values: problems below this are one block
LARGEST_UNIT = 2.0**500  # the squares of larger units overflow, those of smaller ones than its inverse vanish
UNIT_ROWS = 4_096  # rows that centre and units are read from
FAR = 4.0  # a column whose mean lies further than so many spreads from zero is measured from one of its values


@dataclass(frozen=True)
class LogisticProblem:
    """Two or more classes, rows in blocks, λ ≥ 0 on the weights; the intercept is free or absent."""

    blocks: ArrayBlocks  # target: codes, or probabilities (n,) for two classes and (n, K) for more
    n_classes: int
    ridge: float = 0.0
    intercept: bool = True
    offset: Array | None = None
    center: Array | None = None  # (d,)
    unit: Array | None = None  # (d,)
    row_square: float = np.inf  # Σ w ‖x‖² / Σ w, where it is known (sparse rows)

    @property
    def n_rows(self) -> int:
        return self.blocks.n_rows

    @property
    def n_features(self) -> int:
        return self.blocks.n_features

    @property
    def n_outputs(self) -> int:
        return 1 if self.n_classes == 2 else self.n_classes

    @property
    def sparse(self) -> bool:
        return self.blocks.is_sparse

    @property
    def values(self) -> int:
        """How many numbers a pass reads."""
        return self.blocks.n_values

    @cached_property
    def total(self) -> float:
        """Σ w."""
        return self.blocks.total

    @cached_property
    def units(self) -> Array:
        """(1+d, 1): 1 for the intercept, then the columns' units."""
        unit = np.ones(self.n_features) if self.unit is None else self.unit
        return np.concatenate([[1.0], unit])[:, None]

    @cached_property
    def damping(self) -> Array:
        """(1+d, 1): λ / u², the ridge in inner coordinates; 0 for the intercept."""
        damping = self.ridge / np.square(self.units)
        damping[0] = 0.0
        return damping

    @cached_property
    def rows(self) -> Rows:
        return Rows(self.center, self.offset, self._kept())

    def _kept(self) -> Array | None:
        """x − c of all rows in float64, where they are few and would be made anew for each look."""
        if self.sparse or not self.blocks.in_memory or self.values > ONE_BLOCK:
            return None
        values = self.blocks.block(0, self.n_rows).design.values
        if self.center is not None:
            return np.asarray(values - self.center)
        return None if self._as_stored else np.asarray(values)

    @cached_property
    def _sizes(self) -> tuple[Array, Array]:
        """Σ w · u_i u_j, by which sums over rows become ∇²J, and the ridge of each weight, outputs outermost."""
        unit = np.tile(self.units[:, 0], self.n_outputs)
        return self.total * unit * unit[:, None], np.tile(self.damping[:, 0], self.n_outputs)

    def start(self) -> Array:
        """Zero weights, and the intercept that gives the class frequencies."""
        return np.zeros((self.n_features + 1, self.n_outputs))

    # Looks, in inner coordinates

    def look(self, A: Array, *, hessian: bool = False, bend: bool = False, single: bool = False) -> Look:
        """J, ∇J and, where asked, ∇²J at inner A; ``bend`` stays in the user's units.

        ``single``: the Hessian of two classes to float32 accuracy, for a preconditioner.
        """
        kernel = self.kernel(A, hessian=hessian, bend=bend, single=single)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            look = self.blocks.reduce(kernel)
        return self.finish(look, A)

    def kernel(self, A: Array, *, hessian: bool = False, bend: bool = False, single: bool = False) -> Any:
        """What a look does to a block."""
        A_user = A / self.units
        if self.n_outputs > 1:
            return ManyClass(A_user, self.rows, hessian, bend)
        return TwoClass(A_user, self.rows, hessian, bend, single)

    def finish(self, look: Look, A: Array) -> Look:
        """Sums over rows → J and its derivatives: normalised, in inner units, with the ridge."""
        look.value = look.value / self.total + 0.5 * float((self.damping * A * A).sum())
        look.gradient /= self.total * self.units
        look.gradient += self.damping * A
        if look.bend is not None:
            look.bend /= self.total
        if look.hessian is not None:
            sizes, damping = self._sizes
            look.hessian /= sizes
            np.einsum("ii->i", look.hessian)[...] += damping
        if not self.intercept:
            self._pin(look)
        return look

    def _pin(self, look: Look) -> None:
        """No intercept: its gradient is nothing and its curvature one, so that it never moves."""
        look.gradient[0] = 0.0
        if look.hessian is not None:
            index = np.arange(self.n_outputs) * (self.n_features + 1)
            look.hessian[index] = 0.0
            look.hessian[:, index] = 0.0
            look.hessian[index, index] = 1.0

    def along(self, A: Array, D: Array, steps: Array) -> Array:
        """J(A + s D) for each s, in one pass."""
        with np.errstate(over="ignore", invalid="ignore"):
            sums = self.blocks.reduce(Along(A / self.units, D / self.units, steps, self.rows))
        ridge = [0.5 * float((self.damping * np.square(A + s * D)).sum()) for s in steps]
        return np.asarray(sums / self.total + ridge)

    def hessian_root(self, A: Array) -> Array:
        """F with FᵗF = ∇²J(A), for problems small enough to hold all rows: (n·q + penalty rows, q(1+d))."""
        parts, D, q = [], self.n_features + 1, self.n_outputs
        unit = self.units[:, 0]
        for block in self.blocks:
            values = self.rows.values(block)
            values = values.toarray() if hasattr(values, "toarray") else values
            Y = np.hstack([np.full((len(values), 1), float(self.intercept)), values]) / unit
            weight = np.ones(len(Y)) if block.weight is None else block.weight
            weight = np.sqrt(weight / self.total)
            if q == 1:
                z = np.asarray(values @ (A[1:, 0] / unit[1:])) + A[0, 0]
                shift = self.rows.shift(block)
                tail = np.exp(-np.abs(z if shift is None else z + shift))
                parts.append(Y * (weight * np.sqrt(tail) / (1 + tail))[:, None])
                continue
            p = ManyClass(A / self.units, self.rows).posteriors(block, values)[2].T
            # √p_k (e_k − p) for k = 1…K: a square root of diag(p) − ppᵗ, row by row
            roots = -np.sqrt(p)[:, :, None] * p[:, None, :]
            roots[:, np.arange(q), np.arange(q)] = np.sqrt(p) * (p @ (1 - np.eye(q)))  # 1 − p, no digits cancelling
            parts.append((weight[:, None, None, None] * roots[:, :, :, None] * Y[:, None, None, :]).reshape(-1, q * D))
        ridge = np.diag(np.tile(np.sqrt(self.damping[:, 0]), q))
        ridge = ridge[np.diagonal(ridge) > 0]
        pinned = np.eye(q * D)[np.arange(q) * D] if not self.intercept else np.empty((0, q * D))
        return np.vstack([*parts, ridge, pinned])

    # Other forms of the same problem

    def with_units(self) -> LogisticProblem:
        """The same problem with centre and units from (a sample of) its rows."""
        if self.sparse and self.values > ONE_BLOCK and self.blocks.in_memory:
            return self._sparse_units()
        center, unit = choose_units(self)
        rows = self.n_rows if self.values <= ONE_BLOCK else self.blocks.block_rows
        if self.n_outputs > 1 and self.values > ONE_BLOCK:
            # X and the posteriors of a block together in the cache
            rows = min(2 * self.blocks.rows.block_rows, max(512, MANY_BLOCK // (self.n_features + 2 * self.n_outputs)))
        return replace(self, blocks=replace(self.blocks, block_rows=rows), center=center, unit=unit)

    @property
    def _as_stored(self) -> bool:
        """Whether a look reads X where it lies."""
        X = getattr(self.blocks.rows, "X", None)
        return isinstance(X, np.ndarray) and X.flags.c_contiguous and X.dtype in (np.float64, np.float32)

    def _sparse_units(self) -> LogisticProblem:
        """Units from all rows, in blocks; each hands back a whole gradient, so they are few where columns are many."""
        rows = max(self.n_rows // max(1, min(SPARSE_BLOCKS, self.values // (10 * self.n_features + 1))), 64)
        blocks = replace(self.blocks, block_rows=rows)
        squares = blocks.reduce(ColumnSquares()) / self.total
        unit = usable(power_of_two(np.sqrt(squares)))
        return replace(self, blocks=blocks, unit=unit, row_square=float(squares.sum()))

    def of_rows(self, index: Array, values: Any, target: Array | None, weight: Array | None) -> LogisticProblem:
        """Some rows of the whole, centred and in inner units already; the ridge keeps its meaning."""
        step = max(SAMPLE_BLOCK, min(2 * SAMPLE_BLOCK, SAMPLE_VALUES // max(self.n_features, 1), len(index) // 8))
        step = step if self.n_outputs == 1 else SAMPLE_BLOCK // 2  # with posteriors beside the rows
        return InnerProblem(
            make_blocks(values, target, weight, step),
            self.n_classes,
            self.ridge,
            self.intercept,
            None if self.offset is None else self.offset[index],
            inner_damping=self.damping,
        )


@dataclass(frozen=True)
class InnerProblem(LogisticProblem):
    """A problem whose rows are in inner units already; only the ridge still knows the user's."""

    inner_damping: Array | None = None

    @property
    def damping(self) -> Array:  # type: ignore[override]
        return np.asarray(self.inner_damping)


def choose_units(problem: LogisticProblem) -> tuple[Array | None, Array]:
    """A centre (values of the columns themselves, where means are large against spreads) and units (powers of two)."""
    center, units = _usual_units(problem)
    return center, usable(units)


def usable(units: Array) -> Array:
    """The units, unless their squares are beyond floats."""
    beyond = np.flatnonzero((units > LARGEST_UNIT) | (units < 1 / LARGEST_UNIT))
    if beyond.size:
        raise DataError(
            f"{capital(columns(beyond.tolist(), None))}: the values are of the order {units[beyond[0]]:.1g}, and "
            "their squares are beyond what the machine can hold. Measure in another unit."
        )
    return units


def _usual_units(problem: LogisticProblem) -> tuple[Array | None, Array]:
    n, d = problem.n_rows, problem.n_features
    if problem.sparse:
        blocks = problem.blocks
        X: Any = blocks.block(0, n).design.raw if blocks.in_memory else blocks.spread(16 * UNIT_ROWS).raw
        squares = np.bincount(X.indices, np.square(X.data.astype(np.float64)), minlength=d) if X.nnz else np.zeros(d)
        return None, power_of_two(np.sqrt(squares / max(X.shape[0], 1)))
    if problem.values <= ONE_BLOCK and problem.blocks.in_memory:
        values = problem.blocks.block(0, n).design.values
    else:
        count = min(n, UNIT_ROWS, max(512, 400_000 // max(d, 1)))
        values = problem.blocks.spread(count).values
    with np.errstate(over="ignore", invalid="ignore"):
        mean, size = values.mean(axis=0), size_of(values)
        # |mean| > F·spread, since spread² = size² − mean²: no second walk through the rows
        far = ~(np.abs(mean) <= FAR / np.sqrt(1 + FAR**2) * size) & np.isfinite(mean)
        if not problem.intercept or not far.any():
            return None, power_of_two(size)
        # The value nearest to the mean, so that x − c is exact where it matters (Sterbenz's lemma).
        nearest = values[np.abs(values - mean).argmin(axis=0), np.arange(d)]
        center = np.where(far, nearest, 0.0)
        return center, power_of_two(size_of(values - center))


def size_of(values: Array) -> Array:
    """Root mean squares of the columns, without overflow."""
    most = np.maximum(values.max(axis=0), -values.min(axis=0))
    most[~(most > 0)] = 1.0
    scaled = values / most
    return np.asarray(most * np.sqrt(np.einsum("ij,ij->j", scaled, scaled) / len(values)))


def power_of_two(size: Array) -> Array:
    """2^round(log₂ size); 1 where there is no size."""
    good = np.isfinite(size) & (size > 0)
    return np.where(good, np.exp2(np.round(np.log2(np.where(good, size, 1.0)))), 1.0)
