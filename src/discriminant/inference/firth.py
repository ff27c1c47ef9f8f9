"""Firth's bias-reduced logistic regression: the likelihood times Jeffreys' prior, finite on separated data.

    ℓ*(θ) = ℓ(θ) + ½ ln|I(θ)|
    ∂/∂θ_cj ½ ln|I| = ½ Σ_i w_i y_ij Σ_ab κ_abc Q_ab,      Q_ab = y_iᵗ (I⁻¹)_ab y_i

where κ_abc = δ_abc p_a − δ_ab p_a p_c − δ_bc p_b p_a − δ_ac p_c p_b + 2 p_a p_b p_c are the third cumulants of one draw
among the classes.  For two classes that is Firth's score Σ (t − p + h(½ − p)) y with the leverages h.
Firth (1993); Heinze and Schemper (2002); Kosmidis and Firth (2021).

The prior pulls probabilities towards ½, so that those of a rare class are too large on average.  Two corrections (Puhr,
Heinze, Nold, Lusa and Geroldinger 2017):

FLIC    the intercepts are fitted again by maximum likelihood, with Firth's weights held
FLAC    Firth's fit is that of the rows with weight 1 and again with both labels and weight h/2 each; a column that
        marks these pseudo-rows is added, and the maximum of this likelihood taken
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discriminant.data import ArrayBlocks, make_blocks
from discriminant.errors import DataError, ParameterError
from discriminant.inference.diagnostics import diagnose
from discriminant.inference.likelihood import (
    FULL,
    NOTHING,
    Asked,
    Likelihood,
    Optimum,
    RowKernel,
    inverse,
    likelihood,
    maximise,
    to_raw,
)
from discriminant.optimize.factor import make_factor, unit_diagonal
from discriminant.protocols import Array, Block, Evaluation, Need


@dataclass(frozen=True)
class PriorSlope:
    """One block's part of the gradient of ½ ln|I|, (1+d, K−1), given I⁻¹."""

    rows: RowKernel
    inverse: Array

    def __call__(self, block: Block) -> Array:
        Y, _, p, _, _, w = self.rows(block)
        m, D = p.shape[1], Y.shape[1]
        Q = np.einsum("ij,ajbk,ik->iab", Y, self.inverse.reshape(m, D, m, D), Y, optimize=True)
        own = np.einsum("iaa->ia", Q)
        across = np.einsum("iab,ib->ia", Q, p)  # Σ_b Q_ab p_b
        whole = np.einsum("ia,ia->i", across, p)
        spread = np.einsum("ia,ia->i", own, p)
        # Σ_ab κ_abc Q_ab, gathered by c.
        pull = p * (own - spread[:, None] - 2 * across + 2 * whole[:, None])
        return np.asarray(0.5 * Y.T @ (pull * w[:, None]))


@dataclass(frozen=True)
class JeffreysLikelihood(Likelihood):
    """−ℓ − ½ ln|I|: everything that is done with a likelihood can be done with it.

    Its Hessian is I, that of −ℓ alone: Fisher scoring.
    """

    def evaluate(self, theta: Array, need: Need = FULL, asked: Asked = NOTHING) -> Evaluation:
        found = super().evaluate(theta, FULL, asked)
        assert found.hessian is not None
        scaled, scale = unit_diagonal(found.hessian)
        sign, log_volume = np.linalg.slogdet(scaled)
        found.value -= 0.5 * float(log_volume) - float(np.log(scale).sum()) if sign > 0 else -np.inf
        if need & Need.GRADIENT:
            prior = PriorSlope(self.rows(theta), inverse(found.hessian))
            found.gradient = found.gradient - self.blocks.reduce(prior)
        return found

    def along(self, theta: Array, direction: Array, steps: Array) -> Array:
        return np.array([self.evaluate(theta + step * direction, Need.VALUE).value for step in steps])

    def optimum(self, theta: Array, kept: Optimum | None = None, asked: Asked = NOTHING) -> Optimum:
        """Its value is that of ℓ alone."""
        plain = Likelihood(self.objective).evaluate(theta, Need.VALUE)
        return replace(super().optimum(theta, kept, asked), value=-plain.value)


