"""Classes seen on a few axes: how far apart and how wide they are there, and what decides between them.

Two Gaussians on a line, means μ0 < μ1, variances v0, v1, priors P0, P1, have the log odds

    L(y) = ln P1/P0 − ½ ln v1/v0 + (y − μ0)²/2v0 − (y − μ1)²/2v1,

a parabola with at most one root at which it rises; that root is the threshold: it lies between the means, or is the one
nearer to them.  Seen from the midpoint, t = y − (μ0 + μ1)/2, it is at² + bt + c with a slope b that is positive for any
variances, so that t = −2c / (b + √(b² − 4ac)) has no cancellation, equal variances (a = 0) included.

More classes: the nearest mean in the metric of the within-class covariance on the axes, with priors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discriminant.data import ArrayBlocks
from discriminant.gaussian.covariance import scatter_of
from discriminant.gaussian.moments import ClassMoments
from discriminant.gaussian.sums import MomentKernel
from discriminant.gaussian.weights import Directions, distinct_axes, fisher_directions
from discriminant.gaussian.whiten import Whitened
from discriminant.protocols import Array
from discriminant.thresholds import PRECISE_VALUES

THRESHOLDS = ("gaussian", "pooled", "midpoint", "equal-error", "mean")
NO_SPREAD = 1e-20  # a class whose variance is below this share of the pooled one does not vary along the axis


@dataclass(frozen=True)
class Projection:
    """Axes, and where the classes lie on them; positions are relative to the image of ``origin``."""

    matrix: Array  # (d, m)
    origin: Array  # (d,)
    centre: Array  # (m,) the overall mean
    means: Array  # (K, m)
    spread: Array  # (m, m) within-class covariance on the axes
    between: Array  # (m,) variance of the class means along each axis
    shares: Array  # (m,) share of each axis in the between-class variance

    @property
    def ratios(self) -> Array:
        """Between-class over within-class variance along each axis."""
        with np.errstate(divide="ignore"):
            return np.asarray(self.between / np.diagonal(self.spread))

    def criterion(self, weights: Array) -> float:
        """Fisher's criterion of these axes, of classes with so many rows."""
        frequencies = weights / weights.sum()
        centred = self.means - frequencies @ self.means
        return _books_unit(weights) * _trace_ratio(self.spread, (centred * frequencies[:, None]).T @ centred)


def fisher_projection(whitened: Whitened, priors: Array, count: int) -> Projection:
    """The leading axes that maximise the between-class variance, with unit within-class variance."""
    axes = fisher_directions(whitened, priors)
    return _leading(axes, np.eye(len(axes.variances)), count)


def mean_projection(moments: ClassMoments, priors: Array, count: int) -> Projection:
    """The principal axes of the class means, of unit length: for two classes the line that joins them.

    They take no account of the spread within the classes, and change with the units of the columns.
    """
    means = moments.means * moments.unit
    centre = priors @ means
    _, singular, axes = np.linalg.svd((means - centre) * np.sqrt(priors)[:, None], full_matrices=False)
    keep = distinct_axes(singular[: len(priors) - 1], means, 1e-12)
    axes = axes[:keep]
    matrix = axes.T * np.sign(axes[np.arange(keep), np.abs(axes).argmax(axis=1)])
    scaled = matrix * moments.unit[:, None]
    spread = scaled.T @ scatter_of(moments).product(scaled) / moments.total
    directions = Directions(matrix, singular[:keep] ** 2, moments.origin, centre @ matrix, means @ matrix)
    return _leading(directions, spread, count)


def _leading(axes: Directions, spread: Array, count: int) -> Projection:
    matrix, centre, means = axes.matrix[:, :count], axes.centre[:count], axes.means[:, :count]
    if len(means) == 2:  # a sign is arbitrary: the second class lies on the positive side
        sign = np.where(means[1] < means[0], -1.0, 1.0)
        matrix, centre, means = matrix * sign, centre * sign, means * sign
    shares, between = axes.shares[:count], axes.variances[:count]
    return Projection(matrix, axes.origin, centre, means, spread[:count, :count], between, shares)


def projected_variances(moments: ClassMoments, axis: Array, blocks: ArrayBlocks | None = None) -> Array:
    """Variance (K,) of each class along an axis (d,); off the rows again where ``blocks`` are given.

    A strongly correlated axis is a difference of large terms: there the Gram matrices have lost the digits that the
    rows still have.
    """
    scaled = axis * moments.unit
    rows = moments.rows
    if rows is not None:
        along = (rows.values @ scaled) ** 2
        weighted = along if rows.weight is None else along * rows.weight
        return np.bincount(rows.codes, weighted, minlength=moments.n_classes) / moments.weight
    if blocks is None:
        squares = np.einsum("i,kij,j->k", scaled, moments.scatter, scaled)
        return np.asarray(np.maximum(squares, 0.0) / moments.weight)
    K, d = moments.n_classes, moments.n_features
    matrices = np.broadcast_to(scaled[:, None], (K, d, 1))
    precise = blocks.n_rows * d <= PRECISE_VALUES
    kernel = MomentKernel(moments.class_means, by_class=True, unit=moments.unit, matrix=matrices, precise=precise)
    sums = blocks.reduce(kernel)
    return np.asarray(np.maximum(sums.gram[:, 0, 0] - sums.sums[:, 0] ** 2 / sums.weight, 0.0) / sums.weight)


