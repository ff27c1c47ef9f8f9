"""The linear discriminant through the core alone: moments, whitening, weights.  The same numbers as the estimator
``LinearDiscriminantAnalysis``, without the second or two that loading scikit-learn takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discriminant.data import encode_labels, make_blocks
from discriminant.errors import DataError, capital, columns, names
from discriminant.gaussian.moments import class_moments, mapped_moments
from discriminant.gaussian.weights import linear_weights
from discriminant.gaussian.whiten import whiten_moments
from discriminant.model import LinearDiscriminant
from discriminant.protocols import Array


def fit_linear(X: Any, labels: Array, feature_names: Sequence[str]) -> tuple[LinearDiscriminant, list[str]]:
    """(discriminant, notes): Gaussian classes with one covariance, g_k(x) = ln P_k − ½ (x − m_k)ᵗ Σ⁻¹ (x − m_k)."""
    classes, codes = encode_labels(labels)
    if len(classes) < 2:
        raise DataError(f"The label is {names(classes.tolist())} in every row; there is nothing to tell apart.")
    if len(codes) <= len(classes):
        raise DataError(f"There are {len(codes)} rows for {len(classes)} classes; more rows than classes are needed.")
    blocks = make_blocks(X, codes)
    moments = class_moments(blocks, len(classes))
    if not np.isfinite(moments.scatter).all():
        raise DataError("The squares of some column overflow: it holds values above 1e300. Rescale it.")
    priors = moments.weight / moments.total

    def again(W: Array) -> tuple[Array, Array]:
        scatter, means = mapped_moments(blocks, moments, W)
        return scatter / moments.total, means

    whitened = whiten_moments(moments, moments.total, again=again)
    A = linear_weights(whitened, priors)
    if len(classes) == 2:
        A = A[:, 1:] - A[:, :1]
    link = "softmax" if len(classes) > 2 else "sigmoid"
    model = LinearDiscriminant(A, classes, feature_names=feature_names, center=whitened.origin, link=link)
    return model, _notes(whitened, feature_names)


def _notes(whitened: Any, feature_names: Sequence[str]) -> list[str]:
    notes = []
    if len(whitened.constant):
        what = columns(whitened.constant.tolist(), feature_names)
        notes.append(f"{capital(what)}: constant within the classes, so that no weight is given to it.")
    if len(whitened.collinear):
        what = columns(whitened.collinear.tolist(), feature_names, most=8)
        notes.append(f"{capital(what)} depend on one another; the weights of least length are taken.")
    return notes


def certificate(model: LinearDiscriminant) -> str:
    """What the fit proves about itself."""
    return "Closed form: the weights are a function of the class means and the covariance within the classes."
