"""Where a solver stands: weights, what an evaluation found there, and what is known of the way that is left."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discriminant.arrays import in_memory
from discriminant.optimize.factor import Factors
from discriminant.protocols import Array, Evaluation


@dataclass(frozen=True)
class State:
    """One point of a run."""

    A: Array  # (1+d, q), in the objective's units
    found: Evaluation
    decrement: float = np.inf  # ν, ν² = gᵗH⁻¹g: a Newton step promises to lower J by ν²/2
    gap: float = np.inf  # proved: J − min J ≤ gap
    factors: Factors | None = None
    stale: bool = False  # the factors are of another point, or of coarse evaluations: they prove nothing here
    separated: bool = False  # every row on its own side, without a penalty: J has no minimum
    stalled: bool = False
    condition: float = np.nan  # of the Hessian of some rows with a unit diagonal, where it was at hand
    loose: float = np.inf  # Σ ∇J² / 2λ: the dual bound but for the intercepts

    def brought(self) -> State:
        """The same with weights and gradient in memory, wherever they lie."""
        found = replace(self.found, gradient=in_memory(self.found.gradient))
        return replace(self, A=in_memory(self.A), found=found)
