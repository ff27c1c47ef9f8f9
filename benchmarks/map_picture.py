"""The map of speed as a picture (a tile for each place, its colour the ratio) and as a page of tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import exp, log, log2
from pathlib import Path
from statistics import mean
from textwrap import fill
from typing import Any

from benchmarks.places import PLACES
from benchmarks.report import duration
from benchmarks.task import PROBLEMS, REAL

LEVELS = ("1e-4", "1e-6")
EXACT = "exact"
WIDTH, HEIGHT, ACROSS = 1.04, 0.62, 6  # inches of a tile, tiles in a row
FAR = 8.0  # times: the colours end here
EASIER_FLOOR = 0.8  # of a peer that solves an easier problem
ALONE = "#0b5345"
UNMEASURED = "#eeeeee"
KINDS = {"correlated": "corr ", "ill-conditioned": "ill ", "units": "units ", "dummies": "0/1 ", "pixels": "pixels "}


def ratios(result: Mapping[str, Any]) -> dict[str, float | None]:
    """Level → how many times as fast as the fastest peer; None where no peer gets there."""
    return {
        level: found["peer"] and found["peer"]["ratio"] for level, found in result["levels"].items() if found["ours"]
    }


def easier(result: Mapping[str, Any]) -> float | None:
    """The least ratio to peers that solve an easier problem."""
    found = [level["easier"]["ratio"] for level in result["levels"].values() if level["easier"]]
    return min(found, default=None)


def geometric_mean(places: Mapping[str, Any], level: str) -> float:
    """Over the places that have a peer at this level; closed forms count at each."""
    found = [ratios(r).get(level, ratios(r).get(EXACT)) for r in places.values()]
    known = [log(ratio) for ratio in found if ratio]
    return exp(mean(known)) if known else float("nan")


def shape(result: Mapping[str, Any]) -> str:
    """n × d × K in few signs."""
    if result["columns"] in REAL:
        return f"{result['columns']}" + ("" if result["n"] == REAL[result["columns"]][0] else f" {short(result['n'])}")
    text = f"{short(result['n'])}×{short(result['d'])}" + (f"×{short(result['K'])}" if result["K"] > 2 else "")
    return text + (f" /{result['values']}" if result["values"] else "")


def short(value: float) -> str:
    """A size in few signs.

    >>> [short(v) for v in (60, 1000, 15000, 300000, 1000000)]
    ['60', '1e3', '1.5e4', '3e5', '1e6']
    """
    if value < 1_000:
        return f"{value:g}"
    digits, power = f"{value:.1e}".split("e")
    return f"{float(digits):g}e{int(power)}"


def tile(axis: Any, x: float, y: float, result: Mapping[str, Any], colour: Any) -> None:
    """One place: a half for each level, ratios in large type, its shape below."""
    from matplotlib.patches import Rectangle

    found = ratios(result) or {EXACT: 0.0}
    width = 0.96 / len(found)
    for i, ratio in enumerate(found.values()):
        face = UNMEASURED if ratio == 0.0 else ALONE if ratio is None else colour(ratio)
        axis.add_patch(Rectangle((x + i * width, y), width, 0.92, facecolor=face, edgecolor="white", linewidth=0.5))
        dark = ratio is None or bool(ratio and abs(log2(ratio)) > 1.8)
        text = "alone" if ratio is None else "–" if not ratio else f"{ratio:.2g}" if ratio < 10 else f"{ratio:.0f}"
        shade = "white" if dark else "black"
        axis.text(x + (i + 0.5) * width, y + 0.3, text, ha="center", va="center", fontsize=8, color=shade)
    near = easier(result)
    strength = "" if result["C"] in (1.0, None) else f" C{result['C']:g}"
    note = KINDS.get(result["columns"], "") + shape(result) + strength
    axis.text(
        x + 0.48, y + 0.72, note, ha="center", va="center", fontsize=7,
        bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.75},
    )  # fmt: skip
    if near is not None and near < EASIER_FLOOR:
        axis.plot([x + 0.9], [y + 0.1], marker="v", color="black", markersize=3)


def draw(places: Mapping[str, Any], path: Path) -> None:
    """Write the picture; the format follows the file's suffix."""
    from matplotlib import colormaps, rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure

    spread = Normalize(-log2(FAR), log2(FAR))
    scale = colormaps["BrBG"]
    rows = {word: [r for r in places.values() if r["problem"] == word] for word in PROBLEMS}
    lines = [(word, sorted(group, key=_place)) for word, group in rows.items() if group]
    height = sum(-(-len(group) // ACROSS) + 0.45 for _, group in lines)
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "benchmarks", "font.size": 9}):
        figure = Figure(figsize=(WIDTH * ACROSS, HEIGHT * height + 0.9))
        FigureCanvasAgg(figure)
        axis = figure.add_axes((0.01, 0.0, 0.98, 1 - 0.8 / (HEIGHT * height + 0.9)))
        y = 0.0
        for word, group in lines:
            axis.text(0, y + 0.38, PROBLEMS[word].title, va="bottom", fontsize=9, fontweight="bold")
            y += 0.45
            for i, result in enumerate(group):
                tile(axis, i % ACROSS, y + i // ACROSS, result, lambda ratio: scale(spread(log2(ratio))))
            y += -(-len(group) // ACROSS)
        axis.set(xlim=(0, ACROSS), ylim=(y, 0))
        axis.axis("off")
        bar = figure.add_axes((0.62, 1 - 0.42 / (HEIGHT * height + 0.9), 0.36, 0.12 / (HEIGHT * height + 0.9)))
        ticks = [0.125, 0.25, 0.5, 1, 2, 4, 8]
        legend = figure.colorbar(ScalarMappable(spread, scale), cax=bar, orientation="horizontal")
        legend.set_ticks([log2(t) for t in ticks], labels=[f"{t:g}" for t in ticks], fontsize=7)
        words = "time of the fastest peer / ours: left to 1e-4, right to 1e-6 of the minimum; one number: closed form; "
        words += "alone: no peer gets there in time; ▾: below 0.8 of a peer that solves an easier problem"
        figure.text(0.012, 1 - 0.7 / (HEIGHT * height + 0.9), fill(words, 58), fontsize=7.5, va="bottom")
        figure.savefig(path, dpi=110, metadata={"Date": None} if path.suffix == ".svg" else None)


def _place(result: Mapping[str, Any]) -> tuple[bool, bool, float]:
    """Two classes first, then by the size of X."""
    return result["K"] > 2, result["columns"] in REAL, result["n"] * (result["values"] or result["d"])


def _cell(found: Mapping[str, Any] | None) -> str:
    if not found:
        return ""
    threads = ", one thread" if found["threads"] else ""
    return f"{found['ratio']:.2f} ({found['low']:.2f}–{found['high']:.2f}) {found['by'].split(' @ ')[0]}{threads}"


def _fresh(result: Mapping[str, Any], part: str) -> str:
    found = [result.get("fresh", {}).get(who) for who in ("ours", "peer")]
    show = duration if part == "first" else lambda size: f"{size / 2**20:.0f} MiB"
    return " / ".join(show(f[part]) for f in found if f)


HEADER = (
    "| place | level | ours | one thread | default | peer / ours (interval) | easier problem | first fit, fresh "
    "| peak memory |\n|---|---|---:|---:|---:|---|---|---:|---:|\n"
)


def table(places: Mapping[str, Any]) -> str:
    """A line for each place and level."""
    text = HEADER
    for name, result in places.items():
        for level, found in result["levels"].items():
            last = level == list(result["levels"])[-1]
            cells = (
                name,
                level,
                duration(found["ours"]) if found["ours"] else "–",
                duration(found["one_thread"]) if found["one_thread"] else "",
                duration(result["default"]) if result["default"] and last else "",
                _cell(found["peer"]) or "no peer gets there",
                _cell(found["easier"]),
                _fresh(result, "first") if last else "",
                _fresh(result, "peak") if last else "",
            )
            text += "| " + " | ".join(cells) + " |\n"
    return text


def losses(result: Mapping[str, Any]) -> str:
    """The levels at which the whole interval of the ratio lies below one."""
    peers = {level: found["peer"] for level, found in result["levels"].items() if found["peer"]}
    return ", ".join(f"{peer['ratio']:.2f} to {level}" for level, peer in peers.items() if peer["high"] < 1)


def summary(places: Mapping[str, Any]) -> str:
    """The whole in a few sentences, the losses by name."""
    means = ", ".join(f"{geometric_mean(places, level):.2f} to {level}" for level in LEVELS)
    lost = [f"{name} ({words})" for name, result in places.items() if (words := losses(result))]
    busy = max((result["foreign"] for result in places.values()), default=0.0)
    text = f"{len(places)} places of {len(PLACES)} measured. Geometric mean of the ratios: {means}. "
    text += f"Slower than the fastest peer at {len(lost)}: {'; '.join(lost)}. " if lost else "Nowhere slower. "
    busy_clock = sum(result.get("clock") == "processor" for result in places.values())
    text += f"{busy_clock} were measured in processor seconds of one thread, on a busy machine. " if busy_clock else ""
    return text + f"Other processes took up to {100 * busy:.0f} % of the machine meanwhile.\n"


def publish(results: Path, folder: Path) -> None:
    """Write ``speed_map.svg`` and ``speed_places.md``."""
    known = json.loads(results.read_text())
    places, machine = {k: v for k, v in known["places"].items() if "levels" in v}, known["machine"]
    where = f"{machine['processor']}, {machine['threads']} cores, Python {machine['python']}, {machine['date']}"
    text = f"# Speed, place by place\n\n{summary(places)}\n{where}. [How it is measured](speed.md).\n\n{table(places)}"
    (folder / "speed_places.md").write_text(text)
    draw(places, folder / "speed_map.svg")
