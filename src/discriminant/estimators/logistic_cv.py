"""Logistic regression whose penalty is chosen by cross-validation.

    C*, ratio* = argmax over the grid of the mean score on held-out rows; then one fit on all rows.

With ``rule="one-standard-error"`` the simplest model whose mean score is within one standard error of the best one's:
the smallest C.  Hastie, Tibshirani & Friedman 7.10.
"""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, fields
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.model_selection import check_cv
from sklearn.utils._param_validation import Hidden, StrOptions
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, process_routing

from discriminant.data import count_classes
from discriminant.data.sources import Source, find_source, is_query, require_memory
from discriminant.errors import DataError, ParameterError, as_numbers, warn
from discriminant.estimators.inputs import all_or_nothing, not_defined
from discriminant.estimators.logistic import SHARED_CONSTRAINTS, LogisticRegression
from discriminant.estimators.logistic_scores import Scoring, routing_enabled
from discriminant.estimators.parameters import BOOLEAN, COUNT, Among, parameters
from discriminant.methods.fit import Fit, Sample
from discriminant.methods.logistic import Logistic, make_objective, weights_state
from discriminant.methods.logistic_folds import Folds, choose
from discriminant.methods.parameters import parameter_list
from discriminant.model import label_array
from discriminant.optimize import progress
from discriminant.optimize.choose import Choice
from discriminant.optimize.history import History
from discriminant.protocols import Array, Certificate


@parameter_list
class LogisticCVParameters:
    """Of ``LogisticRegressionCV``."""

    _: KW_ONLY
    Cs: Any = 10
    l1_ratios: Any = None
    fit_intercept: bool = True
    cv: Any = None
    dual: bool = False
    penalty: Any = "deprecated"
    scoring: Any = None
    solver: str = "auto"
    tol: float = 1e-8
    max_iter: int = 100
    class_weight: Any = None
    n_jobs: Any = None
    verbose: int = 0
    refit: bool = True
    intercept_scaling: float = 1.0
    random_state: Any = None
    use_legacy_attributes: Any = True
    rule: str = "best"


