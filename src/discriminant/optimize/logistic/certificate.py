"""What a fit can prove about itself, in one small immutable record."""

from __future__ import annotations

import numpy as np

from discriminant.optimize.logistic.solve import LogisticFit
from discriminant.protocols import Certificate

__all__ = ["Certificate", "certify_fit"]

EPS = float(np.finfo(np.float64).eps)


def certify_fit(fit: LogisticFit, tol: float, ridge: float) -> Certificate:
    """The certificate of a logistic fit."""
    J = fit.objective
    # What is proved is proved of numbers that were rounded: their last digits count too.
    gap = max(fit.gap, 0.0) + max(fit.rounding, 8.0 * EPS * abs(J))
    met = gap <= tol * abs(J)
    if fit.separated:
        status = (
            "The classes are separated: every row lies on its own side of the boundary, so that without a penalty the "
            "likelihood has no maximum and the weights would grow for ever. They were stopped where the mean loss is "
            f"{J:.1g}."
        )
        return Certificate(
            status, False, J, 0.0, J, fit.gradient_norm, fit.passes, "separable", (str(fit.choice),), np.inf
        )
    if met:
        status = f"Solved: J = {J:.10g} is proved to be within {gap:.1e} of its minimum."
    elif fit.gap < float("inf"):
        status = (
            f"Stopped at the precision of the arithmetic: J = {J:.10g} is proved to be within {gap:.1e} of its "
            f"minimum, which is more than tol·|J| = {tol * abs(J):.1e}."
        )
    else:
        why = "" if ridge else " Without a penalty the likelihood may have no maximum: ask discriminant.separability."
        status = f"J = {J:.10g}; no bound could be proved.{why}"
    return Certificate(
        status,
        met,
        J,
        J - gap,
        gap,
        fit.gradient_norm,
        fit.passes,
        None,
        (str(fit.choice),),
        fit.condition,
    )
