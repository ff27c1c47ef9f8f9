"""Logistic regression: posteriors that are logistic (two classes) or softmax (K classes) functions of linear scores.

    minimise  Σ_i w_i ℓ(t_i, z_i) + ½ ‖w‖² / C,        ℓ = ln(1+e^z) − tz   or   ln Σ_k e^{z_k} − t·z

The intercept is free.  Columns of any unit and offset give the same optimum; there is no iteration limit, and the fit
ends with a proof of how near it is (``certificate_``).  PRML 4.3.2–4.3.4, Alpaydin 10.7.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from discriminant.data import ArrayBlocks, as_rows, count_classes, is_frame, make_blocks, require_finite
from discriminant.data.check import check_weights
from discriminant.decision.posteriors import sigmoid_pair, softmax
from discriminant.errors import DataError, DiscriminantWarning, ParameterError, names
from discriminant.estimators.inputs import all_or_nothing, read_rows, read_sample
from discriminant.estimators.logistic_parameters import Strength, check_parameters, class_weights
from discriminant.estimators.textbook import is_textbook, keep_textbook, textbook_fit
from discriminant.model import LinearDiscriminant
from discriminant.optimize.choose import Choice, choose
from discriminant.optimize.history import History
from discriminant.optimize.logistic import LogisticFit, LogisticProblem, solve_logistic
from discriminant.optimize.logistic.certificate import certify_fit
from discriminant.optimize.logistic.solve import shape_of
from discriminant.protocols import Array


class LogisticRegression(ClassifierMixin, BaseEstimator):
    """Logistic regression, two-class or softmax, with a ridge penalty or none.

    A drop-in for scikit-learn's: the same parameters with the same meaning, except that ``tol`` bounds the proved
    relative gap of the objective and ``max_iter`` limits nothing, since it need not.

    Parameters
    ----------
    penalty : deprecated
        As in scikit-learn 1.9: use ``C`` and ``l1_ratio``.
    C : float
        Inverse strength of the penalty, ½‖w‖²/C on the summed losses; ``numpy.inf`` for none.
    l1_ratio : float in [0, 1]
        0: ridge.
    dual, intercept_scaling, random_state, max_iter, verbose, n_jobs
        Accepted and without effect: the answer does not depend on them.
    tol : float
        The fit ends when J is proved to be within tol·|J| of its minimum; small problems are solved to the last digits.
    fit_intercept : bool
        Whether there is an intercept; it is never penalised.
    class_weight : dict, "balanced" or None
        Factors on the weights of the rows of each class.
    solver : {"auto", "lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"}
        scikit-learn's names are accepted; all give the one answer, by the method that ``plan`` tells.
    warm_start : bool
        Start from the previous solution.
    optimizer : "auto", a name or an optimizer of ``discriminant.optimize``
        "auto": the table of ``discriminant.optimize.choose``.  Else the textbooks' way: that optimizer, from weights in
        (−0.01, 0.01), such as "gradient-descent", "newton" or ``GradientDescent(patience=10)``, which stops early.
    correct_priors : bool
        With class weights: move the intercepts back by the logarithms of the weights, so that the probabilities are
        those of the data and not of the weighted data (King & Zeng 2001).

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, n_features_in_, feature_names_in_
        As scikit-learn's.
    certificate_ : Certificate
        What is proved: status, objective, bound, gap.
    discriminant_ : LinearDiscriminant
    history_ : History
        One record a step.

    Examples
    --------
    >>> from discriminant import LogisticRegression, datasets
    >>> iris = datasets.load("iris")
    >>> model = LogisticRegression().fit(iris.X, iris.y)
    >>> round(model.score(iris.X, iris.y), 2), model.certificate_.converged
    (0.97, True)
    """

    def __init__(
        self,
        penalty: Any = "deprecated",
        *,
        C: float = 1.0,
        l1_ratio: float | None = 0.0,
        dual: bool = False,
        tol: float = 1e-8,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        random_state: Any = None,
        solver: str = "auto",
        max_iter: int = 100,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: Any = None,
        optimizer: Any = "auto",
        correct_priors: bool = False,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.optimizer = optimizer
        self.correct_priors = correct_priors

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None) -> Self:
        """Learn from rows X (n, d) and labels y (n,), or class probabilities y (n, K).

        ``sample_weight``: how often each row counts.  ``offset``: known parts of the scores, (n,) or (n, K), with
        weight one; they are not added again in prediction.
        """
        strength = check_parameters(self)
        start = self._start()
        problem, classes, dtype, factors = self._problem(X, y, sample_weight, offset, strength)
        if is_textbook(self.optimizer):
            solution, choice = textbook_fit(self, problem, len(classes), start)
            keep_textbook(self, solution, choice, classes, dtype, self._prior_shift(classes, factors))
            return self
        fit = solve_logistic(problem, self.tol, start)
        self._require_finite(fit, problem)
        return self._keep(fit, problem, classes, dtype, factors)

    def plan(self, X: Any, y: Any, sample_weight: Any = None) -> Choice:
        """Which method ``fit`` would use on these data, and why."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            strength = check_parameters(self)
            before = dict(vars(self))
            try:
                problem, _, _, _ = self._problem(X, y, sample_weight, None, strength)
            finally:
                vars(self).clear()
                vars(self).update(before)
        if is_textbook(self.optimizer):
            called = self.optimizer if isinstance(self.optimizer, str) else type(self.optimizer).__name__
            return Choice(called, "it was asked for")
        choice = choose(shape_of(problem))
        if self.solver == "auto":
            return choice
        note = f"; solver={self.solver!r} is accepted as scikit-learn's name for the same optimum"
        if self.solver == "liblinear":
            note += " (here the intercept is not penalised)"
        return Choice(choice.method, choice.why + note)

    # Prediction

    def decision_function(self, X: Any) -> Array:
        """Log odds (n,) of ``classes_[1]`` for two classes; scores (n, K) for more."""
        z = self._scores(X)
        return z[:, 0] if len(self.classes_) == 2 else z

    def predict(self, X: Any) -> Array:
        """The class of the largest posterior."""
        z = self._scores(X)
        codes = (z[:, 0] > 0).view(np.uint8) if z.shape[1] == 1 else z.argmax(axis=1)
        return np.asarray(self.classes_.take(codes))

    def predict_proba(self, X: Any) -> Array:
        """P(C_k|x), (n, K)."""
        z = self._scores(X)
        return sigmoid_pair(z[:, 0]) if z.shape[1] == 1 else softmax(z)

    def predict_log_proba(self, X: Any) -> Array:
        """log P(C_k|x), (n, K), finite in the far tail."""
        return self._discriminant().predict_log_proba(self._checked(X))

    def _scores(self, X: Any) -> Array:
        """z (n, q); for plain arrays a short cut that checks what the long way checks."""
        if (
            type(X) is np.ndarray
            and X.ndim == 2
            and X.dtype == np.float64
            and 0 < len(X) <= 64
            and hasattr(self, "_kept")
            and not hasattr(self, "feature_names_in_")
            and self._as_fitted()
        ):
            weights, center = self.discriminant_.weights, self.discriminant_.center
            if X.shape[1] == len(weights) - 1:
                z = (X if center is None else X - center) @ weights[1:]
                z += weights[0]
                if np.isfinite(z).all():
                    return np.asarray(z)
        return self._discriminant().scores(self._checked(X))

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self)
        return read_rows(self, X, reset=False)

    def _discriminant(self) -> LinearDiscriminant:
        """The fitted discriminant, or the one that the user made by setting ``coef_`` or ``intercept_``."""
        check_is_fitted(self)
        if self._as_fitted():
            return self.discriminant_
        coef = self.coef_.toarray() if hasattr(self.coef_, "toarray") else np.asarray(self.coef_)
        A = np.vstack([np.broadcast_to(self.intercept_, len(coef)), coef.T])
        return LinearDiscriminant(A, self.classes_, feature_names=self._names(), link=_link(len(self.classes_)))

    def _as_fitted(self) -> bool:
        """Whether ``coef_`` and ``intercept_`` are what the fit left there."""
        coef, intercept = self._kept
        return (
            type(self.coef_) is np.ndarray
            and bool((self.coef_ == coef).all())
            and bool(np.all(np.equal(self.intercept_, intercept)))
        )

    def sparsify(self) -> Self:
        """``coef_`` as a sparse matrix."""
        from scipy.sparse import csr_matrix

        check_is_fitted(self)
        self.coef_ = csr_matrix(self.coef_)
        return self

    def densify(self) -> Self:
        """``coef_`` as an array."""
        check_is_fitted(self)
        self.coef_ = self.coef_.toarray() if hasattr(self.coef_, "toarray") else self.coef_
        return self

    # Learning

    def _start(self) -> Array | None:
        if not self.warm_start or not hasattr(self, "coef_"):
            return None
        coef = self.coef_.toarray() if hasattr(self.coef_, "toarray") else np.asarray(self.coef_)
        intercept = np.broadcast_to(self.intercept_, len(coef)) if self.fit_intercept else np.zeros(len(coef))
        return np.vstack([intercept, coef.T]).astype(np.float64)

    def _problem(
        self, X: Any, y: Any, sample_weight: Any, offset: Any, strength: Strength
    ) -> tuple[LogisticProblem, Array, Any, Array | None]:
        if strength.l1:
            raise ParameterError(
                "An L1 part in the penalty (l1_ratio > 0) is not available in this version; use l1_ratio=0."
            )
        if _is_table(y):
            blocks, classes, dtype, counts = read_soft(self, X, y, sample_weight)
        else:
            sample = read_sample(self, X, y, sample_weight)
            blocks, classes, dtype = sample.blocks, sample.classes, sample.dtype
            counts = count_classes(sample.codes, len(classes), sample.weight)
        if self.solver == "liblinear" and len(classes) > 2:
            raise ParameterError(
                "The 'liblinear' solver does not support multiclass classification (n_classes >= 3). Either use "
                "another solver or wrap the estimator in a OneVsRestClassifier to keep applying a one-versus-rest "
                "scheme."
            )
        factors = class_weights(self.class_weight, classes, counts)
        if factors is not None:
            blocks = weigh(blocks, factors)
        problem = LogisticProblem(blocks, len(classes), 0.0, bool(self.fit_intercept), read_offset(offset, blocks))
        ridge = strength.l2 / problem.total
        return LogisticProblem(blocks, len(classes), ridge, problem.intercept, problem.offset), classes, dtype, factors

    def _require_finite(self, fit: LogisticFit, problem: LogisticProblem) -> None:
        if not (np.isfinite(fit.weights).all() and np.isfinite(fit.objective)):
            require_finite(problem.blocks.rows, self._names(), estimator=type(self).__name__)
            raise DataError("The scores overflow although X is finite: its values are too large. Rescale the columns.")

    def _keep(
        self, fit: LogisticFit, problem: LogisticProblem, classes: Array, dtype: Any, factors: Array | None
    ) -> Self:
        A = fit.weights.copy()
        A[0] -= self._prior_shift(classes, factors)
        self.classes_ = classes
        self.discriminant_ = LinearDiscriminant(
            A, classes, feature_names=self._names(), center=fit.center, link=_link(len(classes))
        )
        self.coef_ = np.array(self.discriminant_.coef, dtype=dtype)
        self.intercept_ = np.array(self.discriminant_.intercept, dtype=dtype)
        self.n_iter_ = np.array([fit.steps], dtype=np.int32)
        self.certificate_ = certify_fit(fit, self.tol, problem.ridge)
        history = {name: list(values) for name, values in fit.history.items()}
        self.history_ = History({"objective" if k == "J" else k: v for k, v in history.items()})
        self._kept = (self.coef_.copy(), self.intercept_.copy())
        self._warn(fit)
        return self

    def _prior_shift(self, classes: Array, factors: Array | None) -> Array | float:
        """What class weights have added to the intercepts, where it is to be taken back."""
        if factors is None or not self.correct_priors or not self.fit_intercept:
            return 0.0
        if (factors == 0).any():
            raise ParameterError("correct_priors needs class weights > 0: a class without weight has no prior.")
        return np.asarray(np.log(factors[1] / factors[0]) if len(classes) == 2 else np.log(factors))

    def _warn(self, fit: LogisticFit) -> None:
        if fit.separated:
            warnings.warn(self.certificate_.status + " Use a penalty (finite C).", DiscriminantWarning, stacklevel=4)

    def _names(self) -> list[str] | None:
        found = getattr(self, "feature_names_in_", None)
        return None if found is None else [str(name) for name in found]


