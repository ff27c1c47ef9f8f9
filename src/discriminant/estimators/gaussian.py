"""What the Gaussian classifiers share: posteriors under any priors, and leave-one-out."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from discriminant.decision.posteriors import log_softmax, softmax
from discriminant.decision.priors import check_priors, shift_log_posteriors
from discriminant.decision.rule import largest
from discriminant.errors import DataError
from discriminant.estimators.moments import MomentClassifier
from discriminant.methods.fit import Fit, Sample
from discriminant.methods.gaussian import GaussianMethod
from discriminant.protocols import Array

Deletion = Callable[[Array, Array, Array], Array]


class GaussianClassifier(MomentClassifier):
    """Prediction, priors at prediction time and leave-one-out, on top of ``decision_function`` of a subclass."""

    priors_: Array
    _whitened: Any

    # Prediction

    def _joint_log_likelihood(self, rows: Any) -> Array:
        """(n, K) scores g_k = ln P_k + ln p(x|C_k), up to what all classes share."""
        raise NotImplementedError(f"{type(self).__name__} must say how its classes score a row.")

    def decision_function(self, X: Any) -> Array:
        """The logarithms of the posteriors up to a shared constant; for two classes the log odds.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or source of shape (n, d)
            The rows; a source is a ``scan``, a Dask collection or an array on a device.

        Returns
        -------
        ndarray of shape (n, K), or (n,) for two classes
            Class scores; of two classes, positive for ``classes_[1]``.

        Examples
        --------
        >>> from discriminant import QuadraticDiscriminantAnalysis, datasets
        >>> iris = datasets.load("iris")
        >>> model = QuadraticDiscriminantAnalysis().fit(iris.X, iris.y)
        >>> model.decision_function(iris.X[:2]).shape
        (2, 3)
        """
        scores = self._joint_log_likelihood(self._checked_rows(X))
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any, priors: Any = None) -> Array:
        """The class of the largest posterior, under the training priors or those given here.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or source of shape (n, d)
            The rows; a source is a ``scan``, a Dask collection or an array on a device.
        priors : array-like of shape (K,), mapping or None, default=None
            Class priors to decide under; None: those of the fit.

        Returns
        -------
        ndarray of shape (n,)
            The label of each row.

        Examples
        --------
        >>> from discriminant import QuadraticDiscriminantAnalysis, datasets
        >>> iris = datasets.load("iris")
        >>> model = QuadraticDiscriminantAnalysis().fit(iris.X, iris.y)
        >>> model.predict(iris.X[70:71]).tolist(), model.predict(iris.X[70:71], priors=[0.1, 0.8, 0.1]).tolist()
        (['virginica'], ['versicolor'])
        """
        scores = self._joint_log_likelihood(self._checked_rows(X))
        if priors is not None:
            scores = shift_log_posteriors(log_softmax(scores), self.priors_, check_priors(priors, self.classes_))
        return np.asarray(self.classes_.take(largest(scores)))

    def predict_log_proba(self, X: Any, priors: Any = None) -> Array:
        """log P(C_k|x), finite in the far tail, under the training priors or those given here.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or source of shape (n, d)
            The rows; a source is a ``scan``, a Dask collection or an array on a device.
        priors : array-like of shape (K,), mapping or None, default=None
            Class priors to decide under; None: those of the fit.

        Returns
        -------
        ndarray of shape (n, K)
            Logarithms of probabilities, in the order of ``classes_``.

        Examples
        --------
        >>> from discriminant import QuadraticDiscriminantAnalysis, datasets
        >>> iris = datasets.load("iris")
        >>> model = QuadraticDiscriminantAnalysis().fit(iris.X, iris.y)
        >>> model.predict_log_proba(iris.X[:1]).round(1)
        array([[ -0. , -59.4, -95.2]])
        """
        log_posteriors = log_softmax(self._joint_log_likelihood(self._checked_rows(X)))
        if priors is None:
            return log_posteriors
        return shift_log_posteriors(log_posteriors, self.priors_, check_priors(priors, self.classes_))

    def predict_proba(self, X: Any, priors: Any = None) -> Array:
        """P(C_k|x), under the training priors or those given here.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or source of shape (n, d)
            The rows; a source is a ``scan``, a Dask collection or an array on a device.
        priors : array-like of shape (K,), mapping or None, default=None
            Class priors to decide under; None: those of the fit.

        Returns
        -------
        ndarray of shape (n, K)
            Probabilities that sum to one in each row, in the order of ``classes_``.

        Examples
        --------
        >>> from discriminant import QuadraticDiscriminantAnalysis, datasets
        >>> iris = datasets.load("iris")
        >>> model = QuadraticDiscriminantAnalysis().fit(iris.X, iris.y)
        >>> model.predict_proba(iris.X[70:71]).round(3)
        array([[0.   , 0.328, 0.672]])
        >>> model.predict_proba(iris.X[70:71], priors=[0.1, 0.8, 0.1]).round(3)
        array([[0.   , 0.796, 0.204]])
        """
        if priors is None:
            return softmax(self._joint_log_likelihood(self._checked_rows(X)))
        return np.exp(self.predict_log_proba(X, priors))

    # Learning

    def _method(self) -> GaussianMethod:
        raise NotImplementedError(f"{type(self).__name__} must name its method.")

    def _fitted(self, sample: Sample) -> Fit:
        return self._method().fit(sample, minimum_covariance_determinant)

    # Leave-one-out

    def _deletion(self) -> Deletion:
        """(rows, codes, weights) ↦ scores of each row under the model without it."""
        raise NotImplementedError(f"{type(self).__name__} has no closed-form leave-one-out.")

    def _deleted_scores(self, X: Any, y: Any, sample_weight: Any) -> Array:
        """Leave-one-out scores (n, K) of the training rows, block by block."""
        check_is_fitted(self)
        deletion = self._deletion()
        sample = self._sample(X, y, sample_weight, self.classes_)
        require_rows_of_fit(self.moments_.total, sample.total)
        out = np.empty((sample.blocks.n_rows, len(self.classes_)))
        for block in sample.blocks:
            weight = np.ones(block.rows) if block.weight is None else block.weight
            codes = np.asarray(block.target, dtype=np.intp)
            out[block.start : block.start + block.rows] = deletion(block.design.dense(), codes, weight)
        return out

    def loo_predict_log_proba(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """The log posteriors of each training row under the model learned without it, in closed form.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or source of shape (n, d)
            The rows; a source is a ``scan``, a Dask collection or an array on a device.
        y : array-like of shape (n,)
            The labels.
        sample_weight : array-like of shape (n,) or None, default=None
            How often each row counts; None: once.

        Returns
        -------
        ndarray of shape (n, K)
            Logarithms of probabilities, in the order of ``classes_``.

        Examples
        --------
        >>> from discriminant import LinearDiscriminantAnalysis, datasets
        >>> iris = datasets.load("iris")
        >>> model = LinearDiscriminantAnalysis().fit(iris.X, iris.y)
        >>> model.loo_predict_log_proba(iris.X, iris.y).shape
        (150, 3)
        """
        return log_softmax(self._deleted_scores(X, y, sample_weight))

    def loo_predict_proba(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """The posteriors of each training row under the model learned without it, in closed form.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or source of shape (n, d)
            The rows; a source is a ``scan``, a Dask collection or an array on a device.
        y : array-like of shape (n,)
            The labels.
        sample_weight : array-like of shape (n,) or None, default=None
            How often each row counts; None: once.

        Returns
        -------
        ndarray of shape (n, K)
            Probabilities that sum to one in each row, in the order of ``classes_``.

        Examples
        --------
        >>> from discriminant import LinearDiscriminantAnalysis, datasets
        >>> iris = datasets.load("iris")
        >>> model = LinearDiscriminantAnalysis().fit(iris.X, iris.y)
        >>> model.loo_predict_proba(iris.X, iris.y)[70].round(3)
        array([0.  , 0.17, 0.83])
        """
        return np.exp(self.loo_predict_log_proba(X, y, sample_weight))

    def loo_predict(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """The class of each training row under the model learned without it, in closed form.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or source of shape (n, d)
            The rows; a source is a ``scan``, a Dask collection or an array on a device.
        y : array-like of shape (n,)
            The labels.
        sample_weight : array-like of shape (n,) or None, default=None
            How often each row counts; None: once.

        Returns
        -------
        ndarray of shape (n,)
            The label of each row.

        Examples
        --------
        >>> from discriminant import LinearDiscriminantAnalysis, datasets
        >>> iris = datasets.load("iris")
        >>> model = LinearDiscriminantAnalysis().fit(iris.X, iris.y)
        >>> int((model.loo_predict(iris.X, iris.y) != iris.y).sum())
        3
        """
        return np.asarray(self.classes_.take(self._deleted_scores(X, y, sample_weight).argmax(axis=1)))

    def loo_score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The leave-one-out accuracy on the training rows, in closed form.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or source of shape (n, d)
            The rows; a source is a ``scan``, a Dask collection or an array on a device.
        y : array-like of shape (n,)
            The labels.
        sample_weight : array-like of shape (n,) or None, default=None
            How often each row counts; None: once.

        Returns
        -------
        float
            Between 0 and 1.

        Examples
        --------
        >>> from discriminant import LinearDiscriminantAnalysis, datasets
        >>> iris = datasets.load("iris")
        >>> round(LinearDiscriminantAnalysis().fit(iris.X, iris.y).loo_score(iris.X, iris.y), 2)
        0.98
        """
        hits = self.loo_predict(X, y, sample_weight) == np.asarray(y).ravel()
        return float(np.average(hits, weights=sample_weight))


def require_rows_of_fit(seen: float, given: float) -> None:
    """Refuse rows that cannot be those of the fit, since their weights have another sum."""
    if abs(seen - given) > 1e-6 * seen:
        raise DataError(
            f"Leave-one-out takes the rows that the model was fitted to: it saw a total weight of {seen:g}, and these "
            f"rows have {given:g}."
        )


def minimum_covariance_determinant(rows: Array, precision: float) -> tuple[Array, Array]:
    """(location, covariance) of the half of the rows with the smallest covariance determinant, reweighted."""
    from sklearn.covariance import MinCovDet

    scale = rows.std(axis=0)
    offset = np.median(rows, axis=0)
    scale = np.where(scale > precision * np.abs(offset), scale, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own subsets' rank; ours is judged and said afterwards
        mcd = MinCovDet(random_state=0).fit((rows - offset) / scale)
    return offset + mcd.location_ * scale, mcd.covariance_ * scale * scale[:, None]
