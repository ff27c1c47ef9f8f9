"""Moments of many rows with few columns by one kernel that reads each row once (torch with Triton, on a GPU)."""

from __future__ import annotations

from typing import Any

import numpy as np

from discriminant.gaussian.sums import MomentKernel, MomentSums
from discriminant.kernels import device_moments
from discriminant.protocols import Array

MOST_CLASSES = 16
MOST_COLUMNS = 64
PEEK_ROWS = 256
LEAST_ROWS = 200_000  # below, the plain products take no longer than it takes to compile the kernel


def fused_sums(kernel: MomentKernel, blocks: Any) -> MomentSums | None:
    """The sums, or None where the kernel does not apply."""
    if not applies(kernel, blocks):
        return None
    lib, K, d = blocks.library, len(kernel.shift), kernel.width
    shift = lib.put(kernel.shift, "float32") if kernel.shift.any() else None
    unit = lib.put(_units(kernel, blocks), "float32")
    gram, sums, count = device_moments.moments(blocks.rows.X, blocks.target, shift, unit, lib.xp)
    packed = lib.get(lib.join([gram.reshape(-1), sums[:K].reshape(-1), count[:K]]))  # one copy, one wait
    gram, sums, count = packed[: d * d].reshape(d, d), packed[d * d : -K].reshape(K, d), packed[-K:]
    if not np.isfinite(packed).all():  # beyond the range of half floats, or no number at all
        return None
    return MomentSums(count.copy(), count.copy(), sums.copy(), gram.copy())


def _units(kernel: MomentKernel, blocks: Any) -> Array:
    """Powers of two near the largest of some rows, so that half floats hold them all with room to spare."""
    values = blocks.spread(PEEK_ROWS).values
    reach = np.abs(values - kernel.shift.mean(axis=0)).max(axis=0)
    good = np.isfinite(reach) & (reach > 0)
    return np.where(good, np.exp2(np.ceil(np.log2(np.where(good, reach, 1.0)))), 1.0)


def applies(kernel: MomentKernel, blocks: Any) -> bool:
    """Whether rows and sums are of the kind that the kernel takes."""
    rows, lib = blocks.rows, blocks.library
    plain = not (kernel.by_class or kernel.diagonal) and kernel.unit is None and kernel.matrix is None
    small = len(kernel.shift) <= MOST_CLASSES and rows.shape[1] <= MOST_COLUMNS and rows.shape[0] >= LEAST_ROWS
    return (
        plain
        and small
        and lib.accelerated
        and not rows.streamed
        and blocks.weight is None
        and rows.kind == "float32"
        and bool(rows.X.is_contiguous())
        and device_moments.HERE
    )
