"""What the classifiers that minimise a criterion share: reading, features, targets, learning, deciding.

    J(A) = Σ w ℓ(t, z) / Σ w + λ Ω(A),     z = [1, φ(x)] A

A named method is a choice of ℓ, coding, penalty and optimizer; it says which in ``_choose`` and is otherwise this.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from discriminant.codings import ClassCoding
from discriminant.criteria import Pointwise
from discriminant.data import ArrayBlocks, OriginRows, as_rows, count_classes, encode_labels, require_finite
from discriminant.data.check import check_weights
from discriminant.data.sources import find_source
from discriminant.errors import DataError, MismatchError, names, warn
from discriminant.estimators.compiled import Compiled
from discriminant.estimators.deciding import Deciding
from discriminant.estimators.features import FeatureMap, fit_features
from discriminant.estimators.inputs import all_or_nothing, read_labels
from discriminant.estimators.logistic_parameters import class_weights
from discriminant.estimators.parameters import require_valid
from discriminant.estimators.parts import link_of, prepare_optimizer
from discriminant.estimators.units import in_units_of_X, own_units, warn_of_scales, warn_of_weights
from discriminant.methods.least_squares import needed_coding
from discriminant.model import LinearDiscriminant
from discriminant.objective import PointwiseObjective
from discriminant.optimize import ClosedForm, LinearProgram, MixedInteger, SingleSample
from discriminant.optimize.choose import Choice
from discriminant.optimize.history import History
from discriminant.penalties import WeightPenalty
from discriminant.protocols import Array, Certificate, Solution


@dataclass(frozen=True)
class Reading:
    """Training rows as the criterion sees them: features, class codes, weights."""

    X: Any  # as it was given
    blocks: ArrayBlocks  # of φ(x), with codes (or targets) and weights
    classes: Array
    features: FeatureMap | None
    dtype: Any
    units: tuple[Array, Array] | None = None  # (c, s) where ``blocks`` holds (x − c) / s

    @property
    def counts(self) -> Array:
        """(K,): the weight of each class."""
        return self.blocks.counts(len(self.classes))


@dataclass(frozen=True)
class Task:
    """What is to be minimised, by what, and why so."""

    reading: Reading
    objective: PointwiseObjective
    optimizer: Any
    choice: Choice


class DiscriminativeClassifier(Deciding, Compiled, ClassifierMixin, BaseEstimator):
    """A classifier whose fit is argmin J.  A subclass says in ``_choose`` of which J and by which optimizer."""

    # What a subclass says

    def _choose(self, reading: Reading) -> tuple[Pointwise, ClassCoding | None, WeightPenalty | None, Any]:
        """Criterion, coding, penalty, and an optimizer or its name."""
        raise NotImplementedError(f"{type(self).__name__} must say what it minimises.")

    def _starting_weights(self, objective: PointwiseObjective) -> Array:
        return np.zeros((objective.n_parameters, objective.n_outputs))

    # Learning

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Minimise J over the rows and their labels.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or source of shape (n, d)
            The rows; a source is a ``scan``, a Dask collection or an array on a device.
        y : array-like of shape (n,), default=None
            The labels; None where the source holds them.
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
        >>> from discriminant import Discriminant, datasets
        >>> iris = datasets.load("iris")
        >>> model = Discriminant(criterion="squared").fit(iris.X, iris.y)
        >>> model.coef_.shape, model.certificate_.converged
        ((3, 4), True)
        """
        task = self._task(self._read(X, y, sample_weight))
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows shows in J, and is told with its column
            solution = self._solve(task)
        return self._keep(task, solution)

    def _solve(self, task: Task) -> Solution:
        """argmin J."""
        if isinstance(task.optimizer, LinearProgram | MixedInteger):  # they have no sums in which a NaN would show
            require_finite(task.reading.blocks.rows, estimator=type(self).__name__)
        solution: Solution = task.optimizer.minimize(task.objective, self._start(task))
        return solution

    def plan(self, X: Any, y: Any, sample_weight: Any = None) -> Choice:
        """Which optimizer ``fit`` would use on these data, and why.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or source of shape (n, d)
            The rows; a source is a ``scan``, a Dask collection or an array on a device.
        y : array-like of shape (n,)
            The labels.
        sample_weight : array-like of shape (n,) or None, default=None
            How often each row counts; None: once.

        Returns
        -------
        Choice
            With ``method`` and ``why``; its text says both.

        Examples
        --------
        >>> from discriminant import Discriminant, datasets
        >>> iris = datasets.load("iris")
        >>> Discriminant(criterion="hinge").plan(iris.X, iris.y).method
        'linear-program'
        """
        require_valid(self)
        before = dict(self.__dict__)
        try:
            return self._task(self._read(X, y, sample_weight)).choice
        finally:
            self.__dict__.clear()
            self.__dict__.update(before)

    def _read(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Reading:
        """Rows, class codes and weights, checked; φ fitted where there is a basis."""
        if find_source(X) is not None:
            return self._read_source(X, y, sample_weight)
        if y is None:
            raise DataError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        given = self._read_rows(X, reset=True)
        labels = read_labels(y, given.shape[0])
        found, codes = encode_labels(labels)
        if len(found) < 2:
            raise DataError(
                f"y holds one class only ({names(list(found))}); a discriminant needs at least two classes to tell "
                "apart."
            )
        weight = check_weights(sample_weight, len(codes), codes)
        factors = class_weights(getattr(self, "class_weight", None), found, count_classes(codes, len(found), weight))
        if factors is not None:
            weight = factors[codes] if weight is None else factors[codes] * weight
        return self._reading(given, codes, weight, found, labels)

    def _read_source(self, X: Any, y: Any, sample_weight: Any) -> Reading:
        """The rows of a file, a Dask collection or a device, in blocks that come from there, as they are."""
        name = type(self).__name__
        if getattr(self, "basis", None) is not None:
            raise MismatchError(f"{name} with a basis takes rows in memory; write φ(x) to the file, or fit a sample.")
        if not getattr(self, "fit_intercept", True):
            raise MismatchError(f"{name} with fit_intercept=False takes rows in memory only.")
        sample = self._read_sample(X, y, sample_weight)
        factors = class_weights(getattr(self, "class_weight", None), sample.classes, sample.counts)
        blocks = sample.blocks if factors is None else sample.blocks.weighed(factors)
        return Reading(blocks.rows, blocks, sample.classes, None, sample.dtype)

    def _reading(self, X: Any, target: Array, weight: Array | None, classes: Array, labels: Array) -> Reading:
        features = fit_features(getattr(self, "basis", None), X, labels)
        rows: Any = as_rows(X) if features is None else features.training_rows(X)
        dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
        if not getattr(self, "fit_intercept", True):
            rows = OriginRows(rows)
        rows, units = own_units(rows, self._freedom())
        return Reading(X, ArrayBlocks(rows, target, weight), classes, features, dtype, units)

    def _freedom(self) -> str:
        """Which change of coordinates leaves the answer the same: "units", "origin" (a penalty), or "none".

        None where the user steers the course of the optimizer: its steps and starts are in the units of X.
        """
        steered = [getattr(self, name, None) for name in ("trace", "callback", "warm_start")]
        start = getattr(self, "start", None)
        optimizer = getattr(self, "optimizer", "auto")
        if any(steered) or not (start is None or isinstance(start, str)) or optimizer != "auto":
            return "none"
        return "origin" if getattr(self, "penalty", None) or getattr(self, "alpha", 0) else "units"

    def _task(self, reading: Reading) -> Task:
        criterion, coding, penalty, optimizer = self._choose(reading)
        objective = PointwiseObjective(reading.blocks, criterion, coding, penalty)
        trace = bool(getattr(self, "trace", False))
        options = {"trace": trace, "count_errors": trace, "callback": getattr(self, "callback", None)}
        made, choice = prepare_optimizer(optimizer, objective, **options)
        return Task(reading, objective, made, choice)

    def _start(self, task: Task) -> Array:
        """The previous weights with ``warm_start``, else what the method starts from."""
        shape = (task.objective.n_parameters, task.objective.n_outputs)
        if getattr(self, "warm_start", False) and hasattr(self, "discriminant_"):
            last = np.array(self.discriminant_.weights)
            if last.shape == shape and np.array_equal(self.classes_, task.reading.classes):
                return last
        return self._starting_weights(task.objective)

    def _keep(self, task: Task, solution: Solution) -> Self:
        """Set what a fitted classifier has."""
        reading, objective = task.reading, task.objective
        if self._went_wrong(solution):
            require_finite(as_rows(reading.X), self._names(), estimator=type(self).__name__)
            if isinstance(task.optimizer, SingleSample):
                raise DataError(too_long(reading.blocks))
            raise DataError("The scores overflow although X is finite: its values are too large. Rescale the columns.")
        if solution.converged and objective.saturated(solution.weights):
            status = (
                f"Not converged: J = {solution.objective:.6g} is flat around the weights, since the outputs are "
                "saturated on the wrong side. Start from smaller weights, or standardise the columns."
            )
            solution = replace(solution, status=status, converged=False)
        self._set_weights(reading, objective, solution.weights)
        self.n_iter_ = max(int(solution.iterations), 1)
        self.history_ = solution.history if solution.history is not None else History()
        self.certificate_ = self._certify(task, solution)
        if self._worth_a_warning(solution):
            warn(self.certificate_.status)
        if reading.units is None and not isinstance(task.optimizer, ClosedForm | LinearProgram | MixedInteger):
            warn_of_scales(reading.blocks.rows, self._names())
            if isinstance(task.optimizer, SingleSample):
                warn_of_weights(reading.blocks.weight)
        return self

    def _went_wrong(self, solution: Solution) -> bool:
        return not (np.isfinite(solution.weights).all() and np.isfinite(solution.objective))

    def _worth_a_warning(self, solution: Solution) -> bool:
        return not solution.converged

    def _set_weights(self, reading: Reading, objective: PointwiseObjective, A: Array) -> None:
        self.classes_, self.criterion_ = reading.classes, objective.criterion
        coding, features = objective.coding, reading.features
        if not getattr(self, "fit_intercept", True):
            A = np.vstack([np.zeros((1, A.shape[1])), A[1:]])
        center = None
        if reading.units is not None:
            A, center = in_units_of_X(A, reading.units, self._names()), reading.units[0]
        if coding is not None:
            self.coding_ = coding
        self._features = features
        self.discriminant_ = LinearDiscriminant(
            A,
            reading.classes,
            coding=None if coding is None else needed_coding(coding),
            feature_names=self._names() if features is None else features.names(),
            center=center,
            link=None if coding is None else link_of(objective.criterion, coding),
            basis=features if features is None or features.columns is not None else features.basis,
        )
        self.coef_ = np.array(self.discriminant_.coef, dtype=reading.dtype)
        self.intercept_ = np.array(self.discriminant_.intercept, dtype=reading.dtype)

    def _certify(self, task: Task, solution: Solution) -> Certificate:
        bound = float(getattr(solution, "bound", -np.inf))
        J = float(solution.objective)
        exact = solution.converged and isinstance(task.optimizer, LinearProgram | ClosedForm)
        bound = J if exact else max(bound, 0.0)  # every criterion here is at least zero
        return Certificate(
            status=solution.status,
            converged=bool(solution.converged),
            objective=J,
            bound=bound,
            gap=J - bound,
            gradient_norm=float(solution.gradient_norm),
            passes=float(solution.passes),
            notes=(str(task.choice), *solution.notes),
        )


def too_long(blocks: ArrayBlocks) -> str:
    """Why single-sample steps ended in infinite weights although X is finite, and how short they should be."""
    longest = max(float(np.max(block.design.squared_norms(), initial=0.0)) for block in blocks)
    return (
        "The weights overflow although X is finite: the steps are too long for these rows. Take a shorter step (eta0, "
        "or SingleSample(step=...)), or rescale the columns: on a quadratic criterion single-sample steps are stable "
        f"below 2/max‖y‖² = {2 / max(longest, 1e-300):.3g}."
    )
