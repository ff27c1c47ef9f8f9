"""Coordinates in which a covariance is the unit matrix: Wᵗ Σ W = I, with the rank found on the way.

Columns are first scaled by their own within-class deviation, so that neither rank nor digits depend on units.  For a
well-conditioned correlation R = L Lᵗ the whitener is L⁻ᵗ.  Otherwise R is decomposed into eigenvectors and the data
are read again in the whitened coordinates; there the second moment is near I and is computed without cancellation.
Repeated, that is a QR decomposition by blocks (CholeskyQR2): the error falls from ε·κ(X)² to ε·κ(X), and singular
values are distinguished from rounding noise down to the precision of the data.  As long as L is far from singular the
second factor is a triangle too: eigenvectors of a matrix near I are any directions, and would mix a column that a
penalty holds near zero with columns a million times larger, in whose rounding it drowns.

A direction is dropped when the standardised data's singular value along it is within the rounding of the data, or below
``tol`` where one is given.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discriminant.errors import DataError
from discriminant.gaussian.moments import ClassMoments
from discriminant.protocols import Array
from discriminant.thresholds import REREAD_COLUMNS, REREAD_CONDITION, REREAD_VALUES, TRIANGULAR_CONDITION

WELL_CONDITIONED = 2e3  # κ(R): below it the Gram matrix itself keeps thirteen digits
SEEN = 1e-10  # of a whitened covariance
NEAR_UNIT = 1e2  # κ of the second moment in whitened coordinates at which another pass gains nothing
MOST_PASSES = 4
EPS = float(np.finfo(np.float64).eps)

Again = Callable[[Array], tuple[Array, Array]]  # W ↦ Wᵗ Σ W (r, r) and Wᵗ(m_k − origin) (K, r), read off the rows


@dataclass(frozen=True)
class Whitened:
    """Class means and coordinates in which the covariance is I."""

    matrix: Array  # W (d, r), in the units of X
    means: Array  # (K, r): Wᵗ (m_k − origin)
    origin: Array  # (d,)
    log_determinant: float  # ln |Σ| over the directions that were kept
    deviation: Array  # (d,) standard deviation of each column within the classes; 0 where it is constant
    null: Array  # (d, ·) directions dropped, in standardised columns
    passes: int = 1
    given_rank: int | None = None  # of Σ, where W holds only the directions that the class means need
    spread: float = np.inf  # tr R⁻¹‖R‖/d of the correlation R, where that is known to be small

    @property
    def rank(self) -> int:
        return int(self.matrix.shape[1]) if self.given_rank is None else self.given_rank

    @property
    def full(self) -> bool:
        return bool(self.rank == self.matrix.shape[0])

    @property
    def inflation(self) -> Array:
        """(d,): variance inflation factors 1/(1 − R²), R² of a column's regression on the others; diag of R⁻¹."""
        if len(self.deviation) != len(self.matrix):
            return np.zeros(len(self.matrix))  # whitened twice: the deviations are those of the first coordinates
        scaled = self.matrix * self.deviation[:, None]
        return np.asarray(np.einsum("ij,ij->i", scaled, scaled))

    @property
    def condition(self) -> float:
        """Of the within-class correlation, over the directions that were kept: W scaled by the columns' deviations."""
        if len(self.deviation) != len(self.matrix) or self.rank > self.matrix.shape[1]:
            return float("nan")  # whitened twice: deviations of the first coordinates; or W holds some directions only
        singular = np.linalg.svd(self.matrix * self.deviation[:, None], compute_uv=False)[: self.rank]
        return float((singular[0] / singular[-1]) ** 2) if len(singular) and singular[-1] > 0 else float("nan")

    @property
    def constant(self) -> Array:
        """Indices of the columns that do not vary within the classes."""
        return np.flatnonzero(self.deviation == 0)

    @property
    def collinear(self) -> Array:
        """Indices of the columns that take part in a dropped direction."""
        return np.flatnonzero(np.sqrt((self.null**2).sum(axis=1)) > 1e-3)


