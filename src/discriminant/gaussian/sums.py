"""The arithmetic of one block: shifted sums and Gram matrices, dense or sparse, pooled or by class.

    pooled:    G  = Σ_i w_i r_i r_iᵗ,     r_i = x_i − s_{k(i)}
    by class:  G_k = the same over the rows of class k
    diagonal:  only the squares

A rank-k update in the block (BLAS ``syrk``) is the whole cost; everything else is arranged to stay in the cache.
Optionally r is mapped by a matrix W first (r ↦ Wᵗ r), which is how a whitening is refined.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.arrays import is_sparse
from discriminant.data.database import QueryRequest, QueryTable
from discriminant.data.evaluate import DeviceRequest
from discriminant.data.threads import scratch
from discriminant.protocols import Array, Block
from discriminant.thresholds import DENSE_COLUMNS, DENSE_FROM, ONE_HOT_CLASSES


@dataclass
class MomentSums:
    """What is added over rows."""

    weight: Array  # (K,)
    count: Array  # (K,)
    sums: Array  # (K, d)
    gram: Array

    def __iadd__(self, other: MomentSums) -> MomentSums:
        self.weight += other.weight
        self.count += other.count
        self.sums += other.sums
        self.gram += other.gram
        return self

    def squares(self, kernel: MomentKernel) -> Array:
        pooled = self.gram.sum(axis=0) if kernel.by_class else self.gram
        return pooled if kernel.diagonal else np.diagonal(pooled)


@dataclass(frozen=True)
class MomentKernel(DeviceRequest, QueryRequest):
    """One block's MomentSums."""

    shift: Array  # (K, d)
    by_class: bool = False
    diagonal: bool = False
    unit: Array | None = None  # (d,) powers of two
    matrix: Array | None = None  # W (d, r), or by class (K, d, r)
    precise: bool = False  # with a matrix: take x − s and its product with W as in twice the precision

    @property
    def width(self) -> int:
        return int(self.shift.shape[1] if self.matrix is None else self.matrix.shape[-1])

    def on_device(self, blocks: Any) -> MomentSums:
        from discriminant.gaussian.device import moment_sums

        return moment_sums(self, blocks)

    def on_query(self, table: QueryTable) -> MomentSums | None:
        if self.matrix is not None or self.unit is not None or table.survey is None:
            return None
        sums, gram = table.products(self.shift, self.diagonal)
        count = table.survey.count
        return MomentSums(count.copy(), count.copy(), sums, gram if self.by_class else gram.sum(axis=0))

    def __call__(self, block: Block) -> MomentSums:
        codes = np.asarray(block.target, dtype=np.intp)
        weight, count = class_weights(codes, block.weight, len(self.shift))
        raw = block.design.raw
        if is_sparse(raw):
            if not self._worth_dense(raw):
                from discriminant.gaussian.sparse_sums import sparse_sums

                return sparse_sums(self, block, codes, weight, count)
            raw = raw.toarray()
        if self.by_class and not self.diagonal:
            sums, gram = self._each_class(raw, np.asarray(block.target), block.weight)
        else:
            sums, gram = self._together(raw, codes, block.weight)
        return MomentSums(weight, count, sums, gram)

    def _worth_dense(self, raw: Any) -> bool:
        if self.matrix is not None or raw.shape[1] <= DENSE_COLUMNS:
            return True
        return bool(not self.diagonal and raw.nnz > DENSE_FROM * raw.shape[0] * raw.shape[1])

    def _residuals(self, raw: Array, codes: Array, weight: Array | None) -> Array:
        """√w (x − s_k) / unit, then W: one reused array of the block's size, or X itself where that is all."""
        if self._nothing_to_do and weight is None:
            return raw.astype(np.float64, copy=False)
        rows = raw
        if not self.precise:
            rows = scratch("residuals", raw.shape)
            np.take(self.shift, codes, axis=0, out=rows, mode="clip")
            np.subtract(raw, rows, out=rows)
            if self.unit is not None:
                rows /= self.unit
        if self.matrix is not None:
            rows = self._mapped(raw, rows, codes)
        if weight is not None:
            rows *= np.sqrt(weight)[:, None]
        return rows

    @property
    def _nothing_to_do(self) -> bool:
        return self.unit is None and self.matrix is None and not self.shift.any()

    def _mapped(self, raw: Array, rows: Array, codes: Array) -> Array:
        matrix = self.matrix
        assert matrix is not None
        if not self.precise:
            return np.matmul(rows, matrix, out=scratch("mapped", (len(raw), matrix.shape[1])))
        values, rest = exact_difference(raw.astype(np.float64, copy=False), self.shift[codes])
        unit = 1.0 if self.unit is None else self.unit
        return precise_product(values / unit, rest / unit, matrix)

    def _together(self, raw: Array, codes: Array, weight: Array | None) -> tuple[Array, Array]:
        rows = self._residuals(raw, codes, weight)
        root = None if weight is None else np.sqrt(weight)
        sums = class_sums(rows, codes, len(self.shift), root)
        if not self.diagonal:
            return sums, rows.T @ rows
        if self.by_class:
            return sums, class_sums(rows * rows, codes, len(self.shift), None)
        return sums, np.einsum("ij,ij->j", rows, rows)

    def _each_class(self, raw: Array, codes: Array, weight: Array | None) -> tuple[Array, Array]:
        """Rows are brought into the order of their classes once, in reused memory; each class is then a slice."""
        K, d = len(self.shift), self.width
        sums, gram = np.zeros((K, d)), np.empty((K, d, d))
        order = np.argsort(codes, kind="stable")
        counts = np.bincount(codes, minlength=K)
        edges = np.concatenate([[0], np.cumsum(counts)]).tolist()
        gram[counts == 0] = 0.0
        shifted = bool(self.shift.any())
        rows = scratch("sorted", raw.shape)
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        # Written to their places rather than fetched from them: X is then read in its own order, twice as fast.
        rows[place] = raw
        root = np.ones(len(rows)) if weight is None else np.sqrt(weight)[order]
        for k in np.flatnonzero(counts).tolist():
            mine = slice(edges[k], edges[k + 1])
            part = rows[mine]
            original = part.copy() if self.precise else part
            if shifted:
                part -= self.shift[k]
            if self.unit is not None:
                part /= self.unit
            if self.matrix is not None:
                own: Any = self.matrix[k]
                one = MomentKernel(self.shift[k : k + 1], unit=self.unit, matrix=own, precise=self.precise)
                part = one._mapped(original, part, np.zeros(len(part), dtype=np.intp))
            if weight is not None:
                part *= root[mine, None]
            np.matmul(root[mine], part, out=sums[k])
            np.matmul(part.T, part, out=gram[k])
        return sums, gram


