"""A model with the preprocessing it was fitted with: from a table's rows to classes and probabilities.

This is what the command line writes.  It finds its columns by name, fills and encodes as at the fit, says what it had
to fill or had not seen, and refuses a table that lacks a column.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discriminant.data.files import read_frame, read_table
from discriminant.data.preprocess import Preprocess
from discriminant.data.tables import Table
from discriminant.decision.risk import bayes_actions
from discriminant.methods import Fit
from discriminant.model import LinearDiscriminant, discriminant_of
from discriminant.protocols import Array


@dataclass(frozen=True, eq=False)
class TableModel:
    """``model`` over the numbers that ``preprocess`` makes of a table.

    Parameters
    ----------
    preprocess : Preprocess
    model : a fitted estimator, the fit of a method, or a ``LinearDiscriminant``
    target : the name of the label's column
    method : what the command line calls the method
    facts : plain values that are worth remembering of the fit: rows, errors, certificate …
    costs : (K, K) array, optional
        costs[decided, true]; decisions then have the least expected cost instead of the largest probability.

    >>> from discriminant import LinearDiscriminantAnalysis
    >>> from discriminant.data.files import read_table
    >>> table = read_table("iris")
    >>> rules = Preprocess.fit(table, "species")
    >>> lda = LinearDiscriminantAnalysis().fit(rules.matrix(table)[0], table.labels("species")[0])
    >>> model = TableModel(rules, lda, "species")
    >>> flower = {"petal_width": [0.2], "petal_length": [1.4], "sepal_width": [3.5], "sepal_length": [5.1]}
    >>> str(model.predict(flower)[0])
    'setosa'
    """

    preprocess: Preprocess
    model: Any
    target: str = ""
    method: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    costs: Array | None = None

    @property
    def classes_(self) -> Array:
        return classes_of(self.model)

    @property
    def feature_names(self) -> list[str]:
        """The names of the model's inputs, after encoding."""
        return self.preprocess.feature_names

    @property
    def discriminant_(self) -> Any:
        """The linear discriminant inside, or None where there is none."""
        return discriminant_of(self.model)

    def read(self, source: str | os.PathLike[str]) -> Table:
        """A file's table, its categories and labels kept as text as they were at the fit."""
        return read_table(source, text_columns=self.preprocess.text_columns)

    def matrix(self, table: Any) -> tuple[Any, tuple[str, ...]]:
        """(X, notes): the model's inputs for the rows of a table or data frame, and what had to be filled.

        An array has the columns of the fit, in their order.
        """
        if isinstance(table, np.ndarray):
            table = dict(zip((rule.name for rule in self.preprocess.rules), table.T, strict=True))
        return self.preprocess.matrix(read_frame(table))

    def decide(self, X: Any) -> Array:
        """The class of each row of a matrix that ``matrix`` made: of least expected cost where there are costs."""
        if self.costs is None:
            return np.asarray(self.model.predict(X))
        return np.asarray(self.classes_[bayes_actions(self.model.predict_proba(X), self.costs)])

    def chances(self, X: Any) -> Array | None:
        """P(C_k|x), (n, K), for the rows of such a matrix; None where the model gives none."""
        return posteriors(self.model, X)

    def predict(self, table: Any) -> Array:
        """The class of each row."""
        return self.decide(self.matrix(table)[0])

    def predict_proba(self, table: Any) -> Array:
        """The probability of each class, (n, K)."""
        return np.asarray(self.model.predict_proba(self.matrix(table)[0]))

    def decision_function(self, table: Any) -> Array:
        """The class scores."""
        return np.asarray(self.model.decision_function(self.matrix(table)[0]))

    def labels_of(self, table: Table) -> tuple[Array, Array]:
        """(labels, row numbers) of a table in the type of the model's classes; text '1' is 1 for integer classes."""
        found, rows = table.without(self.preprocess.na, [self.target]).labels(self.target)
        classes = self.classes_
        if classes.dtype.kind == found.dtype.kind:
            return found, rows
        by_text = {str(label): label for label in classes.tolist()}
        plain = [_plain(label) for label in found.tolist()]
        return np.array([by_text.get(label, label) for label in plain], dtype=object), rows


def classes_of(model: Any) -> Array:
    """The labels that a fit, a discriminant or an estimator knows."""
    return np.asarray(model.classes if isinstance(model, Fit | LinearDiscriminant) else model.classes_)


def posteriors(model: Any, X: Any) -> Array | None:
    """P(C_k|x), (n, K); None where the model gives none."""
    bare = model.discriminant if isinstance(model, Fit) else model
    if isinstance(model, Fit | LinearDiscriminant) and bare.link is None:
        return None
    method = getattr(model, "predict_proba", None)
    return None if method is None else np.asarray(method(X))


def _plain(label: Any) -> str:
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)
