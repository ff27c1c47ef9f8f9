"""Single-sample rules on rows that lie in several places: iterative parameter mixing.

    each place i:   one epoch of the rule from the common weights A  →  A_i, with k_i corrections
    everywhere:     A ← Σ_i μ_i A_i,      μ_i = k_i / Σ_j k_j      (for each output apart, where outputs learn apart)

A place without a correction has nothing to say.  For data that a hyperplane separates with margin γ within radius R
the mixed perceptron makes at most (R/γ)² mixed corrections, as the sequential one does: the theorem's two bounds,
A·u ≥ Σ μ_i k_i γ and ‖A‖² ≤ Σ μ_i k_i R², survive the average by convexity (McDonald, Hall and Mann 2010).  One epoch
is one reduce; only weights and counts travel.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from discriminant.data import make_blocks
from discriminant.errors import MismatchError, counted
from discriminant.objective import PointwiseObjective
from discriminant.optimize.history import History
from discriminant.optimize.iterative import STOPPED
from discriminant.optimize.progress import stepped
from discriminant.optimize.sequence import repeated_rows
from discriminant.optimize.single_sample import SequentialSolution, settled
from discriminant.protocols import Array, Block, Oracle

NOTE = "Iterative parameter mixing: each partition is swept from common weights, which are then averaged."
WHOLE = 1 << 60  # rows of a block: a place is swept as a whole


@dataclass
class Mixed:
    """Σ k_i A_i, Σ k_i and what else an epoch tells, added over places."""

    weights: Array  # (1+d, q)
    corrections: Array  # (q,), or (1,) where outputs are coupled
    samples: int

    def __iadd__(self, other: Mixed) -> Mixed:
        self.weights += other.weights
        self.corrections += other.corrections
        self.samples += other.samples
        return self


@dataclass(frozen=True)
class Epoch:
    """One epoch over the rows of one place."""

    optimizer: Any  # a SingleSample
    criterion: Any
    coding: Any
    penalty: Any
    intercept: bool
    weights: Array
    seed: int
    repeats: bool

    def __call__(self, block: Block) -> Mixed:
        blocks = make_blocks(block.design.raw, block.target, block.weight)
        rows = PointwiseObjective(blocks, self.criterion, self.coding, self.penalty, intercept=self.intercept)
        order = np.random.default_rng([self.seed, block.start])
        A, each, samples = replace(self.optimizer, random_state=order).once(rows, self.weights, self.repeats)
        made = np.array(each, dtype=np.float64)
        return Mixed(A * made, made, samples)


def check(optimizer: Any) -> None:
    """Refuse what has no form of this kind."""
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


def mixed_epochs(optimizer: Any, objective: PointwiseObjective, start: Array) -> SequentialSolution:
    """Minimise by mixed epochs until none needs a correction, or the optimizer's own limits end them."""
    check(optimizer)
    rng = np.random.default_rng(optimizer.random_state if optimizer.order == "shuffled" else 0)
    seed = int(rng.integers(1 << 31))
    repeats = repeated_rows(objective.blocks) is not None  # the same everywhere
    course = Course(np.array(start, dtype=np.float64), repeats)
    status, converged = "", False
    for epoch in range(1, optimizer.epochs + 1):
        status, converged = course.advance(optimizer, objective, seed, epoch)
        if not status and stepped(course.weights):
            status = STOPPED.format(k=epoch)
        if status:
            break
    last, total = int(course.last), int(course.corrections.sum())
    if not status:
        status = (
            f"Not converged: the last of {course.epochs} mixed epochs still made {last} corrections of {total} in all. "
            "Whether the samples can be separated at all, discriminant.separability(X, y) decides."
        )
    value = objective.value(course.weights) if optimizer.evaluate else float("nan")
    return SequentialSolution(
        course.weights, status, converged, passes=course.epochs + optimizer.evaluate, iterations=course.epochs,
        objective=value, history=course.history, notes=(NOTE,), corrections=total, samples=course.samples,
        each=tuple(int(k) for k in course.corrections),
    )  # fmt: skip


@dataclass
class Course:
    """Where the mixed epochs stand."""

    weights: Array
    repeats: bool
    corrections: Array = field(default_factory=lambda: np.zeros(1))
    samples: int = 0
    epochs: int = 0
    last: float = 0.0
    best: float = np.inf
    waited: int = 0
    history: History = field(default_factory=History)

    def advance(self, optimizer: Any, objective: PointwiseObjective, seed: int, epoch: int) -> tuple[str, bool]:
        """One epoch; (why it was the last, whether it ended well), the first empty where it was not."""
        plain = replace(optimizer, random_state=None, callback=None, improvement=None)
        parts = objective.criterion, objective.coding, objective.penalty, objective.intercept
        kernel = Epoch(plain, *parts, self.weights, seed + epoch, self.repeats)
        mixed: Mixed = replace(objective.blocks, block_rows=WHOLE).reduce(kernel)  # type: ignore[type-var]
        made = mixed.corrections
        live = made > 0  # an output without corrections keeps its weights
        new = np.where(live, mixed.weights / np.where(live, made, 1.0), self.weights)
        moved, self.weights = float(np.linalg.norm(new - self.weights)), new
        self.corrections, self.samples = self.corrections + made, self.samples + mixed.samples
        self.epochs, self.last = epoch, float(made.sum())
        self.history.record(k=epoch, corrections=self.last, step=float(optimizer.step))
        return self._verdict(optimizer, objective, moved, self.last / max(mixed.samples, 1))

    def _verdict(self, optimizer: Any, objective: PointwiseObjective, moved: float, share: float) -> tuple[str, bool]:
        with np.errstate(over="ignore", invalid="ignore"):
            by_margin, length = Oracle.MARGIN in objective.oracles, float(np.linalg.norm(self.weights))
        epochs = counted(self.epochs, "mixed epoch")
        if not np.isfinite(length):
            return f"Diverged in epoch {self.epochs}: the weights overflow; take a shorter step.", False
        if by_margin and not self.last:
            k = int(self.corrections.sum())
            made = f"{counted(k, 'correction')} in {epochs}"
            return f"Converged: the samples are separated after {made}.", True
        if optimizer.tolerance > 0 and moved <= optimizer.tolerance * length:
            why = f"the last moved the weights by less than {optimizer.tolerance:g} of their length"
            return settled(objective, self.weights, by_margin, epochs, why)
        if optimizer.improvement is not None:
            self.waited = 0 if share < self.best - optimizer.improvement else self.waited + 1
            self.best = min(self.best, share)
            if self.waited >= optimizer.patience:
                why = "the share of corrections had ceased to fall"
                return settled(objective, self.weights, by_margin, epochs, why)
        return "", False
