"""The limit of maximum likelihood in the place of a fit that has no maximum: verdict, limit, and one warning."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from discriminant.data import DenseRows, FrameRows, SparseRows, as_rows
from discriminant.errors import columns, warn
from discriminant.inference.limit import MOST_PARAMETERS, LimitingFit, limiting_fit
from discriminant.inference.separability import OVERLAPPING, SEPARABLE, Separability, of_rows
from discriminant.model import LinearDiscriminant
from discriminant.optimize.logistic import LogisticProblem
from discriminant.protocols import Array

REMEDIES = (
    "Remedies: a penalty (finite C), penalty='jeffreys', whose estimates are finite, or to merge or drop the levels "
    "and columns that separate."
)


def told(estimator: Any, problem: LogisticProblem, shift: Any) -> None:
    """Ask ``separability``; where it finds the classes separated, keep the limit and warn."""
    if not isinstance(problem.blocks.rows, DenseRows | SparseRows | FrameRows):
        undecided(estimator, "The rows are not in memory, so that separability and the limit were not worked out")
        return
    rows, codes, weight, offset = hard_rows(problem)
    if len(np.unique(codes)) < problem.n_classes:  # a class without weight: certainty is all that is left of it
        warn(f"{estimator.certificate_.status} {REMEDIES}")
        return
    guess = np.vstack([estimator.intercept_, estimator.coef_.T]).astype(np.float64)
    guess = guess if problem.n_outputs > 1 else np.hstack([np.zeros_like(guess), guess])
    labels, names = estimator.classes_[codes], estimator._names()
    verdict = of_rows(rows, labels, problem.intercept, guess=guess, feature_names=names)
    certificate = replace(estimator.certificate_, separability=verdict.without_data())
    estimator.certificate_ = certificate
    if verdict.verdict == OVERLAPPING:
        status = (
            f"J = {certificate.objective:.10g}; no bound could be proved, but the classes overlap: it has a minimum."
        )
        estimator.certificate_ = replace(certificate, status=status, bound=0.0, gap=certificate.objective)
        return
    what = _infinite(verdict, estimator._names())
    parameters = (problem.n_classes - 1) * (problem.n_features + 1)
    if estimator.bounds is not None or (parameters > MOST_PARAMETERS and verdict.verdict != SEPARABLE):
        why = "with bounds" if estimator.bounds is not None else f"for {parameters} weights"
        text = f"{what} The limit is not worked out {why}: the weights given are where the steps ended. {REMEDIES}"
        warn(text)
        return
    moved = None if np.ndim(shift) == 0 and shift == 0 else np.append(0.0, shift) if problem.n_outputs == 1 else shift
    limit = limiting_fit(verdict._cone, verdict.classes, verdict._weights, *verdict.face, weight, offset, moved)
    put_limit(estimator, limit, float(problem.total))
    status = f"{what} {_finite(limit, estimator._names())}"
    estimator.certificate_ = replace(estimator.certificate_, status=status)
    warn(f"{status} {REMEDIES}")


def undecided(estimator: Any, why: str) -> None:
    """Warn that nobody knows whether there is a maximum."""
    text = f"{why}: the weights given are where the steps ended."
    warn(f"{estimator.certificate_.status} {text} {REMEDIES}")


def put_limit(estimator: Any, limit: LimitingFit, total: float) -> None:
    """The limit as the estimator's fitted state: ±inf in ``coef_``, a finite stand-in as its discriminant."""
    dtype = estimator.coef_.dtype
    link = estimator.discriminant_.link
    estimator.limit_ = limit
    estimator.discriminant_ = LinearDiscriminant(
        limit.stand_in, estimator.classes_, feature_names=estimator._names(), center=limit.center, link=link
    )
    estimator.coef_ = np.array(limit.table[1:].T, dtype=dtype)
    estimator.intercept_ = np.array(limit.table[0], dtype=dtype)
    estimator._kept = (estimator.coef_.copy(), estimator.intercept_.copy())
    infimum = abs(limit.log_likelihood) / total
    estimator.certificate_ = replace(
        estimator.certificate_, converged=False, objective=infimum, bound=infimum, gap=0.0, gradient_norm=0.0
    )


def hard_rows(problem: LogisticProblem) -> tuple[Any, Array, Array | None, Array | None]:
    """(rows, codes, weights, offsets) with the same likelihood: a soft target is a row of each of its classes."""
    blocks = problem.blocks
    source, target = blocks.rows, np.asarray(blocks.target)
    weight, offset = blocks.weight, problem.offset
    if target.dtype.kind in "iu" and (weight is None or (weight > 0).all()):
        return source, target.astype(np.intp), weight, offset
    if target.dtype.kind in "iu":
        share = np.zeros((len(target), problem.n_classes))
        share[np.arange(len(target)), target] = 1.0
    else:
        share = np.c_[1 - target, target] if target.ndim == 1 else target
    mass = share if weight is None else share * weight[:, None]
    index, codes = np.nonzero(mass > 0)
    return as_rows(source.pick(index).raw), codes, mass[index, codes], None if offset is None else offset[index]


def _infinite(verdict: Separability, names: list[str] | None) -> str:
    found = [int(c) if isinstance(c, int | np.integer) else (names or []).index(c) for c in verdict.columns]
    where = f" of {columns(found, names)}" if found else " of the intercept"
    kind = "separated (separable)" if verdict.verdict == SEPARABLE else "quasi-separable"
    return (
        f"The classes are {kind}: without a penalty the likelihood has no finite maximum, and the estimates{where} "
        "are infinite."
    )


def _finite(limit: LimitingFit, names: list[str] | None) -> str:
    text = "coef_ and intercept_ flag them as ±inf"
    if len(limit.boundary):
        text += f", the finite rest comes from the {len(limit.boundary)} rows that separation leaves undecided"
    free = [i - 1 for i in limit.undecided if i > 0]
    if free:
        text += f", {columns(free, names)} may have any weight and is given none"
    return text + "; probabilities are those of the limit."
