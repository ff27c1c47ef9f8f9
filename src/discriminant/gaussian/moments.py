"""Class moments: weight W_k, mean m_k and scatter S_k = Σ w (x − m_k)(x − m_k)ᵗ, by one pass over the rows.

Each class is shifted by its own approximate mean s_k (from a small sample) before squares are taken:

    S_k = Σ w (x − s_k)(x − s_k)ᵗ − W_k δ_k δ_kᵗ,      δ_k = Σ w (x − s_k) / W_k = m_k − s_k.

A subtraction of two floats is exact up to the rounding of its own, small, result; so offsets of 1e8 standard
deviations cost no digits.  Where every mean lies within five deviations of zero the shift is not worth its time: the
formula with s_k = 0 then loses about a digit, which ``inflation`` measures.  Means are kept relative
to an origin for the same reason: m_k = origin + unit · means_k.  Two moments merge by Chan's formula,
S = S_a + S_b + (W_a W_b / W) δδᵗ, δ = m_a − m_b, in a form that is symmetric in a and b to the last bit.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from discriminant.arrays import as_dense, is_sparse
from discriminant.data.blocks import ArrayBlocks, make_blocks
from discriminant.data.evaluate import DeviceRequest
from discriminant.data.labels import code_type, distinct
from discriminant.data.rows import DenseRows
from discriminant.gaussian.sparse_sums import sparse_class_sums
from discriminant.gaussian.sums import (
    MomentKernel,
    MomentSums,
    class_sums,
    class_weights,
    exact_difference,
    precise_product,
)
from discriminant.protocols import Array, Block
from discriminant.shown import Shown, class_table
from discriminant.thresholds import DENSE_COLUMNS, ONE_BLOCK_VALUES, PRECISE_VALUES, RESIDUAL_VALUES

SAMPLE_ROWS = 512
NEAR_ZERO = 5.0  # deviations within which the means must lie for the shift to be left out
STRIP_VALUES = 131_072  # of rows that stay in the cache: 500×3000 takes 2.7 ms, with a quarter of them 3.5
FAR = 1e4  # squares about zero over squares about the mean: they share twelve digits
SMALLEST_SQUARE = 1e-200  # below it squares may have lost digits to underflow: the column is measured in another unit


@dataclass(frozen=True, eq=False)
class Residuals:
    """The rows less their class means, x − m_k, where they are fewer than the columns and so less than a scatter."""

    values: Array  # (n, d), in the moments' unit
    codes: Array  # (n,)
    weight: Array | None

    def whole(self, moments: ClassMoments) -> ClassMoments:
        """The moments with the scatter Σ w r rᵗ, (d, d), or that of each class."""
        rows = self.values if self.weight is None else self.values * np.sqrt(self.weight)[:, None]
        if not moments.by_class:
            return replace(moments, scatter=rows.T @ rows, diagonal=False, rows=None)
        if (self.codes[1:] < self.codes[:-1]).any():
            rows = rows[_by_class(self.codes)]
        edges = np.cumsum(np.bincount(self.codes, minlength=moments.n_classes)).tolist()
        scatter = np.empty((moments.n_classes, rows.shape[1], rows.shape[1]))
        for k, (start, stop) in enumerate(itertools.pairwise([0, *edges])):
            np.matmul(rows[start:stop].T, rows[start:stop], out=scatter[k])
        return replace(moments, scatter=scatter, diagonal=False, rows=None)


def _by_class(codes: Array) -> Array:
    """The numbers of the rows, those of one class after those of another."""
    return np.argsort(codes.astype(code_type(int(codes.max(initial=0)) + 1)), kind="stable")  # small ones: by counting


@dataclass(frozen=True, eq=False)
class Unsummed:
    """Sparse rows, which are fewer numbers than their scatter."""

    parts: tuple[Array, Array, Array]  # of CSR, in arrays that a model file holds: entries, columns, where rows begin
    n_features: int
    codes: Array  # (n,)
    weight: Array | None

    @cached_property
    def values(self) -> Any:
        from scipy import sparse

        entries, indices, starts = self.parts
        shape = (len(self.codes), self.n_features)
        return sparse.csr_array((entries.astype(np.float64, copy=False), indices, starts), shape=shape)

    @property
    def blocks(self) -> ArrayBlocks:
        return make_blocks(self.values, self.codes, self.weight)

    def whole(self, moments: ClassMoments) -> ClassMoments:
        return class_moments(self.blocks, moments.n_classes, by_class=moments.by_class)


@dataclass(frozen=True, repr=False)
class ClassMoments(Shown):
    """Weight, mean and scatter of each class: what Gaussian fits are a function of.

    The moments of two sets of rows add, so that parts, files and machines can be merged.

    Attributes
    ----------
    weight : ndarray of shape (K,)
        Total weight of each class.
    count : ndarray of shape (K,)
        Number of rows with a positive weight.
    origin : ndarray of shape (d,)
        Where means are measured from.
    unit : ndarray of shape (d,)
        Powers of two: the unit in which means and scatter are measured.
    means : ndarray of shape (K, d)
        Class means, relative to ``origin`` in ``unit``.
    scatter : ndarray of shape (d, d), (K, d, d), (d,) or (K, d)
        S_W pooled or S_k by class, or their diagonals, in squares of ``unit``.
    diagonal : bool
        Whether the scatter holds diagonals only.
    precision : float
        Of the numbers in X: 1e-7 for float32 data.
    inflation : float
        1 + (m/s)² at most, over columns that were not shifted: what cancellation cost.
    rows : Residuals or None
        Of fewer rows than columns the rows themselves: ``whole()`` makes the scatter of them when it is needed.
    unsummed : Unsummed or None
        The same of sparse rows, where they are fewer numbers than their scatter.

    See Also
    --------
    discriminant.LinearDiscriminantAnalysis : Whose ``moments_`` they are.

    Examples
    --------
    >>> from discriminant import LinearDiscriminantAnalysis, datasets
    >>> iris = datasets.load("iris")
    >>> moments = LinearDiscriminantAnalysis().fit(iris.X, iris.y).moments_
    >>> moments.weight, moments.class_means[0].round(3)
    (array([50., 50., 50.]), array([5.006, 3.428, 1.462, 0.246]))
    """

    weight: Array  # (K,) total weight
    count: Array  # (K,) number of rows with a positive weight
    origin: Array  # (d,)
    unit: Array  # (d,) powers of two: the unit in which means and scatter are measured
    means: Array  # (K, d), relative to origin
    scatter: Array
    diagonal: bool = False
    precision: float = float(np.finfo(np.float64).eps)  # of the numbers in X: 1e-7 for float32 data
    inflation: float = 1.0  # 1 + (m/s)² at most, over columns that were not shifted: what cancellation cost
    rows: Residuals | None = None  # where they stand for the scatter, of which the diagonal is held
    unsummed: Unsummed | None = None  # the same, of sparse rows

    @property
    def n_classes(self) -> int:
        """K."""
        return len(self.weight)

    @property
    def n_features(self) -> int:
        """d."""
        return len(self.origin)

    @property
    def total(self) -> float:
        """The weight of all classes together."""
        return float(self.weight.sum())

    @property
    def by_class(self) -> bool:
        """Whether each class has a scatter of its own."""
        return self.scatter.ndim == (2 if self.diagonal else 3)

    @property
    def class_means(self) -> Array:
        """The class means in the units of X, of shape (K, d)."""
        return np.asarray(self.origin + self.unit * self.means)

    def _shown(self) -> tuple[str, dict[str, Any], list[str], list[str]]:
        """Deviation within the classes and the classes' means, a row for each column of X."""
        within = self.unit * np.sqrt(self.squares() / self.total)
        return class_table("Moments", self.count, self.weight, {"deviation within": within}, "mean", self.class_means)

    def pooled(self) -> ClassMoments:
        """The same with one within-class scatter S_W = Σ_k S_k.

        Returns
        -------
        ClassMoments
            New moments.
        """
        return replace(self, scatter=self.scatter.sum(axis=0)) if self.by_class else self

    def whole(self) -> ClassMoments:
        """The same with scatter matrices, formed now where the rows stood for them.

        Returns
        -------
        ClassMoments
            New moments, or these.
        """
        held = self.rows if self.unsummed is None else self.unsummed
        return self if held is None else held.whole(self)

    def of_class(self, k: int) -> ClassMoments:
        """Class k alone (scatter by class only).

        Parameters
        ----------
        k : int
            The position of the class.

        Returns
        -------
        ClassMoments
            Of one class.
        """
        one = slice(k, k + 1)
        return replace(
            self, weight=self.weight[one], count=self.count[one], means=self.means[one], scatter=self.scatter[k]
        )

    def squares(self) -> Array:
        """Σ_k Σ w (x_j − m_kj)², the within-class squares of each column.

        Returns
        -------
        ndarray of shape (d,)
            In squares of ``unit``.
        """
        pooled = self.pooled().scatter
        return pooled if self.diagonal else np.diagonal(pooled)

    def between(self) -> Array:
        """S_B = Σ_k W_k (m_k − m)(m_k − m)ᵗ in ``unit``.

        Returns
        -------
        ndarray of shape (d, d)
            The between-class scatter.
        """
        centred = self.means - self.weight @ self.means / self.total
        return np.asarray((centred * self.weight[:, None]).T @ centred)

    def in_units_of_X(self, matrix: Array) -> Array:
        """A matrix of second moments in the units of X (infinite where they are too large).

        Parameters
        ----------
        matrix : ndarray of shape (d, d) or (K, d, d)
            In ``unit``.

        Returns
        -------
        ndarray
            Shaped as ``matrix``.
        """
        if (self.unit == 1.0).all():
            return matrix
        with np.errstate(over="ignore"):
            return np.asarray(matrix * self.unit * self.unit[:, None])

    def merge(self, other: ClassMoments) -> ClassMoments:
        """The moments of both sets of rows.  a.merge(b) and b.merge(a) have the same bits.

        Parameters
        ----------
        other : ClassMoments
            Of other rows, with the same classes and columns.

        Returns
        -------
        ClassMoments
            New moments.
        """
        mine, theirs = self.whole(), other.whole()
        if mine is not self or theirs is not other:
            return mine.merge(theirs)
        unit = np.maximum(self.unit, other.unit)
        origin = self.origin if tuple(self.origin) <= tuple(other.origin) else other.origin
        a, b = self._seen_from(origin, unit), other._seen_from(origin, unit)
        weight = a.weight + b.weight
        safe = np.where(weight > 0, weight, 1.0)[:, None]
        means = (a.weight[:, None] * a.means + b.weight[:, None] * b.means) / safe
        # One of the two alone keeps its mean exactly.
        means = np.where(a.weight[:, None] == 0, b.means, np.where(b.weight[:, None] == 0, a.means, means))
        means[weight == 0] = 0.0
        gap = (a.means - b.means) * np.sqrt(a.weight * b.weight / safe[:, 0])[:, None]
        if self.diagonal:
            rise = gap * gap if self.by_class else (gap * gap).sum(axis=0)
        else:
            rise = gap[:, :, None] * gap[:, None, :] if self.by_class else gap.T @ gap
        precision, inflation = max(a.precision, b.precision), max(a.inflation, b.inflation)
        scatter = (a.scatter + b.scatter) + rise
        return ClassMoments(
            weight, a.count + b.count, origin, unit, means, scatter, self.diagonal, precision, inflation
        )

    def _seen_from(self, origin: Array, unit: Array) -> ClassMoments:
        ratio = self.unit / unit
        square = ratio * ratio if self.diagonal else ratio * ratio[:, None]
        means = self.means * ratio + (self.origin - origin) / unit
        return replace(self, origin=origin, unit=unit, means=means, scatter=self.scatter * square)


