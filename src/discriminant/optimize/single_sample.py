"""Single-sample procedures: the samples come one after the other, and each corrects the weights at once.

    perceptron, fixed increment          a ← a + y                     where a·y ≤ 0       step 1
    variable increment with margin       a ← a + η(k) y                where a·y ≤ b       step η(k)
    relaxation                           a ← a + η (b − a·y)/‖y‖² y    where a·y ≤ b       0 < η < 2
    Widrow–Hoff (LMS)                    a ← a + η(k) (t − a·y) y      always              η₁/k
    logistic, softmax, squared sigmoid   a ← a − η(k) ℓ'(t, a·y) y     always

and through Kesler's construction for many classes.  A criterion that is zero beyond a margin has separated the data
when n samples in a row needed no correction: then the run ends and says after how many corrections.  The others end
when the weights settle, or with the first step shorter than θ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from discriminant.arguments import BOOLEAN, CALLABLE, FROM_ZERO, NOT_NEGATIVE, RANDOM, among, checked, optional
from discriminant.criteria import Quadratic, Relaxation
from discriminant.errors import MismatchError, counted
from discriminant.kernels.rules import DONE, STEPS
from discriminant.objective import PointwiseObjective
from discriminant.optimize.iterative import NOT_A_NUMBER, STOPPED, Step, documented, of_solutions, starting_weights
from discriminant.optimize.needs import require, require_rows
from discriminant.optimize.progress import stepped
from discriminant.optimize.promise import promise
from discriminant.optimize.schedules import STEP, Schedule
from discriminant.optimize.sequence import Run, begin
from discriminant.penalties import Ridge
from discriminant.protocols import Array, Oracle, Solution

NEAR = 0.02  # J within this part of its minimum counts as arrived, for a procedure that comes near and never arrives
EXACT = 1e-6  # of J at the origin, below which the targets are met


@of_solutions.documented
@dataclass(frozen=True)
class SequentialSolution(Solution):
    """A solution with the number of corrections and of samples it took.

    ``passes`` counts epochs, ``corrections`` the samples that changed the weights.

    Attributes
    ----------
    corrections : int
        How often the weights were corrected.
    samples : int
        Samples met.
    each : tuple of int
        Corrections of each output; of all together where they are coupled.
    iterations : int
        Epochs.
    weights, status, converged, passes, objective, gradient_norm, history, notes, bound

    See Also
    --------
    SingleSample : Returns one.

    >>> SequentialSolution(np.zeros((2, 1)), "Separated.", True, corrections=5).corrections
    5
    """

    corrections: int = 0
    samples: int = 0
    each: tuple[int, ...] = ()  # corrections of each output; of all together where they are coupled


@documented
@dataclass(frozen=True)
@checked(
    step=STEP,
    order=among("cyclic", "shuffled"),
    epochs=FROM_ZERO,
    keep=among("last", "average", "pocket"),
    threshold=NOT_NEGATIVE,
    tolerance=NOT_NEGATIVE,
    improvement=optional(NOT_NEGATIVE),
    patience=FROM_ZERO,
    random_state=RANDOM,
    trace=BOOLEAN,
    callback=optional(CALLABLE),
    evaluate=BOOLEAN,
    engine=among("auto", "numpy", "compiled"),
)
class SingleSample:
    """One sample at a time: a ← a − η(k) ∇ℓ of the next sample (Duda, Hart and Stork 5.5–5.8, PRML 4.1.7).

    With the perceptron criterion only misclassified samples correct the weights; with the squared one every sample
    does.  Row weights that are all integers are counts: a row of weight 2 comes twice, as if it stood in the data
    twice.  Other weights are factors on the step, and so are counts of more than ten million rows.

    Parameters
    ----------
    step : float, Schedule or callable, default=1.0
        η(k); k counts corrections where right samples are left alone, else samples.
    order : {"cyclic", "shuffled"}, default="cyclic"
        The order of the samples in an epoch.
    epochs : int, default=1000
        Passes at most.
    keep : {"last", "average", "pocket"}, default="last"
        Return the last weights, their average over all samples, or those of the longest run of right answers.
    threshold : float, default=0.0
        θ: end with the first step shorter than it (0: do not).
    tolerance : float, default=0.0
        End when an epoch changes the weights by less than this part of their length (0: do not).
    improvement : float or None, default=None
        End when the mean loss met on the way has not fallen by this for ``patience`` epochs.
    patience : int, default=5
        Epochs without improvement that end the run.
    trace : bool, default=False
        Keep row and size of every correction; ``history.weights()`` replays them.
    callback : callable or None, default=None
        Called with a ``Step`` after each epoch; ends the run by returning True.
    evaluate : bool, default=True
        Compute J at the end (a pass).
    engine : {"auto", "numpy", "compiled"}, default="auto"
        "numpy" never uses the compiled kernels; the others do wherever the installation has them.

    See Also
    --------
    discriminant.Perceptron : The method that uses it.
    discriminant.Adaline : The same with the squared criterion.

    >>> X, y = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, 2.0]], [0, 0, 0, 1]
    >>> Discriminant(criterion="perceptron", optimizer=SingleSample()).fit(X, y).score(X, y)
    1.0
    """

    step: float | Schedule = 1.0
    order: Literal["cyclic", "shuffled"] = "cyclic"
    epochs: int = 1000
    keep: Literal["last", "average", "pocket"] = "last"
    threshold: float = 0.0
    tolerance: float = 0.0
    improvement: float | None = None
    patience: int = 5
    random_state: Any = None
    trace: bool = False
    callback: Callable[[Step], Any] | None = None
    evaluate: bool = True
    engine: Literal["auto", "numpy", "compiled"] = "auto"
    needs: ClassVar[Oracle] = Oracle.VALUE | Oracle.GRADIENT

    def minimize(self, objective: Any, start: Array) -> SequentialSolution:
        """Run epochs until one of the ends that were asked for.

        Returns
        -------
        SequentialSolution
            With corrections and samples counted.
        """
        require(self, objective)
        rows = require_rows(self, objective)
        self._check(rows)
        first = starting_weights(rows, start)
        if rows.blocks.scattered:
            from discriminant.optimize.mixing import begin_mixed

            run: Run = begin_mixed(self, rows, first)
        else:
            run = begin(self, rows, first)
        status, converged, epoch, best, idle = "", False, 0, np.inf, 0
        A = run.weights()
        for epoch in range(1, self.epochs + 1):
            before = A
            met = run.epoch()
            run.record(epoch, met)
            A = run.weights()
            watcher_stops = stepped(lambda: run.kept(self.keep)[0])
            with np.errstate(over="ignore"):
                length = float(np.linalg.norm(A))
            if not np.isfinite(length):
                status = self._overflowed(run, epoch, before)
                if not np.isfinite(A).all():
                    run.restore(before)
                break
            if run.ended():
                status, converged = self._done(run, epoch)
                break
            if self.tolerance > 0 and np.linalg.norm(A - before) <= self.tolerance * length:
                why = f"the last moved the weights by less than {self.tolerance:g} of their length"
                status, converged = self._settled(run, epoch, why)
                break
            if self.improvement is not None:
                idle = 0 if met < best - self.improvement else idle + 1
                best = min(best, met)
                if idle >= self.patience:
                    fell = f"had not fallen by {self.improvement:g} for {counted(self.patience, 'epoch')}"
                    why = f"the mean loss met on the way, {met:.6g}, {fell}"
                    status, converged = self._settled(run, epoch, why)
                    break
            if watcher_stops or (
                self.callback is not None
                and self.callback(Step(epoch, met, float("nan"), run.eta(), run.corrections(), A))
            ):
                status = STOPPED.format(k=epoch)
                break
        return self._solution(run, status or self._unfinished(run), converged, epoch)

    def once(self, objective: Any, start: Array) -> tuple[Array, tuple[int, ...], int]:
        """One epoch and nothing else, for learning in parts.

        Returns
        -------
        tuple (weights, corrections of each output, samples met)
            Where the epoch left off.
        """
        require(self, objective)
        rows = require_rows(self, objective)
        self._check(rows)
        run = begin(self, rows, starting_weights(rows, start))
        run.epoch()
        return run.weights(), tuple(run.counts(STEPS).tolist()), run.samples()

    def _check(self, rows: PointwiseObjective) -> None:
        """Refuse what the sequential rules have no form for."""
        penalty = rows.penalty
        if penalty is None:
            return
        if not isinstance(penalty, Ridge) or penalty.factors is not None or rows.criterion.coupled:
            raise MismatchError(
                f"Optimizer SingleSample takes no penalty, or Ridge of one strength with outputs that learn apart; not "
                f"{type(penalty).__name__} with {type(rows.criterion).__name__}. Use LBFGS or ProximalGradient."
            )
        if self.keep != "last" or self.trace:
            raise MismatchError("Optimizer SingleSample keeps averages, pockets and traces without a penalty only.")

    def _done(self, run: Run, epoch: int) -> tuple[str, bool]:
        """How a run ended that every sample has passed, or in which a step was shorter than θ."""
        if not run.by_margin:
            return self._settled(run, epoch, f"a step was shorter than θ = {self.threshold:g}")
        made = f"{counted(run.corrections(), 'correction')} in {counted(epoch, 'epoch')}"
        base = run.objective.criterion.single
        if isinstance(base, Quadratic | Relaxation) and base.margin == 0:
            return (
                f"Converged after {made}: no sample lies on the "
                "wrong side by more than rounding. Without a margin this criterion ends on the boundary of "
                "the solution region; with margin > 0 it ends inside."
            ), True
        if self.keep == "average":
            wrong = int(run.objective.sides(run.kept(self.keep)[0])[0].sum())
            if wrong:
                return (
                    f"Ended after {made}: the last weights put every sample on its side, but their average, which is "
                    f"handed back, has {counted(wrong, 'sample')} on the wrong one."
                ), False
        return f"Converged: the samples are separated after {made}; {run.proof()}.", True

    def _settled(self, run: Run, epoch: int, why: str) -> tuple[str, bool]:
        return settled(run.objective, run.kept(self.keep)[0], run.by_margin, counted(epoch, "epoch"), why)

    def _overflowed(self, run: Run, epoch: int, before: Array) -> str:
        """How a run ended whose weights, or their squares, are no numbers any more."""
        if epoch == 1 and not np.isfinite(run.objective.value(before)):
            return NOT_A_NUMBER
        return f"Diverged in epoch {epoch}: the weights overflow; take a shorter step than η = {run.eta():g}."

    def _unfinished(self, run: Run) -> str:
        k, q = run.corrections(), len(run.state.A)
        if not run.by_margin:
            return (
                f"Ended after {counted(self.epochs, 'epoch')} and {counted(k, 'correction')}; nothing says that the "
                "weights have settled."
            )
        apart = f", with {run.counts(DONE).sum()} of {q} outputs done" if q > 1 and not run.state.coupled else ""
        last = run.last_corrections()
        near = last <= 0.05 * run.rows_per_epoch  # few enough to be worth a pass to look
        if near and not run.objective.sides(run.weights())[0].any():
            return (
                f"Not converged: after {counted(self.epochs, 'epoch')} and {counted(k, 'correction')} every "
                f"sample is on its side, but they have not yet gone through without a correction "
                f"(margin b = {run.state.margin:g}){apart}."
            )
        return (
            f"Not converged: the last of {counted(self.epochs, 'epoch')} still made {counted(last, 'correction')} of "
            f"{k:,} in all{apart}. Whether the samples can be separated at all, discriminant.separability(X, y) "
            "decides."
        )

    def _solution(self, run: Run, status: str, converged: bool, epoch: int) -> SequentialSolution:
        A, note = run.kept(self.keep)
        with np.errstate(over="ignore", invalid="ignore"):
            value = run.objective.value(A) if self.evaluate else float("nan")
        return SequentialSolution(
            A, status, converged, passes=epoch + self.evaluate, iterations=epoch, objective=value,
            history=run.history, notes=(note,) if note else (), corrections=run.corrections(), samples=run.samples(),
            each=tuple(run.counts(STEPS).tolist()),
        )  # fmt: skip


def settled(objective: PointwiseObjective, A: Array, by_margin: bool, epochs: str, why: str) -> tuple[str, bool]:
    """How a run ended that was not seen to arrive, and whether it is near the minimum: what a Newton step promises.

    Short steps say little, since they may have faded on the way.
    """
    if by_margin:  # the samples are not separated, and steps of one length have no minimum to settle at
        return f"Ended after {epochs}: {why}.", False
    with np.errstate(over="ignore", invalid="ignore"):
        J, slope = objective.value_and_gradient(A)
        left = promise(objective, A, slope, 0.0).fall
        near = left <= NEAR * max(J - left, EXACT * objective.value(np.zeros_like(A)))
    ended = "Ended near the minimum" if near else "Not converged"
    return f"{ended} after {epochs}: {why}; a Newton step promises to lower J = {J:.6g} by {left:.2g}.", bool(near)
