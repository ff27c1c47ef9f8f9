"""From weights that separate to the hyperplane that is handed over: floats where they suffice, and its margin, proved.

The margin of a hyperplane is the least Euclidean distance of a row, in the units of X, to the boundary of its region:
min over rows i and rivals k of (w_y − w_k)·ỹ_i / ‖w_y − w_k‖, the intercept left out of the norm.  The float reported
is rounded down, so that "every row is at least this far" is true as it stands.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discriminant.errors import ParameterError
from discriminant.inference.cone import KeslerCone, Pair
from discriminant.inference.exact import Integers, over_common_denominator
from discriminant.inference.margin import widest_gap
from discriminant.inference.search import Finding
from discriminant.protocols import Array, Block

_MOST_COLUMNS = 600  # beyond, the widest gap costs more than the verdict
_MOST_EXACT = 60  # closest rows whose distance is worked out in rational numbers


@dataclass(frozen=True)
class Placed:
    """Integer weights, the same as floats of length one, the margin that they prove, and a bound on any margin."""

    weights: Integers
    floats: Array | None
    margin: float
    bound: float
    size: float = 0.0  # of the numbers in X


def place(cone: KeslerCone, finding: Finding, choice: str) -> Placed:
    """The hyperplane to report for a finding."""
    if choice not in ("widest", "any"):
        raise ParameterError(f"hyperplane is {choice!r}; it must be 'widest' or 'any'.")
    if finding.weights is None:
        return Placed([], None, 0.0, 0.0)
    if finding.circuit is not None:
        return Placed(finding.weights, to_floats(cone, finding.weights), 0.0, 0.0)
    weights, bound = finding.weights, float("inf")
    few = 0 < len(cone.keep) <= _MOST_COLUMNS
    if choice == "widest" and cone.n_classes == 2 and cone.intercept and few and not cone.extreme:
        weights, bound = _widened(cone, weights)
    floats = to_floats(cone, weights)
    rounded = from_floats(cone, floats)
    if rounded != weights and (cone.signs(rounded) > 0).all():
        weights = rounded
    margin = margin_of(cone, weights)
    return Placed(
        weights, floats, margin, max(bound, margin), float(np.ldexp(1.0, cone.exponent[list(cone.keep)].max()))
    )


def _widened(cone: KeslerCone, weights: Integers) -> tuple[Integers, float]:
    """Weights with a wider gap where Wolfe's method finds some that are right on every row, and its upper bound."""
    keep = list(cone.keep)
    direction = np.zeros(cone.source.shape[1])
    direction[keep] = np.atleast_1d(to_floats(cone, weights))[1:][keep]
    if not direction.any() or not np.isfinite(direction).all():
        return weights, float("inf")
    with np.errstate(over="ignore", invalid="ignore"):
        w, low, high, middle = widest_gap(cone, direction)
    if not (low > 0 and np.isfinite(w).all()):
        return weights, float("inf")
    u = np.concatenate([[-middle], np.ldexp(w, cone.exponent)[keep]])
    wider = cone.exact(u)
    return (wider, high * (1 + 1e-9)) if (cone.signs(wider) > 0).all() else (weights, float("inf"))


def to_floats(cone: KeslerCone, weights: Sequence[int]) -> Array:
    """The weights over the columns of X, rounded: (1+d,) of length one for two classes, else (1+d, K)."""
    exact = rationals(cone, weights, cone.source.shape[1])
    unit = _root_above(sum((v * v for block in exact for v in block[1:]), Fraction(0))) or Fraction(1)
    table = np.array([[_float(v / unit) for v in block] for block in exact]).T
    return table[:, 1] if cone.n_classes == 2 else table


def rationals(cone: KeslerCone, weights: Sequence[int], d: int) -> tuple[tuple[Fraction, ...], ...]:
    """The weights of each class over the one and the columns of X, exactly."""
    exact = []
    for block in cone.machine(weights):
        row = [Fraction(0)] * (d + 1)
        if cone.intercept:
            row[0] = Fraction(block[0])
        for j, v in zip(cone.keep, block[cone.intercept :], strict=True):
            row[j + 1] = Fraction(v) / Fraction(2) ** int(cone.exponent[j])
        exact.append(tuple(row))
    return tuple(exact)


