"""One task, all contenders, interleaved: rounds in which each contender is measured once, in an order drawn anew.

Machines wander, so only figures of one run are compared, and a ratio is given twice: of the medians, and its range over
the rounds, in which the two measurements lie seconds apart.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median

from benchmarks.adapters import load
from benchmarks.agree import Verdict, compare, gap
from benchmarks.bench import Sample
from benchmarks.contract import LIMIT, OURS, PEER, Answer
from benchmarks.effort import LABELS
from benchmarks.machine import Neighbours, busy_seconds, own_seconds
from benchmarks.task import Task
from benchmarks.worker import Worker

SLOW = 5.0  # seconds: a contender whose call takes longer is measured in fewer rounds
FEW_ROUNDS = 3
HOPELESS = 10.0  # times the first call of the fastest peer
ATTEMPTS = 3  # at a measurement that others disturb
DISTURBED = 0.5  # cores that others take during a measurement
BUSY = 0.15  # share of the machine that others may take in a run that decides anything


@dataclass
class Row:
    """One contender's line: what was measured, and what its answer was worth."""

    adapter: str
    file: str
    role: str
    method: str
    seconds: list[float | None] = field(default_factory=list)  # one entry per round; None: left out of this round
    processor: list[float] = field(default_factory=list)  # processor seconds per call, over all cores
    first: float = float("nan")
    peak: int | None = None
    verdict: Verdict = field(default_factory=lambda: Verdict(False, "not compared"))
    failure: str = ""
    objective: float | None = None
    passes: float | None = None

    @property
    def label(self) -> str:
        return f"{self.adapter} {self.method}"

    @property
    def times(self) -> list[float]:
        return [s for s in self.seconds if s is not None]

    @property
    def median(self) -> float:
        return median(self.times) if self.times else float("nan")

    @property
    def counts(self) -> bool:
        """Measured, and the same problem solved: only then may others be compared with it."""
        return bool(self.times) and not self.failure and (self.verdict.same or self.role == LIMIT)

    def over(self, other: Row) -> tuple[float, float, float]:
        """How many times longer this row takes: ratio of medians, and its smallest and largest in one round."""
        both = [a / b for a, b in zip(self.seconds, other.seconds, strict=False) if a is not None and b is not None]
        return self.median / other.median, min(both, default=float("nan")), max(both, default=float("nan"))


@dataclass
class Outcome:
    """A measured task."""

    task: Task
    rows: list[Row]
    skipped: list[str]
    foreign_share: float = 0.0
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def decided(self) -> bool:
        """Whether the machine was ours: threads of some contenders suffer more from neighbours than those of others."""
        return self.foreign_share <= BUSY

    def best(self, role: str, package: str = "") -> Row | None:
        """The quickest row of this role (and package) among those that solved the problem."""
        rows = [row for row in self.rows if row.role == role and row.counts]
        rows = [row for row in rows if not package or row.label.startswith(f"{package} ")]
        return min(rows, key=lambda row: row.median, default=None)

    @property
    def ours(self) -> Row | None:
        return self.best(OURS)

    @property
    def read(self) -> Row | None:
        return next((r for r in self.rows if r.role == LIMIT and r.method == "one read of X" and r.counts), None)

    def shortfalls(self) -> list[str]:
        """A sentence for each thing that is not as promised: ours missing, wrong or slower than the aim."""
        ours, peer, aim = self.ours, self.best(PEER, self.task.aim.of), self.task.aim
        if ours is None:
            reasons = [row.failure or row.verdict.sentence for row in self.rows if row.role == OURS]
            return [f"{self.task.name}: our estimator gave no result that counts ({'; '.join(reasons) or 'absent'})"]
        found = []
        if aim.times_the_peer and peer is not None and peer.median / ours.median < aim.times_the_peer:
            ratio = peer.median / ours.median
            found.append(f"{self.task.name}: {ratio:.2f}× {peer.label}, promised {aim.times_the_peer:g}×")
        if self.read is not None and ours.median / self.read.median > aim.reads_of_X:
            reads = ours.median / self.read.median
            found.append(f"{self.task.name}: {reads:.2f} reads of X, promised {aim.reads_of_X:g}")
        if ours.median > aim.seconds:
            found.append(f"{self.task.name}: {1e3 * ours.median:.3g} ms, promised {1e3 * aim.seconds:g} ms")
        return found


