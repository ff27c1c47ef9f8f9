"""``summary``, ``diagnostics`` and ``probability_interval`` of a fitted logistic regression: inference as a table.

A fit in memory holds on to its rows until the first table takes the sums over them that it is made of (an ``Optimum``:
one evaluation at the weights); a pickle holds the sums, and no row.  What needs the rows themselves finds them by a
weak reference while the user still holds them, and asks for them afterwards.  Rows that are not those of the fit, or
were changed since, are recognised by their score, which is not zero.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property, partial
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from discriminant.arguments import SEED, SHARE, Allowed, among, checked, number, optional
from discriminant.data import ArrayBlocks, as_rows
from discriminant.data.check import check_weights
from discriminant.data.scaling import Scaling
from discriminant.docstrings import documented
from discriminant.errors import DataError, ParameterError
from discriminant.estimators.deciding import Deciding, SparseCoefficients
from discriminant.estimators.inputs import Inputs, is_table
from discriminant.model import LinearDiscriminant
from discriminant.penalties.jeffreys import BIAS_REDUCED
from discriminant.protocols import Array, Evaluation
from discriminant.thresholds import HELD_ROWS, KEPT_VALUES

if TYPE_CHECKING:  # loaded with the first table, not with the first fit
    from discriminant.inference.diagnostics import Diagnostics
    from discriminant.inference.likelihood import Likelihood, Optimum
    from discriminant.inference.limit import LimitingFit
    from discriminant.inference.summary import Request, Summary


class Remembered:
    """What a fit keeps of its rows: sums, taken when asked for, and references, which copies and pickles lose.

    The references are weak, but where ``held``: rows of hardly more numbers than their sums.
    """

    def __init__(self, *objects: Any, sums: Callable[[], Optimum] | None = None, held: bool = False) -> None:
        self._sums, self.held = sums, held
        self._references: list[Callable[[], Any] | None] = []
        with suppress(TypeError):  # lists and numbers cannot be referred to weakly
            refer = partial(partial, _itself) if held else weakref.ref
            self._references = [None if item is None else refer(item) for item in objects]

    def __getstate__(self) -> dict[str, Any]:
        return {"optimum": self.optimum, "_references": [], "held": False}

    @cached_property
    def optimum(self) -> Optimum | None:
        """The sums; the rows are let go with them."""
        sums, self._sums = self._sums, None
        return None if sums is None else sums()

    def recall(self) -> tuple[Any, ...] | None:
        """The objects, or None where one of them is gone."""
        found = tuple(None if reference is None else reference() for reference in self._references)
        gone = not found or any(a is not None and b is None for a, b in zip(self._references, found, strict=True))
        return None if gone else found


def _itself(item: Any) -> Any:
    return item


def _likelihood_of(
    blocks: ArrayBlocks, n_classes: int, offset: Array | None, scaling: Scaling | None, intercept: bool, jeffreys: bool
) -> Likelihood:
    from discriminant.inference.likelihood import likelihood

    plain = likelihood(blocks, n_classes, offset, scaling, intercept)
    if not jeffreys:
        return plain
    from discriminant.inference.firth import JeffreysLikelihood

    return JeffreysLikelihood(plain.objective)


def _corrected(blocks: ArrayBlocks, n_classes: int, penalty: str) -> Optimum:
    from discriminant.inference.firth import corrected

    return corrected(blocks, n_classes, penalty)[0]


def _sums(parts: tuple[Any, ...], weights: Array, center: Array | None) -> Optimum:
    model = _likelihood_of(*parts)
    return model.optimum(model.from_weights(weights, center))


def _is_summary(value: Any) -> bool:
    from discriminant.inference.summary import Summary

    return isinstance(value, Summary)


TABLE = Allowed("a summary", _is_summary)


@documented
class Uncertain(Inputs):
    """Intervals of predictions for a classifier whose posteriors are softmax functions of linear scores."""

    classes_: Array

    @checked(summary=TABLE, level=SHARE)
    def probability_interval(self, X: Any, summary: Summary, level: float = 0.95) -> Array:
        """Intervals for the probabilities of each row, from the covariance of a ``summary``.

        Returns
        -------
        ndarray of shape (n, 2), or (n, K, 2) for K > 2
            Two classes: for P(classes_[1]|x).  More: for each class.

        >>> X, y = iris.X[50:, 2:], iris.y[50:]
        >>> model = LogisticRegression(C=float("inf")).fit(X, y)
        >>> model.probability_interval(X[:1], model.summary(X, y)).shape
        (1, 2)
        """
        from discriminant.inference.intervals import probability_intervals

        return probability_intervals(self._first_table(summary), self._dense_rows(X), level)

    @checked(
        column=Allowed("a name or a position", lambda value: isinstance(value, str | Integral)),
        summary=TABLE,
        level=SHARE,
    )
    def boundary_interval(self, X: Any, column: Any, summary: Summary, level: float = 0.95) -> Array:
        """The value of a column at which the log odds are zero, all else as in each row, and its interval.

        By Fieller's method: −inf and inf where the column's weight may be zero at this level.  For two classes.

        Parameters
        ----------
        column : str or int
            The column, by name or position.

        Returns
        -------
        ndarray of shape (n, 3)
            The value and the two ends of its interval.

        >>> X, y = iris.X[50:, 2:], iris.y[50:]
        >>> model = LogisticRegression(C=float("inf")).fit(X, y)
        >>> model.boundary_interval(X[:1], 0, model.summary(X, y)).round(1)
        array([[5.3, 5. , 6.9]])
        """
        from discriminant.inference.intervals import boundary_intervals

        known = self._column_names() or []
        width = len(known) or self.n_features_in_
        if column in known:
            column = known.index(column)
        elif isinstance(column, str) or not 0 <= column < width:
            raise DataError(f"There is no column {column!r}; there are {width}.")
        return boundary_intervals(self._first_table(summary), self._dense_rows(X), int(column), level)

    def _first_table(self, summary: Summary) -> Summary:
        """A table whose weights are relative to the first class."""
        first = str(self.classes_[0])
        if summary.kinds.get("reference", first) != first:
            raise ParameterError(f"This needs a table relative to the first class: summary(reference={first!r}).")
        return summary

    def _dense_rows(self, X: Any) -> Array:
        rows = as_rows(self._read_rows(X, reset=False))
        return np.asarray(rows.design(0, rows.shape[0]).dense())


def plain_weights(model: LinearDiscriminant) -> Array:
    """(1+d, q): weights of x itself, intercepts in row 0."""
    return np.vstack([model.intercept, model.coef.T])


def contrasts(model: LinearDiscriminant, limit: LimitingFit | None = None) -> Array:
    """((K−1)(1+d),): the weights of each class but the first, relative to it, intercepts first."""
    if limit is not None:
        found = limit.coefficients
        return np.asarray(found if found.ndim == 1 else found[:, 1:].T.ravel())
    A = plain_weights(model)
    return np.asarray((A if A.shape[1] == 1 else A[:, 1:] - A[:, :1]).T.ravel())


@documented
class Inferential(SparseCoefficients, Uncertain, Deciding):
    """Statistical inference for a classifier whose ``discriminant_`` maximises a (penalised) logistic likelihood."""

    C: float
    class_weight: Any
    fit_intercept: bool
    limit_: LimitingFit
    penalty: Any
    tol: float
    _rows: Remembered

    @checked(level=SHARE, draws=number(20, whole=True), random_state=SEED)
    def summary(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        covariance: str = "model",
        intervals: str = "wald",
        tests: str | None = None,
        level: float = 0.95,
        reference: Any = None,
        groups: Any = None,
        strata: Any = None,
        draws: int = 200,
        random_state: int = 0,
        offset: Any = None,
    ) -> Summary:
        """Estimates, standard errors, tests and intervals, and measures of fit, as a table.

        Parameters
        ----------
        covariance : {"model", "HC0", "HC1", "cluster", "survey"}, default="model"
            Inverse information, robust, or robust to dependence within ``groups``.  "survey": weights are those of a
            sample drawn from ``strata`` in clusters (``groups``); tests are Student's t with clusters − strata + 1 −
            coefficients degrees of freedom.
        intervals : {"wald", "profile", "bootstrap"}, default="wald"
            After a ridge, "wald" is the Laplace approximation to the posterior.  "bootstrap": ``draws`` refits on
            rows drawn with replacement, for any penalty.
        tests : {"wald", "likelihood-ratio"} or None, default=None
            Which test the p values are of; None: the one that goes with the intervals, "likelihood-ratio" with
            profile ones.
        reference : label or None, default=None
            The reference class; None: the first.
        groups : array-like of shape (n,) or None, default=None
            The cluster of each row.
        strata : array-like of shape (n,) or None, default=None
            The stratum of each row, of a survey.
        random_state : int, default=0
            Seed of the bootstrap.

        Returns
        -------
        Summary
            A table.  After a fit in memory of up to 2000 parameters the table of the defaults needs no rows; for the
            others X, y, sample_weight and offset may be left out while the arrays handed to ``fit`` are still there.
            Weights count as repetitions of rows.  Without an intercept the test of the whole model is against scores of
            zero.

        >>> X, y = iris.X[50:], iris.y[50:]
        >>> table = LogisticRegression(C=float("inf")).fit(X, y).summary(X, y, covariance="HC0")
        >>> table.terms[-1], round(float(table.estimate[-1]), 1), round(float(table.standard_error[-1]), 1)
        ('x3', 18.3, 10.0)
        """
        from discriminant.inference.likelihood import NOTHING
        from discriminant.inference.robust import robust
        from discriminant.inference.summary import Request, place_of, relative, summarise, summarise_limit

        check_is_fitted(self)
        found = self._column_names()
        labels = [f"x{j}" for j in range(self.n_features_in_)] if found is None else found
        if tests is None:
            tests = "likelihood-ratio" if intervals == "profile" else "wald"
        request = Request(covariance, intervals, tests, level, groups, strata)
        request.check()
        first = place_of(reference, self.classes_.tolist())
        if first and "limit_" in vars(self):
            raise ParameterError("The classes are separated: infinite weights have no difference; leave out reference.")
        if intervals == "bootstrap":
            rows = self._training_rows(X, y, sample_weight, offset)
            return self._bootstrap(request, labels, rows, draws, random_state, first)
        self._require_likelihood()
        taken = "_rows" in vars(self) and "optimum" in vars(self._rows)
        kept = self._kept_sums() if X is None and (taken or not request.needs_rows) else None
        optimum, model, spread = None if request.needs_rows else kept, None, None
        if optimum is None and self.penalty in BIAS_REDUCED[1:]:
            if request.needs_rows:
                raise ParameterError(
                    f"penalty={self.penalty!r} has the model's covariance, 'wald' tests and intervals."
                )
            X, y, sample_weight, _ = self._training_rows(X, y, sample_weight, offset)
            optimum = _corrected(
                self._sample(X, y, sample_weight, self.classes_).blocks, len(self.classes_), self.penalty
            )
        # Each held weight has a likelihood of its own: rows are counted from the reference.  Else it is a linear map.
        moved = first if request.holds_weights else 0
        if optimum is None:
            kept = None if moved else kept
            model = self._likelihood(X, y, sample_weight, offset, moved, None if kept is None else kept.scaling)
            spread = robust(covariance, groups, strata, model.blocks)
            optimum = model.optimum(self._theta(model, moved), kept, NOTHING if spread is None else spread.asked)
            if X is None and not request.needs_rows and not self._rows.held:  # rows of the fit: kept for the next table
                vars(self._rows)["optimum"] = optimum
        if "limit_" in vars(self):
            return self._own_rows(summarise_limit(self.limit_, optimum, labels, request))
        classes = self.classes_[self._order(moved)].tolist()
        table = summarise(
            optimum, classes, labels, request, self._ridge(), model, self._farthest(optimum.total), spread
        )
        return self._own_rows(table if first == moved else relative(table, classes, first))

    def _own_rows(self, table: Summary) -> Summary:
        """The table without rows of intercepts that the fit does not have."""
        from discriminant.inference.summary import slopes_only

        return table if self.fit_intercept else slopes_only(table, 1 + self.discriminant_.n_features)

    @checked(at=among("overall", "mean"), level=SHARE, summary=optional(TABLE))
    def marginal_effects(
        self,
        X: Any = None,
        sample_weight: Any = None,
        *,
        at: str = "overall",
        level: float = 0.95,
        summary: Summary | None = None,
    ) -> Summary:
        """How much the probability of a class moves with each column, with standard errors by the delta method.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d), or None, default=None
            The rows to average over; None: those of the fit, while they are still there.
        at : {"overall", "mean"}, default="overall"
            The mean of the effects of the rows (average marginal effects), or the effect at the mean row.

        Returns
        -------
        Summary
            A row for each column, two classes: on P(classes_[1]|x); more: on each class.

        >>> X, y = iris.X[50:], iris.y[50:]
        >>> effects = LogisticRegression(C=float("inf")).fit(X, y).marginal_effects(X)
        >>> effects.terms[-1], round(float(effects.estimate[-1]), 2), round(float(effects.standard_error[-1]), 2)
        ('x3', 0.33, 0.11)
        """
        from discriminant.inference.intervals import marginal_effects

        table = self._first_table(self.summary() if summary is None else summary)
        if X is None:
            X, _, sample_weight, _ = self._training_rows(None, None, None, None)
        rows = as_rows(self._read_rows(X, reset=False))
        weight = check_weights(sample_weight, rows.shape[0])
        return marginal_effects(table, self.classes_.tolist(), rows, weight, at, level)

    def for_marginaleffects(self, data: Any = None, summary: Summary | None = None) -> Any:
        """This model for the package ``marginaleffects``: its ``predictions``, ``comparisons``, ``slopes`` take it.

        Parameters
        ----------
        data : data frame or None, default=None
            The rows that they are about; None: those of the fit, while they are still there.

        Returns
        -------
        marginaleffects.classes.ModelAbstract
            What its functions take in place of a model.

        Raises
        ------
        ImportError
            Where that package is not installed.

        See Also
        --------
        marginal_effects : Effects of columns without it, exact derivatives in one pass.

        >>> model = LogisticRegression(C=float("inf")).fit(iris.X[50:], iris.y[50:])
        >>> model.for_marginaleffects(iris.X[50:])  # an array has no names
        Traceback (most recent call last):
        ...
        discriminant.errors.DataError: marginaleffects knows columns by their names: fit the model to a data frame.
        """
        from discriminant.estimators.effects_package import adapted

        table = self._first_table(self.summary() if summary is None else summary)
        rows = self._training_rows(None, None, None, None)[0] if data is None else data
        return adapted(self, rows, table)

    def _farthest(self, total: float) -> float:
        """Standard errors from the optimum at which ``tol`` may let a fit of such rows end; half a one at most.

        A gap g of J leaves ½ Uᵗ I⁻¹ U ≤ g Σw, and so no part of the score U beyond √(2 g Σw) standard errors.
        """
        from discriminant.inference.summary import FAR

        proof = vars(self).get("certificate_")
        gap = self.tol * abs(proof.objective) if proof is not None and proof.converged else 0.0
        return float(np.clip(np.sqrt(2 * gap * total), FAR, 0.5))

    def _evaluated(self, A: Array, center: Array | None, *rows: Any) -> Evaluation:
        """−ℓ, minus the score and the information of the rows (X, y, sample_weight, offset) at weights A of x − c."""
        model = self._likelihood(*rows)
        return model.evaluate(model.from_weights(A, center))

    def _bootstrap(
        self, request: Request, labels: list[str], rows: tuple[Any, ...], draws: int, seed: int, first: int
    ) -> Summary:
        from discriminant.estimators.bootstrap import bootstrap_summary
        from discriminant.inference.summary import against, tabled

        D = len(labels) + 1
        theta = against(self._contrasts().reshape(-1, D), first).ravel()
        kinds = {"errors": "bootstrap", "covariance": "bootstrap", "intervals": "percentile"}
        kinds["reference"] = str(self.classes_[first])
        empty, n = np.full((len(theta), len(theta)), np.nan), {"n": float(len(rows[1]))}
        table = tabled(labels, np.delete(self.classes_, first), theta, empty, n, request.level, kinds)

        def read(model: Inferential) -> Array:
            return against(model._contrasts().reshape(-1, D), first).ravel()

        return self._own_rows(bootstrap_summary(self, read, table, rows, draws, seed))

    def _contrasts(self) -> Array:
        return contrasts(self.discriminant_, vars(self).get("limit_"))

    def diagnostics(
        self, X: Any = None, y: Any = None, sample_weight: Any = None, *, offset: Any = None
    ) -> Diagnostics:
        """Residuals, leverages and Cook's distances of the rows of a two-class fit.

        The arguments may be left out while the arrays handed to ``fit`` are still there.

        Returns
        -------
        Diagnostics
            An array for each measure.

        >>> X, y = iris.X[50:], iris.y[50:]
        >>> found = LogisticRegression(C=float("inf")).fit(X, y).diagnostics(X, y)
        >>> int(found.cook.argmax())
        83
        """
        from discriminant.inference.diagnostics import diagnose

        self._require_maximum("residual, leverage or influence of a row")
        self._require_likelihood()
        model = self._likelihood(X, y, sample_weight, offset)
        return diagnose(model, self._theta(model))

    def loo_predict_proba(
        self, X: Any = None, y: Any = None, sample_weight: Any = None, *, offset: Any = None
    ) -> Array:
        """Posteriors of each training row under the fit without it, by one Newton step from the fit with it.

        No refit: an approximation, exact to second order in the row's leverage.  On iris and breast cancer (C = 1) it
        is within 0.003 of honest refits in probability, and a hundred times nearer for most rows.

        >>> model = LogisticRegression().fit(iris.X, iris.y)
        >>> model.loo_predict_proba(iris.X, iris.y).shape
        (150, 3)
        """
        from discriminant.inference.diagnostics import one_step_deletions
        from discriminant.inference.summary import ridge_curvature

        self._require_maximum("leave-one-out by one Newton step")
        if self._l1_share():
            raise ParameterError(
                "After a penalty on absolute values a Newton step is not the fit without a row, since columns come and "
                "go: use sklearn.model_selection.cross_val_predict with LeaveOneOut(), or l1_ratio=0."
            )
        self._require_likelihood()
        model = self._likelihood(X, y, sample_weight, offset)
        penalty = ridge_curvature(model.scaling, model.n_classes, self._ridge())
        return np.exp(one_step_deletions(model, self._theta(model), penalty))

    def _require_maximum(self, what: str) -> None:
        """Refuse a fit whose likelihood has no finite maximum."""
        check_is_fitted(self)
        if "limit_" in vars(self):
            raise ParameterError(
                f"The classes are separated, so that the likelihood has no finite maximum, and there is no {what}. "
                "Use a penalty: C=1, or penalty='jeffreys'."
            )

    def loo_score(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None) -> float:
        """The leave-one-out accuracy on the training rows, by one Newton step each.

        >>> round(LogisticRegression().fit(iris.X, iris.y).loo_score(iris.X, iris.y), 2)
        0.97
        """
        chosen = self.classes_[self.loo_predict_proba(X, y, sample_weight, offset=offset).argmax(axis=1)]
        return float(np.average(chosen == np.asarray(y).ravel(), weights=sample_weight))

    def _remember(
        self, given: tuple[Any, ...], blocks: ArrayBlocks, offset: Array | None = None, *, centred: bool = True
    ) -> None:
        """Keep what a table needs of the fit: ``blocks`` to sum over, or ``given`` (X, y, sample_weight, offset).

        ``centred``: whether the fit has found a centre of the columns, or that they need none.
        """
        K, values = len(self.classes_), blocks.n_values
        plain = self.class_weight is None and not self._l1_share()
        if self._formula is not None:  # no one else has the rows that it made of a table
            self._rows = Remembered(*given, held=True)
        elif not (plain and blocks.in_memory and values <= KEPT_VALUES):
            self._rows = Remembered(*given)
        elif values <= HELD_ROWS * ((K - 1) * (1 + blocks.n_features)) ** 2:
            self._rows = Remembered(*given, held=True)
        else:
            found = self.discriminant_
            scaling = Scaling(found.center, np.ones(blocks.n_features)) if centred else None
            parts = blocks, K, offset, scaling, bool(self.fit_intercept), self.penalty in BIAS_REDUCED
            sums = partial(_sums, parts, found.weights, found.center)
            if self.penalty in BIAS_REDUCED[1:]:
                sums = partial(_corrected, blocks, K, self.penalty)
            self._rows = Remembered(*given, sums=sums)

    def _kept_sums(self) -> Optimum | None:
        """The sums over the rows of the fit, while the weights are those at which they were taken."""
        from discriminant.inference.likelihood import scaled_contrasts

        if "_rows" not in vars(self):
            return None
        optimum = self._rows.optimum  # whatever the weights are now: the rows are let go
        if optimum is None or not self._as_fitted():
            return None
        found = self.discriminant_
        same = np.array_equal(optimum.theta, scaled_contrasts(found.weights, found.center, optimum.scaling))
        return optimum if same else None

    def _training_rows(self, X: Any, y: Any, sample_weight: Any, offset: Any) -> tuple[Any, ...]:
        if X is not None:
            return X, y, sample_weight, offset
        found = self._rows.recall() if "_rows" in vars(self) else None
        if found is None:
            raise DataError("The rows of the fit are not there any more: call summary(X, y) with them.")
        return found

    def _require_likelihood(self) -> None:
        """Refuse fits that do not maximise one likelihood of x."""
        check_is_fitted(self)
        if "coding_" in vars(self):
            raise ParameterError(
                "With a basis or a coding there is no one likelihood of x; fit on the features, two classes or the "
                "softmax at a time: LogisticRegression().fit(basis.fit_transform(X), y).summary()."
            )
        if self.class_weight is not None:
            raise ParameterError("summary is defined for fits without class_weight.")

    def _order(self, first: int) -> Array:
        """The classes' positions, this one in front."""
        return np.concatenate([[first], np.delete(np.arange(len(self.classes_)), first)])

    def _likelihood(
        self, X: Any, y: Any, sample_weight: Any, offset: Any, first: int = 0, scaling: Scaling | None = None
    ) -> Likelihood:
        from discriminant.methods.logistic import read_offset

        X, y, sample_weight, offset = self._training_rows(X, y, sample_weight, offset)
        if first and (offset is not None or is_table(y)):
            raise ParameterError("With offsets or class probabilities reference takes 'wald' tests and intervals.")
        blocks = self._sample(X, y, sample_weight, self.classes_[self._order(first)]).blocks
        jeffreys = self.penalty in BIAS_REDUCED
        known, intercept = read_offset(offset, blocks), bool(self.fit_intercept)
        return _likelihood_of(blocks, len(self.classes_), known, scaling, intercept, jeffreys)

    def _theta(self, model: Likelihood, first: int = 0) -> Array:
        found = self.discriminant_
        A = (
            found.weights
            if not first
            else -found.weights
            if found.n_outputs == 1
            else found.weights[:, self._order(first)]
        )
        return model.from_weights(A, found.center)

    def _l1_share(self) -> float:
        ratio = vars(self).get("l1_ratio_")  # of a cross-validation, which chose it
        ratio = vars(self).get("l1_ratio", 0) if ratio is None else np.ravel(ratio)[0]
        return float(ratio or 0)

    def _ridge(self) -> float:
        if self.penalty in BIAS_REDUCED:
            return 0.0
        if self._l1_share():
            raise ParameterError(
                "After a penalty on absolute values standard errors are not defined: use intervals='bootstrap', or "
                "l1_ratio=0."
            )
        chosen = vars(self).get("C_")  # of a cross-validation, once for each class as scikit-learn has it
        C = float(self.C if chosen is None else np.ravel(chosen)[0])
        return 0.0 if np.isinf(C) else 1.0 / C