def class_moments(
    blocks: ArrayBlocks, n_classes: int, *, by_class: bool = False, diagonal: bool = False
) -> ClassMoments:
    """Moments of the rows of ``blocks``, whose targets are class codes.

    A result that is not finite means that X holds NaN or infinity: the caller finds the column and says so.
    """
    if _in_cache(blocks):
        found = _about_means(blocks, n_classes, by_class, whole=not diagonal)
        if found is not None:
            return replace(found, rows=None)
    return _streamed(blocks, n_classes, by_class=by_class, diagonal=diagonal)


def _in_cache(blocks: ArrayBlocks) -> bool:
    """Whether rows are so few that what is done with them at once stays in the cache."""
    few = blocks.in_memory and not blocks.block_rows and 0 < blocks.n_values <= RESIDUAL_VALUES
    return few and isinstance(blocks.rows, DenseRows)


def _streamed(blocks: ArrayBlocks, n_classes: int, *, by_class: bool = False, diagonal: bool = False) -> ClassMoments:
    """In one pass over blocks, of any storage.

    Where squares overflow or underflow (columns beyond 1e±100), a second pass measures those columns in powers of two.
    """
    if not diagonal:
        blocks = _taller(blocks, n_classes if by_class else 0)
    shift, origin, precision, inflation = _shifts(blocks, n_classes, by_class)
    kernel = MomentKernel(shift, by_class=by_class, diagonal=diagonal)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        sums = blocks.reduce(kernel)
        unit = np.ones(blocks.n_features)
        beyond = _beyond_squares(sums, kernel)
        if beyond.any():
            largest = blocks.reduce(MaximumKernel(shift, np.flatnonzero(beyond))).value
            if not np.isfinite(largest).all():
                return _finish(sums, kernel, origin, unit, precision, inflation)
            unit[beyond] = _power_of_two(largest)
            if (unit != 1.0).any():
                kernel = replace(kernel, unit=unit)
                sums = blocks.reduce(kernel)
        return _finish(sums, kernel, origin, unit, precision, inflation)


