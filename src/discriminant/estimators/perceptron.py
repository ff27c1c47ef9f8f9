"""``Perceptron``: error-correcting procedures, sample by sample or in batches, with the theorem that bounds them.

    fixed increment          a ← a + t y                      where t a·y ≤ 0        eta0 = 1
    variable increment       a ← a + η(k) t y                 where t a·y ≤ b        eta0 = η(k), margin = b
    relaxation               a ← a + η t (b − t a·y)/‖y‖² y   where t a·y ≤ b        criterion = "relaxation", 0 < η < 2
    quadratic                a ← a + 2η t (b − t a·y) y       where t a·y ≤ b        criterion = "quadratic"
    batch                    a ← a + η(k) (1/n) Σ of these over the rows that need correction

Samples that can be separated are, after at most (R/γ)² corrections of fixed increment; the fit says how many it took
and what the bound was.  When it has not separated them it asks whether anything could.  PRML 4.1.7; Duda, Hart and
Stork 5.5–5.6.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from discriminant.docstrings import documented
from discriminant.estimators.parameters import (
    BASIS,
    BOOLEAN,
    CALLBACK,
    CLASS_WEIGHT,
    COUNT,
    DECODER,
    FRACTION,
    LABEL,
    N_JOBS,
    NOT_NEGATIVE,
    POSITIVE,
    RANDOM_STATE,
    START,
    Among,
    Number,
)
from discriminant.estimators.parts import CODING, CRITERION
from discriminant.estimators.sequential import SequentialClassifier
from discriminant.methods.perceptron import ErrorCorrection


@documented
class Perceptron(SequentialClassifier):
    """The perceptron and its kin; a drop-in for scikit-learn's.

    Each misclassified sample corrects the weights, a ← a + η(k) t y; on separable data it ends, after at most R²/γ²
    corrections (Duda, Hart and Stork 5.5; PRML 4.1.7).  The parameters before ``criterion`` are scikit-learn's, with
    its defaults and meaning.  ``tol=None`` runs until the samples are separated or ``max_iter`` epochs are over.

    Parameters
    ----------
    penalty : {None, "l2", "l1", "elasticnet"}, default=None
        With a penalty there is no end by separation.  The l1 part is taken at the end of each epoch.
    alpha : float, default=0.0001
        Strength of the penalty.
    l1_ratio : float, default=0.15
        The share of l1 in "elasticnet".
    fit_intercept
    max_iter : int, default=1000
        Epochs (batch: steps) at most.
    tol : float or None, default=0.001
        End when the mean loss met on the way has not fallen by this for ``n_iter_no_change`` epochs.
    shuffle, verbose
    eta0 : float, Schedule or callable, default=1.0
        η(k); a schedule is checked against the conditions under which the procedure converges.
    n_jobs, random_state, early_stopping, validation_fraction, n_iter_no_change, class_weight, warm_start
    criterion : {"perceptron", "quadratic", "relaxation"} or Pointwise, default="perceptron"
        The error-correcting criterion.
    margin : float or None, default=None
        b ≥ 0; None: 0 for the perceptron and 1 for the others.
    mode, average
    pocket : bool, default=False
        Return the weights with the longest run of right answers.
    threshold : float, default=1e-08
        θ of the batch mode: end when the step is shorter.
    coding : str or array-like of shape (K, q), default="auto"
        "auto": one output for two classes, one for each class for more; or "one-vs-rest-k-1", "pairwise",
        "machine", a matrix.
    decoder, reject_label, basis, start, trace, callback

    Attributes
    ----------
    mistake_bounds_ : list of MistakeBound, or None
        (R² + 2b/η)/γ² for each output, where the samples were separated by fixed increments from zero.
    separated_ : bool
        Whether every sample lies strictly on its side.
    certificate_ : Certificate
        ``converged`` only where the samples are separated, and by their margin; else whether they can be.
    coef_, intercept_, classes_
    n_iter_ : int
        Epochs; in batch mode, steps.
    corrections_, discriminant_, history_, coding_, criterion_, n_features_in_, feature_names_in_, t_

    See Also
    --------
    Adaline : Corrects every sample by its error.
    LinearProgrammingClassifier : A separating hyperplane without η.
    separability : Whether the samples can be separated.

    Examples
    --------
    >>> from discriminant import Perceptron
    >>> X, y = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, 2.0]], [0, 0, 0, 1]
    >>> model = Perceptron(shuffle=False, tol=None).fit(X, y)
    >>> model.corrections_, model.mistake_bounds_[0].bound.__round__(), model.score(X, y)
    (array([5]), 33, 1.0)
    """

    separated_: bool

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "penalty": [None, Among("l2", "l1", "elasticnet")],
        "alpha": [NOT_NEGATIVE],
        "l1_ratio": [FRACTION],
        "fit_intercept": BOOLEAN,
        "max_iter": [COUNT],
        "tol": [None, NOT_NEGATIVE],
        "shuffle": BOOLEAN,
        "verbose": ["verbose"],
        "eta0": [POSITIVE, callable],
        "n_jobs": N_JOBS,
        "random_state": RANDOM_STATE,
        "early_stopping": BOOLEAN,
        "validation_fraction": [Number(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [COUNT],
        "class_weight": CLASS_WEIGHT,
        "warm_start": BOOLEAN,
        "criterion": CRITERION,
        "margin": [None, NOT_NEGATIVE],
        "mode": [Among("single-sample", "batch")],
        "average": BOOLEAN,
        "pocket": BOOLEAN,
        "threshold": [NOT_NEGATIVE],
        "coding": CODING,
        "decoder": DECODER,
        "reject_label": LABEL,
        "basis": BASIS,
        "start": START,
        "trace": BOOLEAN,
        "callback": CALLBACK,
    }

    def __init__(
        self,
        *,
        penalty: str | None = None,
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        eta0: Any = 1.0,
        n_jobs: Any = None,
        random_state: Any = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        warm_start: bool = False,
        criterion: Any = "perceptron",
        margin: float | None = None,
        mode: str = "single-sample",
        average: bool = False,
        pocket: bool = False,
        threshold: float = 1e-8,
        coding: Any = "auto",
        decoder: str | None = None,
        reject_label: Any = None,
        basis: Any = None,
        start: Any = None,
        trace: bool = False,
        callback: Any = None,
    ) -> None:
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.criterion = criterion
        self.margin = margin
        self.mode = mode
        self.average = average
        self.pocket = pocket
        self.threshold = threshold
        self.coding = coding
        self.decoder = decoder
        self.reject_label = reject_label
        self.basis = basis
        self.start = start
        self.trace = trace
        self.callback = callback

    def _method(self) -> ErrorCorrection:
        return self._as(ErrorCorrection)
