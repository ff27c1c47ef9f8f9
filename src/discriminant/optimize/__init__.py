"""Optimizers: argmin J.  Each knows an objective and nothing else, says what it needs, and says how it ended."""

from __future__ import annotations

import importlib
from typing import Any

# Public name → the module that holds it: a fit loads the one optimizer that it uses.
_HOMES = {
    "LBFGS": "lbfgs",
    "Annealing": "value_search",
    "BoundedSolution": "mixed_integer",
    "ClosedForm": "closed_form",
    "Conditions": "schedules",
    "ConjugateGradient": "conjugate_gradient",
    "Constant": "schedules",
    "Corrections": "corrections",
    "DifferentialEvolution": "value_search",
    "GradientDescent": "gradient_descent",
    "History": "history",
    "Inverse": "schedules",
    "Iterative": "iterative",
    "LeastSquares": "closed_form",
    "LinearProgram": "linear_program",
    "MixedInteger": "mixed_integer",
    "Newton": "newton",
    "OPTIMIZERS": "named",
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
    "make_optimizer": "named",
    "make_schedule": "schedules",
    "require": "needs",
    "require_rows": "needs",
    "symmetric_solve": "solve",
}

__all__ = sorted(_HOMES)  # noqa: PLE0605 - the table above is the single source


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return __all__
