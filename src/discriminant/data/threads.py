"""A small thread pool over row chunks, with BLAS held to one thread inside it.

NumPy and BLAS release the interpreter lock, so plain threads give the cores their work.  Measured against BLAS's own
threads on blocks that fit the cache they are faster (0.39 against 0.6 s for a Gram matrix) and do not collapse when
the machine is shared.  Results come back in the order of the items whatever the number of threads, so that sums have
the same bits on every machine of the same kind.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

import numpy as np

from discriminant.protocols import Array

Item = TypeVar("Item")
Value = TypeVar("Value")

PYTHON_MODULES = (".cpython-", ".abi3.", ".pyd")  # in the names of compiled modules

_lock = threading.Lock()
_holders = 0
_limiter: Any = None
_known: tuple[int, Any] | None = None
_local = threading.local()
_pools_kept: dict[int, ThreadPoolExecutor] = {}  # by the number of their threads
_work_spaces: list[dict[str, Array]] = []  # of the threads of these pools
_borrowers = 0  # maps under way


def available_cores() -> int:
    """Cores that this process may use: its affinity, and its container's quota where there is one."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    with contextlib.suppress(OSError, ValueError), open("/sys/fs/cgroup/cpu.max") as file:
        quota, period = file.read().split()
        if quota != "max":
            cores = min(cores, max(1, round(int(quota) / int(period))))
    return cores


def asked_workers() -> int:
    """The number of threads that the user asks for by ``DISCRIMINANT_NUM_THREADS``; 0 where it is not set."""
    asked = os.environ.get("DISCRIMINANT_NUM_THREADS", "")
    return int(asked) if asked.isdigit() else 0


def most_workers() -> int:
    """No fewer than ``workers``; known without a look at the loaded libraries, which takes some milliseconds."""
    return asked_workers() or available_cores()


def workers() -> int:
    """How many threads a large reduction uses.

    ``DISCRIMINANT_NUM_THREADS`` decides where it is set; else the cores, or fewer where BLAS was limited from outside
    (``OMP_NUM_THREADS``, threadpoolctl, a joblib worker).
    """
    asked = asked_workers()
    if asked:
        return asked
    cores = available_cores()
    if cores == 1 or getattr(_local, "inside", False):
        return 1
    if _holders or os.environ.get("DISCRIMINANT_HOLDS_BLAS"):  # pinned by us: its limit is not the user's wish
        return cores
    limits = [library.num_threads for library in _pools().lib_controllers if library.user_api == "blas"]
    return max(1, min(cores, max(limits, default=cores)))


def _pools() -> Any:
    """The thread pools of the loaded libraries; looked for again (2 ms) only when more modules have been loaded."""
    global _known
    loaded = len(sys.modules)
    if _known is None or _known[0] != loaded:
        _known = (loaded, _controller()())
    return _known[1]


@functools.cache
def _controller() -> Any:
    """threadpoolctl's controller, but for Python's own modules, which it would take 10 ms to follow the paths of.

    None of them is a BLAS, whatever links lead to it.  Where threadpoolctl asks in another way, they are looked at too.
    """
    from threadpoolctl import ThreadpoolController

    class Libraries(ThreadpoolController):  # type: ignore[misc]
        def _make_controller_from_path(self, filepath: str, *more: Any) -> Any:
            if any(mark in os.path.basename(filepath) for mark in PYTHON_MODULES):
                return None
            return super()._make_controller_from_path(filepath, *more)

    return Libraries


@contextlib.contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Hold BLAS to one thread.  Counted: of several fits at once, the last to leave restores the old limit."""
    global _holders, _limiter
    if os.environ.get("DISCRIMINANT_HOLDS_BLAS"):  # the command line has started it with one
        yield
        return
    with _lock:
        if _holders == 0:
            _limiter = _pools().limit(limits=1, user_api="blas")
        _holders += 1
    try:
        yield
    finally:
        with _lock:
            _holders -= 1
            if _holders == 0:
                _limiter.restore_original_limits()
                _limiter = None


def release_blas() -> None:
    """Give BLAS the cores that the command line withheld (``DISCRIMINANT_HOLDS_BLAS``): it inverts wide matrices."""
    if os.environ.pop("DISCRIMINANT_HOLDS_BLAS", ""):
        _pools().limit(limits=available_cores(), user_api="blas")


def ordered_map(function: Callable[[Item], Value], items: Sequence[Item], threads: int) -> Iterator[Value]:
    """``map(function, items)`` over threads, in order, with at most ``threads + 1`` results waiting."""
    if threads <= 1 or len(items) <= 1:
        yield from map(function, items)
        return
    with single_threaded_blas(), _lent_pool(threads) as pool:
        waiting: deque[Future[Value]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:  # left early: what has begun ends before its arrays and BLAS's limit go
            wait([future for future in waiting if not future.cancel()])


@contextlib.contextmanager
def _lent_pool(threads: int) -> Iterator[ThreadPoolExecutor]:
    """So many threads: kept from one reduction to the next, since starting them costs as much as a small one.

    A map inside a map gets threads of its own: it would wait for the very thread that it runs in.
    """
    global _borrowers
    if getattr(_local, "inside", False):
        with ThreadPoolExecutor(threads, initializer=_enter) as own:
            yield own
        return
    with _lock:
        pool = _pools_kept.get(threads)
        if pool is None:
            pool = _pools_kept[threads] = ThreadPoolExecutor(threads, "discriminant", _enter, (_work_spaces,))
        _borrowers += 1
    try:
        yield pool
    finally:
        with _lock:
            _borrowers -= 1
            if not _borrowers:
                for space in _work_spaces:
                    space.clear()


def _before_fork() -> None:
    """End the kept threads, if none is at work: a fork takes only its own thread along."""
    with _lock:
        idle = [] if _borrowers else list(_pools_kept.values())
        if idle:
            _forget()
    for pool in idle:
        pool.shutdown()


def _after_fork() -> None:
    """In the child: no pool has threads and no lock a holder, whatever the parent was doing."""
    global _lock, _holders, _limiter, _borrowers
    _lock, _holders, _limiter, _borrowers = threading.Lock(), 0, None, 0
    _forget()


def _forget() -> None:
    _pools_kept.clear()
    _work_spaces.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_after_fork)


def _enter(work_spaces: list[dict[str, Array]] | None = None) -> None:
    """Make this thread one of a pool; ``work_spaces``: where a thread that lives on shows what it holds."""
    _local.inside = True
    if work_spaces is not None:
        _local.scratch = {}
        work_spaces.append(_local.scratch)
    np.seterr(
        over="ignore", invalid="ignore", divide="ignore"
    )  # this thread's own: what overflows is found in the sums


def scratch(name: str, shape: tuple[int, ...], dtype: Any = np.float64) -> Array:
    """An uninitialised array that this thread keeps under ``name`` and hands out again for the next block.

    Fresh pages cost as much as the arithmetic on them: a block's work space is touched once and reused.  Pool threads
    lose theirs when no reduction is under way; a thread of the user's keeps at most one block's worth.
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
