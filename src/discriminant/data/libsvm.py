"""libsvm files: ``label index:value index:value …`` on each line, to a sparse matrix and a column of labels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from discriminant.data.tables import Column, Table
from discriminant.errors import DataError

TARGET = "label"


def read_libsvm(data: bytes, source: str) -> Table:
    """The table of a libsvm file: its features sparse, its only column the label."""
    from scipy import sparse

    labels: list[float] = []
    starts, indices, values = [0], list[int](), list[float]()
    for number, line in enumerate(data.split(b"\n"), 1):
        fields = line.partition(b"#")[0].split()
        if not fields:
            continue
        try:
            labels.append(float(fields[0]))
            _pairs(fields[1:], indices, values, starts[-1])
        except ValueError as error:
            raise DataError(f"{source} is not a libsvm file in line {number}: {error}.") from error
        starts.append(len(indices))
    # Indices count from one by custom; a file that uses zero counts from zero.
    base = 0 if min(indices, default=1) == 0 else 1
    width = max(indices, default=0) + 1 - base
    matrix = sparse.csr_array(
        (np.array(values), np.array(indices, dtype=np.int64) - base, np.array(starts)), shape=(len(labels), width)
    )
    found = np.array(labels)
    if not np.isfinite(found).all():
        raise DataError(f"{source} has a label that is no number in row {int(np.argmin(np.isfinite(found))) + 1}.")
    whole = "int" if (found == np.rint(found)).all() and np.abs(found).max(initial=0.0) < 2.0**53 else ""
    return Table((Column(TARGET, "number", found, whole=whole),), source, (), matrix)


def _pairs(fields: list[bytes], indices: list[int], values: list[float], start: int) -> None:
    for field in fields:
        index, _, text = field.partition(b":")
        if index == b"qid":
            continue
        if not index.isdigit() or len(index) > 9:
            raise ValueError(f"{field[:40].decode('utf-8', 'replace')!r} is not index:value")
        position, value = int(index), float(text)
        if not math.isfinite(value):
            raise ValueError(f"{field[:40].decode('utf-8', 'replace')!r} is no finite number")
        if len(indices) > start and position <= indices[-1]:
            raise ValueError(f"the indices do not rise at {field[:40].decode('utf-8', 'replace')!r}")
        indices.append(position)
        values.append(value)


def widen(matrix: Any, width: int) -> tuple[Any, int]:
    """(the matrix with that many columns, how many entries lie beyond them and are left out)."""
    from scipy import sparse

    if matrix.shape[1] <= width:
        return sparse.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=(matrix.shape[0], width)), 0
    kept = matrix[:, :width]
    return kept, int(matrix.nnz - kept.nnz)
