"""CuPy's manners without a GPU: arrays that mix with their own kind alone and go to memory by ``get`` only."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin


def _bare(value: Any) -> Any:
    """The NumPy array inside; containers are looked through, and NumPy's own arrays refused as CuPy refuses them."""
    if isinstance(value, ndarray):
        return value.held
    if isinstance(value, np.ndarray) and value.ndim:
        raise TypeError(f"Unsupported type {type(value)}")
    return type(value)(map(_bare, value)) if isinstance(value, list | tuple) else value


def _held(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_held, value))
    return ndarray(np.asarray(value)) if isinstance(value, np.ndarray | np.generic) else value


class ndarray(NDArrayOperatorsMixin):  # noqa: N801: CuPy's name
    """An array "on the device"."""

    device = "a device"

    def __init__(self, held: np.ndarray) -> None:
        self.held = held

    dtype = property(lambda self: self.held.dtype)
    shape = property(lambda self: self.held.shape)
    ndim = property(lambda self: self.held.ndim)
    T = property(lambda self: ndarray(self.held.T))

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`.")

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        return _held(getattr(function, method)(*_bare(inputs), **{key: _bare(v) for key, v in keywords.items()}))

    def __array_function__(self, function: Any, kinds: Any, inputs: Any, keywords: Any) -> Any:
        return _held(function(*_bare(inputs), **{key: _bare(value) for key, value in keywords.items()}))

    def __len__(self) -> int:
        return len(self.held)

    def __float__(self) -> float:
        return float(self.held)

    def __int__(self) -> int:
        return int(self.held)

    def __bool__(self) -> bool:
        return bool(self.held)

    def __getitem__(self, index: Any) -> Any:
        return _held(self.held[_bare(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        self.held[_bare(index)] = _bare(value)

    def astype(self, dtype: Any, copy: bool = True) -> ndarray:
        return ndarray(self.held.astype(dtype, copy=copy))

    def all(self) -> Any:
        return _held(self.held.all())

    def get(self) -> np.ndarray:
        return self.held


ndarray.__module__ = "cupy"


class _Module(ModuleType):
    def __getattr__(self, name: str) -> Any:
        function = getattr(np, name)
        if not callable(function) or isinstance(function, type):
            return function
        return lambda *inputs, **keywords: _held(
            function(*_bare(inputs), **{key: _bare(value) for key, value in keywords.items()})
        )


def install(monkeypatch: Any) -> Any:
    """``import cupy`` finds the stand-in."""
    module = _Module("cupy")
    vars(module)["ndarray"] = ndarray
    vars(module)["asarray"] = lambda values: ndarray(np.asarray(getattr(values, "held", values)))
    vars(module)["cuda"] = SimpleNamespace(Device=lambda: SimpleNamespace(mem_info=(1 << 40, 1 << 40)))
    monkeypatch.setitem(sys.modules, "cupy", module)
    return module
