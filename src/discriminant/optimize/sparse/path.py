"""From a logistic problem to sparse answers: one λ, or a path of them from λ_max down, each with a proved gap.

Penalty scale: J = Σ w ℓ / Σ w + λ Σ_j f_j [α|a_j| + ½(1−α) a_j²].  glmnet's λ and alpha are these λ and α (it rescales
its penalty factors to sum to d, and standardises by default: ``standardize=True`` here).  scikit-learn's C is
1/(λ Σ w) and its l1_ratio is α.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from discriminant.data import single_threaded_blas
from discriminant.optimize.choose import Choice
from discriminant.optimize.logistic.problem import LogisticProblem
from discriminant.optimize.logistic.solve import COLUMNS, LogisticFit
from discriminant.optimize.sparse.columns import Source
from discriminant.optimize.sparse.levels import make_levels
from discriminant.optimize.sparse.losses import Losses
from discriminant.optimize.sparse.solver import SparseSolver
from discriminant.protocols import Array

ROUGH = 1e-3  # the relative gap of the steps that lead from λ_max to one wanted λ
LEAD = 3.0  # the ratio of their λ
NO_L1 = 1e-3  # without an L1 part λ_max is that of this mixing, as in glmnet
POLISH_VALUES = 2_000_000  # values·outputs up to which a fit goes on to the last digits
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
    steps: int
    passes: float
    largest: float  # λ_max
    history: dict[str, Array] = field(default_factory=dict)

    def plain(self) -> Array:
        """The weights with intercepts at zero."""
        if self.center is None:
            return self.weights
        out = self.weights.copy()
        out[:, 0] -= np.einsum("j,ljk->lk", self.center, self.weights[:, 1:])
        return out


def targets(problem: LogisticProblem) -> Array:
    """(n, q) targets: probabilities of class 1, or of each class."""
    t = np.asarray(problem.blocks.target)
    if problem.n_classes == 2:
        return t.astype(np.float64).reshape(-1, 1)
    if t.ndim == 2:
        return t.astype(np.float64)
    out = np.zeros((len(t), problem.n_classes))
    out[np.arange(len(t)), t] = 1.0
    return out


def make_solver(problem: LogisticProblem, penalty: SparsePenalty, weight: Array | None = None) -> SparseSolver:
    """A solver for this problem; ``weight``: other row weights than the problem's (a fold of a cross-validation)."""
    if problem.unit is None:
        problem = problem.with_units()
    unit = np.asarray(problem.unit, dtype=np.float64).copy()
    for group in penalty.groups or ():
        unit[list(group)] = unit[list(group)].max()
    n = problem.n_rows
    w = problem.blocks.weight if weight is None else weight
    s = np.full(n, 1.0 / n) if w is None else np.asarray(w, dtype=np.float64) / float(np.sum(w))
    t = targets(problem)
    offset = None if problem.offset is None else np.asarray(problem.offset, dtype=np.float64).reshape(t.shape)
    source = Source(problem, unit)
    factors = penalty.factors
    levels = make_levels(
        problem.n_features,
        unit,
        l1_ratio=penalty.l1_ratio,
        factors=factors,
        lower=penalty.lower,
        upper=penalty.upper,
        groups=penalty.groups,
        whole=penalty.grouped and problem.n_outputs > 1,
    )
    if penalty.standardize:
        spread = source.spreads(s, centred=True) * unit
        spread = spread[levels.order][levels.starts[:-1]]
        levels = replace(levels, l1=levels.l1 * spread, l2=levels.l2 * spread**2)
    return SparseSolver(source, Losses(t, s, offset), levels, problem.intercept)


def strengths_from(largest: float, count: int, ratio: float) -> Array:
    """λ_max, …, ratio·λ_max, evenly spaced in the logarithm."""
    if count == 1:
        return np.array([largest])
    return np.asarray(largest * ratio ** (np.arange(count) / (count - 1)))


