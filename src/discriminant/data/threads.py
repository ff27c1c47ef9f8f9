"""Row chunks over a few threads, with BLAS held to one thread inside them.

NumPy and BLAS release the interpreter lock, so plain threads give the cores their work.  Measured against BLAS's own
threads on blocks that fit the cache they are faster (0.39 against 0.6 s for a Gram matrix) and do not collapse when
the machine is shared.  Results come back in the order of the items whatever the number of threads, so that sums have
the same bits on every machine of the same kind.
"""

from __future__ import annotations

import _thread
import contextlib
import math
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

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
    worker = False  # does items of a map, and starts no threads of its own


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
    return held_product(np.inf if columns >= HELD_BLAS_COLUMNS else rows * columns**2)


def held_product(work: float) -> contextlib.AbstractContextManager[None]:
    """BLAS held to one thread for a product of so many multiplications, where it would start others."""
    return single_threaded_blas() if work >= HELD_BLAS_WORK and workers() > 1 else contextlib.nullcontext()


class _Task(Generic[Value]):
    """One item of a map: whoever comes first does it."""

    def __init__(self, function: Callable[[Item], Value], item: Item) -> None:
        self._work, self._begun, self._ended = partial(function, item), threading.Lock(), threading.Event()
        self._value: Value
        self._error: BaseException | None = None

    @property
    def ended(self) -> bool:
        return self._ended.is_set()

    def begin(self) -> bool:
        """Whether it is the caller's to do, or to leave undone."""
        return self._begun.acquire(blocking=False)

    def run(self) -> None:
        """Do it, unless somebody has begun it."""
        if not self.begin():
            return
        try:
            self._value = self._work()
        except BaseException as error:
            self._error = error
        finally:
            self._ended.set()

    def wait(self) -> None:
        self._ended.wait()

    def result(self) -> Value:
        self.wait()
        if self._error is not None:
            raise self._error
        return self._value


def ordered_map(function: Callable[[Item], Value], items: Iterable[Item], threads: int) -> Iterator[Value]:
    """``map(function, items)`` over threads, in order, with at most ``threads + 1`` results pending.

    The caller's thread is one of them and waits for nothing but what another has begun: where the cores are taken,
    others begin late or never, and the map takes as long as by one.  A map inside a map is done by the thread that
    asks for it.
    """
    try:
        if isinstance(items, list | range):
            threads = min(threads, len(items))
        if threads <= 1 or _local.worker:
            yield from map(function, items)
        else:
            yield from _shared_map(function, items, threads)
    finally:
        drop_scratch()


def _shared_map(function: Callable[[Item], Value], items: Iterable[Item], threads: int) -> Iterator[Value]:
    waiting: SimpleQueue[_Task[Value] | None] = SimpleQueue()
    pending: deque[_Task[Value]] = deque()
    with single_threaded_blas():
        for _ in range(threads - 1):
            _thread.start_new_thread(_work, (waiting,))  # ``Thread.start`` would wait for a core that is free
        try:
            for item in items:
                pending.append(_Task(function, item))
                waiting.put(pending[-1])
                if len(pending) > threads:
                    yield _first(pending)
            while pending:
                yield _first(pending)
        finally:
            for _ in range(threads - 1):
                waiting.put(None)
            for task in pending:  # left early: what has begun ends before BLAS's limit goes
                if not task.begin():
                    task.wait()


def _first(pending: deque[_Task[Value]]) -> Value:
    """The result of the first task; until it has ended, this thread does those that nobody has begun."""
    with _as_one_of_several():
        for task in pending:
            if pending[0].ended:
                break
            task.run()
    return pending.popleft().result()


def _work(waiting: SimpleQueue[_Task[Any] | None]) -> None:
    """Another thread's part of a map."""
    with _as_one_of_several():
        while (task := waiting.get()) is not None:
            task.run()


@contextlib.contextmanager
def _as_one_of_several() -> Iterator[None]:
    """This thread starts no others, and leaves overflow to be found in the sums."""
    before, _local.worker = _local.worker, True
    try:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            yield
    finally:
        _local.worker = before


def _after_fork() -> None:
    """In the child: no lock has a holder, whatever the parent was doing."""
    global _lock, _holders, _limiter
    _lock, _holders, _limiter = threading.Lock(), 0, None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@contextlib.contextmanager
def as_worker() -> Iterator[None]:
    """This thread is one of someone else's pool: it starts no threads, and holds BLAS to one."""
    with single_threaded_blas(), _as_one_of_several():
        yield


def scratch(name: str, shape: tuple[int, ...], dtype: Any = np.float64) -> Array:
    """An uninitialised array that this thread keeps under ``name`` and hands out again for the next block.

    Fresh pages cost as much as the arithmetic on them: a block's work space is touched once and reused.  Other
    threads end with their reduction; one of the user's keeps at most a block's worth.
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