def firth(blocks: ArrayBlocks, n_classes: int) -> tuple[JeffreysLikelihood, Array, Evaluation]:
    """(the penalised likelihood, its maximum θ, the evaluation there) of rows with class codes."""
    model = JeffreysLikelihood(likelihood(blocks, n_classes).objective)
    start = np.zeros((model.objective.n_parameters, n_classes - 1))
    information = Likelihood(model.objective).evaluate(start).hessian
    assert information is not None
    alive = np.diagonal(information) > 0  # a constant column has no weight
    if make_factor(information[np.ix_(alive, alive)]).rank < alive.sum():
        raise DataError(
            "Jeffreys' prior needs an information matrix of full rank, and some columns are sums of others or there "
            f"are fewer rows than columns ({blocks.n_rows} rows, {len(start)} weights for each class): leave columns "
            "out, or use penalty='l2'."
        )
    theta, found = maximise(model, start)
    return model, theta, found


def corrected(blocks: ArrayBlocks, n_classes: int, kind: str) -> tuple[Optimum, float]:
    """(what a table needs of Firth's fit corrected by "flic" or "flac", how far its score is from zero)."""
    model, theta, found = firth(blocks, n_classes)
    plain = Likelihood(model.objective)
    if kind == "flic":
        theta, found = maximise(plain, theta, np.arange(n_classes - 1) * len(theta))
        optimum = plain.optimum(theta)
        return replace(optimum, score=np.zeros_like(theta)), standard_errors(found.gradient[:1], found, len(theta))
    if n_classes > 2:
        raise ParameterError(f"penalty='flac' is for two classes and there are {n_classes}; use penalty='flic'.")
    whole = _with_pseudo_rows(blocks, diagnose(model, theta).leverage)
    inside = likelihood(whole, 2)
    full, found = maximise(inside, np.zeros((len(theta) + 1, 1)))
    assert found.hessian is not None
    A, center = inside.scaling.to_user(full)
    if center is not None:
        A[0] -= center[-1] * A[-1]
        center = center[:-1]
    theta = plain.from_weights(A[:-1], center)
    # The mark's column is zero in the rows themselves: its weight goes, and its part of the information with it.
    M = to_raw(inside.scaling)
    spread = (M @ inverse(found.hessian) @ M.T)[:-1, :-1]
    mine = np.linalg.inv(to_raw(plain.scaling))
    optimum = replace(plain.optimum(theta), score=np.zeros_like(theta), information=inverse(mine @ spread @ mine.T))
    return optimum, standard_errors(found.gradient, found, 1)


def standard_errors(score: Array, found: Evaluation, stride: int) -> float:
    """How far a score is from zero, in standard errors of the weights that are ``stride`` apart."""
    assert found.hessian is not None
    size = np.sqrt(np.maximum(np.diagonal(found.hessian)[::stride], 1e-300))
    return float(np.abs(score.T.ravel() / size).max())


def _with_pseudo_rows(blocks: ArrayBlocks, leverage: Array) -> ArrayBlocks:
    """The rows, and again with both labels and half their leverage as weight each, marked by a column of ones."""
    X = np.vstack([block.design.dense() for block in blocks])
    n, code = len(X), np.asarray(blocks.target).ravel()
    weight = np.ones(n) if blocks.weight is None else np.asarray(blocks.weight, dtype=np.float64)
    mark = np.repeat([0.0, 1.0, 1.0], n)
    target = np.concatenate([code, code, 1 - code])
    return make_blocks(np.column_stack([np.vstack([X] * 3), mark]), target, np.r_[weight, leverage / 2, leverage / 2])