def two_class_threshold(rule: str, means: Array, variances: Array, priors: Array, pooled: float) -> float | None:
    """Where the decision changes on an axis with means[0] < means[1]; None where the Gaussians do not cross.

    A class that does not vary along the axis is given the pooled variance.

    >>> even = np.array([0.5, 0.5])
    >>> two_class_threshold("gaussian", np.array([0.0, 4.0]), np.array([1.0, 1.0]), even, 1.0)
    2.0
    >>> two_class_threshold("equal-error", np.array([0.0, 3.0]), np.array([1.0, 4.0]), even, 2.5)
    1.0
    """
    low, gap = float(means[0]), float(means[1] - means[0])
    if rule == "mean":
        return float(priors @ means)
    if rule == "midpoint" or pooled <= 0:
        return low + gap / 2
    v0, v1 = (float(v) if rule != "pooled" and v > NO_SPREAD * pooled else pooled for v in variances)
    if rule == "equal-error":
        return low + gap * math.sqrt(v0) / (math.sqrt(v0) + math.sqrt(v1))
    a = 0.5 * (1 / v0 - 1 / v1)
    b = 0.5 * gap * (1 / v0 + 1 / v1)
    c = math.log(priors[1] / priors[0]) - 0.5 * math.log(v1 / v0) + a * gap * gap / 4
    radicand = b * b - 4 * a * c
    return None if radicand < 0 or b <= 0 else low + gap / 2 - 2 * c / (b + math.sqrt(radicand))


def two_class_weights(projection: Projection, threshold: float) -> Array:
    """(1 + d, 1): the log odds of two Gaussians of one variance on the axis, moved to the threshold."""
    gap = projection.means[1, 0] - projection.means[0, 0]
    pooled = projection.spread[0, 0]
    slope = gap / pooled if pooled > 0 else gap
    return np.vstack([[-slope * threshold], slope * projection.matrix])


def nearest_mean_weights(projection: Projection, priors: Array) -> Array:
    """(1 + d, K): g_k = ln P_k − ½‖y − μ_k‖² in the metric of the spread, less what the classes share."""
    values, vectors = np.linalg.eigh(projection.spread)
    real = values > 1e-14 * values.max(initial=0.0)
    whiten = vectors[:, real] / np.sqrt(values[real])
    centre = projection.centre @ whiten
    u = projection.means @ whiten - centre
    intercept = np.log(priors) - 0.5 * np.einsum("kr,kr->k", u, u) - u @ centre
    return np.vstack([intercept, projection.matrix @ whiten @ u.T])


def trace_criterion(moments: ClassMoments, directions: Array) -> float:
    """Fisher's criterion of directions W (d, m): between-class over within-class scatter on the projections."""
    W = directions * moments.unit[:, None]
    centred = (moments.means - moments.weight @ moments.means / moments.total) @ W
    between = (centred * moments.weight[:, None]).T @ centred
    ratio = _trace_ratio(W.T @ scatter_of(moments).product(W), between)
    return _books_unit(moments.weight) * ratio


def _books_unit(weights: Array) -> float:
    """What makes the trace the textbooks' J: of two classes they take S_B = (m_2 − m_1)(m_2 − m_1)ᵗ.

    That is N/(N_1 N_2) times Σ_k N_k (m_k − m)(m_k − m)ᵗ, their S_B of K classes (PRML 4.27 and 4.46).
    """
    return float(weights.sum() / weights.prod()) if len(weights) == 2 else 1.0


def _trace_ratio(within: Array, between: Array) -> float:
    """Tr(within⁻¹ between); infinite where the classes have no spread along some direction."""
    if not len(within):
        return 0.0
    scale = np.sqrt(np.diagonal(within))
    if not scale.all():
        return float("inf")
    # Directions may be of any length: correlations, not covariances, show whether they are independent.
    values, vectors = np.linalg.eigh(within / scale / scale[:, None])
    if values[0] <= 1e-14 * values[-1]:
        return float("inf")
    turned = vectors.T @ (between / scale / scale[:, None]) @ vectors
    return float((np.diagonal(turned) / values).sum())
