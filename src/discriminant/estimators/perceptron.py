"""``Perceptron``: error-correcting procedures (``methods.perceptron``) under scikit-learn's names."""

from __future__ import annotations

from discriminant.estimators.parameters import BOOLEAN, COUNT, FRACTION, NOT_NEGATIVE, POSITIVE, Among, parameters
from discriminant.estimators.parts import CODING, CRITERION
from discriminant.estimators.sequential import SequentialClassifier
from discriminant.methods.perceptron import ErrorCorrection, PerceptronParameters


@parameters(
    penalty=[None, Among("l2", "l1", "elasticnet")],
    alpha=[NOT_NEGATIVE],
    l1_ratio=[FRACTION],
    max_iter=[COUNT],
    tol=[None, NOT_NEGATIVE],
    eta0=[POSITIVE, callable],
    criterion=CRITERION,
    margin=[None, NOT_NEGATIVE],
    pocket=BOOLEAN,
    threshold=[NOT_NEGATIVE],
    coding=CODING,
)
class Perceptron(PerceptronParameters, SequentialClassifier):
    """The perceptron and its kin; a drop-in for scikit-learn's.

    Each misclassified sample corrects the weights, a ← a + η(k) t y; on separable data it ends, after at most R²/γ²
    corrections (Duda, Hart and Stork 5.5; PRML 4.1.7).  Parameters that scikit-learn's has, too, keep its defaults and
    meaning.  ``tol=None`` runs until the samples are separated or ``max_iter`` epochs are over.

    Parameters
    ----------
    penalty : {None, "l2", "l1", "elasticnet"}, default=None
        With a penalty there is no end by separation.  The l1 part is taken at the end of each epoch.
    alpha : float, default=0.0001
        Strength of the penalty.
    l1_ratio : float, default=0.15
        The share of l1 in "elasticnet".
    max_iter : int, default=1000
        Epochs (batch: steps) at most.
    tol : float or None, default=0.001
        End when the mean loss met on the way has not fallen by this for ``n_iter_no_change`` epochs.
    eta0 : float, Schedule or callable, default=1.0
        η(k); a schedule is checked against the conditions under which the procedure converges.
    criterion : {"perceptron", "quadratic", "relaxation"} or Pointwise, default="perceptron"
        The error-correcting criterion.
    margin : float or None, default=None
        b ≥ 0; None: 0 for the perceptron and 1 for the others.
    pocket : bool, default=False
        Return the weights with the longest run of right answers.
    threshold : float, default=1e-08
        θ of the batch mode: end when the step is shorter.
    coding : str or array-like of shape (K, q), default="auto"
        "auto": one output for two classes, one for each class for more; or "one-vs-rest-k-1", "pairwise",
        "machine", a matrix.

    Attributes
    ----------
    mistake_bounds_ : list of MistakeBound, or None
        (R² + 2b/η)/γ² for each output, where the samples were separated by fixed increments from zero.
    separated_ : bool
        Whether every sample lies strictly on its side.
    certificate_ : Certificate
        ``converged`` only where the samples are separated, and by their margin; else whether they can be.
    coef_, intercept_, classes_, n_iter_, corrections_, discriminant_, history_, coding_, criterion_, t_

    See Also
    --------
    Adaline : Corrects every sample by its error.
    LinearProgrammingClassifier : A separating hyperplane without η.
    separability : Whether the samples can be separated.

    >>> X, y = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, 2.0]], [0, 0, 0, 1]
    >>> model = Perceptron(shuffle=False, tol=None).fit(X, y)
    >>> model.corrections_, model.mistake_bounds_[0].bound.__round__(), model.score(X, y)
    (array([5]), 33, 1.0)
    """

    _kind = ErrorCorrection
