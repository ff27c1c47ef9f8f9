"""A logistic regression stated by its parts: rows, targets, a ridge on the user's scale, offsets.

J(A) = Σ w ℓ / Σ w + ½ λ ‖A₁…d‖²,        z = a₀ + (x − c)·a
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from discriminant.data import ArrayBlocks
from discriminant.data.scaling import Scaling, choose_scaling
from discriminant.objective import PointwiseObjective, logistic_objective
from discriminant.protocols import Array


@dataclass(frozen=True)
class LogisticProblem:
    """Two or more classes, rows in blocks, λ ≥ 0 on the weights; the intercept is free or absent."""

    blocks: ArrayBlocks  # target: codes, or probabilities (n,) for two classes and (n, K) for more
    n_classes: int
    ridge: float = 0.0
    intercept: bool = True
    offset: Array | None = None
    center: Array | None = None  # (d,)
    unit: Array | None = None  # (d,), powers of two

    @property
    def n_rows(self) -> int:
        return self.blocks.n_rows

    @property
    def n_features(self) -> int:
        return self.blocks.n_features

    @property
    def n_outputs(self) -> int:
        return 1 if self.n_classes == 2 else self.n_classes

    @property
    def sparse(self) -> bool:
        return self.blocks.is_sparse

    @property
    def values(self) -> int:
        """How many numbers a pass reads."""
        return self.blocks.n_values

    @cached_property
    def total(self) -> float:
        """Σ w."""
        return self.blocks.total

    @cached_property
    def units(self) -> Array:
        """(1+d, 1): 1 for the intercept, then the columns' units."""
        unit = np.ones(self.n_features) if self.unit is None else self.unit
        return np.concatenate([[1.0], unit])[:, None]

    @cached_property
    def objective(self) -> PointwiseObjective:
        """J over the weights of the columns in their units."""
        plain = logistic_objective(self.blocks, self.n_classes, self.ridge, self.intercept, self.offset)
        return plain if self.unit is None else plain.scaled(Scaling(self.center, self.unit))

    def with_units(self) -> LogisticProblem:
        """The same with centre and units from (a sample of) its rows."""
        scaling = choose_scaling(self.blocks, self.intercept)
        return replace(self, center=scaling.center, unit=scaling.unit)
