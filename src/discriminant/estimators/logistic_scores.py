"""Scores of many logistic fits on held-out rows: accuracies are counted, others are scikit-learn's scorers."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn
from sklearn.metrics import make_scorer
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params

from discriminant.arrays import is_frame
from discriminant.errors import ParameterError
from discriminant.estimators.logistic import LogisticRegression
from discriminant.methods.fit import Schema
from discriminant.methods.logistic import weights_state
from discriminant.methods.logistic_folds import Folds
from discriminant.protocols import Array


def routing_enabled() -> bool:
    """Whether scikit-learn routes metadata."""
    return bool(sklearn.get_config().get("enable_metadata_routing", False))


@dataclass(frozen=True)
class Scoring:
    """How fits are judged: ``scorer`` None is accuracy."""

    scorer: Any
    classes: Array
    X: Any
    y: Array
    weight: Array | None
    params: Any

    def grid(self, folds: Folds, weights: Array, splits: Any) -> Array:
        """Scores (F, L) of plain weights (F, L, 1+d, q)."""
        found = []
        for A, (_, test) in zip(weights, splits, strict=True):
            index = np.flatnonzero(test) if np.asarray(test).dtype == bool else np.asarray(test)
            scored = folds.accuracies(A, index, self.weight) if self.scorer is None else self._score(folds, A, index)
            found.append(scored)
        return np.stack(found)

    def _score(self, folds: Folds, weights: Array, index: Array) -> Array:
        # A frame stays one, for scorers that look up columns; of all other storages the rows that were fitted.
        X = _safe_indexing(self.X, index) if is_frame(self.X) else folds.objective.blocks.rows.pick(index).values
        y, params = self.y[index], _check_method_params(X=self.y, params=self.params or {}, indices=index)
        scorer = with_labels(self.scorer, self.classes)
        try:
            return np.array([scorer(as_model(A, self.classes), X, y, **params) for A in weights])
        except (ValueError, TypeError) as error:  # a measure of regressions, given classes
            raise ParameterError(
                f"scoring cannot judge the held-out rows of these classes by {self.scorer}: {error}. Choose a measure "
                "of classes, such as 'accuracy', 'balanced_accuracy' or 'neg_log_loss'."
            ) from error


def with_labels(scorer: Any, classes: Array) -> Any:
    """The scorer, given all class labels where its function takes them: a fold need not hold every class."""
    function = getattr(scorer, "_score_func", None)
    if function is None or "labels" not in (known := inspect.signature(function).parameters):
        return scorer
    extra = {"pos_label": classes[-1]} if len(classes) <= 2 and "pos_label" in known else {}
    return make_scorer(
        function,
        greater_is_better=scorer._sign == 1,
        response_method=scorer._response_method,
        **{"labels": classes, **extra, **getattr(scorer, "_kwargs", {})},
    )


class _Fitted(LogisticRegression):
    """A fitted model from weights alone, for scorers."""

    def _checked(self, X: Any) -> Any:
        return X


def as_model(A: Array, classes: Array) -> LogisticRegression:
    """A logistic regression with these plain weights."""
    model = _Fitted()
    model.__dict__ |= weights_state(A, None, Schema(classes)) | {"n_features_in_": len(A) - 1}
    return model
