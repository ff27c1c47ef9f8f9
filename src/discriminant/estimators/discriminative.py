"""What the classifiers that minimise a criterion share: their method learns and proves, they hold what it finds."""

from __future__ import annotations

import numpy as np

from discriminant.docstrings import documented
from discriminant.estimators.deciding import Deciding
from discriminant.methods.criterion import CriterionMethod
from discriminant.methods.fit import Fit, Sample
from discriminant.protocols import Array


@documented
class DiscriminativeClassifier(Deciding):
    """A classifier whose fit is argmin J.  A subclass says in ``_method`` by which method."""

    warm_start: bool = False

    def _method(self) -> CriterionMethod:
        return self._as(self._kind)  # type: ignore[no-any-return]

    def _fitted(self, sample: Sample) -> Fit:
        return self._method().fit(sample, self._previous(sample))

    def _previous(self, sample: Sample) -> Array | None:
        """The weights of the last fit, with ``warm_start``, where it was of the same classes."""
        known = self.warm_start and "discriminant_" in vars(self)
        same = known and np.array_equal(self.classes_, sample.classes)
        return np.array(self.discriminant_.weights) if same else None
