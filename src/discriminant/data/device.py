"""Rows on an accelerator: tensors of torch, arrays of CuPy, or rows in memory that are handed to a device in blocks.

``open_device`` is the door for arrays of those libraries; ``on_device`` says for rows in memory that a device shall do
the arithmetic.  Where they do not fit its memory they are sent there block by block at each pass.

``DeviceBlocks.reduce`` leaves it to a kernel that is a ``DeviceRequest`` to work on the device; any other kernel sees
its block as a NumPy array.  Small data are fetched and fitted in memory, to the last digits: a device gains
nothing there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from discriminant.arguments import TEXT, checked
from discriminant.arrays import in_memory
from discriminant.data.blocks import ArrayBlocks, make_blocks
from discriminant.data.check import check_weights
from discriminant.data.device_library import StandardLibrary, Tensor, TorchLibrary, library_of
from discriminant.data.evaluate import COARSE, FINEST, DeviceRequest
from discriminant.data.labels import WIDEST_TABLE, code_table, encode_labels
from discriminant.data.rows import DenseDesign, Rows
from discriminant.data.sources import RowFunction, RowSource, documented
from discriminant.errors import DataError
from discriminant.protocols import Array, Block, Dtype, Result
from discriminant.thresholds import BLOCK_VALUES, RESIDENT_SHARE, SMALL_VALUES

PEEKED = 128  # rows that are fetched to learn of their size


def stride(n_rows: int) -> int:
    return -(-n_rows // PEEKED)


def some_codes(codes: Tensor) -> Array:
    """The codes of some rows from all over, in memory."""
    return in_memory(codes[:: stride(codes.shape[0])])


def encode_on_device(lib: StandardLibrary, y: Any, classes: Array | None, n_rows: int) -> tuple[Array, Tensor]:
    """(classes, codes on the device): integers on the device stay there, others are encoded in memory."""
    own = type(y).__module__.partition(".")[0] == lib.name
    low, high = 0, WIDEST_TABLE
    if own and lib.kind(y) in ("int64", "int32", "int16", "int8", "uint8") and tuple(y.shape) == (n_rows,):
        low, high = lib.span(y)
    if high - low >= WIDEST_TABLE:
        found, codes = encode_labels(None if y is None else in_memory(y), classes, n_rows)
        return found, lib.index(codes)
    moved = lib.cast(y, "int64") if low == 0 else lib.cast(y, "int64") - low
    present = np.unique(some_codes(moved))
    if len(present) <= high - low:  # some rows do not show every code: all are counted
        present = np.flatnonzero(lib.counts(moved, high - low + 1))
    found = (present + low).astype(lib.kind(y))
    known = found if classes is None else np.asarray(classes)
    table = np.full(high - low + 1, -1, dtype=np.int64)
    table[present] = code_table(found, known)
    same = np.array_equal(table, np.arange(len(table)))
    return known, moved if same else lib.take(lib.put(table), moved)


@dataclass(frozen=True, eq=False)
class DeviceRows(Rows):
    """Rows of a two-dimensional array on a device, or of one in memory that is sent there block by block."""

    X: Any
    library: StandardLibrary
    streamed: bool = False  # X lies in memory
    returned: bool = False  # results go back to memory, whence the rows came

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.X.shape[0]), int(self.X.shape[1])

    @property
    def kind(self) -> str:
        return str(self.X.dtype).rpartition(".")[2]

    @property
    def arithmetic(self) -> str:
        """float64 for float64 and integers, float32 for float32 and everything shorter."""
        return "float32" if self.kind in ("float32", "float16", "bfloat16") else "float64"

    @property
    def dtype(self) -> Dtype:
        return np.dtype(self.arithmetic)

    @property
    def blocks_type(self) -> type[DeviceBlocks]:
        return DeviceBlocks

    @property
    def block_rows(self) -> int:
        return max(1, min(self.shape[0], BLOCK_VALUES // max(self.shape[1], 1) // 4))

    def pieces(self, rows: int = 0) -> Iterator[tuple[int, int, Tensor]]:
        """(start, stop, rows start:stop on the device as they are stored)."""
        n, step = self.shape[0], rows or self.block_rows
        for start in range(0, n, step):
            stop = min(start + step, n)
            piece = self.X[start:stop, :]
            yield start, stop, self.library.put(piece) if self.streamed else piece

    @cached_property
    def some(self) -> Array:
        """Some rows from all over X, fetched once."""
        rows = self.X[:: stride(self.shape[0]), :]
        return np.asarray(rows if self.streamed else self.library.get(rows))

    def working(self, piece: Tensor) -> Tensor:
        """A piece in the type of the arithmetic."""
        return piece if self.kind == self.arithmetic else self.library.cast(piece, self.arithmetic)

    def fetch(self, index: Array) -> Array:
        """Some rows, as a NumPy array."""
        if self.streamed:
            return np.asarray(self.X[index])
        lib = self.library
        return np.asarray(lib.get(lib.take(self.X, lib.index(index))))

    def design(self, start: int, stop: int) -> DenseDesign:
        return DenseDesign(self.X[start:stop] if self.streamed else self.library.get(self.X[start:stop, :]))

    def pick(self, rows: Array) -> DenseDesign:
        return DenseDesign(self.fetch(np.asarray(rows)))


@dataclass
class Anchor:
    """Weights of K classes at which an evaluation is known in float64, and the score of every row and class there."""

    scores: Tensor = None  # (n, K), float32
    A: Tensor = None
    loss: float = 0.0
    base: Tensor = None
    slope: Tensor = None


@dataclass(frozen=True)
class DeviceBlocks(ArrayBlocks):
    """Blocks of rows on a device; class codes (int64) and weights (float64) lie beside them."""

    rows: DeviceRows
    target: Tensor = None
    weight: Tensor = None
    block_rows: int = field(default=0)
    anchor: Anchor = field(default_factory=Anchor)  # of the evaluations of one fit
    vectors: bool = False  # weights lie on the device, too

    in_memory: ClassVar[bool] = False
    elsewhere: ClassVar[bool] = True
    on_device: ClassVar[bool] = True

    @property
    def library(self) -> StandardLibrary:
        return self.rows.library

    @property
    def rounding(self) -> float:
        return 10.0 if self.rows.arithmetic == "float32" else 1.0

    @property
    def total(self) -> float:
        return float(self.n_rows if self.weight is None else self.library.total(self.weight))

    def codes(self) -> Array:
        return in_memory(self.target)

    def counts(self, n_classes: int) -> Array:
        return np.asarray(self.library.counts(self.target, n_classes, self.weight))

    def reweighted(self, factors: Array) -> Self:
        lib = self.library
        table = lib.put(np.asarray(factors, dtype=np.float64))
        each = lib.take(table, self.target)
        return replace(self, weight=each if self.weight is None else each * self.weight)

    def block(self, start: int, stop: int) -> Block:
        codes, weight = self.target, self.weight
        return Block(
            self.rows.design(start, stop),
            start,
            None if codes is None else in_memory(codes[start:stop]),
            None if weight is None else in_memory(weight[start:stop]),
        )

    def reduce(self, kernel: Callable[[Block], Result]) -> Result:
        """Σ_b kernel(b), worked out on the device where the kernel has a body for it."""
        found = kernel.on_device(self) if isinstance(kernel, DeviceRequest) else None
        return super().reduce(kernel) if found is None else found  # type: ignore[no-any-return]

    @property
    def accuracy(self) -> float:
        return COARSE if self.rows.arithmetic == "float32" else FINEST

    def to_fit(self, coupled: bool) -> Self:
        return replace(self, anchor=Anchor(), vectors=coupled)

    def gram(self, center: Array | None) -> Array:
        """YᵗY w / Σw, (1+d, 1+d)."""
        from discriminant.data.device_evaluate import gram

        return gram(self, center)

    def place(self, values: Array) -> Tensor:
        return self.library.put(values) if self.vectors else values

    def _codes(self, index: Array) -> Array:
        lib = self.library
        return np.asarray(lib.get(lib.take(self.target, lib.index(index))))

    @property
    def is_soft(self) -> bool:
        return False  # codes, in the device's own kind of integers

    @cached_property
    def peek(self) -> Block:
        """Some rows from all over X with their codes."""
        return Block(DenseDesign(self.rows.some), 0, some_codes(self.target), None)

    def sample(self, n_rows: int, n_classes: int) -> Block:
        """Some rows from all over X and one at least of each class: few where they suffice, since each look waits."""
        peek = self.peek
        missing = np.flatnonzero(np.bincount(np.asarray(peek.target), minlength=n_classes) == 0)
        if n_rows <= 4 * PEEKED and not len(missing):
            return peek
        index = np.unique(np.linspace(0, self.n_rows - 1, min(n_rows, self.n_rows)).astype(np.intp))
        codes = self._codes(index)
        missing = np.setdiff1d(missing, codes)
        if len(missing):
            first = [int(found) for k in missing[:1000] if (found := self._first(int(k))) >= 0]
            index = np.unique(np.concatenate([index, np.array(first, dtype=np.intp)]))
            codes = self._codes(index)
        return Block(self.rows.pick(index), 0, codes, None)

    def _first(self, code: int) -> int:
        """The first row of a class; −1 where it has none."""
        xp, library = self.library.xp, self.library
        found = library.cast(self.target == code, "int64")
        place = int(xp.argmax(found))
        return place if int(found[place]) else -1

    def _threads(self) -> int:
        return 1  # blocks are fetched one after the other


@documented
@dataclass(frozen=True, eq=False)
class DeviceSource(RowSource):
    """An array on a device, or rows in memory on their way to one, as a source of rows.

    Arrays of torch and CuPy on a device are taken by ``fit`` and ``predict`` as they are; ``on_device`` sends others.

    Attributes
    ----------
    rows : DeviceRows
        The rows and the library whose arrays they are.
    feature_names : tuple of d str or None
        The columns' names.
    smallest : int
        Values of X from which the device works on them; fewer are fitted in memory.

    See Also
    --------
    on_device : Makes one of rows in memory.

    >>> import discriminant
    >>> source = discriminant.on_device(X)  # doctest: +SKIP
    >>> discriminant.LinearDiscriminantAnalysis().fit(source, y)  # doctest: +SKIP
    """

    rows: DeviceRows
    smallest: int = SMALL_VALUES  # values of X from which the device works on them

    def training(self, y: Any, sample_weight: Any, classes: Array | None) -> tuple[ArrayBlocks, Array]:
        n, lib = self.shape[0], self.rows.library
        small = n * self.shape[1] < self.smallest and not self.rows.streamed
        found, codes = encode_on_device(lib, y, None if classes is None else np.asarray(classes), n)
        weight = check_weights(None if sample_weight is None else in_memory(sample_weight), n)
        if small:
            return make_blocks(lib.get(self.rows.X), lib.get(codes), weight), found
        return DeviceBlocks(self.rows, codes, None if weight is None else lib.put(weight)), found

    def apply(self, function: Callable[[Any], Array], out: Any = None) -> Any:
        lib = self.rows.library
        parts = []
        for _, _, piece in self.rows.pieces():
            part = function.on_device(self.rows, piece) if isinstance(function, RowFunction) else None
            if part is None:
                part = np.asarray(function(lib.get(self.rows.working(piece))))
                part = lib.put(part) if part.dtype.kind in "fiub" else part
            home = self.rows.returned and not isinstance(part, np.ndarray)
            parts.append(lib.get(part) if home else part)
        if isinstance(parts[0], np.ndarray):
            return np.concatenate(parts)
        return parts[0] if len(parts) == 1 else lib.join(parts)

    def native(self, values: Array) -> Tensor:
        return values if self.rows.returned or self.rows.streamed else self.rows.library.put(values)

    def score(self, predict: Callable[[Any], Array], y: Any = None, sample_weight: Any = None) -> float:
        right = in_memory(predict(self)) == in_memory(y)  # predicted on the device
        return float(np.average(right, weights=None if sample_weight is None else in_memory(sample_weight)))


def open_device(X: Any) -> DeviceSource | None:
    """The source of an array on a device; None where X is no table of numbers."""
    if type(X).__name__ == "Parameter" or not hasattr(X, "dtype") or not hasattr(X, "shape"):
        return None
    if len(X.shape) != 2:
        raise DataError(f"X has {len(X.shape)} dimension(s) and must have two: one row a sample, one column a feature.")
    if 0 in tuple(X.shape):
        raise DataError(
            f"Found array with 0 sample(s) or feature(s) (shape={tuple(X.shape)}) while at least 1 is needed."
        )
    X = X.detach() if hasattr(X, "detach") else X
    return DeviceSource(DeviceRows(X, library_of(X)))


@documented
@checked(device=TEXT)
def on_device(X: Any, device: str = "cuda") -> DeviceSource:
    """Rows in memory (an array or memory map) whose arithmetic a device of torch shall do.

    They are copied there where they fit, and streamed in blocks at each pass where they do not.  Every batch estimator
    takes the result in place of X; predictions come back in memory.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows in memory: an array or a memory map.
    device : str, default="cuda"
        A device of torch.

    Raises
    ------
    DataError
        Where X is no two-dimensional array of numbers, or torch has no such device.

    >>> model = LogisticRegression().fit(discriminant.on_device(X), y)  # doctest: +SKIP
    """
    array = np.asarray(X)
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise DataError("on_device takes a two-dimensional array of numbers.")
    library = TorchLibrary(device)
    if array.dtype.kind != "f":
        array = array.astype(np.float32 if array.dtype.itemsize <= 2 else np.float64)
    streamed = array.nbytes > RESIDENT_SHARE * library.free_memory()
    return DeviceSource(DeviceRows(array if streamed else library.put(array), library, streamed, returned=True))
