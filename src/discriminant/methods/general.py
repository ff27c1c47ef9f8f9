"""Any basis, criterion, penalty, coding and optimizer that fit together: the method you invent."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

from discriminant.criteria import make_criterion
from discriminant.data import ArrayBlocks
from discriminant.methods.criterion import CriterionMethod, Parts
from discriminant.methods.parameters import CodedParameters, DescentParameters, method, parameter_list
from discriminant.methods.parts import fit_together
from discriminant.penalties import make_penalty
from discriminant.protocols import Array


@parameter_list
class DiscriminantParameters(CodedParameters, DescentParameters):
    """Of ``Discriminant``."""

    basis: Any = None
    criterion: Any = "logistic"
    penalty: Any = None
    coding: Any = "auto"
    optimizer: Any = "auto"
    _: KW_ONLY


@method
class General(DiscriminantParameters, CriterionMethod):
    """argmin J for any parts."""

    estimator: ClassVar[str] = "Discriminant"

    @property
    def freedom(self) -> str:
        """Relaxation divides by the length of a row, which other units change."""
        over = make_criterion(self.criterion).over_norm
        return "none" if over else super().freedom

    def choose(self, blocks: ArrayBlocks, classes: Array) -> Parts:
        parts = fit_together(self.criterion, self.coding, len(classes), blocks.counts(len(classes)), self.decoder)
        return *parts, make_penalty(self.penalty), self.optimizer
