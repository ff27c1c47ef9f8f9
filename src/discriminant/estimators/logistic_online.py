"""``partial_fit`` of logistic regression: earlier rows are remembered as a Gaussian over the weights."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from discriminant.data import require_finite
from discriminant.errors import DataError, ParameterError, names
from discriminant.estimators.coded import is_coded
from discriminant.estimators.compiled import Compiled
from discriminant.estimators.inputs import all_or_nothing
from discriminant.estimators.logistic_inputs import weigh
from discriminant.estimators.logistic_parameters import check_parameters
from discriminant.methods.parts import class_weights
from discriminant.objective import logistic_objective
from discriminant.optimize.choose import EXACT_SIZE
from discriminant.optimize.history import History
from discriminant.optimize.laplace import LaplacePosterior
from discriminant.protocols import Array, Certificate


class Online(Compiled):
    """``partial_fit``, where the settings allow it."""

    def _learns_in_parts(self) -> bool:
        options = vars(self)
        if is_coded(self):
            raise AttributeError("partial_fit takes no basis and no coding: map the rows first, and use the softmax.")
        special = [name for name in ("penalty_factors", "bounds", "groups") if options[name] is not None]
        if options["l1_ratio"] or special or options["penalty"] in ("l1", "elasticnet", "jeffreys"):
            raise AttributeError("partial_fit remembers rows to second order, which takes a plain ridge: l1_ratio=0.")
        return True

    @available_if(_learns_in_parts)
    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn more rows and forget them; ``classes`` on the first call.

        Earlier rows are remembered as a Gaussian over the weights: one call equals ``fit``, many come near to it.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or source of shape (n, d)
            The rows; a source is a ``scan``, a Dask collection or an array on a device.
        y : array-like of shape (n,)
            The labels.
        classes : array-like of shape (K,) or None, default=None
            All labels; needed on the first call only.
        sample_weight : array-like of shape (n,) or None, default=None
            How often each row counts; None: once.

        Returns
        -------
        self
            The fitted estimator.

        Examples
        --------
        >>> from discriminant import LogisticRegression, datasets
        >>> iris = datasets.load("iris")
        >>> model = LogisticRegression()
        >>> for start in range(3):
        ...     model = model.partial_fit(iris.X[start::3], iris.y[start::3], classes=iris.classes)
        >>> round(model.score(iris.X, iris.y), 2)
        0.97
        """
        return learn_more(self, X, y, classes, sample_weight)  # type: ignore[no-any-return]


def learn_more(estimator: Any, X: Any, y: Any, classes: Any, sample_weight: Any) -> Any:
    """Learn some rows on top of what is believed, and forget them."""
    strength = check_parameters(estimator)
    known = getattr(estimator, "_belief", None)
    if classes is None and not hasattr(estimator, "classes_"):
        raise DataError("classes must be passed on the first call to partial_fit: all labels that will ever come.")
    if known is not None and classes is not None and not np.array_equal(np.unique(classes), estimator.classes_):
        raise DataError(f"classes differ from those of the first call, {names(list(estimator.classes_))}.")
    labels = estimator.classes_ if known is not None or classes is None else np.unique(np.asarray(classes))
    sample = estimator._read_sample(X, y, sample_weight, labels)
    q = 1 if len(labels) == 2 else len(labels)
    if (sample.blocks.n_features + 1) * q > EXACT_SIZE:
        raise ParameterError(
            f"partial_fit keeps a matrix of all weights, and {(sample.blocks.n_features + 1) * q} are too many; "
            "use fit on rows from discriminant.scan, or select columns."
        )
    blocks = sample.blocks
    if estimator.class_weight is not None:
        if isinstance(estimator.class_weight, str):
            raise ParameterError("class_weight='balanced' needs all rows; give partial_fit a dict of weights.")
        factors = class_weights(estimator.class_weight, labels, np.ones(len(labels)))
        blocks = blocks if factors is None else weigh(blocks, factors)
    objective = logistic_objective(blocks, len(labels), 0.0, bool(estimator.fit_intercept))
    before = known or LaplacePosterior.prior(objective.n_features, q, strength.l2, objective.intercept)
    belief = before.learn(objective)
    # A step that meets NaN is not taken, so that the weights do not show it: the rows themselves are looked at.
    require_finite(blocks.rows, estimator._names(), estimator=type(estimator).__name__)
    estimator._belief = belief
    return _show(estimator, belief, labels, sample.dtype)


def _show(estimator: Any, belief: LaplacePosterior, classes: Array, dtype: Any) -> Any:
    A = belief.mean - (belief.mean.mean(axis=1, keepdims=True) if belief.mean.shape[1] > 1 else 0.0)
    estimator._set_weights(A, None, classes, dtype)
    estimator.n_iter_ = np.array([1], dtype=np.int32)
    status = f"Learned {belief.rows} rows in parts: earlier ones are remembered to second order."
    estimator.certificate_ = Certificate(status, True)
    estimator.history_ = History()
    return estimator
