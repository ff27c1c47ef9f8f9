"""Criteria ℓ(t, z): what a row's score costs, given its target.  Functions of scores and targets, and of nothing else.

>>> make_criterion("logistic")
Logistic()
"""

from __future__ import annotations

import inspect
import re

from discriminant.criteria.kesler import Kesler
from discriminant.criteria.logistic import Logistic, softplus
from discriminant.criteria.perceptron import Hinge, Perceptron, Quadratic, Relaxation, SquaredHinge, ZeroOne
from discriminant.criteria.pointwise import Margin, Pointwise, Probability, documented
from discriminant.criteria.softmax import Softmax, log_sum_exp
from discriminant.criteria.squared import SigmoidSquared, Squared
from discriminant.decision.posteriors import log_sigmoid, log_softmax, sigmoid, softmax
from discriminant.errors import ParameterError, names

CRITERIA: dict[str, type[Pointwise]] = {  # every criterion that is imported above, by its name
    "-".join(re.findall("[A-Z][a-z]*", name)).lower(): kind
    for name, kind in sorted(vars().items())
    if isinstance(kind, type) and issubclass(kind, Pointwise) and not inspect.isabstract(kind)
}


@documented
def make_criterion(criterion: str | Pointwise) -> Pointwise:
    """The criterion of a name, with its default parameters.

    Parameters
    ----------
    criterion : str or Pointwise
        A name of ``CRITERIA``, in any case and with "_" or "-"; or a criterion.

    Returns
    -------
    Pointwise
        The criterion of that name, or the one given as it is.

    Raises
    ------
    ParameterError
        Where there is no criterion of that name; the sentence lists those there are.

    >>> make_criterion("squared_hinge")
    SquaredHinge(margin=1.0)
    """
    if isinstance(criterion, Pointwise):
        return criterion
    if isinstance(criterion, str):
        found = CRITERIA.get(criterion.lower().replace("_", "-"))
        if found is not None:
            return found()
        raise ParameterError(f"There is no criterion {criterion!r}; choose among {names(sorted(CRITERIA), most=20)}.")
    raise ParameterError(
        f"A criterion is a name or an instance of a subclass of discriminant.criteria.Pointwise; "
        f"{criterion!r} is neither."
    )


__all__ = [
    "CRITERIA", "Hinge", "Kesler", "Logistic", "Margin", "Perceptron", "Pointwise", "Probability", "Quadratic",
    "Relaxation", "SigmoidSquared", "Softmax", "Squared", "SquaredHinge", "ZeroOne", "log_sigmoid", "log_softmax",
    "log_sum_exp", "make_criterion", "sigmoid", "softmax", "softplus",
]  # fmt: skip