def whiten_moments(
    moments: ClassMoments, divisor: float, *, tol: float | None = None, again: Again | None = None
) -> Whitened:
    """Whiten Σ = S_W / divisor.

    ``again`` reads the data in new coordinates; without it (merged moments, whose rows are gone) singular values below
    √ε cannot be distinguished from rounding and are dropped.
    """
    covariance = moments.pooled().scatter / divisor
    if tol is None:
        found = _by_triangles(moments, covariance[None], moments.means[None], moments.count.sum(), again is not None)[0]
        if found is not None:
            return found
    columns = _Columns(moments, covariance)
    limit, triangular = _limits(moments, int(moments.count.sum()), columns.noise.max(initial=EPS))
    W, T = _first(columns.correlation, triangular)
    if again is None or (T is None and _spread(columns.correlation, W) < limit):
        return columns.finish(*columns.split(W, T, None), 1, tol)
    if T is None:
        T, means = again(columns.spread(W))
        turn = _inverse_transpose(np.linalg.cholesky(T))
        return columns.finish(W @ turn, means @ turn, np.zeros((len(W), 0)), 1.0, 2, tol)
    few = columns.split_uncertain(W, limit, again)
    if few is not None:
        return columns.finish(*few, 2, tol)
    nulls, passes, condition = [], 1, np.inf
    while condition > NEAR_UNIT and passes <= MOST_PASSES:
        W, means, null, condition = columns.split(W, *again(columns.spread(W)))
        nulls.append(null)
        passes += 1
    return columns.finish(W, means, np.hstack(nulls), condition, passes, tol)


def whiten_each(
    moments: ClassMoments,
    divisors: Array,
    *,
    tol: float | None = None,
    again: Callable[[int], Again | None] = lambda k: None,
) -> list[Whitened]:
    """Whiten Σ_k = S_k / divisor_k of each class; ``again(k)`` reads class k in new coordinates."""
    K = moments.n_classes
    found: list[Whitened | None] = [None] * K
    if tol is None:
        covariances = moments.scatter / divisors[:, None, None]
        found = _by_triangles(moments, covariances, moments.means[:, None], moments.count, again(0) is not None)
    return [
        whiten_moments(moments.of_class(k), divisors[k], tol=tol, again=again(k)) if one is None else one
        for k, one in enumerate(found)
    ]


def _limits(moments: ClassMoments, count: int, noise: float) -> tuple[float, float]:
    """κ from which rows are read again, and that from which Cholesky's triangle is no longer trusted with it."""
    d = moments.n_features
    limit = (WELL_CONDITIONED if d <= REREAD_COLUMNS else REREAD_CONDITION) / moments.inflation
    triangular = limit
    if d <= REREAD_COLUMNS:
        triangular = max(limit, min(TRIANGULAR_CONDITION, 0.01 / noise**2))
        if count * d <= REREAD_VALUES:
            limit = min(limit, WELL_CONDITIONED / 10)
    return limit, triangular


def _by_triangles(
    moments: ClassMoments, covariances: Array, means: Array, count: Array, rows_at_hand: bool
) -> list[Whitened | None]:
    """Covariances (m, d, d) whitened at once, with their class means (m, ·, d): W = L⁻ᵗ of the correlation L Lᵗ.

    None for all where some column varies in none or an L is singular, or for one that is not well-conditioned.
    """
    m, d = covariances.shape[:2]
    scale = np.sqrt(np.maximum(np.diagonal(covariances, axis1=1, axis2=2), 0.0))
    offset = moments.precision * np.abs(moments.origin / moments.unit + means).max(axis=1)
    if d > REREAD_COLUMNS or not (scale > offset).all():
        return [None] * m
    R = covariances / scale[:, :, None] / scale[:, None, :]
    try:
        L = np.linalg.cholesky(R)
    except np.linalg.LinAlgError:
        return [None] * m
    inverse = np.linalg.inv(L)
    sizes = np.sqrt(np.square(R).sum(axis=(1, 2))) * np.square(inverse).sum(axis=(1, 2)) / d
    noise = 8 * (EPS * np.sqrt(d) + (offset / scale).max(axis=1))
    deviation = scale * moments.unit
    triangles = inverse.transpose(0, 2, 1)
    with np.errstate(over="ignore"):
        matrices = triangles / deviation[:, :, None]
    mapped = (means / scale[:, None]) @ triangles
    volume = 2.0 * (np.log(deviation) + np.log(np.diagonal(L, axis1=1, axis2=2))).sum(axis=1)
    counts, whole, null = np.broadcast_to(count, m).tolist(), np.isfinite(matrices).all(axis=(1, 2)), np.zeros((d, 0))
    parts = zip(sizes.tolist(), counts, noise.tolist(), whole.tolist(), volume.tolist(), strict=True)
    return [
        Whitened(matrices[k], mapped[k], moments.origin, one_volume, deviation[k], null, spread=size)
        if fine and size < _limits(moments, n, most)[0 if rows_at_hand else 1]
        else None
        for k, (size, n, most, fine, one_volume) in enumerate(parts)
    ]


