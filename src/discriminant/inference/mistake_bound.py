"""The convergence theorem's bound on corrections: at most (R/γ)² for separable samples, from zero weights.

With R = max ‖y‖ over the samples and γ = min a·(ty)/‖a‖ for some a that separates them, k corrections of fixed
increment η with margin b satisfy

    k η γ ≤ a·a(k)/‖a‖ ≤ ‖a(k)‖ ≤ √(k (η² R² + 2ηb))      so that      k ≤ (R² + 2b/η) / γ²        (Novikoff 1962)

Every separating a gives a bound; the widest γ, the distance of the origin from the hull of the samples ty, gives the
best.  It is looked for among the rows nearest to the boundary, as the shortest a with a·(ty) ≥ 1 (Lawson and Hanson's
least distance programming), then measured on all rows, so that the bound holds whatever was found.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discriminant.arrays import as_dense
from discriminant.data.rows import DenseRows, SparseRows, as_design
from discriminant.inference import documented
from discriminant.kernels import dual
from discriminant.objective import PointwiseObjective
from discriminant.protocols import Array

NEAR = 300  # rows nearest to the boundary that are searched for a wider margin
MOST_COLUMNS = 50  # of such a search: 60×50 0.2 ms, 1000×2000 takes 1 s beside a fit of 7 ms
ROUNDS = 4
EPOCHS = 20  # of dual coordinate descent where columns are more


@documented
class MistakeBound(NamedTuple):
    """The perceptron's convergence theorem in numbers: no more corrections than ``bound`` = (R² + 2b/η)/γ².

    R is the length of the longest sample and γ a margin, both of augmented samples (Novikoff 1962; Duda, Hart and
    Stork 5.5.2).

    Parameters
    ----------
    bound : float
        The most corrections that are possible.
    radius : float
        R, the length of the longest sample.
    margin : float
        γ, the margin of a separating hyperplane: the largest one where columns are at most 50, else near it.

    See Also
    --------
    discriminant.Perceptron : Whose ``mistake_bounds_`` they are.

    >>> X, y = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, 2.0]], [0, 0, 0, 1]
    >>> model = Perceptron(shuffle=False, tol=None).fit(X, y)
    >>> int(model.corrections_[0]) <= model.mistake_bounds_[0].bound
    True
    """

    bound: float
    radius: float  # R
    margin: float  # γ


def mistake_bounds(objective: PointwiseObjective, A: Array, step: float = 1.0, b: float = 0.0) -> list[MistakeBound]:
    """A bound for each output whose rows A separates; one for all where the criterion couples them."""
    coupled = objective.criterion.coupled
    radius = np.sqrt(_largest_norm(objective) * (2.0 if coupled else 1.0))
    if coupled:
        least = [(_coupled_margins(objective, A).min() / np.linalg.norm(A))]
    else:
        least = [_widest(objective, A, j) for j in range(A.shape[1])]
    return [
        MistakeBound(float((radius**2 + 2 * b / step) / gamma**2) if gamma > 0 else np.inf, float(radius), float(gamma))
        for gamma in least
    ]


def _largest_norm(objective: PointwiseObjective) -> float:
    """max ‖y‖² of the rows that count."""
    norms = ((objective.intercept + block.design.squared_norms(), block.weight) for block in objective.blocks)
    return max(float((size if w is None else size[w > 0]).max(initial=0.0)) for size, w in norms)


def _coupled_margins(objective: PointwiseObjective, A: Array) -> Array:
    """(a_i − a_j)·y for the strongest rival of each row that counts."""
    z, own, weight = objective.scores(A), np.asarray(objective.blocks.target), objective.blocks.weight
    if weight is not None:
        z, own = z[weight > 0], own[weight > 0]
    rows = np.arange(len(z))
    mine = z[rows, own].copy()
    z[rows, own] = -np.inf
    return np.asarray(mine - z.max(axis=1))


def _widest(objective: PointwiseObjective, A: Array, j: int) -> float:
    """γ of output j: that of its weights, or of better ones found near its boundary."""
    margins = _margins(objective, A[:, j], j)
    own = float(margins.min() / np.linalg.norm(A[:, j])) if A[:, j].any() else 0.0
    if not own > 0:
        return own
    if objective.n_parameters > MOST_COLUMNS + 1:
        a = _descended(objective, j)
        return own if a is None else max(own, float(_margins(objective, a, j).min() / np.linalg.norm(a)))
    best, near = own, np.empty(0, np.intp)
    for _ in range(ROUNDS):
        fresh = np.flatnonzero(np.isfinite(margins))
        if len(fresh) > NEAR:
            fresh = fresh[np.argpartition(margins[fresh], NEAR)[:NEAR]]
        if np.isin(fresh, near).all():
            break
        near = np.union1d(near, fresh)
        a = shortest(_signed_rows(objective, near, j))
        if a is None:
            break
        margins = _margins(objective, a, j)
        best = max(best, float(margins.min() / np.linalg.norm(a)))
    return best


def shortest(samples: Array) -> Array | None:
    """The shortest a with samples·a ≥ 1, or None where rounding finds none.

    >>> shortest(np.array([[2.0, 1.0], [2.0, -1.0]])).round(12).tolist()
    [0.5, 0.0]
    """
    from scipy.optimize import nnls

    size = float(np.abs(samples).max())
    E = np.vstack([samples.T / size, np.ones(len(samples))])
    goal = np.zeros(len(E))
    goal[-1] = 1.0
    try:
        r = E @ nnls(E, goal)[0] - goal
    except RuntimeError:  # its iterations ran out
        return None
    return None if not -r[-1] > 1e-12 else np.asarray(r[:-1] / -r[-1] / size)


def _descended(objective: PointwiseObjective, j: int) -> Array | None:
    """Weights near the shortest a with t a·y ≥ 1, by as many passes as a fit takes; None of rows that are no floats."""
    rows, signs = objective.blocks.rows, _signs(objective, j)
    if not isinstance(rows, DenseRows | SparseRows) or rows.X.dtype != np.float64:
        return None
    X = rows.X if isinstance(rows, SparseRows) else np.ascontiguousarray(rows.X)
    n, w, bias = len(signs), np.zeros(X.shape[1] + 1), float(objective.intercept)
    size = as_design(X).squared_norms() + bias
    dual.epochs(
        X, signs, np.zeros(n), np.full(n, np.inf), np.zeros(n), size, w, bias, 0.0, np.flatnonzero(signs), EPOCHS
    )
    return np.append(w[-1], w[:-1])


def _signs(objective: PointwiseObjective, j: int) -> Array:
    """The side of each row in output j: +1, −1, or 0 where it takes no part."""
    assert objective.coding is not None
    signs = objective.coding.signs[:, j][np.asarray(objective.blocks.target)]
    weight = objective.blocks.weight
    return np.asarray(signs if weight is None else np.where(weight > 0, signs, 0.0))


def _margins(objective: PointwiseObjective, a: Array, j: int) -> Array:
    """t a·y for each row, infinite where the row takes no part."""
    signs = _signs(objective, j)
    return np.where(signs != 0, signs * objective.scores(a[:, None])[:, 0], np.inf)


def _signed_rows(objective: PointwiseObjective, rows: Array, j: int) -> Array:
    """t y for some rows, dense, with the one in front."""
    source = objective.blocks.rows
    values = as_dense(source.pick(rows).values)
    one = np.full((len(rows), 1), float(objective.intercept))
    return np.asarray(_signs(objective, j)[rows][:, None] * np.hstack([one, values]))
