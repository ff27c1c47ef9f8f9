"""``Adaline``: the Widrow–Hoff rule (``methods.adaline``) as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any, Self

from discriminant.estimators.inputs import all_or_nothing
from discriminant.estimators.parameters import COUNT, NOT_NEGATIVE, POSITIVE, Among, parameters
from discriminant.estimators.parts import CODING
from discriminant.estimators.sequential import SequentialClassifier
from discriminant.methods.adaline import AdalineParameters, LeastMeanSquares


@parameters(
    eta0=[Among("auto"), POSITIVE, callable],
    margin=[POSITIVE],
    max_iter=[COUNT],
    tol=[NOT_NEGATIVE],
    threshold=[NOT_NEGATIVE],
    coding=CODING,
)
class Adaline(AdalineParameters, SequentialClassifier):
    """Least mean squares: the perceptron's contemporary, which corrects every sample by its error.

    Each sample moves the weights by a ← a + η(k) (t − a·y) y, for targets t = ±b; with η(k) = η₁/k they tend to the
    least-squares solution Y†t, which need not separate samples that can be separated (Widrow and Hoff 1960; Duda, Hart
    and Stork 5.8; PRML 4.1.7).

    Parameters
    ----------
    eta0 : "auto", float, Schedule or callable, default="auto"
        η(k), k counting samples (batch: steps).  "auto": from the size of the rows and the curvature of J, η₁/(k +
        k₀) for single samples, 1/λ_max in batches.
    margin : float, default=1.0
        b > 0: targets are ±b.  It sets the scale of the weights and nothing else.  A margin for each row, the
        textbooks' vector b: ``fit(X, y, margin=b)``.
    max_iter : int, default=1000
        Epochs (batch: steps) at most.
    tol : float, default=0.001
        End when an epoch changes the weights by less than this part of their length.
    threshold : float, default=0.0
        θ: end with the first step shorter than it, as the textbook does; 0: do not.  The batch mode ends by it.
    coding : str or array-like of shape (K, q), default="auto"
        "auto": one output for two classes, "one-vs-rest" for more; or "one-vs-rest-k-1", "pairwise", a matrix.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, corrections_, discriminant_
    certificate_ : Certificate
        ``gap`` is the distance of J from its least-squares minimum, where that is cheap to know.
    history_, coding_, criterion_, t_

    See Also
    --------
    LeastSquaresClassifier : The minimum that it tends to, in closed form.
    Perceptron : Corrects errors only.

    >>> X = (iris.X - iris.X.mean(axis=0)) / iris.X.std(axis=0)  # columns alike: LMS is quick where J is round
    >>> model = Adaline().fit(X, iris.y)
    >>> round(model.score(X, iris.y), 2), model.certificate_.gap < 0.001
    (0.85, True)
    """

    _kind = LeastMeanSquares

    @all_or_nothing
    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any = None,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
        *,
        margin: Any = None,
    ) -> Self:
        """Learn from rows and labels, optionally from given weights on.

        Parameters
        ----------
        margin : array-like of shape (n,) or None, default=None
            b_n > 0, a margin for each row: its targets are ±b_n, and the weights tend to a = Y†b; None: the parameter.

        >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([0, 0, 1, 1])
        >>> model = Adaline(mode="batch", max_iter=5000).fit(X, y, margin=[2.0, 1.0, 1.0, 2.0])
        >>> Y = np.c_[np.ones(4), X] * np.where(y == 1, 1, -1)[:, None]
        >>> np.allclose(model.discriminant_.weights[:, 0], np.linalg.pinv(Y) @ [2.0, 1.0, 1.0, 2.0])
        True
        """
        return self._learned(X, y, coef_init, intercept_init, sample_weight, margin=margin)
