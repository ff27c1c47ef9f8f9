"""Linear support vector classification, to a proved gap.

    minimise  ½ ‖w‖² + C Σ c_i ξ(y_i z_i),        ξ = max(0, 1 − m)  or its square;   or ‖w‖₁ in place of ½ ‖w‖²

As in LIBLINEAR and scikit-learn the intercept is penalised like a weight (of a constant feature ``intercept_scaling``),
unless ``penalize_intercept=False``.  Bishop 7.1; Alpaydin 13; Duda, Hart & Stork 5.11.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted, check_random_state

from discriminant.data import SparseRows, count_classes, require_finite, workers
from discriminant.data.blocks import SERIAL_VALUES
from discriminant.data.check import require_few_classes
from discriminant.data.sources import require_memory
from discriminant.data.threads import ordered_map
from discriminant.decision.rule import largest
from discriminant.errors import DataError, ParameterError, warn
from discriminant.estimators.coded import fit_coded, is_coded, plan_coded
from discriminant.estimators.deciding import Deciding
from discriminant.estimators.inputs import all_or_nothing
from discriminant.estimators.parameters import (
    BASIS,
    BOOLEAN,
    CLASS_WEIGHT,
    DECODER,
    LABEL,
    POSITIVE,
    RANDOM_STATE,
    Among,
    Number,
    require_valid,
)
from discriminant.estimators.parts import CODING
from discriminant.estimators.sparse_coefficients import SparseCoefficients
from discriminant.estimators.svc_fits import OneFit, lasso_fit, machine_fit, ridge_fit
from discriminant.methods.fit import Sample
from discriminant.methods.parts import class_weights
from discriminant.model import LinearDiscriminant
from discriminant.optimize.choose import Choice
from discriminant.optimize.history import History
from discriminant.optimize.logistic.certificate import Certificate
from discriminant.optimize.margins import choose_margin
from discriminant.protocols import Array


class LinearSVC(SparseCoefficients, Deciding, ClassifierMixin, BaseEstimator):
    """Linear support vector classifier; a drop-in for scikit-learn's.

    argmin ½‖w‖² + C Σ w_i ℓ(t_i, z_i) with the hinge or its square, to a proved gap.

    Parameters
    ----------
    penalty : {"l2", "l1"}, default="l2"
        Ridge, or weights of exactly zero (with the squared hinge).
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        ℓ = max(0, 1 − tz)², or without the square.
    dual : "auto" or bool, default="auto"
        Accepted and checked as scikit-learn does; the answer does not depend on it.
    tol : float, default=1e-06
        The fit ends when the objective is proved to be within tol times itself of its minimum.
    C : float, default=1.0
        Weight of the losses against the penalty.
    multi_class : {"ovr", "crammer_singer"}, default="ovr"
        One machine for each class against the rest, or one for all (Kesler's construction with a margin).
    fit_intercept : bool, default=True
        Whether there is an intercept.
    intercept_scaling : float, default=1
        The constant feature whose weight, penalised as any other, is the intercept.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights of the rows of each class; "balanced": inverse to the class frequencies.
    verbose : int, default=0
        Without effect.
    random_state : int, RandomState or None, default=None
        The order of rows in dual coordinate descent.
    max_iter : int, default=1000
        Limits the passes of dual coordinate descent where it is above 1,000; else without effect.
    penalize_intercept : bool, default=True
        False: the intercept is free, as in the textbooks.
    basis : None, str, callable or transformer, default=None
        φ(x) in place of x: "quadratic", "rbf:50", a basis of ``discriminant.bases``, a transformer of scikit-learn.
    coding : str or array-like of shape (K, q), default="auto"
        "auto", "one-vs-rest", "one-vs-rest-k-1", "pairwise", "machine" or a matrix.  "auto": as ``multi_class``
        says; "machine": all classes together, as "crammer_singer".
    decoder : {"maximum", "sum", "votes", "unanimous"} or None, default=None
        How outputs name a class; None: the coding's own way.
    reject_label : label or None, default=None
        What ``predict`` returns with the decoder "unanimous" where not exactly one class is claimed; None: −1 or
        "reject", as the labels are numbers or not.

    Attributes
    ----------
    certificate_ : Certificate
        What is proved; for one-against-rest the worst of the K.
    coef_ : ndarray of shape (q, d̂)
        The weights: a row for each output (one for two classes), a column for each feature of φ.
    intercept_ : ndarray of shape (q,)
        The intercept of each output.
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    n_iter_ : int
        Iterations of the optimizer.
    n_features_in_ : int
        d, the columns of X.
    feature_names_in_ : ndarray of str of shape (d,)
        The names of the columns, where X has names that are all strings.
    discriminant_ : LinearDiscriminant
        The basis, the weights and the decision rule as one value.
    history_ : History
        One record for each iteration: objective, gradient norm, step.

    See Also
    --------
    LogisticRegression : Probabilities in place of margins.
    discriminant.criteria.SquaredHinge : The loss.

    Examples
    --------
    >>> from discriminant import LinearSVC, datasets
    >>> iris = datasets.load("iris")
    >>> model = LinearSVC().fit(iris.X, iris.y)
    >>> round(model.score(iris.X, iris.y), 2), model.certificate_.converged
    (0.97, True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "penalty": [Among("l1", "l2")],
        "loss": [Among("hinge", "squared_hinge")],
        "dual": ["boolean", Among("auto")],
        "tol": [POSITIVE],
        "C": [POSITIVE],
        "multi_class": [Among("ovr", "crammer_singer")],
        "fit_intercept": BOOLEAN,
        "intercept_scaling": [POSITIVE],
        "class_weight": CLASS_WEIGHT,
        "verbose": ["verbose"],
        "random_state": RANDOM_STATE,
        "max_iter": [Number(Integral, 0, None, closed="left")],
        "penalize_intercept": BOOLEAN,
        "basis": BASIS,
        "coding": CODING,
        "decoder": DECODER,
        "reject_label": LABEL,
    }

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: Any = "auto",
        tol: float = 1e-6,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        penalize_intercept: bool = True,
        basis: Any = None,
        coding: Any = "auto",
        decoder: str | None = None,
        reject_label: Any = None,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.penalize_intercept = penalize_intercept
        self.basis = basis
        self.coding = coding
        self.decoder = decoder
        self.reject_label = reject_label

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows and labels.

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
        >>> from discriminant import LinearSVC, datasets
        >>> iris = datasets.load("iris")
        >>> model = LinearSVC(C=0.1).fit(iris.X, iris.y)
        >>> model.coef_.shape, model.certificate_.converged
        ((3, 4), True)
        """
        self._check()
        if is_coded(self):
            fit_coded(self, X, y, sample_weight, "hinge", {"multi_class": "crammer_singer"})
            return self
        self.__dict__.pop("coding_", None)
        sample = self._read_sample(X, y, sample_weight)
        require_memory(sample.blocks, type(self).__name__)
        require_few_classes(type(self).__name__, len(sample.codes), len(sample.classes))
        counts = count_classes(sample.codes, len(sample.classes), sample.weight)
        factors = class_weights(self.class_weight, sample.classes, counts)
        cost = np.ones(len(sample.codes)) if sample.weight is None else np.asarray(sample.weight, dtype=np.float64)
        if factors is not None:
            cost = cost * factors[sample.codes]
        kept = cost > 0
        if len(np.unique(sample.codes[kept])) < 2:
            raise DataError("Only one class has rows of positive weight; a discriminant needs two to tell apart.")
        values = self._values(sample)
        if not kept.all():
            values = values[kept]
        return self._keep(self._fits(values, sample.codes[kept], len(sample.classes), self.C * cost[kept]), sample)

    def plan(self, X: Any, y: Any, sample_weight: Any = None) -> Choice:
        """Which method ``fit`` would use on these data, and why.

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
        >>> from discriminant import LinearSVC, datasets
        >>> iris = datasets.load("iris")
        >>> LinearSVC().plan(iris.X, iris.y).method
        'newton'
        """
        require_valid(self)
        self._check()
        if is_coded(self):
            return plan_coded(self, X, y, sample_weight, "hinge")
        if self.multi_class == "crammer_singer":
            return Choice("dual coordinate descent over rows", "all classes are one problem, coupled in each row")
        if self.penalty == "l1":
            return Choice(
                "coordinate descent on a working set", "few weights differ from zero, and only these are moved"
            )
        rows = clone(self)._read_sample(X, y, sample_weight).blocks.rows  # a clone: reading notes the columns
        return choose_margin(rows.shape[0], rows.shape[1], isinstance(rows, SparseRows), self.loss == "squared_hinge")

    def _fits(self, X: Any, codes: Array, K: int, cost: Array) -> tuple[Array, list[OneFit]]:
        """Weights (1+d, q) and what is known of each fit."""
        bias = float(self.intercept_scaling) if self.fit_intercept else 0.0
        free = bool(self.fit_intercept and not self.penalize_intercept)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1)) if self.random_state is not None else 0
        if self.multi_class == "crammer_singer":
            fit = machine_fit(X, codes, K, cost, bias, self.tol, seed, self._most())
            return (fit.weights[:, [1]] - fit.weights[:, [0]] if K == 2 else fit.weights), [fit]
        labels = [np.where(codes == k, 1.0, -1.0) for k in ([1] if K == 2 else range(K))]

        def one(y: Array) -> OneFit:
            if self.penalty == "l1":
                return lasso_fit(X, y, cost, bias, free, self.tol)
            return ridge_fit(X, y, cost, self.loss == "squared_hinge", bias, free, self.tol, seed, self._most())

        size = X.nnz if hasattr(X, "nnz") else X.size
        threads = workers() if size >= SERIAL_VALUES and len(labels) > 1 else 1
        fits = list(ordered_map(one, labels, threads))
        return np.hstack([fit.weights for fit in fits]), fits

    def _most(self) -> int:
        return max(int(self.max_iter), 1_000)

    def _keep(self, found: tuple[Array, list[OneFit]], sample: Sample) -> Self:
        A, fits = found
        self.classes_ = sample.classes
        self.discriminant_ = LinearDiscriminant(A, sample.classes, feature_names=self._names())
        self.coef_ = np.array(self.discriminant_.coef, dtype=sample.dtype)
        self.intercept_ = np.array(self.discriminant_.intercept, dtype=sample.dtype)
        self.n_iter_ = max(int(fit.steps) for fit in fits)
        self.history_ = History()  # what is proved stands in the certificate; the steps themselves are not kept
        worst = max(fits, key=lambda fit: fit.gap / max(fit.objective, 1e-300))
        met = worst.gap <= self.tol * worst.objective
        how = f"P = {worst.objective:.10g} is proved to be within {worst.gap:.1e} of its minimum"
        status = f"Solved: {how}." if met else f"Stopped after {self.n_iter_} passes: {how}; raise max_iter or tol."
        self.certificate_ = Certificate(
            status,
            met,
            worst.objective,
            worst.objective - worst.gap,
            worst.gap,
            float("nan"),
            float(self.n_iter_),
            None,
            (worst.method,),
        )
        if not met:
            warn(status)
        return self

    # Prediction

    def decision_function(self, X: Any) -> Array:
        """The signed score of ``classes_[1]`` for two classes; the score of each class for more.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or source of shape (n, d)
            The rows; a source is a ``scan``, a Dask collection or an array on a device.

        Returns
        -------
        ndarray of shape (n, K), or (n,) for two classes
            Class scores; of two classes, positive for ``classes_[1]``.

        Examples
        --------
        >>> from discriminant import LinearSVC, datasets
        >>> iris = datasets.load("iris")
        >>> LinearSVC(C=0.1).fit(iris.X, iris.y).decision_function(iris.X[:2]).shape
        (2, 3)
        """
        if "coding_" in vars(self):
            return super().decision_function(X)
        check_is_fitted(self)
        X = self._read_rows(X, reset=False)
        coef = self.coef_
        A = np.vstack([np.broadcast_to(self.intercept_, coef.shape[0]), _dense(coef).T])
        z = LinearDiscriminant(A, self.classes_, feature_names=self._names()).scores(X)
        return z[:, 0] if z.shape[1] == 1 else z

    def predict(self, X: Any) -> Array:
        """The class of the largest score.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or source of shape (n, d)
            The rows; a source is a ``scan``, a Dask collection or an array on a device.

        Returns
        -------
        ndarray of shape (n,)
            The label of each row.

        Examples
        --------
        >>> from discriminant import LinearSVC, datasets
        >>> iris = datasets.load("iris")
        >>> LinearSVC(C=0.1).fit(iris.X, iris.y).predict(iris.X[:1]).tolist()
        ['setosa']
        """
        if "coding_" in vars(self):
            return super().predict(X)
        z = self.decision_function(X)
        return np.asarray(self.classes_[(z > 0).astype(np.intp) if z.ndim == 1 else largest(z)])

    # Parameters and data

    def _check(self) -> None:
        """Refuse what does not go together."""
        if self.multi_class == "crammer_singer":
            if self.fit_intercept and not self.penalize_intercept:
                raise ParameterError("penalize_intercept=False goes with multi_class='ovr', not with 'crammer_singer'.")
            return
        wrong = self.penalty == "l1" and (self.loss == "hinge" or self.dual is True)
        if wrong or (self.penalty == "l2" and self.loss == "hinge" and self.dual is False):
            raise ParameterError(
                f"Unsupported set of arguments: The combination of penalty={self.penalty!r} and loss={self.loss!r} is "
                f"not supported when dual={self.dual!r}, Parameters: penalty={self.penalty!r}, loss={self.loss!r}, "
                f"dual={self.dual!r}"
            )

    def _values(self, sample: Sample) -> Any:
        """X in float64: CSR as it is, dense rows contiguous (a copy only where they are not)."""
        rows = sample.blocks.rows
        require_finite(rows, self._names(), estimator=type(self).__name__)
        if isinstance(rows, SparseRows):
            return rows.X if rows.X.dtype == np.float64 else rows.X.astype(np.float64)
        X = getattr(rows, "X", None)
        return np.ascontiguousarray(rows.columns(np.arange(rows.shape[1])) if X is None else X, dtype=np.float64)


def _dense(coef: Any) -> Array:
    return np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef)
