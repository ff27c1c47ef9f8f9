"""Exact linear algebra on floats: every float is a rational, so no answer rests on a tolerance.

A row of floats times a power of two is a row of integers.  On integer matrices this module offers

* ``independent_rows``: rows that are independent modulo a prime, hence (a non-zero minor stays non-zero) in truth;
* ``solve``: A x = b by Dixon's p-adic lifting, b₀ = b, x_k = A⁻¹ b_k mod p, b_{k+1} = (b_k − A x_k)/p, the rational
  x recovered from Σ x_k p^k and checked; all matrix products are float products that cannot round;
* ``nullspace``: {x : M x = 0} with both bounds on the rank proved, one by a minor and one by the vectors themselves;
* ``dot_signs``: signs of many dot products of floats with integer weights.  Three ways, cheapest first: one column
  against a constant is a comparison; small integers add up in a float without rounding; the rest is Python's integers,
  each distinct row once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discriminant.protocols import Array

Integers = list[int]
_ROWS_PRIME = 67_108_859  # below 2^26: a sum of 2^11 products of residues fits an int64


def integer_row(values: Sequence[Any], shift: Sequence[int] | None = None) -> tuple[Integers, int]:
    """The integers m and the exponent e with values[j]·2^shift[j] = m[j]·2^−e.

    >>> integer_row([0.5, 3.0, -0.75])
    ([2, 12, -3], 2)
    """
    pairs = [value.as_integer_ratio() if value else (0, 1) for value in values]
    lows = [den.bit_length() - 1 - (shift[j] if shift else 0) for j, (num, den) in enumerate(pairs) if num]
    exponent = max(lows, default=0)
    low = iter(lows)
    return [int(num) << (exponent - next(low)) if num else 0 for num, _ in pairs], exponent


def primitive(vector: Sequence[int]) -> Integers:
    """The vector over its greatest common divisor: the shortest integer vector on the same ray.

    >>> primitive([6, 0, -9])
    [2, 0, -3]
    """
    divisor = math.gcd(*vector)
    return [v // divisor for v in vector] if divisor > 1 else list(vector)


def over_common_denominator(vector: Sequence[Fraction | int]) -> Integers:
    """The primitive integer vector on the ray of a rational one.

    >>> over_common_denominator([Fraction(1, 2), Fraction(-1, 3)])
    [3, -2]
    """
    denominator = math.lcm(*(Fraction(v).denominator for v in vector))
    return primitive([int(v * denominator) for v in vector])


def independent_rows(
    rows: Sequence[Sequence[int]], columns: Sequence[int] | None = None, prime: int = _ROWS_PRIME
) -> tuple[list[int], list[int]]:
    """Greedy choice of independent rows, in the order given, and a pivot column for each.

    ``columns`` is the order of preference for pivots.  Rows chosen are truly independent; a row left out is dependent
    on them unless the prime divides an unlucky minor, which a caller must exclude by a check of its own.

    >>> independent_rows([[1, 2], [2, 4], [0, 1]])
    ([0, 2], [0, 1])
    """
    if not len(rows):
        return [], []
    width = len(rows[0])
    preference = np.arange(width) if columns is None else np.asarray(columns)
    echelon = np.zeros((min(len(rows), width), width), dtype=np.int64)  # reduced: identity at the pivots
    chosen: list[int] = []
    pivots: list[int] = []
    for index, row in enumerate(rows):
        if len(chosen) == width:
            break
        residue = np.array([value % prime for value in row], dtype=np.int64)
        k = len(chosen)
        if k:
            residue = (residue - residue[pivots] @ echelon[:k]) % prime
        places = preference[residue[preference] != 0]
        if not places.size:
            continue
        pivot = int(places[0])
        residue = residue * pow(int(residue[pivot]), -1, prime) % prime
        there = np.ix_(np.flatnonzero(echelon[:k, pivot]), np.flatnonzero(residue))  # many zeros: two classes a row
        echelon[there] = (echelon[there] - np.outer(echelon[there[0][:, 0], pivot], residue[there[1][0]])) % prime
        echelon[k] = residue
        chosen.append(index)
        pivots.append(pivot)
    return chosen, pivots


@cache
def _prime_below(limit: int) -> int:
    candidate = limit - 1 | 1
    while any(candidate % divisor == 0 for divisor in range(3, math.isqrt(candidate) + 1, 2)):
        candidate -= 2
    return candidate


def _inverse(matrix: NDArray[np.int64], prime: int) -> NDArray[np.float64] | None:
    """The inverse modulo the prime by Gauss–Jordan, or None where the matrix is singular modulo it."""
    n = len(matrix)
    work = np.hstack([matrix % prime, np.eye(n, dtype=np.int64)])
    for k in range(n):
        places = np.flatnonzero(work[k:, k])
        if not places.size:
            return None
        work[[k, k + places[0]]] = work[[k + places[0], k]]
        work[k] = work[k] * pow(int(work[k, k]), -1, prime) % prime
        factors = work[:, k].copy()
        factors[k] = 0
        work = (work - factors[:, None] * work[k]) % prime
    return work[:, n:].astype(np.float64)


def _limbs(matrix: NDArray[Any], bits: int) -> list[NDArray[np.float64]]:
    """Signed float matrices L with matrix = Σ L_l 2^(bits·l), each entry below 2^bits in size."""
    sign = np.where(matrix < 0, -1.0, 1.0)
    rest = np.abs(matrix)
    parts = []
    while np.any(rest):
        parts.append(sign * (rest & ((1 << bits) - 1)).astype(np.float64))
        rest = rest >> bits
    return parts


def _combine(digits: list[NDArray[Any]], base: int) -> NDArray[Any]:
    """Σ digits[k]·base^k, pairing neighbours so that large numbers are met rarely."""
    while len(digits) > 1:
        pairs = [
            digits[k] + digits[k + 1] * base if k + 1 < len(digits) else digits[k] for k in range(0, len(digits), 2)
        ]
        digits, base = pairs, base * base
    return digits[0]


def _rational(residue: int, modulus: int) -> tuple[int, int] | None:
    """The fraction p/q ≡ residue with |p|, q ≤ √(modulus/2), where there is one (Wang's reconstruction)."""
    bound = math.isqrt(modulus // 2)
    r0, r1, s0, s1 = modulus, residue % modulus, 0, 1
    while r1 > bound:
        quotient = r0 // r1
        r0, r1, s0, s1 = r1, r0 - quotient * r1, s1, s0 - quotient * s1
    if s1 == 0 or abs(s1) > bound:
        return None
    return (r1, s1) if s1 > 0 else (-r1, -s1)


def _reconstruct(residues: NDArray[Any], modulus: int) -> tuple[NDArray[Any], int] | None:
    """Numerators over one common denominator for all residues, or None when the modulus is still too small."""
    denominator = 1
    for value in residues.flat:
        fraction = _rational(int(value) * denominator % modulus, modulus)
        if fraction is None:
            return None
        denominator *= fraction[1]
        if 2 * denominator * denominator > modulus:
            return None
    numerators = residues * denominator % modulus
    return np.where(numerators > modulus // 2, numerators - modulus, numerators), denominator


def solve(matrix: Sequence[Sequence[int]], right: Sequence[Sequence[int]]) -> tuple[NDArray[Any], int]:
    """X (integers) and q > 0 with matrix · X = q · right, exactly; the square matrix must not be singular.

    >>> X, q = solve([[2, 1], [1, 3]], [[1], [0]])
    >>> X.ravel().tolist(), q
    ([3, -1], 5)
    """
    A = np.array(matrix, dtype=object)
    B = np.array(right, dtype=object)
    n = len(A)
    prime = _prime_below(min(1 << 23, math.isqrt((1 << 53) // n)))
    tries = 1
    while (inverse := _inverse((A % prime).astype(np.int64), prime)) is None:
        prime, tries = _prime_below(prime), tries + 1
        if tries > 3 and len(independent_rows(matrix)[0]) < n:
            raise ZeroDivisionError("the matrix is singular")
    limb_bits = max(1, 52 - n.bit_length() - prime.bit_length())
    limbs = _limbs(A, limb_bits)
    # As many digits as |det A|² needs for rows at right angles (Hadamard), of which dense rows take some 0.93.
    likely = int(0.96 * sum(math.log2(sum(v * v for v in row) or 1) for row in matrix) / math.log2(prime))
    rest, digits, goal = B, [], 4
    while True:
        residue = (rest % prime).astype(np.float64)
        digit = np.mod(inverse @ residue, prime)
        product: Any = 0
        for place, limb in enumerate(limbs):
            product = product + ((limb @ digit).astype(np.int64).astype(object) << (limb_bits * place))
        rest = (rest - product) // prime
        digits.append(digit.astype(np.int64).astype(object))
        if len(digits) >= goal:
            goal = 2 * goal if 2 * goal < likely else max(likely, goal + 4)
            found = _reconstruct(_combine(list(digits), prime), prime ** len(digits))
            if found is not None and np.array_equal(A @ found[0], B * found[1]):
                return found


def nullspace(rows: Sequence[Sequence[int]], columns: Sequence[int] | None = None) -> tuple[list[Integers], list[int]]:
    """A basis, in primitive integer vectors, of {x : rows · x = 0}, and the coordinate that each has to itself.

    >>> nullspace([[1, 2, 3], [2, 4, 6]])
    ([[-2, 1, 0], [-3, 0, 1]], [1, 2])
    """
    width = len(rows[0])
    prime = _ROWS_PRIME
    while True:
        chosen, pivots = independent_rows(rows, columns, prime)
        free = [j for j in range(width) if j not in set(pivots)]
        if not free:
            return [], []
        basis: list[Integers] = []
        if chosen:
            right = [[-rows[i][j] for j in free] for i in chosen]
            numerators, denominator = solve([[rows[i][j] for j in pivots] for i in chosen], right)
        for column, j in enumerate(free):
            vector = [0] * width
            vector[j] = denominator if chosen else 1
            for place, pivot in enumerate(pivots):
                vector[pivot] = int(numerators[place, column])
            basis.append(primitive(vector))
        left = [rows[i] for i in range(len(rows)) if i not in set(chosen)]
        if all(dot(row, vector) == 0 for row in left for vector in basis):
            return basis, free
        prime = _prime_below(prime)  # it divided a minor: the rank was taken too low


def dot(left: Sequence[int], right: Sequence[int]) -> int:
    """Σ left[j]·right[j] in integers."""
    return sum(a * b for a, b in zip(left, right, strict=True) if a and b)


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
    """sign(c + v·x) = sign(v)·sign(x − t) where the threshold t = −c/(v·2^s) is a float.

    A column of a constant beside 100,000×6 takes a verdict of 13 ms in place of 109.
    """
    if len(weights) != 1 or values.dtype != np.float64:
        return None
    threshold = Fraction(-constant, weights[0]) / Fraction(2) ** shift[0]
    if abs(threshold) > Fraction(1e300) or Fraction(float(threshold)) != threshold:
        return None
    return (np.sign(values[:, 0] - float(threshold)) * (1 if weights[0] > 0 else -1)).astype(np.int8)


def _two_columns(values: Array, weights: Sequence[int], shift: Sequence[int], constant: int) -> Array | None:
    """Two columns whose weights differ by ±2^k (copies of one another, say) are compared, not added.

    A column that stands twice in 100,000×7 takes a verdict of 14 ms in place of 390.
    """
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
