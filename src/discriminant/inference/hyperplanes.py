"""From weights that separate to the hyperplane that is handed over: floats where they suffice, and its margin, proved.

The margin of a hyperplane is the least Euclidean distance of a row, in the units of X, to the boundary of its region:
min over rows i and rivals k of (w_y − w_k)·ỹ_i / ‖w_y − w_k‖, the intercept left out of the norm.  The float reported
is rounded down, so that "every row is at least this far" is true as it stands.

The widest gap between two classes is the hard-margin problem, by an interior-point method, on a growing set of rows:

    min ½‖w‖²   subject to   s_i (w·x_i + b) ≥ 1,  s_i = ±1;          the margin is 1/‖w‖.

Its multipliers λ, made to sum to one in each class, name a point of each hull, and half the distance of any two such
points bounds every margin from above:

    min_i s_i (w·x_i + b) / ‖w‖   ≤   maximum margin   ≤   ‖Σ₊ λ_i x_i − Σ₋ λ_i x_i‖ / 2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discriminant.arrays import as_dense
from discriminant.inference.cone import KeslerCone, Pair
from discriminant.inference.exact import Integers, over_common_denominator
from discriminant.inference.search import Finding
from discriminant.optimize.interior_point import Point, Program, Rows, interior_point
from discriminant.protocols import Array, Block
from discriminant.thresholds import WIDEST_COLUMNS

_NEAR_ROWS = 300
_ROUNDS = 12
_STEPS = 60


def hard_margin(values: Array, signs: Array, direction: Array) -> tuple[Array, float]:
    """(w, high): a unit direction near the widest gap between the rows of sign + and −, and a bound on any margin.

    ``direction`` separates the rows already and sets the scale.

    >>> points = np.array([[2.0, 0.0], [3.0, 1.0], [0.0, -1.0], [0.0, 1.0]])
    >>> w, high = hard_margin(points, np.array([1.0, 1.0, -1.0, -1.0]), np.array([1.0, 0.2]))
    >>> float(w[0].round(6)), round(high, 6)
    (1.0, 1.0)
    """
    if values.shape[1] > len(values):  # the answer lies in the span of the rows
        span, coordinates = np.linalg.qr(values.T)
        w, high = hard_margin(coordinates.T, signs, span.T @ direction)
        return span @ w, high
    along = values @ direction
    top, bottom = along[signs > 0].min(), along[signs < 0].max()
    unit = (top - bottom) / 2.0  # in this unit the direction's margin is one
    A = signs[:, None] * np.column_stack([values / unit, np.ones(len(values))])
    u = np.append(direction, -(top + bottom) / (2.0 * unit))
    u, multipliers = _interior(A, u)
    w = u[:-1]
    for sign in (1.0, -1.0):
        multipliers[signs == sign] /= multipliers[signs == sign].sum()
    apart = (signs * multipliers) @ values
    return w / np.linalg.norm(w), float(np.linalg.norm(apart)) / 2.0


def _interior(A: Array, u: Array) -> tuple[Array, Array]:
    """(u, λ) of min ½‖u without its last entry‖² subject to A u ≥ 1, from a feasible u."""
    m, v = A.shape
    program = Program(np.append(np.ones(v - 1), 0.0), np.zeros(v), Rows(A), np.ones(m), np.full(m, np.inf))
    start = Point(u, np.full(m, 1.0 / m), np.maximum(A @ u - 1.0, 0.1), np.zeros(m))
    for point in interior_point(program, start, _STEPS):
        u, multipliers = point.x, point.y
        if point.complementarity(program.U) <= 1e-11 * (u[:-1] @ u[:-1]):
            break
    return u, multipliers


def widest_gap(cone: KeslerCone, direction: Array) -> tuple[Array, float, float, float]:
    """(w, low, high, middle): a direction of X, bounds on the largest margin in floats, and where the gap's middle is.

    ``direction`` (d,) separates already.  The rows nearest to the gap go to ``hard_margin``; a pass over all rows finds
    those that its answer brings nearer.
    """
    best = direction / np.linalg.norm(direction)
    (top, bottom), near = _extremes(cone, best)
    low, high, middle = (top - bottom) / 2.0, float("inf"), (top + bottom) / 2.0
    for _ in range(_ROUNDS):
        if not low > 0:
            break
        w, bound = hard_margin(
            as_dense(cone.source.pick(near).values) - cone.center, np.where(cone.codes[near] == 1, 1.0, -1.0), best
        )
        if not np.isfinite(w).all():
            break
        high = min(high, bound)
        (top, bottom), fresh = _extremes(cone, w)
        if (top - bottom) / 2.0 > low:
            best, low, middle = w, (top - bottom) / 2.0, (top + bottom) / 2.0
        grown = np.union1d(near, fresh)
        if low >= high * (1.0 - 1e-9) or len(grown) == len(near):
            break
        near = grown
    return best, low, high, middle


def _extremes(cone: KeslerCone, w: Array) -> tuple[tuple[float, float], Array]:
    """(least of the positives, largest of the negatives) of w·(x − c), and the rows of each class nearest the gap."""
    scores = np.empty(cone.n_rows)

    def kernel(block: Block) -> None:
        scores[block.start : block.start + block.rows] = cone.shifted(block) @ w

    cone.each(kernel)
    near = []
    for code, sign in ((1, 1.0), (0, -1.0)):
        rows = np.flatnonzero(cone.codes == code)
        if len(rows) > _NEAR_ROWS:
            rows = rows[np.argpartition(sign * scores[rows], _NEAR_ROWS)[:_NEAR_ROWS]]
        near.append(rows)
    return (float(scores[near[0]].min()), float(scores[near[1]].max())), np.concatenate(near)


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
    if finding.weights is None:
        return Placed([], None, 0.0, 0.0)
    if finding.circuit is not None:
        return Placed(finding.weights, to_floats(cone, finding.weights), 0.0, 0.0)
    weights, bound = finding.weights, float("inf")
    few = 0 < len(cone.keep) <= WIDEST_COLUMNS
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
    """Weights with a wider gap where ``widest_gap`` finds some that are right on every row, and its upper bound."""
    keep = list(cone.keep)
    direction = np.zeros(cone.source.shape[1])
    direction[keep] = np.atleast_1d(to_floats(cone, weights))[1:][keep]
    if not direction.any() or not np.isfinite(direction).all():
        return weights, float("inf")
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # a gap of the size of rounding
        w, low, high, middle = widest_gap(cone, direction)
    if not (low > 0 and np.isfinite(w).all()):
        return weights, float("inf")
    u = np.concatenate([[-middle], np.ldexp(w, cone.exponent)[keep]])
    wider = cone.exact(u)
    return (wider, high * (1 + 1e-9)) if (cone.signs(wider) > 0).all() else (weights, float("inf"))


def to_floats(cone: KeslerCone, weights: Sequence[int]) -> Array:
    """The weights over the columns of X, rounded: (1+d,) of length one for two classes, else (1+d, K)."""
    exact = rationals(cone, weights, cone.source.shape[1])
    unit = _length(cone, cone.machine(weights)) or Fraction(1)
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
    closest = [float("inf")]

    def kernel(block: Block, gap: Array, bound: Array) -> None:
        codes = np.asarray(block.target, dtype=np.intp)
        gap[np.arange(len(codes)), codes] = np.inf
        distance, error = gap / scale[codes], bound / scale[codes]
        closest[0] = min(closest[0], float(np.min(distance + error)))
        for i, k in np.argwhere(distance - error <= closest[0]):
            near.append((float(distance[i, k] - error[i, k]), block.start + int(i), int(k)))

    cone.each_gap(u, kernel)
    pairs = [(i, k) for low, i, k in near if low <= closest[0]]
    if len(pairs) > _MOST_EXACT:  # as many rows tie: what floats prove is a hair less
        return min(low for low, *_ in near) * (1.0 - 1e-14)
    values = zip(pairs, cone.values(pairs, weights), strict=True)
    return _below(min(value / lengths[int(cone.codes[i]), k] for (i, k), value in values))


def least(cone: KeslerCone, weights: Sequence[int], margin: float) -> dict[Pair, Fraction]:
    """What (w_y − w_k)·ỹ must be at least for a row of class y to be ``margin`` away from class k."""
    return {pair: Fraction(margin) * length for pair, length in norms(cone, weights).items()}


def norms(cone: KeslerCone, weights: Sequence[int]) -> dict[Pair, Fraction]:
    """‖w_j − w_k‖ over the columns of X, rounded up by less than 2^−60, for each pair of classes."""
    machine = cone.machine(weights)
    result = {}
    for j in range(cone.n_classes):
        for k in range(j):
            difference = [a - b for a, b in zip(machine[j], machine[k], strict=True)]
            result[j, k] = result[k, j] = _length(cone, [difference]) or Fraction(1)
    return result


def _length(cone: KeslerCone, blocks: Sequence[Integers]) -> Fraction:
    """√Σ w² of exact weights over the columns of X, rounded up."""
    powers = cone.exponent[list(cone.keep)].tolist()
    top = max(powers, default=0)
    whole = [v << top - e for block in blocks for v, e in zip(block[cone.intercept :], powers, strict=True)]
    return _root_above(Fraction(sum(v * v for v in whole)) / Fraction(4) ** top)


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
