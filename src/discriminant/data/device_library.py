"""The few operations that a device must offer, for torch and for any library of the array API standard (CuPy).

Products have a *mode*, which says how float32 is multiplied:

    "fast"    on the matrix units with 11 bits of each factor (TF32), where there are such units
    "fine"    in plain float32 (measured on an H200: cutting each factor in two and adding three products on the matrix
              units gives no more than 6 digits, since these units cut off what they add)

float64 is always float64.  Everything else is elementwise, or a sum, which is taken in float64.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from discriminant.errors import DataError
from discriminant.protocols import Array

Tensor = Any  # an array of the device's library
LONG_SUM = 2_048  # rows over which float32 columns are summed in float32
FAST_DOUBLE = ((8, 0), (9, 0), (10, 0))  # GPUs (A100, H100 and H200, B200) that multiply float64 on matrix units


class StandardLibrary:
    """Arrays of a library that follows the array API standard: CuPy, and the strict reference for tests."""

    def __init__(self, like: Any) -> None:
        self.name = type(like).__module__.partition(".")[0]
        self.cupy = self.name == "cupy"
        self.xp: Any = importlib.import_module("cupy") if self.cupy else like.__array_namespace__()
        self.place = {} if self.cupy else {"device": like.device}

    @property
    def accelerated(self) -> bool:
        """Whether float32 products have a fast mode."""
        return False

    @property
    def fast_double(self) -> bool:
        """Whether float64 products cost about what plain float32 ones do."""
        return False

    def put(self, values: Array, dtype: str | None = None) -> Tensor:
        """A NumPy array on the device."""
        made = self.xp.asarray(values, **self.place)
        return made if dtype is None else self.cast(made, dtype)

    def get(self, values: Tensor) -> Array:
        """A NumPy copy of a device array."""
        return np.asarray(values.get() if self.cupy else np.from_dlpack(values))

    def cast(self, values: Tensor, dtype: str) -> Tensor:
        return values.astype(dtype, copy=False) if self.cupy else self.xp.astype(values, getattr(self.xp, dtype))

    def zeros(self, shape: tuple[int, ...], dtype: str = "float64") -> Tensor:
        return self.xp.zeros(shape, dtype=getattr(self.xp, dtype), **self.place)

    def kind(self, values: Tensor) -> str:
        return str(values.dtype).rpartition(".")[2]

    def product(self, first: Tensor, second: Tensor, mode: str, level: Tensor = None) -> Tensor:
        """first @ second (+ level, a row that is added to every row)."""
        result = self.xp.matmul(first, second)
        return result if level is None else result + level

    def add_product(self, start: Tensor, first: Tensor, second: Tensor, level: Tensor) -> Tensor:
        """start + first @ second + level, by fast products."""
        return start + self.xp.matmul(first, second) + level

    def inner(self, first: Tensor, second: Tensor, mode: str) -> Tensor:
        """firstᵗ second, in float64 after the product."""
        return self.cast(self.product(first.T, second, mode), "float64")

    def posteriors(self, z: Tensor) -> Tensor:
        """Softmax of each row."""
        e = self.xp.exp(z - self.xp.max(z, axis=1, keepdims=True))
        return e / self.xp.sum(e, axis=1, keepdims=True)

    def log_posteriors(self, z: Tensor) -> Tensor:
        z = z - self.xp.max(z, axis=1, keepdims=True)
        return z - self.xp.log(self.xp.sum(self.xp.exp(z), axis=1, keepdims=True))

    def stack(self, columns: list[Tensor]) -> Tensor:
        """Vectors side by side."""
        return self.xp.stack(columns, axis=1)

    def _member(self, values: Tensor, codes: Tensor) -> Tensor:
        each = self.put(np.arange(values.shape[1], dtype=np.int64))
        return self.cast(codes[:, None] == each[None, :], self.kind(values))

    def own(self, values: Tensor, codes: Tensor) -> Tensor:
        """values[i, codes[i]]."""
        return self.xp.sum(values * self._member(values, codes), axis=1)

    def lower_own(self, values: Tensor, codes: Tensor) -> Tensor:
        """values[i, codes[i]] − 1; ``values`` may be written to."""
        return values - self._member(values, codes)

    def scale_rows(self, values: Tensor, factors: Tensor) -> Tensor:
        """values · factors[:, None], in place."""
        values *= factors[:, None]
        return values

    def total(self, values: Tensor, axis: int | None = None) -> Tensor:
        """A sum in float64."""
        return self.xp.sum(self.cast(values, "float64"), axis=axis)

    def dot(self, first: Tensor, second: Tensor) -> Tensor:
        """Σ first · second of two matrices, as a number on the device."""
        return self.xp.sum(first * second)

    def counts(self, codes: Tensor, n_classes: int, weight: Tensor = None) -> Array:
        """How many rows each class has, or how much weight."""
        if self.name in ("torch", "cupy"):  # the standard has no such function
            found = self.get(self.xp.bincount(codes, weight, minlength=n_classes))
        else:
            found = np.bincount(self.get(codes), None if weight is None else self.get(weight), n_classes)
        return found.astype(np.float64)

    def take(self, values: Tensor, index: Tensor) -> Tensor:
        """values[index], rows or entries."""
        return self.xp.take(values, index, axis=0)

    def order(self, codes: Tensor) -> Tensor:
        """Row numbers in the order of the classes."""
        return self.xp.argsort(codes)

    def join(self, parts: list[Tensor]) -> Tensor:
        return self.xp.concatenate(parts) if self.cupy else self.xp.concat(parts)

    def batches(self, rows: Tensor, other: Tensor, size: int) -> Tensor:
        """Σ rowsᵗ other in float64, summed in the arithmetic's own type over ``size`` rows at a time only."""
        bounds = [slice(i, min(i + size, rows.shape[0])) for i in range(0, rows.shape[0], size)]
        parts = [self.inner(rows[part, :], other[part, :], "fine") for part in bounds]
        return sum(parts[1:], start=parts[0])

    def index(self, values: Array) -> Tensor:
        return self.put(np.asarray(values, dtype=np.int64))

    def span(self, values: Tensor) -> tuple[int, int]:
        """(least, greatest) of integers."""
        return int(self.xp.min(values)), int(self.xp.max(values))

    def top(self, z: Tensor) -> Tensor:
        """The position of the first largest entry of each row."""
        return self.xp.argmax(z, axis=1)

    def diagonal(self, values: Tensor) -> Tensor:
        """The matrix with these values on its diagonal."""
        return values[:, None] * self.put(np.eye(values.shape[0]))

    def inverse(self, matrix: Tensor) -> Tensor:
        """The inverse of a positive definite matrix; it is small, and found on the host."""
        return self.put(np.linalg.inv(self.get(matrix)))

    def free_memory(self) -> int:
        return int(self.xp.cuda.Device().mem_info[0]) if self.cupy else 1 << 62


