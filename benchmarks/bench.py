"""One adapter on one task at a time: it makes the data, prepares, times, answers, and tells its memory."""

from __future__ import annotations

import contextlib
import gc
import re
import resource
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.adapters import version
from benchmarks.contract import Adapter, Answer, Data, Prepared
from benchmarks.data import digest
from benchmarks.task import Task

SHORTEST = 0.005  # seconds: quicker calls are repeated inside one measurement
MOST_CALLS = 1_000


@dataclass(frozen=True)
class Sample:
    """One measurement."""

    wall: float  # seconds per call
    cpu: float  # processor seconds that this process spent in all calls of the measurement
    processor: float = float("nan")  # processor seconds per call


def processor_seconds() -> float:
    """User and system time of this process and of the children that it waited for."""
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in usage)


def resident(field_name: str) -> int:
    """Bytes of this process in memory now ("VmRSS") or at most since the peak was last reset ("VmHWM")."""
    found = re.search(rf"{field_name}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    if found is None:
        raise OSError(f"the kernel does not tell {field_name} in /proc/self/status")
    return 1024 * int(found.group(1))


@dataclass
class Bench:
    """One adapter on one task at a time.  Also usable without a process of its own, as the tests do."""

    adapter: Adapter
    task: Task | None = None
    rows: Data | None = None
    prepared: dict[str, Prepared] = field(default_factory=dict)
    results: dict[str, Any] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)

    def load(self, task: Task) -> int:
        """Make the task's data; their checksum."""
        self.prepared, self.results, self.calls, self.rows = {}, {}, {}, None
        gc.collect()
        self.task, self.rows = task, task.data()
        return digest(self.rows)

    def build(self, method: str, rows: Data | None = None) -> Prepared:
        """The contender, ready to be timed."""
        if self.task is None or self.rows is None:
            raise RuntimeError("no task is loaded: call load first")
        return self.adapter.METHODS[self.task.problem][method](rows or self.rows)

    def warm(self, method: str) -> Sample:
        """Prepare and call once: the first call, with whatever it imports or compiles; and settle calls per sample."""
        self.prepared[method] = self.build(method)
        self.calls[method] = 1
        first = self.sample(method)
        if first.wall / self.prepared[method].scale < 20 * SHORTEST:
            again = self.sample(method).wall / self.prepared[method].scale  # what the call takes, not what counts
            self.calls[method] = min(MOST_CALLS, max(1, round(SHORTEST / max(again, 1e-9))))
        return first

    def sample(self, method: str, threads: int | None = None) -> Sample:
        """One measurement of a warmed contender; with ``threads``, under that limit of all its thread pools."""
        from threadpoolctl import threadpool_limits

        prepared, calls = self.prepared[method], self.calls[method]
        self.results.pop(method, None)
        with contextlib.nullcontext() if threads is None else threadpool_limits(threads):
            gc.collect()
            gc.disable()
            cpu, start = processor_seconds(), time.perf_counter()
            for _ in range(calls):
                result = prepared.call()
            wall, cpu = time.perf_counter() - start, processor_seconds() - cpu
            gc.enable()
        self.results[method] = result
        return Sample(wall / calls * prepared.scale, cpu, cpu / calls * prepared.scale)

    def first(self, method: str) -> float:
        """Seconds of preparing and of the first call, with all that is imported for them; meant for a fresh process."""
        start = time.perf_counter()
        self.build(method).call()
        return time.perf_counter() - start

    def answer(self, method: str) -> Answer:
        """What the last timed call found; it is forgotten afterwards."""
        return self.prepared[method].answer(self.results.pop(method))

    def peak(self, method: str) -> int:
        """Bytes that one call takes at its peak beyond what was there before; meant for a fresh process.

        A call on the first rows comes before, so that libraries and thread pools are loaded and not counted.
        """
        if self.rows is None:
            raise RuntimeError("no task is loaded: call load first")
        few = self.rows.head(min(self.rows.X.shape[0] // 2 + 1, 20 * self.rows.n_classes * self.rows.X.shape[1]))
        self.build(method, few).call()
        prepared = self.build(method)
        gc.collect()
        Path("/proc/self/clear_refs").write_text("5")  # resets the peak to what is resident now
        before = resident("VmRSS")
        result = prepared.call()
        after = resident("VmHWM")
        del result
        return max(0, after - before)

    def version(self) -> str | None:
        """The version of the adapter's package; None when it is not installed."""
        return version(self.adapter)

    def threads(self) -> list[dict[str, Any]]:
        """The thread pools that the loaded libraries hold, with their sizes."""
        from threadpoolctl import threadpool_info

        keys = ("user_api", "internal_api", "num_threads", "version")
        return [{key: pool[key] for key in keys} for pool in threadpool_info()]
