"""Proximal Newton on a working set of columns, as an optimizer: for penalties with a kink, to a proved gap.

Outputs that do not compete are minimised one by one; those of softmax together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from discriminant.arguments import NOT_NEGATIVE, checked
from discriminant.criteria import Softmax
from discriminant.data.scaling import Scaling, choose_scaling
from discriminant.data.working_columns import AllColumns
from discriminant.errors import MismatchError
from discriminant.objective import PointwiseObjective
from discriminant.optimize.history import History
from discriminant.optimize.iterative import documented, starting_weights
from discriminant.optimize.needs import require, require_rows
from discriminant.optimize.row_loss import RowLoss
from discriminant.optimize.working_set import ColumnProblem, Followed
from discriminant.penalties import ElasticNet, Group, Ridge, WeightPenalty
from discriminant.penalties.separable import SeparablePenalty, separable_penalty, shared_units
from discriminant.protocols import Array, Need, Oracle, Solution

SMOOTH = Oracle.VALUE | Oracle.GRADIENT | Oracle.CURVATURE | Oracle.CONJUGATE


@documented
@dataclass(frozen=True)
@checked(tolerance=NOT_NEGATIVE)
class ProximalNewton:
    """Coordinate descent on quadratic models of J, over few columns at a time.

    Each outer step minimises the second-order model of the loss plus the penalty on a working set; the duality gap over
    all columns ends the run.

    Parameters
    ----------
    tolerance : float, default=1e-9
        The fit ends when J is proved to be within tolerance · max(1, J) of its minimum.

    See Also
    --------
    ProximalGradient : Needs no conjugate, and proves nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminant import criteria, penalties
    >>> from discriminant.codings import make_coding
    >>> from discriminant.data import make_blocks
    >>> blocks = make_blocks(np.array([[0.0, 1.0], [1.0, 0.0], [3.0, 1.0], [2.0, 0.0]]), np.array([0, 1, 1, 0]))
    >>> coding = make_coding("two-class", 2, labels=(0, 1))
    >>> objective = PointwiseObjective(blocks, criteria.Logistic(), coding, penalties.Lasso(0.1))
    >>> solution = ProximalNewton().minimize(objective, np.zeros((3, 1)))
    >>> solution.converged, int((solution.weights[1:] != 0).sum())
    (True, 1)
    """

    tolerance: float = 1e-9
    needs: ClassVar[Oracle] = Oracle.VALUE

    def minimize(self, objective: Any, start: Array) -> Solution:
        """The weights with the least J."""
        rows = require_rows(self, objective)
        self._require(rows)
        A, scaling = starting_weights(objective, start), rows.scaling
        if scaling is not None:
            user, center = scaling.to_user(A)
            A = user if center is None else np.vstack([user[:1] - center @ user[1:], user[1:]])
        inner = _one_unit_per_group(scaling or choose_scaling(rows.blocks, rows.intercept), rows.penalty)
        fits = [self._fit(part, inner, A) for part in _parts(rows, inner)]
        J, gap = (sum(float(fit.records[-1][k]) for fit in fits) for k in (1, 2))
        weights = np.hstack([fit.weights[0] for fit in fits])
        if inner.center is not None:
            weights[0] -= inner.center @ weights[1:]
        met = gap <= self.tolerance * max(1.0, abs(J))
        how = f"J = {J:.10g} is proved to be within {gap:.1e} of its minimum"
        status = f"Solved: {how}." if met else f"Not converged: {how}, and steps get it down no further."
        history = History()
        for fit in fits:
            for steps, value, left, _, _ in fit.records:
                history.record(k=steps, objective=value, gradient_norm=float(np.sqrt(2 * left)), step=1.0)
        return Solution(
            weights if scaling is None else scaling.from_user(weights),
            status,
            met,
            sum(fit.passes for fit in fits),
            int(sum(fit.steps[0] for fit in fits)),
            J,
            float(np.sqrt(2 * gap)),
            history,
        )

    def _fit(self, part: _Part, scaling: Scaling, start: Array) -> Followed:
        A = scaling.from_user(start[:, part.outputs])
        if not part.problem.intercept:
            A = np.vstack([0.0 * A[:1], A[1:]])
        return part.problem.follow(np.ones(1), self.tolerance, exact=True, start=A if A.any() else None)

    def _require(self, rows: PointwiseObjective) -> None:
        require(self, rows.without_penalty(), SMOOTH)
        criterion, penalty = rows.criterion, rows.penalty
        name = type(criterion).__name__
        if criterion.coupled and not (isinstance(criterion, Softmax) and not criterion.reference):
            raise MismatchError(
                f"Optimizer ProximalNewton takes outputs that compete from criterion Softmax alone (reference=False); "
                f"with {name} use ProximalGradient."
            )
        if not (penalty is None or isinstance(penalty, Ridge | ElasticNet | Group)):
            raise MismatchError(
                f"Optimizer ProximalNewton knows the penalties Ridge, Lasso, ElasticNet and Group; with "
                f"{type(penalty).__name__} use Newton."
            )
        if isinstance(penalty, Group) and rows.n_outputs > 1 and not criterion.coupled:
            raise MismatchError(
                f"Optimizer ProximalNewton minimises the outputs of criterion {name} one by one, and penalty Group "
                "ties them together; use ProximalGradient."
            )


@dataclass(frozen=True)
class _Part:
    """The outputs that are minimised together."""

    problem: ColumnProblem
    outputs: slice


def _parts(rows: PointwiseObjective, scaling: Scaling) -> list[_Part]:
    request = rows.request(np.zeros((rows.n_parameters, rows.n_outputs)), Need.VALUE)
    pairs = [request.targets(block, request.weight(block)) for block in rows.blocks]
    t = np.vstack([target for target, _ in pairs]).astype(np.float64)
    s = np.vstack([np.broadcast_to(share, target.shape) for target, share in pairs])
    offset = None if rows.offset is None else np.broadcast_to(np.asarray(rows.offset).reshape(len(t), -1), t.shape)
    columns = AllColumns(rows.blocks, scaling.center, scaling.unit)
    penalty = _separable(rows.penalty, rows.n_features, scaling.unit)
    every = [slice(None)] if rows.criterion.coupled else [slice(j, j + 1) for j in range(rows.n_outputs)]
    parts = []
    for j in every:
        share = np.ascontiguousarray(s[:, j][:, 0])
        loss = RowLoss(rows.criterion, t[:, j], share, None if offset is None else offset[:, j])
        parts.append(_Part(ColumnProblem(columns, loss, penalty, rows.intercept), j))
    return parts


def _one_unit_per_group(scaling: Scaling, penalty: WeightPenalty | None) -> Scaling:
    return replace(scaling, unit=shared_units(scaling.unit, penalty.groups if isinstance(penalty, Group) else None))


def _separable(penalty: WeightPenalty | None, d: int, unit: Array) -> SeparablePenalty:
    if isinstance(penalty, Group):
        groups = penalty.groups
        factors = (
            np.ones(d if groups is None else len(groups)) if penalty.factors is None else np.array(penalty.factors)
        )
        if groups is None:
            made = separable_penalty(d, unit, factors=factors, joint=True)
        else:
            free = d - sum(len(group) for group in groups)
            made = separable_penalty(d, unit, factors=np.append(factors, np.zeros(free)), groups=groups, joint=True)
        return made.times(penalty.strength)
    if penalty is None:
        return separable_penalty(d, unit, factors=np.zeros(d))
    mix = penalty.mix if isinstance(penalty, ElasticNet) else 0.0
    each = None if penalty.factors is None else np.array(penalty.factors)
    return separable_penalty(d, unit, l1_ratio=mix, factors=each).times(penalty.strength)
