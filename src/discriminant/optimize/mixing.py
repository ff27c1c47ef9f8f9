"""Single-sample rules on rows that lie in several places: iterative parameter mixing.

    each place i:   one epoch of the rule from the common weights A  →  A_i, with k_i corrections
    everywhere:     A ← Σ_i μ_i A_i,      μ_i = k_i / Σ_j k_j      (for each output apart, where outputs learn apart)

A place without a correction has nothing to say.  For data that a hyperplane separates with margin γ within radius R
the mixed perceptron makes at most (R/γ)² mixed corrections, as the sequential one does: the theorem's two bounds,
A·u ≥ Σ μ_i k_i γ and ‖A‖² ≤ Σ μ_i k_i R², survive the average by convexity (McDonald, Hall and Mann 2010).  One epoch
is one reduce; only weights and counts travel.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discriminant.data import make_blocks
from discriminant.errors import MismatchError
from discriminant.kernels.rules import DONE, STEPS, VISITS
from discriminant.objective import PointwiseObjective
from discriminant.optimize.sequence import Run, begin
from discriminant.optimize.single_sample import SingleSample
from discriminant.protocols import Array, Block

NOTE = "Iterative parameter mixing: each partition is swept from common weights, which are then averaged."
WHOLE = 1 << 60  # rows of a block: a place is swept as a whole


@dataclass
class Mixed:
    """Σ k_i A_i and what is counted in an epoch, added over places."""

    weights: Array  # (1+d, q)
    corrections: Array  # (q,)
    samples: Array  # (q,)
    losses: Array  # (q,), or empty

    def __iadd__(self, other: Mixed) -> Mixed:
        self.weights += other.weights
        self.corrections += other.corrections
        self.samples += other.samples
        self.losses += other.losses
        return self


@dataclass(frozen=True)
class Epoch:
    """One epoch over the rows of one place."""

    optimizer: SingleSample
    objective: PointwiseObjective  # without rows
    weights: Array
    seed: int
    repeats: bool

    def __call__(self, block: Block) -> Mixed:
        rows = replace(self.objective, blocks=make_blocks(block.design.raw, block.target, block.weight))
        order = np.random.default_rng([self.seed, block.start])
        run = begin(replace(self.optimizer, random_state=order), rows, self.weights, self.repeats)
        run.meet_all()
        A, tally = run.weights(), run.state.tally
        return Mixed(A * run.counts(STEPS), tally[STEPS], tally[VISITS], run.state.losses)


@dataclass
class MixedRun(Run):
    """A run of which each epoch is swept where the rows are."""

    optimizer: SingleSample

    def meet_all(self) -> None:
        s, old = self.state, self.weights()
        plain = replace(self.optimizer, callback=None, improvement=0.0 if len(s.losses) else None)
        kernel = Epoch(plain, self.objective.over(None), old, int(self.rng.integers(1 << 31)), self.repeats)
        mixed: Mixed = replace(self.objective.blocks, block_rows=WHOLE).reduce(kernel)  # type: ignore[type-var]
        made = mixed.corrections[:1] if s.coupled else mixed.corrections
        live = made > 0  # an output without corrections keeps its weights
        self.restore(np.where(live, mixed.weights / np.where(live, made, 1.0), old))
        s.tally[STEPS] += mixed.corrections
        s.tally[VISITS] += mixed.samples
        s.tally[DONE] = self.by_margin & ~live
        s.losses += mixed.losses

    def kept(self, keep: str) -> tuple[Array, str]:
        return self.weights(), NOTE

    def proof(self) -> str:
        return "the last epoch needed none"


def begin_mixed(optimizer: SingleSample, objective: PointwiseObjective, start: Array) -> MixedRun:
    """A run of `SingleSample` with these options over rows on several workers; what has no form there is refused."""
    if not isinstance(optimizer.step, int | float):
        raise MismatchError(
            "A step η(k) that changes counts corrections in one order, and rows on several workers have none: give a "
            "number."
        )
    if optimizer.keep != "last" or optimizer.trace:
        raise MismatchError(
            "Averages, pockets and traces follow one sequence of samples, and rows on several workers have none: use "
            "the last weights, without a trace."
        )
    return MixedRun(**vars(begin(optimizer, objective, start)), optimizer=optimizer)
