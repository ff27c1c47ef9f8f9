"""The trace of a fit as frames for the page: weights at each step, J there, and φ where the picture needs it.

The page multiplies z = [1, φ] A for the frame it shows.  φ comes from the library, on the points and on a coarse grid
of the square; between grid nodes the page interpolates z, which is exact where there is no basis.  A rule that is not
linear in any φ (QDA) is sent as scores: φ = g, A = (0, I).
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from discriminant.decision.rule import Rule
from discriminant.estimators.minimum_risk import MinimumRiskClassifier
from discriminant.model import discriminant_of
from discriminant.optimize import Corrections
from discriminant.optimize.history import history_of
from discriminant.play.presets import EXTENT
from discriminant.protocols import Array

MOST_FRAMES = 300
STRAIGHT, CURVED = 2, 65  # grid nodes a side
DETAIL = 60  # steps at the beginning that are all shown


@dataclass(frozen=True)
class Frames:
    """Weights (F, D, q) at the steps k (F,), with J (F,) and the row that each step corrected (−1: none alone)."""

    weights: Array
    k: Array
    objective: Array
    row: Array


def learned(model: Any) -> Any:
    """The pipeline or classifier below a decision layer."""
    return model.estimator_ if isinstance(model, MinimumRiskClassifier) else model


def last_step(model: Any) -> Any:
    """The classifier itself: the last step of a pipeline, or the model."""
    below = learned(model)
    return below[-1] if isinstance(below, Pipeline) else below


def features(model: Any, X: Array) -> Array:
    """[1, φ(X)], (n, D), of a fitted model; for QDA the one and its class scores."""
    final, below = last_step(model), learned(model)
    phi = below[:-1].transform(X) if isinstance(below, Pipeline) else X
    linear = discriminant_of(final)
    if linear is None:
        scores = final.decision_function(phi)
        phi = scores if scores.ndim == 2 else scores[:, None]
    elif linear.basis is not None:
        phi = linear.basis.transform(phi)
    return np.column_stack([np.ones(len(X)), np.asarray(phi, dtype=np.float64)])


def grid(model: Any, curved: bool) -> tuple[int, Array]:
    """(G, [1, φ] (G², D)) on the nodes of the square, x fastest, from the lower left corner."""
    side = CURVED if curved else STRAIGHT
    ticks = np.linspace(-EXTENT, EXTENT, side)
    x, y = np.meshgrid(ticks, ticks)
    return side, features(model, np.c_[x.ravel(), y.ravel()])


def final_weights(model: Any) -> Array:
    """(D, q), the intercept in row 0 in the form w₀ + Wᵗφ."""
    final = last_step(model)
    linear = discriminant_of(final)
    if linear is None:
        q = 1 if len(final.classes_) == 2 else len(final.classes_)
        return np.vstack([np.zeros((1, q)), np.eye(q)])
    return np.vstack([linear.intercept, linear.coef.T])


def frames(model: Any) -> Frames:
    """The frames of a fitted model; methods without a trace have one."""
    final, end = last_step(model), final_weights(model)
    history = history_of(final)
    certificate = final.certificate_
    J = float(np.nan if certificate is None else certificate.objective)
    none = np.full(1, -1)
    if isinstance(history, Corrections) and len(history) > 1:
        k = shown_steps(len(history))
        weights = history["weights"][k]
        made = Frames(weights, k, np.array([history.objective.value(A) for A in weights]), history["sample"][k])
    elif history is not None and "weights" in history:
        kept = shown_steps(len(history))
        weights, k, objective = (history[column][kept] for column in ("weights", "k", "objective"))
        made = Frames(weights, k, objective, np.full(len(kept), -1))
    else:
        return Frames(end[None], np.zeros(1, dtype=int), np.full(1, J), none)
    last = made.weights[-1]
    if last.shape != end.shape or np.allclose(last, end, rtol=1e-9, atol=1e-12):
        return made
    # An average, a pocket, or the best of a run that diverged: what is handed back is none of the steps.
    return Frames(
        np.concatenate([made.weights, end[None]]), np.r_[made.k, made.k[-1]], np.r_[made.objective, J],
        np.r_[made.row, none],
    )  # fmt: skip


def shown_steps(count: int) -> Array:
    """Which of so many steps are shown: all of the first, and then ever fewer, the last included."""
    if count <= MOST_FRAMES:
        return np.arange(count)
    later = np.geomspace(DETAIL, count - 1, MOST_FRAMES - DETAIL)
    return np.unique(np.r_[np.arange(DETAIL), np.round(later).astype(int)])


def rule_of(model: Any) -> dict[str, Any]:
    """How outputs become classes, as the page needs it: linear class scores, or votes or unanimity over sides."""
    final = last_step(model)
    linear = discriminant_of(final)
    coding: Any = None if linear is None else linear.coding
    link = "softmax" if linear is None else linear.link
    q = final_weights(model).shape[1]
    classes = [int(label) for label in final.classes_]
    rule = Rule(final.classes_, q, coding, None)
    shown: dict[str, Any] = {
        "classes": classes,
        "link": link,
        "claims": _claims(vars(final).get("coding_", coding)),
        "reject_cost": vars(model).get("reject_cost"),
        "rejects": "reject_label" in vars(final),  # least squares takes the strongest where none is unanimous
    }
    decoder = rule.linear_decoder
    unanimous = coding is not None and coding.decoder == "unanimous"
    if decoder is not None and not unanimous:
        slopes, shift = decoder
        return {**shown, "kind": "linear", "slopes": slopes.tolist(), "shift": np.asarray(shift).tolist()}
    return {
        **shown, "kind": coding.decoder, "signs": coding.signs.tolist(), "threshold": coding.threshold.tolist(),
    }  # fmt: skip


def _claims(coding: Any) -> dict[str, Any] | None:
    """Sides on which each class claims a point, for codings of several two-class problems; else None."""
    if coding is None or coding.name not in ("one-vs-rest", "one-vs-rest-k-1", "pairwise"):
        return None
    sides = coding.signs if coding.speakers is None else np.sign(coding.speakers)
    return {"sides": sides.tolist(), "threshold": coding.threshold.tolist()}


def packed(array: Array, dtype: str = "<f8") -> str:
    """The numbers of an array as base64 of little-endian floats: a tenth of the work of a list for both sides."""
    return base64.b64encode(np.ascontiguousarray(array, dtype=dtype).tobytes()).decode("ascii")
