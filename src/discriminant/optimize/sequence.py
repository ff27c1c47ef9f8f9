"""A sequential run over an objective's rows: which kernel rule belongs to its criterion, and where the run stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discriminant.criteria import (
    Kesler,
    Logistic,
    Perceptron,
    Pointwise,
    Quadratic,
    Relaxation,
    SigmoidSquared,
    Softmax,
    Squared,
)
from discriminant.data import ArrayBlocks, DenseRows, SparseRows
from discriminant.errors import MismatchError
from discriminant.kernels import rules
from discriminant.kernels.sweeps import NONE, Samples, State, aligned_weights, sweep
from discriminant.objective import PointwiseObjective
from discriminant.optimize.corrections import Corrections
from discriminant.optimize.history import History
from discriminant.optimize.schedules import Power, Schedule, make_schedule, rate, table
from discriminant.protocols import Array, Block, Oracle
from discriminant.thresholds import REPEATED_ROWS

NEVER = 1 << 62
_KINDS: tuple[tuple[type[Pointwise], int], ...] = (
    (Perceptron, rules.PERCEPTRON),
    (Relaxation, rules.RELAXATION),
    (Quadratic, rules.QUADRATIC),
    (Squared, rules.SQUARED),
    (Logistic, rules.LOGISTIC),
    (SigmoidSquared, rules.SIGMOID_SQUARED),
)


@dataclass
class Run:
    """Where a sequential run stands."""

    objective: PointwiseObjective
    state: State
    schedule: Schedule
    shuffled: bool
    repeats: bool  # weights are counts: a row of weight 2 comes twice
    rng: np.random.Generator
    rows_per_epoch: int
    by_margin: bool
    history: History
    fast: bool  # by the compiled kernels, where there are any

    def epoch(self) -> float:
        """One pass; the mean loss met on the way, or NaN where nobody asked."""
        self.meet_all()
        losses = self.state.losses
        if not len(losses):
            return float("nan")
        met = float((losses / self.objective.totals[: len(losses)]).sum())
        losses[:] = 0
        return met

    def meet_all(self) -> None:
        """Let every sample correct the weights once."""
        for samples, order, start in self.parts():
            self.prepare(samples, order)
            with np.errstate(over="ignore", invalid="ignore"):  # overflow is noticed in the weights
                sweep(samples, self.state, order, fast=self.fast)
            if isinstance(self.history, Corrections):
                self.history.keep(self.state, start)
            if self.ended():
                break

    def parts(self) -> Iterator[tuple[Samples, Array, int]]:
        """(samples, order, first row) to sweep over in turn: all rows at once where they lie in memory in rows."""
        if self._whole is not None:
            block, samples = self._whole
            order = self._order(block)
            if order is not None:
                yield samples, order, 0
            return
        for block in self.objective.blocks:
            order = self._order(block)
            if order is not None:
                yield self._samples(block), order, block.start

    @cached_property
    def _whole(self) -> tuple[Block, Samples] | None:
        """All rows as one block, the same in every epoch; None where they are read block by block."""
        blocks = self.objective.blocks
        if not (isinstance(blocks, ArrayBlocks) and _in_rows(blocks.rows)):
            return None
        block = blocks.block(0, blocks.n_rows)
        return block, self._samples(block)

    def _order(self, block: Block) -> Array | None:
        """The rows of a block as they come, each as often as its count; empty: once, in turn; None: none comes."""
        if not self.repeats:
            return self.rng.permutation(block.rows) if self.shuffled else np.empty(0, np.int64)
        come = np.repeat(np.arange(block.rows), np.asarray(block.weight).astype(np.int64))
        if not len(come):
            return None
        return come[self.rng.permutation(len(come))] if self.shuffled else come

    def _samples(self, block: Block) -> Samples:
        coding, target = self.objective.coding, block.target
        assert target is not None
        plain = block.weight is None or self.repeats
        weight = NONE if plain else np.ascontiguousarray(block.weight, dtype=np.float64)
        X = _plain(block.design)
        if coding is not None:
            codes = target if target.dtype == np.uint8 else target.astype(np.int32, copy=False)
            targets, care = (np.ascontiguousarray(part, np.float64) for part in (coding.targets, coding.care))
            return Samples(X, np.ascontiguousarray(codes), targets, care, weight)
        targets = np.ascontiguousarray(target, dtype=np.float64)
        return Samples(X, np.arange(len(targets), dtype=np.int32), targets, np.ones_like(targets), weight)

    def prepare(self, samples: Samples, order: Array) -> None:
        """Before a sweep: note where it begins, and tabulate η where it is a function of the user's own."""
        s, rows = self.state, len(samples.codes)
        s.tally[rules.ORIGIN] = s.tally[rules.STEPS]
        most = (len(order) or rows) * max(1, len(s.A) - 1 if s.coupled and not s.worst else 1)
        if isinstance(self.history, Corrections):  # fresh ones: the history keeps them, and pays for pages it touches
            small = rows * max(1, len(s.A)) <= np.iinfo(np.int32).max  # half the pages to touch
            s.seen = np.empty((len(s.A), most), np.int32 if small else np.int64)
            s.sizes = np.empty((len(s.A), most))
        if not isinstance(self.schedule, Power):
            k = s.tally[rules.STEPS]
            s.first = int(k.min()) + 1
            s.table = table(self.schedule, s.first, int(k.max()) - int(k.min()) + most + 1)

    def restore(self, A: Array) -> None:
        """Put weights back in place of those that a step too far has spoilt."""
        self.state.A[:, : len(A)], self.state.factor[:] = A.T, 1.0

    def weights(self) -> Array:
        """(1+d, q)."""
        s, D = self.state, self.objective.n_parameters
        A = s.A[:, :D].T.copy()
        A[1:] *= s.factor
        return A

    def kept(self, keep: str) -> tuple[Array, str]:
        """The weights that were asked for, and a note on them."""
        A, s, D = self.weights(), self.state, self.objective.n_parameters
        if keep == "average":
            visits = np.maximum(self.counts(rules.VISITS), 1)
            return A - s.drift[:, :D].T / visits, "The average of the weights over all samples is handed back."
        if keep == "last":
            return A, ""
        pocket = np.where(s.tally[rules.CLEAN] > s.tally[rules.RUN], A, s.pocket[:, :D].T)
        better = self.objective.sides(pocket)[0] <= self.objective.sides(A)[0]
        return np.where(better, pocket, A), "Of pocket and last weights, those with fewer errors are handed back."

    def counts(self, which: int) -> Array:
        """What is counted of each output; of all together where they are coupled."""
        return np.asarray(self.state.tally[which, : 1 if self.state.coupled else None])

    def ended(self) -> bool:
        return bool(self.counts(rules.DONE).all())

    def corrections(self) -> int:
        return int(self.counts(rules.STEPS).sum())

    def samples(self) -> int:
        return int(self.counts(rules.VISITS).sum())

    @property
    def epochs(self) -> History:
        """The history by epochs, beside which single corrections may be traced."""
        return self.history.epochs if isinstance(self.history, Corrections) else self.history

    def last_corrections(self) -> int:
        """Corrections of the last epoch."""
        return int(np.diff(self.epochs.columns["corrections"], prepend=0)[-1])

    def proof(self) -> str:
        """Why the samples are known to be separated."""
        return f"{int(self.state.tally[rules.NEEDED, 0])} in a row needed none"

    def eta(self) -> float:
        """The step at which it stands."""
        return rate(self.schedule, max(1, int(self.state.tally[rules.STEPS, 0])))

    def record(self, epoch: int, loss: float) -> None:
        self.epochs.record(
            k=epoch, corrections=self.corrections(), samples=self.samples(), step=self.eta(), objective=loss
        )


