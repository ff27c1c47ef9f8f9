"""One look at rows on a GPU that takes their Gram matrix and class sums near the speed of memory (Triton).

Each float32, in a unit of its column, is cut into two of 11 bits, x = h + l, which the matrix units multiply exactly:

    RᵗR ≈ hᵗh + C + Cᵗ,     C = hᵗl,       sums = (h + l)ᵗ M        (what is left out is below 2⁻²² of a product)

These units cut off what they add, so that their sums run over some hundred rows only; beyond, a program adds them in
float32, and the caller adds the programs' sums in float64, in a fixed order.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

HERE = importlib.util.find_spec("triton") is not None
triton: Any = importlib.import_module("triton") if HERE else None
tl: Any = importlib.import_module("triton.language") if HERE else None

CLASSES = 16  # the matrix units multiply nothing narrower
ROWS = 16_384  # of one program: beyond, sums are float64
GROUP = 512  # rows that the matrix units add
TILE = 64
OPTIONS = {"num_warps": 4, "num_stages": 3}


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


@(triton.jit if HERE else _plain)
def _moments(  # type: ignore[no-untyped-def]
    X, codes, shift, unit, square, cross, sums, counts, n, d, shifted: tl.constexpr, rows: tl.constexpr,
    group: tl.constexpr, tile: tl.constexpr, width: tl.constexpr, classes: tl.constexpr
):  # fmt: skip
    program = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, width)
    each = tl.arange(0, classes)
    real = columns < d
    inverse = tl.load(unit + columns, mask=real, other=0.0)
    S = tl.zeros((width, width), dtype=tl.float32)
    C = tl.zeros((width, width), dtype=tl.float32)
    M = tl.zeros((width, classes), dtype=tl.float32)
    N = tl.zeros((classes,), dtype=tl.float32)
    start = program * rows
    for outer in range(0, rows, group):
        s = tl.zeros((width, width), dtype=tl.float32)
        c = tl.zeros((width, width), dtype=tl.float32)
        m = tl.zeros((width, classes), dtype=tl.float32)
        for step in range(0, group, tile):
            row = start + outer + step + tl.arange(0, tile)
            here = row < n
            there = here[:, None] & real[None, :]
            code = tl.load(codes + row, mask=here, other=classes).to(tl.int32)
            x = tl.load(X + row[:, None] * d + columns[None, :], mask=there, other=0.0)
            if shifted:
                x = x - tl.load(shift + code[:, None] * d + columns[None, :], mask=there, other=0.0)
            x = x * inverse[None, :]
            h = x.to(tl.float16)
            low = (x - h.to(tl.float32)).to(tl.float16)
            who = code[:, None] == each[None, :]
            member = who.to(tl.float16)
            ht = tl.trans(h)
            s = tl.dot(ht, h, s)
            c = tl.dot(ht, low, c)
            m = tl.dot(ht, member, m)
            m = tl.dot(tl.trans(low), member, m)
            N += tl.sum(who.to(tl.float32), axis=0)
        S += s
        C += c
        M += m
    at = columns[:, None] * width + columns[None, :]
    tl.store(square + program * width * width + at, S)
    tl.store(cross + program * width * width + at, C)
    tl.store(sums + program * classes * width + columns[:, None] * classes + each[None, :], M)
    tl.store(counts + program * classes + each, N)


def moments(X: Any, codes: Any, shift: Any, unit: Any, torch: Any) -> tuple[Any, Any, Any]:
    """(gram (d, d), class sums (16, d), class counts (16,)) in float64, of float32 rows with class codes < 16.

    ``unit`` (d,): powers of two of the size of the columns.  Values beyond 65,504 of them make the result infinite.
    """
    n, d = X.shape
    width = max(16, triton.next_power_of_2(d))
    programs = triton.cdiv(n, ROWS)
    make = {"dtype": torch.float32, "device": X.device}
    square, cross = (torch.empty((programs, width, width), **make) for _ in range(2))
    sums, counts = torch.empty((programs, width, CLASSES), **make), torch.empty((programs, CLASSES), **make)
    kernel: Any = _moments
    kernel[(programs,)](
        X, codes, X if shift is None else shift, 1 / unit, square, cross, sums, counts, n, d,
        shifted=shift is not None, rows=ROWS, group=GROUP, tile=TILE, width=width, classes=CLASSES, **OPTIONS,
    )  # fmt: skip
    C = cross.sum(dim=0, dtype=torch.float64)
    G = (square.sum(dim=0, dtype=torch.float64) + C + C.T)[:d, :d] * unit * unit[:, None]
    M = sums.sum(dim=0, dtype=torch.float64)[:d].T * unit
    return G, M, counts.sum(dim=0, dtype=torch.float64)
