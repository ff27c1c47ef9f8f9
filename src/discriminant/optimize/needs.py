"""Whether an optimizer fits an objective, and the sentence when it does not."""

from __future__ import annotations

from typing import Any

from discriminant.errors import MismatchError
from discriminant.objective import PointwiseObjective
from discriminant.optimize.iterative import documented
from discriminant.protocols import Oracle

_WORDS = {
    Oracle.VALUE: "a value",
    Oracle.GRADIENT: "a gradient",
    Oracle.CURVATURE: "a curvature (a smooth criterion)",
    Oracle.QUADRATIC: "a criterion that is quadratic in the scores",
    Oracle.MARGIN: "a criterion that is zero beyond a margin",
    Oracle.CONJUGATE: "a conjugate",
    Oracle.LINEAR: "a criterion that is piecewise linear in the scores",
}
_CRITERIA_WITH = {
    Oracle.GRADIENT: "Logistic, Softmax, Squared or Perceptron",
    Oracle.CURVATURE: "Logistic, Softmax, Squared, SquaredHinge or Relaxation",
    Oracle.QUADRATIC: "Squared",
    Oracle.MARGIN: "Perceptron, Relaxation or Hinge",
    Oracle.LINEAR: "Hinge, or Perceptron with a margin",
}
# In the order in which they are offered: the first whose needs are met.
_OPTIMIZERS_FOR = (
    (Oracle.CURVATURE | Oracle.GRADIENT, "Newton or LBFGS"),
    (Oracle.GRADIENT, "GradientDescent or SingleSample"),
    (Oracle.LINEAR, "LinearProgram"),
    (Oracle.VALUE, "Annealing"),
)


@documented
def require(optimizer: Any, objective: Any, needs: Oracle | None = None) -> None:
    """Refuse an optimizer and an objective that do not fit together.

    Parameters
    ----------
    optimizer : optimizer
        With ``needs``.
    needs : Oracle or None, default=None
        What is needed; None: ``optimizer.needs``.

    Raises
    ------
    MismatchError
        The sentence names optimizer, criterion (or penalty) and the way out.

    >>> from discriminant.criteria import ZeroOne
    >>> Discriminant(criterion=ZeroOne(), optimizer="newton").fit([[0.0], [1.0]], [0, 1])
    Traceback (most recent call last):
        ...
    discriminant.errors.MismatchError: ...
    """
    missing = (optimizer.needs if needs is None else needs) & ~objective.oracles
    if not missing:
        return
    oracle = next(one for one in _WORDS if one in missing)
    raise MismatchError(
        f"Optimizer {type(optimizer).__name__} needs {_WORDS[oracle]}, which {_culprit(objective, oracle)} does not "
        f"give; use {_way_out(objective, oracle)}."
    )


@documented
def require_rows(optimizer: Any, objective: Any) -> PointwiseObjective:
    """The objective as one over rows, for the optimizers that need them.

    Parameters
    ----------
    optimizer : optimizer
        Whose name the refusal gives.

    Returns
    -------
    PointwiseObjective
        The objective itself.

    Raises
    ------
    MismatchError
        Where it has no rows.

    >>> from discriminant.optimize import SingleSample
    >>> require_rows(SingleSample(), lambda A: 0.0)
    Traceback (most recent call last):
        ...
    discriminant.errors.MismatchError: ...
    """
    if not isinstance(objective, PointwiseObjective):
        raise MismatchError(
            f"Optimizer {type(optimizer).__name__} looks at the rows one by one and needs a PointwiseObjective; "
            f"{type(objective).__name__} is none. Use one that asks for values and gradients only, such as LBFGS."
        )
    return objective


def require_margin(optimizer: Any, objective: Any) -> None:
    """Refuse a criterion that zero weights solve, where nothing else is to be found."""
    if isinstance(objective, PointwiseObjective) and objective.least_at_zero:
        raise MismatchError(
            f"Optimizer {type(optimizer).__name__} needs a positive margin: with margin 0 criterion "
            f"{type(objective.criterion.single).__name__} is least at A = 0, which says nothing. Give it margin=1.0, "
            "or count errors with the criterion ZeroOne."
        )


def _culprit(objective: Any, oracle: Oracle) -> str:
    if not isinstance(objective, PointwiseObjective):
        return f"{type(objective).__name__}"
    if oracle not in objective.criterion.oracles:
        return f"criterion {type(objective.criterion).__name__}"
    return f"penalty {type(objective.penalty).__name__}"


def _way_out(objective: Any, oracle: Oracle) -> str:
    other = next((name for needs, name in _OPTIMIZERS_FOR if needs in objective.oracles), None)
    if isinstance(objective, PointwiseObjective) and oracle in objective.criterion.oracles:
        return "ProximalGradient" if Oracle.GRADIENT in objective.criterion.oracles else f"{other}, or no penalty"
    criteria = _CRITERIA_WITH.get(oracle)
    ways = [f"optimizer {other}" if other else "", f"a criterion such as {criteria}" if criteria else ""]
    return ", or ".join(way for way in ways if way)
