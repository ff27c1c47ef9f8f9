"""``LinearSVC``: support vector machines to a proved gap (``methods.svc``) under scikit-learn's names."""

from __future__ import annotations

from numbers import Integral

from discriminant.estimators.deciding import Deciding, SparseCoefficients
from discriminant.estimators.parameters import BOOLEAN, POSITIVE, Among, Number, parameters
from discriminant.estimators.parts import CODING
from discriminant.methods.coded import is_coded
from discriminant.methods.svc import SupportVectors, SVCParameters
from discriminant.model import LinearDiscriminant


@parameters(
    penalty=[Among("l1", "l2")],
    loss=[Among("hinge", "squared_hinge")],
    dual=["boolean", Among("auto")],
    tol=[POSITIVE],
    C=[POSITIVE],
    multi_class=[Among("ovr", "crammer_singer")],
    intercept_scaling=[POSITIVE],
    max_iter=[Number(Integral, 0, None, closed="left")],
    penalize_intercept=BOOLEAN,
    coding=CODING,
)
class LinearSVC(SVCParameters, SparseCoefficients, Deciding):
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
    random_state : int, RandomState or None, default=None
        The order of rows in dual coordinate descent.
    max_iter : int, default=1000
        Limits the passes of dual coordinate descent where it is above 1,000; else without effect.
    penalize_intercept : bool, default=True
        False: the intercept is free, as in the textbooks.
    coding : str or array-like of shape (K, q), default="auto"
        "auto", "one-vs-rest", "one-vs-rest-k-1", "pairwise", "machine" or a matrix.  "auto": as ``multi_class``
        says; "machine": all classes together, as "crammer_singer".

    Attributes
    ----------
    certificate_ : Certificate
        What is proved; for one-against-rest the worst of the K.
    coef_, intercept_, classes_, n_iter_, discriminant_, history_

    See Also
    --------
    LogisticRegression : Probabilities in place of margins.
    discriminant.criteria.SquaredHinge : The loss.

    >>> model = LinearSVC().fit(iris.X, iris.y)
    >>> round(model.score(iris.X, iris.y), 2), model.certificate_.converged
    (0.97, True)
    """

    def _follows_rows(self) -> bool:
        return False  # a device's rows are taken where they are few enough to be fetched

    def _method(self) -> SupportVectors:
        return self._as(SupportVectors)

    def _is_coded(self) -> bool:
        return is_coded(self)

    def _model(self) -> LinearDiscriminant:
        """The fit; or the discriminant that the user made by setting ``coef_`` or ``intercept_``."""
        if "coding_" in vars(self) or self._as_fitted():
            return self.discriminant_
        return LinearDiscriminant(self._coefficients(), self.classes_, feature_names=self._feature_names())
