"""A basis and a class coding for the methods that have a solver of their own: logistic regression and the SVC.

    φ(x) in place of x, and for each output j of the coding a two-class fit of the rows that take part in it:
    one-versus-rest K fits, its K−1 form one fewer, pairwise K(K−1)/2 on the rows of two classes, any matrix its columns

Each fit goes to the method's own solver and brings its own proof; the decoder makes one decision of them.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from discriminant.codings import ClassCoding, make_coding
from discriminant.criteria import Softmax, make_criterion
from discriminant.data import as_rows, count_classes, encode_labels, is_frame
from discriminant.data.check import check_weights
from discriminant.data.sources import find_source
from discriminant.errors import DataError, MismatchError
from discriminant.estimators.features import FeatureMap, fit_features
from discriminant.estimators.inputs import read_labels
from discriminant.methods.fit import require_two
from discriminant.methods.parts import class_weights, fit_together, link_of
from discriminant.model import LinearDiscriminant
from discriminant.optimize.choose import Choice
from discriminant.optimize.history import History
from discriminant.protocols import Array, Certificate

_BARE = {"basis": None, "coding": "auto", "decoder": None, "reject_label": None}


def is_coded(estimator: Any) -> bool:
    """Whether a basis, a coding or a decoder was asked for that the method's own solver does not know."""
    coding = getattr(estimator, "coding", "auto")
    asked = not (isinstance(coding, str) and coding.lower() == "auto")
    return asked or getattr(estimator, "basis", None) is not None or getattr(estimator, "decoder", None) is not None


@dataclasses.dataclass(frozen=True)
class Assignment:
    """Rows of φ(x), their class codes, and which two-class problems they are to be split into."""

    rows: Any
    codes: Array
    classes: Array
    weight: Array | None
    features: FeatureMap | None
    criterion: Any
    coding: ClassCoding
    dtype: Any

    @property
    def whole(self) -> bool:
        """Whether the method solves it as it is: two classes, or K together."""
        return self.coding.name in ("two-class", "softmax", "machine")

    def output(self, j: int) -> tuple[Any, Array, Array | None]:
        """(rows, labels 0 or 1, weights) of output j."""
        side = self.coding.signs[self.codes, j]
        taking_part, labels = np.flatnonzero(side), (side > 0).astype(np.uint8)
        if len(taking_part) == len(self.codes):
            return self.rows, labels, self.weight
        weight = None if self.weight is None else self.weight[taking_part]
        return _safe_indexing(self.rows, taking_part), labels[taking_part], weight


def assign(estimator: Any, X: Any, y: Any, sample_weight: Any, criterion: str) -> Assignment:
    """Read the rows, map them by the basis and split the classes as the coding says."""
    name = type(estimator).__name__
    if find_source(X) is not None:
        raise MismatchError(f"{name} with a basis or a coding takes rows in memory; leave both out for a source.")
    given = estimator._read_rows(X, reset=True)
    labels = read_labels(y, given.shape[0])
    classes, codes = encode_labels(labels)
    require_two(classes)
    weight = check_weights(sample_weight, len(codes), codes)
    counts = count_classes(codes, len(classes), weight)
    made, coding = _parts(estimator, criterion, len(classes), counts)
    factors = class_weights(estimator.class_weight, classes, counts)
    if factors is not None and coding.name not in ("two-class", "softmax", "machine"):
        if getattr(estimator, "correct_priors", False):
            raise MismatchError(
                "correct_priors moves the intercepts of classes; the outputs of a coding have none such."
            )
        weight = factors[codes] if weight is None else factors[codes] * weight
    features = fit_features(getattr(estimator, "basis", None), given, labels)
    dtype = np.float32 if getattr(given, "dtype", None) == np.float32 else np.float64
    rows = _rows(given) if features is None else features.transform(given)
    return Assignment(_rows(rows), codes, classes, weight, features, made, coding, dtype)


def _rows(X: Any) -> Any:
    """Rows that can be picked: a data frame as an array, all else as it is."""
    if not is_frame(X):
        return X
    source = as_rows(X)
    return source.columns(np.arange(source.shape[1]))


def _parts(estimator: Any, criterion: str, K: int, counts: Array) -> tuple[Any, ClassCoding]:
    """Criterion and coding; what the method solves for all classes together keeps the coding's name only."""
    coding, decoder = getattr(estimator, "coding", "auto"), getattr(estimator, "decoder", None)
    together = "softmax" if criterion == "logistic" else "machine"
    name = coding.lower().replace("_", "-") if isinstance(coding, str) else ""
    if name == "auto" and decoder is not None and decoder != "maximum":
        name = coding = "one-vs-rest"  # the decoders differ on outputs of their own only
    if name == "auto" and criterion != "logistic":
        name = coding = "one-vs-rest"
    if name in ("auto", together, "machine"):
        if decoder not in (None, "maximum"):
            raise MismatchError(
                f"The decoder {decoder!r} is for outputs that learn apart; with coding={coding!r} the largest score "
                "decides. Use coding='one-vs-rest' or 'pairwise'."
            )
        made = make_criterion(criterion)
        if K == 2:
            return made, make_coding("two-class", 2, labels=made.labels, threshold=made.threshold)
        return (Softmax() if together == "softmax" else made), make_coding(together, K)
    return fit_together(criterion, coding, K, counts, decoder)


