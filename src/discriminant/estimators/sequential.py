"""What the methods share that learn sample by sample: parts of data, held-out rows, starting weights, η(k).

Parameters carry scikit-learn's names where it has them: ``max_iter`` epochs, ``tol``, ``shuffle``, ``eta0``,
``early_stopping`` with ``validation_fraction`` and ``n_iter_no_change``, ``warm_start``.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Self

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from discriminant.bases.expansion import generator
from discriminant.data import ArrayBlocks, DenseRows, OriginRows, SparseRows
from discriminant.data.rows import is_sparse
from discriminant.errors import DataError, ParameterError, counted, names
from discriminant.estimators.discriminative import DiscriminativeClassifier, Reading, Task, too_long
from discriminant.estimators.features import fit_features
from discriminant.estimators.inputs import all_or_nothing
from discriminant.estimators.logistic_parameters import class_weights
from discriminant.objective import PointwiseObjective
from discriminant.optimize import Power, SequentialSolution, make_schedule
from discriminant.optimize.choose import Choice
from discriminant.optimize.iterative import NOT_A_NUMBER
from discriminant.protocols import Array, Solution

LOOK_BACK = 2_000_000  # values of X up to which J and the errors are always counted after the run


class SequentialClassifier(DiscriminativeClassifier):
    """A classifier that may learn sample by sample, and go on with the next part of the data."""

    corrections_: Array

    # Learning

    @all_or_nothing
    def fit(  # type: ignore[override]  # scikit-learn's order of arguments, which its users write without names
        self, X: Any, y: Any = None, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn from rows and labels, optionally from given weights on.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or source of shape (n, d)
            The rows; a source is a ``scan``, a Dask collection or an array on a device.
        y : array-like of shape (n,), default=None
            The labels; None where the source holds them.
        coef_init : array-like of shape (q, d̂) or None, default=None
            The weights to begin with.
        intercept_init : array-like of shape (q,) or None, default=None
            The intercepts to begin with.
        sample_weight : array-like of shape (n,) or None, default=None
            How often each row counts; None: once.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        DataError
            Where the rows cannot be learned from; the sentence names the column, class or row.
        ParameterError
            Where a parameter makes no sense; the sentence names it.

        Examples
        --------
        >>> from discriminant import Perceptron
        >>> X, y = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, 2.0]], [0, 0, 0, 1]
        >>> Perceptron(shuffle=False, tol=None).fit(X, y).n_iter_
        3
        >>> Perceptron(shuffle=False, tol=None).fit(X, y, coef_init=[[1.0, 1.0]], intercept_init=[-2.0]).n_iter_
        1
        """
        self._check_parameters()
        given = self._given_start(coef_init, intercept_init)
        task = self._task(self._read(X, y, sample_weight))
        start = self._start(task) if given is None else _shaped(given, task.objective)
        held = None
        if getattr(self, "early_stopping", False):
            held, task = self._hold_out(task)
        self._fresh_counts(task)
        with np.errstate(over="ignore", invalid="ignore"):  # told below, with the column
            solution = self._run(task, start)
        if self._went_wrong(solution):
            self._require_finite(task.reading, np.full(1, np.nan))
        if held is not None and held.stopped:
            solution = dataclasses.replace(solution, status=held.sentence(), converged=True)
        return self._keep(task, solution)

    def _takes_parts(self) -> bool:
        if getattr(self, "mode", "single-sample") == "single-sample" and self._kept_weights() == "last":
            return True
        raise AttributeError(
            f"partial_fit goes on from the last weights, sample by sample: {type(self).__name__} has it in "
            "mode='single-sample', without averages and pockets."
        )

    def _kept_weights(self) -> str:
        return "last"

    def _looks_back(self, objective: PointwiseObjective) -> bool:
        """Whether J is worked out after the run: a pass that costs more than an epoch, where the rows are many."""
        return int(objective.blocks.n_rows) * objective.n_parameters <= LOOK_BACK

    def _went_wrong(self, solution: Solution) -> bool:
        if not np.isfinite(solution.weights).all() or np.isinf(solution.objective):
            return True
        broke_off = solution.status.startswith(("Diverged", NOT_A_NUMBER[:20]))
        return bool(np.isnan(solution.objective)) and (broke_off or not isinstance(solution, SequentialSolution))

    def _freedom(self) -> str:
        return "none"  # steps are in the units of X

    @available_if(_takes_parts)
    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """One more epoch, over these rows, from where the weights are.

        The rows are not kept; ``corrections_`` and ``t_`` go on counting.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or source of shape (n, d)
            The rows; a source is a ``scan``, a Dask collection or an array on a device.
        y : array-like of shape (n,)
            The labels.
        classes : array-like of shape (K,) or None, default=None
            All labels; needed on the first call only.
        sample_weight : array-like of shape (n,) or None, default=None
            How often each row counts; None: once.

        Returns
        -------
        self
            The fitted estimator.

        Examples
        --------
        >>> from discriminant import Perceptron
        >>> X, y = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, 2.0]], [0, 0, 0, 1]
        >>> model = Perceptron(shuffle=False).partial_fit(X, y, classes=[0, 1])
        >>> model.partial_fit(X, y).t_
        9
        """
        self._check_parameters()
        reading = self._read_part(X, y, classes, sample_weight)
        task = self._task(reading, in_parts=True)
        known = hasattr(self, "discriminant_")
        start = np.array(self.discriminant_.weights) if known else self._starting_weights(task.objective)
        if not known:
            self._fresh_counts(task)
        optimizer = dataclasses.replace(task.optimizer, improvement=None, trace=False, callback=None)
        A, each, _ = optimizer.once(task.objective, start)
        self._require_finite(reading, A)
        self._set_weights(reading, task.objective, A)
        self.corrections_ = self.corrections_ + np.array(each)
        self.n_iter_ = 1
        self.t_ += reading.blocks.n_rows
        return self

    def _run(self, task: Task, start: Array) -> Solution:
        solution: Solution = task.optimizer.minimize(task.objective, start)
        return solution

    def _fresh_counts(self, task: Task) -> None:
        q = 1 if task.objective.criterion.coupled else task.objective.n_outputs
        self.corrections_ = np.zeros(q, dtype=np.int64)
        self.t_ = 1

    def _keep(self, task: Task, solution: Solution) -> Self:
        super()._keep(task, solution)
        self.corrections_ = np.array(getattr(solution, "each", ()) or [solution.iterations], dtype=np.int64)
        self.t_ = 1 + int(solution.iterations) * task.reading.blocks.n_rows
        return self

    # Reading

    def _read_part(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> Reading:
        known = hasattr(self, "discriminant_")
        if known:
            if classes is not None and not np.array_equal(np.unique(np.asarray(classes)), self.classes_):
                raise DataError(f"classes differ from those of the first call, {names(list(self.classes_))}.")
            labels = self.classes_
        elif classes is None:
            raise DataError("classes must be passed on the first call to partial_fit: all labels that will ever come.")
        else:
            labels = np.unique(np.asarray(classes))
        given = getattr(self, "class_weight", None)
        if isinstance(given, str):
            raise ParameterError(
                f"class_weight '{given}' is not supported for partial_fit, which does not see all rows at once; "
                "give the weights as a dictionary."
            )
        sample = self._read_sample(X, y, sample_weight, labels)
        factors = class_weights(given, labels, np.ones(len(labels)))
        weight = sample.weight
        if factors is not None:
            weight = factors[sample.codes] if weight is None else factors[sample.codes] * weight
        features = self._features if known else fit_features(getattr(self, "basis", None), X, labels[sample.codes])
        rows: Any = sample.blocks.rows if features is None else features.training_rows(X)
        rows = rows if getattr(self, "fit_intercept", True) else OriginRows(rows)
        return Reading(X, ArrayBlocks(rows, sample.codes, weight), labels, features, sample.dtype)

    def _task(self, reading: Reading, in_parts: bool = False) -> Task:
        criterion, coding, penalty, _ = self._choose(reading)
        objective = PointwiseObjective(reading.blocks, criterion, coding, penalty)
        optimizer, choice = self._procedure(objective, in_parts)
        return Task(reading, objective, optimizer, choice)

    def _procedure(self, objective: PointwiseObjective, in_parts: bool) -> tuple[Any, Choice]:
        raise NotImplementedError(f"{type(self).__name__} must say how it goes through the samples.")

    def _later(self, schedule: Any) -> Any:
        """η(k) for samples after those of earlier ``partial_fit`` calls: k goes on."""
        made = make_schedule(schedule)
        if isinstance(made, Power) and made.power and getattr(self, "t_", 1) > 1:
            return dataclasses.replace(made, delay=made.delay + float(self.corrections_.max()))
        return made

    def _given_start(self, coef: Any, intercept: Any) -> Array | None:
        if coef is None and intercept is None:
            return None
        if coef is None:
            raise ParameterError("intercept_init says where the intercepts start; give coef_init with it.")
        slopes = np.atleast_2d(np.asarray(coef, dtype=np.float64))
        first = np.zeros(len(slopes)) if intercept is None else np.ravel(np.asarray(intercept, dtype=np.float64))
        if first.shape != (len(slopes),):
            raise ParameterError(f"intercept_init has {first.size} entries and coef_init {len(slopes)} rows.")
        return np.vstack([first, slopes.T])

    # Held-out rows

    def _hold_out(self, task: Task) -> tuple[HeldOut, Task]:
        """Set rows aside, by class, and ask them after each epoch."""
        reading = task.reading
        codes = np.asarray(reading.blocks.target)
        seed = int(generator(self._seed()).integers(2**31 - 1))
        split = StratifiedShuffleSplit(test_size=self._fraction(), random_state=seed)
        try:
            learn, ask = next(split.split(np.zeros((len(codes), 1)), codes))
        except ValueError as error:
            raise DataError(f"early_stopping sets rows of every class aside, and cannot here: {error}") from error
        rows: Any = reading.blocks.rows
        design = rows.pick(ask)
        held = HeldOut(design, codes[ask], task.objective, self.tol, self.n_iter_no_change, task.optimizer.callback)  # type: ignore[attr-defined]
        raw = rows.pick(learn).raw
        kept: Any = SparseRows(raw.tocsr()) if is_sparse(raw) else DenseRows(raw)
        kept = OriginRows(kept) if isinstance(rows, OriginRows) else kept
        weight = None if reading.blocks.weight is None else reading.blocks.weight[learn]
        smaller = dataclasses.replace(reading, blocks=ArrayBlocks(kept, codes[learn], weight))
        objective = dataclasses.replace(task.objective, blocks=smaller.blocks)
        optimizer = dataclasses.replace(task.optimizer, callback=held, improvement=None)
        return held, dataclasses.replace(task, reading=smaller, objective=objective, optimizer=optimizer)

    def _seed(self) -> Any:
        return getattr(self, "random_state", None)

    def _fraction(self) -> float:
        return float(getattr(self, "validation_fraction", 0.1))

    def _check_parameters(self) -> None:
        """Refuse what does not go together, and warn of steps that do not settle."""

    def _check_mode(self) -> None:
        """Refuse, in batch mode, what belongs to epochs of single samples."""
        chosen = [name for name in ("average", "pocket", "early_stopping") if getattr(self, name, False)]
        if chosen and getattr(self, "mode", "single-sample") == "batch":
            raise ParameterError(
                f"{chosen[0]}=True belongs to mode='single-sample'; {type(self).__name__} has mode='batch'. Change one "
                "of them: averages, pockets and early stopping follow the samples from epoch to epoch."
            )

    def _require_finite(self, reading: Reading, A: Array) -> None:
        if not np.isfinite(A).all():
            from discriminant.data import require_finite

            require_finite(reading.blocks.rows, estimator=type(self).__name__)
            raise DataError(too_long(reading.blocks))

    def sparsify(self) -> Self:
        """Turn ``coef_`` into a sparse matrix.

        Returns
        -------
        self
            The same estimator.

        Examples
        --------
        >>> from discriminant import Perceptron
        >>> model = Perceptron().fit([[0.0, 1.0], [2.0, 1.0]], [0, 1]).sparsify()
        >>> model.coef_.shape
        (1, 2)
        """
        from scipy.sparse import csr_matrix

        check_is_fitted(self)
        self.coef_ = csr_matrix(self.coef_)
        return self

    def densify(self) -> Self:
        """Turn ``coef_`` back into an array.

        Returns
        -------
        self
            The same estimator.

        Examples
        --------
        >>> from discriminant import Perceptron
        >>> model = Perceptron().fit([[0.0, 1.0], [2.0, 1.0]], [0, 1])
        >>> model.sparsify().densify().coef_.shape
        (1, 2)
        """
        check_is_fitted(self)
        self.coef_ = np.array(self.discriminant_.coef, dtype=self.coef_.dtype)
        return self


@dataclasses.dataclass
class HeldOut:
    """Rows that are asked after each epoch, and end the run when they have stopped getting better."""

    design: Any
    codes: Array
    objective: PointwiseObjective
    tol: float | None
    patience: int
    also: Any = None
    best: float = -np.inf
    waited: int = 0
    epochs: int = 0
    stopped: bool = False

    def __call__(self, step: Any) -> bool:
        assert self.objective.coding is not None
        score = float(np.mean(self.objective.coding.decide(self.design.scores(step.weights)) == self.codes))
        self.epochs += 1
        self.waited = self.waited + 1 if score < self.best + (self.tol or 0.0) else 0
        self.best = max(self.best, score)
        self.stopped = self.waited >= self.patience
        return self.stopped or (self.also is not None and bool(self.also(step)))

    def sentence(self) -> str:
        """What happened, in words."""
        return (
            f"Stopped early after {counted(self.epochs, 'epoch')}: of {counted(len(self.codes), 'held-out row')} a "
            f"share of {self.best:.4g} was right at best, and {counted(self.patience, 'epoch')} had not raised that by "
            f"{self.tol or 0.0:g}."
        )


def _shaped(A: Array, objective: PointwiseObjective) -> Array:
    shape = (objective.n_parameters, objective.n_outputs)
    if A.shape != shape:
        raise ParameterError(
            f"coef_init has shape {A[1:].T.shape}; there are {shape[1]} outputs and {shape[0] - 1} features."
        )
    return A
