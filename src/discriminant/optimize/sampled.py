"""Many rows, in memory or elsewhere: the optimum and the curvature of row samples first, then few passes over all rows.

    2,000 rows → a larger sample → its optimum and Hessian P
    on all rows:  A ← A − B g(A),  B from P⁻¹ and the last pairs

A sample of m rows leaves a gap of about p/2m and a Hessian right to √(p/m), for next to nothing; each pass over all
rows squares that error into the gap.  Each sample starts from the optimum of the one before.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any

import numpy as np

from discriminant.data.blocks import make_blocks
from discriminant.objective import PointwiseObjective
from discriminant.optimize import precondition
from discriminant.optimize.certificate import (
    ProjectedDual,
    RowLengths,
    SampleProof,
    longest_row,
    share_of,
)
from discriminant.optimize.choose import Shape, hessian_steps, sample_rows
from discriminant.optimize.factor import factor_hessian
from discriminant.optimize.newton import FULL, RAREST, Trace, newton_to_gap, null_start
from discriminant.optimize.quasi_newton import lbfgs_to_gap
from discriminant.optimize.state import State
from discriminant.protocols import Array, Block, Need
from discriminant.thresholds import (
    CLASSES_PER_COLUMN,
    COUPLED_PARAMETERS,
    DUAL_FAR,
    DUAL_LOST,
    FACTOR_COLUMNS,
    FALL,
    FIRST_SAMPLE_ROWS,
    GRAM_SAMPLE,
    GRAM_STEPS,
    KEPT_VALUES,
    LEAST_TRIAL,
    MOST_KEPT,
    MOST_RENEWALS,
    NEWTON_COLUMNS,
    PROOF_WORK,
    SAMPLE_ROWS,
    SAMPLE_WORK,
)


def shape_of(objective: PointwiseObjective) -> Shape:
    """What the choice of a method depends on."""
    blocks = objective.blocks
    return Shape(
        objective.n_rows, objective.n_features, objective.n_outputs, blocks.is_sparse, blocks.n_values,
        blocks.pass_cost > 1, objective.penalty is not None, objective.criterion.coupled,
        blocks.on_device,
    )  # fmt: skip


def drawn(objective: PointwiseObjective, count: int) -> PointwiseObjective:
    """The same objective over about ``count`` of its rows, weighted to stand for all; the penalty keeps its meaning."""
    K = objective.coding.n_classes if objective.coding is not None else 1
    index, rows = objective.blocks.draw(count, K)
    offset = None if objective.offset is None else objective.offset[index]
    blocks = make_blocks(rows.design.raw, rows.target, rows.weight)
    return PointwiseObjective(
        blocks, objective.criterion, objective.coding, objective.penalty, offset, objective.intercept, objective.scaling
    )


def sample_size(objective: PointwiseObjective) -> int:
    """Rows enough for a Hessian right to some per cent, few enough to cost less than a pass."""
    if objective.blocks.pass_cost > 1:  # a pass reads a file: as large as the memory allows and its Hessian is worth
        D, q = objective.n_parameters, objective.n_outputs
        pairs = q * (q + 1) / 2 if objective.criterion.coupled else q
        return int(min(objective.blocks.sample_rows, max(SAMPLE_WORK / (pairs * D * D), 20 * q * D)))
    return sample_rows(objective.n_rows, objective.n_features)


def sampling_error(sample: PointwiseObjective) -> float:
    """A relative gap below which a sample's optimum says nothing of that of all rows: p/2n is its own error."""
    return 0.05 * sample.n_parameters * sample.n_outputs / sample.n_rows


