"""Least squares on sparse rows by conjugate gradients: neither a d × d nor an n × n matrix.

With X_s = √w (x − m) and S = √w (t − t̄) over the rows, of which m is only taken off products, so that they stay sparse,

    s = X_sᵗ(S − X_s w) − αw = −N∇J,      J − min J ≤ ‖s‖² / 2αN².

Where steps do not arrive, and for what else a closed form gives (leverages, deletions, errors), the sums of products
are formed after all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discriminant.gaussian.least_squares import LeastSquares, least_squares
from discriminant.gaussian.moments import ClassMoments, class_moments, row_moments
from discriminant.gaussian.row_least_squares import RowLeastSquares, row_least_squares
from discriminant.gaussian.row_space import is_wide
from discriminant.gaussian.whiten import Whitened
from discriminant.kernels.conjugate import conjugate_gradients
from discriminant.protocols import Array

LEFT = 1e-11  # of the right-hand side, in units of the columns' own
PROVED = 1e-14  # of J: scores then have seven digits where a small penalty leaves J small
RENEWED, AGAIN = 3, 1e-4  # times that steps go on from residuals off the rows, and what they leave of these


@dataclass(frozen=True, eq=False)
class SparseLeastSquares:
    """The solution for any targets T (K, q) of the classes that take part; the same as ``LeastSquares``."""

    moments: ClassMoments
    members: Array  # (K,) of bool
    alpha: float
    steps: int  # of conjugate gradients, at most

    @property
    def penalised(self) -> bool:
        return True

    @property
    def total(self) -> float:
        return float(self.moments.weight[self.members].sum())

    @property
    def shares(self) -> Array:
        return np.asarray(np.where(self.members, self.moments.weight, 0.0) / self.total)

    @property
    def energy(self) -> Array:
        return self.shares

    @property
    def rank(self) -> int:
        return self.moments.n_features

    @property
    def passes(self) -> float:
        return 1.0

    @property
    def condition(self) -> float:
        return float("nan")

    @cached_property
    def _rows(self) -> tuple[Any, Array, Array]:
        """(X, codes, √w) of the rows that take part."""
        assert self.moments.unsummed is not None
        held = self.moments.unsummed
        X, codes, weight = held.values, held.codes, held.weight
        if not self.members.all():
            part = np.flatnonzero(self.members[codes])
            X, codes, weight = X[part], codes[part], None if weight is None else weight[part]
        return X, codes, np.ones(len(codes)) if weight is None else np.sqrt(weight)

    @property
    def _within(self) -> Array:
        own = self.moments
        return np.asarray(own.scatter[self.members].sum(axis=0) if own.by_class else own.scatter)

    @cached_property
    def _solutions(self) -> dict[bytes, tuple[Array, float, float] | None]:
        return {}

    def _solved(self, targets: Array) -> tuple[Array, float, float] | None:
        """(A, J, a bound of ‖∇J‖ in whitened coordinates); None where steps did not arrive."""
        key = targets.tobytes()
        if key not in self._solutions:
            self._solutions[key] = self._penalised(targets)
        return self._solutions[key]

    def _penalised(self, targets: Array) -> tuple[Array, float, float] | None:
        X, codes, root = self._rows
        sub = np.flatnonzero(self.members)
        share, members = self.shares[sub], self.moments.means[sub]
        mean, level, N = share @ members, self.shares @ targets, self.total
        unit = 1.0 / np.sqrt(self._within + N * (share @ np.square(members - mean)) + self.alpha)
        XT = X.T

        def scores(w: Array) -> Array:
            return np.asarray(root * (X @ w - mean @ w))

        def adjoint(r: Array) -> Array:
            r = root * r
            return np.asarray(XT @ r - mean * r.sum())

        def product(p: Array) -> Array:
            return np.asarray(unit * adjoint(scores(unit * p)) + self.alpha * unit**2 * p)

        # Targets less their mean are combinations of those that are 1 for a class, without the first.
        if len(sub) > targets.shape[1]:
            basis, turn = targets[codes] - level, np.eye(targets.shape[1])
        else:
            basis, turn = (codes[:, None] == sub[1:]) - share[1:], targets[sub[1:]] - targets[sub[0]]
        solved = []
        for S in root * basis.T:
            w, left, slope = np.zeros(len(mean)), LEFT, adjoint(S)
            for _ in range(RENEWED):
                w = w + unit * conjugate_gradients(product, unit * slope, left, self.steps)
                r = S - scores(w)
                slope, left = adjoint(r) - self.alpha * w, AGAIN
                if slope @ slope <= PROVED * self.alpha * (r @ r + self.alpha * (w @ w)):
                    break
            else:
                return None
            solved.append((w, r, slope))
        W, residual, slopes = (np.column_stack(part) @ turn for part in zip(*solved, strict=True))
        J = float((residual**2).sum() + self.alpha * (W**2).sum()) / (2 * N)
        return np.vstack([level - mean @ W, W]), J, float(np.linalg.norm(slopes) / np.sqrt(self.alpha * N))

    @property
    def arrived(self) -> bool:
        """Whether steps have solved all that was asked."""
        return all(found is not None for found in self._solutions.values())

    def weights(self, targets: Array) -> Array:
        """A (1 + d, q), intercepts at the moments' origin, which is zero, in row 0."""
        found = self._solved(targets)
        return self.exact.weights(targets) if found is None else found[0]

    def optimality(self, targets: Array) -> tuple[float, float]:
        """(J, a bound of ‖∇J‖ in whitened coordinates), as of ``LeastSquares``."""
        found = self._solved(targets)
        return self.exact.optimality(targets) if found is None else found[1:]

    # In closed form

    @cached_property
    def exact(self) -> LeastSquares | RowLeastSquares:
        assert self.moments.unsummed is not None
        blocks, own = self.moments.unsummed.blocks, self.moments
        wide = is_wide(blocks.n_rows, blocks.n_features)
        whole = (row_moments if wide else class_moments)(blocks, own.n_classes, by_class=own.by_class)
        if whole.rows is not None:
            return row_least_squares(whole, self.alpha, self.members)
        return least_squares(whole, alpha=self.alpha, blocks=blocks, members=self.members)

    @property
    def null(self) -> Any:
        return not self.penalised

    @property
    def whitened(self) -> Whitened:
        return self.exact.whitened

    @property
    def centre(self) -> Array:
        return self.exact.centre

    def _centred(self, values: Array) -> Array:
        return self.exact._centred(values)

    def leverages(self, values: Array) -> Array:
        return self.exact.leverages(values)

    def deleted(self, values: Array, codes: Array, weight: Array, margin: Array) -> Array:
        return self.exact.deleted(values, codes, weight, margin)
