"""What the classifiers that minimise a criterion share: their method learns and proves, they hold what it finds."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from discriminant.docstrings import documented
from discriminant.estimators.deciding import Deciding
from discriminant.estimators.inputs import all_or_nothing
from discriminant.estimators.parameters import require_valid
from discriminant.methods.criterion import CriterionMethod
from discriminant.methods.fit import Sample
from discriminant.optimize.choose import Choice
from discriminant.protocols import Array


@documented
class DiscriminativeClassifier(Deciding, ClassifierMixin, BaseEstimator):
    """A classifier whose fit is argmin J.  A subclass says in ``_method`` by which method."""

    warm_start: bool = False

    def _method(self) -> CriterionMethod:
        """The method with the parameters as they stand."""
        raise NotImplementedError(f"{type(self).__name__} must name its method.")

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Minimise J over the rows and their labels.

        Parameters
        ----------
        X, y, sample_weight

        Returns
        -------
        self

        Raises
        ------
        DataError, ParameterError

        Examples
        --------
        >>> from discriminant import Discriminant, datasets
        >>> iris = datasets.load("iris")
        >>> model = Discriminant(criterion="squared").fit(iris.X, iris.y)
        >>> model.coef_.shape, model.certificate_.converged
        ((3, 4), True)
        """
        sample = self._sample(X, y, sample_weight)
        return self._hold(self._method().fit(sample, self._previous(sample)))

    def plan(self, X: Any, y: Any, sample_weight: Any = None) -> Choice:
        """Which optimizer ``fit`` would use on these data, and why.

        Parameters
        ----------
        X, y, sample_weight

        Returns
        -------
        Choice
            With ``method`` and ``why``; its text says both.

        Examples
        --------
        >>> from discriminant import Discriminant, datasets
        >>> iris = datasets.load("iris")
        >>> Discriminant(criterion="hinge").plan(iris.X, iris.y).method
        'linear-program'
        """
        require_valid(self)
        with self._unchanged():
            return self._method().plan(self._sample(X, y, sample_weight))

    def _previous(self, sample: Sample) -> Array | None:
        """The weights of the last fit, with ``warm_start``, where it was of the same classes."""
        known = self.warm_start and "discriminant_" in vars(self)
        same = known and np.array_equal(self.classes_, sample.classes)
        return np.array(self.discriminant_.weights) if same else None
