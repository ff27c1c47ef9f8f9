"""``FisherDiscriminant``: the directions of largest separation (``methods.fisher``), and a decision on them."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from discriminant.errors import ParameterError, as_numbers
from discriminant.estimators.inputs import not_defined
from discriminant.estimators.parameters import COUNT, NOT_NEGATIVE, Among, parameters
from discriminant.estimators.projecting import ProjectingClassifier
from discriminant.gaussian.projection import THRESHOLDS, trace_criterion
from discriminant.geometry.affine import AffineMap
from discriminant.methods.fisher import Fisher, FisherParameters
from discriminant.methods.moments import whiten_within
from discriminant.model import LinearDiscriminant
from discriminant.protocols import Array

if TYPE_CHECKING:  # loaded with the first table, not with the first fit
    from discriminant.inference.linear_summary import GaussianFit

NOTE = (
    "The direction is Σ⁻¹ times the difference of the means; its errors are those of Gaussian classes with one "
    "covariance. The intercept follows from the threshold asked for and is given without."
)


@parameters(
    threshold=[Among(*THRESHOLDS)],
    direction=[Among("fisher", "mean-difference")],
    n_components=[None, COUNT],
    tol=[None, NOT_NEGATIVE],
)
class FisherDiscriminant(FisherParameters, ProjectingClassifier):
    """Fisher's linear discriminant: a projection, and a decision on it.

    The axes W maximise Tr{(WᵗS_W W)⁻¹ (WᵗS_B W)}, the spread between the classes over that within; for two classes
    w ∝ S_W⁻¹(m_1 − m_0) (PRML 4.1.4, Alpaydin 6.8, Duda, Hart and Stork 3.8.2).

    Parameters
    ----------
    threshold : {"gaussian", "pooled", "midpoint", "equal-error", "mean"}, default="gaussian"
        Where two classes part on the projection.  "gaussian": where Gaussians fitted to the projected classes, each
        with its own variance, weighted by the priors, cross.  "pooled": the same with one variance, which makes the
        decision that of ``LinearDiscriminantAnalysis``.  "midpoint": half way between the means.  "equal-error": where
        both Gaussians have the same error rate.  "mean": at the overall mean, where least squares on the targets N/N_1,
        −N/N_0 has it.  Three classes and more: the nearest mean on the axes, with priors ("gaussian", "pooled") or
        without ("midpoint").
    direction : {"fisher", "mean-difference"}, default="fisher"
        "mean-difference" ignores the spread within the classes: w ∝ m_1 − m_0, for K classes the principal axes of the
        means.  The baseline that fails where columns are strongly correlated.
    priors : array-like of shape (K,), mapping or None, default=None
        Class priors; None: the class frequencies.  They weight S_B in the axes of three classes and more.
    n_components : int or None, default=None
        Number of axes, for ``transform`` and for the decision; None: min(K − 1, d), which is the most.

    Attributes
    ----------
    criterion_ : float
        J of the axes, as the textbooks print it: of two classes (m_1 − m_0)²/(s_0² + s_1²), where m_k is the mean of
        the projections w·x of a class and s_k² = Σ (w·x − m_k)²; of more, Tr{(WᵗS_W W)⁻¹ (WᵗS_B W)}.
    threshold_ : float
        Two classes: the value of ``transform`` at which the decision changes.
    score_threshold_ : float
        Two classes: the same for w·x with w = ``coef_[0]``, the textbooks' −w_0: ``classes_[1]`` where w·x exceeds it.
    scalings_ : ndarray of shape (d, m)
        The axes; within-class variance 1 along each (direction "fisher"), or of unit length ("mean-difference").
    coef_ : ndarray of shape (1, d) or (K, d)
        Two classes: the slope of the log odds of Gaussians with one variance on the projection, positive for
        ``classes_[1]``; w = Σ⁻¹(m_1 − m_0) with Σ = S_W/N.  Else one row for each class.
    intercept_ : ndarray of shape (1,) or (K,)
        The intercepts, with the threshold asked for.
    within_scatter_, between_scatter_, total_scatter_ : ndarray of shape (d, d)
        S_W, S_B and S_T.
    eigenvalues_ : ndarray of shape (m,)
        Between-class over within-class variance along each axis.
    explained_variance_ratio_
    projected_means_ : ndarray of shape (K, m)
        The class means as ``transform`` shows them.
    projected_variances_ : ndarray of shape (2,)
        Two classes, thresholds "gaussian" and "equal-error": the variance of each class along the axis.
    classes_, priors_, means_, xbar_, discriminant_, moments_
    certificate_ : Certificate
        J is minus the criterion, its least value minus the sum of all eigenvalues of S_W⁻¹ S_B.
    history_, n_iter_

    See Also
    --------
    LinearDiscriminantAnalysis : The Gaussian model, with posteriors.

    >>> fisher = FisherDiscriminant(n_components=1).fit(iris.X, iris.y)
    >>> fisher.explained_variance_ratio_.round(4), fisher.transform(iris.X).shape
    (array([0.9912]), (150, 1))
    >>> round(fisher.score(iris.X, iris.y), 3)
    0.987
    """

    _kind = Fisher
    discriminant_: LinearDiscriminant = field(init=False)
    coef_: Array = field(init=False)
    _map: AffineMap = field(init=False)
    _slopes_only = True

    @property
    def _axes(self) -> AffineMap:
        return self._map

    predict_proba = not_defined(
        "FisherDiscriminant assumes no densities, so that its scores are not probabilities. Use "
        "LinearDiscriminantAnalysis, or calibrate it (sklearn.calibration.CalibratedClassifierCV)."
    )

    def _gaussian_fit(self, by_formula: bool) -> tuple[GaussianFit, str]:
        from discriminant.inference.linear_summary import GaussianFit

        if len(self.classes_) != 2 or self.direction != "fisher":
            raise ParameterError(
                "summary is about Fisher's one direction for two classes; for more, LinearDiscriminantAnalysis has one."
            )
        moments = self.moments_
        white = whiten_within(moments, moments.total, self.tol)
        fit = GaussianFit(white.matrix, white.means, white.origin, moments.weight, moments.total - 2, True)
        return fit, NOTE

    # The scatter matrices, in the units of X

    @property
    def within_scatter_(self) -> Array:
        """S_W, of shape (d, d)."""
        check_is_fitted(self, "moments_")
        return self.moments_.in_units_of_X(self.moments_.whole().pooled().scatter)

    @property
    def between_scatter_(self) -> Array:
        """S_B, of shape (d, d)."""
        check_is_fitted(self, "moments_")
        return self.moments_.in_units_of_X(self.moments_.between())

    @property
    def total_scatter_(self) -> Array:
        """S_T = S_W + S_B, of shape (d, d)."""
        return self.within_scatter_ + self.between_scatter_

    def criterion(self, directions: Any) -> float:
        """Fisher's criterion of any directions W, on the training rows, as ``criterion_`` has it.

        Parameters
        ----------
        directions : array-like of shape (d,) or (d, m)
            W.

        Returns
        -------
        float
            The criterion.

        >>> model = FisherDiscriminant().fit(iris.X, iris.y)
        >>> round(model.criterion(model.scalings_), 2), round(model.criterion([1.0, 0.0, 0.0, 0.0]), 2)
        (32.48, 1.62)
        """
        check_is_fitted(self)
        W = as_numbers(directions, "directions")
        if len(W.shape) not in (1, 2) or len(W) != self.moments_.n_features or not np.isfinite(W).all():
            raise ParameterError(
                f"directions has {self.moments_.n_features} finite numbers for each; it has shape {W.shape}."
            )
        return trace_criterion(self.moments_, W[:, None] if W.ndim == 1 else W)
