"""The logistic loss of one fold in score space, fused: losses, slopes and curvature in one walk along the rows.

    Σ s [ln(1+e^z) − t z],     v = s (σ(z) − t),     h = s σ(z)(1 − σ(z))

Rows of weight zero (a fold's held-out rows) cost nothing.  ``plain_fold_slopes`` is the same with NumPy.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from discriminant.kernels.compile import compiled


def _fold_slopes(z: Any, t: Any, s: Any, v: Any, h: Any) -> float:
    """Fill v and h; returns Σ s ℓ."""
    loss, product, factors, last = 0.0, 1.0, 0, 0.0
    for i in range(z.size):
        weight = s[i]
        if weight == 0.0:
            v[i] = 0.0
            h[i] = 0.0
            continue
        # Σ ln(1 + tail) over rows of one weight is the logarithm of a product
        if weight != last or factors == 256:
            loss += last * math.log(product)
            product, factors, last = 1.0, 0, weight
        score, target = z[i], t[i]
        tail = math.exp(-abs(score))
        product *= 1.0 + tail
        factors += 1
        below = 1.0 / (1.0 + tail)
        if score >= 0:
            loss += weight * (1.0 - target) * score
            v[i] = weight * (1.0 - target - target * tail) * below
        else:
            loss -= weight * target * score
            v[i] = weight * ((1.0 - target) * tail - target) * below
        h[i] = weight * tail * below * below
    return loss + last * math.log(product)


def plain_fold_slopes(z: Any, t: Any, s: Any, v: Any, h: Any) -> float:
    """As ``fold_slopes``, without a compiler."""
    tail = np.exp(-np.abs(z))
    below = 1 / (1 + tail)
    np.multiply(s, np.where(z >= 0, 1 - t - t * tail, (1 - t) * tail - t) * below, out=v)
    np.multiply(s, tail * below * below, out=h)
    return float(s @ (np.maximum(z, 0) - t * z + np.log1p(tail)))


fold_slopes = compiled(_fold_slopes)