@parameters(
    **SHARED_CONSTRAINTS,
    Cs=[COUNT, "array-like"],
    l1_ratios=[None, "array-like", Hidden(Among("warn"))],
    cv=["cv_object"],
    penalty=[Among("deprecated", "l1", "l2", "elasticnet")],
    refit=BOOLEAN,
    use_legacy_attributes=["boolean", Hidden(Among("warn"))],
    rule=[Among("best", "one-standard-error")],
    scoring=[None, StrOptions(set(get_scorer_names())), callable, Hidden(Among("warn"))],
)
class LogisticRegressionCV(LogisticCVParameters, LogisticRegression):
    """Logistic regression with C (and l1_ratio) chosen by cross-validation, as scikit-learn 1.9's class of this name.

    Each fold is fitted for every C of the grid, to a proved gap; the mean score over the folds chooses.

    Parameters
    ----------
    Cs : int or array-like of floats, default=10
        The grid, or how many values from 1e-4 to 1e4.
    l1_ratios : None or array-like of floats in [0, 1], default=None
        None: ridge only, and the attributes without that dimension.
    cv : int, splitter, iterable or None, default=None
        Folds, as in scikit-learn; None: 5, stratified.
    penalty : deprecated
        As in scikit-learn 1.9: use ``l1_ratios``.
    scoring : None, str or callable, default=None
        None: accuracy.
    solver : {"auto", "lbfgs", "liblinear", "newton-cd", "newton-cd-gram", "newton-cg", "newton-cholesky", "sag", \
              "saga"}, default="auto"
        scikit-learn's names are accepted; all give the one answer.
    tol : float, default=1e-08
        Each fit ends when J is proved to be within tol·|J| of its minimum.
    refit : bool, default=True
        Fit all rows with the choice; False: the mean of the folds' weights, each at its own best point.
    random_state : int, RandomState or None, default=None
        Accepted and without effect: folds come from ``cv``.
    use_legacy_attributes : bool, default=True
        True: ``C_``, ``scores_``, ``coefs_paths_`` as scikit-learn up to 1.9 has them; False: as from 1.10 on.
    rule : {"best", "one-standard-error"}, default="best"
        Which C a refit takes.

    Attributes
    ----------
    C_ : float, or ndarray of shape (1,) or (K,)
        The C that was chosen; with ``use_legacy_attributes`` an array.
    l1_ratio_ : float, or ndarray of shape (1,) or (K,)
        The l1_ratio that was chosen; with ``use_legacy_attributes`` an array.
    Cs_ : ndarray of shape (n_cs,)
        The grid of C.
    l1_ratios_ : ndarray of shape (n_l1_ratios,)
        The grid of l1_ratio.
    scores_ : ndarray of shape (n_folds, n_l1_ratios, n_cs)
        The score of each fold; with ``use_legacy_attributes`` a dict of arrays by class.
    coefs_paths_ : ndarray of shape (n_folds, n_l1_ratios, n_cs, q, d + 1)
        The weights of each fold; with ``use_legacy_attributes`` a dict of arrays by class.
    gaps_ : ndarray of shape (n_folds, n_l1_ratios, n_cs)
        The proved gap of every fold's fit.
    n_iter_ : ndarray of shape (1, n_folds, n_cs)
        Iterations of the fits of the folds.
    coef_, intercept_, classes_, priors_, discriminant_, certificate_
    history_ : History
        Of the last fit, on all rows.

    See Also
    --------
    LogisticRegression : One fit with a given C.
    logistic_path : Fits along λ without folds.

    Notes
    -----
    There is no ``basis``: features that learn from rows must be learned in each fold anew.  Where they do not learn, as
    products do, ``make_pipeline(bases.Polynomial(2), LogisticRegressionCV())`` is the same; else search over C with
    ``GridSearchCV(LogisticRegression(basis="rbf:50"), {"C": ...})``.

    >>> model = LogisticRegressionCV(Cs=[0.1, 1, 10], use_legacy_attributes=False).fit(iris.X, iris.y)
    >>> model.C_, model.scores_.shape
    (1.0, (5, 1, 3))
    """

    __metadata_request__score = {"sample_weight": UNUSED}  # noqa: RUF012 - it goes to the scorer, if it asks for it
    # What a single fit can be asked and a search over penalties cannot.
    correct_priors = False
    optimizer = "auto"
    warm_start = False
    penalty_factors = None
    bounds = None
    groups = None
    grouped = False

    def _most_steps(self) -> int:
        return 2  # folds, then all rows

    def _follows_rows(self) -> bool:
        return False

    partial_fit = not_defined("LogisticRegressionCV has no partial_fit: cross-validation needs all rows at once.")

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Self:  # type: ignore[override]
        """Choose C by cross-validation, then fit.

        Parameters
        ----------
        **params : any
            Metadata for the splitter and the scorer, such as ``groups``.

        >>> model = LogisticRegressionCV(Cs=[0.1, 1.0], use_legacy_attributes=False).fit(iris.X, iris.y)
        >>> model.C_
        1.0
        """
        ratios = self._ratios()
        Cs = self._grid()
        routed = self._route("fit", sample_weight, params)
        sample = self._sample(X, y, sample_weight)
        classes = sample.classes
        objective, _ = make_objective(sample, self.class_weight, self.fit_intercept, self.solver)
        require_memory(objective.blocks, "Cross-validation")
        if sample.blocks.is_soft:
            raise DataError("Cross-validation is over rows with labels; y has several columns.")
        codes = sample.blocks.codes()
        plain = label_array(classes.tolist())  # splitters and scorers judge labels by their type: objects are of none
        labels = plain[codes]
        table = labels if isinstance(X, Source) or is_query(X) else X  # of a source splitters see how many rows it has
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a class with fewer rows than folds: reported below, by name
            splits = list(check_cv(self.cv, labels, classifier=True).split(table, labels, **routed.splitter.split))
        counts = count_classes(codes, len(classes))
        if counts.min() < len(splits):
            few = classes[int(counts.argmin())]
            warn(
                f"Class {few!r} has {int(counts.min())} rows for {len(splits)} folds: some learn nothing of it.",
            )
        if not splits:
            raise DataError("The cross-validation has no splits.")
        for part in (part for split in splits for part in split):
            if not len(part) or np.min(part) < 0 or np.max(part) >= objective.n_rows:
                raise DataError(f"A split of cv is empty, or names rows beyond the {objective.n_rows} that there are.")
        base = np.ones(objective.n_rows) if objective.blocks.weight is None else np.asarray(objective.blocks.weight)
        weights = np.zeros((len(splits), objective.n_rows))
        for f, (train, _) in enumerate(splits):
            weights[f, train] = base[train]
        folds = Folds(objective, weights)
        scoring = Scoring(
            self._scorer(),
            plain,
            table,
            labels,
            sample.blocks.weight,
            routed.scorer.score,
        )
        with progress.task("folds", len(ratios) * len(splits) * len(Cs)):
            fits = [folds.fit(Cs, ratio, self.tol) for ratio in ratios]
        scores = np.stack([scoring.grid(folds, fit.weights, splits) for fit in fits], axis=1)  # (F, ratios, Cs)
        self.classes_, self.Cs_ = classes, Cs
        self.gaps_ = np.stack([fit.gaps for fit in fits], axis=1)
        paths = np.stack([fit.weights for fit in fits], axis=1)  # (F, ratios, Cs, 1+d, q)
        steps = np.maximum(np.stack([fit.steps for fit in fits], axis=1), 1)
        C, ratio, average = self._choose(scores, paths, Cs, ratios)
        near = paths[:, ratios.index(ratio), int(np.flatnonzero(Cs == C)[0])].mean(axis=0) if self.refit else None
        with progress.task("refit"):
            self._learn(sample, C, ratio, average, near)
        self._attributes(scores, paths, steps, C, ratio, ratios)
        if average is None:
            self._remember((X, y, sample_weight, None), sample.blocks)
        return self

    def _choose(self, scores: Array, paths: Array, Cs: Array, ratios: list[float]) -> tuple[float, float, Array | None]:
        """(C, l1_ratio, weights to take as they are, or None for a fit on all rows), from the folds with scores."""
        known = ~np.isnan(scores).any(axis=(1, 2))
        if not known.any():
            raise DataError(f"scoring={self.scoring!r} is NaN in every fold, so that no C is better than another.")
        return choose(scores[known], paths[known], Cs, ratios, self.refit, self.rule)

    def _learn(self, sample: Sample, C: float, ratio: float, average: Any, near: Any) -> None:
        """All rows at the choice, from the mean of the folds (``near``); or the average of folds, if there is one."""
        if average is None:
            start = near if near is not None and np.isfinite(near).all() else None
            self._hold(self._one(C, ratio).fit(sample, start))
            return
        status = f"The mean of the weights of {len(self.gaps_)} folds, each at its own best C: the minimum of no one J."
        unknown, worst = float("nan"), float(self.gaps_.max())
        proof = Certificate(status, bool(np.isfinite(worst)), unknown, unknown, worst, unknown, unknown)
        state = weights_state(average, None, sample.schema) | {"certificate_": proof, "history_": History()}
        self._hold(Fit(self._one(C, ratio), state["discriminant_"], state))

    def _planned(self, sample: Sample) -> Choice:
        choice = self._one(1.0, self._ratios()[0]).plan(sample)
        return Choice(choice.method, f"{choice.why}; after folds that share their work over the grid")

    def _attributes(self, scores: Array, paths: Array, steps: Array, C: float, ratio: float, ratios: Any) -> None:
        """scikit-learn's attributes, in its old form or in its new one."""
        K = 1 if len(self.classes_) == 2 else len(self.classes_)
        end = [*range(1, paths.shape[3]), *([0] if self.fit_intercept else [])]  # weights first, then the intercept
        paths = np.moveaxis(paths[:, :, :, end], -1, 3)  # (F, ratios, Cs, K, dof)
        plain = self._asked() is None
        self.l1_ratios_ = np.array([None]) if plain and self.penalty == "deprecated" else np.asarray(ratios)
        if not self.use_legacy_attributes:
            self._show_path(C, ratio, scores, paths, steps)
            return
        ratio_ = np.full(K, None if plain and self.refit else ratio)
        names = self.classes_[1:] if K == 1 else self.classes_
        old = np.moveaxis(paths, (3, 0, 2, 1), (0, 1, 2, 3))  # (K, F, Cs, ratios, dof)
        table, counts = np.moveaxis(scores, 1, 2), np.moveaxis(steps, 1, 2)[None]
        if plain:
            old, table, counts = old[:, :, :, 0], table[:, :, 0], counts[..., 0]
        by_class = {name: table.copy() for name in names}
        self._show_path(np.full(K, C), ratio_, by_class, dict(zip(names, old, strict=True)), counts)

    def _show_path(self, C: Any, ratio: Any, scores: Any, paths: Any, steps: Array) -> None:
        self.C_, self.l1_ratio_, self.scores_, self.coefs_paths_, self.n_iter_ = C, ratio, scores, paths, steps

    # Parameters and data

    def _one(self, C: float, ratio: float) -> Logistic:
        """The method at one point of the grid."""
        shared = {one.name for one in fields(Logistic)} & set(self.get_params(deep=False)) - {"penalty", "n_jobs"}
        return Logistic(C=C, l1_ratio=ratio, **{name: getattr(self, name) for name in shared})

    def _is_coded(self) -> bool:
        return False

    def _asked(self) -> Any:
        return None if isinstance(self.l1_ratios, str) and self.l1_ratios == "warn" else self.l1_ratios

    def _ratios(self) -> list[float]:
        """The l1_ratios of the grid; each combination with the solver is checked as for a single fit."""
        asked = self._asked()
        if self.penalty != "deprecated":
            warn(
                "'penalty' was deprecated in version 1.8 and will be removed in 1.10; use l1_ratios and Cs instead.",
                FutureWarning,
            )
        if self.penalty in ("l1", "l2"):
            ratios = [1.0 if self.penalty == "l1" else 0.0]
        elif asked is None:
            if self.penalty == "elasticnet":
                raise ParameterError(_RATIOS.format(asked))
            ratios = [0.0]
        else:
            values = list(asked) if np.ndim(asked) == 1 else []
            if not values or not all(isinstance(r, Real) and 0 <= float(r) <= 1 for r in values):
                raise ParameterError(_RATIOS.format(asked))
            ratios = [float(r) for r in values]
        for ratio in ratios:
            self._one(1.0, ratio).check()
        return ratios

    def _grid(self) -> Array:
        if isinstance(self.Cs, Integral):
            return np.logspace(-4, 4, int(self.Cs))
        Cs = as_numbers(self.Cs, "Cs")
        if Cs.ndim != 1 or len(Cs) == 0 or not (Cs > 0).all():
            raise ParameterError(f"Cs must be an int or an array of positive numbers; it was {self.Cs!r}.")
        return Cs

    # Scores and metadata

    def _scorer(self) -> Any:
        return None if self.scoring in (None, "warn") else get_scorer(self.scoring)

    def _route(self, caller: str, sample_weight: Any, params: dict[str, Any]) -> Any:
        if routing_enabled():
            given = (
                params if sample_weight is None and caller == "score" else {"sample_weight": sample_weight, **params}
            )
            return process_routing(self, caller, **given)
        from sklearn.utils import Bunch

        if params:
            raise ParameterError(
                f"{sorted(params)} handed to {type(self).__name__}.{caller} is only supported if "
                "enable_metadata_routing=True, which sklearn.set_config sets."
            )
        score = {} if sample_weight is None else {"sample_weight": sample_weight}
        return Bunch(splitter=Bunch(split={}), scorer=Bunch(score=score))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, **score_params: Any) -> float:
        """The value of ``scoring`` on these rows.

        Parameters
        ----------
        **score_params : any
            Metadata for the scorer.

        Returns
        -------
        float
            The score; accuracy where ``scoring`` is None.

        >>> model = LogisticRegressionCV(Cs=[0.1, 1.0], scoring="neg_log_loss", use_legacy_attributes=False)
        >>> round(model.fit(iris.X, iris.y).score(iris.X, iris.y), 2)
        -0.12
        """
        if find_source(X) is not None:
            return super().score(X, y, sample_weight)
        routed = self._route("score", sample_weight, score_params)
        scorer = get_scorer("accuracy") if self._scorer() is None else self._scorer()
        return float(scorer(self, X, y, **routed.scorer.score))

    def get_metadata_routing(self) -> Any:
        """Where sample weights and groups go: to the splitter and to the scorer.

        >>> type(LogisticRegressionCV().get_metadata_routing()).__name__
        'MetadataRouter'
        """
        scorer = get_scorer("accuracy") if self._scorer() is None else self._scorer()
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
            .add(
                scorer=scorer,
                method_mapping=MethodMapping().add(caller="score", callee="score").add(caller="fit", callee="score"),
            )
        )

    def plot(self, ax: Any = None) -> Any:
        """Mean score with its standard error against C, one line for each l1_ratio, and the choice.

        >>> model = LogisticRegressionCV(Cs=[0.1, 1.0, 10.0], use_legacy_attributes=False).fit(iris.X, iris.y)
        >>> from matplotlib.figure import Figure
        >>> model.plot(ax=Figure().subplots()).get_xlabel()
        'C'
        """
        import matplotlib.pyplot as plt

        ax = plt.subplots()[1] if ax is None else ax
        table = next(iter(self.scores_.values())) if isinstance(self.scores_, dict) else np.moveaxis(self.scores_, 1, 2)
        table = table[:, :, None] if table.ndim == 2 else table  # (F, Cs, ratios)
        order = np.argsort(self.Cs_)
        for r in range(table.shape[2]):
            values = table[:, order, r]
            error = values.std(axis=0, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else None
            label = f"l1_ratio = {self.l1_ratios_[r] or 0:g}"
            ax.errorbar(self.Cs_[order], values.mean(axis=0), error, capsize=2, label=label)
        ax.axvline(np.ravel(self.C_)[0], linestyle=":", color="grey")
        ax.set(xscale="log", xlabel="C", ylabel="accuracy" if self._scorer() is None else str(self.scoring))
        ax.legend()
        return ax


_RATIOS = "l1_ratios must be an array-like of numbers between 0 and 1; got (l1_ratios={!r})"
