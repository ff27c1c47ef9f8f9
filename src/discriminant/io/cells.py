"""What a program does with one row, as numbers made of numbers, for languages that have no arrays.

``Cells`` stands for an array: what NumPy is asked of it becomes a ``Cell`` for each number, with the operation and the
cells and constants that it takes.  ``ordered`` lists what some cells rest on, and names those that are worth a name of
their own; ``written`` spells one out in a language's templates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partialmethod
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from discriminant.protocols import Array

Number = Any  # a Cell, or a constant
TESTS = ("greater", "greater_equal", "equal")
PLAIN = ("leaf", "add", "subtract", "multiply", "divide", "negative")
NEUTRAL = {"add": 0.0, "subtract": 0.0, "multiply": 1.0, "divide": 1.0, "sum": 0.0, "max": -np.inf, "min": np.inf}
INLINE = 2  # operands that are rather written twice than named


class Cell:
    """A number: an operation on others, of a leaf a text; ``kept``: has a name in any case."""

    def __init__(self, op: str, *parts: Number, kept: bool = False) -> None:
        self.op, self.parts, self.kept = op, parts, kept
        self.uses = 0
        size = sum(part.size for part in parts if isinstance(part, Cell))
        self.size: int = size + (op == "leaf") + INLINE * (op not in PLAIN)


def plain(part: Number) -> Number:
    """A number; of a test, 1 or 0."""
    return Cell("where", part, 1.0, 0.0) if isinstance(part, Cell) and part.op in TESTS else part


def made(op: str, *parts: Number) -> Number:
    """The cell of an operation, or the number where it is known without one."""
    if op == "where" and not isinstance(parts[0], Cell):
        return parts[1] if parts[0] else parts[2]
    parts = parts if op == "where" else tuple(map(plain, parts))
    known = [part for part in parts if not isinstance(part, Cell)]
    if len(known) == len(parts):
        return getattr(np, op)(*parts)
    if op == "multiply" and (0 in known or parts[0] is parts[1]):
        return 0.0 if 0 in known else Cell("square", parts[0])
    if op in NEUTRAL and known == [NEUTRAL[op]] and (op in ("add", "multiply") or known[0] is parts[1]):
        return next(part for part in parts if isinstance(part, Cell))
    return Cell(op, *parts)


def gathered(op: str, parts: Sequence[Number]) -> Number:
    """The sum or the extreme of many, or its place ("argmax", "argmin"), the first of equals."""
    if op.startswith("arg"):
        best = gathered(op[3:], parts)
        return Cell("pick", *(item for k, part in enumerate(parts) for item in (Cell("equal", part, best), float(k))))
    left = [part for part in map(plain, parts) if isinstance(part, Cell) or part != NEUTRAL[op]]
    return Cell(op, *left) if len(left) > 1 else left[0] if left else NEUTRAL[op]


class Cells(NDArrayOperatorsMixin):
    """An array of cells and constants, which NumPy's functions take as one of numbers."""

    def __init__(self, cells: Any) -> None:
        self.cells: Array = cells.cells if isinstance(cells, Cells) else np.asarray(cells, dtype=object)

    def apply(self, op: str, *others: Any) -> Cells:
        """The operation on each number."""
        given = [Cells(one).cells for one in (self, *others)]
        return Cells(np.frompyfunc(lambda *parts: made(op, *parts), len(given), 1)(*given))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any) -> Cells:
        first, *rest = map(Cells, inputs)
        if ufunc is np.square:
            return first.apply("multiply", first)
        if ufunc is np.logaddexp:  # of zero and z: max(z, 0) + log(1 + e^−|z|)
            tail = Cells(np.exp(-np.abs(rest[0])))
            return rest[0].apply("maximum", 0.0).apply("add", tail.apply("log1p"))
        if ufunc is not np.matmul:
            return first.apply(ufunc.__name__, *rest)
        if rest[0].cells.ndim == 1:
            return first.apply("multiply", rest[0]).sum(axis=-1)
        return first[..., :, :, None].apply("multiply", rest[0][..., None, :, :]).sum(axis=-2)

    def __array_function__(self, function: Any, types: Any, given: tuple[Any, ...], more: dict[str, Any]) -> Cells:
        if function is np.where:
            return Cells(given[0]).apply("where", *given[1:])
        return Cells(function([Cells(part).cells for part in given[0]], **more))

    def __getitem__(self, places: Any) -> Cells:
        return Cells(self.cells[places])

    def reshape(self, *shape: int) -> Cells:
        return Cells(self.cells.reshape(*shape))

    def transpose(self, *order: int) -> Cells:
        return Cells(self.cells.transpose(*order))

    def _along(self, op: str, axis: int, keepdims: bool = False) -> Cells:
        found = np.apply_along_axis(lambda parts: np.array([gathered(op, parts.tolist())], object), axis, self.cells)
        return Cells(found if keepdims else found.squeeze(axis))

    sum = partialmethod(_along, "sum")
    max = partialmethod(_along, "max")
    min = partialmethod(_along, "min")
    argmax = partialmethod(_along, "argmax")
    argmin = partialmethod(_along, "argmin")


def ordered(roots: Sequence[Number]) -> list[Cell]:
    """The cells that these rest on and that deserve a name, each after those that it takes."""
    found: dict[int, Cell] = {}

    def visit(cell: Number) -> None:
        if isinstance(cell, Cell):
            cell.uses += 1
            if cell.uses == 1:
                for part in cell.parts:
                    visit(part)
                found[id(cell)] = cell

    for root in roots:
        visit(root)
    return [cell for cell in found.values() if cell.kept or (cell.uses > 1 and cell.size > INLINE)]


def beneath(cell: Cell, names: Mapping[Cell, str]) -> list[Cell]:
    """The cells with names that a cell is spelled with."""
    inner = [part for part in cell.parts if isinstance(part, Cell)]
    return [one for part in inner for one in ([part] if part in names else beneath(part, names))]


def written(
    cell: Number, names: Mapping[Cell, str], words: Mapping[str, Any], number: Callable[[float], str], top: bool = False
) -> str:
    """A cell in a language: ``names`` of cells that have one; ``words``: a template or function for each operation.

    ``top``: spelled out although it has a name.
    """
    if not isinstance(cell, Cell):
        return number(float(cell))
    if cell in names and not top:
        return names[cell]
    if cell.op == "leaf":
        return str(cell.parts[0])
    parts = [written(part, names, words, number) for part in cell.parts]
    word = words[cell.op]
    return str(word.format(*parts) if isinstance(word, str) else word(parts))
