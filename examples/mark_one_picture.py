"""The picture of ``mark_one.py``: retina, wiring, weights and learning, from a trained machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap, ListedColormap, to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

SIDE = 20
UNITS_SHOWN = 14
INK, PAPER, GREY, QUIET = "#1d2733", "#fbfaf7", "#5a6572", "#c9ccd1"
EXCITE, INHIBIT = "#c8452f", "#2f6db5"
UNITS_AT, RESPONSES_AT, ZERO_AT, BAR = 28.0, 46.6, 58.5, 9.5  # across the second panel, in photocells


def picture(machine: Any, retinas: np.ndarray, letters: np.ndarray) -> Figure:
    """One page: what the retina sees, how one letter runs through the machine, what was learned, and how fast."""
    figure = Figure(figsize=(14, 11.7), facecolor=PAPER)
    rows = figure.add_gridspec(
        3, 1, height_ratios=[1.95, 4.3, 3.3], left=0.03, right=0.985, top=0.915, bottom=0.05, hspace=0.15
    )
    figure.suptitle(
        "The Mark I perceptron learns the alphabet", x=0.03, y=0.98, ha="left", fontsize=19, color=INK, weight="bold"
    )
    _retinas(figure.add_subplot(rows[0], anchor="NW"), retinas, letters)
    _signal(figure.add_subplot(rows[1], anchor="NW"), machine, _example(machine, retinas, letters))
    bottom = rows[2].subgridspec(1, 2, width_ratios=[2.15, 1], wspace=0.12)
    _weights(figure.add_subplot(bottom[0], anchor="NW"), machine)
    _curve(figure.add_subplot(bottom[1]), machine.curve)
    return figure


def _title(axes: Any, text: str, note: str = "") -> None:
    axes.set_title(text, loc="left", fontsize=12.5, color=INK, weight="bold", pad=7)
    axes.set_title(note, loc="right", fontsize=10, color=GREY, pad=7)


def _tiles(images: list[np.ndarray], columns: int, gap: int = 2) -> np.ndarray:
    """Images side by side in rows, with NaN between them."""
    step = SIDE + gap
    sheet = np.full((-(-len(images) // columns) * step - gap, columns * step - gap), np.nan)
    for k, image in enumerate(images):
        top, left = k // columns * step, k % columns * step
        sheet[top : top + SIDE, left : left + SIDE] = image.reshape(SIDE, SIDE)
    return sheet


def _retinas(axes: Any, retinas: np.ndarray, letters: np.ndarray) -> None:
    images = [retinas[np.flatnonzero(letters == letter)[0]] for letter in np.unique(letters)]
    axes.imshow(_tiles(images, 13), cmap=ListedColormap(["white", INK]), vmin=0, vmax=1)
    axes.axis("off")
    _title(
        axes, "1  The retina: 20 × 20 photocells", "new letters as the machine sees them: shifted, some cells flipped"
    )


def _example(machine: Any, retinas: np.ndarray, letters: np.ndarray, wanted: str = "R") -> np.ndarray:
    """A new letter that the machine tells right, the clearest one."""
    scores = machine.responses.decision_function(machine.wiring.transform(retinas))
    lead = np.diff(np.sort(scores, axis=1)[:, -2:]).ravel()
    right = machine.answer(retinas) == letters
    wished = right & (letters == wanted)
    return retinas[np.where(wished if wished.any() else right, lead, -1).argmax()]


def _signal(axes: Any, machine: Any, retina: np.ndarray) -> None:
    """Retina → wiring → association units → weights → responses, for one letter."""
    axes.axis("off")
    axes.imshow(
        retina.reshape(SIDE, SIDE), cmap=ListedColormap(["white", "#b3bac3"]), vmin=0, vmax=1, extent=(0, SIDE, SIDE, 0)
    )
    axes.set(xlim=(-0.1, 66.5), ylim=(SIDE + 1.4, -0.3))
    axes.add_patch(Rectangle((0, 0), SIDE, SIDE, fill=False, color=INK, lw=1))
    fires = machine.wiring.transform(retina[None])[0]
    shown = _some_units(fires)
    heights = np.linspace(0.7, SIDE - 0.7, len(shown))
    for unit, height in zip(shown, heights, strict=True):
        _joints(axes, machine.wiring.wiring_[:, unit], retina, height)
    lit = [INK if fires[unit] else "white" for unit in shown]
    axes.scatter(np.full(len(shown), UNITS_AT), heights, s=110, c=lit, edgecolors=INK, zorder=4)
    _learned(axes, machine, fires, shown, heights)
    _responses(axes, machine, fires)
    for place, text in ((SIDE / 2, "photocells"), (UNITS_AT, "association units"), (ZERO_AT - 7, "26 responses")):
        axes.text(place, SIDE + 1.1, text, fontsize=9.5, ha="center", va="center", color=GREY)
    note = f"{int(fires.sum())} of {len(fires)} association units fire ({len(shown)} drawn); red excites, blue inhibits"
    _title(axes, "2  The wiring: random joints, then learned weights", note)


def _some_units(fires: np.ndarray) -> np.ndarray:
    """Some units, firing and silent in the proportion of all."""
    firing = round(UNITS_SHOWN * fires.mean())
    return np.sort(np.r_[np.flatnonzero(fires)[:firing], np.flatnonzero(fires == 0)[: UNITS_SHOWN - firing]])


def _joints(axes: Any, wires: np.ndarray, retina: np.ndarray, height: float) -> None:
    """The joints of one unit; those from lit cells in colour."""
    cells = np.flatnonzero(wires)
    at = np.c_[cells % SIDE + 0.5, cells // SIDE + 0.5]
    lit = retina[cells] > 0
    colours = np.where(lit, np.where(wires[cells] > 0, EXCITE, INHIBIT), QUIET)
    lines = [[tuple(point), (UNITS_AT - 0.5, height)] for point in at]
    axes.add_collection(LineCollection(lines, colors=colours, linewidths=np.where(lit, 1.1, 0.35), alpha=0.8, zorder=2))
    axes.scatter(*at.T, s=10, c=colours, zorder=3, lw=0)


def _learned(axes: Any, machine: Any, fires: np.ndarray, shown: np.ndarray, heights: np.ndarray) -> None:
    """The weights from the firing units that are drawn to all responses."""
    coef = machine.responses.coef_
    largest = np.abs(coef[:, shown]).max() or 1.0
    ends = _places(len(coef))
    for unit, height in zip(shown, heights, strict=True):
        strength = fires[unit] * coef[:, unit] / largest
        lines = [[(UNITS_AT + 0.5, height), (RESPONSES_AT, end)] for end in ends]
        colours = [to_rgba(EXCITE if s > 0 else INHIBIT, min(1.0, 0.9 * abs(s))) for s in strength]
        axes.add_collection(LineCollection(lines, colors=colours, linewidths=0.3 + 1.3 * np.abs(strength), zorder=1))


def _places(count: int) -> np.ndarray:
    return np.linspace(0.35, SIDE - 0.35, count)


def _responses(axes: Any, machine: Any, fires: np.ndarray) -> None:
    """The score of each letter as a bar left or right of zero; the largest answers."""
    scores = machine.responses.decision_function(fires[None])[0]
    names, places, best = machine.responses.classes_, _places(len(scores)), int(scores.argmax())
    length = BAR * scores / np.abs(scores).max()
    axes.plot([ZERO_AT, ZERO_AT], [0, SIDE], color=INK, lw=0.8)
    axes.barh(places, length, left=ZERO_AT, height=0.55, color=np.where(length > 0, EXCITE, "#b9c7d8"), zorder=2)
    for k, (name, place) in enumerate(zip(names, places, strict=True)):
        colour, weight = (EXCITE, "bold") if k == best else (INK, "normal")
        axes.text(RESPONSES_AT + 0.7, place, name, fontsize=9, ha="center", va="center", color=colour, weight=weight)
    told = f"answer: {names[best]}"
    axes.text(ZERO_AT + 0.4, places[best] - 0.85, told, fontsize=11, va="center", color=EXCITE, weight="bold")


def _weights(axes: Any, machine: Any) -> None:
    """Σ_k w_k a_k: the weights of each response, carried back through the wiring to the photocells, smoothed."""
    back = machine.wiring.wiring_.astype(float) @ machine.responses.coef_.T
    images = [_smooth(image.reshape(SIDE, SIDE)) for image in back.T]
    colours = LinearSegmentedColormap.from_list("weights", [INHIBIT, "white", EXCITE]).with_extremes(bad=PAPER)
    axes.imshow(_tiles([image / np.abs(image).max() for image in images], 9), cmap=colours, vmin=-1, vmax=1)
    for k, letter in enumerate(machine.responses.classes_):
        axes.text(k % 9 * (SIDE + 2) + 0.3, k // 9 * (SIDE + 2) + 3.4, letter, fontsize=9.5, color=INK, weight="bold")
    axes.axis("off")
    _title(
        axes, "3  The weights, seen from the retina", "carried back through the wiring; each cell with its neighbours"
    )


def _smooth(image: np.ndarray) -> np.ndarray:
    """The mean of each cell and its eight neighbours."""
    padded = np.pad(image, 1, mode="edge")
    return sum(padded[i : i + SIDE, j : j + SIDE] for i in range(3) for j in range(3)) / 9


def _curve(axes: Any, curve: np.ndarray) -> None:
    passes = np.arange(1, len(curve) + 1)
    for share, colour, text, above in ((curve[:, 0], "#8a939e", "shown", 7), (curve[:, 1], EXCITE, "new", -17)):
        axes.plot(passes, 100 * share, color=colour, lw=2)
        axes.annotate(
            f"{text} letters: {share[-1]:.1%}",
            (passes[-1], 100 * share[-1]),
            xytext=(0, above),
            textcoords="offset points",
            ha="right",
            color=colour,
        )
    axes.set(xlabel="passes of the perceptron rule", ylabel="told right, %", facecolor=PAPER)
    axes.set_ylim(min(95, 100 * curve.min() - 2), 102)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, prune="upper"))
    axes.spines[["top", "right"]].set_visible(False)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    _title(axes, "4  Learning")
