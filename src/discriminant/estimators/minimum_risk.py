"""The decision layer over any classifier with probabilities: costs, a reject act, other priors.

    R(α_a|x) = Σ_k λ(α_a|C_k) P(C_k|x),        P'(C_k|x) ∝ P(C_k|x) P'_k / P_k,        α(x) = argmin_a R(α_a|x)

The classifier says how probable each class is; what to do about it follows from what mistakes cost.
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import compute_class_weight, get_tags
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import has_fit_parameter

from discriminant.arrays import in_memory
from discriminant.data import count_classes
from discriminant.data.check import check_weights
from discriminant.data.rows import HeldRows
from discriminant.data.sources import find_source
from discriminant.decision import (
    Rule,
    bayes_actions,
    check_costs,
    check_priors,
    expected_costs,
    shift_log_posteriors,
    with_reject,
    zero_one_costs,
)
from discriminant.errors import DataError, MismatchError, ParameterError, names
from discriminant.estimators.callbacks import handed_on
from discriminant.estimators.classifier import Classifier
from discriminant.estimators.inputs import all_or_nothing, read_labels
from discriminant.estimators.parameters import PRIORS, Number, parameters
from discriminant.model import label_array
from discriminant.protocols import Array, Probabilistic


@parameters(
    estimator=[None, HasMethods("fit")],
    costs=[None, "array-like"],
    reject_cost=[None, Number(Real, None, None, closed="neither")],
    training_priors=PRIORS,
    actions=[None, "array-like"],
)
class MinimumRiskClassifier(Classifier, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Choose the act of least expected cost, from the probabilities of any scikit-learn classifier.

    α(x) = argmin_a Σ_k λ(α_a|C_k) P(C_k|x) (Duda, Hart and Stork 2.2, Alpaydin 3.3).  The probabilities should be
    calibrated: costs are weighed by them.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``, or None, default=None
        Cloned and fitted; wrap a fitted one in ``sklearn.frozen.FrozenEstimator`` to keep it as it is.  None:
        ``LinearDiscriminantAnalysis()``.
    costs : array-like of shape (acts, K), mapping or None, default=None
        ``costs[a][k]``: what act a costs where the class is k, in the order of ``classes_``.  Or ``{act: {class:
        cost}}``, or ``{(act, class): cost}`` for the pairs that differ from 0–1.  None: every error costs 1.
    reject_cost : float or None, default=None
        What it costs to choose no class; None: a class is always chosen.  Rows whose cheapest act costs more are
        rejected.
    reject_label : label or None, default=None
        What ``predict`` returns for a rejected row.  None: "reject" for text labels, −1 for numbers (0 where −1 is
        a class).  A label of another kind than the classes makes predictions an array of objects.
    priors : array-like of shape (K,), mapping or None, default=None
        Class frequencies where the classifier will be used, if they differ from those it was trained on.
    training_priors : array-like of shape (K,), mapping or None, default=None
        Class frequencies that the classifier has learned.  None: its ``priors_`` or ``class_prior_``, else the
        (weighted) frequencies in y, times its ``class_weight``.
    actions : sequence of labels or None, default=None
        The acts, where the rows of ``costs`` are not the classes.

    Attributes
    ----------
    classes_
    actions_ : ndarray of shape (acts,)
        What ``predict`` can return: the classes, further acts, the reject label last.
    costs_ : ndarray of shape (acts, K)
        λ(α_a|C_k).
    estimator_ : classifier
        The fitted classifier.
    priors_ : ndarray of shape (K,)
        The priors to decide under, where ``priors`` is given.
    training_priors_ : ndarray of shape (K,)
        The priors of the training data, where ``priors`` is given.
    certificate_ : Certificate
        That of the classifier.

    See Also
    --------
    discriminant.decision : Costs, priors and reject as functions of arrays.

    >>> careful = MinimumRiskClassifier(reject_cost=0.1).fit(iris.X, iris.y)
    >>> careful.actions_.tolist()
    ['setosa', 'versicolor', 'virginica', 'reject']
    >>> int((careful.predict(iris.X) == "reject").sum())
    9
    """

    estimator: Probabilistic | None = None
    _: KW_ONLY
    costs: Any = None
    reject_cost: float | None = None
    reject_label: Any = None
    priors: Any = None
    training_priors: Any = None
    actions: Any = None

    def _most_steps(self) -> int:
        return 1

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit the classifier, and work out the acts and their costs.

        Parameters
        ----------
        **fit_params : any
            They go on to the ``fit`` of the classifier.

        Raises
        ------
        ParameterError

        >>> costs = {("versicolor", "virginica"): 10}
        >>> MinimumRiskClassifier(costs=costs).fit(iris.X, iris.y).costs_[1].tolist()
        [1.0, 0.0, 10.0]
        """
        if y is None and find_source(X) is None:
            raise DataError("MinimumRiskClassifier requires y to be passed, but the target y is None.")
        base = self._base()
        with handed_on(self, fitted := clone(base), X, y):
            fitted.fit(X, y, **self._fit_params(base, sample_weight, fit_params))
        if not hasattr(fitted, "predict_proba"):
            raise MismatchError(
                f"{type(base).__name__} has no predict_proba, and risks are expectations under probabilities. "
                "Wrap it in sklearn.calibration.CalibratedClassifierCV."
            )
        self.estimator_, self.classes_ = fitted, np.asarray(fitted.classes_)
        if len(self.classes_) < 2:
            raise DataError(f"y holds one class only ({names(list(self.classes_))}); a decision needs at least two.")
        for name in ("n_features_in_", "feature_names_in_", "_encoding"):
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))
        self._work_out_actions()
        if self.priors is not None:
            self.priors_ = check_priors(self.priors, self.classes_)
            self.training_priors_ = self._learned_priors(y, sample_weight)
        return self

    @property
    def certificate_(self) -> Any:
        """What is known of the fit of the classifier whose probabilities are used."""
        self._require_fitted()
        last = self.estimator_[-1] if isinstance(self.estimator_, Pipeline) else self.estimator_
        return last.certificate_

    def explain(self, X: Any, reference: Any = None) -> Any:
        """What each attribute adds to the scores of the classifier whose probabilities are used.

        >>> MinimumRiskClassifier().fit(iris.X, iris.y).explain(iris.X[:2]).shape
        (2, 4, 3)
        """
        self._require_fitted()
        return self.estimator_.explain(X, reference)

    def predict(self, X: Any) -> Array:
        """The act of least expected cost, the first of equals; reject only where it is strictly cheaper.

        Returns
        -------
        ndarray of shape (n,)
            An act of ``actions_`` for each row.

        >>> careful = MinimumRiskClassifier(reject_cost=0.1).fit(iris.X, iris.y)
        >>> careful.predict(iris.X[[0, 70]]).tolist()
        ['setosa', 'reject']
        """
        self._require_fitted()
        return np.asarray(self.actions_[self._codes(X)])

    def predict_proba(self, X: Any) -> Array:
        """P'(C_k|x): the classifier's posteriors, moved to ``priors`` where these are given.

        >>> model = MinimumRiskClassifier(priors=[0.1, 0.8, 0.1]).fit(iris.X, iris.y)
        >>> model.predict_proba(iris.X[70:71]).round(3)
        array([[0.   , 0.726, 0.274]])
        """
        self._require_fitted()
        if self.priors is None:
            return np.asarray(self.estimator_.predict_proba(self._given(X)))
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def predict_log_proba(self, X: Any) -> Array:
        """log P'(C_k|x): the logarithms of ``predict_proba``.

        >>> MinimumRiskClassifier().fit(iris.X, iris.y).predict_log_proba(iris.X[:2]).shape
        (2, 3)
        """
        self._require_fitted()
        if hasattr(self.estimator_, "predict_log_proba"):
            values = np.asarray(self.estimator_.predict_log_proba(self._given(X)))
        else:
            with np.errstate(divide="ignore"):  # a probability of 0 has the logarithm −inf
                values = np.log(self.estimator_.predict_proba(self._given(X)))
        return values if self.priors is None else shift_log_posteriors(values, self.training_priors_, self.priors_)

    def expected_costs(self, X: Any) -> Array:
        """The risks R(α_a|x) of the acts; −R are the discriminants of the minimum-risk rule.

        Returns
        -------
        ndarray of shape (n, acts)
            Expected costs, in the order of ``actions_``.

        >>> careful = MinimumRiskClassifier(reject_cost=0.1).fit(iris.X, iris.y)
        >>> careful.expected_costs(iris.X[70:71]).round(3)
        array([[1.   , 0.751, 0.249, 0.1  ]])
        """
        return expected_costs(self.predict_proba(X), self.costs_)

    def mean_cost(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """What the decisions for X cost on average where the classes are y.

        Returns
        -------
        float
            The mean cost, in the unit of ``costs``.

        >>> careful = MinimumRiskClassifier(reject_cost=0.1).fit(iris.X, iris.y)
        >>> round(careful.mean_cost(iris.X, iris.y), 4)
        0.006
        """
        codes = self._codes(X)
        costs = self.costs_[codes, self._truth(y, len(codes))]
        return float(np.average(costs, weights=check_weights(sample_weight, len(codes))))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of rows for which the act is the true class; a rejected row is not right.

        >>> careful = MinimumRiskClassifier(reject_cost=0.1).fit(iris.X, iris.y)
        >>> round(careful.score(iris.X, iris.y), 2)
        0.94
        """
        return super().score(X, y, sample_weight)

    def _right(self, predicted: Array, y: Any) -> Array:
        return np.asarray(predicted == self.classes_[self._truth(y, len(predicted))])

    # Inside

    def _given(self, X: Any) -> Any:
        """X as the estimator within reads it: blocks of a source are known here only."""
        return X.X if isinstance(X, HeldRows) and not isinstance(self.estimator_, Classifier) else X

    def _codes(self, X: Any) -> Array:
        posteriors = self.predict_proba(X)
        return bayes_actions(posteriors, None if self.costs is None and self.reject_cost is None else self.costs_)

    def _truth(self, y: Any, n_rows: int) -> Array:
        self._require_fitted()
        return Rule(self.classes_, len(self.classes_)).encode(read_labels(y, n_rows))

    def _base(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        from discriminant.estimators.linear import LinearDiscriminantAnalysis

        return LinearDiscriminantAnalysis()

    def _work_out_actions(self) -> None:
        labels = self.classes_.tolist()
        if self.costs is None and self.actions is not None:
            raise ParameterError("actions names acts that are not classes; say with costs what they cost.")
        if self.costs is None:
            costs, actions = zero_one_costs(len(labels)), labels
        else:
            costs, actions = check_costs(self.costs, self.classes_, self.actions)
        if self.reject_cost is not None:
            costs, actions = with_reject(costs, float(self.reject_cost)), [*actions, self._reject_label(actions)]
        self.costs_, self.actions_ = costs, self.classes_ if actions == labels else label_array(actions)

    def _reject_label(self, actions: list[Any]) -> Any:
        usual: dict[str, list[Any]] = {"i": [-1, 0], "u": [-1, 0], "f": [-1.0, 0.0]}
        choices = usual.get(self.classes_.dtype.kind, ["reject"])
        if self.reject_label is not None:
            choices = [self.reject_label]
        free = [label for label in choices if label not in actions]
        if not free:
            raise ParameterError(f"reject_label {choices[0]!r} is already the label of another act; choose another.")
        return free[0]

    def _learned_priors(self, y: Any, sample_weight: Any) -> Array:
        if self.training_priors is not None:
            return check_priors(self.training_priors, self.classes_, name="training_priors")
        last = self.estimator_.estimator if isinstance(self.estimator_, FrozenEstimator) else self.estimator_
        last = last[-1] if isinstance(last, Pipeline) else last
        for name in ("priors_", "class_prior_"):
            if hasattr(last, name):
                return in_memory(getattr(last, name)).astype(np.float64)
        if hasattr(last, "class_log_prior_"):
            return np.asarray(np.exp(last.class_log_prior_))
        if y is None:
            raise DataError(
                "priors= moves the posteriors away from the class frequencies of the training rows, which rows that "
                "are read block by block do not leave behind: give these frequencies as training_priors=."
            )
        codes = self._truth(y, len(y))
        counts = count_classes(codes, len(self.classes_), check_weights(sample_weight, len(codes)))
        if getattr(last, "class_weight", None) is not None:
            # Weighting the classes is learning under other priors: balanced weights are equal priors.
            counts = counts * compute_class_weight(last.class_weight, classes=self.classes_, y=np.asarray(y))
        return np.asarray(counts / counts.sum())

    # scikit-learn's side

    def _fit_params(self, base: Any, sample_weight: Any, fit_params: dict[str, Any]) -> dict[str, Any]:
        from sklearn import get_config

        if get_config()["enable_metadata_routing"]:
            given = fit_params if sample_weight is None else {"sample_weight": sample_weight, **fit_params}
            return dict(process_routing(self, "fit", **given).estimator.fit)
        if sample_weight is None or isinstance(base, FrozenEstimator):
            return fit_params
        if has_fit_parameter(base, "sample_weight"):
            return {"sample_weight": sample_weight, **fit_params}
        if isinstance(base, Pipeline) and has_fit_parameter(base[-1], "sample_weight"):
            return {f"{base.steps[-1][0]}__sample_weight": sample_weight, **fit_params}
        raise MismatchError(f"{type(base).__name__} does not accept sample_weight; leave the weights out.")

    def get_metadata_routing(self) -> MetadataRouter:
        """Where metadata go: to this object's ``fit`` and to that of its classifier.

        >>> type(MinimumRiskClassifier().get_metadata_routing()).__name__
        'MetadataRouter'
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=self).add_self_request(self).add(estimator=self._base(), method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags, base = super().__sklearn_tags__(), get_tags(self._base())
        tags.input_tags, tags.classifier_tags = base.input_tags, base.classifier_tags
        return tags
