"""The quadratic discriminant itself, frozen: what decides between classes that each have a covariance of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discriminant.data import map_rows, require_finite
from discriminant.decision.posteriors import log_softmax, softmax
from discriminant.decision.rule import largest
from discriminant.errors import DataError
from discriminant.gaussian.weights import AxisScores, QuadraticScores
from discriminant.protocols import Array
from discriminant.thresholds import ONE_PIECE_VALUES


@dataclass(frozen=True, eq=False)
class QuadraticDiscriminant:
    """g_k(x) = −½ ln|Σ_k| − ½ (x − μ_k)ᵗ Σ_k⁻¹ (x − μ_k) + ln P_k for each class, of which the largest decides."""

    link: ClassVar[str] = "softmax"

    quadratic: QuadraticScores | AxisScores
    classes: Array
    feature_names: Any = None
    who: str = "QuadraticDiscriminantAnalysis"

    @property
    def n_features(self) -> int:
        return len(self.quadratic.origin)

    def scores(self, rows: Any) -> Array:
        """(n, K) g_k of rows of any storage."""
        with np.errstate(invalid="ignore", over="ignore"):
            if isinstance(rows, np.ndarray) and rows.size <= ONE_PIECE_VALUES and rows.dtype == np.float64:
                scores = self.quadratic(rows)
            else:
                scores = map_rows(lambda design: self.quadratic(design.dense()), rows, len(self.classes))
        if not np.isfinite(scores).all():
            require_finite(rows, self.feature_names, estimator=self.who)
            raise DataError("The scores of some rows are infinite although X is not: its values are too large.")
        return scores

    def decision_function(self, rows: Any) -> Array:
        """Class scores (n, K); two classes: log odds (n,)."""
        scores = self.scores(rows)
        return scores[:, 1] - scores[:, 0] if len(self.classes) == 2 else scores

    def predict(self, rows: Any) -> Array:
        """The class of the largest score."""
        return np.asarray(self.classes.take(largest(self.scores(rows))))

    def predict_log_proba(self, rows: Any) -> Array:
        """log P(C_k|x), (n, K)."""
        return log_softmax(self.scores(rows))

    def predict_proba(self, rows: Any) -> Array:
        """P(C_k|x), (n, K)."""
        return softmax(self.scores(rows))
