"""Class densities of the exponential family whose sufficient statistic is x itself: class sums, and linear scores.

    p(x|C_k) = Π_j h(x_j) exp(θ_kj x_j − b(θ_kj)),      g_k(x) = Σ_j θ_kj x_j − Σ_j b(θ_kj) + ln P_k

    density        mean μ                  θ                b
    bernoulli      p                       ln p/(1 − p)     −ln(1 − p)
    multinomial    p, Σ_j p_j = 1          ln p             0
    poisson        λ                       ln λ             λ
    exponential    1/rate                  −1/μ             ln μ

h is the same for all classes and drops out of the posteriors, so that the log odds are linear in x, as for Gaussians of
one covariance.  μ needs nothing of the rows but W_k = Σ w and S_k = Σ w x over each class, and these add.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from discriminant.arrays import is_sparse
from discriminant.data.database import QueryRequest, QueryTable
from discriminant.gaussian.sparse_sums import sparse_class_sums
from discriminant.gaussian.sums import class_sums, class_weights
from discriminant.protocols import Array, Block
from discriminant.shown import Shown, class_table


@dataclass(frozen=True, eq=False, repr=False)
class ClassSums(Shown):
    """Weight and column sums of each class: all that densities of the exponential family learn from rows.

    The sums of two sets of rows add, so that parts, files and machines can be merged.

    Attributes
    ----------
    weight : ndarray of shape (K,)
        Total weight of each class.
    count : ndarray of shape (K,)
        Number of rows with a positive weight.
    sums : ndarray of shape (K, d)
        Σ w x over the rows of each class.
    outside : int
        Blocks with values that the densities do not have.

    See Also
    --------
    discriminant.ExponentialFamilyClassifier : Whose ``moments_`` they are.

    Examples
    --------
    >>> from discriminant import ExponentialFamilyClassifier
    >>> X, y = [[0, 1], [1, 1], [1, 0]], ["a", "a", "b"]
    >>> ExponentialFamilyClassifier("bernoulli").fit(X, y).moments_.sums
    array([[1., 2.],
           [1., 0.]])
    """

    weight: Array  # (K,)
    count: Array  # (K,)
    sums: Array  # (K, d)
    outside: int = 0

    @property
    def n_classes(self) -> int:
        """K."""
        return len(self.weight)

    @property
    def n_features(self) -> int:
        """d."""
        return int(self.sums.shape[1])

    @property
    def total(self) -> float:
        """The weight of all classes together."""
        return float(self.weight.sum())

    def _shown(self) -> tuple[str, dict[str, Any], list[str], list[str]]:
        return class_table("Sums", self.count, self.weight, {}, "sum", self.sums)

    def __add__(self, other: ClassSums) -> ClassSums:
        return ClassSums(
            self.weight + other.weight, self.count + other.count, self.sums + other.sums, self.outside + other.outside
        )

    def merge(self, other: ClassSums) -> ClassSums:
        """The sums of both sets of rows.  a.merge(b) and b.merge(a) have the same bits.

        Parameters
        ----------
        other : ClassSums
            Of other rows, with the same classes and columns.

        Returns
        -------
        ClassSums
            New sums.
        """
        return self + other


@dataclass(frozen=True)
class ClassSumKernel(QueryRequest):
    """One block's ClassSums; ``support``: the columns of each density, whose values are looked at on the way."""

    n_classes: int
    support: tuple[tuple[str, Any], ...]  # densities with their columns: positions, or a slice for all

    def on_query(self, table: QueryTable) -> ClassSums | None:
        known = table.survey
        if known is None:
            return None
        outside = bool((known.low < 0).any())
        for family, columns in self.support:
            if family == "bernoulli":
                high, twice = known.high[:, columns], known.squares[:, columns] != known.sums[:, columns]
                outside |= bool((high > 1).any() or twice.any())
        return ClassSums(known.count.copy(), known.count.copy(), known.sums.copy(), int(outside))

    def __call__(self, block: Block) -> ClassSums:
        codes, K = np.asarray(block.target, dtype=np.intp), self.n_classes
        weight, count = class_weights(codes, block.weight, K)
        values = block.design.values
        by_class = sparse_class_sums if is_sparse(values) else class_sums
        outside = any(
            not in_support(family, _entries(values, columns, block.weight)) for family, columns in self.support
        )
        return ClassSums(weight, count, by_class(values, codes, K, block.weight), int(outside))


def _entries(values: Any, columns: Any, weight: Array | None) -> Array:
    """The numbers in some columns of the rows that count; of a sparse block those that are stored."""
    part = values if isinstance(columns, slice) else values[:, columns]
    if weight is not None and (weight == 0).any():
        part = part[np.flatnonzero(weight > 0)]
    return np.asarray(part.data if is_sparse(part) else part)


def in_support(family: str, x: Array) -> bool:
    """Whether the density has these values: 0 and 1, or any that are not negative.  NaN is none."""
    if not x.size:
        return True
    if not x.min() >= 0:
        return False
    # Of numbers from 0 to 1 only 0 and 1 are their own squares; two sums show it without an array of answers.
    return family != "bernoulli" or bool(x.max() <= 1 and np.vdot(x, x) == x.sum())


class Natural(NamedTuple):
    """A density of each class and column in its natural form, θ x − b."""

    theta: Array  # (K, d)
    partition: Array  # b (K, d)
    mean: Array  # (K, d)
    edge: Array  # (K, d): −1 or 1 where μ lies on the lower or upper edge of what it may be, so that θ is infinite


def _bernoulli(S: Array, W: Array, a: float) -> Natural:
    ones, zeros, rows = S + a, W - S + a, W + 2 * a
    theta, partition = np.log(ones) - np.log(zeros), np.log(rows) - np.log(zeros)
    return Natural(theta, partition, ones / rows, (zeros <= 0).astype(int) - (ones <= 0))


def _multinomial(S: Array, W: Array, a: float) -> Natural:
    counts = S + a
    total = counts.sum(axis=1, keepdims=True)
    mean = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    return Natural(np.log(counts) - np.log(total), np.zeros_like(counts), mean, -(counts <= 0).astype(int))


def _smoothed_mean(S: Array, W: Array, a: float) -> Array:
    """Class means with ``a`` rows more, each at the mean of all: whatever the unit of x, the same densities."""
    return np.asarray((S + a * S.sum(axis=0) / W.sum()) / (W + a))


def _poisson(S: Array, W: Array, a: float) -> Natural:
    mean = _smoothed_mean(S, W, a)
    return Natural(np.log(mean), mean, mean, -(mean <= 0).astype(int))


def _exponential(S: Array, W: Array, a: float) -> Natural:
    mean = _smoothed_mean(S, W, a)
    return Natural(-1 / mean, np.log(mean), mean, -(mean <= 0).astype(int))


FAMILIES: dict[str, Callable[[Array, Array, float], Natural]] = {
    "bernoulli": _bernoulli,
    "multinomial": _multinomial,
    "poisson": _poisson,
    "exponential": _exponential,
}


def natural(family: str, sums: Array, weight: Array, smoothing: float) -> Natural:
    """The densities of some columns from their class sums.

    A column in which every class lies on the same edge separates none from another: θ and b are 0 there.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        found = FAMILIES[family](sums, weight[:, None], smoothing)
    alike = (found.edge == found.edge[0]).all(axis=0) & (found.edge[0] != 0)
    zero = np.zeros(())
    return Natural(
        np.where(alike, zero, found.theta), np.where(alike, zero, found.partition), found.mean,
        np.where(alike, 0, found.edge),
    )  # fmt: skip
