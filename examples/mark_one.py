"""The Mark I perceptron at work: a 20 × 20 retina, random wiring, and a machine that learns the alphabet.

    python examples/mark_one.py                 # prints accuracies, writes mark_one.png
    python examples/mark_one.py --units 2000 --noise 0.05 --picture ""

Letters are drawn with a pen on a retina of 400 photocells, each at a random place, with some cells flipped.  A patch
board joins every association unit to a few photocells chosen at random, half of the joints exciting, half inhibiting;
a unit fires where their sum reaches a threshold.  Only the weights from these units to the 26 responses are learned,
by the perceptron rule: one response against the rest for each letter, and the strongest answers.  (Bishop 4.1.7,
figure 4.8; the machine of 1958 had 512 association units and 8 responses, and motors turned its weights.)
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import discriminant
from discriminant.bases import Wiring

Letters = tuple[np.ndarray, np.ndarray]  # retinas (n, 400) and the letters on them (n,)
SIDE = 20  # photocells along an edge of the retina
PEN = 0.85  # half the width of a stroke, in cells
CELL = (2.6, 2.3)  # photocells between neighbouring points of the drawing grid, across and up

# One pen drawing per letter on a grid of columns a … e and heights 0 … 6: lines through points, a gap lifts the pen.
ALPHABET = {
    "A": "a0c6e0 b2d2",
    "B": "a0a6c6d5d4c3a3 c3e2e1d0a0",
    "C": "e5d6b6a5a1b0d0e1",
    "D": "a0a6c6e4e2c0a0",
    "E": "e6a6a0e0 a3d3",
    "F": "e6a6a0 a3d3",
    "G": "e5d6b6a5a1b0d0e1e3c3",
    "H": "a0a6 e0e6 a3e3",
    "I": "b0d0 c0c6 b6d6",
    "J": "c6e6 d6d1c0b0a1",
    "K": "a0a6 e6a2 b3e0",
    "L": "a6a0e0",
    "M": "a0a6c3e6e0",
    "N": "a0a6e0e6",
    "O": "b0a1a5b6d6e5e1d0b0",
    "P": "a0a6d6e5e4d3a3",
    "Q": "b0a1a5b6d6e5e1d0b0 c2e0",
    "R": "a0a6d6e5e4d3a3 c3e0",
    "S": "e5d6b6a5a4b3d3e2e1d0b0a1",
    "T": "a6e6 c6c0",
    "U": "a6a1b0d0e1e6",
    "V": "a6c0e6",
    "W": "a6b0c4d0e6",
    "X": "a0e6 a6e0",
    "Y": "a6c3e6 c3c0",
    "Z": "a6e6a0e0",
}


def draw(letter: str, right: float = 0.0, up: float = 0.0) -> np.ndarray:
    """The retina (400 cells of 0 and 1, row by row) that sees a letter: cells within the pen's width of a stroke."""
    strokes = []
    for line in ALPHABET[letter].split():
        points = [("abcde".index(line[i]), int(line[i + 1])) for i in range(0, len(line), 2)]
        strokes += list(itertools.pairwise(points))
    start, end = np.moveaxis((np.array(strokes, dtype=float) - [2, 3]) * CELL + [right, up], 1, 0)
    axis = np.arange(SIDE) - (SIDE - 1) / 2
    cells = np.stack(np.meshgrid(axis, -axis), axis=-1).reshape(-1, 1, 2)
    along = end - start
    share = np.clip(((cells - start) * along).sum(axis=-1) / (along**2).sum(axis=-1), 0, 1)
    distance = np.linalg.norm(cells - start - share[..., None] * along, axis=-1)
    return (distance.min(axis=1) <= PEN).astype(float)


def show_letters(copies: int, noise: float, reach: int, rng: np.random.Generator) -> Letters:
    """Every letter ``copies`` times, moved by up to ``reach`` cells each way, with a share of cells flipped."""
    letters = np.repeat(list(ALPHABET), copies)
    places = rng.integers(-reach, reach + 1, size=(len(letters), 2))
    pen = cache(draw)  # the same letter at the same place is drawn once
    retinas = np.array([pen(str(letter), int(i), int(j)) for letter, (i, j) in zip(letters, places, strict=True)])
    return np.abs(retinas - (rng.random(retinas.shape) < noise)), letters


