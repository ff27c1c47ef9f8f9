"""``make_report``: a fitted classifier and some rows on one HTML page."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from discriminant.arrays import is_frame, is_sparse
from discriminant.data.preprocess import ColumnRule, Preprocess
from discriminant.data.roles import NUMBER
from discriminant.data.tables import Column, Table
from discriminant.docstrings import documented
from discriminant.errors import DataError
from discriminant.io.container import write_whole
from discriminant.io.table_model import classes_of, posteriors
from discriminant.plots.plane import column_titles
from discriminant.protocols import Array
from discriminant.report.html import page
from discriminant.report.measures import Measured, measure_decided
from discriminant.report.report_data import ReportData, Verdict
from discriminant.report.sections import MOST_BESIDE, SECTIONS, headline
from discriminant.thresholds import REPORT_WORK

QUICK = ("LinearDiscriminantAnalysis", "FisherDiscriminant", "LeastSquaresClassifier")  # fitted a hundred times again
LEARNED = (*QUICK, "QuadraticDiscriminantAnalysis", "LogisticRegression", "LinearSVC")  # some twenty times
WITNESS = (
    "The witness: these rows, weighted so, balance each other, so that no weights can put all of them strictly on "
    "their side. Checked in exact arithmetic."
)
SENTENCES = {
    "separable": "a linear discriminant puts every row on its own side. Maximum likelihood has no finite estimate.",
    "quasi-separable": "some weights put no row on the wrong side, but none put all rows strictly on their side.",
    "overlapping": "whatever the weights of a linear discriminant, some row is on the wrong side.",
}
PLANE = "Weights under which no row is on the wrong side. Checked in exact arithmetic."
LATER = "this takes long for so many rows, features and classes; discriminant.separability(X, y) finds it out."


@documented
@dataclass(frozen=True, repr=False)
class Report:
    """One self-contained HTML page on what a fitted classifier is worth; in a notebook it shows itself.

    It holds its pictures and needs no network.

    Parameters
    ----------
    html : str
        The whole page.

    See Also
    --------
    make_report : Makes one.

    >>> from discriminant.report import Report
    >>> Report("<!doctype html>").html
    '<!doctype html>'
    """

    html: str

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page, whole or not at all.

        Parameters
        ----------
        path : path
            The file.

        Returns
        -------
        Path
            The file.
        """
        write_whole(Path(path), self.html.encode())
        return Path(path)

    def __repr__(self) -> str:
        return f"Report: {len(self.html):,} characters of HTML; save(path) writes them"

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self.html, quote=True)}" style="width:100%;height:800px;border:0"></iframe>'


def render(report: ReportData) -> str:
    """The page of a report."""
    parts = {name: make(report) for name, make in SECTIONS.items()}
    return page(report.title, report.subtitle, headline(report), {name: part for name, part in parts.items() if part})


@documented
def make_report(model: Any, X: Any, y: Any, *, title: str = "", feature_names: Sequence[str] | None = None) -> Report:
    """The report of a fitted classifier on rows with labels, as one HTML page.

    Parameters
    ----------
    model : classifier
        Fitted, with ``predict``; with ``predict_proba`` for curves and calibration.
    X : array-like, sparse matrix or data frame of shape (n, d)
        Rows, preferably ones that the model was not fitted to.
    y : array-like of shape (n,)
        The labels.
    title : str, default=""
        The heading of the page.
    feature_names : sequence of d str or None, default=None
        Names of the columns; None: those of X or of the fit.

    Returns
    -------
    Report
        The page.

    >>> lda = LinearDiscriminantAnalysis().fit(iris.X[::2], iris.y[::2])
    >>> make_report(lda, iris.X[1::2], iris.y[1::2]).html[:15]
    '<!doctype html>'
    """
    labels = _labels(y)
    if vars(model).get("_formula") is not None:  # the same model of the formula's columns
        X, model = model._formula.columns(X), copy(model)
        model._formula = None
    values, names = _features(model, X, feature_names)
    if values.shape[0] != len(labels):
        raise DataError(f"X has {values.shape[0]:,} rows and y has {len(labels):,} labels; each row needs one.")
    classes = classes_of(model)
    measured, notes = _measured(model, X, labels, classes)
    kind = type(model).__name__
    table, rules = _overview(values, names)
    report = ReportData(
        title or f"{kind}: {len(classes)} classes", f"{len(labels):,} rows, {len(names)} features", model, values,
        labels, classes, names, measured, "the rows given", table=table, rules=rules, notes=notes,
        certificate=str(getattr(model, "certificate_", "")), costs=measured.costs,
        extra={"separability": separable(values, labels, names), "refit": _refit(model), "quick": kind in QUICK},
    )  # fmt: skip
    return Report(render(report))


