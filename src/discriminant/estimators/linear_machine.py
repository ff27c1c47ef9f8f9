"""``LinearMachine``: K discriminants learned together by Kesler's construction, which is never built.

A sample y of class i asks that (a_i − a_j)·y > b for every rival j: K−1 samples of two classes in K(1+d) dimensions.
The gradient of Σ_j ℓ((a_i − a_j)·y) does with the K scores of the sample what a two-class procedure would do with
those (Duda, Hart and Stork 5.12).  Its decision regions are convex.
"""

from __future__ import annotations

from typing import Any, ClassVar

from discriminant.docstrings import documented
from discriminant.estimators.discriminative import DiscriminativeClassifier
from discriminant.estimators.parameters import (
    BASIS,
    BOOLEAN,
    CALLBACK,
    CLASS_WEIGHT,
    NOT_NEGATIVE,
    RANDOM_STATE,
    START,
    Among,
)
from discriminant.estimators.parts import CRITERION, OPTIMIZER, PENALTY
from discriminant.methods.machine import Machine


@documented
class LinearMachine(DiscriminativeClassifier):
    """argmax_k a_k·y, with any two-class criterion on the differences of scores.

    Kesler's construction, made implicit: a row of class i asks that (a_i − a_j)·y > 0 for each j ≠ i (Duda, Hart and
    Stork 5.12.1).

    Parameters
    ----------
    criterion : str or Pointwise, default="perceptron"
        The two-class ℓ: "perceptron", "relaxation", "quadratic", "hinge", "squared-hinge", "logistic", "squared"
        and so on.
    margin : float or None, default=None
        b of the criteria that have one; None: the criterion's own.
    over : {"all", "worst"}, default="all"
        Every rival counts (Kesler's construction), or only the strongest (the multi-class perceptron; with the hinge,
        Crammer and Singer's machine).
    optimizer, basis
    penalty : None, str or WeightPenalty, default=None
        λΩ(A), as in ``Discriminant``.
    class_weight, fit_intercept, start, random_state, warm_start, trace, callback

    Attributes
    ----------
    coef_ : ndarray of shape (K, d̂)
        The weights: a row for each class.
    intercept_ : ndarray of shape (K,)
        The intercept of each class.
    classes_, n_iter_, discriminant_, certificate_, history_, coding_, criterion_, n_features_in_, feature_names_in_

    See Also
    --------
    Discriminant : Any criterion, penalty and coding.
    discriminant.criteria.Kesler : The construction.

    Examples
    --------
    >>> from discriminant import LinearMachine, datasets
    >>> iris = datasets.load("iris")
    >>> machine = LinearMachine("hinge").fit(iris.X, iris.y)
    >>> round(machine.score(iris.X, iris.y), 2)
    0.99
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "criterion": CRITERION,
        "margin": [None, NOT_NEGATIVE],
        "over": [Among("all", "worst")],
        "optimizer": OPTIMIZER,
        "basis": BASIS,
        "penalty": PENALTY,
        "class_weight": CLASS_WEIGHT,
        "fit_intercept": BOOLEAN,
        "start": START,
        "random_state": RANDOM_STATE,
        "warm_start": BOOLEAN,
        "trace": BOOLEAN,
        "callback": CALLBACK,
    }

    def __init__(
        self,
        criterion: Any = "perceptron",
        *,
        margin: float | None = None,
        over: str = "all",
        optimizer: Any = "auto",
        basis: Any = None,
        penalty: Any = None,
        class_weight: Any = None,
        fit_intercept: bool = True,
        start: Any = None,
        random_state: Any = 0,
        warm_start: bool = False,
        trace: bool = False,
        callback: Any = None,
    ) -> None:
        self.criterion = criterion
        self.margin = margin
        self.over = over
        self.optimizer = optimizer
        self.basis = basis
        self.penalty = penalty
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.start = start
        self.random_state = random_state
        self.warm_start = warm_start
        self.trace = trace
        self.callback = callback

    def _method(self) -> Machine:
        return self._as(Machine)