def begin(options: Any, objective: PointwiseObjective, start: Array, repeats: bool = True) -> Run:
    """A run of `SingleSample` with these options from these weights; ``repeats``: weights may be counts."""
    criterion = objective.criterion
    kind, margin, positive = _rule(criterion)
    by_margin = Oracle.MARGIN in objective.oracles
    A = aligned_weights(start)
    q = start.shape[1]
    schedule = make_schedule(options.step)
    steps = (schedule.rate, schedule.power, schedule.delay) if isinstance(schedule, Power) else (1.0, 0.0, 0.0)
    tally = np.zeros((8, q), np.int64)
    tally[rules.ONE] = objective.intercept
    count = repeated_rows(objective.blocks) if repeats else None
    tally[rules.NEEDED] = _needed(objective, by_margin, options.order == "shuffled", count is not None)
    state = State(
        A,
        kind,
        margin,
        steps,
        shrink=0.0 if objective.penalty is None else objective.penalty.strength,
        threshold=float(options.threshold),
        factor=np.ones(q),
        tally=tally,
        losses=np.zeros(q) if options.improvement is not None or options.callback is not None else NONE,
        drift=np.zeros_like(A) if options.keep == "average" else np.empty((0, 0)),
        pocket=A.copy() if options.keep == "pocket" else np.empty((0, 0)),
        coupled=criterion.coupled,
        positive=positive,
        worst=isinstance(criterion, Kesler) and criterion.over == "worst",
    )
    if criterion.coupled and (options.keep == "pocket" or options.threshold > 0):
        raise MismatchError(
            f"SingleSample has no pocket and no threshold θ for outputs that learn together, as those of criterion "
            f"{type(criterion).__name__} do; use keep='average' and tolerance instead."
        )
    if kind == rules.SOFTMAX and options.trace:
        raise MismatchError(
            "SingleSample traces corrections of one output or one rival at a time, and criterion Softmax moves all "
            "outputs with every sample; use callback to look at the weights after each epoch."
        )
    history = Corrections(objective=objective, start=start) if options.trace else History()
    rng = np.random.default_rng(options.random_state)
    rows = (int(objective.blocks.n_rows) if count is None else count) * (1 if criterion.coupled else q)
    shuffled, fast = options.order == "shuffled", options.engine != "numpy"
    return Run(objective, state, schedule, shuffled, count is not None, rng, rows, by_margin, history, fast)