def fit_coded(
    estimator: Any, X: Any, y: Any, sample_weight: Any, criterion: str, together: dict[str, Any], **known: Any
) -> None:
    """Fit with a basis or a coding.  ``together``: the parameters by which the method takes K classes at once."""
    if getattr(y, "ndim", 1) == 2 and np.shape(y)[1] > 1:
        raise DataError(f"{type(estimator).__name__} with a basis or a coding takes labels, not a table of them.")
    task = assign(estimator, X, y, sample_weight, criterion)
    bare = clone(estimator).set_params(**_BARE, **({"warm_start": False} if hasattr(estimator, "warm_start") else {}))
    if task.whole:
        if len(task.classes) > 2:
            bare.set_params(**together)
        fits = [bare.fit(task.rows, task.classes[task.codes], task.weight, **known)]
    else:
        if any(value is not None for value in known.values()):
            raise MismatchError(f"An offset belongs to classes, not to the outputs of coding={estimator.coding!r}.")
        bare.set_params(class_weight=None)
        fits = []
        for j in range(task.coding.n_outputs):
            rows, labels, weight = task.output(j)
            fits.append(clone(bare).fit(rows, labels, weight))
    _keep(estimator, task, fits)


def _keep(estimator: Any, task: Assignment, fits: list[Any]) -> None:
    A, center = _joined([fit.discriminant_ for fit in fits])
    features = task.features
    names = estimator._names() if features is None else features.names()
    vars(estimator).pop("limit_", None)
    estimator.classes_, estimator.coding_, estimator.criterion_ = task.classes, task.coding, task.criterion
    estimator._features = features
    basis: Any = features if features is None or features.columns is not None else features.basis
    coding = None if task.whole else task.coding
    link = link_of(task.criterion, task.coding)
    estimator.discriminant_ = LinearDiscriminant(
        A, task.classes, coding=coding, feature_names=names, center=center, link=link, basis=basis
    )
    estimator.coef_ = np.array(estimator.discriminant_.coef, dtype=task.dtype)
    estimator.intercept_ = np.array(estimator.discriminant_.intercept, dtype=task.dtype)
    estimator._kept = (estimator.coef_.copy(), estimator.intercept_.copy())
    estimator.n_iter_ = fits[0].n_iter_ if len(fits) == 1 else np.max([np.max(fit.n_iter_) for fit in fits])
    estimator.certificate_ = _together([fit.certificate_ for fit in fits])
    estimator.history_ = getattr(fits[0], "history_", History()) if len(fits) == 1 else History()


def _joined(parts: list[LinearDiscriminant]) -> tuple[Array, Array | None]:
    """The weights of all outputs about the centre of the first."""
    center = parts[0].center
    columns = []
    for part in parts:
        A = np.array(part.weights)
        own = 0.0 if part.center is None else part.center
        common = 0.0 if center is None else center
        if np.any(np.asarray(own) != common):
            A[0] += np.asarray(common - own) @ A[1:]  # b + (x − c)W = b + (c₀ − c)W + (x − c₀)W
        columns.append(A)
    return np.hstack(columns), center


def _together(proofs: list[Certificate]) -> Certificate:
    """One certificate of all outputs: sums of objectives and bounds, and the worst of what is no sum."""
    if len(proofs) == 1:
        return proofs[0]
    worst = max(proofs, key=lambda proof: (not proof.converged, proof.gap / max(abs(proof.objective), 1e-300)))
    return dataclasses.replace(
        worst,
        status=f"{len(proofs)} outputs, each fitted by itself; the worst: {worst.status}",
        converged=all(proof.converged for proof in proofs),
        objective=float(sum(proof.objective for proof in proofs)),
        bound=float(sum(proof.bound for proof in proofs)),
        gap=float(sum(proof.gap for proof in proofs)),
        gradient_norm=float(max(proof.gradient_norm for proof in proofs)),
        passes=float(sum(proof.passes for proof in proofs)),
    )


def plan_coded(estimator: Any, X: Any, y: Any, sample_weight: Any, criterion: str) -> Choice:
    """Which method the outputs would be fitted with, and why."""
    task = assign(clone(estimator), X, y, sample_weight, criterion)
    bare = clone(estimator).set_params(**_BARE)
    if task.whole:
        choice: Choice = bare.plan(task.rows, task.classes[task.codes], task.weight)
        return choice
    choice = bare.set_params(class_weight=None).plan(*task.output(0))
    return Choice(choice.method, f"{choice.why}; so for each of {task.coding.n_outputs} outputs")
