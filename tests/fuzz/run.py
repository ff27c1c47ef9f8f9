"""Fuzz the loaders: ``python tests/fuzz/run.py --count 10000``.  Prints what came of the files, as JSON.

A mutated model file must be refused with a sentence, whatever it is; a table or a libsvm file refused or read; nothing
may crash, hang, or take more than 100 MB.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import io
import json
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from fuzz.mutate import TOKENS, mutate, sign_again

HERE = Path(__file__).resolve().parent
FIXTURES = HERE.parent / "fixtures"
LIMIT = 5  # seconds of the processor for one file: others may use the machine too


class TooLong(BaseException):
    """A file took longer than its limit."""


def outcome(function: Callable[[], Any]) -> str:
    """ "read", "refused", or what should not be."""
    from discriminant.errors import DiscriminantError

    def stop(*_: Any) -> None:
        raise TooLong

    before = signal.signal(signal.SIGPROF, stop), signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    signal.alarm(60 * LIMIT)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            function()
    except DiscriminantError as error:
        return "refused" if len(str(error).split()) > 2 else f"no sentence: {error!r}"
    except TooLong:
        return "hang"
    except (Exception, RuntimeWarning) as error:
        return f"{type(error).__name__}: {str(error)[:100]}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        signal.signal(signal.SIGPROF, before[0])
        signal.signal(signal.SIGALRM, before[1])
    return "read"


def model_files(count: int, seconds: float, seed: int = 0, *, signed: bool = False) -> collections.Counter[str]:
    """Mutations of the kept model files, loaded."""
    from discriminant.io import load

    seeds = [path.read_bytes() for path in sorted(FIXTURES.glob("model-v*.discriminant"))]
    change = sign_again if signed else mutate
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mutant"

        def one(data: bytes, rng: np.random.Generator) -> str:
            path.write_bytes(change(data, rng))
            return outcome(lambda: load(path))

        return _many(one, seeds, count, seconds, seed)


def tables(count: int, seconds: float, seed: int = 0) -> collections.Counter[str]:
    """Mutations of small CSV and libsvm files, read as tables."""
    from discriminant.data.files import read_table

    seeds = [path.read_bytes() for path in sorted((HERE / "corpus").glob("*"))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mutant.csv"

        def one(data: bytes, rng: np.random.Generator) -> str:
            path.write_bytes(mutate(data, rng))
            return outcome(lambda: read_table(path))

        return _many(one, seeds, count, seconds, seed)


def commands(count: int, seconds: float, seed: int = 0) -> collections.Counter[str]:
    """Words in any order as arguments of the command."""
    from discriminant.cli import main

    known = "fit predict evaluate summary separable export --help --target species iris - --method lda logistic"
    words = [*known.split(), "--output", "--costs", "--priors", "", "=", "--", "-1", "1e400"]
    words += [token.decode("utf-8", "replace") for token in TOKENS]

    def one(_: bytes, rng: np.random.Generator) -> str:
        line = [words[int(i)] for i in rng.integers(0, len(words), int(rng.integers(0, 7)))]
        return outcome(lambda: _command(main, line))

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return _many(one, [b""], count, seconds, seed)


def _command(main: Callable[..., int], line: list[str]) -> None:
    from discriminant.errors import DataError

    words = io.StringIO()
    stdin = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(b""))
    try:
        with contextlib.redirect_stdout(words), contextlib.redirect_stderr(words):
            status = main(line)
    except SystemExit as end:
        status = int(end.code or 0)
    finally:
        sys.stdin = stdin
    if status == 2:
        raise DataError(f"The command refused, in {len(words.getvalue().split())} words.")
    if status not in (0, 1):
        raise RuntimeError(f"status {status} of {line}: {words.getvalue()[-200:]}")


def _many(
    one: Callable[[bytes, np.random.Generator], str], seeds: list[bytes], count: int, seconds: float, seed: int
) -> collections.Counter[str]:
    found: collections.Counter[str] = collections.Counter()
    end = time.monotonic() + seconds
    for i in range(count):
        if time.monotonic() > end:
            break
        found[one(seeds[i % len(seeds)], np.random.default_rng([seed, i]))] += 1
    return found


KINDS: dict[str, Callable[..., collections.Counter[str]]] = {
    "model files": model_files,
    "model files signed again": lambda count, seconds, seed: model_files(count, seconds, seed, signed=True),
    "tables": tables,
    "command lines": commands,
}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--count", type=int, default=10_000)
    options.add_argument("--seconds", type=float, default=600.0, help="time limit of each kind")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--kinds", nargs="*", default=list(KINDS))
    given = options.parse_args()
    report: dict[str, Any] = {}
    for kind in given.kinds:
        KINDS[kind](20, 60.0, given.seed + 1)  # what is loaded once is no part of the growth
        before, start = _memory(), time.monotonic()
        found = KINDS[kind](given.count, given.seconds, given.seed)
        report[kind] = {
            "outcomes": dict(found.most_common()),
            "seconds": round(time.monotonic() - start, 1),
            "grown_MB": round(_memory() - before, 1),
        }
    print(json.dumps(report, indent=2))


def _memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
