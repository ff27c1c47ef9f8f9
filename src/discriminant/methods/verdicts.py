"""What can be said of rows that an error-correcting procedure has not separated: whether anything could.

Each output of the coding is a two-class question of its own; Kesler's construction asks one question about all classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.criteria import Quadratic, Relaxation
from discriminant.data.rows import DenseRows, FrameRows
from discriminant.errors import names
from discriminant.inference.separability import OVERLAPPING, SEPARABLE, Separability, separability
from discriminant.objective import PointwiseObjective
from discriminant.protocols import Array
from discriminant.thresholds import VERDICT_VALUES

MOST_OUTPUTS = 3
STEPS = 8  # of the quick proof
LEAST_EIGENVALUE, MOST_PROVED_VALUES = 1e-8, 1_000_000
ROWS_PER_COLUMN = 20  # of the rows that are tried first for a quick proof: rows that overlap make all rows overlap


@dataclass(frozen=True)
class Overlap:
    """The verdict of the quick proof, which is all that is said of the rows."""

    verdict: str = OVERLAPPING

    def __bool__(self) -> bool:
        return False


def worst_outputs(objective: PointwiseObjective, A: Array) -> list[int]:
    """The outputs with the most rows on the wrong side, a few at most: what is true of them is said, not of all."""
    if objective.criterion.coupled:
        return [0]
    wrong = objective.sides(A)[0]
    order = np.argsort(-wrong, kind="stable")[:MOST_OUTPUTS]
    return sorted(int(j) for j in order if wrong[j])


def verdicts(classes: Array, objective: PointwiseObjective, outputs: Any = None) -> list[Separability | Overlap] | None:
    """Separability of the rows of each output (or of ``outputs``); None where there are too many values to ask."""
    blocks, coding = objective.blocks, objective.coding
    n, d = blocks.rows.shape
    count = range(objective.n_outputs) if outputs is None else outputs
    if (
        coding is None
        or blocks.elsewhere
        or n * d * (1 if objective.criterion.coupled else len(count)) > VERDICT_VALUES
    ):
        return None
    source, intercept = blocks.rows, objective.intercept
    codes, heavy = np.asarray(blocks.target), blocks.weight
    seen = None if heavy is None or (heavy > 0).all() else heavy > 0
    if objective.criterion.coupled:
        X, y = _part(source, codes, seen)
        return [separability(X, classes[y], fit_intercept=intercept, hyperplane="any")]
    answers: list[Separability | Overlap] = []
    for j in count:
        sides, cared = coding.signs[:, j][codes], coding.care[:, j][codes] > 0
        part = cared if seen is None else cared & seen
        X, y = _part(source, (sides > 0).astype(np.int64), None if part.all() else part)
        if intercept and _overlap_shown(X, y):
            answers.append(Overlap())
        else:
            answers.append(separability(X, y, fit_intercept=intercept, hyperplane="any"))
    return answers


def _overlap_shown(X: Any, y: Array) -> bool:
    """Whether some rows of a dense X, evenly spread, are quickly shown to overlap."""
    X = X.X if isinstance(X, DenseRows) else X
    if not isinstance(X, np.ndarray):
        return False
    count = min(len(y), ROWS_PER_COLUMN * (1 + X.shape[1]))
    some = np.linspace(0, len(y) - 1, count).astype(np.intp)
    rows = X[some].astype(np.float64)
    with np.errstate(invalid="ignore"):
        if not np.array_equal(rows.astype(X.dtype), X[some]):  # a proof is for the rows, not for what they round to
            return False
    Z = np.column_stack([np.ones(count), rows])
    return rows_overlap(Z * (2.0 * y[some] - 1)[:, None])


def rows_overlap(Z: Array) -> bool:
    """Whether the rows of Z, t_i (1, x_i), are shown to overlap; False: not shown.

        λ > 0,  Σ λ_i z_i = 0,  z_i of full rank    ⇒    no weights but a = 0 have a·z_i ≥ 0 for all i

    (Gordan, Stiemke).  The slopes of the logistic loss are such λ at its minimum, and before that the linear model of
    the slopes that a Newton step rests on, λ' = λ − λ(1 − λ) Z Δ, has Zᵗλ' = 0 whatever the step: the first step that
    leaves λ' positive is the proof, for rows with much noise the very first, from a = 0.  In floats, rounding counted.

    >>> rows_overlap(np.array([[-1.0, 0.0], [-1.0, -2.0], [1.0, 1.0], [1.0, 3.0]]))
    True
    >>> rows_overlap(np.array([[-1.0, 0.0], [-1.0, -1.0], [1.0, 2.0], [1.0, 3.0]]))
    False
    """
    m, D = Z.shape
    length = np.sqrt(np.einsum("ij,ij->j", Z, Z))
    if m <= D or m * D > MOST_PROVED_VALUES or not (length > 1e-100).all() or not np.isfinite(length).all():
        return False
    Z = Z / length
    gram = Z.T @ Z
    # A column of length one has Σ|z| ≤ √m, so that a sum of m products with λ' ≤ 1 is rounded by at most m√m ε, and the
    # columns themselves by as much: Zᵗλ' is known to this length.
    rounding = 2 * np.sqrt(D) * m**1.5 * np.finfo(float).eps
    try:
        np.linalg.cholesky(gram - 2 * LEAST_EIGENVALUE * np.eye(D))
        a = np.zeros(D)
        for _ in range(STEPS):
            z = Z @ a
            share = 1 / (1 + np.exp(np.minimum(z, 100.0)))
            weight = share * (1 - share)
            step = np.linalg.solve((Z * weight[:, None]).T @ Z if a.any() else gram / 4, share @ Z)
            found = share - weight * (Z @ step)
            # λ'' = λ' − Z(ZᵗZ)⁻¹Zᵗλ' is balanced without rounding, and within ‖Zᵗλ'‖/√(least eigenvalue) of λ'.
            off = np.linalg.norm(found @ Z) + rounding * found.max()
            if found.min() > off / np.sqrt(LEAST_EIGENVALUE):
                return True
            a = a + step
            if (Z @ a).min() > 0:  # separated
                return False
    except np.linalg.LinAlgError:
        return False
    return False


def _part(source: Any, labels: Array, part: Array | None) -> tuple[Any, Array]:
    if part is None and not isinstance(source, FrameRows):
        return source, labels
    keep = np.arange(len(labels)) if part is None else np.flatnonzero(part)
    return source.pick(keep).raw, labels[keep]


def sentence(
    classes: Array, objective: PointwiseObjective, answers: list[Separability | Overlap] | None, outputs: list[int]
) -> str:
    """What follows from the verdicts on ``outputs`` for rows that were not separated."""
    if answers is None:
        return "Whether they can be separated at all, discriminant.separability(X, y) tells."
    one = objective.n_outputs == 1 or objective.criterion.coupled
    asked = [] if one else [_output(classes, objective, j) for j in outputs]
    if all(answers):
        what = "They" if one else f"The outputs with the most errors ({names_of(asked)})"
        separated = f"{what} can be separated (discriminant.separability proves it)"
        base = objective.criterion.single
        if isinstance(base, Quadratic | Relaxation) and base.margin == 0:
            return (
                f"{separated}, but steps on this criterion come to the edge of the solution region, a·y = 0, from "
                "outside, and none need cross it: with margin > 0 they end inside."
            )
        return f"{separated}: more passes would get there."
    if one:
        return f"They cannot be separated by any hyperplane: they are {answers[0].verdict}."
    inseparable = [text for text, answer in zip(asked, answers, strict=True) if answer.verdict != SEPARABLE]
    return f"They cannot be separated: no hyperplane separates {names_of(inseparable)}."


def with_verdicts(
    classes: Array, objective: PointwiseObjective, A: Array | None, status: str
) -> tuple[str, str, str | None]:
    """(the status without the advice to ask, what follows from the verdicts, the worst of these) of rows at A.

    None in the place of A: nothing is asked.
    """
    outputs = [] if A is None else worst_outputs(objective, A)
    answers = verdicts(classes, objective, outputs) if outputs else None
    worst = None if answers is None else next((answer.verdict for answer in answers if not answer), SEPARABLE)
    return status.split(" Whether the")[0], sentence(classes, objective, answers, outputs), worst


def _output(classes: Array, objective: PointwiseObjective, j: int) -> str:
    assert objective.coding is not None
    signs, labels = objective.coding.signs[:, j], classes.tolist()
    high = [labels[k] for k in np.flatnonzero(signs > 0)]
    low = [labels[k] for k in np.flatnonzero(signs < 0)]
    rest = len(high) == 1 and len(high) + len(low) == len(labels) and len(labels) > 2
    return f"{names(high)} from {'the rest' if rest else names(low)}"


def names_of(texts: list[str], most: int = 4) -> str:
    """A readable list without quotation marks."""
    shown, rest = texts[:most], len(texts) - most
    return ", nor ".join(shown) + (f", nor {rest} more" if rest > 0 else "")
