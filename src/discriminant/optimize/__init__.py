"""Optimizers: argmin J.  Each knows an objective and nothing else, says what it needs, and tells how it ended.

>>> make_optimizer("newton", iterations=5).iterations
5
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from discriminant.errors import ParameterError, names
from discriminant.protocols import Optimizer

if TYPE_CHECKING:
    from discriminant.optimize.annealing import Annealing
    from discriminant.optimize.closed_form import ClosedForm, LeastSquares, least_squares_from_moments
    from discriminant.optimize.conjugate_gradient import ConjugateGradient
    from discriminant.optimize.corrections import Corrections
    from discriminant.optimize.evolution import DifferentialEvolution
    from discriminant.optimize.gradient_descent import GradientDescent
    from discriminant.optimize.history import History
    from discriminant.optimize.iterative import Iterative, Step
    from discriminant.optimize.lbfgs import LBFGS
    from discriminant.optimize.linear_program import LinearProgram
    from discriminant.optimize.mixed_integer import BoundedSolution, MixedInteger
    from discriminant.optimize.needs import require, require_rows
    from discriminant.optimize.newton import Newton
    from discriminant.optimize.proximal_gradient import ProximalGradient
    from discriminant.optimize.proximal_newton import ProximalNewton
    from discriminant.optimize.reweighted import Reweighted
    from discriminant.optimize.schedules import (
        Conditions,
        Constant,
        Inverse,
        Power,
        Schedule,
        check_conditions,
        make_schedule,
    )
    from discriminant.optimize.single_sample import SequentialSolution, SingleSample
    from discriminant.optimize.solve import Solved, symmetric_solve

# Public name → the module that holds it: a fit loads the one optimizer that it uses.
_HOMES = {
    "LBFGS": "lbfgs",
    "Annealing": "annealing",
    "BoundedSolution": "mixed_integer",
    "ClosedForm": "closed_form",
    "Conditions": "schedules",
    "ConjugateGradient": "conjugate_gradient",
    "Constant": "schedules",
    "Corrections": "corrections",
    "DifferentialEvolution": "evolution",
    "GradientDescent": "gradient_descent",
    "History": "history",
    "Inverse": "schedules",
    "Iterative": "iterative",
    "LeastSquares": "closed_form",
    "LinearProgram": "linear_program",
    "MixedInteger": "mixed_integer",
    "Newton": "newton",
    "Power": "schedules",
    "ProximalGradient": "proximal_gradient",
    "ProximalNewton": "proximal_newton",
    "Reweighted": "reweighted",
    "Schedule": "schedules",
    "SequentialSolution": "single_sample",
    "SingleSample": "single_sample",
    "Solved": "solve",
    "Step": "iterative",
    "check_conditions": "schedules",
    "least_squares_from_moments": "closed_form",
    "make_schedule": "schedules",
    "require": "needs",
    "require_rows": "needs",
    "symmetric_solve": "solve",
}
_NAMED = {
    "annealing": "Annealing",
    "closed-form": "ClosedForm",
    "conjugate-gradient": "ConjugateGradient",
    "differential-evolution": "DifferentialEvolution",
    "gradient-descent": "GradientDescent",
    "lbfgs": "LBFGS",
    "linear-program": "LinearProgram",
    "mixed-integer": "MixedInteger",
    "newton": "Newton",
    "proximal-gradient": "ProximalGradient",
    "proximal-newton": "ProximalNewton",
    "single-sample": "SingleSample",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value


class _Optimizers(Mapping[str, type]):
    """The optimizers by their names, each loaded when it is asked for."""

    def __getitem__(self, name: str) -> type:
        found = _NAMED[name]
        return globals()[found] if found in globals() else __getattr__(found)  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[str]:
        return iter(_NAMED)

    def __len__(self) -> int:
        return len(_NAMED)


OPTIMIZERS = _Optimizers()


def make_optimizer(optimizer: Any, **options: Any) -> Any:
    """The optimizer of a name, with these options.

    Parameters
    ----------
    optimizer : str or optimizer
        A name of ``OPTIMIZERS``, in any case and with "_" or "-"; or an optimizer.
    **options : any
        Options of an optimizer given by name.

    Returns
    -------
    optimizer
        The optimizer of that name, or the one given as it is.

    Raises
    ------
    ParameterError
        Where there is no optimizer of that name; the sentence lists those there are.

    Examples
    --------
    >>> make_optimizer("lbfgs", memory=5).memory
    5
    """
    if not isinstance(optimizer, str):
        if isinstance(optimizer, Optimizer) and not isinstance(optimizer, type):
            return optimizer
        raise ParameterError(f"An optimizer is a name or has `needs` and `minimize`; {optimizer!r} is neither.")
    found = OPTIMIZERS.get(optimizer.lower().replace("_", "-"))
    if found is None:
        raise ParameterError(f"There is no optimizer {optimizer!r}; choose among {names(sorted(OPTIMIZERS), most=20)}.")
    return found(**options)


__all__ = [
    "LBFGS",
    "OPTIMIZERS",
    "Annealing",
    "BoundedSolution",
    "ClosedForm",
    "Conditions",
    "ConjugateGradient",
    "Constant",
    "Corrections",
    "DifferentialEvolution",
    "GradientDescent",
    "History",
    "Inverse",
    "Iterative",
    "LeastSquares",
    "LinearProgram",
    "MixedInteger",
    "Newton",
    "Power",
    "ProximalGradient",
    "ProximalNewton",
    "Reweighted",
    "Schedule",
    "SequentialSolution",
    "SingleSample",
    "Solved",
    "Step",
    "check_conditions",
    "least_squares_from_moments",
    "make_optimizer",
    "make_schedule",
    "require",
    "require_rows",
    "symmetric_solve",
]
