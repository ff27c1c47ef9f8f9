"""``LeastSquaresClassifier``: scores fitted to targets of the classes (``methods.least_squares``); leave-one-out."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from discriminant.arrays import as_dense, in_memory
from discriminant.codings import ClassCoding
from discriminant.data import map_rows
from discriminant.decision.rule import Rule
from discriminant.errors import ParameterError
from discriminant.estimators.closed_summaries import LeastSquaresInference
from discriminant.estimators.gaussian import require_rows_of_fit
from discriminant.estimators.inputs import all_or_nothing
from discriminant.estimators.parameters import NOT_NEGATIVE, POSITIVE, Named, parameters
from discriminant.gaussian.least_squares import MarginMoments
from discriminant.methods.least_squares import (
    CODINGS,
    LeastSquaresParameters,
    MinimumSquaredError,
    Problem,
    class_margins,
    merged,
    needed_coding,
    row_margins,
)
from discriminant.model import LinearDiscriminant
from discriminant.protocols import Array, Block


@parameters(
    coding=[Named(*CODINGS), ClassCoding, "array-like"],
    alpha=[NOT_NEGATIVE],
    margin=[None, POSITIVE, "array-like"],
)
class LeastSquaresClassifier(LeastSquaresParameters, LeastSquaresInference):
    """Minimum squared error: the linear discriminant a = Y†b, with ridge and any target coding.

    argmin Σ w ½‖z − t‖² + α/2 ‖w‖² over z = Y A, in closed form from one pass (Duda, Hart and Stork 5.8, PRML 4.1.3).

    Parameters
    ----------
    coding : str, array-like of shape (K, q) or ClassCoding, default="auto"
        The targets: "auto", "two-class", "one-of-k", "one-vs-rest", "one-vs-rest-k-1", "pairwise", "fisher", or a
        matrix.  "auto": −1, +1 for two classes, one-of-K for more.  "one-of-k": 1 for the class, 0 for the others;
        the outputs sum to one.  "one-vs-rest": +1 and −1, as scikit-learn's RidgeClassifier.  "fisher": N/N_k and
        −N/(N − N_k), which give Fisher's direction and, for two classes, w0 = −w·m.  A (K, q) matrix: any targets,
        NaN where a class takes no part in an output.
    alpha : float, default=0.0
        The penalty α‖w‖² in scikit-learn's scale (RidgeClassifier): beside the sum over rows, with a free intercept.
        In this package's J = Σw ½(z−t)² / Σw + λ/2 ‖w‖² it is λ = alpha / Σw.
    margin : float, array-like of shape (K,), mapping or None, default=None
        b > 0: what the targets of each class are multiplied with; None: 1.  For two classes: targets −b_0 and +b_1.
        A margin for each row: ``fit(X, y, margin=b)``.
    decoder : {"maximum", "sum", "votes", "unanimous", "nearest"} or None, default=None
        How outputs name a class; None: the coding's own way.

    Attributes
    ----------
    certificate_ : Certificate
        The minimum, and how far rounding left the weights from it.
    coef_ : ndarray of shape (q, d̂)
        Weights of the outputs.  Columns that depend on each other, without a penalty: those of the pseudo-inverse,
        which are smallest in w0² + ‖w‖² in the units of X.
    intercept_, coding_
    targets_ : ndarray of shape (K, q)
        The targets of the classes, margins included.
    classes_, discriminant_, moments_, history_, n_iter_, n_features_in_, feature_names_in_

    See Also
    --------
    Adaline : The same minimum, approached sample by sample.
    FisherDiscriminant : The direction that the coding "fisher" gives.

    >>> model = LeastSquaresClassifier().fit(iris.X, iris.y)
    >>> model.decision_function(iris.X[:1]).round(3)
    array([[ 0.979,  0.125, -0.104]])
    >>> round(model.score(iris.X, iris.y), 3), round(model.loo_score(iris.X, iris.y), 3)
    (0.847, 0.827)
    """

    coding_: ClassCoding = field(init=False)
    targets_: Array = field(init=False)
    coef_: Array = field(init=False)
    discriminant_: LinearDiscriminant = field(init=False)
    _margins: MarginMoments | None = field(init=False)
    _problems: list[Problem] = field(init=False)

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, margin: Any = None) -> Self:
        """Learn from one pass over the rows.

        >>> LeastSquaresClassifier(alpha=1.0).fit(iris.X, iris.y).coef_.shape
        (3, 4)
        """
        return self._hold(self._method().fit(self._sample(X, y, sample_weight), margin))

    @all_or_nothing
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, *, margin: Any = None
    ) -> Self:
        """Learn more rows; the result is that of one fit on all of them.

        >>> model = LeastSquaresClassifier().partial_fit(iris.X[::2], iris.y[::2], classes=iris.classes)
        >>> whole = LeastSquaresClassifier().fit(iris.X, iris.y)
        >>> bool(abs(model.partial_fit(iris.X[1::2], iris.y[1::2]).coef_ - whole.coef_).max() < 1e-9)
        True
        """
        sample = self._sample(X, y, sample_weight, self._classes_for(classes))
        return self._hold(self._method().part(sample, vars(self), margin))

    @all_or_nothing
    def merge(self, other: Self) -> Self:
        self._merged(other)
        moments, margins = merged((self.moments_, self._margins), (other.moments_, other._margins))
        return self._hold(self._method().learn(moments, self._schema(), None, margins))

    def _method(self) -> MinimumSquaredError:
        return self._as(MinimumSquaredError)

    def _dtype(self) -> Any:
        return as_dense(vars(self).get("coef_", 0.0)).dtype

    # Prediction

    @property
    def predict_proba(self) -> Any:
        """Not defined: raises an AttributeError that says what to use."""
        raise AttributeError(
            "Least-squares outputs may lie outside [0, 1] and are not probabilities. Use LinearDiscriminantAnalysis or "
            "a logistic regression, or calibrate this model (sklearn.calibration.CalibratedClassifierCV)."
        )

    # Leave-one-out

    def leverages(self, X: Any) -> Array:
        """h(x) = y·(YᵗY + αI₀)⁻¹y, the pull of a row of weight one on its own output.

        Returns
        -------
        ndarray of shape (n,)
            Leverages.

        >>> round(float(LeastSquaresClassifier().fit(iris.X, iris.y).leverages(iris.X).sum()), 6)
        5.0
        """
        rows = self._mapped(self._checked(X))
        if len(self._problems) > 1:
            raise ParameterError(f"The outputs of the coding {self.coding_.name!r} have leverages of their own.")
        problem = self._problems[0][0]
        return map_rows(lambda design: problem.leverages(design.dense()), rows)

    def loo_decision_function(self, X: Any, y: Any, sample_weight: Any = None, *, margin: Any = None) -> Array:
        """The scores of each training row under the model learned without it: exact, by leverages, no refit.

        Returns
        -------
        ndarray of shape (n, K), or (n,) for two classes
            Class scores; of two classes, positive for ``classes_[1]``.

        >>> model = LeastSquaresClassifier().fit(iris.X, iris.y)
        >>> model.loo_decision_function(iris.X, iris.y)[:1].round(3)
        array([[ 0.978,  0.127, -0.106]])
        """
        return self._rule.decision_function(self._deleted_outputs(X, y, sample_weight, margin))

    def loo_predict(self, X: Any, y: Any, sample_weight: Any = None, *, margin: Any = None) -> Array:
        """The class of each training row under the model learned without it.

        >>> model = LeastSquaresClassifier().fit(iris.X, iris.y)
        >>> int((model.loo_predict(iris.X, iris.y) != iris.y).sum())
        26
        """
        return self._rule.labels(self._deleted_outputs(X, y, sample_weight, margin))

    def loo_score(self, X: Any, y: Any, sample_weight: Any = None, *, margin: Any = None) -> float:
        """The leave-one-out accuracy on the training rows, exact.

        >>> round(LeastSquaresClassifier().fit(iris.X, iris.y).loo_score(iris.X, iris.y), 3)
        0.827
        """
        hits = self.loo_predict(X, y, sample_weight, margin=margin) == np.asarray(y).ravel()
        return float(np.average(hits, weights=sample_weight))

    def _deleted_outputs(self, X: Any, y: Any, sample_weight: Any, margin: Any) -> Array:
        """(n, q) outputs."""
        check_is_fitted(self)
        sample = self._sample(X, y, sample_weight, self.classes_)
        n = sample.blocks.n_rows
        require_rows_of_fit(self.moments_.total, sample.total)
        margins = row_margins(margin, n)
        out = np.empty((n, self.coding_.n_outputs))

        def fill(block: Block) -> int:
            rows = slice(block.start, block.start + block.rows)
            weight = np.ones(block.rows) if block.weight is None else block.weight
            codes = np.asarray(block.target, dtype=np.intp)
            values = block.design.dense()
            for problem, members, outputs in self._problems:
                parts = problem.deleted(values, codes, weight * members[codes], margins[rows])
                out[rows, outputs] = self._targeted(parts, codes, weight)[:, outputs]
            return block.rows

        sample.blocks.reduce(fill)
        return out

    def _targeted(self, parts: Array, codes: Array, weight: Array) -> Array:
        """Outputs (n, q) from outputs for targets of one (n, K); Fisher's targets are counted again without the row."""
        if not self._counted:
            return np.asarray(parts @ in_memory(self.targets_))
        parts = parts * class_margins(self.margin, self.classes_)
        counts = np.tile(self.moments_.weight, (len(codes), 1))
        counts[np.arange(len(codes)), codes] -= weight
        total = counts.sum(axis=1, keepdims=True)
        own = np.where(counts > 1e-12 * total, total / np.where(counts > 0, counts, 1.0), 0.0)
        rest = np.where(total - counts > 1e-12 * total, total / np.where(total > counts, total - counts, 1.0), 0.0)
        outputs = parts * own - (parts.sum(axis=1, keepdims=True) - parts) * rest
        return np.asarray(outputs[:, 1:] if len(self.classes_) == 2 else outputs)

    @property
    def _counted(self) -> bool:
        return isinstance(self.coding, str) and self.coding.lower() == "fisher"

    @property
    def _rule(self) -> Rule:
        return Rule(self.classes_, self.coding_.n_outputs, needed_coding(self.coding_))
