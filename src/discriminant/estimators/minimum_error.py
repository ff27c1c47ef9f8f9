"""``MinimumErrorClassifier``: the fewest errors, and a bound (``methods.minimum_error``), for scikit-learn."""

from __future__ import annotations

from sklearn.utils._param_validation import HasMethods

from discriminant.estimators.deciding import DiscriminativeClassifier
from discriminant.estimators.parameters import COUNT, DURATION, Among, parameters
from discriminant.methods.minimum_error import MinimumError, MinimumErrorParameters

OPTIMIZERS = ("auto", "annealing", "differential-evolution", "mixed-integer", "witnesses")


@parameters(
    optimizer=[Among(*OPTIMIZERS), HasMethods("minimize")],
    max_iter=[COUNT],
    rounds=[COUNT],
    seconds=[DURATION],
)
class MinimumErrorClassifier(MinimumErrorParameters, DiscriminativeClassifier):
    """The fewest training errors, counted, with a proof of how many no discriminant can avoid.

    argmin Σ w 1(t·a·y ≤ 0).  A row is an error unless it lies strictly on its side.  Few training errors are no promise
    for new rows.

    Parameters
    ----------
    optimizer : str or optimizer, default="auto"
        How few errors are searched for: "auto" is "annealing" from the logistic optimum, replaced by the exact answer
        where the witnesses find it; "differential-evolution" a genetic search; "mixed-integer" HiGHS (small n);
        "witnesses" the exact method alone.
    max_iter : int, default=300
        Moves of the annealing.
    rounds : int, default=50
        Rounds of the search for witnesses: more rounds, a better lower bound.
    seconds : float, default=30.0
        Time limit of that search, and of the mixed-integer program.

    Attributes
    ----------
    n_errors_ : int
        Rows that are not strictly on their side.
    lower_bound_ : float
        Weight of rows (their number, without weights) that every linear discriminant gets wrong; proved.
    coef_, intercept_, classes_, n_iter_, discriminant_
    certificate_ : Certificate
        ``bound`` is the proved share of errors; ``converged`` where it is met.
    history_, coding_, criterion_

    See Also
    --------
    LinearProgrammingClassifier : The least sum of slacks in place of the fewest errors.

    >>> model = MinimumErrorClassifier().fit(iris.X, iris.y)
    >>> model.n_errors_, model.lower_bound_, model.certificate_.converged
    (1, 1.0, True)
    """

    _kind = MinimumError
