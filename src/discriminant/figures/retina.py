"""The Mark I perceptron as a working simulation: Bishop's figure 4.8.

A retina of 20 × 20 photocells looks at printed characters; a patch board joins each association unit to photocells
chosen at random; the perceptron rule turns the weights from these units to eight responses.
"""

from __future__ import annotations

from types import SimpleNamespace as Data
from typing import Any

import numpy as np

from discriminant.bases import Wiring
from discriminant.estimators.perceptron import Perceptron
from discriminant.figures.drawing import drawn
from discriminant.plots.theme import BLUE, GREY, INK, ORANGE
from discriminant.protocols import Array

SIDE = 20
# Characters of a 5 × 7 printer's matrix, one number of five bits for each line.
CHARACTERS = {
    "A": (14, 17, 17, 31, 17, 17, 17),
    "C": (14, 17, 16, 16, 16, 17, 14),
    "E": (31, 16, 16, 30, 16, 16, 31),
    "H": (17, 17, 17, 31, 17, 17, 17),
    "L": (16, 16, 16, 16, 16, 16, 31),
    "O": (14, 17, 17, 17, 17, 17, 14),
    "T": (31, 4, 4, 4, 4, 4, 4),
    "X": (17, 17, 10, 4, 10, 17, 17),
}


def see(character: str, right: int = 0, down: int = 0) -> Array:
    """The 400 photocells, 0 or 1, that see a character printed two cells to a dot, moved from the middle."""
    dots = np.array([[line >> (4 - j) & 1 for j in range(5)] for line in CHARACTERS[character]], dtype=np.float64)
    scene = np.zeros((SIDE, SIDE))
    top, left = 3 + down, 5 + right
    scene[top : top + 14, left : left + 10] = np.kron(dots, np.ones((2, 2)))
    return scene.ravel()


def show(copies: int, rng: np.random.Generator, noise: float = 0.02, most: int = 2) -> tuple[Array, Array]:
    """Every character ``copies`` times, moved by up to ``most`` cells, with a share of the cells flipped; shuffled."""
    labels = rng.permutation(np.repeat(list(CHARACTERS), copies))
    moves = rng.integers(-most, most + 1, (len(labels), 2))
    scenes = np.array([see(str(c), int(i), int(j)) for c, (i, j) in zip(labels, moves, strict=True)])
    return np.abs(scenes - (rng.random(scenes.shape) < noise)), labels


def mark_one_data() -> Data:
    """Three machines that differ in nothing but their random wiring; the first is drawn, over new scenes."""
    rng = np.random.default_rng(1958)
    (shown, characters), (new, truth) = show(60, rng), show(15, rng)
    machines = [_train(seed, shown, characters, new, truth) for seed in (0, 1, 2)]
    wiring, responses, curve = machines[0]
    answers = responses.predict(wiring.transform(new))
    accuracies = np.array([curve_[-1, 1] for *_, curve_ in machines])
    untaught = float((truth == responses.classes_[0]).mean())  # all weights zero: every answer is the first response
    return Data(
        scenes=new, labels=truth, answers=answers, wiring=wiring, responses=responses, curve=curve,
        accuracies=accuracies, before=untaught,
    )  # fmt: skip


def _train(seed: int, shown: Array, characters: Array, new: Array, truth: Array) -> tuple[Any, Any, Array]:
    wiring: Any = Wiring(512, connections=8, random_state=seed)
    fires, fires_new = wiring.fit_transform(shown), wiring.transform(new)
    classes, curve = np.unique(characters), []

    def watch(step: Any) -> None:
        said = [classes[(units @ step.weights[1:] + step.weights[0]).argmax(axis=1)] for units in (fires, fires_new)]
        curve.append([np.mean(said[0] == characters), np.mean(said[1] == truth)])

    rule = Perceptron(shuffle=False, tol=None, max_iter=60, callback=watch).fit(fires, characters)
    return wiring, rule, np.array(curve)


@drawn(2, 4, (12.6, 6.4))
def mark_one(data: Data, *axes: Any) -> None:
    chosen = [int(np.flatnonzero((data.labels == c) & (data.answers == c))[0]) for c in ("A", "E", "X")]
    for ax, row in zip(axes, chosen, strict=False):
        ax.imshow(data.scenes[row].reshape(SIDE, SIDE), cmap="Greys", vmin=0, vmax=1.15)
        _bare(ax, f"retina: the machine says {data.answers[row]!s}")
    _wires(axes[3], data)
    weights = data.responses.coef_ @ data.wiring.wiring_.T.astype(np.float64)
    pictures = {c: weights[data.responses.classes_.tolist().index(c)].reshape(SIDE, SIDE) for c in ("A", "E", "X")}
    size = max(np.abs(picture).max() for picture in pictures.values())
    for ax, (character, picture) in zip(axes[4:], pictures.items(), strict=False):
        shown = ax.imshow(picture, cmap="RdBu", vmin=-size, vmax=size)
        _bare(ax, f"what speaks for {character}")
    scale = axes[6].inset_axes((1.04, 0.0, 0.05, 1.0))
    scale.figure.colorbar(shown, cax=scale)
    scale.set_title("weight", fontsize=9)
    ax = axes[7]
    passes = np.arange(1, len(data.curve) + 1)
    ax.plot(passes, data.curve[:, 0], color=BLUE, marker="o", markersize=3, label="shown")
    ax.plot(passes, data.curve[:, 1], color=ORANGE, marker="s", markersize=3, label="new")
    ax.axhline(1 / len(CHARACTERS), color=GREY, linestyle=":", label="chance")
    ax.set(ylim=(0, 1.03), xlabel="passes", ylabel="accuracy")
    ax.set_title(f"accuracy on new ones: {data.curve[-1, 1]:.0%}")
    ax.legend(loc="center right")


def _bare(ax: Any, title: str) -> None:
    ax.set(xticks=[], yticks=[])
    ax.set_title(title, fontsize=10)
    for side in ax.spines.values():
        side.set_visible(True)


def _wires(ax: Any, data: Data) -> None:
    """Six association units of the patch board with their photocells: blue excites, orange inhibits."""
    units = range(6)
    for k in units:
        column = data.wiring.wiring_[:, k]
        for cell in np.flatnonzero(column):
            i, j = divmod(int(cell), SIDE)
            ax.plot([j, 27], [i, 2 + 3.1 * k], color=BLUE if column[cell] > 0 else ORANGE, linewidth=0.6, alpha=0.8)
            ax.plot(j, i, "s", color=BLUE if column[cell] > 0 else ORANGE, markersize=3)
    ax.plot([27] * len(units), [2 + 3.1 * k for k in units], "o", color=INK, markersize=7)
    ax.plot([-0.5, 19.5, 19.5, -0.5, -0.5], [-0.5, -0.5, 19.5, 19.5, -0.5], color=GREY, linewidth=0.8)
    ax.invert_yaxis()
    ax.set_aspect("equal")
    _bare(ax, "patch board: 6 of 512 units")
    for side in ax.spines.values():
        side.set_visible(False)
    for shade, text in ((BLUE, "excites"), (ORANGE, "inhibits")):
        ax.plot([], [], "s-", color=shade, markersize=3, linewidth=0.8, label=text)
    ax.plot([], [], "o", color=INK, markersize=7, label="unit")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=3)
