"""What is proved about a point: how far J there can be above its minimum.

*Dual.*  With a ridge λ > 0, every u with Σ s u = 0 gives a lower bound.  From u = σ(z) − t, made feasible by a shift of
the intercept, u' = u − σ' δ with δ = g₀ / Σ s σ', the gap closes to

    J − D ≤ Σ_j (g' + λ a)_j² / 2λ_j + ½ Σ sσ' δ² / (1 − |δ|)²,        g' = Xᵗ s u' = g − δ Xᵗ s σ',

where the second term bounds what the entropy of u' falls short of its tangent.  K classes: u' = u − (diag p − ppᵗ) δ,
and ½ δ·g₀ / (1 − max δ + min δ).

*Self-concordance.*  |ℓ'''| ≤ ℓ'' along any line (for K classes times the range of the scores' change), so that with the
Newton decrement ν² = gᵗH⁻¹g and R = max_i ‖y_i‖_{H⁻¹}

    J − min J ≤ ((1 − x) ln(1 − x) + x) / R²,        x = ν R < 1,

which needs no penalty and is tight: ν²/2 as x → 0.  It also proves that the minimum exists.

*Dual with a projection.*  A small λ asks of the dual for tiny slopes g'.  u' = u − v_i Δᵗy_i leaves λΔ of them, and
nothing of the intercepts', where (M + λ) Δ = g and M = Σ s_i v_i y_i y_iᵗ; v_i = σ' or, one M for all of K classes,
min_k p_ik.  Where posteriors lose the shares e ≤ ρ < 1 of themselves, e_ik = v_i Δᵗy_i / p_ik, the entropies fall
short by at most Σ s p e² ((1 − ρ) ln(1 − ρ) + ρ) / ρ².

*Some rows.*  The Hessian is a sum over rows of matrices ≥ 0: with at least the share f of every class in a sample whose
Hessian is P, ∇²J ≥ f P, and self-concordance holds in any metric below the Hessian's.  Where K(1+d) is too many to
factor, P ≥ I ⊗ Σ_i s_i min_k p_ik y_i y_iᵗ.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discriminant.arrays import in_memory
from discriminant.criteria import Logistic, Softmax
from discriminant.data.device_library import library_of
from discriminant.data.evaluate import DeviceRequest, Evaluate, TiledRequest, centred, compiled_rows
from discriminant.data.rows import DenseDesign
from discriminant.kernels import compiled
from discriminant.objective import PointwiseObjective
from discriminant.optimize.factor import Factors, factor_hessian, make_factor
from discriminant.optimize.state import State
from discriminant.protocols import Array, Block, Evaluation, Need
from discriminant.thresholds import COUPLED_PARAMETERS

EPS = float(np.finfo(np.float64).eps)
ROUNDING = 1e-12  # relative gap that leaves nothing to be proved
SINGLE = 1e-6  # of a Gram matrix's diagonal: what single precision leaves in doubt
REPAIRED = 1e-8  # of g₀ that a shift of the intercepts may leave: rounding
WELL_CONDITIONED = 0.01  # least pivot of a unit-diagonal Hessian above which the longest row bounds R well enough


def self_concordant_gap(decrement: float, row_norm: float) -> float:
    """((1 − x) ln(1 − x) + x) / R² for x = νR; infinite for x ≥ 1.

    >>> round(self_concordant_gap(1e-3, 1.0) / (1e-6 / 2), 3)
    1.0
    """
    x = decrement * row_norm
    if not x < 0.999:  # separated classes have x = 1 but for rounding, and no minimum
        return float("inf")
    if x < 1e-4:  # the series: the closed form cancels
        return 0.5 * decrement**2 * (1 + x / 3 + x * x)
    return float(((1 - x) * np.log1p(-x) + x) / row_norm**2)


def can_prove(objective: PointwiseObjective) -> bool:
    """Whether the bounds of this module are those of the criterion."""
    return isinstance(objective.criterion, Logistic | Softmax)


def loose_gap(objective: PointwiseObjective, found: Evaluation) -> float:
    """Σ ∇J² / 2λ over the weights: what the dual bound would be if the intercepts' slopes were zero."""
    ridge = objective.ridge
    if ridge is None:
        return float("inf")
    slope = found.gradient[1:, :] * objective.units[1:, :]
    return float(library_of(slope).dot(slope / (2 * ridge), slope))


