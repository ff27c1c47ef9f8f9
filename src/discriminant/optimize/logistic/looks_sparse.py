"""The two-class look at CSR rows by a compiled kernel, and the columns' sizes that units are read from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.optimize.logistic.looks import Look, Rows, hard_margin
from discriminant.protocols import Array, Block


@dataclass(frozen=True)
class FusedSparse:
    """The same look at CSR rows; ``squares`` holds (Y∘Y)ᵗ w σ', the diagonal of the Hessian."""

    A: Array  # (1+d, 1)
    rows: Rows
    bend: bool = True
    squares: bool = False

    def __call__(self, block: Block) -> Look:
        from discriminant.kernels.logistic import two_class_sparse

        raw = block.design.raw
        none, D = np.empty(0), len(self.A)
        shift = self.rows.shift(block)
        g, out = np.zeros(D), np.array([0.0, np.inf, 0.0])
        h = np.zeros(D) if self.bend else none
        q = np.zeros(D) if self.squares else none
        two_class_sparse(
            floats(raw),
            raw.indices,
            raw.indptr,
            np.ascontiguousarray(self.A[1:, 0]),
            float(self.A[0, 0]),
            np.asarray(block.target, dtype=np.float64),
            none if block.weight is None else np.asarray(block.weight, dtype=np.float64),
            none if shift is None else shift,
            g,
            h,
            q,
            out,
        )
        look = Look(float(out[0]), g[:, None], margin=hard_margin(block, float(out[1])), mass=float(out[2]))
        look.bend, look.squares = h if self.bend else None, q if self.squares else None
        return look


def floats(raw: Any) -> Array:
    """The entries of a sparse block as floats; a copy only where they are integers."""
    return np.asarray(raw.data if raw.dtype in (np.float64, np.float32) else raw.data.astype(np.float64))


@dataclass(frozen=True)
class ColumnSquares:
    """Σ w x² of each column of sparse rows, (d,)."""

    compiled: bool

    def __call__(self, block: Block) -> Array:
        raw = block.design.raw
        n, d = raw.shape
        weight = np.ones(n) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
        if self.compiled:
            from discriminant.kernels.logistic import scatter

            out = np.zeros(d + 1)
            scatter(floats(raw), raw.indices, raw.indptr, weight, out, True)
            return out[1:]
        squares = np.repeat(weight, np.diff(raw.indptr)) * np.square(raw.data.astype(np.float64, copy=False))
        return np.bincount(raw.indices, squares, minlength=d)
