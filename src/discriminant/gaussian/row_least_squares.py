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
from discriminant.gaussian.whiten import EPS, Whitened
from discriminant.protocols import Array

CORRECTIONS = 6
SLOW = 1e-2  # of the residual is left by a correction that float32 is good enough for
SMALLEST, LARGEST = 1e-20, 1e20  # between which single precision neither underflows nor overflows
LOST = 1e-11  # what rounding may leave of the scores, by a bound
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

    about: ClassMoments  # of all rows that take part as one class: their mean, and the rows less it
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
        return np.bincount(self._rows.codes, self._weight, minlength=self.n_classes) / self.total

    @property
    def energy(self) -> Array:
        return self.shares

    @property
    def _rows(self) -> Residuals:
        assert self.about.rows is not None
        return self.about.rows

    @property
    def _weight(self) -> Array:
        weight = self._rows.weight
        return np.ones(len(self._rows.codes)) if weight is None else weight

    # The dual system

    @cached_property
    def _scaled(self) -> tuple[Array, Array]:
        """(√w, X_s)."""
        root = np.sqrt(self._weight)
        return root, self._rows.values if self._rows.weight is None else self._rows.values * root[:, None]

    def _solved(self, targets: Array) -> tuple[Array, Array, Array] | None:
        """(slopes (d, q), S − X_s w, αu); None where corrections do not converge."""
        if not self.penalised:
            return None
        root, X = self._scaled
        S = root[:, None] * (targets[self._rows.codes] - self.shares @ targets)
        return self._corrected(X, root, S, single=True) or self._corrected(X, root, S, single=False)

    def _corrected(self, X: Array, root: Array, S: Array, single: bool) -> tuple[Array, Array, Array] | None:
        """The same by a factor in single or double precision, whose solutions residuals off the rows correct."""
        from scipy.linalg import LinAlgError, cho_factor, cho_solve

        number: Any = np.float32 if single else np.float64
        trace = float(np.vdot(X, X))
        if single and not SMALLEST < float(np.finfo(number).eps) * trace / np.sqrt(len(X)) < self.alpha < LARGEST:
            return None
        rows = X.astype(number, copy=False)
        G: Array = rows @ rows.T
        scale = float(np.linalg.norm(G))
        # √w is orthogonal to the rows' span and to S: a variance lent to it keeps the condition to that of the rest.
        G += np.outer(root, root * (trace / len(G) / self.total)).astype(number, copy=False)
        G[np.diag_indices_from(G)] += number(self.alpha)
        try:
            factor = cho_factor(G, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            return None
        U, left = np.zeros_like(S), S
        for step in range(1, CORRECTIONS + 1):
            size = float(np.linalg.norm(left)) or 1.0
            change = size * cho_solve(factor, (left / size).astype(number, copy=False), check_finite=False).astype(
                float
            )
            change -= np.outer(root, root @ change / self.total)  # what rounding adds of that direction
            U += change
            slopes = X.T @ U
            residual = S - X @ slopes
            left = residual - self.alpha * U
            if EPS * scale * np.linalg.norm(U) > LOST * np.linalg.norm(S):
                return None  # rounding of u alone would be seen in the scores
            if np.linalg.norm(change) <= 1e-13 * np.linalg.norm(U):
                return slopes, residual, self.alpha * U
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
        root, X = self._scaled
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
        codes = np.searchsorted(self.sub, self._rows.codes)
        blocks = make_blocks(Z / root[:, None] + shift, codes, self._rows.weight)
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
    values = (held.values if everything else held.values[part]) + (moments.means - mean)[codes]
    own = None if held.weight is None else held.weight[part]
    within = moments.scatter[sub].sum(axis=0) if moments.by_class else moments.scatter
    squares = within + weight @ np.square(moments.means[sub] - mean)
    about = replace(
        moments, weight=weight.sum(keepdims=True), count=moments.count[sub].sum(keepdims=True), means=mean[None],
        scatter=squares, rows=Residuals(values, codes, own),
    )  # fmt: skip
    return RowLeastSquares(about, sub, moments.n_classes, alpha)