def exact_difference(a: Array, b: Array) -> tuple[Array, Array]:
    """(r, e) with r + e = a − b to the last bit: the difference and its rounding (Knuth)."""
    r = a - b
    z = r - a
    return r, (a - (r - z)) - (b + z)


def precise_product(A: Array, rest: Array, W: Array) -> Array:
    """(A + rest) W with the digits of twice the precision, rounded once: ``rest`` is what A was rounded by.

    The leading bits of A, row by row, and of W, column by column, are whole numbers so small that BLAS forms sums of
    their products without rounding (Ozaki, Ogita, Oishi and Rump 2012).  What is left of them is 2⁻²⁴ as large, and so
    is its rounding.  NumPy's product in its widest float takes forty times as long at 569×30.
    """
    unit = np.ldexp(1.0, np.frexp(np.abs(A).max(axis=0, initial=0.0))[1])
    A, W = A / unit, W * unit[:, None]
    bits = (53 - int(A.shape[1]).bit_length()) // 2
    lead, head = _leading_bits(A, 1, bits), _leading_bits(W, 0, bits)
    return np.asarray(lead @ head + (lead @ (W - head) + (A - lead + rest / unit) @ W))


def _leading_bits(A: Array, axis: int, bits: int) -> Array:
    """A rounded to multiples of its largest entry's last leading bit."""
    top = np.abs(A).max(axis=axis, keepdims=True, initial=0.0)
    large = np.ldexp(1.5, np.frexp(top)[1] + (52 - bits))
    return np.asarray((A + large) - large)


def class_weights(codes: Array, weight: Array | None, n_classes: int) -> tuple[Array, Array]:
    """The total weight (K,) of each class, and the number of its rows that have some."""
    total = np.bincount(codes, weight, minlength=n_classes).astype(np.float64)
    counted = codes if weight is None else codes[weight > 0]
    return total, np.bincount(counted, minlength=n_classes).astype(np.float64)


def class_sums(rows: Array, codes: Array, n_classes: int, root: Array | None) -> Array:
    """Σ over the rows of each class of (root ·) rows, shape (K, d)."""
    if n_classes <= ONE_HOT_CLASSES:
        member = scratch("member", (n_classes, len(codes)))
        for k in range(n_classes):
            np.equal(codes, k, out=member[k], casting="unsafe")
        if root is not None:
            member *= root
        return np.asarray(member @ rows)
    order = np.argsort(codes, kind="stable")
    present, first = np.unique(codes[order], return_index=True)
    scaled = rows[order] if root is None else rows[order] * root[order][:, None]
    sums = np.zeros((n_classes, rows.shape[1]))
    sums[present] = np.add.reduceat(scaled, first, axis=0)
    return sums
