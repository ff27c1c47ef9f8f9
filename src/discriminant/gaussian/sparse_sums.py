"""Sparse blocks with few non-zeros: the Gram matrix by a sparse product, with the full columns set aside.

A column with a share p of non-zeros has mean² ≤ p · mean square, so for p ≤ ½ the centring Σx² − (Σx)²/n loses at
most one digit and no shift is needed.  Columns with p > ½ are taken out, made dense and shifted like any dense column.
The kernel's shift is zero in the columns that stay sparse, so that the result is relative to it in all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discriminant.protocols import Array, Block

if TYPE_CHECKING:
    from discriminant.gaussian.sums import MomentKernel, MomentSums


def sparse_sums(kernel: MomentKernel, block: Block, codes: Array, weight: Array, count: Array) -> MomentSums:
    """The block's sums without making it dense.  ``kernel.shift`` must be zero in columns that are sparse."""
    from scipy import sparse

    from discriminant.gaussian.sums import MomentSums

    values = block.design.values
    if kernel.unit is not None:
        values = values @ sparse.diags_array(1.0 / kernel.unit)
    K, d = kernel.shift.shape
    w = np.ones(len(codes)) if block.weight is None else block.weight
    shifted = np.flatnonzero(kernel.shift.any(axis=0))
    unit = np.ones(d) if kernel.unit is None else kernel.unit
    dense = values[:, shifted].toarray() - (kernel.shift / unit)[codes][:, shifted]
    rest = values
    if len(shifted):
        keep = np.ones(d)
        keep[shifted] = 0.0
        rest = values @ sparse.diags_array(keep)
    member = sparse.csr_array((w, (codes, np.arange(len(codes)))), shape=(K, len(codes)))
    sums = np.asarray((member @ rest).toarray())
    sums[:, shifted] = member @ dense
    if kernel.diagonal:
        gram = _squares(kernel, member, rest, dense, shifted, w)
        return MomentSums(weight, count, sums, gram)
    groups = [codes == k for k in range(K)] if kernel.by_class else [slice(None)]
    grams = np.stack([_gram(rest[g], dense[g], w[g], shifted) for g in groups])
    return MomentSums(weight, count, sums, grams if kernel.by_class else grams[0])


def sparse_class_sums(values: Any, codes: Array, n_classes: int, weight: Array | None) -> Array:
    """Σ over the rows of each class of w x, shape (K, d), by one count of all entries."""
    d, lengths = values.shape[1], np.diff(values.indptr)
    entries = values.data if weight is None else values.data * np.repeat(weight, lengths)
    places = np.repeat(codes * d, lengths) + values.indices
    return np.bincount(places, entries, n_classes * d).reshape(n_classes, d)


def _gram(rest: Any, dense: Array, w: Array, shifted: Array) -> Array:
    from scipy import sparse

    weighted = sparse.diags_array(w) @ rest
    gram = np.asarray((rest.T @ weighted).toarray(), dtype=np.float64)
    if len(shifted):
        cross = weighted.T @ dense
        gram[:, shifted] += cross
        gram[shifted, :] += cross.T
        gram[np.ix_(shifted, shifted)] = (dense * w[:, None]).T @ dense
    return gram


def _squares(kernel: MomentKernel, member: Any, rest: Any, dense: Array, shifted: Array, w: Array) -> Array:
    squared = rest.multiply(rest).tocsr()
    by_class = np.asarray((member @ squared).toarray())
    by_class[:, shifted] = member @ (dense * dense)
    return by_class if kernel.by_class else by_class.sum(axis=0)
