"""The report of a command: what it found, as a report for ``discriminant.report``."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np

from discriminant.cli.fit import Fitted, script
from discriminant.cli.methods import fit_method
from discriminant.data.tables import Table
from discriminant.io.container import write_whole
from discriminant.io.table_model import TableModel
from discriminant.protocols import Array
from discriminant.report.measures import Measured, measure_decided
from discriminant.report.page import LEARNED, QUICK, render, separable
from discriminant.report.report_data import ReportData, Tried


def fit_report(given: Namespace, fitted: Fitted, notes: list[str]) -> str:
    """The page of a fit: measured by the folds where there were any, else on the training rows."""
    training, model, comparison = fitted.training, fitted.model, fitted.comparison
    trial = None if comparison is None else comparison.trial(fitted.method)
    X, labels, inner = fitted.X, training.labels, model.model
    if comparison is not None and trial is not None and trial.predicted is not None:
        if len(comparison.rows) < training.n:
            X, labels = X[comparison.rows], labels[comparison.rows]
        predicted, chances = trial.decided(model.classes_, model.costs), trial.chances
        how = f"{comparison.folds}-fold cross-validation"
    else:
        predicted, chances = model.decide(X), model.chances(X)
        how = "the training rows"
    measured, rejected = measure_decided(model.classes_, labels, predicted, chances, model.costs)
    tried = [] if comparison is None else [
        Tried(t.method.name, t.method.title, t.error, t.standard_error, t.log_loss, t.refusal, t is comparison.chosen)
        for t in comparison.trials
    ]  # fmt: skip
    report = ReportData(
        f"{training.target} from {training.table.source}", f"{fitted.method.name}: {fitted.method.title}", inner, X,
        labels, model.classes_, model.feature_names, measured, how, fitted.method.name, training.table,
        model.preprocess, tried, "" if comparison is None else comparison.why(), notes + rejected,
        model.facts["certificate"], model.costs, script(given, training, fitted.method, model.costs),
        {"separability": separable(X, labels, model.feature_names), "decide": model.decide, "refit": _refit(fitted),
         "quick": fitted.method.estimator in QUICK}, np.array(list(training.counts.values())),
    )  # fmt: skip
    return render(report)


def _refit(fitted: Fitted) -> Any:
    if fitted.method.estimator not in LEARNED or fitted.training.weighted:
        return None

    def refit(X: Any, labels: Any) -> Any:
        return fit_method(fitted.method, X, labels, fitted.model.feature_names)[0]

    return refit


def write_evaluation(
    given: Namespace, model: TableModel, data: Table, X: Any, labels: Array, measured: Measured, notes: list[str]
) -> None:
    """The page of an evaluation."""
    report = ReportData(
        f"{model.target} in {data.source}", f"{model.method}, fitted to {model.facts.get('source', 'another table')}",
        model.model, X, np.asarray(labels, dtype=model.classes_.dtype), model.classes_, model.feature_names, measured,
        f"the rows of {data.source}", model.method, data, model.preprocess, notes=notes,
        certificate=model.facts.get("certificate", ""), costs=model.costs,
        extra={"separability": separable(X, labels, model.feature_names), "decide": model.decide},
    )  # fmt: skip
    write_whole(Path(given.report), render(report).encode())