def _is_table(y: Any) -> bool:
    shape = getattr(y, "shape", None)
    if shape is None and isinstance(y, list | tuple) and len(y):
        shape = (len(y), len(y[0])) if isinstance(y[0], list | tuple | np.ndarray) else (len(y),)
    return shape is not None and len(shape) == 2 and shape[1] > 1


def _link(n_classes: int) -> str:
    return "sigmoid" if n_classes == 2 else "softmax"


def weigh(blocks: ArrayBlocks, factors: Array) -> ArrayBlocks:
    """Blocks whose row weights carry the factors of their classes."""
    target = np.asarray(blocks.target)
    if target.ndim == 1 and target.dtype.kind in "iu":
        each = factors[target]
    else:
        raise ParameterError("class_weight has no meaning for class probabilities; use sample_weight.")
    weight = each if blocks.weight is None else each * blocks.weight
    return make_blocks(blocks.rows, target, weight)


def read_soft(estimator: Any, X: Any, y: Any, sample_weight: Any) -> tuple[ArrayBlocks, Array, Any, Array]:
    """Rows with class probabilities (n, K); a frame's column names are the classes."""
    rows = as_rows(read_rows(estimator, X, reset=True))
    classes = np.array(list(y.columns)) if is_frame(y) else np.arange(np.shape(y)[1])
    t = np.asarray(y, dtype=np.float64)
    if len(t) != rows.shape[0]:
        raise DataError(f"X has {rows.shape[0]} rows and y has {len(t)}: inconsistent numbers of samples.")
    total = t.sum(axis=1)
    if not (np.isfinite(t).all() and (t >= 0).all() and np.abs(total - 1).max() < 1e-6):
        row = int(np.argmax(~(np.isfinite(t).all(axis=1) & (t >= 0).all(axis=1) & (np.abs(total - 1) < 1e-6))))
        raise DataError(
            f"y has {t.shape[1]} columns, which are read as class probabilities: they must be ≥ 0 and sum to 1 in each "
            f"row. Row {row} is {t[row].tolist()}; Multioutput targets are not supported: fit one model a column."
        )
    weight = check_weights(sample_weight, len(t))
    mass = t if weight is None else t * weight[:, None]
    if (mass.sum(axis=0) == 0).any():
        raise DataError(f"The class {names(list(classes[mass.sum(axis=0) == 0]))} has no weight in any row.")
    dtype = np.float32 if getattr(getattr(rows, "X", None), "dtype", None) == np.float32 else np.float64
    t = t / total[:, None]
    return make_blocks(rows, t[:, 1] if t.shape[1] == 2 else t, weight), classes, dtype, mass.sum(axis=0)


def read_offset(offset: Any, blocks: ArrayBlocks) -> Array | None:
    """Known parts of the scores, one (or K) for each row."""
    if offset is None:
        return None
    values = np.asarray(offset, dtype=np.float64)
    if len(values) != blocks.n_rows or not np.isfinite(values).all():
        raise DataError(f"offset must hold a finite number for each of the {blocks.n_rows} rows.")
    return values
