"""``LinearMachine``: Kesler's construction (``methods.machine``) as a scikit-learn classifier."""

from __future__ import annotations

from discriminant.estimators.deciding import DiscriminativeClassifier
from discriminant.estimators.parameters import NOT_NEGATIVE, Among, parameters
from discriminant.estimators.parts import CRITERION, OPTIMIZER, PENALTY
from discriminant.methods.machine import LinearMachineParameters, Machine


@parameters(
    criterion=CRITERION,
    margin=[None, NOT_NEGATIVE],
    over=[Among("all", "worst")],
    optimizer=OPTIMIZER,
    penalty=PENALTY,
)
class LinearMachine(LinearMachineParameters, DiscriminativeClassifier):
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
    penalty : None, str or WeightPenalty, default=None
        λΩ(A), as in ``Discriminant``.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, discriminant_, certificate_, history_, coding_, criterion_

    See Also
    --------
    Discriminant : Any criterion, penalty and coding.
    discriminant.criteria.Kesler : The construction.

    >>> machine = LinearMachine("hinge").fit(iris.X, iris.y)
    >>> round(machine.score(iris.X, iris.y), 2)
    0.99
    """

    _kind = Machine
