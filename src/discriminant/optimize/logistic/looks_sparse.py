"""The columns' sizes that the units of sparse rows are read from."""

from __future__ import annotations

import numpy as np

from discriminant.protocols import Array, Block


class ColumnSquares:
    """Σ w x² of each column of sparse rows, (d,)."""

    def __call__(self, block: Block) -> Array:
        raw = block.design.raw
        n, d = raw.shape
        weight = np.ones(n) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
        squares = np.repeat(weight, np.diff(raw.indptr)) * np.square(raw.data.astype(np.float64, copy=False))
        return np.bincount(raw.indices, squares, minlength=d)
