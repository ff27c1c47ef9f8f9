"""What classifiers with outputs of their own share once they have learned: from scores of outputs to a class.

    z = [1, φ(x)] A,        g = decode(z),        predict: the class of the largest g, or the reject label

The coding says what the q outputs mean; posteriors are there where the criterion was a likelihood.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from discriminant.arrays import as_dense, in_memory
from discriminant.decision import Rule
from discriminant.docstrings import documented
from discriminant.errors import NotAvailableError
from discriminant.estimators.inputs import available_if
from discriminant.estimators.learner import Learner
from discriminant.methods.fit import Fit, Sample
from discriminant.protocols import Array

if TYPE_CHECKING:  # closed forms decide too, and load neither
    from discriminant.codings import ClassCoding
    from discriminant.criteria import Pointwise
    from discriminant.methods.criterion import CriterionMethod


@documented
class Deciding(Learner):
    """Decisions of a classifier with ``discriminant_``, ``coding_``, ``criterion_`` and, with a basis, its features."""

    _wide: ClassVar[tuple[str, ...]] = ("predict_proba", "predict_log_proba")
    coding_: ClassCoding
    criterion_: Pointwise

    def outputs(self, X: Any) -> Array:
        """z, the scores of the outputs themselves, before the decoder.

        Returns
        -------
        ndarray of shape (n, q)
            One column for each output.

        >>> model = Discriminant(criterion="squared", coding="one-vs-rest-k-1").fit(iris.X, iris.y)
        >>> model.outputs(iris.X[:2]).shape
        (2, 2)
        """
        rows = self._checked(X)
        return self.discriminant_.scores(rows)

    def _has_posteriors(self) -> None:
        """Refuse where there are no probabilities: no likelihood was minimised, or no way of the coding leads back."""
        if "discriminant_" not in vars(self):
            raise NotAvailableError(f"{type(self).__name__} has probabilities, if any, only after fit.")
        if self.discriminant_.link is None:
            raise NotAvailableError(
                f"The scores of {type(self).__name__} with criterion {type(self.criterion_).__name__} are not log "
                "odds: there are no probabilities. Calibrate it (sklearn.calibration.CalibratedClassifierCV)."
            )

    @available_if(_has_posteriors)
    def predict_proba(self, X: Any) -> Array:
        """P(C_k|x), in float64.

        Pairwise outputs are coupled by Wu, Lin and Weng's second method.  Defined where the criterion gives
        probabilities.

        >>> from discriminant.penalties import Ridge
        >>> model = Discriminant(criterion="logistic", coding="pairwise", penalty=Ridge(0.01)).fit(iris.X, iris.y)
        >>> model.predict_proba(iris.X[:1]).round(2)
        array([[0.98, 0.02, 0.  ]])
        """
        return self._posteriors("predict_proba", X)

    @available_if(_has_posteriors)
    def predict_log_proba(self, X: Any) -> Array:
        """log P(C_k|x), where the criterion gives probabilities.

        >>> from discriminant.penalties import Ridge
        >>> model = Discriminant(criterion="softmax", penalty=Ridge(0.01)).fit(iris.X, iris.y)
        >>> model.predict_log_proba(iris.X[:1]).round(1)
        array([[ -0. ,  -3.7, -15.8]])
        """
        return self._posteriors("predict_log_proba", X)

    @property
    def _rule(self) -> Rule:
        return self.discriminant_._rule


@documented
class DiscriminativeClassifier(Deciding):
    """A classifier whose fit is argmin J.  A subclass says in ``_method`` by which method."""

    warm_start: bool = False

    def _follows_rows(self) -> bool:
        return self.basis is None and bool(self.get_params(deep=False).get("fit_intercept", True))

    def _method(self) -> CriterionMethod:
        return self._as(self._kind)  # type: ignore[no-any-return]

    def _fitted(self, sample: Sample) -> Fit:
        return self._method().fit(sample, self._previous(sample))

    def _previous(self, sample: Sample) -> Array | None:
        """The weights of the last fit, with ``warm_start``, where it was of the same classes."""
        known = self.warm_start and "discriminant_" in vars(self)
        same = known and np.array_equal(self.classes_, sample.classes)
        return np.array(self.discriminant_.weights) if same else None


def _same_numbers(given: Any, kept: Array) -> bool:
    """Whether these are the kept numbers, to the bit: a fifth of the time of ``array_equal``."""
    values = given if type(given) is np.ndarray else as_dense(given)
    return values.shape == kept.shape and values.tobytes() == kept.tobytes()


@documented
class SparseCoefficients:
    """``coef_`` as a sparse matrix, or as an array again."""

    coef_: Any
    intercept_: Any
    classes_: Array

    _kept: tuple[Array, Array] | None = None  # coef_ and intercept_ as the fit left them

    def _as_fitted(self) -> bool:
        """Whether ``coef_`` and ``intercept_`` are what the fit left there: users may set them."""
        kept, now = self._kept, (self.coef_, self.intercept_)
        return kept is not None and all(_same_numbers(*pair) for pair in zip(now, kept, strict=True))

    def _coefficients(self) -> Array:
        """(1+d, q): the weights that ``coef_`` and ``intercept_`` hold now, whoever set them."""
        coef = as_dense(self.coef_)
        return np.vstack([np.broadcast_to(in_memory(self.intercept_), len(coef)), coef.T])

    def sparsify(self) -> Self:
        """Turn ``coef_`` into a sparse matrix.

        >>> model = LogisticRegression(C=0.1, l1_ratio=1.0).fit(iris.X, iris.y).sparsify()
        >>> model.coef_.shape, model.coef_.nnz < 12
        ((3, 4), True)
        """
        from scipy.sparse import csr_matrix

        check_is_fitted(self)
        self.coef_ = csr_matrix(in_memory(self.coef_))
        return self

    def densify(self) -> Self:
        """Turn ``coef_`` back into an array.

        >>> model = LogisticRegression().fit(iris.X, iris.y)
        >>> model.sparsify().densify().coef_.shape
        (3, 4)
        """
        check_is_fitted(self)
        self.coef_ = as_dense(self.coef_)
        return self