def whiten_matrix(covariance: Array, moments: ClassMoments, *, tol: float | None = None) -> Whitened:
    """Whiten a given covariance (in the moments' units): a shrunken, pooled or robust one."""
    columns = _Columns(moments, covariance)
    return columns.finish(*columns.split(*_first(columns.correlation), None), 1, tol)


def _first(R: Array, limit: float = WELL_CONDITIONED) -> tuple[Array, Array | None]:
    """(W, Wᵗ R W, or None for I): by Cholesky where R is well-conditioned, by eigenvectors where it is not."""
    if not len(R):
        return np.zeros((0, 0)), None
    with contextlib.suppress(np.linalg.LinAlgError):
        W = _inverse_transpose(np.linalg.cholesky(R))
        if _spread(R, W) < limit:
            return W, None
    values, vectors = np.linalg.eigh(R)
    floored = np.maximum(values, 8 * EPS * len(R) * values[-1])
    return vectors / np.sqrt(floored), np.diag(np.maximum(values, 0.0) / floored)


def _spread(R: Array, W: Array) -> float:
    """About κ(R), from above, for W = L⁻ᵗ of R = L Lᵗ."""
    return float(np.linalg.norm(R) * np.linalg.norm(W) ** 2) / max(len(R), 1)


def _inverse_transpose(L: Array) -> Array:
    """L⁻ᵗ of a lower triangle; by LAPACK's triangular inverse, a sixth of a general one's work, where that is seen."""
    if len(L) <= REREAD_COLUMNS:
        return np.linalg.inv(L).T
    from scipy.linalg.lapack import dtrtri

    return np.asarray(dtrtri(L.T)[0])


def column_noise(moments: ClassMoments, deviation: Array) -> tuple[Array, Array]:
    """(live columns, the rounding noise in each of them, standardised): a column within its rounding is constant."""
    offset = np.abs(moments.origin / moments.unit + moments.means).max(axis=0, initial=0.0)
    live = np.flatnonzero(deviation > moments.precision * offset)
    return live, 8 * (EPS * np.sqrt(max(len(live), 1)) + moments.precision * offset[live] / deviation[live])


