"""``LogisticRegression``: logistic or softmax posteriors (``methods.logistic``) under scikit-learn's names."""

from __future__ import annotations

from dataclasses import field
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from discriminant.arrays import is_frame
from discriminant.data import make_blocks, require_finite
from discriminant.data.check import check_weights
from discriminant.data.rows import Rows
from discriminant.errors import DataError, classes_are
from discriminant.estimators.inferential import Inferential
from discriminant.estimators.inputs import all_or_nothing, is_table
from discriminant.estimators.learner import LearnsInParts, PriorsAtPrediction
from discriminant.estimators.parameters import (
    BOOLEAN,
    FRACTION,
    NOT_NEGATIVE,
    POSITIVE,
    Among,
    Number,
    parameters,
)
from discriminant.estimators.parts import CODING, OPTIMIZER
from discriminant.methods.coded import is_coded
from discriminant.methods.fit import Sample, Schema
from discriminant.methods.logistic import Logistic, LogisticParameters, read_offset
from discriminant.model import LinearDiscriminant
from discriminant.penalties.jeffreys import BIAS_REDUCED
from discriminant.protocols import Array

if TYPE_CHECKING:  # loaded with the first part that is learned, and the first limit
    from discriminant.inference.limit import LimitingFit
    from discriminant.optimize.laplace import LaplacePosterior


SOLVERS = (
    "auto", "lbfgs", "liblinear", "newton-cd", "newton-cd-gram", "newton-cg", "newton-cholesky", "sag", "saga"
)  # fmt: skip

SHARED_CONSTRAINTS: dict[str, Any] = {
    "dual": BOOLEAN,
    "tol": [NOT_NEGATIVE],
    "intercept_scaling": [POSITIVE],
    "solver": [Among(*SOLVERS)],
    "max_iter": [Number(Integral, 0, None, closed="left")],
}