def dual_gap(objective: PointwiseObjective, A: Array, found: Evaluation) -> float:
    """The duality gap at A; one more pass for competing classes, or where ``found`` lacks what the intercept needs."""
    ridge = objective.ridge
    if ridge is None:
        return float("inf")
    if not objective.intercept:
        return loose_gap(objective, found)
    if found.intercept is None:
        found = replace(found, intercept=objective.evaluate(A, Need.INTERCEPT).intercept)
    assert found.intercept is not None
    slope = found.gradient * objective.units
    if not (np.isfinite(found.intercept).all() and math.isfinite(loose_gap(objective, found))):
        return float("inf")  # NaN in X shows here first; who asks for a gap finds the column by itself
    if objective.criterion.coupled:
        return _coupled_gap(objective, A, found, slope, ridge)
    mass = found.intercept[0]
    if not (mass > 0).all():
        return float("inf")
    delta = slope[0] / mass
    if not (np.abs(delta) < 1).all():
        return float("inf")
    left = slope[1:] - delta * found.intercept[1:]
    entropy = 0.5 * mass * np.square(delta) / np.square(1 - np.abs(delta))
    return float((np.square(left) / (2 * ridge)).sum() + entropy.sum())


def _coupled_gap(objective: PointwiseObjective, A: Array, found: Evaluation, slope: Array, ridge: Array) -> float:
    """K classes: the shift δ of the intercepts with Σ s (diag p − ppᵗ) δ = g₀, and what it does to the other slopes."""
    base = in_memory(slope[0, :])
    assert found.intercept is not None
    delta, others = np.zeros(len(base)), np.arange(len(base)) != np.diagonal(found.intercept).argmax()
    delta[others] = make_factor(found.intercept[np.ix_(others, others)]).solve(base[others])  # all but one: regular
    delta -= delta.mean()
    if not np.abs(found.intercept @ delta - base).max() <= REPAIRED * np.abs(base).max() + 8 * EPS:
        return float("inf")  # what the shift left of g₀ is bounded by no dual point
    span = float(delta.max() - delta.min())
    if not span < 1:
        return float("inf")
    V = objective.blocks.place(np.vstack([delta, np.zeros((A.shape[0] - 1, A.shape[1]))]))
    moved = objective.without_penalty().evaluate(A, Need.PRODUCT, V).product
    assert moved is not None
    left = slope[1:, :] - moved[1:, :] * objective.units[1:, :]
    return float(library_of(left).dot(left / (2 * ridge), left)) + 0.5 * abs(float(delta @ base)) / (1 - span)


def proved(objective: PointwiseObjective, state: State, wanted: float = ROUNDING) -> State:
    """The state with its gap: dual where there is a ridge, self-concordance from the Hessian at hand.

    ``wanted``: the gap, relative to J, at which no further proof is tried.
    """
    if not can_prove(objective):
        return state
    enough = wanted * abs(state.found.value)
    gap = np.inf if objective.criterion.coupled else dual_gap(objective, state.A, state.found)
    if state.factors is not None and not state.stale and np.isfinite(state.decrement) and not gap <= enough:
        gap = min(gap, _newton_gap(objective, state, enough))
    if objective.criterion.coupled and not gap <= enough:
        gap = min(gap, dual_gap(objective, state.A, state.found))
    return replace(state, gap=gap)


