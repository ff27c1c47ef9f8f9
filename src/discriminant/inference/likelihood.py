"""The likelihood of a logistic or softmax model: its score and information, its maximum, and each row's part of it.

Parameters are relative to the first class: θ (1 + d, K − 1) holds a column of weights for each of the other classes,
intercepts in row 0.

    ℓ(θ) = Σ w [z_t − ln(1 + Σ_k e^{z_k})],    score = Yᵗ w (t − p),    information = Yᵗ w (diag p − p pᵗ) Y

Sums over rows are those of ``objective``, in columns with a centre and units, so that offsets and units cost no digits:
θ is that of (x − c)/u, and ``to_raw`` gives the matrix M with raw = M θ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np

from discriminant.data import ArrayBlocks, make_blocks
from discriminant.data.evaluate import Evaluate, Groups
from discriminant.data.scaling import Scaling, choose_scaling
from discriminant.errors import DataError
from discriminant.objective import PointwiseObjective, logistic_objective
from discriminant.optimize.automatic import written_out
from discriminant.optimize.factor import make_factor
from discriminant.optimize.newton import Newton
from discriminant.protocols import Array, Block, Evaluation, Need, Oracle

MOST_PARAMETERS = 6_000
FULL = Need.VALUE | Need.GRADIENT | Need.HESSIAN
# −ℓ is a sum: a promised fall of 1e-24 of it leaves θ some 1e-12 √n standard errors from the maximum.
NEWTON = Newton(tolerance=1e-24)


class RowParts(NamedTuple):
    """What single rows bring: Y (n, 1+d), z, p and t − p of the other classes (n, K−1), ln p of the own class, w."""

    Y: Array
    z: Array
    p: Array
    residual: Array
    log_p: Array
    weight: Array


@dataclass(frozen=True)
class RowKernel:
    """A block's rows at θ."""

    request: Evaluate
    unit: Array  # (1+d,)
    intercept: bool

    def __call__(self, block: Block) -> RowParts:
        design, t, _, z, _ = self.request.parts(block)
        criterion: Any = self.request.criterion
        Y = np.full(design.shape, float(self.intercept))
        np.divide(design.dense(), self.unit[1:], out=Y[:, 1:])
        value, slope = criterion.value_and_gradient(t, z)
        first = int(criterion.coupled)
        weight = np.ones(len(Y)) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
        p, contrasts = criterion.probability(z)[:, first:], z[:, 1:] - z[:, :1] if first else z
        return RowParts(Y, contrasts, p, -slope[:, first:], -value[:, 0], weight)


@dataclass(frozen=True)
class Asked:
    """What else is asked of the rows in an evaluation: Need.OUTER with a factor of each row, Need.GROUPS."""

    need: Need
    factor: Array | None = None
    groups: Groups | None = None


NOTHING = Asked(Need.VALUE)


