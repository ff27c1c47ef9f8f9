"""Rows in blocks: the only place that knows how X is stored.

Dense arrays of any order and type, memory maps, CSR and CSC matrices and data frames all become ``Blocks``: a bag of
row blocks that is mapped over threads and added in a fixed order.  X is never copied as a whole; a block is converted
to float64 when its turn comes.
"""

from discriminant.data.blocks import ArrayBlocks, make_blocks, map_rows
from discriminant.data.check import require_finite
from discriminant.data.labels import count_classes, encode_labels
from discriminant.data.rows import (
    DenseRows,
    FrameRows,
    MappedRows,
    OriginRows,
    SparseRows,
    as_rows,
    as_source,
    is_frame,
)
from discriminant.data.threads import single_threaded_blas, workers

__all__ = [
    "ArrayBlocks",
    "DenseRows",
    "FrameRows",
    "MappedRows",
    "OriginRows",
    "SparseRows",
    "as_rows",
    "as_source",
    "count_classes",
    "encode_labels",
    "is_frame",
    "make_blocks",
    "map_rows",
    "require_finite",
    "single_threaded_blas",
    "workers",
]
