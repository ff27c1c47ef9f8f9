"""``Discriminant``: any basis, criterion, penalty, coding and optimizer that fit together.  The method you invent."""

from __future__ import annotations

from discriminant.estimators.deciding import DiscriminativeClassifier
from discriminant.estimators.parameters import parameters
from discriminant.estimators.parts import CODING, CRITERION, OPTIMIZER, PENALTY
from discriminant.methods.general import DiscriminantParameters, General


@parameters(criterion=CRITERION, penalty=PENALTY, coding=CODING, optimizer=OPTIMIZER)
class Discriminant(DiscriminantParameters, DiscriminativeClassifier):
    """argmin J for any parts that fit together; parts that do not are refused in a sentence.

    J(A) = Σ w ℓ(t, z) / Σ w + λ Ω(A) over z = [1, φ(x)] A.  Every discriminative method of this package is one choice
    of these parts, and this class takes any.

    Parameters
    ----------
    criterion : str or Pointwise, default="logistic"
        ℓ(t, z): "logistic", "softmax", "squared", "sigmoid-squared", "perceptron", "quadratic", "relaxation",
        "hinge", "squared-hinge", "kesler", "zero-one", or an instance of ``discriminant.criteria``.
    penalty : None, str or WeightPenalty, default=None
        λΩ(A): "ridge", "lasso", "elastic-net", "group", "jeffreys" (λ = 1), or an instance of
        ``discriminant.penalties``, such as ``Ridge(0.01)``.
    coding : str, array-like of shape (K, q) or ClassCoding, default="auto"
        "auto", "one-vs-rest", "one-vs-rest-k-1", "pairwise", "machine" (Kesler's construction), "softmax".
    decoder : {"maximum", "sum", "votes", "unanimous"} or None, default=None
        How outputs name a class; None: the coding's own way.  "sum" of raw pairwise scores is the textbook's and
        weak: pairwise logistic on iris has 0.60 of the flowers right by it and 0.99 by votes.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, discriminant_, certificate_, history_
    coding_, criterion_

    See Also
    --------
    LogisticRegression : The logistic criterion, with inference.
    LinearMachine : Kesler's construction.
    discriminant.criteria : The criteria to choose from.

    >>> model = Discriminant(criterion="hinge", coding="pairwise").fit(iris.X, iris.y)
    >>> round(model.score(iris.X, iris.y), 2), model.plan(iris.X, iris.y).method
    (0.99, 'linear-program')
    """

    _kind = General