@dataclass(frozen=True)
class Likelihood:
    """−ℓ(θ), as an objective that ``optimize`` minimises."""

    objective: PointwiseObjective  # the mean loss, without a penalty

    oracles: ClassVar[Oracle] = Oracle.VALUE | Oracle.GRADIENT | Oracle.CURVATURE

    @property
    def blocks(self) -> ArrayBlocks:
        return cast(ArrayBlocks, self.objective.blocks)

    @property
    def n_classes(self) -> int:
        return max(self.objective.n_outputs, 2)

    @property
    def n_parameters(self) -> int:
        return (self.n_classes - 1) * (self.objective.n_features + self.objective.intercept)

    @property
    def scaling(self) -> Scaling:
        return self.objective.scaling or Scaling(None, np.ones(self.objective.n_features))

    def weights(self, theta: Array) -> Array:
        """(1+d, q) of the objective: for more than two classes the first has weights of zero."""
        return theta if self.n_classes == 2 else np.hstack([np.zeros((len(theta), 1)), theta])

    def evaluate(self, theta: Array, need: Need = FULL, asked: Asked = NOTHING) -> Evaluation:
        """−ℓ, minus the score (1+d, K−1) and the information ((K−1)(1+d))², classes outermost.

        Outer products of the scores of rows are ordered as the information, and sums by groups lie in rows so.
        """
        objective, A = self.objective, self.weights(theta)
        request = replace(objective.request(A, need | asked.need), factor=asked.factor, groups=asked.groups)
        found, total = objective.finish(objective.blocks.reduce(request), A), objective.total
        first = len(theta) if self.n_classes > 2 else 0
        H, outer = (
            None if matrix is None else np.asarray((matrix if matrix.ndim == 2 else matrix[0])[first:, first:] * total)
            for matrix in (found.hessian, found.outer)
        )
        groups = None
        if found.groups is not None:
            groups = found.groups.total()
            groups *= objective.total / objective.units[:, 0]
            groups = groups.reshape(len(groups), -1)[:, first:]
        gradient = found.gradient[:, int(first > 0) :] * total
        return Evaluation(found.value * total, gradient, H, outer=outer, groups=groups, margin=-np.inf)

    def along(self, theta: Array, direction: Array, steps: Array) -> Array:
        """−ℓ(θ + s·direction) for each s, in one pass."""
        first = np.zeros((len(theta), self.objective.n_outputs - theta.shape[1]))
        values = self.objective.along(self.weights(theta), np.hstack([first, direction]), steps)
        return np.asarray(values * self.objective.total)

    def rows(self, theta: Array) -> RowKernel:
        """What hands out the parts of a block's rows at θ."""
        objective = self.objective
        request = objective.request(self.weights(theta), Need.VALUE)
        return RowKernel(request, objective.units[:, 0], objective.intercept)

    def from_weights(self, A: Array, center: Array | None = None) -> Array:
        """θ from weights (1 + d, K) or, two classes, (1 + d, 1) of x − ``center``."""
        return scaled_contrasts(A, center, self.scaling)

    def uncentred(self) -> Likelihood:
        """The same with the origin of the columns at zero, so that a raw intercept is a parameter of its own."""
        return replace(self, objective=self.objective.scaled(Scaling(None, self.scaling.unit)))

    def optimum(self, theta: Array, kept: Optimum | None = None, asked: Asked = NOTHING) -> Optimum:
        """What a table needs of the rows at θ; ``kept``: all but the score, by which these rows are recognised."""
        known = kept is not None and np.array_equal(kept.theta, theta)
        found = self.evaluate(theta, Need.VALUE | Need.GRADIENT if known else FULL, asked)
        if kept is not None and known:
            return replace(kept, score=-found.gradient, outer=found.outer, groups=found.groups)
        assert found.hessian is not None
        total, null = self.objective.total, null_likelihood(self.objective)
        sums = -found.value, -found.gradient, found.hessian
        return Optimum(theta, self.scaling, *sums, total, null, found.outer, found.groups, self.objective.intercept)


@dataclass(frozen=True)
class Optimum:
    """What a table of a fit needs of its rows: sums over them at the weights of the fit, and no row."""

    theta: Array  # (1+d, K−1)
    scaling: Scaling
    value: float  # ℓ, without a prior
    score: Array  # (1+d, K−1), with the prior
    information: Array
    total: float  # Σ w
    null: float  # ℓ of the intercepts alone
    outer: Array | None = None  # Σ w u s sᵗ over the scores of rows, without a prior, ordered as the information
    groups: Array | None = None  # (groups, (K−1)(1+d)): the scores of rows, without a prior, summed
    intercept: bool = True  # else those of θ are zero, with a score of zero and an information of their own

    @property
    def n_classes(self) -> int:
        return int(self.theta.shape[1]) + 1

    @property
    def n_parameters(self) -> int:
        return (self.n_classes - 1) * (len(self.scaling.unit) + self.intercept)

    @property
    def raw(self) -> Array:
        """((K−1)(1+d),): the weights of the columns of X, classes outermost."""
        return raw_weights(self.scaling, self.theta)


def scaled_contrasts(A: Array, center: Array | None, scaling: Scaling) -> Array:
    """θ in the units of ``scaling`` from weights (1 + d, K) or, two classes, (1 + d, 1) of x − ``center``."""
    theta = np.array(A if A.shape[1] == 1 else A[:, 1:] - A[:, :1], dtype=np.longdouble)
    mine, theirs = (np.zeros(len(A) - 1) if c is None else c for c in (scaling.center, center))
    theta[0] += (mine.astype(np.longdouble) - theirs) @ theta[1:]
    theta[1:] *= scaling.unit[:, None]
    return theta.astype(np.float64)


def to_raw(scaling: Scaling) -> Array:
    """M (1+d, 1+d) with raw = M θ, class by class."""
    M = np.diag(np.concatenate([[1.0], 1.0 / scaling.unit]))
    if scaling.center is not None:
        M[0, 1:] = -scaling.center / scaling.unit
    return M


