"""All that a report shows, gathered as plain values before anything is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discriminant.arrays import is_sparse
from discriminant.data.tables import Table
from discriminant.model import discriminant_of
from discriminant.protocols import Array
from discriminant.report.measures import Measured


@dataclass(frozen=True)
class Tried:
    """One method of a comparison."""

    name: str
    title: str
    error: float
    standard_error: float
    log_loss: float
    refusal: str = ""
    chosen: bool = False


@dataclass(frozen=True)
class Verdict:
    """Whether the classes can be separated, with what proves it as a table."""

    verdict: str
    sentence: str
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    caption: str = ""


@dataclass(frozen=True, eq=False)
class ReportData:
    """A fitted classifier, the rows that the report is about, and what was found on the way."""

    title: str
    subtitle: str
    model: Any  # with predict, and predict_proba where it has probabilities
    X: Any  # (n, d) array, or sparse
    labels: Array
    classes: Array
    feature_names: Sequence[str]
    measured: Measured
    how_measured: str  # "5-fold cross-validation", "the rows of test.csv" …
    method: str = ""
    table: Table | None = None
    rules: Any = None  # Preprocess
    tried: Sequence[Tried] = ()
    why: str = ""
    notes: Sequence[str] = ()
    certificate: str = ""
    costs: Array | None = None
    script: str = ""
    extra: dict[str, Any] = field(default_factory=dict)
    fit_counts: Array | None = None  # rows of each class in the fit, where ``labels`` are those of a part

    @property
    def names(self) -> list[str]:
        """The classes as text; mere numbers with the name of what they are a value of."""
        texts = [str(label) for label in self.classes.tolist()]
        numbers = all(text.replace(".", "").lstrip("-").isdigit() for text in texts)
        target = "" if self.rules is None else self.rules.target
        return [f"{target}={text}" for text in texts] if numbers and target else texts

    @property
    def dense(self) -> Array | None:
        """X where it is an array of moderate size."""
        return None if is_sparse(self.X) else np.asarray(self.X, dtype=np.float64)

    @property
    def class_counts(self) -> Array:
        """Rows of each class."""
        return np.bincount(self.codes, minlength=len(self.classes)) if self.fit_counts is None else self.fit_counts

    @property
    def n_rows(self) -> int:
        return int(self.class_counts.sum())

    @property
    def codes(self) -> Array:
        """The class of each row as a position in ``classes``."""
        return np.searchsorted(self.classes, self.labels)

    @property
    def linear(self) -> Any:
        """The linear discriminant in the model, or None."""
        found = discriminant_of(self.model)
        if found is None or found.basis is not None or found.n_features != len(self.feature_names):
            return None
        return found if found._rule.linear_decoder is not None else None

    def raw(self, row: int, j: int) -> float:
        """The value of a feature as it stands in the table: undone where it was standardised."""
        value = float(self.dense[row, j]) if self.dense is not None else float("nan")
        for rule in () if self.rules is None else self.rules.rules:
            if rule.scale != 1.0 and rule.features[:1] == (self.feature_names[j],):
                return value * float(rule.scale) + float(rule.fill)
        return value
