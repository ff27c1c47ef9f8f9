"""Arrow columns as NumPy's arrays, by their buffers: pyarrow's own ``to_numpy`` would load pandas."""

from __future__ import annotations

from typing import Any

import numpy as np

from discriminant.protocols import Array


def kind_of(kind: Any) -> str:
    """What an Arrow type is to us: "number", "whole", "truth", "text", "date" or "other"."""
    import pyarrow as pa

    types = pa.types
    if types.is_boolean(kind):
        return "truth"
    if types.is_integer(kind):
        return "whole"
    if types.is_floating(kind) or types.is_decimal(kind):
        return "number"
    if types.is_dictionary(kind):
        return "text" if kind_of(kind.value_type) == "text" else "other"
    if types.is_string(kind) or types.is_large_string(kind) or "string" in str(kind):
        return "text"
    return "date" if types.is_temporal(kind) else "other"


def arrow_numbers(values: Any) -> Array:
    """A column as numbers, without a copy where it is whole and has no gaps; NaN where a value is missing."""
    import pyarrow as pa

    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks() if values.num_chunks != 1 else values.chunk(0)
    plain = pa.types.is_integer(values.type) or (pa.types.is_floating(values.type) and values.type.bit_width > 16)
    if not plain or values.null_count:
        values = values.cast(pa.float64(), safe=False)
    kind = np.dtype(values.type.to_pandas_dtype())
    valid, data = values.buffers()
    numbers = np.frombuffer(data, dtype=kind, count=len(values), offset=values.offset * kind.itemsize)
    if values.null_count:
        bits = np.unpackbits(np.frombuffer(valid, dtype=np.uint8), bitorder="little")
        numbers = np.where(bits[values.offset : values.offset + len(values)] == 1, numbers, np.nan)
    return numbers


def arrow_codes(values: Any) -> tuple[Array, list[str]]:
    """(codes, levels) of a column of text; −1 where a value is missing."""
    import pyarrow as pa

    if isinstance(values, pa.ChunkedArray):
        values = values.unify_dictionaries() if pa.types.is_dictionary(values.type) else values
        values = values.combine_chunks() if values.num_chunks != 1 else values.chunk(0)
    if not pa.types.is_dictionary(values.type):
        values = values.cast(pa.string()).dictionary_encode()
    indices = arrow_numbers(values.indices)
    codes = np.where(np.isnan(indices), -1, indices) if indices.dtype.kind == "f" else indices
    levels = ["" if text is None else str(text) for text in values.dictionary.to_pylist()]
    return codes.astype(np.int32, copy=False), levels
