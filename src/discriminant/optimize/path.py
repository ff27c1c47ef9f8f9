"""Sparse fits: one λ, or a path of them from λ_max down, each with a proved gap.

Penalty scale: J = Σ w ℓ / Σ w + λ Σ_j f_j [α|a_j| + ½(1−α) a_j²].  glmnet's λ and alpha are these λ and α (it rescales
its penalty factors to sum to d, and standardises by default: ``standardize=True`` here).  scikit-learn's C is
1/(λ Σ w) and its l1_ratio is α.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discriminant.criteria import Logistic, Softmax
from discriminant.data.scaling import choose_scaling
from discriminant.data.working_columns import AllColumns
from discriminant.objective import PointwiseObjective
from discriminant.optimize.automatic import Minimum
from discriminant.optimize.choose import Choice
from discriminant.optimize.newton import COLUMNS
from discriminant.optimize.progress import reading
from discriminant.optimize.row_loss import RowLoss
from discriminant.optimize.working_set import ColumnProblem
from discriminant.penalties.separable import separable_penalty, shared_units
from discriminant.protocols import Array
from discriminant.thresholds import LAST_DIGITS_TOL

NO_L1 = 1e-3  # without an L1 part λ_max is that of this mixing, as in glmnet
LAST_DIGITS = 2_000_000  # values·outputs up to which a single fit goes on to the last digits
SPARSE = Choice(
    "coordinate-descent",
    "a penalty with kinks, factors or bounds: proximal Newton steps by coordinate descent on a working set of columns",
)


@dataclass(frozen=True)
class SparsePenalty:
    """What is penalised, at λ = 1; ``groups``: features that enter together, ``grouped``: a feature's K weights do."""

    l1_ratio: float = 1.0
    factors: Array | None = None
    lower: Array | float = -np.inf
    upper: Array | float = np.inf
    groups: tuple[tuple[int, ...], ...] | None = None
    grouped: bool = False
    standardize: bool = False


@dataclass(frozen=True)
class SparsePath:
    """Answers along λ: weights (L, 1+d, q) in the user's units with the intercept at ``center``."""

    strengths: Array
    weights: Array
    center: Array | None
    objectives: Array
    gaps: Array
    steps: Array  # (L,)
    passes: float
    largest: float  # λ_max

    def plain(self) -> Array:
        """The weights with intercepts at zero."""
        if self.center is None:
            return self.weights
        out = self.weights.copy()
        out[:, 0] -= np.einsum("j,ljk->lk", self.center, self.weights[:, 1:])
        return out


def targets(objective: PointwiseObjective) -> Array:
    """(n, q) targets: probabilities of class 1, or of each class."""
    t = np.asarray(objective.blocks.target)
    if objective.n_classes == 2:
        return t.astype(np.float64).reshape(-1, 1)
    if t.ndim == 2:
        return t.astype(np.float64)
    out = np.zeros((len(t), objective.n_classes))
    out[np.arange(len(t)), t] = 1.0
    return out


def columns_of(objective: PointwiseObjective, penalty: SparsePenalty) -> ColumnProblem:
    """A logistic objective as a problem of columns."""
    scaling = choose_scaling(objective.blocks, objective.intercept)
    unit = shared_units(scaling.unit, penalty.groups)
    n, w = objective.n_rows, objective.blocks.weight
    s = np.full(n, 1.0 / n) if w is None else np.asarray(w, dtype=np.float64) / float(np.sum(w))
    t = targets(objective)
    offset = None if objective.offset is None else np.asarray(objective.offset, dtype=np.float64).reshape(t.shape)
    source = AllColumns(objective.blocks, scaling.center, unit)
    levels = separable_penalty(
        objective.n_features,
        unit,
        l1_ratio=penalty.l1_ratio,
        factors=penalty.factors,
        lower=penalty.lower,
        upper=penalty.upper,
        groups=penalty.groups,
        joint=penalty.grouped and objective.n_outputs > 1,
    )
    if penalty.standardize:
        spread = source.norms(s, centred=True) * unit
        spread = spread[levels.order][levels.starts[:-1]]
        levels = replace(levels, l1=levels.l1 * spread, l2=levels.l2 * spread**2)
    criterion = Logistic() if t.shape[1] == 1 else Softmax()
    return ColumnProblem(source, RowLoss(criterion, t, s, offset), levels, objective.intercept)


def strengths_from(largest: float, count: int, ratio: float) -> Array:
    """λ_max, …, ratio·λ_max, evenly spaced in the logarithm."""
    if count == 1:
        return np.array([largest])
    return np.asarray(largest * ratio ** (np.arange(count) / (count - 1)))


def solve_path(
    objective: PointwiseObjective,
    penalty: SparsePenalty,
    strengths: Array | None = None,
    *,
    count: int = 100,
    ratio: float | None = None,
    tol: float = 1e-8,
) -> SparsePath:
    """The answers along a path of λ, largest first, each from the last one."""
    least = (1e-4 if objective.n_rows > objective.n_features else 1e-2) if ratio is None else ratio

    def grid(largest: float) -> Array:
        if penalty.l1_ratio < NO_L1:
            largest = columns_of(objective, replace(penalty, l1_ratio=NO_L1)).follow(np.empty(0), tol).largest
        return strengths_from(largest, count, least)

    inner = columns_of(objective, penalty)
    found = inner.follow(grid if strengths is None else strengths, tol)
    center, numbers = inner.columns.center, (found.J, found.gaps, found.steps)
    return SparsePath(found.strengths, found.weights, center, *numbers, found.passes, found.largest)


def solve_sparse(
    objective: PointwiseObjective, strength: float, penalty: SparsePenalty, tol: float, start: Array | None
) -> Minimum:
    """Minimise J at one λ; small problems to the last digits.  ``start``: weights with a plain intercept."""
    inner = columns_of(objective, penalty)
    center, unit, q = inner.columns.center, inner.columns.unit, inner.loss.q
    if start is not None:
        intercept = start[0] + (0.0 if center is None else center @ start[1:])
        start = np.vstack([intercept * np.ones((1, q)), start[1:] * unit[:, None]]).astype(np.float64)
    exact = objective.blocks.n_values * q <= LAST_DIGITS and tol <= LAST_DIGITS_TOL
    with reading(lambda A: (A, center)):
        found = inner.follow(np.array([strength]), tol, exact=exact, start=start)
    J, gap = float(found.J[0]), float(found.gaps[0])
    _, values, gaps, levels, passes = np.array(found.records).T
    table = (np.arange(len(values)), values, gaps, levels, np.sqrt(2 * gaps), passes)
    history = dict(zip(COLUMNS, table, strict=True))
    return Minimum(found.weights[0], center, SPARSE, J, gap, float(np.sqrt(2 * gap)), found.passes, False, history)
