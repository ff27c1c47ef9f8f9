"""Who watches a fit: hears of each step of an optimizer, and can end the run.

Nobody does unless an estimator has callbacks (``estimators.callbacks``); a step then costs a look at a variable.  A
watcher belongs to the thread that fits (a context variable): what other threads do is reported when they are done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, Protocol

Read = Callable[[Any], Any]


class Watcher(Protocol):
    """What hears of the steps of one task."""

    def step(self, made: Callable[[], Any] | None) -> bool:
        """A step is done; ``made`` gives the estimator's attributes as they are after it.  Whether to stop here."""
        ...

    def task(self, name: str, most: int | None) -> Watcher:
        """The watcher of a task within this one, of at most so many steps."""
        ...

    def end(self) -> None:
        """The task is done."""


class _Watch(NamedTuple):
    by: Watcher
    read: Read | None  # the optimizer's weights ↦ the estimator's attributes; None: they do not make any yet


_watch: ContextVar[_Watch | None] = ContextVar("watch", default=None)


def watching() -> bool:
    """Whether steps are reported to somebody."""
    return _watch.get() is not None


def stepped(weights: Any = None, count: int = 1) -> bool:
    """Tell of steps that led to these weights, or to those that a function makes; whether the run shall end here."""
    watch = _watch.get()
    if watch is None:
        return False
    read, stop = watch.read, False

    def made() -> Any:
        assert read is not None
        return read(weights() if callable(weights) else weights)

    for _ in range(count):
        stop = watch.by.step(None if weights is None or read is None else made) or stop
    return stop


@contextmanager
def _within(watch: _Watch | None) -> Iterator[None]:
    before = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(before)


@contextmanager
def watched(by: Watcher | None) -> Iterator[None]:
    """Within, steps are reported to this watcher; None: to nobody.  Weights that nobody reads make no attributes."""
    with _within(None if by is None else _Watch(by, lambda made: made if isinstance(made, dict) else None)):
        yield


@contextmanager
def reading(read: Read | None) -> Iterator[None]:
    """Within, weights are reported as what ``read`` makes of them for those outside; None: as nothing."""
    watch = _watch.get()
    if watch is None:
        yield
        return
    outer = watch.read
    with _within(watch._replace(read=None if read is None or outer is None else lambda A: outer(read(A)))):
        yield


@contextmanager
def task(name: str, most: int | None = None) -> Iterator[None]:
    """Within, steps are those of a task of their own."""
    watch = _watch.get()
    if watch is None:
        yield
        return
    by = watch.by.task(name, most)
    with _within(watch._replace(by=by)):
        yield
    by.end()
