"""A ``Bench`` in a process of its own.

Each adapter has its process, since thread pools and patches of one peer must not reach another.  It lives for the whole
run, so that imports and first calls are paid once and the timed calls of all contenders can be interleaved.  The parent
speaks to it through pipes, one pickled tuple (command, arguments) at a time; it answers ("ok", value) or ("failed",
sentence).
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any, BinaryIO

from benchmarks.adapters import load
from benchmarks.bench import Bench
from benchmarks.contract import FAILURES
from benchmarks.data import MAIN_PYTHON
from benchmarks.environments import interpreter

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
ROOT = Path(__file__).resolve().parents[1]


class Worker:
    """A ``Bench`` in a process of its own, with the same methods through ``call``."""

    def __init__(self, file: str, threads: int, cores: int = 0) -> None:
        self.file, self.threads, self.cores = file, threads, cores or threads
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        cores = sorted(os.sched_getaffinity(0))[: self.cores]
        environment = os.environ | dict.fromkeys(THREAD_VARIABLES, str(self.threads))
        environment["PYTHONPATH"] = os.pathsep.join(p for p in (str(ROOT), os.environ.get("PYTHONPATH")) if p)
        environment["PYTHONWARNINGS"] = "ignore"  # collinear columns are meant, and peers stop early on purpose
        environment.setdefault(MAIN_PYTHON, sys.executable)
        return subprocess.Popen(
            [interpreter(load(self.file)), "-m", "benchmarks.worker", self.file, ",".join(map(str, cores))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            cwd=ROOT,
        )

    def call(self, command: str, *arguments: Any) -> Any:
        """The value of ``Bench.command(*arguments)`` over there; RuntimeError with its sentence when it failed.

        A peer that took its process down with it gets a new one, without a task, at the next call.
        """
        if self.process.poll() is not None:
            self.close()
            self.process = self._start()
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            pickle.dump((command, arguments), self.process.stdin)
            self.process.stdin.flush()
            status, value = pickle.load(self.process.stdout)
        except (EOFError, BrokenPipeError) as error:
            code = self.process.wait()
            raise RuntimeError(f"the process of {self.file} ended with code {code} during {command}") from error
        if status != "ok":
            raise RuntimeError(value)
        return value

    def close(self) -> None:
        """End the process by closing its input, and wait for it."""
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):  # the process is gone already
                    pipe.close()
        self.process.wait()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def serve(file: str, commands: BinaryIO, answers: BinaryIO) -> None:
    """Obey commands until the pipe closes."""
    bench = Bench(load(file))
    while True:
        try:
            command, arguments = pickle.load(commands)
        except EOFError:
            return
        try:
            reply = ("ok", getattr(bench, command)(*arguments))
        except FAILURES as error:
            reply = ("failed", f"{type(error).__name__}: {error}")
        pickle.dump(reply, answers)
        answers.flush()


def main() -> None:
    """Serve on the standard pipes; what the libraries print goes to standard error."""
    os.sched_setaffinity(0, {int(core) for core in sys.argv[2].split(",")})
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.argv[1], sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
