"""What the classifiers that model class densities share: posteriors, under any priors, linear or not."""

from __future__ import annotations

from typing import Any

import numpy as np

from discriminant.decision.posteriors import log_softmax, softmax
from discriminant.decision.priors import check_priors, shift_log_posteriors
from discriminant.decision.rule import largest
from discriminant.docstrings import documented
from discriminant.estimators.moments import MomentClassifier
from discriminant.model import LinearDiscriminant
from discriminant.protocols import Array


@documented
class GenerativeClassifier(MomentClassifier):
    """Prediction, with priors at prediction time, from the joint log likelihoods of a subclass."""

    priors_: Array

    # Prediction

    def _joint_log_likelihood(self, rows: Any) -> Array:
        """(n, K) scores g_k = ln P_k + ln p(x|C_k), up to what all classes share."""
        raise NotImplementedError(f"{type(self).__name__} must say how its classes score a row.")

    def decision_function(self, X: Any) -> Array:
        scores = self._joint_log_likelihood(self._checked(X))
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any, priors: Any = None) -> Array:
        """The class of the largest posterior, under the training priors or those given here.

        >>> model = QuadraticDiscriminantAnalysis().fit(iris.X, iris.y)
        >>> model.predict(iris.X[70:71]).tolist(), model.predict(iris.X[70:71], priors=[0.1, 0.8, 0.1]).tolist()
        (['virginica'], ['versicolor'])
        """
        scores = self._joint_log_likelihood(self._checked(X))
        if priors is not None:
            scores = shift_log_posteriors(log_softmax(scores), self.priors_, check_priors(priors, self.classes_))
        return np.asarray(self.classes_.take(largest(scores)))

    def predict_log_proba(self, X: Any, priors: Any = None) -> Array:
        """log P(C_k|x), finite in the far tail, under the training priors or those given here.

        >>> model = QuadraticDiscriminantAnalysis().fit(iris.X, iris.y)
        >>> model.predict_log_proba(iris.X[:1]).round(1)
        array([[ -0. , -59.4, -95.2]])
        """
        log_posteriors = log_softmax(self._joint_log_likelihood(self._checked(X)))
        if priors is None:
            return log_posteriors
        return shift_log_posteriors(log_posteriors, self.priors_, check_priors(priors, self.classes_))

    def predict_proba(self, X: Any, priors: Any = None) -> Array:
        """P(C_k|x), under the training priors or those given here.

        >>> model = QuadraticDiscriminantAnalysis().fit(iris.X, iris.y)
        >>> model.predict_proba(iris.X[70:71]).round(3)
        array([[0.   , 0.328, 0.672]])
        >>> model.predict_proba(iris.X[70:71], priors=[0.1, 0.8, 0.1]).round(3)
        array([[0.   , 0.796, 0.204]])
        """
        if priors is None:
            return softmax(self._joint_log_likelihood(self._checked(X)))
        return np.exp(self.predict_log_proba(X, priors))


@documented
class LinearPosteriors(GenerativeClassifier):
    """The same where the log odds are linear: ``discriminant_`` alone answers."""

    discriminant_: LinearDiscriminant

    def _joint_log_likelihood(self, rows: Any) -> Array:
        scores = self.discriminant_.scores(rows, np.float64)
        return np.hstack([np.zeros_like(scores), scores]) if len(self.classes_) == 2 else scores

    def predict(self, X: Any, priors: Any = None) -> Array:
        if priors is not None:
            return super().predict(X, priors)
        return self._odds().predict(self._checked(X))

    def predict_proba(self, X: Any, priors: Any = None) -> Array:
        if priors is not None:
            return super().predict_proba(X, priors)
        affine, rule = self._odds()._decider
        return affine.apply(rule.posteriors, self._checked(X), len(self.classes_), np.float64)

    def _odds(self) -> LinearDiscriminant:
        self._require_fitted()
        return self.discriminant_
