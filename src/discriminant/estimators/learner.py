"""What the classifiers that learn by a method share: they read rows, hand them to the method and hold what it finds.

With a ``basis`` the method sees φ(x), from a basis that learns from the first rows that come.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from discriminant.arrays import in_memory
from discriminant.data import as_rows
from discriminant.data.rows import Rows
from discriminant.data.sources import find_source
from discriminant.decision.priors import check_priors, shift_log_posteriors
from discriminant.decision.rule import largest
from discriminant.docstrings import documented
from discriminant.errors import DataError, MismatchError, names
from discriminant.estimators.classifier import Classifier
from discriminant.estimators.features import FeatureMap, fit_features
from discriminant.estimators.inputs import all_or_nothing, available_if, read_labels
from discriminant.estimators.parameters import require_valid
from discriminant.methods.fit import Fit, Sample, is_unanimous, make_sample, reject_label
from discriminant.model import LinearDiscriminant
from discriminant.protocols import Array, Certificate

if TYPE_CHECKING:  # closed forms load no optimizers
    from discriminant.optimize.choose import Choice


class Method(Protocol):
    """A named method with its parameters, as ``discriminant.methods`` has them."""

    def check(self) -> object:
        """Refuse parameters that do not go together."""

    def fit(self, sample: Sample) -> Fit:
        """Learn from the rows."""
        ...

    def plan(self, sample: Sample) -> Choice:
        """Which way ``fit`` goes, and why."""
        ...


class PartMethod(Method, Protocol):
    """A method that may learn one part of the rows after the other."""

    def require_parts(self) -> None:
        """Refuse, by a NotAvailableError, parameters that need all rows at once."""

    def part(self, sample: Sample, held: Mapping[str, Any]) -> Fit:
        """Learn these rows on top of the attributes that the earlier ones have left."""
        ...


@documented
class Learner(Classifier, ClassifierMixin, BaseEstimator):
    """A classifier that learns by its method, from x or from φ(x)."""

    _kind: ClassVar[type[Any]]  # the method
    basis: Any = None
    classes_: Array
    discriminant_: LinearDiscriminant
    _features: FeatureMap | None = None
    if TYPE_CHECKING:  # set by a fit, or worked out when asked for

        @property
        def certificate_(self) -> Certificate: ...

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.array_api_support = self._follows_rows()
        return tags

    def _follows_rows(self) -> bool:
        """Whether all that is learned and answered is in the library and on the device of X, however large X is."""
        return self.basis is None

    # Learning

    def _method(self) -> Method:
        """The method with the parameters as they stand."""
        return self._as(self._kind)  # type: ignore[no-any-return]

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows and their labels.

        >>> model = LinearDiscriminantAnalysis().fit(iris.X, iris.y)
        >>> model.coef_.shape, model.certificate_.converged
        ((3, 4), True)
        """
        self._method().check()  # before the rows are read
        return self._hold(self._fitted(self._sample(X, y, sample_weight)))

    def _fitted(self, sample: Sample) -> Fit:
        return self._method().fit(sample)

    def plan(self, X: Any, y: Any, sample_weight: Any = None) -> Choice:
        """Which way ``fit`` would go on these data, and why.

        Returns
        -------
        Choice
            With ``method`` and ``why``; its text says both.

        >>> [model.plan(iris.X, iris.y).method for model in (LinearDiscriminantAnalysis(), LogisticRegression())]
        ['moments', 'newton']
        """
        require_valid(self)
        with self._unchanged():
            return self._planned(self._sample(X, y, sample_weight))

    def _planned(self, sample: Sample) -> Choice:
        return self._method().plan(sample)

    def _classes_for(self, classes: Any) -> Array:
        """The classes of a ``partial_fit``: those of the first call, known ever after."""
        if "classes_" in vars(self):
            if classes is not None and not np.array_equal(np.unique(np.asarray(classes)), self.classes_):
                raise DataError(f"classes differ from those of the first call, {names(list(self.classes_))}.")
            return self.classes_
        if classes is None:
            raise DataError("classes must be passed on the first call to partial_fit: all labels that will ever come.")
        return np.unique(np.asarray(classes))

    # Deciding

    def decision_function(self, X: Any) -> Array:
        """The score of each class; for two classes their difference, positive for ``classes_[1]``.

        Returns
        -------
        ndarray of shape (n, K), or (n,) for two classes
            Class scores; of two classes, positive for ``classes_[1]``.  Where there are posteriors, their logarithms
            up to a constant, and their log odds.

        >>> LinearDiscriminantAnalysis().fit(iris.X, iris.y).decision_function(iris.X[:2]).shape
        (2, 3)
        """
        return self._answer("decision_function", X)

    def predict(self, X: Any) -> Array:
        """The class of the largest score.

        Returns
        -------
        ndarray of shape (n,)
            The label of each row; with the decoder "unanimous" ``reject_label`` where not exactly one class is claimed.

        >>> FisherDiscriminant().fit(iris.X, iris.y).predict(iris.X[:1]).tolist()
        ['setosa']
        """
        rows = self._checked(X)
        if self._unanimous:
            return self.discriminant_.predict_or_reject(rows, self._reject_label())
        return np.asarray(self._model().predict(rows))

    def _answer(self, name: str, X: Any) -> Array:
        """What the model says of the rows, in float64 for float32 rows where ``_wide`` has it."""
        rows, model = self._checked(X), self._model()
        wide = {"dtype": np.float64} if name in self._wide and isinstance(model, LinearDiscriminant) else {}
        return np.asarray(getattr(model, name)(rows, **wide))

    def _has_posteriors(self) -> None:
        """Refuse, by an AttributeError, where there are no probabilities."""

    def _posteriors(self, name: str, X: Any) -> Array:
        """``predict_proba`` or ``predict_log_proba`` of the rows."""
        return self._answer(name, X)

    @property
    def _unanimous(self) -> bool:
        return is_unanimous(vars(self).get("coding_"))

    def _reject_label(self) -> Any:
        return reject_label(vars(self).get("reject_label"), self.classes_)

    def number_of_parameters(self) -> int:
        """How many free parameters the fitted model has.

        Weights and intercepts of a discriminative model (of the softmax all classes but one: the reference class has
        none); means, covariances and priors of a generative one, such as D(D + 5)/2 + 1 of LDA with two classes.

        Returns
        -------
        int
            The count.

        >>> X, y = [[0.0], [1.0], [2.0], [3.0], [5.0]], [0, 0, 1, 0, 1]
        >>> models = LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis(), LogisticRegression()
        >>> [model.fit(X, y).number_of_parameters() for model in models]
        [4, 5, 2]
        """
        self._require_fitted()
        return self._count_parameters(len(self.classes_))

    def _count_parameters(self, K: int) -> int:
        weights = self.discriminant_.weights
        outputs = K - 1 if self.discriminant_.link == "softmax" else weights.shape[1]
        return outputs * (len(weights) - (not self.get_params(deep=False).get("fit_intercept", True)))

    def _checked(self, X: Any) -> Any:
        """Rows to decide on."""
        self._require_fitted()
        return self._read_rows(X, reset=False)

    # Training rows, with φ(x) in place of x

    def _is_coded(self) -> bool:
        """Whether a basis or a coding asks for rows in memory and for labels."""
        return self.basis is not None

    def _sample(self, X: Any, y: Any, sample_weight: Any, classes: Array | None = None) -> Sample:
        """Training rows in blocks; ``classes``: the labels known already (``partial_fit``)."""
        source = find_source(X)
        if source is not None:
            if self._is_coded():
                raise MismatchError(
                    f"{type(self).__name__} with a basis or a coding takes rows in memory; leave both out for a "
                    "source, write φ(x) to the file, or fit a sample."
                )
            self.__dict__.pop("_features", None)
            return self._source_sample(source, y, sample_weight, classes)
        if y is None and self._formula is not None:
            y = self._formula.labels(X)
        if y is None:
            raise DataError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        new = classes is None or "n_features_in_" not in vars(self)
        given = self._read_rows(X, reset=new)
        target = self._read_target(y, given.shape[0])
        if new:
            self.__dict__.pop("_features", None)
        if self.basis is not None and self._features is None:
            self._features = fit_features(self.basis, given, target)
        if self._features is None:
            return self._sample_of(as_rows(given), target, sample_weight, classes)
        rows = as_rows(self._features.training_rows(given))
        sample = self._sample_of(rows, target, sample_weight, classes)
        return replace(sample, given=(given, self._column_names()))

    def _read_target(self, y: Any, n_rows: int) -> Any:
        """The labels, one for each row."""
        return read_labels(y, n_rows)

    def _sample_of(self, rows: Rows, target: Any, sample_weight: Any, classes: Array | None) -> Sample:
        """The sample of rows in memory."""
        names = self._feature_names()
        return make_sample(rows, target, sample_weight, classes=classes, names=names, basis=self._basis)

    def _mapped(self, rows: Any) -> Any:
        """φ of checked rows, a block at a time."""
        return rows if self._features is None else self._features.rows(rows)

    @property
    def _basis(self) -> Any:
        """φ as ``discriminant_`` holds it: with the names of the columns where it was fitted to a frame."""
        features = self._features
        return features if features is None or features.columns is not None else features.basis

    def _feature_names(self) -> list[str] | None:
        """The names of the features: of the columns of X, or of φ(x)."""
        return self._column_names() if self._features is None else self._features.names()