class TorchLibrary(StandardLibrary):
    """Tensors of one device of torch, whose names differ here and there, and which has kernels that fuse."""

    name = "torch"
    cupy = False

    def __init__(self, device: Any) -> None:
        self.xp: Any = importlib.import_module("torch")
        self.device = self.xp.device(device)
        self.place = {"device": self.device}
        if self.device.type == "cuda" and not self.xp.cuda.is_available():
            raise DataError("There is no CUDA device that torch can use here; hand over arrays in memory instead.")

    @property
    def accelerated(self) -> bool:
        return bool(self.device.type == "cuda")

    @property
    def fast_double(self) -> bool:
        return self.accelerated and self.xp.cuda.get_device_capability(self.device) in FAST_DOUBLE

    def put(self, values: Array, dtype: str | None = None) -> Tensor:
        with contextlib.suppress(TypeError):  # kinds of numbers that torch has not (uint16, say)
            tensor = self.xp.from_numpy(np.ascontiguousarray(values)).to(self.device)
            return tensor if dtype is None else self.cast(tensor, dtype)
        raise DataError(f"torch has no numbers of the kind {values.dtype}; convert them to float32 or int64.")

    def get(self, values: Tensor) -> Array:
        values = values.detach()
        return np.asarray((values.float() if values.dtype == self.xp.bfloat16 else values).cpu().numpy())

    def cast(self, values: Tensor, dtype: str) -> Tensor:
        return values.to(getattr(self.xp, dtype))

    @contextlib.contextmanager
    def _units(self, fast: bool) -> Iterator[None]:
        """Whether float32 products of this thread's next lines may use the matrix units; restored afterwards."""
        if not self.accelerated:
            yield
            return
        switch = self.xp.backends.cuda.matmul
        attribute, values = (
            ("fp32_precision", ("ieee", "tf32")) if hasattr(switch, "fp32_precision") else ("allow_tf32", (False, True))
        )
        before = getattr(switch, attribute)
        setattr(switch, attribute, values[fast])
        try:
            yield
        finally:
            setattr(switch, attribute, before)

    def product(self, first: Tensor, second: Tensor, mode: str, level: Tensor = None) -> Tensor:
        with self._units(mode == "fast"):
            return self.xp.mm(first, second) if level is None else self.xp.addmm(level, first, second)

    def add_product(self, start: Tensor, first: Tensor, second: Tensor, level: Tensor) -> Tensor:
        with self._units(True):
            return self.xp.addmm(start, first, second).add_(level)

    def posteriors(self, z: Tensor) -> Tensor:
        return self.xp.softmax(z, dim=1)

    def log_posteriors(self, z: Tensor) -> Tensor:
        return self.xp.log_softmax(z, dim=1)

    def own(self, values: Tensor, codes: Tensor) -> Tensor:
        return values.gather(1, codes[:, None])[:, 0]

    def lower_own(self, values: Tensor, codes: Tensor) -> Tensor:
        return values.scatter_add_(1, codes[:, None], values.new_full((len(values), 1), -1.0))

    def total(self, values: Tensor, axis: int | None = None) -> Tensor:
        if axis == 0 and len(values) > LONG_SUM and values.dtype == self.xp.float32:
            # some thousand rows in float32, the rest in float64: a sum in float64 alone would copy all values
            whole = len(values) // LONG_SUM * LONG_SUM
            parts = values[:whole].reshape(-1, LONG_SUM, *values.shape[1:]).sum(dim=1)
            return parts.sum(dim=0, dtype=self.xp.float64) + values[whole:].sum(dim=0, dtype=self.xp.float64)
        return values.sum(dim=axis, dtype=self.xp.float64)

    def take(self, values: Tensor, index: Tensor) -> Tensor:
        return values[index]

    def order(self, codes: Tensor) -> Tensor:
        return self.xp.argsort(codes, stable=True)

    def batches(self, rows: Tensor, other: Tensor, size: int) -> Tensor:
        whole = len(rows) // size * size
        result = self.inner(rows[whole:], other[whole:], "fine") if whole < len(rows) else 0.0
        if whole:
            shape = (whole // size, size)
            with self._units(False):
                first = rows[:whole].reshape(*shape, rows.shape[1])
                parts = self.xp.bmm(first.transpose(1, 2), other[:whole].reshape(*shape, other.shape[1]))
            result = result + parts.sum(dim=0, dtype=self.xp.float64)
        return result

    def inverse(self, matrix: Tensor) -> Tensor:
        return self.xp.cholesky_inverse(self.xp.linalg.cholesky(matrix))

    def free_memory(self) -> int:
        if not self.accelerated:
            return 1 << 62
        free, _ = self.xp.cuda.mem_get_info(self.device)
        spare = self.xp.cuda.memory_reserved(self.device) - self.xp.cuda.memory_allocated(self.device)
        return int(free + spare)


class NumpyLibrary(StandardLibrary):
    """The same few operations in memory, for code that takes vectors of either side."""

    def __init__(self) -> None:
        self.name, self.cupy, self.xp, self.place = "numpy", False, np, {}

    def put(self, values: Array, dtype: str | None = None) -> Array:
        return values if dtype is None else values.astype(dtype, copy=False)

    def get(self, values: Array) -> Array:
        return values

    def dot(self, first: Array, second: Array) -> Tensor:
        return np.vdot(first, second)


NUMPY = NumpyLibrary()


def library_of(X: Any) -> StandardLibrary:
    """The library that X, an array in memory or on a device, belongs to."""
    if isinstance(X, np.ndarray):
        return NUMPY
    return TorchLibrary(X.device) if type(X).__module__.partition(".")[0] == "torch" else StandardLibrary(X)