@parameters(
    **SHARED_CONSTRAINTS,
    penalty=[Among("deprecated", "l1", "l2", "elasticnet", "jeffreys", "flic", "flac"), None],
    C=[Number(Real, 0, None, closed="right")],
    l1_ratio=[FRACTION, None],
    optimizer=OPTIMIZER,
    correct_priors=BOOLEAN,
    penalty_factors=[None, "array-like"],
    bounds=[None, tuple, list],
    groups=[None, "array-like"],
    grouped=BOOLEAN,
    coding=CODING,
)
class LogisticRegression(LogisticParameters, PriorsAtPrediction, LearnsInParts, Inferential):
    """Logistic regression, two-class or softmax, with a ridge, L1 or elastic-net penalty or none.

    argmin Σ w_i ℓ(t_i, z_i) + ½‖w‖²/C with ℓ = ln(1+e^z) − tz, or ln Σ_k e^{z_k} − t·z for K classes (PRML 4.3.2–4.3.4,
    Alpaydin 10.7).  A drop-in for scikit-learn's: the same parameters with the same meaning, except that ``tol`` bounds
    the proved relative gap of the objective and ``max_iter`` limits nothing, since it need not.

    Parameters
    ----------
    penalty : deprecated
        As in scikit-learn 1.9: use ``C`` and ``l1_ratio``.  But "jeffreys": Firth's bias reduction by Jeffreys'
        prior, finite on separated data; C and l1_ratio then take no part.  "flic", "flac": the same with probabilities
        that are right on average, by intercepts fitted again or by an added column (Puhr and others 2017).
    C : float, default=1.0
        Inverse strength of the penalty, ½‖w‖²/C on the summed losses; ``numpy.inf`` for none.
    l1_ratio : float in [0, 1], default=0.0
        0: ridge, 1: L1 (weights of exactly zero), between: elastic net, (l1_ratio ‖w‖₁ + ½(1 − l1_ratio)‖w‖²)/C.
    tol : float, default=1e-08
        The fit ends when J is proved to be within tol·|J| of its minimum; small problems are solved to the last digits.
    random_state : int, RandomState or None, default=None
        Accepted and without effect: nothing is drawn at random that the answer depends on.
    solver : {"auto", "lbfgs", "liblinear", "newton-cd", "newton-cd-gram", "newton-cg", "newton-cholesky", "sag", \
              "saga"}, default="auto"
        scikit-learn's names are accepted; all give the one answer, by the method that ``plan`` shows.
    optimizer : "auto", str or optimizer, default="auto"
        "auto": the table of ``discriminant.optimize.choose``.  Else the textbooks' way: that optimizer, from
        weights in (−0.01, 0.01), such as "gradient-descent", "newton" or ``GradientDescent(patience=10)``, which
        stops early.
    correct_priors : bool, default=False
        With class weights: move the intercepts back by the logarithms of the weights, so that the probabilities are
        those of the data and not of the weighted data (King & Zeng 2001).
    coding : str or array-like of shape (K, q), default="auto"
        "auto", "softmax", "one-vs-rest", "one-vs-rest-k-1", "pairwise" or a matrix.  "auto" is the softmax.  The
        others fit each output by itself.
    trace : bool, default=False
        Of a named ``optimizer``: keep the weights and errors of each step in ``history_``.
    callback : callable or None, default=None
        Of a named ``optimizer``: called with each ``Step``; stops the run by returning True.
    scale : {"mean", "sum"}, default="mean"
        Of a named ``optimizer``: in which J, ‖∇J‖ and η are counted, a mean over the rows or the textbooks' sum.

    Attributes
    ----------
    certificate_, coef_, intercept_, classes_
    n_iter_ : ndarray of shape (1,)
        Iterations.
    discriminant_, history_
    coding_ : ClassCoding
        The coding, where outputs are fitted by themselves.
    criterion_ : Pointwise
        The criterion of those outputs.
    priors_ : ndarray of shape (K,)
        The class frequencies of the training rows, which ``predict_proba(X, priors=...)`` takes back.
    limit_ : LimitingFit
        Where classes are separated and not penalised: the limit that the fit tends to; ``coef_`` then holds ±inf,
        and ``discriminant_`` a finite discriminant with the same decisions.

    See Also
    --------
    LogisticRegressionCV : C chosen by cross-validation.
    logistic_path : Fits for a whole range of λ.
    separability : Whether the classes can be separated.

    >>> model = LogisticRegression().fit(iris.X, iris.y)
    >>> round(model.score(iris.X, iris.y), 2), model.certificate_.converged
    (0.97, True)
    """

    coef_: Any = field(init=False)
    intercept_: Any = field(init=False)
    limit_: Any = field(init=False)
    discriminant_: LinearDiscriminant = field(init=False)
    _posterior: LaplacePosterior | None = field(init=False)
    _wide = ()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.solver != "liblinear"
        return tags

    def _follows_rows(self) -> bool:
        special = self.penalty_factors, self.bounds, self.groups
        ridge = self.penalty in ("deprecated", "l2", None) and not self.l1_ratio
        return ridge and all(value is None for value in special) and not self._is_coded()

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, offset: Any = None) -> Self:
        """Learn from rows and labels, or from class probabilities.

        Parameters
        ----------
        y : array-like of shape (n,) or (n, K), default=None
            The labels, or the probability of each class; None where the source holds them.
        offset : array-like of shape (n,) or (n, K), or None, default=None
            Known parts of the scores, with weight one; they are not added again in prediction.

        >>> model = LogisticRegression(C=10.0).fit(iris.X, iris.y)
        >>> model.coef_.shape, model.certificate_.converged
        ((3, 4), True)
        >>> soft = np.eye(3)[np.searchsorted(iris.classes, iris.y)] * 0.9 + 0.1 / 3
        >>> LogisticRegression(C=10.0).fit(iris.X, soft).classes_.tolist()
        [0, 1, 2]
        """
        method = self._method()
        sample = self._sample(X, y, sample_weight)
        fit = method.fit(sample, self._start(sample), offset)
        self._hold(fit)
        if not method.coded:
            centred = method.penalty not in BIAS_REDUCED and not method.named_optimizer
            known = read_offset(offset, sample.blocks)
            self._remember((X, y, sample_weight, offset), sample.blocks, known, centred=centred)
        return self

    # Prediction

    def _has_posteriors(self) -> None:
        if "coding_" in vars(self):
            super()._has_posteriors()

    def _checked(self, X: Any) -> Any:
        rows = super()._checked(X)
        if "limit_" in vars(self):  # whose exact signs know no NaN
            require_finite(rows, self._feature_names(), estimator=type(self).__name__)
        return rows

    def _model(self) -> LinearDiscriminant | LimitingFit:
        """The fit, or its limit; or the discriminant that the user made by setting ``coef_`` or ``intercept_``."""
        if "coding_" in vars(self) or self._as_fitted():
            return self.limit_ if "limit_" in vars(self) else self.discriminant_
        link = "sigmoid" if len(self.classes_) == 2 else "softmax"
        return LinearDiscriminant(self._coefficients(), self.classes_, feature_names=self._feature_names(), link=link)

    # Learning

    def _method(self) -> Logistic:
        return self._as(Logistic)

    def _start(self, sample: Sample) -> Array | None:
        if not self.warm_start or "coef_" not in vars(self) or "limit_" in vars(self):
            return None
        if not np.array_equal(self.classes_, sample.classes):
            return None  # weights of other classes say nothing about these
        A = self._coefficients().astype(np.float64)
        if not self.fit_intercept:
            A[0] = 0.0
        return A

    def _read_target(self, y: Any, n_rows: int) -> Any:
        """Labels, or class probabilities (n, K), of which a frame's column names are the classes."""
        if not is_table(y):
            return super()._read_target(y, n_rows)
        if self._is_coded():
            raise DataError(f"{type(self).__name__} with a basis or a coding takes labels, not a table of them.")
        return y

    def _sample_of(self, rows: Rows, target: Any, sample_weight: Any, classes: Array | None) -> Sample:
        if not is_table(target):
            return super()._sample_of(rows, target, sample_weight, classes)
        return soft_sample(rows, target, sample_weight, self._column_names())

    def _is_coded(self) -> bool:
        return is_coded(self)


def soft_sample(rows: Rows, y: Any, sample_weight: Any, feature_names: list[str] | None) -> Sample:
    """Rows with class probabilities (n, K)."""
    classes = np.array(list(y.columns)) if is_frame(y) else np.arange(np.shape(y)[1])
    try:
        t = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            f"y has {len(classes)} columns, which are read as class probabilities, and they hold no numbers. "
            "Multioutput targets are not supported: fit one model a column."
        ) from None
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
        raise DataError(f"{classes_are(list(classes[mass.sum(axis=0) == 0]), 'has', 'have')} no weight in any row.")
    t = t / total[:, None]
    blocks = make_blocks(rows, t[:, 1] if t.shape[1] == 2 else t, weight)
    return Sample(blocks, blocks.target, weight, Schema(classes, rows.dtype, feature_names))
