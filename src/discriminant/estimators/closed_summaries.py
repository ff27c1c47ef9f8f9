"""``summary`` of the discriminants in closed form: least squares, Gaussian classes with one covariance, Fisher."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from discriminant.arguments import SEED, SHARE, among, checked, number
from discriminant.arrays import in_memory
from discriminant.docstrings import documented
from discriminant.errors import DataError, ParameterError
from discriminant.estimators.gaussian import GaussianClassifier
from discriminant.estimators.inferential import Uncertain, contrasts, plain_weights
from discriminant.estimators.moments import MomentClassifier
from discriminant.gaussian.least_squares import LeastSquares, MarginMoments
from discriminant.gaussian.moments import ClassMoments
from discriminant.gaussian.row_least_squares import RowLeastSquares
from discriminant.gaussian.sparse_least_squares import SparseLeastSquares
from discriminant.methods.moments import whiten_within
from discriminant.model import LinearDiscriminant
from discriminant.protocols import Array, Block

if TYPE_CHECKING:  # loaded with the first table, not with the first fit
    from discriminant.inference.linear_summary import GaussianFit, Ols
    from discriminant.inference.summary import Summary
    from discriminant.methods.least_squares import Problem

Solved = LeastSquares | RowLeastSquares | SparseLeastSquares
GAUSSIAN_NOTE = (
    "Standard errors are those of large samples when the classes are Gaussian with one covariance; they say nothing "
    "where that is false. intervals='bootstrap' does not assume it."
)
FISHER_NOTE = (
    "The direction is Σ⁻¹ times the difference of the means; its errors are those of Gaussian classes with one "
    "covariance. The intercept follows from the threshold asked for and is given without."
)


@documented
class LeastSquaresInference(MomentClassifier):
    """t-tests of least-squares weights."""

    alpha: float
    discriminant_: LinearDiscriminant
    moments_: ClassMoments
    targets_: Array
    _margins: MarginMoments | None
    _problems: list[Problem]

    @checked(intervals=among("wald", "bootstrap"), level=SHARE, draws=number(20, whole=True), random_state=SEED)
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
        covariance : {"model", "HC0", "HC1"}, default="model"
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
        from discriminant.inference.linear_summary import HC, check_kind, ols_summary

        check_is_fitted(self)
        check_kind(covariance, ("model", *HC))
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
        sample = self._sample(*rows, self.classes_)
        total = sample.total
        if abs(total - fit.total) > 1e-6 * fit.total:
            raise DataError(
                f"The fit saw a total weight of {fit.total:g} and these rows have {total:g}; give its own rows."
            )

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


@documented
class ContrastInference(MomentClassifier):
    """Wald tests of the weights of a discriminant that Gaussian classes with one covariance have."""

    discriminant_: LinearDiscriminant
    moments_: ClassMoments

    def _gaussian_fit(self, by_formula: bool) -> tuple[GaussianFit, str]:
        """What the errors follow from, and a note on them; or a sentence why there are none (``by_formula``)."""
        raise NotImplementedError(f"{type(self).__name__} must say what its errors follow from.")

    @checked(intervals=among("wald", "bootstrap"), level=SHARE, draws=number(20, whole=True), random_state=SEED)
    def summary(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        intervals: str = "wald",
        level: float = 0.95,
        reference: Any = None,
        draws: int = 200,
        random_state: int = 0,
    ) -> Summary:
        """Weights of each class relative to a reference, with standard errors, Wald tests and intervals, as a table.

        Of Fisher's discriminant those of its one direction for two classes.  The class moments suffice; X, y and
        sample_weight are for intervals="bootstrap", which refits ``draws`` times and assumes nothing of the classes.

        Parameters
        ----------
        intervals : {"wald", "bootstrap"}, default="wald"
            By the delta method, or from refits on rows drawn with replacement.
        reference : label or None, default=None
            The class that the others are told from; None: the first.
        random_state : int, default=0
            Seed of the bootstrap.

        >>> table = LinearDiscriminantAnalysis().fit(iris.X, iris.y).summary(iris.X, iris.y)
        >>> table.estimate.shape, sorted(set(table.outcomes))
        ((10,), ['versicolor', 'virginica'])
        """
        from discriminant.inference.linear_summary import gaussian_summary
        from discriminant.inference.summary import against, place_of, relative

        check_is_fitted(self)
        K, first = len(self.classes_), place_of(reference, self.classes_.tolist())
        fit, note = self._gaussian_fit(by_formula=intervals != "bootstrap")
        theta = contrasts(self.discriminant_).reshape(K - 1, -1).T
        named = self.discriminant_.names, self.classes_[1:]
        table = gaussian_summary(fit, theta, named, level, [note], slopes_only=note is FISHER_NOTE)
        table = relative(table, self.classes_.tolist(), first) if first else table
        if intervals != "bootstrap":
            return table

        from discriminant.estimators.bootstrap import bootstrap_summary

        def read(model: Any) -> Array:
            return against(contrasts(model.discriminant_).reshape(K - 1, -1), first).ravel()

        return bootstrap_summary(self, read, table, (X, y, sample_weight), draws, random_state)


@documented
class GaussianInference(Uncertain, ContrastInference, GaussianClassifier):
    """The tests of linear discriminant analysis."""

    priors: Any
    shrinkage: Any

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
        return GaussianFit(white.matrix, white.means, white.origin, moments.weight, total, known), GAUSSIAN_NOTE


@documented
class FisherInference(ContrastInference):
    """The tests of Fisher's direction for two classes."""

    direction: str
    tol: float | None

    def _gaussian_fit(self, by_formula: bool) -> tuple[GaussianFit, str]:
        from discriminant.inference.linear_summary import GaussianFit

        if len(self.classes_) != 2 or self.direction != "fisher":
            raise ParameterError(
                "summary is about Fisher's one direction for two classes; for more, LinearDiscriminantAnalysis has one."
            )
        moments = self.moments_
        white = whiten_within(moments, moments.total, self.tol)
        fit = GaussianFit(white.matrix, white.means, white.origin, moments.weight, moments.total - 2, True)
        return fit, FISHER_NOTE
