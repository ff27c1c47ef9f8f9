"""``sparsify`` and ``densify``, as scikit-learn's linear models have them."""

from __future__ import annotations

from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from discriminant.arrays import as_dense, in_memory
from discriminant.docstrings import documented


@documented
class SparseCoefficients:
    """``coef_`` as a sparse matrix, or as an array again."""

    coef_: Any

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