def by_sampled_hessian(
    objective: PointwiseObjective, A: Array, trace: Trace, tol: float, *, to_the_end: bool = False
) -> State:
    """The Hessian of a sample, of all outputs together where they compete, as preconditioner."""
    quiet = Trace()
    first = max(FIRST_SAMPLE_ROWS, 4 * objective.n_features)
    size = sample_size(objective)
    # Few columns: exact Hessians of a sample cost next to nothing.  Many: gradients first.
    exact = objective.criterion.coupled or objective.n_features <= NEWTON_COLUMNS
    solve_sample = partial(newton_to_gap, prove=False) if exact else by_hessian
    if 4 * first < size:
        small = drawn(objective, first)
        A = solve_sample(small, A, quiet, sampling_error(small)).A
    sample = drawn(objective, size)
    state = solve_sample(sample, A, quiet, sampling_error(sample))
    A, found, worth = state.A, state.found, shape_of(objective).newton_worth
    if found.margin > 0 and worth < np.inf:
        return newton_to_gap(objective, A, trace, tol, to_the_end=to_the_end)
    condition = np.nan if state.factors is None else 1 / max(state.factors.least, 1e-300)
    correction = None
    if precondition.little_known(sample):
        whole, part = (one.evaluate(A, Need.DIAGONAL).diagonal for one in (objective, sample))
        assert whole is not None
        assert part is not None
        correction = whole / np.where(part > 0, part, 1.0)
        trace.passes += 1
    hessian = found.hessian if found.hessian is not None else sample.evaluate(A, Need.HESSIAN).hessian
    assert hessian is not None
    solve = precondition.from_hessian(hessian, objective.n_outputs, correction)
    trace.passes += quiet.passes * sample.n_rows / objective.n_rows
    lengths = _Lengths(objective)
    prove = sample_proof(objective, sample, lengths)
    need = Need.VALUE | Need.GRADIENT | Need.INTERCEPT
    if objective.blocks.pass_cost > 1:
        begin = _begin_with_lengths(objective, A, need, hessian, lengths)
        trace.passes += 1
    else:
        begin = _begin(objective, A, trace, need)
    del sample, hessian, state, found  # what follows may need their memory
    state = lbfgs_to_gap(objective, begin, solve, trace, tol, prove=prove, to_the_end=to_the_end, worth=worth)
    state = replace(state, condition=condition)
    outputs = objective.n_outputs if objective.criterion.coupled else 1
    if met(state, tol) or objective.n_parameters * outputs > FACTOR_COLUMNS:
        return state
    # The dual bound is too loose to certify what is solved already: an exact Hessian proves it, and improves on it.
    return newton_to_gap(objective, state.A, trace, tol, to_the_end=to_the_end)


def by_hessian(objective: PointwiseObjective, A: Array, trace: Trace, tol: float, *, to_the_end: bool = False) -> State:
    """Many columns: gradients alone for as long as a Hessian would cost; if that is not enough, the Hessian there.

    Where that would be few steps, in which no fit ends, the Hessian comes first: that of the null model will do.
    """
    worth = hessian_steps(objective.n_rows, objective.n_features)
    if worth > LEAST_TRIAL:
        state = by_diagonal(objective, A, trace, tol, to_the_end=to_the_end, worth=worth)
        if met(state, tol):
            return state
        trace.passes += worth
        A = state.A
    return by_kept_hessian(objective, null_start(objective, A), trace, tol, to_the_end=to_the_end)


def by_kept_hessian(
    objective: PointwiseObjective, A: Array, trace: Trace, tol: float, *, to_the_end: bool = False
) -> State:
    """Near the minimum one exact Hessian, kept as preconditioner, leaves few steps to take."""
    found = objective.evaluate(A, FULL)
    trace.passes += 1
    assert found.hessian is not None
    factors = factor_hessian(found.hessian, objective.n_outputs)
    state = State(A, replace(found, hessian=None), factors=factors)
    prove = sample_proof(objective, objective)
    state = lbfgs_to_gap(
        objective, state, factors.solve, trace, tol, prove=prove, to_the_end=to_the_end, worth=MOST_KEPT,
        null=not A[1:].any(),
    )  # fmt: skip
    if met(state, tol):
        return replace(state, factors=factors, stale=True)
    return newton_to_gap(objective, state.A, trace, tol, to_the_end=to_the_end)


def met(state: State, tol: float) -> bool:
    """Whether nothing is left to do."""
    return state.separated or state.gap <= tol * abs(state.found.value)


