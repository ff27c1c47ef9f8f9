"""The picture of a run: a panel per task, a dot per contender with the range of its rounds, time on a log axis."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.contract import BY_HAND, LIMIT, OURS, PEER
from benchmarks.measure import Outcome, Row
from benchmarks.report import duration

# Dark enough on white, and apart for colour-blind eyes.
COLOURS = {OURS: "#0b6e4f", PEER: "#b3404a", BY_HAND: "#c58a1f", LIMIT: "#7a808a"}
LINE, MARGIN = 0.27, 0.45  # inches a row takes, and the legend


def name(row: Row) -> str:
    """The row's name on the axis; one that solved something else says so."""
    label = row.method if row.role == LIMIT else row.label
    return label if row.verdict.same or row.role == LIMIT else f"{label} (differs)"


def panel(axis: Any, outcome: Outcome, rows: Sequence[Row]) -> None:
    """One task: the quickest at the top."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for i, row in enumerate(rows):
        axis.plot([min(row.times), max(row.times)], [i, i], color=COLOURS[row.role], linewidth=2)
        axis.plot(row.median, i, "o", color=COLOURS[row.role], markersize=6)
        weight = "bold" if row.role == OURS else "normal"
        axis.text(1.12 * max(row.times), i, duration(row.median), va="center", fontsize=8, fontweight=weight)
    axis.set_yticks(range(len(rows)), [name(row) for row in rows])
    axis.set_ylim(len(rows) - 0.4, -0.6)
    axis.set_xscale("log")
    if rows:
        axis.set_xlim(0.6 * min(min(r.times) for r in rows), 3.0 * max(max(r.times) for r in rows))
    axis.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: duration(value)))
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.grid(axis="x", color="#dddddd", linewidth=0.6)
    axis.set_axisbelow(True)
    axis.set_title(f"{outcome.task.title}: {outcome.task.size()}", loc="left", fontsize=10)
    axis.spines[["top", "right"]].set_visible(False)


def draw(outcomes: Sequence[Outcome], path: Path) -> None:
    """Write the picture; the format follows the file's suffix."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    shown = [sorted((r for r in o.rows if r.times and not r.failure), key=lambda r: r.median) for o in outcomes]
    heights = [len(rows) + 2.4 for rows in shown]
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "benchmarks", "font.size": 9}):
        height = LINE * sum(heights) + MARGIN
        figure = Figure(figsize=(8, height))
        FigureCanvasAgg(figure)
        axes = figure.subplots(len(outcomes), 1, height_ratios=heights, squeeze=False)
        for outcome, rows, axis in zip(outcomes, shown, axes[:, 0], strict=True):
            panel(axis, outcome, rows)
        used = [role for role in COLOURS if any(row.role == role for rows in shown for row in rows)]
        handles = [Patch(color=COLOURS[role], label=role) for role in used]
        figure.legend(handles=handles, loc="lower center", ncols=4, frameon=False)
        figure.tight_layout(rect=(0, MARGIN / height, 1, 1))
        figure.savefig(path, dpi=110, metadata={"Date": None} if path.suffix == ".svg" else None)
