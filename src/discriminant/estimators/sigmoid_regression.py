"""``SigmoidRegressionClassifier``: sigmoid outputs fitted to 0 and 1 (``methods.sigmoid``), one label a row or many."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from sklearn.utils.multiclass import type_of_target

from discriminant.arrays import in_memory
from discriminant.criteria import sigmoid
from discriminant.data import make_blocks
from discriminant.data.check import check_weights
from discriminant.data.rows import Rows
from discriminant.errors import DataError, ParameterError
from discriminant.estimators.deciding import DiscriminativeClassifier
from discriminant.estimators.parameters import NOT_NEGATIVE, Among, parameters
from discriminant.estimators.parts import CODING, OPTIMIZER
from discriminant.methods.fit import Sample, Schema
from discriminant.methods.sigmoid import SigmoidParameters, SigmoidRegression
from discriminant.protocols import Array


@parameters(
    alpha=[NOT_NEGATIVE],
    coding=CODING,
    optimizer=OPTIMIZER,
    start=[None, Among("logistic", "random"), "array-like"],
)
class SigmoidRegressionClassifier(SigmoidParameters, DiscriminativeClassifier):
    """Independent sigmoid outputs by least squares: two classes, K classes, or labels of which none or many hold.

    argmin ½ Σ (t − σ(z))², discrimination by regression (Alpaydin 10.8).  It is not convex.

    Parameters
    ----------
    alpha : float, default=0.0
        λ of a ridge, λ/2 ‖w‖², beside the mean squared error.
    coding : str or array-like of shape (K, q), default="auto"
        For y with one label a row: "auto" is one output for two classes and one a class for more.
    optimizer : str or optimizer, default="auto"
        "auto", "gradient-descent" (the textbook's), "lbfgs", "conjugate-gradient", "newton", or an optimizer of
        ``discriminant.optimize``.
    start : "logistic", None, "random" or array-like of shape (1 + d̂, q), default="logistic"
        Where descent begins: a few Newton steps towards the logistic optimum; zeros; uniform in (−0.01, 0.01), the
        textbook's; or these weights.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, discriminant_, certificate_, history_, coding_, criterion_

    See Also
    --------
    LogisticRegression : The likelihood in place of least squares.

    >>> model = SigmoidRegressionClassifier().fit(iris.X, iris.y)
    >>> claims = model.memberships(iris.X).sum(axis=1)
    >>> [int((claims == k).sum()) for k in range(3)]  # rows that none, one, two of the classes claim
    [25, 110, 15]
    """

    _kind = SigmoidRegression

    _multilabel = False
    _label_dtype = np.dtype(np.int64)  # of the indicator matrix, where y is one

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    # Deciding

    def memberships(self, X: Any) -> Array:
        """Which classes claim each row, σ(z_k) > ½: none of them, one, or several.

        Returns
        -------
        ndarray of bool of shape (n, K)
            True where the class claims the row.

        >>> model = SigmoidRegressionClassifier().fit(iris.X, iris.y)
        >>> model.memberships(iris.X[:1]).tolist()
        [[True, False, False]]
        """
        z = self.outputs(X)
        if not self._multilabel:
            z = self._rule.class_scores(z)
        return np.asarray(z > 0)

    def predict(self, X: Any) -> Array:
        """The class of the largest output; for multi-label y, which labels hold.

        Returns
        -------
        ndarray of shape (n,), or (n, K) of 0 and 1 for multi-label y
            Labels.

        >>> SigmoidRegressionClassifier().fit(iris.X, iris.y).predict(iris.X[:1]).tolist()
        ['setosa']
        """
        if not self._multilabel:
            return super().predict(X)
        return self.memberships(X).astype(self._label_dtype)

    def _right(self, predicted: Array, y: Any) -> Array:
        """For multi-label y: whether all labels of a row are right."""
        if not self._multilabel:
            return super()._right(predicted, y)
        held = in_memory(y)
        if held.shape != predicted.shape:
            raise DataError(f"y has shape {held.shape}, and the fit was of {predicted.shape[1]} labels for each row.")
        return np.asarray((predicted == held).all(axis=1))

    def decision_function(self, X: Any) -> Array:
        if not self._multilabel:
            return super().decision_function(X)
        return self.outputs(X)

    def predict_proba(self, X: Any) -> Array:
        """σ(z) for multi-label y; for classes that exclude each other, brought to sum one.

        They estimate E[r|x] by least squares.

        Returns
        -------
        ndarray of shape (n, K)
            Probabilities.

        >>> model = SigmoidRegressionClassifier(alpha=1e-4).fit(iris.X, iris.y)
        >>> round(float(model.predict_proba(iris.X[:1]).sum()), 12)
        1.0
        """
        rows = self._checked(X)
        z = self.discriminant_.scores(rows, np.float64)
        if self._multilabel:
            return sigmoid(z)
        return dataclasses.replace(self._rule, link="sigmoid").posteriors(z)

    def predict_log_proba(self, X: Any) -> Array:
        """ln of ``predict_proba``, finite in the far tail.

        >>> SigmoidRegressionClassifier().fit(iris.X, iris.y).predict_log_proba(iris.X[:2]).shape
        (2, 3)
        """
        rows = self._checked(X)
        z = self.discriminant_.scores(rows, np.float64)
        if self._multilabel:
            return np.asarray(-np.logaddexp(0.0, -z))
        return dataclasses.replace(self._rule, link="sigmoid").log_posteriors(z)

    # Learning

    def _read_target(self, y: Any, n_rows: int) -> Array:
        """Labels that exclude each other, or an indicator matrix of those that hold."""
        targets = in_memory(y)
        self._multilabel = targets.ndim == 2 and targets.shape[1] > 1
        if not self._multilabel:
            return np.asarray(super()._read_target(y, n_rows))
        if type_of_target(targets) != "multilabel-indicator" or not np.isin(targets, (0, 1)).all():
            raise DataError(
                f"y has {targets.shape[1]} columns, which are read as labels that hold (1) or not (0); it holds other "
                "values. Give one column of class labels, or an indicator matrix."
            )
        if self.class_weight is not None:
            raise ParameterError("class_weight has no meaning where labels do not exclude each other; weigh the rows.")
        if len(targets) != n_rows:
            raise DataError(
                f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows and y has "
                f"{len(targets)}."
            )
        self._label_dtype = targets.dtype
        return targets

    def _sample_of(self, rows: Rows, target: Array, sample_weight: Any, classes: Array | None) -> Sample:
        if not self._multilabel:
            return super()._sample_of(rows, target, sample_weight, classes)
        weight, held = check_weights(sample_weight, len(target)), target.astype(np.float64)
        schema = Schema(np.arange(target.shape[1]), rows.dtype, self._feature_names(), self._basis)
        return Sample(make_blocks(rows, held, weight), held, weight, schema)