def by_gram(objective: PointwiseObjective, A: Array, trace: Trace, tol: float, *, to_the_end: bool = False) -> State:
    """Competing outputs (K classes): the columns' Gram matrix as preconditioner, from linear discriminants.

    Where that promises more steps than each class's own Hessian costs, these take its place, as often as they pay.
    """
    n, D, q = objective.n_rows, objective.n_parameters, objective.n_outputs
    dear, there, shape = objective.blocks.pass_cost > 1, objective.blocks.on_device, shape_of(objective)
    many = max(SAMPLE_ROWS, 8 * D)
    cheap = dear or min(n, many) / n * shape.gram_steps <= GRAM_STEPS
    rows = n if there else many if cheap else GRAM_SAMPLE * D  # a device reads all at once
    sample = drawn(objective, rows) if n > 2 * rows or dear else objective
    solve, least = (precondition.from_gram_there(sample), np.nan) if there else precondition.from_gram(sample)
    trace.passes += D / (4.0 * q) * min(1.0, rows / n)
    if dear:
        quiet, small = Trace(), drawn(objective, min(sample_size(objective), n // 2))
        A = by_gram(small, A, quiet, q * sampling_error(small)).A
        trace.passes += quiet.passes * small.n_rows / n
    prove = sample_proof(objective, sample if dear else objective)
    del sample
    begin = _begin(objective, objective.blocks.place(A), trace) if there else _discriminants(objective, A, solve, trace)
    if begin.found.intercept is not None:
        solve = precondition.by_classes(solve, begin.found.intercept, objective)
    worth = shape.newton_worth
    kept = dear or there or shape.sparse or n * q > KEPT_VALUES
    price = np.inf if kept else LEAST_TRIAL / 2 + q * shape.block_steps
    run = partial(lbfgs_to_gap, objective, trace=trace, tol=tol, prove=prove, to_the_end=to_the_end)
    state = run(begin, solve, worth=min(worth, price))
    for left in range(MOST_RENEWALS):
        if trace.stopped or met(state, tol) or worth <= price or price == np.inf:
            break
        solve = precondition.from_classes(objective, state.A)
        trace.passes += q * shape.block_steps
        begin = State(state.A, state.found, gap=state.gap)
        state = run(begin, solve, worth=price if left + 1 < MOST_RENEWALS else np.inf)
    if trace.stopped or np.isinf(worth) or met(state, tol):
        return replace(state, condition=1 / max(least, 1e-300))
    return newton_to_gap(objective, state.A, trace, tol, to_the_end=to_the_end)  # nearly separated classes


def _discriminants(objective: PointwiseObjective, A: Array, solve: precondition.Solve, trace: Trace) -> State:
    """K classes: A, or where it is zero linear discriminants, unless they are worse than the null model.

    With the curvature of the classes there, where it costs less than a pass.
    """
    blocks, coding = objective.blocks, objective.coding
    need = Need.VALUE | Need.GRADIENT
    curved = need | Need.INTERCEPT if objective.n_outputs <= CLASSES_PER_COLUMN * objective.n_parameters else need
    if A.any() or coding is None or not objective.intercept or objective.offset is not None:
        return _begin(objective, A, trace, curved)
    share = blocks.counts(coding.n_classes) / objective.total
    if not share.min() > RAREST:
        return _begin(objective, A, trace, curved)
    null = A.copy()
    null[0] = np.log(share) - np.log(share).mean()
    state = _begin(objective, null, trace)
    there = null + precondition.to_discriminants(solve, state.found.gradient, share)
    found = objective.evaluate(there, curved)
    trace.passes += 1
    return State(there, found) if found.value < state.found.value else state


def by_diagonal(
    objective: PointwiseObjective,
    A: Array,
    trace: Trace,
    tol: float,
    *,
    to_the_end: bool = False,
    worth: float = np.inf,
) -> State:
    """Many columns, sparse or not: the diagonal of the Hessian as preconditioner.

    Of n < d rows the Hessian has n directions, with d/n times the curvature of the diagonal each.
    """
    A = null_start(objective, A)
    solve, found = precondition.from_diagonal(objective, A)
    trace.passes += 1
    prove = sample_proof(objective, objective) if np.isinf(worth) and objective.n_features <= 4_000 else None
    scale = min(1.0, objective.n_rows / objective.n_features)
    return lbfgs_to_gap(
        objective, State(A, found), solve, trace, tol, prove=prove, to_the_end=to_the_end, scale=scale, worth=worth
    )


def _begin(objective: PointwiseObjective, A: Array, trace: Trace, need: Need = Need.VALUE | Need.GRADIENT) -> State:
    trace.passes += 1
    return State(A, objective.evaluate(A, need))


@dataclass(frozen=True)
class _Both:
    """Two requests in one pass."""

    first: Any
    second: Any

    def __call__(self, block: Block) -> tuple[Any, Any]:
        return self.first(block), self.second(block)


def _begin_with_lengths(
    objective: PointwiseObjective, A: Array, need: Need, hessian: Array, lengths: _Lengths
) -> State:
    """The first pass over rows that are dear to read also measures the longest of them, for the proof."""
    diagonal = np.einsum("...ii->...i", hessian).reshape(-1, objective.n_parameters)
    lengths.scale = (1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))).max(axis=0)
    rows = RowLengths(objective.center, lengths.scale / objective.units[:, 0], objective.intercept)
    found, longest = objective.blocks.reduce(_Both(objective.request(A, need), rows))
    lengths.most = float(longest.most)
    return State(A, objective.finish(found, A))


