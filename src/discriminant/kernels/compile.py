"""How a kernel is compiled: by Numba, kept on disk between processes; and what happens where that cannot be.

Kernels are plain module-level functions with an integer ``kind``: classes, closures and functions as arguments would be
compiled again in every process.  Where no folder can be written the kernel is compiled for this process only; where
Numba is missing the function itself is handed back, and callers take their NumPy path instead.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any, TypeVar

LINE = 64  # bytes of a cache line

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


def make_prefetch() -> Callable[[Any, Any], None]:
    """``prefetch(X, i)`` for kernels: ask for row i of a matrix ahead of its use; does nothing where Numba is missing.

    Rows in shuffled order come from anywhere in memory, and waiting for them is most of an epoch.  The order is known
    beforehand, so the row that is wanted some samples later can be under way meanwhile.
    """
    if not can_compile():
        return lambda X, i: None
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.extending import intrinsic

    @intrinsic  # type: ignore[untyped-decorator]
    def prefetch(typing: Any, X: Any, i: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, arguments[0])
            shape, strides = cgutils.unpack_tuple(builder, array.shape), cgutils.unpack_tuple(builder, array.strides)
            byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
            row = builder.mul(context.cast(builder, arguments[1], signature.args[1], types.intp), strides[0])
            size = builder.mul(shape[1], strides[1])
            base = builder.bitcast(array.data, byte)
            kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
            fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
            with cgutils.for_range_slice(builder, size.type(0), size, size.type(LINE), size.type) as (offset, _):
                line = builder.gep(base, [builder.add(row, offset)])
                builder.call(fetch, [line, word(0), word(3), word(1)])  # to read, to keep, data
            return context.get_dummy_value()

        return types.void(X, i), generate

    return prefetch  # type: ignore[no-any-return]
