"""``LinearDiscriminantAnalysis``: Gaussian classes with one covariance (``methods.gaussian``), and their axes."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discriminant.arrays import in_memory
from discriminant.data.sources import find_source
from discriminant.errors import NotAvailableError, ParameterError
from discriminant.estimators.gaussian import Deletion, GaussianClassifier
from discriminant.estimators.inferential import Uncertain
from discriminant.estimators.inputs import available_if
from discriminant.estimators.parameters import COUNT, FRACTION, NOT_NEGATIVE, Among, parameters
from discriminant.estimators.projecting import ProjectingClassifier
from discriminant.gaussian.leave_one_out import LinearDeletion
from discriminant.gaussian.weights import Directions
from discriminant.geometry.affine import AffineMap
from discriminant.methods.gaussian import SHRINKAGES, Linear, LinearParameters
from discriminant.protocols import Array

if TYPE_CHECKING:  # loaded with the first table, not with the first fit
    from discriminant.inference.linear_summary import GaussianFit

NOTE = (
    "Standard errors are those of large samples when the classes are Gaussian with one covariance; they say nothing "
    "where that is false. intervals='bootstrap' does not assume it."
)


@parameters(
    solver=[Among("auto", "svd", "lsqr", "eigen")],
    shrinkage=[None, FRACTION, Among("auto", *SHRINKAGES)],
    n_components=[None, COUNT],
    tol=[None, NOT_NEGATIVE],
)
class LinearDiscriminantAnalysis(LinearParameters, Uncertain, ProjectingClassifier, GaussianClassifier):
    """Gaussian classes with a common covariance: linear boundaries, posteriors, discriminant axes.

    g_k(x) = m_kᵗΣ⁻¹x − ½ m_kᵗΣ⁻¹m_k + ln P(C_k), with Σ pooled over the classes; the posteriors are the softmax of g
    (PRML 4.2.1, Alpaydin 5.5 and 10.5, Duda, Hart and Stork 2.6.2).  A drop-in for scikit-learn's.

    Parameters
    ----------
    solver : {"auto", "svd", "lsqr", "eigen"}, default="auto"
        All give the same answer, by one pass over the rows.  The names other than "auto" keep scikit-learn's habits:
        "svd" refuses shrinkage, "lsqr" has no ``transform``.
    shrinkage : float in [0, 1], "auto", "ledoit-wolf", "oas" or None, default=None
        (1 − s) Σ + s (tr Σ/d) I; "auto" and "ledoit-wolf" choose s by Ledoit and Wolf's formula, "oas" by Chen's,
        class by class on standardised columns.
    n_components : int or None, default=None
        Axes of ``transform``; None: min(K − 1, d), which is the most.
    store_covariance : bool, default=False
        Keep ``covariance_`` with solver "auto" and "svd" too.
    covariance : {"maximum-likelihood", "ml", "unbiased", "robust"}, default="maximum-likelihood"
        Divide the scatter by N or by N − K; or the minimum covariance determinant of the within-class residuals, with
        robust means (fast MCD).

    Attributes
    ----------
    coef_, intercept_, classes_, priors_, means_, xbar_
    scalings_ : ndarray of shape (d, m)
        The discriminant axes, with within-class variance 1 along each.
    explained_variance_ratio_
    covariance_ : ndarray of shape (d, d)
        Σ, where ``store_covariance`` or the solver keeps it.
    axes_ : Directions
        The axes with the between-class variance along each.
    rank_ : int
        The directions that were kept.
    discriminant_, moments_, certificate_, history_, n_iter_

    See Also
    --------
    QuadraticDiscriminantAnalysis : A covariance for each class.
    FisherDiscriminant : The same direction without the Gaussian model.

    >>> lda = LinearDiscriminantAnalysis().fit(iris.X, iris.y)
    >>> round(lda.score(iris.X, iris.y), 2), round(lda.loo_score(iris.X, iris.y), 2)
    (0.98, 0.98)
    """

    axes_: Directions = field(init=False)
    coef_: Array = field(init=False)
    intercept_: Array = field(init=False)
    _max_components: int = field(init=False)

    def _count_parameters(self, K: int) -> int:
        """K means, one covariance, and K − 1 priors unless they are given."""
        d = int(self.means_.shape[1])
        free = {"full": d * (d + 1) // 2, "diagonal": d, "spherical": 1}[self.form]
        return K * d + free + (K - 1 if self.priors is None else 0)

    def _method(self) -> Linear:
        return self._as(Linear)

    @cached_property
    def covariance_(self) -> Array:
        """Σ, where ``store_covariance`` or the solver keeps it; of fewer rows than columns formed when asked for."""
        method = self._method()
        if "moments_" not in vars(self) or not method.stores_covariance:
            raise AttributeError("covariance_ is kept with store_covariance=True, or solver='lsqr' or 'eigen'.")
        found = method.covariance_of(self.moments_).astype(self._dtype(), copy=False)
        source = find_source(self.coef_)
        return found if source is None else source.native(found)  # type: ignore[no-any-return]

    @property
    def _axes(self) -> AffineMap:
        axes, count = self.axes_, self._max_components
        matrix = axes.matrix[:, :count]
        # scikit-learn's eigen solver measures from zero, the others from the overall mean.
        start = axes.origin @ matrix if self.solver == "eigen" else -axes.centre[:count]
        names = self.discriminant_.feature_names
        return AffineMap(np.vstack([start, matrix]), axes.origin, self._basis, feature_names=names)

    def _gaussian_fit(self, by_formula: bool) -> tuple[GaussianFit, str]:
        from discriminant.inference.linear_summary import GaussianFit

        plain = self._method().plain and not self.shrinkage
        if not plain and by_formula:
            raise ParameterError(
                "Standard errors by formula are for one full covariance without shrinkage; use summary(X, y, "
                "intervals='bootstrap')."
            )
        white, moments = self._whitened, self.moments_
        total = moments.total - (len(self.classes_) if plain else 0)
        known = self.priors is not None
        return GaussianFit(white.matrix, white.means, white.origin, moments.weight, total, known), NOTE

    # Leave-one-out

    def _deletion(self) -> Deletion:
        if not self._method().plain or self.shrinkage:
            raise ParameterError(
                "The closed-form leave-one-out is exact for the plain covariance only; with shrinkage, a robust or a "
                "restricted covariance use sklearn.model_selection.cross_val_predict with LeaveOneOut()."
            )
        dof = len(self.classes_) if self.covariance == "unbiased" else 0
        given = None if self.priors is None else in_memory(self.priors_)
        return LinearDeletion(self._whitened, self.moments_.weight, self.moments_.total - dof, given)


def _projects(model: LinearDiscriminantAnalysis) -> None:
    if model.solver == "lsqr":
        raise NotAvailableError("transform not implemented for 'lsqr' solver (use 'svd', 'eigen' or 'auto').")


# scikit-learn wraps ``transform`` when the class is made, in a function that is always there: hidden after that.
for _name in ("transform", "fit_transform"):
    setattr(LinearDiscriminantAnalysis, _name, available_if(_projects)(getattr(LinearDiscriminantAnalysis, _name)))