@dataclass
class _Lengths:
    """The longest row, measured once in the first scales that are asked for, and bounded in others."""

    objective: PointwiseObjective
    scale: Array | None = None
    most: float = 0.0

    def __call__(self, scale: Array) -> float:
        if self.scale is None:
            self.scale, self.most = scale, longest_row(self.objective, scale)
        return self.most * float(np.square(scale / self.scale).max())


def sample_proof(
    objective: PointwiseObjective, sample: PointwiseObjective, lengths: _Lengths | None = None
) -> SampleProofs:
    """The proof from some rows' curvature: without a ridge, or with one too small for the dual to help."""
    return SampleProofs(objective, sample, _Lengths(objective) if lengths is None else lengths)


@dataclass
class SampleProofs:
    """Proofs by a projection and by self-concordance, each tried where it is likely to save the steps that it costs."""

    objective: PointwiseObjective
    sample: PointwiseObjective
    lengths: _Lengths

    def __call__(self, state: State, wanted: float) -> float:
        """The gap that is proved; infinite where nothing is tried."""
        objective, square = self.objective, state.decrement**2
        # Rows of a device are fetched for it, where nothing else proves the end.
        lost = square <= DUAL_LOST * wanted
        if not square <= wanted or (objective.blocks.on_device and not lost) or objective.n_parameters > FACTOR_COLUMNS:
            return float("inf")
        gap = float("inf")
        for far, proof in self.proofs:
            if gap > wanted and (state.loose > far * wanted or lost):
                gap = min(gap, proof()(state.brought(), wanted))
        return gap

    @cached_property
    def proofs(self) -> list[tuple[float, Callable[[], SampleProof]]]:
        """With how many times the gap that is wanted the dual bound must show before one is tried."""
        objective, shape = self.objective, shape_of(self.objective)
        D, q, competing = objective.n_parameters, objective.n_outputs, shape.competing
        proofs, steps = [], hessian_steps(objective.n_rows, D)
        whole = competing and q * D <= COUPLED_PARAMETERS
        if objective.ridge is not None and (competing or q == 1):
            rows = min(shape.projection_rows, self.sample.n_rows) if competing else objective.n_rows
            proofs.append(self._proof(ProjectedDual, 1, shape.projection_steps(rows) if competing else steps, rows))
        if whole or not proofs:
            steps = shape.proof_steps * self.sample.n_rows / objective.n_rows if whole else steps
            proofs.append(self._proof(SampleProof, q if whole else 1, steps))
        return proofs

    def _proof(
        self, kind: type[SampleProof], outputs: int, steps: float, most: float = np.inf
    ) -> tuple[float, Callable[[], SampleProof]]:
        """A proof by at most so many rows, at the price of ``steps``: nearer, the dual will prove it before it pays."""
        objective, D = self.objective, self.objective.n_parameters
        dear, own = objective.blocks.pass_cost > 1, self.sample is not objective
        rows = int(min(most, max(PROOF_WORK / (outputs * (outputs + 1) / 2 * D * D), 20.0 * outputs * D)))
        part = objective.blocks.on_device or (rows < self.sample.n_rows and not dear)
        far = math.exp(min(FALL * steps, 300.0))
        if own and not part and not objective.criterion.coupled:
            far = DUAL_FAR

        @cache
        def proof() -> SampleProof:
            base = drawn(objective, rows) if part else self.sample
            return kind(base, share_of(objective, base), self.lengths)

        return 0.0 if dear else far, proof