def _newton_gap(objective: PointwiseObjective, state: State, enough: float) -> float:
    """By self-concordance, with the smaller of two bounds of R where the first leaves anything to be proved."""
    assert state.factors is not None
    gap = self_concordant_gap(state.decrement, row_norm(objective, state.factors))
    if gap <= enough or state.factors.least > WELL_CONDITIONED:
        return gap
    return min(gap, self_concordant_gap(state.decrement, row_norm_by_curvature(objective, state.A)))


def row_norm(objective: PointwiseObjective, factors: Factors) -> float:
    """A bound of R = max_i ‖y_i‖_{H⁻¹} from the longest row: ‖S y‖² times the trace of (S H S)⁻¹."""
    scales = [factor.scale.reshape(-1, objective.n_parameters).max(axis=0) for factor in factors.each]
    pairs = zip(factors.each, scales, strict=True)
    worst = max(longest_row(objective, scale) * factor.root_norm() for factor, scale in pairs)
    return float(np.sqrt(worst * (2 if factors.coupled else 1)))


def row_norm_by_curvature(objective: PointwiseObjective, A: Array) -> float:
    """Another bound of R, that collinear columns do not spoil: a row's own part of H alone bounds its length.

    s_i c_i (y_i·Δ)² ≤ ‖Δ‖²_H with c = σ(1 − σ); for K classes, whose scores differ by r, a variance of at least
    r² p_k p_l / (p_k + p_l) ≥ r² p_min / 2.
    """
    return float(np.sqrt(objective.blocks.reduce(_LeastCurvature(objective.request(A, Need.VALUE))).most))


@dataclass
class Most:
    """The largest of some numbers, as a sum of blocks."""

    most: float

    def __iadd__(self, other: Most) -> Most:
        self.most = max(self.most, other.most)
        return self


@dataclass(frozen=True)
class RowLengths(TiledRequest, DeviceRequest):
    """max_i ‖S y_i‖² over a block."""

    center: Array | None
    scale: Array  # (1+d,)
    intercept: bool

    @property
    def compiled(self) -> bool:
        return compiled.load() is not None

    def on_device(self, blocks: Any) -> Most:
        from discriminant.data.device_evaluate import longest_row

        return Most(longest_row(blocks, self.center, self.scale[1:]) + self.intercept * float(self.scale[0]) ** 2)

    def work(self, n_rows: int, n_values: int) -> float:
        """Multiplications: one pass that does little but read."""
        return 2.0 * n_values

    def __call__(self, block: Block) -> Most:
        weights, module = np.square(self.scale), compiled.load()
        rows = None if module is None or not isinstance(block.design, DenseDesign) else compiled_rows(block.design)
        if module is not None and rows is not None:
            return Most(module.longest_row(rows, self.center, weights[1:]) + (weights[0] if self.intercept else 0.0))
        design = centred(block.design, self.center)
        lengths = np.asarray(design.squared().values @ weights[1:])
        return Most(float(lengths.max(initial=0.0)) + (weights[0] if self.intercept else 0.0))


@dataclass(frozen=True)
class _LeastCurvature(DeviceRequest):
    """max_i 1 / (s_i c_i) over the rows of a block that have a share."""

    request: Evaluate

    def on_device(self, blocks: Any) -> Most | None:
        from discriminant.data.device_evaluate import least_curvature

        least = least_curvature(self.request, blocks)
        return None if least is None else Most(1 / least if least > 0 else np.inf)

    def __call__(self, block: Block) -> Most:
        _, t, share, z, _ = self.request.parts(block)
        criterion = self.request.criterion
        if isinstance(criterion, Softmax):
            curve = share[:, :1] * 0.5 * criterion.probability(z).min(axis=1, keepdims=True)
        else:
            curve = share * criterion.curvature(t, z)
        curve = curve[np.broadcast_to(share[:, : curve.shape[1]], curve.shape) > 0]
        least = float(curve.min(initial=1.0))
        return Most(1 / least if least > 0 else np.inf)