def repeated_rows(blocks: ArrayBlocks) -> int | None:
    """Σ w where the weights are counts, so that a row of weight 2 is presented twice; None: each row comes once.

    A weight that is no count is a factor on the step, and so are all weights where one of them is none, or where
    their rows would be too many to be presented one by one.

    >>> from discriminant.data import make_blocks
    >>> X, codes = np.ones((3, 1)), np.array([0, 1, 1])
    >>> repeated_rows(make_blocks(X, codes, np.array([2.0, 0.0, 1.0])))
    3
    >>> repeated_rows(make_blocks(X, codes, np.array([2.0, 0.5, 1.0]))) is None
    True
    """
    if blocks.weight is None:
        return None
    total, broken = blocks.reduce(_counts)
    most = max(int(blocks.n_rows), REPEATED_ROWS)
    return int(total) if not broken and total <= most else None


def _counts(block: Block) -> Array:
    """(Σ w, how many w are no integers)."""
    weight = np.asarray(block.weight)
    return np.array([weight.sum(), np.count_nonzero(weight != np.floor(weight))])


def _rule(criterion: Pointwise) -> tuple[int, float, float]:
    """(kind, margin, label of the positive class)."""
    if isinstance(criterion, Softmax) and not criterion.reference:
        return rules.SOFTMAX, 0.0, 1.0
    base = criterion.single
    for known, kind in _KINDS:
        if isinstance(base, known):
            return kind, float(base.margin), float(base.labels[1])
    raise MismatchError(
        f"Optimizer SingleSample knows no rule for criterion {criterion!r}; use GradientDescent or LBFGS, or one of "
        f"Perceptron, Relaxation, Quadratic, Squared, Logistic, SigmoidSquared, Softmax, or Kesler of the first six."
    )


def _needed(objective: PointwiseObjective, by_margin: bool, shuffled: bool, repeats: bool) -> Array | int:
    """How many samples in a row must need no correction: all that take part, or, by Kesler, all their pairs.

    In a new order each epoch n in a row may hold a sample twice and another not at all; 2n − 1 hold a whole epoch.
    """
    if not by_margin:
        return NEVER
    blocks, coding = objective.blocks, objective.coding
    if isinstance(blocks, ArrayBlocks) and blocks.weight is None and (coding is None or coding.care.all()):
        taking_part = np.full(objective.n_outputs, blocks.n_rows)  # everyone: no need to count
    else:
        taking_part = np.asarray(blocks.reduce(_TakingPart(coding, objective.n_outputs, repeats)))
    criterion = objective.criterion
    if isinstance(criterion, Kesler) and criterion.over == "all":
        taking_part = taking_part * (objective.n_outputs - 1)
    return 2 * taking_part - 1 if shuffled else taking_part


@dataclass(frozen=True)
class _TakingPart:
    """(q,): rows that take part in each output with a positive weight, or as often as their weight says."""

    coding: Any
    n_outputs: int
    repeats: bool

    def __call__(self, block: Block) -> Array:
        weight = block.weight
        live = None if weight is None else np.asarray(weight if self.repeats else weight > 0, dtype=np.float64)
        if self.coding is None:
            return np.full(self.n_outputs, block.rows if live is None else int(live.sum()))
        counts = np.bincount(np.asarray(block.target), live, minlength=self.coding.n_classes)
        return np.asarray(counts @ self.coding.care).astype(np.int64)


def _in_rows(rows: Any) -> bool:
    """Whether the kernels can read the source as it lies: C-ordered floats, or CSR of floats."""
    if isinstance(rows, SparseRows):
        return rows.X.dtype in (np.float64, np.float32)
    return isinstance(rows, DenseRows) and rows.X.flags.c_contiguous and rows.X.dtype in (np.float64, np.float32)


def _plain(design: Any) -> Any:
    """A block's rows as the kernels take them."""
    raw = design.raw
    if isinstance(raw, np.ndarray):
        kept = raw.dtype in (np.float64, np.float32)
        return np.ascontiguousarray(np.asarray(raw) if kept else design.values)
    return design.values if raw.dtype not in (np.float64, np.float32) else raw
