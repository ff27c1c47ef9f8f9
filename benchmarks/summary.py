"""One table over the logistic tasks from the results of their last runs: ``python -m benchmarks.summary``.

A line says how long we and the fastest peer took to come within each gap, what that is worth against the promise, and
how much of the machine others took meanwhile, for a reader to judge by.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.adapters.refusals import LOGISTIC as LOGISTIC_KEYS
from benchmarks.agree import cheapest_within
from benchmarks.contract import OURS, PEER
from benchmarks.measure import BUSY
from benchmarks.places import PROMISES
from benchmarks.report import duration, paste, times
from benchmarks.task import Task

HERE = Path(__file__).resolve().parent
NAME = "logistic-summary"
LOGISTIC = tuple(task for task in PROMISES.values() if task.problem in LOGISTIC_KEYS)
HEADER = (
    "| task | gap | ours | fastest peer | ratio | promise | next packages | passes | extra memory | others |\n"
    "|---|---:|---:|---|---:|---:|---|---:|---:|---:|\n"
)
GIVEN_UP = re.compile(r"within (\S+) after (\S+) s: given up")
NEXT = 3  # packages named after the fastest


def quickest(rows: list[Mapping[str, Any]], gap: float | None) -> list[tuple[float, Mapping[str, Any]]]:
    """The quickest row of each package that comes within the gap (or gives the same answer), quickest first."""
    timed = {row["label"]: row for row in rows if row["median"] is not None and not row["failure"]}
    if gap is None:
        good = [row for row in timed.values() if row["verdict"]["same"]]
    else:
        known = {label: row["objective"] for label, row in timed.items() if row["objective"] is not None}
        seconds = {label: timed[label]["median"] for label in known}
        good = [timed[held[0]] for held in cheapest_within(seconds, known, gap).values() if held] if known else []
    best: dict[str, Mapping[str, Any]] = {}
    for row in sorted(good, key=lambda row: float(row["median"])):
        best.setdefault(row["adapter"], row)
    return [(float(row["median"]), row) for row in best.values()]


def given_up(rows: list[Mapping[str, Any]], gap: float | None) -> tuple[float, str] | None:
    """(seconds, who and how near) of the peer that was given up soonest, where none came within the gap."""
    label = f"@ {gap:.0e}".replace("e-0", "e-") if gap is not None else ""
    found = []
    for row in rows:
        said = GIVEN_UP.search(row["failure"] or "")
        if row["role"] == PEER and said and row["label"].endswith(label):
            who = row["label"].split(" @ ")[0]
            found.append(
                (float(said.group(2)), f"none gets there ({who} within {said.group(1)} after {said.group(2)} s)")
            )
    return min(found, default=None)


def lines(task: Task, result: Mapping[str, Any]) -> str:
    """The lines of one task, one for each gap."""
    text = ""
    for gap in sorted(task.levels, reverse=True) or [None]:
        found = quickest(result["rows"], gap)
        ours = next(((s, row) for s, row in found if row["role"] == OURS), None)
        peers = [(s, row) for s, row in found if row["role"] == PEER]
        ratio = peers[0][0] / ours[0] if ours and peers else float("nan")
        row = ours[1] if ours else {}
        lost = given_up(result["rows"], gap) if ours and not peers else None
        memory = f"{100 * row['peak'] / task.bytes_of_X:.1f} % of X" if row.get("peak") is not None else ""
        cells = (
            f"{task.title}, {task.size()}",
            "" if gap is None else f"{gap:g}",
            duration(ours[0]) if ours else "–",
            f"{peers[0][1]['label'].split(' @ ')[0]} {duration(peers[0][0])}"
            if peers
            else lost[1]
            if lost
            else "none gets there",
            f"{times(ratio)}×" if ours and peers else f"over {times(lost[0] / ours[0])}×" if ours and lost else "",
            task.aim.sentence() if gap is None or gap == min(task.levels) else "",
            ", ".join(f"{row['adapter']} {duration(s)}" for s, row in peers[1 : 1 + NEXT]),
            "" if row.get("passes") is None else f"{row['passes']:.3g}",
            memory,
            f"{100 * result['foreign_share']:.0f} %" + (" (undecided)" if result["foreign_share"] > BUSY else ""),
        )
        text += "| " + " | ".join(cells) + " |\n"
    return text


def main() -> None:
    """Read the results folder, print the table and put it into the README."""
    text = HEADER
    for task in LOGISTIC:
        path = HERE / "results" / f"{task.name}.json"
        if path.exists():
            text += lines(task, json.loads(path.read_text()))
    print(text)
    paste(HERE / "README.md", NAME, text, (NAME, *(task.name for task in LOGISTIC)))


if __name__ == "__main__":
    main()