@dataclass(frozen=True)
class Options:
    """How to measure."""

    repeat: int = 7
    threads: int = 2
    memory: bool = True
    quiet: float = 0.2  # seconds of rest before each measurement
    patience: float = 20.0  # seconds to wait at most for others to rest
    limit: float = 120.0  # seconds: a contender whose first call takes longer is not measured again
    brief: bool = False  # one attempt at a measurement, and nobody's memory but ours
    only: tuple[str, ...] = ()  # parts of the names of the peers' methods that take part; none: all
    without: tuple[str, ...] = ()  # parts of the names of those that do not, where a peer has others


def say(text: str) -> None:
    """Progress, on standard error."""
    print(text, file=sys.stderr, flush=True)


def contenders(
    task: Task, workers: Mapping[str, Worker], only: tuple[str, ...] = (), without: tuple[str, ...] = ()
) -> tuple[list[Row], list[str], dict[str, str]]:
    """The rows to fill, the sentences about those who do not take part, and the versions of those who do."""
    rows, skipped, versions = [], [], {}
    for file, worker in workers.items():
        adapter = load(file)
        version = worker.call("version")
        methods = adapter.METHODS.get(task.problem, {})
        if version is None:
            skipped.append(f"{adapter.NAME} is not installed: left out.")
        elif not methods:
            skipped.append(f"{adapter.NAME} {adapter.REFUSALS.get(task.problem, 'has no method for this')}.")
        else:
            chosen = [m for m in methods if adapter.ROLE != PEER or not only or any(part in m for part in only)]
            if adapter.ROLE == PEER:
                chosen = [m for m in chosen if not any(part in m for part in without)] or chosen
            idle = {label for gap, label in LABELS.items() if gap not in task.levels}
            chosen = [m for m in chosen if m.split(" @ ")[-1] not in idle]
            rows += [Row(adapter.NAME, file, adapter.ROLE, method) for method in chosen]
            versions[adapter.PACKAGE] = version
    return rows, skipped, versions


def same_data(task: Task, workers: Mapping[str, Worker], rows: list[Row]) -> None:
    """Have every process that takes part make the data, and insist that they are the same bit for bit."""
    digests = {file: workers[file].call("load", task) for file in dict.fromkeys(row.file for row in rows)}
    if len(set(digests.values())) > 1:
        raise RuntimeError(f"the processes did not make the same data for {task.name}: checksums {digests}")


def warm_up(rows: list[Row], workers: Mapping[str, Worker]) -> dict[str, Answer]:
    """First calls, timed apart, and the answers; a contender that fails keeps its sentence."""
    answers: dict[str, Answer] = {}
    for row in rows:
        try:
            row.first = workers[row.file].call("warm", row.method).wall
            answers[row.label] = workers[row.file].call("answer", row.method)
        except RuntimeError as error:
            row.failure = str(error)
        say(f"  first call of {row.label}: {row.failure or f'{row.first:.3f} s'}")
    return answers


def judge(task: Task, rows: list[Row], answers: Mapping[str, Answer]) -> None:
    """Compare every answer with that of the task's judge, or of the first peer that gave one.

    A task with gaps compares objectives instead, with the lowest that any contender reached.
    """
    able = [row for row in rows if answers.get(row.label)]
    named = [row for row in able if (row.adapter, row.method) == task.what.judge] or [r for r in able if r.role == PEER]
    for row in able:
        answer = answers[row.label]
        row.objective = float(answer["objective"]) if "objective" in answer else None
        row.passes = float(answer["passes"]) if "passes" in answer else None
        if task.levels:
            continue
        if named and row is named[0]:
            row.verdict = Verdict(True, "the judge", 0.0)
        elif named:
            row.verdict = compare(answer, answers[named[0].label], task.tolerance)
    known = {row.label: row.objective for row in able if row.objective is not None}
    for row in able if task.levels else []:
        if row.objective is not None:
            above = gap(row.objective, min(known.values()))
            row.verdict = Verdict(above <= min(task.levels), f"gap {above:.1e}", above)


