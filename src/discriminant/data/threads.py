"""A small thread pool over row chunks, with BLAS held to one thread inside it.

NumPy and BLAS release the interpreter lock, so plain threads give the cores their work.  Measured against BLAS's own
threads on blocks that fit the cache they are faster (0.39 against 0.6 s for a Gram matrix) and do not collapse when
the machine is shared.  Results come back in the order of the items whatever the number of threads, so that sums have
the same bits on every machine of the same kind.
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

import numpy as np

from discriminant.protocols import Array
from discriminant.thresholds import HELD_BLAS_COLUMNS, HELD_BLAS_WORK

Item = TypeVar("Item")
Value = TypeVar("Value")

_lock = threading.Lock()
_holders = 0
_limiter: Any = None
_known: tuple[int, Any] | None = None


class _Local(threading.local):
    worker = False  # of a pool: starts no threads of its own


_local = _Local()


def _asked_workers() -> int:
    asked = os.environ.get("DISCRIMINANT_NUM_THREADS", "")
    return int(asked) if asked.isdigit() else 0


def most_workers() -> int:
    """``DISCRIMINANT_NUM_THREADS`` where it is set, else the cores: by affinity, or a container's quota."""
    asked = _asked_workers()
    if asked:
        return asked
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    return min(cores, _quota())


@cache
def _quota() -> int:
    """The cores of a container; read once, since every large pass asks."""
    with contextlib.suppress(OSError, ValueError), open("/sys/fs/cgroup/cpu.max") as file:
        quota, period = file.read().split()
        if quota != "max":
            return max(1, round(int(quota) / int(period)))
    return sys.maxsize


def workers() -> int:
    """How many threads a large reduction uses.

    ``DISCRIMINANT_NUM_THREADS`` decides where it is set; else the cores, or fewer where BLAS was limited from outside
    (``OMP_NUM_THREADS``, threadpoolctl, a joblib worker).
    """
    most = most_workers()
    if most == 1 or _local.worker:
        return 1
    if _holders or _asked_workers():  # a limit that we set ourselves is not the user's wish
        return most
    limits = [library.num_threads for library in _libraries().lib_controllers if library.user_api == "blas"]
    return max(1, min(most, max(limits, default=most)))


def _libraries() -> Any:
    """The thread pools of the loaded libraries; looked for again (3 ms) only when more modules have been loaded."""
    global _known
    if _known is None or _known[0] != len(sys.modules):
        from threadpoolctl import ThreadpoolController

        _known = (len(sys.modules), ThreadpoolController())
    return _known[1]


@contextlib.contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Hold BLAS to one thread.  Counted: of several fits at once, the last to leave restores the old limit."""
    global _holders, _limiter
    with _lock:
        if _holders == 0:
            _limiter = _libraries().limit(limits=1, user_api="blas")
        _holders += 1
    try:
        yield
    finally:
        with _lock:
            _holders -= 1
            if _holders == 0:
                _limiter.restore_original_limits()
                _limiter = None


def held_blas(columns: int, rows: int = 0) -> contextlib.AbstractContextManager[None]:
    """BLAS held to one thread for a fit of so many columns and rows in memory.

    A factorisation, or a product of tall rows, would start threads, which then spin.
    """
    dear = columns >= HELD_BLAS_COLUMNS or rows * columns**2 >= HELD_BLAS_WORK
    return single_threaded_blas() if dear and workers() > 1 else contextlib.nullcontext()


def ordered_map(function: Callable[[Item], Value], items: Iterable[Item], threads: int) -> Iterator[Value]:
    """``map(function, items)`` over threads, in order, with at most ``threads + 1`` results pending.

    A map inside a map is done by the thread that asks for it: it would wait for itself.
    """
    if threads <= 1 or _local.worker or (isinstance(items, list | range) and len(items) <= 1):
        yield from map(function, items)
        return
    with single_threaded_blas(), ThreadPoolExecutor(threads, "discriminant", _begin_worker) as pool:
        pending: deque[Future[Value]] = deque()
        try:
            for item in items:
                pending.append(pool.submit(function, item))
                if len(pending) > threads:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:  # left early: what has begun ends before BLAS's limit goes
            for future in pending:
                future.cancel()


def _begin_worker() -> None:
    _local.worker = True
    np.seterr(over="ignore", invalid="ignore", divide="ignore")  # this thread's own: found in the sums


def _after_fork() -> None:
    """In the child: no lock has a holder, whatever the parent was doing."""
    global _lock, _holders, _limiter
    _lock, _holders, _limiter = threading.Lock(), 0, None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@contextlib.contextmanager
def as_worker() -> Iterator[None]:
    """This thread is one of someone else's pool: it starts no threads, and holds BLAS to one."""
    before, _local.worker = _local.worker, True
    try:
        with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            yield
    finally:
        _local.worker = before


def scratch(name: str, shape: tuple[int, ...], dtype: Any = np.float64) -> Array:
    """An uninitialised array that this thread keeps under ``name`` and hands out again for the next block.

    Fresh pages cost as much as the arithmetic on them: a block's work space is touched once and reused.  Pool threads
    end with their reduction; a thread of the user's keeps at most one block's worth.
    """
    size = math.prod(shape)
    kept: dict[str, Array] = _local.__dict__.setdefault("scratch", {})
    buffer = kept.get(name)
    if buffer is None or buffer.size < size or buffer.dtype != np.dtype(dtype):
        buffer = kept[name] = np.empty(size, dtype)
    return buffer[:size].reshape(shape)


def drop_scratch() -> None:
    """Give this thread's work space back."""
    _local.__dict__.get("scratch", {}).clear()
