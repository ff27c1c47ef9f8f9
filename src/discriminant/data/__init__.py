"""Rows in blocks: the only place that knows how X is stored.

Dense arrays of any order and type, memory maps, CSR and CSC matrices and data frames all become ``Blocks``: a bag of
row blocks that is mapped over threads and added in a fixed order.  X is never copied as a whole; a block is converted
to float64 when its turn comes.

A name loads its module on first use, so that reading a file need not wait for what computes with it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discriminant.data.blocks import ArrayBlocks, make_blocks, map_rows
    from discriminant.data.check import require_finite
    from discriminant.data.labels import count_classes, encode_labels
    from discriminant.data.rows import DenseRows, FrameRows, MappedRows, SparseRows, as_rows, as_source
    from discriminant.data.threads import held_blas, single_threaded_blas, workers

_HOMES = {
    "blocks": ("ArrayBlocks", "make_blocks", "map_rows"),
    "check": ("require_finite",),
    "labels": ("count_classes", "encode_labels"),
    "rows": ("DenseRows", "FrameRows", "MappedRows", "SparseRows", "as_rows", "as_source"),
    "threads": ("held_blas", "single_threaded_blas", "workers"),
}

__all__ = [
    "ArrayBlocks", "DenseRows", "FrameRows", "MappedRows", "SparseRows", "as_rows", "as_source",
    "count_classes", "encode_labels", "held_blas", "make_blocks", "map_rows", "require_finite", "single_threaded_blas",
    "workers",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    for home, held in _HOMES.items():
        if name in held:
            value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{home}"), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
