"""A proximal Newton step along the columns of a sparse matrix, where a Gram matrix would cost more than many sweeps.

The quadratic of the step is solved no better than it stands for J: a few sweeps, then the curvature is taken anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.optimize.sparse.levels import Levels
from discriminant.protocols import Array

ROUNDS, EXACT_ROUNDS = 1, 50  # sweeps over all columns, each followed by some over the support
ROUGH = 0.6
LEAST_AIM = 1e-36


@dataclass(frozen=True)
class Direction:
    """Where a step on the quadratic leads, and by how much that says J falls."""

    A: Array
    b: Array  # the intercepts' change
    dz: Array  # the scores' change
    promised: float


def along_columns(solver: Any, here: Any, levels: Levels, g: Array, wanted: float) -> Direction | None:
    """Where the sweeps lead from where the solver stands; None where they move nothing.

    ``wanted``: the gap, relative to J, that is aimed at; beyond what the quadratic is worth it is not tried for.
    """
    from discriminant.kernels.coordinate_sparse import descend_sparse

    w, a = solver.losses.bend(here.p), solver.A[:, 0].copy()
    exact, e = wanted <= LEAST_AIM, np.zeros(len(w))
    data, indices, indptr = solver.columns.arrays
    b, visits = descend_sparse(
        data, indices, indptr, w, g[:, 0].copy(), levels.l1, levels.l2, levels.lower, levels.upper, a,
        e, solver.intercept, 0.0 if exact else _still(here, levels, wanted), LEAST_AIM,
        EXACT_ROUNDS if exact else ROUNDS, _sweeps(wanted),
    )  # fmt: skip
    solver._tally.visits += visits
    A = a[:, None]
    D = A - solver.A
    if not D.any():
        return None
    bend = float(w @ np.square(e)) + float(levels.l2 @ np.square(D[:, 0]))
    promised = -float((g * D).sum()) - 0.5 * bend + solver._kink(levels, solver.A) - solver._kink(levels, A)
    return Direction(A, np.array([b]), e[:, None], promised)


def _sweeps(wanted: float) -> int:
    """Sweeps over the support on one curvature: the more digits are wanted, the better the quadratic stands for J."""
    return int(np.clip(-2 * np.log10(max(wanted, LEAST_AIM)) - 4.5, 4, 12))


def _still(here: Any, levels: Levels, wanted: float) -> float:
    """How much a slope may be off: the gap is of first order in what R exceeds the least level by."""
    kinked = levels.l1[levels.l1 > 0]
    if not len(kinked) or here.J <= 0:
        return float(np.sqrt(1e-3 * here.gap))
    return float(ROUGH * max(float(here.gap / here.J), wanted) * kinked.min())


def straight_on(trail: list[tuple[float, Array]], strength: float, levels: Levels) -> Array:
    """The weights at λ = strength, guessed from two answers before: those that are not zero go on nearly straight."""
    (first, A_first), (last, A) = trail
    if not strength < last < first:
        return A
    known = A[: len(A_first)]
    D = (known - A_first) * (last - strength) / (first - last)
    D[(A_first == 0) | (known == 0) | (np.sign(known + D) != np.sign(known))] = 0.0
    out = A.copy()
    out[: len(D)] += D
    return np.asarray(np.clip(out, levels.lower[:, None], levels.upper[:, None]))
