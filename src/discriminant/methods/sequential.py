"""Methods that may learn sample by sample, and go on with the next part of the data."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discriminant.arrays import as_dense, in_memory, is_sparse
from discriminant.bases.expansion import generator
from discriminant.data import ArrayBlocks, DenseRows, SparseRows
from discriminant.errors import DataError, NotAvailableError, ParameterError, counted
from discriminant.methods.criterion import CriterionMethod, Task, too_long
from discriminant.methods.fit import Fit, Sample
from discriminant.methods.parameters import EpochParameters
from discriminant.methods.parts import require_known_weights
from discriminant.objective import PointwiseObjective
from discriminant.optimize import GradientDescent, Power, SequentialSolution, SingleSample, make_schedule
from discriminant.optimize.choose import Choice
from discriminant.optimize.iterative import NOT_A_NUMBER
from discriminant.optimize.sequence import repeated_rows
from discriminant.protocols import Array, Certificate, Solution
from discriminant.thresholds import EVALUATED_VALUES

Split = Callable[[Array, float, int], tuple[Array, Array]]  # (codes, fraction, seed) ↦ rows to learn from, to ask


@dataclass(frozen=True)
class Progress:
    """Where learning in parts has come to."""

    weights: Array | None = None
    corrections: Array | None = None
    samples: int = 1  # t
    schedule: Any = None  # the steps that the first part chose

    @classmethod
    def of(cls, held: Mapping[str, Any]) -> Progress:
        """Where the earlier parts have led, from the attributes that they left."""
        if "discriminant_" not in held:
            return cls()
        A, corrections = np.array(held["discriminant_"].weights), in_memory(held["corrections_"])
        return cls(A, corrections, held["t_"], held.get("_schedule"))


class SequentialMethod(EpochParameters, CriterionMethod):
    """Epochs of single samples, or batches."""

    tol: Any
    pocket: bool = False

    freedom = "none"  # type: ignore[assignment]  # steps are in the units of X

    # What a subclass says

    @abstractmethod
    def procedure(self, objective: PointwiseObjective, progress: Progress | None) -> tuple[Any, Choice, Any]:
        """The optimizer, why, and the steps; ``progress``: where the earlier parts ended, of a fit in parts."""

    @property
    def kept_weights(self) -> str:
        """Which weights of the run are handed back."""
        return "average" if self.average else "pocket" if self.pocket else "last"

    def batches(self, step: Any, threshold: float) -> GradientDescent:
        """All samples at once."""
        return GradientDescent(
            step=step, threshold=threshold, iterations=self.max_iter, trace=self.trace, count_errors=self.trace,
            callback=self.callback,
        )  # fmt: skip

    def samples(self, step: Any, progress: Progress | None, **ends: Any) -> SingleSample:
        """One sample after the other; ``ends``: what else the run ends by."""
        return SingleSample(
            step=self.later(step, progress), order="shuffled" if self.shuffle else "cyclic", epochs=self.max_iter,
            keep=self.kept_weights, random_state=generator(self.random_state), trace=self.trace,  # type: ignore[arg-type]
            callback=self.callback, **ends,
        )  # fmt: skip

    # Learning

    def fit(
        self, sample: Sample, start: Array | None = None, given: Array | None = None, split: Split | None = None
    ) -> Fit:
        """Learn from all rows; ``given``: weights to begin with; ``split``: sets rows aside for early stopping."""
        notes = self.check()
        task = self.task(sample)
        shape = (task.objective.n_parameters, task.objective.n_outputs)
        if given is not None and given.shape != shape:
            raise ParameterError(
                f"coef_init has shape {given[1:].T.shape}; there are {shape[1]} outputs and {shape[0] - 1} features."
            )
        task = self._hold_out(task, split) if self.early_stopping else task
        return self.run(task, start if given is None else given, notes)

    def require_parts(self) -> None:
        """Refuse what does not go on from the last weights."""
        if self.mode != "single-sample" or self.kept_weights != "last":
            raise NotAvailableError(
                f"partial_fit goes on from the last weights, sample by sample: {self.estimator} has it in "
                "mode='single-sample', without averages and pockets."
            )
        require_known_weights(self.class_weight)

    def part(self, sample: Sample, held: Mapping[str, Any]) -> Fit:
        """One more epoch, over these rows, from where the weights are."""
        notes, progress = self.check(), Progress.of(held)
        rows, _ = self._rows(sample)
        criterion, coding, penalty, _ = self.choose(rows, sample.classes)
        objective = PointwiseObjective(rows, criterion, coding, penalty, intercept=bool(self.fit_intercept))
        made, choice, steps = self.procedure(objective, progress)
        task = Task(sample, rows, objective, made, choice)
        first = self.starting_weights(objective) if progress.weights is None else progress.weights
        A, each, _ = replace(made, improvement=None, trace=False, callback=None).once(objective, first)
        if not np.isfinite(A).all():
            sample.require_finite(self.estimator)
            raise DataError(too_long(objective))
        discriminant, state = self.weights(task, A)
        before = 0 if progress.corrections is None else progress.corrections
        state |= {"corrections_": before + np.array(each, dtype=np.int64), "n_iter_": 1}
        state |= {"t_": progress.samples + samples_of(rows)} | ({} if steps is None else {"_schedule": steps})
        return Fit(self, discriminant, state, tuple(notes))

    def optimizer_for(self, objective: PointwiseObjective, chosen: Any) -> tuple[Any, Choice]:
        return self.procedure(objective, None)[:2]

    def solve(self, task: Task, start: Array) -> Solution:
        solution = super().solve(task, start)
        held = task.optimizer.callback
        if isinstance(held, HeldOut) and held.stopped:
            return replace(solution, status=held.sentence(), converged=True)
        return solution

    def details(self, task: Task, solution: Solution, certificate: Certificate) -> dict[str, Any]:
        each = (solution.each if isinstance(solution, SequentialSolution) else ()) or [solution.iterations]
        samples = 1 + int(solution.iterations) * samples_of(task.objective.blocks)
        return {"corrections_": np.array(each, dtype=np.int64), "t_": samples}

    def went_wrong(self, solution: Solution) -> bool:
        if not np.isfinite(solution.weights).all() or np.isinf(solution.objective):
            return True
        broke_off = solution.status.startswith(("Diverged", NOT_A_NUMBER[:20]))
        return bool(np.isnan(solution.objective)) and (broke_off or not isinstance(solution, SequentialSolution))

    def evaluates_end(self, objective: PointwiseObjective) -> bool:
        """Whether J is worked out after the run: a pass that costs more than an epoch, where the rows are many."""
        return int(objective.blocks.n_rows) * objective.n_parameters <= EVALUATED_VALUES

    def later(self, schedule: Any, progress: Progress | None) -> Any:
        """η(k) for samples after those of earlier parts: k goes on."""
        if progress is None:
            return schedule
        made = make_schedule(schedule)
        if isinstance(made, Power) and made.power and progress.samples > 1 and progress.corrections is not None:
            return replace(made, delay=made.delay + float(progress.corrections.max()))
        return made

    def check_mode(self) -> None:
        """Refuse, in batch mode, what belongs to epochs of single samples."""
        chosen = [name for name in ("average", "pocket", "early_stopping") if getattr(self, name)]
        if chosen and self.mode == "batch":
            raise ParameterError(
                f"{chosen[0]}=True belongs to mode='single-sample'; {self.estimator} has mode='batch'. Change one "
                "of them: averages, pockets and early stopping follow the samples from epoch to epoch."
            )

    def _hold_out(self, task: Task, split: Split | None) -> Task:
        """Set rows aside, by class, and ask them after each epoch."""
        if split is None:
            raise ParameterError("early_stopping needs scikit-learn's splits, which the estimators bring along.")
        blocks, codes = task.objective.blocks, np.asarray(task.objective.blocks.target)
        seed = int(generator(self.random_state).integers(2**31 - 1))
        learn, ask = split(codes, float(self.validation_fraction), seed)
        rows: Any = blocks.rows
        if not np.isfinite(as_dense(rows.pick(ask).values).sum()):  # the sums of the others would not show it
            task.sample.require_finite(self.estimator)
        held = HeldOut(
            rows.pick(ask), codes[ask], None if blocks.weight is None else blocks.weight[ask], task.objective, self.tol,
            self.n_iter_no_change, task.optimizer.callback,
        )  # fmt: skip
        raw = rows.pick(learn).raw
        kept = SparseRows(raw.tocsr()) if is_sparse(raw) else DenseRows(raw)
        weight = None if blocks.weight is None else blocks.weight[learn]
        objective = replace(task.objective, blocks=ArrayBlocks(kept, codes[learn], weight))
        optimizer = replace(task.optimizer, callback=held, improvement=None)
        return replace(task, objective=objective, optimizer=optimizer)


def samples_of(blocks: ArrayBlocks) -> int:
    """The samples of an epoch: rows, or what their weights count."""
    count = repeated_rows(blocks)
    return int(blocks.n_rows) if count is None else count


@dataclass
class HeldOut:
    """Rows that are asked after each epoch, and end the run when they have stopped getting better."""

    design: Any
    codes: Array
    weight: Array | None
    objective: PointwiseObjective
    tol: Any
    patience: int
    also: Any = None
    best: float = -np.inf
    idle: int = 0
    epochs: int = 0
    stopped: bool = False

    def __call__(self, step: Any) -> bool:
        assert self.objective.coding is not None
        right = self.objective.coding.decide(self.design.scores(step.weights)) == self.codes
        score = float(np.average(right, weights=self.weight))
        self.epochs += 1
        self.idle = self.idle + 1 if score < self.best + (self.tol or 0.0) else 0
        self.best = max(self.best, score)
        self.stopped = self.idle >= self.patience
        return self.stopped or (self.also is not None and bool(self.also(step)))

    def sentence(self) -> str:
        """What happened, in words."""
        return (
            f"Stopped early after {counted(self.epochs, 'epoch')}: of {counted(len(self.codes), 'held-out row')} a "
            f"share of {self.best:.4g} was right at best, and {counted(self.patience, 'epoch')} had not raised that by "
            f"{self.tol or 0.0:g}."
        )
