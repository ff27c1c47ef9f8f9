"""What the classifiers share that may learn sample by sample: ``partial_fit``, weights to begin with, held-out rows."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit

from discriminant.docstrings import documented
from discriminant.errors import DataError, ParameterError, as_numbers
from discriminant.estimators.deciding import DiscriminativeClassifier, SparseCoefficients
from discriminant.estimators.inputs import all_or_nothing
from discriminant.estimators.learner import LearnsInParts
from discriminant.methods.parameters import EpochParameters
from discriminant.methods.sequential import SequentialMethod
from discriminant.protocols import Array


@documented
class SequentialClassifier(EpochParameters, SparseCoefficients, LearnsInParts, DiscriminativeClassifier):
    """A classifier that may learn sample by sample, and go on with the next part of the data."""

    _step = "epoch"
    corrections_: Array
    t_: int

    def _method(self) -> SequentialMethod:
        return self._as(self._kind)  # type: ignore[no-any-return]

    # Learning

    def _most_steps(self) -> int | None:
        return int(self.max_iter)

    @all_or_nothing
    def fit(  # type: ignore[override]  # scikit-learn's order of arguments, which its users write without names
        self, X: Any, y: Any = None, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn from rows and labels, optionally from given weights on.

        >>> X, y = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, 2.0]], [0, 0, 0, 1]
        >>> Perceptron(shuffle=False, tol=None).fit(X, y).n_iter_
        3
        >>> Perceptron(shuffle=False, tol=None).fit(X, y, coef_init=[[1.0, 1.0]], intercept_init=[-2.0]).n_iter_
        1
        """
        return self._learned(X, y, coef_init, intercept_init, sample_weight)

    def _learned(self, X: Any, y: Any, coef_init: Any, intercept_init: Any, sample_weight: Any, **more: Any) -> Self:
        method = self._method()
        method.check()  # before the rows are read
        given = given_start(coef_init, intercept_init)
        sample = self._sample(X, y, sample_weight)
        return self._hold(method.fit(sample, self._previous(sample), given, _held_out, **more))


def given_start(coef: Any, intercept: Any) -> Array | None:
    """(1+d, q): the weights that ``coef_init`` and ``intercept_init`` mean."""
    if coef is None and intercept is None:
        return None
    if coef is None:
        raise ParameterError("intercept_init says where the intercepts start; give coef_init with it.")
    slopes = np.atleast_2d(as_numbers(coef, "coef_init"))
    first = np.zeros(len(slopes)) if intercept is None else np.ravel(as_numbers(intercept, "intercept_init"))
    if first.shape != (len(slopes),):
        raise ParameterError(f"intercept_init has {first.size} entries and coef_init {len(slopes)} rows.")
    return np.vstack([first, slopes.T])


def _held_out(codes: Array, fraction: float, seed: int) -> tuple[Array, Array]:
    """(rows to learn from, rows to ask), by class: at least one of each class among the latter."""
    count = max(math.ceil(fraction * len(codes)), len(np.unique(codes)))
    split = StratifiedShuffleSplit(test_size=count, random_state=seed)
    try:
        learn, ask = next(split.split(np.zeros((len(codes), 1)), codes))
    except ValueError as error:
        raise DataError(f"early_stopping sets rows of every class aside, and cannot here: {error}") from error
    return learn, ask
