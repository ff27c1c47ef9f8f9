"""Quadratic discriminant analysis: Gaussian classes, each with a covariance of its own.

    g_k(x) = −½ ln|Σ_k| − ½ (x − μ_k)ᵗ Σ_k⁻¹ (x − μ_k) + ln P_k

Friedman's regularised family runs from it (pooling 0) to the linear discriminant (pooling 1).  What all classes lack, a
constant or collinear column, is dropped; what one class lacks is lent to it by the others; both with a warning.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from discriminant.data import map_rows, require_finite
from discriminant.errors import DataError, ParameterError
from discriminant.estimators.class_covariances import class_whitening
from discriminant.estimators.covariances import SHRINKAGES, require_whole_moments
from discriminant.estimators.gaussian import GaussianClassifier, deleted_scores, whitening_residual
from discriminant.estimators.inputs import Sample, all_or_nothing
from discriminant.estimators.parameters import (
    BASIS,
    BOOLEAN,
    COVARIANCE,
    FORM,
    FRACTION,
    GUEST,
    NOT_NEGATIVE,
    PRIORS,
    Among,
)
from discriminant.gaussian.leave_one_out import QuadraticDeletion
from discriminant.gaussian.moments import ClassMoments, class_moments
from discriminant.gaussian.weights import quadratic_scores
from discriminant.protocols import Array

SMALL = 10_000  # values of X


class QuadraticDiscriminantAnalysis(GaussianClassifier):
    """Gaussian classes with covariances of their own: quadratic boundaries and posteriors.

    g_k(x) = −½ ln|Σ_k| − ½ (x − m_k)ᵗΣ_k⁻¹(x − m_k) + ln P(C_k) (PRML 4.2.1, Alpaydin 5.5, Duda, Hart and Stork 2.6.3),
    with Friedman's two regularisations.  A drop-in for scikit-learn's.

    Parameters
    ----------
    solver : {"auto", "svd", "eigen"}, default="auto"
        All give the same answer.  "svd" and "eigen" keep scikit-learn's refusals: of classes without full rank, and
        "svd" of shrinkage.  "auto" drops what is constant or collinear in every class, and shrinks a class that alone
        lacks a direction towards the pooled covariance, each with a warning that says so.
    shrinkage : float in [0, 1], "auto", "ledoit-wolf", "oas" or None, default=None
        (1 − γ) Σ_k + γ (tr Σ_k/d) I: Friedman's second parameter, or chosen from the data.
    priors : array-like of shape (K,), mapping or None, default=None
        Class priors; None: the class frequencies.  Also at prediction: ``predict_proba(X, priors=...)``.
    reg_param : float in [0, 1], default=0.0
        (1 − r) Σ_k + r I, in the units of X.
    store_covariance : bool, default=False
        Keep ``covariance_``, a list with one matrix for each class.
    tol : float or None, default=None
        Directions in which a class's standardised singular value is below it count as missing; None: below
        rounding.
    covariance_estimator : object with ``fit`` and ``covariance_``, or None, default=None
        A covariance estimator of scikit-learn's kind, fitted to each class.
    pooling : float in [0, 1], default=0.0
        Friedman's first parameter: Σ_k(λ) = [(1−λ) S_k + λ S_W] / [(1−λ) N_k + λ N].
    covariance : {"maximum-likelihood", "unbiased", "robust"}, default="maximum-likelihood"
        Divide by N_k, by N_k − 1, or take each class's minimum covariance determinant and its robust mean.
    form : {"full", "diagonal", "spherical"}, default="full"
        What is assumed of Σ_k; diagonal: columns independent within the classes.
    basis : None, str, callable or transformer, default=None
        φ(x) in place of x: "quadratic", "rbf:50", a basis of ``discriminant.bases``, a transformer of scikit-learn.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    priors_ : ndarray of shape (K,)
        The class priors.
    means_ : ndarray of shape (K, d)
        The class means.
    rotations_ : list of K ndarrays of shape (d, d)
        The eigenvectors of each class's covariance.
    scalings_ : list of K ndarrays of shape (d,)
        The variances along the axes of each class, largest first.
    covariance_ : list of K ndarrays of shape (d, d)
        Σ_k, where ``store_covariance`` asks for them.
    moments_ : ClassMoments
        Counts, means and scatters of the classes: what ``partial_fit`` and ``merge`` add to.
    certificate_ : Certificate
        A closed form needs no iterations; the residual of the whitening is given.
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
    LinearDiscriminantAnalysis : One covariance for all classes.

    Examples
    --------
    >>> from discriminant import QuadraticDiscriminantAnalysis, datasets
    >>> iris = datasets.load("iris")
    >>> qda = QuadraticDiscriminantAnalysis().fit(iris.X, iris.y)
    >>> round(qda.score(iris.X, iris.y), 2), round(qda.loo_score(iris.X, iris.y), 3)
    (0.98, 0.973)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "solver": [Among("auto", "svd", "eigen")],
        "shrinkage": [None, FRACTION, Among("auto", *SHRINKAGES)],
        "priors": PRIORS,
        "reg_param": [FRACTION],
        "store_covariance": BOOLEAN,
        "tol": [None, NOT_NEGATIVE],
        "covariance_estimator": GUEST,
        "pooling": [FRACTION],
        "covariance": COVARIANCE,
        "form": FORM,
        "basis": BASIS,
    }

    def __init__(
        self,
        *,
        solver: str = "auto",
        shrinkage: Any = None,
        priors: Any = None,
        reg_param: float = 0.0,
        store_covariance: bool = False,
        tol: float | None = None,
        covariance_estimator: Any = None,
        pooling: float = 0.0,
        covariance: str = "maximum-likelihood",
        form: str = "full",
        basis: Any = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.pooling = pooling
        self.covariance = covariance
        self.form = form
        self.basis = basis

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from one pass over the rows.

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
        self._check_parameters()
        sample = self._read(X, y, sample_weight)
        moments = self._moments(sample, len(sample.classes))
        return self._learn(moments, sample.classes, sample.dtype, sample)

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn more rows; the result is that of one fit on all of them.

        Until every class has enough rows for a covariance, nothing can be predicted.

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
        self._check_parameters()
        require_whole_moments(self)
        known = self._classes_for(y, classes)
        sample = self._read(X, y, sample_weight, known)
        moments = self._moments(sample, len(known))
        if hasattr(self, "moments_"):
            moments = self.moments_.merge(moments)
        self.classes_, self.moments_ = known, moments
        if (moments.count <= (1 if self.form != "full" or self._regularised else moments.n_features)).any():
            return self
        return self._learn(moments, known, sample.dtype, None)

    @all_or_nothing
    def merge(self, other: Self) -> Self:
        """Add what another model learned from other rows; a.merge(b) and b.merge(a) are equal.

        Parameters
        ----------
        other : QuadraticDiscriminantAnalysis
            Fitted, with the same parameters and columns.

        Returns
        -------
        self
            The fitted estimator.
        """
        require_whole_moments(self)
        return self._learn(self._merged(other), self.classes_, self.means_.dtype, None)

    @property
    def rotations_(self) -> list[Array]:
        """The eigenvectors of each class's covariance, (d, d), in the order of ``scalings_``."""
        return [vectors for _, vectors in self._eigen()]

    @property
    def scalings_(self) -> list[Array]:
        """The variances along the axes of each class, largest first."""
        return [values for values, _ in self._eigen()]

    def _eigen(self) -> list[tuple[Array, Array]]:
        if not hasattr(self, "_covariances"):
            raise AttributeError(f"This {type(self).__name__} is not fitted yet; call fit first.")
        parts = [np.linalg.eigh(covariance) for covariance in self._covariances]
        return [(values[::-1], vectors[:, ::-1]) for values, vectors in parts]

    def summary(self, *args: Any, **kwargs: Any) -> Any:
        """Not defined: raises an error whose sentence says why and what to use.

        Parameters
        ----------
        *args : any
            Not read.
        *args : any
            Not read.
        *args : any
            Not read.
        **kwargs : any
            Not read.
        **kwargs : any
            Not read.
        **kwargs : any
            Not read.

        Returns
        -------
        NoReturn
            It always raises.

        Raises
        ------
        ParameterError
            Always.
        """
        raise ParameterError(
            "A quadratic discriminant has a covariance for each class and no weight for a column, so that there is no "
            "table of weights to test. LinearDiscriminantAnalysis and LogisticRegression have one; what this model is "
            "worth, loo_score(X, y) tells."
        )

    def _joint_log_likelihood(self, rows: Any) -> Array:
        def score(design: Any) -> Array:
            values = design.values
            return self._scores(values.toarray() if hasattr(values, "toarray") else values)

        rows = self._mapped(rows)
        with np.errstate(invalid="ignore", over="ignore"):
            if isinstance(rows, np.ndarray) and rows.size <= SMALL and rows.dtype == np.float64:
                scores = self._scores(rows)  # a few rows: the walk over blocks costs more than the arithmetic
            else:
                scores = map_rows(score, rows, len(self.classes_))
        if not np.isfinite(scores).all():
            require_finite(rows, self._names(), estimator=type(self).__name__)
            raise DataError("The scores of some rows are infinite although X is not: its values are too large.")
        return scores

    # Learning

    @property
    def _regularised(self) -> bool:
        return bool(self.shrinkage or self.reg_param or self.pooling)

    def _check_parameters(self) -> None:
        """Refuse what does not go together."""
        if self.solver == "svd" and self.shrinkage is not None:
            raise NotImplementedError("shrinkage not supported with 'svd' solver.")
        if self.solver == "svd" and self.covariance_estimator is not None:
            raise ParameterError(
                "covariance_estimator is not supported with solver='svd'. Try solver='eigen' or 'auto' instead."
            )
        if self.covariance_estimator is not None and self.shrinkage is not None and self.shrinkage != 0:
            raise ParameterError(
                "covariance_estimator and shrinkage parameters are not None. Only one of the two can be set."
            )
        if isinstance(self.shrinkage, str) and self.pooling:
            raise ParameterError(
                f"shrinkage={self.shrinkage!r} is estimated for the covariance of one class, and "
                f"pooling={self.pooling:g} mixes those of all; give shrinkage as a number, or leave pooling at 0."
            )
        guest = self.covariance_estimator is not None or self.covariance == "robust"
        if ((self.form != "full" or guest) and self._regularised) or (self.form != "full" and guest):
            raise ParameterError(
                "form, covariance='robust' and covariance_estimator each say what Σ_k is and cannot be combined with "
                "each other, nor with shrinkage, pooling or reg_param."
            )

    def _moments(self, sample: Sample, n_classes: int) -> ClassMoments:
        moments = class_moments(sample.blocks, n_classes, by_class=True, diagonal=self.form != "full")
        self._require_finite(moments, sample.X, self._names())
        return moments

    def _learn(self, moments: ClassMoments, classes: Array, dtype: Any, sample: Sample | None) -> Self:
        priors = self._priors_from(moments, classes)
        whitened, means, covariances = class_whitening(self, moments, classes, sample)
        self.classes_, self.priors_, self.moments_ = classes, priors, moments
        self._whitened, self._covariances = whitened, covariances
        self._scores = quadratic_scores(whitened, priors)
        self._residual = max(whitening_residual(one, C) for one, C in zip(whitened, covariances, strict=True))
        self.means_ = means.astype(dtype, copy=False)
        if self.store_covariance:
            self.covariance_ = [covariance.astype(dtype, copy=False) for covariance in covariances]
        elif hasattr(self, "covariance_"):
            del self.covariance_
        return self

    # Leave-one-out

    def _deleted_scores(self, X: Any, y: Any, sample_weight: Any) -> Array:
        plain = self.form == "full" and self.covariance != "robust" and self.covariance_estimator is None
        if not plain or self._regularised:
            raise ParameterError(
                "The closed-form leave-one-out is exact for plain covariances only; with shrinkage, pooling, a robust "
                "or a restricted covariance use sklearn.model_selection.cross_val_predict with LeaveOneOut()."
            )
        given = None if self.priors is None else self.priors_
        lost = 1.0 if self.covariance == "unbiased" else 0.0
        deletion = QuadraticDeletion(self._whitened, self.moments_.weight, lost, given, self.classes_)
        return deleted_scores(self, deletion, X, y, sample_weight)