@dataclass(frozen=True)
class Machine:
    """The wired and trained machine, and how it got there."""

    wiring: Wiring
    responses: discriminant.Perceptron  # one output per letter
    curve: np.ndarray  # (passes, 2): share of letters told right after each pass, of those shown and of new ones

    def answer(self, retinas: np.ndarray) -> np.ndarray:
        return np.asarray(self.responses.predict(self.wiring.transform(retinas)))


def train(shown: Letters, new: Letters, args: argparse.Namespace) -> Machine:
    """Solder the wiring once; then let the perceptron rule pass over the letters until no response is wrong."""
    wiring = Wiring(args.units, connections=args.connections, threshold=args.threshold, random_state=args.seed)
    units = [wiring.fit_transform(shown[0]), wiring.transform(new[0])]
    alphabet, curve = np.array(list(ALPHABET)), []

    def watch(step: Any) -> None:
        answers = [alphabet[(fires @ step.weights[1:] + step.weights[0]).argmax(axis=1)] for fires in units]
        curve.append([np.mean(answers[0] == shown[1]), np.mean(answers[1] == new[1])])

    rule = discriminant.Perceptron(shuffle=False, tol=None, max_iter=args.passes, callback=watch)
    return Machine(wiring, rule.fit(units[0], shown[1]), np.array(curve))


def theorem(responses: discriminant.Perceptron) -> str:
    """How many corrections it took, and how many the convergence theorem allows."""
    made = f"{int(responses.corrections_.sum())} corrections in {responses.n_iter_} passes"
    if not responses.separated_:
        return f"{made}; some response is still wrong"
    if responses.mistake_bounds_ is None:
        return f"{made}, then no response was wrong"
    allowed = sum(bound.bound for bound in responses.mistake_bounds_)
    return f"{made}, then no response was wrong; the theorem allows {allowed:.0f}, the sum of (R/γ)²"


def confusions(answers: np.ndarray, letters: np.ndarray, most: int = 5) -> str:
    """The commonest mistakes: "E as F (7), …"."""
    wrong = answers != letters
    pairs, counts = np.unique(np.stack([letters[wrong], answers[wrong]]), axis=1, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:most]
    return ", ".join(f"{pairs[0, i]} as {pairs[1, i]} ({counts[i]})" for i in order) or "none"


def main(argv: Sequence[str] | None = None) -> float:
    """Show, train, test, draw; hands back the share of new letters told right."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--units", type=int, default=512, help="association units")
    parser.add_argument("--connections", type=int, default=6, help="photocells wired to each unit")
    parser.add_argument("--threshold", type=float, default=1.0, help="sum at which a unit fires")
    parser.add_argument("--copies", type=int, default=200, help="examples of each letter to learn from")
    parser.add_argument("--passes", type=int, default=100, help="passes over them at most")
    parser.add_argument("--noise", type=float, default=0.02, help="share of photocells flipped")
    parser.add_argument("--reach", type=int, default=2, help="largest shift of a letter, in cells")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--picture", default="mark_one.png", help="where to write the picture; empty for none")
    args = parser.parse_args(argv)
    began, rng = time.perf_counter(), np.random.default_rng(args.seed)
    shown = show_letters(args.copies, args.noise, args.reach, rng)
    new = show_letters(max(args.copies // 4, 1), args.noise, args.reach, rng)
    order = rng.permutation(len(shown[1]))  # the rule goes round in this order
    machine = train((shown[0][order], shown[1][order]), new, args)
    told, accuracy = machine.curve[-1]
    print(f"{len(shown[1])} letters shown, {len(new[1])} new ones asked;", end=" ")
    print(f"shifts up to {args.reach} cells, {args.noise:.0%} of the cells flipped")
    print(f"{args.units} association units with {args.connections} joints each: {theorem(machine.responses)}")
    print(f"told right: {told:.1%} of those shown, {accuracy:.1%} of new ones (chance {1 / 26:.1%})")
    print(f"commonest mistakes: {confusions(machine.answer(new[0]), new[1])}")
    if args.picture:
        from mark_one_picture import picture

        picture(machine, *new).savefig(args.picture, dpi=110)
        print(f"picture: {Path(args.picture).resolve()}")
    print(f"{time.perf_counter() - began:.1f} s")
    return float(accuracy)


if __name__ == "__main__":
    main()
