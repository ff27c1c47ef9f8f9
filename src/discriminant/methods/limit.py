"""Without a penalty and without a proof: has the likelihood a maximum at all?  Where not, its limit is the answer.

Separated classes have none, and weights on their way to infinity mean nothing: the fit holds the limit itself, which
depends on the data alone.  The question is asked only where a fit could not prove its own gap, which it always can
where a maximum exists and is not absurdly far away; so it costs ordinary fits nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from discriminant.data import DenseRows, FrameRows, SparseRows, as_rows
from discriminant.errors import columns
from discriminant.inference.limit import MOST_PARAMETERS, LimitingFit, limiting_fit
from discriminant.inference.separability import OVERLAPPING, SEPARABLE, Separability, of_rows
from discriminant.methods.fit import Note, Schema, editable_state
from discriminant.model import LinearDiscriminant
from discriminant.objective import PointwiseObjective
from discriminant.optimize.automatic import Minimum
from discriminant.protocols import Array, Certificate

REMEDIES = (
    "Remedies: a penalty (finite C), penalty='jeffreys', whose estimates are finite, or to merge or drop the levels "
    "and columns that separate."
)
MOST_COLUMNS, MOST_OF_MANY = 2_500, 600  # beyond (for K classes), exact arithmetic takes minutes, a fit a second

Changes = tuple[dict[str, Any], list[Note]]


def handle_separation(
    fit: Minimum, objective: PointwiseObjective, shift: Any, schema: Schema, state: Mapping[str, Any], bounded: bool
) -> Changes:
    """What to put in the place of a fit without a maximum, and notes; ``shift``: what was taken off the intercepts."""
    certificate: Certificate = state["certificate_"]
    most = MOST_COLUMNS if objective.n_classes == 2 else MOST_OF_MANY
    if objective.n_features > most and not fit.separated:
        why = f"To decide it for {objective.n_features:,} columns takes long, so that it was not asked"
        return _undecided(certificate, why)
    if not isinstance(objective.blocks.rows, DenseRows | SparseRows | FrameRows):
        why = "The rows are not in memory, so that separability and the limit were not worked out"
        return _undecided(certificate, why)
    rows, codes, weight, offset = hard_rows(objective)
    if len(np.unique(codes)) < objective.n_classes:  # a class without weight: certainty is all that is left of it
        return {}, [Note(f"{certificate.status} {REMEDIES}")]
    guess = np.vstack([state["intercept_"], state["coef_"].T]).astype(np.float64)
    guess = guess if objective.n_outputs > 1 else np.hstack([np.zeros_like(guess), guess])
    verdict = of_rows(rows, schema.classes[codes], objective.intercept, guess=guess, feature_names=schema.names)
    certificate = replace(certificate, separability=verdict.without_data())
    proved = fit.gap <= 0.1 * abs(fit.objective)
    if verdict.verdict == OVERLAPPING and proved:
        return {"certificate_": certificate}, []
    if verdict.verdict == OVERLAPPING:
        status = (
            f"J = {certificate.objective:.10g}; no bound could be proved, but the classes overlap: it has a minimum."
        )
        return {"certificate_": replace(certificate, status=status, bound=0.0, gap=certificate.objective)}, []
    what = _infinite(verdict, schema.names)
    parameters = (objective.n_classes - 1) * (objective.n_features + 1)
    if bounded or (parameters > MOST_PARAMETERS and verdict.verdict != SEPARABLE):
        why = "with bounds" if bounded else f"for {parameters} weights"
        text = f"{what} The limit is not worked out {why}: the weights given are where the steps ended."
        certificate = replace(certificate, status=text, converged=False) if proved else certificate
        return {"certificate_": certificate}, [Note(f"{text} {REMEDIES}")]
    moved = None if np.ndim(shift) == 0 and shift == 0 else np.append(0.0, shift) if objective.n_outputs == 1 else shift
    limit = limiting_fit(verdict._cone, verdict.classes, verdict._weights, *verdict.face, weight, offset, moved)
    status = f"{what} {_finite(limit, schema.names)}"
    infimum = abs(limit.log_likelihood) / float(objective.total)
    certificate = replace(
        certificate, status=status, converged=False, objective=infimum, bound=infimum, gap=0.0, gradient_norm=0.0
    )
    return _limit_state(limit, schema, state) | {"certificate_": certificate}, [Note(f"{status} {REMEDIES}")]


def _undecided(certificate: Certificate, why: str) -> Changes:
    """Nobody knows whether there is a maximum."""
    text = f"{why}: the weights given are where the steps ended."
    return {}, [Note(f"{certificate.status} {text} {REMEDIES}")]


def _limit_state(limit: LimitingFit, schema: Schema, state: Mapping[str, Any]) -> dict[str, Any]:
    """The limit as attributes: ±inf in ``coef_``, a finite stand-in as the discriminant."""
    stand_in = LinearDiscriminant(
        limit.stand_in, schema.classes, feature_names=schema.names, center=limit.center,
        link=state["discriminant_"].link,
    )  # fmt: skip
    names = None if schema.names is None else tuple(map(str, schema.names))
    state = editable_state(stand_in, schema, coef_=limit.table[1:].T, intercept_=limit.table[0])
    return state | {"limit_": replace(limit, feature_names=names)}


def hard_rows(objective: PointwiseObjective) -> tuple[Any, Array, Array | None, Array | None]:
    """(rows, codes, weights, offsets) with the same likelihood: a soft target is a row of each of its classes."""
    blocks = objective.blocks
    source, target = blocks.rows, np.asarray(blocks.target)
    weight, offset = blocks.weight, objective.offset
    if target.dtype.kind in "iu" and (weight is None or (weight > 0).all()):
        return source, target.astype(np.intp), weight, offset
    if target.dtype.kind in "iu":
        share = np.zeros((len(target), objective.n_classes))
        share[np.arange(len(target)), target] = 1.0
    else:
        share = np.c_[1 - target, target] if target.shape[1] == 1 else target
    mass = share if weight is None else share * weight[:, None]
    index, codes = np.nonzero(mass > 0)
    return as_rows(source.pick(index).raw), codes, mass[index, codes], None if offset is None else offset[index]


def _infinite(verdict: Separability, names: Sequence[str] | None) -> str:
    found = [int(c) if isinstance(c, int | np.integer) else list(names or []).index(c) for c in verdict.columns]
    where = f" of {columns(found, names)}" if found else " of the intercept"
    kind = "separated (separable)" if verdict.verdict == SEPARABLE else "quasi-separable"
    return (
        f"The classes are {kind}: without a penalty the likelihood has no finite maximum, and the estimates{where} "
        "are infinite."
    )


def _finite(limit: LimitingFit, names: Sequence[str] | None) -> str:
    text = "coef_ and intercept_ flag them as ±inf"
    if len(limit.boundary):
        text += f", the finite rest comes from the {len(limit.boundary)} rows that separation leaves undecided"
    free = [i - 1 for i in limit.undecided if i > 0]
    if free:
        text += f", {columns(free, names)} may have any weight and is given none"
    return text + "; probabilities are those of the limit."
