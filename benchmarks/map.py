"""The map of speed: ``python -m benchmarks.map --minutes 8``; the most telling places first.

At each place ours runs at the ``tol`` that a user would give for each gap, and at its default; each peer at the
cheapest setting that truly comes within the gap, with its thread pools as they come and at one thread, of which the
better counts.  Runs take turns, and are repeated until the interval of the ratio (peer's time over ours) is clear of
one or within a tenth of it, or the place's time is over.  Results go into ``map.json``, place by place.

    --prepare     only make rows, optima and the settings of the peers, which need no idle machine
    --processor   processor seconds of one thread in place of the clock: for a machine that others use; coarse
    --fresh       instead: the first fit in a fresh process and peak memory, ours and the fastest peer's
    --only TEXT   only places with this in their name;   --quick  small sizes, to see that it runs;   --draw  only draw
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.adapters import FILES, load
from benchmarks.agree import compare
from benchmarks.contract import BY_HAND, LIMIT, OURS, PEER, Answer
from benchmarks.effort import LABELS
from benchmarks.machine import Neighbours, busy_seconds, describe, own_seconds
from benchmarks.places import PLACES
from benchmarks.task import Task
from benchmarks.worker import Worker

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "map.json"
EXACT = "exact"  # the level of places whose answers are compared
ONE = 1  # thread
LEAST_ROUNDS, MOST_ROUNDS = 5, 60
CLOSE = 0.1  # an interval within a tenth of one decides that there is no difference to speak of
BEHIND = 1.6  # times the fastest peer: slower ones are not measured again
REST = 0.03  # seconds before each measurement: thread pools that spin go to sleep
PATIENCE = float(os.environ.get("BENCHMARK_PATIENCE", "60"))  # seconds a single command of a worker may take
UNLIKELY = ("sag ", "saga ")  # of ridge fits: never the fastest, and long to try
PROCESSES = "two processes"  # whose time no processor clock of ours sees
EASIER = ("intercept penalised", "no intercept")


def say(text: str) -> None:
    """Progress, on standard error."""
    print(text, file=sys.stderr, flush=True)


@dataclass
class Runner:
    """One contender at one setting and number of threads, and its times, one a round."""

    file: str
    method: str
    label: str
    role: str
    level: str
    threads: int | None = None
    seconds: list[float] = field(default_factory=list)
    easier: bool = False

    @property
    def median(self) -> float:
        return median(self.seconds) if self.seconds else float("inf")

    def facts(self) -> dict[str, Any]:
        """For the file of results."""
        return {"by": self.label, "threads": self.threads, "seconds": self.median}


def interval(ratios: Sequence[float]) -> tuple[float, float]:
    """Order statistics that hold the median ratio with a probability of 90 % or more (the sign test's).

    >>> interval([1.0, 3.0, 2.0, 5.0, 4.0])
    (1.0, 5.0)
    >>> interval(list(range(1, 12)))
    (3, 9)
    """
    from math import comb

    m, k, tail = len(ratios), 0, 0.0
    while k < m // 2 and tail + comb(m, k) / 2**m <= 0.05:
        tail += comb(m, k) / 2**m
        k += 1
    ordered = sorted(ratios)
    return ordered[max(0, k - 1)], ordered[m - max(1, k)]


def decided(ratios: Sequence[float]) -> bool:
    """Whether the interval of the ratio is clear of one, or within a tenth of it."""
    if len(ratios) < LEAST_ROUNDS:
        return False
    low, high = interval(ratios)
    return low > 1.0 or high < 1.0 or (low >= 1.0 - CLOSE and high <= 1.0 + CLOSE)


@dataclass
class Place:
    """A place while it is measured."""

    task: Task
    workers: Mapping[str, Worker]
    runners: list[Runner] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)  # contender → why it does not count
    neighbours: Neighbours = field(default_factory=Neighbours)
    processor: bool = False

    def call(self, file: str, command: str, *arguments: Any) -> Any:
        """A command of a worker, which is ended when it takes too long and begins anew with the place's data."""
        worker = self.workers[file]
        fresh = worker.process.poll() is not None
        if fresh and command != "load":
            worker.call("load", self.task)
        alarm = threading.Timer(PATIENCE, worker.process.kill)
        alarm.start()
        try:
            return worker.call(command, *arguments)
        finally:
            alarm.cancel()

    def methods(self, file: str) -> Iterator[tuple[str, str]]:
        """(method, level) of the adapter at this place; what ours would find by looking at the answer is left out."""
        adapter, levels = load(file), [LABELS[gap] for gap in self.task.levels] or [EXACT]
        for method in adapter.METHODS.get(self.task.problem, {}):
            level = method.rpartition(" @ ")[2] if " @ " in method else EXACT
            if method.startswith("auto @") or (self.task.word in ("ridge", "none") and method.startswith(UNLIKELY)):
                continue
            if self.processor and PROCESSES in method:
                continue
            if level in levels or (adapter.ROLE == OURS and method == "default"):
                yield method, level

    def prepare(self) -> None:
        """Every contender's first calls; those that do not solve the problem get a note."""
        answers: dict[str, Answer] = {}
        for file in self.workers:
            adapter = load(file)
            wanted = list(self.methods(file))
            if not wanted or self.workers[file].call("version") is None:
                continue
            self.call(file, "load", self.task)
            for method, level in wanted:
                label = f"{adapter.NAME} {method}"
                try:
                    self.call(file, "warm", method)
                    answers[label] = self.call(file, "answer", method)
                except RuntimeError as error:
                    self.notes[label] = str(error)[:200]
                    continue
                easier = any(words in method for words in EASIER)
                for threads in (ONE,) if self.processor else (None, ONE):
                    self.runners.append(Runner(file, method, label, adapter.ROLE, level, threads, easier=easier))
        self.judge(answers)

    def judge(self, answers: Mapping[str, Answer]) -> None:
        """Leave out who did not come within the gap, or gave another answer."""
        if self.task.levels:
            gaps = {label: gap for gap, label in LABELS.items()}
            for label, answer in answers.items():
                wanted = gaps.get(label.rpartition(" @ ")[2], min(self.task.levels))
                reached = float(answer["objective"]) - 1.0
                if not reached <= wanted:
                    self.notes[label] = f"within {reached:.1e} only"
        else:
            judge = " ".join(self.task.what.judge)
            reference = answers.get(judge) or next(iter(answers.values()), {})
            for label, answer in answers.items():
                verdict = compare(answer, reference, self.task.tolerance)
                if not verdict.same:
                    self.notes[label] = verdict.sentence
        self.runners = [runner for runner in self.runners if runner.label not in self.notes]

    def sample(self, runner: Runner) -> None:
        """One measurement, and what others took of the machine meanwhile."""
        time.sleep(REST)
        process = self.workers[runner.file].process
        try:  # a peer's process may have died
            own, busy, start = own_seconds(process.pid), busy_seconds(), time.monotonic()
            sample = self.call(runner.file, "sample", runner.method, runner.threads)
            runner.seconds.append(sample.processor if self.processor else sample.wall)
            wall = time.monotonic() - start
            self.neighbours.add(busy_seconds() - busy - (own_seconds(process.pid) - own), wall)
        except (RuntimeError, OSError) as error:
            self.notes[runner.label] = str(error)[:200]
            self.runners = [other for other in self.runners if other.label != runner.label]

    def best(self, level: str, easier: bool) -> Runner | None:
        """The fastest peer at this level that solves the same problem, or an easier one."""
        peers = [r for r in self.runners if (r.role, r.level, r.easier) == (PEER, level, easier) and r.seconds]
        return min(peers, key=lambda r: r.median, default=None)

    def ours(self, level: str, threads: int | None = None) -> Runner | None:
        """Ours as a user would run it."""
        threads = ONE if self.processor else threads
        mine = [r for r in self.runners if r.role == OURS and r.threads == threads and r.seconds]
        return next((r for r in mine if r.level == level), None)

    def ratios(self, level: str, easier: bool = False) -> list[float]:
        """The fastest peer's time over ours, round by round."""
        ours, peer = self.ours(level), self.best(level, easier)
        if ours is None or peer is None:
            return []
        return [theirs / mine for theirs, mine in zip(peer.seconds, ours.seconds, strict=False)]

    @property
    def levels(self) -> list[str]:
        return [LABELS[gap] for gap in self.task.levels] or [EXACT]

    def settled(self) -> bool:
        """Whether every ratio at every level is decided."""
        found = [self.ratios(level, easier) for level in self.levels for easier in (False, True)]
        return all(decided(ratios) for ratios in found if ratios)

    def race(self, seconds: float) -> None:
        """Rounds in an order drawn anew; after the first, peers that are far behind rest."""
        order, start, number = random.Random(0), time.monotonic(), 0
        while number < MOST_ROUNDS and (number < 2 or time.monotonic() - start < seconds):
            order.shuffle(self.runners)
            for runner in list(self.runners):
                if runner in self.runners:
                    self.sample(runner)
            if number == 0:
                self.thin_out()
            number += 1
            if number >= LEAST_ROUNDS and self.settled():
                break

    def thin_out(self) -> None:
        """Keep ours, and the peers near the fastest of their level and kind."""
        best = {(level, easier): self.best(level, easier) for level in self.levels for easier in (False, True)}
        for runner in list(self.runners):
            leader = best.get((runner.level, runner.easier))
            if runner.role == PEER and leader is not None and runner.median > BEHIND * leader.median:
                name = runner.label + (", one thread" if runner.threads else "")
                self.notes[name] = f"{runner.median:.3g} s"
                self.runners.remove(runner)

    def compared(self, level: str, easier: bool) -> dict[str, Any] | None:
        """The fastest peer, its ratio to ours and the interval of that."""
        peer, ratios = self.best(level, easier), self.ratios(level, easier)
        if peer is None or not ratios:
            return None
        low, high = interval(ratios)
        return peer.facts() | {"ratio": median(ratios), "low": low, "high": high, "rounds": len(ratios)}

    def result(self) -> dict[str, Any]:
        """What the file of results keeps."""
        levels = {}
        for level in self.levels:
            ours, one = self.ours(level), self.ours(level, ONE)
            levels[level] = {
                "ours": None if ours is None else ours.median,
                "one_thread": None if one is None else one.median,
                "peer": self.compared(level, False),
                "easier": self.compared(level, True),
            }
        threads = ONE if self.processor else None
        mine = [r for r in self.runners if r.role == OURS and r.threads == threads and r.seconds]
        default = next((r for r in mine if r.method == "default"), None)
        task = self.task
        return {
            "problem": task.word, "columns": task.columns, "n": task.n, "d": task.d, "K": task.n_classes,
            "values": task.row_values, "C": task.C if float("inf") > task.C else None,
            "levels": levels, "default": None if default is None else default.median,
            "clock": "processor" if self.processor else "wall", "date": time.strftime("%Y-%m-%d"),
            "foreign": round(self.neighbours.share, 3), "notes": self.notes,
        }  # fmt: skip


def sentence(name: str, result: Mapping[str, Any]) -> str:
    """One line of progress."""
    words = [name]
    for level, found in result["levels"].items():
        peer, easier = found["peer"], found["easier"]
        text = f"{level}: ours " + ("–" if found["ours"] is None else f"{1e3 * found['ours']:.3g} ms")
        if peer:
            text += f", ×{peer['ratio']:.2f} ({peer['low']:.2f}–{peer['high']:.2f}, {peer['rounds']}) {peer['by']}"
        if easier:
            text += f", easier ×{easier['ratio']:.2f} {easier['by']}"
        words.append(text)
    return " | ".join(words) + f" | others {100 * result['foreign']:.0f} %"


def keep(path: Path, name: str, **parts: Any) -> None:
    """Renew a place in the file of results."""
    known = json.loads(path.read_text()) if path.exists() else {"places": {}}
    known["machine"] = describe(len(os.sched_getaffinity(0)))
    known["places"][name] = known["places"].get(name, {}) | parts
    order = {place: i for i, place in enumerate(PLACES)}
    known["places"] = dict(sorted(known["places"].items(), key=lambda item: order.get(item[0], len(order))))
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")
    unfinished.rename(path)


def fresh(task: Task, result: Mapping[str, Any], threads: int) -> dict[str, Any]:
    """First fit in a fresh process and the peak of its memory: ours, and the fastest peer's, at the narrowest level."""
    found = result["levels"][list(result["levels"])[-1]]
    wanted = {"ours": f"{load('discriminant_').NAME} {_narrowest(task)}"}
    if found["peer"]:
        wanted["peer"] = found["peer"]["by"]
    columns = {}
    for who, label in wanted.items():
        file = next(f for f in FILES if label.startswith(load(f).NAME + " ") and _method(f, label) in _all(f, task))
        with Worker(file, threads) as worker:
            worker.call("load", task)
            seconds = worker.call("first", _method(file, label))
            columns[who] = {"by": label, "first": seconds, "peak": worker.call("peak", _method(file, label))}
    return columns


def _narrowest(task: Task) -> str:
    methods = _all("discriminant_", task)
    return next((m for m in methods if m.startswith("proved @ 1e-6")), next(iter(methods)))


def _method(file: str, label: str) -> str:
    return label.removeprefix(load(file).NAME + " ")


def _all(file: str, task: Task) -> Mapping[str, Any]:
    return load(file).METHODS.get(task.problem, {})


def parser() -> argparse.ArgumentParser:
    """The options."""
    parse = argparse.ArgumentParser(prog="python -m benchmarks.map", description=__doc__)
    parse.add_argument("--only", action="append", help="only places with this in their name; may be given again")
    parse.add_argument("--adapter", action="append", choices=FILES, help="only these contenders; default: all")
    parse.add_argument("--minutes", type=float, default=float("inf"), help="begin no place after so long")
    parse.add_argument("--seconds", type=float, default=12.0, help="for the rounds of one place")
    parse.add_argument("--results", type=Path, default=RESULTS)
    for flag in ("prepare", "processor", "fresh", "quick", "draw"):
        parse.add_argument(f"--{flag}", action="store_true")
    return parse


def chosen(arguments: argparse.Namespace) -> list[Task]:
    """The places of this run, the most telling first; of a quick one, the first of each problem."""
    tasks = [t for t in PLACES.values() if not arguments.only or any(part in t.name for part in arguments.only)]
    if arguments.quick:
        first = {task.word: task for task in reversed(tasks)}
        tasks = [task.quick() for task in first.values()]
    return tasks


def measure_all(arguments: argparse.Namespace) -> None:
    """Every chosen place in turn."""
    cores = len(os.sched_getaffinity(0))
    end = time.monotonic() + 60 * arguments.minutes
    quick = ["discriminant_", "sklearn_"] if arguments.quick else None
    files = [f for f in FILES if load(f).ROLE not in (LIMIT, BY_HAND) and f in (arguments.adapter or quick or FILES)]
    with contextlib.ExitStack() as stack:
        threads = ONE if arguments.processor else cores
        workers = {file: stack.enter_context(Worker(file, threads, cores)) for file in files}
        missing = [load(file).NAME for file, worker in workers.items() if worker.call("version") is None]
        if missing:
            say(f"not installed, left out: {', '.join(missing)} (python -m benchmarks.environments)")
        for task in chosen(arguments):
            if time.monotonic() > end:
                break
            try:
                if arguments.fresh:
                    known = json.loads(arguments.results.read_text())["places"]
                    if task.name in known:
                        keep(arguments.results, task.name, fresh=fresh(task, known[task.name], cores))
                        say(f"{task.name}: fresh process done")
                    continue
                place = Place(task, workers, processor=arguments.processor or arguments.quick)
                place.prepare()
                if arguments.prepare:
                    say(f"{task.name}: prepared; {json.dumps(place.notes, ensure_ascii=False)}")
                    continue
                place.race(0.2 if arguments.quick else arguments.seconds)
                result = place.result()
                keep(arguments.results, task.name, **result)
                say(sentence(task.name, result))
            except RuntimeError as error:
                say(f"{task.name}: {error}")


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, keep, draw."""
    arguments = parser().parse_args(argv)
    if not arguments.draw:
        measure_all(arguments)
    if not arguments.prepare and arguments.results.exists():
        from benchmarks.map_picture import publish

        publish(arguments.results, HERE.parent / "docs" if arguments.results == RESULTS else arguments.results.parent)
    return 0


if __name__ == "__main__":
    sys.exit(main())
