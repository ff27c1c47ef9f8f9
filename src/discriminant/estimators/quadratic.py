"""``QuadraticDiscriminantAnalysis``: Gaussian classes with covariances of their own (``methods.quadratic``)."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np

from discriminant.arrays import in_memory
from discriminant.errors import ParameterError
from discriminant.estimators.gaussian import Deletion, GaussianClassifier
from discriminant.estimators.inputs import not_defined
from discriminant.estimators.parameters import FRACTION, NOT_NEGATIVE, Among, parameters
from discriminant.gaussian.leave_one_out import QuadraticDeletion
from discriminant.gaussian.quadratic import QuadraticDiscriminant
from discriminant.gaussian.weights import AxisScores, QuadraticScores
from discriminant.methods.gaussian import SHRINKAGES
from discriminant.methods.quadratic import Quadratic, QuadraticParameters
from discriminant.protocols import Array


@parameters(
    solver=[Among("auto", "svd", "eigen")],
    shrinkage=[None, FRACTION, Among("auto", *SHRINKAGES)],
    reg_param=[FRACTION],
    tol=[None, NOT_NEGATIVE],
    pooling=[FRACTION],
)
class QuadraticDiscriminantAnalysis(QuadraticParameters, GaussianClassifier):
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
    reg_param : float in [0, 1], default=0.0
        (1 − r) Σ_k + r I, in the units of X.
    store_covariance : bool, default=False
        Keep ``covariance_``, a list with one matrix for each class.
    tol : float or None, default=None
        Directions in which a class's standardised singular value is below it count as missing; None: below
        rounding.
    pooling : float in [0, 1], default=0.0
        Friedman's first parameter: Σ_k(λ) = [(1−λ) S_k + λ S_W] / [(1−λ) N_k + λ N].
    covariance : {"maximum-likelihood", "ml", "unbiased", "robust"}, default="maximum-likelihood"
        Divide by N_k, by N_k − 1, or take each class's minimum covariance determinant and its robust mean.

    Attributes
    ----------
    classes_, priors_, means_
    rotations_ : list of K ndarrays of shape (d, d)
        The eigenvectors of each class's covariance.
    scalings_ : list of K ndarrays of shape (d,)
        The variances along the axes of each class, largest first.
    covariance_ : list of K ndarrays of shape (d, d)
        Σ_k, where ``store_covariance`` asks for them.
    moments_, certificate_, history_, n_iter_

    See Also
    --------
    LinearDiscriminantAnalysis : One covariance for all classes.

    >>> qda = QuadraticDiscriminantAnalysis().fit(iris.X, iris.y)
    >>> round(qda.score(iris.X, iris.y), 2), round(qda.loo_score(iris.X, iris.y), 3)
    (0.98, 0.973)
    """

    _scores: QuadraticScores | AxisScores = field(init=False)

    def _count_parameters(self, K: int) -> int:
        """K means, K covariances, and K − 1 priors unless they are given."""
        d = int(self.means_.shape[1])
        free = {"full": d * (d + 1) // 2, "diagonal": d, "spherical": 1}[self.form]
        return K * (d + free) + (K - 1 if self.priors is None else 0)

    def _method(self) -> Quadratic:
        return self._as(Quadratic)

    @property
    def rotations_(self) -> list[Array]:
        """The eigenvectors of each class's covariance, (d, d), in the order of ``scalings_``."""
        return [vectors for _, vectors in self._eigen()]

    @property
    def scalings_(self) -> list[Array]:
        """The variances along the axes of each class, largest first."""
        return [values for values, _ in self._eigen()]

    def _eigen(self) -> list[tuple[Array, Array]]:
        if "_scores" not in vars(self):
            raise AttributeError(f"This {type(self).__name__} is not fitted yet; call fit first.")
        found = vars(self).get("_covariances")
        if found is None:  # fewer rows than columns: the rows stood for them
            moments, parts = self._method().covariances(self.moments_)
            found = [moments.in_units_of_X(part.matrix()) for part in parts]
        parts = [np.linalg.eigh(covariance) for covariance in found]
        return [(values[::-1], vectors[:, ::-1]) for values, vectors in parts]

    summary = not_defined(
        "A quadratic discriminant has a covariance for each class and no weight for a column, so that there is no "
        "table of weights to test. LinearDiscriminantAnalysis and LogisticRegression have one; what this model is "
        "worth, loo_score(X, y) tells."
    )

    def _model(self) -> QuadraticDiscriminant:
        return QuadraticDiscriminant(self._scores, self.classes_, self._feature_names(), type(self).__name__)

    def _checked(self, X: Any) -> Any:
        return self._mapped(super()._checked(X))

    # Leave-one-out

    def _deletion(self) -> Deletion:
        method = self._method()
        if not method.plain or method.regularised:
            raise ParameterError(
                "The closed-form leave-one-out is exact for plain covariances only; with shrinkage, pooling, a robust "
                "or a restricted covariance use sklearn.model_selection.cross_val_predict with LeaveOneOut()."
            )
        given = None if self.priors is None else in_memory(self.priors_)
        dof = 1.0 if self.covariance == "unbiased" else 0.0
        return QuadraticDeletion(self._whitened, self.moments_.weight, dof, given, self.classes_)
