"""The command: ``python -m benchmarks.run --task lda-1e6x50 --repeat 7``; without a task, all of them in turn."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.adapters import FILES
from benchmarks.machine import describe
from benchmarks.measure import Options, Outcome, measure, say
from benchmarks.picture import draw
from benchmarks.places import PROMISES
from benchmarks.report import as_json, paste, section
from benchmarks.worker import Worker

HERE = Path(__file__).resolve().parent
QUICK = tuple(file for file in FILES if file.split("_")[0] in ("discriminant", "sklearn", "numpy", "limits"))

SLOW = ("newton-cg", "sag", "liblinear", "two processes")  # solvers that a quick run does without

LONG = ("softmax-fashion", "cold-iris")  # tasks that are long at any size: in a quick run only where they are asked for


def parser() -> argparse.ArgumentParser:
    """The options."""
    cores = len(os.sched_getaffinity(0))
    parse = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parse.add_argument("--task", action="append", choices=sorted(PROMISES), help="may be given again; default: all")
    parse.add_argument("--adapter", action="append", choices=FILES, help="only these contenders; default: all")
    parse.add_argument("--method", action="append", help="only peers' methods with this in their name; default: all")
    parse.add_argument("--repeat", type=int, default=None, help="rounds (default 7, quick 2)")
    parse.add_argument("--threads", type=int, default=cores, help="cores that every contender may use (default: all)")
    parse.add_argument(
        "--quick", action="store_true", help="small sizes, one peer, no memory, no README: do they run, are they right?"
    )
    parse.add_argument("--brief", action="store_true", help="one attempt at a measurement, nobody's memory but ours")
    parse.add_argument("--no-memory", action="store_true", help="do not measure memory (saves a process per contender)")
    parse.add_argument("--no-readme", action="store_true", help="leave benchmarks/README.md and its picture alone")
    parse.add_argument("--patience", type=float, default=20.0, help="seconds to wait for other processes to rest")
    parse.add_argument("--strict", action="store_true", help="end with status 1 when a promise is not kept")
    parse.add_argument("--results", type=Path, default=HERE / "results", help="where JSON, table and picture go")
    return parse


def publish(outcome: Outcome, machine: dict[str, object], arguments: argparse.Namespace) -> None:
    """Write a task's results as soon as they are there, and its section of the README after a full run."""
    folder: Path = arguments.results
    folder.mkdir(parents=True, exist_ok=True)
    name = ("quick-" if arguments.quick else "") + outcome.task.name
    text = section(outcome, machine)
    (folder / f"{name}.json").write_text(as_json(outcome, machine))
    (folder / f"{name}.md").write_text(text)
    draw([outcome], folder / f"{name}.svg")
    print(text, flush=True)
    if arguments.quick or arguments.no_readme or arguments.adapter or arguments.method:
        return
    if outcome.decided:
        paste(HERE / "README.md", outcome.task.name, text, tuple(PROMISES))
    else:
        say(f"{outcome.task.name} is not put into the README: others used the machine; run it again when it rests")


def picture(outcomes: Sequence[Outcome], arguments: argparse.Namespace) -> None:
    """The picture of all tasks of the run; beside the README where the run was whole and decides."""
    draw(outcomes, arguments.results / ("quick-speed.png" if arguments.quick else "speed.png"))
    whole = not (arguments.quick or arguments.no_readme or arguments.adapter or arguments.method or arguments.task)
    if whole and all(outcome.decided for outcome in outcomes):
        draw(outcomes, HERE / "speed.svg")
        text = "![Time of each contender on each task](speed.svg)\n"
        paste(HERE / "README.md", "picture", text, ("picture", *PROMISES))


def main(argv: Sequence[str] | None = None) -> int:
    """Run; the status is 1 when our own answer is wrong or missing, or (strict) a promise is not kept."""
    arguments = parser().parse_args(argv)
    unasked = [name for name in PROMISES if not (arguments.quick and name in LONG)]
    tasks = [PROMISES[name] for name in arguments.task or unasked]
    tasks = [task.quick() for task in tasks] if arguments.quick else tasks
    options = Options(
        repeat=arguments.repeat or (2 if arguments.quick else 7),
        threads=arguments.threads,
        memory=not (arguments.no_memory or arguments.quick),
        quiet=0.05 if arguments.quick else 0.2,
        patience=0.1 if arguments.quick else arguments.patience,
        brief=arguments.quick or arguments.brief,
        only=tuple(arguments.method or ()),
        without=SLOW if arguments.quick else (),
    )
    machine = describe(arguments.threads)
    with contextlib.ExitStack() as stack:
        wanted = arguments.adapter or (QUICK if arguments.quick else FILES)
        files = [file for file in FILES if file in wanted]
        workers = {file: stack.enter_context(Worker(file, arguments.threads)) for file in files}
        outcomes = []
        for task in tasks:
            outcomes.append(measure(task, workers, options))
            publish(outcomes[-1], machine, arguments)
    picture(outcomes, arguments)
    shortfalls = [sentence for outcome in outcomes for sentence in outcome.shortfalls()]
    for sentence in shortfalls:
        say(f"not as promised: {sentence}")
    wrong = any(outcome.ours is None for outcome in outcomes)
    return 1 if wrong or (arguments.strict and shortfalls) else 0


if __name__ == "__main__":
    sys.exit(main())
