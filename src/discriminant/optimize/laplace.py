"""Rows that come in parts and are not kept: what was learned is carried on as a Gaussian (Laplace).

    minimise  Σ_new w ℓ + ½ (a − m)ᵗ P (a − m),      then   m ← argmin,   P ← P + Σ_new ∇²(w ℓ)

The losses of earlier rows are replaced by their second-order expansion at the estimate of their time.  For one part the
answer is the exact fit; for many it approaches that of all rows together as the parts grow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.objective import PointwiseObjective
from discriminant.optimize.factor import held_sum
from discriminant.optimize.newton import Newton
from discriminant.protocols import Array, Need, Oracle


@dataclass(frozen=True)
class LaplacePosterior:
    """What is known of the weights: mean (1+d, q) and precision (q(1+d), q(1+d)), outputs outermost."""

    mean: Array
    precision: Array
    rows: int = 0

    @classmethod
    def prior(cls, n_features: int, n_outputs: int, l2: float, intercept: bool) -> LaplacePosterior:
        """Nothing seen yet: the ridge penalty, with a free (or, without one, a pinned) intercept."""
        each = np.full(n_features + 1, l2)
        each[0] = 0.0 if intercept else 1.0
        return cls(np.zeros((n_features + 1, n_outputs)), np.diag(np.tile(each, n_outputs)))

    def learn(self, objective: PointwiseObjective) -> LaplacePosterior:
        """The posterior after the rows of ``objective``, whose own penalty is none: the prior is here already."""
        joint = _Joint(objective, self)
        A = Newton(tolerance=1e-26).minimize(joint, self.mean).weights
        return LaplacePosterior(A, self.precision + joint.information(A), self.rows + objective.n_rows)


@dataclass(frozen=True)
class _Joint:
    """Σ_new w ℓ + ½ (a − m)ᵗ P (a − m), as an objective."""

    objective: PointwiseObjective
    posterior: LaplacePosterior
    oracles: Any = Oracle.VALUE | Oracle.GRADIENT | Oracle.CURVATURE

    def _prior(self, A: Array) -> tuple[float, Array]:
        away = (A - self.posterior.mean).T.ravel()
        slope = self.posterior.precision @ away
        return 0.5 * float(away @ slope), slope.reshape(A.T.shape).T

    def value_and_gradient(self, A: Array) -> tuple[float, Array]:
        value, slope = self._prior(A)
        found, total = self.objective.evaluate(A), self.objective.total
        return found.value * total + value, found.gradient * total + slope

    def information(self, A: Array) -> Array:
        """Σ_new ∇²(w ℓ), (q(1+d), q(1+d))."""
        H = self.objective.evaluate(A, Need.HESSIAN).hessian
        assert H is not None
        return np.asarray((H if H.ndim == 2 else H[0]) * self.objective.total)

    def hessian(self, A: Array) -> Array:
        H = self.posterior.precision + self.information(A)
        return held_sum(H, A.shape[1]) if self.objective.criterion.free_sum else H

    def along(self, A: Array, D: Array, steps: Array) -> Array:
        rows = self.objective.along(A, D, steps) * self.objective.total
        return np.asarray(rows + [self._prior(A + step * D)[0] for step in steps])
