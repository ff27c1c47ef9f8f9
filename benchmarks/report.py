"""What a run leaves behind: a Markdown section per task, the same as JSON, and the sections pasted into the README."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median

from benchmarks.agree import cheapest_within
from benchmarks.contract import BY_HAND, LIMIT, OURS, PEER
from benchmarks.measure import Outcome, Row

ROLE_ORDER = (OURS, PEER, BY_HAND, LIMIT)
HEADER = (
    "| contender | median | range | processor | first call | × ours | reads of X | extra memory | answer |\n"
    "|---|---:|---:|---:|---:|---:|---:|---:|---|\n"
)


def duration(seconds: float) -> str:
    """Seconds with three digits and a fitting unit.

    >>> duration(0.01234), duration(2.5), duration(3.2e-5)
    ('12.3 ms', '2.5 s', '32 µs')
    """
    if not math.isfinite(seconds):
        return "–"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size or unit == "µs":
            return f"{float(f'{seconds / size:.3g}'):g} {unit}"
    return "–"


def times(value: float) -> str:
    """A ratio with as many digits as it deserves.

    >>> times(14.62), times(1.234), times(123.4)
    ('14.6', '1.23', '123')
    """
    return f"{float(f'{value:.3g}'):g}" if math.isfinite(value) else "–"


def line(row: Row, outcome: Outcome) -> str:
    """One row of the table."""
    name = f"**{row.label}**" if row.role == OURS else f"*{row.method}*" if row.role == LIMIT else row.label
    if row.failure or not row.times:
        return f"| {name} | – | | | {duration(row.first)} | | | | {row.failure or 'not measured'} |\n"
    ours, read = outcome.ours, outcome.read
    ratio = ""
    if ours is not None and row is not ours:
        middle, low, high = row.over(ours)
        ratio = f"{times(middle)} ({times(low)}–{times(high)})"
    cells = (
        duration(row.median),
        f"{duration(min(row.times))} – {duration(max(row.times))} ({len(row.times)})",
        duration(median(row.processor)) if row.processor else "",
        duration(row.first),
        ratio or ("1" if row is ours else ""),
        times(row.median / read.median) if read is not None else "",
        "" if row.peak is None else f"{100 * row.peak / outcome.task.bytes_of_X:.1f} % of X",
        "" if row.role == LIMIT else row.verdict.sentence,
    )
    return f"| {name} | " + " | ".join(cells) + " |\n"


def verdict(outcome: Outcome) -> str:
    """The promise, and what was found, in one sentence each."""
    ours, peer, hand = outcome.ours, outcome.best(PEER), outcome.best(BY_HAND)
    if ours is None:
        return f"Promise: {outcome.task.aim.sentence()}. No result of ours counts in this run."
    words = [f"Promise: {outcome.task.aim.sentence()}."]
    if peer is not None:
        words.append(f"Measured: {times(peer.median / ours.median)}× the fastest peer ({peer.label}).")
        other = min(
            (r for r in outcome.rows if r.role == PEER and r.counts and r.adapter != peer.adapter),
            key=lambda r: r.median,
            default=None,
        )
        if other is not None:
            words.append(f"{times(other.median / ours.median)}× the next package ({other.label}).")
    if hand is not None:
        words.append(f"{times(hand.median / ours.median)}× {hand.label}.")
    for row in outcome.rows:
        if row.role == LIMIT and row.times:
            words.append(f"{times(ours.median / row.median)} times *{row.method}*.")
    if outcome.decided:
        words.append("Promise not kept." if outcome.shortfalls() else "Promise kept.")
    else:
        words.append("Undecided: others used the machine meanwhile.")
    return " ".join(words)


def gap_lines(outcome: Outcome) -> str:
    """For tasks with gaps: the quickest effort of each method that comes within each gap."""
    if not outcome.task.levels:
        return ""
    rows = {row.label: row for row in outcome.rows if row.times and row.objective is not None}
    text = "\n| method | " + " | ".join(f"within {g:g}" for g in outcome.task.levels) + " |\n"
    text += "|---|" + "---:|" * len(outcome.task.levels) + "\n"
    objectives = {label: row.objective for label, row in rows.items() if row.objective is not None}
    found = [
        cheapest_within({label: row.median for label, row in rows.items()}, objectives, g) for g in outcome.task.levels
    ]
    for name in found[0] if objectives else {}:
        cells = [f"{duration(held[1])}" if (held := level[name]) is not None else "–" for level in found]
        text += f"| {name} | " + " | ".join(cells) + " |\n"
    for name in dict.fromkeys(row.label.split(" @ ")[0] for row in outcome.rows if row.failure):
        text += "" if objectives and name in found[0] else f"| {name} |" + " – |" * len(outcome.task.levels) + "\n"
    return text


def section(outcome: Outcome, machine: dict[str, object]) -> str:
    """The Markdown of one task."""
    task = outcome.task
    rows = sorted(outcome.rows, key=lambda r: (ROLE_ORDER.index(r.role), r.median if r.times else math.inf))
    used = ", ".join(f"{name} {version}" for name, version in outcome.versions.items() if version)
    text = f"### {task.title}: {task.size()}\n\n{verdict(outcome)}\n\n" + HEADER
    text += "".join(line(row, outcome) for row in rows) + gap_lines(outcome)
    text += (
        f"\n`{task.name}`, {machine['date']}, {machine['processor']}, {machine['threads']} of {machine['cores']} cores,"
        f" Python {machine['python']}, {used}. Other processes took {100 * outcome.foreign_share:.0f} % of the machine "
        f"meanwhile. {' '.join(outcome.skipped)}".rstrip()
    )
    return text + "\n"


def as_json(outcome: Outcome, machine: dict[str, object]) -> str:
    """Everything that was measured, for later comparison."""
    rows = [asdict(row) | {"median": row.median if row.times else None, "label": row.label} for row in outcome.rows]
    whole = {"machine": machine, **asdict(outcome), "rows": rows, "shortfalls": outcome.shortfalls()}
    return json.dumps(clean(whole), indent=1, ensure_ascii=False)


def clean(value: object) -> object:
    """The same with numbers that JSON lacks as null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean(item) for item in value]
    return value


def paste(readme: Path, name: str, text: str, order: Sequence[str]) -> None:
    """Put the section between its markers in the README; a new one goes where the order of the tasks wants it."""
    page = readme.read_text()
    wrapped = f"<!-- {name}: begin -->\n{text}<!-- {name}: end -->\n"
    pattern = re.compile(rf"<!-- {re.escape(name)}: begin -->\n.*?<!-- {re.escape(name)}: end -->\n", re.DOTALL)
    if pattern.search(page):
        page = pattern.sub(lambda _: wrapped, page)
    else:
        later = [other for other in order[order.index(name) + 1 :] if f"<!-- {other}: begin -->" in page]
        anchor = f"<!-- {later[0]}: begin -->" if later else "<!-- results: end -->"
        if anchor not in page:
            raise ValueError(f"{readme} has no line '{anchor}' at which to put the results of {name}: add one.")
        page = page.replace(anchor, wrapped + "\n" + anchor)
    readme.write_text(page)
