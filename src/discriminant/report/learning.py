"""The learning curve: the error on rows left out, of fits to ever more of the others, over five folds."""

from __future__ import annotations

import numpy as np

from discriminant.errors import DiscriminantError
from discriminant.protocols import Array
from discriminant.report.report_data import ReportData
from discriminant.thresholds import REPORT_WORK

FOLDS, SIZES = 5, 5


def learning_curve(report: ReportData) -> list[tuple[float, float, float, float]]:
    """(rows, error on rows left out, its standard error, error on the rows learned from) for each size."""
    X, refit = report.dense, report.extra.get("refit")
    if X is None or refit is None or X.size * len(report.classes) > REPORT_WORK:
        return []
    order = _spread(report.codes)
    least = 3 * len(X) / max(int(report.class_counts.min()), 1)  # rows for three of the rarest class
    most = (FOLDS - 1) * len(X) // FOLDS
    if not 2 * least < most:
        return []
    sizes = np.geomspace(max(least, most / 20), most, SIZES).astype(int)
    found = []
    for size in sizes.tolist():
        try:
            errors = np.array([_errors(report, X, refit, order, fold, size) for fold in range(FOLDS)])
        except (DiscriminantError, ArithmeticError, ValueError, np.linalg.LinAlgError):
            continue  # too few rows for this method
        (tested, trained), spread = errors.mean(axis=0), errors[:, 0].std(ddof=1) / np.sqrt(FOLDS)
        found.append((float(size), float(tested), float(spread), float(trained)))
    return found


def _spread(codes: Array) -> Array:
    """Rows by chance, but so that every class has its share in every beginning."""
    chance = np.random.default_rng(0).permutation(len(codes))
    place = np.empty(len(codes))
    for k in np.unique(codes):
        mine = chance[codes[chance] == k]
        place[mine] = (np.arange(len(mine)) + 0.5) / len(mine)
    return np.argsort(place, kind="stable")


def _errors(report: ReportData, X: Array, refit: object, order: Array, fold: int, size: int) -> tuple[float, float]:
    test = order[fold::FOLDS]
    train = np.delete(order, np.s_[fold::FOLDS])[:size]
    model = refit(X[train], report.labels[train])  # type: ignore[operator]
    wrong = [float((np.asarray(model.predict(X[rows])) != report.labels[rows]).mean()) for rows in (test, train)]
    return wrong[0], wrong[1]
