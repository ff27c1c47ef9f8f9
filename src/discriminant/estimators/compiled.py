"""The method ``scorer`` of every fitted estimator: the model as one small function for answering row by row."""

from __future__ import annotations

from typing import Any

import discriminant


class Compiled:
    """Adds ``scorer()``.  The compiler lies above the estimators, so it is asked for by its public name."""

    def scorer(self) -> Any:
        """The fitted model as a function of one row, everything folded into one weight matrix; see ``Scorer``."""
        return discriminant.scorer(self)