def raw_weights(scaling: Scaling, theta: Array) -> Array:
    """((K−1)(1+d),): θ over the columns of X, classes outermost."""
    return np.asarray((to_raw(scaling) @ theta).T.ravel())


def likelihood(
    blocks: ArrayBlocks,
    n_classes: int,
    offset: Array | None = None,
    scaling: Scaling | None = None,
    intercept: bool = True,
) -> Likelihood:
    """The likelihood of rows with class codes or probabilities; ``offset``: known parts of their scores."""
    objective = written_out(logistic_objective(blocks, n_classes, 0.0, intercept, offset))
    parameters = (n_classes - 1) * objective.n_parameters
    if parameters > MOST_PARAMETERS:
        raise DataError(
            f"The information matrix of {parameters} parameters is too large to invert; "
            f"standard errors are given for up to {MOST_PARAMETERS}."
        )
    if scaling is None or objective.blocks.is_sparse:  # which has no centre
        scaling = choose_scaling(objective.blocks, intercept)
    return Likelihood(objective.scaled(scaling))


def null_likelihood(objective: PointwiseObjective) -> float:
    """The log-likelihood without columns: of class frequencies, where there are neither offsets nor soft labels.

    Without an intercept the scores are the offsets, or zero.
    """
    if objective.intercept and objective.offset is None and objective.coding is not None:
        counts = objective.blocks.counts(objective.coding.n_classes)
        shares = counts[counts > 0]
        return float((shares * np.log(shares / counts.sum())).sum())
    blocks = objective.blocks
    empty = make_blocks(np.zeros((blocks.n_rows, 1)), blocks.target, blocks.weight)
    model = Likelihood(replace(objective, blocks=empty, scaling=None))
    return -maximise(model, np.zeros((2, model.n_classes - 1)))[1].value


@dataclass(frozen=True)
class Free:
    """A likelihood as a function of some of its parameters; the others stay where they are."""

    model: Likelihood
    at: Array  # (1+d, K−1)
    free: Array  # (m,): places in θ, classes outermost

    oracles: ClassVar[Oracle] = Likelihood.oracles

    def theta(self, x: Array, at: Array | None = None) -> Array:
        """θ (1+d, K−1) with the free parameters x (m, 1)."""
        flat = (self.at if at is None else at).T.ravel().copy()
        flat[self.free] = x[:, 0]
        return np.asarray(flat.reshape(self.at.T.shape).T)

    def evaluate(self, x: Array, need: Need = FULL) -> Evaluation:
        found = self.model.evaluate(self.theta(x), need)
        H = None if found.hessian is None else found.hessian[np.ix_(self.free, self.free)]
        return Evaluation(found.value, found.gradient.T.ravel()[self.free][:, None], H, margin=-np.inf)

    def along(self, x: Array, direction: Array, steps: Array) -> Array:
        return self.model.along(self.theta(x), self.theta(direction, np.zeros_like(self.at)), steps)


def maximise(model: Likelihood, theta: Array, free: Array | None = None) -> tuple[Array, Evaluation]:
    """(θ, the evaluation there): Newton's method over the parameters ``free`` (places in θ, classes outermost)."""
    free = np.arange(theta.size) if free is None else free
    inside = Free(model, theta, free)
    if len(free):
        theta = inside.theta(NEWTON.minimize(inside, theta.T.ravel()[free][:, None]).weights)
    return theta, model.evaluate(theta)


def inverse(H: Array) -> Array:
    """H⁻¹, or its pseudo-inverse, through a unit diagonal."""
    found = make_factor(H).solve(np.eye(len(H)))
    dead = ~(np.diagonal(H) > 0)
    found[dead] = found[:, dead] = 0.0
    return found


def undetermined(optimum: Optimum) -> Array:
    """((K−1)(1+d),) of bool: the raw weights that can move without a change of the likelihood."""
    H = optimum.information
    factor, eye = make_factor(H), np.eye(len(H))
    free = [eye[:, ~(np.diagonal(H) > 0)]]
    if factor.null is not None:  # of unit length: what is rounding in it is nothing
        free.append(factor.scale[:, None] * np.where(np.abs(factor.null) > 1e-7, factor.null, 0.0))
    null = np.hstack(free)
    M = np.kron(np.eye(optimum.n_classes - 1), to_raw(optimum.scaling))
    moved, most = np.abs(M @ null), np.abs(M) @ np.abs(null)
    return np.asarray((moved > 1e-9 * most).any(axis=1))
