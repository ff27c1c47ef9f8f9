"""``discriminant separable``: can a hyperplane tell the classes apart?  The verdict and what proves it."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import numpy as np

from discriminant.cli.console import Console, bold, table
from discriminant.cli.fit import and_more
from discriminant.cli.training import read_training
from discriminant.errors import counted
from discriminant.inference.separability import Separability, Witness, separability
from discriminant.protocols import Array

MOST = 30  # columns whose weights are shown


def run(given: Namespace) -> int:
    """The command."""
    console = Console(given.json, given.quiet)
    training = read_training(given, console)
    rules = training.rules()
    console.note(*rules.notes)
    X = rules.matrix(training.table)[0]
    console.progress("looking for a hyperplane, or for a proof that there is none")
    result = separability(X, training.labels)
    proved = result.check()
    console.done()
    names = rules.feature_names
    console.document(_document(result, proved, names))
    console.show(f"  {bold(result.verdict)}: {verdict_sentence(result)}")
    if result.columns:
        involved = [names[j] if isinstance(j, int | np.integer) else str(j) for j in result.columns]
        shown = ", ".join(involved[:12]) + and_more(involved, 12, ", ")
        console.show(f"  without a finite maximum likelihood estimate: {shown}")
    if result.witness is not None:
        console.show("\n  why no hyperplane separates: these rows, so weighted, balance each other exactly")
        console.show(_witness(result.witness, training.labels))
    elif result.hyperplane is not None:
        two = np.ndim(result.hyperplane) == 1
        lines = np.asarray(result.hyperplane).reshape(len(names) + 1, -1).tolist()
        rows = [[name, *(f"{weight:+.6g}" for weight in line)]
                for name, line in zip(["(intercept)", *names], lines, strict=True)]  # fmt: skip
        side = f"a hyperplane with {result.classes[1]!s} on its positive side"
        console.show(f"\n  {side if two else 'weights under which every row scores highest for its own class'}")
        console.show(table(["column", *(["weight"] if two else map(str, result.classes))], rows[: 1 + MOST]))
        if len(names) > MOST:
            console.show(f"  … and {counted(len(names) - MOST, 'column')} more; --json shows them.")
    console.note(*result.notes)
    console.show(f"\n  checked against every row in exact arithmetic: {'it holds' if proved else 'IT DOES NOT HOLD'}")
    return 0 if proved else 70


def verdict_sentence(result: Separability) -> str:
    """The verdict in words, without numbers of columns."""
    if result.verdict == "separable":
        text = f"every row is on its own side, at least {result.margin:.4g} from the boundary."
        if result.chance > 0.05:
            text += f" As many random labels would be separable with probability {result.chance:.2g}."
        return text
    if result.verdict == "quasi-separable":
        return f"some weights put no row on the wrong side, but leave {len(result.boundary):,} rows on the boundary."
    return "whatever the weights, some row is on the wrong side."


def _witness(witness: Witness, labels: Array) -> str:
    rows = [
        [str(int(row) + 1), str(labels[row]), str(rival), f"{float(weight):.4g}"]
        for row, rival, weight in zip(witness.rows, witness.rivals, witness.weights, strict=True)
    ]
    shown = table(["row", "class", "held against", "weight"], rows[:12])
    return shown + (f"\n  … and {counted(len(rows) - 12, 'row')} more" if len(rows) > 12 else "")


def _document(result: Separability, proved: bool, names: list[str]) -> dict[str, Any]:
    witness = result.witness
    return {
        "verdict": result.verdict, "checked": proved, "margin": result.margin, "features": names,
        "hyperplane": result.hyperplane, "classes": result.classes,
        "columns": [names[j] if isinstance(j, int | np.integer) else str(j) for j in result.columns],
        "witness": None if witness is None else
        {"rows": witness.rows, "weights": [str(weight) for weight in witness.weights], "rivals": witness.rivals},
    }  # fmt: skip