def from_floats(cone: KeslerCone, floats: Array) -> Integers:
    """The integer weights of a float hyperplane over the columns of X."""
    table = np.column_stack([np.zeros(len(floats)), floats]) if cone.n_classes == 2 else floats
    exact: list[Fraction | int] = []
    for k in range(1, cone.n_classes):
        column = [Fraction(float(v)) - Fraction(float(r)) for v, r in zip(table[:, k], table[:, 0], strict=True)]
        exact += [column[0]] if cone.intercept else []
        exact += [column[j + 1] * Fraction(2) ** int(cone.exponent[j]) for j in cone.keep]
    return over_common_denominator(exact)


def margin_of(cone: KeslerCone, weights: Sequence[int]) -> float:
    """A float that is no more than the margin of these weights, and equal to it up to rounding."""
    lengths = norms(cone, weights)
    u, top = cone.floats(weights)
    scale = np.ones((cone.n_classes, cone.n_classes))
    for (own, rival), length in lengths.items():
        scale[own, rival] = float(length / Fraction(2) ** top) or 1e-300
    near: list[tuple[float, int, int]] = []
    reach = [float("inf")]

    def kernel(block: Block, gap: Array, bound: Array) -> None:
        codes = np.asarray(block.target, dtype=np.intp)
        gap[np.arange(len(codes)), codes] = np.inf
        distance, error = gap / scale[codes], bound / scale[codes]
        reach[0] = min(reach[0], float(np.min(distance + error)))
        for i, k in np.argwhere(distance - error <= reach[0]):
            near.append((float(distance[i, k] - error[i, k]), block.start + int(i), int(k)))

    cone.each_gap(u, kernel)
    pairs = [(i, k) for low, i, k in near if low <= reach[0]]
    if len(pairs) > _MOST_EXACT:  # as many rows tie: what floats prove is a hair less
        return min(low for low, *_ in near) * (1.0 - 1e-14)
    exact = [cone.value(pair, weights) / lengths[int(cone.codes[pair[0]]), pair[1]] for pair in pairs]
    return _below(min(exact))


def least(cone: KeslerCone, weights: Sequence[int], margin: float) -> dict[Pair, Fraction]:
    """What (w_y − w_k)·ỹ must be at least for a row of class y to be ``margin`` away from class k."""
    return {pair: Fraction(margin) * length for pair, length in norms(cone, weights).items()}


def norms(cone: KeslerCone, weights: Sequence[int]) -> dict[Pair, Fraction]:
    """‖w_j − w_k‖ over the columns of X, rounded up by less than 2^−60, for each pair of classes."""
    machine = cone.machine(weights)
    powers = [Fraction(2) ** -int(cone.exponent[j]) for j in cone.keep]
    result = {}
    for j in range(cone.n_classes):
        for k in range(j):
            difference = [a - b for a, b in zip(machine[j], machine[k], strict=True)][cone.intercept :]
            square = sum(((v * p) ** 2 for v, p in zip(difference, powers, strict=True)), Fraction(0))
            result[j, k] = result[k, j] = _root_above(square) or Fraction(1)
    return result


def _root_above(square: Fraction) -> Fraction:
    """The least multiple of a fine power of two that is no less than √square."""
    if not square:
        return Fraction(0)
    size = square.numerator.bit_length() - square.denominator.bit_length()
    shift = max(0, 140 - size) // 2 + 1
    root = math.isqrt((square.numerator << 2 * shift) // square.denominator)
    exact = root * root * square.denominator == square.numerator << 2 * shift
    return Fraction(root if exact else root + 1, 1 << shift)


def _float(value: Fraction) -> float:
    """The nearest float; a ratio of huge integers included."""
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value)


def _below(value: Fraction) -> float:
    """The largest float that is no more than the value."""
    result = _float(value)
    return result if Fraction(result) <= value else math.nextafter(result, -math.inf)
