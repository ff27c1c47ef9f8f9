"""What can be said of rows that an error-correcting procedure has not separated: whether anything could.

Each output of the coding is a two-class question of its own; Kesler's construction asks one question about all classes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discriminant.arrays import as_dense, is_sparse
from discriminant.criteria import Quadratic, Relaxation
from discriminant.data.rows import DenseRows, FrameRows, SparseRows
from discriminant.errors import names
from discriminant.inference.separability import OVERLAPPING, SEPARABLE, Separability, separability
from discriminant.objective import PointwiseObjective
from discriminant.protocols import Array
from discriminant.thresholds import EXACT_VALUES, PROOF_VALUES, VERDICT_VALUES

MOST_OUTPUTS = 3
STEPS = 20  # of the proof in floats
LEAST_EIGENVALUE = 1e-8
# Of the rows that are tried first, few before many: rows that overlap make all rows overlap.  At 10,000×100 that is
# shown by 8 rows a column in 1.5 ms, where 20 take 4.2.
ROWS_PER_COLUMN = (8, 20)


def worst_outputs(objective: PointwiseObjective, A: Array) -> list[int]:
    """The outputs with the most rows on the wrong side, a few at most: what is true of them is said, not of all."""
    if objective.criterion.coupled or objective.n_outputs == 1:
        return [0]
    wrong = objective.sides(A)[0]
    order = np.argsort(-wrong, kind="stable")[:MOST_OUTPUTS]
    return sorted(int(j) for j in order if wrong[j])


def separations(classes: Array, objective: PointwiseObjective) -> list[Separability] | None:
    """Separability of the rows of each output, exactly; None where there are too many values to ask."""
    blocks = objective.blocks
    count = 1 if objective.criterion.coupled else objective.n_outputs
    if objective.coding is None or blocks.elsewhere or np.prod(blocks.rows.shape, dtype=float) * count > VERDICT_VALUES:
        return None
    questions = (_question(objective, j) for j in range(count))
    return [separability(X, classes[y], fit_intercept=objective.intercept, hyperplane="any") for X, y in questions]


def _question(objective: PointwiseObjective, j: int) -> tuple[Any, Array]:
    """The rows that output j is asked about, and their labels."""
    blocks, coding = objective.blocks, objective.coding
    assert coding is not None
    codes, weight = np.asarray(blocks.target), blocks.weight
    part = np.ones(len(codes), dtype=bool) if weight is None else weight > 0
    if not objective.criterion.coupled:
        part = part & (coding.care[:, j][codes] > 0)
        codes = (coding.signs[:, j][codes] > 0).astype(np.int64)
    return _part(blocks.rows, codes, None if part.all() else part)


def verdict_of(objective: PointwiseObjective, j: int) -> str | None:
    """Whether the rows of output j can be separated: a proof in floats, exact where it fails and rows are few.

    None: not known, since it would cost more than the fit.
    """
    blocks, others = objective.blocks, objective.n_outputs - 1 if objective.criterion.coupled else 1
    n, D = blocks.n_rows, objective.n_parameters
    values = n * D * others**2
    if objective.coding is None or blocks.elsewhere or values > VERDICT_VALUES:
        return None
    X, y = _question(objective, j)
    X, found = X.X if isinstance(X, DenseRows | SparseRows) else X, None
    if isinstance(X, np.ndarray) or is_sparse(X):
        # Evenly spread rows first, where that is a saving: what they show of overlap is true of all.
        for count in (each * D * others for each in ROWS_PER_COLUMN):
            if found != OVERLAPPING and 2 * count < n and count * D * others**2 <= PROOF_VALUES:
                some = np.linspace(0, len(y) - 1, count).astype(np.intp)
                found = _proved(X[some], y[some], objective.intercept, 1 + others)
        if found != OVERLAPPING:
            found = _proved(X, y, objective.intercept, 1 + others) if values <= PROOF_VALUES else None
    if found is None and values <= EXACT_VALUES:
        found = separability(X, y, fit_intercept=objective.intercept, hyperplane="any").verdict
    return found


def _proved(X: Any, y: Array, intercept: bool, K: int) -> str | None:
    Y = _as_floats(X, intercept)
    return None if Y is None else rows_verdict(_signed_rows(Y, y, K))


def _as_floats(X: Any, intercept: bool) -> Array | None:
    """Y = (1, x), or x alone; None where floats would be rounded: a proof is for the rows themselves."""
    raw = X.data if is_sparse(X) else X
    with np.errstate(invalid="ignore"):
        if raw.dtype != np.float64 and not np.array_equal(raw.astype(np.float64).astype(raw.dtype), raw):
            return None
    rows = as_dense(X)
    Y = np.ones((len(rows), intercept + rows.shape[1]))
    Y[:, intercept:] = rows
    return Y


def _signed_rows(Y: Array, y: Array, K: int) -> Array:
    """Kesler's rows, +y_i at the class of row i and −y_i at another; the last class's weights are zero."""
    if K == 2:
        return Y * (1.0 - 2.0 * y)[:, None]
    n, D = Y.shape
    Z = np.zeros((n, K, K, D))  # a row for each other class
    each = np.arange(n)
    Z[each[:, None], np.arange(K), np.arange(K)] = -Y[:, None]
    Z[each, :, y] += Y[:, None]
    other = np.arange(K) != y[:, None]
    return np.asarray(Z.reshape(n, K, K * D)[other][:, : (K - 1) * D])


def rows_verdict(Z: Array) -> str | None:
    """Whether a·z_i > 0 for all rows z_i = t_i (1, x_i) of Z is possible; None: not shown.

    Newton's steps on ½ Σ max(0, 1 − a·z_i)², each the least squares a of the rows S that were inside the margin:

        a·z_i > 0 for all i                                               ⇒    separable
        α_i = 1 − a·z_i > 0 in S,  Σ_S α_i z_i = 0,  S of full rank       ⇒    overlapping (Gordan, Stiemke):
                                                            no weights but a = 0 have a·z_i ≥ 0 for all i

    Least squares makes Σ_S α_i z_i zero.  In floats, rounding counted.

    >>> rows_verdict(np.array([[-1.0, 0.0], [-1.0, -2.0], [1.0, 1.0], [1.0, 3.0]]))
    'overlapping'
    >>> rows_verdict(np.array([[-1.0, 0.0], [-1.0, -1.0], [1.0, 2.0], [1.0, 3.0]]))
    'separable'
    """
    m, D = Z.shape
    length = np.sqrt(np.einsum("ij,ij->j", Z, Z))
    if not (length > 1e-100).all() or not np.isfinite(length).all():
        return None
    Z = Z / length
    # A column of length one has Σ|z| ≤ √m, so that a sum of m products with α ≤ 1 is rounded by at most m√m ε, and the
    # columns themselves by as much: Zᵗα is known to this length.
    eps = np.finfo(float).eps
    rounding, longest = 2 * np.sqrt(D) * m**1.5 * eps, np.sqrt(np.einsum("ij,ij->i", Z, Z).max())
    a, z, eye = np.zeros(D), np.zeros(m), np.eye(D)
    S, H = np.ones(m, dtype=bool), Z.T @ Z
    for _ in range(STEPS):
        inside = z < 1 - 1e-9
        changed = np.flatnonzero(inside != S)
        if len(changed):  # SᵗS by the rows that came and went: rounding of STEPS m D ε ≤ 5e-9 is below the eigenvalue
            rows = Z[changed]
            H = H + (rows * np.where(inside[changed], 1.0, -1.0)[:, None]).T @ rows
        S = inside
        regular = np.count_nonzero(S) > D and _positive(H - 2 * LEAST_EIGENVALUE * eye)
        aim = np.linalg.solve(H if regular else H + 1e-10 * eye, S.astype(float) @ Z)
        ahead = Z @ aim
        if regular:
            alpha = np.where(S, 1 - ahead, 0)
            # α − S(SᵗS)⁻¹Sᵗα is balanced without rounding, and within ‖Sᵗα‖/√(least eigenvalue) of α.
            off = np.linalg.norm(alpha @ Z) + rounding * np.abs(alpha).max()
            if alpha[S].min() > off / np.sqrt(LEAST_EIGENVALUE):
                return OVERLAPPING
        step = ahead - z
        t = _shorter(z, step)
        if t == 0:
            return None
        a, z = a + t * (aim - a), z + t * step
        sure = 4 * (D + 2) * eps * longest * float(np.linalg.norm(a))
        if z.min() > sure and (Z @ a).min() > sure:
            return SEPARABLE
    return None


def _positive(H: Array) -> bool:
    try:
        np.linalg.cholesky(H)
    except np.linalg.LinAlgError:
        return False
    return True


def _shorter(z: Array, step: Array) -> float:
    """The first of 1, ½, ¼ … of the step at which Σ max(0, 1 − z)² is less; 0: none."""
    before, t = float(np.square(np.maximum(1 - z, 0)).sum()), 1.0
    while t > 1e-4:
        if float(np.square(np.maximum(1 - z - t * step, 0)).sum()) < before:
            return t
        t /= 2
    return 0.0


def _part(source: Any, labels: Array, part: Array | None) -> tuple[Any, Array]:
    if part is None and not isinstance(source, FrameRows):
        return source, labels
    keep = np.arange(len(labels)) if part is None else np.flatnonzero(part)
    return source.pick(keep).raw, labels[keep]


def sentence(classes: Array, objective: PointwiseObjective, worst: str | None, outputs: list[int]) -> str:
    """What follows from the worst verdict for rows that were not separated; ``outputs``: of which it is true."""
    if worst is None:
        return "Whether they can be separated at all, discriminant.separability(X, y) tells."
    one = objective.n_outputs == 1 or objective.criterion.coupled
    asked = [] if one else [_output(classes, objective, j) for j in outputs]
    if worst == SEPARABLE:
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
        return f"They cannot be separated by any hyperplane: they are {worst}."
    return f"They cannot be separated: no hyperplane separates {names_of(asked)}."


def with_verdicts(
    classes: Array, objective: PointwiseObjective, A: Array | None, status: str
) -> tuple[str, str, str | None]:
    """(the status without the advice to ask, what follows from the verdicts, the worst of these) of rows at A.

    None in the place of A: nothing is asked.
    """
    outputs = [] if A is None else worst_outputs(objective, A)
    found = {j: verdict_of(objective, j) for j in outputs}
    hopeless = [j for j in outputs if found[j] not in (SEPARABLE, None)]
    if hopeless:
        worst, outputs = found[hopeless[0]], hopeless
    else:
        worst = SEPARABLE if outputs and None not in found.values() else None
    return status.split(" Whether the")[0], sentence(classes, objective, worst, outputs), worst


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
