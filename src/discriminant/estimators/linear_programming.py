"""``LinearProgrammingClassifier``: the least total slack (``methods.linear_program``) as a scikit-learn classifier."""

from __future__ import annotations

from discriminant.estimators.deciding import DiscriminativeClassifier
from discriminant.estimators.parameters import DURATION, NOT_NEGATIVE, POSITIVE, parameters
from discriminant.estimators.parts import CODING
from discriminant.methods.linear_program import LinearProgramming, LinearProgrammingParameters


@parameters(margin=[POSITIVE], alpha=[NOT_NEGATIVE], coding=CODING, seconds=[DURATION])
class LinearProgrammingClassifier(LinearProgrammingParameters, DiscriminativeClassifier):
    """A separating hyperplane by linear programming; the least slack where there is none.

    min Σ w ξ subject to t·a·y ≥ b − ξ, ξ ≥ 0: the hinge criterion, solved by HiGHS (Duda, Hart and Stork 5.10).

    Parameters
    ----------
    margin : float, default=1.0
        b > 0: t·a·y ≥ b for rows that are separated.  It sets the scale of the weights and nothing else.
    alpha : float, default=0.0
        λ of a lasso λ‖w‖₁, on standardised or comparable columns; 0: none.
    coding : str or array-like of shape (K, q), default="auto"
        "auto": one output for two classes, "machine" for more.  Also "one-vs-rest", "pairwise" and others.
    seconds : float, default=600.0
        Time limit of each program.

    Attributes
    ----------
    separated_ : bool
        Whether every row lies beyond its margin.
    coef_, intercept_, classes_, n_iter_, discriminant_
    certificate_ : Certificate
        The minimum, proved by the program's dual, and whether the classes are separable.
    history_, coding_, criterion_

    See Also
    --------
    separability : Whether the classes can be separated, and which rows prevent it.
    LinearSVC : The same slack with a ridge.

    >>> X, y = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [3.0, 3.0]], [0, 0, 0, 1]
    >>> model = LinearProgrammingClassifier().fit(X, y)
    >>> model.separated_, bool((model.decision_function(X) * [-1, -1, -1, 1]).min() >= 1)
    (True, True)
    """

    _kind = LinearProgramming
