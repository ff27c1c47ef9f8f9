"""Least squares of fewer rows than columns, through the n × n matrix of the rows' inner products.

With X_s = √w (x − m) and S = √w (t − t̄) over the rows, and α > 0,

    w = X_sᵗ u,      (X_s X_sᵗ + αI) u = S,      J − min J ≤ ‖S − X_s w − αu‖² / 2N.

Inner products square the condition of the rows; corrections by the residual, which is taken off the rows, bring the
digits back, those of single precision too, in which the system takes half the time where α is not too small for it.
Where they do not, and without a penalty, the rows are turned into coordinates of the space they span, by
a QR decomposition: n rows with as many columns at most, for which ``least_squares`` is exact, its deletions too.
Without a penalty the shortest weights have a part along the mean's component m_⊥ beyond the rows, which is one
coordinate more, the same for all rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from discriminant.data import make_blocks
from discriminant.gaussian.covariance import LowRank
from discriminant.gaussian.least_squares import LeastSquares, least_squares
from discriminant.gaussian.moments import ClassMoments, Residuals, class_moments
from discriminant.gaussian.row_space import orthogonal_coordinates
from discriminant.gaussian.sums import class_sums
from discriminant.gaussian.whiten import EPS, Whitened
from discriminant.protocols import Array

CORRECTIONS = 6
SLOW = 1e-2  # of the residual is left by a correction that float32 is good enough for
STRIP_VALUES, LEAST_STRIP = 2**18, 64  # of columns that stay in the cache
ROUNDING = 1e-11  # what rounding may leave of the scores, by a bound
NO_PART = 1e-10  # of the mean beyond the rows, as a share of the mean: rounding


class Coordinates(NamedTuple):
    """The problem in coordinates (x − m) B + shift of the row space."""

    basis: Array  # B (d, r)
    shift: Array  # (r,)
    problem: LeastSquares

    def of(self, centred: Array) -> Array:
        return np.asarray(centred @ self.basis + self.shift)


@dataclass(frozen=True, eq=False)
class RowLeastSquares:
    """The solution for any targets T (K, q) of the classes that take part; the same as ``LeastSquares``."""

    about: ClassMoments  # of all rows that take part as one class
    rows: Residuals  # the same rows, less the means of their classes
    shift: Array  # (K, d) the class means, less the mean of all
    sub: Array  # the classes that take part, of K
    n_classes: int
    alpha: float

    @property
    def penalised(self) -> bool:
        return self.alpha > 0

    @property
    def total(self) -> float:
        return self.about.total

    @property
    def rank(self) -> int:
        return self.about.n_features if self.penalised else self.small.problem.rank

    @property
    def passes(self) -> float:
        return 1.0

    @property
    def condition(self) -> float:
        return float("nan")

    @property
    def null(self) -> bool:
        return not self.penalised

    @property
    def shares(self) -> Array:
        """(K,): the weight of each class, as a share."""
        return np.bincount(self.rows.codes, self.rows.weight, minlength=self.n_classes) / self.total

    @property
    def energy(self) -> Array:
        return self.shares

    @cached_property
    def _root(self) -> Array:
        """√w (n, 1)."""
        weight = self.rows.weight
        return np.ones((len(self.rows.codes), 1)) if weight is None else np.sqrt(weight)[:, None]

    # The dual system.  X_s is never formed: fresh memory for as many values costs as much as all products with them.

    def _inner_products(self, unit: float, number: Any) -> Array:
        """X_s X_sᵗ in this unit: the lower half, summed over strips of columns that stay in the cache."""
        from scipy.linalg import get_blas_funcs

        values, codes, scale = self.rows.values, self.rows.codes, 1 / np.sqrt(unit)
        n, d = values.shape
        width = max(LEAST_STRIP, STRIP_VALUES // n)
        shift, root = (self.shift * scale).astype(number), self._root.astype(number)
        syrk = get_blas_funcs("syrk", dtype=number)
        # √w is orthogonal to the rows' span and to S: a variance lent to it keeps the condition to that of the rest.
        G: Array = syrk(1 / (n * self.total), root, lower=1)
        for start in range(0, d, width):
            part = slice(start, min(start + width, d))
            strip = shift[:, part][codes]
            strip += values[:, part] * scale
            if self.rows.weight is not None:
                strip *= root
            G = syrk(1.0, strip.T, trans=1, beta=1.0, c=G, overwrite_c=1, lower=1)
        return G

    def _scores(self, slopes: Array) -> Array:
        """X_s w (n, q) of slopes (d, q)."""
        # Products of a few outputs take two thirds of the time with their rows in front.
        own = (slopes.T @ self.rows.values.T).T
        return np.asarray(self._root * (own + (self.shift @ slopes)[self.rows.codes]))

    def _slopes(self, U: Array) -> Array:
        """X_sᵗ u (d, q)."""
        U = self._root * U
        sums = class_sums(U, self.rows.codes, self.n_classes, None)
        return np.asarray((U.T @ self.rows.values + sums.T @ self.shift).T)

    def _solved(self, targets: Array) -> tuple[Array, Array, Array] | None:
        """(slopes (d, q), S − X_s w, αu); None where corrections do not converge."""
        if not self.penalised:
            return None
        S = self._root * (targets[self.rows.codes] - self.shares @ targets)
        return self._corrected(S, single=True) or self._corrected(S, single=False)

    def _corrected(self, S: Array, single: bool) -> tuple[Array, Array, Array] | None:
        """The same by a factor in single or double precision, whose solutions residuals off the rows correct."""
        from scipy.linalg import LinAlgError, cho_factor, cho_solve

        number: Any = np.float32 if single else np.float64
        unit = float(self.about.squares().sum()) + self.alpha  # in which nothing overflows
        if single and self.alpha * np.sqrt(len(S)) <= np.finfo(number).eps * unit:
            return None
        root, G = self._root, self._inner_products(unit, number)
        scale = unit * float(np.sqrt(2) * np.linalg.norm(G))  # of both halves
        G[np.diag_indices_from(G)] += number(self.alpha / unit)
        try:
            factor = cho_factor(G, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            return None
        U, left, last = np.zeros_like(S), S, 0.0
        for step in range(1, CORRECTIONS + 1):
            size = float(np.linalg.norm(left)) or 1.0
            change = cho_solve(factor, (left / size).astype(number, copy=False), check_finite=False).astype(float)
            change *= size / unit
            change -= root * (root.T @ change / self.total)  # what rounding adds of that direction
            U += change
            slopes = self._slopes(U)
            residual = S - self._scores(slopes)
            left = residual - self.alpha * U
            if EPS * scale * np.linalg.norm(U) > ROUNDING * np.linalg.norm(S):
                return None  # rounding of u alone would be seen in the scores
            moved, length = float(np.linalg.norm(change)), float(np.linalg.norm(U))
            if moved <= 1e-13 * length or moved**2 <= 1e-14 * length * last:  # the next is smaller by the same factor
                return slopes, residual, self.alpha * U
            last = moved
            if single and not np.linalg.norm(left) <= SLOW**step * np.linalg.norm(S) and step < 3:
                return None
        return None

    def weights(self, targets: Array) -> Array:
        """A (1 + d, q), intercepts at the moments' origin in row 0."""
        found = self._solved(targets)
        if found is not None:
            return np.vstack([self.shares @ targets - self.about.means[0] @ found[0], found[0]])
        small, problem = self.small, self.small.problem
        A = problem.weights(targets[self.sub])
        place = small.of(-self.about.means) - problem.whitened.origin  # of the origin
        return np.vstack([A[:1] + place @ A[1:], small.basis @ A[1:]])

    def optimality(self, targets: Array) -> tuple[float, float]:
        """(J, a bound of ‖∇J‖ in whitened coordinates), as of ``LeastSquares``."""
        found = self._solved(targets)
        if found is None:
            return self.small.problem.optimality(targets[self.sub])
        slopes, residual, dual = found
        J = float((residual**2).sum() + self.alpha * (slopes**2).sum()) / (2 * self.total)
        return J, float(np.linalg.norm(residual - dual)) / float(np.sqrt(self.total))

    # The row space

    @cached_property
    def small(self) -> Coordinates:
        root, X = self._root, self._root * (self.rows.values + self.shift[self.rows.codes])
        if self.penalised:
            basis, Z = orthogonal_coordinates(X)
            shift = np.zeros(basis.shape[1])
        else:
            # The rank is judged on columns in units of their own: U spans what is not rounding.
            covariance = LowRank(np.zeros(X.shape[1]), X, np.full(len(X), 1 / self.total))
            axes = covariance.axes(self.about)
            U = (X * (axes.inverse / np.sqrt(self.total))) @ (axes.basis @ axes.turn)
            basis, Z = orthogonal_coordinates(U.T @ X)
            Z = U @ Z
            shift, mean = np.zeros(basis.shape[1]), self.about.class_means[0]
            beyond = mean - basis @ (basis.T @ mean)
            beyond -= basis @ (basis.T @ beyond)
            length = float(np.linalg.norm(beyond))
            if length > NO_PART * np.linalg.norm(mean):
                basis, shift = np.column_stack([basis, beyond / length]), np.append(shift, length)
                Z = np.column_stack([Z, np.zeros(len(Z))])
        codes = np.searchsorted(self.sub, self.rows.codes)
        blocks = make_blocks(Z / root + shift, codes, self.rows.weight)
        moments = class_moments(blocks, len(self.sub))
        problem = least_squares(moments, alpha=self.alpha, blocks=blocks)
        # Weights are shortest with their intercept at x = 0, which lies at −m B from where coordinates begin.
        zero = problem.null.origin + self.about.class_means[0] @ basis - shift
        return Coordinates(basis, shift, replace(problem, null=replace(problem.null, origin=zero)))

    @property
    def whitened(self) -> Whitened:
        """The whitening of the row space, in the columns of X."""
        small, white = self.small, self.small.problem.whitened
        deviation = np.sqrt(self.about.squares() / self.total)
        matrix, none = small.basis @ white.matrix, np.zeros((len(deviation), 0))
        origin, means = self.about.origin, self.centre[None]
        return replace(white, matrix=matrix, origin=origin, deviation=deviation, null=none, means=means)

    @property
    def centre(self) -> Array:
        """(r,) the mean in whitened coordinates, from the origin."""
        small, problem = self.small, self.small.problem
        start = problem.whitened.origin - small.of(-self.about.means[0])
        return np.asarray(problem.centre + start @ problem.whitened.matrix)

    def _centred(self, values: Array) -> Array:
        small = self.small
        return small.problem._centred(small.of((values - self.about.origin) - self.about.means[0]))

    def leverages(self, values: Array) -> Array:
        """h (n,) of rows, as of ``LeastSquares``; of the training rows, or others in their space."""
        small = self.small
        return small.problem.leverages(small.of((values - self.about.origin) - self.about.means[0]))

    def deleted(self, values: Array, codes: Array, weight: Array, margin: Array) -> Array:
        """(n, K): each row's outputs, for targets of one, of the solution without it."""
        small = self.small
        own = np.searchsorted(self.sub, codes).clip(max=len(self.sub) - 1)
        seen = small.of((values - self.about.origin) - self.about.means[0])
        out = np.zeros((len(values), self.n_classes))
        out[:, self.sub] = small.problem.deleted(seen, own, weight, margin)
        return out


def row_least_squares(moments: ClassMoments, alpha: float, members: Array) -> RowLeastSquares:
    """Solve for all targets of the classes ``members`` (K,) of bool, from moments that hold their rows."""
    held = moments.rows
    assert held is not None
    sub = np.flatnonzero(members)
    part = np.flatnonzero(members[held.codes] & (held.weight is None or held.weight > 0))
    weight = moments.weight[sub]
    mean = weight @ moments.means[sub] / weight.sum()
    everything = len(part) == len(held.codes)
    codes = held.codes if everything else held.codes[part]
    values = held.values if everything else held.values[part]
    own = None if held.weight is None else held.weight[part]
    within = moments.scatter[sub].sum(axis=0) if moments.by_class else moments.scatter
    squares = within + weight @ np.square(moments.means[sub] - mean)
    about = replace(
        moments, weight=weight.sum(keepdims=True), count=moments.count[sub].sum(keepdims=True), means=mean[None],
        scatter=squares, rows=None,
    )  # fmt: skip
    return RowLeastSquares(about, Residuals(values, codes, own), moments.means - mean, sub, moments.n_classes, alpha)
