"""What is proved about a point: how far J there can be above its minimum.

*Dual.*  With a ridge λ > 0, every u with Σ s u = 0 gives a lower bound.  From u = σ(z) − t, made feasible by a shift of
the intercept, u' = u − σ' δ with δ = g₀ / Σ s σ', the gap closes to

    J − D ≤ ‖g' + λ a‖² / (2λ) + ½ Σ sσ' δ² / (1 − |δ|)²,        g' = Xᵗ s u' = g − δ Xᵗ s σ',

where the second term bounds what the entropy of u' falls short of its tangent.  K classes: u' = u − (diag p − ppᵗ) δ,
and ½ δ·g₀ / (1 − max δ + min δ).

*Self-concordance.*  |ℓ'''| ≤ ℓ'' along any line (for K classes times the range of the scores' change), so that with the
Newton decrement ν² = gᵗH⁻¹g and R = max_i ‖y_i‖_{H⁻¹}

    J − min J ≤ ((1 − x) ln(1 − x) + x) / R²,        x = ν R < 1,

which needs no penalty and is tight: ν²/2 as x → 0.  It also proves that the minimum exists.
"""

from __future__ import annotations

import numpy as np

from discriminant.optimize.logistic.looks import Look, ManyClass, Moved
from discriminant.optimize.logistic.problem import LogisticProblem
from discriminant.protocols import Array


def self_concordant_gap(decrement: float, reach: float) -> float:
    """((1 − x) ln(1 − x) + x) / R² for x = νR; infinite for x ≥ 1.

    >>> round(self_concordant_gap(1e-3, 1.0) / (1e-6 / 2), 3)
    1.0
    """
    x = decrement * reach
    if not x < 0.999:  # separated classes have x = 1 but for rounding, and no minimum
        return float("inf")
    if x < 1e-4:  # the series: the closed form cancels
        return 0.5 * decrement**2 * (1 + x / 3 + x * x)
    return float(((1 - x) * np.log1p(-x) + x) / reach**2)


def two_class_dual_gap(problem: LogisticProblem, look: Look) -> float:
    """The duality gap where the look was taken.

    Without ``bend`` by Cauchy's inequality, ‖Xᵗ sσ'‖² ≤ Σ sσ' · Σ sσ'‖x‖² ≤ Σ sσ' · ¼ Σ s‖x‖².
    """
    if problem.ridge <= 0:
        return float("inf")
    slope = look.gradient[:, 0] * problem.units[:, 0]  # user's units, ridge included
    if not problem.intercept:
        return float(slope[1:] @ slope[1:] / (2 * problem.ridge))
    mass = np.nan if look.bend is None else float(look.bend[0])
    if not mass > 0:
        return float("inf")
    delta = float(slope[0]) / mass
    if not abs(delta) < 1:
        return float("inf")
    quadratic = 0.5 * mass * delta**2 / (1 - abs(delta)) ** 2
    if look.bend is None:
        length = float(np.linalg.norm(slope[1:])) + abs(delta) * np.sqrt(0.25 * mass * problem.row_square)
        return float(length**2 / (2 * problem.ridge) + quadratic)
    left = slope[1:] - delta * look.bend[1:]
    return float(left @ left / (2 * problem.ridge) + quadratic)


def loose_gap(problem: LogisticProblem, look: Look) -> float:
    """‖∇J‖² / 2λ over the weights: what the dual bound would be if the intercepts' slopes were zero."""
    slope = look.gradient[1:] * problem.units[1:]
    return float(np.square(slope).sum() / (2 * problem.ridge)) if problem.ridge > 0 else float("inf")


def repair(look: Look) -> Array | None:
    """δ (K,) with Σ s (diag p − ppᵗ) δ = g₀: the shift of the intercepts that makes the dual point feasible."""
    if look.bend is None or not (np.isfinite(look.bend).all() and np.isfinite(look.gradient[0]).all()):
        return None  # NaN in X shows here first; who asks for a gap finds the column by itself
    delta = np.linalg.lstsq(look.bend, look.gradient[0], rcond=None)[0]
    return np.asarray(delta - delta.mean())


def many_class_dual_gap(problem: LogisticProblem, look: Look, delta: Array, moved: Array) -> float:
    """The duality gap from ∇J (inner, at the point), the shift δ, and Xᵗ s (diag p − ppᵗ) δ in the user's units."""
    if problem.ridge <= 0:
        return float("inf")
    slope = look.gradient * problem.units
    if not problem.intercept:
        return float(np.square(slope[1:]).sum() / (2 * problem.ridge))
    reach = float(delta.max() - delta.min())
    if not reach < 1:
        return float("inf")
    left = slope[1:] - moved[1:]
    quadratic = 0.5 * abs(float(delta @ look.gradient[0])) / (1 - reach)
    # What the shift left of g₀ (rounding) is bounded by no dual point: it must be nothing against the rest.
    return float(np.square(left).sum() / (2 * problem.ridge) + quadratic)


def many_class_gap(problem: LogisticProblem, A: Array, look: Look) -> float:
    """The duality gap of K classes at A, from a look with ``bend`` and a pass that shifts the intercepts."""
    if problem.ridge <= 0:
        return float("inf")
    if not problem.intercept:
        return loose_gap(problem, look)
    delta = repair(look)
    if delta is None or not np.isfinite(delta).all():
        return float("inf")
    moved = problem.blocks.reduce(Moved(ManyClass(A / problem.units, problem.rows), delta)) / problem.total
    return many_class_dual_gap(problem, look, delta, moved)
