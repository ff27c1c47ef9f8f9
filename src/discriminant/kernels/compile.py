"""How a kernel is compiled: by Numba, kept on disk between processes; and what happens where that cannot be.

Kernels are plain module-level functions with an integer ``kind``: classes, closures and functions as arguments would be
compiled again in every process.  Where no folder can be written the kernel is compiled for this process only; where
Numba is missing the function itself is handed back, and callers take their NumPy path instead.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def can_compile() -> bool:
    """Whether Numba is installed; does not load it."""
    return importlib.util.find_spec("numba") is not None


def compiled(function: Function, **options: Any) -> Function:
    """``function`` compiled on first call, without the interpreter lock; itself where Numba is missing."""
    if not can_compile():
        return function
    import numba

    try:
        made = numba.njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:  # no folder to cache in: a read-only installation without a home
        made = numba.njit(nogil=True, **options)(function)
    return made  # type: ignore[no-any-return]