def _learns_in_parts(model: LearnsInParts) -> None:
    model._method().require_parts()


@documented
class LearnsInParts(Learner):
    """A classifier that may learn one part of the rows after the other."""

    def _method(self) -> PartMethod:
        return self._as(self._kind)  # type: ignore[no-any-return]

    @available_if(_learns_in_parts)
    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn more rows, which are not kept; ``classes`` on the first call.

        Class moments add up, so that parts give the fit of all rows; until every class has enough of them, nothing can
        be predicted.  A sample-by-sample procedure makes one more epoch, over these rows, from where the weights are,
        and ``corrections_`` and ``t_`` go on counting.  Logistic regression remembers earlier rows as a Gaussian over
        the weights: one call equals ``fit``, many come near to it.

        >>> model = LinearDiscriminantAnalysis().partial_fit(iris.X[::2], iris.y[::2], classes=iris.classes)
        >>> whole = LinearDiscriminantAnalysis().fit(iris.X, iris.y)
        >>> bool(abs(model.partial_fit(iris.X[1::2], iris.y[1::2]).coef_ - whole.coef_).max() < 1e-9)
        True
        """
        method = self._method()
        method.check()
        return self._hold(method.part(self._sample(X, y, sample_weight, self._classes_for(classes)), vars(self)))


def _has_posteriors(model: Learner) -> None:
    model._has_posteriors()


@documented
class PriorsAtPrediction(Learner):
    """Posteriors under the priors of the training rows, ``priors_``, or under others that a prediction gives."""

    def predict(self, X: Any, priors: Any = None) -> Array:
        """The class of the largest posterior, under the training priors or those given here.

        >>> model = QuadraticDiscriminantAnalysis().fit(iris.X, iris.y)
        >>> model.predict(iris.X[70:71]).tolist(), model.predict(iris.X[70:71], priors=[0.1, 0.8, 0.1]).tolist()
        (['virginica'], ['versicolor'])
        """
        if priors is None:
            return super().predict(X)
        return np.asarray(self.classes_.take(largest(self.predict_log_proba(X, priors))))

    @available_if(_has_posteriors)
    def predict_log_proba(self, X: Any, priors: Any = None) -> Array:
        """log P(C_k|x), finite in the far tail, under the training priors or those given here.

        >>> model = QuadraticDiscriminantAnalysis().fit(iris.X, iris.y)
        >>> model.predict_log_proba(iris.X[:1]).round(1)
        array([[ -0. , -59.4, -95.2]])
        """
        found = self._posteriors("predict_log_proba", X)
        if priors is None:
            return found
        known = vars(self).get("priors_")
        if known is None:
            raise DataError(
                "The class frequencies of these training rows are not known: they were read from elsewhere, in "
                "parts or as probabilities. Use discriminant.decision.shift_posteriors with both priors."
            )
        return shift_log_posteriors(found, in_memory(known), check_priors(priors, self.classes_))

    @available_if(_has_posteriors)
    def predict_proba(self, X: Any, priors: Any = None) -> Array:
        """P(C_k|x), under the training priors or those given here.

        >>> model = LogisticRegression().fit(iris.X, iris.y)
        >>> model.predict_proba(iris.X[70:71]).round(3)
        array([[0.002, 0.44 , 0.558]])
        >>> model.predict_proba(iris.X[70:71], priors=[0.1, 0.8, 0.1]).round(2)
        array([[0.  , 0.86, 0.14]])
        """
        if priors is None:
            return self._posteriors("predict_proba", X)
        return np.asarray(np.exp(self.predict_log_proba(X, priors)))
