"""``LeastSquaresClassifier``: scores fitted to targets of the classes (``methods.least_squares``); leave-one-out."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from discriminant.arguments import SEED, SHARE, among, checked, number
from discriminant.arrays import as_dense, in_memory
from discriminant.codings import ClassCoding
from discriminant.data import map_rows
from discriminant.decision.rule import Rule
from discriminant.errors import DataError, ParameterError
from discriminant.estimators.inferential import plain_weights
from discriminant.estimators.inputs import all_or_nothing, not_defined
from discriminant.estimators.moments import MomentClassifier, without_each
from discriminant.estimators.parameters import NOT_NEGATIVE, POSITIVE, Named, parameters
from discriminant.gaussian.least_squares import MarginMoments
from discriminant.gaussian.moments import ClassMoments
from discriminant.methods.least_squares import (
    CODINGS,
    LeastSquaresParameters,
    MinimumSquaredError,
    Problem,
    Solved,
    class_margins,
    merged,
    needed_coding,
    row_margins,
)
from discriminant.model import LinearDiscriminant
from discriminant.protocols import Array, Block

if TYPE_CHECKING:  # loaded with the first table, not with the first fit
    from discriminant.inference.linear_summary import Ols
    from discriminant.inference.summary import Summary


@parameters(
    coding=[Named(*CODINGS), ClassCoding, "array-like"],
    alpha=[NOT_NEGATIVE],
    margin=[None, POSITIVE, "array-like"],
)
class LeastSquaresClassifier(LeastSquaresParameters, MomentClassifier):
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
    classes_, discriminant_, moments_, history_, n_iter_

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
    moments_: ClassMoments = field(init=False)
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

    predict_proba = not_defined(
        "Least-squares outputs may lie outside [0, 1] and are not probabilities. Use LinearDiscriminantAnalysis or "
        "a logistic regression, or calibrate this model (sklearn.calibration.CalibratedClassifierCV)."
    )

    # Inference

    @checked(
        covariance=among("model", "HC0", "HC1", "HC2", "HC3"),
        intervals=among("wald", "bootstrap"),
        level=SHARE,
        draws=number(20, whole=True),
        random_state=SEED,
    )
    def summary(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        covariance: str = "model",
        intervals: str = "wald",
        level: float = 0.95,
        draws: int = 200,
        random_state: int = 0,
    ) -> Summary:
        """Estimates, standard errors, t-tests and intervals of the weights of each output, as a table.

        Parameters
        ----------
        covariance : {"model", "HC0", "HC1", "HC2", "HC3"}, default="model"
            With one variance of the residuals, or robust.
        intervals : {"wald", "bootstrap"}, default="wald"
            From Student's t, or from refits on rows drawn with replacement.
        random_state : int, default=0
            Seed of the bootstrap.

        >>> X, y = iris.X[50:], iris.y[50:]
        >>> table = LeastSquaresClassifier().fit(X, y).summary(X, y)
        >>> table.estimate.shape, bool((table.low < table.estimate).all())
        ((5,), True)
        """
        from discriminant.inference.linear_summary import ols_summary

        check_is_fitted(self)
        if self._margins is not None or len(self._problems) > 1:
            raise ParameterError("summary is defined where every row takes part in every output, without row margins.")
        problem, targets = self._problems[0][0], in_memory(self.targets_)
        if covariance != "model" and (X is None or problem.penalised):
            raise DataError("HC covariances need the rows: call summary(X, y, covariance=...), of an unpenalised fit.")
        fit = self._ols(problem, targets)
        A = plain_weights(self.discriminant_)
        outcomes = self.classes_[1:] if A.shape[1] == 1 else self.classes_[: A.shape[1]]
        named = self.discriminant_.names, outcomes
        notes = []
        if problem.rank < self.moments_.n_features:
            notes.append(
                "Some columns are collinear: their weights come from the pseudo-inverse, and so do the errors."
            )
        meat = None if covariance == "model" else self._meat(problem, fit, A, covariance, (X, y, sample_weight))
        table = ols_summary(fit, A, named, level, covariance, meat, notes)
        if intervals != "bootstrap":
            return table
        from discriminant.estimators.bootstrap import bootstrap_summary

        def outputs(model: Any) -> Array:
            return plain_weights(model.discriminant_).T.ravel()

        return bootstrap_summary(self, outputs, table, (X, y, sample_weight), draws, random_state)

    def _ols(self, problem: Solved, targets: Array) -> Ols:
        from discriminant.inference.linear_summary import Ols

        white, total = problem.whitened, problem.total
        r = white.rank
        M = np.zeros((1 + len(white.matrix), 1 + r))
        M[0, 0], M[0, 1:], M[1:, 1:] = 1.0, -(white.origin @ white.matrix) - problem.centre, white.matrix
        mean = problem.shares @ targets
        tss = total * (problem.energy @ targets**2 - mean**2)
        ridge = float(self.alpha)
        slopes = np.square(self.discriminant_.coef).sum(axis=1)
        rss = np.array([2 * total * problem.optimality(targets[:, [j]])[0] for j in range(targets.shape[1])])
        return Ols(M, total, 1 + r, rss - ridge * slopes, tss, ridge)

    def _meat(self, problem: Solved, fit: Ols, A: Array, kind: str, rows: tuple[Any, Any, Any]) -> Array:
        """Σ w ω e² u uᵗ of each output, u = [1, v]."""
        sample = self._rows_of_fit(*rows)

        def kernel(block: Block) -> Array:
            values = block.design.dense()
            v = problem._centred(values)
            u = np.c_[np.ones(len(v)), v]
            weight = np.ones(len(v)) if block.weight is None else block.weight
            e = in_memory(self.targets_)[np.asarray(block.target, dtype=np.intp)] - (values @ A[1:] + A[0])
            slack = 1 - np.einsum("ij,ij->i", u, u) / fit.total
            factor = weight / {"HC2": slack, "HC3": slack**2}.get(kind, np.ones(1))
            return np.stack([(u * (factor * e[:, j] ** 2)[:, None]).T @ u for j in range(e.shape[1])])

        found = sample.blocks.reduce(kernel)
        return np.asarray(found * (fit.total / (fit.total - fit.rank)) if kind == "HC1" else found)

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
        self._require_fitted()
        sample = self._rows_of_fit(X, y, sample_weight)
        margins = row_margins(margin, sample.blocks.n_rows)

        def deleted(values: Array, codes: Array, weight: Array, rows: slice) -> Array:
            out = np.empty((len(values), self.coding_.n_outputs))
            for problem, members, outputs in self._problems:
                parts = problem.deleted(values, codes, weight * members[codes], margins[rows])
                out[:, outputs] = self._targeted(parts, codes, weight)[:, outputs]
            return out

        return without_each(sample, self.coding_.n_outputs, deleted)

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