def row_moments(blocks: ArrayBlocks, n_classes: int, *, by_class: bool = False) -> ClassMoments:
    """The same with the rows less their class means in place of the scatter: for fewer rows than columns."""
    found = _about_means(blocks, n_classes, by_class)
    return _streamed(blocks, n_classes, by_class=by_class) if found is None else found


def _about_means(blocks: ArrayBlocks, n_classes: int, by_class: bool, whole: bool = False) -> ClassMoments | None:
    """Moments of rows less their class means, and ``whole`` with their scatter; None where squares are no numbers."""
    block = blocks.block(0, blocks.n_rows)
    codes, weight = np.asarray(block.target, dtype=np.intp), block.weight
    total, count = class_weights(codes, weight, n_classes)
    X = block.design.dense()
    if whole and by_class:
        order = _by_class(codes)
        X, codes, weight = X[order], codes[order], None if weight is None else weight[order]
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        # A row of the class that counts as its origin: what is constant there cancels.
        near = X[_first_rows(codes, weight, n_classes)]
        values = X if whole and by_class else np.empty(X.shape)
        strip = max(1, STRIP_VALUES // max(X.shape[1], 1))
        strips = [slice(start, start + strip) for start in range(0, len(X), strip)]  # that stay in the cache
        delta, squares = np.zeros((2, n_classes, X.shape[1]))
        for part in strips:
            np.subtract(X[part], near[codes[part]], out=values[part])
            delta += class_sums(values[part], codes[part], n_classes, None if weight is None else weight[part])
        delta /= np.where(total > 0, total, 1.0)[:, None]
        for part in strips:
            values[part] -= delta[codes[part]]
            if not whole:
                square, own = np.square(values[part]), None if weight is None else weight[part]
                squares += class_sums(square, codes[part], n_classes, own)
        rows, means = Residuals(values, codes, weight), (near - near[0]) + delta
        means[total == 0] = 0.0
        found = ClassMoments(
            total, count, near[0], np.ones(X.shape[1]), means, squares if by_class else squares.sum(axis=0), True,
            _precision(block), rows=rows,
        )  # fmt: skip
        found = rows.whole(found) if whole else found
        pooled = found.squares()
    tiny = np.flatnonzero(pooled < SMALLEST_SQUARE)
    if not np.isfinite(pooled).all() or (len(tiny) and values[:, tiny].any()):
        return None
    return found


def _first_rows(codes: Array, weight: Array | None, n_classes: int) -> Array:
    """(K,): the first row of each class that counts; for a class without one the first of all."""
    rows = np.arange(len(codes)) if weight is None else np.flatnonzero(weight > 0)
    first = np.full(n_classes, rows[0] if len(rows) else 0)
    first[codes[rows[::-1]]] = rows[::-1]  # of several rows of a class the last one that is written stays
    return first


def unsummed_moments(blocks: ArrayBlocks, n_classes: int, *, by_class: bool = False) -> ClassMoments | None:
    """The same of sparse rows that are not to be summed; None where means, taken off products, would cost digits."""
    block = blocks.block(0, blocks.n_rows)
    given, codes, weight = block.design.raw, np.asarray(block.target, dtype=np.intp), block.weight
    held = Unsummed((given.data, given.indices, given.indptr), given.shape[1], codes, weight)
    X = held.values
    total, count = class_weights(codes, weight, n_classes)
    with np.errstate(over="ignore", invalid="ignore", under="ignore", divide="ignore"):
        safe = np.where(total > 0, total, 1.0)[:, None]
        means = sparse_class_sums(X, codes, n_classes, weight) / safe
        squared = type(X)((np.square(X.data), X.indices, X.indptr), shape=X.shape, copy=False)
        parts = (codes, n_classes) if by_class else (np.zeros_like(codes), 1)
        raw, level = sparse_class_sums(squared, *parts, weight), safe * np.square(means)
        squares = np.maximum(raw - (level if by_class else level.sum(axis=0)), 0.0)
        every, spread = raw.sum(axis=0), squares.sum(axis=0)
        kept = np.where(every > 0, spread / every, 1.0).min(initial=1.0)
    known = np.isfinite(every) & ((every == 0) | (every > SMALLEST_SQUARE))
    if np.isfinite(X.data).all() and not (known.all() and kept * FAR > 1.0):
        return None
    none = np.zeros(X.shape[1])
    scatter = squares if by_class else spread
    return ClassMoments(total, count, none, none + 1.0, means, scatter, True, _precision(block), unsummed=held)


def _taller(blocks: ArrayBlocks, n_classes: int) -> Any:
    """Blocks in which each class has some hundred rows, so that its rank-k update is worth a call."""
    if not isinstance(blocks, ArrayBlocks) or not isinstance(blocks.rows, DenseRows):
        return blocks
    n, d = blocks.n_rows, max(blocks.n_features, 1)
    if not n_classes:  # one update for all: 10,000×784 160 ms, 230 in blocks that fit the cache
        return replace(blocks, block_rows=min(2_048, -(-n // 4))) if d > 128 and n > 1_024 else blocks
    wanted = min(800 * n_classes, 400_000 // d, n if n * d <= ONE_BLOCK_VALUES else n // 64)
    # A rank-k update of many columns is worth its d² additions from some d rows on: 10,000×784, ten classes, 0.3 s
    # against 0.7.
    wanted = max(wanted, min(n_classes * d, 8_000_000 // d, -(-n // 2)))
    return replace(blocks, block_rows=max(wanted, blocks.rows.block_rows))


def mapped_moments(
    blocks: ArrayBlocks, moments: ClassMoments, matrix: Array, only: int | None = None
) -> tuple[Array, Array]:
    """(Σ_k S_k, class means) of Wᵗ(x − origin)/unit, off the rows again: exact where W undoes a strong correlation.

    ``only`` restricts to one class.
    """
    precise = blocks.n_rows * matrix.shape[0] <= PRECISE_VALUES
    blocks = replace(blocks, block_rows=blocks.n_rows) if _in_cache(blocks) else blocks
    kernel: Any = MomentKernel(moments.class_means, unit=moments.unit, matrix=matrix, precise=precise)
    sums = blocks.reduce(kernel if only is None else OneClass(kernel, only))
    safe = np.where(sums.weight > 0, sums.weight, 1.0)
    delta = sums.sums / safe[:, None]
    rest = delta * np.sqrt(sums.weight)[:, None]
    apart, remainder = exact_difference(kernel.shift, moments.origin)
    return sums.gram - rest.T @ rest, precise_product(apart / moments.unit, remainder / moments.unit, matrix) + delta


@dataclass(frozen=True)
class OneClass(DeviceRequest):
    """A kernel that sees the rows of one class alone."""

    kernel: MomentKernel
    code: int

    def on_device(self, blocks: ArrayBlocks) -> MomentSums:
        from discriminant.gaussian.device import one_class_sums

        return one_class_sums(self, blocks)

    def __call__(self, block: Block) -> MomentSums:
        mine = np.flatnonzero(block.target == self.code)
        weight = None if block.weight is None else block.weight[mine]
        design = type(block.design)(block.design.raw[mine])
        return self.kernel(Block(design, block.start, np.asarray(block.target)[mine], weight))


@dataclass(frozen=True)
class Maximum:
    """max |x − s| of some columns; joined by the maximum (a reduction with ``+`` like any other)."""

    value: Array

    def __add__(self, other: Maximum) -> Maximum:
        return Maximum(np.maximum(self.value, other.value))


@dataclass(frozen=True)
class MaximumKernel:
    """The largest distance from the shift in each of the given columns."""

    shift: Array
    columns: Array

    def __call__(self, block: Any) -> Maximum:
        values = block.design.values[:, self.columns]
        values = as_dense(values)
        return Maximum(np.abs(values - self.shift[block.target][:, self.columns]).max(axis=0, initial=0.0))


def _beyond_squares(sums: MomentSums, kernel: MomentKernel) -> Array:
    squares = sums.squares(kernel)
    return np.asarray(~np.isfinite(squares) | (squares < SMALLEST_SQUARE))


def _power_of_two(largest: Array) -> Array:
    exponent = np.frexp(largest)[1]
    return np.where(np.abs(exponent) > 200, np.ldexp(1.0, np.clip(exponent, -1000, 1000)), 1.0)


def _finish(
    sums: MomentSums, kernel: MomentKernel, origin: Array, unit: Array, precision: float, inflation: float
) -> ClassMoments:
    safe = np.where(sums.weight > 0, sums.weight, 1.0)
    delta = sums.sums / safe[:, None]
    rest = delta * np.sqrt(sums.weight)[:, None]
    if kernel.diagonal:
        remainder = rest * rest if kernel.by_class else (rest * rest).sum(axis=0)
    else:
        remainder = rest[:, :, None] * rest[:, None, :] if kernel.by_class else rest.T @ rest
    scatter = sums.gram - remainder
    if kernel.diagonal:
        scatter = np.maximum(scatter, 0.0)
    means = (kernel.shift - origin) / unit + delta
    means[sums.weight == 0] = 0.0
    return ClassMoments(sums.weight, sums.count, origin, unit, means, scatter, kernel.diagonal, precision, inflation)


def _shifts(blocks: ArrayBlocks, n_classes: int, by_class: bool) -> tuple[Array, Array, float, float]:
    """(s_k, origin, precision of X, inflation) from a sample of rows that holds every class.

    Classes with a scatter of their own are looked at one by one: a column that does not vary in one of them has the
    rounding of Σx² − (Σx)²/n for a variance there, unless its very value is the shift.
    """
    block = blocks.sample(SAMPLE_ROWS, n_classes)
    values = block.design.values
    sparse = is_sparse(values)
    assert block.target is not None
    values, target = _with_weight(as_dense(values), block.target, block.weight)
    precision = _precision(block)
    classes = distinct(target)
    if not sparse:
        centre = _plain_means(values, target, classes)
        inflation = _inflation(values, centre, target if by_class else None)
        if inflation <= 1.0 + NEAR_ZERO**2:
            none = np.zeros(values.shape[1])
            return np.zeros((n_classes, len(none))), none, precision, blocks.rounding * inflation
    origin = _typical(values)
    shift = np.tile(origin, (n_classes, 1))
    for k in classes:
        shift[k] = _typical(values[target == k])
    if sparse and values.shape[1] > DENSE_COLUMNS:
        # Columns that are mostly zero need no shift, and without one they stay sparse.
        groups = [target == k for k in classes] if by_class else [slice(None)]
        empty = np.max([(values[group] != 0).mean(axis=0) for group in groups], axis=0) <= 0.5
        shift[:, empty] = origin[empty] = 0.0
    return shift, origin, precision, blocks.rounding


def _precision(block: Block) -> float:
    """Of the numbers in the rows: that of float64, or of a type with fewer digits."""
    dtype = getattr(block.design.raw, "dtype", np.dtype(np.float64))
    least = float(np.finfo(np.float64).eps)
    return max(float(np.finfo(dtype).eps), least) if dtype.kind == "f" else least


def _with_weight(values: Array, codes: Array, weight: Array | None) -> tuple[Array, Array]:
    """The rows that count, since a column may be constant in these alone; all rows of a class where none does."""
    if weight is None:
        return values, codes
    keep = (weight > 0) | ~np.isin(codes, codes[weight > 0])
    return values[keep], codes[keep]


def _plain_means(values: Array, codes: Array, classes: Array) -> Array:
    """The mean of each row's class; not careful, since it only shows whether means are near zero."""
    member = (codes == classes[:, None]).astype(np.float64)
    return np.asarray((member @ values / member.sum(axis=1)[:, None])[np.searchsorted(classes, codes)])


def _inflation(values: Array, shift: Array, codes: Array | None = None) -> float:
    """1 + (m/s)² at most, over the columns (and classes): how much larger the squares are before the mean is off."""
    if codes is not None:
        return max(_inflation(values[codes == k], shift[codes == k]) for k in distinct(codes))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        variance = ((values - shift) ** 2).mean(axis=0)
        ratio = np.where(shift.any(axis=0), (shift**2).max(axis=0) / variance, 0.0).max(initial=0.0)
    return float(1.0 + ratio) if np.isfinite(ratio) else float("inf")


def _typical(values: Array) -> Array:
    """A value near the mean of each column: the value itself where the column does not vary, so that it cancels."""
    with np.errstate(over="ignore", invalid="ignore"):
        centre = values[0] + 2 * (values / 2 - values[0] / 2).mean(axis=0)
    return np.asarray(np.where(((values == values[0]).all(axis=0)) | ~np.isfinite(centre), values[0], centre))
