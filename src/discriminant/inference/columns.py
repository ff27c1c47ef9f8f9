"""Which columns of (1, X) are linear combinations of those before them: exactly, on every row.

Independence is proved by a minor that does not vanish modulo a prime; dependence by its coefficients, which come from
an exact solve on a few rows and are then checked on all.  So 0.1 + 0.2 and 0.3 in two columns count as different, and
a column that is the sum of two others in exact arithmetic does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from discriminant.arrays import as_dense
from discriminant.data import make_blocks
from discriminant.data.rows import Rows
from discriminant.inference.exact import Integers, dot_signs, integer_row, nullspace
from discriminant.protocols import Array, Block

_EPS = np.finfo(np.float64).eps
CHUNK = 20_000


def independent_columns(source: Rows, intercept: bool = True) -> tuple[tuple[int, ...], dict[int, Integers]]:
    """(kept, relations): the leftmost independent columns, and for each other column j integers v, v·(1, x) = 0.

    >>> from discriminant.data import as_rows
    >>> kept, relations = independent_columns(as_rows(np.array([[1.0, 2.0, 3.0], [0.0, 5.0, 5.0], [7.0, 1.0, 8.0]])))
    >>> kept, relations
    ((0, 1), {2: [0, 1, 1, -1]})
    """
    n, d = source.shape
    sample = sorted({int(i) for i in np.linspace(0, n - 1, min(n, 2 * d + 32))})
    while True:
        values = as_dense(source.pick(np.array(sample)).raw).tolist()
        # The pivots of rows that are reduced from the left are the leftmost independent columns.
        vectors, free = nullspace([integer_row([1] * intercept + row)[0] for row in values])
        relations = {
            j - intercept: [0] * (not intercept) + [-v for v in vector] for j, vector in zip(free, vectors, strict=True)
        }
        row = counterexample(source, list(relations.values()))
        if row is None:
            return tuple(j for j in range(d) if j not in relations), relations
        sample.append(row)


def counterexample(source: Rows, relations: Sequence[Integers]) -> int | None:
    """A row on which v·(1, x) ≠ 0 for some relation v, or None: floats first, exact arithmetic for what they leave."""
    if not relations:
        return None
    tops = [max(map(abs, vector)) for vector in relations]
    table = np.array([[v / top for v in vector] for vector, top in zip(relations, tops, strict=True)]).T
    n, d = source.shape
    open_rows = np.zeros(n, dtype=bool)
    unit = 4.0 * (d + 4) * _EPS

    def kernel(block: Block) -> int:
        values = block.design.values
        with np.errstate(over="ignore", invalid="ignore"):
            residual = np.abs(values @ table[1:] + table[0])
            bound = unit * (abs(values) @ (np.abs(table[1:]) + 1e-290) + np.abs(table[0]) + 1e-290)
            open_rows[block.start : block.start + len(residual)] = ~(residual > bound).any(axis=1)
        return 0

    make_blocks(source).reduce(kernel)
    if not open_rows.all():
        return int(np.argmin(open_rows))
    for start in range(0, n, CHUNK):
        rows = np.arange(start, min(n, start + CHUNK))
        for vector in relations:
            signs = row_signs(source, rows, range(d), vector[1:], vector[0])
            if signs.any():
                return start + int(np.argmax(signs != 0))
    return None


def row_signs(
    source: Rows,
    rows: Array,
    columns: Iterable[int],
    weights: Sequence[int],
    constant: int,
    exponent: Array | None = None,
) -> Array:
    """int8 signs of constant + Σ_j weights[j]·x_j·2^−exponent[j] over these columns, for these rows, exactly."""
    used = [(j, v) for j, v in zip(columns, weights, strict=True) if v]
    if not used:
        return np.full(len(rows), (constant > 0) - (constant < 0), dtype=np.int8)
    places, factors = map(list, zip(*used, strict=True))
    shift = [0 if exponent is None else -int(exponent[j]) for j in places]
    parts = [
        dot_signs(as_dense(source.pick(rows[start : start + CHUNK]).raw[:, places]), factors, shift, constant)
        for start in range(0, len(rows), CHUNK)
    ]
    return np.concatenate([np.zeros(0, dtype=np.int8), *parts])
