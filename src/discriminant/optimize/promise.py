"""What is left to gain at weights A, by curvature: the fall ½ gᵗH⁻¹g that a Newton step promises.

A short step or a small gradient says little where the columns have different units or are nearly collinear: along a
column of 1e-6 the whole way down may be hidden in a gradient of 1e-7.  So no run is called converged by either alone.
The whole Hessian is asked where it costs no more than the run did, else its diagonal: what single weights can gain.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from discriminant.criteria import Logistic, Softmax
from discriminant.data.device_library import library_of
from discriminant.objective import PointwiseObjective
from discriminant.optimize.factor import Factors, factor_hessian
from discriminant.protocols import Array, Need, Oracle
from discriminant.thresholds import WHOLE_HESSIAN

RENEWALS = 3  # how often steps are renewed with a Hessian that promises more than they do
NEGLIGIBLE = 1e-9  # of J: a fall that is left where a run is called converged
VANISHING = 1e-13  # of J at the start: the same where J tends to 0
ROOT_VALUES = 4.0e8  # up to this many multiplications a square root of H is factored where H has lost digits


class Promise(NamedTuple):
    """What a Newton step promises: ½ gᵗH⁻¹g, and G ↦ H⁻¹G, a preconditioner, where H is known."""

    fall: float
    solve: Callable[[Array], Array] | None


def promise(objective: Any, A: Array, slope: Array, passes: float, *, whole: bool = True) -> Promise:
    """What a Newton step from A promises with these slopes; ½‖g‖² where J has no curvature to be asked.

    ``passes``: those that the run took, which bound what the Hessian may cost.
    """
    if not isinstance(objective, PointwiseObjective) or Oracle.CURVATURE not in objective.oracles:
        return Promise(float(np.square(slope).sum()) / 2, None)
    D, q = A.shape
    block = D * q if objective.criterion.coupled else D
    if whole and block <= max(WHOLE_HESSIAN, passes):
        factors = factor_curvature(objective, A, objective.hessian(A))
        step = without_sum(objective, A, -factors.solve(slope))
        return Promise(max(-float((slope * step).sum()) / 2, 0.0), factors.solve)
    h = objective.evaluate(A, Need.DIAGONAL).diagonal
    assert h is not None
    rates = np.divide(1.0, h, out=np.zeros_like(h), where=h > 0)
    return Promise(float((np.square(slope) * rates).max() / 2), lambda G: G * np.where(h > 0, rates, 1.0))


def factor_curvature(objective: Any, A: Array, hessian: Array) -> Factors:
    """The Hessian at A as factors; where it has lost digits, from a square root of it, if that is not too large."""
    D, q = A.shape
    # The root has the penalty's curvature as a diagonal that does not depend on A.
    rooted = (
        isinstance(objective, PointwiseObjective)
        and isinstance(objective.criterion, Logistic | Softmax)
        and objective.quadratic_penalty
    )
    small = rooted and objective.blocks.in_memory and objective.n_rows * q * (q * D) ** 2 <= ROOT_VALUES
    return factor_hessian(hessian, q, free_sum(objective), partial(objective.hessian_root, A) if small else None)


def without_sum(objective: Any, A: Array, P: Array) -> Array:
    """The step P where the criterion leaves the sum of the outputs' weights free: to a sum of zero, if it is penalised.

    Along that sum J is its penalty alone, whose minimum is known.
    """
    if not free_sum(objective):
        return P
    total = library_of(P).xp.sum(P + objective.damped * A, axis=1, keepdims=True)
    return P - total / A.shape[1]  # type: ignore[no-any-return]


def free_sum(objective: Any) -> bool:
    """Whether J without penalty, or with a quadratic one, is least at a sum of zero."""
    return isinstance(objective, PointwiseObjective) and objective.criterion.free_sum and objective.quadratic_penalty
