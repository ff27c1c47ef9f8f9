"""How much a half-space can fit: VC dimension, sample sizes, shattering with Radon's reason, and Cover's count.

Half-spaces w·x + w₀ > 0 of d attributes shatter any d + 1 points in general position and no d + 2 points whatever
(Radon), so their VC dimension is d + 1.  Of the 2ⁿ ways to label n points in general position,

    C(n, d) = 2 Σ_{k=0}^{d} (n−1 choose k)                                                    (Cover 1965)

are cut by a half-space; no n points allow more, so C is the growth function too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discriminant.arguments import BOOLEAN, COUNT, SEED, checked, number, numbers
from discriminant.errors import ParameterError, names
from discriminant.inference import documented
from discriminant.inference.exact import integer_row, nullspace
from discriminant.model import discriminant_of
from discriminant.protocols import Array
from discriminant.shown import cell

_EXACT_UP_TO = 3_000


@documented
@checked(fit_intercept=BOOLEAN)
def vc_dimension(model_or_d: Any, *, fit_intercept: bool = True) -> int:
    """The VC dimension of half-spaces: d + 1, or d where they must pass through the origin.

    A number is taken as d.  A model or fitted estimator counts the features that its weights see, those of its basis
    φ where it has one; for K > 2 classes the answer is that of each boundary between two classes.

    Parameters
    ----------
    model_or_d : int, estimator or LinearDiscriminant
        d, or a fitted model.
    fit_intercept : bool, default=True
        Whether half-spaces may miss the origin; of a number only.

    >>> vc_dimension(2)
    3
    """
    if isinstance(model_or_d, int | np.integer) and not isinstance(model_or_d, bool):
        d = int(model_or_d)
        if d < 0:
            raise ParameterError(f"model_or_d, the number of attributes, is {d}; it cannot be negative.")
        return d + fit_intercept
    model = discriminant_of(model_or_d)
    if model is not None:
        return model.n_features + fit_intercept
    coefficients = getattr(model_or_d, "coef_", None)
    if coefficients is None:
        raise ParameterError(
            f"model_or_d must be a number of attributes or a fitted linear model, not {type(model_or_d).__name__}."
        )
    return int(np.atleast_2d(coefficients).shape[1]) + fit_intercept


@checked(n=COUNT, d=SEED)
def cover_count(n: int, d: int) -> int:
    """C(n, d): the labellings of n points in general position in d dimensions that a half-space makes.

    >>> cover_count(4, 2), cover_count(3, 2)
    (14, 8)
    """
    term, total = 1, 0
    for k in range(min(d, n - 1) + 1):
        total += term
        term = term * (n - 1 - k) // (k + 1)
    return 2 * total


@documented
@checked(n=COUNT, d=SEED)
def cover_probability(n: int, d: int) -> float:
    """The probability that n points in general position in d dimensions, labelled by coin flips, are separable.

    It is C(n, d)/2ⁿ: one up to n = d + 1, one half at n = 2(d + 1), and falls off fast beyond.

    Parameters
    ----------
    n, d : int
        Points, and dimensions.

    >>> cover_probability(4, 2)
    0.875
    >>> cover_probability(6, 2)
    0.5
    """
    if n <= d + 1:
        return 1.0
    if n <= _EXACT_UP_TO:
        return cover_count(n, d) / (1 << n)
    from scipy.special import bdtr

    return float(bdtr(d, n - 1, 0.5))  # the count is a binomial tail


@documented
@checked(d=SEED, epsilon=number(0, 1, open_="both"), delta=number(0, 1, open_="both"), agnostic=BOOLEAN)
def sample_size(d: int, epsilon: float, delta: float, *, agnostic: bool = False) -> int:
    """Rows that suffice for a half-space of d attributes to be within ε of the best with probability 1 − δ.

    The least m for which the Vapnik–Chervonenkis inequality, with Cover's exact growth function C, gives δ:
    2 C(2m, d) 2^(−mε/2) for a half-space that makes no error on the sample (Blumer et al. 1989), of order
    (d log(1/ε) + log(1/δ))/ε; and, ``agnostic``, 4 C(2m, d) exp(−mε²/32) for one that makes as few as possible.

    Parameters
    ----------
    d : int
        Attributes.
    epsilon : float
        ε in (0, 1), how far the error rate may be from the best.
    delta : float
        δ in (0, 1), the probability of being further.
    agnostic : bool, default=False
        Whether the best half-space may err.

    >>> sample_size(2, epsilon=0.1, delta=0.05)
    506
    """

    def enough(m: int) -> bool:
        growth = _log_count(2 * m, d)
        if agnostic:
            return math.log(4) + growth - m * epsilon**2 / 32 <= math.log(delta)
        return math.log(2) + growth - m * epsilon / 2 * math.log(2) <= math.log(delta)

    high = 1
    while not enough(high):
        high *= 2
    low = high // 2  # the bound falls for good once it falls, and it is above one before that
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _log_count(n: int, d: int) -> float:
    """log C(n, d)."""
    if n <= d + 1:
        return n * math.log(2)
    from scipy.special import gammaln, logsumexp

    k = np.arange(min(d, n - 1) + 1)
    return float(math.log(2) + logsumexp(gammaln(n) - gammaln(k + 1) - gammaln(n - k)))


@documented
@dataclass(frozen=True, repr=False)
class Radon:
    """Two sets of points whose hulls share a point: the labelling that gives one set + and the other − has no line.

    By Radon's theorem any d + 2 points in d dimensions have such a partition, so that half-spaces shatter no more than
    d + 1.

    Attributes
    ----------
    positive, negative : ndarray of int
        Point numbers of the two sets.
    weights : tuple of Fractions
        Convex weights of positive, then of negative; each part sums to one.
    point : ndarray of shape (d,)
        Where the hulls meet.

    See Also
    --------
    shatters : Finds one.

    >>> radon = shatters([[0.0], [1.0], [2.0]]).radon
    >>> radon.positive.tolist(), radon.negative.tolist(), radon.point.tolist()
    ([0, 2], [1], [1.0])
    """

    positive: Array  # point numbers
    negative: Array
    weights: tuple[Fraction, ...]  # convex weights of positive, then of negative; each part sums to one
    point: Array  # where the hulls meet

    def __repr__(self) -> str:
        sides = [names(side.tolist()) for side in (self.positive, self.negative)]
        return f"The hulls of points {sides[0]} and of {sides[1]} meet at ({', '.join(map(cell, self.point))})."


@documented
@dataclass(frozen=True, repr=False)
class Shattering:
    """Whether half-spaces can label some points in every way, and if not, a labelling that they cannot.

    Points are shattered exactly when they are affinely independent.

    Attributes
    ----------
    shattered : bool
        Whether every labelling has a half-space; also the truth value of the whole.
    labellings : int
        How many labellings have one at most, by Cover's count.
    radon : Radon or None
        A labelling that has none.

    See Also
    --------
    shatters : Decides.
    vc_dimension : The largest number that can be shattered.

    >>> bool(shatters([[0.0], [1.0]])), bool(shatters([[0.0], [1.0], [2.0]]))
    (True, False)
    """

    shattered: bool
    labellings: int  # at most, by Cover's count
    radon: Radon | None

    def __bool__(self) -> bool:
        return self.shattered

    def __repr__(self) -> str:
        if self.radon is None:
            return f"Shattered: each of {self.labellings:,} labellings has a half-space."
        return f"Not shattered: at most {self.labellings:,} labellings have a half-space. {self.radon!r}"


@documented
@checked(points=numbers(2, "a table of numbers with a row for each point"))
def shatters(points: Any) -> Shattering:
    """Whether half-spaces shatter these points: exactly when they are affinely independent, decided exactly.

    Parameters
    ----------
    points : array-like of shape (n, d)
        The points.

    >>> bool(shatters([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    True
    >>> square = shatters([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> square.shattered, square.radon.positive.tolist(), square.radon.negative.tolist(), square.radon.point.tolist()
    (False, [0, 3], [1, 2], [0.5, 0.5])
    """
    array = np.asarray(points)
    array = array.astype(float) if array.dtype.kind not in "fiu" else array
    if array.ndim != 2 or not array.shape[0]:
        raise ParameterError(f"points must be a table with a row for each point; this array has shape {array.shape}.")
    if not np.isfinite(array).all():
        raise ParameterError(f"points must be finite; point {int(np.argwhere(~np.isfinite(array))[0][0])} is not.")
    n, d = array.shape
    few = array[: d + 2]  # no d + 2 points are shattered, so these suffice
    rows = [integer_row([1, *row]) for row in few.tolist()]
    relations, _ = nullspace(list(map(list, zip(*(m for m, _ in rows), strict=True))))
    if not relations:
        return Shattering(True, 1 << n, None)
    relation = [Fraction(v) * Fraction(2) ** e for v, (_, e) in zip(relations[0], rows, strict=True)]
    if next(v for v in relation if v) < 0:
        relation = [-v for v in relation]
    positive, negative = ([i for i, v in enumerate(relation) if v * s > 0] for s in (1, -1))
    total = sum((relation[i] for i in positive), Fraction(0))
    weights = tuple(abs(relation[i]) / total for i in (*positive, *negative))
    exact = [
        sum((w * Fraction(x) for w, x in zip(weights, few[positive, j].tolist(), strict=False)), Fraction(0))
        for j in range(d)
    ]
    radon = Radon(np.array(positive), np.array(negative), weights, np.array([float(v) for v in exact]))
    return Shattering(False, min(cover_count(n, d), (1 << n) - 2), radon)
