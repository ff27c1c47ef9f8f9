"""Fisher's discriminant: the directions along which the classes lie furthest apart for their spread.

    two classes    w ∝ S_W⁻¹ (m_1 − m_0),  decide for class 1 where w·x exceeds a threshold
    K classes      the leading eigenvectors of S_W⁻¹ S_B, at most K − 1;  decide for the nearest mean on those axes

S_W = Σ_k Σ_{n∈k} (x_n − m_k)(x_n − m_k)ᵗ,  S_B = Σ_k N_k (m_k − m)(m_k − m)ᵗ,  S_T = S_W + S_B.  No density is assumed
for the direction; Gaussians are fitted to the projections only, to place the threshold (PRML 4.1.4 and 4.1.6).
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from discriminant.errors import ParameterError, warn
from discriminant.estimators.closed_summaries import FisherInference
from discriminant.estimators.gaussian import condition_number, reread, warn_of_near_collinearity, warn_of_rank
from discriminant.estimators.inputs import Sample, all_or_nothing
from discriminant.estimators.moments import MomentClassifier
from discriminant.estimators.parameters import BASIS, COUNT, NOT_NEGATIVE, PRIORS, Among
from discriminant.gaussian.moments import ClassMoments, class_moments
from discriminant.gaussian.projection import (
    THRESHOLDS,
    Projection,
    fisher_projection,
    mean_projection,
    nearest_mean_weights,
    projected_variances,
    trace_criterion,
    two_class_threshold,
    two_class_weights,
)
from discriminant.gaussian.whiten import whiten_moments
from discriminant.geometry.affine import AffineMap
from discriminant.model import LinearDiscriminant
from discriminant.protocols import Array, Certificate


class FisherDiscriminant(ClassNamePrefixFeaturesOutMixin, TransformerMixin, FisherInference, MomentClassifier):
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
    tol : float or None, default=None
        Directions in which the standardised data's singular value is below it are dropped; None: below rounding.
    basis : None, str, callable or transformer, default=None
        φ(x) in place of x: "quadratic", "rbf:50", a basis of ``discriminant.bases``, a transformer of scikit-learn.

    Attributes
    ----------
    criterion_ : float
        Tr{(WᵗS_W W)⁻¹ (WᵗS_B W)} of the axes W.
    threshold_ : float
        Two classes: the value of ``transform`` at which the decision changes.
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
    explained_variance_ratio_ : ndarray of shape (m,)
        The share of each axis in all between-class variance.
    projected_means_ : ndarray of shape (K, m)
        The class means as ``transform`` shows them.
    projected_variances_ : ndarray of shape (2,)
        Two classes, thresholds "gaussian" and "equal-error": the variance of each class along the axis.
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    priors_ : ndarray of shape (K,)
        The class priors.
    means_ : ndarray of shape (K, d)
        The class means.
    xbar_ : ndarray of shape (d,)
        The overall mean, weighted by the priors.
    discriminant_ : LinearDiscriminant
        The basis, the weights and the decision rule as one value.
    moments_ : ClassMoments
        Counts, means and scatters of the classes: what ``partial_fit`` and ``merge`` add to.
    certificate_ : Certificate
        J is minus the criterion, its least value minus the sum of all eigenvalues of S_W⁻¹ S_B.
    history_ : History
        Empty: a closed form takes no steps.
    n_iter_ : int
        1: a closed form is one step.
    n_features_in_ : int
        d, the columns of X.
    feature_names_in_ : ndarray of str of shape (d,)
        The names of the columns, where X has names that are all strings.

    See Also
    --------
    LinearDiscriminantAnalysis : The Gaussian model, with posteriors.

    Examples
    --------
    >>> from discriminant import FisherDiscriminant, datasets
    >>> iris = datasets.load("iris")
    >>> fisher = FisherDiscriminant(n_components=1).fit(iris.X, iris.y)
    >>> fisher.explained_variance_ratio_.round(4), fisher.transform(iris.X).shape
    (array([0.9912]), (150, 1))
    >>> round(fisher.score(iris.X, iris.y), 3)
    0.987
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "threshold": [Among(*THRESHOLDS)],
        "direction": [Among("fisher", "mean-difference")],
        "priors": PRIORS,
        "n_components": [None, COUNT],
        "tol": [None, NOT_NEGATIVE],
        "basis": BASIS,
    }

    def __init__(
        self,
        threshold: str = "gaussian",
        direction: str = "fisher",
        priors: Any = None,
        n_components: int | None = None,
        tol: float | None = None,
        *,
        basis: Any = None,
    ) -> None:
        self.threshold = threshold
        self.direction = direction
        self.priors = priors
        self.n_components = n_components
        self.tol = tol
        self.basis = basis

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the axes and the threshold from one pass over the rows.

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
        """
        sample = self._read(X, y, sample_weight)
        return self._learn(self._moments(sample), sample.classes, sample.dtype, sample)

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn more rows; the result is that of one fit on all of them.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or source of shape (n, d)
            The rows; a source is a ``scan``, a Dask collection or an array on a device.
        y : array-like of shape (n,)
            The labels.
        classes : array-like of shape (K,) or None, default=None
            All labels; needed on the first call only.
        sample_weight : array-like of shape (n,) or None, default=None
            How often each row counts; None: once.

        Returns
        -------
        self
            The fitted estimator.
        """
        known = self._classes_for(y, classes)
        sample = self._read(X, y, sample_weight, known)
        moments = self._moments(sample)
        if hasattr(self, "moments_"):
            moments = self.moments_.merge(moments)
        self.classes_, self.moments_ = known, moments
        if (moments.weight == 0).any() or moments.count.sum() <= len(known):
            return self  # not yet every class: the directions follow with the rows
        return self._learn(moments, known, sample.dtype, None)

    @all_or_nothing
    def merge(self, other: Self) -> Self:
        """Add what another model learned from other rows; a.merge(b) and b.merge(a) are equal.

        Parameters
        ----------
        other : FisherDiscriminant
            Fitted, with the same parameters and columns.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._learn(self._merged(other), self.classes_, self.means_.dtype, None)

    # Prediction

    def decision_function(self, X: Any) -> Array:
        """The score of each class; for two classes one, positive for ``classes_[1]``.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or source of shape (n, d)
            The rows; a source is a ``scan``, a Dask collection or an array on a device.

        Returns
        -------
        ndarray of shape (n, K), or (n,) for two classes
            Class scores; of two classes, positive for ``classes_[1]``.
        """
        rows = self._checked_rows(X)
        return self.discriminant_.decision_function(rows)

    def predict(self, X: Any) -> Array:
        """The class of the nearest mean on the axes, or on whose side of the threshold the row lies.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or source of shape (n, d)
            The rows; a source is a ``scan``, a Dask collection or an array on a device.

        Returns
        -------
        ndarray of shape (n,)
            The label of each row.
        """
        rows = self._checked_rows(X)
        return self.discriminant_.predict(rows)

    def transform(self, X: Any) -> Array:
        """Coordinates on the axes, measured from the overall mean.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or source of shape (n, d)
            The rows; a source is a ``scan``, a Dask collection or an array on a device.

        Returns
        -------
        ndarray of shape (n, m)
            The projections.
        """
        rows = self._checked_rows(X)
        return self._map.apply(_itself, rows, self._n_features_out, self.coef_.dtype)

    @property
    def predict_proba(self) -> Any:
        """Not defined: raises an AttributeError that says what to use."""
        raise AttributeError(
            "FisherDiscriminant assumes no densities, so that its scores are not probabilities. Use "
            "LinearDiscriminantAnalysis, or calibrate it (sklearn.calibration.CalibratedClassifierCV)."
        )

    @property
    def certificate_(self) -> Certificate:
        """A closed form: J is minus the criterion, its largest value the sum of all eigenvalues of S_W⁻¹ S_B."""
        check_is_fitted(self, "moments_")
        moments = self.moments_
        white = whiten_moments(moments.pooled(), moments.total, tol=self.tol)
        status = (
            f"Closed form: the axes are eigenvectors of S_W⁻¹ S_B. Rank {white.rank} of {moments.n_features} columns."
        )
        J = -float(self.criterion_)
        if self.direction != "fisher":
            status = "Closed form: the differences of the class means, which no criterion chose."
        return Certificate(status, True, J, J, 0.0, 0.0, float(white.passes), condition=condition_number(white))

    # The scatter matrices, in the units of X

    @property
    def within_scatter_(self) -> Array:
        """S_W, of shape (d, d)."""
        check_is_fitted(self, "moments_")
        return self.moments_.in_units_of_X(self.moments_.pooled().scatter)

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
        """Fisher's criterion Tr{(WᵗS_W W)⁻¹ (WᵗS_B W)} of any directions W, on the training rows.

        Parameters
        ----------
        directions : array-like of shape (d,) or (d, m)
            W.

        Returns
        -------
        float
            The criterion.
        """
        check_is_fitted(self)
        W = np.asarray(directions, dtype=np.float64)
        return trace_criterion(self.moments_, W[:, None] if W.ndim == 1 else W)

    # Learning

    def _moments(self, sample: Sample) -> ClassMoments:
        K = len(sample.classes)
        if K > 2 and self.threshold in ("equal-error", "mean"):
            raise ParameterError(
                f"threshold={self.threshold!r} parts two classes and there are {K}; use 'gaussian' or 'midpoint'."
            )
        own_variances = K == 2 and self.threshold in ("gaussian", "equal-error")
        moments = class_moments(sample.blocks, K, by_class=own_variances)
        self._require_finite(moments, sample.X, self._names())
        return moments

    def _learn(self, moments: ClassMoments, classes: Array, dtype: Any, sample: Sample | None) -> Self:
        priors = self._priors_from(moments, classes)
        projection, exact = self._project(moments, priors, sample)
        self.classes_, self.priors_, self.moments_ = classes, priors, moments
        for stale in {"threshold_", "projected_variances_"} & vars(self).keys():
            delattr(self, stale)  # of an earlier fit on other classes
        if not projection.matrix.shape[1]:
            warn(
                "The class means coincide: no direction tells the classes apart, and the priors alone decide.",
            )
        if len(classes) == 2:
            A = self._two_class(projection, None if exact or sample is None else sample.blocks)
        else:
            level = np.full_like(priors, 1 / len(priors)) if self.threshold == "midpoint" else priors
            A = nearest_mean_weights(projection, level)
        self.discriminant_ = LinearDiscriminant(
            A, classes, feature_names=self._names(), center=moments.origin, basis=self._basis
        )
        self._describe(projection, dtype)
        return self

    def _project(self, moments: ClassMoments, priors: Array, sample: Sample | None) -> tuple[Projection, bool]:
        """The axes asked for, and whether the Gram matrices are good enough for the variances along them."""
        most = min(len(priors) - 1, moments.n_features)
        count = most if self.n_components is None else self.n_components
        if count > most:
            raise ParameterError(
                f"n_components must be a whole number from 1 to min(n_features, n_classes - 1) = {most}; "
                f"it is {count!r}."
            )
        if self.direction == "mean-difference":
            return mean_projection(moments, priors, count), False
        pooled = moments.pooled()
        again = None if sample is None else reread(sample, pooled, moments.total)
        whitened = whiten_moments(pooled, moments.total, tol=self.tol, again=again)
        warn_of_rank(whitened, self._names())
        warn_of_near_collinearity([whitened], self._names(), "use LinearDiscriminantAnalysis with shrinkage")
        return fisher_projection(whitened, priors, count), whitened.passes == 1

    def _two_class(self, projection: Projection, blocks: Any) -> Array:
        if not projection.matrix.shape[1]:
            odds = np.log(self.priors_[1] / self.priors_[0]) if self.threshold in ("gaussian", "pooled") else 0.0
            return np.vstack([[odds], np.zeros((self.moments_.n_features, 1))])
        pooled = float(projection.spread[0, 0])
        variances = np.full(2, pooled)
        if self.moments_.by_class:
            variances = projected_variances(self.moments_, projection.matrix[:, 0], blocks)
            self.projected_variances_ = variances
        threshold = two_class_threshold(self.threshold, projection.means[:, 0], variances, self.priors_, pooled)
        if threshold is None:
            warn(
                "The Gaussians fitted to the projections do not cross: one class is the likelier everywhere. The "
                "threshold is that of equal variances; threshold='midpoint' or other priors may suit better.",
            )
            threshold = two_class_threshold("pooled", projection.means[:, 0], variances, self.priors_, pooled)
        assert threshold is not None
        self.threshold_ = float(threshold - projection.centre[0])
        return two_class_weights(projection, threshold)

    def _describe(self, projection: Projection, dtype: Any) -> None:
        moments = self.moments_
        weights = np.vstack([-projection.centre, projection.matrix])
        names = self.discriminant_.feature_names
        self._map = AffineMap(weights, projection.origin, self._basis, feature_names=names)
        self._n_features_out = projection.matrix.shape[1]
        self.criterion_ = projection.criterion(moments.weight / moments.total)
        self.eigenvalues_ = projection.ratios
        arrays = {
            "coef_": self.discriminant_.coef,
            "intercept_": self.discriminant_.intercept,
            "scalings_": projection.matrix,
            "explained_variance_ratio_": projection.shares,
            "projected_means_": projection.means - projection.centre,
            "means_": moments.class_means,
            "xbar_": moments.origin + moments.unit * (self.priors_ @ moments.means),
        }
        for name, values in arrays.items():
            setattr(self, name, np.array(values, dtype=dtype))


def _itself(z: Array) -> Array:
    return z
