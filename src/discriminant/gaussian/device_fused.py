"""Moments of many rows with few columns by one kernel that reads each row once (torch, on a GPU)."""

from __future__ import annotations

from typing import Any

import numpy as np

from discriminant.gaussian.sums import MomentKernel, MomentSums
from discriminant.kernels import device_moments
from discriminant.protocols import Array

ALIGNED = 16  # bytes that a lane copies at once
LEAST_ROWS = 200_000  # below, the plain products take no longer than it takes to compile the kernel


def fused_sums(kernel: MomentKernel, blocks: Any) -> MomentSums | None:
    """The sums, or None where the kernel does not apply."""
    if not applies(kernel, blocks):
        return None
    shift = kernel.shift if kernel.shift.any() else None
    found = device_moments.moments(blocks.rows.X, blocks.target, shift, _largest(kernel, blocks), len(kernel.shift))
    if found is None or not all(np.isfinite(part).all() for part in found):
        return None  # beyond the range of half floats, or no number at all
    gram, sums, count = found
    return MomentSums(count, count.copy(), sums, gram)


def _largest(kernel: MomentKernel, blocks: Any) -> Array:
    """The largest of some rows, for half floats to hold them all with room to spare."""
    largest = np.abs(blocks.peek.design.values - kernel.shift.mean(axis=0)).max(axis=0)
    return np.where(np.isfinite(largest) & (largest > 0), largest, 1.0)


def applies(kernel: MomentKernel, blocks: Any) -> bool:
    """Whether rows and sums are of the kind that the kernel takes."""
    rows, lib = blocks.rows, blocks.library
    plain = not (kernel.by_class or kernel.diagonal) and kernel.unit is None and kernel.matrix is None
    most = device_moments.CLASSES, device_moments.COLUMNS
    small = len(kernel.shift) <= most[0] and rows.shape[1] <= most[1] and rows.shape[0] >= LEAST_ROWS
    return (
        plain
        and small
        and lib.accelerated
        and not rows.streamed
        and blocks.weight is None
        and rows.kind == "float32"
        and bool(rows.X.is_contiguous())
        and bool(blocks.target.is_contiguous())
        and all(array.data_ptr() % ALIGNED == 0 for array in (rows.X, blocks.target))
        and device_moments.here(lib.xp, lib.device)
    )
