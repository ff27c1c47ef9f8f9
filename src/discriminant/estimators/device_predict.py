"""Predictions for rows on a device, on that device: z = b + Wᵗ(x − c) and what is made of it.

Linear discriminants with a sigmoid or softmax link and quadratic discriminants are worked out there.  What else an
estimator answers is worked out in memory, a block at a time, and sent back to where X lies.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discriminant.gaussian.quadratic import QuadraticDiscriminant
from discriminant.model import LinearDiscriminant
from discriminant.protocols import Array

ANSWERS = ("predict", "predict_proba", "predict_log_proba", "decision_function")


def answer_on_device(name: str, model: object, rows: Any, piece: Any) -> Any:
    """What the discriminant answers for a piece of the rows; None where it is not to be had there."""
    if name not in ANSWERS:
        return None
    if isinstance(model, QuadraticDiscriminant):
        return _answer(name, model.classes, rows.library, _quadratic(model, rows, piece))
    if not isinstance(model, LinearDiscriminant) or model.basis is not None or model.coding is not None:
        return None
    if model.link not in ("sigmoid", "softmax"):
        return None
    if model.link == "sigmoid" and model.weights.shape[1] > 1:
        return None  # sigmoids of one class against the rest, which are no softmax
    return _answer(name, model.classes, rows.library, _linear(model, rows, piece))


def _linear(model: LinearDiscriminant, rows: Any, piece: Any) -> Any:
    lib, dtype = rows.library, rows.arithmetic
    x = rows.working(piece)
    if model.center is not None:
        x = x - lib.put(np.array(model.center), dtype)
    W, level = lib.put(np.array(model.weights[1:]), dtype), lib.put(np.array(model.weights[0]), dtype)
    return lib.product(x, W, "fine", level)


def _quadratic(model: QuadraticDiscriminant, rows: Any, piece: Any) -> Any:
    """g_k = ln P_k − ½ ln|Σ_k| − ½‖W_kᵗ(x − o) − u_k‖²."""
    lib, dtype, scores = rows.library, rows.arithmetic, model.quadratic
    x = rows.working(piece) - lib.put(np.array(scores.origin), dtype)
    parts: list[Any] = []
    for W, u, level in zip(scores.matrices, scores.means, scores.constants, strict=True):
        v = lib.product(x, lib.put(np.ascontiguousarray(W), dtype), "fine") - lib.put(np.array(u), dtype)
        parts.append(float(level) - 0.5 * lib.cast(lib.total(v * v, 1), dtype))
    return lib.stack(parts)


def _answer(name: str, classes: Array, lib: Any, z: Any) -> Any:
    one = z.shape[1] == 1
    if name == "decision_function":
        return z[:, 0] if one else (z[:, 1] - z[:, 0] if len(classes) == 2 else z)
    if name == "predict":
        codes = lib.cast(z[:, 0] > 0, "int64") if one else lib.top(z)
        return lib.take(lib.put(np.array(classes)), codes) if classes.dtype.kind in "iufb" else classes[lib.get(codes)]
    if one:
        z = lib.stack([0 * z[:, 0], z[:, 0]])
    return lib.posteriors(z) if name == "predict_proba" else lib.log_posteriors(z)
