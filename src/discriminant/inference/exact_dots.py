"""Signs of many dot products, exactly: sign(v₀ + Σ_j v_j x_j·2^s_j) for rows of floats and integer weights v.

Floats times integers are rationals with a power of two below the line, so a sign is a matter of integers.  Three
roads, cheapest first: one column against a constant is a comparison; small integers add up in a float without
rounding; the rest is Python's integers, each distinct row once.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from discriminant.inference.exact import dot, integer_row
from discriminant.protocols import Array

_WHOLE = float(1 << 53)  # floats below this add like integers


def dot_signs(values: Array, weights: Sequence[int], shift: Sequence[int], constant: int) -> Array:
    """int8 signs of constant + Σ_j weights[j]·values[:, j]·2^shift[j].

    >>> dot_signs(np.array([[0.1, 0.1], [0.3, 0.1]]), [1, -3], [0, 0], 0).tolist()
    [-1, -1]
    """
    signs = _one_column(values, weights, shift, constant)
    if signs is None:
        signs = _two_columns(values, weights, shift, constant)
    if signs is None:
        signs = _whole_numbers(values, weights, shift, constant)
    return _python_integers(values, weights, shift, constant) if signs is None else signs


def _one_column(values: Array, weights: Sequence[int], shift: Sequence[int], constant: int) -> Array | None:
    """sign(c + v·x) = sign(v)·sign(x − t) where the threshold t = −c/(v·2^s) is a float."""
    if len(weights) != 1 or values.dtype != np.float64:
        return None
    threshold = Fraction(-constant, weights[0]) / Fraction(2) ** shift[0]
    if abs(threshold) > Fraction(1e300) or Fraction(float(threshold)) != threshold:
        return None
    return (np.sign(values[:, 0] - float(threshold)) * (1 if weights[0] > 0 else -1)).astype(np.int8)


def _two_columns(values: Array, weights: Sequence[int], shift: Sequence[int], constant: int) -> Array | None:
    """Two columns whose weights differ by ±2^k (copies of one another, say) are compared, not added."""
    if len(weights) != 2 or constant or values.dtype != np.float64:
        return None
    ratio = Fraction(-weights[1], weights[0]) * Fraction(2) ** (shift[1] - shift[0])
    if abs(ratio.numerator).bit_count() != 1 or ratio.denominator.bit_count() != 1 or not 1e-30 < abs(ratio) < 1e30:
        return None
    size = np.abs(values)
    if size.max(initial=0.0) > 1e250 or size[size > 0].min(initial=1.0) < 1e-250:
        return None
    other = values[:, 1] * float(ratio)
    return (np.sign(values[:, 0] - other) * (1 if weights[0] > 0 else -1)).astype(np.int8)


def _whole_numbers(values: Array, weights: Sequence[int], shift: Sequence[int], constant: int) -> Array | None:
    """Floats that are whole multiples of 2^−q, with a sum below 2^53: the float product does not round."""
    if values.dtype.kind == "f":
        finest = [_finest(values[:, j]) for j in range(values.shape[1])]
        if None in finest:
            return None
        steps = [int(q) for q in finest if q is not None]
    else:
        steps = [0] * values.shape[1]
    power = [s - q for s, q in zip(shift, steps, strict=True)]
    low = min([*power, 0])
    whole = [weight << (p - low) for weight, p in zip(weights, power, strict=True)]
    size = [float(np.abs(values[:, j]).max(initial=0)) * 2.0**q for j, q in enumerate(steps)]
    total = sum(abs(weight) * int(top) for weight, top in zip(whole, size, strict=True)) + abs(constant << -low)
    if total >= _WHOLE:
        return None
    scaled = values.astype(np.float64) * np.ldexp(1.0, np.array(steps))
    return np.asarray(np.sign(scaled @ np.array(whole, dtype=float) + float(constant << -low)), dtype=np.int8)


def _finest(column: Array) -> int | None:
    """The least q ≤ 40 for which the column times 2^q is whole and below 2^53, or None."""
    for q in (0, 1, 2, 4, 8, 16, 26, 40):
        scaled = column * 2.0**q
        if np.abs(scaled).max(initial=0.0) >= _WHOLE:
            return None
        if np.array_equal(scaled, np.rint(scaled)):
            return q
    return None


def _python_integers(values: Array, weights: Sequence[int], shift: Sequence[int], constant: int) -> Array:
    seen: dict[bytes, int] = {}
    signs = np.empty(len(values), dtype=np.int8)
    full, full_shift = [constant, *weights], [0, *shift]
    compact = np.ascontiguousarray(values)
    for i, row in enumerate(compact.tolist()):
        key = compact[i].tobytes()
        if key not in seen:
            total = dot(integer_row([1, *row], full_shift)[0], full)
            seen[key] = (total > 0) - (total < 0)
        signs[i] = seen[key]
    return signs
