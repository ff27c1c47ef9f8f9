"""How long the rows are: what bounds the change of any score by a step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discriminant.data.threads import scratch
from discriminant.optimize.logistic.looks import Rows
from discriminant.protocols import Array, Block


@dataclass
class Most:
    """The largest of some numbers, as a sum of blocks."""

    most: float

    def __iadd__(self, other: Most) -> Most:
        self.most = max(self.most, other.most)
        return self


@dataclass(frozen=True)
class Longest:
    """max_i ‖S y_i‖² over a block, in reused memory."""

    rows: Rows
    scale: Array
    intercept: bool

    def __call__(self, block: Block) -> Most:
        values = self.rows.values(block)
        weights = np.square(self.scale[1:])
        if hasattr(values, "toarray"):
            lengths = np.asarray(values.multiply(values) @ weights)
        else:
            lengths = np.square(values, out=scratch("squares", values.shape)) @ weights
        return Most(float(lengths.max(initial=0.0)) + (self.scale[0] ** 2 if self.intercept else 0.0))