def undisturbed(row: Row, worker: Worker, options: Options, neighbours: Neighbours) -> Sample:
    """One measurement; while others take much of the machine it is tried again, and the least disturbed one counts.

    What others took decides, never how long the contender needed, and it decides alike for all.
    """
    best: tuple[float, float, float, Sample] | None = None
    for _ in range(1 if options.brief else ATTEMPTS):
        neighbours.settle(options.quiet, options.patience)
        process = getattr(worker, "process", None)
        own = 0.0 if process is None else own_seconds(process.pid)
        busy, start = busy_seconds(), time.monotonic()
        sample: Sample = worker.call("sample", row.method)
        wall = time.monotonic() - start
        own = sample.cpu if process is None else own_seconds(process.pid) - own
        foreign = busy_seconds() - busy - own
        if best is None or foreign / wall < best[0]:
            best = (foreign / wall, foreign, wall, sample)
        if foreign / wall <= DISTURBED:
            break
    assert best is not None
    neighbours.add(best[1], best[2])
    return best[3]


def rounds_for(row: Row, rows: list[Row], options: Options) -> int:
    """All rounds; three for a slow contender; one for a slow one that is far from being the fastest peer."""
    if row.first <= SLOW:
        return options.repeat
    fastest = min((other.first for other in rows if other.role == PEER and not other.failure), default=row.first)
    return min(options.repeat, 1 if row.first > HOPELESS * fastest else FEW_ROUNDS)


def rounds(rows: list[Row], workers: Mapping[str, Worker], options: Options, neighbours: Neighbours) -> None:
    """Measure every contender once a round, in an order drawn anew each round."""
    order = random.Random(0)
    running = [row for row in rows if not row.failure and row.first <= options.limit]
    allowed = {row.label: rounds_for(row, rows, options) for row in running}
    for number in range(options.repeat):
        order.shuffle(running)
        for row in running:
            if row.failure or number >= allowed[row.label]:
                row.seconds.append(None)
                continue
            try:
                sample = undisturbed(row, workers[row.file], options, neighbours)
                row.seconds.append(sample.wall)
                row.processor.append(sample.processor)
            except RuntimeError as error:
                row.failure = str(error)
        say(f"  round {number + 1} of {options.repeat} done")
    for row in rows:
        if row.first > options.limit:
            row.failure = f"took {row.first:.0f} s once and was not measured again"


def peaks(task: Task, rows: list[Row], options: Options) -> None:
    """Peak memory beyond X, each contender in a fresh process; meaningless where the contender is itself a process."""
    if task.problem.endswith("cold-start"):
        return
    for row in rows:
        if row.failure or row.role == LIMIT or rounds_for(row, rows, options) == 1 < options.repeat:
            continue
        if options.brief and row.role != OURS:
            continue
        if task.levels and not row.verdict.same:  # an effort for a wider gap: its memory is that of the narrow one
            continue
        with Worker(row.file, options.threads) as fresh:
            fresh.call("load", task)
            row.peak = fresh.call("peak", row.method)
        say(f"  memory of {row.label}: {row.peak / 2**20:.0f} MiB beyond X")


def measure(task: Task, workers: Mapping[str, Worker], options: Options) -> Outcome:
    """The whole of one task."""
    say(f"{task.name}: {task.title}, {task.size()}")
    rows, skipped, versions = contenders(task, workers, options.only, options.without)
    same_data(task, workers, rows)
    judge(task, rows, warm_up(rows, workers))
    neighbours = Neighbours()
    rounds(rows, workers, options, neighbours)
    if options.memory:
        peaks(task, rows, options)
    return Outcome(task, rows, skipped, neighbours.share, versions)