class _Columns:
    """The live columns of a covariance: their scales, their correlation and the rounding noise in each."""

    def __init__(self, moments: ClassMoments, covariance: Array) -> None:
        self.moments = moments
        deviation = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
        self.live, self.noise = column_noise(moments, deviation)
        self.scale = deviation[self.live]
        alive = covariance if len(self.live) == len(deviation) else covariance[np.ix_(self.live, self.live)]
        self.correlation = alive / self.scale / self.scale[:, None]

    def spread(self, W: Array) -> Array:
        """W over all columns, in the moments' units: rows of zeros for the columns that are not live."""
        return self._over_all(W / self.scale[:, None])

    def _over_all(self, values: Array) -> Array:
        """Values of the live columns, and zeros for the others."""
        if len(self.live) == self.moments.n_features:
            return values
        full = np.zeros((self.moments.n_features, *values.shape[1:]))
        full[self.live] = values
        return full

    def split_uncertain(self, W: Array, limit: float, again: Again) -> tuple[Array, Array, Array, float] | None:
        """The same as ``split``, where a few axes of many are uncertain: only these are read off the rows again.

        None where they are not few, or where what rounding left of their products with the others, ε/√(λ_i λ_j), would
        be seen: eigenvalues are 1/‖w‖².
        """
        sizes = np.einsum("ij,ij->j", W, W)
        uncertain = sizes * len(W) > limit
        if len(W) <= REREAD_COLUMNS or uncertain.sum() * 4 > len(W):
            return None
        clear = W[:, ~uncertain]
        found, means, null, condition = self.split(W[:, uncertain], *again(self.spread(W[:, uncertain])))
        largest = float(np.einsum("ij,ij->j", found, found).max(initial=0.0))
        if EPS * np.sqrt(largest * sizes[~uncertain].max()) > SEEN or condition > NEAR_UNIT:
            return None
        standard = self.moments.means[:, self.live] / self.scale
        return np.hstack([clear, found]), np.hstack([standard @ clear, means]), null, condition

    def split(self, W: Array, T: Array | None, means: Array | None) -> tuple[Array, Array, Array, float]:
        """Unit variance along the axes that are real, the others out: (W, means, what was dropped, κ of T).

        ``means`` are those that were read off the rows in the coordinates W; without them T comes from the Gram matrix
        alone, which cannot distinguish singular values below √ε from rounding.
        """
        standard = self.moments.means[:, self.live] / self.scale
        if T is None:
            return W, standard @ W, np.zeros((len(W), 0)), 1.0
        values, vectors = np.linalg.eigh(T)
        axes = W @ vectors
        length = np.linalg.norm(axes, axis=0)
        noise = np.linalg.norm(axes * self.noise[:, None], axis=0)
        if means is None:
            noise = np.maximum(noise, length * np.sqrt(8 * EPS * len(W)))
        noise = np.maximum(noise, np.sqrt(8 * EPS * len(W) * max(values[-1], 0.0)))  # of the eigenvalues themselves
        real = np.sqrt(np.maximum(values, 0.0)) > noise  # both times the length: a singular value against rounding
        values, null = values[real], np.linalg.qr(axes[:, ~real])[0]
        turn = vectors[:, real] / np.sqrt(values)
        # Moore–Penrose: what is kept is made orthogonal to what is dropped.
        spill = null.T @ (W @ turn)
        mapped = standard @ (W @ turn) if means is None else means @ turn
        condition = float(values[-1] / values[0]) if len(values) else 1.0
        return W @ turn - null @ spill, mapped - (standard @ null) @ spill, null, condition

    def finish(self, W: Array, means: Array, null: Array, condition: float, passes: int, tol: float | None) -> Whitened:
        """Cut by the user's ``tol``, if there is one, and go back to the units of X."""
        moments = self.moments
        if tol is not None and W.shape[1]:
            left, stretch, right = np.linalg.svd(W, full_matrices=False)  # 1/stretch: singular values of the data
            keep = stretch * tol < 1.0
            null = np.hstack([null, left[:, ~keep]])
            W, means = left[:, keep] * stretch[keep], means @ right[keep].T
        if W.shape[0] == W.shape[1]:
            triangular = len(W) > REREAD_COLUMNS and not np.tril(W, -1).any()  # L⁻ᵗ
            log_volume = float(np.log(np.diagonal(W)).sum() if triangular else np.linalg.slogdet(W)[1])
        else:
            log_volume = float(np.log(np.linalg.svd(W, compute_uv=False)).sum())
        scale = self.scale * moments.unit[self.live]
        log_determinant = 2.0 * (float(np.log(scale).sum()) - log_volume)
        deviation, dropped = self._over_all(scale), self._over_all(null)
        with np.errstate(over="ignore"):
            matrix = self.spread(W) / moments.unit[:, None]
        if not np.isfinite(matrix).all():
            overflowing = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
            raise DataError(
                f"Column {overflowing[0]} varies by {deviation[overflowing[0]]:.3g} only, so that its weight would be "
                "larger than any number the machine has. Measure it in another unit (multiply it by 1e200, say)."
            )
        return Whitened(matrix, means, moments.origin, log_determinant, deviation, dropped, passes)
