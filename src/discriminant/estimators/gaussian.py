"""What the Gaussian classifiers share: robust covariances, and leave-one-out."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from discriminant.decision.posteriors import log_softmax
from discriminant.docstrings import documented
from discriminant.errors import DataError
from discriminant.estimators.moments import GenerativeClassifier, without_each
from discriminant.gaussian.moments import ClassMoments
from discriminant.methods.fit import Fit, Sample
from discriminant.methods.gaussian import GaussianMethod
from discriminant.protocols import Array

Deletion = Callable[[Array, Array, Array], Array]


@documented
class GaussianClassifier(GenerativeClassifier):
    """Leave-one-out in closed form."""

    moments_: ClassMoments
    _whitened: Any

    # Learning

    def _method(self) -> GaussianMethod:
        return self._as(self._kind)  # type: ignore[no-any-return]

    def _fitted(self, sample: Sample) -> Fit:
        return self._method().fit(sample, minimum_covariance_determinant)

    # Leave-one-out

    def _deletion(self) -> Deletion:
        """(rows, codes, weights) ↦ scores of each row under the model without it."""
        raise NotImplementedError(f"{type(self).__name__} has no closed-form leave-one-out.")

    def _deleted_scores(self, X: Any, y: Any, sample_weight: Any) -> Array:
        """Leave-one-out scores (n, K) of the training rows, block by block."""
        self._require_fitted()
        deletion = self._deletion()
        sample = self._rows_of_fit(X, y, sample_weight)
        return without_each(sample, len(self.classes_), lambda x, codes, weight, _: deletion(x, codes, weight))

    def loo_predict_log_proba(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """The log posteriors of each training row under the model learned without it, in closed form.

        >>> model = LinearDiscriminantAnalysis().fit(iris.X, iris.y)
        >>> model.loo_predict_log_proba(iris.X, iris.y).shape
        (150, 3)
        """
        return log_softmax(self._deleted_scores(X, y, sample_weight))

    def loo_predict_proba(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """The posteriors of each training row under the model learned without it, in closed form.

        >>> model = LinearDiscriminantAnalysis().fit(iris.X, iris.y)
        >>> model.loo_predict_proba(iris.X, iris.y)[70].round(3)
        array([0.  , 0.17, 0.83])
        """
        return np.exp(self.loo_predict_log_proba(X, y, sample_weight))

    def loo_predict(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """The class of each training row under the model learned without it, in closed form.

        >>> model = LinearDiscriminantAnalysis().fit(iris.X, iris.y)
        >>> int((model.loo_predict(iris.X, iris.y) != iris.y).sum())
        3
        """
        return np.asarray(self.classes_.take(self._deleted_scores(X, y, sample_weight).argmax(axis=1)))

    def loo_score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The leave-one-out accuracy on the training rows, in closed form.

        >>> round(LinearDiscriminantAnalysis().fit(iris.X, iris.y).loo_score(iris.X, iris.y), 2)
        0.98
        """
        hits = self.loo_predict(X, y, sample_weight) == np.asarray(y).ravel()
        return float(np.average(hits, weights=sample_weight))


def minimum_covariance_determinant(rows: Array, precision: float) -> tuple[Array, Array]:
    """(location, covariance) of the half of the rows with the smallest covariance determinant, reweighted."""
    from sklearn.covariance import MinCovDet

    scale = rows.std(axis=0)
    offset = np.median(rows, axis=0)
    scale = np.where(scale > precision * np.abs(offset), scale, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own subsets' rank; ours is judged and said afterwards
        try:
            mcd = MinCovDet(random_state=0).fit((rows - offset) / scale)
        except ValueError as error:  # half of the rows are one point
            raise DataError(
                f"covariance='robust' finds no spread among half of the {len(rows)} rows of a class: many of them are "
                "the same. Use covariance='maximum-likelihood', or leave out columns that hardly vary."
            ) from error
    return offset + mcd.location_ * scale, mcd.covariance_ * scale * scale[:, None]
