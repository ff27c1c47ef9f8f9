"""Conjugate gradients of a linear system that is known by its products."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discriminant.protocols import Array


def conjugate_gradients(product: Callable[[Array], Array], right: Array, share: float, most: int = 300) -> Array:
    """X with product(X) ≈ right, to this share of its length."""
    X, r = np.zeros_like(right), right.copy()
    p, square = r.copy(), float((r * r).sum())
    goal = share**2 * square
    for _ in range(most):
        if square <= goal:
            break
        q = product(p)
        curvature = float((p * q).sum())
        if curvature <= 0:
            break
        X += square / curvature * p
        r -= square / curvature * q
        square, last = float((r * r).sum()), square
        p = r + square / last * p
    return X
