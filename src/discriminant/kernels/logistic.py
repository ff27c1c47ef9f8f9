"""The two-class logistic look at dense rows, fused: scores, losses, gradient and curvature in one read of a row.

    z = b + (x − c)·w,    Σ v ln(1+e^z) − t z,    Σ v (σ − t) x,    Σ v σ(1−σ) x

Rows are taken in strips that stay in the first-level cache.  Compiled on first use and cached on disk; the arrays must
be C-contiguous float64 or float32.  Reassociation lets the compiler use vectors in the sums; nothing else is loosened.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from discriminant.kernels.compile import compiled

STRIP = 32
_FAST = {"reassoc", "contract", "nsz", "arcp"}


def _tails(z: Any, e: Any, k: Any, count: Any) -> None:
    """e ← exp(−|z|) for a strip, in a form that compilers turn into vectors; right to an ulp or two.

    exp(x) = 2^k exp(r), k = round(x / ln 2), |r| ≤ ln 2 / 2.  k is read off the low bits of x/ln 2 + 1.5·2^52; e and
    ``k`` (the same memory seen as integers) serve as work space.
    """
    for i in range(count):
        x = max(-abs(z[i]), -700.0)
        e[i] = x * 1.4426950408889634 + 6755399441055744.0
    for i in range(count):
        k[i] = (k[i] << 52) + 4607182418800017408
    for i in range(count):
        x = max(-abs(z[i]), -700.0)
        n = (x * 1.4426950408889634 + 6755399441055744.0) - 6755399441055744.0
        r = x - n * 0.6931471803691238
        r = r - n * 1.9082149292705877e-10
        q = 1.0 / 479001600.0
        q = q * r + 1.0 / 39916800.0
        q = q * r + 1.0 / 3628800.0
        q = q * r + 1.0 / 362880.0
        q = q * r + 1.0 / 40320.0
        q = q * r + 1.0 / 5040.0
        q = q * r + 1.0 / 720.0
        q = q * r + 1.0 / 120.0
        q = q * r + 1.0 / 24.0
        q = q * r + 1.0 / 6.0
        q = q * r + 0.5
        q = q * r + 1.0
        q = q * r + 1.0
        e[i] = e[i] * q


# Said outright, since a callee would inherit its caller's options: reassociation would undo the rounding.
tails = compiled(_tails, fastmath=False)


def _logs(e: Any, count: Any) -> None:
    """e ← ln(1 + e) for a strip of e in [0, 1], as vectors; right to two ulps.

    ln(1 + e) = 2 artanh u = 2 (u + u³/3 + u⁵/5 + …),  u = e / (2 + e) ≤ ⅓.
    """
    for i in range(count):
        u = e[i] / (2.0 + e[i])
        x = u * u
        q = 1.0 / 33.0
        q = q * x + 1.0 / 31.0
        q = q * x + 1.0 / 29.0
        q = q * x + 1.0 / 27.0
        q = q * x + 1.0 / 25.0
        q = q * x + 1.0 / 23.0
        q = q * x + 1.0 / 21.0
        q = q * x + 1.0 / 19.0
        q = q * x + 1.0 / 17.0
        q = q * x + 1.0 / 15.0
        q = q * x + 1.0 / 13.0
        q = q * x + 1.0 / 11.0
        q = q * x + 1.0 / 9.0
        q = q * x + 1.0 / 7.0
        q = q * x + 1.0 / 5.0
        q = q * x + 1.0 / 3.0
        e[i] = 2.0 * u + 2.0 * u * x * q


logs = compiled(_logs, fastmath={"contract"}, error_model="numpy")  # a test for 0 divisors would undo the vectors


def _two_class_look(X: Any, w: Any, b: Any, c: Any, t: Any, v: Any, o: Any, g: Any, h: Any, out: Any) -> None:
    """Add to g (1+d) and h (1+d) and to out: loss, and the least score on the side of its label (t in {0, 1}).

    ``c``: centre (d,) or empty; ``v``: row weights or empty; ``o``: offsets or empty.
    """
    n, d = X.shape
    z = np.empty(STRIP)
    e = np.empty(STRIP)
    bits = e.view(np.int64)
    r = np.empty(STRIP)
    s = np.empty(STRIP)
    loss, product, strips, least = 0.0, 1.0, 0, out[1]
    far, weighted, moved = c.size > 0, v.size > 0, o.size > 0
    rows = np.empty((STRIP if far else 1, d))
    for start in range(0, n, STRIP):
        m = min(STRIP, n - start)
        if far:
            for i in range(m):
                for j in range(d):
                    rows[i, j] = X[start + i, j] - c[j]
                total = 0.0
                for j in range(d):
                    total += rows[i, j] * w[j]
                z[i] = total + b
        else:
            for i in range(m):
                total = 0.0
                for j in range(d):
                    total += X[start + i, j] * w[j]
                z[i] = total + b
        if moved:
            for i in range(m):
                z[i] += o[start + i]
        tails(z, e, bits, m)
        for i in range(m):
            target, score, tail = t[start + i], z[i], e[i]
            inverse = 1.0 / (1.0 + tail)
            positive = score >= 0
            above = inverse if positive else tail * inverse  # σ(z)
            below = tail * inverse if positive else inverse  # 1 − σ(z)
            r[i] = (1.0 - target) * above - target * below
            s[i] = above * below
            signed = (target + target - 1.0) * score
            z[i] = (1.0 - target) * score if positive else -target * score
            if signed < least and (not weighted or v[start + i] > 0):
                least = signed
        if weighted:
            logs(e, m)
            for i in range(m):
                k = start + i
                loss += v[k] * (z[i] + e[i])
                r[i] *= v[k]
                s[i] *= v[k]
        else:
            for i in range(m):
                loss += z[i]
                product *= 1.0 + e[i]
            strips += 1
            if strips * STRIP >= 512:
                loss += math.log(product)
                product = 1.0
                strips = 0
        for i in range(m):
            g[0] += r[i]
            h[0] += s[i]
        for i in range(0, m - 3, 4):
            r0, r1, r2, r3 = r[i], r[i + 1], r[i + 2], r[i + 3]
            s0, s1, s2, s3 = s[i], s[i + 1], s[i + 2], s[i + 3]
            if far:
                for j in range(d):
                    x0, x1, x2, x3 = rows[i, j], rows[i + 1, j], rows[i + 2, j], rows[i + 3, j]
                    g[1 + j] += r0 * x0 + r1 * x1 + r2 * x2 + r3 * x3
                    h[1 + j] += s0 * x0 + s1 * x1 + s2 * x2 + s3 * x3
            else:
                k = start + i
                for j in range(d):
                    x0, x1, x2, x3 = X[k, j], X[k + 1, j], X[k + 2, j], X[k + 3, j]
                    g[1 + j] += r0 * x0 + r1 * x1 + r2 * x2 + r3 * x3
                    h[1 + j] += s0 * x0 + s1 * x1 + s2 * x2 + s3 * x3
        for i in range(m // 4 * 4, m):
            for j in range(d):
                x = rows[i, j] if far else X[start + i, j]
                g[1 + j] += r[i] * x
                h[1 + j] += s[i] * x
    out[0] += loss + math.log(product)
    out[1] = least


two_class_look = compiled(_two_class_look, fastmath=_FAST)


def _two_class_sparse(
    data: Any, indices: Any, indptr: Any, w: Any, b: Any, t: Any, v: Any, o: Any, g: Any, h: Any, q: Any, out: Any
) -> None:
    """The same look at CSR rows, y = (1, x): add Σ v(σ−t) y to g; to h and q, unless empty, Σ vσ' y and Σ vσ' y².

    Unsigned indices spare the test for negative ones, which lets the compiler gather with vectors; scores first and
    gradients after, so that w and g need not share the cache.
    """
    n = indptr.size - 1
    z = np.empty(n)
    s = np.empty(n)
    loss, product, factors, least, mass = 0.0, 1.0, 0, out[1], 0.0
    weighted, moved, bent, squared = v.size > 0, o.size > 0, h.size > 0, q.size > 0
    for i in range(n):
        total = 0.0
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            total += data[k] * w[np.uint64(indices[k])]
        z[i] = b + total
    for i in range(n):
        score = z[i] + o[i] if moved else z[i]
        target = t[i]
        tail = math.exp(-abs(score))
        above = 1.0 + tail
        if score >= 0:
            linear = (1.0 - target) * score
            slope = (1.0 - target - target * tail) / above
        else:
            linear = -target * score
            slope = ((1.0 - target) * tail - target) / above
        curve = tail / (above * above)
        if weighted:
            loss += v[i] * (linear + math.log1p(tail))
            slope *= v[i]
            curve *= v[i]
        else:
            loss += linear
            product *= above
            factors += 1
            if factors == 256:
                loss += math.log(product)
                product = 1.0
                factors = 0
        if not weighted or v[i] > 0:
            signed = (target + target - 1.0) * score
            if signed < least:
                least = signed
        z[i] = slope
        s[i] = curve
        g[0] += slope
        mass += curve
    if bent:
        h[0] += mass
    if squared:
        q[0] += mass
    scatter(data, indices, indptr, z, g, False)
    if bent:
        scatter(data, indices, indptr, s, h, False)
    if squared:
        scatter(data, indices, indptr, s, q, True)
    out[0] += loss + math.log(product)
    out[1] = least
    out[2] += mass


def _scatter(data: Any, indices: Any, indptr: Any, r: Any, g: Any, square: Any) -> None:
    """g[1:] += Σ_i r_i x_i, or Σ_i r_i x_i²; entries by fours, so that their loads need not wait for the stores."""
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    for i in range(indptr.size - 1):
        k, last = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
        f = r[i]
        while k + three < last:
            v0, v1, v2, v3 = data[k], data[k + one], data[k + two], data[k + three]
            f0, f1, f2, f3 = f * v0, f * v1, f * v2, f * v3
            if square:
                f0, f1, f2, f3 = f0 * v0, f1 * v1, f2 * v2, f3 * v3
            j0, j1 = np.uint64(indices[k]) + one, np.uint64(indices[k + one]) + one
            j2, j3 = np.uint64(indices[k + two]) + one, np.uint64(indices[k + three]) + one
            g[j0] += f0
            g[j1] += f1
            g[j2] += f2
            g[j3] += f3
            k += three + one
        while k < last:
            v0 = data[k]
            g[np.uint64(indices[k]) + one] += f * v0 * v0 if square else f * v0
            k += one


scatter = compiled(_scatter, fastmath=_FAST)
two_class_sparse = compiled(_two_class_sparse, fastmath=_FAST)
