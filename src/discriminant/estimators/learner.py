"""What the classifiers that learn by a method share: they read rows, hand them to the method and hold what it finds.

With a ``basis`` the method sees φ(x), from a basis that learns from the first rows that come.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from discriminant.data import as_rows
from discriminant.data.sources import find_source
from discriminant.docstrings import documented
from discriminant.errors import DataError, MismatchError, names
from discriminant.estimators.classifier import Classifier
from discriminant.estimators.features import FeatureMap, fit_features
from discriminant.estimators.inputs import all_or_nothing, read_labels
from discriminant.estimators.parameters import require_valid
from discriminant.methods.fit import Fit, Sample, is_unanimous, make_sample, reject_label
from discriminant.protocols import Array, Certificate

if TYPE_CHECKING:  # closed forms load no optimizers
    from discriminant.model import LinearDiscriminant
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
        rows = self._checked(X)
        return self.discriminant_.decision_function(rows)

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
        return self.discriminant_.predict(rows)

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

    # φ(x) in place of x

    def _sample(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Sample:
        """Training rows in blocks, with a basis φ(x); ``classes``: the labels known already (``partial_fit``)."""
        if self.basis is None:
            self.__dict__.pop("_features", None)
            return self._read_sample(X, y, sample_weight, classes)
        name = type(self).__name__
        if find_source(X) is not None:
            raise MismatchError(f"{name} with a basis takes rows in memory; write φ(x) to the file, or fit a sample.")
        if y is None:
            raise DataError(f"{name} requires y to be passed, but the target y is None.")
        given = self._read_rows(X, reset=classes is None or "n_features_in_" not in vars(self))
        labels = read_labels(y, given.shape[0])
        if classes is None or self._features is None:
            self._features = fit_features(self.basis, given, labels)
        if self._features is None:
            return self._read_sample(X, y, sample_weight, classes)
        rows = as_rows(self._features.training_rows(given))
        sample = make_sample(
            rows, labels, sample_weight, classes=classes, names=self._feature_names(), basis=self._basis
        )
        return replace(sample, given=(given, self._column_names()))

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
