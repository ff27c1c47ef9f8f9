"""The machine that was measured, and how much of it others used meanwhile."""

from __future__ import annotations

import os
import platform
import re
import time
from dataclasses import dataclass
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def describe(threads: int) -> dict[str, object]:
    """What a reader needs to place the figures."""
    cpuinfo = Path("/proc/cpuinfo").read_text()
    model = re.search(r"model name\s*:\s*(.*)", cpuinfo)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": model.group(1).strip() if model else platform.machine(),
        "cores": os.cpu_count(),
        "threads": threads,
        "memory_GiB": round(memory),
        "python": platform.python_version(),
        "date": time.strftime("%Y-%m-%d"),
    }


def busy_seconds() -> float:
    """Processor seconds that all processes of the machine have used since it started (stolen time included)."""
    user, nice, system, _, _, irq, softirq, steal = map(int, Path("/proc/stat").read_text().split("\n")[0].split()[1:9])
    return (user + nice + system + irq + softirq + steal) / TICKS


def own_seconds(pid: int) -> float:
    """Processor seconds that one process has used, in the same ticks."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:15])) / TICKS  # with the children that it has waited for


@dataclass
class Neighbours:
    """The share of the machine that processes other than the measured one took while it was measured."""

    foreign: float = 0.0
    available: float = 1e-9

    def settle(self, quiet: float, patience: float) -> None:
        """Wait until thread pools of the last contender sleep and, at most ``patience`` seconds, until others rest.

        The same for every contender, before each measurement.
        """
        end = time.monotonic() + patience
        while True:
            before = busy_seconds()
            time.sleep(quiet)
            if busy_seconds() - before <= 0.3 * quiet or time.monotonic() >= end:
                return

    def add(self, foreign: float, wall: float) -> None:
        """Count one measurement: the processor seconds that others used meanwhile, and the wall seconds it took.

        They are counted in ticks of a hundredth; in a short measurement a tick too few is as likely as one too many, so
        both are added up.
        """
        self.foreign += foreign
        self.available += wall * (os.cpu_count() or 1)

    @property
    def share(self) -> float:
        return min(1.0, max(0.0, self.foreign / self.available))
