"""Predictions for rows on a device, on that device: z = b + Wᵗ(x − c) and what is made of it.

Linear discriminants with a sigmoid or softmax link and quadratic discriminants are worked out there.  What else an
estimator answers is worked out in memory, a block at a time, and sent back to where X lies.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from discriminant.protocols import Array

LINEAR = ("predict", "predict_proba", "predict_log_proba", "decision_function")


def predict_on_device(function: Any, rows: Any, piece: Any) -> Any:
    """function(piece), where the function is a method of an estimator (``compiled._call``) or anything else."""
    lib = rows.library
    if isinstance(function, partial) and len(function.args) == 4:
        method, estimator, args, kwargs = function.args
        if not args and not kwargs and method.__name__ in LINEAR:
            z = _scores(estimator, rows, piece)
            if z is not None:
                return _answer(method.__name__, estimator, lib, z)
    result = np.asarray(function(lib.get(rows.working(piece))))
    return lib.put(result) if result.dtype.kind in "fiub" else result


def _scores(estimator: Any, rows: Any, piece: Any) -> Any:
    """Class scores on the device, (n, 1) or (n, K); None where they are not to be had there."""
    whitened, model = getattr(estimator, "_whitened", None), getattr(estimator, "discriminant_", None)
    edited = hasattr(estimator, "_kept") and not estimator._as_fitted()
    if model is not None:
        plain = model.basis is None and model.coding is None and model.link in ("sigmoid", "softmax")
        return _linear(model, rows, piece) if plain and not edited else None
    return _quadratic(estimator, rows, piece) if isinstance(whitened, list) else None


def _linear(model: Any, rows: Any, piece: Any) -> Any:
    lib, dtype = rows.library, rows.arithmetic
    x = rows.working(piece)
    if model.center is not None:
        x = x - lib.put(np.array(model.center), dtype)
    W, level = lib.put(np.array(model.weights[1:]), dtype), lib.put(np.array(model.weights[0]), dtype)
    return lib.product(x, W, "fine", level)


def _quadratic(estimator: Any, rows: Any, piece: Any) -> Any:
    """g_k = ln P_k − ½ ln|Σ_k| − ½‖W_kᵗ(x − o) − u_k‖²."""
    lib, dtype = rows.library, rows.arithmetic
    x = rows.working(piece)
    parts: list[Any] = []
    for one, prior in zip(estimator._whitened, estimator.priors_, strict=True):
        v = lib.product(
            x - lib.put(np.array(one.origin), dtype), lib.put(np.ascontiguousarray(one.matrix), dtype), "fine"
        )
        k = len(parts)
        v = v - lib.put(np.array(one.means[k if len(one.means) > 1 else 0]), dtype)
        level = float(np.log(prior) - 0.5 * one.log_determinant)
        parts.append(level - 0.5 * lib.cast(lib.total(v * v, 1), dtype))
    return lib.stack(parts)


def _answer(name: str, estimator: Any, lib: Any, z: Any) -> Any:
    one = z.shape[1] == 1
    two = len(estimator.classes_) == 2
    if name == "decision_function":
        return z[:, 0] if one else (z[:, 1] - z[:, 0] if two else z)
    if name == "predict":
        codes = lib.cast(z[:, 0] > 0, "int64") if one else lib.top(z)
        classes: Array = estimator.classes_
        return lib.take(lib.put(classes), codes) if classes.dtype.kind in "iufb" else classes[lib.get(codes)]
    if one:
        z = lib.stack([0 * z[:, 0], z[:, 0]])
    return lib.posteriors(z) if name == "predict_proba" else lib.log_posteriors(z)
