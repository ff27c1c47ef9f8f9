"""``Discriminant``: any basis, criterion, penalty, coding and optimizer that fit together.  The method you invent."""

from __future__ import annotations

from typing import Any, ClassVar

from discriminant.estimators.discriminative import DiscriminativeClassifier
from discriminant.estimators.parameters import (
    BASIS,
    BOOLEAN,
    CALLBACK,
    CLASS_WEIGHT,
    DECODER,
    LABEL,
    RANDOM_STATE,
    START,
)
from discriminant.estimators.parts import CODING, CRITERION, OPTIMIZER, PENALTY
from discriminant.methods.general import General


class Discriminant(DiscriminativeClassifier):
    """argmin J for any parts that fit together; parts that do not are refused in a sentence.

    J(A) = Σ w ℓ(t, z) / Σ w + λ Ω(A) over z = [1, φ(x)] A.  Every discriminative method of this package is one choice
    of these parts, and this class takes any.

    Parameters
    ----------
    basis : None, str, callable or transformer, default=None
        φ: "quadratic", "rbf:50", a basis of ``discriminant.bases`` or a transformer of scikit-learn; None: the
        columns.
    criterion : str or Pointwise, default="logistic"
        ℓ(t, z): "logistic", "softmax", "squared", "sigmoid-squared", "perceptron", "quadratic", "relaxation",
        "hinge", "squared-hinge", "kesler", "zero-one", or an instance of ``discriminant.criteria``.
    penalty : None, str or WeightPenalty, default=None
        λΩ(A): "ridge", "lasso", "elastic-net", "group", "jeffreys" (λ = 1), or an instance of
        ``discriminant.penalties``, such as ``Ridge(0.01)``.
    coding : str, array-like of shape (K, q) or ClassCoding, default="auto"
        "auto", "one-vs-rest", "one-vs-rest-k-1", "pairwise", "machine" (Kesler's construction), "softmax".
    optimizer : str or optimizer, default="auto"
        "auto", or an optimizer of ``discriminant.optimize`` by name or as an instance.
    decoder : {"maximum", "sum", "votes", "unanimous"} or None, default=None
        How outputs name a class; None: the coding's own way.  "sum" of raw pairwise scores is the textbook's and
        weak: pairwise logistic on iris has 0.60 of the flowers right by it and 0.99 by votes.
    reject_label : label or None, default=None
        What ``predict`` returns with the decoder "unanimous" where not exactly one class is claimed; None: −1 or
        "reject", as the labels are numbers or not.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights of the rows of each class; "balanced": inverse to the class frequencies.
    fit_intercept : bool, default=True
        Whether there is an intercept; False: hyperplanes through the origin.
    start : None, "random" or array-like of shape (1 + d̂, q), default=None
        Where descent begins: zeros; uniform in (−0.01, 0.01), as in Alpaydin's figures 10.6 and 10.8; or these
        weights.
    random_state : int, Generator, RandomState or None, default=0
        Seed of what is drawn at random.
    warm_start : bool, default=False
        Start from the previous solution.
    trace : bool, default=False
        Keep the weights and errors of every step in ``history_``.
    callback : callable or None, default=None
        Called with each ``Step``; stops the run by returning True.

    Attributes
    ----------
    coef_ : ndarray of shape (q, d̂)
        The weights: a row for each output (one for two classes), a column for each feature of φ.
    intercept_ : ndarray of shape (q,)
        The intercept of each output.
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    n_iter_ : int
        Iterations of the optimizer.
    n_features_in_ : int
        d, the columns of X.
    feature_names_in_ : ndarray of str of shape (d,)
        The names of the columns, where X has names that are all strings.
    discriminant_ : LinearDiscriminant
        The basis, the weights and the decision rule as one value.
    certificate_ : Certificate
        What is proved of the fit: objective, lower bound, gap, and a status sentence.
    history_ : History
        One record for each iteration: objective, gradient norm, step.
    coding_ : ClassCoding
        The coding as it was used.
    criterion_ : Pointwise
        The criterion as it was used.

    See Also
    --------
    LogisticRegression : The logistic criterion, with inference.
    LinearMachine : Kesler's construction.
    discriminant.criteria : The criteria to choose from.

    Examples
    --------
    >>> from discriminant import Discriminant, datasets
    >>> iris = datasets.load("iris")
    >>> model = Discriminant(criterion="hinge", coding="pairwise").fit(iris.X, iris.y)
    >>> round(model.score(iris.X, iris.y), 2), model.plan(iris.X, iris.y).method
    (0.99, 'linear-program')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "basis": BASIS,
        "criterion": CRITERION,
        "penalty": PENALTY,
        "coding": CODING,
        "optimizer": OPTIMIZER,
        "decoder": DECODER,
        "reject_label": LABEL,
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
        basis: Any = None,
        criterion: Any = "logistic",
        penalty: Any = None,
        coding: Any = "auto",
        optimizer: Any = "auto",
        *,
        decoder: str | None = None,
        reject_label: Any = None,
        class_weight: Any = None,
        fit_intercept: bool = True,
        start: Any = None,
        random_state: Any = 0,
        warm_start: bool = False,
        trace: bool = False,
        callback: Any = None,
    ) -> None:
        self.basis = basis
        self.criterion = criterion
        self.penalty = penalty
        self.coding = coding
        self.optimizer = optimizer
        self.decoder = decoder
        self.reject_label = reject_label
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.start = start
        self.random_state = random_state
        self.warm_start = warm_start
        self.trace = trace
        self.callback = callback

    def _method(self) -> General:
        return self._as(General)
