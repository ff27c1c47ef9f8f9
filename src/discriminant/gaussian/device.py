"""Class moments on a device: the sums of ``gaussian.sums``, by products of whole blocks.

    sums = Mᵗ R,    gram = Rᵗ R,        R = √w (X − s_k),   M (rows, K) the membership times √w

Products of float32 rows are float32, added up in float32 over some thousand rows only and in float64 beyond; a mapped
pass (``matrix``), which is taken where the first one lost digits, is float64 throughout.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from discriminant.gaussian.device_fused import fused_sums
from discriminant.gaussian.sums import MomentKernel, MomentSums
from discriminant.thresholds import BLOCK_VALUES

BATCH_ROWS = 4_096  # rows over which float32 sums run


def moment_sums(kernel: MomentKernel, blocks: Any) -> MomentSums:
    """Σ over all rows, as NumPy arrays."""
    fused = fused_sums(kernel, blocks)
    return _in_blocks(kernel, blocks) if fused is None else fused


def one_class_sums(kernel: Any, blocks: Any) -> MomentSums:
    """The same over the rows of one class: the others weigh nothing."""
    mine = blocks.library.cast(blocks.target == kernel.code, "float64")
    weight = mine if blocks.weight is None else mine * blocks.weight
    return moment_sums(kernel.kernel, replace(blocks, weight=weight))


def _in_blocks(kernel: MomentKernel, blocks: Any) -> MomentSums:
    rows, lib = blocks.rows, blocks.library
    K, width = len(kernel.shift), kernel.width
    step = max(1, min(rows.block_rows, BLOCK_VALUES // (4 * max(K, width))))
    one_pass = _Pass(kernel, lib, "float64" if kernel.matrix is not None else rows.arithmetic)
    weight, count = np.zeros(K), np.zeros(K)
    sums, gram = lib.zeros((K, width)), None
    for start, stop, piece in rows.pieces(step):
        codes = blocks.target[start:stop]
        own = None if blocks.weight is None else blocks.weight[start:stop]
        part, square = one_pass(piece, codes, own)
        sums, gram = sums + part, square if gram is None else gram + square
        here = lib.counts(codes, K)
        weight += here if own is None else lib.counts(codes, K, own)
        count += here if own is None else lib.counts(codes, K, lib.cast(own > 0, "float64"))
    return MomentSums(weight, count, lib.get(sums), lib.get(gram))


class _Pass:
    """One block's sums, in float64 on the device."""

    def __init__(self, kernel: MomentKernel, lib: Any, dtype: str) -> None:
        self.kernel, self.lib, self.dtype = kernel, lib, dtype
        self.K = len(kernel.shift)
        self.shift = lib.put(kernel.shift, dtype) if kernel.shift.any() else None
        self.unit = None if kernel.unit is None else lib.put(kernel.unit, dtype)
        self.matrix = None if kernel.matrix is None else lib.put(np.ascontiguousarray(kernel.matrix), dtype)
        self.each = lib.put(np.arange(self.K, dtype=np.int64))

    def __call__(self, piece: Any, codes: Any, weight: Any) -> tuple[Any, Any]:
        lib, kernel = self.lib, self.kernel
        root = None if weight is None else lib.cast(weight**0.5, self.dtype)
        rows = lib.cast(piece, self.dtype)
        if self.shift is not None:
            rows = rows - lib.take(self.shift, codes)
        if self.unit is not None:
            rows = rows / self.unit
        if kernel.by_class and not kernel.diagonal:
            return self._each_class(rows, codes, root)
        if self.matrix is not None:
            rows = lib.product(rows, self.matrix, "fine")
        rows = rows if root is None else rows * root[:, None]
        member = lib.cast(codes[:, None] == self.each[None, :], self.dtype)
        sums = self._sum(member if root is None else member * root[:, None], rows)
        if not kernel.diagonal:
            return sums, self._sum(rows, rows)
        return sums, self._sum(member, rows * rows) if kernel.by_class else lib.total(rows * rows, 0)

    def _sum(self, first: Any, second: Any) -> Any:
        return self.lib.batches(first, second, max(BATCH_ROWS, 2 * second.shape[1]))

    def _each_class(self, rows: Any, codes: Any, root: Any) -> tuple[Any, Any]:
        """Rows in the order of their classes; each class is then a slice."""
        lib = self.lib
        order = lib.order(codes)
        rows = lib.take(rows, order)
        root = None if root is None else lib.take(root, order)
        edges = np.concatenate([[0], np.cumsum(lib.counts(codes, self.K))]).astype(int).tolist()
        width = self.kernel.width
        sums, gram = np.zeros((self.K, width)), np.zeros((self.K, width, width))
        for k in range(self.K):
            if edges[k] == edges[k + 1]:
                continue
            mine = rows[edges[k] : edges[k + 1], :]
            mine = mine if self.matrix is None else lib.product(mine, self.matrix[k, :, :], "fine")
            own = None if root is None else root[edges[k] : edges[k + 1]][:, None]
            mine = mine if own is None else mine * own
            sums[k] = lib.get(lib.total(mine if own is None else mine * own, 0))
            gram[k] = lib.get(self._sum(mine, mine))
        return lib.put(sums), lib.put(gram)
