"""``MinimumErrorClassifier``: the discriminant with the fewest errors on the training rows, and a proved lower bound.

    minimise  J(a) = Σ w_i 1(t_i a·y_i ≤ 0) / Σ w_i

The count of errors is piecewise constant, so that no gradient helps.  Annealing finds few errors in rows of any number;
witnesses that no discriminant can satisfy prove how many are unavoidable (``inference.least_errors``), and for
problems with few errors find the least number itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import HasMethods

from discriminant.codings import ClassCoding, make_coding
from discriminant.criteria import Kesler, Logistic, Pointwise, Softmax, ZeroOne
from discriminant.data import OriginRows, require_finite
from discriminant.estimators.discriminative import DiscriminativeClassifier, Reading, Task
from discriminant.estimators.linear_programming import in_canonical_order
from discriminant.estimators.parameters import BASIS, BOOLEAN, CLASS_WEIGHT, COUNT, DURATION, RANDOM_STATE, Among
from discriminant.estimators.parts import choose_optimizer
from discriminant.inference.least_errors import LeastErrors, least_errors
from discriminant.objective import PointwiseObjective
from discriminant.optimize import Annealing, BoundedSolution, MixedInteger, make_optimizer
from discriminant.penalties import Ridge, WeightPenalty
from discriminant.protocols import Array, Solution

OPTIMIZERS = ("auto", "annealing", "mixed-integer", "witnesses")


class MinimumErrorClassifier(DiscriminativeClassifier):
    """The fewest training errors, counted, with a proof of how many no discriminant can avoid.

    argmin Σ w 1(t·a·y ≤ 0).  A row is an error unless it lies strictly on its side.  Few training errors are no promise
    for new rows.

    Parameters
    ----------
    optimizer : {"auto", "annealing", "mixed-integer", "witnesses"} or an optimizer, default="auto"
        How few errors are searched for: "auto" is annealing from the logistic optimum, replaced by the exact answer
        where the witnesses find it; "mixed-integer" is HiGHS (small n); "witnesses" the exact method alone.
    max_iter : int, default=300
        Moves of the annealing.
    rounds : int, default=50
        Rounds of the search for witnesses: more rounds, a better lower bound.
    seconds : float, default=30.0
        Time limit of that search, and of the mixed-integer program.
    random_state : int, Generator, RandomState or None, default=0
        Seed of what is drawn at random.
    basis : None, str, callable or transformer, default=None
        φ(x) in place of x: "quadratic", "rbf:50", a basis of ``discriminant.bases``, a transformer of scikit-learn.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights of the rows of each class; "balanced": inverse to the class frequencies.
    fit_intercept : bool, default=True
        Whether there is an intercept; False: hyperplanes through the origin.

    Attributes
    ----------
    n_errors_ : int
        Rows that are not strictly on their side.
    lower_bound_ : float
        Weight of rows (their number, without weights) that every linear discriminant gets wrong; proved.
    coef_ : ndarray of shape (q, d̂)
        The weights: a row for each output (one for two classes), a column for each feature of φ.
    intercept_ : ndarray of shape (q,)
        The intercept of each output.
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    n_iter_ : int
        Iterations of the optimizer.
    discriminant_ : LinearDiscriminant
        The basis, the weights and the decision rule as one value.
    certificate_ : Certificate
        ``bound`` is the proved share of errors; ``converged`` where it is met.
    history_ : History
        One record for each iteration: objective, gradient norm, step.
    coding_ : ClassCoding
        The coding as it was used.
    criterion_ : Pointwise
        The criterion as it was used.
    n_features_in_ : int
        d, the columns of X.
    feature_names_in_ : ndarray of str of shape (d,)
        The names of the columns, where X has names that are all strings.

    See Also
    --------
    LinearProgrammingClassifier : The least sum of slacks in place of the fewest errors.

    Examples
    --------
    >>> from discriminant import MinimumErrorClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> model = MinimumErrorClassifier().fit(iris.X, iris.y)
    >>> model.n_errors_, model.lower_bound_, model.certificate_.converged
    (1, 1.0, True)
    """

    n_errors_: int
    lower_bound_: float

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "optimizer": [Among(*OPTIMIZERS), HasMethods("minimize")],
        "max_iter": [COUNT],
        "rounds": [COUNT],
        "seconds": [DURATION],
        "random_state": RANDOM_STATE,
        "basis": BASIS,
        "class_weight": CLASS_WEIGHT,
        "fit_intercept": BOOLEAN,
    }

    def __init__(
        self,
        optimizer: Any = "auto",
        *,
        max_iter: int = 300,
        rounds: int = 50,
        seconds: float = 30.0,
        random_state: Any = 0,
        basis: Any = None,
        class_weight: Any = None,
        fit_intercept: bool = True,
    ) -> None:
        self.optimizer = optimizer
        self.max_iter = max_iter
        self.rounds = rounds
        self.seconds = seconds
        self.random_state = random_state
        self.basis = basis
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept

    def _read(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Reading:
        """The different rows in canonical order, so that the search is the same for a row of weight 2 and two rows."""
        reading = super()._read(X, y, sample_weight, classes)
        self._rows = reading.blocks
        return in_canonical_order(reading)

    def _choose(self, reading: Reading) -> tuple[Pointwise, ClassCoding | None, WeightPenalty | None, Any]:
        K, optimizer = len(reading.classes), self.optimizer
        if isinstance(optimizer, str):
            if optimizer == "mixed-integer":
                optimizer = MixedInteger(seconds=self.seconds)
            else:
                optimizer = Annealing(iterations=self.max_iter, random_state=self.random_state)
        if K == 2:
            return ZeroOne(), make_coding("two-class", 2), None, optimizer
        return Kesler(ZeroOne(), "worst"), make_coding("machine", K), None, optimizer

    def _freedom(self) -> str:
        return "units" if isinstance(self.optimizer, str) else "none"

    def _solve(self, task: Task) -> Solution:
        require_finite(task.reading.blocks.rows, estimator=type(self).__name__)
        objective = task.objective
        first = self._least(task, rounds=1)
        if first.proved and first.weights is not None:  # separable: nothing to search for
            return self._exact(task, first, None)
        searched = None
        if self.optimizer != "witnesses":
            searched = self._search(task)
        total = float(objective.totals[0])
        best = np.inf if searched is None else searched.objective * total
        found = self._least(task, rounds=self.rounds, enough=best)
        if found.weights is not None:
            return self._exact(task, found, searched)
        if searched is None:
            searched = self._search(task)
        return self._bounded(task, searched, found)

    def _least(self, task: Task, **options: Any) -> LeastErrors:
        blocks = task.reading.blocks
        rows: Any = blocks.rows
        intercept = not isinstance(rows, OriginRows)
        source, codes = rows if intercept else rows.source, np.asarray(blocks.target)
        return least_errors(
            source, codes, blocks.weight, fit_intercept=intercept, seconds=float(self.seconds), **options
        )

    def _search(self, task: Task) -> Solution:
        """Few errors: from the logistic optimum onwards."""
        objective, optimizer = task.objective, task.optimizer
        criterion = Softmax() if objective.criterion.coupled else Logistic()
        coding = objective.coding
        if not objective.criterion.coupled:
            coding = make_coding("two-class", 2, labels=criterion.labels)
        smooth = PointwiseObjective(objective.blocks, criterion, coding, Ridge(1e-6))
        start = make_optimizer(choose_optimizer(smooth).method).minimize(smooth, self._starting_weights(objective))
        if isinstance(optimizer, Annealing) and optimizer.scales is None:
            optimizer = replace(optimizer, scales=_scales(objective))
        solution: Solution = optimizer.minimize(objective, start.weights)
        return solution

    def _exact(self, task: Task, found: LeastErrors, searched: Solution | None) -> Solution:
        A = _shaped(found.weights, task.objective)
        J, total = task.objective.value(A), float(task.objective.totals[0])
        if searched is not None and searched.objective < J:
            return self._bounded(task, searched, found)
        least = f"{J * total:g} of {total:g}"
        status = (
            f"Proved: {least} is the least weight of rows that any linear discriminant gets wrong."
            if J * total <= found.bound * (1 + 1e-9)
            else f"{least} are wrong, and {found.bound:g} is proved to be unavoidable."
        )
        history = None if searched is None else searched.history
        iterations = 1 if searched is None else searched.iterations
        proved = J * total <= found.bound * (1 + 1e-9)
        return BoundedSolution(A, status, proved, 1, iterations, J, history=history, bound=found.bound / total)

    def _bounded(self, task: Task, searched: Solution, found: LeastErrors) -> Solution:
        J, total = searched.objective, float(task.objective.totals[0])
        proved = J * total <= found.bound * (1 + 1e-9)
        status = (
            f"Proved: {J * total:g} of {total:g} is the least weight of rows that any linear discriminant gets wrong."
            if proved
            else f"{J * total:g} of {total:g} are wrong, the fewest that the search met; every linear discriminant "
            f"gets at least {found.bound:g} wrong ({found.witnesses} witnesses prove it). More rounds may close it."
        )
        notes = (*searched.notes, searched.status)
        return BoundedSolution(
            searched.weights, status, True, searched.passes, searched.iterations, J,
            history=searched.history, notes=notes, bound=min(found.bound / total, J),
        )  # fmt: skip

    def _keep(self, task: Task, solution: Solution) -> Any:
        super()._keep(task, solution)
        self.lower_bound_ = float(getattr(solution, "bound", 0.0)) * float(task.objective.totals[0])
        given = replace(task.objective, blocks=self._rows)
        self.n_errors_ = int(given.sides(solution.weights)[0].sum())
        del self._rows
        proved = bool(self.certificate_.gap <= 1e-9 * max(self.certificate_.objective, 1e-300))
        self.certificate_ = replace(self.certificate_, converged=proved)
        return self


def _shaped(weights: Array | None, objective: PointwiseObjective) -> Array:
    A = np.asarray(weights, dtype=np.float64)
    if A.ndim == 2:
        return A
    return np.column_stack([-A / 2, A / 2]) if objective.n_outputs == 2 else A[:, None]


def _scales(objective: PointwiseObjective) -> Array:
    """One over the size of each column, from some thousand rows."""
    n = objective.blocks.n_rows
    rows = np.unique(np.linspace(0, n - 1, min(n, 2_000)).astype(np.intp))
    values = objective.blocks.rows.pick(rows).values
    values = values.toarray() if hasattr(values, "toarray") else values
    spread = np.asarray(values).std(axis=0)
    return np.concatenate([[1.0], 1.0 / np.where(spread > 0, spread, 1.0)])