def longest_row(objective: PointwiseObjective, scale: Array) -> float:
    """max_i ‖S y_i‖² for the scales (1+d,) on S's diagonal, y in the objective's units."""
    lengths = RowLengths(objective.center, scale / in_memory(objective.units)[:, 0], objective.intercept)
    return float(objective.blocks.reduce(lengths).most)


@dataclass
class SampleProof:
    """A bound of the gap by self-concordance, from the Hessian of the sample's rows alone: no pass over the others."""

    sample: PointwiseObjective
    share: float  # f
    longest: Callable[[Array], float]  # a bound of max_i ‖S y_i‖²
    again: float = np.inf  # the square of a decrement that promises more than the last attempt proved
    still: float = 0.01  # where nothing was proved: what is left of ν² when another attempt may

    @property
    def excess(self) -> float:
        """About how many times ν the bound comes from."""
        return 1.0

    def __call__(self, state: State, wanted: float) -> float:
        """The gap that is proved; infinite where it is not worth the arithmetic."""
        square = state.decrement**2
        if not square <= min(2 * self.share * wanted / self.excess**2, self.again):
            return float("inf")
        gap = self._gap(state.A, state.found)
        self.again = square * (0.7 * wanted / gap if np.isfinite(gap) else self.still)  # a gap falls as ν²
        return gap

    def _gap(self, A: Array, found: Evaluation) -> float:
        D, q = A.shape
        many = self.sample.criterion.coupled
        if many and q * D > COUPLED_PARAMETERS:
            H = least_curvature(self.sample, A)
            factor = make_factor(H)
            square = float(np.vdot(found.gradient, factor.solve(found.gradient)))
        else:
            hessian = self.sample.evaluate(A, Need.HESSIAN).hessian
            assert hessian is not None
            factors = factor_hessian(hessian, q, many)
            square, factor = float(np.vdot(found.gradient, factors.solve(found.gradient))), factors.each[0]
        least = 1 / factor.root_norm()
        if not least > EPS * len(factor.scale):
            return float("inf")
        scale = factor.scale.reshape(-1, D).max(axis=0)
        row_norm = math.sqrt(1.01 * self.longest(scale) / least * (2 if many else 1) / self.share)
        decrement = math.sqrt(max(square, 0.0) / self.share)
        self.still = 0.25 / max(decrement * row_norm, 1.0) ** 2  # nothing is proved while νR ≥ 1
        return self_concordant_gap(decrement, row_norm)


class ProjectedDual(SampleProof):
    """The dual bound, with the sample's rows taking away what slopes there are: one output or competing classes."""

    @property
    def excess(self) -> float:
        coupled = self.sample.criterion.coupled
        return math.sqrt(1.5 * self.sample.n_outputs) if coupled else 1.0  # the least of K posteriors stands for all

    def _gap(self, A: Array, found: Evaluation) -> float:
        damping, coupled = self.sample.damping[:, :1], self.sample.criterion.coupled
        moved, square, most = (self._by_least_posterior if coupled else self._by_curvature)(A, found.gradient)
        self.still = 0.5 / max(most, 1.0) ** 2
        if not most < 1:
            return float("inf")
        left = (found.gradient - moved)[1:]
        entropy = self_concordant_gap(math.sqrt(square), most / math.sqrt(square)) if square > 0 else 0.0
        return entropy + float((np.square(left) / (2 * damping[1:])).sum())

    def _by_curvature(self, A: Array, g: Array) -> tuple[Array, float, float]:
        """One output: the slopes that are taken away, Σ s p e², and a bound of the largest e."""
        H = least_curvature(self.sample, A, self.share)
        delta = make_factor(H).solve(g)
        moved = H @ delta - self.sample.damping[:, :1] * delta
        return moved, float(np.vdot(delta, moved)), float(np.abs(self.sample.scores(delta)).max())  # e is below |δ|

    def _by_least_posterior(self, A: Array, g: Array) -> tuple[Array, float, float]:
        """K classes: any Δ whose intercepts leave no slope of theirs will do, so that M is in single precision."""
        sample, unit = self.sample, self.sample.units[:, 0]
        M, row = sample.blocks.reduce(_LeastPosterior(sample.request(A, Need.VALUE), unit[1:]))
        M, row = self.share * M, self.share * row / unit
        M[np.diag_indices_from(M)] = np.diagonal(M) * (1 + SINGLE) + sample.damping[:, 0]
        if not sample.intercept:
            M[0], M[:, 0] = 0.0, 0.0  # a factor gives a pivot of one to what has no curvature
        delta = make_factor(M).solve(g)
        delta -= delta.mean(axis=1, keepdims=True)  # the losses' slopes have a sum of zero; the penalty's is left
        if sample.intercept:
            delta[0] = (g[0] - row[1:] @ delta[1:]) / row[0]
        change = sample.blocks.reduce(_PosteriorChange(sample.request(A, Need.VALUE, delta)))
        return self.share * change.slopes / sample.units, self.share * change.square, change.most