def solve_path(
    problem: LogisticProblem,
    penalty: SparsePenalty,
    strengths: Array | None = None,
    *,
    count: int = 100,
    ratio: float | None = None,
    tol: float = 1e-8,
    weight: Array | None = None,
) -> SparsePath:
    """The answers along a path of λ, largest first, each from the last one."""
    with single_threaded_blas():
        solver = make_solver(problem, penalty, weight)
        largest = solver.start()
        if strengths is None:
            if penalty.l1_ratio < NO_L1:
                largest = _ridge_start(problem, penalty, weight)
            least = (1e-4 if problem.n_rows > problem.n_features else 1e-2) if ratio is None else ratio
            strengths = strengths_from(largest, count, least)
        return run_path(solver, np.asarray(strengths, dtype=np.float64), tol, largest)


def _ridge_start(problem: LogisticProblem, penalty: SparsePenalty, weight: Array | None) -> float:
    return make_solver(problem, replace(penalty, l1_ratio=NO_L1), weight).start()


def run_path(solver: SparseSolver, strengths: Array, tol: float, largest: float) -> SparsePath:
    """Walk a started solver through these λ."""
    J, gaps = [], []
    # Zeros that are never written to take no memory.
    found = np.zeros((len(strengths), 1 + solver.source.d, solver.losses.q))
    previous = largest
    for strength, answer in zip(strengths, found, strict=True):
        value, gap = solver.solve(float(strength), tol, previous)
        previous = float(strength)
        user_weights(solver, answer)
        J.append(value)
        gaps.append(gap)
    return SparsePath(
        strengths,
        found,
        solver.source.problem.center,
        np.array(J),
        np.array(gaps),
        solver.steps,
        solver.passes,
        largest,
    )


def user_weights(solver: SparseSolver, out: Array | None = None) -> Array:
    """(1+d, q) in the user's units, the intercept at the centre; ``out``: zeros to write them into."""
    A = np.zeros((1 + solver.source.d, solver.losses.q)) if out is None else out
    solver.weights(A)
    features = solver.columns.features
    A[1 + features] /= solver.source.unit[features][:, None]
    return A


def solve_sparse(
    problem: LogisticProblem, strength: float, penalty: SparsePenalty, tol: float = 1e-8, start: Array | None = None
) -> LogisticFit:
    """Minimise J at one λ; small problems to the last digits.  ``start``: weights with a plain intercept."""
    with single_threaded_blas():
        solver = make_solver(problem, penalty)
        largest = solver.start()
        records: list[tuple[float, ...]] = []
        for step in lead(largest, strength) if start is None else ():
            J, gap = solver.solve(step, ROUGH)
            records.append((len(records), J, gap, step, np.sqrt(2 * gap), solver.passes))
        if start is not None:
            _move_to(solver, np.asarray(start, dtype=np.float64))
        J, gap = solver.solve(strength, tol)
        if solver.source.problem.values * solver.losses.q <= POLISH_VALUES:
            J, gap = solver.finish(strength)
        records.append((len(records), J, gap, strength, np.sqrt(2 * gap), solver.passes))
    table = np.array(records, dtype=np.float64)
    return LogisticFit(
        user_weights(solver),
        solver.source.problem.center,
        SPARSE,
        J,
        gap,
        float(np.sqrt(2 * gap)),
        solver.passes,
        False,
        {name: table[:, j] for j, name in enumerate(COLUMNS)},
    )


def lead(largest: float, strength: float) -> Sequence[float]:
    """λ between λ_max and the wanted one, by factors of three."""
    if not (0 < strength < largest):
        return ()
    count = int(np.ceil(np.log(largest / strength) / np.log(LEAD)))
    return [float(largest * (strength / largest) ** (i / count)) for i in range(1, count)]


def _move_to(solver: SparseSolver, start: Array) -> None:
    problem, unit = solver.source.problem, solver.source.unit
    intercept = start[0] + (0.0 if problem.center is None else problem.center @ start[1:])
    solver.move_to(start[1:] * unit[:, None], np.asarray(intercept, dtype=np.float64) * np.ones(start.shape[1]))