def _measured(model: Any, X: Any, labels: Array, classes: Array) -> tuple[Measured, list[str]]:
    """(what the decisions are worth, what was heard on the way); rows that are rejected are counted apart."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        predicted = np.asarray(model.predict(X))
        chances = posteriors(model, X)
    notes = list(dict.fromkeys(" ".join(str(warning.message).split()) for warning in heard))
    if predicted.ndim != 1:
        raise DataError("The model gives several labels a row; a report is of classifiers that give one.")
    costs: Any = getattr(model, "costs_", None)
    costs = costs if getattr(costs, "shape", None) == (len(classes), len(classes)) else None
    chances = None if chances is None or chances.shape != (len(predicted), len(classes)) else chances
    measured, rejected = measure_decided(classes, labels, predicted, chances, costs)
    return measured, notes + rejected


def _labels(y: Any) -> Array:
    labels = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise DataError(f"y has the shape {labels.shape}; a report needs one label a row.")
    return labels


def _features(model: Any, X: Any, feature_names: Sequence[str] | None) -> tuple[Any, list[str]]:
    """(X as an array or a sparse matrix, a name for each column)."""
    values, names = X, feature_names
    if is_frame(X) and vars(model).get("_encoding") is not None:  # categories as the columns that they became
        values, names = model._read_rows(X, reset=False), names or model._column_names()
    elif not is_sparse(X):
        names = list(X.columns) if is_frame(X) and names is None else names
        values = np.asarray(X.to_numpy() if hasattr(X, "to_numpy") else X, dtype=np.float64)
    if values.ndim != 2:
        raise DataError(f"X has {values.ndim} dimension(s) and must have two: one row a sample, one column a feature.")
    if names is None:
        names = column_titles(model, values.shape[1])
    if len(names) != values.shape[1]:
        raise DataError(f"X has {values.shape[1]} columns and there are {len(names)} names for them.")
    return values, [str(name) for name in names]


def _overview(values: Any, names: Sequence[str]) -> tuple[Table | None, Preprocess | None]:
    """The columns as a table of numbers, for the overview of the data."""
    if is_sparse(values) or len(set(names)) < len(names):
        return None, None
    table = Table(tuple(Column(name, "number", values[:, j]) for j, name in enumerate(names)))
    means = values.mean(axis=0).tolist()
    rules = tuple(ColumnRule(name, NUMBER, fill=mean) for name, mean in zip(names, means, strict=True))
    return table, Preprocess(rules)


def _refit(model: Any) -> Any:
    """A function that fits the method again, for methods that are quick; else None."""
    if type(model).__name__ not in LEARNED:
        return None
    from sklearn.base import clone

    def refit(X: Array, labels: Array) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return clone(model).fit(X, labels)

    return refit


def separable(X: Any, labels: Array, names: Sequence[str]) -> Verdict | None:
    """Whether a linear discriminant can be right on every row; None of sparse rows."""
    if is_sparse(X):
        return None
    if X.size * len(np.unique(labels)) > REPORT_WORK or X.shape[1] > 200:
        return Verdict("not asked here", LATER)
    from discriminant.inference.separability import separability

    found = separability(X, labels, hyperplane="any")
    sentence = SENTENCES[found.verdict]
    if found.witness is not None:
        witness = found.witness
        rows = [[str(int(r) + 1), str(labels[r]), str(rival), f"{float(w):.4g}"]
                for r, rival, w in zip(witness.rows, witness.rivals, witness.weights, strict=True)]  # fmt: skip
        return Verdict(found.verdict, sentence, ("row", "class", "held against", "weight"), rows, WITNESS)
    if found.hyperplane is None:
        return Verdict(found.verdict, sentence)
    weights = np.asarray(found.hyperplane, dtype=np.float64)
    heads = [f"weight for {found.classes[1]}"] if weights.ndim == 1 else [str(label) for label in found.classes]
    weights = weights.reshape(len(names) + 1, -1)
    if weights.shape[1] > MOST_BESIDE:
        where = f"The {weights.shape[0]} × {weights.shape[1]} weights that do so are separability(X, y).hyperplane."
        return Verdict(found.verdict, f"{sentence} {where}")
    named = zip(["(intercept)", *names], weights.tolist(), strict=True)
    rows = [[name, *(f"{w:+.4g}" for w in line)] for name, line in named]
    return Verdict(found.verdict, sentence, ("feature", *heads), rows, PLANE)