@dataclass
class PosteriorChange:
    """Where the dual point moves by v_i Δᵗy_i: Σ s v y (Δᵗy)ᵗ, Σ s p e² and the largest e over some rows."""

    slopes: Array
    square: float
    most: float

    def __iadd__(self, other: PosteriorChange) -> PosteriorChange:
        self.slopes += other.slopes
        self.square, self.most = self.square + other.square, max(self.most, other.most)
        return self


@dataclass(frozen=True)
class _PosteriorChange:
    """What the posteriors of competing classes lose there, v = min_k p_ik."""

    request: Evaluate

    def __call__(self, block: Block) -> PosteriorChange:
        design, _, share, z, moved = self.request.parts(block)
        criterion: Any = self.request.criterion
        p = criterion.probability(z)
        moved = moved * p.min(axis=1, keepdims=True)
        part, moved = moved / p, share[:, :1] * moved
        return PosteriorChange(design.adjoint(moved), float(np.vdot(moved, part)), float(part.max(initial=0.0)))


def least_curvature(sample: PointwiseObjective, A: Array, share: float = 1.0) -> Array:
    """f Σ_i s_i v_i y_i y_iᵗ and the ridge, v = σ' or min_k p_ik: below the Hessian of the sample, in every class."""
    if sample.criterion.coupled:
        M, _ = sample.blocks.reduce(_LeastPosterior(sample.request(A, Need.VALUE)))
    else:
        M = sample.blocks.reduce(sample.request(A, Need.HESSIAN)).hessian[0]
    M *= share / (sample.units * sample.units.T)
    np.einsum("ii->i", M)[...] += sample.damping[:, 0]
    if not sample.intercept:
        M[0], M[:, 0] = 0.0, 0.0  # a factor gives a pivot of one to what has no curvature
    return np.asarray(M)


@dataclass(frozen=True)
class _LeastPosterior:
    """Σ s v y yᵗ, v = min_k p_ik, and its first row; with units the matrix is that of columns measured in them."""

    request: Evaluate
    unit: Array | None = None

    def __call__(self, block: Block) -> tuple[Array, Array]:
        design, _, share, z, _ = self.request.parts(block)
        criterion: Any = self.request.criterion
        w = share[:, 0] * criterion.probability(z).min(axis=1)
        M = design.sandwich(w) if self.unit is None else design.rough_sandwich(w, self.unit)
        return np.asarray(M), design.adjoint(w[:, None])[:, 0]


def share_of(objective: PointwiseObjective, sample: PointwiseObjective) -> float:
    """f: every class of the sample holds at least this share of the rows of its class."""
    target = np.asarray(sample.blocks.target)
    if objective.coding is not None:
        K = objective.coding.n_classes
        all_rows, seen = objective.blocks.class_rows(K), np.bincount(target, minlength=K)
        there = all_rows > 0
        share = float((seen[there] / all_rows[there]).min())
    else:
        share = sample.n_rows / objective.n_rows
    return share * min(1.0, sample.total / objective.total)
