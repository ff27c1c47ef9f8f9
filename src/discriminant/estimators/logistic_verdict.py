"""Without a penalty and without a proof: has the likelihood a maximum at all?  Asked of ``separability``, and told."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from discriminant.errors import DiscriminantWarning, columns
from discriminant.optimize.logistic import LogisticFit, LogisticProblem


def judge(estimator: Any, fit: LogisticFit, problem: LogisticProblem) -> None:
    """Complete ``estimator.certificate_`` by a verdict where the fit could not prove itself, and warn."""
    if problem.ridge > 0 or fit.gap < np.inf:
        return
    why = estimator.certificate_.status
    target = np.asarray(problem.blocks.target)
    if not fit.separated and target.dtype.kind in "iu" and problem.blocks.weight is None:
        from discriminant.inference.separability import separability

        rows = getattr(problem.blocks.rows, "X", getattr(problem.blocks.rows, "frame", None))
        labels = estimator.classes_[target]
        verdict = separability(rows, labels, fit_intercept=problem.intercept, hyperplane="any")
        estimator.certificate_ = replace(estimator.certificate_, separability=verdict)
        if verdict.verdict == "overlapping":
            return
        names = estimator._names()
        found = [int(c) if isinstance(c, int | np.integer) else names.index(c) for c in verdict.columns]
        which = f" ({columns(found, names)})" if found else ""
        why = (
            f"The classes are {verdict.verdict}: without a penalty some weights{which} have no finite estimate, "
            "and those given here are only where the steps ended."
        )
    warnings.warn(why + " Use a penalty (finite C).", DiscriminantWarning, stacklevel=6)
