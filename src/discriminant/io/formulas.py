"""The features of a basis as formulas, which every export can spell: nested tuples (kind, operands …).

    ("x", j)                column j                  ("dot", columns, w, m)   Σ w_j (x_j − m_j)
    ("+", f, g, …)          a sum                     ("square", f), ("sqrt", f), ("exp", f), ("log", f), ("sin", f)
    ("*", f, g, …)          a product                 ("-", f, c), ("/", f, c)       c: a number
    (">", f, c)             1 where f > c, else 0     (">=", f, c)                   NaN stays NaN

``evaluate`` is the reference; ``program`` checks it against the basis itself before anything is written.
Engines add in orders of their own: where a sum of columns lies on its threshold to the last bit, either side may win.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.errors import DataError
from discriminant.protocols import Array

Formula = tuple[Any, ...]
FOLDS: dict[str, Callable[[Array, Array], Array]] = {"+": operator.add, "*": operator.mul}
WITH_A_NUMBER: dict[str, Callable[[Array, float], Array]] = {
    "-": operator.sub,
    "/": operator.truediv,
    ">": lambda f, c: (f > c) + (f - f),
    ">=": lambda f, c: (f >= c) + (f - f),
}
FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "square": np.square, "sqrt": np.sqrt, "exp": np.exp, "log": np.log, "sin": np.sin,
}  # fmt: skip


@dataclass(frozen=True)
class Formulas:
    """Formulas as the basis of a discriminant: what the steps of a pipeline come to."""

    each: tuple[Formula, ...]
    n_features_in_: int

    def transform(self, X: Any) -> Array:
        """φ(X), shape (n, formulas)."""
        X = np.asarray(X, dtype=np.float64)
        return np.column_stack([evaluate(formula, X) for formula in self.each])


def is_basis(step: Any) -> bool:
    """Whether this is a basis of ours, or scikit-learn's PolynomialFeatures; asks without importing it."""
    kind = type(step)
    return kind.__module__.startswith("discriminant.bases.") or (
        kind.__name__ == "PolynomialFeatures" and kind.__module__.startswith("sklearn.")
    )


def formulas(basis: Any, columns: Sequence[int]) -> list[Formula]:
    """The features of a fitted basis on these columns, or a sentence that names the basis that has no formulas."""
    kind, learned = type(basis).__name__, vars(basis)
    if isinstance(basis, Formulas):
        return list(basis.each)
    if not is_basis(basis) or kind == "Functions":
        raise DataError(f"The basis {basis!r} holds functions or a transformer that an export has no formulas for.")
    x: list[Formula] = [("x", int(j)) for j in columns]
    if kind == "Concatenation":
        return [formula for part in learned["parts_"] for formula in formulas(part, columns)]
    if kind == "Columns":
        return formulas(learned["basis_"], [columns[int(j)] for j in learned["indices_"]])
    if kind == "Linear":
        return x
    if kind in ("Polynomial", "PolynomialFeatures"):
        factors = [[x[j] for j in np.repeat(np.arange(len(x)), powers)] for powers in basis.powers_]
        one = ("-", _dot(columns, np.zeros(len(x))), -1.0)  # of scikit-learn's include_bias
        return [one if not each else each[0] if len(each) == 1 else ("*", *each) for each in factors]
    if kind == "LowRankQuadratic":
        return x + [("square", _dot(columns, v, learned["mean_"])) for v in learned["directions_"].T]
    if kind in ("HalfPlane", "Wiring"):
        sign, normals = (">", learned["normals_"]) if kind == "HalfPlane" else (">=", learned["wiring_"].T)
        return [(sign, _dot(columns, a), float(c)) for a, c in zip(normals, learned["thresholds_"], strict=True)]
    if kind in ("Distances", "Radial"):
        centres = learned["centres_"].tolist()
        gaps = [("+", *(("square", ("-", f, m)) for f, m in zip(x, c, strict=True))) for c in centres]
        if kind == "Distances":
            return [("sqrt", gap) for gap in gaps]
        return [("exp", ("/", gap, -2.0 * float(learned["width_"]) ** 2)) for gap in gaps]
    made: list[Formula] = []
    for j, v in zip(learned["source_"].tolist(), learned["value_"].tolist(), strict=True):
        if kind == "Sine":
            made.append(("sin", ("-", _dot([columns[j]], [v]), -float(basis.phase))))
        elif kind == "Gaussian":
            bump = ("square", ("/", ("-", x[j], v), float(learned["width_"][j])))
            made.append(("exp", ("/", bump, -2.0)))
        else:
            made.append(("log", ("-", x[j], -v)) if kind == "Log" else (">", x[j], v))
    return made


def _dot(columns: Sequence[int], weights: Any, center: Any = None) -> Formula:
    """The weighted sum of the columns whose weight is not zero."""
    part = np.flatnonzero(weights) if np.any(weights) else [0]
    m = np.zeros(len(columns)) if center is None else center
    return ("dot", *(tuple(kept) for kept in ([columns[int(j)] for j in part], [float(weights[j]) for j in part],
                                              [float(m[j]) for j in part])))  # fmt: skip


def evaluate(formula: Formula, X: Array) -> Array:
    """The feature of each row of X (n, d)."""
    kind, *operands = formula
    if kind == "x":
        column: Array = X[:, operands[0]]
        return column
    if kind == "dot":
        columns, w, m = map(np.asarray, operands)
        total: Array = (X[:, columns] - m) @ w
        return total
    parts = [evaluate(part, X) for part in operands if isinstance(part, tuple)]
    if kind in FOLDS:
        return functools.reduce(FOLDS[kind], parts)
    return WITH_A_NUMBER[kind](parts[0], operands[1]) if kind in WITH_A_NUMBER else FUNCTIONS[kind](parts[0])


def anchors(formula: Formula, value: float) -> list[tuple[int, float]]:
    """(column, number): about where the feature has this value, or its threshold or centre."""
    kind, *operands = formula
    if kind == "x":
        return [(operands[0], value)]
    if kind == "dot":
        columns, w, m = map(np.asarray, operands)
        return list(zip(columns.tolist(), (m + value * w / ((w @ w) or 1.0)).tolist(), strict=True))
    if kind in FOLDS:
        return [found for part in operands for found in anchors(part, 0.0)] if kind == "+" else []
    c = operands[1] if kind in WITH_A_NUMBER else 0.0
    back = {"-": value + c, "/": value * c, "log": float(np.exp(value)) if kind == "log" else 0.0}
    return anchors(operands[0], back.get(kind, c))


def steady(formula: Formula, X: Array) -> Array:
    """Rows with a finite feature that rounding cannot move: not where a sum is at its threshold."""
    value = evaluate(formula, X)
    if formula[0] not in (">", ">=") or formula[1][0] == "x":
        return np.isfinite(value)
    left, c = evaluate(formula[1], X), formula[2]
    return np.asarray(np.abs(left - c) > 1e-9 * (abs(c) + np.abs(X).max(axis=1)))
