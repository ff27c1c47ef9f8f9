"""How the cost of a fit grows in n and in d, as lines: ``python -m benchmarks.growth`` renews docs/speed_growth.svg.

Iterative fits should grow as n·d, the cost of a pass; closed forms as n·d·min(n, d), and in the longer side as a line.
Measured in processor seconds of one thread, so that the lines show arithmetic and not threads.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.map import HERE, Place, say
from benchmarks.task import Task
from benchmarks.worker import Worker

# A line of the picture: what it shows, which side grows, and the places along it.
SERIES = """
ridge          n  independent  1e3x20 1e4x20 1e5x20 1e6x20
ridge          n  independent  1e3x20x5 1e4x20x5 1e5x20x5 5e5x20x5
l1             n  few-causes   1e3x50 1e4x50 1e5x50 5e5x50
lda            n  classes      1e3x50x3 1e4x50x3 1e5x50x3 1e6x50x3
qda            n  own-spreads  1e3x50x3 1e4x50x3 1e5x50x3 5e5x50x3
least-squares  n  classes      1e3x50x3 1e4x50x3 1e5x50x3 1e6x50x3
ridge          d  independent  200x10 200x100 200x1e3 200x1e4
ridge          d  independent  2e4x10 2e4x50 2e4x200 2e4x1e3
l1             d  few-causes   200x100@0.1 200x1e3@0.1 200x1e4@0.1
lda            d  classes      100x30 100x300 100x3e3 100x1e4
lda-auto       d  classes      100x30 100x300 100x3e3 100x1e4
least-squares  d  classes      200x10 200x100 200x1e3 200x1e4
"""
MARKERS = "osD^vP"


def series() -> list[tuple[str, str, list[Task]]]:
    """(name, the side that grows, its places)."""
    found = []
    for line in SERIES.strip().splitlines():
        word, side, columns, *shapes = line.split()
        tasks = [Task.read(word, columns, shape) for shape in shapes]
        fixed = f"d = {tasks[0].d}" if side == "n" else f"n = {tasks[0].n:,}"
        classes = f", K = {tasks[0].n_classes}" if tasks[0].n_classes > 2 else ""
        found.append((f"{tasks[0].title}, {fixed}{classes}", side, tasks))
    return found


def measure(seconds: float, most: float) -> list[dict[str, Any]]:
    """Our time at every place of every line, at the narrowest gap that is asked for."""
    lines = []
    with Worker("discriminant_", 1, len(os.sched_getaffinity(0))) as worker:
        for name, side, tasks in series():
            points = []
            for task in tasks:
                if task.n * task.d > most:
                    continue
                place = Place(task, {"discriminant_": worker}, processor=True)
                place.prepare()
                place.race(seconds)
                levels = place.result()["levels"]
                ours = levels[list(levels)[-1]]["ours"]
                if ours is not None:
                    points.append([task.n if side == "n" else task.d, ours])
                say(f"{task.name}: {ours}")
            lines.append({"name": name, "side": side, "points": points})
    return lines


def draw(lines: Sequence[dict[str, Any]], path: Path) -> None:
    """Two panels, n and d, on logarithmic axes, with the slope of a line beside."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "benchmarks", "font.size": 9}):
        figure = Figure(figsize=(10, 4.4))
        FigureCanvasAgg(figure)
        axes = figure.subplots(1, 2, sharey=True)
        for axis, side in zip(axes, "nd", strict=True):
            chosen = [line for line in lines if line["side"] == side and line["points"]]
            for line, marker in zip(chosen, MARKERS, strict=False):
                x, seconds = zip(*line["points"], strict=True)
                axis.plot(x, seconds, marker=marker, markersize=4, label=line["name"])
            if chosen:
                x = sorted({point[0] for line in chosen for point in line["points"]})
                low = min(point[1] for line in chosen for point in line["points"])
                ends = [x[0], x[-1]]
                axis.plot(ends, [0.3 * low * end / ends[0] for end in ends], "--", color="#999999", label="slope 1")
            axis.set(xscale="log", yscale="log", xlabel="rows n" if side == "n" else "columns d")
            axis.grid(color="#dddddd", linewidth=0.6)
            axis.legend(fontsize=6.5, frameon=False)
            axis.spines[["top", "right"]].set_visible(False)
        axes[0].set_ylabel("processor seconds")
        figure.tight_layout()
        figure.savefig(path, dpi=110, metadata={"Date": None} if path.suffix == ".svg" else None)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and draw."""
    parse = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parse.add_argument("--seconds", type=float, default=1.0, help="for each place")
    parse.add_argument("--most", type=float, default=1e9, help="leave out places with more numbers than this")
    parse.add_argument("--results", type=Path, default=HERE / "growth.json")
    parse.add_argument("--picture", type=Path, default=HERE.parent / "docs" / "speed_growth.svg")
    parse.add_argument("--draw", action="store_true", help="only draw what was measured before")
    arguments = parse.parse_args(argv)
    if not arguments.draw:
        arguments.results.write_text(json.dumps(measure(arguments.seconds, arguments.most), indent=1) + "\n")
    draw(json.loads(arguments.results.read_text()), arguments.picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
