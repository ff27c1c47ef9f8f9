"""``LogisticRegression(penalty="jeffreys")``: Firth's bias reduction, which has a finite answer on separated data."""

from __future__ import annotations

from typing import Any

import numpy as np

from discriminant.data.sources import require_memory
from discriminant.errors import ParameterError
from discriminant.inference.firth import firth
from discriminant.optimize.history import History
from discriminant.protocols import Certificate


def fit_firth(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    """Maximise ℓ + ½ ln|I| and keep the weights in the estimator; C and l1_ratio take no part."""
    if not estimator.fit_intercept or estimator.class_weight is not None:
        raise ParameterError("penalty='jeffreys' is for fits with an intercept and without class_weight.")
    sample = estimator._read_sample(X, y, sample_weight)
    require_memory(sample.blocks, "penalty='jeffreys'")
    K = len(sample.classes)
    model, theta, found = firth(sample.blocks, K)
    A, center = model.scaling.to_user(theta)
    if K > 2:  # a vector for each class, of which the first is the reference; they are made to sum to zero
        A = np.c_[np.zeros(len(A)), A]
        A -= A.mean(axis=1, keepdims=True)
    assert found.hessian is not None
    size = np.sqrt(np.maximum(np.diagonal(found.hessian), 1e-300))
    score = float(np.abs(found.gradient.T.ravel() / size).max())
    total = float(sample.blocks.n_rows if sample.weight is None else sample.weight.sum())
    converged = score < 1e-6
    status = (
        f"Jeffreys' prior: the penalised likelihood is largest here; the score is {score:.1e} standard errors from 0."
        if converged
        else f"Jeffreys' prior: the score is still {score:.1e} standard errors from zero."
    )
    estimator._set_weights(A, center, sample.classes, sample.dtype)
    estimator._belief = None
    estimator.n_iter_ = np.array([1], dtype=np.int32)
    estimator.history_ = History()
    estimator.certificate_ = Certificate(status, converged, found.value / total, gradient_norm=score)
    estimator._remember((X, y, sample_weight, None), sample.blocks, None, model.scaling)
    return estimator
