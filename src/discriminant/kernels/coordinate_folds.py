"""The logistic loss of one fold in score space, fused: losses, slopes and curvature in one walk along the rows.

    Σ s [ln(1+e^z) − t z],     v = s (σ(z) − t),     h = s σ(z)(1 − σ(z))

``plain_fold_slopes`` is the same with NumPy.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from discriminant.kernels.compile import compiled

STRIP = 512  # rows at a time: the work space stays in the first-level cache
_LOG2E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10
_MAGIC = 6755399441055744.0  # 1.5·2⁵²: adding it rounds to an integer, which then stands in the last bits
_ONE = np.int64(1023) << np.int64(52)


def _tails(z: Any, work: Any, bits: Any, tail: Any, m: int) -> None:
    """tail = e^−|z|, in loops that the compiler turns into vectors: 2^k e^r with |r| ≤ ln 2 / 2, to an ulp or two."""
    for i in range(m):
        work[i] = max(-abs(z[i]), -700.0) * _LOG2E + _MAGIC
    for i in range(m):
        x = max(-abs(z[i]), -700.0)
        k = work[i] - _MAGIC
        r = (x - k * _LN2_HIGH) - k * _LN2_LOW
        p = 1.6059043836821613e-10  # 1/13!
        p = p * r + 2.08767569878681e-9
        p = p * r + 2.505210838544172e-8
        p = p * r + 2.755731922398589e-7
        p = p * r + 2.7557319223985893e-6
        p = p * r + 2.48015873015873e-5
        p = p * r + 1.984126984126984e-4
        p = p * r + 1.388888888888889e-3
        p = p * r + 8.333333333333333e-3
        p = p * r + 4.1666666666666664e-2
        p = p * r + 1.6666666666666666e-1
        p = p * r + 0.5
        p = p * r + 1.0
        tail[i] = p * r + 1.0
    for i in range(m):
        bits[i] = (bits[i] << 52) + _ONE  # the bits of work, turned into those of 2^k
    for i in range(m):
        tail[i] *= work[i]


tails = compiled(_tails, fastmath={"contract"})


def _fold_slopes(z: Any, t: Any, s: Any, v: Any, h: Any) -> float:
    """Fill v, and h unless it is empty; returns Σ s ℓ."""
    work, tail = np.empty(STRIP), np.empty(STRIP)
    bits = work.view(np.int64)
    loss = 0.0
    for start in range(0, z.size, STRIP):
        m = min(STRIP, z.size - start)
        part = z[start : start + m]
        tails(part, work, bits, tail, m)
        for i in range(m):
            score, target, weight = part[i], t[start + i], s[start + i]
            up = 1.0 if score >= 0 else 0.0
            below = 1.0 / (1.0 + tail[i])
            away = up * (1.0 - target) - (1.0 - up) * target
            loss += weight * away * score
            v[start + i] = weight * (away + ((1.0 - up) - target) * tail[i]) * below
        if h.size:
            for i in range(m):
                h[start + i] = s[start + i] * tail[i] / ((1.0 + tail[i]) * (1.0 + tail[i]))
        product, last = 1.0, 0.0
        for i in range(m):
            # Σ ln(1 + tail) over rows of one weight is the logarithm of a product
            weight = s[start + i]
            if weight != last and weight != 0.0:
                loss += last * math.log(product)
                product, last = 1.0, weight
            if weight != 0.0:
                product *= 1.0 + tail[i]
        loss += last * math.log(product)
    return loss


fold_slopes = compiled(_fold_slopes, fastmath={"reassoc", "contract", "nsz"})


def _all_fold_slopes(z: Any, t: Any, s: Any, start: int, v: Any, losses: Any) -> None:
    """``fold_slopes`` of each row of z (F, m), weights s (F, n) from ``start`` on, into v (F, m), or with h (2F, m)."""
    F, m = z.shape
    for f in range(F):
        h = v[F + f] if len(v) > F else v[0, :0]
        losses[f] = fold_slopes(z[f], t, s[f, start : start + m], v[f], h)


all_fold_slopes = compiled(_all_fold_slopes)


def plain_fold_slopes(z: Any, t: Any, s: Any, start: int, v: Any, losses: Any) -> None:
    """As ``all_fold_slopes``, without a compiler."""
    F, m = z.shape
    part = s[:, start : start + m]
    tail = np.exp(-np.abs(z))
    below = 1 / (1 + tail)
    np.multiply(part, np.where(z >= 0, 1 - t - t * tail, (1 - t) * tail - t) * below, out=v[:F])
    if len(v) > F:
        np.multiply(part, tail * below * below, out=v[F:])
    losses[:] = np.einsum("fi,fi->f", part, np.maximum(z, 0) - t * z + np.log1p(tail))


def warm() -> None:
    """Load Numba and the kernel now, in one thread: several must not do so at once."""
    one = np.ones((1, 1))
    all_fold_slopes(one, np.zeros(1), one, 0, np.empty((2, 1)), np.empty(1))
